# SPDX-License-Identifier: Apache-2.0
"""Studies in files, and each mistake with its line and column."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import Lab

from netmodel_lab.problems import UsageProblem
from netmodel_lab.studyfile import read

GOOD = """\
# what a server does with more flows
study: 1
name: flows
profile: tcp_rr
params: {test_length: 20ms, no_delay: yes}
dimensions:
  - {name: num_flows, geometric: {from: 1, to: 4, factor: 2}}
  - {name: request_size, values: [64, 1k]}
  - name: sizes
    zip:
      - {response_size: 1, pipeline: 2}
      - {response_size: 1_0, pipeline: 1}
repeat: 2
order: {kind: random, seed: 42}
limits: {run: 10s}
"""
BAD = """\
study: 2
nmae: flows
profile: tcp_rr
params:
  test_length: soon
  test_length: 1s
dimensions:
  - {name: num_flows, geometric: {from: 1, to: 64, facter: 4}}
  - {name: request_size}
  - {name: response_size, values: []}
  - {name: pipeline, values: 5..1}
  - zip:
      - {num_threads: 1, wait: spin}
      - {num_threads: 2}
repeat: many
order: {kind: shuffled}
limits: !seconds 5
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "study.yaml"
    path.write_text(text)
    return path


def test_a_study(tmp_path: Path, lab: Lab) -> None:
    write(tmp_path, GOOD.replace("1_0", "10"))
    done = lab("plan", "study.yaml", "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    study = document["study"]
    assert (study["name"], study["order"]) == ("flows", {"kind": "random", "seed": 42})
    assert study["params"] == {"test_length": "20ms", "no_delay": "yes"}
    assert study["limits"]["run_s"] == 10
    assert len(document["points"]) == 3 * 2 * 2 * 2
    assert study["dimensions"][2] == {
        "names": ["response_size", "pipeline"],
        "values": [["1", "2"], ["10", "1"]],
        "sets": None,
    }


def test_words_add_to_it_and_replace(tmp_path: Path, lab: Lab) -> None:
    write(tmp_path, GOOD.replace("1_0", "10"))
    words = ("num_flows=8", "num_threads=1", "--set", "test_length=1s", "--repeat", "1", "--order", "given")
    document = json.loads(lab("plan", "study.yaml", "--json", *words).stdout)
    study = document["study"]
    assert [part["names"] for part in study["dimensions"]] == [
        ["request_size"],
        ["response_size", "pipeline"],
        ["num_flows"],
        ["num_threads"],
    ]
    assert study["params"] == {"no_delay": "yes", "test_length": "1s"}
    assert (len(document["points"]), study["order"]) == (4, {"kind": "given", "seed": 42})


def test_all_mistakes_have_their_place(tmp_path: Path) -> None:
    path = write(tmp_path, BAD)
    found = [str(mistake).removeprefix(f"{path}:") for mistake in read(path).mistakes]
    assert found == [
        "1:8: study: \"2\": must be '1'",
        "2:1: nmae: there is no such key; did you mean name?",
        "6:3: params.test_length: is there twice",
        "8:52: dimensions[0].geometric.facter: there is no such key; did you mean factor?",
        "9:5: dimensions[1]: has no values; one of values, range, geometric, zip, choices says what it varies",
        "10:35: dimensions[2].values: an empty list",
        '11:30: dimensions[3].values: "5..1": the end comes before the begin',
        "12:5: dimensions[4]: name is missing",
        "14:9: dimensions[4].zip[1]: has num_threads, and the first has num_threads, wait: all change together",
        '15:9: repeat: "many": must be a whole number',
        "16:15: order.kind: \"shuffled\": must be 'blocks', 'random' or 'given'",
        "17:9: limits: !seconds: tags are not taken",
        '17:9: limits: "5": must be keys and values',
    ]


def test_what_netmodel_does_not_take_has_its_place_too(tmp_path: Path, lab: Lab) -> None:
    write(tmp_path, GOOD.replace("test_length: 20ms", "test_length: soon").replace("[64, 1k]", "[64, big]"))
    done = lab("run", "study.yaml")
    assert done.returncode == 2
    assert [line.partition(": a number and")[0] for line in done.stderr.splitlines()] == [
        'netmodel-lab: study.yaml:5:23: params.test_length: test_length=soon: value "soon" (from -D): not a duration',
        'netmodel-lab: study.yaml:8:39: dimensions[1].values[1]: request_size=big: value "big" (from -D): not a size',
        'netmodel-lab: study.yaml:12:9: dimensions[2].zip[1]: response_size,pipeline=1_0:1: value "1_0" (from -D): not '
        "a size",
    ]
    assert [path.name for path in tmp_path.iterdir()] == ["study.yaml"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("study: [1", "1:10: expected ',' or ']', but got '<stream end>'"),
        ("- 1", "1:1: must be keys and values"),
        ("", "1:1: study is missing"),
    ],
)
def test_what_is_no_study(tmp_path: Path, text: str, says: str) -> None:
    path = write(tmp_path, text)
    try:
        found = [str(mistake) for mistake in read(path).mistakes]
    except UsageProblem as problem:
        found = problem.lines
    assert found[0] == f"{path}:{says}"
