# SPDX-License-Identifier: Apache-2.0
"""Which network beside the cluster's own is asked for: by k8s-netperf's options and ours, or by the key network of a
test list."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from netmodel_lab.k8s import networks
from netmodel_lab.k8s.netperf_file import Test
from netmodel_lab.k8s.networks import Network, Topology
from netmodel_lab.k8s.paths import ATTACHED, PATHS, Family
from netmodel_lab.problems import UsageProblem, nearest

TOPOLOGIES: tuple[Topology, ...] = ("layer2", "layer3")


@dataclass(frozen=True)
class _Way:
    """How one is asked for. key: of a list; topology: what an option without a value means."""

    flag: str
    key: str
    kind: str
    metavar: str
    help: str
    topology: Topology = ""
    is_made: bool = True  # and not there already

    @property
    def field(self) -> str:
        return self.flag[2:].replace("-", "_")


_WAYS = (
    _Way(
        "--multus",
        "multus",
        "multus",
        "NAMESPACE/NAME",
        "attach pods to this NetworkAttachmentDefinition",
        is_made=False,
    ),
    _Way("--bridge", "bridge", "bridge", "NAME", "the same, in --bridgeNamespace", is_made=False),
    _Way("--linux-bridge", "linux-bridge", "bridge", "NAME", "attach pods to this bridge of their nodes"),
    _Way("--macvlan", "macvlan", "macvlan", "IF", "attach pods by MACVLAN to this interface of their nodes"),
    _Way("--sriov", "sriov", "sriov", "PF", "give pods virtual functions of this physical one"),
    _Way("--udnl2", "udn", "udn", "", "have pods on a primary UserDefinedNetwork of layer 2", "layer2"),
    _Way("--udnl3", "udn", "udn", "", "have pods on a primary UserDefinedNetwork of layer 3", "layer3"),
    _Way("--localnet", "localnet", "localnet", "NAME", "attach virtual machines to this physical network of OVN"),
    _Way("--cudn", "cudn", "cudn", "layer2|layer3", "attach pods to a secondary ClusterUserDefinedNetwork"),
)
FLAGS = {kind: " or ".join(way.flag for way in _WAYS if way.kind == kind) for kind in ATTACHED}
SWITCHES = tuple(way.field for way in _WAYS if not way.metavar)
_KEYS = tuple(dict.fromkeys(way.key for way in _WAYS))
_ON_PRIMARY = ("host", "service", "headless", "hairpin")  # paths that a primary network has, too
_MORE = ("range", "node-selector", "namespace")


def add(parser: argparse.ArgumentParser) -> None:
    for way in _WAYS:
        if way.metavar:
            choices = TOPOLOGIES if way.kind == "cudn" else None
            parser.add_argument(way.flag, metavar=way.metavar, choices=choices, help=way.help)
        else:
            parser.add_argument(way.flag, action=argparse.BooleanOptionalAction, default=False, help=way.help)
    parser.add_argument("--bridgeNamespace", metavar="NAME", help="of the definition that --bridge names (default)")
    parser.add_argument("--sriov-node-selector", metavar="ROLE", help="of nodes that have the function (worker)")
    parser.add_argument("--network-range", metavar="CIDR", help="addresses of a network that is made (k8s-netperf's)")


def asked(options: argparse.Namespace, listed: Mapping[str, str], wrong: list[str]) -> Network | None:
    """listed: what the test list has. Mistakes are added to those that there are."""
    valued = [way.flag for way in _WAYS if way.metavar]
    for flag in (*valued, "--bridgeNamespace", "--sriov-node-selector", "--network-range"):
        if getattr(options, flag[2:].replace("-", "_")) == "":
            wrong.append(f"{flag}: has no value")
    given = [way for way in _WAYS if getattr(options, way.field)]
    wrong += [f"{a.flag} and {b.flag} exclude each other" for i, a in enumerate(given) for b in given[i + 1 :]]
    if given and listed:
        wrong.append(f"{given[0].flag} and network of the test list exclude each other")
    for flag, value, needed in (
        ("--bridgeNamespace", options.bridgeNamespace, "--bridge"),
        ("--sriov-node-selector", options.sriov_node_selector, "--sriov"),
    ):
        if needed == "--bridge" and value and options.bridge and options.vm:
            wrong.append("--bridgeNamespace: has no effect with --vm, where --bridge is a bridge of the nodes")
        elif value and needed not in [way.flag for way in given]:
            wrong.append(f"{flag}: has no effect without {needed}")
    if not given and options.network_range:
        wrong.append("--network-range: has no effect without a network that is made")
    if given:
        more = {"range": options.network_range, "namespace": options.bridgeNamespace}
        more["node-selector"] = options.sriov_node_selector
        way = given[0]
        if way.flag == "--bridge" and options.vm:  # k8s-netperf's: a bridge of the nodes
            way = next(one for one in _WAYS if one.flag == "--linux-bridge")
        return _new(way, str(getattr(options, given[0].field)), given[0].flag, more, wrong)
    return _of_list(listed, wrong) if listed else None


def _of_list(listed: Mapping[str, str], wrong: list[str]) -> Network | None:
    before = len(wrong)
    known = (*_KEYS, *_MORE)
    wrong += [f"network: {key}: there is no such key{nearest(key, known)}" for key in listed if key not in known]
    kinds = [key for key in _KEYS if key in listed]
    if len(kinds) != 1 and len(wrong) == before:
        wrong.append(f"network: must have one of {', '.join(_KEYS)}")
    if len(wrong) > before:
        return None
    (key,) = kinds
    value = listed[key]
    if key in ("udn", "cudn") and value not in TOPOLOGIES:
        wrong.append(f'network: {key}: "{value}": must be layer2 or layer3')
        return None
    way = next(way for way in _WAYS if way.key == key and way.topology in ("", value))
    for name, needed in (("namespace", "bridge"), ("node-selector", "sriov")):
        if name in listed and key != needed:
            wrong.append(f"network: {name}: has no effect without {needed}")
    return _new(way, value, f"network: {key}:", listed, wrong)


def _new(way: _Way, value: str, flag: str, more: Mapping[str, Any], wrong: list[str]) -> Network | None:
    topology: Topology = way.topology or next((one for one in TOPOLOGIES if one == value), "")
    of = f"{more.get('namespace') or 'default'}/{value}" if way.flag == "--bridge" else "" if topology else value
    role = more.get("node-selector") or "worker"
    try:
        return networks.new(way.kind, of, topology, more.get("range") or "", flag, is_made=way.is_made, role=role)
    except UsageProblem as problem:
        wrong += problem.lines
        return None


def check_use(network: Network | None, paths: Sequence[str], tests: Sequence[Test]) -> list[str]:
    """Whether something would be measured there. A test that goes through a Service has that path alone."""
    if network is None or network.is_primary or not all(test.service for test in tests):
        return _check_paths(network, paths)
    return [*_check_paths(network, paths), f"{FLAGS[network.kind]}: has no effect, as all tests go through a Service"]


def check_families(network: Network | None, families: Sequence[Family]) -> list[str]:
    """Whether a network that is made has addresses of each."""
    if network is None or not network.range:
        return []
    has = "ipv6" if ":" in network.range else "ipv4"
    return [
        f"--ip-family {one}: the network has {network.range} alone (--network-range)" for one in families if one != has
    ]


def _check_paths(network: Network | None, paths: Sequence[str]) -> list[str]:
    """What is wrong with the paths that are asked for."""
    kind = network.kind if network else None
    found = []
    for name in paths:
        if name in ATTACHED and name != kind:
            found.append(f"--paths {name}: {FLAGS[name]} says which network")
        elif network and network.is_primary and name not in (*ATTACHED, *_ON_PRIMARY):
            found.append(f"--paths {name}: pods of a primary network ({FLAGS[network.kind]}) are on no other")
    leads_there = bool(network and network.is_primary and any(PATHS[name].service for name in paths))
    if network and paths and kind not in paths and not leads_there:
        found.append(f"{FLAGS[network.kind]}: has no effect, as --paths does not have {kind}")
    return found
