# SPDX-License-Identifier: Apache-2.0
"""One adapter a tool."""

from __future__ import annotations

from .ab import Ab
from .bare import Bare
from .base import Client, Tool
from .dnsperf import Dnsperf
from .iperf3 import Iperf3
from .memtier import Memtier
from .neper import Neper
from .netmodel import Baseline, Netmodel
from .netperf import Netperf
from .redis_benchmark import RedisBenchmark
from .sockperf import Sockperf
from .uperf import Uperf
from .wrk import Wrk

PEERS: tuple[type[Tool], ...] = (Neper, Uperf, Netperf, Iperf3, Sockperf, Bare, Baseline)
CLIENTS: tuple[type[Client], ...] = (Memtier, RedisBenchmark, Wrk, Ab, Dnsperf)

__all__ = ["CLIENTS", "PEERS", "Bare", "Baseline", "Client", "Iperf3", "Neper", "Netmodel", "Netperf", "Sockperf", "Tool", "Uperf"]
