# SPDX-License-Identifier: Apache-2.0
"""A master that speaks the control protocol itself, and may say what netmodel's own never would."""

from __future__ import annotations

import json
import re
import secrets
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from nmtest import PATIENCE_S, Json

_MESSAGES = Path(__file__).resolve().parents[2] / "src/control/wire/message.h"
PROTOCOL = int(re.search(r"#define NM_PROTOCOL\s+(\d+)", _MESSAGES.read_text())[1])  # type: ignore[index]


def frame(payload: bytes) -> bytes:
    return struct.pack(">I", len(payload)) + payload


class Master:
    """One control connection."""

    def __init__(self, where: socket.socket) -> None:
        self._socket = where
        self.secret = secrets.token_bytes(32)
        self.run_id = secrets.token_hex(16)

    def send(self, word: str, **body: Any) -> None:
        self._socket.sendall(frame(json.dumps([word, body]).encode()))

    def receive(self) -> tuple[str, Json]:
        """The next message that is no heartbeat."""
        while True:
            (size,) = struct.unpack(">I", self._exactly(4))
            word, body = json.loads(self._exactly(size))
            if word != "heartbeat":
                return word, body

    def _exactly(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            more = self._socket.recv(size - len(data))
            assert more, "the slave has closed the control connection"
            data += more
        return data

    def expect(self, word: str) -> Json:
        got, body = self.receive()
        assert got == word, (got, body)
        return body

    def prepare(self, groups: str, host: str) -> tuple[str, Json]:
        """What the slave answers to a profile."""
        self.send("hello", magic="netmodel", protocol=PROTOCOL, version="test")
        self.expect("welcome")
        self.send(
            "prepare",
            run_id=self.run_id,
            host=host,
            profile=f'<?xml version="1.0"?><profile name="test">{groups}</profile>',
            file="test.xml",
            cpus=None,
            counters=None,
            details=0,
            lenient=False,
            interval_ns=0,
            timeout_ns=10_000_000_000,
            seed=1,
            secret=self.secret.hex(),
        )
        return self.receive()

    def begin(self, phase: int) -> None:
        none = {"stall_ns": 10_000_000_000, "stop_ns": 0, "usage_from_ns": -1, "usage_to_ns": -1}
        self.send("begin", phase=phase, measured=False, **none)
        self.expect("began")


@contextmanager
def speaking(port: int, address: str = "127.0.0.1", source: str | None = None) -> Iterator[Master]:
    where = socket.create_connection((address, port), timeout=PATIENCE_S, source_address=(source, 0) if source else None)
    with where:
        yield Master(where)
