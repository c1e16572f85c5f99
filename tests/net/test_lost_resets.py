# SPDX-License-Identifier: Apache-2.0
"""Connections that are closed by a reset, where resets are lost: nobody repeats them. Every reset is, so that each end has
to be asked for; what answers that is a reset of another form, which comes through."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from compose import ask, check, connect, group, lasting, op, times
from loss import ABORTS, ACKNOWLEDGES, losing_segments
from nmtest import Json, Netmodel, Node, assert_complete, master_of, phase_of, slaves_of, slaves_on

pytestmark = pytest.mark.needs("netns", "xdp")

WriteProfile = Callable[..., Path]
MakeNodes = Callable[[int], list[Node]]

PASSES = 3


@contextmanager
def two_nodes(netmodel: Netmodel, nodes: MakeNodes, which: int, flags: int) -> Iterator[tuple[Node, Node]]:
    """A master and a slave; the one of that number does not get segments with these flags."""
    pair = nodes(2)
    with ExitStack() as stack:
        stack.enter_context(losing_segments(pair[which], flags))
        stack.enter_context(slaves_on(netmodel, pair[1:]))
        yield pair[0], pair[1]


def measured(netmodel: Netmodel, near: Node, far: Node, path: Path) -> Json:
    return netmodel.measure(path, "-D", f"far={far.address}", "--timeout", "8s", prefix=near.prefix)


def unseen(document: Json) -> tuple[int, int]:
    """At the master, and at its slave."""
    return master_of(document)["counts"]["unseen_ends"], slaves_of(document)[0]["counts"]["unseen_ends"]


@pytest.mark.parametrize("flows", [1, 9])
@pytest.mark.parametrize("kind", ["connect", "accept"])
@pytest.mark.parametrize("by", ["client", "server"])
def test_whoever_waits_for_a_lost_reset_asks(
    netmodel: Netmodel, nodes: MakeNodes, profile: WriteProfile, by: str, kind: str, flows: int
) -> None:
    waits_here = (by == "server") == (kind == "connect")
    body = times(PASSES, connect("$far", kind=kind), ask(9, 7), op("disconnect", f"close=rst by={by}"))
    path = profile(group(body, strands=flows, kind='nthreads="1" nflows'))
    with two_nodes(netmodel, nodes, 0 if waits_here else 1, ABORTS) as (near, far):
        document = check(measured(netmodel, near, far, path))
    assert document["totals"]["transactions"] == PASSES * flows
    expected = PASSES * flows
    assert unseen(document) == ((expected, 0) if waits_here else (0, expected))


@pytest.mark.parametrize("options", ["protocol=ssl", "protocol=tcp port=5201"])
@pytest.mark.parametrize("kind", ["connect", "accept"])
@pytest.mark.parametrize("by", ["client", "server"])
def test_over_tls_and_where_a_connection_says_which_flow_it_is_for(
    netmodel: Netmodel, nodes: MakeNodes, profile: WriteProfile, by: str, kind: str, options: str
) -> None:
    """What both send by themselves may find out that the connection is over."""
    waits_here = (by == "server") == (kind == "connect")
    body = times(PASSES, connect("$far", options, kind), ask(9, 7), op("disconnect", f"close=rst by={by}"))
    path = profile(group(body, strands=3, kind='nthreads="1" nflows'))
    with two_nodes(netmodel, nodes, 0 if waits_here else 1, ABORTS) as (near, far):
        check(measured(netmodel, near, far, path))


def test_where_one_was_lost_others_are_asked_for_soon(netmodel: Netmodel, nodes: MakeNodes, profile: WriteProfile) -> None:
    """TCP would wait for 200 ms at least before it sends anything again."""
    passes = 40
    path = profile(group(times(passes, connect("$far"), ask(9, 7), op("disconnect", "close=rst by=server"))))
    with two_nodes(netmodel, nodes, 0, ABORTS) as (near, far):
        document = check(measured(netmodel, near, far, path))
    assert unseen(document) == (passes, 0)
    assert document["totals"]["seconds"] < passes * 0.2 / 2


def test_a_level_triggered_worker_asks(netmodel: Netmodel, nodes: MakeNodes, profile: WriteProfile) -> None:
    body = times(PASSES, connect("$far"), ask(9, 7), op("disconnect", "close=rst"))
    path = profile(group(body, strands=3, kind='nthreads="1" edge_trigger="no" nflows'))
    with two_nodes(netmodel, nodes, 1, ABORTS) as (near, far):
        document = check(measured(netmodel, near, far, path))
    assert unseen(document) == (0, 3 * PASSES)


def test_who_thinks_is_not_asked(netmodel: Netmodel, nodes: MakeNodes, profile: WriteProfile) -> None:
    """Nor does a reset that comes count as lost."""
    waits = op("think", "duration=700ms at=master")
    path = profile(group(times(2, connect("$far"), ask(9, 7), waits, op("disconnect", "close=rst"))))
    with slaves_on(netmodel, (pair := nodes(2))[1:]):
        assert unseen(check(measured(netmodel, pair[0], pair[1], path))) == (0, 0)


def test_a_phase_ends_in_which_resets_are_lost(netmodel: Netmodel, nodes: MakeNodes, profile: WriteProfile) -> None:
    path = profile(group(lasting("500ms", connect("$far"), ask(9, 7), op("disconnect", "close=rst")), strands=2))
    with two_nodes(netmodel, nodes, 1, ABORTS) as (near, far):
        document = check(measured(netmodel, near, far, path))
    passes = phase_of(document, "timed")["transactions"]  # the window may close before the last of them have ended
    assert passes >= 2
    assert unseen(document) == (0, passes)


@pytest.mark.parametrize("kind", ["connect", "accept"])
@pytest.mark.parametrize("wrap", [lambda *body: times(PASSES, *body), lambda *body: lasting("200ms", *body)])
def test_connections_that_never_come(
    netmodel: Netmodel, nodes: MakeNodes, profile: WriteProfile, kind: str, wrap: Callable[..., str]
) -> None:
    """The last packet of the handshake is lost, and the reset after it ends what there is at the other end."""
    path = profile(group(wrap(connect("$far", kind=kind), op("disconnect", "close=rst")), strands=2))
    connects_here = kind == "connect"
    with two_nodes(netmodel, nodes, 1 if connects_here else 0, ACKNOWLEDGES) as (near, far):
        document = measured(netmodel, near, far, path)
    assert_complete(document)
    ends = [master_of(document)["counts"], slaves_of(document)[0]["counts"]]
    who_connects, who_accepts = ends if connects_here else reversed(ends)
    assert who_connects["transactions"] >= 2
    assert who_accepts["transactions"] + who_accepts["unseen_ends"] == who_connects["transactions"]
    assert who_accepts["transactions"] == who_accepts["accepts"] == 0
