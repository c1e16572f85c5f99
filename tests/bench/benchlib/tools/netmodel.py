# SPDX-License-Identifier: Apache-2.0
"""netmodel, as two commands.

With its embedded slave it would be one session, and where the kernel gives each session its share of the CPUs
(autogroup) both ends together would get what each end of another tool gets."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..apps import APPS
from ..model import DEFAULT, SPIN, ZEROCOPY, BenchError, Case, Commands, Outcome, Place, cpu_list
from ..ports import free_ports
from .base import HOST, Tool, executable, locate
from .uperf import written_profile

_IN_TREE = Path(__file__).resolve().parents[4] / "build" / "src" / "netmodel"


class Netmodel(Tool):
    name = "netmodel"

    def __init__(self, program: str) -> None:
        self._program = program

    @classmethod
    def find(cls, env: Mapping[str, str]) -> Netmodel | None:
        found = None if env.get("NETMODEL") else executable(_IN_TREE)
        found = found or locate(env, "NETMODEL", "netmodel")
        return cls(found) if found else None

    def supported(self, case: Case) -> bool:
        return True

    def run(self, case: Case, place: Place) -> Commands:
        if case.is_app:
            return self._run_app(case, place)
        if case.is_profile:
            return self._run_profile(case, place)
        params: dict[str, object] = {"num_flows": case.flows, "num_threads": case.threads}
        params["test_length"] = case.seconds
        if case.is_stream and case.workload != DEFAULT:
            params["buffer_size"] = case.buffer_bytes
        if case.workload == SPIN:
            params["wait"] = "spin"
        if case.workload == ZEROCOPY:
            params["zerocopy"] = "true"
        if case.traffic == "udp_stream":
            params["message_size"] = case.datagram_bytes
        master = [self._program, "-m", case.traffic, "--format", "json"]
        for name, value in params.items():
            master += ["-D", f"{name}={value}"]
        return _both_ends(self._program, [*master, "-D", f"host={HOST}"], place)

    def _run_profile(self, case: Case, place: Place) -> Commands:
        """It names its host itself."""
        master = [self._program, "-m", written_profile(case, place), "--format", "json"]
        return _both_ends(self._program, master, place)

    def _run_app(self, case: Case, place: Place) -> Commands:
        profile = Path(place.workdir) / "profile.xml"
        profile.write_text(APPS[case.workload].profile(place.server, case.flows, case.seconds))
        client = [self._program, "-m", str(profile), "--format", "json", *_on(place.client_cpus)]
        return Commands(client=client, pins_itself=True)

    def parse(self, case: Case, client: str, server: str) -> Outcome:
        try:
            result = json.loads(client)
            totals = result["totals"]
            complete = result["run"]["complete"]
            badly_answered = _badly_answered(totals) if case.is_app else 0
            if case.is_stream:
                # Bytes that crossed the connection once, whichever end wrote them.
                count = max(totals["bytes_sent"], totals["bytes_received"])
                rate = totals["bits_per_s"] / 8
            elif case.traffic == "udp_stream":
                count = totals["messages"]["to_slaves"]["received"]
                rate = totals["messages"]["to_slaves"]["bits_received_per_s"] / 8
                rate /= case.datagram_bytes
            else:
                count = totals["transactions"]
                rate = totals["transactions_per_s"]
        except (ValueError, KeyError, TypeError) as error:
            raise BenchError(f"not a result document: {error!r}") from None
        if not complete:
            raise BenchError("the result is marked incomplete")
        if badly_answered:
            raise BenchError(f"{badly_answered} requests were not answered with what was asked for")
        return Outcome(count=float(count), rate=float(rate))


class Baseline(Netmodel):
    """Another version of netmodel, with the stock profiles of its own tree."""

    name = "baseline"

    @classmethod
    def find(cls, env: Mapping[str, str]) -> Netmodel | None:
        found = locate(env, "NETMODEL_BASELINE", "netmodel") if env.get("NETMODEL_BASELINE") else None
        return cls(found) if found else None


def _badly_answered(totals: Mapping[str, Any]) -> int:
    outcomes = totals["outcomes"]
    return int(outcomes["requests"] - outcomes["hits"] - outcomes["ok"])


def _both_ends(program: str, master: list[str], place: Place) -> Commands:
    (port,) = free_ports(1)
    slave = [program, "-s", "-P", str(port), *_on(place.server_cpus)]
    master = [*master, *_on(place.client_cpus), "-P", str(port)]
    return Commands(client=master, server=slave, listens_on=port, pins_itself=True)


def _on(cpus: tuple[int, ...]) -> list[str]:
    return ["--cpus", cpu_list(cpus)] if cpus else []
