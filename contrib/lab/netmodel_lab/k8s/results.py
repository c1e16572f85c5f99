# SPDX-License-Identifier: Apache-2.0
"""What a sample says: its result document out of a pod's log, and the facts of its ends."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from netmodel_lab.k8s import histograms
from netmodel_lab.k8s.facts import cni
from netmodel_lab.k8s.figures import start_skew_s
from netmodel_lab.k8s.placement import zone
from netmodel_lab.k8s.problems import ClientProblem, MeasurementProblem, SkewProblem

Json = dict[str, Any]
_SAID = 5  # lines of a log that failed
MOST_SKEW = 0.2  # of the duration, between the first start of a pair and the last
LEAST_S = int(1 / MOST_SKEW)  # of a duration, where a start is known to a second: two within it may be that far apart


def parse(log: str, why: str) -> Json:
    """The result document. A log has standard error as well, before the document or behind it. Raises
    MeasurementProblem when the run has failed, or the log is not whole."""
    document, said = _split(log)
    if why:
        told = _incomplete(document)
        raise ClientProblem([f"the master has failed: {told or _last(said) or why}"])
    if document is None:
        raise MeasurementProblem(["the log has no whole result in it" + (f": {_last(said)}" if said else "")])
    if not str(document.get("schema", "")).startswith("netmodel.result/"):
        raise MeasurementProblem(["the log is no result of netmodel"])
    run = document.get("run") or {}
    if not run.get("complete"):
        raise ClientProblem([f"the run is incomplete: {run.get('incomplete_why')}"])
    if run.get("reconciled") is False:
        raise MeasurementProblem([f"the ends do not agree: {run.get('reconcile_text')}"])
    return document


def is_whole(log: str) -> bool:
    """Whether there is a document in it, from its begin to its end."""
    return _split(histograms.taken_out(log)[0])[0] is not None


def check_together(documents: Sequence[Json], duration: float) -> None:
    """Raises SkewProblem when pairs have not run at the same time: their sum would be of no moment."""
    skew = start_skew_s(documents)
    if len(documents) < 2:
        return
    if skew is None:
        raise MeasurementProblem(["how far the starts of its pairs are apart is not known: the sum does not count"])
    if skew > MOST_SKEW * duration:
        said = f"the starts of its pairs are {skew:.1f} s apart, more than {MOST_SKEW:.0%} of {duration} s"
        raise SkewProblem([f"{said}: the sum does not count"])


def _split(log: str) -> tuple[Json | None, list[str]]:
    lines = log.splitlines(keepends=True)
    for i, line in enumerate(lines):
        if line.startswith("{"):
            try:
                document, end = json.JSONDecoder().raw_decode("".join(lines[i:]))
            except ValueError:
                continue
            rest = "".join(lines[i:])[end:]
            return document, [one.strip() for one in [*lines[:i], *rest.splitlines()] if one.strip()]
    messages = [line.strip() for line in lines if line.startswith("netmodel: ")]
    return None, messages or [line.strip() for line in lines if line.strip()]


def _incomplete(document: Json | None) -> str | None:
    why = ((document or {}).get("run") or {}).get("incomplete_why")
    return str(why) if why else None


def _last(said: list[str]) -> str:
    return "; ".join(line.removeprefix("netmodel: ") for line in said[-_SAID:])


def times(pod: Json) -> Json:
    """When the first container of a pod has started, as far as the kubelet tells: in whole seconds."""
    for one in (pod.get("status") or {}).get("containerStatuses") or []:
        state = one.get("state") or {}
        started = (state.get("terminated") or state.get("running") or {}).get("startedAt")
        if started:
            return {"start": started, "start_s": datetime.fromisoformat(started).timestamp(), "start_error_s": 1.0}
    return {"start": None, "start_s": None, "start_error_s": None}


def end(pod: Json, node: Json) -> Json:
    """What is known of one end."""
    status, spec = pod.get("status") or {}, pod["spec"]
    container: Json = next(iter(status.get("containerStatuses") or []), {})
    info = (node.get("status") or {}).get("nodeInfo") or {}
    inner = spec["containers"][0]
    return {
        "pod": pod["metadata"]["name"],
        "namespace": pod["metadata"]["namespace"],
        "uid": pod["metadata"]["uid"],
        "node": node["metadata"]["name"],
        "zone": zone(node),
        "cni": cni(node),
        "ip": status.get("podIP"),
        "host_ip": status.get("hostIP"),
        "host_network": bool(spec.get("hostNetwork")),
        "image": inner.get("image"),
        "image_id": container.get("imageID"),
        "qos": status.get("qosClass"),
        "resources": inner.get("resources") or {},
        "containers": [one["name"] for one in spec["containers"]],
        "node_info": info,
    }
