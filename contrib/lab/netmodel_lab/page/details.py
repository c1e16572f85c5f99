# SPDX-License-Identifier: Apache-2.0
"""Inside a run: how latency is distributed, and what changed while it ran. One run of a cell stands for it; the
distribution is that of all its runs together."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

from netmodel_lab import histogram
from netmodel_lab.columns import ends
from netmodel_lab.page.charts import PREFIXED
from netmodel_lab.rows import chosen
from netmodel_lab.table import Cell, Table

Json = dict[str, Any]

MOST_CELLS = 24  # that are looked into; of more, they are spread evenly
PER_DECADE = 12  # bands of latency in a waterfall
MOST_STEPS = 300  # of time in one picture; neighbours are taken together
# 1 - 1/10^k: an axis on which each further nine is as wide as the one before.
QUANTILES = tuple(1 - 10 ** (-i / 4) for i in range(21))
MOST_CURVES = 8
SHARES = (("50 %", "p50_us"), ("90 %", "p90_us"), ("99 %", "p99_us"), ("99.9 %", "p999_us"))
# What hosts have counted in each interval, by the picture that it is in.
COUNTED = {
    "interrupts": {"interrupts": "interrupts", "softirqs": "softirqs"},
    "losses": {"retransmitted_segments": "sent again", "softnet_dropped": "dropped"},
}
NAMES = ("distribution", "percentiles", "waterfall", "rate", "busy", *COUNTED)


def details(table: Table, along: str) -> list[Json]:
    """along: the dimension that a series is drawn over."""
    cells = table.cells
    step = max(len(cells) / MOST_CELLS, 1)
    found = []
    for i in dict.fromkeys(int(n * step) for n in range(min(len(cells), MOST_CELLS))):
        one = _detail(table, i, cells[i], along)
        if one:
            found.append(one)
    return found


def _detail(table: Table, index: int, cell: Cell, along: str) -> Json | None:
    attempts = [chosen(table.attempts[row["seq"]]) for row in cell.rows]
    logs = [histogram.read(attempt.path / histogram.LOG) for attempt in attempts]
    totals = [one.counts for log in logs for one in log if one.tag == "total"]
    whole = histogram.merge(totals)
    title = " ".join(f"{name}={value}" for name, value in cell.dimensions.items()) or cell.profile
    result = attempts[0].result or {}
    series = " ".join(f"{name}={value}" for name, value in cell.dimensions.items() if name != along) or cell.profile
    short = f"{along}={cell.dimensions[along]}" if along in cell.dimensions else cell.profile
    return {
        "cell": index,
        "title": title,
        "series": series,
        "short": short,
        "run": attempts[0].seq,
        "distribution": _distribution(whole),
        "waterfall": _waterfall([one for one in logs[0] if not one.tag] if logs else []),
        **_times(result),
    }


def _distribution(counts: dict[int, int]) -> list[list[float]]:
    """Pairs of nines and microseconds, as far as there are enough passes to speak of."""
    total = sum(counts.values())
    wanted = [share for share in QUANTILES if total * (1 - share) >= 1]
    values = histogram.quantiles(counts, wanted)
    return [
        [round(-math.log10(1 - share), 4), round(value, 4)]
        for share, value in zip(wanted, values, strict=True)
        if value is not None and value > 0
    ]


def _waterfall(intervals: Sequence[histogram.Interval]) -> list[list[float]]:
    """Begin, length, band and count."""
    together = max(math.ceil(len(intervals) / MOST_STEPS), 1)
    found = []
    for at in range(0, len(intervals), together):
        part = intervals[at : at + together]
        bands: Counter[int] = Counter()
        for one in part:
            for ns, count in one.counts.items():
                bands[math.floor(math.log10(max(ns, 1) / 1000) * PER_DECADE)] += count
        length = sum(one.length_s for one in part)
        found += [[round(part[0].start_s, 4), round(length, 4), band, count] for band, count in sorted(bands.items())]
    return found


def _times(result: Json) -> Json:
    """Rates, and the CPUs and counters of each machine, by the middle of their interval."""
    rate = []
    for row in result.get("intervals") or []:
        if isinstance(row.get("transactions_per_s"), int | float):
            rate.append([_middle(row), round(row["transactions_per_s"], 3)])
    busy = []
    counted: dict[str, list[list[Any]]] = {name: [] for name in COUNTED}
    for end, host in ends(result).items():
        name = {"shared": "both ends", "slave": f"slave {host.get('name')}"}.get(end, end)
        for row in host.get("intervals") or []:
            cpu = row.get("cpu") or {}
            if isinstance(cpu.get("busy"), int | float):
                busy.append([_middle(row), round(cpu["busy"] * cpu.get("n_cpus", 1) * 100, 1), name])
        for picture, members in COUNTED.items():
            for member, title in members.items():
                counted[picture] += _rates(host, member, f"{name}: {title}")
    return {"rate": _thin(rate), "busy": _thin(busy)} | {name: _thin(rows) for name, rows in counted.items()}


def _rates(host: Json, member: str, of: str) -> list[list[Any]]:
    """Of a counter, a second; nothing of intervals that do not know it."""
    return [
        [_middle(row), round(row[member] / (row["to_s"] - row["from_s"]), 1), of]
        for row in host.get("intervals") or []
        if row.get(member) is not None and row["to_s"] > row["from_s"]
    ]


def _middle(row: Json) -> float:
    return round((float(row["from_s"]) + float(row["to_s"])) / 2, 4)


def _thin(rows: list[list[Any]]) -> list[list[Any]]:
    step = max(math.ceil(len(rows) / (2 * MOST_STEPS)), 1)
    return rows[::step]


# --- pictures ---

_TIME = {"field": "t", "type": "quantitative", "axis": {"title": "s", "grid": False, "tickCount": 6}}


def _log_us(field: str) -> Json:
    return {
        "field": field,
        "type": "quantitative",
        "scale": {"type": "log", "nice": False},
        "axis": {"title": "us", "format": "~s", "tickCount": 6, "grid": True},
    }


def specifications() -> dict[str, Json]:
    """The pictures without their data, which are the set "rows" of each."""
    rows: Json = {"data": {"name": "rows"}, "width": "container", "height": 220}
    nines = "datum.value == 0 ? '0' : format(100 - 100 / pow(10, datum.value), '~') + ' %'"
    colour: Json = {"field": "of", "type": "nominal", "legend": {"title": None, "orient": "bottom", "labelLimit": 320}}
    many: Json = {**colour, "legend": {**colour["legend"], "columns": 4}, "sort": None}
    line = {"type": "line", "strokeWidth": 1.5, "point": {"size": 18}}
    per_s = {
        "field": "y",
        "type": "quantitative",
        "axis": {"title": None, "labelExpr": PREFIXED, "tickCount": 5},
    }
    return {
        "distribution": {
            **rows,
            "mark": {"type": "line", "strokeWidth": 1.75, "interpolate": "step-after"},
            "encoding": {
                "x": _log_us("us"),
                "y": {
                    "field": "nines",
                    "type": "quantitative",
                    "axis": {"title": None, "labelExpr": nines, "values": [0, 1, 2, 3, 4, 5]},
                },
                "color": many,
                "tooltip": [{"field": "of"}, {"field": "nine"}, {"field": "us", "format": ".4~s"}],
            },
        },
        "percentiles": {
            **rows,
            "mark": {"type": "line", "strokeWidth": 1.75, "point": True},
            "encoding": {
                "x": {
                    "field": "x",
                    "type": "ordinal",
                    "sort": None,
                    "axis": {"labelAngle": 0, "title": None, "labelLimit": 90, "labelOverlap": "greedy"},
                },
                "y": _log_us("us"),
                "color": {**colour, "sort": None},
                "tooltip": [{"field": "of"}, {"field": "x"}, {"field": "us", "format": ".4~s"}],
            },
        },
        "waterfall": {
            **rows,
            "mark": {"type": "rect", "strokeWidth": 0},
            "encoding": {
                "x": {**_TIME, "scale": {"nice": False, "zero": False}},
                "x2": {"field": "t2"},
                "y": _log_us("low"),
                "y2": {"field": "high"},
                "color": {
                    "field": "count",
                    "type": "quantitative",
                    "scale": {"type": "log", "scheme": "viridis"},
                    "legend": {"title": "passes", "orient": "right", "gradientLength": 160, "format": "~s"},
                },
                "tooltip": [
                    {"field": "t", "title": "from s", "format": ".3~f"},
                    {"field": "low", "title": "from us", "format": ".3~s"},
                    {"field": "high", "title": "to us", "format": ".3~s"},
                    {"field": "count", "title": "passes"},
                ],
            },
        },
        "rate": {
            **rows,
            "mark": line,
            "encoding": {"x": _TIME, "y": per_s},
        },
        "busy": {
            **rows,
            "mark": line,
            "encoding": {
                "x": _TIME,
                "y": {"field": "y", "type": "quantitative", "axis": {"title": None, "tickCount": 5}},
                "color": colour,
            },
        },
        **{
            name: {
                **rows,
                "mark": line,
                "encoding": {"x": _TIME, "y": per_s, "color": many},
            }
            for name in COUNTED
        },
    }


def fill(table: Table, found: Sequence[Json], name: str, number: int) -> list[Json]:
    """The rows of a picture, as the page makes them by itself; number: which of the cells."""
    one = found[number]
    alike = [each for each in found if each["series"] == one["series"]]
    if name == "distribution":
        return [
            {"nines": nines, "us": us, "of": each["short"], "nine": f"{100 * (1 - 10**-nines):.6g} %"}
            for each in alike[:MOST_CURVES]
            for nines, us in each["distribution"]
        ]
    if name == "percentiles":
        return [
            {"x": each["short"].partition("=")[2] or each["short"], "us": summary.centre, "of": label}
            for each in alike
            for label, column in SHARES
            if (summary := table.cells[each["cell"]].summaries.get(column))
        ]
    if name == "waterfall":
        return [
            {
                "t": t,
                "t2": t + length,
                "low": 10 ** (band / PER_DECADE),
                "high": 10 ** ((band + 1) / PER_DECADE),
                "count": count,
            }
            for t, length, band, count in one["waterfall"]
        ]
    return [{"t": row[0], "y": row[1], "of": row[2] if len(row) > 2 else ""} for row in one[name]]
