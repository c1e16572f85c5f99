# SPDX-License-Identifier: Apache-2.0
"""IPv4 and IPv6: each path over both, where the cluster has both."""

from __future__ import annotations

import json

import pytest

from conftest import DRIVERS, DRIVERS_IMAGE, ON, Lab, entry, objects


@pytest.fixture
def dual() -> None:
    addresses = [one["address"] for node in objects("nodes") for one in node["status"]["addresses"]]
    if not any(":" in address for address in addresses):
        pytest.skip("this machine's cluster has no IPv6: tests/k8s/cluster")


def dialled(lab: Lab) -> list[tuple[str, str, str]]:
    found = []
    for path in sorted((lab.folder / "out" / "samples").iterdir()):
        (pair,) = json.loads(path.read_text())["pairs"]
        hosts = pair["result"].get("hosts") or [{}]
        found.append((pair["k8s"]["network"], pair["k8s"]["dialled"]["address"], str(hosts[-1].get("name"))))
    return found


@pytest.mark.usefixtures("dual")
def test_paths_over_both_families(lab: Lab) -> None:
    paths = ("--paths", "pod,host,service,nodeport,hairpin", "--ip-family", "ipv4,ipv6")
    done = lab("run", lab.file("tests:\n" + entry("rr", "TCP_RR")), *ON, *paths, "-o", "out")
    assert done.returncode == 0, done.stderr
    rows = lab.rows()
    assert [(row["d.network"], row["d.family"]) for row in rows] == [
        (path, family)
        for path in ("pod", "host", "service", "nodeport", "hairpin")
        for family in ("ipv4", "ipv6")
    ]
    for row, (path, address, _) in zip(rows, dialled(lab), strict=True):
        assert (row["d.family"] == "ipv6") == (":" in address), (path, address)
    assert "| pod ipv6 " in done.stdout
    documents = json.loads((lab.folder / "out" / "result.json").read_text())
    assert [one["netmodel"]["family"] for one in documents] == ["ipv4", "ipv6"] * 5


@pytest.mark.usefixtures("dual")
@pytest.mark.long
def test_programs_of_others_over_ipv6(lab: Lab, tests_space: tuple[str, str]) -> None:
    if "iperf3" not in DRIVERS:
        pytest.skip("no image has iperf3: see tests/k8s/drivers-image")
    words = ("--iperf", "--iperf-image", DRIVERS_IMAGE, "--ip-family", "ipv6", "--paths", "pod,service")
    done = lab("run", lab.file("tests:\n" + entry("udp", "UDP_STREAM")), *ON, *tests_space, *words, "-o", "out")
    assert done.returncode == 0, done.stderr
    assert all(":" in address for _, address, _ in dialled(lab))
