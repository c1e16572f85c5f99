# SPDX-License-Identifier: Apache-2.0
"""Faults of the network are told by what they are, not only by the kernel's number for them."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

import pytest

from nmtest import PATIENCE_S, Netmodel, Node, defines, inside, slaves_on


@pytest.mark.parametrize(
    ("stock", "words", "told"),
    [
        ("udp_stream", ("ip", "route", "add", "blackhole"), "the route to the peer is a blackhole"),
        ("udp_stream", ("ip", "route", "add", "prohibit"), r"forbids it"),
        pytest.param(
            "tcp_stream",
            ("ss", "-K", "dst"),
            "was ended on this host, not by the peer: by an administrator",
            marks=pytest.mark.needs("ss_kill"),
        ),
    ],
)
def test_a_fault_is_named(
    netmodel: Netmodel, nodes: Callable[[int], list[Node]], stock: str, words: tuple[str, ...], told: str
) -> None:
    here, there = nodes(2)
    arguments = ("-v", *defines(host=there.address, test_length="20s"), "--timeout", "4s")
    with slaves_on(netmodel, [there]), netmodel.started("-m", stock, *arguments, prefix=here.prefix) as master:
        master.wait_line(r"phase 2 of \d begins")
        if words[0] == "ss":
            shown = inside(here, *words, there.address, "dport", "!=", "20000")
            assert there.address in shown
        else:
            subprocess.run([*here.prefix, *words, f"{there.address}/32"], check=True, timeout=PATIENCE_S)
        result = master.finish()
    assert result.code == 2, result
    assert told in result.err, result
