# SPDX-License-Identifier: Apache-2.0
"""Whether the SR-IOV operator can make functions of a physical one without taking any from somebody else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from netmodel_lab.k8s.cluster import NODE, SRIOV_CONFIG, SRIOV_POLICY, SRIOV_STATE, Cluster
from netmodel_lab.k8s.network_objects import OPERATOR
from netmodel_lab.k8s.networks import Network, device
from netmodel_lab.k8s.placement import Places

Json = dict[str, Any]
_SELECTS = {"vendor": "vendor", "deviceID": "deviceID"}  # keys of a policy's nicSelector, and of a node's interface


def lacks(cluster: Cluster, network: Network, count: int, places: Places) -> Iterator[str]:
    """count: functions that a node needs."""
    config = cluster.get(SRIOV_CONFIG, "default", OPERATOR)
    if not ((config or {}).get("spec") or {}).get("disableDrain"):
        yield (
            f"SriovOperatorConfig default in {OPERATOR}: disableDrain is not true, so the operator would drain nodes: "
            f"kubectl patch sriovoperatorconfig default -n {OPERATOR} --type=merge "
            """-p '{"spec":{"disableDrain":true}}'"""
        )
    policies = cluster.listed(SRIOV_POLICY, OPERATOR)
    for node in sorted({node for pairs in places.values() for pair in pairs for node in (pair.server, pair.client)}):
        yield from _lacks_node(cluster, network, count, node, policies)


def _lacks_node(cluster: Cluster, network: Network, count: int, node: str, policies: Sequence[Json]) -> Iterator[str]:
    labels = (((cluster.get(NODE, node) or {}).get("metadata") or {}).get("labels")) or {}
    role = f"node-role.kubernetes.io/{network.role}"
    if labels.get(role) != "":
        yield f"node {node}: has no label {role}, by which its functions would be made (--sriov-node-selector)"
    state = cluster.get(SRIOV_STATE, node, OPERATOR)
    there = ((state or {}).get("status") or {}).get("interfaces") or []
    physical = next((one for one in there if one.get("name") == network.of), None)
    if physical is None:
        names = ", ".join(str(one.get("name")) for one in there)
        yield f"node {node}: has no physical function {network.of} (SR-IOV operator: {names or 'none'})"
        return
    most, used = int(physical.get("totalvfs") or 0), int(physical.get("numVfs") or 0)
    if most < count:
        yield f"node {node}: {network.of} has at most {most} virtual functions, and {count} are needed"
    if used:
        yield f"node {node}: {network.of} has {used} virtual functions already, which the run would take from others"
    for policy in policies:
        spec = policy.get("spec") or {}
        if any(labels.get(key) != value for key, value in (spec.get("nodeSelector") or {}).items()):
            continue
        name = f"SriovNetworkNodePolicy {policy['metadata']['name']}"
        if _selects(spec.get("nicSelector") or {}, physical):
            yield f"node {node}: {network.of} is that of {name}, which another one would contradict"
        elif spec.get("resourceName") == device(network.of):
            yield f"node {node}: {name} has the resource {device(network.of)} already"


def _selects(selector: Json, physical: Json) -> bool:
    """All that it names must fit; a name of a function may have a range behind it, as ens1#0-3."""
    fits = [physical.get(ours) == selector[theirs] for theirs, ours in _SELECTS.items() if selector.get(theirs)]
    for key, value in (("pfNames", physical.get("name")), ("rootDevices", physical.get("pciAddress"))):
        if selector.get(key):
            fits.append(value in [str(one).partition("#")[0] for one in selector[key]])
    return bool(fits) and all(fits)
