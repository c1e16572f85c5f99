# SPDX-License-Identifier: Apache-2.0
"""The words shared by all parts: cases, commands, outcomes and measured figures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from .apps import APPS

# Those of the tools themselves; the same in another way; then profiles in uperf's form, the same file for whoever reads it.
OWN_WORKLOADS = ("tcp_rr", "tcp_crr", "tcp_stream", "udp_rr", "udp_stream")
SPIN = "tcp_rr_spin"  # no worker ever sleeps
ZEROCOPY = "tcp_stream_zerocopy"
DEFAULT = "tcp_stream_default"  # each tool with the sizes that it has by itself
_WAYS = {SPIN: "tcp_rr", ZEROCOPY: "tcp_stream", DEFAULT: "tcp_stream"}
_PREFIX = "uperf_"
PROFILES = tuple(_PREFIX + name for name in ("tcp_rr", "tcp_stream", "udp_rr", "udp_stream"))
WORKLOADS = (*OWN_WORKLOADS, *_WAYS, *PROFILES)
APP_WORKLOADS = tuple(APPS)  # requests to a server that is none of the tools'
_MOST_STRANDS = 64
_MANY = 1_000_000
_PER_S = 10_000  # answers of an application that one flow waits for


class BenchError(Exception):
    """A run that gave no usable figure; the text says why."""


class Ends(Enum):
    """Where the two ends run when they have one thread each, and whether a CPU that idles falls asleep."""

    APART = "apart"
    AWAKE = "awake"  # apart, and no idle CPU of the machine sleeps
    TOGETHER = "together"  # on the client's CPU, so that it never idles


@dataclass(frozen=True)
class Case:
    """One workload at one number of flows."""

    workload: str
    flows: int
    seconds: int
    buffer_bytes: int = 16384
    datagram_bytes: int = 1400
    threads: int = 1
    ends: Ends = Ends.APART
    per_s: float = 0.0  # what has been found that a tool does; 0: not yet

    @property
    def traffic(self) -> str:
        """What goes over the network, in whichever form and way it is asked for."""
        return _WAYS.get(self.workload, self.workload.removeprefix(_PREFIX))

    @property
    def is_plain(self) -> bool:
        """Whether it is what the tools do when nothing else is asked for, with one thread an end."""
        return self.workload in OWN_WORKLOADS and self.threads == 1

    @property
    def is_profile(self) -> bool:
        """Whether it is a profile in uperf's form."""
        return self.workload in PROFILES

    @property
    def is_app(self) -> bool:
        """Whether the server is none of the tools', so that costs are the client's alone."""
        return self.workload in APPS

    @property
    def is_sensible(self) -> bool:
        """uperf has a thread for each strand of a profile, and other ways are the same with any number of flows."""
        if self.is_profile and self.threads > 1:
            return False
        return self.threads <= self.flows <= (_MANY if self.workload in OWN_WORKLOADS or self.is_app else _MOST_STRANDS)

    @property
    def wakes(self) -> bool:
        """Whether each message wakes the other end's CPU, where it has one of its own and sleeps."""
        return self.flows == 1 and self.unit == "transaction" and self.workload != SPIN

    @property
    def is_stream(self) -> bool:
        return self.traffic == "tcp_stream"

    @property
    def label(self) -> str:
        threads = f", {self.threads} threads" if self.threads != 1 else ""
        place = {Ends.APART: "", Ends.AWAKE: ", idle CPUs awake", Ends.TOGETHER: ", on one CPU"}[self.ends]
        return f"{self.workload}, {self.flows} flow{'s' if self.flows != 1 else ''}{threads}{place}"

    @property
    def unit(self) -> str:
        """What costs are given per: a transaction, a request, 10^9 bytes, or a datagram that has arrived."""
        if self.is_stream:
            return "GB"
        if self.is_app:
            return "request"
        return "datagram" if self.traffic == "udp_stream" else "transaction"

    @property
    def about_as_many(self) -> int:
        """Requests that take so many seconds, for a tool that takes no time; less where nothing has been found, which
        is enough where it is watched."""
        return int(self.seconds * (self.per_s or min(self.flows, 2) * _PER_S))

    @property
    def unit_size(self) -> float:
        """Counted things (transactions or bytes) in one unit."""
        return 1e9 if self.is_stream else 1.0


@dataclass(frozen=True)
class Place:
    """Where the two ends run; no CPUs: anywhere."""

    client_cpus: tuple[int, ...]
    server_cpus: tuple[int, ...]
    workdir: str
    server: str = ""  # HOST:PORT of that which has been started for all tools


def cpu_list(cpus: tuple[int, ...]) -> str:
    """As taskset(1) and netmodel take them."""
    return ",".join(map(str, cpus))


@dataclass(frozen=True)
class Commands:
    """The commands of one run. A tool that starts its own far end, or finds one, has no server command."""

    client: list[str]
    server: list[str] | None = None
    listens_on: int = 0  # TCP port that shows that the server is ready
    server_ends: bool = False  # the server ends by itself after one client
    pins_itself: bool = False  # the CPUs are already in the arguments
    env: Mapping[str, str] | None = None  # in which the client starts; None: the bench's own


@dataclass(frozen=True)
class Outcome:
    """What a tool says that it did: `count` units, or bytes, and `rate` of them per second."""

    count: float
    rate: float


@dataclass
class Figures:
    """All figures of one tool in one case, one list entry a round."""

    rate: list[float] = field(default_factory=list)
    cpu_s: list[float] = field(default_factory=list)  # seconds of CPU per unit, all ends that were started
    calls_client: list[float] = field(default_factory=list)
    calls_server: list[float] = field(default_factory=list)
    instructions: list[float] = field(default_factory=list)  # user space, client, per unit
    errors: list[str] = field(default_factory=list)


METRICS = ("rate", "cpu_s", "calls_client", "calls_server", "instructions")
CLIENT_METRICS = tuple(metric for metric in METRICS if metric != "calls_server")
