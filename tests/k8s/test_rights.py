# SPDX-License-Identifier: Apache-2.0
"""The rights of contrib/kubernetes/rights.yaml are enough, and each of them is needed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import FOLDER, KINDS, ON, Lab, entry, kubectl, objects

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
    kubectl("delete", "namespace", "netmodel")


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
                assert done.returncode == (0 if what == "networkpolicies" else 3), done.stdout
                (line,) = [line for line in done.stdout.splitlines() if "missing: " in line]
                assert line.split()[0] == what and verb in line
    print(
        "figure: rights of contrib/kubernetes/rights.yaml: enough for a run, each one named by check when it is missing"
    )


def test_an_account_that_may_not_list_policies(lab: Lab, account: None) -> None:
    """As by the rights of an earlier version: all else is as with it."""
    role = json.loads(kubectl("get", "role", "netmodel-lab", "-n", "netmodel", "-o", "json"))
    rules = [one for one in role["rules"] if "networkpolicies" not in one["resources"]]
    kubectl("apply", "-f", "-", text=json.dumps({**role, "rules": rules, "metadata": meta(role)}))
    done = lab("check", lab.file("tests:\n" + entry("one", "TCP_RR")), *WORDS)
    assert done.returncode == 0, done.stdout
    unseen = "network policies may not be listed: whether one is in the way cannot be told"
    assert unseen in done.stdout
    done = lab("run", "tests.yml", *WORDS, "--keep", "always", "-o", "out")
    assert done.returncode == 0 and unseen in done.stderr, done.stderr
    run = json.loads((lab.folder / "out" / "k8s.json").read_text())["settings"]["run"]
    assert objects("pods", "-n", "netmodel", "-l", f"netmodel.io/run={run}")
    done = lab("clean", run, *WORDS[len(ON) :])
    assert done.returncode == 0, done.stderr
    (said,) = [line for line in done.stderr.splitlines() if "cannot be told" in line]
    assert "whether a run has left any NetworkPolicy" in said
    assert not objects(KINDS.replace("namespaces,", ""), "-n", "netmodel", "-l", f"netmodel.io/run={run}")


def meta(role: dict[str, dict[str, str]]) -> dict[str, str]:
    return {"name": role["metadata"]["name"], "namespace": role["metadata"]["namespace"]}
