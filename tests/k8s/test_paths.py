# SPDX-License-Identifier: Apache-2.0
"""Paths and profiles: k8s-netperf's own lists, host network, services, pairs, one node."""

from __future__ import annotations

import csv
import json

import pytest

from conftest import ON, Lab, entry

# The list that k8s-netperf comes with; one second, one sample.
DEFAULT = """TCPStream:
  profile: "TCP_STREAM"
  duration: 1
  samples: 1
  messagesize: 1024
  parallelism: 1
TCPStream8K:
  profile: "TCP_STREAM"
  duration: 1
  samples: 1
  messagesize: 8192
  parallelism: 1
UDPStream:
  profile: "UDP_STREAM"
  duration: 1
  samples: 1
  messagesize: 1024
  parallelism: 1
TCPCRR:
  profile: "TCP_CRR"
  duration: 1
  samples: 1
  messagesize: 1024
  parallelism: 1
TCPCRRService:
  profile: "TCP_CRR"
  duration: 1
  samples: 1
  messagesize: 1024
  parallelism: 1
  service: true
TCPRR:
  profile: "TCP_RR"
  duration: 1
  samples: 1
  messagesize: 1024
  parallelism: 1
TCPStreamLat:
  profile: "TCP_STREAM_LAT"
  duration: 1
  samples: 1
  messagesize: 1024
  parallelism: 1
"""


def whole(lab: Lab, name: str = "out") -> None:
    """Of TCP, all bytes that were sent have arrived, at the ends that are named."""
    for path in sorted((lab.folder / name / "samples").iterdir()):
        sample = json.loads(path.read_text())
        for pair in sample["pairs"]:
            result = pair["result"]
            hosts = {host["role"]: host["counts"] for host in result["hosts"]}
            if "udp" not in result["profile"]["name"]:
                assert result["run"]["reconciled"] is True
                assert hosts["master"]["bytes_sent"] == hosts["slave"]["bytes_received"]
                assert hosts["slave"]["bytes_sent"] == hosts["master"]["bytes_received"]
            assert pair["k8s"]["client"]["node"] != pair["k8s"]["server"]["node"]


@pytest.mark.long
def test_the_default_list_between_pods_hosts_and_through_a_service(lab: Lab) -> None:
    done = lab("run", lab.file(DEFAULT), *ON, "--all", "-o", "out", "--tcp-tolerance", "1000", "--json")
    assert done.returncode == 0, done.stderr
    documents = json.loads(done.stdout)
    assert [(one["netmodel"]["test"], one["netmodel"]["network"]) for one in documents] == [
        (name, network)
        for name in ("TCPStream", "TCPStream8K", "UDPStream", "TCPCRR", "TCPCRRService", "TCPRR", "TCPStreamLat")
        for network in (("service",) if name == "TCPCRRService" else ("pod", "host"))
    ]
    whole(lab)
    for one in documents:
        assert one["throughput"] > 0
        assert (one["udpLossPercent"] is not None) == (one["profile"] == "UDP_STREAM")
        ends = one["netmodel"]
        assert ends["server"]["host_network"] == ends["client"]["host_network"] == one["hostNetwork"]
        assert ends["server"]["image_id"] and ends["server"]["node_info"]["kernelVersion"]
    with (lab.folder / "out" / "result.csv").open() as file:
        assert [row["Profile"] for row in csv.DictReader(file)] == [one["profile"] for one in documents]


@pytest.mark.parametrize("profile", ["UDP_RR", pytest.param("TCP_STREAM_LAT", marks=pytest.mark.long)])
def test_through_a_service(lab: Lab, tests_space: tuple[str, str], profile: str) -> None:
    done = lab(
        "run", lab.file("tests:\n" + entry("one", profile, more="service: true")), *ON, *tests_space, "-o", "out"
    )
    assert done.returncode == 0, done.stderr
    whole(lab)
    (row,) = lab.rows()
    assert row["d.network"] == "service"


@pytest.mark.long
def test_two_pairs_through_services_meet_nobody_else(lab: Lab, tests_space: tuple[str, str]) -> None:
    text = "tests:\n" + entry("one", "TCP_STREAM", duration=5, samples=20, more="service: true")
    done = lab("run", lab.file(text), *ON, *tests_space, "-o", "out", "--pairs", "2", limit_s=600)
    assert done.returncode == 0, done.stderr
    whole(lab)
    sample = json.loads((lab.folder / "out" / "samples" / "0001.json").read_text())
    nodes = [(pair["k8s"]["server"]["node"], pair["k8s"]["client"]["node"]) for pair in sample["pairs"]]
    assert nodes == [("n1", "n2"), ("n2", "n1")]
    rows = lab.rows()
    assert [row["pairs"] for row in rows] == [2] * 20
    print("figure: two pairs through Services at the same time: all bytes at their own servers, 20 of 20 samples")


def test_both_ends_on_one_node(lab: Lab, tests_space: tuple[str, str]) -> None:
    done = lab(
        "run",
        lab.file("tests:\n" + entry("one", "TCP_RR")),
        *ON,
        *tests_space,
        "--local",
        "--server-node",
        "n2",
        "-o",
        "out",
    )
    assert done.returncode == 0, done.stderr
    (row,) = lab.rows()
    assert (row["server_node"], row["client_node"], row["relation"]) == ("n2", "n2", "same node")
    (document,) = json.loads((lab.folder / "out" / "result.json").read_text())
    assert document["local"] is True
