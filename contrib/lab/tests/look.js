// SPDX-License-Identifier: Apache-2.0
// Charts are drawn when they come into view.
for (const element of document.querySelectorAll(".chart, .picture")) {
  element.scrollIntoView();
  for (let i = 0; i < 200 && !element.querySelector("svg") && !element.closest("figure").hidden; i++) await wait(10);
}
await wait(300);
const boxes = (svg) => [...svg.querySelectorAll("text")].filter((text) => {
  const style = getComputedStyle(text);
  return text.textContent && style.display !== "none" && style.opacity !== "0" && text.getAttribute("opacity") !== "0";
}).map((text) => [text.textContent, text.getBoundingClientRect()]);
const overlaps = [];
for (const svg of document.querySelectorAll(".chart svg, .picture svg")) {
  const all = boxes(svg);
  all.forEach(([a, p], i) => all.slice(i + 1).forEach(([b, q]) => {
    const wide = Math.min(p.right, q.right) - Math.max(p.left, q.left);
    const high = Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top);
    if (wide > 2 && high > 3) overlaps.push(`${a} | ${b}`);
  }));
}
const rgb = (text) => (text.match(/[0-9.]+/g) || []).slice(0, 3).map(Number);
const light = (c) => { const [r, g, b] = c.map((v) => v / 255 <= 0.03928 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
const behind = (element) => { for (let at = element; at; at = at.parentElement) {
  const c = getComputedStyle(at).backgroundColor; if (c && !/rgba\(.*, 0\)|transparent/.test(c)) return rgb(c); } return [255, 255, 255]; };
const contrast = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };
const faint = [];
for (const element of document.querySelectorAll("h1, h2, p, td, th, th button, label, summary, figcaption, figcaption span, text")) {
  if (!element.textContent.trim() || !element.getClientRects().length) continue;
  const style = getComputedStyle(element);
  const colour = rgb(element.tagName === "text" ? style.fill : style.color);
  const found = contrast(colour, behind(element));
  if (found < 4.5) faint.push(`${element.tagName} ${element.textContent.slice(0, 30)} ${found.toFixed(2)}`);
}
const drawn = () => [...document.querySelectorAll(".chart svg")].map((svg) => svg.outerHTML).join("");
