# SPDX-License-Identifier: Apache-2.0
"""The folder of a run: its settings, each sample as soon as it is there, and what is made of them."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from netmodel_lab import rows as lab_rows
from netmodel_lab.folder import write_whole
from netmodel_lab.k8s import figures
from netmodel_lab.k8s.settings import Point, Settings, as_json, from_json
from netmodel_lab.problems import UsageProblem

Json = dict[str, Any]
_MANIFEST = "k8s.json"


class Store:
    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def create(cls, path: Path, settings: Settings, command: Sequence[str]) -> Store:
        if path.exists() and (not path.is_dir() or any(path.iterdir())):
            raise UsageProblem([f"{path}: is there already, and not an empty folder"])
        (path / "samples").mkdir(parents=True)
        store = cls(path)
        store.write(_MANIFEST, json.dumps({"command": list(command), "settings": as_json(settings)}, indent=1) + "\n")
        return store

    @classmethod
    def open(cls, path: Path) -> tuple[Store, Settings]:
        try:
            document = json.loads((path / _MANIFEST).read_text(encoding="utf-8"))
            return cls(path), from_json(document["settings"])
        except (OSError, ValueError, KeyError, TypeError):
            raise UsageProblem([f"{path}: is no folder of netmodel-lab k8s run"]) from None

    def discard(self) -> None:
        """Removes a folder in which there is no sample."""
        shutil.rmtree(self.path, ignore_errors=True)

    def write(self, name: str, text: str) -> None:
        write_whole(self.path / name, text)

    def _file(self, point: Point) -> Path:
        return self.path / "samples" / f"{point.seq:04d}.json"

    def keep(self, point: Point, pairs: Sequence[Json], why: str | None) -> None:
        """On the disk when this returns."""
        document = {"seq": point.seq, "why": why, "end": int(time.time()), "pairs": list(pairs)}
        write_whole(self._file(point), json.dumps(document) + "\n")

    def sample(self, point: Point) -> Json | None:
        try:
            found: Json = json.loads(self._file(point).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return found

    def is_done(self, point: Point) -> bool:
        found = self.sample(point)
        return found is not None and found["why"] is None

    def end(self, points: Sequence[Point]) -> int:
        """When the last sample has ended."""
        return max((int(found["end"]) for point in points if (found := self.sample(point))), default=int(time.time()))

    def nodes(self, points: Sequence[Point]) -> dict[str, list[tuple[str | None, str | None]]]:
        """Of each place that has a sample: the server's and the client's of each pair."""
        found = {}
        for point in points:
            sample = self.sample(point)
            if sample and sample["pairs"]:
                ends = [pair["k8s"] for pair in sample["pairs"]]
                found[point.place] = [(end["server"].get("node"), end["client"].get("node")) for end in ends]
        return found

    def rows(self, settings: Settings, points: Sequence[Point]) -> list[figures.Row]:
        """Of the points that were tried, in their order."""
        found = []
        for point in points:
            sample = self.sample(point)
            if sample:
                found.append(figures.row(settings, point, sample, sample["why"]))
        self.write("rows.jsonl", lab_rows.as_jsonl(found))
        self.write("rows.csv", lab_rows.as_csv(found))
        return found
