# SPDX-License-Identifier: Apache-2.0
"""A run from its file to its tables: what it measures, where, and that nothing of it is left."""

from __future__ import annotations

import csv
import io
import json
import xml.etree.ElementTree as tree
from collections.abc import Iterator
from typing import Any

import pytest

from conftest import ON, Lab, entry, kubectl, objects, until

Json = dict[str, Any]
FILE = """tests:
  - TCPStream:
    profile: "TCP_STREAM"
    duration: 1
    samples: 2
    messagesize: 1024
    parallelism: 1
"""


def counts(sample: Json) -> tuple[int, int]:
    """Bytes that the master has sent, and that the slave has received."""
    hosts = {host["role"]: host["counts"] for host in sample["pairs"][0]["result"]["hosts"]}
    return hosts["master"]["bytes_sent"], hosts["slave"]["bytes_received"]


@pytest.fixture
def proxy() -> Iterator[None]:
    """As kubeadm tells of it."""
    words = ("configmap", "kube-proxy", "-n", "kube-system")
    kubectl("create", *words, "--from-literal=config.conf=mode: iptables")
    yield
    kubectl("delete", *words)


def test_a_stream_between_two_nodes(lab: Lab, proxy: None) -> None:
    done = lab("run", lab.file(FILE), *ON, "-o", "out")
    assert done.returncode == 0, done.stderr
    assert "| Stream Results | netmodel | TCP_STREAM " in done.stdout
    rows = lab.rows()
    assert [row["ok"] for row in rows] == [True, True]
    assert {(row["server_node"], row["client_node"], row["relation"]) for row in rows} == {("n1", "n2", "other node")}
    assert all(row["received_MBps"] > 0 for row in rows)
    for i in (1, 2):
        sample = json.loads((lab.folder / "out" / "samples" / f"{i:04d}.json").read_text())
        sent, received = counts(sample)
        assert sent == received > 0
        assert sample["pairs"][0]["result"]["run"]["reconciled"] is True
        slave = sample["pairs"][0]["result"]["hosts"][1]
        assert slave["authentication"] == "key", slave["authentication"]
    (document,) = json.loads((lab.folder / "out" / "result.json").read_text())
    assert (document["profile"], document["tputMetric"], document["samples"]) == ("TCP_STREAM", "Mb/s", 2)
    assert (document["serverNodeInfo"]["nodeName"], document["clientNodeInfo"]["nodeName"]) == ("n1", "n2")
    assert abs(document["throughput"] - sum(row["received_MBps"] for row in rows) * 8 / 2) < 1e-6
    assert (document["serverCPUCollected"], document["clientCPUCollected"]) == (True, True)
    assert 0 < document["clientPods"][0]["cpuUsage"] < 1000 and document["serverPodsMem"][0]["memUsage"] > 1e6
    assert document["netmodel"]["cluster"] == {"version": "v1.34.4", "nodes": 2, "kube_proxy": "iptables"}
    assert document["netmodel"]["mss"]["max"] in range(1400, 1461)  # of 1500 bytes
    (line,) = csv.DictReader(io.StringIO((lab.folder / "out" / "result.csv").read_text()))
    assert float(line["Avg Throughput"]) > 0
    suite = tree.parse(lab.folder / "out" / "junit.xml").getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("2", "0")


def test_its_own_namespace_is_restricted(lab: Lab) -> None:
    """All layouts that need no privilege run there, and the key of the run is its own."""
    process = lab.start("run", lab.file("tests:\n" + entry("rr", "TCP_RR", duration=3)), *ON, "-o", "out")
    slaves: list[Json] = []
    until(lambda: bool(slaves.extend(objects("pods", "-A", "-l", "netmodel.io/role=server")) or slaves), what="a slave")
    (space,) = objects("namespaces", "-l", "netmodel.io/run")
    assert space["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"
    (secret,) = objects("secrets", "-A", "-l", "netmodel.io/run")
    (pod,) = slaves
    required = pod["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert required["nodeSelectorTerms"][0]["matchFields"][0]["values"] == ["n1"]
    args = pod["spec"]["containers"][0]["args"]
    assert {"10.96.0.0/16", "10.244.2.0/24", "10.200.0.12"} <= set(args[args.index("--allow-peer") + 1].split(","))
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert secret["data"]["key"] not in out + err
    assert not kubectl("get", "namespaces", "-l", "netmodel.io/run", "-o", "name")


def test_a_spec_of_ones_own(lab: Lab, tests_space: tuple[str, str]) -> None:
    lab.file("securityContext: {runAsUser: 1234}\nhostAliases: [{ip: 192.0.2.1, hostnames: [a]}]\n", "spec.yml")
    words = (lab.file("tests:\n" + entry("one", "TCP_RR")), *ON, *tests_space, "--pod-spec", "spec.yml")
    done = lab("run", *words, "--keep", "always", "-o", "out")
    assert done.returncode == 0, done.stderr
    run = json.loads((lab.folder / "out" / "k8s.json").read_text())["settings"]["run"]
    pods = objects("pods", "-n", tests_space[1], "-l", f"netmodel.io/run={run}")
    assert [pod["spec"]["securityContext"]["runAsUser"] for pod in pods] == [1234, 1234]
    assert lab("clean", run).returncode == 0
