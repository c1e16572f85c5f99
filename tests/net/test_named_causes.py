# SPDX-License-Identifier: Apache-2.0
"""What a host or its network lacks is named: ports, loopback, the scope of an address, room for connections that wait, the address
that a router has put in the place of the master's."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from compose import connect, group, op, read, times, write
from nmtest import Netmodel, Node, changed, defines, inside, slaves_on

MakeNodes = Callable[[int], list[Node]]
WriteProfile = Callable[..., Path]

RANGE = "net.ipv4.ip_local_port_range"
ANOTHER = "10.99.0.9"


def fails(netmodel: Netmodel, near: Node, profile: str, *args: object, **params: object) -> str:
    """The first line that says why a run has failed."""
    asked = defines(test_length="200ms", **params)
    done = netmodel.run("-m", profile, "-q", *asked, "--timeout", "3s", *args, prefix=near.prefix, code=2)
    return next(line for line in done.err.splitlines() if "incomplete" in line)


@pytest.mark.parametrize("profile", ["udp_rr", "udp_stream"])
def test_a_slave_without_ports_says_so(netmodel: Netmodel, nodes: MakeNodes, profile: str) -> None:
    near, far = nodes(2)
    with changed(far, RANGE, "40000 40063"), slaves_on(netmodel, [far]):
        why = fails(netmodel, near, profile, host=far.address, num_flows=200)
    assert re.search(rf"slave {far.address}: .*accept.*no port of this host is free \(sysctl {RANGE} has 64\); the group has 200 flows", why), why


def test_a_slave_that_cannot_listen_for_want_of_ports_says_so(netmodel: Netmodel, nodes: MakeNodes) -> None:
    near, far = nodes(2)
    with changed(far, RANGE, "40000 40001"), slaves_on(netmodel, [far]):
        why = fails(netmodel, near, "tcp_crr", host=far.address, num_flows=8, num_threads=8)
    assert re.search(rf"cannot listen for the accept at line \d+: no port of .* \(sysctl {RANGE} has 2\)", why), why


@contextmanager
def without_loopback(node: Node) -> Iterator[None]:
    inside(node, "ip", "link", "set", "lo", "down")
    try:
        yield
    finally:
        inside(node, "ip", "link", "set", "lo", "up")


@pytest.mark.parametrize("host", ["local", "127.0.0.1", "::1", "itself"])
def test_loopback_that_is_down_is_told_at_once(netmodel: Netmodel, nodes: MakeNodes, host: str) -> None:
    (near,) = nodes(1)
    with without_loopback(near):
        why = fails(netmodel, near, "tcp_rr", host=near.address if host == "itself" else host)
    assert re.search(r"the loopback interface .*is down \(ip link set lo up\)", why), why


def test_a_link_local_address_needs_its_interface(netmodel: Netmodel, nodes: MakeNodes) -> None:
    (near,) = nodes(1)
    form = "as in fe80::1%eth0"
    assert form in fails(netmodel, near, "tcp_rr", host="fe80::1:2:3")
    assert form in netmodel.run("-s", "--bind", "fe80::1:2:3", prefix=near.prefix, code=2).err
    for address in ("fe80::1:2:3", "fe80::1:2:3%eth7"):
        assert form in fails(netmodel, near, "tcp_rr", data_host=address)


NO_INTERFACE = "this host has no interface of that name"
NEEDS_LINK = "an interface stands only behind an address of each link, as in"


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("-m", "udp_rr", "-D", "host=fe80::1%eth7"), NO_INTERFACE),
        (("-m", "tcp_rr", "-D", "host=fe80::1%eth7:2000"), NO_INTERFACE),
        (("-m", "tcp_rr", "-D", "host=2001:db8::1%eth0"), NEEDS_LINK),
        (("-m", "tcp_rr", "-D", "host=192.0.2.1%eth0"), NEEDS_LINK),
        (("-m", "http", "-D", "server=[fe80::1%eth7]:80"), NO_INTERFACE),
        (("-m", "redis", "-D", "server=[fe80::1]:80"), "as in fe80::1%eth0"),
        (("-m", "dns", "-D", "server=[fe80::1]:53"), "as in fe80::1%eth0"),
        (("-s", "--bind", "fe80::1%eth7"), NO_INTERFACE),
    ],
)
def test_an_interface_that_is_not_there_is_told(
    netmodel: Netmodel, nodes: MakeNodes, words: tuple[str, ...], why: str
) -> None:
    (near,) = nodes(1)
    done = netmodel.run(*words, prefix=near.prefix, code=2)
    assert why in done.err, done
    assert "Name or service not known" not in done.err


@pytest.mark.needs("iptables")
@pytest.mark.parametrize("profile", ["tcp_rr", "udp_rr", "udp_stream"])
def test_an_address_that_is_changed_on_the_way_is_told(netmodel: Netmodel, nodes: MakeNodes, profile: str) -> None:
    near, far = nodes(2)
    inside(near, "ip", "address", "add", f"{ANOTHER}/32", "dev", "lo")
    inside(far, "ip", "route", "add", f"{ANOTHER}/32", "via", near.address)
    protocol = profile[:3]
    rule = ("-p", protocol, *(("!", "--dport", "20000") if protocol == "tcp" else ()), "-j", "SNAT", "--to-source", ANOTHER)
    inside(near, "iptables", "-t", "nat", "-A", "POSTROUTING", *rule)
    with slaves_on(netmodel, [far]):
        why = fails(netmodel, near, profile, host=far.address)
    assert f"turned away connections from {ANOTHER}" in why, why
    assert f"--allow-peer {ANOTHER}" in why, why
    with slaves_on(netmodel, [far], "--allow-peer", ANOTHER):
        netmodel.measure(profile, *defines(host=far.address, test_length="200ms"), prefix=near.prefix)


@pytest.mark.parametrize("connects", ["master", "slave"])
def test_a_full_queue_of_connections_is_told(
    netmodel: Netmodel, nodes: MakeNodes, connects: str
) -> None:
    """Of the host that accepts; the other has none."""
    near, far = nodes(2)
    accepts = far if connects == "master" else near
    stock = "connect_storm" if connects == "master" else "accept_storm"
    words = (stock, *defines(host=far.address, num_flows=64, test_length="300ms"))
    with changed(accepts, "net.core.somaxconn", 1), slaves_on(netmodel, [far]):
        document = netmodel.measure(*words, prefix=near.prefix)
    full = [host["tcp"]["listen_overflows"] for host in document["hosts"]]
    assert (full[0] > 0, full[1] > 0) == (accepts is near, accepts is far)
    (told,) = [text for text in document["run"]["warnings"] if "wait to be accepted" in text]
    name = "master" if accepts is near else f"slave {far.address}"
    assert told.startswith(f"{name}: a queue of connections that wait to be accepted was full {max(full)} times "), told


@pytest.mark.parametrize("connects", ["master", "slave"])
def test_a_full_queue_of_connections_explains_why_nothing_moves(
    netmodel: Netmodel, nodes: MakeNodes, profile: WriteProfile, connects: str
) -> None:
    """Who found it full asks again after a second, and finds it full again; all wait for those."""
    near, far = nodes(2)
    accepts = far if connects == "master" else near
    kind = "connect" if connects == "master" else "accept"
    first = read(64) if connects == "master" else write(64)
    path = profile(group(times(1, connect("$far", kind=kind), first, op("disconnect")), strands=256, kind='nthreads="1" nflows'))
    words = ("-m", path, "-q", *defines(far=far.address), "--timeout", "4s")
    with changed(accepts, "net.core.somaxconn", 1), slaves_on(netmodel, [far]):
        done = netmodel.run(*words, prefix=near.prefix, code=2)
    why = next(line for line in done.err.splitlines() if "incomplete" in line)
    name = "master" if accepts is near else f"slave {far.address}"
    assert re.search(rf"(no progress|did not answer) .*; {name}: a queue of connections .* was full \d+ times", why), why
