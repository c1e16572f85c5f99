# SPDX-License-Identifier: Apache-2.0
"""Groups and their flows: workers, iterations, and phases that are entered together."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from compose import ASK, CONNECT, DISCONNECT
from nmtest import Netmodel, assert_complete, assert_ends_agree, children, defines, master_of, phase_of, wait_until

WriteProfile = Callable[..., Path]


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


@pytest.mark.alone
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
