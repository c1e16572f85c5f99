# SPDX-License-Identifier: Apache-2.0
"""Rows of other tools' results."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest
from conftest import Lab, rows

IPERF3 = {
    "start": {
        "cookie": "abc",
        "timestamp": {"time": "Tue, 24 Nov 2026 10:00:00 GMT"},
        "test_start": {"protocol": "TCP", "num_streams": 2, "blksize": 131072, "reverse": 0},
    },
    "end": {
        "streams": [{"sender": {"mean_rtt": 100}}, {"sender": {"mean_rtt": 300}}],
        "sum_sent": {"seconds": 10.0, "bits_per_second": 9e9, "retransmits": 7},
        "sum_received": {"seconds": 10.0, "bits_per_second": 8e9},
        "cpu_utilization_percent": {
            "host_total": 50.0,
            "host_user": 5.0,
            "host_system": 45.0,
            "remote_total": 80.0,
            "remote_user": 4.0,
            "remote_system": 76.0,
        },
    },
}
NETPERF = """\
OMNI Send|Recv TEST from 0.0.0.0 port 0 AF_INET to b () port 0 AF_INET : demo
Throughput,Throughput Units,Mean Latency Microseconds,99th Percentile Latency Microseconds,Request Size Bytes,\
Local CPU Util %,Local CPU Count
41000.5,Trans/s,24.1,60,64,12.5,8
39000.5,Trans/s,25.2,70,64,12.0,8
"""
KEYED = "THROUGHPUT=941.5\nTHROUGHPUT_UNITS=10^6bits/s\nPROTOCOL=TCP\nTHROUGHPUT=940\nTHROUGHPUT_UNITS=10^6bits/s\n"


def imported(lab: Lab, folder: Path, tool: str, *texts: str) -> list[dict[str, object]]:
    names = [f"in{i}" for i in range(len(texts))]
    for name, text in zip(names, texts, strict=True):
        (folder / name).write_text(text)
    done = lab("import", tool, *names, "-o", "rows.jsonl")
    assert done.returncode == 0, done.stderr
    return rows(folder)


def test_iperf3(lab: Lab, tmp_path: Path) -> None:
    first, second = imported(lab, tmp_path, "iperf3", json.dumps(IPERF3), json.dumps(IPERF3))
    assert first["payload_MBps"] == 1000
    assert (first["d.num_flows"], first["p.num_flows"], first["d.size"]) == ("2", 2, "131072")
    assert (first["retransmits"], first["mean_us"], first["seconds"]) == (7, 200, 10)
    assert (first["system_TL.master"], first["cpu_s_per_GB.master"], first["cpu_s_per_GB.slave"]) == (45, 0.5, 0.8)
    assert (first["block"], second["block"]) == (1, 2)
    assert first["cell"] == second["cell"]


def test_an_iperf3_that_failed(lab: Lab, tmp_path: Path) -> None:
    (tmp_path / "in").write_text(json.dumps({"start": {}, "end": {}, "error": "unable to connect"}))
    assert lab("import", "iperf3", "in", "-o", "rows.jsonl").returncode == 4
    assert [(row["ok"], row["why"]) for row in rows(tmp_path)] == [(False, "unable to connect")]


def test_netperf(lab: Lab, tmp_path: Path) -> None:
    found = imported(
        lab, tmp_path, "netperf", NETPERF, KEYED, json.dumps({"throughput": 8, "throughput_units": "10^9bits/s"})
    )
    assert [row.get("transactions_per_s") for row in found] == [41000.5, 39000.5, None, None, None]
    assert (found[0]["p99_us"], found[0]["d.request_size"], found[0]["busy_kernel_TL.master"]) == (60, "64", 100)
    assert [row.get("payload_MBps") for row in found[2:]] == pytest.approx([117.6875, 117.5, 1000])
    assert found[2]["profile"] == "netperf TCP"


def test_beside_ours(study: Path, lab: Lab, tmp_path: Path) -> None:
    """Imported rows are compared as those of studies are."""
    texts = [path.read_text() for path in sorted((study / "runs").glob("*/result.json"))]
    found = imported(lab, tmp_path, "netmodel", *texts)
    for row, ours in zip(found, rows(study), strict=True):
        assert row["transactions_per_s"] == ours["transactions_per_s"]
        assert row["d.num_flows"] == ours["d.num_flows"]
    done = lab("compare", study, "rows.jsonl", "--by", "num_flows", "--metric", "transactions_per_s")
    assert done.returncode in (0, 5), done.stderr


@pytest.mark.parametrize(
    ("tool", "text", "says"),
    [
        ("iperf3", "{}", "is no result of iperf3: it has no member start"),
        ("netperf", "MIGRATED TCP STREAM TEST\n 87380 16384 16384 10.00 941.5\n", "it has no header"),
        ("netmodel", "{}", "its schema is not netmodel.result"),
        ("netmodel", "nonsense", "is no result of netmodel"),
    ],
)
def test_what_cannot_be_read(lab: Lab, tmp_path: Path, tool: str, text: str, says: str) -> None:
    (tmp_path / "in").write_text(text)
    done = lab("import", tool, "in", "missing", "-o", "rows.jsonl")
    assert done.returncode == 2
    assert says in done.stderr
    assert f"missing: is no result of {tool}: No such file or directory" in done.stderr
    assert not (tmp_path / "rows.jsonl").exists()


def test_parquet(study: Path, lab: Lab, tmp_path: Path) -> None:
    done = lab("export", study, "parquet", "-o", "rows.parquet")
    if not importlib.util.find_spec("pyarrow"):
        assert done.returncode == 3
        assert done.stderr == "netmodel-lab: parquet needs pyarrow: pip install 'netmodel-lab[parquet]'\n"
        return
    assert done.returncode == 0, done.stderr
    from pyarrow import parquet

    assert parquet.read_table(tmp_path / "rows.parquet").to_pylist() == rows(study)
