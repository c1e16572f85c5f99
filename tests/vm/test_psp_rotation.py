# SPDX-License-Identifier: Apache-2.0
"""Keys that are rotated faster than connections can be replaced, and how fast that may be."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from nmtest import SOON_S, Netmodel, Process, Result, assert_complete, assert_ends_agree, defines, master_of, phase_of
from psptest import Pair
from vmtest import group, rr

Profile = Callable[[str], Path]


def rotated(
    netmodel: Netmodel,
    pair: Pair,
    profile: str | Path,
    rotate: Callable[[Process], None],
    *words: str,
    phase: str = "phase 2 of [34] begins",
) -> Result:
    """How a run ends in whose phase keys are rotated."""
    with netmodel.slave("--no-auth", prefix=pair.prefix(1)) as slave:
        words = (*words, "-P", str(slave.port), "-v", "--format", "json")
        with netmodel.started("-m", profile, *words, prefix=pair.prefix(0)) as process:
            process.wait_line(phase)
            rotate(process)
            return process.finish()


def host(pair: Pair, name: str = "host") -> list[str]:
    return defines(**{name: pair.addresses["IPv4"][1]})


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("psp_rr", {}),
        pytest.param("psp_rr", {"delay": "10us"}, marks=pytest.mark.long),
        pytest.param("psp_stream", {}, marks=pytest.mark.long),
    ],
)
def test_rotations_at_a_steady_pace(netmodel: Netmodel, pair: Pair, name: str, more: dict[str, str]) -> None:
    """Each comes as soon as both ends know of the one before, and have had a moment to replace three connections: also
    when passes are to begin faster than they end."""
    times = 8

    def rotate(process: Process) -> None:
        for count in range(times):
            time.sleep(0.4)  # the pace
            pair.control(1 if count % 4 < 3 else 0, "rotate")
            process.wait_line("to be replaced", count=count + 1)

    words = defines(test_length="9s", num_flows=3, **more)
    done = rotated(netmodel, pair, name, rotate, *host(pair), *words)
    assert done.code == 0, done.err
    document = json.loads(done.out)
    assert_complete(document)
    assert_ends_agree(document)
    # On a slow machine the next one may come when the old connection is still there.
    assert 3 * (1 + times // 2) <= master_of(document)["groups"][0]["connects"] <= 3 * (1 + times)
    # The first may come before the window is measured.
    assert times - 1 <= sum(one["psp"][0]["key_rotations"] for one in document["hosts"]) <= times


def lasting(flowop: str) -> str:
    moving = f'<flowop type="{flowop}" options="size=10k discard"/>'
    return f'<transaction name="stream" duration="4s">{moving}</transaction>'


# What is discarded where it is received cannot be replaced.
LASTING = {
    "rr": rr(attributes='duration="4s"', more="discard"),
    "to the slave": lasting("write"),
    "to the master": lasting("read"),
}


@pytest.mark.parametrize(
    ("how", "side"), [("rr", 0), ("rr", 1), ("to the slave", 0), ("to the slave", 1), ("to the master", 0)]
)
def test_two_rotations_of_what_cannot_be_replaced(
    netmodel: Netmodel, pair: Pair, profile: Profile, how: str, side: int
) -> None:
    """The connections are dead, which nothing but the number of rotations tells."""
    (device,) = pair.devices(side)

    def rotate(process: Process) -> None:
        pair.control(side, "rotate")
        pair.control(side, "rotate")

    path = profile(group(LASTING[how], "protocol=psp", flows=2))
    done = rotated(netmodel, pair, path, rotate, *host(pair, "h"))
    assert done.code == 2, done
    assert (
        f"PSP: the keys of {device['ifname']} have been rotated 2 times since this connection got its own, "
        "which outlives one rotation: it was not replaced in time"
    ) in done.err
    who = "master" if side == 0 else f"slave {pair.addresses['IPv4'][1]}"
    assert who in done.err
    assert "no progress" not in done.err
    assert done.seconds < SOON_S


@pytest.mark.parametrize("how", LASTING)
def test_one_rotation_at_each_end_of_what_cannot_be_replaced(
    netmodel: Netmodel, pair: Pair, profile: Profile, how: str
) -> None:
    def rotate(process: Process) -> None:
        pair.control(0, "rotate")
        pair.control(1, "rotate")

    path = profile(group(LASTING[how], "protocol=psp", flows=2))
    done = rotated(netmodel, pair, path, rotate, *host(pair, "h"))
    assert done.code == 0, done.err
    document = json.loads(done.out)
    assert_complete(document)
    assert_ends_agree(document)
    assert master_of(document)["groups"][0]["connects"] == 2


def test_two_rotations_under_processes(netmodel: Netmodel, pair: Pair, profile: Profile) -> None:
    """It is their parent that is told of them."""
    path = profile(group(LASTING["rr"], "protocol=psp", threads=2, flows=4).replace("nthreads", "nprocs"))

    def rotate(process: Process) -> None:
        pair.control(0, "rotate")
        pair.control(0, "rotate")

    done = rotated(netmodel, pair, path, rotate, *host(pair, "h"))
    assert done.code == 2
    assert "have been rotated 2 times since this connection got its own" in done.err


@pytest.mark.long
def test_rotations_between_passes_that_are_far_apart(netmodel: Netmodel, pair: Pair) -> None:
    """What waits for its time is replaced meanwhile, and its time is as it was."""
    times, flows = 5, 3

    def rotate(process: Process) -> None:
        for count in range(times):
            pair.control(1, "rotate")
            process.wait_line("to be replaced", count=count + 1)
            time.sleep(0.8)  # the pace

    more = defines(test_length="12s", num_flows=flows, delay="6s")
    done = rotated(netmodel, pair, "psp_rr", rotate, *host(pair), *more)
    assert done.code == 0, done.err
    document = json.loads(done.out)
    assert_complete(document)
    assert_ends_agree(document)
    assert master_of(document)["groups"][0]["connects"] > flows * (1 + times // 2)
    assert phase_of(document, "request-response")["transactions"] == flows * 2


def test_an_end_while_connections_are_replaced(netmodel: Netmodel, pair: Pair) -> None:
    """A flow that would wait for its time goes on without when there is no such time any more."""

    def rotate(process: Process) -> None:
        pair.control(1, "rotate")
        process.wait_line("to be replaced")
        process.signal(2)

    more = defines(test_length="1000s", num_flows=3, delay="900s")
    done = rotated(netmodel, pair, "psp_rr", rotate, *host(pair), *more)
    assert done.seconds < SOON_S
    assert "error" not in done.err
