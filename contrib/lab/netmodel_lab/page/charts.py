# SPDX-License-Identifier: Apache-2.0
"""Charts as Vega-Lite specifications. They have no data of their own: the page, or a picture, fills the sets "cells"
(x, y, low, high, series) and "runs" (x, y, series)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from netmodel_lab.columns import Column
from netmodel_lab.table import Table
from netmodel_lab.words import with_unit

Json = dict[str, Any]

# A chart is left out where no run has the figure. Of machines there is a row of charts each, in the order of the
# spreadsheets of proj_net_bw_lat; latency is that of the runs that a machine had its part in.
OF_RUNS = ("transactions_per_s", "payload_MBps", "resp_p99_us")
OF_MACHINES = (
    "hidden_TL",
    "busy_hw_TL",
    "busy_kernel_TL",
    "irq_nic_kps",
    "irq_all_kps",
    "wire_MBps",
    "packets_per_nic_irq",
    "packets_per_irq",
    "softirq_net_kps",
    "wire_kpps",
    "cs_kps",
    "packets_per_cs",
    "p50_us",
    "p90_us",
    "p99_us",
)
COSTS = (
    "cpu_us_per_transaction",
    "cpu_s_per_GB",
    "busy_TL_per_GBps",
    "cpu_us_per_packet",
    "tcp_retransmitted_segments_ps",
)
CHARTS = OF_RUNS + OF_MACHINES + COSTS
# What was not set, and can be an axis all the same.
MEASURED = ("wire_MBps", "payload_MBps", "irq_nic_kps", "irq_all_kps")
_WIDE = 20.0  # largest by median, beyond which an axis is logarithmic
_MAX_TICKS = 10  # that are put at the values themselves
_ROOM = 0.05  # share of an axis that is left free at either end
_TIMES = ((1e6, "s"), (1e3, "ms"))
_CUT = 0.5  # share of what the runs span, by which intervals may be longer
PREFIXED = "format(datum.value, '~s')"  # each by itself: 0 without a k


@dataclass(frozen=True)
class Chart:
    """A figure over what is varied. Values are divided by scale, and then are of the unit."""

    column: Column
    unit: str
    scale: float
    is_logarithmic: bool
    is_small: bool  # no value needs a k
    finding: str
    domain: tuple[float, float]

    @property
    def figure(self) -> str:
        """What it shows, of whatever machine."""
        return self.column.name.partition(".")[0]

    @property
    def end(self) -> str:
        """The machine that it is about; "": the runs."""
        return self.column.name.partition(".")[2]


def chosen(tables: Sequence[Table]) -> list[list[Chart]]:
    """The charts of each study. Those of one figure have one scale, so that machines compare."""
    values: dict[str, list[float]] = {}
    spans: dict[str, list[float]] = {}
    for table in tables:
        for column in _drawn(table):
            figure = column.name.partition(".")[0]
            known = [row[column.name] for row in table.good if row.get(column.name) is not None]
            values.setdefault(figure, []).extend(known)
            spans.setdefault(figure, []).extend(_ends(table, column))
    ordered = {figure: sorted(known) for figure, known in values.items()}
    limits = {figure: _limits(ordered[figure], spans[figure]) for figure in ordered}
    return [
        sorted(
            [_chart(table, column, ordered, limits) for column in _drawn(table)],
            key=lambda chart: (chart.end, CHARTS.index(chart.figure)),
        )
        for table in tables
    ]


def _ends(table: Table, column: Column) -> list[float]:
    """Those of the intervals of all cells."""
    summaries = [cell.summaries[column.name] for cell in table.cells if column.name in cell.summaries]
    return [end for one in summaries for end in (one.low, one.high) if end is not None]


def _is_logarithmic(values: Sequence[float]) -> bool:
    return values[0] > 0 and values[-1] / values[len(values) // 2] > _WIDE


def _limits(values: Sequence[float], ends: Sequence[float]) -> tuple[float, float]:
    """What an axis has to show: all runs, and intervals as far as they are not much longer than these lie apart."""
    if not _is_logarithmic(values):
        return _shown(values[0], values[-1], ends)
    logs = [math.log(end) if end > 0 else -math.inf for end in ends]
    low, high = _shown(math.log(values[0]), math.log(values[-1]), logs)
    return math.exp(low), math.exp(high)


def _shown(least: float, most: float, ends: Sequence[float]) -> tuple[float, float]:
    room = (most - least) * _CUT
    return min(least, max(min(ends, default=least), least - room)), max(most, min(max(ends, default=most), most + room))


def _drawn(table: Table) -> list[Column]:
    return [column for column in table.columns if column.name.partition(".")[0] in CHARTS]


def _chart(
    table: Table, column: Column, ordered: dict[str, list[float]], limits: dict[str, tuple[float, float]]
) -> Chart:
    figure = column.name.partition(".")[0]
    values, (least, most) = ordered[figure], limits[figure]
    scale, unit = 1.0, column.unit
    if unit == "us":
        scale, unit = next(((s, u) for s, u in _TIMES if values[len(values) // 2] >= s), (1.0, "us"))
    is_logarithmic = _is_logarithmic(values)
    top = most / scale or 1.0
    bottom = (least if least > 0 else values[0]) / scale
    domain = (bottom / 1.2, top * 1.2) if is_logarithmic else (min(least / scale, 0.0), top * 1.05)
    return Chart(column, unit, scale, is_logarithmic, values[-1] / scale < 1000, _finding(table, column), domain)


def _finding(table: Table, column: Column) -> str:
    """What a chart shows, in words, for those who do not see it."""
    known = [(cell, cell.summaries[column.name].centre) for cell in table.cells if column.name in cell.summaries]
    if not known:
        return column.title
    least, most = min(known, key=lambda pair: pair[1]), max(known, key=lambda pair: pair[1])

    def tell(pair: tuple[Any, float]) -> str:
        where = " ".join(f"{name}={value}" for name, value in pair[0].dimensions.items()) or pair[0].profile
        return f"{with_unit(pair[1], column.unit)} at {where}"

    return f"{column.title}: from {tell(least)} to {tell(most)}"


def specification(chart: Chart, *, series: Sequence[str], x: Json | None = None) -> Json:
    """Colours and shapes are those of the series, in every chart the same. Without x, the page puts it in."""
    x = x or {"field": "x", "type": "quantitative"}
    # The interval of two runs can be a thousand times as long as they lie apart, and is cut off.
    scale = {"type": "log"} if chart.is_logarithmic else {"nice": True}
    y: Json = {
        "field": "y",
        "type": "quantitative",
        "scale": {**scale, "domain": list(chart.domain)},
        "axis": {"title": None, "tickCount": 5, **({"format": "~r"} if chart.is_small else {"labelExpr": PREFIXED})},
    }
    of_series: Json = {"field": "series", "type": "nominal", "legend": None}
    if series:
        of_series["scale"] = {"domain": list(series)}
    line = {"x": x, "y": y, "color": of_series}
    titles = (("series", "series"), ("xtext", "at"), ("ytext", chart.column.title))
    tips = [{"field": field, "type": "nominal", "title": title} for field, title in titles]
    point = {**line, "shape": of_series, "tooltip": tips}
    layers = (
        ("runs", {"type": "point", "size": 26, "filled": False, "opacity": 0.55, "strokeWidth": 1}, point),
        ("lines", {"type": "line", "strokeWidth": 1.75}, line),
        (
            "cells",
            {"type": "rule", "strokeWidth": 1.5, "clip": True},
            {**line, "y": {**y, "field": "low"}, "y2": {"field": "high"}},
        ),
        ("cells", {"type": "point", "size": 56, "filled": True, "opacity": 1}, point),
    )
    return {
        "width": "container",
        "height": 200,
        "layer": [{"data": {"name": name}, "mark": mark, "encoding": encoding} for name, mark, encoding in layers],
    }


def place(title: str, kind: str, values: Sequence[float]) -> Json:
    """The axis of a dimension (log, linear or text) or of a figure. A few values of a dimension are its ticks; marks
    stay clear of the ends."""
    if kind == "text":
        axis: Json = {"title": title, "labelAngle": 0, "labelLimit": 120}
        return {"field": "x", "type": "nominal", "sort": None, "axis": axis}
    axis = {"title": title, "format": "~s", "labelOverlap": True, "tickCount": 6, "grid": False}
    if kind != "measured" and len(values) <= _MAX_TICKS:
        axis["values"] = list(values)
    low, high = min(values), max(values)
    scale: Json = {"nice": False}
    if kind == "log":
        room = (high / low) ** _ROOM if high > low else 2.0
        scale |= {"type": "log", "base": 2, "domain": [low / room, high * room]}
    else:
        rest = (high - low) * _ROOM if high > low else 1.0
        scale |= {"zero": False, "domain": [low - rest, high + rest]}
    return {"field": "x", "type": "quantitative", "scale": scale, "axis": axis}
