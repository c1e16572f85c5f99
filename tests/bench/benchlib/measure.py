# SPDX-License-Identifier: Apache-2.0
"""Run a tool in a case: plainly, under strace, or under callgrind."""

from __future__ import annotations

import re
import shutil
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from .awake import kept_awake
from .model import BenchError, Case, Ends, Figures, Outcome, Place, cpu_list
from .ports import wait_listening
from .process import Child, check
from .tools import Tool

_START_SLACK_S = 20.0
_WATCHED_SLACK_S = 60.0


@dataclass(frozen=True)
class Prefix:
    """What stands before the command of each end to watch it."""

    client: tuple[str, ...] = ()
    server: tuple[str, ...] = ()


class Measurer:
    """Adds the figures of one run to a tool's Figures. Errors are recorded there, not raised."""

    def __init__(self, cpus: tuple[int, int] | None, count_seconds: tuple[int, int], server: str = "") -> None:
        self._taskset = shutil.which("taskset")
        self._strace = shutil.which("strace")
        self._valgrind = shutil.which("valgrind")
        self._cpus = cpus if self._taskset else None
        self._count_seconds = count_seconds
        self._server = server

    @property
    def pins(self) -> bool:
        return self._cpus is not None

    @property
    def missing(self) -> list[str]:
        found = {"taskset": self._taskset, "strace": self._strace, "valgrind": self._valgrind}
        return [name for name, path in found.items() if not path]

    def throughput(self, tool: Tool, case: Case, figures: Figures) -> None:
        """Throughput and CPU time of one undisturbed run."""
        try:
            with tempfile.TemporaryDirectory(prefix="netmodel-bench-") as workdir:
                place = self._place(case, workdir)
                if tool.by_number:
                    known = figures.rate[-1] if figures.rate else self._execute(tool, case, place)[0].rate
                    case = replace(case, per_s=known)
                outcome, cpu_s = self._execute(tool, case, place)
        except (BenchError, OSError) as error:
            figures.errors.append(str(error))
            return
        figures.rate.append(outcome.rate)
        figures.cpu_s.append(cpu_s / outcome.count * case.unit_size)

    def system_calls(self, tool: Tool, case: Case, figures: Figures) -> None:
        """System calls of both ends per unit: two run lengths, so that set-up cancels out."""
        if not self._strace:
            return
        totals: list[tuple[float, int, int]] = []
        try:
            for seconds in self._count_seconds:
                totals.append(self._strace_once(tool, replace(case, seconds=seconds)))
            (units, client, server) = (b - a for a, b in zip(*totals, strict=True))
            figures.calls_client.append(per_unit(client, units, case))
            if not case.is_app:
                figures.calls_server.append(per_unit(server, units, case))
        except (BenchError, OSError) as error:
            figures.errors.append(f"strace: {error}")

    def instructions(self, tool: Tool, case: Case, figures: Figures) -> None:
        """User-space instructions of the client per unit, in the same way."""
        if not self._valgrind:
            return
        totals: list[tuple[float, int]] = []
        try:
            for seconds in self._count_seconds:
                totals.append(self._callgrind_once(tool, replace(case, seconds=seconds)))
            (units, instructions) = (b - a for a, b in zip(*totals, strict=True))
            figures.instructions.append(per_unit(instructions, units, case))
        except (BenchError, OSError) as error:
            figures.errors.append(f"callgrind: {error}")

    def _strace_once(self, tool: Tool, case: Case) -> tuple[float, int, int]:
        with tempfile.TemporaryDirectory(prefix="netmodel-bench-") as workdir:
            files = [Path(workdir) / f"strace-{end}" for end in ("client", "server")]
            watch = [(str(self._strace), "-f", "-c", "-o", str(file)) for file in files]
            outcome, _ = self._execute(
                tool, case, self._place(case, workdir), Prefix(*watch), _WATCHED_SLACK_S
            )
            client, server = (sum(strace_calls(file.read_text()).values()) if file.exists() else 0 for file in files)
        return outcome.count, client, server

    def _callgrind_once(self, tool: Tool, case: Case) -> tuple[float, int]:
        with tempfile.TemporaryDirectory(prefix="netmodel-bench-") as workdir:
            watch = (
                str(self._valgrind),
                "--tool=callgrind",
                f"--callgrind-out-file={workdir}/cg.%p",
            )
            outcome, _ = self._execute(
                tool,
                case,
                self._place(case, workdir),
                Prefix(client=watch),
                _WATCHED_SLACK_S,
            )
            total = sum(callgrind_total(f.read_text()) for f in Path(workdir).glob("cg.*"))
        return outcome.count, total

    def _place(self, case: Case, workdir: str) -> Place:
        """An end with one thread has a CPU of its own, unless the case says otherwise; those with more share both."""
        client, server = [(cpu,) for cpu in self._cpus] if self._cpus else ((), ())
        if case.threads > 1:
            client = server = client + server
        elif case.ends is Ends.TOGETHER:
            server = client
        return Place(client, server, workdir, self._server)

    def _execute(
        self,
        tool: Tool,
        case: Case,
        place: Place,
        prefix: Prefix = Prefix(),
        slack_s: float = _START_SLACK_S,
    ) -> tuple[Outcome, float]:
        """The outcome of a run and the CPU seconds of both ends."""
        commands = tool.run(case, place)
        pin = not commands.pins_itself
        with ExitStack() as stack:
            server = None
            if case.ends is Ends.AWAKE:
                stack.enter_context(kept_awake())
            if commands.server is not None:
                argv = [*self._pinned(pin, place.server_cpus), *prefix.server, *commands.server]
                server = stack.enter_context(Child(argv, place.workdir))
                wait_listening(commands.listens_on, server.alive)
            argv = [*self._pinned(pin, place.client_cpus), *prefix.client, *commands.client]
            client = stack.enter_context(Child(argv, place.workdir, commands.env))
            if not client.wait(case.seconds + slack_s):
                raise BenchError(f"no end after {case.seconds + slack_s:g} s")
            check(client, "client")
            cpu_s = client.cpu_s
            if server is not None:
                if not commands.server_ends or not server.wait(5.0):
                    server.settle()
                server.end()
                cpu_s += server.cpu_s
            outcome = tool.parse(case, client.output(), server.output() if server else "")
        if outcome.count <= 0 or outcome.rate <= 0:
            raise BenchError("nothing was transferred")
        return outcome, cpu_s

    def _pinned(self, wanted: bool, cpus: tuple[int, ...]) -> list[str]:
        if not wanted or not cpus or not self._taskset:
            return []
        return [self._taskset, "-c", cpu_list(cpus)]


def per_unit(total: float, counted: float, case: Case) -> float:
    """Cost of a unit from the differences of two runs."""
    if counted <= 0 or total < 0:
        raise BenchError("the longer run did not do more than the shorter one")
    return total / counted * case.unit_size


def strace_calls(table: str) -> dict[str, int]:
    """Calls by name in the table that strace -c writes."""
    calls: dict[str, int] = {}
    for line in table.splitlines():
        words = line.split()
        if len(words) >= 5 and words[-1] != "total" and words[3].isdigit():
            calls[words[-1]] = calls.get(words[-1], 0) + int(words[3])
    if not calls:
        raise BenchError("strace wrote no table")
    return calls


def callgrind_total(profile: str) -> int:
    """Instructions in a callgrind output file: its totals line, or else its summary line."""
    for key in ("totals", "summary"):
        found = re.search(rf"^{key}:\s*(\d+)", profile, re.MULTILINE)
        if found:
            return int(found[1])
    raise BenchError("callgrind wrote no total")
