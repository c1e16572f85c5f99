# SPDX-License-Identifier: Apache-2.0
"""The commands of docs/kubernetes.md, in their order, with shorter samples."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import IMAGE, Lab, on_node

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
            done = subprocess.run(
                ["bash", "-c", command],
                cwd=lab.folder,
                env=env,
                capture_output=True,
                text=True,
                timeout=170,
                check=False,
            )
            # How fast pods are beside hosts, in samples as short as these, is no matter here.
            passing = (0, 1) if " run " in command else (0,)
            assert done.returncode in passing, f"{command}\n{done.stdout}\n{done.stderr}"
            assert "Traceback" not in done.stderr
    objects = subprocess.run(
        ["kubectl", "apply", "--dry-run=client", "--validate=strict", "-f", "plan.yaml", "-o", "name"],
        cwd=lab.folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert objects.returncode == 0, objects.stderr
    assert {path.name for path in (lab.folder / "first").iterdir()} == {
        "junit.xml",
        "k8s.json",
        "loss-rt-result.csv",
        "metrics.prom",
        "report.html",
        "result.csv",
        "result.json",
        "rows.csv",
        "rows.jsonl",
        "samples",
    }
