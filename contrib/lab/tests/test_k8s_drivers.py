# SPDX-License-Identifier: Apache-2.0
"""netmodel-lab k8s: programs of others, by what they have really printed (drivers/, of iperf3 3.12, netperf 2.7.1 and
uperf 1.0.8 on a loopback interface), and their pods."""

from __future__ import annotations

import argparse
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("kubernetes", reason="the Kubernetes client is not installed; requirements-dev.txt has it")

from netmodel_lab.k8s import figures, manifests, options, others, others_output, results, waits
from netmodel_lab.k8s.netperf_file import Test
from netmodel_lab.k8s.placement import Pair, Places
from netmodel_lab.k8s.problems import MeasurementProblem
from netmodel_lab.k8s.settings import Limits, Pods, Settings, Where, points
from netmodel_lab.k8s.slaves import other_dial, verify_ports
from netmodel_lab.problems import UsageProblem

Json = dict[str, Any]
SAID = Path(__file__).parent / "drivers"


def of(profile: str, parallelism: int = 1, size: int = 1024, burst: int = 0) -> Test:
    return Test("one", profile, 3, 1, size, parallelism, burst=burst)


def said(driver: str, test: Test) -> str:
    return (SAID / f"{driver}-{test.profile.lower()}-{test.parallelism}.txt").read_text()


def read(driver: str, test: Test, log: str | None = None) -> Json:
    return others_output.document(driver, said(driver, test) if log is None else log, "", test, {"version": "1"})


def row(driver: str, test: Test) -> Json:
    return figures.of_pairs([read(driver, test)])


def refused(driver: str, test: Test, log: str, why: str = "") -> str:
    with pytest.raises(MeasurementProblem) as caught:
        others_output.document(driver, log, why, test, {})
    return "; ".join(caught.value.lines)


def test_iperf3_s_streams() -> None:
    test = of("TCP_STREAM", 2)
    end = json.loads(said("iperf3", test))["end"]
    found = row("iperf3", test)
    assert found["received_MBps"] == pytest.approx(end["sum_received"]["bits_per_second"] / 8e6)
    assert found["retransmits"] == end["sum_sent"]["retransmits"]
    assert found["loss_pct"] is None and found["p99_us"] is None


def test_iperf3_s_datagrams_have_their_loss_and_what_has_arrived() -> None:
    test = of("UDP_STREAM")
    document = json.loads(said("iperf3", test))
    end, found = document["end"], row("iperf3", test)
    assert end["sum"]["lost_packets"] > 0
    assert found["loss_pct"] == pytest.approx(end["sum"]["lost_percent"], rel=1e-4)  # some were on their way
    assert found["received_MBps"] == pytest.approx(end["sum_received"]["bits_per_second"] / 8e6)
    assert found["received_MBps"] < end["sum"]["bits_per_second"] / 8e6  # which is what was sent
    del end["sum_received"]
    old = figures.of_pairs([read("iperf3", test, json.dumps(document))])
    assert old["received_MBps"] == pytest.approx(found["received_MBps"], rel=0.01)


def test_netperf_s_streams() -> None:
    keys = dict(re.findall(r"(\w+)=(.*)", said("netperf", of("TCP_STREAM"))))
    found = row("netperf", of("TCP_STREAM"))
    rate = float(keys["REMOTE_BYTES_RECVD"]) / float(keys["ELAPSED_TIME"])
    assert found["received_MBps"] == pytest.approx(rate / 1e6)
    assert found["retransmits"] is not None and found["mean_us"] is None  # of send calls, and not of the network
    keys = dict(re.findall(r"(\w+)=(.*)", said("netperf", of("UDP_STREAM"))))
    found = row("netperf", of("UDP_STREAM"))
    lost = 1 - float(keys["REMOTE_RECV_CALLS"]) / float(keys["LOCAL_SEND_CALLS"])
    assert found["loss_pct"] == pytest.approx(lost * 100) and found["retransmits"] is None


def test_netperf_s_percentiles_are_of_one_process_alone() -> None:
    one, two = row("netperf", of("TCP_RR", size=64)), row("netperf", of("TCP_RR", 2, 64, burst=3))
    keys = dict(re.findall(r"(\w+)=(.*)", said("netperf", of("TCP_RR", size=64))))
    assert one["p99_us"] == pytest.approx(float(keys["P99_LATENCY"]))
    assert one["transactions_per_s"] == float(keys["THROUGHPUT"])
    assert two["p99_us"] is None and two["p50_us"] is None
    rates = [float(value) for value in re.findall(r"^THROUGHPUT=(.*)", said("netperf", of("TCP_RR", 2)), re.MULTILINE)]
    assert len(rates) == 2 and two["transactions_per_s"] == pytest.approx(sum(rates))
    assert two["mean_us"] == pytest.approx(2 * 4 / sum(rates) * 1e6, rel=0.05)  # two with four outstanding each
    crr = of("TCP_CRR", size=64)
    assert row("netperf", crr)["transactions_per_s"] > 0
    of_the_last = re.sub("(?<=LOCAL_TRANSPORT_RETRANS=).*", "3", said("netperf", crr))
    assert "=3" in of_the_last and figures.of_pairs([read("netperf", crr, of_the_last)])["retransmits"] is None


def test_uperf_s_rates_are_of_the_clock_and_it_has_no_percentiles() -> None:
    test = of("TCP_RR", 2, 64)
    lines = re.findall(r"timestamp_ms:(\S+) name:Txn2 nr_bytes:(\d+) nr_ops:(\d+)", said("uperf", test))
    found = row("uperf", test)
    seconds = (float(lines[-2][0]) - float(lines[0][0])) / 1000
    assert found["transactions_per_s"] == pytest.approx((int(lines[-2][2]) - int(lines[0][2])) / 2 / seconds)
    assert found["p99_us"] is None and found["mean_us"] > 0
    assert row("uperf", of("TCP_STREAM"))["received_MBps"] > 0
    assert row("uperf", of("TCP_STREAM_LAT"))["mean_us"] > 0
    assert 0 <= row("uperf", of("UDP_STREAM"))["loss_pct"] < 100


def test_uperf_s_datagrams_have_no_figure_where_its_server_has_told_none() -> None:
    test = of("UDP_STREAM")
    found = figures.of_pairs([read("uperf", test, said("uperf", test) + "Error saying goodbye with n1\n")])
    assert found["received_MBps"] is None and found["loss_pct"] is None


@pytest.mark.parametrize("driver", ["iperf3", "netperf", "uperf"])
def test_datagrams_of_which_none_has_arrived_are_all_lost(driver: str) -> None:
    """As each says it, of a path that drops all of them."""
    log = (SAID / f"{driver}-udp_stream-1-nothing.txt").read_text()
    found = figures.of_pairs([read(driver, of("UDP_STREAM"), log)])
    assert (found["received_MBps"], found["loss_pct"]) == (0.0, 100.0)


def test_an_old_iperf3_does_not_tell_whether_all_or_none_has_arrived() -> None:
    document = json.loads((SAID / "iperf3-udp_stream-1-nothing.txt").read_text())
    del document["end"]["sum_received"]
    found = figures.of_pairs([read("iperf3", of("UDP_STREAM"), json.dumps(document))])
    assert found["received_MBps"] is None and found["loss_pct"] is None


def test_datagrams_after_the_last_that_has_arrived_are_lost() -> None:
    test = of("UDP_STREAM")
    document = json.loads(said("iperf3", test))
    sums = [document["end"][name] for name in ("sum", "sum_received")]
    for one in sums:
        one["lost_packets"] = 0
    sums[1]["packets"] = document["end"]["sum_sent"]["packets"] / 2
    assert figures.of_pairs([read("iperf3", test, json.dumps(document))])["loss_pct"] == 50.0


def test_uperf_s_datagrams_have_no_figure_without_the_line_of_its_server() -> None:
    test = of("UDP_STREAM")
    log = re.sub(r".*\nmaster", "master", said("uperf", test))
    assert figures.of_pairs([read("uperf", test, log)])["received_MBps"] is None


@pytest.mark.parametrize("name", ["MEAN_LATENCY", "P50_LATENCY", "P99_LATENCY", "MAX_LATENCY"])
def test_what_netperf_does_not_know_is_no_latency(name: str) -> None:
    test = of("TCP_RR", size=64)
    log = re.sub(f"^{name}=.*", f"{name}=-1", said("netperf", test), flags=re.MULTILINE)
    found, key = read("netperf", test, log)["totals"], name.partition("_")[0].lower()
    assert key not in found["latency_s"] and len(found["latency_s"]) == 4 and found["transactions_per_s"] > 0


def test_what_netperf_does_not_know_has_not_arrived_nor_been_lost() -> None:
    test = of("UDP_STREAM")
    log = re.sub(r"^(REMOTE_\w+)=.*", r"\1=-1", said("netperf", test), flags=re.MULTILINE)
    found = figures.of_pairs([read("netperf", test, log)])
    assert found["received_MBps"] is None and found["loss_pct"] is None


def test_what_is_no_number_is_no_result() -> None:
    test = of("TCP_RR", size=64)
    log = re.sub(r"^(ELAPSED_TIME)=.*", r"\1=0.00", said("netperf", of("TCP_STREAM")), flags=re.MULTILINE)
    assert "netperf has failed: " in refused("netperf", of("TCP_STREAM"), log)
    for name, value in (("THROUGHPUT", "nan"), ("THROUGHPUT", "-1"), ("ELAPSED_TIME", "0.00")):
        log = re.sub(f"^{name}=.*", f"{name}={value}", said("netperf", test), flags=re.MULTILINE)
        assert "netperf has failed: " in refused("netperf", test, log)
    log = re.sub(r"timestamp_ms:\S+ name:Txn2", "timestamp_ms:1.0 name:Txn2", said("uperf", of("TCP_STREAM")))
    assert "uperf has failed: " in refused("uperf", of("TCP_STREAM"), log)


@pytest.mark.parametrize(
    ("driver", "test", "log", "text"),
    [
        ("iperf3", of("TCP_STREAM"), '{"error": "unable to connect to server"}', "unable to connect to server"),
        ("iperf3", of("TCP_STREAM"), "iperf3: not found\n", "iperf3: not found"),
        ("netperf", of("TCP_RR", 2), "THROUGHPUT=1\nTHROUGHPUT_UNITS=Trans/s\n", "1 of 2 processes"),
        ("netperf", of("TCP_RR"), "THROUGHPUT=1\nTHROUGHPUT_UNITS=Trans/s\nFAILED=1\n", "0 of 1 processes"),
        ("netperf", of("TCP_RR"), "establish control: are you sure\n", "are you sure"),
        ("uperf", of("TCP_RR"), "** TCP: Cannot connect to 10.0.0.1:1 Connection refused\n", "Cannot connect"),
    ],
)
def test_outputs_that_are_no_result(driver: str, test: Test, log: str, text: str) -> None:
    assert text in refused(driver, test, log, "exit code 1")


def test_a_result_of_a_program_that_has_failed_does_not_count() -> None:
    test = of("TCP_STREAM", 2)
    assert refused("iperf3", test, said("iperf3", test), "exit code 1") == "iperf3 has failed: exit code 1"


def test_starts_are_as_exact_as_programs_tell_them() -> None:
    found = others_output.start("uperf", said("uperf", of("TCP_STREAM")))
    assert found["start_s"] % 1 and found["start_error_s"] == 0
    log = json.loads(said("iperf3", of("TCP_STREAM", 2)))
    assert others_output.start("iperf3", json.dumps(log)) == {}
    log["start"]["timestamp"]["timemillisecs"] = 1700000000250
    assert others_output.start("iperf3", json.dumps(log))["start_s"] == 1700000000.25
    stopped = {"state": {"terminated": {"startedAt": "2026-01-31T12:00:00Z"}}}
    assert results.times({"status": {"containerStatuses": [stopped]}})["start_error_s"] == 1


def test_short_tests_of_pairs_whose_starts_are_known_to_a_second(tmp_path: Path) -> None:
    given = ("--netperf", "--netperf-image", "n:1", "--uperf", "--uperf-image", "u:1")
    assert asked(tmp_path, *given).drivers
    with pytest.raises(UsageProblem) as caught:
        asked(tmp_path, *given, "--pairs", "2")
    assert caught.value.lines == [
        "a: duration: 1: must be at least 5 with --netperf and several pairs, as its starts are known to a second"
    ]


@pytest.mark.parametrize(("address", "flag"), [("10.0.0.1", "-4"), ("fd00::1", "-6"), ("s0.tests.svc", None)])
def test_netperf_s_family_is_that_of_its_address(address: str, flag: str | None) -> None:
    command = others.OTHERS["netperf"].client(of("TCP_RR"), others.Target(address, 22800))
    assert [word for word in command if word in ("-4", "-6")] == ([flag] if flag else [])


# --- pods ---


def settings(*tests: Test, **drivers: str) -> Settings:
    return Settings("abcd1234", "id", tests, ("pod",), Pods("netmodel:1"), Where(), Limits(), drivers=drivers)


def test_only_what_a_program_can_do_is_a_point() -> None:
    every = points(settings(of("TCP_STREAM"), of("TCP_CRR"), netperf="n:1", iperf3="i:1"))
    assert [(one.test.profile, one.driver) for one in every] == [
        ("TCP_STREAM", "netmodel"),
        ("TCP_STREAM", "netperf"),
        ("TCP_STREAM", "iperf3"),
        ("TCP_CRR", "netmodel"),
        ("TCP_CRR", "netperf"),
    ]


def test_pods_of_programs_have_their_image_and_no_privilege() -> None:
    whole = settings(of("TCP_STREAM", 2), uperf="u:1")
    point = points(whole)[1]
    dial = other_dial(whole, point, Pair("a", "b"), "10.0.0.1", 26800, 1)
    server = manifests.server(whole, 0, "pod", "a", [], "99", 0, "uperf", 1)["spec"]
    client = manifests.client(whole, point, 0, Pair("a", "b"), dial, [], "99")["spec"]["template"]["spec"]
    for spec in (server, client):
        (container,) = spec["containers"]
        assert container["image"] == "u:1" and container["command"][0] == "uperf"
        assert container["securityContext"]["readOnlyRootFilesystem"] and spec["securityContext"]["runAsUser"] == 65534
        assert "NETMODEL_KEY" not in str(container)
    name = client["containers"][0]["command"][-3].rpartition("/")[2]
    files = manifests.config_map(whole, "n", "1")
    assert files and 'nprocs="2"' in files["data"][name]
    assert {one["name"]: one["value"] for one in client["containers"][0]["env"]} == {"h": "10.0.0.1", "p": "26801"}


def test_servers_of_one_client_at_a_time_are_as_many_as_clients() -> None:
    whole = settings(of("TCP_STREAM"), iperf3="i:1", netperf="n:1")
    spec = manifests.server(whole, 0, "pod", "a", [], "99", 0, "iperf3", 2)["spec"]
    assert [one["command"][-1] for one in spec["containers"]] == ["24800", "24801"]
    point = points(whole)[1]
    assert other_dial(whole, point, Pair("a", "b", lane=1), "x", 24800, 2).port == 24801
    service = manifests.service(whole, 0, 2, "service", ["TCP"], "1", 0, "netperf")["spec"]
    assert [one["port"] for one in service["ports"]] == [22800, 22801, 22802]
    assert service["selector"][manifests.DRIVER] == "netperf"


def test_ports_that_there_are_not() -> None:
    pair: Places = {"other-node": (Pair("a", "b"),)}
    for test, text in (
        (of("TCP_STREAM", 60000), "--netperf: parallelism 60000 needs ports to 82800"),
        (replace(of("TCP_STREAM", 1001), service=True), "--netperf: parallelism 1001 needs a Service with 1002 ports"),
    ):
        whole = settings(test, netperf="n:1")
        with pytest.raises(UsageProblem, match=text):
            verify_ports(whole, points(whole), pair)
    for test in (of("TCP_STREAM", 42000), replace(of("TCP_STREAM", 999), service=True)):
        whole = settings(test, netperf="n:1", iperf3="i:1")
        verify_ports(whole, points(whole), pair)


def asked(tmp_path: Path, *words: str) -> Settings:
    (tmp_path / "list.yml").write_text(
        "a: {profile: TCP_STREAM, duration: 1, samples: 1, messagesize: 1, parallelism: 1}"
    )
    parser = argparse.ArgumentParser()
    options.add_tests(parser)
    return options.settings(parser.parse_args(options.normalised([str(tmp_path / "list.yml"), *words])))


def test_flags_of_programs_name_them_and_their_images(tmp_path: Path) -> None:
    assert asked(tmp_path).drivers == {}
    given = ("--netperf=true", "--netperf-image", "n:1", "--iperf", "--iperf-image", "i:1")
    assert asked(tmp_path, *given).drivers == {"netperf": "n:1", "iperf3": "i:1"}
    for words, text in (
        (("--uperf",), "--uperf: --uperf-image must say which image has uperf"),
        (("--iperf-image", "i:1"), "--iperf-image: has no effect without --iperf"),
        ((*given, "--paths", "pod,nodeport"), "--netperf, --iperf: --paths nodeport can be measured by netmodel alone"),
        ((*given, "--serverIP", "10.0.0.1"), "--netperf, --iperf: --serverIP is a slave of netmodel"),
    ):
        with pytest.raises(UsageProblem) as caught:
            asked(tmp_path, *words)
        assert caught.value.lines == [text]


def test_why_a_pod_has_ended() -> None:
    def stopped(code: int, **more: str) -> list[Json]:
        return [{"state": {"terminated": {"exitCode": code, **more}}}]

    def pod(inner: list[Json], first: list[Json]) -> Json:
        status = {"phase": "Failed", "containerStatuses": inner, "initContainerStatuses": first}
        return {"metadata": {}, "status": status}

    waiting: list[Json] = [{"state": {"waiting": {"reason": "PodInitializing"}}}]
    missing = stopped(128, reason="StartError", message='exec: "uperf": executable file not found in $PATH')
    assert waits.ended(pod(waiting, missing)) == (
        'StartError: exec: "uperf": executable file not found in $PATH, exit code 128'
    )
    assert waits.ended(pod(stopped(2, reason="Error"), stopped(143, reason="Error"))) == "exit code 2"
