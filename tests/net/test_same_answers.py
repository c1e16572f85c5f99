# SPDX-License-Identifier: Apache-2.0
"""netmodel's own server of memcached answers as memcached does, byte for byte, but for the numbers of values."""

from __future__ import annotations

import re
import socket
import struct

import pytest

from nmtest import PATIENCE_S, Netmodel
from partners import memcached, said
from publics import public

LONG_KEYS = b" ".join(b"%0200d" % n for n in range(40))  # a line that is longer than what is kept of one

# A step is what one connection sends at once. {N}: the number of a value that the step before was told.
TEXT = [
    b"set a 7 0 3\r\nabc\r\nget a\r\ngets a\r\nget none a b a\r\n",
    b"add a 0 0 1\r\nx\r\nadd b 5 0 1\r\ny\r\nreplace b 6 0 2\r\nyy\r\nreplace c 0 0 1\r\nz\r\nget a b c\r\n",
    b"append a 99 0 3\r\ndef\r\nprepend a 99 0 2\r\n--\r\nappend c 0 0 1\r\nz\r\nprepend c 0 0 1\r\nz\r\nget a c\r\n",
    b"gets b\r\n",
    b"cas b 1 0 3 {N}\r\nnew\r\ncas b 1 0 3 {N}\r\nold\r\ncas c 0 0 1 {N}\r\nz\r\ncas b 0 0 1 0\r\nz\r\nget b\r\n",
    b"cas b 0 0 1 18446744073709551615\r\nz\r\nget b\r\n",
    b"set n 3 0 2\r\n10\r\nincr n 5\r\ndecr n 6\r\n",
    b"get n\r\n",
    b"decr n 100\r\n",
    b"get n\r\n",
    b"incr n 18446744073709551615\r\n",
    b"incr n 2\r\ngets n\r\nincr none 1\r\ndecr none 1\r\n",
    b"incr a 1\r\nincr n x\r\nincr n 18446744073709551616\r\nset e 0 0 0\r\n\r\nincr e 1\r\nget e\r\n",
    b"touch a 100\r\ntouch none 100\r\ngat 100 a none b\r\ngats 100 a\r\ntouch a 0\r\n",
    b"set gone 0 -1 1\r\nx\r\nget gone\r\nadd gone 0 2678400 1\r\nx\r\nget gone\r\n",
    b"set gone 0 0 1\r\nx\r\nadd gone 0 2678400 1\r\nx\r\nget gone\r\ntouch gone -1\r\nget gone\r\n",
    b"set gone 0 0 1\r\nx\r\ngat -1 gone\r\nget gone\r\n",
    b"set q 0 0 1 noreply\r\nx\r\nadd q 0 0 1 noreply\r\ny\r\nappend q 0 0 1 noreply\r\nz\r\nget q\r\nincr n 1 noreply\r\ntouch q 5 noreply\r\n",
    b"incr q 1 noreply\r\ndelete none noreply\r\ncas q 0 0 1 1 noreply\r\nx\r\nreplace q 0 0 1 noreply\r\n5\r\ndecr q 1 noreply\r\nget q\r\n",
    b"delete q\r\ndelete q\r\ndelete b 0\r\nget q b\r\n",
    b"set END 0 0 5\r\nEND\r\n\r\nget END\r\n",
    b"get " + LONG_KEYS + b" a\r\n",
    b"gat 0 " + LONG_KEYS + b" a\r\n",
    b"set a 0 0 1048577\r\n" + b"x" * 1048577 + b"\r\nget a\r\nreplace e 0 0 1048577\r\n" + b"x" * 1048577 + b"\r\n",
    b"get\r\ndelete\r\nincr a\r\ntouch a\r\nget q\r\n",
    b"verbosity 1\r\nset a 0 0 1\r\nx\r\nflush_all\r\nget a n\r\nverbosity 1 noreply\r\n",
]  # fmt: skip
META = [
    b"mn\r\nms a 3 F9\r\nabc\r\nmg a v\r\nmg a\r\nmg a f s k O12 v t c\r\nmg none v Oxy k\r\nmg none\r\n",
    b"ms a 3 T0 k Oab\r\nnew\r\nms e 0\r\n\r\nmg e v s\r\n",
    b"ms a 1 ME\r\nx\r\nms b 1 ME O3\r\ny\r\nms c 1 MR k\r\nz\r\nms b 2 MR F4\r\nyy\r\nms b 1 MA\r\n+\r\nms b 1 MP F9\r\n-\r\nms c 1 MA\r\nx\r\nmg b v f\r\n",
    b"ms a 1 MX\r\nx\r\nms a 1 %\r\nx\r\nmg a v %\r\n",
    b"mg b c\r\n",
    b"ms b 1 C{N} O1\r\nn\r\nms b 1 C{N} k\r\no\r\nms c 1 C{N}\r\no\r\nmg b v\r\nmd b C1 O7\r\nmd c C1\r\nma n C1\r\n",
    b"md b O9 k\r\nmd b O9 k\r\nmd none q\r\nmd a q\r\nmg a v q\r\nmg a q\r\nmn\r\n",
    b"ms a 1 q\r\nx\r\nms a 1 ME q O5\r\nx\r\nms b 1 MR q\r\nx\r\nmg a v q O1\r\nmg none v q O2\r\nmg a q O4\r\nmg a v k q O3\r\nmn\r\n",
    b"".join(b"mg a v q O%d\r\nmg none v q O%d\r\n" % (n, n) for n in range(50)) + b"mn\r\n",
    b"mg a v q\r\nset a 0 0 1 noreply\r\ny\r\nget a\r\nmg a v q\r\nincr a 1\r\nmg a v q\r\nms a 1 MX q\r\nx\r\nmg a v q\r\nmg a v q %\r\n",
    b"ms n 2 F5\r\n10\r\nma n\r\nma n MI D6\r\n",
    b"ma n v\r\n",
    b"ma n MD D12 v O2 k\r\n",
    b"mg n v f\r\n",
    b"ma none O1\r\nma none q\r\nma n q\r\nma n M- D9\r\nma n M+\r\nma n MX\r\nma a\r\nmn\r\n",
    b"ma new N0 J13 v\r\n",
    b"ma new N0 J13 v q\r\nmn\r\n",
    b"mg n T100\r\nmg n T100 v\r\nmg n T-1 v\r\nmg n v\r\nms n 1 T-1\r\n5\r\nmg n v\r\nms n 1\r\n5\r\n",
    b"ms a 1048577 O1\r\n" + b"x" * 1048577 + b"\r\nmg a v\r\n",
]  # fmt: skip


def asks(opcode: int, key: bytes = b"", value: bytes = b"", extras: bytes = b"", unique: bytes = bytes(8)) -> bytes:
    """A binary request."""
    body = extras + key + value
    return struct.pack(">BBHBBHII", 0x80, opcode, len(key), len(extras), 0, 0, len(body), 0x01020300 + opcode) + unique + body


def stores(flags: int = 0, seconds: int = 0) -> bytes:
    return struct.pack(">II", flags, seconds)


def counts(by: int, first: int = 0, seconds: int = 0xFFFFFFFF) -> bytes:
    return struct.pack(">QQI", by, first, seconds)


GET, SET, ADD, REPLACE, DELETE, INCR, DECR, QUIT, FLUSH, GETQ, NOOP, GETK, GETKQ, APPEND, PREPEND = (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 13, 14, 15)
SETQ, ADDQ, REPLACEQ, DELETEQ, INCRQ, DECRQ, FLUSHQ, APPENDQ, PREPENDQ = (17, 18, 19, 20, 21, 22, 24, 25, 26)
TOUCH, GAT, GATQ, GATK, GATKQ = (28, 29, 30, 35, 36)
SOON = struct.pack(">I", 100)
BINARY = [
    asks(SET, b"a", b"abc", stores(7)) + asks(GET, b"a") + asks(GET, b"none") + asks(GETK, b"a") + asks(GETK, b"none") + asks(NOOP),
    asks(ADD, b"a", b"x", stores()) + asks(ADD, b"b", b"y", stores(5)) + asks(REPLACE, b"b", b"yy", stores(6)) + asks(REPLACE, b"c", b"z", stores()),
    asks(APPEND, b"a", b"def") + asks(PREPEND, b"a", b"--") + asks(APPEND, b"c", b"x") + asks(PREPEND, b"c", b"x") + asks(GET, b"a"),
    asks(GET, b"b"),
    asks(SET, b"b", b"new", stores(), b"{UNIQUE}") + asks(SET, b"b", b"old", stores(), b"{UNIQUE}") + asks(SET, b"c", b"x", stores(), b"{UNIQUE}"),
    asks(GET, b"b") + asks(DELETE, b"b", unique=b"{UNIQUE}") + asks(DELETE, b"b") + asks(DELETE, b"b"),
    asks(INCR, b"n", extras=counts(1)) + asks(INCR, b"n", extras=counts(1, 10, 0)) + asks(INCR, b"n", extras=counts(5)) + asks(DECR, b"n", extras=counts(6)),
    asks(GET, b"n"),
    asks(DECR, b"n", extras=counts(100)) + asks(INCR, b"a", extras=counts(1)) + asks(DECRQ, b"m", extras=counts(1, 4, 0)) + asks(INCRQ, b"m", extras=counts(2)) + asks(INCRQ, b"x", extras=counts(1)),
    asks(GETQ, b"m") + asks(GETQ, b"none") + asks(GETKQ, b"m") + asks(GETKQ, b"none") + asks(NOOP),
    b"".join(asks(GETQ, b"a") + asks(GETKQ, b"m") for _ in range(30)) + asks(NOOP),
    asks(SETQ, b"q", b"1", stores()) + asks(ADDQ, b"q", b"2", stores()) + asks(REPLACEQ, b"none", b"2", stores()) + asks(APPENDQ, b"q", b"5") + asks(PREPENDQ, b"q", b"4")
    + asks(APPENDQ, b"none", b"5") + asks(DELETEQ, b"none") + asks(GET, b"q") + asks(DELETEQ, b"q") + asks(NOOP),
    asks(TOUCH, b"a", extras=SOON) + asks(TOUCH, b"none", extras=SOON) + asks(GAT, b"a", extras=SOON) + asks(GAT, b"none", extras=SOON) + asks(GATK, b"a", extras=SOON),
    asks(GATQ, b"a", extras=SOON) + asks(GATQ, b"none", extras=SOON) + asks(GATKQ, b"a", extras=SOON) + asks(NOOP),
    asks(SET, b"a", b"x" * 1048577, stores()) + asks(GET, b"a"),
    asks(SET, b"a", b"x", stores()) + asks(FLUSH, extras=bytes(4)) + asks(GET, b"a") + asks(FLUSHQ) + asks(NOOP) + asks(QUIT),
]  # fmt: skip


def without_numbers(answer: bytes) -> tuple[bytes, bytes]:
    """And without texts of errors of the binary protocol; the number of the value that came last."""
    number, at, said = b"", 0, []
    while answer[at : at + 1] == b"\x81":
        status, length = struct.unpack(">HI", answer[at + 6 : at + 12])
        if not status:
            number = answer[at + 16 : at + 24]
        has_number = any(answer[at + 16 : at + 24])
        said.append(answer[at : at + 8] + (answer[at + 12 : at + 16] if status else answer[at + 8 : at + 16]) + bytes([has_number]))
        said.append(b"" if status else answer[at + 24 : at + 24 + length])
        at += 24 + length
    if at:
        return b"".join(said) + answer[at:], number
    numbers = re.findall(rb"(?:VALUE \S+ \d+ \d+ | c)(\d+)", answer)
    return re.sub(rb"(VALUE \S+ \d+ \d+) \d+|( c)\d+", rb"\1\2 #", answer), numbers[-1] if numbers else b""


def answers(port: int, steps: list[bytes]) -> list[bytes]:
    got, number = [], b""
    for step in steps:
        end = b"" if step.startswith(b"\x80") else b"quit\r\n"
        with socket.create_connection(("127.0.0.1", port), PATIENCE_S) as conn:
            conn.settimeout(PATIENCE_S)
            conn.sendall(step.replace(b"{N}", number).replace(b"{UNIQUE}", number) + end)
            conn.shutdown(socket.SHUT_WR)
            answer, number = without_numbers(b"".join(iter(lambda conn=conn: conn.recv(65536), b"")))
            got.append(answer)
    return got


@pytest.mark.parametrize("steps", [TEXT, META, BINARY], ids=["text", "meta", "binary"])
def test_as_memcached(steps: list[bytes], netmodel: Netmodel) -> None:
    with memcached() as theirs, public(netmodel, "memcache") as ours:
        port = theirs.address[1]
        assert isinstance(port, int)
        expected, got = answers(port, steps), answers(ours.port, steps)
    for step, one, other in zip(steps, expected, got, strict=True):
        assert one == other, step[:1000]


def test_memcapable(netmodel: Netmodel) -> None:
    """Each of its tests, of the text and of the binary protocol."""
    with public(netmodel, "memcache") as server:
        out = said("memccapable", "-t", "30", "-h", "127.0.0.1", "-p", str(server.port))
    assert "All tests passed" in out, out


def test_tools_of_libmemcached(netmodel: Netmodel) -> None:
    with public(netmodel, "memcache") as server:
        at = f"--servers=127.0.0.1:{server.port}"
        said("memcping", at)
        assert "version: 1.6.0-netmodel" in said("memcstat", at)
    assert server.verbs()["other"].keys() == {"ok"}
