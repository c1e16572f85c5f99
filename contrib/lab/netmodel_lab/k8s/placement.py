# SPDX-License-Identifier: Apache-2.0
"""Which node each end is on: chosen from the nodes that there are, required of the scheduler, and looked at again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from netmodel_lab.k8s.paths import Family
from netmodel_lab.k8s.problems import MeasurementProblem
from netmodel_lab.k8s.settings import Pods, Where
from netmodel_lab.problems import EnvironmentProblem, UsageProblem, nearest

Json = dict[str, Any]
ZONE = "topology.kubernetes.io/zone"
WORKER = "node-role.kubernetes.io/worker"
_HINT = "netperf"  # label of k8s-netperf: netperf=server, netperf=client
_KEEPS_AWAY = ("NoSchedule", "NoExecute")


RELATIONS: dict[str, tuple[str, ...]] = {  # what each placement admits
    "same-pod": ("same node",),
    "external": ("same node",),  # of the client alone
    "same-node": ("same node",),
    "other-node": ("other node", "other node, same zone", "other zone"),
    "same-zone": ("other node, same zone",),
    "other-zone": ("other zone",),
}
_WANTED = {
    "same-pod": "one node",
    "external": "one node",
    "same-node": "one node",
    "other-node": "two nodes",
    "same-zone": f"two nodes of one zone (label {ZONE})",
    "other-zone": f"two zones (label {ZONE}) with a node each",
}


@dataclass(frozen=True)
class Pair:
    """The nodes of one server and its client. slave: which slave of the run serves it; lane: its number among those
    that this slave serves at the same time."""

    server: str
    client: str
    slave: int = 0
    lane: int = 0


Places = dict[str, tuple[Pair, ...]]
Nodes = dict[str, list[tuple[str | None, str | None]]]  # of a place the server's and the client's; None: outside


@dataclass(frozen=True)
class Stand:
    """Where a slave is, and how many masters it has at the same time."""

    node: str
    lanes: int


_OF_A_PATH = ("same-pod", "external")  # nobody asks for them
PLACEMENTS = tuple(name for name in RELATIONS if name not in _OF_A_PATH)


def stands(places: Places) -> dict[int, Stand]:
    """The slaves of a run, by their numbers."""
    found: dict[int, Stand] = {}
    for pairs in places.values():
        for pair in pairs:
            before = found.get(pair.slave)
            found[pair.slave] = Stand(pair.server, max(before.lanes if before else 0, pair.lane + 1))
    return found


def zone(node: Json) -> str | None:
    found = (node["metadata"].get("labels") or {}).get(ZONE)
    return str(found) if found else None


def is_ready(node: Json) -> bool:
    conditions = node.get("status", {}).get("conditions") or []
    return any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)


def why_not(node: Json, pods: Pods, selector: dict[str, str]) -> str | None:
    """Why pods of the run cannot be on it; None: they can."""
    labels, spec = node["metadata"].get("labels") or {}, node.get("spec") or {}
    if not is_ready(node):
        return "is not ready"
    if spec.get("unschedulable"):
        return "is cordoned"
    for taint in spec.get("taints") or []:
        if taint["effect"] in _KEEPS_AWAY and not any(_tolerates(one, taint) for one in pods.tolerations):
            return f"has the taint {taint['key']}:{taint['effect']}, which --toleration {taint['key']} would bear"
    for name, value in selector.items():
        if labels.get(name) != value:
            return f"has not the label {name}={value}"
    return None


def _tolerates(toleration: dict[str, str], taint: Json) -> bool:
    if toleration.get("effect") not in (None, "", taint["effect"]):
        return False
    if toleration.get("operator") == "Exists":
        return bool(toleration.get("key") in (None, "", taint["key"]))
    return bool(toleration.get("key") == taint["key"] and toleration.get("value", "") == taint.get("value", ""))


def named(flag: str, parts: Iterable[str], form: str = "NAME=VALUE", *, may_be_empty: bool = True) -> dict[str, str]:
    """Values by their names, as an option has them."""
    found = {}
    for part in filter(None, parts):
        name, equals, value = part.partition("=")
        if not (name and equals and (value or may_be_empty)):
            raise UsageProblem([f'{flag}: "{part}": must be {form}'])
        found[name] = value
    return found


def usable(nodes: Sequence[Json], where: Where, pods: Pods) -> list[Json]:
    """Those that may have pods of the run. Workers are preferred where nodes have roles."""
    names = [str(node["metadata"]["name"]) for node in nodes]
    for flag, name in (("--server-node", where.server), ("--client-node", where.client)):
        if name and name not in names:
            raise EnvironmentProblem([f"{flag} {name}: the cluster has no such node{nearest(name, names)}"])
    refused = _refused(nodes, where, pods)
    asked = [name for name in (where.server, where.client, *where.nodes) if name]
    for name in asked:
        if name not in names:
            raise EnvironmentProblem([f"node {name} is not in the cluster any more"])
        if name in refused:
            raise EnvironmentProblem([f"node {name} {refused[name]}"])
    good = [node for node in nodes if node["metadata"]["name"] not in refused]
    workers = [node for node in good if WORKER in (node["metadata"].get("labels") or {})]
    chosen = {str(node["metadata"]["name"]) for node in workers or good} | set(asked)
    return [node for node in good if node["metadata"]["name"] in chosen]


def _refused(nodes: Sequence[Json], where: Where, pods: Pods) -> dict[str, str]:
    selector = named("--node-selector", where.selector.split(","))
    return {str(node["metadata"]["name"]): why for node in nodes if (why := why_not(node, pods, selector))}


def choose(nodes: Sequence[Json], where: Where, pods: Pods) -> Places:
    """The nodes of each place; k8s-netperf's labels count as wishes."""
    good = usable(nodes, where, pods)
    if where.pattern in ("matrix", "all-to-all"):
        return _everywhere(where)
    found: Places = {}
    first = 0
    for placement in where.placements:
        pairs = _pairs(good, where, placement, first)
        if not pairs:
            refusals = [f"node {name} {text}" for name, text in _refused(nodes, where, pods).items()]
            have = f"{len(good)} of {len(nodes)} nodes can have pods"
            raise EnvironmentProblem([f"{_WANTED[placement]} are needed, and {have}", *refusals])
        found[placement] = pairs
        first = max(pair.slave for pair in pairs) + 1
    return found


def every_node(nodes: Sequence[Json], where: Where, pods: Pods) -> tuple[str, ...]:
    """Of patterns over every node: those that can have pods."""
    names = tuple(sorted(str(node["metadata"]["name"]) for node in usable(nodes, where, pods)))
    if len(names) < 2:
        refusals = [f"node {name} {text}" for name, text in _refused(nodes, where, pods).items()]
        raise EnvironmentProblem([f"{where.pattern}: two nodes are needed, and {len(names)} can have pods", *refusals])
    return names


def _everywhere(where: Where) -> Places:
    """A slave on each node, which serves all others."""
    pairs = [
        Pair(server, client, i, lane)
        for i, server in enumerate(where.nodes)
        for lane, client in enumerate(name for name in where.nodes if name != server)
    ]
    if where.pattern == "all-to-all":
        return {"all-to-all": tuple(pairs)}
    return {f"{pair.client} > {pair.server}": (replace(pair, lane=0),) for pair in pairs}


def _pairs(good: Sequence[Json], where: Where, placement: str, first: int) -> tuple[Pair, ...]:
    """first: the number of the first slave."""

    def wished(role: str) -> list[Json]:
        """Those that are wished for this end come first."""
        return sorted(good, key=lambda node: (node["metadata"].get("labels") or {}).get(_HINT) != role)

    def fits(server: Json, client: Json) -> bool:
        a, b = server["metadata"]["name"], client["metadata"]["name"]
        if where.server not in (None, a) or where.client not in (None, b):
            return False
        return relation(server, client) in RELATIONS[placement]

    found = [
        Pair(str(server["metadata"]["name"]), str(client["metadata"]["name"]))
        for server in wished("server")
        for client in wished("client")
        if fits(server, client)
    ]
    if not found:
        return ()
    chosen: list[Pair] = []
    for _ in range(where.pairs):
        chosen.append(min(found, key=lambda pair: _uses(pair, chosen)))
        if where.pattern == "many-to-one":
            found = [pair for pair in found if pair.server == chosen[0].server]
        if where.pattern == "one-to-many":
            found = [pair for pair in found if pair.client == chosen[0].client]
    if where.pattern == "many-to-one":
        return tuple(replace(pair, slave=first, lane=i) for i, pair in enumerate(chosen))
    return tuple(replace(pair, slave=first + i) for i, pair in enumerate(chosen))


def _uses(pair: Pair, chosen: Sequence[Pair]) -> tuple[int, int]:
    """How often its nodes have been taken for the same end, and for any: nobody is taken twice before all are once."""
    same = sum((one.server == pair.server) + (one.client == pair.client) for one in chosen)
    return same, sum((one.server == pair.client) + (one.client == pair.server) for one in chosen)


# --- looked at again ---


def verify(pod: Json, wanted: str | None, before: str | None = None) -> str:
    """The UID of a pod that is on the node where it is wanted, and is the one that it was before."""
    name, node, uid = pod["metadata"]["name"], pod["spec"].get("nodeName"), str(pod["metadata"]["uid"])
    if wanted is not None and node != wanted:
        raise MeasurementProblem(
            [f"pod {name} is on node {node}, and not on {wanted}: its figures would be wrongly named"]
        )
    if before is not None and before != uid:
        raise MeasurementProblem([f"pod {name} is another one than before the sample"])
    return uid


def verify_nodes(places: Places, before: Nodes) -> None:
    """Raises EnvironmentProblem when samples of one place would be of other nodes than those that are there."""
    wrong = []
    for place, earlier in before.items():
        each = zip(places[place], earlier, strict=False)
        now = [(None if server is None else pair.server, pair.client) for pair, (server, _) in each]
        if now != earlier:
            were, are = (", ".join(f"{client} > {server}" for server, client in ends) for ends in (earlier, now))
            wrong.append(f"{place}: its samples are of {were}, and the others would be of {are}: a new run is needed")
    if wrong:
        raise EnvironmentProblem(wrong)


def relation(server: Json, client: Json) -> str:
    """How far two nodes are apart."""
    if server["metadata"]["name"] == client["metadata"]["name"]:
        return "same node"
    a, b = zone(server), zone(client)
    if a is None or b is None:
        return "other node"
    return "other node, same zone" if a == b else "other zone"


def verify_relation(server: Json, client: Json, place: str) -> str:
    """How far two nodes are apart, as they are now. Raises MeasurementProblem when that is not what was asked for."""
    found = relation(server, client)
    if place in RELATIONS and found not in RELATIONS[place]:
        names = [str(node["metadata"]["name"]) for node in (server, client)]
        raise MeasurementProblem(
            [f"{names[0]} and {names[1]} are {found}, and not {place}: the sample would be wrongly named"]
        )
    return found


def first_of(addresses: Sequence[str], family: Family) -> str | None:
    """The first one of a family."""
    return next((one for one in addresses if not family or (":" in one) == (family == "ipv6")), None)


def node_address(node: Json, family: Family = "") -> str:
    """Where other nodes reach it."""
    given = (node.get("status") or {}).get("addresses") or []
    every = [str(one["address"]) for kind in ("InternalIP", "ExternalIP") for one in given if one["type"] == kind]
    found = first_of(every, family)
    if found is None:
        raise EnvironmentProblem([f"node {node['metadata']['name']} has no {f'{family} ' if family else ''}address"])
    return found


def inner_addresses(node: Json) -> list[str]:
    """What traffic in the cluster may have as the address of it."""
    found = [one["address"] for one in node["status"].get("addresses") or [] if one["type"] == "InternalIP"]
    # A CNI that has addresses of its own per node: Calico's tunnel is the source of what host pods send.
    annotations = node["metadata"].get("annotations") or {}
    return found + [value for name, value in annotations.items() if name.endswith("/IPv4VXLANTunnelAddr")]


def pod_ranges(node: Json) -> list[str]:
    """Of the addresses of pods on it, as far as it tells."""
    spec = node.get("spec") or {}
    return spec.get("podCIDRs") or ([spec["podCIDR"]] if spec.get("podCIDR") else [])


def door(nodes: Sequence[Json], pair: Pair) -> Json:
    """The node whose port is dialled: one that the server is not on, so that it has to pass the traffic on. The
    client's own comes first."""

    def order(node: Json) -> tuple[bool, bool]:
        name = node["metadata"]["name"]
        return name == pair.server, name != pair.client

    return min((node for node in nodes if is_ready(node)), key=order)
