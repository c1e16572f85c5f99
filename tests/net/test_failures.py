# SPDX-License-Identifier: Apache-2.0
"""What goes wrong: lost peers, strangers on the control port, limits of the system."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import socket
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from failing import IN_PHASE, LONG, something_else, started
from nmtest import (
    FOR_LONG,
    PATIENCE_S,
    PROFILES,
    SOON_S,
    Json,
    Netmodel,
    Node,
    Result,
    Slave,
    assert_complete,
    assert_ends_agree,
    children,
    close_descriptors,
    defines,
    inside,
    limit_descriptors,
    slaves_of,
    slaves_on,
    wait_until,
)

WriteProfile = Callable[..., Path]
Validate = Callable[[Json], None]

_MESSAGES = Path(__file__).resolve().parents[2] / "src/control/wire/message.h"
PROTOCOL = int(re.findall(r"#define NM_PROTOCOL\s+(\d+)", _MESSAGES.read_text())[0])


def far(slave: Slave, **params: object) -> list[str]:
    """Arguments for a run with a slave that is no child."""
    return ["-P", str(slave.port), *defines(host="127.0.0.1", **params)]


def assert_partial(result: Result, validate: Validate, why: str) -> Json:
    """It failed, says why, and has written what there was."""
    assert result.code == 2, result
    document = result.json()
    validate(document)
    assert document["run"]["complete"] is False
    assert document["run"]["interrupted"] is False
    assert re.search(why, document["run"]["incomplete_why"]), document["run"]["incomplete_why"]
    assert re.search(why, result.err), result
    return document


def test_a_killed_slave(netmodel: Netmodel, validate: Validate, profile: WriteProfile) -> None:
    ask = '<flowop type="write" options="size=10"/><flowop type="read" options="size=10"/>'
    path = profile(
        '<group nthreads="1"><transaction><flowop type="connect" options="remotehost=127.0.0.1"/></transaction>'
        f'<transaction iterations="100" measure="yes">{ask}</transaction>'
        f'<transaction duration="{FOR_LONG}">{ask}</transaction></group>'
    )
    with (
        netmodel.slave() as slave,
        netmodel.started("-m", path, "--format", "json", "-v", "--timeout", "60s", "-P", str(slave.port)) as master,
    ):
        master.wait_line("phase 3 of 3 begins")
        began = time.monotonic()
        for pid in [slave.pid, *slave.sessions()]:
            with suppress(ProcessLookupError):  # a session dies with its slave
                os.kill(pid, signal.SIGKILL)
        result = master.finish()
    assert time.monotonic() - began < SOON_S
    document = assert_partial(result, validate, r"slave 127\.0\.0\.1: ")
    assert document["totals"]["transactions"] == 100, "what was done until then is told"
    host = slaves_of(document)[0]
    assert host["complete"] is False
    assert host["error"]
    assert host["counts"] is None, "what is not known is not 0"
    assert host["start_skew_s"] is not None, "what is known is told"
    assert document["run"]["start_skew_s"] == abs(host["start_skew_s"])
    assert document["run"]["reconciled"] is None


def test_what_a_killed_slave_has_received_is_not_known(netmodel: Netmodel, validate: Validate) -> None:
    with netmodel.slave() as slave:
        for form in "json", "text":
            far = ["-P", slave.port, *defines(host="127.0.0.1", test_length=FOR_LONG)]
            with netmodel.started("-m", "udp_rr", "--format", form, "-v", *far) as master:
                master.wait_line(IN_PHASE)
                time.sleep(0.2)  # messages go meanwhile
                os.kill(slave.sessions()[0], signal.SIGKILL)
                result = master.finish()
            if form == "json":
                messages = assert_partial(result, validate, "slave 127")["totals"]["messages"]
                there, back = messages["to_slaves"], messages["to_master"]
                assert there["sent"] > 0
                assert [there[key] for key in ("received", "lost", "late", "bits_received_per_s")] == [None] * 4
                assert back["received"] > 0
                assert [back["sent"], back["lost"], messages["timeouts"]] == [None] * 3
            else:
                assert re.search(r"to slaves +sent \d+  received and lost are not known", result.out), result
                assert re.search(r"to master +received [1-9].*sent and lost are not known", result.out), result


def test_a_killed_embedded_slave(netmodel: Netmodel, validate: Validate) -> None:
    with started(netmodel, *defines(**LONG)) as master:
        master.wait_line(IN_PHASE)
        os.kill(children(master.pid)[0], signal.SIGKILL)
        result = master.finish()
    assert_partial(result, validate, "slave local: .*signal 9")


def test_a_killed_master(netmodel: Netmodel, slave: Slave) -> None:
    with started(netmodel, *far(slave, **LONG)) as master:
        master.wait_line(IN_PHASE)
        assert len(slave.sessions()) == 1
        master.signal(signal.SIGKILL)
        master.finish()
    slave.process.wait_line("ended: the master (closed|reset) the control connection")
    wait_until(lambda: not slave.sessions(), what="the session has ended")
    assert slave.process.running()
    assert_ends_agree(netmodel.measure("tcp_rr", *far(slave, test_length="100ms")))


def test_a_killed_master_takes_its_embedded_slave_with_it(netmodel: Netmodel) -> None:
    with started(netmodel, *defines(**LONG)) as master:
        master.wait_line(IN_PHASE)
        (embedded,) = children(master.pid)
        master.signal(signal.SIGKILL)
        master.finish()
        wait_until(lambda: not os.path.exists(f"/proc/{embedded}"), what="the embedded slave is gone")


def test_a_silent_slave(netmodel: Netmodel, slave: Slave, validate: Validate) -> None:
    with started(netmodel, "--timeout", "1s", *far(slave, **LONG)) as master:
        master.wait_line(IN_PHASE)
        (session,) = slave.sessions()
        began = time.monotonic()
        os.kill(session, signal.SIGSTOP)
        try:
            result = master.finish()
        finally:
            os.kill(session, signal.SIGKILL)
    assert 0.9 < time.monotonic() - began < SOON_S
    assert_partial(result, validate, r"slave 127\.0\.0\.1: no sign of life for 1 s|no progress for 1 s")


def test_a_silent_master(netmodel: Netmodel) -> None:
    with netmodel.slave("--timeout", "1s") as slave:
        with started(netmodel, *far(slave, **LONG)) as master:
            master.wait_line(IN_PHASE)
            master.signal(signal.SIGSTOP)
            slave.process.wait_line("the master was silent too long")
            wait_until(lambda: not slave.sessions(), what="the session has ended")
            master.signal(signal.SIGCONT)
            result = master.finish()
        assert result.code == 2 and "slave 127.0.0.1: the master was silent too long" in result.err, result
        assert_complete(netmodel.measure("tcp_rr", *far(slave, test_length="50ms")))


def test_a_host_that_never_answers(netmodel: Netmodel, validate: Validate) -> None:
    with something_else() as (_, args):
        result = netmodel.run("-m", "tcp_rr", "--format", "json", "--timeout", "500ms", *args)
    assert result.seconds < SOON_S
    assert_partial(
        result,
        validate,
        rf"slave 127\.0\.0\.1: what listens on port {args[1]} is not a netmodel slave, or does not answer: "
        r"no sign of life for 0\.5 s",
    )


def test_a_host_that_answers_nonsense(netmodel: Netmodel, validate: Validate) -> None:
    with something_else() as (odd, args), netmodel.started("-m", "tcp_rr", "--format", "json", *args) as master:
        peer, _ = odd.accept()
        with peer:
            peer.sendall(b"SSH-2.0-OpenSSH_9.2p1 Debian\r\n")
            result = master.finish()
    assert_partial(
        result, validate, rf"slave 127\.0\.0\.1: what listens on port {args[1]} is not a netmodel slave: it sent "
    )


def test_the_port_of_what_is_no_slave_is_the_one_dialled(netmodel: Netmodel, validate: Validate) -> None:
    """It may stand behind the host, and not with -P."""
    with something_else() as (odd, _):
        port = odd.getsockname()[1]
        args = defines(host=f"127.0.0.1:{port}")
        with netmodel.started("-m", "tcp_rr", "--format", "json", *args) as master:
            odd.accept()[0].close()
            result = master.finish()
    assert_partial(result, validate, rf"what listens on port {port} is not a netmodel slave, or has gone")


def test_a_host_of_another_version(netmodel: Netmodel, validate: Validate) -> None:
    welcome = b'["welcome",{"protocol":999,"version":"99.1","hostname":"later"}]'
    with something_else() as (odd, args), netmodel.started("-m", "tcp_rr", "--format", "json", *args) as master:
        peer, _ = odd.accept()
        with peer:
            peer.sendall(frame(welcome))
            result = master.finish()
    assert_partial(
        result, validate, rf"slave 127\.0\.0\.1: it speaks protocol 999 \(netmodel 99\.1\), and this master {PROTOCOL} \(\d"
    )


def test_a_host_that_hangs_up(netmodel: Netmodel, validate: Validate) -> None:
    with something_else() as (odd, args), netmodel.started("-m", "tcp_rr", "--format", "json", *args) as master:
        odd.accept()[0].close()
        result = master.finish()
    assert_partial(
        result,
        validate,
        rf"slave 127\.0\.0\.1: what listens on port {args[1]} is not a netmodel slave, or has gone: \w+ the control",
    )


def test_a_connection_that_is_refused(netmodel: Netmodel, validate: Validate) -> None:
    with netmodel.slave() as gone:
        pass
    result = netmodel.run("-m", "tcp_rr", "--format", "json", *far(gone, **LONG))
    document = assert_partial(
        result,
        validate,
        rf"slave 127\.0\.0\.1: nothing listens on port {gone.port} there: "
        rf'start a slave with "netmodel -s -P {gone.port}"',
    )
    assert document["totals"]["transactions"] == 0
    assert document["totals"]["latency_s"] is None
    assert document["run"]["start_skew_s"] is None
    assert len(result.lines()) == 1


def test_the_command_for_another_host(netmodel: Netmodel, nodes: Callable[[int], list[Node]]) -> None:
    near, far = nodes(2)
    key = {"NETMODEL_KEY": "0123456789abcdef0123456789abcdef"}
    terminal = " in a terminal there, and run the command that it prints, which has its key"
    mine = " and the key of this master (--key-file FILE, or NETMODEL_KEY in its environment)"
    for prefix, env, words in ((near.prefix, {}, ""), (far.prefix, {}, terminal), (far.prefix, key, mine)):
        result = netmodel.run("-m", "tcp_rr", *defines(host=near.address), prefix=prefix, env=env, code=2)
        assert f'nothing listens on port 20000 there: start a slave with "netmodel -s"{words}' in result.lines()[-1]


def test_a_host_that_no_route_leads_to(netmodel: Netmodel, nodes: Callable[[int], list[Node]]) -> None:
    (here,) = nodes(1)
    result = netmodel.run("-m", "tcp_rr", *defines(host="192.0.2.1"), prefix=here.prefix, code=2)
    assert (
        "slave 192.0.2.1: cannot connect to port 20000: Network is unreachable: this host has no route to it "
        "(ip route get ADDRESS)" in result.err
    )
    inside(here, "ip", "route", "add", "unreachable", "192.0.2.0/24")
    result = netmodel.run("-m", "tcp_rr", *defines(host="192.0.2.1"), prefix=here.prefix, code=2)
    assert (
        "No route to host: the host is down, its address is another, or a router or firewall says that it cannot be reached"
        in result.err
    )


def test_a_control_port_that_a_firewall_drops(netmodel: Netmodel, nodes: Callable[[int], list[Node]]) -> None:
    here, there = nodes(2)
    inside(there, "ip", "rule", "add", "pref", "10", "ipproto", "tcp", "sport", "20000", "blackhole")
    with netmodel.started("-s", "--no-auth", prefix=there.prefix) as slave:
        slave.wait_line("slave listening")
        options = ("--timeout", "500ms", *defines(host=there.address))
        result = netmodel.run("-m", "tcp_rr", *options, prefix=here.prefix, code=2)
    assert (
        "slave 10.77.0.2: cannot connect to port 20000: Connection timed out: the host is down, its address is another, or a "
        "firewall drops what is for that port" in result.err
    )
    assert result.seconds < 9, "less than the usual limit, of 10 s"


def test_a_reason_is_told_once_in_the_report(netmodel: Netmodel) -> None:
    with netmodel.slave() as gone:
        pass
    result = netmodel.run("-m", "tcp_rr", *far(gone), code=2)
    assert result.out.count("nothing listens") == 1, result
    assert result.err.count("nothing listens") == 1, result


def test_a_name_that_does_not_exist(netmodel: Netmodel, validate: Validate) -> None:
    result = netmodel.run("-m", "tcp_rr", "--format", "json", *defines(host="no-such-host.invalid"))
    assert_partial(result, validate, r"slave no-such-host\.invalid: its name cannot be resolved")


def test_a_slave_may_start_a_moment_later(netmodel: Netmodel) -> None:
    with netmodel.slave() as before:
        pass
    with (
        netmodel.started("-m", "tcp_rr", "--format", "json", *far(before, test_length="50ms")) as master,
        netmodel.slave("-P", str(before.port)),
    ):
        result = master.finish()
    assert result.code == 0, result


def test_slaves_may_start_much_later(netmodel: Netmodel, profile: WriteProfile) -> None:
    """Those that are there already, and have less patience than that, stay; the wait is told once."""
    ask = '<flowop type="write" options="size=10"/><flowop type="read" options="size=10"/>'
    groups = (
        f'<group nthreads="1"><transaction><flowop type="connect" options="remotehost={host}"/></transaction>'
        f'<transaction iterations="100">{ask}</transaction></group>'
        for host in ("127.0.0.1", "127.0.0.2", "local")
    )
    path = profile("".join(groups))
    with netmodel.slave("--bind", "127.0.0.1", "--timeout", "1s") as first:
        port = str(first.port)
        args = ("-m", path, "--format", "json", "-P", port, "--wait-slaves", "60s", "--timeout", "2s")
        with netmodel.started(*args) as master:
            master.wait_line("waiting for a slave on 127.0.0.2, port")
            time.sleep(2.5)  # longer than the limits of both
            with netmodel.slave("--bind", "127.0.0.2", "-P", port):
                result = master.finish()
    assert_complete(result.json())
    assert result.lines() == [
        f"netmodel: waiting for a slave on 127.0.0.2, port {port}, for up to 60 s: Connection refused"
    ]


def test_a_wait_for_a_slave_can_be_ended(netmodel: Netmodel) -> None:
    with netmodel.slave() as gone:
        pass
    with netmodel.started("-m", "tcp_rr", "--wait-slaves", "60s", *far(gone)) as master:
        master.wait_line("waiting for a slave")
        master.signal(signal.SIGINT)
        result = master.finish()
    assert result.code == 130, result
    assert "interrupted before the first phase" in result.err
    began = time.monotonic()
    limited = ("--wait-slaves", "60s", "--max-duration", "200ms", *far(gone))
    assert "waiting" not in netmodel.run("-m", "tcp_rr", *limited, code=2).err
    assert time.monotonic() - began < SOON_S
    quiet = netmodel.run("-m", "tcp_rr", "-q", "--wait-slaves", "1.5s", *far(gone), code=2)
    assert len(quiet.lines()) == 1, quiet


@contextmanager
def mute_resolver(tmp_path: Path) -> Iterator[list[str]]:
    """The prefix of a command that asks for names where nobody answers."""
    conf = tmp_path / "resolv.conf"
    conf.write_text("nameserver 127.53.0.77\noptions timeout:30 attempts:5\n")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as mute:
        mute.bind(("127.53.0.77", 53))
        script = 'mount --bind "$0" /etc/resolv.conf && exec "$@"'
        yield ["unshare", "--mount", "sh", "-c", script, str(conf)]


@pytest.mark.needs("root", "mountns", "name_port")
def test_a_name_for_which_nobody_answers(netmodel: Netmodel, validate: Validate, tmp_path: Path) -> None:
    args = ["-m", PROFILES / "tcp_rr.xml", "--format", "json", *defines(host="slave.example")]
    with mute_resolver(tmp_path) as prefix:
        result = netmodel.run(*args, "--timeout", "500ms", prefix=prefix)
        assert result.seconds < SOON_S
        assert_partial(result, validate, r"slave slave\.example: its name cannot be resolved: no answer for 0\.5")
        with netmodel.started(*args, "--timeout", FOR_LONG, prefix=prefix) as master:
            own = Path(f"/proc/{master.pid}/comm")  # and no longer the shell's
            wait_until(
                lambda: own.read_text() == f"{netmodel.binary.name[:15]}\n" and children(master.pid),
                what="a process resolves the name",
            )
            master.signal(signal.SIGINT)
            result = master.finish()
    assert result.code == 130, result
    assert result.json()["run"]["interrupted"] is True


@pytest.mark.parametrize("closed", [(0, 2), (0,), (2,), (0, 1, 2)])
def test_closed_standard_descriptors(netmodel: Netmodel, tmp_path: Path, closed: tuple[int, ...]) -> None:
    """What is written to one that is closed reaches no file of netmodel's own."""
    before = close_descriptors(*closed)
    args = ["-m", "tcp_rr", "-v", "--format", "json", *defines(test_length="50ms")]
    result = netmodel.run(*args, before=before)
    if 1 in closed:
        assert result.code == 2, "the report is lost"
    else:
        assert result.code == 0, result
        assert_ends_agree(result.json())
    path = tmp_path / "report.json"
    netmodel.run(*args, "-o", path, before=before, code=0)
    assert_ends_agree(json.loads(path.read_text()))


@pytest.mark.parametrize("closed", [(0, 2), (0, 1, 2)])
def test_a_slave_with_closed_standard_descriptors(netmodel: Netmodel, closed: tuple[int, ...]) -> None:
    with netmodel.slave() as other:
        pass
    with netmodel.started("-s", "-P", str(other.port), before=close_descriptors(*closed)) as slave:
        for _ in range(2):
            assert_ends_agree(netmodel.measure("tcp_rr", *far(other, test_length="50ms")))
        assert slave.running()
        slave.signal(signal.SIGTERM)
        assert slave.finish().code == 0


EVIL = "\x1b[2Jpwn\x9b31m\nnetmodel: complete\x7f"


@pytest.mark.parametrize("form", ["text", "kv", "csv"])
def test_a_slave_that_writes_to_the_terminal(netmodel: Netmodel, form: str) -> None:
    """Nothing that a peer says makes a line of its own, or steers the terminal."""
    with something_else() as (evil, args), netmodel.started("-m", "tcp_rr", "-v", "--format", form, *args) as master:
        peer, _ = evil.accept()
        with peer:
            peer.sendall(frame(json.dumps(["refuse", {"code": "busy", "text": EVIL}]).encode()))
            result = master.finish()
    assert result.code == 2, result
    assert "refused:  [2Jpwn  31m netmodel: complete" in result.err
    if form != "csv":
        assert "refused:  [2Jpwn  31m netmodel: complete" in result.out
    for text in (result.out, result.err):
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", text), result
        assert "\nnetmodel: complete" not in text


def test_a_profile_that_writes_to_the_terminal(netmodel: Netmodel, tmp_path: Path) -> None:
    path = tmp_path / "evil.xml"
    path.write_text(
        '<profile name="a,b&#10;evil=1"><param name="s" default="x"/><group name="g&#13;&#10;h" nthreads="1">'
        '<transaction><flowop type="connect" options="remotehost=local"/></transaction>'
        '<transaction iterations="1"><flowop type="write" options="size=1"/></transaction></group></profile>'
    )
    for form in ("text", "kv", "csv"):
        out = netmodel.run("-m", path, "--format", form, "-D", "s=\x9b31m\nRED", code=0).out
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", out), out
        assert "\nevil=1" not in out
        if form == "kv":
            assert "\nprofile=a,b evil=1\n" in out
            assert "\ns=  31m RED\n" in out
    assert ": ok: a,b evil=1: 1 group," in netmodel.run("-m", path, "--check", code=0).out
    document = netmodel.measure(path, "-D", "s=\x9b31m\nRED")
    assert document["profile"]["name"] == "a,b\nevil=1", "JSON has a way to write it"


def frame(payload: bytes) -> bytes:
    return struct.pack(">I", len(payload)) + payload


RANDOM = random.Random(20000)
HELLO = frame(b'["hello",{"magic":"netmodel","protocol":%d,"version":"x"}]' % PROTOCOL)

STRANGERS = {
    "noise": RANDOM.randbytes(100_000),
    "huge length": b"\xff\xff\xff\xff" + b"x" * 1000,
    "empty frame": frame(b"") * 10,
    "half a header": b"\x00\x00",
    "half a frame": struct.pack(">I", 1000) + b"[",
    "not JSON": frame(b"hello, is this netmodel?"),
    "not UTF-8": frame(b'["\xff\xfe",{}]'),
    "a number": frame(b"1"),
    "deep JSON": frame(b"[" * 60_000),
    "unknown word": frame(b'["shutdown",{}]'),
    "out of turn": frame(b'["begin",{"phase":0}]'),
    "wrong magic": frame(b'["hello",{"magic":"x","protocol":%d,"version":"x"}]' % PROTOCOL),
    "wrong types": frame(b'["hello",{"magic":1,"protocol":"1","version":[]}]'),
    "a version from the future": frame(b'["hello",{"magic":"netmodel","protocol":999,"version":"99"}]'),
    "noise after hello": HELLO + RANDOM.randbytes(10_000),
    "a wrong order after hello": HELLO + frame(json.dumps(["prepare", {"profile": "<profile>"}]).encode()),
    "HTTP": b"GET / HTTP/1.1\r\nHost: slave\r\n\r\n",
}


def visit(port: int, data: bytes) -> None:
    """Says something to a slave and listens until it hangs up."""
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S) as stranger:
        try:
            stranger.sendall(data)
            stranger.shutdown(socket.SHUT_WR)
            while stranger.recv(65536):
                pass
        except OSError:  # it has hung up before everything was said
            pass


def test_strangers_on_the_control_port(netmodel: Netmodel, slave: Slave) -> None:
    with (
        started(netmodel, *far(slave, test_length="1s")) as master,
        socket.create_connection(("127.0.0.1", slave.port), timeout=PATIENCE_S) as trickle,
    ):
        master.wait_line(IN_PHASE)
        for name, data in STRANGERS.items():
            trickle.sendall(HELLO[:1])
            visit(slave.port, data)
            assert slave.process.running(), name
        result = master.finish()
    assert result.code == 0, result
    assert_ends_agree(result.json())
    assert_ends_agree(netmodel.measure("tcp_rr", *far(slave, test_length="50ms")))
    wait_until(lambda: not slave.sessions(), what="all sessions have ended")
    assert "signal" not in slave.process.err, "no session has crashed"


@pytest.mark.parametrize("data", [bytes(range(64)) * 4, b"\xff" * 64, b"\x00" * 64])
def test_who_is_no_master_is_told_so(netmodel: Netmodel, slave: Slave, data: bytes) -> None:
    """As a client of neper, which begins with numbers of its own."""
    visit(slave.port, data)
    slave.process.wait_line(
        r"refused: an? (empty )?message .*: what has connected is no netmodel master; neper's clients need a server of neper's"
    )


def test_many_strangers_who_say_nothing(netmodel: Netmodel, slave: Slave) -> None:
    silent = [socket.create_connection(("127.0.0.1", slave.port), timeout=PATIENCE_S) for _ in range(40)]
    try:
        wait_until(lambda: len(slave.sessions()) == 40, what="each has a session")
        assert_ends_agree(netmodel.measure("tcp_rr", *far(slave, test_length="50ms")))
    finally:
        for connection in silent:
            connection.close()
    wait_until(lambda: not slave.sessions(), what="all sessions have ended")


def test_more_strangers_than_places(netmodel: Netmodel, slave: Slave) -> None:
    """It takes the 3 s that a silent one has."""
    silent = [socket.create_connection(("127.0.0.1", slave.port), timeout=PATIENCE_S) for _ in range(160)]
    try:
        assert_ends_agree(netmodel.measure("tcp_rr", *far(slave, test_length="50ms")))
        assert len(slave.sessions()) <= 64
        assert silent[0].recv(1) == b"", "the first had to leave"
        began = time.monotonic()
        assert silent[-1].recv(1) == b"", "and the last has had its time"
        assert time.monotonic() - began < 9, "not the 10 s of whoever says hello"
    finally:
        for connection in silent:
            connection.close()
    wait_until(lambda: not slave.sessions(), what="all sessions have ended")
    assert "signal" not in slave.process.err


def test_a_full_slave_says_so(netmodel: Netmodel, slave: Slave) -> None:
    masters = [socket.create_connection(("127.0.0.1", slave.port), timeout=PATIENCE_S) for _ in range(64)]
    try:
        for master in masters:
            master.sendall(HELLO)
        for master in masters:
            assert b"welcome" in master.recv(1000)
        result = netmodel.run("-m", "tcp_rr", *far(slave, test_length="50ms"))
    finally:
        for master in masters:
            master.close()
    assert result.code == 2, result
    assert "refused: it serves 64 sessions already" in result.err
    wait_until(lambda: not slave.sessions(), what="all sessions have ended")
    assert_complete(netmodel.measure("tcp_rr", *far(slave, test_length="50ms")))


def test_too_few_descriptors(netmodel: Netmodel) -> None:
    result = netmodel.run("-m", "tcp_rr", *defines(num_flows=1000), before=limit_descriptors(200))
    assert result.code == 1, result
    assert result.out == ""
    assert len(result.lines()) == 1
    found = re.search(r"needs (\d+) open files, and this process may have 200: .*ulimit -n (\d+)", result.err)
    assert found, result
    assert 1000 < int(found[1]) == int(found[2]) < 1200
    enough = netmodel.run(
        "-m", "tcp_rr", "--format", "json", *defines(num_flows=1000, test_length="50ms"),
        before=limit_descriptors(int(found[1])),
    )  # fmt: skip
    assert enough.code == 0, enough
    assert_ends_agree(enough.json())


def test_too_few_descriptors_at_the_slave(netmodel: Netmodel) -> None:
    with netmodel.slave(before=limit_descriptors(200)) as slave:
        result = netmodel.run("-m", "tcp_rr", *far(slave, num_flows=1000))
        assert result.code == 2, result
        assert re.search(r"slave 127\.0\.0\.1: refused: 1\d\d\d open files are needed, .* 200", result.err)
        assert_complete(netmodel.measure("tcp_rr", *far(slave, test_length="50ms")))


def test_a_refused_option_of_the_transport(netmodel: Netmodel) -> None:
    result = netmodel.run("-m", "tcp_rr", "--format", "json", *defines(congestion_control="nosuchcc"))
    assert result.code in (1, 2), result
    lines = (PROFILES / "tcp_rr.xml").read_text().splitlines()
    where = next(number for number, line in enumerate(lines, 1) if "protocol=tcp" in line)
    assert re.search(rf"connect|accept.*\b{where}\b", result.err), result


def test_a_full_disk_is_told(netmodel: Netmodel) -> None:
    result = netmodel.run("-m", "tcp_rr", "-o", "/dev/full", *defines(test_length="50ms"))
    assert result.code == 2, result
    assert "/dev/full" in result.err
    assert "No space left on device" in result.err


@pytest.mark.needs("netns")
def test_a_run_of_this_host_without_its_loopback_interface(netmodel: Netmodel) -> None:
    result = netmodel.run("-m", "tcp_rr", prefix=("unshare", "--net"), code=2)
    assert "slave local: cannot be started: Network is down: the loopback interface is down (ip link set lo up)" in result.err


@pytest.mark.parametrize("workload", ["tcp_rr", "udp_rr"])
def test_a_scope_belongs_to_the_end_that_has_it(
    netmodel: Netmodel, nodes: Callable[[int], list[Node]], workload: str
) -> None:
    """The interface of the slave is called otherwise than the one that the master's address names."""
    here, there = nodes(2)
    for words in (("eth0", "down"), ("eth0", "name", "wan"), ("wan", "up")):
        inside(there, "ip", "link", "set", *words)
    inside(here, "ip", "address", "add", "fe80::7/64", "dev", "eth0", "nodad")
    inside(there, "ip", "address", "add", "fe80::8/64", "dev", "wan", "nodad")
    with slaves_on(netmodel, [there]):
        of_ends = defines(host="fe80::8%eth0", test_length="100ms")
        run = ("-m", workload, *of_ends, "--timeout", "3s")
        netmodel.run(*run, *defines(local_hosts="fe80::7%eth0"), prefix=here.prefix, code=0)
        wrong = netmodel.run(*run, *defines(local_hosts="fe80::7%eth9"), prefix=here.prefix, code=2)
    assert "fe80::7 cannot be bound here: Invalid argument: an interface that this host has must stand behind it" in wrong.err
