# SPDX-License-Identifier: Apache-2.0
"""iperf3: streams only, up to 128 of them."""

from __future__ import annotations

import json
from collections.abc import Mapping

from ..model import DEFAULT, BenchError, Case, Commands, Outcome, Place
from ..ports import free_ports
from .base import HOST, Tool, locate

_MAX_STREAMS = 128


class Iperf3(Tool):
    name = "iperf3"

    def __init__(self, program: str) -> None:
        self._program = program

    @classmethod
    def find(cls, env: Mapping[str, str]) -> Iperf3 | None:
        found = locate(env, "IPERF3", "iperf3")
        return cls(found) if found else None

    def supported(self, case: Case) -> bool:
        works = case.workload in ("tcp_stream", DEFAULT) and case.threads == 1
        return works and case.flows <= _MAX_STREAMS

    def run(self, case: Case, place: Place) -> Commands:
        (port,) = free_ports(1)
        common = [self._program, "-p", str(port), "-J"]
        client = [*common, "-c", HOST, "-t", str(case.seconds), "-P", str(case.flows)]
        if case.workload != DEFAULT:
            client += ["-l", str(case.buffer_bytes)]
        server = [*common, "-s", "-1", "-B", HOST]
        return Commands(client=client, server=server, listens_on=port, server_ends=True)

    def parse(self, case: Case, client: str, server: str) -> Outcome:
        try:
            received = json.loads(client)["end"]["sum_received"]
            return Outcome(count=received["bytes"], rate=received["bits_per_second"] / 8)
        except (ValueError, KeyError, TypeError) as error:
            raise BenchError(f"no sum of received bytes: {error!r}") from None
