# SPDX-License-Identifier: Apache-2.0
"""The commands of docs/kubernetes.md, in their order, with shorter samples."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import IMAGE, Lab, kubectl, objects, on_node, until
from names import served

PAGE = Path(__file__).resolve().parents[2] / "docs" / "kubernetes.md"
NAMED = "registry.example.com/netmodel:0.1.0"


@pytest.mark.long
def test_commands_of_the_document(lab: Lab) -> None:
    for node in ("n1", "n2"):
        on_node(node, "ctr", "-n", "k8s.io", "images", "tag", "--force", IMAGE, NAMED)
    part = PAGE.read_text().split("\n## Tests across a cluster\n")[1].split("\n## ")[0]
    blocks = re.findall(r"^```(sh|yaml file=(\S+))\n(.*?)^```$", part, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 9
    programs = Path(sys.executable).parent
    env = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}
    for _, name, text in blocks:
        if name:
            lab.file(re.sub(r"duration: \d+", "duration: 1", text), name)
            continue
        if "k8s-netperf.json" in text:  # ours has its form
            (lab.folder / "k8s-netperf.json").write_text((lab.folder / "first" / "result.json").read_text())
        for command in text.splitlines():
            # How fast pods are beside hosts, in samples as short as these, is no matter here.
            command_in(lab.folder, command, env, (0, 1) if " run " in command else (0,))
    applied = subprocess.run(
        ["kubectl", "apply", "--dry-run=client", "--validate=strict", "-f", "plan.yaml", "-o", "name"],
        cwd=lab.folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert applied.returncode == 0, applied.stderr
    assert {path.name for path in (lab.folder / "first").iterdir()} == {
        "cpu-result.csv",
        "junit.xml",
        "k8s.json",
        "loss-rt-result.csv",
        "metrics.prom",
        "podcpu-result.csv",
        "podmem-result.csv",
        "report.html",
        "result.csv",
        "result.json",
        "rows.csv",
        "rows.jsonl",
        "samples",
        "vswitch-result.csv",
    }


@pytest.mark.long
def test_commands_of_runs_by_hand(lab: Lab) -> None:
    """Two pods, a key, and a slave on every node, in this order; names of Services need a DNS."""
    own = re.search(r"image: (\S+)", (PAGE.parents[1] / "contrib/kubernetes/server.yaml").read_text())
    assert own
    for node in ("n1", "n2"):
        on_node(node, "ctr", "-n", "k8s.io", "images", "tag", "--force", IMAGE, own[1])
    (lab.folder / "contrib").symlink_to(PAGE.parents[1] / "contrib")
    parts = PAGE.read_text().split("\n## Two pods\n")[1]
    blocks = re.findall(r"^```sh\n(.*?)^```$", parts, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 6
    env = {**os.environ, "PATH": f"{Path(os.environ['NETMODEL']).parent}:{os.environ['PATH']}"}
    try:
        with served():
            for command in "".join(blocks).splitlines():
                command_in(lab.folder, command, env)
                if "result.json" in command:
                    result = json.loads((lab.folder / "result.json").read_text())
                    assert result["run"]["complete"] is True and result["run"]["reconciled"] is True
            until(lambda: ready("component=slave") == 2, 60, "a slave on each node")
    finally:
        kubectl("delete", "-f", str(PAGE.parents[1] / "contrib/kubernetes/slaves.yaml"), "--ignore-not-found")
        kubectl("delete", "secret", "netmodel", "--ignore-not-found")


def ready(label: str) -> int:
    pods = objects("pods", "-n", "default", "-l", f"app.kubernetes.io/{label}")
    return sum(
        one["type"] == "Ready" and one["status"] == "True" for pod in pods for one in pod["status"]["conditions"]
    )


def command_in(folder: Path, command: str, env: dict[str, str], passing: tuple[int, ...] = (0,)) -> None:
    done = subprocess.run(
        ["bash", "-c", command], cwd=folder, env=env, capture_output=True, text=True, timeout=170, check=False
    )
    assert done.returncode in passing, f"{command}\n{done.stdout}\n{done.stderr}"
    assert "Traceback" not in done.stderr
