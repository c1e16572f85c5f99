# SPDX-License-Identifier: Apache-2.0
"""A profile with each value of a range (--scan): a table, a document, rows."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from nmtest import Json, Netmodel, defines

Validate = Callable[[Json], None]
SHORT = ("-m", "tcp_rr", *defines(test_length="50ms"))


def test_a_row_for_each_value(netmodel: Netmodel) -> None:
    result = netmodel.run(*SHORT, "--scan", "request_size=1k..4k:*2", code=0)
    head, *rows = result.out.splitlines()
    assert head.split("  ")[1] == "request_size" and "latency p99" in head and "trial" not in head
    assert [(row.split()[0], row.split()[-1]) for row in rows] == [("1024", "-"), ("2048", "-"), ("4096", "-")], result
    assert result.err.splitlines()[0] == "netmodel: request_size=1024: done"
    assert not netmodel.run(*SHORT, "--scan", "request_size=1k..4k:*2", "-q", code=0).err


def test_open_arrivals_have_their_response(netmodel: Netmodel) -> None:
    result = netmodel.run(*SHORT, "--scan", "arrivals=const(100/s..300/s:100/s)", code=0)
    assert "response p99" in result.out
    assert [row.split()[0] for row in result.out.splitlines()[1:]] == ["const(100/s)", "const(200/s)", "const(300/s)"]


def test_a_trial_is_judged_by_the_value_of_its_percentile(netmodel: Netmodel) -> None:
    """Nothing of a scan goes on for longer while it is in doubt. The rows have the times with all their decimals."""
    words = ("-i", "10ms", "--scan", "num_flows=1..8:1", "--format", "csv")

    def rows_of(limit: float) -> list[dict[str, str]]:
        result = netmodel.run("-m", "tcp_rr", *defines(test_length="100ms"), *words, "--require", f"latency.p99 <= {limit}s")
        return list(csv.DictReader(io.StringIO(result.out)))

    limit = sorted(float(row["percentile"]) for row in rows_of(1))[4]
    for row in rows_of(limit):
        assert len(row["percentile"].split(".")[1]) == 9
        assert (row["verdict"] == "pass") == (float(row["percentile"]) <= limit), row


def test_one_document_of_all_trials(netmodel: Netmodel, validate: Validate, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    words = ("--scan", "num_flows=1..5:2", "--repeat", "2", "--seed", "7", "--format", "json", "-o", report)
    assert not netmodel.run(*SHORT, *words, code=0).out
    document = json.loads(report.read_text())
    validate(document)
    sweep = document["sweep"]
    assert (sweep["parameter"], sweep["range"]) == ("num_flows", "1..5:2") and "search" not in sweep
    assert [(trial["value"], trial["runs"], trial["seed"]) for trial in sweep["trials"]] == [
        ("1", 2, 7),
        ("3", 2, 7),
        ("5", 2, 7),
    ]
    assert {trial["verdict"] for trial in sweep["trials"]} == {None}
    assert document["groups"][0]["flows"] == 5 and len(document["repeat"]["runs"]) == 2
    assert sweep["trials"][2]["transactions"] == document["totals"]["transactions"]


def test_rows_for_programs(netmodel: Netmodel) -> None:
    words = ("--scan", "num_transactions=5..15:5", "--require", "transactions <= 10", "--format", "csv")
    result = netmodel.run("-m", "tcp_rr", *words, code=4)
    rows = list(csv.DictReader(io.StringIO(result.out)))
    assert [(row["value"], row["verdict"], row["reason"], row["transactions"]) for row in rows] == [
        ("5", "pass", "", "5"),
        ("10", "pass", "", "10"),
        ("15", "fail", "transactions is 15", "15"),
    ]
    for row in rows:
        assert None not in row and None not in row.values()
        assert float(row["latency_p99_s"]) > 0 and float(row["seconds"]) > 0
    assert result.err.endswith("netmodel: the requirements are not met at 1 of 3 values\n")


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ("num_flows=1..4", "--scan num_flows=1..4: needs a step behind the range, as 10..50:10 or 1..64:*2"),
        (
            "num_flows=4",
            "--scan num_flows=4: must be FROM..TO, with a step behind it for --scan, as 10..50:10 or 1..64:*2",
        ),
        ("test_length=1..2:1", "--scan test_length=1..2:1: -D sets the same parameter: one at a time"),
        ("flows=1..2:1", '--scan flows=1..2:1: the profile has no parameter "flows"; --params lists them'),
        ("=1..2:1", "--scan =1..2:1: must be NAME=RANGE, as num_flows=1..64"),
        ("num_flows=1..2000:1", "--scan num_flows=1..2000:1: at most 1000 values, and these are more"),
    ],
)
def test_a_wrong_range_is_told_before_anything_runs(netmodel: Netmodel, given: str, why: str) -> None:
    result = netmodel.run(*SHORT, "--scan", given, code=1)
    assert (result.out, result.err) == ("", f"netmodel: {why}\n")


def test_a_wrong_value_is_told_once_and_nothing_runs(netmodel: Netmodel) -> None:
    result = netmodel.run(*SHORT, "--scan", "num_flow=1..3:1", code=1)
    assert len(result.lines()) == 1 and 'did you mean "num_flows"?' in result.err, result
    result = netmodel.run(*SHORT, "--scan", "num_flows=1..4000001:4000000", code=1)
    assert len(result.lines()) == 1 and result.err.endswith("(from -D num_flows=4000001)\n"), result
    assert not result.out
