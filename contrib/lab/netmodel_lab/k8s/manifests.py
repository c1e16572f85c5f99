# SPDX-License-Identifier: Apache-2.0
"""The objects of a run, as they are created: pure functions of what was asked for."""

from __future__ import annotations

import base64
import hashlib
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from netmodel_lab.k8s.catalog import CATALOG
from netmodel_lab.k8s.settings import (
    CONTROL_PORT,
    DATA_PORT,
    PORTS_OF_A_PAIR,
    TTL_S,
    Layout,
    Point,
    Settings,
    own_profiles,
)

Json = dict[str, Any]
RUN, EXPIRES, ROLE, PAIR, LAYOUT, POINT = (
    f"netmodel.io/{name}" for name in ("run", "expires", "role", "pair", "layout", "point")
)
MANAGED = {"app.kubernetes.io/managed-by": "netmodel-lab"}
CREATED_BY = "netmodel.io/created-by"
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


def layouts(settings: Settings, points: Sequence[Point]) -> list[Layout]:
    used = {point.layout for point in points}
    return [layout for layout in ("pod", "host") if layout in used]


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


def control_port(settings: Settings, layout: Layout, attempt: int = 0) -> int:
    """A node's port may be taken: a run has its own, and then the next one."""
    if layout == "pod":
        return CONTROL_PORT
    return CONTROL_PORT + (int(hashlib.sha256(settings.run.encode()).hexdigest(), 16) + attempt * 37) % 1000


def data_port(pair: int) -> int:
    return DATA_PORT + PORTS_OF_A_PAIR * pair


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


def server_name(settings: Settings, pair: int, layout: Layout) -> str:
    return f"nm-{settings.run}-s{pair}" + ("h" if layout == "host" else "")


def server(
    settings: Settings,
    pair: int,
    layout: Layout,
    node: str | None,
    ranges: Sequence[str],
    expires: str,
    attempt: int = 0,
) -> Json:
    """A slave, for all samples of its pair."""
    port = control_port(settings, layout, attempt)
    args = ["-s", "--port", str(port)]
    if ranges:
        args += ["--allow-peer", ",".join(ranges)]
    lifetime = max(int(expires) - int(time.time()), 60)
    container = _container(settings, [*args, "--max-lifetime", f"{lifetime}s"], has_key=True, has_profiles=False)
    container["ports"] = [{"name": "control", "containerPort": port}]
    # Once: a probe that goes on would disturb what is measured.
    container["startupProbe"] = {"tcpSocket": {"port": port}, "periodSeconds": 1, "failureThreshold": 60}
    spec = _spec(settings, layout, node, container, has_profiles=False)
    spec["activeDeadlineSeconds"] = lifetime
    meta = _meta(
        settings,
        server_name(settings, pair, layout),
        namespace_of(settings, layout),
        expires,
        role="server",
        pair=str(pair),
        layout=layout,
    )
    meta["annotations"] |= _annotations(settings)
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}


def service(settings: Settings, pair: int, protocols: Sequence[str], expires: str) -> Json:
    """Of one slave: each connection is balanced alone, and so several behind one would not get what is theirs."""
    port = data_port(pair)
    ports: list[Json] = [{"name": "control", "port": CONTROL_PORT, "targetPort": CONTROL_PORT, "protocol": "TCP"}]
    ports += [
        {"name": f"data-{protocol.lower()}", "port": port, "targetPort": port, "protocol": protocol}
        for protocol in dict.fromkeys(["TCP", *protocols])
    ]
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": _meta(
            settings, server_name(settings, pair, "pod"), namespace_of(settings, "pod"), expires, pair=str(pair)
        ),
        "spec": {
            "type": "ClusterIP",
            "selector": {RUN: settings.run, ROLE: "server", PAIR: str(pair), LAYOUT: "pod"},
            "ports": ports,
        },
    }


def protocols(points: Sequence[Point]) -> list[str]:
    """Of the tests that go through a Service."""
    return list(dict.fromkeys(CATALOG[point.test.profile].protocol for point in points if point.network == "service"))


def client_name(settings: Settings, point: Point, pair: int) -> str:
    return f"nm-{settings.run}-p{point.seq:04d}-{pair}"


def client_args(point: Point, address: str, port: int, pair: int) -> list[str]:
    through = data_port(pair) if point.network == "service" else None
    args = ["-m", point.profile, "--port", str(port), "--wait-slaves", "10s"]
    for name, value in point.params(address, through).items():
        args += ["-D", f"{name}={value}"]
    return [*args, "--format", "json", "-q"]


def client(
    settings: Settings, point: Point, pair: int, node: str | None, address: str, port: int, expires: str
) -> Json:
    """A master, for one sample."""
    name = client_name(settings, point, pair)
    own = point.profile.startswith("/")
    has_key = not settings.external or settings.has_external_key
    container = _container(settings, client_args(point, address, port, pair), has_key=has_key, has_profiles=own)
    spec = _spec(settings, point.layout, node, container, has_profiles=own)
    marks = {"role": "client", "pair": str(pair), "point": str(point.seq), "layout": point.layout}
    template = {"labels": labels(settings, **marks), "annotations": _annotations(settings)}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": _meta(settings, name, namespace_of(settings, point.layout), expires, **marks),
        "spec": {
            "backoffLimit": 0,
            "completions": 1,
            "parallelism": 1,
            "activeDeadlineSeconds": int(
                point.test.duration + _CLIENT_SPARE_S + settings.limits.start_s + settings.limits.schedule_s
            ),
            "ttlSecondsAfterFinished": TTL_S,
            "template": {"metadata": template, "spec": spec},
        },
    }
