# SPDX-License-Identifier: Apache-2.0
"""Any command of Redis, by a template."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from keyed import asking, counts
from nmtest import Netmodel, assert_complete, line_of
from partners import redis

WriteProfile = Callable[..., Path]


def command(text: str, options: str = "keys=k") -> str:
    return f"""<flowop type="command" text='{text}' options="{options}"/>"""


def test_redis_does_what_is_asked(netmodel: Netmodel, profile: WriteProfile) -> None:
    flowops = (
        command("HSET __key__ f1 __data__ f2 x", "keys=k size=exp(3000;1..64k)")
        + command("HGETALL __key__")
        + command('EVAL "return {redis.call([[exists]], KEYS[1]), {}, false}" 1 __key__')
        + command("ZRANGEBYSCORE nothing -inf +inf", "")
        + command("SET other:__key__:__key__ __data__ EX 10", "keys=k size=7")
        + command("GET missing", "")
        + command("INCR word:with blank", "")
    )
    with redis() as server:
        document = netmodel.measure(profile(asking("redis", flowops, f"server={server.server}", "nflows='3'", 20)), "--yes-destroy")
        calls = server.calls()
        value = server.cli("HGET", "k:0000000001", "f2")
        ttl = int(server.cli("TTL", "other:k:0000000001:k:0000000001"))
        size = int(server.cli("STRLEN", "other:k:0000000001:k:0000000001"))
    assert_complete(document)
    passes = calls["hset"]
    assert passes > 10
    assert value == "x"
    assert 0 < ttl <= 10
    assert size == 7
    assert all(calls[name] == passes for name in ("hgetall", "eval", "zrangebyscore", "set", "get"))
    # INCR has an argument too many.
    assert counts(document)["refused"] == passes


@pytest.mark.parametrize("resp", [2, 3])
def test_sizes_of_values(resp: int, netmodel: Netmodel, profile: WriteProfile) -> None:
    flowops = command("SET __key__ __data__", "keys=k size=300000") + command("GET __key__") + command("MGET __key__ none __key__")
    with redis() as server:
        document = netmodel.measure(profile(asking("redis", flowops, f"server={server.server} resp={resp}", "nflows='2'", 5)))
        assert int(server.cli("STRLEN", "k:0000000001")) == 300000
    assert_complete(document)
    assert counts(document)["bytes_received"] > 900000
    assert counts(document)["refused"] == 0


CHANGING = ("MULTI", "EXEC", "DISCARD", "WATCH x", "UNWATCH", "ASKING", "READONLY", "READWRITE")


@pytest.mark.parametrize(
    ("text", "options", "why"),
    [
        ("", "", "is empty"),
        ("FLUSHALL", "", "FLUSHALL may take away what a server has that netmodel has not started: needs --yes-destroy"),
        ("unlink __key__", "keys=k", "UNLINK may take away"),
        ("EVAL x 0", "", "EVAL may take away"),
        ("CONFIG GET x", "", "concerns more of the server than keys"),
        ("SUBSCRIBE x", "", "is not answered by one answer"),
        ("CLIENT REPLY OFF", "", "is not answered by one answer"),
        ("SELECT 3", "", "is of the connection"),
        ("Function flush", "", "concerns more of the server than keys"),
        ("SCRIPT FLUSH", "", "concerns more of the server than keys"),
        ("MIGRATE host 6379 __key__ 0 100", "keys=k", "concerns more of the server than keys"),
        ("SENTINEL RESET x", "", "concerns more of the server than keys"),
        ("LATENCY RESET", "", "concerns more of the server than keys"),
        ("SLOWLOG RESET", "", "concerns more of the server than keys"),
        ("REPLCONF ACK 0", "", "is not answered by one answer"),
        *((word, "", "changes what the connection does with later commands") for word in CHANGING),
        ("__key__ x", "keys=k", "must begin with the name of a command"),
        ("GET __key__", "", "has __key__, which needs keys="),
        ("GET x", "keys=k", "has no __key__ for keys="),
        ("GET __key__", "keys=other", 'keys="other"'),
        ("SET x __data__", "", "size: __data__ needs size="),
        ("GET x", "size=10", "size: has no effect without __data__"),
        ("SET x a__data__", "size=10", "has __data__ within a word"),
        ("MSET x __data__ y __data__", "size=10", "has __data__ twice"),
        ("MSET x __data__ __key__ y", "size=10 keys=k", "has __key__ behind __data__"),
        (f"SET x __data__ {'y' * 60}", "size=10", "has too much behind __data__"),
        (f"GET {'y' * 2100}", "", "is too long"),
        (f"DEL {'__key__ ' * 17}", "keys=k", "has more than 16 keys"),
        ("GET &quot;x", "", "ends within quotes"),
    ],
)
def test_texts_that_are_none(text: str, options: str, why: str, netmodel: Netmodel, profile: WriteProfile) -> None:
    path = profile(asking("redis", command(text, options), "server=127.0.0.1:1"))
    said = netmodel.run("-m", path, code=1).err
    assert f":{line_of(path, 'command')}: " in said
    assert why in said, said


@pytest.mark.parametrize(
    ("app", "flowop", "connect", "why"),
    [
        ("redis", command("GET x", ""), "", "needs server=... at the connect of line 3"),
        ("redis", '<flowop type="command"/>', "server=127.0.0.1:1", "needs the attribute text="),
        ("memcache", command("GET x", ""), "server=127.0.0.1:1", "has no command"),
        ("redis", '<flowop type="get" text="GET x" options="keys=k"/>', "server=127.0.0.1:1", 'text="GET x": only of command'),
    ],
)
def test_where_it_is_not_for(app: str, flowop: str, connect: str, why: str, netmodel: Netmodel, profile: WriteProfile) -> None:
    assert why in netmodel.run("-m", profile(asking(app, flowop, connect)), code=1).err
