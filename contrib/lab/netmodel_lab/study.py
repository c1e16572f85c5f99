# SPDX-License-Identifier: Apache-2.0
"""What a study asks for, as data: whether it was typed or comes from a file."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from netmodel_lab.spec import HostSpec

MAX_POINTS = 10_000

Kind = Literal["blocks", "random", "given"]
Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][\w.-]*$", max_length=80)]

# Names of dimensions that are not parameters of a profile. "param.NAME" is always one.
WORDS = ("profile", "place", "roles", "netmodel")
AS_IS, SWAPPED = "as-is", "swapped"
_PARAM = "param."


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Varied(Strict):
    """A dimension: the names that change together, and what they are one after the other. sets: what each value stands
    for, where it is a name for several."""

    names: tuple[str, ...]
    values: tuple[tuple[str, ...], ...]
    sets: tuple[dict[str, str], ...] | None = None

    def setting(self, index: int) -> dict[str, str]:
        return self.sets[index] if self.sets else dict(zip(self.names, self.values[index], strict=True))

    def set_names(self) -> list[str]:
        """All that some value sets."""
        return list(dict.fromkeys(name for i in range(len(self.values)) for name in self.setting(i)))


class Order(Strict):
    """blocks: each repetition has every cell once, shuffled anew. random: all shuffled. given: nested loops."""

    kind: Kind = "blocks"
    seed: int = Field(default=0, ge=0, lt=2**63)


class Limits(Strict):
    """Seconds: of one run beyond what it is to measure, and of the whole study (None: as long as it takes); and a pause
    before each run."""

    run_s: float | None = None
    total_s: float | None = None
    settle_s: float = 0.0


class Hosts(Strict):
    master: HostSpec
    slave: HostSpec


class Verdict(Strict):
    """Each value of a dimension beside one of them."""

    metric: str
    by: str
    baseline: str
    min: str | None = None
    better: Literal["higher", "lower"] | None = None


class Study(Strict):
    name: Name
    profile: str
    params: dict[str, str] = {}
    dimensions: tuple[Varied, ...] = ()
    repeat: int = Field(default=5, ge=1, le=1000)
    order: Order = Order()
    warmup: str | None = None
    limits: Limits = Limits()
    hosts: Hosts | None = None  # None: both ends on this one, in one run
    place: str | None = None
    hold: dict[str, str] = {}
    require: tuple[str, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    interval: str | None = None
    yes_destroy: bool = False  # as netmodel has it; typed, for a file is no word of who runs it

    def cells(self) -> int:
        count = 1
        for dimension in self.dimensions:
            count *= len(dimension.values)
        return count


class Wanted(Strict):
    """What a cell is measured with."""

    profile: str
    params: dict[str, str]
    place: str | None = None
    is_swapped: bool = False
    program: str | None = None  # None: the study's


def resolve(study: Study, sets: dict[str, str]) -> Wanted:
    """The words among what is set, and the parameters."""
    params = {name.removeprefix(_PARAM): value for name, value in {**study.params, **sets}.items() if name not in WORDS}
    return Wanted(
        profile=sets.get("profile", study.profile),
        params=params,
        place=sets.get("place", study.place),
        is_swapped=sets.get("roles") == SWAPPED,
        program=sets.get("netmodel"),
    )
