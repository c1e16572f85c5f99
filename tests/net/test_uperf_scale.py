# SPDX-License-Identifier: Apache-2.0
"""What uperf does up to some size only, or not for long: many groups, strands and processes, and reconnect loops that
leave nothing behind."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from compose import ask, check, connect, counts, group, once, op, opened, times
from nmtest import Netmodel, Process, assert_complete, children, descendants, phase_of, resident_bytes, wait_until

WriteProfile = Callable[..., Path]


def test_1024_groups(netmodel: Netmodel, profile: WriteProfile) -> None:
    document = check(netmodel.measure(profile(opened(times(3, ask())) * 1024), "--timeout", "60s"))
    assert len(document["groups"]) == 1024
    assert all(phase_of(document, "counted", number)["transactions"] == 3 for number in range(1024))
    assert document["totals"]["errors"] == 0


def test_4096_strands_of_a_group(netmodel: Netmodel, profile: WriteProfile) -> None:
    document = check(netmodel.measure(profile(opened(times(3, ask(64, 100)), strands=4096)), "-t"))
    assert document["groups"][0]["flows"] == 4096
    assert phase_of(document, None)["connects"] == 4096  # type: ignore[arg-type]
    assert counts(document, "counted") == (3 * 4096, 3 * 4096 * 64, 3 * 4096 * 100)


def test_64_processes(netmodel: Netmodel, profile: WriteProfile) -> None:
    opening = connect("127.0.0.1") + op("think", "duration=500ms idle at=master")
    path = profile(opened(times(20, ask()), strands=64, kind="nprocs", opening=opening))
    with netmodel.slave() as slave:
        arguments = ("-m", path, "-v", "-t", "--format", "json", "-P", str(slave.port))
        with netmodel.started(*arguments) as master:
            wait_until(lambda: len(children(master.pid)) == 64, 10, "64 processes")
            result = master.finish()
        assert result.code == 0, result
    document = check(result.json())
    assert counts(document, "counted") == (20 * 64, 20 * 64 * 64, 20 * 64 * 64)
    assert not descendants(master.pid)


# What sanitizers do not give back at once would look like a leak.
FREES_AT_ONCE = {"ASAN_OPTIONS": "quarantine_size_mb=0:thread_local_quarantine_size_kb=0"}


def weigh(*pids: int) -> tuple[int, int]:
    """Open descriptors and memory."""
    return sum(len(os.listdir(f"/proc/{pid}/fd")) for pid in pids), sum(map(resident_bytes, pids))


def weigh_in_pause(master: Process, slave: int, number: int) -> tuple[int, int]:
    """In the middle of a transaction in which nothing happens. The slave may close its last connection a little later."""
    master.wait_line(f"phase {number} of 5 begins")
    (session,) = children(slave)
    weights = []
    for _ in range(12):
        weights.append(weigh(master.pid, session))
        time.sleep(0.06)  # in a pause of a second
    return min(weights)


@pytest.mark.parametrize("protocol", ["tcp", "udp"])
def test_100000_reconnects_leave_nothing_behind(netmodel: Netmodel, profile: WriteProfile, protocol: str) -> None:
    body = connect("127.0.0.1", f"protocol={protocol}") + ask(64, 64) + op("disconnect", "close=rst")
    pause = once(op("think", "duration=1s idle"))
    path = profile(group(times(200, body), pause, times(12500, body, name="many"), pause, once(op("nop")), strands=8))
    with netmodel.slave(env=FREES_AT_ONCE) as slave:
        arguments = ("-m", path, "-v", "-t", "-i", "0", "--format", "json", "-P", str(slave.port))
        with netmodel.started(*arguments, env=FREES_AT_ONCE) as master:
            before = weigh_in_pause(master, slave.pid, 2)
            after = weigh_in_pause(master, slave.pid, 4)
            result = master.finish()
        assert result.code == 0, result
    document = result.json()
    assert_complete(document)
    assert document["run"]["reconciled"] is not False
    assert phase_of(document, "many")["connects"] == 100_000
    if protocol == "tcp":
        assert counts(document, "many") == (100_000, 6_400_000, 6_400_000)
    assert after[0] == before[0], "descriptors"
    assert after[1] < before[1] + 2_000_000, "memory"


def test_runs_leave_nothing_at_a_slave(netmodel: Netmodel, profile: WriteProfile) -> None:
    path = profile(opened(times(3, ask()), strands=20, opening=connect("127.0.0.1")))
    with netmodel.slave(env=FREES_AT_ONCE) as slave:
        weights = []
        for _ in range(12):
            check(netmodel.measure(path, "-P", str(slave.port)))
            wait_until(lambda: not slave.sessions(), 5, "the session has ended")
            weights.append(weigh(slave.pid))
    assert weights[-1][0] == weights[1][0], weights
    assert weights[-1][1] < weights[1][1] + 500_000, weights
