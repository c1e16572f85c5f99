# SPDX-License-Identifier: Apache-2.0
"""redis-benchmark: Redis, by a number of requests. It takes a key that is not there for an answer, too."""

from __future__ import annotations

from ..apps import KEY, host_port
from ..model import Case, Outcome, Place
from .base import Client, found_number


class RedisBenchmark(Client):
    name = "redis-benchmark"
    variable = "REDIS_BENCHMARK"
    by_number = True
    workloads = ("redis_get",)

    def arguments(self, case: Case, place: Place) -> list[str]:
        host, port = host_port(place.server)
        address = ["-h", host, "-p", str(port), "-c", str(case.flows)]
        return [*address, "-n", str(case.about_as_many), "--csv", "GET", KEY]

    def parse(self, case: Case, client: str, server: str) -> Outcome:
        return Outcome(count=case.about_as_many, rate=found_number(r'^"GET[^"]*","([\d.]+)"', client))
