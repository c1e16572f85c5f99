# SPDX-License-Identifier: Apache-2.0
"""redis against Redis, which counts as many as netmodel does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from keyed import asking, counts
from nmtest import Netmodel, assert_complete
from partners import memcached, redis

WriteProfile = Callable[..., Path]


@pytest.mark.parametrize("flows", [1, 7])
def test_redis_counts_the_same(flows: int, netmodel: Netmodel, profile: WriteProfile) -> None:
    flowops = (
        '<flowop type="delete" options="keys=k"/><flowop type="get" options="keys=k count=2"/><flowop type="ping"/>'
        '<flowop type="set" options="keys=k size=10"/>'
    )
    with redis() as server:
        path = profile(asking("redis", flowops, f"server={server.server}", f"nflows='{flows}'", 95, "zipf(1.1)", "size=10"))
        document = netmodel.measure(path)
        calls = server.calls()
        info = server.cli("INFO", "stats")
    assert_complete(document)
    own = counts(document)
    found = {name: int(info.split(f"{name}:")[1].split()[0]) for name in ("keyspace_hits", "keyspace_misses")}
    assert calls["get"] == 2 * calls["del"] == 2 * calls["ping"] > 10
    assert calls["set"] == calls["del"] + 95
    # Redis counts the keys of GET alone so.
    assert own["hits"] + own["misses"] == calls["get"] + calls["del"]
    assert found["keyspace_hits"] + found["keyspace_misses"] == calls["get"]
    assert 0 <= own["hits"] - found["keyspace_hits"] <= calls["del"]
    assert own["refused"] == 0


def test_an_error_is_an_answer(netmodel: Netmodel, profile: WriteProfile) -> None:
    with redis() as server:
        server.cli("LPUSH", "k:0000000000", "x")
        path = profile(asking("redis", '<flowop type="get" options="keys=k"/>', f"server={server.server}", count=1))
        document = netmodel.measure(path)
    assert_complete(document)
    own = counts(document)
    assert own["refused"] == own["transactions"] - 2 > 10


def test_deletes_are_counted_as_redis_does(netmodel: Netmodel, profile: WriteProfile) -> None:
    with redis() as server:
        path = profile(asking("redis", '<flowop type="delete" options="keys=k"/>', f"server={server.server}", count=1000, fill="size=10"))
        document = netmodel.measure(path)
        left = int(server.cli("DBSIZE"))
    assert_complete(document)
    assert 0 < counts(document)["hits"] == 1000 - left


def test_time_to_live(netmodel: Netmodel, profile: WriteProfile) -> None:
    """It goes behind the value."""
    with redis() as server:
        path = profile(asking("redis", '<flowop type="set" options="keys=k size=10 ttl=2592000s"/>', f"server={server.server}", count=1))
        assert_complete(netmodel.measure(path))
        assert 2591000 < int(server.cli("TTL", "k:0000000000")) <= 2592000


def test_what_is_no_answer(netmodel: Netmodel, profile: WriteProfile) -> None:
    with memcached() as server:
        path = profile(asking("redis", '<flowop type="get" options="keys=k"/>', f"server={server.server}"))
        document = netmodel.measure(path, code=2)
    assert '"ERROR" has come, which is no answer of app=redis' in document["run"]["incomplete_why"]
