# SPDX-License-Identifier: Apache-2.0
"""A part of the spec of all pods that is the user's own: what has no option, and does not decide what is measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from netmodel_lab.problems import UsageProblem, nearest

Json = dict[str, Any]
FIELDS: dict[str, type] = {
    "affinity": dict,
    "dnsConfig": dict,
    "dnsPolicy": str,
    "hostAliases": list,
    "preemptionPolicy": str,
    "runtimeClassName": str,
    "schedulerName": str,
    "securityContext": dict,
    "topologySpreadConstraints": list,
}
_KINDS: dict[type, str] = {dict: "a map", list: "a list", str: "a name"}
_OPTIONS = {
    "imagePullSecrets": "--image-pull-secret",
    "nodeSelector": "--node-selector",
    "priorityClassName": "--priority-class",
    "serviceAccountName": "--service-account",
    "tolerations": "--toleration",
}
_RUN = ("containers", "initContainers", "hostNetwork", "nodeName", "restartPolicy", "volumes")


def read(path: str | None) -> Json:
    """Raises UsageProblem with all mistakes."""
    if path is None:
        return {}
    try:
        found = YAML(typ="safe").load(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, YAMLError) as error:
        raise UsageProblem([f"--pod-spec {path}: {error}"]) from None
    if not isinstance(found, dict):
        raise UsageProblem([f"--pod-spec {path}: must be fields of a pod's spec: {', '.join(FIELDS)}"])
    wrong = [f"--pod-spec {path}: {why}" for name, value in found.items() if (why := _mistake(str(name), value))]
    if wrong:
        raise UsageProblem(wrong)
    return dict(found)


def _mistake(name: str, value: object) -> str:
    if name in _OPTIONS:
        return f"{name}: {_OPTIONS[name]} has it"
    if name in _RUN:
        return f"{name}: the run sets it"
    if name not in FIELDS:
        return f"{name}: must be one of {', '.join(FIELDS)}{nearest(name, list(FIELDS))}"
    if not isinstance(value, FIELDS[name]):
        return f"{name}: must be {_KINDS[FIELDS[name]]}"
    if name == "affinity" and isinstance(value, dict) and "nodeAffinity" in value:
        return "affinity: nodeAffinity: the run sets it; --server-node, --client-node and --node-selector choose nodes"
    return ""


def merged(spec: Json, more: Json) -> Json:
    """Maps are put together, and what is given takes the place of ours."""
    found = dict(spec)
    for name, value in more.items():
        there = found.get(name)
        found[name] = merged(there, value) if isinstance(there, dict) and isinstance(value, dict) else value
    return found


def sysctl(spec: Json, name: str) -> str:
    """What it sets; empty: nothing, or what the cluster will not take."""
    every = (spec.get("securityContext") or {}).get("sysctls")
    given = [one for one in every if isinstance(one, dict)] if isinstance(every, list) else []
    return next((str(one.get("value")) for one in given if one.get("name") == name), "")
