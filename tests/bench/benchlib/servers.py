# SPDX-License-Identifier: Apache-2.0
"""The servers of applications, each one for all tools of a case: those of tests/net/partners.py, on a CPU of their own."""

from __future__ import annotations

import os
import socket
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import partners

from .apps import KEY, NAME, PATH, VALUE, host_port
from .model import BenchError


@contextmanager
def serving(workload: str, cpu: int | None) -> Iterator[str]:
    """HOST:PORT of a server that has what the workload asks for."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="netmodel-bench-")))
        with _children_on(cpu):
            server = _START[workload](stack, folder)
        yield server


@contextmanager
def _children_on(cpu: int | None) -> Iterator[None]:
    """What is started meanwhile runs there."""
    before = os.sched_getaffinity(0)
    if cpu is not None:
        os.sched_setaffinity(0, {cpu})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def _memcached(stack: ExitStack, _folder: Path) -> str:
    server = stack.enter_context(partners.memcached()).server
    _store(server, f"set {KEY} 0 0 {len(VALUE)}\r\n".encode() + VALUE + b"\r\n", b"STORED\r\n")
    return server


def _redis(stack: ExitStack, _folder: Path) -> str:
    server = stack.enter_context(partners.redis()).server
    _store(server, f"SET {KEY} ".encode() + VALUE + b"\r\n", b"+OK\r\n")
    return server


def _nginx(stack: ExitStack, folder: Path) -> str:
    """It neither closes a connection for its number of requests nor notes each one."""
    nginx = stack.enter_context(partners.nginx(folder, "keepalive_requests 1000000000;", "access_log off;"))
    (nginx.root / PATH[1:]).write_bytes(VALUE)
    return nginx.server


def _nsd(stack: ExitStack, folder: Path) -> str:
    return stack.enter_context(partners.nsd(folder, f"{NAME}. A 192.0.2.1\n")).server


_START: dict[str, Callable[[ExitStack, Path], str]] = {
    "memcache_get": _memcached,
    "redis_get": _redis,
    "http_get": _nginx,
    "dns_query": _nsd,
}


def _store(server: str, command: bytes, answer: bytes) -> None:
    with socket.create_connection(host_port(server), 10) as conn:
        conn.sendall(command)
        if (got := conn.recv(len(answer), socket.MSG_WAITALL)) != answer:
            raise BenchError(f"{server} has answered {got!r} instead of {answer!r}")
