# SPDX-License-Identifier: Apache-2.0
"""The order of the points, and their names."""

from __future__ import annotations

from collections import Counter

from netmodel_lab.plan import make_plan
from netmodel_lab.study import Kind, Order, Study, Varied

DIMENSIONS = (
    Varied(names=("a",), values=(("1",), ("2",), ("3",))),
    Varied(names=("b", "c"), values=(("x", "1"), ("y", "2"))),
)


def study(kind: Kind, seed: int = 1) -> Study:
    return Study(name="s", profile="p", dimensions=DIMENSIONS, repeat=4, order=Order(kind=kind, seed=seed))


def test_each_block_has_each_cell_once_and_its_own_order() -> None:
    plan = make_plan(study("blocks"))
    assert [point.seq for point in plan] == list(range(1, 25))
    orders = [[point.cell for point in plan if point.block == block] for block in range(1, 5)]
    assert [point.block for point in plan] == sorted(point.block for point in plan)
    assert all(sorted(order) == sorted(orders[0]) and len(set(order)) == 6 for order in orders)
    assert len({tuple(order) for order in orders}) > 1


def test_random_mixes_blocks_and_given_does_not_shuffle() -> None:
    mixed = [point.block for point in make_plan(study("random"))]
    assert mixed != sorted(mixed)
    given = make_plan(study("given"))
    assert [point.dimensions for point in given[:5]] == [{"a": "1", "b": "x", "c": "1"}] * 4 + [
        {"a": "1", "b": "y", "c": "2"}
    ]


def test_a_seed_is_an_order_and_names_do_not_depend_on_it() -> None:
    first, again, other = (make_plan(study("blocks", seed)) for seed in (1, 1, 2))
    assert first == again
    assert [point.point for point in first] != [point.point for point in other]
    assert {point.point for point in first} == {point.point for point in other}
    assert len({point.point for point in first}) == 24
    assert set(Counter(point.cell for point in first).values()) == {4}


def test_parameters_are_those_of_the_study_and_of_the_cell() -> None:
    plan = make_plan(study("given").model_copy(update={"params": {"a": "0", "z": "9"}}))
    assert plan[0].params == {"a": "1", "z": "9", "b": "x", "c": "1"}
