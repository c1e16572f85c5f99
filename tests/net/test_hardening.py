# SPDX-License-Identifier: Apache-2.0
"""The program is built so that a mistake in it is harder to use: what configure chooses unless it is told otherwise."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from nmtest import Netmodel

pytestmark = pytest.mark.needs("readelf")


def is_instrumented(binary: Path) -> bool:
    """Whether it is a build with sanitizers, which have their own ways, or one that was told --disable-hardening."""
    return b"__asan_init" in binary.read_bytes() or b"__tsan_init" in binary.read_bytes()


def read(netmodel: Netmodel, *options: str) -> str:
    if is_instrumented(netmodel.binary):
        pytest.skip("sanitizers have their own ways")
    command = ["readelf", "--wide", *options, str(netmodel.binary)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_it_can_be_loaded_anywhere(netmodel: Netmodel) -> None:
    assert "DYN (Position-Independent Executable file)" in read(netmodel, "--file-header")
    assert " PIE" in read(netmodel, "--dynamic")


def test_no_table_of_functions_can_be_written_to(netmodel: Netmodel) -> None:
    assert "GNU_RELRO" in read(netmodel, "--program-headers")
    assert "BIND_NOW" in read(netmodel, "--dynamic")


def test_no_stack_can_be_run(netmodel: Netmodel) -> None:
    stack = next(line for line in read(netmodel, "--program-headers").splitlines() if "GNU_STACK" in line)
    assert " RW " in stack


def test_stacks_are_guarded_and_sizes_are_known(netmodel: Netmodel) -> None:
    symbols = read(netmodel, "--dyn-syms")
    assert "__stack_chk_fail" in symbols
    assert "__memcpy_chk" in symbols
    assert "__snprintf_chk" in symbols
