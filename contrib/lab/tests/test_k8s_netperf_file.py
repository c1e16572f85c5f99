# SPDX-License-Identifier: Apache-2.0
"""netmodel-lab k8s: the forms of a list of tests, and all its mistakes at once."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("kubernetes", reason="the Kubernetes client is not installed; requirements-dev.txt has it")

from k8s_examples import STREAM, V1, V2

from netmodel_lab.k8s import netperf_file
from netmodel_lab.k8s.netperf_file import Test
from netmodel_lab.problems import UsageProblem


def read(tmp_path: Path, text: str) -> list[Test]:
    path = tmp_path / "list.yml"
    path.write_text(text)
    return netperf_file.read(path)


def mistakes(tmp_path: Path, text: str) -> list[str]:
    with pytest.raises(UsageProblem) as caught:
        read(tmp_path, text)
    return [line.removeprefix(f"{tmp_path}/") for line in caught.value.lines]


def test_both_forms_of_lists(tmp_path: Path) -> None:
    first, second = read(tmp_path, V2)
    assert first == STREAM
    assert (second.name, second.burst, second.service, second.parallelism) == ("bursts", 3, True, 2)
    assert read(tmp_path, V1) == [STREAM]


def test_all_mistakes_of_a_list_at_once(tmp_path: Path) -> None:
    text = """a:
  profile: tcp_stream
  duration: 0
  samples: 1
  messagesize: 1
b:
  profile: XTCP_RRX
  duration: 1
  samples: true
  messagesize: 1
  parallelism: 1
  paralelism: 2
c:
  profile: UDP_CRR
  duration: 1
  samples: 1
  messagesize: 1
  parallelism: 1
d:
  profile: UDP_STREAM
  duration: 1
  samples: 1
  messagesize: 70000
  parallelism: 1
  burst: 2
"""
    found = mistakes(tmp_path, text)
    assert found == [
        "list.yml:2:12: a: profile: tcp_stream: there is no such profile; did you mean TCP_STREAM?",
        'list.yml:3:13: a: duration: "0": must be 1 to 86400',
        "list.yml:1:1: a: parallelism is missing",
        "list.yml:12:3: b: paralelism: there is no such key; did you mean parallelism?",
        "list.yml:7:12: b: profile: XTCP_RRX: there is no such profile; did you mean TCP_RR?",
        "list.yml:9:12: b: samples: true: must be 1 to 1000",
        "list.yml:14:12: c: profile: UDP_CRR: UDP has no connections that could be made anew for each request; "
        "UDP_RR is the same without",
        "list.yml:25:3: d: burst: has no effect on UDP_STREAM; it is of TCP_RR",
        "list.yml:23:16: d: messagesize: 70000: a datagram has at most 65507 bytes",
    ]


def test_lists_of_values_are_tests_of_all_combinations(tmp_path: Path) -> None:
    text = V1.replace("1024", "[64, 1024]").replace("parallelism: 1", "parallelism: [1, 4]")
    found = read(tmp_path, text.replace("TCP_STREAM", "[TCP_STREAM, UDP_STREAM]"))
    assert [(test.profile, test.messagesize, test.parallelism) for test in found] == [
        (profile, size, flows) for profile in ("TCP_STREAM", "UDP_STREAM") for size in (64, 1024) for flows in (1, 4)
    ]
    assert {test.name for test in found} == {"TCPStream"}
    assert mistakes(tmp_path, text.replace("64", "0")) == [
        'list.yml:5:16: TCPStream: messagesize: "0": must be 1 to 1073741824'
    ]
    assert mistakes(tmp_path, V1.replace("1024", "[]")) == [
        'list.yml:5:16: TCPStream: messagesize: "[]": must be 1 to 1073741824'
    ]
    assert mistakes(tmp_path, V1.replace("10", "[10]", 1)) == [
        'list.yml:3:13: TCPStream: duration: "[10]": must be 1 to 86400'
    ]


@pytest.mark.parametrize("text", ["", "tests: []", "- a", "a: 1", "tests:\n  - a: 1", "a: [", "a: {b: 1}\na: {b: 2}"])
def test_what_is_no_list(tmp_path: Path, text: str) -> None:
    assert mistakes(tmp_path, text)
