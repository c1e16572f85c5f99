# SPDX-License-Identifier: Apache-2.0
"""Virtual machines as the ends, as they are asked for by k8s-netperf's options."""

from __future__ import annotations

import argparse
import ipaddress
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from netmodel_lab.k8s.network_options import FLAGS
from netmodel_lab.k8s.networks import Network
from netmodel_lab.k8s.paths import OF_MACHINES
from netmodel_lab.k8s.settings import Machines

BINDINGS = ("passt", "l2bridge")
_FILES = {  # k8s-netperf's: the option, the name of the file, and the addresses that it comes with
    "bridge": ("--bridgeNetwork", "bridgeNetwork.json", ("10.10.10.12/24", "10.10.10.14/24")),
    "localnet": ("--localnet-config", "localnetNetwork.json", ("198.18.0.11/24", "198.18.0.12/24")),
}
_STATIC = {"multus": "bridge", "bridge": "bridge", "sriov": "bridge", "localnet": "localnet"}  # and whose file
_OTHERS = ("vm_image", "sockets", "cores", "threads", "udnPluginBinding", "bridgeNetwork", "localnet_config")


def add(parser: argparse.ArgumentParser, count: Callable[[str], float]) -> None:
    add = parser.add_argument
    switch: dict[str, Any] = {"action": argparse.BooleanOptionalAction, "default": False}
    add("--vm", help="virtual machines of KubeVirt as the ends, beside pods unless --pod=false", **switch)
    add("--vm-image", metavar="NAME", help="their container disk, which has netmodel and cloud-init")
    for flag, usual in (("--sockets", 2), ("--cores", 2), ("--threads", 1)):
        add(flag, metavar="N", type=count, help=f"of the CPU of a virtual machine ({usual})")
    add("--udnPluginBinding", choices=BINDINGS, help="of virtual machines on a primary network (passt)")
    for name, (flag, usual_file, _) in _FILES.items():
        add(
            flag,
            metavar="FILE",
            help=f"their addresses on a {name} ({usual_file}, if it is there)",
        )


def asked(options: argparse.Namespace, network: Network | None, wrong: list[str]) -> Machines | None:
    """Mistakes are added to those that there are."""
    if not options.vm:
        useless = [name for name in _OTHERS if getattr(options, name)]
        wrong += [f"--{name.replace('_', '-')}: has no effect without --vm" for name in useless]
        if network and network.kind == "localnet":
            wrong.append("--localnet: is of virtual machines (--vm)")
        return None
    if not options.vm_image:
        wrong.append("--vm: --vm-image must name a container disk that has netmodel and cloud-init")
    are_alone = not options.pod
    ends = _ends(options, network, wrong)
    wrong += _cannot_be(options, network, are_alone, bool(ends))
    return Machines(
        image=options.vm_image or "",
        sockets=int(options.sockets or 2),
        cores=int(options.cores or 2),
        threads=int(options.threads or 1),
        binding=options.udnPluginBinding or "passt",
        ends=ends,
        are_alone=are_alone,
    )


def _cannot_be(options: argparse.Namespace, network: Network | None, are_alone: bool, has_ends: bool) -> list[str]:
    """What machines cannot be together with."""
    given = {"--serverIP": options.serverIP, "--ip-family": options.ip_family, "--privileged": options.privileged}
    given |= {"--image-pull-secret": options.image_pull_secret, "--service-account": options.service_account}
    if are_alone:
        given |= {"--all": options.all, "--hostNet": options.hostNet}
    found = [
        f"--vm{' --pod=false' if are_alone else ''} and {flag} exclude each other" for flag in given if given[flag]
    ]
    for name in options.paths or ():
        if name not in OF_MACHINES and are_alone:
            found.append(f"--paths {name}: virtual machines have only {', '.join(OF_MACHINES)}")
    if network is None:
        return found
    flag = FLAGS[network.kind]
    if network.kind == "macvlan":
        found.append("--macvlan and --vm exclude each other")
    if has_ends and not are_alone:
        found.append(f"{flag} with --vm: pods cannot be on it as well (--pod=false)")
    if has_ends and (options.pairs > 1 or options.pattern != "pairs" or len(options.placement or ()) > 1):
        found.append(f"{flag} with --vm: has one pair of machines, as their addresses are given")
    return found


def _ends(options: argparse.Namespace, network: Network | None, wrong: list[str]) -> tuple[str, ...]:
    """The addresses of machines on a network that gives them none: of the file that an option names, or that is in this
    folder; else those that k8s-netperf comes with."""
    which = _STATIC.get(network.kind) if network else None
    given = {"bridge": options.bridgeNetwork, "localnet": options.localnet_config}
    for name, file in given.items():
        if file and name != which:
            wrong.append(f"{_FILES[name][0]}: has no effect, as no virtual machines are on such a network")
    if which is None:
        return ()
    flag, name, usual = _FILES[which]
    path = Path(given[which] or name)
    if not given[which] and not path.exists():
        return usual
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(document, dict):
            raise ValueError(f"must be a map with {which}ServerNetwork and {which}ClientNetwork")
        found = tuple(str(document[f"{which}{end}Network"]) for end in ("Server", "Client"))
        server, client = (ipaddress.ip_interface(one) for one in found)
    except KeyError as error:
        wrong.append(f"{flag} {path}: {error.args[0]} is missing")
        return ()
    except (OSError, ValueError, TypeError) as error:
        wrong.append(f"{flag} {path}: {error}")
        return ()
    bare = [f"{flag} {path}: {one}: must have the length of its prefix, as /24" for one in found if "/" not in one]
    wrong += bare
    if server.ip == client.ip:
        wrong.append(f"{flag} {path}: {server.ip}: is the address of both ends; each must have its own")
    elif not bare and (client.ip not in server.network or server.ip not in client.network):
        wrong.append(f"{flag} {path}: {server} and {client}: must be of one network, as nothing routes between them")
    return found
