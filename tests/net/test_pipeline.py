# SPDX-License-Identifier: Apache-2.0
"""Several requests of a flow outstanding at a time."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from nmtest import Json, Netmodel, assert_complete, assert_ends_agree, defines, master_of, phase_of, traced

WriteProfile = Callable[..., Path]


def asking(body: str, transaction: str, connect: str = "", nflows: int = 1) -> str:
    return (
        f'<group nthreads="1" nflows="{nflows}">'
        f'<transaction><flowop type="connect" options="remotehost=local {connect}"/></transaction>'
        f'<transaction name="rr" {transaction}>{body}</transaction>'
        '<transaction><flowop type="disconnect"/></transaction></group>'
    )


def write(options: str = "size=10") -> str:
    return f'<flowop type="write" options="{options}"/>'


def read(options: str = "size=20") -> str:
    return f'<flowop type="read" options="{options}"/>'


SLOW = '<flowop type="think" options="duration=10ms at=slave"/>'


def check(document: Json) -> Json:
    assert_complete(document)
    assert_ends_agree(document)
    return document


# --- how many are outstanding ---


def _calls_of_the_master(lines: list[str], first: int) -> list[tuple[str, int]]:
    """Of its data connection: by their order, what each has moved. The first send has so many bytes."""
    for number in dict.fromkeys(line.split()[0] for line in lines):
        calls = [
            (m[1], int(m[2]))
            for line in lines
            if line.split()[0] == number and (m := re.search(r" (sendto|recvfrom)\(.*\) = (\d+)$", line))
        ]
        if calls and calls[0] == ("sendto", first):
            return calls
    raise AssertionError(f"nobody begins with {first} bytes: {lines[:40]}")


@pytest.mark.parametrize(
    ("question", "sends"),
    [
        pytest.param(write(), [80], id="joined"),
        pytest.param(write("size=7") + write("size=3"), 8 * [7, 3], id="one-by-one"),
    ],
)
@pytest.mark.parametrize("statistics", [(), ("-f", "-T")], ids=["", "with-statistics"])
def test_so_many_are_sent_before_the_first_answer(
    netmodel: Netmodel,
    profile: WriteProfile,
    strace: str,
    tmp_path: Path,
    question: str,
    sends: list[int],
    statistics: tuple[str, ...],
) -> None:
    """And never more. What is kept of flowops changes no call."""
    path = profile(asking(question + SLOW + read(), 'iterations="20" pipeline="8"', "nodelay"))
    document, lines = traced(netmodel, strace, path, tmp_path / "trace", "sendto,recvfrom", args=statistics)
    calls = _calls_of_the_master(lines, sends[0])
    assert [size for call, size in calls[: len(sends)] if call == "sendto"] == sends
    assert calls[len(sends)][0] == "recvfrom"
    asked = answered = 0
    for call, size in calls:
        asked += size if call == "sendto" else 0
        answered += size if call == "recvfrom" else 0
        assert asked // 10 - answered // 20 <= 8
    assert (asked, answered) == (200, 400)
    assert phase_of(document, "rr")["transactions"] == 20


@pytest.mark.parametrize("depth", [1, 4, 16])
@pytest.mark.alone
def test_latency_is_of_each_request_to_its_answer(netmodel: Netmodel, profile: WriteProfile, depth: int) -> None:
    """The other end takes 10 ms for each, one after the other: so those before it are waited for."""
    transaction = f'duration="600ms" pipeline="{depth}"'
    document = check(netmodel.measure(profile(asking(write() + SLOW + read(), transaction, "nodelay"))))
    rr = phase_of(document, "rr")
    assert rr["transactions"] >= depth
    # The first is alone; all but the first few have so many before them.
    assert rr["latency_s"]["min"] < 0.010 * max(2, depth)
    assert rr["latency_s"]["max"] >= 0.010 * depth * 0.99
    # As many as there are in the time, for as long as each takes: Little's law.
    outstanding = rr["transactions_per_s"] * rr["latency_s"]["mean"]
    assert depth * 0.55 <= outstanding <= depth * 1.05


def test_small_requests_take_less_time_together(netmodel: Netmodel) -> None:
    best = {1: 0.0, 16: 0.0}
    for depth in 3 * tuple(best):
        document = check(netmodel.measure("tcp_rr", *defines(test_length="100ms", pipeline=depth)))
        best[depth] = max(best[depth], document["totals"]["transactions_per_s"])
    assert best[16] > 1.2 * best[1]


# --- to the byte ---


@pytest.mark.parametrize("protocol", ["tcp", "unix", "ssl"])
def test_counts_agree(netmodel: Netmodel, profile: WriteProfile, protocol: str) -> None:
    """Of drawn sizes, several messages, by count and for a time; each flow has its own number of passes."""
    request = write("size=rand(1,3000)") + write("size=5 count=3")
    answer = read("size=rand(1,70k)") + read("size=1 count=2")
    counted = asking(request + answer, 'iterations="103" pipeline="7"', f"protocol={protocol}", 3)
    timed = asking(request + answer, 'duration="300ms" pipeline="64"', f"protocol={protocol}", 3)
    total = asking(request + answer, 'duration="9s" total="100" pipeline="9"', f"protocol={protocol}", 3)
    document = check(netmodel.measure(profile(counted + timed + total)))
    assert phase_of(document, "rr")["transactions"] == 309
    assert phase_of(document, "rr", 1)["transactions"] > 64
    assert phase_of(document, "rr", 2)["transactions"] == 100


@pytest.mark.parametrize("protocol", ["tcp", "ssl"])
def test_long_messages_do_not_hold_each_other_up(netmodel: Netmodel, profile: WriteProfile, protocol: str) -> None:
    """No buffer holds what is outstanding: each end must read before all that it has to send is gone."""
    body = write("size=6m") + read("size=6m")
    document = check(netmodel.measure(profile(asking(body, 'iterations="12" pipeline="12"', f"protocol={protocol}"))))
    assert phase_of(document, "rr")["bytes_sent"] == 12 * (6 << 20)


def test_requests_sent_together_are_answered_one_by_one(netmodel: Netmodel, profile: WriteProfile) -> None:
    """No buffer holds those that go with one call: the first must be answered while the last are not gone."""
    body = write("size=20000") + read("size=65537")
    connect = "sndbuf=16k rcvbuf=16k"
    counted = asking(body, 'iterations="40" pipeline="8"', connect, 2)
    timed = asking(body, 'duration="100ms" pipeline="8"', connect, 2)
    paced = asking(body, 'duration="100ms" rate="400" pipeline="8"', connect, 2)
    document = check(netmodel.measure(profile(counted + timed + paced), "--timeout", "5s"))
    assert phase_of(document, "rr")["bytes_sent"] == 2 * 40 * 20000


def test_a_slave_may_ask(netmodel: Netmodel, profile: WriteProfile) -> None:
    """Then the master answers, and takes its time."""
    body = read() + SLOW.replace("slave", "master") + write()
    document = check(netmodel.measure(profile(asking(body, 'iterations="15" pipeline="5"'))))
    assert phase_of(document, "rr")["transactions"] == 15


def test_sizes_are_those_of_one_at_a_time(netmodel: Netmodel, profile: WriteProfile) -> None:
    """The same seed is the same traffic."""
    moved = set()
    for depth in (1, 6):
        body = write("size=rand(1,500)") + read("size=rand(1,500) count=2")
        document = check(
            netmodel.measure(profile(asking(body, f'iterations="50" pipeline="{depth}"')), "--seed", "7")
        )
        rr = phase_of(document, "rr")
        moved.add((rr["bytes_sent"], rr["bytes_received"]))
    assert len(moved) == 1


@pytest.mark.parametrize("options", [("-f", "-T"), ("--all-samples", "samples.csv"), ("--log-rtt", "rtt.txt")])
def test_what_is_kept_besides(
    netmodel: Netmodel, profile: WriteProfile, tmp_path: Path, options: tuple[str, ...]
) -> None:
    args = [str(tmp_path / word) if "." in word else word for word in options]
    document = check(netmodel.measure(profile(asking(write() + SLOW + read(), 'iterations="30" pipeline="5"')), *args))
    rr = phase_of(document, "rr")
    assert rr["transactions"] == 30
    if options[0] == "-f":
        operations = {flowop["flowop"]: flowop["operations"] for flowop in rr["flowops"]}
        assert operations == {"write": 30, "read": 30}
    if options[0] == "--log-rtt":
        times = [float(line.split()[3]) for line in (tmp_path / "rtt.txt").read_text().splitlines()[1:]]
        assert len(times) == 32, "with connect and disconnect"
        # A time that began when the answer before it came would be 10 ms; who sends late shortens its own.
        assert sum(time >= 0.025 for time in times) >= 26


# --- on a schedule ---


@pytest.mark.alone
def test_a_schedule_goes_on_while_answers_are_awaited(netmodel: Netmodel, profile: WriteProfile) -> None:
    """Eight come at once, each 10 ms after the one before: one at a time would be behind."""
    body = write() + SLOW + read()
    document = check(netmodel.measure(profile(asking(body, 'duration="600ms" rate="80" pipeline="8"', "nodelay"))))
    rr = phase_of(document, "rr")
    assert 47 <= rr["transactions"] <= 48
    assert rr["response_s"]["p50"] < 0.020
    document = check(netmodel.measure(profile(asking(body, 'duration="600ms" rate="200" pipeline="4"', "nodelay"))))
    rr = phase_of(document, "rr")
    assert rr["transactions"] < 70
    assert rr["latency_s"]["max"] < 0.1 < rr["response_s"]["max"]


# --- what cannot be ---


@pytest.mark.parametrize(
    ("body", "connect", "why"),
    [
        (write("size=1 count=0") + read(), "", "nothing in it takes an answer"),
        (write() + read(), "protocol=udp", "<flowop write> in a transaction with pipeline=\"4\": its messages may be lost"),
        (write() + read() + write(), "", "<flowop write> in a transaction with pipeline=\"4\": what asks must come before"),
        (write(), "", '<transaction> pipeline="4": nothing in it takes an answer'),
        (write() + read("size=1 timeout=1s"), "", "<flowop read> in a transaction with pipeline=\"4\": timeout: "),
        (write("size=1 canfail") + read(), "", "<flowop write> in a transaction with pipeline=\"4\": canfail: "),
        (
            write() + SLOW.replace("slave", "master") + read(),
            "",
            "<flowop think> in a transaction with pipeline=\"4\": only what sends or receives messages can be there, "
            "and think of the end that answers",
        ),
        (
            write() + read() + '<flowop type="disconnect"/><flowop type="connect" options="remotehost=local"/>',
            "",
            "<flowop disconnect> in a transaction with pipeline=\"4\": only what sends",
        ),
    ],
)
def test_refused(netmodel: Netmodel, profile: WriteProfile, body: str, connect: str, why: str) -> None:
    path = profile(asking(body, 'duration="1s" pipeline="4"', connect))
    assert why in netmodel.run("--check", "-m", path, code=1).err


def test_a_failure_names_the_flowop(netmodel: Netmodel, profile: WriteProfile) -> None:
    """Not what runs it. A slave that dies closes all its connections: that of the flowop is not always noticed first."""
    group = asking(write() + read(), 'duration="9s" pipeline="3"').replace("remotehost=local", "remotehost=127.0.0.1")
    how = ("-m", profile(group), "--format", "json", "-v")
    causes = []
    while not any(re.match(r"flowop (write|read) at .*:3: ", cause) for cause in causes):
        assert len(causes) < 9, causes
        with netmodel.slave() as slave, netmodel.started(*how, "-P", str(slave.port)) as master:
            master.wait_line("phase 2 of 3 begins")
            # A slave that lives would say what has become of its session, and that would be the cause.
            for pid in [slave.pid, *slave.sessions()]:
                with suppress(ProcessLookupError):  # a session dies with its slave
                    os.kill(pid, signal.SIGKILL)
            result = master.finish()
        assert result.code == 2
        causes.append(str(master_of(result.json())["error"]))
