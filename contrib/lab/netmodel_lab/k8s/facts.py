# SPDX-License-Identifier: Apache-2.0
"""What is known of a cluster and of its nodes' networks: what cannot be told is said to be unknown, and why."""

from __future__ import annotations

import json
import re
from typing import Any

from netmodel_lab.k8s.cluster import CONFIG_MAP, Cluster
from netmodel_lab.k8s.problems import ApiProblem

Json = dict[str, Any]
_MODE = re.compile(r'^mode: *"?(\w*)', re.MULTILINE)
_CNI = {  # what the annotations of a node begin with
    "k8s.ovn.org/": "OVN-Kubernetes",
    "projectcalico.org/": "Calico",
    "flannel.alpha.coreos.com/": "Flannel",
    "network.cilium.io/": "Cilium",
    "io.cilium.network.": "Cilium",
    "node.antrea.io/": "Antrea",
    "kube-router.io/": "kube-router",
}


def of_cluster(cluster: Cluster, nodes: int) -> Json:
    try:
        version = str(json.loads(cluster.request("GET", "/version"))["gitVersion"])
    except ApiProblem as problem:
        version = f"unknown: {problem.message}"
    return {"version": version, "nodes": nodes, "kube_proxy": _kube_proxy(cluster)}


def _kube_proxy(cluster: Cluster) -> str:
    """Its mode, by the configuration that kubeadm gives it."""
    try:
        found = cluster.get(CONFIG_MAP, "kube-proxy", "kube-system")
    except ApiProblem as problem:
        return f"unknown: {problem.message}"
    mode = _MODE.search(((found or {}).get("data") or {}).get("config.conf") or "")
    if mode is None:
        return "unknown: no ConfigMap kube-proxy in kube-system has it"
    return mode[1] or "iptables"  # its default on Linux


def cni(node: Json) -> str:
    """Several where one chains the other."""
    names = [
        name
        for start, name in _CNI.items()
        if any(key.startswith(start) for key in node["metadata"].get("annotations") or {})
    ]
    return ", ".join(dict.fromkeys(names)) or "unknown: no annotation of the node tells"
