# SPDX-License-Identifier: Apache-2.0
"""Outputs that nobody reads, that have no room, or that somebody else has put a link in the way of."""

from __future__ import annotations

import json
import os
import re
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from nmtest import FOR_LONG, PROFILES, SOON_S, Netmodel, at_most, defines

SHORT = ("-m", "tcp_rr", *defines(test_length="200ms"))
LONG = ("-m", "tcp_rr", *defines(test_length=FOR_LONG))


@contextmanager
def unread(number: int, size: int = 4096) -> Iterator[Callable[[], None]]:
    """What makes a descriptor of a program a full pipe that nobody reads."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    try:
        while os.write(writer, b"\n" * size):
            pass
    except BlockingIOError:
        pass
    os.set_blocking(writer, True)

    def before() -> None:
        os.dup2(writer, number)

    try:
        yield before
    finally:
        os.close(reader)
        os.close(writer)


@pytest.mark.parametrize("words", [("--format", "json"), ("--iostat", "1ms"), ("-R", "-i", "1ms"), ("-v",)])
def test_one_signal_ends_what_nobody_reads(netmodel: Netmodel, words: tuple[str, ...]) -> None:
    with unread(1) as before, netmodel.started(*LONG, *words, before=before) as master:
        time.sleep(1)  # whatever it has to say by then stands in the pipe's way
        began = time.monotonic()
        master.signal(signal.SIGTERM)
        result = master.finish()
    assert time.monotonic() - began < SOON_S
    assert result.code == 130, result
    assert "nobody read it when the program was to end" in result.err


def test_a_log_that_nobody_reads_keeps_nothing(netmodel: Netmodel, tmp_path: Path) -> None:
    with unread(2) as before:
        result = netmodel.run(*SHORT, "-v", "-o", tmp_path / "report", code=0, before=before)
    assert result.seconds < SOON_S
    assert (tmp_path / "report").read_text()


@pytest.mark.parametrize("words", [("--iostat", "1ms"), ("-R", "-i", "1ms")])
def test_lines_of_progress_that_do_not_fit_are_dropped_and_counted(
    netmodel: Netmodel, tmp_path: Path, words: tuple[str, ...]
) -> None:
    with unread(1) as before:
        result = netmodel.run(
            *("-m", "tcp_rr", *defines(test_length="1s"), *words, "--timeout", "3s", "-o", tmp_path / "report"),
            before=before,
            code=0,
        )
    match = re.search(r"(\d+) lines of progress were dropped: standard output was not read in time", result.err)
    assert match, result
    assert int(match[1]) > 0
    assert result.seconds < SOON_S


def test_a_report_that_nobody_reads_is_given_up(netmodel: Netmodel) -> None:
    with unread(1) as before:
        result = netmodel.run(*SHORT, "--timeout", "1s", before=before, code=2)
    assert "the report could not be written to standard output: nobody has read it for too long" in result.err


def test_a_slow_reader_gets_all(netmodel: Netmodel) -> None:
    def too_few() -> float:
        with netmodel.started("-m", "tcp_rr", *defines(test_length="1s"), "-i", "1ms", "--format", "json") as master:
            return float(101 - len(master.finish().json()["intervals"]))

    at_most(too_few, 0)


def test_a_fifo_without_a_reader(netmodel: Netmodel, tmp_path: Path) -> None:
    """The report goes to standard output instead."""
    os.mkfifo(tmp_path / "fifo")
    with netmodel.started(*LONG, "--format", "json", "-o", tmp_path / "fifo", "-v") as master:
        master.wait_line("phase 2 of 3 begins")
        master.signal(signal.SIGTERM)
        result = master.finish()
    assert result.code == 130, result
    assert f"{tmp_path}/fifo: nobody reads it; it goes to standard output" in result.err
    assert json.loads(result.out)["run"]["interrupted"]


def test_a_fifo_with_a_late_reader(netmodel: Netmodel, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    with netmodel.started(*SHORT, "--format", "json", "-o", tmp_path / "fifo") as master:
        time.sleep(1.5)  # longer than the run
        document = json.loads((tmp_path / "fifo").read_text())
        result = master.finish()
    assert result.code == 0, result
    assert document["run"]["complete"]


def test_a_log_in_a_fifo(netmodel: Netmodel, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    with netmodel.started(*SHORT, "--all-samples", tmp_path / "fifo", "-i", "10ms") as master:
        rows = (tmp_path / "fifo").read_text().splitlines()
        result = master.finish()
    assert result.code == 0, result
    assert len(rows) > 10


def test_a_log_that_nobody_opens_is_refused(netmodel: Netmodel, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    with netmodel.started(*SHORT, "--hdr-log", tmp_path / "fifo") as master:
        time.sleep(0.5)  # it waits for a reader, and says nothing of it
        master.signal(signal.SIGTERM)
        result = master.finish()
    assert result.code == 1, result
    assert f"--hdr-log {tmp_path}/fifo: cannot be written: nobody reads it" in result.err


@pytest.mark.needs("root", "mountns")
def test_a_full_disk_leaves_the_old_file(netmodel: Netmodel, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    script = (
        f'mount -t tmpfs -o size=16k none "{disk}" && echo old >"{disk}/report" && '
        f'head -c 8k /dev/zero >"{disk}/filler"; "$@"; code=$?; cat "{disk}/report" >&2; ls "{disk}" >&2; exit $code'
    )
    prefix = ("unshare", "--mount", "sh", "-c", script, "sh")
    words = (*SHORT, "-i", "1ms", "--format", "json", "-o", disk / "report")
    result = netmodel.run(*words, prefix=prefix, code=2)
    assert "No space left on device; it goes to standard output" in result.err
    assert json.loads(result.out)["run"]["complete"]
    assert "\nold\n" in f"\n{result.err}"
    assert "report." not in result.err.replace("report.xml", ""), "no temporary file is left"


@pytest.mark.parametrize("after_s", [0.0, 0.05, 0.2, 0.4, 0.6, 0.8])
def test_a_signal_at_any_moment_leaves_a_whole_file(netmodel: Netmodel, tmp_path: Path, after_s: float) -> None:
    report = tmp_path / "report"
    report.write_text("{}")
    words = ("-m", "tcp_rr", *defines(test_length="400ms"), "-i", "1ms", "--format", "json", "-o", report)
    with netmodel.started(*words) as master:
        time.sleep(after_s)  # any moment
        master.signal(signal.SIGTERM)
        time.sleep(0.25)  # sooner it would be the same interrupt
        if master.running():
            master.signal(signal.SIGINT)
        master.finish()
    assert isinstance(json.loads(report.read_text()), dict)
    assert os.listdir(tmp_path) == ["report"]


@pytest.mark.parametrize("option", ["--response-log", "--log-rtt", "--all-samples", "--tcp-info", "--hdr-log", "-o"])
def test_no_link_is_followed_where_others_may_put_one(netmodel: Netmodel, tmp_path: Path, option: str) -> None:
    everybodys = tmp_path / "tmp"
    everybodys.mkdir()
    everybodys.chmod(0o1777)
    precious = tmp_path / "precious"
    precious.write_text("precious\n")
    (everybodys / "log").symlink_to(precious)
    result = netmodel.run(*SHORT, option, everybodys / "log", code=1)
    assert "it is a link, or is reached by one, in a folder that others may write to" in result.err
    assert precious.read_text() == "precious\n"
    (everybodys / "folder").symlink_to(tmp_path)
    netmodel.run(*SHORT, option, everybodys / "folder" / "precious", code=1)
    assert precious.read_text() == "precious\n"
    (everybodys / "hard").hardlink_to(precious)
    if option != "-o":
        netmodel.run(*SHORT, option, everybodys / "hard", code=1)
    assert precious.read_text() == "precious\n"


def test_a_report_goes_where_a_link_names_nothing_yet(netmodel: Netmodel, tmp_path: Path) -> None:
    """By a relative link to another link, both of which stay."""
    (tmp_path / "results").mkdir()
    (tmp_path / "link").symlink_to("results/latest")
    (tmp_path / "results" / "latest").symlink_to("today.json")
    netmodel.run(*SHORT, "--format", "json", "-o", tmp_path / "link", code=0)
    assert json.loads((tmp_path / "results" / "today.json").read_text())["run"]["complete"]
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "results" / "latest").is_symlink()


def test_links_of_ones_own_are_followed(netmodel: Netmodel, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "log")
    netmodel.run(*SHORT, "--hdr-log", tmp_path / "link", code=0)
    assert (tmp_path / "log").stat().st_size > 0


@pytest.mark.parametrize("output", ["output", "all-samples", "stream", "hdr-log"])
@pytest.mark.parametrize("read", ["master", "key-file", "compare"])
def test_no_output_overwrites_what_is_read(netmodel: Netmodel, tmp_path: Path, read: str, output: str) -> None:
    """Under whatever name, and nothing runs."""
    path, profile = tmp_path / "read", tmp_path / "own.xml"
    profile.write_text((PROFILES / "tcp_rr.xml").read_text())
    if read == "master":
        path = profile
    elif read == "key-file":
        path.write_text("0123456789abcdef0123456789abcdef\n")
        path.chmod(0o600)
    else:
        path.write_text(netmodel.run(*SHORT, "--format", "json", code=0).out)
    before = path.read_text()
    (tmp_path / "soft").symlink_to(path)
    (tmp_path / "hard").hardlink_to(path)
    line = ["-m", profile, *SHORT[2:], *([] if read == "master" else [f"--{read}", path])]
    for name in path, tmp_path / "soft", tmp_path / "hard":
        refused = netmodel.run(*line, f"--{output}", name, code=1)
        assert refused.err == (
            f"netmodel: --{read} {path} and --{output} {name}: one file: the output would overwrite what is read\n"
        )
        assert refused.out == ""
    assert path.read_text() == before
    netmodel.run(*line, f"--{output}", tmp_path / "new", code=0)
