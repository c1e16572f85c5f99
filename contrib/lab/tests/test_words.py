# SPDX-License-Identifier: Apache-2.0
"""Numbers as people read them, and the scale that a chart gives them."""

from __future__ import annotations

import pytest

from netmodel_lab.page.charts import _limits
from netmodel_lab.words import interval, plain, with_unit


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (31400, "1/s", "31.4 k/s"),
        (1000, "", "1.00 k"),
        (28.2, "MB/s", "28.2 MB/s"),
        (1350, "us", "1.35 ms"),
        (2.5e6, "us", "2.50 s"),
        (16.6, "us", "16.6 us"),
        (200, "% of a CPU", "200 %"),
        (0, "1/s", "0 /s"),
        (None, "us", "-"),
    ],
)
def test_a_value_with_its_unit(value: float | None, unit: str, text: str) -> None:
    assert with_unit(value, unit) == text


def test_a_plain_value() -> None:
    assert [plain(value) for value in (None, 0, 7, 1234, 0.01234)] == ["-", "0", "7.00", "1.23 k", "0.0123"]


@pytest.mark.parametrize(
    ("centre", "low", "high", "unit", "text"),
    [
        (3400, 2330, 4940, "us", "3.40 ms (2.33 .. 4.94)"),
        (8130, 5590, 11800, "1/s", "8.13 k/s (5.59 .. 11.8)"),
        (950, 500, 2000, "us", "950 us (500 .. 2000)"),
        (28.2, 10, 80, "MB/s", "28.2 MB/s (10.0 .. 80.0)"),
        (100, 97, 103, "us", "100 us ±3.0 %"),
        (950, 0.5, 11812, "us", "950 us (0.500 .. 11800)"),
        (12, 9.996, 99.96, "us", "12.0 us (10.0 .. 100)"),
        (100, None, None, "us", "100 us"),
    ],
)
def test_an_interval_is_in_the_unit_of_its_centre(
    centre: float, low: float | None, high: float | None, unit: str, text: str
) -> None:
    assert interval(centre, low, high, unit) == text


def test_an_axis_shows_runs_and_intervals_that_are_not_much_longer() -> None:
    assert _limits([10, 12, 14], [9, 15]) == (9, 15)
    assert _limits([10, 12, 14], [-900, 1000]) == (8, 16)
    assert _limits([10, 12, 14], [11, 13]) == (10, 14)
    assert _limits([10], []) == (10, 10)


def test_a_logarithmic_axis_has_its_room_in_logarithms() -> None:
    runs = [1, 2, 10000]
    assert _limits(runs, [1e-9, 1e9]) == pytest.approx((0.01, 1e6))
    assert _limits(runs, [-5, 20000]) == pytest.approx((0.01, 20000))
