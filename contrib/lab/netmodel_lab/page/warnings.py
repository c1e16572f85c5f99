# SPDX-License-Identifier: Apache-2.0
"""What a reader has to know before the figures."""

from __future__ import annotations

from netmodel_lab.table import Table
from netmodel_lab.words import percent

_DRIFTS = ("transactions_per_s", "p50_us")


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
    far = sum(
        len(summary.far) for cell in table.cells for summary in [cell.summaries.get("transactions_per_s")] if summary
    )
    if far:
        found.append(
            f"{far} {'run lies' if far == 1 else 'runs lie'} far from the others of the cell in transactions_per_s"
        )
    return found
