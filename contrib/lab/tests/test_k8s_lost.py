# SPDX-License-Identifier: Apache-2.0
"""netmodel-lab k8s: a sample fails, and whether that is because a server's node is lost."""

from __future__ import annotations

import json
import socket

import pytest

pytest.importorskip("kubernetes", reason="the Kubernetes client is not installed; requirements-dev.txt has it")

from k8s_examples import Json
from kubernetes import client as api

from netmodel_lab.k8s import cluster
from netmodel_lab.k8s.cluster import Cluster, Kind
from netmodel_lab.k8s.problems import MeasurementProblem
from netmodel_lab.k8s.settings import Limits
from netmodel_lab.k8s.waits import Waits

KUBELET = 'Get "https://10.0.0.3:10250/containerLogs/n/p/netmodel?tailLines=1"'
LOST = f"{KUBELET}: dial tcp 10.0.0.3:10250: connect: no route to host"


def pod(name: str, node: str) -> Json:
    spec = {"nodeName": node, "containers": [{"name": "netmodel"}, {"name": "beside"}]}
    return {"metadata": {"name": name, "namespace": "n"}, "spec": spec}


class Asked(Cluster):
    """said: what asking for the log of a pod of a node gives, instead of the log; nodes: that are not ready."""

    def __init__(self, said: dict[str, tuple[int, str]], *unready: str) -> None:
        self.said, self.unready, self.asked = said, unready, list[str]()

    def _once(self, _: str, path: str, query: object = None, *__: object) -> tuple[int, bytes]:
        assert query == {"tailLines": "1", "container": "netmodel"}
        name = path.split("/")[-2]
        self.asked.append(name)
        status, message = self.said.get(name, (200, "a line"))
        return status, json.dumps({"message": message}).encode() if status >= 400 else message.encode()

    def get(self, kind: Kind, name: str, namespace: str | None = None) -> Json | None:
        status = "Unknown" if name in self.unready else "True"
        return {"status": {"conditions": [{"type": "Ready", "status": status}]}}


@pytest.mark.parametrize(
    ("status", "message", "is_lost"),
    [
        (500, LOST, True),
        (502, f"{KUBELET}: proxy error: 502", True),
        (500, f"{KUBELET}: net/http: TLS handshake timeout", True),
        (500, f"{KUBELET}: remote error: tls: internal error", False),  # a certificate that nobody has signed
        (429, "too many requests", False),
        (503, "the server is currently unable to handle the request", False),
        (403, "pods/log is forbidden", False),
        (404, 'pods "p" not found', False),
    ],
)
def test_what_the_api_server_says_of_a_kubelet(status: int, message: str, is_lost: bool) -> None:
    found = Asked({"p": (status, message)}).unheard(pod("p", "n3"))
    assert found == (message if is_lost else None)


def test_each_node_is_asked_once_and_the_lost_one_is_named() -> None:
    pods = [pod(f"p{i}", "n1" if i % 2 else "n3") for i in range(8)]
    well = Asked({})
    Waits(well, Limits()).verify_nodes(pods, "reset")
    assert len(well.asked) == 2
    lost = Asked({f"p{i}": (500, LOST) for i in range(1, 8, 2)})
    with pytest.raises(MeasurementProblem) as caught:
        Waits(lost, Limits()).verify_nodes(pods, "reset")
    assert caught.value.lines == [f"node n1 does not answer any more: the sample is lost: reset: {LOST}"]
    with pytest.raises(MeasurementProblem, match="node n3 is not ready any more"):
        Waits(Asked({}, "n3"), Limits()).verify_nodes(pods, "reset")


def test_a_kubelet_that_hangs_has_a_limit_and_an_api_server_that_is_away_tells_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cluster, "_KUBELET_S", 1.0)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        found = Cluster(api.ApiClient(api.Configuration(host=url, retries=0)), url)
        assert found.unheard(pod("p", "n3")) == "a log has not come within 1 s"
    assert found.unheard(pod("p", "n3")) is None
