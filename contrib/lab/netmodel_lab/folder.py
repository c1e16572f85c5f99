# SPDX-License-Identifier: Apache-2.0
"""A study on disk: its manifest, its lock, its journal, and a folder for each attempt. What is there has been written
whole: under another name first, then synced, then renamed."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from netmodel_lab.columns import figures, lacks_costs, texts
from netmodel_lab.plan import Point
from netmodel_lab.problems import EnvironmentProblem, UsageProblem
from netmodel_lab.study import Study

Json = dict[str, Any]

MANIFEST, LOCK, JOURNAL, RUNS = "manifest.json", "lock", "journal.jsonl", "runs"
RESULT, STDERR, COMMAND = "result.json", "stderr.txt", "command.json"
_HALF = ".tmp-"
_SOCKET = ".ssh-"  # of a connection, whose process was killed
_ATTEMPT = re.compile(r"(\d{6,})-a(\d+)")
_LOCK_WAIT_S = 0.5  # one who asks whether a study is being run holds its lock for a moment


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Epoch(BaseModel):
    """What the points were measured with, from one time on."""

    model_config = ConfigDict(extra="allow")

    start: str
    facts: dict[str, str | int | None]
    hosts: dict[str, Any] = {}  # what each said about itself


class Manifest(BaseModel):
    """The study as it was resolved, and its plan."""

    model_config = ConfigDict(populate_by_name=True)

    schema_: Literal["netmodel-lab.study/1"] = Field("netmodel-lab.study/1", alias="schema")
    created: str
    command: list[str]
    text: str | None = None
    study: Study
    kinds: dict[str, str]
    versions: dict[str, str]
    epochs: list[Epoch]
    plan: list[Point]

    @property
    def identity(self) -> str:
        """Which study it is, wherever it is kept."""
        return f"{self.created} {self.study.model_dump_json()}"


@dataclass(frozen=True)
class Attempt:
    """One run of a point that came to an end, good or not, and what a row takes of its document. Documents are large,
    and studies have many: they are read again where more of one is wanted."""

    path: Path
    seq: int
    number: int
    command: Json
    why: str | None
    run: Json
    requirements: list[Json]
    figures: dict[str, float | str | None]
    lacks_costs: bool

    @property
    def result(self) -> Json | None:
        return _read_json(self.path / RESULT)

    @property
    def is_good(self) -> bool:
        return self.why is None


def sync_folder(path: Path) -> None:
    """What was renamed or made in it stays so."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_whole(path: Path, text: str) -> None:
    """The file has its old text or the new one, whatever happens meanwhile."""
    half = path.with_name(f"{_HALF}{path.name}~")  # not under its suffix, by which others find files
    try:
        with half.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        half.rename(path)
    except OSError as error:  # writing does not name the file
        raise OSError(error.errno, error.strerror, str(path)) from None
    sync_folder(path.parent)


class Folder:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.runs = path / RUNS

    # --- made and opened ---

    @classmethod
    def create(cls, path: Path) -> Folder:
        """A folder for a new study. One that is there already has to be empty, or to hold nothing but our own begin."""
        folder = cls(path)
        with contextlib.suppress(FileNotFoundError):
            if (path / MANIFEST).exists():
                raise UsageProblem([f"{path}: is a study already; netmodel-lab resume {path} goes on with it"])
            own = (LOCK, RUNS, f"{_HALF}{MANIFEST}~")
            names = sorted(entry.name for entry in path.iterdir())
            foreign = [name for name in names if name not in own and not name.startswith(_SOCKET)]
            if foreign:
                raise UsageProblem([f"{path}: is not empty ({foreign[0]}); -o names a new folder"])
        try:
            folder.runs.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageProblem([f"{path}: cannot be made: {error.strerror}"]) from None
        return folder

    @classmethod
    def open(cls, path: Path) -> Folder:
        if not (path / MANIFEST).is_file():
            raise UsageProblem([f"{path}: is no study: there is no {MANIFEST} in it"])
        return cls(path)

    def manifest(self) -> Manifest:
        try:
            return Manifest.model_validate_json((self.path / MANIFEST).read_bytes())
        except (OSError, ValidationError) as error:
            raise UsageProblem([f"{self.path / MANIFEST}: cannot be read: {error}"]) from None

    def write_manifest(self, manifest: Manifest) -> None:
        write_whole(self.path / MANIFEST, manifest.model_dump_json(indent=1, by_alias=True))

    # --- who runs it ---

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Only one process runs a study. The lock is that of the kernel, and ends with the process that holds it."""
        with (self.path / LOCK).open("a+", encoding="utf-8") as file:
            deadline = time.monotonic() + _LOCK_WAIT_S
            while not _take(file.fileno(), fcntl.LOCK_EX):
                if time.monotonic() > deadline:
                    raise UsageProblem([f"{self.path}: is being run by {self._holder()}"])
                time.sleep(0.02)
            file.seek(0)
            file.truncate()
            print(os.getpid(), now(), file=file, flush=True)
            yield

    def _holder(self) -> str:
        pid, _, since = (self.path / LOCK).read_text().strip().partition(" ")
        return f"pid {pid} since {since}"

    def holder(self) -> str | None:
        """Who runs the study now."""
        with contextlib.suppress(FileNotFoundError), (self.path / LOCK).open(encoding="utf-8") as file:
            return None if _take(file.fileno(), fcntl.LOCK_SH) else self._holder()
        return None

    def log(self, event: str, **what: object) -> None:
        """A line of the journal. It is there when this returns."""
        line = json.dumps({"time": now(), "event": event, **what}, ensure_ascii=False) + "\n"
        with (self.path / JOURNAL).open("ab+") as file:
            # A line that was cut off ends here.
            size = file.seek(0, os.SEEK_END)
            if size and (file.seek(size - 1), file.read(1))[1] != b"\n":
                line = "\n" + line
            file.write(line.encode())
            file.flush()
            os.fsync(file.fileno())

    # --- attempts ---

    def remove_halves(self) -> int:
        """What an earlier process was writing when it ended. Only who holds the lock may ask for it."""
        halves = [path for path in self.runs.iterdir() if path.name.startswith(_HALF) and path.is_dir()]
        for path in halves:
            shutil.rmtree(path)
        return len(halves)

    def begin(self, seq: int, number: int) -> Path:
        path = self.runs / f"{_HALF}{seq:06d}-a{number}"
        path.mkdir()
        return path

    def finish(self, half: Path, command: Json) -> Path:
        """Makes an attempt of what begin() has begun: from here on it counts."""
        (half / COMMAND).write_text(json.dumps(command, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        for entry in half.iterdir():
            with entry.open("rb") as file:
                os.fsync(file.fileno())
        sync_folder(half)
        path = half.with_name(half.name.removeprefix(_HALF))
        half.rename(path)
        sync_folder(self.runs)
        return path

    def attempts(self) -> dict[int, list[Attempt]]:
        """All attempts by the place of their point in the order, the oldest first. Foreign entries are left out."""
        found: dict[int, list[Attempt]] = {}
        points = {point.seq: point.point for point in self.manifest().plan}
        for path in self.runs.iterdir():
            name = _ATTEMPT.fullmatch(path.name)
            if name and int(name[1]) in points:
                seq, number = int(name[1]), int(name[2])
                found.setdefault(seq, []).append(read_attempt(path, seq, number, points[seq]))
        for attempts in found.values():
            attempts.sort(key=lambda attempt: attempt.number)
        return found


def _take(descriptor: int, kind: int) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        raise EnvironmentProblem([f"the lock of the study: {error.strerror}"]) from None
    return True


def _read_json(path: Path) -> Json | None:
    try:
        document = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    return document if isinstance(document, dict) else None


def read_attempt(path: Path, seq: int, number: int, point: str) -> Attempt:
    """What an attempt has left, and what is wrong with it."""
    command, result = _read_json(path / COMMAND), _read_json(path / RESULT)
    if command is None:
        why: str | None = f"{COMMAND} cannot be read"
    elif command.get("point") != point:
        why = "is of another study"
    else:
        why = command.get("why") or judge(result)
    run = (result or {}).get("run")
    return Attempt(
        path,
        seq,
        number,
        {name: value for name, value in (command or {}).items() if name != "params"},
        why,
        _of_run(result, run) if result and isinstance(run, dict) else {},
        [one for one in (result or {}).get("requirements") or [] if isinstance(one, dict)],
        {**dict(figures(result)), **dict(texts(result))} if result and why is None else {},
        bool(result and why is None and lacks_costs(result)),
    )


def _of_run(result: Json, run: Json) -> Json:
    profile = result.get("profile")
    params = profile.get("params") if isinstance(profile, dict) else None
    return {**{name: run.get(name) for name in ("id", "start")}, "pipeline": (params or {}).get("pipeline")}


def judge(result: Json | None) -> str | None:
    """Why a result document does not count; None: it does."""
    if result is None:
        return "the result cannot be read"
    run = result.get("run")
    if not isinstance(run, dict) or not isinstance(result.get("totals"), dict):
        return "the result is none of netmodel"
    if not run.get("complete"):
        return str(run.get("incomplete_why") or "the run is not complete")
    return None
