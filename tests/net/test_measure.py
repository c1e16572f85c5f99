# SPDX-License-Identifier: Apache-2.0
"""What is measured is what happened: times, counts, rates, latencies, and the grid they are cut by."""

from __future__ import annotations

import csv
import math
import os
import re
import statistics
import threading
import time
from collections.abc import Callable
from contextlib import nullcontext, suppress
from pathlib import Path

import pytest

from nmtest import (
    Json,
    Netmodel,
    Slave,
    assert_complete,
    assert_ends_agree,
    at_most,
    children,
    defines,
    master_of,
    phase_of,
    slaves_of,
    wait_until,
)

pytestmark = pytest.mark.alone

WriteProfile = Callable[..., Path]
Validate = Callable[[Json], None]

CONNECT = '<transaction name="connect"><flowop type="connect" options="remotehost=local nodelay"/></transaction>'
DISCONNECT = '<transaction name="disconnect"><flowop type="disconnect"/></transaction>'
ASK = '<flowop type="write" options="size=10"/><flowop type="read" options="size=20"/>'


@pytest.mark.parametrize(("text", "seconds"), [("50ms", 0.05), ("500ms", 0.5), ("1s", 1.0)])
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


def test_the_last_interval_may_be_shorter(netmodel: Netmodel) -> None:
    rows = netmodel.measure("tcp_rr", "-i", "100ms", *defines(test_length="250ms"))["intervals"]
    assert [row["from_s"] for row in rows] == pytest.approx([0, 0.1, 0.2])
    assert rows[-1]["to_s"] == pytest.approx(0.25, abs=0.045), "before the next would be full"


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


@pytest.mark.parametrize("flows", [1, 8])
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


def test_iterations_are_exact(netmodel: Netmodel, profile: WriteProfile) -> None:
    path = profile(
        f'<group name="g" nthreads="2" nflows="5">{CONNECT}'
        f'<transaction name="ask" iterations="200">{ASK}</transaction>{DISCONNECT}</group>'
    )
    document = netmodel.measure(path)
    assert_complete(document)
    assert_ends_agree(document)
    ask = phase_of(document, "ask")
    assert (ask["transactions"], ask["bytes_sent"], ask["bytes_received"]) == (1000, 10_000, 20_000)
    assert ask["latency_s"]["count"] == 1000
    assert phase_of(document, "connect")["connects"] == 5
    counts = master_of(document)["counts"]
    assert counts["transactions"] == 5 + 1000 + 5
    assert [phase["measured"] for phase in document["groups"][0]["phases"]] == [True] * 3
    assert document["totals"]["transactions"] == 1010, "all count where none has a duration"


def test_only_transactions_with_a_duration_are_measured(netmodel: Netmodel) -> None:
    document = netmodel.measure("tcp_rr", *defines(test_length="100ms"))
    measured = {phase["name"]: phase["measured"] for phase in document["groups"][0]["phases"]}
    assert measured == {"connect": False, "request-response": True, "disconnect": False}
    assert document["totals"]["transactions"] == phase_of(document, "request-response")["transactions"]


def test_think_time_is_respected(netmodel: Netmodel, profile: WriteProfile) -> None:
    for how in ("idle", "busy"):
        path = profile(
            f'<group nthreads="1">{CONNECT}<transaction name="ask" duration="500ms">{ASK}'
            f'<flowop type="think" options="duration=10ms {how} at=master"/></transaction>{DISCONNECT}</group>'
        )
        totals = netmodel.measure(path)["totals"]
        assert 20 < totals["transactions_per_s"] <= 101
        assert totals["pass_s"]["min"] >= 0.0099


THINKS = (
    f'<group name="g" nthreads="1" nflows="4">{CONNECT}<transaction name="ask" duration="400ms">{ASK}'
    f'<flowop type="think" options="duration=20ms"/></transaction>{DISCONNECT}</group>'
)


def test_the_time_that_the_client_thinks_is_no_latency(
    netmodel: Netmodel, profile: WriteProfile, validate: Validate, tmp_path: Path
) -> None:
    """In no output: the exchange takes less than a millisecond, even where this machine is busy."""
    path = profile(THINKS)
    logs = ("--all-samples", tmp_path / "samples", "--log-rtt", tmp_path / "rtt.csv", "-i", "200ms")
    document = netmodel.measure(path, *logs)
    validate(document)
    for window in (document["totals"], document["groups"][0], phase_of(document, "ask"), *document["intervals"]):
        assert window["latency_s"]["p50"] < 0.01 < 0.0199 <= window["pass_s"]["p50"]
        assert window["latency_s"]["count"] == window["pass_s"]["count"] == window["transactions"]
    assert "pass_s" not in phase_of(document, "connect")
    rows = list(csv.DictReader((tmp_path / "samples").read_text().splitlines()))
    means = [float(row["latency_mean"]) for row in rows if row["host"] == "master" and row["latency_mean"]]
    assert statistics.median(means) < 0.01
    passes = [float(line.split(",")[-1]) for line in (tmp_path / "rtt.csv").read_text().splitlines()[1:]]
    assert len(passes) == document["totals"]["transactions"]
    assert statistics.median(passes) < 0.01


def test_a_think_time_before_an_answer_is_part_of_the_exchange(netmodel: Netmodel, profile: WriteProfile) -> None:
    """The slave is at it meanwhile: nobody can tell the one wait from the other."""
    asked, answered = '<flowop type="write" options="size=64"/>', '<flowop type="read" options="size=64"/>'
    thinks = '<flowop type="think" options="duration=6ms at=master"/><flowop type="think" options="duration=5ms at=slave"/>'
    path = profile(
        f'<group name="g">{CONNECT}<transaction name="ask" duration="200ms">{asked}{thinks}{answered}'
        f'<flowop type="think" options="duration=9ms at=master"/></transaction>{DISCONNECT}</group>'
    )
    totals = netmodel.measure(path)["totals"]
    assert totals["latency_s"]["min"] > 0.0059
    assert totals["pass_s"]["min"] > 0.0149 > totals["latency_s"]["p50"]


def test_the_whole_pass_stays_to_be_seen(netmodel: Netmodel, profile: WriteProfile) -> None:
    path = profile(THINKS)
    kv = dict(line.split("=", 1) for line in netmodel.run("-m", path, "--format", "kv", code=0).out.splitlines())
    assert float(kv["latency_p50"]) < 0.01 < float(kv["pass_p50"])
    assert kv["group.g.pass_p50"] == kv["pass_p50"]
    (row,) = csv.DictReader(netmodel.run("-m", path, "--format", "csv", "-i", "2s", code=0).out.splitlines())
    assert float(row["latency_p50_s"]) < 0.01 < float(row["pass_p50_s"])
    out = netmodel.run("-m", path, "-t", code=0).out
    assert re.search(r"^  latency +min .*\n.*\n  whole pass +min ", out, re.MULTILINE), out
    # uperf's table has uperf's meaning: column avg, at both ends, which both think.
    averages = [float(avg) for avg in re.findall(r"^  Txn1 +ask +\S+ +g +\d+ +([\d.]+) ms ", out, re.MULTILINE)]
    assert len(averages) == 2 and min(averages) > 19, out


def test_a_rate_has_the_think_time_in_its_response_alone(netmodel: Netmodel, profile: WriteProfile) -> None:
    path = profile(THINKS.replace('duration="400ms"', 'duration="400ms" rate="20"'))
    totals = netmodel.measure(path)["totals"]
    assert totals["latency_s"]["p50"] < 0.01 < 0.0199 <= totals["pass_s"]["min"] <= totals["response_s"]["min"] * 1.01


def test_groups_that_do_not_think_are_in_the_passes_of_all(netmodel: Netmodel, profile: WriteProfile) -> None:
    quick = THINKS.replace('name="g"', 'name="q"').replace('<flowop type="think" options="duration=20ms"/>', "")
    document = netmodel.measure(profile(THINKS + quick), "-i", "100ms")
    thinks, does_not = document["groups"]
    assert "pass_s" in thinks and "pass_s" not in does_not
    totals = document["totals"]
    assert totals["pass_s"]["count"] == totals["latency_s"]["count"] == totals["transactions"]
    assert totals["pass_s"]["max"] >= 0.0199
    assert sum(row["pass_s"]["count"] for row in document["intervals"] if row["pass_s"]) == totals["transactions"]


def test_idle_flows_let_the_others_go_on(netmodel: Netmodel, profile: WriteProfile) -> None:
    path = profile(
        f'<group nthreads="1" nflows="20">{CONNECT}<transaction name="ask" iterations="5">{ASK}'
        f'<flowop type="think" options="duration=20ms idle at=master"/></transaction>{DISCONNECT}</group>'
    )
    document = netmodel.measure(path)
    assert phase_of(document, "ask")["transactions"] == 100
    assert phase_of(document, "ask")["seconds"] < 1.8, "twenty flows wait together, not in turn"


def test_the_null_transport_measures_the_engine(netmodel: Netmodel, profile: WriteProfile) -> None:
    path = profile(
        '<group nthreads="1"><transaction><flowop type="connect" options="remotehost=local protocol=null"/>'
        '</transaction><transaction name="spin" duration="200ms"><flowop type="write" options="size=1m"/>'
        '<flowop type="read" options="size=1m"/></transaction>'
        '<transaction><flowop type="disconnect"/></transaction></group>'
    )
    document = netmodel.measure(path)
    assert_complete(document)
    assert slaves_of(document) == [], "no network, no slave"
    assert document["totals"]["transactions_per_s"] > 100_000
    spin = phase_of(document, "spin")
    assert spin["bytes_sent"] == spin["bytes_received"] == spin["transactions"] << 20


def test_unix_sockets(netmodel: Netmodel, profile: WriteProfile) -> None:
    path = profile(
        '<group nthreads="2" nflows="6"><transaction><flowop type="connect" options="remotehost=local protocol=unix"/>'
        f'</transaction><transaction name="ask" duration="200ms">{ASK}</transaction>'
        '<transaction><flowop type="disconnect"/></transaction></group>'
    )
    document = netmodel.measure(path)
    assert_complete(document)
    assert_ends_agree(document)
    assert document["totals"]["transactions"] > 100


def test_a_stream_over_unix_sockets(netmodel: Netmodel, profile: WriteProfile) -> None:
    path = profile(
        '<group nthreads="1"><transaction><flowop type="accept" options="remotehost=local protocol=unix"/>'
        '</transaction><transaction name="take" duration="200ms"><flowop type="read" options="size=3000000"/>'
        '</transaction><transaction><flowop type="disconnect"/></transaction></group>'
    )
    document = netmodel.measure(path)
    assert_ends_agree(document)
    assert document["totals"]["bytes_received"] == 3_000_000 * document["totals"]["transactions"] > 0


@pytest.mark.usefixtures("need_ipv6")
def test_ipv6(netmodel: Netmodel, slave: Slave) -> None:
    document = netmodel.measure("tcp_rr", "-P", str(slave.port), *defines(test_length="100ms", host="::1"))
    assert_ends_agree(document)
    assert slaves_of(document)[0]["address"] == "::1"


def test_ipv4_and_names(netmodel: Netmodel, slave: Slave) -> None:
    for host in ("127.0.0.1", "localhost"):
        document = netmodel.measure("tcp_rr", "-P", str(slave.port), *defines(test_length="100ms", host=host))
        assert_ends_agree(document)
        assert slaves_of(document)[0]["name"] == host
        assert slaves_of(document)[0]["address"] in ("127.0.0.1", "::1")


def test_flows_are_spread_over_workers(netmodel: Netmodel) -> None:
    args = ["-v", *defines(test_length="2s", num_flows=8, num_threads=3)]
    with netmodel.started("-m", "tcp_rr", *args) as master:
        master.wait_line("phase 2 of 3 begins")
        both = [master.pid, *wait_until(lambda: children(master.pid), what="the embedded slave")]
        assert len(both) == 2
        for pid in both:
            assert len(os.listdir(f"/proc/{pid}/task")) in (4, 5), "one and the workers; a sanitizer may have its own"
    document = netmodel.measure("tcp_rr", *defines(test_length="200ms", num_flows=8, num_threads=3))
    assert (document["groups"][0]["workers"], document["groups"][0]["flows"]) == (3, 8)
    assert_ends_agree(document)


def test_workers_are_placed(netmodel: Netmodel) -> None:
    cpu = max(os.sched_getaffinity(0))
    args = ["-v", "--cpus", str(cpu), "--slave-cpus", str(cpu), *defines(test_length="2s")]
    with netmodel.started("-m", "tcp_rr", *args) as master:
        master.wait_line("phase 2 of 3 begins")
        for pid in [master.pid, *children(master.pid)]:
            workers = [int(task) for task in os.listdir(f"/proc/{pid}/task") if int(task) != pid]
            assert {cpu} in [os.sched_getaffinity(task) for task in workers]


def test_groups_may_have_different_numbers_of_transactions(netmodel: Netmodel, profile: WriteProfile) -> None:
    path = profile(
        f'<group name="long" nthreads="1">{CONNECT}<transaction name="one" duration="200ms">{ASK}</transaction>'
        f'<transaction name="two" iterations="50">{ASK}</transaction>{DISCONNECT}</group>'
        f'<group name="short" nthreads="1" nflows="3">{CONNECT}'
        f'<transaction name="once" iterations="7">{ASK}</transaction></group>'
    )
    document = netmodel.measure(path)
    assert_complete(document)
    assert_ends_agree(document)
    assert [len(group["phases"]) for group in document["groups"]] == [4, 2]
    assert phase_of(document, "once", group=1)["transactions"] == 21
    assert phase_of(document, "two")["transactions"] == 50


def test_phases_are_entered_together(netmodel: Netmodel, profile: WriteProfile) -> None:
    path = profile(
        f'<group name="slow" nthreads="1">{CONNECT}<transaction name="wait" duration="300ms">{ASK}</transaction>'
        f'<transaction name="then" iterations="5">{ASK}</transaction>{DISCONNECT}</group>'
        f'<group name="quick" nthreads="1">{CONNECT}<transaction name="hop" iterations="1">{ASK}</transaction>'
        f'<transaction name="then" iterations="5">{ASK}</transaction>{DISCONNECT}</group>'
    )
    document = netmodel.measure(path)
    assert_ends_agree(document)
    for slow, quick in zip(document["groups"][0]["phases"], document["groups"][1]["phases"], strict=True):
        assert slow["phase"] == quick["phase"]
        assert slow["begin_s"] == pytest.approx(quick["begin_s"], abs=0.1)
    wait, then = phase_of(document, "wait"), phase_of(document, "then", group=1)
    assert then["begin_s"] >= wait["begin_s"] + 0.3


def test_both_ends_may_lead(netmodel: Netmodel, profile: WriteProfile) -> None:
    path = profile(
        f'<group name="ours" nthreads="1" nflows="3">{CONNECT}<transaction duration="200ms">{ASK}</transaction>'
        f'{DISCONNECT}</group><group name="theirs" nthreads="1" nflows="3">'
        '<transaction><flowop type="accept" options="remotehost=local nodelay"/></transaction>'
        '<transaction duration="200ms"><flowop type="read" options="size=10"/>'
        f'<flowop type="write" options="size=20"/></transaction>{DISCONNECT}</group>'
    )
    document = netmodel.measure(path)
    assert_complete(document)
    assert_ends_agree(document)
    assert all(group["transactions"] > 10 for group in document["groups"])


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


def test_a_window_of_a_few_ticks_has_no_cpu_shares(
    netmodel: Netmodel, profile: WriteProfile, validate: Callable[[Json], None]
) -> None:
    body = (
        '<group><transaction iterations="1"><flowop type="think" options="duration=1ms"/>'
        '<flowop type="connect" options="remotehost=local protocol=tcp"/></transaction></group>'
    )
    document = netmodel.measure(profile(body), "-i", "1ms")
    validate(document)
    for host in document["hosts"]:
        if host["cpu"].get("n_cpus", 0) > 1 and document["run"]["elapsed_s"] > 0.01:
            pytest.skip("this machine was too busy for a short run")
        assert "10 ticks" in host["cpu"]["unavailable"]
        assert all(row["cpu"] is None for row in host["intervals"])


def test_hosts_are_described(netmodel: Netmodel) -> None:
    document = netmodel.measure("tcp_rr", *defines(test_length="300ms", num_flows=3))
    for host in document["hosts"]:
        facts = host["facts"]
        assert facts["hostname"] == os.uname().nodename
        assert facts["kernel"] == os.uname().release
        assert facts["cpus"] == len(os.sched_getaffinity(0))
        cpu = host["cpu"]
        assert cpu["n_cpus"] >= 1
        shares = [cpu[key] for key in ("user", "nice", "system", "softirq", "irq", "iowait", "steal", "idle")]
        assert sum(shares) == pytest.approx(1, abs=0.01)
        rusage = host["rusage"]
        assert 0 < rusage["utime_s"] + rusage["stime_s"] < 2
        assert rusage["maxrss_kb"] > 500
        connections = host["connections"]
        assert connections["count"] == 3
        srtt = connections["srtt_s"]
        assert 0 < connections["min_rtt_s"] <= srtt["max"] and srtt["min"] <= srtt["mean"] <= srtt["max"] < 1
        assert host["tcp"]["segments_sent"] >= document["totals"]["transactions"]
        loopback = next(nic for nic in host["nics"] if nic["name"] == "lo")
        assert loopback["tx_packets"] >= document["totals"]["transactions"]
    assert slaves_of(document)[0]["rtt_s"] > 0
    assert master_of(document)["rtt_s"] is None


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


def interrupts_so_far() -> dict[str, int]:
    """The test's own reading of what the kernel has counted since it was started."""
    stat = dict(line.split(" ", 1) for line in Path("/proc/stat").read_text().splitlines())
    counts = {"hardware": int(stat["intr"].split()[0]), "context_switches": int(stat["ctxt"])}
    for line in Path("/proc/softirqs").read_text().splitlines()[1:]:
        kind, numbers = line.split(":")
        counts[kind.strip().lower()] = sum(map(int, numbers.split()))
    counts["total"] = sum(counts.values()) - counts["hardware"] - counts["context_switches"]
    return counts


@pytest.mark.needs("softirqs")
@pytest.mark.parametrize("embedded", [True, False], ids=["embedded", "slave"])
def test_interrupts_of_the_window(netmodel: Netmodel, validate: Validate, embedded: bool) -> None:
    words = defines(num_transactions=20000, num_flows=4, test_length="30s")
    with nullcontext() if embedded else netmodel.slave() as slave:
        if slave:
            words += ["-P", str(slave.port), *defines(host="127.0.0.1")]
        before, begin = interrupts_so_far(), time.monotonic()
        document = netmodel.measure("tcp_rr", *words)
        after, elapsed = interrupts_so_far(), time.monotonic() - begin
    validate(document)
    assert len(document["hosts"]) == 2
    for host in document["hosts"]:
        counts = host["interrupts"] | host["softirqs"]
        assert 0 < counts.pop("seconds") == host["interrupts"]["seconds"] <= elapsed
        assert set(counts) == set(before)
        for name, count in counts.items():
            assert 0 <= count <= after[name] - before[name], name
        assert sum(counts[kind] for kind in before if kind in host["softirqs"]) == 2 * counts["total"]
        # A request and an answer each, of which some may come together.
        assert counts["net_rx"] >= document["totals"]["transactions"] / 2
        assert counts["context_switches"] > 0
        assert counts["hardware"] > 0


@pytest.mark.needs("root", "mountns", "softirqs")
def test_interrupts_that_cannot_be_read_are_not_none(netmodel: Netmodel, validate: Validate, tmp_path: Path) -> None:
    (tmp_path / "stat").write_text("cpu  9 9 9 9 9 9 9 9\nintr 0\nctxt 0\n")
    script = 'mount --bind /dev/null /proc/softirqs && mount --bind "$0" /proc/stat && exec "$@"'
    prefix = ("unshare", "--mount", "sh", "-c", script, str(tmp_path / "stat"))
    words = ("-m", "tcp_rr", *defines(test_length="100ms"), "--format")
    document = netmodel.run(*words, "json", prefix=prefix, code=0).json()
    validate(document)
    for entry in document["hosts"]:
        assert entry["interrupts"] == {"unavailable": "/proc/stat: the kernel does not count them"}
        assert entry["softirqs"] == {"unavailable": "/proc/softirqs: unknown form"}
    assert "switches" not in netmodel.run(*words, "text", "-k", prefix=prefix, code=0).out
    assert "softirqs" not in netmodel.run(*words, "kv", prefix=prefix, code=0).out


def feed(fifo: Path, over: threading.Event) -> None:
    """Answers each reader after half a second, as a kernel that is slow to tell a frequency."""
    while not over.wait(0.005):
        try:
            file = os.open(fifo, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:  # nobody reads
            continue
        over.wait(0.5)
        with suppress(OSError):
            os.write(file, b"2000000\n")
        os.close(file)


@pytest.mark.needs("root", "mountns")
def test_a_slow_frequency_is_read_outside_of_the_window(netmodel: Netmodel, tmp_path: Path) -> None:
    fifo = tmp_path / "cpu0" / "cpufreq" / "scaling_cur_freq"
    fifo.parent.mkdir(parents=True)
    os.mkfifo(fifo)
    prefix = ("unshare", "--mount", "sh", "-c", 'mount --bind "$0" /sys/devices/system/cpu && exec "$@"', str(tmp_path))
    over = threading.Event()
    feeder = threading.Thread(target=feed, args=(fifo, over))
    feeder.start()
    try:
        document = netmodel.measure("tcp_rr", *defines(test_length="1s"), prefix=prefix)
    finally:
        over.set()
        feeder.join()
    assert document["totals"]["seconds"] < 1.3
    known = [host["cpufreq"] for host in document["hosts"] if "unavailable" not in host["cpufreq"]]
    assert [entry["frequency_hz"] for entry in known] == [2e9] * len(known)


def taken_in_so_far() -> list[int]:
    """The test's own reading: packets taken in, dropped, and left for later."""
    rows = [line.split()[:3] for line in Path("/proc/net/softnet_stat").read_text().splitlines()]
    return [sum(int(row[column], 16) for row in rows) for column in range(3)]


@pytest.mark.needs("softnet")
def test_what_the_machine_took_in_and_waited_for(netmodel: Netmodel, validate: Validate) -> None:
    before, begin = taken_in_so_far(), time.monotonic()
    document = netmodel.measure("tcp_rr", *defines(num_transactions=2000, num_flows=4, test_length="30s"))
    after, elapsed = taken_in_so_far(), time.monotonic() - begin
    validate(document)
    for host in document["hosts"]:
        counts = host["softnet"]
        for name, old, new in zip(("processed", "dropped", "squeezed"), before, after, strict=True):
            assert 0 <= counts[name] <= (new - old) % 2**32, name
        assert counts["processed"] >= document["totals"]["transactions"]
        assert 0 < counts["seconds"] <= elapsed
        waited = host["pressure"]
        assert "unavailable" in waited or all(0 <= (waited[name] or 0) <= elapsed for name in waited)
        awake = host["unhalted"]
        assert "unavailable" in awake or 0 < awake["busy"] < 1.05


@pytest.mark.needs("root", "mountns", "perf")
def test_cpu_by_the_hardware(netmodel: Netmodel, validate: Validate) -> None:
    """The kernel's clock of each CPU stands for the hardware's counters: as if no CPU were ever halted."""
    devices = "/sys/bus/event_source/devices"
    script = (
        f"mount -t tmpfs none {devices} && mkdir -p {devices}/msr/events && cd {devices}/msr && echo 1 >type && "
        "for event in mperf aperf tsc; do echo event=0x0 >events/$event; done && exec \"$@\""
    )
    prefix = ("unshare", "--mount", "sh", "-c", script, "sh")
    words = ("-m", "tcp_rr", *defines(test_length="500ms"), "--warmup", "100ms", "--format", "json")
    document = netmodel.run(*words, prefix=prefix, code=0).json()
    validate(document)
    for host in document["hosts"]:
        awake = host["unhalted"]
        assert awake["source"] == "msr"
        assert awake["busy"] == pytest.approx(1, rel=0.05)
        assert awake["n_cpus"] == host["cpu"]["n_cpus"]
        assert awake["frequency_hz"] == pytest.approx(1e9, rel=0.05)
        assert awake["awake_s"] == pytest.approx(awake["n_cpus"] * 0.5, rel=0.3)
        assert -0.1 < awake["hidden"] < 1.1


def test_each_cpu(netmodel: Netmodel, validate: Validate) -> None:
    """Together they are the machine."""
    document = netmodel.measure("tcp_rr", *defines(test_length="1s"))
    validate(document)
    for host in document["hosts"]:
        cpus, whole = host["cpus"], host["cpu"]
        assert len({cpu["cpu"] for cpu in cpus}) == len(cpus) == whole["n_cpus"]
        for name in ("user", "system", "softirq", "idle", "busy"):
            # Each is read a moment later than their sum.
            assert sum(cpu[name] for cpu in cpus) / len(cpus) == pytest.approx(whole[name], abs=0.05), name
        assert all(sum(cpu.values()) - cpu["cpu"] - cpu["busy"] == pytest.approx(1) for cpu in cpus)


@pytest.mark.needs("root", "mountns")
def test_frequencies_and_accounting_of_interrupts(netmodel: Netmodel, validate: Validate, tmp_path: Path) -> None:
    """Of a machine with cpufreq and a kernel that measures interrupts."""
    config = Path("/proc/config.gz")
    if not config.exists():
        pytest.skip("the kernel does not show its configuration")
    (tmp_path / "config").write_text("CONFIG_IRQ_TIME_ACCOUNTING=y\n")
    ticks = re.sub(r"^(cpu\d* +(?:\d+ ){5})\d+", r"\g<1>7", Path("/proc/stat").read_text(), flags=re.MULTILINE)
    (tmp_path / "stat").write_text(ticks)
    cpus = "/sys/devices/system/cpu"
    script = (
        f'mount --bind "$0/config" {config} && mount --bind "$0/stat" /proc/stat && '
        f"mount -t tmpfs none {cpus} && echo 0-1 >{cpus}/online && "
        f"mkdir -p {cpus}/cpu0/cpufreq {cpus}/cpu1/cpufreq && echo 2000000 >{cpus}/cpu0/cpufreq/scaling_cur_freq && "
        f'echo 3000000 >{cpus}/cpu1/cpufreq/scaling_cur_freq && exec "$@"'
    )
    prefix = ("unshare", "--mount", "sh", "-c", script, str(tmp_path))
    document = netmodel.run("-m", "tcp_rr", *defines(test_length="50ms"), "--format", "json", prefix=prefix, code=0).json()
    validate(document)
    for host in document["hosts"]:
        assert host["cpufreq"] == {"n_cpus": 2, "frequency_hz": 2.5e9}
        assert host["facts"]["irq_accounting"] == "on"


@pytest.mark.parametrize("option", ["nodelay", "wndsz=64k", "sndbuf=32k rcvbuf=128k", "cc=reno", "localhost=127.0.0.1"])
def test_options_of_tcp(netmodel: Netmodel, profile: WriteProfile, option: str) -> None:
    path = profile(
        f'<group nthreads="1" nflows="2"><transaction><flowop type="connect" options="remotehost=local {option}"/>'
        f'</transaction><transaction name="ask" iterations="20">{ASK}</transaction>{DISCONNECT}</group>'
    )
    document = netmodel.measure(path)
    assert_complete(document)
    assert_ends_agree(document)
    if option == "cc=reno":
        for host in document["hosts"]:
            assert host["connections"] == {**host["connections"], "congestion_control": "reno"}


def test_large_messages_arrive_whole(netmodel: Netmodel, profile: WriteProfile) -> None:
    path = profile(
        f'<group nthreads="1" nflows="2">{CONNECT}<transaction name="big" iterations="3">'
        '<flowop type="write" options="size=20m"/><flowop type="read" options="size=7m"/>'
        f"</transaction>{DISCONNECT}</group>"
    )
    document = netmodel.measure(path)
    assert_ends_agree(document)
    big = phase_of(document, "big")
    assert (big["bytes_sent"], big["bytes_received"]) == (6 * (20 << 20), 6 * (7 << 20))


def test_two_connections_in_one_body(netmodel: Netmodel, profile: WriteProfile) -> None:
    one = (
        '<flowop type="connect" options="remotehost=local nodelay"/>'
        f'{ASK}<flowop type="disconnect" options="close=rst"/>'
    )
    path = profile(f'<group nthreads="1" nflows="3"><transaction iterations="20">{one}{one}</transaction></group>')
    document = netmodel.measure(path)
    assert_ends_agree(document)
    assert document["totals"]["connects"] == 2 * 3 * 20
