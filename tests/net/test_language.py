# SPDX-License-Identifier: Apache-2.0
"""What a profile and its values mean: units, hosts with ports, groups that wait, and how phases are counted."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from compose import CLOSE, ask, check, connect, group, lasting, once, op, opened, times
from nmtest import PROFILES, Netmodel, defines, free_port, master_of, phase_of, slaves_of

WriteProfile = Callable[..., Path]
MINUTES = "m alone may mean minutes or milliseconds: write 1min or 1ms"
PARAM = '<param name="n" type="count" default="1k"/>'

# --- units ---


@pytest.mark.parametrize(
    ("words", "place"),
    [
        (("-D", "test_length=1m"), '<param name="test_length">: value "1m" (from -D): '),
        (("-i", "1m"), "--interval 1m: "),
        (("--warmup", "1m"), "--warmup 1m: "),
        (("--timeout", "1m"), "--timeout 1m: "),
    ],
    ids=["-D", "interval", "warmup", "timeout"],
)
def test_a_bare_m_is_refused_with_what_to_type(netmodel: Netmodel, words: tuple[str, ...], place: str) -> None:
    result = netmodel.run("-m", "tcp_rr", *words, code=1)
    assert place + MINUTES in result.err


@pytest.mark.parametrize(
    ("text", "lasts"),
    [("2min", "120s"), ("1.5h", "5400s"), ("90s", "90s"), ("3", "3s"), ("7us", "7us"), ("9ns", "9ns")],
)
def test_durations_have_minutes_and_hours(netmodel: Netmodel, text: str, lasts: str) -> None:
    plan = netmodel.run("-m", "tcp_rr", *defines(test_length=text), "--dump-plan", code=0)
    assert f"phase 2 request-response: for {lasts}, " in plan.out
    assert not plan.err


def test_a_count_of_a_native_profile_is_decimal(netmodel: Netmodel, profile: WriteProfile) -> None:
    assert "1000 flows" in netmodel.run("-m", "tcp_rr", "-D", "num_flows=1k", "--check", code=0).out
    document = check(netmodel.measure(profile(PARAM + opened(times("$n", ask())))))
    assert phase_of(document, "counted")["transactions"] == 1000


def flows_of(netmodel: Netmodel, path: Path, *words: str) -> int:
    match = re.search(r"(\d+) flows? on", netmodel.run("-m", path, *words, "--check", code=0).out)
    assert match
    return int(match[1])


@pytest.mark.parametrize(
    ("units", "declared", "flows"),
    [("", "", 2048), ("", PARAM, 2000), ("netmodel", "", 2000), ("uperf", PARAM, 2048), ("uperf", "", 2048)],
)
def test_a_profile_without_a_param_has_units_of_uperf(
    netmodel: Netmodel, profile: WriteProfile, units: str, declared: str, flows: int
) -> None:
    path = profile(declared + opened(once(op("nop")), strands="$n"))
    text = path.read_text().replace('name="test"', f'name="test" units="{units}"' if units else 'name="test"')
    path.write_text(text)
    assert flows_of(netmodel, path, "-D", "n=2k") == flows
    assert netmodel.run("-m", path, "-D", "n=2k", "-D", "more=1", "--check", code=1).err.count("error") == 1


def test_a_duration_of_uperf_stays_milliseconds(netmodel: Netmodel, profile: WriteProfile) -> None:
    path = profile(opened(lasting("$t", ask())))
    result = netmodel.run("-m", path, "-D", "t=40m", "--dump-plan", code=0)
    assert "phase 2 timed: for 40ms" in result.out
    assert "40m is 40 milliseconds, as in uperf; write 40ms, or with units=" in result.err


def test_both_ends_read_the_same_units(netmodel: Netmodel, profile: WriteProfile) -> None:
    """The slave has no parameters any more, by which it could tell whose units they are."""
    host = connect("127.0.0.1")
    body = opened(times("1k", ask()), opening=host)
    declared = PARAM.replace("1k", "1") + body + opened(times(1, ask()), strands="$n", opening=host)
    with netmodel.slave() as slave:
        for name, text, passes in (("ours", declared, 1000), ("uperfs", body, 1024)):
            document = check(netmodel.measure(profile(text, name), "-P", str(slave.port)))
            assert phase_of(document, "counted")["transactions"] == passes


def test_what_units_there_are(netmodel: Netmodel, profile: WriteProfile) -> None:
    path = profile(opened(once(op("nop"))))
    for wrong, why in (("metric", "must be netmodel or uperf"), ("$u", "must be a word, netmodel or uperf")):
        path.write_text(re.sub('name="test"( units="[^"]*")?', f'name="test" units="{wrong}"', path.read_text()))
        assert why in netmodel.run("-m", path, "-D", "u=uperf", "--check", code=1).err


# --- groups that are measured in different phases ---

SINGLE = '<group name="single">' + lasting("50ms", connect(), ask(), op("disconnect"), name="crr") + "</group>\n"
KEPT = '<group name="kept">' + once(connect()) + lasting("50ms", ask(), name="get") + CLOSE + "</group>\n"
WAIT = "<transaction/>"


def test_groups_that_do_not_run_at_the_same_time_are_told(netmodel: Netmodel, profile: WriteProfile) -> None:
    path = profile(SINGLE + KEPT + KEPT.replace("kept", "other"))
    told = (
        "group single is measured in phase 1 (transaction crr, line 3), but group kept is measured in phase 2 "
        "(transaction get, line 6), group other is measured in phase 2 (transaction get, line 10): they do not run at "
        "the same time; put an empty <transaction/> before line 3 to let the first wait"
    )
    assert netmodel.run("-m", path, "--check", code=0).err == f"{path}:3: warning: {told}\n"
    document = netmodel.run("-m", path, "--format", "json", code=0)
    assert document.json()["run"]["warnings"] == [told]
    assert not document.err
    text = netmodel.run("-m", path, code=0)
    assert told in text.out
    assert not text.err
    assert told in netmodel.run("-m", path, "--format", "neper", code=0).err


def test_an_empty_transaction_waits_out_a_phase(netmodel: Netmodel, profile: WriteProfile) -> None:
    path = profile(SINGLE.replace("<transaction", WAIT + "<transaction", 1) + KEPT)
    assert not netmodel.run("-m", path, "--check", code=0).err
    document = check(netmodel.measure(path))
    assert not document["run"]["warnings"]
    crr, get = phase_of(document, "crr", 0), phase_of(document, "get", 1)
    assert crr["phase"] == get["phase"] == 2
    assert abs(crr["begin_s"] - get["begin_s"]) < 0.04
    assert crr["transactions"] and get["transactions"]


@pytest.mark.parametrize(
    "groups",
    [
        KEPT,
        KEPT.replace(CLOSE, lasting("50ms", ask(1, 1), name="more") + CLOSE),
        KEPT + KEPT.replace("kept", "longer").replace(CLOSE, lasting("50ms", ask(1, 1), name="more") + CLOSE),
        SINGLE + '<group name="second">' + WAIT + SINGLE.split("\n", 1)[0].split(">", 1)[1] + "\n</group>\n",
        SINGLE + '<group name="second">' + once(op("nop")) + SINGLE.split("\n", 1)[0].split(">", 1)[1] + "\n</group>\n",
        SINGLE + KEPT.replace('name="get"', 'name="get" measure="no"'),
        group(once(connect()), times(3, ask()), CLOSE) + group(times(3, connect(), ask(), op("disconnect"))),
    ],
    ids=["one", "sequence", "overlap", "waits", "nop", "not-measured", "no-durations"],
)
def test_groups_that_are_meant_so_are_not_told(netmodel: Netmodel, profile: WriteProfile, groups: str) -> None:
    assert not netmodel.run("-m", profile(groups), "--check", code=0).err


@pytest.mark.parametrize("name", sorted(path.stem for path in PROFILES.glob("*.xml")))
def test_no_stock_profile_is_told(netmodel: Netmodel, name: str) -> None:
    assert "at the same time" not in netmodel.run("-m", name, "--dump-plan").err


# --- one numbering ---


def test_phases_are_counted_from_one_everywhere(netmodel: Netmodel, tmp_path: Path) -> None:
    words: tuple[str, ...] = ("-m", "tcp_rr", "-D", "test_length=60ms")
    assert "  phase 2 request-response: for 60ms" in netmodel.run(*words, "--dump-plan", code=0).out
    words += ("--interval", "20ms")
    run = netmodel.run(*words, "-v", "-t", "--format", "json", "--stream", tmp_path / "rows", code=0)
    assert "phase 2 of 3 begins" in run.err
    document = run.json()
    phases = document["groups"][0]["phases"]
    assert [phase["phase"] for phase in phases] == [1, 2, 3]
    assert phases[1]["name"] == "request-response"
    assert {row["phase"] for row in document["intervals"]} == {2}
    assert {row["phase"] for row in master_of(document)["intervals"]} == {2}
    assert [phase["phase"] for phase in slaves_of(document)[0]["groups"][0]["phases"]] == [1, 2, 3]
    rows = [json.loads(line) for line in (tmp_path / "rows").read_text().splitlines()]
    assert {row["phase"] for row in rows if "phase" in row} == {2}
    table = csv.DictReader(io.StringIO(netmodel.run(*words, "--format", "csv", code=0).out))
    assert {row["phase"] for row in table} == {"2"}


def test_lines_and_tables_of_uperf_count_as_uperf_does(netmodel: Netmodel) -> None:
    out = netmodel.run("-m", "tcp_rr", "-D", "test_length=60ms", "-R", "-t", code=0).out
    assert re.search(r"^timestamp_ms:\S+ name:Txn2 ", out, re.MULTILINE)
    assert re.search(r"^ *Txn1 +request-response\b", out, re.MULTILINE)


# --- hosts ---


def test_a_host_may_name_the_port_of_its_slave(netmodel: Netmodel, profile: WriteProfile) -> None:
    with netmodel.slave() as one, netmodel.slave() as two:
        hosts = [f"127.0.0.1:{one.port}", f"[::1]:{two.port}"]
        groups = "".join(opened(times(20, ask()), opening=connect(host)) for host in hosts)
        document = check(netmodel.measure(profile(groups)))
        assert [host["name"] for host in document["hosts"]] == ["master", *hosts]
        assert netmodel.run("-m", "tls_rr", *defines(host=hosts[0], test_length="50ms"), code=0)


def test_an_address_may_stand_in_brackets(netmodel: Netmodel) -> None:
    port = free_port()
    with netmodel.started("-s", "--bind", f"[::1]:{port}", "--allow-peer", "[fd00::]/8,[::1]") as slave:
        slave.wait_line(rf"slave listening on ::1 port {port}")
        values = defines(host="[::1]", test_length="50ms", local_hosts="[::1]")
        document = check(netmodel.measure("tcp_rr", *values, "-P", str(port)))
        assert document["hosts"][1]["name"] == "::1"


def test_an_absent_slave_is_told_with_its_own_port(netmodel: Netmodel) -> None:
    port = free_port()
    result = netmodel.run("-m", "tcp_rr", *defines(host=f"127.0.0.1:{port}"), "--wait-slaves", "0", code=2)
    assert f'nothing listens on port {port} there: start a slave with "netmodel -s -P {port}"' in result.err


@pytest.mark.parametrize("host", ["127.0.0.1", "10.0.0.7", "::1", "[fd00::7]", "10.0.0.7:20000"])
def test_an_ip_address_is_no_host_of_vsock(netmodel: Netmodel, host: str) -> None:
    result = netmodel.run("-m", "vsock_rr", "-D", f"host={host}", "--check", code=1)
    assert "must be local, or with -S vsock at both ends a CID, which is a number" in result.err


# --- profiles that are no XML ---

WILD = (
    "<profile name=wild><group nthreads=1><transaction iterations=1>"
    '<flowop type=connect options="remotehost=local"/></transaction>'
    '<transaction iterations=2><flowop type=write options="size=1"/></transaction>'
    "<transaction iterations=1><flowop type=disconnect/></transaction></group></profile>\n"
)


def test_a_wild_profile_is_told_in_one_line(netmodel: Netmodel, tmp_path: Path) -> None:
    path = tmp_path / "wild.xml"
    path.write_text(WILD)
    told = netmodel.run("-m", path, "--check", code=0).err.splitlines()
    assert len(told) == 8 and all("no quotes" in line for line in told), told
    run = netmodel.run("-m", path, code=0).err
    assert run == f"{path}: warning: 8 places are not well-formed XML, read as uperf reads them; --check lists them\n"
    assert not netmodel.run("-m", path, "-q", code=0).err
    quoted = re.sub(r"=(\w+)(?=[ />])", r'="\1"', WILD).replace('nthreads="1"', "nthreads=1")
    path.write_text(quoted)
    assert netmodel.run("-m", path, code=0).err == f'{path}:1: warning: nthreads=1: no quotes, read as nthreads="1"\n'
