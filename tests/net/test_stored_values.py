# SPDX-License-Identifier: Apache-2.0
"""What holds of memcache and of redis: between two ends of netmodel, and against memcached and Redis."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from keyed import asking, counts
from nmtest import Netmodel, assert_complete, assert_ends_agree, defines, line_of, master_of, slaves_of
from partners import memcached, redis

WriteProfile = Callable[..., Path]


class Where(NamedTuple):
    app: str
    options: str  # of connect


MEMCACHE = ["memcache", "memcache_meta", "memcache_binary"]


@pytest.fixture(params=[*(f"{app}-{server}" for app in MEMCACHE for server in ("own", "memcached")), "redis-own", "redis-redis"])
def where(request: pytest.FixtureRequest) -> Iterator[Where]:
    app, _, server = request.param.partition("-")
    if server == "own":
        yield Where(app, "")
        return
    # An item of memcached has its key and a head, too: of 1 MiB its limit would refuse the largest values.
    with redis() if app == "redis" else memcached("-I", "2m") as running:
        yield Where(app, f"server={running.server}")


@pytest.mark.parametrize("app", [*MEMCACHE, "redis"])
@pytest.mark.parametrize("params", [{}, {"num_flows": 7, "num_threads": 2, "size": "uniform(1,5000)", "set_weight": 3}])
def test_both_ends(app: str, params: dict[str, object], netmodel: Netmodel) -> None:
    name, wire = ("redis", {}) if app == "redis" else ("memcache", {"app": app})
    document = netmodel.measure(name, *defines(test_length="300ms", keys=500, **wire, **params))
    assert_complete(document)
    assert_ends_agree(document)
    own, other = counts(document), slaves_of(document)[0]["groups"][0]
    assert own["hits"] > 100 and own["misses"] == own["refused"] == 0
    assert all(own[name] == other[name] for name in ("hits", "misses", "refused"))


@pytest.mark.parametrize("size", ["1", "0", "1048575", "1048576", "bimodal(1,300000,0.9)"])
def test_values(size: str, where: Where, netmodel: Netmodel, profile: WriteProfile) -> None:
    """They come back as they were."""
    flowops = '<flowop type="get" options="keys=k verify"/>'
    document = netmodel.measure(profile(asking(where.app, flowops, where.options, "nflows='3'", 20, fill=f"size={size}")))
    assert_complete(document)
    assert counts(document)["hits"] > 0 and counts(document)["misses"] == counts(document)["refused"] == 0


def not_whole(path: Path, stored: int, keys: int) -> str:
    return (
        f"group Group0: the fill at line {line_of(path, 'fill=')} is not whole: {stored} of {keys} values were stored, "
        f"{keys - stored} were refused, 0 had no answer, and 0 had something else for an answer"
    )


@pytest.mark.parametrize("app", ["redis", "memcache"])
def test_a_server_without_room_for_all_keys(app: str, netmodel: Netmodel, profile: WriteProfile) -> None:
    get = '<flowop type="get" options="keys=k"/>'
    full = redis("", "--maxmemory", "4mb", "--maxmemory-policy", "noeviction") if app == "redis" else memcached("-M", "-m", "4")
    with full as server:
        path = profile(asking(app, get, f"server={server.server}", "nflows='2'", 100, "sequential", fill="size=200k"))
        document = netmodel.measure(path)
    own = counts(document)
    stored = 100 - own["refused"]
    assert 0 < stored < 100
    assert [one for one in document["run"]["warnings"] if "fill" in one] == [not_whole(path, stored, 100)]


def test_a_value_that_is_too_large_is_refused(where: Where, netmodel: Netmodel, profile: WriteProfile) -> None:
    if where.options and where.app == "redis":
        pytest.skip("Redis takes values of up to 512 MiB")
    path = profile(asking(where.app, '<flowop type="get" options="keys=k"/>', where.options, count=10, fill="size=2200000"))
    document = netmodel.measure(path)
    if not where.options:
        assert_ends_agree(document)
    text = netmodel.run("-m", path, code=0).out
    own = counts(document)
    assert own["refused"] == 10 and own["hits"] == 0 and own["misses"] > 10
    assert [one for one in document["run"]["warnings"] if "fill" in one] == [not_whole(path, 0, 10)]
    assert "hits 0.00 %  misses 100.00 %" in text and "refused       10 requests" in text


def test_sequential_keys_are_those_of_each_flowop(where: Where, netmodel: Netmodel, profile: WriteProfile) -> None:
    flowops = '<flowop type="set" options="keys=k size=10"/><flowop type="get" options="keys=k verify"/>'
    document = netmodel.measure(profile(asking(where.app, flowops, where.options, "nflows='3'", 100, "sequential", fill="size=10")))
    assert counts(document)["hits"] > 100 and counts(document)["misses"] == 0


def test_all_connections_have_the_same_server(where: Where, netmodel: Netmodel, profile: WriteProfile) -> None:
    """What one connection has stored, others find, also those of another group and of workers that are processes."""
    again = (
        f'<transaction iterations="5"><flowop type="connect" options="remotehost=local app={where.app} {where.options}"/>'
        '<flowop type="get" options="keys=k verify"/><flowop type="disconnect"/></transaction></group>'
    )
    first = asking(where.app, '<flowop type="get" options="keys=k"/>', where.options, "nflows='5' nprocs='2'", 11, fill="size=10")
    body = first.replace("</group>", again) + f"<group>{'<transaction/>' * 4}{again}"
    document = netmodel.measure(profile(body))
    assert_complete(document)
    for group in master_of(document)["groups"]:
        assert group["hits"] >= 5 and group["misses"] == 0
