# SPDX-License-Identifier: Apache-2.0
"""What programs of others print, as figures: a document with the names of netmodel's own results, and the whole output
in it. What a program does not tell, or not of every operation, is null."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from netmodel_lab.k8s.problems import MeasurementProblem

if TYPE_CHECKING:
    from netmodel_lab.k8s.netperf_file import Test

Json = dict[str, Any]
SCHEMA = "netmodel-lab.driver/1"


def document(driver: str, log: str, why: str, test: Test, facts: Json) -> Json:
    """facts: version and image. Raises MeasurementProblem when the program has failed, or its output is not whole."""
    try:
        found = _READERS[driver](log, test)
    except (ValueError, KeyError, TypeError, IndexError) as error:
        said = "; ".join(line.strip() for line in log.splitlines()[-3:] if line.strip())
        raise MeasurementProblem([f"{driver} has failed: {error}; {why or 'exit code 0'}: {said}"]) from None
    if why:
        raise MeasurementProblem([f"{driver} has failed: {why}"])
    return {"schema": SCHEMA, "driver": {"name": driver, **facts}, "totals": found, "output": log}


def _totals(
    *,
    seconds: float,
    received: float | None = None,
    rate: float | None = None,
    latency: Json | None = None,
    retransmits: float | None = None,
    sent_messages: float | None = None,
    lost_messages: float | None = None,
) -> Json:
    """received: bits a second, that have arrived. latency: seconds."""
    found: Json = {"seconds": seconds, "transactions_per_s": rate, "retransmits": retransmits}
    found["throughput"] = {"received_bits_per_s": received}
    found["latency_s"] = latency or {}
    if sent_messages and lost_messages is not None:
        found["loss"] = lost_messages / sent_messages
        found["messages"] = {"to_slaves": {"sent": sent_messages, "lost": lost_messages}}
    return found


def _is_stream(test: Test) -> bool:
    return test.profile.endswith("_STREAM")


# --- iperf3 -J ---


def _iperf3(log: str, test: Test) -> Json:
    """Which sums count follows from the protocol: with UDP, sum and sum_sent are of what was sent."""
    result, _ = json.JSONDecoder().raw_decode(log[max(log.find("{"), 0) :])
    if result.get("error"):
        raise ValueError(str(result["error"]))
    end = result["end"]
    if test.profile == "UDP_STREAM":
        whole = end["sum"]
        sent, lost = float(whole["packets"]), float(whole["lost_packets"])
        # Before 3.11 there is no sum of what was received, and sum has the rate of the sender.
        arrived = (end.get("sum_received") or {}).get("bits_per_second")
        if not arrived:
            arrived = float(whole["bits_per_second"]) * (1 - lost / sent) if sent else 0.0
        return _totals(seconds=whole["seconds"], received=arrived, sent_messages=sent, lost_messages=max(lost, 0.0))
    received, sent_sum = end["sum_received"], end["sum_sent"]
    return _totals(
        seconds=received["seconds"],
        received=float(received["bits_per_second"]),
        retransmits=sent_sum.get("retransmits"),
    )


# --- netperf -k ---

_NUMBERS: tuple[str, ...] = (
    "THROUGHPUT",
    "ELAPSED_TIME",
    "REMOTE_BYTES_RECVD",
    "LOCAL_SEND_CALLS",
    "REMOTE_RECV_CALLS",
)
_NUMBERS += ("MEAN_LATENCY", "P50_LATENCY", "P99_LATENCY", "MAX_LATENCY", "LOCAL_TRANSPORT_RETRANS")


def _netperf(log: str, test: Test) -> Json:
    """Of several processes percentiles are not known: each has told its own alone."""
    parts: list[dict[str, str]] = []
    for name, value in re.findall(r"^([A-Z0-9_]+)=(.*?)\r?$", log, re.MULTILINE):
        if not parts or name in parts[-1]:
            parts.append({})
        parts[-1][name] = value
    parts = [part for part in parts if "THROUGHPUT" in part and "FAILED" not in part]
    if len(parts) != test.parallelism:
        raise ValueError(f"{len(parts)} of {test.parallelism} processes have told a result")
    numbers = [{name: float(part[name]) for name in _NUMBERS if name in part} for part in parts]
    seconds = max(part["ELAPSED_TIME"] for part in numbers)
    known = [part["LOCAL_TRANSPORT_RETRANS"] for part in numbers]
    retransmits = sum(known) if min(known) >= 0 else None
    if _is_stream(test):
        received = sum(part["REMOTE_BYTES_RECVD"] / part["ELAPSED_TIME"] * 8 for part in numbers)
        if test.profile != "UDP_STREAM":
            return _totals(seconds=seconds, received=received, retransmits=retransmits)
        sent, got = (sum(part[name] for part in numbers) for name in ("LOCAL_SEND_CALLS", "REMOTE_RECV_CALLS"))
        return _totals(seconds=seconds, received=received, sent_messages=sent, lost_messages=max(sent - got, 0.0))
    rates = [part["THROUGHPUT"] for part in numbers]
    if {part["THROUGHPUT_UNITS"] for part in parts} != {"Trans/s"}:
        raise ValueError("its throughput is not in Trans/s")
    return _totals(seconds=seconds, rate=sum(rates), latency=_netperf_latency(numbers, rates), retransmits=retransmits)


def _netperf_latency(numbers: Sequence[dict[str, float]], rates: Sequence[float]) -> Json:
    counts = [rate * part["ELAPSED_TIME"] for rate, part in zip(rates, numbers, strict=True)]
    count = sum(counts)
    if not count:
        return {}
    mean = sum(part["MEAN_LATENCY"] * each for part, each in zip(numbers, counts, strict=True)) / count
    found: Json = {"count": count, "mean": mean / 1e6, "max": max(part["MAX_LATENCY"] for part in numbers) / 1e6}
    if len(numbers) == 1:
        found |= {"p50": numbers[0]["P50_LATENCY"] / 1e6, "p99": numbers[0]["P99_LATENCY"] / 1e6}
    return found


# --- uperf ---

_PROGRESS = re.compile(r"timestamp_ms:([\d.]+) name:Txn2 nr_bytes:(\d+) nr_ops:(\d+)")
_BODY = re.compile(r"^Txn1\s+(\d+)\s+([\d.]+)(ns|us|ms|s)\s+\S+\s+([\d.]+)(ns|us|ms|s)\s", re.MULTILINE)
_LOSS = re.compile(r"^Difference\(%\)\s+\S+\s+(-?[\d.]+)%", re.MULTILINE)
_UNIT_S = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}


def _uperf(log: str, test: Test) -> Json:
    """Its times are means of a second, and so it has no percentiles. Rates are of the clock beside its counts; the last
    line is left out, as it comes some time after the end of what it counts."""
    lines = [(float(ms) / 1e3, int(amount), int(ops)) for ms, amount, ops in _PROGRESS.findall(log)]
    if len(lines) < 2 or not re.search(r"^master\s", log, re.MULTILINE):
        raise ValueError("its output is not whole")
    first, last = lines[0], lines[-2] if len(lines) > 2 else lines[-1]
    seconds = last[0] - first[0]
    rate, ops = (last[1] - first[1]) * 8 / seconds, (last[2] - first[2]) / seconds
    if test.profile.endswith("_RR"):
        return _totals(seconds=seconds, rate=ops / 2, latency=_uperf_latency(log))
    if test.profile == "TCP_STREAM_LAT":
        share = test.messagesize + test.messagereadsize
        return _totals(
            seconds=seconds, received=rate, rate=rate / 8 / (16 * share) or None, latency=_uperf_latency(log)
        )
    if test.profile != "UDP_STREAM":
        return _totals(seconds=seconds, received=rate)
    told = _LOSS.search(log)
    if told is None or not _server_told(log):
        return _totals(seconds=seconds)  # what has arrived is not known
    lost = max(float(told[1]), 0.0) / 100
    sent = float(lines[-1][1]) / test.messagesize
    return _totals(seconds=seconds, received=rate * (1 - lost), sent_messages=sent, lost_messages=sent * lost)


def _server_told(log: str) -> bool:
    """Otherwise its difference is of the client beside itself."""
    return "Error saying goodbye" not in log


def _uperf_latency(log: str) -> Json:
    body = _BODY.search(log)
    if not body or not int(body[1]):
        return {}
    mean, longest = float(body[2]) * _UNIT_S[body[3]], float(body[4]) * _UNIT_S[body[5]]
    return {"count": int(body[1]), "mean": mean, "max": longest}


_READERS: dict[str, Callable[[str, Test], Json]] = {"iperf3": _iperf3, "netperf": _netperf, "uperf": _uperf}
