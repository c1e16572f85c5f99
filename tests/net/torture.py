# SPDX-License-Identifier: Apache-2.0
"""A server that answers by a script whatever it is asked, in pieces, and counts how each request is to end."""

from __future__ import annotations

import itertools
import socket
import struct
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import BinaryIO, NamedTuple

from scripted import server_of


class Case(NamedTuple):
    """An answer, in which KEY and NUMBER stand for those of the request, and the outcome of that request. `ends`: the connection ends behind it."""

    verb: str
    outcome: str
    answer: bytes
    ends: bool = False
    at_once: bool = False  # it comes in no pieces: there are bytes behind an answer, or very many


class Request(NamedTuple):
    verb: str
    key: bytes
    number: bytes


def _of_text(stream: BinaryIO) -> Request | None:
    words = stream.readline().split()
    if not words:
        return None
    verb = {b"get": "get", b"mg": "get", b"set": "set", b"ms": "set", b"delete": "delete", b"md": "delete", b"version": "version"}[words[0]]
    if verb == "set":
        stream.read(int(words[4 if words[0] == b"set" else 2]) + 2)
    return Request(verb, b"".join(words[1:2]), next((word[1:] for word in words[2:] if word[:1] == b"O"), b""))


def _of_binary(stream: BinaryIO) -> Request | None:
    head = stream.read(24)
    if len(head) < 24:
        return None
    _magic, opcode, key, extras, _type, _bucket, body, number, _cas = struct.unpack(">BBHBBHI4sQ", head)
    return Request({0: "get", 1: "set", 4: "delete", 11: "version"}[opcode], stream.read(body)[extras : extras + key], number)


def _of_redis(stream: BinaryIO) -> Request | None:
    count = stream.readline()
    if not count:
        return None
    words = []
    for _ in range(int(count[1:])):
        words.append(stream.read(int(stream.readline()[1:])))
        stream.readline()
    verb = {b"GET": "get", b"SET": "set", b"DEL": "delete", b"PING": "ping", b"INFO": "info"}.get(words[0], "command")
    return Request(verb, words[1] if len(words) > 1 else b"", b"")


def _of_http(stream: BinaryIO) -> Request | None:
    first = stream.readline()
    for line in stream:
        if line == b"\r\n":
            return Request("http", first.split()[1], b"")
    return None


READERS: dict[str, Callable[[BinaryIO], Request | None]] = {
    "memcache": _of_text,
    "memcache_meta": _of_text,
    "memcache_binary": _of_binary,
    "redis": _of_redis,
    "http": _of_http,
}


def _whole(answer: bytes) -> list[list[bytes]]:
    return [[answer]]


def _bytes(answer: bytes) -> list[list[bytes]]:
    return [[answer[i : i + 1] for i in range(len(answer))] or [answer]]


def _split(answer: bytes) -> list[list[bytes]]:
    return [[answer[:i], answer[i:]] for i in range(1, min(200, len(answer)))] or [[answer]]


# How an answer comes: in one way, or in one way after the other.
CUTS = {"whole": _whole, "bytes": _bytes, "split": _split}


class Torturer:
    """What it does with one after the other of the cases of a verb, in each of the ways that `cut` knows, and what comes of it."""

    def __init__(self, app: str, cases: list[Case], cut: str) -> None:
        self.ends: dict[str, Counter[str]] = {}
        self._read = READERS[app]
        self._cut = CUTS[cut]
        rounds: dict[str, list[tuple[Case, int]]] = {}
        for verb in dict.fromkeys(case.verb for case in cases):
            own = [case for case in cases if case.verb == verb]
            ways = max(len(self._cut(case.answer)) for case in own)
            rounds[verb] = [(case, way) for way in range(ways) for case in own]
            self.ends[verb] = Counter()
        self.requests = {verb: len(all_of) for verb, all_of in rounds.items()}
        self._next = {verb: itertools.cycle(all_of) for verb, all_of in rounds.items()}

    def serve(self, conn: socket.socket, _number: int) -> None:
        with conn.makefile("rb") as stream:
            while request := self._read(stream):
                if request.verb not in self._next:  # it asks what the server is
                    return
                case, way = next(self._next[request.verb])
                self.ends[request.verb][case.outcome] += 1
                ways = self._cut(case.answer.replace(b"KEY", request.key).replace(b"NUMBER", request.number))
                *pieces, last = ways[way % len(ways)]
                for piece in pieces:
                    conn.sendall(piece)
                # The end is in the segment of the last bytes: no request can come between the two.
                conn.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, case.ends)
                conn.sendall(last)
                if case.ends:
                    return


@contextmanager
def torturing(app: str, cases: list[Case], cut: str) -> Iterator[tuple[str, Torturer]]:
    torturer = Torturer(app, cases, cut)
    with server_of(torturer.serve) as place:
        yield place, torturer
