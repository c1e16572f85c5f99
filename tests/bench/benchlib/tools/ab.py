# SPDX-License-Identifier: Apache-2.0
"""ab: HTTP/1.0 with connections that are kept, by a time or a number, whichever is over first."""

from __future__ import annotations

from ..apps import PATH
from ..model import Case, Outcome, Place
from .base import Client, check_failures, found_number

_MOST_PER_S = 300_000  # it keeps the times of each


class Ab(Client):
    name = "ab"
    variable = "AB"
    workloads = ("http_get",)

    def arguments(self, case: Case, place: Place) -> list[str]:
        # -t sets -n, so that -n stands behind it
        lasts = ["-t", str(case.seconds), "-n", str(_MOST_PER_S * case.seconds)]
        return ["-q", "-k", "-c", str(case.flows), *lasts, f"http://{place.server}{PATH}"]

    def parse(self, case: Case, client: str, server: str) -> Outcome:
        check_failures(client, r"^Failed requests: +(\d+)", r"^Non-2xx responses: +(\d+)")
        count = found_number(r"^Complete requests: +(\d+)", client)
        return Outcome(count=count, rate=found_number(r"^Requests per second: +([\d.]+)", client))
