# SPDX-License-Identifier: Apache-2.0
"""Links that lose, delay, double and reorder packets: what netmodel counts is held against what netem has counted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import probes
from nmtest import Json, Netmodel, master_of, phase_of
from vmtest import Link, group, one_way, rr

Profile = Callable[[str], Path]

pytestmark = pytest.mark.needs("netem")

LOSSES = ("1%", "10%")
IP_PROTOCOLS = {"tcp": 6, "mptcp": 6, "sctp": 132}

MESSAGES = 2000
# Eight flows at this pace, and a buffer for all: nothing is lost but what netem drops.
PACED = f'iterations="{MESSAGES // 8}" rate="250"'
ROOMY = "protocol=udp wndsz=8m"


def datagrams(netmodel: Netmodel, profile: Profile, link: Link, flows: int = 8) -> Json:
    """What has become of messages of 1000 bytes from the master to the slave."""
    # A sender that the kernel moves to another CPU overtakes its own packets, as each CPU has a queue for the link.
    document = link.run(netmodel, profile(group(one_way(1000, PACED), ROOMY, flows=flows)), "--cpus", "0")
    way: Json = phase_of(document, "one way")["messages"]["to_slaves"]
    assert way["sent"] == flows * (MESSAGES // 8)
    assert link.no_room(1) == 0
    return way


@pytest.mark.parametrize("loss", LOSSES)
def test_lost_datagrams(netmodel: Netmodel, profile: Profile, link: Link, loss: str) -> None:
    link.disturb_datagrams(1000, f"loss {loss}")
    way = datagrams(netmodel, profile, link)
    netem = link.disturbed(0)
    assert netem.passed + netem.dropped == MESSAGES
    assert way["lost"] == netem.dropped > 0
    assert way["received"] == netem.passed
    assert way["duplicates"] == way["reordered"] == 0


def test_doubled_datagrams(netmodel: Netmodel, profile: Profile, link: Link) -> None:
    link.disturb_datagrams(1000, "duplicate 10%")
    way = datagrams(netmodel, profile, link)
    netem = link.disturbed(0)
    # When a flow has read its last message, it does not wait for a copy of that.
    assert netem.passed - 8 <= way["received"] <= netem.passed
    assert way["duplicates"] == way["received"] - MESSAGES > 0
    assert way["lost"] == netem.dropped == way["reordered"] == 0


def test_reordered_datagrams(netmodel: Netmodel, profile: Profile, link: Link) -> None:
    """Each fifth goes at once, and so overtakes the four before it, which are late."""
    link.disturb_datagrams(1000, "delay 400ms reorder 100% gap 5")
    way = datagrams(netmodel, profile, link, flows=1)
    assert way["reordered"] == way["sent"] * 4 // 5
    assert way["received"] == link.disturbed(0).passed == way["sent"]
    assert way["lost"] == way["duplicates"] == 0


@pytest.mark.parametrize(
    ("loss", "waits"), [("1%", ""), ("1%", "timeout=400ms"), ("10%", "timeout=400ms"), ("10%", "timeout=400ms canfail")]
)
def test_answers_that_do_not_come(netmodel: Netmodel, profile: Profile, link: Link, loss: str, waits: str) -> None:
    """Each wait for what is lost ends, and the flow goes on."""
    link.disturb_datagrams(1000, f"loss {loss}")
    flows, passes = 8, 15
    body = f"""<transaction name="rr" iterations="{passes}"><flowop type="write" options="size=1000"/>
      <flowop type="read" options="size=1000 {waits}"/></transaction>"""
    document = link.run(netmodel, profile(group(body, ROOMY, flows=flows)))
    phase = phase_of(document, "rr")
    ways = phase["messages"]
    there, back = link.disturbed(0), link.disturbed(1)
    assert there.passed + there.dropped == ways["to_slaves"]["sent"] == flows * passes
    assert there.dropped + back.dropped > 0 or loss == "1%"
    # A machine that is busy answers after the wait, too, and maybe after the end.
    early = ways["timeouts"] - there.dropped - back.dropped
    assert early >= 0
    assert 0 <= ways["to_slaves"]["lost"] - there.dropped <= early
    assert 0 <= ways["to_master"]["lost"] - back.dropped <= early


@pytest.mark.parametrize("protocol", probes.protocols("tcp", "mptcp", "sctp"))
@pytest.mark.parametrize("loss", LOSSES)
def test_streams_over_a_link_that_loses_packets(
    netmodel: Netmodel, profile: Profile, link: Link, protocol: str, loss: str
) -> None:
    """All bytes arrive, and each packet of data that is lost is sent again."""
    link.disturb_long(IP_PROTOCOLS[protocol], f"loss {loss}")
    more = "sctp_rto_min=100 sctp_rto_initial=200 sctp_rto_max=1000" if protocol == "sctp" else ""
    passes = 50 if loss == "1%" else 10
    body = one_way(10000, f'iterations="{passes}"') + rr(10, 10, 'iterations="1"')
    document = link.run(netmodel, profile(group(body, f"protocol={protocol} {more}", flows=4)))
    own = master_of(document)
    dropped = link.disturbed(0).dropped
    assert own["groups"][0]["bytes_sent"] == 4 * (passes * 10000 + 10)
    assert dropped > 0, link.disturbed(0)
    if protocol != "mptcp":  # which does not tell
        assert own["connections"]["retransmits"] >= dropped


@pytest.mark.parametrize("protocol", probes.protocols("tcp", "sctp", "ssl", "udp"))
def test_everything_at_once(netmodel: Netmodel, profile: Profile, link: Link, protocol: str) -> None:
    link.disturb("delay 4ms 3ms loss 2% duplicate 3%")
    more = "sctp_rto_min=100 sctp_rto_initial=200 sctp_rto_max=1000" if protocol == "sctp" else ""
    body = rr(200, 1400, 'iterations="10"') + one_way(1400, 'iterations="50"') + rr(10, 20, 'duration="300ms"')
    link.run(netmodel, profile(group(body, f"protocol={protocol} {more}", threads=2, flows=4)))


@pytest.mark.parametrize("protocol", probes.protocols("tcp", "sctp", "udp"))
def test_delay(netmodel: Netmodel, profile: Profile, link: Link, protocol: str) -> None:
    link.disturb("delay 30ms")
    document = link.run(netmodel, profile(group(rr(10, 20, 'iterations="5"'), f"protocol={protocol}")))
    latency = phase_of(document, "rr")["latency_s"]
    assert latency["min"] >= 0.06
    assert latency["p50"] < 0.25


@pytest.mark.needs("sctp")
def test_messages_that_are_given_up(netmodel: Netmodel, profile: Profile, link: Link) -> None:
    """SCTP drops what has waited too long for a slow link: it is sent, and it is lost."""
    link.disturb("delay 20ms rate 2mbit limit 20")
    body = one_way(1000, 'duration="2s"', "sctp_unordered sctp_pr_policy=ttl sctp_pr_value=50")
    document = link.run(netmodel, profile(group(body, "protocol=sctp")))
    way = phase_of(document, "one way")["messages"]["to_slaves"]
    assert 0 < way["received"] < way["sent"], way
    assert way["lost"] == way["sent"] - way["received"]
