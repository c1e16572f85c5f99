# SPDX-License-Identifier: Apache-2.0
"""Figures of a row, and what they are made of."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from conftest import Lab, rows

from netmodel_lab.columns import END, RUN, figures, texts
from netmodel_lab.qq import ABSENT, QQ, with_old_names

Json = dict[str, Any]


def host(role: str, boot: str) -> Json:
    """A host of 4 CPUs, which were busy for 3 s of 2 s each."""
    return {
        "role": role,
        "name": role,
        "facts": {"boot_id": boot, "irq_accounting": "off"},
        "cpu": {"n_cpus": 4, "busy": 0.375, "user": 0.125, "system": 0.0625, "seconds": 8.0},
        "interrupts": {"seconds": 2.0, "hardware": 8000, "context_switches": 500},
        "cpus": [{"cpu": 0, "busy": 0.25}, {"cpu": 1, "busy": 0.5}],
        "cpufreq": {"n_cpus": 4, "frequency_hz": 2.5e9},
        "unhalted": {"source": "msr", "n_cpus": 4, "busy": 0.5, "hidden": 0.125, "awake_s": 4.0, "frequency_hz": 3e9},
        "pressure": {"seconds": 2.0, "cpu_some_s": 0.5},
        "softnet": {"seconds": 2.0, "dropped": 6, "squeezed": 0},
        "softirqs": {"seconds": 2.0, "net_rx": 3000, "net_tx": 1000},
        "nics": [
            {"name": "lo", "rx_bytes": 9, "tx_bytes": 9, "rx_packets": 1, "tx_packets": 1},
            {
                **{"name": "eth0", "rx_bytes": 3e9, "tx_bytes": 1e9, "rx_packets": 3000, "tx_packets": 1000},
                **{"vectors": 2, "interrupts": 500},
            },
        ],
        "costs": {
            "nic": "eth0",
            **{"cpu_per_gb_s": 0.5, "cpu_per_packet_s": 750e-6, "cpu_per_transaction_s": 3e-3},
            **{"cycles_per_gb": 3e9, "cycles_per_packet": 3e6, "cycles_per_transaction": None},
            **{"packets_per_nic_interrupt": 8, "queue_interrupts_deviation": 0.2, "queue_interrupts_max": 1.2},
        },
        "tcp": {"retransmitted_segments": 100, "resets_sent": None, "delayed_acks": 8},
    }


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("busy_kernel_TL", 150),
        ("busy_hw_TL", 200),
        ("hidden_TL", 50),
        ("busiest_cpu_TL", 50),
        ("freq_GHz", 3),
        ("cycles_per_byte", 3),
        ("cycles_per_packet", 3e6),
        ("psi_cpu_pct", 25),
        ("softnet_dropped_ps", 3),
        ("softnet_squeezed_ps", 0),
        ("user_sys_TL", 75),
        ("busy_TL_per_GBps", 75),
        ("busy_hw_TL_per_GBps", 100),
        ("cpu_us_per_packet", 750),
        ("wire_MBps", 2000),
        ("wire_kpps", 2),
        ("irq_all_kps", 4),
        ("softirq_net_kps", 2),
        ("irq_nic_kps", 0.25),
        ("packets_per_nic_irq", 8),
        ("irq_nic_spread_pct", 20),
        ("irq_nic_max_over_mean", 1.2),
        ("packets_per_irq", 0.5),
        ("packets_per_cs", 8),
        ("tcp_retransmitted_segments_ps", 50),
        ("tcp_resets_sent_ps", None),
        ("tcp_delayed_acks_ps", 4),
        ("cpu_s_per_GB", 0.5),
        ("cpu_us_per_transaction", 3000),
        ("cycles_per_transaction", None),
    ],
)
def test_a_figure_of_an_end(name: str, value: float | None) -> None:
    found = dict(figures({"totals": {}, "hosts": [host("master", "a"), host("slave", "b")]}))
    expected = None if value is None else pytest.approx(value)
    assert found[f"{name}.master"] == expected
    assert found[f"{name}.slave"] == expected


def test_ends_on_one_machine_are_told_once() -> None:
    found = dict(figures({"totals": {}, "hosts": [host("master", "a"), host("slave", "a")]}))
    assert found["busy_kernel_TL.shared"] == 150
    assert not [name for name in found if name.endswith((".master", ".slave"))]


def test_what_a_host_does_not_know_is_none() -> None:
    bare = {"role": "master", "cpu": {"unavailable": "no /proc"}, "nics": {"unavailable": "x"}}
    found = dict(figures({"totals": {}, "hosts": [bare]}))
    assert all(found[f"{end.column.name}.master"] is None for end in END)


GROUPS = ("cpu", "cpus", "cpufreq", "unhalted", "pressure", "softnet", "softirqs", "interrupts", "nics", "tcp", "costs")


# The frequency is by cpufreq where it is not by what counts cycles.
@pytest.mark.parametrize("group", [*sorted({*GROUPS} - {"cpufreq", "unhalted"}), "cpufreq unhalted"])
def test_nothing_is_0_for_unknown(group: str) -> None:
    """What is made of a group of figures is not made without it."""
    totals = {"transactions": 1000, "seconds": 2.0}
    hosts = [host("master", "a"), host("slave", "b")]
    known = dict(figures({"totals": totals, "hosts": hosts}))
    hosts[0] |= {name: {"unavailable": "not on this machine"} for name in group.split()}
    found = dict(figures({"totals": totals, "hosts": hosts}))
    lost = {name for name, value in known.items() if found[name] != value}
    assert lost and all(found[name] is None for name in lost)


def test_what_a_run_does_not_know_has_its_reason(study: Path) -> None:
    """In the results of this machine, whatever that tells."""
    results = [json.loads(path.read_text()) for path in study.glob("runs/*/result.json")]
    entries = [entry for result in results for entry in result["hosts"]]
    assert entries
    for entry in entries:
        for name in GROUPS:
            assert entry[name], name
            if "unavailable" in entry[name]:
                assert len(entry[name]["unavailable"]) > 5


# The columns of QQ lines, by the scripts' own header.
SECTION_11 = """
cfg_q_sz redis_cpus RPS(k) p50 p90 p99 cfg tot_netTL ps_busyTL tot_usableTL cfg_cur freq tot_net_MB/s tot_net_kPkts/s
Int_1000/s spin_ref_perf spin_cur_perf spin_work spin_threads num_cpus missing_cpusTL ps_tot_int_rateK/s
ps_net_irq_rateK/s ps_net_sftirq_rateK/s ps_cs_rateK/s pct_stdev_int/q grp outs bw(MB/s) pktsK/s csK/s %busyTL pkts/cs
busyTL/GBps delack extdelack quickack autocork N
"""


def test_old_names_are_of_columns_that_there_are() -> None:
    ours = {figure.column.name for figure in RUN} | {end.column.name for end in END} | {"first_cpu", "pipeline"}
    assert set(QQ.values()) <= ours


@pytest.mark.parametrize("name", SECTION_11.split())
def test_each_column_of_the_old_lines(lab: Lab, study: Path, name: str) -> None:
    """Each row has it, with the end of its machine where it is of one; or there is a reason."""
    exported = json.loads(lab("export", study, "json", "--names", "qq").stdout)
    has = [any(key.partition(".")[0] == name or key == name for key in row) for row in exported]
    assert len(has) == 4
    if name in ABSENT:
        assert not any(has)
        assert len(ABSENT[name]) > 5
    else:
        assert all(has)


def test_old_columns_have_the_values_of_their_meaning() -> None:
    """busyTL is by the hardware there; ps_busyTL is what user, system, irq and softirq have."""
    known: Json = host("master", "a")
    known["cpu"] |= {"irq": 0.0, "softirq": 0.125, "nice": 0.0625}
    row = {
        "first_cpu.master": 2,
        "pipeline": 1.0,
        **dict(figures({"totals": {}, "hosts": [known, host("slave", "b")]})),
    }
    old = with_old_names([row])[0]
    assert (old["%busyTL.master"], old["tot_netTL.master"], old["busyTL/GBps.master"]) == (200, 200, 100)
    assert (old["ps_busyTL.master"], old["ps_busyTL.slave"]) == (125, None)
    assert (old["redis_cpus.master"], old["outs"], old["tot_net_MB/s.master"]) == (2, 1, 2000)
    of_ends = {each for each, ours in QQ.items() if ours in {end.column.name for end in END}}
    empty = {name for name in of_ends if old[f"{name}.master"] is None}
    assert empty == {"extdelack", "quickack", "autocork"}  # which this host does not tell


def test_export_under_old_names(lab: Lab, study: Path) -> None:
    exported = lab("export", study, "csv", "--names", "qq")
    assert exported.returncode == 0, exported.stderr
    assert exported.stderr.splitlines() == [f"note: no column {name}: {why}" for name, why in ABSENT.items()]
    old = list(csv.DictReader(io.StringIO(exported.stdout)))
    ours = json.loads(lab("export", study, "json").stdout)
    assert len(old) == 4
    assert float(old[0]["p99"]) == ours[0]["p99_us"]
    assert float(old[0]["ps_cs_rateK/s.shared"]) == ours[0]["cs_kps.shared"]
    assert old[0]["d.num_flows"] == "1"
    assert [float(row["N"]) for row in old] == [float(row["d.num_flows"]) for row in old]
    assert [(row["outs"], row["grp"], row["spin_work"]) for row in old] == [("1.0", "1", "0")] * 4


def test_hidden_cpu_is_not_below_nothing_under_its_old_name() -> None:
    made: list[Json] = [{"hidden_TL.slave": value, "d.a": a} for value, a in ((-2.5, "x"), (4.5, "y"), (None, "x"))]
    old = with_old_names(made)
    assert [row["missing_cpusTL.slave"] for row in old] == [0, 4.5, None]
    assert [row["grp"] for row in old] == [1, 2, 1]


def test_what_figures_are_by() -> None:
    by_cycles = dict(texts({"hosts": [host("master", "a"), host("slave", "b")]}))
    assert by_cycles["busy_hw_source.slave"] == by_cycles["freq_source.slave"] == "msr"
    assert by_cycles["irq_accounting.slave"] == "off"
    other = host("master", "a")
    other["unhalted"] = {"unavailable": "msr: not offered"}
    document: Json = {"totals": {}, "hosts": [other]}
    assert dict(texts(document))["busy_hw_source.master"] is None
    assert dict(texts(document))["freq_source.master"] == "cpufreq"
    assert dict(figures(document))["freq_GHz.master"] == 2.5
    other["cpufreq"] = {"unavailable": "there is no cpufreq driver"}
    assert dict(texts(document))["freq_source.master"] is None
    assert dict(figures(document))["freq_GHz.master"] is None


def test_which_cpus_a_run_was_placed_on(lab: Lab, tmp_path: Path) -> None:
    words = ("run", "tcp_rr", "place=none,0", "--set", "test_length=20ms", "--repeat", "1", "--no-report")
    assert lab(*words, "-o", "placed").returncode == 0
    found = {row["d.place"]: row["first_cpu.shared"] for row in rows(tmp_path / "placed")}
    assert found == {"none": None, "0": 0}
