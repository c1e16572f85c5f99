# SPDX-License-Identifier: Apache-2.0
"""Many runs against one slave, one after the other and at the same time: nothing of it may grow."""

from __future__ import annotations

import os
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from nmtest import Netmodel, Slave, defines, resident_bytes, wait_until

PROFILES = ("tcp_rr", "udp_rr", "tcp_crr", "tcp_stream")
SHORT = {"test_length": "10ms"}


@dataclass(frozen=True)
class Held:
    """What the slave holds while it serves nobody, and what its sessions may leave on the machine."""

    resident: int
    descriptors: int
    shared: frozenset[str]  # in /dev/shm

    @classmethod
    def by(cls, slave: Slave) -> Held:
        wait_until(lambda: not slave.sessions(), 10, "sessions end")
        return cls(
            resident_bytes(slave.pid),
            len(os.listdir(f"/proc/{slave.pid}/fd")),
            frozenset(path.name for path in Path("/dev/shm").iterdir() if path.name.startswith("netmodel")),
        )


def measure_one(netmodel: Netmodel, slave: Slave, number: int) -> None:
    far = ("-P", str(slave.port), *defines(host="127.0.0.1", **SHORT))
    netmodel.measure(PROFILES[number % len(PROFILES)], *far)


def measure_many_at_once(netmodel: Netmodel, slave: Slave, masters: int) -> list[str]:
    """Answers what went wrong."""
    far = ("-P", str(slave.port), *defines(host="127.0.0.1", test_length="200ms"))
    with ExitStack() as stack:
        started = [
            stack.enter_context(netmodel.started("-m", "tcp_rr", "--format", "json", "--timeout", "30s", *far))
            for _ in range(masters)
        ]
        results = [one.finish() for one in started]
    return [f"{one.code}: {one.err[-200:]}" for one in results if one.code]


def soak(netmodel: Netmodel, runs: int, warm: int, masters: int) -> tuple[Held, Held, list[str]]:
    """So many runs in a row, and masters at once. What the slave held after the first few runs, and at the end; and
    what went wrong."""
    with netmodel.slave() as slave:
        for number in range(warm):
            measure_one(netmodel, slave, number)
        wrong = measure_many_at_once(netmodel, slave, masters)
        before = Held.by(slave)
        for number in range(runs):
            measure_one(netmodel, slave, number)
        wrong += measure_many_at_once(netmodel, slave, masters)
        return before, Held.by(slave), wrong
