# SPDX-License-Identifier: Apache-2.0
"""The long proofs are of what they say."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
STUBS = {
    "configure": 'echo "$*" >>../../../asked; touch Makefile',
    "bin/make": 'echo "${!#}" >>made',
    "tests/fuzz/run": "echo fuzz: frames: 1 runs, no finding",
}


def test_targets_are_built_again_where_they_were_configured_otherwise(tmp_path: Path) -> None:
    """As a folder that is there already keeps its configuration."""
    for name, text in STUBS.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"#!/usr/bin/env bash\n{text}\n")
        (tmp_path / name).chmod(0o755)
    old = tmp_path / "build/prove/fuzz/Makefile"
    old.parent.mkdir(parents=True)
    (old.parent / "tests/fuzz").mkdir(parents=True)
    old.write_text("of another configuration")
    path = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
    for compiler in ("clang", "clang", "clang-99"):
        env = os.environ | {"PATH": path, "FUZZ_CC": compiler}
        subprocess.run([TOP / "tests/prove/fuzz", "0", "1", "frames"], cwd=tmp_path, env=env, check=True, capture_output=True)
    asked = (tmp_path / "asked").read_text().splitlines()
    assert [line.split()[1] for line in asked] == ["CC=clang", "CC=clang-99"]
    assert all("--enable-ubsan" in line for line in asked)
    assert (tmp_path / "made").read_text().split() == ["clean", "all", "all", "clean", "all"]
