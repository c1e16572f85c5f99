# SPDX-License-Identifier: Apache-2.0
"""Tests of a list that k8s-netperf has not: any profile of netmodel, with its parameters. Its key is netmodel, for a
stock profile or a file beside the list."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from netmodel_lab.problems import Problem, UsageProblem, nearest
from netmodel_lab.program import Parameter, Program

KEY, PARAMS = "netmodel", "params"
KEYS = (KEY, PARAMS, "duration", "samples", "service")
_OURS = dict.fromkeys(("host", "data_host", "port"), "the run sets it") | {"test_length": "it is the key duration"}
MOST = 900_000  # bytes of files, as a ConfigMap has at most 1 MiB


@dataclass(frozen=True)
class Model:
    """What a test runs. params: in the order of their names. text: of a file, which goes to the cluster. sets: which
    parameters the run gives values."""

    profile: str
    params: tuple[tuple[str, str], ...] = ()
    text: str = ""
    sets: tuple[str, ...] = ()

    @property
    def file(self) -> str:
        return f"model-{self.digest}.xml" if self.text else ""

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()[:12]

    @property
    def is_alone(self) -> bool:
        """It asks a server that is no slave."""
        return bool(dict(self.params).get("server"))

    def values(self, duration: int) -> dict[str, str]:
        """Of the parameters, before it is known where the slave is."""
        return {**dict(self.params), **({"test_length": f"{duration}s"} if "test_length" in self.sets else {})}

    @property
    def shown(self) -> str:
        """All that tells it from others."""
        given = [f"{name}={value}" for name, value in self.params]
        return " ".join([f"{self.profile}@{self.digest}" if self.text else self.profile, *given])


def from_json(document: Mapping[str, object] | None) -> Model | None:
    if not document:
        return None
    pairs: list[tuple[str, str]] = [tuple(one) for one in document["params"]]  # type: ignore[attr-defined]
    return Model(str(document["profile"]), tuple(pairs), str(document["text"]), tuple(document["sets"]))  # type: ignore[arg-type]


def read(
    profile: str,
    given: Mapping[str, str],
    duration: int,
    folder: Path,
    *,
    is_service: bool,
    wrong: Callable[[str], None],
) -> Model | None:
    """None: wrong has been told why. The program itself says what it has against the profile and its values."""
    try:
        program = Program.find()
        path = _file(profile, folder)
        known = program.parameters(str(path or profile))
        text = path.read_text(encoding="utf-8") if path else ""
    except Problem as problem:
        for line in problem.lines:
            wrong(line)
        return None
    except (OSError, UnicodeDecodeError) as error:
        wrong(f"{profile}: {error}")
        return None
    sets = tuple(name for name in _OURS if name in known)
    found = Model(os.path.normpath(profile), tuple(sorted(given.items())), text, sets)
    mistakes = _mistakes(found, known, is_service=is_service)
    if len(text.encode()) > MOST:
        mistakes.append(f"a ConfigMap has no room for its {len(text.encode())} bytes; {MOST} are the most")
    if not mistakes:
        mistakes = program.check(str(path or profile), found.values(duration))
    for line in mistakes:
        wrong(line)
    return None if mistakes else found


def _file(profile: str, folder: Path) -> Path | None:
    """None: it is a stock profile."""
    if "/" not in profile and not profile.endswith(".xml"):
        return None
    path = folder / profile
    if not path.is_file():
        raise UsageProblem([f"{path}: there is no such file"])
    return path


def _mistakes(model: Model, known: Mapping[str, Parameter], *, is_service: bool) -> list[str]:
    found = []
    for name, _ in model.params:
        if name in _OURS:
            found.append(f"params: {name}: {_OURS[name]}")
        elif name not in known:
            found.append(f"params: {name}: {model.profile} has no such parameter{nearest(name, list(known))}")
    if "test_length" not in known:
        found.append(f"{model.profile} has no parameter test_length, which duration would set")
    if model.is_alone:
        found += ["service: a test with server goes to that server alone"] if is_service else []
    elif "host" not in known:
        found.append(f"{model.profile} has no parameter host, which would be the slave")
    elif is_service and "port" not in known:
        found.append(f"service: {model.profile} has no parameter port, which a Service must know before")
    return found
