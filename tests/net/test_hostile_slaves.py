# SPDX-License-Identifier: Apache-2.0
"""Slaves that lie: the run ends in time, says which slave has sent what, and its result keeps to the schema."""

from __future__ import annotations

import itertools
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hostile import Body, Lie, bomb, lying, message
from nmtest import SOON_S, Json, Netmodel, Slave, resident_bytes, slaves_of

Validate = Callable[[Json], None]

GREAT = (1 << 63) - 1
_COUNTERS = Path(__file__).resolve().parents[2] / "src/stats/counters.h"
COUNTERS = len(re.findall(r"^\tX\(", _COUNTERS.read_text(), re.MULTILINE))
RUN = ["--format", "json", "-i", "50ms", "--timeout", "3s", "-D", "test_length=500ms"]


def when(wanted: str, change: Callable[[Body], Any], *more: tuple[str, Body]) -> Lie:
    """Changes each message of that word, and adds others behind it."""

    def lie(word: str, body: Body) -> bytes | None:
        if word != wanted:
            return None
        change(body)
        return message(word, body) + b"".join(message(*each) for each in more)

    return lie


def put(path: str, value: Any) -> Callable[[Body], None]:
    def change(body: Body) -> None:
        *way, last = (int(step) if step.isdigit() else step for step in path.split("."))
        at: Any = body
        for step in way:
            at = at[step]
        at[last] = value

    return change


def nothing(body: Body) -> None:
    pass


def row(phase: int = 1, from_s: float = 0, to_s: float = 0, count: int = 0) -> tuple[str, Body]:
    return "interval", {"phase": phase, "from_s": from_s, "to_s": to_s, "cpu": [0] * 9, "usage": [0] * 4, "counts": [count] * COUNTERS}


LIES = {
    "rows before any phase": (when("armed", nothing, row(0)), 'message "interval": it is not of the phase'),
    "rows of a phase to come": (when("began", nothing, row(2)), 'message "interval": it is not of the phase'),
    "400000 rows": (
        lambda word, body: message(word, body) + message(*row(0)) * 400_000 if word == "began" else None,
        'message "interval": there are more of them than',
    ),
    "a row from below": (when("interval", put("from_s", -1e308)), 'a wrong message "interval"'),
    "a row to the end of days": (when("interval", put("to_s", 1e308)), 'a wrong message "interval"'),
    "a row of the future": (when("interval", put("to_s", 1e6)), 'message "interval": it ends in the future'),
    "a row that ends before it begins": (when("interval", put("to_s", 0)), 'message "interval": it does not come after'),
    "more than anybody counts": (when("interval", put("counts.1", GREAT)), 'a wrong message "interval"'),
    "a negative count": (when("done", put("counts.1", -1)), 'a wrong message "done"'),
    "a count without end": (when("done", put("counts.1", GREAT)), 'a wrong message "done"'),
    "a negative round trip": (when("result", put("connections.srtt_min_s", -1e308)), 'a wrong message "result"'),
    "a round trip for ever": (when("result", put("connections.srtt_max_s", 1e308)), 'a wrong message "result"'),
    "a negative window": (when("result", put("connections.cwnd_mean", -1e308)), 'a wrong message "result"'),
    "a window that ends before it begins": (when("result", put("window.0.1", 1)), "its window is longer than the run"),
    "a window of years": (when("result", put("window.0.2", 1 << 59)), "its window is longer than the run"),
    "usage of years": (when("result", put("usage.length_ns", 1 << 59)), "its window is longer than the run"),
    "an answer to no ping": (when("pong", put("t", 1)), 'message "pong": it answers no ping'),
    "an answer twice": (
        lambda word, body: message(word, body) * 2 if word == "pong" else None,
        'message "pong": it answers no ping',
    ),
    "a time out of range": (when("pong", put("now", GREAT)), 'a wrong message "pong"'),
    "done twice": (when("done", nothing, ("done", {})), 'a wrong message "done"'),
    "began twice": (when("began", nothing, ("began", {"phase": 0, "at_ns": 1})), 'a wrong message "began"'),
    "samples that nobody wants": (
        when("began", nothing, ("tcp_info", {"phase": 0, "connections": [0] * 2400})),
        'a message "tcp_info" of',
    ),
    "a heartbeat of a megabyte": (
        when("ready", nothing, ("heartbeat", {"progress": 0, "x": "x" * (1 << 20)})),
        "it sent a message",
    ),
    "heartbeats without end": (
        lambda word, body: message(word, body) + message("heartbeat", {"progress": 1}) * 100_000 if word == "ready" else None,
        "it sent a message too many: no more than 5000 a second",
    ),
    "a text without end": (when("welcome", put("hostname", "x" * 5000)), 'it sent a message "welcome" of'),
}


@pytest.mark.parametrize("name", LIES)
def test_a_lie_ends_the_run_and_is_told(netmodel: Netmodel, slave: Slave, validate: Validate, name: str) -> None:
    lie, why = LIES[name]
    with lying(slave, lie) as liar:
        result = netmodel.run("-m", "tcp_rr", *RUN, *liar.args)
    assert result.code == 2, result
    document = result.json()
    validate(document)
    told = document["run"]["incomplete_why"]
    assert told.startswith("slave 127.0.0.1: "), told
    assert re.search(why, told), told
    assert result.seconds < SOON_S, result


def test_a_clock_that_lies_gives_no_skew(netmodel: Netmodel, slave: Slave, validate: Validate) -> None:
    with lying(slave, when("pong", put("now", 1 << 61))) as liar:
        result = netmodel.run("-m", "tcp_rr", *RUN, *liar.args)
    document = result.json()
    validate(document)
    if result.code == 0:
        assert document["run"]["start_skew_s"] is None
        assert slaves_of(document)[0]["start_skew_s"] is None


def test_an_answer_to_a_ping_may_come_behind_the_end(netmodel: Netmodel, slave: Slave) -> None:
    def late(word: str, _body: Body) -> None:
        if word == "pong":
            time.sleep(1)

    with lying(slave, late) as slow:
        result = netmodel.run("-m", "tcp_rr", *RUN, "--max-duration", "500ms", *slow.args)
    assert result.code == 2, result
    assert "longer than --max-duration 0.5s" in result.err


def test_a_result_with_less_than_its_phases_is_told(netmodel: Netmodel, slave: Slave, validate: Validate) -> None:
    with lying(slave, when("result", put("groups.0.0", 3))) as liar:
        result = netmodel.run("-m", "tcp_rr", *RUN, *liar.args)
    assert result.code == 0, result
    document = result.json()
    validate(document)
    assert "slave 127.0.0.1: iterations of its phases are more than it has counted in all" in document["run"]["warnings"]


def test_a_part_greater_than_the_whole_is_told(netmodel: Netmodel, slave: Slave, validate: Validate) -> None:
    with lying(slave, when("interval", put("counts.7", 1 << 50))) as liar:
        result = netmodel.run("-m", "tcp_rr", *RUN, *liar.args)
    assert result.code == 0, result
    document = result.json()
    validate(document)
    assert "slave 127.0.0.1: messages_sent of its intervals are more than it has counted in all" in document["run"]["warnings"]


@pytest.mark.parametrize(
    ("phase", "why"),
    [
        (0, r"no progress for 3 s in phase 1; waiting for group \S+ on (the master, )?127\.0\.0\.1; here: "),
        (1, r"no progress for 3 s in phase 2; waiting for group \S+ on (the master, )?127\.0\.0\.1; here: "),
    ],
)
def test_a_slave_that_is_never_done_keeps_no_phase(
    netmodel: Netmodel, slave: Slave, validate: Validate, phase: int, why: str
) -> None:
    """Its progress grows for ever."""
    progress = itertools.count(1)

    def lie(word: str, body: Body) -> bytes | None:
        if word == "heartbeat" or (word == "done" and body["phase"] == phase):
            return message("heartbeat", {"progress": next(progress)})
        return None

    with lying(slave, lie) as liar:
        result = netmodel.run("-m", "tcp_rr", *RUN, *liar.args)
    assert result.code == 2, result
    document = result.json()
    validate(document)
    assert re.search(why, document["run"]["incomplete_why"]), result
    assert result.seconds < SOON_S, result


@pytest.mark.parametrize("word", ["welcome", "ready", "heartbeat", "result"])
def test_a_message_of_63_mib_costs_nothing(netmodel: Netmodel, slave: Slave, validate: Validate, word: str) -> None:
    sent = bomb(word)
    first = "welcome" if word == "welcome" else "ready" if word != "result" else "result"
    with (
        lying(slave, lambda said, body: sent if said == first else None) as liar,
        netmodel.started("-m", "tcp_rr", *RUN, *liar.args) as master,
    ):
        most = 0
        while master.running():
            most = max(most, resident_bytes(master.pid))
        result = master.finish()
    assert result.code == 2, result
    assert result.seconds < SOON_S, result
    assert most < 100_000_000
    validate(result.json())
    assert re.search(r"it sent a message (\"\w+\" )?of 660\d+ bytes, longer than \d+", result.json()["run"]["incomplete_why"])
