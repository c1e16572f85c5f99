# SPDX-License-Identifier: Apache-2.0
"""Whether a run would be let do what it does: rights, nodes, levels of Pod Security, quotas."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from netmodel_lab.k8s import manifests, network_checks, openshift, policies
from netmodel_lab.k8s.cluster import NAMESPACE, NODE, QUOTA, Cluster
from netmodel_lab.k8s.placement import Places, choose
from netmodel_lab.k8s.problems import ApiProblem
from netmodel_lab.k8s.rights import Right, lacking
from netmodel_lab.k8s.settings import Point, Settings
from netmodel_lab.problems import EnvironmentProblem

Json = dict[str, Any]

IN_NAMESPACE: tuple[Right, ...] = (
    Right("", "pods", ("create", "get", "list", "delete")),
    Right("", "pods/log", ("get",)),
    Right("", "secrets", ("create", "get", "list", "delete")),
    Right("", "configmaps", ("create", "get", "list", "delete")),
    Right("", "services", ("create", "get", "list", "delete")),
    Right("", "events", ("list",)),
    Right("batch", "jobs", ("create", "get", "list", "delete")),
)
POLICIES = Right("networking.k8s.io", "networkpolicies", ("list",))  # a run does without
OF_CLUSTER: tuple[Right, ...] = (Right("", "nodes", ("get", "list")),)
OF_NAMESPACES: tuple[Right, ...] = (Right("", "namespaces", ("create", "get", "delete")),)


def check(cluster: Cluster, settings: Settings, points: Sequence[Point]) -> tuple[list[str], bool]:
    """What there is to say, and whether a run would pass."""
    lines = [f"cluster {cluster.text}"]
    missing: list[tuple[Right, str | None]] = []
    namespace = settings.namespace
    inside = (*IN_NAMESPACE, *(() if settings.network_policy else (POLICIES,)))
    wanted = [(right, namespace or f"netmodel-{settings.run}") for right in inside]
    wanted += [(right, "") for right in (*OF_CLUSTER, *(() if namespace else OF_NAMESPACES))]
    wanted += network_checks.rights(settings)
    wanted += openshift.rights(cluster, settings, manifests.layouts(points))
    for right, where in wanted:
        verbs = lacking(cluster, right, where or None)
        told = f"{right.resource:12} {right.name + ' ' if right.name else ''}{', '.join(right.verbs)}"
        lines.append(f"  {told}: {'missing: ' + ', '.join(verbs) if verbs else 'yes'}")
        if verbs:
            missing.append((right._replace(verbs=verbs), where or None))
    more, are_good = _is_let(cluster, settings, points)
    lines += more
    if missing:
        lines += ["what grants what is missing:", *grants(missing)]
    return lines, are_good and all(right == POLICIES for right, _ in missing)


@dataclass(frozen=True)
class _Planned:
    """A run, and where its pods would be."""

    settings: Settings
    points: Sequence[Point]
    nodes: Sequence[Json]
    places: Places


def _is_let(cluster: Cluster, settings: Settings, points: Sequence[Point]) -> tuple[list[str], bool]:
    """What stands against one part of it hides nothing of the others, but for those that must know the nodes."""
    lines, is_good, nodes, places = list[str](), True, list[Json](), Places()
    try:
        nodes = cluster.listed(NODE)
        places = choose(nodes, settings.where, settings.pods)
    except EnvironmentProblem as problem:
        lines, is_good = problem.lines, False
    parts = [_places, _network] if is_good else []
    if settings.namespace:
        parts += [_level, _constraints, *([_policies, _quotas] if is_good else [])]
    planned = _Planned(settings, points, nodes, places)
    for part in parts:
        try:
            lines = [*lines, *part(cluster, planned)]
        except EnvironmentProblem as problem:
            lines, is_good = [*lines, *problem.lines], False
    return lines, is_good


def _places(_: Cluster, run: _Planned) -> list[str]:
    return [
        f"{place}: server on {pair.server}, client on {pair.client}"
        for place, pairs in run.places.items()
        for pair in pairs
    ]


def _network(cluster: Cluster, run: _Planned) -> list[str]:
    """Whether pods can be put on the network that is asked for, beside the cluster's own."""
    missing = network_checks.lacks(cluster, run.settings, run.points, run.places)
    if missing:
        raise EnvironmentProblem(missing)
    network = run.settings.network
    return [f"network {network.text}: there is what it needs"] if network else []


def _level(cluster: Cluster, run: _Planned) -> list[str]:
    """Whether the user's namespace admits what is planned."""
    name = str(run.settings.namespace)
    try:
        there = cluster.get(NAMESPACE, name)
    except ApiProblem:
        return [f"namespace {name}: its labels may not be read"]
    if there is None:
        raise EnvironmentProblem([f"namespace {name} is not there"])
    if there["metadata"].get("deletionTimestamp"):
        raise EnvironmentProblem([f"namespace {name} is being deleted"])
    level = (there["metadata"].get("labels") or {}).get("pod-security.kubernetes.io/enforce", "privileged")
    reasons = {
        "hostNetwork": "host" in manifests.layouts(run.points),
        "privileged": run.settings.pods.is_privileged,
        "a virtual machine": run.settings.machines,
    }
    needs = next((name for name, is_so in reasons.items() if is_so), "")
    if needs and level != "privileged":
        raise EnvironmentProblem(
            [f"namespace {name}: {needs} is refused by its label pod-security.kubernetes.io/enforce={level}"]
        )
    return [f"namespace {name}: Pod Security level {level}"]


def _constraints(cluster: Cluster, run: _Planned) -> list[str]:
    missing = openshift.lacks(cluster, run.settings, manifests.layouts(run.points))
    if missing:
        raise EnvironmentProblem(missing)
    return []


def _policies(cluster: Cluster, run: _Planned) -> list[str]:
    found = policies.in_the_way(cluster, run.settings, run.points, run.nodes, run.places)
    if found.refusal:
        raise EnvironmentProblem(found.refusal)
    return list(found.warning)


def _quotas(cluster: Cluster, run: _Planned) -> list[str]:
    pods = len(manifests.slaves(run.points, run.places)) + max(map(len, run.places.values()))
    lines = []
    try:
        quotas = cluster.listed(QUOTA, run.settings.namespace)
    except ApiProblem:
        return ["quotas may not be read"]
    for quota in quotas:
        name, status = quota["metadata"]["name"], quota.get("status") or {}
        most, used = (str((status.get(part) or {}).get("pods", "")) for part in ("hard", "used"))
        if most.isdecimal() and int(most) - int(used or 0) < pods:
            raise EnvironmentProblem([f"quota {name}: {used} of {most} pods are used, and {pods} are needed"])
        lines.append(
            f"quota {name}: {', '.join(f'{key} {value}' for key, value in (status.get('hard') or {}).items())}"
        )
    return lines


def grants(missing: Sequence[tuple[Right, str | None]]) -> list[str]:
    """YAML for what is missing: a Role for each namespace, and a ClusterRole."""
    lines: list[str] = []
    for where in dict.fromkeys(where for _, where in missing):
        inside = f", namespace: {where}" if where else ""
        lines += [
            "---",
            "apiVersion: rbac.authorization.k8s.io/v1",
            f"kind: {'Role' if where else 'ClusterRole'}",
            f"metadata: {{name: netmodel-lab{inside}}}",
            "rules:",
            *(_rule(right) for right, of in missing if of == where),
        ]
    return lines


def _rule(right: Right) -> str:
    names = f", resourceNames: ['{right.name}']" if right.name else ""
    verbs = ", ".join(right.verbs)
    return f'  - {{apiGroups: ["{right.group}"], resources: [{right.resource}]{names}, verbs: [{verbs}]}}'
