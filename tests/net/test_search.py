# SPDX-License-Identifier: Apache-2.0
"""The highest value of a parameter that meets an objective (--search): runs whose figures are known before."""

from __future__ import annotations

import json
import re
import shlex
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from nmtest import Json, Netmodel, defines

Validate = Callable[[Json], None]

# There are as many transactions as are asked for.
COUNTED = ("-m", "tcp_rr", "--search", "num_transactions=1..1000", "--objective", "transactions <= 137")


def test_the_highest_value_is_found(netmodel: Netmodel, validate: Validate) -> None:
    document = netmodel.run(*COUNTED, "--confirm", "2", "--format", "json", "--seed", "3", code=0).json()
    validate(document)
    sweep = document["sweep"]
    search, trials = sweep["search"], sweep["trials"]
    assert (sweep["parameter"], sweep["range"]) == ("num_transactions", "1..1000")
    assert (search["outcome"], search["value"], search["at_end"]) == ("found", "137", False)
    assert (search["objective"], search["confirmed"], search["limit"]) == ("transactions <= 137", 2, "objective")
    steps = [trial["step"] for trial in trials]
    assert steps[:2] == ["low", "bracket"] and steps[-5:] == ["half", "confirm", "half", "confirm", "border"], steps
    for trial in trials:
        passes = int(trial["value"]) <= 137
        assert trial["transactions"] == int(trial["value"])
        assert (trial["verdict"], trial["out_of_order"]) == ("pass" if passes else "fail", False)
        assert trial["reason"] == (None if passes else f"transactions is {trial['value']}")
        assert trial["limit"] == (None if passes else "objective")
        assert trial["runs"] == (2 if trial["step"] in ("half", "confirm") else 1)
    assert len({trial["seed"] for trial in trials}) == len(trials), "each trial draws anew"
    # The rest is of the trial that has confirmed the value.
    assert document["totals"]["transactions"] == 137 and document["requirements"][0]["from"] == "--objective"


def test_the_command_runs_the_profile_with_the_value(netmodel: Netmodel) -> None:
    result = netmodel.run(*COUNTED, "--confirm", "0", *defines(num_flows=2), "-q", code=0)
    assert "\n  num_transactions=137 is the highest value that meets transactions <= 137\n" in result.out, result
    assert not result.err
    command = shlex.split(result.out.rsplit("to run it again: ", 1)[1])
    assert command == ["netmodel", "-m", "tcp_rr", "-D", "num_flows=2", "-D", "num_transactions=137"]
    assert netmodel.run(*command[1:], "--format", "json", code=0).json()["totals"]["transactions"] == 137


def test_each_trial_is_told_as_it_ends(netmodel: Netmodel) -> None:
    result = netmodel.run(*COUNTED, "--confirm", "0", code=0)
    lines = result.err.splitlines()
    assert lines[0] == "netmodel: num_transactions=1: pass"
    assert "netmodel: num_transactions=138: fail: transactions is 138" in lines
    rows = re.findall(r"^  \d+ .* (pass|fail)\b", result.out, re.MULTILINE)
    assert len(rows) == len(lines)


def test_the_last_value_of_the_range(netmodel: Netmodel) -> None:
    words = ("--search", "num_transactions=2..9", "--objective", "transactions >= 1", "--confirm", "1")
    result = netmodel.run("-m", "tcp_rr", *words, code=0)
    assert "num_transactions=9 is the last value that meets transactions >= 1\n  the range ends there\n" in result.out, result


def test_an_objective_that_no_value_meets(netmodel: Netmodel) -> None:
    words = ("--search", "num_transactions=5..900", "--objective", "transactions < 5")
    result = netmodel.run("-m", "tcp_rr", *words, "-q", code=4)
    assert "\n  not met: transactions < 5\n  1 trial, 0 of them to confirm the value\n" in result.out, result
    assert result.err == (
        "netmodel: --objective transactions < 5: no value of num_transactions meets it: the lowest one does not either "
        "(last trial: num_transactions=5: fail: transactions is 5)\n"
    )


def test_requirements_belong_to_the_objective(netmodel: Netmodel) -> None:
    words = (*COUNTED, "--require", "transactions <= 20", "--confirm", "0", "--format", "json")
    assert netmodel.run(*words, code=0).json()["sweep"]["search"]["value"] == "20"


def test_flows_that_think(netmodel: Netmodel, tmp_path: Path, validate: Validate) -> None:
    """Each flow asks every 10 ms: six ask less than 700 times a second, however busy the machine is."""
    profile = tmp_path / "thinking.xml"
    profile.write_text("""<profile name="thinking">
  <param name="users" type="count" default="1"/>
  <group name="users" nflows="$users">
    <transaction iterations="1"><flowop type="connect" options="remotehost=local"/></transaction>
    <transaction duration="200ms">
      <flowop type="think" options="duration=10ms"/>
      <flowop type="write" options="size=10"/>
      <flowop type="read" options="size=10"/>
    </transaction>
  </group>
</profile>
""")
    words = ("--search", "users=1..64", "--objective", "transactions_per_s < 700", "--confirm", "0", "--format", "json")
    document = netmodel.run("-m", profile, *words, code=0).json()
    validate(document)
    search = document["sweep"]["search"]
    assert search["outcome"] == "found" and int(search["value"]) >= 6, search


def test_open_arrivals_begin_with_the_capacity(netmodel: Netmodel, validate: Validate) -> None:
    """Nothing but the load itself is an objective that any machine meets at some rate below its capacity."""
    more = defines(test_length="150ms", num_flows=8)
    words = ("--search", "arrivals=const(100/s..1G/s)", "--objective", "transactions >= 0", "--confirm", "0")
    result = netmodel.run("-m", "tcp_rr", *more, *words, "--format", "json")
    assert result.code in (0, 4), result
    document = result.json()
    validate(document)
    trials = document["sweep"]["trials"]
    assert (trials[0]["step"], trials[0]["value"], trials[0]["verdict"]) == ("capacity", None, None)
    assert trials[0]["load"] is None and trials[0]["offered_per_s"] is None
    capacity = trials[0]["transactions_per_s"]
    for trial in trials[1:]:
        rate = int(re.fullmatch(r"const\((\d+)/s\)", trial["value"])[1])  # type: ignore[index]
        assert rate < 1.06 * capacity
        assert trial["offered_per_s"] == pytest.approx(rate, rel=0.1)
        assert (trial["verdict"] == "pass") is (trial["load"] == "ok")
        assert trial["reason"] == (None if trial["load"] == "ok" else f"load: {trial['load']}")
        assert trial["limit"] == (None if trial["load"] == "ok" else trial["load"])
    low = int(re.findall(r"\d+", trials[1]["value"])[0])
    assert low == pytest.approx(capacity / 10, abs=2)


NULL = """<profile name="null">
  <param name="arrivals" type="string" default=""/>
  <group name="asking" nflows="4">
    <transaction iterations="1"><flowop type="connect" options="remotehost=local protocol=null"/></transaction>
    <transaction duration="100ms" measure="yes" arrivals="$arrivals"><flowop type="write" options="size=64"/></transaction>
  </group>
</profile>
"""
TOO_LATE = "above it this end sends too late: use more workers, or more CPU"


@pytest.mark.parametrize("how", ["text", "json"])
def test_an_end_that_is_the_limit_is_told(netmodel: Netmodel, tmp_path: Path, how: str) -> None:
    """Nothing is waited for: any rate is reached that this end can send at, and each one meets the objective."""
    profile = tmp_path / "null.xml"
    profile.write_text(NULL)
    words = ("--search", "arrivals=const(100/s..1G/s)", "--objective", "errors == 0", "--confirm", "0", "-q")
    result = netmodel.run("-m", profile, *words, "--format", how, code=0)
    assert result.err == f"netmodel: warning: the value says nothing of the other end: {TOO_LATE}\n"
    if how == "text":
        assert f" meets errors == 0\n  {TOO_LATE}\n" in result.out, result
    else:
        sweep = result.json()["sweep"]
        assert sweep["search"]["limit"] == "generator" and sweep["trials"][-1]["verdict"], sweep["search"]


def test_errors_are_a_limit(netmodel: Netmodel) -> None:
    words = ("--search", "num_transactions=5..900", "--objective", "errors > 0", "--format", "json", "-q")
    search = netmodel.run("-m", "tcp_rr", *words, code=4).json()["sweep"]["search"]
    assert (search["outcome"], search["limit"]) == ("not met", "errors")


def test_a_percentile_is_as_sure_as_it_is_told(netmodel: Netmodel, validate: Validate) -> None:
    """A trial lasts until 100 times are above the percentile, and passes where all of its interval meets the objective."""
    limit, more = 20e-3, defines(test_length="100ms", num_flows=8)
    words = ("--search", "arrivals=const(500/s..5k/s)", "--objective", f"response.p99 <= {limit}s", "--confirm", "1")
    with_json = netmodel.run("-m", "tcp_rr", *more, *words, "--format", "json", "-q")
    assert with_json.code in (0, 4), with_json
    document = with_json.json()
    validate(document)
    trials = [one for one in document["sweep"]["trials"] if one["step"] not in ("capacity", "half")]
    for trial in trials:
        low, high = trial["percentile_low"], trial["percentile_high"]
        assert low is not None and (high is None or low <= trial["percentile"] <= high), trial
        between = low <= limit and (high is None or high > limit)
        assert not (between and trial["verdict"] == "pass"), trial
        if trial["in_doubt"]:
            assert between and trial["reason"].startswith("in doubt: response.p99 is "), trial
        if (trial["verdict"] == "pass" or trial["in_doubt"]) and trial["runs"] < 16:
            assert trial["runs"] * trial["offered_per_s"] * 0.1 * 0.01 > 90, trial
    first = trials[0]  # 50 to 500 in a run, of which one in a hundred is above
    assert first["runs"] > 1 or first["verdict"] == "fail", first


@pytest.mark.parametrize(
    ("length", "objective", "interval_s"),
    [("200ms", "latency.p50 <= 100s", 0.02), ("40ms", "latency.p50 <= 100s", 1), ("200ms", "transactions >= 1", 1)],
)
def test_rows_are_shorter_where_a_percentile_needs_them(netmodel: Netmodel, length: str, objective: str, interval_s: float) -> None:
    words = ("--search", "num_flows=1..1", "--objective", objective, "--confirm", "0", "--format", "json", "-q")
    document = netmodel.run("-m", "tcp_rr", *defines(test_length=length), *words).json()
    assert document["run"]["interval_s"] == interval_s
    (trial,) = document["sweep"]["trials"]
    assert (trial["percentile_low"] is not None) == (interval_s < 1), trial


def test_nothing_is_above_the_greatest(netmodel: Netmodel) -> None:
    words = ("--search", "num_flows=1..2", "--objective", "latency.p100 <= 100s", "--confirm", "0", "--format", "json", "-q")
    trials = netmodel.run("-m", "tcp_rr", *defines(test_length="50ms"), *words, code=0).json()["sweep"]["trials"]
    assert [trial["runs"] for trial in trials] == [1, 1], trials


def test_an_interrupt_ends_the_search_with_the_trials_so_far(netmodel: Netmodel) -> None:
    more = defines(test_length="300ms")
    words = ("--search", "num_flows=1..1000", "--objective", "transactions >= 1", "--format", "json")
    with netmodel.started("-m", "tcp_rr", *more, *words) as master:
        master.wait_line("num_flows=2: pass")
        master.signal(signal.SIGINT)
        result = master.finish()
    assert result.code == 130, result
    sweep = result.json()["sweep"]
    assert (sweep["search"]["outcome"], sweep["search"]["value"]) == ("interrupted", None)
    assert [trial["value"] for trial in sweep["trials"]][:2] == ["1", "2"] and len(sweep["trials"]) < 6
    assert re.search(r"netmodel: interrupted after trial \d\n", result.err), result


def interrupted(document: Json, trials: int) -> Json:
    """What an interrupt would have left after so many trials."""
    sweep = document["sweep"]
    search = {**sweep["search"], "outcome": "interrupted", "value": None, "command": None, "confirmed": 0}
    return {**document, "sweep": {**sweep, "trials": sweep["trials"][:trials], "search": search}}


def test_an_interrupted_search_goes_on(netmodel: Netmodel, validate: Validate, tmp_path: Path) -> None:
    words = (*COUNTED, "--seed", "3", "--confirm", "1", "--format", "json")
    whole = netmodel.run(*words, "-q", code=0).json()
    file = tmp_path / "search.json"
    for trials in (0, 5, len(whole["sweep"]["trials"]) - 1):
        file.write_text(json.dumps(interrupted(whole, trials)))
        result = netmodel.run(*words, "--search-resume", file, code=0)
        document = result.json()
        validate(document)
        assert result.err.count("\n") == len(whole["sweep"]["trials"]) - trials, "only what is missing is run"
        assert document["sweep"]["trials"][:trials] == whole["sweep"]["trials"][:trials]
        assert document["sweep"]["search"] == whole["sweep"]["search"]
        assert all(one["met"] for one in document.get("requirements") or []), "nothing of a failed trial beside what was found"
        asked = [[(trial["value"], trial["step"], trial["seed"]) for trial in one["sweep"]["trials"]] for one in (whole, document)]
        assert asked[0] == asked[1]
    half = next(trial for trial in whole["sweep"]["trials"] if trial["step"] == "half")
    half["runs"] = 3  # it needs no times of a percentile
    file.write_text(json.dumps(interrupted(whole, len(whole["sweep"]["trials"]) - 1)))
    result = netmodel.run(*words, "--search-resume", file, code=1)
    assert re.search(r"this search would not make its trial \d+ \(half, \d+\): it was made with other options", result.err), result


def test_the_capacity_of_an_interrupted_search_is_kept(netmodel: Netmodel, tmp_path: Path) -> None:
    file = tmp_path / "search.json"
    more = defines(test_length="150ms", num_flows=8)
    words = ("-m", "tcp_rr", *more, "--search", "arrivals=const(100/s..1G/s)", "--objective", "transactions >= 0 errors <= 0.1%")
    with netmodel.started(*words, "--format", "json") as master:
        master.wait_line("arrivals=const")
        master.signal(signal.SIGINT)
        document = master.finish().json()
    file.write_text(json.dumps(interrupted(document, 1)))
    trials = netmodel.run(*words, "--search-resume", file, "--confirm", "3", "--format", "csv").out.splitlines()
    assert trials[1].startswith(",capacity,") and trials[2].split(",")[0] == document["sweep"]["trials"][1]["value"]


@pytest.mark.parametrize(
    ("changed", "more", "why"),
    [
        ({"outcome": "found"}, (), "its search has ended (found): only one that was interrupted goes on"),
        ({"objective": "errors == 0"}, (), "its search had --objective 'errors == 0'"),
        ({"objective": None}, (), "it is not of a search"),
        ({}, ("-D", "num_flows=2"), "its search had num_flows=1, and this one has 2"),
        ({}, ("--seed", "99"), "this search would not make its trial 1 (low, 1): it was made with other options"),
        ({}, ("--repeat", "2"), "this search would not make its trial 1 (low, 1): it was made with other options"),
        ({}, ("--warmup", "100ms"), "its search had another --warmup"),
        (
            {},
            ("--require", "transactions <= 3"),
            "its search had other requirements: only one of both has 'transactions <= 3'",
        ),
        ({}, ("--percentiles", "42"), 'its trial 1 lacks "latency_s", or a percentile of it that this line asks for'),
    ],
)
def test_only_the_same_search_goes_on(
    changed: Json, more: tuple[str, ...], why: str, netmodel: Netmodel, tmp_path: Path
) -> None:
    words = (*COUNTED, "--seed", "3", "--confirm", "0")
    document = interrupted(netmodel.run(*words, "--format", "json", "-q", code=0).json(), 3)
    document["sweep"]["search"].update(changed)
    file = tmp_path / "search.json"
    file.write_text(json.dumps(document))
    result = netmodel.run(*words, *more, "--search-resume", file, code=1)
    assert (result.out, result.err) == ("", f"netmodel: --search-resume {file}: {why}\n")


def test_what_has_ended_or_is_no_list_does_not_go_on(netmodel: Netmodel, tmp_path: Path) -> None:
    words = ("-m", "tcp_rr", *defines(num_transactions=5), "--search", "num_flows=1..4", "--objective", "transactions <= 1")
    whole = netmodel.run(*words, "--confirm", "0", "--format", "json", "-q", code=4).json()
    file = tmp_path / "search.json"
    file.write_text(json.dumps(interrupted(whole, len(whole["sweep"]["trials"]))))
    result = netmodel.run(*words, "--confirm", "0", "--search-resume", file, code=1)
    assert "nothing of its search is left to run" in result.err
    file.write_text(json.dumps(interrupted(whole, 0)).replace('"trials": []', '"trials": {}'))
    assert "it is not of a search" in netmodel.run(*words, "--confirm", "0", "--search-resume", file, code=1).err


def test_a_search_of_other_trials_does_not_go_on(netmodel: Netmodel, tmp_path: Path) -> None:
    words = (*COUNTED, "--confirm", "0", "--format", "json", "-q")
    document = interrupted(netmodel.run(*words, code=0).json(), 3)
    file = tmp_path / "search.json"
    document["sweep"]["trials"][2]["value"] = "5"
    file.write_text(json.dumps(document))
    result = netmodel.run(*words, "--search-resume", file, code=1)
    assert "this search would not make its trial 3 (bracket, 5): it was made with other options" in result.err
    del document["sweep"]["trials"][0]["reached"]
    file.write_text(json.dumps(document))
    assert 'its trial 1 lacks "reached"' in netmodel.run(*words, "--search-resume", file, code=1).err
    document["sweep"]["trials"][0]["reached"] = None
    del document["sweep"]["trials"][1]["step"]
    file.write_text(json.dumps(document))
    assert 'its trial 2 lacks "step"' in netmodel.run(*words, "--search-resume", file, code=1).err
    assert "No such file or directory" in netmodel.run(*words, "--search-resume", tmp_path / "nothing", code=1).err
    result = netmodel.run("-m", "tcp_rr", "--search-resume", file, code=1)
    assert result.err == "netmodel: --search-resume: only with --search\n"


def test_an_interrupt_in_the_first_trial(netmodel: Netmodel) -> None:
    words = ("-v", "--search", "num_flows=1..1000", "--objective", "transactions >= 1")
    with netmodel.started("-m", "tcp_rr", *defines(test_length="60s"), *words) as master:
        master.wait_line("phase 2 of 3 begins")
        master.signal(signal.SIGINT)
        result = master.finish()
    assert (result.code, result.out) == (130, ""), result
    assert "netmodel: interrupted after trial 0\n" in result.err


def test_a_limit_of_the_time_is_one_of_the_whole_search(netmodel: Netmodel) -> None:
    words = ("--search", "num_flows=1..1000", "--objective", "transactions >= 1", "--max-duration", "1s")
    result = netmodel.run("-m", "tcp_rr", *defines(test_length="300ms"), *words, code=2)
    assert re.search(r"netmodel: longer than --max-duration 1s after trial \d\n", result.err), result
    assert "\n  interrupted: transactions >= 1\n" in result.out


def test_what_cannot_run_at_all_is_no_answer(netmodel: Netmodel) -> None:
    result = netmodel.run(*COUNTED, *defines(host="127.0.0.1"), "-P", "1", code=2)
    assert "nothing listens on port 1" in result.err, result


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--search", "num_flows=1..4"], "--search num_flows=1..4: needs an objective, as --objective 'latency.p99 <= 1ms'"),
        (["--objective", "errors == 0"], "--objective: only with --search"),
        (["--confirm", "2"], "--confirm: only with --search"),
        (
            ["--search", "num_flows=1..4:1", "--objective", "errors == 0"],
            "--search num_flows=1..4:1: must be a range without a step: a search chooses the values",
        ),
        (
            ["--search", "num_flows=0..4", "--objective", "errors == 0"],
            "--search num_flows=0..4: 0..4: must be two whole values of the type count, from 1 on, the lower one first",
        ),
        (
            ["--search", "host=a..b", "--objective", "errors == 0"],
            "--search host=a..b: a parameter of the type host has no range",
        ),
        (
            ["--search", "num_flows=1..4", "--objective", "errors == 0", "--scan", "num_flows=1..4:1"],
            "--scan and --search: one at a time",
        ),
        (
            ["--search", "num_flows=1..4", "--objective", "errors == 0", "--format", "kv"],
            "--search: only with --format csv or json or text",
        ),
        (
            ["--search", "num_flows=1..4", "--objective", "errors == 0", "--compare", "x"],
            "--search and --compare: one at a time",
        ),
        (
            ["--search", "num_flows=1..4", "--objective", "latncy.p99 <= 1ms"],
            "--objective latncy.p99 <= 1ms: latncy.p99: unknown figure; did you mean latency.p99?",
        ),
    ],
)
def test_what_is_wrong_is_told_before_anything_runs(netmodel: Netmodel, words: list[str], why: str) -> None:
    result = netmodel.run("-m", "tcp_rr", *words, code=1)
    assert (result.out, result.err) == ("", f"netmodel: {why}\n")
