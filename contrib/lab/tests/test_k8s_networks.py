# SPDX-License-Identifier: Apache-2.0
"""netmodel-lab k8s: networks beside that of the cluster's pods."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("kubernetes", reason="the Kubernetes client is not installed; requirements-dev.txt has it")

from conftest import Lab
from k8s_examples import granted_by

from netmodel_lab.k8s import (
    figures,
    manifests,
    network_checks,
    network_objects,
    network_waits,
    networks,
    outputs,
    placement,
    prometheus,
    rules,
)
from netmodel_lab.k8s.cluster import (
    ATTACHMENT,
    CUDN,
    IP_POOL,
    NETWORK_KINDS,
    NODE,
    SRIOV_CONFIG,
    SRIOV_STATE,
    Cluster,
    Kind,
)
from netmodel_lab.k8s.figures import Cell
from netmodel_lab.k8s.netperf_file import Test
from netmodel_lab.k8s.networks import Network
from netmodel_lab.k8s.rights import Right
from netmodel_lab.k8s.settings import Limits, Machines, Pods, Settings, Where, as_json, from_json, points
from netmodel_lab.problems import EnvironmentProblem

Json = dict[str, Any]
RR = Test("rr", "TCP_RR", 5, 1, 64, 1)
PLACES: placement.Places = {"other-node": (placement.Pair("n1", "n2"),)}
DIAL = manifests.Dial("10.0.0.1", 20000)
LIST = "tests:\n  - {rr: , profile: TCP_RR, duration: 1, samples: 1, messagesize: 1, parallelism: 1}\n"


def network(kind: str, of: str = "", topology: networks.Topology = "", given: str = "") -> Network:
    return networks.new(kind, of, topology, given, f"--{kind}", is_made=kind != "multus")


def of(one: Network, *tests: Test, **more: Any) -> Settings:
    return Settings("abcd1234", "id", tests or (RR,), (one.kind,), Pods("i"), Where(), Limits(1.0), network=one, **more)


def made(settings: Settings, places: placement.Places = PLACES) -> list[Json]:
    return network_objects.objects(settings, points(settings), places, "77")


def pods(settings: Settings) -> tuple[Json, Json]:
    """The slave's, and the template of the client's."""
    (point, *_) = points(settings)
    job = manifests.client(settings, point, 0, PLACES["other-node"][0], DIAL, [], "77")
    return manifests.server(settings, 0, "pod", "n1", [], "77"), job["spec"]["template"]


MACVLAN, SRIOV = network("macvlan", "eth1"), network("sriov", "ens1f0.5")
THERE = network("multus", "default/fast")
UDN, CUDN_3 = network("udn", topology="layer2"), network("cudn", topology="layer3")


# --- what is made ---


def test_pods_of_both_ends_ask_for_the_network() -> None:
    for one, wanted in ((THERE, "default/fast"), (MACVLAN, "netmodel-abcd1234/nm-abcd1234")):
        for pod in pods(of(one)):
            assert pod["metadata"]["annotations"][networks.NETWORKS] == wanted
    assert (
        manifests.server(of(THERE), 0, "host", "n1", [], "1")["metadata"]["annotations"].get(networks.NETWORKS) is None
    )
    for pod in pods(of(UDN)):
        assert networks.NETWORKS not in pod["metadata"]["annotations"]


def test_attachments_that_are_made() -> None:
    assert made(of(THERE)) == []
    (item,) = made(of(MACVLAN))
    assert (item["apiVersion"], item["metadata"]["namespace"]) == ("k8s.cni.cncf.io/v1", "netmodel-abcd1234")
    assert json.loads(item["spec"]["config"]) == {
        "cniVersion": "0.3.1",
        "name": "nm-abcd1234",
        "type": "macvlan",
        "master": "eth1",
        "mode": "bridge",
        "ipam": {"type": "whereabouts", "range": "192.168.200.0/24"},
    }
    (item,) = made(of(network("bridge", "br1", given="10.9.0.0/24")))
    config = json.loads(item["spec"]["config"])
    assert (config["type"], config["bridge"], config["ipam"]["range"]) == ("bridge", "br1", "10.9.0.0/24")
    for item in (*made(of(MACVLAN)), *made(of(SRIOV)), *made(of(CUDN_3))):
        assert item["metadata"]["labels"][manifests.RUN] == "abcd1234"
        assert item["metadata"]["annotations"][manifests.EXPIRES] == "77"


def test_networks_of_ovn() -> None:
    (item,) = made(of(UDN))
    assert (item["kind"], item["metadata"]["namespace"]) == ("UserDefinedNetwork", "netmodel-abcd1234")
    assert item["spec"] == {"topology": "Layer2", "layer2": {"role": "Primary", "subnets": ["10.0.0.0/24"]}}
    (space,) = manifests.namespaces(of(UDN), ["pod"], "1")
    assert space["metadata"]["labels"][networks.PRIMARY] == ""
    (item,) = made(of(CUDN_3))
    assert (item["kind"], "namespace" in item["metadata"]) == ("ClusterUserDefinedNetwork", False)
    assert item["spec"]["network"] == {
        "topology": "Layer3",
        "layer3": {"role": "Secondary", "subnets": [{"cidr": "20.0.0.0/16"}]},
    }
    assert item["spec"]["namespaceSelector"] == {"matchLabels": {"kubernetes.io/metadata.name": "netmodel-abcd1234"}}
    (space,) = manifests.namespaces(of(CUDN_3), ["pod"], "1")
    assert networks.PRIMARY not in space["metadata"]["labels"]


def test_each_pod_of_sriov_takes_one_function() -> None:
    """One container of it does, and as many functions are made as pods of a node take at the same time."""
    for pod in pods(of(SRIOV)):
        (container,) = pod["spec"]["containers"]
        assert container["resources"] == {name: {"openshift.io/ens1f0_5": "1"} for name in ("requests", "limits")}
    policy, item = made(of(SRIOV))
    assert (policy["kind"], policy["metadata"]["namespace"]) == ("SriovNetworkNodePolicy", network_objects.OPERATOR)
    assert policy["spec"]["nicSelector"] == {"pfNames": ["ens1f0.5"]}
    assert policy["spec"]["nodeSelector"] == {"node-role.kubernetes.io/worker": ""}
    assert (policy["spec"]["resourceName"], policy["spec"]["numVfs"]) == ("ens1f0_5", 2)
    assert (item["kind"], item["spec"]["networkNamespace"]) == ("SriovNetwork", "netmodel-abcd1234")
    crowd = tuple(placement.Pair("n1", "n1", i) for i in range(3))
    assert made(of(SRIOV), {"other-node": crowd})[0]["spec"]["numVfs"] == 6


def test_settings_come_back_from_the_folder() -> None:
    for one in (SRIOV, CUDN_3):
        assert from_json(json.loads(json.dumps(as_json(of(one))))) == of(one)


# --- addresses ---


def pod_with(**annotations: Any) -> Json:
    names = {"multus": networks.STATUS, "ovn": networks.OVN_STATUS}
    meta = {names[name]: value if isinstance(value, str) else json.dumps(value) for name, value in annotations.items()}
    return {"metadata": {"name": "s0", "namespace": "netmodel-abcd1234", "annotations": meta}}


# As Multus 4 and OVN-Kubernetes write them.
MULTUS = [
    {
        "name": "pods",
        "interface": "eth0",
        "ips": ["10.244.1.5"],
        "mac": "22:58:70:00:00:01",
        "default": True,
        "dns": {},
    },
    {
        "name": "default/fast",
        "interface": "net1",
        "ips": ["10.7.0.2", "fd07::2"],
        "mac": "22:58:70:00:00:02",
        "dns": {},
    },
]
OVN = {
    "default": {"ip_addresses": ["10.128.2.7/23"], "mac_address": "0a:58:0a:80:02:07", "role": "infrastructure-locked"},
    "netmodel-abcd1234/nm-abcd1234": {"ip_addresses": ["10.0.0.5/24"], "ip_address": "10.0.0.5/24", "role": "primary"},
}


def address(pod: Json, one: Network, family: Any = "") -> str:
    return networks.address_of(pod, one, "abcd1234", family)


def test_the_address_on_the_network() -> None:
    assert address(pod_with(multus=MULTUS), THERE) == "10.7.0.2"
    assert address(pod_with(multus=MULTUS), THERE, "ipv6") == "fd07::2"
    assert address(pod_with(ovn=OVN), UDN) == "10.0.0.5"


@pytest.mark.parametrize(
    ("pod", "one", "family", "said"),
    [
        (pod_with(), THERE, "", "pod s0 has no annotation k8s.v1.cni.cncf.io/network-status: Multus has not put it on"),
        (pod_with(multus="{"), THERE, "", "annotation k8s.v1.cni.cncf.io/network-status: '{' is no JSON"),
        *[
            (pod_with(multus=wrong), THERE, "", f"pod s0: annotation .*network-status: {said}")
            for wrong, said in (
                ("null", "null: must be a list of networks"),
                ("{}", "{}: must be a list of networks"),
                ("5", "5: must be a list of networks"),
                ([None], r"\[null\]: must be a list of networks"),
                (["a"], r'\["a"\]: must be a list of networks'),
                ([{"name": "default/fast", "ips": "10.0.0.9"}], '"10.0.0.9": must be a list of addresses'),
                ([{"name": "default/fast", "ips": {"a": 1}}], '{"a": 1}: must be a list of addresses'),
                ([{"name": "default/fast", "ips": [None]}], "null is no address"),
                ([{"name": "default/fast", "ips": [5]}], "5 is no address"),
                ([{"name": "default/fast", "ips": ["nonsense"]}], '"nonsense" is no address'),
            )
        ],
        *[
            (pod_with(ovn=wrong), UDN, "", f"pod s0: annotation .*pod-networks: {said}")
            for wrong, said in (
                ("null", "null: must be a map of networks"),
                (["X"], r'\["X"\]: must be a map of networks'),
                ({"netmodel-abcd1234/nm-abcd1234": None}, "netmodel-abcd1234/nm-abcd1234: null: must be a map"),
                ({"netmodel-abcd1234/nm-abcd1234": {"ip_address": "x"}}, '"x" is no address'),
            )
        ],
        (pod_with(multus=MULTUS[:1]), THERE, "", "pod s0 is not on default/fast: annotation .* has pods$"),
        (pod_with(multus=[{"name": "default/fast"}]), THERE, "", "pod s0 has no address on default/fast"),
        (pod_with(ovn=OVN), UDN, "ipv6", "pod s0 has 10.0.0.5 on netmodel-abcd1234/nm-abcd1234, and no ipv6 address"),
        (pod_with(ovn={"default": {}}), UDN, "", "pod s0 is not on netmodel-abcd1234/nm-abcd1234: .* has default$"),
    ],
)
def test_a_pod_that_is_not_on_it(pod: Json, one: Network, family: str, said: str) -> None:
    with pytest.raises(EnvironmentProblem, match=said):
        address(pod, one, family)


# --- what a cluster lacks ---


class Fake(Cluster):
    """kinds: that it knows; there: objects by kind and name."""

    def __init__(self, kinds: Sequence[Kind], there: dict[tuple[Kind, str], Json], nodes: Sequence[Json] = ()) -> None:
        self.kinds, self.there, self.nodes = kinds, there, nodes

    def has(self, kind: Kind) -> bool:
        return kind in self.kinds

    def get(self, kind: Kind, name: str, namespace: str | None = None) -> Json | None:
        return self.there.get((kind, name))

    def listed(self, kind: Kind, namespace: str | None = None, labels: str = "", fields: str = "") -> list[Json]:
        return list(self.nodes)


EVERY = (*NETWORK_KINDS, IP_POOL)


ROLE = "node-role.kubernetes.io/"


def lacks(one: Network, kinds: Sequence[Kind] = EVERY, policies: Sequence[Json] = (), **there: Json) -> list[str]:
    known = {"fast": ATTACHMENT, "default": SRIOV_CONFIG, "n1": SRIOV_STATE, "n2": SRIOV_STATE}
    objects = {(known[name], name): item for name, item in there.items()}
    objects |= {(NODE, name): {"metadata": {"name": name, "labels": {f"{ROLE}worker": ""}}} for name in ("n1", "n2")}
    return network_checks.lacks(Fake(kinds, objects, policies), of(one), points(of(one)), PLACES)


def test_kinds_that_are_not_there() -> None:
    assert lacks(MACVLAN, ()) == [
        "the cluster has no NetworkAttachmentDefinition (k8s.cni.cncf.io/v1): Multus is not installed",
        "the cluster has no IPPool (whereabouts.cni.cncf.io/v1alpha1): whereabouts, which gives the addresses, is not "
        "installed",
    ]
    assert lacks(THERE, ()) == lacks(MACVLAN, ())[:1]
    assert lacks(MACVLAN) == [] and lacks(UDN) == []
    assert "OVN-Kubernetes with user-defined networks is not installed" in lacks(UDN, ())[0]


def test_an_attachment_that_is_not_there_or_is_broken() -> None:
    assert lacks(THERE) == ["NetworkAttachmentDefinition default/fast is not there, or may not be read"]
    assert lacks(THERE, fast={"spec": {"config": '{"type": "macvlan"}'}}) == []
    (said,) = lacks(THERE, fast={"spec": {"config": "{"}})
    assert said.startswith("NetworkAttachmentDefinition default/fast: its config is no JSON: Expecting property name")


def test_an_attachment_may_name_a_device() -> None:
    meta = {"annotations": {networks.RESOURCE: "intel.com/vf"}}
    found = network_checks.with_device(Fake(EVERY, {(ATTACHMENT, "fast"): {"metadata": meta}}), of(THERE))
    (container,) = pods(found)[0]["spec"]["containers"]
    assert container["resources"]["limits"] == {"intel.com/vf": "1"}


def test_what_the_operator_lacks() -> None:
    state = {"status": {"interfaces": [{"name": "ens1f0.5", "totalvfs": 8}, {"name": "ens2"}]}}
    good = {"spec": {"disableDrain": True}}
    assert lacks(SRIOV, default=good, n1=state, n2=state) == []
    drain, node = lacks(SRIOV, n1=state, default={}, n2={"status": {"interfaces": [{"name": "ens2"}]}})
    assert "disableDrain is not true, so the operator would drain nodes: kubectl patch sriovoperatorconfig" in drain
    assert node == "node n2: has no physical function ens1f0.5 (SR-IOV operator: ens2)"


def test_functions_of_others_are_not_taken() -> None:
    """Of a physical function that is too small, in use, or another policy's."""
    physical = {"name": "ens1f0.5", "totalvfs": 8, "vendor": "8086", "deviceID": "1572", "pciAddress": "0000:01:00.0"}
    good = {"spec": {"disableDrain": True}}

    def said(spec: Json | None = None, one: Network = SRIOV, **more: Any) -> list[str]:
        state = {"status": {"interfaces": [physical | more]}}
        policies = [{"metadata": {"name": "users"}, "spec": spec}] if spec else []
        return lacks(one, policies=policies, default=good, n1=state, n2=state)

    assert said() == []
    assert said(totalvfs=1)[0] == "node n1: ens1f0.5 has at most 1 virtual functions, and 2 are needed"
    used = "node n1: ens1f0.5 has 4 virtual functions already, which the run would take from others"
    assert said(numVfs=4)[0] == used
    other = replace(SRIOV, role="dpu")
    assert said(one=other)[0].startswith("node n1: has no label node-role.kubernetes.io/dpu, by which its functions")
    for selector, is_same in (
        ({"pfNames": ["ens1f0.5"]}, True),
        ({"pfNames": ["ens2", "ens1f0.5#0-3"]}, True),
        ({"vendor": "8086", "rootDevices": ["0000:01:00.0"]}, True),
        ({"vendor": "8086", "deviceID": "1"}, False),
        ({"pfNames": ["ens2"]}, False),
        ({}, False),
    ):
        spec = {"nicSelector": selector, "resourceName": "prod", "nodeSelector": {f"{ROLE}worker": ""}}
        same = "node n1: ens1f0.5 is that of SriovNetworkNodePolicy users, which another one would contradict"
        assert said(spec)[:1] == ([same] if is_same else [])
        assert said(spec | {"nodeSelector": {f"{ROLE}dpu": ""}}) == []
    named = {"nicSelector": {"pfNames": ["ens2"]}, "resourceName": "ens1f0_5"}
    assert said(named)[0] == "node n1: SriovNetworkNodePolicy users has the resource ens1f0_5 already"


def test_a_namespace_of_the_user_without_the_label() -> None:
    (said,) = network_checks.lacks(Fake(EVERY, {}), of(UDN, namespace="mine"), [], PLACES)
    assert said.startswith(f"namespace mine: was made without the label {networks.PRIMARY}")


def test_rights() -> None:
    assert network_checks.rights(of(THERE)) == [
        (Right("k8s.cni.cncf.io", "network-attachment-definitions", ("get",)), "default")
    ]
    every = ("create", "get", "list", "delete")
    assert {(right.resource, right.verbs, where) for right, where in network_checks.rights(of(SRIOV))} == {
        ("sriovnetworknodepolicies", every, network_objects.OPERATOR),
        ("sriovnetworks", every, network_objects.OPERATOR),
        ("sriovoperatorconfigs", ("get",), network_objects.OPERATOR),
        ("sriovnetworknodestates", ("get",), network_objects.OPERATOR),
        ("network-attachment-definitions", ("get",), "netmodel-abcd1234"),
    }
    ((right, where),) = network_checks.rights(of(CUDN_3))
    assert (right.group, right.resource, where) == ("k8s.ovn.org", "clusteruserdefinednetworks", "")


def test_the_file_of_rights_has_all() -> None:
    granted = granted_by("rights-networks.yaml")
    for one in (MACVLAN, SRIOV, UDN, CUDN_3):
        settings = replace(of(one, namespace="netmodel"), machines=Machines("disk:1"), network_policy=True)
        needed = {
            (right.group, right.resource, verb, where)
            for right, where in network_checks.rights(settings)
            for verb in right.verbs
        }
        assert needed <= granted
        assert ("networking.k8s.io", "networkpolicies", "create", "netmodel") in needed


# --- waits ---


def test_why_a_network_does_not_come() -> None:
    said = {"type": "NetworkCreated", "status": "False", "reason": "SyncError", "message": "subnet overlaps"}
    there = {(CUDN, "nm-abcd1234"): {"status": {"conditions": [said]}}}
    with pytest.raises(EnvironmentProblem, match="has not made the network: SyncError: subnet overlaps, after 1 s"):
        network_waits.wait_for(Fake(EVERY, there), of(CUDN_3), [], PLACES)
    there[CUDN, "nm-abcd1234"]["status"]["conditions"].append({"type": "NetworkReady", "status": "True"})
    network_waits.wait_for(Fake(EVERY, there), of(CUDN_3), [], PLACES)
    with pytest.raises(
        EnvironmentProblem, match="the SR-IOV operator has not made NetworkAttachmentDefinition nm-abcd"
    ):
        network_waits.wait_for(Fake(EVERY, {}), of(SRIOV), points(of(SRIOV)), PLACES)
    node = {"metadata": {"name": "n2"}, "status": {"allocatable": {"openshift.io/ens1f0_5": "1"}}}
    whole = {"metadata": {"name": "n1"}, "status": {"allocatable": {"openshift.io/ens1f0_5": "2"}}}
    fake = Fake(EVERY, {(ATTACHMENT, "nm-abcd1234"): {"spec": {}}}, [node, whole])
    with pytest.raises(EnvironmentProblem, match=r"node n2: has 1 of 2 openshift\.io/ens1f0_5 of ens1f0\.5, after 1 s"):
        network_waits.wait_for(fake, of(SRIOV), points(of(SRIOV)), PLACES)
    node["status"]["allocatable"] = {"openshift.io/ens1f0_5": "2"}  # type: ignore[index]
    network_waits.wait_for(fake, of(SRIOV), points(of(SRIOV)), PLACES)


# --- results ---


@pytest.mark.parametrize(
    ("one", "field", "text"),
    [
        (THERE, "bridgeInfo", "default/fast"),
        (MACVLAN, "macvlanInfo", "macvlan/eth1"),
        (SRIOV, "sriovInfo", "sriov/ens1f0.5"),
        (UDN, "udnInfo", "layer2"),
        (CUDN_3, "udnInfo", "Cudn -layer3"),
    ],
)
def test_what_results_tell_of_it(one: Network, field: str, text: str) -> None:
    settings = of(one)
    cell = Cell(points(settings)[0], ({"transactions_per_s": 5.0, "ok": True},))
    found = outputs.infos(cell, settings)
    assert found == {
        **dict.fromkeys(("udnInfo", "bridgeInfo", "sriovInfo", "macvlanInfo", "localnetInfo"), ""),
        field: text,
    }
    head, line = outputs.csv_results([cell], settings, "now").splitlines()
    assert (
        dict(zip(head.split(","), line.split(","), strict=True))[
            {"udnInfo": "UDN Info", "bridgeInfo": "Bridge Info", "sriovInfo": "SR-IOV Info"}.get(field, "Macvlan Info")
        ]
        == text
    )


def test_another_network_of_the_same_kind_is_no_baseline(tmp_path: Path) -> None:
    """Neither of a run, nor of what k8s-netperf tells."""
    others = [UDN, network("udn", topology="layer3"), MACVLAN, network("macvlan", "eth2"), CUDN_3]
    found = [Cell(points(of(one))[0], ()) for one in others]
    assert len({rules.key_of(cell) for cell in found}) == len(others)
    served = [
        points(replace(of(one), networks=("service",)))[0].on
        for one in (UDN, network("udn", topology="layer3"), CUDN_3)
    ]
    assert served == ["layer2", "layer3", ""]
    for cell in found:
        row = figures.row(of(others[0]), cell.point, None, None)
        (tmp_path / "rows.jsonl").write_text(json.dumps(row) + "\n")
        assert list(rules.read_baseline(tmp_path)) == [rules.key_of(cell)]
        same = [one for one in found if rules.baseline([one], rules.read_baseline(tmp_path), 10)[1:] == []]
        assert same == [cell]


def test_metrics_tell_networks_and_ends_apart() -> None:
    settings = replace(of(UDN), machines=Machines("disk:1"))
    found = [Cell(point, ({"transactions_per_s": 5.0, "ok": True},)) for point in points(settings)]
    lines = prometheus.text(found, [], "2026-01-31T12:00:00Z").splitlines()
    series = [line.rpartition(" ")[0] for line in lines if not line.startswith("#")]
    assert len(found) == 2 and len(set(series)) == len(series)
    assert any('network="layer2 - passt",ends="vm"' in line for line in series)


# --- words ---


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--macvlan", "eth1", "--sriov", "ens1"), ["--macvlan and --sriov exclude each other"]),
        (("--udnl2", "--udnl3"), ["--udnl2 and --udnl3 exclude each other"]),
        (("--multus", "fast"), ["--multus fast: must be the NAMESPACE/NAME of a NetworkAttachmentDefinition"]),
        (("--macvlan", "a/b"), ["--macvlan a/b: must be the name of an interface, of 15 characters at most"]),
        (("--bridgeNamespace", "x"), ["--bridgeNamespace: has no effect without --bridge"]),
        (("--network-range", "10.0.0.0/8"), ["--network-range: has no effect without a network that is made"]),
        (
            ("--multus", "a/b", "--network-range", "10.0.0.0/8"),
            ["--multus a/b: has addresses already, and --network-range 10.0.0.0/8 no effect"],
        ),
        (
            ("--macvlan", "eth1", "--network-range", "10.0.0.1/8"),
            ["--macvlan eth1: range: 10.0.0.1/8 has host bits set"],
        ),
        (("--paths", "pod,macvlan"), ["--paths macvlan: --macvlan says which network"]),
        (("--macvlan", "eth1", "--paths", "pod"), ["--macvlan: has no effect, as --paths does not have macvlan"]),
        (
            ("--udnl2", "--paths", "udn,pod"),
            ["--paths pod: pods of a primary network (--udnl2 or --udnl3) are on no other"],
        ),
        (("--macvlan", ""), ["--macvlan: has no value"]),
        (("--sriov", "e", "--sriov-node-selector", ""), ["--sriov-node-selector: has no value"]),
        (
            ("--macvlan", "eth1", "--network-range", "10.0.0.1/32"),
            ["--macvlan eth1: range: 10.0.0.1/32: must have 8 addresses at least that pods can have, and not be all"],
        ),
        (
            ("--udnl2", "--network-range", "0.0.0.0/0"),
            ["--udnl2: range: 0.0.0.0/0: must have 8 addresses at least that pods can have, and not be all"],
        ),
        (
            ("--macvlan", "eth1", "--ip-family", "ipv4,ipv6"),
            ["--ip-family ipv6: the network has 192.168.200.0/24 alone (--network-range)"],
        ),
        (
            ("--cudn", "layer2", "--network-range", "fd00::/64", "--ip-family", "ipv4"),
            ["--ip-family ipv4: the network has fd00::/64 alone (--network-range)"],
        ),
        (("--udnl2", "--paths", "host"), ["--udnl2 or --udnl3: has no effect, as --paths does not have udn"]),
        (
            ("--multus", "a.b/c"),
            ["--multus a.b/c: must be the NAMESPACE/NAME of a NetworkAttachmentDefinition"],
        ),
        (
            ("--sriov", "e", "--sriov-node-selector", "a b"),
            ["--sriov e: node role a b: must be the name of a label, of 63 characters at most"],
        ),
        (("--udnl3", "--hostNet"), ["--hostNet excludes networks beside the cluster's own"]),
    ],
)
def test_what_is_refused(lab: Lab, tmp_path: Path, words: Sequence[str], said: list[str]) -> None:
    (tmp_path / "netperf.yml").write_text(LIST)
    done = lab("k8s", "run", *words)
    assert (done.returncode, done.stderr.splitlines()) == (2, [f"netmodel-lab: {line}" for line in said])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{macvlna: eth1}", "network: macvlna: there is no such key; did you mean macvlan?"),
        (
            "{range: 10.0.0.0/8}",
            "network: must have one of multus, bridge, linux-bridge, macvlan, sriov, udn, localnet, cudn",
        ),
        ("{udn: layer4}", 'network: udn: "layer4": must be layer2 or layer3'),
        ("{macvlan: eth1, namespace: x}", "network: namespace: has no effect without bridge"),
        ("{}", "netperf.yml:1:10: network: must be a map, as {macvlan: eth1}"),
        ("{macvlan: }", "netperf.yml:1:19: network: macvlan: has no value"),
        ("{macvlan: ''}", "netperf.yml:1:20: network: macvlan: has no value"),
        ("{macvlan: true}", "netperf.yml:1:20: network: macvlan: true: must be text"),
        ("{macvlan: [a]}", "netperf.yml:1:20: network: macvlan: \"['a']\": must be text"),
        ("{sriov: e, node-selector: null}", "netperf.yml:1:36: network: node-selector: has no value"),
        ("eth1", "netperf.yml:1:10: network: must be a map, as {macvlan: eth1}"),
        ("{multus: fast}", "network: multus: fast: must be the NAMESPACE/NAME of a NetworkAttachmentDefinition"),
    ],
)
def test_a_list_that_is_wrong_about_its_network(lab: Lab, tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "netperf.yml").write_text(f"network: {text}\n{LIST}")
    done = lab("k8s", "run")
    assert (done.returncode, done.stderr) == (2, f"netmodel-lab: {said}\n")


def test_a_list_that_goes_through_services_alone_measures_no_attachment(lab: Lab, tmp_path: Path) -> None:
    (tmp_path / "netperf.yml").write_text(LIST.replace("parallelism: 1", "parallelism: 1, service: true"))
    done = lab("k8s", "plan", "--macvlan", "eth1")
    said = "netmodel-lab: --macvlan: has no effect, as all tests go through a Service\n"
    assert (done.returncode, done.stderr) == (2, said)
    assert "no cluster: " in lab("k8s", "plan", "--udnl2", "--kubeconfig", str(tmp_path / "none")).stderr


def test_a_service_leads_to_a_primary_network(lab: Lab, tmp_path: Path) -> None:
    (tmp_path / "netperf.yml").write_text(LIST)
    done = lab("k8s", "plan", "--udnl2", "--paths", "service", "--kubeconfig", str(tmp_path / "none"))
    assert (done.returncode, "no cluster: " in done.stderr) == (3, True), done.stderr


def test_a_list_may_have_a_network(lab: Lab, tmp_path: Path) -> None:
    """Which is that of the option: the two exclude each other, and no cluster is needed to say so."""
    (tmp_path / "netperf.yml").write_text(f"{LIST}network: {{sriov: ens1, node-selector: dpu}}\n")
    done = lab("k8s", "plan", "--macvlan", "eth1")
    assert done.stderr == "netmodel-lab: --macvlan and network of the test list exclude each other\n"
    done = lab("k8s", "plan", "--kubeconfig", str(tmp_path / "none"))
    assert (done.returncode, "no cluster: " in done.stderr) == (3, True), done.stderr
