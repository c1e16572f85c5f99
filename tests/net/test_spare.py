# SPDX-License-Identifier: Apache-2.0
"""A lone flow with a connection for each pass does, while it waits, what the other end need not wait for."""

from __future__ import annotations

import os
import re
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from compose import ask, check, connect, group, op, read, times, write
from nmtest import TRACED, Netmodel, limit_descriptors, traced, wait_until

WriteProfile = Callable[..., Path]

CALLS = "socket,setsockopt,connect,accept4,sendto,recvfrom,ppoll,close"
RESET = op("disconnect", "close=rst")
PASSES = 50


def calls_of(lines: list[str], first: str) -> Iterator[str]:
    """The calls of the thread that makes most of a kind."""
    threads: dict[str, list[str]] = {}
    for line in lines:
        thread, call = line.split(" ", 1)
        threads.setdefault(thread, []).append(call)
    return iter(max(threads.values(), key=lambda calls: sum(call.startswith(f"{first}(") for call in calls)))


def between(calls: Iterator[str], begin: str, end: str) -> Iterator[list[str]]:
    """What is called from one call to the next of another kind."""
    found: list[str] | None = None
    for call in calls:
        if found is not None and call.startswith(f"{end}("):
            yield found
            found = None
        elif found is not None:
            found.append(call)
        if call.startswith(f"{begin}("):
            found = []


def left_open(calls: Iterator[str]) -> set[str]:
    """Sockets that are made, or accepted, and not closed."""
    held: set[str] = set()
    seen = 0
    for call in calls:
        if found := re.match(r"(?:socket|accept4)\(.*= (\d+)$", call):
            held.add(found[1])
            seen += 1
        elif found := re.match(r"close\((\d+)\)", call):
            held.discard(found[1])
    assert seen >= 11
    return held


def names(calls: list[str]) -> list[str]:
    return [call.split("(", 1)[0] for call in calls]


@pytest.mark.parametrize("options", ["protocol=tcp", "protocol=tcp nodelay source_port=0", "protocol=mptcp"])
def test_the_next_socket_is_made_while_the_answer_is_on_its_way(
    netmodel: Netmodel, profile: WriteProfile, strace: str, tmp_path: Path, options: str
) -> None:
    path = profile(group(times(PASSES, connect(options=options), ask(9, 7), RESET)))
    document, lines = traced(netmodel, strace, path, tmp_path / "t", CALLS)
    assert check(document)["totals"]["transactions"] == PASSES
    waits = list(between(calls_of(lines, "connect"), "sendto", "ppoll"))
    assert len(waits) == PASSES
    for calls in waits:
        assert names(calls)[:2] == ["setsockopt", "socket"]
        assert "SO_LINGER, {l_onoff=1, l_linger=0}" in calls[0]
    for calls in between(calls_of(lines, "connect"), "recvfrom", "connect"):
        assert "close" in names(calls)
        assert "socket" not in names(calls)
        assert not any("SO_LINGER" in call for call in calls)


@pytest.mark.parametrize("transport", ["tcp", "unix"])
def test_who_has_answered_closes_what_was_reset_before(
    netmodel: Netmodel, profile: WriteProfile, strace: str, tmp_path: Path, transport: str
) -> None:
    path = profile(group(times(PASSES, connect(options=f"protocol={transport}"), ask(9, 7), RESET)))
    _, lines = traced(netmodel, strace, path, tmp_path / "t", CALLS)
    turns = [names(calls) for calls in between(calls_of(lines, "accept4"), "accept4", "accept4")]
    assert "close" not in turns[0]
    for calls in turns[1:]:
        # Before it waits, and not before the next is taken.
        assert calls.count("close") == 1
        assert calls[calls.index("close") + 1] == "ppoll"
        assert calls[-1] == "ppoll"


def test_the_other_end_waits_for_a_close_in_order(
    netmodel: Netmodel, profile: WriteProfile, strace: str, tmp_path: Path
) -> None:
    """So that is not left for later."""
    path = profile(group(times(PASSES, connect(), ask(9, 7), op("disconnect"))))
    _, lines = traced(netmodel, strace, path, tmp_path / "t", CALLS)
    answers = list(between(calls_of(lines, "accept4"), "sendto", "ppoll"))
    assert len(answers) == PASSES
    assert not any(answers)
    waits = list(between(calls_of(lines, "connect"), "sendto", "ppoll"))
    assert len(waits) == PASSES
    assert not any("SO_LINGER" in line for line in lines)


def test_nothing_is_left_open(netmodel: Netmodel, profile: WriteProfile, strace: str, tmp_path: Path) -> None:
    """Neither a socket that no pass needs any more, nor what was reset last."""
    passes = times(5, connect(), ask(9, 7), RESET)
    path = profile(group(passes, times(1, connect()), times(5, ask(3, 3)), times(1, RESET), passes))
    _, lines = traced(netmodel, strace, path, tmp_path / "t", CALLS)
    assert not left_open(calls_of(lines, "connect"))
    assert not left_open(calls_of(lines, "accept4"))


@pytest.mark.parametrize("answers", [True, False])
def test_no_pass_leaves_one_behind(netmodel: Netmodel, profile: WriteProfile, answers: bool) -> None:
    """Also where the end that accepts never waits: on the CPU of the other end, with nothing to answer."""
    body = (connect(), ask(9, 7) if answers else write(9), RESET)
    one_cpu = ("taskset", "-c", str(min(os.sched_getaffinity(0))))
    check(netmodel.measure(profile(group(times(3000, *body))), prefix=one_cpu, before=limit_descriptors(300)))


def test_a_close_that_lingers_does_so(netmodel: Netmodel, profile: WriteProfile, strace: str, tmp_path: Path) -> None:
    """Where another connection of the pass ends with a reset."""
    first = (connect(), ask(9, 7), op("disconnect", "linger=2s"))
    path = profile(group(times(5, *first, connect(kind="accept"), ask(9, 7), RESET)))
    _, lines = traced(netmodel, strace, path, tmp_path / "t", CALLS)
    lingers = Counter(re.findall(r"l_onoff=\d, l_linger=\d", line)[0] for line in lines if "SO_LINGER" in line)
    assert lingers == {"l_onoff=1, l_linger=2": 5, "l_onoff=1, l_linger=0": 5}


def who_waits(trace: Path) -> str | None:
    """Whose last call waits on a connection, after sockets were made."""
    calls: dict[str, list[str]] = {}
    for line in trace.read_text().splitlines() if trace.exists() else ():
        number, call = line.split(" ", 1)
        calls.setdefault(number, []).append(call.strip())
    for number, made in calls.items():
        if "POLLRDHUP" in made[-1] and sum("SOCK_NONBLOCK" in call for call in made) > 1:
            return number
    return None


def test_a_process_that_dies_has_its_own_descriptors(
    netmodel: Netmodel, profile: WriteProfile, strace: str, tmp_path: Path
) -> None:
    """Their numbers mean nothing to the master."""
    path = profile(group(times(1, connect(), write(9), op("think", "duration=30s at=slave"), read(7), RESET), kind="nprocs"))
    trace = tmp_path / "t"
    prefix = (strace, "-f", "-qq", "-e", "trace=close,ppoll,socket", "-o", str(trace))
    with netmodel.started("-m", path, prefix=prefix, env=TRACED) as tracer:
        worker = wait_until(lambda: who_waits(trace), what="the worker has made a socket, and waits")
        os.kill(int(worker), signal.SIGKILL)
        assert tracer.finish().code == 2
    assert "EBADF" not in trace.read_text()


def test_every_pass_has_the_options_of_its_own_connect(netmodel: Netmodel, profile: WriteProfile, strace: str, tmp_path: Path) -> None:
    """A socket is not made for one connect and taken by another."""
    two = connect(options="protocol=tcp"), ask(9, 7), RESET, connect(options="protocol=tcp sndbuf=50k"), ask(9, 7), RESET
    path = profile(group(times(5, *two), times(5, connect(options="protocol=tcp sndbuf=60k"), ask(9, 7), RESET)))
    document, lines = traced(netmodel, strace, path, tmp_path / "t", CALLS)
    check(document)
    sizes = [
        [int(found[1]) for call in calls if (found := re.search(r"SO_SNDBUF, \[(\d+)\]", call))]
        for calls in sockets(calls_of(lines, "connect"))
    ]
    assert sizes[:10] == [[], [51200]] * 5
    assert sizes[10:15] == [[61440]] * 5


def sockets(calls: Iterator[str]) -> list[list[str]]:
    """What is set on each that is connected, in the order of their connects."""
    settings: dict[str, list[str]] = {}
    found = []
    for call in calls:
        if made := re.match(r"socket\(.*= (\d+)$", call):
            settings[made[1]] = []
        elif named := re.match(r"(setsockopt|connect)\((\d+),", call):
            if named[1] == "connect":
                found.append(settings.get(named[2], []))
            else:
                settings.setdefault(named[2], []).append(call)
    return found
