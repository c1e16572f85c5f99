# SPDX-License-Identifier: Apache-2.0
"""Commands that end when we do: each runs below netmodel's guard, which has its orders from standard input and a line
from us every second. So it ends when we are killed, when the connection to its host is cut, or when we are stopped."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

LEASE = "6s"  # of silence, after which a guard ends what it has started
_PULSE_S = 1.0
_END_S = 8.0  # that a guard has to end in, once it is asked to

Json = dict[str, Any]


class _Pulse:
    """Says to all guards, once a second, that we are still there."""

    def __init__(self) -> None:
        self._pipes: set[int] = set()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def add(self, descriptor: int) -> None:
        with self._lock:
            self._pipes.add(descriptor)
            if not self._thread:
                self._thread = threading.Thread(target=self._beat, daemon=True)
                self._thread.start()

    def remove(self, descriptor: int) -> None:
        with self._lock:
            self._pipes.discard(descriptor)

    def _beat(self) -> None:
        while True:
            time.sleep(_PULSE_S)
            with self._lock:
                for descriptor in self._pipes:
                    with contextlib.suppress(OSError):
                        os.write(descriptor, b"\n")


_PULSE = _Pulse()


@dataclass
class Said:
    """What has come on standard error: notices of the guard, and other lines."""

    notices: list[Json] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    is_over: bool = False


class Guarded:
    """A command below a guard. orders: lines for it, of which the last one begins. out: a file, or None for nothing."""

    def __init__(
        self,
        argv: Sequence[str],
        orders: Sequence[str],
        *,
        out: Path | IO[bytes] | int | None = None,
        err: Path | None = None,
        before: bytes = b"",
        cwd: Path | None = None,
    ) -> None:
        self._said = Said()
        self._changed = threading.Condition()
        with contextlib.ExitStack() as files:
            out_file = files.enter_context(out.open("wb")) if isinstance(out, Path) else out or subprocess.DEVNULL
            # In a session of its own: an interrupt of the terminal is for us alone.
            self._process = subprocess.Popen(
                argv,
                stdin=subprocess.PIPE,
                stdout=out_file,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,
                cwd=cwd,
            )
        assert self._process.stdin
        self._stdin = self._process.stdin
        self._reader = threading.Thread(target=self._read, args=(err,), daemon=True)
        self._reader.start()
        with contextlib.suppress(OSError):
            view = memoryview(before + "".join(f"{line}\n" for line in orders).encode())
            while view:
                view = view[self._stdin.write(view) or 0 :]
        self._stdin_fd = self._stdin.fileno()
        _PULSE.add(self._stdin_fd)

    @property
    def stdout(self) -> IO[bytes]:
        assert self._process.stdout
        return self._process.stdout

    def order(self, *lines: str) -> None:
        with contextlib.suppress(OSError):
            self._stdin.write("".join(f"{line}\n" for line in lines).encode())

    def _read(self, err: Path | None) -> None:
        assert self._process.stderr
        with contextlib.ExitStack() as files:
            file = files.enter_context(err.open("wb", buffering=0)) if err else None
            for line in self._process.stderr:
                notice = _notice(line)
                if file and not notice:
                    with contextlib.suppress(OSError):  # of a full disk others tell, who have more to write
                        file.write(line)
                with self._changed:
                    if notice:
                        self._said.notices.append(notice)
                    else:
                        self._said.lines = [*self._said.lines[-20:], line.decode(errors="replace").strip()]
                    self._changed.notify_all()
        with self._changed:
            self._said.is_over = True
            self._changed.notify_all()

    def notice(self, event: str | tuple[str, ...], timeout_s: float) -> Json | None:
        """Waits for a notice, or one of several; None: it has not come, and will not."""
        events = (event,) if isinstance(event, str) else event
        deadline = time.monotonic() + timeout_s
        with self._changed:
            while True:
                for notice in self._said.notices:
                    if notice["guard"] in events:
                        return notice
                left = deadline - time.monotonic()
                if self._said.is_over or left <= 0:
                    return None
                self._changed.wait(left)

    @property
    def lines(self) -> list[str]:
        """The last lines of standard error that are none of the guard."""
        with self._changed:
            return [line for line in self._said.lines if line]

    def is_running(self) -> bool:
        return self._process.poll() is None

    def wait(self, tick: Callable[[float], None], limit_s: float | None) -> tuple[int, bool]:
        """To its end: the exit code, and whether it was ended because it took too long."""
        began = time.monotonic()
        is_late = False
        try:
            while self.is_running() and not is_late:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self._process.wait(0.25)
                gone = time.monotonic() - began
                tick(gone)
                is_late = limit_s is not None and gone > limit_s
        finally:
            self.end()
        return self._process.returncode, is_late

    def end(self) -> None:
        """Nothing of it is left when this returns, unless its host cannot be reached any more."""
        _PULSE.remove(self._stdin_fd)
        with contextlib.suppress(OSError):
            self._stdin.close()
        try:
            self._process.wait(_END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._reader.join(1)
        for pipe in (self._process.stdout, self._process.stderr):
            if pipe and not self._reader.is_alive():
                pipe.close()


def _notice(line: bytes) -> Json | None:
    if not line.startswith(b'{"guard"'):
        return None
    try:
        found = json.loads(line.decode(errors="replace"))
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
