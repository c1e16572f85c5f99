# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "net"))

from nmtest import PROBES, Netmodel, lacks, locate_binary  # noqa: E402
from psptest import ALL_VERSIONS, BUS, Pair  # noqa: E402
from vmtest import Link, standing, without  # noqa: E402


@pytest.fixture(scope="session")
def netmodel() -> Netmodel:
    return Netmodel(locate_binary())


@pytest.fixture(scope="session")
def need() -> Callable[[str], None]:
    """What the machine of these tests has; elsewhere the test is skipped without it."""

    def check(protocol: str) -> None:
        if missing := lacks(protocol) if protocol in PROBES else None:
            without(protocol, missing)

    return check


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
    if os.geteuid() != 0:
        pytest.skip("network namespaces need root")
    yield from standing(Link())


@pytest.fixture
def link(_link: Link) -> Iterator[Link]:
    yield _link
    _link.undisturb()


@pytest.fixture(scope="session")
def netem(_link: Link) -> None:
    """There is one outside the machine when the kernel has it, and a way to find its packets."""
    try:
        _link.disturb_datagrams(1, "delay 0ms")
    except subprocess.CalledProcessError as error:
        without("netem", error.stderr.strip())
    _link.undisturb()


@pytest.fixture(scope="session")
def _pair() -> Iterator[Pair]:
    if os.geteuid() != 0 or not BUS.exists():
        without("netdevsim", "CONFIG_NETDEVSIM, and root")
    yield from standing(Pair())


@pytest.fixture
def pair(_pair: Pair) -> Pair:
    for side in (0, 1):
        _pair.control(side, "enable", str(ALL_VERSIONS))
    return _pair
