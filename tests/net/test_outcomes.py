# SPDX-License-Identifier: Apache-2.0
"""How requests to servers that are not netmodel end, each in one way, and what becomes of flows whose server fails."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import chain, count, repeat
from pathlib import Path

import pytest

from keyed import asking
from nmtest import Json, Netmodel, assert_complete, defines, free_port, line_of, phase_of
from partners import Memcached, connects, memcached, nginx, nsd, partner, redis
from scripted import server_of
from test_apps import serving

WriteProfile = Callable[..., Path]

CLASSES = ("hits", "misses", "ok", "refused", "truncated", "timed_out", "lost", "malformed")


def ended(outcomes: Json) -> int:
    return sum(outcomes[name] for name in CLASSES)


def flowops_of(document: Json, name: str = "ask") -> dict[str, Json]:
    """Outcomes by flowop, with -f."""
    return {one["flowop"]: one["outcomes"] for one in phase_of(document, name)["flowops"]}


def assert_adds_up(document: Json) -> Json:
    """The outcomes of the master, whose classes and transactions make up all requests, as the flowops do."""
    of: Json = document["hosts"][0]["groups"][0]
    assert of["requests"] == ended(of)
    for phase in document["groups"][0]["phases"]:
        whole = phase.get("outcomes", dict.fromkeys(("requests", *CLASSES), 0))
        assert whole["requests"] == ended(whole)
        for name in ("requests", *CLASSES):
            assert whole[name] == sum(one.get("outcomes", {}).get(name, 0) for one in phase["flowops"])
        for one in phase["flowops"]:
            assert not one.get("outcomes") or one["operations"] == one["outcomes"]["requests"] == ended(one["outcomes"])
    return of


def pinging(server: str, connect: str = "", ask: str = "", attributes: str = "", how: str = 'duration="1s"') -> str:
    return (
        f'<group {attributes}><transaction><flowop type="connect" options="remotehost=local app=ping server={server} {connect}"/>'
        f'</transaction>\n<transaction name="ask" {how}><flowop type="ping" options="{ask}"/></transaction>'
        '<transaction><flowop type="disconnect"/></transaction></group>'
    )


MIX = (
    '<mix><flowop type="get" options="keys=k" weight="5"/><flowop type="set" options="keys=k size=100"/>'
    '<flowop type="delete" options="keys=k"/></mix>'
)

# --- the books of real servers ---


@pytest.mark.parametrize("app", ["memcache", "memcache_meta", "memcache_binary"])
def test_memcached(app: str, netmodel: Netmodel, profile: WriteProfile) -> None:
    with memcached() as server:
        large = '<flowop type="set" options="keys=k size=2m"/>'
        body = asking(app, MIX + large, f"server={server.server}", "nflows='3'").replace('duration="200ms"', 'iterations="40"')
        document = netmodel.measure(profile(body), "-f", "--yes-destroy")
        stats = server.stats()
    assert_complete(document)
    assert_adds_up(document)
    flowops = phase_of(document, "ask")["flowops"]
    get, small, delete, refused = (one["outcomes"] for one in flowops)
    assert [one["flowop"] for one in flowops] == ["get", "set", "delete", "set"]
    assert (get["requests"], get["hits"], get["misses"]) == (stats["cmd_get"], stats["get_hits"], stats["get_misses"])
    assert (delete["hits"], delete["misses"]) == (stats["delete_hits"], stats["delete_misses"])
    assert small["ok"] == small["requests"] == stats["cmd_set"]
    assert refused["refused"] == refused["requests"] > 3
    assert all(one["operations_per_s"] > 1 and one["time_s"]["p99"] > 0 for one in flowops)


def test_redis(netmodel: Netmodel, profile: WriteProfile) -> None:
    with redis() as server:
        document = netmodel.measure(profile(asking("redis", MIX, f"server={server.server}", "nflows='3'")), "-f", "--yes-destroy")
        calls = server.calls()
    assert_complete(document)
    assert_adds_up(document)
    of = flowops_of(document)
    assert {verb: of[verb]["requests"] for verb in of} == {"get": calls["get"], "set": calls["set"], "delete": calls["del"]}


def test_nginx(netmodel: Netmodel, profile: WriteProfile, tmp_path: Path) -> None:
    """By method and status."""
    with nginx(tmp_path) as server:
        (server.root / "here").write_text("some text")
        one = '<flowop type="http" options="path=/{path}{more}" weight="{weight}"/>'
        mix = one.format(path="here", more="", weight=3) + one.format(path="gone", more="", weight=1)
        mix += one.format(path="here", more=" method=POST size=10", weight=1)
        body = asking("http", f"<mix>{mix}</mix>", f"server={server.server}", "nflows='3'")
        document = netmodel.measure(profile(body), "-f")
        lines = server.log()
    assert_complete(document)
    assert_adds_up(document)
    here, gone, post = (one["outcomes"] for one in phase_of(document, "ask")["flowops"])
    counted = [sum(line[0].startswith(what) and line[1] == status for line in lines) for what, status in
               (("GET /here ", "200"), ("GET /gone ", "404"), ("POST /here ", "405"))]  # fmt: skip
    assert counted == [here["ok"], gone["refused"], post["refused"]]
    assert sum(counted) == len(lines) > 100


@pytest.mark.parametrize("protocol", ["udp", "tcp"])
def test_nsd(protocol: str, netmodel: Netmodel, profile: WriteProfile, tmp_path: Path) -> None:
    """By rcode."""
    with nsd(tmp_path, "www A 127.0.0.1\n") as server:
        names = ("www.example.com", "gone.example.com", "www.example.org")
        body = (
            f'<group><transaction><flowop type="connect" options="remotehost=local app=dns server={server.server} protocol={protocol}"/>'
            '</transaction><transaction name="ask" iterations="50">'
            + "".join(f'<flowop type="query" options="name={name} timeout=5s"/>' for name in names)
            + '</transaction><transaction><flowop type="disconnect"/></transaction></group>'
        )
        document = netmodel.measure(profile(body), "-f")
        stats = server.stats()
    assert_adds_up(document)
    found, gone, refused = (one["outcomes"] for one in phase_of(document, "ask")["flowops"])
    assert (found["hits"], gone["misses"], refused["refused"]) == (50, 50, 50)
    assert (stats["num.rcode.NOERROR"], stats["num.rcode.NXDOMAIN"], stats["num.rcode.REFUSED"]) == (50, 50, 50)


# --- a server of the tests ---


def each_tenth(bad: list[bytes] | None) -> Callable[[int, bytes], list[bytes] | None]:
    return lambda number, _line: bad if number % 10 == 9 else [b"PONG\r\n"]


@pytest.mark.parametrize("flows", [1, 3])
@pytest.mark.parametrize("arrivals", ["", "const(150/s)"])
def test_a_late_answer_is_never_that_of_the_next_request(flows: int, arrivals: str, netmodel: Netmodel, profile: WriteProfile) -> None:
    """Each tenth answer of a connection comes when nobody waits for it any more."""
    how = f'duration="1500ms" arrivals="{arrivals}"' if arrivals else 'iterations="50"'
    with serving(each_tenth([b"", b"PONG\r\n"]), pause=0.3) as server:
        document = netmodel.measure(profile(pinging(server.place, "", "timeout=100ms", f"nflows='{flows}'", how)), "-f")
    assert_complete(document)
    of = assert_adds_up(document)
    assert of["timed_out"] > 3
    assert of["ok"] + of["timed_out"] == of["requests"]
    assert of["timed_out"] <= of["connects"] <= flows + of["timed_out"]  # at the end none is opened anew
    phase = phase_of(document, "ask")
    assert phase["transactions"] == of["ok"] == phase["latency_s"]["count"]
    assert phase["latency_s"]["p90"] < 0.1


def test_a_timeout_is_of_the_whole_answer(netmodel: Netmodel, profile: WriteProfile) -> None:
    """Bytes that come now and then do not prolong it."""
    drops = [piece for byte in b"PONG\r\n" for piece in (b"", bytes([byte]))]
    with serving(lambda _number, _line: drops, pause=0.06) as server:
        document = netmodel.measure(profile(pinging(server.place, "", "timeout=200ms", "", 'iterations="3"')), code=2)
    assert "none of its 3 requests was answered: 3 have timed out" in document["run"]["incomplete_why"]
    assert document["hosts"][0]["counts"]["timed_out"] == 3
    assert document["run"]["elapsed_s"] < 2


@pytest.mark.parametrize("flows", [1, 3])
def test_a_timeout_holds_while_bytes_keep_coming(flows: int, netmodel: Netmodel, profile: WriteProfile) -> None:
    """Flows that never wait, as there is always something to receive, have their limits all the same."""
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000000\r\n\r\n"
    piece = bytes(1 << 20)
    with serving(lambda _number, line: chain([answer], repeat(piece)) if line.startswith(b"GET") else []) as server:
        body = asking("http", '<flowop type="http" options="timeout=200ms"/>', f"server={server.place}", f"nflows='{flows}'")
        document = netmodel.measure(profile(body.replace('duration="200ms"', 'iterations="3"')), code=2)
    of = document["hosts"][0]["counts"]
    assert of["timed_out"] == of["requests"] == 3 * flows
    assert document["run"]["elapsed_s"] < 3


def test_a_timeout_is_of_the_sending_too(netmodel: Netmodel, profile: WriteProfile) -> None:
    """A large request that the server takes slowly, bit by bit, and never answers."""
    over = threading.Event()

    def take(conn: socket.socket, _number: int) -> None:
        while conn.recv(1 << 17) and not over.wait(0.004):
            pass

    with server_of(take) as place:
        body = asking("memcache", '<flowop type="set" options="keys=k size=64m timeout=200ms"/>', f"server={place}", "")
        document = netmodel.measure(profile(body.replace('duration="200ms"', 'iterations="2"')), code=2)
    over.set()
    of = document["hosts"][0]["counts"]
    assert of["timed_out"] == of["requests"] == 2
    assert document["run"]["elapsed_s"] < 3


@pytest.mark.parametrize("flows", [1, 3])
@pytest.mark.parametrize(
    ("bad", "which"), [([b"HELLO\r\n"], "malformed"), ([b"PONG\r\nPONG\r\n"], "malformed"), (None, "reissued"), ([b"PO"], "timed_out")]
)
def test_bad_answers_are_counted(bad: list[bytes] | None, which: str, flows: int, netmodel: Netmodel, profile: WriteProfile) -> None:
    with serving(each_tenth(bad)) as server:
        limit = "50ms" if which == "timed_out" else "20s"
        body = pinging(server.place, "reconnect=5s", f"timeout={limit}", f"nflows='{flows}'", 'iterations="50"')
        document = netmodel.measure(profile(body), "-f")
    assert_complete(document)
    of = assert_adds_up(document)
    assert of["requests"] == 50 * flows
    assert of[which] == 5 * flows
    assert of["unsolicited"] == (5 * flows if bad == [b"PONG\r\nPONG\r\n"] else 0)
    assert any(f"unsolicited: {5 * flows} connections were given up" in one for one in document["run"]["warnings"]) == bool(of["unsolicited"])
    assert of["ok"] == 50 * flows - (0 if which == "reissued" else 5 * flows)


def test_a_server_that_only_ends_connections(netmodel: Netmodel, profile: WriteProfile) -> None:
    """It is asked again with pauses that grow, and not for ever."""
    with serving(lambda _number, _line: None) as server:
        path = profile(pinging(server.place, "reconnect=1s", "", "nflows='2'", 'duration="20s"'))
        document = netmodel.measure(path, code=2)
        tries = len(server.connections)
    why = document["run"]["incomplete_why"]
    assert f"flowop ping at {path}:{line_of(path, 'ping' + chr(34) + ' options')}: tried " in why
    assert "within reconnect=1.00 s, at last: Connection reset by peer" in why and server.place in why
    assert 1 < document["run"]["elapsed_s"] < 5
    assert 8 <= tries <= 60
    of = document["hosts"][0]["counts"]
    assert of["lost"] == of["requests"] == ended(of)


# --- a real server that fails ---


class Failing:
    """A memcached that can be stopped, ended and started again."""

    def __init__(self) -> None:
        self.port = free_port()
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        program, env = partner("memcached")
        user = ["-u", "root"] if os.geteuid() == 0 else []
        command = [str(program), "-t", "1", *user, "-l", "127.0.0.1", "-p", str(self.port), "-U", "0"]
        self._process = subprocess.Popen(command, env=env)
        while True:
            try:
                connects(("127.0.0.1", self.port))
                return
            except OSError:
                assert self._process.poll() is None
                time.sleep(0.01)

    @property
    def running(self) -> Memcached:
        assert self._process
        return Memcached(("127.0.0.1", self.port), self._process.pid)

    def send(self, number: int) -> None:
        assert self._process
        self._process.send_signal(number)

    def end(self) -> None:
        self.send(signal.SIGCONT)
        self.send(signal.SIGKILL)
        assert self._process
        self._process.wait(10)


@contextmanager
def failing() -> Iterator[Failing]:
    server = Failing()
    server.start()
    try:
        yield server
    finally:
        server.end()


def begun(netmodel: Netmodel, profile: WriteProfile, server: Failing, connect: str, ask: str, how: str) -> tuple[str, ...]:
    mix = MIX.replace("keys=k", f"keys=k {ask}")
    body = asking("memcache", mix, f"server=127.0.0.1:{server.port} {connect}", "nflows='3'").replace('duration="200ms"', how)
    return ("-m", str(profile(body)), "-f", "--format", "json", "--yes-destroy")


@pytest.mark.parametrize(
    "how", ['duration="3s"', *(f'duration="3s" arrivals="const(1k/s)" {limit}' for limit in ("", 'queue="50"', 'late="drop(50ms)"'))]
)
def test_killed_and_started_again(how: str, netmodel: Netmodel, profile: WriteProfile) -> None:
    with failing() as server:
        with netmodel.started(*begun(netmodel, profile, server, "reconnect=10s", "", how)) as run:
            time.sleep(1)
            server.end()
            time.sleep(0.7)
            server.start()
            result = run.finish()
    assert result.code == 0, result.err
    of = assert_adds_up(result.json())
    assert 6 <= of["connects"] <= 9  # what dies takes connections for a moment
    assert 6 <= of["failed_connects"] <= 60  # refused in 0.7 s, after pauses from 10 ms on
    assert of["lost"] + of["reissued"] <= 6  # of each flow one, that is sent again over a connection which dies, too
    assert of["hits"] > 100 and result.json()["run"]["complete"]
    if "queue" in how or "late" in how:
        load = phase_of(result.json(), "ask")["load"]
        assert load["dropped_queue"] + load["dropped_late"] > 300
        assert load["verdict"] == "connections" and "as the server was away" in load["advice"]


def test_backoff_limits_how_often_a_server_is_tried(netmodel: Netmodel, profile: WriteProfile) -> None:
    """Pauses of half a millisecond on average, or of half an hour."""
    tried = []
    for backoff in "1ms", "3600s":
        with failing() as server:
            connect = f"reconnect=10s backoff={backoff}"
            with netmodel.started(*begun(netmodel, profile, server, connect, "", 'duration="2s"')) as run:
                time.sleep(1)
                server.end()
                result = run.finish()
            server.start()
        assert result.code == 0, result.err
        tried.append(result.json()["hosts"][0]["groups"][0]["failed_connects"])
    # Each of the three flows is refused twice at most before it pauses.
    assert tried[1] <= 6 and tried[0] > 5 * tried[1]


@pytest.mark.parametrize("for_ever", [False, True])
def test_stopped(for_ever: bool, netmodel: Netmodel, profile: WriteProfile) -> None:
    """Time-outs are counted as long as it is stopped, and the run ends when its time is over."""
    with failing() as server:
        with netmodel.started(*begun(netmodel, profile, server, "", "timeout=100ms", 'duration="3s"')) as run:
            time.sleep(1)
            server.send(signal.SIGSTOP)
            time.sleep(1)
            if not for_ever:
                server.send(signal.SIGCONT)
            result = run.finish()
    assert result.code == 0, result.err
    document = result.json()
    of = assert_adds_up(document)
    assert of["timed_out"] in (range(45, 75) if for_ever else range(21, 40))
    assert of["lost"] == of["malformed"] == 0
    assert document["run"]["elapsed_s"] < 4


@pytest.mark.parametrize(("limit", "code"), [("500ms", 2), ("30s", 0)])
def test_gone(limit: str, code: int, netmodel: Netmodel, profile: WriteProfile) -> None:
    """A run that waits for its server still ends in time; one that has waited for too long says why."""
    with failing() as server:
        with netmodel.started(*begun(netmodel, profile, server, f"reconnect={limit}", "", 'duration="3s"')) as run:
            time.sleep(1)
            server.end()
            result = run.finish()
        server.start()
    assert result.code == code, result.err
    document = result.json()
    of = document["hosts"][0]["groups"][0]
    assert document["run"]["elapsed_s"] < 4
    if code:
        assert "within reconnect=500 ms, at last: Connection refused" in document["run"]["incomplete_why"]
    else:
        assert_adds_up(document)
        assert of["lost"] <= 6  # a server that ends may take connections for a moment


@contextmanager
def accepting_no_more(after: float, last: int = 3) -> Iterator[str]:
    """A server that is stopped after its last connection, with no room for those that wait for it: SYNs to it are dropped."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=1)
    over = threading.Event()

    def serve(conn: socket.socket) -> None:
        with conn, suppress(ConnectionError):
            conn.recv(4096)
            until = time.monotonic() + after
            conn.sendall(b"PONG\r\n")
            while conn.recv(4096) and time.monotonic() < until:
                conn.sendall(b"PONG\r\n")
            over.wait()

    def listen() -> None:
        for _ in range(last):
            threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()

    threading.Thread(target=listen, daemon=True).start()
    try:
        yield "127.0.0.1:%d" % listener.getsockname()[1]
    finally:
        over.set()
        listener.close()


@pytest.mark.parametrize("connect", ["", "reconnect=30s"])
def test_connections_that_hang_end_with_the_time(connect: str, netmodel: Netmodel, profile: WriteProfile) -> None:
    with accepting_no_more(0.5) as place:
        document = netmodel.measure(profile(pinging(place, connect, "timeout=100ms", "nflows='3'", 'duration="2s"')), "-f")
    assert_complete(document)
    of = assert_adds_up(document)
    assert of["timed_out"] >= 3 and of["ok"] > 3
    assert document["run"]["elapsed_s"] < 4


def test_connections_that_hang_are_no_stall(netmodel: Netmodel, profile: WriteProfile) -> None:
    """Each attempt has its limit, so that something moves all the time."""
    with accepting_no_more(0.5) as place:
        path = profile(pinging(place, "", "timeout=100ms", "nflows='3'", 'duration="7s"'))
        document = netmodel.measure(path, "--timeout", "5s")
    assert_complete(document)
    assert document["run"]["elapsed_s"] < 9


def passes_with_connections(place: str, how: str, attributes: str) -> str:
    connect = f'<flowop type="connect" options="remotehost=local app=ping server={place} reconnect=30s"/>'
    passes = f'{connect}<flowop type="ping"/><flowop type="disconnect"/>'
    return f"<group {attributes}><transaction name='ask' duration='1s' {how}>{passes}</transaction></group>"


@pytest.mark.parametrize("how", ["arrivals='const(50/s)'", "rate='2'", ""])
def test_flows_that_rest_leave_in_peace(how: str, netmodel: Netmodel, profile: WriteProfile) -> None:
    """At the end of the time most flows rest, or have their turn, where a pass begins with a connect: none of them waits for a connection."""
    with serving(lambda _number, _line: [b"PONG\r\n"]) as server:
        document = netmodel.measure(profile(passes_with_connections(server.place, how, "nflows='40'")), "-f")
    assert_complete(document)
    of = assert_adds_up(document)
    flowops = [one["operations"] for one in phase_of(document, "ask")["flowops"]]
    assert flowops == [of["ok"]] * 3 and of["ok"] == of["requests"] == phase_of(document, "ask")["transactions"]
    if "arrivals" in how:
        load = phase_of(document, "ask")["load"]
        assert (load["due"], load["unsent"], load["failed"], of["ok"]) == (50, 0, 0, 50)


@pytest.mark.parametrize("arrivals", ["", "arrivals='const(100/s)'"])
def test_connects_under_way_at_the_end_are_good(arrivals: str, netmodel: Netmodel, profile: WriteProfile, tmp_path: Path) -> None:
    """The server takes its time for a login."""
    def answer(_number: int, line: bytes) -> list[bytes]:
        return {b"AUTH": [b"", b"+OK\r\n"], b"GET": [b"$-1\r\n"]}.get(line.strip().upper(), [])

    password = tmp_path / "password"
    password.write_text("secret\n")
    with serving(answer, pause=0.1) as server:
        body = passes_with_connections(server.place, arrivals, "nflows='12'").replace("app=ping", f"app=redis auth_file={password}")
        keys = '<keyspace name="k" count="100" length="12" prefix="k:" law="uniform"/>'
        body = keys + body.replace('"ping"/', '"get" options="keys=k"/')
        document = netmodel.measure(profile(body), "-f")
    assert_complete(document)
    of = assert_adds_up(document)
    assert of["connects"] == of["misses"] == of["requests"] == phase_of(document, "ask")["transactions"] > 50
    if arrivals:
        load = phase_of(document, "ask")["load"]
        assert (load["due"], load["unsent"], load["failed"], of["misses"]) == (100, 0, 0, 100)


@pytest.mark.parametrize("connect", ["", "reconnect=30s"])
def test_what_is_due_begins_though_connections_end(connect: str, netmodel: Netmodel, profile: WriteProfile) -> None:
    """The server ends each connection after some answers, and is too slow, so that passes are due when the time is over."""
    with serving(lambda number, _line: None if number == 5 else [b"", b"PONG\r\n"], pause=0.02) as server:
        how = 'duration="500ms" arrivals="const(400/s)"'
        document = netmodel.measure(profile(pinging(server.place, connect, "", "nflows='4'", how)), "-f")
    assert_complete(document)
    load = phase_of(document, "ask")["load"]
    assert load["tardy"] > 20
    assert (load["due"], load["unsent"], load["failed"], phase_of(document, "ask")["transactions"]) == (200, 0, 0, 200)


@pytest.mark.parametrize("limit", ["", "timeout=5s"])
@pytest.mark.parametrize("arrivals", ["", 'arrivals="const(50/s)"'])
def test_a_run_lasts_as_long_as_it_says(limit: str, arrivals: str, netmodel: Netmodel, profile: WriteProfile) -> None:
    """Where each pass connects, and the server is stopped: no flow waits for it any longer, and what was due is told of."""
    passes = '<flowop type="connect" options="remotehost=local app=ping server={} reconnect=30s {}"/><flowop type="ping"/><flowop type="disconnect"/>'
    with accepting_no_more(0.5, 20) as place:
        body = f"<group nflows='3'><transaction name='ask' duration='2s' {arrivals}>{passes.format(place, limit)}</transaction></group>"
        document = netmodel.measure(profile(body.replace('"ping"/', '"ping" options="timeout=100ms"/')))
    assert_complete(document)
    assert document["run"]["elapsed_s"] < 4
    if arrivals:
        load = phase_of(document, "ask")["load"]
        assert load["verdict"] == "errors" and load["due"] == 100
        assert load["unsent"] > 50 and load["unsent"] + load["failed"] + phase_of(document, "ask")["transactions"] == 100
        assert f"and {load['unsent']} of the 100 that were due never began" in load["advice"]


def test_the_connect_of_a_pass_has_a_limit(netmodel: Netmodel, profile: WriteProfile) -> None:
    """So that attempts that hang are no stall, and end where reconnect does."""
    passes = '<flowop type="connect" options="remotehost=local app=ping server={} reconnect=1s"/><flowop type="ping"/><flowop type="disconnect"/>'
    with accepting_no_more(0.5, 20) as place:
        body = f"<group nflows='3'><transaction name='ask' duration='20s'>{passes.format(place)}</transaction></group>"
        document = netmodel.measure(profile(body.replace('"ping"/', '"ping" options="timeout=100ms"/')), code=2)
    assert "within reconnect=1.00 s, at last: Connection timed out" in document["run"]["incomplete_why"]
    assert document["run"]["elapsed_s"] < 5


def test_reconnect_limits_an_attempt_that_hangs(netmodel: Netmodel, profile: WriteProfile) -> None:
    with accepting_no_more(0.5) as place:
        path = profile(pinging(place, "reconnect=1s", "timeout=100ms", "nflows='3'", 'duration="20s"'))
        document = netmodel.measure(path, code=2)
    assert "within reconnect=1.00 s, at last: Connection timed out" in document["run"]["incomplete_why"]
    assert document["run"]["elapsed_s"] < 2.9


def test_each_outage_has_its_own_limit(netmodel: Netmodel, profile: WriteProfile) -> None:
    """Also where each pass closes its connection, so that none that was good fails."""
    with failing() as server:
        passes = (
            f'<flowop type="connect" options="remotehost=local app=memcache server=127.0.0.1:{server.port} reconnect=1500ms"/>'
            '<flowop type="get" options="keys=k"/><flowop type="disconnect"/>'
        )
        keys = '<keyspace name="k" count="10" length="12" prefix="k:" law="uniform"/>'
        body = f"{keys}<group><transaction name='ask' duration='4s' rate='50'>{passes}</transaction></group>"
        with netmodel.started("-m", str(profile(body)), "--format", "json") as run:
            for _ in range(2):
                time.sleep(0.9)
                server.end()
                time.sleep(0.5)
                server.start()
            result = run.finish()
    assert result.code == 0, result.err
    assert result.json()["hosts"][0]["counts"]["failed_connects"] > 4


@pytest.mark.parametrize("flows", [1, 3])
@pytest.mark.parametrize("bad", [[b"", b"PONG\r\n"], [b"HELLO\r\n"], [b"PO"]])
def test_a_connection_for_each_request(bad: list[bytes], flows: int, netmodel: Netmodel, profile: WriteProfile) -> None:
    """One that is to be closed next is not opened anew before that, where nobody would end it."""
    asked = iter(range(1 << 30))
    with serving(lambda _number, _line: bad if next(asked) % 10 == 9 else [b"PONG\r\n", b""], pause=1) as server:
        passes = (
            f'<flowop type="connect" options="remotehost=local app=ping server={server.place} reconnect=5s"/>'
            '<flowop type="ping" options="timeout=500ms"/><flowop type="disconnect"/>'
        )
        body = f"<group nflows='{flows}'><transaction name='ask' iterations='20'>{passes}</transaction></group>"
        document = netmodel.measure(profile(body), "-f")
    assert_complete(document)
    of = assert_adds_up(document)
    assert of["requests"] == of["connects"] == 20 * flows == of["ok"] + 2 * flows


@pytest.mark.parametrize("name", ["http_crr", "http", "memcache", "redis", "ping", "echo"])
def test_stock_profiles_have_both(name: str, netmodel: Netmodel) -> None:
    """Over a server that accepts, and never answers."""
    with serving(lambda _number, _line: []) as server:
        params = defines(server=server.place, timeout="100ms", reconnect="5s", test_length="500ms", num_flows=2)
        document = netmodel.measure(name, *params, *defines(**({"keys": 2} if name in ("memcache", "redis") else {})), code=2)
    assert "requests was answered" in document["run"]["incomplete_why"]
    of = document["hosts"][0]["counts"]
    assert of["timed_out"] == of["requests"] == ended(of) >= 4
    assert document["run"]["elapsed_s"] < 4


# --- what is wrong in a profile ---


@pytest.mark.parametrize(
    ("connect", "why"),
    [
        ("app=dns protocol=udp server=127.0.0.1:1 reconnect=1s", "reconnect: not over udp, where a connection neither fails nor ends"),
        ("app=ping server=127.0.0.1:1 reconnect=1s canfail", "reconnect: not with canfail"),
        ("app=dns protocol=udp server=127.0.0.1:1 backoff=1s", "backoff: not over udp, where no connection fails"),
        ("app=ping backoff=1s", "backoff: only of connect with server"),
        ("app=ping server=127.0.0.1:1 backoff=1s", "backoff: has no effect without reconnect"),
    ],
)
def test_reconnect_in_vain(connect: str, why: str, netmodel: Netmodel, profile: WriteProfile) -> None:
    path = profile(f'<group><transaction>\n<flowop type="connect" options="remotehost=local {connect}"/></transaction></group>')
    result = netmodel.run("-m", path, code=1)
    assert f"{path}:{line_of(path, 'remotehost')}: error: <flowop connect> {why}" in result.err


def test_parts_of_a_run_add_up(netmodel: Netmodel, profile: WriteProfile) -> None:
    """Requests that are under way at the edge of a window are in one of its sides, with how they have ended."""
    asked = count()
    with serving(lambda _number, _line: [b"", b"PONG\r\n"] if next(asked) % 3 == 1 else [b"PONG\r\n"], pause=0.12) as server:
        path = profile(pinging(server.place, "", "timeout=100ms", "nflows='4'", 'duration="1200ms"'))
        document = netmodel.measure(path, "--warmup", "370ms", "-i", "100ms")
    parts = [document["totals"], *document["intervals"]]
    outcomes = [part["outcomes"] for part in parts if "outcomes" in part]
    assert len(outcomes) > 5 and sum(one["timed_out"] for one in outcomes) > 5
    assert all(one["requests"] == ended(one) for one in outcomes)


def test_text_and_keys(netmodel: Netmodel, profile: WriteProfile) -> None:
    with serving(each_tenth([b"HELLO\r\n"])) as server:
        path = profile(pinging(server.place, "reconnect=5s", "", "", 'iterations="50" measure="yes"'))
        text = netmodel.run("-m", path, "-f").out
        keys = netmodel.run("-m", path, "--format", "kv").out
    assert "10.00 % of 50 requests: timed out 0  lost 0  malformed 5" in text
    (failing,) = (line for line in text.splitlines() if line.startswith("  with failures"))
    assert re.search(r"p50 \S+ \S+  p90 \S+ \S+  p95 > timeout  p99 > timeout  p99.9 > timeout$", failing)
    assert "outcomes_malformed=5" in keys and "outcomes_requests=50" in keys
    row = next(line.split() for line in text.splitlines() if line.split()[:3] == ["ping", "Txn1", "Group0"])
    assert row[4:] == ["50", "0", "0", "45", "0", "0", "0", "0", "5", "0"]
