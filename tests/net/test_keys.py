# SPDX-License-Identifier: Apache-2.0
"""Who may use a slave: masters that prove its key, those of its own host, or all."""

from __future__ import annotations

import hmac
import os
import pty
import random
import re
import select
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from nmtest import PATIENCE_S, Netmodel, Network, Node, Process, Result, Slave, assert_complete, defines, wait_until
from strangers import Crowd

Pair = tuple[Node, Node]

KEY = "0123456789abcdef0123456789abcdef"
OTHER = "fedcba9876543210fedcba9876543210"


@pytest.fixture(scope="module")
def two_hosts() -> Iterator[Pair]:
    """Two hosts for all tests here."""
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


def test_a_master_of_another_host_comes_with_the_key(netmodel: Netmodel, two_hosts: Pair, tmp_path: Path) -> None:
    near, far = two_hosts
    file = write_key(tmp_path / "key", KEY)
    with netmodel.slave("--key-file", file, prefix=far.prefix) as slave:
        result = ask(netmodel, slave.port, near, far, "--key-file", file)
        assert_complete(result.json())
        result = ask(netmodel, slave.port, near, far, env={"NETMODEL_KEY": KEY})
        assert_complete(result.json())


def told_by_both(result: Result, slave: Slave, text: str) -> None:
    """The run was refused, at once, and both ends say so."""
    assert result.code == 2, result
    assert result.seconds < 9, "less than the limit of a wait, of 10 s"
    assert re.search(rf"slave \S+: refused: .*{text}", result.err), result
    slave.process.wait_line(rf"master \S+: refused: .*{text}")


def test_another_key_is_refused_at_both_ends(netmodel: Netmodel, two_hosts: Pair) -> None:
    near, far = two_hosts
    with netmodel.slave(env={"NETMODEL_KEY": KEY}, prefix=far.prefix) as slave:
        result = ask(netmodel, slave.port, near, far, env={"NETMODEL_KEY": OTHER})
        told_by_both(result, slave, "another key.*--key-file FILE")
        assert OTHER not in result.err + slave.process.err
        # The slave serves the next one.
        assert_complete(ask(netmodel, slave.port, near, far, env={"NETMODEL_KEY": KEY}).json())


@pytest.mark.parametrize("where", ["another host", "its own host"])
def test_a_master_without_the_key_is_refused(netmodel: Netmodel, two_hosts: Pair, where: str) -> None:
    near, far = two_hosts
    with netmodel.slave(env={"NETMODEL_KEY": KEY}, prefix=far.prefix) as slave:
        result = ask(netmodel, slave.port, near if where == "another host" else far, far)
        ways_out = r"--key-file FILE, or NETMODEL_KEY.*--no-auth \(or NETMODEL_AUTH=none"
        told_by_both(result, slave, rf"its key only.*{ways_out}")


@pytest.mark.parametrize("option", [(), ("--no-auth",)], ids=["own host only", "no-auth"])
def test_a_slave_without_a_key_refuses_a_master_with_one(
    netmodel: Netmodel, two_hosts: Pair, option: tuple[str, ...]
) -> None:
    _, far = two_hosts
    with netmodel.slave(*option, prefix=far.prefix) as slave:
        result = ask(netmodel, slave.port, far, far, env={"NETMODEL_KEY": KEY})
        told_by_both(result, slave, "this slave has none: start the slave with the same")


def test_no_key_and_another_host_are_told_both_ways_out(netmodel: Netmodel, two_hosts: Pair) -> None:
    near, far = two_hosts
    for env in ({}, {"NETMODEL_KEY": KEY}):
        with netmodel.slave(prefix=far.prefix) as slave:
            result = ask(netmodel, slave.port, near, far, env=env)
            told_by_both(result, slave, "this slave has no key.*--key-file FILE, or NETMODEL_KEY.*NETMODEL_AUTH=none")


def test_the_environment_can_open_a_slave(netmodel: Netmodel, two_hosts: Pair) -> None:
    near, far = two_hosts
    with netmodel.slave(env={"NETMODEL_AUTH": "none"}, prefix=far.prefix) as slave:
        document = ask(netmodel, slave.port, near, far).json()
        assert_complete(document)
        assert [host["authentication"] for host in document["hosts"]] == [None, "none"]


def test_results_show_a_slave_that_takes_all(netmodel: Netmodel) -> None:
    with netmodel.slave("--no-auth") as slave:
        options = ("-m", "tcp_rr", "-P", str(slave.port), *defines(host="127.0.0.1", test_length="50ms"))
        document = netmodel.run(*options, "--format", "json", code=0).json()
        assert [host["authentication"] for host in document["hosts"]] == [None, "none"]
        text = netmodel.run(*options, code=0).out
        assert "127.0.0.1: --no-auth: it takes any master without proof of who it is" in text


def test_results_show_why_ends_took_each_other(netmodel: Netmodel, two_hosts: Pair) -> None:
    near, far = two_hosts
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
        result = netmodel.run("-s", "-P", "0", "--key-file", path, code=1)
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


def test_options_win_over_the_environment(netmodel: Netmodel, two_hosts: Pair, tmp_path: Path) -> None:
    near, far = two_hosts
    file = write_key(tmp_path / "key", KEY)
    with netmodel.slave("--key-file", file, env={"NETMODEL_KEY": OTHER}, prefix=far.prefix) as slave:
        assert_complete(ask(netmodel, slave.port, near, far, env={"NETMODEL_KEY": KEY}).json())
    with netmodel.slave("--no-auth", env={"NETMODEL_KEY": KEY}, prefix=far.prefix) as slave:
        assert_complete(ask(netmodel, slave.port, near, far).json())


def test_the_environment_is_wiped(netmodel: Netmodel) -> None:
    with netmodel.slave(env={"NETMODEL_KEY": KEY}) as slave, suppress(PermissionError):  # but root's
        assert KEY.encode() not in Path(f"/proc/{slave.pid}/environ").read_bytes()


def holds(pid: int, *secrets: bytes) -> bool:
    """Whether one of them is in the memory of a process."""
    with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb", 0) as memory:
        for line in maps:
            where, rights = line.split()[:2]
            begin, end = (int(number, 16) for number in where.split("-"))
            if not rights.startswith("rw") or end - begin > 64 << 20:
                continue
            memory.seek(begin)
            with suppress(OSError):
                data = memory.read(end - begin)
                if any(secret in data for secret in secrets):
                    return True
    return False


def test_little_is_left_of_a_key(netmodel: Netmodel) -> None:
    """Of its text nothing, and of what is derived from it as much as is needed: nothing in a session."""
    derived = hmac.digest(b"netmodel control connection", KEY.encode(), "sha256")
    env = {"NETMODEL_KEY": KEY}
    with netmodel.slave(env=env) as slave:
        options = defines(host="127.0.0.1", test_length="10s")
        line = ("-m", "tcp_rr", "-v", "-P", str(slave.port), *options)
        with netmodel.started(*line, env=env) as master:
            master.wait_line("phase 2 of")
            (session,) = slave.sessions()
            for pid in (slave.pid, master.pid, session):
                limits = Path(f"/proc/{pid}/limits").read_text()
                assert re.search(r"^Max core file size\s+0\s+0\s", limits, re.MULTILINE), limits
            if os.geteuid() == 0:
                assert holds(slave.pid, derived)
                assert not holds(slave.pid, KEY.encode())
                assert holds(master.pid, derived)
                assert not holds(master.pid, KEY.encode())
                assert not holds(session, derived, KEY.encode())


def test_a_key_is_no_parameter(netmodel: Netmodel, profile: Callable[..., Path]) -> None:
    path = profile(
        '<param name="NETMODEL_KEY" default="4"/>\n<group nthreads="$NETMODEL_KEY">'
        '<transaction iterations="1"><flowop type="connect" options="remotehost=local protocol=tcp"/>'
        "</transaction></group>"
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


@contextmanager
def on_a_terminal(netmodel: Netmodel, node: Node, *args: str) -> Iterator[Callable[[str], re.Match[str]]]:
    """Starts netmodel with a terminal as its standard error; what is given waits until it shows something."""
    ours, theirs = pty.openpty()
    argv = [*node.prefix, str(netmodel.binary), *args]
    process = subprocess.Popen(argv, env=netmodel.env, stdin=theirs, stdout=subprocess.PIPE, stderr=theirs)
    os.close(theirs)
    shown = ""

    def wait_for(pattern: str) -> re.Match[str]:
        nonlocal shown
        deadline = time.monotonic() + 10
        while not (match := re.search(pattern, shown, re.MULTILINE)):
            ready, _, _ = select.select([ours], [], [], max(0, deadline - time.monotonic()))
            assert ready, f"no /{pattern}/ in:\n{shown}"
            shown += os.read(ours, 4096).decode().replace("\r\n", "\n")
        return match

    try:
        yield wait_for
    finally:
        process.terminate()
        process.communicate(timeout=PATIENCE_S)
        os.close(ours)


def run_printed(netmodel: Netmodel, command: str, node: Node) -> Result:
    """Types what was printed into a shell, where netmodel is the program under test."""
    folder = netmodel.binary.parent
    line = f"PATH={folder}:$PATH\n{command} -D test_length=100ms"
    process = Process([*node.prefix, "sh", "-c", line], netmodel.env)
    try:
        return process.finish()
    finally:
        process.end()


@pytest.mark.parametrize("port", [None, "0"], ids=["the usual port", "another port"])
def test_a_key_made_on_a_terminal_lets_the_printed_command_in(
    netmodel: Netmodel, two_hosts: Pair, port: str | None
) -> None:
    near, far = two_hosts
    with on_a_terminal(netmodel, far, "-s", *(("-P", port) if port else ())) as wait_for:
        command = wait_for(r"^NETMODEL_KEY=[0-9a-f]{32} netmodel -m .*$")[0]
        assert f"host={far.address}" in command
        result = run_printed(netmodel, command, near)
        assert result.code == 0, result
        assert "counts of both ends agree" in result.out
        # Who has no key is refused, but on its own host.
        number = match[1] if (match := re.search(r" -P (\d+)", command)) else "20000"
        result = ask(netmodel, int(number), near, far)
        assert result.code == 2 and "this slave accepts masters of other hosts with its key only" in result.err, result
        assert_complete(ask(netmodel, int(number), far, far).json())


def test_no_key_is_made_on_a_terminal_that_shows_nothing(netmodel: Netmodel, two_hosts: Pair) -> None:
    near, far = two_hosts
    port = 12901
    with on_a_terminal(netmodel, far, "-s", "-q", "-P", str(port)):
        assert_complete(ask(netmodel, port, far, far, "--wait-slaves", "10s").json())
        assert "this slave has no key" in ask(netmodel, port, near, far).err


def test_no_key_is_made_where_nobody_would_see_it(netmodel: Netmodel, two_hosts: Pair) -> None:
    near, far = two_hosts
    with netmodel.slave(prefix=far.prefix) as slave:
        assert "this slave has no key" in ask(netmodel, slave.port, near, far).err
        assert "NETMODEL_KEY=" not in slave.process.err


def test_uperfs_lines_run_with_the_environment_alone(
    netmodel: Netmodel, two_hosts: Pair, tmp_path: Path
) -> None:
    near, far = two_hosts
    path = tmp_path / "web.xml"
    path.write_text(
        '<?xml version="1.0"?>\n<profile name="web"><group nthreads="2">\n'
        '<transaction iterations="1"><flowop type="connect" options="remotehost=$h protocol=tcp"/></transaction>\n'
        '<transaction iterations="10"><flowop type="write" options="size=64"/>'
        '<flowop type="read" options="size=64"/></transaction>\n'
        '<transaction iterations="1"><flowop type="disconnect"/></transaction></group></profile>\n'
    )
    for slaves, masters in (({"NETMODEL_KEY": KEY}, {"NETMODEL_KEY": KEY}), ({"NETMODEL_AUTH": "none"}, {})):
        with netmodel.started("-s", env=slaves, prefix=far.prefix) as slave:
            slave.wait_line("slave listening on .* port 20000")
            netmodel.run("-m", path, "-a", env={"h": far.address, **masters}, prefix=near.prefix, code=0)
            result = netmodel.run("-m", path, env={"h": far.address, "NETMODEL_KEY": OTHER}, prefix=near.prefix)
            assert result.code == 2, result


def test_nepers_lines_run_with_the_environment_alone(netmodel: Netmodel, two_hosts: Pair) -> None:
    near, far = two_hosts
    client = ("tcp_rr", "-c", "-H", far.address, "-l", "-20")
    for servers, clients in (({"NETMODEL_KEY": KEY}, {"NETMODEL_KEY": KEY}), ({"NETMODEL_AUTH": "none"}, {})):
        with netmodel.started("tcp_rr", "--logtostderr", env=servers, prefix=far.prefix) as server:
            server.wait_line("slave listening")
            assert "num_transactions=20" in netmodel.run(*client, env=clients, prefix=near.prefix, code=0).out
            assert server.finish().code == 0


def test_a_key_made_for_nepers_server_lets_the_printed_command_in(netmodel: Netmodel, two_hosts: Pair) -> None:
    near, far = two_hosts
    with on_a_terminal(netmodel, far, "tcp_rr", "-C", "12900") as wait_for:
        command = wait_for(r"^NETMODEL_KEY=[0-9a-f]{32} netmodel .*$")[0]
        assert command.endswith(f" netmodel tcp_rr -c -H {far.address} -C 12900")
        result = run_printed(netmodel, f"{command} -l -20", near)
        assert result.code == 0, result
        assert "num_transactions=20" in result.out


@contextmanager
def overheard(port: int) -> Iterator[tuple[int, bytearray]]:
    """A port that passes one connection on to a slave, and what the one who connects has said."""
    said = bytearray()

    def pass_on(source: socket.socket, to: socket.socket, copy: bytearray) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                copy += data
                to.sendall(data)
            to.shutdown(socket.SHUT_WR)

    def serve() -> None:
        with suppress(OSError):
            master, _ = listener.accept()
            with master, socket.create_connection(("127.0.0.1", port)) as slave:
                back = threading.Thread(target=pass_on, args=(slave, master, bytearray()))
                back.start()
                pass_on(master, slave, said)
                back.join(PATIENCE_S)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield listener.getsockname()[1], said
        finally:
            with suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            thread.join(PATIENCE_S)


def test_what_was_overheard_is_no_key(netmodel: Netmodel) -> None:
    with netmodel.slave(env={"NETMODEL_KEY": KEY}) as slave:
        said = overhear(netmodel, slave, KEY)
        slave.process.wait_line(": run ")
        assert len(said) > 1000
        for secret in (b"profile", b"hello", KEY.encode()):
            assert secret not in said
        with socket.create_connection(("127.0.0.1", slave.port)) as replay:
            replay.sendall(said)
            slave.process.wait_line("refused: it did not prove the key")
            replay.settimeout(PATIENCE_S)
            with suppress(ConnectionError):
                while replay.recv(4096):
                    pass
        wait_until(lambda: not slave.sessions(), what="the session has ended")
        assert len(re.findall(": run ", slave.process.err)) == 1


def overhear(netmodel: Netmodel, slave: Slave, key: str) -> bytes:
    with overheard(slave.port) as (port, said):
        options = defines(host="127.0.0.1", test_length="50ms")
        netmodel.run("-m", "tcp_rr", "-P", str(port), *options, env={"NETMODEL_KEY": key}, code=0 if key == KEY else 2)
    return bytes(said)


def test_a_run_with_a_key_beside_strangers(netmodel: Netmodel) -> None:
    """They say what was overheard of a master with the key and of one with another, whole and cut anywhere."""
    env = {"NETMODEL_KEY": KEY}
    with netmodel.slave(env=env) as slave:
        heard = [overhear(netmodel, slave, key) for key in (KEY, OTHER)]
        crowd = Crowd(slave.port)

        def come(seed: int) -> None:
            draw = random.Random(seed)
            while not crowd.stop.is_set():
                said = draw.choice(heard)
                crowd.say(said[: draw.randrange(1, len(said) + 1)])

        threads = [threading.Thread(target=come, args=(seed,), daemon=True) for seed in range(4)]
        for thread in threads:
            thread.start()
        try:
            options = ("-P", str(slave.port), *defines(host="127.0.0.1", test_length="1s"))
            for _ in range(2):
                assert_complete(netmodel.measure("tcp_rr", *options, env=env))
        finally:
            crowd.stop.set()
            for thread in threads:
                thread.join(PATIENCE_S)
        assert crowd.came > 20
        assert "signal" not in slave.process.err, "no session has crashed"
        assert len(re.findall(": run ", slave.process.err)) == 3


def test_tls_of_another_program_is_no_key(netmodel: Netmodel) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    with netmodel.slave(env={"NETMODEL_KEY": KEY}) as slave:
        with (
            socket.create_connection(("127.0.0.1", slave.port)) as plain,
            pytest.raises(ssl.SSLError),
            context.wrap_socket(plain) as _,
        ):
            pass
        slave.process.wait_line("refused: it did not prove the key")


@contextmanager
def coming_to_a_false_slave(netmodel: Netmodel) -> Iterator[tuple[Process, socket.socket]]:
    """A master with a key, and the other end of its control connection."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        options = ("-P", str(listener.getsockname()[1]), *defines(host="127.0.0.1"))
        with netmodel.started("-m", "tcp_rr", *options, env={"NETMODEL_KEY": KEY}) as master:
            peer, _ = listener.accept()
            with peer:
                yield master, peer


def in_the_clear(text: bytes) -> bytes:
    return len(text).to_bytes(4, "big") + text


@pytest.mark.needs("openssl")
def test_a_server_with_a_certificate_is_no_slave(netmodel: Netmodel, tmp_path: Path) -> None:
    made = ("-newkey", "rsa:2048", "-nodes", "-keyout", tmp_path / "key", "-out", tmp_path / "cert", "-subj", "/CN=x")
    subprocess.run(["openssl", "req", "-x509", *map(str, made)], check=True, capture_output=True, timeout=PATIENCE_S)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "cert", tmp_path / "key")
    with coming_to_a_false_slave(netmodel) as (master, peer):
        port = peer.getsockname()[1]
        with suppress(ssl.SSLError, ConnectionError), context.wrap_socket(peer, server_side=True) as tls:
            tls.recv(1000)
        result = master.finish()
    assert result.code == 2, result
    assert f"what listens on port {port} is not a netmodel slave" in result.err


def test_a_master_that_stops_in_its_handshake_is_left(netmodel: Netmodel) -> None:
    """The deadline of a hello is that of the handshake, too."""
    with netmodel.slave(env={"NETMODEL_KEY": KEY}) as slave:
        for said in (b"\x16", b"\x16\x03\x01\x02\x00\x01"):
            began = time.monotonic()
            with socket.create_connection(("127.0.0.1", slave.port)) as idle:
                idle.sendall(said)
                idle.settimeout(PATIENCE_S)
                assert idle.recv(100) == b""
            assert 2.5 < time.monotonic() - began < 9, "not the 10 s of whoever says hello, and nothing more"


def test_a_slave_of_an_older_version_is_told_from_a_wrong_key(netmodel: Netmodel) -> None:
    with coming_to_a_false_slave(netmodel) as (master, peer):
        assert peer.recv(1) == b"\x16"
        peer.sendall(in_the_clear(b'["refuse",{"code":"protocol","text":"a message longer than 65536 bytes"}]'))
        result = master.finish()
    assert result.code == 2, result
    assert "refused: it is of a version that knows no keys: use the same version of netmodel on both" in result.err


def test_nothing_but_a_refusal_is_taken_in_the_clear(netmodel: Netmodel) -> None:
    """Nobody on the way can have a master with a key talk without it."""
    with coming_to_a_false_slave(netmodel) as (master, peer):
        peer.sendall(in_the_clear(b'["welcome",{"protocol":4,"version":"1","hostname":"x","no_auth":true}]'))
        result = master.finish()
        peer.settimeout(PATIENCE_S)
        said = b""
        with suppress(ConnectionError):
            while data := peer.recv(65536):
                said += data
    assert result.code == 2, result
    assert "an answer without the key" in result.err
    assert b"hello" not in said and b"profile" not in said
