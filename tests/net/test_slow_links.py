# SPDX-License-Identifier: Apache-2.0
"""Links that carry less than both ends could: what is received is what the link has carried, in all outputs.

A run takes some seconds, as what fills the buffers must go over the link when the time is over.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from compose import connect, group, lasting, once, op, opened, read, times, write
from loss import losing_long
from nmtest import Json, Netmodel, Node, Result, assert_complete, defines, inside, slaves_of, slaves_on, wait_until
from shaping import IN_ORDER, Meter, Setting, carried, metered, over_link, shape

WriteProfile = Callable[..., Path]

RATE = 4_000_000  # bits a second, with all headers
BURST = 5_000  # bytes that may pass at once


@pytest.fixture
def shaped(nodes: Callable[[int], list[Node]]) -> tuple[Node, Node]:
    """Two hosts, each of which sends no faster than RATE."""
    near, far = nodes(2)
    for node in (near, far):
        shape(node, RATE, BURST)
    return near, far


def test_a_counter_that_was_read_rarely_tells_no_most() -> None:
    """A run may end before what a busy machine has read last is as old as the stream."""
    meter = Meter([(0.0, 0.1, 0), (2.0, 2.1, 9_000), (4.2, 4.3, 90_000)])
    assert meter.after(2.0) == (0, 90_000)
    assert meter.after(4.0) == (9_000, math.inf)


def way_of(document: Json, name: str) -> Json:
    way: Json = document["totals"]["throughput"][name]
    return way


@pytest.mark.parametrize(
    ("profile_name", "params", "way"),
    [
        ("tcp_stream", {"num_flows": 1}, "to_slaves"),
        ("tcp_stream", {"num_flows": 4}, "to_slaves"),
        ("tcp_stream", {"num_flows": 1, "enable_tcp_maerts": "yes"}, "to_master"),
        ("tcp_stream", {"num_flows": 4, "enable_tcp_maerts": "yes"}, "to_master"),
        ("udp_stream", {"num_flows": 2}, "to_slaves"),
    ],
)
def test_no_more_is_received_than_the_link_carries(
    netmodel: Netmodel, shaped: tuple[Node, Node], profile_name: str, params: dict[str, object], way: str
) -> None:
    near, far = shaped
    sender = near if way == "to_slaves" else far
    before = carried(sender)[0]
    with slaves_on(netmodel, [far]):
        document = netmodel.measure(
            profile_name, *defines(host=far.address, test_length="1s", **params), prefix=near.prefix
        )
    through = carried(sender)[0] - before
    assert_complete(document)
    slave = slaves_of(document)[0]
    received = (slave if way == "to_slaves" else document["hosts"][0])["counts"]["bytes_received"]
    figures = way_of(document, way)
    assert received <= through
    # No longer than all of it could take, by the shaper's rate.
    assert figures["received_bits_per_s"] <= RATE * 1.01 + BURST * 8
    assert figures["received_bits_per_s"] > RATE / 4
    # With what came after the end: the windows of both ends account for the same bytes.
    assert 0 <= figures["after_bytes"] <= received
    if profile_name == "udp_stream":
        messages = document["totals"]["messages"][way]["bits_received_per_s"]
        assert messages == pytest.approx(figures["received_bits_per_s"], rel=0.05)
    else:
        assert document["run"]["reconciled"] is True
        assert figures["after_bytes"] > 0
        assert figures["after_s"] > 0


def test_a_group_that_ends_before_another_has_all_its_bytes_in_the_rate(
    netmodel: Netmodel, profile: WriteProfile, shaped: tuple[Node, Node]
) -> None:
    """What came after its time came in the time of the other, which the rate is over."""
    near, far = shaped
    # What these buffers have comes long before the other group has ended.
    small = connect(far.address, "protocol=tcp wndsz=64k")
    reading = opened(lasting("1s", op("read", "size=8192")), strands=8, opening=small)
    writing = opened(lasting("4s", op("write", "size=8192")), opening=connect(far.address))
    with slaves_on(netmodel, [far]):
        document = netmodel.measure(profile(reading + writing), prefix=near.prefix, timeout=60)
    assert_complete(document)
    received = document["hosts"][0]["counts"]["bytes_received"]
    assert received > 1.2 * RATE / 8, "nothing came after its time"
    came = way_of(document, "to_master")["received_bits_per_s"] / 8 * document["totals"]["seconds"]
    assert came == pytest.approx(received, rel=0.03)


@pytest.mark.parametrize("way", ["to_slaves", "to_master"])
def test_who_sends_for_longer_has_received_in_time(
    netmodel: Netmodel, profile: WriteProfile, shaped: tuple[Node, Node], way: str
) -> None:
    """What four streams have in their buffers needs seconds the other way, which is slower."""
    near, far = shaped
    receiver, one, four = (far, "write", "read") if way == "to_slaves" else (near, "read", "write")
    shape(receiver, RATE // 4)
    single = opened(lasting("1s", op(one, "size=8192")), opening=connect(far.address, "protocol=tcp wndsz=64k"))
    many = opened(lasting("1s", op(four, "size=131072")), strands=4, opening=connect(far.address))
    with metered(receiver, IN_ORDER) as meter, slaves_on(netmodel, [far]):
        document = netmodel.measure(profile(single + many), prefix=near.prefix, timeout=60)
    assert_complete(document)
    rate = way_of(document, way)["received_bits_per_s"]
    assert 0.8 * meter.best_bits_per_s(1) < rate <= RATE * 1.01 + BURST * 8


@pytest.mark.parametrize("way", ["to_slaves", "to_master"])
def test_streams_have_what_the_link_lets_through(
    netmodel: Netmodel, nodes: Callable[[int], list[Node]], tmp_path: Path, way: str
) -> None:
    """Also where the last flow waits, alone, to send again. Short streams are of their begin: 4 s."""
    near, far = nodes(2)
    told = over_link(Setting(netmodel, near, far, way, 8, 4, tmp_path), "tcp_stream", 10_000_000)
    assert told.fault() == ""


def test_all_keys_have_one_rate(netmodel: Netmodel, shaped: tuple[Node, Node]) -> None:
    near, far = shaped
    require = f"throughput <= {RATE * 1.01 + BURST * 8:.0f}b/s"
    with slaves_on(netmodel, [far]):
        args = ("-m", "tcp_stream", "--format", "kv", "--require", require)
        result = netmodel.run(
            *args, *defines(host=far.address, test_length="1s"), prefix=near.prefix, timeout=60, code=0
        )
    keys = dict(line.split("=", 1) for line in result.out.splitlines() if "=" in line)
    rate = float(keys["throughput_received_bits_per_s"])
    assert rate <= RATE * 1.01 + BURST * 8
    assert float(keys["remote_throughput"]) == pytest.approx(rate, rel=1e-4)
    assert float(keys["remote_local_throughput"]) == pytest.approx(rate, rel=1e-4)
    seconds = float(keys["remote_total_run_time"])
    assert int(keys["remote_bytes_received"]) * 8 / seconds == pytest.approx(rate, rel=1e-4)
    assert float(keys["throughput_sent_bits_per_s"]) > rate


IDEAL = f'slowdown="link={RATE}b/s base=1ms"'


def test_a_flow_alone_is_as_fast_as_the_link(
    netmodel: Netmodel, profile: WriteProfile, shaped: tuple[Node, Node]
) -> None:
    near, far = shaped
    flow = times(3, write(200_000), read(1), more=IDEAL)
    path = profile(opened(flow, opening=connect(far.address, "protocol=tcp nodelay")))
    with slaves_on(netmodel, [far]):
        totals = netmodel.measure(path, prefix=near.prefix, timeout=60)["totals"]
    assert totals["slowdown"]["count"] == totals["slowdown_100kb_1mb"]["count"] == 3
    assert 0.9 < totals["slowdown"]["min"] < 1.1


def test_what_is_measured_of_the_idle_link_is_what_the_formula_says(
    netmodel: Netmodel, profile: WriteProfile, shaped: tuple[Node, Node]
) -> None:
    """But for the bytes that the shaper lets pass at once."""
    near, far = shaped
    flow = times(3, write("bimodal(20000,50000,0.5)"), read(1), more='slowdown="auto"')
    path = profile(opened(flow, opening=connect(far.address, "protocol=tcp nodelay")))
    with slaves_on(netmodel, [far]):
        document = netmodel.measure(path, "--seed", 1, prefix=near.prefix, timeout=60)
    (measured,) = (phase["idle_path"] for phase in document["groups"][0]["phases"] if "idle_path" in phase)
    for size in measured:
        alone_s = 8 * (size["bytes"] + 90 * -(-size["bytes"] // 1448)) / RATE
        assert 0.98 * (alone_s - 8 * BURST / RATE) <= size["ideal_s"] <= 1.1 * alone_s
    assert [size["bytes"] for size in measured] == [20000, 50000]
    assert 0.9 < document["totals"]["slowdown"]["min"] < 1.2


def test_under_load_short_flows_wait_for_long_ones(
    netmodel: Netmodel, profile: WriteProfile, shaped: tuple[Node, Node]
) -> None:
    """The link is a queue: a flow of 2 kB, which takes 5 ms alone, stands behind others of 100 kB, which take 0.2 s."""
    near, far = shaped
    more = f'arrivals="load(0.8,{RATE}b/s)" {IDEAL}'
    flows = lasting("3s", write("bimodal(2000,100000,0.8)"), read(1), more=more)
    text = opened(flows, strands=32, opening=connect(far.address, "protocol=tcp nodelay"))
    with slaves_on(netmodel, [far]):
        totals = netmodel.measure(profile(text), "--seed", 1, prefix=near.prefix, timeout=60)["totals"]
    short, long = totals["slowdown_under_10kb"], totals["slowdown_100kb_1mb"]
    assert short["count"] + long["count"] == totals["transactions"]
    assert short["p99"] > long["p50"] > 0.9
    assert totals["complete_under_10kb_s"]["p99"] > 0.02


def test_a_count_of_messages_is_waited_for_while_they_come(
    netmodel: Netmodel, profile: WriteProfile, shaped: tuple[Node, Node]
) -> None:
    """The master has nothing to do for longer than the timeout: all is in its buffers."""
    near, far = shaped
    path = profile(group(once(connect(far.address)), times(30, write(65536)), once(op("disconnect"))))
    with slaves_on(netmodel, [far]):
        document = netmodel.measure(path, "--timeout", "1s", "-i", "100ms", prefix=near.prefix, timeout=60)
    assert_complete(document)
    assert document["run"]["reconciled"] is True
    assert way_of(document, "to_slaves")["received_bits_per_s"] <= RATE * 1.01 + BURST * 8


def lose_all_after(near: Node, far: Node, through: float, backoff: int) -> None:
    """Once near has sent so many bytes, all data are lost until a kernel has waited so often, longer each time."""
    data = ("dst", far.address, "dport", "!=", ":20000")
    wait_until(lambda: carried(near)[0] > through)
    with losing_long(far, 600):
        wait_until(lambda: re.search(rf" backoff:[{backoff}-9]", inside(near, "ss", "-Htin", *data)))


def stream_that_comes_late(netmodel: Netmodel, near: Node, far: Node, form: str) -> Result:
    """When the time is over nothing comes for as long again, and then what the buffers had."""
    words = ("-m", "tcp_stream", "--format", form, *defines(host=far.address, num_flows=4, test_length="4s"))
    with slaves_on(netmodel, [far]), netmodel.started(*words, prefix=near.prefix) as master:
        lose_all_after(near, far, 4 * RATE / 8, 3)
        result = master.finish(120)
    assert result.code == 0, result
    return result


@pytest.mark.needs("xdp")
def test_what_comes_when_the_window_has_closed_is_in_no_rate(netmodel: Netmodel, shaped: tuple[Node, Node]) -> None:
    document = stream_that_comes_late(netmodel, *shaped, "json").json()
    assert_complete(document)
    figures = way_of(document, "to_slaves")
    received = slaves_of(document)[0]["counts"]["bytes_received"]
    seconds = (received - figures["late_bytes"]) * 8 / figures["received_bits_per_s"]
    assert min(figures["late_s"], figures["late_bytes"]) > 0
    assert 0.75 * RATE < figures["received_bits_per_s"] <= RATE * 1.01 + BURST * 8
    assert received * 8 / (seconds + figures["late_s"]) < 0.7 * RATE


@pytest.mark.needs("xdp")
def test_what_comes_when_the_window_has_closed_is_in_no_throughput(netmodel: Netmodel, shaped: tuple[Node, Node]) -> None:
    """Data and time have it."""
    text = stream_that_comes_late(netmodel, *shaped, "uperf").out
    row = re.search(rf"^{shaped[1].address} +([\d.]+)s +([\d.]+)MB +([\d.]+)Mb/s", text, re.M)
    assert row, text
    seconds, mebibytes, megabits_per_s = map(float, row.groups())
    assert 0.75 * RATE < megabits_per_s * 1e6 <= RATE * 1.01 + BURST * 8
    assert mebibytes * 2**20 * 8 / seconds < 0.7 * RATE


@pytest.mark.needs("xdp")
def test_a_run_waits_while_a_kernel_is_going_to_send_again(
    netmodel: Netmodel, profile: WriteProfile, shaped: tuple[Node, Node]
) -> None:
    """What is repeated is lost, too, until TCP waits for longer than the timeout before it repeats it once more."""
    near, far = shaped
    path = profile(group(once(connect(far.address)), times(30, write(65536)), once(op("disconnect"))))
    words = ("-m", path, "--timeout", "3s", "--format", "json")
    with slaves_on(netmodel, [far]), netmodel.started(*words, prefix=near.prefix) as master:
        lose_all_after(near, far, 200_000, 4)
        result = master.finish(120)
    assert result.code == 0, result
    assert_complete(result.json())
