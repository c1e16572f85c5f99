# SPDX-License-Identifier: Apache-2.0
"""A cluster's API: objects as they stand in YAML go in and come out. Reading is tried again while the API server is
away, and so is creating: what is there after that, and is of this run, was created."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import urllib3.exceptions
from kubernetes import client as api  # type: ignore[import-untyped,unused-ignore]
from kubernetes import config

from netmodel_lab.k8s.problems import ApiProblem, away
from netmodel_lab.problems import EnvironmentProblem

Json = dict[str, Any]
_REQUEST_S = 30.0  # of one request
_KUBELET_S = 10.0  # of one that a kubelet has to answer
_AWAY_S = 60.0  # how long an API server may be away that has answered before
_FIRST_S = 10.0  # and one that has not
_SECOND_LOOK_S = 0.5
_TO_KUBELET = "/containerLogs/"  # stands in the API server's words where it has not reached one
_WHOSE = re.compile(r"^HTTPS?Connection\(.*?\): ")  # the address stands before it already


@dataclass(frozen=True)
class Kind:
    name: str
    version: str  # apiVersion
    plural: str
    namespaced: bool = True

    def path(self, namespace: str | None, name: str | None = None) -> str:
        root = f"/api/{self.version}" if "/" not in self.version else f"/apis/{self.version}"
        inner = f"/namespaces/{namespace}" if self.namespaced and namespace else ""
        return f"{root}{inner}/{self.plural}" + (f"/{name}" if name else "")


NAMESPACE = Kind("Namespace", "v1", "namespaces", namespaced=False)
NODE = Kind("Node", "v1", "nodes", namespaced=False)
POD = Kind("Pod", "v1", "pods")
SERVICE = Kind("Service", "v1", "services")
CONFIG_MAP = Kind("ConfigMap", "v1", "configmaps")
SECRET = Kind("Secret", "v1", "secrets")
EVENT = Kind("Event", "v1", "events")
QUOTA = Kind("ResourceQuota", "v1", "resourcequotas")
JOB = Kind("Job", "batch/v1", "jobs")
POLICY = Kind("NetworkPolicy", "networking.k8s.io/v1", "networkpolicies")
SERVICE_CIDR = Kind("ServiceCIDR", "networking.k8s.io/v1", "servicecidrs", namespaced=False)
ROLE_BINDING = Kind("RoleBinding", "rbac.authorization.k8s.io/v1", "rolebindings")
SUBJECT_REVIEW = Kind("SubjectAccessReview", "authorization.k8s.io/v1", "subjectaccessreviews", namespaced=False)
REVIEW = Kind("SelfSubjectAccessReview", "authorization.k8s.io/v1", "selfsubjectaccessreviews", namespaced=False)

MACHINE = Kind("VirtualMachineInstance", "kubevirt.io/v1", "virtualmachineinstances")

# Of OpenShift.
CONSTRAINTS = Kind(
    "SecurityContextConstraints", "security.openshift.io/v1", "securitycontextconstraints", namespaced=False
)

# Of networks beside the cluster's own.
ATTACHMENT = Kind("NetworkAttachmentDefinition", "k8s.cni.cncf.io/v1", "network-attachment-definitions")
UDN = Kind("UserDefinedNetwork", "k8s.ovn.org/v1", "userdefinednetworks")
CUDN = Kind("ClusterUserDefinedNetwork", "k8s.ovn.org/v1", "clusteruserdefinednetworks", namespaced=False)
SRIOV_POLICY = Kind("SriovNetworkNodePolicy", "sriovnetwork.openshift.io/v1", "sriovnetworknodepolicies")
SRIOV_NETWORK = Kind("SriovNetwork", "sriovnetwork.openshift.io/v1", "sriovnetworks")
SRIOV_CONFIG = Kind("SriovOperatorConfig", "sriovnetwork.openshift.io/v1", "sriovoperatorconfigs")
SRIOV_STATE = Kind("SriovNetworkNodeState", "sriovnetwork.openshift.io/v1", "sriovnetworknodestates")
IP_POOL = Kind("IPPool", "whereabouts.cni.cncf.io/v1alpha1", "ippools")
NETWORK_KINDS = (POLICY, ATTACHMENT, UDN, CUDN, SRIOV_NETWORK, SRIOV_POLICY)

# What runs make.
_MADE = (NAMESPACE, ROLE_BINDING, SECRET, CONFIG_MAP, SERVICE, POD, JOB, MACHINE, *NETWORK_KINDS)
BY_NAME = {kind.name: kind for kind in _MADE}


def _load(name: str) -> Callable[..., None]:
    """The library tells no types of these."""
    function: Callable[..., None] = getattr(config, name)
    return function


class Cluster:
    def __init__(self, client: Any, text: str) -> None:
        self._client = client
        self.text = text
        self._has_answered = False

    @classmethod
    def connect(cls, kubeconfig: str | None, context: str | None) -> Cluster:
        """By a kubeconfig, or inside a pod by its service account."""
        settings = api.Configuration(retries=0)
        try:
            try:
                _load("load_kube_config")(kubeconfig, context, client_configuration=settings)
            except config.ConfigException:
                if kubeconfig or context or not os.environ.get("KUBERNETES_SERVICE_HOST"):
                    raise
                _load("load_incluster_config")(client_configuration=settings)
        except (config.ConfigException, OSError) as error:
            raise EnvironmentProblem([f"no cluster: {error}; --kubeconfig FILE or $KUBECONFIG names one"]) from None
        settings.retries = 0
        return cls(api.ApiClient(settings), str(settings.host))

    # --- requests ---

    def request(
        self,
        method: str,
        path: str,
        query: Mapping[str, str] | None = None,
        body: Json | None = None,
        patience_s: float | None = None,
    ) -> bytes:
        """What the API server answers. Raises ApiProblem. patience_s: how long what may pass is tried again."""
        if patience_s is None:
            patience_s = _AWAY_S if self._has_answered else _FIRST_S
        limit = time.monotonic() + patience_s
        while True:
            try:
                status, data = self._once(method, path, query, body)
            except urllib3.exceptions.HTTPError as error:
                if time.monotonic() > limit or not away(error):
                    raise EnvironmentProblem([f"{self.text}: {_words(error)}"]) from None
            except api.ApiException as error:  # not an answer: what the connection says, such as of TLS
                raise EnvironmentProblem([f"{self.text}: {error.reason}"]) from None
            else:
                self._has_answered = True
                if status < 400:
                    return data
                problem = ApiProblem.of(status, data, method, path)
                if not (problem.is_passing and time.monotonic() < limit):
                    raise problem
            time.sleep(_SECOND_LOOK_S)

    def _once(
        self,
        method: str,
        path: str,
        query: Mapping[str, str] | None,
        body: Json | None,
        limit_s: float = _REQUEST_S,
    ) -> tuple[int, bytes]:
        headers = {"Accept": "application/json, */*"}
        if body is not None:
            headers["Content-Type"] = "application/json"
        words = self._client.param_serialize(
            method, path, {}, list((query or {}).items()), headers, body, auth_settings=["BearerToken"]
        )
        answer = self._client.call_api(*words[:4], _request_timeout=limit_s)
        return int(answer.status), bytes(answer.read() or b"")

    # --- objects ---

    def get(self, kind: Kind, name: str, namespace: str | None = None) -> Json | None:
        try:
            data = self.request("GET", kind.path(namespace, name))
        except ApiProblem as problem:
            if problem.is_missing:
                return None
            raise
        return dict(json.loads(data))

    def listed(self, kind: Kind, namespace: str | None = None, labels: str = "", fields: str = "") -> list[Json]:
        """Those of a namespace, or of all."""
        query = {name: text for name, text in (("labelSelector", labels), ("fieldSelector", fields)) if text}
        return list(json.loads(self.request("GET", kind.path(namespace), query)).get("items") or [])

    def listed_if_there(self, kind: Kind, namespace: str | None = None, labels: str = "") -> list[Json]:
        """Nothing where the cluster has no such kind, or one must not look."""
        try:
            return self.listed(kind, namespace, labels)
        except ApiProblem as problem:
            if problem.is_missing or problem.is_forbidden:
                return []
            raise

    def has(self, kind: Kind) -> bool:
        """Whether the cluster knows it; anybody may ask."""
        try:
            data = self.request("GET", f"/apis/{kind.version}")
        except ApiProblem as problem:
            if problem.is_missing:
                return False
            raise
        return any(one.get("name") == kind.plural for one in json.loads(data).get("resources") or [])

    def groups(self) -> set[str]:
        """Of its kinds; anybody may ask."""
        return {str(one["name"]) for one in json.loads(self.request("GET", "/apis")).get("groups") or []}

    def create(self, item: Json) -> Json:
        kind = BY_NAME[item["kind"]]
        meta = item["metadata"]
        try:
            data = self.request("POST", kind.path(meta.get("namespace")), {"fieldValidation": "Strict"}, item)
        except ApiProblem as problem:
            there = self.get(kind, meta["name"], meta.get("namespace")) if problem.reason == "AlreadyExists" else None
            if there and (there["metadata"].get("labels") or {}) == meta.get("labels"):
                return there
            raise
        return dict(json.loads(data))

    def post(self, kind: Kind, item: Json) -> Json:
        return dict(json.loads(self.request("POST", kind.path(None), None, item)))

    def delete(self, item: Json, *, grace_s: int | None = None) -> None:
        """Only this very object is deleted, and not another one of its name."""
        kind = BY_NAME[item["kind"]]
        meta = item["metadata"]
        body: Json = {"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Background"}
        if meta.get("uid"):
            body["preconditions"] = {"uid": meta["uid"]}
        if grace_s is not None:
            body["gracePeriodSeconds"] = grace_s
        try:
            self.request("DELETE", kind.path(meta.get("namespace"), meta["name"]), None, body)
        except ApiProblem as problem:
            if not problem.is_missing and problem.reason != "Conflict":
                raise

    def log(self, pod: str, namespace: str, container: str = "netmodel") -> str:
        data = self.request("GET", POD.path(namespace, pod) + "/log", {"container": container})
        return data.decode("utf-8", "replace")

    def unheard(self, pod: Json) -> str | None:
        """Why the node of a pod does not answer, asked for the pod's log. None: it does, or that cannot be told, as
        when the API server is away or busy, or does not trust the kubelet."""
        meta = pod["metadata"]
        path = POD.path(meta["namespace"], meta["name"]) + "/log"
        query = {"tailLines": "1", "container": pod["spec"]["containers"][0]["name"]}
        try:
            status, data = self._once("GET", path, query, None, _KUBELET_S)
        except urllib3.exceptions.HTTPError as error:
            is_late = isinstance(getattr(error, "reason", error), urllib3.exceptions.ReadTimeoutError)
            return f"a log has not come within {_KUBELET_S:.0f} s" if is_late else None
        except api.ApiException:
            return None
        said = ApiProblem.of(status, data, "GET", path).message if status >= 500 else ""
        return said if _TO_KUBELET in said and "tls: " not in said else None

    def events(self, name: str, namespace: str) -> list[str]:
        """What is said of an object, oldest first; nothing where one must not look."""
        try:
            found = self.listed(EVENT, namespace, fields=f"involvedObject.name={name}")
        except ApiProblem:
            return []
        found.sort(key=lambda event: str(event.get("lastTimestamp") or event.get("eventTime") or ""))
        return [f"{event.get('reason')}: {event.get('message')}" for event in found if event.get("type") == "Warning"]


def _words(error: Exception) -> str:
    return _WHOSE.sub("", str(getattr(error, "reason", None) or error))
