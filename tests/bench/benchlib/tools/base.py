# SPDX-License-Identifier: Apache-2.0
"""What every adapter offers."""

from __future__ import annotations

import os
import re
import shutil
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from ..model import BenchError, Case, Commands, Outcome, Place

HOST = "127.0.0.1"


class Tool(ABC):
    """A benchmark program: which cases it can run, its commands, and what its output says."""

    name: ClassVar[str]
    by_number: ClassVar[bool] = False  # does a number of requests, however long they take

    @classmethod
    @abstractmethod
    def find(cls, env: Mapping[str, str]) -> Tool | None:
        """The tool, if this machine has it."""

    @abstractmethod
    def supported(self, case: Case) -> bool:
        """Whether the tool can run the case as it stands."""

    @abstractmethod
    def run(self, case: Case, place: Place) -> Commands:
        """The commands that run the case."""

    @abstractmethod
    def parse(self, case: Case, client: str, server: str) -> Outcome:
        """The outcome, from the standard output of both ends."""


class Client(Tool):
    """A program that asks servers of others, one at a time. It starts in the environment in which it was found, as that
    may say where its libraries are."""

    variable: ClassVar[str]  # names the program, where PATH has none
    workloads: ClassVar[tuple[str, ...]]

    def __init__(self, program: str, env: Mapping[str, str]) -> None:
        self._program = program
        self._env = env

    @classmethod
    def find(cls, env: Mapping[str, str]) -> Client | None:
        found = locate(env, cls.variable, cls.name)
        return cls(found, env) if found else None

    def supported(self, case: Case) -> bool:
        return case.workload in self.workloads

    def run(self, case: Case, place: Place) -> Commands:
        return Commands(client=[self._program, *self.arguments(case, place)], env=self._env)

    @abstractmethod
    def arguments(self, case: Case, place: Place) -> list[str]:
        """What follows the program's name."""


def found_number(pattern: str, text: str) -> float:
    """The number that the group of a pattern matches, or an error that names the pattern."""
    found = re.search(pattern, text, re.MULTILINE)
    if found is None:
        raise BenchError(f"no {pattern!r} in the output")
    return float(found[1])


def check_failures(text: str, *patterns: str) -> None:
    """Raises where one of these counters is there and not 0: such a rate is not that of requests that were answered."""
    for pattern in patterns:
        for count in re.findall(pattern, text, re.MULTILINE):
            if float(count):
                raise BenchError(f"{pattern!r} has {count}")


def executable(path: Path | str | None) -> str | None:
    """The absolute path of `path` if it is a program."""
    if path is None:
        return None
    full = Path(path).absolute()
    return str(full) if full.is_file() and os.access(full, os.X_OK) else None


def locate(env: Mapping[str, str], variable: str, *names: str) -> str | None:
    """The first program of `names` in the directory that a variable gives, its src/, or PATH.

    The variable may also name the program itself. Once it is set, PATH is not asked.
    """
    given = env.get(variable)
    if not given:
        on_path = (shutil.which(name, path=env.get("PATH")) for name in names)
        return next((program for program in on_path if program), None)
    if Path(given).is_file():
        return executable(given)
    tried = (executable(Path(given) / sub / name) for name in names for sub in ("", "src"))
    return next((p for p in tried if p), None)


def key_values(text: str) -> dict[str, str]:
    """Lines of the form key=value; the last one of a key counts."""
    return dict(re.findall(r"^([\w%.]+)=(.*)$", text, re.MULTILINE))


def number(values: Mapping[str, str], key: str) -> float:
    """A number out of key_values(), or an error that names the key."""
    try:
        return float(values[key])
    except KeyError:
        raise BenchError(f"no {key} in the output") from None
    except ValueError:
        raise BenchError(f"{key}={values[key]!r} is not a number") from None
