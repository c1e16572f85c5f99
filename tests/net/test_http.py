# SPDX-License-Identifier: Apache-2.0
"""HTTP/1.1: netmodel at both ends, and as the client of nginx."""

from __future__ import annotations

import socket
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from nmtest import Netmodel, assert_complete, assert_ends_agree, defines, line_of, master_of, phase_of, slaves_of
from partners import nginx
from scripted import server_of
from webs import HTTP, LENGTH_0, asking, own, requests_of

WriteProfile = Callable[..., Path]


# --- netmodel at both ends ---


@pytest.mark.parametrize("name", ["http", "http_crr"])
@pytest.mark.parametrize("params", [{}, {"num_flows": 7, "num_threads": 2}, {"arrivals": "poisson(300/s)", "num_flows": 4}])
def test_both_ends(name: str, params: dict[str, object], netmodel: Netmodel) -> None:
    document = netmodel.measure(name, *defines(test_length="300ms", **params))
    assert_complete(document)
    assert_ends_agree(document)
    assert phase_of(document, "request" if name == "http" else "connect-request-close")["transactions"] > 10
    assert own(document)["refused"] == 0


@pytest.mark.parametrize("path", ["/bytes/5000", "/stream-bytes/50000"])
@pytest.mark.parametrize("protocol", ["tcp", "mptcp", "ssl", "unix"])
def test_streams(protocol: str, path: str, netmodel: Netmodel, profile: WriteProfile) -> None:
    document = netmodel.measure(profile(asking(f"path={path}", f"remotehost=local protocol={protocol}", "nflows='3'")))
    assert_ends_agree(document)


@pytest.mark.parametrize("size", [0, 1, 100, 70000, 3000000])
def test_bytes_of_both_ends(size: int, netmodel: Netmodel, profile: WriteProfile) -> None:
    head = f"GET /bytes/{size} HTTP/1.1\r\nHost: local\r\n\r\n"
    answer = f"HTTP/1.1 200 OK\r\nContent-Length: {size}\r\n\r\n"
    document = netmodel.measure(profile(asking(f"path=/bytes/{size}", transaction='iterations="5"')))
    assert_ends_agree(document)
    assert own(document)["bytes_sent"] == 5 * len(head)
    assert own(document)["bytes_received"] == 5 * (len(answer) + size)


@pytest.mark.parametrize("size", [0, 1, 10240, 10241, 3000000])
@pytest.mark.parametrize("pipeline", [1, 8])
def test_chunks_of_both_ends(size: int, pipeline: int, netmodel: Netmodel, profile: WriteProfile) -> None:
    """Chunks of 10 KiB, and the rest of them."""
    framing = size // 10240 * len("2800\r\n\r\n") + (len(f"{size % 10240:x}\r\n\r\n") if size % 10240 else 0) + len("0\r\n\r\n")
    answer = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    document = netmodel.measure(profile(asking(f"path=/stream-bytes/{size}", transaction=f'iterations="16" pipeline="{pipeline}"')))
    assert_complete(document)
    assert_ends_agree(document)
    assert own(document)["bytes_received"] == 16 * (len(answer) + framing + size)


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
        ("body=/nowhere size=1", "body: not with size: the body is the file"),
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
