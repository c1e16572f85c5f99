# SPDX-License-Identifier: Apache-2.0
"""The paths of traffic in a cluster: which network each end has, and which kind of Service is between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Layout = Literal["pod", "host", "vm"]  # of the network of a pod; or it is a machine's
Family = Literal["", "ipv4", "ipv6"]  # of addresses; "": the first one of the cluster
FAMILIES: tuple[Family, ...] = ("ipv4", "ipv6")
Kind = Literal["ClusterIP", "Headless", "NodePort", "LoadBalancer"]


# Of networks beside the cluster's own.
ATTACHED = ("multus", "bridge", "macvlan", "sriov", "udn", "cudn", "localnet")


@dataclass(frozen=True)
class Path:
    server: Layout
    client: Layout
    service: Kind | None = None
    is_within: bool = False  # one pod has both ends

    @property
    def has_fixed_ports(self) -> bool:
        """Of the data: a Service must name them before."""
        return self.service not in (None, "Headless")


PATHS: dict[str, Path] = {
    "pod": Path("pod", "pod"),
    "host": Path("host", "host"),
    "host-to-pod": Path("pod", "host"),
    "pod-to-host": Path("host", "pod"),
    "service": Path("pod", "pod", "ClusterIP"),
    "headless": Path("pod", "pod", "Headless"),
    "nodeport": Path("pod", "pod", "NodePort"),
    "loadbalancer": Path("pod", "pod", "LoadBalancer"),
    "hairpin": Path("pod", "pod", "ClusterIP", is_within=True),
    "external": Path("pod", "pod"),
    **{name: Path("pod", "pod") for name in ATTACHED},
}

# What a user may ask for; a slave outside the cluster has an option of its own.
NAMES = tuple(name for name in PATHS if name != "external")

# Those of programs of others, whose Services have the ports of the programs.
OTHER_PATHS = ("pod", "host", "host-to-pod", "pod-to-host", "service", "headless", *ATTACHED)

# Those of virtual machines.
OF_MACHINES = ("pod", "service", *(name for name in ATTACHED if name != "macvlan"))
