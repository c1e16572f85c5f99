# SPDX-License-Identifier: Apache-2.0
"""Samples of single flows and connections add up to what the result says, on both ends."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import pytest

from nmtest import Netmodel, Slave, defines, master_of, slaves_of
from samples import check_rates, check_sums, read, sample

WriteProfile = Callable[..., Path]

def test_flows_add_up_on_both_ends(netmodel: Netmodel, tmp_path: Path) -> None:
    options = defines(test_length="700ms", num_flows=5, num_threads=2, request_size=100, response_size=300)
    document, by_host = sample(netmodel, tmp_path / "s.csv", "tcp_rr", "-i", "200ms", *options)
    assert set(by_host) == {"master", "local"}
    check_sums(document, by_host)
    for flows in by_host.values():
        assert len(flows) == 5
        check_rates(flows)
        assert sorted(rows[0]["tid"] for rows in flows) == ["0", "0", "0", "1", "1"]
        assert {len(rows) for rows in flows} == {len(document["intervals"])}


def test_latencies_of_flows_make_that_of_the_whole(netmodel: Netmodel, tmp_path: Path) -> None:
    options = defines(test_length="500ms", num_flows=3)
    document, by_host = sample(netmodel, tmp_path / "s.csv", "tcp_rr", "-i", "100ms", *options)
    latency = document["totals"]["latency_s"]
    count = total = 0.0
    least, most = [], []
    for rows in by_host["master"]:
        before = 0
        for row in rows:
            added = int(row["transactions"]) - before
            before += added
            if not added:
                continue
            low, mean, high, deviation = (float(row[f"latency_{name}"]) for name in ("min", "mean", "max", "stddev"))
            assert low <= mean <= high
            assert 0 <= deviation <= high
            count += added
            total += added * mean
            least.append(low)
            most.append(high)
    assert count == latency["count"]
    assert total / count == pytest.approx(latency["mean"], rel=1e-5)
    assert min(least) == pytest.approx(latency["min"], abs=2e-9)
    assert max(most) == pytest.approx(latency["max"], abs=2e-9)
    assert all(row["latency_mean"] == "" for rows in by_host["local"] for row in rows)


def test_percentiles_of_flows_are_those_of_their_passes(netmodel: Netmodel, tmp_path: Path) -> None:
    """Held against each single pass of the flow in the interval."""
    options = defines(test_length="600ms", num_flows=3, num_threads=2)
    grid = ("-i", "150ms", "--percentiles", "0,50,99,99.99,100", "--log-rtt", tmp_path / "rtt.csv")
    words = (*grid, "--log-rtt-entries", "1000000", *options)
    _, by_host = sample(netmodel, tmp_path / "s.csv", "tcp_rr", *words)
    passes = defaultdict(list)
    with (tmp_path / "rtt.csv").open() as stream:
        next(stream)
        for line in stream:
            *_, flow, rtt = line.split(",")
            passes[flow.strip()].append(float(rtt))
    for rows in by_host["master"]:
        times = passes[rows[0]["flow_id"]]
        assert len(times) == int(rows[-1]["transactions"]) > 100
        before = 0
        for row in rows:
            part = sorted(times[before : int(row["transactions"])])
            before = int(row["transactions"])
            if len(part) < 100:
                continue
            found = [float(row[f"latency_p{name}"]) for name in ("0", "50", "99", "99.99", "100")]
            assert found == sorted(found)
            assert found[0] == pytest.approx(float(row["latency_min"]), abs=2e-9)
            assert found[4] == pytest.approx(float(row["latency_max"]), abs=2e-9)
            # A pass at the edge of an interval may be counted on its other side.
            for at, value in ((0.5, found[1]), (0.99, found[2])):
                rank = at * len(part)
                low, high = part[max(0, int(rank) - 3)], part[min(len(part) - 1, int(rank) + 3)]
                assert low * (1 - 1 / 200) <= value <= high * (1 + 1 / 200)
    assert all(row["latency_p50"] == "" for rows in by_host["local"] for row in rows)


def test_percentiles_of_flows_are_there_when_asked_for(netmodel: Netmodel, tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    for words, wanted in ((), []), (("-p", "99.9,50"), ["latency_p50", "latency_p99.9"]):
        netmodel.run("tcp_rr", "-c", "-H", "local", "-l", "0.3", "-I", "0.1", f"-A{path}", *words, code=0)
        header = path.read_text().split("\n", 1)[0].split(",")
        assert header[header.index("latency_stddev") + 1 : header.index("host")] == wanted
        assert all(float(row[name]) > 0 for rows in read(path).values() for row in rows[:2] for name in wanted if rows[0]["host"] == "master")


@pytest.mark.parametrize(("flows", "interval", "most"), [(4097, "1s", 4096), (251, "10ms", 250)])
def test_many_flows_have_no_percentiles_of_their_own(
    netmodel: Netmodel, tmp_path: Path, profile: WriteProfile, flows: int, interval: str, most: int
) -> None:
    """To read them must take little of an interval."""
    path = profile(
        f'<group nthreads="1" nflows="{flows}"><transaction duration="100ms"><flowop type="think" options="duration=10ms"/>'
        '</transaction><transaction iterations="1"><flowop type="connect" options="remotehost=local"/></transaction></group>'
    )
    words = ("--percentiles", "50", "-i", interval)
    document, by_host = sample(netmodel, tmp_path / "s.csv", path, *words)
    assert any(f"have no percentiles: the flows are {flows}, and those of at most {most} are kept" in one for one in document["run"]["warnings"])
    assert {row["latency_p50"] for rows in by_host["master"] for row in rows} == {""}


def test_usage_grows(netmodel: Netmodel, tmp_path: Path) -> None:
    document, by_host = sample(netmodel, tmp_path / "s.csv", "tcp_rr", "-i", "100ms", *defines(test_length="500ms"))
    for host in ("master", "local"):
        (rows,) = by_host[host]
        for name in ("utime", "stime", "minflt", "nvcsw", "nivcsw", "maxrss"):
            values = [float(row[name]) for row in rows]
            assert values == sorted(values)
        used = float(rows[-1]["utime"]) + float(rows[-1]["stime"])
        rusage = (master_of(document) if host == "master" else slaves_of(document)[0])["rusage"]
        assert used >= 0.8 * (rusage["utime_s"] + rusage["stime_s"]) > 0


@pytest.mark.parametrize("profile", ["tcp_crr", "tcp_stream", "udp_rr", "rpc_mix", "iperf"])
def test_all_kinds_of_traffic(netmodel: Netmodel, tmp_path: Path, profile: str) -> None:
    document, by_host = sample(netmodel, tmp_path / "s.csv", profile, "-i", "100ms", *defines(test_length="300ms"))
    check_sums(document, by_host)
    for flows in by_host.values():
        check_rates(flows)


def test_several_measured_transactions_with_repeats_and_other_ones(
    netmodel: Netmodel, tmp_path: Path, profile: WriteProfile
) -> None:
    path = profile(
        """<group nthreads="2" nflows="3">
        <transaction><flowop type="connect" options="remotehost=local"/></transaction>
        <transaction iterations="50"><flowop type="write" options="size=10"/></transaction>
        <transaction duration="200ms"><flowop type="write" options="size=20 count=3"/></transaction>
        <transaction iterations="70"><flowop type="read" options="size=5"/></transaction>
        <transaction duration="200ms"><flowop type="write" options="size=40"/>
          <flowop type="read" options="size=7 count=2"/></transaction>
        <transaction><flowop type="disconnect"/></transaction></group>"""
    )
    document, _ = sample(netmodel, tmp_path / "s.csv", path, "-i", "50ms")
    measured = [phase for phase in document["groups"][0]["phases"] if phase["measured"]]
    assert len(measured) == 2
    for host in ("master", "local"):
        flows = [rows for key, rows in read(tmp_path / "s.csv").items() if key[0] == host]
        ends = []
        for rows in flows:
            counts = [int(row["transactions"]) for row in rows]
            read_ones = [int(row["bytes_read" if host == "master" else "bytes_sent"]) for row in rows]
            turn = next(i for i, count in enumerate(read_ones) if count)  # the first one only writes
            ends.append((counts[turn - 1], counts[-1]))
        assert sum(first for first, _ in ends) == measured[0]["transactions"]
        assert sum(second for _, second in ends) == measured[1]["transactions"]


def test_processes_and_rates(netmodel: Netmodel, tmp_path: Path, profile: WriteProfile) -> None:
    path = profile(
        """<group nprocs="2" nflows="4"><transaction><flowop type="connect" options="remotehost=local"/></transaction>
        <transaction duration="400ms" rate="100"><flowop type="write" options="size=1"/><flowop type="read" options="size=1"/>
        </transaction><transaction><flowop type="disconnect"/></transaction></group>"""
    )
    tcp = tmp_path / "t.csv"
    document, by_host = sample(netmodel, tmp_path / "s.csv", path, "-i", "100ms", "--tcp-info", tcp)
    check_sums(document, by_host)
    for rows in by_host["master"]:
        assert 20 <= int(rows[-1]["transactions"]) <= 41
    assert len({key for key in read(tcp) if key[0] == "master"}) == 4


def test_several_slaves(netmodel: Netmodel, tmp_path: Path, profile: WriteProfile, slave: Slave) -> None:
    group = """<group name="{0}" nflows="2"><transaction><flowop type="connect" options="remotehost={0}"/></transaction>
        <transaction duration="300ms"><flowop type="write" options="size=10"/></transaction>
        <transaction><flowop type="disconnect"/></transaction></group>"""
    path = profile(group.format("127.0.0.1") + group.format("localhost"))
    document = netmodel.measure(path, "-P", str(slave.port), "-i", "100ms", "--all-samples", tmp_path / "s.csv")
    found = read(tmp_path / "s.csv")
    assert {key[:2] for key in found} == {
        ("master", "127.0.0.1"),
        ("master", "localhost"),
        ("127.0.0.1", "127.0.0.1"),
        ("localhost", "localhost"),
    }
    for group_found in document["groups"]:
        for end in ("master", group_found["name"]):
            rows = [rows[-1] for key, rows in found.items() if key[:2] == (end, group_found["name"])]
            assert sum(int(row["transactions"]) for row in rows) == group_found["transactions"]


def test_times_of_both_ends_are_of_one_clock(netmodel: Netmodel, tmp_path: Path) -> None:
    _, by_host = sample(netmodel, tmp_path / "s.csv", "tcp_rr", "-i", "100ms", *defines(test_length="500ms"))
    (own,), (other,) = by_host["master"], by_host["local"]
    # On one host both have the same clock, and begin within a moment.
    assert float(own[0]["time"]) == pytest.approx(float(other[0]["time"]), abs=0.05)
    assert float(own[-1]["time"]) == pytest.approx(float(other[-1]["time"]), abs=0.1)


def test_what_the_kernel_knows_of_connections(netmodel: Netmodel, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    options = defines(test_length="500ms", num_flows=70, num_threads=2, request_size=1000, response_size=3000)
    document = netmodel.measure("tcp_rr", "-i", "100ms", "--tcp-info", path, *options)
    found = read(path)
    assert len(found) == 140
    for (host, _, _), rows in found.items():
        assert len(rows) >= 3
        times = [float(row["time"]) for row in rows]
        assert times == sorted(times)
        for name in ("bytes_sent", "bytes_acked", "bytes_received", "retransmits", "busy_us"):
            values = [int(row[name]) for row in rows]
            assert values == sorted(values), name
        assert all(int(row["rtt_us"]) > 0 and int(row["snd_cwnd"]) > 0 for row in rows)
        assert int(rows[-1]["bytes_acked"]) <= int(rows[-1]["bytes_sent"]) + 1  # the SYN
        assert host in ("master", "local")
    for host, part in (("master", master_of(document)), ("local", slaves_of(document)[0])):
        last = [rows[-1] for key, rows in found.items() if key[0] == host]
        known = part["connections"]
        assert known["count"] == len(last) == 70
        assert {int(row["snd_mss"]) for row in last} == {known["mss_min"], known["mss_max"]}
        assert sum(int(row["retransmits"]) for row in last) == known["retransmits"]
        assert sum(int(row["rtt_us"]) for row in last) / 70 * 1e-6 == pytest.approx(known["srtt_s"]["mean"], rel=0.01)
    sent = sum(int(rows[-1]["bytes_sent"]) for key, rows in found.items() if key[0] == "master")
    own = master_of(document)["groups"][0]
    # The greeting of each connection is not traffic of the profile.
    assert own["bytes_sent"] <= sent <= own["bytes_sent"] + 70 * 64


def test_connections_that_come_and_go(netmodel: Netmodel, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    document = netmodel.measure("tcp_crr", "-i", "20ms", "--tcp-info", path, *defines(test_length="500ms", num_flows=8))
    assert document["run"]["reconciled"] is True
    found = read(path)
    # Each is another connection, and none has had more than its request and answer.
    assert {key[0] for key in found} == {"master", "local"}
    assert all(int(row["bytes_acked"]) <= 64 for rows in found.values() for row in rows)


def test_only_tcp_has_its_information(netmodel: Netmodel, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    netmodel.measure("udp_rr", "-i", "50ms", "--tcp-info", path, *defines(test_length="200ms"))
    assert len(path.read_text().splitlines()) == 1


def test_nothing_is_counted_when_nobody_asks(netmodel: Netmodel, tmp_path: Path, strace: str) -> None:

    def reads(*args: str) -> int:
        trace = tmp_path / "trace"
        prefix = (strace, "-f", "-e", "trace=getsockopt", "-o", str(trace))
        netmodel.run("-m", "tcp_rr", "-i", "50ms", *defines(test_length="300ms"), *args, prefix=prefix, code=0)
        return len(re.findall(r"TCP_INFO", trace.read_text()))

    once = reads()
    assert once <= 2  # each end, when the transaction is over
    assert reads("--tcp-info", str(tmp_path / "t.csv")) >= once + 4


def test_too_many_flows_are_told(netmodel: Netmodel, tmp_path: Path, profile: WriteProfile) -> None:
    path = profile('<group nflows="100001"><transaction iterations="1"><flowop type="nop"/></transaction></group>')
    document = netmodel.measure(path, "--all-samples", tmp_path / "s.csv")
    assert any("no samples of flows: they are 100001, and at most 100000" in line for line in document["run"]["warnings"])
    assert len((tmp_path / "s.csv").read_text().splitlines()) == 1


def test_an_interrupted_run_has_samples(netmodel: Netmodel, tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    words = ("-m", "tcp_rr", "-i", "50ms", "--all-samples", path, *defines(test_length="60s"), "-v")
    with netmodel.started(*words) as process:
        process.wait_line("phase 2 of 3 begins")
        process.signal(2)
        assert process.finish().code == 130
    assert {key[0] for key in read(path)} == {"master", "local"}


@pytest.mark.parametrize("option", ["--all-samples", "--tcp-info"])
def test_samples_that_cannot_be_written(netmodel: Netmodel, tmp_path: Path, option: str) -> None:
    done = netmodel.run("-m", "tcp_rr", option, tmp_path / "no" / "file", code=1)
    assert f"{option} {tmp_path}/no/file: cannot be written: No such file or directory" in done.err
    full = netmodel.run("-m", "tcp_rr", "-i", "50ms", "-D", "test_length=200ms", option, "/dev/full", code=2)
    assert f"{option} /dev/full: cannot be written: No space left on device" in full.err
