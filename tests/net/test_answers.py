# SPDX-License-Identifier: Apache-2.0
"""Answers by name (a status of HTTP, an rcode of DNS, the first word of an error): as servers count them, and adding up with the classes everywhere."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from keyed import asking, counts
from nmtest import Json, Netmodel, assert_complete, free_port, phase_of
from partners import memcached, nginx, nsd, redis
from publics import public
from test_served_faults import asking as asking_public

WriteProfile = Callable[..., Path]

ANSWERED = ("hits", "misses", "ok", "refused", "truncated")


def windows(document: Json) -> Iterator[Json]:
    yield document["totals"]
    yield from document["intervals"]
    for group in document["groups"]:
        yield group
        yield from group["phases"]


def assert_names_add_up(document: Json) -> None:
    found = 0
    for window in windows(document):
        for verb in window.get("verbs", ()):
            assert sum(verb.get("answers", {}).values()) == sum(verb["outcomes"][name] for name in ANSWERED)
            found += "answers" in verb
    assert found > 2


def answers_of(document: Json, phase: str = "ask") -> Counter[str]:
    """Those of all verbs."""
    return sum((Counter(verb["answers"]) for verb in phase_of(document, phase)["verbs"]), Counter())


def requests(app: str, where: str, flowops: str, group: str = "nflows='4' nthreads='2'", how: str = 'duration="300ms"', measured: str = "") -> str:
    return (
        f'<group {group}><transaction><flowop type="connect" options="remotehost=local app={app} server={where}"/></transaction>'
        f'<transaction name="ask" {how} {measured}>{flowops}</transaction><transaction><flowop type="disconnect"/></transaction></group>'
    )


@pytest.mark.parametrize("pipeline", ["", 'pipeline="4"'])
def test_statuses_are_those_of_nginx(pipeline: str, netmodel: Netmodel, profile: WriteProfile, tmp_path: Path) -> None:
    """Also where one is expected by a flowop and refused by another, and those that are not registered."""
    with nginx(tmp_path, "location = /odd { return 599; }", "location = /none { return 204; }") as server:
        (server.root / "here").write_text("some text")
        asked = {"/here": 5, "/gone": 2, "/gone expect=404": 1, "/odd": 1, "/none": 1}
        mix = "".join(f'<flowop type="http" options="path={path}" weight="{weight}"/>' for path, weight in asked.items())
        body = requests("http", server.server, f"<mix>{mix}</mix>", measured=pipeline)
        document = netmodel.measure(profile(body), "-i", "100ms")
        there = Counter(line[1] for line in server.log() if line[0].startswith("GET /"))
    assert_complete(document)
    assert_names_add_up(document)
    there["5xx"] = there.pop("599")
    assert answers_of(document) == there
    assert set(there) == {"200", "204", "404", "5xx"}
    assert sum((Counter(verb["answers"]) for row in document["intervals"] for verb in row.get("verbs", ())), Counter()) <= there


def test_errors_are_those_of_redis(netmodel: Netmodel, profile: WriteProfile) -> None:
    """By their first words, also those of a command with any answer."""
    with redis() as server:
        flowops = (
            '<flowop type="set" options="keys=k size=10"/><flowop type="command" text="LPUSH __key__ x" options="keys=k"/>'
            '<flowop type="command" text="NOSUCH"/><flowop type="get" options="keys=k"/><flowop type="command" text="EVALSHA_RO ff 0"/>'
        )
        body = asking("redis", flowops, f"server={server.server}", "nflows='2' nthreads='2'", count=1).replace('duration="200ms"', 'iterations="50"')
        document = netmodel.measure(profile(body))
        errors = {name: int(n) for name, n in re.findall(r"errorstat_(\w+):count=(\d+)", server.cli("INFO", "errorstats"))}
        (total,) = re.findall(r"total_error_replies:(\d+)", server.cli("INFO", "stats"))
    assert_complete(document)
    assert_names_add_up(document)
    got = answers_of(document)
    assert got.pop("ok") == 200
    assert got == errors == {"WRONGTYPE": 100, "ERR": 100, "NOSCRIPT": 100}
    assert counts(document)["refused"] == int(total) == 300


@pytest.mark.parametrize(("app", "name"), [("memcache", "SERVER_ERROR"), ("memcache_meta", "SERVER_ERROR"), ("memcache_binary", "E2BIG")])
def test_errors_are_those_of_memcached(app: str, name: str, netmodel: Netmodel, profile: WriteProfile) -> None:
    with memcached() as server:
        flowops = '<flowop type="get" options="keys=k"/><flowop type="set" options="keys=k size=10"/><flowop type="set" options="keys=k size=2m"/>'
        body = asking(app, flowops, f"server={server.server}").replace('duration="200ms"', 'iterations="20"')
        document = netmodel.measure(profile(body))
        stats = server.stats()
    assert_complete(document)
    assert_names_add_up(document)
    assert answers_of(document) == {"ok": stats["cmd_get"] + 20, name: 20}
    assert stats["cmd_get"] == 20


@pytest.mark.parametrize("protocol", ["udp", "tcp"])
def test_rcodes_are_those_of_nsd(protocol: str, netmodel: Netmodel, profile: WriteProfile, tmp_path: Path) -> None:
    with nsd(tmp_path, "www A 127.0.0.1\n") as server:
        names = {"www.example.com": 3, "gone.example.com": 2, "www.example.org": 1}
        mix = "".join(f'<flowop type="query" options="name={name} timeout=5s" weight="{weight}"/>' for name, weight in names.items())
        document = netmodel.measure(profile(requests("dns", f"{server.server} protocol={protocol}", f"<mix>{mix}</mix>")))
        stats = server.stats()
    assert_complete(document)
    assert_names_add_up(document)
    assert answers_of(document) == {name: stats[f"num.rcode.{name}"] for name in ("NOERROR", "NXDOMAIN", "REFUSED")}


# What netmodel's own servers answer with fault=error.
FAILED = {"memcache": "SERVER_ERROR", "memcache_binary": "EINTERNAL", "redis": "ERR", "http": "503", "dns": "SERVFAIL"}


@pytest.mark.parametrize("app", FAILED)
def test_errors_of_netmodels_own_servers(app: str, netmodel: Netmodel, profile: WriteProfile) -> None:
    with public(netmodel, app, fault="error(every=4)") as server:
        document = netmodel.measure(profile(asking_public(app, server.port)))
    (verb,) = document["totals"]["verbs"]
    assert verb["answers"][FAILED[app]] == verb["outcomes"]["refused"] == server.outcomes()["refused"] == 20
    assert sum(verb["answers"].values()) == 80
    # What a server says itself has no names.
    assert all("answers" not in verb for verb in server.result["totals"]["verbs"])


def test_each_format_has_them(netmodel: Netmodel, profile: WriteProfile) -> None:
    with public(netmodel, "redis", fault="error(every=10)") as server:
        path = profile(asking_public("redis", server.port))
        text = netmodel.run("-m", path).out
        keys = netmodel.run("-m", path, "--format", "kv").out
        rows = list(csv.DictReader(io.StringIO(netmodel.run("-m", path, "--format", "csv").out)))
        runs = netmodel.run("-m", path, "--repeat", "2", "--format", "json").json()
    assert "\n  answers to get: ok 72, ERR 8\n" in text
    assert {"verb.get.answers_ok=72", "verb.get.answers_ERR=8"} <= set(keys.splitlines())
    assert [row["verb_get_answers"] for row in rows if row["verb_get_outcomes_requests"] == "80"] == ["ok:72 ERR:8"]
    assert_names_add_up(runs)
    assert [run["totals"]["verbs"][0]["answers"] for run in runs["repeat"]["runs"]] == [{"ok": 72, "ERR": 8}] * 2


def test_the_usual_answers_take_no_line(netmodel: Netmodel, profile: WriteProfile) -> None:
    with public(netmodel, "redis") as server:
        text = netmodel.run("-m", profile(asking_public("redis", server.port))).out
    assert "answers to" not in text


# What each of two protocols asks in turn, 20 times with each of two flows, and the names of both together.
SHARED = {
    "GET": ("redis", "command", 'text="GET x"', "http", "http", 'options="path=/bytes/1"', {"ok": 40, "200": 40}),
    "ping": ("redis", "ping", "", "ping", "ping", "", {"ok": 40}),
}


@pytest.mark.parametrize("verb", SHARED)
@pytest.mark.parametrize("turn", [1, -1])
def test_protocols_that_share_a_verb(verb: str, turn: int, netmodel: Netmodel, profile: WriteProfile) -> None:
    """What is usual with one is not counted as usual with the other, whichever stands first."""
    app, flowop, what, other, its_flowop, its_what, names = SHARED[verb]
    with redis() as there, public(netmodel, other) as served:
        asked = [(app, there.server, flowop, what), (other, f"127.0.0.1:{served.port}", its_flowop, its_what)]
        each = "".join(
            f'<flowop type="connect" options="remotehost=local app={app} server={server}"/><flowop type="{flowop}" {what}/><flowop type="disconnect"/>'
            for app, server, flowop, what in asked[::turn]
        )
        path = profile(f'<group nflows="2"><transaction name="ask" iterations="20">{each}</transaction></group>')
        document = netmodel.measure(path)
        text = netmodel.run("-m", path).out
    assert_complete(document)
    # All of them are usual.
    assert "answers to" not in text
    (found,) = document["totals"]["verbs"]
    assert (found["verb"], found["outcomes"]["ok"], found["answers"]) == (verb, 80, names)


def test_two_slaves_that_serve(netmodel: Netmodel, profile: WriteProfile) -> None:
    """Each has a group that asks it."""
    one = (
        '<group nflows="2"><transaction><flowop type="connect" options="remotehost={host} app=http"/></transaction>'
        '<transaction name="ask" iterations="30"><flowop type="http" options="path=/bytes/3"/><flowop type="http" options="path=/gone"/>'
        '</transaction><transaction><flowop type="disconnect"/></transaction></group>'
    )
    path = profile(one.format(host="127.0.0.1") + one.format(host="127.0.0.2"))
    port = free_port()
    with netmodel.slave("--bind", "127.0.0.1", "-P", port), netmodel.slave("--bind", "127.0.0.2", "-P", port):
        document = netmodel.measure(path, "-P", port)
    assert_complete(document)
    assert_names_add_up(document)
    (verb,) = document["totals"]["verbs"]
    assert verb["answers"] == {"200": 120, "404": 120}
    assert (verb["outcomes"]["ok"], verb["outcomes"]["refused"]) == (120, 120)
