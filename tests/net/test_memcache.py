# SPDX-License-Identifier: Apache-2.0
"""memcache: between two ends of netmodel, and against memcached, which counts as many as netmodel does."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from nmtest import Json, Netmodel, assert_complete, assert_ends_agree, defines, line_of, master_of, slaves_of
from partners import memcached

WriteProfile = Callable[..., Path]

KEYSPACE = '<keyspace name="k" count="{count}" length="12" prefix="k:" law="{law}"/>'


def asking(flowops: str, connect: str = "", attributes: str = "", count: int = 100, law: str = "uniform", fill: str = "") -> str:
    """Fills a keyspace, if that is asked for, and then asks for a while."""
    first = f'<transaction name="fill" fill="k"><flowop type="set" options="keys=k {fill}"/></transaction>' if fill else ""
    return (
        f"{KEYSPACE.format(count=count, law=law)}<group {attributes}>"
        f'<transaction><flowop type="connect" options="remotehost=local app=memcache {connect}"/></transaction>{first}'
        f'<transaction name="ask" duration="200ms">{flowops}</transaction>'
        '<transaction><flowop type="disconnect"/></transaction></group>'
    )


def counts(document: Json) -> Json:
    of: Json = master_of(document)["groups"][0]
    return of


@pytest.mark.parametrize("params", [{}, {"num_flows": 7, "num_threads": 2, "size": "uniform(1,5000)", "set_weight": 3}])
def test_both_ends(params: dict[str, object], netmodel: Netmodel) -> None:
    document = netmodel.measure("memcache", *defines(test_length="300ms", keys=500, **params))
    assert_complete(document)
    assert_ends_agree(document)
    own, other = counts(document), slaves_of(document)[0]["groups"][0]
    assert own["hits"] > 100 and own["misses"] == own["refused"] == 0
    assert all(own[name] == other[name] for name in ("hits", "misses", "refused"))


@pytest.mark.parametrize("flows", [1, 7, 100])
def test_memcached_counts_the_same(flows: int, netmodel: Netmodel) -> None:
    """Each key is set once, however many flows there are, and each get finds it."""
    with memcached() as server:
        document = netmodel.measure("memcache", *defines(server=server.server, test_length="300ms", keys=95, num_flows=flows, set_weight=0))
        stats = server.stats()
    assert_complete(document)
    assert stats["cmd_set"] == stats["curr_items"] == 95
    assert stats["cmd_get"] == stats["get_hits"] == counts(document)["hits"] > 100
    assert counts(document)["misses"] == counts(document)["refused"] == 0


def test_hits_misses_and_deletes(netmodel: Netmodel, profile: WriteProfile) -> None:
    flowops = (
        '<flowop type="delete" options="keys=k"/><flowop type="get" options="keys=k count=2"/>'
        '<flowop type="set" options="keys=k size=10 ttl=3600s flags=7"/>'
    )
    with memcached() as server:
        document = netmodel.measure(profile(asking(flowops, f"server={server.server}", "nflows='3'", 20, "zipf(1.1)")))
        stats = server.stats()
    assert_complete(document)
    own = counts(document)
    assert own["hits"] == stats["get_hits"] + stats["delete_hits"]
    assert own["misses"] == stats["get_misses"] + stats["delete_misses"] > 0
    assert stats["cmd_get"] == 2 * stats["cmd_set"] > 100


@pytest.fixture(params=["memcached", "netmodel"])
def where(request: pytest.FixtureRequest) -> Iterator[str]:
    """The options of connect for either server."""
    if request.param == "netmodel":
        yield ""
        return
    with memcached() as server:
        yield f"server={server.server}"


@pytest.mark.parametrize("size", ["1", "0", "1048000", "bimodal(1,300000,0.9)"])
def test_values(size: str, where: str, netmodel: Netmodel, profile: WriteProfile) -> None:
    """They come back as they were."""
    flowops = '<flowop type="get" options="keys=k verify"/>'
    document = netmodel.measure(profile(asking(flowops, where, "nflows='3'", 20, fill=f"size={size}")))
    assert_complete(document)
    assert counts(document)["hits"] > 0 and counts(document)["misses"] == 0


def test_a_value_that_is_too_large_is_refused(where: str, netmodel: Netmodel, profile: WriteProfile) -> None:
    path = profile(asking('<flowop type="get" options="keys=k"/>', where, count=10, fill="size=1100000"))
    document = netmodel.measure(path)
    text = netmodel.run("-m", path, code=0).out
    own = counts(document)
    assert own["refused"] == 10 and own["hits"] == 0 and own["misses"] > 10
    assert "hits 0.00 %  misses 100.00 %" in text and "refused       10 requests" in text


def test_sequential_keys_are_those_of_each_flowop(where: str, netmodel: Netmodel, profile: WriteProfile) -> None:
    flowops = '<flowop type="set" options="keys=k size=10"/><flowop type="get" options="keys=k verify"/>'
    document = netmodel.measure(profile(asking(flowops, where, "nflows='3'", 100, "sequential", fill="size=10")))
    assert counts(document)["hits"] > 100 and counts(document)["misses"] == 0


def test_all_connections_have_the_same_server(where: str, netmodel: Netmodel, profile: WriteProfile) -> None:
    """What one connection has stored, others find, also those of another group and of workers that are processes."""
    again = (
        f'<transaction iterations="5"><flowop type="connect" options="remotehost=local app=memcache {where}"/>'
        '<flowop type="get" options="keys=k verify"/><flowop type="disconnect"/></transaction></group>'
    )
    first = asking('<flowop type="get" options="keys=k"/>', where, "nflows='5' nprocs='2'", 11, fill="size=10")
    body = first.replace("</group>", again) + f"<group>{'<transaction/>' * 4}{again}"
    document = netmodel.measure(profile(body))
    assert_complete(document)
    for group in master_of(document)["groups"]:
        assert group["hits"] >= 5 and group["misses"] == 0


def test_each_of_several_servers_is_filled(netmodel: Netmodel) -> None:
    with memcached() as first, memcached() as second:
        servers = f"{first.server},{second.server}"
        params = {"server": servers, "keys": 51, "set_weight": 0, "test_length": "200ms"}
        document = netmodel.measure("memcache", *defines(num_flows=6, **params))
        assert first.stats()["cmd_set"] == second.stats()["cmd_set"] == 51
        assert counts(document)["misses"] == 0
        refused = netmodel.run("-m", "memcache", *defines(num_flows=3, **params), code=1)
    assert "their number must be a multiple of that of the servers" in refused.err


def test_another_value_is_no_answer(netmodel: Netmodel, profile: WriteProfile) -> None:
    with memcached() as server:
        with socket.create_connection(server.address) as conn:
            conn.sendall(b"set k:0000000000 0 0 5\r\nhello\r\n")
            assert conn.recv(100) == b"STORED\r\n"
        where = f"server={server.server}"
        assert_complete(netmodel.measure(profile(asking('<flowop type="get" options="keys=k"/>', where, count=1))))
        path = profile(asking('<flowop type="get" options="keys=k verify"/>', where, count=1))
        document = netmodel.measure(path, code=2)
    assert '"VALUE k:0000000000 0 5" has come, which is no answer of app=memcache' in document["run"]["incomplete_why"]


def test_open_arrivals(netmodel: Netmodel, profile: WriteProfile) -> None:
    body = asking('<flowop type="get" options="keys=k"/>', attributes="nflows='8'").replace(
        'duration="200ms"', 'duration="500ms" arrivals="const(400/s)"'
    )
    document = netmodel.measure(profile(body))
    assert_ends_agree(document)
    assert counts(document)["misses"] == 200


def test_the_line_of_what_is_wrong(netmodel: Netmodel, profile: WriteProfile) -> None:
    path = profile(asking('\n<flowop type="get" options="keys=users"/>'))
    result = netmodel.run("-m", path, code=1)
    assert f'{path}:{line_of(path, "users")}: error: <flowop get> keys="users": the profile has no such keyspace' in result.err
