# SPDX-License-Identifier: Apache-2.0
"""Virtual machines as ends. No cluster of this machine has KubeVirt: a thread of these tests does what it would, with a
pod that runs what cloud-init would, and one that says what the console would."""

from __future__ import annotations

import base64
import gzip
import json
import shlex
from typing import Any

import pytest

from conftest import DRIVERS, DRIVERS_IMAGE, IMAGE, ON, Lab, entry, kubectl, objects
from test_networks import kinds, none_left, operator  # noqa: F401  a fixture

Json = dict[str, Any]
VM = ("--vm", "--vm-image", "disk.test/disk:1", "--start-timeout", "90")


def guest(machine: Json) -> tuple[str, list[str]]:
    """The key, and the arguments of netmodel, of what cloud-init would run."""
    meta = machine["metadata"]
    secret = json.loads(kubectl("get", "secret", meta["name"], "-n", meta["namespace"], "-o", "json"))
    user = base64.b64decode(secret["data"]["userdata"]).decode().partition("\n")[2]
    lines = json.loads(user)["write_files"][0]["content"].splitlines()
    words = shlex.split(next(line for line in lines if " netmodel " in f" {line}").partition(" >")[0])
    key = next(line for line in lines if line.startswith("export ")).partition("=")[2]
    return shlex.split(key)[0], words[words.index("netmodel") + 1 :]


def pod(machine: Json, name: str, marks: dict[str, str], container: Json) -> None:
    """On the node of the machine; it goes with it."""
    meta = machine["metadata"]
    owner = {"apiVersion": machine["apiVersion"], "kind": machine["kind"], "name": meta["name"], "uid": meta["uid"]}
    inner = {
        "name": "compute",
        "imagePullPolicy": "Never",
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
        **container,
    }
    spec = {
        "restartPolicy": "Never",
        "enableServiceLinks": False,
        "terminationGracePeriodSeconds": 0,
        "affinity": machine["spec"]["affinity"],
        "securityContext": {"runAsUser": 65534, "runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [inner],
    }
    made = {"name": name, "namespace": meta["namespace"], "labels": marks, "ownerReferences": [owner]}
    text = json.dumps({"apiVersion": "v1", "kind": "Pod", "metadata": made, "spec": spec})
    kubectl("create", "-f", "-", text=text, check=False)


def console(log: str) -> str:
    code = 0 if '"schema"' in log else 2
    return (
        f"boot\r\nnetmodel-begin\r\n{base64.encodebytes(gzip.compress(log.encode())).decode()}netmodel-end {code}\r\n"
    )


def boot() -> None:
    """As KubeVirt, one step for each machine."""
    for machine in objects("virtualmachineinstances", "-A"):
        meta, is_server = machine["metadata"], machine["metadata"]["labels"]["netmodel.io/role"] == "server"
        there = {one["metadata"]["name"]: one for one in objects("pods", "-n", meta["namespace"])}
        inner, outer = f"guest-{meta['name']}", f"virt-launcher-{meta['name']}"
        marks = {**meta["labels"], "vm.kubevirt.io/name": meta["name"]}
        if meta.get("deletionTimestamp") or machine.get("status"):
            continue
        if (outer if is_server else inner) not in there:
            if not objects("secrets", "-n", meta["namespace"], f"--field-selector=metadata.name={meta['name']}"):
                continue
            key, args = guest(machine)
            container = {"image": IMAGE, "args": args, "env": [{"name": "NETMODEL_KEY", "value": key}]}
            pod(machine, outer if is_server else inner, marks if is_server else {}, container)
        elif is_server and there[outer]["status"].get("podIP"):
            tell(machine, "Running")
        elif not is_server and outer in there:
            if there[outer]["spec"].get("nodeName"):
                tell(machine, "Succeeded")
        elif not is_server and there[inner]["status"]["phase"] in ("Succeeded", "Failed"):
            text = console(kubectl("logs", inner, "-n", meta["namespace"]))
            said = {"name": "guest-console-log", "image": DRIVERS_IMAGE, "command": ["sh", "-c", 'echo "$T"']}
            pod(machine, outer, marks, {**said, "env": [{"name": "T", "value": text}]})


def tell(machine: Json, phase: str) -> None:
    meta = machine["metadata"]
    text = json.dumps({"status": {"phase": phase}})
    words = ("virtualmachineinstances", meta["name"], "-n", meta["namespace"], "--subresource=status", "--type=merge")
    kubectl("patch", *words, "-p", text, check=False)


@pytest.mark.usefixtures("kinds")
def test_machines_beside_pods_and_through_a_service(lab: Lab) -> None:
    if "iperf3" not in DRIVERS:
        pytest.skip("no image has sh: see tests/k8s/drivers-image")
    text = "tests:\n" + entry("one", "TCP_RR") + entry("served", "TCP_RR", more="service: true")
    with operator(boot):
        done = lab("run", lab.file(text), *ON, *VM, "-o", "out")
    assert done.returncode == 0, done.stderr
    documents = json.loads((lab.folder / "out" / "result.json").read_text())
    assert [(one["netmodel"]["network"], one["virt"]) for one in documents] == [
        ("pod", False),
        ("pod", True),
        ("service", False),
        ("service", True),
    ]
    for one in documents:
        ours = one["netmodel"]
        assert (ours["server"]["node"], ours["client"]["node"]) == ("n1", "n2")
        assert ours["client"]["pod"].startswith("virt-launcher-") == one["virt"]
        assert one["throughput"] > 0
    assert "| pod vm " in done.stdout
    none_left()


@pytest.mark.usefixtures("kinds")
def test_a_machine_that_does_not_boot(lab: Lab) -> None:
    """KubeVirt's kinds are known, and nobody makes its pod."""
    words = (*VM[:3], "--pod=false", "--start-timeout", "3", "-o", "out")
    done = lab("run", lab.file("tests:\n" + entry("one", "TCP_RR")), *ON, *words)
    assert done.returncode == 3 and "did not run a virtual machine within 3 s: none" in done.stderr, done.stderr
    none_left()
