# SPDX-License-Identifier: Apache-2.0
"""The objects of a run, as they are created: pure functions of what was asked for."""

from __future__ import annotations

import base64
import hashlib
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from netmodel_lab.k8s.catalog import CATALOG
from netmodel_lab.k8s.paths import PATHS, Layout
from netmodel_lab.k8s.placement import Pair, Places
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
RUN, EXPIRES, ROLE, SLAVE, LAYOUT = (f"netmodel.io/{name}" for name in ("run", "expires", "role", "slave", "layout"))
MANAGED = {"app.kubernetes.io/managed-by": "netmodel-lab"}
CREATED_BY = "netmodel.io/created-by"
_NODE_PORTS = 2768  # from 30000
_CLIENT_SPARE_S = 60  # that a client has beyond what it measures


def labels(settings: Settings, **more: str) -> dict[str, str]:
    found = {"app.kubernetes.io/name": "netmodel", **MANAGED, RUN: settings.run}
    return found | {f"netmodel.io/{name}": value for name, value in more.items()}


def _meta(settings: Settings, name: str, namespace: str | None, expires: str, **more: str) -> Json:
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
    return [layout for layout in ("pod", "host") if layout in used]


def slaves(points: Sequence[Point], places: Places) -> list[tuple[int, Layout]]:
    """Those that stand for the whole run: their numbers, and networks."""
    found = [
        (pair.slave, point.path.server) for point in points for pair in places[point.place] if not point.path.is_within
    ]
    return list(dict.fromkeys(found))


def services(points: Sequence[Point], places: Places) -> list[tuple[int, str]]:
    """Those that are needed: the number of the slave, and the path."""
    found = [(pair.slave, point.network) for point in points for pair in places[point.place] if point.path.service]
    ports = {(pair.slave, pair.lane) for one in points if one.network == "nodeport" for pair in places[one.place]}
    if len(ports) > _NODE_PORTS:
        raise UsageProblem([f"--paths nodeport: {len(ports)} ports are needed, and nodes have {_NODE_PORTS}"])
    return list(dict.fromkeys(found))


def namespaces(settings: Settings, used: Sequence[Layout], expires: str) -> list[Json]:
    if settings.namespace:
        return []
    found = []
    for layout in used:
        level = "privileged" if layout == "host" or settings.pods.is_privileged else "restricted"
        meta = _meta(settings, namespace_of(settings, layout), None, expires)
        meta["labels"] |= {f"pod-security.kubernetes.io/{mode}": level for mode in ("enforce", "warn")}
        meta["annotations"] |= {CREATED_BY: settings.run}
        found.append({"apiVersion": "v1", "kind": "Namespace", "metadata": meta})
    return found


def secret(settings: Settings, namespace: str, key: str, expires: str) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": _meta(settings, f"nm-{settings.run}", namespace, expires),
        "type": "Opaque",
        "data": {"key": base64.b64encode(key.encode()).decode()},
    }


def config_map(settings: Settings, namespace: str, expires: str) -> Json | None:
    """Profiles that the image does not have."""
    files: list[Path] = own_profiles(settings)
    if not files:
        return None
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": _meta(settings, f"nm-{settings.run}", namespace, expires),
        "data": {path.name: path.read_text(encoding="utf-8") for path in files},
    }


# --- pods ---


def control_port(settings: Settings, slave: int, layout: Layout, attempt: int = 0) -> int:
    """A node's port may be taken: a run has its own for each slave, and then the next ones."""
    if layout == "pod":
        return CONTROL_PORT
    return CONTROL_PORT + (int(hashlib.sha256(settings.run.encode()).hexdigest(), 16) + slave + attempt * 37) % 1000


def node_port(settings: Settings, slave: int, lanes: int, attempt: int) -> int:
    """The first of a slave's ports on all nodes, in the range that Kubernetes has for them by default: they must be
    known before, as the slave listens on the same. Those of a run follow each other. They may be taken: then others."""
    first = int(hashlib.sha256(settings.run.encode()).hexdigest(), 16) + slave * lanes + attempt * 997
    return 30000 + first % (_NODE_PORTS - lanes + 1)


def _container(settings: Settings, args: Sequence[str], *, has_key: bool, has_profiles: bool) -> Json:
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
    if has_profiles:
        found["volumeMounts"] = [{"name": "profiles", "mountPath": "/profiles", "readOnly": True}]
    if pods.requests or pods.limits:
        found["resources"] = {
            name: value for name, value in (("requests", pods.requests), ("limits", pods.limits)) if value
        }
    return found


def _spec(settings: Settings, layout: Layout, node: str | None, container: Json, *, has_profiles: bool) -> Json:
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
    if has_profiles:
        found["volumes"] = [{"name": "profiles", "configMap": {"name": f"nm-{settings.run}"}}]
    if layout == "host":
        found["hostNetwork"] = True
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
    return found


def _annotations(settings: Settings) -> dict[str, str]:
    """A sidecar would be in the path, and an autoscaler must not move what is measured."""
    return {
        "sidecar.istio.io/inject": "false",
        "linkerd.io/inject": "disabled",
        "cluster-autoscaler.kubernetes.io/safe-to-evict": "false",
        **settings.pods.annotations,
    }


def server_name(settings: Settings, slave: int, layout: Layout) -> str:
    return f"nm-{settings.run}-s{slave}" + ("h" if layout == "host" else "")


def _slave_args(settings: Settings, port: int, ranges: Sequence[str], expires: str) -> list[str]:
    args = ["-s", "--port", str(port)]
    if ranges:
        args += ["--allow-peer", ",".join(ranges)]
    return [*args, "--max-lifetime", f"{_lifetime(expires)}s"]


def _lifetime(expires: str) -> int:
    return max(int(expires) - int(time.time()), 60)


def _slave_container(settings: Settings, port: int, ranges: Sequence[str], expires: str) -> Json:
    args = _slave_args(settings, port, ranges, expires)
    found = _container(settings, args, has_key=True, has_profiles=False)
    found["ports"] = [{"name": "control", "containerPort": port}]
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
) -> Json:
    """A slave, for all samples of its pairs."""
    container = _slave_container(settings, control_port(settings, slave, layout, attempt), ranges, expires)
    spec = _spec(settings, layout, node, container, has_profiles=False)
    spec["activeDeadlineSeconds"] = _lifetime(expires)
    meta = _meta(
        settings,
        server_name(settings, slave, layout),
        namespace_of(settings, layout),
        expires,
        role="server",
        slave=str(slave),
        layout=layout,
    )
    meta["annotations"] |= _annotations(settings)
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}


# --- services ---

_MARKS = {
    "service": "",
    "headless": "-headless",
    "nodeport": "-node",
    "loadbalancer": "-balanced",
    "hairpin": "-hairpin",
}


def service_name(settings: Settings, slave: int, network: str) -> str:
    return server_name(settings, slave, "pod") + _MARKS[network]


def service(
    settings: Settings,
    slave: int,
    lanes: int,
    network: str,
    protocols: Sequence[str],
    expires: str,
    attempt: int = 0,
) -> Json:
    """Of one slave: each connection is balanced alone, and so several behind one would not get what is theirs. lanes:
    how many masters it has at the same time, each with a port of its own."""
    path = PATHS[network]
    first = data_port(settings, network, slave, lanes, attempt)
    ports: list[Json] = [{"name": "control", "port": CONTROL_PORT, "targetPort": CONTROL_PORT, "protocol": "TCP"}]
    for lane in range(lanes if path.has_fixed_ports else 0):
        for protocol in dict.fromkeys(["TCP", *protocols]):
            port: Json = {"name": f"data-{lane}-{protocol.lower()}", "port": first + lane, "targetPort": first + lane}
            ports.append(port | {"protocol": protocol} | ({"nodePort": first + lane} if network == "nodeport" else {}))
    role = "both" if path.is_within else "server"
    spec: Json = {
        "type": "ClusterIP" if path.service == "Headless" else path.service,
        "selector": {RUN: settings.run, ROLE: role, SLAVE: str(slave), LAYOUT: "pod"},
        "ports": ports,
    }
    meta = _meta(
        settings, service_name(settings, slave, network), namespace_of(settings, "pod"), expires, slave=str(slave)
    )
    spec |= {"clusterIP": "None"} if path.service == "Headless" else {}
    return {"apiVersion": "v1", "kind": "Service", "metadata": meta, "spec": spec}


def data_port(settings: Settings, network: str, slave: int, lanes: int, attempt: int = 0) -> int:
    """The first port of a slave's data; each of its masters, as many as lanes, has the next one."""
    return node_port(settings, slave, lanes, attempt) if network == "nodeport" else DATA_PORT


def protocols(points: Sequence[Point]) -> list[str]:
    """Of the tests that go through a Service."""
    return list(dict.fromkeys(CATALOG[point.test.profile].protocol for point in points if point.path.service))


# --- clients ---


@dataclass(frozen=True)
class Dial:
    """Where a master finds its slave. data: the port of its data; None: one that the kernel chooses."""

    address: str
    port: int
    data: int | None = None
    via: str | None = None  # the node whose port it is


def client_name(settings: Settings, point: Point, number: int) -> str:
    return f"nm-{settings.run}-p{point.seq:04d}-{number}"


def client_args(point: Point, dial: Dial) -> list[str]:
    args = ["-m", point.profile, "--port", str(dial.port), "--wait-slaves", "10s"]
    for name, value in point.params(dial.address, dial.data).items():
        args += ["-D", f"{name}={value}"]
    return [*args, "--format", "json", "-q"]


def client(
    settings: Settings, point: Point, number: int, pair: Pair, dial: Dial, ranges: Sequence[str], expires: str
) -> Json:
    """A master, for one sample; number: which of the pairs of its place. Of a hairpin its pod has the slave, too."""
    path = point.path
    own = point.profile.startswith("/")
    has_key = not settings.external or settings.has_external_key
    container = _container(settings, client_args(point, dial), has_key=has_key, has_profiles=own)
    spec = _spec(settings, path.client, pair.client, container, has_profiles=own)
    if path.is_within:
        beside = _slave_container(settings, CONTROL_PORT, ranges, expires)
        spec["initContainers"] = [{**beside, "name": "slave", "restartPolicy": "Always"}]
    marks = {
        "role": "both" if path.is_within else "client",
        "slave": str(pair.slave),
        "pair": str(number),
        "point": str(point.seq),
        "layout": path.client,
    }
    meta = _meta(settings, client_name(settings, point, number), namespace_of(settings, path.client), expires, **marks)
    template = {"labels": labels(settings, **marks), "annotations": _annotations(settings)}
    seconds = point.test.duration + _CLIENT_SPARE_S + settings.limits.start_s + settings.limits.schedule_s
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": meta,
        "spec": {
            "backoffLimit": 0,
            "completions": 1,
            "parallelism": 1,
            "activeDeadlineSeconds": int(seconds),
            "ttlSecondsAfterFinished": TTL_S,
            "template": {"metadata": template, "spec": spec},
        },
    }
