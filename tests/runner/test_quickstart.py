# SPDX-License-Identifier: Apache-2.0
"""What ./quickstart has begun ends with it."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]

# All that is needed is there; the libraries of the lab take for ever, and the Python tools do what is asked.
STUBS = {
    "sh": "exit 0",
    "python3": """
case $* in
*lab-venv) echo $$ >lab.pid && exec sleep 600 ;;
esac
until [ -s lab.pid ]; do sleep 0.05; done
{tools}""",
}


@pytest.fixture
def checking(tmp_path: Path) -> Callable[[str], subprocess.Popen[bytes]]:
    def start(tools: str) -> subprocess.Popen[bytes]:
        for name in ("quickstart", "tools", "contrib"):
            (tmp_path / name).symlink_to(TOP / name)
        for name, text in STUBS.items():
            stub = tmp_path / "bin" / name
            stub.parent.mkdir(exist_ok=True)
            stub.write_text(f"#!/usr/bin/env bash\n{text.replace('{tools}', tools)}\n")
            stub.chmod(0o755)
        path = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
        # As from a terminal, also where these tests run in the background of a script, which ignores the signal.
        command = ["env", "--default-signal=INT", "./quickstart", "check"]
        return subprocess.Popen(command, cwd=tmp_path, env=os.environ | {"PATH": path}, start_new_session=True)

    return start


def wait_for(what: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not what():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def runs(pid: Path) -> bool:
    try:
        return Path(f"/proc/{pid.read_text().strip()}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize("how", ["a step fails", "interrupted"])
def test_libraries_that_still_come_are_given_up(
    how: str, checking: Callable[[str], subprocess.Popen[bytes]], tmp_path: Path
) -> None:
    pid = tmp_path / "lab.pid"
    tools = "exit 1" if how == "a step fails" else "echo >asked; exec sleep 600"
    with checking(tools) as quickstart:
        try:
            if how == "interrupted":
                wait_for((tmp_path / "asked").exists)
                os.killpg(quickstart.pid, signal.SIGINT)  # as a terminal does
            assert quickstart.wait(60) != 0
            wait_for(lambda: not runs(pid))
        finally:
            if runs(pid):
                os.kill(int(pid.read_text()), signal.SIGKILL)
            if quickstart.poll() is None:
                os.killpg(quickstart.pid, signal.SIGKILL)
