# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "net"))

import probes  # noqa: E402


def pytest_addoption(parser: pytest.Parser) -> None:
    probes.add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    probes.register(config)
