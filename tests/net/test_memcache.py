# SPDX-License-Identifier: Apache-2.0
"""memcache against memcached, which counts as many as netmodel does."""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from keyed import asking, counts
from nmtest import Netmodel, assert_complete, assert_ends_agree, defines, line_of
from partners import memcached

WriteProfile = Callable[..., Path]


APPS = ["memcache", "memcache_meta", "memcache_binary"]


@pytest.mark.parametrize("app", APPS)
@pytest.mark.parametrize("flows", [1, 7, 100])
def test_memcached_counts_the_same(flows: int, app: str, netmodel: Netmodel) -> None:
    """Each key is set once, however many flows there are, and each get finds it."""
    with memcached() as server:
        document = netmodel.measure("memcache", *defines(server=server.server, app=app, test_length="300ms", keys=95, num_flows=flows, set_weight=0))
        stats = server.stats()
    assert_complete(document)
    assert stats["cmd_set"] == stats["curr_items"] == 95
    assert stats["cmd_get"] == stats["get_hits"] == counts(document)["hits"] > 100
    assert counts(document)["misses"] == counts(document)["refused"] == 0


@pytest.mark.parametrize("app", APPS)
def test_hits_misses_and_deletes(app: str, netmodel: Netmodel, profile: WriteProfile) -> None:
    flowops = (
        '<flowop type="delete" options="keys=k"/><flowop type="get" options="keys=k count=2"/>'
        '<flowop type="set" options="keys=k size=10 ttl=3600s flags=7"/>'
    )
    with memcached() as server:
        document = netmodel.measure(profile(asking(app, flowops, f"server={server.server}", "nflows='3'", 20, "zipf(1.1)")))
        stats = server.stats()
    assert_complete(document)
    own = counts(document)
    assert own["hits"] == stats["get_hits"] + stats["delete_hits"]
    assert own["misses"] == stats["get_misses"] + stats["delete_misses"] > 0
    assert stats["cmd_get"] == 2 * stats["cmd_set"] > 100


def test_each_of_several_servers_is_filled(netmodel: Netmodel) -> None:
    with memcached() as first, memcached() as second:
        servers = f"{first.server},{second.server}"
        params = {"server": servers, "keys": 51, "set_weight": 0, "test_length": "200ms"}
        document = netmodel.measure("memcache", *defines(num_flows=6, **params))
        assert first.stats()["cmd_set"] == second.stats()["cmd_set"] == 51
        assert counts(document)["misses"] == 0
        refused = netmodel.run("-m", "memcache", *defines(num_flows=3, **params), code=1)
    assert "their number must be a multiple of that of the servers" in refused.err


@pytest.mark.parametrize(("app", "said"), zip(APPS, ["VALUE k:0000000000 0 5", "VA 5 O", "?"], strict=True))
def test_another_value_is_no_answer(app: str, said: str, netmodel: Netmodel, profile: WriteProfile) -> None:
    with memcached() as server:
        with socket.create_connection(server.address) as conn:
            conn.sendall(b"set k:0000000000 0 0 5\r\nhello\r\n")
            assert conn.recv(100) == b"STORED\r\n"
        where = f"server={server.server}"
        assert_complete(netmodel.measure(profile(asking(app, '<flowop type="get" options="keys=k"/>', where, count=1))))
        path = profile(asking(app, '<flowop type="get" options="keys=k verify"/>', where, count=1))
        document = netmodel.measure(path, code=2)
    why = document["run"]["incomplete_why"]
    assert f'"{said}' in why and f"has come, which is no answer of app={app}" in why


def test_flags_and_times_reach_memcached(netmodel: Netmodel, profile: WriteProfile) -> None:
    """By each protocol, as the meta commands show them."""
    shown = []
    for app in APPS:
        with memcached() as server:
            path = profile(asking(app, '<flowop type="set" options="keys=k size=10 ttl=3600s flags=77"/>', f"server={server.server}", count=1))
            assert_complete(netmodel.measure(path))
            flags, ttl, size = server.asked(b"mg k:0000000000 f t s\r\nget x\r\n").split(b"\r\n")[0].split()[1:]
            assert 3000 < int(ttl[1:]) <= 3600
            shown.append((flags, size))
    assert shown == [(b"f77", b"s10")] * 3


def test_open_arrivals(netmodel: Netmodel, profile: WriteProfile) -> None:
    body = asking("memcache", '<flowop type="get" options="keys=k"/>', attributes="nflows='8'").replace(
        'duration="200ms"', 'duration="500ms" arrivals="const(400/s)"'
    )
    document = netmodel.measure(profile(body))
    assert_ends_agree(document)
    assert counts(document)["misses"] == 200


def test_the_line_of_what_is_wrong(netmodel: Netmodel, profile: WriteProfile) -> None:
    path = profile(asking("memcache", '\n<flowop type="get" options="keys=users"/>'))
    result = netmodel.run("-m", path, code=1)
    assert f'{path}:{line_of(path, "users")}: error: <flowop get> keys="users": the profile has no such keyspace' in result.err
