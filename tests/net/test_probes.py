# SPDX-License-Identifier: Apache-2.0
"""What a machine may lack: the probes, and what tests do with them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import probes
from nmtest import TOP

TESTS = TOP / "tests"

SAMPLE = """
import probes, pytest

@pytest.mark.needs("bash", "root")
def test_marked(): pass

@pytest.fixture
def need_ipv6(): raise RuntimeError("not reached")

@pytest.mark.usefixtures("need_ipv6")
def test_by_fixture(): pass

@pytest.mark.parametrize("name", ["clock", "perf"])
def test_inside(name): probes.require(name)

def test_needs_nothing(): pass
"""
CONFTEST = """
import probes
def pytest_addoption(parser): probes.add_options(parser)
def pytest_configure(config): probes.register(config)
"""


def run_pytest(folder: Path, *words: str | Path, without: str | None = None, text: str = SAMPLE) -> tuple[int, str]:
    """What pytest says of these tests."""
    if text:
        (folder / "conftest.py").write_text(CONFTEST)
        (folder / "test_sample.py").write_text(text)
    env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "NETMODEL_TEST"))}
    env |= {"PYTHONPATH": str(TESTS / "net"), "PYTHONDONTWRITEBYTECODE": "1"}
    env |= {} if without is None else {probes.WITHOUT: without}
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-rs", "-v", *words]
    done = subprocess.run(command, env=env, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    return done.returncode, done.stdout + done.stderr


def outcomes(said: str) -> dict[str, str]:
    return dict(re.findall(r"::(test_\S+) (PASSED|SKIPPED|FAILED|ERROR)", said))


def test_without_them_tests_are_skipped(tmp_path: Path) -> None:
    code, said = run_pytest(tmp_path, without="root,ipv6, perf,clock")
    assert code == 0, said
    skipped = ("test_marked", "test_by_fixture", "test_inside[clock]", "test_inside[perf]")
    assert outcomes(said) == {**dict.fromkeys(skipped, "SKIPPED"), "test_needs_nothing": "PASSED"}
    for name in ("root", "ipv6", "perf", "clock"):
        assert f"without {name}, as NETMODEL_TEST_WITHOUT says" in said


def test_those_that_need_it_can_be_run_alone(tmp_path: Path) -> None:
    code, said = run_pytest(tmp_path, "--needing=bash", without="bash")
    assert code == 0, said
    assert outcomes(said) == {"test_marked": "SKIPPED"}


@pytest.mark.parametrize(
    ("text", "words", "without"),
    [
        (SAMPLE, (), "perf,no_such_thing"),
        (SAMPLE, ("--needing=no_such_thing",), ""),
        (SAMPLE.replace('"root"', '"no_such_thing"'), (), ""),
    ],
    ids=["without", "needing", "marker"],
)
def test_a_name_that_is_not_known_is_refused(tmp_path: Path, text: str, words: tuple[str, ...], without: str) -> None:
    code, said = run_pytest(tmp_path, *words, without=without, text=text)
    assert code == pytest.ExitCode.USAGE_ERROR, said
    assert f"no probe is called no_such_thing; there are {' '.join(sorted(probes.PROBES))}" in said


def test_whatever_a_machine_lacks_its_tests_are_green(tmp_path: Path) -> None:
    """With all probes saying no, each test that names one is skipped. It takes long to collect all there are."""
    names = sorted(probes.PROBES)
    folders = [TESTS / folder for folder in ("net", "docs", "bench", "vm")]
    words = ["-q", "--no-summary", f"--rootdir={TOP}", *(word for name in names for word in ("--needing", name))]
    code, said = run_pytest(tmp_path, *folders, *words, without=",".join(names), text="")
    last = said.splitlines()[-1]
    assert code == 0 and re.fullmatch(r"=* ?\d+ skipped, \d+ deselected in [^=]*=*", last), said[-3000:]


def test_each_has_a_test_that_needs_it() -> None:
    """Or a script: tests/vm/run asks for kvm."""
    texts = "".join(path.read_text() for path in TESTS.glob("*/*.py") if path.name not in ("probes.py", "test_probes.py"))
    marked = re.findall(r'"(\w+)"', " ".join(re.findall(r"(?:needs|require|protocols)\(([^)]*)\)", texts)))
    fixtures = set(re.findall(r"^def (\w+)\(", texts, re.MULTILINE)) | set(re.findall(r'fixture\(name="(\w+)"', texts))
    assert set(probes.FIXTURES) <= fixtures
    used = {*marked, *(name for needs in probes.FIXTURES.values() for name in needs)}
    assert set(probes.PROBES) - used == {"kvm"}


def test_they_can_be_asked_for_by_hand() -> None:
    script = TESTS / "net" / "probes.py"

    def ask(*words: str) -> subprocess.CompletedProcess[str]:
        env = os.environ | {probes.WITHOUT: ",".join(probes.PROBES)}
        return subprocess.run([sys.executable, script, *words], env=env, capture_output=True, text=True, check=False)

    everything = ask()
    assert everything.returncode == 0, everything.stderr
    assert [line.split()[0] for line in everything.stdout.splitlines()] == sorted(probes.PROBES)
    assert ask("bash").returncode == 1
    assert "no probe is called no_such_thing" in ask("no_such_thing").stderr
