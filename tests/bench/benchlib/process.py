# SPDX-License-Identifier: Apache-2.0
"""Child processes: each leads its own process group, is measured by wait4, and is always ended."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep
from types import TracebackType
from typing import IO

from .model import BenchError

_POLL_S = 0.02
_stopped_by: list[int] = []


class Child:
    """A started command. Used as a context manager: leaving it ends the whole process group."""

    def __init__(self, argv: list[str], workdir: str, env: Mapping[str, str] | None = None) -> None:
        self._out: IO[bytes] = tempfile.TemporaryFile(dir=workdir)  # noqa: SIM115
        self._err: IO[bytes] = tempfile.TemporaryFile(dir=workdir)  # noqa: SIM115
        self.cpu_s = 0.0
        self._popen = subprocess.Popen(
            argv,
            cwd=workdir,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=self._out,
            stderr=self._err,
            start_new_session=True,
        )

    def __enter__(self) -> Child:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.end()
        self._out.close()
        self._err.close()

    @property
    def returncode(self) -> int | None:
        return self._popen.returncode

    def alive(self) -> bool:
        return not self._reap()

    def wait(self, timeout_s: float) -> bool:
        """Whether the command ended within the time."""
        deadline = monotonic() + timeout_s
        while not self._reap():
            if monotonic() > deadline:
                return False
            pause()
        return True

    def end(self, grace_s: float = 3.0) -> None:
        """Ask the group to end, then make it. Not cut short by signals."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            if self._reap():
                return
            self._signal_group(number)
            deadline = monotonic() + grace_s
            while not self._reap() and monotonic() < deadline:
                sleep(_POLL_S)

    def settle(self, timeout_s: float = 2.0) -> None:
        """Wait until the leader is alone and so has the CPU time of its children in its account."""
        deadline = monotonic() + timeout_s
        while monotonic() < deadline and not self._reap():
            if len(group_members(self._popen.pid)) <= 1:
                return
            pause()

    def output(self) -> str:
        return _text(self._out)

    def errors(self) -> str:
        return _text(self._err)

    def _signal_group(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._popen.pid, number)

    def _reap(self) -> bool:
        if self._popen.returncode is not None:
            return True
        pid = self._popen.pid
        if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            return False
        # Until it is reaped the leader keeps the group's id from being used again.
        self._signal_group(signal.SIGKILL)
        _, status, usage = os.wait4(pid, 0)
        self._popen.returncode = os.waitstatus_to_exitcode(status)
        self.cpu_s = usage.ru_utime + usage.ru_stime
        return True


def _text(stream: IO[bytes]) -> str:
    descriptor = stream.fileno()
    data = os.pread(descriptor, os.fstat(descriptor).st_size, 0)
    return data.decode(errors="replace")


def group_members(leader: int) -> list[int]:
    """Processes of the leader's group that are not zombies."""
    members = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[2]) == leader and fields[0] != "Z":
            members.append(int(entry.name))
    return members


def end_on_signals() -> None:
    """Let SIGINT, SIGTERM and SIGHUP end the program at its next pause().

    Raising in the handler could strike between the start of a child and the note of its id.
    """
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda received, _frame: _stopped_by.append(received))


def pause() -> None:
    """Sleep one poll interval; raise SystemExit if a signal has asked for the end."""
    if _stopped_by:
        raise SystemExit(128 + _stopped_by[0])
    sleep(_POLL_S)


def check(child: Child, who: str) -> None:
    """Raise unless the command ended well."""
    if child.returncode == 0:
        return
    lines = (child.errors().strip() or child.output().strip()).splitlines()
    reason = lines[-1].strip()[:160] if lines else "no message"
    raise BenchError(f"{who} exit {child.returncode}: {reason}")
