# SPDX-License-Identifier: Apache-2.0
"""A slave as a service of its host: what its masters may make of it, and what it says."""

from __future__ import annotations

import fcntl
import os
import pwd
import re
import secrets
import signal
import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pytest

from nmtest import (
    FOR_LONG,
    PATIENCE_S,
    SOON_S,
    Netmodel,
    Node,
    Slave,
    assert_complete,
    children,
    defines,
    free_port,
    in_namespace,
    wait_until,
)

WriteProfile = Callable[..., Path]
MakeNodes = Callable[[int], list[Node]]


HERE = {"host": "127.0.0.1"}


@contextmanager
def far_slave(netmodel: Netmodel, hosts: list[Node], *args: str | Path) -> Iterator[tuple[Slave, list[str], Node]]:
    """A slave on another host, what a master needs to reach it, and the master's host."""
    near, far = hosts
    with netmodel.slave("--no-auth", *args, prefix=far.prefix) as slave:
        yield slave, ["-P", str(slave.port), *defines(host=far.address)], near


# --- files ---


def served(profile: WriteProfile, path: str | Path) -> Path:
    return profile(
        '<param name="host" type="host"/><group><transaction>'
        f'<flowop type="connect" options="remotehost=$host protocol=ssl cert={path}"/></transaction>'
        '<transaction iterations="1"><flowop type="write" options="size=1"/></transaction></group>'
    )


def test_a_master_of_another_host_names_no_files(netmodel: Netmodel, nodes: MakeNodes, profile: WriteProfile) -> None:
    with far_slave(netmodel, nodes(2)) as (_, to, near):
        for path in ("/etc/passwd", "/nowhere", "nowhere"):
            refused = netmodel.run("-m", served(profile, path), *to, prefix=near.prefix, code=2)
            assert f'the accept at line 3: cert="{path}": a slave reads no files' in refused.err
            assert "--file-root DIR" in refused.err


@pytest.fixture
def pem(tmp_path: Path) -> str:
    """A key and a certificate of it."""
    key, cert = tmp_path / "key.pem", tmp_path / "cert.pem"
    how = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=test")
    made = ("openssl", "req", "-x509", *how, "-keyout", str(key), "-out", str(cert))
    subprocess.run(made, check=True, capture_output=True, timeout=PATIENCE_S)
    return key.read_text() + cert.read_text()


def test_files_below_the_root_are_read(
    netmodel: Netmodel, nodes: MakeNodes, profile: WriteProfile, tmp_path: Path, pem: str
) -> None:
    root = tmp_path / "root"
    (root / "sub").mkdir(parents=True)
    inside = root / "sub" / "both.pem"
    inside.write_text(pem)
    (root / "link.pem").symlink_to("sub/both.pem")
    (tmp_path / "outside.pem").write_text(pem)
    with far_slave(netmodel, nodes(2), "--file-root", root) as (_, to, near):

        def run(path: str | Path, code: int) -> str:
            return netmodel.run("-m", served(profile, path), *to, prefix=near.prefix, code=code).err

        run(inside, 0)
        run("sub/both.pem", 0)
        assert 'cert="link.pem": a symbolic link' in run("link.pem", 2)
        for outside in (tmp_path / "outside.pem", "../outside.pem"):
            assert re.search(r'cert="\S+": not below the slave\'s --file-root /\S+', run(outside, 2))


def test_a_file_that_would_have_to_be_waited_for(netmodel: Netmodel, slave: Slave, profile: WriteProfile) -> None:
    """/proc/kmsg calls itself a regular file."""
    to = ["-P", str(slave.port), "--timeout", FOR_LONG, *defines(host="127.0.0.1")]
    result = netmodel.run("-m", served(profile, "/proc/kmsg"), *to, code=2)
    assert 'accept at line 3: cert="/proc/kmsg": ' in result.err
    assert result.seconds < SOON_S, result
    wait_until(lambda: not slave.sessions(), what="the session has ended")


def test_a_root_that_is_no_folder(netmodel: Netmodel, tmp_path: Path) -> None:
    result = netmodel.run("-s", "-P", "0", "--file-root", tmp_path / "none", code=1)
    assert f"--file-root {tmp_path}/none: No such file or directory" in result.err


# --- its end ---


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT"])
def test_a_slave_that_is_ended_tells_its_masters(netmodel: Netmodel, name: str) -> None:
    with netmodel.slave() as slave:
        args = ["-m", "tcp_rr", "-v", "-P", str(slave.port), *defines(**HERE, test_length="30s")]
        with netmodel.started(*args) as master:
            master.wait_line("phase 2 of 3 begins")
            slave.process.signal(getattr(signal, name))
            assert slave.process.finish().code == 0
            result = master.finish()
    assert result.code == 2, result
    assert f"the run is incomplete: slave 127.0.0.1: the slave was ended by {name}" in result.err


def test_a_slave_that_is_killed_is_told_of(netmodel: Netmodel) -> None:
    with netmodel.slave() as slave:
        args = ["-m", "tcp_rr", "-v", "-P", str(slave.port), *defines(**HERE, test_length="30s")]
        with netmodel.started(*args) as master:
            master.wait_line("phase 2 of 3 begins")
            slave.process.signal(signal.SIGKILL)
            result = master.finish()
    assert result.code == 2, result
    assert "slave 127.0.0.1: the slave was killed" in result.err


# --- what it says ---


def fill(pipe: int) -> None:
    os.set_blocking(pipe, False)
    with suppress(BlockingIOError):
        while True:
            os.write(pipe, b".")
    os.set_blocking(pipe, True)


def reaches(port: int) -> bool:
    with closing(socket.socket()) as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def test_a_slave_whose_log_is_not_read_serves_on(netmodel: Netmodel) -> None:
    port = free_port()
    read, write = os.pipe()
    fcntl.fcntl(write, fcntl.F_SETPIPE_SZ, 4096)
    fill(write)
    argv = [str(netmodel.binary), "-s", "-P", str(port), "--bind", "127.0.0.1"]
    slave = subprocess.Popen(argv, env=netmodel.env, stderr=write)
    try:
        wait_until(lambda: reaches(port), what="it listens")
        for _ in range(2):
            assert_complete(netmodel.measure("tcp_rr", "-P", str(port), *defines(**HERE, test_length="50ms")))
        os.read(read, 4096)
        assert_complete(netmodel.measure("tcp_rr", "-P", str(port), *defines(**HERE, test_length="50ms")))
        said = os.read(read, 4096).decode()
        assert re.match(r"netmodel: [3-9]\d* lines were dropped: standard error was not read in time\n", said), said
        fill(write)
        slave.send_signal(signal.SIGTERM)
        assert slave.wait(PATIENCE_S) == 0
    finally:
        slave.kill()
        slave.wait()
        os.close(read)
        os.close(write)


def test_strangers_do_not_fill_the_log(netmodel: Netmodel, slave: Slave) -> None:
    for _ in range(60):
        with socket.create_connection(("127.0.0.1", slave.port), timeout=PATIENCE_S) as stranger:
            stranger.sendall(b"GET / HTTP/1.0\r\n\r\n")
            with suppress(OSError):
                while stranger.recv(4096):
                    pass
    assert slave.process.err.count("no netmodel master") < 20
    slave.process.wait_line(r"no netmodel master")
    assert_complete(netmodel.measure("tcp_rr", "-P", str(slave.port), *defines(**HERE, test_length="50ms")))
    slave.process.wait_line("run [0-9a-f]{12}: profile")


# --- its processes ---


def status(pid: int) -> dict[str, str]:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


@pytest.mark.parametrize("embedded", [False, True])
def test_a_session_has_given_up_what_it_does_not_need(netmodel: Netmodel, slave: Slave, embedded: bool) -> None:
    to = [] if embedded else ["-P", str(slave.port), *defines(**HERE)]
    with netmodel.started("-m", "tcp_rr", "-v", *to, *defines(test_length="30s")) as master:
        master.wait_line("phase 2 of 3 begins")
        (session,) = children(master.pid) if embedded else slave.sessions()
        told = status(session)
        assert (told["NoNewPrivs"], told["Seccomp"]) == ("1", "2"), told
        limits = Path(f"/proc/{session}/limits").read_text()
        assert re.search(r"^Max core file size\s+0\s+0\s", limits, re.MULTILINE), limits
        assert status(master.pid)["Seccomp"] == "0"
        for number in (signal.SIGINT, signal.SIGINT):
            master.signal(number)


def test_a_session_leaves_no_core_dump(netmodel: Netmodel, slave: Slave) -> None:
    with netmodel.started("-m", "tcp_rr", "-v", "-P", str(slave.port), *defines(**HERE, test_length="30s")) as master:
        master.wait_line("phase 2 of 3 begins")
        (session,) = slave.sessions()
        os.kill(session, signal.SIGSEGV)
        slave.process.wait_line(r"was ended by signal 11 \(Segmentation fault\)$")
        assert master.finish().code == 2


# --- privileges ---


ROOT = os.geteuid() == 0
only_root = pytest.mark.needs("root")


def marked(profile: WriteProfile, options: str, opening: str = "connect", group: str = "") -> Path:
    return profile(
        f'<param name="host" type="host"/><group{group}><transaction>'
        f'<flowop type="{opening}" options="remotehost=$host {options}"/></transaction>'
        '<transaction iterations="1"><flowop type="write" options="size=1"/></transaction></group>'
    )


def assert_lends(netmodel: Netmodel, hosts: list[Node], path: Path, word: str) -> None:
    """What needs the privilege is refused without --allow, and runs with it."""
    with far_slave(netmodel, hosts) as (slave, to, near):
        refused = netmodel.run("-m", path, *to, prefix=near.prefix, code=2)
        assert f"refused: {word} at line 3 needs a privilege of the slave's" in refused.err
        assert f"with --allow {word} only" in refused.err
        assert slave.process.running()
    with far_slave(netmodel, hosts, "--allow", f"counters,{word}") as (_, to, near):
        netmodel.run("-m", path, *to, prefix=near.prefix, code=0)


@pytest.mark.parametrize(
    ("options", "word"), [("mark=5", "mark"), ("port=79", "port"), ("busy_poll=50us", "busy_poll"), ("debug", "debug")]
)
def test_a_slave_lends_its_privileges_by_name(
    netmodel: Netmodel, nodes: MakeNodes, profile: WriteProfile, options: str, word: str
) -> None:
    assert_lends(netmodel, nodes(2), marked(profile, options), word)


def listed(node: Node, name: str) -> set[str]:
    """The words of a list of the kernel's, as the host has it."""
    with in_namespace(node.namespace), suppress(FileNotFoundError):
        return set(Path(f"/proc/sys/net/ipv4/{name}").read_text().split())
    return set()


def test_a_slave_lends_congestion_controls_that_not_all_may_choose(
    netmodel: Netmodel, nodes: MakeNodes, profile: WriteProfile
) -> None:
    hosts = nodes(2)
    allowed = listed(hosts[1], "tcp_allowed_congestion_control")
    restricted = listed(hosts[1], "tcp_available_congestion_control") - allowed
    if not restricted:
        pytest.skip("all may choose each congestion control that this kernel has")
    path = marked(profile, f"cc={min(restricted)}")
    with far_slave(netmodel, hosts) as (_, to, near):
        refused = netmodel.run("-m", path, *to, prefix=near.prefix, code=2)
        assert "others need CAP_NET_ADMIN, which slaves lend with --allow cc\n" in refused.err
        may_have = re.search(r"Operation not permitted: every process may have ([\w ]+): others", refused.err)
        assert may_have and set(may_have[1].split()) == allowed
    with far_slave(netmodel, hosts, "--allow", "cc") as (_, to, near):
        netmodel.run("-m", path, *to, prefix=near.prefix, code=0)


def test_a_slave_lends_tls_in_the_kernel_while_its_module_is_not_there(
    netmodel: Netmodel, nodes: MakeNodes, profile: WriteProfile
) -> None:
    hosts = nodes(2)
    if "tls" in listed(hosts[1], "tcp_available_ulp"):
        pytest.skip("the module is loaded: everybody may use it")
    assert_lends(netmodel, hosts, marked(profile, "protocol=ssl ktls"), "ktls")


@pytest.mark.needs("root", "cpuidle")
def test_a_slave_lends_that_its_cpus_are_kept_awake(netmodel: Netmodel, nodes: MakeNodes, profile: WriteProfile) -> None:
    hosts = nodes(2)
    path = marked(profile, "tos=0", group=' wait="awake"')
    with far_slave(netmodel, hosts) as (_, to, near):
        refused = netmodel.run("-m", path, *to, prefix=near.prefix, code=2)
        assert 'refused: wait="awake" of the group at line' in refused.err
        assert "with --allow awake only" in refused.err
    with far_slave(netmodel, hosts, "--allow", "awake") as (_, to, near):
        netmodel.run("-m", path, *to, prefix=near.prefix, code=0)


def test_the_interface_is_that_of_the_connecting_end(
    netmodel: Netmodel, nodes: MakeNodes, profile: WriteProfile
) -> None:
    with far_slave(netmodel, nodes(2)) as (_, to, near):
        refused = netmodel.run("-m", marked(profile, "bind_to_device=eth0", "accept"), *to, prefix=near.prefix, code=2)
        assert "bind_to_device at line 3 needs a privilege" in refused.err
        assert "with --allow device only" in refused.err
        other = netmodel.run("-m", marked(profile, "bind_to_device=none"), *to, prefix=near.prefix)
        assert "--allow" not in other.err, other


def test_a_master_of_the_same_host_needs_no_permission(netmodel: Netmodel, slave: Slave, profile: WriteProfile) -> None:
    netmodel.run("-m", marked(profile, "mark=5"), "-P", str(slave.port), *defines(**HERE), code=0)


def test_what_a_slave_may_lend_is_listed(netmodel: Netmodel) -> None:
    result = netmodel.run("-s", "-P", "0", "--allow", "mark,root", code=1)
    words = "awake, busy_poll, cc, counters, debug, device, ktls, mark, port"
    assert f'--allow mark,root: "root" is none of {words}' in result.err


# CAP_IPC_LOCK, CAP_SYS_NICE and CAP_SYS_RESOURCE
KEPT = 1 << 14 | 1 << 23 | 1 << 24
CAP_NET_ADMIN = 1 << 12
CAP_PERFMON = 1 << 38


@only_root
@pytest.mark.parametrize(("word", "lent"), [("", 0), ("mark", CAP_NET_ADMIN), ("counters", CAP_PERFMON)])
def test_a_session_for_another_host_has_no_more_capabilities(
    netmodel: Netmodel, nodes: MakeNodes, word: str, lent: int
) -> None:
    args = ["--allow", word] if word else []
    with far_slave(netmodel, nodes(2), *args) as (slave, to, near):
        how = ["-m", "tcp_rr", "-v", *to, *defines(test_length="30s")]
        with netmodel.started(*how, prefix=near.prefix) as master:
            master.wait_line("phase 2 of 3 begins")
            (session,) = slave.sessions()
            told = status(session)
            kept = KEPT | lent
            assert int(told["CapEff"], 16) & ~kept == int(told["CapPrm"], 16) & ~kept == 0, told
            assert int(told["CapEff"], 16) & lent == lent


@only_root
def test_a_slave_becomes_another_user(netmodel: Netmodel) -> None:
    with netmodel.slave("--user", "nobody") as slave:
        args = ["-m", "tcp_rr", "-v", "-P", str(slave.port), *defines(**HERE, test_length="30s")]
        with netmodel.started(*args) as master:
            master.wait_line("phase 2 of 3 begins")
            user = pwd.getpwnam("nobody")
            for pid in (slave.pid, *slave.sessions()):
                told = status(pid)
                assert told["Uid"].split() == [str(user.pw_uid)] * 4
                assert told["Gid"].split() == [str(user.pw_gid)] * 4
                assert told["Groups"].split() in ([], [str(user.pw_gid)])
                assert int(told["CapEff"], 16) == int(told["CapPrm"], 16) == 0
            master.signal(signal.SIGINT)
            assert master.finish().code == 130
        assert "runs as root" not in slave.process.err


@only_root
@pytest.mark.parametrize(("name", "why"), [("root", "that is root"), ("no-such-user", "no such user")])
def test_a_user_that_cannot_be_become(netmodel: Netmodel, name: str, why: str) -> None:
    result = netmodel.run("-s", "-P", "0", "--user", name)
    assert result.code == 2, result
    assert len(result.lines()) == 1
    assert f"--user {name}: {why}" in result.err


@only_root
def test_root_is_warned(netmodel: Netmodel, slave: Slave) -> None:
    slave.process.wait_line("warning: the slave runs as root: --user NAME gives that up")


def memory_of(pid: int) -> Iterator[bytes]:
    with Path(f"/proc/{pid}/mem").open("rb", buffering=0) as memory:
        for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
            span, rights, *_ = line.split()
            first, last = (int(address, 16) for address in span.split("-"))
            if not rights.startswith("rw") or last - first > 1 << 28:
                continue
            memory.seek(first)
            with suppress(OSError):
                yield memory.read(last - first)


@only_root
def test_a_session_forgets_the_password_of_a_key(
    netmodel: Netmodel, slave: Slave, profile: WriteProfile, tmp_path: Path
) -> None:
    """The password goes over the control connection, and is of no use once the key is read."""
    password = "a-word-" + secrets.token_hex(8)
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-passout", f"pass:{password}", "-subj", "/CN=test"]
    made += ["-keyout", str(tmp_path / "key.pem"), "-out", str(tmp_path / "cert.pem")]
    subprocess.run(made, check=True, capture_output=True, timeout=PATIENCE_S)
    files = f"cert={tmp_path}/cert.pem key={tmp_path}/key.pem password={password}"
    path = profile(
        '<group><transaction><flowop type="connect" '
        f'options="remotehost=127.0.0.1 protocol=ssl {files}"/></transaction>'
        '<transaction duration="30s"><flowop type="write" options="size=1"/></transaction></group>'
    )
    with netmodel.started("-m", path, "-v", "-P", str(slave.port)) as master:
        master.wait_line("phase 2 of 2 begins")
        (session,) = slave.sessions()
        whole = b"".join(memory_of(session))
        found = [match.start() for match in re.finditer(password.encode(), whole)]
        assert not found, [whole[max(0, at - 80) : at + 60] for at in found]
        assert b"cert.pem" in whole, "other options are there"
