# SPDX-License-Identifier: Apache-2.0
"""HdrHistogram's own tools read the log of histograms, and find what the result says."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from nmtest import Json, Netmodel, defines

histogram = pytest.importorskip("hdrh.histogram", reason="hdrhistogram is not installed")
log = pytest.importorskip("hdrh.log", reason="hdrhistogram is not installed")

DAY_NS = 86400 * 10**9


def run_and_read(
    netmodel: Netmodel, path: Path, *args: str, profile: str = "tcp_rr"
) -> tuple[Json, dict[str, list[Any]]]:
    """The result, and the histograms of the log by their tags."""
    document = netmodel.measure(profile, "--hdr-log", path, "--percentiles", "0,50,90,99,99.9,100", *args)
    reader = log.HistogramLogReader(str(path), histogram.HdrHistogram(1, DAY_NS, 2))
    found: dict[str, list[Any]] = {}
    tags = [match[1] or "" for match in re.finditer(r"^(?:Tag=(\w+),)?\d", path.read_text(), re.MULTILINE)]
    while read := reader.get_next_interval_histogram():
        found.setdefault(tags.pop(0), []).append(read)
    assert not tags
    return document, found


def agree(read: Any, latency: Json) -> None:
    assert read.get_total_count() == latency["count"] > 0
    for key, value in latency.items():
        if not re.fullmatch(r"p[\d.]+", key):
            continue
        # They give the highest value of a bucket and we its middle; the buckets are 1/128 wide at most. They round the
        # rank to the nearest, and we up.
        step = 100 / latency["count"]
        low, high = (read.get_value_at_percentile(min(max(float(key[1:]) + d, 0), 100)) for d in (-step, step))
        assert low * (1 - 1 / 128) - 1 <= value * 1e9 <= high * (1 + 1 / 128) + 1, key
    assert read.get_mean_value() == pytest.approx(latency["mean"] * 1e9, rel=1 / 128)


def test_intervals_and_the_whole(netmodel: Netmodel, tmp_path: Path) -> None:
    path = tmp_path / "log"
    document, found = run_and_read(netmodel, path, "-i", "200ms", *defines(test_length="700ms", num_flows=4))
    assert set(found) == {"", "total"}
    rows = document["intervals"]
    assert len(found[""]) == len(rows) >= 3
    for read, row in zip(found[""], rows, strict=True):
        agree(read, row["latency_s"])
        assert read.get_end_time_stamp() - read.get_start_time_stamp() == pytest.approx(row["seconds"] * 1e3, abs=1.1)
    (total,) = found["total"]
    agree(total, document["totals"]["latency_s"])
    whole = histogram.HdrHistogram(1, DAY_NS, 2)
    for read in found[""]:
        whole.add(read)
    assert whole.get_total_count() == total.get_total_count()
    assert whole.encode() == total.encode()


def test_the_head_and_the_columns(netmodel: Netmodel, tmp_path: Path) -> None:
    path = tmp_path / "log"
    document, _ = run_and_read(netmodel, path, *defines(test_length="200ms"))
    lines = path.read_text().splitlines()
    assert lines[1] == "#[Histogram log format version 1.3]"
    start = re.fullmatch(r"#\[StartTime: (\d+\.\d{3}) \(seconds since epoch\), .*\]", lines[2])
    assert start
    assert json.loads(f"[{lines[3]}]") == [
        "StartTimestamp",
        "Interval_Length",
        "Interval_Max",
        "Interval_Compressed_Histogram",
    ]
    first = lines[4].split(",")
    assert first[0] == "0.000"
    assert float(first[1]) == pytest.approx(document["intervals"][0]["seconds"], abs=1e-3)
    assert float(first[2]) == pytest.approx(document["intervals"][0]["latency_s"]["max"] * 1e3, abs=1e-3)


def test_what_is_not_measured_has_a_tag(netmodel: Netmodel, tmp_path: Path) -> None:
    cut = ("--warmup", "200ms", "--cooldown", "200ms", "-i", "100ms")
    document, found = run_and_read(netmodel, tmp_path / "log", *cut, *defines(test_length="600ms"))
    assert set(found) == {"", "warmup", "cooldown", "total"}
    assert len(found["warmup"]) == sum(row["part"] == "warmup" for row in document["intervals"])
    agree(found["total"][0], document["totals"]["latency_s"])


def test_arrivals_have_lines_of_response_and_send_delay(netmodel: Netmodel, tmp_path: Path) -> None:
    cut = ("--warmup", "200ms", "-i", "100ms")
    arrivals = defines(test_length="600ms", rate="1k/s")
    document, found = run_and_read(netmodel, tmp_path / "log", *cut, *arrivals, profile="poisson_rr")
    rows = document["intervals"]
    for prefix in "", "response", "send_delay":
        tags = {part: "_".join(filter(None, (prefix, part))) for part in ("", "warmup", "total")}
        name = f"{prefix or 'latency'}_s"
        assert len(found[tags["warmup"]]) == sum(row["part"] == "warmup" for row in rows), name
        measured = [row for row in rows if row["part"] == "measured"]
        for read, row in zip(found.pop(tags[""]), measured, strict=True):
            agree(read, row[name])
        del found[tags["warmup"]]
        (total,) = found.pop(tags["total"])
        agree(total, document["totals"][name])
    assert not found


def test_long_times(netmodel: Netmodel, tmp_path: Path) -> None:
    profile = tmp_path / "slow.xml"
    profile.write_text(
        '<profile name="slow"><group nflows="2"><transaction iterations="1"><flowop type="connect" '
        'options="remotehost=local"/></transaction><transaction iterations="2" measure="yes"><flowop type="write" '
        'options="size=1"/><flowop type="think" options="duration=300ms at=slave"/><flowop type="read" '
        'options="size=1"/></transaction></group></profile>'
    )
    path = tmp_path / "log"
    netmodel.run("-m", profile, "--hdr-log", path, code=0)
    reader = log.HistogramLogReader(str(path), histogram.HdrHistogram(1, DAY_NS, 2))
    read = reader.get_next_interval_histogram()
    assert read.get_total_count() == 4
    assert 0.29e9 < read.get_min_value() <= read.get_max_value() < 5e9


def test_a_log_that_cannot_be_written(netmodel: Netmodel, tmp_path: Path) -> None:
    done = netmodel.run("-m", "tcp_rr", "--hdr-log", tmp_path / "no" / "log", code=1)
    assert f"--hdr-log {tmp_path}/no/log: cannot be written: No such file or directory" in done.err
    full = netmodel.run("-m", "tcp_rr", "-D", "test_length=50ms", "--hdr-log", "/dev/full", code=2)
    assert "--hdr-log /dev/full: cannot be written: No space left on device" in full.err
