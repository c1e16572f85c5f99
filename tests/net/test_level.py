# SPDX-License-Identifier: Apache-2.0
"""Groups with edge_trigger="no": epoll tells of connections as long as there is something. What a flow does not wait for
must not wake its worker again and again, and waiting must not cost a call for each message."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

import probes
from compose import CLOSE, check, check_lossy, connect, counts, lasting, once, op, read, times, write
from nmtest import TRACED, Json, Netmodel, Node, assert_complete, changed, defines, phase_of, slaves_of, trace_lines

Run = Callable[..., tuple[Json, Counter[str]]]
WriteProfile = Callable[..., Path]

CALLS = "epoll_ctl,epoll_wait,epoll_pwait,epoll_pwait2"
WATCHED = "EPOLLRDHUP"  # what connections are watched for, and nothing else
PASSES = 5
THINK = "think", "duration=100ms at=slave"
# The control connection, timers and commands: as many as are not for messages.
OTHERS = 150


def level(flows: int, *transactions: str, trigger: str = "no") -> str:
    attributes = f'nthreads="1" nflows="{flows}" edge_trigger="{trigger}"'
    return f"<group {attributes}>\n{''.join(transactions)}</group>\n"


def tally(lines: list[str]) -> Counter[str]:
    """Waits for events, by threads the most, and what was told to epoll of connections."""
    found: Counter[str] = Counter()
    waits: Counter[str] = Counter()
    for line in lines:
        thread, call = line.split(" ", 1)
        if call.startswith(("epoll_wait", "epoll_pwait")):
            waits[thread] += 1
        elif WATCHED in call or "EPOLL_CTL_DEL" in call:
            found["told"] += 1
            found["edge"] += "EPOLLET" in call
    found["waits"] = max(waits.values())
    return found


@pytest.fixture
def run(netmodel: Netmodel, profile: WriteProfile, strace: str, tmp_path: Path) -> Run:
    def trace(groups: str, *args: str, prefix: tuple[str, ...] = ()) -> tuple[Json, Counter[str]]:
        path = profile(groups) if "<" in groups else groups
        how = (*prefix, strace, "-ff", "-qq", "-e", f"trace={CALLS}")
        document = netmodel.measure(path, *args, prefix=(*how, "-o", str(tmp_path / "t")), env=TRACED)
        assert_complete(document)
        assert document["run"]["reconciled"] is not False
        return document, tally(trace_lines(tmp_path / "t"))

    return trace


@pytest.mark.parametrize("protocol", probes.protocols("tcp", "udp", "ssl", "unix", "mptcp", "sctp"))
@pytest.mark.parametrize("flows", [1, 3])
def test_input_that_comes_while_a_flow_thinks(run: Run, protocol: str, flows: int) -> None:
    body = (write(20), op(*THINK), write(20), read(20))
    opening = once(connect(options=f"protocol={protocol}"))
    document, calls = run(level(flows, opening, times(PASSES, *body), CLOSE), "-t")
    (check_lossy if protocol == "udp" else check)(document)
    assert phase_of(document, "counted")["transactions"] == PASSES * flows
    assert calls["told"] > 0 and calls["edge"] == 0
    assert calls["waits"] <= OTHERS + 8 * PASSES * flows, calls


@pytest.mark.parametrize("protocol", ["tcp", "ssl", "unix"])
@pytest.mark.parametrize("how", ["fin", "rst", "half"])
def test_a_peer_that_closes_while_a_flow_thinks(run: Run, protocol: str, how: str) -> None:
    flows = 3
    body = (connect(options=f"protocol={protocol}"), write(20), read(20), op(*THINK), op("disconnect", f"close={how}"))
    document, calls = run(level(flows, times(PASSES, *body)), "-t")
    assert counts(check(document), "counted")[0] == PASSES * flows
    assert calls["edge"] == 0
    assert calls["waits"] <= OTHERS + 10 * PASSES * flows, calls


def test_a_sender_that_is_ahead(run: Run) -> None:
    """The slave sends as it likes: there is always input, and its own buffers are full."""
    body = (read(200_000), op("think", "duration=20ms at=master"))
    document, calls = run(level(3, once(connect()), lasting("300ms", *body), times(10, write(10), read(10)), CLOSE), "-t")
    check(document)
    passes = phase_of(document, "timed")["transactions"]
    assert passes > 10
    assert calls["edge"] == 0
    assert calls["waits"] <= OTHERS + 12 * passes, calls


def test_connections_of_which_another_has_input(netmodel: Netmodel, run: Run) -> None:
    """One host sends as it likes, the other slowly: the flow waits for this while that has sent for long."""
    two = once(connect(), connect("127.0.0.1", "conn=2"))
    body = (op("think", "duration=50ms remotehost=127.0.0.1 at=slave"), read(1000, "conn=2"), read(1000))
    close = once(op("disconnect"), op("disconnect", "conn=2"))
    with netmodel.slave() as slave:
        document, calls = run(level(2, two, lasting("500ms", *body), close), "-P", str(slave.port))
    assert_complete(document)
    passes = phase_of(document, "timed")["transactions"]
    assert 10 <= passes <= 24
    assert len(slaves_of(document)) == 2
    assert calls["edge"] == 0
    assert calls["waits"] <= OTHERS + 10 * passes, calls


def test_input_that_nobody_wants(run: Run) -> None:
    """An answer that was given up comes while its flow waits for the other end to close."""
    late = read(10, "timeout=10ms canfail")
    thinks = (op("think", f"duration={ms}ms at=slave") for ms in (50, 200))
    body = (connect(), write(10), next(thinks), late, next(thinks), op("disconnect", "by=server"))
    document, calls = run(level(3, times(PASSES, *body)), "-t")
    assert document["totals"]["errors"] == PASSES * 3
    assert calls["edge"] == 0
    assert calls["waits"] <= OTHERS + 12 * PASSES * 3, calls


@pytest.mark.parametrize("trigger", ["yes", "no"])
def test_what_is_awaited_again_is_told_once(run: Run, trigger: str) -> None:
    """A wait like the one before costs no call."""
    flows = 16
    body = times(300, write(10), read(10))
    document, calls = run(level(flows, once(connect()), body, CLOSE, trigger=trigger), "-t")
    check(document)
    assert phase_of(document, "counted")["transactions"] == 300 * flows
    assert (calls["edge"] == 0) == (trigger == "no")
    assert 2 * flows <= calls["told"] <= 2 * flows * 8, calls


@pytest.mark.parametrize("workload", ["tcp_rr", "udp_rr"])
def test_a_lone_flow_waits_in_its_receive(run: Run, workload: str) -> None:
    args = defines(edge_trigger="no", num_transactions=3000, test_length="60s")
    document, calls = run(workload, *args)
    assert document["totals"]["transactions"] == 3000
    # A busy machine makes it wait for some; if it waited for each, each would be told twice.
    assert calls["told"] <= 100, calls
    assert calls["waits"] <= 2000, calls


@pytest.mark.parametrize("way", ["enable_write", "enable_read", "split_bidir", "enable_tcp_maerts"])
@pytest.mark.parametrize("more", ["zerocopy", "skip_rx_copy"])
def test_streams(run: Run, way: str, more: str) -> None:
    """What waits for room and for input alike; and is told about sends without a copy while it waits for input."""
    args = defines(edge_trigger="no", num_flows=4, test_length="400ms", buffer_size="1m", **{way: "yes", more: "yes"})
    document, calls = run("tcp_stream", *args)
    check(document)
    moved = document["totals"]["bytes_sent"] + document["totals"]["bytes_received"]
    assert moved > 10_000_000
    assert calls["edge"] == 0
    assert calls["waits"] <= OTHERS + moved / 100_000, (calls, moved)


def test_no_room_for_tellings(run: Run, own: Node) -> None:
    """There is room for what is sent, but not for what the kernel tells about it (ENOBUFS): only this is waited for."""
    body = (op("think", "duration=200ms at=slave"), op("write", "size=3k zerocopy count=1000"))
    groups = level(1, once(connect()), times(1, *body), CLOSE)
    with changed(own, "net.core.optmem_max", 2000):
        document, calls = run(groups, "-t", prefix=own.prefix)
    check(document)
    assert calls["edge"] == 0
    assert calls["waits"] <= OTHERS + 1000, calls


def test_both_ends_are_told(netmodel: Netmodel, profile: WriteProfile) -> None:
    path = profile(level(2, once(connect()), times(5, write(10), read(10)), CLOSE))
    text = netmodel.run("-m", path, "--dump-plan", code=0).out
    assert len(re.findall("level-triggered", text)) == 2
    plain = profile(level(2, once(connect()), times(5, write(10), read(10)), CLOSE, trigger="yes"))
    assert "level-triggered" not in netmodel.run("-m", plain, "--dump-plan", code=0).out
