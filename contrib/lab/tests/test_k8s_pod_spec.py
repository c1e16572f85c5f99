# SPDX-License-Identifier: Apache-2.0
"""netmodel-lab k8s: a part of the spec of pods that is the user's own."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("kubernetes", reason="the Kubernetes client is not installed; requirements-dev.txt has it")

from k8s_examples import PAIR, STREAM, of

from netmodel_lab.k8s import manifests, pod_spec
from netmodel_lab.k8s.manifests import Dial
from netmodel_lab.k8s.settings import Pods, points
from netmodel_lab.problems import UsageProblem


def test_both_ends_have_it_beside_ours(tmp_path: Path) -> None:
    path = tmp_path / "spec.yml"
    path.write_text(
        "securityContext: {runAsUser: 1234}\nruntimeClassName: gvisor\naffinity: {podAntiAffinity: {a: []}}\n"
    )
    settings = of(STREAM, pods=Pods("i", spec=pod_spec.read(str(path))))
    (point, *_) = points(settings)
    job = manifests.client(settings, point, 0, PAIR, Dial("10.0.0.1", 20000), [], "99")
    server = manifests.server(settings, 0, "pod", "n1", [], "99")
    for spec, node in ((job["spec"]["template"]["spec"], "n2"), (server["spec"], "n1")):
        context = {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}, "runAsUser": 1234}
        assert spec["securityContext"] == context
        assert spec["runtimeClassName"] == "gvisor"
        (term,) = spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"][
            "nodeSelectorTerms"
        ]
        assert term["matchFields"][0]["values"] == [node] and spec["affinity"]["podAntiAffinity"] == {"a": []}


def test_what_is_not_the_users(tmp_path: Path) -> None:
    path = tmp_path / "spec.yml"
    path.write_text(
        "hostNetwork: true\nruntimeClasName: a\ntolerations: []\ndnsPolicy: []\naffinity: {nodeAffinity: {}}\n"
    )
    with pytest.raises(UsageProblem) as caught:
        pod_spec.read(str(path))
    assert [line.removeprefix(f"--pod-spec {path}: ") for line in caught.value.lines] == [
        "hostNetwork: the run sets it",
        f"runtimeClasName: must be one of {', '.join(pod_spec.FIELDS)}; did you mean runtimeClassName?",
        "tolerations: --toleration has it",
        "dnsPolicy: must be a name",
        "affinity: nodeAffinity: the run sets it; --server-node, --client-node and --node-selector choose nodes",
    ]
    path.write_text("[]\n")
    with pytest.raises(UsageProblem, match="must be fields of a pod's spec"):
        pod_spec.read(str(path))
