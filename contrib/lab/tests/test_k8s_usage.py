# SPDX-License-Identifier: Apache-2.0
"""netmodel-lab k8s: what ends have used, from inside and by Prometheus, and what cannot be told."""

from __future__ import annotations

import csv
import io
import json
import re
import ssl
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import permutations
from pathlib import Path
from string import Template
from typing import ClassVar
from urllib.parse import parse_qs, urlsplit

import pytest

pytest.importorskip("kubernetes", reason="the Kubernetes client is not installed; requirements-dev.txt has it")

from conftest import Lab
from k8s_examples import STREAM, V2, Json, cell, granted_by, keep_run, of

from netmodel_lab.k8s import facts, monitoring, outputs, usage
from netmodel_lab.k8s.cluster import Cluster, Kind
from netmodel_lab.k8s.figures import Cell
from netmodel_lab.k8s.monitoring import QUERIES, Prometheus
from netmodel_lab.k8s.problems import ApiProblem
from netmodel_lab.problems import EnvironmentProblem, UsageProblem


def host(role: str, idle: float, cpu_s: float) -> Json:
    shares = dict.fromkeys([mode for _, mode in usage.MODES.values()], 0.0) | {"idle": idle, "user": 1 - idle}
    return {"role": role, "cpu": shares, "rusage": {"utime_s": cpu_s, "stime_s": 0.0, "maxrss_kb": 2}}


def pair(number: int, *hosts: Json) -> Json:
    ends = {
        name: {"node": f"n-{name}", "host_ip": "192.0.2.1", "namespace": "a", "pod": f"p-{name}"}
        for name in usage.ROLES
    }
    ends["client"] = {**ends["client"], "pod": f"p-client-{number}"}
    run = {"start_s": 1000.0 * number, "elapsed_s": 9.6}
    return {"k8s": {**ends, "relation": "other node"}, "result": {"run": run, "hosts": list(hosts)}}


BOTH = [
    pair(1, host("master", 0.5, 4.8), host("slave", 0.2, 2.4)),
    pair(2, host("master", 0.7, 9.6), host("slave", 0.4, 4.8)),
]
OTHER = [pair(1)]  # of a program that tells nothing of its node


def documents(
    pairs: list[Json], used: Callable[..., dict[str, usage.End]] = usage.of_samples
) -> tuple[list[Cell], list[Json]]:
    one = cell(STREAM, "pod", [100.0] * len(pairs))
    for number, row in enumerate(one.rows):
        row["seq"] = number
    return [one], outputs.documents([one], of(STREAM), "now", {i: [pair] for i, pair in enumerate(pairs)}, used)


def test_cpu_of_nodes_and_pods_is_that_of_all_samples() -> None:
    cells, (found,) = documents(BOTH)
    assert (found["serverCPUCollected"], found["clientCPUCollected"]) == (True, True)
    assert found["serverCPU"]["idleCPU"] == pytest.approx(30) and found["serverCPU"]["userCPU"] == pytest.approx(70)
    assert found["clientCPU"]["idleCPU"] == pytest.approx(60)
    assert found["serverPods"] == [{"podName": "p-server", "cpuUsage": pytest.approx(37.5)}]
    assert [one["podName"] for one in found["clientPods"]] == ["p-client-1", "p-client-2"]
    assert found["serverPodsMem"] == [{"podName": "p-server", "memUsage": 2048}]
    assert (found["serverVswtichCpu"], found["serverCPU"]["vSwitchMem"]) == (None, None)
    assert found["netmodel"]["notCollected"]["server"] == dict.fromkeys(usage.OUTSIDE, "--prom was not given")
    files = outputs.csv_usage(cells, [found], of(STREAM), "now")
    lines = list(csv.DictReader(io.StringIO(files["cpu-result.csv"])))
    assert [(line["Role"], line["Idle CPU"], line["Run"]) for line in lines] == [
        ("Server", "30.000000", "abcd1234"),
        ("Client", "60.000000", "abcd1234"),
    ]
    assert len(files["podcpu-result.csv"].splitlines()) == 4 and len(files["vswitch-result.csv"].splitlines()) == 1
    shown = outputs.usage_tables(cells, [found], of(STREAM))
    assert "| Node CPU Utilization" in shown and "| Pod Mem RSS Utilization" in shown and "vSwitch" not in shown


def test_what_is_not_told_is_not_0() -> None:
    cells, (found,) = documents(OTHER)
    assert not found["serverCPUCollected"] and set(found["serverCPU"].values()) == {None}
    assert found["netmodel"]["notCollected"]["client"]["cpu"] == "what measured does not tell it"
    files = outputs.csv_usage(cells, [found], of(STREAM), "now")
    assert all(len(text.splitlines()) == 1 for text in files.values())


class Asked:
    """Answers as Prometheus does; series: by a part of the query."""

    def __init__(self, series: dict[str, list[tuple[Json, str]]], status: int = 200, text: str | None = None) -> None:
        self.series, self.status, self.text, self.asked = series, status, text, list[tuple[str, str]]()

    def __call__(self, path: str) -> tuple[int, bytes]:
        words = parse_qs(urlsplit(path).query)
        query = words["query"][0]
        self.asked.append((query, words.get("time", [""])[0]))
        if self.text is not None:
            return self.status, self.text.encode()
        found = next((series for part, series in self.series.items() if part in query), [])
        result = [{"metric": labels, "value": [0, value]} for labels, value in found]
        return 200, json.dumps({"status": "success", "data": {"resultType": "vector", "result": result}}).encode()


def prometheus(asked: Asked) -> Prometheus:
    return Prometheus("http://prom", asked, QUERIES)


def test_the_mtu_of_the_path_shows_in_segments() -> None:
    hosts = [
        {"role": "master", "connections": {"mss_min": 1398, "mss_max": 1448}},
        {"role": "slave", "connections": {}},
    ]
    _, (found,) = documents([pair(1, *hosts), pair(2)])
    assert found["netmodel"]["mss"] == {"min": 1398, "max": 1448}
    assert documents(OTHER)[1][0]["netmodel"]["mss"] is None


@pytest.mark.parametrize(
    ("data", "mode"),
    [
        ({"config.conf": "kind: KubeProxyConfiguration\nmode: nftables\n"}, "nftables"),
        ({"config.conf": 'a: 1\nmode: ""\n'}, "iptables"),
        ({}, "unknown: no ConfigMap kube-proxy in kube-system has it"),
        (None, "unknown: configmaps is forbidden"),
    ],
)
def test_what_is_known_of_a_cluster(data: Json | None, mode: str) -> None:
    class Known(Cluster):
        def __init__(self) -> None:
            pass

        def request(self, *_: object, **__: object) -> bytes:
            return b'{"gitVersion": "v1.34.4"}'

        def get(self, *_: object) -> Json | None:
            if data is None:
                raise ApiProblem(403, "Forbidden", "configmaps is forbidden")
            return {"data": data}

    assert facts.of_cluster(Known(), 3) == {"version": "v1.34.4", "nodes": 3, "kube_proxy": mode}


def test_the_cni_is_known_by_annotations() -> None:
    made = {"projectcalico.org/IPv4Address": "192.0.2.1/24", "flannel.alpha.coreos.com/backend-type": "vxlan"}
    assert facts.cni({"metadata": {"annotations": made}}) == "Calico, Flannel"
    assert facts.cni({"metadata": {}}) == "unknown: no annotation of the node tells"


POD_CPU = "container_cpu_usage_seconds_total{container"
SERIES: dict[str, list[tuple[Json, str]]] = {
    "node_cpu_seconds_total": [({"mode": "idle"}, "25"), ({"mode": "user"}, "NaN")],
    "container_cpu_usage_seconds_total{id=": [({}, "7")],
    POD_CPU: [
        ({"namespace": "b", "pod": "etcd"}, "80"),
        ({"namespace": "a", "pod": "p-server"}, "12"),
        ({"namespace": "b", "pod": "dns"}, "3"),
    ],
}


def test_prometheus_tells_what_cannot_be_seen_from_inside() -> None:
    asked = Asked(SERIES)
    _, (found,) = documents(BOTH, prometheus(asked).ends)
    assert found["serverCPU"]["idleCPU"] == pytest.approx(30)
    told = found["netmodel"]["prometheus"]
    assert told["serverCPU"] == {"idleCPU": 25.0}
    assert told["serverPods"] == [
        {"podName": "etcd", "cpuUsage": 80.0},
        {"podName": "p-server", "cpuUsage": 12.0},
        {"podName": "dns", "cpuUsage": 3.0},
    ]
    assert (found["serverVswtichCpu"], found["serverVswitchMem"]) == (7.0, None)
    said = "http://prom has no value of it within the 10s of the samples"
    assert found["netmodel"]["notCollected"]["server"] == {"memory": said, "vswitch_memory": said}
    query, at = asked.asked[0]
    assert "(192.0.2.1|n-server)" in query and "[10s]" in query and at == "1010.000"
    _, (other,) = documents(OTHER, prometheus(Asked(SERIES)).ends)
    assert (
        other["serverCPUCollected"] and other["serverCPU"]["idleCPU"] == 25.0 and other["serverCPU"]["userCPU"] is None
    )


@pytest.mark.parametrize("has_namespaces", [True, False])
def test_a_pod_of_ours_is_told_once_at_its_place(has_namespaces: bool) -> None:
    """Of what Prometheus tells, with what is seen from inside; also by queries that tell of no namespace."""
    pods = [(labels if has_namespaces else {"pod": labels["pod"]}, value) for labels, value in SERIES[POD_CPU]]
    _, (found,) = documents(BOTH, prometheus(Asked({**SERIES, POD_CPU: pods})).ends)
    told = [(one["podName"], one["cpuUsage"]) for one in found["serverPods"]]
    assert told == [("etcd", 80.0), ("p-server", 37.5), ("dns", 3.0)]


@pytest.mark.parametrize(
    ("target", "is_it"),
    [("[fd00::1]:9100", True), ("fd00::1", True), ("n1:9100", True), ("n1", True), ("n11:9100", False)],
)
def test_a_target_is_known_by_address_or_name(target: str, is_it: bool) -> None:
    query = Template(QUERIES["cpu"]).substitute(node="n1", ip="fd00::1", window="9s")
    found = re.search(r'instance=~("[^"]*")', query)
    assert found and bool(re.fullmatch(json.loads(found[1]), target)) is is_it  # its strings are escaped alike


class Changing(Asked):
    """Its pods of the first seconds, and those of all others."""

    def __init__(self, first: list[tuple[Json, str]], other: list[tuple[Json, str]]) -> None:
        super().__init__({})
        self.first, self.other = first, other

    def __call__(self, path: str) -> tuple[int, bytes]:
        at = float(parse_qs(urlsplit(path).query)["time"][0])
        self.series = {"by (namespace, pod)": self.first if at < 2000 else self.other}
        return super().__call__(path)


def of_pod(number: int, value: float, namespace: str = "a") -> tuple[Json, str]:
    return {"namespace": namespace, "pod": f"p{number}"}, str(value)


def test_a_pod_has_the_mean_cpu_and_the_most_memory_of_all_samples() -> None:
    """Also one that was there in one alone; two of one name in two namespaces are two."""
    asked = Changing([of_pod(0, 80), of_pod(1, 50), of_pod(1, 30, "b")], [of_pod(1, 50), of_pod(1, 20, "b")])
    samples = [[pair(number)] for number in range(1, 5)]
    end = prometheus(asked).ends(samples)["server"]
    assert end.pods == {
        ("a", "p1"): (50, 50),
        ("b", "p1"): (22.5, 30),
        ("a", "p0"): (20, 80),
    }
    assert list(end.pods) == [("a", "p1"), ("b", "p1"), ("a", "p0")]


def test_the_ten_pods_that_use_most_are_those_of_all_nodes() -> None:
    two = [pair(1), pair(1)]
    two[1]["k8s"]["server"]["node"] = "n-other"
    asked = Asked(
        {"n-other": [of_pod(number, number) for number in range(8)]}
        | {"n-server": [of_pod(number, number) for number in range(8, 16)]}
    )
    _, (found,) = documents([*two], prometheus(asked).ends)
    for name, field in (("serverPods", "cpuUsage"), ("serverPodsMem", "memUsage")):
        assert [one[field] for one in found[name]] == list(range(15, 5, -1))


def test_each_node_of_a_sample_is_asked_once() -> None:
    nodes = ("a", "b", "c")
    pairs = []
    for number, (server, client) in enumerate(permutations(nodes, 2)):
        one = pair(1)
        one["k8s"] |= {name: {"node": node, "host_ip": "x"} for name, node in (("server", server), ("client", client))}
        one["result"]["run"] = {"start_s": 1000 + number / 10, "elapsed_s": 9.0}
        pairs.append(one)
    asked = Asked(SERIES)
    prometheus(asked).ends([pairs])
    assert len(asked.asked) == len(nodes) * len(QUERIES)
    assert {at for _, at in asked.asked} == {"1010.000"} and all("[10s]" in query for query, _ in asked.asked)


def test_a_prometheus_that_does_not_answer_in_the_end_is_told() -> None:
    broken = Asked({}, 503, "no upstream\nmore")
    _, (found,) = documents(BOTH, prometheus(broken).ends)
    said = "http://prom is no Prometheus: it answers 503: no upstream"
    assert found["serverCPUCollected"]
    assert found["netmodel"]["notCollected"]["server"] == dict.fromkeys(list(QUERIES)[1:], said)
    with pytest.raises(EnvironmentProblem, match="answers 503"):
        prometheus(broken).check()
    refused = Asked({}, 400, json.dumps({"status": "error", "error": "parse error"}))
    with pytest.raises(EnvironmentProblem, match=r"http://prom: parse error: vector\(1\)"):
        prometheus(refused).check()


def test_the_nodes_of_all_slaves_of_one_master_are_told_and_asked() -> None:
    one = pair(1, host("master", 0.5, 1), *[host("slave", 0.2, 1)] * 3)
    one["k8s"]["servers"] = [{"node": f"n{i // 2}", "host_ip": f"192.0.2.{i // 2}", "pod": f"p{i}"} for i in range(3)]
    asked = Asked(SERIES)
    _, (found,) = documents([one], prometheus(asked).ends)
    nodes = ["(192.0.2.0|n0)", "(192.0.2.1|n1)"]
    assert [node in query for node, (query, _) in zip(nodes, asked.asked[:2], strict=True)] == [True, True]
    assert len(asked.asked) == 3 * len(QUERIES)
    assert [end["pod"] for end in found["netmodel"]["server"]] == ["p0", "p1", "p2"]
    assert len(found["serverNodeInfo"]) == 3 and isinstance(found["clientNodeInfo"], dict)


def test_queries_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "queries.yml"
    path.write_text('cpu: avg by (mode) (rate(mine{host="$node"}[$window]))\n')
    assert monitoring.queries(str(path)) == {**QUERIES, "cpu": 'avg by (mode) (rate(mine{host="$node"}[$window]))'}
    path.write_text("cqu: up\ncpu: up[$wnidow]\npods: 5\n")
    with pytest.raises(UsageProblem) as caught:
        monitoring.queries(str(path))
    assert [line.split(": ")[1] for line in caught.value.lines] == ["cqu", "cpu", "pods"]
    path.write_text("- up\n")
    with pytest.raises(UsageProblem, match="must be NAME: QUERY, with names of cpu, pods"):
        monitoring.queries(str(path))


class Guarded(BaseHTTPRequestHandler):
    """A Prometheus that notes who asks."""

    seen: ClassVar[list[str | None]] = []
    queries: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.seen.append(self.headers["Authorization"])
        self.queries.extend(parse_qs(urlsplit(self.path).query)["query"])
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'{"status": "success", "data": {"result": []}}')

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def guarded(certificate: Path) -> Iterator[str]:
    Guarded.seen.clear()
    Guarded.queries.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Guarded)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, certificate.with_suffix(".key"))
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"https://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


def test_its_certificate_is_verified_before_the_token_is_sent(guarded: str, certificate: Path, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("s3cret\n")
    with pytest.raises(EnvironmentProblem, match="is not trusted") as caught:
        Prometheus.at(guarded, str(token), None, QUERIES).check()
    assert Guarded.seen == [] and "s3cret" not in "".join(caught.value.lines)
    found = Prometheus.at(guarded, str(token), str(certificate), QUERIES)
    found.check()
    assert Guarded.seen == ["Bearer s3cret"] and not found.is_open
    assert Prometheus.at("http://prom", str(token), None, QUERIES).is_open


def test_options_of_a_prometheus_come_to_it(lab: Lab, guarded: str, certificate: Path, tmp_path: Path) -> None:
    keep_run(tmp_path / "out")
    (tmp_path / "token").write_text("s3cret\n")
    (tmp_path / "queries.yml").write_text("cpu: mine[$window]\n")
    files = ("--prom-token", "token", "--prom-ca", str(certificate), "--prom-queries", "queries.yml")
    done = lab("k8s", "resume", "out", "--prom", guarded, *files)
    assert (done.returncode, "can be read by others" in done.stderr) == (0, False), done.stderr
    assert set(Guarded.seen) == {"Bearer s3cret"} and "mine[1s]" in Guarded.queries


def test_who_sends_a_token_in_the_clear_is_warned(lab: Lab, tmp_path: Path) -> None:
    keep_run(tmp_path / "out")
    (tmp_path / "token").write_text("s3cret\n")
    done = lab("k8s", "resume", "out", "--prom", "http://127.0.0.1:1", "--prom-token", "token")
    assert done.returncode == 3 and "http://127.0.0.1:1 does not answer" in done.stderr
    said = "--prom http://127.0.0.1:1: the token can be read by others on its way; https:// would encrypt it"
    assert said in done.stderr


@pytest.mark.parametrize("text", ["", "s3cret\nX-More: 1", "s3cret s3cret", "s3cret\u00e9", "s3cret\x7f"])
def test_a_token_that_no_header_has(text: str, tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text(text)
    with pytest.raises(UsageProblem) as caught:
        Prometheus.at("https://prom", str(path), None, QUERIES)
    assert caught.value.lines == [f"--prom-token {path}: must have one word of ASCII"]


def test_an_address_has_no_password(tmp_path: Path) -> None:
    none = str(tmp_path / "none")
    with pytest.raises(UsageProblem) as caught:
        Prometheus.at("https://me:hunter2@prom", none, none, QUERIES)
    assert caught.value.lines == [
        "--prom: a command line is no place for a password: --prom-token FILE",
        f"--prom-token {none}: No such file or directory",
        f"--prom-ca {none}: No such file or directory",
    ]
    with pytest.raises(UsageProblem, match="must be http://HOST:PORT"):
        Prometheus.at("prom:9090", None, None, QUERIES)
    with pytest.raises(EnvironmentProblem, match="does not answer"):
        Prometheus.at("http://127.0.0.1:1", None, None, QUERIES).check()


def test_options_without_effect(lab: Lab, tmp_path: Path) -> None:
    (tmp_path / "netperf.yml").write_text(V2)
    given = ("--prom-token", "a", "--prom-ca", "b", "--prom-queries", "c")
    for prom, count, why in (((), 3, "without --prom"), (("--prom", "auto"), 2, "with --prom auto")):
        done = lab("k8s", "run", *prom, *given)
        said = [f"netmodel-lab: {flag}: has no effect {why}" for flag in given[::2]]
        assert (done.returncode, done.stderr.splitlines()) == (2, said[:count])


class Services(Cluster):
    def __init__(self, *items: Json) -> None:
        self.items, self.paths = items, list[str]()
        self.rights = set[tuple[str, str, str, str]]()

    def listed(self, kind: Kind, namespace: str | None = None, *_: object, **__: object) -> list[Json]:
        self.rights.add(("", kind.plural, "list", namespace or ""))
        return list(self.items)

    def request(self, method: str, path: str, *_: object, **__: object) -> bytes:
        self.paths.append(path)
        return b'{"status": "success", "data": {"result": []}}'


def test_the_service_of_a_cluster_is_found() -> None:
    ports = [{"name": "grpc", "port": 10901}, {"name": "web", "port": 9090}]
    cluster = Services({"metadata": {"name": "p", "namespace": "monitoring"}, "spec": {"ports": ports}})
    Prometheus.of(cluster, QUERIES).check()
    assert cluster.paths == ["/api/v1/namespaces/monitoring/services/p:9090/proxy/api/v1/query?query=vector%281%29"]
    assert cluster.rights | {("", "services/proxy", "get", "")} == granted_by("rights-prometheus.yaml")
    with pytest.raises(EnvironmentProblem, match=r"no Service has the label app\.kubernetes\.io/name=prometheus"):
        Prometheus.of(Services(), QUERIES)
