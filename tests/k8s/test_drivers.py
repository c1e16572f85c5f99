# SPDX-License-Identifier: Apache-2.0
"""Programs of others beside netmodel: the same tests over the same paths, in the same tables."""

from __future__ import annotations

import json
import re

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
    """netperf is Debian's. uperf is netmodel by that name, unless this machine has uperf: the commands, the profile and the
    words that are read are uperf's, and what has moved the bytes is not."""
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


def test_netperf_says_itself_what_its_rows_have(lab: Lab, tests_space: tuple[str, str]) -> None:
    more = "profile: [TCP_STREAM, UDP_STREAM, TCP_RR, UDP_RR, TCP_CRR], parallelism: [1, 2]"
    text = "tests:\n  - {some: , duration: 2, samples: 1, messagesize: 1024, " + more + "}\n"
    done = lab("run", lab.file(text), *ON, *tests_space, *words("netperf"), "-o", "out")
    assert done.returncode == 0, done.stderr
    rows = lab.rows()
    assert [row["d.driver"] for row in rows] == ["netmodel", "netperf"] * 10
    for row in rows[1::2]:
        sample = json.loads((lab.folder / "out" / "samples" / f"{row['seq']:04d}.json").read_text())
        said: dict[str, list[str]] = {}
        for name, value in re.findall(r"^(\w+)=(.+)$", sample["pairs"][0]["result"]["output"], re.MULTILINE):
            said.setdefault(name, []).append(value)
        number = {name: [float(one) for one in given] for name, given in said.items() if name != "THROUGHPUT_UNITS"}
        is_stream, is_alone = row["profile"].endswith("_STREAM"), row["p.parallelism"] == 1
        assert set(said["THROUGHPUT_UNITS"]) == {"10^6bits/s" if is_stream else "Trans/s"}
        rate = row["received_MBps"] * 8 if is_stream else row["transactions_per_s"]
        # Its time has two places, and TCP_STREAM counts what was sent.
        assert rate == pytest.approx(sum(number["THROUGHPUT"]), rel=0.02 if is_stream else 1e-9)
        is_known = row["profile"] in ("TCP_STREAM", "TCP_RR")  # TCP_CRR tells at most those of its last connection
        assert row["retransmits"] == (sum(number["LOCAL_TRANSPORT_RETRANS"]) if is_known else None)
        for name, figure in (("P50", "p50_us"), ("P99", "p99_us")):
            (told, *_) = number[f"{name}_LATENCY"]
            assert row[figure] == (pytest.approx(told) if is_alone and not is_stream else None)
        if row["profile"] == "UDP_STREAM":
            sent, got = (sum(number[name]) for name in ("LOCAL_SEND_CALLS", "REMOTE_RECV_CALLS"))
            assert row["loss_pct"] == pytest.approx((1 - got / sent) * 100)


def test_a_program_that_the_image_has_not(lab: Lab, tests_space: tuple[str, str]) -> None:
    text = "tests:\n" + entry("tcp", "TCP_STREAM")
    done = lab("run", lab.file(text), *ON, *tests_space, "--iperf", "--iperf-image", ON[1])
    assert done.returncode == 3, done.stderr
    assert "iperf3" in done.stderr and "executable file not found" in done.stderr
