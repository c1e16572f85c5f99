# SPDX-License-Identifier: Apache-2.0
"""Applications in the bench: what each client is told, what it says, and that all get the same answer of the same server."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

import bench
import partners
from benchlib import measure, report
from benchlib.apps import APPS, KEY, VALUE
from benchlib.model import APP_WORKLOADS, BenchError, Case, Figures, Place
from benchlib.servers import serving
from benchlib.tools import CLIENTS, Bare, Client, Netmodel, Tool
from benchlib.tools.ab import Ab
from benchlib.tools.dnsperf import Dnsperf
from benchlib.tools.memtier import Memtier
from benchlib.tools.redis_benchmark import RedisBenchmark
from benchlib.tools.wrk import Wrk
from nmtest import TOP, locate_binary

MEMCACHE, REDIS, HTTP, DNS = (Case(workload, 16, 2) for workload in APP_WORKLOADS)

WRK = """\
Running 2s test @ http://127.0.0.1:8080/1k
  1 threads and 16 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency   345.00us  120.00us   3.00ms   91.00%
    Req/Sec    46.10k     2.00k   48.00k    80.00%
  92200 requests in 2.01s, 113.00MB read
Requests/sec:  45870.65
Transfer/sec:     56.20MB
"""
AB = """\
Complete requests:      84000
Failed requests:        0
Keep-Alive requests:    84000
Requests per second:    42000.50 [#/sec] (mean)
"""
DNSPERF = """\
  Queries sent:         120000
  Queries completed:    119990 (99.99%)
  Queries lost:         0 (0.00%)
  Response codes:       NOERROR 119990 (100.00%)
  Queries per second:   59995.000000
"""
MEMTIER = """\
Type         Ops/sec     Hits/sec   Misses/sec    Avg. Latency     p50 Latency     p99 Latency   p99.9 Latency       KB/sec
Sets            0.00          ---          ---             ---             ---             ---             ---         0.00
Gets        41234.50     41234.50         0.00         0.39100         0.38300         0.60700         1.20700     43210.00
Totals      41234.50     41234.50         0.00         0.39100         0.38300         0.60700         1.20700     43210.00
"""
REDIS_BENCHMARK = f"""\
"test","rps","avg_latency_ms","min_latency_ms","p50_latency_ms","p95_latency_ms","p99_latency_ms","max_latency_ms"
"GET {KEY}","70422.54","0.120","0.040","0.111","0.159","0.295","1.055"
"""
SAID: list[tuple[type[Client], Case, str, float, float]] = [
    (Wrk, HTTP, WRK, 92200, 45870.65),
    (Ab, HTTP, AB, 84000, 42000.5),
    (Dnsperf, DNS, DNSPERF, 119990, 59995),
    (Memtier, MEMCACHE, MEMTIER, 40000, 41234.5),
    (Memtier, REDIS, MEMTIER, 40000, 41234.5),
    (RedisBenchmark, REDIS, REDIS_BENCHMARK, 40000, 70422.54),
]


@pytest.mark.parametrize(("kind", "case", "text", "count", "rate"), SAID, ids=[f"{kind.name}-{case.workload}" for kind, case, *_ in SAID])
def test_what_a_client_says(kind: type[Client], case: Case, text: str, count: float, rate: float) -> None:
    outcome = kind("/x/client", {}).parse(case, text, "")
    assert (outcome.count, outcome.rate) == (count, rate)
    with pytest.raises(BenchError, match="in the output"):
        kind("/x/client", {}).parse(case, "", "")


@pytest.mark.parametrize(
    ("kind", "case", "text"),
    [
        (Wrk, HTTP, WRK + "  Non-2xx or 3xx responses: 92200\n"),
        (Wrk, HTTP, WRK + "  Socket errors: connect 0, read 3, write 0, timeout 0\n"),
        (Ab, HTTP, AB.replace("Failed requests:        0", "Failed requests:        7")),
        (Ab, HTTP, AB + "Non-2xx responses:      84000\n"),
        (Dnsperf, DNS, DNSPERF.replace("lost:         0", "lost:         9")),
        (Dnsperf, DNS, DNSPERF.replace("NOERROR", "REFUSED")),
        (Dnsperf, DNS, DNSPERF.replace("119990 (100.00%)", "119980 (99.99%), SERVFAIL 10 (0.01%)")),
        (Memtier, MEMCACHE, MEMTIER.replace("41234.50         0.00", "0.00     41234.50")),
    ],
    ids=["status", "socket", "failed", "not-2xx", "lost", "refused", "some refused", "missed"],
)
def test_a_request_that_failed_is_no_figure(kind: type[Client], case: Case, text: str) -> None:
    with pytest.raises(BenchError, match="has [1-9]"):
        kind("/x/client", {}).parse(case, text, "")


def test_netmodel_counts_what_was_there() -> None:
    outcomes = {"requests": 300, "hits": 200, "ok": 100}
    totals = {"transactions": 300, "transactions_per_s": 100.0, "outcomes": outcomes}
    document = {"run": {"complete": True}, "totals": totals}
    outcome = Netmodel("x").parse(MEMCACHE, json.dumps(document), "")
    assert (outcome.count, outcome.rate) == (300, 100)
    outcomes["hits"] = 197
    with pytest.raises(BenchError, match="^3 requests were not answered with what was asked for"):
        Netmodel("x").parse(MEMCACHE, json.dumps(document), "")


@pytest.mark.parametrize("kind", CLIENTS)
def test_a_client_asks_the_server_of_the_case(kind: type[Client], tmp_path: Path) -> None:
    env = {"LD_LIBRARY_PATH": "/x"}
    for workload in kind.workloads:
        commands = kind("/x/client", env).run(Case(workload, 16, 2), Place((3,), (4,), str(tmp_path), "127.0.0.1:6000"))
        assert "127.0.0.1:6000" in " ".join(commands.client).replace(" -p ", ":")
        assert (commands.server, commands.env, commands.pins_itself) == (None, env, False)
    assert not kind("/x/client", env).supported(Case("tcp_rr", 16, 2))


def executable(path: Path, script: str) -> str:
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize(("kind", "case", "said"), [(Memtier, MEMCACHE, MEMTIER), (RedisBenchmark, REDIS, REDIS_BENCHMARK)])
def test_a_number_lasts_as_long_as_a_time(kind: type[Client], case: Case, said: str, tmp_path: Path) -> None:
    """It is what the tool has done in a first run, which is no figure."""
    client = executable(tmp_path / "client", f"echo \"$@\" >> {tmp_path}/asked\ncat << 'END'\n{said}END")
    figures = Figures()
    for _ in range(2):
        measure.Measurer(None, (1, 2), "127.0.0.1:6000").throughput(kind(client, os.environ), case, figures)
    asked = [int(words.split(" -n ")[1].split()[0]) for words in (tmp_path / "asked").read_text().splitlines()]
    whole = [number * case.flows if kind is Memtier else number for number in asked]
    assert not figures.errors
    assert len(whole) == 3 and whole[0] == 40000
    assert whole[1] == whole[2] == pytest.approx(case.seconds * figures.rate[0], abs=case.flows)


def test_costs_are_the_clients_alone() -> None:
    """And so is the CPU: that of the server is no end of the tool's."""
    assert all(case.unit == "request" and case.unit_size == 1 for case in (MEMCACHE, REDIS, HTTP, DNS))
    place = measure.Measurer((3, 4), (1, 2), "127.0.0.1:6000")._place(DNS, "/tmp")
    assert place == Place((3,), (4,), "/tmp", "127.0.0.1:6000")


def test_a_row_has_intervals_and_ratios() -> None:
    figures = {
        "netmodel": Figures(rate=[200.0] * 5, cpu_s=[2e-6] * 5, calls_client=[2.0], instructions=[300.0]),
        "wrk": Figures(rate=[100.0, 110.0, 120.0, 130.0, 140.0], cpu_s=[1e-6] * 5),
    }
    assert report.markdown_rows(HTTP, figures) == [
        "| http_get, 16 flows | netmodel | 200 | 2u | 2 | 300 |  |  |",
        "| http_get, 16 flows | wrk | 120 (100..140) | 1u |  |  | 1.667 (1.429..2.000) | 2.000 |",
    ]
    assert all(row.count("|") == report.MARKDOWN_HEAD[0].count("|") for row in report.markdown_rows(HTTP, figures))
    assert report.dearer({HTTP: figures}) == ["http_get, 16 flows: 2.000 of the CPU time of wrk"]
    figures["wrk"].cpu_s = [1e-6, 2e-6, 2e-6, 2e-6, 3e-6]
    assert report.dearer({HTTP: figures}) == []


def test_options_of_the_applications(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["apps", "--workloads", "dns_query"])
    options = bench.arguments("", APP_WORKLOADS, (1, 16), ("netmodel", "wrk"))
    assert (options.workloads, options.flows, options.tools) == (("dns_query",), (1, 16), ("netmodel", "wrk"))
    monkeypatch.setattr(sys, "argv", ["apps", "--workloads", "tcp_rr"])
    with pytest.raises(SystemExit):
        bench.arguments("", APP_WORKLOADS, (1, 16), ("netmodel",))


def prove_apps(*words: str | Path, **env: str) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, TOP / "tests" / "prove" / "apps", *words]
    return subprocess.run(argv, env={**os.environ, **env}, capture_output=True, text=True, timeout=120, check=False)


QUICK = ("--rounds", "1", "--seconds", "1", "--flows", "65", "--no-strace", "--no-callgrind", "--tools", "netmodel")


def test_threads_are_no_option_of_the_applications() -> None:
    done = prove_apps("--threads", "2")
    assert (done.returncode, "unrecognized arguments: --threads 2" in done.stderr) == (2, True)


def test_all_figures_of_the_applications_and_no_client_that_nobody_asked_for(tmp_path: Path) -> None:
    """A compiler that tells when it is asked for the loop written by hand."""
    partners.partner("redis-server")
    compiler = executable(tmp_path / "cc", f"touch {tmp_path}/compiled\nexit 1")
    file = tmp_path / "all.json"
    done = prove_apps(*QUICK, "--workloads", "redis_get", "--json", file, NETMODEL=str(locate_binary()), CC=compiler)
    assert done.returncode == 77, done.stderr  # nothing to compare with
    document = json.loads(file.read_text())
    assert [(case["workload"], case["flows"], list(case["tools"])) for case in document["cases"]] == [("redis_get", 65, ["netmodel"])]
    assert document["facts"]["tools"] == ["netmodel"]
    assert not (tmp_path / "compiled").exists()


def test_cases_are_judged_without_those_whose_server_cannot_be_had(tmp_path: Path) -> None:
    """On a machine with nothing but memcached, and a netmodel that fails."""
    program, env = partners.partner("memcached")
    programs = tmp_path / "bin"
    programs.mkdir()
    executable(programs / "memcached", f"LD_LIBRARY_PATH={env.get('LD_LIBRARY_PATH', '')} exec {program} \"$@\"")
    failing = executable(tmp_path / "netmodel", "exit 1")
    file = tmp_path / "all.json"
    done = prove_apps(*QUICK, "--workloads", "memcache_get,redis_get", "--json", file, NETMODEL=failing, PATH=str(programs))
    assert done.returncode == 1, done.stderr
    assert "figure: without redis_get, 65 flows: redis-server: " in done.stdout
    assert [case["workload"] for case in json.loads(file.read_text())["cases"]] == ["memcache_get"]
    done = prove_apps(*QUICK, "--workloads", "redis_get", NETMODEL=failing, PATH=str(programs))
    assert done.returncode == 77, done.stderr


def test_a_server_that_closes_has_no_answer() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=lambda: server.accept()[0].close(), daemon=True).start()
        with pytest.raises(ConnectionError):
            APPS["redis_get"].answer_bytes("127.0.0.1:%d" % server.getsockname()[1])


@pytest.mark.needs("cc")
@pytest.mark.parametrize("workload", APP_WORKLOADS)
def test_a_round_of_each_application(workload: str) -> None:
    """netmodel and the loop written by hand get the same answers of the server."""
    bare = Bare.find(os.environ)
    assert bare is not None
    tools: list[Tool] = [bare, Netmodel(str(locate_binary()))]
    with serving(workload, None) as server:
        assert APPS[workload].answer_bytes(server) >= (len(VALUE) if workload != "dns_query" else 12)
        options = SimpleNamespace(rounds=1, count_rounds=1, no_strace=True, no_callgrind=True)
        figures = bench.measure_case(Case(workload, 2, 1), tools, measure.Measurer(None, (1, 2), server), options)
    for name, one in figures.items():
        assert not one.errors, name
        assert one.rate[0] > 0 and one.cpu_s[0] > 0
