# SPDX-License-Identifier: Apache-2.0
"""sockperf: ping-pong on one connection, with messages of at least 14 bytes."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ..model import BenchError, Case, Commands, Outcome, Place
from ..ports import free_ports
from .base import HOST, Tool, locate

_MIN_MESSAGE_BYTES = 14
_RUN = r"\[{}\] RunTime=([\d.]+) sec;.*ReceivedMessages=(\d+)"


class Sockperf(Tool):
    name = "sockperf"

    def __init__(self, program: str) -> None:
        self._program = program

    @classmethod
    def find(cls, env: Mapping[str, str]) -> Sockperf | None:
        found = locate(env, "SOCKPERF", "sockperf")
        return cls(found) if found else None

    def supported(self, case: Case) -> bool:
        return case.is_plain and case.workload == "tcp_rr" and case.flows == 1

    def run(self, case: Case, place: Place) -> Commands:
        (port,) = free_ports(1)
        address = ["--tcp", "-i", HOST, "-p", str(port)]
        client = [self._program, "ping-pong", *address, "-t", str(case.seconds)]
        client += ["-m", str(_MIN_MESSAGE_BYTES), "--full-rtt"]
        return Commands(client=client, server=[self._program, "server", *address], listens_on=port)

    def parse(self, case: Case, client: str, server: str) -> Outcome:
        total = re.search(_RUN.format("Total Run"), client)
        valid = re.search(_RUN.format("Valid Duration"), client)
        if total is None or valid is None or float(valid[1]) <= 0:
            raise BenchError("no run lines in the output")
        return Outcome(count=float(total[2]), rate=float(valid[2]) / float(valid[1]))
