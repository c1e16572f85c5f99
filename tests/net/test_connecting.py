# SPDX-License-Identifier: Apache-2.0
"""connect with async_connect=no: a worker waits for each connection before it does anything else, and yet ends when it is
told to."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import probes
from compose import CLOSE, ask, check, check_lossy, connect, counts, once, op, times
from nmtest import Netmodel, Node, defines, inside, phase_of, slaves_on

WriteProfile = Callable[..., Path]
MakeNodes = Callable[[int], list[Node]]

NOWHERE = "192.0.2.1"  # an address of the host that connects, to which nobody answers


def several(flows: int, *transactions: str, more: str = "") -> str:
    return f'<group nthreads="1" nflows="{flows}" {more}>\n{"".join(transactions)}</group>\n'


PROTOCOLS = ("tcp", "ssl", "udp", "unix", "null", "mptcp", "sctp", "vsock")
OPTIONS = ("canfail", "num_ports=3", "tcp_fastopen=yes", "quickack=no")


@pytest.mark.parametrize(
    ("protocol", "options"),
    [
        *(
            pytest.param(protocol, options, marks=probes.marks_of(protocol))
            for protocol in PROTOCOLS
            for options in ("", "timeout=5s")
        ),
        *(("tcp", one) for one in OPTIONS),
    ],
)
def test_it_is_as_good(netmodel: Netmodel, profile: WriteProfile, protocol: str, options: str) -> None:
    """Whatever the transport; and where nothing is waited for it changes nothing."""
    opening = connect(options=f"protocol={protocol} async_connect=no {options}".strip())
    if protocol == "null":
        netmodel.measure(profile(several(3, once(opening), CLOSE)), code=0)
        return
    lasts = several(3, once(opening), times(20, ask()), CLOSE)
    document = netmodel.measure(profile(lasts), "-t")
    (check_lossy if protocol == "udp" else check)(document)
    if protocol == "udp":
        return
    each = several(3, times(20, opening, ask(), op("disconnect")))
    document = check(netmodel.measure(profile(each), "-t"))
    assert counts(document, "counted")[0] == 60


@contextmanager
def unanswered(nodes: MakeNodes) -> Iterator[tuple[Node, Node]]:
    """Hosts of which the one has an address of which the other knows that it is nowhere."""
    near, far = nodes(2)
    subprocess.run([*near.prefix, "ip", "address", "add", f"{NOWHERE}/32", "dev", "eth0"], check=True)
    subprocess.run([*far.prefix, "ip", "route", "add", "blackhole", f"{NOWHERE}/32"], check=True)
    yield near, far


@pytest.mark.parametrize("kind", ["nthreads", "nprocs"])
@pytest.mark.parametrize("flows", [1, 40])
def test_a_run_ends_though_nobody_answers(
    netmodel: Netmodel, profile: WriteProfile, nodes: MakeNodes, flows: int, kind: str
) -> None:
    """--max-duration is heard, and soon: not after a wait of each flow."""
    with unanswered(nodes) as (near, far), slaves_on(netmodel, [far], "--allow-peer", NOWHERE):
        opening = connect(far.address, f"protocol=tcp localhost={NOWHERE} async_connect=no")
        group = f'<group {kind}="1" nflows="{flows}">{once(opening)}{times(2, ask())}{CLOSE}</group>'
        limit = ("--max-duration", "500ms")
        done = netmodel.run("-m", profile(group), "-q", *limit, prefix=near.prefix, code=2)
    assert "longer than --max-duration 0.5s" in done.err
    # Two seconds are for flows to come to an end by themselves; a wait of each flow would take 10 s.
    assert 0.5 <= done.seconds < 9, done
    assert "netmodel: the run" in done.lines()[-1]


@pytest.mark.parametrize(("flows", "each"), [(1, 300), (4, 300), (2, 20)])
@pytest.mark.parametrize("waits", [True, False])
def test_a_limit_of_the_wait(
    netmodel: Netmodel, profile: WriteProfile, nodes: MakeNodes, flows: int, each: int, waits: bool
) -> None:
    """One flow after the other, or all at the same time."""
    answer = "no" if waits else "yes"
    how = f"protocol=tcp localhost={NOWHERE} async_connect={answer} timeout={each}ms"
    with unanswered(nodes) as (near, far), slaves_on(netmodel, [far], "--allow-peer", NOWHERE):
        opens = times(2, connect(far.address, f"{how} canfail"), name="opens")
        document = netmodel.measure(profile(several(flows, opens)), "-t", prefix=near.prefix)
        failed = netmodel.run("-m", profile(several(flows, once(connect(far.address, how)))), prefix=near.prefix, code=2)
    assert document["totals"]["errors"] == 2 * flows
    least = 2 * (flows if waits else 1) * each / 1000
    assert least <= phase_of(document, "opens")["seconds"] < least + 0.4
    assert re.search(rf"connect.*timeout={each}ms", failed.err), failed


@pytest.mark.needs("iptables")
@pytest.mark.parametrize("answer", ["yes", "no"])
def test_what_is_refused_is_told(netmodel: Netmodel, profile: WriteProfile, own: Node, answer: str) -> None:
    """With the same words whether it is waited for or not."""
    path = profile(several(2, once(connect("127.0.0.1", f"protocol=tcp port=7001 async_connect={answer}"))))
    rule = ("iptables", "-{}", "INPUT", "-p", "tcp", "--dport", "7001", "-j", "REJECT", "--reject-with", "tcp-reset")
    inside(own, *(word.format("A") for word in rule))
    try:
        with slaves_on(netmodel, [own]):
            done = netmodel.run("-m", path, "-q", prefix=own.prefix, code=2)
    finally:
        inside(own, *(word.format("D") for word in rule))
    assert re.search("connect.*Connection refused", done.err), done


@pytest.mark.parametrize("workload", ["tcp_rr", "tcp_crr", "tcp_stream"])
def test_workloads(netmodel: Netmodel, workload: str) -> None:
    for flows in 1, 8:
        args = defines(async_connect="no", num_flows=flows, test_length="200ms")
        document = check(netmodel.measure(workload, *args))
        assert document["totals"]["transactions"] > 10
