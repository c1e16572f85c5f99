# SPDX-License-Identifier: Apache-2.0
"""netmodel-lab k8s: percentiles of several pairs are those of all their latencies."""

from __future__ import annotations

import base64
import struct
import zlib
from typing import Any

import pytest

pytest.importorskip("kubernetes", reason="the Kubernetes client is not installed; requirements-dev.txt has it")

from netmodel_lab.k8s import figures, histograms, results

Json = dict[str, Any]
HEAD = '#[Logged by netmodel; values are nanoseconds]\n"StartTimestamp","Interval_Length"\n'


def logged(counts: dict[int, int]) -> str:
    """A histogram as netmodel compresses it, of latencies below 256 ns."""

    def varint(value: int) -> bytes:
        value, out = value << 1, b""
        while value > 0x7F:
            out += bytes([value & 0x7F | 0x80])
            value >>= 7
        return out + bytes([value])

    body = b"".join(varint(counts.get(i, 0)) for i in range(max(counts) + 1))
    plain = struct.pack(">IIIIQQd", 0x1C849313, len(body), 0, 2, 1, 1 << 40, 1.0) + body
    packed = zlib.compress(plain)
    return base64.b64encode(struct.pack(">II", 0x1C849314, len(packed)) + packed).decode()


def document(count: int, mean: float, p99: float) -> Json:
    latency = {"count": count, "mean": mean, "p99": p99, "max": p99}
    return {"run": {"start_s": 1.0}, "totals": {"latency_s": latency, "transactions_per_s": 1.0}}


def test_percentiles_of_pairs_are_of_all_their_latencies() -> None:
    many, few = {100: 990, 110: 10}, {200: 10}
    both = [document(1000, 1e-7, 1.1e-7), document(10, 2e-7, 2e-7)]
    row = figures.of_pairs(both, [logged(many), logged(few)])
    assert (row["p50_us"], row["p99_us"], row["p999_us"]) == (0.1, 0.11, 0.2)  # the mean of both p99 would be 0.155
    assert row["mean_us"] == pytest.approx((1000 * 0.1 + 10 * 0.2) / 1010)


@pytest.mark.parametrize("other", [None, "", "HIST", logged({1: 1})[:-8]])
def test_a_pair_without_its_histogram_leaves_no_percentile(other: str | None) -> None:
    both = [document(10, 1e-7, 1e-7)] * 2
    assert "p99_us" not in figures.of_pairs(both, [logged({1: 1}), other])


def test_lines_of_histograms_are_found_wherever_they_stand_in_a_log() -> None:
    line = f"0.000,1.000,0.100,{logged({3: 1})}\n"
    total = logged({5: 2})
    log = HEAD + '{\n "schema": "netmodel.result/1",\n' + line + f"Tag=total,0.000,1.000,0.100,{total}\n"
    log += ' "run": {"complete": true}\n}\n'
    rest, found = histograms.taken_out(log)
    assert found == total
    assert results.parse(rest, "")["schema"] == "netmodel.result/1"
    assert histograms.taken_out("iperf Done.\n") == ("iperf Done.\n", None)
