# SPDX-License-Identifier: Apache-2.0
"""The table of contrib/scaling-study is the same of the same runs."""

from __future__ import annotations

import importlib.util
import json
import sys
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import Any

import pytest
from conftest import SHORT, TOP, Lab, rows

SCRIPT = TOP / "contrib" / "scaling-study"


def script() -> Any:
    spec = importlib.util.spec_from_loader("scaling_study", SourceFileLoader("scaling_study", str(SCRIPT)))
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    sys.dont_write_bytecode, before = True, sys.dont_write_bytecode
    spec.loader.exec_module(module)
    sys.dont_write_bytecode = before
    return module


@pytest.mark.parametrize("profile", ["tcp_rr", "udp_stream"])
def test_the_same_table(profile: str, lab: Lab, tmp_path: Path) -> None:
    words = (profile, *SHORT[1:4], "--repeat", "1", "--no-report", "-o", "s")
    assert lab("run", *words).returncode == 0
    other = script()
    expected = {}
    for row in rows(tmp_path / "s"):
        document = json.loads((tmp_path / "s" / "runs" / f"{row['seq']:06d}-a1" / "result.json").read_text())
        point = other.Point(int(row["d.num_flows"]))
        other.fill(point, document)
        expected[point.connections] = other.text_row(point)
    table = lab("report", "s", "--scaling-study").stdout
    assert table.splitlines() == [other.HEADER, expected[1], expected[2]]


def test_of_a_study_without_connections(lab: Lab, tmp_path: Path) -> None:
    words = ("tcp_rr", "request_size=1", "--set", "test_length=20ms", "--repeat", "1", "--no-report", "-o", "s")
    assert lab("run", *words).returncode == 0
    done = lab("report", "s", "--scaling-study")
    assert done.returncode == 2
    assert "s: varies none of num_flows, nth: there is no such table of it" in done.stderr
