# SPDX-License-Identifier: Apache-2.0
"""A plug-in of pytest: --record-outcomes=FILE writes there how each test ended, a JSON line each, for suites.py."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--record-outcomes", metavar="FILE", help="write how each test ended, a JSON line each")


def pytest_configure(config: pytest.Config) -> None:
    path = config.getoption("--record-outcomes")
    if path and not hasattr(config, "workerinput"):  # workers of xdist report to the process that began them
        config.pluginmanager.register(_Recorder(Path(path)))


class _Recorder:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._open: dict[str, dict[str, Any]] = {}
        path.write_text("")

    def _write(self, outcome: dict[str, Any]) -> None:
        with self._path.open("a") as file:
            file.write(json.dumps(outcome) + "\n")

    @staticmethod
    def _why(report: pytest.TestReport | pytest.CollectReport) -> str:
        """In one line."""
        told: Any = report.longrepr
        if isinstance(told, tuple):  # of a skip: file, line, reason
            return str(told[2]).removeprefix("Skipped: ")
        crash = getattr(told, "reprcrash", None)
        if crash is None:
            return " ".join(str(told).split())[-300:]
        return f"{Path(crash.path).name}:{crash.lineno}: {' '.join(str(crash.message).split())[:300]}"

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        outcome = self._open.setdefault(report.nodeid, {"name": report.nodeid, "end": "passed", "seconds": 0.0, "why": ""})
        outcome["seconds"] += report.duration
        if report.failed or report.skipped and outcome["end"] == "passed":
            outcome |= {"end": report.outcome, "why": self._why(report)}
        if report.when == "teardown" or report.when not in ("setup", "call"):
            self._write(self._open.pop(report.nodeid))

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed or report.skipped:
            self._write({"name": report.nodeid, "end": report.outcome, "seconds": 0.0, "why": self._why(report)})

    def pytest_sessionfinish(self) -> None:
        for outcome in self._open.values():  # whose worker has died
            self._write(outcome | {"end": "failed", "why": outcome["why"] or "did not come to its end"})
