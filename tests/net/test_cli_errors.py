# SPDX-License-Identifier: Apache-2.0
"""Wrong command lines: exit code 1, nothing on standard output, and one line that says what and what is allowed."""

from __future__ import annotations

import os
import re
import socket
from pathlib import Path

import pytest

from nmtest import PROFILES, Netmodel, defines

M = ["-m", "tcp_rr"]


def line_of(text: str) -> str:
    """Where the profile has it: "tcp_rr.xml:13"."""
    lines = (PROFILES / "tcp_rr.xml").read_text().splitlines()
    return f"tcp_rr.xml:{next(number for number, line in enumerate(lines, 1) if text in line)}"


DURATION = "not a duration: a number and an optional ns, us, ms, s, min or h (seconds without one)"
COUNT = "not a count: a number and an optional k, m or g (powers of 1000)"
CPUS = "not a list of CPUs: numbers and ranges, as 0-3,8; or nodes"
PERCENTILES = "not a list of percentiles: numbers from 0 to 100, as 50,99.9"

WRONG = [
    ([], "nothing to do: give -m PROFILE to run one (--list lists them), or -s to be a slave; --help tells more"),
    ([*M, "-s"], "--master and --slave: one at a time"),
    ([*M, "--intervall", "1s"], "--intervall: unknown option; did you mean --interval?"),
    ([*M, "--xyzzy"], "--xyzzy: unknown option; --help all lists them"),
    ([*M, "-z"], "-z: unknown option; --help all lists them; neper's --rx-zerocopy is -D rx_zerocopy here"),
    ([*M, "-F", "3"], "-F: unknown option; --help all lists them; neper's --num-flows is -D num_flows here"),
    ([*M, "-check"], "-check: unknown option; did you mean --check?"),
    ([*M, "-chek"], "-chek: unknown option; did you mean --check?"),
    (["-help"], "-help: unknown option; did you mean --help?"),
    (["--slave", "-once"], "-once: unknown option; did you mean --once?"),
    ([*M, "-interval=1s"], "-interval: unknown option; did you mean --interval?"),
    ([*M, "-qzv"], "-z: unknown option; --help all lists them; neper's --rx-zerocopy is -D rx_zerocopy here"),
    ([*M, "--xyzzy", "--help"], "--xyzzy: unknown option; --help all lists them"),
    ([*M, "--num_flows=3"], "--num_flows: not an option, but a parameter of the profile: did you mean -D num_flows=3?"),
    (
        ["--num_flows", *M],
        "--num_flows: not an option, but a parameter of the profile: did you mean -D num_flows=VALUE?",
    ),
    (["--num_flows=3"], "--num_flows: unknown option; --help all lists them"),
    ([*M, "--num_flow=3"], "--num_flow: unknown option; --help all lists them"),
    ([*M, "--p", "1"], "--p: short for several options: write it out"),
    ([*M, "-P"], "--port: PORT is missing"),
    ([*M, "-P", "99999"], "--port 99999: not a port: a number from 0 to 65535"),
    ([*M, "-P", "-1"], "--port -1: not a port: a number from 0 to 65535"),
    ([*M, "-P", "1k"], "--port 1k: not a port: a number from 0 to 65535"),
    ([*M, "-P", "0"], "--port 0: must be 1 to 65535 with --master"),
    ([*M, "--format", "xml"], "--format xml: must be text, json, kv, neper, uperf, csv or junit"),
    ([*M, "--interval", "abc"], f"--interval abc: {DURATION}"),
    ([*M, "-i", "1d"], f"--interval 1d: {DURATION}"),
    ([*M, "-i", "1m"], "--interval 1m: m alone may mean minutes or milliseconds: write 1min or 1ms"),
    ([*M, "-i", ""], f"--interval : {DURATION}"),
    ([*M, "--warmup", "-1s"], f"--warmup -1s: {DURATION}"),
    ([*M, "--cooldown", "1 s"], f"--cooldown 1 s: {DURATION}"),
    ([*M, "--timeout", "1ms"], "--timeout 1ms: must be 400 ms to 86400 s"),
    ([*M, "--repeat", "0"], "--repeat 0: must be 1 to 10000"),
    ([*M, "--repeat", "often"], f"--repeat often: {COUNT}"),
    ([*M, "--seed", "x"], f"--seed x: {COUNT}"),
    ([*M, "--seed", "9007199254740992"], "--seed 9007199254740992: must be 0 to 9007199254740991"),
    ([*M, "--seed", "99999999999999999999"], "--seed 99999999999999999999: too large for a count"),
    ([*M, "-D", "num_flows"], "--define num_flows: must be NAME=VALUE"),
    ([*M, "-D", "=3"], "--define =3: must be NAME=VALUE"),
    ([*M, "--cpus", "0,4999"], "--cpus 0,4999: there is no CPU 4999 here, or it may not be used; allowed are "),
    ([*M, "--cpus", "0-"], f"--cpus 0-: {CPUS}"),
    ([*M, "--slave-cpus", "a,b"], f"--slave-cpus a,b: {CPUS}"),
    ([*M, "--percentiles", "101"], f"--percentiles 101: {PERCENTILES}"),
    ([*M, "--percentiles", "50,,99"], f"--percentiles 50,,99: {PERCENTILES}"),
    ([*M, "--percentiles", "nan"], f"--percentiles nan: {PERCENTILES}"),
    ([*M, "--quiet=yes"], "--quiet: takes no value"),
    ([*M, "--duration", "3"], "--duration: unknown option; the duration is -D test_length=3s"),
    ([*M, "--json"], "--json: unknown option; JSON is --format json"),
    ([*M, "-c", "10"], "-c: unknown option; the number of connections (-c of wrk, ab) is -D num_flows=10"),
    (["-c", "10.0.0.7"], "-c: unknown option; the other host (-c of iperf3) is -D host=10.0.0.7"),
    (
        [*M, "-t", "10"],
        "10: not an option, and -t takes no value; the duration (-t of iperf3, ab) is -D test_length=10s; "
        "the number of threads (-t of wrk) is -D num_threads=10",
    ),
    ([*M, "-q", "5"], "5: not an option, and -q takes no value"),
    ([*M, "num_flows=3"], "num_flows=3: not an option; parameters are set with -D"),
    (["tls_rr"], "tls_rr: not an option; did you mean -m tls_rr?"),
    (["http_gte", "-c"], "http_gte: not an option; did you mean -m http_get?"),
    (
        ["tcp_rrr", "-c"],
        "tcp_rrr: neither an option nor one of neper's workloads; did you mean tcp_rr, or -m tcp_rr?",
    ),
    (
        ["udp_steam", "-c", "-H", "x"],
        "udp_steam: neither an option nor one of neper's workloads; did you mean udp_stream, or -m udp_stream?",
    ),
    (["tcp_r"], "tcp_r: neither an option nor one of neper's workloads; did you mean tcp_rr, or -m tcp_rr?"),
    (
        ["qqqqqqqq", "-l", "3"],
        "qqqqqqqq: neither an option nor a profile; --help all lists options, and --list profiles",
    ),
    ([*M, "--check", "--params"], "--check and --params: one at a time"),
    ([*M, "--throughput-opt", "Gb"], "--throughput-opt: only with --format neper or kv"),
    ([*M, "--throughput-opt", "Gb", "--format", "json"], "--throughput-opt: only with --format neper or kv"),
    ([*M, "--stime-use-proc", "--format", "kv"], "--stime-use-proc: only with --format neper"),
    ([*M, "--log-rtt-entries", "5"], "--log-rtt-entries: only with --log-rtt"),
    *[
        (
            [*M, *of_intervals, "-i", "0"],
            f"{' '.join(of_intervals[:n])} and --interval 0: one at a time: without intervals nothing would be written but "
            "a header line",
        )
        for of_intervals, n in ((["--format", "csv"], 2), (["--all-samples", "a.csv"], 1), (["--tcp-info", "a.csv"], 1))
    ],
    ([*M, "--list"], "--master and --list: one at a time"),
    ([*M, "-m", "udp_rr"], "--master udp_rr: one profile at a time, and tcp_rr is given already"),
    ([*M, "-q", "-v"], "--quiet and --verbose: one at a time"),
    (["-s", "-q", "-v"], "--quiet and --verbose: one at a time"),
    (["--describe", *M], "--master and --describe: one at a time"),
    (["-s", "--list"], "--slave and --list: one at a time"),
    (["--check"], "--check: needs a profile: -m PROFILE"),
    ([*M, "--check", "-P", "20001"], "--port: only with --master or --slave, when something is run, not with --check"),
    ([*M, "--once"], "--once: only with --slave, not with --master"),
    (["-s", "--repeat", "2"], "--repeat: only when a profile is run (--master), not with --slave"),
    (["-s", "-a", "-R", "-o", "x"], "--output: only when a profile is run (--master), not with --slave"),
    (["-s", "-D", "a=b"], "--define: only with --master, not with --slave"),
    (["-s", "--max-flows", "0"], "--max-flows 0: must be 1 to 4000000"),
    (["-s", "--bind", ""], "--bind : not a host: a name, an IPv4 or IPv6 address, or local"),
    (["--generate", "schemas"], "--generate schemas: must be one of "),
    (["-m", ""], "-m: must be the name of a profile or a file"),
]  # fmt: skip


@pytest.mark.parametrize(("args", "expected"), WRONG, ids=[" ".join(args) or "nothing" for args, _ in WRONG])
def test_a_wrong_command_line(netmodel: Netmodel, args: list[str], expected: str) -> None:
    result = netmodel.run(*args)
    assert result.code == 1, result
    assert result.out == ""
    if expected.endswith(" "):
        assert len(result.lines()) == 1
        assert result.err.startswith(f"netmodel: {expected}")
    else:
        assert result.lines() == [f"netmodel: {expected}"]


def test_a_port_that_looks_like_a_number_of_connections(netmodel: Netmodel) -> None:
    """For iperf3 -P is one. A port that is one, or that a host needs, is nothing to tell."""
    short = [*M, *defines(test_length="20ms")]
    told = "netmodel: warning: -P is the port of slaves, and no host of this run needs it"
    result = netmodel.run(*short, "-P", "4", code=0)
    assert result.lines() == [f"{told}; 4 connections are -D num_flows=4"]
    assert netmodel.run(*short, "-P", "20001", code=0).err == ""
    assert "num_flows" not in netmodel.run(*short, "-P", "4", *defines(host="127.0.0.1"), code=2).err


@pytest.mark.parametrize("args", [["-vq"], ["-P20001", "-v"], ["-o", "-check"], ["-D", "-once=1"]], ids=" ".join)
def test_short_options_may_stand_together(netmodel: Netmodel, args: list[str]) -> None:
    """What looks like a long option with one dash, and is none, is left alone."""
    assert "unknown option" not in netmodel.run(*M, *args, "--repeat", "0", code=1).err


def test_several_mistakes_are_told_at_once(netmodel: Netmodel) -> None:
    result = netmodel.run(*M, "--format", "xml", "--repeat", "0", "-P", "99999", "--frobnicate", code=1)
    assert len(result.lines()) == 4


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"nun_flows": 3}, ["nun_flows", "num_flows"]),
        ({"zzzzzzzzzzzz": 3}, ["zzzzzzzzzzzz"]),
        ({"num_flows": "many"}, ["num_flows", "many", COUNT]),
        ({"test_length": "10 minutes"}, ["test_length", "10 minutes", DURATION]),
        ({"no_delay": "maybe"}, ["no_delay", "maybe", "yes or no"]),
        ({"request_size": "1.5x"}, ["request_size", "1.5x", "not a size"]),
        ({"host": ""}, ["host", "not a host"]),
        ({"host": "10.0.0.7:http"}, ["host", "10.0.0.7:http", "not a host"]),
        ({"host": "127.0.0.1:99999"}, ["host", "HOST:PORT or [IPv6]:PORT; 99999 is no port"]),
        ({"host": "::1:20000"}, ["host", "did you mean [::1]:20000?"]),
        ({"host": "local:20000"}, ["host", "local:20000", "local has no port"]),
        ({"host": "10.0.0.256"}, ["host", "10.0.0.256", "not a host"]),
        ({"num_flows": 0}, [line_of("<group"), 'nflows="0"', "must be 1 to 4000000 (from -D num_flows=0)"]),
        ({"request_size": 0}, [line_of('type="write"'), "size", "must be 1 to"]),
        ({"num_flows": 2, "num_threads": 4}, [line_of("<group"), "nflows", "at least nthreads"]),
        ({"num_flows": 99999999}, [line_of("<group"), "nflows", "must be 1 to 4000000"]),
        ({"test_length": 0}, [line_of("duration="), "duration", "0"]),
    ],
    ids=str,
)
def test_a_wrong_parameter(netmodel: Netmodel, given: dict[str, object], expected: list[str]) -> None:
    result = netmodel.run(*M, *defines(**given))
    assert result.code == 1, result
    assert result.out == ""
    assert len(result.lines()) == 1, result
    for text in expected:
        assert text in result.err, result


@pytest.mark.parametrize("value", ["a\x01b", b"a\xffb", "\uffff"], ids=["control", "no UTF-8", "no character"])
def test_a_parameter_that_is_no_text(netmodel: Netmodel, tmp_path: Path, value: str | bytes) -> None:
    """It could not be sent to a slave."""
    path = tmp_path / "named.xml"
    path.write_text(
        '<profile><group name="$g"><transaction><flowop type="connect" options="remotehost=local"/></transaction></group></profile>'
    )
    text = os.fsdecode(value) if isinstance(value, bytes) else value
    for defined, env in ((defines(g=text), {}), ([], {"g": text})):
        result = netmodel.run("-m", path, *defined, env=env, code=1)
        assert re.search(r"named\.xml:1: error: \$g: byte 0x(01|ff|ef) in its value \(from ", result.err), result
        assert len(result.lines()) == 1


def test_a_parameter_from_the_environment_is_checked_too(netmodel: Netmodel) -> None:
    result = netmodel.run(*M, env={"num_flows": "many"}, code=1)
    assert len(result.lines()) == 1
    for text in ("num_flows", "many", COUNT):
        assert text in result.err


def test_the_environment_can_be_switched_off(netmodel: Netmodel) -> None:
    """A variable that is there for something else changes no run; one that does is named."""
    env = {"num_flows": "3", "port": "many"}
    assert netmodel.run(*M, env=env, code=1).err.count("from the environment") == 1
    assert "environment" not in netmodel.run(*M, "--params", "--no-env", env=env, code=0).out
    words = (*M, *defines(num_transactions=20))
    text = netmodel.run(*words, "--no-env", env=env, code=0).out
    assert "  with num_transactions=20\n" in text
    env["port"] = "0"
    assert "num_flows=3 (environment) " in netmodel.run(*words, env=env, code=0).out
    document = netmodel.run(*words, "--format", "json", env=env, code=0).json()
    assert set(document["profile"]["from_environment"]) == {"num_flows", "port"}


@pytest.mark.parametrize(
    "cut", [["--warmup", "1s"], ["--cooldown", "2s"], ["--warmup", "600ms", "--cooldown", "500ms"]]
)
def test_nothing_would_be_left_to_measure(netmodel: Netmodel, cut: list[str]) -> None:
    result = netmodel.run(*M, *cut, *defines(test_length="1s"))
    assert result.code == 1, result
    assert len(result.lines()) == 1
    assert f"{line_of('duration=')}: error: <transaction> lasts 1" in result.err
    assert "--warmup and --cooldown" in result.err


def test_an_output_that_cannot_be_written_is_told_before_anything_runs(netmodel: Netmodel, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(8)
        listener.setblocking(False)
        to = ["-P", str(listener.getsockname()[1]), *defines(host="127.0.0.1")]
        for output, why in (
            (tmp_path, "Is a directory"),
            (tmp_path / "no" / "such", "No such file or directory"),
            (tmp_path / "file" / "below", "Not a directory"),
        ):
            result = netmodel.run(*M, *to, "-o", output)
            assert result.code == 1, result
            assert result.lines() == [f"netmodel: --output {output}: cannot be written: {why}"]
        with pytest.raises(BlockingIOError):
            listener.accept()
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("exists", [False, True])
@pytest.mark.parametrize(
    ("one", "other"), [("output", "hdr-log"), ("all-samples", "log-rtt"), ("response-log", "tcp-info")]
)
def test_two_outputs_in_one_file(netmodel: Netmodel, tmp_path: Path, one: str, other: str, exists: bool) -> None:
    """Under whatever names. What is in it stays."""
    path = tmp_path / "same.x"
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("folder/..")
    if exists:
        path.write_text("kept")
    for name in path, f"{tmp_path}/folder/../same.x", f"{tmp_path}/link/same.x":
        done = netmodel.run(*M, f"--{other}", name, f"--{one}", path, code=1)
        assert done.err == (
            f"netmodel: --{one} {path} and --{other} {name}: one file: what one writes the other would overwrite\n"
        )
    assert (path.read_text() if exists else path.exists()) == ("kept" if exists else False)
    far = tmp_path / "folder" / "same.x"
    netmodel.run(*M, f"--{other}", path, f"--{one}", far, "-D", "num_transactions=10", code=0)
    assert path.exists() and far.exists()
    netmodel.run(*M, f"--{other}", "/dev/null", f"--{one}", "/dev/null", "-D", "num_transactions=10", code=0)


def test_a_closed_standard_output_is_told(netmodel: Netmodel) -> None:
    result = netmodel.run("--list", prefix=["sh", "-c", 'exec "$@" >&-', "sh"])
    assert result.code == 2, result
    assert "standard output cannot be written" in result.err


def test_a_wrong_value_from_outside_is_told_with_its_origin(netmodel: Netmodel, tmp_path: Path) -> None:
    result = netmodel.run(*M, "--check", env={"num_flows": "0"}, code=1)
    assert result.err.endswith('nflows="0": must be 1 to 4000000 (from the environment, num_flows=0)\n')
    path = tmp_path / "own.xml"
    path.write_text(
        '<profile><param name="size" type="size" default="0"/><param name="n" default="0"/>\n'
        '<group nflows="$n"><transaction>\n<flowop type="connect" options="remotehost=local"/>'
        '<flowop type="write" options="size=${size}"/><flowop type="read" options="size=0"/>'
        "</transaction></group></profile>"
    )
    assert "(from" not in netmodel.run("-m", path, "--check", code=1).err, "it is all in the file"
    lines = netmodel.run("-m", path, "--check", "-D", "n=1", "-D", "size=0k", code=1).lines()
    assert [line.partition("must be")[2].partition(" (from ")[2] for line in lines] == ["-D size=0k)", ""]


@pytest.mark.parametrize(
    ("bind", "why"), [("no-such-host.invalid", "the address cannot be resolved: "), ("192.0.2.1", "")]
)
def test_a_slave_that_cannot_listen(netmodel: Netmodel, bind: str, why: str) -> None:
    result = netmodel.run("-s", "-P", "0", "--bind", bind)
    assert result.code == 2, result
    assert len(result.lines()) == 1
    assert bind in result.err
    assert "port 0: " in result.err
    assert why in result.err


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("lookup", "other"):
        (tmp_path / f"{name}.xml").write_text((PROFILES / "tcp_rr.xml").read_text())
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "inner.xml").write_text("")
    return tmp_path


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("lookup", "no such profile; did you mean lookup.xml? (looked in "),
        ("lokup", "no such profile; did you mean lookup.xml? (looked in "),
        ("lokup.xml", "no such file; did you mean lookup.xml?"),
        ("./lokup.xml", "no such file; did you mean ./lookup.xml?"),
        ("deep/iner.xml", "no such file; did you mean deep/inner.xml?"),
        ("tcp_r.xml", "no such file; did you mean tcp_rr?"),
    ],
)
def test_a_near_name_of_a_profile(netmodel: Netmodel, folder: Path, name: str, expected: str) -> None:
    result = netmodel.run("-m", name, cwd=folder, code=1)
    assert len(result.lines()) == 1
    assert result.err.startswith(f"netmodel: -m {name}: {expected}")


@pytest.mark.parametrize("name", ["zebra.xml", "deep/zebra.xml"])
def test_no_near_name_of_a_profile(netmodel: Netmodel, folder: Path, name: str) -> None:
    result = netmodel.run("-m", name, cwd=folder, code=1)
    assert result.lines() == [f"{name}: error: cannot be opened: No such file or directory"]


def test_a_definition_without_a_meaning_is_wrong_for_params_too(netmodel: Netmodel, tmp_path: Path) -> None:
    result = netmodel.run(*M, "--params", "-D", "bogus=1", code=1)
    assert result.out.startswith("name "), "what there is is shown"
    assert result.lines() == netmodel.run(*M, "--check", "-D", "bogus=1", code=1).lines()
    path = tmp_path / "undeclared.xml"
    path.write_text(
        '<profile><param name="must" type="count"/><group nflows="$must"><transaction>\n'
        '<flowop type="connect" options="remotehost=$h"/></transaction></group></profile>'
    )
    assert netmodel.run("-m", path, "--params", "-D", "h=local", code=0).err == "", "h is used, must may be missing"


def test_lenient_leaves_out_what_is_unknown(netmodel: Netmodel, tmp_path: Path) -> None:
    """At both ends; each word is told, and the run is complete."""
    path = tmp_path / "strange.xml"
    path.write_text(
        """<profile><banner/>
<group nthreads="1" colour="red"><transaction><flowop type="connect" options="remotehost=127.0.0.1 turbo=9"/>
<flowop type="dance"/></transaction>
<transaction iterations="5"><flowop type="write" options="size=10 speed=1"/><flowop type="read" options="size=10"/>
</transaction></group></profile>
"""
    )
    strict = netmodel.run("-m", path, "--check", code=1)
    assert [line.split(": ")[1] for line in strict.lines()] == 5 * ["error"]
    with netmodel.slave() as slave:
        result = netmodel.run("-m", path, "--lenient", "--format", "json", "-P", str(slave.port), code=0)
    assert result.json()["totals"]["transactions"] == 6
    told = [(line.split(":")[1], line.split(": ")[1]) for line in result.lines()]
    assert told == [(number, "warning") for number in "12234"]
