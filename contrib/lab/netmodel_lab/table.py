# SPDX-License-Identifier: Apache-2.0
"""A study summed up: its cells, each with the summary of each figure. Pages and tables are made
from it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from netmodel_lab.columns import END, RUN, Column, find
from netmodel_lab.folder import Attempt, Folder, Manifest
from netmodel_lab.rows import Row, build
from netmodel_lab.runner import Tally, tally
from netmodel_lab.summary import Drift, Summary, drift, summarise


@dataclass(frozen=True)
class Cell:
    """Runs of the same: what they have in common, and what they found."""

    cell: str
    profile: str
    dimensions: dict[str, str]
    rows: list[Row]
    summaries: dict[str, Summary]

    def outliers(self, name: str) -> list[tuple[int, bool]]:
        """Runs that do not lie with the others in a figure, and whether they lie far from them."""
        summary = self.summaries[name]
        if not summary.far and not summary.mild:
            return []
        rows = _known(self.rows, name)
        return sorted((int(rows[i]["seq"]), i in summary.far) for i in (*summary.far, *summary.mild))


def _known(rows: Sequence[Row], name: str) -> list[Row]:
    return [row for row in rows if row.get(name) is not None and math.isfinite(row[name])]


def drift_of(good: Sequence[Row], name: str) -> Drift | None:
    rows = [row for row in good if (row.get(name) or 0) > 0]
    return drift([row["cell"] for row in rows], [row["seq"] for row in rows], [row[name] for row in rows])


class Table:
    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self.manifest: Manifest = folder.manifest()
        self.attempts: dict[int, list[Attempt]] = folder.attempts()
        self.rows = build(self.manifest, self.attempts)

    @property
    def tally(self) -> Tally:
        return tally(self.manifest.plan, self.attempts)

    @cached_property
    def dimensions(self) -> list[str]:
        return [name for dimension in self.manifest.study.dimensions for name in dimension.names]

    @cached_property
    def good(self) -> list[Row]:
        return [row for row in self.rows if row["ok"]]

    @cached_property
    def ends(self) -> list[str]:
        """The machines, by the ends of the names of their columns."""
        return sorted({name.partition(".")[2] for row in self.good for name in row if name.startswith("ncpus.")})

    @cached_property
    def columns(self) -> list[Column]:
        """The figures that some run has."""
        names = [figure.column.name for figure in RUN]
        names += [f"{figure.column.name}.{end}" for end in self.ends for figure in END]
        present = {name for row in self.good for name, value in row.items() if value is not None}
        return [column for name in names if name in present and (column := find(name))]

    @cached_property
    def cells(self) -> list[Cell]:
        """In the order of the dimensions' values."""
        by_cell: dict[str, list[Row]] = {}
        for row in self.good:
            by_cell.setdefault(row["cell"], []).append(row)
        ranks = [
            {values: rank for rank, values in enumerate(dimension.values)}
            for dimension in self.manifest.study.dimensions
        ]

        def rank(rows: Sequence[Row]) -> tuple[int, ...]:
            dimensions = self.manifest.study.dimensions
            return tuple(
                ranks[i][tuple(rows[0][f"d.{name}"] for name in dimension.names)]
                for i, dimension in enumerate(dimensions)
            )

        return [self._cell(rows) for rows in sorted(by_cell.values(), key=rank)]

    def _cell(self, rows: list[Row]) -> Cell:
        summaries = {}
        for column in self.columns:
            values = [row[column.name] for row in _known(rows, column.name)]
            summary = summarise(values, is_ratio=column.is_ratio)
            if summary:
                summaries[column.name] = summary
        dimensions = {name: rows[0][f"d.{name}"] for name in self.dimensions}
        return Cell(rows[0]["cell"], rows[0]["profile"], dimensions, rows, summaries)

    def drift(self, name: str) -> Drift | None:
        """Whether a figure has drifted over the study."""
        return drift_of(self.good, name)
