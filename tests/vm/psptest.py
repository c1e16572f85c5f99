# SPDX-License-Identifier: Apache-2.0
"""Two hosts, each a network namespace with a netdevsim device that has PSP; the two devices are linked."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from nmtest import (
    PATIENCE_S,
    Json,
    Netmodel,
    Process,
    Result,
    assert_complete,
    assert_ends_agree,
    defines,
    master_of,
    wait_until,
)

PSPCTL = Path(__file__).with_name("pspctl.py")
BUS = Path("/sys/bus/netdevsim")
PORTS = Path("/sys/kernel/debug/netdevsim")
ALL_VERSIONS = 0xF


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
        done = subprocess.run([*prefix, "sh", "-ec", script], check=True, capture_output=True, text=True, timeout=PATIENCE_S)
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
            (device,) = wait_until(lambda: self.devices(side))
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
            control.communicate(timeout=PATIENCE_S)
        for number in self.numbers:
            subprocess.run(["sh", "-c", f"echo {number} >{BUS}/del_device"], check=False, capture_output=True)
        for name in self.names:
            subprocess.run(["ip", "netns", "delete", name], check=False, capture_output=True)


def run(
    netmodel: Netmodel, pair: Pair, profile: str | Path, *words: str, family: str = "IPv4", h: str = "host"
) -> Json:
    """The master on side 0, the slave on side 1; both ends must have counted the same."""
    with netmodel.slave("--no-auth", prefix=pair.prefix(1)) as slave:
        words = (*words, *defines(**{h: pair.addresses[family][1]}), "-P", str(slave.port))
        document = netmodel.measure(profile, *words, prefix=pair.prefix(0))
    assert_complete(document)
    assert_ends_agree(document)
    return document


def completed(done: Result) -> Json:
    """The result of a run that has come to its end."""
    assert done.code == 0, done.err
    document: Json = done.json()
    assert_complete(document)
    assert_ends_agree(document)
    return document


def rotate(pair: Pair, process: Process, sides: Sequence[int]) -> None:
    """The devices of these sides rotate their keys, one after the other, and each time the run hears of it."""
    for count, side in enumerate(sides, 1):
        time.sleep(1)
        pair.control(side, "rotate")
        process.wait_line("to be replaced", 30, count)


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
