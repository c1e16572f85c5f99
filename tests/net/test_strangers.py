# SPDX-License-Identifier: Apache-2.0
"""The short form of tests/prove/strangers: a run is complete, and the next one is served, whoever comes meanwhile."""

from __future__ import annotations

import pytest

from nmtest import Netmodel, Slave
from strangers import CROWDS, measure_beside

MOST_BYTES = 600 << 20


@pytest.mark.parametrize("name", CROWDS)
def test_a_run_beside_strangers(netmodel: Netmodel, slave: Slave, name: str) -> None:
    beside = measure_beside(netmodel, slave, name, "500ms")
    assert beside.came > 10
    assert not beside.after
    assert beside.most_bytes < MOST_BYTES
    assert slave.process.running()
    assert "signal" not in slave.process.err, "no session has crashed"
