# SPDX-License-Identifier: Apache-2.0
"""How long netmodel's own servers serve a request: as the law says, and so that queues before them are those of the theory."""

from __future__ import annotations

import math
import re
import socket
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from nmtest import PATIENCE_S, Json, Netmodel, defines, free_port, phase_of, wait_until
from publics import ask, listens, public

WriteProfile = Callable[..., Path]


def wait_by_erlang(servers: int, load: float) -> float:
    """The mean time in the queue of M/M/c, in service times."""
    offered = servers * load
    last = offered**servers / math.factorial(servers) / (1 - load)
    busy = last / (sum(offered**k / math.factorial(k) for k in range(servers)) + last)
    return busy / (servers * (1 - load))


@pytest.mark.parametrize(("servers", "spread"), [(1, 0.3), (2, 0.2)])
def test_queues(servers: int, spread: float, netmodel: Netmodel) -> None:
    """Each connection of a client with open arrivals is one of the servers of M/M/c, with a load of one half. The bounds are three
    and four times what the mean of so many responses spreads by; the time of service is what it was here, with all that a busy
    machine adds to it."""
    rate = 125 * servers
    with public(netmodel, "ping", "--seed", "1", service="exp(4ms)") as server:
        more = defines(server=f"127.0.0.1:{server.port}", num_flows=servers, arrivals=f"poisson({rate}/s)", test_length="8s")
        totals = netmodel.measure("ping", *more, "--seed", "2")["totals"]
    answered = totals["outcomes"]["ok"]
    assert answered == totals["outcomes"]["requests"] == totals["latency_s"]["count"] == pytest.approx(8 * rate, rel=0.15)
    assert server.verbs() == {"ping": {"ok": answered}}
    latency, mean = totals["latency_s"], totals["latency_s"]["mean"]
    assert mean > 0.0035
    # Of an exponential law the deviation is the mean, and each quantile a known multiple of it.
    assert latency["stddev"] == pytest.approx(mean, rel=0.2)
    assert [latency[name] / mean for name in ("p50", "p90")] == pytest.approx([math.log(2), math.log(10)], rel=0.2)
    load = answered / 8 * mean / servers
    assert totals["response_s"]["mean"] / mean == pytest.approx(1 + wait_by_erlang(servers, load), rel=spread)


def test_the_capacity_divides_the_loads(netmodel: Netmodel, profile: WriteProfile) -> None:
    """A connection with many requests at a time is a queue with one server, which does 20 a second. With one request at a time it
    answers as ever, and the advice says how many are enough."""

    def load_of(rate: int, code: int, flows: int = 1, pipeline: int = 256) -> Json:
        body = f"""<group nflows="{flows}">
          <transaction><flowop type="connect" options="remotehost=local app=ping server=127.0.0.1:{server.port}"/></transaction>
          <transaction name="ask" measure="yes" duration="3s" pipeline="{pipeline}" arrivals="const({rate}/s)">
            <flowop type="ping" options="timeout=30s"/></transaction></group>"""
        document = netmodel.run("-m", profile(body), "--strict", "--format", "json", code=code).json()
        load: Json = phase_of(document, "ask")["load"]
        return load

    with public(netmodel, "ping", service="50ms") as server:
        below, over = load_of(18, code=0), load_of(30, code=4)
        alone = load_of(45, code=4, pipeline=1)
        advised = re.search(r": use nflows=(\d+)", alone["advice"])
        assert alone["verdict"] == "connections" and advised, alone
        assert load_of(45, code=0, flows=int(advised[1]), pipeline=1)["verdict"] == "ok"
    assert (below["verdict"], over["verdict"]) == ("ok", "overload"), (below, over)
    # In each second half a second of service is due that is not done.
    assert over["backlog_per_s"] == pytest.approx(10, rel=0.15)
    assert over["backlog_per_s"] / over["achieved_per_s"] == pytest.approx(0.5, rel=0.15)
    assert f": the backlog grows by {over['backlog_per_s']:.3g}/s, and response times by 0." in over["advice"]


def test_a_request_takes_what_the_law_says(netmodel: Netmodel) -> None:
    """The mean of some 200 draws, and what a busy machine adds."""
    with public(netmodel, "ping", "--seed", "1", service="exp(80ms)") as server:
        more = defines(server=f"127.0.0.1:{server.port}", num_flows=8, test_length="2s")
        latency = netmodel.measure("ping", *more)["totals"]["latency_s"]
    assert latency["count"] > 100
    assert 0.06 < latency["mean"] < 0.11


def test_connections_are_served_at_a_time_and_keep_their_order(netmodel: Netmodel) -> None:
    with public(netmodel, "memcache", service="250ms", num_flows=4) as server:
        clients = [socket.create_connection(("127.0.0.1", server.port), PATIENCE_S) for _ in range(4)]
        begin = time.monotonic()
        for client in clients:
            client.sendall(b"set k 0 0 1\r\nx\r\nget k\r\n")
        for client in clients:
            answer = b""
            while not answer.endswith(b"END\r\n"):
                answer += client.recv(100)
            client.close()
            assert answer == b"STORED\r\nVALUE k 0 1\r\nx\r\nEND\r\n"
        seconds = time.monotonic() - begin
    assert seconds >= 0.5, "one request after the other"
    assert seconds < 2, "all connections at a time"
    assert server.verbs() == {"set": {"ok": 4}, "get": {"hits": 4}}


def test_the_same_seed_is_the_same_service(netmodel: Netmodel) -> None:
    """For requests of the same number; a connection that follows another draws anew."""

    def least(seed: int) -> list[float]:
        times = []
        with public(netmodel, "ping", "--seed", str(seed), service="rand(10ms,400ms)", num_flows=1) as server:
            for _ in range(3):
                begin = time.monotonic()
                assert ask(server, b"PING\r\n", 6) == b"PONG\r\n"
                times.append(time.monotonic() - begin)
        return times

    first, again, other = least(1), least(1), least(2)
    assert first == pytest.approx(again, abs=0.1)
    assert first != pytest.approx(other, abs=0.1)
    assert max(first) - min(first) > 0.1


def test_its_time_ends_what_is_served(netmodel: Netmodel) -> None:
    port = free_port()
    words = defines(app="ping", port=port, test_length="1s", service="1h")
    with netmodel.started("-m", "server", *words) as process:
        wait_until(lambda: listens(port), what="it listens")
        with socket.create_connection(("127.0.0.1", port), PATIENCE_S) as client:
            client.sendall(b"PING\r\n")
            client.settimeout(PATIENCE_S)
            assert client.recv(10) == b""
        assert process.finish().code == 0
