# SPDX-License-Identifier: Apache-2.0
"""What is drawn of the inside of runs, slopes, and single pictures."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from conftest import Lab

from netmodel_lab import histogram, slopes
from netmodel_lab.folder import Folder
from netmodel_lab.page import charts, data, details
from netmodel_lab.page.details import QUANTILES
from netmodel_lab.rows import chosen
from netmodel_lab.table import Table


def test_histograms_are_those_of_the_result(wide_study: Path) -> None:
    for path in (wide_study / "runs").iterdir():
        result = json.loads((path / "result.json").read_text())["totals"]["latency_s"]
        log = histogram.read(path / "hist.hlog")
        (total,) = [one for one in log if one.tag == "total"]
        assert sum(total.counts.values()) == result["count"]
        assert sum(sum(one.counts.values()) for one in log if not one.tag) == result["count"]
        found = histogram.quantiles(total.counts, [0.5, 0.99])
        # Two digits: a bucket is 1/128 of its value wide.
        assert found == pytest.approx([result["p50"] * 1e6, result["p99"] * 1e6], rel=0.02)


def test_buckets() -> None:
    assert [histogram.middle(i) for i in (0, 255, 256, 257, 383, 384)] == [0, 255, 257, 259, 511, 514]
    assert histogram.quantiles({1000: 1, 3000: 1, 2000: 2}, [0.25, 0.5, 1]) == [1, 2, 3]
    assert histogram.quantiles({}, [0.5]) == [None]
    assert QUANTILES[4] == pytest.approx(0.9)


def test_what_is_no_log(tmp_path: Path) -> None:
    path = tmp_path / "log"
    assert histogram.read(path) == []
    path.write_text("#x\n0.0,1.0,2.0,HISTFAAAA\n0,1,2,!!\nTag=total,0\n")
    assert histogram.read(path) == []


# --- slopes ---


@pytest.mark.parametrize("seed", range(10))
def test_slope_by_hand(seed: int) -> None:
    draw = np.random.default_rng(seed)
    n = 5 + 3 * seed
    x = draw.uniform(0.5, 4, n)
    y = 30 + 210 * x + draw.normal(0, 5, n) * x
    line = slopes.fit(list(x), list(y))
    assert line
    # The same, term by term.
    sxx = sum((a - x.mean()) ** 2 for a in x)
    slope = sum((a - x.mean()) * (b - y.mean()) for a, b in zip(x, y, strict=True)) / sxx
    intercept = y.mean() - slope * x.mean()
    residual = [b - intercept - slope * a for a, b in zip(x, y, strict=True)]
    leverage = [1 / n + (a - x.mean()) ** 2 / sxx for a in x]
    variance = sum((a - x.mean()) ** 2 * (e / (1 - h)) ** 2 for a, e, h in zip(x, residual, leverage, strict=True)) / (
        sxx**2
    )
    from scipy import stats

    half = stats.t.ppf(0.975, n - 2) * variance**0.5
    r2 = 1 - sum(e**2 for e in residual) / sum((b - y.mean()) ** 2 for b in y)
    expected = [slope, intercept, r2, slope - half, slope + half]
    assert [line.slope, line.intercept, line.r2, line.low, line.high] == pytest.approx(expected, rel=1e-9)


def test_no_slope() -> None:
    assert slopes.fit([1, 1, 2], [1, 2, 3]) is None
    assert slopes.fit([1, 1.01, 1.02], [1, 2, 3]) is None
    assert slopes.fit([1, 2, 3], [5, 5, 5]) is None


def test_a_curve_is_told() -> None:
    x = list(np.linspace(1, 4, 12))
    curved = slopes.fit(x, [value**2 for value in x])
    straight = slopes.fit(x, [2 * value + (-1) ** i * 0.1 for i, value in enumerate(x)])
    assert curved
    assert straight
    assert curved.is_curved
    assert not straight.is_curved


# --- pictures ---


@pytest.mark.parametrize(
    "name", ["p99_us", "busy_kernel_TL", "distribution", "percentiles", "waterfall", "rate", "interrupts", "losses"]
)
def test_pictures(wide_study: Path, lab: Lab, tmp_path: Path, name: str) -> None:
    path = tmp_path / "picture"
    assert lab("report", wide_study, "--svg", name, "-o", path).returncode == 0
    text = path.read_text()
    assert text.startswith("<svg")
    assert text.count("<path") > 3
    if name == "p99_us":
        assert lab("report", wide_study, "--png", name, "-o", path, "--over", "request_size").returncode == 0
        assert path.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("name", ["cs_kps.slave", "p50_us", "wire_MBps.slave"])
def test_a_picture_over_what_was_measured(apart_study: Path, lab: Lab, tmp_path: Path, name: str) -> None:
    path = tmp_path / "picture.svg"
    done = lab("report", apart_study, "--svg", name, "-o", path, "--over", "irq_all_kps")
    assert done.returncode == 0, done.stderr
    assert ("irq_all_kps.slave" if ".slave" in name else "irq_all_kps.master") in path.read_text()


def test_lines_that_fold_back_are_none(apart_study: Path) -> None:
    table = Table(Folder.open(apart_study))
    chart = next(chart for chart in charts.chosen([table])[0] if chart.column.name == "p50_us")
    axis = next(axis for axis in data.measured([table]) if axis.name == "payload_MBps")
    column = axis.columns[0]["slave"]
    for cell, x in zip(table.cells, (1.0, 2.0, 3.0, 2.0, 1.0, 3.0), strict=True):
        cell.summaries[column] = replace(cell.summaries[column], centre=x)
    drawn = data.fill(table, chart, axis, column)
    assert len(drawn["cells"]) == len(table.cells) == 6
    whole = {"request_size=64": [1.0, 3.0, 1.0], "request_size=16k": [2.0, 2.0, 3.0]}
    assert [(row["series"], row["x"]) for row in drawn["cells"]] == [
        (series, whole[series][i]) for i in range(3) for series in whole
    ]
    assert drawn["lines"] == []


def test_what_hosts_counted_over_time(apart_study: Path) -> None:
    """A second of each machine; what an interval does not know is no point, and rows of an older netmodel know none."""
    table = Table(Folder.open(apart_study))
    one = details.details(table, "num_flows")[0]
    attempt = chosen(table.attempts[one["run"]])
    result = attempt.result
    assert result
    rows = result["hosts"][0]["intervals"]
    for name, members in details.COUNTED.items():
        ends = [f"{end}: {title}" for end in ("master", "slave far") for title in members.values()]
        assert list(dict.fromkeys(of for _, _, of in one[name])) == ends
    spent = [row["softirqs"] / (row["to_s"] - row["from_s"]) for row in rows]
    assert [y for _, y, of in one["interrupts"] if of == "master: softirqs"] == pytest.approx(spent, abs=0.1)
    assert details._rates({"intervals": [{"from_s": 0.0, "to_s": 1.0, "softirqs": None}, {}]}, "softirqs", "x") == []


def test_no_such_picture(wide_study: Path, lab: Lab) -> None:
    done = lab("report", wide_study, "--svg", "watrfall")
    assert done.returncode == 2
    assert "watrfall: no such chart; did you mean waterfall?" in done.stderr
    done = lab("report", wide_study, "--svg", "p99_us", "--over", "numflows")
    assert "was neither varied nor measured; did you mean num_flows?" in done.stderr
    done = lab("report", wide_study, "--svg", "irq_all_kps", "--over", "irq_all_kps")
    assert "irq_all_kps.shared cannot be drawn over it; there are num_flows, request_size, " in done.stderr
