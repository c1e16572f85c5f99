# SPDX-License-Identifier: Apache-2.0
"""Application protocols: netmodel at both ends, and as the client of servers that are not netmodel."""

from __future__ import annotations

import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest

from nmtest import (
    SOON_S,
    TRACED,
    Json,
    Netmodel,
    assert_complete,
    assert_ends_agree,
    defines,
    line_of,
    master_of,
    phase_of,
)
from partners import redis
from scripted import server_of

WriteProfile = Callable[..., Path]


def asked(document: Json, flows: int) -> int:
    """How often the flows have asked: a pass of each is its connect, and another one its disconnect."""
    passes: int = master_of(document)["groups"][0]["transactions"]
    return passes - 2 * flows


def asking(app: str, connect: str = "", attributes: str = "", options: str = "") -> str:
    """A group that asks for a while over one connection of each flow."""
    return (
        f'<group {attributes}>\n<transaction><flowop type="connect" options="remotehost=local app={app} {connect}"/></transaction>\n'
        f'<transaction name="ask" duration="200ms"><flowop type="{app}" options="{options}"/></transaction>\n'
        '<transaction><flowop type="disconnect"/></transaction></group>'
    )


class Server:
    """A server of the tests: each connection has a thread, and `answer` makes of each line what is sent back, in pieces; None closes."""

    def __init__(self, answer: Callable[[int, bytes], list[bytes] | None], pause: float) -> None:
        self._pause = pause
        self.connections: list[int] = []  # lines of each
        self._answer = answer
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._listen, daemon=True).start()

    @property
    def place(self) -> str:
        return f"127.0.0.1:{self.port}"

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _listen(self) -> None:
        while True:
            try:
                conn, _ = self._listener.accept()
            except OSError:
                return
            conn.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.connections.append(0)
            threading.Thread(target=self._serve, args=(conn, len(self.connections) - 1), daemon=True).start()

    def _serve(self, conn: socket.socket, number: int) -> None:
        with conn, conn.makefile("rb") as lines, suppress(ConnectionError):
            for line in lines:
                pieces = self._answer(self.connections[number], line)
                self.connections[number] += 1
                if pieces is None:
                    return
                for piece in pieces:
                    if self._pause and not piece:
                        time.sleep(self._pause)
                    conn.sendall(piece)


@contextmanager
def serving(answer: Callable[[int, bytes], list[bytes] | None], pause: float = 0) -> Iterator[Server]:
    """pause: how long an empty piece is."""
    server = Server(answer, pause)
    try:
        yield server
    finally:
        server.close()


def pong(_number: int, _line: bytes) -> list[bytes]:
    return [b"PONG\r\n"]


# --- netmodel at both ends ---


@pytest.mark.parametrize("name", ["ping", "echo"])
@pytest.mark.parametrize("params", [{}, {"num_flows": 10, "num_threads": 3}, {"arrivals": "poisson(500/s)", "num_flows": 4}])
def test_both_ends(name: str, params: dict[str, object], netmodel: Netmodel) -> None:
    document = netmodel.measure(name, *defines(test_length="200ms", **params))
    assert_complete(document)
    assert_ends_agree(document)
    assert phase_of(document, name)["transactions"] > 10


@pytest.mark.parametrize("size", ["1", "64k", "uniform(1,65536)", "bimodal(10,5000,0.5)"])
def test_sizes_of_an_echo(size: str, netmodel: Netmodel) -> None:
    document = netmodel.measure("echo", *defines(test_length="200ms", size=size, num_flows=3))
    assert_ends_agree(document)
    master = master_of(document)["groups"][0]
    assert master["bytes_sent"] == master["bytes_received"]


@pytest.mark.parametrize("protocol", ["tcp", "mptcp", "ssl", "unix"])
@pytest.mark.parametrize("app", ["ping", "echo"])
def test_streams(app: str, protocol: str, netmodel: Netmodel, profile: WriteProfile) -> None:
    document = netmodel.measure(profile(asking(app, f"protocol={protocol}", "nflows='3'")))
    assert_ends_agree(document)


def test_processes(netmodel: Netmodel, profile: WriteProfile) -> None:
    assert_ends_agree(netmodel.measure(profile(asking("echo", attributes="nprocs='2' nflows='4'"))))


def test_a_connection_for_each_request(netmodel: Netmodel, profile: WriteProfile) -> None:
    ask = '<flowop type="echo" options="count=3"/>'
    body = (
        '<transaction duration="200ms"><flowop type="connect" options="remotehost=local app=echo"/>'
        f'{ask}<flowop type="disconnect"/></transaction></group>'
    )
    for flows in (1, 4):
        document = netmodel.measure(profile(f'<group nflows="{flows}">{body}'))
        assert_ends_agree(document)
        own = master_of(document)["groups"][0]
        assert own["bytes_sent"] == own["connects"] * 3 * 74


# --- servers of others ---


def test_all_requests_reach_the_server(netmodel: Netmodel) -> None:
    with serving(pong) as server:
        document = netmodel.measure("ping", *defines(server=server.place, test_length="300ms", num_flows=4))
    assert_complete(document)
    assert len(document["hosts"]) == 1, "nobody else takes part"
    assert sum(server.connections) == asked(document, 4) > 100
    assert len(server.connections) == 5, "one connection for each flow, and the one that looked for the server"


def test_a_server_over_mptcp(netmodel: Netmodel, profile: WriteProfile) -> None:
    """A server that knows nothing of it is reached over TCP."""
    with serving(pong) as server:
        document = netmodel.measure(profile(asking("ping", f"server={server.place} protocol=mptcp", "nflows='3'")))
    assert_complete(document)
    assert sum(server.connections) == asked(document, 3) > 0
    assert master_of(document)["counts"]["fallbacks"] == 3
    assert any(warning.startswith("protocol=mptcp: 3 connections are plain TCP: ") for warning in document["run"]["warnings"])


def test_a_server_and_a_slave_in_one_transaction(netmodel: Netmodel, profile: WriteProfile) -> None:
    """Only what the slave has a part in is compared."""
    with serving(pong) as server:
        body = (
            f'<group><transaction><flowop type="connect" options="conn=1 app=ping server={server.place}"/>'
            '<flowop type="connect" options="conn=2 app=echo remotehost=local"/></transaction>'
            '<transaction duration="200ms"><flowop type="ping" options="conn=1"/>'
            '<flowop type="echo" options="conn=2"/></transaction><transaction><flowop type="disconnect" options="conn=1"/>'
            '<flowop type="disconnect" options="conn=2"/></transaction></group>'
        )
        assert_complete(netmodel.measure(profile(body)))


@pytest.mark.parametrize("buffer", [1, 1000, 5000])
def test_a_request_is_longer_than_the_buffer(buffer: int, netmodel: Netmodel, profile: WriteProfile) -> None:
    attributes = f"buffer='{buffer}' nflows='2'"
    for size in (64, 1900, 65536):
        document = netmodel.measure(profile(asking("echo", attributes=attributes, options=f"size={size}")))
        assert_complete(document)
        assert_ends_agree(document)


def test_the_limit_of_an_answer_is_none_of_the_next_request(netmodel: Netmodel, profile: WriteProfile) -> None:
    body = asking("echo", "nodelay", options="timeout=90ms").replace('duration="200ms"', 'duration="1s" rate="4"')
    assert_ends_agree(netmodel.measure(profile(body)))


def test_the_limit_is_that_of_each_request(netmodel: Netmodel, profile: WriteProfile, strace: str) -> None:
    """The last request is sent when the first ones were sent long since: it has its whole time from then on."""
    slow = (strace, "-f", "-qq", "-o", "/dev/null", "-e", "trace=sendto", "-e", "inject=sendto:delay_enter=10000")
    flows, timeout_s = 50, 0.3
    with serving(lambda _number, _line: []) as server:
        body = asking("ping", f"server={server.place}", f"nflows='{flows}'", f"timeout={timeout_s}s").replace('duration="200ms"', 'iterations="1"')
        document = netmodel.measure(profile(body), code=2, prefix=slow, env=TRACED)
    assert master_of(document)["counts"]["timed_out"] == flows
    assert phase_of(document, "ask")["seconds"] >= flows * 0.01 + timeout_s


def test_what_comes_in_pieces(netmodel: Netmodel) -> None:
    def answer(_number: int, line: bytes) -> list[bytes]:
        return [line[i : i + 1] for i in range(len(line))]

    with serving(answer) as server:
        document = netmodel.measure("echo", *defines(server=server.place, test_length="300ms", size=20))
    assert_complete(document)
    assert sum(server.connections) == asked(document, 1) > 0


def test_several_servers(netmodel: Netmodel) -> None:
    with serving(pong) as one, serving(pong) as other:
        places = f"{one.place},{other.place},[::ffff:127.0.0.1]:{one.port}"
        document = netmodel.measure("ping", *defines(server=places, test_length="200ms", num_flows=7, num_threads=2))
        assert_complete(document)
        assert [len(one.connections), len(other.connections)] == [5 + 2, 2 + 1]


def test_a_name_has_the_address_that_answers(netmodel: Netmodel) -> None:
    with serving(pong) as server:
        document = netmodel.measure("ping", *defines(server=f"localhost:{server.port}", test_length="100ms"))
    assert_complete(document)


def test_arrivals_at_a_server(netmodel: Netmodel) -> None:
    params = defines(test_length="500ms", num_flows=8, arrivals="const(400/s)")
    with serving(pong) as server:
        document = netmodel.measure("ping", *params, *defines(server=server.place))
    load = phase_of(document, "ping")["load"]
    assert load["due"] == 200 and load["failed"] == load["unsent"] == 0
    assert sum(server.connections) == 200


@pytest.mark.parametrize("path", [False, True])
def test_redis(path: bool, netmodel: Netmodel, profile: WriteProfile, tmp_path: Path) -> None:
    """Redis has counted as many as netmodel has."""
    with redis(str(tmp_path / "redis.sock") if path else "") as server:
        where = f"server={server.server} protocol={'unix' if path else 'tcp'}"
        document = netmodel.measure(profile(asking("ping", where, "nflows='3'")))
        assert_complete(document)
        assert server.calls()["ping"] == asked(document, 3) > 100


# --- what goes wrong ---


@pytest.mark.parametrize(
    ("app", "answer", "why"),
    [
        ("ping", lambda _number, _line: [b"HTTP/1.1 400 Bad Request\r\n"], '"HTTP/1.1 400 Bad Request" has come, which is no answer'),
        ("ping", lambda _number, _line: [b"PONG\r\nPONG\r\n"], '"PONG" has come although no request was outstanding'),
        ("ping", lambda _number, _line: [b"\x00\xff\n"], '"??" has come, which is no answer of app=ping'),
        ("echo", lambda _number, line: [line[::-1]], "has come, which is no answer of app=echo"),
        ("ping", lambda _number, _line: None, "Connection reset by peer"),
    ],
)
def test_bad_answers(
    app: str, answer: Callable[[int, bytes], list[bytes] | None], why: str, netmodel: Netmodel, profile: WriteProfile
) -> None:
    with serving(answer) as server:
        path = profile(asking(app, f"server={server.place}"))
        document = netmodel.measure(path, code=2)
    line = line_of(path, f'type="{app}"')
    assert document["run"]["complete"] is False
    assert f"flowop {app} at {path}:{line}: " in document["run"]["incomplete_why"]
    assert why in document["run"]["incomplete_why"]


@pytest.mark.parametrize("flows", [1, 3])
def test_a_server_that_ends_connections(flows: int, netmodel: Netmodel, profile: WriteProfile) -> None:
    """They are opened anew, and what was on its way is asked once more."""
    with serving(lambda number, _line: [b"PONG\r\n"] if number < 5 else None) as server:
        body = asking("ping", f"server={server.place}", f"nflows='{flows}'").replace('duration="200ms"', 'iterations="52"')
        document = netmodel.measure(profile(body))
    assert_complete(document)
    assert asked(document, flows) == 52 * flows
    assert sorted(server.connections) == [0] + [2] * flows + [6] * 10 * flows


def test_a_server_that_does_not_answer(netmodel: Netmodel, profile: WriteProfile) -> None:
    with serving(lambda _number, _line: []) as server:
        path = profile(asking("ping", f"server={server.place}", options="timeout=100ms"))
        document = netmodel.measure(path, code=2)
    assert "requests was answered" in document["run"]["incomplete_why"]


FORMS = "must be HOST:PORT, [ADDRESS]:PORT or unix:PATH, with a port of 1 to 65535"


@pytest.mark.parametrize(
    ("server", "protocol", "why"),
    [
        ("127.0.0.1:0", "tcp", f'"127.0.0.1:0": {FORMS}'),
        ("127.0.0.1:65536", "tcp", f'"127.0.0.1:65536": {FORMS}'),
        ("[::1", "tcp", f'"[::1": {FORMS}'),
        ("a:1,,b:1", "tcp", f'"": {FORMS}'),
        (",a:1", "tcp", f'"": {FORMS}'),
        ("a:1,", "tcp", "there is nothing behind the last comma"),
        ("h" * 300, "tcp", f'"{"h" * 40}...": is too long'),
        (",".join(["a:1"] * 1025), "tcp", "has more than 1024 servers"),
        ("unix:/nowhere", "tcp", '"unix:/nowhere": unix:PATH goes with protocol=unix'),
        ("127.0.0.1:1", "unix", '"127.0.0.1:1": must be unix:PATH, with a path of 1 to 107 bytes'),
        ("unix:", "unix", '"unix:": must be unix:PATH, with a path of 1 to 107 bytes'),
        ("unix:/" + "x" * 107, "unix", "must be unix:PATH, with a path of 1 to 107 bytes"),
    ],
)
def test_what_is_no_server(server: str, protocol: str, why: str, netmodel: Netmodel, profile: WriteProfile) -> None:
    """The form is checked before anything is done."""
    path = profile(asking("ping", f"server={server} protocol={protocol}"))
    for argv in (["-m", path, "--check"], ["-m", path]):
        result = netmodel.run(*argv, code=1)
        assert f'{path}:{line_of(path, "connect")}: error: <flowop connect> server: ' in result.err and why in result.err


@pytest.mark.parametrize(
    ("server", "protocol", "why"),
    [
        ("127.0.0.1:{}", "tcp", "nothing listens on port {} there"),
        ("host.invalid:1", "tcp", "its name cannot be resolved"),
        ("unix:/nowhere/at/all", "unix", "No such file or directory"),
    ],
)
def test_a_server_that_is_not_there(
    server: str, protocol: str, why: str, netmodel: Netmodel, profile: WriteProfile
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    path = profile(asking("ping", f"server={server.format(port)} protocol={protocol}"))
    said = netmodel.measure(path, code=2)["run"]["incomplete_why"]
    assert f'{path}:{line_of(path, "connect")}: <flowop connect> server="{server.format(port)}": ' in said
    assert why.format(port) in said


def test_the_search_for_a_server_can_be_interrupted(netmodel: Netmodel, profile: WriteProfile) -> None:
    with socket.socket() as full, ExitStack() as stack:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        for _ in range(4):  # no more connections have room
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(full.getsockname())
        path = profile(asking("ping", f"server=127.0.0.1:{full.getsockname()[1]}"))
        with netmodel.started("-m", path) as process:
            time.sleep(0.3)
            process.signal(signal.SIGINT)
            assert process.finish(SOON_S).code == 130


def test_an_answer_that_comes_between_two_requests(netmodel: Netmodel, profile: WriteProfile) -> None:
    """It is counted, not taken for the answer to the next one, and the flow goes on over another connection."""

    def answer(number: int, _line: bytes) -> list[bytes]:
        return [b"PONG\r\n"] if number != 3 else [b"PONG\r\n", b"", b"PONG\r\n"]

    with serving(answer, pause=0.02) as server:
        body = asking("ping", f"server={server.place}").replace('duration="200ms"', 'duration="1s" rate="10"')
        document = netmodel.measure(profile(body))
    assert_complete(document)
    counts = document["hosts"][0]["counts"]
    assert server.connections == [0, 4, 4, 2]  # the first has looked whether the server is there
    assert (counts["unsolicited"], counts["ok"], counts["requests"], counts["connects"]) == (2, 10, 10, 3)


def test_a_server_that_speaks_first(netmodel: Netmodel, profile: WriteProfile) -> None:
    """It is none of the protocol."""

    def greet(conn: socket.socket, _number: int) -> None:
        conn.sendall(b"220 ready\r\n")
        conn.recv(1)

    with server_of(greet) as place:
        body = asking("ping", f"server={place}", "nflows='2'")
        path = profile(body.replace("</transaction>", '<flowop type="think" options="duration=100ms"/></transaction>', 1))
        document = netmodel.measure(path, code=2)
    line = line_of(path, 'type="ping"')
    why = f'flowop ping at {path}:{line}: "220 ready" has come although no request was outstanding'
    assert why in document["run"]["incomplete_why"]


def test_it_is_told_which_server_has_failed(netmodel: Netmodel, profile: WriteProfile) -> None:
    with serving(pong) as good, serving(lambda _number, _line: None) as bad:
        path = profile(asking("ping", f"server={good.place},{bad.place}", "nflows='2'"))
        assert f", server {bad.place})" in netmodel.measure(path, code=2)["run"]["incomplete_why"]


@pytest.mark.parametrize("flows", [1, 3])
def test_a_connection_to_a_server_for_each_request(flows: int, netmodel: Netmodel, profile: WriteProfile) -> None:
    with serving(pong) as one, serving(pong) as other:
        body = (
            f'<group nflows="{flows}"><transaction duration="200ms">'
            f'<flowop type="connect" options="server={one.place},{other.place} app=ping"/><flowop type="ping"/>'
            '<flowop type="disconnect"/></transaction></group>'
        )
        document = netmodel.measure(profile(body))
        assert_complete(document)
        passes = master_of(document)["groups"][0]["transactions"]
        assert sum(one.connections) + sum(other.connections) == passes > 10


def test_processes_ask_a_server(netmodel: Netmodel, profile: WriteProfile) -> None:
    with serving(pong) as server:
        document = netmodel.measure(profile(asking("ping", f"server={server.place}", "nprocs='2' nflows='4'")))
        assert_complete(document)
        assert sum(server.connections) == asked(document, 4) > 0


@pytest.mark.parametrize("connect", ["", "wndsz=4k"])
def test_long_lines_do_not_wait_for_each_other(connect: str, netmodel: Netmodel, profile: WriteProfile) -> None:
    """An answer goes out whole, and not in pieces of which each waits for the one before to be acknowledged."""
    document = netmodel.measure(profile(asking("echo", connect, options="size=64k")))
    assert_ends_agree(document)
    if not connect:
        assert phase_of(document, "ask")["latency_s"]["p50"] < 0.03
