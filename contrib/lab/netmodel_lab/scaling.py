# SPDX-License-Identifier: Apache-2.0
"""The table of contrib/scaling-study, of a study that varies the number of connections: means over a cell's runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from netmodel_lab.columns import reach
from netmodel_lab.folder import Attempt
from netmodel_lab.problems import UsageProblem
from netmodel_lab.rows import chosen
from netmodel_lab.table import Cell, Table

Json = dict[str, Any]

HEADER = "#Conn Wnd cpu(usr) cpu(sys) cpu(idle) Throughput(Mbps) mean(us) p50(us) p99(us) transactions/s"
# Parameters that a profile may have for these, the usual one first.
_CONNECTIONS = ("num_flows", "nth")
_WINDOWS = ("wndsz", "wnd")


def scaling(table: Table) -> str:
    parameter = next((name for name in _CONNECTIONS if name in table.dimensions), None)
    if not parameter:
        raise UsageProblem(
            [f"{table.folder.path}: varies none of {', '.join(_CONNECTIONS)}: there is no such table of it"]
        )
    lines = [HEADER]
    for cell in table.cells:
        attempts = [chosen(table.attempts[row["seq"]]) for row in cell.rows]
        lines.append(_line(cell, parameter, attempts))
    return "\n".join(lines) + "\n"


def _line(cell: Cell, parameter: str, attempts: Sequence[Attempt]) -> str:
    documents = [attempt.result for attempt in attempts if attempt.result]
    params = documents[0]["profile"]["params"]
    wnd = next((params[name] for name in _WINDOWS if name in params), None)

    def mean(form: str, scale: float, values: Sequence[float | None]) -> str:
        known = [value for value in values if value is not None]
        return format(sum(known) / len(known) * scale, form) if known else "-"

    cpu = [(document["hosts"][0], ("user", "nice")) for document in documents]
    texts = [
        cell.dimensions[parameter],
        wnd if wnd not in (None, "", "0") else "-",
        mean(".0f", 100, [_share(host, *names) for host, names in cpu]),
        mean(".0f", 100, [_share(host, "system", "softirq", "irq") for host, _ in cpu]),
        mean(".0f", 100, [_share(host, "idle", "iowait") for host, _ in cpu]),
        mean(".2f", 1e-6, [_arrived_bps(document) for document in documents]),
        *(
            mean(".1f", 1e6, [reach(document, "totals", "latency_s", name) for document in documents])
            for name in ("mean", "p50", "p99")
        ),
        mean(".0f", 1, [reach(document, "totals", "transactions_per_s") for document in documents]),
    ]
    return " ".join(text.rjust(len(head)) for text, head in zip(texts, HEADER.split(), strict=True))


def _share(host: Json, *names: str) -> float | None:
    parts = [reach(host, "cpu", name) for name in names]
    return None if None in parts else sum(part or 0.0 for part in parts)


def _arrived_bps(document: Json) -> float | None:
    """Both directions together: where messages may be lost, of those that have arrived."""
    if document["totals"].get("messages") is None:
        return reach(document, "totals", "bits_per_s")
    return reach(document, "totals", "throughput", "received_bits_per_s")
