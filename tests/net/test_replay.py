# SPDX-License-Identifier: Apache-2.0
"""Requests that were recorded, against the servers that people have."""

import socket
import time
from pathlib import Path

import partners
import pytest
from nmtest import Json, Netmodel, defines, phase_of
from scripted import server_of

# Of the public form: a line that nobody can send is among them, and one for which a get is. The outcomes are those of
# this order alone.
LINES = """\
0,apple,5,10,1,set,100
0,pear,4,0,1,get,0
0,apple,5,10,1,get,0
1,pear,4,3000,1,set,0
1,pear,4,3000,2,get,0
1,plum,4,1,2,incr,0
2,apple,5,10,2,delete,0
2,apple,5,10,1,gets,0
2,plum,4,0,1,get,0
"""
FORMAT = ("--format", "json")
WRITES = ("--yes-destroy", *defines(writes="yes"))
OUTCOMES = {"get": (5, 2), "set": (2, 0), "delete": (1, 1)}  # requests, hits


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    path = tmp_path / "trace.csv"
    path.write_text(LINES)
    return path


@pytest.fixture
def thousands(tmp_path: Path) -> Path:
    """Values under 5000 keys, within half a second."""
    path = tmp_path / "thousands.tsv"
    lines = [f"{10 + i / 10000:.4f}\tset\tk:{i}\t{i % 200}" for i in range(5000)]
    path.write_text("\n".join(["time\top\tkey\tsize", *lines, ""]))
    return path


def verbs_of(document: Json) -> dict[str, tuple[int, int]]:
    """Requests and hits of those that there are."""
    found = {verb["verb"]: verb["outcomes"] for verb in document["totals"]["verbs"]}
    return {name: (outcomes["requests"], outcomes["hits"]) for name, outcomes in found.items() if outcomes["requests"]}


def replay_of(document: Json) -> Json:
    return phase_of(document, "replay")["replay"]


@pytest.mark.parametrize("app", ["memcache", "memcache_meta", "memcache_binary"])
def test_memcached(netmodel: Netmodel, recorded: Path, app: str) -> None:
    with partners.memcached() as memcached:
        result = netmodel.run(
            *("-m", "replay", *FORMAT),
            *WRITES, *defines(trace=recorded, server=memcached.server, app=app),
        )
        stats = memcached.stats()
    assert verbs_of(result.json()) == OUTCOMES
    assert (stats["cmd_get"], stats["get_hits"], stats["cmd_set"], stats["delete_hits"]) == (5, 2, 2, 1)
    assert replay_of(result.json()) == {"lines": 9, "left_out": 1, "made": 8, "unmade": 0}
    assert "1 of 9 requests are not sent" in result.err
    assert 'the first is "incr" of line 6' in result.err


def test_redis(netmodel: Netmodel, recorded: Path) -> None:
    with partners.redis() as redis:
        more = (*WRITES, *defines(trace=recorded, server=redis.server, app="redis"))
        document = netmodel.measure("replay", *more)
        calls = redis.calls()
        assert redis.cli("STRLEN", "pear") == "3000"
    assert verbs_of(document) == OUTCOMES
    assert (calls["get"], calls["set"], calls["del"]) == (5, 2, 1)


def test_nothing_is_written_without_a_word(netmodel: Netmodel, recorded: Path) -> None:
    with partners.memcached() as memcached:
        document = netmodel.measure("replay", *defines(trace=recorded, server=memcached.server))
        stats = memcached.stats()
    assert verbs_of(document) == {"get": (5, 0)}
    assert (stats["cmd_get"], stats["cmd_set"], stats["delete_misses"]) == (5, 0, 0)


@pytest.mark.parametrize(("workers", "flows"), [(1, 1), (2, 3), (3, 7), (3, 6)])
@pytest.mark.parametrize("timed", [False, True])
def test_each_request_is_made_once(netmodel: Netmodel, thousands: Path, workers: int, flows: int, timed: bool) -> None:
    """As many keys as requests: what was made twice would be missing elsewhere."""
    arrivals = f"trace({thousands},speed=0.2)" if timed else ""
    how = defines(num_threads=workers, num_flows=flows, arrivals=arrivals, test_length="5s" if timed else "60s")
    with partners.memcached() as memcached:
        result = netmodel.run("-m", "replay", *FORMAT, *WRITES, *defines(trace=thousands, server=memcached.server), *how)
        stats = memcached.stats()
    replay = replay_of(result.json())
    made = replay["made"]
    assert replay == {"lines": 5000, "left_out": 0, "made": made, "unmade": 5000 - made}
    assert verbs_of(result.json()) == {"set": (made, 0)}
    assert (stats["cmd_set"], stats["curr_items"]) == (made, made)
    if timed:  # a slow host may not have made them all, and says so; there is twice the time
        assert made > 2500
        assert (f"with {made} of 5000 requests made" in result.err) == (made < 5000)
    else:
        assert made == 5000


def test_each_is_sent_when_it_is_due(netmodel: Netmodel, tmp_path: Path) -> None:
    """In its order, and none before its time; those that are behind the second of silence, not before it is over."""
    trace, seen = tmp_path / "trace.csv", []
    dues = [i * 0.02 + (i >= 10) for i in range(20)]
    trace.write_text("\n".join(["time,op,key", *(f"{7 + due:.2f},get,k{i}" for i, due in enumerate(dues)), ""]))

    def serve(connection: socket.socket, _number: int) -> None:
        for line in connection.makefile("rb"):
            seen.append((time.monotonic() - begin, line.split()[1].decode()))
            connection.sendall(b"END\r\n")

    with server_of(serve) as server:
        begin = time.monotonic()
        document = netmodel.measure("replay", *defines(trace=trace, server=server, arrivals=f"trace({trace})", test_length="3s"))
    assert [key for _, key in seen] == [f"k{i}" for i in range(20)]
    assert all(at >= due for (at, _), due in zip(seen, dues, strict=True))
    assert replay_of(document) == {"lines": 20, "left_out": 0, "made": 20, "unmade": 0}


def test_other_arrivals_go_round(netmodel: Netmodel, thousands: Path) -> None:
    how = defines(num_threads=2, num_flows=8, arrivals="const(10k/s)", test_length="1s")
    with partners.memcached() as memcached:
        document = netmodel.measure("replay", *WRITES, *defines(trace=thousands, server=memcached.server), *how)
        stats = memcached.stats()
    assert verbs_of(document) == {"set": (stats["cmd_set"], 0)}
    assert stats["cmd_set"] > 5000
    assert stats["curr_items"] == 5000


def test_what_is_cut_is_told(netmodel: Netmodel, recorded: Path) -> None:
    """The last three requests are due behind the end; --strict does not take it."""
    with partners.memcached() as memcached:
        how = (*WRITES, *defines(trace=recorded, server=memcached.server, arrivals=f"trace({recorded},exact)"))
        result = netmodel.run("-m", "replay", *FORMAT, "--strict", *how, *defines(test_length="1500ms"), code=4)
        assert memcached.stats()["cmd_get"] == 3
    assert replay_of(result.json()) == {"lines": 9, "left_out": 1, "made": 5, "unmade": 3}
    assert "is not whole: its time was over with 5 of 8 requests made" in result.err


def test_what_was_not_to_be_made_is_not_missed(netmodel: Netmodel, thousands: Path) -> None:
    with partners.memcached() as memcached:
        how = (*WRITES, *defines(trace=thousands, server=memcached.server, num_transactions=2))
        result = netmodel.run("-m", "replay", *FORMAT, "--strict", *how, code=0)
    assert replay_of(result.json()) == {"lines": 5000, "left_out": 0, "made": 2, "unmade": 0}


def test_what_an_interrupt_cuts_was_not_cut_by_its_time(netmodel: Netmodel, recorded: Path) -> None:
    with partners.memcached() as memcached:
        how = (*WRITES, *defines(trace=recorded, server=memcached.server, arrivals=f"trace({recorded},exact)"))
        result = netmodel.run("-m", "replay", "--max-duration", "500ms", *how, code=2)
    assert "is not whole" not in result.err


def test_a_path_spelled_in_another_way_is_the_same_file(netmodel: Netmodel, recorded: Path) -> None:
    """Otherwise the time of the line that is not sent would be that of the next one, and one would be due too often."""
    other = recorded.parent / ".." / recorded.parent.name / recorded.name
    with partners.memcached() as memcached:
        how = (*WRITES, *defines(trace=recorded, server=memcached.server, arrivals=f"trace({other},speed=10)"))
        document = netmodel.measure("replay", *how, *defines(test_length="500ms"))
    assert replay_of(document) == {"lines": 9, "left_out": 1, "made": 8, "unmade": 0}


def test_a_value_is_that_of_its_key_in_any_file(netmodel: Netmodel, tmp_path: Path) -> None:
    """The second run has the keys that the first one has stored in another order, and checks their values."""
    profile, trace = tmp_path / "beside.xml", tmp_path / "trace.csv"
    with partners.memcached() as memcached:
        profile.write_text(BESIDE.format(trace=trace, server=memcached.server))
        for lines in (["set,apple", "set,pear", "set,a:key:of:17:bytes"], ["get,a:key:of:17:bytes", "get,pear", "get,apple"]):
            trace.write_text("\n".join(["time,op,key", *(f"0,{line}" for line in lines), ""]))
            document = netmodel.measure(profile)
    assert document["groups"][0]["outcomes"]["hits"] == 3


def test_what_is_not_answered_was_made(netmodel: Netmodel, tmp_path: Path) -> None:
    trace = tmp_path / "trace.csv"
    trace.write_text("\n".join(["time,op,key", *(f"0,get,{i}" for i in range(10)), ""]))

    def serve(connection: socket.socket, _number: int) -> None:
        for line in connection.makefile("rb"):
            if line not in (b"get 3\r\n", b"get 6\r\n"):
                connection.sendall(b"END\r\n")

    with server_of(serve) as server:
        how = defines(trace=trace, server=server, timeout="100ms", reconnect="10s")
        document = netmodel.measure("replay", *how)
    assert replay_of(document) == {"lines": 10, "left_out": 0, "made": 10, "unmade": 0}
    assert document["totals"]["outcomes"]["misses"] == 8


def test_values_that_live_for_longer_than_30_days(netmodel: Netmodel, tmp_path: Path) -> None:
    """A memcached would take such a time for one of day, long ago."""
    path = tmp_path / "long.csv"
    path.write_text("0,a,1,5,1,set,2592001\n0,a,1,5,1,get,0\n0,b,1,5,1,set,4294967295\n0,b,1,5,1,get,0\n")
    with partners.memcached() as memcached:
        document = netmodel.measure("replay", *WRITES, *defines(trace=path, server=memcached.server))
    assert verbs_of(document) == {"get": (2, 2), "set": (2, 0)}


def test_without_a_file_it_says_what_to_type(netmodel: Netmodel) -> None:
    result = netmodel.run("-m", "replay", "--check", code=1)
    assert [line.partition("error: ")[2] for line in result.lines()] == [
        '<keyspace> trace="": must be a file of recorded requests; that of a stock profile is given by -D trace=FILE'
    ]


def test_netmodel_serves_it(netmodel: Netmodel, recorded: Path) -> None:
    assert verbs_of(netmodel.measure("replay", *WRITES, *defines(trace=recorded))) == OUTCOMES


@pytest.mark.parametrize(
    ("more", "requests"),
    [
        ({"tls": "yes"}, (8, 8)),
        ({"num_transactions": 5}, (5, 5)),
        ({"num_transactions": 20}, (20, 20)),
        ({"arrivals": "trace({trace},speed=20,loop)", "test_length": "1s"}, (9, 80)),
    ],
)
def test_how_often(netmodel: Netmodel, recorded: Path, more: dict[str, str], requests: tuple[int, int]) -> None:
    """Less than the file, or round after round."""
    how = {name: str(value).format(trace=recorded) for name, value in more.items()}
    document = netmodel.measure("replay", *WRITES, *defines(trace=recorded, **how))
    least, most = requests
    assert least <= sum(count for count, _ in verbs_of(document).values()) <= most


def test_a_file_without_sizes_has_those_of_set(netmodel: Netmodel, tmp_path: Path) -> None:
    trace = tmp_path / "trace.csv"
    trace.write_text("time,op,key\n0,set,apple\n")
    with partners.redis() as redis:
        netmodel.measure("replay", *WRITES, *defines(trace=trace, server=redis.server, app="redis", size=321))
        assert redis.cli("STRLEN", "apple") == "321"


BESIDE = """
<profile name="beside">
  <keyspace name="log" trace="{trace}"/>
  <keyspace name="drawn" count="100" prefix="drawn:"/>
  <group>
    <transaction><flowop type="connect" options="remotehost=x server={server} app=memcache"/></transaction>
    <transaction duration="1s" arrivals="trace({trace},speed=10)">
      <mix replay="log">
        <flowop type="set" options="keys=log"/>
        <flowop type="get" options="keys=log verify"/>
      </mix>
    </transaction>
  </group>
  <group>
    <transaction><flowop type="connect" options="remotehost=x server={server} app=memcache"/></transaction>
    <transaction duration="1s" total="50"><flowop type="get" options="keys=drawn"/></transaction>
  </group>
</profile>
"""


def test_beside_generated_load(netmodel: Netmodel, recorded: Path, tmp_path: Path) -> None:
    """With verify: equal keys have equal values. Without a delete that line is left out, with its time."""
    profile = tmp_path / "beside.xml"
    with partners.memcached() as memcached:
        profile.write_text(BESIDE.format(trace=recorded, server=memcached.server))
        document = netmodel.measure(profile)
    assert [group["outcomes"]["requests"] for group in document["groups"]] == [7, 50]
    assert document["groups"][0]["outcomes"]["hits"] == 3


AGAIN = """
  <group>
    <transaction><flowop type="connect" options="remotehost=x server={server} app=memcache"/></transaction>
    <transaction duration="9s" ARRIVALS>
      <mix replay="log"><flowop type="set" options="keys=log"/><flowop type="get" options="keys=log"/></mix>
    </transaction>
  </group>
"""


def test_several_replay_one_file(netmodel: Netmodel, recorded: Path, tmp_path: Path) -> None:
    """Which is read once, and told of once; its times may be spread, or not, or of no use."""
    profile, exact = tmp_path / "again.xml", 'arrivals="trace({trace},speed=10,exact)"'
    again = [AGAIN.replace("ARRIVALS", arrivals) for arrivals in ("", exact, exact.replace(",exact", ""))]
    with partners.memcached() as memcached:
        profile.write_text(BESIDE.replace("</profile>", "".join([*again, "</profile>"])).format(trace=recorded, server=memcached.server))
        result = netmodel.run("-m", profile, *FORMAT)
    assert [group["outcomes"]["requests"] for group in result.json()["groups"]] == [7, 50, 7, 7, 7]
    assert result.err.count("requests are not sent") == 1


def test_times_that_no_arrivals_use_may_fall(netmodel: Netmodel, tmp_path: Path) -> None:
    path = tmp_path / "falls.csv"
    path.write_text("5,a,1,5,1,get,0\n4,b,1,5,1,get,0\n")
    assert verbs_of(netmodel.measure("replay", *defines(trace=path))) == {"get": (2, 0)}
    result = netmodel.run("-m", "replay", *defines(trace=path, arrivals=f"trace({path})"), "--check", code=1)
    assert f'<mix> replay="log": {path}: line 2: "4": before the time above it' in result.err


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("0,a,1,5,1,get\n", "line 1: has 6 columns of 7; without names of columns in the first line"),
        ("0,a,1,5,1,get,0\n0,b,1,x5,1,set,0\n", 'line 2: column 4 (value length): "x5": must be bytes, from 0 to 1073741824'),
        ("0,a,1,5,1,get,-1\n", 'line 1: column 7 (ttl): "-1": must be seconds, from 0 to 4294967295'),
        ("0,a b,1,5,1,get,0\n", 'line 1: column 2 (key): "a b": must be a key of 1 to 250 bytes'),
        ("0,,1,5,1,get,0\n", 'line 1: column 2 (key): "": must be a key'),
        ("x,a,1,5,1,get,0\n", 'line 1: "x,a,1,5,1,get,0" names no column op'),
        ("time,op,what\n0,get,a\n", 'line 1: "time,op,what" names no column key'),
        ("0,a,1,5,1,incr,0\n", "has no requests that can be sent"),
        ("", "has no requests that can be sent"),
    ],
)
def test_bad_files(netmodel: Netmodel, tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(text)
    result = netmodel.run("-m", "replay", *defines(trace=path), "--check", code=1)
    assert f'<mix> replay="log": {path}: {told}' in result.err


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('replay="log"', 'replay="lag"', 'did you mean "log"?'),
        ('replay="log"', 'replay="drawn"', 'the keyspace has no trace="FILE" of recorded requests'),
        ('replay="log"', "", 'it must be in a <mix replay="..."> of their keyspace'),
        ('"keys=log verify"', '"keys=drawn"', "it must have the keys that are replayed"),
        ('"get" options="keys=log verify"', '"set" options="keys=log"', "each verb may be there once"),
        ('"keys=log verify"', '"keys=log count=2"', "what was recorded is made by one get, set or delete each"),
        ('<mix replay="log">', '<flowop type="get" options="keys=drawn"/><mix replay="log">', "a pass must begin with"),
        ('trace="{trace}"/>', 'trace="{trace}" prefix="p"/>', "its keys are those of the file"),
        ('trace="{trace}"/>', 'trace="{trace}" count="9"/>', "trace, and count, length, prefix or law"),
        ('trace="{trace}"/>', 'trace="{trace}" law="uniform"/>', "trace, and count, length, prefix or law"),
        ('"get" options="keys=log', '"get" weight="0" options="keys=log', 'weight="0": only in a <mix> without replay'),
        ('<keyspace name="log" trace="{trace}"/>', '<keyspace name="log"/>', 'count'),
        ("</profile>", AGAIN.replace("ARRIVALS", "").replace('type="get"', 'type="delete"') + "</profile>", "replays it with other flowops"),
        ('duration="1s" arrivals="trace({trace},speed=10)"', "", "what replays requests needs a duration"),
        ('trace({trace},speed=10)"', 'trace({trace},speed=10)" pipeline="4"', "not with a <sequence> or a <mix replay=...>"),
        ('duration="1s" total="50"', 'fill="log"', "its keys are those of recorded requests, which a mix replays"),
    ],
)
def test_bad_profiles(netmodel: Netmodel, recorded: Path, tmp_path: Path, old: str, new: str, told: str) -> None:
    profile = tmp_path / "bad.xml"
    assert old in BESIDE
    profile.write_text(BESIDE.replace(old, new).format(trace=recorded, server="127.0.0.1:1"))
    assert told in netmodel.run("-m", profile, "--check", code=1).err
