# SPDX-License-Identifier: Apache-2.0
"""Masters that ask for more than a slave gives, or send what they may not: each is refused, and the refusal says why."""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from hostile import HELLO, PROTOCOL, Body, Lie, bomb, lying, message, receive
from nmtest import (
    FOR_LONG,
    PATIENCE_S,
    Netmodel,
    Node,
    Slave,
    assert_complete,
    defines,
    in_namespace,
    resident_bytes,
    wait_until,
)

RUN = ["-m", "tcp_rr", "--format", "json", "-i", "0", "-D", "test_length=100ms"]


def asks(name: str, value: object) -> Lie:
    return lambda word, body: message(word, {**body, name: value}) if word == "prepare" else None


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("interval_ns", 1, "intervals of 1 ns are asked for, and it allows none below 1 ms"),
        ("interval_ns", 999_999, "intervals of 999999 ns are asked for"),
        ("timeout_ns", 1, "a timeout of 1 ns is asked for, and it allows none below 400 ms"),
        ("details", 1 << 31, 'a wrong message "prepare"'),
        ("profile", "x" * ((1 << 20) + 1), 'a wrong message "prepare"'),
        ("file", "x" * 2_300_000, "a message of 2301"),
    ],
    ids=["interval", "less than a millisecond", "timeout", "details", "profile", "too long"],
)
def test_more_than_a_slave_allows(netmodel: Netmodel, slave: Slave, name: str, value: object, why: str) -> None:
    with lying(slave, of_master=asks(name, value)) as liar:
        result = netmodel.run(*RUN, *liar.args)
    assert result.code == 2, result
    assert f"slave 127.0.0.1: refused: {why}" in result.err, result


def test_the_limits_of_a_session_are_named(netmodel: Netmodel) -> None:
    with netmodel.slave("--max-flows", "3", "--max-memory", "32m") as slave:
        far = ["-P", str(slave.port), *defines(host="127.0.0.1")]
        result = netmodel.run(*RUN, *far, *defines(num_flows=4), code=2)
        assert "4 flows are asked for, and it allows 3 (--max-flows)" in result.err, result
        assert_complete(netmodel.measure("tcp_rr", *far, *defines(test_length="50ms")))


def test_a_session_has_its_memory(netmodel: Netmodel, profile: Callable[..., Path]) -> None:
    path = profile(
        '<group nthreads="64" workers="64" buffer="1m"><transaction iterations="1"><flowop type="connect" '
        'options="remotehost=127.0.0.1"/><flowop type="write" options="size=10"/></transaction></group>'
    )
    with netmodel.slave("--max-memory", "32m") as slave:
        result = netmodel.run("-m", path, "-P", str(slave.port))
        assert result.code == 2, result
        assert "a session may have 32 MiB of memory (--max-memory)" in result.err, result
        assert slave.process.running()


@pytest.mark.parametrize("greets", [False, True])
def test_a_message_of_63_mib_costs_nothing(netmodel: Netmodel, slave: Slave, greets: bool) -> None:
    sent = bomb("prepare" if greets else "hello")
    with socket.create_connection(("127.0.0.1", slave.port), timeout=PATIENCE_S) as master:
        if greets:
            master.sendall(HELLO)
            assert receive(master)[0] == "welcome"
        began = time.monotonic()
        master.setblocking(False)
        at, most = 0, 0
        answer = b""
        while not answer and time.monotonic() - began < PATIENCE_S:
            try:
                at += master.send(sent[at : at + 65536])
            except BlockingIOError:
                pass
            except OSError:
                break
            most = max([most, *(resident_bytes(pid) for pid in slave.sessions())])
            try:
                answer = master.recv(65536)
            except BlockingIOError:
                pass
        assert b"refuse" in answer, answer
        assert b"longer than" in answer, answer
        assert most < 100_000_000
    wait_until(lambda: not slave.sessions(), what="its session has ended")


def test_a_master_that_only_lives_is_sent_away(netmodel: Netmodel) -> None:
    """It says hello, and then nothing but that it is there."""
    with netmodel.slave() as slave, socket.create_connection(("127.0.0.1", slave.port), timeout=PATIENCE_S) as master:
        master.sendall(HELLO)
        assert receive(master)[0] == "welcome"
        began = time.monotonic()
        word, body = "heartbeat", Body()
        master.settimeout(1)
        while word == "heartbeat" and time.monotonic() - began < PATIENCE_S:
            master.sendall(message("heartbeat", {"progress": int(time.monotonic() * 1000)}))
            try:
                word, body, _ = receive(master)
            except TimeoutError:
                continue
        assert word == "refuse"
        assert body["code"] == "timeout"
        assert body["text"].startswith("the master has sent no order to prepare for 10")
        assert 9 < time.monotonic() - began
        wait_until(lambda: not slave.sessions(), what="its session has ended")
        assert_complete(netmodel.measure("tcp_rr", "-P", str(slave.port), *defines(host="127.0.0.1", test_length="50ms")))


def test_a_master_that_orders_no_phase_is_sent_away(netmodel: Netmodel) -> None:
    """All is set up; then the orders of the master are lost, and its heartbeats are not."""
    over = []

    def loses(word: str, body: Body) -> bytes | None:
        if word == "prepare":
            return message(word, {**body, "timeout_ns": 400_000_000})
        return b"" if word in ("begin", "finish") else None

    def hears(word: str, body: Body) -> bytes | None:
        over.append((word, body))
        return None

    with netmodel.slave("--timeout", "2s") as slave, lying(slave, hears, loses) as liar:
        result = netmodel.run(*RUN, "--timeout", FOR_LONG, *liar.args)
        assert result.code == 2, result
    assert any(word == "failed" and "no word of a phase or of progress" in body["text"] for word, body in over), over


def says(wanted: str, *instead: tuple[str, Body]) -> Lie:
    """One message becomes others."""
    return lambda word, body: b"".join(message(*one) for one in instead) if word == wanted else None


ORDERS: dict[str, tuple[str, str, Body]] = {
    "hello again": ("prepare", "hello", {"magic": "netmodel", "protocol": PROTOCOL, "version": "x"}),
    "a phase before all is set up": ("connect", "begin", {"phase": 0}),
    "no listeners": ("connect", "connect", {"endpoints": {}}),
    "listeners of no group": ("connect", "connect", {"endpoints": [[99, 0, ["1"]]]}),
    "a phase that is not there": ("begin", "begin", {"phase": 99}),
    "the end of a phase that has not begun": ("begin", "follow", {"phase": 0, "group": 0, "totals": [1]}),
    "a group that is not there": ("follow", "follow", {"phase": 0, "group": 99, "totals": [1]}),
    "fewer workers": ("follow", "follow", {"phase": 0, "group": 0, "totals": []}),
    "a negative number": ("follow", "follow", {"phase": 0, "group": 0, "totals": [-1]}),
    "a stop of whom it does not lead": ("follow", "stop", {"phase": 1, "group": 0}),
    "connections of no group": ("finish", "renew", {"group": 99}),
    "a delay that is a text": ("begin", "delay", {"ns": "1"}),
    "a goodbye too early": ("begin", "bye", {}),
    "a result of its own": ("begin", "result", {}),
}


@pytest.mark.parametrize("name", ORDERS)
def test_a_wrong_order_ends_the_session(netmodel: Netmodel, slave: Slave, name: str) -> None:
    wanted, word, body = ORDERS[name]
    with lying(slave, of_master=says(wanted, (word, body))) as liar:
        result = netmodel.run(*RUN, *liar.args)
    assert result.code == 2, result
    assert re.search(r"slave 127\.0\.0\.1: .*a (wrong )?message (out of turn, )?\"" + word, result.err), result
    wait_until(lambda: not slave.sessions(), what="its session has ended")
    assert "signal" not in slave.process.err, "it has not crashed"


def test_heartbeats_without_end_are_refused(netmodel: Netmodel, slave: Slave) -> None:
    with lying(slave, of_master=says("begin", *[("heartbeat", {"progress": 0})] * 100_000)) as liar:
        result = netmodel.run(*RUN, *liar.args)
    assert result.code == 2, result
    assert "a message too many: no more than 5000 a second" in result.err, result


def test_held_places_go_to_those_who_use_them(netmodel: Netmodel, slave: Slave) -> None:
    """64 connections have said hello and stay alive: the next master is served all the same."""
    with ExitStack() as stack:
        held = []
        for _ in range(64):
            held.append(stack.enter_context(socket.create_connection(("127.0.0.1", slave.port), timeout=PATIENCE_S)))
            held[-1].sendall(HELLO)
            assert receive(held[-1])[0] == "welcome"
        time.sleep(1.2)  # so long each has its place
        for one in held:
            one.sendall(message("heartbeat", {"progress": 0}))
        for _ in range(2):
            document = netmodel.measure("tcp_rr", "-P", str(slave.port), *defines(host="127.0.0.1", test_length="50ms"))
            assert_complete(document)
        word, body, _ = receive(held[0])
        while word == "heartbeat":
            word, body, _ = receive(held[0])
        assert word == "refuse"
        assert body["text"].startswith("another master has its place")


def test_another_host_has_its_share_of_the_places(netmodel: Netmodel, nodes: Callable[[int], list[Node]]) -> None:
    here, there = nodes(2)
    with netmodel.slave("--no-auth", prefix=there.prefix) as slave, in_namespace(here.namespace), ExitStack() as stack:
        for number in range(17):
            master = stack.enter_context(socket.create_connection((there.address, slave.port), timeout=PATIENCE_S))
            master.sendall(HELLO)
            word, body, _ = receive(master)
            assert word == ("welcome" if number < 16 else "refuse"), body
        assert body["code"] == "busy"
        assert f"it serves 16 sessions of {here.address} already" in body["text"]
        # Those that say nothing hold each other's places only, and are taken at a pace.
        for _ in range(200):
            stack.enter_context(socket.create_connection((there.address, slave.port), timeout=PATIENCE_S))
        time.sleep(0.3)  # what is taken too many would have come by then
        assert len(slave.sessions()) <= 16 + 16 + 1
        far = ["-P", str(slave.port), *defines(host="127.0.0.1", test_length="50ms")]
        document = netmodel.measure("tcp_rr", *far, prefix=there.prefix)
        assert_complete(document)
