# SPDX-License-Identifier: Apache-2.0
"""No memory, no descriptors, errors of the kernel: whichever call fails, a run ends with a word about it, or is right.

A sample of the calls of a short run; ./quickstart prove failures has each of them fail."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from failing_calls import ALLOCATIONS, CALLS, SIDES, Injector
from nmtest import Netmodel

SAMPLE = 20  # of allocations, at each side
MOST = {"master": 2300, "slave": 1700}  # so many allocations there are, about


@pytest.fixture(name="injector")
def _injector(netmodel: Netmodel, tmp_path: Path) -> Injector:
    data = netmodel.binary.read_bytes()
    if b"__asan_init" in data or b"__tsan_init" in data:
        pytest.skip("sanitizers allocate by themselves")
    return Injector(netmodel.binary, tmp_path)


def test_without_a_failure_the_run_is_right(injector: Injector) -> None:
    outcome = injector.run("master", "", 0)
    assert outcome.wrong is None and outcome.code == 0, outcome


@pytest.mark.parametrize("side", SIDES)
def test_without_memory_a_run_ends_with_a_word_or_is_right(injector: Injector, side: str) -> None:
    chance = random.Random(0)
    for number in sorted(chance.sample(range(1, MOST[side]), SAMPLE)):
        outcome = injector.run(side, ALLOCATIONS, number)
        assert outcome.wrong is None, (number, outcome)


@pytest.mark.parametrize("side", SIDES)
def test_when_a_system_call_fails_a_run_ends_with_a_word_or_is_right(injector: Injector, side: str) -> None:
    hits = 0
    for function in CALLS:
        outcome = injector.run(side, function, 1)
        assert outcome.wrong is None, (function, outcome)
        hits += outcome.hit
    assert hits > len(CALLS) // 2


@pytest.mark.parametrize("side", SIDES)
def test_no_write_that_fails_holds_a_run_up(injector: Injector, side: str) -> None:
    """Most of them wake a thread, which nothing else would do."""
    hits = 0
    while True:
        outcome = injector.run(side, "write", hits + 1)
        assert outcome.wrong is None, (hits + 1, outcome)
        if not outcome.hit:
            break
        hits += 1
    assert hits > 3


def test_a_slave_without_memory_for_what_it_tells_first_ends(injector: Injector) -> None:
    for number in range(1, 16):
        outcome = injector.run("slave", ALLOCATIONS, number)
        assert outcome.wrong is None, (number, outcome)
