# SPDX-License-Identifier: Apache-2.0
"""HTTP/1.1: netmodel at both ends, and as the client of nginx and of servers that end connections."""

from __future__ import annotations

import socket
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from nmtest import Json, Netmodel, assert_complete, assert_ends_agree, defines, line_of, master_of, phase_of, slaves_of
from partners import nginx
from scripted import server_of

WriteProfile = Callable[..., Path]
HTTP = 'type="http"'
LENGTH_0 = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"


def asking(http: str, connect: str = "remotehost=local", attributes: str = "", transaction: str = 'duration="200ms"') -> str:
    return (
        f'<group {attributes}>\n<transaction><flowop type="connect" options="app=http {connect}"/></transaction>\n'
        f'<transaction name="ask" {transaction}>\n<flowop type="http" options="{http}"/></transaction>\n'
        '<transaction><flowop type="disconnect"/></transaction></group>'
    )


def own(document: Json) -> Json:
    group: Json = master_of(document)["groups"][0]
    return group


def requests_of(conn: socket.socket) -> Iterator[bytes]:
    """The heads of requests without a body."""
    got = b""
    while some := conn.recv(65536):
        got += some
        while b"\r\n\r\n" in got:
            head, _, got = got.partition(b"\r\n\r\n")
            yield head


# --- netmodel at both ends ---


@pytest.mark.parametrize("name", ["http", "http_crr"])
@pytest.mark.parametrize("params", [{}, {"num_flows": 7, "num_threads": 2}, {"arrivals": "poisson(300/s)", "num_flows": 4}])
def test_both_ends(name: str, params: dict[str, object], netmodel: Netmodel) -> None:
    document = netmodel.measure(name, *defines(test_length="300ms", **params))
    assert_complete(document)
    assert_ends_agree(document)
    assert phase_of(document, "request" if name == "http" else "connect-request-close")["transactions"] > 10
    assert own(document)["refused"] == 0


@pytest.mark.parametrize("protocol", ["tcp", "mptcp", "ssl", "unix"])
def test_streams(protocol: str, netmodel: Netmodel, profile: WriteProfile) -> None:
    document = netmodel.measure(profile(asking("path=/bytes/5000", f"remotehost=local protocol={protocol}", "nflows='3'")))
    assert_ends_agree(document)


@pytest.mark.parametrize("size", [0, 1, 100, 70000, 3000000])
def test_bytes_of_both_ends(size: int, netmodel: Netmodel, profile: WriteProfile) -> None:
    head = f"GET /bytes/{size} HTTP/1.1\r\nHost: local\r\n\r\n"
    answer = f"HTTP/1.1 200 OK\r\nContent-Length: {size}\r\n\r\n"
    document = netmodel.measure(profile(asking(f"path=/bytes/{size}", transaction='iterations="5"')))
    assert_ends_agree(document)
    assert own(document)["bytes_sent"] == 5 * len(head)
    assert own(document)["bytes_received"] == 5 * (len(answer) + size)


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"])
def test_methods_and_bodies(method: str, netmodel: Netmodel, profile: WriteProfile) -> None:
    document = netmodel.measure(profile(asking(f"method={method} path=/bytes/300 size=uniform(0,200000)", attributes="nflows='3'")))
    assert_ends_agree(document)
    assert own(document)["refused"] == 0


def test_what_is_not_found_is_refused(netmodel: Netmodel, profile: WriteProfile) -> None:
    document = netmodel.measure(profile(asking("path=/nowhere", transaction='iterations="20"')))
    assert_ends_agree(document)
    assert own(document)["refused"] == slaves_of(document)[0]["groups"][0]["refused"] == 20


def test_what_is_expected_is_a_refusal_to_the_server(netmodel: Netmodel, profile: WriteProfile) -> None:
    """Which does not know what the profile says: the ends agree all the same."""
    document = netmodel.measure(profile(asking("path=/nowhere expect=404", transaction='iterations="20"')))
    assert_ends_agree(document)
    assert own(document)["ok"] == slaves_of(document)[0]["groups"][0]["refused"] == 20


# --- nginx ---


@pytest.mark.parametrize("flows", [1, 7])
def test_nginx_has_answered_as_many(flows: int, netmodel: Netmodel, tmp_path: Path) -> None:
    with nginx(tmp_path) as server:
        (server.root / "file").write_bytes(b"x" * 20000)
        document = netmodel.measure("http", *defines(server=server.server, path="/file", num_flows=flows, test_length="300ms"))
        assert_complete(document)
        requests = Counter(tuple(line[:2]) for line in server.log())
    assert requests == {("GET /file HTTP/1.1", "200"): own(document)["transactions"] - 2 * flows}
    assert own(document)["bytes_received"] > requests.total() * 20000
    assert own(document)["refused"] == 0


@pytest.mark.parametrize(
    ("expect", "well"),
    [("", {200, 301}), ("expect=200", {200}), ("expect=404,503", {404, 503}), ("expect=3xx,200", {200, 301}), ("expect=2xx,3xx,4xx,5xx", {200, 301, 404, 503})],
)
def test_what_is_expected_is_answered_well(expect: str, well: set[int], netmodel: Netmodel, profile: WriteProfile, tmp_path: Path) -> None:
    statuses = {"/file": 200, "/moved": 301, "/nowhere": 404, "/down": 503}
    with nginx(tmp_path, "location = /moved { return 301 /file; }", "location = /down { return 503; }") as server:
        (server.root / "file").write_bytes(b"x")
        for path, status in statuses.items():
            document = netmodel.measure(profile(asking(f"path={path} {expect}", f"server={server.server}", transaction='iterations="9"')))
            assert_complete(document)
            assert (own(document)["ok"], own(document)["refused"]) == ((9, 0) if status in well else (0, 9))
        assert Counter(line[1] for line in server.log()) == {str(status): 9 for status in statuses.values()}


@pytest.mark.parametrize("expect", ["", "99", "199", "600", "2x", "6xx", "200,x", ",200", "200-299", "2000"])
def test_what_cannot_be_expected(expect: str, netmodel: Netmodel, profile: WriteProfile) -> None:
    path = profile(asking(f"path=/ expect={expect}"))
    refused = netmodel.run("-m", path, code=1)
    assert f"{path}:{line_of(path, HTTP)}: error: <flowop http> expect=" in refused.err
    assert expect in refused.err


def with_headers(text: str, *fields: tuple[str, str]) -> str:
    """The flowop http has these elements."""
    begin, http, rest = text.partition('<flowop type="http"')
    inside = "".join(f'\n<header name="{name}" value="{value}"/>' for name, value in fields)
    return begin + http + rest.replace("/>", f">{inside}</flowop>", 1)


def test_what_other_servers_have_is_deleted_on_request(netmodel: Netmodel, profile: WriteProfile, tmp_path: Path) -> None:
    with nginx(tmp_path) as server:
        path = profile(asking("method=DELETE path=/file", f"server={server.server}", transaction='iterations="1"'))
        refused = netmodel.run("-m", path, code=1).err
        assert f"{path}:{line_of(path, HTTP)}: error: <flowop http>: DELETE may take away what a server has that netmodel has not started: needs --yes-destroy" in refused
        assert not server.log()
        assert_complete(netmodel.measure(path, "--yes-destroy"))
        assert [line[:2] for line in server.log()] == [["DELETE /file HTTP/1.1", "405"]]


def test_fields_come_in_their_order(netmodel: Netmodel, profile: WriteProfile) -> None:
    """Behind those that netmodel has, and before the length of a body."""
    heads: list[bytes] = []

    def serve(conn: socket.socket, _number: int) -> None:
        heads.append(conn.recv(65536))
        conn.sendall(LENGTH_0)
        conn.recv(1)

    fields = (("Accept", "text/html, */*;q=0.1"), ("X-Empty", ""), ("accept", "b"))
    with server_of(serve) as server:
        text = asking("path=/a method=POST", f"server={server}", transaction='iterations="1"')
        assert_complete(netmodel.measure(profile(with_headers(text, *fields))))
    asked = b"POST /a HTTP/1.1\r\nHost: " + server.encode() + b"\r\nAccept: text/html, */*;q=0.1\r\nX-Empty: \r\naccept: b\r\nContent-Length: 0\r\n\r\n"
    assert asked in heads


def test_nginx_reads_a_field(netmodel: Netmodel, profile: WriteProfile, tmp_path: Path) -> None:
    """It answers with the range that is asked for, and refuses what has no right name."""
    with nginx(tmp_path, "location = /file { if ($http_x_token != 'a b') { return 403; } }") as server:
        (server.root / "file").write_bytes(b"x" * 100)
        text = asking("path=/file expect=206", f"server={server.server}", transaction='iterations="9"')
        for token, outcome in (("a b", "ok"), ("a", "refused")):
            document = netmodel.measure(profile(with_headers(text, ("X-Token", token), ("Range", "bytes=0-9"))))
            assert_complete(document)
            assert own(document)[outcome] == 9
        assert Counter(line[1] for line in server.log()) == {"206": 9, "403": 9}


def test_netmodels_server_takes_fields(netmodel: Netmodel, profile: WriteProfile) -> None:
    fields = [(f"X-{i}", "y" * 100) for i in range(15)]
    document = netmodel.measure(profile(with_headers(asking("path=/bytes/300", attributes="nflows='3'"), *fields)))
    assert_ends_agree(document)
    assert own(document)["refused"] == 0


def test_the_longest_head_of_netmodels_server(netmodel: Netmodel, profile: WriteProfile) -> None:
    """It takes all that is let through, also with a body, and more is refused before the run."""
    begin = len("POST /bytes/3 HTTP/1.1\r\nHost: local\r\nX: \r\n")
    text = asking("path=/bytes/3 method=POST size=9", attributes="nflows='3'")
    document = netmodel.measure(profile(with_headers(text, ("X", "y" * (2008 - begin)))))
    assert_ends_agree(document)
    assert own(document)["refused"] == 0
    path = profile(with_headers(text, ("X", "y" * (2009 - begin))))
    refused = netmodel.run("-m", path, code=1).err
    assert f"{path}:{line_of(path, HTTP)}: error: <flowop http>: netmodel's own server takes 2008 bytes" in refused
    assert "these have 2009" in refused


@pytest.mark.parametrize("fields", [2048, 2049])
def test_the_most_fields(fields: int, netmodel: Netmodel, profile: WriteProfile, tmp_path: Path) -> None:
    """Two lines, and each request of a mix has its own."""
    with nginx(tmp_path, "location /a { if ($http_x = '') { return 403; } } location /b { if ($http_x != '') { return 403; } }") as server:
        for name in "ab":
            (server.root / name).write_bytes(b"x")
        asks = asking("path=/a", f"server={server.server}", transaction='iterations="40"')
        both = with_headers(asks, ("Y", "é" * 500), ("X", "y" * (fields - 1005 - 5)))
        mixed = both.replace("<flowop type=\"http\"", "<mix><flowop type=\"http\" options=\"path=/b\"/><flowop type=\"http\"", 1)
        path = profile(mixed.replace("</flowop></transaction>", "</flowop></mix></transaction>", 1))
        if fields > 2048:
            assert "all fields together may have 2048 bytes" in netmodel.run("-m", path, code=1).err
            return
        document = netmodel.measure(path)
        assert_complete(document)
        assert own(document)["refused"] == 0
        assert {line[0] for line in server.log()} == {"GET /a HTTP/1.1", "GET /b HTTP/1.1"}


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("", "x", "must be a word of letters, digits and hyphens"),
        ("A b", "x", "must be a word of letters, digits and hyphens"),
        ("A:", "x", "must be a word of letters, digits and hyphens"),
        ("HOST", "x", "is netmodel's own"),
        ("Content-Length", "7", "is netmodel's own: host=, size= and keep= say what it is"),
        ("X", "a&#13;&#10;Y: b", "has a value with control characters"),
        ("X", "y" * 2048, "all fields together may have 2048 bytes"),
    ],
)
def test_fields_that_are_none(name: str, value: str, why: str, netmodel: Netmodel, profile: WriteProfile) -> None:
    path = profile(with_headers(asking("path=/"), (name, value)))
    refused = netmodel.run("-m", path, code=1).err
    assert f'{path}:{line_of(path, "<header")}: error: <header> name="{name}": ' in refused
    assert why in refused


def test_only_http_has_fields(netmodel: Netmodel, profile: WriteProfile) -> None:
    path = profile(asking("path=/").replace('<flowop type="disconnect"/>', '<flowop type="disconnect"><header name="a" value="b"/></flowop>'))
    assert "<header> inside <flowop disconnect>: only http has fields" in netmodel.run("-m", path, code=1).err


@pytest.mark.parametrize("flows", [1, 7])
def test_a_connection_to_nginx_lasts_for_some_requests(flows: int, netmodel: Netmodel, tmp_path: Path) -> None:
    """It says so in its last answer, and nothing is lost."""
    with nginx(tmp_path, "keepalive_requests 5;") as server:
        (server.root / "file").write_bytes(b"x")
        params = defines(server=server.server, path="/file", num_flows=flows, num_transactions=203)
        document = netmodel.measure("http", *params)
        assert_complete(document)
        lines = server.log()
    of_connections = Counter(line[3] for line in lines)
    assert len(lines) == 203
    assert set(of_connections.values()) <= {1, 2, 3, 4, 5}
    assert own(document)["connects"] == len(of_connections) >= 203 / 5


def test_a_connection_to_nginx_for_each_request(netmodel: Netmodel, tmp_path: Path) -> None:
    with nginx(tmp_path) as server:
        (server.root / "file").write_bytes(b"x")
        document = netmodel.measure("http_crr", *defines(server=server.server, path="/file", num_flows=3, num_transactions=50))
        assert_complete(document)
        assert len({line[3] for line in server.log()}) == len(server.log()) == 50
        document = netmodel.measure("http_crr", *defines(server=server.server, path="/none", num_flows=3, num_transactions=50))
    assert own(document)["refused"] == 50


def test_keep_no_at_a_server_needs_no_disconnect(netmodel: Netmodel, profile: WriteProfile, tmp_path: Path) -> None:
    with nginx(tmp_path) as server:
        (server.root / "file").write_bytes(b"x")
        document = netmodel.measure(profile(asking("path=/file keep=no", f"server={server.server}", transaction='iterations="30"')))
        assert_complete(document)
        assert len({line[3] for line in server.log()}) == 30 == own(document)["connects"]


def test_bodies_reach_nginx(netmodel: Netmodel, profile: WriteProfile, tmp_path: Path) -> None:
    with nginx(tmp_path, "client_max_body_size 1m; dav_methods PUT;") as server:
        path = profile(asking("path=/new method=PUT size=150000", f"server={server.server}", transaction='iterations="9"'))
        document = netmodel.measure(path)
        assert_complete(document)
        statuses = {tuple(line[:3]) for line in server.log()}
        assert (server.root / "new").stat().st_size == 150000
    assert statuses == {("PUT /new HTTP/1.1", "201", "150000"), ("PUT /new HTTP/1.1", "204", "150000")}


def test_chunks_of_nginx(netmodel: Netmodel, profile: WriteProfile, tmp_path: Path) -> None:
    """With server-side includes the length is not known before."""
    with nginx(tmp_path, "ssi on; ssi_types text/plain;") as server:
        (server.root / "page").write_text('<!--# echo var="request_uri" -->' * 500)
        document = netmodel.measure(profile(asking("path=/page host=a.example", f"server={server.server}", "nflows='2'")))
        assert_complete(document)
        assert own(document)["bytes_received"] > own(document)["transactions"] * 1000
        assert own(document)["connects"] == 2, "each answer has an end of its own"


# --- servers that end connections ---


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


# --- mistakes ---


@pytest.mark.parametrize(
    ("http", "why"),
    [
        ("path=index.html", 'path="index.html": must begin with /'),
        ("path=/a#b", "must have visible ASCII characters alone, and no #"),
        (f"path=/{'x' * 1024}", "must have 1024 bytes at most"),
        ("host=a/b", 'host="a/b": must be a name or an address'),
        ("method=FETCH", "must be GET, HEAD, OPTIONS, POST, PUT, PATCH or DELETE"),
        ("keep=no", "keep=no: the connection to netmodel's own server must be closed by a disconnect right behind the request"),
        ("size=2g", 'size="2g": must be 0 to 1073741824 (1.00 GiB)'),
    ],
)
def test_mistakes(http: str, why: str, netmodel: Netmodel, profile: WriteProfile) -> None:
    path = profile(asking(http))
    result = netmodel.run("-m", path, "--check", code=1)
    assert f"{path}:{line_of(path, HTTP)}: error: " in result.err and why in result.err


def test_a_body_of_5_gib(netmodel: Netmodel, profile: WriteProfile) -> None:
    """Counts have 64 bits, and memory does not grow with what comes."""
    size, piece = 5 << 30, bytes(1 << 20)

    def serve(conn: socket.socket, _number: int) -> None:
        for _ in requests_of(conn):
            conn.sendall(f"HTTP/1.1 200 OK\r\nContent-Length: {size}\r\n\r\n".encode())
            for _ in range(size // len(piece)):
                conn.sendall(piece)

    with server_of(serve) as server:
        document = netmodel.measure(profile(asking("", f"server={server}", "", 'iterations="1"')))
    assert_complete(document)
    assert own(document)["ok"] == 1
    assert own(document)["bytes_received"] == size + len(f"HTTP/1.1 200 OK\r\nContent-Length: {size}\r\n\r\n")
    # The peak of the process that has started the program counts as its own (getrusage(2)): this one's, which may be large.
    assert master_of(document)["rusage"]["maxrss_kb"] < 1 << 20
