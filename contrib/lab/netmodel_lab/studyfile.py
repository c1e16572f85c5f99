# SPDX-License-Identifier: Apache-2.0
"""Studies in files: YAML 1.2, in which every scalar is the text that stands there, and every mistake has its line and
column."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from netmodel_lab.grammar import GrammarError, expand
from netmodel_lab.problems import Mistake, UsageProblem, nearest
from netmodel_lab.spec import HostSpec, parse_host, place_mistake
from netmodel_lab.study import Kind, Name, Varied, Verdict

Path_ = tuple[str | int, ...]
# What pydantic calls otherwise.
_WORDS = {
    "int_parsing": "a whole number",
    "model_type": "keys and values",
    "dict_type": "keys and values",
    "list_type": "a list",
    "string_type": "a text",
}
# Of pydantic's places, those that are no keys.
_TAGS = ("str", "list[str]", "dict[str,str]", "[key]")
_PLAIN = "tag:yaml.org,2002:"
MAX_BYTES = 1_000_000


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", populate_by_name=True)


class _Range(_Strict):
    first: str = Field(alias="from")
    last: str = Field(alias="to")
    step: str = "1"


class _Geometric(_Strict):
    first: str = Field(alias="from")
    last: str = Field(alias="to")
    factor: str = "2"


class _Dimension(_Strict):
    name: str
    values: list[str] | str | None = None
    range: _Range | None = None
    geometric: _Geometric | None = None
    zip: list[dict[str, str | dict[str, str]]] | None = None
    choices: dict[str, dict[str, str]] | None = None


class _Order(_Strict):
    kind: Kind = "blocks"
    seed: int | None = Field(default=None, ge=0, lt=2**63)


class _Limits(_Strict):
    run: str | None = None
    total: str | None = None
    settle: str | None = None


class _Host(_Strict):
    at: str
    address: str | None = None
    key_file: str | None = None
    netmodel: str | None = None
    copy_program: str | None = Field(default=None, alias="copy")
    dev: str | None = None
    param: str | None = None


def _host_alone(value: Any) -> Any:
    return {"at": value} if isinstance(value, str) else value


_HostOrText = Annotated[_Host, BeforeValidator(_host_alone)]


class _Hosts(_Strict):
    master: _HostOrText = _Host(at="local")
    slave: _HostOrText


class StudyFile(_Strict):
    """What a file may say."""

    study: Literal["1"]
    name: Name | None = None
    profile: str
    params: dict[str, str] = {}
    dimensions: list[_Dimension] = []
    repeat: int | None = Field(default=None, ge=1, le=1000)
    order: _Order = _Order()
    warmup: str | None = None
    interval: str | None = None
    limits: _Limits = _Limits()
    hosts: _Hosts | None = None
    place: str | None = None
    hold: dict[str, str] = {}
    require: list[str] = []
    verdicts: list[Verdict] = []


@dataclass
class Read:
    """A file that was read, with what is wrong in it, and where things stand."""

    path: Path
    text: str
    content: StudyFile | None
    rest: StudyFile | None = None  # without content: what of it is right, so that it can be looked at, too
    dimensions: list[Varied] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    hosts: dict[str, HostSpec] = field(default_factory=dict)
    mistakes: list[Mistake] = field(default_factory=list)
    places: dict[str, str] = field(default_factory=dict)  # of NAME=VALUE, for what netmodel has against it


def read(path: Path) -> Read:
    try:
        data = path.read_bytes()
        text = data.decode()
    except OSError as error:
        raise UsageProblem([f"{path}: cannot be read: {error.strerror}"]) from None
    except UnicodeDecodeError:
        raise UsageProblem([f"{path}: is no text in UTF-8"]) from None
    if len(data) > MAX_BYTES:
        raise UsageProblem([f"{path}: is longer than {MAX_BYTES} bytes"])
    tree = _Tree(path)
    try:
        node = YAML(typ="rt", pure=True).compose(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark
        where = f"{path}:{mark.line + 1}:{mark.column + 1}" if mark else str(path)
        raise UsageProblem([Mistake(where, error.problem or "is no YAML")]) from None
    value = tree.value(node, ()) if node else {}
    found = Read(path, text, None, mistakes=tree.mistakes)
    try:
        found.content = StudyFile.model_validate(value)
    except ValidationError as error:
        found.mistakes += [tree.mistake(one) for one in error.errors()]
        found.rest = _rest(value)
    dimensions = value.get("dimensions") if isinstance(value, dict) else None
    if isinstance(dimensions, list):
        found.dimensions = list(_dimensions(dimensions, tree, found))
    params = value.get("params") if isinstance(value, dict) else None
    for name, text_ in (params if isinstance(params, dict) else {}).items():
        found.places[f"{name}={text_}"] = tree.place(("params", name))
    _hosts(value, tree, found)
    _texts(value, tree, found)
    found.mistakes.sort(key=position)
    return found


def _rest(value: Any) -> StudyFile | None:
    """The members that are right by themselves."""
    if not isinstance(value, dict):
        return None
    taken = {"study": "1", "profile": value.get("profile")}
    for name, part in value.items():
        with contextlib.suppress(ValidationError):
            StudyFile.model_validate({**taken, name: part})
            taken[name] = part
    try:
        return StudyFile.model_validate(taken)
    except ValidationError:
        return None


def in_order(mistakes: list[Mistake]) -> list[Mistake]:
    return sorted(mistakes, key=position)


def position(mistake: Mistake) -> tuple[int, int]:
    """Line and column of a mistake in a file; what has none comes last."""
    found = re.match(r".*?:(\d+):(\d+)(?::|$)", mistake.place)
    return (int(found[1]), int(found[2])) if found else (10**9, 0)


class _Tree:
    """The file as plain values, and the place of each."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._at: dict[Path_, tuple[int, int]] = {}
        self._keys: dict[Path_, tuple[int, int]] = {}
        self.mistakes: list[Mistake] = []

    def value(self, node: Node, path: Path_) -> Any:
        mark = node.start_mark
        self._at[path] = (mark.line + 1, mark.column + 1)
        if not str(node.tag).startswith(_PLAIN) or (isinstance(node, ScalarNode) and str(node.tag).endswith(":merge")):
            self.mistakes.append(Mistake(self.place(path), f"{node.tag}: tags are not taken"))
        if isinstance(node, MappingNode):
            return dict(self._pairs(node, path))
        if isinstance(node, SequenceNode):
            return [self.value(part, (*path, i)) for i, part in enumerate(node.value)]
        is_empty = node.value == "" and getattr(node, "style", None) is None
        return None if is_empty else str(node.value)

    def _pairs(self, node: MappingNode, path: Path_) -> Iterator[tuple[str, Any]]:
        seen = set()
        for key_node, value_node in node.value:
            key = str(key_node.value)
            mark = key_node.start_mark
            self._keys[*path, key] = (mark.line + 1, mark.column + 1)
            if key in seen:
                self.mistakes.append(Mistake(self._tell(self._keys[*path, key], (*path, key)), "is there twice"))
            seen.add(key)
            yield key, self.value(value_node, (*path, key))

    def place(self, path: Path_) -> str:
        while path not in self._at and path:
            path = path[:-1]
        return self._tell(self._at.get(path, (1, 1)), path)

    def _tell(self, at: tuple[int, int], path: Path_) -> str:
        text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).lstrip(".")
        return f"{self._path}:{at[0]}:{at[1]}" + (f": {text}" if text else "")

    def mistake(self, error: Any) -> Mistake:
        """What pydantic has found, in words."""
        path: Path_ = tuple(part for part in error["loc"] if part not in _TAGS)
        kind, given = error["type"], error.get("input")
        if kind == "extra_forbidden":
            known = _known(path[:-1])
            at = self._keys.get(path, (1, 1))
            hint = nearest(str(path[-1]), known) or f"; there are {', '.join(known)}"
            return Mistake(self._tell(at, path), f"there is no such key{hint}")
        if kind == "missing":
            return Mistake(self.place(path[:-1]), f"{path[-1]} is missing")
        text = _WORDS.get(kind) or error["msg"].removeprefix("Input should be ")
        if isinstance(given, dict | list) or given is None:
            return Mistake(self.place(path), f"must be {text}")
        return Mistake(self.place(path), f'"{given}": must be {text}')


_PARTS: dict[str, type[BaseModel]] = {
    "dimensions": _Dimension,
    "range": _Range,
    "geometric": _Geometric,
    "order": _Order,
    "limits": _Limits,
    "hosts": _Hosts,
    "master": _Host,
    "slave": _Host,
    "verdicts": Verdict,
}


def _known(path: Path_) -> list[str]:
    """The keys that may stand at a place."""
    model: type[BaseModel] = StudyFile
    for part in path:
        if isinstance(part, str):
            model = _PARTS.get(part, model)
    return [info.alias or name for name, info in model.model_fields.items()]


# --- hosts, and texts that have a form ---


def _hosts(value: Any, tree: _Tree, found: Read) -> None:
    hosts = value.get("hosts") if isinstance(value, dict) else None
    for role, given in (hosts if isinstance(hosts, dict) else {}).items():
        options = {"at": given} if isinstance(given, str) else given
        if role not in ("master", "slave") or not isinstance(options, dict) or not isinstance(options.get("at"), str):
            continue
        words = [options["at"], *(f"{name}={text}" for name, text in options.items() if name != "at")]
        if any(name not in _known(("hosts", role)) for name in options):
            continue
        try:
            found.hosts[role] = parse_host(",".join(words))
        except ValueError as error:
            where = ("hosts", role) if isinstance(given, str) else ("hosts", role, "at")
            found.mistakes.append(Mistake(tree.place(where), str(error)))


def _texts(value: Any, tree: _Tree, found: Read) -> None:
    if not isinstance(value, dict):
        return
    places: list[tuple[Path_, Any]] = [(("place",), value.get("place"))]
    for i, item in enumerate(value.get("dimensions") or []):
        values = item.get("values") if isinstance(item, dict) and item.get("name") == "place" else None
        if isinstance(values, list):
            places += [(("dimensions", i, "values", j), text) for j, text in enumerate(values)]
    for path, text in places:
        wrong = place_mistake(text) if isinstance(text, str) else None
        if isinstance(text, str):
            found.places[f"place={text}"] = tree.place(path)
        if wrong:
            found.mistakes.append(Mistake(tree.place(path), wrong))
    hold = value.get("hold")
    for name, text in (hold if isinstance(hold, dict) else {}).items():
        found.places[f"hold.{name}={text}"] = tree.place(("hold", name))
    dimensions = [part for dimension in found.dimensions for part in dimension.names]
    for i, verdict in enumerate(value.get("verdicts") or []):
        for key in ("metric", "min") if isinstance(verdict, dict) else ():
            found.places[f"verdicts[{i}].{key}={verdict.get(key)}"] = tree.place(("verdicts", i, key))
        by = verdict.get("by") if isinstance(verdict, dict) else None
        baseline = verdict.get("baseline") if isinstance(verdict, dict) else None
        if isinstance(by, str) and by not in dimensions:
            text = f'"{by}": is varied nowhere{nearest(by, dimensions)}'
            found.mistakes.append(Mistake(tree.place(("verdicts", i, "by")), text))
        elif isinstance(by, str) and isinstance(baseline, str):
            known = _values_of(found.dimensions, by)
            if baseline not in known:
                text = f'"{baseline}": is no value of {by}{nearest(baseline, known)}'
                found.mistakes.append(Mistake(tree.place(("verdicts", i, "baseline")), text))


def _values_of(dimensions: list[Varied], name: str) -> list[str]:
    for dimension in dimensions:
        if name in dimension.names:
            return [values[dimension.names.index(name)] for values in dimension.values]
    return []


# --- dimensions ---

_FORMS = ("values", "range", "geometric", "zip", "choices")


def _dimensions(items: list[Any], tree: _Tree, found: Read) -> Iterator[Varied]:
    for i, item in enumerate(items):
        path: Path_ = ("dimensions", i)
        if not isinstance(item, dict):
            continue
        forms = [form for form in _FORMS if form in item]
        if len(forms) != 1:
            text = f"has {' and '.join(forms) or 'no values'}; one of {', '.join(_FORMS)} says what it varies"
            found.mistakes.append(Mistake(tree.place(path), text))
            continue
        try:
            dimension = _dimension(item, forms[0], (*path, forms[0]), tree, found)
        except GrammarError as error:
            found.mistakes.append(Mistake(tree.place((*path, forms[0])), str(error)))
            continue
        if dimension:
            yield dimension


def _dimension(item: dict[str, Any], form: str, path: Path_, tree: _Tree, found: Read) -> Varied | None:
    given, name, notes = item[form], item.get("name"), list[str]()
    if form == "zip" and not _has_sets(given):
        return _zipped(given, path, tree, found)
    if not isinstance(name, str):
        return None
    if form in ("zip", "choices"):
        return _chosen(name, given, path, tree, found)
    if form == "values" and isinstance(given, list):
        if not given:
            raise GrammarError("an empty list")
        values = [value for value in given if isinstance(value, str)]
        if len(values) < len(given):
            return None
        twice = next((value for value in values if values.count(value) > 1), None)
        if twice is not None:
            raise GrammarError(f"{twice}: there twice")
        places = [tree.place((*path, i)) for i in range(len(values))]
    else:
        text = given if isinstance(given, str) else _as_range(given, form)
        if text is None:
            return None
        values = expand(text, notes)
        places = [tree.place(path)] * len(values)
    found.places.update({f"{name}={value}": place for value, place in zip(values, places, strict=True)})
    found.notes += notes
    return Varied(names=(name,), values=tuple((value,) for value in values))


def _has_sets(given: Any) -> bool:
    """Whether the items of a zip have a name each, and set what they like."""
    return isinstance(given, list) and any(isinstance(part, dict) and "params" in part for part in given)


def _flat(part: dict[str, Any]) -> dict[str, Any]:
    """The parameters of a choice beside what else it sets."""
    params = part.get("params")
    rest = {key: value for key, value in part.items() if key != "params"}
    return {**rest, **params} if isinstance(params, dict) else rest


def _chosen(name: str, given: Any, path: Path_, tree: _Tree, found: Read) -> Varied | None:
    """Named choices: each value stands for what it sets."""
    if isinstance(given, list):  # of a zip, by profile
        given = {str(part.get("profile")): _flat(part) for part in given if isinstance(part, dict)}
    if not isinstance(given, dict) or not given or not all(isinstance(part, dict) for part in given.values()):
        return None
    if not all(isinstance(text, str) for part in given.values() for text in part.values()):
        return None
    for label, part in given.items():
        found.places.update({f"{key}={text}": tree.place((*path, label, key)) for key, text in part.items()})
    return Varied(names=(name,), values=tuple((label,) for label in given), sets=tuple(given.values()))


def _as_range(given: Any, form: str) -> str | None:
    """As it would be typed; None: it is told elsewhere what is wrong."""
    if form == "values" or not isinstance(given, dict):
        return None
    first, last = given.get("from"), given.get("to")
    by = given.get("step", "1") if form == "range" else given.get("factor", "2")
    if not all(isinstance(part, str) for part in (first, last, by)):
        return None
    return f"{first}..{last}{'+' if form == 'range' else '*'}{by}"


def _zipped(given: Any, path: Path_, tree: _Tree, found: Read) -> Varied | None:
    if not isinstance(given, list) or not given or not all(isinstance(part, dict) and part for part in given):
        return None
    names = tuple(given[0])
    values = []
    for i, part in enumerate(given):
        if tuple(sorted(part)) != tuple(sorted(names)):
            text = f"has {', '.join(part)}, and the first has {', '.join(names)}: all change together"
            found.mistakes.append(Mistake(tree.place((*path, i)), text))
            return None
        if not all(isinstance(part[name], str) for name in names):
            return None
        values.append(tuple(part[name] for name in names))
        found.places[f"{','.join(names)}={':'.join(values[-1])}"] = tree.place((*path, i))
    return Varied(names=names, values=tuple(values))


def schema() -> dict[str, Any]:
    """The JSON schema of study files, for editors. Scalars may be written without quotes: they are taken as text."""
    found = StudyFile.model_json_schema()
    _loosen(found)
    found["properties"]["study"] = {"enum": [1, "1"]}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "A study of netmodel-lab", **found}


def _loosen(part: Any) -> None:
    """Where a text is asked for, YAML may have a number or a truth value."""
    if isinstance(part, dict):
        if part.get("type") == "string":
            part["type"] = ["string", "number", "boolean"]
        for value in part.values():
            _loosen(value)
    elif isinstance(part, list):
        for value in part:
            _loosen(value)
