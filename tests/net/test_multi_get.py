# SPDX-License-Identifier: Apache-2.0
"""Several keys with one request, beside what memcached counts."""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from keyed import asking, counts
from nmtest import Json, Netmodel, assert_complete, assert_ends_agree, defines, line_of, phase_of
from partners import Memcached, memcached
from scripted import server_of

WriteProfile = Callable[..., Path]

APPS = ["memcache", "memcache_meta", "memcache_binary"]


def store(server: Memcached, count: int) -> None:
    """The first keys of the keyspace, with values that are longer than most pieces are."""
    server.asked("".join(f"set k:{key:010} 0 0 300 noreply\r\n{key:0300}\r\n" for key in range(count)).encode() + b"get x\r\n")


def asked(netmodel: Netmodel, path: Path, server: Memcached) -> tuple[Json, dict[str, int]]:
    """The result, and how much more memcached has counted."""
    before = server.stats()
    document = netmodel.measure(path)
    assert_complete(document)
    return document, {name: value - before[name] for name, value in server.stats().items()}


@pytest.mark.parametrize("app", APPS)
@pytest.mark.parametrize(("flows", "pipeline"), [(1, ""), (3, ""), (2, 'pipeline="4"')])
def test_forty_of_a_hundred(flows: int, pipeline: str, app: str, netmodel: Netmodel, profile: WriteProfile) -> None:
    """Each request asks for all keys once; a pass is one request."""
    with memcached() as server:
        store(server, 40)
        body = asking(app, '<flowop type="get" options="keys=k batch=100"/>', f"server={server.server}", f"nflows='{flows}'", 100, "sequential")
        document, stats = asked(netmodel, profile(body.replace('duration="200ms"', f'iterations="20" {pipeline}')), server)
    own = counts(document)
    assert own["hits"] == stats["get_hits"] == 40 * 20 * flows
    assert own["misses"] == stats["get_misses"] == 60 * 20 * flows
    assert own["requests"] == stats["cmd_get"] == 100 * 20 * flows
    (verb,) = document["totals"]["verbs"]
    assert verb["latency_s"]["count"] == 20 * flows


@pytest.mark.parametrize("app", APPS)
@pytest.mark.parametrize("attributes", ['pipeline="16"', 'arrivals="const(400/s)"', 'pipeline="3" arrivals="const(400/s)"'])
def test_keys_that_are_drawn(attributes: str, app: str, netmodel: Netmodel, profile: WriteProfile) -> None:
    """Some of them more than once in one request, beside gets of one key."""
    mix = '<mix><flowop type="get" weight="3" options="keys=k batch=10 verify"/><flowop type="get" options="keys=k"/></mix>'
    with memcached() as server:
        body = asking(app, mix, f"server={server.server}", "nflows='2'", 30, "zipf(1.2)", fill="size=200")
        document, stats = asked(netmodel, profile(body.replace('duration="200ms"', f'duration="400ms" {attributes}')), server)
        assert counts(document)["misses"] == 0
        assert counts(document)["hits"] == stats["get_hits"] == stats["cmd_get"] > 100
        assert len(server.asked(b"get k:0000000000\r\n").split(b"\r\n")[1]) == 200


@pytest.mark.parametrize("pipeline", ["", 'pipeline="4"'])
@pytest.mark.parametrize(
    ("bad", "which"), [(b"VALUE {key} 0 1\r\n7\r\n", "lost"), (b"VALUE x 0 1\r\n7\r\nEND\r\n", "malformed"), (b"", "timed_out")]
)
def test_each_key_of_a_bad_answer_counts(bad: bytes, which: str, pipeline: str, netmodel: Netmodel, profile: WriteProfile) -> None:
    """The last of four answers of a connection is bad; the others have no values. One that is cut has the value of its first key."""

    def serve(conn: socket.socket, _number: int) -> None:
        with conn.makefile("rb") as lines:
            for number, line in enumerate(lines):
                conn.sendall(bad.replace(b"{key}", line.split()[1]) if number % 4 == 3 else b"END\r\n")
                if number % 4 == 3 and which == "lost":
                    return

    limit = "200ms" if which == "timed_out" else "20s"
    with server_of(serve) as place:
        body = asking("memcache", f'<flowop type="get" options="keys=k batch=10 timeout={limit}"/>', f"server={place} reconnect=5s")
        document = netmodel.measure(profile(body.replace('duration="200ms"', f'iterations="20" {pipeline}')), "-f")
    assert_complete(document)
    own = counts(document)
    assert own["requests"] == own["misses"] + own[which] + own["lost"] * (which != "lost") == 200
    # In a pipeline the requests behind a bad answer are lost with it.
    assert own[which] >= (20 if pipeline else 40)
    assert own[which] % 10 == 0
    (flowop,) = (one["outcomes"] for one in phase_of(document, "ask")["flowops"] if one["flowop"] == "get")
    assert {name: flowop[name] for name in ("requests", "misses", which)} == {name: own[name] for name in ("requests", "misses", which)}


@pytest.mark.parametrize("app", APPS)
def test_stock_profile(app: str, netmodel: Netmodel) -> None:
    """Gets of ten keys among sets of one, at a memcached and at netmodel's own."""
    params = {"app": app, "batch": 10, "num_transactions": 500, "test_length": "60s", "num_flows": 2, "keys": 300}
    with memcached() as server:
        document = netmodel.measure("memcache", *defines(server=server.server, **params))
        stats = server.stats()
    own = netmodel.measure("memcache", *defines(**params))
    assert_ends_agree(own)
    for one in (document, own):
        verbs = {verb["verb"]: verb["outcomes"] for verb in one["totals"]["verbs"]}
        assert verbs["get"]["hits"] == verbs["get"]["requests"] == 10 * (500 - verbs["set"]["requests"]) > 3000
    assert stats["get_hits"] == stats["cmd_get"] == counts(document)["hits"]


def test_mistakes(netmodel: Netmodel, profile: WriteProfile) -> None:
    away = "server=127.0.0.1:1"
    for app, where, verb, options, said in (
        ("redis", away, "get", "batch=2", "batch: app=redis has none of get"),
        ("memcache", away, "set", "batch=2", "batch: app=memcache has none of set; of get"),
        ("memcache", away, "get", "batch=129", "must be 1 to 128"),
        ("memcache", away, "get", "batch=2 unique", "batch: not with unique"),
        ("memcache_meta", away, "set", "batch=100 size=10k", "batch: the values of one request would have 1024000 bytes; must be 262144 at most"),
    ):
        path = profile(asking(app, f'\n<flowop type="{verb}" options="keys=k {options}"/>', where))
        result = netmodel.run("-m", path, code=1)
        assert f"{path}:{line_of(path, 'batch')}: error: <flowop {verb}>" in result.err and said in result.err, result.err


@pytest.mark.parametrize("app", APPS[1:])
@pytest.mark.parametrize("pipeline", ["", 'pipeline="4"'])
def test_quiet_sets_at_a_full_server(pipeline: str, app: str, netmodel: Netmodel, profile: WriteProfile) -> None:
    """What it has no room for is refused, and the rest is found, and right: no answer is taken for that to another key."""
    sets = asking(app, '<flowop type="set" options="keys=k size=2000 batch=50"/>', "server={server}", "nflows='2'", 5000, "sequential")
    gets = asking(app, '<flowop type="get" options="keys=k verify batch=50"/>', "server={server}", "nflows='2'", 5000, "sequential")
    with memcached("-M", "-m", "4") as server:
        results = []
        for body in (sets, gets):
            path = profile(body.replace("{server}", server.server).replace('duration="200ms"', f'iterations="50" {pipeline}'))
            results.append(counts(asked(netmodel, path, server)[0]))
        stats = server.stats()
    stored, found = results
    assert stored["ok"] + stored["refused"] == 5000 == found["requests"]
    assert stored["ok"] == stats["curr_items"] == found["hits"] == stats["get_hits"]
    assert stored["refused"] == found["misses"] > 1000
