# SPDX-License-Identifier: Apache-2.0
"""Loss at a host: a program of the kernel (XDP) that drops a share of what arrives over UDP or TCP, or some kinds of segments
of TCP, or frames that are long; and a rule for the routes of answers."""

from __future__ import annotations

import ctypes
import os
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from nmtest import Node, inside

_SYS_BPF = {"x86_64": 321, "aarch64": 280}
_PROG_LOAD, _LINK_CREATE = 5, 28
_TYPE_XDP, _ATTACH_XDP, _GENERIC = 6, 37, 2
_CLONE_NEWNET = 0x40000000


def _instruction(code: int, to: int = 0, source: int = 0, offset: int = 0, value: int = 0) -> bytes:
    return struct.pack("<BBhi", code, source << 4 | to, offset, value)


# Segments of TCP by their flags: a connection is aborted; its handshake or data is acknowledged, and nothing else. The
# answer to a segment of an unknown connection has RST alone.
ABORTS, ACKNOWLEDGES = 0x14, 0x10
_SPARED_PORT = socket.htons(20000)


def _program_of(protocol: int, least: int, *chosen: bytes) -> bytes:
    """Of IPv4 and that protocol, but for control connections, frames of so many bytes or more are dropped unless one of the
    last instructions jumps over the two that follow."""
    passes = len(chosen) + 2  # instructions from the last of these on
    return b"".join(
        [
            _instruction(0x61, to=2, source=1, offset=0),  # r2: the frame
            _instruction(0x61, to=3, source=1, offset=4),  # r3: its end
            _instruction(0xBF, to=4, source=2),
            _instruction(0x07, to=4, value=least),
            _instruction(0x2D, to=4, source=3, offset=passes + 6),  # too short: passes
            _instruction(0x71, to=5, source=2, offset=23),  # r5: the protocol of IPv4
            _instruction(0x55, to=5, offset=passes + 4, value=protocol),
            _instruction(0x69, to=5, source=2, offset=34),  # its ports
            _instruction(0x15, to=5, offset=passes + 2, value=_SPARED_PORT),
            _instruction(0x69, to=5, source=2, offset=36),
            _instruction(0x15, to=5, offset=passes, value=_SPARED_PORT),
            *chosen,
            _instruction(0xB7, to=0, value=1),  # drop
            _instruction(0x95),
            _instruction(0xB7, to=0, value=2),  # pass
            _instruction(0x95),
        ]
    )


def _program_of_segments(flags: int) -> bytes:
    """What is TCP with just these flags."""
    in_r5 = _instruction(0x71, to=5, source=2, offset=47)
    return _program_of(socket.IPPROTO_TCP, 48, in_r5, _instruction(0x55, to=5, offset=2, value=flags))


def _program_of_share(protocol: int, share: float) -> bytes:
    """When 24 random bits are below the share."""
    random = (_instruction(0x85, value=7), _instruction(0x77, to=0, value=8))  # r0
    return _program_of(protocol, 42, *random, _instruction(0x35, to=0, offset=2, value=int(share * (1 << 24))))


def _program_of_long(size: int) -> bytes:
    """What is longer than that as a frame is dropped."""
    return b"".join(
        [
            _instruction(0x61, to=2, source=1, offset=0),  # r2: the frame
            _instruction(0x61, to=3, source=1, offset=4),  # r3: its end
            _instruction(0x07, to=2, value=size),
            _instruction(0xB7, to=0, value=2),  # pass
            _instruction(0x3D, to=2, source=3, offset=1),
            _instruction(0xB7, to=0, value=1),  # drop
            _instruction(0x95),
        ]
    )


def _bpf(command: int, attributes: bytes) -> int:
    libc = ctypes.CDLL(None, use_errno=True)
    buffer = ctypes.create_string_buffer(attributes, len(attributes))
    answer: int = libc.syscall(_SYS_BPF[os.uname().machine], command, buffer, len(attributes))
    if answer < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return answer


def _attach(node: Node, program: bytes) -> int:
    """A descriptor; the frames are let through again when it is closed. Moves the calling thread into the namespace."""
    if os.uname().machine not in _SYS_BPF:
        raise OSError(f"the number of bpf(2) on {os.uname().machine} is not known")
    code = ctypes.create_string_buffer(program, len(program))
    licence = ctypes.create_string_buffer(b"Apache-2.0")
    attributes = struct.pack("<IIQQ", _TYPE_XDP, len(program) // 8, ctypes.addressof(code), ctypes.addressof(licence))
    libc = ctypes.CDLL(None, use_errno=True)
    with Path(f"/run/netns/{node.namespace}").open() as namespace:
        if libc.setns(namespace.fileno(), _CLONE_NEWNET) < 0:
            error = ctypes.get_errno()
            raise OSError(error, os.strerror(error))
    loaded = _bpf(_PROG_LOAD, attributes.ljust(48, b"\0"))
    try:
        link = struct.pack("<IIII", loaded, socket.if_nametoindex("eth0"), _ATTACH_XDP, _GENERIC)
        return _bpf(_LINK_CREATE, link)
    finally:
        os.close(loaded)


def losing(node: Node, share: float, protocol: int = socket.IPPROTO_UDP) -> AbstractContextManager[None]:
    """Of the packets of that protocol that come to the node, that share is lost. OSError: the kernel does not do it."""
    return _dropping(node, _program_of_share(protocol, share))


def losing_segments(node: Node, flags: int) -> AbstractContextManager[None]:
    """All segments with just these flags that come to the node are lost. OSError: the kernel does not do it."""
    return _dropping(node, _program_of_segments(flags))


def losing_long(node: Node, size: int) -> AbstractContextManager[None]:
    """All frames of more bytes that come to the node are lost. OSError: the kernel does not do it."""
    return _dropping(node, _program_of_long(size))


def drop_answers(node: Node, ports: str, protocol: str = "tcp") -> None:
    """What other hosts send to these ports of the node is not answered: the route of the answers is a blackhole."""
    inside(node, "ip", "rule", "add", "pref", "10", "ipproto", protocol, "sport", ports, "blackhole")


@contextmanager
def _dropping(node: Node, program: bytes) -> Iterator[None]:
    made: list[int] = []
    failed: list[OSError] = []

    def enter() -> None:
        try:
            made.append(_attach(node, program))
        except OSError as error:
            failed.append(error)

    thread = threading.Thread(target=enter)  # the namespace is the thread's, which ends
    thread.start()
    thread.join()
    if failed:
        raise failed[0]
    try:
        yield
    finally:
        os.close(made[0])
