# SPDX-License-Identifier: Apache-2.0
"""Mixes and sequences: both ends draw alike, by weight, and the same for the same seed, however many workers there are."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import pytest

from compose import CLOSE, check, connect, once, read, write
from nmtest import Json, Netmodel, master_of, phase_of, slaves_of

WriteProfile = Callable[..., Path]

FLOWS = 6
PASSES = 1000
WEIGHTS = (70, 25, 5)


def weighted(weight: int, flowop: str) -> str:
    return flowop.replace(" options=", f' weight="{weight}" options=')


def mixed(workers: int = 1, limit: str = f'iterations="{PASSES}"', protocol: str = "tcp nodelay") -> str:
    members = (write(11), write(22, "count=2"), '<flowop type="exchange" options="size=33"/>')
    mix = "".join(weighted(weight, member) for weight, member in zip(WEIGHTS, members, strict=True))
    return (
        f'<group nthreads="{workers}" nflows="{FLOWS}">{once(connect(options=f"protocol={protocol}"))}'
        f'<transaction name="mixed" {limit}><mix>{mix}</mix>{read(44)}</transaction>{CLOSE}</group>'
    )


def flowops(document: Json) -> list[list[Json]]:
    """Of the transaction, at the master and at the slave."""
    groups = [document["groups"][0], slaves_of(document)[0]["groups"][0]]
    return [phase["flowops"] for group in groups for phase in group["phases"] if phase["name"] == "mixed"]


def drawn(document: Json) -> list[int]:
    """How often each member was drawn; both ends have drawn alike."""
    ours, theirs = ([flowop["operations"] for flowop in host] for host in flowops(document))
    assert ours == theirs
    first, second, third, answers = ours
    assert first + second // 2 + third == answers
    return [first, second // 2, third]


@pytest.mark.parametrize("protocol", ["tcp nodelay", "ssl nodelay", "unix"])
def test_shares_are_those_of_the_weights(netmodel: Netmodel, profile: WriteProfile, protocol: str) -> None:
    document = check(netmodel.measure(profile(mixed(protocol=protocol)), "-f", "--seed", "1"))
    counts = drawn(document)
    passes = FLOWS * PASSES
    assert sum(counts) == passes
    for count, weight in zip(counts, WEIGHTS, strict=True):
        share = weight / sum(WEIGHTS)
        assert abs(count - passes * share) <= 4 * math.sqrt(passes * share * (1 - share))
    moved = 11 * counts[0] + 2 * 22 * counts[1] + 33 * counts[2]
    assert master_of(document)["counts"]["bytes_sent"] == moved


def test_without_another_end(netmodel: Netmodel, profile: WriteProfile) -> None:
    members = weighted(3, write(5)) + sequence(2, write(7), read(9))
    body = f"<mix>{members}</mix>{read(4)}"
    text = f'<group nflows="4">{once(connect(options="protocol=null"))}'
    text += f'<transaction name="mixed" iterations="{PASSES}">{body}</transaction>{CLOSE}</group>'
    document = netmodel.measure(profile(text), "-f", "--seed", "1")
    (phase,) = [phase for phase in document["groups"][0]["phases"] if phase["name"] == "mixed"]
    first, second, third, last = (flowop["operations"] for flowop in phase["flowops"])
    passes = 4 * PASSES
    assert last == passes
    assert second == third == 2 * (passes - first)
    assert abs(first - passes * 0.75) <= 4 * math.sqrt(passes * 0.75 * 0.25)


def test_two_slaves(netmodel: Netmodel, profile: WriteProfile) -> None:
    """Each is the other end of a group with a mix, in a process of its own."""
    with netmodel.slave() as first, netmodel.slave() as second:
        hosts = [f"127.0.0.1:{slave.port}" for slave in (first, second)]
        text = "".join(mixed(2).replace("remotehost=local", f"remotehost={host}") for host in hosts)
        document = check(netmodel.measure(profile(text), "-f", "--seed", "1"))
    for number, slave in enumerate(slaves_of(document)):
        ours, theirs = (
            [flowop["operations"] for phase in group["phases"] if phase["name"] == "mixed" for flowop in phase["flowops"]]
            for group in (document["groups"][number], slave["groups"][number])
        )
        assert ours == theirs
        assert sum(ours[:3]) - ours[1] // 2 == ours[3] == FLOWS * PASSES


def test_the_seed_is_the_mix(netmodel: Netmodel, profile: WriteProfile) -> None:
    runs = [
        drawn(check(netmodel.measure(profile(mixed(workers)), "-f", "--seed", str(seed))))
        for workers, seed in ((1, 1), (2, 1), (3, 1), (1, 2))
    ]
    assert runs[0] == runs[1] == runs[2] != runs[3]


def test_members_have_times_of_their_own(netmodel: Netmodel, profile: WriteProfile) -> None:
    document = netmodel.measure(profile(mixed(2, 'duration="400ms"')), "-f")
    check(document)
    assert min(drawn(document)) > 0
    for flowop in sum(flowops(document), []):
        assert flowop["time_s"]["count"] == flowop["operations"] > 0
        assert 0 < flowop["time_s"]["p50"] <= flowop["time_s"]["max"]


def test_a_mix_at_a_rate(netmodel: Netmodel, profile: WriteProfile) -> None:
    document = check(netmodel.measure(profile(mixed(2, 'iterations="50" rate="200"')), "-f"))
    assert sum(drawn(document)) == FLOWS * 50


@pytest.mark.parametrize("workers", [1, 2])
def test_passes_that_arrive_begin_with_a_mix(netmodel: Netmodel, profile: WriteProfile, workers: int) -> None:
    limit = 'duration="600ms" arrivals="poisson(2k/s)"'
    document = check(netmodel.measure(profile(mixed(workers, limit)), "-f"))
    of = phase_of(document, "mixed")
    passes = sum(drawn(document))
    assert passes == of["transactions"] > 0
    assert of["load"]["due"] == passes + of["load"]["failed"] + of["load"]["unsent"]


def test_several_mixes_and_sizes_by_law(netmodel: Netmodel, profile: WriteProfile) -> None:
    """Each mix draws for itself, between flowops that are always done, and connections are new in each pass."""
    body = (
        f'<group nthreads="2" nflows="4"><transaction duration="300ms">{connect()}{write(1)}'
        f"<mix>{read('rand(1,9000)')}{weighted(3, write('exp(500;1..9k)'))}</mix>{read(5)}"
        f"<mix>{weighted(2, read(6))}{write('7 count=3')}</mix>"
        '<flowop type="disconnect"/></transaction></group>'
    )
    check(netmodel.measure(profile(body)))


def test_the_other_end_may_lead(netmodel: Netmodel, profile: WriteProfile) -> None:
    mix = f"<mix>{read(10)}{weighted(2, read(2000))}</mix>"
    body = f'<group nthreads="2">{once(connect())}<transaction duration="300ms">{mix}{write(3)}</transaction>{CLOSE}</group>'
    check(netmodel.measure(profile(body)))


def sequence(count: object, *flowops: str, weight: int = 1) -> str:
    return f'<sequence count="{count}" weight="{weight}">{"".join(flowops)}</sequence>'


@pytest.mark.parametrize("workers", [1, 2])
def test_sequences_in_a_mix(netmodel: Netmodel, profile: WriteProfile, workers: int) -> None:
    """As often as the count says, or as the law draws, at both ends."""
    members = sequence(3, write(5), read(6), weight=3) + sequence("rand(1,9)", write("rand(1,50)", "count=2"), read(8))
    body = (
        f'<group nthreads="{workers}" nflows="4">{once(connect(options="protocol=tcp nodelay"))}'
        f'<transaction name="mixed" iterations="300"><mix>{members}</mix></transaction>{CLOSE}</group>'
    )
    document = check(netmodel.measure(profile(body), "-f", "--seed", "3"))
    ours, theirs = ([flowop["operations"] for flowop in host] for host in flowops(document))
    assert ours == theirs
    assert ours[0] == ours[1]
    assert ours[2] == 2 * ours[3]
    drawn_first, drawn_second = ours[0] / 3, 1200 - ours[0] / 3
    assert abs(drawn_first - 900) <= 4 * math.sqrt(1200 * 0.75 * 0.25)
    assert ours[3] / drawn_second == pytest.approx(5, abs=4 * math.sqrt(80 / 12 / drawn_second))


def test_a_sequence_outside_of_a_mix(netmodel: Netmodel, profile: WriteProfile) -> None:
    rounds = '<sequence count="200">' + write(100) + read(10) + "</sequence>"
    body = (
        f'<group nthreads="2">{once(connect(options="protocol=unix"))}<transaction name="mixed" iterations="20">'
        f"{write(7)}{rounds}{read(9)}</transaction>{CLOSE}</group>"
    )
    document = check(netmodel.measure(profile(body), "-f"))
    for host in flowops(document):
        assert [flowop["operations"] for flowop in host] == [40, 8000, 8000, 40]


@pytest.mark.parametrize("workers", [1, 2])
def test_requests_of_an_application(netmodel: Netmodel, profile: WriteProfile, workers: int) -> None:
    """A mix of requests, and a sequence of them: the end that serves has a part in each."""
    echo = '<flowop type="echo" options="size=10"/>'
    members = weighted(3, echo) + sequence("uniform(1,3)", echo.replace("10", "2000"), weight=1)
    text = f'<group nthreads="{workers}" nflows="{FLOWS}">{once(connect(options="app=echo"))}'
    text += f'<transaction name="mixed" duration="300ms"><mix>{members}</mix></transaction>{CLOSE}</group>'
    document = check(netmodel.measure(profile(text), "-f"))
    short, long = (flowop["operations"] for flowop in flowops(document)[0])
    assert short > long > 100
    assert [flowop["operations"] for flowop in flowops(document)[1]] == [short, long]
