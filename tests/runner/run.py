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
from outcome import FAILED, MOST_UNSTEADY, PASSED, SKIPPED, Outcome, Suite, Verdict, as_junit, judge, slowest
from suites import Pytest, Step, Style, Units, pytest_here

TOP = Path(__file__).resolve().parents[2]
BUILD = TOP / "build"
LOGS = BUILD / "check"
SANITIZED = LOGS / "sanitizers"
JOBS = os.cpu_count() or 1
SLOWEST = 25
FUZZ_SECONDS = 2
RELEASES = ("bookworm", "trixie")  # of Debian, whose bare roots take turns

# What `quick` runs of the tests of the program besides those that have changed: the main job, each stock profile's
# language, the command line, a slave, and what its results say.
HANDFUL = [f"tests/net/test_{name}.py" for name in ("main_job", "cli_errors", "flowops", "slaves", "requirements")]

_began = time.monotonic()


def say(text: str) -> None:
    print(f"\n== {time.monotonic() - _began:.0f} s: {text}", flush=True)


def net(title: str, scratch: Path, what: list[str | Path], together: list[str]) -> Pytest:
    return Pytest(title, pytest_here(TOP, scratch), what, LOGS, together)


def changed_tests() -> list[str | Path]:
    """Test files that differ from the branch that this one follows, or else from the commit before."""
    git = ["git", "-C", str(TOP)]
    for base in ("@{upstream}", "HEAD~1"):
        done = subprocess.run([*git, "diff", "--name-only", base], capture_output=True, text=True, check=False)
        if done.returncode == 0:
            names = [name for name in done.stdout.split() if name.startswith(("tests/net/test_", "tests/docs/test_"))]
            return [TOP / name for name in names if (TOP / name).exists()]
    return []


def quick(scratch: Path) -> list[Suite]:
    tests = {*changed_tests(), *(TOP / name for name in HANDFUL)}
    return [
        Units("unit tests", BUILD, JOBS),
        Style(BUILD),
        net("tests of the program, some", scratch, sorted(tests), ["-n", "2", "--dist", "loadgroup"]),
    ]


def check(scratch: Path) -> list[Suite]:
    make = ["make", "-s", f"-j{JOBS}", "-C", SANITIZED]
    folders: list[str | Path] = [TOP / "tests" / name for name in ("net", "docs", "bench", "runner")]
    return [
        Units("unit tests", BUILD, JOBS),
        Step("clang, warnings are errors", [*make, "check-programs"], LOGS),
        Units("unit tests under ASan and UBSan", SANITIZED, JOBS),
        Step("fuzz targets", [*make, "fuzz", f"FUZZ_SECONDS={FUZZ_SECONDS}"], LOGS),
        Style(BUILD),
        net("tests of the program", scratch, folders, ["-n", "2", "--dist", "loadgroup", "-m", "not alone"]),
        net("tests of the program that run alone", scratch, folders, ["-m", "alone"]),
        *lab(scratch),
        Pytest("tests in a virtual machine", [TOP / "tests/vm/run", "-rs"], [], LOGS, ["-m", "not long"]),
        in_a_cluster(),
    ]


def lab(scratch: Path) -> list[Suite]:
    """The lab: its style and types, and its tests with the program that was built here."""
    tools, folder = BUILD / "lab-venv" / "bin", TOP / "contrib" / "lab"
    if not (tools / "pytest").exists():
        why = "the index that has the libraries of the lab cannot be reached"
        return [Step("tests of the lab", ["sh", "-c", f"echo '{why}'; exit 77"], LOGS)]
    pytest = pytest_here(folder, scratch, tools / "python")
    return [
        Step("lab, style", [tools / "ruff", "check", "--no-cache", folder], LOGS),
        Step("lab, format", [tools / "ruff", "format", "--no-cache", "--check", folder], LOGS),
        Step("lab, types", ["env", "-C", folder, tools / "mypy", "--cache-dir", LOGS / "mypy"], LOGS),
        Pytest("tests of the lab", ["env", "-C", folder, *pytest, "-c", "pyproject.toml"], ["tests"], LOGS),
    ]


def in_a_cluster() -> Suite:
    """Where the cluster's program is there already: to build it takes longer than all these tests."""
    title, program = "tests in a cluster", [TOP / "tests/k8s/cluster", "program", "--cached"]
    if subprocess.run(program, capture_output=True, check=False).returncode != 0:
        return Step(title, program, LOGS)  # which is skipped, and says what builds it
    return Pytest(title, [TOP / "tests/k8s/run", "-rs"], [], LOGS, ["-m", "not long"])


def bare_root() -> Suite:
    """A first run and the packages on a bare root of one release, and of the other one at the next commit."""
    git = ["git", "-C", str(TOP), "rev-list", "--count", "HEAD"]
    commits = subprocess.run(git, capture_output=True, text=True, check=False).stdout.strip()
    release = RELEASES[int(commits or 0) % len(RELEASES)]
    return Step(f"bare root of {release}, packages", [TOP / "tests/bare-root", release, "first", "packages"], LOGS)


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


def run(suites: list[Suite], temporary: Path, mounts_before: list[str]) -> int:
    leftovers.adopt()
    verdict = judge(suites, say)
    left = leftovers.end_processes() + leftovers.remains(mounts_before, temporary)
    if left:
        verdict.outcomes.append(Outcome("nothing is left behind", FAILED, why="; ".join(left)[:300]))
    tell(verdict, left)
    return 0 if verdict.green else 1


def main(words: list[str]) -> int:
    tiers = {"quick": quick, "check": check}
    if not words or words[0] not in tiers or words[1:] not in ([], ["bare-root"]):
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
        "PYTHONDONTWRITEBYTECODE": "1",
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    }
    try:
        suites = tiers[words[0]](scratch)
        return run(suites + [bare_root()] * (len(words) > 1), temporary, leftovers.mounts())
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
