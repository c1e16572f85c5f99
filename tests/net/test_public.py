# SPDX-License-Identifier: Apache-2.0
"""netmodel's own servers under clients that are not netmodel: both count the same."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from nmtest import Json, Netmodel, Process, defines, free_port, wait_until
from partners import said


def listens(port: int) -> bool:
    rows = [line.split() for name in ("tcp", "tcp6") for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]]
    return any(row[1].endswith(f":{port:04X}") and row[3] == "0A" for row in rows)


class Public:
    """A server that a test has started; its result is there once the test has no more for it."""

    def __init__(self, process: Process, port: int) -> None:
        self.port = port
        self.result: Json = {}
        self.process = process

    def end(self) -> None:
        self.process.signal(signal.SIGINT)
        result = self.process.finish()
        assert result.code == 130, result
        self.result = result.json()

    @property
    def connections(self) -> int:
        count: int = self.result["hosts"][0]["counts"]["accepts"]
        return count

    def verbs(self) -> dict[str, dict[str, int]]:
        """How often each verb was answered in each way that there was."""
        assert sum(v["outcomes"]["requests"] for v in self.result["totals"]["verbs"]) == self.result["totals"]["outcomes"]["requests"]
        return {
            v["verb"]: {name: n for name, n in v["outcomes"].items() if n and name != "requests"}
            for v in self.result["totals"]["verbs"]
            if v["outcomes"]["requests"]
        }


@contextmanager
def public(netmodel: Netmodel, app: str, **params: object) -> Iterator[Public]:
    port = free_port()
    words = defines(app=app, port=port, test_length="300s", **params)
    with netmodel.started("-m", "server", *words, "--format", "json") as process:
        server = Public(process, port)
        wait_until(lambda: listens(port), what=f"{app} listens")
        yield server
        server.end()


def test_redis_cli(netmodel: Netmodel) -> None:
    with public(netmodel, "redis") as server:
        cli = ["redis-cli", "-p", str(server.port)]
        words = [("PING",), ("SET", "a", "b"), ("GET", "a"), ("GET", "none"), ("DEL", "a"), ("HGET", "a", "b")]
        answers = [said(*cli, *of).strip() for of in words]
    assert answers[:5] == ["PONG", "OK", "b", "", "1"]
    assert answers[5].startswith("ERR unknown command")
    assert server.verbs() == {
        "ping": {"ok": 1}, "set": {"ok": 1}, "get": {"hits": 1, "misses": 1}, "delete": {"hits": 1}, "other": {"refused": 1},
    }  # fmt: skip
    assert server.connections == 6


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


def test_wrk(netmodel: Netmodel) -> None:
    with public(netmodel, "http") as server:
        out = said("wrk", "-t", "1", "-c", "10", "-d", "1s", f"http://127.0.0.1:{server.port}/bytes/100")
    match = re.search(r"(\d+) requests in", out)
    assert match, out
    assert not re.search(r"Socket errors|Non-2xx", out), out
    # When its time is over it has one request outstanding on each connection, and drops it. It opens one connection before.
    own = server.verbs()["http"]
    assert own.keys() == {"ok"}
    assert int(match[1]) > 100
    assert 0 <= own["ok"] - int(match[1]) <= 10
    assert 10 <= server.connections <= 11


def test_curl(netmodel: Netmodel) -> None:
    with public(netmodel, "http") as server:
        at = f"http://localhost:{server.port}"
        curl = ["curl", "-s", "-w", "%{http_code} %{size_download} %{num_connects}\n"]
        cases = [(f"{at}/bytes/7", f"{at}/bytes/70000"), ("-I", f"{at}/bytes/5"), ("-d", "x" * 5000, f"{at}/bytes/1"), (f"{at}/no",)]
        to = ["-o", "/dev/null", "-o", "/dev/null"]
        got = [line.split() for words in cases for line in said(*curl, *to, *words).splitlines()]
    assert [row[:2] for row in got] == [["200", "7"], ["200", "70000"], ["200", "0"], ["200", "1"], ["404", "0"]], got
    assert got[1][2] == "0", "the connection is kept"
    assert server.verbs() == {"http": {"ok": 4, "refused": 1}}
    assert server.connections == 4


def test_clients_of_memcached(netmodel: Netmodel, tmp_path: Path) -> None:
    for name, length in (("small", 1), ("large", 100_000)):
        (tmp_path / name).write_text("v" * length)
    with public(netmodel, "memcache") as server:
        at = f"--servers=127.0.0.1:{server.port}"
        said("memccp", at, str(tmp_path / "small"), str(tmp_path / "large"))
        assert said("memccat", at, "large").strip() == "v" * 100_000
        said("memcrm", at, "small")
    assert server.verbs() == {"set": {"ok": 2}, "get": {"hits": 1}, "delete": {"hits": 1}}


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
