# SPDX-License-Identifier: Apache-2.0
"""What tests of HTTP share: a profile that asks, and a server's end."""

from __future__ import annotations

import socket
from collections.abc import Iterator

from nmtest import Json, master_of

HTTP = 'type="http"'
LENGTH_0 = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"


def asking(http: str, connect: str = "remotehost=local", attributes: str = "", transaction: str = 'duration="200ms"') -> str:
    return (
        f'<group {attributes}>\n<transaction><flowop type="connect" options="app=http {connect}"/></transaction>\n'
        f'<transaction name="ask" {transaction}>\n<flowop type="http" options="{http}"/></transaction>\n'
        '<transaction><flowop type="disconnect"/></transaction></group>'
    )


def own(document: Json) -> Json:
    group: Json = master_of(document)["groups"][0]
    return group


def requests_of(conn: socket.socket) -> Iterator[bytes]:
    """The heads of requests without a body."""
    got = b""
    while some := conn.recv(65536):
        got += some
        while b"\r\n\r\n" in got:
            head, _, got = got.partition(b"\r\n\r\n")
            yield head
