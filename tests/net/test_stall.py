# SPDX-License-Identifier: Apache-2.0
"""A server of others that does nothing for a while, in the middle of an open loop: what became due meanwhile has waited, and the result says so."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from compose import connect, lasting, opened, read, write
from keyed import asking
from nmtest import Json, Netmodel, assert_complete, master_of, phase_of
from partners import Memcached, Nginx, memcached, nginx

WriteProfile = Callable[..., Path]

RATE, LENGTH_S, STALL_S = 250, 1.5, 0.3


@contextmanager
def serving(app: str, folder: Path) -> Iterator[tuple[Memcached | Nginx, str]]:
    """The server, and what it is asked."""
    if app == "memcache":
        with memcached() as server:
            yield server, '<flowop type="get" options="keys=k"/>'
    else:
        with nginx(folder, "access_log off;") as web:
            yield web, '<flowop type="http" options="path=/"/>'


def stall(pid: int, seconds: float) -> float:
    """How long it certainly was."""
    os.kill(pid, signal.SIGSTOP)
    begin = time.monotonic()
    try:
        time.sleep(seconds)
        return time.monotonic() - begin
    finally:
        os.kill(pid, signal.SIGCONT)


def measured(netmodel: Netmodel, path: Path, pid: int, *words: str, after: float = 0.4, seconds: float = STALL_S) -> tuple[float, Json]:
    """How long the stall was at least, and the result."""
    with netmodel.started("-m", path, "-v", "--format", "json", *words) as run:
        run.wait_line("phase 2 of 3 begins")
        time.sleep(after)
        length = stall(pid, seconds)
        document = run.finish().json()
    assert_complete(document)
    return length, document


def figures(length: float) -> dict[str, float]:
    """Those of response that there must be at least: what is due x after the begin of a stall is answered length - x later at the earliest,
    so that p * LENGTH_S of a run have had more than length - p * LENGTH_S."""
    return {"p95": length - 0.05 * LENGTH_S, "p99": length - 0.01 * LENGTH_S, "mean": length**2 / 2 / LENGTH_S}


@pytest.mark.alone
@pytest.mark.parametrize("app", ["memcache", "http"])
def test_what_becomes_due_while_the_server_stands_still(app: str, netmodel: Netmodel, profile: WriteProfile, tmp_path: Path) -> None:
    """What is more than that is the time to catch up, which is short below the capacity, and that of a machine that is busy: a few times."""
    how = f'duration="{LENGTH_S}s" arrivals="const({RATE}/s)"'
    within = 0.95  # the resolution of percentiles, and that of arrivals
    with serving(app, tmp_path) as (server, ask):
        path = profile(asking(app, ask, f"server={server.server}", "nflows='2'").replace('duration="200ms"', how))
        for _ in range(8):
            length, document = measured(netmodel, path, server.pid)
            of = phase_of(document, "ask")
            response, service, load, least = of["response_s"], of["latency_s"], of["load"], figures(length)
            assert load["due"] == of["transactions"] == RATE * LENGTH_S and load["unsent"] == load["failed"] == 0
            assert all(response[figure] > bound * within for figure, bound in least.items()), (length, of)
            quiet = all(response[figure] < 1.3 * bound for figure, bound in least.items())
            # Two were under way, and the others waited for those.
            waited = service["max"] > 0.8 * length and load["busy_s"] > 0.8 * least["mean"]
            if quiet and waited and service["p99"] < 0.2 * length and load["busy_s"] > 5 * load["generator_s"]:
                break
        else:
            pytest.fail(f"{length} s: response {response}, service {service}, {load}")


@pytest.mark.alone
@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize(
    ("words", "after", "seconds"),
    [
        # What was due before 600 ms is answered behind that: up to 700 ms late, and the rest at most 100 ms.
        (("--warmup", "600ms"), 0, 0.7),
        # Some of what was due before 900 ms is answered behind that.
        (("--cooldown", "600ms"), 0.7, 0.5),
        (("--warmup", "300ms", "--cooldown", "300ms", "-i", "100ms"), 0.9, 0.6),
        # The flows are without work until the last passes end, so that the window closes with its time.
        (("--warmup", "600ms"), 1.2, 2),
    ],
)
def test_a_pass_belongs_to_the_window_in_which_it_was_due(
    words: tuple[str, ...], after: float, seconds: float, workers: int, netmodel: Netmodel, profile: WriteProfile
) -> None:
    how = f'duration="{LENGTH_S}s" arrivals="const({RATE}/s)"'
    more = f"nflows='4' nthreads='{workers}'"
    due = RATE * 0.9
    with memcached() as server:
        path = profile(asking("memcache", '<flowop type="get" options="keys=k"/>', f"server={server.server}", more).replace('duration="200ms"', how))
        length, document = measured(netmodel, path, server.pid, *words, after=after, seconds=seconds)
    of, totals = phase_of(document, "ask"), document["totals"]
    load, verb = of["load"], totals["verbs"][0]
    assert load["due"] == totals["transactions"] == due and load["unsent"] == load["failed"] == 0
    assert of["transactions"] == RATE * LENGTH_S, "the transaction has all of them"
    assert totals["response_s"]["count"] == totals["latency_s"]["count"] == totals["send_delay_s"]["count"] == due
    assert verb["outcomes"]["requests"] == verb["latency_s"]["count"] == verb["response_s"]["count"] == due
    assert load["offered_per_s"] == pytest.approx(RATE, rel=0.01)
    assert not [warning for warning in document["run"]["warnings"] if "Little" in warning]
    if "-i" in words:
        assert sum(row["transactions"] for row in document["intervals"]) == RATE * LENGTH_S
    if after == 0:
        assert totals["response_s"]["max"] < of["response_s"]["max"] - 0.2 > length - 0.3, (length, totals)
    else:
        assert load["tardy"] > 0 and totals["response_s"]["max"] > length - 0.05


@pytest.mark.alone
def test_what_failed_belongs_to_the_window_of_its_pass(netmodel: Netmodel, profile: WriteProfile) -> None:
    """The other end stands still in the cool-down: of what was due before nothing has failed, and the load was as asked for."""
    body = write(10) + read(10, "timeout=300ms canfail")
    asks = lasting("2s", body, name="ask", more='arrivals="const(100/s)"')
    path = profile(opened(asks, strands=4, kind="nflows", opening=connect("127.0.0.1")))
    words = ("--warmup", "100ms", "--cooldown", "1500ms", "-v", "--format", "json")
    with netmodel.slave() as far, netmodel.started("-m", path, "-P", far.port, *words) as run:
        run.wait_line("phase 2 of 3 begins")
        time.sleep(0.9)
        (session,) = far.sessions()
        stall(session, 0.7)
        document = run.finish().json()
    assert_complete(document)
    of, totals = phase_of(document, "ask"), document["totals"]
    assert master_of(document)["counts"]["errors"] > 0
    assert totals["errors"] == of["load"]["failed"] == 0, of
    assert of["load"]["due"] == totals["transactions"] == 40 and of["load"]["verdict"] == "ok"
