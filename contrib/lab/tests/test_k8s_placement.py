# SPDX-License-Identifier: Apache-2.0
"""netmodel-lab k8s: which nodes have the pods of each pair, and why others are left out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

pytest.importorskip("kubernetes", reason="the Kubernetes client is not installed; requirements-dev.txt has it")

from k8s_examples import PAIR, THREE, Json, node, placement_of

from netmodel_lab.k8s import placement
from netmodel_lab.k8s.problems import MeasurementProblem
from netmodel_lab.k8s.settings import Pods, Where
from netmodel_lab.problems import EnvironmentProblem


def chosen(nodes: list[Json], placement: str = "other-node", **where: Any) -> list[tuple[str, str]]:
    (found,) = placement_of(nodes, Where(placements=(placement,), **where)).values()  # type: ignore[arg-type]
    return [(pair.server, pair.client) for pair in found]


def test_nodes_of_a_pair() -> None:
    assert chosen(THREE) == [("a", "b")]
    assert chosen(THREE, "same-node") == [("a", "a")]
    assert chosen(THREE, "other-zone") == [("a", "c")]
    assert chosen(THREE, "same-zone", server="b") == [("b", "a")]
    assert chosen(THREE, server="c") == [("c", "a")]
    assert chosen(THREE, pairs=3) == [("a", "b"), ("b", "c"), ("c", "a")]
    hinted = [node("a"), node("b", labels={"netperf": "server"}), node("c", labels={"netperf": "client"})]
    assert chosen(hinted) == [("b", "c")]


def test_several_placements_have_slaves_of_their_own() -> None:
    found = placement_of(THREE, Where(placements=("same-node", "other-zone")))
    assert {name: [(pair.server, pair.client) for pair in pairs] for name, pairs in found.items()} == {
        "same-node": [("a", "a")],
        "other-zone": [("a", "c")],
    }
    assert placement.stands(found) == {0: placement.Stand("a", 1), 1: placement.Stand("a", 1)}


def test_many_to_one_has_one_slave() -> None:
    (pairs,) = placement_of(THREE, Where(pattern="many-to-one", pairs=3)).values()
    assert [(pair.server, pair.client, pair.slave, pair.lane) for pair in pairs] == [
        ("a", "b", 0, 0),
        ("a", "c", 0, 1),
        ("a", "b", 0, 2),
    ]
    assert placement.stands({"x": pairs}) == {0: placement.Stand("a", 3)}


def test_patterns_over_every_node() -> None:
    nodes = [*THREE, node("d", ready=False)]
    where = Where(pattern="matrix")
    names = placement.every_node(nodes, where, Pods("i"))
    assert names == ("a", "b", "c")
    where = replace(where, nodes=names)
    places = placement_of(nodes, where)
    assert list(places) == where.places == ["b > a", "c > a", "a > b", "c > b", "a > c", "b > c"]
    assert placement.stands(places) == {i: placement.Stand(name, 1) for i, name in enumerate(names)}
    (pairs,) = placement_of(nodes, replace(where, pattern="all-to-all")).values()
    assert len(pairs) == 6 and placement.stands({"x": pairs})[0] == placement.Stand("a", 2)
    with pytest.raises(EnvironmentProblem, match="node c is not in the cluster any more"):
        placement_of(nodes[:2], where)
    with pytest.raises(EnvironmentProblem, match="two nodes are needed, and 1 can have pods"):
        placement.every_node(nodes[2:], Where(pattern="matrix"), Pods("i"))


def test_a_node_s_port_is_dialled_where_the_server_is_not() -> None:
    pair = placement.Pair("a", "b")
    assert placement.door(THREE, pair)["metadata"]["name"] == "b"
    assert placement.door(THREE, placement.Pair("a", "a"))["metadata"]["name"] == "b"
    assert placement.door(THREE[:1], placement.Pair("a", "a"))["metadata"]["name"] == "a"


def test_a_zone_that_has_changed_has_no_sample() -> None:
    assert placement.verify_relation(THREE[0], THREE[2], "other-zone") == "other zone"
    assert placement.verify_relation(THREE[0], THREE[2], "c > a") == "other zone"
    with pytest.raises(MeasurementProblem, match="a and b are other node, same zone, and not other-zone"):
        placement.verify_relation(THREE[0], THREE[1], "other-zone")


def test_samples_of_one_place_are_of_the_same_nodes() -> None:
    places: placement.Places = {"other-node": (PAIR,)}
    placement.verify_nodes(places, {"other-node": [("n1", "n2")]})
    placement.verify_nodes(places, {"other-node": [(None, "n2")]})
    with pytest.raises(EnvironmentProblem, match="its samples are of n3 > n1, and the others would be of n2 > n1"):
        placement.verify_nodes(places, {"other-node": [("n1", "n3")]})


def test_a_slave_outside_has_a_place_of_its_own() -> None:
    assert chosen(THREE[:1], "external") == [("a", "a")]
    assert chosen(THREE, "external", client="b") == [("b", "b")]


def test_why_nodes_are_left_out() -> None:
    taint = {"key": "only", "effect": "NoSchedule"}
    nodes = [node("a", ready=False), node("b", unschedulable=True), node("c", taints=[taint]), node("d")]
    with pytest.raises(EnvironmentProblem) as caught:
        chosen(nodes)
    assert caught.value.lines == [
        "two nodes are needed, and 1 of 4 nodes can have pods",
        "node a is not ready",
        "node b is cordoned",
        "node c has the taint only:NoSchedule, which --toleration only would bear",
    ]
    with pytest.raises(EnvironmentProblem, match="two zones"):
        chosen([node("a", zone="x"), node("b", zone="x"), node("c")], "other-zone")
    with pytest.raises(EnvironmentProblem, match="no such node; did you mean node1"):
        chosen([node("node1"), node("node2")], server="nod1")
    tolerant = Pods("i", tolerations=({"key": "only", "operator": "Exists"},))
    assert placement.choose([node("c", taints=[taint]), node("d")], Where(), tolerant)


def test_a_pod_on_another_node_has_no_sample() -> None:
    pod = {"metadata": {"name": "p", "uid": "1"}, "spec": {"nodeName": "a"}}
    assert placement.verify(pod, "a") == "1"
    with pytest.raises(MeasurementProblem, match="on node a, and not on b"):
        placement.verify(pod, "b")
    with pytest.raises(MeasurementProblem, match="another one"):
        placement.verify(pod, "a", "2")
