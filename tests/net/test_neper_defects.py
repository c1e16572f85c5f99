# SPDX-License-Identifier: Apache-2.0
"""What neper does wrong, and netmodel must not: a test for each row of the table in docs/neper.md, in its order."""

from __future__ import annotations

import os
import re
import signal
import socket
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from compose import ask, check, check_lossy, connect, lasting, op, opened, read, times, write
from delaying import NEAR, way
from neper_words import keys_of, pair
from nmtest import (
    PATIENCE_S,
    SOON_S,
    Json,
    Netmodel,
    Node,
    Slave,
    assert_complete,
    at_most,
    changed,
    children,
    defines,
    descendants,
    free_port,
    inside,
    master_of,
    phase_of,
    run_and_weigh,
    slaves_of,
    sockets_of,
    traced,
)
from samples import check_rates, sample

WriteProfile = Callable[..., Path]

CLIENT = ("-c", "-H", "local")


def client(netmodel: Netmodel, workload: str, *args: str) -> Json:
    """The result of neper's command line, at both ends of this host."""
    return netmodel.run(workload, *CLIENT, *args, "--format", "json", code=0).json()


def seconds_of_cpu(host: Json) -> float:
    used: float = host["rusage"]["utime_s"] + host["rusage"]["stime_s"]
    return used


def both_ends(document: Json) -> list[Json]:
    return [master_of(document), *slaves_of(document)]


# 1
def test_the_last_part_of_a_run_is_in_the_latencies(netmodel: Netmodel) -> None:
    """Also where the run is much shorter than an interval."""
    document = check(client(netmodel, "tcp_rr", "-F", "3", "-l", "-100", "-I", "10"))
    assert document["totals"]["latency_s"]["count"] == document["totals"]["transactions"] == 100
    document = check(client(netmodel, "tcp_rr", "-F", "3", "-l", "0.15", "-I", "0.1"))
    assert document["totals"]["latency_s"]["count"] == document["totals"]["transactions"] > 0


# 2
@pytest.mark.alone
def test_the_first_sample_comes_after_one_interval(netmodel: Netmodel, tmp_path: Path) -> None:

    def off() -> float:
        """By what the sample is that is furthest from its time."""
        document, by_host = sample(netmodel, tmp_path / "s.csv", "tcp_rr", "-i", "100ms", *defines(test_length="350ms"))
        assert [row["to_s"] for row in document["intervals"][:3]] == pytest.approx([0.1, 0.2, 0.3])
        at = [[float(row["time"]) - float(rows[0]["time"]) for row in rows] for (rows,) in by_host.values()]
        assert {len(moments) for moments in at} == {4}
        return max(abs(there - wanted) for moments in at for there, wanted in zip(moments, (0, 0.1, 0.2, 0.25), strict=True))

    at_most(off, 0.03)


# 3
def test_the_interval_is_the_one_given(netmodel: Netmodel) -> None:
    document = client(netmodel, "tcp_rr", "-l", "0.3", "-I", "0.05")
    assert document["run"]["interval_s"] == 0.05
    assert [row["to_s"] - row["from_s"] for row in document["intervals"]] == pytest.approx([0.05] * 6, abs=0.02)


# 4
@pytest.mark.parametrize("how", ["--delay", "--noburst"])
def test_transactions_with_a_delay_end(netmodel: Netmodel, how: str) -> None:
    """After as many as were asked for; and flows that have none left do not spin while the others wait for their time."""
    document = check(client(netmodel, "tcp_rr", "-F", "5", "-l", "-23", how, "50ms"))
    assert document["totals"]["transactions"] == 23
    # One of two flows has a second pass.
    document = check(client(netmodel, "tcp_rr", "-F", "2", "-l", "-3", how, "1s"))
    assert document["totals"]["transactions"] == 3
    assert document["totals"]["seconds"] > 0.9
    assert all(seconds_of_cpu(host) < 0.2 for host in both_ends(document))


# 5
def test_split_bidir_has_connections_for_each_direction(netmodel: Netmodel) -> None:
    document = check(client(netmodel, "tcp_stream", "-F", "3", "-l", "0.2", "--split-bidir"))
    out, back = master_of(document)["groups"]
    assert (out["connects"], back["connects"]) == (3, 3)
    assert out["bytes_sent"] > 1e6 and out["bytes_received"] == 0
    assert back["bytes_received"] > 1e6 and back["bytes_sent"] == 0


def test_directions_have_source_ports_of_their_own(netmodel: Netmodel, strace: str, tmp_path: Path) -> None:
    """Else, to one port of the other end, they would be the same connections."""
    base = 26000 + os.getpid() % 400 * 4
    args = defines(num_flows=2, source_port=base, port=free_port(), split_bidir="yes", test_length="100ms")
    document, lines = traced(netmodel, strace, "tcp_stream", tmp_path / "trace", "bind", args=args)
    assert_complete(document)
    bound = Counter(int(m[1]) for line in lines if (m := re.search(r"bind\(.*htons\((\d+)\).*= 0$", line)))
    assert [bound[port] for port in range(base - 1, base + 5)] == [0, 1, 1, 1, 1, 0]


# 6
def test_a_flow_keeps_its_port_when_it_reconnects(netmodel: Netmodel, strace: str, tmp_path: Path) -> None:
    """The one that it binds and the one that it connects to."""
    base = 28000 + os.getpid() % 400 * 4
    args = defines(num_flows=4, num_ports=4, source_port=base, num_transactions=80)
    _, lines = traced(netmodel, strace, "tcp_crr", tmp_path / "trace", "bind,connect", args=args)
    bound: dict[tuple[str, str], int] = {}
    used = defaultdict(list)
    for line in lines:
        if found := re.search(r"(\w+)\((\d+), \{sa_family=AF_INET, sin_port=htons\((\d+)\)", line):
            call, fd, port = found[1], (line.split()[0], found[2]), int(found[3])
            if call == "bind":
                bound[fd] = port
            elif base <= bound.get(fd, 0) < base + 4:
                used[bound[fd]].append(port)
    assert sorted(used) == [base, base + 1, base + 2, base + 3]
    first = min(min(ports) for ports in used.values())
    assert all(set(ports) == {first + source - base} for source, ports in used.items())
    assert sum(map(len, used.values())) >= 80


# 7
def test_lost_datagrams_do_not_end_a_flow_of_udp_rr(lossy: Callable[..., Json], profile: WriteProfile) -> None:
    body = times(100, write(1) + op("read", "size=1 timeout=20ms"))
    document = lossy(profile(opened(body, strands=4, opening=connect("$far", "protocol=udp"))), share=0.05)
    told = phase_of(check_lossy(document), "counted")
    unanswered = told["messages"]["unanswered"]
    assert unanswered == told["messages"]["timeouts"] > 0
    assert told["transactions"] == told["latency_s"]["count"] == 400 - unanswered
    assert told["latency_s"]["p50"] < 0.02, "the limit of the others is in no latency"
    assert told["messages"]["to_slaves"]["lost"] + told["messages"]["to_master"]["lost"] > 0


MESSAGE = 8  # bytes, all of which say which message it is


@dataclass
class Disorder:
    """The fate of messages. Of one in ten there are two, one in ten comes after the next; it counts to how many that happens.
    None of the last ones is among them, as nobody waits for copies at the end of a run."""

    held_s: float
    place: int  # of those that are held, in each ten
    doubled: int = 0
    held: int = 0

    def __call__(self, data: bytes, number: int) -> float | tuple[float, ...]:
        which = int.from_bytes(data[:4], "big")
        if len(data) != MESSAGE or which > 20:
            return 0
        if which % 10 == 4:
            self.doubled += 1
            return 0, 0
        if which % 10 == self.place:
            self.held += 1
            return self.held_s
        return 0


def assert_told(way: Json, disorder: Disorder) -> None:
    assert (way["duplicates"], way["reordered"]) == (disorder.doubled, disorder.held) == (2, 2)
    assert way["lost"] == 0


@pytest.mark.alone
def test_what_udp_rr_gets_twice_or_late_is_counted(netmodel: Netmodel) -> None:
    """Both ways. What is held back is given up, and comes after the next."""
    out, back = Disorder(0.075, place=7), Disorder(0.075, place=2)
    with way(netmodel, out, back) as between:
        params = defines(request_size=MESSAGE, response_size=MESSAGE, timeout="50ms", delay="25ms", num_transactions=25)
        ends = defines(host=NEAR, port=between.data_port, shared_socket="yes")
        document = check_lossy(netmodel.measure("udp_rr", "-P", str(between.port), *params, *ends))
    messages = document["totals"]["messages"]
    assert_told(messages["to_slaves"], out)
    assert_told(messages["to_master"], back)
    assert messages["to_master"]["late"] >= out.held + back.held


# 8
def test_udp_stream_tells_what_is_lost(lossy: Callable[..., Json]) -> None:
    document = check_lossy(lossy("udp_stream", *defines(test_length="200ms"), share=0.3, name="host"))
    told = phase_of(document, "stream")["messages"]["to_slaves"]
    assert 0.2 * told["sent"] < told["lost"] < told["sent"]
    assert told["received"] - told["duplicates"] == told["sent"] - told["lost"] > 0


@pytest.mark.alone
def test_what_udp_stream_gets_twice_or_late_is_counted(netmodel: Netmodel) -> None:
    disorder = Disorder(0.03, place=7)
    with way(netmodel, disorder) as between:
        params = defines(message_size=MESSAGE, batch_size=1, delay="5ms", test_length="400ms")
        ends = defines(host=NEAR, port=between.data_port, shared_socket="yes")
        document = check_lossy(netmodel.measure("udp_stream", "-P", str(between.port), *params, *ends))
    assert_told(document["totals"]["messages"]["to_slaves"], disorder)


# 9
def test_sends_without_a_copy_wait_for_room(netmodel: Netmodel, own: Node) -> None:
    """Each flow for itself: none is left without."""
    with changed(own, "net.core.optmem_max", 2000):
        options = defines(zerocopy="yes", buffer_size="3k", test_length="200ms", num_flows=4)
        result = netmodel.run("-m", "tcp_stream", "-T", "--format", "json", *options, prefix=own.prefix, code=0)
    assert result.err == ""
    document = check(result.json())
    assert master_of(document)["groups"][0]["zerocopy_sends"] > 100
    moved = [strand["bytes_sent"] for strand in document["groups"][0]["flow_totals"]]
    assert len(moved) == 4
    assert min(moved) > max(moved) / 10, moved


# 10
def test_values_have_units_and_nonsense_is_refused(netmodel: Netmodel) -> None:
    listed = netmodel.run("tcp_stream", *CLIENT, "-D", "10us", "-m", "100Mb", "--params", code=0).out
    assert re.search(r"^delay +duration +10us ", listed, re.MULTILINE)
    assert re.search(r"^max_pacing_rate +bitrate +100000000 ", listed, re.MULTILINE)
    for words in (["-D", "10 furlongs"], ["-m", "100Q"], ["-F", "7up"], ["-B", "16kk"], ["-l", ""]):
        result = netmodel.run("tcp_stream", *CLIENT, *words, code=1)
        assert len(result.lines()) == 1 and f" {words[1]}: not a" in result.err, result


# 11
def test_a_rate_that_is_too_small_for_a_unit_is_told_all_the_same(netmodel: Netmodel) -> None:
    words = ("-B", "1", "-D", "100ms", "-l", "0.4", "--throughput-opt", "auto-b")
    keys = keys_of(netmodel.run("tcp_stream", *CLIENT, *words, code=0).out)
    assert keys["throughput_units"] == "Kbit/s"
    assert 0 < float(keys["throughput"]) < 1


@pytest.mark.parametrize(("word", "unit", "bytes_per_s"), [("auto-b", "Gbit/s", 1e9 / 8), ("auto-iB", "GiB/s", 1 << 30)])
def test_a_rate_that_is_too_large_for_a_unit_is_told_all_the_same(
    netmodel: Netmodel, profile: WriteProfile, word: str, unit: str, bytes_per_s: float
) -> None:
    """More than a thousand of the largest, as reads over null cost next to nothing."""
    path = profile(opened(lasting("50ms", read("1t")), opening=connect(options="protocol=null")))
    keys = keys_of(netmodel.run("-m", path, "--format", "neper", "--throughput-opt", word, code=0).out)
    assert keys["throughput_units"] == unit
    told = float(keys["throughput"])
    assert told > 1024
    assert told * bytes_per_s == pytest.approx(float(keys["local_throughput"]) / 8, rel=1e-3)


# 12
def test_rates_of_samples_are_of_one_flow(netmodel: Netmodel, tmp_path: Path) -> None:
    options = defines(test_length="300ms", num_flows=3)
    _, by_host = sample(netmodel, tmp_path / "s.csv", "tcp_stream", "-i", "100ms", *options)
    for flows in by_host.values():
        assert len(flows) == 3
        check_rates(flows)


# 13
def test_neither_a_second_server_nor_a_silent_client_disturbs(netmodel: Netmodel, slave: Slave) -> None:
    with socket.create_connection(("127.0.0.1", slave.port), timeout=PATIENCE_S):
        second = netmodel.run("tcp_rr", "-C", str(slave.port))
        assert second.code == 2 and f"port {slave.port} is in use" in second.err, second
        keys = keys_of(
            netmodel.run("tcp_rr", "-c", "-H", "127.0.0.1", "-C", str(slave.port), "-l", "-50", code=0).out
        )
    assert keys["num_transactions"] == "50"


# 14
def test_a_flow_that_dies_fails_the_run(netmodel: Netmodel, slave: Slave) -> None:
    """One of four, in the middle of the run."""
    args = ("-m", "tcp_rr", "-v", "--format", "json", "-P", str(slave.port))
    with netmodel.started(*args, *defines(host="127.0.0.1", num_flows=4, test_length="1s")) as master:
        master.wait_line("phase 2 of 3 begins")
        with sockets_of(master.pid, socket.SOCK_STREAM) as found:
            next(one for one in found if one.getpeername()[1] != slave.port).shutdown(socket.SHUT_RDWR)
        result = master.finish()
    assert result.code == 2, result
    document = result.json()
    assert document["run"]["complete"] is False
    assert "flowop read" in document["run"]["incomplete_why"] or "flowop write" in document["run"]["incomplete_why"]
    assert sum(host["groups"][0]["errors"] for host in document["hosts"]) >= 1


# 15
def test_a_server_need_not_know_the_sizes(netmodel: Netmodel) -> None:
    """Nor does it matter what it thinks that they are."""
    args = ("-Q", "70000", "-R", "300", "-F", "3", "-l", "-60")
    for server in ((), ("-Q", "1", "-R", "9k", "-F", "1", "-l", "99")):
        keys = pair(netmodel, "tcp_rr", *args, server=server)
        assert keys["num_transactions"] == "60"
        assert (keys["request_size"], keys["response_size"]) == ("70000", "300")


# 16
def test_a_server_that_does_not_block_sleeps_all_the_same(netmodel: Netmodel) -> None:
    with netmodel.started("tcp_rr", "--logtostderr", "--nonblocking", "-C", "0") as server:
        port = server.wait_line(r"slave listening on \S+ port (\d+)")[1]
        words = ("-H", "127.0.0.1", "-C", port, "--nonblocking", "-D", "50ms", "-l", "0.6", "--format", "json")
        document = check(netmodel.run("tcp_rr", "-c", *words, code=0).json())
        assert server.finish().code == 0
    assert all(seconds_of_cpu(host) < 0.2 for host in both_ends(document))


def cpus_of_workers(pid: int) -> list[set[int]]:
    return [os.sched_getaffinity(int(task)) for task in os.listdir(f"/proc/{pid}/task") if int(task) != pid]


# 17
def test_each_side_has_its_own_list_of_cpus(netmodel: Netmodel) -> None:
    cpus = sorted(os.sched_getaffinity(0))
    wanted = {"--cpus": cpus[0], "--slave-cpus": cpus[-1]}
    args = [word for name, cpu in wanted.items() for word in (name, str(cpu))]
    with netmodel.started("-m", "tcp_rr", "-v", *args, *defines(test_length="20s")) as master:
        master.wait_line("phase 2 of 3 begins")
        for pid, cpu in zip([master.pid, *children(master.pid)], wanted.values(), strict=True):
            assert {cpu} in cpus_of_workers(pid)
        master.signal(signal.SIGINT)
        assert master.finish().code == 130


def test_pinned_ends_on_one_host_do_not_share_a_cpu(netmodel: Netmodel) -> None:
    """A client begins with the first, a server with the last, wherever among its options -U is."""
    cpus = sorted(os.sched_getaffinity(0))
    with netmodel.started("tcp_rr", "--logtostderr", "-U", "-C", "0") as server:
        port = server.wait_line(r"slave listening on \S+ port (\d+)")[1]
        words = ("-U", "-c", "-H", "127.0.0.1", "-C", port, "-l", "20", "--logtostderr")
        with netmodel.started("tcp_rr", *words) as client:
            client.wait_line("phase 2 of 3 begins")
            assert {cpus[0]} in cpus_of_workers(client.pid)
            assert {cpus[-1]} in [cpu for pid in descendants(server.pid) for cpu in cpus_of_workers(pid)]
            client.signal(signal.SIGINT)
            assert client.finish().code == 130


# 18
def test_what_is_queued_when_a_peer_closes_is_read(netmodel: Netmodel, profile: WriteProfile) -> None:
    """All of it: the reader, which has been told of the end, begins only after the writer has left."""
    queued = write("20k") + write("20k")
    late = ask(1, 1) + op("think", "duration=400ms at=slave") + queued
    body = times(1, connect() + late + op("disconnect"))
    document = check(netmodel.measure(profile(f'<group nflows="4">{body}</group>')))
    assert phase_of(document, "counted")["latency_s"]["max"] < 0.4, "the writer has waited for the reader"
    assert document["run"]["elapsed_s"] > 0.4, "the reader has not waited"
    assert slaves_of(document)[0]["counts"]["bytes_received"] == 4 * (1 + 2 * (20 << 10))


def test_what_is_more_than_can_be_queued_is_read(netmodel: Netmodel, profile: WriteProfile) -> None:
    """And the sender closes right behind it."""
    body = times(20, connect() + write("3m") + op("disconnect"))
    document = check(netmodel.measure(profile(f'<group nflows="4">{body}</group>')))
    assert slaves_of(document)[0]["counts"]["bytes_received"] == 4 * 20 * (3 << 20)


# 19
@pytest.mark.parametrize(
    ("profile", "options"),
    [
        ("tcp_stream", {}),
        ("udp_stream", {"message_size": 100}),
        ("udp_stream", {"zerocopy": "yes"}),
        ("udp_stream", {"zerocopy": "yes", "message_size": 60000}),
    ],
)
def test_no_flow_of_a_worker_starves(netmodel: Netmodel, tmp_path: Path, profile: str, options: dict[str, object]) -> None:
    """Though each could go on for ever, as one over UDP whose sends always find room; and the run ends in time."""
    args = defines(num_flows=8, test_length="400ms", **options)
    document, by_host = sample(netmodel, tmp_path / "s.csv", profile, *args)
    assert document["totals"]["seconds"] < SOON_S
    sent = [int(rows[-1]["bytes_sent"]) for rows in by_host["master"]]
    assert len(sent) == 8
    assert min(sent) > sum(sent) / 8 / 5


# 20
OF_THREE = pytest.mark.parametrize(
    ("args", "connects"),
    [(["-r", "-w"], 3), (["-r"], 3), (["--split-bidir"], 6), (["-r", "-w", "--split-bidir"], 6), (["-M"], 3)],
    ids=lambda value: "".join(value) if isinstance(value, list) else None,
)


@OF_THREE
def test_a_plan_of_psp_stream_has_as_many_flows_as_are_asked_for(netmodel: Netmodel, args: list[str], connects: int) -> None:
    """On workers of their number, which is what neper multiplies them by. Few kernels run it: tests/vm does."""
    plan = netmodel.run("psp_stream", *CLIENT, "-F", "3", "-T", "3", *args, "--dump-plan", code=0).out
    for side in plan.split("\n=== "):
        flows = re.findall(r"^group \w+: (\d+) flows on 3 workers", side, re.MULTILINE)
        assert sum(map(int, flows)) == connects, side
        assert len(re.findall(r"^ +\d+ +(?:connect|accept) ", side, re.MULTILINE)) == len(flows)


@OF_THREE
def test_a_stream_has_as_many_flows_as_are_asked_for(netmodel: Netmodel, args: list[str], connects: int) -> None:
    document = check(client(netmodel, "tcp_stream", "-F", "3", "-l", "0.1", *args))
    assert [host["counts"][key] for host, key in zip(both_ends(document), ("connects", "accepts"), strict=True)] == [
        connects,
        connects,
    ]


# 21
def test_flows_do_not_have_a_histogram_each(netmodel: Netmodel) -> None:
    """Which is 66 kB in neper."""
    flows = 2000
    document, ours, theirs = run_and_weigh(netmodel, flows)
    _, few_ours, few_theirs = run_and_weigh(netmodel, 10)
    assert document["groups"][0]["flows"] == flows
    assert document["totals"]["latency_s"]["count"] == document["totals"]["transactions"]
    assert max(ours - few_ours, theirs - few_theirs) < flows * 66_600 / 10


# 22
def test_counters_have_64_bits(netmodel: Netmodel, profile: WriteProfile) -> None:
    """Of bytes, and of passes that are asked for. No run of seconds has more than 2^31 passes: tests/unit/stats counts
    them, and their ranks."""
    body = times(5, write("1g"), name="five")
    document = netmodel.measure(profile(opened(body, opening=connect(options="protocol=null"))))
    assert_complete(document)
    assert master_of(document)["counts"]["bytes_sent"] == 5 << 30
    plan = netmodel.run("tcp_rr", *CLIENT, "-l", "-5000000000", "--params", code=0).out
    assert re.search(r"^num_transactions +count +5000000000 ", plan, re.MULTILINE)


# 23
def test_fast_open_is_enabled_at_both_ends(netmodel: Netmodel, own: Node) -> None:
    with changed(own, "net.ipv4.tcp_fastopen", 3):
        inside(own, "ip", "tcp_metrics", "flush", "all")
        words = ("tcp_crr", *CLIENT, "-X", "-l", "-50", "--format", "json")
        document = check(netmodel.run(*words, prefix=own.prefix, code=0).json())
    ours, theirs = (host["groups"][0]["fastopens"] for host in both_ends(document))
    assert 40 <= ours == theirs


@pytest.mark.parametrize("allowed", [True, False])
def test_how_often_fast_open_was_used_is_told(netmodel: Netmodel, own: Node, allowed: bool) -> None:
    """Each connection once; and where it was never used, what is needed for it."""
    with changed(own, "net.ipv4.tcp_fastopen", 3 if allowed else 1):
        inside(own, "ip", "tcp_metrics", "flush", "all")
        words = ("-m", "tcp_crr", *defines(num_transactions=50, tcp_fastopen="yes"))
        out = netmodel.run(*words, prefix=own.prefix, code=0).out
    found = re.search(r"^ *fast open +(\d+) of 50 connections$", out, re.MULTILINE)
    assert found, out
    assert 40 <= int(found[1]) <= 50 if allowed else int(found[1]) == 0
    assert ("warning: tcp_fastopen: no connection" in out) != allowed, out
    assert ("net.ipv4.tcp_fastopen" in out) != allowed, out


# 24
@pytest.mark.parametrize(
    ("bind", "reuseaddr", "wanted"),
    [
        ({"source_port": 29700}, "no", True),  # several connections, one after the other, take the port of a flow
        ({"local_hosts": "127.0.0.9"}, "yes", True),
        ({"local_hosts": "127.0.0.9"}, "no", False),
    ],
    ids=["port", "asked", "not asked"],
)
def test_reuseaddr_comes_before_bind(
    netmodel: Netmodel, strace: str, tmp_path: Path, bind: dict[str, object], reuseaddr: str, wanted: bool
) -> None:
    base = 29700 + os.getpid() % 100 * 3
    bind = {name: base if name == "source_port" else value for name, value in bind.items()}
    args = defines(num_flows=3, reuseaddr=reuseaddr, test_length="50ms", **bind)
    _, lines = traced(netmodel, strace, "tcp_rr", tmp_path / "trace", "socket,bind,connect,setsockopt", args=args)
    reuse: set[tuple[str, str]] = set()
    bound: dict[tuple[str, str], bool] = {}
    connected = []
    for line in lines:
        pid = line.split()[0]
        if found := re.search(r"socket\(.*= (\d+)$", line):
            reuse.discard((pid, found[1]))
            bound.pop((pid, found[1]), None)
        if found := re.search(r"setsockopt\((\d+), SOL_SOCKET, SO_REUSEADDR, \[1\], 4\) += 0", line):
            reuse.add((pid, found[1]))
        if found := re.search(r'bind\((\d+), .*htons\((\d+)\), sin_addr=inet_addr\("([\d.]+)"\).*= 0$', line):
            if base <= int(found[2]) < base + 3 or found[3] == "127.0.0.9":
                bound[pid, found[1]] = (pid, found[1]) in reuse
        if (found := re.search(r"connect\((\d+), ", line)) and (pid, found[1]) in bound:
            connected.append(bound.pop((pid, found[1])))
    assert connected == [wanted] * 3


# 25
def test_percentiles_may_be_many_and_come_twice(netmodel: Netmodel) -> None:
    many = [f"{number / 10:g}" for number in range(7, 1000, 32)]
    keys = keys_of(netmodel.run("tcp_rr", *CLIENT, "-l", "-200", "-p", "50,90", "-p", ",".join(many), code=0).out)
    assert [name.removeprefix("latency_p") for name in keys if name.startswith("latency_p")] == many
    values = [float(keys[f"latency_p{name}"]) for name in many]
    assert values == sorted(values)


# 26
def test_no_file_is_left(netmodel: Netmodel, tmp_path: Path) -> None:
    for words in (["-h"], ["-v"], ["-c", "-n"], [*CLIENT, "-l", "-5"], ["--wrong"]):
        result = netmodel.run("tcp_rr", *words, cwd=tmp_path)
        assert result.code == (1 if words == ["--wrong"] else 0), result
    assert list(tmp_path.iterdir()) == []
