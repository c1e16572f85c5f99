# SPDX-License-Identifier: Apache-2.0
"""--windows: a run of so many intervals, with a line for each as it ends."""

from __future__ import annotations

import re
import signal
from pathlib import Path

import pytest

from nmtest import FOR_LONG, Netmodel, defines, phase_of

M = ("-m", "tcp_rr", "--windows", "3", "-i", "100ms")
LINE = re.compile(
    r"(\[\d/\d\] )?window ((\d)(-(\d))?/3|3/3)(  warm-up)?  .* trans/s(  success 100 %  latency p50 .*  p99 .*)?",
)


def numbers(text: str) -> list[int]:
    """A window that this machine was too busy to end in time is of two, and what comes after the last is none."""
    matches = [LINE.fullmatch(line) for line in text.splitlines() if not line.startswith("after window 3")]
    assert all(matches), text
    return [number for match in matches if match for number in range(int(match[3]), int(match[5] or match[3]) + 1)]


def test_each_window_has_a_line_and_a_row(netmodel: Netmodel) -> None:
    result = netmodel.run(*M, "--format", "json", code=0)
    document = result.json()
    assert 0.3 <= phase_of(document, "request-response")["seconds"] < 1
    assert document["run"]["windows"] == 3
    assert numbers(result.err) == [1, 2, 3]
    assert "  success 100 %  latency p50 " in result.err
    assert len(result.err.splitlines()) == len(document["intervals"])


def test_the_text_report_has_the_windows(netmodel: Netmodel) -> None:
    assert "  interval  " in netmodel.run("-m", "tcp_rr", "--windows", "1", "-i", "100ms", "-q", code=0).out


@pytest.mark.parametrize("quiet", ["-q", "-n"])
def test_quiet_means_no_lines(netmodel: Netmodel, quiet: str) -> None:
    assert netmodel.run(*M, quiet, code=0).err == ""


def test_a_line_comes_as_its_window_ends(netmodel: Netmodel) -> None:
    with netmodel.started("-m", "tcp_rr", "--windows", FOR_LONG[:-1], "-i", "1s") as master:
        master.wait_line(r"window +1/\d+ ")
        assert master.running()
        master.signal(signal.SIGTERM)
        assert master.finish().code == 130


def test_runs_and_warm_up_are_marked(netmodel: Netmodel) -> None:
    err = netmodel.run(*M, "--repeat", "2", "--warmup", "100ms", code=0).err
    assert re.search(r"^\[1/2\] window 1/3  warm-up  ", err, re.M)
    assert re.search(r"^\[2/2\] window .*3/3  ", err, re.M)


PROFILE = """
<profile><group nthreads="1">
<transaction name="connect"><flowop type="connect" options="remotehost=local"/></transaction>
<transaction name="before" {before}><flowop type="write" options="size=10"/></transaction>
<transaction name="after" {after}><flowop type="write" options="size=10"/></transaction>
<transaction name="close"><flowop type="disconnect"/></transaction>
</group></profile>
"""


@pytest.mark.parametrize(
    ("before", "after", "windows"),
    [
        ('duration="20ms"', 'duration="20ms"', (True, True)),
        ('duration="20ms" measure="no"', 'duration="20ms"', (False, True)),
        ('duration="20ms"', 'duration="20ms" measure="yes"', (False, True)),
        ('iterations="2"', 'duration="20ms"', (False, True)),
    ],
)
def test_the_measured_transactions_with_a_duration(
    netmodel: Netmodel, tmp_path: Path, before: str, after: str, windows: tuple[bool, bool]
) -> None:
    profile = tmp_path / "p.xml"
    profile.write_text(PROFILE.format(before=before, after=after))
    result = netmodel.run("-m", profile, "--windows", "2", "-i", "1s", "--format", "json", code=0)
    for name, lasts in zip(("before", "after"), windows, strict=True):
        assert (phase_of(result.json(), name)["seconds"] >= 2) == lasts, "as the profile says"
        assert (f"/2  {name}  " in result.err) == (lasts and all(windows)), "its name, where there are several"


def test_no_duration_is_a_mistake(netmodel: Netmodel, tmp_path: Path) -> None:
    profile = tmp_path / "p.xml"
    profile.write_text(PROFILE.format(before="", after=""))
    err = netmodel.run("-m", profile, "--windows", "2", code=1).err
    assert err == f"netmodel: --windows 2: needs a transaction with a duration that is measured, and {profile} has none\n"


def test_two_lengths_are_a_mistake(netmodel: Netmodel) -> None:
    err = netmodel.run(*M, *defines(test_length="1s"), code=1).err
    assert err == "netmodel: --windows 3 and -D test_length=1s: one at a time: both say how long to measure\n"


def test_the_environment_gives_way(netmodel: Netmodel) -> None:
    netmodel.run(*M, env={"test_length": FOR_LONG}, code=0)


def test_windows_in_the_form_of_neper(netmodel: Netmodel) -> None:
    """They are its length."""
    result = netmodel.run("tcp_rr", "-c", "-H", "local", "--windows", "2", "--interval", "0.05", code=0)
    assert "window 2/2" in result.err
