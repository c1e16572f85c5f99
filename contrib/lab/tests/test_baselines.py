# SPDX-License-Identifier: Apache-2.0
"""netmodel-lab: baselines by the hosts that they are of, and what is chosen of a study that has several epochs."""

from __future__ import annotations

import functools
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Lab, call

from netmodel_lab.compare import compare
from netmodel_lab.problems import UsageProblem
from netmodel_lab.rows import Row
from netmodel_lab.sides import Side, read_sides

Json = dict[str, Any]
OLD, NEW = "6.1.4-amd64", "6.12.0-amd64"


def planted(study: Path, path: Path, change: Callable[[Json], None]) -> Path:
    """A copy of a study, as if it had been measured otherwise."""
    shutil.copytree(study, path)
    manifest = json.loads((path / "manifest.json").read_text())
    change(manifest)
    (path / "manifest.json").write_text(json.dumps(manifest))
    return path


@pytest.fixture
def kept(tmp_path: Path) -> Lab:
    """Runs the command with a home for baselines of its own."""
    return functools.partial(call, tmp_path, XDG_DATA_HOME=str(tmp_path / "data"))


@pytest.fixture
def resumed(study: Path, tmp_path: Path) -> Path:
    """A study whose second block was measured with another kernel and another netmodel."""

    def change(manifest: Json) -> None:
        (first,) = manifest["epochs"]
        second = json.loads(json.dumps(first))
        first["facts"] |= {"kernel": OLD, "netmodel": "0.1.0"}
        second["facts"] |= {"kernel": NEW, "netmodel": "0.2.0"}
        manifest["epochs"] = [first, second]
        late = {point["seq"] for point in manifest["plan"] if point["block"] == 2}
        for file in (tmp_path / "resumed" / "runs").glob("*/command.json"):
            command = json.loads(file.read_text())
            command["epoch"] = 1 + (int(file.parent.name[:6]) in late)
            file.write_text(json.dumps(command))

    return planted(study, tmp_path / "resumed", change)


# --- baselines ---


def test_a_study_is_kept_and_found_by_its_hosts(study: Path, kept: Lab, tmp_path: Path) -> None:
    done = kept("baseline", "save", "before", study)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.startswith("baseline:before: 4 runs of ")
    (file,) = (tmp_path / "data" / "netmodel-lab" / "baselines").glob("*/before.json")
    assert str(file) in done.stderr
    done = kept("compare", "baseline:before", study, "--json")
    document = json.loads(done.stdout)
    assert document["a"] == "baseline:before"
    assert {test["a"] == test["b"] for test in document["tests"] if test["cell"]} == {True}
    assert {test["ratio"] for test in document["tests"]} == {1.0}
    assert (done.returncode, document["notes"], {test["verdict"] for test in document["tests"]}) == (0, [], {"same"})
    done = kept("compare", "baseline:before@num_flows=1", f"{study}@num_flows=2", "--json")
    assert {test["test"] for test in json.loads(done.stdout)["tests"]} == {"paired t"}
    listed = kept("baseline", "list").stdout.splitlines()
    assert listed[0].split() == ["name", "saved", "hosts", "file"]
    assert (listed[1].split()[0], listed[1].split()[-1], len(listed)) == ("before", str(file), 2)
    # What is no baseline is left alone.
    (file.parent / "notes.json").write_text("{}")
    assert kept("baseline", "list").stdout.splitlines() == listed
    # The study may be gone by then.
    assert json.loads(file.read_text())["folder"] == str(study)


def test_none_is_overwritten_without_a_word(study: Path, kept: Lab, tmp_path: Path) -> None:
    kept("baseline", "save", "before", study)
    (file,) = tmp_path.glob("data/netmodel-lab/baselines/*/before.json")
    was = file.read_text()
    done = kept("baseline", "save", "before", study)
    assert (done.returncode, file.read_text()) == (2, was)
    assert f"before: is a baseline of these hosts already, of {study}, saved " in done.stderr
    assert done.stderr.endswith("; --replace takes its place\n")
    assert kept("baseline", "save", "before", study, "--replace").returncode == 0
    assert file.read_text() != was


@pytest.mark.parametrize("has_id", [True, False])
def test_one_of_other_hosts_is_refused(has_id: bool, study: Path, kept: Lab, tmp_path: Path) -> None:
    """By the machine's id; where it has none, as a container, by what else does not change."""

    def other(manifest: Json) -> None:
        probe = manifest["epochs"][0]["hosts"]["master"]
        probe["machine_id"] = "0" * 32 if has_id else None
        probe["facts"] |= {"hostname": "elsewhere", "cpus": 96}

    def booted(manifest: Json) -> None:
        other(manifest)
        facts = manifest["epochs"][0]["hosts"]["master"]["facts"]
        # A kernel keeps some of the memory for itself.
        facts |= {"boot_id": "another", "kernel": NEW, "cpus": 4, "memory_bytes": facts["memory_bytes"] - 4096}

    there = planted(study, tmp_path / "there", other)
    kept("baseline", "save", "before", there)
    (file,) = tmp_path.glob("data/netmodel-lab/baselines/*/before.json")
    done = kept("compare", "baseline:before", study)
    assert (done.returncode, done.stdout) == (2, "")
    first, second = done.stderr.splitlines()
    assert first.startswith(f"netmodel-lab: baseline:before: is of other hosts than {study}, which is of ")
    command = f"netmodel-lab compare {file} {study}"
    assert second.endswith(f": {command}") and "elsewhere (x86_64, 96 CPUs)" in second
    assert kept(*command.split()[1:]).stdout.startswith(f"compare {file}  with  {study}\n")
    # The same host with another kernel and fewer CPUs is no other one; here it has a baseline of its own by that name.
    again = planted(study, tmp_path / "again", booted)
    assert kept("compare", "baseline:before", again).stdout.startswith("compare baseline:before  with  ")
    assert kept("baseline", "save", "before", study).returncode == 0
    done = kept("compare", "baseline:before", "baseline:before")
    assert (done.returncode, "are of several hosts in common: name their files" in done.stderr) == (2, True)
    # So it is not told either which of them is to go.
    done = kept("baseline", "remove", "before")
    assert (done.returncode, f"  {file}\n" in done.stderr) == (2, True)
    assert kept("baseline", "remove", file).returncode == 0
    assert [path != file for path in tmp_path.glob("data/netmodel-lab/baselines/*/before.json")] == [True]
    done = kept("baseline", "remove", "before")
    assert (done.returncode, done.stderr.startswith("baseline:before: removed: ")) == (0, True)
    assert len(kept("baseline", "list").stdout.splitlines()) == 1


@pytest.mark.parametrize("how", ["name", "path", "from here", "link"])
def test_one_is_removed_by_its_name_or_its_file(how: str, study: Path, kept: Lab, tmp_path: Path) -> None:
    kept("baseline", "save", "before", study)
    (file,) = tmp_path.glob("data/netmodel-lab/baselines/*/before.json")
    (tmp_path / "link").symlink_to(file)
    words = {"name": "before", "path": file, "from here": f"./{file.relative_to(tmp_path)}", "link": "link"}
    done = kept("baseline", "remove", words[how])
    assert (done.returncode, done.stderr) == (0, f"baseline:{words[how]}: removed: {file}\n")
    assert not file.exists()


def test_a_side_is_no_baseline_by_its_file(study: Path, kept: Lab, tmp_path: Path) -> None:
    """baseline: takes names alone; without it a file is a side."""
    kept("baseline", "save", "before", study)
    (file,) = tmp_path.glob("data/netmodel-lab/baselines/*/before.json")
    done = kept("compare", f"baseline:{file}", study)
    assert (done.returncode, f"baseline:{file}: there is none" in done.stderr) == (2, True)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("baseline", "save", "../x", "STUDY"), '"../x": a baseline has a name of letters, digits'),
        (("baseline", "save", "x"), "the following arguments are required: FOLDER"),
        (("baseline", "save", "x", "nowhere"), "nowhere: is no study"),
        (("baseline", "list", "x"), "unrecognized arguments: x"),
        (("baseline", "list", "--replace"), "unrecognized arguments: --replace"),
        (("baseline", "keep", "x"), "invalid choice: 'keep'"),
        (("baseline", "remove", "befor"), "baseline:befor: there is none; did you mean before?"),
        (("compare", "baseline:befor", "STUDY"), "baseline:befor: there is none; did you mean before?"),
        (("compare", "baseline:before", "rows.jsonl"), "rows.jsonl: rows do not say of which hosts they are"),
        (("compare", "STUDY@num_flows", "STUDY"), '"num_flows": must be NAME=VALUE'),
        (("compare", "STUDY@kernal=6", "STUDY"), "kernal was not varied there; did you mean kernel?"),
        (("compare", "rows.jsonl@kernel=6", "STUDY"), "rows do not say which kernel they were measured with"),
        (
            ("compare", "STUDY/manifest.json", "STUDY"),
            "manifest.json: is neither a study, a baseline nor rows (.jsonl, .csv)\n",
        ),
        (
            ("compare", "STUDY/rows.csv", "nowhere.jsonl"),
            "nowhere.jsonl: is neither a study, a baseline nor rows (.jsonl, .csv)",
        ),
    ],
)
def test_wrong_use(words: tuple[str, ...], says: str, study: Path, kept: Lab, tmp_path: Path) -> None:
    kept("baseline", "save", "before", study)
    shutil.copy(study / "rows.jsonl", tmp_path)
    done = kept(*(word.replace("STUDY", str(study)) for word in words))
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr


# --- kernels, versions, epochs ---


@pytest.mark.parametrize(
    ("selector", "epoch"),
    [("epoch=2", 2), (f"kernel={OLD}", 1), ("kernel=6.1", 1), ("kernel=6.12", 2), ("version=0.2.0", 2)],
)
def test_rows_are_chosen_by_what_their_epoch_had(resumed: Path, selector: str, epoch: int) -> None:
    side, _ = read_sides(f"{resumed}@{selector},num_flows=1", str(resumed))
    assert [(row["epoch"], row["block"], row["d.num_flows"]) for row in side.rows] == [(epoch, epoch, "1")]


def test_what_there_is_is_named(resumed: Path) -> None:
    for selector, says in (
        ("kernel=5.4", f'"5.4": no run is of that kernel; there are {OLD}, {NEW}'),
        ("kernel=6", f"kernel=6: there are {OLD} and {NEW}; name one of them"),
        ("epoch=3", '"3": no run is of that epoch; there are 1, 2'),
        ("version=1", '"1": no run is of that version; there are 0.1.0, 0.2.0'),
    ):
        with pytest.raises(UsageProblem) as error:
            read_sides(f"{resumed}@{selector}", str(resumed))
        assert error.value.lines == [f"{resumed}@{selector}: {says}"]


def test_kernels_of_two_hosts(study: Path, tmp_path: Path) -> None:
    def change(manifest: Json) -> None:
        manifest["epochs"][0]["facts"] = {"master.kernel": OLD, "slave.kernel": NEW, "slave.host": "b"}

    path = planted(study, tmp_path / "two", change)
    side, _ = read_sides(f"{path}@kernel={OLD}/{NEW}", str(path))
    assert len(side.rows) == 4


def test_kernels_beside_each_other(resumed: Path, kept: Lab, tmp_path: Path) -> None:
    done = kept("compare", f"{resumed}@kernel=6.1", f"{resumed}@kernel=6.12", "--metric", "transactions_per_s")
    assert done.returncode == 5  # one run each
    assert "note: A and B are of other epochs: whatever changed between them is in the ratios\n" in done.stdout
    assert "\n1 " in done.stdout and "\n2 " in done.stdout
    kept("baseline", "save", "both", resumed)
    done = kept("compare", "baseline:both@epoch=1", f"{resumed}@epoch=2", "--json")
    assert json.loads(done.stdout)["tests"][0]["runs"] == [1, 1]
    later = planted(resumed, tmp_path / "later", lambda manifest: manifest.update(created="2030-01-01T00:00:00.000Z"))
    notes = json.loads(kept("compare", "baseline:both", later, "--json").stdout)["notes"]
    assert [note for note in notes if "epochs" in note] == [
        "baseline:both: has runs of 2 epochs",
        f"{later}: has runs of 2 epochs",
    ]


def of_epochs(name: str, values: dict[int, list[float]], first_block: int = 1) -> Side:
    """Blocks go on over the epochs."""
    rows: list[Row] = []
    for epoch, found in values.items():
        for value in found:
            block = first_block + len(rows)
            rows.append({"ok": True, "epoch": epoch, "block": block, "d.n": "1", "transactions_per_s": value})
    return Side(name, "s", rows, {})


def test_epochs_are_blocks() -> None:
    """The second is twice as fast; what B has less of it is no difference."""
    noise = [1.0, 1.01, 0.99, 1.005, 0.995, 1.002]
    a = of_epochs("A", {1: [100 * one for one in noise[:2]], 2: [200 * one for one in noise]})
    b = of_epochs("B", {1: [100 * one for one in noise], 2: [200 * one for one in noise[:2]]}, first_block=20)
    (line,) = compare(a, b, ["transactions_per_s"], [], alpha=0.05, same=0.05).lines
    assert line.difference
    assert line.difference.test == "Welch"
    assert abs(line.difference.effect) < 0.01
    assert line.verdict == "same"


def test_how_many_runs_are_needed_is_of_one_epoch() -> None:
    """So many that noise is less than what matters, whatever has changed between epochs and between blocks."""
    found = {}
    noise = np.random.default_rng(3).normal(0, 0.025, (2, 12))
    for name, fast, first_block in (("one", 100, 20), ("two", 200, 20), ("pairs", 200, 1)):
        a, b = ({1: list(100 * np.exp(one[:6])), 2: list(fast * np.exp(one[6:]))} for one in noise)
        sides = of_epochs("A", a), of_epochs("B", b, first_block)
        (line,) = compare(*sides, ["transactions_per_s:1%"], [], alpha=0.05, same=0.001).lines
        text = re.fullmatch(r"undecided: about (\d+) runs each would decide", line.text)
        assert text, line.text
        found[name] = int(text[1])
    assert found["two"] == pytest.approx(found["one"], rel=0.4)
    assert found["pairs"] == pytest.approx(found["one"], rel=0.4)


@pytest.mark.parametrize(
    ("a", "b", "runs"),
    [
        # By ranks, as there are zeros.
        ({1: [0.0, 1, 2, 3, 1.5], 2: [101.0, 102, 103]}, {1: [0.0, 1, 2, 1.5, 3, 1, 2, 2, 0.5, 0.6], 2: [101.0]}, 5),
        # Of one run in an epoch nothing is known.
        ({1: [100.0], 2: [200.0, 201, 199] * 4}, {1: [100.0, 101, 99] * 4, 2: [200.0]}, 1),
        # Nothing varies in an epoch.
        ({1: [100.0] * 3, 2: [200.0] * 2}, {1: [102.0] * 3, 2: [204.0] * 20}, 3),
    ],
)
def test_what_has_changed_between_epochs_is_no_difference(
    a: dict[int, list[float]], b: dict[int, list[float]], runs: int
) -> None:
    (line,) = compare(
        of_epochs("A", a), of_epochs("B", b, 50), ["transactions_per_s:3%"], [], alpha=0.05, same=0.05
    ).lines
    assert line.difference
    assert min(line.difference.n_a, line.difference.n_b) == runs
    assert line.verdict == "undecided"
    assert line.text.endswith("of other epochs left out")


def test_a_cell_of_other_epochs_is_told() -> None:
    """The order of nested loops, and a new kernel on the way."""
    fast, slow = [100.0, 101, 99], [80.0, 81, 79]
    a, b = of_epochs("A", {1: fast, 2: slow}), of_epochs("B", {2: slow, 3: slow}, 20)
    for one in (a, b):
        for row in one.rows:
            row["d.n"] = str(row["epoch"] if one is a else row["epoch"] - 1)
    found = compare(a, b, ["transactions_per_s"], [], alpha=0.05, same=0.05)
    texts = [line.text for line in found.lines if line.cell]
    assert len(texts) == 2 and all(text.endswith(", of other epochs") for text in texts)


def test_a_block_that_went_over_two_epochs_is_no_pair() -> None:
    a = of_epochs("A", {1: [100.0, 101, 99], 2: [200.0]})
    b = of_epochs("B", {1: [110.0, 111, 109, 110.5]})
    (line,) = compare(a, b, ["transactions_per_s"], [], alpha=0.05, same=0.05).lines
    assert line.difference
    assert (line.difference.test, line.difference.n_a) == ("paired t", 3)
    assert line.text == "better, 1 runs without a partner"
