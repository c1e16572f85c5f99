# SPDX-License-Identifier: Apache-2.0
"""A report of many runs: how long it takes, in what memory, and how large the page is. 10000 rows in the long proof."""

from __future__ import annotations

import os
import resource
import subprocess
from pathlib import Path

from conftest import argv, environment
from large import enlarge

IS_LONG = bool(os.environ.get("NETMODEL_LAB_LONG"))


def test_report_of_many_rows(wide_study: Path, tmp_path: Path) -> None:
    rows = 10_000 if IS_LONG else 300
    enlarge(wide_study, tmp_path / "large", rows)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(argv("report", tmp_path / "large"), env=environment(), check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    # CPU time, which other work on the machine does not lengthen as it does wall time.
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    size = (tmp_path / "large" / "report.html").stat().st_size
    print(f"figure: report of {rows} rows: {seconds:.1f} s of CPU, {after.ru_maxrss / 1e6:.2f} GB, {size / 1e6:.1f} MB")
    assert seconds < 20
    assert after.ru_maxrss < 1_000_000
    assert size < 8_000_000
