# SPDX-License-Identifier: Apache-2.0
"""Data that go to another address than the control connection: over another network, or through a translation."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from compose import ask, connect, opened, times
from nmtest import Netmodel, Node, assert_complete, defines, free_port, inside, slaves_on

MakeNodes = Callable[[int], list[Node]]
OTHER = ("10.78.0.1", "10.78.0.2")


def join(near: Node, far: Node) -> None:
    """By a second network, which is theirs alone."""
    inside(near, "ip", "link", "add", "eth1", "type", "veth", "peer", "name", "eth1", "netns", far.namespace)
    for node, address in zip((near, far), OTHER, strict=True):
        inside(node, "ip", "address", "add", f"{address}/24", "dev", "eth1")
        inside(node, "ip", "link", "set", "eth1", "up")


def received(node: Node, interface: str) -> int:
    return int(inside(node, "cat", f"/sys/class/net/{interface}/statistics/rx_bytes"))


@pytest.mark.parametrize("name", ["tcp_rr", "tcp_stream", "udp_rr"])
def test_data_take_another_network(netmodel: Netmodel, nodes: MakeNodes, name: str) -> None:
    """The slave must be told whom it may expect there."""
    near, far = nodes(2)
    join(near, far)
    size = {} if name == "tcp_stream" else {"request_size": 1000}
    words = (name, *defines(host=far.address, data_host=OTHER[1], test_length="200ms", **size))
    with slaves_on(netmodel, [far], "--allow-peer", OTHER[0]):
        before = {link: received(far, link) for link in ("eth0", "eth1")}
        document = netmodel.measure(*words, prefix=near.prefix)
        came = {link: received(far, link) - before[link] for link in before}
    assert_complete(document)
    sent = document["hosts"][0]["counts"]["bytes_sent"]
    assert came["eth1"] >= sent > came["eth0"], (came, sent)
    assert document["hosts"][1]["address"] == far.address


def test_a_slave_that_expects_nobody_there(netmodel: Netmodel, nodes: MakeNodes) -> None:
    near, far = nodes(2)
    join(near, far)
    with slaves_on(netmodel, [far]):
        words = ("-m", "tcp_rr", *defines(host=far.address, data_host=OTHER[1], test_length="200ms"))
        done = netmodel.run(*words, "--timeout", "2s", "-q", prefix=near.prefix, code=2)
    assert f"--allow-peer {OTHER[0]}" in done.err, done


@pytest.mark.needs("iptables")
@pytest.mark.parametrize(
    ("target", "why"),
    [
        (("DROP",), rf"but its data port \d+ at {OTHER[1]} did not answer within"),
        (("REJECT", "--reject-with", "tcp-reset"), rf"Connection refused.* to {OTHER[1]} port \d+"),
    ],
)
def test_an_address_that_does_not_answer(
    netmodel: Netmodel, nodes: MakeNodes, target: tuple[str, ...], why: str
) -> None:
    """It is named, and not that of the control connection."""
    near, far = nodes(2)
    join(near, far)
    inside(far, "iptables", "-A", "INPUT", "-i", "eth1", "-p", "tcp", "-j", *target)
    with slaves_on(netmodel, [far], "--allow-peer", OTHER[0]):
        words = ("-m", "tcp_rr", *defines(host=far.address, data_host=OTHER[1], test_length="200ms"))
        done = netmodel.run(*words, "--timeout", "2s", "-q", prefix=near.prefix, code=2)
    assert re.search(why, done.err), done


@pytest.mark.needs("iptables")
@pytest.mark.parametrize(("name", "protocol"), [("tcp_rr", "tcp"), ("udp_rr", "udp")])
def test_an_address_that_is_translated_on_the_way(
    netmodel: Netmodel, nodes: MakeNodes, name: str, protocol: str
) -> None:
    """The slave has not the address, as pods have not that of a Service: it listens where it is."""
    near, far = nodes(2)
    port = free_port()
    rule = ("-p", protocol, "-d", "198.51.100.7", "--dport", str(port), "-j", "DNAT", "--to-destination", far.address)
    inside(near, "ip", "route", "add", "198.51.100.7/32", "via", far.address)
    inside(near, "iptables", "-t", "nat", "-A", "OUTPUT", *rule)
    with slaves_on(netmodel, [far]):
        words = defines(host=far.address, data_host="198.51.100.7", port=port, test_length="200ms")
        assert_complete(netmodel.measure(name, *words, prefix=near.prefix))


@pytest.mark.parametrize(
    ("opening", "why"),
    [
        (connect(options="protocol=tcp data_host=name"), 'data_host="name": must be an IPv4 or IPv6 address'),
        (connect(options="protocol=tcp data_host=10.0.0.1:7"), 'data_host="10.0.0.1:7": must be an IPv4'),
        (connect(options="protocol=unix data_host=10.0.0.1"), "data_host: unix has no addresses of the internet"),
        (connect(kind="accept", options="protocol=tcp data_host=10.0.0.1"), "data_host: only of connect"),
        (
            connect(options="protocol=tcp app=redis server=localhost data_host=10.0.0.1"),
            "data_host: not with server, which names the address",
        ),
    ],
)
def test_what_it_cannot_be(netmodel: Netmodel, profile: Callable[..., Path], opening: str, why: str) -> None:
    done = netmodel.run("--check", "-m", profile(opened(times(1, ask()), opening=opening)), code=1)
    assert re.search(rf":\d+: .*{re.escape(why)}", done.err), done
