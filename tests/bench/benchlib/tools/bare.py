# SPDX-License-Identifier: Apache-2.0
"""Loops written by hand (bare.c) that do nothing but what has to be done: the bound of every tool."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from ..apps import APPS, App, host_port
from ..model import Case, Commands, Outcome, Place
from ..ports import free_ports
from .base import Tool, key_values, number

_SOURCE = Path(__file__).resolve().parents[2] / "bare.c"


class Bare(Tool):
    name = "bare"

    def __init__(self, program: str, folder: tempfile.TemporaryDirectory[str]) -> None:
        self._program = program
        self._folder = folder  # goes with this object

    @classmethod
    def find(cls, env: Mapping[str, str]) -> Bare | None:
        compiler = shutil.which(env.get("CC", "cc"), path=env.get("PATH"))
        if compiler is None:
            return None
        folder = tempfile.TemporaryDirectory(prefix="netmodel-bare-")
        program = str(Path(folder.name) / "bare")
        command = [compiler, "-D_GNU_SOURCE", "-O2", "-o", program, str(_SOURCE)]
        done = subprocess.run(command, capture_output=True, timeout=60, check=False)
        return cls(program, folder) if done.returncode == 0 else None

    def supported(self, case: Case) -> bool:
        return case.is_app or (case.is_plain and case.workload == "tcp_rr")

    def run(self, case: Case, place: Place) -> Commands:
        if case.is_app:
            return self._ask(APPS[case.workload], case, place)
        (port,) = free_ports(1)
        client = [self._program, "client", str(port), str(case.flows), str(case.seconds)]
        return Commands(client=client, server=[self._program, "server", str(port)], listens_on=port)

    def _ask(self, app: App, case: Case, place: Place) -> Commands:
        request = Path(place.workdir) / "request"
        request.write_bytes(app.request)
        load = [str(host_port(place.server)[1]), str(case.flows), str(case.seconds)]
        return Commands([self._program, "ask", app.protocol, *load, str(request), str(app.answer_bytes(place.server))])

    def parse(self, case: Case, client: str, server: str) -> Outcome:
        values = key_values(client)
        count = number(values, "transactions")
        return Outcome(count=count, rate=count / number(values, "seconds"))
