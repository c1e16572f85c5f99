# SPDX-License-Identifier: Apache-2.0
"""A real Prometheus, which scrapes the nodes and kubelets of the cluster, is asked what a run has used."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import quote

import pytest

from conftest import FOLDER, ON, Lab, entry, kubectl, node_leader, until

PROGRAMS = Path(os.environ.get("NETMODEL_K8S_PROMETHEUS", "/nonexistent")) / "usr" / "bin"
NODES = {"n1": "10.200.0.11", "n2": "10.200.0.12"}
ADDRESS = f"{NODES['n1']}:9090"
CONFIG = """
global: {{scrape_interval: 1s}}
scrape_configs:
  - job_name: node
    static_configs: [{{targets: [{nodes}]}}]
  - job_name: kubelet
    scheme: https
    metrics_path: /metrics/cadvisor
    authorization: {{credentials: "{token}"}}
    tls_config: {{insecure_skip_verify: true}}
    static_configs: [{{targets: [{kubelets}]}}]
"""


def token() -> str:
    """The administrator's, whom kubelets let in."""
    for line in (FOLDER / "w" / "pki" / "tokens.csv").read_text().splitlines():
        if line.split(",")[1] == "admin":
            return line.split(",")[0]
    raise AssertionError


def asked(query: str) -> list[object]:
    with urllib.request.urlopen(f"http://{ADDRESS}/api/v1/query?query={quote(query)}", timeout=5) as answer:
        return list(json.load(answer)["data"]["result"])


def scrapes() -> bool:
    try:
        return len(asked("up == 1")) == 2 * len(NODES) and len(asked("count_over_time(up[5s]) > 2")) == 2 * len(NODES)
    except OSError:
        return False


@pytest.fixture
def prometheus(tmp_path: Path) -> Iterator[str]:
    """In the network of a node, with an exporter on each."""
    if not (PROGRAMS / "prometheus").exists():
        pytest.skip("the packages of Prometheus could not be had")
    targets = [", ".join(f'"{address}:{port}"' for address in NODES.values()) for port in (9100, 10250)]
    config = tmp_path / "prometheus.yml"
    config.write_text(CONFIG.format(nodes=targets[0], kubelets=targets[1], token=token()))
    with ExitStack() as stack, (tmp_path / "log").open("w") as log:

        def start(*words: str | Path) -> None:
            process = subprocess.Popen(list(map(str, words)), stdout=log, stderr=log)
            stack.callback(process.wait, 30)
            stack.callback(process.terminate)

        for node, address in NODES.items():
            inside = ("nsenter", "-t", node_leader(node), "-n", "-p")
            only = ("--collector.disable-defaults", "--collector.cpu", f"--web.listen-address={address}:9100")
            start(*inside, PROGRAMS / "prometheus-node-exporter", *only)
        where = (f"--config.file={config}", f"--storage.tsdb.path={tmp_path / 'data'}")
        start(
            "nsenter", "-t", node_leader("n1"), "-n", PROGRAMS / "prometheus", *where, f"--web.listen-address={ADDRESS}"
        )
        until(scrapes, 60, "a scrape of each node")
        yield f"http://{ADDRESS}"


# The API server leads to pods alone: one that does nothing stands for Prometheus, in the network of its node.
SERVICE = """
apiVersion: v1
kind: Service
metadata: {name: prometheus, namespace: default, labels: {app.kubernetes.io/name: prometheus}}
spec: {selector: {app: prometheus}, ports: [{name: web, port: 9090}]}
---
apiVersion: v1
kind: Pod
metadata: {name: prometheus, namespace: default, labels: {app: prometheus}}
spec:
  nodeName: n1
  hostNetwork: true
  containers: [{name: pause, image: "cluster.test/pause:1", imagePullPolicy: Never}]
"""
PROXY = "/api/v1/namespaces/default/services/prometheus:9090/proxy/-/ready"


def is_reached() -> bool:
    return "Ready" in kubectl("get", "--raw", PROXY, check=False)


def test_a_real_prometheus(lab: Lab, tests_space: tuple[str, str], prometheus: str) -> None:
    kubectl("apply", "-f", "-", text=SERVICE)
    try:
        until(is_reached, what="the Service of Prometheus")
        # Kubelets look at their containers each 10 to 15 seconds, and rates need two looks.
        given, found_there = ("given", ("--prom", prometheus, "--metrics"), 35), ("found", ("--prom", "auto"), 6)
        for name, words, seconds in (given, found_there):
            text = "tests:\n" + entry("one", "TCP_RR", duration=seconds)
            done = lab("run", lab.file(text), *ON, *tests_space, *words, "-o", name)
            assert done.returncode == 0, done.stderr
            assert ("| Node CPU Utilization" in done.stdout) == ("--metrics" in words)
            (found,) = json.loads((lab.folder / name / "result.json").read_text())
            for end in ("server", "client"):
                inside, outside = found[f"{end}CPU"], found["netmodel"]["prometheus"][f"{end}CPU"]
                assert len(outside) == 8
                # The kernel of a virtual machine may account for less than its time, as it misses ticks.
                assert 80 < sum(outside.values()) < 100 + 100 / seconds
                # The nodes are one machine; windows with a scrape each second are not quite the same.
                assert abs(inside["idleCPU"] - outside["idleCPU"]) < 25
                why = found["netmodel"]["notCollected"][end]
                assert "http://" in why["vswitch_cpu"] or "service prometheus" in why["vswitch_cpu"]
                pods = {one["podName"]: one["cpuUsage"] or 0.0 for one in found[f"{end}Pods"]}
                assert max(pods.values()) > 1 and any(pod.startswith("nm-") for pod in pods), pods
                if (name, end) == ("given", "server"):  # it was there for some time before
                    assert set(why) == {"vswitch_cpu", "vswitch_memory"}, why
            with (lab.folder / name / "cpu-result.csv").open() as file:
                assert [row["Role"] for row in csv.DictReader(file)] == ["Server", "Client"]
    finally:
        kubectl("delete", "-f", "-", "--grace-period=1", text=SERVICE)


def test_one_that_does_not_answer(lab: Lab) -> None:
    done = lab("run", lab.file("tests:\n" + entry("one", "TCP_RR")), *ON, "--prom", "http://10.200.0.1:1", "-o", "out")
    assert done.returncode == 3 and "http://10.200.0.1:1 does not answer" in done.stderr, done.stderr
    assert not (lab.folder / "out").exists()
