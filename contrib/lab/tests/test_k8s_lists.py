# SPDX-License-Identifier: Apache-2.0
"""netmodel-lab k8s: tests that a list has twice, and profiles of one's own."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import pytest

pytest.importorskip("kubernetes", reason="the Kubernetes client is not installed; requirements-dev.txt has it")

from conftest import NETMODEL

from netmodel_lab.k8s import manifests, options
from netmodel_lab.k8s.placement import Pair
from netmodel_lab.k8s.settings import Settings, as_json, from_json, points
from netmodel_lab.problems import UsageProblem


def asked(tmp_path: Path, text: str, *words: str) -> Settings:
    (tmp_path / "list.yml").write_text(text)
    parser = argparse.ArgumentParser()
    options.add_tests(parser)
    return options.settings(parser.parse_args([str(tmp_path / "list.yml"), *words]))


def mistakes(tmp_path: Path, text: str, *words: str) -> list[str]:
    with pytest.raises(UsageProblem) as caught:
        asked(tmp_path, text, *words)
    return [line.removeprefix(f"{tmp_path}/") for line in caught.value.lines]


def entry(name: str, more: str = "", size: str = "64") -> str:
    return (
        f"  - {{{name}: , profile: TCP_RR, duration: 1, samples: 2, messagesize: {size}, parallelism: 1"
        + (f", {more}" if more else "")
        + "}\n"
    )


def test_equal_tests_are_refused(tmp_path: Path) -> None:
    text = "tests:\n" + entry("a") + entry("b") + entry("a", "service: true") + entry("c", size="[1, 2, 1]")
    assert mistakes(tmp_path, text) == [
        "list.yml:3:5: b: TCP_RR 64 B, parallelism 1, 1 s: is the same as a before; more samples are those of its "
        "samples key",
        "list.yml:5:5: c: TCP_RR 1 B, parallelism 1, 1 s: is the same as c before; more samples are those of its "
        "samples key",
    ]


def test_a_test_through_a_service_twice(tmp_path: Path) -> None:
    text = "tests:\n" + entry("a") + entry("b", "service: true")
    assert len(points(asked(tmp_path, text))) == 4
    assert mistakes(tmp_path, text, "--paths", "pod,service") == ["b: service: is the same as a with --paths service"]


# --- profiles of one's own ---

WEB = """<profile name="web">
  <params names="host num_flows test_length arrivals"/>
  <group name="g" nthreads="1" nflows="$num_flows">
    <transaction iterations="1"><flowop type="connect" options="remotehost=$host protocol=tcp"/></transaction>
    <transaction duration="$test_length" arrivals="$arrivals">
      <flowop type="write" options="size=1"/><flowop type="read" options="size=1"/>
    </transaction>
  </group>
</profile>
"""


def model(name: str, profile: str, more: str = "", params: str = "") -> str:
    given = f", params: {{{params}}}" if params else ""
    return f"  - {{{name}: , netmodel: {profile}, duration: 2, samples: 1{given}{', ' + more if more else ''}}}\n"


@pytest.fixture(autouse=True)
def program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NETMODEL", str(NETMODEL))


def test_a_file_goes_to_the_cluster_with_its_parameters(tmp_path: Path) -> None:
    (tmp_path / "web.xml").write_text(WEB)
    text = "tests:\n" + model("web", "web.xml", params='num_flows: 8, arrivals: "poisson(5k)"') + entry("a")
    settings = asked(tmp_path, text)
    point, other, _ = points(settings)
    files = manifests.config_map(settings, "n", "1")
    assert files and list(files["data"].values()) == [WEB]
    assert point.profile == f"/profiles/{next(iter(files['data']))}"
    assert point.params("10.0.0.1", None) == {
        "num_flows": "8",
        "arrivals": "poisson(5k)",
        "test_length": "2s",
        "host": "10.0.0.1",
    }
    assert from_json(json.loads(json.dumps(as_json(settings)))) == settings
    assert (point.place, other.place) == ("other-node", "other-node")


def test_files_have_room_together(tmp_path: Path) -> None:
    text = "tests:\n"
    for name in ("a", "b"):
        (tmp_path / f"{name}.xml").write_text(WEB + f"<!-- {name * 500_000} -->")
        text += model(name, f"{name}.xml")
    (found,) = mistakes(tmp_path, text)
    assert "a ConfigMap has no room for the 100" in found and found.endswith(
        "bytes of all profiles; 900000 are the most"
    )


def test_equal_profiles_are_refused_however_they_are_written(tmp_path: Path) -> None:
    (tmp_path / "web.xml").write_text(WEB)
    text = "tests:\n" + model("a", "web.xml", params='num_flows: 2, arrivals: "poisson(5k)"')
    text += model("b", "./web.xml", params='arrivals: "poisson(5k)", num_flows: 2')
    (found,) = mistakes(tmp_path, text)
    assert "is the same as a before" in found


def test_parameters_without_a_value(tmp_path: Path) -> None:
    text = "tests:\n" + model("a", "http", params="server: ") + model("b", "http", params='server: ""')
    text += model("c", "http", params="num_flows: ")
    assert [line.partition(" ")[2] for line in mistakes(tmp_path, text)] == [
        "a: params: server: has no value",
        "b: params: server: has no value",
        "c: params: num_flows: has no value",
    ]


def test_a_server_of_others_has_no_slave(tmp_path: Path) -> None:
    settings = asked(tmp_path, "tests:\n" + model("web", "http", params='server: "web:80"'))
    (point,) = points(settings)
    assert (point.network, point.place) == ("external", "external")
    assert "host" not in point.params("", None) and point.params("", None)["server"] == "web:80"
    assert manifests.slaves([point], {"external": (Pair("a", "a"),)}) == []


def test_mistakes_of_profiles_of_one_s_own(tmp_path: Path) -> None:
    (tmp_path / "web.xml").write_text(WEB)
    (tmp_path / "bad.xml").write_text("<profile>")
    text = "tests:\n"
    text += model("a", "none.xml") + model("b", "tcp_rrr") + model("c", "web.xml", params="nflows: 2, host: x")
    text += model("d", "web.xml", "service: true") + model("e", "web.xml", "parallelism: 2")
    text += model("f", "http", "service: true", params='server: "x:80"') + model("g", "bad.xml")
    text += model("h", "web.xml", params="num_flows: many") + "  - {i: , netmodel: http, params: [1]}\n"
    found = mistakes(tmp_path, text)
    for part in (
        "a: " + str(tmp_path / "none.xml") + ": there is no such file",
        "b: -m tcp_rrr: no such profile; did you mean tcp_rr?",
        "c: params: nflows: web.xml has no such parameter; did you mean num_flows?",
        "c: params: host: the run sets it",
        "d: service: web.xml has no parameter port, which a Service must know before",
        "e: parallelism: is no key beside netmodel; the params of netmodel have it",
        "f: service: a test with server goes to that server alone",
        "g: ",
        "h: ",
        "i: duration is missing",
        "i: samples is missing",
        "i: params: must be a map of names and values",
    ):
        assert any(part in line for line in found), (part, found)
    assert mistakes(tmp_path, "tests:\n" + model("web", "http", params='server: "x:80"'), "--serverIP", "1.2.3.4") == [
        "web: params: server: excludes --serverIP"
    ]
    text = "tests:\n" + model("web", "http", params='server: "x:80"')
    assert mistakes(tmp_path, text, "--all") == ["--all: has no effect, as all tests have a server of their own"]
