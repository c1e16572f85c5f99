# SPDX-License-Identifier: Apache-2.0
"""The rights of contrib/kubernetes/rights.yaml are enough, and each of them is needed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import FOLDER, ON, Lab, entry, kubectl

RIGHTS = Path(__file__).resolve().parents[2] / "contrib" / "kubernetes" / "rights.yaml"
WORDS = (*ON, "--namespace", "netmodel", "--kubeconfig", "kubeconfig")


@pytest.fixture
def account(lab: Lab) -> Iterator[None]:
    kubectl("create", "namespace", "netmodel")
    kubectl("apply", "-f", str(RIGHTS))
    token = kubectl("create", "token", "netmodel-lab", "-n", "netmodel").strip()
    text = (FOLDER / "w" / "pki" / "admin.kubeconfig").read_text()
    lines = [
        f'users: [{{name: u, user: {{token: "{token}"}}}}]' if line.startswith("users:") else line
        for line in text.splitlines()
    ]
    lab.file("\n".join(lines) + "\n", "kubeconfig")
    yield
    kubectl("delete", "-f", str(RIGHTS), "--wait=false")
    kubectl("delete", "namespace", "netmodel", "--wait=false")


@pytest.mark.long
def test_the_rights_are_enough_and_each_is_needed(lab: Lab, account: None) -> None:
    text = "tests:\n" + entry("pods", "TCP_STREAM_LAT") + entry("served", "TCP_RR", more="service: true")
    done = lab("run", lab.file(text), *WORDS, "-o", "out")
    assert done.returncode == 0, done.stderr
    done = lab("check", "tests.yml", *WORDS)
    assert done.returncode == 0, done.stdout
    role = json.loads(kubectl("get", "role", "netmodel-lab", "-n", "netmodel", "-o", "json"))
    for i, rule in enumerate(role["rules"]):
        for what in rule["resources"]:
            for verb in rule["verbs"]:
                rules = [one for j, one in enumerate(role["rules"]) if j != i]
                others = [one for one in rule["resources"] if one != what]
                verbs = [one for one in rule["verbs"] if one != verb]
                rules += [{**rule, "resources": others}] if others else []
                rules += [{**rule, "resources": [what], "verbs": verbs}] if verbs else []
                kubectl("apply", "-f", "-", text=json.dumps({**role, "rules": rules, "metadata": meta(role)}))
                done = lab("check", "tests.yml", *WORDS)
                assert done.returncode == 3, done.stdout
                (line,) = [line for line in done.stdout.splitlines() if "missing: " in line]
                assert line.split()[0] == what and verb in line
    print(
        "figure: rights of contrib/kubernetes/rights.yaml: enough for a run, each one named by check when it is missing"
    )


def meta(role: dict[str, dict[str, str]]) -> dict[str, str]:
    return {"name": role["metadata"]["name"], "namespace": role["metadata"]["namespace"]}
