# SPDX-License-Identifier: Apache-2.0
"""Networks beside that of the pods. No cluster of this machine has Multus, OVN-Kubernetes, the SR-IOV operator or
KubeVirt: their kinds are known to the API server (kit/crds.py), a plugin of CNI attaches pods (kit/attach), and threads
of these tests do what the operators would. MACVLAN is real, from node to node; a virtual function of SR-IOV is one of
its interfaces, and pods that are told to be on a network of OVN are on that of the pods."""

from __future__ import annotations

import contextlib
import ipaddress
import json
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from conftest import FOLDER, ON, Lab, entry, kubectl, objects, on_node, until
from test_paths import whole

sys.path.insert(0, str(Path(__file__).parent / "kit"))
import crds  # noqa: E402

Json = dict[str, Any]
KIT = Path(__file__).parent / "kit"
OPERATOR = "openshift-sriov-network-operator"
NETWORKS = (
    "network-attachment-definitions,userdefinednetworks,clusteruserdefinednetworks,sriovnetworks,"
    "sriovnetworknodepolicies,virtualmachineinstances"
)
OURS = "app.kubernetes.io/managed-by=netmodel-lab"
CONF = "/etc/cni/net.d/10-bridge.conflist"
RR = "tests:\n" + entry("rr", "TCP_RR")


def apply(*items: Json) -> None:
    kubectl("apply", "-f", "-", text="\n---\n".join(map(json.dumps, items)))


@pytest.fixture(scope="module")
def kinds() -> Iterator[None]:
    every = crds.definitions()
    apply(*every)
    names = [one["metadata"]["name"] for one in every]
    kubectl("wait", "--for=condition=Established", "--timeout=60s", *(f"crd/{name}" for name in names))
    kubectl("create", "namespace", OPERATOR)
    yield
    kubectl("delete", "namespace", OPERATOR)
    kubectl("delete", "crd", *names)


@pytest.fixture(scope="module")
def attaching(kinds: None) -> Iterator[None]:
    """Pods of both nodes are attached to what they ask for."""
    admin = (FOLDER / "w" / "pki" / "admin.kubeconfig").read_text()
    access = {"server": "https://10.200.0.1:6443", "token": admin.partition('token: "')[2].partition('"')[0]}
    access["ca"] = str(FOLDER / "w" / "pki" / "ca.crt")
    before = {}
    for number, node in enumerate(("n1", "n2")):
        state = FOLDER / "w" / node / "attached"
        state.mkdir()
        shutil.copy(KIT / "attach", FOLDER / "w" / node / "cni" / "attach")
        before[node] = on_node(node, "cat", CONF).stdout
        conf = json.loads(before[node])
        conf["plugins"].append({"type": "attach", "number": number, "state": str(state), **access})
        write(node, json.dumps(conf))
    yield
    for node, text in before.items():
        write(node, text)


def write(node: str, text: str) -> None:
    """containerd looks at the folder when it changes."""
    path = FOLDER / "w" / node / "conf"
    path.write_text(text)
    on_node(node, "cp", str(path), CONF)


@contextlib.contextmanager
def operator(act: Callable[[], None]) -> Iterator[None]:
    """act: does what is to be done now, again and again."""
    stop, failed = threading.Event(), []

    def work() -> None:
        while not stop.wait(0.3):
            try:
                act()
            except Exception as error:
                failed.append(error)
                return

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(60)
    assert not failed, failed


def none_left() -> None:
    """But what is on its way out."""
    there = [one for one in objects(NETWORKS, "-A", "-l", OURS) if not one["metadata"].get("deletionTimestamp")]
    assert not there, [f"{one['kind']}/{one['metadata']['name']}" for one in there]


def pairs(lab: Lab) -> list[Json]:
    paths = sorted((lab.folder / "out" / "samples").iterdir())
    return [json.loads(path.read_text())["pairs"][0]["k8s"] for path in paths]


# --- without them ---


def test_a_cluster_without_multus(lab: Lab, tests_space: tuple[str, str]) -> None:
    """What is missing is told before anything is made, and by check."""
    if "k8s.cni.cncf.io" in kubectl("api-versions"):
        pytest.skip("another test has made these kinds known already")
    said = "the cluster has no NetworkAttachmentDefinition (k8s.cni.cncf.io/v1): Multus is not installed"
    for verb, words in (("run", ("-o", "out")), ("check", ())):
        done = lab(verb, lab.file(RR), *ON, *tests_space, "--macvlan", "eth0", *words)
        assert done.returncode == 3 and said in done.stdout + done.stderr, done.stdout + done.stderr
        assert "whereabouts, which gives the addresses, is not installed" in done.stdout + done.stderr
    assert not objects("pods", "-n", tests_space[1])


@pytest.mark.usefixtures("kinds")
def test_a_pod_that_nobody_attaches(lab: Lab, tests_space: tuple[str, str]) -> None:
    """The kinds are known, and Multus is not there: pods start all the same."""
    begin = time.monotonic()
    done = lab("run", lab.file(RR), *ON, *tests_space, "--macvlan", "eth0", "-o", "out")
    assert done.returncode == 3, done.stdout + done.stderr
    assert "has no annotation k8s.v1.cni.cncf.io/network-status: Multus has not put it on any network" in done.stderr
    assert time.monotonic() - begin < 60
    none_left()


# --- the objects ---

MADE = {
    "macvlan": (("--macvlan", "eth0"), ["NetworkAttachmentDefinition"]),
    "bridge": (("--linux-bridge", "br1"), ["NetworkAttachmentDefinition"]),
    "sriov": (("--sriov", "eth0"), ["SriovNetworkNodePolicy", "SriovNetwork"]),
    "udn": (("--udnl2",), ["UserDefinedNetwork"]),
    "udn of layer 3": (("--udnl3",), ["UserDefinedNetwork"]),
    "cudn": (("--cudn", "layer2"), ["ClusterUserDefinedNetwork"]),
    "cudn of layer 3": (("--cudn", "layer3"), ["ClusterUserDefinedNetwork"]),
}
VM = ("--vm", "--vm-image", "disk.test/disk:1", "--pod=false")
MACHINES = {
    "vm": (VM, ["VirtualMachineInstance"] * 2),
    "vm, bridge": ((*VM, "--bridge", "br1"), ["NetworkAttachmentDefinition", *["VirtualMachineInstance"] * 2]),
    "vm, sriov": (
        (*VM, "--sriov", "eth0"),
        ["SriovNetworkNodePolicy", "SriovNetwork", *["VirtualMachineInstance"] * 2],
    ),
    "vm, localnet": ((*VM, "--localnet", "ph"), ["ClusterUserDefinedNetwork", *["VirtualMachineInstance"] * 2]),
    "vm, udn": ((*VM, "--udnl2"), ["UserDefinedNetwork", *["VirtualMachineInstance"] * 2]),
}


@pytest.mark.usefixtures("kinds")
@pytest.mark.parametrize("name", [*MADE, *MACHINES])
def test_the_api_server_takes_what_plan_prints(lab: Lab, tests_space: tuple[str, str], name: str) -> None:
    """With strict validation: a field that a kind has not would be refused."""
    words, wanted = (MADE | MACHINES)[name]
    done = lab("plan", lab.file(RR), *ON, *tests_space, *words)
    assert done.returncode == 0, done.stderr
    taken = kubectl("apply", "--dry-run=server", "--validate=strict", "-f", "-", "-o", "json", text=done.stdout)
    found = [one["kind"] for one in json.loads(taken)["items"]]
    assert [kind for kind in found if kind not in ("Secret", "ConfigMap", "Pod", "Job")] == wanted
    assert found.count("Pod") == found.count("Job") == (0 if name in MACHINES else 1)


# --- whole runs ---


@pytest.mark.usefixtures("attaching")
def test_macvlan_from_node_to_node(lab: Lab, tests_space: tuple[str, str]) -> None:
    """Beside the network of the pods, in one run: both ends have addresses on it, and every byte arrives."""
    text = "tests:\n" + entry("one", "TCP_STREAM") + "network: {macvlan: eth0, range: 10.77.0.0/16}\n"
    done = lab("run", lab.file(text), *ON, *tests_space, "--paths", "pod,macvlan", "-o", "out")
    assert done.returncode == 0, done.stderr
    whole(lab)
    pod, macvlan = pairs(lab)
    assert pod["dialled"]["address"].startswith("10.244.1.") and "attached" not in pod
    both = (macvlan["dialled"]["address"], macvlan["attached"]["client_address"])
    assert all(ipaddress.ip_address(one) in ipaddress.ip_network("10.77.0.0/16") for one in both), both
    assert macvlan["dialled"]["control"] == pod["dialled"]["control"] == pod["dialled"]["address"]
    documents = json.loads((lab.folder / "out" / "result.json").read_text())
    assert [one["macvlanInfo"] for one in documents] == ["", "macvlan/eth0"]
    none_left()


@pytest.mark.usefixtures("attaching")
def test_an_attachment_that_is_there(lab: Lab, tests_space: tuple[str, str]) -> None:
    """It stays, and so does what it is said to be when its text is broken."""
    config = {"cniVersion": "0.3.1", "name": "fast", "type": "macvlan", "master": "eth0", "mode": "bridge"}
    config["ipam"] = {"type": "whereabouts", "range": "10.78.0.0/24"}  # type: ignore[assignment]
    item: Json = {"apiVersion": "k8s.cni.cncf.io/v1", "kind": "NetworkAttachmentDefinition"}
    item |= {"metadata": {"name": "fast", "namespace": "default"}, "spec": {"config": json.dumps(config)}}
    apply(item)
    try:
        done = lab("run", lab.file(RR), *ON, *tests_space, "--bridge", "fast", "-o", "out")
        assert done.returncode == 0, done.stderr
        (sample,) = pairs(lab)
        assert sample["dialled"]["address"].startswith("10.78.0.")
        (document,) = json.loads((lab.folder / "out" / "result.json").read_text())
        assert document["bridgeInfo"] == "default/fast"
        apply({**item, "spec": {"config": "{"}})
        done = lab("run", "tests.yml", *ON, *tests_space, "--multus", "default/fast", "-o", "broken")
        assert done.returncode == 3 and "its config is no JSON" in done.stderr, done.stderr
        assert objects("network-attachment-definitions", "-n", "default")
    finally:
        kubectl("delete", "network-attachment-definitions", "fast", "-n", "default")


def connect() -> None:
    """As OVN-Kubernetes: says of each network that it is there."""
    for plural in ("userdefinednetworks", "clusteruserdefinednetworks"):
        for one in objects(plural, "-A"):
            if one.get("status"):
                continue
            said = json.dumps({"status": {"conditions": [{"type": "NetworkCreated", "status": "True"}]}})
            where = ("-n", one["metadata"]["namespace"]) if "namespace" in one["metadata"] else ()
            words = (plural, one["metadata"]["name"], *where, "--subresource=status", "--type=merge", "-p", said)
            kubectl("patch", *words, check=False)


@pytest.mark.usefixtures("attaching")
@pytest.mark.parametrize("words", [("--udnl2",), ("--cudn", "layer3")], ids=["udn", "cudn"])
def test_networks_of_ovn(lab: Lab, words: tuple[str, ...]) -> None:
    with operator(connect):
        done = lab("run", lab.file(RR), *ON, *words, "-o", "out")
    assert done.returncode == 0, done.stderr
    (sample,) = pairs(lab)
    assert sample["dialled"]["address"].startswith("10.244.1.")  # which the annotation has
    (document,) = json.loads((lab.folder / "out" / "result.json").read_text())
    assert document["udnInfo"] == ("layer2" if words == ("--udnl2",) else "Cudn -layer3")
    none_left()


@pytest.mark.usefixtures("kinds")
def test_a_network_that_does_not_come(lab: Lab) -> None:
    done = lab("run", lab.file(RR), *ON, "--cudn", "layer2", "--start-timeout", "2", "-o", "out")
    assert done.returncode == 3, done.stderr
    assert "OVN-Kubernetes has not made the network: it says nothing, after 2 s" in done.stderr
    none_left()


@pytest.fixture
def functions(attaching: None) -> Iterator[None]:
    """What the SR-IOV operator has on two nodes with a physical function."""
    version = {"apiVersion": "sriovnetwork.openshift.io/v1"}
    where = {"namespace": OPERATOR}
    apply(
        version
        | {"kind": "SriovOperatorConfig", "metadata": {"name": "default", **where}, "spec": {"disableDrain": True}},
        *(
            version
            | {
                "kind": "SriovNetworkNodeState",
                "metadata": {"name": node, **where},
                "spec": {},
                "status": {"interfaces": [{"name": "eth0", "totalvfs": 8}]},
            }
            for node in ("n1", "n2")
        ),
    )
    kubectl("label", "nodes", "n1", "n2", "node-role.kubernetes.io/worker=", "--overwrite")
    yield
    kubectl("label", "nodes", "n1", "n2", "node-role.kubernetes.io/worker-")
    for node in ("n1", "n2"):
        gone = '[{"op": "remove", "path": "/status/capacity/openshift.io~1eth0"}]'
        kubectl("patch", "node", node, "--subresource=status", "--type=json", "-p", gone, check=False)
    kubectl("delete", "sriovoperatorconfigs,sriovnetworknodestates", "--all", "-n", OPERATOR)


def carve() -> None:
    """As the SR-IOV operator and its device plugin: functions on each node, and the attachment."""
    for one in objects("sriovnetworks", "-n", OPERATOR):
        spec, name = one["spec"], one["metadata"]["name"]
        policy = next(iter(objects("sriovnetworknodepolicies", "-n", OPERATOR)), None)
        for node in objects("nodes") if policy else ():
            resource = f"openshift.io/{spec['resourceName']}"
            if resource not in node["status"]["capacity"]:
                path = "/status/capacity/" + resource.replace("/", "~1")
                patch = json.dumps([{"op": "add", "path": path, "value": str(policy["spec"]["numVfs"])}])
                kubectl("patch", "node", node["metadata"]["name"], "--subresource=status", "--type=json", "-p", patch)
        ipam = json.loads(spec["ipam"])
        config = {"cniVersion": "0.3.1", "name": name, "type": "macvlan", "master": "eth0", "ipam": ipam}
        item = {"apiVersion": "k8s.cni.cncf.io/v1", "kind": "NetworkAttachmentDefinition"}
        meta = {"name": name, "namespace": spec["networkNamespace"]}
        text = json.dumps({**item, "metadata": meta, "spec": {"config": json.dumps(config)}})
        kubectl("apply", "-f", "-", text=text, check=False)


@pytest.mark.usefixtures("functions")
def test_sriov(lab: Lab) -> None:
    """Both pods take a function; without the operator's word that nodes are not drained nothing is made."""
    with operator(carve):
        done = lab("run", lab.file(RR), *ON, "--sriov", "eth0", "-o", "out")
    assert done.returncode == 0, done.stderr
    (sample,) = pairs(lab)
    assert sample["dialled"]["address"].startswith("192.168.100.")
    assert sample["client"]["resources"]["limits"] == {"openshift.io/eth0": "1"}
    (document,) = json.loads((lab.folder / "out" / "result.json").read_text())
    assert document["sriovInfo"] == "sriov/eth0"
    none_left()
    kubectl(
        "patch",
        "sriovoperatorconfigs",
        "default",
        "-n",
        OPERATOR,
        "--type=merge",
        "-p",
        '{"spec": {"disableDrain": false}}',
    )
    done = lab("check", "tests.yml", *ON, "--sriov", "eth7")
    assert done.returncode == 3 and "disableDrain is not true" in done.stdout, done.stdout
    assert "node n1: has no physical function eth7 (SR-IOV operator: eth0)" in done.stdout


@pytest.mark.usefixtures("attaching")
def test_clean_finds_what_a_killed_run_has_left(lab: Lab) -> None:
    """Also what is in no namespace, or in the operator's."""
    with operator(connect):
        process = lab.start("run", lab.file("tests:\n" + entry("rr", "TCP_RR", duration=60)), *ON, "--cudn", "layer2")
        until(lambda: bool(objects("pods", "-A", "-l", "netmodel.io/role=server")), 60, "a slave")
    process.kill()
    process.wait(30)
    assert objects("clusteruserdefinednetworks", "-l", OURS)
    done = lab("clean", "--all")
    assert done.returncode == 0 and "1 ClusterUserDefinedNetwork" in done.stdout, done.stdout + done.stderr
    none_left()
