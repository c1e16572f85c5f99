# SPDX-License-Identifier: Apache-2.0
"""netmodel-lab k8s: the result in what a client prints, and the figures of several pairs."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("kubernetes", reason="the Kubernetes client is not installed; requirements-dev.txt has it")

from k8s_examples import Json

from netmodel_lab.k8s import figures, results
from netmodel_lab.k8s.problems import MeasurementProblem, SkewProblem

GOOD = {"schema": "netmodel.result/1", "run": {"complete": True, "reconciled": True}}


def test_a_result_stands_between_messages() -> None:
    text = json.dumps(GOOD, indent=1)
    for log in (text, f"netmodel: warning: a\n{text}\n", f"{text}\nnetmodel: b\n"):
        assert results.parse(log, "") == GOOD


@pytest.mark.parametrize(
    ("log", "why", "said"),
    [
        ("netmodel: slave a: closed\n", "exit code 2", "the master has failed: slave a: closed"),
        (json.dumps(GOOD)[:-5], "", "no whole result"),
        ("", "exit code 1", "exit code 1"),
        (json.dumps({**GOOD, "run": {"complete": False, "incomplete_why": "x"}}), "", "incomplete: x"),
        (json.dumps({**GOOD, "run": {"complete": True, "reconciled": False, "reconcile_text": "y"}}), "", "agree: y"),
        ('{"a": 1}', "", "no result of netmodel"),
    ],
)
def test_what_is_no_result(log: str, why: str, said: str) -> None:
    with pytest.raises(MeasurementProblem, match=said):
        results.parse(log, why)


def test_a_log_that_was_cut_has_no_result() -> None:
    """As the kubelet does when it begins another file: at its beginning, or while it is written."""
    host = {"role": "master", "counts": {"bytes_sent": 1}, "intervals": [{"from_s": 0.0}, {"from_s": 1.0}]}
    for indent in (None, 1):
        text = json.dumps({**GOOD, "hosts": [host, host]}, indent=indent)
        for log in [part for i in range(1, len(text)) for part in (text[i:], text[:i])]:
            with pytest.raises(MeasurementProblem, match=r"no whole result|no result of netmodel"):
                results.parse(log, "")


def pair_of(start_s: float | None, **messages: int) -> Json:
    totals = {"messages": {"to_slaves": messages}, "loss": 0.0}
    return {"run": {"start_s": start_s}, "totals": totals}


def test_pairs_that_did_not_run_together_have_no_sum() -> None:
    results.check_together([pair_of(10.0), pair_of(11.9)], 10)
    results.check_together([pair_of(None)], 10)
    with pytest.raises(SkewProblem, match=r"its pairs are 2\.1 s apart, more than 20% of 10 s"):
        results.check_together([pair_of(10.0), pair_of(12.1)], 10)
    with pytest.raises(MeasurementProblem, match="not known"):
        results.check_together([pair_of(10.0), pair_of(None)], 10)


def test_loss_of_pairs_is_that_of_all_messages() -> None:
    both = [pair_of(0.0, sent=900, lost=0), pair_of(0.0, sent=100, lost=50)]
    assert figures.of_pairs(both)["loss_pct"] == 5.0
    assert figures.of_pairs([*both, {"run": {"start_s": 0.0}, "totals": {}}])["loss_pct"] is None


def test_the_longest_latency_of_pairs_is_known_when_all_tell_theirs() -> None:
    one = {"run": {"start_s": 0.0}, "totals": {"latency_s": {"count": 1, "max": 1e-3}}}
    assert figures.of_pairs([one, one])["max_us"] == pytest.approx(1000)
    assert figures.of_pairs([one, {**one, "totals": {}}])["max_us"] is None
