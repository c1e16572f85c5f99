// SPDX-License-Identifier: Apache-2.0
// What is in view changes at once; the rest when it comes into view.
const changed = {};
document.querySelector(".chart").scrollIntoView();
await wait(300);
const act = async (name, what) => { const before = drawn(); what(); await wait(800); changed[name] = drawn() !== before; };
const set = (id, value) => { const at = document.getElementById(id); at.value = value; at.dispatchEvent(new Event("change")); };
const click = (selector) => document.querySelector(selector).click();
await act("runs", () => click("#runs"));
await act("legend", () => click("#legend input"));
for (const option of [...document.querySelectorAll("#axis option")].slice(1)) await act(option.value, () => set("axis", option.value));
// Two controls at once: the series is out, although the chart over the new axis was being drawn.
const points = () => document.querySelectorAll(".chart svg path").length;
set("axis", document.querySelector("#axis option").value);
await wait(800);
set("axis", document.querySelectorAll("#axis option")[1].value);
click("#legend input");
await wait(1500);
const quick = points();
set("axis", document.getElementById("axis").value);
await wait(1500);
changed.quick = points() === quick;
click("#legend input");
await wait(800);
changed.back = points() > quick;
const pictures = () => [...document.querySelectorAll(".picture svg")].map((svg) => svg.outerHTML).join("");
for (const at of document.querySelectorAll(".picture")) { at.scrollIntoView(); await wait(800); }
const picture = document.querySelector(".picture");
scrollTo(0, 0);
await wait(300);
// Out of view nothing is drawn; in view is that of the cell.
const isFar = picture.getBoundingClientRect().top > innerHeight + 300;
const before = pictures(); set("cell", "3"); await wait(800); changed.far = isFar && pictures() === before;
picture.scrollIntoView(); await wait(800); changed.cell = pictures() !== before;
const cells = document.querySelector(".cells tbody");
const order = [...cells.rows].map((row) => row.textContent).join();
const heads = document.querySelectorAll(".cells thead th button");
heads[0].click(); heads[0].click();
changed.sort = [...cells.rows].map((row) => row.textContent).join() !== order;
