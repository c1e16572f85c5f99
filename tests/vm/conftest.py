# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "net"))

import probes  # noqa: E402
from nmtest import Netmodel, locate_binary  # noqa: E402
from psptest import ALL_VERSIONS, Pair  # noqa: E402
from vmtest import Link, standing  # noqa: E402


def pytest_addoption(parser: pytest.Parser) -> None:
    probes.add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "long: ./quickstart check leaves it out, and ./quickstart prove vm runs it")
    probes.register(config)


@pytest.fixture(scope="session")
def netmodel() -> Netmodel:
    return Netmodel(locate_binary())


@pytest.fixture
def profile(tmp_path: Path) -> Callable[[str], Path]:
    """Writes the groups of a profile into a file."""

    def write(groups: str) -> Path:
        path = tmp_path / "profile.xml"
        path.write_text(f"<profile>\n{groups}\n</profile>\n")
        return path

    return write


@pytest.fixture(scope="session")
def _link() -> Iterator[Link]:
    yield from standing(Link())


@pytest.fixture
def link(_link: Link) -> Iterator[Link]:
    yield _link
    _link.undisturb()


@pytest.fixture(scope="session")
def _pair() -> Iterator[Pair]:
    yield from standing(Pair())


@pytest.fixture
def pair(_pair: Pair) -> Pair:
    for side in (0, 1):
        _pair.control(side, "enable", str(ALL_VERSIONS))
    return _pair
