# SPDX-License-Identifier: Apache-2.0
"""How the runs of each cell lie about its typical values: a line for each cell and figure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from netmodel_lab.columns import Column
from netmodel_lab.summary import Summary
from netmodel_lab.table import Cell, Table
from netmodel_lab.words import with_unit

SHOWN = ("transactions_per_s", "payload_MBps", "p50_us", "p99_us", "busy_kernel_TL")
HEAD = ("figure", "n", "mean", "median", "sd", "median, 95 %", "outliers")


@dataclass(frozen=True)
class Line:
    cell: Cell
    column: Column
    summary: Summary

    @property
    def texts(self) -> tuple[str, ...]:
        """As HEAD has them."""
        one, unit = self.summary, self.column.unit
        ends = [with_unit(end, unit) for end in one.middle or ()]
        found = [f"run {run}{' far' if far else ''}" for run, far in self.cell.outliers(self.column.name)]
        return (
            *(self.column.name, str(one.n)),
            *(with_unit(value, unit) for value in (one.mean, one.median, one.sd)),
            *(" .. ".join(ends) or "-", ", ".join(found) or "-"),
        )


def shown(table: Table, names: Sequence[str] = SHOWN) -> list[Column]:
    return [column for column in table.columns if column.name.partition(".")[0] in names]


def lines(table: Table) -> list[Line]:
    columns = shown(table)
    return [
        Line(cell, column, cell.summaries[column.name])
        for cell in table.cells
        for column in columns
        if column.name in cell.summaries
    ]


def far_runs(table: Table) -> dict[int, list[str]]:
    """The figures in which a run lies far from the others of its cell, by its number."""
    found: dict[int, list[str]] = {}
    for line in lines(table):
        for run, is_far in line.cell.outliers(line.column.name):
            if is_far:
                found.setdefault(run, []).append(line.column.name)
    return dict(sorted(found.items()))
