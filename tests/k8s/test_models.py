# SPDX-License-Identifier: Apache-2.0
"""Profiles of one's own: a file beside the list, an open loop, and a server of others in the cluster."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from conftest import DRIVERS, DRIVERS_IMAGE, ON, Lab, kubectl, objects

PROFILE = """<profile name="paced">
  <params names="host num_flows test_length arrivals port"/>
  <param name="size" type="size" default="100" help="bytes of a message"/>
  <group name="rr" nthreads="1" nflows="$num_flows">
    <transaction name="connect" iterations="1">
      <flowop type="connect" options="remotehost=$host protocol=tcp"/>
    </transaction>
    <transaction name="ask" duration="$test_length" arrivals="$arrivals">
      <flowop type="write" options="size=$size"/>
      <flowop type="read" options="size=$size"/>
    </transaction>
  </group>
</profile>
"""
LIST = """tests:
  - paced:
    netmodel: paced.xml
    params: {size: 200, num_flows: 4, arrivals: "poisson(500)"}
    duration: 3
    samples: 1
  - served:
    netmodel: paced.xml
    params: {num_flows: 2}
    duration: 1
    samples: 1
    service: true
"""


def test_a_file_and_an_open_loop(lab: Lab, tests_space: tuple[str, str]) -> None:
    lab.file(PROFILE, "paced.xml")
    done = lab("run", lab.file(LIST), *ON, *tests_space, "-o", "out")
    assert done.returncode == 0, done.stderr
    paced, served = lab.rows()
    assert 300 < paced["transactions_per_s"] < 700
    assert (served["d.network"], served["relation"]) == ("service", "other node")
    assert "num_flows=4 size=200" in paced["d.model"]
    assert "paced.xml" in done.stdout


@pytest.fixture
def memcached() -> Iterator[str]:
    if "memcached" not in DRIVERS:
        pytest.skip("no image has memcached: see tests/k8s/drivers-image")
    words = ["run", "cache", "--image", DRIVERS_IMAGE, "--image-pull-policy", "Never", "--port", "11211", "--expose"]
    words += ["--overrides", '{"spec": {"securityContext": {"runAsUser": 65534}}}']
    kubectl(*words, "--command", "--", "memcached", "-l", "0.0.0.0", "-p", "11211")
    kubectl("wait", "--for=condition=Ready", "pod/cache", "--timeout=60s")
    (service,) = [one for one in objects("services", "-n", "default") if one["metadata"]["name"] == "cache"]
    yield service["spec"]["clusterIP"]
    kubectl("delete", "pod/cache", "service/cache", "--grace-period=1")


def test_a_server_of_others_in_the_cluster(lab: Lab, tests_space: tuple[str, str], memcached: str) -> None:
    text = "tests:\n  - cache: \n    netmodel: memcache\n    duration: 2\n    samples: 1\n"
    text += f'    params: {{server: "{memcached}:11211", num_flows: 4, keys: 100}}\n'
    done = lab("run", lab.file(text), *ON, *tests_space, "-o", "out")
    assert done.returncode == 0, done.stderr
    (row,) = lab.rows()
    assert row["transactions_per_s"] > 100 and row["relation"] == "external"
    (document,) = json.loads((lab.folder / "out" / "result.json").read_text())
    assert document["externalServer"] is True
    assert document["netmodel"]["server"] == {"address": f"{memcached}:11211"}
