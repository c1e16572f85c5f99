# SPDX-License-Identifier: Apache-2.0
"""PSP beside plain TCP: what it takes to begin, and after that a socket like any other."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from nmtest import TRACED, Netmodel, defines, master_of, phase_of
from psptest import Pair, assert_went_over_psp, moved, run


@pytest.mark.parametrize("option", ["rx_zerocopy", "zerocopy", "skip_rx_copy"])
def test_streams_without_copies(netmodel: Netmodel, pair: Pair, option: str) -> None:
    before = [pair.control(side, "show") for side in (0, 1)]
    document = run(netmodel, pair, "psp_stream", *defines(test_length="1s", num_flows=2, **{option: "yes"}))
    assert moved(document)[0] > 0
    assert_went_over_psp(pair, before, document)


WAITS = {"epoll_wait", "epoll_pwait", "epoll_pwait2", "ppoll"}


def calls(netmodel: Netmodel, pair: Pair, where: Path, name: str, flows: int, transactions: int) -> Counter[str]:
    """System calls of the master's only worker by name."""
    prefix = (*pair.prefix(0), "strace", "-ff", "-qq", "-s", "0", "-o", str(where))
    with netmodel.slave("--no-auth", prefix=pair.prefix(1)) as slave:
        words = defines(host=pair.addresses["IPv4"][1], num_flows=flows, num_transactions=transactions)
        more = (*defines(test_length="300s"), "-P", str(slave.port))
        document = netmodel.measure(name, *words, *more, prefix=prefix, env=TRACED)
    assert master_of(document)["groups"][0]["transactions"] == transactions + 2 * flows
    threads = [Counter(re.findall(r"^(\w+)\(", one.read_text(), re.M)) for one in where.parent.glob(f"{where.name}.*")]
    return max(threads, key=lambda counts: counts["sendto"])


@pytest.mark.long
@pytest.mark.parametrize("flows", [1, 8])
def test_a_transaction_costs_what_it_costs_over_tcp(netmodel: Netmodel, pair: Pair, tmp_path: Path, flows: int) -> None:
    """In system calls: those of a long run less those of a short one."""
    few, many = 100, 500
    for name in ("tcp_rr", "psp_rr"):
        short, long = (calls(netmodel, pair, tmp_path / f"{name}{n}", name, flows, n) for n in (few, many))
        cost = {call: (long[call] - short[call]) / (many - few) for call in long}
        assert cost["sendto"] == pytest.approx(1, abs=0.05), (name, cost)
        # Receives that find nothing are many or few in either run.
        assert 0.9 < cost["recvfrom"] < 1.3, (name, cost)
        others = {call: each for call, each in cost.items() if call not in WAITS | {"sendto", "recvfrom"}}
        assert sum(map(abs, others.values())) < 0.1, (name, others)
        assert sum(cost.get(call, 0) for call in WAITS) < 1.2, (name, cost)


@pytest.fixture
def scheduled(pair: Pair) -> Iterator[Pair]:
    """What leaves may be delayed: not by netem, which takes what belongs to PSP from a segment that it delays."""
    interfaces = [pair.devices(side)[0]["ifname"] for side in (0, 1)]
    for side, interface in enumerate(interfaces):
        pair.shell(f"tc qdisc add dev {interface} root fq", side)
    yield pair
    for side, interface in enumerate(interfaces):
        pair.shell(f"tc qdisc delete dev {interface} root", side)


def test_keys_are_exchanged_at_once(netmodel: Netmodel, scheduled: Pair) -> None:
    """By all flows of a worker, and not by one after the other: of each the exchange takes some ways there and back."""
    flows, way_s = 60, 0.2
    words = defines(test_length="1s", num_flows=flows, tcp_tx_delay=f"{way_s}s")
    document = run(netmodel, scheduled, "psp_rr", *words)
    assert master_of(document)["groups"][0]["connects"] == flows
    assert 4 * way_s <= phase_of(document, "connect")["seconds"] < flows * 4 * way_s / 3
