# SPDX-License-Identifier: Apache-2.0
"""netmodel-lab k8s: the objects that are made: pods, Jobs, Services, and what goes to them."""

from __future__ import annotations

from dataclasses import replace

import pytest

pytest.importorskip("kubernetes", reason="the Kubernetes client is not installed; requirements-dev.txt has it")

from k8s_examples import PAIR, SERVED, STREAM, THREE, of, placement_of

from netmodel_lab.k8s import manifests, placement
from netmodel_lab.k8s.netperf_file import Test
from netmodel_lab.k8s.paths import PATHS
from netmodel_lab.k8s.settings import Where, points
from netmodel_lab.problems import UsageProblem

DIAL = manifests.Dial("10.0.0.1", 20000)


def test_pods_need_no_privilege() -> None:
    """All that the level restricted asks for."""
    settings = of(STREAM)
    (point, *_) = points(settings)
    job = manifests.client(settings, point, 0, PAIR, DIAL, [], "1")
    slave = manifests.server(settings, 0, "pod", "n1", ["10.0.0.0/8"], "1")["spec"]
    for spec in (slave, job["spec"]["template"]["spec"]):
        assert spec["securityContext"]["runAsNonRoot"] is True
        assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert spec["automountServiceAccountToken"] is False
        assert spec["enableServiceLinks"] is False
        (container,) = spec["containers"]
        assert container["securityContext"]["allowPrivilegeEscalation"] is False
        assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
        assert "hostNetwork" not in spec
    assert slave["activeDeadlineSeconds"] > 0
    assert job["spec"]["activeDeadlineSeconds"] >= 10
    assert (job["spec"]["backoffLimit"], job["spec"]["ttlSecondsAfterFinished"]) == (0, 3600)


def test_each_object_has_the_label_of_its_run_and_when_it_expires() -> None:
    settings = of(STREAM, SERVED, networks=("pod", "host"))
    some = points(settings)
    found = [
        *manifests.namespaces(settings, ["pod", "host"], "77"),
        manifests.secret(settings, "n", "key", "77"),
        manifests.server(settings, 0, "host", "n1", [], "77"),
        manifests.service(settings, 0, 1, "service", ["UDP"], "77"),
        *(manifests.client(settings, point, 0, PAIR, DIAL, [], "77") for point in some),
    ]
    for item in found:
        assert item["metadata"]["labels"][manifests.RUN] == "abcd1234"
        assert item["metadata"]["labels"]["app.kubernetes.io/managed-by"] == "netmodel-lab"
        assert item["metadata"]["annotations"][manifests.EXPIRES] == "77"
    levels = [item["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] for item in found[:2]]
    assert levels == ["restricted", "privileged"]


def test_a_service_is_that_of_one_slave() -> None:
    found = manifests.service(of(SERVED), 3, 2, "service", ["UDP"], "1")["spec"]
    assert (found["type"], found["selector"][manifests.SLAVE]) == ("ClusterIP", "3")
    assert [(one["port"], one["protocol"]) for one in found["ports"]] == [
        (20000, "TCP"),
        (21000, "TCP"),
        (21000, "UDP"),
        (21001, "TCP"),
        (21001, "UDP"),
    ]
    (point,) = points(of(SERVED))
    assert "port=21001" in manifests.client_args(point, manifests.Dial("10.96.0.9", 20000, 21001))


def test_services_of_each_path() -> None:
    """A node's port is the one that the slave listens on; a headless Service stands for the pod's own address."""
    settings = of(STREAM)
    node = manifests.service(settings, 0, 1, "nodeport", ["TCP"], "1")["spec"]
    (data,) = [one for one in node["ports"] if one["name"] != "control"]
    assert node["type"] == "NodePort"
    assert data["port"] == data["targetPort"] == data["nodePort"] == manifests.data_port(settings, "nodeport", 0, 1)
    assert manifests.data_port(settings, "nodeport", 0, 1, 1) != data["port"]
    headless = manifests.service(settings, 0, 1, "headless", ["TCP"], "1")["spec"]
    assert (headless["clusterIP"], [one["port"] for one in headless["ports"]]) == ("None", [20000])
    assert manifests.service(settings, 0, 1, "loadbalancer", ["TCP"], "1")["spec"]["type"] == "LoadBalancer"
    names = {
        manifests.service(settings, 0, 1, name, [], "1")["metadata"]["name"] for name in PATHS if PATHS[name].service
    }
    assert len(names) == 5


def test_node_ports_of_a_run_do_not_overlap() -> None:
    """Wherever the first is, and up to as many as nodes have."""
    for run in range(50):
        settings = replace(of(STREAM), run=str(run))
        ports = [manifests.data_port(settings, "nodeport", i, 9) + lane for i in range(300) for lane in range(9)]
        assert len(set(ports)) == 2700 and min(ports) >= 30000 and max(ports) <= 32767
    where = Where(pattern="many-to-one", pairs=2769)
    pairs = tuple(placement.Pair("a", "b", 0, i) for i in range(2769))
    with pytest.raises(UsageProblem, match="2769 ports are needed, and nodes have 2768"):
        manifests.services(points(of(STREAM, networks=("nodeport",), where=where)), {"other-node": pairs})


def test_each_end_has_the_network_of_its_path() -> None:
    settings = of(STREAM, networks=("host-to-pod", "pod-to-host"))
    first, second = points(settings)[:2]
    places: placement.Places = {"other-node": (PAIR,)}
    found = [manifests.slaves([one], places) for one in (first, second)]
    assert found == [[(0, "pod", "netmodel")], [(0, "host", "netmodel")]]
    jobs = [manifests.client(settings, one, 0, PAIR, DIAL, [], "1") for one in (first, second)]
    assert [job["metadata"]["namespace"] for job in jobs] == ["netmodel-abcd1234-host", "netmodel-abcd1234"]
    assert [job["spec"]["template"]["spec"].get("hostNetwork") for job in jobs] == [True, None]
    assert manifests.layouts([first]) == ["pod", "host"]


def test_slaves_in_one_node_s_network_have_ports_of_their_own() -> None:
    ports = {manifests.control_port(of(STREAM), slave, "host") for slave in range(30)}
    assert len(ports) == 30
    assert manifests.control_port(of(STREAM), 7, "pod") == 20000


def test_a_hairpin_has_both_ends_in_one_pod() -> None:
    where = Where(placements=("other-node", "same-pod"))
    every = points(of(STREAM, networks=("pod", "hairpin"), where=where))
    assert {(one.network, one.place) for one in every} == {("pod", "other-node"), ("hairpin", "same-pod")}
    (point, *_) = [one for one in every if one.network == "hairpin"]
    template = manifests.client(of(STREAM), point, 0, PAIR, DIAL, ["10.0.0.0/8"], "99")["spec"]["template"]
    (slave,) = template["spec"]["initContainers"]
    assert (slave["name"], slave["restartPolicy"], slave["args"][:3]) == ("slave", "Always", ["-s", "--port", "20000"])
    selector = manifests.service(of(STREAM), 0, 1, "hairpin", ["TCP"], "1")["spec"]["selector"]
    assert selector.items() <= template["metadata"]["labels"].items()
    places = placement_of(THREE, where)
    assert places["same-pod"] == (placement.Pair("a", "a", 1),)
    assert manifests.slaves(every, places) == [(0, "pod", "netmodel")]
    assert manifests.services(every, places) == [manifests.Way(1, "hairpin")]


def test_profiles_that_the_image_has_not_go_with_the_run() -> None:
    settings = of(Test("lat", "TCP_STREAM_LAT", 1, 1, 64, 1))
    files = manifests.config_map(settings, "n", "1")
    assert files and list(files["data"]) == ["tcp_stream_lat.xml"]
    (point,) = points(settings)
    assert "/profiles/tcp_stream_lat.xml" in manifests.client_args(point, DIAL)
    assert manifests.config_map(of(STREAM), "n", "1") is None
