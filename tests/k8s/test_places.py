# SPDX-License-Identifier: Apache-2.0
"""Which way traffic goes, where both ends are, and who sends to whom: each seen in what the samples say."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from conftest import ON, Lab, entry, kubectl, until
from names import served
from test_ends import begun
from test_paths import whole

Json = dict[str, Any]
ZONE = "topology.kubernetes.io/zone"
MIXED = ("host-to-pod", "pod-to-host", "nodeport", "hairpin")
OTHERS = ("pod", "host", "service")


def samples(lab: Lab, name: str = "out") -> list[Json]:
    """Of each sample that counts its pairs: the facts of the cluster, and netmodel's result."""
    paths = sorted((lab.folder / name / "samples").iterdir())
    return [json.loads(path.read_text())["pairs"] for path in paths]


def addresses(node: str) -> str:
    """What the addresses of a node's pods begin with."""
    return f"10.244.{node[1:]}."


def seen(pairs: list[Json]) -> tuple[Json, Json, Json]:
    """Both ends, and where the master has dialled."""
    (pair,) = pairs
    return pair["k8s"]["server"], pair["k8s"]["client"], pair["k8s"]["dialled"]


def test_paths_that_are_neither_pod_nor_host_alone(lab: Lab, open_space: tuple[str, str]) -> None:
    text = "tests:\n" + entry("one", "TCP_RR")
    done = lab("run", lab.file(text), *ON, *open_space, "-o", "out", "--paths", ",".join(MIXED))
    assert done.returncode == 0, done.stderr
    assert [row["d.network"] for row in lab.rows()] == list(MIXED)
    to_pod, to_host, node_port, hairpin = samples(lab)
    for pairs, networks in ((to_pod, (False, True)), (to_host, (True, False)), (node_port, (False, False))):
        server, client, _ = seen(pairs)
        assert (server["host_network"], client["host_network"]) == networks
        assert (server["node"], client["node"]) == ("n1", "n2")
    assert seen(to_pod)[2]["address"].startswith(addresses("n1"))
    assert seen(to_host)[2]["address"] == "10.200.0.11"
    server, client, dialled = seen(node_port)
    assert (dialled["address"], dialled["node"]) == ("10.200.0.12", "n2") and dialled["data_port"] >= 30000
    assert dialled["control"].startswith(addresses("n1"))  # of the pod: data alone go through the node's port
    server, client, dialled = seen(hairpin)
    assert server["uid"] == client["uid"] and server["node"] == client["node"] and dialled["address"].startswith("10.96.")
    assert dialled["control"] == dialled["address"]
    for (pair,) in samples(lab):
        hosts = {host["role"]: host for host in pair["result"]["hosts"]}
        assert hosts["slave"]["authentication"] == "key"
        assert hosts["master"]["counts"]["bytes_sent"] == hosts["slave"]["counts"]["bytes_received"] > 0


@pytest.mark.long
@pytest.mark.parametrize("profile", ["TCP_STREAM", "UDP_RR", "TCP_CRR"])
def test_every_path_on_one_node_and_on_two(lab: Lab, open_space: tuple[str, str], profile: str) -> None:
    paths = (*OTHERS, *MIXED[:-1])
    words = ("--paths", ",".join(paths), "--placement", "same-node,other-node", "-o", "out", "--tcp-tolerance", "1000")
    done = lab("run", lab.file("tests:\n" + entry("one", profile)), *ON, *open_space, *words)
    assert done.returncode == 0, done.stderr
    rows = lab.rows()
    assert [(row["d.network"], row["d.place"]) for row in rows] == [
        (path, place) for path in paths for place in ("same-node", "other-node")
    ]
    assert {(row["d.place"], row["relation"]) for row in rows} == {
        ("same-node", "same node"),
        ("other-node", "other node"),
    }
    for row, pairs in zip(rows, samples(lab), strict=True):
        server, _, dialled = seen(pairs)
        if row["d.network"] == "nodeport":
            assert dialled["node"] != server["node"]
        is_parted = row["d.network"] in ("service", "nodeport")
        assert (dialled["control"] != dialled["address"]) == is_parted
        assert not is_parted or dialled["control"].startswith(addresses(server["node"]))


def test_the_plan_is_what_the_cluster_takes(lab: Lab, open_space: tuple[str, str]) -> None:
    paths = ",".join((*OTHERS, *MIXED, "headless", "loadbalancer"))
    done = lab("plan", lab.file("tests:\n" + entry("one", "UDP_RR")), *ON, *open_space, "--paths", paths)
    assert done.returncode == 0, done.stderr
    made = kubectl("apply", "--dry-run=server", "--validate=strict", "-f", "-", "-o", "name", text=done.stdout).split()
    kinds = [name.partition("/")[0] for name in made]
    assert [kinds.count(kind) for kind in ("secret", "pod", "service", "job.batch")] == [1, 2, 5, 9], made


@pytest.fixture
def zones() -> Iterator[None]:
    kubectl("label", "nodes", "n1", f"{ZONE}=a")
    kubectl("label", "nodes", "n2", f"{ZONE}=b")
    yield
    kubectl("label", "nodes", "n1", "n2", f"{ZONE}-")


def test_placements_are_those_of_the_nodes(lab: Lab, tests_space: tuple[str, str], zones: None) -> None:
    text = "tests:\n" + entry("one", "TCP_RR")
    words = (*ON, *tests_space, "--placement")
    done = lab("run", lab.file(text), *words, "same-node,other-zone", "-o", "out")
    assert done.returncode == 0, done.stderr
    assert [(row["server_node"], row["client_node"], row["relation"]) for row in lab.rows()] == [
        ("n1", "n1", "same node"),
        ("n1", "n2", "other zone"),
    ]
    documents = json.loads((lab.folder / "out" / "result.json").read_text())
    assert [(one["local"], one["acrossAZ"]) for one in documents] == [(True, False), (False, True)]
    done = lab("run", "tests.yml", *words, "same-zone", "-o", "none")
    assert done.returncode == 3 and f"two nodes of one zone (label {ZONE}) are needed" in done.stderr


@pytest.mark.long
def test_a_zone_that_changes_in_mid_run(lab: Lab, tests_space: tuple[str, str], zones: None) -> None:
    text = "tests:\n" + entry("one", "TCP_RR", duration=3)
    process = lab.start("run", lab.file(text), *ON, *tests_space, "--placement", "other-zone", "-o", "out")
    until(begun, what="a client")
    kubectl("label", "nodes", "n2", f"{ZONE}=a", "--overwrite")
    _, err = process.communicate(timeout=60)
    assert process.returncode == 4, err
    assert "n1 and n2 are other node, same zone, and not other-zone" in err
    assert [row["ok"] for row in lab.rows()] == [False]


def test_many_to_one(lab: Lab, tests_space: tuple[str, str]) -> None:
    """Through a Service, as there each client needs a port of its own."""
    text = "tests:\n" + entry("one", "TCP_STREAM", duration=10, more="service: true")
    words = ("--pattern", "many-to-one", "--pairs", "3", "-o", "out")
    done = lab("run", lab.file(text), *ON, *tests_space, *words)
    assert done.returncode == 0, done.stderr
    whole(lab)
    (pairs,) = samples(lab)
    assert len({pair["k8s"]["server"]["uid"] for pair in pairs}) == 1
    assert len({pair["k8s"]["client"]["uid"] for pair in pairs}) == 3
    assert [pair["k8s"]["dialled"]["data_port"] for pair in pairs] == [21000, 21001, 21002]
    (row,) = lab.rows()
    assert row["pairs"] == 3 and row["start_skew_s"] <= 2
    each = [pair["result"]["totals"]["throughput"]["to_slaves"]["received_bits_per_s"] for pair in pairs]
    assert abs(row["received_MBps"] * 8e6 / sum(each) - 1) < 1e-6


def test_from_each_node_to_each_other(lab: Lab, tests_space: tuple[str, str]) -> None:
    text = "tests:\n" + entry("one", "TCP_RR")
    done = lab("run", lab.file(text), *ON, *tests_space, "--pattern", "matrix", "-o", "out")
    assert done.returncode == 0, done.stderr
    assert [(row["d.place"], row["client_node"], row["server_node"]) for row in lab.rows()] == [
        ("n2 > n1", "n2", "n1"),
        ("n1 > n2", "n1", "n2"),
    ]
    assert "one: TCP_RR 1024 B, parallelism 1, 1 s, pod: Throughput (OP/s)" in done.stdout
    assert "| CLIENT \\ SERVER | n1 " in done.stdout
    page = (lab.folder / "out" / "report.html").read_text()
    assert page.count("color-mix(") == 4


@pytest.mark.long
def test_all_nodes_at_the_same_time(lab: Lab, tests_space: tuple[str, str]) -> None:
    text = "tests:\n" + entry("one", "TCP_STREAM", duration=10)
    done = lab("run", lab.file(text), *ON, *tests_space, "--pattern", "all-to-all", "-o", "out")
    assert done.returncode == 0, done.stderr
    whole(lab)
    (row,) = lab.rows()
    assert (row["pairs"], row["server_node"], row["client_node"]) == (2, "n1, n2", "n2, n1")


@pytest.fixture
def names() -> Iterator[None]:
    with served():
        yield


@pytest.mark.long
def test_a_headless_service(lab: Lab, tests_space: tuple[str, str], names: None) -> None:
    words = ("--paths", "headless", "-o", "out")
    done = lab("run", lab.file("tests:\n" + entry("one", "TCP_RR")), *ON, *tests_space, *words)
    assert done.returncode == 0, done.stderr
    (pairs,) = samples(lab)
    assert seen(pairs)[2]["address"].endswith("-s0-headless.tests.svc")


@pytest.mark.long
def test_no_load_balancer(lab: Lab, tests_space: tuple[str, str]) -> None:
    words = ("--paths", "loadbalancer", "--start-timeout", "3", "-o", "out")
    done = lab("run", lab.file("tests:\n" + entry("one", "TCP_RR")), *ON, *tests_space, *words)
    assert done.returncode == 3, done.stderr
    assert "no load balancer has given Service nm-" in done.stderr and "an address within 3 s" in done.stderr


@pytest.mark.long
def test_a_load_balancer(lab: Lab, tests_space: tuple[str, str]) -> None:
    """What a cloud's controller would do is done here: it writes an address, and kube-proxy does the rest."""
    words = ("--paths", "loadbalancer", "-o", "out")
    process = lab.start("run", lab.file("tests:\n" + entry("one", "TCP_RR")), *ON, *tests_space, *words)
    until(lambda: "balanced" in kubectl("get", "services", "-n", "tests", "-o", "name"), what="a Service")
    (name,) = [one for one in kubectl("get", "services", "-n", "tests", "-o", "name").split() if "balanced" in one]
    status = '{"status":{"loadBalancer":{"ingress":[{"ip":"198.51.100.7"}]}}}'
    kubectl("patch", name, "-n", "tests", "--subresource=status", "--type=merge", "-p", status)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    (pairs,) = samples(lab)
    server, _, dialled = seen(pairs)
    assert dialled["address"] == "198.51.100.7" and dialled["control"].startswith(addresses(server["node"]))
