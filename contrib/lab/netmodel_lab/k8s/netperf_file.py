# SPDX-License-Identifier: Apache-2.0
"""The test lists of k8s-netperf, both of its forms: a map of tests by name, and a list of them whose first key is the
name. All mistakes are told at once; a key that would have no effect is one. Beyond k8s-netperf, what is varied may be a
list: a test for each combination."""

from __future__ import annotations

import difflib
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from netmodel_lab.k8s import models
from netmodel_lab.k8s.catalog import CATALOG, NOT_HERE, Entry
from netmodel_lab.problems import UsageProblem, nearest

_NUMBERS = {"duration": 86400, "samples": 1000, "messagesize": 1 << 30, "parallelism": 65536}  # and the most of each
_OPTIONAL = {"messagereadsize": 1 << 30, "burst": 65536}
_VARIED = ("profile", "messagesize", "messagereadsize", "parallelism", "burst")
NETWORK = "network"
_KEYS = ("profile", *_NUMBERS, *_OPTIONAL, "service")


@dataclass(frozen=True)
class Test:
    """One entry of a list."""

    __test__ = False

    name: str
    profile: str
    duration: int
    samples: int
    messagesize: int
    parallelism: int
    messagereadsize: int = 1
    burst: int = 0
    service: bool = False
    model: models.Model | None = None  # instead of what k8s-netperf has; messagesize is 0 then, and parallelism 1

    @property
    def is_alone(self) -> bool:
        """Its server is no slave."""
        return bool(self.model and self.model.is_alone)

    @property
    def entry(self) -> Entry:
        """What it is here."""
        return CATALOG[self.profile] if self.model is None else _OF_MODEL

    @property
    def own_profile(self) -> str:
        """The name of a stock profile, or of a file that goes to the cluster."""
        return (self.model.file or self.model.profile) if self.model else self.entry.profile

    @property
    def title(self) -> str:
        """With all that tells it from the others of a list."""
        if self.model:
            return f"{self.name}: {self.model.shown}, {self.duration} s"
        more = f", read {self.messagereadsize} B" if self.messagereadsize > 1 else ""
        more += f", burst {self.burst}" if self.burst else ""
        more += f", parallelism {self.parallelism}, {self.duration} s"
        return f"{self.name}: {self.profile} {self.messagesize} B{more}"


_OF_MODEL = Entry("", lambda _test: {}, protocol="")


@dataclass
class _Reader:
    path: Path
    mistakes: list[str] = field(default_factory=list)

    def wrong(self, at: tuple[int, int] | None, text: str) -> None:
        where = f"{self.path}:{at[0] + 1}:{at[1] + 1}" if at else str(self.path)
        self.mistakes.append(f"{where}: {text}")


def _load(path: Path) -> Any:
    try:
        return YAML().load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageProblem([f"{path}: {error.strerror}"]) from None
    except UnicodeDecodeError:
        raise UsageProblem([f"{path}: is no text"]) from None
    except MarkedYAMLError as error:
        mark = error.problem_mark
        where = f"{path}:{mark.line + 1}:{mark.column + 1}" if mark else str(path)
        raise UsageProblem([f"{where}: {error.problem}"]) from None
    except YAMLError as error:
        raise UsageProblem([f"{path}: {error}"]) from None


def read_network(path: Path) -> dict[str, str]:
    """What a list of the second form says of a network beside the cluster's own, in a key beside that of the list."""
    document = _load(path)
    if not _has_list(document) or NETWORK not in document:
        return {}
    found, reader = document[NETWORK], _Reader(path)
    if not isinstance(found, CommentedMap) or not found:
        reader.wrong(document.lc.value(NETWORK), "network: must be a map, as {macvlan: eth1}")
        raise UsageProblem(reader.mistakes)
    for key, value in found.items():
        if not isinstance(value, str) or not value:
            shown = "has no value" if value in (None, "") else f"{_shown(value)}: must be text"
            reader.wrong(found.lc.value(key), f"network: {key}: {shown}")
    if reader.mistakes:
        raise UsageProblem(reader.mistakes)
    return {str(key): str(value) for key, value in found.items()}


def _has_list(document: Any) -> bool:
    """Whether a document is of the second form."""
    if not isinstance(document, CommentedMap):
        return False
    lists = [key for key, value in document.items() if isinstance(value, CommentedSeq)]
    return len(lists) == 1 and all(key in (NETWORK, *lists) for key in document)


def read(path: Path) -> list[Test]:
    """The tests, in their order. Raises UsageProblem with all mistakes."""
    reader = _Reader(path)
    document = _load(path)
    tests: list[Test] = []
    for name, entry, at in _entries(document, reader):
        found = [test for one in _combinations(entry) if (test := _test(name, one, at, reader))]
        for test in found:
            _equal(test, tests, at, reader)
            tests.append(test)
    if not tests and not reader.mistakes:
        reader.wrong(None, "there is no test in it")
    if reader.mistakes:
        raise UsageProblem(list(dict.fromkeys(reader.mistakes)))
    return tests


Place = tuple[int, int]


def _entries(document: Any, reader: _Reader) -> Iterator[tuple[str, CommentedMap, Place]]:
    if not isinstance(document, CommentedMap):
        reader.wrong(None, "must be a map: tests by their names, or one list of them")
        return
    if _has_list(document):
        listed = next(value for value in document.values() if isinstance(value, CommentedSeq))
        for i, entry in enumerate(listed):
            at = listed.lc.item(i)
            if not isinstance(entry, CommentedMap) or not entry or next(iter(entry.values())) is not None:
                reader.wrong(at, 'must begin with the name of the test, as "- TCPStream:", and its keys below')
                continue
            name = next(iter(entry))
            del entry[name]
            yield str(name), entry, at
        return
    for name, entry in document.items():
        at = document.lc.key(name)
        if isinstance(entry, CommentedMap):
            yield str(name), entry, at
        else:
            reader.wrong(at, f"{name}: must be a map with the keys of a test")


def _equal(test: Test, tests: Sequence[Test], at: Place, reader: _Reader) -> None:
    """Results are told apart by what a test does, and not by its name."""
    same = next((one for one in tests if replace(one, name=test.name, samples=test.samples) == test), None)
    if same:
        reader.wrong(at, f"{test.title}: is the same as {same.name} before; more samples are those of its samples key")


def _combinations(entry: CommentedMap) -> Iterator[CommentedMap]:
    """The last list varies fastest. A list without a value is left as it is, for its mistake."""
    names = [key for key in entry if key in _VARIED and isinstance(entry[key], CommentedSeq) and entry[key]]
    for values in itertools.product(*(entry[name] for name in names)):
        one = entry.copy()
        one.update(zip(names, values, strict=True))
        yield one


def _test(name: str, entry: CommentedMap, at: Place, reader: _Reader) -> Test | None:
    if models.KEY in entry:
        return _model(name, entry, at, reader)
    before = len(reader.mistakes)
    for key in entry:
        if key not in _KEYS:
            reader.wrong(entry.lc.key(key), f"{name}: {key}: there is no such key{nearest(str(key), _KEYS)}")
    profile = _profile(name, entry, at, reader)
    found = _numbers(name, entry, at, reader, _NUMBERS | _OPTIONAL)
    service = entry.get("service", False)
    if not isinstance(service, bool):
        reader.wrong(entry.lc.value("service"), f"{name}: service: {_shown(service)}: must be true or false")
    if profile:
        _useless(name, profile, entry, found, reader)
    if len(reader.mistakes) > before or profile is None:
        return None
    found["messagereadsize"] = found.get("messagereadsize") or 1
    return Test(name, profile, service=bool(service), model=None, **found)


def _model(name: str, entry: CommentedMap, at: Place, reader: _Reader) -> Test | None:
    """A test of any profile."""
    before = len(reader.mistakes)
    for key in entry:
        if key not in models.KEYS:
            hint = f"; the params of {models.KEY} have it" if key in _KEYS else nearest(str(key), models.KEYS)
            reader.wrong(entry.lc.key(key), f"{name}: {key}: is no key beside {models.KEY}{hint}")
    found = _numbers(name, entry, at, reader, {key: _NUMBERS[key] for key in ("duration", "samples")})
    service, params = entry.get("service", False), entry.get(models.PARAMS) or {}
    if not isinstance(service, bool):
        reader.wrong(entry.lc.value("service"), f"{name}: service: {_shown(service)}: must be true or false")
    if not isinstance(params, CommentedMap | dict) or any(isinstance(one, dict | list) for one in params.values()):
        reader.wrong(entry.lc.value(models.PARAMS), f"{name}: params: must be a map of names and values")
    else:
        for key, one in params.items():
            if one is None or (key == "server" and one == ""):
                reader.wrong(entry.lc.value(models.PARAMS), f"{name}: params: {key}: has no value")
    if len(reader.mistakes) > before:
        return None
    given = {
        str(key): {True: "yes", False: "no"}[one] if isinstance(one, bool) else str(one) for key, one in params.items()
    }
    place = entry.lc.value(models.KEY)
    model = models.read(
        str(entry[models.KEY]),
        given,
        found["duration"],
        reader.path.parent,
        is_service=service,
        wrong=lambda text: reader.wrong(place, f"{name}: {text}"),
    )
    if model is None:
        return None
    return Test(name, model.profile, found["duration"], found["samples"], 0, 1, service=service, model=model)


def _numbers(name: str, entry: CommentedMap, at: Place, reader: _Reader, known: Mapping[str, int]) -> dict[str, int]:
    """known: the names, and the most of each."""
    found: dict[str, int] = {}
    for key, most in known.items():
        if key not in entry:
            if key in _NUMBERS:
                reader.wrong(at, f"{name}: {key} is missing")
            continue
        value, least = entry[key], 0 if key in _OPTIONAL else 1
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            reader.wrong(entry.lc.value(key), f"{name}: {key}: {_shown(value)}: must be {least} to {most}")
        else:
            found[key] = int(value)
    return found


def _shown(value: Any) -> str:
    return {True: "true", False: "false"}.get(value, str(value)) if isinstance(value, bool) else f'"{value}"'


def _profile(name: str, entry: CommentedMap, at: Place, reader: _Reader) -> str | None:
    if "profile" not in entry:
        reader.wrong(at, f"{name}: profile is missing")
        return None
    text = str(entry["profile"])
    if text in CATALOG:
        return text
    place = entry.lc.value("profile")
    if text in NOT_HERE:
        reader.wrong(place, f"{name}: profile: {text}: {NOT_HERE[text]}")
    else:
        near = difflib.get_close_matches(text.upper(), CATALOG, n=1, cutoff=0.6)
        hint = f"; did you mean {near[0]}?" if near else f"; there are {', '.join(CATALOG)}"
        reader.wrong(place, f"{name}: profile: {text}: there is no such profile{hint}")
    return None


def _useless(name: str, profile: str, entry: CommentedMap, found: dict[str, int], reader: _Reader) -> None:
    """Keys that this profile does not have, and sizes that it cannot."""
    known = CATALOG[profile]
    for key, has in (("burst", known.has_burst), ("messagereadsize", known.has_read_size)):
        if found.get(key) and not has:
            who = ", ".join(
                one for one, each in CATALOG.items() if (each.has_burst if key == "burst" else each.has_read_size)
            )
            reader.wrong(entry.lc.key(key), f"{name}: {key}: has no effect on {profile}; it is of {who}")
    if known.max_size and found.get("messagesize", 0) > known.max_size:
        reader.wrong(
            entry.lc.value("messagesize"),
            f"{name}: messagesize: {found['messagesize']}: a datagram has at most {known.max_size} bytes",
        )
