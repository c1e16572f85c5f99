# SPDX-License-Identifier: Apache-2.0
"""PSP between two hosts."""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from nmtest import PATIENCE_S, Netmodel, defines, free_port, in_namespace, master_of
from psptest import Pair, assert_went_over_psp, completed, moved, rotate, run
from vmtest import group, rr

Profile = Callable[[str], Path]


@pytest.mark.parametrize("family", ["IPv4", "IPv6"])
@pytest.mark.parametrize("name", ["psp_rr", "psp_crr", "psp_stream"])
def test_workload(netmodel: Netmodel, pair: Pair, name: str, family: str) -> None:
    before = [pair.control(side, "show") for side in (0, 1)]
    words = defines(num_flows=3, num_threads=2)
    if name == "psp_stream":
        words += defines(test_length="500ms")
    else:  # the machine may be slow
        words += defines(test_length="60s", num_transactions=12, request_size=300, response_size=5000)
    document = run(netmodel, pair, name, *words, family=family)
    if name != "psp_stream":
        assert moved(document) == (12 * 300, 12 * 5000)
    assert_went_over_psp(pair, before, document)


def test_statistics(netmodel: Netmodel, pair: Pair) -> None:
    """The result tells what the devices have moved, and apart how long a flow connects, exchanges keys, and asks."""
    document = run(netmodel, pair, "psp_crr", *defines(test_length="60s", num_transactions=5), "-f")
    master, slave = document["hosts"]
    sent, received = moved(document)
    for host in (master, slave):
        (device,) = host["psp"]
        assert device["tx_packets"] > 0
        assert device["rx_packets"] > 0
        assert device["key_rotations"] == 0
    # The last connection may be open when the window closes.
    assert master["psp"][0]["tx_bytes"] >= sent - 1
    assert slave["psp"][0]["tx_bytes"] >= received - 1
    (phase,) = document["groups"][0]["phases"]
    flowops = {one["flowop"]: one for one in phase["flowops"]}
    assert set(flowops) == {"connect", "secure", "write", "read", "disconnect"}
    whole = phase["latency_s"]["mean"]
    parts = [flowops[name]["time_s"]["mean"] for name in ("connect", "secure", "read")]
    assert all(part > 0 for part in parts)
    assert sum(parts) <= whole * 1.01


@pytest.mark.parametrize("version", ["aes-gcm-256", "aes-gmac-128", "aes-gmac-256"])
def test_version(netmodel: Netmodel, pair: Pair, version: str) -> None:
    before = [pair.control(side, "show") for side in (0, 1)]
    document = run(netmodel, pair, "psp_rr", *defines(test_length="300ms", version=version))
    assert_went_over_psp(pair, before, document)


def test_the_slave_connects(netmodel: Netmodel, pair: Pair, profile: Profile) -> None:
    path = profile(group(rr(), "protocol=psp", threads=2, flows=4, opener="accept"))
    before = [pair.control(side, "show") for side in (0, 1)]
    document = run(netmodel, pair, path, h="h")
    assert master_of(document)["groups"][0]["accepts"] == 4
    assert_went_over_psp(pair, before, document)


def refused(netmodel: Netmodel, pair: Pair, *words: str) -> str:
    with netmodel.slave("--no-auth", prefix=pair.prefix(1)) as slave:
        words = ("-m", "psp_rr", *words, *defines(host=pair.addresses["IPv4"][1]), "-P", str(slave.port), "-q")
        return netmodel.run(*words, prefix=pair.prefix(0), code=2).err


@pytest.mark.parametrize("side", [0, 1])
def test_a_device_that_takes_nothing(netmodel: Netmodel, pair: Pair, side: int) -> None:
    """The kernel would give keys all the same, and the device drop what comes."""
    pair.control(side, "enable", "0")
    told = refused(netmodel, pair)
    who = "master: " if side == 0 else f"slave {pair.addresses['IPv4'][1]}: "
    assert who in told
    assert "PSP is not enabled on" in told
    assert "versions-ena" in told


def test_a_version_that_one_end_does_not_take(netmodel: Netmodel, pair: Pair) -> None:
    pair.control(1, "enable", "1")
    told = refused(netmodel, pair, *defines(version="aes-gcm-256"))
    assert "version=aes-gcm-256: no PSP device here takes it; versions-ena allows: aes-gcm-128" in told


def test_no_device(netmodel: Netmodel, pair: Pair) -> None:
    result = netmodel.run("-m", "psp_rr", "-q", code=1)
    assert "no network device of this network namespace has PSP" in result.err


def test_a_route_over_no_device(netmodel: Netmodel, pair: Pair) -> None:
    """Within a host everything goes over lo."""
    result = netmodel.run("-m", "psp_rr", "-q", prefix=pair.prefix(0), code=2)
    assert "PSP: its route does not leave through a PSP device" in result.err


def intrude(address: str, port: int) -> bytes:
    """What is answered to clear bytes, of which some are too few for anything."""
    ends = [socket.create_connection((address, port), timeout=PATIENCE_S) for _ in range(3)]
    with ends[0], ends[1], ends[2]:
        ends[1].sendall(b"x")
        ends[0].sendall(b"GET / HTTP/1.0\r\n\r\n" * 100)
        try:
            return ends[0].recv(1000)
        except ConnectionResetError:
            return b""


def test_intruders(netmodel: Netmodel, pair: Pair) -> None:
    """Who sends clear bytes to the port of the data gets nothing, and ends nothing."""
    port = free_port()
    before = [pair.control(side, "show") for side in (0, 1)]
    with netmodel.slave("--no-auth", prefix=pair.prefix(1)) as slave:
        words = defines(host=pair.addresses["IPv4"][1], port=port, test_length="8s", num_flows=2)
        with netmodel.started(
            "-m", "psp_rr", *words, "-P", str(slave.port), "-v", "--format", "json", prefix=pair.prefix(0)
        ) as process:
            process.wait_line("phase 2 of [34] begins")
            with in_namespace(pair.names[0]):
                assert intrude(pair.addresses["IPv4"][1], port) == b""
            assert process.running()
            done = process.finish()
    document = completed(done)
    assert master_of(document)["groups"][0]["connects"] == 2
    assert_went_over_psp(pair, before, document)


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("psp_rr", {}),
        *(
            pytest.param(name, more, marks=pytest.mark.long)
            for name, more in [("psp_stream", {}), ("psp_stream", {"enable_tcp_maerts": "yes"}), ("psp_crr", {})]
        ),
    ],
)
def test_rotations(netmodel: Netmodel, pair: Pair, name: str, more: dict[str, str]) -> None:
    """Keys outlive one rotation: after each, connections are replaced, and no byte is lost."""
    with netmodel.slave("--no-auth", prefix=pair.prefix(1)) as slave:
        words = defines(host=pair.addresses["IPv4"][1], test_length="15s", num_flows=3, num_threads=2, **more)
        with netmodel.started(
            "-m", name, *words, "-P", str(slave.port), "-v", "--format", "json", prefix=pair.prefix(0)
        ) as process:
            process.wait_line("phase 1 of 1 begins" if name == "psp_crr" else "phase 2 of [34] begins", 30)
            rotate(pair, process, (1, 0, 1))
            done = process.finish()
    document = completed(done)
    if name != "psp_crr":
        assert master_of(document)["groups"][0]["connects"] == 3 * (1 + 3)
    assert [host["psp"][0]["key_rotations"] for host in document["hosts"]] == [1, 2]


@pytest.mark.parametrize("side", [0, 1])
def test_a_device_that_goes(netmodel: Netmodel, pair: Pair, side: int) -> None:
    with netmodel.slave("--no-auth", prefix=pair.prefix(1)) as slave:
        words = defines(host=pair.addresses["IPv4"][1], test_length="60s")
        with netmodel.started("-m", "psp_rr", *words, "-P", str(slave.port), "-v", prefix=pair.prefix(0)) as process:
            process.wait_line("phase 2 of [34] begins")
            pair.register_anew(side)
            done = process.finish()
    assert done.code == 2
    assert "has gone, and with it all its keys" in done.err
