# SPDX-License-Identifier: Apache-2.0
"""A namespace whose policy denies ingress. The network of this cluster does not enforce policies: what is proved is what the
API server takes and what is said and removed, and not that traffic would pass."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from conftest import ON, Lab, entry, kubectl, objects

ONE = "tests:\n" + entry("one", "TCP_RR")
LABEL = "app.kubernetes.io/name=netmodel"


def policy(name: str, **spec: object) -> str:
    document = {"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": {"name": name}, "spec": spec}
    return json.dumps(document)


@pytest.fixture
def closed() -> Iterator[tuple[str, str]]:
    kubectl("create", "namespace", "closed")
    kubectl("-n", "closed", "create", "-f", "-", text=policy("deny-ingress", podSelector={}, policyTypes=["Ingress"]))
    yield "--namespace", "closed"
    kubectl("delete", "namespace", "closed")


def gone_on_with(lab: Lab, name: str) -> str:
    """What is told of a run whose first sample is measured again."""
    sample = lab.folder / name / "samples" / "0001.json"
    sample.unlink()
    done = lab("resume", name, "--debug")
    assert done.returncode == 0 and sample.exists(), done.stderr
    return done.stderr


def test_a_policy_that_is_in_the_way(lab: Lab, closed: tuple[str, str]) -> None:
    said = (
        "NetworkPolicy deny-ingress is likely to be in the way",
        f"{LABEL} one must allow ingress from each other: TCP 20000 (control), TCP 32768-60999 (data)",
        "--network-policy",
    )
    done = lab("check", lab.file(ONE), *ON, *closed)
    assert done.returncode == 3 and all(part in done.stdout for part in said), done.stdout
    done = lab("run", "tests.yml", *ON, *closed, "-o", "out")
    assert done.returncode == 3 and all(part in done.stderr for part in said), done.stderr
    assert not (lab.folder / "out").exists() and not objects("pods", "-n", "closed")
    done = lab("run", "tests.yml", *ON, *closed, "--network-policy=false", "-o", "all-the-same")
    assert done.returncode == 0, done.stderr
    assert "NetworkPolicy" not in gone_on_with(lab, "all-the-same")
    ours = {"podSelector": {"matchLabels": dict([LABEL.split("=")])}}
    ports = [{"port": 20000}, {"port": 32768, "endPort": 60999}]
    text = policy("allow", **ours, ingress=[{"from": [ours], "ports": ports}])
    kubectl("-n", "closed", "create", "-f", "-", text=text)
    done = lab("check", "tests.yml", *ON, *closed)
    assert done.returncode == 0, done.stdout


def test_one_that_may_be_in_the_way_is_a_warning(lab: Lab, closed: tuple[str, str]) -> None:
    rules = [{"from": [{"ipBlock": {"cidr": "192.0.2.0/24"}}]}]
    kubectl("-n", "closed", "create", "-f", "-", text=policy("by-address", podSelector={}, ingress=rules))
    said = "NetworkPolicy by-address, deny-ingress may be in the way"
    done = lab("check", lab.file(ONE), *ON, *closed)
    assert done.returncode == 0 and said in done.stdout, done.stdout
    done = lab("run", "tests.yml", *ON, *closed, "-o", "out")
    assert done.returncode == 0 and said in done.stderr, done.stderr


def test_one_of_the_runs_own_goes_with_it(lab: Lab, closed: tuple[str, str]) -> None:
    words = (lab.file(ONE), *ON, *closed, "--network-policy", "--paths", "pod,host-to-pod")
    done = lab("run", *words, "--keep", "always", "-o", "kept")
    assert done.returncode == 0, done.stderr
    run = json.loads((lab.folder / "kept" / "k8s.json").read_text())["settings"]["run"]
    (made,) = objects("networkpolicies", "-n", "closed", "-l", f"netmodel.io/run={run}")
    assert made["spec"]["podSelector"] == {"matchLabels": {"netmodel.io/run": run}}
    assert made["spec"]["ingress"][0]["from"][0] == {"podSelector": made["spec"]["podSelector"]}
    done = lab("clean", run)
    assert done.returncode == 0, done.stderr
    assert [one["metadata"]["name"] for one in objects("networkpolicies", "-n", "closed")] == ["deny-ingress"]
    done = lab("run", *words, "-o", "out")
    assert done.returncode == 0, done.stderr
    assert [one["metadata"]["name"] for one in objects("networkpolicies", "-n", "closed")] == ["deny-ingress"]
    assert "NetworkPolicy nm-" in gone_on_with(lab, "out")
    assert [one["metadata"]["name"] for one in objects("networkpolicies", "-n", "closed")] == ["deny-ingress"]
