# SPDX-License-Identifier: Apache-2.0
"""QQ lines of proj_net_bw_lat as rows: of the whole output of its extract_tcp_stats.sh, or of the QQ lines alone. Its
counters are those of the host with the servers, which is the slave here.

Each row was printed when the next point had begun, so it has the number of pairs and of outstanding messages of that
one. Its own are those of the row before, or of its command line, where the file has it; of the first row they are lost.
The setting in force has the same fault, and is that of the last column, which belongs to the group."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from netmodel_lab.columns import END
from netmodel_lab.foreign_row import Row, number
from netmodel_lab.qq import QQ

HEADER = "QQ_HDR"
LOST = "N, outs: lost by the old scripts"
_ROW = re.compile(r"QQ_(bw|lat)_(\d+)$")
_COMMAND = re.compile(r"cmd\[\d+\]= (.*)\bgrp= (\d+) gj= (\d+)$")
_OF_END = {column.column.name for column in END}
# Names that the scripts write a constant under, or again what stands under another one; and those that are dimensions.
_SAY_NOTHING = ("missing_cpusTL", "%busyTL", "redis_cpus", "outs", "N")


@dataclass(frozen=True)
class _Own:
    """What a point was run with."""

    pairs: str | None = None
    outstanding: str | None = None


@dataclass
class _Output:
    """One output of the script, as far as it has been read: the points whose rows are to come, and what the row before
    says, which is of the next one."""

    commands: dict[tuple[str, int], _Own] = field(default_factory=dict)
    before: _Own = _Own()


def read(text: str) -> list[Row]:
    """Of a file with one output, or several in turn: each begins with the first point of its first group."""
    names: list[str] = []
    output = _Output()
    rows = []
    for count, line in enumerate(text.splitlines(), 1):
        words = line.split()
        command = _COMMAND.match(line)
        found = _ROW.match(words[0]) if words else None
        if command:
            place = (command[2], int(command[3]) - 1)
            output = _Output() if place == ("1", 0) else output
            output.commands[place] = _Own(_option("-n", command[1]), _option("-o", command[1]))
        elif words[:1] == [HEADER]:
            names = _names(words[1:], count)
        elif found:
            named = _named(names, words[1:], count)
            place = (named["grp"], int(found[2]))
            if place == ("1", 0) and place not in output.commands:
                output = _Output()
            rows.append(_row(found[1], named, output.commands.pop(place, output.before)))
            output.before = _Own(named["N"], named.get("outs"))
    return rows


def _option(name: str, line: str) -> str | None:
    found = re.search(rf"\s{name} (\S+)\s", line)
    return found[1] if found else None


def _names(words: list[str], count: int) -> list[str]:
    """ "cfg" is the first that has this name, and "group" the second."""
    lacking = [name for name in ("cfg", "grp", "N") if name not in words]
    if lacking:
        raise ValueError(f"line {count}: the {HEADER} line has no column {lacking[0]}")
    words[len(words) - 1 - words[::-1].index("cfg")] = "group"
    return words


def _named(names: list[str], values: list[str], count: int) -> dict[str, str]:
    if not names:
        raise ValueError(f"line {count}: no line before it begins with {HEADER}")
    if len(values) != len(names):
        raise ValueError(f"line {count}: {len(values)} values, and the {HEADER} line has {len(names)} names")
    return dict(zip(names, values, strict=True))


def _row(kind: str, named: Mapping[str, str], own: _Own) -> Row:
    outstanding = number(own.outstanding)
    row: Row = {
        "flows": number(own.pairs),
        "profile": f"qq {kind}",
        "why": LOST if own.pairs is None else None,
        "d.type": kind,
        "d.nic": named["group"],
        "d.first_cpu": named.get("redis_cpus"),
        "d.num_flows": own.pairs,
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
