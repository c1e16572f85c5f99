# SPDX-License-Identifier: Apache-2.0
"""netmodel-lab k8s: the words of its command lines, and what is wrong with them."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("kubernetes", reason="the Kubernetes client is not installed; requirements-dev.txt has it")

from conftest import Lab
from k8s_examples import V1, V2

from netmodel_lab.k8s import options
from netmodel_lab.k8s.placement import named
from netmodel_lab.problems import UsageProblem


def test_flags_of_k8s_netperf(lab: Lab, tmp_path: Path) -> None:
    assert options.normalised(["--all=true", "--clean=false", "--json", "-o", "x"]) == [
        "--all",
        "--no-clean",
        "--json",
        "-o",
        "x",
    ]
    (tmp_path / "netperf.yml").write_text(V2)
    done = lab("k8s", "run", "--ib-write-bw", "--use-virtctl", "--hostNet=maybe")
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        "netmodel-lab: --ib-write-bw: RDMA is none of netmodel's transports",
        "netmodel-lab: --use-virtctl: nobody logs in to a virtual machine; cloud-init starts netmodel in it",
        'netmodel-lab: --hostNet: "maybe": must be true or false',
    ]
    done = lab("k8s", "run", "--all", "--hostNet", "--local", "--across")
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        "netmodel-lab: --all and --hostNet exclude each other",
        "netmodel-lab: --local and --across exclude each other",
        "netmodel-lab: bursts: service: has no host network (--hostNet)",
    ]
    done = lab("k8s", "run", "--interval", "90s")
    assert done.returncode == 2 and '--interval: "90s": must be 1ms to 60s' in done.stderr
    done = lab("k8s", "run", "--paths", "pod,nodport")
    said = 'argument --paths: "pod,nodport": must be some of pod, host, host-to-pod, pod-to-host, service, headless, '
    assert done.returncode == 2
    assert (
        said
        + "nodeport, loadbalancer, hairpin, multus, bridge, macvlan, sriov, udn, cudn, localnet; did you mean nodeport?"
        in done.stderr
    )
    done = lab("k8s", "run", "--pattern", "matrix", "--paths", "pod", "--all", "--local", "--pairs", "2")
    assert done.stderr.splitlines() == [
        "netmodel-lab: --all and --paths exclude each other",
        "netmodel-lab: --pattern matrix and --local exclude each other",
        "netmodel-lab: --pattern matrix and --pairs exclude each other",
    ]
    words = ("--paths", "host", "--serverIP", "192.0.2.1", "--all", "--server-node", "n", "--pairs", "2")
    done = lab("k8s", "run", *words)
    assert done.stderr.splitlines() == [
        "netmodel-lab: --all and --paths exclude each other",
        "netmodel-lab: --serverIP and --all exclude each other",
        "netmodel-lab: --serverIP and --paths exclude each other",
        "netmodel-lab: --serverIP and --server-node exclude each other",
        "netmodel-lab: --serverIP and --pairs exclude each other",
        "netmodel-lab: bursts: service: has no host network (--paths host)",
        "netmodel-lab: bursts: service: is not of a slave outside the cluster (--serverIP)",
    ]
    done = lab("k8s", "run", "--textfile", "none/x.prom")
    assert (done.returncode, done.stderr) == (3, "netmodel-lab: --textfile none/x.prom: none is no folder\n")
    assert lab("k8s", "run", "--textfile", "x.txt").returncode == 2
    assert lab("k8s", "resume", "x", "--keep", "always").returncode == 2
    done = lab("k8s", "run", "--pattern", "many-to-one")
    assert done.stderr == "netmodel-lab: --pattern many-to-one: --pairs says how many\n"


def test_no_cluster_and_no_such_verb(lab: Lab, tmp_path: Path) -> None:
    (tmp_path / "netperf.yml").write_text(V1)
    done = lab("k8s", "run", KUBECONFIG=str(tmp_path / "none"), HOME=str(tmp_path))
    assert (done.returncode, "no cluster: " in done.stderr) == (3, True), done.stderr
    assert not list(tmp_path.glob("k8s-*"))
    closed = "clusters: [{name: c, cluster: {server: 'https://127.0.0.1:1'}}]\n"
    closed += "contexts: [{name: x, context: {cluster: c, user: u}}]\n"
    closed += "users: [{name: u, user: {token: t}}]\ncurrent-context: x\n"
    (tmp_path / "closed").write_text(closed)
    done = lab("k8s", "check", "--kubeconfig", "closed")
    said = "netmodel-lab: https://127.0.0.1:1: Failed to establish a new connection: [Errno 111] Connection refused\n"
    assert (done.returncode, done.stderr) == (3, said)
    done = lab("k8s", "rnu")
    assert (done.returncode, done.stderr) == (2, "netmodel-lab: k8s rnu: no such command; did you mean run?\n")


def test_names_with_values() -> None:
    assert named("--annotation", ['to=[{"name": "a", "ips": ["10.0.0.1"]}]', "empty="]) == {
        "to": '[{"name": "a", "ips": ["10.0.0.1"]}]',
        "empty": "",
    }
    with pytest.raises(UsageProblem, match=r'--node-selector: "=b": must be NAME=VALUE'):
        named("--node-selector", ["a=b", "=b"])
    with pytest.raises(UsageProblem, match='--limits: "cpu=": must be NAME=QUANTITY, as cpu=1'):
        options._quantities("--limits", "cpu=")
