# SPDX-License-Identifier: Apache-2.0
"""The objects of a network that is made for a run, and when it is there."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

from netmodel_lab.k8s import manifests
from netmodel_lab.k8s.networks import Network, device
from netmodel_lab.k8s.placement import Places
from netmodel_lab.k8s.settings import Point, Settings

Json = dict[str, Any]
OPERATOR = "openshift-sriov-network-operator"  # namespace of the SR-IOV operator
_CNI = "0.3.1"


def objects(settings: Settings, points: Sequence[Point], places: Places, expires: str) -> list[Json]:
    """In their order; none where the network is there already."""
    network = settings.network
    if network is None or not network.is_made:
        return []
    namespace = manifests.namespace_of(settings, "pod")
    meta = manifests.meta_of(settings, f"nm-{settings.run}", namespace, expires)
    wide = manifests.meta_of(settings, f"nm-{settings.run}", None, expires)
    if network.kind == "udn":
        return [_object("k8s.ovn.org/v1", "UserDefinedNetwork", meta, _ovn(network, "Primary"))]
    if network.kind == "cudn":
        spec: Json = {
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
            "network": _ovn(network, "Secondary"),
        }
        return [_object("k8s.ovn.org/v1", "ClusterUserDefinedNetwork", wide, spec)]
    if network.kind == "sriov":
        return _sriov(settings, network, _most_on_a_node(points, places), expires)
    config = _bridge(network) if network.kind == "bridge" else _macvlan(network)
    spec = {"config": json.dumps({"cniVersion": _CNI, "name": meta["name"], **config})}
    return [_object("k8s.cni.cncf.io/v1", "NetworkAttachmentDefinition", meta, spec)]


def _object(version: str, kind: str, meta: Json, spec: Json) -> Json:
    return {"apiVersion": version, "kind": kind, "metadata": meta, "spec": spec}


def _ovn(network: Network, role: str) -> Json:
    """Layer 3 has a part of the range for each node, and so names it otherwise."""
    subnets = [network.range] if network.topology == "layer2" else [{"cidr": network.range}]
    return {
        "topology": network.topology.capitalize(),
        network.topology: {"role": role, "subnets": subnets},
    }


def _addresses(network: Network) -> Json:
    return {"type": "whereabouts", "range": network.range}


def _macvlan(network: Network) -> Json:
    return {"type": "macvlan", "master": network.of, "mode": "bridge", "ipam": _addresses(network)}


def _bridge(network: Network) -> Json:
    return {"type": "bridge", "bridge": network.of, "ipam": _addresses(network)}


def _most_on_a_node(points: Sequence[Point], places: Places) -> int:
    """Pods that are there at the same time, and take a function each; two at least, as k8s-netperf has them."""
    stand = manifests.slaves_by_node(points, places)
    most = [stand + Counter(pair.client for pair in pairs) for pairs in places.values()]
    return max([2, *(count for one in most for count in one.values())])


def _sriov(settings: Settings, network: Network, count: int, expires: str) -> list[Json]:
    """The operator makes the functions, and then the attachment in the namespace of the pods."""
    meta = manifests.meta_of(settings, f"nm-{settings.run}", OPERATOR, expires)
    resource = device(network.of)
    policy = {
        "resourceName": resource,
        "nodeSelector": {f"node-role.kubernetes.io/{network.role}": ""},
        "numVfs": count,
        "nicSelector": {"pfNames": [network.of]},
        "deviceType": "netdevice",
    }
    made = {
        "resourceName": resource,
        "networkNamespace": manifests.namespace_of(settings, "pod"),
        "ipam": json.dumps(_addresses(network)),
    }
    version = "sriovnetwork.openshift.io/v1"
    return [
        _object(version, "SriovNetworkNodePolicy", meta, policy),
        _object(version, "SriovNetwork", meta, made),
    ]
