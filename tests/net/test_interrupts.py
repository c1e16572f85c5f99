# SPDX-License-Identifier: Apache-2.0
"""Runs that are interrupted, by signals or by --max-duration: what they wait for, and what they tell."""

from __future__ import annotations

import os
import random
import re
import signal
import socket
import threading
import time
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import pytest

from compose import connect, group, once, op, times
from failing import IN_PHASE, LONG, something_else, started
from nmtest import (
    FOR_LONG,
    SOON_S,
    Json,
    Netmodel,
    Result,
    Slave,
    assert_complete,
    assert_ends_agree,
    children,
    defines,
    slaves_of,
    wait_until,
)

WriteProfile = Callable[..., Path]
Validate = Callable[[Json], None]


def interrupted(result: Result, validate: Validate) -> Json:
    """The result of a run that a signal has cut short."""
    assert result.code == 130, result
    document: Json = result.json()
    validate(document)
    assert document["run"]["interrupted"] is True
    assert document["run"]["complete"] is False
    return document


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("flows", [1, 16])
def test_an_interrupt_ends_gracefully(netmodel: Netmodel, validate: Validate, number: int, flows: int) -> None:
    with started(netmodel, *defines(**LONG, num_flows=flows)) as master:
        master.wait_line(IN_PHASE)
        began = time.monotonic()
        master.signal(number)
        result = master.finish()
    assert time.monotonic() - began < SOON_S
    document = interrupted(result, validate)
    assert_ends_agree(document)
    assert document["run"]["start_skew_s"] is not None, "both hosts had begun"
    assert slaves_of(document)[0]["start_skew_s"] is not None
    assert document["totals"]["transactions"] > 0
    assert document["totals"]["seconds"] == pytest.approx(document["run"]["elapsed_s"], abs=0.2)


def test_a_run_that_ignores_a_hangup_goes_on(netmodel: Netmodel) -> None:
    """As under nohup(1)."""
    with started(netmodel, *defines(test_length="1s"), prefix=("env", "--ignore-signal=HUP")) as master:
        master.wait_line(IN_PHASE)
        for pid in (master.pid, *children(master.pid)):
            os.kill(pid, signal.SIGHUP)
        result = master.finish()
    assert result.code == 0, result
    assert_complete(result.json())


def test_a_slave_that_hangs_up_says_so(netmodel: Netmodel) -> None:
    """Its terminal signals its sessions, too."""
    with netmodel.slave() as slave, started(netmodel, "-P", str(slave.port), *defines(host="127.0.0.1", **LONG)) as master:
        master.wait_line(IN_PHASE)
        for pid in (*slave.sessions(), slave.pid):
            os.kill(pid, signal.SIGHUP)
        result = master.finish()
        assert slave.process.finish().code == 0
    assert result.code == 2, result
    assert "the slave was ended by SIGHUP" in result.err


def test_a_long_run_says_how_long_it_takes(netmodel: Netmodel) -> None:
    """Without a terminal nothing else is seen meanwhile."""
    words = ("-m", "tcp_rr", *defines(test_length="60s"))
    with netmodel.started(*words) as one, netmodel.started(*words, "--repeat", "3") as several:
        one.wait_line("netmodel: this takes 60.0 s")
        several.wait_line("netmodel: 3 runs of 60.0 s each")
    assert netmodel.run("-m", "tcp_rr", *defines(test_length="50ms"), code=0).err == ""
    with netmodel.started(*words, "-q") as quiet:
        wait_until(lambda: children(quiet.pid))
        quiet.signal(signal.SIGINT)
        assert "takes" not in quiet.finish().err


def test_an_interrupt_of_the_whole_job(netmodel: Netmodel) -> None:
    """A terminal signals the embedded slave as well."""
    with started(netmodel, *defines(**LONG)) as master:
        master.wait_line(IN_PHASE)
        for pid in [*children(master.pid), master.pid]:
            os.kill(pid, signal.SIGINT)
        result = master.finish()
    assert result.code == 130, result
    assert_ends_agree(result.json())


def test_two_signals_at_once_are_one_interrupt(netmodel: Netmodel) -> None:
    """timeout(1) signals the process, and then its group."""
    with started(netmodel, *defines(**LONG)) as master:
        master.wait_line(IN_PHASE)
        master.signal(signal.SIGINT)
        master.signal(signal.SIGTERM)
        result = master.finish()
    assert result.code == 130, result
    assert "ending at once" not in result.err
    assert_ends_agree(result.json())


def test_an_interrupt_ends_repetitions(netmodel: Netmodel) -> None:
    with started(netmodel, "--repeat", "3", *defines(**LONG)) as master:
        master.wait_line(IN_PHASE)
        master.signal(signal.SIGINT)
        result = master.finish()
    assert result.code == 130, result
    assert result.json()["run"]["interrupted"] is True


def test_the_longest_duration_is_no_interrupt(netmodel: Netmodel, validate: Validate) -> None:
    limit = ("--max-duration", "700ms", "--format", "json")
    for more in ((), ("--repeat", "100")):
        test_length = LONG["test_length"] if not more else "100ms"
        result = netmodel.run("-m", "tcp_rr", *limit, *more, *defines(test_length=test_length))
        assert result.code == 2, result
        assert "longer than --max-duration 0.7s" in result.err
        assert "interrupted" not in result.err
        document = result.json()
        validate(document)
        assert document["run"]["interrupted"] is False
        if not more:
            assert document["run"]["incomplete_why"] == "longer than --max-duration 0.7s, in phase 2 of 3"
            assert_ends_agree(document)


def test_a_cut_leaves_open_what_a_host_has_sent_freely(
    netmodel: Netmodel, profile: WriteProfile, validate: Validate
) -> None:
    """The passes follow the one slave; what the other has sent before the cut may be more than they have read."""
    hosts = connect(), connect("127.0.0.1", "conn=2")
    ways = op("write", "size=100"), op("read", "size=2000 conn=2"), op("write", "size=5000 conn=2")
    path = profile(group(once(*hosts), times(1_000_000, *ways), strands=4, kind='nthreads="1" nflows'))
    with netmodel.slave() as slave:
        cut = ("--max-duration", "500ms", "--format", "json")
        result = netmodel.run("-m", path, "-P", str(slave.port), *cut, code=2)
    document = result.json()
    validate(document)
    assert document["totals"]["transactions"] > 0
    assert (document["run"]["reconciled"], document["run"]["reconcile_text"]) == (None, None)


class Relay:
    """Between a master and a slave: passes their control connection on, and may keep what the slave says."""

    def __init__(self, slave: Slave) -> None:
        self._to = slave.port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.pass_on = threading.Event()
        self.pass_on.set()
        self.finish_asked = threading.Event()
        self._sockets: list[socket.socket] = [self._listener]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                master, _ = self._listener.accept()
                slave = socket.create_connection(("127.0.0.1", self._to))
                self._sockets += [master, slave]
                threading.Thread(target=self._copy, args=(master, slave), daemon=True).start()
                threading.Thread(target=self._copy, args=(slave, master), daemon=True).start()

    def _copy(self, source: socket.socket, sink: socket.socket) -> None:
        from_master = source.getsockname()[1] == self.port
        with suppress(OSError):
            while data := source.recv(65536):
                if from_master and b'["finish"' in data:
                    self.pass_on.clear()
                    self.finish_asked.set()
                if not from_master:
                    self.pass_on.wait(20)
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        self.pass_on.set()
        for each in self._sockets:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()


@pytest.mark.parametrize("repeat", [1, 3])
def test_an_interrupt_while_results_are_awaited(
    netmodel: Netmodel, slave: Slave, validate: Validate, repeat: int
) -> None:
    with closing(Relay(slave)) as relay:
        to = ["-P", str(relay.port), *defines(host="127.0.0.1", test_length="50ms")]
        with started(netmodel, "--repeat", str(repeat), *to) as master:
            assert relay.finish_asked.wait(10)
            master.signal(signal.SIGINT)
            master.wait_line("interrupted: finishing")
            relay.pass_on.set()
            result = master.finish()
    assert result.code == 130, result
    assert f"interrupted after run 1 of {repeat}" in result.lines()[-1]
    document = result.json()
    validate(document)
    assert "repeat" not in document, "there is no second run"
    assert document["run"]["interrupted"] is True
    assert document["run"]["complete"] is True, "all was done, and all results have come"
    assert_ends_agree(document)


def test_an_interrupt_at_any_moment_of_repetitions(netmodel: Netmodel, profile: WriteProfile) -> None:
    path = profile(
        '<group nthreads="1"><transaction><flowop type="connect" options="remotehost=local"/></transaction>'
        '<transaction iterations="1"><flowop type="write" options="size=1"/></transaction></group>'
    )
    moments = random.Random(5)
    for _ in range(15):
        with netmodel.started("-m", path, "--format", "json", "-v", "--repeat", "10000") as master:
            master.wait_line("connected to local", count=2)
            time.sleep(moments.uniform(0, 0.03))  # nothing tells where between two lines a run is
            master.signal(signal.SIGINT)
            result = master.finish()
        assert result.code == 130, result
        assert result.json()["run"]["interrupted"] is True or "interrupted after run" in result.err


STUCK = (
    '<group nthreads="1"><transaction><flowop type="connect" options="remotehost=local"/></transaction>'
    '<transaction duration="300s"><flowop type="think" options="duration=200s at=slave"/>'
    '<flowop type="read" options="size=1"/></transaction>'
    '<transaction><flowop type="disconnect"/></transaction></group>'
)


def test_a_second_interrupt_ends_at_once(netmodel: Netmodel, profile: WriteProfile, validate: Validate) -> None:
    with netmodel.started("-m", profile(STUCK), "--format", "json", "-v") as master:
        master.wait_line(IN_PHASE)
        master.signal(signal.SIGINT)
        master.wait_line("interrupted: finishing")
        assert master.running(), "the pass under way takes 200 s, and is waited for"
        time.sleep(0.3)  # sooner it would be the same interrupt
        master.signal(signal.SIGINT)
        began = time.monotonic()
        result = master.finish()
    assert time.monotonic() - began < SOON_S
    interrupted(result, validate)


def test_an_interrupt_while_connecting(netmodel: Netmodel) -> None:
    with (
        something_else() as (mute, args),
        netmodel.started("-m", "tcp_rr", "--format", "json", "--timeout", FOR_LONG, *args) as master,
    ):
        peer, _ = mute.accept()
        with peer:
            master.signal(signal.SIGINT)
            result = master.finish()
    assert result.code == 130, result
    assert result.json()["run"]["interrupted"] is True


def test_an_interrupt_does_not_wait_for_who_is_far_behind(netmodel: Netmodel, tmp_path: Path) -> None:
    """The slave owes hours of thinking for what was sent to it in 200 ms."""
    path = tmp_path / "behind.xml"
    path.write_text(
        '<profile><group nthreads="1"><transaction><flowop type="connect" options="remotehost=local"/></transaction>\n'
        '<transaction duration="200ms"><flowop type="think" options="duration=1s at=slave"/>'
        '<flowop type="write" options="size=64"/></transaction></group></profile>\n'
    )
    with netmodel.started("-m", path, "-v", "--format", "json") as master:
        master.wait_line("phase 2 of 2 begins")
        time.sleep(0.5)  # the 200 ms are over
        master.signal(signal.SIGINT)
        result = master.finish()
    assert result.code == 130
    # The master waits as well where it has filled the slave's buffers in that time.
    why = r"master: interrupted in phase 2, which did not end within 6 s; waiting for group Group0 on (the master, )?local; here: .*"
    assert re.fullmatch(why, result.json()["run"]["incomplete_why"])
