# SPDX-License-Identifier: Apache-2.0
"""netmodel-lab k8s: one master over many slaves."""

from __future__ import annotations

import xml.etree.ElementTree as tree
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("kubernetes", reason="the Kubernetes client is not installed; requirements-dev.txt has it")

from conftest import Lab
from k8s_examples import RR, THREE, V2, of, placement_of

from netmodel_lab.k8s import fan, figures, manifests, options, settings, usage
from netmodel_lab.k8s.manifests import Dial
from netmodel_lab.k8s.models import Model
from netmodel_lab.k8s.placement import Pair
from netmodel_lab.k8s.settings import Where, points
from netmodel_lab.problems import UsageProblem
from netmodel_lab.program import Program

PROFILES = Path(__file__).resolve().parents[3] / "profiles"
REFUSED = {"http_get", "relay", "server"}  # which have a host2 of their own, or go to no $host
WHERE = Where(pattern="one-to-many", pairs=3)


def test_a_group_is_there_for_each_slave(tmp_path: Path) -> None:
    path = tmp_path / "many.xml"
    path.write_text(fan.spread("tcp_rr", (PROFILES / "tcp_rr.xml").read_text(), 3))
    root = tree.fromstring(path.read_text())
    assert [group.get("name") for group in root.findall("group")] == ["rr", "rr_2", "rr_3"]
    hosts = {"host": "192.0.2.1", "host2": "192.0.2.2:20001", "host3": "[2001:db8::1]:20000"}
    assert Program.find().check(str(path), hosts) == []
    every = [flowop.get("options", "") for flowop in root.iter("flowop")]
    for number, host in enumerate(("$host", "$host2", "$host3")):
        assert sum(f"remotehost={host} " in f"{options} " for options in every) == 1, number
    with pytest.raises(UsageProblem, match=r"no group of it goes to \$host"):
        fan.spread("own", "<profile name='own'><group/></profile>", 2)
    with pytest.raises(UsageProblem, match="has a parameter host2"):
        fan.spread("own", "<profile name='own'><param name='host2'/></profile>", 2)


@pytest.mark.parametrize("profile", sorted({path.stem for path in PROFILES.glob("*.xml")} - REFUSED))
def test_of_each_stock_profile_a_valid_one_is_made(profile: str, tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    trace.write_text("0,a,1,100,1,get,0\n")
    made = fan.spread(profile, (PROFILES / f"{profile}.xml").read_text(), 3)
    fan.check(profile, made, {"trace": str(trace)} if profile == "replay" else {})


def test_what_netmodel_has_against_it_is_told_before_the_run(lab: Lab, tmp_path: Path) -> None:
    """Of all profiles, and once of each."""
    of_list = [("web", "specweb", 1), ("own", "./mine.xml", 1), ("longer", "./mine.xml", 2)]
    lines = [f"  - {{{name}: , netmodel: {profile}, duration: {s}, samples: 1}}\n" for name, profile, s in of_list]
    (tmp_path / "list.yml").write_text(f"tests:\n{''.join(lines)}")
    (tmp_path / "mine.xml").write_text((PROFILES / "tcp_rr.xml").read_text().replace("$host", "localhost"))
    done = lab("k8s", "plan", "list.yml", "--pattern", "one-to-many", "--pairs", "1000")
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        "netmodel-lab: --pattern one-to-many: specweb: the profile is larger than 1 MiB",
        "netmodel-lab: --pattern one-to-many: mine.xml: no group of it goes to $host",
    ]


def test_netmodel_is_asked_once_of_each_profile_and_its_values(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, str]] = []
    monkeypatch.setattr(fan, "check", lambda name, _, params: asked.append((name, params.get("test_length", ""))))
    own = replace(RR, model=Model("tcp_rr", sets=("test_length",)))
    tests = [RR, replace(RR, parallelism=8), own, replace(own, samples=9), replace(own, duration=99)]
    assert list(options._spread(tests, 3)) == ["many-3-tcp_rr.xml"]
    assert len(asked) == len(set(asked)) == 3


def test_a_file_is_named_as_in_the_list(lab: Lab, tmp_path: Path) -> None:
    param = '<param name="host2" type="host" default="local" help="another one"/>'
    text = (PROFILES / "tcp_rr.xml").read_text().replace("  <group", f"{param}<group", 1)
    (tmp_path / "mine.xml").write_text(text)
    (tmp_path / "list.yml").write_text("tests:\n  - {own: , netmodel: ./mine.xml, duration: 1, samples: 1}\n")
    done = lab("k8s", "plan", "list.yml", "--pattern", "one-to-many", "--pairs", "2")
    assert done.returncode == 2
    said = "netmodel-lab: --pattern one-to-many: mine.xml: has a parameter host2, which would be a slave's"
    assert done.stderr.splitlines() == [said]


GROUP = "<profile name='own'><group name='g'><flowop options='a {}'/><flowop options='{}'/></group></profile>"


@pytest.mark.parametrize("braced", ["remotehost=${host}", "remotehost=${host} nodelay"])
def test_each_way_to_write_a_parameter_is_led_elsewhere(braced: str) -> None:
    root = tree.fromstring(fan.spread("own", GROUP.format("remotehost=$host", braced), 2))
    first, second = ([flowop.get("options") for flowop in group] for group in root.findall("group"))
    assert first == ["a remotehost=$host", braced]
    assert second == ["a remotehost=$host2", braced.replace("${host}", "$host2")]


@pytest.mark.parametrize("other", ["server=$host", "server=x${host}", "remotehost=$host,1"])
def test_an_address_elsewhere_is_refused(other: str) -> None:
    """It would be that of the first slave in all copies, or have a port with it."""
    with pytest.raises(UsageProblem) as caught:
        fan.spread("own", GROUP.format("remotehost=$host", other), 2)
    said = f"--pattern one-to-many: own: $host stands elsewhere than in remotehost=$host: {other}"
    assert caught.value.lines == [said]
    for harmless in ("server=$hostname", "name=$$host", "remotehost=$host1"):
        assert harmless in fan.spread("own", GROUP.format("remotehost=$host", harmless), 2)


def test_one_client_has_all_slaves() -> None:
    places = placement_of(THREE, WHERE)
    assert places["other-node"] == (Pair("a", "b", 0), Pair("c", "b", 1), Pair("a", "b", 2))
    whole = of(RR, where=WHERE, many={"many-3-tcp_rr.xml": "text"})
    (point, _) = points(whole)
    dials = [Dial(f"10.0.0.{i}", 20000 + i) for i in range(3)]
    job = manifests.client(whole, point, 0, places["other-node"][0], dials[0], [], "99", dials[1:])
    (container,) = job["spec"]["template"]["spec"]["containers"]
    assert container["args"][:2] == ["-m", "/profiles/many-3-tcp_rr.xml"]
    assert {"host=10.0.0.0", "host2=10.0.0.1:20001", "host3=10.0.0.2:20002"} <= set(container["args"])
    data = manifests.config_map(whole, "n", "99")
    assert data and data["data"] == {"many-3-tcp_rr.xml": "text"}
    own = replace(RR, model=Model("own.xml", text="<profile/>"))
    assert settings.own_profiles(replace(whole, tests=(own,))) == {"many-3-tcp_rr.xml": "text"}
    assert settings.from_json(settings.as_json(whole)) == whole


def test_the_row_has_all_nodes_and_the_skew() -> None:
    whole = of(RR, where=WHERE, many={"many-3-tcp_rr.xml": "text"})
    servers = [{"node": node, "pod": f"s{i}"} for i, node in enumerate(("a", "c", "a"))]
    ends = {"server": servers[0], "servers": servers, "client": {"node": "b", "pod": "c"}, "relation": "other node"}
    hosts = [{"role": "slave", "rusage": {"utime_s": i, "stime_s": 0, "maxrss_kb": 1}} for i in range(3)]
    result = {"run": {"start": "x", "start_s": 1.0, "start_skew_s": 0.25, "elapsed_s": 1.0}, "hosts": hosts}
    pair = {"k8s": ends, "result": result}
    row = figures.row(whole, points(whole)[0], {"pairs": [pair]}, None)
    assert (row["server_node"], row["client_node"], row["d.ends"]) == ("a, c", "b", "3 slaves")
    assert (row["slaves"], row["start_skew_s"]) == (3, 0.25)
    assert {pod: cpu for (_, pod), (cpu, _) in usage.of_samples([[pair]])["server"].pods.items()} == {
        "s0": 0,
        "s1": 100,
        "s2": 200,
    }
    assert replace(whole, where=Where()).where.slaves == 1


def test_what_goes_to_one_slave_is_refused(lab: Lab, tmp_path: Path) -> None:
    (tmp_path / "netperf.yml").write_text(V2)
    done = lab("k8s", "run", "--pattern", "one-to-many", "--paths", "pod,nodeport")
    assert done.returncode == 2
    assert [line.removeprefix("netmodel-lab: ") for line in done.stderr.splitlines()] == [
        "--pattern one-to-many: --pairs says how many",
        "--pattern one-to-many: bursts: service: goes to one slave",
        "--pattern one-to-many: --paths nodeport: goes to one slave",
    ]
