// SPDX-License-Identifier: Apache-2.0
// Draws the charts of the page from its columns. Nothing is fetched, and no text becomes markup.
const data = JSON.parse(document.getElementById("data").textContent);
const root = document.documentElement;
const dark = matchMedia("(prefers-color-scheme: dark)");
const SHAPES = ["circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "triangle-right", "triangle-left"];
const OUTLINES = {
  circle: "M7,2a5,5 0 1,0 0.01,0Z", square: "M2.5,2.5h9v9h-9Z", "triangle-up": "M7,2L12.5,12H1.5Z",
  diamond: "M7,1L12,7L7,13L2,7Z", "triangle-down": "M7,12L12.5,2H1.5Z",
  cross: "M5,1h4v4h4v4h-4v4h-4v-4h-4v-4h4Z", "triangle-right": "M12,7L2,12.5V1.5Z", "triangle-left": "M2,7L12,12.5V1.5Z",
};
const state = { axis: data.axis, hidden: new Set(), runs: document.getElementById("runs")?.checked, cell: 0 };
const views = new Map();
const inView = new Set();
let turn = 0; // of the controls
const COLUMN = 130; // pixels of a legend

const css = (name) => getComputedStyle(root).getPropertyValue(name).trim();
const colours = () => [0, 1, 2, 3, 4, 5, 6, 7].map((i) => css(`--c${i}`));

function round(value) {
  const size = Math.abs(value);
  return size >= 100 ? value.toFixed(0) : size >= 10 ? value.toFixed(1) : size >= 1 ? value.toFixed(2) : String(+value.toPrecision(3));
}

function say(value, unit) {
  const steps = unit === "us" ? [[1e6, "s"], [1e3, "ms"], [0, "us"]] : [[1e9, "G"], [1e6, "M"], [1e3, "k"], [0, ""]];
  const [scale, prefix] = steps.find(([least]) => Math.abs(value) >= least);
  const rest = unit === "us" ? "" : unit === "1/s" ? "/s" : ` ${unit}`;
  return `${round(value / (scale || 1))} ${prefix}${rest}`.trim();
}

const axisOf = () => data.axes.find((axis) => axis.name === state.axis);

function seriesOf(study, cell) {
  const along = axisOf().kind === "measured" ? data.along : state.axis;
  const parts = Object.entries(study.dimensions).filter(([name]) => name !== along)
    .map(([name, column]) => `${name}=${column.text[cell]}`);
  return parts.join(" ") || study.profile[cell];
}

// Cells, runs and lines of a chart; over: the column of a measured axis. A line whose x goes back and forth is none.
function fill(chart, over) {
  const study = data.studies[chart.study];
  const column = study.dimensions[state.axis];
  const isText = axisOf().kind === "text";
  const place = (cell, x, value) => {
    const text = over ? say(x, "") : column ? column.text[cell] : study.profile[cell];
    return {
      x: over ? x : isText ? text : column.number[cell], xtext: text, series: seriesOf(study, cell),
      y: value / chart.scale, ytext: say(value, chart.unit),
    };
  };
  const shown = (row) => row.x !== null && !state.hidden.has(row.series);
  const found = study.cells[chart.column];
  const xs = over ? study.cells[over].centre : [];
  const cells = found.centre.flatMap((value, cell) => value === null ? [] : [{
    ...place(cell, over ? xs[cell] : null, value),
    low: found.low[cell] === null ? null : found.low[cell] / chart.scale,
    high: found.high[cell] === null ? null : found.high[cell] / chart.scale,
  }]).filter(shown);
  const values = study.runs[chart.column];
  const runs = state.runs ? values.flatMap((value, run) => value === null ? [] :
    [place(study.runs.cell[run], over ? study.runs[over][run] : null, value)]) : [];
  const folds = new Set();
  const last = new Map();
  if (over) {
    for (const row of cells) {
      if (last.has(row.series) && last.get(row.series) >= row.x) folds.add(row.series);
      last.set(row.series, row.x);
    }
  }
  return { cells, runs: runs.filter(shown), lines: cells.filter((row) => !folds.has(row.series)) };
}

// The least and the most of what is known, and a little room.
function span(values) {
  const known = values.filter((value) => value !== null);
  const [low, high] = [Math.min(...known), Math.max(...known)];
  const room = (high - low || Math.abs(high) || 1) * 0.05;
  return [low - room, high + room];
}

// The columns of a measured axis, of all machines: these have one scale.
const columnsOver = () => data.studies.flatMap((study, number) =>
  Object.values(axisOf().columns[number]).map((name) => [study, name]));

// The specification of a chart with its x axis and the colours of its series.
function specified(chart, over) {
  const spec = structuredClone(chart.spec);
  const x = data.x[state.axis] || {
    field: "x", type: "quantitative", scale: { domain: span(columnsOver().flatMap(([study, name]) => study.runs[name] ?? [])), zero: false },
    axis: { title: over.split(".")[0], format: "~s", labelOverlap: true, tickCount: 6, grid: false },
  };
  for (const layer of spec.layer) {
    layer.encoding.x = x;
    for (const channel of ["color", "shape"]) {
      if (layer.encoding[channel]) layer.encoding[channel].scale = { domain: data.series[state.axis] };
    }
  }
  return spec;
}

// The rows of a picture of the inside of a run.
function inside(name) {
  const one = data.details[state.cell];
  const alike = data.details.filter((each) => each.study === one.study && each.series === one.series);
  if (name === "distribution") {
    return alike.slice(0, 8).flatMap((each) => each.distribution.map(([nines, us]) =>
      ({ nines, us, of: each.short, nine: `${+(100 - 100 / 10 ** nines).toFixed(5)} %` })));
  }
  if (name === "percentiles") {
    const shares = [["50 %", "p50_us"], ["90 %", "p90_us"], ["99 %", "p99_us"], ["99.9 %", "p999_us"]];
    return alike.flatMap((each) => shares.flatMap(([of, column]) => {
      const us = data.studies[each.study].cells[column]?.centre[each.cell];
      return us ? [{ x: each.short.split("=")[1] ?? each.short, us, of }] : [];
    }));
  }
  if (name === "waterfall") {
    return one.waterfall.map(([t, length, band, count]) => ({
      t, t2: t + length, low: 10 ** (band / data.decade), high: 10 ** ((band + 1) / data.decade), count,
    }));
  }
  return one[name].map(([t, y, of]) => ({ t, y, of: of || "" }));
}

function theme() {
  const text = css("--soft"), line = css("--line"), grid = css("--grid");
  return {
    // The figure around it says what it shows.
    aria: false,
    background: "transparent", font: "system-ui, sans-serif", view: { stroke: "transparent" },
    range: { category: colours(), symbol: SHAPES }, mark: { color: css("--c0") },
    legend: { labelColor: text, titleColor: text, labelFontSize: 12, titleFontSize: 12, titleFontWeight: 400 },
    axis: {
      labelColor: text, titleColor: text, gridColor: grid, domainColor: line, tickColor: line,
      titleFontWeight: 400, labelFontSize: 12, titleFontSize: 12, tickSize: 4,
    },
  };
}

// The column that a chart is drawn over, where that was measured: of its own machine.
const chartOf = (element) => data.charts[element.dataset.chart];
const overOf = (element) => axisOf().kind === "measured" ? axisOf().columns[chartOf(element).study][element.dataset.end] : null;

const isUnvaried = (study) => axisOf().kind !== "measured" && state.axis !== "profile" && !(state.axis in data.studies[study].dimensions);

// A figure over itself, over what is not known of its machine, or over what its study has not varied, says nothing.
const isIdle = (element) => axisOf().kind === "measured" ? [undefined, chartOf(element).column].includes(overOf(element))
  : isUnvaried(chartOf(element).study);

function hideIdle() {
  for (const element of document.querySelectorAll(".chart")) element.closest("figure").hidden = isIdle(element);
  for (const figure of document.querySelectorAll("figure.none")) {
    figure.hidden = figure.dataset.figure === state.axis || isUnvaried(figure.parentElement.dataset.study);
  }
  for (const told of document.querySelectorAll(".unvaried")) {
    told.textContent = `${state.axis} is not varied here`;
    told.hidden = !isUnvaried(told.parentElement.dataset.study);
  }
}

async function draw(element) {
  const begun = turn;
  const picture = element.dataset.picture;
  const chart = chartOf(element);
  const over = picture ? null : overOf(element);
  if (!picture && isIdle(element)) return;
  const rows = picture ? inside(picture) : null;
  // Of a run that was too short there may be none.
  if (picture) element.closest("figure").hidden = !rows.length;
  if (picture && !rows.length) return;
  const spec = picture ? { ...structuredClone(data.pictures[picture]), datasets: { rows } }
    : { ...specified(chart, over), datasets: fill(chart, over) };
  const below = picture && spec.encoding.color?.legend;
  if (below?.columns) below.columns = Math.max(1, Math.floor(element.clientWidth / COLUMN));
  const options = { actions: false, renderer: "svg", ast: true, config: theme(), tooltip: { theme: dark.matches ? "dark" : "light" } };
  const fresh = await vegaEmbed(element, spec, options);
  views.get(element)?.finalize();
  views.set(element, fresh);
  // What a control has changed meanwhile is not in it.
  if (begun !== turn) await draw(element);
}

// In the chart that is there, those rows which a control has let in or put out: to draw all anew takes far longer.
function refill(element, belongs) {
  if (isIdle(element)) return;
  const { view } = views.get(element);
  for (const [name, rows] of Object.entries(fill(chartOf(element), overOf(element)))) {
    const isMeant = (row) => belongs(row, name);
    view.change(name, view.changeset().remove(isMeant).insert(rows.filter(isMeant)));
  }
  view.runAsync();
}

const seen = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    inView[isIntersecting ? "add" : "delete"](target);
    if (isIntersecting && !views.has(target)) draw(target);
  }
}, { rootMargin: "300px" });

// What is out of view is drawn when it comes into view.
function redraw(kind = ".chart, .picture", how = draw) {
  turn++;
  for (const [element, old] of [...views]) {
    if (!element.matches(kind)) continue;
    if (inView.has(element)) how(element);
    else if (views.delete(element)) old.finalize();
  }
}

function mark(number) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  svg.setAttribute("viewBox", "0 0 14 14");
  svg.setAttribute("aria-hidden", "true");
  path.setAttribute("d", OUTLINES[SHAPES[number % 8]]);
  path.setAttribute("fill", `var(--c${number % 8})`);
  svg.append(path);
  return svg;
}

function legend() {
  const names = data.series[state.axis];
  const box = document.getElementById("legend");
  box.replaceChildren(...(names.length < 2 ? [] : names.map((name, number) => {
    const label = document.createElement("label");
    const input = document.createElement("input");
    input.type = "checkbox";
    input.checked = !state.hidden.has(name);
    input.addEventListener("change", () => {
      state.hidden[input.checked ? "delete" : "add"](name);
      redraw(".chart", (element) => refill(element, (row) => row.series === name));
    });
    label.append(input, mark(number), name);
    return label;
  })));
}

function sortable(table) {
  table.querySelectorAll("thead th").forEach((head, column) => {
    head.querySelector("button").addEventListener("click", () => {
      const up = head.getAttribute("aria-sort") !== "ascending";
      table.querySelectorAll("thead th").forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const key = (row) => row.cells[column].dataset.by;
      const compare = (a, b) => {
        const [x, y] = [key(a), key(b)];
        if (x === "" || y === "") return (x === "") - (y === "");
        const order = isNaN(x) || isNaN(y) ? x.localeCompare(y) : x - y;
        return up ? order : -order;
      };
      table.tBodies[0].append(...[...table.tBodies[0].rows].sort(compare));
    });
  });
}

document.querySelectorAll("table:not(.facts)").forEach(sortable);
if (data.charts.length) {
  legend();
  const axis = document.getElementById("axis");
  if (axis) {
    axis.value = state.axis;
    axis.addEventListener("change", () => {
      state.axis = axis.value;
      state.hidden = new Set([...state.hidden].filter((name) => data.series[state.axis].includes(name)));
      hideIdle();
      legend();
      redraw(".chart");
    });
  }
  hideIdle();
  document.getElementById("runs").addEventListener("change", (event) => {
    state.runs = event.target.checked;
    redraw(".chart", (element) => refill(element, (row, name) => name === "runs"));
  });
  document.getElementById("cell")?.addEventListener("change", (event) => {
    state.cell = Number(event.target.value);
    // One that was hidden may have rows now: when it is drawn it tells.
    document.querySelectorAll(".picture").forEach((element) => { element.closest("figure").hidden = false; });
    redraw(".picture");
  });
  dark.addEventListener("change", () => redraw());
  const closed = [];
  addEventListener("beforeprint", () => {
    // What is closed on the screen cannot be opened on paper.
    closed.push(...document.querySelectorAll("details:not([open])"));
    closed.forEach((element) => { element.open = true; });
    document.querySelectorAll(".chart, .picture").forEach((element) => {
      if (!views.has(element)) draw(element);
    });
  });
  addEventListener("afterprint", () => closed.splice(0).forEach((element) => { element.open = false; }));
  document.querySelectorAll(".chart, .picture").forEach((element) => seen.observe(element));
}
