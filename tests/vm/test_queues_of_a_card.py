# SPDX-License-Identifier: Apache-2.0
"""The interrupts of a card with several queues: netmodel's figures are those of /proc/interrupts."""

from __future__ import annotations

import array
import fcntl
import re
import socket
import struct
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from nmtest import PATIENCE_S, Netmodel, assert_complete, defines, master_of
from vmtest import group, need_machine

HERE, THERE = "198.18.0.2", "198.18.0.1"  # THERE a slave listens, see run
SIOCETHTOOL, ETHTOOL_SCHANNELS = 0x8946, 0x3D

Counts = dict[int, int]  # by the number of the interrupt


def set_up(lines: str) -> None:
    subprocess.run(["ip", "-batch", "-"], input=lines, text=True, check=True, timeout=PATIENCE_S)


@pytest.fixture(scope="module")
def card() -> Iterator[str]:
    """Down again behind these tests: others count the addresses that the machine has."""
    need_machine()
    cards = [path.name for path in Path("/sys/class/net").iterdir() if (path / "device/driver").exists()]
    if not cards:
        pytest.skip("the machine has no network card: its host can make no link to it")
    set_up(f"address replace {HERE}/24 dev {cards[0]}\nlink set {cards[0]} up\n")
    yield cards[0]
    set_up(f"link set {cards[0]} down\naddress flush dev {cards[0]}\n")


def set_queues(card: str, queues: int) -> None:
    """As ethtool -L does, which the machine may not have."""
    channels = array.array("I", [ETHTOOL_SCHANNELS, *[0] * 7, queues])
    ask = struct.pack("16sP", card.encode(), channels.buffer_info()[0])
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, SIOCETHTOOL, ask)


def vectors_of(card: str) -> dict[int, str]:
    """The test's own reading: numbers and names of the card's rows in /proc/interrupts."""
    device = (Path("/sys/class/net") / card / "device").resolve().name
    rows = (line.split() for line in Path("/proc/interrupts").read_text().splitlines())
    return {int(row[0][:-1]): row[-1] for row in rows if row and row[-1].startswith(f"{device}-")}


def counts_of(irqs: dict[int, str]) -> Counts:
    lines = Path("/proc/interrupts").read_text().splitlines()
    cpus = len(lines[0].split())
    rows = (line.split() for line in lines[1:])
    counted = {row[0][:-1]: row[1 : 1 + cpus] for row in rows}
    return {irq: sum(map(int, counted[str(irq)])) for irq in irqs}


def read_while(run: Callable[[], None], irqs: dict[int, str]) -> list[Counts]:
    """All states of the counters that are seen meanwhile."""
    over = threading.Event()
    seen: list[Counts] = []

    def read() -> None:
        while not over.is_set():
            now = counts_of(irqs)
            if not seen or now != seen[-1]:
                seen.append(now)
            time.sleep(0.01)

    reader = threading.Thread(target=read)
    reader.start()
    try:
        run()
    finally:
        over.set()
        reader.join()
    return seen


@pytest.mark.parametrize("queues", [1, 2, 4])
def test_interrupts_of_each_vector(netmodel: Netmodel, profile: Callable[[str], Path], card: str, queues: int) -> None:
    """The window opens and closes while all flows think and the card is quiet, so that there are two moments between
    which each vector has had just as many interrupts as the result says."""
    set_queues(card, queues)
    quiet = '<flowop type="think" options="duration=1s"/>'
    ask = 40 * '<flowop type="write" options="size=100"/><flowop type="read" options="size=100"/>'
    body = f'<transaction name="rr" iterations="1">{quiet}{ask}{quiet}</transaction>'
    path = profile(group(body, "protocol=tcp nodelay", threads=2, flows=16))
    irqs = vectors_of(card)
    found = []

    def run() -> None:
        found.append(netmodel.measure(path, *defines(h=THERE), "--timeout", f"{PATIENCE_S:.0f}s"))

    seen = read_while(run, irqs)
    assert_complete(found[0])
    vectors = master_of(found[0])["vectors"]
    assert {vector["irq"]: vector["name"] for vector in vectors} == irqs
    counted = {vector["irq"]: vector["interrupts"] for vector in vectors}
    matches = [(a, b) for a in seen for b in seen if {irq: b[irq] - a[irq] for irq in b} == counted]
    assert matches, (counted, seen[0], seen[-1])
    busy = {re.sub(r".*\D", "", irqs[irq]) for irq, count in counted.items() if count and "input" in irqs[irq]}
    assert sum(counted.values()) > 50
    assert len(busy) == queues or queues == 4 and len(busy) > 2
