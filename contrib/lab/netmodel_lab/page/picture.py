# SPDX-License-Identifier: Apache-2.0
"""One chart by itself, as PNG or SVG, drawn without a browser."""

from __future__ import annotations

from typing import Any

import vl_convert

from netmodel_lab.page import charts, data, details
from netmodel_lab.problems import UsageProblem, instead, nearest
from netmodel_lab.table import Table

Json = dict[str, Any]

_SIZE = {"width": 640, "height": 360}
_SCALE = 2.0  # of pixels, for papers


def picture(table: Table, name: str, kind: str, over: str | None, cell: int) -> bytes:
    specification = _inside(table, name, cell) if name in details.NAMES else _chart(table, name, over)
    specification |= {**_SIZE, "background": "white", "$schema": "https://vega.github.io/schema/vega-lite/v6.json"}
    if kind == "svg":
        return vl_convert.vegalite_to_svg(specification).encode()
    return vl_convert.vegalite_to_png(specification, scale=_SCALE)


def _chart(table: Table, name: str, over: str | None) -> Json:
    known = {chart.column.name: chart for chart in charts.chosen([table])[0]}
    chart = known.get(name) or next((one for key, one in known.items() if key.partition(".")[0] == name), None)
    if not chart:
        names = [*known, *details.NAMES]
        raise UsageProblem([f"{name}: no such chart{nearest(name, names)}; there are {', '.join(names)}"])
    axes = {axis.name: axis for axis in [*data.axes([table]), *data.measured([table])]}
    axis = axes.get(over) if over else data.default_axis([table])
    if not axis:
        raise UsageProblem([f"--over {over}: was neither varied nor measured{instead(over or '', list(axes))}"])
    column = _over(axis, chart)
    if axis.kind == "measured" and not column:
        can = ", ".join(name for name, one in axes.items() if one.kind != "measured" or _over(one, chart))
        raise UsageProblem([f"--over {over}: {chart.column.name} cannot be drawn over it; there are {can}"])
    values = [row[column] for row in table.good if row.get(column) is not None] if column else axis.values
    series = data.series_of([table], data.default_axis([table]).name if column else axis.name)
    x = charts.place(column or axis.name, axis.kind, values)
    specification = charts.specification(chart, series=series, x=x)
    for layer in specification["layer"]:
        if "color" in layer["encoding"]:
            layer["encoding"]["color"]["legend"] = {"title": None, "orient": "bottom", "labelLimit": 400}
        if "shape" in layer["encoding"]:
            layer["encoding"]["shape"]["legend"] = {"title": None, "orient": "bottom", "labelLimit": 400}
    specification["title"] = {"text": chart.column.title, "subtitle": chart.unit, "anchor": "start"}
    return {**specification, "datasets": data.fill(table, chart, axis, column)}


def _over(axis: data.Axis, chart: charts.Chart) -> str | None:
    """The column of a measured axis that a chart can be drawn over: not over itself."""
    column = axis.columns[0].get(chart.end) if axis.kind == "measured" else None
    return column if column != chart.column.name else None


def _inside(table: Table, name: str, cell: int) -> Json:
    found = details.details(table, data.default_axis([table]).name)
    if not 1 <= cell <= len(found):
        raise UsageProblem([f"--cell {cell}: there are 1 to {len(found)}"])
    rows = details.fill(table, found, name, cell - 1)
    if not rows:
        raise UsageProblem([f"{name}: runs of this study have none"])
    title = found[cell - 1]["title"] if name not in ("distribution", "percentiles") else name
    return {**details.specifications()[name], "title": {"text": title, "anchor": "start"}, "datasets": {"rows": rows}}
