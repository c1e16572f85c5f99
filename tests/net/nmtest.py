# SPDX-License-Identifier: Apache-2.0
"""What the tests need to run netmodel: processes that are always ended, slaves, network namespaces, results."""

from __future__ import annotations

import ctypes
import itertools
import json
import os
import re
import resource
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

TOP = Path(__file__).resolve().parents[2]
PROFILES = TOP / "profiles"
BAD_PROFILES = TOP / "tests" / "profiles_bad"
UPERF_PROFILES = TOP / "tests" / "profiles_uperf"
SCHEMA = TOP / "docs" / "netmodel-result.schema.json"

STOCK = tuple(sorted(path.stem for path in PROFILES.glob("*.xml")))
# What a stock profile does not run without.
NEEDED = {"replay": ("-D", f"trace={TOP / 'tests' / 'net' / 'recorded.csv'}")}

Json = dict[str, Any]

# Passed on to netmodel; everything else in the environment could be taken for a parameter.
_KEPT = ("PATH", "HOME", "LD_LIBRARY_PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS", "LLVM_PROFILE_FILE")
_CAP_SYS_RESOURCE = 24
_CLONE_NEWNET = 0x40000000
_ETH_P_ALL = 3
_SO_RCVBUFFORCE = 33
_PR_CAPBSET_DROP = 24
_SYS_PIDFD_GETFD = 438


# Noise only ever adds calls and time: a machine that does much else, or whose CPU is emulated, takes longer. So there is
# one limit for all that is waited for, which ends hangs and says nothing else; what must be soon is sooner than SOON_S,
# in a test in which what would come instead comes after PATIENCE_S or later; and a tight bound is for `at_most`.
_SLOWNESS = 5 if Path("/run/out/command").exists() else 1  # the machine of tests/vm, whose CPU may be emulated
PATIENCE_S = 60.0 * _SLOWNESS
SOON_S = 20.0 * _SLOWNESS
FOR_LONG = f"{5 * PATIENCE_S:.0f}s"  # the length of what is ended by something else


def at_most(measure: Callable[[], float], most: float, runs: int = 5) -> None:
    """What the least of so many runs needs: the first within the bound is enough."""
    seen: list[float] = []
    while not seen or seen[-1] > most:
        assert len(seen) < runs, f"more than {most}, each time: {seen}"
        seen.append(measure())


def locate_binary() -> Path:
    """The program under test: $NETMODEL, or the one that ./quickstart build makes."""
    return Path(os.environ.get("NETMODEL") or TOP / "build" / "src" / "netmodel").resolve()


def line_of(path: Path, text: str) -> int:
    """The number of the first line of a file that has the text."""
    return next(number for number, line in enumerate(path.read_text().splitlines(), 1) if text in line)


TRACED = {"ASAN_OPTIONS": "detect_leaks=0"}  # leaks are not found under a tracer


@dataclass(frozen=True)
class Result:
    """How a command ended."""

    argv: tuple[str, ...]
    code: int
    out: str
    err: str
    seconds: float

    def json(self) -> Json:
        """Standard output, which must be one JSON document and nothing else."""
        try:
            document = json.loads(self.out)
        except ValueError as error:
            raise AssertionError(f"standard output is not one JSON document ({error}):\n{self}") from None
        assert isinstance(document, dict), self
        return document

    def lines(self) -> list[str]:
        return self.err.splitlines()

    def __str__(self) -> str:
        return f"{' '.join(self.argv)}\nexit code {self.code}\n--- stdout\n{self.out}\n--- stderr\n{self.err}"


class Process:
    """A started command. What it writes is collected line by line and can be waited for."""

    def __init__(
        self,
        argv: Sequence[str],
        env: Mapping[str, str],
        cwd: Path | None = None,
        before: Callable[[], None] | None = None,
    ) -> None:
        self.argv = tuple(argv)
        self._began = time.monotonic()
        self._popen = subprocess.Popen(
            self.argv,
            env=dict(env),
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            preexec_fn=before,
            start_new_session=True,
        )
        self._changed = threading.Condition()
        self._out: list[str] = []
        self._err: list[str] = []
        self._open = 2
        self._readers = [
            threading.Thread(target=self._collect, args=(stream, lines), daemon=True)
            for stream, lines in ((self._popen.stdout, self._out), (self._popen.stderr, self._err))
        ]
        for reader in self._readers:
            reader.start()

    def _collect(self, stream: Any, lines: list[str]) -> None:
        for raw in stream:
            with self._changed:
                lines.append(raw.decode(errors="replace"))
                self._changed.notify_all()
        with self._changed:
            self._open -= 1
            self._changed.notify_all()
        stream.close()

    @property
    def pid(self) -> int:
        return self._popen.pid

    @property
    def err(self) -> str:
        with self._changed:
            return "".join(self._err)

    def running(self) -> bool:
        return self._popen.poll() is None

    def wait_line(self, pattern: str, timeout: float = PATIENCE_S, count: int = 1) -> re.Match[str]:
        """Waits until standard error has so many lines in which the pattern is found; answers the last of these."""
        deadline = time.monotonic() + timeout
        with self._changed:
            while True:
                found = [match for line in self._err if (match := re.search(pattern, line))]
                if len(found) >= count:
                    return found[count - 1]
                left = deadline - time.monotonic()
                if left <= 0 or not self._open:
                    text = "".join(self._err)
                    raise AssertionError(f"{' '.join(self.argv)}: no line /{pattern}/ in:\n{text}")
                self._changed.wait(left)

    def signal(self, number: int) -> None:
        os.kill(self.pid, number)

    def finish(self, timeout: float = PATIENCE_S) -> Result:
        """Waits for the end."""
        try:
            code = self._popen.wait(timeout)
        except subprocess.TimeoutExpired:
            self.end()
            raise AssertionError(f"{' '.join(self.argv)}: still running after {timeout} s\n{self.err}") from None
        seconds = time.monotonic() - self._began
        for reader in self._readers:
            reader.join(PATIENCE_S)
        return Result(self.argv, code, "".join(self._out), "".join(self._err), seconds)

    def end(self) -> None:
        """Ends it and every process that it has started, however it is doing."""
        family = descendants(self.pid) if self.running() else []  # what has ended has no children
        if self.running():
            self._popen.terminate()
            for pid in family:  # also what runs under a tracer, which would wait for it
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGTERM)
            with suppress(subprocess.TimeoutExpired):
                self._popen.wait(0.0 if self._stopped() else 3.0)
        for pid in [self.pid, *family]:
            if pid != self.pid or self.running():
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        self._popen.wait()
        for reader in self._readers:
            reader.join(PATIENCE_S)

    def _stopped(self) -> bool:
        stat = read_stat(self.pid)
        return stat is not None and stat[0] == "T"


def read_stat(pid: int) -> tuple[str, int] | None:
    """State and parent of a process; None when it is gone."""
    try:
        with open(f"/proc/{pid}/stat", errors="replace") as file:  # without a Path: it is read of all processes
            text = file.read()
    except OSError:
        return None
    fields = text[text.rindex(")") + 2 :].split(None, 2)
    return fields[0], int(fields[1])


def children(pid: int) -> list[int]:
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            stat = read_stat(int(entry))
            if stat is not None and stat[1] == pid and stat[0] != "Z":
                found.append(int(entry))
    return sorted(found)


def descendants(pid: int) -> list[int]:
    found = children(pid)
    return found + [deeper for child in found for deeper in descendants(child)]


def resident_bytes(pid: int) -> int:
    """Memory of a process; 0 when it is gone."""
    try:
        text = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    match = re.search(r"^VmRSS:\s+(\d+) kB", text, re.MULTILINE)
    return int(match[1]) * 1024 if match else 0


def wait_until(condition: Callable[[], Any], timeout: float = PATIENCE_S, what: str = "") -> Any:
    """Polls what gives no event of its own: the state of other processes."""
    deadline = time.monotonic() + timeout
    while not (answer := condition()):
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {timeout} s: {what or condition}")
        time.sleep(0.005)
    return answer


def limit_descriptors(hard: int) -> Callable[[], None]:
    """For the child: no more descriptors than that, and no privilege to raise the limit."""

    def apply() -> None:
        ctypes.CDLL(None, use_errno=True).prctl(_PR_CAPBSET_DROP, _CAP_SYS_RESOURCE, 0, 0, 0)
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))

    return apply


def close_descriptors(*numbers: int) -> Callable[[], None]:
    """For the child: it begins without them."""

    def apply() -> None:
        for number in numbers:
            os.close(number)

    return apply


@dataclass(frozen=True)
class Slave:
    process: Process
    port: int

    @property
    def pid(self) -> int:
        return self.process.pid

    def sessions(self) -> list[int]:
        return children(self.pid)


class Netmodel:
    """The program under test."""

    def __init__(self, binary: Path) -> None:
        self.binary = binary
        self.env = {name: os.environ[name] for name in _KEPT if name in os.environ}
        # A system call that no session should make ends it, and the test.
        self.env |= {"LC_ALL": "C", "NETMODEL_PROFILES": str(PROFILES), "NETMODEL_SANDBOX": "kill"}

    def start(
        self,
        *args: object,
        env: Mapping[str, str] | None = None,
        prefix: Sequence[str] = (),
        cwd: Path | None = None,
        before: Callable[[], None] | None = None,
    ) -> Process:
        argv = [*prefix, str(self.binary), *(str(arg) for arg in args)]
        environment = self.env | dict(env or {})
        if any("inject=" in word for word in prefix):  # strace makes it a call that does not exist, which the filter sees
            del environment["NETMODEL_SANDBOX"]
        return Process(argv, environment, cwd, before)

    @contextmanager
    def started(self, *args: object, **how: Any) -> Iterator[Process]:
        process = self.start(*args, **how)
        try:
            yield process
        finally:
            process.end()

    def run(self, *args: object, timeout: float = PATIENCE_S, code: int | None = None, **how: Any) -> Result:
        """Runs to the end; `code` is the exit code that it must have."""
        with self.started(*args, **how) as process:
            result = process.finish(timeout)
        assert code is None or result.code == code, result
        return result

    def measure(self, profile: str | Path, *args: object, code: int = 0, **how: Any) -> Json:
        """Runs a profile, by name or as a file, and gives its result document."""
        path = PROFILES / f"{profile}.xml" if isinstance(profile, str) else profile
        return self.run("-m", path, "--format", "json", *args, code=code, **how).json()

    @contextmanager
    def slave(self, *args: object, **how: Any) -> Iterator[Slave]:
        """A slave on a port of its own that listens already."""
        with self.started("-s", *(() if "-P" in args else ("-P", "0")), *args, **how) as process:
            match = process.wait_line(r"slave listening on \S+ port (\d+)")
            yield Slave(process, int(match[1]))


def free_port(kind: socket.SocketKind = socket.SOCK_STREAM) -> int:
    with socket.socket(socket.AF_INET, kind) as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def defines(**params: object) -> list[str]:
    """-D options."""
    return [word for name, value in params.items() for word in ("-D", f"{name}={value}")]


def master_of(document: Json) -> Json:
    host: Json = document["hosts"][0]
    assert host["role"] == "master"
    return host


def slaves_of(document: Json) -> list[Json]:
    hosts: list[Json] = document["hosts"][1:]
    assert all(host["role"] == "slave" for host in hosts)
    return hosts


def assert_complete(document: Json) -> None:
    run = document["run"]
    assert run["complete"] is True, run
    assert run["incomplete_why"] is None
    assert run["interrupted"] is False
    assert all(host["complete"] and host["error"] is None for host in document["hosts"]), document["hosts"]


def assert_ends_agree(document: Json) -> None:
    """Both ends have counted the same passes and the same bytes, group by group."""
    assert document["run"]["reconciled"] is True, document["run"]["reconcile_text"]
    assert document["run"]["reconcile_text"] is None
    slaves = slaves_of(document)
    for own in master_of(document)["groups"]:
        others = [group for slave in slaves for group in slave["groups"] if group["name"] == own["name"]]
        sums = {key: sum(other[key] for other in others) for key in own if key != "name"}
        assert own["bytes_sent"] == sums["bytes_received"], (own, others)
        assert own["bytes_received"] == sums["bytes_sent"], (own, others)
        assert own["transactions"] == sums["transactions"], (own, others)
        assert own["connects"] == sums["accepts"], (own, others)
        assert own["accepts"] == sums["connects"], (own, others)
        assert own["errors"] == sums["errors"] == 0, (own, others)


def assert_messages_add_up(document: Json) -> None:
    """Over transports that may lose messages: what one side has sent the other has received, or it is lost."""
    assert document["run"]["reconciled"] is not False, document["run"]["reconcile_text"]
    ways = [
        phase["messages"][way]
        for group in document["groups"]
        for phase in group["phases"]
        if "messages" in phase
        for way in ("to_slaves", "to_master")
    ]
    assert sum(way["sent"] for way in ways) > 0
    for way in ways:
        assert way["sent"] == way["received"] - (way["duplicates"] or 0) + way["lost"], way
    assert all(group["errors"] == 0 for host in document["hosts"] for group in host["groups"])


def assert_counts_agree(document: Json) -> None:
    """As far as the transports promise that they do."""
    lossy = any("messages" in phase for group in document["groups"] for phase in group["phases"])
    (assert_messages_add_up if lossy else assert_ends_agree)(document)


def phase_of(document: Json, name: str, group: int = 0) -> Json:
    phases: list[Json] = document["groups"][group]["phases"]
    return next(phase for phase in phases if phase["name"] == name)


@dataclass(frozen=True)
class Interface:
    """An interface of a network namespace."""

    namespace: str
    name: str

    @property
    def prefix(self) -> tuple[str, ...]:
        return ("ip", "netns", "exec", self.namespace)


@dataclass(frozen=True)
class Node(Interface):
    """A host of its own: a network namespace with one interface and one address. `port` sends to it what the others send."""

    address: str
    port: Interface


class Network:
    """Namespaces, each with one link to a bridge in one more. Everything is gone when it is closed."""

    _numbers = itertools.count()

    def __init__(self) -> None:
        self._name = f"nmt{os.getpid()}x{next(self._numbers)}"
        self._made: list[str] = []

    def nodes(self, count: int, mtu: int = 1500) -> list[Node]:
        hub = self._add("hub")
        self._ip(hub, "link", "add", "bridge", "type", "bridge")
        self._ip(hub, "link", "set", "bridge", "up")
        return [self._node(hub, number, mtu) for number in range(1, count + 1)]

    def _node(self, hub: str, number: int, mtu: int) -> Node:
        port = f"port{number}"
        node = Node(self._add(f"n{number}"), "eth0", f"10.77.0.{number}", Interface(hub, port))
        self._ip(hub, "link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", node.namespace)
        self._ip(hub, "link", "set", port, "master", "bridge", "mtu", str(mtu), "up")
        self._ip(node.namespace, "link", "set", "lo", "up")
        self._ip(node.namespace, "address", "add", f"{node.address}/24", "dev", "eth0")
        self._ip(node.namespace, "link", "set", "eth0", "mtu", str(mtu), "up")
        return node

    def _add(self, name: str) -> str:
        namespace = f"{self._name}{name}"
        self._call("netns", "add", namespace)
        self._made.append(namespace)
        return namespace

    def _ip(self, namespace: str, *args: str) -> None:
        self._call("-n", namespace, *args)

    @staticmethod
    def _call(*args: str) -> None:
        subprocess.run(["ip", *args], check=True, capture_output=True, text=True, timeout=PATIENCE_S)

    def close(self) -> None:
        for namespace in reversed(self._made):
            subprocess.run(["ip", "netns", "delete", namespace], check=False, capture_output=True, timeout=PATIENCE_S)
        self._made.clear()


def inside(node: Node, *argv: str) -> str:
    """What a command says there; skips the test where it is not to be had."""
    done = subprocess.run([*node.prefix, *argv], capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    if done.returncode != 0:
        pytest.skip(f"{' '.join(argv)}: {done.stderr.strip()[:200]}")
    return done.stdout


@contextmanager
def changed(node: Node, name: str, value: object) -> Iterator[None]:
    """A setting of the kernel (sysctl) that is another there meanwhile."""
    before = inside(node, "sysctl", "-n", name).strip()
    inside(node, "sysctl", "-w", f"{name}={value}")
    try:
        yield
    finally:
        inside(node, "sysctl", "-w", f"{name}={before}")


@contextmanager
def in_namespace(name: str) -> Iterator[None]:
    """What is opened here is opened there."""
    setns = ctypes.CDLL(None, use_errno=True).setns
    with open("/proc/self/ns/net") as mine, open(f"/var/run/netns/{name}") as there:
        assert setns(there.fileno(), _CLONE_NEWNET) == 0
        try:
            yield
        finally:
            assert setns(mine.fileno(), _CLONE_NEWNET) == 0


def packets(node: Node, run: Callable[[], None]) -> list[bytes]:
    """The headers of the IP packets that cross the loopback interface of the host meanwhile."""
    with in_namespace(node.namespace):
        tap = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(_ETH_P_ALL))
        tap.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, 64 << 20)
        tap.bind(("lo", _ETH_P_ALL))
    with tap:
        run()
        tap.setblocking(False)
        seen = []
        with suppress(BlockingIOError):
            while True:
                data, where = tap.recvfrom(128)
                if where[2] != socket.PACKET_OUTGOING:  # it is seen when it leaves and when it comes
                    seen.append(data)
        return seen


def traced(
    netmodel: Netmodel,
    strace: str,
    path: str | Path,
    where: Path,
    calls: str,
    prefix: tuple[str, ...] = (),
    args: Sequence[str] = (),
) -> tuple[Json, list[str]]:
    """Runs it under strace."""
    how = (*prefix, strace, "-ff", "-qq", "-e", f"trace={calls}", "-o", str(where))
    document = netmodel.measure(path, *args, prefix=how, env=TRACED)
    assert_complete(document)
    assert_counts_agree(document)
    return document, trace_lines(where)


def trace_lines(where: Path) -> list[str]:
    """What each thread has done, behind its number."""
    return [
        f"{trace.suffix} {line}"
        for trace in where.parent.glob(f"{where.name}.*")
        for line in trace.read_text().splitlines()
    ]


@contextmanager
def descriptors_of(pid: int, kind: str) -> Iterator[list[int]]:
    """Copies of those of a process that are of a kind."""
    libc = ctypes.CDLL(None, use_errno=True)
    pidfd = os.pidfd_open(pid)
    found: list[int] = []
    try:
        for fd in os.listdir(f"/proc/{pid}/fd"):
            with suppress(OSError):
                if os.readlink(f"/proc/{pid}/fd/{fd}") == kind:
                    found.append(libc.syscall(_SYS_PIDFD_GETFD, pidfd, int(fd), 0))
        yield [fd for fd in found if fd >= 0]
    finally:
        for one in (pidfd, *found):
            with suppress(OSError):
                os.close(one)


@contextmanager
def sockets_of(pid: int, kind: socket.SocketKind) -> Iterator[list[socket.socket]]:
    """Copies of the connected internet sockets of a process."""
    libc = ctypes.CDLL(None, use_errno=True)
    pidfd = os.pidfd_open(pid)
    found: list[socket.socket] = []
    try:
        for fd in os.listdir(f"/proc/{pid}/fd"):
            with suppress(OSError):
                if not os.readlink(f"/proc/{pid}/fd/{fd}").startswith("socket:"):
                    continue
            copy = libc.syscall(_SYS_PIDFD_GETFD, pidfd, int(fd), 0)
            if copy < 0:
                continue
            try:
                one = socket.socket(fileno=copy)
            except OSError:  # by now something else has the number
                os.close(copy)
                continue
            found.append(one)
            with suppress(OSError):
                if one.family in (socket.AF_INET, socket.AF_INET6) and one.type == kind and one.getpeername():
                    continue
            found.remove(one)
            one.close()
        yield found
    finally:
        os.close(pidfd)
        for one in found:
            one.close()


def run_and_weigh(netmodel: Netmodel, flows: int) -> tuple[Json, int, int]:
    """The result of tcp_rr, and the most memory that master and slave had."""
    options = defines(num_flows=flows, num_threads=2, test_length="700ms")
    with netmodel.started("-m", "tcp_rr", "--format", "json", "-i", "100ms", *options) as master:
        (slave,) = wait_until(lambda: children(master.pid), what="the embedded slave")
        ours = theirs = 0
        while master.running():
            ours = max(ours, resident_bytes(master.pid))
            theirs = max(theirs, resident_bytes(slave))
            time.sleep(0.005)
        result = master.finish()
    assert result.code == 0, result
    return result.json(), ours, theirs


@contextmanager
def slaves_on(netmodel: Netmodel, nodes: list[Node], *args: str) -> Iterator[None]:
    with ExitStack() as stack:
        for node in nodes:
            slave = stack.enter_context(netmodel.started("-s", "--no-auth", *args, prefix=node.prefix))
            slave.wait_line("slave listening")
        yield
