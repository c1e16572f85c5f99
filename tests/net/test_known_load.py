# SPDX-License-Identifier: Apache-2.0
"""How exact the figures of CPUs are: a loop and a flood of softirqs that take a known share of one CPU each. tests/vm has
the same where the kernel accounts for interrupts and where it does not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from known_load import measure
from nmtest import Netmodel


@pytest.mark.needs("second_cpu")
@pytest.mark.alone
def test_cpus_are_as_busy_as_they_are_known_to_be(netmodel: Netmodel, profile: Callable[..., Path]) -> None:
    measure(netmodel, profile).check()
