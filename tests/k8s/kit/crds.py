# SPDX-License-Identifier: Apache-2.0
"""Definitions of the kinds that networks beside the cluster's own bring, as they are known to the API server: of the
same group, version and kind, and with the fields that netmodel-lab writes, so that others are refused."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]
TEXT: Json = {"type": "string"}
COUNT: Json = {"type": "integer"}
FLAG: Json = {"type": "boolean"}
ANY: Json = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def struct(*required: str, **fields: Json) -> Json:
    return {"type": "object", "properties": fields, **({"required": list(required)} if required else {})}


def listed(item: Json) -> Json:
    return {"type": "array", "items": item}


def one_of(*values: str) -> Json:
    return {"type": "string", "enum": list(values)}


_ROLE = one_of("Primary", "Secondary")
_IPAM = struct(mode=one_of("Enabled", "Disabled"), lifecycle=one_of("Persistent"))
_LAYER2 = struct("role", role=_ROLE, subnets=listed(TEXT), ipam=_IPAM, mtu=COUNT)
_LAYER3 = struct("role", "subnets", role=_ROLE, subnets=listed(struct("cidr", cidr=TEXT, hostSubnet=COUNT)), mtu=COUNT)
_LOCALNET = struct(
    "role", "physicalNetworkName", role=_ROLE, physicalNetworkName=TEXT, subnets=listed(TEXT), ipam=_IPAM
)
_TOPOLOGY = one_of("Layer2", "Layer3", "Localnet")
_NETWORK = struct("topology", topology=_TOPOLOGY, layer2=_LAYER2, layer3=_LAYER3, localnet=_LOCALNET)
_POLICY = struct(
    "resourceName",
    "nodeSelector",
    "numVfs",
    "nicSelector",
    resourceName={**TEXT, "pattern": "^[a-zA-Z0-9_]+$"},
    nodeSelector={"type": "object", "additionalProperties": TEXT},
    numVfs={**COUNT, "minimum": 0},
    nicSelector=struct(pfNames=listed(TEXT), vendor=TEXT, deviceID=TEXT, rootDevices=listed(TEXT)),
    deviceType=one_of("netdevice", "vfio-pci"),
    priority=COUNT,
    mtu=COUNT,
)
_SRIOV = struct("resourceName", resourceName=TEXT, networkNamespace=TEXT, ipam=TEXT, vlan=COUNT, capabilities=TEXT)
_KINDS: tuple[tuple[str, str, str, str, bool, Json], ...] = (
    (
        "k8s.cni.cncf.io",
        "v1",
        "NetworkAttachmentDefinition",
        "network-attachment-definitions",
        True,
        struct(config=TEXT),
    ),
    ("whereabouts.cni.cncf.io", "v1alpha1", "IPPool", "ippools", True, ANY),
    ("k8s.ovn.org", "v1", "UserDefinedNetwork", "userdefinednetworks", True, _NETWORK),
    (
        "k8s.ovn.org",
        "v1",
        "ClusterUserDefinedNetwork",
        "clusteruserdefinednetworks",
        False,
        struct("namespaceSelector", "network", namespaceSelector=ANY, network=_NETWORK),
    ),
    ("sriovnetwork.openshift.io", "v1", "SriovNetworkNodePolicy", "sriovnetworknodepolicies", True, _POLICY),
    ("sriovnetwork.openshift.io", "v1", "SriovNetwork", "sriovnetworks", True, _SRIOV),
    ("sriovnetwork.openshift.io", "v1", "SriovOperatorConfig", "sriovoperatorconfigs", True, struct(disableDrain=FLAG)),
    ("sriovnetwork.openshift.io", "v1", "SriovNetworkNodeState", "sriovnetworknodestates", True, ANY),
    ("kubevirt.io", "v1", "VirtualMachineInstance", "virtualmachineinstances", True, ANY),
)


def definitions() -> list[Json]:
    return [_definition(*one) for one in _KINDS]


def _definition(group: str, version: str, kind: str, plural: str, namespaced: bool, spec: Json) -> Json:
    schema = struct(spec=spec, status=ANY)
    served = {"name": version, "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    if kind != "SriovNetworkNodeState":  # which the tests write whole
        served["subresources"] = {"status": {}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced" if namespaced else "Cluster",
            "names": {"kind": kind, "plural": plural, "singular": kind.lower()},
            "versions": [served],
        },
    }
