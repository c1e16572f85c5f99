# SPDX-License-Identifier: Apache-2.0
"""Studies that later ones are put beside: kept by a name, each for the hosts that it was measured on."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from netmodel_lab.folder import Epoch, Manifest, now, write_whole
from netmodel_lab.problems import UsageProblem, instead
from netmodel_lab.rows import Row
from netmodel_lab.study import Study
from netmodel_lab.table import Table

_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,79}")
_DIGITS = 16  # of an identity


@dataclass(frozen=True)
class Identity:
    """Which hosts. What is told of them may be the same of others."""

    digest: str
    text: str


class Baseline(BaseModel):
    """What is kept of a study: what it was, and its rows."""

    model_config = ConfigDict(populate_by_name=True)

    schema_: Literal["netmodel-lab.baseline/1"] = Field("netmodel-lab.baseline/1", alias="schema")
    name: str
    saved: str
    folder: str
    hosts: str
    path: Path = Field(Path(), exclude=True)  # where it is kept
    manifest: Manifest
    rows: list[Row]


def identity(text: str, manifest: Manifest) -> Identity:
    """Of the hosts of a study; `text` names it. A kernel, an address or a boot does not make another host."""
    each = [_hosts(manifest.study, epoch) for epoch in manifest.epochs]
    if any(one != each[0] for one in each):
        raise UsageProblem([f"{text}: its epochs are of several hosts: such a study is no baseline, and has none"])
    digest = hashlib.sha256(json.dumps(each[0], sort_keys=True).encode()).hexdigest()
    told = dict.fromkeys(_told(role, manifest) for role in each[0])
    return Identity(digest[:_DIGITS], ", ".join(told))


def _hosts(study: Study, epoch: Epoch) -> dict[str, Any]:
    """By what the machine says it is; where it does not, by what does not change while it is the same."""
    found: dict[str, Any] = {}
    for role, probe in epoch.hosts.items():
        spec = getattr(study.hosts, role, None)
        facts = probe.get("facts") or {}
        own = [facts.get(name) for name in ("hostname", "machine", "cpu_model")]
        found[role] = [
            probe.get("machine_id") or (own if facts else spec and spec.target),
            spec.ns if spec else None,
        ]
    return found


def _told(role: str, manifest: Manifest) -> str:
    facts = manifest.epochs[-1].hosts[role].get("facts")
    spec = getattr(manifest.study.hosts, role, None)
    if not facts:
        return str(spec.text if spec else role)
    inside = f" namespace {spec.ns}" if spec and spec.ns else ""
    return f"{facts.get('hostname')}{inside} ({facts.get('machine')}, {facts.get('cpus')} CPUs)"


# --- where they are ---


def _place() -> Path:
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(data) / "netmodel-lab" / "baselines"


def everything(name: str = "*") -> list[Baseline]:
    """By name; what is no baseline is left alone."""
    found = []
    for path in sorted(_place().glob(f"*/{name}.json"), key=lambda path: (path.name, path.parent.name)):
        with contextlib.suppress(UsageProblem):
            found.append(read(path))
    return found


def neither(path: Path, error: OSError | ValueError) -> UsageProblem:
    """It cannot be put beside anything."""
    why = f": {error.strerror}" if isinstance(error, OSError) else ""
    return UsageProblem([f"{path}: is neither a study, a baseline nor rows (.jsonl, .csv){why}"])


def read(path: Path) -> Baseline:
    try:
        found = Baseline.model_validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        raise neither(path, error) from None
    return found.model_copy(update={"path": path})


def save(name: str, table: Table, *, is_replaced: bool) -> Baseline:
    if not _NAME.fullmatch(name):
        raise UsageProblem([f'"{name}": a baseline has a name of letters, digits, ".", "_" and "-"'])
    folder = table.folder.path
    if not table.good:
        raise UsageProblem([f"{folder}: has no good run that could be a baseline"])
    hosts = identity(str(folder), table.manifest)
    path = _place() / hosts.digest / f"{name}.json"
    if path.exists() and not is_replaced:
        was = read(path)
        text = f"{name}: is a baseline of these hosts already, of {was.folder}, saved {was.saved}"
        raise UsageProblem([f"{text}; --replace takes its place"])
    kept = Baseline(
        name=name,
        saved=now(),
        folder=str(folder.resolve()),
        hosts=hosts.text,
        path=path,
        manifest=table.manifest,
        rows=table.rows,
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, kept.model_dump_json(by_alias=True))
    return kept


def find(names: Sequence[str], beside: Sequence[tuple[str, Identity]]) -> list[Baseline]:
    """Those of these names, of the hosts of what they are compared with; of one and the same hosts where that is
    another baseline."""
    there = _there()
    having = {name: {path.parent.name for path in _of_name(name, there)} for name in names}
    for name, digests in having.items():
        if not digests:
            raise _absent(name, there)
    common = set.intersection(*having.values())
    if beside:
        text, hosts = beside[0]
        if hosts.digest not in common:
            raise UsageProblem(_of_others(names[0], text, hosts))
        common = {hosts.digest}
    if len(common) != 1:
        which = " and ".join(f"baseline:{name}" for name in names)
        raise UsageProblem([f"{which}: are of {'no' if not common else 'several'} hosts in common: name their files"])
    (digest,) = common
    return [read(_place() / digest / f"{name}.json") for name in names]


def remove(name: str) -> Path:
    """By its name, or by its file where several hosts have one of that name."""
    there = _there()
    found = _of_name(name, there) or [path for path in there if path.resolve() == Path(name).resolve()]
    if not found:
        raise _absent(name, there)
    if len(found) > 1:
        raise UsageProblem([f"baseline:{name}: several hosts have one; name its file:", *(f"  {one}" for one in found)])
    found[0].unlink()
    return found[0]


def _there() -> list[Path]:
    return sorted(_place().glob("*/*.json"))


def _of_name(name: str, there: Sequence[Path]) -> list[Path]:
    return [path for path in there if path.stem == name]


def _absent(name: str, there: Sequence[Path]) -> UsageProblem:
    known = sorted({path.stem for path in there})
    other = instead(name, known) if known else "; netmodel-lab baseline save keeps one"
    return UsageProblem([f"baseline:{name}: there is none{other}"])


def _of_others(name: str, text: str, hosts: Identity) -> list[str]:
    lines = [f"baseline:{name}: is of other hosts than {text}, which is of {hosts.text}; to compare all the same:"]
    return lines + [f"  of {one.hosts}: netmodel-lab compare {one.path} {text}" for one in everything(name)]
