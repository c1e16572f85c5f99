# SPDX-License-Identifier: Apache-2.0
"""Verdicts: pod beside host network as k8s-netperf has it, and a run beside an earlier one."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from netmodel_lab import inference
from netmodel_lab.k8s.catalog import CATALOG
from netmodel_lab.k8s.figures import Cell, Row
from netmodel_lab.problems import UsageProblem

Json = dict[str, Any]
CONFIDENCE = 0.99


@dataclass(frozen=True)
class Finding:
    """What a rule says of one cell. is_worse: it fails the run; is_sure: no doubt is left either way."""

    title: str
    text: str
    is_worse: bool
    is_sure: bool = True

    @property
    def word(self) -> str:
        return "worse" if self.is_worse else "ok" if self.is_sure else "open"


# --- host network beside pods ---


def tolerance(cells: Sequence[Cell], percent: float) -> list[Finding]:
    """Each TCP_STREAM of parallelism 1 in host network, beside the same between pods."""
    found = []
    for host in cells:
        test = host.point.test
        if host.point.network != "host" or test.profile != "TCP_STREAM" or test.parallelism != 1:
            continue
        place = host.point.place
        same = [one for one in cells if one.point.test == test and one.point.place == place]
        pod = next((one for one in same if one.point.network == "pod"), None)
        title = f"{test.name} {test.messagesize} B, {place}: pod network beside host network"
        if pod is None:
            continue
        held = _throttled(title, [*host.rows, *pod.rows])
        if held:
            found.append(held)
            continue
        a, b = host.throughput, pod.throughput
        if a is None or b is None:
            found.append(Finding(title, "one of the two has no sample that counts", False, False))
            continue
        difference = (a.mean - b.mean) / ((a.mean + b.mean) / 2) * 100
        text = f"host {a.mean:.0f}, pod {b.mean:.0f} Mb/s: {difference:+.1f} %, tolerated {percent:g} %"
        found.append(Finding(title, text, difference > percent))
    return found


def _throttled(title: str, rows: Sequence[Row]) -> Finding | None:
    """No verdict where pods were held back: that tells of their limit, and not of the network."""
    seconds = sum(row.get("throttled_s") or 0.0 for row in rows)
    if not seconds:
        return None
    text = f"no verdict: limits of CPU have held pods back for {seconds:.3g} s; larger --limits cpu=, or none"
    return Finding(title, text, False, False)


# --- an earlier run ---

_KEYS = ("profile", "messagesize", "messagereadsize", "parallelism", "burst", "network", "place")
Key = tuple[str, ...]


def _key(row: Row) -> Key:
    return tuple(str(row.get(f"d.{name}")) for name in _KEYS)


def key_of(cell: Cell) -> Key:
    test = cell.point.test
    sizes = (test.messagesize, test.messagereadsize)
    given = (test.profile, *sizes, test.parallelism, test.burst, cell.point.network, cell.point.place)
    return tuple(map(str, given))


def read_baseline(path: Path) -> dict[Key, list[Row]]:
    """From the folder of a run, or its rows.jsonl."""
    file = path / "rows.jsonl" if path.is_dir() else path
    try:
        rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
        found: dict[Key, list[Row]] = {}
        for row in rows:
            if row["ok"]:
                found.setdefault(_key(row), []).append(row)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageProblem([f"--baseline {path}: is no run of netmodel-lab k8s, and no rows of one: {error}"]) from None
    if not found or not all("d.network" in row for rows in found.values() for row in rows):
        raise UsageProblem([f"--baseline {path}: has no row of netmodel-lab k8s"])
    return found


def figure_of(profile: str) -> str:
    return "received_MBps" if CATALOG[profile].is_stream else "transactions_per_s"


def baseline(cells: Sequence[Cell], before: dict[Key, list[Row]], percent: float) -> list[Finding]:
    """Worse: the loss is larger than what is tolerated, and is sure: its 99 % interval leaves no room for none. Holm's
    method keeps the chance of any false alarm among all cells at 1 %."""
    compared: list[tuple[str, inference.Difference]] = []
    found: list[Finding] = []
    for cell in cells:
        test = cell.point.test
        where = f"{cell.point.network}, {cell.point.place}"
        title = f"{test.name} {test.profile} {test.messagesize} B, {where}: beside the baseline"
        name = figure_of(test.profile)
        a, b = _values(before.get(key_of(cell), ()), name), _values(cell.rows, name)
        held = _throttled(title, [*before.get(key_of(cell), ()), *cell.rows])
        if held:
            found.append(held)
        elif not a or not b:
            who = "the baseline" if not a else "this run"
            found.append(Finding(title, f"{who} has no sample of it", False, False))
        elif min(len(a), len(b)) < inference.MIN_RUNS:
            found.append(Finding(title, f"at least {inference.MIN_RUNS} samples each are needed", False, False))
        else:
            compared.append((title, inference.unpaired(a, b)))
    adjusted = inference.holm([difference.p for _, difference in compared])
    for (title, difference), p in zip(compared, adjusted, strict=True):
        found.append(_verdict(title, difference, p, percent))
    return found


def _values(rows: Sequence[Row], name: str) -> list[float]:
    return [float(row[name]) for row in rows if row.get(name)]


def _verdict(title: str, difference: inference.Difference, p: float, percent: float) -> Finding:
    change = math.expm1(difference.effect) * 100
    interval = difference.interval(CONFIDENCE)
    shown = f" ({math.expm1(interval[0]) * 100:+.1f} .. {math.expm1(interval[1]) * 100:+.1f})" if interval else ""
    text = f"{change:+.1f} %{shown}, {CONFIDENCE:.0%} interval, tolerated {-percent:g} %"
    is_far = change < -percent
    if is_far and p < 1 - CONFIDENCE:
        return Finding(title, text, True)
    within = interval is not None and interval[0] > math.log1p(-percent / 100)
    return Finding(title, text + ("" if within else "; more samples would tell"), False, within)
