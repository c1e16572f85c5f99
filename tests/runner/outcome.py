# SPDX-License-Identifier: Apache-2.0
"""How a test ended, and what a list of such ends comes to."""

from __future__ import annotations

import xml.etree.ElementTree as xml
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import chain
from threading import Event
from typing import Protocol

PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"
TIMES_AGAIN = 2  # noise fails a test once; what fails three times is broken
MOST_UNSTEADY = 10  # more than that, and something is broken, whatever a second run says


@dataclass(frozen=True)
class Outcome:
    """One test, or one step that counts as one: how it ended, and in a line why it failed or was skipped."""

    name: str
    end: str
    seconds: float = 0.0
    why: str = ""


class Suite(Protocol):
    """Tests that are run by one command."""

    title: str
    cpu_s: float  # that it has taken so far

    def run(self) -> list[Outcome]:
        """Runs all of them. None at all is a failure of the suite."""

    def again(self, names: Sequence[str]) -> list[Outcome]:
        """Runs those of these names, one after the other, and nothing beside them."""


# Suites that run one after the other, and the lanes that run beside one another until the last of them has ended.
Lane = Sequence[Suite]
Stage = Sequence[Lane]


@dataclass
class Verdict:
    outcomes: list[Outcome] = field(default_factory=list)
    unsteady: list[Outcome] = field(default_factory=list)  # as they failed first; they stand in `outcomes` as passed

    def count(self, end: str) -> int:
        return sum(outcome.end == end for outcome in self.outcomes)

    @property
    def green(self) -> bool:
        return not self.count(FAILED) and len(self.unsteady) <= MOST_UNSTEADY and self.count(PASSED) > 0


def _of(name: str, title: str, outcomes: list[Outcome]) -> list[Outcome]:
    """What has become of a failure: of one test, of a file that could not be read, of the whole suite."""
    exact = [outcome for outcome in outcomes if outcome.name == name]
    return exact or [outcome for outcome in outcomes if name == title or outcome.name.startswith(f"{name}::")]


def _once_more(suite: Suite, failed: list[Outcome], verdict: Verdict) -> list[Outcome]:
    """Runs these again; those that fail still."""
    outcomes = suite.again([outcome.name for outcome in failed])
    still = []
    for outcome in failed:
        ends = _of(outcome.name, suite.title, outcomes)
        if not ends or any(end.end == FAILED for end in ends):
            still.append(outcome)
        else:
            verdict.unsteady.append(outcome)
            verdict.outcomes += ends
    return still


def _run(lane: Lane, say: Callable[[str], None], over: Event) -> list[tuple[Suite, list[Outcome]]]:
    """How the tests of each suite of a lane have ended; none begins any more when all is over."""
    ends: list[tuple[Suite, list[Outcome]]] = []
    for suite in lane:
        if over.is_set():
            break
        say(suite.title)
        outcomes = suite.run() or [Outcome(suite.title, FAILED, why="no test was run")]
        say(f"{suite.title}: ended, {suite.cpu_s:.0f} s of CPU time")
        ends.append((suite, outcomes))
        for outcome in outcomes:
            if outcome.end == FAILED:
                print(f"FAIL: {outcome.name}: {outcome.why}", flush=True)
    return ends


def judge(stages: Sequence[Stage], say: Callable[[str], None]) -> Verdict:
    """Runs all suites, and then what has failed once more, alone, up to twice: what passes then is unsteady."""
    verdict = Verdict()
    failed: list[tuple[Suite, list[Outcome]]] = []
    over = Event()
    for stage in stages:
        with ThreadPoolExecutor(len(stage)) as lanes:
            try:
                ends = list(lanes.map(lambda lane: _run(lane, say, over), stage))
            except BaseException:  # who watches has interrupted it
                over.set()
                raise
        for suite, outcomes in chain.from_iterable(ends):
            verdict.outcomes += [outcome for outcome in outcomes if outcome.end != FAILED]
            failed.append((suite, [outcome for outcome in outcomes if outcome.end == FAILED]))
    # Where each of them either fails again or is one unsteady test too many, a second run changes nothing.
    times = TIMES_AGAIN if sum(len(left) for _, left in failed) <= MOST_UNSTEADY else 0
    for suite, left in failed:
        for _ in range(times):
            if left:
                say(f"once more, alone: {', '.join(outcome.name for outcome in left)}")
                left = _once_more(suite, left, verdict)
        verdict.outcomes += left
    return verdict


def slowest(outcomes: Sequence[Outcome], count: int) -> list[Outcome]:
    """Of those whose time is known."""
    return sorted((one for one in outcomes if one.seconds), key=lambda one: -one.seconds)[:count]


def as_junit(verdict: Verdict) -> bytes:
    """One file for all suites; an unsteady test has the failure that it began with, as flakyFailure (of Surefire)."""
    first = {outcome.name: outcome.why for outcome in verdict.unsteady}
    root = xml.Element(
        "testsuite",
        name="netmodel",
        tests=str(len(verdict.outcomes)),
        failures=str(verdict.count(FAILED)),
        errors="0",
        skipped=str(verdict.count(SKIPPED)),
    )
    for outcome in verdict.outcomes:
        case = xml.SubElement(root, "testcase", name=outcome.name, time=f"{outcome.seconds:.3f}")
        if outcome.end == FAILED:
            xml.SubElement(case, "failure", message=outcome.why)
        elif outcome.end == SKIPPED:
            xml.SubElement(case, "skipped", message=outcome.why)
        elif outcome.name in first:
            xml.SubElement(case, "flakyFailure", message=first[outcome.name])
    return xml.tostring(root, encoding="utf-8", xml_declaration=True)
