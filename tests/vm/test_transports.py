# SPDX-License-Identifier: Apache-2.0
"""Protocols that few kernels have: the same traffic over each, and both ends must have counted the same."""

from __future__ import annotations

import ctypes
import os
import re
import socket
import stat
import struct
from collections.abc import Callable
from pathlib import Path

import pytest

import probes
from nmtest import Netmodel, assert_complete, assert_ends_agree, defines, descendants, free_port, master_of, wait_until
from vmtest import Link, group, one_way, rr, run

PROTOCOLS = ("mptcp", "sctp", "vsock")
SCTP = 132
PIDFD_GETFD = 438  # of every architecture

Profile = Callable[[str], Path]


@pytest.mark.parametrize("protocol", probes.protocols(*PROTOCOLS))
def test_request_response(netmodel: Netmodel, profile: Profile, protocol: str) -> None:
    document = run(netmodel, profile(group(rr(), f"protocol={protocol}")))
    own = master_of(document)["groups"][0]
    assert own["bytes_sent"] == 200 * 100
    assert own["bytes_received"] == 200 * 1000


@pytest.mark.parametrize("protocol", probes.protocols(*PROTOCOLS))
def test_long_messages(netmodel: Netmodel, profile: Profile, protocol: str) -> None:
    """Longer than the buffers of the kernel, and than what goes in one call."""
    # With the usual buffers, SCTP has one message on the way at a time, and each waits for a late acknowledgement.
    more = "wndsz=1m sctp_sack_frequency=1" if protocol == "sctp" else ""
    path = profile(group(rr(300001, 3000001, 'iterations="2"'), f"protocol={protocol} {more}"))
    document = run(netmodel, path)
    assert master_of(document)["groups"][0]["bytes_received"] == 2 * 3000001


@pytest.mark.parametrize("protocol", probes.protocols(*PROTOCOLS))
def test_one_way(netmodel: Netmodel, profile: Profile, protocol: str) -> None:
    body = one_way("16k", 'duration="300ms"')
    document = run(netmodel, profile(group(body, f"protocol={protocol}", threads=2, flows=4)))
    assert master_of(document)["groups"][0]["bytes_sent"] > 10 * 16384


@pytest.mark.parametrize("protocol", probes.protocols(*PROTOCOLS))
def test_a_connection_for_each_request(netmodel: Netmodel, profile: Profile, protocol: str) -> None:
    document = run(
        netmodel,
        profile(f"""<group nthreads="2" nflows="4"><transaction iterations="40">
          <flowop type="connect" options="remotehost=$h protocol={protocol}"/>
          <flowop type="write" options="size=10"/><flowop type="read" options="size=20"/>
          <flowop type="disconnect"/>
        </transaction></group>"""),
    )
    assert master_of(document)["groups"][0]["connects"] == 4 * 40


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("protocol", probes.protocols(*PROTOCOLS))
def test_closed_before_it_is_accepted(
    netmodel: Netmodel, profile: Profile, protocol: str, shared: bool
) -> None:
    """The one end may be through with a connection before the other has taken it."""
    port = free_port() if shared else 0
    connect = f'<flowop type="connect" options="remotehost=$h protocol={protocol} port={port}"/>'
    document = run(
        netmodel,
        profile(f"""<group nthreads="2" nflows="6"><transaction iterations="15">
          {connect}<flowop type="disconnect"/>
          {connect}<flowop type="write" options="size=5000"/><flowop type="disconnect"/>
        </transaction></group>"""),
    )
    assert master_of(document)["groups"][0]["connects"] == 6 * 15 * 2


@pytest.mark.parametrize("protocol", probes.protocols(*PROTOCOLS))
def test_the_master_accepts(netmodel: Netmodel, profile: Profile, protocol: str) -> None:
    document = run(netmodel, profile(group(rr(), f"protocol={protocol}", threads=2, flows=4, opener="accept")))
    assert master_of(document)["groups"][0]["accepts"] == 4


@pytest.mark.parametrize("protocol", probes.protocols(*PROTOCOLS))
def test_a_port_of_all_flows(netmodel: Netmodel, profile: Profile, protocol: str) -> None:
    groups = group(rr(), f"protocol={protocol} port={free_port()}", threads=2, flows=8)
    document = run(netmodel, profile(groups + groups))
    assert master_of(document)["groups"][1]["connects"] == 8


@pytest.mark.parametrize("protocol", probes.protocols(*PROTOCOLS))
def test_many_flows(netmodel: Netmodel, profile: Profile, protocol: str) -> None:
    document = run(
        netmodel, profile(group(rr(64, 64, 'iterations="3"'), f"protocol={protocol}", threads=2, flows=500))
    )
    assert master_of(document)["groups"][0]["connects"] == 500


@pytest.mark.parametrize("protocol", probes.protocols("mptcp", "sctp"))
def test_between_hosts(netmodel: Netmodel, profile: Profile, link: Link, protocol: str) -> None:
    opening = f"protocol={protocol} wndsz=128k localhost={link.addresses[0]}"
    link.run(netmodel, profile(group(rr(), opening, flows=4)))


@pytest.mark.parametrize("name", probes.protocols("sctp_rr", "vsock_rr"))
def test_stock_profile(netmodel: Netmodel, name: str) -> None:
    document = netmodel.measure(name, *defines(test_length="300ms", num_flows=2))
    assert_complete(document)
    assert_ends_agree(document)


def tls_counter(name: str) -> int:
    """Of connections whose records the kernel has made or opened; without hardware that does it."""
    for line in Path("/proc/net/tls_stat").read_text().splitlines():
        if line.split()[0] == name:
            return int(line.split()[1])
    raise AssertionError(name)


@pytest.mark.needs("ktls")
@pytest.mark.parametrize(
    ("version", "cipher"), [("TLSv1.2", "ECDHE-ECDSA-AES128-GCM-SHA256"), ("TLSv1.3", "TLS_AES_128_GCM_SHA256")]
)
def test_tls_in_the_kernel(netmodel: Netmodel, profile: Profile, version: str, cipher: str) -> None:
    before = tls_counter("TlsTxSw"), tls_counter("TlsRxSw")
    body = rr(3000, 70000, 'iterations="10"') + one_way(100000, 'iterations="3"')
    document = run(netmodel, profile(group(body, f"protocol=ssl ktls method={version} cipher={cipher}", flows=3)))
    told = [host["connections"]["tls"] for host in document["hosts"]]
    assert [one["version"] for one in told] == [version] * 2
    assert [one["ktls_send"] for one in told] == [3, 3]
    if version == "TLSv1.2":  # what is received with TLS 1.3, OpenSSL leaves to the kernel only from 3.2 on
        assert [one["ktls_receive"] for one in told] == [3, 3]
    assert tls_counter("TlsTxSw") - before[0] == sum(one["ktls_send"] for one in told)
    assert tls_counter("TlsRxSw") - before[1] == sum(one["ktls_receive"] for one in told)


# ---- vsock ----


@pytest.mark.needs("vsock")
def test_control_over_vsock(netmodel: Netmodel, profile: Profile) -> None:
    path = profile(group(rr(), "protocol=vsock", flows=3))
    with netmodel.slave("-S", "vsock") as slave:
        document = run(netmodel, path, "1", "-S", "vsock", "-P", str(slave.port))
    assert document["hosts"][1]["address"] == "vsock:1"


@pytest.mark.needs("vsock")
def test_a_key_over_vsock(netmodel: Netmodel, profile: Profile) -> None:
    path = profile(group(rr(), "protocol=vsock"))
    keys = [{"NETMODEL_KEY": digits * 2} for digits in ("0123456789abcdef", "fedcba9876543210")]
    with netmodel.slave("-S", "vsock", env=keys[0]) as slave:
        options = ("-S", "vsock", "-P", str(slave.port), *defines(h=1))
        document = netmodel.measure(path, *options, env=keys[0])
        assert document["hosts"][1]["authentication"] == "key"
        assert "another key" in netmodel.run("-m", path, *options, env=keys[1], code=2).err
        assert "with its key only" in netmodel.run("-m", path, *options, code=2).err


@pytest.mark.needs("vsock")
def test_a_slave_that_listens_on_its_own_cid_only(netmodel: Netmodel, profile: Profile) -> None:
    path = profile(group(rr(), "protocol=vsock"))
    with netmodel.slave("-S", "vsock", "--bind", "1") as slave:
        run(netmodel, path, "1", "-S", "vsock", "-P", str(slave.port))


@pytest.mark.needs("vsock")
def test_no_internet_over_vsock(netmodel: Netmodel, profile: Profile) -> None:
    path = profile(group(rr(), "protocol=tcp"))
    with netmodel.slave("-S", "vsock") as slave:
        result = netmodel.run("-m", path, *defines(h=1), "-S", "vsock", "-P", str(slave.port), "-q", code=2)
    assert "tcp needs an internet address, and the control connection is over vsock (-S)" in result.err


def test_no_vsock_to_an_internet_address(netmodel: Netmodel, profile: Profile, link: Link) -> None:
    path = profile(group(rr(), "protocol=vsock"))
    result = netmodel.run("-m", path, *defines(h=link.addresses[1]), prefix=link.prefix(0), code=1)
    assert "an address of the internet has no place in vsock: must be local" in result.err


@pytest.mark.needs("vsock")
def test_nobody_listens_on_vsock(netmodel: Netmodel, profile: Profile) -> None:
    path = profile(group(rr(), "protocol=vsock"))
    result = netmodel.run("-m", path, *defines(h=1), "-S", "vsock", "-P", "20999", "-q", code=2)
    assert 'nothing listens on port 20999 there: start a slave with "netmodel -s -S vsock -P 20999"' in result.err


@pytest.mark.needs("vsock")
def test_a_port_of_vsock_that_is_taken(netmodel: Netmodel) -> None:
    with netmodel.slave("-S", "vsock") as slave:
        result = netmodel.run("-s", "-S", "vsock", "-P", str(slave.port), code=2)
    assert f"port {slave.port} of vsock is in use" in result.err


# ---- SCTP ----


def associations() -> list[dict[str, str]]:
    """Those of /proc/net/sctp/assocs, by the names of its columns up to the ports."""
    lines = Path("/proc/net/sctp/assocs").read_text().splitlines()
    columns = lines[0].split()
    found = []
    for line in lines[1:]:
        left, right = line.split("<->")
        one = dict(zip(columns, left.split()))
        tail = re.findall(r"\S+", right.split("*")[-1])[1:]
        one |= dict(zip(["HBINT", "INS", "OUTS"], tail))
        found.append(one)
    return found


@pytest.mark.needs("sctp")
def test_streams_are_the_other_way_round_at_the_other_end(netmodel: Netmodel, profile: Profile) -> None:
    body = rr(more="sctp_unordered", attributes='duration="2s"')
    path = profile(group(body, "protocol=sctp sctp_in_streams=3 sctp_out_streams=5 sctp_hb_interval=7000"))
    with netmodel.started("-m", path, *defines(h="local"), "-v") as process:
        process.wait_line(r"phase 2 of 3|transaction 2 of 3")
        seen = {(one["INS"], one["OUTS"]) for one in associations()}
        beats = {one["HBINT"] for one in associations()}
        assert process.finish().code == 0
    assert seen == {("3", "5"), ("5", "3")}
    assert beats == {str(7000 * 250 // 1000)}  # ticks of the kernel, 250 a second


@pytest.mark.needs("sctp")
def test_every_stream(netmodel: Netmodel, profile: Profile) -> None:
    body = "".join(rr(more=f"sctp_stream_id={n}", attributes='iterations="20"') for n in (0, 1, 2))
    run(netmodel, profile(group(body, "protocol=sctp sctp_in_streams=3 sctp_out_streams=3")))


def sockets_of(pid: int, protocol: int) -> list[socket.socket]:
    """Copies of the connected sockets of a process and of those that it has started."""
    get = ctypes.CDLL(None, use_errno=True).syscall
    found = []
    for one in (pid, *descendants(pid)):
        process = os.pidfd_open(one)
        for fd in os.listdir(f"/proc/{one}/fd"):
            copy = get(PIDFD_GETFD, process, int(fd), 0)
            if copy < 0:
                continue
            if not stat.S_ISSOCK(os.fstat(copy).st_mode):
                os.close(copy)
                continue
            like = socket.socket(fileno=copy)
            listens = like.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)
            if like.proto == protocol and not listens:
                found.append(like)
            else:
                like.close()
        os.close(process)
    return found


def sctp_option(end: socket.socket, option: int, layout: str) -> tuple[int, ...]:
    """What it says of its association: what asks for one must be zero, which getsockopt of Python does not promise."""
    told = ctypes.create_string_buffer(struct.calcsize(layout))
    size = ctypes.c_uint(len(told))
    assert ctypes.CDLL(None).getsockopt(end.fileno(), SCTP, option, told, ctypes.byref(size)) == 0
    return struct.unpack(layout, told.raw)


@pytest.mark.needs("sctp")
def test_options_reach_the_kernel_at_both_ends(netmodel: Netmodel, profile: Profile) -> None:
    """Each option, as the kernel tells it of the sockets at both ends (linux/sctp.h). Times are in ticks of 4 ms."""
    options = (
        "protocol=sctp sctp_nodelay sctp_in_streams=20 sctp_out_streams=20 sctp_rto_min=100 sctp_rto_max=2000 "
        "sctp_rto_initial=500 sctp_sack_delay=40 sctp_sack_frequency=3 sctp_max_burst_size=8 "
        "sctp_max_fragment_size=600 sctp_hb_interval=5000 sctp_path_mtu=1200 wndsz=100k encaps=0"
    )
    think = '<transaction iterations="1"><flowop type="think" options="duration=1s"/></transaction>'
    path = profile(group(rr() + think + rr(), options))
    with netmodel.started("-m", path, *defines(h="local")) as process:

        def both() -> list[socket.socket] | None:
            found = sockets_of(process.pid, SCTP)
            if len(found) == 2:
                return found
            for one in found:
                one.close()
            return None

        for end in wait_until(both):
            with end:
                assert sctp_option(end, 0, "=iIII")[1:] == (500, 2000, 100), "SCTP_RTOINFO"
                assert sctp_option(end, 2, "=HHHH")[:2] == (20, 20), "SCTP_INITMSG"
                assert sctp_option(end, 3, "=i") == (1,), "SCTP_NODELAY"
                path_of = sctp_option(end, 9, "=i128xIHIIIIB3x")
                assert path_of[1] == 5000, "SCTP_PEER_ADDR_PARAMS: heartbeats"
                assert path_of[3] == 1200, "SCTP_PEER_ADDR_PARAMS: MTU"
                assert sctp_option(end, 13, "=iI")[1] == 600, "SCTP_MAXSEG"
                assert sctp_option(end, 16, "=iII")[1:] == (40, 3), "SCTP_DELAYED_SACK"
                assert sctp_option(end, 20, "=iI")[1] == 8, "SCTP_MAX_BURST"
                for buffer in (socket.SO_SNDBUF, socket.SO_RCVBUF):
                    assert end.getsockopt(socket.SOL_SOCKET, buffer) == 2 * 100 * 1024
        assert process.finish().code == 0


@pytest.mark.needs("sctp")
def test_small_send_buffer(netmodel: Netmodel, profile: Profile) -> None:
    """The kernel takes no message that is longer than the buffer."""
    run(netmodel, profile(group(rr(60000, 6000, 'iterations="2"'), "protocol=sctp sndbuf=8k sctp_nodelay")))


@pytest.mark.needs("sctp")
def test_packets_in_udp(netmodel: Netmodel, profile: Profile, link: Link) -> None:
    link.sysctl("net.sctp.udp_port", "9899")
    link.run(netmodel, profile(group(rr(), "protocol=sctp encaps=9899")))
