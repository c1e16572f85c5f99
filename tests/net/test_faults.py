# SPDX-License-Identifier: Apache-2.0
"""A sample of the faults at the points of a run: each fault once, each point at least once. The whole table is made by
tests/prove/faults."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from faults import FAULTS, POINTS, inject
from nmtest import Json, Netmodel, Node

# With so many steps from one fault to the next every point is met.
SAMPLE = [(fault, POINTS[(5 * i) % len(POINTS)]) for i, fault in enumerate(FAULTS)]


def test_the_sample_meets_every_point() -> None:
    assert {point for _, point in SAMPLE} == set(POINTS)


@pytest.mark.parametrize(("fault", "point"), SAMPLE)
def test_a_fault_ends_the_run_in_time_and_nothing_is_left(
    netmodel: Netmodel, own: Node, validate: Callable[[Json], None], fault: str, point: str
) -> None:
    outcome = inject(netmodel, own, fault, point, validate)
    assert not outcome.mistakes, outcome
