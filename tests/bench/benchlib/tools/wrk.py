# SPDX-License-Identifier: Apache-2.0
"""wrk: HTTP/1.1, by a time."""

from __future__ import annotations

from ..apps import PATH
from ..model import Case, Outcome, Place
from .base import Client, check_failures, found_number


class Wrk(Client):
    name = "wrk"
    variable = "WRK"
    workloads = ("http_get",)

    def arguments(self, case: Case, place: Place) -> list[str]:
        return ["-t", "1", "-c", str(case.flows), "-d", f"{case.seconds}s", f"http://{place.server}{PATH}"]

    def parse(self, case: Case, client: str, server: str) -> Outcome:
        check_failures(client, r"Socket errors:.*?([1-9]\d*)", r"Non-2xx or 3xx responses: (\d+)")
        return Outcome(count=found_number(r"(\d+) requests in ", client), rate=found_number(r"^Requests/sec: +([\d.]+)", client))
