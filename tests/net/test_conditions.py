# SPDX-License-Identifier: Apache-2.0
"""Flowops that flags put into a profile, or leave out of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from nmtest import Netmodel, assert_complete, assert_ends_agree, defines, phase_of

WriteProfile = Callable[..., Path]

BODY = """
<param name="up" type="flag" default="yes" help="write"/>
<param name="down" type="flag" default="no" help="read"/>
<group name="one" nthreads="1">
  <transaction><flowop type="connect" options="remotehost=local"/></transaction>
  <transaction name="up" iterations="7"><flowop type="write" options="size=10 when=$up unless=$down"/></transaction>
  <transaction name="both" iterations="7">
    <flowop type="write" options="size=20 when=$up,$down"/>
    <flowop type="read" options="size=30 when=$down"/>
  </transaction>
  <transaction><flowop type="disconnect"/></transaction>
</group>
<group name="two" nthreads="1">
  <transaction><flowop type="connect" options="remotehost=local unless=$up,$down"/></transaction>
  <transaction><flowop type="disconnect" options="unless=$up,$down"/></transaction>
</group>
"""


@pytest.mark.parametrize(
    ("up", "down", "sent", "received"),
    [("yes", "no", 70, 0), ("yes", "yes", 140, 210), ("no", "yes", 0, 210)],
)
def test_flags_choose(
    netmodel: Netmodel, profile: WriteProfile, up: str, down: str, sent: int, received: int
) -> None:
    document = netmodel.measure(profile(BODY), *defines(up=up, down=down))
    assert_complete(document)
    assert_ends_agree(document)
    assert [group["name"] for group in document["groups"]] == ["one"]
    phases = [phase_of(document, name) for name in ("up", "both")]
    assert sum(phase["bytes_sent"] for phase in phases) == sent
    assert sum(phase["bytes_received"] for phase in phases) == received


def test_a_group_of_which_nothing_is_left_is_none(netmodel: Netmodel, profile: WriteProfile) -> None:
    document = netmodel.measure(profile(BODY), *defines(up="no", down="no"))
    assert_complete(document)
    assert [group["name"] for group in document["groups"]] == ["one", "two"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("when=perhaps", '<flowop nop> when="perhaps": not a flag: yes or no'),
        ("unless=no,,yes", "options are separated by blanks, not commas"),
        ("when=no", "<profile>: when and unless leave nothing of it"),
    ],
)
def test_refused(netmodel: Netmodel, profile: WriteProfile, options: str, message: str) -> None:
    path = profile(f'<group nthreads="1"><transaction><flowop type="nop" options="{options}"/></transaction></group>')
    assert message in netmodel.run("--check", "-m", path, code=1).err


def test_something_must_be_left_to_measure(netmodel: Netmodel) -> None:
    result = netmodel.run("--check", "-m", "tcp_stream", *defines(enable_write="no"), code=1)
    assert "when and unless leave nothing of any transaction with a duration" in result.err


def test_what_is_left_out_is_not_checked_as_a_whole(netmodel: Netmodel, profile: WriteProfile) -> None:
    """What it needs may be missing; but its words are read."""
    left_out = '<flowop type="write" options="when=no"/>'
    netmodel.run("--check", "-m", profile(BODY.replace("<transaction><flowop", f"<transaction>{left_out}<flowop", 1)), code=0)
    wrong = left_out.replace("when=no", "when=no sise=2")
    result = netmodel.run("--check", "-m", profile(BODY.replace("<transaction><flowop", f"<transaction>{wrong}<flowop", 1)), code=1)
    assert 'unknown option "sise"' in result.err
