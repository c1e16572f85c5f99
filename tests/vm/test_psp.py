# SPDX-License-Identifier: Apache-2.0
"""PSP between two hosts, each a network namespace with a netdevsim device; the two devices are linked."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from nmtest import (
    Json,
    Netmodel,
    assert_complete,
    assert_ends_agree,
    defines,
    free_port,
    in_namespace,
    master_of,
    wait_until,
)
from vmtest import group, rr, standing, without

PSPCTL = Path(__file__).with_name("pspctl.py")
BUS = Path("/sys/bus/netdevsim")
PORTS = Path("/sys/kernel/debug/netdevsim")
ALL_VERSIONS = 0xF

Profile = Callable[[str], Path]


class Pair:
    """Two hosts."""

    addresses = {"IPv4": ("192.0.2.1", "192.0.2.2"), "IPv6": ("2001:db8::1", "2001:db8::2")}

    def __init__(self) -> None:
        self.names = tuple(f"psp{os.getpid()}{side}" for side in "ab")
        self.numbers = (71, 72)  # of the devices on the bus
        self.controls: dict[int, subprocess.Popen[str]] = {}

    def prefix(self, side: int) -> tuple[str, ...]:
        # Not by "ip netns exec", which mounts another /sys.
        return ("nsenter", f"--net=/run/netns/{self.names[side]}")

    def shell(self, script: str, side: int | None = None) -> str:
        prefix = () if side is None else self.prefix(side)
        done = subprocess.run([*prefix, "sh", "-ec", script], check=True, capture_output=True, text=True, timeout=60)
        return done.stdout

    def control(self, side: int, *words: str) -> list[dict[str, int]]:
        if side not in self.controls:
            command = [*self.prefix(side), sys.executable, str(PSPCTL)]
            pipe = subprocess.PIPE
            self.controls[side] = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)
        control = self.controls[side]
        assert control.stdin
        assert control.stdout
        control.stdin.write(" ".join(words) + "\n")
        control.stdin.flush()
        devices: list[dict[str, int]] = json.loads(control.stdout.readline())
        return devices

    def devices(self, side: int) -> list[Json]:
        links = json.loads(self.shell(f"ip -j -n {self.names[side]} link"))
        return [link for link in links if link["ifname"] != "lo"]

    def make(self) -> None:
        interfaces = []
        for side, name in enumerate(self.names):
            self.shell(f"ip netns add {name}")
            self.shell(f"echo {self.numbers[side]} 1 4 >{BUS}/new_device", side)
            (device,) = wait_until(lambda: self.devices(side), 10)
            interface = device["ifname"]
            four, six = (self.addresses[family][side] for family in ("IPv4", "IPv6"))
            self.shell(
                f"""echo 0 >/proc/sys/net/ipv6/conf/{interface}/accept_dad
                ip address add {four}/24 dev {interface}
                ip address add {six}/64 dev {interface}
                ip link set {interface} up
                ip link set lo up""",
                side,
            )
            interfaces.append(device["ifindex"])
        a, b = self.names
        self.shell(
            f"exec 3</run/netns/{a} 4</run/netns/{b}; echo 3:{interfaces[0]} 4:{interfaces[1]} >{BUS}/link_device"
        )

    def register_anew(self, side: int) -> None:
        """The PSP device goes, and another one comes, which takes no version."""
        (PORTS / f"netdevsim{self.numbers[side]}/ports/0/psp_rereg").write_text("1")

    def close(self) -> None:
        for control in self.controls.values():
            control.communicate(timeout=20)
        for number in self.numbers:
            subprocess.run(["sh", "-c", f"echo {number} >{BUS}/del_device"], check=False, capture_output=True)
        for name in self.names:
            subprocess.run(["ip", "netns", "delete", name], check=False, capture_output=True)


@pytest.fixture(scope="module")
def _pair() -> Iterator[Pair]:
    if os.geteuid() != 0 or not BUS.exists():
        without("netdevsim", "CONFIG_NETDEVSIM, and root")
    yield from standing(Pair())


@pytest.fixture
def pair(_pair: Pair) -> Pair:
    for side in (0, 1):
        _pair.control(side, "enable", str(ALL_VERSIONS))
    return _pair


def run(netmodel: Netmodel, pair: Pair, profile: str | Path, *words: str, family: str = "IPv4", h: str = "host") -> Json:
    """The master on side 0, the slave on side 1; both ends must have counted the same."""
    with netmodel.slave("--no-auth", prefix=pair.prefix(1)) as slave:
        words = (*words, *defines(**{h: pair.addresses[family][1]}), "-P", str(slave.port))
        document = netmodel.measure(profile, *words, timeout=90, prefix=pair.prefix(0))
    assert_complete(document)
    assert_ends_agree(document)
    return document


def moved(document: Json) -> tuple[int, int]:
    own = master_of(document)["groups"][0]
    return own["bytes_sent"], own["bytes_received"]


def assert_went_over_psp(pair: Pair, before: list[list[dict[str, int]]], document: Json) -> None:
    """Whatever the profile has sent is in what both devices have counted: they count no clear segments."""
    sent, received = moved(document)
    after = [pair.control(side, "show")[0] for side in (0, 1)]
    grown = [{key: after[side][key] - before[side][0][key] for key in after[side]} for side in (0, 1)]
    assert grown[0]["tx_bytes"] >= sent
    assert grown[1]["rx_bytes"] >= sent
    assert grown[1]["tx_bytes"] >= received
    assert grown[0]["rx_bytes"] >= received


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
    ends = [socket.create_connection((address, port), timeout=20) for _ in range(3)]
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
            process.wait_line("phase 2 of 3 begins", 30)
            with in_namespace(pair.names[0]):
                assert intrude(pair.addresses["IPv4"][1], port) == b""
            assert process.running()
            done = process.finish(60)
    assert done.code == 0, done.err
    document = json.loads(done.out)
    assert_complete(document)
    assert_ends_agree(document)
    assert master_of(document)["groups"][0]["connects"] == 2
    assert_went_over_psp(pair, before, document)


@pytest.mark.parametrize(
    ("name", "more"), [("psp_rr", {}), ("psp_stream", {}), ("psp_stream", {"enable_tcp_maerts": "yes"}), ("psp_crr", {})]
)
def test_rotations(netmodel: Netmodel, pair: Pair, name: str, more: dict[str, str]) -> None:
    """Keys outlive one rotation: after each, connections are replaced, and no byte is lost."""
    with netmodel.slave("--no-auth", prefix=pair.prefix(1)) as slave:
        words = defines(host=pair.addresses["IPv4"][1], test_length="15s", num_flows=3, num_threads=2, **more)
        with netmodel.started(
            "-m", name, *words, "-P", str(slave.port), "-v", "--format", "json", prefix=pair.prefix(0)
        ) as process:
            process.wait_line("phase 1 of 1 begins" if name == "psp_crr" else "phase 2 of 3 begins", 30)
            for count, side in enumerate((1, 0, 1), 1):
                time.sleep(1)
                pair.control(side, "rotate")
                process.wait_line("to be replaced", 30, count)
            done = process.finish(60)
    assert done.code == 0, done.err
    document = json.loads(done.out)
    assert_complete(document)
    assert_ends_agree(document)
    if name != "psp_crr":
        assert master_of(document)["groups"][0]["connects"] == 3 * (1 + 3)
    assert [host["psp"][0]["key_rotations"] for host in document["hosts"]] == [1, 2]


@pytest.mark.parametrize("side", [0, 1])
def test_a_device_that_goes(netmodel: Netmodel, pair: Pair, side: int) -> None:
    with netmodel.slave("--no-auth", prefix=pair.prefix(1)) as slave:
        words = defines(host=pair.addresses["IPv4"][1], test_length="60s")
        with netmodel.started("-m", "psp_rr", *words, "-P", str(slave.port), "-v", prefix=pair.prefix(0)) as process:
            process.wait_line("phase 2 of 3 begins", 30)
            pair.register_anew(side)
            done = process.finish(20)
    assert done.code == 2
    assert "has gone, and with it all its keys" in done.err
