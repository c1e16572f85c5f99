# SPDX-License-Identifier: Apache-2.0
"""engine="io_uring": messages are posted, and one call hands over those of all flows. What a profile means stays the same."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from compose import ask, check, connect, counts, group, lasting, once, op, opened, read, times, write
from nmtest import FOR_LONG, PATIENCE_S, Json, Netmodel, at_most, defines, free_port, phase_of, wait_until

WriteProfile = Callable[..., Path]
URING = 'engine="io_uring" nthreads'


pytestmark = pytest.mark.needs("io_uring")


def calls_of(netmodel: Netmodel, strace: str, folder: Path, end: str, name: str, **params: object) -> tuple[Json, Counter[str]]:
    """Of one end, which alone is traced."""
    summary = folder / "calls"
    under = {end: (strace, "-f", "-c", "-o", str(summary))}
    with netmodel.slave("--once", prefix=under.get("server", ())) as slave:
        ends = defines(**{"host": "127.0.0.1", "engine": "io_uring", **params})
        document = netmodel.measure(name, "-i", "0", "-P", str(slave.port), *ends, prefix=under.get("client", ()))
        assert slave.process.finish().code == 0
    rows = re.findall(r"^ *[\d.]+ +[\d.]+ +\d+ +(\d+) +(?:\d+ +)?(\w+)$", summary.read_text(), re.MULTILINE)
    return document, Counter({call: int(count) for count, call in rows})


@pytest.mark.parametrize(("name", "flows", "most"), [("tcp_rr", 1, 1.05), ("tcp_rr", 64, 0.5), ("tcp_stream", 1, 2.05)])
@pytest.mark.parametrize("end", ["client", "server"])
def test_one_call_hands_over_what_all_flows_post(
    netmodel: Netmodel, strace: str, tmp_path: Path, name: str, flows: int, most: float, end: str
) -> None:
    """A stream's message may come in parts."""
    length = {"num_transactions": 5000} if name == "tcp_rr" else {"test_length": "500ms", "buffer_size": "4k"}

    def too_many() -> float:
        """Calls beyond those that there may be."""
        document, calls = calls_of(netmodel, strace, tmp_path, end, name, num_flows=flows, **length)
        passes = check(document)["totals"]["transactions"]
        assert passes >= 1000
        assert passes / 100 < calls["io_uring_enter"], calls
        others = calls["sendto"] + calls["recvfrom"] + calls["epoll_wait"] + calls["epoll_pwait"]
        return float(max(calls["io_uring_enter"] - most * passes - 200, others - passes / 10 - 200))

    at_most(too_many, 0)


def test_the_usual_engine_does_not_need_it(netmodel: Netmodel, strace: str, tmp_path: Path) -> None:
    _, calls = calls_of(netmodel, strace, tmp_path, "client", "tcp_rr", engine="epoll", num_transactions=100)
    assert calls["sendto"] >= 100
    assert not calls["io_uring_enter"] and not calls["io_uring_setup"]


THINKS = op("think", "duration=1ms idle")
BODIES = {
    "small": ask(1, 1),
    "large": ask(100_000, 3_000_000),
    "odd": ask(17_001, 40_000),
    "slave-asks": read(300) + write(70_000),
    "one-way": write(5000),
    "repeated": write(1000, "count=4") + read(30_000, "count=3"),
    "both-write": write(64) + read(10) + write(200_000) + read(64),
}


@pytest.mark.parametrize("protocol", ["tcp", "unix"])
@pytest.mark.parametrize("body", BODIES)
def test_both_ends_count_the_same(netmodel: Netmodel, profile: WriteProfile, body: str, protocol: str) -> None:
    """In phases by count and by time, and in those between them that run as ever."""
    passes, flows = 20, 10
    body = BODIES[body]
    path = profile(
        opened(
            times(passes, body), lasting("50ms", body), times(3, body + THINKS, name="calls"),
            times(passes, body, name="again", more='rate="500"'), lasting("20ms", ask(5, 5), name="last"),
            strands=2, kind=f'engine="io_uring" nflows="{flows}" nthreads', opening=connect(options=f"protocol={protocol}"),
        )
    )  # fmt: skip
    plan = netmodel.run("-m", path, "--dump-plan", code=0).out
    assert plan.count("by io_uring") == 2 * 4
    document = check(netmodel.measure(path, "-t"))
    counted = counts(document, "counted")
    assert counted[0] == passes * flows
    assert counts(document, "again") == counted
    assert counts(document, "calls")[1:] == tuple(3 * moved // passes for moved in counted[1:])
    assert counts(document, "timed")[0] > 0
    assert counts(document, "last")[0] > 0


def test_several_connections_of_a_flow(netmodel: Netmodel, profile: WriteProfile) -> None:
    two = once(connect(options="protocol=tcp conn=1"), connect(options="protocol=tcp conn=2"))
    body = write(100, "conn=1") + write(20_000, "conn=2") + read(100, "conn=1") + read(50, "conn=2")
    path = profile(group(two, times(30, body), once(op("disconnect", "conn=1"), op("disconnect", "conn=2")), strands=5, kind=URING))
    document = check(netmodel.measure(path, "-t"))
    assert counts(document, "counted") == (150, 150 * 20_100, 150 * 150)


@pytest.mark.parametrize("how", ['nprocs="2" nflows', 'wait="spin" nthreads', 'buffer="1000" nthreads'])
def test_it_goes_with_other_attributes(netmodel: Netmodel, profile: WriteProfile, how: str) -> None:
    body = times(50, ask(10_000, 2500)) + lasting("50ms", ask(1, 1))
    document = check(netmodel.measure(profile(opened(body, strands=2, kind=f'engine="io_uring" {how}')), "-t"))
    assert counts(document, "counted") == (100, 100 * 10_000, 100 * 2500)


def test_flowops_are_measured(netmodel: Netmodel, profile: WriteProfile) -> None:
    """A write that is waited for takes until the kernel has it all."""
    path = profile(opened(times(100, write(400_000) + read(1)), kind=URING))
    document = check(netmodel.measure(path, "-a"))
    write_op, read_op = phase_of(document, "counted")["flowops"]
    assert [(each["operations"], each["time_s"]["count"]) for each in (write_op, read_op)] == [(100, 100)] * 2
    assert (write_op["bytes_sent"], read_op["bytes_received"]) == (100 * 400_000, 100)
    assert write_op["time_s"]["p50"] > 5e-6


def test_ten_thousand_flows(netmodel: Netmodel) -> None:
    params = defines(engine="io_uring", num_flows=10_000, num_threads=2, test_length="500ms")
    document = check(netmodel.measure("tcp_rr", *params))
    assert document["totals"]["transactions"] >= 10_000


@pytest.mark.parametrize("params", [{"num_flows": 300, "buffer_size": "4k"}, {"num_flows": 20, "maxevents": 1}], ids=["flows", "events"])
@pytest.mark.parametrize("name", ["tcp_rr", "tcp_stream"])
def test_more_is_done_at_a_time_than_is_taken(netmodel: Netmodel, name: str, params: dict[str, object]) -> None:
    """What main wants, and what comes, is heard all the same."""
    document = check(netmodel.measure(name, *defines(engine="io_uring", test_length="200ms", **params)))
    assert document["run"]["elapsed_s"] < 9, "less than a stuck one would take"


FULL = {"small": write(1) + read(16384), "after-large": write(1) + read(3_000_000) + read(16384)}


@pytest.mark.parametrize("protocol", ["tcp", "unix"])
@pytest.mark.parametrize("body", FULL)
def test_an_answer_for_which_there_is_no_room(netmodel: Netmodel, profile: WriteProfile, body: str, protocol: str) -> None:
    """Also the last one, after which nothing is read: it is sent when there is, and before anything else."""
    body = times(5, FULL[body]) + times(2, FULL[body] + THINKS, name="calls") + times(5, FULL[body], name="again")
    path = profile(
        opened(body, strands=1, kind='engine="io_uring" nflows="8" nthreads', opening=connect(options=f"protocol={protocol} wndsz=4k"))
    )
    document = check(netmodel.measure(path, "-t"))
    assert counts(document, "again")[0] == 40


def sockets_at(port: int) -> list[str]:
    """The connections that stand, at both ends."""
    lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return [own for _, own, peer, state, *_ in lines if state == "01" and f":{port:04X}" in (own[-5:], peer[-5:])]


@pytest.mark.needs("ss_kill")
def test_a_connection_that_is_reset_in_a_message(netmodel: Netmodel, profile: WriteProfile) -> None:
    """What had gone of it is counted, and no pass."""
    size, flows = 1_000_000, 4
    port = free_port()
    path = profile(
        opened(
            times(1, write(size), more='rate="1"'), strands=1, kind=f'engine="io_uring" nflows="{flows}" nthreads',
            opening=connect("127.0.0.1", f"protocol=tcp wndsz=16k port={port}"),
        )
    )  # fmt: skip
    with netmodel.slave() as slave:
        with netmodel.started("-m", path, "-P", str(slave.port), "--format", "json") as master:
            (session,) = wait_until(slave.sessions)
            wait_until(lambda: len(sockets_at(port)) >= 2 * flows, what="the connections stand")
            os.kill(session, signal.SIGSTOP)
            time.sleep(1)  # the flows fill the buffers
            subprocess.run(["ss", "-K", "sport", "=", str(port)], check=True, capture_output=True, timeout=PATIENCE_S)
            wait_until(lambda: not sockets_at(port), what="the connections are gone")
            os.kill(session, signal.SIGCONT)
            result = master.finish()
    assert result.code == 2, result
    told = phase_of(result.json(), "counted")
    assert told["transactions"] < flows
    assert told["errors"] == flows - told["transactions"]
    assert told["transactions"] * size < told["bytes_sent"] < flows * size


def test_intervals_and_connections_are_told(netmodel: Netmodel, tmp_path: Path) -> None:
    params = defines(engine="io_uring", num_flows=3, test_length="400ms")
    document = check(netmodel.measure("tcp_rr", "-i", "100ms", "--tcp-info", tmp_path / "info.csv", *params))
    assert len(document["intervals"]) >= 4
    assert all(interval["transactions"] > 0 for interval in document["intervals"][:4])
    assert len((tmp_path / "info.csv").read_text().splitlines()) > 9


@pytest.mark.parametrize("end", ["interrupt", "limit"])
def test_it_can_be_ended(netmodel: Netmodel, end: str) -> None:
    limit = ["--max-duration", "400ms"] if end == "limit" else []
    params = defines(engine="io_uring", num_flows=20, test_length=FOR_LONG)
    with netmodel.started("-m", "tcp_rr", *params, *limit, "-v", "--format", "json") as master:
        if end == "interrupt":
            master.wait_line("phase 2 of 3 begins")
            time.sleep(0.4)  # requests go meanwhile
            master.signal(signal.SIGINT)
        result = master.finish()
    assert result.code == (130 if end == "interrupt" else 2), result
    assert result.json()["totals"]["transactions"] > 100


@pytest.mark.parametrize("name", ["tcp_rr", "tcp_stream"])
def test_a_killed_slave_is_noticed(netmodel: Netmodel, name: str) -> None:
    with netmodel.slave() as slave:
        params = defines(engine="io_uring", host="127.0.0.1", num_flows=8, test_length=FOR_LONG)
        with netmodel.started("-m", name, "-P", str(slave.port), *params, "-v", "--format", "json") as master:
            master.wait_line(r"phase 2 of \d begins")
            (session,) = slave.sessions()
            time.sleep(0.4)  # messages go meanwhile
            os.kill(session, signal.SIGKILL)
            result = master.finish()
    assert result.code == 2, result
    assert not result.json()["run"]["complete"]
    assert result.json()["totals"]["bytes_sent"] > 100


def test_a_killed_master_is_noticed(netmodel: Netmodel) -> None:
    """The slave takes the next."""
    params = defines(engine="io_uring", host="127.0.0.1", num_flows=8)
    with netmodel.slave() as slave:
        with netmodel.started("-m", "tcp_rr", "-P", str(slave.port), "-v", *params, *defines(test_length=FOR_LONG)) as master:
            master.wait_line("phase 2 of 3 begins")
            os.kill(master.pid, signal.SIGKILL)
            wait_until(lambda: not slave.sessions())
        check(netmodel.measure("tcp_rr", "-P", str(slave.port), *params, *defines(test_length="50ms")))


@pytest.mark.parametrize(("error", "says"), [("EPERM", "may not use io_uring"), ("ENOSYS", "has no io_uring"), ("EINVAL", "older than Linux 6.1")])
@pytest.mark.parametrize("end", ["master", "slave"])
def test_hosts_without_it_say_so(netmodel: Netmodel, strace: str, end: str, error: str, says: str) -> None:
    how = ("-f", "-qq", "-o", "/dev/null", "-e", "trace=io_uring_setup", "-e", f"inject=io_uring_setup:error={error}")
    under = (strace, *how)
    with netmodel.slave(prefix=under if end == "slave" else ()) as slave:
        params = defines(engine="io_uring", host="127.0.0.1", test_length="50ms")
        prefix = under if end == "master" else ()
        result = netmodel.run("-m", "tcp_rr", "-P", str(slave.port), *params, code=1 if end == "master" else 2, prefix=prefix)
    assert len(result.lines()) == 1 and says in result.err and '<group> engine="io_uring"' in result.err, result
    assert re.search(r"tcp_rr\.xml:\d+: ", result.err)


REFUSED = {
    "udp": opened(times(1, write(1) + read(1)), kind=URING, opening=connect(options="protocol=udp")),
    "ssl": opened(times(1, write(1) + read(1)), kind=URING, opening=connect(options="protocol=ssl")),
    "connections": group(times(5, connect(), ask(1, 1), op("disconnect")), kind=URING),
    "drawn": opened(times(5, write("rand(1,9)") + read(1)), kind=URING),
    "limited": opened(times(5, write(1) + read(1, "timeout=1s")), kind=URING),
    "pipelined": opened(times(5, ask(1, 1), more='pipeline="4"'), kind=URING),
    "uncopied": opened(times(5, write(1, "zerocopy") + read(1)), kind=URING),
}


@pytest.mark.parametrize("what", REFUSED)
def test_where_it_is_of_no_use_it_is_refused(netmodel: Netmodel, profile: WriteProfile, what: str) -> None:
    result = netmodel.run("-m", profile(REFUSED[what]), "--check", code=1)
    (line,) = result.lines()
    assert re.search(r'\.xml:\d+: error: <group> engine="io_uring": none of its transactions can use it', line)


def test_nonsense_is_refused(netmodel: Netmodel) -> None:
    result = netmodel.run("-m", "tcp_rr", *defines(engine="aio"), code=1)
    assert "aio" in result.err and "must be one of: epoll io_uring" in result.err, result
