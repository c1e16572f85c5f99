# SPDX-License-Identifier: Apache-2.0
"""netmodel-lab k8s: what a run and clean remove, in which order, and what they say of the rest."""

from __future__ import annotations

import time
from argparse import Namespace as Words
from collections.abc import Collection
from dataclasses import replace
from typing import Any

import pytest

pytest.importorskip("kubernetes", reason="the Kubernetes client is not installed; requirements-dev.txt has it")

from netmodel_lab.k8s import cleaning, command, manifests, network_objects, networks, placement
from netmodel_lab.k8s.cluster import (
    BY_NAME,
    CUDN,
    MACHINE,
    NAMESPACE,
    NETWORK_KINDS,
    NODE,
    POD,
    POLICY,
    SRIOV_NETWORK,
    SRIOV_POLICY,
    Cluster,
    Kind,
)
from netmodel_lab.k8s.driver import Driver, opened
from netmodel_lab.k8s.netperf_file import Test
from netmodel_lab.k8s.problems import ApiProblem
from netmodel_lab.k8s.settings import Keep, Limits, Machines, Pods, Settings, Where, points
from netmodel_lab.k8s.waits import Waits
from netmodel_lab.problems import Exit, UsageProblem

Json = dict[str, Any]
RUN, OWN = "abcd1234", "netmodel-abcd1234"
RR = Test("rr", "TCP_RR", 5, 1, 64, 1)
PLACES: placement.Places = {"other-node": (placement.Pair("n1", "n2"),)}
CLUSTER_WIDE = "*"


class Fake(Cluster):
    """denied: verb, kind and where it is refused; an object goes when it is deleted, with what is in it."""

    def __init__(
        self, *items: Json, denied: Collection[tuple[str, Kind, str]] = (), absent: Collection[Kind] = ()
    ) -> None:
        self.there = {(one["kind"], one["metadata"].get("namespace"), one["metadata"]["name"]): one for one in items}
        self.denied, self.absent, self.deleted = denied, absent, list[str]()
        self.text = "fake"

    def _ask(self, verb: str, kind: Kind, where: str | None) -> None:
        if (verb, kind, where or CLUSTER_WIDE) in self.denied:
            raise ApiProblem(403, "Forbidden", f"cannot {verb} {kind.plural}")

    def get(self, kind: Kind, name: str, namespace: str | None = None) -> Json | None:
        return self.there.get((kind.name, namespace, name))

    def has(self, kind: Kind) -> bool:
        return kind not in self.absent

    def listed(self, kind: Kind, namespace: str | None = None, labels: str = "", fields: str = "") -> list[Json]:
        self._ask("list", kind, namespace)
        wanted = [label.partition("=") for label in labels.split(",") if label]
        return [
            one
            for (name, where, _), one in self.there.items()
            if name == kind.name and (not kind.namespaced or namespace in (None, where))
            for have in [one["metadata"].get("labels") or {}]
            if all(key in have and value in ("", have[key]) for key, _, value in wanted)
        ]

    def delete(self, item: Json, *, grace_s: int | None = None) -> None:
        meta = item["metadata"]
        self._ask("delete", BY_NAME[item["kind"]], meta.get("namespace"))
        self.deleted.append(item["kind"])
        self.there = {
            key: one
            for key, one in self.there.items()
            if key != (item["kind"], meta.get("namespace"), meta["name"])
            and not (item["kind"] == "Namespace" and key[1] == meta["name"])
        }


def of(kind: str, *, namespace: str | None = None, keep: Keep = "never", machines: bool = False) -> Settings:
    one = networks.new(kind, "" if kind == "cudn" else "ens1", "layer2" if kind == "cudn" else "", "", f"--{kind}")
    virtual = Machines("disk:1", are_alone=True) if machines else None
    found = Settings(RUN, "id", (RR,), (kind,), Pods("i"), Where(), Limits(1.0), namespace, keep=keep)
    return replace(found, network=one, machines=virtual)


def made(settings: Settings) -> list[Json]:
    """What a run has made when it is killed."""
    named = points(settings)
    found = [*manifests.namespaces(settings, ["pod"], "77")]
    found += network_objects.objects(settings, named, PLACES, "77")
    slave = manifests.server(settings, 0, "pod", "n1", [], "77") | {"kind": "Pod"}
    found += [manifests.secret(settings, manifests.namespace_of(settings, "pod"), "key", "77"), slave]
    for one in found:
        one["metadata"]["uid"] = f"{one['kind']}-{one['metadata']['name']}"
    return found


def clean(monkeypatch: pytest.MonkeyPatch, cluster: Fake, *runs: str, namespace: str | None = None) -> Exit:
    monkeypatch.setattr(Cluster, "connect", lambda *_: cluster)
    words = Words(kubeconfig=None, context=None, namespace=namespace, runs=list(runs), all=False, dry_run=False)
    return command.clean(words)


def test_networks_go_after_their_pods_and_functions_after_what_takes_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the rights that check asks for, which are in the operator's namespace."""
    denied = [("list", kind, CLUSTER_WIDE) for kind in (SRIOV_NETWORK, SRIOV_POLICY)]
    cluster = Fake(*made(of("sriov")), denied=denied)
    assert clean(monkeypatch, cluster, RUN) is Exit.DONE
    assert cluster.deleted == ["Pod", "Secret", "SriovNetwork", "SriovNetworkNodePolicy", "Namespace"]
    assert not cluster.there


@pytest.mark.parametrize("kind", [CUDN, MACHINE, SRIOV_POLICY])
def test_what_may_not_be_looked_for_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], kind: Kind
) -> None:
    where = network_objects.OPERATOR if kind is SRIOV_POLICY else CLUSTER_WIDE
    cluster = Fake(*made(of("cudn")), denied=[("list", kind, where)])
    assert clean(monkeypatch, cluster, RUN) is Exit.ENVIRONMENT
    assert (
        f"whether a run has left any {kind.name} cannot be told: cannot list {kind.plural}" in capsys.readouterr().err
    )
    assert (NAMESPACE.name, None, OWN) not in cluster.there


def test_the_account_of_rights_that_know_no_policies_removes_all_else(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A cluster forbids it to list kinds that are not there, too."""
    absent = [kind for kind in (MACHINE, *NETWORK_KINDS) if kind is not POLICY]
    denied = [("list", kind, where) for kind in (POLICY, *absent) for where in ("mine", CLUSTER_WIDE)]
    items = [one for one in made(of("macvlan", namespace="mine")) if one["kind"] in ("Pod", "Secret")]
    cluster = Fake(*items, denied=denied, absent=absent)
    assert clean(monkeypatch, cluster, RUN, namespace="mine") is Exit.DONE
    assert items and not cluster.there
    (said,) = [line for line in capsys.readouterr().err.splitlines() if "cannot be told" in line]
    assert said.endswith("whether a run has left any NetworkPolicy cannot be told: cannot list networkpolicies")


def test_a_failure_to_look_for_policies_is_one_and_stops_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Unlike a lack of rights; and not even which kinds there are can be told."""

    class Busy(Fake):
        def has(self, kind: Kind) -> bool:
            raise ApiProblem(503, "ServiceUnavailable", "busy")

        def _ask(self, verb: str, kind: Kind, where: str | None) -> None:
            if (verb, kind) == ("list", POLICY):
                raise ApiProblem(503, "ServiceUnavailable", "busy")

    items = [one for one in made(of("macvlan", namespace="mine")) if one["kind"] in ("Pod", "Secret")]
    cluster = Busy(*items)
    assert clean(monkeypatch, cluster, RUN, namespace="mine") is Exit.ENVIRONMENT
    assert items and not cluster.there
    assert "any NetworkPolicy cannot be told: busy" in capsys.readouterr().err


def test_the_rest_goes_on_when_something_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    cluster = Fake(*made(of("cudn")), denied=[("delete", CUDN, CLUSTER_WIDE)])
    assert clean(monkeypatch, cluster, RUN) is Exit.ENVIRONMENT
    assert [kind for kind, *_ in cluster.there] == [CUDN.name]
    said = (
        f"netmodel-lab: ClusterUserDefinedNetwork nm-{RUN} cannot be removed: cannot delete clusteruserdefinednetworks"
    )
    assert capsys.readouterr().err.splitlines() == [said]


def test_a_network_alone_is_found_by_the_name_of_its_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also in the namespace of a user, where nothing else is left of it."""
    alone = [one for one in made(of("cudn", namespace="mine")) if one["kind"] == CUDN.name]
    with pytest.raises(UsageProblem, match="ffff0000: no run has left anything under this name"):
        clean(monkeypatch, Fake(*alone), "ffff0000", namespace="mine")
    cluster = Fake(*alone)
    assert clean(monkeypatch, cluster, namespace="mine") is Exit.DONE and cluster.there
    assert clean(monkeypatch, cluster, RUN, namespace="mine") is Exit.DONE and not cluster.there


# --- a run ---


def driver(cluster: Fake, settings: Settings) -> Driver:
    """Of a run that has made all its objects."""
    found = Driver(cluster, settings, points(settings))
    found.has_begun = True
    found._networks = [one for one in cluster.there.values() if one["kind"] not in ("Namespace", "Secret", "Pod")]
    return found


def test_a_run_removes_its_networks_in_the_same_order() -> None:
    cluster = Fake(*made(of("sriov")))
    one = driver(cluster, of("sriov"))
    assert (one.close(has_failed=False), one.has_left) == ([], False)
    assert cluster.deleted == ["Pod", "Secret", "SriovNetwork", "SriovNetworkNodePolicy", "Namespace"]


def test_a_run_that_leaves_something_is_no_success(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = Fake(*made(of("cudn")), denied=[("delete", CUDN, CLUSTER_WIDE)])
    one, said = driver(cluster, of("cudn")), list[str]()
    monkeypatch.setattr(one, "open", lambda: None)
    with opened(one, said.append, "clean it"):
        pass
    assert (one.has_left, said[-1]) == (True, "to remove it: clean it")
    assert [kind for kind, *_ in cluster.there] == [CUDN.name]
    assert command._or_left(Exit.DONE, is_removed=False) is Exit.ENVIRONMENT
    assert command._or_left(Exit.WORSE, is_removed=False) is Exit.WORSE


def test_machines_that_may_not_be_listed_are_told_where_a_run_has_some() -> None:
    for has, said in (
        (True, f"VirtualMachineInstance in {OWN} cannot be listed: cannot list {MACHINE.plural}"),
        (False, ""),
    ):
        settings = of("sriov", machines=has)
        one = driver(Fake(*made(settings), denied=[("list", MACHINE, OWN)]), settings)
        assert one.close(has_failed=False) == ([said] if said else [])


def test_what_is_kept_is_named() -> None:
    outside = {
        "cudn": [f"ClusterUserDefinedNetwork nm-{RUN}"],
        "sriov": [
            f"{kind} nm-{RUN} in {network_objects.OPERATOR}" for kind in ("SriovNetworkNodePolicy", "SriovNetwork")
        ],
        "macvlan": [],
    }
    for kind, names in outside.items():
        settings = of(kind, keep="always")
        (said,) = driver(Fake(*made(settings)), settings).close(has_failed=False)
        assert said == f"kept for a look: {', '.join([f'namespace {OWN}', *names])}"


class Losing(Fake):
    """Its node is ready when the run looks first, and is lost then: its pods go only when nobody is asked."""

    def __init__(self, *items: Json) -> None:
        super().__init__(*items)
        self.looks = 0
        self.graces = list[int | None]()

    def get(self, kind: Kind, name: str, namespace: str | None = None) -> Json | None:
        if kind is not NODE:
            return super().get(kind, name, namespace)
        self.looks += 1
        state = "True" if self.looks == 1 else "Unknown"
        return {"metadata": {"name": name}, "status": {"conditions": [{"type": "Ready", "status": state}]}}

    def delete(self, item: Json, *, grace_s: int | None = None) -> None:
        self.graces.append(grace_s)
        if grace_s == 0:
            super().delete(item, grace_s=grace_s)


def test_a_node_that_is_lost_while_its_pods_go() -> None:
    meta = {"name": "p", "namespace": OWN, "labels": {manifests.RUN: RUN}}
    cluster = Losing({"kind": "Pod", "metadata": meta, "spec": {"nodeName": "n1"}})
    waits = Waits(cluster, Limits(1.0, remove_s=20.0))
    assert cleaning.remove(cluster, waits, RUN, [OWN], is_own=False, has_machines=False) == []
    assert cluster.graces == [None, 0]


class Blind(Fake):
    """Its nodes are not shown."""

    status, looks = 403, 0

    def get(self, kind: Kind, name: str, namespace: str | None = None) -> Json | None:
        if kind is NODE:
            self.looks += 1
            raise ApiProblem(self.status, "Why", "cannot get nodes")
        return super().get(kind, name, namespace)


def test_who_may_not_look_at_nodes_removes_all(monkeypatch: pytest.MonkeyPatch) -> None:
    items = made(of("macvlan", namespace="mine"))
    items[-1]["spec"]["nodeName"] = "n1"
    cluster = Blind(*items)
    assert cluster.there and clean(monkeypatch, cluster, RUN, namespace="mine") is Exit.DONE
    assert not cluster.there


@pytest.mark.parametrize("status", [403, 500])
def test_each_node_is_asked_once_and_why_it_cannot_be_is_told(status: int) -> None:
    """Unless one has no right to."""
    meta = {"namespace": OWN, "labels": {manifests.RUN: RUN}}
    pods = [{"kind": "Pod", "metadata": {**meta, "name": f"p{i}"}, "spec": {"nodeName": f"n{i % 2}"}} for i in range(6)]
    cluster = Blind(*pods)
    cluster.status = status
    left = cleaning.remove(cluster, Waits(cluster, Limits(1.0)), RUN, [OWN], is_own=False, has_machines=False)
    said = [f"whether node n{i} is there cannot be told: cannot get nodes" for i in range(2)]
    assert (cluster.there, cluster.looks, left) == ({}, 2, said if status == 500 else [])


class Slow(Blind):
    """Its pods go while somebody looks at them for the third time."""

    status, seen = 500, 0

    def get(self, kind: Kind, name: str, namespace: str | None = None) -> Json | None:
        self.seen += kind is POD
        return None if self.seen > 2 else super().get(kind, name, namespace)

    def delete(self, item: Json, *, grace_s: int | None = None) -> None:
        pass


def test_a_pod_is_waited_for_whose_node_cannot_be_read() -> None:
    meta = {"name": "p", "namespace": OWN, "labels": {manifests.RUN: RUN}}
    cluster = Slow({"kind": "Pod", "metadata": meta, "spec": {"nodeName": "n1"}})
    waits = Waits(cluster, Limits(1.0, remove_s=20.0))
    left = cleaning.remove(cluster, waits, RUN, [OWN], is_own=False, has_machines=False)
    assert (left, cluster.seen) == (["whether node n1 is there cannot be told: cannot get nodes"], 3)


class Stuck(Fake):
    """Its pods do not go."""

    def delete(self, item: Json, *, grace_s: int | None = None) -> None:
        pass


def test_pods_that_do_not_go_have_one_limit_for_all() -> None:
    pods = [
        {"kind": "Pod", "metadata": {"name": f"p{i}", "namespace": OWN, "labels": {manifests.RUN: RUN}}, "spec": {}}
        for i in range(20)
    ]
    cluster = Stuck(*pods)
    begin = time.monotonic()
    left = cleaning.remove(cluster, Waits(cluster, Limits(remove_s=1.0)), RUN, [OWN], is_own=False, has_machines=False)
    assert time.monotonic() - begin < 10
    assert left == [f"Pod p{i} is still there: no reason given" for i in range(20)]
