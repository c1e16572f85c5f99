# SPDX-License-Identifier: Apache-2.0
"""netmodel-lab inside the cluster: the Job and the CronJob of contrib/kubernetes, with no more rights than are there."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import IMAGE, kubectl, left, objects, on_node, until

TOP = Path(__file__).resolve().parents[2]
KUBERNETES = TOP / "contrib" / "kubernetes"
PAGE = TOP / "docs" / "kubernetes.md"
LAB_IMAGE = "netmodel.test/netmodel-lab:1"


def manifest(name: str) -> str:
    """As a user has it who has images of his own; tests are shorter."""
    text = (KUBERNETES / f"{name}.yaml").read_text()
    text = text.replace("localhost/netmodel-lab:0.1.0", LAB_IMAGE).replace("localhost/netmodel:0.1.0", IMAGE)
    return re.sub(r"(duration|samples): \d+", r"\1: 1", text)


@pytest.fixture
def space() -> Iterator[None]:
    kubectl("create", "namespace", "netmodel")
    kubectl("label", "namespace", "netmodel", "pod-security.kubernetes.io/enforce=restricted")
    kubectl("apply", "-f", str(KUBERNETES / "rights.yaml"))
    kubectl("apply", "-f", "-", text=manifest("lab-tests"))
    yield
    kubectl("delete", "-f", str(KUBERNETES / "rights.yaml"), "--wait=false")
    kubectl("delete", "namespace", "netmodel", "--wait=true")


def test_manifests_are_what_the_cluster_takes(space: None) -> None:
    for name in ("lab-job", "lab-cronjob"):
        done = kubectl("apply", "--dry-run=server", "--validate=strict", "-f", "-", text=manifest(name), check=False)
        assert "created (server dry run)" in done and "Warning" not in done, done


def test_an_overlay_of_the_base(space: None, tmp_path: Path) -> None:
    """That of the document."""
    (text,) = re.findall(r"^```yaml\n(resources: .*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    base = os.path.relpath(KUBERNETES, tmp_path)
    (tmp_path / "kustomization.yaml").write_text(text.replace("../contrib/kubernetes", base))
    made = kubectl("kustomize", str(tmp_path), "--load-restrictor", "LoadRestrictionsNone")
    done = kubectl("apply", "--dry-run=server", "--validate=strict", "-f", "-", "-o", "json", text=made)
    (job,) = [one for one in json.loads(done)["items"] if one["kind"] == "CronJob"]
    (container,) = job["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"]
    assert container["image"] == "registry.example.com/netmodel-lab:0.1.0" and job["spec"]["schedule"] == "0 4 * * *"
    images = [word for word in container["args"] if word.startswith("--image=")]
    assert images == ["--image=registry.example.com/netmodel:0.1.0"]


@pytest.fixture(scope="module")
def lab_image(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("image")
    archive = folder / "lab.tar"
    build = Path(os.environ["NETMODEL"]).resolve().parents[1]
    words = ["-b", str(build), "-l", sys.executable, "-t", LAB_IMAGE, "-o", str(archive)]
    buildah = f"buildah --root {folder}/root --runroot {folder}/run --storage-driver vfs"
    subprocess.run(
        [str(TOP / "contrib" / "container" / "build-image"), *words],
        env={**os.environ, "BUILDAH": buildah},
        check=True,
        timeout=300,
        stdout=subprocess.DEVNULL,
    )
    for node in ("n1", "n2"):
        on_node(node, "ctr", "-n", "k8s.io", "images", "import", str(archive))


def job_ended(name: str) -> bool:
    (job,) = [one for one in objects("jobs", "-n", "netmodel") if one["metadata"]["name"] == name]
    return bool(job["status"].get("succeeded") or job["status"].get("failed"))


@pytest.mark.long
def test_a_job_and_a_cronjob(space: None, lab_image: None) -> None:
    kubectl("apply", "-f", "-", text=manifest("lab-job"))
    kubectl("apply", "-f", "-", text=manifest("lab-cronjob"))
    until(lambda: job_ended("netmodel-lab"), 90, "the job")
    log = kubectl("logs", "job/netmodel-lab", "-n", "netmodel")
    documents = json.loads(log)
    assert [(one["profile"], one["netmodel"]["network"], one["samples"]) for one in documents] == [
        (profile, path, 1) for profile in ("TCP_STREAM", "TCP_RR") for path in ("pod", "service")
    ]
    assert all(one["throughput"] > 0 for one in documents)
    kubectl("create", "job", "tonight", "--from=cronjob/netmodel-lab", "-n", "netmodel")
    until(lambda: job_ended("tonight"), 90, "the job of the cronjob")
    (job,) = [one for one in objects("jobs", "-n", "netmodel") if one["metadata"]["name"] == "tonight"]
    assert job["status"].get("succeeded") == 1, kubectl("logs", "job/tonight", "-n", "netmodel", check=False)
    assert not left()
    print("figure: in the cluster, by its own account: a Job and a CronJob measure and leave nothing")
