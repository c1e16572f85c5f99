# SPDX-License-Identifier: Apache-2.0
"""The words shared by all parts: cases, commands, outcomes and measured figures."""

from __future__ import annotations

from dataclasses import dataclass, field

# Those of the tools themselves, then profiles in uperf's form, the same file for whoever reads it.
OWN_WORKLOADS = ("tcp_rr", "tcp_crr", "tcp_stream", "udp_rr", "udp_stream")
_PREFIX = "uperf_"
PROFILES = tuple(_PREFIX + name for name in ("tcp_rr", "tcp_stream", "udp_rr", "udp_stream"))
WORKLOADS = OWN_WORKLOADS + PROFILES
_MOST_STRANDS = 64


class BenchError(Exception):
    """A run that gave no usable figure; the text says why."""


@dataclass(frozen=True)
class Case:
    """One workload at one number of flows."""

    workload: str
    flows: int
    seconds: int
    buffer_bytes: int = 16384
    datagram_bytes: int = 1400

    @property
    def traffic(self) -> str:
        """What goes over the network, in whichever form it is asked for."""
        return self.workload.removeprefix(_PREFIX)

    @property
    def is_profile(self) -> bool:
        """Whether it is a profile in uperf's form."""
        return self.workload in PROFILES

    @property
    def is_sensible(self) -> bool:
        """uperf has a thread for each strand of a profile."""
        return not self.is_profile or self.flows <= _MOST_STRANDS

    @property
    def is_stream(self) -> bool:
        return self.traffic == "tcp_stream"

    @property
    def label(self) -> str:
        return f"{self.workload}, {self.flows} flow{'s' if self.flows != 1 else ''}"

    @property
    def unit(self) -> str:
        """What costs are given per: a transaction, 10^9 bytes, or a datagram that has arrived."""
        if self.is_stream:
            return "GB"
        return "datagram" if self.traffic == "udp_stream" else "transaction"

    @property
    def unit_size(self) -> float:
        """Counted things (transactions or bytes) in one unit."""
        return 1e9 if self.is_stream else 1.0


@dataclass(frozen=True)
class Place:
    """Where the two ends run. `separate` asks for two commands even of a tool that can be one."""

    client_cpu: int | None
    server_cpu: int | None
    workdir: str
    separate: bool = False


@dataclass(frozen=True)
class Commands:
    """The commands of one run. A tool that starts its own far end has no server command."""

    client: list[str]
    server: list[str] | None = None
    listens_on: int = 0  # TCP port that shows that the server is ready
    server_ends: bool = False  # the server ends by itself after one client
    pins_itself: bool = False  # the CPUs are already in the arguments


@dataclass(frozen=True)
class Outcome:
    """What a tool says that it did: `count` units, or bytes, and `rate` of them per second."""

    count: float
    rate: float


@dataclass
class Figures:
    """All figures of one tool in one case, one list entry a round."""

    rate: list[float] = field(default_factory=list)
    cpu_s: list[float] = field(default_factory=list)  # seconds of CPU per unit, both ends
    calls_client: list[float] = field(default_factory=list)
    calls_server: list[float] = field(default_factory=list)
    instructions: list[float] = field(default_factory=list)  # user space, client, per unit
    errors: list[str] = field(default_factory=list)


METRICS = ("rate", "cpu_s", "calls_client", "calls_server", "instructions")
