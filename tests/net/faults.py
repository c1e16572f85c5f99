# SPDX-License-Identifier: Apache-2.0
"""Faults at named points of a run: between two messages of the control connection, or while traffic flows.

Master and slave are real processes on a host of their own; the control connection goes through a relay, which reads the
frames and so knows which message is next. When it is that of the point the relay holds the message, the fault happens,
and the message goes on, unless the fault is that nothing does."""

from __future__ import annotations

import json
import os
import re
import resource
import select
import signal
import socket
import struct
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from nmtest import (
    PATIENCE_S,
    TOP,
    Json,
    Netmodel,
    Node,
    Process,
    Slave,
    defines,
    in_namespace,
    inside,
    sockets_of,
    wait_until,
)

TIMEOUT_S = 1
RUN_MESSAGE = "began"  # the point "run" is a moment after it
# What a run says, in this order; "begin 2" is the second phase's, which is measured.
POINTS = (
    "hello", "welcome", "prepare", "ready", "connect", "armed", "begin", "began", "done",
    "begin 2", "run", "done 2", "begin 3", "finish", "result", "bye",
)  # fmt: skip
# From the fault to the end of the master: two deadlines one after the other, and what a loaded machine adds.
LIMIT_S = 2 * TIMEOUT_S + 7


@dataclass
class Scene:
    """A run that is under way, as faults see it."""

    node: Node
    slave: Slave
    master: Process
    relay: Relay
    clock: Clock
    undo: list[Callable[[], object]] = field(default_factory=list)

    def session(self) -> list[int]:
        return self.slave.sessions()


class Clock:
    """The wall clock of the programs that are started with its environment."""

    def __init__(self, folder: str) -> None:
        self._file = Path(folder) / "seconds"
        self.set(0)
        library = Path(folder) / "clock.so"
        source = TOP / "tests" / "prove" / "clock.c"
        flags = ("-O2", "-D_GNU_SOURCE", "-shared", "-fPIC")
        subprocess.run([os.environ.get("CC", "cc"), *flags, "-o", library, source, "-ldl"], check=True)
        self.env = {"LD_PRELOAD": str(library), "NETMODEL_CLOCK": str(self._file)}

    def set(self, seconds: int) -> None:
        with self._file.open("r+b" if self._file.exists() else "wb") as file:
            file.write(struct.pack("=q", seconds))


class Relay:
    """Carries one control connection. `at` is called, once, in its thread, when the message of the point is next."""

    def __init__(self, node: Node, port: int, point: str, at: Callable[[], None]) -> None:
        word, _, count = point.partition(" ")
        self._word, self._left = (RUN_MESSAGE, 2) if word == "run" else (word, int(count or 1))
        self._later = word == "run"
        self._at = at
        self.reached = threading.Event()
        self.blocked = False  # nothing is carried any more
        self.slow = False  # a byte at a time
        with in_namespace(node.namespace):
            self._listener = socket.create_server(("127.0.0.1", 0))
            self._to_slave = socket.create_connection(("127.0.0.1", port))
        self.port: int = self._listener.getsockname()[1]
        self._to_master: socket.socket | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def close(self) -> None:
        for one in (self._listener, self._to_slave, self._to_master):
            if one is not None:
                with suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)
                one.close()
        self._thread.join(PATIENCE_S)

    def reset(self) -> None:
        for one in (self._to_slave, self._to_master):
            if one is not None:
                one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                one.close()

    def _run(self) -> None:
        with suppress(OSError, ValueError):
            self._to_master, _ = self._listener.accept()
            buffers = {self._to_master: b"", self._to_slave: b""}
            while True:
                ready, _, _ = select.select(list(buffers), [], [])
                for one in ready:
                    data = one.recv(65536)
                    if not data:
                        return self._end()
                    buffers[one] = self._carry(one, buffers[one] + data)

    def _end(self) -> None:
        for one in (self._to_slave, self._to_master):
            if one is not None:
                one.shutdown(socket.SHUT_WR)

    def _carry(self, source: socket.socket, data: bytes) -> bytes:
        """Sends whole frames on; answers what is left."""
        assert self._to_master is not None
        target = self._to_slave if source is self._to_master else self._to_master
        while len(data) >= 4 and len(data) >= 4 + (size := int.from_bytes(data[:4], "big")):
            frame, data = data[: 4 + size], data[4 + size :]
            is_point = self._is_point(json.loads(frame[4:])[0])
            if is_point and not self._later:
                self._happen()
            if self.blocked:
                continue
            for piece in [frame[i : i + 1] for i in range(len(frame))] if self.slow else [frame]:
                target.sendall(piece)
                time.sleep(0.02 if self.slow else 0)
            if is_point and self._later:
                threading.Timer(0.1, self._happen).start()
        return data

    def _is_point(self, word: str) -> bool:
        self._left -= word == self._word and self._left > 0
        if word != self._word or self._left or self.reached.is_set():
            return False
        self._left = -1
        return True

    def _happen(self) -> None:
        self._at()
        self.reached.set()


# --- faults: each is given the scene, in the relay's thread ---


def _signalled(who: Callable[[Scene], list[int]], number: int) -> Callable[[Scene], None]:
    def happen(scene: Scene) -> None:
        for pid in who(scene):
            with suppress(ProcessLookupError):
                os.kill(pid, number)
        if number == signal.SIGSTOP:
            scene.undo.append(lambda: _signalled(who, signal.SIGCONT)(scene))

    return happen


def _the_session(scene: Scene) -> list[int]:
    return scene.session()


def _the_slave(scene: Scene) -> list[int]:
    return [scene.slave.pid, *scene.session()]


def _the_master(scene: Scene) -> list[int]:
    return [scene.master.pid]


def _blocked(scene: Scene) -> None:
    scene.relay.blocked = True


def _slow(scene: Scene) -> None:
    scene.relay.slow = True


def _reset_control(scene: Scene) -> None:
    scene.relay.reset()


def _link(scene: Scene, state: str) -> None:
    inside(scene.node, "ip", "link", "set", "lo", state)


def _link_down(scene: Scene) -> None:
    _link(scene, "down")
    scene.undo.append(lambda: _link(scene, "up"))


def _link_down_and_up(scene: Scene) -> None:
    _link(scene, "down")
    time.sleep(0.1)  # the fault
    _link(scene, "up")


def _routed(kind: str) -> Callable[[Scene], None]:
    def happen(scene: Scene) -> None:
        route = (kind, "127.0.0.1", "table", "local")
        inside(scene.node, "ip", "route", "del", "local", "127.0.0.1", "table", "local")
        inside(scene.node, "ip", "route", "del", "local", "127.0.0.0/8", "table", "local")
        inside(scene.node, "ip", "route", "add", *route)

        def back() -> None:
            inside(scene.node, "ip", "route", "del", *route)
            inside(scene.node, "ip", "link", "set", "lo", "down")
            inside(scene.node, "ip", "link", "set", "lo", "up")

        scene.undo.append(back)

    return happen


def _reset_data(scene: Scene) -> None:
    """The connections of the traffic, on the slave's side; connect(2) with AF_UNSPEC ends one by a reset."""
    for pid in scene.session():
        with sockets_of(pid, socket.SOCK_STREAM) as copies:
            for copy in copies:
                with suppress(OSError):
                    if copy.getsockname()[1] != scene.slave.port and copy.getpeername():
                        _disconnect(copy)


def _disconnect(connection: socket.socket) -> None:
    import ctypes

    unspecified = struct.pack("H14x", socket.AF_UNSPEC)
    ctypes.CDLL(None).connect(connection.fileno(), unspecified, len(unspecified))


def _limited(what: int, value: Callable[[int], int]) -> Callable[[Scene], None]:
    def happen(scene: Scene) -> None:
        for pid in scene.session():
            with suppress(ProcessLookupError, FileNotFoundError):
                most = value(pid)
                resource.prlimit(pid, what, (most, most))

    return happen


def _data_bytes(pid: int) -> int:
    with open(f"/proc/{pid}/status") as status:
        match = re.search(r"VmData:\s+(\d+) kB", status.read())
    return int(match[1]) * 1024 if match else 0


def _clock_set(seconds: int) -> Callable[[Scene], None]:
    def happen(scene: Scene) -> None:
        scene.clock.set(seconds)

    return happen


HOUR = 3600
# What a run does not even notice.
HARMLESS = {"clock ahead": _clock_set(HOUR), "clock back": _clock_set(-HOUR)}
FAULTS: dict[str, Callable[[Scene], None]] = {
    "session killed": _signalled(_the_session, signal.SIGKILL),
    "session stopped": _signalled(_the_session, signal.SIGSTOP),
    "slave ended": _signalled(lambda scene: [scene.slave.pid], signal.SIGTERM),
    "slave killed": _signalled(_the_slave, signal.SIGKILL),
    "master killed": _signalled(_the_master, signal.SIGKILL),
    "master stopped": _signalled(_the_master, signal.SIGSTOP),
    "master interrupted": _signalled(_the_master, signal.SIGINT),
    "master ended": _signalled(_the_master, signal.SIGTERM),
    "control silent": _blocked,
    "control slow": _slow,
    "control reset": _reset_control,
    "data reset": _reset_data,
    "link down": _link_down,
    "link down and up": _link_down_and_up,
    "unreachable": _routed("unreachable"),
    "blackhole": _routed("blackhole"),
    "no descriptors": _limited(resource.RLIMIT_NOFILE, lambda pid: 3),
    "no memory": _limited(resource.RLIMIT_DATA, _data_bytes),
    **HARMLESS,
}


# --- one run ---


@dataclass(frozen=True)
class Outcome:
    """What became of a run with a fault."""

    fault: str
    point: str
    code: int
    seconds: float  # from the fault to the end of the master
    why: str  # in the words of the result; "" when it is complete, or there is none
    mistakes: tuple[str, ...]


@contextmanager
def _undone(scene: Scene) -> Iterator[None]:
    try:
        yield
    finally:
        for step in reversed(scene.undo):
            step()
        scene.undo.clear()


def inject(netmodel: Netmodel, node: Node, fault: str, point: str, validate: Callable[[Json], None]) -> Outcome:
    """Runs tcp_rr between two processes of the host, with the fault at the point, and another run after it."""
    with ExitStack() as stack:
        clock = Clock(stack.enter_context(tempfile.TemporaryDirectory()))
        env = clock.env if fault in HARMLESS else {}
        slave = stack.enter_context(netmodel.slave("--timeout", f"{TIMEOUT_S}s", prefix=node.prefix, env=env))
        scene_made = threading.Event()
        scene: list[Scene] = []
        began: list[float] = []

        def happen() -> None:
            scene_made.wait(PATIENCE_S)
            began.append(time.monotonic())
            FAULTS[fault](scene[0])

        relay = Relay(node, slave.port, point, happen)
        stack.callback(relay.close)
        args = ("--format", "json", "-i", "50ms", "--timeout", f"{TIMEOUT_S}s", "-P", str(relay.port))
        params = defines(host="127.0.0.1", test_length="300ms", num_flows=4)
        master = stack.enter_context(netmodel.started("-m", "tcp_rr", *args, *params, prefix=node.prefix, env=env))
        scene.append(Scene(node, slave, master, relay, clock))
        with _undone(scene[0]):
            scene_made.set()
            return _judge(netmodel, scene[0], fault, point, validate, began)


def _judge(
    netmodel: Netmodel, scene: Scene, fault: str, point: str, validate: Callable[[Json], None], began: list[float]
) -> Outcome:
    mistakes = []
    if not scene.relay.reached.wait(PATIENCE_S):
        return Outcome(fault, point, -1, 0.0, "", (f"the point was not reached: {scene.master.err[-300:]}",))
    if fault == "master stopped":
        time.sleep(TIMEOUT_S + 1)  # what the slave makes of it
        for step in scene.undo:
            step()
    result = scene.master.finish()
    seconds = time.monotonic() - began[0]
    late = seconds - LIMIT_S - (TIMEOUT_S + 1 if fault == "master stopped" else 0)
    if late > 0:
        mistakes.append(f"the master ended {late:.1f} s too late")
    mistakes += _judge_result(result.code, result.out, fault, validate)
    for step in reversed(scene.undo):
        step()
    scene.undo.clear()
    mistakes += _judge_slave(netmodel, scene, fault)
    why = ""
    with suppress(ValueError):
        why = json.loads(result.out)["run"]["incomplete_why"] or ""
    return Outcome(fault, point, result.code, seconds, why, tuple(mistakes))


def _judge_result(code: int, text: str, fault: str, validate: Callable[[Json], None]) -> Iterator[str]:
    if fault in HARMLESS and code:
        yield f"it ended the run: exit code {code}"
    if fault == "master killed":
        if code not in (0, -signal.SIGKILL):  # at the last message it may be done already
            yield f"exit code {code} of a master that was killed"
        return
    allowed = {0, 2, 130} if fault in ("master interrupted", "master ended") else {0, 2}
    if code not in allowed:
        yield f"exit code {code}"
    try:
        document: Json = json.loads(text)
        validate(document)
    except (ValueError, AssertionError) as error:
        yield f"no valid result: {str(error)[:200]}"
        return
    complete = document["run"]["complete"]
    # A signal that comes when the result is there already changes the exit code alone.
    if complete != (code == 0) and not (complete and code == 130):
        yield f"complete is {complete} with exit code {code}"
    if not complete and not document["run"]["incomplete_why"] and not document["run"]["interrupted"]:
        yield "no reason"


def _judge_slave(netmodel: Netmodel, scene: Scene, fault: str) -> Iterator[str]:
    """Nothing is left behind, and the next run is served."""
    if fault in ("slave killed", "slave ended"):
        try:
            wait_until(lambda: not scene.slave.process.running())
        except AssertionError:
            yield "the slave goes on"
        return
    # A master that has said hello has 10 s to say more.
    try:
        wait_until(lambda: not scene.session(), TIMEOUT_S + (12 if fault == "control slow" else 5))
    except AssertionError:
        yield "a session is left"
    far = ("-P", str(scene.slave.port), *defines(host="127.0.0.1", test_length="50ms"))
    after = netmodel.run("-m", "tcp_rr", "--format", "json", *far, prefix=scene.node.prefix)
    if after.code:
        yield f"the next run has exit code {after.code}: {after.err[-200:]}"
