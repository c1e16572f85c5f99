# SPDX-License-Identifier: Apache-2.0
"""What plan prints is what run creates."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from conftest import KINDS, ON, Lab, entry, kubectl, objects
from test_models import PROFILE

Json = dict[str, Any]
LIST = "tests:\n" + entry("plain", "TCP_RR") + "  - {own: , netmodel: own.xml, duration: 1, samples: 1}\n"
PATHS = ("pod", "host", "host-to-pod", "service", "nodeport", "hairpin")
# What is known only then: addresses, and times that are left.
_LATER = (
    (r'"(data_)?host=[^"]*"', r'"\1host=ADDRESS"'),
    (r'"--max-lifetime", "[0-9]+s"', '"--max-lifetime", "TIME"'),
    (r'"activeDeadlineSeconds": [0-9]{4,}', '"activeDeadlineSeconds": "TIME"'),
    (r"controller-uid\": \"[-0-9a-f]+", 'controller-uid": "UID'),
)
_SERVERS = ("clusterIP", "clusterIPs", "nodeName", "healthCheckNodePort")  # what the cluster adds
_DERIVED = re.compile(
    r'("(?:port|targetPort|nodePort|containerPort|hostPort)": |"--port", "|"port=)(2[01]\d\d\d|3[0-2]\d\d\d)'
)


def specs(items: list[Json], run: str) -> dict[str, str]:
    """By kind and name, what each is to be, without what differs from run to run: ports of nodes go by its name."""
    found = {}
    for one in items:
        body = {name: one[name] for name in ("spec", "type", "data") if name in one and one["kind"] != "Secret"}
        body |= {"keys": sorted(one["data"])} if one["kind"] == "Secret" else {}
        body["labels"] = one["metadata"].get("labels", {})
        for name in _SERVERS:
            body.get("spec", {}).pop(name, None)
        text = json.dumps(body, sort_keys=True).replace(run, "RUN")
        for pattern, by in _LATER:
            text = re.sub(pattern, by, text)
        text = _DERIVED.sub(r"\1PORT", text)
        found[f"{one['kind']} {one['metadata']['name']}".replace(run, "RUN")] = text
    return found


@pytest.mark.long
def test_run_creates_what_plan_prints(lab: Lab, open_space: tuple[str, str]) -> None:
    """With the defaults that the API server adds to both."""
    lab.file(PROFILE, "own.xml")
    words = (lab.file(LIST), *ON, *open_space, "--network-policy", "--paths", ",".join(PATHS))
    done = lab("plan", *words)
    assert done.returncode == 0, done.stderr
    taken = kubectl("apply", "--dry-run=server", "--validate=strict", "-f", "-", "-o", "json", text=done.stdout)
    items = json.loads(taken)["items"]
    planned = specs(items, items[0]["metadata"]["labels"]["netmodel.io/run"])
    done = lab("run", *words, "--keep", "always", "-o", "out")
    assert done.returncode == 0, done.stderr
    run = json.loads((lab.folder / "out" / "k8s.json").read_text())["settings"]["run"]
    made = [
        one
        for one in objects(KINDS, "-n", open_space[1], "-l", f"netmodel.io/run={run}")
        if not one["metadata"].get("ownerReferences")  # of a Job
    ]
    assert lab("clean", run).returncode == 0
    assert specs(made, run) == planned
