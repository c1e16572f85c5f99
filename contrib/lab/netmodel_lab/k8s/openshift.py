# SPDX-License-Identifier: Apache-2.0
"""What OpenShift wants beside Kubernetes: its security context constraints admit pods of a service account that may use
one. In a namespace of its own a run binds the account to the one that its pods need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from netmodel_lab.k8s import manifests
from netmodel_lab.k8s.cluster import CONSTRAINTS, SUBJECT_REVIEW, Cluster
from netmodel_lab.k8s.paths import Layout
from netmodel_lab.k8s.problems import ApiProblem
from netmodel_lab.k8s.rights import Right, lacking
from netmodel_lab.k8s.settings import Settings

Json = dict[str, Any]
_GROUP = CONSTRAINTS.version.partition("/")[0]
_ROLE = "system:openshift:scc:"


def found(cluster: Cluster, settings: Settings) -> Settings:
    return replace(settings, is_openshift=cluster.has(CONSTRAINTS))


def constraint(settings: Settings, layout: Layout) -> str:
    """The least one that admits pods of this layout; empty: the one that all accounts may use."""
    if settings.pods.is_privileged:
        return "privileged"
    if layout == "host":
        return "hostnetwork-v2"
    return "nonroot-v2" if settings.drivers else ""  # whose images have no user of their own


def bindings(settings: Settings, used: Sequence[Layout], expires: str) -> list[Json]:
    if settings.namespace or not settings.is_openshift:
        return []
    account = settings.pods.service_account or "default"
    return [
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "RoleBinding",
            "metadata": manifests.meta_of(settings, f"nm-{settings.run}", namespace, expires),
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": _ROLE + name},
            "subjects": [{"kind": "ServiceAccount", "name": account, "namespace": namespace}],
        }
        for layout in used
        if (name := constraint(settings, layout))
        for namespace in [manifests.namespace_of(settings, layout)]
    ]


def rights(cluster: Cluster, settings: Settings, used: Sequence[Layout]) -> list[tuple[Right, str]]:
    """And the namespace of each. Whoever may use a constraint may give it away; anybody else must be let bind it."""
    found: list[tuple[Right, str]] = []
    for item in bindings(settings, used, ""):
        namespace, role = str(item["metadata"]["namespace"]), str(item["roleRef"]["name"])
        found.append((Right("rbac.authorization.k8s.io", "rolebindings", ("create",)), namespace))
        use = Right(_GROUP, CONSTRAINTS.plural, ("use",), role.removeprefix(_ROLE))
        if lacking(cluster, use, namespace):
            found.append((Right("rbac.authorization.k8s.io", "clusterroles", ("bind",), role), ""))
    return list(dict.fromkeys(found))


def lacks(cluster: Cluster, settings: Settings, used: Sequence[Layout]) -> list[str]:
    """Of a namespace of the user's: what its account may not use."""
    if not settings.namespace or not settings.is_openshift:
        return []
    account = settings.pods.service_account or "default"
    names = dict.fromkeys(filter(None, (constraint(settings, layout) for layout in used)))
    return [
        f"namespace {settings.namespace}: account {account} may not use the security context constraint {name}: "
        f"oc adm policy add-scc-to-user {name} -z {account} -n {settings.namespace}"
        for name in names
        if not _may_use(cluster, settings.namespace, account, name)
    ]


def _may_use(cluster: Cluster, namespace: str, account: str, name: str) -> bool:
    """Also where nobody may ask."""
    groups = ["system:serviceaccounts", f"system:serviceaccounts:{namespace}", "system:authenticated"]
    asked = {
        "group": _GROUP,
        "resource": CONSTRAINTS.plural,
        "name": name,
        "verb": "use",
        "namespace": namespace,
    }
    spec = {"user": f"system:serviceaccount:{namespace}:{account}", "groups": groups, "resourceAttributes": asked}
    item = {"apiVersion": SUBJECT_REVIEW.version, "kind": SUBJECT_REVIEW.name, "spec": spec}
    try:
        return bool((cluster.post(SUBJECT_REVIEW, item).get("status") or {}).get("allowed"))
    except ApiProblem:
        return True
