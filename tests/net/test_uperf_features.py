# SPDX-License-Identifier: Apache-2.0
"""Options of uperf's groups, transactions and flowops, each for itself: what it does, at which end, and what is
counted. Options of connections and ports are in test_uperf_network.py."""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from compose import ask, check, check_lossy, connect, counts, group, lasting, once, op, opened, read, times, write
from nmtest import (
    FOR_LONG,
    SOON_S,
    Json,
    Netmodel,
    assert_complete,
    at_most,
    children,
    phase_of,
    slaves_of,
    wait_until,
)

WriteProfile = Callable[..., Path]


def flowops_of(phase: Json) -> dict[str, Json]:
    return {entry["flowop"]: entry for entry in phase["flowops"]}


# --- count ---


@pytest.mark.parametrize("protocol", ["tcp", "udp"])
def test_count_repeats_a_flowop(netmodel: Netmodel, profile: WriteProfile, protocol: str) -> None:
    body = write(100, "count=7") + read(300, "count=2") + op("nop", "count=5") + op("think", "duration=1us count=3")
    path = profile(opened(times(11, body), strands=2, opening=connect(options=f"protocol={protocol}")))
    document = netmodel.measure(path, "-f")
    (check if protocol == "tcp" else check_lossy)(document)
    assert counts(document, "counted") == (22, 22 * 700, 22 * 600)
    done = {name: entry["operations"] for name, entry in flowops_of(phase_of(document, "counted")).items()}
    assert done == {"write": 22 * 7, "read": 22 * 2, "nop": 22 * 5, "think": 22 * 3}


def test_a_count_of_0_is_never(netmodel: Netmodel, profile: WriteProfile) -> None:
    document = check(netmodel.measure(profile(opened(times(5, write(100, "count=0"), ask(10, 20)))), "-t"))
    assert counts(document, "counted") == (5, 5 * 10, 5 * 20)


@pytest.mark.parametrize("count", ["-1", "1.5.2", "many", ""])
def test_a_count_that_is_none(netmodel: Netmodel, profile: WriteProfile, count: str) -> None:
    result = netmodel.run("-m", profile(opened(times(1, write(100, f"count={count}")))), code=1)
    assert f'count="{count}"' in result.err, result


def test_several_answers_to_several_questions_over_udp(netmodel: Netmodel, profile: WriteProfile) -> None:
    body = write(100) + write(200) + read(30) + read(40) + write(9, "count=3") + read(8, "count=2")
    path = profile(opened(times(200, body), strands=4, opening=connect(options="protocol=udp")))
    document = check_lossy(netmodel.measure(path, "-t"))
    assert counts(document, "counted") == (800, 800 * 327, 800 * 86)
    assert phase_of(document, "counted")["messages"]["timeouts"] == 0


def test_a_host_that_is_not_reached_where_it_connects_from(netmodel: Netmodel, profile: WriteProfile) -> None:
    """As one with several addresses: the master accepts what the slave opens from another."""
    with netmodel.slave() as slave:
        body = opened(times(20, ask(90, 70)), opening=connect("127.0.0.9", kind="accept"), strands=2)
        document = check(netmodel.measure(profile(body), "-P", str(slave.port)))
    assert document["hosts"][0]["counts"]["accepts"] == 2


# --- canfail and timeout ---


@pytest.mark.parametrize(("more", "code"), [("", 2), ("canfail", 0)])
def test_timeout_of_a_read(netmodel: Netmodel, profile: WriteProfile, more: str, code: int) -> None:
    late = op("think", "duration=400ms idle at=slave")
    document = netmodel.measure(profile(opened(times(1, late, ask(10, 10, f"timeout=40ms {more}")))), code=code)
    assert document["run"]["complete"] is (code == 0)
    if code:
        assert re.search(r"flowop read at \S+: nothing came within timeout=40ms ", document["run"]["incomplete_why"]), document["run"]
    else:
        assert phase_of(document, "counted")["errors"] == 1
        assert phase_of(document, "counted")["transactions"] == 1


def test_what_is_given_up_comes_before_the_next(netmodel: Netmodel, profile: WriteProfile) -> None:
    """Over a stream: the answers that nobody waited for leave nothing behind for the requests after them."""
    late = op("think", "duration=60ms idle at=slave")
    body = times(4, write(64), late, read(64, "timeout=20ms canfail")) + times(5, ask(100, 90), name="after")
    document = netmodel.measure(profile(opened(body)))
    assert_complete(document)
    errors = phase_of(document, "counted")["errors"]
    assert errors == 4
    assert phase_of(document, "after")["transactions"] == 5
    master, slave = document["hosts"]
    assert master["counts"]["bytes_received"] == slave["counts"]["bytes_sent"] == 4 * 64 + 5 * 90
    assert document["run"]["reconciled"] is None
    assert document["run"]["reconcile_text"].endswith("flowops that may fail have failed, 4 times")


def test_a_slow_host_is_waited_for(netmodel: Netmodel, profile: WriteProfile) -> None:
    """Though another that leads is done, and something may fail."""
    hosts = "".join(connect(f"127.0.0.{n}", f"protocol=tcp conn={n}") for n in (1, 2))
    wait = op("think", "duration=150ms remotehost=127.0.0.2")
    body = once(hosts) + times(3, read(300, "conn=1 canfail"), wait, read(300, "conn=2"))
    with netmodel.slave() as slave:
        document = netmodel.measure(profile(group(body)), "-P", str(slave.port))
    assert_complete(document)
    assert document["run"]["reconciled"] is True
    assert phase_of(document, "counted")["transactions"] == 3
    assert phase_of(document, "counted")["seconds"] > 0.4


def test_a_timeout_that_is_not_reached_changes_nothing(netmodel: Netmodel, profile: WriteProfile) -> None:
    body = ask(100, 200, "timeout=5s")
    document = check(netmodel.measure(profile(opened(times(300, body), lasting("100ms", body), strands=2)), "-t"))
    assert counts(document, "counted") == (600, 600 * 100, 600 * 200)
    assert counts(document, "timed")[0] > 100


def test_a_connection_that_may_fail(netmodel: Netmodel, profile: WriteProfile) -> None:
    """It cannot be opened from an address that this host has not; the other end gives it up too."""
    body = connect("127.0.0.1", "protocol=tcp localhost=192.0.2.1 timeout=50ms canfail")
    with netmodel.slave() as slave:
        document = netmodel.measure(profile(group(times(3, body))), "-t", "-P", str(slave.port))
    assert_complete(document)
    assert document["run"]["reconciled"] is not False
    for host in document["hosts"]:
        assert (host["counts"]["transactions"], host["counts"]["errors"]) == (3, 3)
    assert phase_of(document, "counted")["connects"] == 0


# --- nprocs ---


def test_strands_that_are_processes(netmodel: Netmodel, profile: WriteProfile) -> None:
    body = times(20, ask()) + lasting("600ms", ask())
    path = profile(opened(body, strands=4, kind="nprocs", opening=connect("127.0.0.1")))
    with (
        netmodel.slave() as slave,
        netmodel.started("-m", path, "-v", "-t", "--format", "json", "-P", str(slave.port)) as master,
    ):
        master.wait_line("phase 3 of 4 begins")
        assert len(children(master.pid)) == 4
        result = master.finish()
    assert result.code == 0, result
    document = check(result.json())
    assert counts(document, "counted") == (80, 80 * 64, 80 * 64)
    assert document["groups"][0]["flows"] == 4


def test_a_killed_process_ends_the_run(netmodel: Netmodel, profile: WriteProfile) -> None:
    path = profile(opened(lasting(FOR_LONG, ask()), strands=3, kind="nprocs", opening=connect("127.0.0.1")))
    with (
        netmodel.slave() as slave,
        netmodel.started("-m", path, "-v", "-g", "--format", "json", "-P", str(slave.port)) as master,
    ):
        master.wait_line("phase 2 of 3 begins")
        time.sleep(0.5)  # so long the phase lasts
        os.kill(children(master.pid)[1], signal.SIGKILL)
        result = master.finish()
    assert result.code == 2, result
    assert result.json()["run"]["complete"] is False
    # The phase that was not finished has had its time.
    assert 0.4 < result.json()["hosts"][0]["elapsed_s"] < SOON_S
    assert "a worker process of group Group0 was ended by signal 9 (Killed)" in result.err


def test_processes_end_in_time_also_when_main_cannot_tell_them(netmodel: Netmodel, profile: WriteProfile) -> None:
    """Main has no turn from before the end of the transaction until long after it."""
    path = profile(opened(lasting("800ms", ask()), strands=4, kind="nprocs"))

    def late() -> float:
        with netmodel.started("-m", path, "-v", "--format", "json") as master:
            master.wait_line("phase 2 of 3 begins")
            master.signal(signal.SIGSTOP)
            time.sleep(1.5)  # past the end
            master.signal(signal.SIGCONT)
            result = master.finish()
        assert result.code == 0, result
        return abs(float(phase_of(check(result.json()), "timed")["seconds"]) - 0.8)

    at_most(late, 0.2)


# --- localhost ---


def tcp_ends() -> set[tuple[str, str]]:
    """Local and remote address of the IPv4 connections of this host."""
    lines = Path("/proc/net/tcp").read_text().splitlines()[1:]
    return {(line.split()[1].split(":")[0], line.split()[2].split(":")[0]) for line in lines}


@pytest.mark.parametrize("kind", ["connect", "accept"])
def test_localhost_is_the_address_of_the_connecting_end(netmodel: Netmodel, profile: WriteProfile, kind: str) -> None:
    opening = connect("127.0.0.1", "protocol=tcp localhost=127.0.0.2", kind=kind)
    with netmodel.slave() as slave:
        path = profile(opened(times(5, ask()), once(op("think", "duration=500ms")), opening=opening))
        arguments = ("-m", path, "-v", "-t", "--format", "json", "-P", str(slave.port))
        with netmodel.started(*arguments) as master:
            master.wait_line("phase 3 of 4 begins")
            assert ("0200007F", "0100007F") in wait_until(tcp_ends)
            result = master.finish()
    assert result.code == 0, result
    assert counts(result.json(), "counted") == (5, 320, 320)


# --- think ---


@pytest.mark.parametrize("how", ["busy", "idle"])
def test_a_busy_think_burns_the_cpu_at_both_ends(netmodel: Netmodel, profile: WriteProfile, how: str) -> None:
    path = profile(opened(times(4, ask(), op("think", f"duration=100ms {how}")), opening=connect("127.0.0.1")))

    def used() -> float:
        """CPU time of the end that has more of it; that which lacks most of the time that it thinks."""
        with netmodel.slave() as slave:
            document = check(netmodel.measure(path, "-f", "-P", str(slave.port)))
        for phase in (phase_of(document, "counted"), slaves_of(document)[0]["groups"][0]["phases"][1]):
            assert flowops_of(phase)["think"]["operations"] == 4
            assert flowops_of(phase)["think"]["time_s"]["min"] >= 0.1
        usage = [host["rusage"]["utime_s"] + host["rusage"]["stime_s"] for host in document["hosts"]]
        return 0.4 - float(min(usage)) if how == "busy" else float(max(usage))

    at_most(used, 0.36 if how == "busy" else 0.04)


# --- rate ---


@pytest.mark.parametrize(
    ("rate", "iterations", "seconds"), [("40", 20, 19 / 40), ("3", 2, 1 / 3), ("12.5", 6, 0.4), ("1k", 300, 299 / 1024)]
)
def test_a_rate_with_iterations(
    netmodel: Netmodel, profile: WriteProfile, rate: str, iterations: int, seconds: float
) -> None:
    """So many passes, none of them before its time."""
    path = profile(opened(times(iterations, ask(), more=f'rate="{rate}"')))

    def lasts() -> float:
        document = check(netmodel.measure(path, "-t"))
        assert counts(document, "counted")[0] == iterations
        assert seconds <= phase_of(document, "counted")["seconds"]
        return float(phase_of(document, "counted")["seconds"])

    at_most(lasts, seconds + 0.25)


@pytest.mark.parametrize(
    ("rate", "duration", "passes"), [("2.5", "1s", 3), ("3", "1s", 3), ("0.5", "400ms", 1), ("12.5", "800ms", 10)]
)
def test_a_rate_with_a_duration(
    netmodel: Netmodel, profile: WriteProfile, rate: str, duration: str, passes: int
) -> None:
    """As many passes of each strand as begin within the time."""
    path = profile(opened(lasting(duration, ask(), more=f'rate="{rate}"'), strands=1))
    at_most(lambda: abs(counts(check(netmodel.measure(path, "-t")), "timed")[0] - passes), 0)


@pytest.mark.parametrize("kind", ["nthreads", "nprocs"])
def test_a_rate_is_that_of_each_strand(netmodel: Netmodel, profile: WriteProfile, kind: str) -> None:
    path = profile(opened(lasting("500ms", ask(), more='rate="20"'), strands=8, kind=kind))

    def off() -> float:
        """Passes too few, and strands that have done less than the others."""
        document = check(netmodel.measure(path, "-t", "-T"))
        done = [strand["operations"] for strand in document["groups"][0]["flow_totals"]]
        return float(abs(counts(document, "timed")[0] - 8 * 10) + max(done) - min(done))

    at_most(off, 0)


def test_answers_are_not_paced(netmodel: Netmodel, profile: WriteProfile) -> None:
    """The slave answers at once, whatever the rate of the questions."""
    path = profile(opened(lasting("500ms", ask(), more='rate="200"')))

    def waits() -> float:
        document = check(netmodel.measure(path, "-f"))
        return float(flowops_of(phase_of(document, "timed"))["read"]["time_s"]["p50"])

    at_most(waits, 0.001)


@pytest.mark.alone
def test_a_rate_has_no_bursts(netmodel: Netmodel, profile: WriteProfile, tmp_path: Path) -> None:
    log = tmp_path / "log"
    path = profile(opened(lasting("1s", write(100), more='rate="20"')))

    def off() -> float:
        """By what the pass is that is furthest from its time behind the one before."""
        check(netmodel.measure(path, "-X", log))
        rows = [line.split("\t") for line in log.read_text().splitlines()[1:]]
        ends = [float(row[0]) for row in rows if row[4] == "write"]
        return max(20 - len(ends), *(abs(later - earlier - 0.05) for earlier, later in zip(ends, ends[1:], strict=False)))

    at_most(off, 0.02)
