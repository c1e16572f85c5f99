# SPDX-License-Identifier: Apache-2.0
"""Writes and reads that ask the kernel for more than send(2) and recv(2): by what calls, and what comes of it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from nmtest import (
    Json,
    Netmodel,
    Node,
    assert_complete,
    assert_ends_agree,
    assert_messages_add_up,
    at_most,
    changed,
    inside,
    master_of,
    packets,
    phase_of,
    slaves_of,
    traced,
)

WriteProfile = Callable[..., Path]
Trace = tuple[Json, list[str]]


def stream(flowops: str, iterations: int = 200, nflows: int = 2, connect: str = "") -> str:
    return (
        f'<group nthreads="1" nflows="{nflows}">'
        f'<transaction><flowop type="connect" options="remotehost=local {connect}"/></transaction>'
        f'<transaction name="s" iterations="{iterations}">{flowops}</transaction>'
        '<transaction><flowop type="disconnect"/></transaction></group>'
    )


def op(kind: str, options: str) -> str:
    return f'<flowop type="{kind}" options="{options}"/>'


def sends(lines: list[str], flag: str) -> list[int]:
    """What the successful sends with the flag have moved."""
    return [int(m[1]) for line in lines if (m := re.search(rf"sendto\(.*{flag}.*\) = (\d+)$", line))]


# --- holding back ---


def payloads(seen: list[bytes], port: int) -> int:
    """TCP segments with data to or from the port."""
    count = 0
    for packet in seen:
        header = 4 * (packet[0] & 15)
        if packet[9] != 6:
            continue
        ports = {int.from_bytes(packet[header + at : header + at + 2], "big") for at in (0, 2)}
        total = int.from_bytes(packet[2:4], "big")
        count += port in ports and total > header + 4 * (packet[header + 12] >> 4)
    return count


@pytest.mark.parametrize("kind", ["write", "read"])
@pytest.mark.alone
def test_more_makes_fewer_segments(netmodel: Netmodel, profile: WriteProfile, own: Node, kind: str) -> None:
    """Whichever end sends; and what is held back at the end of the transaction is not held for long."""
    inside(own, "sysctl", "-w", "net.ipv4.tcp_autocorking=0")
    counts = {}
    for port, more in ((4100, ""), (4101, "more")):
        path = profile(stream(op(kind, f"size=100 {more}"), 1000, 1, f"nodelay port={port}"))
        documents: list[Json] = []

        def measure() -> None:
            documents.append(netmodel.measure(path, prefix=own.prefix))

        def seconds() -> float:
            counts[more] = payloads(packets(own, measure), port)
            document = documents[-1]
            assert_complete(document)
            assert_ends_agree(document)
            return float(phase_of(document, "s")["seconds"])

        at_most(seconds, 0.19)
    assert 0 < 5 * counts["more"] < counts[""], counts


def test_more_where_an_answer_is_awaited(
    netmodel: Netmodel, profile: WriteProfile, strace: str, tmp_path: Path
) -> None:
    """Of two writes only the first lets the kernel wait for more."""
    flowops = op("write", "size=100 more") + op("write", "size=200 more") + op("read", "size=10 more")
    document, lines = traced(netmodel, strace, profile(stream(flowops, 50, 1)), tmp_path / "trace", "sendto")
    assert set(sends(lines, "MSG_MORE")) == {100}
    assert len(sends(lines, "MSG_MORE")) == 50
    assert phase_of(document, "s")["latency_s"]["max"] < 0.19


# --- without copies ---


@pytest.mark.parametrize("kind", ["write", "read"])
def test_sends_without_a_copy(
    netmodel: Netmodel, profile: WriteProfile, strace: str, tmp_path: Path, kind: str
) -> None:
    """Each is told to be complete, and counted, at the end that sends. On one host the kernel copies after all."""
    body = stream(op(kind, "size=200k zerocopy"), 100)
    document, lines = traced(
        netmodel, strace, profile(body), tmp_path / "trace", "sendto,recvmsg,setsockopt"
    )
    done = sends(lines, "MSG_ZEROCOPY")
    assert sum(done) == 100 * 2 * 200 * 1024
    assert sum("SO_ZEROCOPY, [1]" in line and line.endswith("= 0") for line in lines) == 2
    assert any("MSG_ERRQUEUE" in line and "IP_RECVERR" in line for line in lines)
    ends = (master_of(document), slaves_of(document)[0])
    counts = [end["groups"][0] for end in (ends if kind == "write" else reversed(ends))]
    assert counts[0]["zerocopy_sends"] == counts[0]["zerocopy_copied"] == len(done)
    assert counts[1]["zerocopy_sends"] == 0


def datagrams(options: str, connect: str = "", passes: int = 50) -> str:
    """At a pace at which hardly any receiver loses anything."""
    return (
        '<group nthreads="1" nflows="2"><transaction><flowop type="connect" '
        f'options="remotehost=local protocol=udp rcvbuf=4m {connect}"/></transaction>'
        f'<transaction name="s" iterations="{passes}" rate="200">{op("write", options)}</transaction>'
        '<transaction><flowop type="disconnect"/></transaction></group>'
    )


@pytest.mark.parametrize(
    ("options", "connect", "each", "sends"),
    [
        ("size=1000", "", 1, 1),
        ("size=60000", "", 1, 1),
        ("size=rand(1,30000)", "", 1, 1),
        ("size=1000 batch_size=100", "", 100, 2),
        ("size=1000 batch_size=100", "gso=no", 100, 100),
    ],
    ids=["single", "long", "drawn", "trains", "batch"],
)
def test_datagrams_without_a_copy(
    netmodel: Netmodel,
    profile: WriteProfile,
    strace: str,
    tmp_path: Path,
    options: str,
    connect: str,
    each: int,
    sends: int,
) -> None:
    """All are told to be complete; each has the number that it should, which proves that no buffer was used too soon."""
    path = profile(datagrams(f"zerocopy {options}", connect))
    document, lines = traced(netmodel, strace, path, tmp_path / "trace", "sendmmsg,recvmsg,setsockopt")
    calls = [line for line in lines if " sendmmsg(" in line and "MSG_ZEROCOPY" in line]
    made = sum(int(m[1]) for line in calls if (m := re.search(r" = (\d+)$", line)))
    assert sum("SO_ZEROCOPY, [1]" in line and line.endswith("= 0") for line in lines) == 2
    assert any("MSG_ERRQUEUE" in line and "IP_RECVERR" in line for line in lines)
    assert made == 2 * 50 * sends
    counts = master_of(document)["groups"][0]
    assert counts["zerocopy_sends"] == counts["zerocopy_copied"] == made
    to_slaves = document["totals"]["messages"]["to_slaves"]
    assert to_slaves["sent"] == 2 * 50 * each
    # A reader that has to wait for a CPU may lose some; but not a single one may come with the number of another.
    assert (to_slaves["duplicates"], to_slaves["reordered"]) == (0, 0)
    assert to_slaves["received"] == to_slaves["sent"] - to_slaves["lost"] > to_slaves["sent"] / 2


def test_questions_and_answers_without_a_copy(netmodel: Netmodel, profile: WriteProfile) -> None:
    """At both ends, with connections that are opened anew: more of them than there are buffers."""
    body = (
        '<group nthreads="1" nflows="3"><transaction name="rr" iterations="60">'
        '<flowop type="connect" options="remotehost=local protocol=udp"/>'
        + op("write", "size=500 zerocopy")
        + op("read", "size=700 zerocopy")
        + '<flowop type="disconnect"/></transaction></group>'
    )
    document = netmodel.measure(profile(body))
    assert_complete(document)
    assert_messages_add_up(document)
    assert phase_of(document, "rr")["transactions"] == 180
    assert all(host["groups"][0]["zerocopy_sends"] > 0 for host in document["hosts"])


def test_no_room_for_tellings_about_datagrams(
    netmodel: Netmodel, profile: WriteProfile, strace: str, tmp_path: Path, own: Node
) -> None:
    before = inside(own, "cat", "/proc/sys/net/core/optmem_max").strip()
    inside(own, "sysctl", "-w", "net.core.optmem_max=2000")
    try:
        path = profile(datagrams("size=1000 batch_size=100 zerocopy", "gso=no"))
        document, lines = traced(netmodel, strace, path, tmp_path / "trace", "sendmmsg", own.prefix)
    finally:
        inside(own, "sysctl", "-w", f"net.core.optmem_max={before}")
    assert phase_of(document, "s")["transactions"] == 100
    refused = sum("ENOBUFS" in line for line in lines)
    assert refused < len(lines) / 2
    assert master_of(document)["groups"][0]["zerocopy_sends"] == 2 * 50 * 100


def test_no_room_for_tellings_is_back_pressure(
    netmodel: Netmodel, profile: WriteProfile, strace: str, tmp_path: Path, own: Node
) -> None:
    """A refusal (ENOBUFS) is waited out: there is no storm of them, and no failure. The reader begins late, so that what
    is sent stays where it is."""
    with changed(own, "net.core.optmem_max", 2000):
        late = op("think", "duration=200ms at=slave")
        body = stream(late + op("write", "size=3k zerocopy count=2000"), 1, 1)
        _, lines = traced(netmodel, strace, profile(body), tmp_path / "trace", "sendto", own.prefix)
    refused = sum("ENOBUFS" in line for line in lines)
    assert 0 < refused < len(sends(lines, "MSG_ZEROCOPY"))


@pytest.mark.parametrize("body", [stream(op("write", "size=3k zerocopy")), datagrams("size=1000 zerocopy")], ids=["tcp", "udp"])
def test_no_room_for_any_telling_is_told(netmodel: Netmodel, profile: WriteProfile, own: Node, body: str) -> None:
    """There is nothing to wait for."""
    path = profile(body)
    with changed(own, "net.core.optmem_max", 100):
        result = netmodel.run("-m", path, prefix=own.prefix, code=2)
    assert re.search(rf"{path.name}:\d+: .*zerocopy: net.core.optmem_max is 100 bytes.*; set it to 65536 at least", result.err), result.err


@pytest.mark.parametrize("kind", ["write", "read"])
def test_pages_are_mapped(
    netmodel: Netmodel, profile: WriteProfile, strace: str, tmp_path: Path, kind: str
) -> None:
    """Where they come as whole pages; the rest is copied, and every byte is counted once."""
    body = stream(op(kind, "size=250000 zerocopy rx_zerocopy"), 100)
    document, lines = traced(netmodel, strace, profile(body), tmp_path / "trace", "getsockopt,mmap")
    assert sum("TCP_ZEROCOPY_RECEIVE" in line for line in lines) > 0
    ends = (master_of(document), slaves_of(document)[0])
    sender, receiver = (end["groups"][0] for end in (ends if kind == "write" else reversed(ends)))
    assert receiver["bytes_received"] == 100 * 2 * 250000
    assert 0 < receiver["bytes_mapped"] <= receiver["bytes_received"]
    assert receiver["bytes_mapped"] % 4096 == 0
    assert sender["bytes_mapped"] == 0


@pytest.mark.parametrize("zerocopy", [False, True])
def test_how_much_was_mapped_is_told(netmodel: Netmodel, profile: WriteProfile, zerocopy: bool) -> None:
    """Also when it was nothing: bytes that a sender has copied do not fill pages."""
    path = profile(stream(op("write", f"size=250000 rx_zerocopy {'zerocopy' if zerocopy else ''}"), 100))
    document = netmodel.measure(path)
    receiver = slaves_of(document)[0]["groups"][0]
    told = any("rx_zerocopy: less than 10 %" in text for text in document["run"]["warnings"])
    assert told == (receiver["bytes_mapped"] < receiver["bytes_received"] // 10), receiver
    assert told or zerocopy, receiver
    out = netmodel.run("-m", path, code=0).out
    assert re.search(r"^ *mapped +[0-9.]+ [kM]?B of 50\.0 MB received$", out, re.MULTILINE), out
    plain = profile(stream(op("write", "size=250000"), 2))
    assert " mapped  " not in netmodel.run("-m", plain, code=0).out


@pytest.mark.parametrize("kind", ["write", "read"])
def test_bytes_are_dropped(
    netmodel: Netmodel, profile: WriteProfile, strace: str, tmp_path: Path, kind: str
) -> None:
    body = stream(op(kind, "size=250000 discard"), 50) + ""
    _, lines = traced(netmodel, strace, profile(body), tmp_path / "trace", "recvfrom")
    dropped = [int(m[1]) for line in lines if (m := re.search(r"recvfrom\(.*MSG_TRUNC.* = (\d+)$", line))]
    assert sum(dropped) == 50 * 2 * 250000


def test_all_together(netmodel: Netmodel, profile: WriteProfile) -> None:
    """Requests and answers of sizes that vary, some longer than a call moves, with time limits and statistics."""
    flowops = (
        op("write", "size=rand(1,3m) zerocopy more rx_zerocopy timeout=9s")
        + op("write", "size=rand(1,9k) more discard")
        + op("read", "size=rand(1,90k) zerocopy discard")
        + op("read", "size=5000 rx_zerocopy count=3")
    )
    document = netmodel.measure(profile(stream(flowops, 30, 3)), "-f")
    assert_complete(document)
    assert_ends_agree(document)


@pytest.mark.parametrize(
    ("protocol", "option"),
    [
        (protocol, option)
        for protocol in ("udp", "unix", "ssl")
        for option in ("more", "zerocopy", "discard", "rx_zerocopy")
        if (protocol, option) != ("udp", "zerocopy")
    ],
)
def test_over_others_they_have_no_effect(
    netmodel: Netmodel, profile: WriteProfile, protocol: str, option: str
) -> None:
    path = profile(stream(op("write", f"size=100 {option}"), connect=f"protocol={protocol}"))
    result = netmodel.run("--check", "-m", path, code=0)
    assert f"<flowop write>: {option} has no effect: its connection is one over {protocol}" in result.err


def test_dropped_bytes_are_not_mapped(netmodel: Netmodel, profile: WriteProfile) -> None:
    result = netmodel.run("--check", "-m", profile(stream(op("read", "size=9k discard rx_zerocopy"))), code=1)
    assert "<flowop read>: discard and rx_zerocopy: only one of them can be" in result.err
