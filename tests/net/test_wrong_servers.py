# SPDX-License-Identifier: Apache-2.0
"""A server of another protocol than a profile asks it in: what it has answered stands in the failure, at once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from keyed import asking
from nmtest import Netmodel
from partners import memcached, nginx, redis

WriteProfile = Callable[..., Path]

GET = '<flowop type="get" options="keys=k"/>'
HTTP = '<flowop type="http" options="path=/"/>'
PING = '<flowop type="ping"/>'
ECHO = '<flowop type="echo" options="size=20"/>'
QUERY = '<flowop type="query" options="name=www.example.com"/>'


def assert_told(netmodel: Netmodel, path: Path, why: str) -> None:
    """Within a second, unless the machine is busy each time."""
    for _ in range(3):
        run = netmodel.measure(path, code=2)["run"]
        assert why in run["incomplete_why"]
        if run["elapsed_s"] < 1:
            return
    pytest.fail(f"not within a second: {run}")


@pytest.mark.parametrize(
    ("app", "ask"),
    [("redis", GET), ("memcache", GET), ("memcache_meta", GET), ("memcache_binary", GET), ("ping", PING), ("echo", ECHO), ("dns", QUERY)],
)
def test_a_web_server(app: str, ask: str, netmodel: Netmodel, profile: WriteProfile, tmp_path: Path) -> None:
    with nginx(tmp_path) as server:
        path = profile(asking(app, ask, f"server={server.server} protocol=tcp"))
        assert_told(netmodel, path, f'"HTTP/1.1 400 Bad Request" has come, which is no answer of app={app} (1 flow, server {server.server})')


@pytest.mark.parametrize(
    ("app", "ask", "why"),
    [
        ("redis", GET, '"ERROR" has come, which is no answer of app=redis'),
        ("ping", PING, '"ERROR" has come, which is no answer of app=ping'),
        ("echo", ECHO, '"ERROR" has come, which is no answer of app=echo'),
        ("http", HTTP, "Connection reset by peer"),  # it closes without an answer
    ],
)
def test_a_memcached(app: str, ask: str, why: str, netmodel: Netmodel, profile: WriteProfile) -> None:
    with memcached() as server:
        assert_told(netmodel, profile(asking(app, ask, f"server={server.server}")), why)


@pytest.mark.parametrize(
    ("app", "ask", "why"),
    [
        ("memcache", GET, '"$-1" has come, which is no answer of app=memcache'),
        ("memcache_meta", GET, '"-ERR unknown command '),
        ("echo", ECHO, '"-ERR unknown command '),
        ("http", HTTP, "Connection reset by peer"),
    ],
)
def test_a_redis(app: str, ask: str, why: str, netmodel: Netmodel, profile: WriteProfile) -> None:
    with redis() as server:
        assert_told(netmodel, profile(asking(app, ask, f"server={server.server}")), why)
