# SPDX-License-Identifier: Apache-2.0
"""What several tests of netmodel-lab k8s take for an example: lists, settings, nodes, samples."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from netmodel_lab.k8s import placement
from netmodel_lab.k8s.figures import Cell
from netmodel_lab.k8s.netperf_file import Test
from netmodel_lab.k8s.settings import Limits, Pods, Settings, Where, points
from netmodel_lab.k8s.store import Store

Json = dict[str, Any]
STREAM = Test("TCPStream", "TCP_STREAM", 10, 3, 1024, 1)
RR = Test("rr", "TCP_RR", 5, 2, 64, 4, burst=3)
SERVED = Test("served", "UDP_RR", 5, 1, 64, 1, service=True)
PAIR = placement.Pair("n1", "n2")
ENDS = {"server": {"node": "n1"}, "client": {"node": "n2"}, "relation": "other node"}
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


def of(*tests: Test, **more: Any) -> Settings:
    networks = more.pop("networks", ("pod",))
    where = more.pop("where", Where())
    pods = more.pop("pods", Pods("netmodel:1"))
    return Settings("abcd1234", "some-uuid", tests, networks, pods, where, Limits(), **more)


def cell(test: Test, network: str, values: list[float]) -> Cell:
    point = next(point for point in points(of(test, networks=("pod", "host"))) if point.network == network)
    rows = tuple({"received_MBps": value / 8, "transactions_per_s": value, "ok": True} for value in values)
    return Cell(point, rows)


def node(name: str, *, zone: str = "", ready: bool = True, labels: Json | None = None, **spec: Any) -> Json:
    marks = {**(labels or {}), **({placement.ZONE: zone} if zone else {})}
    condition = {"type": "Ready", "status": "True" if ready else "Unknown"}
    return {"metadata": {"name": name, "labels": marks}, "spec": spec, "status": {"conditions": [condition]}}


def placement_of(nodes: list[Json], where: Where) -> placement.Places:
    return placement.choose(nodes, where, Pods("i"))


THREE = [node("a", zone="x"), node("b", zone="x"), node("c", zone="y")]


def granted_by(name: str) -> set[tuple[str, str, str, str]]:
    """Group, resource, verb and namespace ("": all) of each right of a file of contrib/kubernetes."""
    text = (Path(__file__).parents[2] / "kubernetes" / name).read_text()
    return {
        (group, resource, verb, item["metadata"].get("namespace", ""))
        for item in YAML(typ="safe").load_all(text)
        for rule in item.get("rules") or []
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }


RESULT = {
    "schema": "netmodel.result/1",
    "run": {"complete": True, "start": "x", "start_s": 1.0},
    "totals": {"seconds": 1.0, "transactions_per_s": 1000.0, "latency_s": {"count": 9, "p99": 2e-4, "mean": 1e-4}},
}


def keep_run(folder: Path) -> None:
    """A run with all its samples."""
    settings = of(RR)
    store = Store.create(folder, settings, ["netmodel-lab"])
    ends = {name: {"node": name} for name in ("server", "client")}
    for point in points(settings):
        store.keep(point, [{"pair": 0, "result": RESULT, "k8s": {**ends, "relation": "other node"}}], None)
    for path in (folder / "samples").iterdir():
        path.write_text(json.dumps({**json.loads(path.read_text()), "end": 1769860800}))
