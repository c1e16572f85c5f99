# SPDX-License-Identifier: Apache-2.0
"""Transports that every kernel has, within this host: addresses of each kind, options of TCP, messages of any size."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from compose import ASK, CONNECT, DISCONNECT
from nmtest import Netmodel, Slave, assert_complete, assert_ends_agree, defines, phase_of, slaves_of

WriteProfile = Callable[..., Path]


@pytest.mark.alone
def test_the_null_transport_measures_the_engine(netmodel: Netmodel, profile: WriteProfile) -> None:
    path = profile(
        '<group nthreads="1"><transaction><flowop type="connect" options="remotehost=local protocol=null"/>'
        '</transaction><transaction name="spin" duration="200ms"><flowop type="write" options="size=1m"/>'
        '<flowop type="read" options="size=1m"/></transaction>'
        '<transaction><flowop type="disconnect"/></transaction></group>'
    )
    document = netmodel.measure(path)
    assert_complete(document)
    assert slaves_of(document) == [], "no network, no slave"
    assert document["totals"]["transactions_per_s"] > 100_000
    spin = phase_of(document, "spin")
    assert spin["bytes_sent"] == spin["bytes_received"] == spin["transactions"] << 20


def test_unix_sockets(netmodel: Netmodel, profile: WriteProfile) -> None:
    path = profile(
        '<group nthreads="2" nflows="6"><transaction><flowop type="connect" options="remotehost=local protocol=unix"/>'
        f'</transaction><transaction name="ask" duration="200ms">{ASK}</transaction>'
        '<transaction><flowop type="disconnect"/></transaction></group>'
    )
    document = netmodel.measure(path)
    assert_complete(document)
    assert_ends_agree(document)
    assert document["totals"]["transactions"] > 100


def test_a_stream_over_unix_sockets(netmodel: Netmodel, profile: WriteProfile) -> None:
    path = profile(
        '<group nthreads="1"><transaction><flowop type="accept" options="remotehost=local protocol=unix"/>'
        '</transaction><transaction name="take" duration="200ms"><flowop type="read" options="size=3000000"/>'
        '</transaction><transaction><flowop type="disconnect"/></transaction></group>'
    )
    document = netmodel.measure(path)
    assert_ends_agree(document)
    assert document["totals"]["bytes_received"] == 3_000_000 * document["totals"]["transactions"] > 0


@pytest.mark.usefixtures("need_ipv6")
def test_ipv6(netmodel: Netmodel, slave: Slave) -> None:
    document = netmodel.measure("tcp_rr", "-P", str(slave.port), *defines(test_length="100ms", host="::1"))
    assert_ends_agree(document)
    assert slaves_of(document)[0]["address"] == "::1"


def test_ipv4_and_names(netmodel: Netmodel, slave: Slave) -> None:
    for host in ("127.0.0.1", "localhost"):
        document = netmodel.measure("tcp_rr", "-P", str(slave.port), *defines(test_length="100ms", host=host))
        assert_ends_agree(document)
        assert slaves_of(document)[0]["name"] == host
        assert slaves_of(document)[0]["address"] in ("127.0.0.1", "::1")


@pytest.mark.parametrize("option", ["nodelay", "wndsz=64k", "sndbuf=32k rcvbuf=128k", "cc=reno", "localhost=127.0.0.1"])
def test_options_of_tcp(netmodel: Netmodel, profile: WriteProfile, option: str) -> None:
    path = profile(
        f'<group nthreads="1" nflows="2"><transaction><flowop type="connect" options="remotehost=local {option}"/>'
        f'</transaction><transaction name="ask" iterations="20">{ASK}</transaction>{DISCONNECT}</group>'
    )
    document = netmodel.measure(path)
    assert_complete(document)
    assert_ends_agree(document)
    if option == "cc=reno":
        for host in document["hosts"]:
            assert host["connections"] == {**host["connections"], "congestion_control": "reno"}


def test_large_messages_arrive_whole(netmodel: Netmodel, profile: WriteProfile) -> None:
    path = profile(
        f'<group nthreads="1" nflows="2">{CONNECT}<transaction name="big" iterations="3">'
        '<flowop type="write" options="size=20m"/><flowop type="read" options="size=7m"/>'
        f"</transaction>{DISCONNECT}</group>"
    )
    document = netmodel.measure(path)
    assert_ends_agree(document)
    big = phase_of(document, "big")
    assert (big["bytes_sent"], big["bytes_received"]) == (6 * (20 << 20), 6 * (7 << 20))


def test_two_connections_in_one_body(netmodel: Netmodel, profile: WriteProfile) -> None:
    one = (
        '<flowop type="connect" options="remotehost=local nodelay"/>'
        f'{ASK}<flowop type="disconnect" options="close=rst"/>'
    )
    path = profile(f'<group nthreads="1" nflows="3"><transaction iterations="20">{one}{one}</transaction></group>')
    document = netmodel.measure(path)
    assert_ends_agree(document)
    assert document["totals"]["connects"] == 2 * 3 * 20
