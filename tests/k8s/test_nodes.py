# SPDX-License-Identifier: Apache-2.0
"""More nodes than two: one that is lost in mid-run, patterns over all of them, and many that are hollow."""

from __future__ import annotations

import json
import re
import threading
import time
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from conftest import ON, Lab, entry, kubectl, left, lose, objects, until
from test_ends import begun, run_of
from test_paths import whole

Json = dict[str, Any]
HOLLOW = 100


@pytest.mark.long
@pytest.mark.parametrize("keep", ["never", "failed"])
def test_the_node_of_the_server_is_lost_in_mid_run(lab: Lab, third_node: str, keep: str) -> None:
    """While it is still gone the run, or clean, removes all that was made."""
    words = ("--server-node", third_node, "--client-node", "n2", "--keep", keep, "-o", "out")
    process = lab.start("run", lab.file("tests:\n" + entry("one", "TCP_RR", duration=60)), *ON, *words)
    run = run_of(process)
    until(begun, 60, "a client")
    time.sleep(2)
    begin = time.monotonic()
    lose(third_node)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 4, err
    assert time.monotonic() - begin < 60, err
    assert re.search(rf"node {third_node} (is not ready|does not answer) any more: the sample is lost", err), err
    if keep == "failed":
        assert left()
        done = lab("clean", run)
        assert done.returncode == 0, done.stdout + done.stderr
    assert not kubectl("get", "namespaces", "-l", "netmodel.io/run", "-o", "name")
    print("figure: the node of the server killed in mid-run: an end within 60 s, and nothing left")


@pytest.mark.long
def test_patterns_over_three_nodes(lab: Lab, third_node: str, tests_space: tuple[str, str]) -> None:
    text = "tests:\n" + entry("one", "TCP_RR", duration=10)
    for pattern, pairs in (("all-to-all", 6), ("many-to-one", 8)):
        words = ("--pattern", pattern, *(("--pairs", "8") if pattern == "many-to-one" else ()), "-o", pattern)
        done = lab("run", lab.file(text), *ON, *tests_space, *words)
        assert done.returncode == 0, done.stderr
        whole(lab, pattern)
        (row,) = lab.rows(pattern)
        assert row["pairs"] == pairs and 0 <= row["start_skew_s"] <= 2
        (path,) = (lab.folder / pattern / "samples").iterdir()
        clients = Counter(pair["k8s"]["client"]["node"] for pair in json.loads(path.read_text())["pairs"])
        assert clients == ({"n1": 2, "n2": 2, "n3": 2} if pattern == "all-to-all" else {"n2": 4, "n3": 4})


@pytest.mark.long
def test_one_master_over_many_slaves(lab: Lab, third_node: str, tests_space: tuple[str, str]) -> None:
    text = "tests:\n" + entry("rr", "TCP_RR", duration=5) + entry("stream", "TCP_STREAM", duration=5, size=65536)
    words = ("--pattern", "one-to-many", "--pairs", "8", "--client-node", "n2", "-o", "out")
    done = lab("run", lab.file(text), *ON, *tests_space, *words)
    assert done.returncode == 0, done.stderr
    for row in lab.rows():
        assert (row["slaves"], row["server_node"], row["client_node"]) == (8, "n1, n3", "n2")
        assert 0 <= row["start_skew_s"] < 0.5
    for path in (lab.folder / "out" / "samples").iterdir():
        (pair,) = json.loads(path.read_text())["pairs"]
        assert Counter(one["node"] for one in pair["k8s"]["servers"]) == {"n1": 4, third_node: 4}
        master, *slaves = pair["result"]["hosts"]
        assert pair["result"]["run"]["reconciled"] is True and len(slaves) == 8
        assert master["counts"]["bytes_sent"] == sum(one["counts"]["bytes_received"] for one in slaves)
        assert all(one["counts"]["bytes_received"] > 0 for one in slaves)
    print("figure: one master over 8 slaves on 2 nodes: all bytes arrived, at each of them")


def heartbeats(names: list[str]) -> str:
    """Leases of nodes, as their kubelets would renew them."""
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    spec = {"leaseDurationSeconds": 40, "renewTime": now}
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "List",
            "items": [
                {
                    "apiVersion": "coordination.k8s.io/v1",
                    "kind": "Lease",
                    "spec": {**spec, "holderIdentity": name},
                    "metadata": {"name": name, "namespace": "kube-node-lease"},
                }
                for name in names
            ],
        }
    )


def end_pods() -> None:
    """Those that have been asked to go, as their kubelets would."""
    going = [
        one["metadata"]["name"]
        for one in objects("pods", "-n", "tests")
        if one["metadata"].get("deletionTimestamp") and one["spec"].get("nodeName", "").startswith("hollow-")
    ]
    if going:
        kubectl("delete", "pods", *going, "-n", "tests", "--grace-period=0", "--force", "--wait=false", check=False)


@pytest.fixture
def hollow() -> Iterator[list[str]]:
    """Nodes that the API server and the scheduler know, and that have no kubelet: nothing runs on them."""
    names = [f"hollow-{i:03d}" for i in range(HOLLOW)]
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    ready = {"type": "Ready", "status": "True", "reason": "Hollow", "lastHeartbeatTime": now, "lastTransitionTime": now}
    room = {"cpu": "4", "memory": "8Gi", "pods": "110"}
    status = {"conditions": [ready], "capacity": room, "allocatable": room}
    items = [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
            "spec": {"podCIDR": f"10.245.{i}.0/24"},
            "status": {**status, "addresses": [{"type": "InternalIP", "address": f"10.201.0.{i + 1}"}]},
        }
        for i, name in enumerate(names)
    ]
    over = threading.Event()

    def beat() -> None:
        while True:
            kubectl("apply", "-f", "-", text=heartbeats(names), check=False)
            end_pods()
            if over.wait(2):
                return

    kubectl("create", "-f", "-", text=json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    thread = threading.Thread(target=beat)
    thread.start()
    yield names
    over.set()
    thread.join(60)
    kubectl("delete", "nodes", *names, "--wait=false")
    kubectl("delete", "leases", *names, "-n", "kube-node-lease", "--wait=false", check=False)


@pytest.mark.long
def test_a_hundred_hollow_nodes(lab: Lab, hollow: list[str], tests_space: tuple[str, str]) -> None:
    """A client on each is planned, and the API server takes the plan; the run tells that none of them has a pod."""
    until(
        lambda: sum(not one["spec"].get("taints") for one in objects("nodes")) == HOLLOW + 2, 60, "nodes without taints"
    )
    words = ("--pattern", "many-to-one", "--pairs", str(HOLLOW + 1), "--server-node", "n1")
    done = lab("plan", lab.file("tests:\n" + entry("one", "TCP_RR")), *ON, *tests_space, *words)
    assert done.returncode == 0, done.stderr
    taken = kubectl("apply", "--dry-run=server", "--validate=strict", "-f", "-", "-o", "json", text=done.stdout)
    jobs = [one for one in json.loads(taken)["items"] if one["kind"] == "Job"]
    nodes = Counter(term["values"][0] for job in jobs for term in terms(job))
    assert nodes == dict.fromkeys([*hollow, "n2"], 1)
    many = ("--pattern", "one-to-many", "--pairs", str(HOLLOW), "--client-node", "n1")
    done = lab("plan", "tests.yml", *ON, *tests_space, *many)
    assert done.returncode == 0, done.stderr
    taken = kubectl("apply", "--dry-run=server", "--validate=strict", "-f", "-", "-o", "json", text=done.stdout)
    kinds = Counter(one["kind"] for one in json.loads(taken)["items"])
    assert (kinds["Pod"], kinds["Job"]) == (HOLLOW, 1)
    done = lab("run", "tests.yml", *ON, *tests_space, *words, "--start-timeout", "5", "-o", "out")
    assert done.returncode in (3, 4), done.stderr
    assert "did not start within 5 s" in done.stderr and "Traceback" not in done.stderr, done.stderr
    print(f"figure: {HOLLOW} hollow nodes: planned, taken by the API server; no pod runs on them, which the run tells")


def terms(job: Json) -> list[Json]:
    affinity = job["spec"]["template"]["spec"]["affinity"]["nodeAffinity"]
    (term,) = affinity["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    return list(term["matchFields"])
