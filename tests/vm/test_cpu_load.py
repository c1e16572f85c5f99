# SPDX-License-Identifier: Apache-2.0
"""What the machine tells of its CPUs, by how its kernel was booted: by itself, or with NETMODEL_VM_BOOT=tsc=noirqtime."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from known_load import measure
from nmtest import Netmodel
from vmtest import need_machine


def test_cpus_under_a_known_load(netmodel: Netmodel, profile: Callable[[str], Path]) -> None:
    need_machine()
    is_off = "tsc=noirqtime" in Path("/proc/cmdline").read_text()
    seen = measure(netmodel, profile)
    assert seen.host["facts"]["irq_accounting"] == ("off" if is_off else "on")
    assert seen.host["unhalted"]["source"] == "cpuidle"
    seen.check()
    loop, flood = (seen.share_of(load.cpu) for load in seen.loads)
    assert flood["softirq"] > loop["softirq"]
