# SPDX-License-Identifier: Apache-2.0
"""Puts the page together. Whatever comes from a file or a user is escaped here, and nowhere else."""

from __future__ import annotations

import contextlib
import itertools
import json
import math
import os
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from importlib import metadata
from pathlib import Path
from typing import Any

import vl_convert

from netmodel_lab import slopes, spread
from netmodel_lab.folder import write_whole
from netmodel_lab.page import charts as charts_
from netmodel_lab.page import data, details
from netmodel_lab.page.warnings import warnings
from netmodel_lab.spec import ROLES
from netmodel_lab.table import Cell, Table
from netmodel_lab.verdicts import comparisons, unmet
from netmodel_lab.words import clock, interval, plain, with_unit

_HERE = Path(__file__).parent
_POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:"
_BUNDLE = "window.vegaEmbed = vegaEmbed;"
_MOST_REASONS = 10
_MOST_RUNS = 2000
_MOST_STATISTICS = 2000
_MOST_COMMANDS = 200
_SHOWN = (*spread.SHOWN, "cpu_us_per_transaction")


def page(tables: Sequence[Table]) -> str:
    """Of one study, or of several beside each other: then each machine of each has its row of charts."""
    charts = charts_.chosen(tables)
    found = _data(tables, charts)
    names = data.names(tables) if len(tables) > 1 else [""]

    def each(part: Callable[[Table], str]) -> str:
        return "".join(_named(name, part(table)) for name, table in zip(names, tables, strict=True))

    along = data.default_axis(tables).name
    body = [
        each(_head),
        each(_verdicts),
        each(_warnings),
        _charts(tables, names, charts),
        _inside(found["details"]),
        each(lambda table: _slopes(table, along)),
        each(_cells),
        each(_statistics),
        each(_runs),
        each(_facts),
        each(_commands),
    ]
    name = escape(" ".join(names) if len(tables) > 1 else tables[0].manifest.study.name)
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{name}</title>",
            f"<style>{(_HERE / 'page.css').read_text()}</style></head><body><main>",
            *(part for part in body if part),
            "</main>",
            f'<script type="application/json" id="data">{_embedded(found)}</script>',
            f'<script type="module">{_script(_bundle())}</script>' if any(charts) else "",
            f'<script type="module">{_script((_HERE / "page.js").read_text())}</script>',
            "</body></html>\n",
        ]
    )


def _bundle() -> str:
    """The code that draws charts. It takes seconds to be put together, so the user's cache keeps it."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "netmodel-lab"
    path = cache / f"vega-{metadata.version('vl-convert-python')}.js"
    with contextlib.suppress(OSError):
        return path.read_text(encoding="utf-8")
    text = vl_convert.javascript_bundle(_BUNDLE)
    with contextlib.suppress(OSError):
        cache.mkdir(parents=True, exist_ok=True)
        write_whole(path, text)
    return text


def _embedded(value: Any) -> str:
    """JSON that no parser of HTML or of JavaScript takes for anything else."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=True)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _script(text: str) -> str:
    return text.replace("</script", "<\\/script").replace("<!--", "<\\!--")


def _named(name: str, part: str) -> str:
    """A part of one of several studies."""
    return f'<div class="study"><p class="of">{escape(name)}</p>{part}</div>' if name and part else part


def _data(tables: Sequence[Table], charts: Sequence[Sequence[charts_.Chart]]) -> Any:
    axes, measured = data.axes(tables), data.measured(tables)
    along = data.default_axis(tables)
    series = {
        axis.name: data.series_of([table for table in tables if axis.name in table.dimensions] or tables, axis.name)
        for axis in axes
    }
    series |= {axis.name: data.series_of(tables, along.name) for axis in measured}
    names = data.names(tables) if len(tables) > 1 else [""]
    return {
        "axes": [{"name": axis.name, "kind": axis.kind, "columns": axis.columns} for axis in [*axes, *measured]],
        "axis": data.first_axis(tables).name,
        "along": along.name,
        "series": series,
        "x": {axis.name: charts_.place(axis.name, axis.kind, axis.values) for axis in axes},
        "studies": [data.columns(table, own) for table, own in zip(tables, charts, strict=True)],
        "charts": [
            {
                "study": number,
                "column": chart.column.name,
                "unit": chart.column.unit,
                "scale": chart.scale,
                "spec": charts_.specification(chart, series=()),
            }
            for number, own in enumerate(charts)
            for chart in own
        ],
        "details": [
            {**one, "study": number, "title": f"{name} {one['title']}".strip()}
            for number, (name, table) in enumerate(zip(names, tables, strict=True))
            for one in details.details(table, along.name)
        ],
        "pictures": details.specifications(),
        "decade": details.PER_DECADE,
    }


def _head(table: Table) -> str:
    manifest, counts = table.manifest, table.tally
    study, facts = manifest.study, manifest.epochs[-1].facts
    varied = " × ".join(f"{len(part.values)} {', '.join(part.names)}" for part in study.dimensions) or "one cell"
    seed = "" if study.order.kind == "given" else f", seed {study.order.seed}"
    state = f"{counts.good} of {counts.points} runs" if counts.good < counts.points else f"{counts.points} runs"
    measured = sum(attempt.command.get("seconds") or 0 for tried in table.attempts.values() for attempt in tried)
    began = min((str(row["start"]) for row in table.rows), default=manifest.created)[:16].replace("T", " ")
    hosts = f" and {study.hosts.slave.text}" if study.hosts else ""
    where = f"{study.hosts.master.text}{hosts}" if study.hosts else str(facts.get("host"))
    kernel = facts.get("kernel") or facts.get("master.kernel")
    return (
        f"<header><h1>{escape(study.name)}</h1><p>{escape(study.profile)}: {escape(varied)}, "
        f"{study.repeat} runs each, order {study.order.kind}{seed}. {state} on {escape(where)} "
        f"(Linux {escape(str(kernel))}, netmodel {escape(str(facts.get('netmodel')))}), "
        f"from {escape(began)} UTC, "
        f"{clock(measured)} of runs.</p></header>"
    )


def _verdicts(table: Table) -> str:
    """What the study was to find out, first of all."""
    parts = []
    for comparison in comparisons(table):
        head = [("where", "t"), ("verdict", "t"), ("B/A", "n"), ("95 % of ratio", "n"), ("p adj", "n"), ("figure", "t")]
        lines: list[list[tuple[str, Any]]] = []
        for line in comparison.lines:
            where = (
                "all cells"
                if line.cell is None
                else " ".join(f"{name}={value}" for name, value in zip(comparison.by, line.cell, strict=True))
            )
            ratio = span = p = "-"
            effect = line.difference.effect if line.difference else None
            ends = line.difference.interval(0.95) if line.difference else None
            if effect is not None and ends:
                ratio, span = f"{math.exp(effect):.3f}", f"{math.exp(ends[0]):.3f} .. {math.exp(ends[1]):.3f}"
            p = "-" if line.p is None else f"{line.p:.2g}"
            lines.append(
                [
                    (where or "all", where),
                    (line.text, line.verdict),
                    (ratio, effect),
                    (span, effect),
                    (p, line.p),
                    (line.metric.column.title, line.metric.column.name),
                ]
            )
        title = f"{comparison.b.text} (B) beside {comparison.a.text} (A)"
        parts.append(f"<h2>{escape(title)}</h2>{_table(head, lines)}")
    required = table.manifest.study.require
    if required:
        missed = unmet(table.rows)
        verdict = f"not met by {len(missed)} of {len(table.good)} runs" if missed else "met by all runs"
        reasons = "".join(f"<li>run {row['seq']}: {escape(str(row['unmet']))}</li>" for row in missed[:_MOST_REASONS])
        text = escape(f"Required: {', '.join(required)}: {verdict}")
        parts.append(
            f'<p class="{"unmet" if missed else "met"}">{text}</p>' + (f"<ul>{reasons}</ul>" if reasons else "")
        )
    return f'<section class="verdicts">{"".join(parts)}</section>' if parts else ""


def _warnings(table: Table) -> str:
    found = warnings(table)
    if not found:
        return ""
    return '<section class="warn"><ul>' + "".join(f"<li>{escape(text)}</li>" for text in found) + "</ul></section>"


@dataclass(frozen=True)
class _Row:
    """The charts of a machine; "": of the runs of a study, counted from 0."""

    study: int
    title: str
    charts: list[tuple[int, charts_.Chart]]
    end: str = ""


def _charts(tables: Sequence[Table], names: Sequence[str], charts: Sequence[Sequence[charts_.Chart]]) -> str:
    if not any(charts):
        return ""
    axes = [*data.axes(tables), *data.measured(tables)]
    choices = "".join(f"<option>{escape(axis.name)}</option>" for axis in axes)
    axis = f'<label>over <select id="axis">{choices}</select></label>' if len(axes) > 1 else ""
    few = sum(len(table.rows) for table in tables) <= _MOST_RUNS
    runs = f'<label><input type="checkbox" id="runs"{" checked" if few else ""}> single runs</label>'
    numbers = itertools.count()
    numbered = [[(next(numbers), chart) for chart in own] for own in charts]
    studies = list(zip(itertools.count(), names, tables, numbered, strict=False))
    of_runs = [_Row(study, name, own) for study, name, _, own in studies]
    of_machines = [
        _Row(study, ": ".join(filter(None, [name, _end_title(table, end)])), own, end)
        for study, name, table, own in studies
        for end in table.ends or [""]
    ]
    groups = [
        _group("Runs", charts_.OF_RUNS, of_runs),
        _group("Machines", charts_.OF_MACHINES, of_machines),
        _group("What it costs", charts_.COSTS, of_machines),
    ]
    return (
        f'<section><div class="bar"><div id="legend"></div><div class="controls">{axis}{runs}</div></div>'
        f"{''.join(groups)}"
        '<p class="note">Filled marks: the typical value of a cell (mean of logarithms) with its 95 % interval by '
        "Student's t. Hollow marks: single runs. Over what was measured, not set, lines are drawn only where they do "
        "not fold back.</p></section>"
    )


def _group(title: str, figures: Sequence[str], rows: Sequence[_Row]) -> str:
    """A row of charts for each, all in the same order, so that a figure stands below itself."""
    titles = {chart.figure: _short_title(chart) for row in rows for _, chart in row.charts}
    shown = [name for name in figures if name in titles]
    if not shown:
        return ""
    parts = []
    for row in rows:
        cards = "".join(_card(row, figure, titles[figure]) for figure in shown)
        head = f"<h3>{escape(row.title)}</h3>" if row.title else ""
        kind = "row" if len(rows) > 1 else "cards"
        parts.append(f'{head}<div class="{kind}" data-study="{row.study}"><p class="unvaried"></p>{cards}</div>')
    body = "".join(parts)
    if len(rows) > 1:
        body = f'<div class="rows" role="region" tabindex="0" aria-label="{escape(title)}">{body}</div>'
    return f'<details class="group" open><summary>{escape(title)}</summary>{body}</details>'


def _card(row: _Row, figure: str, title: str) -> str:
    """A chart of that machine; what its runs have found out is that of each of them."""
    found = next((one for one in row.charts if one[1].figure == figure and one[1].end in (row.end, "")), None)
    if not found:
        caption = f"<figcaption>{escape(title)}<span>not known here</span></figcaption>"
        return f'<figure class="none" data-figure="{figure}">{caption}</figure>'
    number, chart = found
    return (
        f'<figure role="img" data-figure="{figure}" aria-label="{escape(chart.finding)}">'
        f"<figcaption>{escape(title)}"
        f"<span>{escape(chart.unit)}{', log scale' if chart.is_logarithmic else ''}</span></figcaption>"
        f'<div class="chart" data-chart="{number}" data-end="{escape(row.end)}"></div></figure>'
    )


def _short_title(chart: charts_.Chart) -> str:
    """Without the machine, under whose name it stands."""
    return chart.column.title.removesuffix(f" ({chart.end})")


def _end_title(table: Table, end: str) -> str:
    hosts = table.manifest.study.hosts
    if not hosts or end not in ROLES:
        return "this one, with both ends" if end == "shared" else end
    specs = [hosts.master, hosts.slave] if end == "master" else [hosts.slave, hosts.master]
    is_swapped = any(point.is_swapped for point in table.manifest.plan)
    return f"{end}, {' or '.join(spec.text for spec in specs[: 1 + is_swapped])}"


_PICTURES = (
    ("distribution", "Distribution of latency", "share below, us", False),
    ("percentiles", "Percentiles of latency", "us", False),
    ("waterfall", "Latency over time", "us", True),
    ("rate", "Transactions over time", "1/s", True),
    ("busy", "CPUs over time", "% of a CPU", True),
    ("interrupts", "Interrupts and softirqs over time", "1/s", True),
    ("losses", "Segments sent again and packets dropped over time", "1/s", True),
)


def _inside(found: list[Any]) -> str:
    """Distributions, and what changed during a run of a chosen cell."""
    if not found:
        return ""
    choices = "".join(f'<option value="{i}">{escape(one["title"])}</option>' for i, one in enumerate(found))
    cards = "".join(
        f'<figure role="img" aria-label="{escape(title)}"><figcaption>{escape(title)}'
        f'<span>{escape(unit)}</span></figcaption><div class="picture" data-picture="{name}"></div></figure>'
        for name, title, unit, _ in _PICTURES
        if any(one[name] for one in found if name in one) or name == "percentiles"
    )
    return (
        '<details class="group" open><summary>Latency, and inside a run</summary>'
        f'<div class="bar"><div></div><div class="controls"><label>run of <select id="cell">{choices}</select></label>'
        f'</div></div><div class="cards wide">{cards}</div></details>'
    )


def _slopes(table: Table, along: str) -> str:
    found = slopes.slopes(table, along)
    if not found:
        return ""
    head = [("series", "t"), ("figure", "t"), ("slope", "n"), ("95 %", "n"), ("at 0", "n"), ("R²", "n"), ("unit", "t")]
    head.append(("is it a line", "t"))
    lines: list[list[tuple[str, Any]]] = []
    for one in found:
        line = one.line
        doubt = "poor fit" if line.r2 < slopes.POOR else "curved" if line.is_curved else "yes"
        lines.append(
            [
                (one.series, one.series),
                (one.figure, one.figure),
                (plain(line.slope), line.slope),
                (f"{plain(line.low)} .. {plain(line.high)}", line.low),
                (plain(line.intercept), line.intercept),
                (f"{line.r2:.3f}", line.r2),
                (one.unit, one.unit),
                (doubt, doubt),
            ]
        )
    return (
        f"<section><h2>What a GB/s of payload costs</h2>{_table(head, lines)}"
        '<p class="note">Least squares over the runs of a series; the interval holds where noise grows with the load '
        "(HC3). What is measured on the x axis has noise of its own, which makes slopes a little flatter.</p></section>"
    )


def _table(head: list[tuple[str, str]], lines: list[list[tuple[str, Any]]]) -> str:
    """Columns have a title and a class; cells a text and what they are sorted by."""
    heads = "".join(f'<th class="{kind}"><button type="button">{escape(title)}</button></th>' for title, kind in head)
    body = "".join(
        "<tr>"
        + "".join(
            f'<td class="{kind}" data-by="{escape(str("" if by is None else by))}">{escape(text)}</td>'
            for (text, by), (_, kind) in zip(line, head, strict=True)
        )
        + "</tr>"
        for line in lines
    )
    return f'<div class="scroll"><table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>'


def _cells(table: Table) -> str:
    shown = spread.shown(table, _SHOWN)
    head = [(name, "t") for name in table.dimensions or ["profile"]]
    head += [("runs", "n"), *((column.title, "n") for column in shown)]
    lines = [
        [*_place(cell), (str(len(cell.rows)), len(cell.rows)), *(_figure(cell, c) for c in shown)]
        for cell in table.cells
    ]
    if not lines:
        return ""
    return f'<section class="cells"><h2>Cells</h2>{_table(head, lines)}</section>'


def _statistics(table: Table) -> str:
    head = [(name, "t") for name in table.dimensions or ["profile"]]
    head += [(name, "t" if name in ("figure", "outliers") else "n") for name in spread.HEAD]
    found = spread.lines(table)
    lines = []
    for line in found[:_MOST_STATISTICS]:
        one = line.summary
        outside = len(one.far) + len(one.mild)
        by = (line.column.name, one.n, one.mean, one.median, one.sd, one.median, outside)
        lines.append([*_place(line.cell), *zip(line.texts, by, strict=True)])
    if not lines:
        return ""
    title = "Statistics of the cells"
    if len(lines) < len(found):
        title = f"The first {len(lines)} of {len(found)} statistics of the cells"
    return (
        f"<details><summary>{title}</summary>{_table(head, lines)}"
        '<p class="note">The 95 % interval of the median is by order, of 6 runs or more; it holds where some runs were '
        "disturbed, too. Outliers, of 5 runs or more, lie beyond 1.5 times the distance of the quartiles, far ones "
        "beyond 3 times, or more times where runs are few. All are kept.</p></details>"
    )


def _place(cell: Cell) -> list[tuple[str, Any]]:
    if not cell.dimensions:
        return [(cell.profile, cell.profile)]
    parsed = cell.rows[0]
    return [
        (text, text if parsed[f"p.{name}"] is None else parsed[f"p.{name}"]) for name, text in cell.dimensions.items()
    ]


def _figure(cell: Cell, column: Any) -> tuple[str, float | None]:
    summary = cell.summaries.get(column.name)
    if not summary:
        return "-", None
    return interval(summary.centre, summary.low, summary.high, column.unit), summary.centre


def _runs(table: Table) -> str:
    shown = spread.shown(table, _SHOWN)
    head = [("run", "n"), ("block", "n"), *((name, "t") for name in table.dimensions)]
    head += [("started", "t"), ("attempt", "n"), *((column.title, "n") for column in shown), ("failed", "t")]
    lines = []
    for row in table.rows[:_MOST_RUNS]:
        line: list[tuple[str, Any]] = [(str(row["seq"]), row["seq"]), (str(row["block"]), row["block"])]
        line += [(row[f"d.{name}"], row[f"p.{name}"] or row[f"d.{name}"]) for name in table.dimensions]
        line += [(str(row["start"])[11:19], row["start"]), (str(row["attempt"]), row["attempt"])]
        line += [(with_unit(row.get(c.name), c.unit), row.get(c.name)) for c in shown]
        line.append((row["why"] or "", row["why"]))
        lines.append(line)
    few = len(lines) < len(table.rows)
    title = f"The first {len(lines)} of {len(table.rows)} runs; rows.csv has all" if few else f"All {len(lines)} runs"
    return f"<details><summary>{title}</summary>{_table(head, lines)}</details>"


def _facts(table: Table) -> str:
    manifest = table.manifest
    rows = [(f"epoch {i}: {name}", value) for i, e in enumerate(manifest.epochs, 1) for name, value in e.facts.items()]
    rows += [(f"version of {name}", value) for name, value in manifest.versions.items()]
    document = next((a.result for tried in table.attempts.values() for a in tried if a.is_good), None)
    for host in (document or {}).get("hosts", []):
        rows += [(f"{host.get('name')}: {name}", value) for name, value in (host.get("facts") or {}).items()]
    body = "".join(
        f"<tr><th>{escape(name)}</th><td>{escape('-' if value is None else str(value))}</td></tr>"
        for name, value in rows
    )
    return f'<details><summary>Facts</summary><div class="scroll"><table class="facts">{body}</table></div></details>'


def _commands(table: Table) -> str:
    """The command of the study, and of one run of each cell."""
    lines = [shlex.join(table.manifest.command), ""]
    for cell in table.cells[:_MOST_COMMANDS]:
        tried = table.attempts[cell.rows[0]["seq"]]
        lines.append(shlex.join(tried[-1].command.get("argv") or []))
    return f"<details><summary>Commands</summary><pre>{escape(chr(10).join(lines))}</pre></details>"
