# SPDX-License-Identifier: Apache-2.0
"""DNS for headless Services: no cluster of this machine has its own."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from collections.abc import Iterator

from conftest import objects


@contextlib.contextmanager
def served() -> Iterator[None]:
    """The cluster's DNS, as far as headless Services go; it has none otherwise."""
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind(("10.200.0.1", 53))
    server.settimeout(0.2)
    is_over = threading.Event()

    def serve() -> None:
        while not is_over.is_set():
            with contextlib.suppress(TimeoutError):
                query, asker = server.recvfrom(512)
                server.sendto(answer(query), asker)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()
        server.close()


def answer(query: bytes) -> bytes:
    """An A record for each ready pod of SERVICE.NAMESPACE.svc.cluster.local."""
    labels, at = [], 12
    while query[at]:
        labels.append(query[at + 1 : at + 1 + query[at]].decode())
        at += 1 + query[at]
    is_a, found = query[at + 1 : at + 3] == b"\0\1", []
    is_known = labels[2:] == ["svc", "cluster", "local"]
    if is_known and is_a:
        slices = objects("endpointslices", "-n", labels[1], "-l", f"kubernetes.io/service-name={labels[0]}")
        found = [
            one["addresses"][0] for part in slices for one in part["endpoints"] or [] if one["conditions"]["ready"]
        ]
    flags = b"\x85\x80" if is_known else b"\x85\x83"
    head = query[:2] + flags + struct.pack("!4H", 1, len(found), 0, 0)
    record = b"\xc0\x0c\0\1\0\1\0\0\0\1\0\4"
    return head + query[12 : at + 5] + b"".join(record + socket.inet_aton(address) for address in found)
