# SPDX-License-Identifier: Apache-2.0
"""Several requests of applications outstanding on a connection, whose answers come in order: at servers that count them, and at some that answer badly."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from keyed import asking, counts
from nmtest import Netmodel, assert_complete, phase_of
from partners import redis
from test_outcomes import assert_adds_up

WriteProfile = Callable[..., Path]


def pipelined(depth: int, *args: object, **more: object) -> str:
    """As asking, with so many requests outstanding, also while the keyspace is filled."""
    body = asking(*args, **more)  # type: ignore[arg-type]
    return body.replace('fill="k">', f'fill="k" pipeline="{depth}">').replace('duration="200ms"', f'duration="200ms" pipeline="{depth}"')


@pytest.mark.parametrize(("depth", "flows"), [(2, 1), (16, 1), (16, 7), (100, 3)])
def test_redis_counts_the_same(depth: int, flows: int, netmodel: Netmodel, profile: WriteProfile) -> None:
    with redis() as server:
        body = pipelined(depth, "redis", '<flowop type="get" options="keys=k verify"/>', f"server={server.server}", f"nflows='{flows}'", 95, fill="size=10")
        document = netmodel.measure(profile(body), "-f")
        calls = server.calls()
    assert_complete(document)
    assert_adds_up(document)
    ask = phase_of(document, "ask")
    assert ask["outcomes"]["hits"] == ask["outcomes"]["requests"] == ask["transactions"] == calls["get"] > 100
    assert phase_of(document, "fill")["transactions"] == calls["set"] == 95
    assert ask["latency_s"]["count"] == ask["verbs"][0]["latency_s"]["count"] == calls["get"]
    assert counts(document)["misses"] == 0
