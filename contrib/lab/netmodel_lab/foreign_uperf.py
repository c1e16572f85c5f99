# SPDX-License-Identifier: Apache-2.0
"""What uperf prints, and netmodel --format uperf, as rows: the line of the master in the statistics of the run, and,
where uperf was told to print its transactions (-a), the one that has run most often."""

from __future__ import annotations

import re

from netmodel_lab.foreign_row import MBPS_BITS, Row

_RUN = re.compile(r"^Starting ((?:\d+ (?:threads|processes)(?:, )?)+) running profile:(\S*) \.\.\. ", re.MULTILINE)
_MASTER = re.compile(
    r"^master\s+([\d.]+)(ns|us|ms|s)\s+\S+\s+([\d.]+)(?:([KMGTP]?)b/s)?\s+\d+\s+([\d.]+)", re.MULTILINE
)  # time, data, throughput, operations, errors; nothing has no unit
_TABLE = re.compile(r"^Txn +Count +avg .*\n-+\n((?:.+\n)+)", re.MULTILINE)
_TRANSACTION = re.compile(
    r"^\S+\s+(\d+)\s+([\d.]+)(ns|us|ms|s)\s+\S+\s+([\d.]+)(ns|us|ms|s)\s", re.MULTILINE
)  # count, avg, cpu, max
_UNIT_S = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
_POWERS = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}


def read(text: str) -> list[Row]:
    """A row for each run whose output is there, one after the other."""
    begins = list(_RUN.finditer(text))
    if not begins:
        raise ValueError("no line of it begins with Starting, and ends with running profile")
    ends = [begin.start() for begin in begins[1:]] + [len(text)]
    return [_row(begin, text[begin.end() : end]) for begin, end in zip(begins, ends, strict=True)]


def _row(begin: re.Match[str], text: str) -> Row:
    flows = sum(int(count) for count in re.findall(r"\d+", begin[1]))
    row: Row = {"profile": f"uperf {begin[2]}".strip(), "d.profile": begin[2], "d.num_flows": flows}
    master = _MASTER.search(text)
    if not master:
        return {**row, "ok": False, "why": "it has no statistics of the run"}
    seconds = float(master[1]) * _UNIT_S[master[2]]
    row |= {"seconds": seconds, "payload_MBps": float(master[3]) * _POWERS[master[4] or ""] / MBPS_BITS}
    row["errors"] = float(master[5])
    table = _TABLE.search(text)
    found = [one.groups() for one in _TRANSACTION.finditer(table[1])] if table else []
    if found and seconds:
        count, mean, mean_unit, longest, longest_unit = max(found, key=lambda one: int(one[0]))
        row["transactions_per_s"] = int(count) / seconds
        row["mean_us"] = float(mean) * _UNIT_S[mean_unit] * 1e6
        row["max_us"] = float(longest) * _UNIT_S[longest_unit] * 1e6
    return row
