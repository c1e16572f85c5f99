# SPDX-License-Identifier: Apache-2.0
"""Who may be at the other end of data connections: what a master cannot aim a slave at, and who is turned away."""

from __future__ import annotations

import hmac
import os
import re
import socket
import struct
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from compose import CLOSE, ask, connect, group, once, opened, read, times
from nmtest import (
    PATIENCE_S,
    Netmodel,
    Node,
    Slave,
    assert_complete,
    assert_counts_agree,
    defines,
    free_port,
    in_namespace,
    inside,
    limit_descriptors,
    slaves_on,
    wait_until,
)
from speaking import speaking

WriteProfile = Callable[..., Path]
MakeNodes = Callable[[int], list[Node]]


@pytest.mark.parametrize("protocol", ["unix", "tcp"])
def test_a_master_elsewhere_reaches_no_socket_of_the_host(
    netmodel: Netmodel, nodes: MakeNodes, protocol: str
) -> None:
    """Names of abstract sockets have no rights: no other program's must be written to for somebody on the network."""
    near, far = nodes(2)
    accepts = group(once(connect(kind="accept", options=f"protocol={protocol}")), times(1, read(10)), CLOSE)
    with slaves_on(netmodel, [near]), in_namespace(near.namespace):
        victim = socket.socket(socket.AF_UNIX)
        victim.bind("\0netmodel-test-victim")
        victim.listen()
    with victim, in_namespace(far.namespace), slaves_on(netmodel, [near]):
        with speaking(20000, near.address) as master:
            word, body = master.prepare(accepts, "local")
            if protocol == "unix":
                assert word == "refuse", (word, body)
                assert re.search(rf"unix connections stay on one host, and {far.address}.* is another", body["text"])
            else:
                assert word == "ready", (word, body)
                master.send("connect", endpoints=[[0, 0, ["netmodel-test-victim"]]], nonce="00" * 16)
                word, body = master.receive()
                assert word == "refuse", (word, body)
        victim.settimeout(0.3)
        with pytest.raises(TimeoutError):
            victim.accept()


def test_a_name_that_netmodel_has_not_chosen_is_no_endpoint(slave: Slave) -> None:
    """On the same host, too."""
    accepts = group(once(connect(kind="accept", options="protocol=unix")), times(1, read(10)), CLOSE)
    with speaking(slave.port) as master, socket.socket(socket.AF_UNIX) as victim:
        victim.bind("\0netmodel-test-victim2")
        victim.listen()
        assert master.prepare(accepts, "local")[0] == "ready"
        master.send("connect", endpoints=[[0, 0, ["netmodel-test-victim2"]]], nonce="00" * 16)
        assert master.receive()[0] == "refuse"
        victim.settimeout(0.3)
        with pytest.raises(TimeoutError):
            victim.accept()


@pytest.mark.parametrize("protocol", ["tcp", "udp"])
def test_addresses_that_a_profile_names_need_permission(
    netmodel: Netmodel, profile: WriteProfile, nodes: MakeNodes, protocol: str
) -> None:
    """And with it, connections come from there."""
    near, far = nodes(2)
    other = "10.77.0.77"
    inside(near, "ip", "address", "add", f"{other}/24", "dev", "eth0")
    path = profile(opened(times(3, ask()), opening=connect(far.address, f"protocol={protocol} localhost={other}")))
    with slaves_on(netmodel, [far]):
        done = netmodel.run("-m", path, "-q", prefix=near.prefix, code=2)
        assert re.search(
            rf"refused: the accept at line \d+: its connections would come from {other} \(localhost\), and the master "
            rf"is {near.address}: start this slave with --allow-peer {other} if they may",
            done.err,
        ), done
    with slaves_on(netmodel, [far], "--allow-peer", "192.0.2.1,10.77.0.64/26", "--allow-peer", "fd00::/8"):
        document = netmodel.measure(path, prefix=near.prefix)
        assert_complete(document)
        assert_counts_agree(document)


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("host", '"host" is no address of IPv4 or IPv6'),
        ("10.0.0.0/33", '"10.0.0.0/33": behind the slash must be 0 to 32'),
        ("10.0.0.0/8,", '"" is no address'),
    ],
)
def test_what_is_no_net_is_told(netmodel: Netmodel, value: str, why: str) -> None:
    assert why in netmodel.run("-s", "--allow-peer", value, code=1).err


def greet(where: tuple[str, int], source: str, data: bytes) -> bytes:
    """What is answered to somebody there who knows the bytes of a greeting; b"": the connection is closed."""
    with socket.create_connection(where, timeout=PATIENCE_S, source_address=(source, 0)) as stranger:
        stranger.sendall(data)
        stranger.settimeout(1)
        try:
            return stranger.recv(100)
        except ConnectionResetError:
            return b""


def test_a_port_of_the_profile_is_for_the_master_alone(netmodel: Netmodel, nodes: MakeNodes) -> None:
    """Whatever a stranger says there."""
    near, far, third = nodes(3)
    port = free_port()
    connects = opened(times(5, read(10)), opening=connect(options=f"protocol=tcp port={port}"))
    with slaves_on(netmodel, [near]), in_namespace(far.namespace), speaking(20000, near.address) as master:
        word, body = master.prepare(connects, "local")
        assert word == "ready"
        master.send("connect", endpoints=[], nonce="00" * 16)
        master.expect("armed")
        with in_namespace(third.namespace):
            assert greet((near.address, port), third.address, hello(master.secret, body["nonce"])) == b""


def test_a_slave_with_two_addresses_leaves_by_that_at_which_it_is_reached(
    netmodel: Netmodel, profile: WriteProfile, nodes: MakeNodes
) -> None:
    """The master knows no other."""
    near, far = nodes(2)
    other = "10.78.0.2"
    inside(far, "ip", "address", "add", f"{other}/32", "dev", "eth0")
    inside(near, "ip", "route", "add", f"{other}/32", "dev", "eth0")
    for protocol in "tcp", "udp":
        opening = connect(other, f"protocol={protocol}", kind="accept")
        with slaves_on(netmodel, [far]):
            document = netmodel.measure(profile(opened(times(3, ask()), opening=opening)), prefix=near.prefix)
        assert_complete(document)
        assert_counts_agree(document)




LABEL = b"netmodel data connections"


def hello(secret: bytes, nonce: str, flow: int = 0, serial: int = 1) -> bytes:
    """What a connecting end of the run says first."""
    key = hmac.digest(secret, LABEL, "sha256")
    said = struct.pack(">4s5I16x", b"nmHi", 0, 0, flow, serial, 0)
    return said + hmac.digest(key, bytes.fromhex(nonce) + said, "sha256")[:16]


def spoofed(source: str, to: str, port: int, data: bytes) -> bytes:
    """An IP packet with a datagram that seems to come from somebody else."""
    udp = struct.pack(">4H", 7777, port, 8 + len(data), 0) + data
    ends = socket.inet_aton(source) + socket.inet_aton(to)
    return struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(udp), 1, 0, 64, socket.IPPROTO_UDP, 0) + ends + udp


@pytest.mark.parametrize("shared", ["", "shared_socket"])
@pytest.mark.parametrize("allowed", [False, True])
def test_a_spoofed_packet_makes_no_stream(netmodel: Netmodel, nodes: MakeNodes, allowed: bool, shared: str) -> None:
    """Not even where the operator lets connections come from there, and the master itself is the one who spoofs."""
    near, far, victim = nodes(3)
    reads = opened(times(10**9, read(1000)), opening=connect(options=f"protocol=udp {shared}"))
    args = ("--allow-peer", "10.77.0.0/24") if allowed else ()
    with in_namespace(victim.namespace):
        ears = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(0x0800))
        ears.bind(("eth0", 0x0800))
    with ears, slaves_on(netmodel, [near], *args), in_namespace(far.namespace):
        with speaking(20000, near.address) as master:
            word, body = master.prepare(reads, "local")
            assert word == "ready", body
            ((_, _, (port,)),) = body["endpoints"]
            master.send("connect", endpoints=[], nonce="00" * 16)
            master.expect("armed")
            master.begin(0)
            with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW) as raw:
                sent = 0
                for serial in range(1, 6):
                    data = hello(master.secret, body["nonce"], serial=serial)
                    sent += raw.sendto(spoofed(victim.address, near.address, int(port), data), (near.address, 0))
            time.sleep(0.5)  # what is answered comes meanwhile
        ears.setblocking(False)
        got = 0
        with suppress(BlockingIOError):
            while True:
                packet = ears.recv(2000)
                if packet[12:16] == socket.inet_aton(near.address) and packet[9] == socket.IPPROTO_UDP:
                    got += len(packet)
        assert (0 < got <= sent) if allowed else got == 0


def data_port(pid: int) -> int:
    """The port at which a session listens for data."""
    inodes = set()
    for fd in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(OSError):
            inodes.add(fd.readlink().name)
    for line in Path(f"/proc/{pid}/net/tcp").read_text().splitlines()[1:]:
        fields = line.split()
        if fields[3] == "0A" and f"socket:[{fields[9]}]" in inodes:
            return int(fields[1].split(":")[1], 16)
    raise AssertionError("it listens nowhere")


@pytest.mark.parametrize("says", [b"", b"nm", b"GET / HTTP/1.0\r\n\r\n", b"nmHi" + bytes(52)], ids=["silent", "begun", "http", "unproved"])
@pytest.mark.parametrize("stock", ["tcp_rr", "tcp_stream"])
def test_strangers_at_a_data_port_stop_no_run(netmodel: Netmodel, slave: Slave, stock: str, says: bytes) -> None:
    """Who comes before the flows do gets none of them, whether he says something or not."""
    args = ["--format", "json", "--wait-start", "700ms", "--timeout", "4s", "-P", slave.port]
    with ExitStack() as stack:
        master = stack.enter_context(
            netmodel.started("-m", stock, *args, *defines(host="127.0.0.1", test_length="100ms", num_flows=2))
        )
        (session,) = wait_until(lambda: slave.sessions(), what="a session")
        port = wait_until(lambda: suppressed(lambda: data_port(session)), what="a data port")
        for _ in range(100):
            stranger = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S))
            stranger.sendall(says)
        result = master.finish()
    assert result.code == 0, result
    document = result.json()
    assert_complete(document)
    if says not in (b"", b"nm"):  # who is silent is counted when he is given up
        assert any(
            re.search(r"slave 127\.0\.0\.1: \d+ connections to its data ports were not of this run .*from 127\.0\.0\.1", one)
            for one in document["run"]["warnings"]
        ), document["run"]["warnings"]


def suppressed(ask: Callable[[], int]) -> int:
    try:
        return ask()
    except (AssertionError, OSError):
        return 0


def test_few_strangers_are_held_where_descriptors_are_short(netmodel: Netmodel) -> None:
    """And what is queued beyond that makes nobody spin."""
    port = free_port()
    args = ["--format", "json", "--wait-start", "1500ms", "--timeout", "4s"]
    options = defines(host="127.0.0.1", test_length="100ms", port=port)
    with netmodel.slave(before=limit_descriptors(256)) as slave, ExitStack() as stack:
        master = stack.enter_context(netmodel.started("-m", "tcp_rr", "-P", slave.port, *args, *options))
        (session,) = wait_until(lambda: slave.sessions(), what="a session")
        wait_until(lambda: suppressed(lambda: data_port(session)) == port, what="it listens")
        for _ in range(400):
            stranger = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S))
            stranger.sendall(b"nm")
        before = cpu_seconds(session)
        time.sleep(0.5)  # in which somebody might spin
        spent = cpu_seconds(session) - before
        result = master.finish()
    assert result.code == 0, result
    assert_complete(result.json())
    assert spent < 0.2, spent


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
