# SPDX-License-Identifier: Apache-2.0
"""From words or a file to a study: everything that is wrong is told at once, and nothing is touched."""

from __future__ import annotations

import itertools
import math
import re
import secrets
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from netmodel_lab import studyfile
from netmodel_lab.columns import END, RUN
from netmodel_lab.grammar import parse_dimension
from netmodel_lab.plan import cells
from netmodel_lab.problems import Mistake, UsageProblem, instead, nearest
from netmodel_lab.program import Parameter, Program
from netmodel_lab.spec import HostSpec, parse_host, place_mistake
from netmodel_lab.study import AS_IS, MAX_POINTS, SWAPPED, WORDS, Hosts, Kind, Limits, Order, Study, Varied, Verdict
from netmodel_lab.values import number, percentage

MAX_CHECKED = 500  # values of a dimension, and cells, that netmodel looks at before anything runs
_OF_A_PARAMETER = '<param name="'
_FILES = (".yaml", ".yml")


@dataclass(frozen=True)
class Wishes:
    """What was typed. study: a profile, or a file with a study, of which the rest replaces parts."""

    study: str
    dimensions: Sequence[str] = ()
    settings: Sequence[str] = ()
    repeat: int | None = None
    order: Kind | None = None
    seed: int | None = None
    warmup: str | None = None
    limit_run: str | None = None
    limit_total: str | None = None
    interval: str | None = None
    master: str | None = None
    slave: str | None = None
    place: str | None = None
    require: Sequence[str] = ()
    yes_destroy: bool = False
    has_yes: bool = False
    is_thorough: bool = False  # netmodel looks at each cell, however many there are


@dataclass
class Draft:
    """A study before it is known whether netmodel takes it."""

    name: str
    profile: str
    params: dict[str, str] = field(default_factory=dict)
    dimensions: list[Varied] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    repeat: int = 5
    kind: Kind = "blocks"
    seed: int | None = None
    warmup: str | None = None
    limit_run: str | None = None
    limit_total: str | None = None
    settle: str | None = None
    interval: str | None = None
    hosts: dict[str, HostSpec] = field(default_factory=dict)
    place: str | None = None
    hold: dict[str, str] = field(default_factory=dict)
    require: list[str] = field(default_factory=list)
    verdicts: list[Verdict] = field(default_factory=list)
    text: str | None = None
    places: dict[str, str] = field(default_factory=dict)
    mistakes: list[Mistake] = field(default_factory=list)

    def where(self, name: str) -> str:
        """Where a name stands in the file."""
        return next((place for what, place in self.places.items() if what.startswith(f"{name}=")), name)

    def profiles(self) -> list[str]:
        """All that some cell is measured with."""
        named = [part.setting(i).get("profile") for part in self.dimensions for i in range(len(part.values))]
        found = [name for name in dict.fromkeys(named) if name]
        # Where a dimension always says it, the study's own is none.
        always = any(
            all("profile" in part.setting(i) for i in range(len(part.values)))
            for part in self.dimensions
            if part.values
        )
        return found if always else [self.profile, *(name for name in found if name != self.profile)]


@dataclass(frozen=True)
class Prepared:
    """A study that netmodel takes, the text that it comes from, and what is worth saying about it."""

    study: Study
    text: str | None = None
    notes: tuple[str, ...] = ()


def prepare(wishes: Wishes, program: Program) -> Prepared:
    path = _file(wishes.study)
    draft = _from_file(path) if path else Draft(_plain_name(wishes.study), wishes.study)
    _put_words(draft, wishes)
    mistakes = draft.mistakes
    known = _parameters(program, draft)
    _names(draft, known, mistakes)
    _words(draft, mistakes)
    mistakes += _held(draft, program)
    limits = Limits(
        run_s=_seconds("limit of a run", draft.limit_run, mistakes),
        total_s=_seconds("limit of the study", draft.limit_total, mistakes),
        settle_s=_seconds("limits.settle", draft.settle, mistakes) or 0.0,
    )
    _seconds("warmup", draft.warmup, mistakes)
    _seconds("interval", draft.interval, mistakes)
    points = math.prod(len(part.values) for part in draft.dimensions) * draft.repeat
    if points > MAX_POINTS and not wishes.has_yes:
        mistakes.append(Mistake("", f"{points} points: more than {MAX_POINTS}; --yes runs them all the same"))
    mistakes += _values(program, draft, known)
    if mistakes:
        raise UsageProblem(studyfile.in_order(mistakes))
    study = Study(
        name=draft.name,
        profile=draft.profile,
        params=draft.params,
        dimensions=tuple(draft.dimensions),
        repeat=draft.repeat,
        order=Order(kind=draft.kind, seed=secrets.randbelow(2**32) if draft.seed is None else draft.seed),
        warmup=draft.warmup,
        limits=limits,
        hosts=_hosts(draft),
        place=draft.place,
        hold=draft.hold,
        require=tuple(draft.require),
        verdicts=tuple(draft.verdicts),
        interval=draft.interval,
        yes_destroy=wishes.yes_destroy,
    )
    mistakes += _impossible(program, study, None if wishes.is_thorough else MAX_CHECKED)
    if mistakes:
        raise UsageProblem(mistakes)
    return Prepared(study, draft.text, tuple(draft.notes))


def _parameters(program: Program, draft: Draft) -> dict[str, dict[str, Parameter]]:
    """Of all profiles. What is wrong with these is told beside what is wrong with the rest."""
    known = {}
    for profile in draft.profiles():
        try:
            known[profile] = program.parameters(profile)
        except UsageProblem as problem:
            draft.mistakes += [Mistake("", line) for line in problem.lines]
    if not known:
        raise UsageProblem(studyfile.in_order(draft.mistakes))
    return known


def _hosts(draft: Draft) -> Hosts | None:
    if not draft.hosts:
        return None
    return Hosts(master=draft.hosts.get("master", HostSpec()), slave=draft.hosts.get("slave", HostSpec()))


def ready_made() -> dict[str, Path]:
    """Studies that come with the lab, by name."""
    return {path.stem: path for path in sorted((Path(__file__).parent / "studies").glob("*.yaml"))}


def _file(study: str) -> Path | None:
    """The file of a study, if it is none of a profile."""
    path = Path(study)
    return path if path.suffix in _FILES else None if path.exists() else ready_made().get(study)


def _plain_name(text: str) -> str:
    return re.sub(r"[^\w.-]+", "-", Path(text).stem).strip("-.")[:80] or "study"


def _from_file(path: Path) -> Draft:
    found = studyfile.read(path)
    content = found.content or found.rest
    if not content:
        raise UsageProblem(found.mistakes)

    def beside(profile: str) -> str:
        """A profile that lies beside the study."""
        own = path.parent / profile
        return str(own) if "/" not in profile and own.is_file() else profile

    for i, part in enumerate(found.dimensions):
        sets = [part.setting(n) for n in range(len(part.values))]
        if any("profile" in one for one in sets) and part.sets:
            with_paths = tuple({**one, "profile": beside(one["profile"])} if "profile" in one else one for one in sets)
            found.dimensions[i] = part.model_copy(update={"sets": with_paths})
    return Draft(
        name=content.name or _plain_name(path.name),
        profile=beside(content.profile),
        params=dict(content.params),
        dimensions=found.dimensions,
        repeat=content.repeat or 5,
        kind=content.order.kind,
        seed=content.order.seed,
        warmup=content.warmup,
        limit_run=content.limits.run,
        limit_total=content.limits.total,
        settle=content.limits.settle,
        interval=content.interval,
        hosts=found.hosts,
        place=content.place,
        hold=dict(content.hold),
        require=list(content.require),
        verdicts=list(content.verdicts),
        notes=found.notes,
        text=found.text,
        places=found.places,
        mistakes=found.mistakes,
    )


def _put_words(draft: Draft, wishes: Wishes) -> None:
    """What was typed besides: it adds to a file, or replaces what has the same name there."""
    settings = _settings(wishes.settings, draft.mistakes)
    parsed = [parse_dimension(text, draft.mistakes) for text in wishes.dimensions]
    typed = [Varied(names=part.names, values=part.values) for part in parsed if part]
    draft.notes += [note for part in parsed if part for note in part.notes]
    new = {name for part in typed for name in part.names} | settings.keys()
    draft.dimensions = [part for part in draft.dimensions if not new & set(part.names)] + typed
    draft.params = {name: value for name, value in draft.params.items() if name not in new} | settings
    draft.repeat = wishes.repeat or draft.repeat
    draft.kind = wishes.order or draft.kind
    draft.seed = draft.seed if wishes.seed is None else wishes.seed
    draft.warmup = wishes.warmup or draft.warmup
    draft.limit_run = wishes.limit_run or draft.limit_run
    draft.limit_total = wishes.limit_total or draft.limit_total
    draft.interval = wishes.interval or draft.interval
    draft.place = wishes.place or draft.place
    draft.require += wishes.require
    for role, text in (("master", wishes.master), ("slave", wishes.slave)):
        try:
            draft.hosts |= {role: parse_host(text)} if text else {}
        except ValueError as error:
            draft.mistakes.append(Mistake("--host" if role == "master" else "--peer", str(error)))


def _settings(texts: Sequence[str], mistakes: list[Mistake]) -> dict[str, str]:
    params: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            mistakes.append(Mistake(f"--set {text}", "must be NAME=VALUE"))
        elif name in params:
            mistakes.append(Mistake(f"--set {text}", f"{name} is set twice"))
        else:
            params[name] = value
    return params


def _names(draft: Draft, known: Mapping[str, Mapping[str, Parameter]], mistakes: list[Mistake]) -> None:
    """Each name is a word of the lab or a parameter of each profile that it is used with, and is given once."""
    seen = dict.fromkeys(draft.params, "for all points")
    everywhere = set.intersection(*(set(parameters) for parameters in known.values()))
    for dimension in draft.dimensions:
        for name in dict.fromkeys([*dimension.names, *dimension.set_names()]):
            if name in seen:
                mistakes.append(Mistake(name, f"is given twice: also {seen[name]}"))
            seen[name] = "as another dimension"
    own = {name for part in draft.dimensions if part.sets for name in part.names}
    sets = [name for part in draft.dimensions for name in part.set_names()]
    beside = set(sets) - {name for part in draft.dimensions if not part.sets for name in part.names}
    for name in dict.fromkeys([*draft.params, *sets]):
        plain = name.removeprefix("param.")
        if name in WORDS and name in everywhere and name not in own:
            mistakes.append(Mistake(name, f"is a word of the lab and a parameter of the profile: write param.{name}"))
        elif name in WORDS:
            continue
        elif plain not in (everywhere if name not in beside else set().union(*known.values())):
            words = [*everywhere, *WORDS]
            mistakes.append(Mistake(draft.where(name), f"the profile has no such parameter{nearest(name, words)}"))
    slave = draft.hosts.get("slave")
    if draft.hosts and (slave or HostSpec()).param not in everywhere:
        name = (slave or HostSpec()).param
        text = "takes the slave's address, and the profile has no such parameter; hosts.slave.param names it"
        mistakes.append(Mistake(name, text + nearest(name, list(everywhere))))


def _words(draft: Draft, mistakes: list[Mistake]) -> None:
    """What the lab's own words are given."""
    given = [("place", draft.place)] if draft.place else []
    for part in draft.dimensions:
        for i in range(len(part.values)):
            given += [(name, value) for name, value in part.setting(i).items() if name in WORDS]
    for name, value in given:
        if name == "place" and f"place={value}" not in draft.places:
            wrong = place_mistake(value or "")
            if wrong:
                mistakes.append(Mistake(name, wrong))
        elif name == "roles" and value == SWAPPED and draft.hosts.get("slave", HostSpec()).kind == "at":
            mistakes.append(Mistake(name, "cannot be swapped with at:ADDRESS, a slave that listens already"))
        elif name == "roles" and value not in (AS_IS, SWAPPED):
            mistakes.append(
                Mistake(name, f'"{value}": must be {AS_IS} or {SWAPPED}{nearest(value or "", (AS_IS, SWAPPED))}')
            )
        elif name == "roles" and not draft.hosts:
            mistakes.append(Mistake(name, "can be swapped between two hosts only: --peer names the other one"))
        elif name == "netmodel" and not shutil.which(value or ""):
            mistakes.append(Mistake(name, f'"{value}": no such program'))
    if draft.hosts and draft.hosts.get("master", HostSpec()).kind == "at":
        mistakes.append(Mistake("hosts.master", "at:ADDRESS is a slave that listens already; a master is started"))
    mistakes += _verdicts(draft)
    for text in draft.require:
        if not text.strip():
            mistakes.append(Mistake("require", "an empty requirement"))


def _verdicts(draft: Draft) -> list[Mistake]:
    """What is wrong with them before anything is run, as far as that can be known."""
    known = [figure.column.name for figure in RUN] + [figure.column.name for figure in END]
    wrong = []
    for i, verdict in enumerate(draft.verdicts):
        name = verdict.metric.partition(".")[0]
        if name not in known:
            where = draft.where(f"verdicts[{i}].metric")
            wrong.append(Mistake(where, f'"{verdict.metric}": no such figure{nearest(name, known)}'))
        if verdict.min is not None:
            where = draft.where(f"verdicts[{i}].min")
            try:
                percentage(where, verdict.min)
            except UsageProblem as problem:
                wrong += [Mistake("", line) for line in problem.lines]
    return wrong


def _held(draft: Draft, program: Program) -> list[Mistake]:
    """Facts that no host has would fail each run."""
    known = program.facts() if draft.hold else []
    return [
        Mistake(draft.where(f"hold.{name}"), f"no host says that of itself{instead(name, known)}")
        for name in draft.hold
        if name not in known
    ]


def _seconds(what: str, text: str | None, mistakes: list[Mistake]) -> float | None:
    if text is None:
        return None
    value = number(text, "duration")
    if value is None or value < 0:
        mistakes.append(Mistake(what, f'"{text}" is no duration: a number and an optional ns, us, ms, s, min or h'))
    return value


def _values(program: Program, draft: Draft, known: Mapping[str, Mapping[str, Parameter]]) -> list[Mistake]:
    """Values that are none of their parameter's type, each by itself: whether they go together is for cells to say."""
    places = [(name, {name: value}) for name, value in draft.params.items()]
    for part in draft.dimensions:
        for i in range(min(len(part.values), MAX_CHECKED)):
            setting = part.setting(i)
            if part.sets:
                places += [(name, {name: value}) for name, value in setting.items()]
            else:
                places.append((",".join(part.names), setting))
    mistakes: dict[str, Mistake] = {}
    for name, values in places:
        params = {key.removeprefix("param."): value for key, value in values.items() if key not in WORDS}
        profile = next((one for one, has in known.items() if all(part in has for part in params)), None)
        if profile is None or not params:
            continue
        place = f"{name}={':'.join(values.values())}"
        where = f"{draft.places[place]}: {place}" if place in draft.places else place
        said = [text for text in program.check(profile, params) if text.startswith(_OF_A_PARAMETER)]
        for text in said:
            told = Mistake(where, text.removeprefix(_OF_A_PARAMETER).partition(">: ")[2])
            mistakes.setdefault(str(told), told)
    return list(mistakes.values())


def _impossible(program: Program, study: Study, limit: int | None) -> list[Mistake]:
    """Cells whose values do not go together, or with the profile, and requirements on what is not there."""
    mistakes: dict[str, Mistake] = {}
    requirements = [word for text in study.require for word in ("--require", text)]
    for cell in itertools.islice(cells(study), limit):
        wanted = cell.wanted
        place = " ".join(f"{name}={value}" for name, value in cell.dimensions.items()) or wanted.profile
        used = Program.find(wanted.program) if wanted.program else program
        for text in used.check(wanted.profile, wanted.params, requirements):
            where = "require" if text.startswith("--require") else place
            mistakes.setdefault(f"{where if where == 'require' else place}: {text}", Mistake(where, text))
    return list(mistakes.values())
