# SPDX-License-Identifier: Apache-2.0
"""Rows of other tools' results."""

from __future__ import annotations

import importlib.util
import json
import subprocess
from pathlib import Path

import pytest
from conftest import NETMODEL, Json, Lab, rows

from netmodel_lab.qq import QQ

DRIVERS = Path(__file__).parent / "drivers"
QQ_LINES = Path(__file__).parent / "others" / "qq.txt"

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


def imported(lab: Lab, folder: Path, tool: str, *texts: str) -> list[Json]:
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


def test_uperf(lab: Lab, tmp_path: Path) -> None:
    """What uperf 1.0.8 printed, and two runs in one file."""
    texts = [(DRIVERS / f"uperf-{name}.txt").read_text() for name in ("tcp_rr-2", "tcp_stream-1")]
    found = imported(lab, tmp_path, "uperf", *texts, "".join(texts))
    assert [row["d.num_flows"] for row in found] == ["2", "1", "2", "1"]
    rr, stream = found[:2]
    assert (rr["seconds"], rr["payload_MBps"], rr["mean_us"], rr["max_us"]) == pytest.approx(
        (5.33, 9.755, 14.79, 18120)
    )
    assert rr["transactions_per_s"] == pytest.approx(405976 / 5.33)
    assert stream["payload_MBps"] == pytest.approx(288.75)
    assert [{**row, "file": None} for row in found[2:]] == [
        {**row, "file": None, "block": 2, "seq": row["seq"] + 2} for row in found[:2]
    ]


def test_uperf_that_was_cut_off(lab: Lab, tmp_path: Path) -> None:
    text = (DRIVERS / "uperf-tcp_rr-2.txt").read_text()
    (tmp_path / "in").write_text(text[: text.index("Run Statistics")])
    assert lab("import", "uperf", "in", "-o", "rows.jsonl").returncode == 4
    assert [(row["ok"], row["why"]) for row in rows(tmp_path)] == [(False, "it has no statistics of the run")]


def test_uperf_that_has_moved_no_data(lab: Lab, tmp_path: Path) -> None:
    text = """Starting 8 threads running profile:connect_storm ...   0.00 seconds

Run Statistics
Hostname            Time       Data   Throughput   Operations      Errors
-------------------------------------------------------------------------------
master          301.37ms          0            0         8944        2.00
"""
    row = imported(lab, tmp_path, "uperf", text)[0]
    assert (row["ok"], row["seconds"], row["payload_MBps"], row["errors"]) == (True, pytest.approx(0.30137), 0, 2)


def test_our_own_in_the_form_of_uperf(lab: Lab, tmp_path: Path) -> None:
    words: list[str | Path] = [
        NETMODEL,
        "-m",
        "tcp_rr",
        "-D",
        "num_flows=3",
        "-D",
        "test_length=200ms",
        "--format",
        "uperf",
        "-a",
    ]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    row = imported(lab, tmp_path, "uperf", done.stdout)[0]
    assert row["d.num_flows"] == "3"
    assert row["transactions_per_s"] > 0
    assert 0 < row["mean_us"] < row["max_us"]


def test_qq(lab: Lab, tmp_path: Path) -> None:
    """What extract_tcp_stats.sh made of points with 1 and 2 pairs, and 4 and 8 of another setting: it prints 2, 4, 8
    and 8, and that setting already in the second row."""
    text = QQ_LINES.read_text()
    alone = "".join(line for line in text.splitlines(keepends=True) if line.startswith("QQ_"))
    found = imported(lab, tmp_path, "qq", text, alone + alone)
    assert [row["d.num_flows"] for row in found] == ["1", "2", "4", "8"] + [None, "2", "4", "8"] * 2
    assert [row["why"] for row in found[4:6]] == ["N, outs: lost by the old scripts", None]
    assert [row["d.nic"] for row in found[:4]] == ["cfg_q8_a11_ru8"] * 2 + ["cfg_q48_a00"] * 2
    assert [row["profile"] for row in found[:4]] == ["qq bw"] * 2 + ["qq lat"] * 2
    assert [row["transactions_per_s"] for row in found[:4]] == [200500, 400500, 40250, 75250]
    assert [row["p99_us"] for row in found[:4]] == [10, 11, 61, 71]
    second = found[1]
    assert (second["busy_hw_TL.slave"], second["hidden_TL.slave"]) == pytest.approx((92.3, 91.3))
    assert (second["irq_all_kps.slave"], second["irq_nic_kps.slave"], second["freq_GHz.slave"]) == (18.4, 17.7, 1.7)


def test_qq_of_several_outputs_in_one_file(lab: Lab, tmp_path: Path) -> None:
    """Each has its own pairs, and the outstanding messages of its own commands, though rows show those of the next."""
    text = QQ_LINES.read_text()
    other = text.replace("-n 1 ", "-n 16 ").replace("-n 2 ", "-n 32 ").replace(" -o 1 ", " -o 7 ")
    alone = "".join(line for line in text.splitlines(keepends=True) if line.startswith("QQ_"))
    found = imported(lab, tmp_path, "qq", text + other + alone)
    assert [row["d.num_flows"] for row in found] == ["1", "2", "4", "8", "16", "32", "4", "8", None, "2", "4", "8"]
    assert [row["d.pipeline"] for row in found] == ["1"] * 4 + ["7"] * 4 + [None, "1", "1", "1"]


def test_qq_columns_are_those_of_the_lines(lab: Lab, tmp_path: Path) -> None:
    text = QQ_LINES.read_text()
    names, values = (
        next(line.split() for line in text.splitlines() if line.startswith(f"QQ_{word}")) for word in ("HDR", "lat_1")
    )
    row = imported(lab, tmp_path, "qq", text)[3]
    said = dict(reversed(list(zip(names, values, strict=True))))
    old = {
        name: row.get(ours, row.get(f"{ours}.slave"))
        for name, ours in QQ.items()
        if name in said and name not in ("missing_cpusTL", "%busyTL", "redis_cpus", "outs", "N")
    }
    assert len(old) > 20
    assert old == {name: float(said[name]) for name in old}


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
        ("uperf", "Allocating shared memory\n", "no line of it begins with Starting"),
        ("qq", "QQ_bw_0 8 24\n", "line 1: no line before it begins with QQ_HDR"),
        ("qq", "QQ_HDR N grp cfg\n\nQQ_bw_0 8 24\n", "line 3: 2 values, and the QQ_HDR line has 3 names"),
        ("qq", "QQ_HDR N grp\n", "line 1: the QQ_HDR line has no column cfg"),
        ("qq", "def cfg= cfg_q8\n", "there is no result in it"),
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
