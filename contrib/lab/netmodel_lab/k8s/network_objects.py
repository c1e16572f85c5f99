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
    has_machines = settings.machines is not None
    if network.kind == "udn":
        return [_object("k8s.ovn.org/v1", "UserDefinedNetwork", meta, _ovn(network, "Primary", has_machines))]
    if network.kind in ("cudn", "localnet"):
        spec: Json = {
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
            "network": _ovn(network, "Secondary", has_machines),
        }
        return [_object("k8s.ovn.org/v1", "ClusterUserDefinedNetwork", wide, spec)]
    if network.kind == "sriov":
        return _sriov(settings, network, functions(points, places), expires)
    config = {"cniVersion": _CNI, "name": meta["name"], **_cni(network), **_addresses(settings, network)}
    spec = {"config": json.dumps(config)}
    return [_object("k8s.cni.cncf.io/v1", "NetworkAttachmentDefinition", meta, spec)]


def _object(version: str, kind: str, meta: Json, spec: Json) -> Json:
    return {"apiVersion": version, "kind": kind, "metadata": meta, "spec": spec}


def _ovn(network: Network, role: str, has_machines: bool) -> Json:
    """Layer 3 has a part of the range for each node, and so names it otherwise. A machine keeps its address when it
    moves where the network is told so."""
    if network.kind == "localnet":
        local: Json = {"role": role, "physicalNetworkName": network.of, "ipam": {"mode": "Disabled"}}
        return {"topology": "Localnet", "localnet": local}
    layer: Json = {"role": role, "subnets": [{"cidr": network.range}]}
    if network.topology == "layer2":
        layer["subnets"] = [network.range]
        layer |= {"ipam": {"lifecycle": "Persistent"}} if has_machines else {}
    return {"topology": network.topology.capitalize(), network.topology: layer}


def _addresses(settings: Settings, network: Network) -> Json:
    """Machines have addresses of their own."""
    return {} if settings.machines else {"ipam": {"type": "whereabouts", "range": network.range}}


def _cni(network: Network) -> Json:
    if network.kind == "bridge":
        return {"type": "bridge", "bridge": network.of}
    return {"type": "macvlan", "master": network.of, "mode": "bridge"}


def functions(points: Sequence[Point], places: Places) -> int:
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
        "deviceType": "vfio-pci" if settings.machines else "netdevice",
    }
    made = {
        "resourceName": resource,
        "networkNamespace": manifests.namespace_of(settings, "pod"),
    }
    made |= {name: json.dumps(one) for name, one in _addresses(settings, network).items()}
    version = "sriovnetwork.openshift.io/v1"
    return [
        _object(version, "SriovNetworkNodePolicy", meta, policy),
        _object(version, "SriovNetwork", meta, made),
    ]
