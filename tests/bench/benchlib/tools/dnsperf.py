# SPDX-License-Identifier: Apache-2.0
"""dnsperf: DNS over UDP, with a socket a flow, by a time."""

from __future__ import annotations

from pathlib import Path

from ..apps import NAME, host_port
from ..model import Case, Outcome, Place
from .base import Client, check_failures, found_number


class Dnsperf(Client):
    name = "dnsperf"
    variable = "DNSPERF"
    workloads = ("dns_query",)

    def arguments(self, case: Case, place: Place) -> list[str]:
        host, port = host_port(place.server)
        names = Path(place.workdir) / "names"
        names.write_text(f"{NAME} A\n")
        flows = str(case.flows)
        return ["-s", host, "-p", str(port), "-d", str(names), "-l", str(case.seconds), "-T", "1", "-c", flows, "-q", flows]

    def parse(self, case: Case, client: str, server: str) -> Outcome:
        check_failures(client, r"^ *Queries lost: +(\d+)", r"(?:^ *Response codes:|%\),) +(?!NOERROR )\w+ (\d+)")
        count = found_number(r"^ *Queries completed: +(\d+)", client)
        return Outcome(count=count, rate=found_number(r"^ *Queries per second: +([\d.]+)", client))
