# SPDX-License-Identifier: Apache-2.0
"""Rows with the columns of proj_net_bw_lat's QQ lines, for the spreadsheets that were made for these."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Row = dict[str, Any]

# The columns of QQ lines, in their order, and what they are here. busyTL is by the hardware there, but ps_busyTL.
QQ = {
    "redis_cpus": "first_cpu",
    "p50": "p50_us",
    "p90": "p90_us",
    "p99": "p99_us",
    "tot_netTL": "busy_hw_TL",
    "missing_cpusTL": "hidden_TL",
    "freq": "freq_GHz",
    "ps_busyTL": "busy_kernel_TL",
    "tot_usableTL": "user_sys_TL",
    "tot_net_MB/s": "wire_MBps",
    "tot_net_kPkts/s": "wire_kpps",
    "Int_1000/s": "irq_all_kps",
    "num_cpus": "ncpus",
    "ps_tot_int_rateK/s": "irq_all_kps",
    "ps_net_irq_rateK/s": "irq_nic_kps",
    "ps_net_sftirq_rateK/s": "softirq_net_kps",
    "ps_cs_rateK/s": "cs_kps",
    "pct_stdev_int/q": "irq_nic_spread_pct",
    "outs": "pipeline",
    "bw(MB/s)": "wire_MBps",
    "pktsK/s": "wire_kpps",
    "csK/s": "cs_kps",
    "%busyTL": "busy_hw_TL",
    "pkts/cs": "packets_per_cs",
    "busyTL/GBps": "busy_hw_TL_per_GBps",
    "delack": "tcp_delayed_acks_ps",
    "extdelack": "tcp_delayed_acks_locked_ps",
    "quickack": "tcp_quick_acks_entered_ps",
    "autocork": "tcp_auto_corked_segments_ps",
    "N": "flows",
    "pkts/interrupt": "packets_per_irq",
}

# That of rows is all that is not idle; theirs has neither nice nor steal: it is %alt_busyTL of their output.
_PARTS = {"ps_busyTL": ("user_TL", "system_TL", "irq_TL", "softirq_TL")}
# Those that the scripts always write 0 into.
CONSTANT = ("spin_ref_perf", "spin_cur_perf", "spin_work", "spin_threads")
# Those that a row does not have, and why.
ABSENT = {
    "cfg": "the lab sets nothing of a network card yet, so that a row has no preset",
    "cfg_cur": "as cfg",
    "cfg_q_sz": "as cfg",
    "RPS(k)": "netmodel counts transactions, and not the messages of streams: transactions_per_s has these",
}
_KEPT = ("point", "cell", "block", "seq", "run_id", "start", "ok", "why", "met", "profile")


def with_old_names(rows: Sequence[Row]) -> list[Row]:
    """The rows with the columns that QQ lines have; those of an end keep the end's name behind a point."""
    groups: dict[tuple[Any, ...], int] = {}
    return [{**_old(row), "grp": groups.setdefault(_series(row), len(groups) + 1)} for row in rows]


def _sum(parts: Sequence[float | None]) -> float | None:
    known = [part for part in parts if part is not None]
    return sum(known) if len(known) == len(parts) else None


def _series(row: Row) -> tuple[Any, ...]:
    """What the points of one line of a chart have in common."""
    return tuple(value for key, value in row.items() if key.startswith("d.") and key != "d.num_flows")


def _old(row: Row) -> Row:
    found = {key: value for key, value in row.items() if key in _KEPT or key[:2] in ("d.", "p.")}
    for old, ours in QQ.items():
        for key, value in row.items():
            name, point, end = key.partition(".")
            if name != ours:
                continue
            if old in _PARTS:
                value = _sum([row.get(f"{part}{point}{end}") for part in _PARTS[old]])
            found[f"{old}{point}{end}"] = max(value, 0.0) if old == "missing_cpusTL" and value else value
    return found | dict.fromkeys(CONSTANT, 0)
