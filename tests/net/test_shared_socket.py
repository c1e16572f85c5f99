# SPDX-License-Identifier: Apache-2.0
"""UDP with one socket for all flows of a worker, at the end that accepts."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

import probes
from nmtest import Json, Netmodel, assert_complete, assert_messages_add_up, phase_of, slaves_of, traced
from samples import read

WriteProfile = Callable[..., Path]


def op(kind: str, options: str) -> str:
    return f'<flowop type="{kind}" options="{options}"/>'


def opened(body: str, options: str = "", group: str = 'nthreads="1" nflows="6"', kind: str = "connect") -> str:
    return (
        f"<group {group}><transaction>"
        + op(kind, f"remotehost=local protocol=udp shared_socket {options}")
        + f"</transaction>{body}<transaction>{op('disconnect', '')}</transaction></group>"
    )


def rr(how: str = 'iterations="300"', think: str = "") -> str:
    return f'<transaction name="rr" {how}>{op("write", "size=100")}{think}{op("read", "size=200")}</transaction>'


def check(document: Json) -> Json:
    assert_complete(document)
    assert_messages_add_up(document)
    return document


def nothing_is_lost(document: Json) -> None:
    for way in ("to_slaves", "to_master"):
        messages = document["totals"]["messages"][way]
        assert messages["lost"] == messages["duplicates"] == messages["reordered"] == 0, messages


@pytest.mark.parametrize("shared", [True, False])
def test_one_socket_has_them_all(
    netmodel: Netmodel, profile: WriteProfile, strace: str, tmp_path: Path, shared: bool
) -> None:
    """Nothing but the connecting end connects sockets."""
    body = opened(rr(), group='nthreads="2" nflows="20"')
    path = profile(body if shared else body.replace("shared_socket", ""))
    document, lines = traced(netmodel, strace, path, tmp_path / "trace", "connect,recvmmsg,sendmmsg,sendto")
    connected = sum(re.search(r" connect\(\d+, \{sa_family=AF_INET,", line) is not None for line in lines)
    # One more is the master's to the slave.
    assert 20 <= connected <= 22 if shared else connected >= 40
    assert phase_of(document, "rr")["transactions"] == 20 * 300
    nothing_is_lost(document)
    if shared:
        answers = [line for line in lines if " sendmmsg(" in line and "msg_name={" in line]
        ports = {m[1] for line in answers for m in re.finditer(r"sin_port=htons\((\d+)\)", line)}
        assert len(ports) >= 2


@pytest.mark.alone
def test_several_go_with_one_call(
    netmodel: Netmodel, profile: WriteProfile, strace: str, tmp_path: Path
) -> None:
    """Questions that wait together are taken together, and so are their answers sent."""
    path = profile(opened(rr('iterations="50"'), group='nthreads="1" nflows="30"'))
    document, lines = traced(netmodel, strace, path, tmp_path / "trace", "recvmmsg,sendmmsg")
    answered = [int(m[1]) for line in lines if (m := re.search(r" sendmmsg\(.* = (\d+)$", line))]
    assert phase_of(document, "rr")["transactions"] == 1500
    # What is there when the transaction begins is answered at once.
    assert 1400 <= sum(answered) <= 1500
    # How many come together is a matter of what else the machine does.
    assert max(answered) > 1


@pytest.mark.parametrize("host", ["local", "::1"])
def test_accounts_are_kept_for_each_peer(
    netmodel: Netmodel, profile: WriteProfile, tmp_path: Path, host: str, request: pytest.FixtureRequest
) -> None:
    """Each flow has as many passes at both ends, and what belongs to it; also with drawn sizes."""
    body = (
        '<transaction name="mix" iterations="40">'
        + op("write", "size=rand(20,3000)")
        + op("write", "size=50 count=3")
        + op("read", "size=rand(20,60000)")
        + "</transaction>"
    )
    text = opened(body, group='nthreads="2" nflows="7"')
    args: tuple[str, ...] = ()
    if host == "::1":
        probes.require("ipv6")
        slave = request.getfixturevalue("slave")
        text, args = text.replace("remotehost=local", "remotehost=::1"), ("-P", str(slave.port))
    samples = tmp_path / "samples.csv"
    document = check(netmodel.measure(profile(text), "--all-samples", samples, *args))
    nothing_is_lost(document)
    mix = {flow: rows[-1]["transactions"] for flow, rows in read(samples).items()}
    assert len(mix) == 14
    assert len(set(mix.values())) == 1, mix


def test_connections_that_are_opened_again(netmodel: Netmodel, profile: WriteProfile) -> None:
    """More of them than there may be at a time, from ports that are used before, and some that wait for an accept."""
    body = (
        '<group nthreads="1" nflows="5"><transaction name="crr" iterations="120">'
        + op("connect", "remotehost=local protocol=udp shared_socket")
        + op("write", "size=10")
        + op("think", "duration=100us at=slave")
        + op("read", "size=10")
        + op("disconnect", "")
        + "</transaction></group>"
    )
    document = check(netmodel.measure(profile(body)))
    assert phase_of(document, "crr")["transactions"] == 600
    assert slaves_of(document)[0]["groups"][0]["accepts"] == 600


def test_the_master_may_accept(netmodel: Netmodel, profile: WriteProfile) -> None:
    document = check(netmodel.measure(profile(opened(rr("iterations='100'"), kind="accept"))))
    assert phase_of(document, "rr")["transactions"] == 600
    nothing_is_lost(document)


@pytest.mark.alone
def test_flows_do_not_wait_for_each_other(netmodel: Netmodel, profile: WriteProfile) -> None:
    """Each answer takes 20 ms; those of all flows at the same time."""
    think = op("think", "duration=20ms at=slave")
    document = check(netmodel.measure(profile(opened(rr('duration="400ms"', think), group='nflows="30" nthreads="1"'))))
    phase = phase_of(document, "rr")
    assert phase["transactions"] > 30 * 12
    assert 0.020 <= phase["latency_s"]["min"]


@pytest.mark.alone
def test_streams_both_ways(netmodel: Netmodel, profile: WriteProfile) -> None:
    """In batches, at a pace that nothing is lost at; and as fast as it goes, when all that is lost is counted."""
    slow = 'iterations="60" rate="200"'
    body = (
        f'<transaction name="up" {slow}>{op("write", "size=900 batch_size=8")}</transaction>'
        f'<transaction name="down" {slow}>{op("read", "size=900 batch_size=8")}</transaction>'
        f'<transaction name="flood" duration="200ms">{op("write", "size=900 batch_size=32")}</transaction>'
    )
    document = check(netmodel.measure(profile(opened(body, "rcvbuf=4m", 'nthreads="1" nflows="3"'))))
    assert phase_of(document, "up")["messages"]["to_slaves"]["sent"] == 3 * 60 * 8
    assert phase_of(document, "up")["messages"]["to_slaves"]["lost"] == 0
    assert phase_of(document, "down")["messages"]["to_master"]["received"] == 3 * 60 * 8
    assert phase_of(document, "flood")["messages"]["to_slaves"]["received"] > 0


def test_a_port_is_for_one_worker(netmodel: Netmodel, profile: WriteProfile) -> None:
    path = profile(opened(rr(), "port=34570", 'nthreads="2" nflows="2"'))
    why = "<flowop connect> shared_socket with port=34570: each of the 2 workers needs a port of its own"
    assert why in netmodel.run("--check", "-m", path, code=1).err


@pytest.mark.parametrize("kind", ["connect", "accept"])
def test_a_port_is_for_one_step(netmodel: Netmodel, profile: WriteProfile, kind: str) -> None:
    again = op(kind, "remotehost=local protocol=udp shared_socket port=34570")
    alike = opened(rr(), "port=34570", kind=kind)
    two = alike.replace(again, again + again)
    why = f"<flowop {kind}> shared_socket with port=34570: so has the <flowop {kind}> at line"
    for wrong in (two, alike + alike):
        assert netmodel.run("--check", "-m", profile(wrong), code=1).err.count(why) == 1
    netmodel.run("--check", "-m", profile(alike + alike.replace("34570", "34571")))


@pytest.mark.alone
def test_more_than_one_look_takes_after_connections_that_were_polled(netmodel: Netmodel, profile: WriteProfile) -> None:
    """The slave's only listener is the socket, in a group that has connections of their own for each pass before it."""
    ask = op("read", "size=10") + op("write", "size=10")
    before = f'<transaction iterations="50">{op("accept", "remotehost=local")}{ask}{op("disconnect", "")}</transaction>'
    many = op("write", "size=100 repeat=3000") + op("read", "size=200 timeout=500ms")
    body = opened(f'<transaction name="rr" iterations="100">{many}</transaction>', "wndsz=16m", 'nthreads="1"')
    path = profile(body.replace("<transaction>", before + "<transaction>", 1))
    document = check(netmodel.measure(path))
    nothing_is_lost(document)
    assert document["totals"]["messages"]["timeouts"] == 0
    assert document["run"]["elapsed_s"] < 5
