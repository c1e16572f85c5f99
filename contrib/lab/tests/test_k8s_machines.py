# SPDX-License-Identifier: Apache-2.0
"""netmodel-lab k8s: virtual machines as the ends."""

from __future__ import annotations

import base64
import gzip
import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("kubernetes", reason="the Kubernetes client is not installed; requirements-dev.txt has it")

from conftest import Lab

from netmodel_lab.k8s import machines, manifests, network_checks, network_objects, networks, outputs, placement, rules
from netmodel_lab.k8s.figures import Cell
from netmodel_lab.k8s.netperf_file import Test
from netmodel_lab.k8s.networks import Network
from netmodel_lab.k8s.problems import MeasurementProblem
from netmodel_lab.k8s.settings import Limits, Machines, Pods, Settings, Where, as_json, from_json, points

Json = dict[str, Any]
RR, LAT = Test("rr", "TCP_RR", 5, 1, 64, 1), Test("lat", "TCP_STREAM_LAT", 5, 1, 64, 1)
PAIR = placement.Pair("n1", "n2")
PLACES: placement.Places = {"other-node": (PAIR,)}
DIAL = manifests.Dial("10.0.0.1", 20000)
ALONE = Machines("disk:1", are_alone=True)
STATIC = Machines("disk:1", are_alone=True, ends=("10.10.10.12/24", "10.10.10.14/24"))
LIST = "tests:\n  - {rr: , profile: TCP_RR, duration: 1, samples: 1, messagesize: 1, parallelism: 1}\n"


def of(virtual: Machines = ALONE, network: Network | None = None, *tests: Test, **more: Any) -> Settings:
    networks = more.pop("paths", (network.kind if network else "pod",))
    return Settings(
        "abcd1234",
        "id",
        tests or (RR,),
        networks,
        Pods("i"),
        Where(),
        Limits(200.0),
        machines=virtual,
        network=network,
        **more,
    )


def network(kind: str, of: str = "", topology: networks.Topology = "") -> Network:
    return networks.new(kind, of, topology, "", f"--{kind}", is_made=kind != "multus")


def data(secret: Json) -> tuple[Json, Json, str]:
    """What cloud-init reads, of users and of networks; and the program that starts."""
    text, links = (base64.b64decode(secret["data"][name]).decode() for name in ("userdata", "networkdata"))
    assert text.startswith("#cloud-config\n")
    user = json.loads(text.partition("\n")[2])
    (start, *_) = user["write_files"]
    assert user["runcmd"] == [[start["path"]]]
    return user, json.loads(links), start["content"]


def both(settings: Settings) -> tuple[Json, Json]:
    (point, *_) = points(settings)
    return machines.server(settings, 0, "n1", "77"), machines.client(settings, point, 0, PAIR, "77")


# --- objects ---


def test_machines_of_both_ends() -> None:
    for item, name, node in zip(both(of()), ("nm-abcd1234-s0v", "nm-abcd1234-p0001-0"), ("n1", "n2"), strict=True):
        assert (item["apiVersion"], item["kind"]) == ("kubevirt.io/v1", "VirtualMachineInstance")
        assert item["metadata"]["name"] == name
        assert item["metadata"]["labels"][manifests.LAYOUT] == "vm"
        spec = item["spec"]
        required = spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
        assert required["nodeSelectorTerms"][0]["matchFields"][0]["values"] == [node]
        domain = spec["domain"]
        assert domain["cpu"] == {"sockets": 2, "cores": 2, "threads": 1}
        assert domain["resources"]["requests"] == {"memory": "4096Mi", "cpu": "500m"}
        assert domain["devices"]["networkInterfaceMultiqueue"] and domain["devices"]["logSerialConsole"]
        (interface,) = domain["devices"]["interfaces"]
        assert interface["masquerade"] == {} and spec["networks"] == [{"name": "default", "pod": {}}]
        assert spec["volumes"][0]["containerDisk"]["image"] == "disk:1"
        assert spec["volumes"][1]["cloudInitNoCloud"]["secretRef"] == {"name": name}


@pytest.mark.parametrize(
    ("virtual", "one", "how", "wanted"),
    [
        (STATIC, network("multus", "default/fast"), "bridge", "default/fast"),
        (STATIC, network("bridge", "br1"), "bridge", "netmodel-abcd1234/nm-abcd1234"),
        (STATIC, network("sriov", "ens1"), "sriov", "netmodel-abcd1234/nm-abcd1234"),
        (STATIC, network("localnet", "physnet"), "bridge", "netmodel-abcd1234/nm-abcd1234"),
        (ALONE, network("cudn", topology="layer2"), "bridge", "netmodel-abcd1234/nm-abcd1234"),
    ],
)
def test_networks_of_machines(virtual: Machines, one: Network, how: str, wanted: str) -> None:
    settings = of(virtual, one)
    for end, item in enumerate(both(settings)):
        first, second = item["spec"]["domain"]["devices"]["interfaces"]
        assert "masquerade" in first and second[how] == {}
        assert item["spec"]["networks"][1] == {"name": "attached", "multus": {"networkName": wanted}}
        secret = machines.server_data(settings, item, "key", [], "77")
        if end == 1:
            secret = machines.client_data(settings, item, points(settings)[0], DIAL, "key", "77")
        _, links, _ = data(secret)
        attached = links["ethernets"]["attached"]
        assert attached["match"] == {"macaddress": second["macAddress"]}
        given = {"addresses": [virtual.ends[end]]} if virtual.ends else {"dhcp4": True}
        assert attached == {"match": attached["match"], **given}
    macs = [one["macAddress"] for item in both(settings) for one in item["spec"]["domain"]["devices"]["interfaces"]]
    assert len(set(macs)) == 4 and all(mac.startswith("02:") for mac in macs)


def test_a_primary_network_has_a_binding() -> None:
    settings = of(Machines("disk:1", binding="l2bridge", are_alone=True), network("udn", topology="layer2"))
    (interface,) = both(settings)[0]["spec"]["domain"]["devices"]["interfaces"]
    assert interface["binding"] == {"name": "l2bridge"}
    (made,) = network_objects.objects(settings, points(settings), PLACES, "1")
    assert made["spec"]["layer2"]["ipam"] == {"lifecycle": "Persistent"}


def test_what_is_made_for_machines() -> None:
    def made(kind: str, of_: str) -> list[Json]:
        settings = of(STATIC, network(kind, of_))
        return network_objects.objects(settings, points(settings), PLACES, "1")

    (item,) = made("bridge", "br1")
    assert json.loads(item["spec"]["config"]) == {
        "cniVersion": "0.3.1",
        "name": "nm-abcd1234",
        "type": "bridge",
        "bridge": "br1",
    }
    policy, item = made("sriov", "ens1")
    assert policy["spec"]["deviceType"] == "vfio-pci" and "ipam" not in item["spec"]
    (item,) = made("localnet", "physnet")
    assert item["spec"]["network"] == {
        "topology": "Localnet",
        "localnet": {"role": "Secondary", "physicalNetworkName": "physnet", "ipam": {"mode": "Disabled"}},
    }
    (space,) = manifests.namespaces(of(), ["pod"], "1")
    assert space["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "privileged"
    assert network_checks.rights(of())[0][0][1] == "virtualmachineinstances"


def test_what_they_run() -> None:
    """The key is in a Secret, which goes with the machine, and not in the machine's own object."""
    settings = of(ALONE, None, LAT)
    server, client = both(settings)
    server["metadata"]["uid"] = "some-uid"
    secret = machines.server_data(settings, server, "the key", ["10.0.0.0/8"], "1")
    (owner,) = secret["metadata"]["ownerReferences"]
    assert owner == {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachineInstance",
        "name": "nm-abcd1234-s0v",
        "uid": "some-uid",
    }
    _, _, start = data(secret)
    assert "export NETMODEL_KEY='the key'" in start and "netmodel -s --port 20000 --allow-peer 10.0.0.0/8" in start
    assert "the key" not in json.dumps(server)
    user, _, start = data(machines.client_data(settings, client, points(settings)[0], DIAL, "k", "1"))
    assert "--wait-slaves 200s" in start and "host=10.0.0.1" in start and "-m /profiles/tcp_stream_lat.xml" in start
    assert [one["path"] for one in user["write_files"]][1:] == ["/profiles/tcp_stream_lat.xml"]


# --- what a client says ---


def console(log: str, code: int) -> str:
    text = base64.encodebytes(gzip.compress(log.encode())).decode()
    whole = f"[    0.0] Linux\ncloud-init: done\n\nnetmodel-begin\n{text}netmodel-end {code}\n[   99.9] Power down\n"
    return whole.replace("\n", "\r\n")


def test_the_log_on_a_console() -> None:
    assert machines.said(console('{"a": 1}\n', 0)) == ('{"a": 1}\n', "")
    assert machines.said(console("netmodel: no slave\n", 2)) == ("netmodel: no slave\n", "exit code 2")
    for broken in ("", console("x", 0).partition("netmodel-end")[0], console("x" * 99, 0).replace("H4sI", "H4sJ")):
        with pytest.raises(MeasurementProblem, match="the console of the machine has"):
            machines.said(broken)


def test_the_program_of_a_client_writes_it(tmp_path: Path) -> None:
    """As a shell runs it, with another console and another netmodel."""
    settings = of()
    _, client = both(settings)
    _, _, start = data(machines.client_data(settings, client, points(settings)[0], DIAL, "k", "1"))
    for name, text in (("netmodel", "echo said; echo wrong >&2; exit 7"), ("poweroff", "echo off >off")):
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o755)
    start = start.replace("/run/netmodel.log", "log").replace("/dev/ttyS0", "console")
    subprocess.run(["sh", "-c", start], cwd=tmp_path, env={"PATH": f"{tmp_path}:/usr/bin:/bin"}, check=True, timeout=60)
    assert machines.said((tmp_path / "console").read_text()) == ("said\nwrong\n", "exit code 7")
    assert (tmp_path / "off").exists()


# --- points and results ---


def test_machines_are_measured_beside_pods_unless_they_are_alone() -> None:
    both_ends = of(Machines("disk:1"), paths=("pod", "host"))
    assert [one.way for one in points(both_ends)] == ["pod", "pod vm", "host"]
    assert [one.way for one in points(of(paths=("pod", "service")))] == ["pod vm", "service vm"]
    assert manifests.slaves(points(both_ends), PLACES) == [
        (0, "pod", "netmodel"),
        (0, "vm", "netmodel"),
        (0, "host", "netmodel"),
    ]
    ways = manifests.services(points(of(Machines("disk:1"), paths=("service",))), PLACES)
    names = [manifests.service(of(), way.slave, 1, way.network, ["TCP"], "1", 0, *way[2:]) for way in ways]
    assert [one["spec"]["selector"][manifests.LAYOUT] for one in names] == ["pod", "vm"]
    assert len({one["metadata"]["name"] for one in names}) == 2


def test_settings_come_back_from_the_folder() -> None:
    before = of(STATIC, network("sriov", "ens1"))
    assert from_json(json.loads(json.dumps(as_json(before)))) == before


@pytest.mark.parametrize(
    ("virtual", "one", "field", "text"),
    [
        (STATIC, network("bridge", "br1"), "bridgeInfo", "VM Bridge (10.10.10.12)"),
        (STATIC, network("localnet", "physnet"), "localnetInfo", "localnet/physnet"),
        (ALONE, network("udn", topology="layer2"), "udnInfo", "layer2 - passt"),
        (ALONE, network("cudn", topology="layer2"), "udnInfo", "Cudn -layer2"),
    ],
)
def test_what_results_tell_of_them(virtual: Machines, one: Network, field: str, text: str) -> None:
    settings = of(virtual, one)
    cell = Cell(points(settings)[0], ({"transactions_per_s": 5.0, "ok": True},))
    assert outputs.infos(cell, settings)[field] == text
    head, line = outputs.csv_results([cell], settings, "now").splitlines()
    assert dict(zip(head.split(","), line.split(","), strict=True))["VM mode"] == "true"
    assert rules.key_of(cell) != rules.key_of(Cell(points(of(Machines("x"), one))[0], cell.rows))


# --- words ---


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--vm",), ["--vm: --vm-image must name a container disk that has netmodel and cloud-init"]),
        (("--sockets", "4"), ["--sockets: has no effect without --vm"]),
        (("--localnet", "x"), ["--localnet: is of virtual machines (--vm)"]),
        (("--pod=false",), ["--pod=false: without --vm nothing else could be measured"]),
        (("--vm", "--vm-image", "d", "--macvlan", "e"), ["--macvlan and --vm exclude each other"]),
        (
            ("--vm", "--vm-image", "d", "--sriov", "e"),
            ["--sriov with --vm: pods cannot be on it as well (--pod=false)"],
        ),
        (
            ("--vm", "--vm-image", "d", "--pod=false", "--hostNet"),
            ["--vm --pod=false and --hostNet exclude each other"],
        ),
        (
            ("--vm", "--vm-image", "d", "--pod=false", "--bridge", "br1", "--bridgeNetwork", "none.json"),
            ["--bridgeNetwork none.json: [Errno 2] No such file or directory: 'none.json'"],
        ),
        (
            ("--vm", "--vm-image", "d", "--pod=false", "--bridge", "br1", "--bridgeNetwork", "bad.json"),
            ["--bridgeNetwork bad.json: 10.0.0.1: must have the length of its prefix, as /24"],
        ),
        (
            ("--vm", "--vm-image", "d", "--pod=false", "--localnet", "x", "--localnet-config", "bad.json"),
            ["--localnet-config bad.json: localnetServerNetwork is missing"],
        ),
        (
            ("--vm", "--vm-image", "d", "--pod=false", "--bridge", "br1", "--bridgeNetwork", "same.json"),
            ["--bridgeNetwork same.json: 10.0.0.1: is the address of both ends; each must have its own"],
        ),
        (
            ("--vm", "--vm-image", "d", "--pod=false", "--bridge", "br1", "--bridgeNetwork", "apart.json"),
            [
                "--bridgeNetwork apart.json: 10.0.0.1/24 and 10.0.1.1/24: must be of one network, as nothing routes "
                "between them"
            ],
        ),
        (
            ("--vm", "--vm-image", "d", "--pod=false", "--localnet", "x", "--pairs", "2"),
            ["--localnet with --vm: has one pair of machines, as their addresses are given"],
        ),
        (
            ("--vm", "--vm-image", "d", "--pod=false", "--bridge", "br1", "--bridgeNamespace", "foo"),
            ["--bridgeNamespace: has no effect with --vm, where --bridge is a bridge of the nodes"],
        ),
        (
            ("--vm", "--vm-image", "d", "--image-pull-secret", "s", "--service-account", "a"),
            [f"--vm and {flag} exclude each other" for flag in ("--image-pull-secret", "--service-account")],
        ),
        *[
            (
                ("--vm", "--vm-image", "d", "--pod=false", "--bridge", "br1", "--bridgeNetwork", file),
                [f"--bridgeNetwork {file}: must be a map with bridgeServerNetwork and bridgeClientNetwork"],
            )
            for file in ("null.json", "list.json")
        ],
        (
            ("--vm", "--vm-image", "d", "--pod=false", "--localnet", "a/b"),
            ["--localnet a/b: must be the name of a physical network of OVN: letters, digits, -, _ and ."],
        ),
        (("--use-virtctl",), ["--use-virtctl: nobody logs in to a virtual machine; cloud-init starts netmodel in it"]),
    ],
)
def test_what_is_refused(lab: Lab, tmp_path: Path, words: Sequence[str], said: list[str]) -> None:
    (tmp_path / "netperf.yml").write_text(LIST)
    ends = {"bridgeServerNetwork": "10.0.0.1", "bridgeClientNetwork": "10.0.0.2/24"}
    same, apart = ({name: f"10.0.{i * other}.1/24" for i, name in enumerate(ends)} for other in (0, 1))
    for name, document in (("bad", ends), ("null", None), ("list", []), ("same", same), ("apart", apart)):
        (tmp_path / f"{name}.json").write_text(json.dumps(document))
    done = lab("k8s", "run", *words)
    assert (done.returncode, done.stderr.splitlines()) == (2, [f"netmodel-lab: {line}" for line in said])
