# SPDX-License-Identifier: Apache-2.0
"""What the command costs before it does anything: who asks for help, or mistypes, waits for no library."""

from __future__ import annotations

import resource
import subprocess
import sys

import pytest
from conftest import environment

from netmodel_lab.cli import VERBS

LARGE = ("numpy", "scipy", "pydantic", "ruamel.yaml", "vl_convert", "pyarrow", "kubernetes")
SCRIPT = """
import sys
from netmodel_lab.cli import main
try:
    main(sys.argv[1:])
finally:
    print(*sys.modules, file=sys.stderr)
"""


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["rum"], *([verb, "--help"] for verb in VERBS)])
def test_what_is_loaded(words: list[str]) -> None:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *words], env=environment(), capture_output=True, text=True, check=False
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert "Traceback" not in done.stderr
    loaded = done.stderr.splitlines()[-1].split()
    assert "netmodel_lab.cli" in loaded
    assert not set(LARGE) & set(loaded)
    # CPU time, which other work on the machine does not lengthen as it does wall time.
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 0.3
