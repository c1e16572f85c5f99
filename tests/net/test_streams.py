# SPDX-License-Identifier: Apache-2.0
"""Streams in all directions, passes on a schedule, and calls of bounded size."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import takewhile
from pathlib import Path

import pytest

from nmtest import Json, Netmodel, assert_complete, assert_ends_agree, at_most, defines, phase_of, traced

WriteProfile = Callable[..., Path]


def connected(body: str, nflows: int = 2, connect: str = "", group: str = "") -> str:
    return (
        f'<group nthreads="1" nflows="{nflows}" {group}>'
        f'<transaction><flowop type="connect" options="remotehost=local {connect}"/></transaction>{body}'
        '<transaction><flowop type="disconnect"/></transaction></group>'
    )


def check(document: Json) -> Json:
    assert_complete(document)
    assert_ends_agree(document)
    return document


# --- directions ---


@pytest.mark.parametrize(
    ("params", "sent", "received", "groups"),
    [
        ({}, True, False, 1),
        ({"enable_write": "no", "enable_read": "yes"}, False, True, 1),
        ({"enable_read": "yes"}, True, True, 1),
        ({"enable_tcp_maerts": "yes", "enable_write": "yes"}, False, True, 1),
        ({"split_bidir": "yes"}, True, True, 2),
        ({"no_cork": "no"}, True, False, 1),
    ],
    ids=["write", "read", "both", "maerts", "split", "cork"],
)
def test_directions_of_tcp_stream(
    netmodel: Netmodel, params: dict[str, str], sent: bool, received: bool, groups: int
) -> None:
    """Each with as many connections as it needs."""
    document = check(netmodel.measure("tcp_stream", *defines(test_length="200ms", num_flows=3, **params)))
    totals = document["totals"]
    assert (totals["bytes_sent"] > 1e6, totals["bytes_received"] > 1e6) == (sent, received)
    assert (totals["bytes_sent"] == 0, totals["bytes_received"] == 0) == (not sent, not received)
    assert len(document["groups"]) == groups
    assert document["hosts"][0]["counts"]["connects"] == 3 * groups


def test_both_ways_need_not_wait_for_each_other(
    netmodel: Netmodel, strace: str, tmp_path: Path
) -> None:
    """Further writes are under way before as much has come back, and then as much comes back."""

    def sent_first(outstanding: int) -> int:
        """Bytes that the master has sent before it receives any."""
        params = defines(test_length="100ms", enable_read="yes", buffer_size=1000, outstanding=outstanding)
        trace = tmp_path / f"trace{outstanding}.{len(list(tmp_path.iterdir()))}"
        document, lines = traced(netmodel, strace, "tcp_stream", trace, "sendto,recvfrom", args=params)
        counted = check(document)["hosts"][0]["counts"]  # of all of the run: where its end takes long the window closes before
        assert counted["bytes_sent"] == counted["bytes_received"] > 0
        moved: dict[str, list[tuple[str, int]]] = {}
        workers = {m[1] for line in lines if (m := re.search(r"^(\S+) sendto\(.*MSG_DONTWAIT", line))}
        for line in lines:
            # A receive may be one that waits.
            m = re.search(r"^(\S+) (sendto|recvfrom)\(.*= (\d+)$", line)
            if m and '"nmHi' not in line and m[1] in workers:
                moved.setdefault(m[1], []).append((m[2], int(m[3])))
        (calls,) = (calls for calls in moved.values() if calls[0][0] == "sendto")
        return sum(size for _, size in takewhile(lambda call: call[0] == "sendto", calls))

    assert sent_first(1) == 1000
    at_most(lambda: 100_000 - sent_first(200), 0)


@pytest.mark.parametrize(
    "way",
    [{"enable_read": "yes"}, {"enable_tcp_maerts": "yes"}, {"split_bidir": "yes"}],
    ids=["both", "maerts", "split"],
)
def test_ways_of_moving_hold_in_all_directions(
    netmodel: Netmodel, strace: str, tmp_path: Path, way: dict[str, str]
) -> None:
    params = defines(test_length="100ms", zerocopy="yes", skip_rx_copy="yes", no_cork="no", **way)
    _, lines = traced(netmodel, strace, "tcp_stream", tmp_path / "trace", "sendto,sendmsg,recvfrom", args=params)
    sends = [line for line in lines if re.search(r"send(to|msg)\(", line) and "MSG_" in line]
    assert sum("MSG_ZEROCOPY" in line for line in sends) > 10
    assert sum("MSG_TRUNC" in line for line in lines) > 10
    assert any("MSG_MORE" in line for line in sends) == ("enable_read" not in way)


def test_nothing_is_held_back_where_an_answer_is_awaited(netmodel: Netmodel, profile: WriteProfile) -> None:
    """Which is told, and only there."""
    for way in ({"enable_write": "no"}, {"enable_tcp_maerts": "yes"}, {"split_bidir": "yes"}):
        words = defines(no_cork="no", **{"enable_read": "yes", **way})
        assert netmodel.run("--check", "-m", "tcp_stream", *words, code=0).err == ""
    vain = "more has no effect: what follows on its connection is a"
    said = netmodel.run("--check", "-m", "tcp_stream", *defines(no_cork="no", enable_read="yes"), code=0).err
    assert f"<flowop write>: {vain} read (from -D no_cork=no, -D enable_read=yes)" in said
    assert said.count("\n") == 1
    for flowops, told in (
        ('<flowop type="write" options="size=9 more"/><flowop type="write" options="size=9"/>', ""),
        ('<flowop type="read" options="size=9 more"/><flowop type="write" options="size=9"/>', f"read>: {vain} write"),
        ('<flowop type="write" options="size=9 more"/><flowop type="disconnect"/>', f"write>: {vain} disconnect"),
    ):
        path = profile(
            '<group nthreads="1"><transaction iterations="1"><flowop type="connect" options="remotehost=local"/>'
            f"{flowops}</transaction></group>"
        )
        said = netmodel.run("--check", "-m", path, code=0).err
        assert told in said if told else vain not in said, (flowops, said)


# --- slow connections ---


def test_a_paced_stream_ends_in_time(netmodel: Netmodel, profile: WriteProfile) -> None:
    """What is counted has been sent at that pace: the kernel holds hardly more than what leaves in a moment."""
    stream = '<transaction name="data" duration="1s"><flowop type="write" options="size=4000"/></transaction>'
    path = profile(connected(stream, connect="mss=1460 max_pacing_rate=1600k"))
    data = phase_of(check(netmodel.measure(path)), "data")
    assert data["seconds"] < 2
    assert 2 * 100_000 < data["bytes_sent"] / data["seconds"] < 2 * 250_000


@pytest.mark.parametrize("flows", [1, 3])
def test_what_comes_slowly_is_received_all_the_time(netmodel: Netmodel, profile: WriteProfile, flows: int) -> None:
    """Not only once as much has come as wakes who reads, which would take five seconds here."""
    body = '<transaction name="data" duration="2s"><flowop type="write" options="size=1000 rcvlowat=256k"/></transaction>'
    path = profile(connected(body, flows, connect="mss=1460 max_pacing_rate=400k"))
    csv = netmodel.run("-m", path, "--format", "csv", "-i", "400ms", "--timeout", "1s", "-q", code=0).out
    assert csv


@pytest.mark.parametrize("protocol", ["tcp", "unix", "ssl"])
def test_exchange(netmodel: Netmodel, profile: WriteProfile, protocol: str) -> None:
    """Messages that no buffer holds cross: neither end waits until it has sent all of its own."""
    body = (
        '<transaction name="x" iterations="20"><flowop type="exchange" options="size=9m"/>'
        '<flowop type="write" options="size=10"/><flowop type="read" options="size=20"/>'
        '<flowop type="exchange" options="size=rand(1,50k) count=2"/></transaction>'
        '<transaction name="y" duration="200ms"><flowop type="exchange" options="size=64k"/></transaction>'
    )
    document = check(netmodel.measure(profile(connected(body, connect=f"protocol={protocol}"))))
    x = phase_of(document, "x")
    assert x["bytes_sent"] + 2 * 20 * 10 == x["bytes_received"]
    assert x["bytes_sent"] > 2 * 20 * (9 << 20)
    assert phase_of(document, "y")["bytes_sent"] == phase_of(document, "y")["bytes_received"] > 0


def test_exchange_needs_a_stream(netmodel: Netmodel, profile: WriteProfile) -> None:
    body = '<transaction><flowop type="exchange" options="size=100"/></transaction>'
    result = netmodel.run("--check", "-m", profile(connected(body, connect="protocol=udp")), code=1)
    assert "<flowop exchange>: its connection is one over udp, which has no stream of bytes; it needs one" in result.err


# --- schedules ---


def test_delay_is_a_schedule_of_each_flow(netmodel: Netmodel) -> None:
    def too_few() -> float:
        document = check(netmodel.measure("tcp_rr", *defines(test_length="400ms", num_flows=4, delay="5ms")))
        assert document["totals"]["transactions"] <= 4 * 81
        return float(4 * 76 - document["totals"]["transactions"])

    at_most(too_few, 0)


def test_noburst_is_one_of_all_flows(netmodel: Netmodel) -> None:
    """And they take turns."""

    def too_few() -> float:
        params = defines(test_length="400ms", num_flows=4, num_threads=2, noburst="5ms")
        document = check(netmodel.measure("tcp_rr", *params))
        assert document["totals"]["transactions"] <= 82
        return float(60 - document["totals"]["transactions"])

    at_most(too_few, 0)


def test_only_one_schedule(netmodel: Netmodel) -> None:
    result = netmodel.run("--check", "-m", "tcp_rr", *defines(delay="1ms", noburst="1ms"), code=1)
    assert "<transaction>: rate, period and spacing say the same; only one of them may be given" in result.err


# --- calls ---


def test_buffer_bounds_calls(
    netmodel: Netmodel, profile: WriteProfile, strace: str, tmp_path: Path
) -> None:
    """On both sides; the messages are the same."""
    body = (
        '<transaction name="rr" iterations="5"><flowop type="write" options="size=10000"/>'
        '<flowop type="read" options="size=5000"/></transaction>'
    )
    path = profile(connected(body, 1, group='buffer="4000"'))
    document, lines = traced(netmodel, strace, path, tmp_path / "trace", "sendto,recvfrom")
    calls = [(m[1], int(m[2])) for line in lines if (m := re.search(r"(sendto|recvfrom)\(.*, (\d+), [A-Z_|]+, NULL", line))]
    data = [size for call, size in calls if call == "sendto" and size in (4000, 2000, 1000)]
    assert sorted(data) == sorted(5 * [4000, 4000, 2000] + 5 * [4000, 1000])
    assert phase_of(document, "rr")["bytes_sent"] == 50000


# --- the mark below which a receiver sleeps ---


def lasting(flowop: str, options: str, duration: str = "300ms") -> str:
    return f'<transaction name="data" duration="{duration}"><flowop type="{flowop}" options="{options}"/></transaction>'


ONE_EACH = (
    '<transaction name="rr" iterations="50"><flowop type="write" options="size=90"/>'
    '<flowop type="read" options="size=70"/></transaction>'
)


@pytest.mark.parametrize("nflows", [1, 3], ids=["lone", "several"])
@pytest.mark.parametrize("flowop", ["write", "read"])
def test_rcvlowat_leaves_nothing(netmodel: Netmodel, profile: WriteProfile, flowop: str, nflows: int) -> None:
    """What is less than the mark at the end is received all the same, at once, and requests follow as ever."""
    body = lasting(flowop, "size=777 rcvlowat=3m rsize=100k") + ONE_EACH + lasting(flowop, "size=50k rcvlowat=64k") + ONE_EACH
    document = check(netmodel.measure(profile(connected(body, nflows))))
    assert phase_of(document, "rr")["transactions"] == 50 * nflows
    assert document["run"]["elapsed_s"] < 9, "less than the limit of a wait, of 10 s"


@pytest.mark.parametrize("nflows", [1, 2], ids=["lone", "several"])
def test_rcvlowat_wakes_less_often(
    netmodel: Netmodel, profile: WriteProfile, strace: str, tmp_path: Path, nflows: int
) -> None:
    """Of data that come slowly the receiver takes much at once, and the kernel is told how much, and when that ends."""

    def receives(options: str) -> tuple[int, list[str]]:
        path = profile(connected(lasting("write", f"size=1k rsize=1m {options}"), nflows, "max_pacing_rate=400m"))
        _, lines = traced(netmodel, strace, path, tmp_path / f"trace{len(list(tmp_path.iterdir()))}", "recvfrom,setsockopt")
        marks = [m[1] for line in lines if (m := re.search(r"SO_RCVLOWAT, \[(\d+)\]", line))]
        return sum("recvfrom(" in line for line in lines), marks

    def ratio() -> float:
        usual, marks = receives("")
        assert marks == []
        fewer, marks = receives("rcvlowat=256k")
        assert marks == nflows * ["262144"] + nflows * ["1"]
        return fewer / usual

    at_most(ratio, 0.75)


def test_rcvlowat_is_for_data_that_keep_coming(netmodel: Netmodel, profile: WriteProfile) -> None:
    counted = '<transaction iterations="3">\n<flowop type="write" options="size=1k rcvlowat=8k"/></transaction>'
    answered = (
        '<transaction duration="10ms">\n<flowop type="write" options="size=1k rcvlowat=8k"/>'
        '<flowop type="read" options="size=1k"/></transaction>'
    )
    for body, connect, why in (
        (counted, "", "its transaction has no duration"),
        (answered, "", "its transaction has other flowops, which wait for every message"),
        (lasting("write", "size=1k rcvlowat=8k", "10ms"), "protocol=unix", "its connection is not one over tcp"),
        (lasting("exchange", "size=1k rcvlowat=8k", "10ms"), "", "it does more than to receive"),
    ):
        result = netmodel.run("-m", profile(connected(body, connect=connect)), "--format", "json", code=0)
        check(result.json())
        assert [line.split(": ", 1)[1] for line in result.lines()] == [
            f"warning: <flowop {'exchange' if 'exchange' in body else 'write'}>: rcvlowat has no effect: {why}"
        ]


@pytest.mark.parametrize("name", ["tcp_stream", "psp_stream"])
@pytest.mark.parametrize(
    ("params", "most", "told"),
    [
        ({}, 131072, ""),
        ({"buffer_size": "1m"}, 1 << 20, ""),
        ({"buffer_size": "300k"}, 307200, ""),
        ({"rcvlowat": "256k"}, 262144, ""),
        ({"buffer_size": "16k", "rcvlowat": "0"}, 65536, ""),
        ({"read_size": "512k"}, 524288, ""),
        ({"read_size": "4k"}, 131072, "warning: <flowop write>: rsize has no effect: it is smaller than size (from -D read_size=4k)"),
    ],
    ids=str,
)
def test_a_read_takes_what_wakes_it(netmodel: Netmodel, name: str, params: dict[str, str], most: int, told: str) -> None:
    """If nobody says how much; and a warning is about what somebody has said."""
    result = netmodel.run("-m", name, "--dump-plan", *defines(**params), code=0)
    assert re.findall(r"at most (\d+) bytes a call", result.out) == 2 * [str(most)]
    assert [line.split(": ", 1)[1] for line in result.lines()] == ([told] if told else [])


def test_reads_are_as_long_as_they_may_be(netmodel: Netmodel, strace: str, tmp_path: Path) -> None:
    for wanted, params in (131072, {"buffer_size": "16k"}), (262144, {"read_size": "256k"}), (524288, {"rcvlowat": "512k"}):
        args = defines(test_length="200ms", **params)
        _, lines = traced(netmodel, strace, "tcp_stream", tmp_path / f"trace{wanted}", "recvfrom", args=args)
        asked = [int(m[1]) for line in lines if (m := re.search(r"recvfrom\(.*, (\d+), MSG_DONTWAIT", line))]
        assert max(asked) == wanted, (params, max(asked))
