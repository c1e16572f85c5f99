# SPDX-License-Identifier: Apache-2.0
"""--stream: the intervals of a run while it goes on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped,unused-ignore]
import pytest

from nmtest import FOR_LONG, SCHEMA, Json, Netmodel, defines

WORDS = ("-m", "tcp_rr", *defines(test_length="400ms"), "-i", "100ms")


def lines_of(text: str) -> list[Json]:
    return [json.loads(line) for line in text.splitlines()]


def members(line: Json) -> Json:
    return {name: value for name, value in line.items() if name not in ("type", "host")}


def as_definition(name: str) -> Any:
    schema = json.loads(SCHEMA.read_text())
    return jsonschema.Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": schema["$defs"]})


def test_each_interval_is_that_of_the_result(netmodel: Netmodel, tmp_path: Path) -> None:
    document = netmodel.run(*WORDS, "--format", "json", "--stream", tmp_path / "stream", code=0).json()
    first, *rows, last = lines_of((tmp_path / "stream").read_text())
    assert first["type"] == "begin"
    assert first["schema"] == "netmodel.stream/1"
    assert first["run_id"] == document["run"]["id"]
    assert first["profile"] == document["profile"]
    assert [members(row) for row in rows if row["type"] == "interval"] == document["intervals"]
    for host in document["hosts"]:
        told = [row for row in rows if row["type"] == "host_interval" and row["host"] == host["name"]]
        assert [members(row) for row in told] == host["intervals"]
    assert last == {"type": "end", "run": document["run"], "totals": document["totals"]}
    for row in rows:
        as_definition(row["type"]).validate(members(row))


def test_standard_output_is_the_stream_alone(netmodel: Netmodel) -> None:
    lines = lines_of(netmodel.run(*WORDS, "--stream", "-", "--repeat", "2", code=0).out)
    kinds = [line["type"] for line in lines if line["type"] in ("begin", "end")]
    assert kinds == ["begin", "end", "begin", "end"]
    assert len({line["run_id"] for line in lines if line["type"] == "begin"}) == 2


def test_with_an_output_there_is_a_report_too(netmodel: Netmodel, tmp_path: Path) -> None:
    lines_of(netmodel.run(*WORDS, "--stream", "-", "-o", tmp_path / "report", code=0).out)
    assert "transactions" in (tmp_path / "report").read_text()


def test_a_fifo_is_read_while_the_run_goes_on(netmodel: Netmodel, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    words = ("-m", "tcp_rr", *defines(test_length=FOR_LONG), "-i", "50ms", "--stream", tmp_path / "fifo")
    with netmodel.started(*words) as master, (tmp_path / "fifo").open() as stream:
        assert json.loads(stream.readline())["type"] == "begin"
        assert json.loads(stream.readline())["type"].endswith("interval")
        assert master.running()
        master.signal(signal.SIGTERM)
        *_, last = lines_of(stream.read())
        assert master.finish().code == 130
    assert last["type"] == "end"
    assert last["run"]["interrupted"] is True


# Lines of some 100 kB: a pipe and the queue behind it are full soon.
GROUP = """
<group nthreads="1"><transaction><flowop type="connect" options="remotehost=local"/></transaction>
<transaction duration="1s" rate="500"><flowop type="write" options="size=10"/></transaction>
<transaction><flowop type="disconnect"/></transaction></group>
"""
MANY = ",".join(str(i / 2) for i in range(1, 121))


@pytest.mark.parametrize("reads", [True, False])
def test_a_slow_reader_loses_lines_that_are_counted(netmodel: Netmodel, tmp_path: Path, reads: bool) -> None:
    (tmp_path / "p.xml").write_text(f"<profile>{16 * GROUP}</profile>")
    os.mkfifo(tmp_path / "fifo")
    reader = os.open(tmp_path / "fifo", os.O_RDONLY | os.O_NONBLOCK)
    words = ("--windows", "200", "-i", "10ms", "--percentiles", MANY, "--stream", tmp_path / "fifo")
    with netmodel.started("-m", tmp_path / "p.xml", *words, "--format", "json") as master, os.fdopen(reader) as stream:
        master.wait_line(r"window +(\d+-)?200/200")
        os.set_blocking(reader, True)
        lines = lines_of(stream.read()) if reads else []
        result = master.finish()
    assert result.code == 0, result
    document = result.json()
    dropped = document["run"]["stream_dropped"]
    assert dropped > 0
    assert f"{dropped} lines of --stream {tmp_path}/fifo were dropped" in result.err
    if reads:
        assert lines[0]["type"] == "begin"
        assert lines[-1] == {"type": "end", "run": document["run"], "totals": document["totals"]}
        rows = [document["intervals"], *(host["intervals"] for host in document["hosts"])]
        assert len(lines) + dropped == 2 + sum(map(len, rows))


def test_a_reader_that_goes_away_ends_nothing(netmodel: Netmodel, tmp_path: Path) -> None:
    """Another one may follow: it begins with a whole line."""
    os.mkfifo(tmp_path / "fifo")
    words = ("-m", "tcp_rr", *defines(test_length=FOR_LONG), "-i", "50ms", "--stream", tmp_path / "fifo")
    with netmodel.started(*words, "-o", tmp_path / "report", "--format", "json") as master:
        with (tmp_path / "fifo").open() as stream:
            assert json.loads(stream.readline())["type"] == "begin"
        with (tmp_path / "fifo").open() as stream:
            assert json.loads(stream.readline())["type"].endswith("interval")
            assert master.running()
            master.signal(signal.SIGTERM)
            *_, last = lines_of(stream.read())
            assert master.finish().code == 130
    assert last["type"] == "end"
    report = json.loads((tmp_path / "report").read_text())
    assert last["run"]["stream_dropped"] == report["run"]["stream_dropped"]


def test_standard_output_that_goes_away_ends_nothing(netmodel: Netmodel, tmp_path: Path) -> None:
    command = (str(netmodel.binary), *WORDS, "--stream", "-", "--format", "json", "-o", tmp_path / "report")
    done = subprocess.run(["sh", "-c", '"$@" | head -n 1', "sh", *command], env=netmodel.env, capture_output=True, text=True)
    assert json.loads(done.stdout)["type"] == "begin"
    assert "lines of --stream - were dropped" in done.stderr
    document = json.loads((tmp_path / "report").read_text())
    assert document["run"]["complete"] is True
    assert document["run"]["stream_dropped"] > 0


def test_a_file_without_room_is_an_error(netmodel: Netmodel) -> None:
    assert "--stream /dev/full: cannot be written" in netmodel.run(*WORDS, "--stream", "/dev/full", code=2).err


def test_a_fifo_without_a_reader_ends_nothing(netmodel: Netmodel, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    result = netmodel.run(*WORDS, "--stream", tmp_path / "fifo", "--format", "json", code=0)
    assert f"--stream {tmp_path}/fifo: nobody reads it yet" in result.err
    document = result.json()
    rows = [document["intervals"], *(host["intervals"] for host in document["hosts"])]
    assert document["run"]["stream_dropped"] == 2 + sum(map(len, rows))


def test_a_late_reader_has_all_lines(netmodel: Netmodel, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    with netmodel.started(*WORDS, "--stream", tmp_path / "fifo") as master:
        master.wait_line("nobody reads it yet")
        lines = lines_of((tmp_path / "fifo").read_text())
        assert master.finish().code == 0
    assert (lines[0]["type"], lines[-1]["type"]) == ("begin", "end")
    assert lines[-1]["run"]["stream_dropped"] == 0


@pytest.mark.parametrize("other", [("-o", "-"), ("-R",), ("--iostat", "1s")])
def test_standard_output_has_room_for_one(netmodel: Netmodel, other: tuple[str, ...]) -> None:
    assert "both would go to standard output" in netmodel.run(*WORDS, "--stream", "-", *other, code=1).err


@pytest.mark.parametrize("words", [("-P", "1", *defines(host="127.0.0.1"))])
def test_a_run_that_does_not_begin(netmodel: Netmodel, tmp_path: Path, words: tuple[str, ...]) -> None:
    netmodel.run("-m", "tcp_rr", *words, "--stream", tmp_path / "stream", code=2)
    first, last = lines_of((tmp_path / "stream").read_text())
    assert (first["type"], last["type"]) == ("begin", "end")
    assert last["run"]["complete"] is False
