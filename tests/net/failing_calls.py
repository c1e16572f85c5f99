# SPDX-License-Identifier: Apache-2.0
"""Short runs in which one call of one function fails, at the master or at the slave: tests/prove/fail.c makes it fail.

Such a run ends by itself, with an exit code that it has for this and a message, or it is complete with the right totals.
A slave is not ended by it, other than with a message before it listens."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]

ALLOCATIONS = "alloc"
CALLS = (
    "socket", "socketpair", "bind", "listen", "accept4", "connect", "getsockname", "getpeername", "getsockopt",
    "setsockopt", "send", "recv", "shutdown", "read", "write", "epoll_create1", "epoll_ctl", "eventfd", "timerfd_create",
    "pipe2", "poll", "ppoll", "fork", "fstat", "open", "pthread_create",
)  # fmt: skip
SIDES = ("master", "slave")
SECONDS = 30  # in which a run must end, whatever else the machine does
CODES = {0, 1, 2, 3}

PROFILE = """<profile name="failing">
  <group nthreads="1" nflows="2">
    <transaction><flowop type="connect" options="remotehost=127.0.0.1"/></transaction>
    <transaction iterations="5">
      <flowop type="write" options="size=100"/>
      <flowop type="read" options="size=200"/>
    </transaction>
    <transaction><flowop type="disconnect"/></transaction>
  </group>
</profile>
"""


@dataclass(frozen=True)
class Outcome:
    """How a run went in which a call failed."""

    hit: bool  # the call was made, and failed
    wrong: str | None  # what must not be
    code: int | None
    said: str

    def __str__(self) -> str:
        return f"{self.wrong or 'right'}: exit code {self.code}: {self.said[-300:]}"


def _listens(pid: int) -> bool:
    """Whether a process has a socket of TCP that listens."""
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    listening = {f"socket:[{row[9]}]" for row in rows if row[3] == "0A"}
    with suppress(OSError):
        return any(os.readlink(fd) in listening for fd in Path(f"/proc/{pid}/fd").iterdir())
    return False


class Injector:
    """Builds what makes calls fail, and runs the program with it."""

    def __init__(self, binary: Path, folder: Path) -> None:
        self.binary = binary
        self.folder = folder
        self.library = folder / "fail.so"
        self.profile = folder / "failing.xml"
        self.profile.write_text(PROFILE)
        source = TOP / "tests" / "prove" / "fail.c"
        command = [os.environ.get("CC", "cc"), "-O2", "-D_GNU_SOURCE", "-shared", "-fPIC", "-o", str(self.library), str(source)]
        subprocess.run([*command, "-ldl"], check=True)

    def _env(self, side: str, failing: str, call: str, hit: Path) -> dict[str, str]:
        env = {"PATH": os.environ["PATH"], "LC_ALL": "C"}
        if side == failing and call:
            env |= {"LD_PRELOAD": str(self.library), "NETMODEL_FAIL": call, "NETMODEL_FAIL_HIT": str(hit)}
        return env

    def run(self, side: str, function: str, number: int) -> Outcome:
        """Makes call `number` of the function fail at that side; 0: none."""
        with tempfile.NamedTemporaryFile(dir=self.folder) as hit:
            hit.write(b"0")
            hit.flush()
            call = f"{function}:{number}" if number else ""
            wrong, code, said = self._run(side, call, Path(hit.name))
            hit.seek(0)
            return Outcome(hit.read(1) == b"1", wrong, code, said)

    def _run(self, side: str, call: str, hit: Path) -> tuple[str | None, int | None, str]:
        with tempfile.TemporaryFile("w+") as log:
            command = [str(self.binary), "-s", "-P", "0", "--bind", "127.0.0.1"]
            slave = subprocess.Popen(
                command, env=self._env("slave", side, call, hit), stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
            try:
                port = self._port(slave, log.name if isinstance(log.name, int) else log.fileno(), hit)
                if port is None:
                    return self._judge_slave(slave, log, call)
                master = self._master(port, self._env("master", side, call, hit))
            finally:
                slave.terminate()
                try:
                    slave.wait(SECONDS)
                except subprocess.TimeoutExpired:
                    slave.kill()
                    slave.wait()
                    return "the slave does not end", None, ""
            log.seek(0)
            said = log.read()
            wrong, code, err = master
            if not wrong and "was ended by signal" in said and "signal 15" not in said:
                wrong = "a session crashed"
            if not wrong and slave.returncode not in (0, -15, 1, 2, 3, 143):
                wrong = f"the slave ended with {slave.returncode}"
            return wrong, code, err + said

    @staticmethod
    def _port(slave: subprocess.Popen[bytes], log: int, hit: Path) -> int | None:
        """The one that it tells. Once it listens, and a call has failed, what is not told in a second is lost."""
        until = time.monotonic() + SECONDS
        mute = False
        while time.monotonic() < until:
            ended = slave.poll() is not None
            if match := re.search(rb"slave listening on \S+ port (\d+)", os.pread(log, 65536, 0)):
                return int(match[1])
            if ended:
                return None
            if not mute and hit.read_bytes()[:1] == b"1" and _listens(slave.pid):
                mute, until = True, time.monotonic() + 1
            time.sleep(0.002)
        return None

    @staticmethod
    def _judge_slave(slave: subprocess.Popen[bytes], log: object, call: str) -> tuple[str | None, int | None, str]:
        """It does not listen: then it has ended, with a message."""
        log.seek(0)  # type: ignore[attr-defined]
        said = log.read()  # type: ignore[attr-defined]
        code = slave.poll()
        if code is None and call.startswith(("write:", "fstat:")):
            return None, code, said  # it listens, and what it says is lost
        if code is None:
            return "the slave neither listens nor ends", None, said
        if code not in CODES - {0}:
            return f"the slave ended with {code}", code, said
        return None if said.strip() else "the slave ended without a word", code, said

    def _master(self, port: int, env: Mapping[str, str]) -> tuple[str | None, int | None, str]:
        command = [str(self.binary), "-m", str(self.profile), "-P", str(port), "--format", "json", "--timeout", "2s"]
        master = subprocess.Popen(
            command, env=dict(env), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        try:
            out, err = master.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            master.kill()
            master.communicate()
            return "the run does not end", None, ""
        said = err.decode(errors="replace")
        return self._judge(master.returncode, out, said), master.returncode, said

    @staticmethod
    def _judge(code: int, out: bytes, said: str) -> str | None:
        if code not in CODES:
            return f"the master ended with {code}"
        if code:
            return None if said.strip() else "no word about what has failed"
        try:
            document = json.loads(out)
        except ValueError:
            return "exit code 0 without a result"
        if not document["run"]["complete"]:
            return "exit code 0 with an incomplete result"
        counts = document["totals"]
        if (counts["transactions"], counts["bytes_sent"], counts["bytes_received"]) != (14, 1000, 2000):
            return f"wrong totals: {counts}"
        return None
