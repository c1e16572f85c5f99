# SPDX-License-Identifier: Apache-2.0
"""Servers that answer well, badly or not at all, in any pieces: each request ends in one way, which does not depend on the pieces, and the run goes on."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from nmtest import Netmodel, assert_complete, phase_of
from torture import CUTS, Case, torturing

WriteProfile = Callable[..., Path]

LIMIT_S = 2  # of an answer that does not come
FAILURES = ("malformed", "lost", "timed_out")


def binary(opcode: int, status: int = 0, extras: bytes = b"", body: bytes = b"") -> bytes:
    head = struct.pack(">BBHBBHI", 0x81, opcode, 0, len(extras), 0, status, len(extras) + len(body))
    return head + b"NUMBER" + bytes(8) + extras + body


def http(head: bytes, body: bytes = b"", first: bytes = b"HTTP/1.1 200 OK") -> bytes:
    return first + b"\r\n" + head + b"\r\n" + body


AWKWARD = b"\r\nEND\r\nVALUE k 0 0\r\n$-1\r\n0\r\n\r\n>1\r\n"
N = str(len(AWKWARD)).encode()

CASES = {
    "memcache": [
        Case("get", "hits", b"VALUE KEY 0 1\r\nx\r\nEND\r\n"),
        Case("get", "hits", b"VALUE KEY 4294967295 " + N + b" 18446744073709551615\r\n" + AWKWARD + b"\r\nEND\r\n"),
        Case("get", "misses", b"END\r\n"),
        Case("get", "refused", b"SERVER_ERROR out of memory\r\n"),
        Case("get", "refused", b"VALUE KEY 0 1\r\nx\r\nSERVER_ERROR out of memory\r\n"),
        Case("get", "refused", b"ERROR Too many open connections\r\n", ends=True),
        Case("get", "malformed", b"VALUE another 0 1\r\nx\r\nEND\r\n"),
        Case("get", "malformed", b"VALUE KEY 0 1\r\nx\r\nVALUE KEY 0 1\r\nx\r\nEND\r\n"),
        Case("get", "malformed", b"VALUE KEY 0 1\r\nxyEND\r\n"),
        Case("get", "malformed", b"VALUE KEY 0 -1\r\n"),
        Case("get", "malformed", b"END\n"),
        Case("get", "malformed", b"x" * 8192, at_once=True),
        Case("get", "malformed", b"END\r\n" * 1000, at_once=True),
        Case("get", "lost", b"VALUE KEY 0 10\r\nx", ends=True),
        Case("get", "timed_out", b"VALUE KEY 0 10\r\nx"),
        Case("set", "ok", b"STORED\r\n"),
        Case("set", "refused", b"NOT_STORED\r\n"),
        Case("set", "refused", b"SERVER_ERROR object too large for cache\r\n"),
        Case("set", "malformed", b"CLIENT_ERROR bad data chunk\r\nERROR\r\n"),
        Case("set", "malformed", b"DELETED\r\n"),
        Case("set", "lost", b"", ends=True),
        Case("delete", "hits", b"DELETED\r\n"),
        Case("delete", "misses", b"NOT_FOUND\r\n"),
        Case("delete", "malformed", b"STORED\r\n"),
    ],
    "memcache_meta": [
        Case("get", "hits", b"VA 1 ONUMBER\r\nx\r\n"),
        Case("get", "hits", b"VA " + N + b" ONUMBER\r\n" + AWKWARD + b"\r\n"),
        Case("get", "misses", b"EN\r\n"),
        Case("get", "misses", b"EN ONUMBER\r\n"),
        Case("get", "refused", b"SERVER_ERROR out of memory\r\n"),
        Case("get", "malformed", b"EN O1\r\n"),
        Case("get", "malformed", b"VA 1 ONUMBER\r\nxyz"),
        Case("get", "malformed", b"HD ONUMBER\r\n"),
        Case("get", "malformed", b"VA 1 ONUMBER\r\nx\r\n" * 1000, at_once=True),
        Case("get", "lost", b"VA 10 ONUMBER\r\nx", ends=True),
        Case("set", "ok", b"HD ONUMBER\r\n"),
        Case("set", "refused", b"NS ONUMBER\r\n"),
        Case("set", "malformed", b"CLIENT_ERROR bad data chunk\r\n"),
        Case("delete", "hits", b"HD ONUMBER\r\n"),
        Case("delete", "misses", b"NF ONUMBER\r\n"),
    ],
    "memcache_binary": [
        Case("get", "hits", binary(0, 0, b"\0\0\0\7", b"x")),
        Case("get", "hits", binary(0, 0, b"\0\0\0\7", AWKWARD)),
        Case("get", "misses", binary(0, 1, b"", b"Not found")),
        Case("get", "refused", binary(0, 0x82)),
        Case("get", "malformed", binary(1)),
        Case("get", "malformed", binary(0).replace(b"NUMBER", b"\0\0\0\0")),
        Case("get", "malformed", b"ERROR\r\n"),
        Case("get", "malformed", binary(0, 1) * 1000, at_once=True),
        Case("get", "lost", binary(0, 0, b"\0\0\0\7", b"x")[:-1], ends=True),
        Case("set", "ok", binary(1)),
        Case("set", "refused", binary(1, 3, b"", b"Too large.")),
        Case("set", "refused", binary(1, 5)),
        Case("delete", "hits", binary(4)),
        Case("delete", "misses", binary(4, 1)),
    ],
    "redis": [
        Case("get", "hits", b"$1\r\nx\r\n"),
        Case("get", "hits", b"$" + N + b"\r\n" + AWKWARD + b"\r\n"),
        Case("get", "misses", b"$-1\r\n"),
        Case("get", "misses", b">2\r\n+invalidate\r\n*1\r\n+KEY\r\n_\r\n"),
        Case("get", "hits", b"$1\r\nx\r\n>2\r\n+pushed\r\n+behind\r\n"),
        Case("get", "hits", b"$1\r\nx\r\n>2\r\n+pushed\r\n+beh"),
        Case("get", "misses", b"ind\r\n|1\r\n+ttl\r\n:60\r\n$-1\r\n"),
        Case("get", "refused", b"-WRONGTYPE Operation against a key holding the wrong kind of value\r\n"),
        Case("get", "malformed", b"$-2\r\n"),
        Case("get", "malformed", b"*1\r\n$0\r\n\r\n"),
        Case("get", "malformed", b">1000000000\r\n"),
        Case("get", "malformed", b"$1\r\nx\r\n+OK\r\n", at_once=True),
        Case("get", "malformed", b"$1\r\nx\r\n" * 1000, at_once=True),
        Case("get", "lost", b"$10\r\nx", ends=True),
        Case("get", "timed_out", b">1\r\n+pushed\r\n"),
        Case("set", "ok", b"+OK\r\n"),
        Case("set", "refused", b"-OOM command not allowed when used memory > 'maxmemory'.\r\n"),
        Case("set", "malformed", b"+QUEUED\r\n"),
        Case("delete", "hits", b":1\r\n"),
        Case("delete", "misses", b":0\r\n"),
        Case("command", "ok", b"*1\r\n" * 32 + b":1\r\n"),
        Case("command", "malformed", b"*1\r\n" * 33 + b":1\r\n"),
        Case("command", "malformed", b"*1000000000\r\n"),
        Case("command", "ok", b"%1\r\n$3\r\na\r\n\r\n~2\r\n,inf\r\n#t\r\n"),
        Case("command", "refused", b"*2\r\n:1\r\n-ERR inside\r\n"),
        Case("command", "malformed", b"$?\r\n"),
    ],
    "http": [
        Case("http", "ok", http(b"Content-Length: 3\r\n", b"abc")),
        Case("http", "ok", http(b"Content-Length: 0\r\n", first=b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204")),
        Case("http", "ok", http(b"Transfer-Encoding: chunked\r\n", b"3\r\nabc\r\nB;x=y\r\n0\r\n\r\n012345\r\n0\r\nX: y\r\n\r\n")),
        Case("http", "ok", b"HTTP/1.1 200\nContent-Length: 1\n\nx"),
        Case("http", "ok", http(b"Connection: close\r\nContent-Length: 1\r\n", b"x"), ends=True),
        Case("http", "ok", http(b"", b"to the end"), ends=True),
        Case("http", "ok", http(b"Transfer-Encoding: chunked\r\nContent-Length: 9\r\n", b"0\r\n\r\n"), ends=True),
        Case("http", "refused", http(b"Content-Length: 2\r\n", b"no", first=b"HTTP/1.1 404 Not Found")),
        Case("http", "malformed", http(b"Content-Length: 2\r\nContent-Length: 3\r\n")),
        Case("http", "malformed", http(b"Content-Length : 2\r\n")),
        Case("http", "malformed", http(b"Transfer-Encoding: chunked\r\n", b"x\r\n")),
        Case("http", "malformed", http(b"Transfer-Encoding: chunked\r\n", b"8000000000000000\r\n")),
        Case("http", "malformed", http(b"", first=b"HTTP/1.1 101 Switching Protocols")),
        Case("http", "malformed", http(b"", first=b"HTTP/2 200")),
        Case("http", "malformed", http(b"Content-Length: 0\r\n") * 1000, at_once=True),
        Case("http", "lost", http(b"Content-Length: 3\r\n", b"ab"), ends=True),
        Case("http", "lost", http(b"Transfer-Encoding: chunked\r\n", b"3\r\nabc\r\n"), ends=True),
        Case("http", "timed_out", http(b"Content-Length: 3\r\n", b"ab")),
    ],
}

FLOWOPS = {
    "get": '<flowop type="get" options="keys=k timeout={limit}"/>',
    "set": '<flowop type="set" options="keys=k size=100 timeout={limit}"/>',
    "delete": '<flowop type="delete" options="keys=k timeout={limit}"/>',
    "command": '<flowop type="command" text="LRANGE list 0 9" options="timeout={limit}"/>',
    "http": '<flowop type="http" options="path=/x timeout={limit}"/>',
}


def asking(app: str, place: str, requests: dict[str, int]) -> str:
    """One verb after the other, each so often."""
    asks = "".join(f'<transaction name="{verb}" iterations="{count}">{FLOWOPS[verb].format(limit=f"{LIMIT_S}s")}</transaction>' for verb, count in requests.items())
    return (
        f'<keyspace name="k" count="100" length="12" prefix="k:" law="uniform"/><group>'
        f'<transaction><flowop type="connect" options="app={app} server={place} reconnect=20s"/></transaction>{asks}'
        '<transaction><flowop type="disconnect"/></transaction></group>'
    )


@pytest.mark.parametrize("app", CASES)
@pytest.mark.parametrize("cut", CUTS)
def test_each_request_ends_as_its_answer_says(app: str, cut: str, netmodel: Netmodel, profile: WriteProfile) -> None:
    # What comes behind an answer is of it only while both come at once, and what costs a connection or lasts comes once.
    cases = [case for case in CASES[app] if cut == "whole" or (cut == "bytes" and not case.at_once) or case.outcome not in FAILURES]
    with torturing(app, cases, cut) as (place, torturer):
        document = netmodel.measure(profile(asking(app, place, torturer.requests)), "--yes-destroy")
    assert_complete(document)
    for verb, ends in torturer.ends.items():
        outcomes = phase_of(document, verb)["outcomes"]
        assert {name: count for name, count in outcomes.items() if count and name != "requests"} == dict(ends)
        assert outcomes["requests"] == torturer.requests[verb] == ends.total()
