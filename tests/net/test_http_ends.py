# SPDX-License-Identifier: Apache-2.0
"""HTTP/1.1: servers that end connections, and answer early, wrongly or not at all."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from nmtest import Netmodel, assert_complete, line_of
from scripted import server_of
from webs import HTTP, LENGTH_0, asking, own, requests_of

WriteProfile = Callable[..., Path]


def test_a_connection_that_ends_without_a_word(netmodel: Netmodel, profile: WriteProfile) -> None:
    """The request that was on its way is sent once more, over another connection."""

    def serve(conn: socket.socket, _number: int) -> None:
        for count, _ in enumerate(requests_of(conn)):
            if count == 3:
                return
            conn.sendall(LENGTH_0)

    with server_of(serve) as server:
        document = netmodel.measure(profile(asking("", f"server={server}", "nflows='2'", 'iterations="40"')))
    assert_complete(document)
    assert own(document)["connects"] == 28, "of three answers each, for 40 requests of each flow"


def closing(after: int, seen: list[tuple[int, bytes]], end: bytes = b"") -> Callable[[socket.socket, int], None]:
    """A server that ends each connection after so many answers; the last of them is sent with `end`, and with the end of the stream in one segment."""

    def serve(conn: socket.socket, number: int) -> None:
        for count, head in enumerate(requests_of(conn), 1):
            seen.append((number, head.split(b" ")[1]))
            if count == after:
                conn.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 1)
                conn.sendall(LENGTH_0.replace(b"\r\n\r\n", b"\r\n" + end + b"\r\n"))
                return
            conn.sendall(LENGTH_0)

    return serve


@pytest.mark.parametrize("flows", [1, 3])
def test_it_is_opened_to_the_server_that_it_went_to(flows: int, netmodel: Netmodel, profile: WriteProfile) -> None:
    one: list[tuple[int, bytes]] = []
    other: list[tuple[int, bytes]] = []
    with server_of(closing(1000, one)) as a, server_of(closing(5, other)) as b:
        body = "".join(
            f'<transaction><flowop type="connect" options="app=http server={place}"/></transaction>'
            f'<transaction iterations="20"><flowop type="http" options="path={path}"/></transaction>'
            '<transaction><flowop type="disconnect"/></transaction>'
            for place, path in ((a, "/a"), (b, "/b"))
        )
        document = netmodel.measure(profile(f'<group nflows="{flows}">{body}</group>'))
    assert_complete(document)
    assert {path for _, path in one} == {b"/a"} and {path for _, path in other} == {b"/b"}
    assert len(one) == 20 * flows


def test_several_connections_of_a_flow(netmodel: Netmodel, profile: WriteProfile) -> None:
    seen: list[tuple[int, bytes]] = []
    with server_of(closing(3, seen, b"Connection: close\r\n")) as server:
        body = (
            f'<group><transaction iterations="4"><flowop type="connect" options="app=http server={server}"/></transaction>'
            '<transaction iterations="4"><flowop type="http" options="path=/x count=5"/></transaction>'
            '<transaction iterations="4"><flowop type="disconnect"/></transaction></group>'
        )
        document = netmodel.measure(profile(body))
    assert_complete(document)
    assert len(seen) == 20, "all of them over the connection that was opened last"
    assert own(document)["connects"] == 3 + 7


@pytest.mark.parametrize("wait", ["sleep", "spin"])
@pytest.mark.parametrize("flows", [1, 3])
def test_what_the_server_says_in_its_last_answer_is_heeded(flows: int, wait: str, netmodel: Netmodel, profile: WriteProfile) -> None:
    """So that no request is lost, also one that changes something."""
    seen: list[tuple[int, bytes]] = []
    with server_of(closing(2, seen, b"Connection: close\r\n")) as server:
        attributes = f"nflows='{flows}' wait='{wait}'"
        path = profile(asking("method=POST", f"server={server}", attributes, 'iterations="20"'))
        document = netmodel.measure(path)
    assert_complete(document)
    assert len(seen) == 20 * flows
    assert own(document)["connects"] == 10 * flows
    assert document["hosts"][0]["counts"]["reissued"] == 0


def test_an_end_that_is_known_costs_no_request(netmodel: Netmodel, profile: WriteProfile) -> None:
    """It comes while the flow thinks."""
    seen: list[tuple[int, bytes]] = []
    with server_of(closing(2, seen)) as server:
        body = asking("method=POST", f"server={server}", "nflows='2'", 'iterations="4"').replace(
            "</transaction>\n<transaction><flowop type=\"disc", '<flowop type="think" options="duration=30ms"/></transaction>\n<transaction><flowop type="disc'
        )
        document = netmodel.measure(profile(body))
    assert_complete(document)
    assert len(seen) == 8
    assert own(document)["connects"] == 4


def test_an_answer_before_all_of_the_request(netmodel: Netmodel, profile: WriteProfile) -> None:
    """The rest of it is not sent."""

    def serve(conn: socket.socket, _number: int) -> None:
        conn.recv(1000)
        conn.sendall(b"HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")

    with server_of(serve) as server:
        path = profile(asking("method=PUT size=20m", f"server={server}", transaction='iterations="4"'))
        document = netmodel.measure(path)
    assert_complete(document)
    assert own(document)["refused"] == own(document)["connects"] == 4


@pytest.mark.parametrize("can_fail", ["", "canfail"])
def test_a_connection_that_cannot_be_opened_anew(can_fail: str, netmodel: Netmodel, profile: WriteProfile) -> None:
    """The limit of connect holds, and the message has its place."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=1)
    held: list[socket.socket] = []

    def listen() -> None:
        listener.accept()[0].close()  # the one that looks for the server
        conn, _ = listener.accept()
        with conn:
            next(requests_of(conn), None)
            for _ in range(6):  # no more connections have room
                waiting = socket.socket()
                waiting.setblocking(False)
                waiting.connect_ex(listener.getsockname())
                held.append(waiting)
            conn.sendall(LENGTH_0.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))

    thread = threading.Thread(target=listen, daemon=True)
    thread.start()
    place = f"127.0.0.1:{listener.getsockname()[1]}"
    path = profile(asking("", f"server={place} timeout=300ms {can_fail}", transaction='duration="20s"'))
    said = netmodel.measure(path, code=2)["run"]["incomplete_why"]
    thread.join(10)
    for conn in (listener, *held):
        conn.close()
    assert f"flowop connect at {path}:{line_of(path, 'connect')}: no connection within timeout=300ms" in said and place in said


@pytest.mark.parametrize("flows", [1, 2])
def test_the_end_of_the_stream_ends_an_answer(flows: int, netmodel: Netmodel, profile: WriteProfile) -> None:
    def serve(conn: socket.socket, _number: int) -> None:
        next(requests_of(conn), None)
        for piece in (b"HTTP/1.0 200 OK\r\n\r\n", b"some ", b"text"):
            conn.sendall(piece)

    with server_of(serve) as server:
        path = profile(asking("", f"server={server}", f"nflows='{flows}'", 'iterations="20"'))
        document = netmodel.measure(path)
    assert_complete(document)
    assert own(document)["connects"] == 20 * flows
    assert own(document)["bytes_received"] == 20 * flows * 28


def test_a_request_that_changes_something_is_not_sent_twice(netmodel: Netmodel, profile: WriteProfile) -> None:
    def serve(conn: socket.socket, _number: int) -> None:
        requests = requests_of(conn)
        next(requests, None)
        conn.sendall(LENGTH_0)
        next(requests, None)

    with server_of(serve) as server:
        path = profile(asking("method=POST", f"server={server}"))
        document = netmodel.measure(path, code=2)
    assert f"flowop http at {path}:{line_of(path, HTTP)}: Connection reset by peer" in document["run"]["incomplete_why"]


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (b"", "Connection reset by peer"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc", "Connection reset by peer"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", '"SSH-2.0-OpenSSH_9.2" has come, which is no answer of app=http'),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nmore", '"more" has come although no request was outstanding'),
    ],
)
def test_bad_answers(answer: bytes, why: str, netmodel: Netmodel, profile: WriteProfile) -> None:
    def serve(conn: socket.socket, _number: int) -> None:
        next(requests_of(conn), None)
        conn.sendall(answer)

    with server_of(serve) as server:
        document = netmodel.measure(profile(asking("", f"server={server}")), code=2)
    assert why in document["run"]["incomplete_why"]


def test_a_server_that_is_gone(netmodel: Netmodel, profile: WriteProfile) -> None:
    """What cannot be opened anew ends the run, and the message has the line of the connect."""
    listener = socket.create_server(("127.0.0.1", 0))

    def listen() -> None:
        listener.accept()[0].close()  # the one that looks for the server
        conn, _ = listener.accept()
        with conn:
            next(requests_of(conn), None)
            listener.close()
            conn.sendall(LENGTH_0.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))

    thread = threading.Thread(target=listen, daemon=True)
    thread.start()
    place = "127.0.0.1:%d" % listener.getsockname()[1]
    path = profile(asking("", f"server={place}"))
    document = netmodel.measure(path, code=2)
    thread.join(10)
    said = document["run"]["incomplete_why"]
    assert f"flowop connect at {path}:{line_of(path, 'connect')}: Connection refused" in said and place in said
