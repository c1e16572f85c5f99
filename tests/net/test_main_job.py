# SPDX-License-Identifier: Apache-2.0
"""The main job: a stock profile on this host alone, and everything that can be asked about it."""

from __future__ import annotations

import csv
import io
import itertools
import json
import os
import pty
import re
import select
import signal
import subprocess
import termios
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

import probes
from nmtest import (
    NEEDED,
    PATIENCE_S,
    PROFILES,
    STOCK,
    Json,
    Netmodel,
    assert_complete,
    assert_counts_agree,
    assert_ends_agree,
    defines,
    descendants,
    phase_of,
    slaves_of,
    wait_until,
)

SHORT = defines(test_length="200ms")
BOTH_ENDS = [name for name in STOCK if name != "server"]  # whose clients are others: test_public.py


def test_the_stock_profiles_are_there() -> None:
    known = """
        tcp_rr tcp_crr tcp_stream udp_rr udp_stream tls_rr http_get rpc_mix specweb dns ldap oltp telnet backup_tx
        backup_rx voip iperf netperf connect_storm accept_storm relay sctp_rr vsock_rr
        psp_rr psp_crr psp_stream think
    """
    assert set(known.split()) <= set(STOCK)


@pytest.mark.parametrize("name", probes.protocols(*BOTH_ENDS))
def test_stock_profile(netmodel: Netmodel, validate: Callable[[Json], None], name: str) -> None:
    document = netmodel.measure(name, *SHORT, *NEEDED.get(name, ()))
    validate(document)
    assert_complete(document)
    assert_counts_agree(document)
    assert document["schema"] == "netmodel.result/1"
    assert document["profile"]["name"] == name
    assert document["profile"]["params"]["test_length"] == "200ms"
    assert document["totals"]["transactions"] > 0
    assert document["totals"]["errors"] == 0
    # Under load the window may close before its last passes have ended: they are in its latencies alone.
    counted = document["totals"]["transactions"] + document["run"].get("transactions_after", 0)
    assert document["totals"]["latency_s"]["count"] == counted
    assert [host["name"] for host in slaves_of(document)] == ["local"]


@pytest.mark.parametrize("name", probes.protocols(*BOTH_ENDS))
def test_stock_profile_with_many_flows_and_workers(netmodel: Netmodel, name: str) -> None:
    known = netmodel.run("-m", PROFILES / f"{name}.xml", "--params", code=0).out
    wanted = {"num_flows": 10, "num_threads": 2, "nth": 4, "lookup_flows": 5, "fetch_flows": 3}
    given = {key: value for key, value in wanted.items() if re.search(rf"^{key} ", known, re.MULTILINE)}
    assert given
    document = netmodel.measure(name, *SHORT, *defines(**given), *NEEDED.get(name, ()))
    assert_complete(document)
    assert_counts_agree(document)
    assert sum(group["flows"] for group in document["groups"]) >= 8


def test_the_sizes_of_messages_make_the_bytes(netmodel: Netmodel) -> None:
    document = netmodel.measure("tcp_rr", *SHORT, *defines(request_size=300, response_size="5k"))
    phase = phase_of(document, "request-response")
    assert phase["bytes_sent"] == 300 * phase["transactions"]
    assert phase["bytes_received"] == 5120 * phase["transactions"]
    assert_ends_agree(document)


def test_a_connection_for_each_transaction(netmodel: Netmodel) -> None:
    for close in ("rst", "fin"):
        document = netmodel.measure("tcp_crr", *SHORT, *defines(close=close))
        assert document["totals"]["connects"] == document["totals"]["transactions"] > 0
        assert_ends_agree(document)


def test_text_is_the_default(netmodel: Netmodel) -> None:
    result = netmodel.run("-m", PROFILES / "tcp_rr.xml", *SHORT, code=0)
    assert result.err == ""
    assert result.out == netmodel_text(result.out)
    for word in ("tcp_rr", "transactions", "latency", "p99.9", "seed"):
        assert word in result.out


def netmodel_text(text: str) -> str:
    """The text without anything that only a terminal understands."""
    return "".join(c for c in text if c == "\n" or c.isprintable())


def test_json_stands_alone_on_standard_output(netmodel: Netmodel) -> None:
    result = netmodel.run("-m", PROFILES / "tcp_rr.xml", *SHORT, "--format", "json", "-i", "50ms", code=0)
    assert result.json()["run"]["complete"] is True
    assert result.err == "", "nothing is told where there is no terminal"
    assert result.out.endswith("}\n")


def test_verbose_tells_on_standard_error(netmodel: Netmodel) -> None:
    result = netmodel.run("-m", PROFILES / "tcp_rr.xml", *SHORT, "--format", "json", "-v", code=0)
    result.json()
    assert re.search(r"^netmodel: phase 2 of 3 begins$", result.err, re.MULTILINE)


def parse_kv(text: str) -> dict[str, str]:
    pairs = [line.partition("=") for line in text.splitlines()]
    assert all(key and equals for key, equals, _ in pairs), text
    assert len({key for key, _, _ in pairs}) == len(pairs), "a key is there twice"
    return {key: value for key, _, value in pairs}


def test_kv_has_the_known_keys_and_agrees_with_itself(netmodel: Netmodel) -> None:
    kv = parse_kv(netmodel.run("-m", PROFILES / "tcp_rr.xml", *SHORT, "--format", "kv", code=0).out)
    known = """
        num_transactions throughput throughput_units local_throughput remote_throughput correlation_coefficient
        num_samples maxrss_start invalid_secret_count interval percentiles remote_time_start remote_time_end
        remote_num_samples remote_correlation_coefficient remote_local_throughput
        time_start time_end utime_start utime_end stime_start stime_end maxrss_end minflt_end majflt_end
        nvcsw_end nivcsw_end latency_min latency_max latency_mean latency_stddev latency_p50 latency_p99.9
        num_flows num_threads test_length request_size response_size total_run_time
    """
    wanted = set(known.split())
    assert wanted <= set(kv), wanted - set(kv)
    assert kv["throughput_units"] == "transactions/s"
    seconds = float(kv["measured_time"])
    assert float(kv["throughput"]) == pytest.approx(int(kv["num_transactions"]) / seconds, rel=1e-3)
    assert float(kv["time_end"]) - float(kv["time_start"]) == pytest.approx(float(kv["total_run_time"]), abs=1e-5)
    assert float(kv["latency_min"]) <= float(kv["latency_p50"]) <= float(kv["latency_max"])


def remote_seconds(kv: dict[str, str]) -> float:
    """The window of the only slave, which ends when the last of what it receives has come."""
    return float(kv["remote_time_end"]) - float(kv["remote_time_start"])


def test_kv_of_a_stream_is_what_the_reader_got(netmodel: Netmodel) -> None:
    """Also when datagrams are lost: the receiver has room for few of them."""
    for profile, *more in (["tcp_stream"], ["udp_stream", "-D", "wnd=4k"]):
        words = ("-m", PROFILES / f"{profile}.xml", *SHORT, *more, "--format", "kv")
        kv = parse_kv(netmodel.run(*words, code=0).out)
        assert kv["throughput_units"] == "Mbit/s"
        received = int(kv["remote_bytes_received_all"])
        assert 0 < received <= int(kv["bytes_sent"])
        assert int(kv["remote_throughput"]) == pytest.approx(received * 8 / remote_seconds(kv), rel=1e-4)
        assert float(kv["throughput"]) == pytest.approx(int(kv["remote_throughput"]) / 1e6, rel=1e-3, abs=0.01)
        assert kv["local_throughput"] == "0"
    assert received < 0.9 * int(kv["bytes_sent"]), "nothing was lost"


def test_kv_of_a_stream_to_the_master_is_its_own_rate(netmodel: Netmodel) -> None:
    words = ("-m", PROFILES / "tcp_stream.xml", *SHORT, "-D", "enable_tcp_maerts=yes", "--format", "kv")
    kv = parse_kv(netmodel.run(*words, code=0).out)
    bits_per_s = int(kv["bytes_received"]) * 8 / float(kv["measured_time"])
    assert int(kv["local_throughput"]) == pytest.approx(bits_per_s, rel=1e-4)
    assert float(kv["throughput"]) == pytest.approx(bits_per_s / 1e6, rel=1e-3)
    assert kv["remote_throughput"] == kv["remote_local_throughput"] == "0"


@pytest.mark.parametrize("how", ["enable_read", "split_bidir"])
@pytest.mark.parametrize("form", ["kv", "neper"])
def test_a_stream_both_ways_is_in_bits_of_each_reader(netmodel: Netmodel, how: str, form: str) -> None:
    words = ("-m", PROFILES / "tcp_stream.xml", *SHORT, "-D", f"{how}=yes")
    keys = parse_kv(netmodel.run(*words, "--format", form, code=0).out)
    assert keys["throughput_units"] == "Mbit/s"
    assert float(keys["throughput"]) == pytest.approx(int(keys["local_throughput"]) / 1e6, rel=1e-3)
    assert int(keys["local_throughput"]) > 1e6
    assert int(keys["remote_throughput"]) > 1e6
    if form == "kv":
        own = int(keys["bytes_received"]) * 8 / float(keys["measured_time"])
        remote = int(keys["remote_bytes_received_all"]) * 8 / remote_seconds(keys)
        assert int(keys["local_throughput"]) == pytest.approx(own, rel=1e-3)
        assert int(keys["remote_throughput"]) == pytest.approx(remote, rel=1e-3)


def test_kv_covers_the_window(netmodel: Netmodel) -> None:
    """One that begins within an interval, after more than half of the run."""
    words = ("-m", PROFILES / "tcp_rr.xml", "-D", "test_length=800ms", "-i", "500ms", "--warmup", "600ms")
    kv = parse_kv(netmodel.run(*words, "--format", "kv", code=0).out)
    assert 0.1 < float(kv["total_run_time"]) < 0.5
    assert float(kv["elapsed_time"]) > 0.75
    for end in ("", "remote_"):
        seconds = float(kv[f"{end}time_end"]) - float(kv[f"{end}time_start"])
        assert seconds == pytest.approx(float(kv["total_run_time"]), abs=0.05)
        assert abs(float(kv[f"{end}time_end"]) - time.time()) < 30
        count = int(kv[f"{end}num_transactions"])
        assert 0 < count < 0.7 * int(kv["remote_num_transactions_all"])
        rate = int(kv[f"{end}local_throughput" if end else "local_throughput"])
        assert rate == pytest.approx(count / seconds, rel=0.02)
    assert int(kv["remote_throughput"]) == pytest.approx(int(kv["local_throughput"]), rel=0.2)


@pytest.mark.alone
def test_csv_is_the_time_grid(netmodel: Netmodel) -> None:
    result = netmodel.run(
        "-m", PROFILES / "tcp_rr.xml", *defines(test_length="400ms"), "-i", "100ms", "--format", "csv", code=0
    )
    rows = list(csv.DictReader(io.StringIO(result.out)))
    assert [float(row["from_s"]) for row in rows] == pytest.approx([0, 0.1, 0.2, 0.3], abs=1e-6)
    assert all(row["part"] == "measured" and row["run"] == "1" for row in rows)
    assert all(int(row["transactions"]) > 0 for row in rows)
    for row in rows:
        taken = float(row["seconds"])
        assert taken == pytest.approx(float(row["to_s"]) - float(row["from_s"]), rel=0.2)
        assert float(row["transactions_per_s"]) == pytest.approx(int(row["transactions"]) / taken, rel=1e-3)
        assert None not in row.values(), "a row is as long as the header"


def test_output_goes_to_a_file(netmodel: Netmodel, tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    result = netmodel.run("-m", PROFILES / "tcp_rr.xml", *SHORT, "--format", "json", "-o", path, code=0)
    assert result.out == ""
    assert json.loads(path.read_text())["run"]["complete"] is True
    assert list(tmp_path.iterdir()) == [path], "nothing else is left there"


def test_output_replaces_a_file_only_when_there_is_a_result(netmodel: Netmodel, tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    path.write_text("old")
    netmodel.run("-m", PROFILES / "tcp_rr.xml", *defines(num_flows=0), "--format", "json", "-o", path, code=1)
    assert path.read_text() == "old"
    netmodel.run("-m", PROFILES / "tcp_rr.xml", *SHORT, "--format", "json", "-o", path, code=0)
    assert json.loads(path.read_text())["schema"] == "netmodel.result/1"


def test_parameters_from_the_environment(netmodel: Netmodel) -> None:
    env = {"test_length": "150ms", "num_flows": "3", "request_size": "7"}
    document = netmodel.measure("tcp_rr", env=env)
    params = document["profile"]["params"]
    assert (params["test_length"], params["num_flows"], params["request_size"]) == ("150ms", "3", "7")
    assert document["groups"][0]["flows"] == 3
    assert document["totals"]["bytes_sent"] == 7 * document["totals"]["transactions"]


def test_a_definition_beats_the_environment(netmodel: Netmodel) -> None:
    env = {"test_length": "30s", "num_flows": "3"}
    document = netmodel.measure("tcp_rr", *SHORT, *defines(num_flows=2), env=env)
    assert document["profile"]["params"]["num_flows"] == "2"
    assert document["groups"][0]["flows"] == 2


def test_a_profile_by_name_and_by_path(netmodel: Netmodel, tmp_path: Path) -> None:
    by_name = netmodel.run("-m", "tcp_rr", *SHORT, "--format", "json", cwd=tmp_path, code=0).json()
    (tmp_path / "own.xml").write_bytes((PROFILES / "tcp_rr.xml").read_bytes())
    by_path = netmodel.run("-m", "own.xml", *SHORT, "--format", "json", cwd=tmp_path, code=0).json()
    assert by_name["profile"]["name"] == by_path["profile"]["name"] == "tcp_rr"
    assert by_name["profile"]["sha256"] == by_path["profile"]["sha256"]
    assert by_path["profile"]["path"] == "own.xml"
    assert by_name["run"]["id"] != by_path["run"]["id"]


def test_an_unknown_name_gives_a_hint(netmodel: Netmodel) -> None:
    result = netmodel.run("-m", "tcp_r", code=1)
    assert result.out == ""
    assert len(result.lines()) == 1
    assert "-m tcp_r: no such profile; did you mean tcp_rr?" in result.err
    assert str(PROFILES) in result.err


def test_a_name_like_no_other_gives_no_hint(netmodel: Netmodel) -> None:
    result = netmodel.run("-m", "zzzzzzzzzz", code=1)
    assert "did you mean" not in result.err
    assert "--list" in result.err


def test_a_missing_file_is_told(netmodel: Netmodel) -> None:
    result = netmodel.run("-m", "no/such.xml", code=1)
    assert result.lines() == ["no/such.xml: error: cannot be opened: No such file or directory"]


def test_list_has_every_stock_profile_and_its_purpose(netmodel: Netmodel) -> None:
    result = netmodel.run("--list", code=0)
    rows = dict(line.split(None, 1) for line in result.out.splitlines())
    assert set(STOCK) <= set(rows)
    assert all(len(rows[name]) > 10 for name in STOCK)


def test_params_lists_the_declarations(netmodel: Netmodel, profile: Callable[[str], Path]) -> None:
    path = profile(
        '<param name="own" type="size" default="1"/><params names="mark=3 wait"/>'
        '<param name="cc" sets="connect.cc" default=""/><group/>'
    )
    rows = [line.split() for line in netmodel.run("-m", path, "--params", code=0).out.splitlines()]
    assert rows[0][:4] == ["name", "type", "value", "from"]
    expected = [["own", "size", "1"], ["mark", "integer", "3"], ["wait", "enum", "sleep"], ["cc", "string", "default"]]
    assert [row[:3] for row in rows[1:]] == expected


def test_params_shows_where_values_come_from(netmodel: Netmodel) -> None:
    result = netmodel.run("-m", "tcp_rr", "--params", *defines(num_flows=8), env={"num_threads": "2"}, code=0)
    rows = {line.split()[0]: line.split()[1:4] for line in result.out.splitlines()}
    assert rows["num_flows"] == ["count", "8", "-D"]
    assert rows["num_threads"] == ["count", "2", "environment"]
    assert rows["host"] == ["host", "local", "default"]


@pytest.mark.parametrize("name", STOCK)
def test_check_runs_nothing(netmodel: Netmodel, name: str) -> None:
    result = netmodel.run("-m", name, "--check", *defines(test_length="1000s"), *NEEDED.get(name, ()), code=0)
    assert re.fullmatch(rf".*{name}\.xml: ok: {name}: \d+ groups?, \d+ flows? on .*\n", result.out)
    assert result.err == ""


def test_check_counts(netmodel: Netmodel) -> None:
    result = netmodel.run("-m", "tcp_rr", "--check", *defines(num_flows=9, num_threads=3), code=0)
    assert "1 group, 9 flows on 3 workers, 4 flowops, 1 host" in result.out


def test_dump_plan_shows_both_sides(netmodel: Netmodel) -> None:
    result = netmodel.run("-m", "tcp_rr", "--dump-plan", code=0)
    master, slave = result.out.split("=== slave local\n")
    assert master.startswith("=== master\n")

    def order(side: str, *ops: str) -> bool:
        return re.search(r"\b.*?\b".join(ops), side, re.DOTALL) is not None

    assert order(master, "connect", "write", "read", "disconnect")
    assert order(slave, "accept", "read", "write", "disconnect")
    assert "accept" not in master
    assert result.err == ""


def test_dump_plan_has_a_slave_for_each_host(netmodel: Netmodel) -> None:
    result = netmodel.run(
        "-m", "http_get", "--dump-plan", *defines(host1="10.9.9.1", host2="10.9.9.2", host3="10.9.9.1"), code=0
    )
    assert re.findall(r"^=== (.*)$", result.out, re.MULTILINE) == ["master", "slave 10.9.9.1", "slave 10.9.9.2"]


FLOWOPS = ("connect", "accept", "read", "write", "think", "disconnect", "nop")
TRANSPORTS = ("tcp", "unix", "null")


def test_describe_lists_everything(netmodel: Netmodel) -> None:
    out = netmodel.run("--describe", code=0).out
    for name in FLOWOPS + TRANSPORTS:
        assert re.search(rf"^ +{name} +\S", out, re.MULTILINE), name


@pytest.mark.parametrize("name", FLOWOPS)
def test_describe_flowop(netmodel: Netmodel, name: str) -> None:
    assert netmodel.run("--describe", name, code=0).out.startswith(f"flowop {name}: ")
    assert netmodel.run("--describe", "flowop", name, code=0).out.startswith(f"flowop {name}: ")


@pytest.mark.parametrize("name", TRANSPORTS)
def test_describe_transport(netmodel: Netmodel, name: str) -> None:
    assert netmodel.run("--describe", "transport", name, code=0).out.startswith(f"transport {name}: ")


@pytest.mark.parametrize("name", ["conn", "count", "timeout", "canfail"])
def test_options_of_every_flowop_are_told(netmodel: Netmodel, name: str) -> None:
    for flowop in FLOWOPS:
        out = netmodel.run("--describe", flowop, code=0).out
        assert re.search(rf"^  {name} +\w+ ", out.partition("as every flowop:")[2], re.MULTILINE), out
    assert re.search(rf"^every flowop +{name} ", netmodel.run("--describe", "option", name, code=0).out, re.MULTILINE)
    manual = netmodel.run("--generate", "man-language", code=0).out
    assert re.search(rf"^\\fB{name}\\fR=", manual.partition("Every flowop\n")[2], re.MULTILINE)


def test_describe_option(netmodel: Netmodel) -> None:
    out = netmodel.run("--describe", "option", "size", code=0).out
    assert re.search(r"^flowop read +size +sizes +required", out, re.MULTILINE)
    assert re.search(r"^flowop write +size +sizes +required", out, re.MULTILINE)
    assert "nodelay" in netmodel.run("--describe", "option", code=0).out


@pytest.mark.parametrize(
    ("name", "of"), [("rate", "element transaction"), ("nthreads", "element group"), ("duration", "flowop think")]
)
def test_attributes_are_described(netmodel: Netmodel, name: str, of: str) -> None:
    out = netmodel.run("--describe", name, code=0).out
    assert re.search(rf"^{of} +{name} ", out, re.MULTILINE)
    if name == "duration":
        assert re.search(r"^element transaction +duration ", out, re.MULTILINE)


def test_what_else_can_be_described(netmodel: Netmodel) -> None:
    assert "type host: a name, " in netmodel.run("--describe", "host", code=0).out
    assert "an option of the command line: --help all tells of --interval" in netmodel.run("--describe", "interval").err
    assert "recvfile, which no profile can name" in netmodel.run("--describe", "sendfile", code=0).out
    assert netmodel.run("--describe", "steps", code=0).out.startswith("law steps, arrivals: steps(")
    uniform = netmodel.run("--describe", "law", "uniform", code=0).out.splitlines()
    assert any(line.startswith("law uniform, type sizes: ") for line in uniform)
    assert any(line.startswith("law uniform, arrivals: ") for line in uniform)


@pytest.mark.parametrize(
    ("name", "alias"), [("nodelay", "tcp_nodelay"), ("cc", "congestion_control"), ("localhost", "bind")]
)
def test_second_names_of_options_are_told(netmodel: Netmodel, name: str, alias: str) -> None:
    for words in (["tcp"], ["option", name], ["option", alias]):
        out = netmodel.run("--describe", *words, code=0).out
        assert re.search(rf"\b{name} .*\(also {alias}\)$", out, re.MULTILINE), words
    manual = netmodel.run("--generate", "man-language", code=0).out
    assert re.search(rf"^\\fB{name}\\fR.* \(also \\fB{alias}\\fR\)$", manual, re.MULTILINE)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["wrte"], "--describe wrte: no such element, flowop, transport, app, option, type, law, parameter or figure; did you mean write?"),
        (["flowop", "wite"], "--describe wite: no such flowop; did you mean write?"),
        (["transport", "tpc"], "--describe tpc: no such transport; did you mean tcp?"),
        (["option", "no_delay"], "--describe no_delay: no such option; did you mean nodelay?"),
        (["lognorml"], "--describe lognorml: no such element, flowop, transport, app, option, type, law, parameter or figure; did you mean lognormal?"),
        (["law", "poison"], "--describe poison: no such law; did you mean poisson?"),
        (["a", "b", "c"], "c: too many words after --describe"),
    ],
)
def test_describe_an_unknown_word(netmodel: Netmodel, words: list[str], expected: str) -> None:
    result = netmodel.run("--describe", *words, code=1)
    assert result.lines() == [f"netmodel: {expected}"]
    assert result.out == ""


def test_generate_texts(netmodel: Netmodel) -> None:
    assert "_netmodel" in netmodel.run("--generate", "completion", code=0).out
    assert "\\-\\-warmup" in netmodel.run("--generate", "man-options", code=0).out
    result = netmodel.run("--generate", "poetry", code=1)
    assert len(result.lines()) == 1
    for word in ("poetry", "schema", "man-options", "completion"):
        assert word in result.err


@pytest.mark.needs("bash")
def test_the_generated_completion_is_a_shell_script(netmodel: Netmodel) -> None:
    script = netmodel.run("--generate", "completion", code=0).out
    for words, wanted in ("--inter", "--interval"), ("--help a", "all"), ("--require transactions_", "transactions_per_s"):
        at = len(words.split())
        asked = f"COMP_WORDS=({netmodel.binary} {words}); COMP_CWORD={at}; _netmodel; echo ${{COMPREPLY[0]}}"
        answer = subprocess.run(
            ["bash", "-c", f"{script}\n{asked}"], capture_output=True, text=True, timeout=10, check=True
        )
        assert answer.stdout == f"{wanted}\n"


@pytest.fixture
def xmllint(netmodel: Netmodel, tmp_path: Path) -> Callable[[Path], str]:
    """Validates a profile with the generated schema: "" or what is wrong."""
    schema = tmp_path / "netmodel.rng"
    schema.write_text(netmodel.run("--generate", "schema", code=0).out)

    def check(path: Path) -> str:
        done = subprocess.run(
            ["xmllint", "--noout", "--nonet", "--relaxng", str(schema), str(path)],
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        assert "compilation" not in done.stderr, done.stderr
        return "" if done.returncode == 0 else done.stderr

    return check


def test_the_schema_takes_every_stock_profile(xmllint: Callable[[Path], str]) -> None:
    for name in STOCK:
        assert xmllint(PROFILES / f"{name}.xml") == "", name


def test_the_schema_takes_options_of_every_flowop(xmllint: Callable[[Path], str], tmp_path: Path) -> None:
    path = tmp_path / "options.xml"
    for options, good in (("conn=1 count=10 timeout=1s canfail", True), ("conn=1 cuont=10", False)):
        path.write_text(
            '<profile><group><transaction><flowop type="connect" options="conn=1 remotehost=local"/>'
            f'<flowop type="write" options="size=1 {options}"/></transaction></group></profile>'
        )
        assert (xmllint(path) == "") == good, options


@pytest.mark.parametrize(
    ("found", "put"),
    [
        ('type="write"', 'type="wirte"'),
        ("<transaction ", "<transction "),
        ("nflows=", "nflow="),
        ("</group>", "</group><flowop type='nop'/>"),
        ('type="connect"', ""),
    ],
)
def test_the_schema_refuses_a_broken_profile(
    xmllint: Callable[[Path], str], tmp_path: Path, found: str, put: str
) -> None:
    text = (PROFILES / "tcp_rr.xml").read_text()
    assert found in text
    path = tmp_path / "broken.xml"
    path.write_text(text.replace(found, put).replace("</transction>", "</transaction>"))
    if "transction" in put:
        path.write_text(text.replace("<transaction", "<transction").replace("</transaction", "</transction"))
    assert xmllint(path) != ""


def test_help_fits_two_screens(netmodel: Netmodel) -> None:
    """Examples come first; all options are a word away."""
    lines = netmodel.run("--help", code=0).out.splitlines()
    assert len(lines) <= 60
    assert max(len(line) for line in lines) <= 80
    assert lines.index("Examples:") < 8
    assert any("--help all" in line for line in lines)
    assert netmodel.run("-h", code=0).out.splitlines() == lines
    assert len(netmodel.run("--help", "all", code=0).out.splitlines()) > 100


def test_help_and_version(netmodel: Netmodel) -> None:
    out = netmodel.run("--help", "all", code=0).out
    options = ("--master", "--slave", "--interval", "--warmup", "--repeat", "--format", "--no-auth", "--generate")
    for option in options:
        assert option in out
    assert max(len(line) for line in out.splitlines()) <= 80
    assert re.fullmatch(r"netmodel \S+\n", netmodel.run("--version", code=0).out)


def run_on_terminal(netmodel: Netmodel, *args: str, columns: int = 80) -> tuple[str, str]:
    """Standard output, and what a terminal on standard error has seen."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, columns))
    process = subprocess.Popen(
        [str(netmodel.binary), *args],
        env=netmodel.env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    seen = b""
    deadline = time.monotonic() + 15
    try:
        while time.monotonic() < deadline and select.select([ours], [], [], deadline - time.monotonic())[0]:
            try:
                seen += os.read(ours, 4096)
            except OSError:  # the other end is closed
                break
        out, _ = process.communicate(timeout=PATIENCE_S)
    finally:
        process.kill()
        process.wait()
        os.close(ours)
    assert process.returncode == 0, seen
    return out.decode(), seen.decode()


def printed_on_terminal(netmodel: Netmodel, *args: str, columns: int) -> list[str]:
    """The lines that a terminal on standard output has shown."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, columns))
    with subprocess.Popen(
        [str(netmodel.binary), *args], env=netmodel.env, stdin=subprocess.DEVNULL, stdout=theirs, stderr=subprocess.PIPE
    ) as process:
        os.close(theirs)
        seen = b""
        try:
            while part := os.read(ours, 65536):
                seen += part
        except OSError:  # the other end is closed
            pass
        assert process.wait(PATIENCE_S) == 0
    os.close(ours)
    return seen.decode().splitlines()


@pytest.mark.parametrize("columns", [50, 80, 200])
@pytest.mark.parametrize("profile", ["tcp_rr", "udp_stream", "rpc_mix", "tls_rr", "tcp_rr -D arrivals=steps(500,1k,500,50ms)"])
def test_no_table_is_wider_than_the_terminal(netmodel: Netmodel, profile: str, columns: int) -> None:
    args = ("-m", *profile.split(), *defines(test_length="100ms"), "-a", "--repeat", "2", "--require", "latency.p99 < 100s")
    lines = printed_on_terminal(netmodel, *args, columns=columns)
    assert [line for line in lines[2:] if len(line) > columns and not line.startswith(("  with", "  warning"))] == []
    whole = any("retransmits  all passes" in line for line in lines)
    assert whole == (columns == 200), lines


def test_a_terminal_sees_a_live_line(netmodel: Netmodel) -> None:
    args = ["-m", "tcp_rr", *defines(test_length="400ms"), "-i", "100ms", "--format", "json"]
    out, seen = run_on_terminal(netmodel, *args)
    assert json.loads(out)["run"]["complete"] is True
    assert seen.count("\r") >= 3
    assert seen.endswith("\r\x1b[K"), "the line is taken away at the end"
    assert "\n" not in seen
    out, seen = run_on_terminal(netmodel, *args, "-q")
    assert seen == ""


@pytest.mark.parametrize("columns", [30, 60, 80, 120])
def test_the_live_line_fits(netmodel: Netmodel, columns: int) -> None:
    """Fields are whole or not there, also with a number before them."""
    args = ["-m", "tcp_rr", *defines(test_length="200ms"), "-i", "50ms", "--format", "json", "--repeat", "2"]
    _, seen = run_on_terminal(netmodel, *args, columns=columns)
    lines = [line for line in seen.replace("\x1b[K", "").split("\r") if line]
    assert len(lines) >= 4
    unit = r"(\d+(\.\d+)?(e[+-]\d+)?|-)"
    for line in lines:
        assert len(line) < columns
        fields = re.split(r"  +", line)
        assert re.fullmatch(r"\[[12]/2\]", fields.pop(0)), line
        assert re.fullmatch(r"\d+\.\d s", fields.pop(0)), line
        patterns = [
            rf"{unit} ?[kMG]? trans/s", rf"out {unit} [kMG]?b/s", rf"in {unit} [kMG]?b/s",
            rf"mean {unit} [mun]?s", rf"max {unit} [mun]?s",
        ]  # fmt: skip
        assert len(fields) <= len(patterns)
        for field, pattern in zip(fields, patterns, strict=False):
            assert re.fullmatch(pattern, field), line


def test_a_run_that_is_suspended_goes_on(netmodel: Netmodel) -> None:
    """A receive that sleeps ends with EINTR when its process is stopped and continued."""
    with netmodel.started("-m", "tcp_rr", "-D", "test_length=1500ms", "--format", "json") as process:
        wait_until(lambda: len(descendants(process.pid)) >= 1)
        for _ in range(8):
            time.sleep(0.1)  # any moment
            pids = [process.pid, *descendants(process.pid)]
            for number, pid in itertools.product((signal.SIGSTOP, signal.SIGCONT), pids):
                with suppress(ProcessLookupError):  # of a run that ends just now
                    os.kill(pid, number)
        result = process.finish()
    assert result.code == 0, result
    assert json.loads(result.out)["run"]["reconciled"] is True
