# SPDX-License-Identifier: Apache-2.0
"""What the program prints is what tests/record has; ./quickstart record makes it again where it was meant to change."""

from __future__ import annotations

import pytest

from nmtest import Netmodel
from recording import FOLDER, RECORD, difference, mask, merged, outline, seen


def recorded(name: str) -> list[list[str]]:
    """The lines of each command line of a record."""
    commands: list[list[str]] = []
    for line in (FOLDER / f"{name}.txt").read_text().splitlines():
        if line.startswith("  $ "):
            commands.append([])
        commands[-1].append(line)
    return commands


def test_each_record_has_a_file() -> None:
    assert sorted(path.stem for path in FOLDER.glob("*.txt")) == sorted(RECORD)


@pytest.mark.parametrize(("name", "number"), [(name, number) for name in RECORD for number in range(len(RECORD[name]))])
def test_it_prints_what_it_printed(netmodel: Netmodel, name: str, number: int) -> None:
    of_file = recorded(name)
    assert len(of_file) == len(RECORD[name]), "./quickstart record"
    changed = difference(of_file[number], seen(netmodel, RECORD[name][number]))
    assert not changed, "\n".join([of_file[number][0], *changed])


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("  latency       min 14.6 us  mean 677 us", "  latency  min #s  mean #s"),
        ("  throughput    sent 1.55 Gb/s", "  throughput  sent #b/s"),
        ("  transactions  1476/s  (172 in 116 ms)", "  transactions  #/s  (# in #s)"),
        ("  master      -  72.0%", "  master  #  #%"),
        ("p50 1.47 k  p99.9 3", "p50 #  p99.9 #"),
        ("1,0.000000,1.2e-05,tcp_rr", "#,#,#,tcp_rr"),
        ("Thr12   master  lookup", "ThrN  master  lookup"),
    ],
)
def test_figures_are_masked_and_names_are_not(line: str, expected: str) -> None:
    assert mask(line) == expected


def test_a_member_that_comes_later_has_its_place() -> None:
    document = {"a": [{"x": 1, "z": None}, {"x": 2, "y": True, "z": None}], "b": "text"}
    assert outline(document) == ["a[].x #", "a[].y true", "a[].z null", 'b "text"']


def test_a_change_is_found() -> None:
    lines = [(line, False) for line in ("one", "two", "three")]
    record = [f"{'? ' if optional else '  '}{line}" for line, optional in merged(lines, ["one", "three", "four"])]
    assert record == ["  one", "? two", "  three", "? four"]
    assert not difference(record, ["one", "three"])
    assert not difference(record, ["one", "two", "three", "four"])
    assert "-one" in difference(record, ["three"])
    assert "+five" in difference(record, ["one", "three", "five"])
    assert difference(record, ["three", "one"])
