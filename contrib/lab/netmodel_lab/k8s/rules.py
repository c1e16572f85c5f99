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
from netmodel_lab.k8s.figures import Cell, Row
from netmodel_lab.k8s.others import NETMODEL
from netmodel_lab.k8s.paths import ATTACHED
from netmodel_lab.problems import UsageProblem

Json = dict[str, Any]
CONFIDENCE = 0.99


@dataclass(frozen=True)
class Finding:
    """What a rule says of one cell. is_worse: it fails the run; is_sure: no doubt is left either way; is_missing: what
    it needs is not there, and so it has no verdict."""

    title: str
    text: str
    is_worse: bool
    is_sure: bool = True
    is_missing: bool = False

    @property
    def word(self) -> str:
        if self.is_missing:
            return "none"
        return "worse" if self.is_worse else "ok" if self.is_sure else "open"


def _none(title: str, why: str) -> Finding:
    return Finding(title, f"no verdict: {why}", is_worse=False, is_sure=False, is_missing=True)


# --- host network beside pods ---


def tolerance(cells: Sequence[Cell], percent: float) -> list[Finding]:
    """Each TCP_STREAM of parallelism 1 in host network, beside the same between pods."""
    found = []
    for host in cells:
        test = host.point.test
        if host.point.network != "host" or test.profile != "TCP_STREAM" or test.parallelism != 1:
            continue
        place, driver = host.point.place, host.point.driver
        wanted = (test, place, driver, host.point.family)
        same = [one for one in cells if (one.point.test, one.point.place, one.point.driver, one.point.family) == wanted]
        for pod in same:
            if pod.point.network in ("pod", *ATTACHED) and not pod.point.is_virtual:
                found.append(_beside(host, pod, percent))
    return found


def _beside(host: Cell, pod: Cell, percent: float) -> Finding:
    point = pod.point
    who = f" {point.family}".rstrip() + ("" if point.driver == NETMODEL else f", {point.driver}")
    title = f"{point.test.title}, {point.place}{who}: {point.network} network beside host network"
    held = _throttled(title, [*host.rows, *pod.rows])
    if held:
        return held
    a, b = host.throughput, pod.throughput
    if a is None or b is None:
        return _none(title, "one of the two has no sample that counts")
    if a.mean + b.mean == 0:
        return _none(title, "neither has carried anything")
    difference = (a.mean - b.mean) / ((a.mean + b.mean) / 2) * 100
    text = f"host {a.mean:.0f}, {point.network} {b.mean:.0f} Mb/s: {difference:+.1f} %, tolerated {percent:g} %"
    return Finding(title, text, difference > percent)


def _throttled(title: str, rows: Sequence[Row]) -> Finding | None:
    """No verdict where pods were held back: that tells of their limit, and not of the network."""
    seconds = sum(row.get("throttled_s") or 0.0 for row in rows)
    if not seconds:
        if any(row.get("is_throttling_unknown") for row in rows):
            return _none(title, "pods have a limit of CPU, and whether it has held them back is not known")
        return None
    return _none(title, f"limits of CPU have held pods back for {seconds:.3g} s; larger --limits cpu=, or none")


# --- an earlier run ---

_KEYS: tuple[str, ...] = (
    "profile",
    "duration",
    "messagesize",
    "messagereadsize",
    "parallelism",
    "burst",
    "network",
    "place",
)
_KEYS += ("driver", "model", "family", "ends", "on")
Key = tuple[str, ...]


def _key(row: Row) -> Key:
    """Rows of before other programs were measured are netmodel's."""
    usual = {"driver": NETMODEL, "model": "", "family": "", "ends": "", "on": ""}
    return tuple(str(row.get(f"d.{name}") or usual.get(name)) for name in _KEYS)


def key_of(cell: Cell) -> Key:
    point, test = cell.point, cell.point.test
    given = (test.profile, test.duration, test.messagesize, test.messagereadsize, test.parallelism, test.burst)
    model, ends = test.model.shown if test.model else "", point.ends
    return tuple(map(str, (*given, point.network, point.place, point.driver, model, point.family, ends, point.on)))


def _text(key: Key) -> str:
    """Of a test of the baseline, which may have had another name."""
    given = dict(zip(_KEYS, key, strict=True))
    profile, model, on, family, ends, *where, driver = (
        given.pop(name) for name in ("profile", "model", "on", "family", "ends", "network", "place", "driver")
    )
    where[0] = " ".join(filter(None, (where[0], on, family, ends)))
    where += [] if driver == NETMODEL else [driver]
    if model:
        return f"{model}, duration {given['duration']}, {', '.join(where)}"
    return f"{profile}, {', '.join(f'{name} {value}' for name, value in given.items())}, {', '.join(where)}"


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


def baseline(cells: Sequence[Cell], before: dict[Key, list[Row]], percent: float) -> list[Finding]:
    """Worse: the loss is larger than what is tolerated, and is sure: its 99 % interval leaves no room for none. Holm's
    method keeps the chance of any false alarm among all cells at 1 %."""
    compared: list[tuple[str, inference.Difference]] = []
    found: list[Finding] = []
    for cell in cells:
        title, name = f"{cell.title}: beside the baseline", cell.figure
        earlier = before.get(key_of(cell), [])
        a, b = _values(earlier, name), _values(cell.rows, name)
        known = _throttled(title, [*earlier, *cell.rows]) or _known(title, a, b)
        if known:
            found.append(known)
        else:
            compared.append((title, inference.unpaired(a, b)))
    here = {key_of(cell) for cell in cells}
    gone = [f"{_text(key)}: beside the baseline" for key in before if key not in here]
    found += [_none(title, "this run has no such test") for title in gone]
    adjusted = inference.holm([difference.p for _, difference in compared])
    for (title, difference), p in zip(compared, adjusted, strict=True):
        found.append(_verdict(title, difference, p, percent))
    return found


def _values(rows: Sequence[Row], name: str) -> list[float]:
    return [float(row[name]) for row in rows if row.get(name) is not None]


def _known(title: str, a: Sequence[float], b: Sequence[float]) -> Finding | None:
    """What is so without a test of A, the baseline, and B; None: a test decides."""
    if not a or not b:
        return _none(title, f"{'this run' if a else 'the baseline'} has no sample of it")
    if min(a) <= 0:
        return _none(title, "the baseline has a sample that has carried nothing")
    if min(b) <= 0:
        return Finding(title, "a sample has carried nothing, and each of the baseline something", is_worse=True)
    if min(len(a), len(b)) < inference.MIN_RUNS:
        return _none(title, f"at least {inference.MIN_RUNS} samples each are needed")
    return None


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
