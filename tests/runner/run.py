#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the tests of a tier and says how they ended; ./quickstart has installed what they need and built the program.

Usage: run.py quick | check [bare-root]

Whatever fails is run again, alone, when all else is done, up to twice: what fails three times has failed; what passes
then counts as passed and is listed as unsteady. More than ten unsteady tests are a failure, and so is anything of its
own that a run leaves behind. Results: build/check/check.xml (JUnit), build/check/unsteady.txt."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import leftovers
from outcome import FAILED, MOST_UNSTEADY, PASSED, SKIPPED, Lane, Outcome, Stage, Verdict, as_junit, judge, slowest
from suites import Pytest, Step, Style, Units, pytest_here

TOP = Path(__file__).resolve().parents[2]
BUILD = TOP / "build"
LOGS = BUILD / "check"
SANITIZED = LOGS / "sanitizers"
JOBS = os.cpu_count() or 1
TOGETHER = ["-n", str(3 * JOBS), "--dist", "loadgroup"]  # tests of the program, which wait most of the time
ALONE, NOT_ALONE = ["-m", "alone"], ["-m", "not alone"]
SLOWEST = 25
FUZZ_RUNS, FUZZ_SEED = 20000, 1  # the same inputs each time: what fails, fails again
GIVE_WAY = ["nice", "-n", "10"]
MAKE_SANITIZED = ["make", "-s", f"-j{JOBS}", "-C", SANITIZED]
RELEASES = ("bookworm", "trixie")  # of Debian, whose bare roots take turns

# What `quick` runs of the tests of the program besides those that have changed: the main job, each stock profile's
# language, the command line, a slave, and what its results say.
HANDFUL = [f"tests/net/test_{name}.py" for name in ("main_job", "cli_errors", "flowops", "slaves", "requirements")]

_began = time.monotonic()


def say(text: str) -> None:
    print(f"\n== {time.monotonic() - _began:.0f} s: {text}", flush=True)


def net(title: str, scratch: Path, what: list[str | Path], together: list[str]) -> Pytest:
    return Pytest(title, pytest_here(TOP, scratch / "net"), what, LOGS, together)


def changed_tests() -> list[str | Path]:
    """Test files that differ from the branch that this one follows, or else from the commit before."""
    git = ["git", "-C", str(TOP)]
    for base in ("@{upstream}", "HEAD~1"):
        done = subprocess.run([*git, "diff", "--name-only", base], capture_output=True, text=True, check=False)
        if done.returncode == 0:
            names = [name for name in done.stdout.split() if name.startswith(("tests/net/test_", "tests/docs/test_"))]
            return [TOP / name for name in names if (TOP / name).exists()]
    return []


def quick(scratch: Path) -> list[Stage]:
    tests = sorted({*changed_tests(), *(TOP / name for name in HANDFUL)})
    return [
        [[Units("unit tests", BUILD, JOBS)]],
        [[Style(BUILD)], [net("tests of the program, some", scratch, tests, [*TOGETHER, *NOT_ALONE])]],
        [[net("tests of the program that run alone, some", scratch, tests, ALONE)]],
    ]


def check(scratch: Path, beside: Stage) -> list[Stage]:
    """What measures time runs by itself, and first: those beside one another need not compile the tests, too. Then what
    computes runs beside what waits; no lane waits for another."""
    folders: list[str | Path] = [TOP / "tests" / name for name in ("docs", "runner", "bench", "net")]
    computes = [
        Step("clang, warnings are errors", [*GIVE_WAY, *MAKE_SANITIZED, "check-programs"], LOGS),
        Units("unit tests under ASan and UBSan", SANITIZED, JOBS),
        Step("fuzz targets", [*MAKE_SANITIZED, "fuzz", f"FUZZ_RUNS={FUZZ_RUNS}", f"FUZZ_SEED={FUZZ_SEED}"], LOGS),
        Pytest("seeds of the fuzz targets", pytest_here(TOP, scratch / "fuzz"), [TOP / "tests/fuzz"], LOGS),
        Style(BUILD),
    ]
    here = [net("tests of the program", scratch, folders, [*TOGETHER, *NOT_ALONE]), *lab(scratch)]
    elsewhere = [
        in_a_cluster(),
        Pytest("tests in a virtual machine", [TOP / "tests/vm/run", "-rs"], [], LOGS, ["-m", "not long"]),
    ]
    return [
        [[Units("unit tests", BUILD, JOBS)], [Step("partners of tests", [sys.executable, TOP / "tests/net/partners.py"], LOGS)]],
        [[net("tests of the program that run alone", scratch, folders, ALONE)]],
        [computes, here, elsewhere, *beside],
    ]


def lab(scratch: Path) -> Lane:
    """The lab: its style and types, and its tests with the program that was built here."""
    tools, folder = BUILD / "lab-venv" / "bin", TOP / "contrib" / "lab"
    if not (tools / "pytest").exists():
        why = "the index that has the libraries of the lab cannot be reached"
        return [Step("tests of the lab", ["sh", "-c", f"echo '{why}'; exit 77"], LOGS)]
    pytest = pytest_here(folder, scratch / "lab", tools / "python")
    return [
        Step("lab, style", [tools / "ruff", "check", "--no-cache", folder], LOGS),
        Step("lab, format", [tools / "ruff", "format", "--no-cache", "--check", folder], LOGS),
        Step("lab, types", ["env", "-C", folder, tools / "mypy", "--cache-dir", LOGS / "mypy"], LOGS),
        Pytest("tests of the lab", ["env", "-C", folder, *pytest, "-c", "pyproject.toml"], ["tests"], LOGS),
    ]


def in_a_cluster() -> Step | Pytest:
    """Where the cluster's program is there already: to build it takes longer than all these tests."""
    title, program = "tests in a cluster", [TOP / "tests/k8s/cluster", "program", "--cached"]
    if subprocess.run(program, capture_output=True, check=False).returncode != 0:
        return Step(title, program, LOGS)  # which is skipped, and says what builds it
    return Pytest(title, [TOP / "tests/k8s/run", "-rs"], [], LOGS, ["-m", "not long"])


def bare_root() -> Step:
    """A first run and the packages on a bare root of one release, and of the other one at the next commit."""
    git = ["git", "-C", str(TOP), "rev-list", "--count", "HEAD"]
    commits = subprocess.run(git, capture_output=True, text=True, check=False).stdout.strip()
    release = RELEASES[int(commits or 0) % len(RELEASES)]
    command = [*GIVE_WAY, TOP / "tests/bare-root", release, "first", "packages"]
    return Step(f"bare root of {release}, packages", command, LOGS)


def tell(verdict: Verdict, left: list[str]) -> None:
    say(f"the slowest {SLOWEST}")
    for outcome in slowest(verdict.outcomes, SLOWEST):
        print(f"{outcome.seconds:8.1f} s  {outcome.name}")
    if reasons := [outcome for outcome in verdict.outcomes if outcome.end == SKIPPED]:
        say("skipped")
        counts: dict[str, int] = {}
        for outcome in reasons:
            counts[outcome.why] = counts.get(outcome.why, 0) + 1
        for why, count in sorted(counts.items()):
            print(f"{count:8}  {why}")
    lines = [f"{outcome.name}: {outcome.why}" for outcome in verdict.unsteady]
    (LOGS / "unsteady.txt").write_text("".join(f"{line}\n" for line in lines))
    (LOGS / "check.xml").write_bytes(as_junit(verdict))
    say(f"unsteady: {len(lines)}" + (f", of which at most {MOST_UNSTEADY} may be" if lines else ""))
    for line in lines:
        print(f"UNSTEADY {line}")
    say(f"left behind: {len(left)}")
    for line in left:
        print(f"LEFT {line}")
    if failed := [outcome for outcome in verdict.outcomes if outcome.end == FAILED]:
        say("failed")
        for outcome in failed:
            print(f"FAILED {outcome.name}: {outcome.why}")
    print(f"\n{verdict.count(PASSED)} passed, {verdict.count(FAILED)} failed, {verdict.count(SKIPPED)} skipped")


def run(stages: list[Stage], temporary: Path, mounts_before: list[str]) -> int:
    leftovers.adopt()
    verdict = judge(stages, say)
    left = leftovers.end_processes() + leftovers.remains(mounts_before, temporary)
    if left:
        verdict.outcomes.append(Outcome("nothing is left behind", FAILED, why="; ".join(left)[:300]))
    tell(verdict, left)
    return 0 if verdict.green else 1


def main(words: list[str]) -> int:
    if words not in (["quick"], ["check"], ["check", "bare-root"]):
        print((__doc__ or "").splitlines()[2], file=sys.stderr)
        return 2
    if begun := leftovers.command_in_own_mounts([sys.executable, __file__, *words]):
        os.execvp(begun[0], begun)
    os.chdir(TOP)
    LOGS.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix="nmt."))
    temporary = scratch / "tmp"
    temporary.mkdir()
    temporary.chmod(0o1777)
    scratch.chmod(0o755)
    os.environ |= {
        "TMPDIR": str(temporary),
        "NETMODEL": str(BUILD / "src" / "netmodel"),
        "PYTHONPATH": str(Path(__file__).parent),
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    }
    try:
        stages = quick(scratch) if words == ["quick"] else check(scratch, [[bare_root()]] * (len(words) > 1))
        return run(stages, temporary, leftovers.mounts())
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
