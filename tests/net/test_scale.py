# SPDX-License-Identifier: Apache-2.0
"""What a flow and a transaction cost: memory, system calls, instructions."""

from __future__ import annotations

import os
import re
import signal
import socket
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest

from compose import ask, check, connect, counts, lasting, opened, times
from probes import DESCRIPTORS
from nmtest import (
    PATIENCE_S,
    Netmodel,
    Node,
    assert_complete,
    assert_ends_agree,
    at_most,
    defines,
    free_port,
    inside,
    run_and_weigh,
    wait_until,
)
from publics import listens
from test_apps import serving
from test_queue import together


FLOWS = 10_000


@pytest.mark.needs("descriptors")
def test_ten_thousand_flows(netmodel: Netmodel) -> None:
    _, few_ours, few_theirs = run_and_weigh(netmodel, 10)
    document, many_ours, many_theirs = run_and_weigh(netmodel, FLOWS)
    assert_complete(document)
    assert_ends_agree(document)
    assert document["groups"][0]["flows"] == FLOWS
    assert document["groups"][0]["phases"][0]["connects"] == FLOWS
    assert document["totals"]["transactions"] >= FLOWS
    assert 0 < few_ours < many_ours
    assert 0 < few_theirs < many_theirs
    assert (many_ours - few_ours) / (FLOWS - 10) < 1024
    assert (many_theirs - few_theirs) / (FLOWS - 10) < 1024


SLAVES = 4
MANY_FLOWS = 60_000


@pytest.mark.needs("descriptors")
def test_sixty_thousand_flows(netmodel: Netmodel, profile: Callable[..., Path], nodes: Callable[[int], list[Node]]) -> None:
    """More than a process may have descriptors, or an address ports: to four slaves, from as many processes."""
    each = MANY_FLOWS // SLAVES
    assert each < DESCRIPTORS
    master, *hosts = nodes(1 + SLAVES)
    # With the usual range, half of which is taken in the end, the kernel looks long for a port that is free.
    inside(master, "sysctl", "-w", "net.ipv4.ip_local_port_range=1024 65000")
    body = times(1, ask(1, 1)) + lasting("500ms", ask(1, 1))
    groups = (opened(body, opening=connect(host.address), kind="nprocs") for host in hosts)
    path = profile("".join(text.replace("nprocs", f'nflows="{each}" nprocs') for text in groups))
    with ExitStack() as stack:
        for host in hosts:
            stack.enter_context(netmodel.slave("-P", "20000", "--no-auth", prefix=host.prefix))
        document = check(netmodel.measure(path, "-i", "0", "-t", "--timeout", "60s", prefix=master.prefix, timeout=5 * PATIENCE_S))
    assert document["hosts"][0]["counts"]["connects"] == MANY_FLOWS
    assert [counts(document, "counted", number) for number in range(SLAVES)] == [(each, each, each)] * SLAVES


def calls_made(path: Path, *besides: str) -> int:
    """System calls in a summary of strace -c, without looks in vain and those of some names."""
    found = re.findall(r"^ *[\d.]+ +[\d.]+ +\d+ +(\d+) +(\d*) *(\w+)$", path.read_text(), re.MULTILINE)
    assert found, path.read_text()
    in_vain = sum(int(errors or 0) for _, errors, name in found if name in ("accept4", "recvfrom"))
    return sum(int(calls) for calls, _, name in found if name not in ("total", *besides)) - in_vain


def count_calls(
    netmodel: Netmodel, strace: str, folder: Path, name: str, flows: int, end: str, transactions: int,
    pinned: tuple[str, ...] = (), besides: Sequence[str] = (), args: Sequence[str] = (),
) -> tuple[int, int]:  # fmt: skip
    """Transactions, and the system calls of one end. The other is not traced: both would wait for the tracer in turn."""
    summary = folder / f"{end}-{transactions}"
    under = {end: (strace, "-f", "-c", "-o", str(summary))}
    with netmodel.slave("--once", prefix=(*pinned, *under.get("server", ()))) as slave:
        document = netmodel.measure(
            name, "-i", "0", "-P", str(slave.port), *defines(host="127.0.0.1", num_flows=flows, num_transactions=transactions), *args,
            prefix=(*pinned, *under.get("client", ())), timeout=40,
        )  # fmt: skip
        assert slave.process.finish().code == 0
    return document["totals"]["transactions"], calls_made(summary, *besides)


def calls_of_each(
    netmodel: Netmodel, strace: str, folder: Path, name: str, flows: int, end: str, lengths: tuple[int, int],
    pinned: tuple[str, ...] = (), besides: Sequence[str] = (), args: Sequence[str] = (),
) -> float:  # fmt: skip
    """Of a transaction: what a longer run makes more than a shorter one."""
    few, many = (count_calls(netmodel, strace, folder, name, flows, end, n, pinned, besides, args) for n in lengths)
    transactions, calls = (b - a for a, b in zip(few, many, strict=True))
    assert transactions == lengths[1] - lengths[0]
    return calls / transactions


# Of a transaction, at the client and at the server; for tcp_crr besides the waits, of which there is one.
CALLS = [("tcp_rr", 1, 3.05, 3.05), ("tcp_rr", 64, 2.2, 2.2), ("tcp_crr", 1, 6.05, 4.05), ("tcp_crr", 64, 6.3, 4.5)]


@pytest.mark.needs("clock")
@pytest.mark.parametrize(("name", "flows", "client", "server"), CALLS, ids=[f"{name}-{flows}" for name, flows, *_ in CALLS])
@pytest.mark.parametrize("end", ["client", "server"])
@pytest.mark.alone
def test_system_calls_of_a_transaction(
    netmodel: Netmodel, strace: str, tmp_path: Path, name: str, flows: int, client: float, server: float, end: str
) -> None:
    # How often one waits is a matter of what comes together, and so of what else the machine does.
    waits = ("epoll_pwait", "epoll_pwait2", "ppoll") if name == "tcp_crr" else ()
    most = {"client": client, "server": server}[end]
    at_most(lambda: calls_of_each(netmodel, strace, tmp_path, name, flows, end, (1000, 5000), besides=waits), most)


@pytest.mark.parametrize("statistics", ["-f", "-t", "--all-samples"])
@pytest.mark.parametrize(("name", "flows", "end", "most"), [("tcp_rr", 1, "client", 2.1), ("tcp_rr", 1, "server", 2.1), ("tcp_crr", 64, "server", 4.5)])
@pytest.mark.alone
def test_statistics_change_no_call_but_looks_at_the_clock(
    netmodel: Netmodel, strace: str, tmp_path: Path, name: str, flows: int, end: str, most: float, statistics: str
) -> None:
    """The waiter and the deferral are those of the run without them."""
    samples = (str(tmp_path / "samples.csv"), "-i", "1h") if statistics == "--all-samples" else ()
    args = (statistics, *samples)
    waits = ("epoll_pwait", "epoll_pwait2", "ppoll") if name == "tcp_crr" else ()
    besides = (*waits, "clock_gettime")
    at_most(lambda: calls_of_each(netmodel, strace, tmp_path, name, flows, end, (1000, 4000), besides=besides, args=args), most)


@pytest.mark.needs("clock")
@pytest.mark.alone
def test_system_calls_of_requests_that_go_together(netmodel: Netmodel, strace: str, tmp_path: Path) -> None:
    """Sixteen of them, whose answers come together: a send, a receive, and a wait before it."""
    depth = 16

    def calls(rounds: int) -> int:
        summary = tmp_path / f"together-{rounds}"
        with serving(together("redis", depth)) as server:
            words = defines(server=server.place, pipeline=depth, num_flows=1, keys=depth, num_transactions=rounds * depth, test_length="300s")
            assert_complete(netmodel.measure("redis", "-i", "0", *words, prefix=(strace, "-f", "-c", "-o", str(summary))))
        return calls_made(summary)

    at_most(lambda: (calls(500) - calls(100)) / 400, 3.05)


@pytest.mark.needs("clock")
@pytest.mark.alone
def test_system_calls_of_a_connection_on_one_cpu(netmodel: Netmodel, strace: str, tmp_path: Path) -> None:
    """All of them: the end that accepts waits for the next connection, and then in the receive."""
    pinned = ("taskset", "-c", str(min(os.sched_getaffinity(0))))
    at_most(lambda: calls_of_each(netmodel, strace, tmp_path, "tcp_crr", 1, "server", (1000, 5000), pinned), 6.05)


def count_instructions(netmodel: Netmodel, folder: Path, flows: int, iterations: int) -> int:
    """User-space instructions of a master whose slave is another process."""
    profile = folder / f"rr-{iterations}.xml"
    profile.write_text(
        f'<profile name="rr"><group nthreads="1" nflows="{flows}"><transaction><flowop type="connect"'
        ' options="remotehost=127.0.0.1 nodelay"/></transaction>'
        f'<transaction name="rr" iterations="{iterations}"><flowop type="write" options="size=1"/>'
        '<flowop type="read" options="size=1"/></transaction>'
        '<transaction><flowop type="disconnect"/></transaction></group></profile>\n'
    )
    grind = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out-{iterations}"]
    with netmodel.slave("--once") as slave:
        result = netmodel.run(
            "-m", profile, "-i", "0", "--format", "json", "-P", str(slave.port), prefix=grind, timeout=60
        )
    assert result.code == 0, result
    match = re.search(r"Collected : (\d+)", result.err)
    assert match, result
    return int(match[1])


@pytest.mark.needs("valgrind")
@pytest.mark.parametrize("flows", [1, 64])
@pytest.mark.alone
def test_instructions_of_a_transaction(netmodel: Netmodel, tmp_path: Path, flows: int) -> None:
    if netmodel.binary.read_bytes()[:2] == b"#!":
        pytest.skip("the program is a script here, which valgrind does not follow")

    def of_each() -> float:
        few, many = (count_instructions(netmodel, tmp_path, flows, n // flows) for n in (6400, 32_000))
        return (many - few) / 25_600

    at_most(of_each, 220)


def count_served_instructions(netmodel: Netmodel, folder: Path, requests: int) -> int:
    """User-space instructions of a server that one client asks, request after request."""
    port = free_port()
    words = defines(app="redis", port=port, num_flows=1, test_length="300s")
    grind = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/served-{requests}"]
    with netmodel.started("-m", "server", *words, prefix=grind) as process:
        wait_until(lambda: listens(port), what="it listens")
        with socket.create_connection(("127.0.0.1", port), PATIENCE_S) as client:
            client.settimeout(PATIENCE_S)
            client.sendall(b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$5\r\nhello\r\n")
            assert client.recv(100) == b"+OK\r\n"
            for _ in range(requests):
                client.sendall(b"*2\r\n$3\r\nGET\r\n$1\r\nk\r\n")
                assert client.recv(100) == b"$5\r\nhello\r\n"
        process.signal(signal.SIGINT)
        result = process.finish()
    match = re.search(r"Collected : (\d+)", result.err)
    assert match, result
    return int(match[1])


@pytest.mark.needs("valgrind")
@pytest.mark.alone
def test_instructions_of_a_request_that_is_served(netmodel: Netmodel, tmp_path: Path) -> None:
    """Where there is neither a service time nor a fault, they cost nothing."""
    if netmodel.binary.read_bytes()[:2] == b"#!":
        pytest.skip("the program is a script here, which valgrind does not follow")

    def of_each() -> float:
        few, many = (count_served_instructions(netmodel, tmp_path, n) for n in (1000, 5000))
        return (many - few) / 4000

    at_most(of_each, 1850)
