# SPDX-License-Identifier: Apache-2.0
"""What tests/fuzz/run promises of a seed: the same inputs each time, and others with another; needs the targets of a check."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
TARGET = TOP / "build/check/sanitizers/tests/fuzz/fuzz_slave"


def said(folder: Path, seed: int) -> list[str]:
    """What a peer of a slave says in the inputs of a seed; in a folder of its own, as what was learnt must not count."""
    folder.mkdir()
    (folder / TARGET.name).symlink_to(TARGET)
    command: list[str | Path] = [TOP / "tests/fuzz/run", TOP, folder, "slave", "0", "400", str(seed)]
    done = subprocess.run(command, env=os.environ | {"NETMODEL_FUZZ_SHOW": "1"}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    log = (folder / "slave.log").read_text(errors="replace")
    return [line for line in log.splitlines() if line.startswith("says: ")]


def test_a_seed_has_its_own_inputs_of_sessions(tmp_path: Path) -> None:
    first, again, other = (said(tmp_path / name, seed) for name, seed in (("a", 1), ("b", 1), ("c", 2)))
    assert first and first == again
    assert first != other
