# SPDX-License-Identifier: Apache-2.0
"""Comparisons: the tests beside scipy, verdicts beside truth that is drawn, and what the command says."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from conftest import Lab
from scipy import stats

from netmodel_lab import inference
from netmodel_lab.cli import main
from netmodel_lab.compare import Comparison, compare
from netmodel_lab.problems import Exit
from netmodel_lab.rows import Row, as_csv, from_csv
from netmodel_lab.sides import Side

METRIC = "transactions_per_s"


def side(name: str, cells: Mapping[str, Sequence[float | None]], metric: str = METRIC) -> Side:
    rows: list[Row] = [
        {"ok": True, "block": block, "d.n": cell, metric: value}
        for cell, values in cells.items()
        for block, value in enumerate(values, 1)
    ]
    return Side(name, name, rows, {})


def judged(a: dict[str, list[float]], b: dict[str, list[float]], names: tuple[str, str] = ("A", "B")) -> Comparison:
    return compare(side(names[0], a), side(names[1], b), [f"{METRIC}:3%"], [], alpha=0.05, same=0.05)


def verdicts(found: Comparison) -> list[str]:
    return [line.verdict for line in found.lines if line.cell is not None]


# --- tests ---


def test_welch_is_that_of_scipy_on_logarithms() -> None:
    a, b = [10.0, 11.0, 12.5, 10.7], [13.0, 12.1, 14.2, 15.0, 13.1]
    expected = stats.ttest_ind(np.log(b), np.log(a), equal_var=False)
    found = inference.unpaired(a, b)
    assert found.test == "Welch"
    assert [found.p, found.df] == pytest.approx([expected.pvalue, expected.df])
    low, high = expected.confidence_interval(0.95)
    assert found.interval(0.95) == pytest.approx((low, high))


def test_pairs_are_those_of_scipy() -> None:
    a, b = [10.0, 20.0, 40.0, 30.0], [11.0, 21.5, 45.0, 32.0]
    expected = stats.ttest_rel(np.log(b), np.log(a))
    found = inference.paired(a, b)
    assert found.test == "paired t"
    assert found.p == pytest.approx(expected.pvalue)


def test_ranks_where_a_run_lies_far_off() -> None:
    a, b = [10.0, 10.1, 9.9, 10.05, 9.95, 30.0], [11.0, 11.1, 10.9, 11.05, 10.95, 11.2]
    found = inference.unpaired(a, b)
    assert found.test == "Mann-Whitney"
    assert found.p == pytest.approx(stats.mannwhitneyu(a, b, method="exact").pvalue)


def test_values_that_do_not_vary() -> None:
    assert inference.unpaired([5, 5, 5], [5, 5, 5]).p == 1
    found = inference.unpaired([5, 5, 5, 5], [6, 6, 6, 6])
    assert found.test == "permutation"
    assert found.p == pytest.approx(2 / math.comb(8, 4))
    assert inference.smallest_rank_p(3, 3) == pytest.approx(0.1)


def test_holm() -> None:
    assert inference.holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert inference.holm([]) == []


def test_runs_needed_for_five_per_cent() -> None:
    """The numbers that a table of the t distribution gives; few runs before make it more."""
    effect = math.log(1.05)
    assert inference.runs_needed(0.02, 1000, effect, 0.05) == 5
    assert inference.runs_needed(0.05, 1000, effect, 0.05) == 18
    assert inference.runs_needed(0.05, 1000, effect, 0.05, 48) == 39
    assert (inference.runs_needed(0.05, 8, effect, 0.05) or 0) > 24
    assert inference.runs_needed(0.5, 8, effect, 0.05) is None


# --- verdicts ---


def test_better_worse_same_and_undecided() -> None:
    steady = [100.0, 101, 99, 100.5, 99.5, 100.2]
    a = {"1": steady, "2": steady, "3": steady, "4": [100.0, 160, 70, 120, 60, 150], "5": steady}
    b = {
        "1": [value * 1.2 for value in steady],
        "2": [value * 0.8 for value in steady],
        "3": [value * 1.001 for value in steady],
        "4": [110.0, 150, 80, 130, 50, 140],
        "6": steady,
    }
    found = judged(a, b)
    assert verdicts(found) == ["better", "worse", "same", "undecided", "only in A", "only in B"]
    assert found.exit == Exit.WORSE
    assert {line.verdict for line in found.telling} == {"worse"}
    assert judged({"3": a["3"]}, {"3": b["3"]}).exit == Exit.DONE
    assert judged({"4": a["4"]}, {"4": b["4"]}).exit == Exit.UNDECIDED


def test_small_changes_that_are_sure_are_the_same() -> None:
    a = [100.0, 100.1, 99.9, 100.05, 99.95, 100.0]
    (line,) = judged({"1": a}, {"1": [value * 1.01 for value in a]}).lines
    assert line.text == "same (differs by +1.0%)"
    (line,) = judged({"1": [100.0] * 6}, {"1": [101.0] * 6}).lines
    assert line.difference and line.difference.test == "permutation"
    assert line.text == "same (differs by +1.0%)"
    assert verdicts(judged({"1": [100.0] * 6}, {"1": [104.0] * 6})) == ["better"]


def test_too_few_runs_decide_nothing() -> None:
    (line,) = judged({"1": [100, 101]}, {"1": [200, 201]}).lines
    assert line.text == "undecided: at least 3 runs each are needed"
    (line,) = judged({"1": [100]}, {"1": [200]}).lines
    assert line.verdict == "undecided"


def test_odd_values() -> None:
    assert verdicts(judged({"1": [0.0] * 6}, {"1": [0.0] * 6})) == ["same"]
    assert verdicts(judged({"1": [0.0] * 8}, {"1": [5.0, 6, 7, 8, 9, 10, 11, 12]})) == ["better"]


@pytest.mark.parametrize("unknown", [None, math.nan, math.inf])
def test_a_figure_that_good_runs_do_not_have(unknown: float | None) -> None:
    none, some = side("A", {"1": [unknown] * 4}), side("B", {"1": [1.0, 2, 3, 4]})
    for a, b, of in ((none, some, " of A"), (some, none, " of B"), (none, none, "")):
        found = compare(a, b, [METRIC], [], alpha=0.05, same=0.05)
        assert [line.text for line in found.lines] == [f"undecided: no run{of} has this figure"]
        assert found.exit is Exit.UNDECIDED


def test_runs_that_have_failed() -> None:
    failed, good = side("A", {"1": [1.0, 2, 3, 4]}), side("B", {"1": [1.0, 2, 3, 4]})
    for row in failed.rows:
        row["ok"] = False
    for a, b, says, code in (
        (failed, good, "failed: A has no good run", Exit.WORSE),
        (good, failed, "failed: B has no good run", Exit.WORSE),
        (failed, failed, "undecided: neither has a good run", Exit.UNDECIDED),
    ):
        found = compare(a, b, [METRIC], [], alpha=0.05, same=0.05)
        assert ([line.text for line in found.lines], found.exit) == ([says], code)


def test_blocks_of_one_study_are_pairs() -> None:
    """What a block shares is no noise of the comparison."""
    shared = np.exp(np.random.default_rng(1).normal(5, 0.5, 8))
    own = np.random.default_rng(2).normal(0, 0.01, (2, 8))
    a, b = {"1": list(shared * np.exp(own[0]))}, {"1": list(shared * 1.1 * np.exp(own[1]))}
    assert verdicts(judged(a, b, ("s", "s"))) == ["better"]
    assert verdicts(judged(a, b)) == ["undecided"]


@pytest.mark.parametrize("names", [("A", "B"), ("s", "s")])
def test_all_cells_have_a_ratio_beside_one_that_does_not_vary(names: tuple[str, str]) -> None:
    a = {"1": [100.0] * 6, "2": [100.0, 101, 99, 100.5, 99.5, 100.2]}
    b = {cell: [value * 1.2 for value in values] for cell, values in a.items()}
    b["2"] = [value * factor for value, factor in zip(b["2"], (1.001, 0.999, 1, 1.002, 0.998, 1), strict=True)]
    found = judged(a, b, names).lines
    assert [line.cell for line in found] == [None, ("1",), ("2",)]
    assert [line.difference.test for line in found if line.difference][1] == "permutation"
    assert found[0].difference and math.exp(found[0].difference.effect) == pytest.approx(1.2, rel=0.001)
    assert found[0].verdict == "better"


# --- the command ---


def test_a_study_beside_itself_is_the_same(study: Path, lab: Lab) -> None:
    done = lab("compare", study, study, "--json")
    document = json.loads(done.stdout)
    tests = [test for test in document["tests"] if test["cell"]]
    assert [(test["metric"], test["cell"]) for test in tests] == [
        (metric, {"num_flows": flows}) for metric in ("transactions_per_s", "p99_us") for flows in ("1", "2")
    ]
    # Two runs each, which would be too few for anything else.
    assert {test["verdict"] for test in document["tests"]} == {"same"}
    assert done.returncode == document["exit"] == 0


@pytest.mark.parametrize("values", [[100.0], [100.0, 160], [0.0, 3, 0, 1], [-2.0, 0, 5], [math.nan, 7, 8, 9]])
def test_rows_beside_themselves_are_the_same(values: list[float]) -> None:
    found = judged({"1": values, "2": [5.0, 6, 7]}, {"1": values, "2": [5.0, 6, 7]}, ("A", "A"))
    assert {line.verdict for line in found.lines} == {"same"}
    assert found.exit is Exit.DONE
    # Another study that has found the same is too little, where there are few runs.
    if len(values) < inference.MIN_RUNS:
        assert verdicts(judged({"1": values}, {"1": values})) == ["undecided"]


def test_no_good_run_is_not_the_same_as_itself() -> None:
    assert verdicts(judged({"1": [math.nan]}, {"1": [math.nan]}, ("A", "A"))) == ["undecided"]


@pytest.mark.parametrize(
    ("b", "test"),
    [([1.0, 2.0], "all equal"), ([2.0, 4.0], "permutation"), ([2.0, 5.0], "paired t"), ([2.0], "too few runs")],
)
def test_pairs_are_pairs_whatever_their_test(b: list[float], test: str) -> None:
    a = [1.0, 2.0][: len(b)]
    found = inference.paired(a, b)
    assert (found.test, found.is_paired) == (test, True)
    assert not inference.unpaired(a, b).is_paired


def test_values_below_nothing() -> None:
    """hidden_TL may be: by ranks, without a ratio of all cells."""
    a = {"1": [-3.0, -2, -1, 0, 1, 2, 3, 0.5], "2": [4.0, 5, 6, 7, 8, 9, 10, 11]}
    b = {"1": [value - 50 for value in a["1"]], "2": [5.0, 6, 7, 8, 9, 10, 11, 12]}
    found = judged(a, b)
    assert [line.cell for line in found.lines] == [("1",), ("2",)]
    assert verdicts(found)[0] == "worse"  # transactions_per_s is better when higher
    blocks = judged(a, b, ("s", "s"))  # pairs of blocks have no logarithms either
    assert [line.cell for line in blocks.lines] == [("1",), ("2",)]


def test_texts_that_a_spreadsheet_would_reckon() -> None:
    """Stay text in CSV, and are what they were when they are read again; numbers stay numbers."""
    texts = ["=cmd()", "@SUM(A1)", "+1+2", "-2+3", "-1.5", "+7", "plain", "'quoted", "a=b", "\t=1", "'=x", "''=x"]
    found = list(csv.reader(as_csv([{"d.x": text, "v": -2.5} for text in texts]).splitlines()))[1:]
    assert [row[0] for row in found[:6]] == ["'=cmd()", "'@SUM(A1)", "'+1+2", "'-2+3", "-1.5", "+7"]
    assert [from_csv(row[0]) for row in found] == texts
    assert {row[1] for row in found} == {"-2.5"}


def test_files_of_rows(tmp_path: Path, lab: Lab) -> None:
    for name, factor in (("a", 1.0), ("b", 0.7)):
        rows = side(name, {"1": [100 * factor, 101 * factor, 99 * factor], "2": [50, 51, 49]}).rows
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = lab("compare", "a.jsonl", "b.jsonl")
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert lines[0] == "compare a.jsonl  with  b.jsonl"
    assert [line.split()[0] for line in lines if line.endswith(("worse", "same within 5%"))] == ["all", "1", "2"]
    assert lines[-1] == "1 worse, 1 same; exit 1"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--metric", "p9_us"), "--metric p9_us: no such figure in the rows; did you mean p99_us?"),
        (("--metric", "busy_kernel_TL"), "no such figure in the rows; did you mean busy_kernel_TL.shared?"),
        (("--metric", "p99_us:x"), '--metric p99_us:x: "x": must be a share as 5%'),
        (("--metric", "ncpus.shared"), "says not which way is better: ncpus.shared:2.5%:higher or :lower"),
        (("--by", "nic"), "--by nic: not in both"),
        (("--alpha", "2"), '"2": must lie between 0 and 1'),
        (("--same", "0"), '--same: "0": must be a share as 5%'),
    ],
)
def test_wrong_use(
    study: Path, words: tuple[str, ...], says: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("signal.signal", lambda *_: None)
    try:
        code = main(["compare", str(study), str(study), *words])
    except SystemExit as ended:
        code = int(ended.code or 0)
    out, err = capsys.readouterr()
    assert (code, out) == (2, "")
    assert says in err
