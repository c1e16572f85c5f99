# SPDX-License-Identifier: Apache-2.0
"""netperf: one flow a process."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

from ..model import DEFAULT, BenchError, Case, Commands, Outcome, Place
from ..ports import free_ports
from .base import HOST, Tool, key_values, locate, number

_TESTS = {"tcp_rr": "TCP_RR", "tcp_crr": "TCP_CRR", "tcp_stream": "TCP_STREAM", "udp_rr": "UDP_RR"}
_OUTPUT = "THROUGHPUT,THROUGHPUT_UNITS,ELAPSED_TIME"
_TOP = Path(__file__).resolve().parents[4]
_FOLDER = _TOP / "build" / "partners" / "netperf"


def _has_debians() -> bool:
    """Unpacked below the build folder, where it is asked of the mirrors, which have it in a component of its own."""
    command = [_TOP / "tests" / "k8s" / "packages", "--component", "non-free", _FOLDER, "netperf"]
    return subprocess.run(command, check=False).returncode == 0


class Netperf(Tool):
    name = "netperf"

    def __init__(self, client: str, server: str) -> None:
        self._client = client
        self._server = server

    @classmethod
    def find(cls, env: Mapping[str, str]) -> Netperf | None:
        """As NETPERF_DIR or PATH has it, or else as Debian has it."""
        if (found := cls._located(env)) or env.get("NETPERF_DIR") or not _has_debians():
            return found
        return cls._located({"NETPERF_DIR": str(_FOLDER / "usr" / "bin")})

    @classmethod
    def _located(cls, env: Mapping[str, str]) -> Netperf | None:
        client = locate(env, "NETPERF_DIR", "netperf")
        server = locate(env, "NETPERF_DIR", "netserver")
        return cls(client, server) if client and server else None

    def supported(self, case: Case) -> bool:
        return case.flows == 1 and (case.is_plain or case.workload == DEFAULT) and case.traffic in _TESTS

    def run(self, case: Case, place: Place) -> Commands:
        (port,) = free_ports(1)
        client = [self._client, "-4", "-H", HOST, "-p", str(port), "-t", _TESTS[case.traffic]]
        client += ["-l", str(case.seconds), "-P", "0"]
        client += ["-f", "m"] if case.is_stream else []
        client += ["--", "-k", _OUTPUT]
        if case.workload != DEFAULT:
            client += ["-m", str(case.buffer_bytes)] if case.is_stream else ["-r", "1,1"]
        # -f: serve in the listening process, whose CPU time is then seen when it ends.
        server = [self._server, "-D", "-f", "-4", "-L", HOST, "-p", str(port)]
        return Commands(client=client, server=server, listens_on=port)

    def parse(self, case: Case, client: str, server: str) -> Outcome:
        values = key_values(client)
        rate = number(values, "THROUGHPUT")
        expected = "10^6bits/s" if case.is_stream else "Trans/s"
        if values.get("THROUGHPUT_UNITS") != expected:
            unit = values.get("THROUGHPUT_UNITS")
            raise BenchError(f"throughput in {unit!r}, expected {expected!r}")
        if case.is_stream:
            rate *= 1e6 / 8
        return Outcome(count=rate * number(values, "ELAPSED_TIME"), rate=rate)
