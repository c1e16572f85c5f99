# SPDX-License-Identifier: Apache-2.0
"""What runs have left in a cluster: found by label, removed in order. A namespace that no run has made stays."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from netmodel_lab.k8s.cluster import (
    BY_NAME,
    CONFIG_MAP,
    JOB,
    MACHINE,
    NAMESPACE,
    NETWORK_KINDS,
    NODE,
    POD,
    SECRET,
    SERVICE,
    Cluster,
    Kind,
)
from netmodel_lab.k8s.manifests import CREATED_BY, EXPIRES, MANAGED, RUN
from netmodel_lab.k8s.placement import is_ready
from netmodel_lab.k8s.problems import ApiProblem
from netmodel_lab.k8s.waits import Waits

Json = dict[str, Any]
_IN_ORDER: tuple[Kind, ...] = (JOB, POD, SERVICE, CONFIG_MAP, SECRET)
_OURS = ",".join(f"{name}={value}" for name, value in MANAGED.items())


@dataclass(frozen=True)
class Left:
    """What one run has left."""

    run: str
    items: tuple[Json, ...]
    expires: int

    @property
    def is_expired(self) -> bool:
        return self.expires < time.time()

    def text(self) -> str:
        kinds = [str(item["kind"]) for item in self.items]
        counted = ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds))
        where = dict.fromkeys(str(item["metadata"].get("namespace") or item["metadata"]["name"]) for item in self.items)
        until = time.strftime("%Y-%m-%d %H:%M", time.localtime(min(self.expires, 1 << 40)))
        when = "expired" if self.is_expired else f"may be of use until {until}"
        return f"{self.run}  {counted}  in {', '.join(where)}  {when}"


def _run(item: Json) -> str:
    return str((item["metadata"].get("labels") or {}).get(RUN) or "")


def _expires(item: Json) -> int:
    text = str((item["metadata"].get("annotations") or {}).get(EXPIRES) or "")
    return int(text) if text.isdecimal() else 1 << 62


def find(cluster: Cluster, namespace: str | None) -> list[Left]:
    """By run; in one namespace, or in all."""
    found: dict[str, list[Json]] = {}
    for kind in (*_IN_ORDER, NAMESPACE):
        if kind is NAMESPACE and namespace:
            continue
        for item in cluster.listed(kind, namespace if kind.namespaced else None, labels=f"{_OURS},{RUN}"):
            found.setdefault(_run(item), []).append({**item, "kind": kind.name})
    for item in _beside(cluster, namespace):
        if namespace in (None, item["metadata"].get("namespace")) or _run(item) in found:
            found.setdefault(_run(item), []).append(item)
    for pod in cluster.listed(POD, namespace, labels=f"app.kubernetes.io/name=netmodel,{RUN}"):
        there = found.setdefault(_run(pod), [])
        if all(one["metadata"]["uid"] != pod["metadata"]["uid"] for one in there):
            there.append({**pod, "kind": "Pod"})
    return [Left(run, tuple(items), min(map(_expires, items))) for run, items in found.items()]


def _beside(cluster: Cluster, namespace: str | None) -> Iterator[Json]:
    """Machines and networks, of which some are in no namespace, or in an operator's. Those of this one namespace where
    one must not look at others."""
    labels = f"{_OURS},{RUN}"
    for kind in (MACHINE, *NETWORK_KINDS):
        items = cluster.listed_if_there(kind, None, labels)
        if not items and namespace and kind.namespaced:
            items = cluster.listed_if_there(kind, namespace, labels)
        yield from ({**item, "kind": kind.name} for item in items)


def remove(
    cluster: Cluster, waits: Waits, run: str, namespaces: Sequence[str], networks: Sequence[Json] = (), *, is_own: bool
) -> list[str]:
    """Lines about what is still there. networks: objects of the run, which go when no pod is on them any more."""
    left: list[str] = []
    for namespace in dict.fromkeys(namespaces):
        for kind in (MACHINE, *_IN_ORDER):
            for item in _listed(cluster, kind, namespace, run):
                cluster.delete({**item, "kind": kind.name}, grace_s=_grace(cluster, item) if kind is POD else None)
    # A namespace whose pods are gone goes at once; otherwise its controller looks again after some seconds.
    for namespace in dict.fromkeys(namespaces):
        for kind in (MACHINE, POD, SERVICE):  # a load balancer goes when its provider has removed it
            for item in _listed(cluster, kind, namespace, run):
                why = waits.gone(kind.name, item["metadata"]["name"], namespace)
                left += [why] if why else []
    for item in networks:
        cluster.delete(item)
    for item in networks:
        why = waits.gone(item["kind"], item["metadata"]["name"], item["metadata"].get("namespace"))
        left += [why] if why else []
    if is_own:
        for namespace in dict.fromkeys(namespaces):
            there = cluster.get(NAMESPACE, namespace)
            if there and (there["metadata"].get("annotations") or {}).get(CREATED_BY) == run:
                cluster.delete({**there, "kind": "Namespace"})
        for namespace in dict.fromkeys(namespaces):
            why = waits.gone("Namespace", namespace, None)
            left += [why] if why else []
    return left


def _listed(cluster: Cluster, kind: Kind, namespace: str, run: str) -> list[Json]:
    try:
        return cluster.listed(kind, namespace, labels=f"{RUN}={run}")
    except ApiProblem as problem:
        if problem.is_missing or (kind is MACHINE and problem.reason == "Forbidden"):
            return []
        raise


def _grace(cluster: Cluster, pod: Json) -> int | None:
    """Pods of a node that is gone are never reported as ended: they are removed without its word."""
    name = pod["spec"].get("nodeName")
    if not name:
        return None
    node = cluster.get(NODE, str(name))
    return None if node and is_ready(node) else 0


def clean(cluster: Cluster, waits: Waits, found: Left) -> list[str]:
    """Removes what a run has left, and waits until it is gone."""
    own = [
        str(item["metadata"]["name"])
        for item in found.items
        if item["kind"] == "Namespace" and (item["metadata"].get("annotations") or {}).get(CREATED_BY) == found.run
    ]
    networks = [item for item in found.items if BY_NAME[item["kind"]] in NETWORK_KINDS]
    rest = [item for item in found.items if item not in networks]
    inside = [str(item["metadata"]["namespace"]) for item in rest if item["metadata"].get("namespace")]
    others = [name for name in dict.fromkeys(inside) if name not in own]
    return [
        *remove(cluster, waits, found.run, others, is_own=False),
        *remove(cluster, waits, found.run, own, networks, is_own=True),
    ]
