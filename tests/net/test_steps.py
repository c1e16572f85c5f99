# SPDX-License-Identifier: Apache-2.0
"""Arrivals in steps: what was due in each is told apart, and whether its rate was reached."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from nmtest import Json, Netmodel, assert_complete, assert_ends_agree, defines, master_of, phase_of

WriteProfile = Callable[..., Path]

MIRRORED = "steps(500,1500,500,100ms,mirrored)"
RATES = [500, 1000, 1500, 1500, 1000, 500]


def assert_adds_up(phase: Json) -> list[Json]:
    """The rows have all that was due in the measured window, each pass once."""
    rows: list[Json] = phase["steps"]
    for name in ("due", "unsent", "dropped_queue", "dropped_late", "failed"):
        assert sum(row[name] for row in rows) == phase["load"][name], name
    for row in rows:
        assert row["due"] == row["sent"] + row["unsent"] + row["dropped_queue"] + row["dropped_late"]
        assert row["sent"] == row["answered"] + row["failed"]
        for time in ("latency_s", "response_s", "send_delay_s"):
            assert (row[time] or {"count": 0})["count"] == row["answered"]
        assert row["offered_per_s"] == pytest.approx(row["due"] / row["seconds"])
        assert row["achieved_per_s"] == pytest.approx((row["answered"] - row["tardy"]) / row["seconds"])
    return rows


@pytest.mark.parametrize("workers", [1, 3])
def test_each_step_has_what_was_due_in_it(workers: int, netmodel: Netmodel) -> None:
    document = netmodel.measure("tcp_rr", *defines(test_length="600ms", arrivals=MIRRORED, num_flows=6, num_threads=workers))
    assert_ends_agree(document)
    phase = phase_of(document, "request-response")
    rows = assert_adds_up(phase)
    assert [row["step"] for row in rows] == [1, 2, 3, 4, 5, 6]
    assert [row["planned_per_s"] for row in rows] == RATES
    assert [row["due"] for row in rows] == [rate / 10 for rate in RATES]
    assert [row["begin_s"] for row in rows] == pytest.approx([0, 0.1, 0.2, 0.3, 0.4, 0.5])
    assert [row["seconds"] for row in rows] == pytest.approx([0.1] * 6)
    assert sum(row["answered"] for row in rows) == phase["transactions"]
    most = max(row["response_s"]["max"] for row in rows)
    assert most == phase["response_s"]["max"]


def test_steps_that_come_again_are_one(netmodel: Netmodel) -> None:
    document = netmodel.measure("tcp_rr", *defines(test_length="500ms", arrivals="steps(500,1k,500,100ms)", num_flows=4))
    rows = assert_adds_up(phase_of(document, "request-response"))
    assert [(row["due"], row["offered_per_s"]) for row in rows] == [(150, 500), (200, 1000)]
    assert [row["seconds"] for row in rows] == pytest.approx([0.3, 0.2])


def test_a_warm_up_and_a_cool_down_are_of_no_step(netmodel: Netmodel) -> None:
    more = defines(test_length="600ms", arrivals=MIRRORED, num_flows=4, num_threads=2)
    document = netmodel.measure("tcp_rr", *more, "--warmup", "150ms", "--cooldown", "100ms")
    rows = assert_adds_up(phase_of(document, "request-response"))
    assert [row["step"] for row in rows] == [2, 3, 4, 5]
    assert [row["due"] for row in rows] == [50, 150, 150, 100]
    assert [row["seconds"] for row in rows] == pytest.approx([0.05, 0.1, 0.1, 0.1])


def test_a_rate_that_is_not_reached_is_that_of_its_step(netmodel: Netmodel, profile: WriteProfile) -> None:
    """Two connections carry 200 a second at most; what they are late with was due before."""
    document = netmodel.measure(
        profile(
            """<group nflows="2"><transaction><flowop type="connect" options="remotehost=local"/></transaction>
            <transaction name="ask" duration="400ms" arrivals="steps(5,1005,1k,200ms)"><flowop type="write" options="size=10"/>
            <flowop type="think" options="duration=10ms at=slave"/><flowop type="read" options="size=20"/></transaction></group>"""
        )
    )
    first, second = assert_adds_up(phase_of(document, "ask"))
    assert [first["due"], second["due"]] == [1, 201]
    assert second["verdict"] not in ("ok", "errors") and second["achieved_per_s"] < 250
    assert second["tardy"] >= second["due"] - 50
    assert second["response_s"]["p99"] > 5 * second["latency_s"]["p50"] / 2
    assert [warning for warning in document["run"]["warnings"] if "the rate of step" in warning]


@pytest.mark.parametrize(("app", "verb", "more"), [("echo", "echo", 'pipeline="4"'), ("memcache", "get", "")])
def test_requests_of_applications(app: str, verb: str, more: str, netmodel: Netmodel, profile: WriteProfile) -> None:
    options = "keys=k" if verb == "get" else "size=10"
    document = netmodel.measure(
        profile(
            f"""<keyspace name="k" count="100"/><group nflows="4" nthreads="2">
            <transaction><flowop type="connect" options="remotehost=local app={app}"/></transaction>
            <transaction name="ask" duration="300ms" arrivals="steps(500,1500,500,100ms)" {more}>
            <flowop type="{verb}" options="{options}"/></transaction></group>"""
        ),
        "-a",
    )
    assert_complete(document)
    phase = phase_of(document, "ask")
    rows = assert_adds_up(phase)
    assert [row["due"] for row in rows] == [50, 100, 150]
    for name, sum_of_all in phase["outcomes"].items():
        assert sum(row["outcomes"][name] for row in rows) == sum_of_all
    assert [[of["verb"] for of in row["verbs"]] for row in rows] == [[verb]] * 3
    assert [flowop["outcomes"]["requests"] for flowop in phase["flowops"]] == [phase["outcomes"]["requests"]]


def test_workers_that_are_processes(netmodel: Netmodel, profile: WriteProfile) -> None:
    document = netmodel.measure(
        profile(
            """<group nflows="4" nprocs="2"><transaction><flowop type="connect" options="remotehost=local"/></transaction>
            <transaction name="ask" duration="200ms" arrivals="steps(500,1k,500,100ms)"><flowop type="write" options="size=10"/>
            <flowop type="read" options="size=20"/></transaction></group>"""
        ),
        "-i",
        "50ms",
    )
    assert [row["due"] for row in assert_adds_up(phase_of(document, "ask"))] == [50, 100]


def test_runs_are_added_up(netmodel: Netmodel) -> None:
    more = [*defines(test_length="200ms", arrivals="steps(500,1k,500,100ms)", num_flows=4), "--repeat", 2]
    document = netmodel.measure("tcp_rr", *more)
    assert [row["due"] for row in phase_of(document, "request-response")["steps"]] == [50, 100]
    (pooled,) = document["repeat"]["steps"]
    assert pooled["group"] == document["groups"][0]["name"] and pooled["phase"] == 2
    assert [row["due"] for row in pooled["steps"]] == [100, 200]
    assert [row["response_s"]["count"] for row in pooled["steps"]] == [row["answered"] for row in pooled["steps"]]
    assert [row["offered_per_s"] for row in pooled["steps"]] == [500, 1000]
    text = netmodel.run("-m", "tcp_rr", *more, code=0).out
    assert "step, all runs" in text


def test_every_format_but_csv_has_them(netmodel: Netmodel) -> None:
    more = ["-m", "tcp_rr", *defines(test_length="200ms", arrivals="steps(500,1k,500,100ms)", num_flows=4)]
    keys = dict(line.split("=", 1) for line in netmodel.run(*more, "--format", "kv", code=0).out.splitlines())
    (prefix,) = {key.rsplit("1.due", 1)[0] for key in keys if key.endswith(".step.1.due")}
    assert prefix.endswith("transaction.2.step.")
    assert (keys[f"{prefix}1.due"], keys[f"{prefix}2.due"]) == ("50", "100")
    assert {f"{prefix}2.{name}" for name in ("planned_per_s", "sent", "answered", "failed", "response_p99", "latency_p50", "load")} <= set(keys)
    text = netmodel.run(*more, code=0).out
    (head,) = [line for line in text.splitlines() if line.startswith("  step  asked/s")]
    assert head.split()[2:] == ["due/s", "done/s", "due", "sent", "answered", "failed"]
    assert "response p99" in text and "service p50" in text
    assert "step" not in netmodel.run(*more, "--format", "csv", "-i", "100ms", code=0).out.splitlines()[0]


def test_rows_of_several_transactions_have_their_names(netmodel: Netmodel, profile: WriteProfile) -> None:
    ask = '<flowop type="write" options="size=10"/><flowop type="read" options="size=20"/></transaction>'
    asked = "".join(f'<transaction name="{name}" duration="20ms" arrivals="steps(500,1k,500,10ms)">{ask}' for name in ("first", "then"))
    path = profile(f'<group><transaction><flowop type="connect" options="remotehost=local"/></transaction>{asked}</group>')
    text = netmodel.run("-m", path, code=0).out
    assert {" ".join(match) for match in re.findall(r"(?m)^  (first|then) ([12]) ", text)} == {"first 1", "first 2", "then 1", "then 2"}


def test_there_are_none_without_steps(netmodel: Netmodel) -> None:
    document = netmodel.measure("tcp_rr", *defines(test_length="50ms", arrivals="const(1k/s)"), "--repeat", 2)
    assert "steps" not in phase_of(document, "request-response") and "steps" not in document["repeat"]


def test_many_steps_of_many_workers_take_little_memory(netmodel: Netmodel) -> None:
    """With the whole of their distributions they would take more than 500 MB."""
    more = defines(test_length="400ms", arrivals="steps(100,10k,100,2ms,mirrored)", num_flows=32, num_threads=16)
    document = netmodel.measure("tcp_rr", *more)
    rows = assert_adds_up(phase_of(document, "request-response"))
    assert len(rows) == 200
    assert master_of(document)["rusage"]["maxrss_kb"] < 400 * 1024
