# SPDX-License-Identifier: Apache-2.0
"""Masters and slaves: several of each, on this host and on hosts of their own."""

from __future__ import annotations

import os
import re
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from compose import ask, connect, group, lasting, once, read, times
from nmtest import (
    PROFILES,
    Json,
    Netmodel,
    Node,
    Process,
    Slave,
    assert_complete,
    assert_ends_agree,
    defines,
    master_of,
    phase_of,
    slaves_of,
    wait_until,
)

WriteProfile = Callable[..., Path]
MakeNodes = Callable[[int], list[Node]]

HERE = {"host": "127.0.0.1", "test_length": "200ms"}


def test_a_slave_that_is_no_child(netmodel: Netmodel, slave: Slave, validate: Callable[[Json], None]) -> None:
    document = netmodel.measure("tcp_rr", "-P", str(slave.port), *defines(**HERE, num_flows=4))
    validate(document)
    assert_complete(document)
    assert_ends_agree(document)
    other = slaves_of(document)[0]
    assert (other["name"], other["address"]) == ("127.0.0.1", "127.0.0.1")
    assert document["run"]["start_skew_s"] is not None
    assert abs(other["start_skew_s"]) < 0.1
    assert 0 < other["start_skew_error_s"] < 0.1
    slave.process.wait_line(rf"run {document['run']['id'][:12]}: profile .*tcp_rr\.xml, as host 127\.0\.0\.1")
    wait_until(lambda: not slave.sessions(), what="the session has ended")


def test_the_slave_listens_on_the_port_it_is_given(netmodel: Netmodel) -> None:
    with socket.socket() as probe:  # a port that is free right now; the kernel hands out others for a while
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with netmodel.slave("-P", str(port), "--bind", "127.0.0.1") as slave:
        assert slave.port == port
        assert f"listening on 127.0.0.1 port {port}" in slave.process.err
        assert_complete(netmodel.measure("tcp_rr", "-P", str(port), *defines(**HERE)))


def test_several_masters_at_once(netmodel: Netmodel, slave: Slave) -> None:
    with ExitStack() as stack:
        args = ["--format", "json", "-P", str(slave.port)]
        masters = [
            stack.enter_context(netmodel.started("-m", name, *args, *defines(**HERE)))
            for name in ("tcp_rr", "tcp_crr", "tcp_stream", "rpc_mix")
        ]
        documents = [master.finish().json() for master in masters]
    for document in documents:
        assert_complete(document)
        assert_ends_agree(document)
    slave.process.wait_line("run [0-9a-f]{12}: profile", count=4)


def test_masters_one_after_the_other(netmodel: Netmodel, slave: Slave) -> None:
    for _ in range(3):
        document = netmodel.measure("tcp_rr", "-P", str(slave.port), *defines(host="127.0.0.1", test_length="50ms"))
        assert_ends_agree(document)


def test_once_means_one_session(netmodel: Netmodel) -> None:
    with netmodel.slave("--once") as slave:
        with socket.create_connection(("127.0.0.1", slave.port)) as stranger:
            stranger.sendall(b"GET / HTTP/1.0\r\n\r\n")
        netmodel.measure("tcp_rr", "-P", str(slave.port), *defines(**HERE))
        assert slave.process.finish().code == 0


@pytest.mark.parametrize("limit", [("--once",), ("--sessions", "1")])
def test_once_refuses_who_comes_meanwhile(netmodel: Netmodel, profile: WriteProfile, limit: tuple[str, ...]) -> None:
    with netmodel.slave(*limit, "--max-flows", "10") as slave:
        to = ["-P", str(slave.port)]
        refused = netmodel.run("-m", "tcp_rr", *to, *defines(**HERE, num_flows=11))
        assert "it allows 10" in refused.err, "that was no session, and leaves room for one"
        args = ["-m", "tcp_rr", "-v", "--format", "json", *to, *defines(host="127.0.0.1", test_length="60s")]
        with netmodel.started(*args) as first:
            first.wait_line("phase 2 of 3 begins")
            second = netmodel.run("-m", "tcp_rr", *to, *defines(**HERE))
            assert second.code == 2, second
            assert "refused: it serves 1 session and no more (--once, --sessions)" in second.err
            first.signal(signal.SIGINT)
            assert_ends_agree(first.finish().json())
        assert slave.process.finish().code == 0


def test_a_slave_takes_the_flags_of_a_master(netmodel: Netmodel, tmp_path: Path) -> None:
    """Scripts for uperf give both sides the same."""
    flags = ["-v", "-a", "-f", "-t", "-g", "-T", "-k", "-p", "-e", "-n", "-R", "-i", "1", "-E", "cycles"]
    with netmodel.slave(*flags, "-X", tmp_path / "log", "--once") as slave:
        netmodel.measure("tcp_rr", "-P", str(slave.port), *defines(**HERE))
        result = slave.process.finish()
    assert result.code == 0, result
    assert result.out == ""
    assert "--raw: has no effect on a slave: masters ask for it" in result.err
    assert not (tmp_path / "log").exists()


def test_a_slave_ends_when_it_is_told_to(netmodel: Netmodel) -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        with netmodel.slave() as slave:
            slave.process.signal(number)
            assert slave.process.finish().code == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_slave_that_is_ended_during_a_run_says_so(netmodel: Netmodel, number: int) -> None:
    with netmodel.slave() as slave:
        args = ["-m", "tcp_rr", "-v", "-P", str(slave.port), *defines(host="127.0.0.1", test_length="30s")]
        with netmodel.started(*args) as master:
            master.wait_line("phase 2 of 3 begins")
            slave.process.signal(number)
            ended = slave.process.finish()
            assert master.finish().code == 2
    assert ended.code == 0, ended
    assert "netmodel: interrupted: ends 1 session under way\n" in ended.err


def test_a_run_has_one_number_everywhere(netmodel: Netmodel, slave: Slave) -> None:
    result = netmodel.run("-m", "tcp_rr", "-P", str(slave.port), *defines(**HERE), code=0)
    found = re.search(r"^  run ([0-9a-f]{12})  ", result.out, re.MULTILINE)
    assert found
    slave.process.wait_line(f"run {found[1]}: profile ")


def test_a_quiet_slave_says_nothing(netmodel: Netmodel) -> None:
    with netmodel.slave() as other:
        pass
    with netmodel.started("-s", "-q", "-P", str(other.port)) as slave:
        document = netmodel.measure("tcp_rr", "-P", str(other.port), *defines(**HERE))
        assert_complete(document)
        slave.signal(signal.SIGTERM)
        result = slave.finish()
    assert (result.code, result.out, result.err) == (0, "", "")


def test_a_second_slave_on_the_port_fails(netmodel: Netmodel, slave: Slave) -> None:
    result = netmodel.run("-s", "-P", str(slave.port))
    assert result.code not in (0, 3)
    assert len(result.lines()) == 1
    assert f"port {slave.port} is in use" in result.err
    assert_complete(netmodel.measure("tcp_rr", "-P", str(slave.port), *defines(**HERE)))


def test_a_slave_survives_a_killed_session(netmodel: Netmodel, slave: Slave) -> None:
    args = ["-m", "tcp_rr", "--format", "json", "-v", "-P", str(slave.port)]
    with netmodel.started(*args, *defines(host="127.0.0.1", test_length="30s")) as master:
        master.wait_line("phase 2 of 3 begins")
        (session,) = slave.sessions()
        os.kill(session, signal.SIGKILL)
        result = master.finish()
    assert result.code == 2, result
    assert result.json()["run"]["complete"] is False
    slave.process.wait_line(rf"session {session} was ended by signal 9")
    assert_ends_agree(netmodel.measure("tcp_rr", "-P", str(slave.port), *defines(**HERE)))


def test_limits_of_a_slave(netmodel: Netmodel) -> None:
    with netmodel.slave("--max-flows", "10", "--max-duration", "1s") as slave:
        to = ["-P", str(slave.port)]
        assert_complete(netmodel.measure("tcp_rr", *to, *defines(**HERE, num_flows=10)))
        result = netmodel.run("-m", "tcp_rr", *to, *defines(**HERE, num_flows=11))
        assert result.code == 2, result
        assert "refused: 11 flows are asked for, and it allows 10" in result.err
        result = netmodel.run("-m", "tcp_rr", *to, *defines(host="127.0.0.1", test_length="20s"))
        assert result.code == 2, result
        assert "refused: a run of at least 20.0 s is asked for, and it allows 1.00 s (--max-duration)" in result.err
        waits = ("--wait-start", "20s", *defines(**HERE))
        result = netmodel.run("-m", "tcp_rr", *to, *waits)
        assert result.code == 2, result
        assert "longest duration that the slave allows" in result.err
        slave.process.wait_line(r"ended: it took longer than this slave allows \(--max-duration\)")


def test_one_master_with_two_hosts_and_two_groups(
    netmodel: Netmodel, slave: Slave, profile: WriteProfile, validate: Callable[[Json], None]
) -> None:
    group = (
        '<group name="{name}" nthreads="1" nflows="{flows}">'
        '<transaction><flowop type="connect" options="remotehost={host} nodelay"/></transaction>'
        '<transaction name="ask" duration="200ms"><flowop type="write" options="size={size}"/>'
        '<flowop type="read" options="size=30"/></transaction>'
        '<transaction><flowop type="disconnect"/></transaction></group>'
    )
    path = profile(
        group.format(name="near", flows=2, host="local", size=100)
        + group.format(name="far", flows=3, host="127.0.0.1", size=200)
    )
    document = netmodel.measure(path, "-P", str(slave.port))
    validate(document)
    assert_complete(document)
    assert_ends_agree(document)
    near, far = slaves_of(document)
    assert (near["name"], far["name"]) == ("local", "127.0.0.1")
    assert [group["name"] for group in near["groups"] if group["bytes_received"]] == ["near"]
    assert [group["name"] for group in far["groups"] if group["bytes_received"]] == ["far"]


def test_two_names_of_one_host_are_two_hosts(netmodel: Netmodel, slave: Slave) -> None:
    document = netmodel.measure(
        "http_get",
        "-P",
        str(slave.port),
        *defines(host1="127.0.0.1", host2="localhost", host3="127.0.0.1", test_length="200ms"),
    )
    assert_complete(document)
    assert_ends_agree(document)
    assert [host["name"] for host in slaves_of(document)] == ["127.0.0.1", "localhost"]


def test_three_slaves_and_a_master_in_four_namespaces(
    netmodel: Netmodel, nodes: MakeNodes, validate: Callable[[Json], None]
) -> None:
    *clients, server = nodes(4)
    with ExitStack() as stack:
        for client in clients:
            stack.enter_context(netmodel.slave("-P", "20000", "--no-auth", prefix=client.prefix))
        hosts = {f"host{number}": client.address for number, client in enumerate(clients, 1)}
        document = netmodel.measure("http_get", *defines(**hosts, nth=4, test_length="500ms"), prefix=server.prefix)
    validate(document)
    assert_complete(document)
    assert_ends_agree(document)
    slaves = slaves_of(document)
    assert [slave["address"] for slave in slaves] == [client.address for client in clients]
    counts = master_of(document)["counts"]
    assert counts["bytes_sent"] == sum(slave["counts"]["bytes_received"] for slave in slaves) > 0
    assert counts["bytes_received"] == sum(slave["counts"]["bytes_sent"] for slave in slaves) > 0
    for slave, told in zip(slaves, document["groups"], strict=True):
        passes = next(phase["transactions"] for phase in told["phases"] if phase["name"] == "get")
        assert slave["counts"]["bytes_received"] == passes * 65536
        assert slave["counts"]["bytes_sent"] == passes * 64
        assert slave["counts"]["connects"] == 4
        assert passes > 0
    skews = [slave["start_skew_s"] for slave in slaves]
    assert all(skew is not None for skew in skews)
    assert document["run"]["start_skew_s"] == pytest.approx(max(0, *skews) - min(0, *skews), abs=1e-9)
    assert document["run"]["start_skew_s"] < 0.25
    nics = {nic["name"]: nic for nic in slaves[0]["nics"]}
    assert nics["eth0"]["rx_bytes"] > 0.5 * slaves[0]["counts"]["bytes_received"]


def test_a_slave_refuses_masters_of_other_hosts(netmodel: Netmodel, nodes: MakeNodes) -> None:
    near, far = nodes(2)
    to = defines(host=near.address, test_length="100ms")
    with netmodel.slave("-P", "20000", prefix=near.prefix) as slave:
        result = netmodel.run("-m", "tcp_rr", "--format", "json", *to, prefix=far.prefix)
        assert result.code == 2, result
        assert re.search(rf"slave {near.address}: refused: .*{far.address}.*--no-auth", result.err)
        document = result.json()
        assert document["run"]["complete"] is False
        assert "--no-auth" in document["run"]["incomplete_why"]
        assert document["totals"]["transactions"] == 0
        slave.process.wait_line(rf"master {far.address}: refused")
        # By its own address, a master of the same host is taken.
        assert_complete(netmodel.measure("tcp_rr", *to, prefix=near.prefix))


CROWD = """
import socket, sys
crowd = [socket.create_connection((sys.argv[1], 20000), timeout=60) for _ in range(200)]
print(sum(b'["refuse"' in one.recv(1000) for one in crowd), flush=True)
"""


def test_masters_of_other_hosts_get_no_process(netmodel: Netmodel, nodes: MakeNodes) -> None:
    near, far = nodes(2)
    with netmodel.slave("-P", "20000", prefix=near.prefix) as slave:
        crowd = Process([*far.prefix, sys.executable, "-c", CROWD, near.address], os.environ)
        try:
            result = crowd.finish()
        finally:
            crowd.end()
        assert (result.code, result.out) == (0, "200\n"), "each is told why, before it says anything"
        assert not slave.sessions()
        refusals = re.findall(rf"master {far.address}: refused", slave.process.err)
        # Four lines at once, and then two a second.
        assert 1 <= len(refusals) <= 5 + 2 * result.seconds, "a crowd does not fill the log"
        assert_complete(netmodel.measure("tcp_rr", *defines(host=near.address, test_length="50ms"), prefix=near.prefix))


def test_without_authentication_it_takes_them(netmodel: Netmodel, nodes: MakeNodes) -> None:
    near, far = nodes(2)
    with netmodel.slave("-P", "20000", "--no-auth", prefix=near.prefix):
        document = netmodel.measure("tcp_stream", *defines(host=near.address, test_length="200ms"), prefix=far.prefix)
    assert_complete(document)
    assert_ends_agree(document)
    assert document["totals"]["bytes_sent"] > 0


def test_the_profile_is_all_that_a_slave_needs(netmodel: Netmodel, tmp_path: Path) -> None:
    """Neither files nor environment of the slave have a part in the run."""
    env = {"NETMODEL_PROFILES": "/nowhere", "test_length": "20s", "request_size": "999"}
    with netmodel.slave(env=env, cwd=tmp_path) as slave:
        document = netmodel.measure(PROFILES / "tcp_rr.xml", "-P", str(slave.port), *defines(**HERE))
    assert_ends_agree(document)
    assert document["totals"]["bytes_sent"] == document["totals"]["transactions"]


@pytest.mark.parametrize("protocol", ["tcp", "udp"])
@pytest.mark.parametrize(("workers", "flows"), [(1, 1), (2, 7)])
def test_who_follows_one_slave_takes_what_another_sends(
    netmodel: Netmodel, profile: WriteProfile, slave: Slave, workers: int, flows: int, protocol: str
) -> None:
    """The first begins each pass, and some may be lost; the second sends as it likes, and what is too much must not meet
    what comes after."""
    opening = connect("127.0.0.1", f"protocol={protocol} conn=1") + connect("localhost", "protocol=tcp conn=2")
    body = lasting("200ms", read(100, "conn=1"), read(100, "conn=2"))
    text = group(once(opening), body, times(50, ask(64, 64, "conn=2")), strands=workers, kind=f'nflows="{flows}" nthreads')
    document = netmodel.measure(profile(text), "-P", str(slave.port))
    assert_complete(document)
    assert document["run"]["reconciled"] is True
    phase = phase_of(document, "counted")
    assert phase["transactions"] == 50 * flows
    assert (phase["bytes_sent"], phase["bytes_received"]) == (50 * flows * 64, 50 * flows * 64)


def test_hosts_that_are_left_on_this_one_are_told(netmodel: Netmodel, slave: Slave) -> None:
    """Of three clients one is named: the others' traffic never leaves the master, and is in one sum with its."""
    words = ("-P", str(slave.port), *defines(test_length="100ms"))
    one = netmodel.measure("http_get", *words, *defines(host1="127.0.0.1"))
    assert one["run"]["warnings"] == [
        "host2, host3: not given, so that these are on this host: traffic that never leaves it is in one sum with that of 127.0.0.1"
    ]
    all_of_them = defines(host1="127.0.0.1", host2="local", host3="127.0.0.1")
    for hosts in (all_of_them, []):
        assert netmodel.measure("http_get", *words, *hosts)["run"]["warnings"] == []
