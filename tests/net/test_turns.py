# SPDX-License-Identifier: Apache-2.0
"""However a flow waits and whoever makes the last pass, no flow is forgotten."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from compose import check, connect, group, lasting, op, opened, read, times, write
from nmtest import Netmodel, defines, phase_of

WriteProfile = Callable[..., Path]
STALLS = ("--timeout", "4s")


@pytest.mark.parametrize(
    "params",
    [
        {"response_size": "4m"},
        {"request_size": "3m", "response_size": "3m"},
        {"request_size": "64k", "response_size": "1m", "pipeline": 4},
    ],
    ids=["long answers", "long both", "pipelined"],
)
def test_a_lone_flow_finds_no_room_to_send_again_and_again(netmodel: Netmodel, params: dict[str, object]) -> None:
    """Also once it waits in the receive itself, which it does after some hundred passes."""
    check(netmodel.measure("tcp_rr", *defines(num_transactions=400, **params), *STALLS))


@pytest.mark.parametrize("protocol", ["tcp sndbuf=32k mss=1400", "unix"])
def test_so_does_one_over_other_sockets(netmodel: Netmodel, profile: WriteProfile, protocol: str) -> None:
    body = times(300, write(1), read("300k"))
    path = profile(opened(body, opening=connect(options=f"protocol={protocol}")))
    document = check(netmodel.measure(path, *STALLS))
    assert phase_of(document, "counted")["transactions"] == 300


def test_the_time_may_end_before_so_many_passes_are_made(netmodel: Netmodel, profile: WriteProfile) -> None:
    """The last pass of the phase may be the last that one of its flows is to make."""
    data = lasting("3ms", op("write", "size=rand(368,19693)"), more='total="1000"')
    flows = group('<transaction iterations="1">' + connect() + "</transaction>", data, times(1, op("disconnect"), name="end"))
    path = profile(flows.replace('nthreads="1"', 'nthreads="3" nflows="60"'))
    for _ in range(8):
        assert phase_of(check(netmodel.measure(path, *STALLS)), "timed")["transactions"] <= 1000


def test_what_a_flow_once_waited_for_does_not_run_it_twice(netmodel: Netmodel) -> None:
    """Requests on a schedule, with answers that come in so many parts that others have their turn in between."""
    params = defines(
        num_flows=5, pipeline=8, delay="1ms", response_size="64k", buffer_size=1000, test_length="400ms"
    )
    for _ in range(5):
        check(netmodel.measure("tcp_rr", *params, *STALLS))
