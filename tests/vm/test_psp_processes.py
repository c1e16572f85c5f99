# SPDX-License-Identifier: Apache-2.0
"""PSP where each worker is a process of its own, which makes its keys known to the kernel by itself."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from nmtest import Netmodel, children, defines, master_of
from psptest import Pair, assert_went_over_psp, completed, rotate, run
from vmtest import rr

Profile = Callable[[str], Path]


def processes(body: str, count: int = 3, flows: int = 6, opener: str = "connect") -> str:
    return f"""<group nprocs="{count}" nflows="{flows}">
  <transaction name="open" iterations="1"><flowop type="{opener}" options="remotehost=$h protocol=psp"/></transaction>
  {body}
  <transaction name="close" iterations="1"><flowop type="disconnect"/></transaction>
</group>"""


@pytest.mark.parametrize("family", ["IPv4", "IPv6"])
@pytest.mark.parametrize("opener", ["connect", "accept"])
def test_workers_that_are_processes(netmodel: Netmodel, pair: Pair, profile: Profile, opener: str, family: str) -> None:
    before = [pair.control(side, "show") for side in (0, 1)]
    document = run(
        netmodel, pair, profile(processes(rr(attributes='iterations="40"'), opener=opener)), family=family, h="h"
    )
    own = master_of(document)["groups"][0]
    assert own["connects" if opener == "connect" else "accepts"] == 6
    assert own["bytes_sent"] == 6 * 40 * 100
    assert_went_over_psp(pair, before, document)


def test_processes_that_connect_for_each_pass(netmodel: Netmodel, pair: Pair, profile: Profile) -> None:
    before = [pair.control(side, "show") for side in (0, 1)]
    body = """<transaction name="crr" iterations="5">
      <flowop type="connect" options="remotehost=$h protocol=psp"/><flowop type="secure"/>
      <flowop type="write" options="size=100"/><flowop type="read" options="size=1000"/>
      <flowop type="disconnect" options="close=rst"/></transaction>"""
    path = profile(f'<group nprocs="2" nflows="4">{body}</group>')
    document = run(netmodel, pair, path, h="h")
    assert master_of(document)["groups"][0]["connects"] == 4 * 5
    assert_went_over_psp(pair, before, document)


def test_processes_replace_their_connections(netmodel: Netmodel, pair: Pair, profile: Profile) -> None:
    """They are told of rotations by the process that has begun them."""
    path = profile(processes(rr(attributes='duration="8s"')))
    with netmodel.slave("--no-auth", prefix=pair.prefix(1)) as slave:
        words = (*defines(h=pair.addresses["IPv4"][1]), "-P", str(slave.port), "-v", "--format", "json")
        with netmodel.started("-m", path, *words, prefix=pair.prefix(0)) as process:
            process.wait_line("phase 2 of 3 begins")
            rotate(pair, process, (0, 1, 1))
            done = process.finish()
    document = completed(done)
    # On a slow machine the next one may come when the old connection is still there.
    assert 6 * (1 + 1) <= master_of(document)["groups"][0]["connects"] <= 6 * (1 + 3)
    assert [host["psp"][0]["key_rotations"] for host in document["hosts"]] == [1, 2]


@pytest.mark.parametrize("side", [0, 1])
def test_a_device_that_goes_under_processes(netmodel: Netmodel, pair: Pair, profile: Profile, side: int) -> None:
    path = profile(processes(rr(attributes='duration="60s"')))
    with netmodel.slave("--no-auth", prefix=pair.prefix(1)) as slave:
        words = (*defines(h=pair.addresses["IPv4"][1]), "-P", str(slave.port), "-v")
        with netmodel.started("-m", path, *words, prefix=pair.prefix(0)) as process:
            process.wait_line("phase 2 of 3 begins")
            pair.register_anew(side)
            done = process.finish()
    assert done.code == 2
    assert "has gone, and with it all its keys" in done.err


def test_a_process_that_is_killed(netmodel: Netmodel, pair: Pair, profile: Profile) -> None:
    path = profile(processes(rr(attributes='duration="60s"')))
    with netmodel.slave("--no-auth", prefix=pair.prefix(1)) as slave:
        words = (*defines(h=pair.addresses["IPv4"][1]), "-P", str(slave.port), "-v")
        with netmodel.started("-m", path, *words, prefix=pair.prefix(0)) as process:
            process.wait_line("phase 2 of 3 begins")
            os.kill(children(process.pid)[-1], signal.SIGKILL)
            done = process.finish()
    assert done.code == 2
    assert "was ended by signal 9" in done.err
