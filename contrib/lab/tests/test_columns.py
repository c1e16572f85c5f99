# SPDX-License-Identifier: Apache-2.0
"""Figures of a row, and what they are made of."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from conftest import Lab

from netmodel_lab.columns import END, QQ, RUN, figures

Json = dict[str, Any]


def host(role: str, boot: str) -> Json:
    """A host of 4 CPUs, which were busy for 3 s of 2 s each."""
    return {
        "role": role,
        "name": role,
        "facts": {"boot_id": boot},
        "cpu": {"n_cpus": 4, "busy": 0.375, "user": 0.125, "system": 0.0625, "seconds": 8.0},
        "interrupts": {"seconds": 2.0, "hardware": 8000, "context_switches": 500},
        "unhalted": {"n_cpus": 4, "busy": 0.5, "hidden": 0.125, "awake_s": 4.0, "frequency_hz": 3e9},
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
        "tcp": {"retransmitted_segments": 100, "resets_sent": None, "delayed_acks": 8},
    }


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("busy_kernel_TL", 150),
        ("busy_hw_TL", 200),
        ("hidden_TL", 50),
        ("freq_GHz", 3),
        ("cycles_per_byte", 3),
        ("cycles_per_packet", 3e6),
        ("psi_cpu_pct", 25),
        ("softnet_dropped_ps", 3),
        ("softnet_squeezed_ps", 0),
        ("user_sys_TL", 75),
        ("busy_TL_per_GBps", 75),
        ("cpu_us_per_packet", 750),
        ("wire_MBps", 2000),
        ("wire_kpps", 2),
        ("irq_all_kps", 4),
        ("softirq_net_kps", 2),
        ("irq_nic_kps", 0.25),
        ("packets_per_nic_irq", 8),
        ("packets_per_irq", 0.5),
        ("packets_per_cs", 8),
        ("tcp_retransmitted_segments_ps", 50),
        ("tcp_resets_sent_ps", None),
        ("tcp_delayed_acks_ps", 4),
        ("cpu_us_per_transaction", None),
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


def test_old_names_are_of_columns_that_there_are() -> None:
    ours = {figure.column.name for figure in RUN} | {end.column.name for end in END}
    assert set(QQ.values()) <= ours


def test_export_under_old_names(lab: Lab, study: Path) -> None:
    exported = lab("export", study, "csv", "--names", "qq")
    assert exported.returncode == 0, exported.stderr
    rows = list(csv.DictReader(io.StringIO(exported.stdout)))
    ours = json.loads(lab("export", study, "json").stdout)
    assert len(rows) == 4
    assert float(rows[0]["p99"]) == ours[0]["p99_us"]
    assert float(rows[0]["ps_cs_rateK/s.shared"]) == ours[0]["cs_kps.shared"]
    assert rows[0]["d.num_flows"] == "1"
