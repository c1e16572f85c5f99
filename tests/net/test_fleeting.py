# SPDX-License-Identifier: Apache-2.0
"""Connections that live for one pass: answers are looked for before epoll is told to wait for them. That this spares a
system call is with the others in test_scale.py."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from compose import ask, check, connect, counts, group, lasting, op, read, times, write
from nmtest import SOON_S, Netmodel, at_most, defines, phase_of, traced

WriteProfile = Callable[..., Path]

CALLS = "connect,epoll_ctl,recvfrom"


def several(flows: int, *transactions: str) -> str:
    return f'<group nthreads="1" nflows="{flows}">\n{"".join(transactions)}</group>\n'


def client_calls(lines: list[str]) -> Counter[str]:
    """Of the thread that has connected; looks that found nothing apart."""
    threads: dict[str, Counter[str]] = {}
    for line in lines:
        thread, call = line.split(" ", 1)
        name = call.split("(", 1)[0]
        named = f"{name} EAGAIN" if "EAGAIN" in call else "added" if "EPOLL_CTL_ADD" in call else name
        threads.setdefault(thread, Counter())[named] += 1
    return max(threads.values(), key=lambda calls: calls["connect"])


@pytest.mark.alone
def test_answers_that_come_late(netmodel: Netmodel, profile: WriteProfile, strace: str, tmp_path: Path) -> None:
    """Hardly any look is in vain, since few are tried."""
    late = ask(10, 10).replace("/>", "/>" + op("think", "duration=5ms at=slave"), 1)
    path = profile(several(8, times(20, connect(), late, op("disconnect"))))
    document, lines = traced(netmodel, strace, path, tmp_path / "t", CALLS, args=("-t",))
    calls = client_calls(lines)
    assert counts(document, "counted") == (160, 1600, 1600)
    assert calls["connect"] == 160
    assert calls["added"] >= 140
    assert 1 <= calls["recvfrom EAGAIN"] <= 40


@pytest.mark.parametrize("flows", [2, 300])
@pytest.mark.parametrize(("request_bytes", "reply_bytes"), [(1, 1), (1, 300_000), (3_000_000, 1)])
def test_it_all_adds_up(
    netmodel: Netmodel, profile: WriteProfile, flows: int, request_bytes: int, reply_bytes: int
) -> None:
    """Also where messages go in parts, and with more flows than have their turn between two looks at events."""
    body = (connect(), ask(request_bytes, reply_bytes), ask(5, 5), op("disconnect"))
    document = check(netmodel.measure(profile(several(flows, times(2, *body))), "-t"))
    passes = 2 * flows
    assert counts(document, "counted") == (passes, passes * (request_bytes + 5), passes * (reply_bytes + 5))


def test_a_connection_that_is_not_open(netmodel: Netmodel, profile: WriteProfile) -> None:
    """Nothing is looked for on it."""
    failed = times(1, op("connect", "remotehost=local protocol=tcp timeout=1us canfail"), name="failed")
    reads = times(1, op("read", "size=10"), op("disconnect"), connect())
    done = netmodel.run("-m", profile(several(2000, failed, reads, times(1, op("disconnect")))), "-q", code=2)
    assert "Bad file descriptor" not in done.err


@pytest.mark.alone
def test_a_phase_ends_when_its_time_is_over(netmodel: Netmodel, profile: WriteProfile) -> None:
    """What main wants is heard though there always is a flow that can go on."""
    path = profile(several(1000, lasting("300ms", connect(), ask(1, 1), op("disconnect"))))
    phase = check(netmodel.measure(path))["groups"][0]["phases"][0]
    assert phase["transactions"] > 1000
    assert phase["seconds"] < 9, "though it is heard late on a slow CPU, it is before a limit of 10 s"


@pytest.mark.parametrize("by", ["client", "server"])
@pytest.mark.parametrize("flows", [1, 20])
@pytest.mark.parametrize("protocol", ["tcp", "ssl"])
def test_a_reset_loses_nothing(
    netmodel: Netmodel, profile: WriteProfile, by: str, flows: int, protocol: str
) -> None:
    """Also where the end that resets has sent more than the buffers of both hold."""
    request, answer = ("1m", "1") if by == "client" else ("1", "1m")
    body = connect(options=f"protocol={protocol}") + write(request)
    body += read(answer) if by == "server" else ""
    close = op("disconnect", f"close=rst by={by}")
    path = profile(group(times(8, body, close), strands=flows, kind='nthreads="1" nflows'))
    document = check(netmodel.measure(path))
    assert document["totals"]["transactions"] == 8 * flows


@pytest.mark.parametrize("pause", ["", op("think", "duration=3ms"), op("think", "duration=500us at=slave")])
@pytest.mark.parametrize("transport", ["tcp", "unix"])
@pytest.mark.parametrize(("kind", "flows"), [("connect", 9), ("accept", 40), ("connect", 300)])
def test_who_waits_for_a_reset_is_free_when_it_is_needed(
    netmodel: Netmodel, profile: WriteProfile, kind: str, flows: int, transport: str, pause: str
) -> None:
    """Though epoll was not told of it; and at the end nobody waits any more."""
    check_resets(netmodel, profile, flows, connect(options=f"protocol={transport}", kind=kind), pause)


def check_resets(
    netmodel: Netmodel, profile: WriteProfile, flows: int, opening: str, pause: str, prefix: tuple[str, ...] = ()
) -> None:
    ways = [ask(9, 7), pause, op("disconnect", "close=rst")], [pause, ask(9, 7), op("disconnect", "close=rst"), pause]
    bodies = [times(20, opening, *way, name=f"way{number}") for number, way in enumerate(ways)]
    phases = [*bodies, times(1, opening), times(50, ask(5, 5)), times(1, op("disconnect", "close=rst"))]
    document = check(netmodel.measure(profile(several(flows, *phases)), "--timeout", "4s", prefix=prefix))
    assert [phase_of(document, name)["transactions"] for name in ("way0", "way1")] == 2 * [20 * flows]


ONE_CPU = ("taskset", "-c", str(min(os.sched_getaffinity(0))))


@pytest.mark.parametrize("pause", ["", op("think", "duration=15ms at=slave")])
@pytest.mark.parametrize("transport", ["tcp", "mptcp", "unix"])
@pytest.mark.parametrize("kind", ["connect", "accept"])
def test_a_lone_flow_on_the_cpu_of_the_other_end(
    netmodel: Netmodel, profile: WriteProfile, kind: str, transport: str, pause: str
) -> None:
    """It is not woken by the reset, but by what comes next, or after a while."""
    check_resets(netmodel, profile, 1, connect(options=f"protocol={transport}", kind=kind), pause, ONE_CPU)


@pytest.mark.parametrize("pinned", [True, pytest.param(False, marks=pytest.mark.needs("second_cpu"))])
@pytest.mark.alone
def test_a_lone_flow_is_not_woken_by_resets(netmodel: Netmodel, strace: str, tmp_path: Path, pinned: bool) -> None:
    """But it is where they come in on another CPU."""
    cpus = sorted(os.sched_getaffinity(0))
    trace = tmp_path / "trace"
    mine, other = (("taskset", "-c", str(cpu)) for cpu in (cpus[0], cpus[0 if pinned else 1]))
    how = (*other, strace, "-f", "-qq", "-e", "trace=ppoll,accept4", "-o", str(trace))
    with netmodel.slave("--once", prefix=how) as slave:
        options = defines(host="127.0.0.1", num_transactions=1000)
        netmodel.measure("tcp_crr", "-P", str(slave.port), *options, prefix=mine)
        assert slave.process.finish().code == 0
    lines = trace.read_text().splitlines()
    worker, _ = Counter(line.split()[0] for line in lines if " accept4(" in line).most_common(1)[0]
    # Behind the epoll; a look at what has come has the connection first.
    for_resets = re.compile(r"ppoll\(\[\{fd=\d+, events=POLLIN\}, \{fd=\d+, events=[A-Z|]*POLLRDHUP")
    waits = [line for line in lines if line.split()[0] == worker and for_resets.search(line)]
    assert len(waits) < 100 if pinned else len(waits) > 800


@pytest.mark.alone
def test_a_lone_flow_waits_in_its_receives(
    netmodel: Netmodel, profile: WriteProfile, strace: str, tmp_path: Path
) -> None:
    """At the end that accepts, for a while, and only where each pass has a connection of its own."""
    slow = times(3, connect(), op("think", "duration=200ms at=master"), ask(3, 3), op("disconnect", "close=rst"))
    once = times(1, connect(), name="once")
    path = profile(group(slow, once, times(3, ask(3, 3), name="more"), times(1, op("disconnect"))))
    _, lines = traced(netmodel, strace, path, tmp_path / "t", "accept4,recvfrom,ppoll")
    acceptor, _ = Counter(line.split()[0] for line in lines if " accept4(" in line).most_common(1)[0]
    calls = [line.split(" ", 1)[1] for line in lines if line.split()[0] == acceptor]
    accepted = [number for number, call in enumerate(calls) if call.startswith("accept4(") and "EAGAIN" not in call]
    assert ["SOCK_NONBLOCK" in calls[number] for number in accepted] == [False, False, False, True]
    # The last connection is not that of a pass: what is given up on it goes to epoll.
    given_up = [
        number for number in range(accepted[-1]) if calls[number].startswith("recvfrom(") and "EAGAIN" in calls[number]
    ]
    slept = [number for number in given_up if ", 0, NULL" in calls[number]]
    # One for each think; a machine that is busy may take as long elsewhere, too.
    assert len(slept) >= 3
    assert all(calls[number + 1].startswith("ppoll(") for number in slept)


@pytest.mark.parametrize("prefix", [(), ONE_CPU])
@pytest.mark.alone
def test_limits_of_a_lone_flow(netmodel: Netmodel, profile: WriteProfile, prefix: tuple[str, ...]) -> None:
    """They begin with the wait, though receives have slept before it; here where the end that accepts measures."""
    slow = op("think", "duration=40ms at=slave")
    taking = connect(options="protocol=tcp timeout=1s", kind="accept")
    late = op("think", "duration=20ms at=slave") + op("disconnect", "close=rst timeout=100ms")
    body = times(3, taking, *[slow + read(3)] * 4, late)
    before = times(1, op("think", "duration=1200ms"), name="before")
    document = netmodel.measure(profile(group(before, body)), prefix=prefix)
    assert document["run"]["complete"], document["run"]
    assert phase_of(document, "counted")["transactions"] == 3


def test_main_is_heard_between_two_receives(netmodel: Netmodel, profile: WriteProfile) -> None:
    """Of one pass that lasts long."""
    long = times(1, connect(kind="accept"), *[op("think", "duration=30ms at=slave") + read(3)] * 2000, op("disconnect"))
    result = netmodel.run("-m", profile(group(long)), "-q", "--max-duration", "300ms", code=2)
    assert result.seconds < SOON_S, "a pass takes 60 s"


def lasts(netmodel: Netmodel, path: Path, least: float) -> float:
    """The seconds of the passes, which think for so long."""
    seconds = float(phase_of(check(netmodel.measure(path)), "counted")["seconds"])
    assert seconds >= least
    return seconds


@pytest.mark.alone
def test_what_follows_a_reset_begins_at_once(netmodel: Netmodel, profile: WriteProfile) -> None:
    """Also at the end that waits for it: both think at the same time."""
    think = op("think", "duration=5ms")
    path = profile(several(10, times(20, connect(), ask(1, 1), op("disconnect", "close=rst"), think)))
    at_most(lambda: lasts(netmodel, path, 0.1), 0.17)


@pytest.mark.alone
def test_a_connection_does_not_wait_for_a_reset_that_has_come(netmodel: Netmodel, profile: WriteProfile) -> None:
    """Though all flows of the end that accepts think when it comes: then it takes no longer than where none does."""
    think, close = op("think", "duration=300us at=slave"), op("disconnect", "close=rst")
    after = times(500, connect(), ask(1, 1), think, close, name="after")
    before = times(500, connect(), think, ask(1, 1), close, name="before")
    path = profile(several(8, after, before))

    def ratio() -> float:
        document = check(netmodel.measure(path))
        seconds = [float(phase_of(document, name)["seconds"]) for name in ("after", "before")]
        assert min(seconds) >= 0.15
        return seconds[0] / seconds[1]

    at_most(ratio, 1.4)


@pytest.mark.alone
def test_the_last_reset_is_not_waited_for(netmodel: Netmodel, profile: WriteProfile) -> None:
    """That of a connection after which none comes for its flow."""
    bodies = [times(1, connect(), ask(1, 1), op("disconnect", "close=rst"))] * 100
    path = profile(several(10, *bodies))

    def seconds() -> float:
        return float(sum(phase["seconds"] for phase in check(netmodel.measure(path))["groups"][0]["phases"]))

    at_most(seconds, 0.9)  # 10 ms for each of 100 would be a second


@pytest.mark.parametrize("transport", ["tcp", "unix"])
@pytest.mark.parametrize("kind", ["connect", "accept"])
def test_a_flow_may_open_one_after_the_other(netmodel: Netmodel, profile: WriteProfile, kind: str, transport: str) -> None:
    """Without closing any: the next may come before the other end has taken the one before."""
    opening = times(100, connect(options=f"protocol={transport}", kind=kind), name="open")
    check(netmodel.measure(profile(group(opening, times(100, read(4096), write(10)))), "--timeout", "2s"))


@pytest.mark.parametrize("body", [[], [read(8)]])
@pytest.mark.parametrize("kind", ["connect", "accept"])
def test_a_reset_may_come_before_the_connect_is_over(
    netmodel: Netmodel, profile: WriteProfile, kind: str, body: list[str]
) -> None:
    """What was sent before it is still there."""
    ops = [connect(kind=kind), *body, op("disconnect", "close=rst by=server")]
    document = check(netmodel.measure(profile(group(times(200, *ops), strands=2))))
    assert phase_of(document, "counted")["transactions"] == 400


@pytest.mark.parametrize("kind", ["connect", "accept"])
def test_sizes_are_those_of_the_connection(netmodel: Netmodel, profile: WriteProfile, kind: str) -> None:
    """Which one it is of its flow decides what both ends draw, so that the next must not be taken before it."""
    ops = [connect(kind=kind), write("rand(3,8192)"), op("disconnect", "close=fin")]
    document = check(netmodel.measure(profile(several(4, times(200, *ops)))))
    assert phase_of(document, "counted")["transactions"] == 800
