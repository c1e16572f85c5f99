# SPDX-License-Identifier: Apache-2.0
"""What the machine tells of its CPUs, by how its kernel was booted: by itself, or with NETMODEL_VM_BOOT=tsc=noirqtime."""

from __future__ import annotations

from pathlib import Path

from nmtest import Netmodel, defines, master_of
from vmtest import need_machine


def test_accounting_of_interrupts_and_idle_states(netmodel: Netmodel) -> None:
    need_machine()
    is_off = "tsc=noirqtime" in Path("/proc/cmdline").read_text()
    host = master_of(netmodel.measure("tcp_rr", *defines(test_length="1s")))
    assert host["facts"]["irq_accounting"] == ("off" if is_off else "on")
    assert host["unhalted"]["source"] == "cpuidle"
    assert 0 < host["unhalted"]["busy"] <= 1.01
