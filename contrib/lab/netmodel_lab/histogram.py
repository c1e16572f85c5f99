# SPDX-License-Identifier: Apache-2.0
"""Histograms of latency as netmodel logs them: lines of HdrHistogram's log format 1.3, with two digits."""

from __future__ import annotations

import base64
import struct
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

LOG = "hist.hlog"
_COOKIE, _COMPRESSED = 0x1C849313, 0x1C849314
_HEADER = 40
_MOST = 1 << 26  # bytes that a histogram may be


@dataclass(frozen=True)
class Interval:
    """Counts by latency in nanoseconds, of a part of a run. tag: "" of an interval, "total" of the whole."""

    tag: str
    start_s: float
    length_s: float
    counts: Mapping[int, int]


def read(path: Path) -> list[Interval]:
    """What can be read of a log; nothing when there is none."""
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
    found = []
    for line in lines:
        if line.startswith(("#", '"')) or not line.strip():
            continue
        parts = line.split(",")
        tag = parts.pop(0).removeprefix("Tag=") if line.startswith("Tag=") else ""
        try:
            found.append(Interval(tag, float(parts[0]), float(parts[1]), decode(parts[3])))
        except (ValueError, IndexError, struct.error, zlib.error):
            continue
    return found


def decode(text: str) -> dict[int, int]:
    """The counts of a compressed histogram by the middle of their buckets, ns."""
    data = base64.b64decode(text, validate=True)
    cookie, length = struct.unpack_from(">II", data)
    if cookie != _COMPRESSED:
        raise ValueError("no compressed histogram of the second version")
    stream = zlib.decompressobj()
    plain = stream.decompress(data[8 : 8 + length], _MOST)
    if not stream.eof:
        raise ValueError("a histogram that is not whole")
    if struct.unpack_from(">I", plain)[0] != _COOKIE:
        raise ValueError("no histogram of the second version")
    size = struct.unpack_from(">I", plain, 4)[0]
    counts: dict[int, int] = {}
    index = 0
    for value in _varints(plain[_HEADER : _HEADER + size]):
        if value < 0:
            index -= value
        else:
            if value:
                counts[middle(index)] = value
            index += 1
    return counts


def _varints(data: bytes) -> Iterator[int]:
    value = shift = 0
    for byte in data:
        if shift == 56:  # the ninth byte takes eight bits
            value |= byte << shift
            more = False
        else:
            value |= (byte & 0x7F) << shift
            more = bool(byte & 0x80)
        shift += 7
        if not more:
            yield (value >> 1) ^ -(value & 1)
            value = shift = 0


def middle(index: int) -> int:
    """256 values one by one, then 128 buckets for each power of two."""
    if index < 256:
        return index
    shift, low = (index - 128) // 128, (index - 128) % 128 + 128
    return (low << shift) + (1 << shift) // 2


def merge(parts: Iterable[Mapping[int, int]]) -> dict[int, int]:
    total: Counter[int] = Counter()
    for part in parts:
        total.update(part)
    return dict(total)


def quantiles(counts: Mapping[int, int], wanted: Sequence[float]) -> list[float | None]:
    """Latencies in microseconds below which these shares of all lie."""
    total = sum(counts.values())
    ordered = sorted(counts.items())
    found: list[float | None] = []
    seen, at = 0, 0
    for share in sorted(wanted):
        while at < len(ordered) and (seen + ordered[at][1]) < share * total:
            seen += ordered[at][1]
            at += 1
        found.append(ordered[min(at, len(ordered) - 1)][0] / 1000 if ordered else None)
    return found
