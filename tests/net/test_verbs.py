# SPDX-License-Identifier: Apache-2.0
"""Each verb has its counts and its times, which make up those of its transaction, in every format."""

from __future__ import annotations

import csv
import io
import re
import socketserver
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from keyed import asking
from nmtest import Json, Netmodel, Result, assert_complete, defines, phase_of
from partners import memcached, nginx, redis
from test_outcomes import CLASSES, MIX, ended

WriteProfile = Callable[..., Path]

ALL = ("requests", *CLASSES)
NONE = dict.fromkeys(ALL, 0)


def verbs_of(window: Json) -> dict[str, Json]:
    return {one["verb"]: one for one in window.get("verbs", [])}


def assert_verbs_add_up(document: Json) -> None:
    """In each window, and what is answered has a time."""
    run, group = document, document["groups"][0]
    for window in (run["totals"], group, *group["phases"], *run["intervals"]):
        whole = window.get("outcomes", NONE)
        for name in ALL:
            assert whole[name] == sum(one["outcomes"][name] for one in verbs_of(window).values()), (window, name)
        for one in verbs_of(window).values():
            of = one["outcomes"]
            assert of["requests"] == ended(of)
            answered = of["requests"] - of["timed_out"] - of["lost"] - of["malformed"]
            # In an interval, counts and times are read one after the other, while requests end.
            assert one["latency_s"] is None or window in run["intervals"] or one["latency_s"]["count"] == answered


def test_memcached(netmodel: Netmodel, profile: WriteProfile) -> None:
    with memcached() as server:
        document = netmodel.measure(profile(asking("memcache", MIX, f"server={server.server}", "nflows='3' nthreads='2'")), "-i", "50ms", "--yes-destroy")
        stats = server.stats()
    assert_complete(document)
    assert_verbs_add_up(document)
    of = verbs_of(phase_of(document, "ask"))
    assert {verb: of[verb]["outcomes"]["requests"] for verb in of} == {
        "get": stats["cmd_get"],
        "set": stats["cmd_set"],
        "delete": stats["delete_hits"] + stats["delete_misses"],
    }
    assert sum(one["latency_s"]["count"] for one in of.values()) == phase_of(document, "ask")["latency_s"]["count"]
    assert not any("response_s" in one or "with_failures" in one for one in of.values())


def test_open_arrivals(netmodel: Netmodel, profile: WriteProfile) -> None:
    body = asking("memcache", MIX, attributes="nflows='4'").replace('duration="200ms"', 'duration="300ms" arrivals="const(2k/s)"')
    document = netmodel.measure(profile(body))
    assert_verbs_add_up(document)
    for one in verbs_of(document["totals"]).values():
        assert one["response_s"]["count"] == one["latency_s"]["count"] == one["send_delay_s"]["count"] > 0
        assert one["response_s"]["mean"] == pytest.approx(one["latency_s"]["mean"] + one["send_delay_s"]["mean"], abs=1e-8)


def test_commands_are_told_by_their_names(netmodel: Netmodel, profile: WriteProfile) -> None:
    commands = "".join(f'<flowop type="command" text="{text}" options="keys=k"/>' for text in ("lpush __key__ a", "llen __key__", "LLEN __key__"))
    with redis() as server:
        document = netmodel.measure(profile(asking("redis", f"<mix>{commands}</mix>", f"server={server.server}")))
        calls = server.calls()
    assert_verbs_add_up(document)
    of = verbs_of(phase_of(document, "ask"))
    assert {verb: of[verb]["outcomes"]["requests"] for verb in of} == {"LPUSH": calls["lpush"], "LLEN": calls["llen"]}


def test_requests_of_http_are_told_by_their_methods(netmodel: Netmodel, profile: WriteProfile, tmp_path: Path) -> None:
    with nginx(tmp_path) as server:
        (server.root / "here").write_text("some text")
        mix = "".join(f'<flowop type="http" options="path=/here {more}"/>' for more in ("", "method=HEAD", "method=POST size=10"))
        document = netmodel.measure(profile(asking("http", f"<mix>{mix}</mix>", f"server={server.server}")))
        lines = server.log()
    assert_verbs_add_up(document)
    of = verbs_of(document["totals"])
    assert list(of) == ["GET", "HEAD", "POST"]
    for verb in of:
        assert of[verb]["outcomes"]["requests"] == sum(line[0].startswith(verb) for line in lines) > 0
    assert of["POST"]["outcomes"]["refused"] == of["POST"]["outcomes"]["requests"]


def test_steps_of_a_pass_are_timed_apart(netmodel: Netmodel, profile: WriteProfile) -> None:
    """The second of two begins when the first has ended."""
    two = '<flowop type="get" options="keys=k"/><flowop type="set" options="keys=k size=10"/>'
    document = netmodel.measure(profile(asking("memcache", two)))
    assert_verbs_add_up(document)
    of = verbs_of(document["totals"])
    together = of["get"]["latency_s"]["mean"] + of["set"]["latency_s"]["mean"]
    assert 0 < together <= document["totals"]["latency_s"]["mean"] * 1.001


def test_all_formats_say_the_same(netmodel: Netmodel, profile: WriteProfile) -> None:
    path = profile(asking("memcache", MIX))
    rows = list(csv.DictReader(io.StringIO(netmodel.run("-m", path, "--format", "csv", "-i", "50ms", code=0).out)))
    assert len(rows) >= 3
    for row in rows:
        assert not any("with_failures" in column for column in row)
        for name in ALL:
            assert int(row[f"outcomes_{name}"]) == sum(int(row[f"verb_{verb}_outcomes_{name}"]) for verb in ("get", "set", "delete"))
        assert int(row["outcomes_requests"]) == sum(int(row[f"outcomes_{name}"]) for name in CLASSES)
    assert sum(int(row["verb_get_latency_count"]) for row in rows) > 0
    lines = netmodel.run("-m", path, "--format", "kv", code=0).out.splitlines()
    keys = dict(line.split("=", 1) for line in lines)
    for name in ALL:
        assert int(keys[f"outcomes_{name}"]) == sum(int(keys[f"verb.{verb}.outcomes_{name}"]) for verb in ("get", "set", "delete"))
    assert float(keys["verb.get.latency_p99"]) > 0
    text = netmodel.run("-m", path, code=0).out
    assert all(any(line.split()[:2] == [verb, "latency"] for line in text.splitlines()) for verb in ("get", "set", "delete"))


@pytest.mark.parametrize("given", [True, False])
def test_memcache_etc(given: bool, netmodel: Netmodel) -> None:
    """Thirty gets for a set, and values of the mean of the law: 15 + 214.476 / (1 - 0.348238) bytes."""
    with memcached() as server:
        where = {"server": server.server} if given else {}
        document = netmodel.measure("memcache_etc", *defines(num_transactions=20000, test_length="60s", keys=20000, num_flows=8, **where))
        stats = server.stats()
    assert_complete(document)
    assert_verbs_add_up(document)
    of = verbs_of(document["totals"])
    gets, sets = (of[verb]["outcomes"]["requests"] for verb in ("get", "set"))
    assert gets + sets == 20000 and 500 < sets < 800  # 645, and five times its standard deviation
    assert of["get"]["outcomes"]["hits"] == gets
    fill = phase_of(document, "fill")
    head = len("set etc: 0 0 333\r\n\r\n") + 36 - len("etc:")
    assert fill["bytes_sent"] / fill["transactions"] - head == pytest.approx(344, rel=0.1)
    assert not given or (stats["cmd_get"], stats["cmd_set"]) == (gets, sets + 20000)


def test_csv_without_applications_has_no_new_columns(netmodel: Netmodel) -> None:
    head = netmodel.run("-m", "tcp_rr", "-D", "test_length=100ms", "--format", "csv", "-i", "50ms", code=0).out.splitlines()[0]
    assert "outcomes" not in head and "requests" not in head


# --- a server that is slow, or silent, for one verb ---

DELAY_S = 0.03


class _Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = daemon_threads = True


@contextmanager
def slow_for(delays: dict[bytes, float | None], answers_for_s: float = 1e9) -> Iterator[str]:
    """A memcached that has every key, and answers so much later, by the verb; None: never. None is answered any more so long after the first."""
    begin: list[float] = []

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            while line := self.rfile.readline():
                if line == b"version\r\n":  # asked before the run
                    self.wfile.write(b"VERSION 1\r\n")
                    continue
                begin.append(time.monotonic())
                verb, key, *rest = line.split()
                if verb == b"set":
                    self.rfile.read(int(rest[2]) + 2)
                delay = delays.get(verb, 0.0)
                if delay is None or begin[-1] > begin[0] + answers_for_s:
                    continue
                time.sleep(delay)
                answers = {b"set": b"STORED\r\n", b"delete": b"DELETED\r\n", b"get": b"VALUE %s 0 1\r\nx\r\nEND\r\n" % key}
                self.wfile.write(answers[verb])

    with _Server(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield "127.0.0.1:%d" % server.server_address[1]
        finally:
            server.shutdown()


def test_one_slow_verb(netmodel: Netmodel, profile: WriteProfile) -> None:
    with slow_for({b"get": DELAY_S}) as server:
        body = asking("memcache", MIX, f"server={server}", "nflows='4'").replace('"200ms"', '"1s"')
        document = netmodel.measure(profile(body), "--yes-destroy")
    assert_verbs_add_up(document)
    of = verbs_of(document["totals"])
    assert of["get"]["latency_s"]["min"] >= DELAY_S
    assert of["set"]["latency_s"]["min"] < DELAY_S and of["delete"]["latency_s"]["min"] < DELAY_S


def test_one_silent_verb(netmodel: Netmodel, profile: WriteProfile) -> None:
    """Its percentiles with failures lie among them, those of the others do not, and requirements are judged by them."""
    mix = '<mix><flowop type="get" options="keys=k timeout=60ms" weight="20"/><flowop type="delete" options="keys=k timeout=60ms"/></mix>'
    wanted = "verb.get.latency.p50 < 10s verb.delete.latency.p50 < 10s latency.p10 < 10s latency.p99.99 < 10s"
    with slow_for({b"delete": None}) as server:
        body = asking("memcache", mix, f"server={server} reconnect=10s", "nflows='4'").replace('"200ms"', '"1s"')
        path = profile(body)
        result = netmodel.run("-m", path, "--yes-destroy", "--format", "json", "--require", wanted, code=4)
        text = netmodel.run("-m", path, "--yes-destroy", "--require", "verb.delete.latency.p50 > 1s", code=0).out
    document = result.json()
    assert_verbs_add_up(document)
    assert re.search(r"^    met  verb.delete.latency.p50 > 1s  verb.delete.latency.p50 is infinite$", text, re.M), text
    of = verbs_of(document["totals"])
    silent = of["delete"]["outcomes"]
    assert silent["timed_out"] == silent["requests"] > 3 and of["delete"]["latency_s"] is None
    assert of["delete"]["with_failures"]["failures"] == silent["timed_out"]
    assert set(of["delete"]["with_failures"]["latency_s"].values()) == {None}
    assert of["get"]["outcomes"]["timed_out"] > 0 or "with_failures" not in of["get"]
    whole = document["totals"]["with_failures"]
    assert whole["failures"] >= silent["timed_out"]
    assert whole["latency_s"]["p50"] >= document["totals"]["latency_s"]["p50"] and whole["latency_s"]["p99_99"] is None
    assert [one["met"] for one in document["requirements"]] == [True, False, True, False]
    assert "verb.delete.latency.p50 is infinite: it lies among what was never answered" in result.err
    assert "latency.p99.99 is infinite" in result.err and "verb.get" not in result.err
    assert any(line.split()[:1] == ["delete"] and line.count("> timeout") > 4 for line in text.splitlines())


@pytest.mark.parametrize("more", ["", 'arrivals="const(200/s)"'])
def test_failures_after_the_time_are_in_the_window(more: str, netmodel: Netmodel, profile: WriteProfile) -> None:
    """As answers that come then: what was asked in it counts, also where the window closes with its time."""
    flows = 64
    get = '<flowop type="get" options="keys=k timeout=2s"/>'
    wanted = "latency.p99 < 1s verb.get.latency.p98 < 1s"

    def run(*args: str, code: int) -> Result:
        with slow_for({b"get": 0.01}, 0.5) as server:
            body = asking("memcache", get, f"server={server} reconnect=10s", f"nflows='{flows}'").replace('"200ms"', f'"1s" {more}')
            return netmodel.run("-m", profile(body), *args, code=code)

    result = run("--format", "json", "-i", "100ms", "--require", wanted, code=4)
    text = run(code=0).out
    rows = list(csv.DictReader(io.StringIO(run("--format", "csv", "-i", "100ms", code=0).out)))
    keys = dict(line.split("=", 1) for line in run("--format", "kv", code=0).out.splitlines())
    document = result.json()
    assert_verbs_add_up(document)
    phase, totals = phase_of(document, "ask"), document["totals"]
    silent = phase["outcomes"]["timed_out"]
    assert silent == (flows if not more else pytest.approx(flows, abs=10))
    assert document["run"]["transactions_after"] == 0, "the window has closed with its time"
    never = phase["load"]["unsent"] if more else 0  # begun: a failure of the transaction, and of no verb
    assert totals["outcomes"]["timed_out"] == totals["with_failures"]["failures"] - never == silent
    assert verbs_of(totals)["get"]["with_failures"]["failures"] == silent
    assert sum(row["outcomes"]["timed_out"] for row in document["intervals"] if "outcomes" in row) == silent
    assert totals["with_failures"]["latency_s"]["p99"] is None
    for window in (totals, verbs_of(totals)["get"]):  # what has timed out has been sent
        assert set(window["with_failures"]) == {"failures", "latency_s", *(["response_s"] if more else [])}
    assert [one["met"] for one in document["requirements"]] == [False, False]
    failures, of_get = (sum(int(row[f"{of}with_failures_failures"]) for row in rows) for of in ("", "verb_get_"))
    assert failures >= of_get > 0 and (more or failures == of_get)
    assert {row["verb_get_with_failures_latency_p99_s"] for row in rows if row["verb_get_with_failures_failures"] != "0"} == {"inf"}
    assert not any("send_delay" in name and "with_failures" in name for name in (*rows[0], *keys))
    for of in ("", "verb.get."):
        failures = int(keys[f"{of}with_failures_failures"])
        assert failures >= int(keys["outcomes_timed_out"]) > 0 and ((more and not of) or failures == int(keys["outcomes_timed_out"]))
        assert keys[f"{of}with_failures_latency_p99"] == "inf" and float(keys[f"{of}with_failures_latency_p50"]) < 1
    assert re.search(r"^  after that +0 more ended up to .* after their time: in the latency alone; \d+ were not answered$", text, re.M)


# --- names ---


def commands(*names: str) -> str:
    return f"<mix>{''.join(f'<flowop type={chr(34)}command{chr(34)} text={chr(34)}{name}{chr(34)}/>' for name in names)}</mix>"


@contextmanager
def answering_all() -> Iterator[str]:
    """A server of Redis to which each command is good."""

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            while line := self.rfile.readline():
                for _ in range(2 * int(line[1:])):
                    self.rfile.readline()
                self.wfile.write(b"+OK\r\n")

    with _Server(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield "127.0.0.1:%d" % server.server_address[1]
        finally:
            server.shutdown()


def test_names_that_are_alike_stay_apart(netmodel: Netmodel, profile: WriteProfile) -> None:
    """Long ones, those that would split a key, more than fit on a screen, and a group whose name is that of a verb."""
    long = "JSON.DEBUG.MEMORY.OF.THE.FIRST"
    names = [long + ".PATH", long + ".KEY", "A=B", "A_B", "A%B", *(f"C{i}" for i in range(70))]
    with answering_all() as server:
        body = asking("redis", commands(*names), f"server={server}", "name='A_B' nflows='2'").replace("200ms", "1s")
        path = profile(body + '<group name="other"><transaction duration="1ms"><flowop type="think" options="duration=1ms"/></transaction></group>')
        document = netmodel.measure(path)
        rows = list(csv.reader(io.StringIO(netmodel.run("-m", path, "--format", "csv", "-i", "5s", code=0).out)))
        lines = netmodel.run("-m", path, "--format", "kv", code=0).out.splitlines()
        warned = netmodel.run("-m", path, "--require", f"verb.{long}.KEY.response.p99 < 1s", code=4).err
    assert set(verbs_of(document["totals"])) == set(names)
    assert len(set(rows[0])) == len(rows[0]) and all(len(row) == len(rows[0]) for row in rows)
    keys = [line.split("=", 1)[0] for line in lines]
    assert len(set(keys)) == len(keys)
    for name in ("A%3DB", "A_B", "A%25B", long + ".KEY", "C69"):
        assert f"verb.{name}.outcomes_ok" in keys and f"verb_{name}_outcomes_ok" in rows[0] and f"A_B_verb_{name}_latency_p99_s" in rows[0]
    assert "no measured transaction has a rate or arrivals" in warned


@pytest.mark.parametrize("names", [("verb_GET", "x"), ("x", "x_verb_GET"), ("outcomes", "a b", "a_b", "a b"), ("x", "x", "x#2"), ("with_failures", "x")])
def test_columns_of_groups_and_verbs_stay_apart(names: tuple[str, ...], netmodel: Netmodel, profile: WriteProfile) -> None:
    with answering_all() as server:
        groups = "".join(asking("redis", commands("GET"), f"server={server}", f"name='{name}'") for name in names)
        keyspace = groups[: groups.index("<group")]
        rows = netmodel.run("-m", profile(keyspace + groups.replace(keyspace, "")), "--format", "csv", "-i", "5s", code=0).out
    columns = next(csv.reader(io.StringIO(rows)))
    assert "verb_GET_latency_p99_s" in columns
    assert len(set(columns)) == len(columns)


def test_a_name_that_is_too_long_is_told(netmodel: Netmodel, profile: WriteProfile) -> None:
    for n, code in ((63, 0), (64, 1)):
        err = netmodel.run("--check", "-m", profile(asking("redis", commands("X" * n), "server=127.0.0.1:1")), code=code).err
        assert ("begins with a name of more than 63 bytes" in err) == (code == 1)

@pytest.mark.parametrize(
    ("term", "told"),
    [
        ("verb.gt.latency.p99 < 1s", "no verb of that name with a figure behind it; the verbs are get, set, delete"),
        ("group.Group0.transaction.ask.verb.echo.latency.p99 < 1s", "the verbs are get, set, delete"),
        ("verb.get.latency < 1s", "it has several figures: latency.count"),
        ("get.latency.p99 < 1s", "did you mean verb.get.latency.p99?"),
    ],
)
def test_a_wrong_name_is_told(term: str, told: str, netmodel: Netmodel, profile: WriteProfile) -> None:
    assert told in netmodel.run("-m", profile(asking("memcache", MIX)), "--require", term, code=1).err


def test_what_is_not_measured_is_warned_of(netmodel: Netmodel, profile: WriteProfile) -> None:
    result = netmodel.run("-m", profile(asking("memcache", MIX)), "--require", "verb.get.response.p99 < 1s", code=4)
    assert "no measured transaction has a rate or arrivals" in result.err
