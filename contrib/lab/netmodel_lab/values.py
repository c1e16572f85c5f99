# SPDX-License-Identifier: Apache-2.0
"""What a value of a parameter is as a number, for axes and estimates; netmodel has checked it before. And shares."""

from __future__ import annotations

import math
import re

from netmodel_lab.problems import UsageProblem

_VALUE = re.compile(r"(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)\s*([A-Za-z/]*)")
_SECONDS = {"": 1.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "min": 60.0, "h": 3600.0}
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}


def number(text: str, kind: str = "") -> float | None:
    """The number that a value of that type is: seconds, bytes, bits a second, or just a number. None: it is text."""
    found = _VALUE.fullmatch(text.strip())
    if not found:
        return None
    value, unit = float(found[1]), found[2]
    if kind == "duration" or (unit in _SECONDS and unit):
        return value * _SECONDS[unit] if unit in _SECONDS else None
    if kind == "bitrate":
        unit = re.sub(r"b(it)?(/s)?$", "", unit)
    lower = unit.lower()
    base = 1024 if kind == "size" or lower.endswith("i") else 1000
    power = _POWERS.get(lower.removesuffix("b").removesuffix("i"))
    return None if power is None else value * float(base**power)


def percentage(place: str, text: str) -> float:
    try:
        value = float(text.removesuffix("%")) / 100
    except ValueError:
        value = math.nan
    if not 0 < value < 1:
        raise UsageProblem([f'{place}: "{text}": must be a share as 5%'])
    return value
