# SPDX-License-Identifier: Apache-2.0
"""Writes the body of an ACPI table that gives each CPU of the test machine one idle state, in which it is halted: qemu's
tables have none, and without any the kernel keeps no account of idle time. Encoded as chapter 20 of the ACPI
specification has it."""

from __future__ import annotations

import sys

CPUS = 2
NAME, SCOPE, BUFFER, PACKAGE, BYTE, WORD, ONE = b"\x08", b"\x10", b"\x11", b"\x12", b"\x0a", b"\x0b", b"\x01"
# A register of the kind "fixed hardware", and the end of the template.
_REGISTER = b"\x82\x0c\x00\x7f" + bytes(11) + b"\x79\x00"


def long(kind: bytes, body: bytes) -> bytes:
    """What has its length before it, which counts itself."""
    length = len(body) + 1
    if length < 64:
        return kind + bytes([length]) + body
    length += 1
    return kind + bytes([0x40 | length & 0xF, length >> 4]) + body


def package(*items: bytes) -> bytes:
    return long(PACKAGE, bytes([len(items)]) + b"".join(items))


def halted() -> bytes:
    """_CST: the number of states, and of each its register, its kind (C1), its latency in us and its power in mW."""
    register = long(BUFFER, BYTE + bytes([len(_REGISTER)]) + _REGISTER)
    return package(ONE, package(register, ONE, ONE, WORD + (1000).to_bytes(2, "little")))


def scope(cpu: int) -> bytes:
    path = b"\\\x2f\x03_SB_CPUSC%03X" % cpu
    return long(SCOPE, path + NAME + b"_CST" + halted())


sys.stdout.buffer.write(b"".join(scope(cpu) for cpu in range(CPUS)))
