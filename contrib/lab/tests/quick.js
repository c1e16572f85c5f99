// SPDX-License-Identifier: Apache-2.0
// What a reader waits for: the charts in view, a table to be sorted, a series to go.
const inView = [...document.querySelectorAll(".chart")].filter((at) => at.getBoundingClientRect().top < innerHeight);
const until = async (what) => { while (!what()) await new Promise(requestAnimationFrame); };
window.acts = {
  ready: () => until(() => inView.every((at) => at.querySelector("svg"))),
  async sort() {
    const cells = document.querySelector(".cells tbody");
    const order = [...cells.rows];
    document.querySelectorAll(".cells thead th button")[1].click();
    await until(() => document.body.offsetHeight && order.some((row, i) => row !== cells.rows[i]));
  },
  async series() {
    const changed = new Set();
    const what = { childList: true, subtree: true, attributes: true };
    for (const at of inView) new MutationObserver(() => changed.add(at)).observe(at, what);
    document.querySelector("#legend input").click();
    await until(() => changed.size === inView.length);
  },
};
