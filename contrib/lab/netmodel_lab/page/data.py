# SPDX-License-Identifier: Apache-2.0
"""What the charts of a study show, as columns: for the page, which draws them itself, and for pictures."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
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
    # Of a figure, for each study: its columns by machine; "": of the runs.
    columns: tuple[dict[str, str], ...] = ()


def axes(tables: Sequence[Table]) -> list[Axis]:
    found = []
    for name in dict.fromkeys(name for table in tables for name in table.dimensions):
        numbers = [row[f"p.{name}"] for table in tables if name in table.dimensions for row in table.good]
        if not numbers or any(value is None for value in numbers):
            kind = "text"
        elif min(numbers) > 0 and (max(numbers) / min(numbers) >= _LOG_SPREAD or _is_geometric(numbers)):
            kind = "log"
        else:
            kind = "linear"
        distinct = tuple(sorted(set(numbers))) if kind != "text" else ()
        found.append(Axis(name, kind, distinct))
    return found or [Axis("profile", "text")]


def measured(tables: Sequence[Table]) -> list[Axis]:
    """What runs have found out that others can be drawn over."""
    every = [(figure, tuple(_columns_of(table, figure) for table in tables)) for figure in MEASURED]
    return [Axis(figure, "measured", columns=columns) for figure, columns in every if any(columns)]


def _columns_of(table: Table, figure: str) -> dict[str, str]:
    """Runs are over the figure of the first machine; what is of the runs is that of each machine."""
    known = [column.name for column in table.columns]
    own = {name.partition(".")[2]: name for name in known if name.partition(".")[0] == figure}
    if not own:
        return {}
    columns = {end: own.get(end) or own.get("") for end in table.ends} | {"": next(iter(own.values()))}
    return {end: name for end, name in columns.items() if name}


def _is_geometric(numbers: Sequence[float]) -> bool:
    """Three or more values, each so many times the one before."""
    distinct = sorted(set(numbers))
    factors = {round(b / a, 6) for a, b in itertools.pairwise(distinct)}
    return len(distinct) > 2 and len(factors) == 1


def default_axis(tables: Sequence[Table]) -> Axis:
    """A dimension of all studies, if there is one; the one with the most values; numbers before texts."""

    def rank(axis: Axis) -> tuple[int, bool, int]:
        having = [table for table in tables if axis.name in table.dimensions]
        values = {row[f"d.{axis.name}"] for table in having for row in table.good}
        return len(having), axis.kind != "text", len(values)

    return max(axes(tables), key=rank)


def first_axis(tables: Sequence[Table]) -> Axis:
    """What charts are drawn over at first: a dimension of all studies, else what all of them have measured."""
    axis = default_axis(tables)
    if all(axis.name in table.dimensions for table in tables) or not any(table.dimensions for table in tables):
        return axis
    return next((one for one in measured(tables) if all(one.columns)), axis)


def series_of(tables: Sequence[Table], x: str) -> list[str]:
    """The series when x is the axis, in the order of the cells."""
    cells = [cell for table in tables for cell in table.cells]
    return list(dict.fromkeys(_series(cell.dimensions, x, cell.profile) for cell in cells))


def names(tables: Sequence[Table]) -> list[str]:
    """What studies are called beside each other: by their folders, as far as these differ."""
    found = [table.folder.path.resolve() for table in tables]
    short = [path.name for path in found]
    return [name if short.count(name) == 1 else str(path) for name, path in zip(short, found, strict=True)]


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
    along = default_axis([table]).name if over else axis.name

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
