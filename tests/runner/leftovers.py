# SPDX-License-Identifier: Apache-2.0
"""What a run must not leave behind: processes, network namespaces, mounts, and temporary files of its own.

The runner's parent becomes the process to which all falls back whose own parent ends (prctl(2), PR_SET_CHILD_SUBREAPER),
and it takes the exit status of each, as init does; as root the runner has a mount namespace in which /run/netns is empty
at first; and all that it starts makes temporary files in one folder. What is there at the end is left over, whatever else
this machine does meanwhile."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

_PR_SET_CHILD_SUBREAPER = 36
_NAMESPACES = Path("/run/netns")
_PATIENCE_S = 5


def in_own_mounts() -> bool:
    """Whether network namespaces and mounts are those of this run alone."""
    return os.environ.get("NETMODEL_RUNNER_MOUNTS") == "own"


def adopt() -> None:
    """From here on this is a child of a process that takes in orphans; that one ends as this one does."""
    sys.stdout.flush()
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    runner = os.fork()
    if runner == 0:
        return
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the runner has it, too
    signal.signal(signal.SIGTERM, lambda number, frame: os.kill(runner, number))
    while True:
        pid, status = os.wait()
        if pid == runner:
            os._exit(os.waitstatus_to_exitcode(status) % 256)


def command_in_own_mounts(command: list[str]) -> list[str] | None:
    """The command that begins this one there; None where that cannot be."""
    if os.geteuid() != 0 or in_own_mounts():
        return None
    prefix = ["unshare", "--mount", "--propagation", "private"]
    script = f"mkdir -p {_NAMESPACES} && mount -t tmpfs netns {_NAMESPACES} && NETMODEL_RUNNER_MOUNTS=own exec \"$@\""
    begun = [*prefix, "sh", "-c", script, "sh"]
    if subprocess.run([*begun, "true"], capture_output=True, check=False).returncode != 0:
        return None
    return [*begun, *command]


def mounts() -> list[str]:
    return [line.split()[1] for line in Path("/proc/self/mounts").read_text().splitlines()]


def _alive() -> dict[int, str]:
    """What has fallen back to the parent of this process, or is its own child, and is no zombie: by command."""
    found = {}
    for entry in Path("/proc").iterdir():
        with suppress(OSError, ValueError, IndexError):
            stat = (entry / "stat").read_text()
            state, parent = stat[stat.rindex(")") + 2 :].split()[:2]
            if int(parent) in (os.getppid(), os.getpid()) and int(entry.name) != os.getpid() and state != "Z":
                words = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
                found[int(entry.name)] = words or stat[stat.index("(") + 1 : stat.rindex(")")]
    return found


def end_processes() -> list[str]:
    """Ends what still runs after a moment of patience, until there is none; says what it was."""
    deadline = time.monotonic() + _PATIENCE_S
    while _alive() and time.monotonic() < deadline:
        time.sleep(0.05)
    left = []
    while alive := _alive():
        for pid, command in alive.items():
            left.append(f"process {pid}: {command[:200]}")
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.05)  # its own children fall back now
    return left


def remains(mounts_before: list[str], temporary: Path) -> list[str]:
    """Namespaces, mounts and temporary files that are there, each in a line."""
    left = [f"temporary file {entry}" for entry in sorted(temporary.iterdir())]
    if in_own_mounts():
        left += [f"network namespace {entry.name}" for entry in sorted(_NAMESPACES.iterdir())]
        own = str(_NAMESPACES)
        left += [f"mount {point}" for point in mounts() if point not in mounts_before and not point.startswith(own)]
    return left
