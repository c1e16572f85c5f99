# SPDX-License-Identifier: Apache-2.0
"""Peers that do not keep to the control protocol: what goes from one end to the other is changed on its way, or said by
this process alone."""

from __future__ import annotations

import json
import re
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from nmtest import Slave, defines

_MESSAGES = Path(__file__).resolve().parents[2] / "src/control/wire/message.h"
PROTOCOL = int(re.findall(r"#define NM_PROTOCOL\s+(\d+)", _MESSAGES.read_text())[0])

Body = dict[str, Any]
# What becomes of a message: what is sent in its place, whole frames. None: it goes on as it is.
Lie = Callable[[str, Body], bytes | None]


def frame(payload: bytes) -> bytes:
    return struct.pack(">I", len(payload)) + payload


def message(word: str, body: Body) -> bytes:
    return frame(json.dumps([word, body]).encode())


HELLO = message("hello", {"magic": "netmodel", "protocol": PROTOCOL, "version": "x"})
# 63 MiB of empty objects: as a tree it would be gigabytes.
BOMB_BYTES = 63 << 20


def bomb(word: str) -> bytes:
    begin, end = b'["%s",{"x":[' % word.encode(), b"{}]}]"
    return frame(begin + b"{}," * ((BOMB_BYTES - len(begin) - len(end)) // 3) + end)


def _read(source: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        piece = source.recv(size - len(data))
        if not piece:
            raise ConnectionError
        data += piece
    return data


def receive(source: socket.socket) -> tuple[str, Body, bytes]:
    """The next message, and its frame."""
    header = _read(source, 4)
    payload = _read(source, struct.unpack(">I", header)[0])
    word, body = json.loads(payload)
    return word, body, header + payload


class Liar:
    """Stands between masters and a slave, and is a slave to the ones and a master to the other."""

    def __init__(self, slave: Slave, of_slave: Lie | None, of_master: Lie | None) -> None:
        self._slave, self._lies = slave, (of_master, of_slave)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._sockets = [self._listener]
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def args(self) -> list[str]:
        """Of a master that is to meet it."""
        return ["-P", str(self._listener.getsockname()[1]), *defines(host="127.0.0.1")]

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                far = socket.create_connection(("127.0.0.1", self._slave.port))
                self._sockets += [near, far]
                for ends, lie in zip(((near, far), (far, near)), self._lies, strict=True):
                    threading.Thread(target=self._copy, args=(*ends, lie), daemon=True).start()

    def _copy(self, source: socket.socket, sink: socket.socket, lie: Lie | None) -> None:
        with suppress(OSError):
            while True:
                word, body, whole = receive(source)
                said = lie(word, body) if lie else None
                sink.sendall(whole if said is None else said)
        with suppress(OSError):
            sink.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        for one in self._sockets:
            one.close()


@contextmanager
def lying(slave: Slave, of_slave: Lie | None = None, of_master: Lie | None = None) -> Iterator[Liar]:
    liar = Liar(slave, of_slave, of_master)
    try:
        yield liar
    finally:
        liar.close()
