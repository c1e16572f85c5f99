# SPDX-License-Identifier: Apache-2.0
"""Passes with open arrivals that wait: how many may, how long, and what becomes of the others."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from keyed import counts
from nmtest import Netmodel, assert_complete, phase_of, wait_until
from test_apps import serving

WriteProfile = Callable[..., Path]


def once(number: int, _line: bytes) -> list[bytes]:
    """Each connection has one answer."""
    return [] if number else [b"PONG\r\n"]


def asking(server: str, limit: str, attributes: str, flows: int = 2) -> str:
    connect = f'<flowop type="connect" options="remotehost=local app=ping server={server} reconnect=30s"/>'
    return f"""<group nflows="{flows}"><transaction>{connect}</transaction>
      <transaction name="ask" duration="1s" arrivals="const(100/s)" {attributes}><flowop type="ping" options="timeout={limit}"/></transaction></group>"""


@pytest.mark.parametrize(
    ("attributes", "queue", "late", "unsent"),
    [
        ('drain="10ms"', 0, 0, 96),
        ('queue="3" drain="10ms"', 93, 0, 3),
        ('queue="0"', 96, 0, 0),
        # The last was due 205 ms before the end of the drain.
        ('late="drop(100ms)" drain="200ms"', 0, 96, 0),
        ('late="send" drain="10ms"', 0, 0, 96),
        ('queue="3" late="drop(100ms)" drain="200ms"', 93, 3, 0),
    ],
)
def test_a_server_that_answers_no_more(attributes: str, queue: int, late: int, unsent: int, netmodel: Netmodel, profile: WriteProfile) -> None:
    """Two of a hundred are answered, two keep the flows busy to the end, and each of the others is in one class."""
    with serving(once) as server:
        document = netmodel.measure(profile(asking(server.place, "1500ms", attributes)))
    assert_complete(document)
    load = phase_of(document, "ask")["load"]
    assert [load[name] for name in ("due", "failed", "dropped_queue", "dropped_late", "unsent")] == [100, 2, queue, late, unsent]
    assert counts(document)["timed_out"] == 2
    failing = document["totals"]["with_failures"]
    assert failing["failures"] == 98
    # What never began has no service time: of the four that began two were not answered.
    assert (failing["latency_s"]["p50"] is None, failing["latency_s"]["p99"], failing["response_s"]["p50"]) == (False, None, None)
    assert load["verdict"] == "errors" and "and 96 of the 100 that were due never began" in load["advice"]


@pytest.mark.parametrize("attributes", ['queue="0"', 'queue="4"', 'late="drop(30ms)"', 'queue="4" late="drop(30ms)"', 'drain="50ms"', ""])
def test_a_slow_server(attributes: str, netmodel: Netmodel, profile: WriteProfile) -> None:
    """It answers 40 a second, of 100: what began was answered, and with its failures the median of all that was due has no end."""
    with serving(lambda _number, _line: [b"", b"PONG\r\n"], pause=0.05) as server:
        path = profile(asking(server.place, "10s", attributes))
        document = netmodel.measure(path, "--require", "latency.p99 <= 9s response.p99 <= 9s", code=4 if attributes else 0)
    assert_complete(document)
    assert [required["met"] for required in document["requirements"]] == [True, not attributes]
    of = phase_of(document, "ask")
    load = of["load"]
    never = load["dropped_queue"] + load["dropped_late"] + load["unsent"]
    assert load["due"] == 100 == of["transactions"] + never and load["failed"] == 0
    assert bool(load["dropped_queue"]) == ("queue" in attributes) and bool(load["unsent"]) == ("drain" in attributes)
    if "drop(" in attributes:
        # The last of four waits for 100 ms.
        assert load["dropped_late"] > 0
        # Who began had waited for 30 ms at most, but for what this end takes to begin it.
        assert of["send_delay_s"]["max"] < 0.030 + 0.050
    assert load["verdict"] in ("connections", "overload")
    for name in ("queue", "late"):
        assert (f"{name} dropped" in load["advice"]) == bool(load[f"dropped_{name}"])
    if not never:
        assert "with_failures" not in document["totals"]
        return
    failing = document["totals"]["with_failures"]
    assert failing["failures"] == never > 40
    assert failing["response_s"]["p99"] is None and "latency_s" not in failing


def test_what_is_dropped_is_in_the_window_that_it_was_due_in(netmodel: Netmodel, profile: WriteProfile) -> None:
    """The server is silent from 0.2 to 1.1 s: of the 20 that are due in 200 ms none begins, and of the 80 of the window 19 are answered at once."""
    with serving(lambda number, _line: [b"PONG\r\n"] if number != 19 else [b"", b"PONG\r\n"], pause=0.9) as server:
        path = profile(asking(server.place, "10s", 'queue="0"', 1).replace('duration="1s"', 'duration="1400ms"'))
        words = ("-i", "200ms", "--cooldown", "600ms", "--require", "response.p50 <= 500ms")
        document = netmodel.measure(path, *words, code=4)
    failures = [row.get("with_failures", {"failures": 0})["failures"] for row in document["intervals"]]
    assert all(10 <= count <= 30 for count in failures[1:5]), failures
    totals = document["totals"]
    assert totals["with_failures"]["failures"] > 40 and totals["with_failures"]["response_s"]["p50"] is None


def test_an_interrupt_shortens_a_drain(netmodel: Netmodel, profile: WriteProfile) -> None:
    """Thirty are due, of which each takes 300 ms: three of them after the interrupt, as what waits has a second from then on."""
    with serving(lambda _number, _line: [b"", b"PONG\r\n"], pause=0.3) as server:
        path = profile(asking(server.place, "10s", 'drain="60s"', 1).replace('duration="1s"', 'duration="300ms"'))
        with netmodel.started("-m", path, "--format", "json") as master:
            wait_until(lambda: sum(server.connections) >= 3)
            master.signal(signal.SIGINT)
            result = master.finish()
    assert result.code == 130, result
    of = phase_of(result.json(), "ask")
    assert of["load"]["unsent"] > 10 and of["load"]["due"] == 30 == of["load"]["unsent"] + of["transactions"]


def test_the_queue_is_shared_by_the_workers(netmodel: Netmodel, profile: WriteProfile) -> None:
    """Of five places three workers have two, two and one."""
    with serving(once) as server:
        text = asking(server.place, "1500ms", 'queue="5" drain="10ms"', 3).replace("<group ", '<group nthreads="3" ')
        document = netmodel.measure(profile(text))
    load = phase_of(document, "ask")["load"]
    assert [load[name] for name in ("due", "failed", "dropped_queue", "unsent")] == [100, 3, 89, 5]


def test_a_queue_that_is_long_enough_drops_nothing(netmodel: Netmodel, profile: WriteProfile) -> None:
    with serving(lambda _number, _line: [b"PONG\r\n"]) as server:
        document = netmodel.measure(profile(asking(server.place, "10s", 'queue="100" late="drop(5s)"')))
    load = phase_of(document, "ask")["load"]
    assert load["dropped_queue"] == load["dropped_late"] == load["unsent"] == load["failed"] == 0 < load["due"] == 100


def test_what_connections_have_room_for_does_not_wait(netmodel: Netmodel, profile: WriteProfile) -> None:
    """Sixteen become due at a time, and one connection may have four times as many."""
    with serving(lambda _number, _line: [b"PONG\r\n"]) as server:
        text = asking(server.place, "10s", 'queue="0" pipeline="64"', 1).replace("const(100/s)", "burst(160/s,1us,100ms)")
        document = netmodel.measure(profile(text))
    of = phase_of(document, "ask")
    assert (of["load"]["due"], of["load"]["dropped_queue"], of["transactions"]) == (160, 0, 160)


def test_what_waits_for_room_is_limited(netmodel: Netmodel, profile: WriteProfile) -> None:
    """Two connections with four each, of which one is answered and no more, and three wait."""
    with serving(once) as server:
        document = netmodel.measure(profile(asking(server.place, "1500ms", 'queue="3" drain="10ms" pipeline="4"')))
    load = phase_of(document, "ask")["load"]
    assert [load[name] for name in ("due", "failed", "dropped_queue", "unsent")] == [100, 8, 87, 3]


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ('late="drop"', 'late="drop": must be send, or drop(TIME) with a time above 0, as drop(5ms)'),
        ('late="drop(0ms)"', 'late="drop(0ms)": must be send, or drop(TIME)'),
        ('late="drop(5ms) "', 'late="drop(5ms) ": must be send, or drop(TIME)'),
        ('late="drop(5m)"', 'late="drop(5m)": must be send, or drop(TIME)'),
        ('queue="1000001"', 'queue="1000001": must be 0 to 1000000'),
        ('queue="some"', 'queue="some"'),
        ('drain="5"', ""),
    ],
)
def test_mistakes(attributes: str, message: str, netmodel: Netmodel, profile: WriteProfile) -> None:
    result = netmodel.run("-m", profile(asking("127.0.0.1:1", "1s", attributes)), "--check")
    assert (result.code, message in result.err) == (1 if message else 0, True), result.err


@pytest.mark.parametrize(
    ("attributes", "shown"),
    [
        ("", "drain 5s"),
        ('late="send" drain="0s"', "drain 0s"),
        ('queue="0" late="drop(30ms)" drain="1ms"', "queue 0, drops what is late by 30ms, drain 1ms"),
        ('drain="18446744073s"', "drain 1000000000s"),
    ],
)
def test_the_plan_has_them(attributes: str, shown: str, netmodel: Netmodel, profile: WriteProfile) -> None:
    plan = netmodel.run("-m", profile(asking("127.0.0.1:1", "1s", attributes)), "--dump-plan", code=0)
    assert f"arrivals const(100/s), {shown}, leads" in plan.out


def test_a_drain_may_be_long(netmodel: Netmodel, profile: WriteProfile) -> None:
    """What --timeout allows after the time of a phase, five times it and the longest wait, 5 s here, begins when the drain is over."""
    with serving(lambda _number, _line: [b"", b"PONG\r\n"], pause=0.3) as server:
        text = asking(server.place, "600ms", 'drain="60s"', 1).replace("reconnect=30s", "timeout=400ms")
        path = profile(text.replace('duration="1s"', 'duration="100ms"').replace("const(100/s)", "const(200/s)"))
        document = netmodel.measure(path, "--timeout", "400ms")
    assert_complete(document)
    load = phase_of(document, "ask")["load"]
    assert load["due"] == 20 == phase_of(document, "ask")["transactions"] + load["failed"]


@pytest.mark.parametrize("attribute", ['queue="3"', 'late="send"', 'drain="1s"'])
def test_only_with_arrivals(attribute: str, netmodel: Netmodel, profile: WriteProfile) -> None:
    text = asking("127.0.0.1:1", "1s", attribute).replace('arrivals="const(100/s)"', "")
    result = netmodel.run("-m", profile(text), "--check", code=1)
    assert f"{attribute}: only with arrivals" in result.err
