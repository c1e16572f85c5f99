# SPDX-License-Identifier: Apache-2.0
"""Which node each end is on: chosen from the nodes that there are, required of the scheduler, and looked at again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from netmodel_lab.k8s.problems import MeasurementProblem
from netmodel_lab.k8s.settings import Pods, Where
from netmodel_lab.problems import EnvironmentProblem, UsageProblem, nearest

Json = dict[str, Any]
ZONE = "topology.kubernetes.io/zone"
WORKER = "node-role.kubernetes.io/worker"
_HINT = "netperf"  # label of k8s-netperf: netperf=server, netperf=client
_KEEPS_AWAY = ("NoSchedule", "NoExecute")


@dataclass(frozen=True)
class Pair:
    """The nodes of one server and its client. client is None where the server is somebody else's."""

    server: str
    client: str


def zone(node: Json) -> str | None:
    found = (node["metadata"].get("labels") or {}).get(ZONE)
    return str(found) if found else None


def is_ready(node: Json) -> bool:
    conditions = node.get("status", {}).get("conditions") or []
    return any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)


def why_not(node: Json, pods: Pods, selector: dict[str, str]) -> str | None:
    """Why pods of the run cannot be on it; None: they can."""
    labels, spec = node["metadata"].get("labels") or {}, node.get("spec") or {}
    if not is_ready(node):
        return "is not ready"
    if spec.get("unschedulable"):
        return "is cordoned"
    for taint in spec.get("taints") or []:
        if taint["effect"] in _KEEPS_AWAY and not any(_tolerates(one, taint) for one in pods.tolerations):
            return f"has the taint {taint['key']}:{taint['effect']}, which --toleration {taint['key']} would bear"
    for name, value in selector.items():
        if labels.get(name) != value:
            return f"has not the label {name}={value}"
    return None


def _tolerates(toleration: dict[str, str], taint: Json) -> bool:
    if toleration.get("effect") not in (None, "", taint["effect"]):
        return False
    if toleration.get("operator") == "Exists":
        return bool(toleration.get("key") in (None, "", taint["key"]))
    return bool(toleration.get("key") == taint["key"] and toleration.get("value", "") == taint.get("value", ""))


def parse_selector(text: str) -> dict[str, str]:
    found = {}
    for part in filter(None, text.split(",")):
        name, equals, value = part.partition("=")
        if not equals:
            raise UsageProblem([f"--node-selector {text}: must be NAME=VALUE,..."])
        found[name] = value
    return found


def choose(nodes: Sequence[Json], where: Where, pods: Pods) -> list[Pair]:
    """The nodes of each pair. Workers are preferred where nodes have roles; k8s-netperf's labels count as wishes."""
    selector = parse_selector(where.selector)
    names = [str(node["metadata"]["name"]) for node in nodes]
    for flag, name in (("--server-node", where.server), ("--client-node", where.client)):
        if name and name not in names:
            raise EnvironmentProblem([f"{flag} {name}: the cluster has no such node{nearest(name, names)}"])
    refused = {str(node["metadata"]["name"]): why for node in nodes if (why := why_not(node, pods, selector))}
    asked = [name for name in (where.server, where.client) if name]
    for name in asked:
        if name in refused:
            raise EnvironmentProblem([f"node {name} {refused[name]}"])
    good = [node for node in nodes if node["metadata"]["name"] not in refused]
    workers = [node for node in good if WORKER in (node["metadata"].get("labels") or {})]
    good = workers or good
    for name in asked:
        if all(node["metadata"]["name"] != name for node in good):
            good += [node for node in nodes if node["metadata"]["name"] == name]
    pairs = _pairs(good, where)
    if pairs:
        return pairs
    wanted = "two zones with a node each" if where.is_across else "one node" if where.is_local else "two nodes"
    refusals = [f"node {name} {text}" for name, text in refused.items()]
    raise EnvironmentProblem([f"{wanted} are needed, and {len(good)} of {len(nodes)} nodes can have pods", *refusals])


def _pairs(good: Sequence[Json], where: Where) -> list[Pair]:
    def wished(role: str) -> list[Json]:
        """Those that are wished for this end come first."""
        return sorted(good, key=lambda node: (node["metadata"].get("labels") or {}).get(_HINT) != role)

    def fits(server: Json, client: Json) -> bool:
        a, b = server["metadata"]["name"], client["metadata"]["name"]
        if where.server not in (None, a) or where.client not in (None, b):
            return False
        if where.is_local:
            return bool(a == b)
        return a != b and (
            not where.is_across or (None not in (zone(server), zone(client)) and zone(server) != zone(client))
        )

    found = [
        Pair(str(server["metadata"]["name"]), str(client["metadata"]["name"]))
        for server in wished("server")
        for client in wished("client")
        if fits(server, client)
    ]
    if not found:
        return []
    chosen: list[Pair] = []
    for _ in range(where.pairs):
        chosen.append(min(found, key=lambda pair: _uses(pair, chosen)))
    return chosen


def _uses(pair: Pair, chosen: Sequence[Pair]) -> tuple[int, int]:
    """How often its nodes have been taken for the same end, and for any: nobody is taken twice before all are once."""
    same = sum((one.server == pair.server) + (one.client == pair.client) for one in chosen)
    return same, sum((one.server == pair.client) + (one.client == pair.server) for one in chosen)


# --- looked at again ---


def verify(pod: Json, wanted: str | None, before: str | None = None) -> str:
    """The UID of a pod that is on the node where it is wanted, and is the one that it was before."""
    name, node, uid = pod["metadata"]["name"], pod["spec"].get("nodeName"), str(pod["metadata"]["uid"])
    if wanted is not None and node != wanted:
        raise MeasurementProblem(
            [f"pod {name} is on node {node}, and not on {wanted}: its figures would be wrongly named"]
        )
    if before is not None and before != uid:
        raise MeasurementProblem([f"pod {name} is another one than before the sample"])
    return uid


def relation(server: Json, client: Json) -> str:
    """How far two nodes are apart."""
    if server["metadata"]["name"] == client["metadata"]["name"]:
        return "same node"
    a, b = zone(server), zone(client)
    if a is None or b is None:
        return "other node"
    return "other node, same zone" if a == b else "other zone"
