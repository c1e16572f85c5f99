# SPDX-License-Identifier: Apache-2.0
"""What profiles of uperf ask of the network: fixed ports, several connections, several hosts, loss."""

from __future__ import annotations

import re
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from compose import ask, check, check_lossy, connect, counts, group, lasting, once, op, opened, read, times, write
from nmtest import (
    FOR_LONG,
    PATIENCE_S,
    SOON_S,
    Json,
    Netmodel,
    Node,
    Slave,
    assert_complete,
    free_port,
    phase_of,
    slaves_of,
    slaves_on,
)

WriteProfile = Callable[..., Path]
MakeNodes = Callable[[int], list[Node]]


# --- fixed ports ---


@pytest.mark.parametrize(
    ("strands", "kind", "groups"),
    [(1, "nthreads", 1), (2, "nprocs", 2), (2, "nthreads", 1), (64, "nthreads", 2), (64, "nprocs", 1)],
)
@pytest.mark.parametrize("opening", ["connect", "accept"])
@pytest.mark.parametrize("protocol", ["tcp", "udp"])
def test_strands_and_groups_share_a_port(
    netmodel: Netmodel, profile: WriteProfile, slave: Slave, protocol: str, opening: str, strands: int, kind: str,
    groups: int,
) -> None:  # fmt: skip
    port = free_port(socket.SOCK_DGRAM if protocol == "udp" else socket.SOCK_STREAM)
    how = connect("127.0.0.1", f"protocol={protocol} port={port}", kind=opening)
    sizes = [(20 + number, 30 + number) for number in range(groups)]
    text = "".join(opened(times(20, ask(*size)), strands=strands, kind=kind, opening=how) for size in sizes)
    document = netmodel.measure(profile(text), "-P", str(slave.port), "-t")
    (check if protocol == "tcp" else check_lossy)(document)
    for number, (request, reply) in enumerate(sizes):
        passes = 20 * strands
        assert counts(document, "counted", number) == (passes, passes * request, passes * reply)


@pytest.mark.parametrize("protocol", ["tcp", "udp"])
def test_a_port_serves_one_strand_as_well_as_another(
    netmodel: Netmodel, profile: WriteProfile, protocol: str
) -> None:
    """Nobody starves, and no answer goes to another."""
    port = free_port(socket.SOCK_DGRAM if protocol == "udp" else socket.SOCK_STREAM)
    opening = connect(options=f"protocol={protocol} port={port}")
    path = profile(opened(lasting("400ms", ask()), strands=4, opening=opening))
    document = netmodel.measure(path, "-T")
    assert_complete(document)
    passes = [strand["operations"] for strand in document["groups"][0]["flow_totals"]]
    assert len(passes) == 4
    assert min(passes) > max(passes) / 10, passes


def test_a_port_that_is_taken_is_told(netmodel: Netmodel, profile: WriteProfile, slave: Slave) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        path = profile(opened(times(1, ask()), opening=connect("127.0.0.1", f"port={port}")))
        result = netmodel.run("-m", path, "-P", str(slave.port), code=2)
    assert re.search(rf"port {port}.*in use|in use.*port {port}", result.err), result


@pytest.mark.parametrize("protocol", ["tcp", "udp"])
def test_a_port_and_a_connection_for_each_pass(netmodel: Netmodel, profile: WriteProfile, protocol: str) -> None:
    port = free_port(socket.SOCK_DGRAM if protocol == "udp" else socket.SOCK_STREAM)
    body = connect(options=f"protocol={protocol} port={port}") + ask() + op("disconnect", "close=rst")
    document = netmodel.measure(profile(group(times(50, body), strands=8)), "-t")
    (check if protocol == "tcp" else check_lossy)(document)
    assert counts(document, "counted") == (400, 400 * 64, 400 * 64)


# --- connections ---


@pytest.mark.parametrize("protocol", ["tcp", "udp"])
def test_anonymous_and_named_connections(netmodel: Netmodel, profile: WriteProfile, protocol: str) -> None:
    more = "tcp_nodelay" if protocol == "tcp" else ""
    opening = "".join(connect(options=f"protocol={protocol} {more} {name}") for name in ("", "conn=1", "conn=7"))
    body = ask(10, 20) + ask(100, 200, "conn=1") + ask(1000, 2000, "conn=7") + write(1, "count=3") + read(1, "conn=7")
    closing = "".join(op("disconnect", name) for name in ("conn=1", "", "conn=7"))
    document = netmodel.measure(profile(group(once(opening), times(40, body), once(closing), strands=3)), "-t")
    (check if protocol == "tcp" else check_lossy)(document)
    assert counts(document, "counted") == (120, 120 * 1113, 120 * 2221)


def test_several_connections_of_one_name(netmodel: Netmodel, profile: WriteProfile) -> None:
    """The one opened last is used; closing it brings the one before."""
    body = connect() + write(1) + connect() + write(10) + op("disconnect") + write(100) + op("disconnect")
    document = check(netmodel.measure(profile(group(times(50, body), strands=2)), "-t"))
    assert counts(document, "counted") == (100, 100 * 111, 0)
    assert phase_of(document, "counted")["connects"] == 200


def test_accepted_and_connected_connections_of_a_strand(netmodel: Netmodel, profile: WriteProfile) -> None:
    first, last = (connect(kind="accept", options=f"protocol=tcp conn={number}") for number in (1, 2))
    opening = first + connect() + last
    body = ask(1, 2, "conn=1") + ask(10, 20) + ask(100, 200, "conn=2")
    closing = op("disconnect", "conn=2") + op("disconnect") + op("disconnect", "conn=1")
    document = check(netmodel.measure(profile(group(once(opening), times(30, body), once(closing), strands=4)), "-t"))
    assert counts(document, "counted") == (120, 120 * 111, 120 * 222)


@pytest.mark.parametrize("protocol", ["tcp", "udp"])
@pytest.mark.parametrize("opening", ["connect", "accept"])
def test_a_connection_for_each_pass_for_some_time(
    netmodel: Netmodel, profile: WriteProfile, opening: str, protocol: str
) -> None:
    keeps = connect(options=f"conn=3 protocol={protocol}")
    body = connect(kind=opening, options=f"protocol={protocol}") + ask(200, 1000) + ask(1, 1, "conn=3")
    timed = lasting("400ms", body, op("disconnect", "close=rst"))
    path = profile(group(once(keeps), timed, times(5, ask(10, 10, "conn=3")), strands=4))
    document = netmodel.measure(path, "-t")
    (check if protocol == "tcp" else check_lossy)(document)
    passes, sent, received = counts(document, "timed")
    assert passes > 20
    assert (sent, received) == (passes * 201, passes * 1001)
    assert counts(document, "counted") == (20, 200, 200)


@pytest.mark.parametrize("named", [False, True], ids=["plain", "remotehost"])
@pytest.mark.parametrize("opening", ["connect", "accept"])
def test_two_hosts(netmodel: Netmodel, profile: WriteProfile, nodes: MakeNodes, opening: str, named: bool) -> None:
    """Each step goes to the host of its connection, whether it says so or not."""
    own, one, two = nodes(3)
    at_one, at_two = (f"remotehost={node.address}" if named else "" for node in (one, two))
    groups = group(
        once(connect(one.address, kind=opening), connect(two.address, "conn=1 protocol=tcp", kind=opening)),
        times(50, ask(10, 20, at_one), ask(100, 200, f"conn=1 {at_two}")),
        lasting("200ms", ask(10, 20, at_one), ask(100, 200, f"conn=1 {at_two}")),
        once(op("disconnect", at_one), op("disconnect", f"conn=1 {at_two}")),
        strands=2,
    )
    with slaves_on(netmodel, [one, two]):
        document = netmodel.measure(profile(groups), "-t", prefix=own.prefix)
    assert_complete(document)
    assert document["run"]["reconciled"] is True
    assert document["totals"]["errors"] == 0
    passes = phase_of(document, "counted")["transactions"] + phase_of(document, "timed")["transactions"]
    assert passes > 100
    for host, (request, reply) in zip(slaves_of(document), ((10, 20), (100, 200)), strict=True):
        assert host["counts"]["bytes_received"] == passes * request
        assert host["counts"]["bytes_sent"] == passes * reply


def test_a_relay_between_two_hosts(netmodel: Netmodel, profile: WriteProfile, nodes: MakeNodes) -> None:
    """TCP to one, UDP from another, which sends as it likes."""
    own, one, two = nodes(3)
    groups = group(
        once(connect(one.address), connect(two.address, "conn=1 protocol=udp")),
        lasting("300ms", write(300), read(300, "conn=1")),
        once(op("disconnect"), op("disconnect", "conn=1")),
        strands=2,
    )
    with slaves_on(netmodel, [one, two]):
        document = check_lossy(netmodel.measure(profile(groups), prefix=own.prefix))
    timed = phase_of(document, "timed")
    assert timed["transactions"] > 100
    assert slaves_of(document)[0]["counts"]["bytes_received"] == timed["bytes_sent"] == 300 * timed["transactions"]
    assert timed["messages"]["to_master"]["sent"] * 300 == slaves_of(document)[1]["counts"]["bytes_sent"]


# --- loss ---

FAR = "protocol=udp"


WAYS = {
    "timeout": "timeout=10ms",
    "canfail": "timeout=10ms canfail",
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("phase", ["counted", "timed"])
@pytest.mark.alone
def test_request_and_response_with_loss(
    profile: WriteProfile, lossy: Callable[..., Json], phase: str, way: str
) -> None:
    body = write(100) + read(100, WAYS[way])
    timed = lasting("500ms", body) if phase == "timed" else times(2000, body)
    document = check_lossy(lossy(profile(opened(timed, strands=4, opening=connect("$far", FAR))), "-t", share=0.01))
    told = phase_of(document, phase)
    out, back = told["messages"]["to_slaves"], told["messages"]["to_master"]
    assert out["sent"] >= 2000
    assert 0.002 < out["lost"] / out["sent"] < 0.03
    assert 0.002 < back["lost"] / back["sent"] < 0.03
    assert told["messages"]["timeouts"] >= out["lost"] + back["lost"] - back["late"] - 4
    assert told["transactions"] + told["messages"]["unanswered"] == out["sent"]
    assert phase == "timed" or out["sent"] == 4 * 2000
    assert phase == "counted" or told["seconds"] < SOON_S


@pytest.mark.parametrize("phase", ["counted", "timed"])
def test_request_and_response_with_loss_and_no_limit(
    profile: WriteProfile, lossy: Callable[..., Json], phase: str
) -> None:
    """An answer that does not come is given up after a second."""
    timed = lasting("1500ms", ask()) if phase == "timed" else times(40, ask())
    path = profile(opened(timed, strands=8, opening=connect("$far", FAR)))
    document = check_lossy(lossy(path, "-t", share=0.02))
    told = phase_of(document, phase)
    assert told["messages"]["timeouts"] > 0
    assert told["messages"]["to_slaves"]["lost"] + told["messages"]["to_master"]["lost"] > 0
    assert phase == "timed" or told["transactions"] + told["messages"]["unanswered"] == 8 * 40
    assert told["latency_s"]["max"] < 1, "those that were given up are in no latency"
    assert document["took_s"] < PATIENCE_S


@pytest.mark.parametrize("opening", ["connect", "accept"])
def test_greetings_that_are_lost_are_repeated(
    profile: WriteProfile, lossy: Callable[..., Json], opening: str
) -> None:
    body = times(2, connect("$far", FAR, kind=opening), write(10), op("disconnect"))
    document = check_lossy(lossy(profile(group(body, strands=64)), share=0.2))
    phase = phase_of(document, "counted")
    assert phase["transactions"] == 128
    assert phase["connects" if opening == "connect" else "accepts"] == 128
    assert 0 < phase["messages"]["to_slaves"]["lost"] < 64


@pytest.mark.parametrize("way", ["write", "read"])
def test_one_way_with_loss(profile: WriteProfile, lossy: Callable[..., Json], way: str) -> None:
    body = times(500, op(way, "size=200"), more='rate="2000"') + lasting(
        "300ms", op(way, "size=200"), more='rate="1000"'
    )
    path = profile(opened(body, times(20, read(5, "timeout=20ms")), strands=4, opening=connect("$far", FAR)))
    document = check_lossy(lossy(path, share=0.1))
    timed = phase_of(document, "timed")["messages"]["to_slaves" if way == "write" else "to_master"]
    assert timed["sent"] > 800
    assert 0.05 < timed["lost"] / timed["sent"] < 0.2
    told = phase_of(document, "counted")["messages"]["to_slaves" if way == "write" else "to_master"]
    assert told["sent"] == 2000
    assert 0.05 < told["lost"] / 2000 < 0.5


def test_nothing_arrives_at_all(netmodel: Netmodel, profile: WriteProfile, lossy: Callable[..., Json]) -> None:
    """A greeting that is never answered ends the run, and says so."""
    path = profile(opened(times(1, ask()), opening=connect("$far", f"{FAR} timeout=500ms")))
    document = lossy(path, share=1.0, code=2)
    assert document["took_s"] < 9, "the limit that is given, and not that of 10 s"
    assert re.search(r"flowop (connect|accept) at \S+: no connection within timeout=500ms", document["run"]["incomplete_why"]), document["run"]


def test_bursts_beyond_the_buffer_are_lost_and_end(netmodel: Netmodel, profile: WriteProfile) -> None:
    """A batch of which some do not fit into the receive buffer: the answer to it does not come."""
    body = write("1k", "count=50") + read(10, "timeout=30ms")
    path = profile(
        opened(times(20, op("think", "duration=2ms at=slave"), body), opening=connect(options="protocol=udp rcvbuf=4k"))
    )
    document = check_lossy(netmodel.measure(path))
    told = phase_of(document, "counted")
    assert told["transactions"] + told["messages"]["unanswered"] == 20
    assert told["messages"]["to_slaves"]["lost"] > 0
    assert told["messages"]["timeouts"] > 0


# --- the network goes; lost hosts, refusals and nonsense are in test_failures.py ---


@pytest.mark.parametrize("protocol", ["tcp", "udp"])
def test_a_cut_link_ends_the_run(netmodel: Netmodel, profile: WriteProfile, nodes: MakeNodes, protocol: str) -> None:
    near, far = nodes(2)
    path = profile(opened(lasting(FOR_LONG, ask()), opening=connect(far.address, f"protocol={protocol}")))
    with (
        netmodel.started("-s", "--no-auth", "--timeout", "1s", prefix=far.prefix) as slave,
        netmodel.started("-m", path, "-v", "--timeout", "1s", "--format", "json", prefix=near.prefix) as master,
    ):
        master.wait_line("phase 2 of 3 begins")
        subprocess.run([*far.prefix, "ip", "link", "set", "eth0", "down"], check=True)
        result = master.finish()
        slave.wait_line("ended: ")
    assert result.code == 2, result
    document = result.json()
    assert document["run"]["complete"] is False
    assert re.search(rf"slave {far.address}: |no progress for 1 s", document["run"]["incomplete_why"])
    assert document["hosts"][1]["counts"] is None


def test_an_outage_that_ends_is_survived(netmodel: Netmodel, profile: WriteProfile, nodes: MakeNodes) -> None:
    near, far = nodes(2)
    path = profile(opened(lasting("2s", ask()), times(20, ask()), opening=connect(far.address)))
    with (
        slaves_on(netmodel, [far]),
        netmodel.started("-m", path, "-v", "-t", "--format", "json", prefix=near.prefix) as master,
    ):
        master.wait_line("phase 2 of 4 begins")
        subprocess.run([*far.prefix, "ip", "link", "set", "eth0", "down"], check=True)
        time.sleep(0.5)  # the outage
        subprocess.run([*far.prefix, "ip", "link", "set", "eth0", "up"], check=True)
        result = master.finish()
    assert result.code == 0, result
    document = check(result.json())
    assert counts(document, "counted") == (20, 1280, 1280)
