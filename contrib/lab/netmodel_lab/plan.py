# SPDX-License-Identifier: Apache-2.0
"""From a study to its points, in the order in which they are run. The plan is made once and never shuffled again."""

from __future__ import annotations

import hashlib
import itertools
import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from netmodel_lab.program import Parameter
from netmodel_lab.study import Strict, Study, Wanted, resolve
from netmodel_lab.values import number

START_S = 1.5  # of a run that measures nothing, until one has told
START_FAR_S = 3.0  # of one between two hosts
DEFAULT_LENGTH_S = 10.0

Known = Callable[[str], Mapping[str, Parameter]]  # the parameters of a profile


class Point(Strict):
    """One run of the plan."""

    seq: int
    point: str
    cell: str
    block: int
    profile: str
    params: dict[str, str]
    dimensions: dict[str, str]
    place: str | None = None
    is_swapped: bool = False
    program: str | None = None

    def title(self) -> str:
        words = [f"{name}={value}" for name, value in self.dimensions.items() if name != "profile"]
        return " ".join([self.profile, *words])


@dataclass(frozen=True)
class CellPlan:
    """The values of a cell, as they are told, and what they stand for."""

    dimensions: dict[str, str]
    wanted: Wanted


def digest(**what: object) -> str:
    """A name for what is to be measured: the same wherever and whenever it is made."""
    text = json.dumps(what, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def make_plan(study: Study) -> list[Point]:
    """All points of the study, in their order."""
    all_cells = list(cells(study))
    blocks = [[(block, cell) for cell in all_cells] for block in range(1, study.repeat + 1)]
    shuffler = random.Random(study.order.seed)
    if study.order.kind == "given":
        ordered = [(block, cell) for cell in all_cells for block in range(1, study.repeat + 1)]
    else:
        if study.order.kind == "blocks":
            for block in blocks:
                shuffler.shuffle(block)
        ordered = list(itertools.chain.from_iterable(blocks))
        if study.order.kind == "random":
            shuffler.shuffle(ordered)
    return [_point(study, seq, block, cell) for seq, (block, cell) in enumerate(ordered, 1)]


def cells(study: Study) -> Iterator[CellPlan]:
    """The cells in nested order."""
    ranges = [range(len(dimension.values)) for dimension in study.dimensions]
    for combination in itertools.product(*ranges):
        chosen = list(zip(study.dimensions, combination, strict=True))
        told = {
            name: value
            for dimension, i in chosen
            for name, value in zip(dimension.names, dimension.values[i], strict=True)
        }
        sets = {name: value for dimension, i in chosen for name, value in dimension.setting(i).items()}
        yield CellPlan(told, resolve(study, sets))


def _point(study: Study, seq: int, block: int, cell: CellPlan) -> Point:
    wanted = cell.wanted
    what: dict[str, object] = {
        "profile": wanted.profile,
        "params": wanted.params,
        "settings": {},
        "place": wanted.place,
        "warmup": study.warmup,
    }
    if study.hosts:
        what["hosts"] = study.hosts.model_dump()
    if wanted.is_swapped:
        what["roles"] = "swapped"
    if wanted.program:
        what["program"] = wanted.program
    return Point(
        seq=seq,
        point=digest(**what, block=block),
        cell=digest(**what),
        block=block,
        dimensions=cell.dimensions,
        profile=wanted.profile,
        params=wanted.params,
        place=wanted.place,
        is_swapped=wanted.is_swapped,
        program=wanted.program,
    )


def measured_s(point: Point, study: Study, known: Mapping[str, Parameter]) -> float:
    """How long the traffic of a point lasts, by its test_length; 10 s where the profile does not say."""
    declared = known.get("test_length")
    text = point.params.get("test_length", declared.value if declared else "")
    length = number(text, "duration")
    warmup = number(study.warmup, "duration") if study.warmup else 0.0
    return (DEFAULT_LENGTH_S if length is None else length) + (warmup or 0.0) + study.limits.settle_s


def changes(study: Study, points: Sequence[Point]) -> list[list[str]]:
    """Of each point, what is set otherwise than for the one before it: of the first, than a host is by itself."""
    before: tuple[str | None, bool, str | None] = (None, False, None)
    found = []
    for point in points:
        now = (point.place, point.is_swapped, point.program)
        told = (f"place {point.place or 'none'}", _roles(study, point.is_swapped), f"program {point.program or 'own'}")
        found.append([text for text, old, new in zip(told, before, now, strict=True) if old != new])
        before = now
    return found


def _roles(study: Study, is_swapped: bool) -> str:
    if not study.hosts:
        return ""
    ends = [study.hosts.master.text, study.hosts.slave.text]
    master, slave = reversed(ends) if is_swapped else ends
    return f"master {master}, slave {slave}"


def start_s(study: Study) -> float:
    return START_FAR_S if study.hosts else START_S
