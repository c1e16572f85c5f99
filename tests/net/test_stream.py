# SPDX-License-Identifier: Apache-2.0
"""--stream: the intervals of a run while it goes on."""

from __future__ import annotations

import json
import os
import signal
import time
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


def test_a_fifo_that_is_not_read_holds_nothing(netmodel: Netmodel, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    reader = os.open(tmp_path / "fifo", os.O_RDONLY | os.O_NONBLOCK)
    words = ("-m", "tcp_rr", *defines(test_length=FOR_LONG), "-i", "1ms", "--stream", tmp_path / "fifo")
    with netmodel.started(*words) as master:
        time.sleep(2)  # longer than the pipe has room for
        master.signal(signal.SIGTERM)
        result = master.finish()
    os.close(reader)
    assert result.code == 130, result
    assert "--stream" in result.err


@pytest.mark.parametrize("words", [("-P", "1", *defines(host="127.0.0.1"))])
def test_a_run_that_does_not_begin(netmodel: Netmodel, tmp_path: Path, words: tuple[str, ...]) -> None:
    netmodel.run("-m", "tcp_rr", *words, "--stream", tmp_path / "stream", code=2)
    first, last = lines_of((tmp_path / "stream").read_text())
    assert (first["type"], last["type"]) == ("begin", "end")
    assert last["run"]["complete"] is False
