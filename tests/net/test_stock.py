# SPDX-License-Identifier: Apache-2.0
"""The stock profiles model what their comments say. That each runs is in test_main_job.py."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from nmtest import (
    NEEDED,
    PROFILES,
    STOCK,
    Json,
    Netmodel,
    Node,
    Slave,
    assert_complete,
    assert_counts_agree,
    at_most,
    defines,
    master_of,
    phase_of,
    slaves_of,
)

SHORT = defines(test_length="200ms")


def measure(netmodel: Netmodel, name: str, *args: str, **params: object) -> Json:
    document = netmodel.measure(name, *SHORT, *args, *defines(**params))
    assert_complete(document)
    assert_counts_agree(document)
    return document


def measured(document: Json) -> list[str]:
    return [phase["name"] for group in document["groups"] for phase in group["phases"] if phase["measured"]]


# --- all of them ---


@pytest.mark.parametrize("name", STOCK)
def test_it_says_what_it_models(name: str) -> None:
    text = (PROFILES / f"{name}.xml").read_text()
    comment = re.search(r"<!--(.*?)-->", text, re.DOTALL)
    assert comment and text.index("<profile") > comment.end(), "the comment comes first"
    assert len(comment[1].split()) > 20, comment[1]
    assert re.search(rf'<profile name="{name}"[ >]', text)


def listed(netmodel: Netmodel, name: str) -> list[list[str]]:
    """Name, type, value, source and meaning of each parameter."""
    lines = netmodel.run("-m", name, "--params", code=0).out.splitlines()
    columns = [lines[0].index(word) for word in ("name", "type", "value", "from", "meaning")]
    ends = [*columns[1:], None]
    return [[line[begin:end].strip() for begin, end in zip(columns, ends)] for line in lines[1:]]


@pytest.mark.parametrize("name", STOCK)
def test_every_parameter_is_used_and_has_a_default_and_a_meaning(netmodel: Netmodel, name: str) -> None:
    for param, kind, value, source, meaning in listed(netmodel, name):
        assert source == "default" and meaning, param
        assert (kind == "host") == param.startswith("host"), param
        assert kind != "host" or value == "local", param
    # What nothing uses is warned of: test_nothing_in_it_is_in_vain.


@pytest.mark.parametrize("name", STOCK)
def test_params_lists_what_it_always_has(netmodel: Netmodel, name: str) -> None:
    """Names, types, defaults, meanings and their order are for users to rely on, however a profile is written."""
    recorded = (Path(__file__).parent / "stock_params.txt").read_text().split("=== ")
    expected = dict(part.split("\n", 1) for part in recorded[1:])
    assert netmodel.run("-m", name, "--params", code=0).out == expected[name]


@pytest.mark.parametrize("name", STOCK)
def test_each_has_the_port_that_the_message_about_blocked_ports_names(netmodel: Netmodel, name: str) -> None:
    assert "port" in [param for param, *_ in listed(netmodel, name)]


def test_a_workload_is_seen_on_one_screen() -> None:
    lines = (PROFILES / "tcp_crr.xml").read_text().splitlines()
    assert len(lines) <= 24 and max(map(len, lines)) <= 100
    assert sum("<flowop " in line for line in lines) == 5


@pytest.mark.parametrize("name", STOCK)
def test_nothing_in_it_is_in_vain(netmodel: Netmodel, name: str) -> None:
    protocols = re.search(r'name="protocol" type="enum" choices="([^"]*)"', (PROFILES / f"{name}.xml").read_text())
    for protocol in protocols[1].split() if protocols else [None]:
        given = defines(protocol=protocol) if protocol else []
        result = netmodel.run("-m", name, "--check", *given, *NEEDED.get(name, ()), code=0)
        assert result.err == "", "no warning"


def test_the_table_of_stock_profiles_is_complete() -> None:
    table = (PROFILES.parent / "docs" / "profiles.md").read_text()
    assert tuple(sorted(re.findall(r"^\| `(\w+)` \| \S.* \|$", table, re.MULTILINE))) == STOCK
    assert f"{len(STOCK)} stock profiles" in (PROFILES.parent / "README.md").read_text()


def test_all_are_installed() -> None:
    top = (PROFILES.parent / "Makefile.am").read_text().replace("\\\n", " ")
    found = re.search(r"^dist_profiles_DATA = (.*)$", top, re.MULTILINE)
    assert found
    assert sorted(found[1].split()) == [f"profiles/{name}.xml" for name in STOCK]


# --- one by one ---


@pytest.mark.alone
def test_voip_keeps_its_pace_of_20_ms(netmodel: Netmodel) -> None:
    calls, seconds = 20, 1
    packets = 50 * calls * seconds

    def off() -> float:
        """By what part of it, at worst."""
        document = measure(netmodel, "voip", num_flows=calls, test_length=f"{seconds}s")
        assert [group["name"] for group in document["groups"]] == ["out", "in"]
        parts = []
        for group, name, way in zip(document["groups"], ("talk", "listen"), ("to_slaves", "to_master"), strict=True):
            phase = next(phase for phase in group["phases"] if phase["name"] == name)
            assert phase["planned_per_s"] == 50 * calls
            assert phase["bytes_sent"] + phase["bytes_received"] == 172 * phase["transactions"]
            parts += [phase["transactions"] / packets, phase["transactions_per_s"] / packets * seconds]
            parts += [phase["messages"][way]["received"] / packets]
        # What comes in comes one by one, and not in bursts: within 5 %.
        between = abs(document["groups"][1]["latency_s"]["p50"] / 0.020 - 1) * 0.02 / 0.05
        late = document["groups"][0]["response_s"]["p90"] / 0.010 * 0.02
        return float(max(between, late, *(abs(part - 1) for part in parts)))

    at_most(off, 0.02)


@pytest.mark.alone
def test_voip_keeps_another_pace(netmodel: Netmodel) -> None:

    def off() -> float:
        """By what part of it."""
        document = measure(netmodel, "voip", num_flows=3, packet_rate="33.3", test_length="1s")
        return float(max(abs(group["transactions_per_s"] / 99.9 - 1) for group in document["groups"]))

    at_most(off, 0.02)


@pytest.mark.parametrize("protocol", ["udp", "tcp"])
def test_dns(netmodel: Netmodel, protocol: str) -> None:
    document = measure(netmodel, "dns", protocol=protocol, num_flows=3)
    phase = phase_of(document, "query")
    length = 2 if protocol == "tcp" else 0
    query = length + 12 + len("\5k0000\7example\3com\0") + 4 + 11
    assert phase["bytes_sent"] == query * phase["transactions"] > 0
    assert phase["bytes_received"] == (query + 16) * phase["transactions"]
    assert ("messages" in phase) == (protocol == "udp")
    assert document["totals"]["connects"] == 0


@pytest.mark.alone
def test_ldap_measures_searches_only(netmodel: Netmodel) -> None:

    def off() -> float:
        """By what part of it; the work is twice as long at most, in the shortest search."""
        document = measure(netmodel, "ldap", num_flows=4, server_work="2ms", test_length="500ms")
        assert measured(document) == ["search"]
        bind, search, unbind = (phase_of(document, name) for name in ("bind", "search", "unbind"))
        assert (bind["bytes_sent"], bind["bytes_received"]) == (4 * 60, 4 * 14)
        assert (unbind["bytes_sent"], unbind["bytes_received"]) == (4 * 7, 0)
        assert search["bytes_received"] == 300 * search["transactions"]
        assert 0.002 <= search["latency_s"]["min"]
        return float(max(abs(search["transactions"] / (4 * 50 * 0.5) - 1), search["latency_s"]["min"] / 0.01 * 0.05))

    at_most(off, 0.05)


def test_oltp_is_18_round_trips(netmodel: Netmodel) -> None:
    phase = phase_of(measure(netmodel, "oltp", num_flows=4), "order")
    assert phase["bytes_sent"] == (415 + 8 * 35 + 8 * 220 + 35) * phase["transactions"] > 0
    assert phase["bytes_received"] == (170 + 8 * 170 + 8 * 35 + 35) * phase["transactions"]


def test_rows_of_oltp_by_a_law(netmodel: Netmodel) -> None:
    phase = phase_of(measure(netmodel, "oltp", num_flows=4, rows_read="rand(1,9)", rows_written=1), "order")
    passes = phase["transactions"]
    rows = (phase["bytes_received"] - (170 + 35 + 35) * passes) / 170
    assert rows == int(rows)
    assert phase["bytes_sent"] == (415 + 220 + 35) * passes + 35 * rows
    assert rows / passes == pytest.approx(5, abs=5 * (80 / 12 / passes) ** 0.5)


@pytest.mark.alone
def test_telnet_is_as_fast_as_people(netmodel: Netmodel) -> None:
    document = measure(netmodel, "telnet", num_flows=6, num_pagers=2, test_length="1s")
    keys, pages = phase_of(document, "key", 0), phase_of(document, "page", 1)
    assert (keys["transactions"], pages["transactions"]) == (6 * 5, 2)
    assert (keys["bytes_sent"], keys["bytes_received"]) == (30, 30)
    assert (pages["bytes_sent"], pages["bytes_received"]) == (2, 2 * 8192)
    assert keys["transactions_per_s"] == pytest.approx(30, rel=0.2)
    assert pages["transactions_per_s"] == pytest.approx(2, rel=0.2)


@pytest.mark.alone
def test_people_who_think(netmodel: Netmodel) -> None:
    """The same seed is the same sizes and times to think: so many passes begin in the time that a slower host has."""
    document = measure(netmodel, "think", num_flows=20, test_length="1s")
    phase = phase_of(document, "ask")
    passes = phase["transactions"]
    assert passes >= 20
    assert phase["bytes_sent"] == 200 * passes
    assert 1024 * passes <= phase["bytes_received"] <= 65536 * passes
    assert phase["pass_s"]["mean"] - phase["latency_s"]["mean"] > 0.05


@pytest.mark.alone
def test_specweb_keeps_the_mix(netmodel: Netmodel) -> None:
    documents = []

    def off() -> float:
        """Passes too few."""
        documents.append(measure(netmodel, "specweb", num_flows=2, test_length="1s"))
        counts = [phase_of(documents[-1], "get", group)["transactions"] for group in range(4)]
        return float(sum(abs(count - wanted) for count, wanted in zip(counts, (70, 100, 28, 2), strict=True)))

    at_most(off, 0)
    document = documents[-1]
    limits = [(100, 900), (1024, 9 * 1024), (10 * 1024, 90 * 1024), (100 * 1024, 900 * 1024)]
    for group, (least, most) in enumerate(limits):
        phase = phase_of(document, "get", group)
        assert phase["bytes_sent"] == 300 * phase["transactions"]
        assert least <= phase["bytes_received"] / phase["transactions"] <= most
    fixed = measure(netmodel, "specweb", num_flows=1, response_size3=1000)
    assert phase_of(fixed, "get", 3)["bytes_received"] == 1000


@pytest.mark.parametrize(
    ("name", "way", "other"), [("backup_tx", "sent", "received"), ("backup_rx", "received", "sent")]
)
def test_backup(netmodel: Netmodel, name: str, way: str, other: str) -> None:
    document = measure(netmodel, name, num_flows=3)
    assert measured(document) == ["blocks"]
    header, blocks, confirm = (phase_of(document, phase) for phase in ("open", "blocks", "confirm"))
    assert (header[f"bytes_{way}"], header[f"bytes_{other}"]) == (3 * 512, 0)
    assert blocks[f"bytes_{way}"] == 65536 * blocks["transactions"] > 0
    assert blocks[f"bytes_{other}"] == 0
    assert (confirm[f"bytes_{way}"], confirm[f"bytes_{other}"]) == (0, 3)


@pytest.mark.parametrize("protocol", ["tcp", "udp"])
@pytest.mark.parametrize(("direction", "way", "other"), [("write", "sent", "received"), ("read", "received", "sent")])
def test_iperf(netmodel: Netmodel, protocol: str, direction: str, way: str, other: str) -> None:
    document = measure(netmodel, "iperf", protocol=protocol, direction=direction, message_size=1470)
    phase = phase_of(document, "stream")
    assert phase[f"bytes_{way}"] == 1470 * phase["transactions"] > 0
    assert phase[f"bytes_{other}"] == 0
    assert document["groups"][0]["flows"] == 2


@pytest.mark.parametrize("protocol", ["tcp", "udp"])
def test_netperf_accepts_on_the_master(netmodel: Netmodel, protocol: str) -> None:
    document = measure(netmodel, "netperf", protocol=protocol, num_flows=3)
    counts = master_of(document)["counts"]
    assert (counts["accepts"], counts["connects"]) == (3, 0)
    assert slaves_of(document)[0]["counts"]["connects"] == 3
    phase = phase_of(document, "request-response")
    assert phase["bytes_sent"] == phase["bytes_received"] == phase["transactions"] > 0


@pytest.mark.parametrize("close", ["rst", "fin"])
@pytest.mark.parametrize(
    ("name", "own", "other"), [("connect_storm", "connects", "accepts"), ("accept_storm", "accepts", "connects")]
)
def test_storms(netmodel: Netmodel, name: str, own: str, other: str, close: str) -> None:
    document = measure(netmodel, name, close=close)
    totals = document["totals"]
    assert totals[own] == totals["transactions"] > 0
    assert totals[other] == totals["bytes_sent"] == totals["bytes_received"] == 0
    assert slaves_of(document)[0]["counts"][other] == totals["transactions"]


def test_udp_stream_tells_what_arrives(netmodel: Netmodel) -> None:
    document = measure(netmodel, "udp_stream")
    way = phase_of(document, "stream")["messages"]["to_slaves"]
    slave = slaves_of(document)[0]["counts"]
    assert way["sent"] * 1400 == phase_of(document, "stream")["bytes_sent"]
    assert 0 < way["received"] <= way["sent"]
    assert slave["bytes_received"] == 1400 * way["received"]


CONTRADICTIONS = [
    ("crr", "time_wait=yes close=rst", "time_wait=yes"),
    ("crr", "time_wait=yes close=half close_by=server", "time_wait=yes"),
    ("crr", "time_wait=yes", "close=fin"),
    ("stream", "split_bidir=yes enable_tcp_maerts=yes", "enable_tcp_maerts=yes"),
    ("stream", "enable_read=yes enable_tcp_maerts=yes", "enable_tcp_maerts=yes"),
    ("stream", "split_bidir=yes enable_read=yes", "split_bidir=yes"),
]


@pytest.mark.parametrize("protocol", ["tcp", "psp"])
@pytest.mark.parametrize(("name", "words", "same"), CONTRADICTIONS, ids=[f"{words} {same}" for _, words, same in CONTRADICTIONS])
def test_which_of_two_parameters_counts(netmodel: Netmodel, protocol: str, name: str, words: str, same: str) -> None:
    """As their help says."""

    def plan(text: str) -> str:
        given = [word for param in text.split() for word in ("-D", param)]
        return re.sub(r"  \(line \d+\)", "", netmodel.run("-m", f"{protocol}_{name}", *given, "--dump-plan", code=0).out)

    assert plan(words) == plan(same) != plan("")


def assert_relayed(document: Json) -> None:
    assert_complete(document)
    assert document["run"]["reconciled"] is True, document["run"]["reconcile_text"]
    passes = phase_of(document, "exchange")["transactions"]
    assert passes > 0
    client, server = slaves_of(document)
    assert (client["counts"]["connects"], client["counts"]["accepts"]) == (3, 0)
    assert (server["counts"]["connects"], server["counts"]["accepts"]) == (0, 3)
    assert client["counts"]["bytes_sent"] == server["counts"]["bytes_received"] == 300 * passes
    assert server["counts"]["bytes_sent"] == client["counts"]["bytes_received"] == 4096 * passes


def test_relay_between_two_hosts(netmodel: Netmodel, slave: Slave) -> None:
    hosts = {"host1": "127.0.0.1", "host2": "localhost"}
    assert_relayed(netmodel.measure("relay", *SHORT, "-P", str(slave.port), *defines(num_flows=3, **hosts)))


def test_relay_between_two_hosts_in_namespaces(netmodel: Netmodel, nodes: Callable[[int], list[Node]]) -> None:
    client, relay, server = nodes(3)
    with (
        netmodel.slave("-P", "20000", "--no-auth", prefix=client.prefix),
        netmodel.slave("-P", "20000", "--no-auth", prefix=server.prefix),
    ):
        hosts = {"host1": client.address, "host2": server.address}
        document = netmodel.measure("relay", *SHORT, *defines(num_flows=3, **hosts), prefix=relay.prefix)
    assert_relayed(document)


# --- what they stand on ---


@pytest.mark.alone
def test_a_paced_transaction_lasts_as_long_as_it_is_told_to(netmodel: Netmodel, profile: Callable[..., Path]) -> None:
    path = profile(
        '<group nflows="1"><transaction><flowop type="connect" options="remotehost=local"/></transaction>'
        '<transaction name="ask" duration="500ms" rate="4"><flowop type="write" options="size=1"/>'
        '<flowop type="read" options="size=1"/></transaction></group>'
    )

    def off() -> float:
        """By what part of it."""
        phase = phase_of(netmodel.measure(path), "ask")
        assert phase["transactions"] == 2
        return float(max(abs(phase["seconds"] / 0.5 - 1), abs(phase["transactions_per_s"] / phase["planned_per_s"] - 1)))

    at_most(off, 0.02)


@pytest.mark.alone
def test_the_wait_for_lost_messages_is_no_part_of_the_time(netmodel: Netmodel) -> None:
    # As much as this is more than the receiver takes, so that some of the last messages are lost.
    how = {"protocol": "udp", "direction": "read", "message_size": 60000, "num_flows": 8, "wnd": "4k"}

    def seconds() -> float:
        phase = phase_of(measure(netmodel, "iperf", **how), "stream")
        assert phase["messages"]["to_master"]["lost"] > 0
        return float(phase["seconds"])

    at_most(seconds, 0.29)


def rows_of(out: str) -> list[str]:
    """The names of the rows with which a report opens."""
    return re.findall(r"^  (\S+(?: \S+)*)  .*$", out.split("\n\n")[1], re.MULTILINE)


def test_a_stream_opens_with_what_was_sent_and_received(netmodel: Netmodel) -> None:
    out = netmodel.run("-m", "tcp_stream", "-D", "test_length=200ms", code=0).out
    assert rows_of(out)[:5] == ["throughput", "retransmits", "cpu", "transactions", "latency"], out
    assert re.search(r"^  throughput +sent \S+ \Sb/s  received \S+ \Sb/s$", out, re.MULTILINE), out
    assert rows_of(netmodel.run("-m", "tcp_rr", "-D", "test_length=100ms", code=0).out)[0] == "transactions"


def test_a_stream_of_datagrams_opens_with_what_has_arrived(netmodel: Netmodel) -> None:
    out = netmodel.run("-m", "udp_stream", "-D", "test_length=200ms", code=0).out
    assert rows_of(out)[:5] == ["throughput", "to slaves", "datagrams", "cpu", "transactions"], out
    assert re.search(r"^  throughput +sent \S+ \Sb/s  received \S+ \Sb/s$", out, re.MULTILINE), out
    assert re.search(r"^  to slaves +sent \d+  received \d+ \(\S+ \Sb/s\)  lost \d+ ", out, re.MULTILINE), out
    assert re.search(r"^  transactions .*, 32 datagrams each\)$", out, re.MULTILINE), out


@pytest.mark.parametrize("way", ["to_slaves", "to_master"])
@pytest.mark.alone
def test_throughput_is_told_by_who_sends_and_who_receives(netmodel: Netmodel, way: str) -> None:
    document = measure(netmodel, "tcp_stream", enable_tcp_maerts="yes" if way == "to_master" else "no")
    throughput = document["totals"]["throughput"]
    here, there = ("received", "sent") if way == "to_master" else ("sent", "received")
    own = document["totals"][f"bits_{here}_per_s"]
    assert throughput[f"{here}_bits_per_s"] == throughput[way][f"{here}_bits_per_s"] == pytest.approx(own, rel=1e-6)
    # The same bytes, over the time of the other end.
    assert throughput[f"{there}_bits_per_s"] == throughput[way][f"{there}_bits_per_s"] == pytest.approx(own, rel=0.5)


def test_a_batch_of_datagrams_is_not_one_datagram(netmodel: Netmodel) -> None:
    totals = measure(netmodel, "udp_stream", batch_size=32)["totals"]
    way = totals["messages"]["to_slaves"]
    assert way["sent"] == 32 * totals["transactions"]
    assert way["packets_sent"] == totals["transactions"], "each batch leaves as one train"
    assert 0 < way["packets_received"] <= way["received"]
    assert totals["throughput"]["to_slaves"]["received_bits_per_s"] == pytest.approx(way["bits_received_per_s"], rel=0.01)
    alone = measure(netmodel, "udp_stream", batch_size=1)["totals"]["messages"]["to_slaves"]
    assert alone["packets_sent"] == alone["sent"] and alone["packets_received"] == alone["received"]


@pytest.mark.alone
def test_poisson_rr_waits_for_no_answer(netmodel: Netmodel) -> None:
    """Four connections, each of which is busy for 50 ms, carry 80 requests a second of the 400 that are due."""
    document = netmodel.measure("poisson_rr", *defines(test_length="500ms", rate=400, num_flows=4, server_work="50ms"))
    of = phase_of(document, "request-response")
    assert of["planned_per_s"] == 400
    assert of["load"]["verdict"] == "connections"
    assert 100 < of["load"]["due"] < 300
    assert document["totals"]["transactions_per_s"] <= 80 and document["totals"]["latency_s"]["min"] >= 0.05
    # They wait for a connection, and that is in their response time.
    assert document["totals"]["response_s"]["max"] > 0.5


@pytest.mark.alone
def test_ramp_grows(netmodel: Netmodel) -> None:
    """A quarter of the requests is due in the first half."""
    document = netmodel.measure("ramp", *defines(test_length="1s", from_rate=0, to_rate=2000), "-i", "100ms")
    rows = document["intervals"]
    early = sum(row["transactions"] for row in rows if row["to_s"] < 0.55)
    late = sum(row["transactions"] for row in rows if row["from_s"] > 0.45)
    assert late > 2 * early > 0


@pytest.mark.parametrize("direction", ["write", "read"])
@pytest.mark.alone
def test_latency_under_load_has_an_idle_path_first(netmodel: Netmodel, direction: str) -> None:
    document = measure(netmodel, "latency_under_load", "-t", direction=direction, idle_length="200ms")
    assert measured(document) == ["loaded", "stream"]
    phases = {phase["name"]: phase for group in document["groups"] for phase in group["phases"]}
    idle, loaded, stream = (phases[name] for name in ("idle", "loaded", "stream"))
    assert idle["transactions"] > 3 and loaded["transactions"] > 3
    # Nothing is streamed before.
    assert stream["begin_s"] >= idle["begin_s"] + 0.2
    assert stream["bytes_sent" if direction == "write" else "bytes_received"] > 1e6
