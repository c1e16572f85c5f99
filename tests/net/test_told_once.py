# SPDX-License-Identifier: Apache-2.0
"""Each failure is told once to whoever reads both outputs, and to whoever reads one of them."""

from __future__ import annotations

import os
import re
import signal
import sys
from pathlib import Path

import pytest

from nmtest import Netmodel, Result, defines, free_port

TERMINAL = (
    sys.executable,
    "-c",
    "import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))",
)


def fail(netmodel: Netmodel, *args: str | Path, prefix: tuple[str, ...] = ()) -> Result:
    port = str(free_port())
    return netmodel.run("-m", "tcp_rr", "-P", port, *defines(host="127.0.0.1"), *args, prefix=prefix, code=2)


def test_a_terminal_is_told_a_failure_once(netmodel: Netmodel) -> None:
    seen = fail(netmodel, prefix=TERMINAL).out
    assert seen.count("nothing listens on port") == 1, seen
    assert re.search(r"^  INCOMPLETE: slave 127\.0\.0\.1: nothing listens", seen, re.MULTILINE)
    assert seen.count("nothing was measured") == 1
    assert "idle" not in seen and " - " not in seen


def test_a_file_and_a_terminal_are_told_each(netmodel: Netmodel, tmp_path: Path) -> None:
    report = tmp_path / "report"
    seen = fail(netmodel, "-o", report, prefix=TERMINAL).out
    assert seen.count("the run is incomplete: slave 127.0.0.1: nothing listens on port") == 1, seen
    assert report.read_text().count("INCOMPLETE: slave 127.0.0.1: nothing listens on port") == 1


@pytest.mark.parametrize("report", ["text", "kv"])
def test_a_redirected_report_does_not_keep_the_error_from_standard_error(netmodel: Netmodel, report: str) -> None:
    result = fail(netmodel, "--format", report)
    assert result.err.count("netmodel: the run is incomplete: slave 127.0.0.1: nothing listens on port") == 1
    assert ("INCOMPLETE" in result.out) == (report == "text")


def test_a_report_that_says_less_leaves_the_error_to_standard_error(netmodel: Netmodel) -> None:
    seen = fail(netmodel, "--format", "kv", prefix=TERMINAL).out
    assert seen.count("the run is incomplete: slave 127.0.0.1: nothing listens on port") == 1, seen


def test_a_failure_of_the_run_is_told_beside_one_of_its_output(netmodel: Netmodel) -> None:
    result = fail(netmodel, "-o", "/dev/full")
    assert "the report could not be written to /dev/full: No space left on device" in result.err
    assert "netmodel: the run is incomplete: slave 127.0.0.1: nothing listens on port" in result.err
    assert "INCOMPLETE: slave 127.0.0.1: nothing listens on port" in result.out


def test_a_session_that_is_killed_is_a_slave_that_has_ended(netmodel: Netmodel) -> None:
    with netmodel.slave() as slave:
        args = ("-m", "tcp_rr", "-v", "-P", str(slave.port), *defines(host="127.0.0.1", test_length="30s"))
        with netmodel.started(*args) as master:
            master.wait_line("phase 2 of 3 begins")
            for session in slave.sessions():
                os.kill(session, signal.SIGKILL)
            result = master.finish()
    assert result.code == 2, result
    assert re.search(r"the run is incomplete: slave 127\.0\.0\.1: the slave has ended", result.err), result
