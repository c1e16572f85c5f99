# SPDX-License-Identifier: Apache-2.0
"""Open arrivals: what is due is due whatever the other end does, and a load that was not reached is not told as reached."""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from keyed import asking, counts
from nmtest import Json, Netmodel, assert_complete, assert_ends_agree, assert_messages_add_up, defines, phase_of

Validate = Callable[[Json], None]
WriteProfile = Callable[..., Path]

CONNECT = '<transaction name="connect"><flowop type="connect" options="remotehost=local"/></transaction>'
ASK = '<flowop type="write" options="size=10"/><flowop type="read" options="size=20"/>'


@pytest.mark.parametrize(
    ("name", "phase"),
    [
        ("tcp_rr", "request-response"),
        ("tcp_crr", "connect-request-response"),
        ("udp_rr", "request-response"),
        ("tls_rr", "request-response"),
    ],
)
def test_all_that_becomes_due_is_done_or_counted(name: str, phase: str, netmodel: Netmodel) -> None:
    document = netmodel.measure(name, *defines(test_length="500ms", arrivals="const(1k/s)", num_flows=8))
    assert_complete(document)
    if name == "udp_rr":
        assert_messages_add_up(document)
    else:
        assert_ends_agree(document)
    of = phase_of(document, phase)
    load = of["load"]
    assert load["due"] == 500 and load["offered_per_s"] == 1000
    assert of["transactions"] + load["failed"] + load["unsent"] == 500
    assert of["send_delay_s"]["count"] == of["response_s"]["count"] == of["transactions"]
    assert of["latency_s"]["mean"] + of["send_delay_s"]["mean"] == pytest.approx(of["response_s"]["mean"], rel=0.001)
    assert load["busy_s"] + load["kernel_s"] + load["generator_s"] == pytest.approx(of["send_delay_s"]["mean"], rel=0.01)


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("pipelined", [False, True])
def test_what_is_outstanding_is_the_rate_by_the_time(pipelined: bool, workers: int, netmodel: Netmodel, profile: WriteProfile) -> None:
    """A part of the passes that are under way at the end is after it."""
    connect = CONNECT.replace("remotehost=local", "remotehost=local app=echo") if pipelined else CONNECT
    ask = '<flowop type="echo" options="size=10"/>' if pipelined else ASK.replace("/>", '/><flowop type="think" options="duration=20ms at=slave"/>', 1)
    more = 'pipeline="4"' if pipelined else ""
    document = netmodel.measure(
        profile(
            f"""<group nflows="24" nthreads="{workers}">{connect}
            <transaction name="ask" duration="500ms" arrivals="poisson(500/s)" {more}>{ask}</transaction></group>"""
        )
    )
    of = phase_of(document, "ask")
    load, passes = of["load"], of["latency_s"]
    assert load["failed"] == load["unsent"] == 0 and not [warning for warning in document["run"]["warnings"] if "Little" in warning]
    most = 1.001 * of["transactions"] * passes["mean"]
    assert most / 1.002 - load["tardy"] * passes["max"] <= load["outstanding_mean"] * 0.5 <= most
    assert load["outstanding_mean"] < load["outstanding_max"] <= 24 * (4 if pipelined else 1)
    assert pipelined or load["outstanding_max"] >= 8


@pytest.mark.parametrize(
    ("law", "due"),
    [
        ("uniform(1k/s,0.5)", 500),
        ("ramp(0,2k/s)", 500),
        ("ramp(1500,500)", 500),
        ("steps(500,1500,500,100ms)", 450),  # 50, 100, 150, 50, 100
        ("steps(500,1k,500,125ms,mirrored)", 375),
        ("steps(500,1k,500,125ms,shuffled)", 375),
        ("burst(1k,20ms,100ms)", 500),
    ],
)
def test_rates_that_change(law: str, due: int, netmodel: Netmodel) -> None:
    document = netmodel.measure("tcp_rr", *defines(test_length="500ms", arrivals=law, num_flows=8, num_threads=2))
    assert_ends_agree(document)
    of = phase_of(document, "request-response")
    assert of["load"]["due"] == due
    assert of["transactions"] + of["load"]["failed"] + of["load"]["unsent"] == due
    assert of["planned_per_s"] == pytest.approx(due / 0.5)


def test_a_share_of_a_link(netmodel: Netmodel) -> None:
    more = defines(test_length="1s", arrivals="load(0.5,8Mb/s)", request_size=1000, num_flows=8)
    document = netmodel.measure("tcp_rr", *more)
    assert_ends_agree(document)
    of = phase_of(document, "request-response")
    assert of["planned_per_s"] == 500
    # By chance within 22 of 500.
    assert document["totals"]["bits_sent_per_s"] == pytest.approx(4e6, rel=0.25)


def test_the_same_seed_has_the_same_arrivals(netmodel: Netmodel) -> None:
    def due(seed: int, workers: int) -> int:
        more = defines(test_length="300ms", arrivals="poisson(5k/s)", num_flows=8, num_threads=workers)
        document = netmodel.measure("tcp_rr", "--seed", seed, *more)
        return int(phase_of(document, "request-response")["load"]["due"])

    alone = due(7, 1)
    assert 1300 < alone < 1700
    assert due(7, 4) == alone
    assert due(8, 1) != alone or due(9, 1) != alone


def test_a_load_that_is_not_reached(netmodel: Netmodel) -> None:
    """No connection answers in 2.5 us."""
    args = [*defines(test_length="100ms", arrivals="const(400k/s)"), "--strict"]
    document = netmodel.measure("tcp_rr", *args, code=4)
    load = phase_of(document, "request-response")["load"]
    assert load["due"] == 40000 and load["verdict"] in ("connections", "overload")
    assert load["achieved_per_s"] < 300000 and load["tardy"] + load["unsent"] > 1000
    # What was due and late is in the response, and in no service time.
    totals = document["totals"]
    assert totals["response_s"]["p50"] > 10 * totals["latency_s"]["p50"]
    result = netmodel.run("-m", "tcp_rr", *args)
    assert result.code == 4
    assert "--strict: run 1 has a warning: group rr: const(400000/s): load " in result.err
    assert "400000/s due" in result.out and "warning: group rr: const(400000/s): load " in result.out


@pytest.mark.parametrize(("rate", "reached"), [(400000, False), (20, True)])
def test_times_that_depend_on_the_length_of_the_run_are_marked(rate: int, reached: bool, netmodel: Netmodel, validate: Validate) -> None:
    """At the figures themselves, in each form that has them. A machine that stands still may not reach a low rate either."""
    args = ("-m", "tcp_rr", *defines(test_length="200ms", arrivals=f"const({rate}/s)"))
    document = netmodel.run(*args, "--format", "json", code=0).json()
    validate(document)
    verdicts = [phase_of(document, "request-response")["load"]["verdict"]]
    for window in (document["totals"], document["groups"][0], phase_of(document, "request-response")):
        assert window.get("response_grows") is (None if verdicts[0] == "ok" else True)
    keys = netmodel.run(*args, "--format", "kv", code=0).out.splitlines()
    verdicts += [key.removeprefix("load=") for key in keys if key.startswith("load=")]
    assert [key for key in keys if "response_grows" in key] == ([] if verdicts[1] == "ok" else ["response_grows=1", "group.rr.response_grows=1"])
    text = netmodel.run(*args, code=0).out
    verdicts += re.findall("(?m)^  load +(.+)$", text)
    marked = re.findall(r"(?m)^  ([a-z ]*\*)", text)
    assert marked == ([] if verdicts[2] == "ok" else ["response *", "send delay *", "*"])
    assert len(verdicts) == 3 and (reached or "ok" not in verdicts)


@pytest.mark.parametrize("form", ("csv", "json", "junit", "kv", "neper", "uperf"))
def test_no_format_keeps_silent_about_it(form: str, netmodel: Netmodel) -> None:
    args = defines(test_length="100ms", arrivals="const(400k/s)")
    result = netmodel.run("-m", "tcp_rr", *args, "--format", form, code=0)
    assert "const(400000/s): load " in result.out + result.err


def test_a_full_send_buffer_is_a_cause_of_its_own(netmodel: Netmodel, profile: WriteProfile) -> None:
    """The other end reads a message in 20 ms at the earliest, and the kernels hold fewer than are due."""
    connect = '<transaction><flowop type="connect" options="remotehost=local sndbuf=64k rcvbuf=64k"/></transaction>'
    ask = '<flowop type="write" options="size=256k"/><flowop type="think" options="duration=20ms at=slave"/>'
    how = 'duration="500ms" arrivals="const(200/s)" drain="100ms"'
    document = netmodel.measure(profile(f'<group>{connect}<transaction name="ask" measure="yes" {how}>{ask}</transaction></group>'))
    of = phase_of(document, "ask")
    load = of["load"]
    assert load["kernel_s"] > 0.02 and load["kernel_s"] > 10 * load["busy_s"] and load["verdict"] == "overload", load
    assert load["busy_s"] + load["kernel_s"] + load["generator_s"] == pytest.approx(of["send_delay_s"]["mean"], rel=0.01)


def test_an_end_that_is_too_slow_is_told(netmodel: Netmodel, profile: WriteProfile) -> None:
    """Nothing is waited for, and no flow is busy for longer than a turn."""
    connect = '<transaction><flowop type="connect" options="remotehost=local protocol=null"/></transaction>'
    ask = '<transaction name="ask" measure="yes" duration="200ms" arrivals="poisson(50M/s)"><flowop type="write" options="size=64"/></transaction>'
    load = phase_of(netmodel.measure(profile(f'<group nflows="4">{connect}{ask}</group>')), "ask")["load"]
    assert load["verdict"] == "generator" and load["generator_s"] > load["busy_s"]
    assert load["due"] > 2 * load["achieved_per_s"] * 0.2
    assert re.search(r", and took \d+ % of a CPU, with 1 worker: use more workers, or more CPU", load["advice"]), load


def test_what_an_interrupt_leaves(netmodel: Netmodel) -> None:
    args = ["-m", "tcp_rr", "-v", "--format", "json", *defines(test_length="60s", arrivals="poisson(2k/s)", num_flows=4)]
    with netmodel.started(*args) as master:
        master.wait_line("phase 2 of 3 begins")
        master.signal(signal.SIGINT)
        result = master.finish()
    assert result.code == 130, result
    of = phase_of(result.json(), "request-response")
    assert of["load"]["due"] == of["transactions"] + of["load"]["unsent"] + of["load"]["failed"] < 100000


FLOWS = ("under_10kb", "10_100kb", "100kb_1mb", "1_10mb", "over_10mb")


@pytest.mark.parametrize("name", ["websearch", "datamining"])
def test_flows_are_measured_by_their_size(netmodel: Netmodel, name: str) -> None:
    more = defines(test_length="1s", link="200Mb/s", load=0.4, num_flows=32, num_threads=2)
    document = netmodel.measure(name, *more, "--seed", 5)
    assert_ends_agree(document)
    of = phase_of(document, "flows")
    counts = [(of[f"slowdown_{size}"] or {"count": 0})["count"] for size in FLOWS]
    assert sum(counts) == of["slowdown"]["count"] == of["response_s"]["count"] == of["transactions"]
    complete = [of[f"complete_{size}_s"] for size in FLOWS]
    assert counts == [(times or {"count": 0})["count"] for times in complete]
    assert max(times["max"] for times in complete if times) == of["response_s"]["max"]


@pytest.mark.parametrize("way", ["sent", "received"])
def test_the_size_is_that_of_each_flow(netmodel: Netmodel, profile: WriteProfile, way: str) -> None:
    flow, other = "size=bimodal(1000,200000,0.5)", "size=1"
    sent, received = (flow, other) if way == "sent" else (other, flow)
    text = f"""<group nflows="4">{CONNECT}<transaction name="flows" iterations="200" slowdown="link=1Gb/s base=50us">
      <flowop type="write" options="{sent}"/><flowop type="read" options="{received}"/></transaction></group>"""
    of = phase_of(netmodel.measure(profile(text), "--seed", 3), "flows")
    small, large = of["slowdown_under_10kb"]["count"], of["slowdown_100kb_1mb"]["count"]
    assert small > 0 and large > 0 and small + large == of["slowdown"]["count"] == of["transactions"]
    assert small * 1000 + large * 200000 == of[f"bytes_{way}"]


@pytest.mark.parametrize("arrivals", ["", 'arrivals="const(100/s)"'])
@pytest.mark.parametrize("flow", ["write", "read"])
def test_a_slowdown_is_how_often_the_ideal_goes_into_the_time(
    netmodel: Netmodel, profile: WriteProfile, arrivals: str, flow: str
) -> None:
    """At 1 Gb/s 20000 bytes and the headers of 14 packets are 170.08 us, and the base is 50 us."""
    large = '<flowop type="write" options="size=20000"/><flowop type="read" options="size=1"/>'
    small = '<flowop type="write" options="size=1"/><flowop type="read" options="size=20000"/>'
    text = f"""<group nflows="4">{CONNECT}<transaction name="flows" duration="300ms" {arrivals}
      slowdown="link=1Gb/s base=50us">{large if flow == "write" else small}</transaction></group>"""
    document = netmodel.measure(profile(text), "--repeat", 2, "--require", "slowdown_10_100kb.mean > 0")
    each = [run["totals"] for run in document["repeat"]["runs"]]
    for totals in each:
        slowdown, complete = totals["slowdown_10_100kb"], totals["complete_10_100kb_s"]
        for figure in ("min", "mean", "max"):
            assert slowdown[figure] * 220.08e-6 == pytest.approx(complete[figure], rel=1e-6)
        assert slowdown == totals["slowdown"]
        assert complete == totals["response_s" if arrivals else "latency_s"]
        assert totals["slowdown_under_10kb"] is None
    mean = sum(totals["slowdown_10_100kb"]["mean"] for totals in each) / 2
    assert document["requirements"][0]["met"]
    assert document["requirements"][0]["value"] == pytest.approx(mean)
    summary = document["repeat"]["summary"]
    assert summary["slowdown_mean"]["mean"] == pytest.approx(mean) and summary["slowdown_p50"]["n"] == 2


@pytest.mark.parametrize("how", ['nflows="6" nthreads="2"', 'nflows="3" nprocs="3"', 'nflows="1"'])
def test_the_ideal_is_measured_before(netmodel: Netmodel, profile: WriteProfile, how: str) -> None:
    """By flows of one size, so that all are judged by one time."""
    text = f"""<group name="flows" {how}>{CONNECT}<transaction name="flows" duration="300ms" arrivals="poisson(200/s)"
      slowdown="auto"><flowop type="write" options="size=20000"/><flowop type="read" options="size=1"/></transaction></group>"""
    document = netmodel.measure(profile(text), "--warmup", "plateau(latency.p50,100%,max=20s)", "-i", "20ms")
    assert_ends_agree(document)
    before = phase_of(document, "idle path of flows")
    assert before["transactions"] == 20 and not before["measured"] and before["bytes_sent"] == 20 * 20000
    (ideal,) = phase_of(document, "flows")["idle_path"]
    assert ideal["bytes"] == 20000
    slowdown, complete = document["totals"]["slowdown"], document["totals"]["complete_10_100kb_s"]
    for figure in ("min", "mean", "max"):
        assert slowdown[figure] * ideal["ideal_s"] == pytest.approx(complete[figure], rel=1e-6)


def test_the_ideal_is_measured_at_the_borders_of_the_classes(netmodel: Netmodel, profile: WriteProfile) -> None:
    flow = '<flowop type="write" options="size=1"/><flowop type="read" options="size={}"/></transaction>'
    both = "".join(
        f"""<group name="{name}" nflows="4">{CONNECT}<transaction name="{name}" duration="300ms" slowdown="auto">
        {flow.format(size)}</group>"""
        for name, size in (("a", "cdf(websearch)"), ("b", "uniform(5000,300000)"))
    )
    document = netmodel.measure(profile(both), "--seed", 1)
    assert_ends_agree(document)
    phases = {phase["name"]: phase for group in document["groups"] for phase in group["phases"] if phase["name"]}
    paths = [phases[name]["idle_path"] for name in ("a", "b")]
    found = [[size["bytes"] for size in path] for path in paths]
    assert found == [[1, 10**4, 10**5, 10**6, 10**7, 3 * 10**7], [5000, 10**4, 10**5, 300000]]
    for path in paths:
        times = [size["ideal_s"] for size in path]
        assert times == sorted(times) and times[0] > 0
    alone = [phases[f"idle path of {name}"] for name in ("a", "b")]
    assert alone[0]["begin_s"] + alone[0]["seconds"] <= alone[1]["begin_s"]


@pytest.mark.parametrize(("ideal", "slow"), [("link=1Mb/s base=50ms", True), ("link=100Gb/s base=1us", False)])
def test_an_ideal_that_is_beaten_is_told(netmodel: Netmodel, profile: WriteProfile, ideal: str, slow: bool) -> None:
    text = f"""<group name="flows" nflows="2">{CONNECT}<transaction name="flows" iterations="50" slowdown="{ideal}">
      <flowop type="write" options="size=1000"/><flowop type="read" options="size=1"/></transaction></group>"""
    document = netmodel.measure(profile(text))
    told = [text for text in document["run"]["warnings"] if "of their ideal time" in text]
    assert len(told) == slow and all("group flows: half of its flows have taken less than 0.0" in text for text in told)


def test_no_flows_are_measured_unless_asked_for(netmodel: Netmodel) -> None:
    more = defines(test_length="200ms", arrivals="const(1k/s)", num_flows=4)
    document = netmodel.measure("tcp_rr", *more, "-i", "100ms")
    for window in (document["totals"], *document["intervals"]):
        assert not [name for name in window if name.startswith(("slowdown", "complete_"))]
    summary = netmodel.measure("tcp_rr", *more, "--repeat", 2)["repeat"]["summary"]
    assert "latency_p99_s" in summary and not [name for name in summary if name.startswith("slowdown")]


def test_keys_and_columns(netmodel: Netmodel) -> None:
    more = defines(test_length="200ms", arrivals="const(1k/s)", num_flows=4)
    lines = netmodel.run("-m", "tcp_rr", *more, "--format", "kv", code=0).out.splitlines()
    keys = dict(line.split("=", 1) for line in lines)
    assert keys["offered_per_s"] == "1000" and "load" in keys, lines
    assert {"send_delay_mean", "send_delay_p99", "response_p99", "achieved_per_s", "outstanding_mean"} <= set(keys)
    assert 1 <= int(keys["outstanding_max"]) <= 4
    head = netmodel.run("-m", "tcp_rr", *more, "-i", "100ms", "--format", "csv", code=0).out.splitlines()[0]
    assert "send_delay_mean_s" in head and "response_mean_s" in head


@pytest.mark.parametrize(
    ("attributes", "flowops", "message"),
    [
        ('iterations="3"', ASK, "only with a duration"),
        ('duration="1s" rate="5"', ASK, "only one of them may be given"),
        ('duration="1s" spacing="1ms"', ASK, "only one of them may be given"),
        ('duration="1s" total="5"', ASK, "the duration alone ends an open loop"),
        ('duration="1s" pipeline="2"', ASK, "only where each pass is one request of an application"),
        ('duration="1s"', '<flowop type="read" options="size=10"/>', "the first flowop must be one with which the master"),
        (
            'duration="1s"',
            '<flowop type="write" options="size=1 count=0"/><flowop type="read" options="size=10"/>',
            "the first flowop must be one",
        ),
        ('duration="1s"', '<flowop type="think" options="duration=1ms"/>' + ASK, "the first flowop must be one"),
    ],
)
def test_what_cannot_be_combined(
    attributes: str, flowops: str, message: str, netmodel: Netmodel, profile: WriteProfile
) -> None:
    path = profile(f'<group>{CONNECT}<transaction arrivals="const(5)" {attributes}>{flowops}</transaction></group>')
    result = netmodel.run("-m", path, "--check")
    assert result.code == 1, result
    assert 'arrivals="const(5)"' in result.err and message in result.err


@pytest.mark.parametrize(
    ("group", "lanes", "said"),
    [
        ("nprocs='1025' nflows='1025'", "", "1025 workers cannot share its 1024 lanes: at most one worker for each"),
        ("nthreads='3' nflows='3'", "lanes='2'", "3 workers cannot share its 2 lanes: at most one worker for each"),
        ("nthreads='1'", "lanes='0'", 'lanes="0": must be 1 to 32768'),
        ("nthreads='1'", "lanes='32769'", 'lanes="32769": must be 1 to 32768'),
        ("nthreads='1025' workers='2'", "", ""),
        ("nprocs='1025' nflows='1025'", "lanes='1025'", ""),
    ],
)
def test_more_workers_than_lanes(group: str, lanes: str, said: str, netmodel: Netmodel, profile: WriteProfile) -> None:
    transaction = f'<transaction arrivals="const(5)" {lanes} duration="1s">{ASK}</transaction>'
    result = netmodel.run("-m", profile(f"<group {group}>{CONNECT}{transaction}</group>"), "--check")
    assert result.code == (1 if said else 0) and said in result.err, result


MIX = """<mix><flowop type="get" options="keys=k"/>
  <flowop type="set" weight="2" options="keys=k size=exp(500;1..9k)"/></mix>"""


def load_sum(netmodel: Netmodel, path: Path, seed: int = 7, *more: object) -> tuple[int, int]:
    document = netmodel.measure(path, "--seed", seed, *more)
    assert_complete(document)
    load = phase_of(document, "ask")["load"]
    assert load["unsent"] == load["failed"] == 0 < load["due"]
    of = counts(document)
    return of["load_sum"], of["bytes_sent"]


@pytest.mark.parametrize("law", ["zipf(0.99)", "sequential"])
@pytest.mark.parametrize("app", ["memcache", "redis"])
def test_the_same_seed_has_the_same_requests(app: str, law: str, netmodel: Netmodel, profile: WriteProfile) -> None:
    """Whichever flow makes them, of whichever worker."""

    def of(workers: int, ask: str = MIX, lanes: int = 1024) -> Path:
        text = asking(app, ask, "", f"nflows='14' nthreads='{workers}'", 1000, law)
        return profile(text.replace('name="ask"', f'name="ask" lanes="{lanes}" arrivals="poisson(2k/s)"'))

    alone = load_sum(netmodel, of(1))
    assert [load_sum(netmodel, of(workers)) for workers in (2, 7)] == [alone, alone]
    assert alone[0] not in (
        load_sum(netmodel, of(1), 8)[0],
        load_sum(netmodel, of(1, lanes=64))[0],
        load_sum(netmodel, of(1, MIX.replace('weight="2"', 'weight="3"')))[0],
        load_sum(netmodel, of(1, MIX.replace("500", "501")))[0],
    )


def test_what_is_not_measured_changes_no_request(netmodel: Netmodel, profile: WriteProfile) -> None:
    """Neither a warm-up nor another transaction of the same requests."""

    def of(before: str = "") -> Path:
        text = asking("memcache", MIX, "", "nflows='14' nthreads='2'", 1000, "zipf(0.99)").replace('name="ask"', 'name="ask" arrivals="poisson(2k/s)"')
        more = f'<transaction name="before" measure="no" duration="100ms" arrivals="poisson(1k/s)">{before}</transaction>'
        return profile(text.replace("<transaction name", f"{more if before else ''}<transaction name"))

    alone, _ = load_sum(netmodel, of())
    assert load_sum(netmodel, of(MIX))[0] == alone
    assert load_sum(netmodel, of(), 7, "--warmup", "plateau(latency.p50,90%,max=20s)")[0] == alone


def test_the_same_requests_of_two_hosts(netmodel: Netmodel, profile: WriteProfile) -> None:
    def of(workers: int, *hosts: str) -> Path:
        connect = "".join(f'<flowop type="connect" options="remotehost={host} app=memcache conn={i}"/>' for i, host in enumerate(hosts, 1))
        ask = "".join(f'<flowop type="set" options="conn={i} keys=k size=exp(500;1..9k)"/>' for i in (1, 2))
        return profile(
            f"""<keyspace name="k" count="1000" law="zipf(0.99)"/><group nflows="14" nthreads="{workers}">
            <transaction>{connect}</transaction><transaction name="ask" duration="200ms" arrivals="poisson(2k/s)">{ask}</transaction></group>"""
        )

    one, two = ("127.0.0.1", "127.0.0.1"), ("127.0.0.1", "localhost")
    with netmodel.slave() as slave:
        sums = [load_sum(netmodel, of(workers, *hosts), 7, "-P", slave.port) for workers in (1, 7) for hosts in (one, two)]
    assert sums == [sums[0]] * 4


def test_what_both_ends_draw_follows_the_flow(netmodel: Netmodel, profile: WriteProfile) -> None:
    """And so is not in the sum, which the due times have for themselves."""

    def of(size: str, workers: int) -> int:
        ask = f'<flowop type="write" options="size={size}"/><flowop type="read" options="size=1"/>'
        document = netmodel.measure(
            profile(f'<group nflows="4" nthreads="{workers}">{CONNECT}<transaction duration="200ms" arrivals="poisson(2k/s)">{ask}</transaction></group>'),
            "--seed",
            7,
        )
        assert_ends_agree(document)
        return int(counts(document)["load_sum"])

    assert of("exp(500;1..9k)", 1) == of("exp(500;1..9k)", 4) == of("rand(1,9k)", 1)


def test_a_server_that_stops_is_not_told_as_reached(netmodel: Netmodel) -> None:
    """It answers nothing from the middle on, and what is due meanwhile is not forgotten: over UDP the run goes on."""
    args = ["-v", "--format", "json", *defines(test_length="2s", arrivals="const(2k/s)", num_flows=4, host="127.0.0.1")]
    with netmodel.slave() as slave, netmodel.started("-m", "udp_rr", "-P", str(slave.port), *args) as master:
        master.wait_line("phase 2 of 3 begins")
        sessions = slave.sessions()
        time.sleep(1)
        for pid in sessions:
            os.kill(pid, signal.SIGSTOP)
        time.sleep(1.5)
        for pid in sessions:
            os.kill(pid, signal.SIGCONT)
        result = master.finish()
    load = phase_of(result.json(), "request-response")["load"]
    assert load["due"] == 4000 and load["verdict"] != "ok"


def test_a_law_that_does_not_exist(netmodel: Netmodel) -> None:
    result = netmodel.run("-m", "tcp_rr", *defines(arrivals="pareto(5k)"))
    assert result.code == 1
    assert 'arrivals="pareto(5k)": must be const(RATE), poisson(RATE)' in result.err
    assert "-D arrivals=pareto(5k)" in result.err


TRACE = """time,user
1700000000.000,ann
1700000000.050,ben
1700000000.051,cem # a comment

1700000000.051,dee
1700000000.300,eve
"""


@pytest.mark.parametrize(
    ("words", "due", "warning"),
    [
        (",speed=0.5", 4, None),  # 0, 100, 102 and 102 ms; not 600
        ("", 5, "its last arrival is at 0.3 s of 0.5 s"),
        (",loop", 9, None),  # the second time begins after 375 ms
        (",loop,speed=10", 69, None),  # 13 times in 487.5 ms, and 4 of the next
    ],
)
def test_recorded_times_are_replayed(words: str, due: int, warning: str | None, netmodel: Netmodel, tmp_path: Path) -> None:
    file = tmp_path / "trace.csv"
    file.write_text(TRACE)
    more = defines(test_length="500ms", arrivals=f"trace({file}{words})", num_flows=8, num_threads=2)
    result = netmodel.run("-m", "tcp_rr", "--format", "json", *more)
    assert (warning or "") in result.err and ("warning" in result.err) == bool(warning)
    load = phase_of(result.json(), "request-response")["load"]
    assert load["due"] == due and load["unsent"] == 0


@pytest.mark.parametrize(("words", "spread"), [("", True), (",exact", False)])
def test_whole_seconds_are_spread(words: str, spread: bool, netmodel: Netmodel, tmp_path: Path) -> None:
    file = tmp_path / "trace"
    file.write_text("10\n10\n10\n10\n11\n")
    args = ["--format", "json", "-i", "100ms", *defines(test_length="400ms", arrivals=f"trace({file},speed=2{words})")]
    result = netmodel.run("-m", "tcp_rr", *args)
    assert ("spread evenly" in result.err) == spread
    assert [row["transactions"] for row in result.json()["intervals"]][:3] == ([1, 1, 1] if spread else [4, 0, 0])


@pytest.mark.parametrize(
    ("text", "words", "message"),
    [
        ("0\nx 1\n", "", 'line 2: "x": no time: seconds, as 12 or 12.000345'),
        ("time\ntime\n", "", 'line 2: "time": no time'),
        ("# from a proxy\n\ntime\n1\ntime\n", "", 'line 5: "time": no time'),
        ("1\n2\0\n", "", "line 2: has a byte that is zero: it is no text"),
        ("\0\0\n1\n", "", "line 1: has a byte that is zero: it is no text"),
        ("0\n-1\n", "", 'line 2: "-1": no time'),
        ("10000000000\n", "", 'line 1: "10000000000": no time'),
        ("5\n# all\n\n4.9,a\n", "", 'line 4: "4.9": before the time above it; times must not fall'),
        ("# none\n", "", "has no times"),
        ("1\n1\n", ",loop,exact", "a loop needs two times that differ"),
    ],
)
def test_wrong_traces_are_told_by_line(text: str, words: str, message: str, netmodel: Netmodel, tmp_path: Path) -> None:
    file = tmp_path / "trace"
    file.write_text(text)
    result = netmodel.run("-m", "tcp_rr", *defines(arrivals=f"trace({file}{words})"), "--check", code=1)
    assert f'arrivals="trace({file}{words})": {file}: {message}' in result.err
    result = netmodel.run("-m", "tcp_rr", *defines(arrivals="trace(/nowhere/t)"), "--check", code=1)
    assert "/nowhere/t: No such file or directory" in result.err


def test_a_trace_that_is_no_file_is_refused(netmodel: Netmodel, tmp_path: Path) -> None:
    """Nobody writes into the FIFO: who opens it would wait."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    for path in (fifo, "/dev/zero"):
        result = netmodel.run("-m", "tcp_rr", *defines(arrivals=f"trace({path})"), "--check", code=1)
        assert f"{path}: is no regular file" in result.err


@pytest.mark.parametrize("text", ["1\n2\n", "time\n1\n2\n", "# from a proxy\n\ntime\n1\n2\n"])
def test_a_trace_may_have_the_mark_of_a_spreadsheet(text: str, netmodel: Netmodel, tmp_path: Path) -> None:
    file = tmp_path / "trace.csv"
    file.write_text(text, encoding="utf-8-sig")
    netmodel.run("-m", "tcp_rr", *defines(arrivals=f"trace({file})"), "--check", code=0)


def test_a_trace_that_goes_away_between_trials_is_named(netmodel: Netmodel, tmp_path: Path) -> None:
    file = tmp_path / "trace"
    file.write_text("0\n0.01\n")
    more = defines(test_length="300ms", arrivals=f"trace({file},loop)")
    with netmodel.started("-m", "tcp_rr", *more, "--scan", "num_flows=1..60:1") as master:
        master.wait_line("num_flows=1")
        file.unlink()
        result = master.finish()
    assert result.code == 2 and f"{file}: No such file or directory" in result.err, result
