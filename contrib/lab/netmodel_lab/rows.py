# SPDX-License-Identifier: Apache-2.0
"""One row for each point that was run, made of its attempt's folder and nothing else; rebuilt when they are wanted."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from netmodel_lab.folder import Attempt, Folder, Manifest, write_whole
from netmodel_lab.plan import Point
from netmodel_lab.problems import EnvironmentProblem
from netmodel_lab.values import number

Row = dict[str, Any]


def build(manifest: Manifest, attempts: dict[int, list[Attempt]]) -> list[Row]:
    """The rows in the order of the plan. A point that was never run has none."""
    return [
        _row(point, chosen(attempts[point.seq]), manifest.kinds) for point in manifest.plan if attempts.get(point.seq)
    ]


def chosen(tried: Sequence[Attempt]) -> Attempt:
    """The attempt that stands for its point: the last good one, else the last."""
    return next((attempt for attempt in reversed(tried) if attempt.is_good), tried[-1])


def _row(point: Point, attempt: Attempt, kinds: dict[str, str]) -> Row:
    run = attempt.run
    row: Row = {
        "point": point.point,
        "cell": point.cell,
        "block": point.block,
        "seq": point.seq,
        "attempt": attempt.number,
        "epoch": attempt.command.get("epoch"),
        "run_id": run.get("id"),
        "start": run.get("start") or attempt.command.get("started"),
        "ok": attempt.is_good,
        "why": attempt.why,
        "profile": point.profile,
    }
    for name, text in point.dimensions.items():
        row[f"d.{name}"] = text
    for name, text in point.dimensions.items():
        row[f"p.{name}"] = number(text, kinds.get(name, ""))
    required = attempt.requirements
    if required:
        row["met"] = all(one.get("met") for one in required)
        row["unmet"] = "; ".join(str(one.get("reason")) for one in required if not one.get("met")) or None
    if attempt.is_good:
        row.update(attempt.figures)
        row["pipeline"] = number(str(attempt.run.get("pipeline")), "count")
        argv = attempt.command.get("argv") or []
        for option, end in (("--cpus", "master"), ("--slave-cpus", "slave")):
            known = end if f"ncpus.{end}" in row else "shared"
            name, cpu = f"first_cpu.{known}", _first_cpu(argv, option)
            row[name] = cpu if row.get(name) is None else row[name]
    return row


def _first_cpu(argv: Sequence[str], option: str) -> int | None:
    """Of the CPUs that an end was placed on, as "0-3,8"."""
    value = argv[argv.index(option) + 1] if option in argv else ""
    found = re.match(r"\d+", value)
    return int(found[0]) if found else None


def names(rows: Sequence[Row]) -> list[str]:
    """All columns that some row has, in their order."""
    found: dict[str, None] = {}
    for row in rows:
        found.update(dict.fromkeys(row))
    return list(found)


def as_jsonl(rows: Sequence[Row]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


_RECKONED = ("=", "+", "-", "@", "\t", "\r")


def _is_reckoned(text: str) -> bool:
    """Whether a spreadsheet would take a text for a formula, or would without the apostrophes before it."""
    text = text.lstrip("'")
    if not text.startswith(_RECKONED):
        return False
    try:
        float(text)
    except ValueError:
        return True
    return False


def to_csv(value: Any) -> Any:
    if isinstance(value, bool):
        return str(value).lower()
    return f"'{value}" if isinstance(value, str) and _is_reckoned(value) else value


def from_csv(text: str) -> str:
    return text[1:] if text.startswith("'") and _is_reckoned(text) else text


def as_csv(rows: Sequence[Row]) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, names(rows), lineterminator="\n", restval="")
    writer.writeheader()
    for row in rows:
        writer.writerow({key: to_csv(value) for key, value in row.items()})
    return out.getvalue()


def write_parquet(path: Path, rows: Sequence[Row]) -> None:
    """With the library that does it, which is not installed unless asked for."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise EnvironmentProblem(["parquet needs pyarrow: pip install 'netmodel-lab[parquet]'"]) from None
    columns = {name: [row.get(name) for row in rows] for name in names(rows)}
    half = path.with_name(f".tmp-{path.name}")
    parquet.write_table(pyarrow.table(columns), half)
    half.rename(path)


def write(folder: Folder, rows: Sequence[Row]) -> None:
    write_whole(folder.path / "rows.jsonl", as_jsonl(rows))
    write_whole(folder.path / "rows.csv", as_csv(rows))
