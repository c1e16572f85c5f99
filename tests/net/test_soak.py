# SPDX-License-Identifier: Apache-2.0
"""The short form of tests/prove/soak."""

from __future__ import annotations

from nmtest import Netmodel
from soak import soak


def test_many_runs_and_masters_leave_nothing_behind(netmodel: Netmodel) -> None:
    before, after, wrong = soak(netmodel, runs=20, warm=4, masters=20)
    assert not wrong
    assert (after.descriptors, after.shared) == (before.descriptors, before.shared)
    assert after.resident <= before.resident + (256 << 10)
