# SPDX-License-Identifier: Apache-2.0
"""A load that is known: BURST_S of work in each PERIOD_S, on one CPU, either a loop ("loop") or a flood of datagrams,
which are softirqs ("flood"). When it is told to end (SIGTERM) it writes of each burst, as JSON, when it began and ended
(time.monotonic), and the CPU time of the thread in it.

While a thread that may run on one CPU alone has work, that CPU does not idle, whoever else runs there."""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable

# No multiple of a tick of the kernel, 1 to 10 ms: those that look at a burst would be as many in each.
PERIOD_S = 0.101
BURST_S = 0.0303


def send_to_nobody() -> Callable[[], object]:
    """Fills the buffer of a socket, which then has no room for more."""
    receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    receiver.bind(("127.0.0.1", 0))
    sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sender.connect(receiver.getsockname())
    datagram = bytes(1000)
    return lambda: (receiver, sender.send(datagram))


def main(kind: str, cpu: str) -> None:
    os.sched_setaffinity(0, {int(cpu)})
    work: Callable[[], object] = send_to_nobody() if kind == "flood" else time.monotonic
    bursts: list[tuple[float, ...]] = []
    over = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: over.set())
    next_s = time.monotonic()
    while not over.is_set():
        begin_s, begin_cpu_s = time.monotonic(), time.thread_time()
        while time.monotonic() < begin_s + BURST_S:
            work()
        bursts.append((begin_s, time.monotonic(), time.thread_time() - begin_cpu_s))
        if len(bursts) == 1:
            print("ready", flush=True)
        next_s = max(next_s + PERIOD_S, time.monotonic())
        time.sleep(max(0.0, next_s - time.monotonic()))
    print(json.dumps(bursts))


if __name__ == "__main__":
    main(*sys.argv[1:])
