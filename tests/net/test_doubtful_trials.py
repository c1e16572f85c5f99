# SPDX-License-Identifier: Apache-2.0
"""Trials of a search whose percentile may lie on either side of the limit (--search): how long they go on, and how they are told."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from keyed import asking
from nmtest import Json, Netmodel
from scripted import server_of

Validate = Callable[[Json], None]
WriteProfile = Callable[..., Path]

PERIOD_S = 0.2
DELAYS_S = (0.005, 0.03, 0.055)  # in turns, a period each: the median is the second, that of a row any
LIMIT = "31ms"


def changeable(conn: socket.socket, _number: int) -> None:
    while got := conn.recv(1000):
        if len(got.split()[-1]) > 12:
            time.sleep(DELAYS_S[int(time.monotonic() / PERIOD_S) % len(DELAYS_S)])
        conn.sendall(b"END\r\n")


@pytest.fixture(name="doubtful")
def _doubtful(profile: WriteProfile) -> Iterator[Path]:
    """Each flow asks every 100 ms: as often in any period, and so often in 1.2 s that the median rests on enough times.

    The search is for the length of the keys. Those of 12 bytes are answered at once."""
    with server_of(changeable) as place:
        body = asking("memcache", '<flowop type="get" options="keys=k"/>', f"server={place}", 'nflows="30"')
        body = body.replace('duration="200ms"', 'duration="1200ms" rate="10"').replace('length="12"', 'length="$length"')
        yield profile(f'<param name="length" type="count" default="12"/>{body}')


def test_a_trial_in_doubt_goes_on_for_four_times_its_length(netmodel: Netmodel, doubtful: Path, validate: Validate) -> None:
    words = ("--search", "length=13..20", "--objective", f"latency.p51 <= 10s latency.p50 <= {LIMIT}", "--format", "json", "-q")
    result = netmodel.run("-m", doubtful, *words, code=4)
    document = result.json()
    validate(document)
    (trial,) = document["sweep"]["trials"]
    assert (trial["in_doubt"], trial["verdict"], trial["limit"], trial["runs"]) == (True, "fail", "objective", 4), trial
    assert trial["percentile_of"] == "latency.p50" and trial["percentile_low"] <= 0.031 < trial["percentile_high"], trial
    assert trial["reason"].startswith("in doubt: latency.p50 is ") and f"last trial: length=13: fail: {trial['reason']}" in result.err, result
    assert (document["sweep"]["search"]["outcome"], document["sweep"]["search"]["limit"]) == ("not met", "objective")


def test_a_search_goes_on_behind_a_trial_in_doubt(netmodel: Netmodel, doubtful: Path, tmp_path: Path) -> None:
    """One that lasts for longer because of what it needs has more runs, and none of those that compare medians."""
    words = ("-m", doubtful, "--search", "length=12..13", "--objective", f"latency.p50 <= {LIMIT}", "--format", "json", "--seed", "3", "-q")
    whole = netmodel.run(*words, "--confirm", "0", code=0).json()
    trials = whole["sweep"]["trials"]
    assert [(trial["value"], trial["runs"], trial["in_doubt"]) for trial in trials] == [("12", 1, False), ("13", 4, True)], trials
    search = {**whole["sweep"]["search"], "outcome": "interrupted"}
    earlier = {**whole, "sweep": {**whole["sweep"], "search": search}}
    file = tmp_path / "search.json"
    file.write_text(json.dumps(earlier))
    result = netmodel.run(*words, "--confirm", "1", "--max-duration", "1s", "--search-resume", file, code=2)
    assert "longer than --max-duration 1s after trial 2" in result.err, result
    trials[0]["runs"] = 17
    file.write_text(json.dumps(earlier))
    result = netmodel.run(*words, "--confirm", "1", "--search-resume", file, code=1)
    assert "this search would not make its trial 1 (low, 12): it was made with other options" in result.err, result
