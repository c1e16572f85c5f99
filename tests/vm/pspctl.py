#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What an administrator does to the PSP devices of a network namespace. Lines of its input: enable MASK, rotate, show.

Generic netlink, family psp, as of Documentation/netlink/specs/psp.yaml."""

from __future__ import annotations

import json
import socket
import struct
import sys
from collections.abc import Iterator

NETLINK_GENERIC = 16
GENL_ID_CTRL, CTRL_CMD_GETFAMILY = 16, 3
CTRL_ATTR_FAMILY_ID, CTRL_ATTR_FAMILY_NAME = 1, 2
REQUEST, ACK, DUMP = 1, 4, 0x300
ERROR, DONE = 2, 3
DEV_GET, DEV_SET, KEY_ROTATE, GET_STATS = 1, 4, 6, 10
DEV_ID, DEV_VERSIONS_CAP, DEV_VERSIONS_ENA = 1, 3, 4
STATS = {2: "key_rotations", 3: "stale_events", 4: "rx_packets", 5: "rx_bytes", 9: "tx_packets", 10: "tx_bytes"}

Attributes = dict[int, bytes]


def number(data: bytes) -> int:
    return int.from_bytes(data, sys.byteorder)


def attribute(kind: int, data: bytes) -> bytes:
    return struct.pack("=HH", 4 + len(data), kind) + data + bytes(-len(data) % 4)


def attributes(data: bytes) -> Attributes:
    found = {}
    while len(data) >= 4:
        size, kind = struct.unpack_from("=HH", data)
        found[kind & 0x3FFF] = data[4:size]
        data = data[(size + 3) & ~3 :]
    return found


class Family:
    def __init__(self) -> None:
        self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_GENERIC)
        self._id = GENL_ID_CTRL
        (told,) = self._talk(CTRL_CMD_GETFAMILY, ACK, attribute(CTRL_ATTR_FAMILY_NAME, b"psp\0"))
        self._id = number(told[CTRL_ATTR_FAMILY_ID])

    def _talk(self, command: int, flags: int, body: bytes = b"") -> list[Attributes]:
        payload = struct.pack("=BBxx", command, 1) + body
        self._socket.send(struct.pack("=IHHII", 16 + len(payload), self._id, REQUEST | flags, 1, 0) + payload)
        return list(self._replies())

    def _replies(self) -> Iterator[Attributes]:
        while True:
            data = self._socket.recv(65536)
            while data:
                size, kind = struct.unpack_from("=IH", data)
                if kind == ERROR:
                    if error := -struct.unpack_from("=i", data, 16)[0]:
                        raise OSError(error, "PSP")
                    return
                if kind == DONE:
                    return
                yield attributes(data[20:size])
                data = data[(size + 3) & ~3 :]

    def devices(self) -> list[Attributes]:
        return self._talk(DEV_GET, DUMP)

    def enable(self, mask: int) -> None:
        for device in self.devices():
            can = number(device[DEV_VERSIONS_CAP])
            wanted = struct.pack("=I", mask & can)
            self._talk(DEV_SET, ACK, attribute(DEV_ID, device[DEV_ID]) + attribute(DEV_VERSIONS_ENA, wanted))

    def rotate(self) -> None:
        for device in self.devices():
            self._talk(KEY_ROTATE, ACK, attribute(DEV_ID, device[DEV_ID]))

    def show(self) -> list[dict[str, int]]:
        shown = []
        for device in self.devices():
            (counts,) = self._talk(GET_STATS, ACK, attribute(1, device[DEV_ID]))
            one = {name: number(counts.get(kind, b"")) for kind, name in STATS.items()}
            shown.append({"id": number(device[DEV_ID]), "enabled": number(device[DEV_VERSIONS_ENA])} | one)
        return shown


def main() -> None:
    """Does what the lines of standard input say, and answers each with what there is then."""
    family = Family()
    for line in sys.stdin:
        command, *words = line.split()
        if command == "enable":
            family.enable(int(words[0], 0))
        elif command == "rotate":
            family.rotate()
        print(json.dumps(family.show()), flush=True)


if __name__ == "__main__":
    main()
