# SPDX-License-Identifier: Apache-2.0
"""From each node to each other one: the cells of a run as squares, for tables and heat maps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from netmodel_lab.k8s.figures import Cell, Mean
from netmodel_lab.k8s.netperf_file import Test
from netmodel_lab.k8s.others import NETMODEL


@dataclass(frozen=True)
class Square:
    """Of one test over one path. values: by client and server; a pair without a sample that counts is not in it."""

    title: str
    figure: str
    unit: str
    nodes: tuple[str, ...]
    values: dict[tuple[str, str], float]
    is_high_good: bool

    def share(self, value: float) -> float:
        """Of the largest one."""
        most = max(self.values.values())
        return value / most if most > 0 else 0.0


def squares(cells: Sequence[Cell]) -> list[Square]:
    """Of patterns that have them: each place is one client and one server."""
    found: list[Square] = []
    groups: dict[tuple[Test, str, str], list[Cell]] = {}
    for cell in cells:
        if " > " in cell.point.place:
            groups.setdefault((cell.point.test, cell.point.way, cell.point.driver), []).append(cell)
    for (test, network, driver), same in groups.items():
        for figure, of, unit, is_high_good in _figures(same[0]):
            values = {_ends(cell): mean.mean for cell in same if (mean := of(cell))}
            nodes = tuple(dict.fromkeys(name for cell in same for name in _ends(cell)))
            if values:
                title = f"{test.title}, {network}" + ("" if driver == NETMODEL else f", {driver}")
                found.append(Square(title, figure, unit, tuple(sorted(nodes)), values, is_high_good))
    return found


def _ends(cell: Cell) -> tuple[str, str]:
    client, _, server = cell.point.place.partition(" > ")
    return client, server


Figure = tuple[str, Callable[[Cell], Mean | None], str, bool]


def _figures(cell: Cell) -> list[Figure]:
    found: list[Figure] = [("Throughput", lambda one: one.throughput, cell.unit, True)]
    if cell.has_latency:
        found.append(("99%tile latency", lambda one: one.of("p99_us"), "usec", False))
    return found


def lines(square: Square) -> list[list[str]]:
    """As a table: a row for each client, a column for each server."""
    head = ["CLIENT \\ SERVER", *square.nodes]
    return [head, *([client, *(_text(square, client, server) for server in square.nodes)] for client in square.nodes)]


def _text(square: Square, client: str, server: str) -> str:
    value = square.values.get((client, server))
    return "-" if value is None else f"{value:.1f}"
