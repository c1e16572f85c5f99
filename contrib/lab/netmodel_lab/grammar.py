# SPDX-License-Identifier: Apache-2.0
"""Dimensions as they are typed: NAME=VALUES, with lists, ranges, progressions and zips. Text in, text out: what a value
means is for netmodel to say."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from netmodel_lab.problems import Mistake

MAX_VALUES = 10_000

_NUMBER = r"-?\d+(?:\.\d+)?[A-Za-z]*"
_RANGE = re.compile(rf"({_NUMBER})\.\.({_NUMBER})(?:([+*])({_NUMBER}))?")
_PARTS = re.compile(r"(-?\d+(?:\.\d+)?)([A-Za-z]*)")
_NAME = re.compile(r"[A-Za-z_][\w.-]*")


@dataclass(frozen=True)
class Dimension:
    """What is varied. More than one name: these change together."""

    names: tuple[str, ...]
    values: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()


class GrammarError(ValueError):
    """A part of the text that means nothing, or two things."""


def parse_dimension(text: str, mistakes: list[Mistake]) -> Dimension | None:
    """NAME=VALUES, or NAME,NAME=VALUE:VALUE,... for those that change together."""
    left, equals, right = text.partition("=")
    names = tuple(name.strip() for name in left.split(","))
    if not equals or not all(_NAME.fullmatch(name) for name in names):
        mistakes.append(Mistake(text, "a dimension is NAME=VALUE,VALUE,... as num_flows=1,2,4"))
        return None
    if len(set(names)) < len(names):
        mistakes.append(Mistake(text, "a name is there twice"))
        return None
    notes: list[str] = []
    try:
        values = list(_zipped(right, len(names)) if len(names) > 1 else ((value,) for value in expand(right, notes)))
    except GrammarError as error:
        mistakes.append(Mistake(text, str(error)))
        return None
    twice = sorted({":".join(value) for value in values if values.count(value) > 1}) if len(values) < 1000 else []
    if twice:
        mistakes.append(Mistake(text, f"{', '.join(twice)}: there twice"))
        return None
    return Dimension(names, tuple(values), tuple(notes))


def expand(text: str, notes: list[str]) -> list[str]:
    """The values of a list; what does not come out as one might think is noted."""
    values: list[str] = []
    if not text.strip():
        raise GrammarError("an empty list")
    for raw in text.split(","):
        item = raw.strip()
        if not item:
            raise GrammarError("an empty value in the list")
        found = _RANGE.fullmatch(item)
        if found:
            values += _range(item, found, values, notes)
        elif re.match(r"-?\d.*\.\.", item):
            raise GrammarError(f'"{item}": a range is A..B, A..B+STEP or A..B*FACTOR')
        else:
            values.append(item)
        if len(values) > MAX_VALUES:
            raise GrammarError(f"more than {MAX_VALUES} values")
    return values


def _zipped(text: str, width: int) -> Iterator[tuple[str, ...]]:
    for item in text.split(","):
        parts = tuple(part.strip() for part in item.split(":"))
        if len(parts) != width or not all(parts):
            raise GrammarError(f'"{item}": {width} values with ":" between them, one for each name')
        yield parts


def _split(text: str) -> tuple[Decimal, str]:
    found = _PARTS.fullmatch(text)
    if not found:
        raise GrammarError(f'"{text}": not a number')
    return Decimal(found[1]), found[2]


def _range(item: str, found: re.Match[str], before: list[str], notes: list[str]) -> list[str]:
    (first, unit), (last, last_unit) = _split(found[1]), _split(found[2])
    if unit != last_unit:
        raise GrammarError(f'"{item}": both ends in one unit, as {found[1]}..{format(last, "f")}{unit}')
    if last < first:
        raise GrammarError(f'"{item}": the end comes before the begin')
    sign, step = _step(item, found, before, first, last, unit)
    if (sign == "*" and (step <= 1 or first <= 0)) or step <= 0:
        raise GrammarError(f'"{item}": never comes to its end')
    if sign == "+" and (last - first) / step > MAX_VALUES:
        raise GrammarError(f'"{item}": more than {MAX_VALUES} values')
    values = []
    value = first
    while value <= last:
        values.append(format(value.normalize(), "f") + unit)
        value = value * step if sign == "*" else value + step
    if values[-1] != format(last.normalize(), "f") + unit:
        notes.append(f"{item} is {', '.join(values[-3:])} at its end: {found[2]} is not one of them")
    return values


def _step(
    item: str, found: re.Match[str], before: list[str], first: Decimal, last: Decimal, unit: str
) -> tuple[str, Decimal]:
    """The step that is written, or that of the values before the range, or 1."""
    if found[3]:
        step, step_unit = _split(found[4])
        if step_unit not in ("", unit) or (found[3] == "*" and step_unit):
            raise GrammarError(f'"{item}": the step has another unit than the ends')
        return found[3], step
    known = [_PARTS.fullmatch(text) for text in before[-2:]]
    numbers = [Decimal(match[1]) for match in known if match and match[2] == unit]
    if not numbers or len(numbers) < len(known):
        return "+", Decimal(1)
    numbers.append(first)
    if len(numbers) == 3 and numbers[2] - numbers[1] == numbers[1] - numbers[0] > 0:
        return "+", numbers[2] - numbers[1]
    factor = first / numbers[-2] if numbers[-2] > 0 else Decimal(0)
    if factor > 1 and (len(numbers) == 2 or numbers[1] == numbers[0] * factor) and _hits(first, last, factor):
        return "*", factor
    raise GrammarError(
        f'"{",".join([*before[-2:], item])}": says neither a step nor a factor; write {item}+STEP or {item}*FACTOR'
    )


def _hits(first: Decimal, last: Decimal, factor: Decimal) -> bool:
    while first < last:
        first *= factor
    return first == last
