# SPDX-License-Identifier: Apache-2.0
"""What a result must meet (--require, --fail-if, <require>), what it is compared with (--compare), and the exit codes."""

from __future__ import annotations

import json
import os
import re
import signal
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from compose import connect, group, once, op, read, times, write
from nmtest import FOR_LONG, PROFILES, SOON_S, Netmodel, Result, defines, free_port, line_of, phase_of

SHORT = ("-m", "tcp_rr", *defines(test_length="100ms"))
LONG = ("-m", "tcp_rr", *defines(test_length=FOR_LONG))
MET = "transactions >= 1"
UNMET = "latency.p99 <= 1ns"

Json = dict[str, Any]


def profile_with(tmp_path: Path, *requires: str) -> Path:
    path = tmp_path / "own.xml"
    lines = [f'  <require that="{text}"/>' for text in requires]
    if any("$limit" in text for text in requires):
        lines.insert(0, '  <param name="limit" type="duration" default="10s"/>')
    above = "\n".join(lines)
    path.write_text(
        f"""<profile name="own">
{above}
  <group name="client">
    <transaction iterations="1"><flowop type="connect" options="remotehost=local"/></transaction>
    <transaction name="work" iterations="20">
      <flowop type="write" options="size=100"/><flowop type="read" options="size=100"/>
    </transaction>
    <transaction iterations="1"><flowop type="disconnect"/></transaction>
  </group>
</profile>
"""
    )
    return path


# --- requirements ---


def test_a_requirement_that_is_met_ends_with_0_and_is_in_all_reports(netmodel: Netmodel) -> None:
    text = netmodel.run(*SHORT, "--require", MET, "--fail-if", UNMET, code=0)
    assert "  requirements: 2 of 2 met\n    met  transactions >= 1 " in text.out, text
    assert "    met  not latency.p99 <= 1ns " in text.out, text
    assert not text.err, text


@pytest.mark.parametrize(
    ("protocol", "more", "transactions"),
    [("tcp", "canfail", 5), ("udp", "", 0)],
)
def test_errors_are_a_share_of_all_passes(
    protocol: str, more: str, transactions: int, netmodel: Netmodel, profile: Callable[..., Path]
) -> None:
    """No answer comes in time. A failed pass of a stream is a transaction, an unanswered one of datagrams is none."""
    late = op("think", "duration=60ms idle at=slave") + read(100, f"timeout=1ms {more}")
    path = profile(group(once(connect(options=f"protocol={protocol}")), times(5, write(10), late, name="ask")))
    words = ("--require", "group.Group0.transaction.ask.errors < 90%", "--require", "errors < 50%", "--format", "json", "-q")
    document = netmodel.run("-m", path, *words).json()
    assert [one["met"] for one in document["requirements"]] == [False, False]
    assert document["requirements"][0]["value"] == 1
    assert phase_of(document, "ask")["transactions"] == transactions


def test_one_that_is_not_met_ends_with_4(netmodel: Netmodel) -> None:
    text = netmodel.run(*SHORT, "--require", f"{MET} {UNMET}", code=4)
    assert "  requirements: 1 of 2 met\n    met      transactions >= 1 " in text.out, text
    assert "    NOT MET  latency.p99 <= 1ns  latency.p99 is " in text.out, text
    assert text.lines()[0].startswith(f"netmodel: --require {UNMET}: not met: latency.p99 is "), text
    assert len(text.lines()) == 1, text

    result = netmodel.run(*SHORT, "--require", UNMET, "--fail-if", MET, "--format", "json", code=4)
    first, second = result.json()["requirements"]
    assert (first["text"], first["from"], first["figure"], first["operator"]) == (UNMET, "--require", "latency.p99", "<=")
    assert (first["limit"], first["unit"], first["met"], first["negated"]) == (1e-9, "seconds", False, False)
    assert first["value"] == pytest.approx(result.json()["totals"]["latency_s"]["p99"])
    assert first["reason"].startswith("latency.p99 is ")
    assert (second["text"], second["from"], second["negated"], second["met"]) == (MET, "--fail-if", True, False)
    assert f"netmodel: --require {UNMET}: not met: latency.p99 is " in result.err

    keys = dict(
        line.split("=", 1) for line in netmodel.run(*SHORT, "--require", UNMET, "--format", "kv", code=4).out.splitlines()
    )
    assert (keys["requirements"], keys["requirements_met"], keys["requirement"]) == ("1", "0", UNMET)
    assert keys["requirement_met"] == "0"
    assert float(keys["requirement_value"]) > 0


@pytest.mark.parametrize("form", ["csv", "neper", "kv", "json", "junit"])
def test_reports_for_programs_leave_it_to_standard_error(netmodel: Netmodel, tmp_path: Path, form: str) -> None:
    report = tmp_path / "report"
    result = netmodel.run(*SHORT, "--require", UNMET, "--format", form, "-o", report, code=4)
    assert result.out == ""
    assert result.lines() == [line for line in result.lines() if "not met: latency.p99 is " in line], result
    assert report.read_text()


@pytest.mark.parametrize(
    ("profile", "more", "term", "why"),
    [
        ("tcp_rr", (), "loss <= 1%", "nothing is sent over a transport that may lose messages"),
        ("tcp_rr", (), "response.p99 <= 1ms", "no measured transaction has a rate or arrivals"),
        ("tcp_rr", ("-D", "arrivals=const(5)"), "response.p99 <= 1ms", None),
        ("tcp_rr", ("-D", "delay=1ms"), "response.p99 <= 1ms", None),
        ("udp_rr", (), "loss <= 1%", None),
        ("udp_stream", (), "messages.to_slaves.lost == 0", None),
    ],
)
def test_one_that_can_never_be_measured_is_told_before_a_run(
    netmodel: Netmodel, profile: str, more: tuple[str, ...], term: str, why: str | None
) -> None:
    figure = term.split()[0]
    said = f"{figure} will not be measured, and what is not measured is not met: {why}\n"
    for option in "--require", "--fail-if":
        result = netmodel.run("-m", profile, *more, option, term, "--check", code=0)
        assert result.err == (f"netmodel: warning: {option}: {term}: {said}" if why else "")


def test_one_that_was_not_measured_is_not_met_and_says_so(netmodel: Netmodel) -> None:
    """tcp_rr has no rate, and so no response times; nothing is lost over TCP."""
    wanted = ("--require", "response.p50 < 1h", "--fail-if", "messages.to_slaves.lost > 0")
    result = netmodel.run(*SHORT, *wanted, "--format", "json", code=4)
    for entry, figure in zip(result.json()["requirements"], ["response.p50", "messages.to_slaves.lost"], strict=True):
        assert (entry["value"], entry["met"]) == (None, False)
        assert entry["reason"] == f"{figure} was not measured"


def test_a_percentile_that_is_required_is_measured(netmodel: Netmodel) -> None:
    result = netmodel.run(
        *SHORT, "--percentiles", "50", "--require", "latency.p99.5 < 1h", "--format", "json", code=0
    ).json()
    assert result["requirements"][0]["value"] > 0
    assert "p99" not in result["totals"]["latency_s"]


def test_figures_of_groups_transactions_and_hosts(netmodel: Netmodel, tmp_path: Path) -> None:
    wanted = (
        "group.client.transactions == 22",
        "group.client.transaction.work.transactions == 20",
        "group.client.transaction.work.bytes_sent == 2000",
        "host.master.rusage.nvcsw >= 0 host.local.counts.transactions > 20",
    )
    netmodel.run("-m", profile_with(tmp_path), *(word for text in wanted for word in ("--require", text)), code=0)


@pytest.mark.parametrize(
    ("profile", "text"),
    [
        ("tcp_stream", "throughput >= 1kb/s retransmits >= 0 cpu <= 100%"),
        ("udp_stream", "throughput >= 1kb/s loss <= 100%"),
    ],
)
def test_figures_that_users_have_in_mind_have_short_names(netmodel: Netmodel, profile: str, text: str) -> None:
    netmodel.run("-m", profile, *defines(test_length="300ms"), "--require", text, code=0)


# --- wrong ones cost no run ---

WRONG = [
    ("latency.p9 <= 10", "at the end: a time needs a unit: ns, us, ms, s, min or h"),
    ("latencyp99 <= 10ms", "latencyp99: unknown figure; did you mean latency.p99?"),
    ("transactions_per_s > 10ms", 'at "ms": transactions_per_s is a rate: its units are /s, k/s, M/s, k, M or none'),
    ("latency.p99 =< 1ms", 'at "=< 1ms": no operator; did you mean <=?'),
    ("group.x.errors == 0", "group.x.errors: no group of that name with a figure behind it; the groups are client"),
]


@pytest.mark.parametrize("option", ["require", "fail-if"])
@pytest.mark.parametrize(("text", "why"), WRONG)
def test_a_wrong_requirement_costs_no_run(netmodel: Netmodel, tmp_path: Path, option: str, text: str, why: str) -> None:
    profile = profile_with(tmp_path)
    for words in ((), ("--check",)):
        result = netmodel.run("-m", profile, f"--{option}", text, *words, code=1)
        assert (result.out, result.err) == ("", f"netmodel: --{option} {text}: {why}\n")


def test_a_wrong_requirement_of_a_profile_has_its_line(netmodel: Netmodel, tmp_path: Path) -> None:
    profile = profile_with(tmp_path, "errors == 0", "latency.p99 &lt;= $limit", "errors &lt; 1ms", "latency &lt; 1s")
    for words in ((), ("--check",)):
        result = netmodel.run("-m", profile, *words, code=1)
        first, second = result.lines()
        line = line_of(profile, "errors &lt; 1ms")
        assert first == f'{profile}:{line}: error: <require> that="errors < 1ms": at "ms": errors is a count: ' + (
            "its units are k, M, G, T or none, or % of all passes"
        )
        assert second.startswith(f'{profile}:{line + 1}: error: <require> that="latency < 1s": latency: it has several')


def test_an_operator_that_xml_does_not_take_is_told_what_to_write(netmodel: Netmodel, tmp_path: Path) -> None:
    result = netmodel.run("-m", profile_with(tmp_path, "errors < 1"), "--check", code=1)
    assert "Unescaped '<' not allowed in attributes values: write &lt; for it" in result.err, result


def test_a_parameter_sets_the_limit_of_a_profile(netmodel: Netmodel, tmp_path: Path) -> None:
    profile = profile_with(tmp_path, "errors == 0", "latency.p99 &lt;= $limit")
    met = netmodel.run("-m", profile, "--format", "json", code=0).json()["requirements"]
    assert [entry["from"] for entry in met] == [f"{profile}:3", f"{profile}:4"]
    result = netmodel.run("-m", profile, *defines(limit="1ns"), "--format", "json", code=4)
    assert [entry["met"] for entry in result.json()["requirements"]] == [True, False]
    wrong = netmodel.run("-m", profile, *defines(limit="soon"), "--check", code=1)
    assert 'value "soon" (from -D): not a duration' in wrong.err, wrong


@pytest.mark.parametrize(
    ("element", "why"),
    [
        ("<require/>", '<require>: needs that="...": '),
        ('<require that="errors == 0" when="x"/>', 'unknown attribute "when"; allowed are that'),
        ('<require that="errors == 0"><group/></require>', "<group> inside <require>: a require has no elements inside"),
    ],
)
def test_a_require_that_is_no_element_of_the_language(netmodel: Netmodel, tmp_path: Path, element: str, why: str) -> None:
    profile = profile_with(tmp_path)
    profile.write_text(profile.read_text().replace("</profile>", element + "</profile>"))
    result = netmodel.run("-m", profile, "--check", code=1)
    assert why in result.err, result


# --- JUnit ---


def junit(result: Result) -> ET.Element:
    root = ET.fromstring(result.out)
    assert root.tag == "testsuites"
    (suite,) = root
    cases = suite.findall("testcase")
    for element in (root, suite):
        assert int(element.attrib["tests"]) == len(cases)
        assert int(element.attrib["failures"]) == len(suite.findall("testcase/failure"))
        assert int(element.attrib["errors"]) == len(suite.findall("testcase/error"))
        assert float(element.attrib["time"]) >= 0
    assert all(case.attrib["name"] and case.attrib["classname"] and float(case.attrib["time"]) >= 0 for case in cases)
    return suite


def test_junit_has_a_case_for_each_run_and_each_requirement(netmodel: Netmodel) -> None:
    suite = junit(netmodel.run(*SHORT, "--format", "junit", "--require", f"{MET} {UNMET}", code=4))
    assert suite.attrib["name"] == "tcp_rr"
    run, met, unmet = suite.findall("testcase")
    assert [case.attrib["name"] for case in (run, met, unmet)] == ["run", MET, UNMET]
    assert not list(run)
    assert not list(met)
    assert unmet[0].attrib["message"].startswith("latency.p99 is ")
    assert suite.find("properties/property[@name='test_length']").attrib["value"] == "100ms"  # type: ignore[union-attr]
    suite = junit(netmodel.run(*SHORT, "--format", "junit", "--repeat", "2", code=0))
    assert [case.attrib["name"] for case in suite.findall("testcase")] == ["run 1", "run 2"]


def test_junit_tells_that_a_run_is_incomplete(netmodel: Netmodel) -> None:
    words = ("-m", "tcp_rr", *defines(host="127.0.0.1"), "-P", str(free_port()), "--wait-slaves", "0")
    suite = junit(netmodel.run(*words, "--format", "junit", "--require", MET, code=2))
    run, requirement = suite.findall("testcase")
    assert "nothing listens on port" in run[0].attrib["message"]
    assert requirement[0].tag == "failure"


# --- exit codes ---


def test_an_incomplete_run_ends_with_2_whatever_is_required(netmodel: Netmodel) -> None:
    result = netmodel.run(*LONG, "--max-duration", "500ms", "--require", UNMET, code=2)
    assert "NOT MET  latency.p99 <= 1ns" in result.out


def full() -> None:
    """For the child: a standard output that takes nothing."""
    os.dup2(os.open("/dev/full", os.O_WRONLY), 1)


def test_a_report_that_is_lost_ends_with_2_though_a_requirement_is_not_met(netmodel: Netmodel) -> None:
    netmodel.run(*SHORT, "--require", UNMET, "-o", "/dev/full", code=2)
    netmodel.run(*SHORT, "--require", UNMET, code=2, before=full)
    netmodel.run(*SHORT, "--require", UNMET, "-n", "-R", code=4, before=full)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_ends_with_130_whatever_is_required(netmodel: Netmodel, number: signal.Signals) -> None:
    with netmodel.started(*LONG, "-v", "--require", UNMET) as master:
        master.wait_line("phase 2 of 3 begins")
        master.signal(number)
        result = master.finish()
    assert result.code == 130, result


def test_the_manual_has_every_exit_code(netmodel: Netmodel) -> None:
    header = (PROFILES.parent / "src/cli/cli.h").read_text().partition("enum nm_exit {")[2].partition("};")[0]
    codes = [line.split("=")[1].split(",")[0].strip() for line in header.splitlines() if "=" in line]
    manual = (PROFILES.parent / "docs/netmodel.1.in").read_text().partition(".SH EXIT STATUS")[2].partition(".SH ")[0]
    assert [line.removeprefix(".B ") for line in manual.splitlines() if line.startswith(".B ") and line[3:].isdigit()] == codes
    told = netmodel.run("--help", code=0).out.partition("Exit codes:")[2]
    assert re.findall(r"\b\d+\b", told) == codes


# --- comparisons ---


@pytest.fixture
def earlier(netmodel: Netmodel, tmp_path: Path) -> Path:
    path = tmp_path / "earlier.json"
    netmodel.run(*SHORT, "--format", "json", "-o", path, code=0)
    return path


def edit(path: Path, change: Callable[[Json], None]) -> Path:
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))
    return path


def test_each_figure_is_beside_that_of_an_earlier_result(netmodel: Netmodel, earlier: Path) -> None:
    edit(earlier, lambda document: document["totals"].update(transactions=1000000000, transactions_per_s=1e9))
    text = netmodel.run(*SHORT, "--compare", earlier, code=0)
    assert f"  compared with {earlier}: run " in text.out, text
    assert "  note: " not in text.out, text
    table = text.out.split("  figure ")[1].splitlines()[1:]
    rows = [line for line in table if line.endswith("%")]
    assert 3 <= len(rows) <= 8, text
    assert rows[0].split()[:2] == ["transactions_per_s", "1e+09"]
    assert table[len(rows)].startswith("  verdict: none: one run on a side tells nothing of chance; --repeat both"), text

    comparison = netmodel.run(*SHORT, "--compare", earlier, "--format", "json", code=0).json()["comparison"]
    before = json.loads(earlier.read_text())
    figures = {entry["figure"]: entry for entry in comparison["figures"]}
    assert (comparison["file"], comparison["run_id"], comparison["notes"]) == (str(earlier), before["run"]["id"], [])
    latency = figures["latency.p99"]
    assert latency["before"] == pytest.approx(before["totals"]["latency_s"]["p99"])
    assert latency["change_percent"] == pytest.approx(100 * (latency["now"] - latency["before"]) / latency["before"])
    assert latency["now_ci95"] is None
    assert figures["transactions"]["change_percent"] < -90


def test_intervals_stand_where_both_were_repeated(netmodel: Netmodel, tmp_path: Path) -> None:
    path = tmp_path / "earlier.json"
    words = (*SHORT, "--repeat", "2")
    netmodel.run(*words, "--format", "json", "-o", path, code=0)
    result = netmodel.run(*words, "--compare", path, "--format", "json", code=0).json()
    figures = {entry["figure"]: entry for entry in result["comparison"]["figures"]}
    before = json.loads(path.read_text())["repeat"]["summary"]["transactions_per_s"]
    rate = figures["transactions_per_s"]
    assert (rate["before"], rate["before_ci95"]) == (pytest.approx(before["mean"]), pytest.approx(before["ci95"]))
    now = result["repeat"]["summary"]["transactions_per_s"]
    assert (rate["now"], rate["now_ci95"]) == (pytest.approx(now["mean"]), pytest.approx(now["ci95"]))
    assert rate["intervals_overlap"] == (abs(rate["now"] - rate["before"]) <= rate["now_ci95"] + rate["before_ci95"])
    assert (result["comparison"]["runs_before"], result["comparison"]["runs_now"]) == (2, 2)
    assert " +- " in netmodel.run(*words, "--compare", path, code=0).out


def test_a_percentile_of_several_runs_is_that_of_all_their_times(netmodel: Netmodel) -> None:
    """Of 200 passes 99.9 % are below the longest alone, in whichever run that was; the mean of four such runs is not."""
    words = ("-m", "tcp_rr", *defines(num_transactions=50), "--repeat", "4", "--percentiles", "99.9", "--format", "json")
    names = ("latency.p99.9", "latency.max", *(f"{scope}.latency.p99.9" for scope in ("group.rr", "group.rr.transaction.request-response")))
    document = netmodel.run(*words, *(word for name in names for word in ("--require", f"{name} <= 1h")), code=0).json()
    longest = [run["totals"]["latency_s"]["max"] for run in document["repeat"]["runs"]]
    values = [entry["value"] for entry in document["requirements"]]
    assert values == pytest.approx([max(longest), sum(longest) / 4, max(longest), max(longest)], rel=1 / 128)
    text = netmodel.run(*words[:-2], "--require", "latency.p99.9 <= 1h", code=0).out
    assert "\n  requirements: 1 of 1 met\n  (percentiles of all runs' times, else means)\n" in text, text


def test_what_differs_beyond_the_intervals_is_the_verdict(netmodel: Netmodel, tmp_path: Path) -> None:
    path = tmp_path / "earlier.json"
    words = (*SHORT, "--repeat", "2")
    netmodel.run(*words, "--format", "json", "-o", path, code=0)

    def much_faster(document: Json) -> None:
        for number, run in enumerate(document["repeat"]["runs"]):
            run["totals"]["transactions_per_s"] = 1e9 + number

    def any_rate(document: Json) -> None:
        for number, run in enumerate(document["repeat"]["runs"]):
            run["totals"] = {"transactions_per_s": number * 1e9}

    text = netmodel.run(*words, "--compare", edit(path, much_faster), code=0).out
    assert re.search(r"\n  verdict: beyond the intervals of both: transactions_per_s -\d+\.\d %", text), text
    text = netmodel.run(*words, "--compare", edit(path, any_rate), code=0).out
    assert "\n  verdict: within the intervals of both: changes may be chance; without an interval: " in text, text


def test_what_was_run_differently_is_told_and_changes_no_exit_code(netmodel: Netmodel, earlier: Path) -> None:
    other = ("-m", "tcp_rr", *defines(test_length="100ms", request_size="7"))
    result = netmodel.run(*other, "--compare", earlier, code=0)
    assert "  note: parameter request_size: 1 before, 7 now\n" in result.out, result
    result = netmodel.run("-m", "tcp_crr", *defines(test_length="100ms"), "--compare", earlier, code=0)
    assert "  note: another profile: tcp_rr before, tcp_crr now\n" in result.out, result
    edit(earlier, lambda document: document["run"].update(complete=False))
    assert "  note: the earlier run is incomplete\n" in netmodel.run(*SHORT, "--compare", earlier, code=0).out


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "it is not JSON: line 1: "),
        ("transactions_per_s=5\n", "it is not JSON: line 1: "),
        ("[]", 'it is no result: --format json writes one, with "schema": "netmodel.result/1"'),
        ('{"schema": 1}', "it is no result"),
        ('{"schema": "other\\u001b/2"}', 'its schema is "other /2", and only results of "netmodel.result/1" are compared'),
        ("[" * 100000, "it is not JSON: line 1: "),
    ],
)
def test_a_file_that_is_no_result_costs_no_run(netmodel: Netmodel, tmp_path: Path, text: str, why: str) -> None:
    path = tmp_path / "earlier.json"
    path.write_text(text)
    result = netmodel.run(*LONG, "--compare", path, code=1)
    assert result.err.startswith(f"netmodel: --compare {path}: {why}"), result
    assert result.seconds < SOON_S


def test_a_file_that_cannot_be_read_costs_no_run(netmodel: Netmodel, tmp_path: Path) -> None:
    result = netmodel.run(*LONG, "--compare", tmp_path / "nothing.json", code=1)
    assert "No such file" in result.err, result
    result = netmodel.run(*LONG, "--compare", "/dev/zero", code=1)
    assert result.seconds < SOON_S


@pytest.mark.parametrize("form", ["kv", "csv", "neper", "junit"])
def test_a_report_without_place_for_a_comparison_refuses_it(netmodel: Netmodel, earlier: Path, form: str) -> None:
    result = netmodel.run(*SHORT, "--compare", earlier, "--format", form, code=1)
    assert result.err == "netmodel: --compare: only with --format json or text\n"


@pytest.mark.parametrize(
    "change",
    [
        lambda document: document.update(totals=5, repeat={"runs": [1, {"run": {"complete": True}, "totals": []}]}),
        lambda document: document.update(totals={"latency_s": "x"}, groups={}, hosts=7, profile=[], run=None),
        lambda document: document["totals"].update(transactions=1e308, seconds=-1e308, errors=None),
        lambda document: document["profile"].update(name="\u001b[2J", params={"a\nb": "\u0007", "c": 5}),
    ],
)
def test_a_result_that_is_hostile_is_compared_as_far_as_it_goes(
    netmodel: Netmodel, earlier: Path, change: Callable[[Json], None]
) -> None:
    edit(earlier, change)
    result = netmodel.run(*SHORT, "--compare", earlier, code=0)
    assert "compared with" in result.out
    assert "\x1b" not in result.out
    netmodel.run(*SHORT, "--compare", earlier, "--format", "json", code=0).json()
