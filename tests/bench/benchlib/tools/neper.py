# SPDX-License-Identifier: Apache-2.0
"""neper: one program a workload."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ..model import DEFAULT, OWN_WORKLOADS, SPIN, ZEROCOPY, Case, Commands, Outcome, Place
from ..ports import free_ports
from .base import HOST, Tool, key_values, locate, number

_SOMAXCONN = Path("/proc/sys/net/core/somaxconn")
_BACKLOG = 1024


class Neper(Tool):
    name = "neper"

    def __init__(self, programs: Mapping[str, str]) -> None:
        self._programs = programs

    @classmethod
    def find(cls, env: Mapping[str, str]) -> Neper | None:
        found = {workload: locate(env, "NEPER_DIR", workload) for workload in OWN_WORKLOADS}
        programs = {workload: path for workload, path in found.items() if path}
        return cls(programs) if len(programs) == len(OWN_WORKLOADS) else None

    def supported(self, case: Case) -> bool:
        return not case.is_profile

    def run(self, case: Case, place: Place) -> Commands:
        control, data = free_ports(2)
        common = [self._programs[case.traffic], "-H", HOST, "-C", str(control), "-P", str(data)]
        common += ["-F", str(case.flows), "-T", str(case.threads), "-l", str(case.seconds), "--nolog"]
        if case.is_stream and case.workload != DEFAULT:
            common += ["-B", str(case.buffer_bytes)]
        if case.workload == SPIN:
            common += ["--nonblocking"]
        if case.workload == ZEROCOPY:
            common += ["--zerocopy"]
        if case.traffic == "udp_stream":
            common += ["-B", str(case.datagram_bytes)]
        server = list(common)
        if case.flows > 128 and int(_SOMAXCONN.read_text()) >= _BACKLOG:
            server += [f"--listen-backlog={_BACKLOG}"]
        return Commands(client=[*common, "-c"], server=server, listens_on=control, server_ends=True)

    def parse(self, case: Case, client: str, server: str) -> Outcome:
        # Of a stream only the reader, here the server, knows the bytes.
        one_way = case.is_stream or case.traffic == "udp_stream"
        values = key_values(server if one_way else client)
        elapsed = number(values, "time_end") - number(values, "time_start")
        if one_way:
            rate = number(values, "local_throughput") / 8
            rate /= case.datagram_bytes if case.traffic == "udp_stream" else 1
        else:
            rate = number(values, "throughput")
        # num_transactions leaves out what came after the last sample; the throughput does not.
        return Outcome(count=rate * elapsed, rate=rate)
