# SPDX-License-Identifier: Apache-2.0
"""Numbers as people read them."""

from __future__ import annotations

_WIDE = 0.2
_PREFIXES = ((1e9, "G"), (1e6, "M"), (1e3, "k"))


def plain(value: float | None, digits: int = 3) -> str:
    """Three digits, and k, M or G: 31.4 k."""
    if value is None:
        return "-"
    for scale, prefix in _PREFIXES:
        if abs(value) >= scale * 0.9995:
            return f"{_round(value / scale, digits)} {prefix}"
    return _round(value, digits)


def _round(value: float, digits: int) -> str:
    if value == 0:
        return "0"
    size = abs(value)
    places = digits - 1
    while size >= 10 and places > 0:
        size, places = size / 10, places - 1
    if abs(value) < 1:
        return format(value, f".{digits}g")
    return format(value, f".{places}f")


def with_unit(value: float | None, unit: str) -> str:
    """In the unit that suits its size: 1.35 ms, 31.4 k/s."""
    if value is None:
        return "-"
    if unit == "us":
        for scale, name in ((1e6, "s"), (1e3, "ms")):
            if abs(value) >= scale:
                return f"{_round(value / scale, 3)} {name}"
        return f"{_round(value, 3)} us"
    text = plain(value)
    if unit.startswith("%"):
        return f"{text} %"
    if unit == "1/s":
        return f"{text}/s" if text[-1].isalpha() else f"{text} /s"
    return f"{text} {unit}".rstrip()


def interval(centre: float, low: float | None, high: float | None, unit: str) -> str:
    """12.5 k/s ±3 %; where it is wide, and then not even, both ends: 12.5 k/s (8.1 .. 19.3)."""
    text = with_unit(centre, unit)
    if low is None or high is None or not centre:
        return text
    half = max(abs(high / centre - 1), abs(1 - low / centre))
    return f"{text} ({plain(low)} .. {plain(high)})" if half > _WIDE else f"{text} ±{percent(half)}"


def percent(value: float | None) -> str:
    return "-" if value is None else f"{_round(value * 100, 2)} %"


def clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:02d}:{minutes:02d}:{rest:02d}"
