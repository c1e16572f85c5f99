# SPDX-License-Identifier: Apache-2.0
"""Figures of samples, and of the samples of a cell together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from scipy import special

from netmodel_lab.columns import figures, reach
from netmodel_lab.k8s import histograms, usage
from netmodel_lab.k8s.netperf_file import Test
from netmodel_lab.k8s.settings import Point, Settings

Json = dict[str, Any]
Row = dict[str, Any]
_SUMMED = ("transactions_per_s", "payload_MBps", "received_MBps", "retransmits", "errors")


def row(settings: Settings, point: Point, document: Json | None, why: str | None) -> Row:
    """A row as studies have them, for compare. document: what the folder has of the sample."""
    test = point.test
    given = {
        "test": test.name,
        "profile": test.profile,
        "duration": test.duration,
        "messagesize": test.messagesize,
        "messagereadsize": test.messagereadsize,
        "parallelism": test.parallelism,
        "burst": test.burst,
        "network": point.network,
        "place": point.place,
        "driver": point.driver,
    }
    given |= {"model": test.model.shown} if test.model else {}
    given |= {"family": point.family} if point.family else {}
    given |= {"on": point.on} if point.on else {}
    given |= {"ends": point.ends} if point.ends else {}
    first = ((document or {}).get("pairs") or [{}])[0]
    run = (first.get("result") or {}).get("run") or {}
    found: Row = {"point": None, "cell": " ".join(map(str, given.values())), "block": point.sample, "seq": point.seq}
    found |= {
        "attempt": 1,
        "epoch": 1,
        "run_id": settings.run,
        "start": run.get("start"),
        "ok": why is None,
        "why": why,
    }
    found |= {"profile": test.profile, **{f"d.{name}": str(value) for name, value in given.items()}}
    sizes = () if test.model else ("messagesize", "messagereadsize", "parallelism", "burst")
    found |= {f"p.{name}": float(getattr(test, name)) for name in ("duration", *sizes)}
    if document and why is None:
        ends = [one["k8s"] for one in document["pairs"]]
        for name in ("server", "client"):
            nodes = dict.fromkeys(one.get("node") for one in usage.ends_of(name, document["pairs"]))
            found[f"{name}_node"] = ", ".join(filter(None, nodes)) or None
        results = [one["result"] for one in document["pairs"]]
        logged = [one.get("histogram") for one in document["pairs"]]
        found |= {"relation": common([end["relation"] for end in ends]), **of_pairs(results, logged)}
        found |= {"slaves": point.slaves, "start_skew_s": reach(run, "start_skew_s")} if point.slaves > 1 else {}
        found |= {"is_stream": is_stream(test, results)} if test.model else {}
        found["throttled_s"] = _throttled_s(results)
        found["is_throttling_unknown"] = any(map(_is_throttling_unknown, document["pairs"]))
    return found


def is_stream(test: Test, documents: Sequence[Json]) -> bool:
    """Whether what has arrived is the figure. A profile of one's own is a stream when its bytes go one way, and both
    ends tell of them."""
    if not test.model:
        return test.entry.is_stream
    for document in documents:
        ways = [reach(document, "totals", name) for name in ("bytes_sent", "bytes_received")]
        arrived = reach(document, "totals", "throughput", "received_bits_per_s")
        if arrived is None or sum(bool(way) for way in ways) != 1:
            return False
    return bool(documents)


def common(values: Sequence[str]) -> str:
    """What all pairs have, or that they differ."""
    return values[0] if len(set(values)) == 1 else "mixed"


def _throttled_s(documents: Sequence[Json]) -> float | None:
    """How long limits of CPU have held the pods back, on all CPUs together. None: nobody can tell."""
    hosts = [host for document in documents for host in document.get("hosts") or []]
    known = [found for host in hosts if (found := reach(host, "throttling", "throttled_s")) is not None]
    return sum(known) if known else None


def _is_throttling_unknown(pair: Json) -> bool:
    """Of a pair whose pods have a limit of CPU."""
    ends = [pair["k8s"][name] for name in ("server", "client")]
    if not any(((end.get("resources") or {}).get("limits") or {}).get("cpu") for end in ends):
        return False
    hosts = pair["result"].get("hosts") or []
    return not hosts or any(reach(host, "throttling", "throttled_s") is None for host in hosts)


def of_pairs(documents: Sequence[Json], logged: Sequence[str | None] = ()) -> Row:
    """Of several pairs: what is done together. logged: their histograms, without which there are no percentiles."""
    parts = [_of_one(document) for document in documents]
    if len(parts) == 1:
        return parts[0]
    found: Row = {"pairs": len(parts)}
    for name in _SUMMED:
        values = [part.get(name) for part in parts]
        found[name] = None if None in values else sum(values)
    counts = [reach(document, "totals", "latency_s", "count") or 0.0 for document in documents]
    means = [float(part["mean_us"]) for part in parts if part.get("mean_us") is not None]
    if len(means) == len(parts) and sum(counts) > 0:
        found["mean_us"] = sum(mean * count for mean, count in zip(means, counts, strict=True)) / sum(counts)
    longest = [part["max_us"] for part in parts if part.get("max_us") is not None]
    found["max_us"] = max(longest) if len(longest) == len(parts) else None
    found |= histograms.percentiles(logged) if logged else {}
    found["loss_pct"] = _loss_pct(documents)
    found["seconds"] = max((part["seconds"] for part in parts if part.get("seconds")), default=None)
    found["start_skew_s"] = start_skew_s(documents)
    return found


def start_skew_s(documents: Sequence[Json]) -> float | None:
    """How far the starts of pairs are apart. None: one does not tell."""
    starts = [reach(document, "run", "start_s") for document in documents]
    known = [start for start in starts if start is not None]
    return max(known) - min(known) if len(known) == len(starts) else None


def _loss_pct(documents: Sequence[Json]) -> float | None:
    """Of the messages that all pairs have sent, both ways. None: one does not tell."""

    def counted(document: Json, name: str) -> list[float]:
        each = [reach(document, "totals", "messages", way, name) for way in ("to_slaves", "to_master")]
        return [value for value in each if value is not None]

    if not all(counted(document, "lost") for document in documents):
        return None
    sent, lost = (sum(sum(counted(document, name)) for document in documents) for name in ("sent", "lost"))
    return lost / sent * 100 if sent else None


def _of_one(document: Json) -> Row:
    found: Row = dict(figures(document))
    loss = reach(document, "totals", "loss")
    return found | {"loss_pct": None if loss is None else loss * 100}


@dataclass(frozen=True)
class Mean:
    """Of the samples of a cell. low, high: the 95 % interval of the mean by Student's t; None: one sample."""

    n: int
    mean: float
    sd: float | None = None
    low: float | None = None
    high: float | None = None


def mean(values: Sequence[float | None]) -> Mean | None:
    known = [value for value in values if value is not None and math.isfinite(value)]
    if not known:
        return None
    n, centre = len(known), sum(known) / len(known)
    if n == 1:
        return Mean(n, centre)
    sd = math.sqrt(sum((value - centre) ** 2 for value in known) / (n - 1))
    half = float(special.stdtrit(n - 1, 0.975)) * sd / math.sqrt(n)
    return Mean(n, centre, sd, centre - half, centre + half)


@dataclass(frozen=True)
class Cell:
    """All samples of a test over a network."""

    point: Point
    rows: tuple[Row, ...]  # those that count

    @property
    def title(self) -> str:
        return self.point.cell_title

    @property
    def is_stream(self) -> bool:
        """Of a profile of one's own its samples tell."""
        if not self.point.test.model:
            return self.point.test.entry.is_stream
        return bool(self.rows) and all(row.get("is_stream") for row in self.rows)

    @property
    def figure(self) -> str:
        """Of rows, which is its throughput: of streams what has arrived."""
        return "received_MBps" if self.is_stream else "transactions_per_s"

    @property
    def unit(self) -> str:
        return "Mb/s" if self.is_stream else "OP/s"

    @property
    def has_latency(self) -> bool:
        """Of an answer."""
        return not self.is_stream or self.point.test.profile == "TCP_STREAM_LAT"

    @property
    def throughput(self) -> Mean | None:
        scale = 8 if self.is_stream else 1
        return mean([None if row.get(self.figure) is None else row[self.figure] * scale for row in self.rows])

    def of(self, name: str) -> Mean | None:
        return mean([row.get(name) for row in self.rows])


def cells(points: Sequence[Point], rows: Sequence[Row]) -> list[Cell]:
    """In the order of the tests."""
    by_seq = {row["seq"]: row for row in rows}
    found: dict[int, list[Point]] = {}
    for point in points:
        found.setdefault(point.cell, []).append(point)
    return [
        Cell(same[0], tuple(by_seq[point.seq] for point in same if point.seq in by_seq and by_seq[point.seq]["ok"]))
        for _, same in sorted(found.items())
    ]
