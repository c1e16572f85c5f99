# SPDX-License-Identifier: Apache-2.0
"""Servers of the tests, which do what a script says with each connection."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress


@contextmanager
def server_of(serve: Callable[[socket.socket, int], object], host: str = "127.0.0.1") -> Iterator[str]:
    """Each connection has a thread, in which serve(connection, number) has it."""
    listener = socket.create_server((host, 0), backlog=64)

    def one(conn: socket.socket, number: int) -> None:
        with conn, suppress(OSError):
            conn.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            serve(conn, number)

    def listen() -> None:
        number = 0
        with suppress(OSError):
            while True:
                conn, _ = listener.accept()
                threading.Thread(target=one, args=(conn, number), daemon=True).start()
                number += 1

    threading.Thread(target=listen, daemon=True).start()
    try:
        yield f"{host}:{listener.getsockname()[1]}"
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
