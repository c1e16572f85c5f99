# SPDX-License-Identifier: Apache-2.0
"""The server form of neper's command lines: what it takes, how it ends, and what it prints of itself."""

from __future__ import annotations

import csv
import os
import re
import signal
from contextlib import suppress
from pathlib import Path

import pytest

from neper_words import keys_of
from nmtest import SOON_S, Netmodel, children, free_port, wait_until


def test_a_client_waits_for_its_server(netmodel: Netmodel) -> None:
    """Scripts start both at the same time."""
    port = str(free_port())
    with netmodel.started("tcp_rr", "-c", "-H", "127.0.0.1", "-C", port, "-l", "0.1") as client:
        client.wait_line(f"waiting for a slave on 127.0.0.1, port {port}, for up to 30 s")
        with netmodel.started("tcp_rr", "-C", port) as server:
            result = client.finish()
            assert server.finish().code == 0
    assert result.code == 0, result
    assert int(keys_of(result.out)["num_transactions"]) > 0


@pytest.mark.parametrize(("family", "address"), [((), "127.0.0.1"), (("-4",), "127.0.0.1"), (("-6",), "::1")])
def test_a_client_without_a_host_asks_the_server_of_this_one(
    netmodel: Netmodel, family: tuple[str, ...], address: str
) -> None:
    port = str(free_port())
    words = ("tcp_rr", "-C", port, *family)
    done = netmodel.run(*words, "-c", "--wait-slaves", "0", code=2)
    assert done.lines()[-1] == (
        f"netmodel: the run is incomplete: slave {address}: nothing listens on port {port} there: "
        f'start a server with "netmodel tcp_rr -C {port}", or have both ends here with -H local'
    )
    with netmodel.started(*words, "--logtostderr") as server:
        server.wait_line("slave listening")
        keys = keys_of(netmodel.run(*words, "-c", "-l", "100ms", code=0).out)
        assert server.finish().code == 0
    assert keys["host"] == address
    assert int(keys["num_transactions"]) > 0


def test_who_named_a_host_is_told_of_its_server(netmodel: Netmodel) -> None:
    port = str(free_port())
    done = netmodel.run("udp_rr", "-c", "-H", "127.0.0.1", "-C", port, "--wait-slaves", "0", code=2)
    assert done.lines()[-1].endswith(f': start a server with "netmodel udp_rr -C {port}"')


def test_a_server_waits_for_as_many_clients_as_it_is_told(netmodel: Netmodel) -> None:
    port = str(free_port())
    with netmodel.started("tcp_rr", "--logtostderr", "-C", port, "--num-clients", "2") as server:
        server.wait_line("slave listening")
        client = ("tcp_rr", "-c", "-H", "127.0.0.1", "-C", port, "-l", "0.1")
        netmodel.run(*client, code=0)
        assert server.running()
        netmodel.run(*client, code=0)
        assert server.finish().code == 0
    with netmodel.started("tcp_rr", "--logtostderr", "-C", port, "--sessions", "0", "-H", "127.0.0.1") as server:
        server.wait_line("slave listening on 127.0.0.1 port " + port)
        netmodel.run(*client, code=0)
        netmodel.run(*client, code=0)
        assert server.running()


def test_a_server_ends_when_its_time_is_over(netmodel: Netmodel) -> None:
    """Waiting counts, as in neper, and so does a session that is cut."""
    port = str(free_port())
    line = ("tcp_rr", "--no-auth", "-C", port)
    done = netmodel.run(*line, "-s", "1", code=2)
    assert 0.9 < done.seconds < SOON_S
    assert done.lines()[-1] == "netmodel: longer than --suicide-length 1: the slave ends"
    with netmodel.started(*line, "--logtostderr", "-s", "2") as server:
        server.wait_line("slave listening")
        cut = netmodel.run("tcp_rr", "-c", "-H", "127.0.0.1", "-C", port, "-l", "60", code=2)
        assert cut.seconds < SOON_S
        assert re.search("the slave has reached its longest lifetime|(closed|reset) the control connection", cut.err)
        done = server.finish()
    assert done.code == 2
    assert "ends 1 session" in done.err
    assert done.lines()[-1] == "netmodel: longer than --suicide-length 2: the slave ends"


def test_a_slave_ends_when_its_time_is_over(netmodel: Netmodel) -> None:
    done = netmodel.run("-s", "-P", "0", "--max-lifetime", "300ms", code=2)
    assert done.lines()[-1] == "netmodel: longer than --max-lifetime 0.3s: the slave ends"
    done = netmodel.run("-m", "tcp_rr", "--max-lifetime", "1s", code=1)
    assert "--max-lifetime: only with --slave" in done.err


def test_a_dry_server_refuses_what_a_server_refuses(netmodel: Netmodel) -> None:
    for words in (["-C", "65536"], ["--num-clients", "9999999999"], ["-F", "x"], ["-4", "-H", "::1"]):
        run = netmodel.run("tcp_rr", *words, code=1)
        assert netmodel.run("tcp_rr", "-n", *words, code=1).err == run.err
    done = netmodel.run("tcp_rr", "-n", "--check", code=1)
    assert done.lines() == ["netmodel: --dry-run and --check: one at a time"]


def test_what_only_a_client_has_is_refused_of_a_server(netmodel: Netmodel) -> None:
    for words, name in (["-L", "127.0.0.1"], "local-hosts"), (["--wait-start", "1"], "wait-start"):
        for dry in ([], ["-n"]):
            done = netmodel.run("tcp_rr", *words, *dry, code=1)
            assert done.lines() == [f"netmodel: --{name}: only a client has it: with --client"]
    netmodel.run("tcp_rr", "--wait-start", "0", "-n", code=0)


@pytest.mark.parametrize("workload", ["tcp_rr", "tcp_crr", "tcp_stream", "udp_stream"])
def test_a_server_prints_what_it_has_measured(netmodel: Netmodel, workload: str) -> None:
    port = str(free_port())
    with netmodel.started(workload, "--logtostderr", "-C", port, "--num-clients", "2") as server:
        server.wait_line("slave listening")
        words = (workload, "-c", "-C", port, "-F", "2", "-l", "0.3", "--format", "kv")
        clients = [keys_of(netmodel.run(*words, code=0).out) for _ in range(2)]
        done = server.finish()
    assert done.code == 0
    blocks = done.out.split("VERSION=")[1:]
    assert len(blocks) == 2
    for client, block in zip(clients, blocks, strict=True):
        keys = keys_of("VERSION=" + block)
        stream = workload.endswith("stream")
        order = ["VERSION", "total_run_time", "time_start"]
        order += [f"{name}_{at}" for name in ("utime", "stime", "maxrss", "minflt", "majflt", "nvcsw", "nivcsw") for at in ("start", "end")]
        order += ["time_end", "throughput", "throughput_units"] if stream else ["num_transactions", "time_end", "throughput"]
        assert list(keys) == [*order, "local_throughput", "remote_throughput"]
        assert keys["remote_throughput"] == client["local_throughput"]
        assert keys["local_throughput"] == client["remote_local_throughput"]
        assert int(keys["local_throughput"]) > 0
        if not stream:
            assert keys["num_transactions"] == client["remote_num_transactions"]
        length = float(keys["time_end"]) - float(keys["time_start"])
        assert length == pytest.approx(float(client["remote_total_run_time"]), abs=1e-3)
        assert keys["total_run_time"] == f"{length:.0f}"
        for name in ("utime", "stime"):
            used = float(keys[f"{name}_end"]) - float(keys[f"{name}_start"])
            assert used == pytest.approx(float(client[f"remote_{name}_end"]), abs=2e-6)


def test_a_server_prints_nothing_of_a_run_that_broke_off(netmodel: Netmodel) -> None:
    port = str(free_port())
    with netmodel.started("tcp_rr", "--logtostderr", "-C", port) as server:
        server.wait_line("slave listening")
        with netmodel.started("tcp_rr", "-c", "-C", port, "-l", "30") as client:
            server.wait_line("master")
            client.signal(signal.SIGKILL)
        done = server.finish()
    assert done.out == ""
    with netmodel.started("tcp_rr", "--logtostderr", "-C", port) as server:
        server.wait_line("slave listening")
        netmodel.run("tcp_rr", "-c", "-C", port, "-l", "30", "--max-duration", "300ms", code=2)
        assert server.finish().out == ""
    with netmodel.started("-s", "-P", port, "--once") as slave:
        slave.wait_line("slave listening")
        netmodel.run("-m", "tcp_rr", "-P", port, "-D", "host=127.0.0.1", "-D", "test_length=100ms", code=0)
        assert slave.finish().out == ""


def test_a_server_prints_each_report_in_one_piece(netmodel: Netmodel, tmp_path: Path, strace: str) -> None:
    """Several may print at the same time."""
    how = (strace, "-f", "-qq", "-e", "trace=write", "-e", "write=none", "-o", str(tmp_path / "calls"))
    port = str(free_port())
    with netmodel.started("tcp_rr", "--logtostderr", "-C", port, prefix=how) as server:
        server.wait_line("slave listening")
        netmodel.run("tcp_rr", "-c", "-C", port, "-l", "0.1", code=0)
        out = server.finish().out
    calls = [line for line in (tmp_path / "calls").read_text().splitlines() if "write(1," in line]
    assert len(calls) == 1 and out.startswith("VERSION="), calls


def test_a_server_that_cannot_print_says_so(netmodel: Netmodel) -> None:
    port = str(free_port())
    with netmodel.started("tcp_rr", "--logtostderr", "-C", port, prefix=("sh", "-c", 'exec "$0" "$@" >/dev/full')) as server:
        server.wait_line("slave listening")
        netmodel.run("tcp_rr", "-c", "-C", port, "-l", "0.1", code=0)
        assert "netmodel: standard output: No space left on device" in server.finish().err


def test_a_server_that_nobody_reads_serves_on(netmodel: Netmodel) -> None:
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    with suppress(BlockingIOError):
        while True:
            os.write(writer, bytes(4096))
    os.set_blocking(writer, True)

    def unread() -> None:
        os.dup2(writer, 1)

    port = str(free_port())
    with netmodel.started("tcp_rr", "--logtostderr", "-C", port, "--sessions", "0", before=unread) as server:
        server.wait_line("slave listening")
        for _ in range(2):
            netmodel.run("tcp_rr", "-c", "-C", port, "-l", "0.1", code=0)
        server.wait_line("netmodel: standard output: ")
        wait_until(lambda: not children(server.pid), what="no session is left")
    os.close(reader)
    os.close(writer)


def test_a_server_leaves_parameters_to_its_client(netmodel: Netmodel) -> None:
    """As all options that are both ends' in neper: they may be typed at both."""
    port = str(free_port())
    with netmodel.started("tcp_rr", "--logtostderr", "-C", port, "-D", "maxevents=7", "--define=wait=spin") as server:
        server.wait_line("slave listening")
        netmodel.run("tcp_rr", "-c", "-C", port, "-l", "0.1", "-D", "maxevents=7", code=0)
        assert server.finish().code == 0


def test_mistakes_of_a_server_are_told(netmodel: Netmodel) -> None:
    done = netmodel.run("tcp_rr", "-F", "many", "-l", "-x", "-C", "70000", code=1)
    assert done.lines()[:2] == [
        "netmodel: --num-flows many: not a number of 0 or more",
        "netmodel: --test-length -x: seconds, or a number below 0: transactions",
    ]


def test_a_backlog_that_the_kernel_would_cut_is_refused(netmodel: Netmodel) -> None:
    most = int(Path("/proc/sys/net/core/somaxconn").read_text())
    for words in (["tcp_rr"], ["tcp_rr", "-n"]):
        done = netmodel.run(*words, "--listen-backlog", str(most + 1), code=1)
        assert done.lines() == [
            f"netmodel: --listen-backlog {most + 1}: more than net.core.somaxconn, which is {most}"
        ]
    # Where it listens is another host in general.
    asked = ("tcp_crr", "-c", "-H", "local", "-l", "50ms", "--listen-backlog")
    done = netmodel.run(*asked, str(most + 1), code=2)
    assert f'listen_backlog="{most + 1}": more than net.core.somaxconn, which is {most} here' in done.err
    assert netmodel.run(*words, "--listen-backlog", str(most), code=0).err == ""


@pytest.mark.parametrize("workload", ["tcp_rr", "tcp_stream"])
@pytest.mark.parametrize("more", [(), ("--nolog",)])
def test_a_server_without_trouble_says_nothing(netmodel: Netmodel, workload: str, more: tuple[str, ...]) -> None:
    port = str(free_port())
    with netmodel.started(workload, "-C", port, *more) as server:
        netmodel.run(workload, "-c", "-C", port, "-l", "0.1", code=0)
        done = server.finish()
    assert (done.code, done.err) == (0, "")


@pytest.mark.parametrize(("workload", "column"), [("tcp_rr", "transactions"), ("udp_stream", "bytes_read")])
def test_each_end_writes_its_own_samples(netmodel: Netmodel, tmp_path: Path, workload: str, column: str) -> None:
    port = str(free_port())
    files = {end: tmp_path / end for end in ("master", "slave")}
    flows = 3
    with netmodel.started(workload, "-C", port, "--num-clients", "2", f"--all-samples={files['slave']}") as server:
        for number in range(2):
            client = (workload, "-c", "-C", port, "-F", str(flows), "-l", "0.5", "-I", "0.1")
            netmodel.run(*client, f"-A{files['master']}" if number else "--nolog", code=0)
        assert server.finish().code == 0
    for end, runs in ("master", 1), ("slave", 2):
        rows = list(csv.DictReader(files[end].open()))
        assert 5 <= len(rows) / runs / flows <= 6, "in six what came after the end of a stream has a row"
        assert {row["host"] for row in rows} == {end}
        assert {row["flow_id"] for row in rows} == {"0", "1", "2"}
        assert list(rows[0])[:5] == ["tid", "flow_id", "time", column, f"{column}/s"]
    assert sum(int(row[column]) for row in rows) > 0, "the server reads"


def test_a_server_whose_samples_cannot_be_written_says_so(netmodel: Netmodel) -> None:
    port = str(free_port())
    with netmodel.started("tcp_rr", "-C", port, "--all-samples=/dev/full") as server:
        netmodel.run("tcp_rr", "-c", "-C", port, "-l", "0.1", code=0)
        assert "--all-samples" in server.finish().err
    done = netmodel.run("tcp_rr", "-C", port, "--all-samples=/nowhere/at/all", code=1)
    assert "--all-samples /nowhere/at/all: cannot be written: No such file or directory" in done.err


def test_a_server_with_other_threads_than_its_client_says_so(netmodel: Netmodel) -> None:
    port = str(free_port())
    for threads in 2, 4:
        with netmodel.started("tcp_rr", "-C", port, "-T", str(threads)) as server:
            netmodel.run("tcp_rr", "-c", "-C", port, "-F", "4", "-T", "2", "-l", "0.1", code=0)
            err = server.finish().err
        said = "has 2 threads at both ends, not the 4 of this slave: the master chooses how many"
        assert (said in err) == (threads == 4)


def test_the_environment_sets_nothing_in_neper_s_form(netmodel: Netmodel) -> None:
    others = {"num_flows": "7", "delay": "50ms", "request_size": "500"}
    keys = keys_of(netmodel.run("tcp_rr", "-c", "-H", "local", "-l", "-5", env=others, code=0).out)
    assert [keys[name] for name in others] == ["1", "0", "1"]
