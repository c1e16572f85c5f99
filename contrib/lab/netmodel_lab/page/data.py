# SPDX-License-Identifier: Apache-2.0
"""What the charts of a study show, as columns: for the page, which draws them itself, and for pictures."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from netmodel_lab.page.charts import MEASURED, Chart
from netmodel_lab.table import Cell, Table
from netmodel_lab.words import with_unit

Json = dict[str, Any]

_LOG_SPREAD = 8.0  # largest by smallest value of an axis, from which it is logarithmic


@dataclass(frozen=True)
class Axis:
    """A dimension to draw over, or a figure."""

    name: str
    kind: str  # log, linear, text or measured
    values: tuple[float, ...] = ()  # as numbers, in their order; none of a text
    columns: dict[str, str] = field(default_factory=dict)  # of a figure, by machine; "": of the runs


def axes(table: Table) -> list[Axis]:
    found = []
    for name in table.dimensions:
        numbers = [row[f"p.{name}"] for row in table.good]
        if not numbers or any(value is None for value in numbers):
            kind = "text"
        elif min(numbers) > 0 and (max(numbers) / min(numbers) >= _LOG_SPREAD or _is_geometric(numbers)):
            kind = "log"
        else:
            kind = "linear"
        distinct = tuple(sorted(set(numbers))) if kind != "text" else ()
        found.append(Axis(name, kind, distinct))
    return found or [Axis("profile", "text")]


def measured(table: Table) -> list[Axis]:
    """What runs have found out that others can be drawn over."""
    names = [column.name for column in table.columns]
    found = []
    for figure in MEASURED:
        own = {name.partition(".")[2]: name for name in names if name.partition(".")[0] == figure}
        if own:
            # Runs are over that of the first machine; what is of the runs is that of each machine.
            first = next(iter(own.values()))
            columns = {end: own.get(end) or own.get("") for end in table.ends} | {"": first}
            found.append(Axis(figure, "measured", columns={end: name for end, name in columns.items() if name}))
    return found


def _is_geometric(numbers: Sequence[float]) -> bool:
    """Three or more values, each so many times the one before."""
    distinct = sorted(set(numbers))
    factors = {round(b / a, 6) for a, b in itertools.pairwise(distinct)}
    return len(distinct) > 2 and len(factors) == 1


def default_axis(table: Table) -> Axis:
    """The dimension with the most values; numbers before texts."""
    counts = {name: len({row[f"d.{name}"] for row in table.good}) for name in table.dimensions}
    return max(axes(table), key=lambda axis: (axis.kind != "text", counts.get(axis.name, 0)))


def series_of(table: Table, x: str) -> list[str]:
    """The series when x is the axis, in the order of the cells."""
    return list(dict.fromkeys(_series(cell.dimensions, x, cell.profile) for cell in table.cells))


def _series(dimensions: dict[str, str], x: str, profile: str) -> str:
    return " ".join(f"{name}={value}" for name, value in dimensions.items() if name != x) or profile


def columns(table: Table, charts: Sequence[Chart]) -> Json:
    """Cells and runs, column by column; nothing is in the page twice."""
    names = [chart.column.name for chart in charts]
    names += [column.name for column in table.columns if column.name.partition(".")[0] in MEASURED]
    names = list(dict.fromkeys([*names, "p50_us", "p90_us", "p99_us", "p999_us"]))
    cells, runs = table.cells, table.good
    order = {cell.cell: i for i, cell in enumerate(cells)}
    return {
        "dimensions": {
            name: {
                "text": [cell.dimensions[name] for cell in cells],
                "number": [cell.rows[0][f"p.{name}"] for cell in cells],
            }
            for name in table.dimensions
        },
        "profile": [cell.profile for cell in cells],
        "cells": {
            name: {
                part: [_short(getattr(cell.summaries.get(name), part, None)) for cell in cells]
                for part in ("centre", "low", "high")
            }
            for name in names
        },
        "runs": {
            "cell": [order[row["cell"]] for row in runs],
            **{name: [_short(row.get(name)) for row in runs] for name in names},
        },
    }


def _short(value: float | None) -> float | None:
    """Six digits are more than a picture shows."""
    return None if value is None else float(f"{value:.6g}")


def fill(table: Table, chart: Chart, axis: Axis, over: str | None = None) -> Json:
    """The sets "cells", "runs" and "lines" of one chart, as the page makes them by itself; over: the column of a
    measured axis."""
    along = default_axis(table).name if over else axis.name

    def place(cell: Cell, x: Any, value: float) -> Json:
        text = with_unit(x, "") if over else cell.dimensions.get(axis.name, cell.profile)
        return {
            "x": x if over else text if axis.kind == "text" else cell.rows[0][f"p.{axis.name}"],
            "xtext": text,
            "series": _series(cell.dimensions, along, cell.profile),
            "y": value / chart.scale,
            "ytext": with_unit(value, chart.column.unit),
        }

    name = chart.column.name
    cells, runs = [], []
    for cell in table.cells:
        summary, at = cell.summaries.get(name), cell.summaries.get(over or name)
        if summary and at:
            whole = place(cell, at.centre, summary.centre)
            for part in ("low", "high"):
                value = getattr(summary, part)
                whole[part] = None if value is None else value / chart.scale
            cells.append(whole)
        known = [row for row in cell.rows if row.get(name) is not None and row.get(over or name) is not None]
        runs += [place(cell, row[over or name], row[name]) for row in known]
    folded = _folded(cells) if over else set()
    return {"cells": cells, "runs": runs, "lines": [row for row in cells if row["series"] not in folded]}


def _folded(cells: Sequence[Json]) -> set[str]:
    """Series whose x goes back and forth: a line through them says nothing."""
    last: dict[str, float] = {}
    found = set()
    for row in cells:
        if row["x"] <= last.get(row["series"], -math.inf):
            found.add(row["series"])
        last[row["series"]] = row["x"]
    return found
