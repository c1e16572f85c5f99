// SPDX-License-Identifier: Apache-2.0
const rowOf = (element) => element.closest("[data-study]").dataset.study;
const told = () => [...document.querySelectorAll(".unvaried:not([hidden])")].map((one) => [rowOf(one), one.textContent]);
const first = told();
const axis = document.getElementById("axis"); axis.value = "num_flows"; axis.dispatchEvent(new Event("change"));
await wait(800);
const figures = [...document.querySelectorAll("[data-study] figure:not([hidden])")].map(rowOf);
return { first, told: told(), figures: [...new Set(figures)] };
