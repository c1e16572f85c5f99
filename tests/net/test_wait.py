# SPDX-License-Identifier: Apache-2.0
"""Workers that spin instead of sleeping, those that sleep for no longer than they ask, and CPUs that do not sleep meanwhile."""

from __future__ import annotations

import os
import re
import struct
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from failing import IN_PHASE, LONG, started
from nmtest import (
    PROFILES,
    Json,
    Netmodel,
    Slave,
    assert_complete,
    assert_ends_agree,
    at_most,
    children,
    defines,
    master_of,
    traced,
    wait_until,
)

pytestmark = pytest.mark.alone

WriteProfile = Callable[..., Path]
DEVICE = Path("/dev/cpu_dma_latency")
CPUIDLE = Path("/sys/devices/system/cpu/cpuidle")


@pytest.mark.parametrize(
    ("name", "flows"),
    [*((name, flows) for name in ("tcp_rr", "udp_rr") for flows in (1, 4)), ("tcp_crr", 4), ("tcp_stream", 4), ("udp_stream", 4)],
)
def test_spinning_workers_do_not_sleep(netmodel: Netmodel, name: str, flows: int) -> None:
    document = netmodel.measure(name, *defines(wait="spin", num_flows=flows, test_length="500ms"))
    assert_complete(document)
    if name.startswith("tcp"):
        assert_ends_agree(document)
    passes = document["totals"]["transactions"]
    assert passes > 20
    # The main thread sleeps and wakes up all the same, some ten times.
    assert all(host["rusage"]["nvcsw"] < 60 + passes // 20 for host in document["hosts"])


def test_a_spinning_profile_of_everything_ends(netmodel: Netmodel, profile: WriteProfile) -> None:
    path = profile(
        """<group nthreads="2" wait="spin">
  <transaction iterations="20"><flowop type="connect" options="remotehost=local protocol=unix"/>
    <flowop type="write" options="size=100k"/><flowop type="read" options="size=10"/>
    <flowop type="think" options="duration=1ms"/><flowop type="disconnect"/></transaction>
  <transaction duration="100ms" rate="100"><flowop type="think" options="duration=1us"/></transaction>
</group>"""
    )
    document = netmodel.measure(path)
    assert_complete(document)
    counted, paced = (phase["transactions"] for phase in document["groups"][0]["phases"])
    assert counted == 40
    assert 0 < paced <= 20


def test_limits_of_waits_hold_while_spinning(netmodel: Netmodel, profile: WriteProfile) -> None:
    """Each answer comes after 50 ms, and is waited for 20 ms."""
    path = profile(
        """<group nthreads="1" wait="spin">
  <transaction iterations="1"><flowop type="connect" options="remotehost=local protocol=udp"/></transaction>
  <transaction iterations="150"><flowop type="write" options="size=64"/><flowop type="read" options="size=64"/>
  </transaction>
  <transaction iterations="10"><flowop type="write" options="size=64"/>
    <flowop type="think" options="duration=50ms at=slave"/><flowop type="read" options="size=64 timeout=20ms"/>
  </transaction>
  <transaction iterations="1"><flowop type="disconnect"/></transaction></group>"""
    )
    document = netmodel.measure(path)
    assert_complete(document)
    phases = document["groups"][0]["phases"]
    assert document["totals"]["messages"]["timeouts"] >= 8
    assert phases[2]["transactions"] + phases[2]["messages"]["unanswered"] == 10
    assert 0.15 < phases[2]["seconds"]


def test_sleeps_are_of_nanoseconds(netmodel: Netmodel, strace: str, tmp_path: Path) -> None:
    """Until the next arrival, and without the 50 us that Linux may add: a worker asks for that before it waits."""
    where = tmp_path / "trace"
    args = defines(test_length="1s", arrivals="const(25/s)")
    _, lines = traced(netmodel, strace, PROFILES / "tcp_rr.xml", where, "prctl,epoll_wait,epoll_pwait,epoll_pwait2", args=args)
    waits = Counter[str]()
    exact = set()
    for line in lines:
        thread, _, call = line.partition(" ")
        if re.match(r"prctl\(PR_SET_TIMERSLACK, 1\) += 0", call):
            assert not waits[thread]
            exact.add(thread)
        elif match := re.search(r"^epoll_pwait2\(.*\{tv_sec=0, tv_nsec=(\d+)\}.* = \d", call):
            waits[thread] += int(match[1]) % 1000000 > 0
    assert len(exact) == 2  # the workers of both ends
    assert any(waits[thread] for thread in exact), waits  # a busy machine leaves few


def _driver() -> str:
    path = CPUIDLE / "current_driver"
    return path.read_text().strip() if path.exists() else "none"


need_idle_states = pytest.mark.needs("cpuidle")


def limit_us() -> int:
    with DEVICE.open("rb") as device:
        (value,) = struct.unpack("i", device.read(4))
    return int(value)


def holders(pids: list[int]) -> list[int]:
    """Those of the processes that have the device open."""
    return [pid for pid in pids if str(DEVICE) in {os.readlink(fd) for fd in Path(f"/proc/{pid}/fd").iterdir() if fd.is_symlink()}]


@contextmanager
def under_way(netmodel: Netmodel, slave: Slave, *params: str) -> Iterator[list[int]]:
    """The processes of both ends of a run."""
    with started(netmodel, "-P", str(slave.port), *defines(host="127.0.0.1", **LONG), *params) as master:
        master.wait_line(IN_PHASE)
        yield [master.pid, *slave.sessions()]


@need_idle_states
def test_idle_cpus_are_kept_awake_by_both_ends(netmodel: Netmodel, slave: Slave) -> None:
    before = limit_us()
    assert before > 0
    with under_way(netmodel, slave, *defines(wait="awake")) as ends:
        assert len(ends) == 2
        assert holders(ends) == ends
        assert limit_us() == 0
    wait_until(lambda: not slave.sessions(), what="the session has ended")
    assert limit_us() == before


@need_idle_states
def test_by_default_idle_cpus_may_sleep(netmodel: Netmodel, slave: Slave) -> None:
    before = limit_us()
    with under_way(netmodel, slave) as ends:
        assert len(ends) == 2
        assert not holders(ends)
        assert limit_us() == before


def idle_states() -> Iterator[Path]:
    yield from Path("/sys/devices/system/cpu").glob("cpu[0-9]*/cpuidle/state*")


def count_sleeps() -> int:
    """How often CPUs have entered a state that takes time to leave."""
    return sum(int((state / "usage").read_text()) for state in idle_states() if int((state / "latency").read_text()))


@need_idle_states
def test_no_message_wakes_a_cpu_that_is_awake(netmodel: Netmodel) -> None:
    """Other work only ever keeps CPUs from sleeping: of those that may sleep, the run with the most sleeps counts."""
    if not any((state / "name").read_text().strip() == "POLL" for state in idle_states()):
        pytest.skip("no idle state that polls")

    def sleeps(wait: str) -> float:
        """Of all CPUs, for each transaction."""
        before = count_sleeps()
        document = netmodel.measure("tcp_rr", "--cpus", "0", *defines(wait=wait, test_length="500ms"))
        assert_complete(document)
        idle.append(master_of(document)["cpu"]["idle"])
        return float((count_sleeps() - before) / document["totals"]["transactions"])

    idle: list[float] = []
    at_most(lambda: sleeps("awake"), 0.1)
    if len(os.sched_getaffinity(0)) == 1:
        return
    idle.clear()
    if max(sleeps("sleep") for _ in range(5)) <= 0.3:
        assert max(idle) < 0.3, "where CPUs are idle they sleep between two messages"
        pytest.skip("other work has kept the CPUs of this machine awake")


def in_a_namespace(*commands: str) -> tuple[str, ...]:
    """Where these have been run before."""
    return "unshare", "-m", "sh", "-c", " && ".join([*commands, 'exec "$@"']), "sh"


NOBODY = ("setpriv", "--reuid=65534", "--clear-groups", "--inh-caps=-all,+dac_read_search", "--ambient-caps=+dac_read_search")
EMPTY = "mount -t tmpfs tmpfs /dev"
LACKS = {
    "no driver": (in_a_namespace(f"mount --bind /dev/null {CPUIDLE}/current_driver"), r"this host has no cpuidle driver, and .*"),
    "no device": (in_a_namespace(EMPTY), r"No such file or directory \(containers must be given it\)"),
    "a file": (in_a_namespace(EMPTY, f"touch {DEVICE}"), "not the device of that name"),
    "null": (in_a_namespace(f"mount --bind /dev/null {DEVICE}"), "not the device of that name"),
    "zero": (in_a_namespace(f"mount --bind /dev/zero {DEVICE}"), "not the device of that name"),
    "not root": (NOBODY, r"Permission denied \(root may, or who may read and write it\)"),
}


@need_idle_states
@pytest.mark.needs("root", "mountns", "setpriv")
@pytest.mark.parametrize("lack", LACKS)
def test_a_host_that_cannot_says_why_before_anything_is_done(
    netmodel: Netmodel, tmp_path: Path, lack: str
) -> None:
    prefix, why = LACKS[lack]
    tmp_path.chmod(0o777)
    kept = tmp_path / "kept.json"
    result = netmodel.run("-m", "tcp_rr", "-o", kept, *defines(wait="awake"), prefix=prefix, code=1)
    assert re.fullmatch(rf'\S*tcp_rr\.xml:\d+: error: <group> wait="awake": (/dev/cpu_dma_latency: )?{why}\n', result.err), result.err
    assert not kept.exists()


@need_idle_states
@pytest.mark.needs("root", "setpriv")
def test_a_slave_that_cannot_says_why(netmodel: Netmodel) -> None:
    with netmodel.slave(prefix=NOBODY) as slave:
        params = defines(host="127.0.0.1", wait="awake", test_length="200ms")
        result = netmodel.run("-m", "tcp_rr", "-P", str(slave.port), *params, code=2)
        assert re.search(r'slave 127\.0\.0\.1: .*tcp_rr\.xml:\d+: error: <group> wait="awake": .*Permission denied', result.err), result.err
    assert not holders([os.getpid(), *children(os.getpid())])


@need_idle_states
@pytest.mark.parametrize("wait", ["sleep", "awake"])
def test_the_result_has_the_limit_in_force(
    netmodel: Netmodel, validate: Callable[[Json], None], profile: WriteProfile, wait: str
) -> None:
    path = profile(
        f"""<group nthreads="1" wait="{wait}">
  <transaction iterations="3"><flowop type="connect" options="remotehost=local protocol=tcp"/>
    <flowop type="write" options="size=9"/><flowop type="disconnect"/></transaction></group>"""
    )
    before = limit_us()
    document = netmodel.measure(path)
    validate(document)
    found = [host["facts"]["cpu_latency_limit_us"] for host in document["hosts"]]
    assert found == [0 if wait == "awake" else before] * 2
    for host in document["hosts"]:
        assert host["facts"]["cpuidle_driver"] == _driver()
        assert host["facts"]["cpuidle_governor"] == (CPUIDLE / "current_governor").read_text().strip()


@pytest.mark.needs("root", "mountns")
def test_without_the_device_the_limit_is_not_known(netmodel: Netmodel, validate: Callable[[Json], None]) -> None:
    prefix = in_a_namespace(EMPTY)
    document = netmodel.measure("tcp_rr", *defines(test_length="100ms"), prefix=prefix)
    validate(document)
    assert all(host["facts"]["cpu_latency_limit_us"] is None for host in document["hosts"])
