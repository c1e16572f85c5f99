# SPDX-License-Identifier: Apache-2.0
"""A firewall that lets the control connection through and drops what is for the ports of the traffic."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from loss import drop_answers
from nmtest import Netmodel, Node, Result, defines, inside, slaves_on

MakeNodes = Callable[[int], list[Node]]
WriteProfile = Callable[..., Path]
TIMEOUT_S = 3  # of which half is the limit of a connect


def run(netmodel: Netmodel, master: Node, profile: str | Path, *args: str) -> Result:
    return netmodel.run("-m", profile, "--timeout", f"{TIMEOUT_S}s", *args, prefix=master.prefix, code=2)


def ends_the_search(result: Result, why: str) -> None:
    assert re.search(rf"netmodel: the run is incomplete: slave 10\.77\.0\.2: {why}", result.err), result
    assert "no progress" not in result.err
    assert result.seconds < TIMEOUT_S, result


def test_ports_that_the_kernel_chose_are_named_with_the_parameter_that_fixes_one(
    netmodel: Netmodel, nodes: MakeNodes
) -> None:
    here, there = nodes(2)
    drop_answers(there, "20001-65534")
    with slaves_on(netmodel, [there]):
        result = run(netmodel, here, "tcp_rr", *defines(host=there.address, num_flows=4, num_threads=2))
        ends_the_search(
            result,
            r"the control connection to 10\.77\.0\.2 works, but its data port \d+ did not answer within 1\.5 s: "
            r"4 flows of group \S+ wait in connect at \S+tcp_rr\.xml:\d+; a firewall\? Let it through, or choose a port "
            r"that is open with -D port=N",
        )
        # A port that is fixed is told by its number, and passes that connect anew are told alike.
        result = run(netmodel, here, "tcp_crr", *defines(host=there.address, port=30001))
        ends_the_search(result, r"the control .* but its data port 30001 did not answer within 1\.5 s: 1 flow of group ")


def test_a_profile_without_a_parameter_is_told_what_to_add(
    netmodel: Netmodel, nodes: MakeNodes, profile: WriteProfile
) -> None:
    here, there = nodes(2)
    drop_answers(there, "20001-65534")
    path = profile(
        f'<group name="client" nthreads="2"><transaction iterations="1"><flowop type="connect" options="remotehost='
        f'{there.address} num_ports=3"/></transaction><transaction duration="1s">'
        '<flowop type="write" options="size=90"/></transaction></group>'
    )
    with slaves_on(netmodel, [there]):
        ends_the_search(
            run(netmodel, here, path),
            r"the control .* but its data ports [\d, -]+ did not answer within 1\.5 s: 2 flows of group client wait in "
            r"connect at \S+:3; a firewall\? Let them through, or choose a port that is open with the option port=N there "
            r"\(the first of 3 in a row\)",
        )


def test_ports_of_the_master_that_a_slave_cannot_reach(
    netmodel: Netmodel, nodes: MakeNodes, profile: WriteProfile
) -> None:
    here, there = nodes(2)
    drop_answers(here, "4000-4003")
    path = profile(
        f'<group name="server"><transaction iterations="1"><flowop type="accept" options="remotehost={there.address} '
        'port=4001"/></transaction><transaction duration="1s"><flowop type="read" options="size=90"/></transaction></group>'
    )
    with slaves_on(netmodel, [there]):
        ends_the_search(
            run(netmodel, here, path),
            r"the control connection to 10\.77\.0\.2 works, but this host, 10\.77\.0\.1, did not answer it at data port 4001 "
            r"within 1\.5 s: 1 flow of group server waits in connect at \S+:3; a firewall\? Let it through, or choose "
            r"another port with the option port=N there",
        )


def test_datagrams_that_are_not_answered(netmodel: Netmodel, nodes: MakeNodes) -> None:
    here, there = nodes(2)
    drop_answers(there, "1024-65534", "udp")
    with slaves_on(netmodel, [there]):
        result = run(netmodel, here, "udp_rr", *defines(host=there.address, num_flows=2))
        ends_the_search(result, r"the control .* but its data port \d+ did not answer within 1\.5 s: 2 flows of group ")


@pytest.mark.parametrize("stock", ["tcp_rr", "udp_rr"])
def test_a_connection_that_is_slow_but_comes_is_no_failure(netmodel: Netmodel, nodes: MakeNodes, stock: str) -> None:
    """The first packets are lost: the kernel repeats its own after a second, and netmodel its preamble."""
    here, there = nodes(2)
    drop_answers(there, "20001-65534", stock[:3])
    args = ("-v", "--timeout", "8s", *defines(host=there.address, test_length="100ms"))
    with slaves_on(netmodel, [there]), netmodel.started("-m", stock, *args, prefix=here.prefix) as master:
        master.wait_line("phase 1 of 3 begins")
        inside(there, "ip", "rule", "del", "pref", "10")
        assert master.finish().code == 0
