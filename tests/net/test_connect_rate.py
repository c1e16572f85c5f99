# SPDX-License-Identifier: Apache-2.0
"""Arrivals as a connect rate: a connection for each request, and the ports that those leave behind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from nmtest import Json, Netmodel, Node, assert_complete, changed, defines, in_namespace, phase_of
from partners import Nginx, nginx

WriteProfile = Callable[..., Path]

RANGE = "net.ipv4.ip_local_port_range"
OTHER = "127.0.0.9:80"


def closing(server: str, close: str, how: str) -> str:
    """This end closes."""
    return (
        f'<group name="web" nflows="16"><transaction name="ask" {how}><flowop type="connect" options="remotehost=local app=http server={server}"/>'
        f'<flowop type="http" options="path=/"/><flowop type="disconnect" options="{close}"/></transaction></group>'
    )


def warnings(document: Json) -> list[str]:
    return [text for text in document["run"]["warnings"] if "TIME_WAIT" in text]


def assert_all_were_answered(document: Json, server: Nginx, phase: str, rate: int, seconds: float) -> None:
    """nginx says so; a machine that is too busy for the rate leaves some unsent."""
    assert_complete(document)
    of = phase_of(document, phase)
    load, own = of["load"], document["hosts"][0]["counts"]
    log = server.log()
    assert abs(load["due"] - rate * seconds) < 5 * (rate * seconds) ** 0.5
    assert load["failed"] == own["failed_connects"] == own["lost"] == own["reissued"] == 0
    assert own["connects"] == len(log) == len({line[3] for line in log}) == load["due"] - load["unsent"]
    assert {line[1] for line in log} == {"200"}


@pytest.mark.parametrize("close", ["by=server", "close=rst", "close=fin"])
def test_nginx_takes_2000_connections_a_second(close: str, netmodel: Netmodel, profile: WriteProfile, tmp_path: Path) -> None:
    """Whoever closes: of this rate for a minute there would be too few ports, if Linux did not take them again on loopback."""
    with nginx(tmp_path) as server:
        (server.root / "index.html").write_text("x")
        if close == "by=server":
            document = netmodel.measure("http_crr", *defines(server=server.server, path="/", num_flows=16, arrivals="poisson(2k/s)", test_length="3s"))
        else:
            document = netmodel.measure(profile(closing(server.server, close, 'duration="3s" arrivals="poisson(2k/s)"')))
        phase = "connect-request-close" if close == "by=server" else "ask"
        assert_all_were_answered(document, server, phase, 2000, 3)
    assert warnings(document) == []


@contextmanager
def few_ports(own: Node, reuse: int, folder: Path) -> Iterator[Nginx]:
    """500, which are not taken again before a minute is over, unless reuse: for connections to another server they all are free. The server listens at OTHER, too."""
    with in_namespace(own.namespace), nginx(folder, f"listen {OTHER};") as server, changed(own, RANGE, "40000 40499"), changed(own, "net.ipv4.tcp_tw_reuse", reuse):
        (server.root / "index.html").write_text("x")
        yield server


# The time that a port is kept, those that a run takes within it, and those that there are.
WARNING = (
    "group web: connections that it closes in order keep their ports for {} (TIME_WAIT): within that time its rate takes {}, and there are {} "
    "(net.ipv4.ip_local_port_range or source_ports, localhost, servers): connects will fail; close=rst keeps no port"
)


def test_a_rate_that_takes_more_ports_than_there_are_is_told(netmodel: Netmodel, own: Node, profile: WriteProfile, tmp_path: Path) -> None:
    """And fails for that."""
    with few_ports(own, 0, tmp_path) as server:
        path = profile(closing(server.server, "close=fin", 'duration="10s" arrivals="const(500/s)"'))
        said = netmodel.run("-m", path, prefix=own.prefix, code=2)
    assert f"  warning: {WARNING.format('60.0 s', 5000, 500)}\n" in said.out
    assert f"no port of this host is free (sysctl {RANGE} has 500)" in said.err


@pytest.mark.parametrize(
    ("reuse", "close", "how"),
    [
        (0, "close=rst", 'duration="3s" arrivals="const(500/s)"'),
        (0, "by=server", 'duration="3s" arrivals="const(500/s)"'),
        (0, "close=fin", 'duration="3s" total="400" rate="100"'),
        (0, "close=fin", 'iterations="10" rate="100"'),
        (2, "close=fin", 'duration="3s" arrivals="const(200/s)"'),
    ],
)
def test_a_rate_that_finds_its_ports_is_not(
    reuse: int, close: str, how: str, netmodel: Netmodel, own: Node, profile: WriteProfile, tmp_path: Path
) -> None:
    """By resets, as the server closes, as few as there are ports, or where Linux takes them again after a second."""
    with few_ports(own, reuse, tmp_path) as server:
        body = closing(server.server, close, how)
        if close == "by=server":
            body = body.replace('"path=/"', '"path=/ keep=no"')
        document = netmodel.measure(profile(body), prefix=own.prefix)
    assert_complete(document)
    assert warnings(document) == []


def test_a_rate_whose_ports_linux_does_not_keep_is_not(netmodel: Netmodel, own: Node, profile: WriteProfile, tmp_path: Path) -> None:
    """As there are too many that wait."""
    with few_ports(own, 0, tmp_path) as server, changed(own, "net.ipv4.tcp_max_tw_buckets", 100):
        path = profile(closing(server.server, "close=fin", 'duration="2s" arrivals="const(500/s)"'))
        document = netmodel.measure(path, prefix=own.prefix)
    assert_complete(document)
    assert phase_of(document, "ask")["transactions"] > 500
    assert warnings(document) == []


def test_ports_are_kept_without_timestamps(netmodel: Netmodel, own: Node, profile: WriteProfile, tmp_path: Path) -> None:
    """By which Linux would tell a new connection from the former one."""
    with few_ports(own, 1, tmp_path) as server, changed(own, "net.ipv4.tcp_timestamps", 0):
        path = profile(closing(server.server, "close=fin", 'duration="2s" arrivals="const(300/s)"'))
        result = netmodel.run("-m", path, "--format", "json", prefix=own.prefix)
    assert warnings(result.json()) == [WARNING.format("60.0 s", 600, 500)]


def test_a_range_of_ports_of_each_flow_is_counted(netmodel: Netmodel, own: Node, profile: WriteProfile, tmp_path: Path) -> None:
    """16 flows have 20 each."""
    with few_ports(own, 0, tmp_path) as server:
        body = closing(f"{server.server} source_port=41000 source_ports=20", "close=fin", 'duration="2s" arrivals="const(300/s)"')
        result = netmodel.run("-m", profile(body), "--format", "json", prefix=own.prefix)
    assert warnings(result.json()) == [WARNING.format("60.0 s", 600, 320)]


def test_two_phases_are_told_of_once(netmodel: Netmodel, own: Node, profile: WriteProfile, tmp_path: Path) -> None:
    """By the one that takes more."""
    with few_ports(own, 0, tmp_path) as server:
        body = closing(server.server, "close=fin", 'duration="2s" arrivals="const(500/s)"')
        first = body[body.index("<transaction") : body.index("</group>")].replace('name="ask" duration="2s"', 'name="warm" duration="1200ms"')
        result = netmodel.run("-m", profile(body.replace("<transaction", f"{first}<transaction")), "--format", "json", prefix=own.prefix, code=2)
    assert warnings(result.json()) == [WARNING.format("60.0 s", 1000, 500)]


def test_a_second_may_be_too_long(netmodel: Netmodel, own: Node, profile: WriteProfile, tmp_path: Path) -> None:
    """For a rate that takes all of them meanwhile; some are taken again before."""
    with few_ports(own, 1, tmp_path) as server:
        path = profile(closing(server.server, "close=half", 'duration="2s" arrivals="const(520/s)"'))
        document = netmodel.run("-m", path, "--format", "json", prefix=own.prefix).json()
    assert warnings(document) == [WARNING.format("1.00 s", 520, 500)]


@pytest.mark.parametrize(
    ("connect", "told"),
    [
        ("server={0} requests=3", (667, 500)),
        ("server={0} requests=5", None),
        ("server={0},{0} requests=3", (667, 500)),
        ("server={0} requests=3 localhost=127.0.0.2,127.0.0.3", None),
        ("server={0},{1} requests=3", None),
        ("server={0},{1} requests=1 localhost=127.0.0.2,127.0.0.3", (2000, 1000)),
    ],
)
def test_ports_of_connections_that_last_for_some_requests(
    connect: str, told: tuple[int, int] | None, netmodel: Netmodel, own: Node, profile: WriteProfile, tmp_path: Path
) -> None:
    """Two addresses have twice as many, and so have two servers; a server that is named twice has not, nor have both, which flows take in turn together."""
    with few_ports(own, 0, tmp_path) as server:
        body = (
            f'<group name="web" nflows="4"><transaction><flowop type="connect" options="remotehost=local app=http {connect.format(server.server, OTHER)}"/>'
            '</transaction><transaction name="ask" duration="500ms" arrivals="const(4k/s)"><flowop type="http" options="path=/"/></transaction>'
            '<transaction><flowop type="disconnect"/></transaction></group>'
        )
        result = netmodel.run("-m", profile(body), "--format", "json", prefix=own.prefix)
    assert told or result.code == 0, result
    assert warnings(result.json()) == ([WARNING.format("60.0 s", *told)] if told else [])
