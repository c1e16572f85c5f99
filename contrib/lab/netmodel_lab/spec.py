# SPDX-License-Identifier: Apache-2.0
"""Hosts and places as they are written: local, ns:NAME, ssh:[USER@]HOST[:PORT], at:ADDRESS[:PORT]; and where on a host
its workers run."""

from __future__ import annotations

import re
from typing import Literal

from pydantic import BaseModel, ConfigDict

from netmodel_lab.problems import nearest

Role = Literal["master", "slave"]
ROLES: tuple[Role, Role] = ("master", "slave")
KINDS = ("local", "ns", "ssh", "at")
OPTIONS = ("ns", "address", "key_file", "netmodel", "copy", "dev", "param")
YES, NO = ("yes", "true", "on"), ("no", "false", "off")
_TARGET = re.compile(r"(?:[\w.-]+@)?[\w.-]+|\[[0-9a-fA-F:.%]+\]")
_NS = re.compile(r"[\w.-]+")


class HostSpec(BaseModel):
    """A host: how it is reached, and what is special about it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Literal["local", "ns", "ssh", "at"] = "local"
    target: str = ""  # of ssh: [USER@]HOST; of at: the address
    port: int | None = None
    ns: str | None = None
    address: str | None = None  # of its data connections, as the other end reaches it
    key_file: str | None = None  # of a slave that listens already
    netmodel: str | None = None  # the program there
    copy_program: bool = False
    dev: str | None = None  # the interface that near and far are about
    param: str = "host"  # of the profile, which takes the slave's address

    @property
    def text(self) -> str:
        if self.kind == "local":
            return "local"
        if self.kind == "ns":
            return f"ns:{self.ns}"
        port = f":{self.port}" if self.port else ""
        inside = f",ns={self.ns}" if self.ns else ""
        return f"{self.kind}:{self.target}{port}{inside}"


def parse_host(text: str) -> HostSpec:
    """Raises ValueError with a phrase that says what is wrong."""
    head, *options = text.split(",")
    kind, _, rest = head.partition(":")
    if kind not in KINDS:
        raise ValueError(
            f'"{text}": a host is local, ns:NAME, ssh:[USER@]HOST[:PORT] or at:ADDRESS[:PORT]{nearest(kind, KINDS)}'
        )
    found = dict[str, str | int | bool | None](kind=kind)
    if kind == "local" and rest:
        raise ValueError(f'"{text}": nothing may follow local but options, as local,address=10.0.0.1')
    if kind == "ns":
        if not _NS.fullmatch(rest):
            raise ValueError(f'"{text}": ns:NAME has the name of a network namespace')
        found["ns"] = rest
    elif kind in ("ssh", "at"):
        target, port = _split_port(text, rest)
        found |= {"target": target, "port": port}
    for option in options:
        name, equals, value = option.partition("=")
        if not equals or not value or name not in OPTIONS:
            raise ValueError(
                f'"{text}": "{option}" is none of {", ".join(OPTIONS)} with =VALUE{nearest(name, OPTIONS)}'
            )
        found["copy_program" if name == "copy" else name] = parse_flag(value) if name == "copy" else value
    if kind != "ssh" and found.get("copy_program"):
        raise ValueError(f'"{text}": copy=yes is for hosts behind ssh')
    if (kind == "at") != bool(found.get("key_file")) and kind != "at":
        raise ValueError(f'"{text}": key_file is for at:ADDRESS, whose slave somebody else has started')
    return HostSpec.model_validate(found)


def _split_port(text: str, rest: str) -> tuple[str, int | None]:
    target, port = rest, None
    found = re.fullmatch(r"(.*[^:]|.*\]):(\d+)", rest)
    if found and (":" not in found[1] or found[1].endswith("]")):
        target, port = found[1], int(found[2])
    if port is not None and not 0 < port < 65536:
        raise ValueError(f'"{text}": a port is 1 to 65535')
    if not _TARGET.fullmatch(target) and not re.fullmatch(r"[0-9a-fA-F:.]+", target):
        raise ValueError(f'"{text}": "{target}" is no name and no address of a host')
    if target.startswith("-"):
        raise ValueError(f'"{text}": a name does not begin with "-"')
    return target.strip("[]"), port


def parse_flag(text: str) -> bool:
    if text not in (*YES, *NO):
        raise ValueError(f'"{text}": must be yes or no')
    return text in YES


# --- places ---

PLACES = ("near", "far", "spread", "none")
_MAX_CPUS = 8192
_CPUS = r"\d+(?:-\d+)?(?:\+\d+(?:-\d+)?)*"


def place_mistake(text: str) -> str | None:
    """What is wrong with a place: near, far, spread, none, CPUs as 0-3+8, or two of these as MASTER/SLAVE."""
    for part in text.split("/", 1):
        if part in PLACES:
            continue
        if not re.fullmatch(_CPUS, part):
            return (
                f'"{text}": a place is {", ".join(PLACES)}, CPUs as 0-3+8, or one of these for each end, as near/0-3'
                f"{nearest(part, PLACES)}"
            )
        for cpus in part.split("+"):
            first, _, last = cpus.partition("-")
            if int(last or first) >= _MAX_CPUS:
                return f'"{text}": Linux has at most {_MAX_CPUS} CPUs'
            if last and int(last) < int(first):
                return f'"{text}": {cpus} ends before it begins'
    return None


def place_of(text: str, role: Role) -> str:
    parts = text.split("/", 1)
    return parts[0] if role == "master" else parts[-1]
