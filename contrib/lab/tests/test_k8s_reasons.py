# SPDX-License-Identifier: Apache-2.0
"""netmodel-lab k8s: why a pod does not start or has ended, and what grants what the API refuses."""

from __future__ import annotations

import json
from typing import Any

import pytest

pytest.importorskip("kubernetes", reason="the Kubernetes client is not installed; requirements-dev.txt has it")

from k8s_examples import Json

from netmodel_lab.k8s import waits
from netmodel_lab.k8s.cluster import SERVICE_CIDR, Cluster
from netmodel_lab.k8s.problems import ApiProblem
from netmodel_lab.k8s.settings import Limits


def pod(**status: Any) -> Json:
    return {"metadata": {"name": "p"}, "spec": {}, "status": status}


def waiting(reason: str, message: str = "") -> Json:
    return pod(containerStatuses=[{"image": "i", "state": {"waiting": {"reason": reason, "message": message}}}])


def test_why_a_pod_does_not_start() -> None:
    never = waits.trouble(waiting("ErrImageNeverPull", "not present"), Limits())
    assert never and never.patience_s == 0 and "ErrImageNeverPull: not present" in never.text
    pulled = waits.trouble(waiting("ImagePullBackOff", "Back-off"), Limits())
    assert pulled and pulled.patience_s > 0 and pulled.text == "image i cannot be pulled: Back-off"
    message = "0/2 nodes are available: 2 Insufficient cpu."
    unplaced = pod(conditions=[{"type": "PodScheduled", "status": "False", "message": message}])
    found = waits.trouble(unplaced, Limits(schedule_s=7))
    assert found == waits.Trouble(f"cannot be scheduled: {message}", 7)
    assert waits.trouble(waiting("ContainerCreating"), Limits()) is None


def test_how_a_pod_has_ended() -> None:
    assert waits.ended(pod(phase="Running")) is None
    assert waits.ended(pod(phase="Succeeded")) == ""
    stopped = [{"state": {"terminated": {"exitCode": 2, "reason": "Error"}}}]
    assert waits.ended(pod(phase="Failed", containerStatuses=stopped)) == "exit code 2"
    killed = [{"state": {"terminated": {"exitCode": 137, "reason": "OOMKilled"}}}]
    assert waits.ended(pod(phase="Failed", containerStatuses=killed)) == "OOMKilled, exit code 137"
    assert waits.ended(pod(phase="Failed", reason="Evicted", message="disk")) == "Evicted: disk"


def test_what_the_api_refuses_is_told_with_what_grants_it() -> None:
    message = (
        'jobs.batch is forbidden: User "u" cannot create resource "jobs" in API group "batch" in the namespace "n"'
    )
    body = json.dumps({"message": message, "reason": "Forbidden"}).encode()
    problem = ApiProblem.of(403, body, "POST", "/x")
    assert problem.lines[0] == message
    assert "create role netmodel-jobs --verb=create --resource=jobs.batch" in problem.lines[1]
    wide = 'nodes is forbidden: User "u" cannot list resource "nodes" in API group "" at the cluster scope'
    body = json.dumps({"message": wide, "reason": "Forbidden"}).encode()
    assert (
        "create clusterrole netmodel-nodes --verb=list --resource=nodes"
        in ApiProblem.of(403, body, "GET", "/x").lines[1]
    )
    assert "the cluster has no such kind" in ApiProblem.of(404, b"404 page not found\n", "GET", "/apis/x").message
    account = 'pods "p" is forbidden: error looking up service account n/default: serviceaccount "default" not found'
    assert ApiProblem(403, "Forbidden", account).is_passing
    assert not ApiProblem(403, "Forbidden", account.replace("default", "mine")).is_passing
    quota = json.dumps({"message": "failed quota: q: must specify limits.memory", "reason": "Forbidden"}).encode()
    assert "--limits" in ApiProblem.of(403, quota, "POST", "/x").lines[1]


def test_what_a_proxy_forbids_without_a_reason_is_forbidden(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> bytes:
        raise ApiProblem.of(403, b"no way in\n", "GET", "/x")

    monkeypatch.setattr(Cluster, "request", refused)
    assert Cluster(None, "fake").listed_if_there(SERVICE_CIDR) == []
