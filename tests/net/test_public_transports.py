# SPDX-License-Identifier: Apache-2.0
"""netmodel's own servers over TLS, unix sockets and UDP, under clients that are not netmodel."""

from __future__ import annotations

import contextlib
import re
import socket
import ssl
import subprocess
import time
from pathlib import Path

import pytest

from certificates import Files, make
from nmtest import PATIENCE_S, Netmodel, defines, free_port
from partners import said
from publics import public


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    return make(tmp_path_factory.mktemp("certificates"))


# --- unix ---


def test_redis_over_unix(netmodel: Netmodel, tmp_path: Path) -> None:
    at = tmp_path / "redis.sock"
    with public(netmodel, "redis", path=at) as server:
        assert [said("redis-cli", "-s", str(at), *words).strip() for words in (("SET", "a", "b"), ("GET", "a"))] == ["OK", "b"]
        rows = said("redis-benchmark", "-s", str(at), "-t", "set,get", "-n", "2000", "-c", "20", "--csv")
    assert len(re.findall(r'^"(?:SET|GET)"', rows, re.MULTILINE)) == 2, rows
    verbs = server.verbs()
    assert (verbs["set"], verbs["get"]) == ({"ok": 2001}, {"hits": 2001})
    assert not at.exists(), "it is removed in the end"


def test_http_over_unix(netmodel: Netmodel, tmp_path: Path) -> None:
    at = tmp_path / "http.sock"
    with public(netmodel, "http", path=at) as server:
        shown = ["-s", "-o", "/dev/null", "-w", "%{http_code} %{size_download}"]
        assert said("curl", *shown, "--unix-socket", str(at), "http://localhost/bytes/70000") == "200 70000"
    assert server.verbs() == {"http": {"ok": 1}}


def test_a_path_that_a_server_has_left_is_taken(netmodel: Netmodel, tmp_path: Path) -> None:
    at = tmp_path / "left.sock"
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(at))
    with public(netmodel, "redis", path=at):
        assert said("redis-cli", "-s", str(at), "PING").strip() == "PONG"


def of_a_file(at: Path) -> contextlib.AbstractContextManager[object]:
    at.write_text("kept")
    return contextlib.nullcontext()


def of_a_server(at: Path) -> contextlib.AbstractContextManager[object]:
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(at))
    server.listen()
    return server


@pytest.mark.parametrize("taken", [of_a_file, of_a_server])
def test_a_path_that_somebody_has_is_left_alone(taken: object, netmodel: Netmodel, tmp_path: Path) -> None:
    at = tmp_path / "taken"
    assert callable(taken)
    with taken(at):
        before = at.lstat().st_ino  # to look whether it is in use changes its time
        result = netmodel.run("-m", "server", *defines(app="redis", unix="yes", path=at, test_length="1s"))
        assert at.lstat().st_ino == before
    assert result.code == 2
    assert re.search(rf"cannot listen for the accept at line \d+ at {at}: Address already in use\n", result.err), result.err


def test_a_file_that_is_another_servers_by_the_end_is_left_alone(netmodel: Netmodel, tmp_path: Path) -> None:
    at = tmp_path / "redis.sock"
    with public(netmodel, "redis", path=at):
        at.rename(tmp_path / "away")
        with of_a_server(at):
            before = at.lstat().st_ino
    assert at.lstat().st_ino == before


# --- TLS ---


def test_redis_over_tls(netmodel: Netmodel, files: Files) -> None:
    with public(netmodel, "redis", tls="yes", cert=files.cert, key=files.plain) as server:
        at = ["-p", str(server.port), "--tls", "--cacert", str(files.ca)]
        assert [said("redis-cli", *at, *words).strip() for words in (("SET", "a", "b"), ("GET", "a"))] == ["OK", "b"]
        rows = said("redis-benchmark", *at, "-t", "set,get", "-n", "1000", "-c", "10", "-P", "4", "--csv")
    assert len(re.findall(r'^"(?:SET|GET)"', rows, re.MULTILINE)) == 2, rows
    verbs = server.verbs()
    assert (verbs["set"], verbs["get"]) == ({"ok": 1001}, {"hits": 1001})


def test_http_over_tls(netmodel: Netmodel, files: Files) -> None:
    """Also where the server ends the connection: TLS is ended before."""
    with public(netmodel, "http", tls="yes", cert=files.cert, key=files.plain) as server:
        at = f"https://localhost:{server.port}/bytes/70000"
        shown = ["-s", "--cacert", str(files.ca), "-o", "/dev/null", "-w", "%{http_code} %{size_download}\n"]
        got = [said("curl", *shown, *more, at).strip() for more in ((), ("-H", "Connection: close"), ("--http1.0",))]
        context = ssl.create_default_context(cafile=str(files.ca))
        with socket.create_connection(("127.0.0.1", server.port), PATIENCE_S) as plain, context.wrap_socket(
            plain, server_hostname="localhost", suppress_ragged_eofs=False
        ) as client:
            client.sendall(b"GET /bytes/3 HTTP/1.1\r\nConnection: close\r\n\r\n")
            whole = b"".join(iter(lambda: client.recv(1000), b""))
    assert got == ["200 70000"] * 3
    assert whole.startswith(b"HTTP/1.1 200 OK\r\n")
    assert server.verbs() == {"http": {"ok": 4}}


def test_s_client_with_a_certificate_made_at_the_start(netmodel: Netmodel) -> None:
    with public(netmodel, "redis", tls="yes") as server:
        words = ["openssl", "s_client", "-quiet", "-connect", f"127.0.0.1:{server.port}"]
        with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as client:
            assert client.stdin
            assert client.stdout
            client.stdin.write(b"PING\r\n")
            client.stdin.flush()
            assert client.stdout.readline() == b"+PONG\r\n"
            client.terminate()
    assert server.verbs() == {"ping": {"ok": 1}}


def test_handshakes_that_fail_end_nothing(netmodel: Netmodel, files: Files) -> None:
    """One that speaks no TLS, one that goes at once, one that does not trust; and one that says nothing until the server ends."""
    how = {"tls": "yes", "cert": files.cert, "key": files.plain, "num_flows": 2}
    with contextlib.ExitStack() as kept, public(netmodel, "redis", **how) as server:
        for text in (b"PING\r\n", b"GET / HTTP/1.1\r\n\r\n", b""):
            with socket.create_connection(("127.0.0.1", server.port), PATIENCE_S) as client:
                client.sendall(text)
                client.shutdown(socket.SHUT_WR)
                client.settimeout(PATIENCE_S)
                with contextlib.suppress(ConnectionResetError):
                    while client.recv(100):
                        pass
        doubting = ssl.create_default_context(cafile=str(files.other))
        with socket.create_connection(("127.0.0.1", server.port), PATIENCE_S) as plain, pytest.raises(ssl.SSLError):
            doubting.wrap_socket(plain, server_hostname="localhost")
        kept.enter_context(socket.create_connection(("127.0.0.1", server.port), PATIENCE_S))
        assert said("redis-cli", "-p", str(server.port), "--tls", "--cacert", str(files.ca), "PING").strip() == "PONG"
    assert server.verbs() == {"ping": {"ok": 1}}
    assert server.connections == 1
    assert server.result["totals"]["errors"] == 4


# --- UDP ---


def test_dig(netmodel: Netmodel) -> None:
    """Each address of this host answers from itself."""
    with public(netmodel, "dns", udp="yes") as server:
        words = ["-p", str(server.port), "+tries=1", f"+time={int(PATIENCE_S)}", "+short", "www.example.com"]
        got = [said("dig", f"@{at}", *words).strip() for at in ("127.0.0.1", "127.0.0.2", "::1")]
        got.append(said("dig", "@127.0.0.1", *words, "AAAA").strip())
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
            client.sendto(b"no query", ("127.0.0.1", server.port))
        assert "status: NXDOMAIN" in said("dig", "@127.0.0.1", *words[:-2], "no.invalid")
    assert got == ["192.0.2.1"] * 3 + ["2001:db8::1"]
    assert server.verbs() == {"query": {"hits": 4, "misses": 1}, "other": {"malformed": 1}}


@pytest.mark.parametrize("clients", [1, 5])
def test_dnsperf(clients: int, netmodel: Netmodel, tmp_path: Path) -> None:
    n = 1000
    names = tmp_path / "names"
    names.write_text("www.example.com A\nno.invalid A\n")
    with public(netmodel, "dns", udp="yes", num_flows=1) as server:
        out = said("dnsperf", "-s", "127.0.0.1", "-p", str(server.port), "-d", str(names), "-n", str(n // 2), "-c", str(clients))
    assert re.search(rf"Queries completed: +{n} ", out), out
    assert re.search(rf"NOERROR {n // 2} \(50.00%\), NXDOMAIN {n // 2} ", out), out
    assert server.verbs() == {"query": {"hits": n // 2, "misses": n // 2}}


def test_the_time_of_a_server_over_udp_ends(netmodel: Netmodel) -> None:
    """And it serves again when the run is repeated."""
    port = free_port()
    words = ["-m", "server", *defines(app="dns", udp="yes", port=port, test_length="2s"), "--repeat", "2", "--format", "json"]
    with netmodel.started(*words) as process:
        answers = 0
        query = b"\0\7\1\0\0\1\0\0\0\0\0\0\1a\4test\0\0\1\0\1"
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
            client.connect(("127.0.0.1", port))
            client.settimeout(0.05)
            while process.running():
                with contextlib.suppress(TimeoutError, ConnectionRefusedError):
                    client.send(query)
                    client.recv(600)
                    answers += 1
                time.sleep(0.01)
        result = process.finish()
    assert result.code == 0, result
    counts = [run["totals"]["outcomes"]["hits"] for run in result.json()["repeat"]["runs"]]
    assert len(counts) == 2
    assert min(counts) > 0
    assert sum(counts) >= answers


# --- mistakes ---


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"unix": "yes"}, 'from="any": over unix it needs path=..., the file of the socket at which it listens'),
        ({"path": "/tmp/x"}, 'path="/tmp/x": only of accept with from=any, over unix'),
        ({"unix": "yes", "path": "x" * 108}, "must have 1 to 107 bytes"),
        ({"unix": "yes", "path": "/tmp/x", "port": 7}, 'port="7": unix has no ports'),
        ({"unix": "yes", "path": "/tmp/x", "fault": "reset(0.1)"}, "fault: no reset over unix, whose connections have an end alone"),
        ({"unix": "yes", "path": "/tmp/x", "num_threads": 2}, "over unix one worker serves all; nthreads must be 1"),
        ({"udp": "yes"}, 'app="redis": needs a stream, as tcp, mptcp, ssl or unix'),
        ({"udp": "yes", "app": "dns", "num_threads": 2}, "over udp one worker serves all; nthreads must be 1"),
        ({"udp": "yes", "app": "dns", "service": "1ms"}, "service: not over udp"),
        ({"udp": "yes", "app": "dns", "fault": "stall(0.1)"}, "fault: not over udp"),
    ],
)
def test_mistakes(params: dict[str, object], message: str, netmodel: Netmodel) -> None:
    result = netmodel.run("-m", "server", *defines(**{"app": "redis", "test_length": "1s", **params}))
    assert result.code == 1
    assert message in result.err, result.err


def test_a_certificate_without_tls_has_no_effect(netmodel: Netmodel) -> None:
    result = netmodel.run("-m", "server", "--check", *defines(cert="/nowhere"), code=0)
    assert 'cert="/nowhere" has no effect without tls=yes' in result.err
