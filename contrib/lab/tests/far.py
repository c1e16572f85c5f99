# SPDX-License-Identifier: Apache-2.0
"""Two hosts: network namespaces with a link between them, and a real sshd in the second, with keys of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
from conftest import environment
from unpacked import Program, find

HERE, THERE = "10.213.0.1", "10.213.0.2"


@dataclass
class Far:
    """The second host, as ssh reaches it from the first."""

    folder: Path
    port: int
    namespace: str
    prefix: tuple[str, ...]  # what runs a command on the first host
    sshd: subprocess.Popen[bytes]

    @property
    def spec(self) -> str:
        return f"ssh:{THERE}:{self.port}"

    def environment(self) -> dict[str, str]:
        return environment(NETMODEL_LAB_SSH=f"ssh -F {self.folder}/config")

    def run(self, argv: Sequence[str], timeout: float = 1800) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*self.prefix, *argv],
            env=self.environment(),
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=timeout,
            stdin=subprocess.DEVNULL,
        )

    def start(self, argv: Sequence[str], **how: int) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [*self.prefix, *argv],
            env=self.environment(),
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=how.get("stderr", subprocess.DEVNULL),
            text=True,
        )

    def left(self) -> list[str]:
        """Processes of ours in the second host, and folders that it was given."""
        pids = subprocess.run(
            ["ip", "netns", "pids", self.namespace], capture_output=True, text=True, check=True
        ).stdout.split()
        found = []
        for pid in pids:
            with suppress(OSError):
                line = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
                if "--guard" in line or "netmodel" in line.split(" ")[0]:
                    found.append(line)
        return found + [str(path) for path in self.temporary.glob("netmodel-lab.*")]

    @property
    def temporary(self) -> Path:
        return self.folder / "tmp"

    def is_clean(self, within_s: float = 60) -> list[str]:
        deadline = time.monotonic() + within_s
        while (left := self.left()) and time.monotonic() < deadline:
            time.sleep(0.1)
        return left


_CONFIG = """
Host *
  IdentityFile {folder}/id
  IdentitiesOnly yes
  IdentityAgent none
  UserKnownHostsFile {folder}/known_hosts
  GlobalKnownHostsFile /dev/null
  User {user}
"""
_SSHD = """
ListenAddress {address}
Port {port}
HostKey {folder}/host_key
AuthorizedKeysFile {folder}/id.pub
PidFile none
UsePAM no
StrictModes no
PasswordAuthentication no
SetEnv TMPDIR={folder}/tmp XDG_RUNTIME_DIR=
"""


def _start(folder: Path, sshd: Program) -> str:
    """What starts it as the package would have: with its user and its folder, which only it sees."""
    (folder / "run" / "sshd").mkdir(parents=True)
    passwd = Path("/etc/passwd").read_text()
    if "\nsshd:" not in passwd:
        passwd += "sshd:x:65533:65534::/run/sshd:/usr/sbin/nologin\n"
    (folder / "passwd").write_text(passwd)
    return (
        f"mount --bind {folder}/passwd /etc/passwd && mount --bind {folder}/run /run && "
        f"LD_LIBRARY_PATH={sshd.libraries} exec {sshd.path} -D -e -f {folder}/sshd_config"
    )


def _call(*words: str | Path) -> None:
    subprocess.run([str(word) for word in words], check=True, capture_output=True)


@contextmanager
def second_host(folder: Path) -> Iterator[Far]:
    if os.geteuid() != 0 or not all(map(shutil.which, ("ip", "ssh", "ssh-keygen"))):
        pytest.skip("namespaces with a name need root, ip and ssh")
    sshd = find("sshd", "openssh-server")
    with ExitStack() as stack:
        names = [f"nmlab{os.getpid()}{end}" for end in "ab"]
        for name in names:
            try:
                _call("ip", "netns", "add", name)
            except subprocess.CalledProcessError:
                pytest.skip("cannot make a network namespace")
            stack.callback(_call, "ip", "netns", "del", name)
            _call("ip", "-n", name, "link", "set", "lo", "up")
        _call("ip", "-n", names[0], "link", "add", "veth0", "type", "veth", "peer", "name", "veth0", "netns", names[1])
        for name, address in zip(names, (HERE, THERE), strict=True):
            _call("ip", "-n", name, "addr", "add", f"{address}/24", "dev", "veth0")
            _call("ip", "-n", name, "link", "set", "veth0", "up")
        for key in ("id", "host_key"):
            _call("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / key)
        port = 2222  # of a namespace of our own
        (folder / "tmp").mkdir()
        words = {"folder": folder, "port": port, "address": THERE, "user": "root"}
        (folder / "config").write_text(_CONFIG.format(**words))
        (folder / "sshd_config").write_text(_SSHD.format(**words))
        host_key = (folder / "host_key.pub").read_text().split()[:2]
        (folder / "known_hosts").write_text(f"[{THERE}]:{port} {' '.join(host_key)}\n")
        argv = ["ip", "netns", "exec", names[1], "sh", "-c", _start(folder, sshd)]
        log = stack.enter_context((folder / "sshd.log").open("wb"))
        process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        stack.callback(process.wait)
        stack.callback(process.terminate)
        deadline = time.monotonic() + 60
        while b"Server listening" not in (folder / "sshd.log").read_bytes():
            if process.poll() is not None or time.monotonic() > deadline:
                pytest.skip(f"sshd does not run: {(folder / 'sshd.log').read_text()}")
            time.sleep(0.05)
        yield Far(folder, port, names[1], ("ip", "netns", "exec", names[0]), process)
