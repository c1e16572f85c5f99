# SPDX-License-Identifier: Apache-2.0
"""--guard: what was started ends with whoever started it. --probe: what a host is, before anything runs on it."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from nmtest import Netmodel, defines, wait_until

KEY = "0123456789abcdef0123456789abcdef"
LONG = ("-m", "tcp_rr", "--format", "json", *defines(test_length="60s"))


@contextmanager
def guarded(netmodel: Netmodel, *args: object) -> Iterator[subprocess.Popen[str]]:
    pipe = subprocess.PIPE
    argv = [str(netmodel.binary), "--guard", *map(str, args)]
    with subprocess.Popen(argv, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def say(process: subprocess.Popen[str], *lines: str) -> None:
    assert process.stdin
    process.stdin.write("".join(f"{line}\n" for line in lines))
    process.stdin.flush()


def heard(process: subprocess.Popen[str], event: str) -> dict[str, Any]:
    """The next notice of that kind."""
    assert process.stderr
    for line in process.stderr:
        if line.startswith('{"guard"'):
            notice: dict[str, Any] = json.loads(line)
            if notice["guard"] == event:
                return notice
    raise AssertionError(f"no {event}")


def state_of(pid: int) -> str:
    """A letter as ps has it; "": there is no such process."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    return ""


def is_gone(pid: int) -> bool:
    return state_of(pid) in ("", "Z")


def test_a_slave_has_its_key_from_standard_input(netmodel: Netmodel) -> None:
    with guarded(netmodel, "10s", "-s", "-P", "0", "-q") as slave:
        say(slave, f"key {KEY}", "start")
        pid = heard(slave, "started")["pid"]
        port = heard(slave, "ready")["port"]
        assert KEY not in Path(f"/proc/{pid}/cmdline").read_text()
        assert KEY not in Path(f"/proc/{pid}/environ").read_text()
        options = defines(host="127.0.0.1", test_length="50ms")
        line = ("-m", "tcp_rr", "-P", str(port), *options)
        netmodel.run(*line, env={"NETMODEL_KEY": KEY}, code=0)
        netmodel.run(*line, env={"NETMODEL_KEY": KEY[::-1]}, code=2)
        assert slave.stdin
        slave.stdin.close()
        assert heard(slave, "ended") == {"guard": "ended", "code": 0, "why": "standard input has ended"}
        assert slave.wait(30) == 0
        assert is_gone(pid)


def test_a_run_of_its_own_goes_to_its_end(netmodel: Netmodel) -> None:
    with guarded(netmodel, "10s", "-m", "tcp_rr", "--format", "json", *defines(test_length="50ms")) as master:
        say(master, "start")
        assert master.stdout
        assert json.load(master.stdout)["run"]["complete"]
        assert heard(master, "ended")["why"] == "the command has ended"
        assert master.wait(30) == 0


def test_silence_ends_it(netmodel: Netmodel) -> None:
    """Takes as long as a guard that has heard nothing lives, and longer while there is something to hear."""
    with guarded(netmodel, "2s", *LONG) as master:
        say(master, "start")
        pid = heard(master, "started")["pid"]
        until = time.monotonic() + 2.5
        while time.monotonic() < until:
            say(master, "")
            time.sleep(0.1)
        assert not is_gone(pid)
        assert heard(master, "ended")["why"] == "standard input was silent for too long"
        assert is_gone(pid)


def test_what_does_not_end_is_killed(netmodel: Netmodel) -> None:
    with guarded(netmodel, "20s", *LONG) as master:
        say(master, "start")
        pid = heard(master, "started")["pid"]
        os.kill(pid, signal.SIGSTOP)
        wait_until(lambda: state_of(pid) == "T", 30, "the child to stop")
        began = time.monotonic()
        assert master.stdin
        master.stdin.close()
        assert heard(master, "ended")["code"] == 128 + signal.SIGKILL
        assert time.monotonic() - began > 1.5
        assert is_gone(pid)


def test_a_guard_that_is_killed_takes_it_along(netmodel: Netmodel) -> None:
    with guarded(netmodel, "20s", *LONG) as master:
        say(master, "start")
        pid = heard(master, "started")["pid"]
        master.kill()
        wait_until(lambda: is_gone(pid), 30, "the end of the child")


def test_files_are_removed_at_the_end(netmodel: Netmodel, tmp_path: Path) -> None:
    folder = tmp_path / "study"
    folder.mkdir()
    for name in ("mine", "other"):
        (folder / name).write_text("x")
    with guarded(netmodel, "20s") as keeper:
        say(keeper, f"remove {folder}", f"remove {folder}/mine", "start")
        heard(keeper, "started")
        assert (folder / "mine").exists()
        assert keeper.stdin
        keeper.stdin.close()
        assert heard(keeper, "kept")["why"] == "Directory not empty"
        assert keeper.wait(30) == 0
    assert [path.name for path in folder.iterdir()] == ["other"]


def test_a_name_has_one_owner(netmodel: Netmodel) -> None:
    """Who comes second is told whose it is, in words that do not end the line of JSON, for as long as any guard of that
    owner is there."""
    name = f"eth{os.getpid()}"
    with guarded(netmodel, "20s") as first, guarded(netmodel, "20s") as alike, guarded(netmodel, "20s") as second:
        say(first, f'claim {name} a study of "pid" 1')
        heard(first, "claimed")
        say(alike, f'claim {name} a study of "pid" 1')
        heard(alike, "claimed")
        first.kill()
        first.wait()
        say(second, f"claim {name} another")
        assert heard(second, "taken")["by"] == "a study of ?pid? 1"
        alike.kill()
        alike.wait()
        say(second, f"claim {name} another")
        heard(second, "claimed")


def test_an_owner_that_ends_without_an_answer_leaves_its_name(netmodel: Netmodel) -> None:
    name = f"eth{os.getpid()}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as owner, guarded(netmodel, "20s") as second:
        owner.bind(f"\0netmodel-claim/{name}")
        owner.listen()
        say(second, f"claim {name} another")
        asker, _ = owner.accept()
        owner.close()
        asker.close()
        heard(second, "claimed")


def test_the_longest_name_and_owner(netmodel: Netmodel) -> None:
    name, owner = f"{os.getpid():063}", "o" * 127
    with guarded(netmodel, "20s") as first, guarded(netmodel, "20s") as second:
        say(first, f"claim {name} {owner}")
        heard(first, "claimed")
        say(second, f"claim {name} another")
        assert heard(second, "taken")["by"] == owner


def test_an_owner_that_is_stopped_is_not_waited_for(netmodel: Netmodel) -> None:
    name = f"eth{os.getpid()}"
    with guarded(netmodel, "20s") as first, guarded(netmodel, "20s") as second:
        say(first, f"claim {name} one")
        heard(first, "claimed")
        first.send_signal(signal.SIGSTOP)
        try:
            say(second, f"claim {name} another", "start")
            heard(second, "started")
            assert heard(second, "taken")["by"] == ""
        finally:
            first.send_signal(signal.SIGCONT)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("claim eth0", "a name is claimed without an owner, or a second one"),
        ("claim eth0 me\nclaim eth1 me", "a name is claimed without an owner, or a second one"),
        (f"claim {'n' * 64} me", "a name of more than 63 bytes is claimed, or by an owner of more than 127"),
        (f"claim eth0 {'o' * 128}", "a name of more than 63 bytes is claimed, or by an owner of more than 127"),
        ("stop", "a line of standard input is unknown"),
        ("remove relative", "a path to be removed is not absolute, or there are too many"),
    ],
)
def test_lines_that_mean_nothing(netmodel: Netmodel, line: str, why: str) -> None:
    with guarded(netmodel, "20s", *LONG) as master:
        say(master, line)
        assert heard(master, "ended")["why"] == why


def test_a_time_is_needed(netmodel: Netmodel) -> None:
    assert netmodel.run("--guard", "0", "-s", code=1).lines() == ["netmodel: --guard 0: must be more than 0"]


def test_probe(netmodel: Netmodel) -> None:
    found = json.loads(netmodel.run("--probe", code=0).out)
    assert found["schema"] == "netmodel.probe/1"
    assert found["facts"]["kernel"] == os.uname().release
    loopback = next(one for one in found["interfaces"] if one["name"] == "lo")
    assert "127.0.0.1" in loopback["addresses"]
    document = json.loads(netmodel.run(*LONG[:-1], "test_length=50ms", code=0).out)
    assert found["facts"] == document["hosts"][0]["facts"]
    assert found["facts"]["boot_id"] == Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    file = Path("/etc/machine-id")
    machine_id = file.read_text().strip() if file.exists() else ""
    hashed = hashlib.sha256(f"netmodel probe {machine_id}".encode()).hexdigest()[:32]
    assert found["machine_id"] == (hashed if machine_id else None)
    assert found["command_line"] == Path("/proc/cmdline").read_text().strip()[:1023]
    assert all(one["why"] for one in found["missing"])
