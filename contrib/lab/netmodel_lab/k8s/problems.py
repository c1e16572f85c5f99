# SPDX-License-Identifier: Apache-2.0
"""What a cluster refuses, in its own words, and what can be done about it."""

from __future__ import annotations

import json
import re
import ssl
from collections.abc import Iterable

from netmodel_lab.problems import EnvironmentProblem, Exit, Problem

_WHO = re.compile(
    r'User "(?P<who>[^"]+)" cannot (?P<verb>\S+) resource "(?P<what>[^"]+)" in API group "(?P<group>[^"]*)"'
)
_PASSING = (429, 500, 502, 503, 504)
_NOT_YET = 'serviceaccount "default" not found'  # which every namespace is given soon after it was made


class MeasurementProblem(Problem):
    """A sample has no result that counts."""

    code = Exit.FAILED


class ClientProblem(MeasurementProblem):
    """A client says that it has failed, or does not end: it may not have reached its server."""


class SkewProblem(MeasurementProblem):
    """Its pairs have not run at the same time, which another try may put right."""


class ApiProblem(EnvironmentProblem):
    """An answer of the API server that is no success."""

    def __init__(self, status: int, reason: str, message: str) -> None:
        self.status, self.reason, self.message = status, reason, message
        super().__init__([message, *_advice(reason, message)])

    @classmethod
    def of(cls, status: int, data: bytes, method: str, path: str) -> ApiProblem:
        """From the body, which is a Status, or plain text where the kind is not installed."""
        try:
            body = json.loads(data)
        except ValueError:
            body = {}
        if not isinstance(body, dict) or "message" not in body:
            text = data.decode("utf-8", "replace").strip() or f"status {status}"
            if status == 404:
                text = f"{path}: the cluster has no such kind"
            body = {"reason": "", "message": f"{method} {path}: {text}" if status != 404 else text}
        return cls(status, str(body.get("reason") or ""), str(body["message"]))

    @property
    def is_missing(self) -> bool:
        return self.status == 404

    @property
    def is_forbidden(self) -> bool:
        return self.status == 403

    @property
    def is_passing(self) -> bool:
        """It may be otherwise in a moment: the server starts, or is asked too often."""
        return self.status in _PASSING or (self.is_forbidden and _NOT_YET in self.message)


def _advice(reason: str, message: str) -> Iterable[str]:
    """What the user can do, where it is known."""
    refused = _WHO.search(message)
    if refused:
        kind = "clusterrole" if "at the cluster scope" in message else "role"
        yield grant(kind, refused["verb"], refused["what"], refused["group"])
    elif "violates PodSecurity" in message:
        yield (
            "the label pod-security.kubernetes.io/enforce of the namespace forbids it: give a namespace of level "
            "privileged for host network, or leave --namespace out"
        )
    elif "must specify" in message:
        yield "the quota wants requests and limits: --requests cpu=1,memory=64Mi --limits cpu=2,memory=256Mi"
    elif "exceeded quota" in message:
        yield "end what else is in the namespace, or raise the quota"
    elif reason == "Unauthorized":
        yield "the token is wrong or has expired"


def grant(kind: str, verb: str, what: str, group: str) -> str:
    """The command that grants a right."""
    name = what.replace("/", "-")
    resource = what if not group else f"{what.partition('/')[0]}.{group}"
    return f"to grant it: kubectl create {kind} netmodel-{name} --verb={verb} --resource={resource}, and bind it"


def away(error: BaseException) -> bool:
    """Whether a connection has failed as it does while a server starts; not when its certificate is not trusted."""
    seen: BaseException | None = error
    while seen is not None:
        reason = getattr(seen, "reason", None)
        if isinstance(seen, ssl.SSLError) or isinstance(reason, ssl.SSLError) or "SSL" in type(seen).__name__:
            return False
        if "SSLError" in type(reason).__name__:
            return False
        seen = reason if isinstance(reason, BaseException) else seen.__cause__
    return True
