# SPDX-License-Identifier: Apache-2.0
"""Numbers as people read them."""

from __future__ import annotations

_WIDE = 0.2
_TIMES = ((1e6, "s"), (1e3, "ms"))
_PREFIXES = ((1e9, "G"), (1e6, "M"), (1e3, "k"))


def plain(value: float | None, digits: int = 3) -> str:
    """Three digits, and k, M or G: 31.4 k."""
    if value is None:
        return "-"
    scale, prefix = _suited(value, "")
    return f"{_round(value / scale, digits)} {prefix}".rstrip()


def _suited(value: float, unit: str) -> tuple[float, str]:
    """What a value is divided by to be told, and what stands behind it then."""
    steps = _TIMES if unit == "us" else _PREFIXES
    return next(((scale, name) for scale, name in steps if abs(value) >= scale * 0.9995), (1.0, ""))


def _round(value: float, digits: int) -> str:
    if value == 0:
        return "0"
    power = int(format(abs(value), f".{digits - 1}e").partition("e")[2])
    places = digits - 1 - power
    return format(round(value, places), f".{max(places, 0)}f")


def with_unit(value: float | None, unit: str) -> str:
    """In the unit that suits its size: 1.35 ms, 31.4 k/s."""
    if value is None:
        return "-"
    if unit == "us":
        scale, name = _suited(value, unit)
        return f"{_round(value / scale, 3)} {name or unit}"
    text = plain(value)
    if unit.startswith("%"):
        return f"{text} %"
    if unit == "1/s":
        return f"{text}/s" if text[-1].isalpha() else f"{text} /s"
    return f"{text} {unit}".rstrip()


def interval(centre: float, low: float | None, high: float | None, unit: str) -> str:
    """12.5 k/s ±3.0 %; where it is wide, and then not even, both ends in what the centre is told in: 12.5 k/s (8.10 ..
    19.3)."""
    text = with_unit(centre, unit)
    if low is None or high is None or not centre:
        return text
    half = max(abs(high / centre - 1), abs(1 - low / centre))
    if half <= _WIDE:
        return f"{text} ±{percent(half)}"
    scale, _ = _suited(centre, unit)
    return f"{text} ({_round(low / scale, 3)} .. {_round(high / scale, 3)})"


def percent(value: float | None) -> str:
    return "-" if value is None else f"{_round(value * 100, 2)} %"


def clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:02d}:{minutes:02d}:{rest:02d}"
