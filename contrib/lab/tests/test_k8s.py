# SPDX-License-Identifier: Apache-2.0
"""netmodel-lab k8s without a cluster: test lists, objects, placement, reasons, figures and verdicts."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("kubernetes", reason="the Kubernetes client is not installed; requirements-dev.txt has it")

from conftest import NETMODEL, Lab

from netmodel_lab.k8s import (
    figures,
    manifests,
    matrix,
    netperf_file,
    options,
    outputs,
    placement,
    report,
    results,
    rules,
    waits,
)
from netmodel_lab.k8s.catalog import CATALOG
from netmodel_lab.k8s.figures import Cell, mean
from netmodel_lab.k8s.netperf_file import Test
from netmodel_lab.k8s.paths import PATHS
from netmodel_lab.k8s.problems import ApiProblem, MeasurementProblem, SkewProblem
from netmodel_lab.k8s.settings import Limits, Pods, Settings, Where, as_json, from_json, points
from netmodel_lab.problems import EnvironmentProblem, UsageProblem

Json = dict[str, Any]
STREAM = Test("TCPStream", "TCP_STREAM", 10, 3, 1024, 1)
RR = Test("rr", "TCP_RR", 5, 2, 64, 4, burst=3)
PAIR = placement.Pair("n1", "n2")
DIAL = manifests.Dial("10.0.0.1", 20000)
ENDS = {"server": {"node": "n1"}, "client": {"node": "n2"}, "relation": "other node"}
SERVED = Test("served", "UDP_RR", 5, 1, 64, 1, service=True)


def of(*tests: Test, **more: Any) -> Settings:
    networks = more.pop("networks", ("pod",))
    where = more.pop("where", Where())
    pods = more.pop("pods", Pods("netmodel:1"))
    return Settings("abcd1234", "some-uuid", tests, networks, pods, where, Limits(), **more)


# --- lists ---

V2 = """tests:
  - TCPStream:
    profile: "TCP_STREAM"
    duration: 10
    samples: 3
    messagesize: 1024
    parallelism: 1
  - bursts:
    profile: TCP_RR
    duration: 1
    samples: 1
    messagesize: 1
    parallelism: 2
    burst: 3
    service: true
"""
V1 = """TCPStream:
  profile: TCP_STREAM
  duration: 10
  samples: 3
  messagesize: 1024
  parallelism: 1
"""


def read(tmp_path: Path, text: str) -> list[Test]:
    path = tmp_path / "list.yml"
    path.write_text(text)
    return netperf_file.read(path)


def mistakes(tmp_path: Path, text: str) -> list[str]:
    with pytest.raises(UsageProblem) as caught:
        read(tmp_path, text)
    return [line.removeprefix(f"{tmp_path}/") for line in caught.value.lines]


def test_both_forms_of_lists(tmp_path: Path) -> None:
    first, second = read(tmp_path, V2)
    assert first == STREAM
    assert (second.name, second.burst, second.service, second.parallelism) == ("bursts", 3, True, 2)
    assert read(tmp_path, V1) == [STREAM]


def test_all_mistakes_of_a_list_at_once(tmp_path: Path) -> None:
    text = """a:
  profile: tcp_stream
  duration: 0
  samples: 1
  messagesize: 1
b:
  profile: XTCP_RRX
  duration: 1
  samples: true
  messagesize: 1
  parallelism: 1
  paralelism: 2
c:
  profile: UDP_CRR
  duration: 1
  samples: 1
  messagesize: 1
  parallelism: 1
d:
  profile: UDP_STREAM
  duration: 1
  samples: 1
  messagesize: 70000
  parallelism: 1
  burst: 2
"""
    found = mistakes(tmp_path, text)
    assert found == [
        "list.yml:2:12: a: profile: tcp_stream: there is no such profile; did you mean TCP_STREAM?",
        'list.yml:3:13: a: duration: "0": must be 1 to 86400',
        "list.yml:1:1: a: parallelism is missing",
        "list.yml:12:3: b: paralelism: there is no such key; did you mean parallelism?",
        "list.yml:7:12: b: profile: XTCP_RRX: there is no such profile; did you mean TCP_RR?",
        "list.yml:9:12: b: samples: true: must be 1 to 1000",
        "list.yml:14:12: c: profile: UDP_CRR: UDP has no connections that could be made anew for each request; "
        "UDP_RR is the same without",
        "list.yml:25:3: d: burst: has no effect on UDP_STREAM; it is of TCP_RR",
        "list.yml:23:16: d: messagesize: 70000: a datagram has at most 65507 bytes",
    ]


def test_lists_of_values_are_tests_of_all_combinations(tmp_path: Path) -> None:
    text = V1.replace("1024", "[64, 1024]").replace("parallelism: 1", "parallelism: [1, 4]")
    found = read(tmp_path, text.replace("TCP_STREAM", "[TCP_STREAM, UDP_STREAM]"))
    assert [(test.profile, test.messagesize, test.parallelism) for test in found] == [
        (profile, size, flows) for profile in ("TCP_STREAM", "UDP_STREAM") for size in (64, 1024) for flows in (1, 4)
    ]
    assert {test.name for test in found} == {"TCPStream"}
    assert mistakes(tmp_path, text.replace("64", "0")) == [
        'list.yml:5:16: TCPStream: messagesize: "0": must be 1 to 1073741824'
    ]
    assert mistakes(tmp_path, V1.replace("1024", "[]")) == [
        'list.yml:5:16: TCPStream: messagesize: "[]": must be 1 to 1073741824'
    ]
    assert mistakes(tmp_path, V1.replace("10", "[10]", 1)) == [
        'list.yml:3:13: TCPStream: duration: "[10]": must be 1 to 86400'
    ]


@pytest.mark.parametrize("text", ["", "tests: []", "- a", "a: 1", "tests:\n  - a: 1", "a: [", "a: {b: 1}\na: {b: 2}"])
def test_what_is_no_list(tmp_path: Path, text: str) -> None:
    assert mistakes(tmp_path, text)


def test_the_parameters_of_each_profile_are_known_to_netmodel(lab: Lab) -> None:
    """Those that stock profiles take, and those of ours."""
    from netmodel_lab.k8s.settings import PROFILES
    from netmodel_lab.program import Program

    program = Program(NETMODEL)
    for name, entry in CATALOG.items():
        test = Test("t", name, 1, 1, 512, 2, messagereadsize=8, burst=2 if entry.has_burst else 0)
        (point,) = points(of(test))
        profile = str(PROFILES / entry.profile) if entry.profile.endswith(".xml") else entry.profile
        assert program.check(profile, point.params("192.0.2.1", 21000)) == [], name
    assert points(of(RR))[0].params("a", None)["pipeline"] == "4"


# --- points ---


def test_samples_are_interleaved_and_a_service_has_no_host_network() -> None:
    found = points(of(STREAM, SERVED, networks=("pod", "host")))
    assert [(point.test.name, point.network, point.sample) for point in found] == [
        ("TCPStream", "pod", 1),
        ("TCPStream", "host", 1),
        ("served", "service", 1),
        ("TCPStream", "pod", 2),
        ("TCPStream", "host", 2),
        ("TCPStream", "pod", 3),
        ("TCPStream", "host", 3),
    ]
    assert [point.seq for point in found] == list(range(1, 8))


def test_settings_come_back_from_the_folder() -> None:
    before = of(
        STREAM, RR, networks=("pod", "host"), pods=Pods("i", tolerations=({"key": "a"},)), allow_peers=("::/0",)
    )
    assert from_json(json.loads(json.dumps(as_json(before)))) == before


# --- objects ---


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


# --- nodes ---


def node(name: str, *, zone: str = "", ready: bool = True, labels: Json | None = None, **spec: Any) -> Json:
    marks = {**(labels or {}), **({placement.ZONE: zone} if zone else {})}
    condition = {"type": "Ready", "status": "True" if ready else "Unknown"}
    return {"metadata": {"name": name, "labels": marks}, "spec": spec, "status": {"conditions": [condition]}}


def chosen(nodes: list[Json], placement: str = "other-node", **where: Any) -> list[tuple[str, str]]:
    (found,) = placement_of(nodes, Where(placements=(placement,), **where)).values()  # type: ignore[arg-type]
    return [(pair.server, pair.client) for pair in found]


def placement_of(nodes: list[Json], where: Where) -> placement.Places:
    return placement.choose(nodes, where, Pods("i"))


THREE = [node("a", zone="x"), node("b", zone="x"), node("c", zone="y")]


def test_nodes_of_a_pair() -> None:
    assert chosen(THREE) == [("a", "b")]
    assert chosen(THREE, "same-node") == [("a", "a")]
    assert chosen(THREE, "other-zone") == [("a", "c")]
    assert chosen(THREE, "same-zone", server="b") == [("b", "a")]
    assert chosen(THREE, server="c") == [("c", "a")]
    assert chosen(THREE, pairs=3) == [("a", "b"), ("b", "c"), ("c", "a")]
    hinted = [node("a"), node("b", labels={"netperf": "server"}), node("c", labels={"netperf": "client"})]
    assert chosen(hinted) == [("b", "c")]


def test_several_placements_have_slaves_of_their_own() -> None:
    found = placement_of(THREE, Where(placements=("same-node", "other-zone")))
    assert {name: [(pair.server, pair.client) for pair in pairs] for name, pairs in found.items()} == {
        "same-node": [("a", "a")],
        "other-zone": [("a", "c")],
    }
    assert placement.stands(found) == {0: placement.Stand("a", 1), 1: placement.Stand("a", 1)}


def test_many_to_one_has_one_slave() -> None:
    (pairs,) = placement_of(THREE, Where(pattern="many-to-one", pairs=3)).values()
    assert [(pair.server, pair.client, pair.slave, pair.lane) for pair in pairs] == [
        ("a", "b", 0, 0),
        ("a", "c", 0, 1),
        ("a", "b", 0, 2),
    ]
    assert placement.stands({"x": pairs}) == {0: placement.Stand("a", 3)}


def test_patterns_over_every_node() -> None:
    nodes = [*THREE, node("d", ready=False)]
    where = Where(pattern="matrix")
    names = placement.every_node(nodes, where, Pods("i"))
    assert names == ("a", "b", "c")
    where = replace(where, nodes=names)
    places = placement_of(nodes, where)
    assert list(places) == where.places == ["b > a", "c > a", "a > b", "c > b", "a > c", "b > c"]
    assert placement.stands(places) == {i: placement.Stand(name, 1) for i, name in enumerate(names)}
    (pairs,) = placement_of(nodes, replace(where, pattern="all-to-all")).values()
    assert len(pairs) == 6 and placement.stands({"x": pairs})[0] == placement.Stand("a", 2)
    with pytest.raises(EnvironmentProblem, match="node c is not in the cluster any more"):
        placement_of(nodes[:2], where)
    with pytest.raises(EnvironmentProblem, match="two nodes are needed, and 1 can have pods"):
        placement.every_node(nodes[2:], Where(pattern="matrix"), Pods("i"))


def test_a_node_s_port_is_dialled_where_the_server_is_not() -> None:
    pair = placement.Pair("a", "b")
    assert placement.door(THREE, pair)["metadata"]["name"] == "b"
    assert placement.door(THREE, placement.Pair("a", "a"))["metadata"]["name"] == "b"
    assert placement.door(THREE[:1], placement.Pair("a", "a"))["metadata"]["name"] == "a"


def test_a_zone_that_has_changed_has_no_sample() -> None:
    assert placement.verify_relation(THREE[0], THREE[2], "other-zone") == "other zone"
    assert placement.verify_relation(THREE[0], THREE[2], "c > a") == "other zone"
    with pytest.raises(MeasurementProblem, match="a and b are other node, same zone, and not other-zone"):
        placement.verify_relation(THREE[0], THREE[1], "other-zone")


def test_samples_of_one_place_are_of_the_same_nodes() -> None:
    places: placement.Places = {"other-node": (PAIR,)}
    placement.verify_nodes(places, {"other-node": [("n1", "n2")]})
    placement.verify_nodes(places, {"other-node": [(None, "n2")]})
    with pytest.raises(EnvironmentProblem, match="its samples are of n3 > n1, and the others would be of n2 > n1"):
        placement.verify_nodes(places, {"other-node": [("n1", "n3")]})


def test_a_slave_outside_has_a_place_of_its_own() -> None:
    assert chosen(THREE[:1], "external") == [("a", "a")]
    assert chosen(THREE, "external", client="b") == [("b", "b")]


def test_why_nodes_are_left_out() -> None:
    taint = {"key": "only", "effect": "NoSchedule"}
    nodes = [node("a", ready=False), node("b", unschedulable=True), node("c", taints=[taint]), node("d")]
    with pytest.raises(EnvironmentProblem) as caught:
        chosen(nodes)
    assert caught.value.lines == [
        "two nodes are needed, and 1 of 4 nodes can have pods",
        "node a is not ready",
        "node b is cordoned",
        "node c has the taint only:NoSchedule, which --toleration only would bear",
    ]
    with pytest.raises(EnvironmentProblem, match="two zones"):
        chosen([node("a", zone="x"), node("b", zone="x"), node("c")], "other-zone")
    with pytest.raises(EnvironmentProblem, match="no such node; did you mean node1"):
        chosen([node("node1"), node("node2")], server="nod1")
    tolerant = Pods("i", tolerations=({"key": "only", "operator": "Exists"},))
    assert placement.choose([node("c", taints=[taint]), node("d")], Where(), tolerant)


def test_a_pod_on_another_node_has_no_sample() -> None:
    pod = {"metadata": {"name": "p", "uid": "1"}, "spec": {"nodeName": "a"}}
    assert placement.verify(pod, "a") == "1"
    with pytest.raises(MeasurementProblem, match="on node a, and not on b"):
        placement.verify(pod, "b")
    with pytest.raises(MeasurementProblem, match="another one"):
        placement.verify(pod, "a", "2")


# --- reasons ---


def pod(**status: Any) -> Json:
    return {"metadata": {"name": "p"}, "spec": {}, "status": status}


def waiting(reason: str, message: str = "") -> Json:
    return pod(containerStatuses=[{"image": "i", "state": {"waiting": {"reason": reason, "message": message}}}])


def test_why_a_pod_does_not_start() -> None:
    never = waits.trouble(waiting("ErrImageNeverPull", "not present"), Limits())
    assert never and never.patience_s == 0 and "ErrImageNeverPull: not present" in never.text
    pulled = waits.trouble(waiting("ImagePullBackOff", "Back-off"), Limits())
    assert pulled and pulled.patience_s > 0 and pulled.text == "image i cannot be pulled: Back-off"
    message = "0/2 nodes are available: 2 Insufficient cpu."
    unplaced = pod(conditions=[{"type": "PodScheduled", "status": "False", "message": message}])
    found = waits.trouble(unplaced, Limits(schedule_s=7))
    assert found == waits.Trouble(f"cannot be scheduled: {message}", 7)
    assert waits.trouble(waiting("ContainerCreating"), Limits()) is None


def test_how_a_pod_has_ended() -> None:
    assert waits.ended(pod(phase="Running")) is None
    assert waits.ended(pod(phase="Succeeded")) == ""
    stopped = [{"state": {"terminated": {"exitCode": 2, "reason": "Error"}}}]
    assert waits.ended(pod(phase="Failed", containerStatuses=stopped)) == "exit code 2"
    killed = [{"state": {"terminated": {"exitCode": 137, "reason": "OOMKilled"}}}]
    assert waits.ended(pod(phase="Failed", containerStatuses=killed)) == "OOMKilled, exit code 137"
    assert waits.ended(pod(phase="Failed", reason="Evicted", message="disk")) == "Evicted: disk"


def test_what_the_api_refuses_is_told_with_what_grants_it() -> None:
    message = (
        'jobs.batch is forbidden: User "u" cannot create resource "jobs" in API group "batch" in the namespace "n"'
    )
    body = json.dumps({"message": message, "reason": "Forbidden"}).encode()
    problem = ApiProblem.of(403, body, "POST", "/x")
    assert problem.lines[0] == message
    assert "create role netmodel-jobs --verb=create --resource=jobs.batch" in problem.lines[1]
    wide = 'nodes is forbidden: User "u" cannot list resource "nodes" in API group "" at the cluster scope'
    body = json.dumps({"message": wide, "reason": "Forbidden"}).encode()
    assert (
        "create clusterrole netmodel-nodes --verb=list --resource=nodes"
        in ApiProblem.of(403, body, "GET", "/x").lines[1]
    )
    assert "the cluster has no such kind" in ApiProblem.of(404, b"404 page not found\n", "GET", "/apis/x").message
    quota = json.dumps({"message": "failed quota: q: must specify limits.memory", "reason": "Forbidden"}).encode()
    assert "--limits" in ApiProblem.of(403, quota, "POST", "/x").lines[1]


# --- results ---

GOOD = {"schema": "netmodel.result/1", "run": {"complete": True, "reconciled": True}}


def test_a_result_stands_between_messages() -> None:
    text = json.dumps(GOOD, indent=1)
    for log in (text, f"netmodel: warning: a\n{text}\n", f"{text}\nnetmodel: b\n"):
        assert results.parse(log, "") == GOOD


@pytest.mark.parametrize(
    ("log", "why", "said"),
    [
        ("netmodel: slave a: closed\n", "exit code 2", "the master has failed: slave a: closed"),
        (json.dumps(GOOD)[:-5], "", "no whole result"),
        ("", "exit code 1", "exit code 1"),
        (json.dumps({**GOOD, "run": {"complete": False, "incomplete_why": "x"}}), "", "incomplete: x"),
        (json.dumps({**GOOD, "run": {"complete": True, "reconciled": False, "reconcile_text": "y"}}), "", "agree: y"),
        ('{"a": 1}', "", "no result of netmodel"),
    ],
)
def test_what_is_no_result(log: str, why: str, said: str) -> None:
    with pytest.raises(MeasurementProblem, match=said):
        results.parse(log, why)


# --- figures and verdicts ---


def cell(test: Test, network: str, values: list[float]) -> Cell:
    point = next(point for point in points(of(test, networks=("pod", "host"))) if point.network == network)
    rows = tuple({"received_MBps": value / 8, "transactions_per_s": value, "ok": True} for value in values)
    return Cell(point, rows)


def test_the_mean_has_student_s_interval() -> None:
    found = mean([1.0, 2.0, 3.0])
    assert found and found.low and found.high
    assert (found.mean, found.sd) == (2.0, 1.0)
    assert (round(found.low, 4), round(found.high, 4)) == (-0.4841, 4.4841)
    assert mean([None]) is None
    single = mean([5.0, None])
    assert single and single.low is None


@pytest.mark.parametrize(("pod_value", "is_worse"), [(100.0, False), (91.0, False), (90.0, True), (150.0, False)])
def test_the_tolerance_is_k8s_netperf_s(pod_value: float, is_worse: bool) -> None:
    """|100 - 90| is 10.5 % of their mean; a faster pod never fails."""
    (found,) = rules.tolerance([cell(STREAM, "host", [100.0]), cell(STREAM, "pod", [pod_value])], 10)
    assert found.is_worse is is_worse
    assert rules.tolerance([cell(STREAM, "host", [100.0])], 10) == []


def before(values: list[float]) -> dict[rules.Key, list[Json]]:
    key = ("TCP_STREAM", "10", "1024", "1", "1", "0", "pod", "other-node", "netmodel", "", "", "", "")
    return {key: [{"received_MBps": value / 8} for value in values]}


@pytest.mark.parametrize(
    ("now", "is_worse", "is_sure"),
    [
        ([50.0, 50.5, 49.5], True, True),
        ([100.0, 100.4, 99.8], False, True),
        ([130.0, 130.4, 129.0], False, True),
        ([95.0, 95.1, 94.9], False, True),
        ([40.0, 160.0, 80.0], False, False),
        ([50.0, 50.5], False, False),
    ],
)
def test_beside_a_baseline(now: list[float], is_worse: bool, is_sure: bool) -> None:
    (found,) = rules.baseline([cell(STREAM, "pod", now)], before([100.0, 100.5, 99.5]), 10)
    assert (found.is_worse, found.is_sure) == (is_worse, is_sure), found.text


def test_a_sample_that_has_carried_nothing_counts() -> None:
    (found,) = rules.baseline([cell(STREAM, "pod", [0.0, 100.0, 100.0])], before([100.0, 100.5, 99.5]), 10)
    assert (found.word, found.text) == ("worse", "a sample has carried nothing, and each of the baseline something")
    (found,) = rules.baseline([cell(STREAM, "pod", [100.0] * 3)], before([0.0, 100.5, 99.5]), 10)
    assert found.word == "none"
    (found,) = rules.tolerance([cell(STREAM, network, [0.0]) for network in ("host", "pod")], 10)
    assert (found.word, found.text) == ("none", "no verdict: neither has carried anything")


def test_a_test_that_only_the_baseline_has_is_told() -> None:
    gone, found = rules.baseline([cell(RR, "pod", [1.0] * 3)], before([100.0]), 10)
    assert {gone.word, found.word} == {"none"}
    said = {one.title: one.text for one in (gone, found)}
    title = "TCP_STREAM, duration 10, messagesize 1024, messagereadsize 1, parallelism 1, burst 0, pod, other-node"
    assert said[f"{title}: beside the baseline"] == "no verdict: this run has no such test"


def pair_of(start_s: float | None, **messages: int) -> Json:
    totals = {"messages": {"to_slaves": messages}, "loss": 0.0}
    return {"run": {"start_s": start_s}, "totals": totals}


def test_pairs_that_did_not_run_together_have_no_sum() -> None:
    results.check_together([pair_of(10.0), pair_of(11.9)], 10)
    results.check_together([pair_of(None)], 10)
    with pytest.raises(SkewProblem, match=r"its pairs are 2\.1 s apart, more than 20% of 10 s"):
        results.check_together([pair_of(10.0), pair_of(12.1)], 10)
    with pytest.raises(MeasurementProblem, match="not known"):
        results.check_together([pair_of(10.0), pair_of(None)], 10)


def test_loss_of_pairs_is_that_of_all_messages() -> None:
    both = [pair_of(0.0, sent=900, lost=0), pair_of(0.0, sent=100, lost=50)]
    assert figures.of_pairs(both)["loss_pct"] == 5.0
    assert figures.of_pairs([*both, {"run": {"start_s": 0.0}, "totals": {}}])["loss_pct"] is None


def test_the_longest_latency_of_pairs_is_known_when_all_tell_theirs() -> None:
    one = {"run": {"start_s": 0.0}, "totals": {"latency_s": {"count": 1, "max": 1e-3}}}
    assert figures.of_pairs([one, one])["max_us"] == pytest.approx(1000)
    assert figures.of_pairs([one, {**one, "totals": {}}])["max_us"] is None


def test_throttled_pods_have_no_verdict() -> None:
    slow = cell(STREAM, "pod", [50.0, 50.5, 49.5])
    slow.rows[1]["throttled_s"] = 0.25
    said = "no verdict: limits of CPU have held pods back for 0.25 s; larger --limits cpu=, or none"
    for (found,) in (
        rules.baseline([slow], before([100.0, 100.5, 99.5]), 10),
        rules.tolerance([cell(STREAM, "host", [100.0]), slow], 10),
    ):
        assert (found.is_worse, found.is_sure, found.text) == (False, False, said)
    hosts = [{"throttling": {"throttled_s": 0.5}}, {"throttling": None}]
    (point, *_) = points(of(STREAM))

    def row(ends: Json) -> Json:
        return figures.row(of(STREAM), point, {"pairs": [{"k8s": ends, "result": {"hosts": hosts}}]}, None)

    assert (row(ENDS)["throttled_s"], row(ENDS)["is_throttling_unknown"]) == (0.5, False)
    limited = row({**ENDS, "server": {"node": "n1", "resources": {"limits": {"cpu": "1"}}}})
    assert limited["is_throttling_unknown"]
    fast = cell(STREAM, "pod", [100.0] * 3)
    fast.rows[0]["is_throttling_unknown"] = True
    (found,) = rules.baseline([fast], before([100.0, 100.5, 99.5]), 10)
    assert found.word == "none" and "whether it has held them back is not known" in found.text


def test_equal_runs_are_seldom_worse() -> None:
    """Simulated, with runs that scatter by 8 %: at most a false alarm in a hundred was promised."""
    import numpy as np

    rng = np.random.default_rng(3)
    alarms = 0
    for _ in range(400):
        a, b = (list(np.exp(rng.normal(0, 0.08, 3)) * 100) for _ in range(2))
        (found,) = rules.baseline([cell(STREAM, "pod", b)], before(a), 10)
        alarms += found.is_worse
    assert alarms <= 4


def test_csv_has_the_columns_of_k8s_netperf_first() -> None:
    one = cell(STREAM, "pod", [100.0, 110.0])
    head, line, *rest = outputs.csv_results([one], of(STREAM), "now").splitlines()
    assert head.startswith("Driver,Profile,Same node,Host Network,VM mode,Service,External Server,UDN Info,")
    assert head.endswith("Latency Metric,Run,UUID,Time,Test,Server node,Client node,Path,Place,Model")
    assert line.startswith("netmodel,TCP_STREAM,false,false,false,false,false,,,,,,10,1,2,1024,0,")
    assert ",105.000000,Mb/s," in line
    assert rest == []


def test_tables_have_a_grid() -> None:
    text = outputs.tables([cell(STREAM, "pod", [100.0, 110.0]), cell(RR, "host", [5.0])], of(STREAM, RR))
    assert "| 105.00 (Mb/s) | 41.47-168.53 (Mb/s) " in text
    assert "| Rr Results  | netmodel | TCP_RR " in text
    assert "TCP RETRANSMISSIONS" not in text and "| TCP Retransmissions " in text


# --- words ---


def test_flags_of_k8s_netperf(lab: Lab, tmp_path: Path) -> None:
    assert options.normalised(["--all=true", "--clean=false", "--json", "-o", "x"]) == [
        "--all",
        "--no-clean",
        "--json",
        "-o",
        "x",
    ]
    (tmp_path / "netperf.yml").write_text(V2)
    done = lab("k8s", "run", "--ib-write-bw", "--prom=http://x", "--hostNet=maybe")
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        "netmodel-lab: --ib-write-bw: RDMA is none of netmodel's transports",
        "netmodel-lab: --prom: CPU of both ends comes from netmodel itself; Prometheus is not asked",
        'netmodel-lab: --hostNet: "maybe": must be true or false',
    ]
    done = lab("k8s", "run", "--all", "--hostNet", "--local", "--across")
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        "netmodel-lab: --all and --hostNet exclude each other",
        "netmodel-lab: --local and --across exclude each other",
        "netmodel-lab: bursts: service: has no host network (--hostNet)",
    ]
    done = lab("k8s", "run", "--paths", "pod,nodport")
    said = 'argument --paths: "pod,nodport": must be some of pod, host, host-to-pod, pod-to-host, service, headless, '
    assert done.returncode == 2
    assert (
        said
        + "nodeport, loadbalancer, hairpin, multus, bridge, macvlan, sriov, udn, cudn, localnet; did you mean nodeport?"
        in done.stderr
    )
    done = lab("k8s", "run", "--pattern", "matrix", "--paths", "pod", "--all", "--local", "--pairs", "2")
    assert done.stderr.splitlines() == [
        "netmodel-lab: --all and --paths exclude each other",
        "netmodel-lab: --pattern matrix and --local exclude each other",
        "netmodel-lab: --pattern matrix and --pairs exclude each other",
    ]
    words = ("--paths", "host", "--serverIP", "192.0.2.1", "--all", "--server-node", "n", "--pairs", "2")
    done = lab("k8s", "run", *words)
    assert done.stderr.splitlines() == [
        "netmodel-lab: --all and --paths exclude each other",
        "netmodel-lab: --serverIP and --all exclude each other",
        "netmodel-lab: --serverIP and --paths exclude each other",
        "netmodel-lab: --serverIP and --server-node exclude each other",
        "netmodel-lab: --serverIP and --pairs exclude each other",
        "netmodel-lab: bursts: service: has no host network (--paths host)",
        "netmodel-lab: bursts: service: is not of a slave outside the cluster (--serverIP)",
    ]
    done = lab("k8s", "run", "--textfile", "none/x.prom")
    assert (done.returncode, done.stderr) == (3, "netmodel-lab: --textfile none/x.prom: none is no folder\n")
    assert lab("k8s", "run", "--textfile", "x.txt").returncode == 2
    assert lab("k8s", "resume", "x", "--keep", "always").returncode == 2
    done = lab("k8s", "run", "--pattern", "many-to-one")
    assert done.stderr == "netmodel-lab: --pattern many-to-one: --pairs says how many\n"


def test_no_cluster_and_no_such_verb(lab: Lab, tmp_path: Path) -> None:
    (tmp_path / "netperf.yml").write_text(V1)
    done = lab("k8s", "run", KUBECONFIG=str(tmp_path / "none"), HOME=str(tmp_path))
    assert (done.returncode, "no cluster: " in done.stderr) == (3, True), done.stderr
    assert not list(tmp_path.glob("k8s-*"))
    closed = "clusters: [{name: c, cluster: {server: 'https://127.0.0.1:1'}}]\n"
    closed += "contexts: [{name: x, context: {cluster: c, user: u}}]\n"
    closed += "users: [{name: u, user: {token: t}}]\ncurrent-context: x\n"
    (tmp_path / "closed").write_text(closed)
    done = lab("k8s", "check", "--kubeconfig", "closed")
    said = "netmodel-lab: https://127.0.0.1:1: Failed to establish a new connection: [Errno 111] Connection refused\n"
    assert (done.returncode, done.stderr) == (3, said)
    done = lab("k8s", "rnu")
    assert (done.returncode, done.stderr) == (2, "netmodel-lab: k8s rnu: no such command; did you mean run?\n")


# --- from node to node ---


def test_a_matrix_as_a_table_and_as_a_heat_map() -> None:
    where = Where(pattern="matrix", nodes=("a", "b"))
    settings = of(replace(RR, samples=1), where=where)
    (first, second) = points(settings)
    found = [
        Cell(first, ({"transactions_per_s": 50.0, "p99_us": 9.0, "ok": True},)),
        Cell(second, ({"transactions_per_s": 100.0, "p99_us": 18.0, "ok": True},)),
    ]
    text = outputs.tables(found, settings)
    assert "rr: TCP_RR 64 B, burst 3, parallelism 4, 5 s, pod: Throughput (OP/s)" in text
    assert "| a               | -    | 100.0 |" in text and "| b               | 50.0 | -     |" in text
    rows = [{"cell": "x", "block": 1, "ok": False, "why": "<lost>"}]
    page = report.page(found, rows, [], settings, "now")
    assert "5 s, pod: Throughput, OP/s" in page and "5 s, pod: 99%tile latency, usec" in page
    assert '<td style="background: color-mix(in srgb, var(--c0) 70%, var(--card))">100.0</td>' in page
    assert '<td style="background: color-mix(in srgb, var(--c0) 35%, var(--card))">50.0</td>' in page
    assert "x sample 1: &lt;lost&gt;" in page and "<script" not in page
    assert matrix.squares([cell(STREAM, "pod", [1.0])]) == []


def test_each_test_of_a_list_has_a_square_of_its_own() -> None:
    where = Where(pattern="matrix", nodes=("a", "b"))
    tests = [replace(RR, samples=1, parallelism=flows) for flows in (1, 2)]
    every = points(of(*tests, where=where))
    found = matrix.squares([Cell(one, ({"transactions_per_s": float(one.seq), "ok": True},)) for one in every])
    assert [sorted(square.values.values()) for square in found] == [[1.0, 2.0], [3.0, 4.0]]
    assert len({square.title for square in found}) == 2
