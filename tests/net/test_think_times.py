# SPDX-License-Identifier: Apache-2.0
"""The time that a flow thinks is kept, and is part of the whole pass and of no latency of the exchange."""

from __future__ import annotations

import csv
import re
import statistics
from collections.abc import Callable
from pathlib import Path

import pytest

from compose import ASK, CONNECT, DISCONNECT
from nmtest import Json, Netmodel, phase_of

pytestmark = pytest.mark.alone

WriteProfile = Callable[..., Path]
Validate = Callable[[Json], None]

THINKS = (
    f'<group name="g" nthreads="1" nflows="4">{CONNECT}<transaction name="ask" duration="400ms">{ASK}'
    f'<flowop type="think" options="duration=20ms"/></transaction>{DISCONNECT}</group>'
)


def test_think_time_is_respected(netmodel: Netmodel, profile: WriteProfile) -> None:
    for how in ("idle", "busy"):
        path = profile(
            f'<group nthreads="1">{CONNECT}<transaction name="ask" duration="500ms">{ASK}'
            f'<flowop type="think" options="duration=10ms {how} at=master"/></transaction>{DISCONNECT}</group>'
        )
        totals = netmodel.measure(path)["totals"]
        assert 20 < totals["transactions_per_s"] <= 101
        assert totals["pass_s"]["min"] >= 0.0099


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
