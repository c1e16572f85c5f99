# SPDX-License-Identifier: Apache-2.0
"""Datagrams: how many system calls they cost, batches and trains, and what is counted at both ends."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from delaying import NEAR, at_once, way
from nmtest import PROFILES, Json, Netmodel, Node, at_most, defines, phase_of

pytestmark = pytest.mark.alone

WriteProfile = Callable[..., Path]
CALLS = ("sendto", "recvfrom", "sendmmsg", "recvmmsg", "epoll_wait", "epoll_pwait", "epoll_pwait2")
PASSES = 2000
BATCH = 50
SIZE = 1000


@pytest.fixture
def traced(tmp_path: Path, strace: str) -> Callable[..., tuple[str, ...]]:

    def prefix(name: str, *options: str) -> tuple[str, ...]:
        return (strace, "-f", "-o", str(tmp_path / name), *options)

    return prefix


def one_way(flowop: str, opening: str = "", message: str = "", passes: int = 40, before: str = "") -> str:
    """Batches at a pace that no receiver loses anything at."""
    return f"""<group nthreads="1">
  <transaction iterations="1"><flowop type="connect" options="remotehost=local protocol=udp rcvbuf=4m {opening}"/>
  </transaction>
  <transaction iterations="{passes}" rate="200">{before}
    <flowop type="{flowop}" options="size={SIZE} batch_size={BATCH} {message}"/></transaction>
  <transaction iterations="1"><flowop type="disconnect"/></transaction>
</group>"""


def calls_in(path: Path) -> Counter[str]:
    """By name, from `strace -c`."""
    rows = re.findall(r"^ *[\d.]+ +[\d.]+ +\d+ +(\d+) +(?:\d+ +)?(\w+)$", path.read_text(), re.MULTILINE)
    return Counter({name: int(count) for count, name in rows})


@contextmanager
def slave_under(netmodel: Netmodel, prefix: tuple[str, ...]) -> Iterator[list[str]]:
    with netmodel.slave(prefix=prefix) as slave:
        yield ["-P", str(slave.port)]


@pytest.mark.parametrize(("flows", "most"), [(1, 2.2), (64, 2.4)])
def test_calls_of_a_request_and_its_answer(
    netmodel: Netmodel, traced: Callable[..., tuple[str, ...]], profile: WriteProfile, tmp_path: Path, flows: int, most: float
) -> None:
    path = profile(
        f"""<group nthreads="1" nflows="{flows}">
  <transaction iterations="1"><flowop type="connect" options="remotehost=127.0.0.1 protocol=udp"/></transaction>
  <transaction iterations="{PASSES * 4 // (3 + flows)}"><flowop type="write" options="size=64"/>
    <flowop type="read" options="size=64"/></transaction>
  <transaction iterations="1"><flowop type="disconnect"/></transaction></group>"""
    )

    def calls_of_a_pass() -> float:
        """Of the end that makes more of them; 400 are for what is not a pass."""
        with slave_under(netmodel, traced("slave", "-c")) as port:
            document = netmodel.measure(path, *port, prefix=traced("master", "-c"))
        made = (sum(calls_in(tmp_path / end)[name] for name in CALLS) for end in ("master", "slave"))
        return float((max(made) - 400) / document["totals"]["transactions"])

    at_most(calls_of_a_pass, most)


def sent_and_received(document: Json, way: str) -> tuple[int, int]:
    messages = document["totals"]["messages"][way]
    assert messages["lost"] == messages["reordered"] == messages["duplicates"] == 0, messages
    return messages["sent"], messages["received"]


@pytest.mark.parametrize("opening", ["", "gso=no", "gro=no", "gso=no gro=no"])
@pytest.mark.parametrize(("flowop", "way"), [("write", "to_slaves"), ("read", "to_master")])
def test_batches_arrive_whole(
    netmodel: Netmodel, profile: WriteProfile, flowop: str, way: str, opening: str
) -> None:
    asks = '<flowop type="write" options="size=20"/>' if flowop == "read" else ""
    document = netmodel.measure(profile(one_way(flowop, opening, before=asks)))
    asked = 40 if asks else 0
    assert sent_and_received(document, way) == (40 * BATCH, 40 * BATCH)
    totals = document["totals"]
    assert totals["transactions"] == 42
    assert totals["bytes_sent" if flowop == "write" else "bytes_received"] == 40 * BATCH * SIZE
    assert sent_and_received(document, "to_slaves")[0] == (asked or 40 * BATCH)


@pytest.mark.parametrize("passes", [129, 700])
def test_batches_are_whole_in_long_phases(netmodel: Netmodel, profile: WriteProfile, passes: int) -> None:
    """Of who answers one message with many, and by then waits in the receive itself."""
    path = profile(one_way("read", passes=passes, before='<flowop type="write" options="size=20"/>').replace("200", "2000"))
    document = netmodel.measure(path, "--timeout", "4s")
    assert sent_and_received(document, "to_master") == (passes * BATCH, passes * BATCH)
    assert sent_and_received(document, "to_slaves") == (passes, passes)


def test_batches_of_a_free_sender(netmodel: Netmodel, profile: WriteProfile) -> None:
    """What the slave sends by itself, the master reads as it comes: nothing is asked for, and nothing is left."""
    text = one_way("read").replace('rate="200"', "").replace('iterations="40"', 'duration="200ms"')
    document = netmodel.measure(profile(text.replace("rcvbuf=4m", "rcvbuf=8m")))
    messages = document["totals"]["messages"]["to_master"]
    assert messages["sent"] == messages["received"] + messages["lost"]
    assert messages["received"] > BATCH


@pytest.mark.parametrize(
    ("opening", "least", "most"), [("", 1, 8), ("gso=no", BATCH, BATCH)], ids=["trains", "one by one"]
)
def test_a_batch_is_one_call(
    netmodel: Netmodel,
    traced: Callable[..., tuple[str, ...]],
    profile: WriteProfile,
    tmp_path: Path,
    opening: str,
    least: int,
    most: int,
) -> None:
    netmodel.measure(profile(one_way("write", opening)), prefix=traced("calls", "-e", "trace=sendmmsg,setsockopt"))
    text = (tmp_path / "calls").read_text()
    lengths = [int(n) for n in re.findall(r"sendmmsg.*\) = (\d+)$", text, re.MULTILINE)]
    assert len(lengths) == 40, text[-2000:]
    assert all(least <= n <= most for n in lengths), lengths
    assert ("UDP_SEGMENT" in text or "cmsg_type=0x67" in text) == (not opening)


def test_a_path_that_takes_no_trains(
    netmodel: Netmodel, profile: WriteProfile, nodes: Callable[[int], list[Node]]
) -> None:
    """Messages longer than a packet of the path cannot be parts of a train: then they are sent one by one."""
    near, far = nodes(2)
    text = one_way("write").replace(f"size={SIZE}", "size=3000").replace("=local ", f"={far.address} ")
    with netmodel.slave("--no-auth", prefix=far.prefix) as slave:
        document = netmodel.measure(profile(text), "-P", str(slave.port), prefix=near.prefix)
    assert sent_and_received(document, "to_slaves") == (40 * BATCH, 40 * BATCH)


def test_random_sizes_in_batches(netmodel: Netmodel, profile: WriteProfile) -> None:
    text = one_way("write").replace(f"size={SIZE}", "size=rand(100,1200)")
    document = netmodel.measure(profile(text))
    assert sent_and_received(document, "to_slaves") == (40 * BATCH, 40 * BATCH)


def test_udp_stream_moves_more_in_batches(netmodel: Netmodel) -> None:
    """Not a measurement: but one call for 32 of them must be worth something, even on a busy machine."""
    rates = {
        batch: netmodel.measure(PROFILES / "udp_stream.xml", *defines(batch_size=batch, test_length="500ms"))["totals"]["messages"][
            "to_slaves"
        ]["sent"]
        for batch in (1, 32)
    }
    assert rates[32] > 1.5 * rates[1], rates


@pytest.mark.parametrize("how", [{"num_flows": 1}, {"num_flows": 3}, {"num_flows": 1, "wait": "spin"}], ids=["lone", "several", "spin"])
def test_what_comes_late_does_not_prolong_a_wait(netmodel: Netmodel, how: dict[str, object]) -> None:
    """The first answer comes again and again, more often than a wait lasts, and no other answer ever does."""
    message, passes, timeout_s, trickle_s = 8, 10, 0.1, 9

    def back(data: bytes, number: int) -> tuple[float, ...] | None:
        if len(data) != message:
            return (0,)
        first = int.from_bytes(data[:4], "big") == 1
        return tuple(copy * 0.03 for copy in range(int(trickle_s / 0.03))) if first else None

    with way(netmodel, at_once, back) as between:
        params = defines(host=NEAR, port=between.data_port, shared_socket="yes", request_size=message, response_size=message)
        ends = defines(timeout=f"{timeout_s}s", num_transactions=passes * int(str(how["num_flows"])), **how)
        document = netmodel.measure("udp_rr", "-P", str(between.port), *params, *ends)
    waited = phase_of(document, "request-response")
    assert waited["messages"]["timeouts"] == (passes - 1) * int(str(how["num_flows"]))
    assert (passes - 1) * timeout_s <= waited["seconds"] < trickle_s - timeout_s, "a wait that is prolonged lasts as long as it trickles"
