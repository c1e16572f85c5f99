# SPDX-License-Identifier: Apache-2.0
"""Results of other tools as rows: of iperf3 (-J), of netperf (-o, -k, or JSON), of uperf, of k8s-netperf (--json), QQ
lines of proj_net_bw_lat, and single documents of netmodel. What a tool does not tell is null."""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from scipy import special

from netmodel_lab import foreign_qq, foreign_uperf
from netmodel_lab.columns import END, RUN, figures
from netmodel_lab.foreign_row import MBPS_BITS, Row, number
from netmodel_lab.problems import UsageProblem

Json = dict[str, Any]


def read(tool: str, paths: Sequence[Path]) -> list[Row]:
    """A row for each result. What the user of a tool gives, as flows and sizes, is varied; runs with the same are of
    one cell. Raises UsageProblem with all that cannot be read."""
    rows: list[Row] = []
    wrong: list[str] = []
    drivers: dict[str, None] = {}
    for path in paths:
        try:
            found = _READERS[tool](path.read_text(encoding="utf-8-sig"))
            if not found:
                raise ValueError("there is no result in it")
        except (OSError, ValueError, KeyError, TypeError) as error:
            wrong.append(f"{path}: is no result of {tool}: {error.strerror if isinstance(error, OSError) else error}")
            continue
        drivers |= {str(one["driver"]): None for one in found if "driver" in one}
        rows += [{"file": path.name, **one} for one in found]
    if len(drivers) > 1:
        wrong.append(f"results of several drivers, which are not to be mixed: {', '.join(drivers)}")
    if wrong:
        raise UsageProblem(wrong)
    return _numbered(tool, rows)


def _numbered(tool: str, found: Sequence[Row]) -> list[Row]:
    """With the columns that rows of studies begin with: blocks count the runs of a cell."""
    given = list(dict.fromkeys(name for row in found for name in row if name.startswith("d.")))
    known = [figure.column.name for figure in RUN]
    known += [f"{each.column.name}.{end}" for end in ("master", "slave", "shared") for each in END]
    seen: dict[tuple[Any, ...], int] = {}
    rows = []
    for seq, row in enumerate(found, 1):
        cell = tuple(row.get(name) for name in given)
        seen[cell] = seen.get(cell, 0) + 1
        whole: Row = {"point": None, "cell": " ".join(str(part) for part in cell), "block": seen[cell], "seq": seq}
        whole |= {"attempt": 1, "epoch": 1, "run_id": row.get("run_id"), "start": row.get("start")}
        whole |= {"ok": row.get("ok", True), "why": row.get("why"), "profile": row.get("profile", tool)}
        whole |= {name: None if row.get(name) is None else str(row[name]) for name in given}
        whole |= {f"p.{name[2:]}": number(row.get(name)) for name in given}
        whole |= {name: row.get(name) for name in known if name in row}
        whole["file"] = row["file"]
        rows.append(whole)
    return rows


# --- iperf3 -J ---


def _iperf3(text: str) -> list[Row]:
    document = json.loads(text)
    if "start" not in document:
        raise ValueError("it has no member start: iperf3 -J writes such files")
    start, end = document["start"], document.get("end") or {}
    test = start.get("test_start") or {}
    row: Row = {
        "profile": f"iperf3 {test.get('protocol', '')}".strip(),
        "start": (start.get("timestamp") or {}).get("time"),
        "run_id": start.get("cookie"),
        "d.num_flows": test.get("num_streams"),
        "d.size": test.get("blksize"),
        "d.reverse": test.get("reverse"),
    }
    if document.get("error") or not end:
        return [{**row, "ok": False, "why": str(document.get("error") or "it has no end")}]
    # What has arrived, and with --bidir that of both directions.
    received = [end.get(name) or {} for name in ("sum_received", "sum_received_bidir_reverse")]
    received = [one for one in received if one] or [end.get("sum") or {}]
    sent = [end.get(name) or {} for name in ("sum_sent", "sum_sent_bidir_reverse")]
    row["seconds"] = number(received[0].get("seconds"))
    row["payload_MBps"] = sum(float(one["bits_per_second"]) for one in received) / MBPS_BITS
    retransmits = [one["retransmits"] for one in sent if "retransmits" in one]
    row["retransmits"] = float(sum(retransmits)) if retransmits else None
    row |= _iperf3_cpu(end.get("cpu_utilization_percent") or {}, row["payload_MBps"])
    rtts = [(stream.get("sender") or {}).get("mean_rtt") for stream in end.get("streams") or []]
    known = [float(rtt) for rtt in rtts if rtt]
    row["mean_us"] = sum(known) / len(known) if known else None
    return [row]


def _iperf3_cpu(cpu: Json, megabytes: float) -> Row:
    """Of its own process, in per cent of one CPU."""
    found: Row = {}
    for end, name in (("master", "host"), ("slave", "remote")):
        if f"{name}_total" in cpu:
            total = float(cpu[f"{name}_total"])
            found[f"user_TL.{end}"] = number(cpu.get(f"{name}_user"))
            found[f"system_TL.{end}"] = number(cpu.get(f"{name}_system"))
            found[f"cpu_s_per_GB.{end}"] = total * 10 / megabytes if megabytes else None
    return found


# --- netperf ---

# Its names of output selectors, in upper case with "_", and what they are here: a column, and what it is multiplied by.
_NETPERF: dict[str, tuple[str, float]] = {
    "TRANSACTION_RATE": ("transactions_per_s", 1),
    "MEAN_LATENCY": ("mean_us", 1),
    "P50_LATENCY": ("p50_us", 1),
    "P90_LATENCY": ("p90_us", 1),
    "P99_LATENCY": ("p99_us", 1),
    "MAX_LATENCY": ("max_us", 1),
    "ELAPSED_TIME": ("seconds", 1),
    "LOCAL_CPU_UTIL": ("busy_kernel_TL.master", 1),
    "REMOTE_CPU_UTIL": ("busy_kernel_TL.slave", 1),
    "LOCAL_TRANSPORT_RETRANS": ("retransmits", 1),
}
_GIVEN = {"REQUEST_SIZE": "d.request_size", "RESPONSE_SIZE": "d.response_size", "LOCAL_SEND_SIZE": "d.size"}
_CPUS = {"LOCAL_CPU_UTIL": "LOCAL_CPU_COUNT", "REMOTE_CPU_UTIL": "REMOTE_CPU_COUNT"}
_UNITS = {"10^3bits/s": 1e3, "10^6bits/s": 1e6, "10^9bits/s": 1e9, "KBytes/s": 8192, "MBytes/s": 8 * 1048576}
# Long names of the CSV header, as netperf -o prints them.
_LONG = {
    "Throughput": "THROUGHPUT",
    "Throughput Units": "THROUGHPUT_UNITS",
    "Elapsed Time (sec)": "ELAPSED_TIME",
    "Transaction Rate Tran/s": "TRANSACTION_RATE",
    "Mean Latency Microseconds": "MEAN_LATENCY",
    "50th Percentile Latency Microseconds": "P50_LATENCY",
    "90th Percentile Latency Microseconds": "P90_LATENCY",
    "99th Percentile Latency Microseconds": "P99_LATENCY",
    "Maximum Latency Microseconds": "MAX_LATENCY",
    "Local CPU Util %": "LOCAL_CPU_UTIL",
    "Remote CPU Util %": "REMOTE_CPU_UTIL",
    "Request Size Bytes": "REQUEST_SIZE",
    "Response Size Bytes": "RESPONSE_SIZE",
    "Local Send Size": "LOCAL_SEND_SIZE",
    "Local Transport Retransmissions": "LOCAL_TRANSPORT_RETRANS",
    "Local CPU Count": "LOCAL_CPU_COUNT",
    "Remote CPU Count": "REMOTE_CPU_COUNT",
}


def _netperf(text: str) -> list[Row]:
    stripped = text.lstrip()
    if stripped.startswith(("{", "[")):
        document = json.loads(text)
        return [_of_netperf({str(k).upper(): v for k, v in one.items()}) for one in _listed(document)]
    if re.search(r"^[A-Z0-9_]+=", text, re.MULTILINE):  # -k: a result ends where its first name comes again
        return [_of_netperf(one) for one in _keyed(text)]
    lines = [line for line in text.splitlines() if "," in line]
    head = next((i for i, line in enumerate(lines) if "Throughput" in line or "Latency" in line), None)
    if head is None:
        raise ValueError("it has no header: netperf -- -o or -k writes such files")
    return [
        _of_netperf({_LONG.get(name.strip(), name.strip().upper()): value for name, value in one.items() if name})
        for one in csv.DictReader(lines[head:])
    ]


def _listed(document: Any) -> list[Json]:
    return document if isinstance(document, list) else [document]


def _keyed(text: str) -> list[Json]:
    found: list[Json] = []
    for name, value in re.findall(r"^([A-Z0-9_]+)=(.*)$", text, re.MULTILINE):
        if not found or name in found[-1]:
            found.append({})
        found[-1][name] = value
    return found


def _of_netperf(one: Json) -> Row:
    row: Row = {"profile": f"netperf {one.get('PROTOCOL', '')}".strip()}
    for name, column in _GIVEN.items():
        if one.get(name) not in (None, "", "-1"):
            row[column] = one[name]
    for name, (column, scale) in _NETPERF.items():
        value = number(one.get(name))
        cpus = number(one.get(_CPUS.get(name, ""))) if name in _CPUS else 1.0
        if value is not None and value >= 0 and cpus is not None:
            row[column] = value * scale * cpus
    value, unit = number(one.get("THROUGHPUT")), str(one.get("THROUGHPUT_UNITS", "")).strip()
    if value is not None and unit in _UNITS:
        row["payload_MBps"] = value * _UNITS[unit] / MBPS_BITS
    elif value is not None and unit == "Trans/s":
        row.setdefault("transactions_per_s", value)
    if not any(name in row for name in ("transactions_per_s", "payload_MBps", "mean_us")):
        raise ValueError("neither throughput with its units, nor a transaction rate or latency is in it")
    return row


# --- k8s-netperf --json ---

# Networks beside that of the pods, by the fields that tell of them; both of OVN's have one.
_NETWORKS = {
    "bridgeInfo": "bridge",
    "sriovInfo": "sriov",
    "macvlanInfo": "macvlan",
    "localnetInfo": "localnet",
    "udnInfo": "udn",
}


def _k8s_netperf(text: str) -> list[Row]:
    return [row for one in _listed(json.loads(text)) for row in _of_k8s_netperf(one)]


# Of a driver what its figures are not: by the name of the profile's beginning.
_NOT_COMPARED = {
    "ib_write_bw": ("", "writes by RDMA are none of netmodel's transports, and their unit is MiB/s"),
    "iperf3": ("SCTP", "k8s-netperf's iperf3 has no SCTP: it measures TCP under this name"),
    "uperf": ("SCTP", "k8s-netperf's uperf has no SCTP: it measures TCP under this name"),
}


def _why_not(one: Json) -> str | None:
    begin, why = _NOT_COMPARED.get(str(one["driver"]), ("", ""))
    if why and str(one["profile"]).startswith(begin):
        return f"{one['driver']}: {why}"
    return None if float(one["throughput"]) > 0 else "nothing was carried"


def _network_and_place(one: Json) -> tuple[str, str, str]:
    """By their names in our own documents, and which one of its kind the network is. A Service leads to pods of a
    primary one alone."""
    ours = one.get("netmodel") or {}
    field = next((field for field in _NETWORKS if one.get(field)), "")
    beside, on = _NETWORKS.get(field, "pod"), str(one.get(field) or "")
    if beside == "udn" and on.startswith("Cudn"):
        beside = "cudn"
    network = "external" if one.get("externalServer") else "service" if one["service"] else beside
    network = "host" if one["hostNetwork"] else network
    place = "same-node" if one["local"] else "other-zone" if one.get("acrossAZ") else "other-node"
    place = "external" if network == "external" else place
    is_on = network == beside or (network == "service" and beside == "udn")
    return (
        str(ours.get("network") or network),
        str(ours.get("place") or place),
        str(ours.get("on", on if is_on else "")),
    )


def _of_k8s_netperf(one: Json) -> list[Row]:
    """A row for each sample. It tells their mean and its interval alone: the rows have values with this mean and this
    deviation, which is what a comparison needs. Without an interval there is one row."""
    is_stream, n = one["tputMetric"] == "Mb/s", int(one["samples"])
    why = _why_not(one)
    network, place, on = _network_and_place(one)
    row: Row = {
        "profile": one["profile"],
        "run_id": one["uuid"],
        "start": one.get("timestamp"),
        "driver": one["driver"],
        "ok": why is None,
        "why": why,
        "d.profile": one["profile"],
        "d.duration": one["duration"],
        "d.messagesize": one["messageSize"],
        "d.messagereadsize": (one.get("netmodel") or {}).get("messageReadSize", 1),
        "d.parallelism": one["parallelism"],
        "d.burst": one["burst"],
        "d.network": network,
        "d.place": place,
        **({"d.on": on} if on else {}),
        **({"d.ends": "vm"} if one.get("virt") else {}),
    }
    if n == 1:
        row["retransmits"] = number(one.get("tcpRetransmits"))
        if one["driver"] in ("netperf", "netmodel") and str(one["profile"]).endswith("RR"):  # others': of other things
            row["p99_us"] = number(one.get("latency")) or None
    if why:
        return [row]
    name, scale = ("received_MBps", 1 / 8) if is_stream else ("transactions_per_s", 1.0)
    return [{**row, name: value * scale} for value in _spread(float(one["throughput"]), one.get("confidence"), n)]


def _spread(mean: float, interval: Sequence[float] | None, n: int) -> list[float]:
    """n values with this mean, and nearly the deviation that the 95 % interval of it tells: they are spread evenly in
    their logarithms, as none of them can be below nothing. An interval that is not told is no value more."""
    half = (float(interval[1]) - float(interval[0])) / 2 if interval else 0.0
    if n < 2 or not half > 0:
        return [mean]
    sd = half * math.sqrt(n) / float(special.stdtrit(n - 1, 0.975))
    steps = [i - (n - 1) / 2 for i in range(n)]
    unit = math.sqrt(sum(step * step for step in steps) / (n - 1))
    spread = math.sqrt(math.log1p((sd / mean) ** 2))
    values = [math.exp(spread * step / unit) for step in steps]
    return [mean * value * n / sum(values) for value in values]


# --- netmodel ---


def _netmodel(text: str) -> list[Row]:
    document = json.loads(text)
    if not str(document.get("schema", "")).startswith("netmodel.result/"):
        raise ValueError("its schema is not netmodel.result: --format json writes such files")
    run, profile = document["run"], document["profile"]
    row: Row = {
        "profile": profile["name"],
        "run_id": run["id"],
        "start": run["start"],
        "ok": bool(run["complete"]),
        "why": run.get("incomplete_why"),
        **{f"d.{name}": value for name, value in profile["params"].items() if name in _OF_NETMODEL},
    }
    return [{**row, **dict(figures(document))}]


_OF_NETMODEL = ("num_flows", "num_threads", "request_size", "response_size", "buffer_size", "pipeline")

_READERS: dict[str, Callable[[str], list[Row]]] = {
    "iperf3": _iperf3,
    "netperf": _netperf,
    "uperf": foreign_uperf.read,
    "qq": foreign_qq.read,
    "k8s-netperf": _k8s_netperf,
    "netmodel": _netmodel,
}
