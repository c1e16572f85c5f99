# SPDX-License-Identifier: Apache-2.0
"""Histograms of latency in the logs of clients, and what several together say: percentiles are of all latencies, and
never made of percentiles."""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Sequence

from netmodel_lab.histogram import decode, merge, quantiles

WORDS = ("--hdr-log", "/dev/stderr")  # that have a master write them there
_SHARES = {"p50_us": 0.5, "p90_us": 0.9, "p99_us": 0.99, "p999_us": 0.999}
_LINE = re.compile(r'^(#\[|"StartTimestamp"|(Tag=\w+,)?[\d.]+,[\d.]+,[\d.]+,HIST)')
_TOTAL = "Tag=total,"


def taken_out(log: str) -> tuple[str, str | None]:
    """A log without them, as their lines may come in the midst of others; and the histogram of the measured windows."""
    lines = log.splitlines(keepends=True)
    ours = [line.strip() for line in lines if _LINE.match(line)]
    total = next((line.rpartition(",")[2] for line in ours if line.startswith(_TOTAL)), None)
    return "".join(line for line in lines if not _LINE.match(line)), total


def percentiles(each: Sequence[str | None]) -> dict[str, float | None]:
    """Microseconds, of all of them together; nothing when one is missing, or cannot be read."""
    try:
        parts = [decode(text or "") for text in each]
    except (ValueError, struct.error, zlib.error):
        return {}
    found = quantiles(merge(parts), list(_SHARES.values()))
    return dict(zip(_SHARES, found, strict=True)) if found[0] is not None else {}
