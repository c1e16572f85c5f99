# SPDX-License-Identifier: Apache-2.0
"""Requests of applications to servers that are none of the tools': what is asked for, and how netmodel is told to."""

from __future__ import annotations

import socket
from dataclasses import dataclass

_PREFIX = "k:1"
KEY = _PREFIX.ljust(16, "0")  # the only one of a keyspace with one key of 16 bytes
KEY_NUMBER = KEY[2:]  # for a tool whose keys have numbers, of which none is 0
VALUE = b"x" * 1024
PATH = "/1k"
NAME = "www.example.com"
_LABELS = b"".join(bytes([len(label)]) + label.encode() for label in [*NAME.split("."), ""])
_PATIENCE_S = 10.0


def host_port(server: str) -> tuple[str, int]:
    """Of HOST:PORT."""
    host, _, port = server.rpartition(":")
    return host, int(port)


@dataclass(frozen=True)
class App:
    """One request, as it is on the wire and in a profile."""

    name: str
    flowop: str
    options: str
    request: bytes
    tail: bytes  # how its answer ends
    protocol: str = "tcp"

    @property
    def socket_type(self) -> socket.SocketKind:
        return socket.SOCK_DGRAM if self.protocol == "udp" else socket.SOCK_STREAM

    def profile(self, server: str, flows: int, seconds: int) -> str:
        """For netmodel, which checks of an answer what most tools do: that it is a whole one of what was asked for."""
        nodelay = " nodelay" if self.protocol == "tcp" else ""
        return f"""<?xml version="1.0"?>
<profile name="bench">
  <keyspace name="keys" count="1" length="{len(KEY)}" prefix="{_PREFIX}"/>
  <group nthreads="1" nflows="{flows}">
    <transaction iterations="1">
      <flowop type="connect" options="server={server} protocol={self.protocol} app={self.name}{nodelay}"/>
    </transaction>
    <transaction duration="{seconds}s">
      <flowop type="{self.flowop}" options="{self.options}"/>
    </transaction>
    <transaction iterations="1">
      <flowop type="disconnect"/>
    </transaction>
  </group>
</profile>
"""

    def answer_bytes(self, server: str) -> int:
        """How long the server's answer is."""
        with socket.socket(socket.AF_INET, self.socket_type) as conn:
            conn.settimeout(_PATIENCE_S)
            conn.connect(host_port(server))
            conn.sendall(self.request)
            answer = some = conn.recv(65536)
            while some and not answer.endswith(self.tail):
                some = conn.recv(65536)
                answer += some
        if not some:
            raise ConnectionError(f"{server}: closed the connection and has not answered {self.request!r}")
        return len(answer)


APPS = {
    "memcache_get": App("memcache", "get", "keys=keys", f"get {KEY}\r\n".encode(), VALUE + b"\r\nEND\r\n"),
    "redis_get": App("redis", "get", "keys=keys", f"*2\r\n$3\r\nGET\r\n${len(KEY)}\r\n{KEY}\r\n".encode(), VALUE + b"\r\n"),
    "http_get": App("http", "http", f"path={PATH}", f"GET {PATH} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode(), VALUE),
    "dns_query": App("dns", "query", f"name={NAME} edns=0", b"\0\1\0\0\0\1\0\0\0\0\0\0" + _LABELS + b"\0\1\0\1", b"", "udp"),
}
