# SPDX-License-Identifier: Apache-2.0
"""The results of a run in Prometheus' text format, for node_exporter's folder of text files, or a Pushgateway."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime

from netmodel_lab.k8s.figures import Cell, Mean
from netmodel_lab.k8s.rules import Finding

Labels = dict[str, str]
Sample = tuple[Labels, float]


def _mean(of: Callable[[Cell], Mean | None], scale: float = 1.0) -> Callable[[Cell], Iterator[Sample]]:
    def samples(cell: Cell) -> Iterator[Sample]:
        found = of(cell)
        if found:
            yield {}, found.mean * scale

    return samples


def _when(is_so: Callable[[Cell], bool], of: Callable[[Cell], Iterator[Sample]]) -> Callable[[Cell], Iterator[Sample]]:
    return lambda cell: of(cell) if is_so(cell) else iter(())


def _latency(cell: Cell) -> Iterator[Sample]:
    for name, quantile in (("p50_us", "0.5"), ("p99_us", "0.99")):
        found = cell.of(name) if cell.has_latency else None
        if found:
            yield {"quantile": quantile}, found.mean / 1e6


def _counted(cell: Cell) -> Iterator[Sample]:
    yield {"state": "done"}, len(cell.rows)
    yield {"state": "failed"}, cell.point.test.samples - len(cell.rows)


_PER_CELL: tuple[tuple[str, str, Callable[[Cell], Iterator[Sample]]], ...] = (
    (
        "throughput_bits_per_second",
        "What has arrived, the mean of the samples.",
        _when(lambda cell: cell.is_stream, _mean(lambda cell: cell.throughput, 1e6)),
    ),
    (
        "transactions_per_second",
        "The mean of the samples.",
        _when(lambda cell: not cell.is_stream, _mean(lambda cell: cell.throughput)),
    ),
    ("latency_seconds", "Percentiles, the mean of the samples.", _latency),
    ("retransmits", "Of TCP, the mean of the samples.", _mean(lambda cell: cell.of("retransmits"))),
    ("loss_ratio", "Of UDP, the mean of the samples.", _mean(lambda cell: cell.of("loss_pct"), 0.01)),
    ("samples", "That count, and that have failed.", _counted),
)


def text(cells: Sequence[Cell], findings: Sequence[Finding], stamp: str) -> str:
    """stamp: when the run ended, as 2026-01-31T12:00:00Z."""
    lines: list[str] = []
    for name, meaning, of in _PER_CELL:
        lines += _family(
            name, meaning, [({**_labels(cell), **more}, value) for cell in cells for more, value in of(cell)]
        )
    worse: list[Sample] = [({"rule": one.title}, float(one.is_worse)) for one in findings if not one.is_missing]
    lines += _family("rule_failed", "1: the rule finds it worse.", worse)
    end = datetime.fromisoformat(stamp).timestamp()
    lines += _family("run_end_timestamp_seconds", "When the run has ended.", [({}, end)])
    return "\n".join(lines) + "\n"


def _labels(cell: Cell) -> Labels:
    point, test = cell.point, cell.point.test
    return {
        "test": test.name,
        "profile": test.profile,
        "duration": str(test.duration),
        "message_size": str(test.messagesize),
        "message_read_size": str(test.messagereadsize),
        "parallelism": str(test.parallelism),
        "burst": str(test.burst),
        "path": point.network,
        "place": point.place,
        "driver": point.driver,
        **({"family": point.family} if point.family else {}),
        **({"network": point.on} if point.on else {}),
        **({"ends": point.ends} if point.ends else {}),
        **({"model": test.model.shown} if test.model else {}),
    }


def _family(name: str, meaning: str, samples: Sequence[Sample]) -> list[str]:
    if not samples:
        return []
    whole = f"netmodel_k8s_{name}"
    return [f"# HELP {whole} {meaning}", f"# TYPE {whole} gauge", *(_line(whole, *sample) for sample in samples)]


def _line(name: str, labels: Labels, value: float) -> str:
    given = ",".join(f'{label}="{_escaped(text)}"' for label, text in labels.items())
    return f"{name}{{{given}}} {value:.12g}" if given else f"{name} {value:.12g}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
