# SPDX-License-Identifier: Apache-2.0
"""netmodel-lab k8s: tests that a list has twice, and profiles of one's own."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

pytest.importorskip("kubernetes", reason="the Kubernetes client is not installed; requirements-dev.txt has it")

from netmodel_lab.k8s import options
from netmodel_lab.k8s.settings import Settings, points
from netmodel_lab.problems import UsageProblem


def asked(tmp_path: Path, text: str, *words: str) -> Settings:
    (tmp_path / "list.yml").write_text(text)
    parser = argparse.ArgumentParser()
    options.add_tests(parser)
    return options.settings(parser.parse_args([str(tmp_path / "list.yml"), *words]))


def mistakes(tmp_path: Path, text: str, *words: str) -> list[str]:
    with pytest.raises(UsageProblem) as caught:
        asked(tmp_path, text, *words)
    return [line.removeprefix(f"{tmp_path}/") for line in caught.value.lines]


def entry(name: str, more: str = "", size: str = "64") -> str:
    return (
        f"  - {{{name}: , profile: TCP_RR, duration: 1, samples: 2, messagesize: {size}, parallelism: 1"
        + (f", {more}" if more else "")
        + "}\n"
    )


def test_equal_tests_are_refused(tmp_path: Path) -> None:
    text = "tests:\n" + entry("a") + entry("b") + entry("a", "service: true") + entry("c", size="[1, 2, 1]")
    assert mistakes(tmp_path, text) == [
        "list.yml:3:5: b: TCP_RR 64 B, parallelism 1, 1 s: is the same as a before; more samples are those of its "
        "samples key",
        "list.yml:5:5: c: TCP_RR 1 B, parallelism 1, 1 s: is the same as c before; more samples are those of its "
        "samples key",
    ]


def test_a_test_through_a_service_twice(tmp_path: Path) -> None:
    text = "tests:\n" + entry("a") + entry("b", "service: true")
    assert len(points(asked(tmp_path, text))) == 4
    assert mistakes(tmp_path, text, "--paths", "pod,service") == ["b: service: is the same as a with --paths service"]
