# SPDX-License-Identifier: Apache-2.0
"""netmodel's own servers under clients that are not netmodel: both count the same."""

from __future__ import annotations

import contextlib
import re
import resource
import socket
import struct
import time
from pathlib import Path

import pytest

from nmtest import PATIENCE_S, Netmodel, free_port, wait_until
from partners import said
from publics import ask, listens, public


def test_redis_cli(netmodel: Netmodel) -> None:
    with public(netmodel, "redis") as server:
        cli = ["redis-cli", "-p", str(server.port)]
        words = [("PING",), ("SET", "a", "b"), ("GET", "a"), ("GET", "none"), ("EXISTS", "a"), ("DEL", "a"), ("EXISTS", "a")]
        words += [("SELECT", "0"), ("SELECT", "1"), ("HGET", "a", "b")]
        answers = [said(*cli, *of).strip() for of in words]
    assert answers[:8] == ["PONG", "OK", "b", "", "1", "1", "0", "OK"]
    assert all(answer.startswith("ERR unknown command") for answer in answers[8:])
    assert server.verbs() == {
        "ping": {"ok": 1}, "set": {"ok": 1}, "get": {"hits": 1, "misses": 1}, "delete": {"hits": 1}, "other": {"ok": 3, "refused": 2},
    }  # fmt: skip
    assert server.connections == 10


def test_redis_in_resp3(netmodel: Netmodel) -> None:
    """Each connection begins in RESP2, and HELLO changes that until its end, or back."""
    words = b"HELLO\r\nHELLO 3\r\nGET no\r\nHELLO 4\r\nHELLO\r\nHELLO 2\r\nGET no\r\n"
    two, three = (b"%b\r\n$6\r\nserver\r\n$8\r\nnetmodel\r\n$5\r\nproto\r\n:%d\r\n" % how for how in ((b"*4", 2), (b"%2", 3)))
    whole = two + three + b"_\r\n-NOPROTO unsupported protocol version\r\n" + three + two + b"$-1\r\n"
    with public(netmodel, "redis", num_flows=1) as server:
        cli = ["redis-cli", "-3", "-p", str(server.port)]
        assert [said(*cli, *of).strip() for of in (("SET", "a", "b"), ("GET", "a"), ("GET", "none"))] == ["OK", "b", ""]
        assert ask(server, words, 1000) == whole
        assert ask(server, b"GET no\r\n", 1000) == b"$-1\r\n"
    assert server.verbs() == {"set": {"ok": 1}, "get": {"hits": 1, "misses": 4}, "other": {"ok": 7, "refused": 1}}


@pytest.mark.parametrize("pipeline", [1, 16])
@pytest.mark.parametrize("workers", [1, 2])
def test_redis_benchmark(pipeline: int, workers: int, netmodel: Netmodel) -> None:
    n = 4000
    with public(netmodel, "redis", num_threads=workers) as server:
        words = ["-p", str(server.port), "-t", "ping_inline,ping_mbulk,set,get", "-n", str(n), "-c", "20", "-P", str(pipeline), "--csv"]
        rows = said("redis-benchmark", *words).splitlines()
    assert len([row for row in rows if re.match(r'"(PING_INLINE|PING_MBULK|SET|GET)"', row)]) == 4, rows
    verbs = server.verbs()
    assert {name: verbs[name] for name in ("ping", "set", "get")} == {"ping": {"ok": 2 * n}, "set": {"ok": n}, "get": {"hits": n}}
    # Before that it asks how the server is set up.
    assert verbs["other"].keys() == {"refused"}


@pytest.mark.parametrize("kept", [True, False])
def test_ab(kept: bool, netmodel: Netmodel) -> None:
    n = 500
    with public(netmodel, "http") as server:
        words = ["-n", str(n), "-c", "10", *(["-k"] if kept else []), f"http://127.0.0.1:{server.port}/bytes/1000"]
        out = said("ab", *words)
    found = {name: int(value) for name, value in re.findall(r"^([A-Za-z -]+): +(\d+)(?: bytes)?$", out, re.MULTILINE)}
    assert (found["Complete requests"], found["Failed requests"], found["HTML transferred"]) == (n, 0, 1000 * n), out
    assert found.get("Keep-Alive requests", 0) == (n if kept else 0)
    # It opens a few more than it has a use for in the end.
    assert n <= server.verbs()["http"]["ok"] <= n + 10
    assert server.connections <= 20 if kept else n <= server.connections <= n + 10


@pytest.mark.parametrize("path", ["/bytes/100", "/stream-bytes/15000"])
def test_wrk(path: str, netmodel: Netmodel) -> None:
    with public(netmodel, "http") as server:
        out = said("wrk", "-t", "1", "-c", "10", "-d", "1s", f"http://127.0.0.1:{server.port}{path}")
    match = re.search(r"(\d+) requests in", out)
    assert match, out
    assert not re.search(r"Socket errors|Non-2xx", out), out
    # When its time is over it has one request outstanding on each connection, and drops it. It opens one connection before.
    own = server.verbs()["http"]
    assert own.keys() - {"lost"} == {"ok"}
    assert int(match[1]) > 100
    assert 0 <= own["ok"] - int(match[1]) <= 10
    assert 10 <= server.connections <= 11


def test_curl(netmodel: Netmodel) -> None:
    with public(netmodel, "http") as server:
        at = f"http://localhost:{server.port}"
        curl = ["curl", "-s", "-w", "%{http_code} %{size_download} %{num_connects}\n"]
        cases = [
            (f"{at}/bytes/7", f"{at}/bytes/70000"),
            (f"{at}/stream-bytes/0", f"{at}/stream-bytes/70000"),
            ("-0", f"{at}/stream-bytes/9"),
            ("-I", f"{at}/bytes/5"),
            ("-d", "x" * 5000, f"{at}/bytes/1"),
            ("-d", "x" * 50000, "-H", "Transfer-Encoding: chunked", f"{at}/bytes/2"),
            (f"{at}/no",),
        ]
        to = ["-o", "/dev/null", "-o", "/dev/null"]
        got = [line.split() for words in cases for line in said(*curl, *to, *words).splitlines()]
    sizes = ["7", "70000", "0", "70000", "9", "0", "1", "2"]
    assert [row[:2] for row in got] == [*(["200", size] for size in sizes), ["404", "0"]], got
    assert got[1][2] == got[3][2] == "0", "the connection is kept"
    assert server.verbs() == {"http": {"ok": 8, "refused": 1}}
    assert server.connections == 7


def test_clients_of_memcached(netmodel: Netmodel, tmp_path: Path) -> None:
    for name, length in (("small", 1), ("large", 100_000)):
        (tmp_path / name).write_text("v" * length)
    with public(netmodel, "memcache") as server:
        at = f"--servers=127.0.0.1:{server.port}"
        said("memccp", at, str(tmp_path / "small"), str(tmp_path / "large"))
        assert said("memccat", at, "large").strip() == "v" * 100_000
        said("memcrm", at, "small")
    # Each of the three ends its connection by quit.
    assert server.verbs() == {"set": {"ok": 2}, "get": {"hits": 1}, "delete": {"hits": 1}, "other": {"ok": 3}}


def test_quit_ends_the_connection(netmodel: Netmodel) -> None:
    """Also where the client does not, and has sent more behind it, as at a memcached."""
    with public(netmodel, "memcache") as server:
        with socket.create_connection(("127.0.0.1", server.port), PATIENCE_S) as client:
            client.settimeout(PATIENCE_S)
            client.sendall(b"version\r\nquit\r\nversion\r\n")
            assert b"".join(iter(lambda: client.recv(100), b"")) == b"VERSION 1.6.0-netmodel\r\n"
    assert server.verbs() == {"other": {"ok": 2}}


@pytest.mark.parametrize("clients", [1, 5])
def test_dnsperf_over_tcp(clients: int, netmodel: Netmodel, tmp_path: Path) -> None:
    n = 500
    names = tmp_path / "names"
    names.write_text("www.example.com A\nno.invalid A\n")
    with public(netmodel, "dns") as server:
        out = said("dnsperf", "-s", "127.0.0.1", "-p", str(server.port), "-m", "tcp", "-d", str(names), "-n", str(n // 2), "-c", str(clients))
    assert re.search(rf"Queries completed: +{n} ", out), out
    assert re.search(rf"NOERROR {n // 2} \(50.00%\), NXDOMAIN {n // 2} ", out), out
    assert server.verbs() == {"query": {"hits": n // 2, "misses": n // 2}}
    assert server.connections == clients


def test_no_client_ends_the_run(netmodel: Netmodel) -> None:
    """Those that vanish within a request are counted as lost, and those that say what is none as malformed."""
    with public(netmodel, "memcache", num_flows=2) as server:
        for said_first, gone in ((b"", True), (b"set k 0 0 10\r\nabc", True), (b"get", False), (b"GARBAGE\r\n", False)):
            with socket.create_connection(("127.0.0.1", server.port), PATIENCE_S) as client:
                client.sendall(said_first)
                client.settimeout(PATIENCE_S)
                if gone:  # by a reset
                    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                else:
                    client.shutdown(socket.SHUT_WR)
                    assert client.recv(1) == b""
        assert ask(server, b"set k 0 0 1 noreply\r\nx\r\nget k none k\r\n", 40) == b"VALUE k 0 1\r\nx\r\n" * 2 + b"END\r\n"
    verbs = server.verbs()
    assert verbs["other"].pop("malformed") == 1
    assert verbs["other"].pop("lost") in (1, 2), "a reset may come before what was sent is read"
    assert verbs == {"other": {}, "set": {"ok": 1}, "get": {"hits": 2, "misses": 1}}
    assert server.result["totals"]["transactions"] == server.connections == 5


def test_descriptors_run_out(netmodel: Netmodel) -> None:
    with public(netmodel, "redis", num_flows=2) as server:
        pid = server.process.pid
        old = resource.prlimit(pid, resource.RLIMIT_NOFILE)
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (len(list(Path(f"/proc/{pid}/fd").iterdir())), old[1]))
        with socket.create_connection(("127.0.0.1", server.port), PATIENCE_S) as client:
            client.sendall(b"PING\r\n")
            client.settimeout(1)
            with pytest.raises(TimeoutError):
                client.recv(1)
            resource.prlimit(pid, resource.RLIMIT_NOFILE, old)
            client.settimeout(PATIENCE_S)
            assert client.recv(100) == b"+PONG\r\n"
    assert server.result["totals"]["errors"] > 0
    assert server.verbs() == {"ping": {"ok": 1}}


def test_a_pass_is_as_long_as_its_connection(netmodel: Netmodel) -> None:
    with public(netmodel, "redis") as server:
        begin = time.monotonic()
        for _ in range(3):
            assert ask(server, b"PING\r\n", 100) == b"+PONG\r\n"
        seconds = time.monotonic() - begin
    latency = server.result["totals"]["latency_s"]
    assert latency["count"] == 3
    assert latency["mean"] * 3 < seconds


def is_free(port: int) -> bool:
    with socket.socket() as probe, contextlib.suppress(OSError):
        probe.bind(("0.0.0.0", port))
        return True
    return False


def test_a_server_of_some_connections_waits_for_them(netmodel: Netmodel, tmp_path: Path) -> None:
    """However long nobody comes; what a server has no times of is no table in the text."""
    port = next(port for port in iter(free_port, 0) if is_free(port + 1))
    (tmp_path / "p.xml").write_text(
        f"""<profile name="p"><group nthreads="2" nflows="2"><transaction iterations="1">
        <flowop type="accept" options="from=any app=redis port={port} num_ports=2"/><flowop type="serve"/><flowop type="disconnect"/>
        </transaction></group></profile>"""
    )
    with netmodel.started("-m", str(tmp_path / "p.xml"), "--timeout", "1s") as process:
        wait_until(lambda: listens(port) and listens(port + 1), what="both ports listen")
        time.sleep(2)  # longer than a run may be idle
        for at in (port, port + 1) * 16:
            if not process.running():
                break
            with contextlib.suppress(ConnectionError), socket.create_connection(("127.0.0.1", at), PATIENCE_S) as client:
                client.sendall(b"PING\r\n")
        result = process.finish()
    assert result.code == 0, result
    assert re.search(r"ping +\S+ +2 +2\n", result.out), result.out
    assert not re.search(r"verb +mean", result.out), result.out
