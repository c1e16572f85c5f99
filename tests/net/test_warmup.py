# SPDX-License-Identifier: Apache-2.0
"""Warm-ups that end when a figure has settled (until), and that fail when it does not."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from nmtest import Netmodel, assert_complete, assert_ends_agree, phase_of

WriteProfile = Callable[..., Path]

CONNECT = '<transaction name="connect"><flowop type="connect" options="remotehost=local"/></transaction>'
THINK = '<flowop type="think" options="duration=5ms"/>'
ASK = f'{THINK}<flowop type="write" options="size=10"/><flowop type="read" options="size=20"/>'


def warming(until: str, more: str = 'duration="20s"') -> str:
    return f"""<group name="asks" nflows="4">{CONNECT}
      <transaction name="warm" {more} until="{until}">{ASK}</transaction>
      <transaction name="ask" duration="300ms">{ASK}</transaction></group>"""


@pytest.mark.parametrize("figure", ["transactions_per_s", "bits_per_s", "latency.p50", "latency.mean"])
def test_a_warm_up_ends_when_the_figure_has_settled(figure: str, netmodel: Netmodel, profile: WriteProfile) -> None:
    """Each flow asks every 5 ms: five intervals are alike within 90 % on any machine."""
    document = netmodel.measure(profile(warming(f"plateau({figure},90%)")), "-i", "100ms")
    assert_complete(document)
    assert_ends_agree(document)
    warm, ask = phase_of(document, "warm"), phase_of(document, "ask")
    assert 0.45 < warm["seconds"] < 15 and warm["transactions"] > 0
    assert document["totals"]["transactions"] == ask["transactions"] > 0, "the warm-up is not measured"
    assert len(document["intervals"]) <= 4


def test_response_times_are_watched_with_arrivals(netmodel: Netmodel, profile: WriteProfile) -> None:
    text = warming("plateau(response.p90,100%)", 'duration="20s" arrivals="const(200/s)"')
    text = text.replace(THINK, "")
    document = netmodel.measure(profile(text), "-i", "100ms")
    assert_complete(document)
    assert phase_of(document, "warm")["seconds"] < 19


def test_processes_end_their_warm_up_too(netmodel: Netmodel, profile: WriteProfile) -> None:
    text = warming("plateau(latency.p50,90%)").replace('nflows="4"', 'nprocs="2"')
    document = netmodel.measure(profile(text), "-i", "100ms")
    assert_complete(document)
    assert_ends_agree(document)
    assert phase_of(document, "warm")["seconds"] < 15


def test_each_group_has_its_own(netmodel: Netmodel, profile: WriteProfile) -> None:
    text = warming("plateau(transactions_per_s,90%)", 'duration="2s"').replace('name="asks"', 'name="other"')
    whole = text.replace(' until="plateau(transactions_per_s,90%)"', ' measure="no"').replace('name="other"', 'name="asks"')
    document = netmodel.measure(profile(text + whole), "-i", "100ms")
    assert_complete(document)
    short, long = (group["phases"][1]["seconds"] for group in document["groups"])
    assert short < 1.9 < 2 <= long


def test_a_figure_that_does_not_settle_fails_the_run(netmodel: Netmodel, profile: WriteProfile) -> None:
    path = profile(warming("plateau(latency.p99,0.000001%)", 'duration="700ms"'))
    result = netmodel.run("-m", path, "-i", "100ms", "--format", "json", code=2)
    why = "group asks: the warm-up is over after 0.7 s, and latency.p99 has not settled within 1e-06 %: in the last intervals it was"
    assert why in result.err
    document = result.json()
    assert why in document["run"]["incomplete_why"] and document["totals"]["transactions"] == 0


def test_an_interrupted_warm_up_is_no_failure_of_it(netmodel: Netmodel, profile: WriteProfile) -> None:
    path = profile(warming("plateau(latency.p99,0.000001%)"))
    with netmodel.started("-m", path, "-v", "-i", "100ms") as master:
        master.wait_line("phase 2 of 3 begins")
        master.signal(signal.SIGINT)
        result = master.finish()
    assert result.code == 130 and "settled" not in result.err, result


@pytest.mark.parametrize(
    ("more", "until", "message"),
    [
        ('duration="1s"', "latency.p50", "must be plateau(FIGURE,SHARE), as plateau(latency.p50,5%)"),
        ('duration="1s"', "plateau(latency.p50,5)", '"5" is no share above 0, as 5%'),
        ('iterations="5"', "plateau(latency.p50,5%)", "only with a duration, in which the figure has to settle"),
        ('duration="1s" measure="yes"', "plateau(latency.p50,5%)", 'not with measure="yes": a warm-up is not measured'),
        ('duration="1s"', "plateau(response.p50,5%)", "only with a rate or arrivals there are response times"),
    ],
)
def test_what_is_wrong_is_told(more: str, until: str, message: str, netmodel: Netmodel, profile: WriteProfile) -> None:
    result = netmodel.run("-m", profile(warming(until, more)), "--check", code=1)
    assert f'<transaction> until="{until}": {message}' in result.err


def test_intervals_that_were_too_few_are_told(netmodel: Netmodel, profile: WriteProfile) -> None:
    """All passes are done in a moment, whatever the duration allows."""
    path = profile(warming("plateau(latency.p50,90%)", 'duration="20s" total="8"'))
    result = netmodel.run("-m", path, "-i", "2s", code=2)
    assert "latency.p50 has not settled: it was measured in 0 of the last 5 intervals (-i)" in result.err
    assert "over after 20 s" not in result.err


def test_a_group_is_not_watched_behind_its_own_warm_up(netmodel: Netmodel, profile: WriteProfile) -> None:
    text = warming("plateau(latency.p50,0.000001%)", 'duration="700ms"').replace('name="asks"', 'name="short"')
    other = warming("", 'duration="1500ms" measure="no"').replace(' until=""', "")
    result = netmodel.run("-m", profile(text + other), "-i", "100ms", code=2)
    assert "group short: the warm-up is over after 0.7 s, and latency.p50 has not settled within 1e-06 %: in the last" in result.err


def test_bits_are_watched_within_a_long_pass(netmodel: Netmodel, profile: WriteProfile) -> None:
    """A pass takes longer than five intervals."""
    body = 10 * (THINK.replace("5ms", "30ms") + '<flowop type="write" options="size=1000"/>')
    text = f"""<group name="sends" nflows="1">{CONNECT}
      <transaction duration="20s" until="plateau(bits_per_s,100%)">{body}</transaction></group>"""
    result = netmodel.run("-m", profile(text), "-i", "50ms", "--format", "json")
    assert "has not settled" not in result.err
    assert result.json()["groups"][0]["phases"][1]["seconds"] < 15


# ---- --warmup plateau(...): of profiles that know nothing of it ----


@pytest.mark.parametrize("name", ["tcp_rr", "poisson_rr"])
def test_any_profile_is_warmed_up_until_a_figure_has_settled(name: str, netmodel: Netmodel) -> None:
    until = "plateau(transactions_per_s,90%,max=20s)"
    words = ("-m", name, "-D", "test_length=300ms", "-i", "100ms", "--warmup", until)
    document = netmodel.run(*words, "--format", "json", code=0).json()
    assert_complete(document)
    assert_ends_agree(document)
    phases = document["groups"][0]["phases"]
    warm, measured = next((a, b) for a, b in zip(phases, phases[1:], strict=False) if b["measured"])
    assert warm["name"] == f"warm-up of {measured['name']}" and not warm["measured"]
    assert 0.45 < warm["seconds"] < 19
    assert document["totals"]["transactions"] == measured["transactions"] > 0
    assert document["run"]["warmup_until"] == until and document["run"]["warmup_s"] == 0
    assert f"until {until}, not counted" in netmodel.run(*words, code=0).out


def test_a_warm_up_that_never_settles_fails_the_run(netmodel: Netmodel) -> None:
    words = ("-m", "tcp_rr", "-D", "test_length=300ms", "-i", "100ms")
    result = netmodel.run(*words, "--warmup", "plateau(latency.mean,0.000001%,max=700ms)", "--format", "json", code=2)
    assert "the warm-up is over after 0.7 s, and latency.mean has not settled within 1e-06 %" in result.err
    assert result.json()["totals"]["transactions"] == 0


@pytest.mark.parametrize(
    ("until", "why"),
    [
        ("plateau(latency.p50,5%,max=400ms)", "is too short for a plateau: with intervals of 100 ms (--interval) it takes 500 ms"),
        ("plateau(latency.p50,5%)", "--warmup plateau(latency.p50,5%): must be a time, as 5s, or plateau(FIGURE,SHARE,max=TIME)"),
        ("plateau(response.p50,5%,max=5s)", "only with a rate or arrivals there are response times"),
    ],
)
def test_a_plateau_that_cannot_be_is_refused(
    until: str, why: str, netmodel: Netmodel
) -> None:
    assert why in netmodel.run("-m", "tcp_rr", "-i", "100ms", "--warmup", until, code=1).err


def test_until_too_takes_five_intervals(netmodel: Netmodel, profile: WriteProfile) -> None:
    path = profile(warming("plateau(latency.p50,5%)", 'duration="4s"'))
    assert "takes 5.00 s at least" in netmodel.run("-m", path, code=1).err


def test_a_profile_without_a_duration_has_nothing_to_warm_up(netmodel: Netmodel, profile: WriteProfile) -> None:
    text = f'<group>{CONNECT}<transaction name="ask" iterations="3">{ASK}</transaction></group>'
    result = netmodel.run("-m", profile(text), "--warmup", "plateau(latency.p50,5%,max=9s)", code=1)
    assert "--warmup plateau(...): needs a transaction with a duration that is measured" in result.err
