# SPDX-License-Identifier: Apache-2.0
"""Where the keys of PSP are not to be found, and who must not get at them."""

from __future__ import annotations

import base64
import json
import re
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from nmtest import (
    PATIENCE_S,
    TRACED,
    Netmodel,
    Process,
    assert_complete,
    defines,
    free_port,
    in_namespace,
    master_of,
    trace_lines,
    wait_until,
)
from psptest import Pair, assert_went_over_psp, completed

SOURCE = Path(__file__).with_name("psp_keys.c")
# Bytes to and from the outside: those that netlink sockets carry are the kernel's keys.
CALLS = "write,writev,pwrite64,sendto,sendmsg,sendmmsg,read,recvfrom,recvmsg"


@pytest.fixture(scope="session")
def keys_library(netmodel: Netmodel, tmp_path_factory: pytest.TempPathFactory) -> Path:
    needed = subprocess.run(["ldd", netmodel.binary], check=False, capture_output=True, text=True, timeout=PATIENCE_S).stdout
    if "libasan" in needed or "libtsan" in needed:
        pytest.skip("sanitizers keep copies of their own")
    made = tmp_path_factory.mktemp("keys") / "psp_keys.so"
    subprocess.run(["gcc", "-O1", "-shared", "-fPIC", "-o", made, SOURCE], check=True, timeout=PATIENCE_S)
    return made


class Keys:
    """What has been found out about the keys of a run."""

    def __init__(self, where: Path, library: Path) -> None:
        self._where = where
        self.env = {"LD_PRELOAD": str(library), "PSP_KEYS": str(where)} | TRACED

    def told(self, what: str) -> list[bytes]:
        words = [line.split() for line in self._where.read_text().splitlines()]
        return [bytes.fromhex(word[1]) for word in words if word[0] == what]

    def keys(self) -> list[bytes]:
        return self.told("key")

    def found_in(self, pids: list[int], what: str = "key") -> list[str]:
        """Where in the memory of processes."""
        wanted = self.told(what)
        return [
            f"{pid} {line} +{part.index(one):#x}"
            for pid in pids
            for line, part in memory(pid)
            for one in wanted
            if one in part
        ]

    def shown_in(self, text: str) -> bool:
        """In any of the forms in which bytes are usually written."""
        digits = re.sub(r"0x|\\x|[^0-9a-z]", "", text.lower())
        for key in self.keys():
            assert len(key) >= 15
            middle = [base64.b64encode(key[at:]).decode().rstrip("=")[:-2] for at in range(3)]
            if key.hex() in digits or any(part in text for part in middle) or repr(key)[2:-1] in text:
                return True
        return False


@pytest.fixture
def keys(keys_library: Path, tmp_path: Path) -> Keys:
    return Keys(tmp_path / "keys", keys_library)


def memory(pid: int) -> Iterator[tuple[str, bytes]]:
    """What a process can write to of its own, and which part that is."""
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as file:
        for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
            found = re.match(r"([0-9a-f]+)-([0-9a-f]+) rw", line)
            if not found or "[v" in line:
                continue
            start, end = (int(word, 16) for word in found.groups())
            file.seek(start)
            with suppress(OSError):
                yield line, file.read(end - start)


@contextmanager
def running(netmodel: Netmodel, pair: Pair, keys: Keys, *words: str) -> Iterator[tuple[Process, Process, list[int]]]:
    """Master and slave in a phase that goes on for long, and the processes that have keys."""
    with netmodel.slave("--no-auth", "-vv", prefix=pair.prefix(1), env=keys.env) as slave:
        words = (*words, *defines(host=pair.addresses["IPv4"][1]), "-P", str(slave.port), "-vv", "-a", "-f")
        with netmodel.started("-m", "psp_rr", *words, prefix=pair.prefix(0), env=keys.env) as process:
            process.wait_line("phase 2 of 3 begins")
            yield process, slave.process, [process.pid, *slave.sessions()]


@pytest.mark.parametrize("version", ["aes-gcm-128", "aes-gcm-256"])
def test_keys_stay_nowhere(netmodel: Netmodel, pair: Pair, keys: Keys, version: str) -> None:
    """Once a connection is there, neither the memory of an end holds its keys nor anything that it has written."""
    flows = 5
    words = defines(test_length="300s", num_flows=flows, num_threads=2, version=version)
    with running(netmodel, pair, keys, *words, "--format", "json") as (process, slave, pids):
        assert len(pids) == 2
        for count in (1, 2):

            def all_are_there(n: int = count) -> bool:
                return len(keys.keys()) >= 2 * flows * n

            wait_until(all_are_there, what="keys of all connections")
            wait_until(lambda: not keys.found_in(pids), what="nothing is found: the last ones may still be on their way")
            if count == 1:
                pair.control(1, "rotate")
        assert all(keys.found_in([pid], "kept") for pid in pids), "where something is kept it is found"
        process.signal(signal.SIGINT)
        done = process.finish()
        told = slave.err
    assert len(set(keys.told("key"))) == len(keys.keys()) == 4 * flows
    assert not keys.shown_in(done.out + done.err + told)
    assert keys.shown_in(f"a key: {keys.keys()[3].hex(':')}\n")
    assert json.loads(done.out)["hosts"][1]["psp"][0]["key_rotations"] == 1


def test_keys_are_sent_only_to_the_kernel(netmodel: Netmodel, pair: Pair, keys: Keys, tmp_path: Path) -> None:
    """No system call but those with the kernel has a key in what it reads or writes; and each worker asks by itself.

    Before anything else each end of a connection says over PSP that it is there."""
    flows, passes = 4, 3
    traces = [tmp_path / "master", tmp_path / "slave"]
    traced = [
        (*pair.prefix(side), "strace", "-ff", "-qq", "-yy", "-xx", "-s", "70000", "-e", f"trace={CALLS}", "-o", str(to))
        for side, to in enumerate(traces)
    ]
    with netmodel.slave("--no-auth", prefix=traced[1], env=keys.env) as slave:
        words = defines(host=pair.addresses["IPv4"][1], num_flows=flows, num_threads=2, num_transactions=flows * passes)
        document = netmodel.measure(
            "psp_crr",
            *(*words, *defines(test_length="60s"), "-P", str(slave.port)),
            timeout=120,
            prefix=traced[0],
            env=keys.env,
        )
    assert_complete(document)
    connections = master_of(document)["groups"][0]["connects"]
    assert connections >= flows * passes
    patterns = {"".join(f"\\x{byte:02x}" for byte in key) for key in keys.keys()}
    assert len(patterns) >= 2 * connections
    for trace, who, other in zip(traces, ("conn", "acce"), ("acce", "conn"), strict=True):
        lines = trace_lines(trace)
        kernels, others = (
            [line for line in lines if (not re.search(r"\((\d+)<NETLINK:", line)) == flag] for flag in (False, True)
        )
        text = "\n".join(kernels)
        # The kernel's own answers are seen before the keys in them become others.
        assert sum(pattern in text for pattern in patterns) >= connections
        text = "\n".join(others)
        assert len(others) > 10 * connections
        assert not any(pattern in text for pattern in patterns)
        asked = [line.split()[0] for line in kernels if "sendto" in line and ', "\\x08\\x01\\x00\\x00' in line]
        assert len(asked) >= connections
        assert len(set(asked)) == 2, "both workers"
        assert len(confirms(others, "sendto", who)) >= connections
        assert len(confirms(others, "recvfrom", other)) >= connections


def confirms(lines: list[str], call: str, who: str) -> list[str]:
    words = "".join(f"\\x{byte:02x}" for byte in f"PSP of who {who}".encode())
    return [line for line in lines if call in line and words in line]


def test_who_greets_like_a_flow(netmodel: Netmodel, pair: Pair) -> None:
    """The greeting is sent in the clear, and whoever has seen it may repeat it: each is taken once."""
    address, port = pair.addresses["IPv4"][1], free_port()
    before = [pair.control(side, "show") for side in (0, 1)]
    with in_namespace(pair.names[0]):
        tap = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(3))
    with tap, netmodel.slave("--no-auth", prefix=pair.prefix(1)) as slave:
        words = (*defines(host=address, port=port, test_length="7s", num_flows=2), "-P", str(slave.port), "-v")
        with netmodel.started("-m", "psp_crr", *words, "--format", "json", prefix=pair.prefix(0)) as process:
            process.wait_line("phase 1 of 1 begins")
            tap.settimeout(20)
            while (at := (packet := tap.recv(2000)).find(b"nmHi")) < 0:
                pass
            greeting = packet[at : at + 56]
            assert len(greeting) == 56
            for more in (b"", bytes(100), b"\x16\x03\x01\x00\x40" + bytes(64)):
                with in_namespace(pair.names[0]), socket.create_connection((address, port), timeout=PATIENCE_S) as intruder:
                    with suppress(OSError):  # it may be turned away at once
                        intruder.sendall(greeting + more)
                        intruder.shutdown(socket.SHUT_WR)
                    assert len(answered(intruder)) < 32, "at most an alert of TLS"
            assert process.running()
            done = process.finish()
    document = completed(done)
    assert_went_over_psp(pair, before, document)


def answered(intruder: socket.socket) -> bytes:
    got = b""
    with suppress(ConnectionResetError):
        while more := intruder.recv(1000):
            got += more
    return got
