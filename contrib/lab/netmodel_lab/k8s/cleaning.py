# SPDX-License-Identifier: Apache-2.0
"""What runs have left in a cluster: found by label, removed in order. A namespace that no run has made stays."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
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
    POLICY,
    SECRET,
    SERVICE,
    SRIOV_NETWORK,
    SRIOV_POLICY,
    Cluster,
    Kind,
)
from netmodel_lab.k8s.manifests import CREATED_BY, EXPIRES, MANAGED, RUN
from netmodel_lab.k8s.network_objects import OPERATOR
from netmodel_lab.k8s.placement import is_ready
from netmodel_lab.k8s.problems import ApiProblem
from netmodel_lab.k8s.waits import Waits

Json = dict[str, Any]
_IN_ORDER: tuple[Kind, ...] = (JOB, POD, SERVICE, CONFIG_MAP, SECRET)
_OPTIONAL = (POLICY,)  # kinds that an account for runs without them need not see


@dataclass
class Unseen:
    """What could not be listed."""

    lines: list[str] = field(default_factory=list)
    has_failed: bool = False  # something may be left that the account should see


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


def find(cluster: Cluster, namespace: str | None, runs: Collection[str] = ()) -> tuple[list[Left], Unseen]:
    """By run; in one namespace, or in all; runs: their objects in no namespace, too. And what may not be
    looked for."""
    found: dict[str, list[Json]] = {}
    for kind in (*_IN_ORDER, NAMESPACE):
        if kind is NAMESPACE and namespace:
            continue
        for item in cluster.listed(kind, namespace if kind.namespaced else None, labels=f"{_OURS},{RUN}"):
            found.setdefault(_run(item), []).append({**item, "kind": kind.name})
    beside, unseen = _beside(cluster, namespace)
    for item in beside:
        if namespace in (None, item["metadata"].get("namespace")) or _run(item) in (*found, *runs):
            found.setdefault(_run(item), []).append(item)
    for pod in cluster.listed(POD, namespace, labels=f"app.kubernetes.io/name=netmodel,{RUN}"):
        there = found.setdefault(_run(pod), [])
        if all(one["metadata"]["uid"] != pod["metadata"]["uid"] for one in there):
            there.append({**pod, "kind": "Pod"})
    return [Left(run, tuple(items), min(map(_expires, items))) for run, items in found.items()], unseen


def _beside(cluster: Cluster, namespace: str | None) -> tuple[list[Json], Unseen]:
    """Machines and networks, of which some are in no namespace, or in an operator's; each where its kind can be."""
    found, unseen = list[Json](), Unseen()
    for kind in (MACHINE, *NETWORK_KINDS):
        where = OPERATOR if kind in (SRIOV_NETWORK, SRIOV_POLICY) else namespace if kind.namespaced else None
        try:
            items = cluster.listed(kind, where, f"{_OURS},{RUN}")
        except ApiProblem as problem:
            # One without rights is not told which kinds there are.
            if not problem.is_missing and _may_be_there(cluster, kind):
                told = f"whether a run has left any {kind.name} cannot be told: {problem.message}"
                unseen.lines += [told, *problem.lines[1:]]
                unseen.has_failed |= not (problem.is_forbidden and kind in _OPTIONAL)
            continue
        found += [{**item, "kind": kind.name} for item in items]
    return found, unseen


def _may_be_there(cluster: Cluster, kind: Kind) -> bool:
    try:
        return cluster.has(kind)
    except ApiProblem:
        return True


class _Removal:
    """What is refused is told, and the rest goes on."""

    def __init__(self, cluster: Cluster, waits: Waits, run: str) -> None:
        self._cluster, self._waits, self._run = cluster, waits, run
        self._graces: dict[str, int | None] = {}
        self.left: list[str] = []

    def _refused(self, what: str, problem: ApiProblem) -> None:
        self.left += [f"{what}: {problem.message}", *problem.lines[1:]]

    def listed(self, kind: Kind, namespace: str) -> list[Json]:
        try:
            return self._cluster.listed(kind, namespace, labels=f"{RUN}={self._run}")
        except ApiProblem as problem:
            if not problem.is_missing:
                self._refused(f"{kind.name} in {namespace} cannot be listed", problem)
            return []

    def delete(self, item: Json, grace_s: int | None = None) -> None:
        try:
            self._cluster.delete(item, grace_s=grace_s)
        except ApiProblem as problem:
            self._refused(f"{item['kind']} {item['metadata']['name']} cannot be removed", problem)

    def grace(self, item: Json, *, again: bool = False) -> int | None:
        """Of a pod, whose node is asked once for all of them, unless it is asked again."""
        node = _node_of(item)
        if node and (again or node not in self._graces):
            self._graces[node] = None
            try:
                self._graces[node] = _grace(self._cluster, node)
            except ApiProblem as problem:
                self._refused(f"whether node {node} is there cannot be told", problem)
        return self._graces.get(node)

    def _force(self, pod: Json) -> None:
        """That its node is gone may be known only after the pod has been asked to go."""
        if self.grace(pod, again=True) == 0:
            self.delete({**pod, "kind": POD.name}, 0)

    def delete_namespace(self, name: str) -> None:
        """Unless somebody else has made it."""
        try:
            there = self._cluster.get(NAMESPACE, name)
        except ApiProblem as problem:
            self._refused(f"Namespace {name} cannot be looked at", problem)
            return
        if there and (there["metadata"].get("annotations") or {}).get(CREATED_BY) == self._run:
            self.delete({**there, "kind": "Namespace"})

    def wait(self, items: Iterable[tuple[str, str, str | None]]) -> None:
        """Until they are gone (kind, name, namespace); not for what could not be removed. All have one limit."""
        limit = self._waits.removal()
        for kind, name, namespace in items:
            if any(line.startswith(f"{kind} {name} cannot be ") for line in self.left):
                continue
            look = self._force if kind == POD.name else lambda _: None
            try:
                why = self._waits.gone(kind, name, namespace, limit, look)
            except ApiProblem as problem:
                self._refused(f"whether {kind} {name} is gone cannot be told", problem)
                continue
            self.left += [why] if why else []


def remove(
    cluster: Cluster,
    waits: Waits,
    run: str,
    namespaces: Sequence[str],
    networks: Sequence[Json] = (),
    *,
    is_own: bool,
    has_machines: bool,
) -> list[str]:
    """Lines about what is still there. networks: objects of the run, which go when no pod is on them any more."""
    removal, names = _Removal(cluster, waits, run), list(dict.fromkeys(namespaces))
    machines = (MACHINE,) if has_machines else ()
    for namespace in names:
        for kind in (*machines, *_IN_ORDER):
            for item in removal.listed(kind, namespace):
                removal.delete({**item, "kind": kind.name}, removal.grace(item) if kind is POD else None)
    # A namespace whose pods are gone goes at once; otherwise its controller looks again after some seconds.
    removal.wait(
        (kind.name, item["metadata"]["name"], namespace)
        for namespace in names
        for kind in (*machines, POD, SERVICE)  # a load balancer goes when its provider has removed it
        for item in removal.listed(kind, namespace)
    )
    for item in networks:
        removal.delete(item)
    removal.wait((item["kind"], item["metadata"]["name"], item["metadata"].get("namespace")) for item in networks)
    if is_own:
        for namespace in names:
            removal.delete_namespace(namespace)
        removal.wait((NAMESPACE.name, namespace, None) for namespace in names)
    return list(dict.fromkeys(removal.left))


def _node_of(pod: Json) -> str:
    return str(pod["spec"].get("nodeName") or "")


def _grace(cluster: Cluster, node: str) -> int | None:
    """Pods of a node that is gone are never reported as ended: they are removed without its word."""
    try:
        found = cluster.get(NODE, node)
    except ApiProblem as problem:
        if not problem.is_forbidden:  # one may not look, as who has rights in one namespace alone
            raise
        return None
    return None if found and is_ready(found) else 0


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
    has_machines = any(item["kind"] == MACHINE.name for item in rest)
    return [
        *remove(cluster, waits, found.run, others, is_own=False, has_machines=has_machines),
        *remove(cluster, waits, found.run, own, networks, is_own=True, has_machines=has_machines),
    ]
