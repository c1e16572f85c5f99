# SPDX-License-Identifier: Apache-2.0
"""Dimensions as they are typed."""

from __future__ import annotations

import pytest

from netmodel_lab.grammar import parse_dimension
from netmodel_lab.problems import Mistake
from netmodel_lab.values import number


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1,2,4", "1 2 4"),
        ("1..5", "1 2 3 4 5"),
        ("0..10+5", "0 5 10"),
        ("1..8*2", "1 2 4 8"),
        ("1,2,4..512", "1 2 4 8 16 32 64 128 256 512"),
        ("1,2..8", "1 2 4 8"),
        ("10,20,30..60", "10 20 30 40 50 60"),
        ("1,3..27", "1 3 9 27"),
        ("1k..4k*2", "1k 2k 4k"),
        ("100ms..300ms+100", "100ms 200ms 300ms"),
        ("0.5..1.5+0.5", "0.5 1 1.5"),
        ("64,1k,1Mi,200ms", "64 1k 1Mi 200ms"),
        ("cubic,bbr", "cubic bbr"),
        ("../a.xml,b.xml", "../a.xml b.xml"),
        ("1..1", "1"),
    ],
)
def test_values(text: str, values: str) -> None:
    mistakes: list[Mistake] = []
    found = parse_dimension(f"n={text}", mistakes)
    assert not mistakes
    assert found
    assert [value for (value,) in found.values] == values.split()
    assert not found.notes


def test_zip() -> None:
    found = parse_dimension("size,count=64:1,1k:4", [])
    assert found
    assert found.names == ("size", "count")
    assert found.values == (("64", "1"), ("1k", "4"))


def test_an_end_that_is_not_hit_is_told() -> None:
    found = parse_dimension("n=1..10*3", [])
    assert found
    assert [value for (value,) in found.values] == ["1", "3", "9"]
    assert found.notes == ("1..10*3 is 1, 3, 9 at its end: 10 is not one of them",)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("n", "a dimension is NAME=VALUE,VALUE,... as num_flows=1,2,4"),
        ("n=", "an empty list"),
        ("n=1,,2", "an empty value in the list"),
        ("n=1,2,1", "1: there twice"),
        ("n,n=1:2", "a name is there twice"),
        ("n=5..1", '"5..1": the end comes before the begin'),
        ("n=1..4*1", '"1..4*1": never comes to its end'),
        ("n=0..4*2", '"0..4*2": never comes to its end'),
        ("n=1..9+0", '"1..9+0": never comes to its end'),
        ("n=1..x", '"1..x": a range is A..B, A..B+STEP or A..B*FACTOR'),
        ("n=512..8k*2", '"512..8k*2": both ends in one unit, as 512..8'),
        ("n=10,20..100", '"10,20..100": says neither a step nor a factor; write 20..100+STEP or 20..100*FACTOR'),
        ("n=1..99999999", '"1..99999999": more than 10000 values'),
        ("a,b=1:2,3", '"3": 2 values with ":" between them, one for each name'),
    ],
)
def test_mistakes(text: str, says: str) -> None:
    mistakes: list[Mistake] = []
    assert parse_dimension(text, mistakes) is None
    assert [str(mistake) for mistake in mistakes] == [f"{text}: {says}"]


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("64", "size", 64),
        ("1k", "size", 1024),
        ("1k", "count", 1000),
        ("1Ki", "count", 1024),
        ("200ms", "duration", 0.2),
        ("5", "duration", 5),
        ("2min", "duration", 120),
        ("10Gb/s", "bitrate", 1e10),
        ("cubic", "string", None),
        ("10:30", "", None),
    ],
)
def test_numbers(text: str, kind: str, value: float | None) -> None:
    assert number(text, kind) == (None if value is None else pytest.approx(value))
