# SPDX-License-Identifier: Apache-2.0
"""Where the points of a study are measured: one host with both ends, or two hosts, a master and a slave. What the
runner knows is that a point can be run."""

from __future__ import annotations

import contextlib
import os
import platform
import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from netmodel_lab.guarded import Guarded
from netmodel_lab.histogram import LOG
from netmodel_lab.machine import Machine, strip_banner
from netmodel_lab.plan import Point
from netmodel_lab.problems import EnvironmentProblem
from netmodel_lab.program import Program, command
from netmodel_lab.spec import ROLES, HostSpec, Role, place_of
from netmodel_lab.study import Study

Facts = dict[str, str | int | None]
Tick = Callable[[float], None]

DEFAULT_PORT = 20000
_LONGEST_OWNER = 127  # bytes that a guard keeps of who owns a name
_READY_S = 30.0  # that a slave has to listen in
_MAX_LOSSES = 2  # of slaves that do not come to listen, one after the other
_AGAIN_S = 30.0  # that each host which was lost is tried again
_LEAST_PAUSE_S = 1.0  # before it is; the next ones are longer


@dataclass(frozen=True)
class Ended:
    """How a run ended; it was stopped when it took longer than it may. lost: a host could not be reached meanwhile."""

    argv: list[str]
    code: int
    seconds: float
    is_late: bool
    lost: str | None = None


@dataclass
class _Pair:
    """The machines of one program, by what the study calls them."""

    machines: dict[Role, Machine] = field(default_factory=dict)


class Bench:
    """The hosts of a study. folder: where it is run; None: nothing is."""

    def __init__(self, study: Study, program: Program, folder: Path | None) -> None:
        self._study, self._program, self._folder = study, program, folder
        self._pairs: dict[str, _Pair] = {}
        self._key = secrets.token_hex(32)
        # What tells it from others comes first: a guard keeps no more than so much.
        who = f"pid {os.getpid()} on {platform.node()[:40]} since {time.strftime('%H:%M:%S')}, the study {study.name}"
        self._owner = who.encode()[:_LONGEST_OWNER].decode(errors="ignore")
        self._losses = 0  # since a run came to its end

    # --- opened and closed ---

    def open(self) -> None:
        self._pair(None)

    def close(self) -> None:
        for pair in self._pairs.values():
            for machine in pair.machines.values():
                machine.close()
        self._pairs = {}

    def _pair(self, path: str | None) -> _Pair:
        """The machines with that program (None: the study's), opened."""
        name = path or ""
        if name not in self._pairs:
            program = Program.find(path) if path else self._program
            pair = self._pairs[name] = _Pair()
            hosts = self._study.hosts
            for role in ROLES:
                spec = getattr(hosts, role) if hosts else HostSpec()
                if hosts or role == "master":
                    pair.machines[role] = Machine(spec, role, program, self._folder)
            try:
                for machine in pair.machines.values():
                    machine.open()
                for role in pair.machines:
                    self._claim(pair, role)
            except BaseException:
                for machine in pair.machines.values():
                    machine.close()
                del self._pairs[name]
                raise
        return self._pairs[name]

    def _claim(self, pair: _Pair, role: Role) -> None:
        other = next((machine for each, machine in pair.machines.items() if each != role), None)
        peer = None
        if other:
            with contextlib.suppress(EnvironmentProblem):  # an address that nobody needs yet, or who does tells it
                peer = other.address()
        pair.machines[role].claim(self._owner, peer)

    def facts(self) -> Facts:
        """What must be the same for two runs to be compared without a word. Of an opened bench."""
        machines = self._pair(None).machines
        common: Facts = {
            "program": str(self._program.path),
            "netmodel": self._program.version,
            "netmodel_sha256": self._program.sha256,
        }
        if not self._study.hosts:
            return {**machines["master"].facts(), **common}
        found: Facts = {"host": platform.node(), **common}
        for role, machine in machines.items():
            found |= {f"{role}.{name}": value for name, value in machine.facts().items()}
        return found

    def probes(self) -> dict[str, dict[str, object]]:
        """All that is known of each host, for the folder of the study."""
        return {role: machine.probed for role, machine in self._pair(None).machines.items()}

    def revive(self, why: str) -> None:
        """Connects again to what was lost. Raises EnvironmentProblem when that cannot be."""
        lost = [
            (pair, role)
            for pair in self._pairs.values()
            for role, machine in pair.machines.items()
            if not machine.is_alive()
        ]
        self._losses += 1
        if not lost and self._losses > _MAX_LOSSES:
            raise EnvironmentProblem([why])
        for pair, role in lost:
            self._reopen(pair, role)

    def _reopen(self, pair: _Pair, role: Role) -> None:
        """Tries it for its own time, however long another host has taken. Raises EnvironmentProblem."""
        machine, pause = pair.machines[role], _LEAST_PAUSE_S
        deadline = time.monotonic() + _AGAIN_S
        while True:
            machine.close()  # what the try before has opened, too
            time.sleep(pause)
            try:
                machine.open()
                self._claim(pair, role)
                return
            except EnvironmentProblem:
                pause = min(2 * pause, deadline - time.monotonic())
                if pause <= 0:
                    raise

    # --- a run ---

    def run(
        self, point: Point, options: Sequence[str], out: Path, err: Path, limit_s: float | None, tick: Tick
    ) -> Ended:
        """Runs a point to its end, its output in two files; calls tick with the seconds gone, some times a second.
        Nothing of it is left when this returns or raises."""
        pair = self._pair(point.program)
        roles: tuple[Role, Role] = ("slave", "master") if point.is_swapped else ("master", "slave")
        master = pair.machines[roles[0]]
        words = [*options, *self._place(point, pair, roles)]
        if not self._study.hosts:
            return self._run_alone(point, words, master, (out, err), limit_s, tick)
        slave = pair.machines[roles[1]]
        began = time.monotonic()
        with contextlib.ExitStack() as stack:
            if slave.spec.kind == "at":
                port, key = slave.spec.port or DEFAULT_PORT, slave.key()
            else:
                there = slave.start(
                    ["-s", "-P", "0", "-q", "--once"],
                    [f"key {self._key}", "start"],
                    err=err.with_name("stderr-slave.txt"),
                )
                stack.callback(there.end)
                ready = there.notice("ready", _READY_S)
                if not ready:
                    why = there.lines[-1] if there.lines else "the slave does not come to listen"
                    return Ended([], 3, time.monotonic() - began, False, f"{slave.title}: {why}")
                port, key = int(ready["port"]), self._key
            param = self._study.hosts.slave.param
            words = ["-P", str(port), *words]
            params = {**point.params, param: slave.address()}
            argv = command(master.path, master.profile(point.profile), params, words)
            orders = [f"key {key}", "start"] if key else ["start"]
            ended = self._watch(master, argv, orders, (out, err), limit_s, tick)
        self._losses = 0
        lost = next((m.title for m in (master, slave) if not m.is_alive()), None)
        if lost:
            return Ended(argv, ended.code, ended.seconds, ended.is_late, f"{lost}: the connection was lost")
        return ended

    def _run_alone(
        self,
        point: Point,
        words: Sequence[str],
        master: Machine,
        files: tuple[Path, Path],
        limit_s: float | None,
        tick: Tick,
    ) -> Ended:
        argv = command(master.path, point.profile, point.params, words)
        return self._watch(master, argv, ["start"], files, limit_s, tick)

    def _watch(
        self,
        machine: Machine,
        argv: list[str],
        orders: Sequence[str],
        files: tuple[Path, Path],
        limit_s: float | None,
        tick: Tick,
    ) -> Ended:
        began = time.monotonic()
        log = files[0].with_name(LOG).absolute()
        words = [*argv[1:], "--hdr-log", machine.file(LOG) or str(log)]
        running: Guarded = machine.start(words, orders, out=files[0], err=files[1])
        code, is_late = running.wait(tick, limit_s)
        if machine.spec.kind == "ssh":
            strip_banner(files[0])
            with contextlib.suppress(EnvironmentProblem):
                log.write_text(machine.take_file(LOG), encoding="utf-8")
        return Ended(argv, code, time.monotonic() - began, is_late)

    def _place(self, point: Point, pair: _Pair, roles: tuple[Role, Role]) -> list[str]:
        words: list[str] = []
        if not point.place:
            return words
        here, there = pair.machines[roles[0]], pair.machines.get(roles[1], pair.machines["master"])
        for option, machine, role in (("--cpus", here, "master"), ("--slave-cpus", there, "slave")):
            place = place_of(point.place, "master" if role == "master" else "slave")
            cpus = machine.cpus(place)
            words += [option, cpus] if cpus else []
        return words
