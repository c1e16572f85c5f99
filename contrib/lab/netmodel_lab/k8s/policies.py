# SPDX-License-Identifier: Apache-2.0
"""Network policies: those of a namespace that keep the pods of a run apart, and one of its own that lets them meet."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from netmodel_lab.k8s import manifests, others
from netmodel_lab.k8s.cluster import NAMESPACE, NODE, POLICY, Cluster
from netmodel_lab.k8s.others import NETMODEL
from netmodel_lab.k8s.placement import Places, stands
from netmodel_lab.k8s.problems import ApiProblem
from netmodel_lab.k8s.settings import DATA_PORT, Point, Settings

Json = dict[str, Any]
Labels = dict[str, str]
_Net = ipaddress.IPv4Network | ipaddress.IPv6Network
_CHOSEN = (32768, 60999)  # net.ipv4.ip_local_port_range of a pod, unless that is told otherwise
_NODE_PORTS = (30000, 32767)
_FROM_NODES = ("NodePort", "LoadBalancer")  # what comes through them may have the address of a node
_ANY = ("0.0.0.0/0", "::/0")


class Need(NamedTuple):
    """Ports of a server that its clients must reach."""

    what: str
    protocol: str
    first: int
    last: int

    def __str__(self) -> str:
        ports = str(self.first) if self.first == self.last else f"{self.first}-{self.last}"
        return f"{self.protocol} {ports} ({self.what})"


class _Meeting(NamedTuple):
    """Two ends that must meet, by their labels. None: in the network of a node, which no policy of pods holds.
    is_by_node: each sees the address of a node in place of the other's."""

    server: Labels | None
    client: Labels | None
    is_by_node: bool
    needs: tuple[Need, ...]


# --- what must be let through ---


def _protocols(point: Point) -> tuple[str, ...]:
    known = point.test.entry.protocol
    return (known,) if known else ("TCP", "UDP")


def _needs(settings: Settings, point: Point, slave: int, lanes: int) -> Iterator[Need]:
    first = manifests.control_port(settings, slave, point.path.server, driver=point.driver)
    if point.driver != NETMODEL:
        every = others.all_ports(point.driver, first, lanes, settings.parallelism)
        for protocol in dict.fromkeys(("TCP", *_protocols(point))):
            yield Need(point.driver, protocol, every[0], every[-1])
        return
    yield Need("control", "TCP", first, first)
    network = settings.network
    if network and network.is_beside and point.network == network.kind:
        return  # its data are not on the network that policies hold
    data = _CHOSEN
    if point.path.has_fixed_ports:
        data = (DATA_PORT, DATA_PORT + lanes - 1)
    if point.network == "nodeport":
        data = _NODE_PORTS
    for protocol in _protocols(point):
        yield Need("data", protocol, *data)


def _meetings(settings: Settings, points: Sequence[Point], places: Places) -> Iterator[_Meeting]:
    stand = stands(places)
    for point in points:
        path = point.path
        if point.network == "external" or path.is_within:
            continue
        for number, pair in enumerate(places[point.place]):
            server = manifests.server_marks(manifests.Slave(pair.slave, path.server, point.driver))
            client = manifests.client_marks(point, number, pair)
            yield _Meeting(
                manifests.labels(settings, **server) if path.server != "host" else None,
                manifests.labels(settings, **client) if path.client != "host" else None,
                path.service in _FROM_NODES,
                tuple(_needs(settings, point, pair.slave, stand[pair.slave].lanes)),
            )


# --- what policies let through ---


def _selects(selector: Json, labels: Labels) -> bool:
    if any(labels.get(name) != value for name, value in (selector.get("matchLabels") or {}).items()):
        return False
    return all(_has(one, labels) for one in selector.get("matchExpressions") or [])


def _has(one: Json, labels: Labels) -> bool:
    name, values = one["key"], one.get("values") or []
    return {
        "In": labels.get(name) in values,
        "NotIn": labels.get(name) not in values,
        "Exists": name in labels,
        "DoesNotExist": name not in labels,
    }[one["operator"]]


def _types(spec: Json) -> Sequence[str]:
    return spec.get("policyTypes") or ["Ingress", *(["Egress"] if spec.get("egress") else [])]


def _net(text: str) -> _Net:
    return ipaddress.ip_network(text, strict=False)


def _is_in(net: _Net, whole: _Net, holes: Sequence[_Net]) -> bool:
    first, last = net.network_address, net.broadcast_address
    return first in whole and last in whole and not any(first in one or one.network_address in net for one in holes)


class _Space(NamedTuple):
    """What peers are looked up in: labels of the namespace, addresses of nodes, and ranges of pods, as far as known."""

    labels: Labels
    nodes: tuple[_Net, ...]
    pods: tuple[_Net, ...]

    @classmethod
    def of(cls, cluster: Cluster, namespace: str) -> _Space:
        nodes, pods = list[_Net](), list[_Net]()
        for node in cluster.listed_if_there(NODE):
            of = node["status"].get("addresses") or []
            nodes += [_net(one["address"]) for one in of if one["type"] == "InternalIP"]
            pods += map(_net, node.get("spec", {}).get("podCIDRs") or [])
        return cls(_labels_of(cluster, namespace), tuple(nodes), tuple(pods))

    def has(self, peer: Json, labels: Labels | None) -> bool:
        """Whether one of a policy is the one with these labels. None: a node."""
        block = peer.get("ipBlock")
        if block:
            whole = _net(block["cidr"])
            every = self.nodes if labels is None else self.pods
            known = [one for one in every if one.version == whole.version]
            holes = [_net(one) for one in block.get("except") or []]
            return bool(known) and all(_is_in(one, whole, holes) for one in known) if every else block["cidr"] in _ANY
        if labels is None or not _selects(peer.get("namespaceSelector") or {}, self.labels):
            return False
        return _selects(peer.get("podSelector") or {}, labels)


def _has_ports(rule: Json, need: Need) -> bool:
    if not rule.get("ports"):
        return True
    for one in rule["ports"]:
        port = one.get("port")
        if one.get("protocol", "TCP") != need.protocol:
            continue
        if port is None or (isinstance(port, str) and port == need.what):  # the name of the container's port
            return True
        if isinstance(port, int) and port <= need.first and need.last <= int(one.get("endPort") or port):
            return True
    return False


class _Side(NamedTuple):
    """Of a connection, as policies have it."""

    type: str
    rules: str
    peers: str


class _Denied(NamedTuple):
    policies: tuple[str, ...]
    peer: str
    needs: tuple[Need, ...]


_SIDES = (_Side("Ingress", "ingress", "from"), _Side("Egress", "egress", "to"))


def _denied(policies: Sequence[Json], side: _Side, meeting: _Meeting, space: _Space) -> _Denied | None:
    """What none of the policies that hold an end lets through."""
    pod, peer = meeting[:2] if side.type == "Ingress" else meeting[1::-1]
    peer = None if meeting.is_by_node else peer
    if pod is None:
        return None
    holding = [
        one
        for one in policies
        if side.type in _types(one["spec"]) and _selects(one["spec"].get("podSelector") or {}, pod)
    ]
    rules = [
        rule
        for one in holding
        for rule in one["spec"].get(side.rules) or []
        if not rule.get(side.peers) or any(space.has(one, peer) for one in rule[side.peers])
    ]
    left = tuple(need for need in meeting.needs if not any(_has_ports(rule, need) for rule in rules))
    names = tuple(str(one["metadata"]["name"]) for one in holding)
    return _Denied(names, "addresses of nodes" if peer is None else "each other", left) if holding and left else None


def in_the_way(cluster: Cluster, settings: Settings, points: Sequence[Point], places: Places) -> list[str]:
    """Lines about policies of the user's namespace that would keep the run's pods apart, and what one would have to
    allow. Nothing where they may not be read, or are not to be looked at."""
    if not settings.namespace or settings.network_policy is not None:
        return []
    policies = cluster.listed_if_there(POLICY, settings.namespace)
    if not policies:
        return []
    space, meetings = _Space.of(cluster, settings.namespace), list(_meetings(settings, points, places))
    lines = []
    for side in _SIDES:
        found = list(filter(None, (_denied(policies, side, one, space) for one in meetings)))
        for peer in dict.fromkeys(one.peer for one in found):
            lines.append(_told(settings.namespace, side, peer, [one for one in found if one.peer == peer]))
    return [*lines, _ADVICE] if lines else []


_ADVICE = (
    "--network-policy makes one for the run and removes it; --network-policy=false measures all the same, as where the "
    "network of the cluster does not enforce them"
)


def _told(namespace: str, side: _Side, peer: str, denied: Sequence[_Denied]) -> str:
    names = ", ".join(dict.fromkeys(name for one in denied for name in one.policies))
    needs = ", ".join(map(str, dict.fromkeys(need for one in denied for need in one.needs)))
    return (
        f"namespace {namespace}: NetworkPolicy {names} is likely to be in the way: for pods with the label "
        f"app.kubernetes.io/name=netmodel one must allow {side.type.lower()} {side.peers} {peer}: {needs}"
    )


def _labels_of(cluster: Cluster, namespace: str) -> Labels:
    """Of a namespace; where it may not be read, the one that each has."""
    try:
        there = cluster.get(NAMESPACE, namespace) or {}
    except ApiProblem:
        there = {}
    return {"kubernetes.io/metadata.name": namespace, **((there.get("metadata") or {}).get("labels") or {})}


# --- one of the run's own ---


def objects(settings: Settings, points: Sequence[Point], ranges: Sequence[str], expires: str) -> list[Json]:
    """One that is wanted: policies add to each other, and what one lets through no other takes back. ranges: from
    which slaves take data, as those of clients in the network of a node."""
    if not settings.network_policy:
        return []
    ours = {"podSelector": {"matchLabels": {manifests.RUN: settings.run}}}
    peers: list[Json] = [ours]
    if any(point.path.client == "host" or point.path.service in _FROM_NODES for point in points):
        peers += [{"ipBlock": {"cidr": str(_net(one))}} for one in ranges]
    name, namespace = f"nm-{settings.run}", manifests.namespace_of(settings, "pod")
    return [
        {
            "apiVersion": POLICY.version,
            "kind": POLICY.name,
            "metadata": manifests.meta_of(settings, name, namespace, expires),
            "spec": {**ours, "policyTypes": ["Ingress", "Egress"], "ingress": [{"from": peers}], "egress": [{}]},
        }
    ]
