# SPDX-License-Identifier: Apache-2.0
"""What netmodel counts is held against what the kernel has counted on a host of its own."""

from __future__ import annotations

from collections import Counter

from nmtest import Json, Netmodel, Node, defines, inside, phase_of

FLOWS = 4
CONTROL = 1  # connections
# A connection over datagrams is opened by some that are no messages: hello, challenge, proof, answer; more when one is late.
MOST_PREAMBLES = 12 * FLOWS
HEADERS = (40, 60)  # IPv4 and TCP, without and with all options that Linux sends


def counters(node: Node) -> Counter[str]:
    """As /proc/net/snmp and netstat have them: "Tcp.ActiveOpens"."""
    found: Counter[str] = Counter()
    for name in ("snmp", "netstat"):
        lines = inside(node, "cat", f"/proc/net/{name}").splitlines()
        for names, values in zip(lines[::2], lines[1::2]):
            protocol, *words = names.split()
            found.update({f"{protocol}{word}".replace(":", "."): int(n) for word, n in zip(words, values.split()[1:])})
    return found


def counted(netmodel: Netmodel, node: Node, profile: str, **params: object) -> tuple[Json, Counter[str]]:
    with netmodel.slave(prefix=node.prefix) as slave:
        before = counters(node)
        far = ("-P", str(slave.port), *defines(host="127.0.0.1", num_flows=FLOWS, test_length="300ms", **params))
        document = netmodel.measure(profile, *far, prefix=node.prefix)
        after = counters(node)
    after.subtract(before)
    return document, after


def test_connections(netmodel: Netmodel, own: Node) -> None:
    document, kernel = counted(netmodel, own, "tcp_crr")
    groups = [host["groups"][0] for host in document["hosts"]]
    connects = sum(group["connects"] for group in groups)
    assert connects > 100
    assert kernel["Tcp.ActiveOpens"] == kernel["Tcp.PassiveOpens"] == connects + CONTROL
    assert sum(group["accepts"] for group in groups) == connects


def test_bytes_of_a_stream(netmodel: Netmodel, own: Node) -> None:
    """What crosses the interface is the bytes, the headers, what is sent again, and what the control connection says."""
    document, kernel = counted(netmodel, own, "tcp_stream")
    moved = sum(host["groups"][0]["bytes_sent"] for host in document["hosts"])
    rest = kernel["IpExt.InOctets"] - moved - kernel["Tcp.InSegs"] * HEADERS[0]
    again = kernel["Tcp.RetransSegs"]
    assert 0 <= rest <= kernel["Tcp.InSegs"] * (HEADERS[1] - HEADERS[0]) + again * 65536 + 200_000
    assert sum(host["connections"]["retransmits"] for host in document["hosts"]) == again


def test_datagrams(netmodel: Netmodel, own: Node) -> None:
    document, kernel = counted(netmodel, own, "udp_rr")
    messages = document["totals"]["messages"]
    sent = sum(way["sent"] for way in (messages["to_slaves"], messages["to_master"]))
    received = sum(way["received"] for way in (messages["to_slaves"], messages["to_master"]))
    assert 0 <= kernel["Udp.OutDatagrams"] - sent <= MOST_PREAMBLES
    assert 0 <= kernel["Udp.InDatagrams"] - received <= MOST_PREAMBLES


def test_lost_datagrams(netmodel: Netmodel, own: Node) -> None:
    """Of a stream that overruns its reader, what the kernel had no room for is what is lost."""
    document, kernel = counted(netmodel, own, "udp_stream", batch_size=1)
    way = phase_of(document, "stream")["messages"]["to_slaves"]
    assert 0 <= kernel["Udp.OutDatagrams"] - way["sent"] <= MOST_PREAMBLES
    assert abs(kernel["Udp.RcvbufErrors"] - way["lost"]) <= 1
