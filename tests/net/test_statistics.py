# SPDX-License-Identifier: Apache-2.0
"""Statistics that are kept when they are asked for: tables, raw lines, counters, the log of responses."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from nmtest import (
    PATIENCE_S,
    Json,
    Netmodel,
    Node,
    assert_complete,
    assert_ends_agree,
    at_most,
    children,
    defines,
    slaves_of,
)

WriteProfile = Callable[..., Path]
Validate = Callable[[Json], None]

# What users of uperf find its figures with.
K8S_NETPERF = r"timestamp_ms:(.*) name:Txn2 nr_bytes:(.*) nr_ops:(.*)"
K8S_NETPERF_TERMINAL = K8S_NETPERF + r"\r"
WRAPPER_PROFILE = r"running profile:(.*) \.\.\."
LINE = re.compile(r"^timestamp_ms:(\d+\.\d{4}) name:(\S+) nr_bytes:(\d+) nr_ops:(\d+)$", re.MULTILINE)

OPEN = '<transaction><flowop type="connect" options="remotehost=local protocol=tcp nodelay"/></transaction>'
CLOSE = '<transaction><flowop type="disconnect"/></transaction>'


def group(body: str, attributes: str = 'nthreads="2"', how: str = 'iterations="50"') -> str:
    return f"<group {attributes}>{OPEN}<transaction {how}>{body}</transaction>{CLOSE}</group>"


MIXED = group(
    '<flowop type="write" options="count=10 size=100"/><flowop type="read" options="size=3k"/>'
    '<flowop type="nop" options="count=2"/><flowop type="think" options="duration=10us"/>',
    'nthreads="2" nflows="6" name="mixed"',
)
STREAM = group('<flowop type="write" options="size=64k"/>', 'nthreads="1" name="stream"', 'duration="200ms"')


def sums(parts: list[Json]) -> Counter[str]:
    """What parts of something have done, added up."""
    keys = ("operations", "bytes_sent", "bytes_received", "errors")
    return Counter({key: sum(part[key] for part in parts) for key in keys})


def flowops_of(phase: Json) -> dict[str, Json]:
    return {flowop["flowop"]: flowop for flowop in phase["flowops"]}


def table(text: str, first: str) -> list[dict[str, str]]:
    """The rows of the table whose first column is called so, all its blocks; a cell is what two spaces part."""
    rows: list[dict[str, str]] = []
    for block in re.split(r"\n\s*\n", text):
        lines = [re.split(r"\s{2,}", line.strip()) for line in block.splitlines()]
        begin = next((n for n, line in enumerate(lines) if len(line) > 1 and line[0] == first), None)
        if begin is None:
            continue
        cells = [dict(zip(lines[begin], line)) for line in lines[begin + 1 :]]
        rows = [row | more for row, more in zip(rows, cells)] if rows else cells
    assert rows, f"no table {first} in:\n{text}"
    return rows


# --- one accounting ---


PROCESSES = MIXED.replace('nthreads="2" nflows="6"', 'nprocs="3"').replace('"mixed"', '"processes"')
DATAGRAMS = MIXED.replace("protocol=tcp nodelay", "protocol=udp").replace('"mixed"', '"datagrams"')
# A relay between two hosts: what the one has sent beyond the last pass is taken when the phase is over.
RELAY = """<group nthreads="2" name="relay">
<transaction><flowop type="connect" options="remotehost=127.0.0.1 protocol=tcp conn=1"/>
<flowop type="connect" options="remotehost=localhost protocol=tcp conn=2"/></transaction>
<transaction duration="100ms"><flowop type="write" options="size=1k conn=1"/>
<flowop type="read" options="size=1k conn=2"/></transaction>
<transaction><flowop type="disconnect" options="conn=1"/><flowop type="disconnect" options="conn=2"/></transaction>
</group>"""


def assert_adds_up(host: Json, part: Json, counted: Json) -> None:
    """A group of a host: its flowops, its transactions, its strands, and what the host has counted by itself."""
    for phase in part["phases"]:
        whole = sums(phase["flowops"])
        assert whole["operations"] == phase["operations"]
        assert whole["bytes_sent"] == phase["bytes_sent"]
        assert whole["bytes_received"] == phase["bytes_received"]
        assert phase["latency_s"]["count"] == phase["transactions"]
        for flowop in phase["flowops"]:
            assert flowop["time_s"]["count"] == flowop["operations"], flowop
    assert sums(part["phases"]) == sums(part["flow_totals"])
    assert sums(part["phases"])["bytes_sent"] == counted["bytes_sent"]
    assert sums(part["phases"])["bytes_received"] == counted["bytes_received"]
    assert sums(part["phases"])["operations"] == part["operations"]
    assert counted["bytes_sent"] + counted["bytes_received"] > 0, host["name"]


@pytest.mark.parametrize(
    "groups", [MIXED + STREAM, PROCESSES, DATAGRAMS, RELAY], ids=["threads", "processes", "datagrams", "relay"]
)
def test_parts_add_up_to_totals(netmodel: Netmodel, profile: WriteProfile, validate: Validate, groups: str) -> None:
    with netmodel.slave() as slave:
        document = netmodel.measure(profile(groups), "-a", "-p", "-e", "-P", str(slave.port))
    validate(document)
    assert_complete(document)
    for host in document["hosts"]:
        parts = document["groups"] if host["role"] == "master" else host["groups"]
        assert len(parts) == len(host["groups"])
        for part, counted in zip(parts, host["groups"]):
            assert_adds_up(host, part, counted)
        assert sum(part["operations"] for part in parts) == host["operations"]


def test_the_receiving_end_has_operations_too(netmodel: Netmodel, profile: WriteProfile, tmp_path: Path) -> None:
    """Also of what no profile can name: the other end of files and of messages that cross."""
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "one").write_bytes(b"1" * 30_000)
    body = (
        f'<flowop type="sendfile" options="dir={tmp_path / "files"} size=10m count=2"/>'
        f'<flowop type="sendfilev" options="dir={tmp_path / "files"} nfiles=3"/>'
        '<flowop type="exchange" options="size=100 count=3"/>'
    )
    document = netmodel.measure(profile(group(body)), "-a")
    assert_complete(document)
    slave = slaves_of(document)[0]
    received = [(flowop["flowop"], flowop["operations"]) for flowop in slave["groups"][0]["phases"][1]["flowops"]]
    assert received == [("recvfile", 2 * 50 * 2), ("recvfile", 2 * 50), ("exchanged", 2 * 50 * 3)]
    assert slave["operations"] == document["hosts"][0]["operations"] == 2 * 50 * 6 + 2 * 2
    assert_adds_up(slave, slave["groups"][0], {**sums(slave["groups"][0]["phases"])})


def test_operations_are_executions_of_flowops(netmodel: Netmodel, profile: WriteProfile) -> None:
    document = netmodel.measure(profile(MIXED), "-f")
    opening, work, closing = document["groups"][0]["phases"]
    passes = 6 * 50
    assert {name: part["operations"] for name, part in flowops_of(work).items()} == {
        "write": 10 * passes,
        "read": passes,
        "nop": 2 * passes,
        "think": passes,
    }
    assert (opening["operations"], work["operations"], closing["operations"]) == (6, 14 * passes, 6)
    assert flowops_of(work)["write"]["bytes_sent"] == 1000 * passes
    assert flowops_of(work)["read"]["bytes_received"] == 3072 * passes
    # What has no other end is not counted there, and what the compiler adds is counted nowhere.
    (slave,) = slaves_of(document)
    mirrored = flowops_of(slave["groups"][0]["phases"][1])
    assert mirrored["read"]["operations"] == 10 * passes
    assert mirrored["write"]["operations"] == passes
    assert [part["flowop"] for part in slave["groups"][0]["phases"][0]["flowops"]] == ["accept"]


def test_times_of_flowops_add_up_to_those_of_passes(netmodel: Netmodel, profile: WriteProfile) -> None:
    body = '<flowop type="write" options="size=10"/><flowop type="read" options="size=10"/>'
    body += '<flowop type="think" options="duration=2ms"/>'
    document = netmodel.measure(profile(group(body, 'nthreads="1"', 'iterations="20"')), "-f", "-t")
    work = document["groups"][0]["phases"][1]
    think = flowops_of(work)["think"]["time_s"]
    assert 0.002 <= think["min"] <= think["p50"] <= think["p99"] <= think["max"]
    flowops = sum(part["time_s"]["mean"] * part["operations"] for part in work["flowops"])
    passes = work["pass_s"]["mean"] * work["transactions"]
    assert flowops <= passes * 1.000001
    assert flowops == pytest.approx(passes, rel=0.05)


def test_pauses_for_a_rate_are_in_no_flowop(netmodel: Netmodel, profile: WriteProfile) -> None:
    body = '<flowop type="write" options="size=10"/><flowop type="read" options="size=10"/>'
    document = netmodel.measure(profile(group(body, 'nthreads="1"', 'duration="300ms" rate="50"')), "-f", "-T")
    work = document["groups"][0]["phases"][1]
    assert work["operations"] == 2 * work["transactions"]
    assert 13 <= work["transactions"] <= 16
    # Twenty milliseconds lie between passes.
    assert flowops_of(work)["write"]["time_s"]["p50"] < 0.01
    assert document["groups"][0]["flow_totals"][0]["seconds"] < 0.15


def test_tables_say_whose_rates_and_responses_they_have(netmodel: Netmodel, profile: WriteProfile) -> None:
    """A strand that waits most of the time has the rate of what it has moved, not of the moments in which it did."""
    body = '<flowop type="write" options="size=10"/><flowop type="read" options="size=10"/>'
    paced = group(body, 'nthreads="1" name="api"', 'duration="500ms" rate="50"')
    out = netmodel.run("-m", profile(paced + STREAM), "-g", "-T", code=0).out
    groups, strands = (
        {row["host"]: row for row in table(out, name) if row["group" if name == "Strand" else name] == "api"}
        for name in ("Group", "Strand")
    )
    for host in ("master", "local"):
        assert strands[host]["rate"] == groups[host]["rate"]
        assert strands[host]["op/s"] == groups[host]["op/s"]
        assert 80 <= int(strands[host]["op/s"]) <= 110
    assert re.search(r"^  response \(api\)  ", out, re.MULTILINE), out
    rows = {row["group"]: row for row in table(out, "group")}
    assert rows["api"]["response p99"] != "-"
    assert rows["stream"]["response max"] == "-"
    alone = netmodel.run("-m", profile(paced), code=0).out
    assert re.search(r"^  response  ", alone, re.MULTILINE), alone


def test_expected_failures_are_operations_with_errors(netmodel: Netmodel, profile: WriteProfile) -> None:
    # The other end thinks longer than the read waits.
    body = '<flowop type="write" options="size=10"/><flowop type="think" options="duration=20ms at=slave"/>'
    body += '<flowop type="read" options="size=10 timeout=5ms canfail"/>'
    document = netmodel.measure(profile(group(body, 'nthreads="1"', 'iterations="4"')), "-f", "-T")
    work = document["groups"][0]["phases"][1]
    read = flowops_of(work)["read"]
    assert read["operations"] == 4
    assert 1 <= read["errors"] == work["errors"]
    assert sum(strand["errors"] for strand in document["groups"][0]["flow_totals"]) == read["errors"]


def test_a_wait_that_is_given_up_is_an_operation(netmodel: Netmodel, profile: WriteProfile) -> None:
    # The passes last so long that the first answers come within the run, late: with none at all it would be incomplete.
    body = '<flowop type="write" options="size=100"/><flowop type="think" options="duration=20ms at=slave"/>'
    body += '<flowop type="read" options="size=100 timeout=5ms"/>'
    text = group(body, 'nthreads="1"', 'iterations="8"').replace("protocol=tcp nodelay", "protocol=udp")
    document = netmodel.measure(profile(text), "-f", "-T")
    work = document["groups"][0]["phases"][1]
    assert (work["transactions"], work["messages"]["unanswered"]) == (0, 8)
    read = flowops_of(work)["read"]
    assert read["operations"] == read["time_s"]["count"] == 8
    assert read["time_s"]["min"] >= 0.005
    assert work["operations"] == 16
    assert sums(document["groups"][0]["flow_totals"]) == sums(document["groups"][0]["phases"])


def test_cpu_time_of_flowops(netmodel: Netmodel, profile: WriteProfile) -> None:
    body = '<flowop type="think" options="duration=2ms busy"/><flowop type="write" options="size=10"/>'
    body += '<flowop type="think" options="duration=2ms idle"/>'
    path = profile(group(body, 'nthreads="1"', 'iterations="25"'))
    work = netmodel.measure(path, "-p")["groups"][0]["phases"][1]
    busy, write, idle = work["flowops"]
    assert 0.01 <= busy["cpu_s"] <= 0.08
    assert 0 < write["cpu_s"] < busy["cpu_s"]
    assert idle["cpu_s"] < busy["cpu_s"] / 4
    assert busy["time_s"]["p50"] >= 0.002
    plain = netmodel.measure(path, "-f")["groups"][0]["phases"][1]
    assert [flowop["cpu_s"] for flowop in plain["flowops"]] == [None] * 3
    rows = table(netmodel.run("-m", path, "-p", code=0).out, "Flowop")
    assert next(row for row in rows if row["Flowop"] == "think")["cpu"] != "-"


# --- tables ---


def test_nothing_of_it_without_being_asked(netmodel: Netmodel, profile: WriteProfile, validate: Validate) -> None:
    path = profile(MIXED)
    document = netmodel.measure(path)
    validate(document)
    assert "difference" not in document["run"]
    assert "responses" not in document["run"]
    assert not {"operations", "flow_totals"} & document["groups"][0].keys()
    assert not {"operations", "flowops"} & document["groups"][0]["phases"][1].keys()
    assert not {"operations", "elapsed_s", "counters"} & slaves_of(document)[0].keys()
    out = netmodel.run("-m", path, code=0).out
    for word in ("Txn", "Flowop", "Strand", "Nic", "Run Statistics", "timestamp_ms"):
        assert word not in out


@pytest.mark.parametrize(
    ("flag", "long", "word"),
    [
        ("-f", "--flowops", "Flowop"),
        ("-t", "--transactions", "Txn"),
        ("-g", "--groups", "Group"),
        ("-T", "--strands", "Strand"),
        ("-k", "--interfaces", "Nic"),
        ("-e", "--default-counters", "Counter"),
    ],
)
def test_each_table_by_itself(netmodel: Netmodel, profile: WriteProfile, flag: str, long: str, word: str) -> None:
    words = {"Flowop", "Txn", "Group", "Strand", "Nic", "Counter"}
    path = profile(MIXED)
    for name in (flag, long):
        out = netmodel.run("-m", path, name, code=0).out
        assert table(out, word)
        assert {other for other in words if re.search(rf"^  {other}  ", out, re.MULTILINE)} == {word}
        assert "Run Statistics" in out
        # The report of every run is there as well.
        assert re.search(r"^  transactions +\S+/s", out, re.MULTILINE)


def test_all_tables(netmodel: Netmodel, profile: WriteProfile) -> None:
    out = netmodel.run("-m", profile(MIXED + STREAM), "-a", "--percentiles", "50,99,99.99", code=0).out
    times = ["Count", "avg", "cpu", "max", "min", "p50", "p99", "p99.99"]
    flowops = table(out, "Flowop")
    assert list(flowops[0])[4:] == times
    assert {row["host"] for row in flowops} == {"master", "local"}
    write = next(row for row in flowops if (row["Flowop"], row["host"], row["group"]) == ("write", "master", "mixed"))
    assert (write["txn"], write["Count"]) == ("Txn1", "3000")
    assert re.fullmatch(r"[\d.]+ (ns|us|ms|s)", write["avg"])
    transactions = table(out, "Txn")
    assert list(transactions[0])[4:] == times
    assert [row["Txn"] for row in transactions if row["host"] == "master"] == ["Txn0", "Txn1", "Txn2"] * 2
    groups = table(out, "Group")
    assert [(row["Group"], row["host"], row["strands"]) for row in groups] == [
        ("mixed", "master", "6"),
        ("stream", "master", "1"),
        ("mixed", "local", "6"),
        ("stream", "local", "1"),
    ]
    assert groups[0]["operations"] == str(6 + 14 * 300 + 6)
    strands = table(out, "Strand")
    assert [row["Strand"] for row in strands if row["host"] == "master"] == [f"Thr{n}" for n in range(6)] + ["Thr0"]
    assert {row["Nic"] for row in table(out, "Nic")} >= {"lo"}


def test_interfaces_that_are_silent_are_not_listed(netmodel: Netmodel, nodes: Callable[[int], list[Node]]) -> None:
    here, there = nodes(2)
    with netmodel.slave("--no-auth", prefix=there.prefix) as slave:
        args = defines(host=there.address, test_length="200ms")
        profile = Path(__file__).parents[2] / "profiles" / "tcp_rr.xml"
        out = netmodel.run("-m", profile, "-k", "-P", str(slave.port), *args, prefix=here.prefix, code=0).out
    rows = table(out, "Nic")
    assert {(row["Nic"], row["host"]) for row in rows} == {("eth0", "master"), ("eth0", there.address)}
    assert all(int(row["opkts/s"]) > 0 and row["ibits/s"].endswith("b/s") for row in rows)


def test_run_statistics(netmodel: Netmodel, profile: WriteProfile) -> None:
    path = profile(MIXED)
    rows = table(netmodel.run("-m", path, "-a", code=0).out, "Hostname")
    assert list(rows[0]) == ["Hostname", "Time", "Data", "Throughput", "Operations", "Errors"]
    assert [row["Hostname"] for row in rows] == ["local", "master", "Difference(%)"]
    assert rows[2]["Data"] == "0.00%"
    assert rows[2]["Errors"] == "0.00%"
    assert rows[0]["Data"] == rows[1]["Data"]
    document = netmodel.measure(path, "-g")
    operations = [host["operations"] for host in document["hosts"]]
    difference = document["run"]["difference"]
    assert difference["data_percent"] == 0
    assert difference["operations_percent"] == pytest.approx(100 - 100 * operations[1] / operations[0])
    assert abs(difference["time_percent"]) < 30


def test_two_slaves_have_a_total(netmodel: Netmodel, profile: WriteProfile) -> None:
    with netmodel.slave() as slave:
        text = STREAM.replace("remotehost=local", "remotehost=127.0.0.1")
        other = STREAM.replace("remotehost=local", "remotehost=localhost").replace('"stream"', '"other"')
        out = netmodel.run("-m", profile(text + other), "-P", str(slave.port), "-g", code=0).out
    rows = table(out, "Hostname")
    assert [row["Hostname"] for row in rows] == ["127.0.0.1", "localhost", "Total", "master", "Difference(%)"]
    assert int(rows[0]["Operations"]) + int(rows[1]["Operations"]) == int(rows[2]["Operations"])
    assert rows[4]["Data"] == "0.00%"
    assert rows[4]["Operations"] == "0.00%"


def test_a_lost_slave_has_no_figures(netmodel: Netmodel, profile: WriteProfile, validate: Validate) -> None:
    path = profile(group('<flowop type="write" options="size=1k"/>', 'nthreads="1"', 'duration="5s"'))
    with netmodel.slave() as slave:
        text = path.read_text().replace("remotehost=local", "remotehost=127.0.0.1")
        path.write_text(text)
        with netmodel.started("-m", path, "-a", "-v", "-P", str(slave.port)) as master:
            master.wait_line("phase 2")
            for pid in children(slave.pid):
                os.kill(pid, 9)
            result = master.finish()
    assert result.code == 2
    rows = table(result.out, "Hostname")
    assert [row["Hostname"] for row in rows] == ["127.0.0.1", "master"]
    assert rows[0]["Data"] == rows[0]["Operations"] == "-"
    assert rows[1]["Data"] != "-"


# --- lines for programs ---


def lines_of(out: str) -> list[tuple[float, str, int, int]]:
    return [(float(ms), name, int(size), int(ops)) for ms, name, size, ops in LINE.findall(out)]


@pytest.mark.alone
def test_raw_lines(netmodel: Netmodel, profile: WriteProfile) -> None:
    text = group('<flowop type="write" options="size=100"/>', 'nthreads="2"', 'duration="1"') + STREAM
    before = time.time() * 1000
    out = netmodel.run("-m", profile(text), "-R", "-i", "100ms", code=0).out
    after = time.time() * 1000
    lines = lines_of(out)
    names = [name for _, name, _, _ in lines]
    assert names == ["Txn1"] * 2 + ["Txn2"] * 11 + ["Txn3"] * 2 + ["Total"]
    stamps = [ms for ms, _, _, _ in lines]
    assert stamps == sorted(stamps)
    assert before <= stamps[0] <= stamps[-1] <= after
    for number in (1, 2, 3):
        own = [(size, ops) for _, name, size, ops in lines if name == f"Txn{number}"]
        assert own[0] == (0, 0)
        assert own == sorted(own)
    work = [line for line in lines if line[1] == "Txn2"]
    for earlier, later in zip(work, work[1:]):
        assert 0 < later[0] - earlier[0] < 250
        assert later[3] > earlier[3]
    assert work[-1][0] - work[0][0] == pytest.approx(1000, abs=100)
    ends = [[line for line in lines if line[1] == f"Txn{number}"][-1] for number in (1, 2, 3)]
    assert lines[-1][2] == sum(end[2] for end in ends)
    assert lines[-1][3] == sum(end[3] for end in ends)
    assert (ends[0][3], ends[2][3]) == (3, 3)


def test_raw_lines_end_with_groups_and_strands(netmodel: Netmodel, profile: WriteProfile) -> None:
    out = netmodel.run("-m", profile(group('<flowop type="write" options="size=100"/>') + STREAM), "-R", "-a").out
    lines = lines_of(out)
    at = [name for _, name, _, _ in lines].index("Total")
    assert [name for _, name, _, _ in lines[at + 1 :]] == ["Group0", "stream", "Thr0", "Thr1", "Thr0"]
    total, parts, strands = lines[at], lines[at + 1 : at + 3], lines[at + 3 :]
    for part in (parts, strands):
        assert sum(line[2] for line in part) == total[2]
        assert sum(line[3] for line in part) == total[3]


def test_wrappers_find_what_they_look_for(netmodel: Netmodel, tmp_path: Path) -> None:
    path = tmp_path / "wrapped.xml"
    body = '<flowop type="write" options="count=16 size=1024"/>'
    groups = group(body, how='duration="3"')
    path.write_text(f'<profile name="stream-tcp-1024-1024-1">{groups}</profile>\n')
    result = netmodel.run("-m", path, "-v", "-a", "-R", "-i", "1", code=0)
    # benchmark-wrapper: the words of the profile's name, and all lines of the second transaction.
    config = re.findall(WRAPPER_PROFILE, result.out)[0]
    assert config.split("-") == ["stream", "tcp", "1024", "1024", "1"]
    found = [(float(ms), int(size), int(ops)) for ms, size, ops in re.findall(K8S_NETPERF, result.out)]
    assert len(found) == 4
    # Both take the difference of one line and the one before it.
    for earlier, later in zip(found, found[1:]):
        operations = later[2] - earlier[2]
        assert operations > 0
        assert 0 < (later[0] - earlier[0]) / operations * 1000
        assert (later[1] - earlier[1]) / operations == pytest.approx(1024, rel=0.01)
    assert found[-1][1] == 1024 * found[-1][2]
    # What -v tells is elsewhere.
    assert "phase 1 of 3 begins" in result.err
    assert "begins" not in result.out


def test_raw_lines_on_a_terminal(netmodel: Netmodel, profile: WriteProfile) -> None:
    path = profile(group('<flowop type="write" options="size=100"/>', how='duration="250ms"'))
    main, terminal = pty.openpty()
    with subprocess.Popen(
        [str(netmodel.binary), "-m", str(path), "-a", "-R", "-i", "100ms"],
        stdout=terminal,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        env=netmodel.env,
    ) as process:
        os.close(terminal)
        parts = []
        while True:
            try:
                part = os.read(main, 65536)
            except OSError:
                break
            if not part:
                break
            parts.append(part)
        assert process.wait(PATIENCE_S) == 0
    os.close(main)
    found = re.findall(K8S_NETPERF_TERMINAL, b"".join(parts).decode())
    assert len(found) >= 3
    assert all(int(size) == 100 * int(ops) for _, size, ops in found[-1:])


def test_raw_lines_do_not_mix_with_documents(netmodel: Netmodel, profile: WriteProfile, tmp_path: Path) -> None:
    path = profile(MIXED)
    refused = netmodel.run("-m", path, "-R", "--format", "json", code=1)
    assert "--raw and --format json" in refused.err
    assert refused.out == ""
    result = netmodel.run("-m", path, "-R", "--format", "json", "-o", tmp_path / "result.json", code=0)
    assert lines_of(result.out)[-1][1] == "Total"
    assert (tmp_path / "result.json").read_text().startswith("{")


# --- silence ---


def test_no_statistics(netmodel: Netmodel, profile: WriteProfile) -> None:
    result = netmodel.run("-m", profile(MIXED), "-n", code=0)
    assert (result.out, result.err) == ("", "")
    result = netmodel.run("-m", profile(MIXED), "-n", "-a", "-R", code=0)
    assert (result.out, result.err) == ("", "")
    failing = profile(MIXED.replace("remotehost=local", "remotehost=127.0.0.1"))
    failed = netmodel.run("-m", failing, "-n", "-P", "1", code=2)
    assert failed.out == ""
    assert "nothing listens on port 1" in failed.err
    refused = netmodel.run("-m", profile(MIXED), "-n", "-o", "x.txt", code=1)
    assert "--no-statistics and --output" in refused.err


def test_version_and_help(netmodel: Netmodel) -> None:
    for words, begin in ((["-V"], r"netmodel \d"), (["-h"], r"(?i)usage"), (["--help", "all"], r"(?i)usage")):
        result = netmodel.run(*words, code=0)
        assert result.err == ""
        assert re.match(begin, result.out), words
    for letter in "agtTfknRXvVPhpeEims":
        assert re.search(rf"^ *-{letter},", result.out, re.MULTILINE), letter


# --- each single response ---


def test_log_of_responses(netmodel: Netmodel, profile: WriteProfile, tmp_path: Path, validate: Validate) -> None:
    path = tmp_path / "log"
    document = netmodel.measure(profile(MIXED), "-X", path, "-f")
    validate(document)
    head, *lines = path.read_text().splitlines()
    assert head.split("\t") == ["time_s", "group", "strand", "transaction", "flowop", "elapsed_ns", "result"]
    rows = [dict(zip(head.split("\t"), line.split("\t"))) for line in lines]
    phases = document["groups"][0]["phases"]
    assert len(rows) == sum(phase["operations"] for phase in phases)
    assert document["run"]["responses"] == {"told": len(rows), "lost": 0}
    counted = Counter((row["transaction"], row["flowop"]) for row in rows)
    for number, phase in enumerate(phases):
        for name, flowop in flowops_of(phase).items():
            place = (f"Txn{number}", name)
            own = [int(row["elapsed_ns"]) for row in rows if (row["transaction"], row["flowop"]) == place]
            assert counted[place] == flowop["operations"]
            assert max(own) == round(flowop["time_s"]["max"] * 1e9)
            assert min(own) == round(flowop["time_s"]["min"] * 1e9)
    assert {row["strand"] for row in rows} == {str(n) for n in range(6)}
    assert {row["group"] for row in rows} == {"mixed"}
    assert {row["result"] for row in rows} == {"ok"}
    start = document["run"]["start_s"]
    for strand in range(6):
        times = [float(row["time_s"]) for row in rows if row["strand"] == str(strand)]
        assert times == sorted(times)
        assert start <= times[0] <= times[-1] <= start + 10


def test_names_add_no_line_and_no_column(netmodel: Netmodel, tmp_path: Path) -> None:
    named = MIXED.replace('name="mixed"', 'name="a&#9;b&#10;c"')
    named = named.replace("<transaction iter", '<transaction name="x&#9;y" iter')
    path = tmp_path / "names.xml"
    path.write_text(f'<profile name="p&#10;q">{named}</profile>\n')
    result = netmodel.run("-m", path, "-a", "-R", "-X", tmp_path / "log", code=0)
    assert "running profile:p q ..." in result.out
    assert "\t" not in result.out
    assert re.search(r"name:a b c nr_bytes:\d+ nr_ops:\d+$", result.out, re.MULTILINE)
    lines = (tmp_path / "log").read_text().splitlines()
    assert {line.count("\t") for line in lines} == {6}
    assert {line.split("\t")[3] for line in lines[1:]} == {"Txn0", "x y", "Txn2"}


@pytest.mark.alone
def test_what_the_log_cannot_take_is_counted(netmodel: Netmodel, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    told: list[int] = []
    documents: list[Json] = []

    def read_late() -> None:
        with pipe.open() as stream:
            time.sleep(1.5)  # the run is over
            told.append(sum(1 for line in stream if not line.startswith(("#", "time_s"))))

    def all_there() -> float:
        """A busy machine may do so little that the pipe takes it."""
        reader = threading.Thread(target=read_late)
        reader.start()
        documents.append(netmodel.measure("tcp_rr", "-X", pipe, *defines(test_length="1s", num_flows=16)))
        reader.join(PATIENCE_S)
        return float(documents[-1]["run"]["responses"]["lost"] == 0)

    at_most(all_there, 0)
    document = documents[-1]
    assert_complete(document)
    assert_ends_agree(document)
    responses = document["run"]["responses"]
    assert responses["lost"] > 0
    assert told[-1] == responses["told"]
    operations = sum(phase["operations"] for phase in document["groups"][0]["phases"])
    assert responses["told"] + responses["lost"] == operations
    assert any(str(responses["lost"]) in warning for warning in document["run"]["warnings"])


def test_a_log_that_cannot_be_written(netmodel: Netmodel, profile: WriteProfile, tmp_path: Path) -> None:
    refused = netmodel.run("-m", profile(MIXED), "-X", tmp_path / "no" / "where", code=1)
    assert "--response-log" in refused.err
    assert refused.out == ""
    if Path("/dev/full").exists():
        full = netmodel.run("-m", profile(MIXED), "-X", "/dev/full", code=2)
        assert "No space left" in full.err


# --- counters ---


def test_counters(netmodel: Netmodel, profile: WriteProfile, validate: Validate) -> None:
    path = profile(STREAM)
    document = netmodel.measure(path, "-e")
    validate(document)
    for host in document["hosts"]:
        names = [counter["name"] for counter in host["counters"]]
        assert names == ["cycles", "instructions", "cache-misses", "context-switches"]
        for counter in host["counters"]:
            known = counter["total"] is not None
            assert known == (counter["user"] is not None and counter["kernel"] is not None)
            assert not known or counter["total"] == counter["user"] + counter["kernel"]
            assert known == (counter["unavailable"] is None), counter


@pytest.mark.needs("perf")
def test_events_of_the_kernel_are_counted(netmodel: Netmodel, profile: WriteProfile) -> None:
    document = netmodel.measure(profile(STREAM), "-E", "context-switches")
    for host in document["hosts"]:
        (switches,) = host["counters"]
        assert switches["unavailable"] is None and switches["kernel"] > 0, switches


def test_counters_by_name(netmodel: Netmodel, profile: WriteProfile) -> None:
    path = profile(STREAM)
    out = netmodel.run("-m", path, "-E", "context-switches,no-such-thing", code=0).out
    rows = table(out, "Counter")
    assert [(row["Counter"], row["host"]) for row in rows] == [
        (name, host) for host in ("master", "local") for name in ("context-switches", "no-such-thing")
    ]
    assert re.search(r"no-such-thing +master +- +- +- +not available: libpfm4: ", out)
    refused = netmodel.run("-m", path, "-E", "a b", code=1)
    assert "--counters a b: not a list of counters" in refused.err
    many = ",".join(f"c{n}" for n in range(17))
    assert "at most 16 counters" in netmodel.run("-m", path, "-E", many, code=1).err


# --- size ---


def test_many_strands(netmodel: Netmodel) -> None:
    document = netmodel.measure("tcp_rr", "-a", *defines(test_length="200ms", num_flows=500, num_threads=2))
    assert_ends_agree(document)
    for part in (document["groups"][0], slaves_of(document)[0]["groups"][0]):
        assert len(part["flow_totals"]) == 500
        assert sums(part["flow_totals"]) == sums(part["phases"])
