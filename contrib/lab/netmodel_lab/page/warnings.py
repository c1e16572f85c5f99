# SPDX-License-Identifier: Apache-2.0
"""What a reader has to know before the figures."""

from __future__ import annotations

from netmodel_lab import spread
from netmodel_lab.table import Table
from netmodel_lab.words import percent

_DRIFTS = ("transactions_per_s", "p50_us")
_MOST_FAR = 10


def warnings(table: Table) -> list[str]:
    found = []
    counts = table.tally
    if counts.failed:
        why = next((row["why"] for row in table.rows if not row["ok"]), "")
        found.append(f"{counts.failed} of {counts.points} points have failed: {why}")
    if counts.left:
        found.append(
            f"{counts.left} of {counts.points} points were not run yet: netmodel-lab resume {table.folder.path}"
        )
    for name in _DRIFTS:
        drift = table.drift(name)
        if drift and drift.is_told:
            way = "rose" if drift.change > 0 else "fell"
            found.append(
                f"The machine was not steady: beside what was varied, {name} {way} by {percent(abs(drift.change))} "
                f"from the first run to the last (p = {drift.p:.2g})"
            )
            break
    if table.manifest.study.order.kind == "given" and table.manifest.study.dimensions:
        found.append("The order was as given: differences between cells contain whatever changed meanwhile")
    if len(table.manifest.epochs) > 1:
        found.append("The study was resumed after a change of the host or of the program: see epoch in its facts")
    before = sum(attempt.lacks_costs for tried in table.attempts.values() for attempt in tried)
    if before:
        found.append(
            f"{before} runs are of a netmodel that told no costs of hosts (hosts[].costs): they have no figures of the "
            "interface, and no CPU time and cycles by payload, packet and transaction"
        )
    far = spread.far_runs(table)
    for run, names in list(far.items())[:_MOST_FAR]:
        found.append(f"Run {run} lies far from the others of its cell in {', '.join(names)}")
    if len(far) > _MOST_FAR:
        found.append(f"So do {len(far) - _MOST_FAR} more, see the statistics of the cells")
    return found
