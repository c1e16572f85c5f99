# SPDX-License-Identifier: Apache-2.0
"""Those who come to the control port of a slave and are no masters, in numbers, while a run goes on beside them."""

from __future__ import annotations

import json
import random
import socket
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass

from nmtest import Json, Netmodel, Slave, children, defines, resident_bytes
from speaking import PROTOCOL

HELLO_BODY = ["hello", {"magic": "netmodel", "protocol": PROTOCOL, "version": "0"}]
WORDS = (
    "hello", "welcome", "refuse", "prepare", "ready", "connect", "armed", "ping", "pong", "begin", "began", "stop",
    "follow", "renew", "done", "interval", "flows", "tcp_info", "heartbeat", "failed", "finish", "result", "bye", "abort",
)  # fmt: skip


def frame(body: object) -> bytes:
    payload = json.dumps(body).encode()
    return len(payload).to_bytes(4, "big") + payload


HELLO = frame(HELLO_BODY)
SESSION = HELLO + frame(["heartbeat", {"progress": 1}]) + frame(["prepare", {}]) + frame(["bye", {}])


class Crowd:
    """Connections to one port, from one thread, until it is told to stop."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.stop = threading.Event()
        self.came = 0

    def connect(self) -> socket.socket | None:
        with suppress(OSError):
            one = socket.create_connection(("127.0.0.1", self.port), timeout=2)
            self.came += 1
            return one
        return None

    def say(self, data: bytes) -> None:
        one = self.connect()
        if one is None:
            return
        with one, suppress(OSError):
            one.sendall(data)
            one.shutdown(socket.SHUT_WR)
            while one.recv(65536):
                pass


def half_open(crowd: Crowd) -> None:
    with ExitStack() as stack:
        while not crowd.stop.is_set():
            if crowd.came < 1000 and (one := crowd.connect()):
                stack.enter_context(one)
            else:
                time.sleep(0.05)


def slow(crowd: Crowd) -> None:
    with ExitStack() as stack:
        ones = [stack.enter_context(one) for _ in range(50) if (one := crowd.connect())]
        for i in range(1 << 30):
            if crowd.stop.wait(0.05):
                return
            for one in ones:
                with suppress(OSError):
                    one.send(HELLO[i % len(HELLO) :][:1])


def seats(crowd: Crowd) -> None:
    """They say hello, and live."""
    with ExitStack() as stack:
        ones = [stack.enter_context(one) for _ in range(15) if (one := crowd.connect())]
        for one in ones:
            one.sendall(HELLO)
        while not crowd.stop.wait(0.3):
            for one in ones:
                with suppress(OSError):
                    one.sendall(frame(["heartbeat", {"progress": 1}]))


def noise(crowd: Crowd) -> None:
    draw = random.Random(1)
    while not crowd.stop.wait(0.005):
        crowd.say(draw.randbytes(draw.randrange(1, 400)))


def truncated(crowd: Crowd) -> None:
    while not crowd.stop.is_set():
        for end in range(len(SESSION)):
            crowd.say(SESSION[:end])
            if crowd.stop.wait(0.005):
                return


def oversized(crowd: Crowd) -> None:
    sizes = (0, 65537, 1 << 20, 1 << 26, (1 << 26) + 1, (1 << 32) - 1)
    while not crowd.stop.is_set():
        for size in sizes:
            crowd.say(size.to_bytes(4, "big") + b"[" * 4096)
            crowd.say(HELLO + size.to_bytes(4, "big") + b"[" * 100_000)
            if crowd.stop.wait(0.005):
                return


def wrong_states(crowd: Crowd) -> None:
    while not crowd.stop.is_set():
        for word in WORDS:
            crowd.say(frame([word, {}]))
            crowd.say(HELLO + frame([word, {}]))
            if crowd.stop.wait(0.005):
                return


CROWDS: dict[str, Callable[[Crowd], None]] = {
    "half open": half_open,
    "slow": slow,
    "seats held": seats,
    "noise": noise,
    "truncated": truncated,
    "oversized": oversized,
    "wrong states": wrong_states,
}


@dataclass(frozen=True)
class Beside:
    """A run of tcp_rr with strangers beside it."""

    crowd: str
    came: int
    transactions_per_s: float
    p50_s: float
    p99_s: float
    most_bytes: int  # resident, of the slave and its sessions together
    after: str  # why the next run failed; "": it did not


def measure_beside(netmodel: Netmodel, slave: Slave, name: str, length: str) -> Beside:
    """Measures while they come; no crowd has that name: while nobody does."""
    crowd = Crowd(slave.port)
    thread = threading.Thread(target=CROWDS.get(name, lambda _: None), args=(crowd,), daemon=True)
    far = ("-P", str(slave.port), "--wait-slaves", "10s", *defines(host="127.0.0.1"))
    thread.start()
    most = 0
    try:
        with netmodel.started("-m", "tcp_rr", "--format", "json", *far, *defines(test_length=length)) as master:
            while master.running():
                most = max(most, sum(resident_bytes(pid) for pid in [slave.pid, *children(slave.pid)]))
                time.sleep(0.05)
            result = master.finish()
        after = netmodel.run("-m", "tcp_rr", "--format", "json", *far, *defines(test_length="50ms"))
    finally:
        crowd.stop.set()
        thread.join(20)
    assert result.code == 0, f"beside {name}: {result}"
    document: Json = result.json()
    totals = document["totals"]
    return Beside(
        name, crowd.came, totals["transactions_per_s"], totals["latency_s"]["p50"], totals["latency_s"]["p99"], most,
        after.err[-300:] if after.code else "",
    )  # fmt: skip
