# SPDX-License-Identifier: Apache-2.0
"""The jitter of datagrams that nothing answers, against delays that are known."""

from __future__ import annotations

import csv
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from compose import ask, connect, group, lasting, once, op, opened, read, times, write
from delaying import NEAR, Fate, way
from nmtest import Json, Netmodel, assert_complete, at_most, defines

SIZE = 200
HELD_S = 0.02


def measure(netmodel: Netmodel, fate: Fate, *args: str, size: int = SIZE, code: int = 0) -> Json:
    with way(netmodel, fate) as between:
        params = defines(
            host=NEAR, port=between.data_port, shared_socket="yes", test_length="800ms", delay="5ms", batch_size=1, message_size=size
        )
        document = netmodel.measure("udp_stream", "-P", str(between.port), *params, *args, code=code)
    if code == 0:
        assert_complete(document)
    return document


def jitter(document: Json) -> float | None:
    found: float | None = document["totals"]["messages"]["to_slaves"]["jitter_s"]
    return found


@pytest.mark.alone
def test_delays_of_every_second_datagram_are_jitter(netmodel: Netmodel) -> None:
    """RFC 3550: each differs by that much from the one before. The estimate begins at 0, and takes 16 to come near."""

    def off() -> float:
        """What is too much of it where nothing is held back, or where something is."""
        calm = jitter(measure(netmodel, lambda data, number: 0))
        shaken = jitter(measure(netmodel, lambda data, number: HELD_S * (number % 2 and len(data) == SIZE)))
        assert calm is not None and calm > 0
        assert shaken is not None and shaken > HELD_S / 2
        return max(4 * calm / shaken, shaken / HELD_S / 1.2)

    at_most(off, 1)


@pytest.mark.alone
def test_steady_delays_are_none(netmodel: Netmodel) -> None:
    held = jitter(measure(netmodel, lambda data, number: 0.3 * (len(data) == SIZE)))
    assert held is not None
    assert held < 0.1


@pytest.mark.parametrize(("size", "there"), [(16, True), (15, False), (8, False), (7, False)])
def test_it_needs_room_in_the_datagram(netmodel: Netmodel, size: int, there: bool) -> None:
    args = defines(test_length="100ms", delay="5ms", batch_size=1, message_size=size)
    assert (jitter(netmodel.measure("udp_stream", *args)) is not None) == there


@pytest.mark.alone
def test_losses_are_told_where_they_happen(netmodel: Netmodel) -> None:
    """A hole in the second of four intervals; the relay counts what comes to it, and the first is the greeting."""
    hole = range(50, 70)
    document = measure(netmodel, lambda data, number: None if number in hole else 0, "-i", "200ms")
    rows = document["intervals"]
    ways = [row["messages"]["to_slaves"] for row in rows]
    total = document["totals"]["messages"]["to_slaves"]
    assert [way["lost"] for way in ways] == [0, len(hole), 0, 0]
    assert total["lost"] == len(hole)
    for key in ("sent", "received"):
        assert sum(way[key] for way in ways) == total[key], key
        assert min(way[key] for way in ways) > 10, key
    assert ways[1]["received"] < ways[2]["received"] - len(hole) / 2
    assert all(way["jitter_s"] >= 0 and way["bits_received_per_s"] > 0 for way in ways)
    assert all(row["messages"]["to_master"]["sent"] == 0 for row in rows)
    own = document["hosts"][1]["intervals"]
    assert [row["messages"]["lost"] for row in own] == [way["lost"] for way in ways]


@pytest.mark.alone
def test_what_comes_late_is_taken_back(netmodel: Netmodel) -> None:
    """Missing in one interval, and there in the next."""
    document = measure(netmodel, lambda data, number: 0.2 if number in (60, 61, 62) else 0, "-i", "200ms")
    ways = [row["messages"]["to_slaves"] for row in document["intervals"]]
    assert [way["lost"] for way in ways] == [0, 3, -3, 0]
    assert [way["reordered"] for way in ways] == [0, 0, 3, 0]
    assert document["totals"]["messages"]["to_slaves"]["lost"] == 0


@pytest.mark.alone
def test_columns_tell_losses_of_intervals(netmodel: Netmodel) -> None:
    with way(netmodel, lambda data, number: None if number in (60, 62) else 0) as between:
        params = defines(
            host=NEAR, port=between.data_port, shared_socket="yes", test_length="600ms", delay="5ms", batch_size=1, message_size=SIZE
        )
        text = netmodel.run("-m", "udp_stream", "-P", str(between.port), *params, "-i", "200ms", "--format", "csv", code=0).out
    rows = list(csv.DictReader(text.splitlines()))
    assert [row["to_slaves_lost"] for row in rows] == ["0", "2", "0"]
    assert all(float(row["to_slaves_bits_received_per_s"]) > 0 for row in rows)
    assert all(int(row["to_slaves_received"]) > 10 and row["to_master_sent"] == "0" for row in rows)
    assert all(float(row["to_slaves_jitter_s"]) > 0 and not row["to_master_jitter_s"] for row in rows)
    plain = netmodel.run("-m", "tcp_rr", *defines(test_length="20ms"), "-i", "10ms", "--format", "csv", code=0).out
    assert plain.splitlines()[0].endswith(",seconds")


@pytest.mark.parametrize(("size", "told"), [(8, 0), (7, None)])
def test_losses_of_intervals_need_a_number(netmodel: Netmodel, size: int, told: int | None) -> None:
    args = defines(test_length="100ms", delay="5ms", batch_size=1, message_size=size)
    (row,) = netmodel.measure("udp_stream", *args, "-i", "100ms")["intervals"]
    assert row["messages"]["to_slaves"]["lost"] == told
    assert row["messages"]["to_slaves"]["received"] == row["messages"]["to_slaves"]["sent"] > 0


@pytest.mark.alone
def test_what_comes_after_the_end_is_in_the_last_row(netmodel: Netmodel) -> None:
    """The slave takes what comes half a second late, and has more rows than the master."""
    held = lambda data, number: 0.5 * (len(data) == SIZE)  # noqa: E731
    document = measure(netmodel, held, "-i", "300ms")
    ways = [row["messages"]["to_slaves"] for row in document["intervals"]]
    total = document["totals"]["messages"]["to_slaves"]
    assert sum(way["received"] for way in ways) == total["received"] == total["sent"]
    assert len(document["hosts"][1]["intervals"]) > len(ways)
    assert ways[-1]["bits_received_per_s"] < 2 * 200 * SIZE * 8


def test_a_host_to_which_nothing_comes_has_rows(netmodel: Netmodel) -> None:
    document = measure(netmodel, lambda data, number: None if len(data) == SIZE else 0, "-i", "300ms", code=2)
    rows = document["hosts"][1]["intervals"]
    assert rows and all(row["messages"]["received"] == 0 for row in rows)


def test_other_transports_are_no_messages(netmodel: Netmodel, profile: Callable[..., Path]) -> None:
    """Groups over tcp and over udp beside each other, and both in one group."""
    exchange = lasting("400ms", write("10k", "conn=1") + read(1000, "conn=1"), more='rate="100"')
    short = lasting("400ms", write(4, "conn=2"), more='rate="100"')
    tcp, udp = connect(options="protocol=tcp conn=1"), connect(options="protocol=udp conn=2")
    apart = group(once(tcp), exchange) + group(once(udp), short)
    together = group(once(tcp + udp), exchange.replace("</transaction>", write(4, "conn=2") + "</transaction>"))
    for text in (apart, together):
        document = netmodel.measure(profile(text), "-i", "200ms")
        assert_complete(document)
        ways = [row["messages"] for row in document["intervals"]] + [document["totals"]["messages"]]
        for both in ways:
            assert 0 < both["to_slaves"]["bits_received_per_s"] < 10 * 100 * 4 * 8
            assert both["to_master"]["bits_received_per_s"] == 0
        assert all(both["to_slaves"]["lost"] is None for both in ways[:-1])
        assert ways[-1]["to_slaves"]["lost"] == 0


def test_rows_without_answers_have_no_transactions(netmodel: Netmodel, profile: Callable[..., Path]) -> None:
    """Readings come at any time, also between the counts of one pass."""
    body = lasting("500ms", write(64) + op("think", "duration=1ms at=slave") + read(64, "timeout=1us"))
    document = netmodel.measure(profile(opened(body, strands=8, opening=connect(options="protocol=udp"))), "-i", "1ms")
    rows = [row["transactions"] for row in document["intervals"]]
    assert document["totals"]["messages"]["unanswered"] > 100
    assert sum(rows) == document["totals"]["transactions"]
    assert max(rows) < 10000


def test_waits_of_the_profile_are_no_standstill(netmodel: Netmodel, profile: Callable[..., Path]) -> None:
    """A wait that is longer than --timeout, and many that are together."""
    with way(netmodel, lambda data, number: None if len(data) == SIZE else 0) as between:
        opening = connect(NEAR, f"protocol=udp shared_socket port={between.data_port}")
        waits = times(1, write(SIZE), read(SIZE, "timeout=800ms")) + times(1, write(SIZE), read(SIZE, "timeout=60ms count=12"))
        path = profile(opened(waits, opening=opening))
        document = netmodel.measure(path, "-P", str(between.port), "--timeout", "400ms", code=2)
    messages = document["totals"]["messages"]
    assert (messages["timeouts"], messages["unanswered"]) == (13, 2)
    assert "none of the 2 messages that the master sent has come in time: " in document["run"]["incomplete_why"]


@pytest.mark.parametrize(("request_size", "answer"), [(1, 64), (64, 1), (7, 8), (8, 7)])
def test_questions_without_a_number_are_answered(
    netmodel: Netmodel, profile: Callable[..., Path], request_size: int, answer: int
) -> None:
    path = profile(opened(times(300, ask(request_size, answer)), opening=connect(options="protocol=udp")))
    messages = netmodel.measure(path)["totals"]["messages"]
    assert messages["to_master"]["received"] == 300
    assert messages["timeouts"] == messages["unanswered"] == 0
    for direction, size in (("to_slaves", request_size), ("to_master", answer)):
        told = messages[direction]
        assert told["lost"] == 0
        assert told["duplicates"] == told["reordered"] == told["late"] == (0 if size >= 8 else None)


def test_what_has_no_number_is_no_gap(netmodel: Netmodel, profile: Callable[..., Path]) -> None:
    """Among messages that have one, and before them."""
    before = times(50, ask(4, 4), name="before", more='measure="no"')
    mixed = times(200, ask(4, 4), ask(64, 64), name="mixed")
    path = profile(opened(before, times(200, ask(64, 64)), mixed, opening=connect(options="protocol=udp")))
    rows = netmodel.measure(path, "-i", "10s")["intervals"]
    assert [row["messages"]["to_slaves"]["lost"] for row in rows[1:3]] == [0, None]


@pytest.mark.alone
def test_who_follows_gives_up_when_the_other_is_done(netmodel: Netmodel, profile: Callable[..., Path]) -> None:
    """Much is lost, as the buffer is small; no message of it is waited for when all is over."""
    path = profile(opened(lasting("50ms", read(10000, "timeout=20ms")), opening=connect(options="protocol=udp rcvbuf=16k")))
    began = time.monotonic()
    document = netmodel.measure(path)
    assert document["totals"]["messages"]["to_master"]["lost"] > 100
    assert time.monotonic() - began < 9, "less than the limit of a wait, of 10 s"


def test_where_messages_are_answered_there_is_none(netmodel: Netmodel) -> None:
    messages = netmodel.measure("udp_rr", *defines(test_length="50ms", request_size=100))["totals"]["messages"]
    assert messages["to_slaves"]["jitter_s"] is messages["to_master"]["jitter_s"] is None


def test_text_has_it(netmodel: Netmodel) -> None:
    line = netmodel.run("-m", "udp_stream", *defines(test_length="100ms"), code=0).out
    assert " duplicates 0  jitter " in line


def test_kv_has_what_json_has(netmodel: Netmodel) -> None:
    """Of a run in which some are lost on the way; where none can be lost there are no such keys."""
    with way(netmodel, lambda data, number: None if len(data) == SIZE and number % 10 == 5 else 0) as between:
        params = defines(
            host=NEAR, port=between.data_port, shared_socket="yes", test_length="400ms", delay="5ms", batch_size=1, message_size=SIZE
        )
        text = netmodel.run("-m", "udp_stream", "-P", str(between.port), *params, "--format", "kv", code=0).out
    keys = dict(line.split("=", 1) for line in text.splitlines())
    sent, received, lost = (int(keys[f"messages_to_slaves_{name}"]) for name in ("sent", "received", "lost"))
    assert sent == received + lost
    assert 0 < sent / 20 < lost < sent / 5
    assert float(keys["messages_to_slaves_jitter"]) > 0
    assert keys["messages_timeouts"] == "0"
    assert "messages_" not in netmodel.run("-m", "tcp_rr", *defines(test_length="20ms"), "--format", "kv", code=0).out
