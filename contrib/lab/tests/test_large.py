# SPDX-License-Identifier: Apache-2.0
"""A report of many runs: how long it takes, in what memory, how large the page is, and how long its reader waits. 10000
rows in the long proof."""

from __future__ import annotations

import os
import resource
import subprocess
from pathlib import Path

from browser import Browser
from conftest import argv, environment
from large import enlarge

from netmodel_lab.page import html

QUICK = (Path(__file__).parent / "quick.js").read_text()
IS_LONG = bool(os.environ.get("NETMODEL_LAB_LONG"))


def test_report_of_many_rows(wide_study: Path, tmp_path: Path) -> None:
    rows = 10_000 if IS_LONG else 300
    enlarge(wide_study, tmp_path / "large", rows)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(argv("report", tmp_path / "large"), env=environment(), check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    # CPU time, which other work on the machine does not lengthen as it does wall time.
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    page = (tmp_path / "large" / "report.html").read_text()
    assert ('id="runs" checked>' in page) == (rows <= html._MOST_RUNS)
    size = (tmp_path / "large" / "report.html").stat().st_size
    print(f"figure: report of {rows} rows: {seconds:.1f} s of CPU, {after.ru_maxrss / 1e6:.2f} GB, {size / 1e6:.1f} MB")
    assert seconds < 20
    assert after.ru_maxrss < 1_000_000
    assert size < 8_000_000
    waited = wait_of_a_reader(tmp_path / "large" / "report.html", tmp_path)
    print(f"figure: page of {rows} rows: {', '.join(f'{name} {value:.2f} s' for name, value in waited.items())} of CPU")
    assert waited["ready"] < 3
    assert waited["sort"] < 0.3
    assert waited["series"] < 0.3


def wait_of_a_reader(page: Path, folder: Path) -> dict[str, float]:
    waited = {}
    with Browser(folder, width=1400) as browser:
        browser.open(page)
        browser.play(QUICK)
        before = 0.0
        for name in ("ready", "sort", "series"):
            browser.play(f"await acts.{name}()")
            now = browser.busy_s()
            waited[name], before = now - before, now
        assert not browser.console
    return waited
