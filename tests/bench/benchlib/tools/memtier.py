# SPDX-License-Identifier: Apache-2.0
"""memtier_benchmark: memcached and Redis, by a number of requests."""

from __future__ import annotations

from ..apps import KEY, KEY_NUMBER, host_port
from ..model import Case, Outcome, Place
from .base import Client, check_failures, found_number

_PROTOCOLS = {"memcache_get": "memcache_text", "redis_get": "redis"}


class Memtier(Client):
    name = "memtier_benchmark"
    variable = "MEMTIER_BENCHMARK"
    by_number = True
    workloads = tuple(_PROTOCOLS)

    def arguments(self, case: Case, place: Place) -> list[str]:
        host, port = host_port(place.server)
        address = ["-s", host, "-p", str(port), "-P", _PROTOCOLS[case.workload]]
        load = ["-t", "1", "-c", str(case.flows), "-n", str(case.about_as_many // case.flows), "--ratio", "0:1"]
        key = ["--key-prefix", KEY.removesuffix(KEY_NUMBER), "--key-minimum", KEY_NUMBER, "--key-maximum", KEY_NUMBER]
        return [*address, *load, *key, "--hide-histogram"]

    def parse(self, case: Case, client: str, server: str) -> Outcome:
        check_failures(client, r"^Gets +[\d.]+ +[\d.]+ +([\d.]+)")  # those that have missed
        rate = found_number(r"^Gets +([\d.]+)", client)
        return Outcome(count=case.about_as_many // case.flows * case.flows, rate=rate)
