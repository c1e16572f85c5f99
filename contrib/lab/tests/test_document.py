# SPDX-License-Identifier: Apache-2.0
"""docs/lab.md: its commands run and show what it says. The player is that of the other documents."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import NETMODEL, TOP

DOCUMENT = TOP / "docs" / "lab.md"


def player() -> Any:
    path = TOP / "tests" / "docs" / "test_docs.py"
    spec = importlib.util.spec_from_file_location("document_player", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_commands_do_what_the_document_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    probe = ["unshare", "--map-root-user", "--net", "ip", "link", "set", "lo", "up"]
    if not all(map(shutil.which, ("unshare", "ip"))) or subprocess.run(probe, check=False).returncode != 0:
        pytest.skip("cannot make a network namespace")
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    docs = player()
    docs.write_files(DOCUMENT, tmp_path)
    docs.play(docs.steps_of(DOCUMENT), tmp_path, NETMODEL, timeout=600)
    assert (tmp_path / "first" / "report.html").stat().st_size > 500_000
    assert (tmp_path / "first.csv").read_text().startswith("point,cell,block,seq,")
