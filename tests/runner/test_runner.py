# SPDX-License-Identifier: Apache-2.0
"""The runner finds what is planted: small suites with one fault each are run and judged as the check is."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import xml.etree.ElementTree as xml
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

import outcome
import suites

RUNNER = Path(__file__).resolve().parent
TOP = RUNNER.parents[1]

# What run.main does, with suites of a folder.
DRIVER = """
import os, sys
from pathlib import Path
import leftovers, run
from suites import Pytest, Step, Style, pytest_here
folder = Path(sys.argv[1])
os.chdir(folder)
run.LOGS = folder
(folder / "tmp").mkdir()
sys.exit(run.run([{stage}], folder / "tmp", leftovers.mounts()))
"""
PYTEST = 'Pytest("some", pytest_here(folder, folder / "t"), [folder / "tests"], folder)'

ALWAYS = "def test_always(): assert 1 + 1 == 3\n"
EVERY_OTHER_TIME = """
import pathlib, pytest
@pytest.mark.parametrize("number", range({count}))
def test_sometimes(number):
    mark = pathlib.Path(__file__).with_name(f"mark{{number}}")
    if not mark.exists():
        mark.touch()
        assert "a busy machine" == "a quiet one"
    mark.unlink()
"""
RIGHT = "def test_right(): pass\n"


@dataclass
class Judged:
    code: int
    out: str
    folder: Path

    @property
    def last(self) -> str:
        return self.out.splitlines()[-1]

    @property
    def unsteady(self) -> list[str]:
        return (self.folder / "unsteady.txt").read_text().splitlines()


Judge = Callable[..., Judged]


def outside() -> dict[str, str]:
    """The environment of who is not run by a runner, whose network namespaces are its own."""
    return {name: value for name, value in os.environ.items() if name != "NETMODEL_RUNNER_MOUNTS"}


@pytest.fixture
def judged(tmp_path: Path) -> Judge:
    def judge(test: str = "", suites: str = PYTEST, beside: str = "", **env: str) -> Judged:
        (tmp_path / "tests").mkdir()
        if test:
            (tmp_path / "tests" / "test_some.py").write_text(test)
        command = [sys.executable, "-c", DRIVER.format(stage=f"[[{suites}], [{beside}]]"), str(tmp_path)]
        environment = outside() | {"PYTHONPATH": str(RUNNER), "PYTHONDONTWRITEBYTECODE": "1"} | env
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=100, check=False)
        assert "Traceback (most recent call last)" not in done.stderr, done.stderr
        return Judged(done.returncode, done.stdout, tmp_path)

    return judge


def test_what_is_right_passes(judged: Judge) -> None:
    end = judged(RIGHT)
    assert (end.code, end.last, end.unsteady) == (0, "1 passed, 0 failed, 0 skipped", [])


def test_what_always_fails_is_red(judged: Judge) -> None:
    end = judged(RIGHT + ALWAYS)
    assert (end.code, end.last, end.unsteady) == (1, "1 passed, 1 failed, 0 skipped", [])
    assert end.out.count("once more, alone: ") == 2
    assert "FAILED tests/test_some.py::test_always: test_some.py:2: assert (1 + 1) == 3" in end.out.replace(f"{end.folder}/", "")


def test_what_fails_every_other_time_is_green_and_listed(judged: Judge) -> None:
    end = judged(RIGHT + EVERY_OTHER_TIME.format(count=1))
    assert (end.code, end.last) == (0, "2 passed, 0 failed, 0 skipped")
    (line,) = end.unsteady
    assert "test_sometimes[0]: test_some.py:" in line and "a busy machine" in line
    (case,) = [case for case in xml.parse(end.folder / "check.xml").getroot() if case.find("flakyFailure") is not None]
    assert case.get("name", "").endswith("test_sometimes[0]")


def test_lanes_run_beside_one_another(judged: Judge) -> None:
    """Each step waits for what the other one makes; what has failed is run again when both lanes have ended."""
    step = 'Step("{0}", ["sh", "-c", "touch {0}; until [ -e {1} ]; do sleep 0.05; done"], folder)'
    fails_once = 'Step("once", ["sh", "-c", "test -e mark || { touch mark; exit 1; }; test -e right"], folder)'
    end = judged(suites=step.format("left", "right"), beside=f'{fails_once}, {step.format("right", "left")}')
    assert (end.code, end.last) == (0, "3 passed, 0 failed, 0 skipped")
    assert end.unsteady == ["once: exit code 1: it said nothing"]
    said = [line.partition(": ")[2] for line in end.out.splitlines() if line.startswith("== ") and ": ended, " not in line]
    assert said[:4] in (["left", "once", "right", "once more, alone: once"], ["once", "left", "right", "once more, alone: once"])


def test_an_interrupt_ends_all_lanes(monkeypatch: pytest.MonkeyPatch) -> None:
    """What runs is left to end, as it has had the signal, too; nothing begins after it."""
    over, ran = threading.Event(), []

    class Recorded:
        def __init__(self, title: str) -> None:
            self.title = title

        def run(self) -> list[outcome.Outcome]:
            ran.append(self.title)
            if self.title == "first":
                os.kill(os.getpid(), signal.SIGINT)
            assert over.wait(60)
            return []

        def again(self, names: Sequence[str]) -> list[outcome.Outcome]:
            raise AssertionError("nothing is run again")

    monkeypatch.setattr(outcome, "Event", lambda: over)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            outcome.judge([[[Recorded("first"), Recorded("second")], [Recorded("beside"), Recorded("third")]]], print)
    finally:
        signal.signal(signal.SIGINT, before)
    assert set(ran) <= {"first", "beside"}


def test_ten_unsteady_tests_are_green(judged: Judge) -> None:
    end = judged(EVERY_OTHER_TIME.format(count=10))
    assert (end.code, end.last, len(end.unsteady)) == (0, "10 passed, 0 failed, 0 skipped", 10)


def test_eleven_are_red(judged: Judge) -> None:
    end = judged(RIGHT + EVERY_OTHER_TIME.format(count=11))
    assert (end.code, end.last) == (1, "1 passed, 11 failed, 0 skipped")


@pytest.mark.parametrize("test", ["", "def no_test(): pass\n"], ids=["no file", "no function"])
def test_no_test_at_all_is_red(judged: Judge, test: str) -> None:
    end = judged(test)
    assert (end.code, end.last) == (1, "0 passed, 1 failed, 0 skipped")


def test_a_file_that_cannot_be_read_is_red(judged: Judge) -> None:
    end = judged("import no_module_of_this_name\n")
    assert end.code == 1
    assert "FAILED" in end.out and "no_module_of_this_name" in end.out


def test_a_process_that_is_left_running_is_red_by_its_name(judged: Judge) -> None:
    end = judged(
        "import subprocess\n"
        "def test_leaves(): subprocess.Popen(['sleep', '98.7'], start_new_session=True)\n"
    )
    assert end.code == 1
    assert "sleep 98.7" in next(line for line in end.out.splitlines() if line.startswith("LEFT process "))
    assert not subprocess.run(["pgrep", "-f", "sleep 98.7"], capture_output=True, text=True, check=False).stdout


def test_a_temporary_file_that_is_left_is_red_by_its_name(judged: Judge) -> None:
    end = judged(RIGHT, suites=PYTEST + ', Step("leaves", ["touch", folder / "tmp" / "left.txt"], folder)')
    assert end.code == 1
    assert any(line.startswith("LEFT temporary file ") and line.endswith("left.txt") for line in end.out.splitlines())


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has mounts and network namespaces of its own")
def test_what_is_left_in_own_mounts_is_red(tmp_path: Path) -> None:
    script = (
        "import leftovers, os, subprocess, sys\n"
        "from pathlib import Path\n"
        "if begun := leftovers.command_in_own_mounts([sys.executable, *sys.argv]): os.execvp(begun[0], begun)\n"
        "before = leftovers.mounts()\n"
        "subprocess.run(['ip', 'netns', 'add', 'left'], check=True)\n"
        "subprocess.run(['mount', '-t', 'tmpfs', 'none', sys.argv[1]], check=True)\n"
        "print(leftovers.remains(before, Path(sys.argv[1])))\n"
    )
    path = tmp_path / "script.py"
    path.write_text(script)
    (tmp_path / "point").mkdir()
    done = subprocess.run(
        [sys.executable, path, tmp_path / "point"],
        env=outside() | {"PYTHONPATH": str(RUNNER)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout == f"['network namespace left', 'mount {tmp_path}/point']\n", done.stderr


def test_a_broken_style_rule_is_red(judged: Judge, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    (copy / "src" / "base").mkdir(parents=True)
    shutil.copytree(TOP / "tools", copy / "tools")
    (copy / "src" / "base" / "broken.c").write_text("void f(char *to) { sprintf(to, \"x\"); }\n")
    # In a check-style of its own, as the other checks need the whole tree.
    (tmp_path / "Makefile").write_text(
        f"check-style:\n\t@if {TOP}/tools/check-banned {copy}; then echo 'PASS: check-banned'; "
        "else echo 'FAIL: check-banned'; exit 1; fi\n"
    )
    end = judged(RIGHT, suites=PYTEST + ", Style(folder)")
    assert (end.code, end.last) == (1, "1 passed, 1 failed, 0 skipped")
    assert "FAILED style: check-banned" in end.out


def test_what_style_says_to_standard_error_is_no_check(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """But it is shown where one fails."""
    make = "check-style:\n\t@printf 'a compiler: ' >&2; echo 'PASS: check-one'; echo 'FAIL: of-a-compiler' >&2; exit {}\n"
    for code in (0, 1):
        (tmp_path / "Makefile").write_text(make.format(code))
        assert [(one.name, one.end) for one in suites.Style(tmp_path).run()] == [("style: check-one", outcome.PASSED)]
        assert ("a compiler: FAIL: of-a-compiler" in capsys.readouterr().out) is (code == 1)


def test_the_cpu_time_of_a_suite_is_that_of_its_commands_and_what_they_wait_for(judged: Judge, tmp_path: Path) -> None:
    burn = [sys.executable, "-c", "import time\nwhile time.process_time() < 0.2: pass"]
    shell = ["sh", "-c", '"$@"; true', "sh", *burn]
    for command in (burn, shell):
        step = suites.Step("burns", command, tmp_path)
        for least in (0.2, 0.4):
            assert [one.end for one in step.run()] == [outcome.PASSED]
            assert least <= step.cpu_s < least + 10
    end = judged(suites='Step("burns", [sys.executable, "-c", "import time\\nwhile time.process_time() < 1.2: pass"], folder)')
    assert re.search(r"burns: ended, [1-9]\d* s of CPU time$", end.out, re.MULTILINE)


def test_what_cannot_run_here_is_a_skip_with_its_reason(judged: Judge) -> None:
    step = 'Step("a root", ["sh", "-c", "echo SKIP: no mirror; exit 77"], folder)'
    end = judged(RIGHT, suites=f"{PYTEST}, {step}")
    assert (end.code, end.last) == (0, "1 passed, 0 failed, 1 skipped")
    assert "SKIP: no mirror" in end.out


@pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("debootstrap") is None, reason="needs root and debootstrap, which .ci/run installs"
)
def test_a_mirror_that_cannot_be_reached_is_a_skip_with_its_reason(judged: Judge, tmp_path: Path) -> None:
    root = f'Step("bare root", ["{TOP}/tests/bare-root", "bookworm", "first"], folder)'
    env = {"DEBIAN_MIRROR": "http://127.0.0.1:9/debian", "NETMODEL_PAUSES": "0 0", "NETMODEL_CACHE": str(tmp_path / "cache")}
    end = judged(RIGHT, suites=f"{PYTEST}, {root}", **env)
    assert (end.code, end.last) == (0, "1 passed, 0 failed, 1 skipped")
    assert "no mirror or index of packages can be reached" in end.out


def patiently(*command: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"NETMODEL_PAUSES": "0 0"}
    return subprocess.run(
        [TOP / "tools" / "patiently", *command], env=environment, capture_output=True, text=True, timeout=60, check=False
    )


def test_an_index_is_asked_three_times(tmp_path: Path) -> None:
    log = tmp_path / "log"
    done = patiently("sh", "-c", f"echo asked >>{log}; echo 'Could not resolve host' >&2; exit 100")
    assert done.returncode == 69
    assert done.stderr == "a mirror or an index of packages cannot be reached: Could not resolve host\n"
    assert log.read_text().count("asked") == 3


def test_what_fails_for_another_reason_fails_at_once(tmp_path: Path) -> None:
    log = tmp_path / "log"
    done = patiently("sh", "-c", f"echo asked >>{log}; echo 'E: no package of that name' >&2; exit 100")
    assert (done.returncode, done.stderr, log.read_text()) == (100, "E: no package of that name\n", "asked\n")


def test_an_index_that_answers_the_second_time_is_enough(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    assert patiently("sh", "-c", f"[ -e {mark} ] || {{ touch {mark}; echo 'Connection timed out'; exit 1; }}").returncode == 0


def test_the_unit_tests_of_a_program_are_told_one_by_one(judged: Judge, tmp_path: Path) -> None:
    """As make and check leave them: a program that fails fails again with one of its tests, and make with it."""
    unit = tmp_path / "tests" / "unit" / "base"
    log = "x\\n50%%: Checks: 2, Failures: 1, Errors: 0\\na.c:3:P:core:test_one:0: Passed\\na.c:9:F:core:test_two:0: not so\\n"
    make = f"check:\n\t@mkdir -p {unit}; printf '{log}' >{unit}/test_x.log; echo ':test-result: FAIL' >{unit}/test_x.trs; exit 1\n"
    (tmp_path / "Makefile").write_text(make)
    end = judged(RIGHT, suites=f"{PYTEST}, __import__('suites').Units('unit tests', folder, 1)")
    assert (end.code, end.last) == (1, "2 passed, 1 failed, 0 skipped")
    assert "FAILED unit tests: tests/unit/base/test_x core/test_two: not so" in end.out
