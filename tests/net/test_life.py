# SPDX-License-Identifier: Apache-2.0
"""Connections that last for so many requests or for so long, and are opened anew between two requests."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from keyed import counts
from nmtest import Json, Netmodel, assert_complete, assert_ends_agree, line_of, master_of, phase_of
from partners import nginx
from test_apps import Server, pong, serving

WriteProfile = Callable[..., Path]


def living(connect: str, ask: str = '<flowop type="ping"/>', how: str = 'iterations="100"', attributes: str = "nflows='3'", more: str = "") -> str:
    return (
        f'<group {attributes}><transaction>\n<flowop type="connect" options="remotehost=local {connect}"/>{more}</transaction>\n'
        f'<transaction name="ask" measure="yes" {how}>{ask}</transaction>\n<transaction><flowop type="disconnect"/></transaction></group>'
    )


def opened(document: Json) -> tuple[int, int]:
    """Connections that the master has opened, and of those that it had the ones that it has replaced."""
    of = master_of(document)["counts"]
    return of["connects"], of["retired"]


def asked_over(server: Server) -> list[int]:
    """The requests of each connection, but for the first, by which netmodel looks whether the server is there."""
    return server.connections[1:]


@pytest.mark.parametrize("protocol", ["tcp", "ssl", "unix"])
def test_requests_at_both_ends(protocol: str, netmodel: Netmodel, profile: WriteProfile) -> None:
    """100 requests are 15 connections of 7, the last of which is not over."""
    document = netmodel.measure(profile(living(f"app=ping requests=7 protocol={protocol}", attributes="nflows='3' nthreads='2'")))
    assert_complete(document)
    assert_ends_agree(document)
    assert opened(document) == (3 * 15, 3 * 14)
    assert counts(document)["requests"] == counts(document)["ok"] == 300


@pytest.mark.parametrize("app", ["ping", "echo", "http", "memcache", "redis"])
def test_one_flow(app: str, netmodel: Netmodel, profile: WriteProfile) -> None:
    """Of which each end would wait at its only connection."""
    ask = {"ping": "ping", "echo": "echo", "http": "http", "memcache": "get", "redis": "get"}[app]
    keys = "keys=k" if ask == "get" else ""
    body = living(f"app={app} requests=1", f'<flowop type="{ask}" options="{keys}"/>', attributes="")
    document = netmodel.measure(profile('<keyspace name="k" count="10" length="8"/>' * bool(keys) + body))
    assert_ends_agree(document)
    assert opened(document) == (100, 99)


def test_the_number_is_drawn_for_each_connection(netmodel: Netmodel, profile: WriteProfile) -> None:
    body = living("app=ping server={} requests=uniform(1,9)", how='iterations="1000"', attributes="nflows='2'")
    lines = []
    for seed in (1, 1, 2):
        with serving(pong) as server:
            document = netmodel.measure(profile(body.format(server.place)), "--seed", seed)
            assert_complete(document)
            lines.append(sorted(asked_over(server)))
            assert opened(document) == (len(lines[-1]), len(lines[-1]) - 2)
    assert lines[0] == lines[1] != lines[2]
    assert set(lines[0]) == set(range(1, 10))
    assert sum(lines[0]) == 2000


def test_within_a_pass(netmodel: Netmodel, profile: WriteProfile) -> None:
    """Requests are counted, not passes, also where a mix draws how many there are."""
    mix = '<mix><flowop type="ping" options="count=3"/><flowop type="ping" weight="2"/></mix>'
    body = living("app=ping server={} requests=5", mix, attributes="nflows='2'")
    with serving(pong) as server:
        document = netmodel.measure(profile(body.format(server.place)))
        assert_complete(document)
        connections = sorted(asked_over(server), reverse=True)
        assert connections[:-2] == [5] * (len(connections) - 2)
        assert sum(connections) == counts(document)["requests"] > 200
    document = netmodel.measure(profile(living("app=ping requests=5", mix, attributes="nflows='2'")))
    assert_ends_agree(document)
    assert opened(document)[0] == opened(document)[1] + 2 > 40


@pytest.mark.parametrize("server", [True, False])
@pytest.mark.parametrize("how", ['duration="500ms"', 'duration="500ms" arrivals="poisson(2k/s)"', 'duration="500ms" rate="300"'])
def test_until_a_time(how: str, server: bool, netmodel: Netmodel, profile: WriteProfile) -> None:
    """Nothing is lost when the transaction ends, and the pause of a replacement is none of a request's."""
    with serving(pong) as other:
        place = f"server={other.place}" if server else ""
        document = netmodel.measure(profile(living(f"app=ping requests=4 {place}", how=how)))
    assert_complete(document)
    if not server:
        assert_ends_agree(document)
    of = counts(document)
    assert of["requests"] == of["ok"] > 100
    assert opened(document)[0] == opened(document)[1] + 3
    assert abs(opened(document)[1] - of["ok"] / 4) <= 3


@pytest.mark.parametrize("server", [True, False])
def test_lifetime(server: bool, netmodel: Netmodel, profile: WriteProfile) -> None:
    """A pass lasts 10 ms, and each connection has reached 25 ms after three of them at the latest; the first, which is older, after one."""
    ask = '<flowop type="ping"/><flowop type="think" options="duration=10ms"/>'
    wait = '</transaction><transaction><flowop type="think" options="duration=30ms"/>'
    with serving(pong) as other:
        place = f"server={other.place}" if server else ""
        document = netmodel.measure(profile(living(f"app=ping lifetime=25ms {place}", ask, 'iterations="30"', more=wait)))
    assert_complete(document)
    assert counts(document)["ok"] == 90
    assert 3 * 9 <= opened(document)[1] == opened(document)[0] - 3 <= 90


def test_a_life_that_is_shorter_than_a_round_has_a_request(netmodel: Netmodel, profile: WriteProfile) -> None:
    """A connection that was replaced before its first request would be so again and again."""
    document = netmodel.measure(profile(living("app=ping lifetime=10us", how='duration="200ms"', attributes="nflows='50'")))
    assert_complete(document)
    assert opened(document)[0] - 50 == opened(document)[1] <= counts(document)["ok"]


def test_a_place_may_have_another_connection(netmodel: Netmodel, profile: WriteProfile) -> None:
    """Opened without a law, where one was whose life is over."""
    body = living("app=ping requests=2", how='iterations="2"')
    ask = '<transaction><flowop type="connect" options="remotehost=local app=ping"/></transaction><transaction iterations="9"><flowop type="ping"/></transaction><transaction><flowop type="disconnect"/></transaction>'
    document = netmodel.measure(profile(body.replace("</group>", ask + "</group>")))
    assert_complete(document)
    assert opened(document) == (6, 0)


def test_nginx(netmodel: Netmodel, profile: WriteProfile, tmp_path: Path) -> None:
    """No connection has more requests than it should, as its log says; one that the server ends first is none of ours."""
    for keeps, ours in ((1000, 10), (6, 0)):
        folder = tmp_path / str(keeps)
        folder.mkdir()
        with nginx(folder, f"keepalive_requests {keeps};") as server:
            (server.root / "here").write_text("some text")
            body = living(f"app=http server={server.server} requests=10", '<flowop type="http" options="path=/here"/>')
            document = netmodel.measure(profile(body))
            requests = Counter(line[3] for line in server.log() if line[0].startswith("GET /here"))
        assert_complete(document)
        assert sum(requests.values()) == 300
        assert max(requests.values()) == min(keeps, 10)
        assert opened(document) == (len(requests), len(requests) - 3 if ours else 0)


def test_a_server_that_goes_away_is_told(netmodel: Netmodel, profile: WriteProfile) -> None:
    def answer(number: int, line: bytes) -> list[bytes]:
        if number == 2:
            server.close()
        return pong(number, line)

    server = Server(answer, 0)
    result = netmodel.run("-m", profile(living(f"app=ping server={server.place} requests=3", attributes="")), code=2)
    assert "Connection refused" in result.err
    assert f"server {server.place}" in result.err


@pytest.mark.parametrize(("limit", "name"), [("", "unsent"), ('queue="2"', "dropped_queue"), ('late="drop(9ms)"', "dropped_late")])
def test_a_server_that_is_away_to_the_end(limit: str, name: str, netmodel: Netmodel, profile: WriteProfile) -> None:
    """Few passes wait long, as those that would do never begin. None of those that are counted began without being due."""

    def answer(number: int, line: bytes) -> list[bytes]:
        if number == 3 and time.monotonic() > until:
            with suppress(OSError):  # another connection was sooner
                server.close()
        return pong(number, line)

    server = Server(answer, 0)
    until = time.monotonic() + 0.1
    how = f'duration="1s" arrivals="const(1k/s)" {limit}'
    document = netmodel.measure(profile(living(f"app=ping server={server.place} lifetime=20ms reconnect=30s", how=how)))
    load = phase_of(document, "ask")["load"]
    assert load["verdict"] == "connections" and load[name] > 500
    assert "as the server was away" in load["advice"]
    of = counts(document)
    assert of["requests"] == load["due"] - load["unsent"] - load["dropped_queue"] - load["dropped_late"]
    # Connections that the server had not accepted when it went away have lost their requests.
    assert 0 <= of["requests"] - of["ok"] == load["failed"] <= 3
    # What is closed and not opened anew is none of them.
    assert opened(document)[1] == opened(document)[0] - 3


@pytest.mark.parametrize(
    ("connect", "ask", "why"),
    [
        ("protocol=tcp requests=3", '<flowop type="write" options="size=1"/>', "requests: needs app=..., which says what a request is"),
        ("protocol=udp app=dns lifetime=1s", '<flowop type="query" options="name=a.b"/>', "lifetime: only over tcp, mptcp, ssl and unix"),
        ("app=ping requests=often", '<flowop type="ping"/>', 'requests="often"'),
    ],
)
def test_refused(connect: str, ask: str, why: str, netmodel: Netmodel, profile: WriteProfile) -> None:
    path = profile(living(connect, ask))
    result = netmodel.run("-m", path, code=1)
    assert f"{path}:{line_of(path, 'connect')}: error: <flowop connect> {why}" in result.err


def test_one_connection_of_each(netmodel: Netmodel, profile: WriteProfile) -> None:
    path = profile(living("app=ping requests=3", how='iterations="2"').replace("<transaction>", '<transaction iterations="2">'))
    result = netmodel.run("-m", path, code=1)
    assert "<flowop connect> requests: its transaction opens another connection with each pass" in result.err


def test_not_within_one_pass(netmodel: Netmodel, profile: WriteProfile) -> None:
    passes = '<flowop type="connect" options="remotehost=local app=ping lifetime=1s"/><flowop type="ping"/><flowop type="disconnect"/>'
    result = netmodel.run("-m", profile(f"<group><transaction>{passes}</transaction></group>"), code=1)
    assert "<flowop connect> lifetime: each pass of its transaction has a connection of its own" in result.err


# --- how fast connections are opened ---


@pytest.mark.parametrize("server", [True, False])
def test_connect_rate(server: bool, netmodel: Netmodel, profile: WriteProfile) -> None:
    """20 flows that open two connections each at 100 a second take turns for 380 ms, of whichever worker they are."""
    with serving(pong) as other:
        place = f"server={other.place}" if server else ""
        path = profile(living(f"app=ping count=2 {place}", attributes="nflows='20' nthreads='2' connect_rate='100/s'", how='iterations="1"'))
        document = netmodel.measure(path)
    assert_complete(document)
    connect, ask, _ = document["groups"][0]["phases"]
    assert 0.38 <= connect["seconds"] < 60
    assert master_of(document)["counts"]["connects"] == 40
    assert ask["transactions"] == 20


def test_connect_rate_in_vain(netmodel: Netmodel, profile: WriteProfile) -> None:
    passes = '<flowop type="connect" options="remotehost=local"/><flowop type="write" options="size=1"/><flowop type="disconnect"/>'
    path = profile(f"<group connect_rate='10/s'>\n<transaction>{passes}</transaction></group>")
    why = "error: <group> connect_rate: no transaction does nothing but open connections, without a duration or a rate of its own"
    assert f"{path}:{line_of(path, 'connect_rate')}: {why}" in netmodel.run("-m", path, code=1).err
