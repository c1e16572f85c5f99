# SPDX-License-Identifier: Apache-2.0
"""What the options of connections do to the sockets of both ends, as the kernel tells it, and to what crosses the network."""

from __future__ import annotations

import fcntl
import os
import re
import socket
import struct
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from nmtest import (
    TRACED,
    Netmodel,
    Node,
    Process,
    assert_complete,
    assert_counts_agree,
    changed,
    children,
    defines,
    descriptors_of,
    inside,
    packets,
    phase_of,
    slaves_of,
    sockets_of,
    trace_lines,
    traced,
    wait_until,
)

WriteProfile = Callable[..., Path]

FLOWS = 3

# asm/socket.h, linux/tcp.h, linux/in.h: what Python does not name.
SO_MAX_PACING_RATE = 47
SO_BUSY_POLL = 46
TCP_USER_TIMEOUT = 18
TCP_NOTSENT_LOWAT = 25
TCP_TX_DELAY = 37
IP_MTU_DISCOVER = 10
IP_FREEBIND = 15
IPV6_MTU_DISCOVER = 23
EPIOCGPARAMS = 0x80088A02  # linux/eventpoll.h

need_root = pytest.mark.needs("root")


def held(options: str, host: str = "local", nthreads: int = 1) -> str:
    """Connections that are open for long, with little on them."""
    return (
        f'<group nthreads="{nthreads}" nflows="{FLOWS}">'
        f'<transaction iterations="1"><flowop type="connect" options="remotehost={host} {options}"/></transaction>'
        '<transaction duration="30s" rate="20"><flowop type="write" options="size=10"/>'
        '<flowop type="read" options="size=10"/></transaction>'
        '<transaction iterations="1"><flowop type="disconnect"/></transaction></group>'
    )


def reconnecting(options: str, iterations: int, close: str = "rst", nthreads: int = 1, host: str = "local") -> str:
    return (
        f'<group nthreads="{nthreads}" nflows="{FLOWS}"><transaction name="crr" iterations="{iterations}">'
        f'<flowop type="connect" options="remotehost={host} {options}"/><flowop type="write" options="size=10"/>'
        f'<flowop type="read" options="size=10"/><flowop type="disconnect" options="close={close}"/>'
        "</transaction></group>"
    )


# --- what the kernel says about the sockets of a running process ---


Reading = Callable[[socket.socket], object]


def read_both(process: Process, kind: socket.SocketKind, read: Reading) -> tuple[list[object], list[object]]:
    """What is read of each connected socket, of the master and of its slave."""

    def of(pid: int) -> list[object]:
        with sockets_of(pid, kind) as found:
            values = []
            for one in found:
                with suppress(OSError):
                    values.append(read(one))
            return values

    (slave,) = children(process.pid)[:1]
    return of(process.pid), of(slave)


def number(level: int, option: int) -> Reading:
    return lambda one: one.getsockopt(level, option)


def assert_set(netmodel: Netmodel, path: Path, kind: socket.SocketKind, read: Reading, expected: object) -> None:
    """The sockets of the flows have the value at both ends, and the control connection does not."""
    with netmodel.started("-m", path) as process:
        seen: list[tuple[list[object], list[object]]] = []

        def is_set() -> bool:
            if not process.running():
                raise AssertionError(process.finish())
            if not children(process.pid):
                return False
            seen[:] = [read_both(process, kind, read)]
            return all(values.count(expected) == FLOWS for values in seen[0])

        try:
            wait_until(is_set)
        except AssertionError:
            raise AssertionError(f"{expected!r} is not what the sockets have: {seen} {process.err}") from None


TCP, UDP = "tcp", "udp"
KIND = {TCP: socket.SOCK_STREAM, UDP: socket.SOCK_DGRAM}

PACING = lambda one: struct.unpack("Q", one.getsockopt(socket.SOL_SOCKET, SO_MAX_PACING_RATE, 8))[0]  # noqa: E731


def keepalive(one: socket.socket) -> object:
    return (
        one.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE),
        one.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE),
        one.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL),
    )


ANY_USER = [
    (TCP, "max_pacing_rate=80Mb/s", PACING, 10_000_000),
    (TCP, "max_pacing_rate=100Gb/s", PACING, 12_500_000_000),
    (UDP, "max_pacing_rate=10MB/s", PACING, 10_000_000),
    (TCP, "tcp_tx_delay=3ms", number(socket.IPPROTO_TCP, TCP_TX_DELAY), 3000),
    (TCP, "mss=600", number(socket.IPPROTO_TCP, socket.TCP_MAXSEG), 588),
    (TCP, "tos=16", number(socket.IPPROTO_IP, socket.IP_TOS), 16),
    (UDP, "dscp=46", number(socket.IPPROTO_IP, socket.IP_TOS), 184),
    (TCP, "ttl=7", number(socket.IPPROTO_IP, socket.IP_TTL), 7),
    (UDP, "ttl=7", number(socket.IPPROTO_IP, socket.IP_TTL), 7),
    (UDP, "dont_fragment=yes", number(socket.IPPROTO_IP, IP_MTU_DISCOVER), 2),
    (TCP, "dont_fragment=no", number(socket.IPPROTO_IP, IP_MTU_DISCOVER), 0),
    (TCP, "freebind", number(socket.IPPROTO_IP, IP_FREEBIND), 1),
    (UDP, "freebind", number(socket.IPPROTO_IP, IP_FREEBIND), 1),
    (TCP, "reuseaddr", number(socket.SOL_SOCKET, socket.SO_REUSEADDR), 1),
    (UDP, "reuseaddr", number(socket.SOL_SOCKET, socket.SO_REUSEADDR), 1),
    (TCP, "notsent_lowat=16k", number(socket.IPPROTO_TCP, TCP_NOTSENT_LOWAT), 16384),
    (TCP, "user_timeout=2500ms", number(socket.IPPROTO_TCP, TCP_USER_TIMEOUT), 2500),
    (TCP, "keepalive=7s", keepalive, (1, 7, 7)),
    (TCP, "wndsz=100k", number(socket.SOL_SOCKET, socket.SO_RCVBUF), 204800),
    (UDP, "rcvbuf=100k", number(socket.SOL_SOCKET, socket.SO_RCVBUF), 204800),
]

PRIVILEGED = [
    (TCP, "mark=4000000000", number(socket.SOL_SOCKET, socket.SO_MARK), 4000000000 - (1 << 32)),
    (UDP, "mark=5", number(socket.SOL_SOCKET, socket.SO_MARK), 5),
    (TCP, "debug", number(socket.SOL_SOCKET, socket.SO_DEBUG), 1),
    (TCP, "busy_poll=70us", number(socket.SOL_SOCKET, SO_BUSY_POLL), 70),
    (UDP, "busy_poll=70us", number(socket.SOL_SOCKET, SO_BUSY_POLL), 70),
]


@pytest.mark.parametrize(("protocol", "option", "read", "expected"), ANY_USER, ids=[f"{p}-{o}" for p, o, _, _ in ANY_USER])
def test_both_ends_have_it(
    netmodel: Netmodel, profile: WriteProfile, protocol: str, option: str, read: Reading, expected: object
) -> None:
    assert_set(netmodel, profile(held(f"protocol={protocol} {option}")), KIND[protocol], read, expected)


@need_root
@pytest.mark.parametrize(
    ("protocol", "option", "read", "expected"), PRIVILEGED, ids=[f"{p}-{o}" for p, o, _, _ in PRIVILEGED]
)
def test_both_ends_have_it_with_privilege(
    netmodel: Netmodel, profile: WriteProfile, protocol: str, option: str, read: Reading, expected: object
) -> None:
    assert_set(netmodel, profile(held(f"protocol={protocol} {option}")), KIND[protocol], read, expected)


def epolls_of(pid: int) -> list[int]:
    """How long the waits of each epoll instance of a process poll the network card, in us."""
    with descriptors_of(pid, "anon_inode:[eventpoll]") as found:
        return [struct.unpack("=IHBB", fcntl.ioctl(one, EPIOCGPARAMS, bytes(8)))[0] for one in found]


@pytest.mark.needs("root", "epoll_params")
@pytest.mark.parametrize("protocol", [TCP, UDP, "ssl"])
def test_busy_poll_of_epoll(netmodel: Netmodel, profile: WriteProfile, protocol: str) -> None:
    """Of the workers at both ends, and of no other of their epolls; of several openings the longest."""
    groups = held(f"protocol={protocol} busy_poll=69001ns", nthreads=2) + held(f"protocol={protocol}")
    again = f'<flowop type="connect" options="remotehost=local protocol={protocol} busy_poll=40us conn=2"/></transaction>'
    path = profile(groups.replace("</transaction>", again, 1))
    with netmodel.started("-m", path) as process:

        def is_set() -> bool:
            if not process.running():
                raise AssertionError(process.finish())
            slaves = children(process.pid)[:1]
            both = [sorted(epolls_of(pid))[::-1] for pid in (process.pid, *slaves)]
            return len(both) == 2 and all(values[:2] == [70, 70] and not any(values[2:]) and values[2:] for values in both)

        wait_until(is_set)


@pytest.mark.needs("root", "epoll_params")
@pytest.mark.parametrize("flows", [1, 2])
@pytest.mark.parametrize("workload", ["tcp_rr", "tcp_crr", "tcp_stream", "udp_rr", "udp_stream"])
def test_busy_poll_of_workloads(
    netmodel: Netmodel, strace: str, tmp_path: Path, workload: str, flows: int
) -> None:
    """Set once at each end, on what the worker waits with; and without it never."""
    calls = "ioctl,epoll_ctl,epoll_wait,epoll_pwait,epoll_pwait2,ppoll"
    for given in (True, False):
        args = defines(test_length="100ms", num_flows=flows, **({"busy_poll": "70us"} if given else {}))
        where = tmp_path / f"trace-{given}"
        _, lines = traced(netmodel, strace, workload, where, calls, args=args)
        # Either name of it: strace knows it since 6.9.
        set_on = [m[1] for line in lines if (m := re.search(r"ioctl\((\d+), (?:EPIOCSPARAMS|_IOC\(_IOC_WRITE, 0x8a, 0x1, 0x8\)).* = 0$", line))]
        assert len(set_on) == (2 if given else 0)
        waited_on = {m[1] for line in lines if (m := re.search(r"epoll_p?wait2?\((\d+),", line))}
        assert set(set_on) <= waited_on


def test_greeted_connections_have_them_too(netmodel: Netmodel, profile: WriteProfile) -> None:
    """A door accepts these, and each accept sets its own options."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = f"protocol=tcp port={port} tcp_tx_delay=2ms ttl=9"
    both = lambda one: (  # noqa: E731
        one.getsockopt(socket.IPPROTO_TCP, TCP_TX_DELAY),
        one.getsockopt(socket.IPPROTO_IP, socket.IP_TTL),
    )
    assert_set(netmodel, profile(held(options)), socket.SOCK_STREAM, both, (2000, 9))


def test_over_tls_too(netmodel: Netmodel, profile: WriteProfile) -> None:
    read = number(socket.IPPROTO_TCP, TCP_TX_DELAY)
    assert_set(netmodel, profile(held("protocol=ssl tcp_tx_delay=2ms")), socket.SOCK_STREAM, read, 2000)


def test_what_cannot_be_set_is_told_by_name(netmodel: Netmodel, profile: WriteProfile) -> None:
    path = profile(held("protocol=tcp bind_to_device=nodevice9"))
    result = netmodel.run("-m", path, code=2)
    assert re.search(r"connect at line \d+: bind_to_device: cannot be set here: No such device", result.err), result


@pytest.mark.parametrize("protocol", ["tcp", "udp", "ssl"])
def test_local_addresses_that_cannot_be_are_told(netmodel: Netmodel, profile: WriteProfile, protocol: str) -> None:
    for address, why in (
        ("203.0.113.9", "203.0.113.9 cannot be bound here: Cannot assign requested address"),
        ("::1", "::1 is of IPv6, and 127.0.0.1, to which it is to connect, of IPv4"),
    ):
        path = profile(held(f"protocol={protocol} localhost={address}"))
        result = netmodel.run("-m", path, code=2)
        assert re.search(rf"connect at line \d+: localhost: {re.escape(why)}", result.err), result


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("source_port=65534", 'source_port="65534": 3 flows with 1 each would need ports up to 65536'),
        ("source_port=65000 source_ports=200", "3 flows with 200 each would need ports up to 65599"),
        ("source_port=65530 source_skip=4", "3 flows with 1 each, behind those of source_skip, would need ports up to 65536"),
        ("source_ports=8", "source_ports: needs source_port, the first of them"),
        ("port=65533 num_ports=4", 'num_ports="4": from port 65533 on there are 3 ports only'),
        ("num_ports=0", "must be 1 to 1024"),
        ("mss=87", 'mss="87": must be 0, or from 88 to 32767 bytes'),
        ("mss=40000", 'mss="40000": must be 0 to 32767'),
        ("tos=8 dscp=2", "tos and dscp: are the same bits"),
        ("max_pacing_rate=7b/s", "max_pacing_rate: must be at least 8b/s"),
        ("max_pacing_rate=100x", "not a bitrate: a number, an optional k, M or G"),
        ("localhost=127.0.0.2,here", 'localhost="here": must be an IPv4 or IPv6 address'),
        ("localhost=" + ",".join(["127.0.0.1"] * 65), "localhost: has more than 64 addresses"),
    ],
)
def test_refused(netmodel: Netmodel, profile: WriteProfile, option: str, message: str) -> None:
    result = netmodel.run("--check", "-m", profile(held(f"protocol=tcp {option}")), code=1)
    assert message in result.err, result


# --- addresses and ports ---


def test_a_source_port_for_each_flow(
    netmodel: Netmodel, profile: WriteProfile, strace: str, tmp_path: Path
) -> None:
    """At each of its connections, though the port has just been closed."""
    base = 21000 + os.getpid() % 500 * 16
    path = profile(reconnecting(f"protocol=tcp source_port={base}", 20, nthreads=2))
    _, lines = traced(netmodel, strace, path, tmp_path / "trace", "bind")
    bound = Counter(int(m[1]) for line in lines if (m := re.search(r"bind\(.*htons\((\d+)\).*= 0$", line)) and m[1] != "0")
    assert {port: count for port, count in bound.items() if base <= port < base + 16} == dict.fromkeys(
        range(base, base + FLOWS), 20
    )


def test_source_ports_in_turn(
    netmodel: Netmodel, profile: WriteProfile, strace: str, tmp_path: Path
) -> None:
    """Closed in order, a port waits in TIME_WAIT: with enough of them no connection fails."""
    base = 30000 + os.getpid() % 500 * 4
    path = profile(reconnecting(f"protocol=tcp source_port={base} source_ports=30", 20, close="fin"))
    _, lines = traced(netmodel, strace, path, tmp_path / "trace", "bind,connect")
    bound = {int(m[1]) for line in lines if (m := re.search(r"bind\(.*htons\((\d+)\).*= 0$", line))}
    mine = {port for port in bound if base <= port < base + FLOWS * 30}
    assert len(mine) >= FLOWS * 20
    assert {(port - base) // 30 for port in mine} == set(range(FLOWS))


def test_a_source_port_that_waits_is_told(netmodel: Netmodel) -> None:
    base = 28000 + os.getpid() % 1000
    words = ("-m", "tcp_crr", *defines(test_length="2s", close="fin"))
    said = netmodel.run(*words, *defines(source_port=base), code=2).err
    assert re.search(r"flowop connect at .*: its source_port is in use, or waits in TIME_WAIT .*; source_ports gives", said)
    said = netmodel.run(*words, *defines(source_port=base + 1000, source_ports=20, num_transactions=10), code=0).err
    assert "TIME_WAIT" not in said


@pytest.mark.parametrize("protocol", ["tcp", "udp"])
def test_local_hosts_in_turn(
    netmodel: Netmodel, profile: WriteProfile, strace: str, tmp_path: Path, protocol: str
) -> None:
    """And the slave takes connections from all of them."""
    hosts = ["127.0.0.2", "127.0.0.3"]
    path = profile(reconnecting(f"protocol={protocol} localhost={','.join(hosts)}", 6, close="fin"))
    _, lines = traced(netmodel, strace, path, tmp_path / "trace", "bind,setsockopt")
    bound = Counter(m[1] for line in lines if (m := re.search(r'bind\(.*htons\(0\).*inet_addr\("(.*?)"\)', line)))
    # And once before, to see whether the host has them.
    assert {host: bound[host] for host in hosts} == {"127.0.0.2": 13, "127.0.0.3": 7}
    assert sum("IP_BIND_ADDRESS_NO_PORT, [1]" in line and line.endswith("= 0") for line in lines) == 18


@pytest.mark.usefixtures("need_ipv6")
def test_local_host_of_ipv6(
    netmodel: Netmodel, profile: WriteProfile, strace: str, tmp_path: Path
) -> None:
    with netmodel.slave() as slave:
        path = profile(reconnecting("protocol=tcp localhost=::1", 4, host="::1"))
        trace = tmp_path / "trace"
        how = (strace, "-ff", "-qq", "-e", "trace=bind,setsockopt", "-o", str(trace))
        assert_complete(netmodel.measure(path, "-P", str(slave.port), prefix=how, env=TRACED))
    lines = trace_lines(trace)
    assert sum("IP_BIND_ADDRESS_NO_PORT, [1]" in line and line.endswith("= 0") for line in lines) == 4 * FLOWS
    assert sum("bind(" in line and '"::1"' in line and line.endswith("= 0") for line in lines) >= 4 * FLOWS


@pytest.mark.parametrize("named", [False, True])
def test_num_ports(
    netmodel: Netmodel, profile: WriteProfile, strace: str, tmp_path: Path, named: bool
) -> None:
    """A row of ports, of which each flow keeps to one; with and without a greeting."""
    base = 24000 + os.getpid() % 500 * 8
    options = "protocol=tcp num_ports=2" + (f" port={base}" if named else "")
    path = profile(reconnecting(options, 10))
    _, lines = traced(netmodel, strace, path, tmp_path / "trace", "connect,listen")
    to = Counter(int(m[1]) for line in lines if (m := re.search(r"connect\(.*AF_INET.*htons\((\d+)\)", line)))
    data = {port: count for port, count in to.items() if count > 1}
    first = min(data)
    assert data == {first: 20, first + 1: 10}
    assert not named or first == base


HOLDS_SECOND_PORTS = """
import socket, sys
held = [socket.create_server(("127.0.0.1", port)) for port in range(40000, 40204, 2)]
print("held", flush=True)
sys.stdin.read()
"""


def test_num_ports_where_no_row_is_free(netmodel: Netmodel, profile: WriteProfile, own: Node) -> None:
    """As after many connections: each second port of the kernel's range is taken for a minute."""
    holder = [*own.prefix, sys.executable, "-c", HOLDS_SECOND_PORTS]
    with (
        changed(own, "net.ipv4.ip_local_port_range", "40000 40199"),
        subprocess.Popen(holder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as held,
    ):
        assert held.stdout is not None
        assert held.stdout.readline() == "held\n"
        document = netmodel.measure(profile(reconnecting("protocol=tcp num_ports=3", 10)), prefix=own.prefix)
        assert held.stdin is not None
        held.stdin.close()
    assert_complete(document)
    assert_counts_agree(document)


def test_listen_backlog(
    netmodel: Netmodel, profile: WriteProfile, strace: str, tmp_path: Path
) -> None:
    path = profile(reconnecting("protocol=tcp listen_backlog=77", 2))
    _, lines = traced(netmodel, strace, path, tmp_path / "trace", "listen")
    assert sum(re.search(r"listen\(\d+, 77\) += 0", line) is not None for line in lines) == 1


# --- in a network of their own ---


def tcp_ext(node: Node) -> dict[str, int]:
    names, values = (line.split()[1:] for line in inside(node, "cat", "/proc/net/netstat").splitlines()[:2])
    return dict(zip(names, map(int, values), strict=True))


@pytest.mark.parametrize("allowed", [True, False])
def test_fastopen(netmodel: Netmodel, profile: WriteProfile, own: Node, allowed: bool) -> None:
    """All but the first connection to a host send their request with the first packet, if the accepting host takes it."""
    inside(own, "sysctl", "-w", f"net.ipv4.tcp_fastopen={3 if allowed else 1}")
    inside(own, "ip", "tcp_metrics", "flush", "all")
    before = tcp_ext(own)
    document = netmodel.measure(profile(reconnecting("protocol=tcp tcp_fastopen", 20)), prefix=own.prefix)
    after = tcp_ext(own)
    assert_complete(document)
    assert_counts_agree(document)
    counts = [host["groups"][0]["fastopens"] for host in document["hosts"]]
    active = after["TCPFastOpenActive"] - before["TCPFastOpenActive"]
    assert counts == [active, active]
    assert after["TCPFastOpenPassive"] - before["TCPFastOpenPassive"] == active
    assert 20 * FLOWS - 2 * FLOWS <= active < 20 * FLOWS if allowed else active == 0


def test_fastopen_needs_a_write(netmodel: Netmodel, profile: WriteProfile, own: Node) -> None:
    """Where none follows, the connection is opened as usual, instead of never."""
    inside(own, "sysctl", "-w", "net.ipv4.tcp_fastopen=3")
    path = profile(held("protocol=tcp tcp_fastopen").replace("30s", "200ms"))
    document = netmodel.measure(path, prefix=own.prefix)
    assert_complete(document)
    assert document["hosts"][0]["groups"][0]["fastopens"] == 0


def test_fastopen_without_effect_is_told(netmodel: Netmodel, profile: WriteProfile) -> None:
    """And where it has one, nothing is."""
    why = "<flowop connect>: tcp_fastopen has no effect: nothing is sent right after it, in the same transaction"
    assert why in netmodel.run("--check", "-m", "tcp_rr", *defines(tcp_fastopen="yes"), code=0).err
    assert "fastopen" not in netmodel.run("--check", "-m", "tcp_crr", *defines(tcp_fastopen="yes"), code=0).err
    thinking = reconnecting("protocol=tcp tcp_fastopen", 2).replace(
        '<flowop type="write"', '<flowop type="think" options="duration=1ms at=WHO"/><flowop type="write"'
    )
    for who, told in (("slave", False), ("both", True)):
        path = profile(thinking.replace("WHO", who))
        assert (why in netmodel.run("--check", "-m", path, code=0).err) == told


def test_a_rate_that_nothing_keeps_is_told(netmodel: Netmodel) -> None:
    """Loopback has no queueing discipline that paces datagrams; TCP paces itself."""
    for profile, told in (("udp_stream", 1), ("tcp_stream", 0)):
        document = netmodel.measure(profile, *defines(test_length="300ms", max_pacing_rate="10Mb/s"))
        warnings = [text for text in document["run"]["warnings"] if "max_pacing_rate is 10.0 Mb/s, and each connection sent" in text]
        assert len(warnings) == told, (profile, document["run"]["warnings"])


def test_a_delay_that_nothing_keeps_is_told(netmodel: Netmodel) -> None:
    """Loopback has no queueing discipline that delays segments; no round trip is as short as a microsecond.

    An end that only receives measures none, which hides nothing of the other's."""
    for name, delay, told in (("tcp_rr", "20ms", 1), ("tcp_stream", "50ms", 1), ("tcp_rr", "1us", 0)):
        document = netmodel.measure(name, *defines(test_length="300ms", tcp_tx_delay=delay))
        warnings = [text for text in document["run"]["warnings"] if f"tcp_tx_delay is {delay[:-2]}.0 {delay[-2:]}, and no" in text]
        assert len(warnings) == told, (name, document["run"]["warnings"])


def test_buffers_that_the_kernel_cuts_are_told(netmodel: Netmodel, profile: WriteProfile) -> None:
    given = int(Path("/proc/sys/net/core/wmem_max").read_text())
    path = profile(
        '<group nthreads="1"><transaction><flowop type="connect" options="remotehost=local wndsz=1g"/></transaction>'
        '<transaction iterations="5"><flowop type="write" options="size=64"/></transaction></group>'
    )
    document = netmodel.measure(path)
    (warning,) = [text for text in document["run"]["warnings"] if "wmem_max" in text]
    assert "a send buffer of 1073741824 bytes was asked for" in warning
    assert f"the kernel gives {given}" in warning
    assert document["hosts"][0]["cut_sizes"]["send_given_bytes"] == given


def test_buffers_smaller_than_the_kernel_gives_are_told(netmodel: Netmodel, profile: WriteProfile) -> None:
    path = profile(
        '<group nthreads="1"><transaction><flowop type="connect" options="remotehost=local wndsz=1000"/></transaction>'
        '<transaction iterations="5"><flowop type="write" options="size=64"/></transaction></group>'
    )
    document = netmodel.measure(path)
    cut = document["hosts"][0]["cut_sizes"]
    for way in ("send", "receive"):
        (warning,) = [text for text in document["run"]["warnings"] if f"a {way} buffer of 1000 bytes was asked for" in text]
        given = cut[f"{way}_given_bytes"]
        assert given > 1000
        assert f"the kernel gives {given}: it gives no less" in warning


def test_pacing_is_kept(netmodel: Netmodel, profile: WriteProfile) -> None:
    body = (
        '<group nthreads="1"><transaction><flowop type="connect" options="remotehost=local max_pacing_rate=40Mb/s sndbuf=64k rcvbuf=64k"/>'
        '</transaction><transaction name="s" duration="900ms"><flowop type="write" options="size=16k"/></transaction>'
        '<transaction><flowop type="disconnect"/></transaction></group>'
    )
    document = netmodel.measure(profile(body))
    assert_complete(document)
    phase = phase_of(document, "s")
    sent = slaves_of(document)[0]["groups"][0]["bytes_received"] * 8
    assert 10e6 < sent / phase["seconds"] < 60e6


# --- closing ---


def waiting(node: Node, where: str) -> int:
    """Connections in TIME_WAIT."""
    return len(inside(node, "ss", "-Htan", "state", "time-wait", *where.split()).splitlines())


CLOSES = [
    ("close=fin", "dport", "close"),
    ("close=fin by=server", "sport", "close"),
    ("close=half", "dport", "shutdown"),
    ("how=half by=server", "sport", "shutdown"),
    ("close=rst", "", "reset"),
    ("close=rst by=server", "", "reset"),
    ("linger=2s", "dport", "linger"),
]


@pytest.mark.parametrize(("how", "side", "call"), CLOSES, ids=[how.replace(" ", "-") for how, _, _ in CLOSES])
def test_close_policies(
    netmodel: Netmodel,
    profile: WriteProfile,
    own: Node,
    strace: str,
    tmp_path: Path,
    how: str,
    side: str,
    call: str,
) -> None:
    """The first to close has its ports in TIME_WAIT, unless it resets; and it goes about it as it should."""
    port = 4000 + [case[0] for case in CLOSES].index(how)
    body = reconnecting(f"protocol=tcp port={port}", 5).replace("close=rst", how)
    _, lines = traced(netmodel, strace, profile(body), tmp_path / "trace", "shutdown,setsockopt", own.prefix)
    left = {end: waiting(own, f"{end} = :{port}") for end in ("sport", "dport")}
    assert left == {"sport": 0, "dport": 0} | ({side: 5 * FLOWS} if side else {})
    shut = Counter(line.split()[0] for line in lines if "shutdown(" in line and "SHUT_WR" in line)
    lingers = Counter(m[1] for line in lines if (m := re.search(r"SO_LINGER, (\{.*?\})", line)))
    # The control connection has one, too.
    assert [count for count in shut.values() if count > 1] == ([5 * FLOWS] if call == "shutdown" else [])
    expected = {"reset": {"{l_onoff=1, l_linger=0}": 15}, "linger": {"{l_onoff=1, l_linger=2}": 15}}
    assert lingers == expected.get(call, {})


@pytest.mark.parametrize("protocol", ["tcp", "unix", "ssl"])
@pytest.mark.parametrize("how", ["close=half by=client", "close=half by=server", "close=rst by=server"])
def test_close_policies_of_others(netmodel: Netmodel, profile: WriteProfile, protocol: str, how: str) -> None:
    document = netmodel.measure(profile(reconnecting(f"protocol={protocol}", 30, nthreads=2).replace("close=rst", how)))
    assert_complete(document)
    assert_counts_agree(document)
    assert phase_of(document, "crr")["transactions"] == 30 * FLOWS


@pytest.mark.parametrize(("params", "side"), [({}, 0), ({"time_wait": "yes"}, 1), ({"close": "fin"}, 1)])
def test_time_wait_of_tcp_crr(netmodel: Netmodel, own: Node, params: dict[str, str], side: int) -> None:
    before = waiting(own, "")
    document = netmodel.measure("tcp_crr", *defines(test_length="50ms", **params), prefix=own.prefix)
    assert_complete(document)
    transactions = document["totals"]["transactions"]
    assert transactions > 0
    assert waiting(own, "") - before >= transactions * side
    assert side or waiting(own, "") - before < 10


# --- what crosses the network ---


def test_headers_on_the_wire(netmodel: Netmodel, profile: WriteProfile, own: Node) -> None:
    """Type of service, time to live and the ban on fragments are in the packets of both directions."""
    base = 26000 + os.getpid() % 1000
    path = profile(
        reconnecting(f"protocol=udp source_port={base} dscp=10 ttl=33 dont_fragment=yes", 3, close="fin")
    )
    seen = packets(own, lambda: assert_complete(netmodel.measure(path, prefix=own.prefix)))
    sent = received = 0
    for packet in seen:
        if packet[9] != socket.IPPROTO_UDP:
            continue
        source, target = struct.unpack_from("!HH", packet, 4 * (packet[0] & 15))
        if base <= source < base + FLOWS or base <= target < base + FLOWS:
            sent += base <= source < base + FLOWS
            received += base <= target < base + FLOWS
            if packet[4 * (packet[0] & 15) + 4 : 4 * (packet[0] & 15) + 6] != b"":
                assert (packet[1] >> 2, packet[8], packet[6] & 0x40) == (10, 33, 0x40)
    assert sent >= 3 * FLOWS and received >= 3 * FLOWS


def test_freebind(netmodel: Netmodel, profile: WriteProfile) -> None:
    """An address that the host does not have (yet) is bound, and no packet can leave from there."""
    options = "protocol=tcp localhost=192.0.2.77"
    assert "Cannot assign requested address" in netmodel.run("-m", profile(reconnecting(options, 1)), code=2).err
    path = profile(reconnecting(f"{options} freebind", 1))
    assert "Network is unreachable" in netmodel.run("-m", path, code=2).err


@need_root
def test_bind_to_device(netmodel: Netmodel, profile: WriteProfile) -> None:
    """At the connecting end alone: the devices of the others have other names."""
    path = profile(held("protocol=tcp bind_to_device=lo"))
    with netmodel.started("-m", path) as process:

        def is_set() -> bool:
            if not children(process.pid):
                return False
            read = lambda one: one.getsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, 16)  # noqa: E731
            own, others = read_both(process, socket.SOCK_STREAM, read)
            return own.count(b"lo\0") == FLOWS and others.count(b"lo\0") == 0

        wait_until(is_set)


@pytest.mark.parametrize(("every", "at", "ends"), [(1, "both", 2), (4, "both", 2), (4, "slave", 1), (1, "master", 1)])
def test_an_option_is_set_in_passes(
    netmodel: Netmodel, profile: WriteProfile, strace: str, tmp_path: Path, every: int, at: str, ends: int
) -> None:
    """At the place of the flowop: behind the read of the end that reads, in one of so many passes of each flow."""
    setting = f'<flowop type="sockopt" options="optname=quickack optval=0 every={every} at={at}"/>'
    path = profile(
        f'<group nthreads="1" nflows="{FLOWS}"><transaction>'
        '<flowop type="connect" options="remotehost=local"/></transaction><transaction name="ask" iterations="20">'
        f'<flowop type="write" options="size=100"/>{setting}<flowop type="read" options="size=100"/></transaction>'
        f"<transaction><flowop type=\"disconnect\"/></transaction></group>"
    )
    _, lines = traced(netmodel, strace, path, tmp_path / "trace", "setsockopt")
    threads = Counter(line.split()[0] for line in lines if "TCP_QUICKACK, [0]" in line)
    assert sorted(threads.values()) == [20 // every * FLOWS] * ends


@pytest.mark.parametrize(("word", "expected"), [("yes", 1), ("no", 0)])
def test_quickack(
    netmodel: Netmodel, profile: WriteProfile, strace: str, tmp_path: Path, word: str, expected: int
) -> None:
    """Set once for each connection, at both ends, when it is open."""
    path = profile(reconnecting(f"protocol=tcp quickack={word}", 5))
    _, lines = traced(netmodel, strace, path, tmp_path / "trace", "setsockopt")
    threads = Counter(line.split()[0] for line in lines if f"TCP_QUICKACK, [{expected}]" in line)
    assert sorted(threads.values())[-2:] == [5 * FLOWS, 5 * FLOWS]
