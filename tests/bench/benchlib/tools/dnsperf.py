# SPDX-License-Identifier: Apache-2.0
"""dnsperf: DNS over UDP, with a socket a flow, by a time."""

from __future__ import annotations

from pathlib import Path

from ..apps import NAME
from ..model import Case, Outcome, Place
from .base import Client, check_failures, found_number, host_port


class Dnsperf(Client):
    name = "dnsperf"
    variable = "DNSPERF"
    workloads = ("dns_query",)

    def arguments(self, case: Case, place: Place) -> list[str]:
        host, port = host_port(place)
        names = Path(place.workdir) / "names"
        names.write_text(f"{NAME} A\n")
        flows = str(case.flows)
        return ["-s", host, "-p", port, "-d", str(names), "-l", str(case.seconds), "-T", "1", "-c", flows, "-q", flows]

    def parse(self, case: Case, client: str, server: str) -> Outcome:
        check_failures(client, r"^ *Queries lost: +(\d+)")
        count = found_number(r"^ *Queries completed: +(\d+)", client)
        return Outcome(count=count, rate=found_number(r"^ *Queries per second: +([\d.]+)", client))
