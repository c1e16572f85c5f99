# SPDX-License-Identifier: Apache-2.0
"""Programs of others beside netmodel: the same tests over the same paths, in the same tables."""

from __future__ import annotations

import json

import pytest

from conftest import DRIVERS, DRIVERS_IMAGE, ON, Lab, entry

OPTIONS = {"iperf3": "iperf", "netperf": "netperf", "uperf": "uperf"}


def words(*names: str) -> list[str]:
    for name in names:
        if name not in DRIVERS:
            pytest.skip(f"no image has {name}: see tests/k8s/drivers-image")
    return [
        word for name in names for word in (f"--{OPTIONS[name]}", f"--{OPTIONS[name]}-image", DRIVERS_IMAGE)
    ]


def test_iperf3_beside_netmodel(lab: Lab, tests_space: tuple[str, str]) -> None:
    text = "tests:\n" + entry("tcp", "TCP_STREAM") + entry("udp", "UDP_STREAM", more="service: true")
    text += entry("rr", "TCP_RR")
    done = lab("run", lab.file(text), *ON, *tests_space, *words("iperf3"), "-o", "out")
    assert done.returncode == 0, done.stderr
    assert "iperf3 has no TCP_RR" in done.stderr
    assert "| Stream Results | iperf3 " in done.stdout
    rows = lab.rows()
    assert [(row["d.test"], row["d.driver"]) for row in rows] == [
        ("tcp", "netmodel"),
        ("tcp", "iperf3"),
        ("udp", "netmodel"),
        ("udp", "iperf3"),
        ("rr", "netmodel"),
    ]
    assert all(row["received_MBps"] > 0 and row["relation"] == "other node" for row in rows[:4])
    assert rows[3]["loss_pct"] is not None and rows[1]["p99_us"] is None
    documents = json.loads((lab.folder / "out" / "result.json").read_text())
    iperf3 = next(one for one in documents if one["driver"] == "iperf3")
    assert iperf3["netmodel"]["driver"]["version"].startswith("iperf 3")
    assert iperf3["netmodel"]["driver"]["image"] == DRIVERS_IMAGE


@pytest.mark.long
def test_iperf3_has_a_server_for_each_client(lab: Lab, tests_space: tuple[str, str]) -> None:
    text = "tests:\n" + entry("tcp", "TCP_STREAM", duration=10)
    many = ("--pattern", "many-to-one", "--pairs", "2")
    done = lab("run", lab.file(text), *ON, *tests_space, *words("iperf3"), *many, "-o", "out")
    assert done.returncode == 0, done.stderr
    assert [row["pairs"] for row in lab.rows()] == [2, 2]


@pytest.mark.long
@pytest.mark.parametrize("service", ["service: false", "service: true"])
def test_netperf_and_uperf_beside_netmodel(lab: Lab, tests_space: tuple[str, str], service: str) -> None:
    text = "tests:\n" + "".join(
        entry(profile.lower(), profile, duration=2, size=64, more=service)
        for profile in ("TCP_STREAM", "UDP_STREAM", "TCP_RR", "UDP_RR", "TCP_CRR", "TCP_STREAM_LAT")
    ).replace("parallelism: 1", "parallelism: 2")
    done = lab("run", lab.file(text), *ON, *tests_space, *words("netperf", "uperf"), "-o", "out")
    assert done.returncode == 0, done.stderr
    for row in lab.rows():
        figure = "received_MBps" if row["profile"].endswith("STREAM") else "transactions_per_s"
        is_told = (row["d.driver"], row["profile"]) != ("uperf", "UDP_STREAM")  # its server does not always
        assert (row[figure] or 0) > 0 or (row[figure] is None and not is_told)
        assert (row["p99_us"] is None) == (row["d.driver"] != "netmodel")


def test_a_program_that_the_image_has_not(lab: Lab, tests_space: tuple[str, str]) -> None:
    text = "tests:\n" + entry("tcp", "TCP_STREAM")
    done = lab("run", lab.file(text), *ON, *tests_space, "--iperf", "--iperf-image", ON[1])
    assert done.returncode == 3, done.stderr
    assert "iperf3" in done.stderr and "executable file not found" in done.stderr
