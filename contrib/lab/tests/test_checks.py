# SPDX-License-Identifier: Apache-2.0
"""plan, which touches nothing, and plan --check, which reads: what would keep a study from being run."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import NETMODEL, Lab, argv, environment

from netmodel_lab import prepare
from netmodel_lab.checks import check
from netmodel_lab.machine import Machine
from netmodel_lab.problems import EnvironmentProblem
from netmodel_lab.program import Program

STUDY = "study: 1\nprofile: tcp_rr\nparams: {{test_length: 20ms}}\nrepeat: 1\n{more}"
# The study of the specification, as far as its words are there.
BROAD = """\
study: 1
name: broad
hosts: {master: {at: "ssh:root@a"}, slave: {at: "ssh:root@b", copy: yes}}
profile: tcp_rr
params: {test_length: 10s}
dimensions:
  - {name: type, zip: [{profile: tcp_rr}, {profile: tcp_stream, params: {buffer_size: 64k}}]}
  - {name: num_flows, geometric: {from: 1, to: 64, factor: 4}}
  - {name: place, values: [near, far]}
hold: {cpufreq_governor: performance}
repeat: 6
order: {kind: blocks, seed: 42}
limits: {run: 60s, total: 8h, settle: 2s}
"""
# Calls that change files or reach others. netmodel opens its own standard error once more, to write to it.
CHANGES = re.compile(r"connect\(|sendto\(|mkdir|unlink|rename|O_CREAT|O_TRUNC|O_WRONLY|O_RDWR")
OWN = re.compile(r'"/dev/null"|"/dev/tty"|"/proc/self/fd/2"')


def traced(folder: Path, *words: str | Path) -> list[str]:
    """What a command has done that CHANGES tells of; skips where it cannot be looked at."""
    trace = folder / "trace"
    calls = "trace=connect,sendto,open,openat,creat,mkdir,mkdirat,unlink,unlinkat,rename,renameat,renameat2"
    if not shutil.which("strace"):
        pytest.skip("there is no strace")
    done = subprocess.run(
        ["strace", "-f", "-qq", "-e", calls, "-o", trace, *argv(*words)],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "points: " in done.stdout
    lines = trace.read_text().splitlines()
    assert len(lines) > 100
    return [line for line in lines if CHANGES.search(line) and not OWN.search(line)]


def test_plan_touches_nothing_and_connects_nowhere(tmp_path: Path) -> None:
    (tmp_path / "broad.yaml").write_text(BROAD)
    assert not traced(tmp_path, "plan", "broad.yaml")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["broad.yaml", "trace"]


def test_plan_tells_points_settings_and_time(lab: Lab, tmp_path: Path) -> None:
    (tmp_path / "broad.yaml").write_text(BROAD)
    done = lab("plan", "broad.yaml")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("master ssh:root@a, slave ssh:root@b\nnetmodel is copied to ssh:root@b, ")
    assert "held: cpufreq_governor is performance" in done.stdout
    assert "set: place far" in done.stdout
    assert re.search(
        r"^96 points: 16 cells, 6 runs each, order blocks, seed 42; \d+ changes of settings; about ",
        done.stdout,
        re.MULTILINE,
    )


def test_a_study_that_can_be_run(lab: Lab, tmp_path: Path) -> None:
    done = lab("plan", "tcp_rr", "num_flows=1,2", "place=none,0", "--repeat", "2", "--check")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[-3:] == [
        "place none: CPUs master any",
        "place 0: CPUs master 0",
        "checked: netmodel takes each of 4 cells, and the hosts can run them",
    ]
    assert any(line.startswith("master local: netmodel ") for line in lines)
    assert not list(tmp_path.iterdir())


def test_a_check_reads_only(tmp_path: Path) -> None:
    words = ("plan", "tcp_rr", "num_flows=1,2", "--peer", "local", "--repeat", "1", "--check")
    # netmodel --probe asks the kernel about interfaces over netlink.
    assert not [line for line in traced(tmp_path, *words) if "AF_NETLINK" not in line]


def test_what_is_held_and_not_so(lab: Lab, tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(STUDY.format(more="hold: {machine: pdp11}\n"))
    done = lab("plan", "s.yaml", "--check")
    assert done.returncode == 1
    assert re.fullmatch(
        r"netmodel-lab: held, and not so: master \(local\): machine is \S+, and the study holds pdp11\n", done.stderr
    )
    assert "checked:" not in done.stdout


def test_what_is_not_there(lab: Lab, tmp_path: Path) -> None:
    words = ("plan", "tcp_rr", "place=0,4095", "--repeat", "1", "--check")
    done = lab(*words, "--peer", "at:127.0.0.1,key_file=no-key")
    assert done.returncode == 3
    assert done.stderr.splitlines() == [
        "netmodel-lab: slave (at:127.0.0.1): no-key: No such file or directory",
        'netmodel-lab: master (local): place "4095": the machine has no CPU 4095',
    ]
    assert "slave at:127.0.0.1: not usable: " in done.stdout
    document = json.loads(lab(*words, "--json").stdout)
    assert document["check"]["lacking"] == ['master (local): place "4095": the machine has no CPU 4095']
    assert document["check"]["hosts"][0]["probe"]["schema"] == "netmodel.probe/1"


def test_what_was_not_asked_is_told(lab: Lab, tmp_path: Path) -> None:
    (tmp_path / "key").write_text("k\n")
    words = ("plan", "tcp_rr", "--repeat", "1", "--check", "--peer", "at:127.0.0.1,key_file=key")
    done = lab(*words)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == (
        "checked: netmodel takes each of 1 cells, and nothing is known to be wrong; what is there was not asked: "
        "slave at:127.0.0.1"
    )
    (tmp_path / "key").write_bytes(b"\xff\xfe\x00")
    done = lab(*words)
    assert done.returncode == 3
    assert done.stderr == "netmodel-lab: slave (at:127.0.0.1): key: is no text\n"


@pytest.mark.parametrize(
    ("place", "says"),
    [
        ("1-0", "1-0 ends before it begins"),
        ("0-99999999999", "Linux has at most 8192 CPUs"),
        ("near/8192", "Linux has"),
    ],
)
def test_places_that_no_machine_has(lab: Lab, place: str, says: str) -> None:
    done = lab("plan", "tcp_rr", f"place={place}", "--repeat", "1", "--check")
    assert done.returncode == 2
    assert f'netmodel-lab: place: "{place}": {says}' in done.stderr


def test_who_is_slave_in_some_cells_has_an_address(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(machine: Machine) -> str:
        raise EnvironmentProblem([f"{machine.title}: has no address"])

    monkeypatch.setattr(Machine, "address", none)
    program = Program.find(str(NETMODEL))
    words: list[tuple[str, ...]] = [("num_flows=1",), ("roles=as-is,swapped",), ("roles=swapped",)]
    lacking = []
    for dimensions in words:
        wishes = prepare.Wishes(study="tcp_rr", dimensions=list(dimensions), slave="local", repeat=1)
        lacking.append(check(prepare.prepare(wishes, program).study, program).lacking)
    slave, master = "slave (local): has no address", "master (local): has no address"
    assert lacking == [[slave], [master, slave], [master]]


def test_a_study_that_is_wrong_is_not_checked(lab: Lab, tmp_path: Path) -> None:
    done = lab("plan", "tcp_rr", "num_flow=1,2", "--check", "--peer", "ssh:nowhere.invalid")
    assert done.returncode == 2
    assert done.stderr == "netmodel-lab: num_flow: the profile has no such parameter; did you mean num_flows?\n"


def test_each_cell_is_looked_at(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many there are: without --check those after the first are not."""
    monkeypatch.setattr(prepare, "MAX_CHECKED", 1)
    words = ("plan", "tcp_rr", "num_flows=4,1", "num_threads=1,2", "--repeat", "1")
    assert lab(*words).returncode == 0
    done = lab(*words, "--check")
    assert done.returncode == 2
    assert 'num_flows=1 num_threads=2: <group> nflows="1": must be at least nthreads="2"' in done.stderr
