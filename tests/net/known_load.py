# SPDX-License-Identifier: Apache-2.0
"""Loads that are known, on CPUs that others use, too, and whether netmodel's figures are of them: within bounds that are
narrow on a quiet machine, and that noise makes wider."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from nmtest import PATIENCE_S, Json, Netmodel

EXACT = 0.02  # of the time of a CPU
LOADS = ("loop", "flood")  # each on a CPU of its own
_TICK_S = 1 / os.sysconf("SC_CLK_TCK")
_IDLE, _INTERRUPTS = (3, 4), (5, 6)  # columns of /proc/stat
_OWN_TIMES = slice(11, 15)  # columns of /proc/PID/stat behind the name

# Nothing but time passes in it.
IDLE = """<group>
  <transaction iterations="1"><flowop type="connect" options="remotehost=local protocol=tcp"/></transaction>
  <transaction iterations="1"><flowop type="think" options="duration=4s"/></transaction>
  <transaction iterations="1"><flowop type="disconnect"/></transaction>
</group>"""


@dataclass(frozen=True)
class Burst:
    begin_s: float
    end_s: float
    cpu_s: float


@dataclass
class Load:
    """What bursts.py does."""

    cpu: int
    process: subprocess.Popen[str]
    bursts: list[Burst] = field(default_factory=list)

    def end(self) -> None:
        self.process.terminate()
        told, _ = self.process.communicate(timeout=PATIENCE_S)
        self.bursts = [Burst(*burst) for burst in json.loads(told)]

    def _until(self, at_s: float) -> float:
        return sum(max(0.0, min(burst.end_s, at_s) - burst.begin_s) for burst in self.bursts)

    def within(self, from_s: float, to_s: float, length_s: float) -> tuple[float, float]:
        """The least and the most time of bursts in a window of that length, wherever it lies in there."""
        last_s = max(from_s, to_s - length_s)
        edges = [edge for burst in self.bursts for edge in (burst.begin_s, burst.end_s)]
        begins = [edge - before for edge in edges for before in (0, length_s) if from_s < edge - before < last_s]
        found = [self._until(begin + length_s) - self._until(begin) for begin in (from_s, last_s, *begins)]
        return min(found), max(found)


@contextmanager
def started(kind: str, cpu: int) -> Iterator[Load]:
    command = (sys.executable, Path(__file__).with_name("bursts.py"), kind, str(cpu))
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout and process.stdout.readline() == "ready\n"
            yield Load(cpu, process)
        finally:
            process.kill()


def ticks_so_far() -> dict[int, list[int]]:
    rows = (line.split() for line in Path("/proc/stat").read_text().splitlines())
    return {int(row[0][3:]): [int(word) for word in row[1:9]] for row in rows if row[0][:3] == "cpu" and row[0] != "cpu"}


def used_so_far() -> dict[int, float]:
    """CPU time of each other process and of the children that it has waited for, which the kernel measures without ticks."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:  # it is gone
            continue
        found[int(folder.name)] = sum(map(int, words[_OWN_TIMES])) * _TICK_S
    del found[os.getpid()]
    return found


def sees_all() -> bool:
    """Processes of the machine; a container may have only its own."""
    path = Path("/proc/2/comm")
    return path.exists() and path.read_text() == "kthreadd\n"


@dataclass(frozen=True)
class Reading:
    """The test's own."""

    at_s: float
    ticks: dict[int, list[int]]
    used_s: dict[int, float]

    @classmethod
    def take(cls) -> Reading:
        return cls(time.monotonic(), ticks_so_far(), used_so_far())


@dataclass(frozen=True)
class Seen:
    """A run that only waits, while the loads are there."""

    host: Json
    loads: tuple[Load, ...]
    before: Reading
    after: Reading
    test_s: float  # CPU time of this process between them

    @property
    def window_s(self) -> float:
        return float(self.host["interrupts"]["seconds"])

    def interrupts_s(self) -> float:
        """Outside of the bursts, where they are in the CPU time of no process."""
        if self.host["facts"]["irq_accounting"] != "on":
            return 0.0
        both = [(self.before.ticks[cpu], now) for cpu, now in self.after.ticks.items() if cpu in self.before.ticks]
        ticks = sum(now[column] - old[column] for old, now in both for column in _INTERRUPTS)
        bursts = [burst for load in self.loads for burst in load.bursts if self.before.at_s <= burst.begin_s <= self.after.at_s]
        return max(0.0, ticks * _TICK_S - sum(burst.end_s - burst.begin_s - burst.cpu_s for burst in bursts))

    def others_s(self) -> float:
        """At most, on all CPUs."""
        if not sees_all():
            return math.inf
        loads = {load.process.pid for load in self.loads}
        grown = (now - self.before.used_s.get(pid, 0) for pid, now in self.after.used_s.items() if pid not in loads)
        netmodel_s = float(self.host["rusage"]["utime_s"] + self.host["rusage"]["stime_s"])
        return sum(max(0.0, used) for used in grown) + self.test_s + netmodel_s + self.interrupts_s()

    def spent_s(self, cpu: int) -> tuple[float, float, float]:
        """By the test's own reading: idle, busy, and the time of which no tick says anything, as the machine was held back."""
        ticks = [now - old for old, now in zip(self.before.ticks[cpu], self.after.ticks[cpu])]
        idle_s, all_s = sum(ticks[column] for column in _IDLE) * _TICK_S, sum(ticks) * _TICK_S
        return idle_s, all_s - idle_s, max(0.0, self.after.at_s - self.before.at_s - all_s)

    def share_of(self, cpu: int) -> Json:
        return next(each for each in self.host["cpus"] if each["cpu"] == cpu)

    def check(self) -> None:
        """What is busy by the kernel's account, and what is awake by the hardware or idle states."""
        window_s, others_s = self.window_s, self.others_s()
        bounds = [load.within(self.before.at_s, self.after.at_s, window_s) for load in self.loads]
        for load, (least_s, most_s) in zip(self.loads, bounds):
            idle_s, busy_s, lost_s = self.spent_s(load.cpu)
            least_s, most_s = max(least_s, window_s - idle_s) - lost_s, min(most_s + others_s, busy_s + lost_s)
            self._lies(self.share_of(load.cpu)["busy"], least_s / window_s, most_s / window_s)
        awake = self.host["unhalted"]
        if "unavailable" not in awake:
            least_s, most_s = map(sum, zip(*bounds))
            all_s = awake["n_cpus"] * window_s
            idle_s = sum(self.spent_s(cpu)[0] for cpu in self.after.ticks)
            self._lies(awake["busy"], max(least_s, all_s - idle_s) / all_s, (most_s + others_s) / all_s)

    def _lies(self, share: float, least: float, most: float) -> None:
        assert least - EXACT <= share <= most + EXACT, f"{share} is not {least} to {most}: {self}"


def measure(netmodel: Netmodel, profile: Callable[..., Path]) -> Seen:
    path = profile(IDLE)
    with ExitStack() as stack:
        cpus = sorted(os.sched_getaffinity(0))
        loads = tuple(stack.enter_context(started(kind, cpu)) for kind, cpu in zip(LOADS, cpus))
        before = Reading.take()
        test_s = time.process_time()
        result = netmodel.run("-m", path, "--format", "json", code=0)
        test_s = time.process_time() - test_s
        after = Reading.take()
        for load in loads:
            load.end()
    return Seen(result.json()["hosts"][0], loads, before, after, test_s)
