# SPDX-License-Identifier: Apache-2.0
"""How a command ends: exit codes, and what ends it early."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum


class Exit(IntEnum):
    DONE = 0
    WORSE = 1
    USAGE = 2
    ENVIRONMENT = 3
    FAILED = 4
    UNDECIDED = 5
    INTERRUPTED = 130


@dataclass(frozen=True)
class Mistake:
    """One thing that is wrong with what was asked for, and where."""

    place: str
    text: str

    def __str__(self) -> str:
        return f"{self.place}: {self.text}" if self.place else self.text


class Problem(Exception):
    """Ends the command: each line is told, then the code is returned."""

    code = Exit.ENVIRONMENT

    def __init__(self, lines: Iterable[object]) -> None:
        self.lines = [str(line) for line in lines]
        super().__init__("\n".join(self.lines))


class UsageProblem(Problem):
    """What was asked for is wrong; nothing has been touched."""

    code = Exit.USAGE


class EnvironmentProblem(Problem):
    """This machine, or another one, does not have what is needed."""


def nearest(name: str, known: Sequence[str]) -> str:
    """ "; did you mean X?", or nothing when no known name is near."""
    found = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    return f"; did you mean {found[0]}?" if found else ""


def instead(name: str, known: Sequence[str]) -> str:
    """The nearest of them; all of them when none is near."""
    return nearest(name, known) or f"; there are {', '.join(known)}"
