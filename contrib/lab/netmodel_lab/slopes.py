# SPDX-License-Identifier: Apache-2.0
"""What a GB/s costs: straight lines through the runs of a series, with intervals that hold where noise grows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from netmodel_lab.table import Table

MIN_DISTINCT = 3  # of x, below which there is no line
MIN_SPAN = 0.1  # of x, beside its mean
POOR = 0.8  # R2 below which a slope says little
_CURVED_P = 0.01
# What is drawn over GB/s: the figure of an end, and the unit of its slope.
COSTS = (
    ("busy_kernel_TL", "% of a CPU per GB/s"),
    ("irq_nic_kps", "1000 per GB"),
    ("irq_all_kps", "1000 per GB"),
)


@dataclass(frozen=True)
class Line:
    """y = intercept + slope x. low, high: the 95 % interval of the slope, from errors that may differ (HC3)."""

    n: int
    slope: float
    intercept: float
    r2: float
    low: float
    high: float
    is_curved: bool


def fit(x: Sequence[float], y: Sequence[float]) -> Line | None:
    """None: too few values of x or too near to each other, or y is always the same."""
    at, value = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    n = at.size
    if n < MIN_DISTINCT or np.unique(at).size < MIN_DISTINCT or np.ptp(at) < MIN_SPAN * abs(float(at.mean())):
        return None
    if np.ptp(value) <= 1e-9 * float(np.abs(value).max()):
        return None  # what never changes costs nothing more
    design = np.column_stack([np.ones(n), at])
    inverse = np.linalg.inv(design.T @ design)
    beta = inverse @ design.T @ value
    residual = value - design @ beta
    leverage = np.einsum("ij,jk,ik->i", design, inverse, design)
    # A run that alone decides the line leaves no residual to judge by.
    weights = (residual / np.maximum(1 - leverage, 1e-9)) ** 2
    covariance = inverse @ (design.T * weights) @ design @ inverse
    half = float(special.stdtrit(n - 2, 0.975)) * math.sqrt(max(float(covariance[1, 1]), 0.0))
    total = float(((value - value.mean()) ** 2).sum())
    r2 = 1 - float((residual**2).sum()) / total if total > 0 else 1.0
    slope = float(beta[1])
    return Line(n, slope, float(beta[0]), r2, slope - half, slope + half, _is_curved(at, value))


def _is_curved(x: np.ndarray, y: np.ndarray) -> bool:
    """Whether a quadratic term is significant."""
    if np.unique(x).size < MIN_DISTINCT + 1 or x.size < MIN_DISTINCT + 2:
        return False
    design = np.column_stack([np.ones(x.size), x, x**2])
    scaled = design / np.abs(design).max(axis=0)
    if np.linalg.matrix_rank(scaled) < 3:
        return False
    beta, *_ = np.linalg.lstsq(scaled, y, rcond=None)
    residual = y - scaled @ beta
    df = x.size - 3
    variance = float((residual**2).sum()) / df
    if variance <= 1e-24 * max(float((y**2).sum()), 1e-300):
        return abs(float(beta[2])) > 1e-9 * float(np.abs(y).max() or 1.0)
    se = math.sqrt(variance * float(np.linalg.inv(scaled.T @ scaled)[2, 2]))
    return bool(2 * special.stdtr(df, -abs(float(beta[2])) / se) < _CURVED_P)


@dataclass(frozen=True)
class Slope:
    series: str
    figure: str
    unit: str
    line: Line


def slopes(table: Table, axis: str) -> list[Slope]:
    """Of each series when axis is what is varied along it."""
    found = []
    for end in table.ends:
        for figure, unit in COSTS:
            name = f"{figure}.{end}"
            points: dict[str, list[tuple[float, float]]] = {}
            for row in table.good:
                x, y = row.get("payload_MBps"), row.get(name)
                if x is None or y is None:
                    continue
                parts = [f"{dim}={row[f'd.{dim}']}" for dim in table.dimensions if dim != axis]
                points.setdefault(" ".join(parts) or row["profile"], []).append((x / 1000, y))
            for series, pairs in points.items():
                line = fit([x for x, _ in pairs], [y for _, y in pairs])
                if line:
                    found.append(Slope(series, name, unit, line))
    return found
