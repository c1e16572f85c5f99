# SPDX-License-Identifier: Apache-2.0
"""netmodel-lab k8s: IPv4 and IPv6."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("kubernetes", reason="the Kubernetes client is not installed; requirements-dev.txt has it")

from netmodel_lab.k8s import manifests, placement, slaves
from netmodel_lab.k8s.netperf_file import Test
from netmodel_lab.k8s.settings import Limits, Pods, Settings, Where, as_json, from_json, points
from netmodel_lab.problems import EnvironmentProblem

RR = Test("rr", "TCP_RR", 1, 1, 64, 1)
BOTH = Settings("abcd1234", "id", (RR,), ("pod", "service"), Pods("i"), Where(), Limits(), families=("ipv4", "ipv6"))
POD = {"metadata": {"name": "s0"}, "spec": {}, "status": {"podIP": "10.1.0.2", "podIPs": [{"ip": "10.1.0.2"}]}}
DUAL = {**POD, "status": {"podIP": "10.1.0.2", "podIPs": [{"ip": "10.1.0.2"}, {"ip": "fd00::2"}]}}


def test_each_path_has_a_point_for_each_family() -> None:
    assert [one.way for one in points(BOTH)] == ["pod ipv4", "pod ipv6", "service ipv4", "service ipv6"]
    assert from_json(json.loads(json.dumps(as_json(BOTH)))) == BOTH
    places: placement.Places = {"other-node": (placement.Pair("a", "b"),)}
    ways = manifests.services(points(BOTH), places)
    assert [(way.network, way.family) for way in ways] == [("service", "ipv4"), ("service", "ipv6")]


def test_a_service_has_one_family_where_it_is_asked_for() -> None:
    six = manifests.service(BOTH, 0, 1, "service", ["TCP"], "1", family="ipv6")
    four = manifests.service(BOTH, 0, 1, "service", ["TCP"], "1", family="ipv4")
    assert six["spec"]["ipFamilies"] == ["IPv6"] and six["spec"]["ipFamilyPolicy"] == "SingleStack"
    assert six["metadata"]["name"] != four["metadata"]["name"]
    assert "ipFamilies" not in manifests.service(BOTH, 0, 1, "service", ["TCP"], "1")["spec"]
    doors = {
        manifests.service(BOTH, 0, 1, "nodeport", ["TCP"], "1", family=family)["spec"]["ports"][1]["nodePort"]
        for family in ("ipv4", "ipv6")
    }
    assert len(doors) == 2


def test_addresses_of_a_family() -> None:
    assert slaves.address_of(DUAL, "") == slaves.address_of(DUAL, "ipv4") == "10.1.0.2"
    assert slaves.address_of(DUAL, "ipv6") == "fd00::2"
    with pytest.raises(EnvironmentProblem, match=r"pod of s0 has 10.1.0.2, and no ipv6 address"):
        slaves.address_of(POD, "ipv6")
    node = {"metadata": {"name": "n1"}, "status": {"addresses": [{"type": "InternalIP", "address": "10.0.0.1"}]}}
    assert placement.node_address(node) == "10.0.0.1"
    with pytest.raises(EnvironmentProblem, match="node n1 has no ipv6 address"):
        placement.node_address(node, "ipv6")
