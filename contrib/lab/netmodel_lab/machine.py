# SPDX-License-Identifier: Apache-2.0
"""A host that netmodel is run on: this one, a network namespace of it, or one behind ssh. The far side needs netmodel
and a shell."""

from __future__ import annotations

import contextlib
import json
import os
import platform
import re
import shlex
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

from netmodel_lab.guarded import LEASE, Guarded
from netmodel_lab.histogram import LOG
from netmodel_lab.problems import EnvironmentProblem
from netmodel_lab.program import Program
from netmodel_lab.spec import HostSpec, Role

Json = dict[str, Any]

MARK = "netmodel-lab: what follows is ours"  # what a shell says before is of others
_LONGEST_BANNER = 65536
_CONNECT_S = 30.0
_LAST_S = 8.0  # that a guard may outlive its study by, where the connection was cut
_AGAIN_S = 0.5
NOT_ASKED = "a slave that somebody else has started: it is not asked before a run"
_SSH = (
    *("-T", "-o", "BatchMode=yes", "-o", "ServerAliveInterval=2", "-o", "ServerAliveCountMax=3"),
    *("-o", "ConnectTimeout=10", "-o", "ControlPersist=no"),
)
# Makes a folder of its own, takes the program into it from standard input when there is one, and starts a guard, which
# is told to remove all of it at the end; the shell removes it where this host was gone before it told that. A folder
# for a program must be one that has room for it, and from which programs may be started.
KEEP = """
umask 077
folder=
for base in "$XDG_RUNTIME_DIR" "${TMPDIR:-/tmp}" "$HOME/.cache"; do
	[ -n "$base" ] && mkdir -p "$base" 2>/dev/null || continue
	folder=$(mktemp -d "$base/netmodel-lab.XXXXXX" 2>/dev/null) || { folder=; continue; }
	[ SIZE -gt 0 ] || break
	head -c SIZE /dev/zero 2>/dev/null >"$folder/netmodel" && [ "$(wc -c <"$folder/netmodel")" -eq SIZE ] &&
		printf '#!/bin/sh\\nexit 0\\n' >"$folder/netmodel" && chmod 700 "$folder/netmodel" &&
		"$folder/netmodel" 2>/dev/null && break
	rm -f "$folder/netmodel"; rmdir "$folder"; folder=
done
[ -n "$folder" ] || { echo "no folder takes a program: all are full, or mounted noexec" >&2; exit 3; }
trap 'rm -f "$folder/netmodel"; rmdir "$folder" 2>/dev/null' EXIT
trap 'exit 3' HUP TERM
program=PROGRAM
if [ SIZE -gt 0 ]; then
	program=$folder/netmodel
	head -c SIZE >"$program" || exit 3
	[ "$(wc -c <"$program")" -eq SIZE ] || { echo "the program did not arrive whole" >&2; exit 3; }
fi
command -v "$program" >/dev/null || { echo "$program: not found" >&2; exit 3; }
printf '%s\n' "$folder"
"$program" --guard LEASE
"""
_HINTS = (
    ("REMOTE HOST IDENTIFICATION HAS CHANGED", "its key is another one than before: ssh-keygen -R, if that is right"),
    ("Host key verification failed", "connect once by hand, so that ssh knows its key"),
    ("no folder takes a program", "make room there, or name a program that is there with netmodel=PATH"),
    ("No space left on device", "make room there"),
    ("Permission denied", "ssh must come in without a password: a key in authorized_keys there, and in the agent here"),
    ("command not found", "copy=yes copies the program, netmodel=PATH names it"),
    ("not found", "copy=yes copies the program, netmodel=PATH names it"),
    ("Exec format error", "the machine is of another kind: build there, and name the program with netmodel=PATH"),
    ("error while loading shared libraries", "install the library there, or build there and give netmodel=PATH"),
)

# What login shells read differently between quotes (csh: ! and ends of lines), as printf %b has it.
_PLAIN = str.maketrans({"\\": r"\0134", "\n": r"\0012", "!": r"\0041", "'": r"\0047"})

_SHELL = re.compile(r"sh: (?:line )?\d+: (?:exec: )?")  # what a shell says before an error


def ssh_command() -> list[str]:
    """OpenSSH, or what NETMODEL_LAB_SSH says, as "ssh -F FILE"."""
    return shlex.split(os.environ.get("NETMODEL_LAB_SSH") or "ssh")


class Machine:
    """One host, with the program that runs there. folder: for the socket that connections share."""

    def __init__(self, spec: HostSpec, role: Role, program: Program, folder: Path | None) -> None:
        self.spec, self.role = spec, role
        self._program = program
        self._folder = folder
        self._own_folder: tempfile.TemporaryDirectory[str] | None = None
        self._keeper: Guarded | None = None  # of the connection
        self._holder: Guarded | None = None  # of the interface
        self._socket: str | None = None
        self.path = spec.netmodel or ("netmodel" if spec.kind == "ssh" else str(program.path))
        self.probed: Json = {}
        self._reached_at: str | None = None
        self._there = ""  # a folder on a host behind ssh
        self._profiles: dict[str, str] = {}

    @property
    def title(self) -> str:
        return f"{self.role} ({self.spec.text})"

    # --- commands there ---

    def argv(self, words: Sequence[str]) -> list[str]:
        """What runs these words there, with standard streams here."""
        inside = ["ip", "netns", "exec", self.spec.ns, *words] if self.spec.ns else list(words)
        if self.spec.kind != "ssh":
            return inside
        return self._ssh(f"exec {shlex.join(inside)}")

    def _ssh(self, script: str, *options: str) -> list[str]:
        spec = self.spec
        shared = ("-o", f"ControlPath={self._socket}") if self._socket else ()
        port = ("-p", str(spec.port)) if spec.port else ()
        marked = f"printf '%s\\n' {shlex.quote(MARK)}; {script}"
        # Whatever the login shell is, it can do this much.
        command = f"""exec sh -c 'eval "$(printf %b "$1")"' sh '{marked.translate(_PLAIN)}'"""
        return [*ssh_command(), *_SSH, *shared, *options, *port, spec.target, command]

    def start(
        self, words: Sequence[str], orders: Sequence[str], *, out: Path | None = None, err: Path | None = None
    ) -> Guarded:
        """A master or a slave below a guard; words begin behind the program."""
        argv = self.argv([self.path, "--guard", LEASE, *words])
        return Guarded(argv, orders, out=out, err=err, cwd=self._cwd)

    @property
    def _cwd(self) -> Path | None:
        """The names of shared sockets are relative, as they must be short."""
        return self._folder if self.spec.kind == "ssh" else None

    def ask(self, script_or_words: str | Sequence[str], timeout_s: float = _CONNECT_S) -> str:
        """The output of something short."""
        is_script = isinstance(script_or_words, str)
        argv = self._ssh(script_or_words) if isinstance(script_or_words, str) else self.argv(script_or_words)
        try:
            done = subprocess.run(
                argv,
                capture_output=True,
                check=False,
                stdin=subprocess.DEVNULL,
                timeout=timeout_s,
                cwd=self._cwd,
                start_new_session=True,
            )
        except subprocess.TimeoutExpired:
            raise self._problem(["does not answer"]) from None
        except OSError as error:
            raise self._problem([f"{argv[0]}: {error.strerror}"]) from None
        said = done.stdout.decode(errors="replace")
        text = after_mark(said) if self.spec.kind == "ssh" else said
        if text is None or (done.returncode != 0 and not (is_script and text)):
            lines = done.stderr.decode(errors="replace").splitlines()
            raise self._problem(lines or said[:_LONGEST_BANNER].splitlines())
        return text

    def _problem(self, said: Sequence[str]) -> EnvironmentProblem:
        lines = [line.strip() for line in said if line.strip()]
        last = _SHELL.sub("", lines[-1]) if lines else "the connection has ended"
        whole = "\n".join(lines)
        hint = next((f"; {hint}" for text, hint in _HINTS if text in whole), "")
        if "REMOTE HOST" in whole:
            last = "Host key verification failed"
        return EnvironmentProblem([f"{self.title}: {last.removesuffix('.') if hint else last}{hint}"])

    # --- opened and closed ---

    def open(self) -> None:
        """Connects, copies the program when asked, and finds out what is there. Raises EnvironmentProblem."""
        if self.spec.kind == "ssh":
            self._connect()
        if self.spec.kind != "at":
            self.probe()
            self._check_version()

    def claim(self, owner: str, peer: str | None) -> None:
        """The interface is the owner's until we close: two studies on one would measure each other."""
        device = None if self.spec.kind == "at" else self._interface(peer)
        deadline = time.monotonic() + _LAST_S
        while device:
            # In the namespace in which the interface is, which the keeper may not be in.
            guard = self.argv([self.path, "--guard", LEASE])
            # It is known before it has answered: close() ends it then, too, as after an interrupt.
            holder = self._holder = Guarded(guard, (f"claim {device} {owner}",), cwd=self._cwd)
            answer = holder.notice(("claimed", "taken", "ended"), _CONNECT_S)
            if answer and answer["guard"] == "claimed":
                return
            holder.end()
            self._holder = None
            if not answer or answer["guard"] == "ended":
                raise self._problem([f"{device}: {answer['why']}"] if answer else holder.lines)
            if time.monotonic() > deadline:
                raise self._problem([f"{device}: is being measured by {answer['by'] or 'another study'}"])
            time.sleep(_AGAIN_S)

    def _interface(self, peer: str | None) -> str | None:
        """That of the connections to this address of the other end; loopback has room for many, unless it is named."""
        names = {str(one["name"]): one["addresses"] for one in self.probed.get("interfaces", [])}
        if self.spec.dev:
            if self.spec.dev not in names:
                raise self._problem([f"dev={self.spec.dev}: there is {', '.join(names)}"])
            return self.spec.dev
        with contextlib.suppress(EnvironmentProblem, OSError):
            is_told = self.spec.kind != "local" or self.spec.address or not peer
            address = self.address() if is_told else _own_address_to(str(peer))
            return next((name for name, own in names.items() if address in own and name != "lo"), None)
        return None

    def look(self) -> str | None:
        """Finds out what is there as open() does, and makes and copies nothing. Returns why the host was not asked, if
        it was not."""
        if self.spec.kind == "at":
            return NOT_ASKED
        if not self.spec.copy_program:
            self.probe()
            self._check_version()
            return None
        there = self.ask("uname -m").strip()
        self._reached_at = self._own_address()
        if there != platform.machine():
            text = f"the machine is {there}, and the program here is for {platform.machine()}"
            raise self._problem([f"{text}: build there, and name the program with netmodel=PATH"])
        return f"reached, {there}; netmodel is copied there when the study is run, and tells then what is there"

    def _connect(self) -> None:
        """The first connection, over which the others go; it lives as long as we do, and what was copied with it."""
        self._need_ssh()
        if not self._folder:
            self._own_folder = tempfile.TemporaryDirectory(prefix="nmlab")
            self._folder = Path(self._own_folder.name)
        for old in self._folder.glob(f".ssh-{self.role}-*"):
            old.unlink(missing_ok=True)
        self._socket = f".ssh-{self.role}-{os.getpid()}"
        before = self._program.path.read_bytes() if self.spec.copy_program else b""
        script = KEEP.replace("SIZE", str(len(before))).replace("LEASE", LEASE)
        argv = self._ssh(script.replace("PROGRAM", shlex.quote(self.path)), "-o", "ControlMaster=yes")
        self._keeper = Guarded(argv, (), out=subprocess.PIPE, before=before, cwd=self._folder)
        there, instead = "", read_mark(self._keeper.stdout)
        if instead is None:
            there = self._keeper.stdout.readline().decode(errors="replace").strip()
        if not there.startswith("/"):
            self._keeper.end()
            raise self._problem(self._keeper.lines or instead or ())
        self._there = there
        if self.spec.copy_program:
            self.path = f"{there}/netmodel"
        # What is told last is removed first.
        mine = [there, f"{there}/{LOG}", *([self.path] if self.spec.copy_program else [])]
        self._keeper.order(*(f"remove {path}" for path in mine), "start")
        if not self._keeper.notice("started", _CONNECT_S):
            self._keeper.end()
            raise self._problem(self._keeper.lines)

    def _need_ssh(self) -> None:
        if not shutil.which(ssh_command()[0]):
            raise EnvironmentProblem([f"{self.title}: {ssh_command()[0]}: no such program here"])

    def profile(self, profile: str) -> str:
        """The profile as a master there finds it: one behind ssh gets a copy, which is removed with the rest."""
        if self.spec.kind != "ssh":
            return profile
        if profile not in self._profiles:
            source = self._program.profile_path(profile)
            path = f"{self._there}/{len(self._profiles)}-{source.name}"
            argv = self._ssh(f"umask 077; cat >{shlex.quote(path)}")
            done = subprocess.run(
                argv, input=source.read_bytes(), capture_output=True, check=False, timeout=_CONNECT_S, cwd=self._folder
            )
            if done.returncode != 0:
                raise self._problem(done.stderr.decode(errors="replace").splitlines())
            assert self._keeper
            self._keeper.order(f"remove {path}")
            self._profiles[profile] = path
        return self._profiles[profile]

    def file(self, name: str) -> str | None:
        """A file for a run on a host behind ssh; None: files are here."""
        return f"{self._there}/{name}" if self.spec.kind == "ssh" else None

    def take_file(self, name: str) -> str:
        """What such a file holds; it is removed there."""
        path = shlex.quote(self.file(name) or "")
        return self.ask(f"cat {path}; rm -f {path}")

    def is_alive(self) -> bool:
        return all(guard is None or guard.is_running() for guard in (self._keeper, self._holder))

    def close(self) -> None:
        for guard in (self._holder, self._keeper):
            if guard:
                guard.end()
        self._keeper = self._holder = None
        self._profiles = {}
        if self._own_folder:
            self._own_folder.cleanup()
            self._own_folder = self._folder = None

    # --- what is there ---

    def probe(self) -> None:
        words = [self.path, "--probe"]
        text = self.ask(words)
        if self.spec.kind == "ssh":
            self._reached_at = self._own_address()
        try:
            self.probed = json.loads(text)
        except ValueError:
            raise EnvironmentProblem([f"{self.title}: {self.path} is no netmodel, or an older one"]) from None

    def _own_address(self) -> str | None:
        """The one under which ssh has reached it."""
        connection = self.ask('echo "$SSH_CONNECTION"').split()
        return connection[2] if len(connection) == 4 else None

    def _check_version(self) -> None:
        there = self.probed.get("version")
        if there != self._program.version:
            hint = "; copy=yes copies the one that is here" if self.spec.kind == "ssh" else ""
            raise EnvironmentProblem([f"{self.title}: netmodel {there} there, and {self._program.version} here{hint}"])

    def facts(self) -> Json:
        """What must be the same for two runs to be compared without a word."""
        if self.spec.kind == "at":
            return {"host": self.spec.text}
        facts = self.probed["facts"]
        return {
            "host": facts["hostname"] if self.spec.kind != "ns" else self.spec.text,
            "kernel": facts["kernel"],
            "boot_id": facts["boot_id"],
            "machine": facts["machine"],
            "cpus": facts["cpus"],
            "netmodel": self.probed["version"],
        }

    def address(self) -> str:
        """Of its data connections, as far as it can be known without being told."""
        spec = self.spec
        if spec.address:
            return spec.address
        if spec.kind == "at":
            return spec.target
        if spec.kind == "ssh" and not spec.ns and self._reached_at:
            return self._reached_at
        if spec.kind == "local":
            return "127.0.0.1"
        interfaces = self.probed.get("interfaces", [])
        found = [
            address
            for interface in interfaces
            if interface["name"] in (spec.dev, None) or (not spec.dev and interface["name"] != "lo")
            for address in interface["addresses"]
        ]
        if not found:
            raise EnvironmentProblem([f"{self.title}: has no address of its own; address=ADDRESS names it"])
        return str(found[0])

    def key(self) -> str | None:
        """That of a slave which somebody else has started."""
        if not self.spec.key_file:
            return None
        try:
            return Path(self.spec.key_file).expanduser().read_text(encoding="utf-8").strip()
        except OSError as error:
            raise EnvironmentProblem([f"{self.title}: {self.spec.key_file}: {error.strerror}"]) from None
        except UnicodeDecodeError:
            raise EnvironmentProblem([f"{self.title}: {self.spec.key_file}: is no text"]) from None

    def cpus(self, place: str) -> str | None:
        """The CPUs of a place, as netmodel takes them; None: wherever the kernel puts its workers."""
        if place == "none":
            return None
        if place == "spread":
            return "nodes"
        if place not in ("near", "far"):
            return place.replace("+", ",")
        nodes = self.probed.get("nodes", [])
        if len(nodes) < 2:
            raise EnvironmentProblem([f'{self.title}: "{place}": the machine has one NUMA node; place=0-3 names CPUs'])
        near = self._near_node()
        node = next(one for one in nodes if (one["node"] == near) == (place == "near"))
        return str(node["cpus"])

    def _near_node(self) -> int:
        interfaces = [one for one in self.probed["interfaces"] if one["node"] is not None]
        if self.spec.dev:
            interfaces = [one for one in interfaces if one["name"] == self.spec.dev]
        if not interfaces:
            what = f"{self.spec.dev} is" if self.spec.dev else "its interfaces are"
            raise EnvironmentProblem([f"{self.title}: {what} of no known NUMA node; place=0-3 names CPUs"])
        return int(interfaces[0]["node"])


def _own_address_to(peer: str) -> str:
    """The address of this host from which the kernel sends to another; nothing is sent."""
    family, kind, _, _, address = socket.getaddrinfo(peer, 9, type=socket.SOCK_DGRAM)[0]
    with socket.socket(family, kind) as any_socket:
        any_socket.connect(address)
        return str(any_socket.getsockname()[0])


def read_mark(stream: IO[bytes]) -> list[str] | None:
    """Reads up to our mark. Returns what others have said instead, where it never came."""
    banner = b""
    while len(banner) < _LONGEST_BANNER:
        line = stream.readline()
        if line.rstrip(b"\r\n") == MARK.encode():
            return None
        banner += line
        if not line:
            break
    return banner.decode(errors="replace").splitlines()


def after_mark(text: str) -> str | None:
    before, mark, rest = text.partition(f"{MARK}\n")
    return rest if mark and len(before) <= _LONGEST_BANNER else None


def strip_banner(path: Path) -> None:
    """Leaves of a file what netmodel has written."""
    with contextlib.suppress(OSError):
        text = path.read_bytes()
        _, mark, rest = text.partition(f"{MARK}\n".encode())
        if mark:
            path.write_bytes(rest)
