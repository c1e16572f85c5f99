# SPDX-License-Identifier: Apache-2.0
"""Several pairs at the same time: what they say together."""

from __future__ import annotations

import json

from conftest import ON, Lab, entry


def test_pairs_have_percentiles_of_all_their_latencies(lab: Lab, tests_space: tuple[str, str]) -> None:
    text = "tests:\n" + entry("rr", "TCP_RR", duration=10)
    done = lab("run", lab.file(text), *ON, *tests_space, "--pairs", "2", "-o", "out")
    assert done.returncode == 0, done.stderr
    (row,) = lab.rows()
    sample = json.loads((lab.folder / "out" / "samples" / "0001.json").read_text())
    each = [pair["result"]["totals"]["latency_s"] for pair in sample["pairs"]]
    for name in ("p50", "p99"):
        found = sorted(one[name] * 1e6 for one in each)
        assert found[0] * 0.99 <= row[f"{name}_us"] <= found[-1] * 1.01
    (document,) = json.loads((lab.folder / "out" / "result.json").read_text())
    assert document["netmodel"]["latencyOfAllSamples"]["p99"] == row["p99_us"]
