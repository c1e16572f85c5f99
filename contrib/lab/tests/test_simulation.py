# SPDX-License-Identifier: Apache-2.0
"""What statistics promise, against simulated truth. Few studies in a check, many in the proof."""

from __future__ import annotations

import math
import os

import numpy as np
import pytest

from netmodel_lab import inference
from netmodel_lab.compare import Comparison, compare
from netmodel_lab.rows import Row
from netmodel_lab.sides import Side
from netmodel_lab.summary import drift, summarise

IS_LONG = bool(os.environ.get("NETMODEL_LAB_LONG"))
STUDIES = 400 if IS_LONG else 5
CELLS = 48
Array = np.ndarray


def _sd(cv: float) -> float:
    return math.sqrt(math.log1p(cv**2))


def _bound(share: float, n: int) -> float:
    """Two deviations of a count above the share, which so few draws may lie."""
    return share + 2 * math.sqrt(share * (1 - share) / n)


@pytest.mark.parametrize("cv", [0.05, 0.3])
@pytest.mark.parametrize("n", [3, 5, 10, 30])
def test_intervals_cover(n: int, cv: float) -> None:
    draw = np.random.default_rng(n)
    trials = 8000 if IS_LONG else 1000
    hits = 0
    for values in np.exp(draw.normal(2, _sd(cv), (trials, n))):
        found = summarise(list(values))
        assert found
        hits += (found.low or 0) <= math.exp(2) <= (found.high or 0)
    print(f"figure: interval of {n} runs, cv {cv:.0%}: covers {hits / trials:.3f}")
    assert 0.93 <= hits / trials <= 0.97


def _side(name: str, logs: Array) -> Side:
    rows: list[Row] = [
        {"ok": True, "d.cell": str(cell), "block": float(run), "transactions_per_s": math.exp(value)}
        for cell, runs in enumerate(logs)
        for run, value in enumerate(runs)
    ]
    return Side(name, name, rows, {})


def _compared(a: Array, b: Array, names: str) -> Comparison:
    sides = (_side(names[0], a), _side(names[1], b))
    return compare(*sides, ["transactions_per_s:2.5%:higher"], (), alpha=0.05, same=0.05)


def _alarms(draw: np.random.Generator, cv: float, n: int, spoilt: float = 0.0, names: str = "ab") -> float:
    """The share of studies of A and A in which any cell is called better or worse."""
    count = 0
    for _ in range(STUDIES):
        logs = draw.normal(10, _sd(cv), (2, CELLS, n))
        if spoilt:
            logs += np.where(draw.random(logs.shape) < spoilt, math.log(0.8), 0.0)
        found = _compared(logs[0], logs[1], names)
        count += any(line.verdict in ("better", "worse") for line in found.lines)
    return count / STUDIES


@pytest.mark.parametrize(("cv", "n"), [(0.03, 6), (0.03, 10), (0.1, 6)])
def test_false_alarms_of_a_whole_table(cv: float, n: int) -> None:
    share = _alarms(np.random.default_rng(n), cv, n)
    print(f"figure: A beside A, {CELLS} cells, {n} runs, cv {cv:.0%}: any false verdict in {share:.3f} of studies")
    assert share <= _bound(0.05, STUDIES)


@pytest.mark.parametrize("names", ["ab", "ss"], ids=["unpaired", "paired"])
def test_false_alarms_with_spoilt_runs(names: str) -> None:
    share = _alarms(np.random.default_rng(3), 0.02, 10, 0.1, names)
    how = "of blocks of one study" if names == "ss" else "of two studies"
    print(f"figure: the same {how}, one run of ten by a fifth lower, 10 runs, cv 2 %: {share:.3f}")
    assert share <= _bound(0.06, STUDIES)


def test_power_with_spoilt_runs() -> None:
    """Of a true 5 %, where one run of ten is lower by a fifth: ranks find what means do not."""
    draw = np.random.default_rng(12)
    pairs, found = 4000 if IS_LONG else 400, 0
    for _ in range(pairs):
        logs = draw.normal(5, _sd(0.02), (2, 10)) + np.where(draw.random((2, 10)) < 0.1, math.log(0.8), 0.0)
        a, b = np.exp(logs)
        found += inference.unpaired(list(a), list(b * 1.05)).p < 0.05
    print(f"figure: true 5 % at cv 2 %, one run of ten by a fifth lower, 10 runs: found in {found / pairs:.3f}")
    assert found / pairs >= 0.8


def test_power_at_the_runs_that_are_recommended() -> None:
    """From pilots of 5 and 5, for a true 5 %; one test."""
    draw = np.random.default_rng(8)
    pilots, found, runs = (1500 if IS_LONG else 300), 0, []
    for _ in range(pilots):
        a, b = np.exp(draw.normal(5, _sd(0.05), (2, 5)))
        sd, df = inference.spread(inference.unpaired(a, b)) or (0.0, 1.0)
        n = inference.runs_needed(sd, df, math.log(1.05), 0.05)
        n = inference.MAX_OFFERED if n is None else n
        runs.append(n)
        a, b = np.exp(draw.normal(5, _sd(0.05), (2, n)))
        found += inference.unpaired(list(a), list(b * 1.05)).p < 0.05
    print(f"figure: true 5 % at cv 5 %, {np.median(runs):.0f} runs recommended (median): found in {found / pilots:.3f}")
    assert found / pilots >= 0.8


def test_drift_is_found_and_not_invented() -> None:
    draw = np.random.default_rng(4)
    cells = [str(cell) for _ in range(3) for cell in range(CELLS)]
    order = list(range(len(cells)))
    counts = {0.0: 0, 0.05: 0}
    for _ in range(STUDIES):
        for size in counts:
            logs = draw.normal(0, 0.02, len(cells)) + np.linspace(0, size, len(cells))
            found = drift(cells, order, list(np.exp(logs)))
            counts[size] += bool(found and found.is_told)
    print(f"figure: drift of 5 %: told in {counts[0.05] / STUDIES:.3f}; of none: in {counts[0.0] / STUDIES:.3f}")
    assert counts[0.05] == STUDIES
    assert counts[0.0] / STUDIES <= _bound(0.02, STUDIES)
