# SPDX-License-Identifier: Apache-2.0
"""What programs of others print, as figures: a document with the names of netmodel's own results, and the whole output
in it. What a program does not tell, or not of every operation, is null."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from netmodel_lab.k8s.problems import ClientProblem

if TYPE_CHECKING:
    from netmodel_lab.k8s.netperf_file import Test

Json = dict[str, Any]
SCHEMA = "netmodel-lab.driver/1"


def document(driver: str, log: str, why: str, test: Test, facts: Json) -> Json:
    """facts: version and image. Raises ClientProblem when the program has failed, or its output is not whole."""
    try:
        found = _READERS[driver](log, test)
        json.dumps(found, allow_nan=False)
    except (ValueError, KeyError, TypeError, IndexError, ArithmeticError) as error:
        said = "; ".join(line.strip() for line in log.splitlines()[-3:] if line.strip())
        raise ClientProblem([f"{driver} has failed: {error}; {why or 'exit code 0'}: {said}"]) from None
    if why:
        raise ClientProblem([f"{driver} has failed: {why}"])
    return {"schema": SCHEMA, "driver": {"name": driver, **facts}, "totals": found, "output": log}


def start(driver: str, log: str) -> Json:
    """When it has begun to measure, where its output, which document() has read, tells that exactly."""
    if driver == "uperf":
        return {"start_s": float(_PROGRESS.findall(log)[0][0]) / 1e3, "start_error_s": 0.0}
    if driver == "iperf3":
        found, _ = json.JSONDecoder().raw_decode(log[log.find("{") :])
        stamp = ((found.get("start") or {}).get("timestamp") or {}).get("timemillisecs")
        return {} if stamp is None else {"start_s": float(stamp) / 1e3, "start_error_s": 0.0}
    return {}


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
    result, _ = json.JSONDecoder().raw_decode(log[max(log.find("{"), 0) :])
    if result.get("error"):
        raise ValueError(str(result["error"]))
    end = result["end"]
    if test.profile == "UDP_STREAM":
        return _iperf3_datagrams(end["sum"], end.get("sum_sent"), end.get("sum_received"))
    received, sent_sum = end["sum_received"], end["sum_sent"]
    return _totals(
        seconds=received["seconds"],
        received=float(received["bits_per_second"]),
        retransmits=sent_sum.get("retransmits"),
    )


def _iperf3_datagrams(whole: Json, sent_sum: Json | None, received: Json | None) -> Json:
    """whole and sent_sum are of what was sent. Before 3.11 whole is all that there is, with the sender's rate: then a
    server that has received nothing is known by its jitter alone. What the server tells as lost is missing before the
    last that it has seen; all that came later is lost, too."""
    sent, lost = float((sent_sum or whole)["packets"]), float(whole["lost_packets"])
    if received is not None:
        rate = float(received["bits_per_second"])
        lost += max(sent - float(received["packets"]), 0.0)
    elif lost or whole["jitter_ms"]:
        rate = float(whole["bits_per_second"]) * (1 - lost / sent) if sent else 0.0
    else:
        return _totals(seconds=whole["seconds"])
    return _totals(seconds=whole["seconds"], received=rate, sent_messages=sent, lost_messages=max(lost, 0.0))


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
    numbers = {name: [float(part[name]) for part in parts] for name in _NUMBERS if name in parts[0]}
    if min(numbers["ELAPSED_TIME"]) <= 0 or min(numbers["THROUGHPUT"]) < 0:
        raise ValueError("it does not tell its time, or its throughput")
    times, retransmits = numbers["ELAPSED_TIME"], _known(numbers, "LOCAL_TRANSPORT_RETRANS")
    is_told = retransmits and test.profile != "TCP_CRR"  # of the last connection alone, if that is still open
    seconds, resent = max(times), sum(retransmits or ()) if is_told else None
    if _is_stream(test):
        arrived = _known(numbers, "REMOTE_BYTES_RECVD")
        received = sum(each / time * 8 for each, time in zip(arrived, times, strict=True)) if arrived else None
        if test.profile != "UDP_STREAM":
            return _totals(seconds=seconds, received=received, retransmits=resent)
        sent, got = (_known(numbers, name) for name in ("LOCAL_SEND_CALLS", "REMOTE_RECV_CALLS"))
        lost = max(sum(sent) - sum(got), 0.0) if sent and got else None
        return _totals(seconds=seconds, received=received, sent_messages=sum(sent or ()), lost_messages=lost)
    if {part["THROUGHPUT_UNITS"] for part in parts} != {"Trans/s"}:
        raise ValueError("its throughput is not in Trans/s")
    rate = sum(numbers["THROUGHPUT"])
    return _totals(seconds=seconds, rate=rate, latency=_netperf_latency(numbers), retransmits=resent)


def _known(numbers: dict[str, list[float]], name: str) -> list[float] | None:
    """Of all processes. netperf says -1 of what it does not know."""
    found = numbers[name]
    return found if min(found) >= 0 else None


def _netperf_latency(numbers: dict[str, list[float]]) -> Json:
    counts = [rate * time for rate, time in zip(numbers["THROUGHPUT"], numbers["ELAPSED_TIME"], strict=True)]
    count = sum(counts)
    if not count:
        return {}
    found: Json = {"count": count}
    means = _known(numbers, "MEAN_LATENCY")
    if means:
        found["mean"] = sum(mean * each for mean, each in zip(means, counts, strict=True)) / count / 1e6
    of_one = ("p50", "p99") if len(counts) == 1 else ()
    for name in ("max", *of_one):
        values = _known(numbers, f"{name.upper()}_LATENCY")
        if values:
            found[name] = max(values) / 1e6
    return found


# --- uperf ---

_PROGRESS = re.compile(r"timestamp_ms:([\d.]+) name:Txn2 nr_bytes:(\d+) nr_ops:(\d+)")
_BODY = re.compile(r"^Txn1\s+(\d+)\s+([\d.]+)(ns|us|ms|s)\s+\S+\s+([\d.]+)(ns|us|ms|s)\s", re.MULTILINE)
_LOSS = re.compile(r"^Difference\(%\)\s+\S+\s+(-?[\d.]+)%", re.MULTILINE)
_SERVER = re.compile(r"^.*\s[\d.]+s\s+([\d.]+)\w*\s+\S+\s+\d+\s+[\d.]+\s*\nmaster\s", re.MULTILINE)  # its data
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
    told, server = _LOSS.search(log), _SERVER.search(log)
    if told is None or server is None or not _server_told(log):
        return _totals(seconds=seconds)  # what has arrived is not known
    # Beside nothing its difference is 0 %.
    lost = max(float(told[1]), 0.0) / 100 if float(server[1]) else 1.0
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
