# SPDX-License-Identifier: Apache-2.0
"""The bench's parsers on sample outputs, its ratios, and that it leaves no process behind."""

from __future__ import annotations

import json
import os
import signal
import struct
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

import bench
from benchlib import measure, ports, process, report
from benchlib.awake import kept_awake
from benchlib.model import WORKLOADS, BenchError, Case, Commands, Ends, Figures, Outcome, Place
from benchlib.tools import PEERS, Bare, Iperf3, Neper, Netmodel, Netperf, Sockperf, Uperf, netperf
from benchlib.tools.base import locate
from nmtest import PATIENCE_S, wait_until

BENCH = Path(__file__).resolve().parent

RR = Case("tcp_rr", 1, 3)
CRR = Case("tcp_crr", 1, 3)
STREAM = Case("tcp_stream", 1, 3)
DATAGRAMS = Case("udp_stream", 1, 3)


def programs() -> dict[str, str]:
    return {name: f"/x/{name}" for name in WORKLOADS}


def test_neper_counts_transactions_from_the_client() -> None:
    client = "time_start=100.5\nnum_transactions=7\ntime_end=103.5\nthroughput=2000.00\n"
    outcome = Neper(programs()).parse(RR, client, "")
    assert (outcome.count, outcome.rate) == (6000, 2000)


def test_neper_counts_bytes_from_the_server() -> None:
    server = "time_start=10.0\ntime_end=12.0\nthroughput=8.00\nlocal_throughput=8000000\n"
    outcome = Neper(programs()).parse(STREAM, "remote_throughput=8000000\n", server)
    assert (outcome.count, outcome.rate) == (2e6, 1e6)


def test_neper_without_result_is_an_error() -> None:
    with pytest.raises(BenchError, match="no time_end"):
        Neper(programs()).parse(RR, "time_start=1\n", "")


UPERF_LINES = """\
timestamp_ms:1000.0 name:Txn1 nr_bytes:0 nr_ops:1
timestamp_ms:2000.0 name:Txn2 nr_bytes:0 nr_ops:0
timestamp_ms:2500.0 name:Txn2 nr_bytes:500 nr_ops:500
timestamp_ms:3000.0 name:Txn2 nr_bytes:1000 nr_ops:1000
timestamp_ms:3400.0 name:Txn2 nr_bytes:1040 nr_ops:1040
timestamp_ms:3500.0 name:Txn3 nr_bytes:0 nr_ops:1
"""


def test_uperf_rate_leaves_out_the_late_last_line() -> None:
    outcome = Uperf("/x/uperf").parse(RR, UPERF_LINES, "")
    assert (outcome.count, outcome.rate) == (520, 500)


def test_uperf_crr_is_measured_in_its_only_phase() -> None:
    lines = UPERF_LINES.replace("Txn1", "Txn9").replace("Txn2", "Txn1")
    assert Uperf("/x/uperf").parse(CRR, lines, "").rate == 250


UPERF_STATISTICS = """\
Hostname            Time       Data   Throughput   Operations      Errors
127.0.0.1          5.57s     1.00KB     3.90Gb/s       168606        0.00%
master             5.54s     2.00KB     6.03Gb/s       257518        0.00%
"""


def test_uperf_stream_counts_what_arrived() -> None:
    outcome = Uperf("/x/uperf").parse(STREAM, UPERF_LINES + UPERF_STATISTICS, "")
    assert (outcome.count, outcome.rate) == (520, 500)
    with pytest.raises(BenchError, match="both ends"):
        Uperf("/x/uperf").parse(STREAM, UPERF_LINES, "")


def test_uperf_with_few_lines_counts_from_the_phase_before() -> None:
    lines = [
        line for line in UPERF_LINES.splitlines() if ":2000" not in line and ":2500" not in line
    ]
    assert Uperf("/x/uperf").parse(RR, "\n".join(lines), "").rate == 250
    with pytest.raises(BenchError, match="2 progress lines of phase 2"):
        Uperf("/x/uperf").parse(RR, "\n".join(lines[:2]), "")


def test_uperf_profile_has_one_element_a_line(tmp_path: Path) -> None:
    commands = Uperf("/x/uperf").run(Case("tcp_rr", 64, 2), Place((0,), (1,), str(tmp_path)))
    text = Path(commands.client[2]).read_text()
    assert '<group nthreads="64">' in text
    assert '<transaction duration="2s">' in text
    assert all(line.count("<") == 1 for line in text.splitlines())


def test_netperf_units() -> None:
    tool = Netperf("/x/netperf", "/x/netserver")
    rr = "THROUGHPUT=16058.5\nTHROUGHPUT_UNITS=Trans/s\nELAPSED_TIME=2.00\n"
    stream = "THROUGHPUT=8.00\nTHROUGHPUT_UNITS=10^6bits/s\nELAPSED_TIME=2.00\n"
    assert tool.parse(RR, rr, "").count == 32117
    assert tool.parse(STREAM, stream, "").rate == 1e6
    with pytest.raises(BenchError, match="expected 'Trans/s'"):
        tool.parse(RR, stream, "")


def test_netperf_of_debian_is_asked_for_where_it_is_wanted_and_no_other_is_there(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked, own = tmp_path / "asked", tmp_path / "own"
    for name in ("netperf", "netserver"):
        (own / name).parent.mkdir(exist_ok=True)
        (own / name).touch(0o755)
    packages = tmp_path / "tests" / "k8s" / "packages"
    packages.parent.mkdir(parents=True)
    packages.write_text(f'#!/bin/sh\necho "$@" >>{asked}\nmkdir -p "$3/usr" && cp -r {own} "$3/usr/bin"\n')
    packages.chmod(0o755)
    monkeypatch.setattr(netperf, "_TOP", tmp_path)
    monkeypatch.setattr(netperf, "_FOLDER", tmp_path / "debian")
    none = {"PATH": ""}
    assert bench.find_tools(("iperf3",), PEERS, none) == []
    assert Netperf.find({**none, "NETPERF_DIR": "/nowhere"}) is None
    assert Netperf.find({"PATH": str(own)}) is not None
    assert not asked.exists()
    assert Netperf.find(none) is not None
    assert asked.read_text() == f"--component non-free {tmp_path}/debian netperf\n"
    packages.write_text("#!/bin/sh\nexit 77\n")
    assert Netperf.find(none) is None


def test_iperf3_takes_what_was_received() -> None:
    end = {
        "sum_sent": {"bytes": 9, "bits_per_second": 9},
        "sum_received": {"bytes": 5, "bits_per_second": 16},
    }
    outcome = Iperf3("/x/iperf3").parse(STREAM, json.dumps({"end": end}), "")
    assert (outcome.count, outcome.rate) == (5, 2)
    with pytest.raises(BenchError):
        Iperf3("/x/iperf3").parse(STREAM, '{"error": "unable to connect"}', "")


def test_sockperf_rate_is_of_the_valid_part() -> None:
    text = (
        "sockperf: [Total Run] RunTime=1.001 sec; Warm up time=400 msec; SentMessages=901; "
        "ReceivedMessages=900\n"
        "sockperf: [Valid Duration] RunTime=0.500 sec; SentMessages=400; ReceivedMessages=400\n"
    )
    outcome = Sockperf("/x/sockperf").parse(RR, text, "")
    assert (outcome.count, outcome.rate) == (900, 800)


def result(complete: bool = True) -> str:
    totals = {
        "transactions": 300,
        "transactions_per_s": 100.0,
        "bits_per_s": 800.0,
        "bytes_sent": 300,
        "bytes_received": 0,
    }
    return json.dumps({"run": {"complete": complete}, "totals": totals})


def test_netmodel_result_document() -> None:
    tool = Netmodel("/x/netmodel")
    assert tool.parse(RR, result(), "").count == 300
    assert tool.parse(STREAM, result(), "").rate == 100
    with pytest.raises(BenchError, match="incomplete"):
        tool.parse(RR, result(complete=False), "")
    with pytest.raises(BenchError, match="not a result document"):
        tool.parse(RR, "[]", "")


def test_netmodel_counts_datagrams_that_have_arrived() -> None:
    document = json.loads(result())
    document["totals"]["messages"] = {"to_slaves": {"received": 700, "bits_received_per_s": 11200.0 * 50}}
    outcome = Netmodel("/x/netmodel").parse(DATAGRAMS, json.dumps(document), "")
    assert (outcome.count, outcome.rate) == (700, 50)


def test_neper_counts_datagrams_from_the_server() -> None:
    server = "time_start=10.0\ntime_end=12.0\nlocal_throughput=1120000\n"
    outcome = Neper(programs()).parse(DATAGRAMS, "", server)
    assert (outcome.count, outcome.rate) == (200, 100)


@pytest.mark.needs("cc")
@pytest.mark.parametrize("flows", [1, 3])
def test_bare_loops_ask_and_answer(flows: int) -> None:
    bare = Bare.find(os.environ)
    assert bare is not None
    case = Case("tcp_rr", flows, 1)
    figures = Figures()
    measure.Measurer(None, (1, 2)).throughput(bare, case, figures)
    assert not figures.errors
    assert figures.rate[0] > 100
    assert not bare.supported(STREAM)


def test_a_bound_need_only_be_come_near_to() -> None:
    figures = {"netmodel": Figures(rate=[97.0]), "bare": Figures(rate=[100.0])}
    assert report.behind({RR: figures}) == []
    figures["netmodel"].rate = [95.0]
    assert report.behind({RR: figures}) == ["tcp_rr, 1 flow: 0.950 of bare"]


def test_each_end_of_netmodel_is_a_command() -> None:
    commands = Netmodel("/x/netmodel").run(RR, Place((0,), (1,), "/tmp"))
    port = str(commands.listens_on)
    assert commands.server == ["/x/netmodel", "-s", "-P", port, "--cpus", "1"]
    assert commands.client[-4:] == ["--cpus", "0", "-P", port]
    assert "host=127.0.0.1" in commands.client


def test_a_profile_is_the_same_for_both(tmp_path: Path) -> None:
    """netmodel takes the file that uperf takes, and needs a slave for it, as uperf does."""
    case = Case("uperf_udp_rr", 64, 2)
    place = Place((0,), (1,), str(tmp_path))
    commands = [tool.run(case, place) for tool in (Netmodel("/x/netmodel"), Uperf("/x/uperf"))]
    texts = [Path(c.client[c.client.index("-m") + 1]).read_text() for c in commands]
    assert texts[0] == texts[1]
    assert 'nthreads="64"' in texts[0] and "protocol=udp" in texts[0] and 'duration="2s"' in texts[0]
    assert all(c.server for c in commands)
    assert not any(t.supported(case) for t in (Iperf3("x"), Netperf("x", "y"), Sockperf("x")))
    assert not Case("uperf_udp_rr", 1000, 2).is_sensible


def test_threads_of_an_end_share_both_cpus() -> None:
    measured: list[Case] = []

    class Seen(Netmodel):
        def run(self, case: Case, place: Place) -> Commands:
            measured.append(case)
            both = ((3, 4), (3, 4)) if case.threads > 1 else ((3,), (4,))
            assert (place.client_cpus, place.server_cpus) == both
            raise BenchError(" ".join(super().run(case, place).client))

    for case, words in ((Case("tcp_rr", 2, 1, threads=2), "num_threads=2"), (Case("tcp_rr", 2, 1), "num_threads=1")):
        figures = Figures()
        measure.Measurer((3, 4), (1, 2)).throughput(Seen("/x/netmodel"), case, figures)
        assert words in figures.errors[0]
    assert len(measured) == 2
    assert not Case("tcp_rr", 1, 1, threads=2).is_sensible
    assert not Netperf("x", "y").supported(Case("tcp_rr", 1, 1, threads=2))


def test_a_lone_flow_is_measured_where_no_cpu_sleeps_too(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[Place, bool]] = []
    awake: list[bool] = []

    @contextmanager
    def note_awake() -> Iterator[None]:
        awake.append(True)
        yield
        awake.pop()

    class Seen(Netmodel):
        def run(self, case: Case, place: Place) -> Commands:
            assert not awake
            return Commands(["true"], None)

        def parse(self, case: Case, client: str, server: str) -> Outcome:
            seen.append((place_of[-1], bool(awake)))
            return Outcome(1, 1)

    place_of: list[Place] = []
    find_place = measure.Measurer._place

    def note_place(self: measure.Measurer, case: Case, workdir: str) -> Place:
        place_of.append(find_place(self, case, workdir))
        return replace(place_of[-1], client_cpus=(), server_cpus=())

    monkeypatch.setattr(measure, "kept_awake", note_awake)
    monkeypatch.setattr(measure.Measurer, "_place", note_place)
    monkeypatch.setattr(sys, "argv", ["bench.py", "--workloads", "tcp_rr,tcp_rr_spin,tcp_stream", "--flows", "1,2"])
    cases = bench.cases_of(bench.arguments(), [Ends.AWAKE, Ends.TOGETHER])
    assert [c.label for c in cases][:4] == [
        "tcp_rr, 1 flow",
        "tcp_rr, 1 flow, idle CPUs awake",
        "tcp_rr, 1 flow, on one CPU",
        "tcp_rr, 2 flows",
    ]
    assert all(c.ends is Ends.APART for c in cases[3:])
    assert all(c.ends is Ends.APART for c in bench.cases_of(bench.arguments(), []))
    figures = Figures()
    for case in cases[:3]:
        measure.Measurer((3, 4), (1, 2)).throughput(Seen("/x/netmodel"), case, figures)
    assert not figures.errors
    assert [(p.client_cpus, p.server_cpus, on) for p, on in seen] == [((3,), (4,), False), ((3,), (4,), True), ((3,), (3,), False)]


@pytest.mark.needs("cpuidle")
def test_idle_cpus_are_kept_awake_for_as_long_as_a_run() -> None:
    def limit_us() -> int:
        with open("/dev/cpu_dma_latency", "rb") as device:
            (value,) = struct.unpack("i", device.read(4))
        return int(value)

    before = limit_us()
    with kept_awake():
        assert limit_us() == 0
    assert limit_us() == before


def test_other_ways_of_a_workload() -> None:
    place = Place((0,), (1,), "/tmp")
    words = {
        "tcp_rr_spin": ("wait=spin", "--nonblocking"),
        "tcp_stream_zerocopy": ("zerocopy=true", "--zerocopy"),
    }
    for name, (ours, theirs) in words.items():
        case = Case(name, 1, 1)
        assert ours in Netmodel("x").run(case, place).client
        assert theirs in Neper(programs()).run(case, place).client
        assert not any(t.supported(case) for t in (Iperf3("x"), Netperf("x", "y"), Sockperf("x"), Uperf("x")))
    case = Case("tcp_stream_default", 1, 1)
    for tool in (Netmodel("x"), Neper(programs()), Iperf3("x"), Netperf("x", "y")):
        assert not any("16384" in word for word in tool.run(case, place).client)
        assert any("16384" in word for word in tool.run(STREAM, place).client)


def test_what_each_tool_can_do() -> None:
    many = Case("tcp_stream", 1000, 1)
    assert Neper(programs()).supported(many)
    assert not Iperf3("x").supported(many)
    assert Iperf3("x").supported(Case("tcp_stream", 64, 1))
    assert not Iperf3("x").supported(RR)
    assert not Netperf("x", "y").supported(Case("tcp_rr", 64, 1))
    assert not Sockperf("x").supported(CRR)


def test_a_set_variable_overrides_the_path(tmp_path: Path) -> None:
    program = tmp_path / "src" / "tool"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert locate({"D": str(tmp_path)}, "D", "tool") == str(program)
    assert locate({"D": str(program)}, "D", "tool") == str(program)
    assert locate({"D": str(tmp_path), "PATH": "/bin"}, "D", "sh") is None
    assert locate({"PATH": str(program.parent)}, "D", "tool") == str(program)


STRACE = """\
% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ----------------
 60.00    0.200000           2    100000           sendto
 40.00    0.100000           1    100001        17 recvfrom
------ ----------- ----------- --------- --------- ----------------
100.00    0.300000           1    200001        17 total
"""


def test_strace_table() -> None:
    assert measure.strace_calls(STRACE) == {"sendto": 100000, "recvfrom": 100001}
    with pytest.raises(BenchError):
        measure.strace_calls("")


def test_callgrind_total() -> None:
    assert measure.callgrind_total("events: Ir\nfn=(1)\n3 4\n\ntotals: 12345\n") == 12345
    assert measure.callgrind_total("summary: 77\n") == 77
    with pytest.raises(BenchError):
        measure.callgrind_total("events: Ir\n")


def test_cost_of_a_unit() -> None:
    assert measure.per_unit(600, 200, RR) == 3
    assert measure.per_unit(6, 2e9, STREAM) == 3
    with pytest.raises(BenchError):
        measure.per_unit(600, 0, RR)


def test_listening_ports() -> None:
    table = textwrap.dedent(
        """\
          sl  local_address rem_address   st tx_queue rx_queue
           0: 0100007F:1F90 00000000:0000 0A 00000000:00000000
           1: 0100007F:1F91 0100007F:C000 01 00000000:00000000
        """
    )
    assert ports.listening_ports(table) == {8080}


def test_free_ports_differ() -> None:
    assert len(set(ports.free_ports(5))) == 5


def test_ratio_is_taken_round_by_round() -> None:
    spread = report.ratio([10, 30, 20], [10, 10, 40])
    assert spread == report.Spread(1.0, 0.5, 3.0, 0.5, 3.0)
    assert report.ratio([], [1.0]) is None


def test_few_rounds_give_no_verdict() -> None:
    rounds = report.LEAST_ROUNDS
    results = {RR: {"netmodel": Figures(rate=[90.0] * rounds), "neper": Figures(rate=[100.0] * rounds)}}
    assert report.verdict(results, rounds) == (
        "netmodel is behind (1 of a tool, 0.96 of bare, 0.98 of baseline) in:\n  tcp_rr, 1 flow: 0.900 of neper\n"
    )
    assert report.verdict(results, rounds - 1) == "who is faster takes 5 rounds at least to tell\n"
    assert report.outside(rounds) == 0 < report.outside(rounds + 3)


def test_report_names_what_is_behind() -> None:
    figures = {"netmodel": Figures(rate=[90.0]), "neper": Figures(rate=[100.0], errors=["late"])}
    assert report.behind({RR: figures}) == ["tcp_rr, 1 flow: 0.900 of neper"]
    text = report.case_text(RR, figures)
    assert "netmodel/neper" in text
    assert "neper: late" in text
    case = report.document({RR: figures}, {})["cases"][0]
    keys = ("median", "low", "high", "median_low", "median_high")
    assert case["ratios"]["neper"]["rate"] == dict.fromkeys(keys, 0.9)
    assert case["ratios"]["neper"]["cpu_s"] is None


def test_what_rounds_can_tell() -> None:
    """A median below 1 is no proof when the rounds lie on both sides of 1."""
    assert [report.outside(n) for n in (1, 4, 5, 7, 8, 10, 11, 15, 20)] == [0, 0, 0, 0, 1, 1, 2, 3, 5]
    peer = Figures(rate=[100.0] * 5)
    for ours, behind, undecided in (
        ([90.0, 95.0, 97.0, 98.0, 99.0], 1, 0),
        ([90.0, 95.0, 97.0, 98.0, 101.0], 0, 1),
        ([101.0, 102.0, 103.0, 104.0, 105.0], 0, 0),
    ):
        results = {RR: {"netmodel": Figures(rate=ours), "neper": peer}}
        assert (len(report.behind(results)), len(report.undecided(results))) == (behind, undecided)


def test_a_baseline_takes_more_to_be_behind() -> None:
    """One of nine rounds above the bound is no proof at 99.5 %, though it is one at 90 %."""
    assert [report.outside(n, 0.995) for n in (8, 9, 15, 31)] == [0, 0, 1, 7]
    baseline = Figures(rate=[100.0] * 9)
    for best, behind in ((99.0, 0), (97.5, 1)):
        ours = Figures(rate=[90.0] * 8 + [best])
        assert len(report.behind({RR: {"netmodel": ours, "baseline": baseline}})) == behind
        assert len(report.behind({RR: {"netmodel": ours, "neper": baseline}})) == 1


@pytest.mark.parametrize(
    ("value", "text"), [(0, "0"), (2.5, "2.5"), (70955, "70.95k"), (8.2e-5, "82u"), (9.8e9, "9.8G")]
)
def test_number_text(value: float, text: str) -> None:
    assert report.number_text(value) == text


def wait_for_the_end(leaders: list[int]) -> None:
    """Nothing is left of the groups; a killed process takes a moment to disappear."""
    wait_until(lambda: not any(process.group_members(leader) for leader in leaders), what="the processes are gone")


def test_a_child_takes_its_group_along(tmp_path: Path) -> None:
    script = "trap '' TERM; sleep 60 & echo $$; wait"
    with process.Child(["sh", "-c", script], str(tmp_path)) as child:
        leader = int(wait_until(child.output))
        assert len(process.group_members(leader)) == 2
        child.end(grace_s=0.2)
    assert child.returncode == -signal.SIGKILL
    wait_for_the_end([leader])


FAKE = """\
#!/usr/bin/env python3
import os, socket, sys, time
print(os.getpid(), file=open(os.environ["PIDS"], "a"), flush=True)
if "-s" in sys.argv:
    listener = socket.create_server(("127.0.0.1", int(sys.argv[sys.argv.index("-p") + 1])))
time.sleep(60)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupted_bench_leaves_nothing(tmp_path: Path, number: signal.Signals) -> None:
    fake = tmp_path / "iperf3"
    fake.write_text(FAKE)
    fake.chmod(0o755)
    pids = tmp_path / "pids"
    pids.touch()
    command = [sys.executable, str(BENCH / "bench.py"), "--tools", "iperf3"]
    command += ["--workloads", "tcp_stream", "--flows", "1"]
    env = {**os.environ, "IPERF3": str(fake), "PIDS": str(pids)}
    with subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL) as bench:
        wait_until(lambda: len(pids.read_text().split()) == 2, what="both ends have begun")
        bench.send_signal(number)
        assert bench.wait(timeout=PATIENCE_S) == (130 if number == signal.SIGINT else 128 + number)
    started = [int(pid) for pid in pids.read_text().split()]
    assert len(started) == 2
    wait_for_the_end(started)
