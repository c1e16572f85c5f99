# SPDX-License-Identifier: Apache-2.0
"""Waits, each with a limit, and why they end without what was waited for."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from netmodel_lab.k8s.cluster import BY_NAME, MACHINE, NODE, POD, SERVICE, Cluster
from netmodel_lab.k8s.problems import ClientProblem, MeasurementProblem
from netmodel_lab.k8s.settings import Limits
from netmodel_lab.problems import EnvironmentProblem

Json = dict[str, Any]
_LOOK_S = 0.2
_LOOK_SELDOM_S = 0.5  # while something is measured
_NODES_S = 3.0
_PULL_PATIENCE_S = 20.0  # a failed pull heals itself now and then
_BUSY_PATIENCE_S = 30.0  # so does a node that is busy
_BUSY = ("failed to sync", "timed out", "deadline exceeded", "DeadlineExceeded")
_NO_POD_S = 3.0  # before the events of a Job are looked at

# Reasons for which a container waits and will not start.
_FINAL = {
    "ErrImageNeverPull": "the image is not on the node, and --image-pull-policy Never forbids to fetch it",
    "InvalidImageName": "the name of the image is wrong",
    "CreateContainerConfigError": "the container cannot be made",
    "CreateContainerError": "the container cannot be made",
    "RunContainerError": "the container cannot be started",
    "CrashLoopBackOff": "the program ends as soon as it starts",
}
_PULL = ("ErrImagePull", "ImagePullBackOff", "ErrImageInvalid", "RegistryUnavailable")


@dataclass(frozen=True)
class Trouble:
    """Why a pod does not start. patience_s: how long it may be so before that is the verdict."""

    text: str
    patience_s: float


def trouble(pod: Json, limits: Limits) -> Trouble | None:
    """What stands in the way of a pod, in the words of the cluster. None: nothing that is known."""
    status = pod.get("status") or {}
    for condition in status.get("conditions") or []:
        if condition["type"] == "PodScheduled" and condition["status"] == "False":
            text = f"cannot be scheduled: {condition.get('message') or condition.get('reason')}"
            return Trouble(text, limits.schedule_s)
    for container in [*(status.get("initContainerStatuses") or []), *(status.get("containerStatuses") or [])]:
        waiting = (container.get("state") or {}).get("waiting") or {}
        reason, message = str(waiting.get("reason") or ""), str(waiting.get("message") or "")
        if reason in _FINAL:
            patience_s = _BUSY_PATIENCE_S if any(part in message for part in _BUSY) else 0.0
            return Trouble(f"{_FINAL[reason]}: {reason}: {message}".rstrip(": "), patience_s)
        if reason in _PULL:
            return Trouble(f"image {container.get('image')} cannot be pulled: {message or reason}", _PULL_PATIENCE_S)
    return None


def state(pod: Json) -> str:
    """Where a pod is, in a few words."""
    status = pod.get("status") or {}
    waiting = [
        one["state"]["waiting"].get("reason")
        for one in status.get("containerStatuses") or []
        if (one.get("state") or {}).get("waiting")
    ]
    node = (pod.get("spec") or {}).get("nodeName")
    return ", ".join(filter(None, [str(status.get("phase")), *map(str, waiting), f"on {node}" if node else "no node"]))


def is_ready(pod: Json) -> bool:
    conditions = (pod.get("status") or {}).get("conditions") or []
    return any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)


def ended(pod: Json) -> str | None:
    """How a pod that has ended has done so: "" well, else why not. None: it has not ended."""
    status = pod.get("status") or {}
    if pod["metadata"].get("deletionTimestamp") and status.get("phase") not in ("Succeeded", "Failed"):
        return "it is being deleted, and not by this run"
    if status.get("phase") == "Succeeded":
        return ""
    if status.get("phase") != "Failed":
        return None
    # A container beside the others is stopped after them, and has not ended the pod.
    for one in [*(status.get("containerStatuses") or []), *(status.get("initContainerStatuses") or [])]:
        stopped = (one.get("state") or {}).get("terminated")
        if stopped and stopped.get("exitCode") and not status.get("reason"):
            why = ": ".join(filter(None, (stopped.get("reason"), stopped.get("message"))))
            code = f"exit code {stopped['exitCode']}"
            return f"{why}, {code}" if why not in ("", "Error", "Completed") else code
    return f"{status.get('reason')}: {status.get('message')}".removesuffix(": None")


class Waits:
    def __init__(self, cluster: Cluster, limits: Limits) -> None:
        self._cluster, self._limits = cluster, limits

    def ready(self, name: str, namespace: str) -> Json:
        """The pod, once it is ready. Raises EnvironmentProblem with the reason when it will not be."""
        return self._until(lambda: self._cluster.get(POD, name, namespace), is_ready, name, namespace, "be ready")

    def balanced(self, name: str, namespace: str) -> str:
        """The address that a load balancer has given to a Service. Raises EnvironmentProblem when there is none."""
        limit = time.monotonic() + self._limits.start_s
        while True:
            there = self._cluster.get(SERVICE, name, namespace) or {}
            given = ((there.get("status") or {}).get("loadBalancer") or {}).get("ingress") or []
            for one in given:
                if one.get("ip") or one.get("hostname"):
                    return str(one.get("ip") or one["hostname"])
            if time.monotonic() > limit:
                said = f"no load balancer has given Service {name} an address within {self._limits.start_s:.0f} s"
                raise EnvironmentProblem([said, *self._cluster.events(name, namespace)])
            time.sleep(_LOOK_S)

    def machine(self, name: str, namespace: str) -> Json:
        """The pod of a virtual machine, once that runs or has ended; what it waits for is told when it does not."""
        said: list[str] = []

        def found() -> Json | None:
            pods = self._cluster.listed(POD, namespace, labels=f"vm.kubevirt.io/name={name}")
            return pods[0] if pods else None

        def runs(pod: Json) -> bool:
            """Its pod may have ended before the machine is said to have run."""
            status = (self._cluster.get(MACHINE, name, namespace) or {}).get("status") or {}
            said[:] = [
                f"{one.get('type')}: {one['message']}" for one in status.get("conditions") or [] if one.get("message")
            ]
            return status.get("phase") in ("Running", "Succeeded", "Failed") or ended(pod) == ""

        try:
            return self._until(found, runs, name, namespace, "run a virtual machine")
        except EnvironmentProblem as problem:
            raise EnvironmentProblem([*problem.lines, *said]) from None

    def started(self, job: str, namespace: str) -> Json:
        """The pod of a Job, once its container runs or has ended."""

        def found() -> Json | None:
            pods = self._cluster.listed(POD, namespace, labels=f"job-name={job}")
            return pods[0] if pods else None

        def has_started(pod: Json) -> bool:
            return (pod.get("status") or {}).get("phase") in ("Running", "Succeeded", "Failed")

        return self._until(found, has_started, job, namespace, "start")

    def _until(
        self, look: Callable[[], Json | None], is_done: Callable[[Json], bool], name: str, namespace: str, what: str
    ) -> Json:
        begin = time.monotonic()
        since: dict[str, float] = {}
        pod: Json | None = None
        while True:
            pod = look()
            now = time.monotonic()
            if pod and is_done(pod):
                return pod
            if pod and (why := ended(pod)) is not None:
                raise EnvironmentProblem(
                    [f"pod {name} has ended before it could {what}: {why}", *self._said(pod, namespace)]
                )
            known = trouble(pod, self._limits) if pod else None
            if known and now - since.setdefault(known.text.partition(":")[0], now) >= known.patience_s:
                raise EnvironmentProblem([f"pod {name}: {known.text}"])
            if not pod and now - begin > _NO_POD_S:
                self._refused(name, namespace)
            if now - begin > self._limits.start_s:
                said = f"pod {name} did not {what} within {self._limits.start_s:.0f} s: {state(pod) if pod else 'none'}"
                raise EnvironmentProblem(
                    [said, *self._cluster.events(pod["metadata"]["name"] if pod else name, namespace)]
                )
            time.sleep(_LOOK_S)

    def _said(self, pod: Json, namespace: str) -> list[str]:
        """The last lines of its log."""
        try:
            return [f"  {line}" for line in self._cluster.log(pod["metadata"]["name"], namespace).splitlines()[-5:]]
        except EnvironmentProblem:
            return []

    def _refused(self, name: str, namespace: str) -> None:
        """A Job has no pod: what admission had against it stands in the Job's events alone."""
        events = [text for text in self._cluster.events(name, namespace) if text.startswith("FailedCreate")]
        if events:
            raise EnvironmentProblem([f"job {name} cannot make its pod: {events[-1].partition(': ')[2]}"])

    def finished(self, pod: Json, limit_s: float, servers: Sequence[str]) -> Json:
        """The pod of a Job, once it has ended. Raises MeasurementProblem when its node, or a server's, is lost,
        and when it takes too long."""
        name, namespace = pod["metadata"]["name"], pod["metadata"]["namespace"]
        limit = time.monotonic() + limit_s
        nodes_at = 0.0
        while True:
            now = self._cluster.get(POD, name, namespace)
            if now is None:
                raise MeasurementProblem([f"pod {name} has been deleted, and not by this run"])
            if ended(now) is not None:
                return now
            if time.monotonic() > nodes_at:
                nodes_at = time.monotonic() + _NODES_S
                for node in dict.fromkeys(filter(None, (now["spec"].get("nodeName"), *servers))):
                    self._verify_ready(str(node))
            if time.monotonic() > limit:
                raise ClientProblem([f"pod {name} has not ended within {limit_s:.0f} s: {state(now)}"])
            time.sleep(_LOOK_SELDOM_S)

    def verify_nodes(self, pods: Sequence[Json], said: str) -> None:
        """Raises MeasurementProblem when the node of a pod is lost, for which the other end has failed. That end knows
        at once what the cluster takes most of a minute to tell of a node: so each node is asked itself, once."""
        for node, pod in {str(pod["spec"]["nodeName"]): pod for pod in pods}.items():
            self._verify_ready(node)  # the API server answers, and what does not is the node
            why = self._cluster.unheard(pod)
            if why:
                raise MeasurementProblem([f"node {node} does not answer any more: the sample is lost: {said}: {why}"])

    def _verify_ready(self, name: str) -> None:
        node = self._cluster.get(NODE, name)
        conditions = (node or {}).get("status", {}).get("conditions") or []
        if node is None or any(one["type"] == "Ready" and one["status"] != "True" for one in conditions):
            raise MeasurementProblem([f"node {name} is not ready any more: the sample is lost"])

    def removal(self) -> float:
        """Until when objects that go now are waited for, however many they are."""
        return time.monotonic() + self._limits.remove_s

    def gone(
        self,
        kind_name: str,
        name: str,
        namespace: str | None,
        limit: float | None = None,
        look: Callable[[Json], None] = lambda _: None,
    ) -> str | None:
        """None once an object is gone, else what holds it. look: is called with it now and then."""
        kind = BY_NAME[kind_name]
        limit = self.removal() if limit is None else limit
        look_at = 0.0
        while True:
            there = self._cluster.get(kind, name, namespace)
            if there is None:
                return None
            if time.monotonic() > look_at:
                look_at = time.monotonic() + _NODES_S
                look(there)
            if time.monotonic() > limit:
                return held(there)
            time.sleep(_LOOK_S)


def held(item: Json) -> str:
    """Why an object is still there although it was deleted."""
    meta = item["metadata"]
    causes = [
        str(one.get("message"))
        for one in (item.get("status") or {}).get("conditions") or []
        if one.get("status") == "True" and one.get("message")
    ]
    finalizers = [f"finalizers {', '.join(meta['finalizers'])}"] if meta.get("finalizers") else []
    return f"{item.get('kind', 'object')} {meta['name']} is still there: " + "; ".join(
        [*finalizers, *causes] or ["no reason given"]
    )
