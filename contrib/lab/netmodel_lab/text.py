# SPDX-License-Identifier: Apache-2.0
"""A study as a table of text."""

from __future__ import annotations

from collections.abc import Sequence

from netmodel_lab import spread
from netmodel_lab.table import Cell, Table
from netmodel_lab.words import interval


def aligned(lines: Sequence[Sequence[str]], left: int, last: Sequence[str] = ()) -> str:
    """Columns, the first ones to the left and the others to the right; then what each line ends with."""
    endings = last or [""] * len(lines)
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    return "".join(
        "  ".join(
            text.ljust(width) if i < left else text.rjust(width)
            for i, (text, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        + (f"  {ending}" if ending else "")
        + "\n"
        for line, ending in zip(lines, endings, strict=True)
    )


def cells(table: Table) -> str:
    """A line for each cell, with its typical values and how sure they are."""
    shown = spread.shown(table)
    head = [*_places(table), "runs", *(column.name for column in shown)]
    lines = [
        [
            *_place(cell),
            str(len(cell.rows)),
            *(_figure(cell, column.name, column.unit) for column in shown),
        ]
        for cell in table.cells
    ]
    return aligned([head, *lines], len(_places(table))) if lines else "no run has come to its end\n"


def statistics(table: Table) -> str:
    """How the runs lie about them: a line for each cell and figure."""
    places = _places(table)
    lines = [[*_place(line.cell), *line.texts] for line in spread.lines(table)]
    return "\n" + aligned([[*places, *spread.HEAD], *lines], len(places) + 1) if lines else ""


def _places(table: Table) -> list[str]:
    return table.dimensions or ["profile"]


def _place(cell: Cell) -> list[str]:
    return list(cell.dimensions.values()) or [cell.profile]


def _figure(cell: Cell, name: str, unit: str) -> str:
    summary = cell.summaries.get(name)
    if not summary:
        return "-"
    return interval(summary.centre, summary.low, summary.high, unit)
