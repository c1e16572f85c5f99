# SPDX-License-Identifier: Apache-2.0
"""Whole studies on this host: what they leave, what they refuse, and what they do after they were killed."""

from __future__ import annotations

import csv
import json
import os
import pty
import random
import re
import select
import shutil
import signal
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest
from conftest import NETMODEL, SHORT, Lab, argv, environment, rows

KILLS = int(os.environ.get("NETMODEL_LAB_KILLS") or 4)
LONGER = ("tcp_rr", "num_flows=1,2", "--set", "test_length=20ms", "--repeat", "8", "--seed", "7", "--no-report")

# The command, which is killed when it has renamed so many files.
KILLED_BEHIND = """
import os, pathlib, signal, sys
from netmodel_lab.cli import main
left, rename = [{rename}], pathlib.Path.rename
def rename_and_die(*names):
    rename(*names)
    left[0] -= 1
    if not left[0]:
        os.kill(os.getpid(), signal.SIGKILL)
pathlib.Path.rename = rename_and_die
sys.exit(main(sys.argv[1:]))
"""


def test_what_a_study_leaves(study: Path) -> None:
    manifest = json.loads((study / "manifest.json").read_text())
    assert manifest["schema"] == "netmodel-lab.study/1"
    assert len(manifest["plan"]) == 4
    runs = sorted(path.name for path in (study / "runs").iterdir())
    assert runs == [f"{seq:06d}-a1" for seq in range(1, 5)]
    for path in (study / "runs").iterdir():
        assert json.loads((path / "result.json").read_text())["schema"] == "netmodel.result/1"
        command = json.loads((path / "command.json").read_text())
        assert command["exit_code"] == 0
        assert command["argv"][0] == str(NETMODEL)
        assert (path / "stderr.txt").exists()
    events = [json.loads(line)["event"] for line in (study / "journal.jsonl").read_text().splitlines()]
    assert events == ["start", *["begin", "end"] * 4, "stop"]


def test_a_row_is_made_of_its_run(study: Path) -> None:
    found = rows(study)
    assert [row["seq"] for row in found] == [1, 2, 3, 4]
    for row in found:
        result = json.loads((study / "runs" / f"{row['seq']:06d}-a1" / "result.json").read_text())
        assert row["ok"]
        assert row["run_id"] == result["run"]["id"]
        assert row["d.num_flows"] == result["profile"]["params"]["num_flows"] == str(int(row["p.num_flows"]))
        assert row["transactions_per_s"] == result["totals"]["transactions_per_s"]
        assert row["p99_us"] == pytest.approx(result["totals"]["latency_s"]["p99"] * 1e6)
        assert row["ncpus.shared"] == os.cpu_count()
    with (study / "rows.csv").open() as file:
        table = list(csv.DictReader(file))
    assert [float(line["transactions_per_s"]) for line in table] == [row["transactions_per_s"] for row in found]


def test_rows_are_made_again(study: Path, lab: Lab, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(study, copy)
    (copy / "rows.jsonl").unlink()
    (copy / "rows.csv").unlink()
    assert lab("report", copy).returncode == 0
    assert rows(copy) == rows(study)
    done = lab("export", copy, "json")
    assert json.loads(done.stdout) == rows(study)


def test_plan_touches_nothing(lab: Lab, tmp_path: Path) -> None:
    done = lab("plan", "tcp_rr", "num_flows=1,2,4..8", "--repeat", "3", "--set", "test_length=2s", "--seed", "1")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == 13
    assert lines[-1] == "12 points: 4 cells, 3 runs each, order blocks, seed 1; about 00:00:42"
    assert not list(tmp_path.iterdir())


def test_plan_tells_what_it_would_set(lab: Lab, tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(
        "study: 1\nprofile: tcp_rr\nparams: {test_length: 1s}\nrepeat: 1\norder: {kind: given}\n"
        "hosts: {master: local, slave: {at: 'ssh:b', copy: yes}}\nhold: {machine: pdp11}\n"
        "dimensions:\n  - {name: place, values: ['0', '0/1']}\n  - {name: roles, values: [as-is, swapped]}\n"
    )
    done = lab("plan", "s.yaml")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[:3] == [
        "master local, slave ssh:b",
        "netmodel is copied to ssh:b, and removed at the end",
        "held: machine is pdp11 on every host, or the run has failed",
    ]
    assert [line.strip() for line in lines if " set: " in line] == [
        "set: place 0",
        "set: master ssh:b, slave local",
        "set: place 0/1",
        "set: master local, slave ssh:b",
        "set: master ssh:b, slave local",
    ]
    assert lines[-1] == "4 points: 4 cells, 1 runs each, order given; 5 changes of settings; about 00:00:16"
    points = json.loads(lab("plan", "s.yaml", "--json").stdout)["points"]
    assert [len(point["changes"]) for point in points] == [1, 1, 2, 1]


def test_how_long_what_is_left_will_take(lab: Lab, tmp_path: Path, study: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(study, copy)
    assert json.loads(lab("status", copy, "--json").stdout)["left_s"] == 0
    took = {row["cell"]: 10.0 * i for i, row in enumerate(sorted(rows(study), key=lambda row: row["cell"]), 1)}
    for path in (copy / "runs").glob("*/command.json"):
        command = json.loads(path.read_text())
        path.write_text(json.dumps({**command, "seconds": took[command["cell"]]}))
    gone = json.loads((copy / "runs" / "000004-a1" / "command.json").read_text())["cell"]
    shutil.rmtree(copy / "runs" / "000004-a1")
    found = json.loads(lab("status", copy, "--json").stdout)
    assert (found["left"], found["left_s"]) == (1, took[gone])
    assert "1 left, about 00:00:" in lab("status", copy).stdout


def test_all_mistakes_in_one_go(lab: Lab, tmp_path: Path) -> None:
    done = lab(
        *(
            "run",
            "tcp_rr",
            "num_flow=1,2",
            "request_size=64,abc",
            "response_size=1..x",
            "num_threads=1",
            "num_threads=2",
        ),
        *("--set", "test_length=soon", "--set", "pipeline", "--warmup", "late"),
    )
    assert done.returncode == 2
    assert [line.partition(": a number and")[0] for line in done.stderr.splitlines()] == [
        "netmodel-lab: --set pipeline: must be NAME=VALUE",
        'netmodel-lab: response_size=1..x: "1..x": a range is A..B, A..B+STEP or A..B*FACTOR',
        "netmodel-lab: num_threads: is given twice: also as another dimension",
        "netmodel-lab: num_flow: the profile has no such parameter; did you mean num_flows?",
        'netmodel-lab: warmup: "late" is no duration',
        'netmodel-lab: test_length=soon: value "soon" (from -D): not a duration',
        'netmodel-lab: request_size=abc: value "abc" (from -D): not a size',
    ]
    assert not list(tmp_path.iterdir())


def test_cells_that_cannot_be(lab: Lab, tmp_path: Path) -> None:
    words = ("num_threads=1,2", "--set", "test_length=20ms", "--repeat", "1")
    done = lab("run", "tcp_rr", "num_flows=1,2", *words)
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        'netmodel-lab: num_flows=1 num_threads=2: <group> nflows="1": must be at least nthreads="2", so that each '
        "worker has a flow (from -D num_flows=1)"
    ]
    assert lab("plan", "tcp_rr", "num_flows=2,4", *words).returncode == 0
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("rum", "tcp_rr"), "rum: no such command; did you mean run?"),
        (("run", "tcp_rrr"), "-m tcp_rrr: no such profile; did you mean tcp_rr?"),
        (("run", "tcp_rr", "--repeat", "0"), '"0": must be 1 to 1000'),
        (
            ("run", "tcp_rr", "num_flows=1..9", "--repeat", "1000", "--set", "test_length=1h", "num_threads=1,2"),
            "18000 points: more than 10000; --yes",
        ),
        (("resume", "nothing"), "nothing: is no study: there is no manifest.json in it"),
        (("export", "nothing", "xml"), "invalid choice: 'xml'"),
    ],
)
def test_wrong_use(lab: Lab, tmp_path: Path, words: tuple[str, ...], says: str) -> None:
    done = lab(*words)
    assert done.returncode == 2
    assert says in done.stderr
    assert not list(tmp_path.iterdir())


def test_folders_of_others_are_left_alone(lab: Lab, tmp_path: Path, study: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear")
    done = lab("run", *SHORT, "-o", "mine")
    assert (done.returncode, done.stderr) == (
        2,
        "netmodel-lab: mine: is not empty (letter.txt); -o names a new folder\n",
    )
    done = lab("run", *SHORT, "-o", study)
    assert done.returncode == 2
    assert "is a study already" in done.stderr


def test_a_point_that_fails(lab: Lab, tmp_path: Path) -> None:
    words = ("tcp_rr", "source_port=0,1", "num_flows=2", "--set", "local_hosts=192.0.2.1", "--set", "test_length=20ms")
    done = lab("run", *words, "--repeat", "1", "-o", "s", "--no-report")
    assert done.returncode == 4
    assert "2 points have failed: netmodel-lab resume --retry-failed s" in done.stderr
    assert sorted(path.name for path in (tmp_path / "s" / "runs").iterdir()) == [
        "000001-a1",
        "000001-a2",
        "000002-a1",
        "000002-a2",
    ]
    found = rows(tmp_path / "s")
    assert [(row["ok"], row["attempt"]) for row in found] == [(False, 2), (False, 2)]
    assert all("192.0.2.1" in row["why"] for row in found)
    assert lab("resume", "s", "--no-report").returncode == 4
    assert len(list((tmp_path / "s" / "runs").iterdir())) == 4
    assert lab("resume", "s", "--no-report", "--retry-failed").returncode == 4
    assert len(list((tmp_path / "s" / "runs").iterdir())) == 6


def test_a_run_that_does_not_end_is_ended(lab: Lab, tmp_path: Path) -> None:
    done = lab(
        *("run", "tcp_rr", "--set", "test_length=20ms", "--set", "delay=1h", "--limit-run", "1ms", "--repeat", "1"),
        *("-o", "s", "--no-report"),
    )
    assert done.returncode == 4
    assert "was ended" in rows(tmp_path / "s")[0]["why"]


def test_one_at_a_time(lab: Lab, tmp_path: Path) -> None:
    words = argv("run", "tcp_rr", "--set", "test_length=60s", "--repeat", "1", "-o", "s", "--no-report")
    with subprocess.Popen(words, cwd=tmp_path, env=environment(), stderr=subprocess.PIPE, text=True) as first:
        try:
            _wait(lambda: _begun(tmp_path / "s"))
            done = lab("resume", "s")
            assert done.returncode == 2
            assert f"s: is being run by pid {first.pid} since " in done.stderr
            assert json.loads(lab("status", "s", "--json").stdout)["running"].startswith(f"pid {first.pid} ")
        finally:
            first.send_signal(signal.SIGINT)
            _, said = first.communicate(timeout=60)
    assert first.returncode == 130
    assert said.endswith("interrupted; netmodel-lab resume s goes on\n")
    assert not list((tmp_path / "s" / "runs").iterdir())


def test_who_comes_second_disturbs_nothing(lab: Lab, tmp_path: Path) -> None:
    words = ("run", "tcp_rr", "--set", "test_length=3s", "--repeat", "1", "-o", "s", "--no-report")
    with subprocess.Popen(argv(*words), cwd=tmp_path, env=environment(), stderr=subprocess.DEVNULL) as first:
        _wait(lambda: _begun(tmp_path / "s"))
        for again in (words, ("resume", "s", "--no-report")):
            done = lab(*again)
            assert done.returncode == 2
            assert done.stderr.startswith("netmodel-lab: s: is ")
        assert first.poll() is None
    assert first.returncode == 0
    assert [(row["ok"], row["attempt"]) for row in rows(tmp_path / "s")] == [(True, 1)]
    journal = (tmp_path / "s" / "journal.jsonl").read_text().splitlines()
    assert [json.loads(line)["event"] for line in journal] == ["start", "begin", "end", "stop"]


def test_two_studies_on_one_interface(lab: Lab, tmp_path: Path) -> None:
    """The second is refused and told who was first, the first is not disturbed; and then the second can be run."""
    once = ("--repeat", "1", "--no-report", "--set", "test_length=60s")
    words = ("run", "tcp_rr", *once, "--peer", "local,dev=lo", "-o")
    with subprocess.Popen(argv(*words, "a"), cwd=tmp_path, env=environment(), stderr=subprocess.DEVNULL) as first:
        _wait(lambda: _begun(tmp_path / "a"))
        done = lab(*words, "b")
        assert done.returncode == 3
        who = f"pid {first.pid} on {os.uname().nodename[:40]} since [0-9:]{{8}}, the study tcp_rr"
        assert re.fullmatch(f"netmodel-lab: slave \\(local\\): lo: is being measured by {who}\n", done.stderr)
        assert first.poll() is None
        first.send_signal(signal.SIGINT)
    assert first.returncode == 130
    assert lab(*words, "b", "--set", "num_transactions=1").returncode == 0


def test_an_interface_that_is_not_there(lab: Lab) -> None:
    done = lab("run", "tcp_rr", "--peer", "local,dev=nosuch0", "--no-report")
    assert done.returncode == 3
    assert done.stderr.startswith("netmodel-lab: slave (local): dev=nosuch0: there is lo")


def test_interrupted_again_and_again(lab: Lab, tmp_path: Path) -> None:
    """On a terminal, until it has ended: nothing is left, and the terminal is as it was."""
    terminal, its_end = pty.openpty()
    before = termios.tcgetattr(its_end)
    words = argv("run", "tcp_rr", "--set", "test_length=60s", "--repeat", "1", "-o", "s", "--no-report")
    said = b""
    with subprocess.Popen(
        words, cwd=tmp_path, env=environment(), stdin=its_end, stdout=its_end, stderr=its_end, start_new_session=True
    ) as first:
        _wait(lambda: _begun(tmp_path / "s"))
        children = Path(f"/proc/{first.pid}/task/{first.pid}/children").read_text().split()
        while first.poll() is None or select.select([terminal], [], [], 0)[0]:
            first.send_signal(signal.SIGINT)
            if select.select([terminal], [], [], 0.02)[0]:
                said += os.read(terminal, 65536)
    assert first.returncode == 130
    assert b"Traceback" not in said
    assert termios.tcgetattr(its_end) == before
    assert children
    _wait(lambda: not any(Path(f"/proc/{pid}").exists() for pid in children))
    assert said.endswith(b"\n")
    os.close(terminal)
    os.close(its_end)
    assert lab("status", "s").stdout == "s: 1 points, 0 done, 0 failed, 1 left\n"
    assert not list((tmp_path / "s" / "runs").glob("[0-9]*"))


def test_killed_at_any_moment(lab: Lab, tmp_path: Path, study: Path) -> None:
    """What is left to do is done, once, and nothing else."""
    whole = tmp_path / "whole"
    began = time.monotonic()
    subprocess.run(argv("run", *LONGER, "-o", whole), env=environment(), check=True, capture_output=True)
    length = time.monotonic() - began
    draw = random.Random()
    path = tmp_path / "killed"
    kills = 0
    while kills < KILLS:
        if path.exists() and not (path / "manifest.json").exists():
            shutil.rmtree(path)
        verb = ("resume", path, "--no-report") if path.exists() else ("run", *LONGER, "-o", path)
        # Each lives long enough to do a part, and too short to do all.
        with subprocess.Popen(argv(*verb), env=environment(), stderr=subprocess.DEVNULL) as lab_run:
            time.sleep(draw.uniform(0.1, 1.5 / KILLS + 0.5) * length)
            if lab_run.poll() is None:
                kills += 1
            lab_run.kill()
        if lab_run.returncode == 0:
            _check_equal(whole, path)
            shutil.rmtree(path)
        elif path.exists():
            for result in path.glob("runs/[0-9]*/result.json"):
                json.loads(result.read_text())
    if not (path / "manifest.json").exists():
        assert lab("run", *LONGER, "-o", path).returncode == 0
    done = lab("resume", path, "--no-report")
    assert done.returncode == 0, done.stderr
    _check_equal(whole, path)
    assert not list(path.glob("runs/.tmp-*"))


def _check_equal(whole: Path, killed: Path) -> None:
    same = ("point", "cell", "block", "seq", "attempt", "epoch", "ok", "d.num_flows")
    expected, found = ([[row[name] for name in same] for row in rows(path)] for path in (whole, killed))
    assert found == expected
    assert len(list((killed / "runs").iterdir())) == len(expected)


def test_after_a_torn_journal_and_a_damaged_result(lab: Lab, tmp_path: Path, study: Path) -> None:
    path = tmp_path / "s"
    shutil.copytree(study, path)
    journal = path / "journal.jsonl"
    journal.write_text(journal.read_text()[:-20])
    (path / "runs" / "000002-a1" / "result.json").write_text("{")
    shutil.rmtree(path / "runs" / "000003-a1")
    (path / "runs" / ".tmp-000003-a1").mkdir()
    (path / "runs" / "letter").mkdir()
    assert lab("resume", path, "--no-report").returncode == 0
    assert [(row["seq"], row["attempt"], row["ok"]) for row in rows(path)] == [
        (1, 1, True),
        (2, 2, True),
        (3, 1, True),
        (4, 1, True),
    ]
    assert (path / "runs" / "letter").exists()
    assert json.loads(journal.read_text().splitlines()[-1])["event"] == "stop"


@pytest.mark.parametrize(
    ("rename", "event"),
    [(1, None), (2, "begin"), (4, "begin"), (6, "stop"), (7, "stop")],
    ids=["manifest", "first run", "third run", "rows.jsonl", "rows.csv"],
)
def test_killed_behind_a_rename(lab: Lab, tmp_path: Path, study: Path, rename: int, event: str | None) -> None:
    """What was renamed is there, and the journal does not tell it yet: it counts, and is not done again."""
    path = tmp_path / "s"
    words = [sys.executable, "-c", KILLED_BEHIND.format(rename=rename), "run", *SHORT, "--no-report", "-o", str(path)]
    done = subprocess.run(words, env=environment(), check=False, capture_output=True)
    assert done.returncode == -signal.SIGKILL
    runs = sorted(entry.name for entry in (path / "runs").glob("[0-9]*"))
    assert len(runs) == min(rename - 1, 4)
    journal = path / "journal.jsonl"
    events = [json.loads(line)["event"] for line in journal.read_text().splitlines()] if event else [None]
    assert events[-1] == event
    assert lab("resume", path, "--no-report").returncode == 0
    _check_equal(study, path)
    assert len([line for line in journal.read_text().splitlines() if '"begin"' in line]) == 4


def test_an_order_as_given_is_told(lab: Lab, tmp_path: Path, study: Path) -> None:
    told = "The order was as given: differences between cells contain whatever changed meanwhile"
    assert lab("run", *SHORT[:-2], "--order", "given", "-q", "-o", "given").returncode == 0
    assert told in (tmp_path / "given" / "report.html").read_text()
    assert told not in (study / "report.html").read_text()


def test_help_comes_at_once() -> None:
    """The libraries that take seconds to load are not loaded for it."""
    program = (
        "import sys; from netmodel_lab.cli import main\ntry: main(['run', '--help'])\nexcept SystemExit: pass\n"
        "print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "--repeat" in done.stdout
    loaded = done.stdout.splitlines()[-1].split()
    assert "netmodel_lab.verbs" in loaded
    assert not {"numpy", "scipy", "pydantic", "ruamel", "vl_convert"} & set(loaded)


def test_a_full_disk(study: Path, tmp_path: Path) -> None:
    """The study stops, and goes on when there is room: nothing that was half written counts."""
    probe = ["unshare", "--mount", "mount", "-t", "tmpfs", "none", str(tmp_path)]
    if not shutil.which("unshare") or subprocess.run(probe, check=False, capture_output=True).returncode != 0:
        pytest.skip("cannot mount a small file system")
    (tmp_path / "full").mkdir()
    script = (
        'mount -t tmpfs -o size=100k none full && "$@" run {words} -o full/s; echo $? >code; '
        'mount -o remount,size=64m full; "$@" resume full/s --no-report -q; echo $? >>code; cp -r full/s whole'
    ).format(words=" ".join([*SHORT, "--no-report", "-q"]))
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", script, "sh", *argv()],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in done.stderr
    assert "No space left on device; netmodel-lab resume full/s goes on, when that is mended\n" in done.stderr
    assert (tmp_path / "code").read_text().split() == ["3", "0"]
    assert [row["point"] for row in rows(tmp_path / "whole")] == [row["point"] for row in rows(study)]
    assert len(list((tmp_path / "whole" / "runs").iterdir())) == 4


def test_a_file_that_has_no_room_is_named(study: Path, tmp_path: Path) -> None:
    """As for a full disk: the system ends what is written."""
    shutil.copytree(study, tmp_path / "s")
    (tmp_path / "s" / "report.html").unlink(missing_ok=True)
    done = subprocess.run(
        ["prlimit", "--fsize=65536", *argv("report", "s")],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 3
    assert done.stderr == "netmodel-lab: s/report.html: File too large\n"


def test_a_changed_program_is_told(lab: Lab, tmp_path: Path, study: Path) -> None:
    path = tmp_path / "s"
    shutil.copytree(study, path)
    shutil.rmtree(path / "runs" / "000004-a1")
    manifest = json.loads((path / "manifest.json").read_text())
    manifest["epochs"][0]["facts"]["kernel"] = "2.6.32"
    (path / "manifest.json").write_text(json.dumps(manifest))
    done = lab("resume", path, "--no-report")
    assert done.returncode == 2
    assert f"kernel has changed: 2.6.32 to {os.uname().release}" in done.stderr
    assert lab("resume", path, "--no-report", "--accept-change").returncode == 0
    assert [row["epoch"] for row in rows(path)] == [1, 1, 1, 2]


def _begun(path: Path) -> bool:
    return path.exists() and any(path.glob("runs/.tmp-*/result.json"))


def _wait(what: object) -> None:
    deadline = time.monotonic() + 60
    while not what():  # type: ignore[operator]
        assert time.monotonic() < deadline
        time.sleep(0.02)
