# SPDX-License-Identifier: Apache-2.0
"""What is put beside what: a study, a baseline or a file of rows, and which of its rows are meant."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from netmodel_lab import baselines
from netmodel_lab.baselines import Baseline, Identity
from netmodel_lab.columns import find
from netmodel_lab.folder import Epoch, Folder, Manifest
from netmodel_lab.problems import UsageProblem, instead, nearest
from netmodel_lab.rows import Row, from_csv
from netmodel_lab.table import Table, drift_of

BASELINE = "baseline:"
# What rows are chosen by that was not varied: what their epoch was measured with.
_FACTS = ("kernel", "epoch", "version")


@dataclass(frozen=True)
class Side:
    """One of the two: its rows by cell, without what was selected."""

    text: str
    source: str  # which study, or which file, they are of
    rows: list[Row]
    selected: dict[str, str]
    warnings: tuple[str, ...] = ()

    @property
    def dimensions(self) -> list[str]:
        names = dict.fromkeys(name for row in self.rows for name in row if name.startswith("d."))
        return [name for name in names if name.removeprefix("d.") not in self.selected]

    @property
    def epochs(self) -> set[str]:
        return epochs_of(self.rows)


@dataclass(frozen=True)
class _Source:
    """All rows of one place. manifest: None, where nothing tells what they were measured with."""

    path: Path
    rows: list[Row]
    manifest: Manifest | None = None


def read_sides(*texts: str) -> list[Side]:
    """Each is FOLDER, a file of rows or baseline:NAME, with @NAME=VALUE,... behind it to choose rows. A baseline is
    one of the hosts of the other side."""
    heads = [text.partition("@")[0] for text in texts]
    sources = [None if head.startswith(BASELINE) else _read(Path(head)) for head in heads]
    names = [head.removeprefix(BASELINE) for head in heads if head.startswith(BASELINE)]
    kept: list[Baseline] = []
    if names:
        others = [(head, one.manifest) for head, one in zip(heads, sources, strict=True) if one]
        kept = baselines.find(names, [(head, _identity(head, manifest)) for head, manifest in others])
    found = [one or _of_baseline(kept.pop(0)) for one in sources]
    return [_side(text, source) for text, source in zip(texts, found, strict=True)]


def _identity(text: str, manifest: Manifest | None) -> Identity:
    if not manifest:
        raise UsageProblem([f"{text}: rows do not say of which hosts they are; a baseline compares with a study"])
    return baselines.identity(text, manifest)


def _read(path: Path) -> _Source:
    if path.is_dir():
        table = Table(Folder.open(path))
        return _Source(path, table.rows, table.manifest)
    if path.suffix == ".json":
        return _of_baseline(baselines.read(path))
    return _Source(path, _read_rows(path))


def _of_baseline(kept: Baseline) -> _Source:
    return _Source(kept.path, kept.rows, kept.manifest)


def _side(text: str, source: _Source) -> Side:
    selected = _selected(text)
    names = [name.removeprefix("d.") for row in source.rows[:1] for name in row if name.startswith("d.")]
    rows = source.rows
    for name, value in selected.items():
        if name in names:
            rows = [row for row in rows if str(row.get(f"d.{name}")) == value]
        elif name in _FACTS:
            epochs = _epochs(text, source, name, value)
            rows = [row for row in rows if str(row.get("epoch")) in epochs]
        else:
            raise UsageProblem([f"{text}: {name} was not varied there{nearest(name, [*names, *_FACTS])}"])
    if not rows:
        raise UsageProblem([f"{text}: no such rows"])
    drift = drift_of([row for row in rows if row["ok"]], "transactions_per_s") if source.manifest else None
    warnings: tuple[str, ...] = ()
    if drift and drift.is_told:
        unsteady = f"the machine was not steady: {drift.change:+.1%} from the first run to the last"
        warnings = (f"{text.partition('@')[0]}: {unsteady}",)
    identity = source.manifest.identity if source.manifest else str(source.path.resolve())
    return Side(text, identity, rows, selected, warnings)


def _selected(text: str) -> dict[str, str]:
    _, at, selector = text.partition("@")
    parts = [part.partition("=") for part in selector.split(",")] if at else []
    wrong = [f'{text}: "{name}": must be NAME=VALUE' for name, equals, _ in parts if not (name and equals)]
    if wrong:
        raise UsageProblem(wrong)
    return {name: value for name, _, value in parts}


# --- epochs ---


def epochs_of(rows: Sequence[Row]) -> set[str]:
    return {str(row.get("epoch")) for row in rows}


def _epochs(text: str, source: _Source, name: str, value: str) -> set[str]:
    """Those that were measured with it. What ends before a number or a word of it has ended means each that goes on."""
    there = _values(text, source, name)
    meant = [one for one in there if one == value] or [one for one in there if _goes_on(value, one)]
    if len(meant) == 1:
        return there[meant[0]]
    if meant:
        raise UsageProblem([f"{text}: {name}={value}: there are {' and '.join(meant)}; name one of them"])
    raise UsageProblem([f'{text}: "{value}": no run is of that {name}{instead(value, list(there))}'])


def _goes_on(begin: str, whole: str) -> bool:
    """6.1 is that of 6.1.4-amd64, and none of 6.12.0."""
    return bool(begin) and whole.startswith(begin) and not whole[len(begin)].isalnum()


def _values(text: str, source: _Source, name: str) -> dict[str, set[str]]:
    """What there is of a fact, and in which epochs."""
    there = sorted(epochs_of(source.rows))
    if name == "epoch":
        return {epoch: {epoch} for epoch in there}
    if not source.manifest:
        raise UsageProblem([f"{text}: rows do not say which {name} they were measured with; epoch=N chooses of them"])
    if name == "version" and any("d.netmodel" in row for row in source.rows):
        raise UsageProblem([f"{text}: the programs were varied there: netmodel=PATH chooses one"])
    found: dict[str, set[str]] = {}
    for number, epoch in enumerate(source.manifest.epochs, 1):
        if str(number) in there:
            found.setdefault(_fact(epoch, name), set()).add(str(number))
    return found


def _fact(epoch: Epoch, name: str) -> str:
    """The kernels of two hosts are MASTER/SLAVE, unless they have the same."""
    if name == "version":
        return str(epoch.facts.get("netmodel"))
    each = [value for key, value in epoch.facts.items() if key.rpartition(".")[2] == name]
    return "/".join(dict.fromkeys(map(str, each)))


# --- files of rows ---


def _read_rows(path: Path) -> list[Row]:
    try:
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".csv":
            return [
                {name: _typed(name, value) for name, value in row.items()} for row in csv.DictReader(text.splitlines())
            ]
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    except (OSError, ValueError) as error:
        raise baselines.neither(path, error) from None


def _typed(name: str, value: str) -> Any:
    if name == "ok":
        return value == "true"
    if find(name) or name == "block":
        return float(value) if value else None
    return from_csv(value)
