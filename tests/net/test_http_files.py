# SPDX-License-Identifier: Apache-2.0
"""HTTP: requests whose paths and bodies are those of files."""

from __future__ import annotations

import os
import socket
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from nmtest import Netmodel, assert_complete, assert_ends_agree, defines, line_of, master_of
from partners import nginx
from scripted import server_of
from webs import HTTP, LENGTH_0, asking, own, requests_of

WriteProfile = Callable[..., Path]


def asked_for(heads: list[bytes]) -> list[str]:
    return [head.split()[1].decode() for head in heads]


def asked(netmodel: Netmodel, profile: WriteProfile, options: str, transaction: str, *args: str) -> list[str]:
    """The paths of the requests of one flow, in their order."""
    heads: list[bytes] = []

    def serve(conn: socket.socket, _number: int) -> None:
        for head in requests_of(conn):
            heads.append(head)
            conn.sendall(LENGTH_0)

    with server_of(serve) as server:
        assert_complete(netmodel.measure(profile(asking(options, f"server={server}", transaction=transaction)), *args))
    return asked_for(heads)


@pytest.fixture
def paths(tmp_path: Path) -> Callable[[str], Path]:
    def write(text: str) -> Path:
        (tmp_path / "paths").write_bytes(text.encode())
        return tmp_path / "paths"

    return write


# --- paths ---


def test_lines_of_all_kinds(netmodel: Netmodel, profile: WriteProfile, paths: Callable[[str], Path]) -> None:
    text = "\ufeff/first\r\n# comment\n\n  /blanks%20and\t 5 \n/q?a=b&c=%C3%a4;~ .5\r\n \t\r\n/" + "x" * 1023 + "\n/last"
    expected = ["/first", "/blanks%20and", "/q?a=b&c=%C3%a4;~", "/" + "x" * 1023, "/last"]
    assert asked(netmodel, profile, f"paths={paths(text)} law=sequential", 'iterations="10"') == expected * 2


@pytest.mark.parametrize("law", ["weights", "uniform", "zipf(0.9)"])
def test_paths_are_drawn_from_the_seed(law: str, netmodel: Netmodel, profile: WriteProfile, paths: Callable[[str], Path]) -> None:
    file = paths("".join(f"/{i} {i + 1}\n" for i in range(50)))
    seen = [asked(netmodel, profile, f"paths={file} law={law}", 'iterations="50"', "--seed", seed) for seed in ("1", "1", "2")]
    assert seen[0] == seen[1] != seen[2]
    assert len(set(seen[0])) > 5


@pytest.mark.parametrize(
    ("law", "shares"),
    [("weights", [0.7, 0.2, 0.1]), ("uniform", [1 / 3] * 3), ("zipf(1)", [6 / 11, 3 / 11, 2 / 11]), ("sequential", [1 / 3] * 3)],
)
@pytest.mark.parametrize("pipeline", [1, 4])
def test_nginx_sees_the_shares(law: str, shares: list[float], pipeline: int, netmodel: Netmodel, paths: Callable[[str], Path], tmp_path: Path) -> None:
    """Of 3000 requests with one seed: a share is within 5 of its standard deviations."""
    file = paths("/a 7\n/b 2\n/c\n")
    with nginx(tmp_path) as server:
        for name in "abc":
            (server.root / name).write_bytes(b"x")
        params = defines(server=server.server, paths=file, paths_law=law, num_flows=3, num_transactions=3000, test_length="60s", pipeline=pipeline)
        document = netmodel.measure("http", *params, "--seed", "5")
        assert_complete(document)
        seen = Counter(line[0].split()[1] for line in server.log() if line[1] == "200")
    assert seen.total() == own(document)["ok"] == 3000
    for path, share in zip(("/a", "/b", "/c"), shares, strict=True):
        assert abs(seen[path] - 3000 * share) <= 5 * (3000 * share * (1 - share)) ** 0.5


def test_paths_at_netmodels_server(netmodel: Netmodel, paths: Callable[[str], Path]) -> None:
    """Which has no file: a slave needs none."""
    file = paths("/bytes/10 3\n/stream-bytes/20000\n/nowhere\n")
    for name in ("http", "http_crr"):
        document = netmodel.measure(name, *defines(paths=file, num_flows=3, num_transactions=300, test_length="60s"))
        assert_complete(document)
        assert_ends_agree(document)
        assert 20 < own(document)["refused"] < 120


def test_an_open_loop_asks_for_the_same_paths(netmodel: Netmodel, paths: Callable[[str], Path]) -> None:
    """Whatever the number of flows."""
    file = paths("".join(f"/bytes/{i}\n" for i in range(1000)))
    sums = set()
    for flows in (1, 4):
        params = defines(paths=file, num_flows=flows, arrivals="const(200/s)", test_length="300ms")
        sums.add(master_of(netmodel.measure("http", *params, "--seed", "3"))["counts"]["load_sum"])
    assert len(sums) == 1


def test_a_million_paths(netmodel: Netmodel, paths: Callable[[str], Path]) -> None:
    file = paths("".join(f"/bytes/{i} {i % 9 + 1}\n" for i in range(1000000)))
    document = netmodel.measure("http", *defines(paths=file, method="HEAD", num_flows=2, num_transactions=1000, test_length="60s"))
    assert_complete(document)
    assert own(document)["ok"] == 1000 and own(document)["refused"] == 0


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "has no paths"),
        ("# nothing\n\r\n", "has no paths"),
        ("/a\nb\n", "line 2: column 1: a path must begin with /"),
        ("/a\n  http://h/b\n", "line 2: column 3: a path must begin with /"),
        ("/a\n/b#c\n", "line 2: column 3: a path must have visible ASCII characters alone, and no #"),
        ("/ä\n", "line 1: column 2: a path must have visible ASCII characters alone"),
        ("/a\x1b\n", "line 1: column 3: a path must have visible ASCII"),
        ("/" + "x" * 1024, "line 1: column 1025: a path must have 1024 bytes at most"),
        ("/100%\n", "line 1: column 5: a path has a % without two hexadecimal digits"),
        ("/%2\n", "line 1: column 2: a path has a %"),
        ("/%2g\n", "line 1: column 2: a path has a %"),
        ("/a b\n", 'line 1: column 4: weight "b": must be a number above 0, up to 1000000 (a blank of a path is %20)'),
        ("/a 0\n", 'line 1: column 4: weight "0": must be a number above 0'),
        ("/a -1\n", 'line 1: column 4: weight "-1": must be'),
        ("/a 1000001\n", 'line 1: column 4: weight "1000001": must be'),
        ("/a 1000000.5\n", 'line 1: column 4: weight "1000000.5": must be'),
        ("/a nan\n", 'line 1: column 4: weight "nan": must be'),
        ("/a 1 2\n", "line 1: column 6: there is more behind the weight"),
        ("/a\0b\n", "line 1: has a byte that is zero: it is no text"),
    ],
)
def test_mistakes_in_a_file_of_paths(text: str, why: str, netmodel: Netmodel, profile: WriteProfile, paths: Callable[[str], Path]) -> None:
    file = paths(text)
    path = profile(asking(f"paths={file}"))
    result = netmodel.run("-m", path, "--check", code=1)
    assert f'{path}:{line_of(path, HTTP)}: error: <flowop http> paths="{file}": {why}' in result.err


@pytest.mark.parametrize("law", ["", "zipf", "zipf(x)", "zipf(11)", "weight", "poisson(3)"])
def test_laws_that_are_none(law: str, netmodel: Netmodel, profile: WriteProfile) -> None:
    path = profile(asking(f"path=/ law={law}"))
    result = netmodel.run("-m", path, "--check", code=1)
    assert f'error: <flowop http> law="{law}": must be weights, uniform, zipf(S)' in result.err


@pytest.mark.parametrize("option", ["paths", "body"])
def test_files_that_cannot_be_read(option: str, netmodel: Netmodel, profile: WriteProfile, tmp_path: Path) -> None:
    """A pipe is not waited for."""
    os.mkfifo(tmp_path / "pipe")
    reasons = {
        tmp_path: "Is a directory",
        tmp_path / "pipe": "is no regular file",
        Path("/dev/zero"): "is no regular file",
        tmp_path / "none": "No such file or directory",
    }
    for file, why in reasons.items():
        result = netmodel.run("-m", profile(asking(f"{option}={file}")), "--check", code=1)
        assert f'{option}="{file}": {why}' in result.err


def test_a_path_that_is_too_long_for_netmodels_server(netmodel: Netmodel, profile: WriteProfile, paths: Callable[[str], Path]) -> None:
    """The longest of the file counts; it takes all that is let through."""
    field = f'<header name="X" value="{"y" * 960}"/>'
    for length, code in ((1000, 0), (1020, 1)):
        text = asking(f"paths={paths('/bytes/3' + chr(10) + '/' + 'z' * (length - 1))}", transaction='iterations="50"')
        text = text.replace('"/></transaction>\n<transaction><flowop type="disconnect"', f'">{field}</flowop></transaction>\n<transaction><flowop type="disconnect"')
        result = netmodel.run("-m", profile(text), code=code)
        assert ("netmodel's own server takes 2008 bytes of a request's line and fields at most" in result.err) == (code == 1)


# --- bodies ---


@pytest.mark.parametrize("size", [0, 1, 70000, 3000000])
@pytest.mark.parametrize("method", ["POST", "PUT"])
def test_the_body_is_the_file(method: str, size: int, netmodel: Netmodel, profile: WriteProfile, tmp_path: Path) -> None:
    """As it was before the run, whatever becomes of it."""
    body = os.urandom(size)
    (tmp_path / "body").write_bytes(body)
    got: list[tuple[bytes, bytes]] = []

    def serve(conn: socket.socket, _number: int) -> None:
        with conn.makefile("rb") as stream:
            while first := stream.readline():
                fields = dict(line.rstrip().split(b": ", 1) for line in iter(stream.readline, b"\r\n"))
                got.append((first, stream.read(int(fields[b"Content-Length"]))))
                (tmp_path / "body").write_bytes(b"another")
                conn.sendall(LENGTH_0)

    with server_of(serve) as server:
        text = asking(f"method={method} path=/a body={tmp_path / 'body'}", f"server={server}", transaction='iterations="3"')
        document = netmodel.measure(profile(text))
    assert_complete(document)
    assert got == [(f"{method} /a HTTP/1.1\r\n".encode(), body)] * 3


@pytest.mark.parametrize("protocol", ["tcp", "ssl", "unix"])
@pytest.mark.parametrize("pipeline", [1, 3])
def test_bodies_at_netmodels_server(protocol: str, pipeline: int, netmodel: Netmodel, profile: WriteProfile, tmp_path: Path) -> None:
    (tmp_path / "body").write_bytes(bytes(100000))
    text = asking(
        f"method=POST path=/bytes/5 host=h body={tmp_path / 'body'}",
        f"remotehost=local protocol={protocol}",
        "nflows='3'",
        f'iterations="20" pipeline="{pipeline}"',
    )
    document = netmodel.measure(profile(text))
    assert_complete(document)
    assert_ends_agree(document)
    assert own(document)["bytes_sent"] == 60 * (len(b"POST /bytes/5 HTTP/1.1\r\nHost: h\r\nContent-Length: 100000\r\n\r\n") + 100000)


def test_nginx_stores_the_body(netmodel: Netmodel, paths: Callable[[str], Path], tmp_path: Path) -> None:
    """Under the paths of a file, from which each request draws its own."""
    body = os.urandom(200000)
    (tmp_path / "body").write_bytes(body)
    file = paths("/a\n/b\n")
    with nginx(tmp_path, "dav_methods PUT;", "client_max_body_size 1m;") as server:
        params = defines(server=server.server, method="PUT", paths=file, paths_law="sequential", body=tmp_path / "body", num_transactions=10, test_length="60s")
        document = netmodel.measure("http", *params, "-D", "num_flows=1")
        assert_complete(document)
        assert own(document)["ok"] == 10 and own(document)["refused"] == 0
        assert [(server.root / name).read_bytes() == body for name in "ab"] == [True, True]


def test_bodies_that_cannot_be_sent(netmodel: Netmodel, profile: WriteProfile, tmp_path: Path) -> None:
    file = tmp_path / "body"
    with file.open("wb") as sparse:
        sparse.truncate((256 << 20) + 1)
    result = netmodel.run("-m", profile(asking(f"method=POST body={file}")), "--check", code=1)
    assert f'body="{file}": has 268435457 bytes: a body must have 268435456 at most' in result.err
