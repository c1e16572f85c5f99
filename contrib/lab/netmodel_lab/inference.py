# SPDX-License-Identifier: Apache-2.0
"""Whether two cells differ, and by how much: pure functions of the values of their runs."""

from __future__ import annotations

import bisect
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import special

from netmodel_lab.summary import is_spoilt

MIN_RUNS = 3  # of each side, below which nothing is decided
OFFERED = 5  # the fewest runs that are recommended
MAX_OFFERED = 100  # beyond that, noise is the matter
POWER = 0.8
_SURE_OF_SD = 0.8  # how sure the upper limit of a deviation is that plans are made with
_EXACT = 20_000  # arrangements that a permutation test goes through one by one
_EQUAL = 1e-12

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Difference:
    """B beside A. effect is the difference of the means of logarithms; of plain values where there are none."""

    test: str
    n_a: int
    n_b: int
    p: float
    effect: float
    se: float | None
    df: float | None
    is_paired: bool = False

    def interval(self, confidence: float) -> tuple[float, float] | None:
        if self.se is None or self.df is None:
            return None
        half = float(special.stdtrit(self.df, (1 + confidence) / 2)) * self.se
        return self.effect - half, self.effect + half


def _two_sided(t: float, df: float) -> float:
    return float(2 * special.stdtr(df, -abs(t)))


def unpaired(a: Sequence[float], b: Sequence[float]) -> Difference:
    """Welch's test of logarithms; ranks, with every arrangement, where runs lie far off or nothing varies."""
    x, y = np.log(np.asarray(a, dtype=np.float64)), np.log(np.asarray(b, dtype=np.float64))
    effect = float(y.mean() - x.mean())
    if np.ptp(np.concatenate([x, y])) < _EQUAL:
        return Difference("all equal", x.size, y.size, 1.0, 0.0, 0.0, float(x.size + y.size - 2))
    if min(x.size, y.size) < 2:
        return Difference("too few runs", x.size, y.size, 1.0, effect, None, None)
    va, vb = x.var(ddof=1) / x.size, y.var(ddof=1) / y.size
    se = math.sqrt(va + vb)
    if se < _EQUAL:
        return Difference("permutation", x.size, y.size, _rank_p(x, y), effect, None, None)
    df = float((va + vb) ** 2 / (va**2 / (x.size - 1) + vb**2 / (y.size - 1)))
    if is_spoilt(x) or is_spoilt(y):
        return Difference("Mann-Whitney", x.size, y.size, _rank_p(x, y), effect, se, df)
    return Difference("Welch", x.size, y.size, _two_sided(effect / se, df), effect, se, df)


def paired(a: Sequence[float], b: Sequence[float]) -> Difference:
    """Student's test of the differences of logarithms within blocks; signed ranks where a difference lies far off."""
    d = np.log(np.asarray(b, dtype=np.float64)) - np.log(np.asarray(a, dtype=np.float64))
    return of_differences(d)


def of_differences(d: Array) -> Difference:
    return replace(_of_differences(d), is_paired=True)


def _of_differences(d: Array) -> Difference:
    n, effect = int(d.size), float(d.mean())
    if np.max(np.abs(d)) < _EQUAL:
        return Difference("all equal", n, n, 1.0, 0.0, 0.0, float(max(n - 1, 1)))
    if n < 2:
        return Difference("too few runs", n, n, 1.0, effect, None, None)
    se = float(d.std(ddof=1) / math.sqrt(n))
    if se < _EQUAL:
        return Difference("permutation", n, n, 2.0 ** (1 - n), effect, None, None)
    if is_spoilt(d):
        from scipy import stats  # takes a second to load, and few comparisons want it

        p = float(stats.wilcoxon(d, method="exact" if n <= 25 else "auto").pvalue)
        return Difference("Wilcoxon", n, n, p, effect, se, float(n - 1))
    return Difference("paired t", n, n, _two_sided(effect / se, n - 1), effect, se, float(n - 1))


def of_itself(n: int) -> Difference:
    """Of the same runs on both sides, however few."""
    return Difference("itself", n, n, 1.0, 0.0, 0.0, float(max(n - 1, 1)))


def by_rank(a: Sequence[float], b: Sequence[float]) -> Difference:
    """Of values that have no logarithms: whether those of B tend to be higher or lower."""
    x, y = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if np.ptp(np.concatenate([x, y])) < _EQUAL:
        return Difference("all equal", x.size, y.size, 1.0, 0.0, 0.0, float(max(x.size + y.size - 2, 1)))
    effect = float(np.median(y) - np.median(x))
    return Difference("Mann-Whitney", x.size, y.size, _rank_p(x, y), effect, None, None)


def _rank_p(x: Array, y: Array) -> float:
    """The exact Mann-Whitney test; with ties, of midranks."""
    from scipy import stats

    together = np.concatenate([x, y])
    if np.unique(together).size == together.size:
        method = "exact" if x.size * y.size <= 10_000 else "auto"
        return float(stats.mannwhitneyu(x, y, alternative="two-sided", method=method).pvalue)
    ranks = stats.rankdata(together)
    found = stats.permutation_test(
        (ranks[: x.size], ranks[x.size :]),
        lambda a, b, axis: np.mean(a, axis=axis) - np.mean(b, axis=axis),
        vectorized=True,
        n_resamples=_EXACT,
        rng=np.random.default_rng(0),
    )
    return float(found.pvalue)


def smallest_rank_p(n_a: int, n_b: int) -> float:
    """What a rank test of so many runs can come down to."""
    return 2 / math.comb(n_a + n_b, n_a)


def overall(differences: Sequence[Difference]) -> Difference | None:
    """The mean effect of cells that are independent of each other. None: what one of them varies by is not known, or
    none varies."""
    known = [one for one in differences if one.se is not None or one.test == "permutation"]
    if not known or len(known) < len(differences):
        return None
    effect = sum(one.effect for one in known) / len(known)
    variances = [(one.se or 0.0) ** 2 for one in known]
    se = math.sqrt(sum(variances)) / len(known)
    n_a, n_b = (sum(getattr(one, name) for one in known) for name in ("n_a", "n_b"))
    if se < _EQUAL:
        return Difference("all equal", n_a, n_b, 1.0, effect, 0.0, 1.0) if abs(effect) < _EQUAL else None
    below = sum(v**2 / (one.df or 1.0) for v, one in zip(variances, known, strict=True))
    df = sum(variances) ** 2 / below
    return Difference("Welch", n_a, n_b, _two_sided(effect / se, df), effect, se, df)


def holm(ps: Sequence[float]) -> list[float]:
    """Adjusted so that the chance of any false alarm among all of them stays below alpha."""
    adjusted = [1.0] * len(ps)
    largest = 0.0
    for rank, i in enumerate(sorted(range(len(ps)), key=lambda i: ps[i])):
        largest = max(largest, min(1.0, ps[i] * (len(ps) - rank)))
        adjusted[i] = largest
    return adjusted


def benjamini_hochberg(ps: Sequence[float]) -> list[float]:
    """Worth a look below alpha; no verdict."""
    from scipy import stats

    return [float(q) for q in stats.false_discovery_control(list(ps))] if ps else []


def spread(found: Difference) -> tuple[float, float] | None:
    """The deviation of the logarithms of runs that the test has seen, of differences in pairs, and its degrees of
    freedom: without what epochs and blocks differ by."""
    if found.test == "permutation":
        return 0.0, 1.0
    if found.se is None or found.df is None:
        return None
    return found.se / math.sqrt(1 / found.n_a if found.is_paired else 1 / found.n_a + 1 / found.n_b), found.df


def runs_needed(
    sd: float, df: float, effect: float, alpha: float, tests: int = 1, *, is_paired: bool = False
) -> int | None:
    """Runs of each side that find such an effect four times of five, as the first of so many tests. sd is an estimate:
    its upper limit is taken. None: more than anyone would do."""
    if df < 30:
        sd *= math.sqrt(df / float(special.chdtri(df, _SURE_OF_SD)))
    offered = range(OFFERED, MAX_OFFERED + 1)
    groups = 1 if is_paired else 2
    found = bisect.bisect_left(offered, True, key=lambda n: _power(n, sd, effect, alpha / tests, groups) >= POWER)
    return offered[found] if found < len(offered) else None


def _power(n: int, sd: float, effect: float, alpha: float, groups: int) -> float:
    if sd <= 0:
        return 1.0
    df = groups * (n - 1)
    shift = abs(effect) / (sd * math.sqrt(groups / n))
    return float(1 - special.nctdtr(df, shift, special.stdtrit(df, 1 - alpha / 2)))
