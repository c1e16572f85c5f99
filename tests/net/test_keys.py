# SPDX-License-Identifier: Apache-2.0
"""Who may use a slave: masters that prove its key, those of its own host, or all."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from nmtest import Netmodel, Network, Node, Result, Slave, assert_complete, defines

KEY = "0123456789abcdef0123456789abcdef"
OTHER = "fedcba9876543210fedcba9876543210"


@pytest.fixture(scope="module")
def pair() -> Iterator[tuple[Node, Node]]:
    """Two hosts for all tests here."""
    why = Network.reason_to_skip()
    if why:
        pytest.skip(why)
    network = Network()
    try:
        near, far = network.nodes(2)
        yield near, far
    finally:
        network.close()


def write_key(path: Path, key: str, mode: int = 0o600) -> Path:
    path.write_text(f"{key}\n")
    path.chmod(mode)
    return path


def ask(netmodel: Netmodel, slave_port: int, here: Node, there: Node, *args: str | Path, **how: Any) -> Result:
    """A short run of a master on one host with the slave of another."""
    options = defines(host=there.address, test_length="100ms")
    return netmodel.run(
        "-m", "tcp_rr", "-P", str(slave_port), "--format", "json", *options, *args, prefix=here.prefix, **how
    )


def test_a_master_of_another_host_comes_with_the_key(netmodel: Netmodel, pair: tuple[Node, Node], tmp_path: Path) -> None:
    near, far = pair
    file = write_key(tmp_path / "key", KEY)
    with netmodel.slave("--key-file", file, prefix=far.prefix) as slave:
        result = ask(netmodel, slave.port, near, far, "--key-file", file)
        assert_complete(result.json())
        result = ask(netmodel, slave.port, near, far, env={"NETMODEL_KEY": KEY})
        assert_complete(result.json())


def told_by_both(result: Result, slave: Slave, text: str) -> None:
    """The run was refused, at once, and both ends say so."""
    assert result.code == 2, result
    assert result.seconds < 2, result
    assert re.search(rf"slave \S+: refused: .*{text}", result.err), result
    slave.process.wait_line(rf"master \S+: refused: .*{text}")


def test_another_key_is_refused_at_both_ends(netmodel: Netmodel, pair: tuple[Node, Node]) -> None:
    near, far = pair
    with netmodel.slave(env={"NETMODEL_KEY": KEY}, prefix=far.prefix) as slave:
        result = ask(netmodel, slave.port, near, far, env={"NETMODEL_KEY": OTHER})
        told_by_both(result, slave, "another key.*--key-file FILE")
        assert OTHER not in result.err + slave.process.err
        # The slave serves the next one.
        assert_complete(ask(netmodel, slave.port, near, far, env={"NETMODEL_KEY": KEY}).json())


@pytest.mark.parametrize("where", ["another host", "its own host"])
def test_a_master_without_the_key_is_refused(netmodel: Netmodel, pair: tuple[Node, Node], where: str) -> None:
    near, far = pair
    with netmodel.slave(env={"NETMODEL_KEY": KEY}, prefix=far.prefix) as slave:
        result = ask(netmodel, slave.port, near if where == "another host" else far, far)
        told_by_both(result, slave, r"its key only.*--key-file FILE, or NETMODEL_KEY.*--no-auth \(or NETMODEL_AUTH=none")


@pytest.mark.parametrize("option", [(), ("--no-auth",)], ids=["own host only", "no-auth"])
def test_a_slave_without_a_key_refuses_a_master_with_one(
    netmodel: Netmodel, pair: tuple[Node, Node], option: tuple[str, ...]
) -> None:
    _, far = pair
    with netmodel.slave(*option, prefix=far.prefix) as slave:
        result = ask(netmodel, slave.port, far, far, env={"NETMODEL_KEY": KEY})
        told_by_both(result, slave, "this slave has none: start the slave with the same")


def test_no_key_and_another_host_are_told_both_ways_out(netmodel: Netmodel, pair: tuple[Node, Node]) -> None:
    near, far = pair
    for env in ({}, {"NETMODEL_KEY": KEY}):
        with netmodel.slave(prefix=far.prefix) as slave:
            result = ask(netmodel, slave.port, near, far, env=env)
            told_by_both(result, slave, "it has no key.*--key-file FILE, or NETMODEL_KEY.*NETMODEL_AUTH=none")


def test_the_environment_can_open_a_slave(netmodel: Netmodel, pair: tuple[Node, Node]) -> None:
    near, far = pair
    with netmodel.slave(env={"NETMODEL_AUTH": "none"}, prefix=far.prefix) as slave:
        document = ask(netmodel, slave.port, near, far).json()
        assert_complete(document)
        assert [host["authentication"] for host in document["hosts"]] == [None, "none"]


def test_results_show_a_slave_that_takes_all(netmodel: Netmodel) -> None:
    with netmodel.slave("--no-auth") as slave:
        options = ("-m", "tcp_rr", "-P", str(slave.port), *defines(host="127.0.0.1", test_length="50ms"))
        document = netmodel.run(*options, "--format", "json", code=0).json()
        assert [host["authentication"] for host in document["hosts"]] == [None, "none"]
        assert "127.0.0.1: --no-auth: it takes any master without proof of who it is" in netmodel.run(*options, code=0).out


def test_results_show_why_ends_took_each_other(netmodel: Netmodel, pair: tuple[Node, Node]) -> None:
    near, far = pair
    document = netmodel.measure("tcp_rr", "-D", "test_length=50ms")
    assert [host["authentication"] for host in document["hosts"]] == [None, "embedded"]
    with netmodel.slave(prefix=far.prefix) as slave:
        document = ask(netmodel, slave.port, far, far).json()
        assert document["hosts"][1]["authentication"] == "own_host"
        document = ask(netmodel, slave.port, near, far).json()
        assert document["hosts"][1]["authentication"] is None
    with netmodel.slave(env={"NETMODEL_KEY": KEY}, prefix=far.prefix) as slave:
        document = ask(netmodel, slave.port, near, far, env={"NETMODEL_KEY": KEY}).json()
        assert document["hosts"][1]["authentication"] == "key"
        assert KEY not in str(document) + slave.process.err


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o602])
def test_a_key_that_others_can_read_is_refused(netmodel: Netmodel, tmp_path: Path, mode: int) -> None:
    file = write_key(tmp_path / "key", KEY, mode)
    for args in (("-s", "-P", "0"), ("-m", "tcp_rr")):
        result = netmodel.run(*args, "--key-file", file, code=1)
        assert result.lines() == [
            f"netmodel: --key-file {file}: others than its owner can read or write it (mode {mode:04o}): "
            "make it yours alone with chmod 600"
        ]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "it is empty"),
        ("  \n", "it is empty"),
        ("short", "it has 5 characters, and must have 32 to 512"),
        ("x" * 513, "it has 513 characters, and must have 32 to 512"),
        ("x" * 5000, "must have 32 to 512"),
        ("two words " * 5, "character 4 of it is no letter, digit or mark of ASCII"),
        ("\N{LATIN SMALL LETTER E WITH ACUTE}" * 40, "character 1 of it is no letter"),
    ],
)
def test_what_is_no_key_is_refused(netmodel: Netmodel, tmp_path: Path, text: str, why: str) -> None:
    file = write_key(tmp_path / "key", text)
    result = netmodel.run("-s", "-P", "0", "--key-file", file, code=1)
    assert why in result.err and len(result.lines()) == 1, result
    result = netmodel.run("-s", "-P", "0", env={"NETMODEL_KEY": text}, code=1)
    assert why in result.err and len(result.lines()) == 1, result
    assert not text.strip() or text.strip() not in result.err


def test_files_that_are_none_are_refused(netmodel: Netmodel, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe", 0o600)
    for path, why in (
        (tmp_path, "not a regular file"),
        (tmp_path / "pipe", "not a regular file"),
        (Path("/dev/zero"), "not a regular file"),
        (tmp_path / "none", "No such file or directory"),
    ):
        result = netmodel.run("-s", "-P", "0", "--key-file", path, code=1, timeout=5)
        assert why in result.err, result


def test_a_key_is_made(netmodel: Netmodel, tmp_path: Path) -> None:
    file = tmp_path / "key"
    netmodel.run("--make-key", file, code=0)
    assert file.stat().st_mode & 0o7777 == 0o600
    made = file.read_text()
    assert re.fullmatch(r"[0-9a-f]{32}\n", made)
    result = netmodel.run("--make-key", file, code=2)
    assert "it exists already" in result.err
    assert file.read_text() == made
    printed = netmodel.run("--make-key", "-", code=0).out
    assert re.fullmatch(r"[0-9a-f]{32}\n", printed)
    assert printed != made


def test_options_and_environment_that_contradict_each_other(netmodel: Netmodel, tmp_path: Path) -> None:
    file = write_key(tmp_path / "key", KEY)
    result = netmodel.run("-s", "-P", "0", "--no-auth", "--key-file", file, code=1)
    assert "--no-auth and --key-file: one at a time" in result.err
    result = netmodel.run("-s", "-P", "0", env={"NETMODEL_AUTH": "none", "NETMODEL_KEY": KEY}, code=1)
    assert "NETMODEL_AUTH=none and NETMODEL_KEY: one at a time" in result.err
    result = netmodel.run("-s", "-P", "0", env={"NETMODEL_AUTH": "no"}, code=1)
    assert 'NETMODEL_AUTH=no: must be "none"' in result.err


def test_options_win_over_the_environment(netmodel: Netmodel, pair: tuple[Node, Node], tmp_path: Path) -> None:
    near, far = pair
    file = write_key(tmp_path / "key", KEY)
    with netmodel.slave("--key-file", file, env={"NETMODEL_KEY": OTHER}, prefix=far.prefix) as slave:
        assert_complete(ask(netmodel, slave.port, near, far, env={"NETMODEL_KEY": KEY}).json())
    with netmodel.slave("--no-auth", env={"NETMODEL_KEY": KEY}, prefix=far.prefix) as slave:
        assert_complete(ask(netmodel, slave.port, near, far).json())


def test_the_environment_is_wiped(netmodel: Netmodel) -> None:
    with netmodel.slave(env={"NETMODEL_KEY": KEY}) as slave:
        assert KEY.encode() not in Path(f"/proc/{slave.pid}/environ").read_bytes()


def test_a_key_is_no_parameter(netmodel: Netmodel, profile: Callable[..., Path]) -> None:
    path = profile(
        '<param name="NETMODEL_KEY" default="4"/>\n<group nthreads="$NETMODEL_KEY">'
        '<transaction iterations="1"><flowop type="connect" options="remotehost=local protocol=tcp"/></transaction></group>'
    )
    document = netmodel.measure(path, env={"NETMODEL_KEY": KEY})
    assert document["groups"][0]["flows"] == 4
    for looks in ("--params", "--dump-plan"):
        result = netmodel.run("-m", path, looks, env={"NETMODEL_KEY": KEY}, code=0)
        assert KEY not in result.out + result.err


def test_the_embedded_slave_needs_no_key(netmodel: Netmodel) -> None:
    document = netmodel.measure("tcp_rr", "-D", "test_length=100ms", env={"NETMODEL_KEY": KEY})
    assert_complete(document)
    assert KEY not in str(document)
