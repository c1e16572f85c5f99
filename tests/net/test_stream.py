# SPDX-License-Identifier: Apache-2.0
"""--stream: the intervals of a run while it goes on."""

from __future__ import annotations

import json
import os
import select
import signal
import socket
from contextlib import suppress
from pathlib import Path
from typing import Any, TextIO

import jsonschema  # type: ignore[import-untyped,unused-ignore]
import pytest

from nmtest import FOR_LONG, PATIENCE_S, SCHEMA, Json, Netmodel, defines, wait_until

WORDS = ("-m", "tcp_rr", *defines(test_length="400ms"), "-i", "100ms")
ENDLESS = ("-m", "tcp_rr", *defines(test_length=FOR_LONG))


def lines_of(text: str) -> list[Json]:
    return [json.loads(line) for line in text.splitlines()]


def follow(fifo: Path) -> TextIO:
    """Opens it for reading, and waits until something is written."""
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    assert select.select([reader], [], [], PATIENCE_S)[0], "nobody writes"
    os.set_blocking(reader, True)
    return os.fdopen(reader)


def count_lines(document: Json) -> int:
    """How many lines a run has whose document this is."""
    return 2 + sum(len(rows) for rows in [document["intervals"], *(host["intervals"] for host in document["hosts"])])


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
    words = (*ENDLESS, "-i", "50ms", "--stream", tmp_path / "fifo")
    with netmodel.started(*words) as master, (tmp_path / "fifo").open() as stream:
        assert json.loads(stream.readline())["type"] == "begin"
        assert json.loads(stream.readline())["type"].endswith("interval")
        assert master.running()
        master.signal(signal.SIGTERM)
        *_, last = lines_of(stream.read())
        assert master.finish().code == 130
    assert last["type"] == "end"
    assert last["run"]["interrupted"] is True


def test_lines_come_while_nothing_else_is_told(netmodel: Netmodel, tmp_path: Path) -> None:
    """To a reader that comes late, and also where a line is longer than a pipe has room for."""
    name = 60000 * "\\"
    flowops = """<transaction><flowop type="connect" options="remotehost=local"/></transaction>
        <transaction duration="2000s" rate="100"><flowop type="write" options="size=10"/></transaction>"""
    (tmp_path / "p.xml").write_text(f'<profile name="{name}"><group nthreads="1">{flowops}</group></profile>')
    os.mkfifo(tmp_path / "fifo")
    with netmodel.started("-m", tmp_path / "p.xml", "-i", "1000s", "--stream", tmp_path / "fifo") as master:
        master.wait_line("this takes")
        with follow(tmp_path / "fifo") as stream:
            assert json.loads(stream.readline())["profile"]["name"] == name
            assert master.running()
            master.signal(signal.SIGTERM)
            *_, last = lines_of(stream.read())
    assert last["type"] == "end"
    assert last["run"]["stream_dropped"] == 0


# Lines of many kB: a pipe and the queue behind it are full soon.
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
    words = ("--windows", "100000", "-i", "20ms", "--percentiles", MANY, "--stream", tmp_path / "fifo")
    with netmodel.started("-m", tmp_path / "p.xml", *words, "--format", "json") as master, os.fdopen(reader) as stream:
        master.wait_line(r"window +(\d+-)?\d{3}/")
        os.set_blocking(reader, True)
        lines = lines_of(stream.readline()) if reads else []
        master.signal(signal.SIGTERM)
        lines += lines_of(stream.read()) if reads else []
        result = master.finish()
    assert result.code == 130, result
    document = result.json()
    dropped = document["run"]["stream_dropped"]
    assert dropped > 0
    assert f"{dropped} lines of --stream {tmp_path}/fifo were dropped" in result.err
    if reads:
        assert lines[0]["type"] == "begin"
        assert lines[-1] == {"type": "end", "run": document["run"], "totals": document["totals"]}
        assert len(lines) + dropped == count_lines(document)


def times_open(pid: int, path: Path) -> int:
    """In how many descriptors a process has the file."""
    times = 0
    for number in os.listdir(f"/proc/{pid}/fd"):
        with suppress(FileNotFoundError):
            times += os.readlink(f"/proc/{pid}/fd/{number}") == str(path)
    return times


def test_a_reader_that_goes_away_ends_nothing(netmodel: Netmodel, tmp_path: Path) -> None:
    """Another one may follow: it begins with a whole line."""
    fifo = tmp_path.resolve() / "fifo"
    os.mkfifo(fifo)
    words = (*ENDLESS, "-i", "50ms", "--stream", fifo, "-o", tmp_path / "report", "--format", "json")
    with netmodel.started(*words) as master:
        with follow(fifo) as stream:
            assert json.loads(stream.readline())["type"] == "begin"
            assert times_open(master.pid, fifo) == 2
        # One stays, by which the FIFO is found again.
        wait_until(lambda: times_open(master.pid, fifo) == 1, what="the reader is missed")
        with follow(fifo) as stream:
            assert json.loads(stream.readline())["type"].endswith("interval")
            assert master.running()
            master.signal(signal.SIGTERM)
            *_, last = lines_of(stream.read())
            assert master.finish().code == 130
    assert last["type"] == "end"
    report = json.loads((tmp_path / "report").read_text())
    assert last["run"]["stream_dropped"] == report["run"]["stream_dropped"] > 0


def writer_without_a_reader(kind: str) -> int:
    """Of a pipe, or of a connection that was reset."""
    if kind == "pipe":
        reader, writer = os.pipe()
        os.close(reader)
        return writer
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.create_connection(listener.getsockname()) as end:
        peer, _ = listener.accept()
        end.send(b"not read")
        assert select.select([peer], [], [], PATIENCE_S)[0]
        peer.close()
        return os.dup(end.fileno())


@pytest.mark.parametrize("kind", ["pipe", "connection"])
def test_standard_output_that_nobody_reads_ends_nothing(netmodel: Netmodel, tmp_path: Path, kind: str) -> None:
    writer = writer_without_a_reader(kind)
    words = ("--stream", "-", "--format", "json", "-o", tmp_path / "report")
    with netmodel.started(*WORDS, *words, before=lambda: os.dup2(writer, 1)) as master:
        os.close(writer)
        result = master.finish()
    assert result.code == 0, result
    document = json.loads((tmp_path / "report").read_text())
    assert document["run"]["complete"] is True
    lines = count_lines(document)
    assert document["run"]["stream_dropped"] == lines
    assert f"{lines} lines of --stream - were dropped" in result.err


def test_a_file_without_room_is_an_error(netmodel: Netmodel) -> None:
    assert "--stream /dev/full: cannot be written" in netmodel.run(*WORDS, "--stream", "/dev/full", code=2).err


def test_a_fifo_without_a_reader_ends_nothing(netmodel: Netmodel, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    result = netmodel.run(*WORDS, "--stream", tmp_path / "fifo", "--format", "json", code=0)
    assert f"--stream {tmp_path}/fifo: nobody reads it yet" in result.err
    document = result.json()
    assert document["run"]["stream_dropped"] == count_lines(document)


def test_each_run_counts_its_own_lines(netmodel: Netmodel, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    words = ("--repeat", "2", "--stream", tmp_path / "fifo", "--format", "json")
    result = netmodel.run(*WORDS, *words, code=0)
    document = result.json()
    first, second = (run["run"]["stream_dropped"] for run in document["repeat"]["runs"])
    assert first > 2
    assert second == document["run"]["stream_dropped"] == count_lines(document)
    assert f"{first + second} lines of --stream {tmp_path}/fifo were dropped" in result.err


def test_a_late_reader_has_all_lines(netmodel: Netmodel, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    with netmodel.started(*ENDLESS, "-i", "100ms", "--stream", tmp_path / "fifo", "--format", "json") as master:
        master.wait_line("nobody reads it yet")
        with follow(tmp_path / "fifo") as stream:
            lines = lines_of(stream.readline())
            master.signal(signal.SIGTERM)
            lines += lines_of(stream.read())
        result = master.finish()
    assert result.code == 130, result
    assert (lines[0]["type"], lines[-1]["type"]) == ("begin", "end")
    assert lines[-1]["run"]["stream_dropped"] == 0
    assert len(lines) == count_lines(result.json())


def test_a_socket_file_is_no_fifo(netmodel: Netmodel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # its path may be short only
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket")
        result = netmodel.run(*WORDS, "--stream", "socket", code=1)
    assert "--stream socket: cannot be written: No such device" in result.err


@pytest.mark.parametrize("other", [("-o", "-"), ("-R",), ("--iostat", "1s")])
def test_standard_output_has_room_for_one(netmodel: Netmodel, other: tuple[str, ...]) -> None:
    assert "both would go to standard output" in netmodel.run(*WORDS, "--stream", "-", *other, code=1).err


@pytest.mark.parametrize("words", [("-P", "1", *defines(host="127.0.0.1"))])
def test_a_run_that_does_not_begin(netmodel: Netmodel, tmp_path: Path, words: tuple[str, ...]) -> None:
    netmodel.run("-m", "tcp_rr", *words, "--stream", tmp_path / "stream", code=2)
    first, last = lines_of((tmp_path / "stream").read_text())
    assert (first["type"], last["type"]) == ("begin", "end")
    assert last["run"]["complete"] is False
