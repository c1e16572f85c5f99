# SPDX-License-Identifier: Apache-2.0
"""Studies between two hosts: over a real sshd, in namespaces, and with a slave that somebody else has started."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import statistics
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import NETMODEL, argv, rows
from far import HERE, THERE, Far, second_host

from netmodel_lab.machine import KEEP, MARK, after_mark, strip_banner
from netmodel_lab.spec import HostSpec, parse_host, place_mistake

KILLS = int(os.environ.get("NETMODEL_LAB_KILLS") or 3)
IS_PROOF = KILLS >= 20
SAME = ("point", "cell", "block", "seq", "attempt", "epoch", "ok", "d.type", "d.place", "d.num_flows")
SWEEP = """\
study: 1
name: sweep
hosts: {{master: local, slave: {{at: "{slave}", copy: yes}}}}
profile: tcp_rr
params: {{test_length: {length}}}
dimensions:
  - {{name: type, zip: [{{profile: tcp_rr}}, {{profile: tcp_stream, params: {{buffer_size: 64k}}}}]}}
  - {{name: place, values: ["0", "0/1"]}}
  - {{name: num_flows, values: [{flows}]}}
repeat: {repeat}
order: {{seed: 3}}
"""


@pytest.fixture(scope="module")
def far(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Far]:
    with second_host(tmp_path_factory.mktemp("far")) as found:
        yield found


def write_sweep(far: Far) -> Path:
    """2 x 2 x 2 points; with as many kills as the proof has, 2 x 2 x 4 x 3 of them."""
    path = far.folder / "sweep.yaml"
    flows, repeat = ("1, 2, 4, 8", 3) if IS_PROOF else ("1, 2", 1)
    path.write_text(SWEEP.format(slave=far.spec, flows=flows, repeat=repeat, length="50ms"))
    return path


# --- what is written ---


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("local", HostSpec()),
        ("ns:a", HostSpec(kind="ns", ns="a")),
        ("ssh:root@b:2222,ns=x,copy=yes", HostSpec(kind="ssh", target="root@b", port=2222, ns="x", copy_program=True)),
        ("at:10.0.0.1:20001,key_file=k", HostSpec(kind="at", target="10.0.0.1", port=20001, key_file="k")),
        ("at:[fd00::1]:20001", HostSpec(kind="at", target="fd00::1", port=20001)),
        ("at:fd00::1", HostSpec(kind="at", target="fd00::1")),
    ],
)
def test_hosts(text: str, spec: HostSpec) -> None:
    assert parse_host(text) == spec


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("shh:b", "did you mean ssh?"),
        ("ns:", "has the name of a network namespace"),
        ("ssh:-oProxyCommand=x", "is no name and no address of a host"),
        ("ssh:b:99999", "a port is 1 to 65535"),
        ("ssh:b,adress=1.2.3.4", "did you mean address?"),
        ("local,copy=yes", "copy=yes is for hosts behind ssh"),
        ("ssh:b,copy=perhaps", "must be yes or no"),
        ("local,key_file=x", "key_file is for at:ADDRESS"),
    ],
)
def test_hosts_that_are_none(text: str, says: str) -> None:
    with pytest.raises(ValueError) as error:
        parse_host(text)
    assert says in str(error.value)


def test_places() -> None:
    for good in ("near", "far/none", "0-3+8", "0/1", "spread"):
        assert place_mistake(good) is None
    assert "did you mean near?" in (place_mistake("neer") or "")
    assert place_mistake("0,1")


def test_what_a_login_shell_says_first(tmp_path: Path) -> None:
    assert after_mark(f"Welcome\n{MARK}\n{{}}\n") == "{}\n"
    assert after_mark("Welcome\n") is None
    path = tmp_path / "result"
    path.write_text(f"Welcome\n{MARK}\n{{}}\n")
    strip_banner(path)
    strip_banner(path)
    assert path.read_text() == "{}\n"


# --- over ssh ---


def test_hosts_check(far: Far) -> None:
    done = far.run(argv("hosts", "check", f"{far.spec},copy=yes", "local"))
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{far.spec}: netmodel ")
    assert f"veth0 (veth): {THERE}" in done.stdout
    assert "\nlocal: netmodel " in done.stdout
    done = far.run(argv("hosts", "check", far.spec, f"ssh:{THERE}:1"))
    assert done.returncode == 3
    assert done.stdout.splitlines() == [
        f"{far.spec}: not usable: slave ({far.spec}): netmodel: not found; copy=yes copies the program, "
        "netmodel=PATH names it",
        f"ssh:{THERE}:1: not usable: slave (ssh:{THERE}:1): ssh: connect to host {THERE} port 1: Connection refused",
    ]
    assert not far.is_clean()


def test_a_plan_is_checked(far: Far) -> None:
    """The host is reached, and nothing is made or copied there."""
    before = set(far.temporary.iterdir())
    words = ("plan", "tcp_rr", "place=0", "--repeat", "1", "--check", "--peer")
    done = far.run(argv(*words, f"{far.spec},netmodel={NETMODEL}"))
    assert done.returncode == 0, done.stderr
    assert f"\nslave {far.spec}: netmodel " in done.stdout
    assert "\nplace 0: CPUs master 0, slave 0\n" in done.stdout
    done = far.run(argv(*words, f"{far.spec},copy=yes"))
    assert done.returncode == 0, done.stderr
    assert f"\nslave {far.spec}: reached, {os.uname().machine}; netmodel is copied there when" in done.stdout
    assert "\nplace 0: CPUs master 0\n" in done.stdout
    done = far.run(argv(*words, far.spec))
    assert done.returncode == 3
    assert done.stderr == (
        f"netmodel-lab: slave ({far.spec}): netmodel: not found; copy=yes copies the program, netmodel=PATH names it\n"
    )
    assert set(far.temporary.iterdir()) == before
    assert not far.left()


def test_a_sweep_to_its_report(far: Far) -> None:
    path = write_sweep(far)
    done = far.run(argv("run", path, "-o", far.folder / "whole"))
    assert done.returncode == 0, done.stderr
    assert (far.folder / "whole" / "report.html").stat().st_size > 500_000
    found = rows(far.folder / "whole")
    assert len(found) == (48 if IS_PROOF else 8)
    assert all(row["ok"] for row in found)
    assert {row["profile"] for row in found} == {"tcp_rr", "tcp_stream"}
    for seq in range(1, len(found) + 1):
        folder = far.folder / "whole" / "runs" / f"{seq:06d}-a1"
        result = json.loads((folder / "result.json").read_text())
        assert [host["role"] for host in result["hosts"]] == ["master", "slave"]
        assert result["profile"]["params"]["host"] == THERE
        command = json.loads((folder / "command.json").read_text())
        assert command["argv"][command["argv"].index("--cpus") + 1] == "0"
        assert command["argv"][command["argv"].index("--slave-cpus") + 1] == command["place"][-1]
    manifest = json.loads((far.folder / "whole" / "manifest.json").read_text())
    assert manifest["epochs"][0]["hosts"]["slave"]["schema"] == "netmodel.probe/1"
    assert not list((far.folder / "whole").glob(".ssh-*"))
    assert not far.is_clean()


def test_no_key_is_seen(far: Far) -> None:
    """In no command line, and in no file of the study."""
    path = far.folder / "keys"
    words = argv("run", "tcp_rr", "--set", "test_length=1s", "--repeat", "1", "--peer", f"{far.spec},copy=yes")
    with far.start([*words, "-o", str(path), "--no-report"]) as lab:
        lines: set[str] = set()
        while lab.poll() is None:
            for entry in Path("/proc").glob("[0-9]*/cmdline"):
                try:
                    lines.add(entry.read_bytes().replace(b"\0", b" ").decode(errors="replace"))
                except OSError:
                    continue
            time.sleep(0.02)
    assert lab.returncode == 0
    assert any("--guard" in line and " -s " in line for line in lines)
    key = re.compile(r"(?<![0-9a-f])(?<!sha256\": \")[0-9a-f]{64}(?![0-9a-f])")
    ours = [line for line in lines if str(far.folder) in line or str(NETMODEL) in line or "--guard" in line]
    assert not [line for line in ours if key.search(line)]
    texts = [entry.read_text() for entry in path.rglob("*") if entry.is_file() and entry.name != "manifest.json"]
    assert not [text for text in texts if key.search(text)]


def test_killed_and_gone_on_with(far: Far) -> None:
    """SIGKILL at random moments: the rows of an undisturbed study, each once, and nothing left on either side."""
    path = write_sweep(far)
    whole, killed = far.folder / "whole", far.folder / "killed"
    if not whole.exists():
        assert far.run(argv("run", path, "-o", whole, "--no-report")).returncode == 0
    kills = 0
    draw = random.Random()
    verb: tuple[str | Path, ...]
    while kills < KILLS:
        begun = (killed / "manifest.json").exists()
        verb = ("resume", killed, "--no-report") if begun else ("run", path, "-o", killed, "--no-report")
        with far.start(argv(*verb)) as lab:
            try:
                lab.wait(draw.uniform(0.3, 6.0 if IS_PROOF else 3.0))
            except subprocess.TimeoutExpired:
                lab.kill()
                kills += 1
        if lab.returncode == 0:
            shutil.rmtree(killed)
    verb = ("resume", killed) if (killed / "manifest.json").exists() else ("run", path, "-o", killed)
    done = far.run(argv(*verb, "--no-report"))
    assert done.returncode == 0, done.stderr
    expected, found = ([[row[name] for name in SAME] for row in rows(folder)] for folder in (whole, killed))
    assert found == expected
    assert len(list((killed / "runs").iterdir())) == len(expected)
    assert not far.is_clean()


def test_the_folder_of_a_lab_that_was_gone_at_once(tmp_path: Path) -> None:
    """It was killed before it told the guard what to remove."""
    script = KEEP.replace("SIZE", "0").replace("LEASE", "5s").replace("PROGRAM", str(NETMODEL))
    environment = {"PATH": os.environ["PATH"], "TMPDIR": str(tmp_path)}
    done = subprocess.run(["sh", "-c", script], input="", capture_output=True, text=True, env=environment, check=False)
    made = [line for line in done.stdout.splitlines() if line.startswith(f"{tmp_path}/netmodel-lab.")]
    assert len(made) == 1, done
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("is_home_noexec", [False, True])
def test_where_programs_may_not_be_started(tmp_path: Path, is_home_noexec: bool) -> None:
    """The next folder is taken; where there is none, that is told."""
    probe = ["unshare", "--mount", "mount", "-t", "tmpfs", "-o", "noexec", "none", str(tmp_path)]
    if not shutil.which("unshare") or subprocess.run(probe, check=False, capture_output=True).returncode != 0:
        pytest.skip("cannot mount a small file system")
    program = NETMODEL.read_bytes()
    script = KEEP.replace("SIZE", str(len(program))).replace("LEASE", "5s").replace("PROGRAM", "netmodel")
    for name in ("tmp", "home/.cache"):
        (tmp_path / name).mkdir(parents=True)
    noexec = [tmp_path / "tmp", *([tmp_path / "home" / ".cache"] if is_home_noexec else [])]
    mounts = "".join(f"mount -t tmpfs -o noexec none {path} && " for path in noexec)
    environment = {"PATH": os.environ["PATH"], "TMPDIR": f"{tmp_path}/tmp", "HOME": f"{tmp_path}/home"}
    argv = ["unshare", "--mount", "sh", "-c", f'{mounts}exec sh -c "$0"', script]
    done = subprocess.run(argv, input=program, capture_output=True, env=environment, check=False)
    said = done.stdout.decode()
    if is_home_noexec:
        assert done.returncode == 3
        assert done.stderr.decode() == "no folder takes a program: all are full, or mounted noexec\n"
        assert not said
    else:
        assert said.startswith(f"{tmp_path}/home/.cache/netmodel-lab."), done
    assert not list((tmp_path / "home" / ".cache").iterdir())


@pytest.mark.parametrize("how", ["kill", "stop", "link"])
def test_what_was_started_ends(far: Far, how: str) -> None:
    """When the lab is killed or stopped, or the link is cut."""
    path = far.folder / f"ends-{how}"
    words = argv("run", "tcp_rr", "--set", "test_length=60s", "--repeat", "1", "--peer", f"{far.spec},copy=yes")
    stranger = subprocess.Popen(
        ["ip", "netns", "exec", far.namespace, NETMODEL, "-s", "-P", "0"], stderr=subprocess.DEVNULL
    )
    try:
        with far.start([*words, "-o", str(path), "--no-report"]) as lab:
            try:
                _wait(lambda: any(path.glob("runs/.tmp-*/result.json")))
                _wait(lambda: any(" -s " in line for line in far.left()))
                if how == "link":
                    subprocess.run(["ip", "-n", far.namespace, "link", "set", "veth0", "down"], check=True)
                else:
                    lab.send_signal(signal.SIGKILL if how == "kill" else signal.SIGSTOP)
                _wait(lambda: not [line for line in far.left() if "--guard" in line], 30)
                assert not list(far.temporary.glob("netmodel-lab.*"))
                assert stranger.poll() is None
            finally:
                subprocess.run(["ip", "-n", far.namespace, "link", "set", "veth0", "up"], check=True)
                lab.kill()
    finally:
        stranger.terminate()
        stranger.wait(10)


# --- elsewhere ---


def test_a_slave_of_others(far: Far, tmp_path: Path) -> None:
    key = tmp_path / "key"
    subprocess.run([NETMODEL, "--make-key", key], check=True)
    with subprocess.Popen(
        ["ip", "netns", "exec", far.namespace, NETMODEL, "-s", "-P", "20777", "--key-file", key],
        stderr=subprocess.PIPE,
        text=True,
    ) as slave:
        try:
            assert slave.stderr
            while "listening" not in slave.stderr.readline():
                pass
            words = ("tcp_rr", "num_flows=1,2", "--set", "test_length=50ms", "--repeat", "1", "--no-report")
            peer = f"at:{THERE}:20777"
            done = far.run(argv("run", *words, "-o", "at", "--peer", f"{peer},key_file={key}"))
            assert done.returncode == 0, done.stderr
            assert slave.poll() is None
            done = far.run(argv("run", *words, "-o", "at2", "--peer", peer))
            assert done.returncode == 4
        finally:
            slave.terminate()


def test_namespaces_and_swapped_roles(far: Far) -> None:
    here = far.prefix[-1]
    hosts = ("--host", f"ns:{here}", "--peer", f"ns:{far.namespace}")
    words = ("tcp_rr", "roles=as-is,swapped", "--set", "test_length=50ms", "--repeat", "1", "-o", "ns", "--no-report")
    done = subprocess.run(
        argv("run", *words, *hosts), cwd=far.folder, env=far.environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    found = {row["d.roles"]: row["seq"] for row in rows(far.folder / "ns")}
    for roles, address in (("as-is", THERE), ("swapped", HERE)):
        path = far.folder / "ns" / "runs" / f"{found[roles]:06d}-a1" / "result.json"
        assert json.loads(path.read_text())["profile"]["params"]["host"] == address


@pytest.mark.parametrize("role", ["master", "slave"])
def test_an_interface_is_claimed_where_it_is(far: Far, role: str) -> None:
    """The master's is found by the way to the slave; that of the same name in another namespace is another one."""
    namespace = far.prefix[-1] if role == "master" else far.namespace
    command = ["ip", "netns", "exec", namespace, str(NETMODEL), "--guard", "60s"]
    words = argv("run", "tcp_rr", "--set", "test_length=50ms", "--repeat", "1", "--no-report", "--peer")
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stderr=pipe, text=True, bufsize=1) as guard:
        assert guard.stdin and guard.stderr
        guard.stdin.write("claim veth0 another one\n")
        assert "claimed" in guard.stderr.readline()
        done = far.run([*words, f"{far.spec},copy=yes", "-o", f"claimed-{role}"])
        where = "local" if role == "master" else far.spec
        assert done.stderr == f"netmodel-lab: {role} ({where}): veth0: is being measured by another one\n"
        assert done.returncode == 3
        if role == "slave":
            done = far.run([*words, "local,dev=veth0", "-o", "not-claimed"])
            assert done.returncode == 0, done.stderr
        guard.stdin.close()


def test_latency_under_load_behind_a_queue(far: Far) -> None:
    """Streams fill a queue of 50 ms before a slow link; requests wait in it, and do not on the idle path."""
    ends = [far.prefix[-1], far.namespace]
    qdisc = [["tc", "-n", end, "qdisc", "add", "dev", "veth0", "root"] for end in ends]
    queue = ["tbf", "rate", "100mbit", "burst", "32k", "latency", "50ms"]
    if not shutil.which("tc") or any(subprocess.run([*words, *queue], check=False).returncode for words in qdisc):
        pytest.skip("tc cannot make a slow link")
    words = ("latency-under-load", "--set", "test_length=400ms", "--repeat", "3", "--seed", "1", "--no-report")
    command = argv("run", *words, "--host", f"ns:{ends[0]}", "--peer", f"ns:{ends[1]}", "-o", "queue")
    try:
        env = far.environment()
        done = subprocess.run(command, cwd=far.folder, env=env, capture_output=True, text=True, check=False)
    finally:
        for each in qdisc:
            subprocess.run([word if word != "add" else "del" for word in each], check=True)
    assert done.returncode in (1, 5), done.stderr  # on a machine that does much else, undecided
    waits: dict[str, list[float]] = {}
    for row in rows(far.folder / "queue"):
        waits.setdefault(row["d.load"], []).append(row["resp_p50_us"])
    assert len(waits) == 7
    for load in ("send-4", "send-16", "receive-4", "receive-16"):
        assert statistics.median(waits[load]) > 3 * statistics.median(waits["idle"])


def _wait(what: object, within_s: float = 60) -> None:
    deadline = time.monotonic() + within_s
    while not what():  # type: ignore[operator]
        assert time.monotonic() < deadline
        time.sleep(0.05)
