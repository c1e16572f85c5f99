# SPDX-License-Identifier: Apache-2.0
"""canfail with timeout on streams: what is given up half-way moves all the same, and the connection stays of use."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from compose import ask, connect, group, lasting, once, op, opened, read, times, write
from nmtest import Json, Netmodel, assert_complete, master_of, phase_of, slaves_of

WriteProfile = Callable[..., Path]

HASTY = "timeout=3ms canfail"


def check_in_step(document: Json) -> int:
    """Both ends have made the same passes and moved the same bytes, whatever was given up. How often that was."""
    assert_complete(document)
    own, (other,) = master_of(document)["counts"], [slave["counts"] for slave in slaves_of(document)]
    assert own["transactions"] == other["transactions"]
    assert own["bytes_sent"] == other["bytes_received"]
    assert own["bytes_received"] == other["bytes_sent"]
    assert phase_of(document, "after")["transactions"] > 0
    return int(own["errors"]) + int(other["errors"])


BODIES = {
    "both": write(3000000, HASTY) + op("think", "duration=5ms at=slave idle") + read(100, HASTY),
    "write": write(3000000, HASTY) + read(100),
    "read": write(10) + op("think", "duration=5ms at=slave idle") + read(300000, HASTY),
    "slave-asks": read(300000, HASTY) + op("think", "duration=5ms at=master idle") + write(3000000, HASTY),
    "drawn": write("rand(1,3000000)", HASTY) + read("rand(1,70000)", HASTY),
    "exchange": op("exchange", f"size=500000 {HASTY}") + op("think", "duration=5ms at=slave idle") + read(100, HASTY),
    "repeated": write(400000, f"count=4 {HASTY}") + op("think", "duration=5ms at=slave idle") + read(90, f"count=3 {HASTY}"),
}  # fmt: skip


@pytest.mark.parametrize("protocol", ["tcp", "ssl", "unix"])
@pytest.mark.parametrize("body", BODIES)
def test_a_connection_is_of_use_after_it(netmodel: Netmodel, profile: WriteProfile, body: str, protocol: str) -> None:
    """In the passes, and the phases, that follow. With so many flows the machine is too slow for some of them."""
    path = profile(
        opened(
            lasting("50ms", BODIES[body]),
            lasting("10ms", ask(10, 20), name="after"),
            times(3, BODIES[body], name="again"),
            lasting("10ms", ask(10, 20), name="after"),
            strands=10,
            kind='nthreads="1" nflows',
            opening=connect(options=f"protocol={protocol}"),
        )
    )
    document = netmodel.measure(path, "--timeout", "12s")
    errors = check_in_step(document)
    assert phase_of(document, "again")["transactions"] == 30
    assert body not in ("both", "read") or errors > 0


def test_of_what_is_late_each_pass_counts_once(netmodel: Netmodel, profile: WriteProfile) -> None:
    """Where the other end begins the passes it may take its time: that is no reason to go on without it."""
    late = op("think", "duration=80ms idle at=slave")
    body = times(3, late, read(1000, "timeout=10ms canfail")) + times(5, ask(10, 20), name="after")
    document = netmodel.measure(profile(opened(body)), "-f")
    check_in_step(document)
    counted = phase_of(document, "counted")
    assert counted["transactions"] == 3
    assert counted["errors"] == 3
    assert counted["seconds"] > 0.2
    assert [entry["errors"] for entry in counted["flowops"] if entry["flowop"] == "read"] == [3]


def test_statistics_have_what_moves_later(netmodel: Netmodel, profile: WriteProfile) -> None:
    path = profile(opened(lasting("50ms", BODIES["both"]), lasting("10ms", ask(10, 20), name="after"), strands=4))
    document = netmodel.measure(path, "-f", "-T", "-t")
    check_in_step(document)
    timed = phase_of(document, "timed")
    for word in ("bytes_sent", "bytes_received"):
        assert sum(entry[word] for entry in timed["flowops"]) == timed[word]
        strands = document["groups"][0]["flow_totals"]
        assert sum(strand[word] for strand in strands) == sum(
            phase[word] for phase in document["groups"][0]["phases"]
        )


def test_several_connections_of_a_flow(netmodel: Netmodel, profile: WriteProfile) -> None:
    """What is owed on one moves while the flow waits for another."""
    opening = connect(options="protocol=tcp conn=1") + connect(options="protocol=tcp conn=2")
    body = write(2000000, f"conn=1 {HASTY}") + read(50, f"conn=1 {HASTY}") + write(10, "conn=2") + read(10, "conn=2")
    after = ask(10, 20, "conn=1") + ask(10, 20, "conn=2")
    path = profile(group(once(opening), lasting("50ms", body), lasting("10ms", after, name="after"), strands=4))
    document = netmodel.measure(path, "--timeout", "12s")
    check_in_step(document)
