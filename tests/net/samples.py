# SPDX-License-Identifier: Apache-2.0
"""Files of samples (--all-samples), and what must hold for them."""

from __future__ import annotations

import csv
import itertools
from collections import defaultdict
from pathlib import Path

import pytest

from nmtest import Json, Netmodel

Row = dict[str, str]
COUNTS = ("transactions", "bytes_sent", "bytes_read")


def read(path: Path) -> dict[tuple[str, str, str], list[Row]]:
    """The rows of each flow of each group of each host, in their order."""
    found = defaultdict(list)
    with path.open(newline="") as stream:
        for row in csv.DictReader(stream):
            assert None not in row.values(), row
            found[row["host"], row["group"], row["flow_id"]].append(row)
    return found


def sample(netmodel: Netmodel, path: Path, profile: str | Path, *args: object) -> tuple[Json, dict[str, list[list[Row]]]]:
    """The result, and the rows by host and flow."""
    document = netmodel.measure(profile, "--all-samples", path, *args)
    by_host = defaultdict(list)
    for (host, _, _), rows in read(path).items():
        by_host[host].append(rows)
    return document, by_host


def check_sums(document: Json, by_host: dict[str, list[list[Row]]]) -> None:
    """The last rows of all flows are what the host has done in the measured transactions."""
    totals = document["totals"]
    for host, flows in by_host.items():
        sums = {name: sum(int(rows[-1][name]) for rows in flows) for name in COUNTS}
        sent, received = totals["bytes_sent"], totals["bytes_received"]
        assert sums["transactions"] == totals["transactions"], host
        assert sums["bytes_sent"] == (sent if host == "master" else received), host
        assert sums["bytes_read"] == (received if host == "master" else sent), host


def check_rates(flows: list[list[Row]]) -> None:
    """A rate is what has been added, by the time in which it was: of this flow alone."""
    for rows in flows:
        times = [float(row["time"]) for row in rows]
        assert times == sorted(set(times))
        for (before, now), length in zip(itertools.pairwise(rows), [b - a for a, b in itertools.pairwise(times)], strict=True):
            for name in COUNTS:
                added = int(now[name]) - int(before[name])
                assert added >= 0
                assert float(now[f"{name}/s"]) == pytest.approx(added / length, rel=1e-3, abs=0.02)
