# SPDX-License-Identifier: Apache-2.0
"""Called by the name of another tool, through a link, netmodel is that tool."""

from __future__ import annotations

from pathlib import Path

import pytest

from neper_words import keys_of
from nmtest import Netmodel, free_port

WORKLOADS = ("tcp_rr", "tcp_crr", "tcp_stream", "udp_rr", "udp_stream")
PROGRAMS = (*WORKLOADS, "psp_rr", "psp_crr", "psp_stream")


def link(netmodel: Netmodel, folder: Path, name: str) -> Netmodel:
    """The program by another name."""
    path = folder / name
    path.symlink_to(netmodel.binary)
    named = Netmodel(path)
    named.env = netmodel.env
    return named


@pytest.mark.parametrize("name", PROGRAMS)
def test_each_program_of_neper_by_its_name(netmodel: Netmodel, tmp_path: Path, name: str) -> None:
    """The line without the name, as in users' scripts, is the line with it."""
    named = link(netmodel, tmp_path, name)
    assert named.run("-h", code=0).out == netmodel.run(name, "-h", code=0).out
    dry = ("-c", "-n", "-F", "7", "-l", "3")
    keys = keys_of(named.run(*dry, code=0).out)
    assert (keys["client"], keys["num_flows"], keys["test_length"]) == ("1", "7", "3")
    assert keys == keys_of(netmodel.run(name, *dry, code=0).out)


def test_a_program_is_no_profile(netmodel: Netmodel, tmp_path: Path) -> None:
    """In the folder of the links, or of neper's programs, their names are still those of stock profiles."""
    named = link(netmodel, tmp_path, "tcp_rr")
    (tmp_path / "udp_rr").write_text("#!/bin/sh\n")
    (tmp_path / "udp_rr").chmod(0o755)
    (tmp_path / "tcp_crr").write_text("no profile")
    assert "num_flows=3\n" in named.run("-c", "-n", "-F", "3", cwd=tmp_path, code=0).out
    assert ": ok: udp_rr" in netmodel.run("-m", "udp_rr", "--check", cwd=tmp_path, code=0).out
    assert "tcp_crr:1: error" in netmodel.run("-m", "tcp_crr", "--check", cwd=tmp_path, code=1).err


@pytest.mark.parametrize("name", WORKLOADS)
def test_a_client_and_a_server_by_their_name(netmodel: Netmodel, tmp_path: Path, name: str) -> None:
    named = link(netmodel, tmp_path, name)
    port = str(free_port())
    with named.started("--logtostderr", "-C", port) as server:
        server.wait_line("slave listening")
        keys = keys_of(named.run("-c", "-H", "127.0.0.1", "-C", port, "-l", "1", "-F", "2", code=0).out)
        result = server.finish()
    assert result.code == 0, result
    assert float(keys["throughput"]) > 0
    assert float(keys_of(result.out)["time_end"]) > 0


def test_neper_s_types(netmodel: Netmodel, tmp_path: Path) -> None:
    """Where neper prints an integer there is one, also at the server."""
    named = link(netmodel, tmp_path, "tcp_stream")
    port = str(free_port())
    with named.started("--logtostderr", "-C", port) as server:
        server.wait_line("slave listening")
        keys = keys_of(named.run("-c", "-H", "127.0.0.1", "-C", port, "-l", "1", "-z", "-B", "64k", code=0).out)
        told = keys_of(server.finish().out)
    assert keys["total_run_time"] == told["total_run_time"] == "1"
    whole = """total_run_time test_length num_flows num_threads port magic num_samples local_throughput remote_throughput
        invalid_secret_count maxrss_start minflt_end nvcsw_start nivcsw_end bytes_mmaped percent_mmaped num_ports"""
    for name in whole.split():
        assert keys[name].lstrip("-").isdigit(), name


def test_the_port_is_the_one_in_use(netmodel: Netmodel) -> None:
    """By which a capture is filtered; JSON has it as well."""
    words = ("tcp_rr", "-c", "-H", "local", "-l", "0.1")
    assert 1024 <= int(keys_of(netmodel.run(*words, code=0).out)["port"]) <= 65535
    port = free_port()
    assert keys_of(netmodel.run(*words, "-P", str(port), code=0).out)["port"] == str(port)
    hosts = netmodel.run(*words, "-P", str(port), "--format", "json", code=0).json()["hosts"]
    assert [host["data_port"] for host in hosts] == [None, port]


def test_a_failed_client_measures_nothing(netmodel: Netmodel, tmp_path: Path) -> None:
    """A script that does not look at the exit code must not record 0."""
    named = link(netmodel, tmp_path, "tcp_rr")
    keys = keys_of(named.run("-c", "-C", str(free_port()), "-l", "2", "--wait-slaves", "10ms", code=2).out)
    assert keys["total_run_time"] == "2"
    for name in ("num_transactions", "num_samples", "throughput", "local_throughput", "remote_throughput", "time_end"):
        assert name not in keys


def test_a_server_says_how_to_get_a_result(netmodel: Netmodel) -> None:
    """Who tries the name alone would wait without an end."""
    port = str(free_port())
    with netmodel.started("udp_rr", "--logtostderr", "-C", port) as server:
        server.wait_line("slave listening")
        server.wait_line(
            rf"waiting for a client: netmodel udp_rr -c -H HOST -C {port}; "
            r"for a result from this host alone: netmodel -m udp_rr$"
        )
    with netmodel.started("tcp_rr", "--logtostderr", "-H", "127.0.0.1", "-C", port) as server:
        server.wait_line(rf"waiting for a client: netmodel tcp_rr -c -H 127.0.0.1 -C {port}; ")


PROFILE = """<?xml version=1.0?>
<profile name="web">
  <group nthreads="2">
    <transaction iterations="1">
      <flowop type="connect" options="remotehost=$h protocol=tcp"/>
    </transaction>
    <transaction iterations="500">
      <flowop type="write" options="size=1k"/>
      <flowop type="read" options="size=1k"/>
    </transaction>
    <transaction iterations="1">
      <flowop type="disconnect"/>
    </transaction>
  </group>
</profile>
"""


@pytest.mark.parametrize("by_link", [True, False])
def test_uperf_by_its_name(netmodel: Netmodel, tmp_path: Path, by_link: bool) -> None:
    """Its command lines, master and slave."""
    path = tmp_path / "web.xml"
    path.write_text(PROFILE)
    named = link(netmodel, tmp_path, "uperf") if by_link else netmodel
    first = () if by_link else ("uperf",)
    port = str(free_port())
    with named.started(*first, "-s", "-P", port) as slave:
        slave.wait_line("slave listening")
        words = ("-m", path, "-P", port, "-a", "-v", "-R", "-i", "1")
        done = named.run(*first, *words, env={"h": "127.0.0.1"}, code=0)
    assert "running profile:web ..." in done.out + done.err
    assert "name:Txn2 nr_bytes:2048000" in done.out.replace("nr_bytes: ", "nr_bytes:")
    assert "Strand Details" in done.out or "Txn1" in done.out


def test_help_by_the_name_of_uperf_is_in_its_words(netmodel: Netmodel, tmp_path: Path) -> None:
    named = link(netmodel, tmp_path, "uperf")
    text = named.run("-h", code=0).out
    assert text == netmodel.run("uperf", "-h", code=0).out
    assert text.startswith("Usage: uperf -m PROFILE")
    for letter in "msPnatTgkfpieEXvVhR":
        assert f"\n  -{letter}, --" in text, letter
    assert "-D num_flows" not in text
    assert named.run("--help", "all", code=0).out == netmodel.run("--help", "all", code=0).out
