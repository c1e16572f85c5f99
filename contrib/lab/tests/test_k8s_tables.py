# SPDX-License-Identifier: Apache-2.0
"""netmodel-lab k8s: results as CSV, as tables, and from node to node."""

from __future__ import annotations

from dataclasses import replace

import pytest

pytest.importorskip("kubernetes", reason="the Kubernetes client is not installed; requirements-dev.txt has it")

from k8s_examples import RR, STREAM, cell, of

from netmodel_lab.k8s import matrix, outputs, report
from netmodel_lab.k8s.figures import Cell
from netmodel_lab.k8s.settings import Where, points


def test_csv_has_the_columns_of_k8s_netperf_first() -> None:
    one = cell(STREAM, "pod", [100.0, 110.0])
    head, line, *rest = outputs.csv_results([one], of(STREAM), "now").splitlines()
    assert head.startswith("Driver,Profile,Same node,Host Network,VM mode,Service,External Server,UDN Info,")
    assert head.endswith("Latency Metric,Run,UUID,Time,Test,Server node,Client node,Path,Place,Model")
    assert line.startswith("netmodel,TCP_STREAM,false,false,false,false,false,,,,,,10,1,2,1024,0,")
    assert ",105.000000,Mb/s," in line
    assert rest == []


def test_tables_have_a_grid() -> None:
    text = outputs.tables([cell(STREAM, "pod", [100.0, 110.0]), cell(RR, "host", [5.0])], of(STREAM, RR))
    assert "| 105.00 (Mb/s) | 41.47-168.53 (Mb/s) " in text
    assert "| Rr Results  | netmodel | TCP_RR " in text
    assert "TCP RETRANSMISSIONS" not in text and "| TCP Retransmissions " in text


def test_a_matrix_as_a_table_and_as_a_heat_map() -> None:
    where = Where(pattern="matrix", nodes=("a", "b"))
    settings = of(replace(RR, samples=1), where=where)
    (first, second) = points(settings)
    found = [
        Cell(first, ({"transactions_per_s": 50.0, "p99_us": 9.0, "ok": True},)),
        Cell(second, ({"transactions_per_s": 100.0, "p99_us": 18.0, "ok": True},)),
    ]
    text = outputs.tables(found, settings)
    assert "rr: TCP_RR 64 B, burst 3, parallelism 4, 5 s, pod: Throughput (OP/s)" in text
    assert "| a               | -    | 100.0 |" in text and "| b               | 50.0 | -     |" in text
    rows = [{"cell": "x", "block": 1, "ok": False, "why": "<lost>"}]
    page = report.page(found, rows, [], settings, "now")
    assert "5 s, pod: Throughput, OP/s" in page and "5 s, pod: 99%tile latency, usec" in page
    assert '<td style="background: color-mix(in srgb, var(--c0) 70%, var(--card))">100.0</td>' in page
    assert '<td style="background: color-mix(in srgb, var(--c0) 35%, var(--card))">50.0</td>' in page
    assert "x sample 1: &lt;lost&gt;" in page and "<script" not in page
    assert matrix.squares([cell(STREAM, "pod", [1.0])]) == []


def test_each_test_of_a_list_has_a_square_of_its_own() -> None:
    where = Where(pattern="matrix", nodes=("a", "b"))
    tests = [replace(RR, samples=1, parallelism=flows) for flows in (1, 2)]
    every = points(of(*tests, where=where))
    found = matrix.squares([Cell(one, ({"transactions_per_s": float(one.seq), "ok": True},)) for one in every])
    assert [sorted(square.values.values()) for square in found] == [[1.0, 2.0], [3.0, 4.0]]
    assert len({square.title for square in found}) == 2
