# SPDX-License-Identifier: Apache-2.0
"""Figures as text and JSON, and netmodel's ratios to its peers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from math import comb
from statistics import median
from typing import Any

from .model import CLIENT_METRICS, METRICS, Case, Figures

SUBJECT = "netmodel"
LEAST_ROUNDS = 5  # that a confidence interval can be made of
# How near netmodel has to come to what nothing can surpass, and to another version of itself.
BOUNDS = {"bare": 0.96, "baseline": 0.98}
CONFIDENCE = {"baseline": 0.995}  # of the verdict beside it; 0.9 beside the others
_PREFIXES = ((1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""), (1e-3, "m"), (1e-6, "u"), (1e-9, "n"))
_NAME_WIDTH = 20
_WIDTH = 24


@dataclass(frozen=True)
class Spread:
    """Median and extremes of the rounds, and where the true median lies with the confidence asked for."""

    median: float
    low: float
    high: float
    median_low: float
    median_high: float

    @classmethod
    def of(cls, values: list[float], confidence: float = 0.9) -> Spread | None:
        if not values:
            return None
        ranked = sorted(values)
        out = outside(len(ranked), confidence)
        return cls(median(ranked), ranked[0], ranked[-1], ranked[out], ranked[-1 - out])


def outside(n: int, confidence: float = 0.9) -> int:
    """How many of n ranked values lie below, and as many above, the confidence interval of their median: each value is
    on either side of it with a probability of one half, whatever their distribution. Of too few values it is all: fewer
    than 5 at 90 %, than 9 at 99.5 %."""
    count, below = 0, 1
    while (below + comb(n, count + 1)) <= (1 - confidence) / 2 * 2**n:
        count += 1
        below += comb(n, count)
    return count


def ratio(ours: list[float], theirs: list[float], confidence: float = 0.9) -> Spread | None:
    """Round by round, so that what disturbed a round weighs on both sides of a ratio."""
    pairs = zip(ours, theirs, strict=False)
    return Spread.of([mine / other for mine, other in pairs if other > 0], confidence)


def ratios(figures: Mapping[str, Figures]) -> dict[str, dict[str, Spread | None]]:
    """netmodel / peer for each peer and metric. A rate above 1 and a cost below 1 are good."""
    if SUBJECT not in figures:
        return {}
    ours = figures[SUBJECT]
    return {
        name: {
            metric: ratio(getattr(ours, metric), getattr(theirs, metric), CONFIDENCE.get(name, 0.9))
            for metric in METRICS
        }
        for name, theirs in figures.items()
        if name != SUBJECT
    }


def number_text(value: float) -> str:
    """Four significant digits with a decimal prefix."""
    for factor, prefix in _PREFIXES:
        if value >= factor:
            return f"{value / factor:.4g}{prefix}"
    return f"{value:.4g}"


def _figure(values: list[float], scale: float = 1.0) -> str:
    spread = Spread.of([value * scale for value in values])
    if spread is None:
        return "n/a"
    if len(values) == 1:
        return number_text(spread.median)
    low, high = number_text(spread.low), number_text(spread.high)
    return f"{number_text(spread.median)} ({low}..{high})"


def _ratio_text(spread: Spread | None) -> str:
    if spread is None:
        return "n/a"
    if spread.low == spread.high:
        return f"{spread.median:.3f}"
    return f"{spread.median:.3f} ({spread.low:.3f}..{spread.high:.3f})"


def _row(name: str, cells: list[str]) -> str:
    return (name.ljust(_NAME_WIDTH) + "".join(cell.rjust(_WIDTH) for cell in cells)).rstrip()


def case_text(case: Case, figures: Mapping[str, Figures]) -> str:
    """The table of one case."""
    rate = "bit/s" if case.is_stream else f"{case.unit}s/s"
    unit = {"GB": "GB", "transaction": "tr.", "datagram": "dgram"}[case.unit]
    heads = [rate, f"CPU s/{unit}", f"client calls/{unit}", f"server calls/{unit}"]
    lines = [case.label, _row("", [*heads, f"client instr./{unit}"])]
    for name, entry in figures.items():
        cells = [_figure(entry.rate, 8.0 if case.is_stream else 1.0)]
        cells += [_figure(getattr(entry, metric)) for metric in METRICS[1:]]
        lines.append(_row(f"  {name}", cells))
    for name, by_metric in ratios(figures).items():
        cells = [_ratio_text(by_metric[metric]) for metric in METRICS]
        lines.append(_row(f"  {SUBJECT}/{name}", cells))
    for name, entry in figures.items():
        lines += [f"  {name}: {error}" for error in dict.fromkeys(entry.errors)]
    return "\n".join(lines) + "\n"


MARKDOWN_HEAD = (
    "| workload | tool | requests/s | CPU s/request | system calls | user instructions | netmodel's rate | its CPU |",
    "|---|---|---|---|---|---|---|---|",
)


def markdown_rows(case: Case, figures: Mapping[str, Figures]) -> list[str]:
    """A row a tool below MARKDOWN_HEAD: medians with their 90 % intervals, and the ratios of netmodel to the tool."""
    beside, rows = ratios(figures), []
    for name, entry in figures.items():
        cells = [_interval(Spread.of(getattr(entry, metric)), number_text) for metric in CLIENT_METRICS]
        cells += [_interval(beside.get(name, {}).get(metric), "{:.3f}".format) for metric in CLIENT_METRICS[:2]]
        rows.append(f"| {' | '.join([case.label, name, *cells])} |")
    return rows


def _interval(spread: Spread | None, text: Callable[[float], str]) -> str:
    if spread is None:
        return ""
    if spread.low == spread.high:
        return text(spread.median)
    return f"{text(spread.median)} ({text(spread.median_low)}..{text(spread.median_high)})"


def dearer(results: Mapping[Case, Mapping[str, Figures]]) -> list[str]:
    """The cases and peers where a request costs netmodel more CPU time."""
    return _judged(results, "cpu_s", "the CPU time of ", lambda cost, _: cost.median_low > 1)


def verdict(results: Mapping[Case, Mapping[str, Figures]], rounds: int) -> str:
    """Where netmodel is slower than it should be, as far as so many rounds can tell."""
    if rounds < LEAST_ROUNDS:
        return f"who is faster takes {LEAST_ROUNDS} rounds at least to tell\n"
    bounds = ", ".join(f"{bound:g} of {name}" for name, bound in BOUNDS.items())
    slower, even = behind(results), undecided(results)
    lines = [f"{SUBJECT} is behind (1 of a tool, {bounds}) in:" if slower else f"{SUBJECT} is behind in no case"]
    lines += [f"  {line}" for line in slower]
    if even:
        lines += ["not to be told apart by so many rounds, with 90 % confidence (99.5 % beside the baseline):", *(f"  {line}" for line in even)]
    return "\n".join(lines) + "\n"


def behind(results: Mapping[Case, Mapping[str, Figures]]) -> list[str]:
    """The cases and peers where netmodel's throughput is lower than it should be."""
    return _judged(results, "rate", "", lambda rate, bound: rate.median_high < bound)


def undecided(results: Mapping[Case, Mapping[str, Figures]]) -> list[str]:
    """Those where the rounds cannot tell whether it is."""
    return _judged(results, "rate", "", lambda rate, bound: rate.median_low < bound <= rate.median_high)


def _judged(
    results: Mapping[Case, Mapping[str, Figures]], metric: str, of: str, verdict: Callable[[Spread, float], bool]
) -> list[str]:
    found = []
    for case, figures in results.items():
        for name, by_metric in ratios(figures).items():
            ratio = by_metric[metric]
            if ratio is not None and verdict(ratio, BOUNDS.get(name, 1)):
                found.append(f"{case.label}: {_ratio_text(ratio)} of {of}{name}")
    return found


def document(
    results: Mapping[Case, Mapping[str, Figures]], facts: Mapping[str, Any]
) -> dict[str, Any]:
    """Everything measured, for --json."""
    cases = []
    for case, figures in results.items():
        cases.append(
            {
                "workload": case.workload,
                "flows": case.flows,
                "threads": case.threads,
                "ends": case.ends.value,
                "seconds": case.seconds,
                "unit": case.unit,
                "rate_unit": "bytes/s" if case.is_stream else f"{case.unit}s/s",
                "tools": {name: asdict(entry) for name, entry in figures.items()},
                "ratios": {
                    peer: {metric: asdict(s) if s else None for metric, s in by_metric.items()}
                    for peer, by_metric in ratios(figures).items()
                },
            }
        )
    return {"facts": dict(facts), "cases": cases}
