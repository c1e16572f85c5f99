# SPDX-License-Identifier: Apache-2.0
"""What a cluster lacks for the network that is asked for, beside its own: kinds, attachments, the operator's settings,
labels; and the rights that are needed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from netmodel_lab.k8s import manifests, networks, sriov_checks
from netmodel_lab.k8s.cluster import (
    ATTACHMENT,
    CUDN,
    IP_POOL,
    MACHINE,
    NAMESPACE,
    POLICY,
    SRIOV_CONFIG,
    SRIOV_NETWORK,
    SRIOV_POLICY,
    SRIOV_STATE,
    UDN,
    Cluster,
    Kind,
)
from netmodel_lab.k8s.network_objects import OPERATOR, functions
from netmodel_lab.k8s.networks import Network
from netmodel_lab.k8s.placement import Places
from netmodel_lab.k8s.problems import ApiProblem
from netmodel_lab.k8s.rights import Right
from netmodel_lab.k8s.settings import Point, Settings

Json = dict[str, Any]
_ALL = ("create", "get", "list", "delete")
_WHOSE = {  # what brings a kind
    ATTACHMENT: "Multus",
    IP_POOL: "whereabouts, which gives the addresses,",
    UDN: "OVN-Kubernetes with user-defined networks",
    CUDN: "OVN-Kubernetes with user-defined networks",
    SRIOV_POLICY: "the SR-IOV operator",
    SRIOV_NETWORK: "the SR-IOV operator",
    MACHINE: "KubeVirt",
}
_NEEDED: dict[str, tuple[Kind, ...]] = {
    "multus": (ATTACHMENT,),
    "bridge": (ATTACHMENT, IP_POOL),
    "macvlan": (ATTACHMENT, IP_POOL),
    "sriov": (ATTACHMENT, IP_POOL, SRIOV_POLICY, SRIOV_NETWORK),
    "udn": (UDN,),
    "cudn": (ATTACHMENT, CUDN),
    "localnet": (ATTACHMENT, CUDN),
}


def with_device(cluster: Cluster, settings: Settings) -> Settings:
    """An attachment that is there may name a device, of which each pod takes one."""
    network = settings.network
    if network is None or network.is_made:
        return settings
    meta = (_attachment(cluster, network) or {}).get("metadata") or {}
    resource = str((meta.get("annotations") or {}).get(networks.RESOURCE) or "")
    return replace(settings, network=replace(network, resource=resource))


def _attachment(cluster: Cluster, network: Network) -> Json | None:
    namespace, _, name = network.of.partition("/")
    try:
        return cluster.get(ATTACHMENT, name, namespace)
    except ApiProblem:
        return None


def rights(settings: Settings) -> list[tuple[Right, str]]:
    """Those of what is asked for, which a run without it needs not; and the namespace of each; empty: they are of the
    cluster."""
    return [*_rights_of_network(settings), *_rights_of_machines(settings), *_rights_of_policy(settings)]


def _rights_of_policy(settings: Settings) -> list[tuple[Right, str]]:
    return [(_right(POLICY, *_ALL), manifests.namespace_of(settings, "pod"))] if settings.network_policy else []


def _rights_of_machines(settings: Settings) -> list[tuple[Right, str]]:
    return [(_right(MACHINE, *_ALL), manifests.namespace_of(settings, "vm"))] if settings.machines else []


def _rights_of_network(settings: Settings) -> list[tuple[Right, str]]:
    network = settings.network
    if network is None:
        return []
    where = manifests.namespace_of(settings, "pod")
    if not network.is_made:
        return [(_right(ATTACHMENT, "get"), network.of.partition("/")[0])]
    if network.kind == "sriov":
        found = [(_right(kind, *_ALL), OPERATOR) for kind in (SRIOV_POLICY, SRIOV_NETWORK)]
        return [
            *found,
            *((_right(kind, "get"), OPERATOR) for kind in (SRIOV_CONFIG, SRIOV_STATE)),
            (_right(ATTACHMENT, "get"), where),
        ]
    kind = {"udn": UDN, "cudn": CUDN, "localnet": CUDN}.get(network.kind, ATTACHMENT)
    return [(_right(kind, *_ALL), where if kind.namespaced else "")]


def _right(kind: Kind, *verbs: str) -> Right:
    return Right(kind.version.partition("/")[0], kind.plural, verbs)


def lacks(cluster: Cluster, settings: Settings, points: Sequence[Point], places: Places) -> list[str]:
    """Nothing: pods, and machines, can be put on it, as far as can be told before."""
    network = settings.network
    needed = (*_needed(network, settings.machines is not None), *((MACHINE,) if settings.machines else ()))
    missing = [kind for kind in needed if not cluster.has(kind)]
    if network is None or missing:
        return [f"the cluster has no {kind.name} ({kind.version}): {_WHOSE[kind]} is not installed" for kind in missing]
    if not network.is_made:
        return list(_lacks_attachment(cluster, network))
    if network.kind == "sriov":
        return list(sriov_checks.lacks(cluster, network, functions(points, places), places))
    return list(_lacks_label(cluster, settings)) if network.is_primary else []


def _needed(network: Network | None, has_machines: bool) -> tuple[Kind, ...]:
    if network is None:
        return ()
    found = _NEEDED[network.kind] if network.is_made else (ATTACHMENT,)
    return tuple(kind for kind in found if not (has_machines and kind is IP_POOL))


def _lacks_attachment(cluster: Cluster, network: Network) -> Iterator[str]:
    """The API server takes any text as the configuration of one."""
    there = _attachment(cluster, network)
    if there is None:
        yield f"NetworkAttachmentDefinition {network.of} is not there, or may not be read"
        return
    text = str((there.get("spec") or {}).get("config") or "")
    try:
        json.loads(text or "{}")
    except ValueError as error:
        yield f"NetworkAttachmentDefinition {network.of}: its config is no JSON: {error}"


def _lacks_label(cluster: Cluster, settings: Settings) -> Iterator[str]:
    """OVN-Kubernetes looks at the label of a namespace when it is made, and never again."""
    if not settings.namespace:
        return
    there = cluster.get(NAMESPACE, settings.namespace)
    if networks.PRIMARY not in (((there or {}).get("metadata") or {}).get("labels") or {}):
        yield (
            f"namespace {settings.namespace}: was made without the label {networks.PRIMARY}, without which pods are on "
            "no primary network; leave --namespace out"
        )
