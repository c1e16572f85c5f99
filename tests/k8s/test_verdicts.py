# SPDX-License-Identifier: Apache-2.0
"""A link that has become slow is found; an equal one is not."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator

import pytest

from conftest import ON, Lab, entry


def test_limits_of_cpu_have_no_verdict(lab: Lab, tests_space: tuple[str, str]) -> None:
    words = ("--limits", "cpu=100m,memory=64Mi", "--baseline", "before.jsonl", "-o", "out")
    lab.file('{"ok": true, "d.network": "pod"}\n', "before.jsonl")
    done = lab("run", lab.file("tests:\n" + entry("one", "TCP_STREAM")), *ON, *tests_space, *words)
    assert done.returncode == 5, done.stderr
    assert "no verdict: limits of CPU have held pods back for " in done.stderr
    (row,) = lab.rows()
    assert row["throttled_s"] > 0


def shape(rate: str) -> None:
    words = ["tc", "qdisc", "replace", "dev", "ve-n1", "root", "tbf", "rate", rate, "burst", "64k", "latency", "20ms"]
    subprocess.run(words, check=True)


@pytest.fixture
def shaped() -> Iterator[None]:
    shape("200mbit")
    yield
    subprocess.run(["tc", "qdisc", "del", "dev", "ve-n1", "root"], check=True)


def verdict(lab: Lab, name: str, seconds: int) -> int:
    text = "tests:\n" + entry("one", "TCP_STREAM", duration=seconds, samples=3, size=65536)
    done = lab("run", lab.file(text), *ON, "-o", name, "--baseline", "before")
    assert done.returncode in (0, 1), done.stderr
    return done.returncode


def baseline(lab: Lab, seconds: int) -> None:
    text = "tests:\n" + entry("one", "TCP_STREAM", duration=seconds, samples=3, size=65536)
    done = lab("run", lab.file(text), *ON, "-o", "before")
    assert done.returncode == 0, done.stderr


@pytest.mark.long
def test_a_link_of_half_the_speed(lab: Lab, shaped: None) -> None:
    baseline(lab, 1)
    assert verdict(lab, "same", 1) == 0
    shape("100mbit")
    assert verdict(lab, "half", 1) == 1


@pytest.mark.long
def test_ten_times_of_ten(lab: Lab, shaped: None) -> None:
    """As above, with samples of 10 s."""
    baseline(lab, 10)
    found = []
    for i in range(10):
        shape("200mbit")
        same = verdict(lab, f"same{i}", 10)
        shape("100mbit")
        found.append((same, verdict(lab, f"half{i}", 10)))
    assert found == [(0, 1)] * 10
    print("figure: a link of half the speed is found in 10 of 10 runs of 3 samples of 10 s, an equal one in none")


@pytest.mark.long
def test_a_slow_link_is_slow_for_pods_and_hosts_alike(lab: Lab, shaped: None) -> None:
    """So pods beside hosts are no regression there."""
    text = "tests:\n" + entry("one", "TCP_STREAM", duration=3, samples=3, size=65536)
    done = lab("run", lab.file(text), *ON, "--all", "--tcp-tolerance", "10", "-o", "out")
    assert done.returncode == 0, done.stdout + done.stderr
    assert [row["d.network"] for row in lab.rows()] == ["pod", "host"] * 3
    assert all(row["received_MBps"] * 8 < 210 for row in lab.rows())


@pytest.mark.long
def test_the_same_point_is_not_worse_than_itself(lab: Lab, tests_space: tuple[str, str]) -> None:
    """A test twenty times, each time beside the run before."""
    file = lab.file("tests:\n" + entry("one", "TCP_RR", samples=5))
    codes, before = [], ()
    for i in range(21):
        done = lab("run", file, *ON, *tests_space, *before, "-o", f"out{i}")
        codes.append(done.returncode)
        before = ("--baseline", f"out{i}")
    assert codes == [0] * 21, done.stderr
    print("figure: the same point beside itself, 5 samples of 1 s: no regression in 20 of 20 runs")
