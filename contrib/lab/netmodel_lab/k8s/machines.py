# SPDX-License-Identifier: Apache-2.0
"""Virtual machines of KubeVirt as the ends: their objects, what they run when they have booted, and what a client says
on its console. Their disk has netmodel and cloud-init; nothing is installed, and nobody logs in."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shlex
import zlib
from collections.abc import Sequence
from typing import Any

from netmodel_lab.k8s import manifests, networks
from netmodel_lab.k8s.manifests import Dial
from netmodel_lab.k8s.others import FOLDER
from netmodel_lab.k8s.placement import Pair
from netmodel_lab.k8s.problems import MeasurementProblem
from netmodel_lab.k8s.settings import CONTROL_PORT, Machines, Point, Settings

Json = dict[str, Any]
CONSOLE = "guest-console-log"  # container of a machine's pod, since KubeVirt 1.1
NAME = "vm.kubevirt.io/name"  # label of that pod
_START = "/var/lib/netmodel/start"
_BEGIN, _END = "netmodel-begin", "netmodel-end"
_MEMORY, _CPU = "4096Mi", "500m"  # k8s-netperf's
_TTY = "/dev/ttyS0"
_LOG = re.compile(rf"^{_BEGIN}\n(.*?)^{_END} (\d+)$", re.MULTILINE | re.DOTALL)


def server(settings: Settings, slave: int, node: str, expires: str) -> Json:
    name = manifests.server_name(settings, slave, "vm")
    return _machine(settings, name, node, expires, manifests.server_marks(manifests.Slave(slave, "vm")))


def server_data(settings: Settings, owner: Json, key: str, ranges: Sequence[str], expires: str) -> Json:
    args = manifests.slave_args(CONTROL_PORT, ranges, expires)
    script = [f"export NETMODEL_KEY={shlex.quote(key)}", f"netmodel {shlex.join(args)} >{_TTY} 2>&1"]
    return _secret(settings, owner, script, {}, 0, expires)


def client(settings: Settings, point: Point, number: int, pair: Pair, expires: str) -> Json:
    marks = manifests.client_marks(point, number, pair)
    return _machine(settings, manifests.client_name(settings, point, number), pair.client, expires, marks)


def client_data(settings: Settings, owner: Json, point: Point, dial: Dial, key: str, expires: str) -> Json:
    """A console is slow, and other things write to it: the log goes there at its end, compressed."""
    args = manifests.client_args(point, dial, settings.limits.start_s, settings.interval)
    limit_s = manifests.client_seconds(settings, point)
    script = [
        f"export NETMODEL_KEY={shlex.quote(key)}",
        f"timeout {limit_s:.0f} netmodel {shlex.join(args)} >/run/netmodel.log 2>&1",
        "code=$?",
        f'{{ echo; echo {_BEGIN}; gzip -c /run/netmodel.log | base64; echo "{_END} $code"; }} >{_TTY}',
    ]
    return _secret(settings, owner, script, manifests.files(settings), 1, expires)


def said(console: str) -> tuple[str, str]:
    """The log of the client, and why it has failed, or nothing. Raises MeasurementProblem when it is not whole."""
    found = _LOG.search(console.replace("\r", ""))
    if not found:
        raise MeasurementProblem(["the console of the machine has no whole log: netmodel and cloud-init on its disk?"])
    try:
        log = zlib.decompress(base64.b64decode(found[1]), wbits=31).decode("utf-8", "replace")
    except (ValueError, zlib.error) as error:
        raise MeasurementProblem([f"the console of the machine has a log that is not whole: {error}"]) from None
    return log, "" if found[2] == "0" else f"exit code {found[2]}"


def address(machines: Machines | None) -> str | None:
    """Of the server, where it is given and not asked for."""
    return machines.ends[0].partition("/")[0] if machines and machines.ends else None


# --- objects ---


def _machine(settings: Settings, name: str, node: str, expires: str, marks: dict[str, str]) -> Json:
    machines = settings.machines
    assert machines
    pods = settings.pods
    terms = [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}]
    meta = manifests.meta_of(settings, name, manifests.namespace_of(settings, "vm"), expires, **marks)
    meta["annotations"] |= {"sidecar.istio.io/inject": "false", **pods.annotations}
    interfaces, attached = _interfaces(settings, machines, name)
    disks = [{"name": one, "disk": {"bus": "virtio"}} for one in ("disk0", "cloudinit")]
    cloud: Json = {"secretRef": {"name": name}, "networkDataSecretRef": {"name": name}}
    requests = {"memory": _MEMORY, "cpu": _CPU, **pods.requests}
    spec: Json = {
        "terminationGracePeriodSeconds": 0,
        "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}},
        "domain": {
            "cpu": {"sockets": machines.sockets, "cores": machines.cores, "threads": machines.threads},
            "resources": {"requests": requests, **({"limits": pods.limits} if pods.limits else {})},
            "devices": {
                "disks": disks,
                "interfaces": interfaces,
                "networkInterfaceMultiqueue": True,
                "logSerialConsole": True,
            },
        },
        "networks": attached,
        "volumes": [
            {"name": "disk0", "containerDisk": {"image": machines.image, "imagePullPolicy": pods.pull}},
            {"name": "cloudinit", "cloudInitNoCloud": cloud},
        ],
    }
    if pods.tolerations:
        spec["tolerations"] = [dict(one) for one in pods.tolerations]
    if pods.priority_class:
        spec["priorityClassName"] = pods.priority_class
    return {"apiVersion": "kubevirt.io/v1", "kind": "VirtualMachineInstance", "metadata": meta, "spec": spec}


def _mac(name: str, which: str) -> str:
    """cloud-init finds an interface by it."""
    digest = hashlib.sha256(f"{name} {which}".encode()).hexdigest()
    return ":".join(["02", *(digest[i : i + 2] for i in range(0, 10, 2))])


def _interfaces(settings: Settings, machines: Machines, name: str) -> tuple[list[Json], list[Json]]:
    network, first = settings.network, {"name": "default", "macAddress": _mac(name, "default")}
    own = [{"name": "default", "pod": {}}]
    if network and network.is_primary:
        return [first | {"binding": {"name": machines.binding}}], own
    interfaces: list[Json] = [first | {"masquerade": {}}]
    if network is None:
        return interfaces, own
    how = "sriov" if network.kind == "sriov" else "bridge"
    wanted = networks.attachment(network, settings.run, manifests.namespace_of(settings, "vm"))
    interfaces.append({"name": "attached", "macAddress": _mac(name, "attached"), how: {}})
    return interfaces, [*own, {"name": "attached", "multus": {"networkName": wanted}}]


def _links(settings: Settings, name: str, end: int) -> Json:
    """What cloud-init makes of the interfaces. end: 0 the server, 1 the client."""
    network, machines = settings.network, settings.machines
    found: Json = {"default": {"match": {"macaddress": _mac(name, "default")}, "dhcp4": True}}
    if network and machines and not network.is_primary:
        given: Json = {"addresses": [machines.ends[end]]} if machines.ends else {"dhcp4": True}
        found["attached"] = {"match": {"macaddress": _mac(name, "attached")}, **given}
    return {"version": 2, "ethernets": found}


def _secret(
    settings: Settings, owner: Json, script: Sequence[str], files: dict[str, str], end: int, expires: str
) -> Json:
    """What a machine reads when it boots; it goes with it. A machine powers off when its program has ended."""
    meta = owner["metadata"]
    start = "\n".join(["#!/bin/sh", *script, "poweroff", ""])
    written = [{"path": _START, "permissions": "0700", "content": start}]
    written += [{"path": f"{FOLDER}/{name}", "content": text} for name, text in files.items()]
    data = {
        "userdata": "#cloud-config\n" + json.dumps({"write_files": written, "runcmd": [[_START]]}),
        "networkdata": json.dumps(_links(settings, meta["name"], end)),
    }
    found = manifests.meta_of(settings, meta["name"], meta["namespace"], expires)
    if meta.get("uid"):
        reference = {key: owner[key] for key in ("apiVersion", "kind")} | {key: meta[key] for key in ("name", "uid")}
        found["ownerReferences"] = [reference]
    encoded = {name: base64.b64encode(text.encode()).decode() for name, text in data.items()}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": found, "type": "Opaque", "data": encoded}
