# SPDX-License-Identifier: Apache-2.0
"""redis-benchmark: Redis, by a number of requests."""

from __future__ import annotations

from ..apps import KEY
from ..model import Case, Outcome, Place
from .base import Client, found_number, host_port


class RedisBenchmark(Client):
    name = "redis-benchmark"
    variable = "REDIS_BENCHMARK"
    workloads = ("redis_get",)

    def arguments(self, case: Case, place: Place) -> list[str]:
        host, port = host_port(place)
        address = ["-h", host, "-p", port, "-c", str(case.flows)]
        return [*address, "-n", str(case.about_as_many), "--csv", "GET", KEY]

    def parse(self, case: Case, client: str, server: str) -> Outcome:
        return Outcome(count=case.about_as_many, rate=found_number(r'^"GET[^"]*","([\d.]+)"', client))
