# SPDX-License-Identifier: Apache-2.0
"""netmodel-lab k8s: network policies that keep pods apart, and what they would have to allow."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("kubernetes", reason="the Kubernetes client is not installed; requirements-dev.txt has it")

from k8s_examples import PAIR, RR, SERVED, STREAM, of

from netmodel_lab.k8s import policies
from netmodel_lab.k8s.cluster import NODE, Cluster, Kind
from netmodel_lab.k8s.netperf_file import Test
from netmodel_lab.k8s.placement import Places
from netmodel_lab.k8s.settings import points

Json = dict[str, Any]
OURS: Json = {"podSelector": {"matchLabels": {"app.kubernetes.io/name": "netmodel"}}}
CONTROL: Json = {"port": 20000}
DATA: Json = {"port": 32768, "endPort": 60999}
ALL = "TCP 20000 (control), TCP 32768-60999 (data)"
PLACES: Places = {"other-node": (PAIR,)}


def policy(**spec: Any) -> Json:
    return {"metadata": {"name": "deny"}, "spec": {"podSelector": {}, **spec}}


class Fake(Cluster):
    def __init__(self, *found: Json) -> None:
        self.found = list(found)

    def get(self, kind: Kind, name: str, namespace: str | None = None) -> Json | None:
        return {"metadata": {"name": name, "labels": {"team": "net"}}}

    def listed_if_there(self, kind: Kind, namespace: str | None = None, labels: str = "") -> list[Json]:
        addresses = [{"type": "InternalIP", "address": "192.0.2.7"}, {"type": "Hostname", "address": "n1"}]
        if kind is NODE:
            return [{"spec": {"podCIDRs": ["10.244.1.0/24"]}, "status": {"addresses": addresses}}]
        return self.found if namespace == "users" else []


def told(*found: Json, tests: tuple[Test, ...] = (STREAM,), **more: Any) -> list[str]:
    settings = of(*tests, **{"namespace": "users", **more})
    return policies.in_the_way(Fake(*found), settings, points(settings), PLACES)


def test_a_policy_that_denies_all_is_named_with_what_is_needed() -> None:
    line, advice = told(policy())
    assert line.startswith("namespace users: NetworkPolicy deny is likely to be in the way")
    assert line.endswith("ingress from each other: " + ALL)
    assert "--network-policy" in advice


@pytest.mark.parametrize(
    ("tests", "more", "needs"),
    [
        ((Test("u", "UDP_RR", 5, 1, 64, 1),), {}, "TCP 20000 (control), UDP 32768-60999 (data)"),
        ((SERVED,), {}, "TCP 20000 (control), UDP 21000 (data)"),
        ((RR,), {"networks": ("nodeport",)}, "TCP 20000 (control), TCP 30000-32767 (data)"),
        (
            (STREAM,),
            {"drivers": {"netperf": "i"}},
            "TCP 20000 (control), TCP 32768-60999 (data), TCP 22800-22801 (netperf)",
        ),
    ],
)
def test_ports_are_those_of_the_tests(tests: tuple[Test, ...], more: Json, needs: str) -> None:
    assert told(policy(), tests=tests, **more)[0].endswith(f": {needs}")


@pytest.mark.parametrize(
    "rule",
    [
        {},
        {"from": [OURS]},
        {"from": [OURS], "ports": [CONTROL, DATA]},
        {"from": [OURS], "ports": [{"port": "control"}, DATA]},
        {"from": [{"namespaceSelector": {"matchLabels": {"team": "net"}}}]},
        {"from": [{"ipBlock": {"cidr": "0.0.0.0/0", "except": ["169.254.0.0/16"]}}]},
        {"from": [{"ipBlock": {"cidr": "10.244.7.1/16"}}]},
        {"from": [{"podSelector": {"matchExpressions": [{"key": "netmodel.io/role", "operator": "Exists"}]}}]},
    ],
)
def test_a_rule_that_allows_it(rule: Json) -> None:
    assert told(policy(), policy(ingress=[rule])) == []


@pytest.mark.parametrize(
    ("rule", "missing"),
    [
        ({"from": [OURS], "ports": [CONTROL]}, "TCP 32768-60999 (data)"),
        ({"from": [OURS], "ports": [{"port": 1, "endPort": 50000}]}, "TCP 32768-60999 (data)"),
        ({"from": [OURS], "ports": [{"protocol": "UDP"}, DATA]}, "TCP 20000 (control)"),
        ({"from": [{"podSelector": {"matchLabels": {"a": "b"}}}]}, ALL),
        ({"from": [{"namespaceSelector": {"matchLabels": {"team": "x"}}}]}, ALL),
        ({"from": [{"ipBlock": {"cidr": "10.244.1.0/25"}}]}, ALL),
        ({"from": [{"ipBlock": {"cidr": "10.0.0.0/8", "except": ["10.244.1.9/32"]}}]}, ALL),
        ({"from": [{"ipBlock": {"cidr": "::/0"}}]}, ALL),
    ],
)
def test_a_rule_that_allows_a_part(rule: Json, missing: str) -> None:
    assert told(policy(ingress=[rule]))[0].endswith(f"each other: {missing}")


def test_egress_is_looked_at_where_a_policy_holds_it() -> None:
    (line, _) = told(policy(policyTypes=["Egress"]))
    assert "egress to each other: TCP 20000" in line
    assert told(policy(policyTypes=["Egress"], egress=[{"to": [OURS]}])) == []


def test_nodes_have_addresses_and_no_labels() -> None:
    assert "from addresses of nodes" in told(policy(ingress=[{"from": [OURS]}]), networks=("host-to-pod",))[0]
    assert told(policy(ingress=[{"from": [{"ipBlock": {"cidr": "192.0.2.0/28"}}]}]), networks=("host-to-pod",)) == []
    assert told(policy(), networks=("host",)) == []


def test_pods_of_others_and_other_ways_do_not_matter() -> None:
    others = {
        "podSelector": {
            "matchExpressions": [{"key": "app.kubernetes.io/name", "operator": "NotIn", "values": ["netmodel"]}]
        }
    }
    assert told(policy(**others)) == []
    assert told(policy(), network_policy=True) == told(policy(), network_policy=False) == []
    assert told(policy(), namespace=None) == []


def test_one_of_its_own_is_of_the_run_alone() -> None:
    settings = of(STREAM, networks=("pod",), network_policy=True)
    (made,) = policies.objects(settings, points(settings), ["10.0.0.1"], "9")
    assert made["metadata"]["labels"]["netmodel.io/run"] == settings.run
    assert made["spec"]["podSelector"] == {"matchLabels": {"netmodel.io/run": settings.run}}
    assert made["spec"]["ingress"] == [{"from": [{"podSelector": made["spec"]["podSelector"]}]}]
    settings = of(STREAM, networks=("host-to-pod",), network_policy=True)
    (made,) = policies.objects(settings, points(settings), ["10.0.0.1", "fd00::/64"], "9")
    assert made["spec"]["ingress"][0]["from"][1:] == [
        {"ipBlock": {"cidr": "10.0.0.1/32"}},
        {"ipBlock": {"cidr": "fd00::/64"}},
    ]
    assert policies.objects(of(STREAM), points(of(STREAM)), [], "9") == []
