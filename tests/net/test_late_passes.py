# SPDX-License-Identifier: Apache-2.0
"""The window of a run in which one pass takes far longer than all others, as after losses."""

from __future__ import annotations

import re
import time
from collections.abc import Callable

import pytest

from nmtest import Netmodel, Node, assert_complete, defines, inside, slaves_on, wait_until

LENGTH_S = 1.5


def data_ports(near: Node, far: Node) -> list[str]:
    """Ports of this end of the connections that carry the traffic."""
    lines = inside(near, "ss", "-Htn", "state", "established", "dst", far.address, "dport", "!=", ":20000")
    return re.findall(r":(\d+) ", lines)


@pytest.mark.alone
@pytest.mark.needs("iptables")
def test_a_pass_that_is_late_does_not_make_the_window_longer(netmodel: Netmodel, nodes: Callable[[int], list[Node]]) -> None:
    near, far = nodes(2)
    asked = defines(host=far.address, num_flows=4, test_length=f"{LENGTH_S}s")
    with (
        slaves_on(netmodel, [far]),
        netmodel.started("-m", "tcp_rr", "-q", "--format", "json", *asked, prefix=near.prefix) as process,
    ):
        ports = wait_until(lambda: data_ports(near, far), what="a connection")
        time.sleep(LENGTH_S / 2)
        rule = ("INPUT", "-p", "tcp", "--dport", ports[0], "-j", "DROP")
        inside(near, "iptables", "-A", *rule)
        time.sleep(LENGTH_S)
        inside(near, "iptables", "-D", *rule)
        result = process.finish()
    assert result.code == 0, result
    document = result.json()
    assert_complete(document)
    totals, run = document["totals"], document["run"]
    assert run["reconciled"] is True
    assert LENGTH_S <= totals["seconds"] < LENGTH_S + 0.2
    assert run["transactions_after"] >= 1
    assert run["after_s"] > LENGTH_S / 4
    assert totals["latency_s"]["max"] > LENGTH_S / 2
    whole = document["groups"][0]["phases"][1]
    assert whole["seconds"] > totals["seconds"] + LENGTH_S / 4
    assert whole["transactions"] == totals["transactions"] + run["transactions_after"]
    for name in ("to_slaves", "to_master"):
        way = totals["throughput"][name]
        assert way["received_bits_per_s"] == pytest.approx(way["sent_bits_per_s"], rel=0.2)
        assert way["after_bytes"] == 0
