# SPDX-License-Identifier: Apache-2.0
"""Network policies: those of a namespace that keep the pods of a run apart, and one of its own that lets them meet."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterator, Sequence
from enum import IntEnum
from itertools import chain
from typing import Any, NamedTuple

from netmodel_lab.k8s import manifests, others, pod_spec
from netmodel_lab.k8s.cluster import NAMESPACE, POLICY, Cluster
from netmodel_lab.k8s.others import NETMODEL
from netmodel_lab.k8s.placement import Places, inner_addresses, pod_ranges, stands
from netmodel_lab.k8s.problems import ApiProblem
from netmodel_lab.k8s.settings import Point, Settings

Json = dict[str, Any]
Labels = dict[str, str]
_Net = ipaddress.IPv4Network | ipaddress.IPv6Network
_CHOSEN = (32768, 60999)  # net.ipv4.ip_local_port_range of a pod, unless that is told otherwise
_TWO_PORTS = re.compile(r"\s*(\d+)\s+(\d+)\s*")
_ALL_PORTS = (0, 65535)
_FROM_NODES = ("NodePort", "LoadBalancer")  # what comes through them may have the address of a node
_ANY = ("0.0.0.0/0", "::/0")
# Labels of pods: what adds some by itself, as a cluster or a webhook, must give them a prefix, but for two of old.
_OURS = ("app.kubernetes.io/", "netmodel.io/")
_OF_JOBS = ("job-name", "controller-uid")
# API groups of policies that take precedence over NetworkPolicies, or add to them.
_MORE = frozenset(
    (
        "policy.networking.k8s.io",
        "cilium.io",
        "crd.projectcalico.org",
        "projectcalico.org",
        "crd.antrea.io",
        "networking.k8s.aws",
    )
)


class Need(NamedTuple):
    """Ports of a server that its clients must reach."""

    what: str
    protocol: str
    first: int
    last: int
    name: str = ""  # of the container's port, which a policy may have in place of the number

    def __str__(self) -> str:
        ports = str(self.first) if self.first == self.last else f"{self.first}-{self.last}"
        return f"{self.protocol} {ports} ({self.what})"


class _Meeting(NamedTuple):
    """Two ends that must meet, by their labels. None: in the network of a node, which no policy of pods holds.
    is_by_node: each sees the address of a node in place of the other's. is_known: no other ports would do."""

    server: Labels | None
    client: Labels | None
    is_by_node: bool
    is_known: bool
    needs: tuple[Need, ...]


# --- what must be let through ---


def _control(settings: Settings, point: Point, slave: int) -> tuple[Need, ...]:
    if point.driver != NETMODEL:
        return ()
    port = manifests.control_port(settings, slave, point.path.server)
    return (Need("control", "TCP", port, port, manifests.CONTROL),)


def _data(settings: Settings, point: Point, slave: int, lanes: int) -> Iterator[Need]:
    """For those of programs of others, with what they have for control."""
    if point.driver != NETMODEL:
        first = manifests.control_port(settings, slave, point.path.server, driver=point.driver)
        every = others.all_ports(point.driver, first, lanes, settings.parallelism)
        for protocol in dict.fromkeys(("TCP", *manifests.protocols_of(point))):
            yield Need(point.driver, protocol, every[0], every[-1])
        return
    data = _chosen(settings)
    if point.network == "nodeport":
        data = manifests.NODE_PORTS
    elif point.path.has_fixed_ports:
        first = manifests.data_port(settings, point.network, slave, lanes)
        data = (first, first + lanes - 1)
    for protocol in manifests.protocols_of(point):
        yield Need("data", protocol, *data)


def _chosen(settings: Settings) -> tuple[int, int]:
    """The ports of which the kernel of a pod chooses."""
    found = _TWO_PORTS.fullmatch(pod_spec.sysctl(settings.pods.spec, "net.ipv4.ip_local_port_range"))
    return (int(found[1]), int(found[2])) if found else _CHOSEN


def _meetings(settings: Settings, points: Sequence[Point], places: Places) -> Iterator[_Meeting]:
    stand, network = stands(places), settings.network
    for point in points:
        path = point.path
        if point.network == "external" or path.is_within:
            continue
        is_attached = bool(network and point.network == network.kind and not network.is_primary)
        is_parted = manifests.is_parted(settings, point)
        for number, pair in enumerate(places[point.place]):
            if "host" in (path.server, path.client) and pair.server == pair.client:
                continue  # a node may always reach its own pods, and they reach it
            server = manifests.server_marks(manifests.Slave(pair.slave, path.server, point.driver))
            client = manifests.client_marks(point, number, pair)
            ends = (
                manifests.labels(settings, **server) if path.server != "host" else None,
                manifests.labels(settings, **client) if path.client != "host" else None,
            )
            is_by_node = path.service in _FROM_NODES
            control = _control(settings, point, pair.slave)
            # A profile of the user's may have all its data on the control connection's port, or on one of its own.
            is_known = not point.test.model
            if is_parted or not is_attached:
                yield _Meeting(*ends, is_by_node and not is_parted, True, control)
            if not is_attached:  # policies hold the network of the pods alone
                data = tuple(_data(settings, point, pair.slave, stand[pair.slave].lanes))
                yield _Meeting(*ends, is_by_node, is_known, data)


# --- what policies let through ---


class _Answer(IntEnum):
    """All of several: the least; one of them: the greatest."""

    NO = 0
    PERHAPS = 1
    YES = 2


def _selects(selector: Json, labels: Labels, may_have: Callable[[str], bool]) -> _Answer:
    """may_have: whether there may be a label of this name beside those that are known."""
    wanted = [
        {"key": name, "operator": "In", "values": [value]}
        for name, value in (selector.get("matchLabels") or {}).items()
    ]
    wanted += selector.get("matchExpressions") or []
    found = [
        _Answer.PERHAPS
        if one["key"] not in labels and may_have(one["key"])
        else _Answer.YES
        if _has(one, labels)
        else _Answer.NO
        for one in wanted
    ]
    return min(found, default=_Answer.YES)


def _has(one: Json, labels: Labels) -> bool:
    name, values = one["key"], one.get("values") or []
    return {
        "In": labels.get(name) in values,
        "NotIn": labels.get(name) not in values,
        "Exists": name in labels,
        "DoesNotExist": name not in labels,
    }[one["operator"]]


def _is_of_pod(selector: Json | None, labels: Labels) -> _Answer:
    return _selects(selector or {}, labels, _may_be_added)


def _may_be_added(name: str) -> bool:
    return name in _OF_JOBS or ("/" in name and not name.startswith(_OURS))


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
    has_labels: bool  # or they may not be read
    nodes: tuple[_Net, ...]
    pods: tuple[_Net, ...]

    @classmethod
    def of(cls, cluster: Cluster, namespace: str, every_node: Sequence[Json]) -> _Space:
        nodes = [_net(one) for node in every_node for one in inner_addresses(node)]
        pods = [_net(one) for node in every_node for one in pod_ranges(node)]
        labels = _labels_of(cluster, namespace)
        every = {"kubernetes.io/metadata.name": namespace, **(labels or {})}
        return cls(every, labels is not None, tuple(nodes), tuple(pods))

    def has(self, peer: Json, labels: Labels | None) -> _Answer:
        """Whether one of a policy is the one with these labels. None: a node. Which address a CNI looks at, and whether
        it looks for pods by address at all, is its own affair."""
        if peer.get("ipBlock"):
            return _Answer.YES if self._is_whole(peer["ipBlock"], labels is None) else _Answer.PERHAPS
        if labels is None:
            return _Answer.NO
        namespace = _selects(peer.get("namespaceSelector") or {}, self.labels, lambda _: not self.has_labels)
        return min(namespace, _is_of_pod(peer.get("podSelector"), labels))

    def _is_whole(self, block: Json, is_node: bool) -> bool:
        """Whether it has all of them in it that are known."""
        whole, holes = _net(block["cidr"]), [_net(one) for one in block.get("except") or []]
        every = self.nodes if is_node else self.pods
        known = [one for one in every if one.version == whole.version]
        if not every:
            return block["cidr"] in _ANY and not holes
        return bool(known) and all(_is_in(one, whole, holes) for one in known)


def _ranges(rule: Json, need: Need) -> Iterator[tuple[int, int]]:
    for one in rule.get("ports") or [{"protocol": need.protocol}]:
        port = one.get("port")
        if one.get("protocol", "TCP") != need.protocol:
            continue
        if isinstance(port, int):
            yield port, int(one.get("endPort") or port)
        elif port is None:
            yield _ALL_PORTS
        elif port == need.name:
            yield need.first, need.last


def _count(rules: Sequence[Json], need: Need) -> int:
    """How many of the ports rules have together."""
    at, found = need.first, 0
    for first, last in sorted(one for rule in rules for one in _ranges(rule, need)):
        begin, end = max(first, at), min(last, need.last)
        if begin <= end:
            found, at = found + end - begin + 1, end + 1
    return found


class _Side(NamedTuple):
    """Of a connection, as policies have it."""

    type: str
    rules: str
    peers: str


class _Denied(NamedTuple):
    policies: tuple[str, ...]
    side: _Side
    peer: str
    is_sure: bool
    needs: tuple[Need, ...]


_SIDES = (_Side("Ingress", "ingress", "from"), _Side("Egress", "egress", "to"))


def _denied(policies: Sequence[Json], side: _Side, meeting: _Meeting, space: _Space) -> Iterator[_Denied]:
    """What is not let through by the policies that hold an end together: for sure, and perhaps."""
    pod, peer = meeting[:2] if side.type == "Ingress" else meeting[1::-1]
    peer = None if meeting.is_by_node else peer
    if pod is None:
        return
    held = [(_is_of_pod(one["spec"].get("podSelector"), pod), one) for one in policies]
    holding = [(answer, one) for answer, one in held if answer and side.type in _types(one["spec"])]
    if not holding:
        return
    rules: dict[_Answer, list[Json]] = {answer: [] for answer in _Answer}
    for holds, one in holding:
        for rule in one["spec"].get(side.rules) or []:
            found = [space.has(other, peer) for other in rule.get(side.peers) or []]
            rules[min(holds, max(found, default=_Answer.YES))].append(rule)
    left: dict[bool, list[Need]] = {True: [], False: []}
    is_held = meeting.is_known and peer is not None and max(holding, key=lambda one: one[0])[0] is _Answer.YES
    for need in meeting.needs:
        if _count(rules[_Answer.YES], need) <= need.last - need.first:
            # Which one of several ports it will be is not known, but where none of them is open.
            left[is_held and not _count(rules[_Answer.YES] + rules[_Answer.PERHAPS], need)].append(need)
    names = tuple(str(one["metadata"]["name"]) for _, one in holding)
    for is_sure, needs in left.items():
        if needs:
            yield _Denied(names, side, "addresses of nodes" if peer is None else "each other", is_sure, tuple(needs))


class Found(NamedTuple):
    """Lines about policies of the user's namespace that keep the run's pods apart, and what one would have to allow:
    for which a run would fail, by which it may, and why that cannot be told."""

    sure: tuple[str, ...] = ()
    perhaps: tuple[str, ...] = ()
    unseen: tuple[str, ...] = ()

    @property
    def refusal(self) -> tuple[str, ...]:
        return (*self.sure, *self.perhaps, _ADVICE) if self.sure else ()

    @property
    def warning(self) -> tuple[str, ...]:
        """Of a run that is not refused."""
        if self.sure or not self.perhaps:
            return self.unseen
        return (*self.perhaps, _ADVICE, *self.unseen)


def in_the_way(
    cluster: Cluster, settings: Settings, points: Sequence[Point], nodes: Sequence[Json], places: Places
) -> Found:
    """Nothing where they are not to be looked at."""
    if not settings.namespace or settings.network_policy is not None:
        return Found()
    try:
        policies = cluster.listed(POLICY, settings.namespace)
    except ApiProblem as problem:
        if not problem.is_forbidden:
            raise
        return Found(unseen=(_UNSEEN.format(settings.namespace),))
    if not policies:
        return Found()
    space, meetings = _Space.of(cluster, settings.namespace, nodes), _meetings(settings, points, places)
    each = (_denied(policies, side, meeting, space) for meeting in meetings for side in _SIDES)
    denied = list(dict.fromkeys(chain.from_iterable(each)))
    if any(one.is_sure for one in denied) and _has_more(cluster):
        denied = [one._replace(is_sure=False) for one in denied]
    sure = _told(settings.namespace, [one for one in denied if one.is_sure], "is likely to be")
    perhaps = _told(settings.namespace, [one for one in denied if not one.is_sure], "may be")
    return Found(tuple(sure), tuple(perhaps))


def _has_more(cluster: Cluster) -> bool:
    """Also where that cannot be told."""
    try:
        return bool(_MORE & cluster.groups())
    except ApiProblem:
        return True


_ADVICE = (
    "--network-policy makes one for the run and removes it; --network-policy=false measures all the same, as where the "
    "network of the cluster does not enforce them"
)
_UNSEEN = "namespace {}: network policies may not be listed: whether one is in the way cannot be told"


def _told(namespace: str, denied: Sequence[_Denied], how: str) -> Iterator[str]:
    """A line for each side and peer."""
    for side, peer in dict.fromkeys((one.side, one.peer) for one in denied):
        these = [one for one in denied if (one.side, one.peer) == (side, peer)]
        names = ", ".join(dict.fromkeys(name for one in these for name in one.policies))
        needs = ", ".join(map(str, dict.fromkeys(need for one in these for need in one.needs)))
        yield (
            f"namespace {namespace}: NetworkPolicy {names} {how} in the way: for pods with the label "
            f"app.kubernetes.io/name=netmodel one must allow {side.type.lower()} {side.peers} {peer}: {needs}"
        )


def _labels_of(cluster: Cluster, namespace: str) -> Labels | None:
    """Of a namespace. None: it may not be read."""
    try:
        there = cluster.get(NAMESPACE, namespace) or {}
    except ApiProblem:
        return None
    return (there.get("metadata") or {}).get("labels") or {}


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
