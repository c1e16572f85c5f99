# SPDX-License-Identifier: Apache-2.0
"""Called by the name of uperf, netmodel prints what uperf prints: the same rows in the same columns.

The layouts here were seen in the output of uperf 1.0.8; a cell ends in its column, whatever its value.
"""

from __future__ import annotations

import json
import os
import re
import signal
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from nmtest import Netmodel, children
from test_names import link

WriteProfile = Callable[..., Path]

RULE = "-" * 79
TIME = r"\d+\.\d\d(?:ns|us|ms|s)"
SIZE = r"(?:0|\d+\.\d\d[KMGT]?B?)"
RATE = r"(?:0|\d+\.\d\d[KMGT]?b/s)"
PERCENT = r"-?\d+\.\d\d%"
COUNT = r"\d+"

OPEN = '<transaction><flowop type="connect" options="remotehost={host} protocol=tcp"/></transaction>'
ASK = '<flowop type="write" options="size=90"/><flowop type="read" options="size=90"/>'
CLOSE = '<transaction><flowop type="disconnect"/></transaction>'


def group(host: str, strands: str = 'nthreads="2"', how: str = 'duration="50ms"', body: str = ASK) -> str:
    return f"<group {strands}>{OPEN.format(host=host)}<transaction {how}>{body}</transaction>{CLOSE}</group>"


def cells(*parts: tuple[int, str]) -> str:
    """A pattern of cells of a width that are filled from the left, with a blank behind each."""
    return "".join(rf"(?=.{{{width}}} )(?= *{what} ) *{what} " for width, what in parts)


def padded(name: str, width: int) -> str:
    return re.escape(name.ljust(width))


def line(name: str) -> str:
    """Of a transaction, a group, a strand or the run."""
    amount = cells((8, SIZE))
    return rf"{padded(name, 8)} {amount}/(?=.{{7}}\() *\d+\.\d\d\(s\) = {cells((12, RATE))} (?=.{{10}}op) *\d+op/s "


def times(name: str) -> str:
    return rf"{padded(name, 15)} {cells((8, COUNT), *[(11, TIME)] * 4)}"


def nic(name: str) -> str:
    return rf"{padded(name, 5)}  (?=.{{10}} ) *\d+  (?=.{{10}} ) *\d+  {cells((11, RATE))} {cells((11, RATE))}"


def host(name: str) -> str:
    ends = cells((8, TIME), (10, SIZE), (12, RATE))
    return rf"{padded(name, 15)} {ends}(?=.{{24}}$) *\d+ +\d+\.\d\d"


NETSTAT = [
    "",
    "Netstat statistics for this run",
    RULE,
    "Nic       opkts/s     ipkts/s      obits/s      ibits/s",
    "NICS",
    RULE,
]


def run_statistics(*hosts: str) -> list[str]:
    return [
        "",
        "Run Statistics",
        "Hostname            Time       Data   Throughput   Operations      Errors",
        RULE,
        *(host(name) for name in (*hosts, "master")),
        RULE,
        rf"Difference\(%\)   (?=.{{57,}}$) *{PERCENT}(?: +{PERCENT}){{4}}",
        "",
        "",
    ]


def averages(first: str, rows: list[str]) -> list[str]:
    head = f"{first:<15}    Count         avg         cpu         max         min "
    return ["", head, RULE, *(times(row) for row in rows), ""]


def details(of: str, rows: list[str]) -> list[str]:
    return ["", f"{of} Details", RULE, *(line(row) for row in rows), ""]


def begin(strands: str, *, transactions: int = 3, name: str = "t") -> list[str]:
    rows = [line(f"Txn{n + 1}") for n in range(transactions)]
    return [rf"Starting {strands} running profile:{name} \.\.\.   0\.00 seconds", *rows, RULE, line("Total")]


def assert_layout(text: str, patterns: list[str]) -> None:
    """Of lines that are written over one another, the last one stays. Any interface may have carried something."""
    lines = [each.split("\r")[-1] for each in text.split("\n")]
    assert lines.pop() == "", "the last line has no end"
    for at in [n for n, each in enumerate(lines) if each.startswith("Nic ")][::-1]:
        rows = lines[at + 1 : lines.index(RULE, at)]
        assert rows
        assert all(re.fullmatch(nic(row.split()[0]), row) for row in rows), rows
        lines[at + 1 : at + 1 + len(rows)] = ["NICS"]
    for number, (got, pattern) in enumerate(zip(lines, patterns)):
        assert re.fullmatch(pattern, got), f"line {number}: {got!r} is not {pattern!r} in:\n{text}"
    assert len(lines) == len(patterns), text


FLOWOPS = ["connect", "write", "read", "disconnect"]
TRANSACTIONS = ["Txn0", "Txn1", "Txn2"]

FLAGS = {
    "none": ([], []),
    "-t": (["-t"], averages("Txn", TRANSACTIONS)),
    "-f": (["-f"], averages("Flowop", FLOWOPS)),
    "-p": (["-p"], averages("Flowop", FLOWOPS)),
    "-g": (["-g"], details("Group", ["Group0"])),
    "-T": (["-T"], details("Strand", ["Thr0", "Thr1"])),
    "-k": (["-k"], []),
    "-i": (["-i", "10ms"], []),
    "-x": (["-X", "log"], []),
    "-a": (
        ["-a"],
        details("Group", ["Group0"])
        + details("Strand", ["Thr0", "Thr1"])
        + averages("Txn", TRANSACTIONS)
        + averages("Flowop", FLOWOPS),
    ),
}


@pytest.fixture(name="uperf")
def uperf_of(netmodel: Netmodel, tmp_path: Path) -> Netmodel:
    return link(netmodel, tmp_path, "uperf")


@pytest.mark.parametrize("name", FLAGS)
def test_each_flag(uperf: Netmodel, profile: WriteProfile, tmp_path: Path, name: str) -> None:
    words, tables = FLAGS[name]
    done = uperf.run("-m", profile(group("local"), name="t"), *words, cwd=tmp_path, code=0)
    assert_layout(done.out, begin("2 threads") + tables + NETSTAT + run_statistics("local"))
    assert done.err == ""
    assert (tmp_path / "log").exists() == (name == "-x")


PROFILES = {
    "one_way": (group("local", body='<flowop type="write" options="size=8k count=10"/>'), "2 threads", ["write"]),
    "processes": (group("local", 'nprocs="3"'), "3 processes", ["write", "read"]),
    "passes": (group("local", how='iterations="100"'), "2 threads", ["write", "read"]),
    "thinking": (
        group("local", body=ASK + '<flowop type="think" options="duration=1ms"/><flowop type="nop"/>'),
        "2 threads",
        ["write", "read", "think", "nop"],
    ),
    "datagrams": (group("local").replace("protocol=tcp", "protocol=udp"), "2 threads", ["write", "read"]),
    "accepted": (group("local").replace('"connect"', '"accept"'), "2 threads", ["write", "read"]),
}


@pytest.mark.parametrize("name", PROFILES)
def test_each_kind_of_profile(uperf: Netmodel, profile: WriteProfile, name: str) -> None:
    groups, strands, body = PROFILES[name]
    done = uperf.run("-m", profile(groups, name="t"), "-f", code=0)
    flowops = ["accept" if name == "accepted" else "connect", *body, "disconnect"]
    assert_layout(
        done.out, begin(strands) + averages("Flowop", flowops) + NETSTAT + run_statistics("local")
    )


def test_groups_and_hosts(uperf: Netmodel, profile: WriteProfile) -> None:
    """A slave has a row for each group, as it has a connection there for each; there are as many lines of transactions
    as the longest group has transactions. Names are cut, and strands are counted anew in each group."""
    last = f"<group name='with-a-long-name' nprocs='1'>{OPEN.format(host='localhost')}</group>"
    with uperf.slave() as slave:
        path = profile(group("127.0.0.1") + group("127.0.0.1") + last, name="t")
        done = uperf.run("-m", path, "-a", "-P", str(slave.port), code=0)
    flowops = FLOWOPS * 2 + ["connect"]
    assert_layout(
        done.out,
        begin("4 threads, 1 processes")
        + details("Group", ["Group0", "Group1", "with-a-l"])
        + details("Strand", ["Thr0", "Thr1", "Thr0", "Thr1", "Thr0"])
        + averages("Txn", [*TRANSACTIONS * 2, "Txn0"])
        + averages("Flowop", flowops)
        + NETSTAT
        + run_statistics("127.0.0.1", "127.0.0.1", "localhost", "Total"),
    )
    rows = [each.split() for each in done.out.split("Run Statistics")[1].splitlines()]
    operations = [int(row[4]) for row in rows if len(row) == 6 and row[4].isdigit()]
    assert sum(operations[:3]) == operations[3] == operations[4]


def test_counters(uperf: Netmodel, profile: WriteProfile) -> None:
    """They come with the flowops, and have a table of netmodel's, since they are each host's and may not be there."""
    for words in (["-e"], ["-E", "context-switches"]):
        out = uperf.run("-m", profile(group("local"), name="t"), *words, code=0).out
        assert re.search(r"^connect +2 ", out, re.MULTILINE)
        assert re.search(r"^context-switches +master +\d+ ", out, re.MULTILINE)
        before, after = out.split("\nCounter ", 1)
        assert_layout(
            before + after.split("\n\n", 1)[1].join(("\n", "")),
            begin("2 threads") + averages("Flowop", FLOWOPS) + NETSTAT + run_statistics("local"),
        )


def test_lines_are_written_over_each_other(uperf: Netmodel, profile: WriteProfile) -> None:
    out = uperf.run("-m", profile(group("local"), name="t"), "-i", "10ms", code=0).out
    over = f"\r{' ' * 79}\rTxn2 "
    assert out.count(over) >= 4
    assert f"op/s {over}" in out


def test_raw_lines_instead(uperf: Netmodel, profile: WriteProfile) -> None:
    out = uperf.run("-m", profile(group("local"), name="t"), "-R", "-a", "-v", "-i", "1", code=0).out

    def raw(name: str) -> str:
        return rf"timestamp_ms:\d+\.\d{{4}} name:{name} nr_bytes:\d+ nr_ops:\d+"

    lines = begin("2 threads")[:1]
    for number in (1, 2, 3):
        lines += [raw(f"Txn{number}")] * 2 + [""]
    tables = [
        *("", "Group Details", RULE, raw("Group0"), ""),
        *("", "Strand Details", RULE, raw("Thr0"), raw("Thr1"), ""),
        *averages("Txn", TRANSACTIONS),
        *averages("Flowop", FLOWOPS),
    ]
    assert_layout(out, [*lines, RULE, raw("Total"), *tables, *NETSTAT, *run_statistics("local")])


def test_what_wrappers_read_is_what_was_measured(uperf: Netmodel, profile: WriteProfile, tmp_path: Path) -> None:
    """They sum the differences of the rows of a transaction, and know the run by the words of its name.

    The profile is as they write it: a transaction is not closed, and values have no quotation marks."""
    asks = ASK.replace('"write"', "write").replace('"read"', "read")
    body = f'<group nprocs="2">{OPEN.format(host="local")}<transaction duration="300ms">{asks}{CLOSE}</group>'
    path = profile(body, name="rr-tcp-90-90-2")
    report = tmp_path / "report"
    out = uperf.run(*"-v -a -R -i 50ms --format json -o".split(), report, "-m", path, code=0).out
    assert re.findall(r"running profile:(.*) \.\.\.", out) == ["rr-tcp-90-90-2"]
    rows = re.findall(r"^timestamp_ms:(\d+\.\d{4}) name:Txn2 nr_bytes:(\d+) nr_ops:(\d+)$", out, re.M)
    steps = [(float(b[0]) - float(a[0]), int(b[1]) - int(a[1]), int(b[2]) - int(a[2])) for a, b in pairwise(rows)]
    assert len(steps) >= 4
    assert min(min(step) for step in steps) >= 0
    document = json.loads(report.read_text())
    counts = document["hosts"][0]["counts"]
    assert sum(step[1] for step in steps) == counts["bytes_sent"] + counts["bytes_received"]
    assert sum(step[2] for step in steps) == document["hosts"][0]["operations"] - 4  # connects and disconnects


def test_by_the_name_of_the_form(netmodel: Netmodel, profile: WriteProfile, tmp_path: Path) -> None:
    """In a file there are the same rows, but for those that were written over."""
    path = profile(group("local"), name="t")
    layout = begin("2 threads") + NETSTAT + run_statistics("local")
    assert_layout(netmodel.run("-m", path, "--format", "uperf", code=0).out, layout)
    assert_layout(netmodel.run("uperf", "-m", path, code=0).out, layout)
    done = netmodel.run("-m", path, "--format", "uperf", "-o", tmp_path / "report", code=0)
    assert done.out == ""
    written = (tmp_path / "report").read_text()
    assert "\r" not in written
    assert_layout(written, layout)


def test_each_repetition(uperf: Netmodel, profile: WriteProfile) -> None:
    out = uperf.run("-m", profile(group("local"), name="t"), "--repeat", "2", code=0).out
    assert_layout(out, begin("2 threads") * 2 + (NETSTAT + run_statistics("local")) * 2)


def test_another_form_by_the_name_of_uperf(uperf: Netmodel, profile: WriteProfile) -> None:
    path = profile(group("local"), name="t")
    assert uperf.run("-m", path, "--format", "json", code=0).json()["run"]["complete"]
    assert re.match(r"netmodel \S+  t  ", uperf.run("-m", path, "--format", "text", code=0).out)
    assert uperf.run("-m", path, "-n", "-a", "-R", code=0).out == ""
    refused = uperf.run("-m", path, "--compare", "x", code=1)
    assert "--compare: only with --format json or text" in refused.err


def test_notes_go_to_standard_error(uperf: Netmodel, profile: WriteProfile) -> None:
    path = profile(group("local"), name="t")
    layout = begin("2 threads") + NETSTAT + run_statistics("local")
    unmet = uperf.run("-m", path, "--require", "latency.p99 <= 1ns", code=4)
    assert_layout(unmet.out, layout)
    assert "--require latency.p99 <= 1ns: not met" in unmet.err
    short = profile(group("local", how='iterations="10"'), name="t")
    warned = uperf.run("-m", short, "--warmup", "1s", code=0)
    assert "warning" not in warned.out
    assert "warning: group Group0: nothing is left to measure" in warned.err


def test_nothing_of_a_run_that_has_not_begun(uperf: Netmodel, profile: WriteProfile) -> None:
    done = uperf.run("-m", profile(group("127.0.0.1"), name="t"), "-a", "-P", "1", code=2)
    assert done.out == ""
    assert "nothing listens on port 1" in done.err


def test_a_lost_slave_has_no_row(uperf: Netmodel, profile: WriteProfile) -> None:
    with uperf.slave() as slave:
        path = profile(group("127.0.0.1", how='duration="30s"'), name="t")
        with uperf.started("-m", path, "-v", "-P", str(slave.port)) as master:
            master.wait_line("phase 2 of 3 begins")
            for pid in children(slave.pid):
                os.kill(pid, signal.SIGKILL)
            done = master.finish()
    assert done.code == 2
    rows = run_statistics()
    del rows[rows.index(RULE) + 3]  # of what is not known there is no difference
    lines = begin("2 threads", transactions=2)
    assert_layout(done.out, [*lines, *NETSTAT, *rows, "WARNING: 1 Errors detected during run"])
    assert "the run is incomplete: " in done.err
