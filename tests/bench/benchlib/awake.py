# SPDX-License-Identifier: Apache-2.0
"""Keep idle CPUs from falling asleep, for whichever tool runs: CPU latency QoS of Linux."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_DEVICE = "/dev/cpu_dma_latency"
_DRIVER = Path("/sys/devices/system/cpu/cpuidle/current_driver")


def can_keep_awake() -> bool:
    """Whether this user may, and the kernel has a driver that it would make a difference to."""
    return os.access(_DEVICE, os.W_OK) and _DRIVER.exists() and _DRIVER.read_text().strip() != "none"


@contextmanager
def kept_awake() -> Iterator[None]:
    """No idle CPU of the machine enters a state that takes any time to leave."""
    device = os.open(_DEVICE, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(device, struct.pack("i", 0))
        yield
    finally:
        os.close(device)
