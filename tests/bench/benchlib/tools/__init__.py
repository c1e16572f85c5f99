# SPDX-License-Identifier: Apache-2.0
"""One adapter a tool."""

from __future__ import annotations

from .bare import Bare
from .base import Tool
from .iperf3 import Iperf3
from .neper import Neper
from .netmodel import Baseline, Netmodel
from .netperf import Netperf
from .sockperf import Sockperf
from .uperf import Uperf

PEERS: tuple[type[Tool], ...] = (Neper, Uperf, Netperf, Iperf3, Sockperf, Bare, Baseline)

__all__ = ["PEERS", "Bare", "Baseline", "Iperf3", "Neper", "Netmodel", "Netperf", "Sockperf", "Tool", "Uperf"]
