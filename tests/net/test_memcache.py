# SPDX-License-Identifier: Apache-2.0
"""memcache against memcached, which counts as many as netmodel does."""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from keyed import asking, counts
from nmtest import Json, Netmodel, assert_complete, assert_ends_agree, defines, line_of
from partners import memcached

WriteProfile = Callable[..., Path]


def outcomes_of(document: Json, host: int) -> Json:
    of: Json = document["hosts"][host]["groups"][0]
    return {name: of[name] for name in ("ok", "hits", "misses", "refused")}


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
    assert stats["cmd_get"] == stats["get_hits"] == counts(document)["hits"] > 20
    assert counts(document)["misses"] == counts(document)["refused"] == 0


@pytest.mark.parametrize("app", APPS)
@pytest.mark.parametrize("protocol", ["tcp", "unix", "mptcp"])
def test_hits_misses_and_deletes(app: str, protocol: str, netmodel: Netmodel, profile: WriteProfile, tmp_path: Path) -> None:
    flowops = (
        '<flowop type="delete" options="keys=k"/><flowop type="get" options="keys=k count=2"/>'
        '<flowop type="set" options="keys=k size=10 ttl=3600s flags=7"/>'
    )
    with memcached(path=str(tmp_path / "socket") if protocol == "unix" else "") as server:
        where = f"server={server.server} protocol={protocol}"
        body = asking(app, flowops, where, "nflows='3'", 20, "zipf(1.1)").replace('duration="200ms"', 'iterations="20"')
        document = netmodel.measure(profile(body), "--yes-destroy")
        stats = server.stats()
    assert_complete(document)
    own = counts(document)
    assert own["hits"] == stats["get_hits"] + stats["delete_hits"]
    assert own["misses"] == stats["get_misses"] + stats["delete_misses"] > 0
    assert stats["cmd_get"] == 2 * stats["cmd_set"] > 20


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


@pytest.mark.parametrize("app", APPS)
def test_conditional_verbs(app: str, netmodel: Netmodel, profile: WriteProfile) -> None:
    """Half of the keys are there, with a number for a value: what memcached has counted is what the result says."""
    flowops = "".join(
        f'<flowop type="{verb}" options="keys=k {options}"/>'
        for verb, options in (("replace", "size=5 flags=3"), ("append", "size=5"), ("prepend", "size=5"))
    )
    numbers = '<flowop type="incr" options="keys=n by=1000"/><flowop type="decr" options="keys=n"/><flowop type="touch" options="keys=n ttl=100s"/>'
    body = asking(app, numbers + flowops + '<flowop type="add" options="keys=a size=9"/>', "server={server}", "nflows='3'", 20)
    body = body.replace('duration="200ms"', 'iterations="100"')  # all keys come several times, on any machine
    more = '<keyspace name="n" count="20" length="12" prefix="n:"/><keyspace name="a" count="20" length="12" prefix="a:"/>'
    with memcached() as server:
        for prefix in "kna":
            for key in range(10):
                server.asked(f"set {prefix}:{key:010} 0 0 1\r\n7\r\nget x\r\n".encode())
        before = server.stats()
        document = netmodel.measure(profile(more + body.replace("{server}", server.server)), "--yes-destroy")
        stats = {name: value - before[name] for name, value in server.stats().items()}
        touched = server.asked(b"mg n:0000000000 t\r\nget x\r\n")
        number = server.asked(b"get n:0000000000\r\n")
    assert_complete(document)
    verbs = {verb["verb"]: verb["outcomes"] for verb in document["totals"]["verbs"]}
    for verb in ("incr", "decr", "touch"):
        assert verbs[verb]["hits"] == stats[f"{verb}_hits"] > 0
    for verb in ("incr", "decr"):
        assert verbs[verb]["misses"] == stats[f"{verb}_misses"] > 0
    # The meta command that touches is a get, too.
    assert verbs["touch"]["misses"] == stats["get_misses" if app == "memcache_meta" else "touch_misses"] > 0
    assert verbs["add"]["hits"] == 10 == stats["curr_items"]
    assert verbs["add"]["misses"] > 10
    for verb in ("replace", "append", "prepend"):
        assert verbs[verb]["hits"] > 0 < verbs[verb]["misses"]
    assert stats["cmd_set"] >= sum(verbs[verb]["hits"] for verb in ("add", "replace", "append", "prepend"))
    assert sum(of["refused"] + of["malformed"] + of["ok"] for of in verbs.values()) == 0
    assert 0 < int(touched.split()[1][1:]) <= 100
    assert int(number.split(b"\r\n")[1]) > 1000


@pytest.mark.parametrize("app", APPS)
def test_what_was_read_is_replaced(app: str, netmodel: Netmodel, profile: WriteProfile) -> None:
    """By one flow always, as far as the key is there; several come in each other's way. A third of the keys are not there at all."""
    flowops = '<flowop type="get" options="keys=k unique"/><flowop type="cas" options="keys=k size=9 flags=5"/>'
    for flows in (1, 8):
        with memcached() as server:
            for key in (0, 1):
                server.asked(f"set k:{key:010} 0 0 1\r\n7\r\nget x\r\n".encode())
            body = asking(app, flowops, f"server={server.server}", f"nflows='{flows}'", 3).replace('duration="200ms"', 'iterations="200"')
            document = netmodel.measure(profile(body))
            stats = server.stats()
            flags = server.asked(b"mg k:0000000001 f\r\nget x\r\n").split()[1]
        assert_complete(document)
        verbs = {verb["verb"]: verb["outcomes"] for verb in document["totals"]["verbs"]}
        assert verbs["get"]["hits"] == stats["get_hits"] > 50 * flows
        assert verbs["cas"]["hits"] == stats["cas_hits"] > 0
        assert verbs["cas"]["misses"] == stats["cas_badval"] + stats["cas_misses"] == 200 * flows - stats["cas_hits"]
        assert stats["cas_misses"] == verbs["get"]["misses"] > 20 * flows
        assert (stats["cas_badval"] > 0) == (flows > 1)
        assert flags == b"f5"


@pytest.mark.parametrize("app", APPS)
def test_a_value_that_is_read_lives_on(app: str, netmodel: Netmodel, profile: WriteProfile) -> None:
    with memcached() as server:
        body = asking(app, '<flowop type="gat" options="keys=k ttl=3600s verify"/>', f"server={server.server}", count=1, fill="size=9 ttl=60s")
        document = netmodel.measure(profile(body), "--yes-destroy")
        stats = server.stats()
        ttl = int(server.asked(b"mg k:0000000000 t\r\nget x\r\n").split()[1][1:])
        refused = netmodel.run("-m", profile(body), code=1)
    assert_complete(document)
    assert counts(document)["hits"] == stats["touch_hits"] == stats["cmd_touch"] > 10
    assert 3000 < ttl <= 3600
    assert "--yes-destroy" in refused.err


def test_cas_needs_what_was_read(netmodel: Netmodel, profile: WriteProfile) -> None:
    for before in ("", '<flowop type="get" options="keys=k"/>', '<flowop type="get" options="keys=k unique"/><flowop type="get" options="keys=k"/>'):
        path = profile(asking("memcache", f'{before}\n<flowop type="cas" options="keys=k size=9"/>', "server=127.0.0.1:1"))
        result = netmodel.run("-m", path, code=1)
        assert f"{path}:{line_of(path, 'cas')}: error: <flowop cas>: must stand once behind a get with `unique`" in result.err


def test_only_memcached_numbers_its_values(netmodel: Netmodel, profile: WriteProfile) -> None:
    path = profile(asking("redis", '\n<flowop type="get" options="keys=k unique"/>', "server=127.0.0.1:1"))
    result = netmodel.run("-m", path, code=1)
    assert f"{path}:{line_of(path, 'unique')}: error: <flowop get> unique: app=redis has no numbers of values" in result.err, result.err


def test_redis_has_them_by_command(netmodel: Netmodel, profile: WriteProfile) -> None:
    for where in ("", "server=127.0.0.1:1"):
        path = profile(asking("redis", '\n<flowop type="touch" options="keys=k ttl=1s"/>', where))
        result = netmodel.run("-m", path, code=1)
        assert f"{path}:{line_of(path, 'touch')}: error: <flowop touch>: app=redis of the connection of line" in result.err
        assert "has no touch; it has: ping, get, set, delete, command" in result.err


EACH = "".join(
    f'<flowop type="{verb}" options="keys={keys} {options}"/>'
    for verb, keys, options in (
        ("add", "a", "size=9"), ("replace", "k", "size=5 flags=3"), ("append", "k", "size=2"), ("prepend", "k", "size=2"),
        ("incr", "n", "by=1000"), ("decr", "n", ""), ("incr", "k", ""), ("touch", "k", "ttl=100s"), ("gat", "k", "ttl=100s"),
        ("get", "k", "unique"), ("cas", "k", "size=7"), ("get", "k", ""), ("set", "k", "size=5"), ("delete", "k", ""), ("set", "n", "size=0"),
    )
)  # fmt: skip
MORE = '<keyspace name="n" count="20" length="12" prefix="n:"/><keyspace name="a" count="20" length="12" prefix="a:"/>'


@pytest.mark.parametrize("app", APPS)
@pytest.mark.parametrize("flows", [1, 8])
def test_each_verb_at_both_ends(app: str, flows: int, netmodel: Netmodel, profile: WriteProfile) -> None:
    """The other end has the same hits, misses and refusals; one flow alone finds what memcached has it find."""
    shares = []
    for server in ("", "{server}") if flows == 1 else ("",):
        with memcached() as given:
            body = asking(app, EACH, f"server={server.format(server=given.server)}", f"nflows='{flows}'", 20)
            document = netmodel.measure(profile(MORE + body.replace('duration="200ms"', 'iterations="300"')), "--yes-destroy", "--seed", "7")
        assert_complete(document)
        if not server:
            assert_ends_agree(document)
            assert outcomes_of(document, 0) == outcomes_of(document, 1)
        shares.append({verb["verb"]: verb["outcomes"] for verb in document["totals"]["verbs"]})
    for verb in ("add", "replace", "append", "prepend", "touch", "gat", "get", "cas", "delete"):
        assert shares[0][verb]["hits"] > 0 < shares[0][verb]["misses"], verb
    assert shares[0]["incr"]["refused"] > 0 < shares[0]["incr"]["misses"]
    assert all(share == shares[0] for share in shares)


@pytest.mark.parametrize("app", APPS)
@pytest.mark.parametrize("pipeline", ["", 'pipeline="4"'])
def test_several_keys_at_both_ends(app: str, pipeline: str, netmodel: Netmodel, profile: WriteProfile) -> None:
    """Each key counts at each end, also of lines that are longer than what is kept of one."""
    sets = "" if app == "memcache" else '<flowop type="set" options="keys=k size=300 batch=100"/>'
    mix = f'<mix><flowop type="get" options="keys=k verify batch=128"/><flowop type="get" options="keys=k verify"/>{sets}</mix>'
    for law in ("uniform", "sequential"):
        body = asking(app, mix, "", "nflows='3'", 250, law)
        stored = '<transaction><flowop type="set" options="keys=k size=300 count=30"/></transaction>'
        body = body.replace('<transaction name="ask" duration="200ms">', f'{stored}<transaction name="ask" iterations="40" {pipeline}>')
        body = body.replace('length="12"', 'length="40"')
        document = netmodel.measure(profile(body))
        assert_complete(document)
        assert_ends_agree(document)
        assert outcomes_of(document, 0) == outcomes_of(document, 1)
        assert counts(document)["hits"] > 1000 < counts(document)["misses"] or sets


def test_what_is_no_number_is_refused(netmodel: Netmodel, profile: WriteProfile) -> None:
    for app in APPS:
        with memcached() as server:
            document = netmodel.measure(profile(asking(app, '<flowop type="incr" options="keys=k"/>', f"server={server.server}", fill="size=5")))
        assert_complete(document)
        (verb,) = (verb for verb in document["totals"]["verbs"] if verb["verb"] == "incr")
        assert verb["outcomes"]["refused"] == verb["outcomes"]["requests"] > 10


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
