# SPDX-License-Identifier: Apache-2.0
"""neper's command lines do here what they do there, and its users find the keys that they know."""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path

import pytest

from neper_words import keys_of, pair
from nmtest import SOON_S, Netmodel, at_most, free_port

WORKLOADS = ("tcp_rr", "tcp_crr", "tcp_stream", "udp_rr", "udp_stream")
PARAM = re.compile(r"^  (?:-(\w)|  ) --([\w-]+)(?: (\w+))? +-D (\w+)(?:=(\w+))?(?: |;|$)")


def test_a_client_and_a_server(netmodel: Netmodel) -> None:
    args = ("-F", "10", "-T", "2", "-l", "1", "-I", "0.25", "-p", "50;99,999", "-Q", "100", "-R", "0x10")
    keys: dict[str, str] = {}

    def off() -> float:
        """By what the time is shorter than 0.999 s: an end that begins late has less of it. By what the mean is off 5 %, as
        all transactions are in it: ten flows that never rest. And by what samples are not on a line."""
        keys.update(pair(netmodel, "tcp_rr", *args[:-2], "-R", "16", server=("-T", "2", "-F", "10", "-Q", "100", "-R16")))
        seconds = float(keys["time_end"]) - float(keys["time_start"])
        filled = float(keys["latency_mean"]) * int(keys["num_transactions"]) / (10 * seconds)
        return max(0.999 - seconds, abs(filled - 1) - 0.05, 0.9 - float(keys["correlation_coefficient"]))

    at_most(off, 0)
    assert {name: keys[name] for name in ("num_flows", "num_threads", "test_length", "request_size")} == {
        "num_flows": "10",
        "num_threads": "2",
        "test_length": "1",
        "request_size": "100",
    }
    assert keys["response_size"] == "16"
    assert keys["percentiles"] == "50,99,99.9,"
    count = int(keys["num_transactions"])
    seconds = float(keys["time_end"]) - float(keys["time_start"])
    assert keys["total_run_time"] == "1"
    assert float(keys["throughput"]) == pytest.approx(count / seconds, rel=1e-4)
    assert int(keys["local_throughput"]) == int(float(keys["throughput"]))
    assert int(keys["remote_throughput"]) == pytest.approx(int(keys["local_throughput"]), rel=0.05), "each over its own time"
    assert float(keys["latency_min"]) <= float(keys["latency_p50"]) <= float(keys["latency_p99.9"])
    assert int(keys["num_samples"]) >= 3
    assert 0.9 < float(keys["correlation_coefficient"]) <= 1
    cpu = sum(float(keys[f"{name}_end"]) - float(keys[f"{name}_start"]) for name in ("utime", "stime"))
    assert 0 < cpu < 2.2 * seconds
    assert 0 < int(keys["maxrss_start"]) <= int(keys["maxrss_end"])


def test_a_unit_of_streams_leaves_transactions_alone(netmodel: Netmodel) -> None:
    words = ("-m", "tcp_rr", "-D", "num_transactions=100", "--format", "neper", "--throughput-opt", "Gb")
    keys = keys_of(netmodel.run(*words, code=0).out)
    assert int(keys["num_transactions"]) == 100
    assert float(keys["throughput"]) > 100
    assert float(keys["latency_mean"]) > 0
    assert "throughput_units" not in keys


def test_a_client_too_many_is_told_by_the_name_that_was_typed(netmodel: Netmodel) -> None:
    port = str(free_port())
    to = ("-H", "127.0.0.1", "-C", port)
    with netmodel.started("tcp_rr", "--logtostderr", "-C", port) as server:
        server.wait_line("slave listening")
        with netmodel.started("tcp_rr", "-c", *to, "-l", "60", "--verbose") as first:
            first.wait_line("phase 2 of 3 begins")
            second = netmodel.run("tcp_rr", "-c", *to, code=2)
            assert "refused: it serves 1 session and no more (--num-clients)" in second.err
            first.signal(signal.SIGINT)
            first.finish()


@pytest.mark.parametrize("workload", WORKLOADS)
def test_every_workload_runs(netmodel: Netmodel, workload: str) -> None:
    keys = pair(netmodel, workload, "-l", "200ms")
    assert float(keys["test_length"]) == 0.2
    assert float(keys["throughput"]) > 0
    assert int(keys["remote_throughput"]) > 0
    if workload.endswith("stream"):
        assert keys["throughput_units"] == "Mbit/s"
        assert keys["local_throughput"] == "0"  # it writes
        assert int(keys["remote_throughput"]) == pytest.approx(float(keys["throughput"]) * 1e6, abs=1e4)
    else:
        assert int(keys["num_transactions"]) > 0


def test_a_stream_in_another_unit(netmodel: Netmodel) -> None:
    keys = pair(netmodel, "tcp_stream", "-l", "0.2", "-B", "32k", "--throughput-opt", "auto-iB")
    unit = {"KiB/s": 1 << 10, "MiB/s": 1 << 20, "GiB/s": 1 << 30}[keys["throughput_units"]]
    assert keys["buffer_size"] == "32768"
    bytes_per_s = float(keys["throughput"]) * unit
    assert bytes_per_s == pytest.approx(int(keys["remote_throughput"]) / 8, rel=0.01)


def test_local_hosts_may_be_names(netmodel: Netmodel) -> None:
    port = str(free_port())
    with netmodel.started("tcp_rr", "--logtostderr", "-C", port) as server:
        server.wait_line("slave listening")
        names = ("-L", "localhost,127.0.0.2", "-H", "127.0.0.1", "-F", "2")
        keys = keys_of(netmodel.run("tcp_rr", "-c", "-C", port, "-l", "100ms", *names, code=0).out)
        assert server.finish().code == 0
    assert keys["local_hosts"] == "127.0.0.1,127.0.0.2"
    done = netmodel.run("tcp_rr", "-c", "-H", "::1", "-L", "127.0.0.1", code=1)
    assert done.lines()[0].endswith("; it must be of the family of --host ::1")


def test_local_hosts_that_cannot_be_are_told(netmodel: Netmodel) -> None:
    done = netmodel.run("tcp_rr", "-c", "-H", "local", "-L", "127.0.0.2,203.0.113.9", "-F", "2", code=2)
    assert done.lines()[-1].endswith(
        ": --local-hosts 127.0.0.2,203.0.113.9: 203.0.113.9 cannot be bound here: Cannot assign requested address"
    )
    port = str(free_port())
    with netmodel.started("udp_rr", "--logtostderr", "-C", port, "-H", "127.0.0.1") as server:
        server.wait_line("slave listening")
        # A name, whose family shows when it is called.
        done = netmodel.run("udp_rr", "-c", "-C", port, "-H", "localhost", "-L", "::1", code=2)
    assert ": --local-hosts ::1: ::1 is of IPv6, and 127.0.0.1, to which it is to connect, of IPv4" in done.err


def test_a_client_whose_port_is_taken_is_told_and_counts(netmodel: Netmodel) -> None:
    """Two clients at once cannot have the same: the server ends with the first, and does not wait for a third."""
    port, data = str(free_port()), str(free_port())
    client = ("tcp_rr", "-c", "-C", port, "-P", data)
    with netmodel.started("tcp_rr", "--logtostderr", "-C", port, "--num-clients", "2") as server:
        server.wait_line("slave listening")
        with netmodel.started(*client, "-l", "5", "--logtostderr") as first:
            first.wait_line("phase 2 of 3 begins")
            second = netmodel.run(*client, code=2)
            assert first.finish().code == 0
        assert server.finish().code == 0
    assert second.lines()[-1].endswith(
        f"on port {data}: Address already in use; clients at the same time need a --port each"
    )


@pytest.mark.parametrize(("workload", "flows", "threads"), [("tcp_rr", 7, 2), ("tcp_crr", 3, 1), ("udp_rr", 5, 3)])
@pytest.mark.parametrize("count", [1, 4, 1000])
def test_a_number_of_transactions(netmodel: Netmodel, workload: str, flows: int, threads: int, count: int) -> None:
    words = (workload, "-c", "-H", "local", "-l", f"-{count}", "-F", str(flows), "-T", str(threads))
    keys = keys_of(netmodel.run(*words, code=0).out)
    assert keys["num_transactions"] == keys["total_transactions"] == str(count)
    document = netmodel.run(*words, "--format", "json", code=0).json()
    assert document["totals"]["transactions"] == count
    assert document["totals"]["latency_s"]["count"] == count
    assert sum(group["transactions"] for group in document["hosts"][1]["groups"]) >= count


def test_the_last_length_counts(netmodel: Netmodel) -> None:
    dry = ("tcp_rr", "-c", "-n")
    keys = keys_of(netmodel.run(*dry, "-l", "-100", "-l", "1", code=0).out)
    assert keys["total_run_time"] == "1"
    assert keys["test_length"] == "1"
    keys = keys_of(netmodel.run(*dry, "-l", "1", "-l", "-100", "-l", "-30", code=0).out)
    assert keys["total_transactions"] == "30"
    keys = keys_of(netmodel.run("tcp_rr", "-c", "-H", "local", "-l", "-1", "-l", "200ms", code=0).out)
    assert int(keys["num_transactions"]) > 1
    assert keys["total_run_time"] == "0.2"
    # Each of them is looked at.
    done = netmodel.run(*dry, "-l", "x", "-l", "1", code=1)
    assert done.lines() == ["netmodel: --test-length x: not a time: a number, and ns, us, ms or s"]


def test_lines_of_iostat_add_up(netmodel: Netmodel) -> None:
    port = str(free_port())
    with netmodel.started("tcp_rr", "--logtostderr", "-C", port) as server:
        server.wait_line("slave listening")
        line = ("tcp_rr", "-c", "-H", "127.0.0.1", "-C", port, "-l", "0.5", "-Q", "10", "-R", "30", "--iostat-ms", "100")
        out = netmodel.run(*line, code=0).out
    rows = re.findall(
        r"^t=(?=.{10} TX)([\d.]+) * TX: (?=.{6} ops) *(\d+) ops, (?=.{10} bytes) *(\d+) bytes, (?=.{8} Mbps) *(\d+\.\d) "
        r"Mbps; RX: (?=.{6} ops) *(\d+) ops, (?=.{10} bytes) *(\d+) bytes, (?=.{8} Mbps) *(\d+\.\d) Mbps;$",
        out,
        re.MULTILINE,
    )
    count = int(keys_of(out)["num_transactions"])
    assert len(rows) >= 2
    times = [float(row[0]) for row in rows]
    assert all(re.fullmatch(r"\d+\.\d{3}", row[0]) for row in rows)
    assert times == sorted(times)
    # Its one flow may be between a request and its answer when a line is made.
    assert all(abs(sum(int(row[column]) for row in rows) - count) <= 1 for column in (1, 4))
    assert sum(int(row[2]) for row in rows) == 10 * count
    assert sum(int(row[5]) for row in rows) == 30 * count
    seconds = times[1] - times[0]
    assert float(rows[1][3]) == pytest.approx(int(rows[1][2]) * 8 / seconds / 1e6, rel=0.03, abs=0.06)


def read_rtts(path: Path, separator: str | None = None) -> dict[tuple[int, int], list[tuple[float, float]]]:
    """Times and round trips of each flow."""
    head, *rows = [[word.strip() for word in line.split(separator)] for line in path.read_text().splitlines()]
    assert head == ["timestamp", "thread_id", "flow_id", "rtt"]
    found: dict[tuple[int, int], list[tuple[float, float]]] = {}
    for at, thread, flow, rtt in rows:
        found.setdefault((int(thread), int(flow)), []).append((float(at), float(rtt)))
    return found


def test_the_log_of_round_trips(netmodel: Netmodel, tmp_path: Path) -> None:
    words = ("tcp_rr", "-c", "-H", "local", "-l", "0.5", "-F", "5", "-T", "2", "--log-rtt", "--logrtt-entries-per-flow", "200")
    keys: dict[str, str] = {}

    def too_few() -> float:
        keys.update(keys_of(netmodel.run(*words, cwd=tmp_path, code=0).out))
        return 5 * 200 - float(keys["rtt_transactions_logged"])

    at_most(too_few, 0)
    found = read_rtts(tmp_path / "rtt_samples.txt")
    assert sorted(found) == [(0, 0), (0, 2), (0, 4), (1, 1), (1, 3)]
    assert keys["rtt_transactions_logged"] == str(5 * 200)
    for entries in found.values():
        assert len(entries) == 200
        # From the begin of the transaction on, one after the other without a gap.
        before = entries[0][0] - entries[0][1]
        assert 0 <= before < 0.5
        for at, rtt in entries:
            assert at - rtt == pytest.approx(before, abs=3e-9)
            before = at


def test_the_log_of_all_round_trips_is_the_latency(netmodel: Netmodel, tmp_path: Path) -> None:
    path = tmp_path / "all.csv"
    words = ("-m", "tcp_crr", "--log-rtt", path, "--log-rtt-entries", "1000k", "--format", "json")
    document = netmodel.run(*words, "-D", "test_length=300ms", "-D", "num_flows=4", code=0).json()
    rtts = [rtt for entries in read_rtts(path, ",").values() for _, rtt in entries]
    latency = document["totals"]["latency_s"]
    assert len(rtts) == latency["count"] == document["totals"]["transactions"]
    assert min(rtts) == pytest.approx(latency["min"], abs=1e-9)
    assert max(rtts) == pytest.approx(latency["max"], abs=1e-9)
    assert sum(rtts) / len(rtts) == pytest.approx(latency["mean"], rel=1e-6)


# As neper 1.1.0 writes them, with -p 50,99.9 or not.
COLUMNS = {
    "tcp_rr": "transactions,transactions/s,utime,stime,maxrss,minflt,majflt,nvcsw,nivcsw,"
    "latency_min,latency_mean,latency_max,latency_stddev,latency_p50,latency_p99.9",
    "tcp_stream": "bytes_read,bytes_read/s,utime,stime,maxrss,minflt,majflt,nvcsw,nivcsw",
}


@pytest.mark.parametrize("workload", COLUMNS)
def test_samples_have_neper_s_columns_first(netmodel: Netmodel, tmp_path: Path, workload: str) -> None:
    """To the letter, as scripts count columns; what neper does not have is behind them."""
    more = ("-p", "50,99.9") if workload == "tcp_rr" else ("-M",)  # each end writes what it has read itself
    words = (workload, "-c", "-H", "local", "-l", "0.3", "-I", "0.1", "-F", "2", *more)
    netmodel.run(*words, "-A", cwd=tmp_path, code=0)
    netmodel.run(*words, "--all-samples=other.csv", "-Aother.csv", cwd=tmp_path, code=0)
    for name in ("samples.csv", "other.csv"):
        head, *rows = [line.split(",") for line in (tmp_path / name).read_text().splitlines()]
        wanted = ["tid", "flow_id", "time", *COLUMNS[workload].split(",")]
        assert head[: len(wanted)] == wanted
        assert head[len(wanted) : len(wanted) + 2] == ["host", "group"]
        assert {row[1] for row in rows} == {"0", "1"}
        assert all(len(row) == len(head) and row[0] == "0" and float(row[2]) > 0 for row in rows)
        assert max(int(row[3]) for row in rows) > 0


def test_the_time_of_the_whole_host(netmodel: Netmodel) -> None:
    def ticks() -> float:
        words = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
        return sum(int(words[i]) for i in (2, 5, 6)) / os.sysconf("SC_CLK_TCK")

    before = ticks()
    keys = pair(netmodel, "tcp_rr", "-l", "0.5", "-S")
    used = ticks() - before
    # Both ends are on this host, and what else it does counts as well.
    assert keys["stime_start"] == "0.000000"
    assert 0.05 < float(keys["stime_end"]) <= used + 0.05


def test_a_run_waits_before_it_starts(netmodel: Netmodel) -> None:
    late = netmodel.run("-m", "tcp_rr", "-D", "test_length=100ms", "--wait-start", "1s", code=0)
    assert late.seconds > 1.1
    with netmodel.started("-m", "tcp_rr", "--wait-start", "60s", "-v") as process:
        process.wait_line("connected to local")
        process.signal(2)
        assert process.finish().code == 130


def test_a_run_ends_when_its_time_is_over(netmodel: Netmodel) -> None:
    done = netmodel.run("tcp_rr", "-c", "-H", "local", "-l", "60", "-s", "1")
    assert done.code == 2
    assert 0.9 < done.seconds < SOON_S
    assert "longer than --suicide-length 1, in phase 2 of 3" in done.err
    assert "interrupted" not in done.err
    assert int(keys_of(done.out)["num_transactions"]) > 0


@pytest.mark.parametrize("workload", WORKLOADS)
def test_the_help_is_true(netmodel: Netmodel, workload: str) -> None:
    """Every option that stands for a parameter sets it, by either of its names."""
    values = {"BYTES": "77", "N": "7", "TEXT": "reno", "BYTES/S": "100Mb"}  # for others "3"
    text = netmodel.run(workload, "-h", code=0).out
    found = [match for line in text.splitlines() if (match := PARAM.match(line))]
    assert {"host", "num_flows", "num_threads", "test_length"} <= {match[4] for match in found}
    for letter, name, kind, param, fixed in (match.groups() for match in found):
        value = "127.0.0.3" if name == "local-hosts" else values.get(kind or "", "3" if kind else "")
        expected = fixed or {"BYTES/S": "100000000"}.get(kind or "", value or "yes")
        words = [f"--{name}={value}"] if kind else [f"--{name}"]
        lines = [words] if not letter else [words, [f"-{letter}", value] if kind else [f"-{letter}"]]
        for words in lines:
            listed = netmodel.run(workload, "-c", *words, "--params", code=0).out
            row = next(line.split() for line in listed.splitlines() if line.startswith(f"{param} "))
            assert re.fullmatch(re.escape(expected) + r"(s|ms|us|ns)?", row[2]), (words, row)
            assert row[3] == "-D"


def test_the_help_tells_what_a_rate_is(netmodel: Netmodel) -> None:
    """The option has bytes where the parameter has bits."""
    (line,) = (line for line in netmodel.run("tcp_rr", "-h", code=0).out.splitlines() if "--max-pacing-rate" in line)
    assert "--max-pacing-rate BYTES/S " in line
    assert line.endswith(" -D max_pacing_rate, in bits/s; k, m, g: 1000 bits; K, M, G: 1024 bytes")
    for word, bits in (("1", "8"), ("1M", "8388608"), ("1m", "1000000")):
        listed = netmodel.run("tcp_rr", "-c", "-m", word, "--params", code=0).out
        assert re.search(rf"^max_pacing_rate +bitrate +{bits} ", listed, re.MULTILINE), listed


def test_nothing_is_run_dry(netmodel: Netmodel) -> None:
    """The options, and how long it would take, as neper prints them."""
    keys = keys_of(netmodel.run("tcp_rr", "-c", "-n", "-F", "3", "-Q", "5k", "-I", "0.5", "-p", "50,99", code=0).out)
    wanted = {"num_flows": "3", "request_size": "5120", "interval": "0.500000", "percentiles": "50,99,"}
    assert {name: keys[name] for name in wanted} == wanted
    assert list(keys)[0] == "VERSION"
    assert list(keys)[-1] == "total_run_time"
    assert keys["total_run_time"] == "10"
    assert "throughput" not in keys
    assert keys_of(netmodel.run("tcp_rr", "-c", "-n", "-l", "-7", code=0).out)["total_transactions"] == "7"
    # Also without a client's option.
    done = netmodel.run("udp_stream", "-n", "-l", "2", "--num-clients", "5", "-4", code=0)
    assert keys_of(done.out)["total_run_time"] == "2"
    assert done.err == ""


DRY = [
    (["-C", "65536"], "--control-port 65536: not a port: a number from 0 to 65535"),
    (["-p", ",".join(map(str, (n / 2 for n in range(129))))], ": at most 128 percentiles"),
    (["-I", "1ns"], "--interval 1ns: must be 0 or at least 1ms"),
    (["--iostat-ms", "1ns"], "--iostat-ms 1ns: must be "),
    (["--logrtt-entries-per-flow", "0"], "--logrtt-entries-per-flow 0: must be 1 to 1000000000"),
    (["--logrtt-entries-per-flow", "5"], "--logrtt-entries-per-flow 5: only with --log-rtt"),
    (["-4", "-H", "::1"], "--host ::1: has no address of IPv4: "),
    (["--format", "xml"], "--format xml: must be text, json, kv, neper, uperf, csv or junit"),
    (["-Q", "0"], "(from --request-size 0)"),
]


@pytest.mark.parametrize(("args", "message"), DRY)
def test_a_dry_run_refuses_what_a_run_refuses(netmodel: Netmodel, args: list[str], message: str) -> None:
    run = netmodel.run("tcp_rr", "-c", *args, code=1)
    assert message in run.err
    for look in ("-n", "--check", "--dump-plan"):
        dry = netmodel.run("tcp_rr", "-c", look, *args, code=1)
        assert dry.err == run.err
        assert dry.out == ""


def test_versions(netmodel: Netmodel) -> None:
    assert netmodel.run("tcp_rr", "-v", code=0).out == netmodel.run("--version", code=0).out


ERRORS = [
    (["-l", "abc"], "--test-length abc: not a time: a number, and ns, us, ms or s"),
    (["-l", "5x"], "--test-length 5x: not a time: a number, and ns, us, ms or s"),
    (["-F", "10x"], "--num-flows 10x: not a number of 0 or more"),
    (["-F", "-1"], "--num-flows -1: not a number of 0 or more"),
    (["-Q", "1y"], "--request-size 1y: not a size: a number and an optional k, m, g or t"),
    (["-p", "50,"], "--percentiles 50,: not a list of percentiles: numbers from 0 to 100, as 50,99.9"),
    (["-p", "101"], "--percentiles 101: not a list of percentiles: numbers from 0 to 100, as 50,99.9"),
    (["-m", "5Xb"], "--max-pacing-rate 5Xb: not a rate: "),
    (["-x"], "-x: no option of tcp_rr; netmodel tcp_rr -h lists them"),
    (["--wrong"], "--wrong: no option of tcp_rr, or short for several; netmodel tcp_rr -h lists them"),
    (["--edge-trigger"], "--edge-trigger: no option of tcp_rr, but of tcp_stream, udp_stream, psp_stream; "),
    (["-Z"], "-Z: no option of tcp_rr, but of tcp_stream, udp_stream, psp_stream; "),
    (["--bogus=3"], "--bogus=3: no option of tcp_rr, or short for several; netmodel tcp_rr -h lists them"),
    (["--bogus", "3"], "--bogus: no option of tcp_rr, or short for several; netmodel tcp_rr -h lists them"),
    (["--num"], "--num: no option of tcp_rr, or short for several; "),
    (["--num-fl", "3x"], "--num-flows 3x: not a number of 0 or more"),
    (["-l", "99999999999999"], "--test-length 99999999999999: too large for a duration"),
    (["-D", "-5"], "--delay -5: not a time: a number, and ns, us, ms or s"),
    (["--noburst", "1m"], "--noburst 1m: not a time: a number, and ns, us, ms or s"),
    (["-t", "5q"], "--tcp-tx-delay 5q: not a time: a number, and ns, us, ms or s"),
    (["-s", "x"], "--suicide-length x: not a time: a number, and ns, us, ms or s"),
    (["-M", "-1"], "--mark -1: not a number of 0 or more"),
    (["-P", "abc"], "--port abc: not a number of 0 or more"),
    (["-B", "-1"], "--buffer-size -1: not a size: a number and an optional k, m, g or t"),
    (["-C", "70000"], "--control-port 70000: not a port: a number from 0 to 65535"),
    (["--iostat-ms", "0.001"], "--iostat-ms 0.001: must be 0 or at least 1ms"),
    (["--logrtt-entries-per-flow", "0"], "--logrtt-entries-per-flow 0: must be 1 to 1000000000"),
    (["--logrtt-entries-per-flow", "5"], "--logrtt-entries-per-flow 5: only with --log-rtt"),
    (["-I", "1us"], "--interval 1us: must be 0 or at least 1ms"),
    (["-6", "-H", "127.0.0.1"], "--host 127.0.0.1: has no address of IPv6: "),
    (["-H", "::1", "-4"], "--host ::1: has no address of IPv4: "),
    (["-L", "no such"], '--local-hosts no such: "no such" has no address of IPv4: '),
    (["-L", ","], "--local-hosts ,: not a list of addresses: one is missing beside a comma"),
    (["-L", "127.0.0.1,,b"], "--local-hosts 127.0.0.1,,b: not a list of addresses: one is missing beside a comma"),
    (["-H", "fd77::1", "-L", "10.77.0.2"], '--local-hosts 10.77.0.2: "10.77.0.2" has no address of IPv6: '),
    (["--host"], "--host: its value is missing"),
    (["-D", "1ms", "--noburst", "1ms"], "--delay and --noburst: only one of them can be"),
    (["--client=1"], "--client=1: takes no value"),
    (["-F"], "--num-flows: its value is missing"),
    (["5"], "5: not an option"),
    (["-m", "0.01"], "--max-pacing-rate 0.01: less than 1 byte/s"),
    (["-m", "1b"], "--max-pacing-rate 1b: less than 1 byte/s"),
    (["-m", "7b"], "--max-pacing-rate 7b: less than 1 byte/s"),
    (["-l", "-x"], "--test-length -x: seconds, or a number below 0: transactions"),
    (["--throughput-opt", "Mb", "--format", "xml"], "--format xml: must be text, json, kv, neper, uperf, csv or junit"),
    (["--throughput-opt", "mb"], "--throughput-opt mb: must be one of b k m g "),
]


@pytest.mark.parametrize(("args", "message"), ERRORS)
def test_mistakes_are_told(netmodel: Netmodel, args: list[str], message: str) -> None:
    done = netmodel.run("tcp_rr", "-c", *args, code=1)
    assert done.out == ""
    assert len(done.lines()) == 1
    assert done.lines()[0].startswith(f"netmodel: {message}")


OF_PROFILE = [
    ("tcp_rr", ["-F", "0"], '<group> nflows="0": must be 1 to 4000000 (from --num-flows 0)'),
    ("tcp_rr", ["-T", "0", "-F", "1"], 'nthreads="0": must be 1 to 4000000 (from --num-threads 0)'),
    ("tcp_rr", ["-T", "5"], 'must be at least nthreads="5", so that each worker has a flow (from --num-threads 5)'),
    ("tcp_rr", ["-P", "70000"], 'value "70000" (from --port 70000): not a port: a number from 0 to 65535'),
    ("tcp_rr", ["-Q", "0"], 'size="0": must be 1 to 1125899906842624 (1.00 PiB) (from --request-size 0)'),
    ("tcp_rr", ["--num-ports", "5000"], 'num_ports="5000": must be 1 to 1024 (from --num-ports 5000)'),
    ("tcp_rr", ["--mark", "5000000000"], "must be 0 to 4294967295 (from --mark 5000000000)"),
    ("tcp_rr", ["--source-port", "65535", "-F", "3"], "the last is 65535 (from --source-port 65535)"),
    ("tcp_rr", ["-l", "0"], 'duration="0s": must be at least 1 ns (from --test-length 0)'),
    ("tcp_stream", ["-l", "0"], 'duration="0s": must be at least 1 ns (from --test-length 0)'),
    ("tcp_stream", ["-B", "0"], 'size="0": must be 1 to 1125899906842624 (1.00 PiB) (from --buffer-size 0)'),
    ("tcp_rr", ["--congestion-control", "nosuch"], "(from --congestion-control nosuch)"),
    ("udp_stream", ["-B", "70000"], "a message over udp has at most 65507 bytes (from --buffer-size 70000)"),
    ("udp_rr", ["-Q", "100000"], "a message over udp has at most 65507 bytes (from --request-size 100000)"),
]


@pytest.mark.parametrize(("workload", "args", "message"), OF_PROFILE)
def test_what_the_profile_refuses_is_told_by_neper_s_options(
    netmodel: Netmodel, workload: str, args: list[str], message: str
) -> None:
    """And not by those into which they were translated."""
    done = netmodel.run(workload, "-c", *args, code=1)
    assert len(done.lines()) == 1
    assert message in done.err
    assert "-D" not in done.err


@pytest.mark.parametrize("workload", [*WORKLOADS, "psp_rr", "psp_crr", "psp_stream"])
def test_what_is_short_for_one_of_neper_s_options_is_that(netmodel: Netmodel, workload: str) -> None:
    """Whatever netmodel's own are called. A build of neper without libnuma has no --pin-numa."""
    listed = re.findall(r"^  (?:-\w|  ) --([\w-]+)", netmodel.run(workload, "-h", code=0).out, re.MULTILINE)
    names = [name for name in listed if name not in ("pin-numa", "help", "version")]
    # Each with a value that none takes: the error tells which option it was.
    bad = {"local-hosts": ",", "percentiles": "x", "host": None, "all-samples": None, "log-rtt": None}
    bad |= {"congestion-control": None, "throughput-opt": None}
    shorts = {name[:length]: name for name in names for length in range(1, len(name))}
    shorts = {short: name for short, name in shorts.items() if [n.startswith(short) for n in names].count(True) == 1}
    assert {"iostat": "iostat-ms", "cont": "control-port", "pi": "pin-cpu", "st": "stime-use-proc"}.items() <= shorts.items()
    words = [f"--{short}={bad.get(name, '7x')}" for short, name in shorts.items() if bad.get(name, "x")]
    told = netmodel.run(workload, "-c", *words, code=1).lines()
    assert len(told) == len(words)
    for word, line in zip(words, told):
        name = shorts[word[2:].partition("=")[0]]
        flag = line == f"netmodel: {word}: takes no value"
        assert flag or line.startswith(f"netmodel: --{name} "), (word, line)


def test_netmodel_s_names_that_are_short_for_neper_s(netmodel: Netmodel) -> None:
    dry = ("tcp_rr", "-c", "-n")
    netmodel.run(*dry, "--control", "12999", "--control", "tcp", code=0)
    done = netmodel.run(*dry, "--control", "70000", code=1)
    assert done.lines() == ["netmodel: --control-port 70000: not a port: a number from 0 to 65535"]
    done = netmodel.run("tcp_rr", "-c", "-H", "local", "-l", "0.5", "--iostat", "100", code=0)
    assert done.out.count("\nt=") + done.out.startswith("t=") >= 2


def test_nothing_is_a_number_too(netmodel: Netmodel) -> None:
    """Where neper has a meaning for it."""
    done = netmodel.run("tcp_rr", "-c", "-H", "local", "-l", "0.3", "--iostat-ms", "0", "--num-ports", "0", code=0)
    assert "t=" not in [line[:2] for line in done.out.splitlines()]
    assert keys_of(done.out)["num_ports"] == "1"


def test_options_of_other_workloads_are_told_with_them(netmodel: Netmodel) -> None:
    done = netmodel.run("tcp_stream", "-c", "-Q", "5", "--noburst", "7", "-z", "--skip-rx-copy", code=1)
    assert done.lines() == [
        "netmodel: -Q: no option of tcp_stream, but of tcp_rr, tcp_crr, udp_rr, psp_rr, psp_crr; "
        "netmodel tcp_stream -h lists those it has",
        "netmodel: --noburst: no option of tcp_stream, but of tcp_rr, psp_rr; netmodel tcp_stream -h lists those it has",
        "netmodel: --rx-zerocopy and --skip-rx-copy: only one of them can be",
    ]


def test_parameters_are_told_as_they_were_given(netmodel: Netmodel) -> None:
    both = "-D rx_zerocopy=yes, -D skip_rx_copy=yes"
    done = netmodel.run("-m", "tcp_stream", "-D", "skip_rx_copy=yes", "-D", "rx_zerocopy=yes", "--check", code=1)
    assert f": discard and rx_zerocopy: only one of them can be (from {both})" in done.err
    done = netmodel.run("tcp_stream", "-c", "-z", "--define", "skip_rx_copy=yes", "-n", code=1)
    assert "can be (from --rx-zerocopy, -D skip_rx_copy=yes)" in done.err
    done = netmodel.run("tcp_stream", "-c", "-H", "local", "-r", "-l", "0.1", "--define", "no_cork=no", code=0)
    assert "more has no effect: what follows on its connection is a read (from -D no_cork=no, --enable-read)" in done.err


def test_what_has_no_effect_is_told(netmodel: Netmodel) -> None:
    done = netmodel.run("tcp_rr", "-c", "-H", "local", "-l", "50ms", "--magic", "5", code=0)
    assert done.lines() == ["netmodel: warning: --magic: has no effect: each run has a random number of its own"]


def test_a_parameter_may_be_given_where_neper_has_no_delay(netmodel: Netmodel) -> None:
    out = netmodel.run("tcp_crr", "-c", "-H", "local", "-Dmaxevents=7", "-D", "wait=spin", "--params", code=0).out
    assert re.search(r"^maxevents +count +7 ", out, re.MULTILINE)
    assert re.search(r"^wait +enum +spin ", out, re.MULTILINE)
    for value in ("10us", "-5", ""):
        done = netmodel.run("tcp_crr", "-c", "-D", value, code=1)
        assert done.err.startswith("netmodel: -D: no option of tcp_crr, but of tcp_rr, "), done
    assert netmodel.run("tcp_crr", "-c", "-D", code=1).err == "netmodel: -D: its value is missing\n"


def test_parameters_that_neper_does_not_have_may_be_given(netmodel: Netmodel) -> None:
    """neper's -D is a delay, which has no name before it."""
    out = netmodel.run("tcp_rr", "-c", "-H", "local", "-D", "5us", "-Dedge_trigger=no", "-D", "maxevents=7", "--params", code=0).out
    for name, value in (("delay", "5us"), ("edge_trigger", "no"), ("maxevents", "7")):
        assert re.search(rf"^{name} +\w+ +{value} ", out, re.MULTILINE), out
    refused = netmodel.run("tcp_rr", "-c", "-H", "local", "-D", "xyzzy=1", code=1)
    assert 'the profile has no parameter "xyzzy"' in refused.err


def test_warnings_of_a_run_are_told(netmodel: Netmodel) -> None:
    """Beside the keys, among which neper has none for them."""
    result = netmodel.run("tcp_stream", "-c", "-H", "local", "-l", "0.2", "-z", "-B", "1000", code=0)
    (line,) = result.lines()
    assert line.startswith("netmodel: warning: rx_zerocopy: less than 10 %")
    assert "warning" not in result.out


def test_options_that_are_taken_for_parameters_are_told(netmodel: Netmodel) -> None:
    result = netmodel.run("-m", "tcp_rr", "-D", "all_samples=x.csv", code=1)
    assert "-D all_samples: not a parameter, but an option: did you mean --all-samples x.csv?" in result.err


def test_nothing_measured_has_no_samples(netmodel: Netmodel) -> None:
    result = netmodel.run("tcp_rr", "-c", "-C", str(free_port()), "--wait-slaves", "10ms", code=2)
    assert not {"num_samples", "num_transactions", "throughput"} & set(keys_of(result.out))


def test_netmodels_own_options_may_be_given_too(netmodel: Netmodel) -> None:
    document = netmodel.run("tcp_rr", "-c", "-H", "local", "-l", "300ms", "--warmup", "100ms", "--format", "json", code=0)
    assert document.json()["run"]["warmup_s"] == 0.1


@pytest.mark.parametrize("interval", ["0", "400ms"])
def test_what_the_slaves_read_in_a_part_of_the_run(netmodel: Netmodel, interval: str) -> None:
    """With a grid that the window does not begin on, or none: only what came in the window counts, at one rate."""
    words = ("tcp_stream", "-c", "-H", "local", "-l", "0.8", "-I", interval, "--warmup", "600ms", "-m", "10M", "-B", "1k")

    def off() -> float:
        """By what part of the rate, at worst."""
        keys = keys_of(netmodel.run(*words, code=0).out)
        assert 0.15 < float(keys["time_end"]) - float(keys["time_start"]) < 0.5
        kv = keys_of(netmodel.run(*words, "--format", "kv", code=0).out)
        for found in (keys, kv):
            assert int(found["remote_throughput"]) == pytest.approx(float(found["throughput"]) * 1e6, rel=1e-3)
        # At 10 MiB/s, so much in so long; and what came before is not among it.
        window = float(kv["remote_time_end"]) - float(kv["remote_time_start"])
        assert window < float(kv["elapsed_time"]) - 0.4
        rates = [float(found["throughput"]) / (8 * 10 * 1.048576) for found in (keys, kv)]
        return max(abs(rate - 1) for rate in (*rates, int(kv["remote_bytes_received"]) / (10 * 2**20 * window)))

    at_most(off, 0.25)


def test_the_rate_of_the_other_end_in_a_part_of_the_run(netmodel: Netmodel) -> None:
    words = ("tcp_rr", "-c", "-H", "local", "-l", "0.8", "-I", "0", "--warmup", "500ms")
    keys = keys_of(netmodel.run(*words, code=0).out)
    assert int(keys["remote_throughput"]) == pytest.approx(int(keys["local_throughput"]), rel=0.1)
    assert keys["num_samples"] == "1"
    assert float(keys["correlation_coefficient"]) == 1


def test_flows_of_tcp_crr_are_the_same_at_both_ends_of_a_port(netmodel: Netmodel) -> None:
    """There each connection says whose it is."""
    words = ("tcp_crr", "-c", "-H", "local", "-F", "5", "-T", "2", "-l", "-503", "-P", str(free_port()), "--strands")
    document = netmodel.run(*words, "--format", "json", code=0).json()
    ours, theirs = (
        [strand["operations"] for strand in groups[0]["flow_totals"]]
        for groups in (document["groups"], document["hosts"][1]["groups"])
    )
    assert ours == theirs
    assert len(ours) == 5 and len(set(ours)) > 1, "503 are not shared out evenly over 5"


@pytest.mark.parametrize("form", ["neper", "kv"])
def test_the_cpus_of_the_workers_are_told(netmodel: Netmodel, form: str) -> None:
    cpus = sorted(os.sched_getaffinity(0))
    keys = keys_of(netmodel.run("tcp_rr", "-c", "-H", "local", "-l", "-20", "-U", "--format", form, code=0).out)
    told: list[int] = []
    for part in keys["allowed_cores"].split(","):
        first, _, last = part.partition("-")
        told += range(int(first), int(last or first) + 1)
    assert told == cpus
    assert int(keys["allowed_core_num"]) == len(cpus)
    assert keys["total_transactions"] == "20"


@pytest.mark.parametrize("form", ["neper", "kv"])
@pytest.mark.parametrize("direction", [[], ["-M"]])
def test_what_was_mapped_is_told(netmodel: Netmodel, form: str, direction: list[str]) -> None:
    """Of the end that reads; over loopback it may be nothing."""
    words = ("tcp_stream", "-c", "-H", "local", "-l", "0.2", "-z", "-B", "64k", *direction)
    keys = keys_of(netmodel.run(*words, "--format", form, code=0).out)
    assert 0 <= int(keys["percent_mmaped"]) <= 100
    assert int(keys["bytes_mmaped"]) > 0 or int(keys["percent_mmaped"]) == 0
    if form == "kv" and not direction:
        assert keys["remote_bytes_mmaped"] == keys["bytes_mmaped"]
