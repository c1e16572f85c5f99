# SPDX-License-Identifier: Apache-2.0
"""netmodel-lab k8s: the mean of samples, and verdicts beside the host's network and beside a baseline."""

from __future__ import annotations

import pytest

pytest.importorskip("kubernetes", reason="the Kubernetes client is not installed; requirements-dev.txt has it")

from k8s_examples import ENDS, RR, STREAM, Json, cell, of

from netmodel_lab.k8s import figures, rules
from netmodel_lab.k8s.figures import mean
from netmodel_lab.k8s.settings import points


def test_the_mean_has_student_s_interval() -> None:
    found = mean([1.0, 2.0, 3.0])
    assert found and found.low and found.high
    assert (found.mean, found.sd) == (2.0, 1.0)
    assert (round(found.low, 4), round(found.high, 4)) == (-0.4841, 4.4841)
    assert mean([None]) is None
    single = mean([5.0, None])
    assert single and single.low is None


@pytest.mark.parametrize(("pod_value", "is_worse"), [(100.0, False), (91.0, False), (90.0, True), (150.0, False)])
def test_the_tolerance_is_k8s_netperf_s(pod_value: float, is_worse: bool) -> None:
    """|100 - 90| is 10.5 % of their mean; a faster pod never fails."""
    (found,) = rules.tolerance([cell(STREAM, "host", [100.0]), cell(STREAM, "pod", [pod_value])], 10)
    assert found.is_worse is is_worse
    assert rules.tolerance([cell(STREAM, "host", [100.0])], 10) == []


def before(values: list[float]) -> dict[rules.Key, list[Json]]:
    key = ("TCP_STREAM", "10", "1024", "1", "1", "0", "pod", "other-node", "netmodel", "", "", "", "")
    return {key: [{"received_MBps": value / 8} for value in values]}


@pytest.mark.parametrize(
    ("now", "is_worse", "is_sure"),
    [
        ([50.0, 50.5, 49.5], True, True),
        ([100.0, 100.4, 99.8], False, True),
        ([130.0, 130.4, 129.0], False, True),
        ([95.0, 95.1, 94.9], False, True),
        ([40.0, 160.0, 80.0], False, False),
        ([50.0, 50.5], False, False),
    ],
)
def test_beside_a_baseline(now: list[float], is_worse: bool, is_sure: bool) -> None:
    (found,) = rules.baseline([cell(STREAM, "pod", now)], before([100.0, 100.5, 99.5]), 10)
    assert (found.is_worse, found.is_sure) == (is_worse, is_sure), found.text


def test_a_sample_that_has_carried_nothing_counts() -> None:
    (found,) = rules.baseline([cell(STREAM, "pod", [0.0, 100.0, 100.0])], before([100.0, 100.5, 99.5]), 10)
    assert (found.word, found.text) == ("worse", "a sample has carried nothing, and each of the baseline something")
    (found,) = rules.baseline([cell(STREAM, "pod", [100.0] * 3)], before([0.0, 100.5, 99.5]), 10)
    assert found.word == "none"
    (found,) = rules.tolerance([cell(STREAM, network, [0.0]) for network in ("host", "pod")], 10)
    assert (found.word, found.text) == ("none", "no verdict: neither has carried anything")


def test_a_test_that_only_the_baseline_has_is_told() -> None:
    gone, found = rules.baseline([cell(RR, "pod", [1.0] * 3)], before([100.0]), 10)
    assert {gone.word, found.word} == {"none"}
    said = {one.title: one.text for one in (gone, found)}
    title = "TCP_STREAM, duration 10, messagesize 1024, messagereadsize 1, parallelism 1, burst 0, pod, other-node"
    assert said[f"{title}: beside the baseline"] == "no verdict: this run has no such test"


def test_throttled_pods_have_no_verdict() -> None:
    slow = cell(STREAM, "pod", [50.0, 50.5, 49.5])
    slow.rows[1]["throttled_s"] = 0.25
    said = "no verdict: limits of CPU have held pods back for 0.25 s; larger --limits cpu=, or none"
    for (found,) in (
        rules.baseline([slow], before([100.0, 100.5, 99.5]), 10),
        rules.tolerance([cell(STREAM, "host", [100.0]), slow], 10),
    ):
        assert (found.is_worse, found.is_sure, found.text) == (False, False, said)
    hosts = [{"throttling": {"throttled_s": 0.5}}, {"throttling": None}]
    (point, *_) = points(of(STREAM))

    def row(ends: Json) -> Json:
        return figures.row(of(STREAM), point, {"pairs": [{"k8s": ends, "result": {"hosts": hosts}}]}, None)

    assert (row(ENDS)["throttled_s"], row(ENDS)["is_throttling_unknown"]) == (0.5, False)
    limited = row({**ENDS, "server": {"node": "n1", "resources": {"limits": {"cpu": "1"}}}})
    assert limited["is_throttling_unknown"]
    fast = cell(STREAM, "pod", [100.0] * 3)
    fast.rows[0]["is_throttling_unknown"] = True
    (found,) = rules.baseline([fast], before([100.0, 100.5, 99.5]), 10)
    assert found.word == "none" and "whether it has held them back is not known" in found.text


def test_equal_runs_are_seldom_worse() -> None:
    """Simulated, with runs that scatter by 8 %: at most a false alarm in a hundred was promised."""
    import numpy as np

    rng = np.random.default_rng(3)
    alarms = 0
    for _ in range(400):
        a, b = (list(np.exp(rng.normal(0, 0.08, 3)) * 100) for _ in range(2))
        (found,) = rules.baseline([cell(STREAM, "pod", b)], before(a), 10)
        alarms += found.is_worse
    assert alarms <= 4
