# SPDX-License-Identifier: Apache-2.0
"""The manifests of contrib/kubernetes: they are what Kubernetes takes, and their commands do what docs/kubernetes.md says."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from compose import check
from nmtest import TOP, Netmodel, slaves_of

yaml: Any = pytest.importorskip("yaml", reason="PyYAML is not installed; tools/requirements.txt has it")

FOLDER = TOP / "contrib" / "kubernetes"
Object = dict[str, Any]


def objects_of(path: Path) -> list[Object]:
    return list(yaml.safe_load_all(path.read_text()))


OBJECTS = {
    f"{path.name}-{each['kind']}": each for path in sorted(FOLDER.glob("*.yaml")) for each in objects_of(path)
}
VERSIONS = {
    **dict.fromkeys(("Service", "Pod", "ServiceAccount", "ConfigMap"), "v1"),
    **dict.fromkeys(("Job", "CronJob"), "batch/v1"),
    "DaemonSet": "apps/v1",
    "Kustomization": "kustomize.config.k8s.io/v1beta1",
    **dict.fromkeys(("Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"), "rbac.authorization.k8s.io/v1"),
}


def pod_of(each: Object) -> tuple[Object, Object]:
    """Labels and specification of the pod that it makes."""
    pod = each if each["kind"] == "Pod" else each["spec"]["template"]
    return pod["metadata"]["labels"], pod["spec"]


def container_of(each: Object) -> Object:
    (container,) = pod_of(each)[1]["containers"]
    assert isinstance(container, dict)
    return container


SERVER, CLIENT, SLAVES = (OBJECTS[name] for name in ("server.yaml-Pod", "client.yaml-Job", "slaves.yaml-DaemonSet"))
SERVICE = OBJECTS["server.yaml-Service"]
PODS = pytest.mark.parametrize("each", [SERVER, CLIENT, SLAVES], ids=lambda each: each["kind"])


def test_there_is_nothing_else() -> None:
    assert {name.rpartition("-")[2]: each["apiVersion"] for name, each in OBJECTS.items()} == VERSIONS
    names = [(each["kind"], each["metadata"]["name"]) for each in OBJECTS.values() if "metadata" in each]
    assert all(re.fullmatch(r"[a-z]([a-z0-9-]*[a-z0-9])?", name) for _, name in names), names
    page = (TOP / "docs" / "kubernetes.md").read_text()
    assert all(str(path.relative_to(TOP)) in page for path in FOLDER.iterdir())
    assert {f"{each['kind'].lower()}/{each['metadata']['name']}" for each in (SERVER, CLIENT)} <= set(page.split())


@PODS
def test_pods_need_no_privilege(each: Object) -> None:
    spec, container = pod_of(each)[1], container_of(each)
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert spec["securityContext"]["runAsUser"] == 65534
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert spec["automountServiceAccountToken"] is False
    assert spec["enableServiceLinks"] is False
    context = container["securityContext"]
    assert context == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert set(container["resources"]) == {"requests"}, "limits would be part of what is measured"
    known = {"name", "image", "args", "ports", "startupProbe", "resources", "securityContext"}
    assert set(container) <= known


@PODS
def test_the_image_is_the_one_that_is_built_here(each: Object) -> None:
    found = re.search(r"AC_INIT\(\[netmodel\], *\[([\d.]+)\]", (TOP / "configure.ac").read_text())
    assert found
    assert container_of(each)["image"] == f"localhost/netmodel:{found[1]}"


@pytest.mark.parametrize("each", [SERVER, SLAVES], ids=["server", "slaves"])
def test_slaves_listen_where_they_are_looked_for(each: Object) -> None:
    container = container_of(each)
    (port,) = container["ports"]
    assert port == {"name": "control", "containerPort": 20000}
    assert container["startupProbe"]["tcpSocket"] == {"port": port["name"]}
    assert container["args"] == ["-s", "--no-auth"]


def test_the_lab_s_job_and_cronjob_are_the_same() -> None:
    """But for when they run; both without any privilege, and with the account of rights.yaml."""
    job, cronjob = OBJECTS["lab-job.yaml-Job"], OBJECTS["lab-cronjob.yaml-CronJob"]
    assert job["spec"] == cronjob["spec"]["jobTemplate"]["spec"]
    spec, container = pod_of(job)[1], container_of(job)
    assert spec["serviceAccountName"] == OBJECTS["rights.yaml-ServiceAccount"]["metadata"]["name"]
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert container["securityContext"] == container_of(CLIENT)["securityContext"]
    image = container_of(CLIENT)["image"]
    assert container["image"] == image.replace("/netmodel:", "/netmodel-lab:")
    assert f"--image={image}" in container["args"]
    tests = OBJECTS["lab-tests.yaml-ConfigMap"]
    assert [each["configMap"] for each in spec["volumes"] if "configMap" in each] == [{"name": tests["metadata"]["name"]}]
    assert f"/tests/{next(iter(tests['data']))}" in container["args"]


def test_labels_select_the_pods_that_they_should() -> None:
    labels = pod_of(SERVER)[0]
    assert SERVICE["spec"]["selector"] == labels
    assert SERVICE["spec"]["clusterIP"] == "None"
    assert [port["port"] for port in SERVICE["spec"]["ports"]] == [20000]
    (term,) = pod_of(CLIENT)[1]["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert term == {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": labels}}
    assert pod_of(CLIENT)[0] != labels != pod_of(SLAVES)[0]
    assert SLAVES["spec"]["selector"]["matchLabels"] == pod_of(SLAVES)[0]
    assert (CLIENT["spec"]["backoffLimit"], pod_of(CLIENT)[1]["restartPolicy"]) == (0, "Never")


def test_the_job_s_log_is_the_result(netmodel: Netmodel) -> None:
    """The commands of both manifests, but for the name of the server, its port and the time."""
    name = SERVICE["metadata"]["name"]
    args = container_of(CLIENT)["args"]
    assert f"host={name}" in args
    here = ["host=127.0.0.1" if word == f"host={name}" else word for word in args]
    with netmodel.slave(*container_of(SERVER)["args"][1:]) as slave:
        result = netmodel.run(*here, "-D", "test_length=200ms", "-P", str(slave.port), code=0)
    assert result.err == "", "it would be in the log, too"
    document = check(json.loads(result.out))
    assert document["groups"][0]["flows"] == 10
    assert [host["name"] for host in slaves_of(document)] == ["127.0.0.1"]


def test_neper_s_words_of_the_documents(netmodel: Netmodel) -> None:
    found = re.search(r"with `args: \[(.*?)\]`", (TOP / "docs" / "kubernetes.md").read_text())
    assert found
    words = [word.strip('" ') for word in found[1].split(",")]
    with netmodel.slave("--no-auth") as slave:
        here = {"netmodel-server": "127.0.0.1", "20000": str(slave.port)}
        done = netmodel.run(*[here.get(word, word) for word in words[:-2]], "-l", "-100", code=0)
    assert "num_transactions=100\n" in done.out
