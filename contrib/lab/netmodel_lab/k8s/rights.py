# SPDX-License-Identifier: Apache-2.0
"""Rights, and whether this user has them."""

from __future__ import annotations

from typing import Any, NamedTuple

from netmodel_lab.k8s.cluster import REVIEW, Cluster

Json = dict[str, Any]


class Right(NamedTuple):
    """name: of the only object that is meant; empty: all of the resource."""

    group: str
    resource: str
    verbs: tuple[str, ...]
    name: str = ""


def lacking(cluster: Cluster, right: Right, namespace: str | None) -> tuple[str, ...]:
    """The verbs that this user may not."""
    return tuple(verb for verb in right.verbs if not _is_allowed(cluster, right, verb, namespace))


def _is_allowed(cluster: Cluster, right: Right, verb: str, namespace: str | None) -> bool:
    resource, _, inner = right.resource.partition("/")
    asked: Json = {"group": right.group, "resource": resource, "verb": verb}
    asked |= {"subresource": inner} if inner else {}
    asked |= {"namespace": namespace} if namespace else {}
    asked |= {"name": right.name} if right.name else {}
    item = {"apiVersion": REVIEW.version, "kind": REVIEW.name, "spec": {"resourceAttributes": asked}}
    return bool((cluster.post(REVIEW, item).get("status") or {}).get("allowed"))
