# SPDX-License-Identifier: Apache-2.0
"""What is measured is what happened: times, counts, rates, latencies, and the grid they are cut by."""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Callable
from pathlib import Path

import pytest

from compose import ASK, CONNECT, DISCONNECT
from nmtest import Json, Netmodel, assert_complete, assert_ends_agree, at_most, defines, phase_of

WriteProfile = Callable[..., Path]
Validate = Callable[[Json], None]


@pytest.mark.parametrize(("text", "seconds"), [("50ms", 0.05), ("500ms", 0.5), ("1s", 1.0)])
@pytest.mark.alone
def test_durations_are_accurate(netmodel: Netmodel, text: str, seconds: float) -> None:
    tolerance = max(0.010, 0.02 * seconds)

    def off() -> float:
        document = netmodel.measure("tcp_rr", *defines(test_length=text))
        assert seconds <= document["run"]["elapsed_s"]
        windows = document["totals"], phase_of(document, "request-response")
        besides = (document["run"]["elapsed_s"] - seconds) * tolerance / 0.1  # of which a run has up to 0.1 s
        return float(max(besides, *(abs(window["seconds"] - seconds) for window in windows)))

    at_most(off, tolerance)


def test_rates_are_counts_over_seconds(netmodel: Netmodel) -> None:
    document = netmodel.measure("rpc_mix", *defines(test_length="300ms"))
    for window in (document["totals"], *document["groups"], *document["intervals"]):
        seconds = window["seconds"]
        assert window["transactions_per_s"] == pytest.approx(window["transactions"] / seconds, rel=1e-6)
        assert window["bits_sent_per_s"] == pytest.approx(8 * window["bytes_sent"] / seconds, rel=1e-6)
        assert window["bits_received_per_s"] == pytest.approx(8 * window["bytes_received"] / seconds, rel=1e-6)
        both = window["bits_sent_per_s"] + window["bits_received_per_s"]
        assert window["bits_per_s"] == pytest.approx(both, rel=1e-6)
    groups = document["groups"]
    assert sum(group["transactions"] for group in groups) == document["totals"]["transactions"]
    assert sum(group["bytes_received"] for group in groups) == document["totals"]["bytes_received"]


@pytest.mark.alone
def test_intervals_lie_on_a_grid_and_add_up(netmodel: Netmodel) -> None:
    document = netmodel.measure("tcp_rr", "-i", "100ms", *defines(test_length="500ms", num_flows=4))
    rows = document["intervals"]
    assert document["run"]["interval_s"] == 0.1
    assert len(rows) == 5
    for number, row in enumerate(rows):
        assert row["from_s"] == pytest.approx(number * 0.1, abs=1e-9)
        assert row["phase"] == 2
        assert row["part"] == "measured"
        if number < 4:
            assert row["to_s"] == pytest.approx((number + 1) * 0.1, abs=1e-9)
    for key in ("transactions", "bytes_sent", "bytes_received", "errors"):
        assert sum(row[key] for row in rows) == document["totals"][key], key
    assert sum(row["latency_s"]["count"] for row in rows) == document["totals"]["latency_s"]["count"]
    assert min(row["latency_s"]["min"] for row in rows) == document["totals"]["latency_s"]["min"]
    assert max(row["latency_s"]["max"] for row in rows) == document["totals"]["latency_s"]["max"]


@pytest.mark.alone
def test_the_last_interval_may_be_shorter(netmodel: Netmodel) -> None:
    rows = netmodel.measure("tcp_rr", "-i", "100ms", *defines(test_length="250ms"))["intervals"]
    assert [row["from_s"] for row in rows] == pytest.approx([0, 0.1, 0.2])
    assert rows[-1]["to_s"] == pytest.approx(0.25, abs=0.045), "before the next would be full"


@pytest.mark.alone
def test_intervals_of_hosts_lie_on_the_same_grid(netmodel: Netmodel) -> None:
    document = netmodel.measure("tcp_rr", "-i", "100ms", *defines(test_length="400ms"))
    for host in document["hosts"]:
        assert [row["from_s"] for row in host["intervals"]] == pytest.approx([0, 0.1, 0.2, 0.3])
        assert sum(row["transactions"] for row in host["intervals"]) == document["totals"]["transactions"]


def test_no_intervals(netmodel: Netmodel) -> None:
    document = netmodel.measure("tcp_rr", "-i", "0", *defines(test_length="100ms"))
    assert document["intervals"] == []
    assert document["run"]["interval_s"] == 0
    assert document["totals"]["transactions"] > 0


@pytest.mark.alone
def test_warmup_and_cooldown_are_cut(netmodel: Netmodel) -> None:
    document = netmodel.measure(
        "tcp_rr", "-i", "50ms", "--warmup", "100ms", "--cooldown", "150ms", *defines(test_length="500ms")
    )
    assert_ends_agree(document)
    assert (document["run"]["warmup_s"], document["run"]["cooldown_s"]) == (0.1, 0.15)
    totals = document["totals"]
    assert totals["seconds"] == pytest.approx(0.25, abs=0.045), "less than an interval away"
    everything = phase_of(document, "request-response")
    assert everything["seconds"] == pytest.approx(0.5, abs=0.045)
    assert totals["transactions"] < 0.8 * everything["transactions"]
    parts = {"warmup": 2, "measured": 5, "cooldown": 3}
    rows = document["intervals"]
    assert {part: sum(row["part"] == part for row in rows) for part in parts} == parts
    assert [row["from_s"] for row in rows] == sorted(row["from_s"] for row in rows)
    assert sum(row["transactions"] for row in rows) == everything["transactions"]
    measured = sum(row["transactions"] for row in rows if row["part"] == "measured")
    assert measured == pytest.approx(totals["transactions"], rel=0.05)


@pytest.mark.alone
def test_rates_of_arrival_are_those_of_the_window(netmodel: Netmodel, profile: WriteProfile) -> None:
    """The only message comes before the window opens; the counts are of all."""
    path = profile(
        '<group nthreads="1"><transaction><flowop type="connect" options="remotehost=local protocol=udp"/></transaction>'
        '<transaction duration="900ms" rate="1"><flowop type="write" options="size=1000"/></transaction></group>'
    )
    for cut, arrives in (([], True), (["--warmup", "400ms"], False), (["--cooldown", "300ms"], True)):
        document = netmodel.measure(path, *cut)
        assert_complete(document)
        for totals in (document["totals"], document["groups"][0]["phases"][1]):
            assert totals["messages"]["to_slaves"]["received"] == 1
        rate = document["totals"]["messages"]["to_slaves"]["bits_received_per_s"]
        assert (rate > 0) == arrives, cut
        if cut == ["--cooldown", "300ms"]:
            assert rate == pytest.approx(8000 / 0.6, rel=0.1)


def test_the_default_percentiles(netmodel: Netmodel) -> None:
    latency = netmodel.measure("tcp_rr", *defines(test_length="100ms"))["totals"]["latency_s"]
    assert {key for key in latency if re.match(r"p\d", key)} == {"p50", "p90", "p95", "p99", "p99_9"}


def test_other_percentiles(netmodel: Netmodel) -> None:
    document = netmodel.measure("tcp_rr", "--percentiles", "25,75,99.99", *defines(test_length="100ms"))
    latency = document["totals"]["latency_s"]
    assert {key for key in latency if re.match(r"p\d", key)} == {"p25", "p75", "p99_99"}
    assert latency["min"] <= latency["p25"] <= latency["p75"] <= latency["p99_99"] <= latency["max"] * 1.01


def test_the_ends_of_percentiles(netmodel: Netmodel) -> None:
    document = netmodel.measure("tcp_rr", "--percentiles", "0,50,100", "-i", "50ms", *defines(test_length="200ms"))
    for window in (document["totals"], *document["groups"], *document["intervals"]):
        latency = window["latency_s"]
        if latency is None and window is not document["totals"]:
            continue  # an interval in which this machine did something else
        assert latency["p0"] == latency["min"]
        assert latency["p100"] == latency["max"]
        assert latency["p0"] <= latency["p50"] <= latency["p100"]


def test_as_many_percentiles_as_a_hundred_has(netmodel: Netmodel, validate: Validate) -> None:
    """Of each whole percent, and some: in every format."""
    asked = [*range(101), 99.5, 99.9, 99.99, *(n + 0.25 for n in range(24))]
    words = ("-m", "tcp_rr", "--percentiles", ",".join(map(str, asked)), *defines(test_length="100ms"), "--format")
    document = netmodel.run(*words, "json", code=0).json()
    validate(document)
    found = document["totals"]["latency_s"]
    assert {name for name in found if name[0] == "p"} == {f"p{value:g}".replace(".", "_") for value in asked}
    values = [found[f"p{value:g}".replace(".", "_")] for value in sorted(asked)]
    assert values == sorted(values)
    keys = dict(line.split("=", 1) for line in netmodel.run(*words, "kv", code=0).out.splitlines())
    assert keys["percentiles"] == "".join(f"{value:g}," for value in sorted(asked))
    assert {f"latency_p{value:g}" for value in asked} <= set(keys)
    text = netmodel.run(*words, "text", code=0).out
    assert re.findall(r"\bp([\d.]+) ", text) == [f"{value:g}" for value in sorted(asked)]
    assert max(map(len, text.splitlines())) < 160
    header = netmodel.run(*words, "csv", code=0).out.splitlines()[0]
    assert {f"latency_p{value:g}_s".replace(".", "_") for value in asked} <= set(header.split(","))


@pytest.mark.parametrize("flows", [1, 8])
@pytest.mark.alone
def test_latency_is_plausible(netmodel: Netmodel, flows: int) -> None:
    document = netmodel.measure("tcp_rr", *defines(test_length="300ms", num_flows=flows))
    totals = document["totals"]
    latency = totals["latency_s"]
    order = [latency[key] for key in ("min", "p50", "p90", "p95", "p99", "p99_9")]
    assert order == sorted(order)
    assert 0 < latency["min"] <= latency["mean"] <= latency["max"]
    assert latency["p99_9"] <= latency["max"] * (1 + 1 / 64)
    assert 0 <= latency["stddev"] <= latency["max"]
    assert latency["count"] == totals["transactions"]
    # Each flow does one transaction after the other, so its latencies fill the time.
    assert latency["count"] * latency["mean"] == pytest.approx(flows * totals["seconds"], rel=0.1)


@pytest.mark.alone
def test_latency_of_a_known_wait(netmodel: Netmodel, profile: WriteProfile) -> None:
    path = profile(
        f'<group nthreads="1">{CONNECT}<transaction name="ask" iterations="10">'
        '<flowop type="write" options="size=10"/><flowop type="think" options="duration=20ms at=slave"/>'
        f'<flowop type="read" options="size=20"/></transaction>{DISCONNECT}</group>'
    )
    document = netmodel.measure(path)
    latency = phase_of(document, "ask")["latency_s"]
    assert latency["min"] >= 0.0199
    assert latency["min"] < 0.04
    assert_ends_agree(document)


@pytest.mark.alone
def test_a_rate_is_kept(netmodel: Netmodel, profile: WriteProfile) -> None:
    path = profile(
        f'<group nthreads="1" nflows="2">{CONNECT}'
        f'<transaction name="ask" duration="1s" rate="500">{ASK}</transaction>{DISCONNECT}</group>'
    )

    def off() -> float:
        """By what part of it; half of the answers take less than 2 ms, which is the time between two passes."""
        document = netmodel.measure(path)
        assert_ends_agree(document)
        totals = document["totals"]
        service, response = totals["latency_s"], totals["response_s"]
        assert response["count"] == service["count"] == totals["transactions"]
        assert service["mean"] <= response["mean"] * 1.001
        assert "response_s" in document["groups"][0] and "response_s" in phase_of(document, "ask")
        return float(max(abs(totals["transactions_per_s"] / 1000 - 1), service["p50"] / 0.002 * 0.02))

    at_most(off, 0.02)


@pytest.mark.alone
def test_a_rate_that_cannot_be_kept_shows_in_the_response(netmodel: Netmodel, profile: WriteProfile) -> None:
    path = profile(
        f'<group nthreads="1">{CONNECT}<transaction name="ask" duration="500ms" rate="1000">'
        '<flowop type="write" options="size=10"/><flowop type="think" options="duration=10ms at=slave"/>'
        f'<flowop type="read" options="size=20"/></transaction>{DISCONNECT}</group>'
    )
    document = netmodel.measure(path)
    assert phase_of(document, "ask")["planned_per_s"] == 1000
    assert "planned_per_s" not in document["groups"][0]["phases"][0]
    totals = document["totals"]
    assert totals["transactions_per_s"] < 110
    assert totals["latency_s"]["max"] < 0.2
    assert totals["response_s"]["max"] > 0.3, "the last pass was due long before it was sent"


def test_a_rate_that_cannot_be_kept_is_told_in_the_text(netmodel: Netmodel, profile: WriteProfile) -> None:
    path = profile(
        f'<group name="g" nthreads="1" nflows="2">{CONNECT}<transaction name="ask" duration="500ms" rate="1000">'
        f'<flowop type="think" options="duration=10ms at=slave"/>{ASK}</transaction>{DISCONNECT}</group>'
    )
    out = netmodel.run("-m", path, code=0).out
    assert re.search(r"^  behind +g ask: [\d.]+/s of 2000/s planned$", out, re.MULTILINE), out
    assert re.search(r"^  response +min ", out, re.MULTILINE), out


def test_without_a_rate_there_is_no_response_time(netmodel: Netmodel) -> None:
    document = netmodel.measure("tcp_rr", *defines(test_length="100ms"))
    assert "response_s" not in document["totals"]


def test_repetitions_are_summed_up(netmodel: Netmodel, validate: Callable[[Json], None]) -> None:
    document = netmodel.measure("tcp_rr", "--repeat", "3", *defines(test_length="100ms"))
    validate(document)
    repeat = document["repeat"]
    assert repeat["n"] == 3
    assert len(repeat["runs"]) == 3
    assert len({entry["run"]["id"] for entry in repeat["runs"]}) == 3
    assert repeat["runs"][-1]["totals"] == document["totals"], "the document is the last run's"
    rates = [entry["totals"]["transactions_per_s"] for entry in repeat["runs"]]
    summary = repeat["summary"]["transactions_per_s"]
    assert summary["n"] == 3
    assert summary["mean"] == pytest.approx(statistics.mean(rates), rel=1e-9)
    assert summary["stddev"] == pytest.approx(statistics.stdev(rates), rel=1e-6)
    assert summary["ci95"] == pytest.approx(4.302653 * statistics.stdev(rates) / math.sqrt(3), rel=1e-4)


def test_one_run_has_no_repetition(netmodel: Netmodel) -> None:
    assert "repeat" not in netmodel.measure("tcp_rr", *defines(test_length="50ms"))


def test_the_seed_is_reported(netmodel: Netmodel) -> None:
    given = netmodel.measure("tcp_rr", "--seed", "42", *defines(test_length="50ms"))
    assert given["run"]["seed"] == 42
    chosen = [netmodel.measure("tcp_rr", *defines(test_length="50ms"))["run"]["seed"] for _ in range(2)]
    assert chosen[0] != chosen[1]
    assert all(isinstance(seed, int) and 0 <= seed < 2**53 for seed in chosen)
