# SPDX-License-Identifier: Apache-2.0
"""netmodel-lab k8s: network policies that keep pods apart, and what they would have to allow."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

pytest.importorskip("kubernetes", reason="the Kubernetes client is not installed; requirements-dev.txt has it")

from k8s_examples import PAIR, RR, SERVED, STREAM, of

from netmodel_lab.k8s import checking, networks, policies
from netmodel_lab.k8s.cluster import CONSTRAINTS, NAMESPACE, NODE, POLICY, Cluster, Kind
from netmodel_lab.k8s.driver import Driver
from netmodel_lab.k8s.models import Model
from netmodel_lab.k8s.netperf_file import Test
from netmodel_lab.k8s.placement import Pair, Places
from netmodel_lab.k8s.problems import ApiProblem
from netmodel_lab.k8s.settings import Pods, Where, as_json, from_json, points

Json = dict[str, Any]
OURS: Json = {"podSelector": {"matchLabels": {"app.kubernetes.io/name": "netmodel"}}}
CONTROL: Json = {"port": 20000}
DATA: Json = {"port": 32768, "endPort": 60999}
ALL = "TCP 20000 (control), TCP 32768-60999 (data)"
PLACES: Places = {"other-node": (PAIR,)}


def policy(**spec: Any) -> Json:
    return {"metadata": {"name": "deny"}, "spec": {"podSelector": {}, **spec}}


class Fake(Cluster):
    """hidden: kinds that may not be read; groups: None where they may not."""

    def __init__(self, *found: Json, hidden: tuple[Kind, ...] = (), groups: tuple[str, ...] | None = ("apps",)) -> None:
        self.found, self.hidden, self.of = list(found), hidden, groups
        self.text = "fake"

    def groups(self) -> set[str]:
        if self.of is None:
            raise ApiProblem(403, "Forbidden", "cannot get path /apis")
        return set(self.of)

    def _ask(self, kind: Kind) -> None:
        if kind in self.hidden:
            raise ApiProblem(403, "Forbidden", f"cannot read {kind.plural}")

    def get(self, kind: Kind, name: str, namespace: str | None = None) -> Json | None:
        self._ask(kind)
        return {"metadata": {"name": name, "labels": {"team": "net"}}}

    def listed(self, kind: Kind, namespace: str | None = None, labels: str = "", fields: str = "") -> list[Json]:
        self._ask(kind)
        addresses = [{"type": "InternalIP", "address": "192.0.2.7"}, {"type": "Hostname", "address": "n1"}]
        if kind is NODE:
            ready = [{"type": "Ready", "status": "True"}]
            return [
                {
                    "metadata": {"name": name, "labels": {}},
                    "spec": {"podCIDRs": ["10.244.1.0/24"]},
                    "status": {"addresses": addresses, "conditions": ready},
                }
                for name in ("n1", "n2")
            ]
        return self.found if kind is POLICY and namespace == "users" else []

    def post(self, kind: Kind, item: Json) -> Json:
        asked = item["spec"]["resourceAttributes"]
        return {"status": {"allowed": asked["resource"] not in [one.plural for one in self.hidden]}}


def found(cluster: Fake, *tests: Test, places: Places = PLACES, **more: Any) -> policies.Found:
    settings = of(*(tests or (STREAM,)), **{"namespace": "users", **more})
    return policies.in_the_way(cluster, settings, points(settings), cluster.listed(NODE), places)


def told(*there: Json, tests: tuple[Test, ...] = (STREAM,), **more: Any) -> tuple[str, ...]:
    """What is refused before a run; nothing else is said."""
    lines = found(Fake(*there), *tests, **more)
    assert lines.perhaps == lines.unseen == ()
    return lines.sure


def expression(key: str, operator: str, *values: str) -> Json:
    return {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}


def kinds(lines: tuple[str, ...]) -> set[str]:
    """What is told of."""
    return {what for what in ("control", "data") if any(f"({what})" in line for line in lines)}


def test_by_a_node_s_port_only_control_goes_from_pod_to_pod() -> None:
    lines = found(Fake(policy()), RR, networks=("nodeport",))
    assert lines.sure[0].endswith("from each other: TCP 20000 (control)")
    assert lines.perhaps[0].endswith("from addresses of nodes: TCP 30000-32767 (data)")


def test_a_policy_that_denies_all_is_named_with_what_is_needed() -> None:
    (line,) = told(policy())
    assert line.startswith("namespace users: NetworkPolicy deny is likely to be in the way")
    assert line.endswith("ingress from each other: " + ALL)


def test_all_that_is_denied_is_said_with_one_advice() -> None:
    """As check and a run say it."""
    lines = found(Fake(policy()), RR, networks=("nodeport",))
    *said, advice = lines.refusal
    assert (said, lines.warning) == ([*lines.sure, *lines.perhaps], ())
    assert "--network-policy" in advice and not any("--network-policy" in line for line in said)
    settings = of(RR, networks=("nodeport",), namespace="users")
    checked, _ = checking.check(Fake(policy()), settings, points(settings))
    assert [line for line in checked if line in lines.refusal] == list(lines.refusal)
    by_zone = policy(podSelector=expression("topology.kubernetes.io/zone", "Exists"))
    lines = found(Fake(by_zone))
    assert (lines.refusal, lines.warning) == ((), (*lines.perhaps, advice))


@pytest.mark.parametrize(
    ("tests", "more", "needs"),
    [
        ((Test("u", "UDP_RR", 5, 1, 64, 1),), {}, "TCP 20000 (control), UDP 32768-60999 (data)"),
        ((SERVED,), {}, "TCP 20000 (control), UDP 21000 (data)"),
        ((RR,), {"networks": ("headless",)}, "TCP 20000 (control), TCP 32768-60999 (data)"),
        (
            (STREAM,),
            {"drivers": {"netperf": "i"}},
            "TCP 20000 (control), TCP 32768-60999 (data), TCP 22800-22801 (netperf)",
        ),
    ],
)
def test_ports_are_those_of_the_tests(tests: tuple[Test, ...], more: Json, needs: str) -> None:
    assert told(policy(), tests=tests, **more)[0].endswith(f": {needs}")


# Policies by what they are; of control and data, what is refused, and what is warned of.
BOTH = "control data"
NAME, ROLE, MESH = "app.kubernetes.io/name", "netmodel.io/role", "security.istio.io/tlsMode"
HOLDS: dict[str, tuple[list[Json], str, str]] = {
    "none": ([], "", ""),
    "deny by default": ([policy()], BOTH, ""),
    "deny by default, with types": ([policy(policyTypes=["Ingress"])], BOTH, ""),
    "deny egress": ([policy(policyTypes=["Egress"])], BOTH, ""),
    "types missing, with egress": (
        [policy(ingress=[{}], egress=[{"to": [{"podSelector": {}}], "ports": [DATA]}])],
        "control",
        "",
    ),
    "types missing, egress empty": ([policy(ingress=[{}], egress=[])], "", ""),
    "ingress rules without the type": ([policy(policyTypes=["Egress"], ingress=[], egress=[{}])], "", ""),
    "egress to pods": ([policy(policyTypes=["Egress"], egress=[{"to": [OURS]}])], "", ""),
    "egress to pods, and no ingress": ([policy(policyTypes=["Ingress", "Egress"], egress=[{"to": [OURS]}])], BOTH, ""),
    "other pods": ([policy(podSelector=expression(NAME, "NotIn", "netmodel"))], "", ""),
    "other pods, by a label that ours have not": ([policy(podSelector=expression("web", "Exists"))], "", ""),
    "pods without a label": ([policy(podSelector=expression("web", "DoesNotExist"))], BOTH, ""),
    "pods with no such value": ([policy(podSelector=expression("web", "NotIn", "a"))], BOTH, ""),
    "pods without a label that a webhook may add": ([policy(podSelector=expression(MESH, "DoesNotExist"))], "", BOTH),
    "clients of Jobs": ([policy(podSelector=expression("job-name", "Exists"), policyTypes=["Egress"])], "", BOTH),
    "labels and expressions": (
        [policy(podSelector={"matchLabels": {NAME: "netmodel"}} | expression(ROLE, "In", "server", "both"))],
        BOTH,
        "",
    ),
}
ALLOWS: dict[str, tuple[list[Json], str, str]] = {
    "all": ([{}], "", ""),
    "all, with empty lists": ([{"from": [], "ports": []}], "", ""),
    "ours": ([{"from": [OURS]}], "", ""),
    "ours, and no others": ([{"from": [{"podSelector": {"matchLabels": {"a": "b"}}}, OURS]}], "", ""),
    "others": ([{"from": [{"podSelector": {"matchLabels": {"a": "b"}}}]}], BOTH, ""),
    "the pods of Jobs": ([{"from": [{"podSelector": expression("job-name", "Exists")}]}], "", BOTH),
    "the pods of a zone": (
        [{"from": [{"podSelector": {"matchLabels": {"topology.kubernetes.io/zone": "z1"}}}]}],
        "",
        BOTH,
    ),
    "the pods of a mesh": ([{"from": [{"podSelector": expression(MESH, "Exists")}]}], "", BOTH),
    "pods with a label of ours that these have not": (
        [{"from": [{"podSelector": expression("app.kubernetes.io/component", "Exists")}]}],
        BOTH,
        "",
    ),
    "both ports": ([{"ports": [CONTROL, DATA]}], "", ""),
    "both ports, in two rules": ([{"ports": [CONTROL]}, {"ports": [DATA]}], "", ""),
    "data in two entries": (
        [{"ports": [CONTROL, {"port": 1, "endPort": 40000}, {"port": 40001, "endPort": 65535}]}],
        "",
        "",
    ),
    "data in two rules that overlap": (
        [
            {"from": [OURS], "ports": [{"port": 20000, "endPort": 50000}]},
            {"ports": [{"port": 45000, "endPort": 60999}]},
        ],
        "",
        "",
    ),
    "data with a gap": (
        [{"ports": [CONTROL, {"port": 32768, "endPort": 40000}, {"port": 40002, "endPort": 65535}]}],
        "",
        "data",
    ),
    "a part of the data": ([{"ports": [{"port": 1, "endPort": 50000}]}], "", "data"),
    "one port of the data": ([{"ports": [CONTROL, {"port": 40000}]}], "", "data"),
    "ports below the data": ([{"ports": [{"port": 1, "endPort": 32767}]}], "data", ""),
    "control": ([{"from": [OURS], "ports": [CONTROL]}], "data", ""),
    "data": ([{"ports": [DATA]}], "control", ""),
    "control by name": ([{"ports": [{"port": "control"}, DATA]}], "", ""),
    "data by a name that no port has": ([{"ports": [CONTROL, {"port": "data"}]}], "data", ""),
    "any port of TCP": ([{"ports": [{"protocol": "TCP"}]}], "", ""),
    "any port of UDP, and the data": ([{"ports": [{"protocol": "UDP"}, DATA]}], "control", ""),
    "the namespace by a label": ([{"from": [{"namespaceSelector": {"matchLabels": {"team": "net"}}}]}], "", ""),
    "the namespace by its name": (
        [{"from": [{"namespaceSelector": expression("kubernetes.io/metadata.name", "In", "users", "b")}]}],
        "",
        "",
    ),
    "all namespaces": ([{"from": [{"namespaceSelector": {}}]}], "", ""),
    "all namespaces, others' pods": (
        [{"from": [{"namespaceSelector": {}, "podSelector": {"matchLabels": {"a": "b"}}}]}],
        BOTH,
        "",
    ),
    "another namespace": ([{"from": [{"namespaceSelector": {"matchLabels": {"team": "x"}}}]}], BOTH, ""),
    "all addresses": ([{"from": [{"ipBlock": {"cidr": "0.0.0.0/0", "except": ["169.254.0.0/16"]}}]}], "", ""),
    "all pods by address": ([{"from": [{"ipBlock": {"cidr": "10.244.7.1/16"}}]}], "", ""),
    "some pods by address": ([{"from": [{"ipBlock": {"cidr": "10.244.1.0/25"}}]}], "", BOTH),
    "all pods but one": ([{"from": [{"ipBlock": {"cidr": "10.0.0.0/8", "except": ["10.244.1.9/32"]}}]}], "", BOTH),
    "other addresses": ([{"from": [{"ipBlock": {"cidr": "192.0.2.0/24"}}]}], "", BOTH),
    "the other family": ([{"from": [{"ipBlock": {"cidr": "::/0"}}]}], "", BOTH),
    "control by address": ([{"from": [{"ipBlock": {"cidr": "192.0.2.0/24"}}], "ports": [CONTROL]}], "data", "control"),
}


@pytest.mark.parametrize(("there", "refused", "warned"), HOLDS.values(), ids=list(HOLDS))
def test_which_pods_a_policy_holds(there: list[Json], refused: str, warned: str) -> None:
    lines = found(Fake(*there))
    assert (kinds(lines.sure), kinds(lines.perhaps)) == (set(refused.split()), set(warned.split()))


@pytest.mark.parametrize("is_egress", [False, True])
@pytest.mark.parametrize(("rules", "refused", "warned"), ALLOWS.values(), ids=list(ALLOWS))
def test_what_rules_let_through(rules: list[Json], refused: str, warned: str, is_egress: bool) -> None:
    """All in one policy, and each in one of its own; a policy that denies stands beside them."""
    of: Json = {"policyTypes": ["Ingress"]}
    if is_egress:
        of = {"policyTypes": ["Egress"]}
        rules = [{"to" if name == "from" else name: value for name, value in one.items()} for one in rules]
    name = of["policyTypes"][0].lower()
    for there in ([policy(**of, **{name: rules})], [policy(**of, **{name: [one]}) for one in rules]):
        lines = found(Fake(policy(**of), *there))
        assert (kinds(lines.sure), kinds(lines.perhaps)) == (set(refused.split()), set(warned.split()))
        assert all(name in line for line in (*lines.sure[:1], *lines.perhaps[:1]))


def test_what_is_not_known_is_no_reason_to_refuse() -> None:
    by_label = policy(ingress=[{"from": [{"namespaceSelector": {"matchLabels": {"team": "x"}}}]}])
    assert found(Fake(by_label)).sure
    lines = found(Fake(by_label, hidden=(NAMESPACE,)))
    assert not lines.sure and "NetworkPolicy deny may be in the way" in lines.perhaps[0]
    for groups in (("apps", "cilium.io"), ("apps", "networking.k8s.aws"), None):
        lines = found(Fake(policy(), groups=groups))
        assert not lines.sure and kinds(lines.perhaps) == {"control", "data"}
    assert found(Fake(policy(ingress=[{}]), groups=None)) == policies.Found()
    own = Test("one", "http", 1, 1, 0, 1, model=Model("http", (), sets=("host", "data_host")))
    lines = found(Fake(policy(ingress=[{"ports": [CONTROL]}])), own)
    assert not lines.sure and kinds(lines.perhaps) == {"data"}


def test_the_ports_of_which_the_kernel_of_a_pod_chooses_may_be_told() -> None:
    spec = {"securityContext": {"sysctls": [{"name": "net.ipv4.ip_local_port_range", "value": "1024\t2000"}]}}
    pods = Pods("i", spec=spec)
    (line,) = told(policy(ingress=[{"ports": [CONTROL]}]), pods=pods)
    assert line.endswith(": TCP 1024-2000 (data)")
    assert told(policy(ingress=[{"ports": [CONTROL, {"port": 1024, "endPort": 2000}]}]), pods=pods) == ()
    for wrong in (7, ["x"], [{"name": "net.ipv4.ip_local_port_range", "value": "1024"}]):
        pods = Pods("i", spec={"securityContext": {"sysctls": wrong}})
        assert told(policy(), pods=pods)[0].endswith(ALL)


def test_a_network_beside_that_of_the_pods_has_no_policies() -> None:
    """An attachment that is there has control and data; one that is made has data alone."""
    there = networks.new("multus", "users/one", "", "", "--multus", is_made=False)
    assert told(policy(), networks=("multus",), network=there) == ()
    made = networks.new("macvlan", "eth0", "", "", "--macvlan")
    assert kinds(told(policy(), networks=("macvlan",), network=made)) == {"control"}


def test_policies_that_may_not_be_listed_are_a_warning() -> None:
    cluster = Fake(policy(), hidden=(POLICY,))
    settings = of(STREAM, namespace="users")
    lines, is_good = checking.check(cluster, settings, points(settings))
    assert is_good and "  networkpolicies list: missing: list" in lines
    said = "namespace users: network policies may not be listed: whether one is in the way cannot be told"
    assert said in lines and "what grants what is missing:" in lines
    assert found(cluster) == policies.Found(unseen=(said,))
    own = replace(settings, network_policy=True)
    lines, is_good = checking.check(cluster, own, points(own))
    assert not is_good and "  networkpolicies create, get, list, delete: missing: create, get, list, delete" in lines


def test_what_cannot_be_told_is_said_when_a_run_begins() -> None:
    class Away(Fake):
        """It answers no more than what is asked before a run."""

        def request(self, *_: Any, **_more: Any) -> bytes:
            raise ApiProblem(503, "ServiceUnavailable", "away")

    for hidden in ((), (POLICY,)):
        cluster = Away(policy(podSelector=expression("topology.kubernetes.io/zone", "Exists")), hidden=hidden)
        settings, said = of(STREAM, namespace="users"), list[str]()
        with pytest.raises(ApiProblem, match="away"):
            Driver(cluster, settings, points(settings), say=said.append).open()
        assert said and tuple(said) == found(cluster).warning


class Small(Fake):
    """It has one node."""

    looks = 0

    def listed(self, kind: Kind, namespace: str | None = None, labels: str = "", fields: str = "") -> list[Json]:
        self.looks += kind is NODE
        return super().listed(kind, namespace, labels, fields)[: 1 if kind is NODE else None]


def test_a_lack_of_nodes_is_told_once_and_hides_nothing() -> None:
    cluster = Small(policy(), hidden=(CONSTRAINTS,))
    settings = of(STREAM, namespace="users", drivers={"netperf": "i"}, is_openshift=True)
    lines, is_good = checking.check(cluster, settings, points(settings))
    assert not is_good and cluster.looks == 1
    assert [line for line in lines if "two nodes are needed" in line] == [
        "two nodes are needed, and 1 of 1 nodes can have pods"
    ]
    assert [line for line in lines if "security context constraint nonroot-v2" in line]
    assert "namespace users: Pod Security level privileged" in lines
    found = Small(policy())
    one = replace(settings, where=Where(placements=("same-node",)))
    lines, is_good = checking.check(found, one, points(one))
    assert (is_good, found.looks) == (False, 1)
    assert [line for line in lines if "NetworkPolicy deny is likely" in line]


def test_nodes_have_addresses_and_no_labels() -> None:
    """What a CNI makes of them is its own affair; that a node reaches its own pods is not."""
    lines = found(Fake(policy(ingress=[{"from": [OURS]}])), networks=("host-to-pod",))
    assert lines.sure == () and "from addresses of nodes" in lines.perhaps[0]
    block = {"ipBlock": {"cidr": "192.0.2.0/28"}}
    assert told(policy(ingress=[{"from": [block]}]), networks=("host-to-pod",)) == ()
    nodes = [node | {"spec": {"podCIDR": "10.244.1.0/24"}} for node in Fake().listed(NODE)]
    nodes[0]["metadata"]["annotations"] = {"projectcalico.org/IPv4VXLANTunnelAddr": "10.244.9.1"}
    settings = of(STREAM, namespace="users", networks=("host-to-pod",))
    for cidr, is_warned in (("192.0.2.0/28", True), ("0.0.0.0/0", False)):
        there = Fake(policy(ingress=[{"from": [{"ipBlock": {"cidr": cidr}}]}]))
        assert bool(policies.in_the_way(there, settings, points(settings), nodes, PLACES).perhaps) is is_warned
    same: Places = {"other-node": (Pair("n1", "n1"),)}
    assert found(Fake(policy()), networks=("host-to-pod",), places=same) == policies.Found()
    assert told(policy(), networks=("host",)) == ()


def test_where_policies_are_not_looked_at() -> None:
    assert told(policy(), network_policy=True) == told(policy(), network_policy=False) == ()
    assert told(policy(), namespace=None) == ()


@pytest.mark.parametrize("asked", [None, True, False])
def test_a_run_that_is_gone_on_with_has_what_was_asked_of_policies(asked: bool | None) -> None:
    settings = of(STREAM, network_policy=asked)
    assert from_json(json.loads(json.dumps(as_json(settings)))).network_policy is asked


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
