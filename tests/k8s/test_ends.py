# SPDX-License-Identifier: Apache-2.0
"""Runs that are stopped, killed, or lose what they stand on; and what is left then."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import time

import pytest

from conftest import FOLDER, ON, Lab, entry, kubectl, left, objects, until

LONG = "tests:\n" + entry("one", "TCP_RR", duration=60)


def begun(role: str = "client") -> bool:
    found = objects("pods", "-A", "-l", f"netmodel.io/role={role}")
    return any(pod["status"].get("phase") == "Running" for pod in found)


def run_of(process: subprocess.Popen[str]) -> str:
    assert process.stderr
    return process.stderr.readline().split()[1].rstrip(":")


@pytest.mark.parametrize("number", [pytest.param(signal.SIGINT, marks=pytest.mark.long), signal.SIGTERM])
def test_stopped_by_a_signal(lab: Lab, number: signal.Signals) -> None:
    process = lab.start("run", lab.file(LONG), *ON, "-o", "out")
    until(begun, what="a client")
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "netmodel-lab k8s resume out goes on" in err
    assert not left()


def test_killed_cleaned_and_gone_on_with(lab: Lab) -> None:
    """What a killed run has left is found by its name alone; the samples that it had are kept."""
    text = "tests:\n" + entry("one", "TCP_RR", samples=2, duration=1)
    process = lab.start("run", lab.file(text), *ON, "-o", "out")
    run = run_of(process)
    until(lambda: (lab.folder / "out" / "samples" / "0001.json").exists(), what="a sample")
    first = (lab.folder / "out" / "samples" / "0001.json").read_text()
    process.kill()
    process.wait()
    done = lab("clean")
    assert done.returncode == 0 and f"netmodel-lab k8s clean {run} removes it" in done.stdout, done.stdout
    assert left()
    done = lab("clean", run)
    assert done.returncode == 0, done.stderr
    assert not kubectl("get", "namespaces", "-l", "netmodel.io/run", "-o", "name")
    done = lab("resume", "out")
    assert done.returncode == 0, done.stderr
    assert "1 done before" in done.stderr
    assert [row["ok"] for row in lab.rows()] == [True, True]
    assert (lab.folder / "out" / "samples" / "0001.json").read_text() == first


@pytest.mark.long
def test_what_is_kept_for_a_look(lab: Lab) -> None:
    done = lab("run", lab.file("tests:\n" + entry("one", "TCP_RR")), *ON, "-o", "out", "--keep", "always")
    assert done.returncode == 0, done.stderr
    run = json.loads((lab.folder / "out" / "k8s.json").read_text())["settings"]["run"]
    assert f"kept for a look: namespace netmodel-{run}" in done.stderr
    assert f"to remove it: netmodel-lab k8s clean {run}" in done.stderr
    kinds = {one["kind"] for one in objects("pods,jobs", "-n", f"netmodel-{run}")}
    assert kinds == {"Pod", "Job"}
    done = lab("clean", run)
    assert done.returncode == 0, done.stderr
    assert not kubectl("get", "namespaces", "-l", "netmodel.io/run", "-o", "name")


def test_a_namespace_of_the_user_stays(lab: Lab) -> None:
    kubectl("create", "namespace", "mine")
    try:
        kubectl("-n", "mine", "create", "secret", "generic", "his", "--from-literal=a=b")
        process = lab.start("run", lab.file(LONG), *ON, "-o", "out", "--namespace", "mine")
        until(begun, what="a client")
        process.kill()
        process.wait()
        done = lab("clean", "--all")
        assert done.returncode == 0, done.stderr
        assert kubectl("-n", "mine", "get", "pods,jobs,secrets,services,configmaps", "-o", "name").split() == [
            "secret/his",
            "configmap/kube-root-ca.crt",
        ]
    finally:
        kubectl("delete", "namespace", "mine", "--wait=false")


@pytest.mark.long
def test_two_runs_side_by_side_in_one_namespace(lab: Lab) -> None:
    kubectl("create", "namespace", "shared")
    try:
        file = lab.file("tests:\n" + entry("one", "TCP_STREAM", duration=2, samples=2))
        both = [lab.start("run", file, *ON, "-o", f"out{i}", "--namespace", "shared", "--all") for i in (1, 2)]
        for i, process in enumerate(both, 1):
            _, err = process.communicate(timeout=120)
            assert process.returncode in (0, 1), err  # pods beside hosts are no matter here
            rows = lab.rows(f"out{i}")
            assert [row["ok"] for row in rows] == [True] * 4
        assert not objects("pods", "-n", "shared")
    finally:
        kubectl("delete", "namespace", "shared", "--wait=false")


@pytest.mark.long
def test_the_slave_is_lost_in_mid_run(lab: Lab, tests_space: tuple[str, str]) -> None:
    """The sample has failed; the next one has a slave again."""
    text = "tests:\n" + entry("one", "TCP_RR", duration=10, samples=2)
    process = lab.start("run", lab.file(text), *ON, *tests_space, "-o", "out")
    until(begun, what="a client")
    time.sleep(1)
    (pod,) = objects("pods", "-A", "-l", "netmodel.io/role=server")
    kubectl("-n", pod["metadata"]["namespace"], "delete", "pod", pod["metadata"]["name"], "--grace-period=0", "--force")
    _, err = process.communicate(timeout=60)
    assert process.returncode == 4, err
    assert "failed: the master has failed: " in err and "Traceback" not in err
    assert [row["ok"] for row in lab.rows()] == [False, True]
    (document,) = json.loads((lab.folder / "out" / "result.json").read_text())
    assert document["samples"] == 1


def kill_api_server() -> None:
    os.kill(int((FOLDER / "w" / "apiserver.pid").read_text()), signal.SIGKILL)


@pytest.mark.long
def test_the_api_server_starts_anew_in_mid_run(lab: Lab) -> None:
    process = lab.start("run", lab.file("tests:\n" + entry("one", "TCP_RR", duration=3, samples=2)), *ON, "-o", "out")
    until(begun, what="a client")
    kill_api_server()
    _, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert [row["ok"] for row in lab.rows()] == [True, True]


@pytest.mark.long
def test_the_api_server_is_killed_at_ten_random_moments(lab: Lab) -> None:
    file = lab.file("tests:\n" + entry("one", "TCP_RR", duration=1, samples=2))
    for i in range(10):
        process = lab.start("run", file, *ON, "-o", f"out{i}")
        # One that has never answered is given up sooner than one that has.
        until(lambda: bool(objects("namespaces", "-l", "netmodel.io/run")), what="a namespace")
        time.sleep(random.uniform(0, 10))
        kill_api_server()
        # The cluster's controllers look for a server again after up to half a minute, one behind the other.
        _, err = process.communicate(timeout=400)
        assert process.returncode == 0, err
        assert [row["ok"] for row in lab.rows(f"out{i}")] == [True, True]
    print("figure: the API server killed at 10 random moments of a run: all samples are there, none twice")


@pytest.mark.long
def test_the_tool_is_killed_at_twenty_random_moments(lab: Lab) -> None:
    file = lab.file("tests:\n" + entry("one", "TCP_RR", duration=1, samples=2, more="service: true"))
    for i in range(20):
        process = lab.start("run", file, *ON, "-o", f"out{i}")
        time.sleep(random.uniform(0.3, 12))
        process.kill()
        process.wait()
        done = lab("clean", "--all")
        assert done.returncode == 0, done.stderr
        assert not objects("namespaces,jobs,pods,services,configmaps,secrets", "-A", "-l", "netmodel.io/run")
    print("figure: killed at 20 random moments, then clean: nothing is left")


@pytest.mark.long
def test_nothing_runs_when_nobody_cleans_up(lab: Lab) -> None:
    """The tool is killed: all pods end by themselves, two minutes after the sample would have."""
    text = "tests:\n" + entry("one", "TCP_RR", duration=1, samples=2)
    process = lab.start("run", lab.file(text), *ON, "--time-to-live", "0", "-o", "out")
    until(begun, what="a client")
    process.kill()
    process.wait()
    ours = ("-A", "-l", "netmodel.io/run", "--field-selector", "status.phase=Running")
    assert objects("pods", *ours)
    until(lambda: not objects("pods", *ours), 300, "the end of all pods")
    done = lab("clean")
    assert done.returncode == 0 and not left(), done.stdout


@pytest.mark.long
def test_clean_of_one_run_leaves_the_other(lab: Lab, tests_space: tuple[str, str]) -> None:
    file = lab.file("tests:\n" + entry("one", "TCP_RR", duration=15))
    killed = lab.start("run", file, *ON, *tests_space, "-o", "killed")
    other = lab.start("run", file, *ON, *tests_space, "-o", "other")
    run = run_of(killed)
    until(lambda: len(objects("pods", "-A", "-l", "netmodel.io/role=client")) == 2, what="two clients")
    killed.kill()
    killed.wait()
    done = lab("clean", run)
    assert done.returncode == 0, done.stderr
    assert not objects("pods,jobs,secrets", "-A", "-l", f"netmodel.io/run={run}")
    _, err = other.communicate(timeout=120)
    assert other.returncode == 0, err
    assert [row["ok"] for row in lab.rows("other")] == [True]


@pytest.mark.long
def test_a_log_of_twenty_megabytes(lab: Lab, tests_space: tuple[str, str]) -> None:
    """The kubelet begins another file at 10 MB when it happens to look: there is a whole result or none."""
    text = "tests:\n" + entry("one", "TCP_RR", duration=40)
    done = lab("run", lab.file(text), *ON, *tests_space, "--interval", "1ms", "-o", "out")
    assert done.returncode in (0, 4), done.stderr
    (row,) = lab.rows()
    if done.returncode == 4:
        assert not row["ok"] and "the log has no whole result in it" in done.stderr, done.stderr
        print("figure: a log of 20 MB: cut, and told")
        return
    (pair,) = json.loads((lab.folder / "out" / "samples" / "0001.json").read_text())["pairs"]
    size = len(json.dumps(pair["result"], indent=2))
    assert size > 20e6 and len(pair["result"]["intervals"]) > 10000 and pair["result"]["run"]["reconciled"]
    print(f"figure: a log of {size / 1e6:.0f} MB: whole")
