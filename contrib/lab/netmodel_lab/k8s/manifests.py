# SPDX-License-Identifier: Apache-2.0
"""The objects of a run, as they are created: pure functions of what was asked for."""

from __future__ import annotations

import base64
import hashlib
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from netmodel_lab.k8s import fan, networks, others, pod_spec
from netmodel_lab.k8s.histograms import WORDS as HISTOGRAM_WORDS
from netmodel_lab.k8s.others import FOLDER, NETMODEL
from netmodel_lab.k8s.paths import PATHS, Family, Layout
from netmodel_lab.k8s.placement import Pair, Places, stands
from netmodel_lab.k8s.settings import (
    CONTROL_PORT,
    DATA_PORT,
    TTL_S,
    Point,
    Settings,
    own_profiles,
)
from netmodel_lab.problems import UsageProblem

Json = dict[str, Any]
RUN, EXPIRES, ROLE, SLAVE, LAYOUT, DRIVER = (
    f"netmodel.io/{name}" for name in ("run", "expires", "role", "slave", "layout", "driver")
)
MANAGED = {"app.kubernetes.io/managed-by": "netmodel-lab"}
CREATED_BY = "netmodel.io/created-by"
CONTROL = "control"  # the name of the port
NODE_PORTS = (30000, 32767)  # that Kubernetes has for Services by default
_NODE_PORTS = NODE_PORTS[1] - NODE_PORTS[0] + 1
_NOBODY = 65534
_CLIENT_SPARE_S = 60  # that a client has beyond what it measures


def labels(settings: Settings, **more: str) -> dict[str, str]:
    found = {"app.kubernetes.io/name": "netmodel", **MANAGED, RUN: settings.run}
    return found | {f"netmodel.io/{name}": value for name, value in more.items()}


def meta_of(settings: Settings, name: str, namespace: str | None, expires: str, **more: str) -> Json:
    found: Json = {"name": name, "labels": labels(settings, **more), "annotations": {EXPIRES: expires}}
    return found | ({"namespace": namespace} if namespace else {})


def namespace_of(settings: Settings, layout: Layout) -> str:
    """Host network has a namespace of its own, as its level of Pod Security must allow it."""
    if settings.namespace:
        return settings.namespace
    return f"netmodel-{settings.run}" + ("-host" if layout == "host" else "")


def layouts(points: Sequence[Point]) -> list[Layout]:
    """Of the pods of either end: each has its namespace."""
    used = {layout for point in points for layout in (point.path.server, point.path.client)}
    used |= {"pod"} if "vm" in used else set()  # whose pods are there, too
    return [layout for layout in ("pod", "host") if layout in used]


class Slave(NamedTuple):
    """A server that stands for the whole run."""

    number: int
    layout: Layout
    driver: str = NETMODEL


class Way(NamedTuple):
    """A Service before one."""

    slave: int
    network: str
    driver: str = NETMODEL
    family: Family = ""
    layout: Layout = "pod"


def slaves(points: Sequence[Point], places: Places) -> list[Slave]:
    found = [
        Slave(pair.slave, point.path.server, point.driver)
        for point in points
        for pair in places[point.place]
        if not point.path.is_within and point.network != "external"
    ]
    return list(dict.fromkeys(found))


def services(points: Sequence[Point], places: Places) -> list[Way]:
    """Those that are needed."""
    found = [
        Way(pair.slave, point.network, point.driver, point.family, point.path.server)
        for point in points
        for pair in places[point.place]
        if point.path.service
    ]
    ports = {
        (pair.slave, pair.lane, one.family) for one in points if one.network == "nodeport" for pair in places[one.place]
    }
    if len(ports) > _NODE_PORTS:
        raise UsageProblem([f"--paths nodeport: {len(ports)} ports are needed, and nodes have {_NODE_PORTS}"])
    return list(dict.fromkeys(found))


def slaves_by_node(points: Sequence[Point], places: Places) -> Counter[str]:
    """How many pods stand on each, beside those in its own network."""
    stand = stands(places)
    return Counter(stand[one.number].node for one in slaves(points, places) if one.layout != "host")


def namespaces(settings: Settings, used: Sequence[Layout], expires: str) -> list[Json]:
    if settings.namespace:
        return []
    found = []
    for layout in used:
        is_open = layout == "host" or settings.pods.is_privileged or settings.machines
        level = "privileged" if is_open else "restricted"
        meta = meta_of(settings, namespace_of(settings, layout), None, expires)
        meta["labels"] |= {f"pod-security.kubernetes.io/{mode}": level for mode in ("enforce", "warn")}
        if layout == "pod" and settings.network and settings.network.is_primary:
            meta["labels"] |= {networks.PRIMARY: ""}
        meta["annotations"] |= {CREATED_BY: settings.run}
        found.append({"apiVersion": "v1", "kind": "Namespace", "metadata": meta})
    return found


def secret(settings: Settings, namespace: str, key: str, expires: str) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": meta_of(settings, f"nm-{settings.run}", namespace, expires),
        "type": "Opaque",
        "data": {"key": base64.b64encode(key.encode()).decode()},
    }


def files(settings: Settings) -> dict[str, str]:
    """Profiles that the image does not have, by their names."""
    return own_profiles(settings) | others.files(tuple(settings.drivers), settings.tests)


def config_map(settings: Settings, namespace: str, expires: str) -> Json | None:
    data = files(settings)
    if not data:
        return None
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": meta_of(settings, f"nm-{settings.run}", namespace, expires),
        "data": data,
    }


# --- pods ---


def control_port(settings: Settings, slave: int, layout: Layout, attempt: int = 0, driver: str = NETMODEL) -> int:
    """A node's port may be taken: a run has its own for each slave, and then the next ones."""
    first = CONTROL_PORT if driver == NETMODEL else others.OTHERS[driver].port
    if layout != "host":
        return first
    return first + (int(hashlib.sha256(settings.run.encode()).hexdigest(), 16) + slave + attempt * 37) % 1000


def node_port(settings: Settings, slave: int, lanes: int, attempt: int, family: Family = "") -> int:
    """The first of a slave's ports on all nodes: they must be known before, as the slave listens on the same. Those of
    a run follow each other. They may be taken: then others."""
    first = int(hashlib.sha256(settings.run.encode()).hexdigest(), 16) + slave * lanes + attempt * 997
    first += _NODE_PORTS // 2 if family == "ipv6" else 0
    return NODE_PORTS[0] + first % (_NODE_PORTS - lanes + 1)


def _container(
    settings: Settings, args: Sequence[str], *, has_key: bool, has_profiles: bool, driver: str = NETMODEL
) -> Json:
    pods = settings.pods
    found: Json = {
        "name": "netmodel",
        "image": pods.image,
        "imagePullPolicy": pods.pull,
        "args": list(args),
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
    }
    if has_key:
        reference = {"name": f"nm-{settings.run}", "key": "key"}
        found["env"] = [{"name": "NETMODEL_KEY", "valueFrom": {"secretKeyRef": reference}}]
    if pods.is_privileged:
        found["securityContext"] = {"privileged": True}
    if driver != NETMODEL:
        found["image"] = settings.drivers[driver]
        found["command"] = found.pop("args")
    mounts: list[Json] = [{"name": "tmp", "mountPath": "/tmp"}] if driver != NETMODEL else []
    mounts += [{"name": "profiles", "mountPath": FOLDER, "readOnly": True}] if has_profiles else []
    if mounts:
        found["volumeMounts"] = mounts
    if pods.requests or pods.limits:
        found["resources"] = {
            name: value for name, value in (("requests", pods.requests), ("limits", pods.limits)) if value
        }
    return found


def _spec(
    settings: Settings,
    layout: Layout,
    node: str | None,
    container: Json,
    *,
    has_profiles: bool,
    driver: str = NETMODEL,
) -> Json:
    """Images of others may want to be root, which their programs need not be; they write to /tmp."""
    pods = settings.pods
    found: Json = {
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "terminationGracePeriodSeconds": 1,
        "securityContext": {
            "runAsNonRoot": not pods.is_privileged,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [container],
    }
    volumes: list[Json] = []
    if driver != NETMODEL:
        volumes.append({"name": "tmp", "emptyDir": {}})
        if not pods.is_privileged:
            found["securityContext"] |= {"runAsUser": _NOBODY, "runAsGroup": _NOBODY}
    if has_profiles:
        volumes.append({"name": "profiles", "configMap": {"name": f"nm-{settings.run}"}})
    if volumes:
        found["volumes"] = volumes
    if layout == "host":
        found["hostNetwork"] = True
    elif settings.network and settings.network.resource:
        _take(container, settings.network.resource)
    if node:
        terms = [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}]
        required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
        found["affinity"] = {"nodeAffinity": required}
    if pods.pull_secret:
        found["imagePullSecrets"] = [{"name": pods.pull_secret}]
    if pods.tolerations:
        found["tolerations"] = [dict(one) for one in pods.tolerations]
    if pods.service_account:
        found["serviceAccountName"] = pods.service_account
    if pods.priority_class:
        found["priorityClassName"] = pods.priority_class
    return pod_spec.merged(found, pods.spec)


def _take(container: Json, resource: str) -> None:
    """One device of this kind."""
    there = container.get("resources") or {}
    container["resources"] = {name: {**there.get(name, {}), resource: "1"} for name in ("requests", "limits")}


def _annotations(settings: Settings, layout: Layout) -> dict[str, str]:
    """A sidecar would be in the path, and an autoscaler must not move what is measured."""
    own = networks.asks(settings.network, settings.run, namespace_of(settings, layout))
    return {
        **(own if layout == "pod" else {}),
        "sidecar.istio.io/inject": "false",
        "linkerd.io/inject": "disabled",
        "cluster-autoscaler.kubernetes.io/safe-to-evict": "false",
        **settings.pods.annotations,
    }


def server_name(settings: Settings, slave: int, layout: Layout, driver: str = NETMODEL) -> str:
    who = "" if driver == NETMODEL else f"-{driver}"
    return f"nm-{settings.run}-s{slave}" + {"pod": "", "host": "h", "vm": "v"}[layout] + who


def slave_args(port: int, ranges: Sequence[str], expires: str) -> list[str]:
    args = ["-s", "--port", str(port)]
    if ranges:
        args += ["--allow-peer", ",".join(ranges)]
    return [*args, "--max-lifetime", f"{_lifetime(expires)}s"]


def _lifetime(expires: str) -> int:
    return max(int(expires) - int(time.time()), 60)


def _slave_container(settings: Settings, port: int, ranges: Sequence[str], expires: str) -> Json:
    args = slave_args(port, ranges, expires)
    found = _container(settings, args, has_key=True, has_profiles=False)
    found["ports"] = [{"name": CONTROL, "containerPort": port}]
    # Once: a probe that goes on would disturb what is measured.
    found["startupProbe"] = {"tcpSocket": {"port": port}, "periodSeconds": 1, "failureThreshold": 60}
    return found


def server(
    settings: Settings,
    slave: int,
    layout: Layout,
    node: str | None,
    ranges: Sequence[str],
    expires: str,
    attempt: int = 0,
    driver: str = NETMODEL,
    lanes: int = 1,
) -> Json:
    """A slave, for all samples of its pairs; of a program of others its server. lanes: how many masters it has at the
    same time."""
    port = control_port(settings, slave, layout, attempt, driver)
    if driver == NETMODEL:
        spec = _spec(settings, layout, node, _slave_container(settings, port, ranges, expires), has_profiles=False)
    else:
        first, *more = _other_servers(settings, driver, port, lanes)
        spec = _spec(settings, layout, node, first, has_profiles=False, driver=driver)
        spec["containers"] += more
        version = _container(settings, others.OTHERS[driver].version, has_key=False, has_profiles=False, driver=driver)
        spec["initContainers"] = [{**version, "name": "version"}]
    spec["activeDeadlineSeconds"] = _lifetime(expires)
    meta = meta_of(
        settings,
        server_name(settings, slave, layout, driver),
        namespace_of(settings, layout),
        expires,
        **server_marks(Slave(slave, layout, driver)),
    )
    meta["annotations"] |= _annotations(settings, layout)
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}


def _other_servers(settings: Settings, driver: str, port: int, lanes: int) -> list[Json]:
    """A container for each port that a client dials first."""
    found = []
    for i in range(others.control_ports(driver, lanes)):
        command = others.OTHERS[driver].server(port + i)
        one = _container(settings, command, has_key=False, has_profiles=False, driver=driver)
        one["startupProbe"] = {"tcpSocket": {"port": port + i}, "periodSeconds": 1, "failureThreshold": 60}
        found.append(one | ({"name": f"server-{i}"} if i else {}))
    return found


# --- services ---

_FAMILIES = {"ipv4": "IPv4", "ipv6": "IPv6"}

_MARKS = {
    "service": "",
    "headless": "-headless",
    "nodeport": "-node",
    "loadbalancer": "-balanced",
    "hairpin": "-hairpin",
}


def service_name(
    settings: Settings, slave: int, network: str, driver: str = NETMODEL, family: Family = "", layout: Layout = "pod"
) -> str:
    return server_name(settings, slave, layout, driver) + _MARKS[network] + (f"-{family}" if family else "")


def service(
    settings: Settings,
    slave: int,
    lanes: int,
    network: str,
    protocols: Sequence[str],
    expires: str,
    attempt: int = 0,
    driver: str = NETMODEL,
    family: Family = "",
    layout: Layout = "pod",
) -> Json:
    """Of one slave: each connection is balanced alone, and so several behind one would not get what is theirs. lanes:
    how many masters it has at the same time, each with a port of its own."""
    path = PATHS[network]
    ports = _ports(settings, slave, lanes, network, protocols, attempt, family)
    if driver != NETMODEL:
        ports = _other_ports(settings, lanes, protocols, driver)
    role = "both" if path.is_within else "server"
    spec: Json = {
        "type": "ClusterIP" if path.service == "Headless" else path.service,
        "selector": {RUN: settings.run, ROLE: role, SLAVE: str(slave), LAYOUT: layout, DRIVER: driver},
        "ports": ports,
    }
    meta = meta_of(
        settings,
        service_name(settings, slave, network, driver, family, layout),
        namespace_of(settings, "pod"),
        expires,
        slave=str(slave),
    )
    spec |= {"clusterIP": "None"} if path.service == "Headless" else {}
    spec |= {"ipFamilyPolicy": "SingleStack", "ipFamilies": [_FAMILIES[family]]} if family else {}
    return {"apiVersion": "v1", "kind": "Service", "metadata": meta, "spec": spec}


def _ports(
    settings: Settings,
    slave: int,
    lanes: int,
    network: str,
    protocols: Sequence[str],
    attempt: int,
    family: Family,
) -> list[Json]:
    first = data_port(settings, network, slave, lanes, attempt, family)
    ports: list[Json] = [{"name": CONTROL, "port": CONTROL_PORT, "targetPort": CONTROL_PORT, "protocol": "TCP"}]
    for lane in range(lanes if PATHS[network].has_fixed_ports else 0):
        for protocol in dict.fromkeys(["TCP", *protocols]):
            port: Json = {"name": f"data-{lane}-{protocol.lower()}", "port": first + lane, "targetPort": first + lane}
            ports.append(port | {"protocol": protocol} | ({"nodePort": first + lane} if network == "nodeport" else {}))
    return ports


def _other_ports(settings: Settings, lanes: int, protocols: Sequence[str], driver: str) -> list[Json]:
    every = others.all_ports(driver, others.OTHERS[driver].port, lanes, settings.parallelism)
    return [
        {"name": f"p{port}-{protocol.lower()}", "port": port, "targetPort": port, "protocol": protocol}
        for port in every
        for protocol in dict.fromkeys(["TCP", *protocols])
    ]


def data_port(settings: Settings, network: str, slave: int, lanes: int, attempt: int = 0, family: Family = "") -> int:
    """The first port of a slave's data; each of its masters, as many as lanes, has the next one."""
    return node_port(settings, slave, lanes, attempt, family) if network == "nodeport" else DATA_PORT


def protocols(points: Sequence[Point]) -> list[str]:
    """Of the tests that go through a Service."""
    return list(dict.fromkeys(one for point in points if point.path.service for one in protocols_of(point)))


def protocols_of(point: Point) -> tuple[str, ...]:
    """Both where it is not known which."""
    known = point.test.entry.protocol
    return (known,) if known else ("TCP", "UDP")


# --- clients ---


@dataclass(frozen=True)
class Dial:
    """Where a master finds its slave. data: the port of its data; None: one that the kernel chooses. control: the
    address of the control connection, when it is not that of the data."""

    address: str
    port: int
    data: int | None = None
    via: str | None = None  # the node whose port it is
    control: str | None = None


def is_parted(settings: Settings, point: Point) -> bool:
    """Whether the control connection goes to the pod of the slave itself, and its data elsewhere."""
    network = settings.network
    if not point.has_data_host or point.is_virtual or point.path.is_within:
        return False
    if network and point.network == network.kind:
        return network.is_beside
    return point.path.has_fixed_ports and not (network and network.is_primary)


def client_name(settings: Settings, point: Point, number: int) -> str:
    return f"nm-{settings.run}-p{point.seq:04d}-{number}"


def client_args(
    point: Point, dial: Dial, patience_s: float = 10, interval: str = "", more: Sequence[Dial] = ()
) -> list[str]:
    args = ["-m", point.profile, "--port", str(dial.port), "--wait-slaves", f"{patience_s:.0f}s"]
    for name, value in point.params(dial.address, dial.data, dial.control).items():
        args += ["-D", f"{name}={value}"]
    for number, one in enumerate(more, 1):
        address = f"[{one.address}]" if ":" in one.address else one.address
        args += ["-D", f"{fan.parameter(number)}={address}:{one.port}"]
    args += ["--interval", interval] if interval else []
    return [*args, "--format", "json", *HISTOGRAM_WORDS, "-q"]


def client_seconds(settings: Settings, point: Point) -> float:
    """What a client may take at the most."""
    return point.test.duration + _CLIENT_SPARE_S + settings.limits.start_s + settings.limits.schedule_s


def server_marks(slave: Slave) -> dict[str, str]:
    return {"role": "server", "slave": str(slave.number), "layout": slave.layout, "driver": slave.driver}


def client_marks(point: Point, number: int, pair: Pair) -> dict[str, str]:
    return {
        "role": "both" if point.path.is_within else "client",
        "slave": str(pair.slave),
        "pair": str(number),
        "point": str(point.seq),
        "layout": point.path.client,
        "driver": point.driver,
    }


def _client_container(settings: Settings, point: Point, dial: Dial, more: Sequence[Dial]) -> tuple[Json, bool]:
    """And whether it reads files of the run."""
    if point.driver == NETMODEL:
        own = point.profile.startswith("/")
        has_key = not point.test.is_alone and (not settings.external or settings.has_external_key)
        args = client_args(point, dial, interval=settings.interval, more=more)
        return _container(settings, args, has_key=has_key, has_profiles=own), own
    other = others.OTHERS[point.driver]
    target = others.Target(dial.address, dial.port, dial.data)
    command = other.client(point.test, target)
    has_files = other.has_file
    found = _container(settings, command, has_key=False, has_profiles=has_files, driver=point.driver)
    if has_files:
        found["env"] = [{"name": "h", "value": dial.address}, {"name": "p", "value": str(dial.data)}]
    return found, has_files


def client(
    settings: Settings,
    point: Point,
    number: int,
    pair: Pair,
    dial: Dial,
    ranges: Sequence[str],
    expires: str,
    more: Sequence[Dial] = (),
) -> Json:
    """A master, for one sample; number: which of the pairs of its place. more: its slaves beside the first. Of a
    hairpin its pod has the slave, too."""
    path = point.path
    container, has_files = _client_container(settings, point, dial, more)
    spec = _spec(settings, path.client, pair.client, container, has_profiles=has_files, driver=point.driver)
    if path.is_within:
        beside = _slave_container(settings, CONTROL_PORT, ranges, expires)
        spec["initContainers"] = [{**beside, "name": "slave", "restartPolicy": "Always"}]
    marks = client_marks(point, number, pair)
    meta = meta_of(
        settings, client_name(settings, point, number), namespace_of(settings, path.client), expires, **marks
    )
    template = {"labels": labels(settings, **marks), "annotations": _annotations(settings, path.client)}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": meta,
        "spec": {
            "backoffLimit": 0,
            "completions": 1,
            "parallelism": 1,
            "activeDeadlineSeconds": int(client_seconds(settings, point)),
            "ttlSecondsAfterFinished": TTL_S,
            "template": {"metadata": template, "spec": spec},
        },
    }
