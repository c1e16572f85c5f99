# SPDX-License-Identifier: Apache-2.0
"""uperf: a thread a flow, driven by a generated profile."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping

from ..model import BenchError, Case, Commands, Outcome, Place
from ..ports import free_ports
from .base import HOST, Tool, locate

_CONNECT = '<flowop type="connect" options="remotehost={host} protocol={protocol}"/>'
_DISCONNECT = '<flowop type="disconnect"/>'
_SAMPLE = re.compile(r"timestamp_ms:([\d.]+) name:Txn(\d+) nr_bytes:(\d+) nr_ops:(\d+)")
_DATA = re.compile(r"^(\S+)\s+[\d.]+s\s+([\d.]+)([KMGT]?)B\s", re.MULTILINE)
_BINARY = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_OPERATIONS = {"tcp_rr": 2, "tcp_crr": 4, "tcp_stream": 1, "udp_rr": 2, "udp_stream": 1}
_OWN = ("tcp_rr", "tcp_crr", "tcp_stream")
_ENOUGH_SAMPLES = 4
_LEAST_SAMPLES = 3
_EXCHANGE = ('<flowop type="write" options="size=1"/>', '<flowop type="read" options="size=1"/>')


class Uperf(Tool):
    name = "uperf"

    def __init__(self, program: str) -> None:
        self._program = program

    @classmethod
    def find(cls, env: Mapping[str, str]) -> Uperf | None:
        found = locate(env, "UPERF_DIR", "uperf")
        return cls(found) if found else None

    def supported(self, case: Case) -> bool:
        return (case.is_plain and case.workload in _OWN) or case.is_profile

    def run(self, case: Case, place: Place) -> Commands:
        (port,) = free_ports(1)
        return Commands(
            # -i also sets how soon the end of a phase is noticed
            client=[self._program, "-m", written_profile(case, place), "-P", str(port), "-R", "-i", "100ms"],
            server=[self._program, "-s", "-P", str(port)],
            listens_on=port,
        )

    def parse(self, case: Case, client: str, server: str) -> Outcome:
        measured = 1 if case.traffic == "tcp_crr" else 2
        operations = _OPERATIONS[case.traffic]
        one_way = case.is_stream or case.traffic == "udp_stream"
        before: list[tuple[float, float]] = []
        samples: list[tuple[float, float]] = []
        for stamp, phase, nr_bytes, nr_ops in _SAMPLE.findall(client):
            count = float(nr_bytes) if case.is_stream else float(nr_ops) / operations
            if int(phase) == measured:
                samples.append((float(stamp) / 1000, count))
            elif int(phase) < measured:
                before = [(float(stamp) / 1000, 0.0)]
        if len(samples) < _ENOUGH_SAMPLES:
            # Many threads on its CPU keep the reporting one from its work; the phase before still
            # tells when this one began.
            samples = before + samples
        if len(samples) < _LEAST_SAMPLES:
            raise BenchError(f"{len(samples)} progress lines of phase {measured}")
        # The last line comes up to some polls after the phase ended, so its time is not used.
        (start, first), (end, last) = samples[0], samples[-2]
        if end <= start:
            raise BenchError("progress lines without elapsed time")
        share = arrived(client) if one_way else 1.0
        return Outcome(count=samples[-1][1] * share, rate=(last - first) / (end - start) * share)


def arrived(text: str) -> float:
    """The share of the written bytes that the other end read; uperf drops the rest when it ends."""
    data = {host: float(n) * _BINARY[prefix] for host, n, prefix in _DATA.findall(text)}
    if not data.get(HOST) or not data.get("master"):
        raise BenchError("no run statistics of both ends")
    return min(1.0, data[HOST] / data["master"])


def written_profile(case: Case, place: Place) -> str:
    """The file with the profile."""
    with tempfile.NamedTemporaryFile("w", dir=place.workdir, suffix=".xml", delete=False) as file:
        file.write(profile_text(case))
    return file.name


def profile_text(case: Case) -> str:
    """The profile. One element a line: uperf's own parser needs it."""
    connect = _CONNECT.format(host=HOST, protocol=case.traffic[:3])
    if case.is_stream:
        body = [f'<flowop type="write" options="size={case.buffer_bytes}"/>']
    elif case.traffic == "udp_stream":
        body = [f'<flowop type="write" options="size={case.datagram_bytes}"/>']
    else:
        body = list(_EXCHANGE)
    timed = f'<transaction duration="{case.seconds}s">'
    once = '<transaction iterations="1">'
    if case.traffic == "tcp_crr":
        phases = [timed, connect, *body, _DISCONNECT, "</transaction>"]
    else:
        phases = [once, connect, "</transaction>", timed, *body, "</transaction>"]
        phases += [once, _DISCONNECT, "</transaction>"]
    head = ['<?xml version="1.0"?>', '<profile name="bench">', f'<group nthreads="{case.flows}">']
    return "\n".join([*head, *phases, "</group>", "</profile>", ""])
