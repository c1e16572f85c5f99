# SPDX-License-Identifier: Apache-2.0
"""The kinds of suites: each knows the command that runs its tests, how one of them is run alone, and where it says how they ended."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TextIO

from outcome import FAILED, PASSED, SKIPPED, Outcome

MISSING = 77  # exit code of what cannot run here; its last line says why


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:300] if lines else "it said nothing"


class Commands:
    """A suite whose tests are run by commands."""

    cpu_s = 0.0  # of its commands and of what they have waited for; not of what goes on behind them

    def run_command(
        self, command: Sequence[str], said: TextIO, env: Mapping[str, str] | None = None, errors: TextIO | int = subprocess.STDOUT
    ) -> int:
        """Runs a command that writes to `said`; its exit code."""
        process = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=said, stderr=errors)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.cpu_s += usage.ru_utime + usage.ru_stime
        return process.returncode

    def text_of_command(self, command: Sequence[str], env: Mapping[str, str] | None = None) -> tuple[int, str, str]:
        """Its exit code, and what it said to standard output and to standard error."""
        with tempfile.TemporaryFile("w+", errors="replace") as said, tempfile.TemporaryFile("w+", errors="replace") as errors:
            code = self.run_command(command, said, env, errors)
            for file in (said, errors):
                file.seek(0)
            return code, said.read(), errors.read()


def _file(title: str, kind: str) -> str:
    return f"{re.sub(r'[^a-zA-Z0-9]+', '-', title)}.{kind}"


class Step(Commands):
    """A command that counts as one test. What it says is shown where it fails."""

    def __init__(self, title: str, command: Sequence[str | Path], logs: Path) -> None:
        self.title = title
        self._command = [str(word) for word in command]
        self._log = logs / _file(title, "log")

    def run(self) -> list[Outcome]:
        began = time.monotonic()
        with self._log.open("w") as log:
            code = self.run_command(self._command, log)
        seconds = time.monotonic() - began
        said = self._log.read_text(errors="replace")
        if code == 0:
            return [Outcome(self.title, PASSED, seconds)]
        if code == MISSING:
            return [Outcome(self.title, SKIPPED, seconds, _last_line(said))]
        print("\n".join(said.splitlines()[-120:]), flush=True)
        return [Outcome(self.title, FAILED, seconds, f"exit code {code}: {_last_line(said)}")]

    def again(self, names: Sequence[str]) -> list[Outcome]:
        return self.run()


class Units(Commands):
    """The unit tests of a build, and its runs in a simulated world: programs of check, which make runs."""

    # file.c:12:P:case:test_name:0: what it says
    _LINE = re.compile(r"^[^:\n]+:\d+:([PFE]):([^:\n]*):([^:\n]*):\d+: (.*)$", re.MULTILINE)
    _ENDS = {"P": PASSED, "F": FAILED, "E": FAILED}

    def __init__(self, title: str, build: Path, jobs: int) -> None:
        self.title = title
        self._build = build
        self._jobs = jobs

    def run(self) -> list[Outcome]:
        return self._make([], self._jobs)

    def again(self, names: Sequence[str]) -> list[Outcome]:
        """The programs of these tests; each of the names ends as its program does."""
        programs = {name: name.removeprefix(f"{self.title}: ").partition(" ")[0] for name in names}
        whole = self.title in names
        outcomes = self._make([] if whole else [f"TESTS={' '.join(sorted(set(programs.values())))}"], 1)
        ends = []
        for name, program in programs.items():
            own = outcomes if whole else [one for one in outcomes if one.name.startswith(f"{self.title}: {program}")]
            bad = [one for one in own if one.end == FAILED] or ([] if own else [Outcome(name, FAILED, why="it did not run")])
            ends.append(Outcome(name, FAILED if bad else PASSED, why=bad[0].why if bad else ""))
        return ends

    def _make(self, words: list[str], jobs: int) -> list[Outcome]:
        for old in self._build.glob("tests/**/test_*.trs"):
            old.unlink()
        command = ["make", "-k", "-s", "-C", str(self._build), f"-j{jobs}", "check", "CHECKS=", *words]
        limits = {"CK_VERBOSITY": "verbose", "CK_DEFAULT_TIMEOUT": "60"}  # seconds: much else may run beside it
        code, said, errors = self.text_of_command(command, os.environ | limits)
        outcomes = [one for trs in sorted(self._build.glob("tests/**/test_*.trs")) for one in self._program(trs)]
        if code != 0 and not any(outcome.end == FAILED for outcome in outcomes):
            print(said[-6000:], errors[-6000:], sep="\n", flush=True)
            outcomes.append(Outcome(self.title, FAILED, why=f"make ended with exit code {code}"))
        return outcomes

    def _program(self, trs: Path) -> list[Outcome]:
        program = f"{self.title}: {trs.relative_to(self._build).with_suffix('')}"
        said = trs.with_suffix(".log").read_text(errors="replace")
        outcomes = [
            Outcome(f"{program} {case}/{test}", self._ENDS[letter], why="" if letter == "P" else why[:300])
            for letter, case, test, why in self._LINE.findall(said)
        ]
        if ":test-result: PASS" not in trs.read_text() and not any(outcome.end == FAILED for outcome in outcomes):
            outcomes.append(Outcome(program, FAILED, why=_last_line(said)))
        for outcome in outcomes:
            if outcome.end == FAILED:
                print(said[-4000:], flush=True)
                break
        return outcomes


class Style(Commands):
    """The mechanical checks: they say PASS, FAIL or SKIP, one a line."""

    title = "style"

    def __init__(self, build: Path) -> None:
        self._command = ["make", "-s", "-C", str(build), "check-style"]

    def run(self) -> list[Outcome]:
        code, said, errors = self.text_of_command(self._command)
        outcomes = [
            Outcome(f"style: {name}", {"PASS": PASSED, "FAIL": FAILED, "SKIP": SKIPPED}[word])
            for word, name in re.findall(r"^(PASS|FAIL|SKIP): (\S+)$", said, re.MULTILINE)
        ]
        if code != 0:
            print(said, errors, sep="\n", flush=True)
        return outcomes

    def again(self, names: Sequence[str]) -> list[Outcome]:
        return self.run()


class Pytest(Commands):
    """Tests in Python. `command` runs pytest and takes its words; `together` are words for the first run alone."""

    def __init__(
        self, title: str, command: Sequence[str | Path], what: Sequence[str | Path], logs: Path, together: Sequence[str] = ()
    ) -> None:
        self.title = title
        self._command = [str(word) for word in command]
        self._what = [str(word) for word in what]
        self._together = list(together)
        self._record = logs / _file(title, "jsonl")
        self._log = logs / _file(title, "log")

    def run(self) -> list[Outcome]:
        return self._pytest([*self._together, *self._what])

    def again(self, names: Sequence[str]) -> list[Outcome]:
        return self._pytest(self._what if self.title in names else names)

    def _pytest(self, words: Sequence[str]) -> list[Outcome]:
        self._record.unlink(missing_ok=True)
        began = time.monotonic()
        command = [*self._command, f"--record-outcomes={self._record}", *words]
        with self._log.open("w") as log:
            code = self.run_command(command, log)
        print(self._log.read_text(errors="replace"), flush=True)  # as a whole: others run beside it
        lines = self._record.read_text().splitlines() if self._record.exists() else []
        outcomes = [Outcome(**json.loads(line)) for line in lines]
        if code == MISSING:
            return [Outcome(self.title, SKIPPED, why="see above")]
        if code not in (0, 1) and not any(outcome.end == FAILED for outcome in outcomes):
            outcomes.append(Outcome(self.title, FAILED, time.monotonic() - began, f"exit code {code}"))
        return outcomes


def pytest_here(top: Path, scratch: Path, python: str | Path = sys.executable) -> list[str | Path]:
    """The command of pytest on this machine: names are below `top`; it empties `scratch` for its temporary folders."""
    words = ("-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", "-p", "record_outcomes")
    return [python, *words, f"--rootdir={top}", f"--basetemp={scratch}"]
