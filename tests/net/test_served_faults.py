# SPDX-License-Identifier: Apache-2.0
"""Servers of netmodel that were asked to fail: each way is told by its client as what it is, and both ends count the same."""

from __future__ import annotations

import contextlib
import socket
import struct
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from nmtest import PATIENCE_S, Netmodel, defines, master_of
from publics import ask, public

WriteProfile = Callable[..., Path]

KEYS = '<keyspace name="k" count="10" length="12"/>'
ASKED = {
    "ping": ("ping", ""), "echo": ("echo", "size=1"), "memcache": ("get", "keys=k"), "memcache_meta": ("set", "keys=k size=20"),
    "memcache_binary": ("get", "keys=k"), "redis": ("get", "keys=k"), "http": ("http", "path=/bytes/3000"), "dns": ("query", "name=a.example"),
}  # fmt: skip
FAULTS = {
    "stall": "timed_out", "close": "lost", "reset": "lost", "short": "lost", "long": "malformed", "garbage": "malformed", "error": "refused",
    "hangup": "", "stall(every=10,100ms)": "",
}  # fmt: skip


def asking(app: str, port: int, passes: int = 40) -> str:
    verb, options = ASKED[app]
    return (
        f'{KEYS if "keys" in options else ""}<group nflows="2"><transaction><flowop type="connect" options="protocol=tcp app={app} '
        f'server=127.0.0.1:{port} reconnect=30s"/></transaction><transaction iterations="{passes}"><flowop type="{verb}" '
        f'options="{options} timeout=500ms"/></transaction><transaction><flowop type="disconnect"/></transaction></group>'
    )


@pytest.mark.parametrize(
    ("app", "fault"),
    # No answer of ping and echo is an error.
    [(app, fault) for app in ASKED for fault in FAULTS if fault != "error" or app not in ("ping", "echo")],
)
def test_both_ends_count_the_same(app: str, fault: str, netmodel: Netmodel, profile: WriteProfile) -> None:
    with public(netmodel, app, fault=fault if "(" in fault else f"{fault}(every=10)") as server:
        document = netmodel.measure(profile(asking(app, server.port)))
    asked = {name: n for name, n in document["totals"]["outcomes"].items() if n}
    served = server.outcomes()
    again = master_of(document)["counts"].get("reissued", 0)
    kind = FAULTS[fault]
    assert asked["requests"] == 80
    if fault == "hangup":
        assert server.connections >= 2 * 40 // 10
    if "ms" in fault:
        latency = document["totals"]["latency_s"]
        assert latency["mean"] * latency["count"] >= 80 // 10 * 0.1
    if fault in ("close", "reset") and ASKED[app][0] != "set":
        # Each is sent once more, and answered then.
        assert served.pop("lost") == again >= 6
        assert served.pop("requests") == asked.pop("requests") + again
    elif kind:
        assert served[kind] >= 6
    if kind and fault != "error":
        assert served.get("refused", 0) == 0
    assert served == asked


def test_no_request_is_sent_behind_the_last_answer(netmodel: Netmodel, profile: WriteProfile) -> None:
    """As it would be lost where the end of the connection came later than the answer."""
    with public(netmodel, "memcache_meta", fault="hangup(0.5)") as server:
        document = netmodel.measure(profile(asking("memcache_meta", server.port, 2000)))
    assert document["totals"]["outcomes"]["ok"] == document["totals"]["outcomes"]["requests"] == 4000
    assert server.verbs()["set"] == {"ok": 4000}
    assert server.connections > 4000 * 0.4


@pytest.mark.parametrize("fault", ["error(1),hangup(every=3)", "hangup(every=3),error(1)"])
def test_the_first_of_two_strikes(fault: str, netmodel: Netmodel) -> None:
    """Of those that come to the same request: in the order of the table, not in that of the option."""
    with public(netmodel, "memcache", fault=fault) as server:
        answer = ask(server, b"get k\r\n" * 3, 1000)
    assert answer == b"SERVER_ERROR out of order\r\n" * 2 + b"END\r\n"
    assert server.verbs() == {"get": {"misses": 1, "refused": 2}}


@pytest.mark.parametrize("keys", [1, 4, 5, 9, 40])
def test_an_error_is_the_whole_answer(keys: int, netmodel: Netmodel) -> None:
    """Also to a get of more keys than there is room for at once, which is answered in pieces."""
    error = b"SERVER_ERROR out of order\r\n"
    with public(netmodel, "memcache", fault="error(every=2)") as server:
        answer = ask(server, b"set k 0 0 1\r\nx\r\n" + b"get" + b" k" * keys + b"\r\n" + b"set k 0 0 1\r\ny\r\nget m\r\nversion\r\n", 5000)
    assert answer == b"STORED\r\n" + error + b"STORED\r\n" + error + b"VERSION 1.6.0-netmodel\r\n"
    of = server.verbs()["get"]
    assert of.get("hits", 0) + of["refused"] == keys + 1


def binary(magic: int, opcode: int, key: bytes = b"", extras: bytes = b"", value: bytes = b"", status: int = 0) -> bytes:
    body = extras + key + value
    return struct.pack(">BBHBBHII", magic, opcode, len(key), len(extras), 0, status, len(body), opcode) + bytes(8) + body


def test_an_error_is_not_the_end_of_a_request_of_several_keys(netmodel: Netmodel) -> None:
    """Or its client would wait for what ends it: mn, or a no-op."""
    error = b"SERVER_ERROR out of order\r\n"
    set_, getq, noop = 1, 9, 10
    with public(netmodel, "memcache", fault="error(every=1)") as server:
        assert ask(server, b"ms k 1\r\nx\r\nmg k v q\r\nmg k v q\r\nmn\r\nmn\r\n", 1000) == error + error + b"MN\r\nMN\r\n"
        sent = binary(0x80, set_, b"k", bytes(8), b"x") + 2 * binary(0x80, getq, b"k") + 2 * binary(0x80, noop)
        assert ask(server, sent, 1000) == b"".join(binary(0x81, opcode, status=0x84 * (opcode != noop)) for opcode in (set_, getq, noop, noop))


def test_an_answer_comes_where_the_next_request_has_come(netmodel: Netmodel) -> None:
    with public(netmodel, "memcache", fault="hangup(every=3)", service="50ms") as server:
        answer = b""
        with socket.create_connection(("127.0.0.1", server.port), PATIENCE_S) as client:
            client.settimeout(PATIENCE_S)
            client.sendall(b"get k\r\n" * 4000)
            with contextlib.suppress(ConnectionResetError):
                while more := client.recv(100):
                    answer += more
    assert answer == b"END\r\n" * 3
    assert server.verbs() == {"get": {"misses": 3}}


@pytest.mark.parametrize("app", ["memcache", "memcache_meta", "memcache_binary", "redis", "http"])
@pytest.mark.parametrize("fault", ["stall", "close", "long", "garbage", "error", "hangup"])
def test_behind_a_failure(app: str, fault: str, netmodel: Netmodel, profile: WriteProfile) -> None:
    """With eight outstanding, of those behind one that has failed none is taken for another, and the server may not have seen it."""
    with public(netmodel, app, fault=f"{fault}(every=10)") as server:
        text = asking(app, server.port).replace('nflows="2"', 'nflows="1"').replace('iterations="40"', 'iterations="80" pipeline="8"')
        document = netmodel.measure(profile(text))
    asked, served = Counter(document["totals"]["outcomes"]), Counter(server.outcomes())
    answered = [sum(of[name] for name in ("hits", "misses", "ok")) for of in (asked, served)]
    assert asked["requests"] == 80 == sum(asked[name] for name in ("timed_out", "lost", "malformed", "refused")) + answered[0]
    assert (asked["malformed"], asked["refused"]) == (served["malformed"], served["refused"])
    assert answered[0] == answered[1] if fault not in ("long", "garbage") else answered[0] <= answered[1]
    if FAULTS[fault]:
        assert served[FAULTS[fault]] >= 4
    else:
        assert server.connections >= 4
    assert (asked["timed_out"] >= served["timed_out"] > 0) if fault == "stall" else asked["timed_out"] == 0
    if fault in ("close", "hangup") and ASKED[app][0] != "set":
        assert asked["lost"] == 0 < master_of(document)["counts"]["reissued"]


def test_shares_are_drawn_from_the_seed(netmodel: Netmodel, profile: WriteProfile) -> None:
    def refused(seed: int) -> int:
        with public(netmodel, "redis", "--seed", str(seed), fault="error(0.2),close(every=2000),stall(0.01,1us)", num_flows=1) as server:
            document = netmodel.measure(profile(asking("redis", server.port, 1000).replace('nflows="2"', 'nflows="1"')))
        assert server.outcomes() == {name: n for name, n in document["totals"]["outcomes"].items() if n}
        n: int = document["totals"]["outcomes"]["refused"]
        return n

    first = refused(1)
    assert first == pytest.approx(200, abs=5 * (1000 * 0.2 * 0.8) ** 0.5)
    assert refused(1) == first


@pytest.mark.parametrize(
    ("app", "fault", "said"),
    [
        ("redis", "melt(1)", '"melt" is no fault; there are: stall, close, reset, short, hangup, long, garbage, error'),
        ("redis", "close", '"close" is none of NAME(SHARE), NAME(every=N) or stall(..., DURATION)'),
        ("redis", "close(2)", "close(2): must be a share of the requests, 0 to 1, or every=N with an N of 1 or more"),
        ("redis", "close(every=0)", "close(every=0): must be a share"),
        ("redis", "close(0.1),close(0.1)", "close is there twice"),
        ("redis", "close(0.6),reset(0.5)", "the shares are more than 1 together"),
        ("redis", "close(0.1,1ms)", "close has no duration, as stall has"),
        ("redis", "stall(0.1,0)", 'stall: "0" is no duration'),
        ("redis", "close(0.1),", '"" is none of'),
        ("ping", "error(0.1)", "app=ping has no answer that is an error"),
    ],
)
def test_mistakes(app: str, fault: str, said: str, netmodel: Netmodel) -> None:
    result = netmodel.run("-m", "server", *defines(app=app, fault=fault), "--check", code=1)
    assert said in result.err and "fault" in result.err, result
