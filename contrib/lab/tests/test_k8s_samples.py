# SPDX-License-Identifier: Apache-2.0
"""netmodel-lab k8s: a sample, by a cluster that answers as it is told to."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

pytest.importorskip("kubernetes", reason="the Kubernetes client is not installed; requirements-dev.txt has it")

from netmodel_lab.k8s.cluster import JOB, POD, Cluster, Kind
from netmodel_lab.k8s.driver import Driver
from netmodel_lab.k8s.manifests import Dial
from netmodel_lab.k8s.models import Model
from netmodel_lab.k8s.netperf_file import Test
from netmodel_lab.k8s.placement import Pair
from netmodel_lab.k8s.problems import MeasurementProblem
from netmodel_lab.k8s.settings import Limits, Pods, Settings, Where, points
from netmodel_lab.k8s.slaves import Slave, Slaves
from netmodel_lab.k8s.waits import Waits

Json = dict[str, Any]


class Scripted:
    """A cluster, what waits for its pods, and slaves: a client prints what is said, in the order of their Jobs."""

    def __init__(self, said: Sequence[Json], nodes: str = "ba") -> None:
        """nodes: of clients, by turns."""
        self.said, self.nodes, self.made, self.there = said, nodes, list[str](), dict[str, Json]()
        self.suspected = list[str]()

    def create(self, item: Json) -> Json:
        self.there[item["metadata"]["name"]] = {**item, "number": len(self.made)}
        self.made.append(item["metadata"]["name"])
        return item

    def get(self, kind: Kind, name: str, namespace: str | None = None) -> Json | None:
        return self.there.get(name) if kind is JOB else {"metadata": {"name": name, "labels": {}}, "status": {}}

    def delete(self, item: Json, grace_s: int | None = None) -> None:
        del self.there[item["metadata"]["name"]]

    def gone(self, *_: str) -> None:
        pass

    def started(self, name: str, namespace: str) -> Json:
        number = self.there[name]["number"]
        node, meta = self.nodes[number % 2], {"name": f"{name}-{number}", "namespace": namespace, "uid": name}
        return {"metadata": meta, "spec": {"nodeName": node, "containers": [{"name": "c"}]}, "status": {}}

    def finished(self, pod: Json, _limit_s: float, _server: str | None) -> Json:
        return {**pod, "status": {"phase": "Succeeded"}}

    def log(self, name: str, _namespace: str) -> str:
        document = self.said[int(name.rpartition("-")[2])]
        return json.dumps({"schema": "netmodel.result/1", "run": {"complete": True, **document}})

    def verify_nodes(self, pods: Sequence[Json], _said: str) -> None:
        self.suspected += [pod["spec"]["nodeName"] for pod in pods]

    def stand_again(self, _point: Any) -> None:
        pass

    def of(self, *_: Any) -> None:
        pass

    def dial(self, *_: Any) -> Dial:
        return Dial("10.0.0.1", 20000)


def driver(script: Scripted, settings: Settings, pairs: tuple[Pair, ...], said: list[str]) -> Driver:
    found = Driver(cast(Cluster, script), settings, points(settings), "00", say=said.append)
    found._waits, found._slaves = cast(Waits, script), cast(Slaves, script)
    found._places = dict.fromkeys(settings.where.places, pairs)
    return found


TEST = Test("one", "TCP_STREAM", 5, 1, 64, 1)
BOTH = (Pair("a", "b"), Pair("b", "a", slave=1))


def of(test: Test, **more: Any) -> Settings:
    return Settings("abcd1234", "id", (test,), ("pod",), Pods("netmodel:1"), Where(pairs=2), Limits(), **more)


def starts(*starts: float) -> list[Json]:
    return [{"start_s": start} for start in starts]


def test_pairs_that_did_not_start_together_have_another_try() -> None:
    script, said = Scripted(starts(10.0, 12.0, 20.0, 23.0, 30.0, 30.5)), list[str]()
    settings = of(TEST)
    found = driver(script, settings, BOTH, said).sample(points(settings)[0])
    assert [one.document["run"]["start_s"] for one in found] == [30.0, 30.5]
    assert len(script.made) == 6 and script.there == {}
    assert [line.rpartition(": ")[2] for line in said] == ["try 2 of 3", "try 3 of 3"]
    assert "2.0 s apart" in said[0] and "3.0 s apart" in said[1]


class Lost(Scripted):
    """The node of its clients goes while they measure."""

    def finished(self, pod: Json, _limit_s: float, _server: str | None) -> Json:
        raise MeasurementProblem(["node a is not ready any more"])


class Endless(Scripted):
    """Its clients do not end."""

    def finished(self, pod: Json, _limit_s: float, _server: str | None) -> Json:
        there = SimpleNamespace(get=lambda kind, *_: pod if kind is POD else {})
        return Waits(cast(Cluster, there), Limits()).finished(pod, 0, [])


FAILED = [{"complete": False, "start_s": 1.0}] * 2


@pytest.mark.parametrize(
    ("script", "is_told"),
    [
        (Scripted(FAILED), True),
        (Endless([]), True),
        (Scripted(starts(10.0, 12.0) * 3), False),  # they have met
        (Scripted([{"reconciled": False}] * 2), False),
        (Lost([]), False),
    ],
    ids=["failed", "does not end", "late", "ends that do not agree", "lost"],
)
def test_a_client_that_fails_tells_of_policies_that_may_be_the_cause(script: Scripted, is_told: bool) -> None:
    """And no sample whose cause is known."""
    settings, said = of(TEST), "NetworkPolicy deny may be in the way"
    run = driver(script, settings, BOTH, [])
    run._suspects = [said]
    with pytest.raises(MeasurementProblem) as failed:
        run.sample(points(settings)[0])
    assert (said in failed.value.lines) is is_told


class Slow(Scripted):
    """The first look at each log comes before its end has been written."""

    def log(self, name: str, namespace: str) -> str:
        whole = super().log(name, namespace)
        seen = name in self.suspected
        self.suspected.append(name)
        return whole if seen else whole[: len(whole) // 2]


def test_a_log_is_waited_for_until_it_is_whole() -> None:
    script, said = Slow(starts(10.0, 10.5)), list[str]()
    settings = of(TEST)
    found = driver(script, settings, BOTH, said).sample(points(settings)[0])
    assert [one.document["run"]["start_s"] for one in found] == [10.0, 10.5]
    assert len(script.made) == 2 and said == []


def test_pairs_that_never_start_together_have_no_sample() -> None:
    script, said = Scripted(starts(*map(float, range(0, 60, 10)))), list[str]()
    settings = of(TEST)
    with pytest.raises(MeasurementProblem, match=r"10\.0 s apart"):
        driver(script, settings, BOTH, said).sample(points(settings)[0])
    assert len(script.made) == 6 and len(said) == 2


@pytest.mark.parametrize("wrong", [{"complete": False, "start_s": 1.0}, {"start_s": None}])
def test_what_another_try_would_not_put_right_has_none(wrong: Json) -> None:
    script, said = Scripted([{"start_s": 1.0}, wrong]), list[str]()
    settings = of(TEST)
    with pytest.raises(MeasurementProblem):
        driver(script, settings, BOTH, said).sample(points(settings)[0])
    assert len(script.made) == 2 and said == []


class Many(Scripted):
    """A slave on the server's node of each pair."""

    def of(self, _point: Any, pair: Pair) -> Slave:  # type: ignore[override]
        meta = {"name": f"s{pair.slave}", "namespace": "n", "uid": f"u{pair.slave}"}
        return Slave({"metadata": meta, "spec": {"nodeName": pair.server, "containers": [{"name": "c"}]}}, "u", 20000)

    def verify(self, slave: Slave, pair: Pair) -> None:
        assert slave.pod["spec"]["nodeName"] == pair.server


@pytest.mark.parametrize("complete", [True, False])
def test_all_slaves_of_one_master_are_told_or_suspected(complete: bool) -> None:
    script = Many([{"complete": complete, "start_s": 1.0}])
    pairs = (Pair("a", "b"), Pair("c", "b", slave=1))
    settings = replace(of(TEST), where=Where(pattern="one-to-many", pairs=2))
    run = driver(script, settings, pairs, [])
    if not complete:
        with pytest.raises(MeasurementProblem, match="incomplete"):
            run.sample(points(settings)[0])
        assert script.suspected == ["a", "c"] and script.there == {}
        return
    (found,) = run.sample(points(settings)[0])
    assert [(one["pod"], one["node"]) for one in found.k8s["servers"]] == [("s0", "a"), ("s1", "c")]
    assert found.k8s["server"] == found.k8s["servers"][0] and found.k8s["relation"] == "other node"
    assert script.suspected == []


@pytest.mark.parametrize(
    ("params", "address"), [((), "10.1.2.3"), ((("num_flows", "2"),), "10.1.2.3"), ((("server", "web:80"),), "web:80")]
)
def test_the_address_of_a_server_outside(params: tuple[tuple[str, str], ...], address: str) -> None:
    test = Test("one", "http", 1, 1, 0, 1, model=Model("http", params, sets=("host", "test_length")))
    settings = replace(of(test, external="10.1.2.3"), where=Where(placements=("external",)))
    (found,) = driver(Scripted(starts(1.0)), settings, BOTH[:1], []).sample(points(settings)[0])
    assert found.k8s["server"] == {"address": address} and found.k8s["relation"] == "external"
