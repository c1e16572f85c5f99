# SPDX-License-Identifier: Apache-2.0
"""A sample of the faults at the points of a run: each fault once, each point at least once. The whole table is made by
tests/prove/faults."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from faults import FAULTS, HARMLESS, HOUR, POINTS, Clock, inject
from nmtest import Json, Netmodel, Node

# With so many steps from one fault to the next every point is met.
SAMPLE = [(fault, POINTS[(5 * i) % len(POINTS)]) for i, fault in enumerate(FAULTS)]


def test_the_sample_meets_every_point() -> None:
    assert {point for _, point in SAMPLE} == set(POINTS)


def need_clock(netmodel: Netmodel) -> None:
    data = netmodel.binary.read_bytes()
    if b"__asan_init" in data or b"__tsan_init" in data:
        pytest.skip("sanitizers come before what is preloaded")


def test_the_clock_of_a_run_can_be_set(netmodel: Netmodel, tmp_path: Path) -> None:
    """What the faults of the clock stand on."""
    need_clock(netmodel)
    clock = Clock(str(tmp_path))
    starts = []
    for seconds in (0, HOUR):
        clock.set(seconds)
        starts.append(netmodel.measure("tcp_rr", "-D", "test_length=1ms", env=clock.env)["run"]["start_s"])
    assert HOUR < starts[1] - starts[0] < HOUR + 60


@pytest.mark.parametrize(("fault", "point"), SAMPLE)
def test_a_fault_ends_the_run_in_time_and_nothing_is_left(
    netmodel: Netmodel, own: Node, validate: Callable[[Json], None], fault: str, point: str
) -> None:
    if fault in HARMLESS:
        need_clock(netmodel)
    outcome = inject(netmodel, own, fault, point, validate)
    assert not outcome.mistakes, outcome
