# SPDX-License-Identifier: Apache-2.0
"""Tables, CSV, JSON under k8s-netperf's names beside ours, and JUnit."""

from __future__ import annotations

import csv
import io
import xml.etree.ElementTree as tree
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from netmodel_lab import __version__
from netmodel_lab.k8s import histograms, matrix, usage
from netmodel_lab.k8s.figures import Cell, Mean, Row, common
from netmodel_lab.k8s.netperf_file import Test
from netmodel_lab.k8s.rules import Finding
from netmodel_lab.k8s.settings import Settings
from netmodel_lab.k8s.usage import End
from netmodel_lab.rows import to_csv

Json = dict[str, Any]
_COMMON = (
    "Driver",
    "Scenario",
    "Parallelism",
    "Path",
    "Place",
    "Host Network",
    "Service",
    "External Server",
    "Message Size",
    "Burst",
    "Same node",
    "Duration",
    "Samples",
)


_INFOS = {  # columns of k8s-netperf's CSV, and fields of its JSON
    "UDN Info": "udnInfo",
    "Bridge Info": "bridgeInfo",
    "SR-IOV Info": "sriovInfo",
    "Macvlan Info": "macvlanInfo",
    "Localnet Info": "localnetInfo",
}


def _yes(value: bool) -> str:
    return "true" if value else "false"


def _same_node(cell: Cell, settings: Settings) -> bool:
    relations = {row.get("relation") for row in cell.rows}
    return relations == {"same node"} if cell.rows else settings.where.placements == ("same-node",)


def _common(cell: Cell, settings: Settings) -> list[str]:
    point, test = cell.point, cell.point.test
    return [
        point.driver,
        test.profile,
        _own(test, test.parallelism),
        point.way,
        point.place,
        _yes(point.network == "host"),
        _yes(bool(point.path.service)),
        _yes(point.network == "external"),
        _own(test, test.messagesize),
        _own(test, test.burst),
        _yes(_same_node(cell, settings)),
        str(test.duration),
        f"{len(cell.rows)}/{test.samples}" if len(cell.rows) < test.samples else str(test.samples),
    ]


def infos(cell: Cell, settings: Settings) -> dict[str, str]:
    """What k8s-netperf's results tell of networks beside the cluster's own."""
    found = dict.fromkeys(_INFOS.values(), "")
    text, network = cell.point.on, settings.network
    if network and text:
        name, _ = network.info
        machines = settings.machines if cell.point.is_virtual else None
        if machines and name == "bridgeInfo":
            text = f"VM Bridge ({machines.ends[0].partition('/')[0]})"
        found[name] = text
    return found


def _own(test: Test, value: int, none: str = "-") -> str:
    """What a profile of one's own has not: its parameters say it."""
    return none if test.model else str(value)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _average(mean: Mean | None, unit: str = "") -> str:
    return "-" if mean is None else f"{mean.mean:.2f}{f' ({unit})' if unit else ''}"


def _interval(mean: Mean | None, unit: str) -> str:
    if mean is None or mean.low is None or mean.high is None:
        return "-"
    return f"{mean.low:.2f}-{mean.high:.2f} ({unit})"


Column = tuple[str, Callable[[Cell], str]]
_VALUE: tuple[Column, ...] = (
    ("Avg value", lambda cell: _average(cell.throughput, cell.unit)),
    ("95% Confidence Interval", lambda cell: _interval(cell.throughput, cell.unit)),
)
_P50: Column = ("Avg 50%tile value", lambda cell: _average(cell.of("p50_us"), "usec"))
_P99: Column = ("Avg 99%tile value", lambda cell: _average(cell.of("p99_us"), "usec"))
_MEAN: Column = ("Avg Latency", lambda cell: _average(cell.of("mean_us"), "usec"))


def _is(name: str) -> Callable[[Cell], bool]:
    return lambda cell: not cell.point.test.model and cell.point.test.profile.startswith(name)


def _tells(name: str, figure: str) -> Callable[[Cell], bool]:
    """Profiles of one's own have it where one of their samples has."""
    return lambda cell: _is(name)(cell) or bool(cell.point.test.model and cell.of(figure))


_TABLES: tuple[tuple[str, Callable[[Cell], bool], tuple[Column, ...]], ...] = (
    ("Stream Results", lambda cell: cell.is_stream, _VALUE),
    ("Rr Results", lambda cell: not cell.is_stream, _VALUE),
    ("Stream Latency Results", _is("TCP_STREAM_LAT"), (_MEAN, _P50, _P99)),
    ("RR Latency Results", lambda cell: not cell.is_stream, (_MEAN, _P50, _P99)),
    (
        "TCP Retransmissions",
        _tells("TCP", "retransmits"),
        (("Avg value", lambda cell: _average(cell.of("retransmits"))),),
    ),
    ("UDP Loss Percent", _tells("UDP", "loss_pct"), (("Avg value", lambda cell: _average(cell.of("loss_pct"))),)),
)


def _beside(settings: Settings) -> tuple[Column, ...]:
    """The column of a network beside the cluster's own, in runs that have one."""
    if settings.network is None:
        return ()
    field, _ = settings.network.info
    title = next(title for title, name in _INFOS.items() if name == field)
    return ((title, lambda cell: infos(cell, settings)[field] or "-"),)


def results(cells: Sequence[Cell], settings: Settings) -> list[tuple[str, list[list[str]]]]:
    """Each table: its title, its head, and a line for each cell that it has."""
    found = []
    for title, has, columns in _TABLES:
        chosen = [cell for cell in cells if has(cell)]
        if chosen:
            more = _beside(settings)
            head = [*_COMMON, *(name for name, _ in (*more, *columns))]
            lines = [[*_common(cell, settings), *(of(cell) for _, of in (*more, *columns))] for cell in chosen]
            found.append((title, [head, *lines]))
    return found


def tables(cells: Sequence[Cell], settings: Settings) -> str:
    parts = []
    for title, (head, *lines) in results(cells, settings):
        parts.append(grid([["RESULT TYPE", *map(str.upper, head)], *([title, *line] for line in lines)]))
    for square in matrix.squares(cells):
        parts.append(f"{square.title}: {square.figure} ({square.unit})\n{grid(matrix.lines(square))}")
    nodes = dict.fromkeys(
        (row.get("server_node"), row.get("client_node"), row.get("relation")) for cell in cells for row in cell.rows
    )
    parts += [f"server on {server}, client on {client}: {how}\n" for server, client, how in nodes if client]
    return "\n".join(parts)


def grid(lines: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    bar = "+" + "+".join("-" * (width + 2) for width in widths) + "+"
    texts = [
        "| " + " | ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)) + " |" for line in lines
    ]
    return "\n".join([bar, texts[0], bar, *texts[1:], bar]) + "\n"


# --- JSON ---


def documents(
    cells: Sequence[Cell],
    settings: Settings,
    stamp: str,
    pairs: dict[int, list[Json]],
    used: Callable[[Sequence[Sequence[Json]]], dict[str, End]] = usage.of_samples,
) -> list[Json]:
    """One for each cell. pairs: what the folder has of each sample, by seq. used: what ends have used in samples."""
    return [_document(cell, settings, stamp, pairs, used) for cell in cells if cell.rows]


def _document(
    cell: Cell,
    settings: Settings,
    stamp: str,
    pairs: dict[int, list[Json]],
    used: Callable[[Sequence[Sequence[Json]]], dict[str, End]],
) -> Json:
    every = [pair for row in cell.rows for pair in pairs[row["seq"]]]
    both = used([pairs[row["seq"]] for row in cell.rows])
    test, throughput = cell.point.test, cell.throughput
    ends, servers = _ends(pairs, cell.rows[0]), usage.ends_of("server", pairs[cell.rows[0]["seq"]])
    relation = common([str(end["relation"]) for row in cell.rows for end in _ends(pairs, row)])
    found: Json = {
        "uuid": settings.uuid,
        "timestamp": stamp,
        "hostNetwork": cell.point.network == "host",
        "driver": cell.point.driver,
        "parallelism": None if test.model else test.parallelism,
        "profile": test.profile,
        "duration": test.duration,
        "service": bool(cell.point.path.service),
        "local": _same_node(cell, settings),
        "virt": cell.point.is_virtual,
        "acrossAZ": None if relation == "mixed" else relation == "other zone",
        "samples": len(cell.rows),
        "messageSize": None if test.model else test.messagesize,
        "burst": None if test.model else test.burst,
        "throughput": _of(throughput),
        "latency": _of(cell.of("p99_us")),
        "tputMetric": cell.unit,
        "ltcyMetric": "usec",
        "tcpRetransmits": _of(cell.of("retransmits")),
        "udpLossPercent": _of(cell.of("loss_pct")),
        "toolVersion": __version__,
        "confidence": [throughput.low, throughput.high] if throughput and throughput.low is not None else None,
        "externalServer": cell.point.network == "external",
        **infos(cell, settings),
        "serverNodeInfo": _one_or_all([_node_info(end) for end in servers]),
        "clientNodeInfo": _one_or_all([_node_info(end["client"]) for end in ends]),
        **usage.fields(both),
        "metadata": _metadata(ends[0]),
    }
    ours = {
        "schema": "netmodel-lab.k8s/1",
        "run": settings.run,
        "test": test.name,
        "network": cell.point.network,
        "on": cell.point.on,
        "family": _family(ends),
        "place": cell.point.place,
        "relation": relation,
        "messageReadSize": None if test.model else test.messagereadsize,
        "model": {"profile": test.model.profile, "params": dict(test.model.params)} if test.model else None,
        "latencyMean": _of(cell.of("mean_us")),
        "latencyP50": _of(cell.of("p50_us")),
        "latencyOfAllSamples": _latency(cell, pairs),
        "throughputDeviation": throughput.sd if throughput else None,
        "startSkew": _of(cell.of("start_skew_s")),
        "server": _one_or_all(servers),
        "client": _one_or_all([end["client"] for end in ends]),
        "cluster": ends[0].get("cluster"),
        "mss": usage.segments(every),
        "attached": _one_or_all([end.get("attached") for end in ends]),
        "driver": _driver(pairs, cell.rows[0]),
        "prometheus": usage.outside(both),
        "notCollected": {name: end.why_not for name, end in both.items()},
        "sampleRows": list(cell.rows),
    }
    return found | {"netmodel": ours}


def _metadata(end: Json) -> Json:
    """Of the cluster, as far as it is known without rights beyond those of a run."""
    cluster, info = end.get("cluster") or {}, end["client"].get("node_info") or {}
    return {
        "k8sVersion": cluster.get("version"),
        "totalNodes": cluster.get("nodes"),
        "sdnType": end["client"].get("cni"),
        "kernel": info.get("kernelVersion"),
        "workerArch": info.get("architecture"),
    }


def _ends(pairs: dict[int, list[Json]], row: Row) -> list[Json]:
    return [pair["k8s"] for pair in pairs[row["seq"]]]


def _latency(cell: Cell, pairs: dict[int, list[Json]]) -> Json | None:
    """Percentiles of all samples together, us."""
    logged = [pair.get("histogram") for row in cell.rows for pair in pairs[row["seq"]]]
    found = histograms.percentiles(logged)
    return {name.removesuffix("_us"): value for name, value in found.items()} or None


def _family(ends: Sequence[Json]) -> str | None:
    """Of the addresses that were dialled. None: they were names."""
    dialled = [str((end.get("dialled") or {}).get("address") or "") for end in ends]
    found = {"ipv6" if ":" in one else "ipv4" if one.replace(".", "").isdigit() else None for one in dialled}
    return found.pop() if len(found) == 1 else None


def _driver(pairs: dict[int, list[Json]], row: Row) -> Json:
    """What has measured, and its version."""
    first = pairs[row["seq"]][0]
    result: Json = first.get("result") or {}
    found: Json = result.get("driver") or {"name": "netmodel", "version": result.get("version")}
    return {"image": first["k8s"]["client"].get("image")} | found


def _one_or_all(ends: Sequence[Any]) -> Any:
    """Several pairs have a list."""
    return ends[0] if len(ends) == 1 else list(ends)


def _of(mean: Mean | None) -> float | None:
    return mean.mean if mean else None


def _node_info(end: Json) -> Json:
    return {"ip": end.get("host_ip"), "nodeName": end.get("node"), **(end.get("node_info") or {})}


# --- CSV ---

_CSV_COMMON = (
    "Driver",
    "Profile",
    "Same node",
    "Host Network",
    "VM mode",
    "Service",
    "External Server",
    *_INFOS,
    "Duration",
    "Parallelism",
    "# of Samples",
    "Message Size",
    "Burst",
    "Confidence metric - low",
    "Confidence metric - high",
)
_CSV_OURS = ("Run", "UUID", "Time", "Test", "Server node", "Client node", "Path", "Place", "Model")


def _csv_common(cell: Cell, settings: Settings) -> list[str]:
    point, test, throughput = cell.point, cell.point.test, cell.throughput
    low, high = (throughput.low, throughput.high) if throughput else (None, None)
    return [
        point.driver,
        test.profile,
        _yes(_same_node(cell, settings)),
        _yes(point.network == "host"),
        _yes(point.is_virtual),
        _yes(bool(point.path.service)),
        _yes(point.network == "external"),
        *infos(cell, settings).values(),
        str(test.duration),
        _own(test, test.parallelism, ""),
        str(len(cell.rows)),
        _own(test, test.messagesize, ""),
        _own(test, test.burst, ""),
        "" if low is None else f"{low:.6f}",
        "" if high is None else f"{high:.6f}",
    ]


def csv_results(cells: Sequence[Cell], settings: Settings, stamp: str) -> str:
    head = [
        *_CSV_COMMON,
        "Avg Throughput",
        "Throughput Metric",
        "99%tile Observed Latency",
        "Latency Metric",
        *_CSV_OURS,
    ]
    lines = [
        [
            *_csv_common(cell, settings),
            _plain(_of(cell.throughput)),
            cell.unit,
            _plain(_of(cell.of("p99_us"))),
            "usec",
            *_csv_ours(cell, settings, stamp),
        ]
        for cell in cells
        if cell.rows
    ]
    return _csv([head, *lines])


def csv_losses(cells: Sequence[Cell], settings: Settings, stamp: str) -> str:
    lines = []
    for title, kind, name in (("TCP Retransmissions", "TCP", "retransmits"), ("UDP Percent Loss", "UDP", "loss_pct")):
        has = _tells(kind, name)
        lines += [
            [title, *_csv_common(cell, settings), _plain(_of(cell.of(name))), *_csv_ours(cell, settings, stamp)]
            for cell in cells
            if cell.rows and has(cell)
        ]
    return _csv([["Type", *_CSV_COMMON, "Value", *_CSV_OURS], *lines])


Lines = Callable[[Json, str], list[list[str]]]  # of a document and a role


def _used(cells: Sequence[Cell], documents: Sequence[Json], of: Lines) -> Iterator[tuple[Cell, str, list[str]]]:
    """Each line, with its cell and its role; documents: those of the cells that have rows."""
    for cell, document in zip([cell for cell in cells if cell.rows], documents, strict=True):
        for role in usage.ROLES:
            for line in of(document, role):
                yield cell, role.capitalize(), line


def csv_usage(cells: Sequence[Cell], documents: Sequence[Json], settings: Settings, stamp: str) -> dict[str, str]:
    """Files of what ends have used, under k8s-netperf's names."""
    found = {}
    for name, (_, head, of) in _USED.items():
        lines = [
            [role, *_csv_common(cell, settings), *line, *_csv_ours(cell, settings, stamp)]
            for cell, role, line in _used(cells, documents, of)
        ]
        found[name] = _csv([["Role", *_CSV_COMMON, *head, *_CSV_OURS], *lines])
    return found


def usage_tables(cells: Sequence[Cell], documents: Sequence[Json], settings: Settings) -> str:
    parts = []
    for title, head, of in _USED.values():
        lines = [[title, *_common(cell, settings), role, *line] for cell, role, line in _used(cells, documents, of)]
        if lines:
            parts.append(grid([["RESULT TYPE", *map(str.upper, (*_COMMON, "Role", *head))], *lines]))
    return "\n".join(parts)


def _modes(document: Json, role: str) -> list[list[str]]:
    if not document[f"{role}CPUCollected"]:
        return []
    return [[_plain(document[f"{role}CPU"][name]) for name in usage.MODES]]


def _pods(field: str, value: str) -> Lines:
    return lambda document, role: [
        [str(one["podName"]), _plain(one[value])] for one in document[f"{role}{field}"] if one[value] is not None
    ]


def _vswitch(document: Json, role: str) -> list[list[str]]:
    found = [document[f"{role}CPU"][name] for name in ("vSwitchCPU", "vSwitchMem")]
    return [] if found == [None, None] else [[_plain(value) for value in found]]


_USED: dict[str, tuple[str, tuple[str, ...], Lines]] = {
    "cpu-result.csv": ("Node CPU Utilization", tuple(title for title, _ in usage.MODES.values()), _modes),
    "podcpu-result.csv": ("Pod CPU Utilization", ("Pod Name", "Utilization"), _pods("Pods", "cpuUsage")),
    "podmem-result.csv": ("Pod Mem RSS Utilization", ("Pod Name", "Utilization"), _pods("PodsMem", "memUsage")),
    "vswitch-result.csv": ("vSwitch Utilization", ("CPU Utilization", "Memory Utilization"), _vswitch),
}


def _csv_ours(cell: Cell, settings: Settings, stamp: str) -> list[str]:
    first: Row = cell.rows[0]
    nodes = [str(first.get(name) or "") for name in ("server_node", "client_node")]
    point = cell.point
    model = point.test.model.shown if point.test.model else ""
    return [settings.run, settings.uuid, stamp, point.test.name, *nodes, point.way, point.place, model]


def _plain(value: float | None) -> str:
    return "" if value is None else f"{value:.6f}"


def _csv(lines: Sequence[Sequence[str]]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([to_csv(text) for text in line] for line in lines)
    return out.getvalue()


# --- JUnit ---


def junit(rows: Sequence[Row], findings: Sequence[Finding], settings: Settings) -> str:
    """A case for each sample, and one for each rule."""
    skipped = sum(finding.is_missing for finding in findings)
    suite = tree.Element(
        "testsuite",
        name="netmodel-lab k8s",
        tests=str(len(rows) + len(findings)),
        errors="0",
        skipped=str(skipped),
    )
    failed = 0
    for row in rows:
        case = tree.SubElement(
            suite, "testcase", classname=f"k8s.{settings.run}", name=f"{row['cell']} sample {row['block']}"
        )
        if not row["ok"]:
            failed += 1
            tree.SubElement(case, "failure", message=str(row["why"]))
    for finding in findings:
        case = tree.SubElement(suite, "testcase", classname="k8s.rules", name=finding.title)
        if finding.is_missing:
            tree.SubElement(case, "skipped", message=finding.text)
        elif finding.is_worse:
            failed += 1
            tree.SubElement(case, "failure", message=finding.text)
    suite.set("failures", str(failed))
    tree.indent(suite)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tree.tostring(suite, encoding="unicode") + "\n"
