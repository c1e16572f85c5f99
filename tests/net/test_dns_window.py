# SPDX-License-Identifier: Apache-2.0
"""DNS: several queries outstanding on one socket, at an nsd and at servers that answer in another order, wrongly or not at all."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from nmtest import Json, Netmodel, assert_complete, defines, master_of, phase_of
from partners import nsd
from test_dns import ZONE, asking, counts, right, serving

WriteProfile = Callable[..., Path]


def ask(place: str, profile: WriteProfile, depth: int, transaction: str, query: str = "name=example.com timeout=5s", flows: int = 1) -> Path:
    return profile(asking(f"server={place} protocol=udp", query, f'{transaction} pipeline="{depth}"', f"nflows='{flows}'"))


def outcomes(document: Json) -> dict[str, int]:
    return {name: count for name, count in phase_of(document, "ask")["outcomes"].items() if count}


@pytest.mark.parametrize("params", [{"num_flows": 1}, {"num_flows": 7, "num_threads": 2}, {"num_flows": 2, "edge_trigger": "no"}, {"num_flows": 1, "labels": "no"}])
def test_counts_are_those_of_nsd(params: dict[str, object], netmodel: Netmodel, tmp_path: Path) -> None:
    with nsd(tmp_path, ZONE) as server:
        document = netmodel.measure("dns", *defines(server=server.server, pipeline=32, test_length="300ms", **params))
        there = server.stats()
    assert_complete(document)
    phase = phase_of(document, "query")
    assert phase["outcomes"]["requests"] == there["num.queries"] == phase["transactions"] > 100
    assert counts(document)["hits"] == there["num.rcode.NOERROR"]
    assert counts(document)["misses"] == there["num.rcode.NXDOMAIN"]
    assert phase["messages"]["to_master"]["late"] == phase["messages"]["unanswered"] == 0
    assert phase["verbs"][0]["latency_s"]["count"] == phase["latency_s"]["count"] == phase["transactions"]


@pytest.mark.parametrize("depth", [1, 2, 5, 100])
def test_so_many_are_outstanding(depth: int, netmodel: Netmodel, profile: WriteProfile) -> None:
    """The server answers when it has so many, the last of them first: all of them were sent before any answer."""
    held: list[bytes] = []

    def answer(_number: int, query: bytes) -> list[bytes | float]:
        held.append(query)
        if len(held) < depth:
            return []
        answers = [right(one) for one in reversed(held)]
        held.clear()
        return [*answers]

    with serving(answer) as server:
        document = netmodel.measure(ask(server.place, profile, depth, f'iterations="{4 * depth}"'))
        assert len(server.queries) == len({query[:2] for query in server.queries}) == 4 * depth
    assert_complete(document)
    assert outcomes(document) == {"requests": 4 * depth, "hits": 4 * depth}


def test_answers_of_each_kind_are_told_apart(netmodel: Netmodel, profile: WriteProfile) -> None:
    """Refused and cut ones in turn, which have nothing of the one before."""

    def answer(number: int, query: bytes) -> list[bytes | float]:
        said = right(query)
        return [said[:2] + (b"\x86\x00" if number % 2 else b"\x84\x05") + said[4:]]

    with serving(answer) as server:
        document = netmodel.measure(ask(server.place, profile, 4, 'iterations="100"'))
    assert_complete(document)
    assert outcomes(document) == {"requests": 100, "refused": 50, "truncated": 50}
    assert phase_of(document, "ask")["verbs"][0]["answers"] == {"REFUSED": 50, "NOERROR": 50}


def test_lost_ones_are_given_up_each_by_itself(netmodel: Netmodel, profile: WriteProfile) -> None:
    """The others go on meanwhile, although there are many more of them than places."""
    with serving(lambda number, query: [right(query)] if number >= 3 else []) as server:
        document = netmodel.measure(ask(server.place, profile, 4, 'iterations="600"', "name=example.com timeout=700ms"))
        assert len(server.queries) == 600
    assert_complete(document)
    assert outcomes(document) == {"requests": 600, "hits": 597, "timed_out": 3}
    phase = phase_of(document, "ask")
    assert phase["messages"]["unanswered"] == 3 and phase["transactions"] == 597
    assert phase["with_failures"]["failures"] == 3


def test_each_has_its_time_where_no_times_are_kept(netmodel: Netmodel, profile: WriteProfile) -> None:
    """In a transaction that is not measured, and lasts for longer than a query may."""
    with serving(lambda _number, query: [0.04, right(query)]) as server:
        document = netmodel.measure(ask(server.place, profile, 2, 'iterations="40" measure="no"', "name=example.com timeout=1s"))
        assert len(server.queries) == 40
    assert_complete(document)
    of = master_of(document)["counts"]
    assert (of["hits"], of["timed_out"]) == (40, 0)


def test_late_foreign_and_second_answers(netmodel: Netmodel, profile: WriteProfile) -> None:
    """Two are answered too late; another has what nobody has asked for before its answer, and one its answer twice."""
    first: list[bytes] = []
    pause = threading.Event()

    def answer(number: int, query: bytes) -> list[bytes | float]:
        if number == 0:
            first.append(query)
            return []
        if number == 3:
            pause.wait(1.5)
            return [right(first[0]), right(query)]
        wrong = [right(query).replace(b"example", b"exampel"), bytes([query[0] ^ 0x55]) + right(query)[1:], query, b"", right(query)[:11]]
        return [*(wrong if number == 7 else []), right(query), *([right(query)] if number == 6 else [])]

    with serving(answer) as server:
        document = netmodel.measure(ask(server.place, profile, 2, 'iterations="10"', "name=example.com timeout=1s"))
    assert outcomes(document) == {"requests": 10, "hits": 8, "timed_out": 2}
    assert phase_of(document, "ask")["messages"]["to_master"]["late"] == 2 + 5 + 1


def test_what_is_outstanding_at_the_end_has_failed(netmodel: Netmodel, profile: WriteProfile) -> None:
    with serving(lambda number, query: [right(query)] if number < 20 else []) as server:
        document = netmodel.measure(ask(server.place, profile, 8, 'duration="300ms"', "name=example.com", flows=2))
        asked = len(server.queries)
    assert asked == 20 + 16
    assert outcomes(document) == {"requests": asked, "hits": 20, "timed_out": 16}
    assert phase_of(document, "ask")["messages"]["unanswered"] == 16


def test_a_port_where_nobody_listens(netmodel: Netmodel, profile: WriteProfile) -> None:
    with serving(lambda _number, _query: []) as server:
        place = server.place
    document = netmodel.measure(ask(place, profile, 3, 'iterations="6"', "name=example.com timeout=50ms"), code=2)
    assert outcomes(document) == {"requests": 6, "lost": 6}


def test_at_a_rate(netmodel: Netmodel, profile: WriteProfile) -> None:
    with serving(lambda _number, query: [right(query)]) as server:
        document = netmodel.measure(ask(server.place, profile, 16, 'rate="200" duration="500ms"', flows=2))
        assert 150 <= len(server.queries) <= 202
    assert_complete(document)
    assert outcomes(document)["hits"] == len(server.queries)
    assert phase_of(document, "ask")["response_s"]["count"] == len(server.queries)


def test_flowops_and_processes(netmodel: Netmodel, profile: WriteProfile) -> None:
    """What -f tells of the flowop is what there is of the transaction; the second transaction begins with an empty table."""
    with serving(lambda _number, query: [right(query)]) as server:
        body = asking(f"server={server.place} protocol=udp", "name=example.com timeout=5s", 'iterations="40" pipeline="8"', "nprocs='2' nflows='4'")
        once = body[body.index('<transaction name="ask"') : body.index("</transaction>", body.index('<transaction name="ask"')) + len("</transaction>")]
        document = netmodel.measure(profile(body.replace(once, once + once.replace('"ask"', '"again"'))), "-f")
    assert_complete(document)
    for name in ("ask", "again"):
        (of,) = phase_of(document, name)["flowops"]
        assert of["operations"] == of["outcomes"]["hits"] == phase_of(document, name)["outcomes"]["hits"] == 160


@pytest.mark.parametrize(
    ("connect", "query", "more", "why"),
    [
        ("remotehost=local protocol=udp", "name=a.b", "", "where connect has server=... alone"),
        ("server=127.0.0.1 protocol=tcp", "name=a.b", "", "over protocol=udp alone"),
        ("server=127.0.0.1 protocol=udp", "name=a.b tcp_fallback", "", "without tcp_fallback alone"),
        ("server=127.0.0.1 protocol=udp", "name=a.b", '<flowop type="think" options="duration=1ms"/>', "one query in each pass"),
    ],
)
def test_mistakes(connect: str, query: str, more: str, why: str, netmodel: Netmodel, profile: WriteProfile) -> None:
    body = asking(connect, query, 'iterations="3" pipeline="4"')
    path = profile(body.replace(f'options="{query}"/>', f'options="{query}"/>{more}'))
    told = netmodel.run("-m", path, "--check", code=1).err
    assert 'in a transaction with pipeline="4": ' in told
    assert why in told


@pytest.mark.parametrize("protocol", ["udp", "tcp"])
@pytest.mark.parametrize("inside", ["<mix>{}</mix>", "<mix>{0}{0}</mix>", '<sequence count="3">{}</sequence>'])
def test_a_mix_or_a_sequence_has_no_window(inside: str, protocol: str, netmodel: Netmodel, profile: WriteProfile) -> None:
    body = asking(f"server=127.0.0.1 protocol={protocol}", "name=a.b", 'iterations="3" pipeline="4"')
    query = '<flowop type="query" options="name=a.b"/>'
    told = netmodel.run("-m", profile(body.replace(query, inside.format(query))), "--check", code=1).err
    assert 'pipeline="4": not with a <sequence> or a <mix replay=...>, nor with a <mix> but of requests over one stream, none of them of DNS' in told
