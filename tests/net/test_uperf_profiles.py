# SPDX-License-Identifier: Apache-2.0
"""Profiles that uperf reads are read, whatever XML thinks of them, with a warning for each thing that was assumed.

A file of tests/profiles_uperf holds comments that say what is to be told about it, one for each warning, in order:
`expect: LINE: MESSAGE`.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from nmtest import UPERF_PROFILES, Netmodel

FILES = sorted(UPERF_PROFILES.glob("*.xml"))
ENVIRONMENT = {"h": "local", "iter": "3"}


def expected_of(path: Path) -> list[str]:
    found = re.findall(r"<!-- expect: (\d+): (.*?) -->", path.read_text())
    return [f"{path}:{line}: warning: {message}" for line, message in found]


def test_there_are_enough() -> None:
    assert len(FILES) >= 6


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_a_profile_of_uperf(netmodel: Netmodel, path: Path) -> None:
    assert expected_of(path), "the file does not say what to expect"
    result = netmodel.run("-m", path, "--check", env=ENVIRONMENT, code=0)
    assert result.lines() == expected_of(path)


@pytest.mark.parametrize("stem", ["case", "no-end-tags", "no-profile", "no-quotes"])
def test_it_runs(netmodel: Netmodel, stem: str) -> None:
    path = UPERF_PROFILES / f"{stem}.xml"
    result = netmodel.run("-m", path, "--format", "json", env=ENVIRONMENT, code=0)
    assert result.json()["run"]["complete"] is True
    told = result.lines()
    form = rf"{path}: warning: (\d+) places are not well-formed XML, .*; --check lists them"
    places = [re.fullmatch(form, line) for line in told]
    others = [line for line, match in zip(told, places, strict=True) if not match]
    counted = [int(match[1]) for match in places if match]
    assert len(counted) <= 1 and set(others) < set(expected_of(path))
    assert len(others) + sum(counted) == len(expected_of(path)), told


GROUP = (
    '<group nthreads="1"><transaction><flowop type="connect" options="remotehost={}"/>'
    '<flowop type="disconnect"/></transaction></group>'
)


def check(netmodel: Netmodel, tmp_path: Path, text: str, *args: str, env: dict[str, str], code: int) -> list[str]:
    path = tmp_path / "p.xml"
    path.write_text(text)
    result = netmodel.run("-m", path, "--check", *args, env=env, code=code)
    return [line.removeprefix(f"{path}:") for line in result.lines()]


def test_variables_are_those_of_uperf(netmodel: Netmodel, tmp_path: Path) -> None:
    text = f"<profile>\n{GROUP.format('$HOST')}</profile>"
    assert check(netmodel, tmp_path, text, env={"host": "a"}, code=0) == []
    assert check(netmodel, tmp_path, text, env={"HOST": "a"}, code=0) == []
    assert check(netmodel, tmp_path, text, "-D", "host=a", env={}, code=0) == []
    assert check(netmodel, tmp_path, text, "-D", "HOST=a", env={"host": "b"}, code=0) == []
    assert check(netmodel, tmp_path, text, env={"host": "a", "HOST": "b"}, code=0) == [
        '2: warning: $HOST: the environment has host="a" and HOST="b"; host counts, as for uperf'
    ]
    assert check(netmodel, tmp_path, text, "-D", "Host=a", env={}, code=1) != []
    assert check(netmodel, tmp_path, text, env={}, code=1) == [
        '2: error: <flowop> options="remotehost=$HOST": $HOST has no value: give one with -D HOST=VALUE '
        "or in the environment"
    ]


def test_an_empty_variable_is_no_attribute(netmodel: Netmodel, tmp_path: Path) -> None:
    text = f"<profile>\n{GROUP.format('a')}</profile>".replace('"1"', '"$n"')
    assert check(netmodel, tmp_path, text, env={"n": ""}, code=1)[0].startswith(
        '2: error: <group> nthreads="$n": $n has no value'
    )


def test_hosts_are_kept_as_they_are_written(netmodel: Netmodel, tmp_path: Path) -> None:
    path = tmp_path / "p.xml"
    path.write_text(f"<profile name='Label'>{GROUP.format('Host.Example')}</profile>")
    plan = netmodel.run("-m", path, "--dump-plan", code=0).out
    assert "Host.Example" in plan
    assert "Label" in plan
