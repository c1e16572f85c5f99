# SPDX-License-Identifier: Apache-2.0
"""contrib/scaling-study: a profile with one number of connections after the other."""

from __future__ import annotations

import csv
import io
import re
import shutil
import signal
import socket
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from compose import ask, connect, group, lasting, once, op, write
from nmtest import (
    PROFILES,
    TOP,
    Json,
    Netmodel,
    Node,
    Process,
    Result,
    children,
    defines,
    limit_descriptors,
    wait_until,
)

SCRIPT = TOP / "contrib" / "scaling-study"
HEADER = ["#Conn", "Wnd", "cpu(usr)", "cpu(sys)", "cpu(idle)", "Throughput(Mbps)", "mean(us)", "p50(us)", "p99(us)"]
HEADER.append("transactions/s")
SHORT = defines(test_length="100ms")


class Study:
    def __init__(self, netmodel: Netmodel) -> None:
        self.program = netmodel

    def start(self, *args: object, prefix: Sequence[str] = (), **how: Any) -> Process:
        argv = [*prefix, str(SCRIPT), "--netmodel", str(self.program.binary), *map(str, args)]
        return Process(argv, self.program.env, **how)

    def run(self, *args: object, code: int = 0, **how: Any) -> Result:
        process = self.start(*args, **how)
        try:
            result = process.finish()
        finally:
            process.end()
        assert result.code == code, result
        return result


@pytest.fixture
def study(netmodel: Netmodel) -> Study:
    return Study(netmodel)


def points_of(result: Result | str) -> list[dict[str, str]]:
    """What --format csv has."""
    return list(csv.DictReader(io.StringIO(result if isinstance(result, str) else result.out)))


def rows_of(text: str) -> list[list[str]]:
    header, *rows = [line.split() for line in text.splitlines()]
    assert header == HEADER
    return rows


def test_http_get_against_three_slaves(
    study: Study, netmodel: Netmodel, nodes: Callable[[int], list[Node]], tmp_path: Path
) -> None:
    *clients, server = nodes(4)
    with ExitStack() as stack:
        for client in clients:
            stack.enter_context(netmodel.slave("-P", "20001", "--no-auth", prefix=client.prefix))
        given = ["-m", "http_get", "--connections", "1,2-8x2", *defines(test_length="300ms", wnd="256k")]
        given += defines(**{f"host{number}": client.address for number, client in enumerate(clients, 1)})
        table = study.run(*given, "--", "-P", "20001", prefix=server.prefix)
        study.run(*given, "--format", "csv", "-o", tmp_path / "study", "--", "-P", "20001", prefix=server.prefix)
    rows = rows_of(table.out)
    assert table.err == ""
    assert [row[:2] for row in rows] == [[count, "256k"] for count in ("1", "2", "4", "8")]
    for row in rows:
        assert len(row) == len(HEADER)
        assert 10 < sum(map(int, row[2:5])) <= 103  # what is missing was stolen from a guest
        throughput, mean, p50, p99, rate = map(float, row[5:])
        assert rate > 1
        assert throughput > 1
        assert 0 < p50 <= p99
        assert 0 < mean
    points = points_of((tmp_path / "study").read_text())
    asked = [(point["connections"], point["flows"]) for point in points]
    assert asked == [("1", "3"), ("2", "6"), ("4", "12"), ("8", "24")]
    for point in points:
        assert point["error"] == ""
        each_mbits, per_s = (64 + 65536) * 8 / 1e6, float(point["transactions_per_s"])
        assert float(point["throughput_mbps"]) == pytest.approx(per_s * each_mbits, rel=0.01)
        # Flows that always have something to do: by Little's law, if nothing stands still at the end of the time.
        assert 0.5 < float(point["latency_mean_s"]) * per_s / int(point["flows"]) < 1.1


def test_the_latency_is_without_the_time_that_clients_think(study: Study, profile: Callable[..., Path]) -> None:
    body = group(once(connect()), lasting("300ms", ask(), op("think", "duration=20ms")), strands="$n")
    path = profile('<param name="n" type="count" default="1"/>' + body)
    (row,) = rows_of(study.run("-m", path, "--connections", "2", "--param", "n").out)
    p50_us, rate = float(row[7]), float(row[9])
    assert p50_us < 10_000
    assert 20 < rate <= 100


def test_groups_over_udp_and_tcp_are_added_up(study: Study, profile: Callable[..., Path]) -> None:
    groups = [
        group(once(connect(options=f"protocol={protocol}")), lasting("500ms", body, more='rate="200"'), strands="$n")
        for protocol, body in (("tcp", write(2000)), ("udp", write(500)))
    ]
    path = profile('<param name="n" type="count" default="1"/>' + "".join(groups))
    (row,) = points_of(study.run("-m", path, "--connections", "1", "--param", "n", "--format", "csv"))
    assert float(row["throughput_mbps"]) == pytest.approx(200 * 2500 * 8 / 1e6, rel=0.1)


def test_csv(study: Study) -> None:
    given = ["-m", "tcp_rr", "--connections", "1,3", *SHORT, "--format", "csv"]
    rows = points_of(study.run(*given))
    assert [(row["connections"], row["flows"], row["wnd"], row["error"]) for row in rows] == [
        ("1", "1", "", ""),
        ("3", "3", "", ""),
    ]
    for row in rows:
        assert float(row["throughput_mbps"]) == pytest.approx(float(row["transactions_per_s"]) * 2 * 8 / 1e6, rel=0.01)
        assert 0 < float(row["latency_p50_s"]) <= float(row["latency_p99_s"])


def test_the_table_is_the_result_of_netmodel(study: Study, tmp_path: Path) -> None:
    """A program in place of netmodel gives a known result, so that each figure can be held against its source."""
    known = {"complete": 1, "total_flows": 7, "wndsz": "32k", "transactions_per_s": 5.0, "bits_per_s": 9e9}
    known |= {"cpu_user": 0.12, "cpu_system": 0.23, "cpu_softirq": 0.05, "cpu_idle": 0.6}
    known |= {"latency_mean": 1e-3, "latency_p50": 2e-3, "latency_p99": 3e-3}
    datagrams = {"messages_to_slaves_packets_sent": 9, "throughput_received_bits_per_s": 7.25e6}
    program = tmp_path / "netmodel"
    program.write_text(f'#!/bin/sh\ncase "$*" in *--format*) cat {tmp_path}/result;; esac\n')
    program.chmod(0o755)
    cases: list[tuple[dict[str, Any], str]] = [
        (known | datagrams, "7 32k 12 28 60 7.25 1000.0 2000.0 3000.0 5"),
        (known, "7 32k 12 28 60 9000.00 1000.0 2000.0 3000.0 5"),
        # What is not known has no key; a window of 0 is that of the system.
        (known | {"messages_to_slaves_packets_sent": 9, "wndsz": "0"}, "7 - 12 28 60 - 1000.0 2000.0 3000.0 5"),
        ({name: known[name] for name in ("complete", "bits_per_s")}, "7 - - - - 9000.00 - - - -"),
    ]
    for result, row in cases:
        (tmp_path / "result").write_text("".join(f"{name}={value}\n" for name, value in result.items()))
        found = study.run("-m", "any", "--param", "n", "--connections", "7", "--netmodel", program)
        assert rows_of(found.out) == [row.split()]


def test_a_point_that_fails_is_marked_and_the_others_run(study: Study) -> None:
    given = ["-m", "tcp_rr", "--connections", "1,9000,2", *SHORT]
    few = limit_descriptors(1000)
    result = study.run(*given, code=2, before=few)
    rows = rows_of(result.out)
    assert [row[0] for row in rows] == ["1", "9000", "2"]
    assert rows[1][1:] == ["-"] * 9 + ["failed"]
    assert len(rows[0]) == len(rows[2]) == len(HEADER)
    assert re.search(r"^scaling-study: num_flows=9000: failed: .*open files", result.err, re.MULTILINE)
    points = points_of(study.run(*given, "--format", "csv", code=2, before=few))
    assert [point["error"] == "" for point in points] == [True, False, True]
    assert "open files" in points[1]["error"]
    assert points[1]["throughput_mbps"] == ""


def test_a_point_that_does_not_meet_a_requirement_is_marked(study: Study) -> None:
    given = ["-m", "tcp_rr", "--connections", "1,2", *SHORT]
    required = ["--", "--require", "group.rr.flows <= 1", "--require", "errors == 0"]
    result = study.run(*given, *required, code=4)
    assert [row[10:] for row in rows_of(result.out)] == [[], ["unmet"]]
    why = "group.rr.flows <= 1: group.rr.flows is 2"
    assert result.err == f"scaling-study: num_flows=2: not met: {why}\n"
    points = points_of(study.run(*given, "--format", "csv", *required, code=4))
    assert [(point["error"], point["unmet"]) for point in points] == [("", ""), ("", why)]
    for form in "text", "csv":
        wrong = study.run(*given, "--format", form, *required[:2], "errors < 1ms", code=1)
        assert wrong.out == "", "no table begins"
        assert wrong.err.startswith("netmodel: --require errors < 1ms")


@pytest.mark.parametrize("number", [9, 10])
def test_each_of_many_requirements_is_told(number: int, study: Study) -> None:
    """Also where their number has another length than that of the last, and none but those."""
    required = [word for n in range(1, number) for word in ("--require", f"errors < {n}")] + ["--require", "errors > 0"]
    result = study.run("-m", "tcp_rr", "--connections", "1", *SHORT, "--", *required, code=4)
    assert result.err == "scaling-study: num_flows=1: not met: errors > 0: errors is 0\n"


def test_a_slave_that_cannot_be_reached_ends_it(study: Study) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        given = ["-m", "tcp_rr", "--conn", "1-3", *SHORT, *defines(host="127.0.0.1")]
        result = study.run(*given, "--", "-P", str(closed.getsockname()[1]), code=2)
    assert [row[0] for row in rows_of(result.out)] == ["1"]
    assert "no more is tried: a slave cannot be reached" in result.err


def test_why_a_run_has_failed_is_not_that_it_does_not_meet_what_is_required(study: Study, tmp_path: Path) -> None:
    path = tmp_path / "own.xml"
    text = (PROFILES / "tcp_rr.xml").read_text()
    path.write_text(text.replace("  <group ", '  <require that="transactions &gt;= 1"/>\n  <group ', 1))
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        given = ["-m", path, "--connections", "1-3", *SHORT, *defines(host="127.0.0.1"), "--format", "csv"]
        result = study.run(*given, "--", "-P", str(closed.getsockname()[1]), code=2)
    (point,) = points_of(result)
    assert "nothing listens on port" in point["error"]
    assert "no more is tried: a slave cannot be reached" in result.err
    assert "not met" not in result.err


def test_the_table_does_not_overwrite_what_is_read(study: Study, tmp_path: Path) -> None:
    path, link, key = tmp_path / "own.xml", tmp_path / "link", tmp_path / "key"
    text = (PROFILES / "tcp_rr.xml").read_text()
    path.write_text(text)
    key.write_text("0123456789abcdef0123456789abcdef\n")
    link.symlink_to(path)
    cases: list[tuple[str, Path, list[object]]] = [
        (f"-m {path}", path, []),
        (f"-m {path}", link, []),
        (f"-- {key}", key, ["--", "--key-file", key]),
        (f"-- {key}", key, ["--", f"--key-file={key}"]),
    ]
    for read, output, more in cases:
        result = study.run("-m", path, "--connections", "1", *SHORT, "-o", output, *more, code=1)
        assert result.err == f"scaling-study: {read} and -o {output}: one file: the output would overwrite it\n"
    words = [str(SCRIPT), "--netmodel", str(study.program.binary), "-m", "own", "--connections", "1", *SHORT, "-o", str(path)]
    process = Process(words, study.program.env | {"NETMODEL_PROFILES": str(tmp_path)})
    try:
        assert process.finish().err == f"scaling-study: -m {path} and -o {path}: one file: the output would overwrite it\n"
    finally:
        process.end()
    assert path.read_text() == text
    assert len(key.read_text()) == 33


def test_a_refused_option_of_netmodel_leaves_the_file_of_the_table_as_it_was(study: Study, tmp_path: Path) -> None:
    kept, new = tmp_path / "kept", tmp_path / "new"
    kept.write_text("of another study\n")
    for form in ("text", "csv"):
        for output in (kept, new):
            given = ["-m", "tcp_rr", "--connections", "1", *SHORT, "--format", form, "-o", output]
            result = study.run(*given, "--", "--bogus", code=1)
            assert "--bogus: unknown option" in result.err
    assert kept.read_text() == "of another study\n"
    assert not new.exists()
    study.run("-m", "tcp_rr", "--connections", "1", *SHORT, "-o", kept)
    assert len(rows_of(kept.read_text())) == 1


def test_a_range_of_steps_of_one(study: Study) -> None:
    given = ["-m", "tcp_rr", "--connections", "2-4", *SHORT]
    assert [row[0] for row in rows_of(study.run(*given).out)] == ["2", "3", "4"]


def test_another_parameter(study: Study) -> None:
    given = ["-m", "rpc_mix", "--param", "lookup_flows", "--connections", "2,5", *SHORT, *defines(fetch_flows=1)]
    points = points_of(study.run(*given, "--format", "csv"))
    assert [point["flows"] for point in points] == ["3", "6"]


def test_a_profile_of_uperf(study: Study, tmp_path: Path) -> None:
    path = tmp_path / "own.xml"
    path.write_text(
        '<profile><group nthreads="$nthr"><transaction><flowop type="connect" options="remotehost=$h"/></transaction>'
        '<transaction duration="100ms"><flowop type="write" options="size=1k"/></transaction></group></profile>'
    )
    assert "--param" in study.run("-m", path, "--connections", "1", *defines(h="local"), code=1).err
    given = ["-m", path, "--param", "nthr", "--connections", "1,2", *defines(h="local")]
    assert [row[0] for row in rows_of(study.run(*given).out)] == ["1", "2"]


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (["-m", "tcp_rr"], "--connections"),
        (["--connections", "1"], "--master"),
        (["-m", "tcp_rr", "--connections", "1x"], '"1x": not a number, nor a range like 1-4 (each one) or 1-1024x2'),
        (["-m", "tcp_rr", "--connections", "1-9999999999"], "at most 1000 are allowed"),
        (["-m", "tcp_rr", "--connections", "8-1x2"], '"8-1x2": from 1 upwards'),
        (["-m", "tcp_rr", "--connections", "1-8x1"], '"1-8x1": from 1 upwards'),
        (["-m", "tcp_rr", "--connections", "0"], '"0": from 1 upwards'),
        (["-m", "tcp_rr", "--connections", ","], '"": not a number'),
        (["-m", "tcp_rr", "--connections", "1,/*"], '--connections: "/*": not a number'),
        (["-m", "tcp_rr", "--connections", "9" * 20], '9": from 1 upwards, of at most 15 digits'),
        (["-m", "tcp_rr", "--connections", "1", "--format", "json"], "must be text or csv; netmodel-lab has JSON"),
        (["-m", "tcp_rr", "--connections", "1", "--nosuch", "1"], "--nosuch: no such option (--help shows how)"),
        (["-m", "tcp_rr", "--connections"], "--connections: needs a value"),
        (["-m", "tcp_rr", "--connections", "1", "-D", "x"], '"x": must be NAME=VALUE'),
        (["-m", "tcp_r", "--connections", "1"], "did you mean tcp_rr?"),
        (["-m", "tcp_rr", "--connections", "1", "-D", "hots=a"], 'did you mean "host"?'),
        (["-m", "tcp_rr", "--connections", "1", "--", "--wramup", "1s"], "--warmup"),
        (["-m", "tcp_rr", "--connections", "1", "--netmodel", "/no/such"], "/no/such: no such program"),
        (["-m", "tcp_rr", "--connections", "1", "-o", "/no/such/file"], "/no/such/file: cannot be written"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_wrong_command_line(study: Study, args: list[str], expected: str) -> None:
    result = study.run(*args, code=1)
    assert expected in result.err
    assert result.out in ("", " ".join(HEADER) + "\n")


def is_run(pid: int) -> bool:
    """Whether a netmodel has got as far as its slave, and not only looked at the profile."""
    try:
        return b"--format" in Path(f"/proc/{pid}/cmdline").read_bytes() and bool(children(pid))
    except OSError:
        return False


def test_an_interrupt_leaves_what_there_is(study: Study) -> None:
    process = study.start("-m", "tcp_rr", "--connections", "1,2,4", *defines(test_length="30s"))
    try:
        run = wait_until(lambda: [pid for pid in children(process.pid) if is_run(pid)])[0]
        process.signal(signal.SIGINT)
        result = process.finish()
        assert result.code == 130, result
        rows = rows_of(result.out)
        assert [row[0] for row in rows] == ["1"]
        assert rows[0][-1] == "failed"
        wait_until(lambda: not Path(f"/proc/{run}").exists())
    finally:
        process.end()


def test_it_needs_no_more_than_a_shell(netmodel: Netmodel, tmp_path: Path) -> None:
    """Tools of POSIX, and mktemp: where Python is not, and in any order of words that may be shortened."""
    for name in ("awk", "cat", "grep", "mktemp", "rm", "sh"):
        (tmp_path / name).symlink_to(shutil.which(name) or f"/no/{name}")
    assert SCRIPT.read_text().startswith("#!/bin/sh\n")
    (tmp_path / "netmodel").symlink_to(netmodel.binary)
    words = ["env", "-u", "NETMODEL", f"PATH={tmp_path}", str(SCRIPT), "--conn=1", *SHORT, "--mas", "tcp_rr"]
    process = Process([*words, "--", "--seed", "7"], netmodel.env)
    try:
        result = process.finish()
    finally:
        process.end()
    assert (result.code, result.err) == (0, "")
    assert [row[0] for row in rows_of(result.out)] == ["1"]
