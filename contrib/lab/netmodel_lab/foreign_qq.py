# SPDX-License-Identifier: Apache-2.0
"""QQ lines of proj_net_bw_lat as rows: of the whole output of its extract_tcp_stats.sh, or of the QQ lines alone. Its
counters are those of the host with the servers, which is the slave here.

Each row was printed when the next point had begun, so it has the number of pairs of that one. The true number is that
of the row before, or of the command line, where the file has it; of the first row it is lost. The setting in force has
the same fault, and is that of the last column, which belongs to the group."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from netmodel_lab.columns import END
from netmodel_lab.foreign_row import Row, number
from netmodel_lab.qq import QQ

HEADER = "QQ_HDR"
LOST = "N: lost by the old scripts"
_ROW = re.compile(r"QQ_(bw|lat)_(\d+)$")
_COMMAND = re.compile(r"^cmd\[\d+\]= .*\s-n (\d+)\s.*\bgrp= (\d+) gj= (\d+)$", re.MULTILINE)
_OF_END = {column.column.name for column in END}
# Names that the scripts write a constant under, or again what stands under another one; and those that are dimensions.
_SAY_NOTHING = ("missing_cpusTL", "%busyTL", "redis_cpus", "outs", "N")


def read(text: str) -> list[Row]:
    pairs = {(group, int(point) - 1): count for count, group, point in _COMMAND.findall(text)}
    before: str | None = None
    rows = []
    for kind, point, named in _lines(text):
        if named["grp"] == "1" and point == 0:  # another output begins
            before = None
        own = pairs.get((named["grp"], point), before)
        before = named["N"]
        rows.append(_row(kind, named, own))
    return rows


def _lines(text: str) -> Iterator[tuple[str, int, dict[str, str]]]:
    """The kind, the place in its group, and the values by their names, of which "cfg" is the first and "group" the
    second that has this name."""
    names: list[str] = []
    for count, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if words[:1] == [HEADER]:
            names = words[1:]
            names[len(names) - 1 - names[::-1].index("cfg")] = "group"
            continue
        found = _ROW.match(words[0]) if words else None
        if not found:
            continue
        if not names:
            raise ValueError(f"line {count}: no line before it begins with {HEADER}")
        if len(words) - 1 != len(names):
            raise ValueError(f"line {count}: {len(words) - 1} values, and the {HEADER} line has {len(names)} names")
        yield found[1], int(found[2]), dict(zip(names, words[1:], strict=True))


def _row(kind: str, named: Mapping[str, str], pairs: str | None) -> Row:
    outstanding = number(named.get("outs"))
    row: Row = {
        "flows": number(pairs),
        "profile": f"qq {kind}",
        "why": LOST if pairs is None else None,
        "d.type": kind,
        "d.nic": named["group"],
        "d.first_cpu": named.get("redis_cpus"),
        "d.num_flows": pairs,
        "d.pipeline": None if outstanding is None else f"{outstanding:g}",
    }
    messages = number(named.get("RPS(k)"))
    if messages is not None:  # of both directions: an answer is one, too
        row["transactions_per_s"] = messages * 1e3 / (2 if kind == "lat" else 1)
    for old, ours in QQ.items():
        if old in named and old not in _SAY_NOTHING:
            row.setdefault(f"{ours}.slave" if ours in _OF_END else ours, number(named[old]))
    hardware, kernel = (row.get(f"{name}.slave") for name in ("busy_hw_TL", "busy_kernel_TL"))
    row["hidden_TL.slave"] = None if hardware is None or kernel is None else hardware - kernel
    return row
