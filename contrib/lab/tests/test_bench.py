# SPDX-License-Identifier: Apache-2.0
"""The hosts of a study, where one of them is lost: what is opened again, how often, and for how long."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from conftest import NETMODEL

from netmodel_lab import bench
from netmodel_lab.bench import Bench
from netmodel_lab.guarded import Guarded
from netmodel_lab.machine import Machine
from netmodel_lab.problems import EnvironmentProblem
from netmodel_lab.program import Program
from netmodel_lab.spec import parse_host


class Clock:
    """Time that goes when somebody sleeps."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    strftime = staticmethod(time.strftime)


class Losing:
    """A machine whose interface is refused so many times after its connection was lost; each takes a while."""

    def __init__(self, clock: Clock, refusals: int, seconds: float) -> None:
        self.clock, self.refusals, self.seconds = clock, refusals, seconds
        self.open_now = self.tries = 0

    def is_alive(self) -> bool:
        return False

    def open(self) -> None:
        self.open_now += 1

    def close(self) -> None:
        self.open_now = 0

    def address(self) -> str:
        return "192.0.2.1"

    def claim(self, *_: object) -> None:
        assert self.open_now == 1, "the connection of the try before was left open"
        self.tries += 1
        self.clock.sleep(self.seconds)
        if self.tries <= self.refusals:
            raise EnvironmentProblem(["is being measured"])


@pytest.mark.parametrize("seconds", [0.0, 8.0])
@pytest.mark.parametrize("refusals", [0, 1, 99])
def test_a_host_that_was_lost_is_opened_again_for_half_a_minute(
    refusals: int, seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()
    monkeypatch.setattr(bench, "time", clock)
    study: Any = SimpleNamespace(name="s", hosts=None)
    one, lost = Bench(study, Program(Path("netmodel")), None), Losing(clock, refusals, seconds)
    machines: Any = {"master": lost, "slave": Losing(clock, 2, 8.0)}
    one._pairs[""] = bench._Pair(machines)
    if refusals < 99:
        one.revive("lost")
        assert [machine.tries for machine in machines.values()] == [refusals + 1, 3]
    else:
        with pytest.raises(EnvironmentProblem, match="is being measured"):
            one.revive("lost")
        assert 30 <= clock.now < 40
    one.close()
    assert lost.open_now == 0


def test_an_interface_is_waited_for_that_another_holds_for_a_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is there while it is refused the first time, and gone before the second gives up."""
    first, second = (Machine(parse_host("local,dev=lo"), "master", Program(NETMODEL), None) for _ in range(2))
    pauses = list[float]()

    def sleep(seconds: float) -> None:
        pauses.append(seconds)
        first.close()

    with contextlib.closing(first), contextlib.closing(second):
        for machine in (first, second):
            machine.open()
        first.claim("first", None)
        monkeypatch.setattr("netmodel_lab.machine.time", SimpleNamespace(monotonic=time.monotonic, sleep=sleep))
        second.claim("second", None)
    assert len(pauses) == 1


@pytest.mark.parametrize("error", [KeyboardInterrupt, None])
def test_what_holds_an_interface_is_ended_whenever_it_was_interrupted(
    error: type[BaseException] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = Machine(parse_host("local,dev=lo"), "master", Program(NETMODEL), None)
    machine.open()
    begun = list[Guarded]()
    notice = Guarded.notice

    def interrupted(guarded: Guarded, *words: Any) -> Any:
        begun.append(guarded)
        if error:
            raise error
        return notice(guarded, *words)

    monkeypatch.setattr(Guarded, "notice", interrupted)
    with pytest.raises(error) if error else contextlib.nullcontext():
        machine.claim("me", None)
    try:
        assert [one.is_running() for one in begun] == [True]
        machine.close()
        assert [one.is_running() for one in begun] == [False]
    finally:
        begun[0].end()
