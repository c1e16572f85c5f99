# SPDX-License-Identifier: Apache-2.0
"""What the runs of a cell say together. The unit is one run; what is a positive rate, time or cost is taken by its
logarithm."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

FAR_IQR, NEAR_IQR = 3.0, 1.5
# Quartiles of few values are seldom where the distribution has them: with this, less than one cell of five hundred has
# such a run in a figure where runs lie normally, however many they are (test_summary.py).
FAR_IQR_OF_FEW = 42.0
LEAST_WIDTH = 0.01  # of the value: percentiles come in steps of about that much, and below it nobody is concerned
FAR_WIDTHS = 10.0  # so many of these are far from runs that are alike, however few they are
MIN_OUTLIER_RUNS = 5  # below that, a cell has no quartiles worth the name
MIN_DRIFT_RUNS = 8
DRIFT_P = 0.01
MAX_PAIRED = 1000

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Summary:
    """A cell's figure. centre: the typical value, which the 95 % interval from low to high is about; None: one run.
    middle: the interval of the median, by order, which holds where runs were disturbed, too; None: too few runs."""

    n: int
    mean: float
    median: float
    sd: float | None
    centre: float
    low: float | None
    high: float | None
    middle: tuple[float, float] | None = None
    mild: tuple[int, ...] = ()  # indices of outliers, which are kept
    far: tuple[int, ...] = ()


def is_logarithmic(values: Array, is_ratio: bool) -> bool:
    return is_ratio and bool(np.all(values > 0))


def summarise(values: Sequence[float], *, is_ratio: bool = True, confidence: float = 0.95) -> Summary | None:
    """None: there is nothing to sum up."""
    x = np.asarray([value for value in values if math.isfinite(value)], dtype=np.float64)
    if x.size == 0:
        return None
    by_log = is_logarithmic(x, is_ratio)
    y = np.log(x) if by_log else x
    centre = float(y.mean())
    half = sd = None
    if x.size > 1:
        sd = float(x.std(ddof=1))
        half = _student(confidence, x.size - 1) * float(y.std(ddof=1)) / math.sqrt(x.size)
    mild, far = outliers(y, LEAST_WIDTH * (1.0 if by_log else abs(float(np.median(x)))))

    def back(value: float) -> float:
        return math.exp(min(value, 700.0)) if by_log else value

    return Summary(
        n=int(x.size),
        mean=float(x.mean()),
        median=float(np.median(x)),
        sd=sd,
        centre=back(centre),
        low=None if half is None else back(centre - half),
        high=None if half is None else back(centre + half),
        middle=_middle(x, confidence),
        mild=mild,
        far=far,
    )


@functools.cache
def _student(confidence: float, df: int) -> float:
    """The same for all cells of so many runs."""
    return float(special.stdtrit(df, (1 + confidence) / 2))


def _middle(x: Array, confidence: float) -> tuple[float, float] | None:
    left_out = _left_out(confidence, x.size)
    if left_out is None:
        return None
    ordered = np.sort(x)
    return float(ordered[left_out]), float(ordered[-1 - left_out])


@functools.cache
def _left_out(confidence: float, n: int) -> int | None:
    """The most values that the interval of the median leaves out at each of its ends. None: it needs more than n."""
    held = [k for k in range(n // 2) if 1 - 2 * special.bdtr(k, n, 0.5) >= confidence]
    return held[-1] if held else None


def outliers(y: Array, least_width: float = LEAST_WIDTH) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Indices of what lies beyond 1.5 times the distance of the quartiles (Tukey), and of what lies far: beyond 3
    times, and of few more. The least distance is that of logarithms, unless it is given."""
    if y.size < MIN_OUTLIER_RUNS:
        return (), ()
    beyond, width = _beyond_quartiles(y)
    far_iqr = FAR_IQR + FAR_IQR_OF_FEW / (y.size - MIN_OUTLIER_RUNS + 1)
    is_far = beyond > max(far_iqr * width, min(far_iqr, FAR_WIDTHS) * least_width)
    is_mild = (beyond > NEAR_IQR * max(width, least_width)) & ~is_far
    far, mild = (tuple(int(i) for i in np.flatnonzero(which)) for which in (is_far, is_mild))
    return mild, far


def is_spoilt(y: Array) -> bool:
    """Whether some logarithms lie where a mean should not be taken. Undisturbed runs do so too where they are few,
    which is no harm: ranks hold for them as well."""
    if y.size < MIN_OUTLIER_RUNS:
        return False
    beyond, width = _beyond_quartiles(y)
    return bool(np.any(beyond > FAR_IQR * max(width, LEAST_WIDTH)))


def _beyond_quartiles(y: Array) -> tuple[Array, float]:
    """How far each lies beyond them, and their distance."""
    ordered = np.sort(y)
    low, high = (_quartile(ordered, share) for share in (0.25, 0.75))
    return np.maximum(low - y, y - high), high - low


def _quartile(ordered: Array, share: float) -> float:
    """Between the two values around it, as numpy has it, and faster for a few."""
    at = share * (ordered.size - 1)
    low = int(at)
    high = min(low + 1, ordered.size - 1)
    return float(ordered[low] + (at - low) * (ordered[high] - ordered[low]))


@dataclass(frozen=True)
class Drift:
    """What a figure did over the study beside what the cells explain: the change from its begin to its end."""

    p: float
    change: float

    @property
    def is_told(self) -> bool:
        return self.p < DRIFT_P


def drift(cells: Sequence[str], order: Sequence[float], values: Sequence[float]) -> Drift | None:
    """Spearman's test of the residuals of positive figures against their order, and Theil and Sen's slope. None: too
    few."""
    y = np.log(np.asarray(values, dtype=np.float64))
    if y.size < MIN_DRIFT_RUNS or not np.all(np.isfinite(y)):
        return None
    _, cell, counts = np.unique(np.asarray(cells), return_inverse=True, return_counts=True)
    residual = y - (np.bincount(cell, y) / counts)[cell]
    at = np.asarray(order, dtype=np.float64)
    kept = counts[cell] > 1
    if kept.sum() < MIN_DRIFT_RUNS or np.ptp(residual[kept]) < 1e-12:
        return None
    from scipy import stats  # takes a second

    found = stats.spearmanr(residual[kept], at[kept])
    # The slope is a median over all pairs: a thousand runs, evenly over the study, have enough of them.
    some = np.flatnonzero(kept)
    some = some[np.argsort(at[some], kind="stable")][:: math.ceil(some.size / MAX_PAIRED)]
    slope = stats.theilslopes(residual[some], at[some]).slope
    return Drift(float(found.pvalue), math.expm1(float(slope) * float(np.ptp(at[kept]))))
