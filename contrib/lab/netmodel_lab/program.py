# SPDX-License-Identifier: Apache-2.0
"""The program that measures: where it is, which one it is, and what it says about profiles and their parameters."""

from __future__ import annotations

import functools
import hashlib
import itertools
import json
import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from netmodel_lab.problems import EnvironmentProblem, UsageProblem

_ERROR = re.compile(r"^(?:[^ ]+: )?error: ")


@dataclass(frozen=True)
class Parameter:
    """A parameter of a profile, as --params tells it."""

    name: str
    kind: str
    value: str


class Program:
    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def find(cls, given: str | None = None) -> Program:
        """The one that is given, $NETMODEL, netmodel on the PATH, or that of the source tree that this is in."""
        built = Path(__file__).resolve().parents[3] / "build" / "src" / "netmodel"
        wanted = given or os.environ.get("NETMODEL") or shutil.which("netmodel") or str(built)
        found = shutil.which(wanted)
        if not found:
            raise EnvironmentProblem([f"{wanted}: no such program; --netmodel PATH or $NETMODEL names netmodel"])
        return cls(Path(found).resolve())

    def _ask(self, *words: str) -> subprocess.CompletedProcess[str]:
        try:
            return subprocess.run(
                [str(self.path), *words], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
            )
        except OSError as error:
            raise EnvironmentProblem([f"{self.path}: cannot be run: {error.strerror}"]) from None

    @functools.cached_property
    def version(self) -> str:
        done = self._ask("--version")
        if done.returncode != 0 or not done.stdout.startswith("netmodel "):
            raise EnvironmentProblem([f"{self.path}: is not netmodel"])
        return done.stdout.split()[1]

    @functools.cached_property
    def sha256(self) -> str:
        with self.path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    @functools.cache  # noqa: B019  a program lives as long as the command
    def parameters(self, profile: str) -> dict[str, Parameter]:
        """The parameters of a profile. Raises UsageProblem when there is no such profile, or it is wrong."""
        done = self._ask("-m", profile, "--params")
        if done.returncode != 0:
            raise UsageProblem(line.removeprefix("netmodel: ") for line in done.stderr.splitlines())
        head, *lines = done.stdout.splitlines() or [""]
        begins = [head.index(name) for name in ("type", "value", "from")]
        found = {}
        for line in lines:
            kind, value = (line[a:b].strip() for a, b in itertools.pairwise(begins))
            name = line[: begins[0]].strip()
            found[name] = Parameter(name, kind, value)
        return found

    def facts(self) -> list[str]:
        """The names of what it says about a host."""
        schema = json.loads(self._ask("--generate", "result-schema").stdout)
        return list(schema["$defs"]["facts"]["properties"])

    def profile_path(self, profile: str) -> Path:
        """The file of a profile, which may be a stock profile's name."""
        return Path(self._ask("-m", profile, "--check").stdout.partition(": ok: ")[0])

    def check(self, profile: str, params: Mapping[str, str], options: Sequence[str] = ()) -> list[str]:
        """What netmodel has against these values; nothing: it takes them."""
        defines = [word for name, value in params.items() for word in ("-D", f"{name}={value}")]
        done = self._ask("-m", profile, *defines, *options, "--check")
        if done.returncode == 0:
            return []
        said = [_ERROR.sub("", line) for line in done.stderr.splitlines() if line.strip()]
        return said or [f"netmodel --check has failed with exit code {done.returncode}"]


def command(program: str, profile: str, params: Mapping[str, str], options: Sequence[str]) -> list[str]:
    """What measures a point; the result document comes on standard output."""
    defines = [word for name, value in params.items() for word in ("-D", f"{name}={value}")]
    return [program, "-m", profile, *defines, *options, "--format", "json"]
