# SPDX-License-Identifier: Apache-2.0
"""A beside B, cell by cell: what is tested, and what the verdicts are."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from netmodel_lab import inference
from netmodel_lab.columns import Column, find
from netmodel_lab.inference import Difference
from netmodel_lab.problems import Exit, UsageProblem, nearest
from netmodel_lab.rows import Row
from netmodel_lab.sides import Side, epochs_of
from netmodel_lab.values import percentage

Better = Literal["higher", "lower"]
Key = tuple[str, ...]
_DEFAULT = ("transactions_per_s", "p99_us")


@dataclass(frozen=True)
class Metric:
    """A figure to compare, the smallest change that matters, and which way is the good one."""

    column: Column
    least: float
    better: Better


@dataclass
class Line:
    """One test: a cell, or all cells together (cell is None)."""

    metric: Metric
    cell: Key | None
    a: float | None = None
    b: float | None = None
    difference: Difference | None = None
    p: float | None = None  # by Holm, over all tests
    q: float | None = None  # by Benjamini and Hochberg
    verdict: str = ""
    note: str = ""

    @property
    def text(self) -> str:
        return f"{self.verdict}{self.note}"


@dataclass(frozen=True)
class Comparison:
    a: Side
    b: Side
    by: list[str]
    lines: list[Line]
    alpha: float
    same: float
    notes: list[str] = field(default_factory=list)

    def count(self, verdict: str) -> int:
        return sum(line.verdict == verdict for line in self.lines if line.cell is not None)

    @property
    def telling(self) -> list[Line]:
        """Those that make the exit code other than 0."""
        worse = [line for line in self.lines if line.verdict in ("worse", "failed")]
        return worse or [line for line in self.lines if line.verdict == "undecided"]

    @property
    def exit(self) -> Exit:
        if not self.telling:
            return Exit.DONE
        return Exit.UNDECIDED if self.telling[0].verdict == "undecided" else Exit.WORSE


# --- what is compared ---


def read_metric(text: str, sides: Sequence[Side], same: float) -> Metric:
    """NAME, NAME:3% or NAME:3%:higher."""
    name, *more = text.split(":")
    known = {key for side in sides for row in side.rows for key in row if find(key)}
    if name not in known:
        ends = sorted(key for key in known if key.partition(".")[0] == name)
        hint = f"; did you mean {ends[0]}?" if ends else nearest(name, sorted(known))
        raise UsageProblem([f"--metric {text}: no such figure in the rows{hint}"])
    column = find(name)
    assert column
    least = percentage(f"--metric {text}", more[0]) if more else same / 2
    better = more[1] if len(more) > 1 else column.better
    if better in ("higher", "lower"):
        return Metric(column, least, "higher" if better == "higher" else "lower")
    raise UsageProblem([f"--metric {text}: says not which way is better: {name}:{least:.1%}:higher or :lower"])


# --- comparing ---


def compare(a: Side, b: Side, metrics: Sequence[str], by: Sequence[str], *, alpha: float, same: float) -> Comparison:
    chosen = list(metrics)
    if not chosen:
        chosen = [name for name in _DEFAULT if any(row.get(name) is not None for row in [*a.rows, *b.rows])]
        if not chosen:
            raise UsageProblem(["neither side has a good run; nothing can be compared"])
    keys = [f"d.{name}" for name in by] if by else [name for name in a.dimensions if name in b.dimensions]
    for key in keys:
        if key not in a.rows[0] or key not in b.rows[0]:
            raise UsageProblem([f"--by {key.removeprefix('d.')}: not in both"])
    lines: list[Line] = []
    for text in chosen:
        lines += _of_metric(a, b, read_metric(text, (a, b), same), keys)
    _judge(lines, alpha, same)
    return Comparison(a, b, [key.removeprefix("d.") for key in keys], lines, alpha, same, _notes(a, b, lines, alpha))


def _cells(side: Side, keys: Sequence[str]) -> dict[Key, list[Row]]:
    cells: dict[Key, list[Row]] = {}
    for row in side.rows:
        cells.setdefault(tuple(str(row.get(key)) for key in keys), []).append(row)
    return cells


def _values(rows: Sequence[Row], name: str) -> list[float]:
    found = [row.get(name) for row in rows if row["ok"]]
    return [float(value) for value in found if value is not None and math.isfinite(value)]


def _of_metric(a: Side, b: Side, metric: Metric, keys: Sequence[str]) -> Iterator[Line]:
    """First all cells together, then each."""
    cells_a, cells_b = _cells(a, keys), _cells(b, keys)
    found: list[Line] = []
    for cell in dict.fromkeys([*cells_a, *cells_b]):
        found.append(_of_cell(a, b, metric, cell, cells_a.get(cell), cells_b.get(cell)))
    together = [line.difference for line in found if line.difference]
    if len(together) > 1:
        difference = _overall(a, b, metric, cells_a, cells_b, together)
        if difference:
            yield Line(metric, None, difference=difference)
    yield from found


def _typical(values: Sequence[float]) -> float | None:
    if not values:
        return None
    return math.exp(sum(map(math.log, values)) / len(values)) if min(values) > 0 else float(np.median(values))


def _of_cell(a: Side, b: Side, metric: Metric, cell: Key, rows_a: list[Row] | None, rows_b: list[Row] | None) -> Line:
    if rows_a is None or rows_b is None:
        return Line(metric, cell, verdict=f"only in {'A' if rows_b is None else 'B'}")
    name = metric.column.name
    x, y = _values(rows_a, name), _values(rows_b, name)
    line = Line(metric, cell, a=_typical(x), b=_typical(y))
    if not x or not y:
        line.verdict, line.note = _of_none(rows_a, rows_b, x, y)
    elif a.source == b.source and rows_a == rows_b:
        line.difference = inference.of_itself(len(x))
    else:
        pairs = _pairs(a, b, rows_a, rows_b, name) if min(*x, *y) > 0 else None
        difference = inference.paired(*pairs) if pairs else _unpaired(a, b, rows_a, rows_b, name)
        line.difference = difference
        lost = max(len(x) - difference.n_a, len(y) - difference.n_b)
        why = "without a partner" if pairs else "of other epochs left out"
        line.note = f", {lost} runs {why}" if lost else ""
        if a.source == b.source and a.epochs & b.epochs and not epochs_of(rows_a) & epochs_of(rows_b):
            line.note += ", of other epochs"  # of all of A and B it is a note
    return line


def _of_none(rows_a: list[Row], rows_b: list[Row], x: Sequence[float], y: Sequence[float]) -> tuple[str, str]:
    """Where a side has no value: it has failed if it alone has no good run; a figure may be unknown in good ones."""
    runs = [any(row["ok"] for row in rows) for rows in (rows_a, rows_b)]
    if any(runs) and not all(runs):
        return "failed", f": {'A' if runs[1] else 'B'} has no good run"
    if not any(runs):
        return "undecided", ": neither has a good run"
    of = "" if not x and not y else f" of {'B' if x else 'A'}"
    return "undecided", f": no run{of} has this figure"


def _pairs(
    a: Side, b: Side, rows_a: Sequence[Row], rows_b: Sequence[Row], name: str
) -> tuple[list[float], list[float]] | None:
    """Values of the same blocks of one study, each within one epoch; None: there are none."""
    if a.source != b.source:
        return None
    first, second = (
        {(row.get("epoch"), row["block"]): row[name] for row in rows if _values([row], name)}
        for rows in (rows_a, rows_b)
    )
    if len(first) < len(_values(rows_a, name)) or len(second) < len(_values(rows_b, name)):
        return None  # cells of several runs a block
    common = [block for block in first if block in second]
    return ([first[block] for block in common], [second[block] for block in common]) if len(common) > 1 else None


def _unpaired(a: Side, b: Side, rows_a: Sequence[Row], rows_b: Sequence[Row], name: str) -> Difference:
    """Within the epochs of one study that both sides have runs of: what has changed between these is no difference.
    Where they have no test together, as those of ranks, the one with the most runs of both is taken."""
    sides = (rows_a, rows_b)
    each = [[_values(rows, name) for rows in sides]]
    if a.source == b.source:
        epochs = dict.fromkeys(row.get("epoch") for rows in sides for row in rows)
        parts = [[_values([r for r in rows if r.get("epoch") == epoch], name) for rows in sides] for epoch in epochs]
        each = [part for part in parts if all(part)] or each  # of no epoch in common: _notes tells it
    each.sort(key=lambda part: min(map(len, part)), reverse=True)
    if min(value for part in each for values in part for value in values) <= 0:
        return inference.by_rank(*each[0])
    within = [inference.unpaired(*part) for part in each]
    several = [one for one in within if min(one.n_a, one.n_b) > 1]
    found = inference.overall(several) if len(several) > 1 else None
    return found or within[0]


def _overall(
    a: Side,
    b: Side,
    metric: Metric,
    cells_a: dict[Key, list[Row]],
    cells_b: dict[Key, list[Row]],
    together: Sequence[Difference],
) -> Difference | None:
    """The geometric mean of the ratios. Cells of one block share what disturbed it: then the block is the unit."""
    if all(one.test == "itself" for one in together):
        return inference.of_itself(sum(one.n_a for one in together))
    name = metric.column.name
    common = {cell: (rows, cells_b[cell]) for cell, rows in cells_a.items() if cell in cells_b}
    if any(value <= 0 for sides in common.values() for rows in sides for value in _values(rows, name)):
        return None
    pairs = {cell: _pairs(a, b, *sides, name) for cell, sides in common.items()}
    if not all(pairs.values()):
        return None if any(pairs.values()) else inference.overall(together)
    differences = [np.log(y) - np.log(x) for x, y in (pair for pair in pairs.values() if pair)]
    if len({d.size for d in differences}) > 1:
        return None
    return inference.of_differences(np.mean(differences, axis=0))


# --- verdicts ---


def _judge(lines: list[Line], alpha: float, same: float) -> None:
    tested = [line for line in lines if line.difference]
    ps = [line.difference.p for line in tested if line.difference]
    for line, p, q in zip(tested, inference.holm(ps), inference.benjamini_hochberg(ps), strict=True):
        line.p, line.q = p, q
        verdict, note = _verdict(line, alpha, same)
        line.verdict, line.note = verdict, note + line.note
    for line in tested:
        if line.verdict == "undecided" and line.cell is not None and not line.note.startswith(":"):
            line.note = _how_many(line, len(tested), alpha) + line.note


def _verdict(line: Line, alpha: float, same: float) -> tuple[str, str]:
    difference = line.difference
    assert difference
    assert line.p is not None
    if difference.test == "itself":
        return "same", ""
    if min(difference.n_a, difference.n_b) < inference.MIN_RUNS:
        return "undecided", f": at least {inference.MIN_RUNS} runs each are needed"
    if difference.test == "all equal":
        return "same", ""
    is_up = difference.effect > 0
    changed = "better" if is_up == (line.metric.better == "higher") else "worse"
    interval = difference.interval(0.9)
    if difference.test == "permutation" and line.p < alpha:  # nothing varies: the ratio is what it is
        interval = (difference.effect, difference.effect)
    if line.p < alpha and (interval is None or abs(difference.effect) >= math.log1p(line.metric.least)):
        return changed, ""
    within = math.log1p(same)
    if interval and -within < interval[0] and interval[1] < within:
        return (
            "same",
            f" (differs by {math.expm1(difference.effect):+.1%})" if line.p < alpha else f" within {same:.0%}",
        )
    return "undecided", ""


def _how_many(line: Line, tests: int, alpha: float) -> str:
    difference = line.difference
    assert difference
    found = inference.spread(difference)
    if not found:
        return ""
    effect = math.log1p(2 * line.metric.least)
    runs = inference.runs_needed(*found, effect, alpha, tests, is_paired=difference.is_paired)
    if runs is None:
        what = "pairs" if difference.is_paired else "runs"
        return f": cannot be decided in reason, {what} differ by {math.expm1(found[0]):.0%}"
    if runs <= min(difference.n_a, difference.n_b):
        return ""
    return f": about {runs} runs each would decide"


def _notes(a: Side, b: Side, lines: Sequence[Line], alpha: float) -> list[str]:
    notes = [*dict.fromkeys([*a.warnings, *b.warnings])]
    if a.source != b.source:
        notes.append("A and B were measured at other times: whatever changed meanwhile is in the ratios")
        notes += [f"{side.text}: has runs of {len(side.epochs)} epochs" for side in (a, b) if len(side.epochs) > 1]
    elif not a.epochs & b.epochs:
        notes.append("A and B are of other epochs: whatever changed between them is in the ratios")
    tests = sum(line.difference is not None for line in lines)
    ranked = [d for line in lines if (d := line.difference) and d.test == "Mann-Whitney"]
    hopeless = [d for d in ranked if inference.smallest_rank_p(d.n_a, d.n_b) * tests > alpha]
    if hopeless:
        notes.append(
            f"{len(hopeless)} tests by ranks, as runs lie far off: {hopeless[0].n_a} and {hopeless[0].n_b} runs cannot "
            f"decide among {tests} tests"
        )
    return notes
