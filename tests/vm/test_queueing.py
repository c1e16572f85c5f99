# SPDX-License-Identifier: Apache-2.0
"""What only a queueing discipline makes of a socket's options."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from nmtest import Netmodel, phase_of
from vmtest import Link, group, rr

Profile = Callable[[str], Path]


@pytest.fixture
def fq(link: Link) -> None:
    link.queue("fq")


@pytest.mark.usefixtures("fq")
def test_tx_delay_is_felt_at_both_ends(netmodel: Netmodel, profile: Profile, link: Link) -> None:
    """By each request and each answer."""
    few = rr(10, 10, 'iterations="5"')
    document = link.run(netmodel, profile(group(few, "protocol=tcp tcp_tx_delay=20ms nodelay")))
    assert phase_of(document, "rr")["latency_s"]["min"] >= 0.040
    document = link.run(netmodel, profile(group(few, "protocol=tcp nodelay")))
    assert phase_of(document, "rr")["latency_s"]["min"] < 0.040
