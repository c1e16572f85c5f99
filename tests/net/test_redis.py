# SPDX-License-Identifier: Apache-2.0
"""redis against Redis, which counts as many as netmodel does."""

from __future__ import annotations

import re
import socket
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from keyed import asking, counts
from nmtest import Netmodel, assert_complete, wait_until
from partners import Redis, memcached, redis

WriteProfile = Callable[..., Path]


@pytest.mark.parametrize(("flows", "way"), [(1, "tcp"), (7, "tcp"), (7, "unix"), (7, "[::1]")])
def test_redis_counts_the_same(flows: int, way: str, netmodel: Netmodel, profile: WriteProfile, tmp_path: Path) -> None:
    flowops = (
        '<flowop type="delete" options="keys=k"/><flowop type="get" options="keys=k count=2"/><flowop type="ping"/>'
        '<flowop type="set" options="keys=k size=10"/>'
    )
    args = ("--bind", "127.0.0.1", "::1") if way == "[::1]" else ()
    with redis(str(tmp_path / "socket") if way == "unix" else "", *args) as server:
        where = f"server={server.server}".replace("127.0.0.1", way if args else "127.0.0.1") + (" protocol=unix" if way == "unix" else "")
        path = profile(asking("redis", flowops, where, f"nflows='{flows}'", 95, "zipf(1.1)", "size=10"))
        document = netmodel.measure(path, "--yes-destroy")
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
        document = netmodel.measure(path, "--yes-destroy")
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


def asking_clients(server: Redis, flows: int) -> list[str]:
    """The numbers of those clients that speak RESP3, when there are as many."""
    found = re.findall(r"^id=(\d+) .* cmd=[gs]et .* resp=3", server.cli("CLIENT", "LIST"), re.MULTILINE)
    return found if len(found) == flows else []


@pytest.mark.parametrize(("flows", "depth"), [(1, 1), (3, 1), (3, 16)])
def test_pushes_belong_to_no_request(flows: int, depth: int, netmodel: Netmodel, profile: WriteProfile) -> None:
    """A Redis that tells the connections of netmodel of each key that is set, while they ask."""
    flowops = '<flowop type="set" options="keys=k size=10"/><flowop type="get" options="keys=k verify"/>'
    if depth > 1:
        flowops = f"<mix>{flowops}</mix>"
    with redis() as server, ExitStack() as trackers:
        body = asking("redis", flowops, f"server={server.server} resp=3", f"nflows='{flows}'", 10, fill="size=10").replace('"200ms"', f'"2s" pipeline="{depth}"')
        with netmodel.started("-m", profile(body), "--format", "json") as process:
            for client in wait_until(lambda: asking_clients(server, flows)):
                tracker = trackers.enter_context(socket.create_connection(server.address, 5))
                tracker.sendall(f"CLIENT TRACKING ON BCAST REDIRECT {client}\r\n".encode())
                assert tracker.recv(100) == b"+OK\r\n"
            document = process.finish().json()
    assert_complete(document)
    own = counts(document)
    assert document["hosts"][0]["counts"]["unsolicited"] == own["malformed"] == own["lost"] == own["misses"] == 0
    answers = own["hits"] * len("$10\r\n0123456789\r\n") + own["ok"] * len("+OK\r\n")
    assert own["bytes_received"] > answers + 1000 * len(">2\r\n$10\r\ninvalidate\r\n*1\r\n$12\r\nk:0000000000\r\n")
