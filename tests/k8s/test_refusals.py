# SPDX-License-Identifier: Apache-2.0
"""What a cluster refuses: its own words, exit code 3, in time, and nothing left."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import FOLDER, IMAGE, ON, OURS, Lab, entry, kubectl, objects, until

ONE = "tests:\n" + entry("one", "TCP_RR")
SOON = 90  # a pod has 120 s to start, and what is refused is not waited for
AWAY = 10  # how long an API server is asked that is not there


@pytest.fixture
def space() -> Iterator[str]:
    """A namespace of the user's, with an object of his, which stay."""
    name = f"users-{time.monotonic_ns() % 1000000}"
    kubectl("create", "namespace", name)
    kubectl("-n", name, "create", "configmap", "his")
    yield name
    assert kubectl("-n", name, "get", "configmap", "his", "-o", "name").strip() == "configmap/his"
    kubectl("delete", "namespace", name, "--wait=false")


def refused(lab: Lab, *words: str | Path, said: tuple[str, ...]) -> None:
    begin = time.monotonic()
    done = lab("run", lab.file(ONE), *words, "-o", "out")
    assert done.returncode == 3, done.stdout + done.stderr
    assert time.monotonic() - begin < SOON
    assert "Traceback" not in done.stderr
    assert not (lab.folder / "out").exists()
    for part in said:
        assert part in done.stderr


def test_an_image_that_is_not_there(lab: Lab) -> None:
    refused(lab, "--image", "none.test/none:1", "--image-pull-policy", "Never", said=("ErrImageNeverPull",))


@pytest.mark.long
def test_an_image_that_cannot_be_pulled(lab: Lab) -> None:
    refused(lab, "--image", "10.255.255.1:5/none:1", said=("image 10.255.255.1:5/none:1 cannot be pulled:",))


def test_more_cpu_than_a_node_has(lab: Lab) -> None:
    said = ("cannot be scheduled: 0/2 nodes are available", "Insufficient cpu")
    refused(lab, *ON, "--requests", "cpu=999", "--schedule-timeout", "2", said=said)


def test_labels_that_no_node_has(lab: Lab) -> None:
    refused(lab, *ON, "--node-selector", "a=b", said=("two nodes are needed", "node n1 has not the label a=b"))


def test_quotas_and_limits(lab: Lab, space: str) -> None:
    kubectl("-n", space, "create", "quota", "q", "--hard=pods=1")
    until(lambda: "hard" in kubectl("-n", space, "get", "quota", "q", "-o", "json").split('"status"')[-1])
    refused(
        lab, *ON, "--namespace", space, said=("exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1",)
    )
    done = lab("check", "tests.yml", *ON, "--namespace", space)
    assert done.returncode == 3 and "quota q: 0 of 1 pods are used, and 2 are needed" in done.stdout, done.stdout


@pytest.mark.long
def test_a_quota_of_requests(lab: Lab, space: str) -> None:
    kubectl("-n", space, "create", "quota", "r", "--hard=requests.cpu=1")
    said = ("failed quota: r: must specify requests.cpu", "--requests cpu=1")
    until(lambda: "used" in kubectl("-n", space, "get", "quota", "r", "-o", "json").split('"status"')[-1])
    refused(lab, *ON, "--namespace", space, said=said)


def test_a_limit_range(lab: Lab, space: str) -> None:
    limits = '[{"type":"Container","max":{"memory":"1Gi"}}]'
    text = '{"apiVersion":"v1","kind":"LimitRange","metadata":{"name":"l"},"spec":{"limits":' + limits + "}}"
    kubectl("-n", space, "apply", "-f", "-", text=text)
    refused(
        lab, *ON, "--namespace", space, "--limits", "memory=2Gi", said=("maximum memory usage per Container is 1Gi",)
    )


def test_host_network_where_it_is_not_allowed(lab: Lab, space: str) -> None:
    kubectl("label", "namespace", space, "pod-security.kubernetes.io/enforce=restricted")
    said = ("hostNetwork", "pod-security.kubernetes.io/enforce")
    refused(lab, *ON, "--namespace", space, "--hostNet", said=said)
    assert not objects("pods", "-n", space)
    done = lab("run", "tests.yml", *ON, "--namespace", space, "-o", "pods")
    assert done.returncode == 0, done.stderr


def test_a_namespace_that_is_not_there_or_goes(lab: Lab) -> None:
    refused(lab, *ON, "--namespace", "none", said=('namespaces "none" not found',))
    held = '{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"going"}}'
    kubectl("create", "-f", "-", text=held)
    config = (
        '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","namespace":"going","finalizers":["a.test/b"]}}'
    )
    kubectl("create", "-f", "-", text=config)
    try:
        kubectl("delete", "namespace", "going", "--wait=false")
        refused(lab, *ON, "--namespace", "going", said=("because it is being terminated",))
    finally:
        kubectl(
            "-n",
            "going",
            "patch",
            "configmap",
            "c",
            "--type=json",
            "-p",
            '[{"op":"remove","path":"/metadata/finalizers"}]',
        )


def kubeconfig(lab: Lab, **changes: str) -> str:
    text = (FOLDER / "w" / "pki" / "admin.kubeconfig").read_text()
    for old, new in changes.items():
        lines = [
            f'users: [{{name: u, user: {{token: "{new}"}}}}]' if line.startswith("users:") and old == "token" else line
            for line in text.splitlines()
        ]
        text = "\n".join(lines) + "\n"
        if old == "ca":
            text = text.replace("ca.crt", new)
    return lab.file(text, "kubeconfig")


def test_a_wrong_token_and_a_wrong_authority(lab: Lab) -> None:
    begin = time.monotonic()
    refused(lab, *ON, "--kubeconfig", kubeconfig(lab, token="wrong"), said=("the token is wrong or has expired",))
    at_once, begin = time.monotonic() - begin, time.monotonic()
    done = lab("run", "tests.yml", *ON, "--kubeconfig", kubeconfig(lab, ca="apiserver.crt"), "-o", "tls")
    assert done.returncode == 3 and "certificate" in done.stderr.lower(), done.stderr
    assert time.monotonic() - begin < at_once + AWAY - 1


def test_what_nobody_has_allowed(lab: Lab) -> None:
    """A service account without any right, and what grants it."""
    token = kubectl("create", "token", "default", "-n", "default").strip()
    said = ('cannot list resource "nodes"', "kubectl create clusterrole netmodel-nodes --verb=list --resource=nodes")
    refused(lab, *ON, "--kubeconfig", kubeconfig(lab, token=token), said=said)
    done = lab("check", "tests.yml", "--image", IMAGE, "--kubeconfig", "kubeconfig")
    assert done.returncode == 3
    assert '- {apiGroups: ["batch"], resources: [jobs], verbs: [create, get, list, delete]}' in done.stdout


WRONG = """TCPStream:
  profile: "XTCP_RRX"
  duration: 1
  samples: 1
  messagesize: 1024
  parallelism: 1
small:
  profile: "tcp_stream"
  duration: 1
  samples: 1
  messagesize: 1024
  parallel: 1
"""


def made_since(versions: dict[str, str]) -> list[str]:
    """Names of all that runs have made, also what is gone again. versions: those of the lists of each kind before."""
    found = []
    for path, version in versions.items():
        query = f"watch=1&timeoutSeconds=1&labelSelector={OURS}&resourceVersion={version}"
        events = map(json.loads, kubectl("get", "--raw", f"{path}?{query}").splitlines())
        found += [event["object"]["metadata"]["name"] for event in events if event["type"] == "ADDED"]
    return found


def test_a_list_of_the_first_form_with_mistakes(lab: Lab) -> None:
    """All of them are told, and nothing is made."""
    paths = [f"/api/v1/{kind}" for kind in ("namespaces", "pods", "secrets", "configmaps", "services")]
    versions = {
        path: json.loads(kubectl("get", "--raw", path))["metadata"]["resourceVersion"]
        for path in (*paths, "/apis/batch/v1/jobs")
    }
    refusal = lab("run", lab.file(WRONG), *ON, "-o", "out")
    assert refusal.returncode == 2, refusal.stderr
    for part in ("XTCP_RRX", "parallel", "parallelism"):
        assert part in refusal.stderr, refusal.stderr
    assert not (lab.folder / "out").exists()
    assert made_since(versions) == []
    meta = {"name": "seen", "namespace": "default", "labels": dict([OURS.split("=")])}
    kubectl("create", "-f", "-", text=json.dumps({"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta}))
    kubectl("delete", "configmap", "seen", "-n", "default")
    assert made_since(versions) == ["seen"]
