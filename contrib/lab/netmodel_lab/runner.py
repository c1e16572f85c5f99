# SPDX-License-Identifier: Apache-2.0
"""Runs what is missing of a plan, one point after the other."""

from __future__ import annotations

import json
import shutil
import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from netmodel_lab.bench import Bench, Ended
from netmodel_lab.checks import not_held
from netmodel_lab.folder import RESULT, STDERR, Attempt, Folder, Json, Manifest, judge, now
from netmodel_lab.plan import Point, measured_s, start_s
from netmodel_lab.program import Program

TRIES = 2  # of a point, before it counts as failed
UNMET = 4  # the exit code of netmodel when a requirement is not met, which is a finding and no failure
LIMIT_S = 60.0  # that a run may take beyond what it measures


@dataclass
class Estimate:
    """How long what is left will take: what each point measures, and what a run took beyond that so far."""

    left_s: float
    left: int
    start_s: float
    beyond: list[float] = field(default_factory=list)

    def done(self, measured: float, took: float | None) -> None:
        """A point is over; took: how long its run lasted, if there was one."""
        self.left -= 1
        self.left_s -= measured
        if took is not None:
            self.beyond.append(max(took - measured, 0.0))

    def seconds(self) -> float:
        each = statistics.median(self.beyond) if self.beyond else self.start_s
        return max(self.left_s, 0.0) + self.left * each


class Watcher(Protocol):
    """Who is told how it goes."""

    def begin(self, point: Point, estimate: Estimate) -> None: ...
    def tick(self, gone_s: float) -> None: ...
    def end(self, point: Point, result: Json | None, why: str | None) -> None: ...


@dataclass(frozen=True)
class Tally:
    """What has come of the plan."""

    points: int
    good: int
    failed: int

    @property
    def left(self) -> int:
        return self.points - self.good - self.failed


def tally(plan: list[Point], attempts: dict[int, list[Attempt]]) -> Tally:
    good = failed = 0
    for point in plan:
        tried = attempts.get(point.seq, [])
        if any(attempt.is_good for attempt in tried):
            good += 1
        elif len(tried) >= TRIES:
            failed += 1
    return Tally(len(plan), good, failed)


def seconds_left(plan: list[Point], attempts: dict[int, list[Attempt]]) -> float | None:
    """How long what is left will take, by how long runs of the same cell took, or else of others; None: none has run
    yet."""
    took: dict[str, list[float]] = {}
    left = []
    for point in plan:
        tried = attempts.get(point.seq, [])
        took.setdefault(point.cell, []).extend(each.command["seconds"] for each in tried if each.is_good)
        if len(tried) < TRIES and not any(attempt.is_good for attempt in tried):
            left.append(point.cell)
    every = [seconds for known in took.values() for seconds in known]
    if not every:
        return None
    return sum(statistics.median(took[cell] or every) for cell in left)


class Runner:
    """Runs the points of a folder whose lock the caller holds."""

    def __init__(self, folder: Folder, manifest: Manifest, program: Program, bench: Bench, watcher: Watcher) -> None:
        self._folder = folder
        self._study = manifest.study
        self._plan = manifest.plan
        self._program = program
        self._bench = bench
        self._watcher = watcher
        self._epoch = len(manifest.epochs)

    def run(self, *, retry_failed: bool = False) -> Tally:
        """Does what is missing: points without a good attempt that have tries left, or one more with retry_failed."""
        halves = self._folder.remove_halves()
        attempts = self._folder.attempts()
        missing = list(self._missing(attempts, retry_failed))
        estimate = Estimate(sum(self._measured(point) for point, _, _ in missing), len(missing), start_s(self._study))
        self._folder.log("start", missing=len(missing), halves_removed=halves, epoch=self._epoch)
        began = time.monotonic()
        total = self._study.limits.total_s
        for point, number, tries in missing:
            if total is not None and time.monotonic() - began > total:
                self._folder.log("limit", total_s=total)
                break
            self._point(point, number, tries, estimate)
        counts = tally(self._plan, self._folder.attempts())
        self._folder.log("stop", good=counts.good, failed=counts.failed, left=counts.left)
        return counts

    def _missing(self, attempts: dict[int, list[Attempt]], retry_failed: bool) -> Iterator[tuple[Point, int, int]]:
        """Points to run, the number of the next attempt, and how many tries there are."""
        for point in self._plan:
            tried = attempts.get(point.seq, [])
            tries = max(TRIES - len(tried), 1 if retry_failed else 0)
            if tries and not any(attempt.is_good for attempt in tried):
                yield point, (tried[-1].number if tried else 0) + 1, tries

    def _measured(self, point: Point) -> float:
        return measured_s(point, self._study, self._program.parameters(point.profile))

    def _point(self, point: Point, number: int, tries: int, estimate: Estimate) -> None:
        for last in range(number, number + tries):
            self._watcher.begin(point, estimate)
            seconds, result, why = self._attempt(point, last)
            self._watcher.end(point, result, why)
            if why is None or last == number + tries - 1:
                estimate.done(self._measured(point), seconds if why is None else None)
                return

    def _attempt(self, point: Point, number: int) -> tuple[float, Json | None, str | None]:
        while True:
            half = self._folder.begin(point.seq, number)
            self._folder.log("begin", point=point.point, seq=point.seq, attempt=number)
            started = now()
            try:
                ended = self._run(point, half)
            except BaseException:
                shutil.rmtree(half)
                self._folder.log("interrupted", point=point.point, seq=point.seq, attempt=number)
                raise
            if not ended.lost:
                break
            # No fault of the point's: it is as if it had not begun.
            shutil.rmtree(half)
            self._folder.log("lost", point=point.point, seq=point.seq, attempt=number, why=ended.lost)
            self._bench.revive(ended.lost)
        limit = self._limit(point)
        result, why = _outcome(half, ended, limit)
        why = why or _not_held(result, self._study.hold)
        command: Json = {
            "point": point.point,
            "cell": point.cell,
            "seq": point.seq,
            "block": point.block,
            "attempt": number,
            "epoch": self._epoch,
            "profile": point.profile,
            "params": point.params,
            "argv": ended.argv,
            "place": point.place,
            "swapped": point.is_swapped,
            "started": started,
            "seconds": round(ended.seconds, 6),
            "exit_code": ended.code,
            "why": why,
        }
        self._folder.finish(half, command)
        self._folder.log(
            "failed" if why else "end",
            point=point.point,
            seq=point.seq,
            attempt=number,
            **({"why": why} if why else {}),
        )
        return ended.seconds, result, why

    def _limit(self, point: Point) -> float:
        return (self._study.limits.run_s or LIMIT_S) + self._measured(point)

    def _run(self, point: Point, half: Path) -> Ended:
        study = self._study
        options = ["--warmup", study.warmup] if study.warmup else []
        options += ["--interval", study.interval] if study.interval else []
        options += [word for text in study.require for word in ("--require", text)]
        options += ["--yes-destroy"] if study.yes_destroy else []
        self._settle(study.limits.settle_s)
        return self._bench.run(point, options, half / RESULT, half / STDERR, self._limit(point), self._watcher.tick)

    def _settle(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            time.sleep(min(left, 0.25))
            self._watcher.tick(0.0)


def _outcome(half: Path, ended: Ended, limit_s: float) -> tuple[Json | None, str | None]:
    """The result document, and why the attempt does not count."""
    try:
        result = json.loads((half / RESULT).read_bytes())
    except ValueError:
        result = None
    if ended.is_late:
        return result, f"took longer than {limit_s:.0f} s and was ended"
    if ended.code in (0, UNMET):
        return result, judge(result)
    said = [line for line in (half / STDERR).read_text(errors="replace").splitlines() if line.strip()]
    incomplete = result["run"].get("incomplete_why") if result else None
    return result, incomplete or (said[-1].removeprefix("netmodel: ") if said else f"exit code {ended.code}")


def _not_held(result: Json | None, hold: dict[str, str]) -> str | None:
    """A fact of a host that is not what the study holds it to be."""
    for host in (result or {}).get("hosts") or []:
        for text in not_held(host.get("facts") or {}, hold):
            return f"{host.get('role')} {host.get('name')}: {text}"
    return None
