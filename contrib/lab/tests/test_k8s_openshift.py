# SPDX-License-Identifier: Apache-2.0
"""netmodel-lab k8s: what OpenShift wants beside Kubernetes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

pytest.importorskip("kubernetes", reason="the Kubernetes client is not installed; requirements-dev.txt has it")

from netmodel_lab.k8s import checking, openshift
from netmodel_lab.k8s.cluster import CONSTRAINTS, Cluster, Kind
from netmodel_lab.k8s.netperf_file import Test
from netmodel_lab.k8s.problems import ApiProblem
from netmodel_lab.k8s.rights import Right
from netmodel_lab.k8s.settings import Limits, Pods, Settings, Where

Json = dict[str, Any]
RBAC = "rbac.authorization.k8s.io"
RR = Test("rr", "TCP_RR", 5, 1, 64, 1)
PLAIN = Settings("abcd1234", "id", (RR,), ("pod", "host"), Pods("i"), Where(), Limits())
SHIFT = replace(PLAIN, is_openshift=True)


class Fake(Cluster):
    """allowed: what accounts may use; None: nobody may ask."""

    def __init__(self, kinds: tuple[Kind, ...] = (), allowed: tuple[str, ...] | None = ()) -> None:
        self.kinds, self.allowed, self.asked = kinds, allowed, list[Json]()

    def has(self, kind: Kind) -> bool:
        return kind in self.kinds

    def post(self, kind: Kind, item: Json) -> Json:
        if self.allowed is None:
            raise ApiProblem(403, "Forbidden", "no")
        self.asked.append(item["spec"])
        return {"status": {"allowed": item["spec"]["resourceAttributes"]["name"] in self.allowed}}


def test_it_is_told_by_its_api_groups() -> None:
    assert openshift.found(Fake((CONSTRAINTS,)), PLAIN) == SHIFT
    assert openshift.found(Fake(), PLAIN) == PLAIN


def test_the_account_of_its_own_namespaces_is_bound() -> None:
    def bound(settings: Settings) -> list[tuple[str, str]]:
        items = openshift.bindings(settings, ["pod", "host"], "77")
        assert all(one["subjects"][0]["namespace"] == one["metadata"]["namespace"] for one in items)
        return [(one["metadata"]["namespace"], one["roleRef"]["name"].rpartition(":")[2]) for one in items]

    assert bound(PLAIN) == []
    assert bound(SHIFT) == [("netmodel-abcd1234-host", "hostnetwork-v2")]
    assert bound(replace(SHIFT, drivers={"iperf3": "i"}))[0] == ("netmodel-abcd1234", "nonroot-v2")
    assert {name for _, name in bound(replace(SHIFT, pods=Pods("i", is_privileged=True)))} == {"privileged"}
    assert bound(replace(SHIFT, namespace="mine")) == []


def test_who_binds_a_constraint_may_use_it_or_bind_it() -> None:
    """In each namespace of the run, also in that of host network."""
    settings = replace(SHIFT, drivers={"iperf3": "i"})
    binds = [(Right(RBAC, "rolebindings", ("create",)), f"netmodel-abcd1234{end}") for end in ("", "-host")]
    names = ("nonroot-v2", "hostnetwork-v2")
    roles = [(Right(RBAC, "clusterroles", ("bind",), f"system:openshift:scc:{name}"), "") for name in names]
    assert openshift.rights(Fake((), names), settings, ["pod", "host"]) == binds
    found = openshift.rights(Fake(), settings, ["pod", "host"])
    assert found == [binds[0], roles[0], binds[1], roles[1]]
    assert openshift.rights(Fake(), PLAIN, ["pod", "host"]) == []
    (*_, rule) = checking.grants([(roles[1][0], None)])
    assert "resourceNames: ['system:openshift:scc:hostnetwork-v2'], verbs: [bind]" in rule


def test_an_account_of_the_user_s_that_may_not() -> None:
    settings = replace(SHIFT, namespace="mine", pods=Pods("i", service_account="bench"))
    fake = Fake()
    assert openshift.lacks(fake, settings, ["pod", "host"]) == [
        "namespace mine: account bench may not use the security context constraint hostnetwork-v2: "
        "oc adm policy add-scc-to-user hostnetwork-v2 -z bench -n mine"
    ]
    (asked,) = fake.asked
    assert asked["user"] == "system:serviceaccount:mine:bench" and asked["resourceAttributes"]["verb"] == "use"
    for allowed in (("hostnetwork-v2",), None):
        assert openshift.lacks(Fake((), allowed), settings, ["pod", "host"]) == []
    assert (
        openshift.lacks(Fake(), SHIFT, ["host"])
        == openshift.lacks(Fake(), replace(PLAIN, namespace="m"), ["host"])
        == []
    )
