# SPDX-License-Identifier: Apache-2.0
"""What the tests of this folder share: profiles in a few words, and a link between two hosts that can be disturbed."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

import pytest

from nmtest import PATIENCE_S, Json, Netmodel, assert_complete, assert_counts_agree, defines


def need_machine() -> None:
    """Skips elsewhere: what follows sets up a card, or is about how the machine was booted."""
    if "/tests/vm/init" not in Path("/proc/cmdline").read_text():
        pytest.skip("this is not the test machine")


class Hosts(Protocol):
    def make(self) -> None: ...

    def close(self) -> None: ...


_Hosts = TypeVar("_Hosts", bound=Hosts)


def standing(hosts: _Hosts) -> Iterator[_Hosts]:
    """What a fixture of hosts yields: while it is in use they are there."""
    try:
        hosts.make()
        yield hosts
    finally:
        hosts.close()


def group(body: str, opening: str, threads: int = 1, flows: int = 1, opener: str = "connect") -> str:
    return f"""<group nthreads="{threads}" nflows="{flows}">
  <transaction name="open" iterations="1"><flowop type="{opener}" options="remotehost=$h {opening}"/></transaction>
  {body}
  <transaction name="close" iterations="1"><flowop type="disconnect"/></transaction>
</group>"""


def rr(request: int = 100, response: int = 1000, attributes: str = 'iterations="200"', more: str = "") -> str:
    return f"""<transaction name="rr" {attributes}>
    <flowop type="write" options="size={request} {more}"/><flowop type="read" options="size={response} {more}"/>
  </transaction>"""


def one_way(size: int | str, attributes: str, more: str = "") -> str:
    return f'<transaction name="one way" {attributes}><flowop type="write" options="size={size} {more}"/></transaction>'


def run(netmodel: Netmodel, path: Path, host: str = "local", *words: str, **how: Any) -> Json:
    """Runs a profile that says $h for its host, to the end, after which both ends have counted what they should."""
    # An emulated CPU may take longer for a connection than the half of the usual limit that there is for it.
    document = netmodel.measure(path, *defines(h=host), "--timeout", f"{PATIENCE_S:.0f}s", *words, **how)
    assert_complete(document)
    assert_counts_agree(document)
    return document


@dataclass(frozen=True)
class Disturbed:
    """What netem has counted: packets that it has let pass, with those that it has doubled, and that it has dropped."""

    passed: int
    dropped: int


class Link:
    """Two hosts, each a network namespace, and one link between them."""

    addresses = ("10.9.0.1", "10.9.0.2")

    def __init__(self) -> None:
        self.names = tuple(f"vmt{os.getpid()}{side}" for side in "ab")
        self._disturbed: set[int] = set()

    @staticmethod
    def _call(*words: str, told: str | None = None) -> str:
        return subprocess.run(words, check=True, capture_output=True, text=True, timeout=PATIENCE_S, input=told).stdout

    def make(self) -> None:
        self._call("ip", "-batch", "-", told="".join(f"netns add {name}\n" for name in self.names))
        pair = ("link", "add", "e0", "type", "veth", "peer", "name", "e0", "netns", self.names[1])
        self._call("ip", "-n", self.names[0], *pair)
        for name, address in zip(self.names, self.addresses):
            # A packet on the link is a packet to netem.
            words = f"address add {address}/24 dev e0\nlink set e0 gso_max_segs 1 gso_max_size 2000 up\nlink set lo up\n"
            self._call("ip", "-n", name, "-batch", "-", told=words)
        # Otherwise Linux cannot read its own cookie any more once the association is accepted: see SCTP in
        # netmodel-profile(5).
        if Path("/proc/sys/net/sctp").exists():
            self.sysctl("net.sctp.cookie_hmac_alg", "none")

    def prefix(self, side: int) -> tuple[str, ...]:
        return ("ip", "netns", "exec", self.names[side])

    def _tc(self, side: int, *lines: str) -> None:
        self._call("tc", "-n", self.names[side], "-batch", "-", told="".join(f"{line}\n" for line in lines))
        self._disturbed.add(side)

    def disturb(self, how: str, sides: tuple[int, ...] = (0, 1)) -> None:
        """What netem (tc-netem(8)) does to all packets as they leave: "loss 1%"."""
        for side in sides:
            self._tc(side, f"qdisc replace dev e0 root netem {how}")

    def queue(self, discipline: str) -> None:
        """The queueing discipline of both ends (tc(8))."""
        for side in (0, 1):
            self._tc(side, f"qdisc replace dev e0 root {discipline}")

    def undisturb(self) -> None:
        for side in self._disturbed:
            self._tc(side, "qdisc delete dev e0 root")
        self._disturbed.clear()

    def disturb_only(self, match: str, how: str, sides: tuple[int, ...] = (0, 1)) -> None:
        """The same for packets that tc-u32(8) finds, so that netem's counts are of these alone."""
        for side in sides:
            self._tc(
                side,
                f"qdisc replace dev e0 root handle 1: prio bands 3 priomap {'0 ' * 16}",
                f"qdisc add dev e0 parent 1:3 handle 30: netem {how}",
                f"filter add dev e0 parent 1: protocol ip u32 {match} flowid 1:3",
            )

    def disturb_datagrams(self, size: int, how: str, sides: tuple[int, ...] = (0, 1)) -> None:
        """Those of UDP that carry so many bytes."""
        self.disturb_only(f"match ip protocol 17 0xff match u16 {20 + 8 + size} 0xffff at 2", how, sides)

    def disturb_long(self, protocol: int, how: str, sides: tuple[int, ...] = (0, 1)) -> None:
        """Those of an IP protocol that have 1024 to 2047 bytes, which carry data."""
        self.disturb_only(f"match ip protocol {protocol} 0xff match u16 0x0400 0xfc00 at 2", how, sides)

    def disturbed(self, side: int) -> Disturbed:
        told = json.loads(self._call("tc", "-n", self.names[side], "-s", "-j", "qdisc", "show", "dev", "e0"))
        (one,) = [qdisc for qdisc in told if qdisc["kind"] == "netem"]
        return Disturbed(one["packets"], one["drops"])

    def no_room(self, side: int) -> int:
        """Datagrams that have arrived at a socket whose buffer was full."""
        lines = self._call(*self.prefix(side), "cat", "/proc/net/snmp").splitlines()
        names, values = [line.split() for line in lines if line.startswith("Udp:")]
        return int(values[names.index("RcvbufErrors")])

    def sysctl(self, name: str, value: str) -> None:
        for side in (0, 1):
            self._call(*self.prefix(side), "sh", "-c", f"echo {value} >/proc/sys/{name.replace('.', '/')}")

    def run(self, netmodel: Netmodel, path: Path, *words: str) -> Json:
        """A run between the two: the master on side 0, the slave on side 1."""
        with netmodel.slave("--no-auth", prefix=self.prefix(1)) as slave:
            words = (*words, "-P", str(slave.port))
            return run(netmodel, path, self.addresses[1], *words, prefix=self.prefix(0))

    def close(self) -> None:
        for name in self.names:
            subprocess.run(["ip", "netns", "delete", name], check=False, capture_output=True, timeout=PATIENCE_S)
