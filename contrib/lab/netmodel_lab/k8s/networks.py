# SPDX-License-Identifier: Apache-2.0
"""Networks beside that of the cluster's pods: which one a run has, what its pods say to be on it, and the address that
a pod has there."""

from __future__ import annotations

import ipaddress
import json
import re
from dataclasses import dataclass
from typing import Any, Literal

from netmodel_lab.k8s.paths import Family
from netmodel_lab.problems import EnvironmentProblem, UsageProblem

Json = dict[str, Any]
Topology = Literal["", "layer2", "layer3"]
NETWORKS = "k8s.v1.cni.cncf.io/networks"  # annotation of a pod: what it asks of Multus
STATUS = "k8s.v1.cni.cncf.io/network-status"  # and what it got
OVN_STATUS = "k8s.ovn.org/pod-networks"
RESOURCE = "k8s.v1.cni.cncf.io/resourceName"  # annotation of an attachment: the device that each pod takes
PRIMARY = "k8s.ovn.org/primary-user-defined-network"  # label of a namespace
_RANGES: dict[tuple[str, Topology], str] = {  # k8s-netperf's, but for that of bridges
    ("macvlan", ""): "192.168.200.0/24",
    ("bridge", ""): "192.168.220.0/24",
    ("sriov", ""): "192.168.100.0/24",
    ("udn", "layer2"): "10.0.0.0/24",
    ("udn", "layer3"): "10.0.0.0/16",
    ("cudn", "layer2"): "20.0.0.0/16",
    ("cudn", "layer3"): "20.0.0.0/16",
}
_LEAST = 8  # addresses of a range
_LINK = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,14}")
_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")  # of DNS (RFC 1123)
_NAME = re.compile(rf"{_LABEL.pattern}(\.{_LABEL.pattern})*")
_PHYSICAL = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,251}[A-Za-z0-9])?")
_ROLE = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")  # name of a label


@dataclass(frozen=True)
class Network:
    """of: NAMESPACE/NAME of an attachment that is there; else the interface, or the physical function, that it is made
    on. resource: the device that each pod takes."""

    kind: str
    of: str = ""
    topology: Topology = ""
    range: str = ""  # of its addresses, where it is made
    role: str = "worker"  # of the nodes that have the physical function
    resource: str = ""
    is_made: bool = True  # and not there already

    @property
    def is_primary(self) -> bool:
        """Pods have it instead of the cluster's."""
        return self.kind == "udn"

    @property
    def is_beside(self) -> bool:
        """Pods have it beside the cluster's, which the control connection takes then. Of an attachment that is there
        slaves do not know the addresses from which data would come."""
        return bool(self.range) and not self.is_primary

    @property
    def is_ovn(self) -> bool:
        return self.kind in ("udn", "cudn", "localnet")

    @property
    def info(self) -> tuple[str, str]:
        """The column of k8s-netperf's results that tells of it, and its text."""
        if self.kind in ("localnet", "macvlan", "sriov"):
            return f"{self.kind}Info", f"{self.kind}/{self.of}"
        if self.is_ovn:
            return "udnInfo", f"Cudn -{self.topology}" if self.kind == "cudn" else self.topology
        return "bridgeInfo", self.of

    @property
    def text(self) -> str:
        return f"{self.kind} {self.of or self.topology}"


def new(
    kind: str, of: str, topology: Topology, given: str, flag: str, *, is_made: bool = True, role: str = "worker"
) -> Network:
    """given: the range of addresses, where it is not k8s-netperf's. Raises UsageProblem."""
    range_ = (given or _RANGES.get((kind, topology), "")) if is_made and kind != "localnet" else ""
    if given and not range_:
        raise UsageProblem([f"{flag} {of}: has addresses already, and --network-range {given} no effect"])
    if given:
        _check_range(given, f"{flag} {of}: range:".replace(" :", ":"))
    if not is_made:
        space, slash, name = of.partition("/")
        if not (slash and _LABEL.fullmatch(space) and len(name) <= 253 and _NAME.fullmatch(name)):
            raise UsageProblem([f"{flag} {of}: must be the NAMESPACE/NAME of a NetworkAttachmentDefinition"])
    elif of and kind != "localnet" and not _LINK.fullmatch(of):
        raise UsageProblem([f"{flag} {of}: must be the name of an interface, of 15 characters at most"])
    elif of and kind == "localnet" and not _PHYSICAL.fullmatch(of):
        raise UsageProblem([f"{flag} {of}: must be the name of a physical network of OVN: letters, digits, -, _ and ."])
    if not _ROLE.fullmatch(role):
        raise UsageProblem([f"{flag} {of}: node role {role}: must be the name of a label, of 63 characters at most"])
    resource = f"openshift.io/{device(of)}" if kind == "sriov" else ""
    return Network(kind, of, topology, range_, role, resource, is_made)


def _check_range(text: str, at: str) -> None:
    """Two pods at least have an address in it, beside its own and that of a gateway."""
    try:
        found = ipaddress.ip_network(text)
    except ValueError as error:
        raise UsageProblem([f"{at} {error}"]) from None
    if found.num_addresses < _LEAST or found.prefixlen == 0 or found.is_multicast or found.is_loopback:
        raise UsageProblem([f"{at} {text}: must have {_LEAST} addresses at least that pods can have, and not be all"])


def device(function: str) -> str:
    """The name that the device plugin has for the functions of a physical one."""
    return re.sub(r"[^A-Za-z0-9_]", "_", function)


# --- of pods ---


def attachment(network: Network, run: str, namespace: str) -> str:
    """NAMESPACE/NAME of what pods in this namespace are attached to."""
    return f"{namespace}/nm-{run}" if network.is_made else network.of


def asks(network: Network | None, run: str, namespace: str) -> dict[str, str]:
    if network is None or network.is_primary:
        return {}
    return {NETWORKS: attachment(network, run, namespace)}


def address_of(pod: Json, network: Network, run: str, family: Family) -> str:
    """Of a pod on the network. Raises EnvironmentProblem when it is not on it: without Multus, a pod that asks for a
    network starts as if it had not."""
    meta = pod["metadata"]
    wanted = attachment(network, run, meta["namespace"])
    every = _ovn(meta, wanted) if network.is_ovn else _multus(meta, wanted)
    found = next((one for one in every if not family or (":" in one) == (family == "ipv6")), None)
    if found is None:
        said = f"pod {meta['name']} has {', '.join(every) or 'no address'} on {wanted}"
        raise EnvironmentProblem([said + (f", and no {family} address" if family and every else "")])
    return found


def _status(meta: Json, annotation: str, who: str) -> tuple[str, Any]:
    """Where it stands, for mistakes, and what."""
    text = (meta.get("annotations") or {}).get(annotation)
    if text is None:
        said = f"pod {meta['name']} has no annotation {annotation}: {who} has not put it on any network"
        raise EnvironmentProblem([said])
    at = f"pod {meta['name']}: annotation {annotation}"
    try:
        return at, json.loads(text)
    except ValueError:
        raise EnvironmentProblem([f"{at}: {text!r} is no JSON"]) from None


def _multus(meta: Json, wanted: str) -> list[str]:
    at, networks = _status(meta, STATUS, "Multus")
    if not isinstance(networks, list) or not all(isinstance(one, dict) for one in networks):
        raise EnvironmentProblem([f"{at}: {json.dumps(networks)}: must be a list of networks"])
    found = [one for one in networks if one.get("name") == wanted]
    if not found:
        names = ", ".join(str(one.get("name")) for one in networks) or "none"
        raise EnvironmentProblem([f"pod {meta['name']} is not on {wanted}: annotation {STATUS} has {names}"])
    return [ip for one in found for ip in _addresses(at, one.get("ips"))]


def _ovn(meta: Json, wanted: str) -> list[str]:
    at, networks = _status(meta, OVN_STATUS, "OVN-Kubernetes")
    if not isinstance(networks, dict):
        raise EnvironmentProblem([f"{at}: {json.dumps(networks)}: must be a map of networks"])
    if wanted not in networks:
        names = ", ".join(networks) or "none"
        raise EnvironmentProblem([f"pod {meta['name']} is not on {wanted}: {OVN_STATUS} has {names}"])
    one = networks[wanted]
    if not isinstance(one, dict):
        raise EnvironmentProblem([f"{at}: {wanted}: {json.dumps(one)}: must be a map"])
    return _addresses(at, one.get("ip_addresses") or ([one["ip_address"]] if one.get("ip_address") else []))


def _addresses(at: str, given: Any) -> list[str]:
    """Without the lengths of their prefixes."""
    if not isinstance(given, list | None):
        raise EnvironmentProblem([f"{at}: {json.dumps(given)}: must be a list of addresses"])
    found = []
    for one in given or []:
        try:
            found.append(str(ipaddress.ip_interface(one if isinstance(one, str) else "").ip))
        except ValueError:
            raise EnvironmentProblem([f"{at}: {json.dumps(one)} is no address"]) from None
    return found
