# SPDX-License-Identifier: Apache-2.0
"""A comparison for people, and for programs."""

from __future__ import annotations

import math
from typing import Any

from netmodel_lab.compare import Comparison, Line
from netmodel_lab.text import aligned
from netmodel_lab.words import with_unit

SCHEMA = "netmodel-lab.compare/1"
_VERDICTS = ("worse", "better", "same", "undecided", "failed")


def as_text(comparison: Comparison) -> str:
    tests = [line for line in comparison.lines if line.difference]
    how = ", ".join(dict.fromkeys(line.difference.test for line in tests if line.difference)) or "no test"
    parts = [
        f"compare {comparison.a.text}  with  {comparison.b.text}",
        f"{how}; Holm over {len(tests)} tests, alpha {comparison.alpha:.0%}",
        *(f"note: {note}" for note in comparison.notes),
    ]
    for metric in dict.fromkeys(line.metric for line in comparison.lines):
        lines = [line for line in comparison.lines if line.metric == metric]
        parts += ["", f"{metric.column.name} ({metric.better} is better, {metric.least:.1%} matters)"]
        head = [*(comparison.by or ["cell"]), "A", "B", "B/A", "95 % of ratio", "p adj", "verdict"]
        rows = [head, *(_row(line, len(head) - 6) for line in lines)]
        parts.append(aligned([row[:-1] for row in rows], len(head) - 6, last=[row[-1] for row in rows]).rstrip("\n"))
    counted = [f"{comparison.count(verdict)} {verdict}" for verdict in _VERDICTS if comparison.count(verdict)]
    parts += ["", f"{', '.join(counted) or 'nothing compared'}; exit {int(comparison.exit)}"]
    return "\n".join(parts) + "\n"


def told(comparison: Comparison) -> list[str]:
    """What makes the exit code other than 0, a line each."""
    return [
        f"verdict on {line.metric.column.name}: {comparison.b.text} beside {comparison.a.text}"
        f"{''.join(f', {cell}' for cell in _cell(comparison, line))}: {line.text}"
        for line in comparison.telling
    ]


def _cell(comparison: Comparison, line: Line) -> list[str]:
    if line.cell is None:
        return ["all cells"]
    return [f"{name}={value}" for name, value in zip(comparison.by, line.cell, strict=True)]


def _row(line: Line, width: int) -> list[str]:
    cell = ["all cells", *[""] * (width - 1)] if line.cell is None else list(line.cell or ("all",))
    unit, difference = line.metric.column.unit, line.difference
    ratio = interval = p = "-"
    if difference and difference.interval(0.95):
        low, high = difference.interval(0.95) or (0.0, 0.0)
        ratio = f"{math.exp(difference.effect):.3f}"
        interval = f"{math.exp(low):.3f} .. {math.exp(high):.3f}"
    if line.p is not None:
        p = f"{line.p:.2g}"
    a, b = (
        with_unit(value, unit) if value is not None else "" if line.cell is None else "-" for value in (line.a, line.b)
    )
    return [*cell, a, b, ratio, interval, p, line.text]


def as_json(comparison: Comparison) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "a": comparison.a.text,
        "b": comparison.b.text,
        "alpha": comparison.alpha,
        "same": comparison.same,
        "notes": comparison.notes,
        "tests": [_test(comparison, line) for line in comparison.lines],
        "counts": {verdict: comparison.count(verdict) for verdict in _VERDICTS},
        "exit": int(comparison.exit),
    }


def _test(comparison: Comparison, line: Line) -> dict[str, Any]:
    difference = line.difference
    interval = difference.interval(0.95) if difference else None
    return {
        "metric": line.metric.column.name,
        "better": line.metric.better,
        "min": line.metric.least,
        "cell": None if line.cell is None else dict(zip(comparison.by, line.cell, strict=True)),
        "a": line.a,
        "b": line.b,
        "runs": [difference.n_a, difference.n_b] if difference else None,
        "test": difference.test if difference else None,
        "ratio": math.exp(difference.effect) if difference and interval else None,
        "interval": [math.exp(value) for value in interval] if interval else None,
        "p": difference.p if difference else None,
        "p_holm": line.p,
        "q": line.q,
        "verdict": line.verdict,
        "text": line.text,
    }
