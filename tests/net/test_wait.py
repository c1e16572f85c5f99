# SPDX-License-Identifier: Apache-2.0
"""Workers that spin instead of sleeping."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from nmtest import Netmodel, assert_complete, assert_ends_agree, calmly, defines

WriteProfile = Callable[..., Path]


@pytest.mark.parametrize(
    ("name", "flows"),
    [*((name, flows) for name in ("tcp_rr", "udp_rr") for flows in (1, 4)), ("tcp_crr", 4), ("tcp_stream", 4), ("udp_stream", 4)],
)
def test_spinning_workers_do_not_sleep(netmodel: Netmodel, name: str, flows: int) -> None:
    document = netmodel.measure(name, *defines(wait="spin", num_flows=flows, test_length="500ms"))
    assert_complete(document)
    if name.startswith("tcp"):
        assert_ends_agree(document)
    passes = document["totals"]["transactions"]
    assert passes > 20
    # The main thread sleeps and wakes up all the same, some ten times.
    assert all(host["rusage"]["nvcsw"] < 60 + passes // 20 for host in document["hosts"])


def test_a_spinning_profile_of_everything_ends(netmodel: Netmodel, profile: WriteProfile) -> None:
    path = profile(
        """<group nthreads="2" wait="spin">
  <transaction iterations="20"><flowop type="connect" options="remotehost=local protocol=unix"/>
    <flowop type="write" options="size=100k"/><flowop type="read" options="size=10"/>
    <flowop type="think" options="duration=1ms"/><flowop type="disconnect"/></transaction>
  <transaction duration="100ms" rate="100"><flowop type="think" options="duration=1us"/></transaction>
</group>"""
    )
    document = netmodel.measure(path)
    assert_complete(document)
    counted, paced = (phase["transactions"] for phase in document["groups"][0]["phases"])
    assert counted == 40
    assert 0 < paced <= 20


@calmly
def test_limits_of_waits_hold_while_spinning(netmodel: Netmodel, profile: WriteProfile) -> None:
    """Each answer comes after 50 ms, and is waited for 20 ms."""
    path = profile(
        """<group nthreads="1" wait="spin">
  <transaction iterations="1"><flowop type="connect" options="remotehost=local protocol=udp"/></transaction>
  <transaction iterations="150"><flowop type="write" options="size=64"/><flowop type="read" options="size=64"/>
  </transaction>
  <transaction iterations="10"><flowop type="write" options="size=64"/>
    <flowop type="think" options="duration=50ms at=slave"/><flowop type="read" options="size=64 timeout=20ms"/>
  </transaction>
  <transaction iterations="1"><flowop type="disconnect"/></transaction></group>"""
    )
    document = netmodel.measure(path)
    assert_complete(document)
    phases = document["groups"][0]["phases"]
    assert document["totals"]["messages"]["timeouts"] >= 8
    assert phases[2]["transactions"] + phases[2]["messages"]["unanswered"] == 10
    assert 0.15 < phases[2]["seconds"] < 2
