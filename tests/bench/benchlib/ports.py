# SPDX-License-Identifier: Apache-2.0
"""Free TCP ports on loopback, and waiting for a server without connecting to it."""

from __future__ import annotations

import random
import socket
from collections.abc import Callable
from pathlib import Path
from time import monotonic

from .model import BenchError
from .process import pause

_LISTEN = "0A"


def free_ports(count: int) -> list[int]:
    """Distinct unused ports, below the range from which the kernel picks source ports."""
    low = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    candidates = range(10240, low) if low > 11000 else range(20000, 60000)
    found: list[int] = []
    for port in random.sample(candidates, min(len(candidates), 200)):
        with socket.socket() as probe:
            try:
                probe.bind(("", port))
            except OSError:
                continue
        found.append(port)
        if len(found) == count:
            return found
    raise BenchError("no free TCP port found in 200 tries")


def listening_ports(table: str) -> set[int]:
    """Ports in state LISTEN in the text of /proc/net/tcp or /proc/net/tcp6."""
    ports = set()
    for line in table.splitlines()[1:]:
        words = line.split()
        if len(words) > 3 and words[3] == _LISTEN:
            ports.add(int(words[1].rpartition(":")[2], 16))
    return ports


def wait_listening(port: int, alive: Callable[[], bool], timeout_s: float = 10.0) -> None:
    """Return when something listens on `port`. A probing connection would use up some servers."""
    deadline = monotonic() + timeout_s
    tables = [Path("/proc/net/tcp"), Path("/proc/net/tcp6")]
    while monotonic() < deadline:
        if any(port in listening_ports(t.read_text()) for t in tables if t.exists()):
            return
        if not alive():
            raise BenchError("the server ended before it listened")
        pause()
    raise BenchError(f"the server does not listen on port {port} after {timeout_s:g} s")
