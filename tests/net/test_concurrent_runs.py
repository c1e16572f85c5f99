# SPDX-License-Identifier: Apache-2.0
"""Several runs at one slave: each result tells of the others, and a slave may take one at a time."""

from __future__ import annotations

import re
import signal
from pathlib import Path

import pytest

from nmtest import Json, Netmodel, Process, Slave, assert_complete, defines, wait_until

WARNING = r"(another run was|\d+ other runs were) under way on 127\.0\.0\.1 for (\d.*) of (\d.*): what they have used"
PARTS = {"ms": 1e-3, "s": 1.0}


def to(slave: Slave, length: str) -> list[str]:
    return ["-m", "tcp_rr", "-P", str(slave.port), *defines(host="127.0.0.1", test_length=length)]


def running(master: Process) -> Process:
    master.wait_line("phase 2 of 3 begins")
    return master


def seconds(text: str) -> float:
    value, unit = text.split()
    return float(value) * PARTS[unit]


def overlap(document: Json) -> tuple[float, float]:
    """For how long another run was under way, and for how long this one."""
    assert_complete(document)
    (told,) = (match for warning in document["run"]["warnings"] if (match := re.match(WARNING, warning)))
    assert told[1] == "another run was"
    return seconds(told[2]), seconds(told[3])


def test_each_of_two_results_tells_that_another_run_was_under_way(netmodel: Netmodel, slave: Slave) -> None:
    with netmodel.started(*to(slave, "1600ms"), "-v", "--format", "json") as long:
        running(long)
        short = netmodel.run(*to(slave, "300ms"), "--format", "json", code=0).json()
        outer = long.finish().json()
    within, whole = overlap(short)
    assert within == pytest.approx(whole, abs=0.02) and within >= 0.3
    # The other has ended before, and its time is not that of all.
    met, of = overlap(outer)
    assert 0.3 <= met < of and of >= 1.6
    assert met == pytest.approx(within, abs=0.1)


def test_a_text_report_warns_of_another_run(netmodel: Netmodel, slave: Slave) -> None:
    with netmodel.started(*to(slave, "20s"), "-v") as long:
        running(long)
        result = netmodel.run(*to(slave, "200ms"), code=0)
        long.signal(signal.SIGINT)
        long.finish()
    assert re.search(f"^  warning: {WARNING}", result.out, re.MULTILINE), result
    assert re.search(r"session \d+, master 127\.0\.0\.1: 1 other run is under way on this host", slave.process.err)


def test_runs_one_after_the_other_are_no_others(netmodel: Netmodel, slave: Slave) -> None:
    for _ in range(2):
        assert netmodel.run(*to(slave, "100ms"), "--format", "json", code=0).json()["run"]["warnings"] == []


def test_a_host_that_a_profile_names_twice_meets_no_other_run(
    netmodel: Netmodel, slave: Slave, tmp_path: Path
) -> None:
    group = (
        '<group><transaction iterations="1"><flowop type="connect" options="remotehost={}"/></transaction>'
        '<transaction duration="200ms"><flowop type="write" options="size=1"/></transaction></group>'
    )
    path = tmp_path / "twice.xml"
    path.write_text(f'<profile name="twice">{group.format("127.0.0.1")}{group.format("localhost")}</profile>')
    document = netmodel.measure(path, "-P", str(slave.port))
    assert_complete(document)
    assert document["run"]["warnings"] == []


def test_an_exclusive_slave_refuses_the_second_master_by_name(netmodel: Netmodel) -> None:
    refused = (
        r"slave 127\.0\.0\.1: refused: it serves one run at a time \(--exclusive\), and that of 127\.0\.0\.1 has been "
        r"there for [\d.e-]+ m?s"
    )
    with netmodel.slave("--exclusive") as slave:
        with netmodel.started(*to(slave, "20s"), "-v", "--format", "json") as long:
            running(long)
            result = netmodel.run(*to(slave, "100ms"), code=2)
            assert re.search(refused, result.err), result
            assert result.seconds < 9, "it does not wait for the other, for its limit of 10 s"
            # Also where the master gives up a silent slave sooner than another run is waited for.
            hasty = netmodel.run(*to(slave, "100ms"), "--timeout", "400ms", code=2)
            assert re.search(refused, hasty.err), hasty
            long.signal(signal.SIGINT)
            assert long.finish().json()["run"]["warnings"] == []
        # Those that come one after the other are served, at once, and so is the next after one that was killed.
        for _ in range(3):
            netmodel.run(*to(slave, "50ms"), code=0)
        with netmodel.started(*to(slave, "20s"), "-v") as killed:
            running(killed)
            killed.signal(signal.SIGKILL)
            killed.finish()
        netmodel.run(*to(slave, "50ms"), code=0)
        wait_until(lambda: not slave.sessions(), what="all sessions have ended")


def test_an_exclusive_slave_takes_all_hosts_of_one_run(netmodel: Netmodel, tmp_path: Path) -> None:
    with netmodel.slave("--exclusive") as slave:
        test_a_host_that_a_profile_names_twice_meets_no_other_run(netmodel, slave, tmp_path)
