# SPDX-License-Identifier: Apache-2.0
"""Statistics beside scipy, and beside truth that is drawn."""

from __future__ import annotations

import math
import os

import numpy as np
import pytest
from scipy import stats

from netmodel_lab.summary import drift, outliers, summarise

CELLS = int(os.environ.get("NETMODEL_LAB_CELLS") or 800)


def test_as_scipy_has_it() -> None:
    values = [10.0, 12.0, 11.0, 15.0]
    logs = np.log(values)
    low, high = stats.t.interval(0.95, 3, loc=logs.mean(), scale=stats.sem(logs))
    found = summarise(values)
    assert found
    assert found.n == 4
    assert found.mean == pytest.approx(12)
    assert found.median == pytest.approx(11.5)
    assert found.sd == pytest.approx(np.std(values, ddof=1))
    assert found.centre == pytest.approx(stats.gmean(values))
    assert [found.low, found.high] == pytest.approx([math.exp(low), math.exp(high)])


def test_without_logarithms_where_there_are_none() -> None:
    values = [0.0, 2.0, -1.0]
    low, high = stats.t.interval(0.95, 2, loc=np.mean(values), scale=stats.sem(values))
    found = summarise(values)
    assert found
    assert [found.centre, found.low, found.high] == pytest.approx([1 / 3, low, high])


def test_few_runs_and_equal_ones() -> None:
    assert summarise([]) is None
    assert summarise([math.nan]) is None
    one = summarise([5.0])
    assert one
    assert one.centre == pytest.approx(5)
    assert (one.n, one.low, one.sd) == (1, None, None)
    same = summarise([5.0] * 6)
    assert same
    assert [same.low, same.high] == pytest.approx([5, 5])
    assert same.far == ()


def test_the_interval_of_the_median_is_by_order() -> None:
    """The widest share of values that a binomial distribution leaves 5 % outside of, or less."""
    for n, ends in ((5, None), (6, (1, 6)), (8, (1, 8)), (9, (2, 8)), (10, (2, 9)), (30, (10, 21))):
        found = summarise([float(value) for value in reversed(range(1, n + 1))])
        assert found and found.middle == ends
        if ends:
            assert 1 - 2 * stats.binom.cdf(ends[0] - 1, n, 0.5) >= 0.95 > 1 - 2 * stats.binom.cdf(ends[0], n, 0.5)


def test_spoilt_runs_do_not_move_the_interval_of_the_median() -> None:
    """Of one run in ten that is slower by 30 %, as the interval about the typical value does not hold then."""
    random = np.random.default_rng(77)
    held = 0
    for values in np.exp(random.normal(math.log(50), 0.05, (CELLS, 10))):
        values[random.random(10) < 0.1] *= 1.3
        found = summarise(list(values))
        assert found and found.middle
        held += found.middle[0] <= 50 <= found.middle[1]
    assert held / CELLS >= 0.95


def test_outliers_are_told_and_kept() -> None:
    found = summarise([100, 101, 99, 100.5, 99.5, 300])
    assert found
    assert (found.n, found.far, found.mild) == (6, (5,), ())


@pytest.mark.parametrize("step", [0.0, 0.009])
@pytest.mark.parametrize("deviation", [0.01, 0.05])
@pytest.mark.parametrize("runs", [5, 6, 9, 10, 13, 30])
def test_undisturbed_runs_seldom_lie_far(runs: int, deviation: float, step: float) -> None:
    """In less than one cell of five hundred for each of five figures, which together have more than figures of the same
    runs; also where they come in steps."""
    random = np.random.default_rng(31 + runs)
    cells, figures = 3000, 5
    drawn = random.normal(0, deviation, (cells, figures, runs))
    values = np.round(drawn / step) * step if step else drawn
    told = sum(any(outliers(y)[1] for y in cell) for cell in values)
    assert told / cells < 0.002 * figures


def test_a_step_of_a_histogram_is_no_outlier() -> None:
    for values, is_ratio in (([20, 20, 20, 20, 20.2], True), ([-20, -20, -20, -20, -20.2], False)):
        found = summarise(values, is_ratio=is_ratio)
        assert found and (found.mild, found.far) == ((), ())
    for apart in (16, 40):
        found = summarise([20, 20.05, 20, 19.97, apart])
        assert found and found.far == (4,)


@pytest.mark.parametrize("cv", [0.05, 0.3])
@pytest.mark.parametrize("runs", [3, 10, 30])
def test_the_interval_holds_the_truth(cv: float, runs: int) -> None:
    """95 % of the time, within what so many cells can tell."""
    random = np.random.default_rng(1234 + runs)
    sigma = math.sqrt(math.log1p(cv**2))
    held = 0
    for values in np.exp(random.normal(math.log(50), sigma, (CELLS, runs))):
        found = summarise(list(values))
        assert found
        assert found.low is not None
        assert found.high is not None
        held += found.low <= 50 <= found.high
    assert 0.93 <= held / CELLS <= 0.97


def test_drift() -> None:
    random = np.random.default_rng(5)
    cells, order = [f"c{i % 6}" for i in range(60)], list(range(60))
    level = np.array([100.0 * (1 + i % 6) for i in range(60)])
    noise = np.exp(random.normal(0, 0.01, 60))
    rising = drift(cells, order, list(level * noise * np.linspace(1, 1.1, 60)))
    assert rising
    assert rising.is_told
    assert rising.change == pytest.approx(0.1, abs=0.02)
    flat = drift(cells, order, list(level * noise))
    assert flat
    assert not flat.is_told
    assert drift(["a"] * 3, [1, 2, 3], [1.0, 2.0, 3.0]) is None


def test_drift_is_seldom_told_where_there_is_none() -> None:
    random = np.random.default_rng(6)
    cells, order = [f"c{i % 8}" for i in range(24)], list(range(24))
    told = 0
    for values in np.exp(random.normal(3, 0.05, (200, 24))):
        found = drift(cells, order, list(values))
        told += found is not None and found.is_told
    assert told <= 10
