# SPDX-License-Identifier: Apache-2.0
"""netmodel-lab k8s: the points that settings have, in their order, and what netmodel gets of each."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

pytest.importorskip("kubernetes", reason="the Kubernetes client is not installed; requirements-dev.txt has it")

from conftest import NETMODEL, Lab
from k8s_examples import RR, SERVED, STREAM, of

from netmodel_lab.k8s import manifests, networks
from netmodel_lab.k8s.catalog import CATALOG
from netmodel_lab.k8s.models import Model
from netmodel_lab.k8s.netperf_file import Test
from netmodel_lab.k8s.networks import Network
from netmodel_lab.k8s.settings import PROFILES, Pods, Where, as_json, from_json, points
from netmodel_lab.program import Program


def test_the_parameters_of_each_profile_are_known_to_netmodel(lab: Lab) -> None:
    """Those that stock profiles take, and those of ours."""
    program = Program(NETMODEL)
    for name, entry in CATALOG.items():
        test = Test("t", name, 1, 1, 512, 2, messagereadsize=8, burst=2 if entry.has_burst else 0)
        (point,) = points(of(test))
        profile = str(PROFILES / entry.profile) if entry.profile.endswith(".xml") else entry.profile
        for control in (None, "192.0.2.7"):
            assert program.check(profile, point.params("192.0.2.1", 21000, control)) == [], name
    assert points(of(RR))[0].params("a", None)["pipeline"] == "4"


def test_samples_are_interleaved_and_a_service_has_no_host_network() -> None:
    found = points(of(STREAM, SERVED, networks=("pod", "host")))
    assert [(point.test.name, point.network, point.sample) for point in found] == [
        ("TCPStream", "pod", 1),
        ("TCPStream", "host", 1),
        ("served", "service", 1),
        ("TCPStream", "pod", 2),
        ("TCPStream", "host", 2),
        ("TCPStream", "pod", 3),
        ("TCPStream", "host", 3),
    ]
    assert [point.seq for point in found] == list(range(1, 8))


def test_settings_come_back_from_the_folder() -> None:
    before = of(
        STREAM, RR, networks=("pod", "host"), pods=Pods("i", tolerations=({"key": "a"},)), allow_peers=("::/0",)
    )
    assert from_json(json.loads(json.dumps(as_json(before)))) == before


@pytest.mark.parametrize(
    ("path", "network", "is_parted"),
    [
        ("pod", None, False),
        ("headless", None, False),
        ("service", None, True),
        ("nodeport", None, True),
        ("hairpin", None, False),  # its slave comes with the client
        ("service", networks.new("udn", "", "layer2", "", "--udnl2"), False),  # pods are reached over it alone
        ("macvlan", networks.new("macvlan", "eth1", "", "", "--macvlan"), True),
        ("multus", networks.new("multus", "default/fast", "", "", "--multus", is_made=False), False),
    ],
)
def test_the_control_connection_goes_to_the_pod_where_it_can(
    path: str, network: Network | None, is_parted: bool
) -> None:
    """And a slave takes data from where they come."""
    where = Where(placements=("same-pod" if path == "hairpin" else "other-node",))
    settings = replace(of(RR, networks=(path,)), network=network, where=where)
    (point, *_) = points(settings)
    assert manifests.is_parted(settings, point) == is_parted
    args = manifests.client_args(
        point, manifests.Dial("10.96.0.9", 20000, 21000, control="10.0.0.1" if is_parted else None)
    )
    assert ("data_host=10.96.0.9" in args) == is_parted
    assert f"host={'10.0.0.1' if is_parted else '10.96.0.9'}" in args


def test_a_profile_that_has_one_address_alone() -> None:
    """Its control connection takes the way of its data."""
    model = Model("own.xml", text="<profile/>", sets=("host", "port", "test_length"))
    settings = of(replace(SERVED, model=model))
    (point, *_) = points(settings)
    assert not manifests.is_parted(settings, point)
    settings = of(replace(SERVED, model=replace(model, sets=("data_host", *model.sets))))
    (point, *_) = points(settings)
    assert manifests.is_parted(settings, point)
