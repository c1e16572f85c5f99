# SPDX-License-Identifier: Apache-2.0
"""PSP once keys are set: a socket like any other, with all that moves bytes over one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from nmtest import TRACED, Netmodel, defines, master_of
from test_psp import Pair, _pair, assert_went_over_psp, moved, pair, run  # noqa: F401


@pytest.mark.parametrize("option", ["rx_zerocopy", "zerocopy", "skip_rx_copy"])
def test_streams_without_copies(netmodel: Netmodel, pair: Pair, option: str) -> None:
    before = [pair.control(side, "show") for side in (0, 1)]
    document = run(netmodel, pair, "psp_stream", *defines(test_length="1s", num_flows=2, **{option: "yes"}))
    assert moved(document)[0] > 0
    assert_went_over_psp(pair, before, document)


def calls(netmodel: Netmodel, pair: Pair, where: Path, name: str, flows: int, transactions: int) -> dict[str, int]:
    """System calls of the master by name, all of the run."""
    prefix = (*pair.prefix(0), "strace", "-f", "-c", "-o", str(where))
    with netmodel.slave("--no-auth", prefix=pair.prefix(1)) as slave:
        words = defines(host=pair.addresses["IPv4"][1], num_flows=flows, num_transactions=transactions)
        more = (*defines(test_length="60s"), "-P", str(slave.port))
        document = netmodel.measure(name, *words, *more, timeout=120, prefix=prefix, env=TRACED)
    assert master_of(document)["groups"][0]["transactions"] == transactions + 2 * flows
    found = re.findall(r"^ +\S+ +\S+ +\S+ +(\d+) +(?:\d+ +)?(\w+)$", where.read_text(), re.MULTILINE)
    return {call: int(count) for count, call in found if call != "total"}


@pytest.mark.parametrize("flows", [1, 8])
def test_a_transaction_costs_what_it_costs_over_tcp(netmodel: Netmodel, pair: Pair, tmp_path: Path, flows: int) -> None:
    """In system calls: those of a long run less those of a short one."""
    few, many = 200, 1000
    cost = {}
    for name in ("tcp_rr", "psp_rr"):
        short, long = (calls(netmodel, pair, tmp_path / f"{name}{n}", name, flows, n) for n in (few, many))
        cost[name] = {call: (long.get(call, 0) - short.get(call, 0)) / (many - few) for call in long}
    tcp, psp = cost["tcp_rr"], cost["psp_rr"]
    for call in ("sendto", "recvfrom"):
        assert psp[call] == pytest.approx(tcp[call], abs=0.1), cost
        assert 0.9 < psp[call] < 2.1
    assert sum(psp.values()) <= sum(tcp.values()) + 0.2, cost
