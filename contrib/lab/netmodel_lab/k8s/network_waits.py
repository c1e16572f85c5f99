# SPDX-License-Identifier: Apache-2.0
"""Waits for a network that is made for a run, each with a limit and its reason."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from typing import Any

from netmodel_lab.k8s import manifests
from netmodel_lab.k8s.cluster import ATTACHMENT, CUDN, NODE, UDN, Cluster
from netmodel_lab.k8s.network_objects import functions
from netmodel_lab.k8s.networks import Network
from netmodel_lab.k8s.placement import Places
from netmodel_lab.k8s.settings import Point, Settings
from netmodel_lab.problems import EnvironmentProblem

Json = dict[str, Any]
_LOOK_S = 0.5
_MADE = ("NetworkCreated", "NetworkReady")  # conditions, of newer and older OVN-Kubernetes


def wait_for(cluster: Cluster, settings: Settings, points: Sequence[Point], places: Places) -> None:
    """Until pods can be put on it. Raises EnvironmentProblem with what is known when that takes too long."""
    network = settings.network
    if network is None or not network.is_made:
        return
    name, namespace = f"nm-{settings.run}", manifests.namespace_of(settings, "pod")
    limit_s = settings.limits.start_s
    if network.is_ovn:
        kind, where = (UDN, namespace) if network.is_primary else (CUDN, None)
        _until(lambda: _lacks_ovn(cluster.get(kind, name, where), kind.name, name), limit_s)
    if network.kind == "sriov":
        _until(lambda: _lacks_attachment(cluster.get(ATTACHMENT, name, namespace), name, namespace), limit_s)
        nodes = dict.fromkeys(
            node for pairs in places.values() for pair in pairs for node in (pair.server, pair.client)
        )
        count = functions(points, places)
        _until(lambda: _lacks_device(cluster.listed(NODE), tuple(nodes), network, count), limit_s)


def _until(lacks: Callable[[], str], limit_s: float) -> None:
    """lacks: what is not yet there, or nothing."""
    limit = time.monotonic() + limit_s
    while text := lacks():
        if time.monotonic() > limit:
            raise EnvironmentProblem([f"{text}, after {limit_s:.0f} s"])
        time.sleep(_LOOK_S)


def _lacks_ovn(there: Json | None, kind: str, name: str) -> str:
    conditions = ((there or {}).get("status") or {}).get("conditions") or []
    if any(one.get("type") in _MADE and one.get("status") == "True" for one in conditions):
        return ""
    said = [": ".join(filter(None, (one.get("reason"), one.get("message")))) for one in conditions]
    return f"{kind} {name}: OVN-Kubernetes has not made the network: {'; '.join(said) or 'it says nothing'}"


def _lacks_attachment(there: Json | None, name: str, namespace: str) -> str:
    return "" if there else f"the SR-IOV operator has not made NetworkAttachmentDefinition {name} in {namespace}"


def _lacks_device(nodes: Sequence[Json], wanted: Collection[str], network: Network, count: int) -> str:
    have = {
        str(node["metadata"]["name"]): int((node["status"].get("allocatable") or {}).get(network.resource) or 0)
        for node in nodes
    }
    lacking = [f"node {name}: has {have.get(name, 0)}" for name in wanted if have.get(name, 0) < count]
    return f"{', '.join(lacking)} of {count} {network.resource} of {network.of}" if lacking else ""
