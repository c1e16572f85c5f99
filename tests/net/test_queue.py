# SPDX-License-Identifier: Apache-2.0
"""Several requests of applications outstanding on a connection, whose answers come in order: at servers that count them, and at some that answer badly."""

from __future__ import annotations

import signal
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from keyed import asking, counts
from nmtest import Netmodel, assert_complete, assert_ends_agree, defines, phase_of, wait_until
from partners import memcached, nginx, redis
from test_apps import serving
from test_life import living, opened
from test_outcomes import CLASSES, Failing, assert_adds_up, begun, failing, pinging

WriteProfile = Callable[..., Path]


def pipelined(depth: int, *args: object, **more: object) -> str:
    """As asking, with so many requests outstanding, also while the keyspace is filled."""
    body = asking(*args, **more)  # type: ignore[arg-type]
    return body.replace('fill="k">', f'fill="k" pipeline="{depth}">').replace('duration="200ms"', f'duration="200ms" pipeline="{depth}"')


@pytest.mark.parametrize(("depth", "flows"), [(2, 1), (16, 1), (16, 7), (100, 3)])
def test_redis_counts_the_same(depth: int, flows: int, netmodel: Netmodel, profile: WriteProfile) -> None:
    with redis() as server:
        body = pipelined(depth, "redis", '<flowop type="get" options="keys=k verify"/>', f"server={server.server}", f"nflows='{flows}'", 95, fill="size=10")
        document = netmodel.measure(profile(body), "-f")
        calls = server.calls()
    assert_complete(document)
    assert_adds_up(document)
    ask = phase_of(document, "ask")
    assert ask["outcomes"]["hits"] == ask["outcomes"]["requests"] == ask["transactions"] == calls["get"] > 100
    assert phase_of(document, "fill")["transactions"] == calls["set"] == 95
    assert ask["latency_s"]["count"] == ask["verbs"][0]["latency_s"]["count"] == calls["get"]
    assert counts(document)["misses"] == 0


MIX = '<mix><flowop type="get" options="keys=k verify" weight="5"/><flowop type="set" options="keys=k size=uniform(1,3000)"/><flowop type="delete" options="keys=k"/></mix>'


@pytest.mark.parametrize("app", ["memcache", "memcache_meta", "memcache_binary"])
def test_memcached_counts_the_same(app: str, netmodel: Netmodel, profile: WriteProfile) -> None:
    """Also by flowop, with their bytes, although requests and answers of several go together."""
    with memcached() as server:
        body = pipelined(16, app, MIX, f"server={server.server}", "nflows='3'", 95, fill="size=10")
        document = netmodel.measure(profile(body.replace('duration="200ms"', 'iterations="2000"')), "-f", "--yes-destroy")
        stats = server.stats()
    assert_complete(document)
    assert_adds_up(document)
    ask = phase_of(document, "ask")
    get, put, delete = (one["outcomes"] for one in ask["flowops"])
    assert (get["requests"], get["hits"], get["misses"]) == (stats["cmd_get"], stats["get_hits"], stats["get_misses"])
    assert (delete["hits"], delete["misses"]) == (stats["delete_hits"], stats["delete_misses"])
    assert put["ok"] + 95 == stats["cmd_set"]
    assert get["requests"] + put["requests"] + delete["requests"] == ask["transactions"] == 6000
    assert {verb["verb"]: verb["latency_s"]["count"] for verb in ask["verbs"]} == {"get": get["requests"], "set": put["requests"], "delete": delete["requests"]}
    for way in ("bytes_sent", "bytes_received"):
        assert sum(one[way] for one in ask["flowops"]) == ask[way]
    assert ask["flowops"][1]["bytes_sent"] > 1000 * put["ok"] > ask["flowops"][2]["bytes_sent"]


def test_redis_mixes(netmodel: Netmodel, profile: WriteProfile) -> None:
    command = '<mix><flowop type="command" options="keys=k size=64" text="HSET h __key__ __data__"/><flowop type="get" options="keys=k"/><flowop type="ping"/></mix>'
    with redis() as server:
        document = netmodel.measure(profile(pipelined(16, "redis", command, f"server={server.server} resp=3", "nflows='2' nthreads='2'")), "-f")
        calls = server.calls()
    assert_complete(document)
    assert_adds_up(document)
    found = {verb["verb"]: verb["outcomes"]["requests"] for verb in phase_of(document, "ask")["verbs"]}
    assert found == {"HSET": calls["hset"], "get": calls["get"], "ping": calls["ping"]}


@pytest.mark.parametrize("app", ["memcache", "memcache_meta", "memcache_binary", "redis"])
@pytest.mark.parametrize("size", [10, 30000])
def test_both_ends(app: str, size: int, netmodel: Netmodel, profile: WriteProfile) -> None:
    """Values of which several do not fit into what one call moves, too."""
    body = pipelined(16, app, MIX.replace("3000", str(size)), "", "nflows='3'", 95, fill=f"size={size}")
    document = netmodel.measure(profile(body), "-f")
    assert_complete(document)
    assert_ends_agree(document)
    assert_adds_up(document)


def test_nginx_ends_connections(netmodel: Netmodel, profile: WriteProfile, tmp_path: Path) -> None:
    """What stood behind its last answer is asked once more, over another connection."""
    with nginx(tmp_path, "keepalive_requests 7;") as server:
        (server.root / "here").write_text("some text")
        body = living(f"app=http server={server.server}", '<flowop type="http" options="path=/here"/>', 'iterations="100" pipeline="4"')
        document = netmodel.measure(profile(body))
        log = [line for line in server.log() if line[0].startswith("GET /here")]
    assert_complete(document)
    of = counts(document)
    assert of["requests"] == of["ok"] == len(log) == 300
    assert set(Counter(line[3] for line in log).values()) == {7, 100 % 7}
    assert of["reissued"] > 0
    assert of["connects"] == 3 * 15


@pytest.mark.parametrize("protocol", ["tcp", "unix", "ssl"])
@pytest.mark.parametrize("app", ["http", "redis", "ping"])
def test_lives(app: str, protocol: str, netmodel: Netmodel, profile: WriteProfile) -> None:
    """No connection has more requests than it should, and none is lost at its end."""
    ask = '<flowop type="http"/>' if app == "http" else '<flowop type="ping"/>'
    document = netmodel.measure(profile(living(f"app={app} requests=7 protocol={protocol}", ask, 'iterations="100" pipeline="16"')))
    assert_complete(document)
    assert_ends_agree(document)
    assert opened(document) == (3 * 15, 3 * 14)
    of = counts(document)
    assert of["requests"] == of["ok"] + of["refused"] == 300
    assert of["reissued"] == of["lost"] == 0


@pytest.mark.parametrize("how", ['duration="500ms"', 'duration="500ms" arrivals="poisson(5k/s)"', 'iterations="50" rate="100"'])
def test_lives_end_at_any_time(how: str, netmodel: Netmodel, profile: WriteProfile) -> None:
    """Also while a flow looks whether it may send."""
    with serving(lambda _number, _line: [b"PONG\r\n"]) as server:
        document = netmodel.measure(profile(pinging(server.place, "lifetime=uniform(100us,3ms)", "", "nflows='4'", f'{how} pipeline="4"')), "-f")
    assert_complete(document)
    of = assert_adds_up(document)
    assert of["ok"] == of["requests"] > 10
    assert of["connects"] > 8


@pytest.mark.parametrize("depth", [2, 5, 100])
def test_so_many_are_outstanding(depth: int, netmodel: Netmodel, profile: WriteProfile) -> None:
    """The server answers when it has so many, all of them at once."""
    with serving(lambda number, _line: [b"PONG\r\n" * depth] if number % depth == depth - 1 else []) as server:
        document = netmodel.measure(profile(pinging(server.place, how=f'iterations="{4 * depth}" pipeline="{depth}"')), "-f")
    assert_complete(document)
    assert assert_adds_up(document)["ok"] == 4 * depth


MISS = {b"get ": b"END\r\n", b"set ": b"STORED\r\n"}
TOGETHER = {
    "redis": {b"GET": b"$-1\r\n", b"SET": b"+OK\r\n"}, "memcache": MISS, "memcache_etc": MISS,
    "http": {b"GET ": b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"},
}  # fmt: skip


def together(name: str, depth: int) -> Callable[[int, bytes], list[bytes]]:
    """What answers each so many requests of the profile on one connection at once, and not before."""
    due: list[bytes] = []

    def answer(_number: int, line: bytes) -> list[bytes]:
        due.extend(text for word, text in TOGETHER[name].items() if line.startswith(word))
        if len(due) < depth:
            return []
        whole = b"".join(due)
        due.clear()
        return [whole]

    return answer


@pytest.mark.parametrize("name", TOGETHER)
@pytest.mark.parametrize("depth", [2, 16])
def test_profiles_have_so_many_outstanding(name: str, depth: int, netmodel: Netmodel) -> None:
    keys = {"keys": 2 * depth, "size": 1} if name != "http" else {}
    with serving(together(name, depth)) as server:
        words = defines(server=server.place, pipeline=depth, num_flows=1, num_transactions=4 * depth, test_length="300s", **keys)
        document = netmodel.measure(name, *words)
    assert_complete(document)
    assert counts(document)["requests"] == 4 * depth + keys.get("keys", 0)


@pytest.mark.parametrize(
    ("bad", "which", "of_each"),
    [
        (None, "reissued", 4),
        ([b"PO"], "timed_out", 4),
        ([b"PING\r\n"], "malformed", 1),
    ],
)
def test_bad_answers_end_the_connection(bad: list[bytes] | None, which: str, of_each: int, netmodel: Netmodel, profile: WriteProfile) -> None:
    """Each eighth of a connection. Those behind it are lost, but where it was the end of the connection, before which nothing had come."""
    with serving(lambda number, _line: bad if number == 7 else [b"PONG\r\n"] * (number < 7)) as server:
        limit = "100ms" if which == "timed_out" else "20s"
        body = pinging(server.place, "reconnect=5s", f"timeout={limit}", "nflows='3'", 'iterations="50" pipeline="4"')
        document = netmodel.measure(profile(body), "-f")
    assert_complete(document)
    of = assert_adds_up(document)
    assert of["requests"] == 150
    assert of["connects"] > 3
    bads = of["connects"] - 3
    assert bads <= of[which] <= of_each * bads
    assert of["ok"] + of["lost"] + of["timed_out"] + of["malformed"] == 150
    assert of["lost"] <= 3 * bads * (which != "reissued")
    phase = phase_of(document, "ask")
    assert phase["latency_s"]["count"] == phase["transactions"] == of["ok"]


def test_where_a_queue_waits(netmodel: Netmodel, profile: WriteProfile) -> None:
    """It is told in the words of the profile."""
    with serving(lambda _number, _line: []) as server:
        told = netmodel.run("-m", profile(pinging(server.place, how='iterations="8" pipeline="4"')), "--timeout", "500ms", code=2).err
    assert "1 flow of group Group0 waiting for input in ping at " in told


def test_what_nobody_has_asked_for(netmodel: Netmodel, profile: WriteProfile) -> None:
    """The last answer is longer than it should be, as where one is outstanding."""
    with serving(lambda number, _line: [b"PONG\r\n" * (1 + (number == 7))]) as server:
        document = netmodel.measure(profile(pinging(server.place, "reconnect=5s", how='iterations="8" pipeline="4"')))
    of = counts(document)
    assert (of["ok"], of["malformed"]) == (7, 1)
    assert document["hosts"][0]["counts"]["unsolicited"] == 1


def test_a_server_that_stops(netmodel: Netmodel, profile: WriteProfile) -> None:
    """The oldest of each connection is late, again and again; of those behind it, some may be by then."""
    with serving(lambda number, _line: [b"PONG\r\n"] if number < 40 else []) as server:
        body = pinging(server.place, "", "timeout=50ms", "nflows='2'", 'duration="700ms" pipeline="8"')
        document = netmodel.measure(profile(body), "-f")
    assert_complete(document)
    of = assert_adds_up(document)
    assert of["ok"] >= 80
    assert of["timed_out"] >= 2 and of["lost"] <= 7 * of["timed_out"]
    assert of["timed_out"] + of["lost"] >= 16
    assert document["run"]["elapsed_s"] < 3


def test_limits_that_differ(netmodel: Netmodel, profile: WriteProfile) -> None:
    """The shorter one counts also where it is not that of the oldest, none of which is answered in time; behind one without a limit they cost no connection."""
    mix = '<mix><flowop type="ping"/><flowop type="ping" options="timeout=30ms"/></mix>'

    def answer(number: int, _line: bytes) -> list[bytes]:
        return [b"PONG\r\n"] if number < 8 else [b"", b"PONG\r\n"]

    with serving(answer, pause=0.2) as server:
        body = pinging(server.place, "reconnect=5s", how='duration="900ms" pipeline="8"').replace('<flowop type="ping" options=""/>', mix)
        document = netmodel.measure(profile(body), "-f")
    assert_complete(document)
    of = assert_adds_up(document)
    first, second = (one["outcomes"] for one in phase_of(document, "ask")["flowops"])
    assert first["timed_out"] == 0 < second["timed_out"]
    assert of["ok"] > 8
    assert of["timed_out"] >= of["connects"] - 1


@pytest.mark.parametrize("arrivals", ["", 'arrivals="burst(40/s,1ms,100ms)"'])
def test_answers_when_the_phase_is_over(arrivals: str, netmodel: Netmodel, profile: WriteProfile) -> None:
    """Two are answered and one is not, and the last is given up with the connection: all are counted as what they are."""
    with serving(lambda number, _line: [b"", b"PONG\r\nPONG\r\nXXXX\r\nPONG\r\n"] if number % 4 == 3 else [], pause=0.06) as server:
        document = netmodel.measure(profile(pinging(server.place, "reconnect=5s", "", "", f'duration="30ms" pipeline="4" {arrivals}')), "-f")
    of = assert_adds_up(document)
    assert (of["requests"], of["ok"], of["malformed"], of["lost"]) == (4, 2, 1, 1)
    ask = phase_of(document, "ask")
    assert ask["transactions"] == ask["latency_s"]["count"] == ask["verbs"][0]["latency_s"]["count"] == 2


@pytest.mark.parametrize("lives", ["", "requests=3", "requests=20"])
@pytest.mark.parametrize("arrivals", ["", 'arrivals="poisson(3k/s)"'])
def test_all_adds_up(lives: str, arrivals: str, netmodel: Netmodel, profile: WriteProfile) -> None:
    """At a server that does all that it should not."""
    kinds: list[list[bytes] | None] = [[b"PONG\r\nGARB\r\n"], [], None, [b"PONG\r\n", b"", b"PONG\r\n"], [b"PO", b"", b"NG\r\n"], [b"PONG\r\n" * 2]]

    def answer(number: int, _line: bytes) -> list[bytes] | None:
        return kinds[number // 17 % len(kinds)] if number % 17 == 16 else [b"PONG\r\n"]

    with serving(answer, pause=0.002) as server:
        body = pinging(server.place, f"reconnect=5s {lives}", "timeout=30ms", "nflows='6' nthreads='2'", f'duration="400ms" pipeline="16" {arrivals}')
        document = netmodel.measure(profile(body), "-f")
    of = assert_adds_up(document)
    ask = phase_of(document, "ask")
    assert ask["transactions"] == ask["latency_s"]["count"] == ask["verbs"][0]["latency_s"]["count"] == of["ok"] > 0
    if arrivals:
        assert ask["load"]["due"] - ask["load"]["unsent"] == of["requests"]


@pytest.mark.parametrize(
    ("how", "ask", "why"),
    [
        ('duration="1s" pipeline="4"', '<flowop type="ping"/><flowop type="ping"/>', "one request in each pass"),
        ('duration="1s" pipeline="4"', '<flowop type="ping" options="count=2"/>', "one request in each pass"),
        ('duration="1s" pipeline="4"', '<flowop type="ping"/><flowop type="think" options="duration=1ms"/>', "one request in each pass"),
        ('duration="1s" pipeline="4"', '<mix><flowop type="ping" options="count=2"/><flowop type="ping"/></mix>', "one in each member"),
        ('duration="1s" pipeline="4"', '<sequence count="2"><flowop type="ping"/></sequence>', "not with a <sequence>"),
    ],
)
def test_mistakes(how: str, ask: str, why: str, netmodel: Netmodel, profile: WriteProfile) -> None:
    assert why in netmodel.run("-m", profile(living("app=ping", ask, how)), "--check", code=1).err


@pytest.mark.parametrize("ask", ['<flowop type="http" options="keep=no"/>', '<mix><flowop type="http"/><flowop type="http" options="keep=no"/></mix>'])
@pytest.mark.parametrize("more", ["", 'arrivals="poisson(1k/s)"'])
def test_the_server_takes_requests_behind_each(ask: str, more: str, netmodel: Netmodel, profile: WriteProfile) -> None:
    body = living("app=http server=127.0.0.1:1", ask, f'duration="1s" pipeline="4" {more}')
    assert 'keep=no in a transaction with pipeline="4": the server takes no request behind this one' in netmodel.run("-m", profile(body), "--check", code=1).err


VALUE = b"\r\n$-1\r\n+OK\r\n*1\r\n"
ANSWERS = [
    (b"$%d\r\n%s\r\n" % (len(VALUE), VALUE), "hits"),
    (b"$-1\r\n", "misses"),
    (b">2\r\n+invalidate\r\n*1\r\n+KEY\r\n$0\r\n\r\n", "hits"),
    (b"-ERR wrong kind of value\r\n", "refused"),
    (b">1\r\n$-1\r\n>1\r\n_\r\n_\r\n", "misses"),
]
LINES = 5  # of a GET of Redis


@pytest.mark.parametrize("piece", [1, 7, 100, 1 << 20])
@pytest.mark.parametrize("together", [1, 5, 15])
def test_answers_in_any_pieces(piece: int, together: int, netmodel: Netmodel, profile: WriteProfile) -> None:
    """So many together, cut anywhere, with what belongs to no request between them, also behind the last."""

    def answer(number: int, _line: bytes) -> list[bytes]:
        last, line = divmod(number, LINES)
        if line < LINES - 1 or (last + 1) % together:
            return []
        whole = b"".join(ANSWERS[i % len(ANSWERS)][0] for i in range(last + 1 - together, last + 1)) + b">1\r\n+behind\r\n"
        return [part for at in range(0, len(whole), piece) for part in (whole[at : at + piece], b"")]

    with serving(answer, pause=0.0001) as server:
        body = asking("redis", '<flowop type="get" options="keys=k"/>', f"server={server.place}").replace('duration="200ms"', 'iterations="30" pipeline="15"')
        document = netmodel.measure(profile(body))
    assert_complete(document)
    of = counts(document)
    assert of["requests"] == 30
    assert {name: of[name] for name in ("hits", "misses", "refused")} == {"hits": 12, "misses": 12, "refused": 6}
    assert document["hosts"][0]["counts"]["unsolicited"] == 0


# --- open arrivals ---


@pytest.mark.parametrize(
    ("flows", "depth", "how"), [(1, 64, "const(5k/s)"), (3, 64, "poisson(5k/s)"), (1, 64, "burst(5k/s,1ms,100ms)"), (1, 4096, "const(5k/s)"), (2, 2048, "const(5k/s)")]
)
def test_arrivals_take_what_room_there_is(flows: int, depth: int, how: str, netmodel: Netmodel, profile: WriteProfile) -> None:
    with redis() as server:
        body = asking("redis", MIX, f"server={server.server}", f"nflows='{flows}'", 95).replace('duration="200ms"', f'duration="500ms" pipeline="{depth}" arrivals="{how}"')
        document = netmodel.measure(profile(body), "-f", "--yes-destroy")
        calls = server.calls()
    assert_complete(document)
    assert_adds_up(document)
    ask = phase_of(document, "ask")
    load = ask["load"]
    assert load["due"] == ask["transactions"] == calls["get"] + calls["set"] + calls["del"] > 2000
    assert load["unsent"] == load["failed"] == 0
    if load["due"] < flows * depth:
        assert load["busy_s"] == 0
    assert ask["response_s"]["count"] == ask["send_delay_s"]["count"] == load["due"]


@pytest.mark.parametrize("flows", [1, 3])
def test_arrivals_need_no_answer(flows: int, netmodel: Netmodel, profile: WriteProfile) -> None:
    """Of a server that answers when it has so many, which it would never have if each waited for the one before it."""
    with serving(lambda number, _line: [b"PONG\r\n" * 10] if number % 10 == 9 else []) as server:
        how = f'duration="300ms" pipeline="16" arrivals="const({flows * 100}/s)"'
        document = netmodel.measure(profile(pinging(server.place, "", "timeout=1s", f"nflows='{flows}'", how)), "-f")
    of = assert_adds_up(document)
    assert of["requests"] == 30 * flows
    assert of["ok"] > 0


def test_arrivals_at_a_server_that_ends_connections(netmodel: Netmodel, profile: WriteProfile) -> None:
    with serving(lambda number, _line: None if number == 20 else [b"PONG\r\n"]) as server:
        how = 'duration="500ms" pipeline="8" arrivals="poisson(1k/s)"'
        document = netmodel.measure(profile(pinging(server.place, "", "", "nflows='2'", how)), "-f")
    assert_complete(document)
    of = assert_adds_up(document)
    load = phase_of(document, "ask")["load"]
    assert of["ok"] == of["requests"] == load["due"] > 300
    assert load["unsent"] == 0
    assert of["reissued"] > 0


def test_the_same_seed_has_the_same_arrivals(netmodel: Netmodel, profile: WriteProfile) -> None:
    """Whatever connection takes them, and however many each of them may."""
    sums = set()
    for flows, depth in ((8, 1), (2, 16), (1, 64)):
        body = asking("memcache", MIX, "", f"nflows='{flows}'").replace('duration="200ms"', f'duration="300ms" pipeline="{depth}" arrivals="poisson(2k/s)"')
        document = netmodel.measure(profile(body), "--seed", "5")
        assert_complete(document)
        sums.add(document["hosts"][0]["counts"]["load_sum"])
    assert len(sums) == 1


# --- a memcached that fails ---

def answer_some(server: Failing) -> None:
    wait_until(lambda: server.running.stats()["get_hits"] > 100, what="it has answered some")


HOW = ['duration="1500ms" pipeline="8"', 'duration="1500ms" pipeline="8" arrivals="const(1k/s)"']


@pytest.mark.parametrize("how", HOW)
def test_killed_and_started_again(how: str, netmodel: Netmodel, profile: WriteProfile) -> None:
    with failing() as server:
        with netmodel.started(*begun(netmodel, profile, server, "reconnect=10s", "", how)) as run:
            answer_some(server)
            server.end()
            time.sleep(0.3)
            server.start()
            result = run.finish()
    assert result.code == 0, result.err
    document = result.json()
    of = assert_adds_up(document)
    assert document["run"]["complete"] and of["hits"] > 100
    assert 3 < of["connects"] <= 9
    assert of["lost"] <= 2 * 3 * 8
    assert of["timed_out"] == of["malformed"] == 0


@pytest.mark.parametrize("how", HOW)
def test_stopped_for_ever(how: str, netmodel: Netmodel, profile: WriteProfile) -> None:
    """Each 100 ms all of each connection are late, or lost."""
    with failing() as server:
        with netmodel.started(*begun(netmodel, profile, server, "", "timeout=100ms", how)) as run:
            answer_some(server)
            server.send(signal.SIGSTOP)
            result = run.finish()
    assert result.code == 0, result.err
    document = result.json()
    of = assert_adds_up(document)
    assert of["timed_out"] > 10
    assert of["timed_out"] + of["lost"] <= 8 * of["timed_out"]
    assert of["malformed"] == 0
    assert document["run"]["elapsed_s"] < 10


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize(("limit", "code"), [("500ms", 2), ("30s", 0)])
def test_gone(limit: str, code: int, how: str, netmodel: Netmodel, profile: WriteProfile) -> None:
    with failing() as server:
        with netmodel.started(*begun(netmodel, profile, server, f"reconnect={limit}", "", how)) as run:
            answer_some(server)
            server.end()
            result = run.finish()
        server.start()
    assert result.code == code, result.err
    document = result.json()
    of = document["hosts"][0]["groups"][0]
    assert of["requests"] == sum(of[name] for name in CLASSES)
    if code:
        assert "within reconnect=500 ms, at last: Connection refused" in document["run"]["incomplete_why"]
    else:
        assert_adds_up(document)
        assert of["lost"] <= 2 * 3 * 8
