# SPDX-License-Identifier: Apache-2.0
"""What a study was to find out: its verdicts, each value of a dimension beside its baseline, and its requirements."""

from __future__ import annotations

from collections.abc import Sequence

from netmodel_lab.compare import Comparison, compare
from netmodel_lab.problems import Exit
from netmodel_lab.rows import Row
from netmodel_lab.sides import Side
from netmodel_lab.study import Verdict
from netmodel_lab.table import Table

SAME = 0.05
ALPHA = 0.05


def comparisons(table: Table) -> list[Comparison]:
    """One for each dimension and value that the verdicts name; what they say of it together is one family of tests."""
    if not table.good:
        return []
    found = []
    for by, baseline in dict.fromkeys((verdict.by, verdict.baseline) for verdict in table.manifest.study.verdicts):
        asked = [one for one in table.manifest.study.verdicts if (one.by, one.baseline) == (by, baseline)]
        metrics = [text for verdict in asked for text in _metrics(table, verdict)]
        values = dict.fromkeys(str(row[f"d.{by}"]) for row in table.rows)
        a = _side(table, by, baseline)
        for value in values:
            b = _side(table, by, value)
            if value != baseline and a.rows and b.rows and metrics:
                found.append(compare(a, b, metrics, (), alpha=ALPHA / max(len(values) - 1, 1), same=SAME))
    return found


def _metrics(table: Table, verdict: Verdict) -> list[str]:
    """The figure; one that each machine has is, without the name of a machine, that of all."""
    least = verdict.min or f"{SAME / 2:.1%}"
    known = [column.name for column in table.columns]
    names = [name for name in known if verdict.metric in (name, name.partition(".")[0])]
    return [f"{name}:{least}" + (f":{verdict.better}" if verdict.better else "") for name in names]


def not_known(table: Table) -> list[str]:
    """Figures of verdicts that no run has."""
    asked = table.manifest.study.verdicts if table.good else ()
    return [verdict.metric for verdict in asked if not _metrics(table, verdict)]


def _side(table: Table, by: str, value: str) -> Side:
    rows = [row for row in table.rows if str(row[f"d.{by}"]) == value]
    return Side(f"{by}={value}", table.manifest.identity, rows, {by: value})


def unmet(rows: Sequence[Row]) -> list[Row]:
    """Runs that do not meet what is required of each."""
    return [row for row in rows if row["ok"] and row.get("met") is False]


def exit_code(table: Table, found: Sequence[Comparison]) -> Exit:
    """How a study ends that was run to its end."""
    counts = table.tally
    codes = {comparison.exit for comparison in found}
    if counts.failed or counts.left:
        return Exit.FAILED
    if unmet(table.rows) or Exit.WORSE in codes:
        return Exit.WORSE
    return Exit.UNDECIDED if Exit.UNDECIDED in codes or not_known(table) else Exit.DONE
