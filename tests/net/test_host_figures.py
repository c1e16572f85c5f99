# SPDX-License-Identifier: Apache-2.0
"""What a result tells of each host is what its kernel has counted: CPU, frequencies, interrupts, packets taken in."""

from __future__ import annotations

import os
import re
import resource
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from itertools import repeat
from pathlib import Path

import pytest

from nmtest import Json, Netmodel, Node, defines, master_of, slaves_of, slaves_on
from shaping import shape

WriteProfile = Callable[..., Path]
Validate = Callable[[Json], None]


@pytest.mark.alone
def test_hosts_are_described(netmodel: Netmodel) -> None:
    document = netmodel.measure("tcp_rr", *defines(test_length="300ms", num_flows=3))
    for host in document["hosts"]:
        facts = host["facts"]
        assert facts["hostname"] == os.uname().nodename
        assert facts["kernel"] == os.uname().release
        assert facts["cpus"] == len(os.sched_getaffinity(0))
        cpu = host["cpu"]
        assert cpu["n_cpus"] >= 1
        shares = [cpu[key] for key in ("user", "nice", "system", "softirq", "irq", "iowait", "steal", "idle")]
        assert sum(shares) == pytest.approx(1, abs=0.01)
        rusage = host["rusage"]
        assert 0 < rusage["utime_s"] + rusage["stime_s"] < 2
        assert rusage["maxrss_kb"] > 500
        connections = host["connections"]
        assert connections["count"] == 3
        srtt = connections["srtt_s"]
        assert 0 < connections["min_rtt_s"] <= srtt["max"] and srtt["min"] <= srtt["mean"] <= srtt["max"] < 1
        assert host["tcp"]["segments_sent"] >= document["totals"]["transactions"]
        loopback = next(nic for nic in host["nics"] if nic["name"] == "lo")
        assert loopback["tx_packets"] >= document["totals"]["transactions"]
    assert slaves_of(document)[0]["rtt_s"] > 0
    assert master_of(document)["rtt_s"] is None


def spent_by_children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def test_what_a_host_has_cost(netmodel: Netmodel, validate: Validate) -> None:
    """By what stands beside it in the result; over runs, and in a requirement."""
    words = ("--repeat", "2", "--require", "host.master.costs.cpu_per_transaction > 0")
    before_s = spent_by_children_s()
    document = netmodel.measure("tcp_rr", *defines(test_length="500ms"), *words)
    own_s = (spent_by_children_s() - before_s) / 2  # in each run, by both ends
    validate(document)
    assert [met["met"] for met in document["requirements"]] == [True]
    for host, over_runs in zip(document["hosts"], document["repeat"]["hosts"], strict=True):
        costs, counted = host["costs"], host["cpu"]["busy"] * host["cpu"]["n_cpus"]
        loopback = next(nic for nic in host["nics"] if nic["name"] == "lo")
        packets = loopback["rx_packets"] + loopback["tx_packets"]
        assert costs["nic"] == "lo"
        assert costs["cpu_per_packet_s"] == pytest.approx(counted * host["interrupts"]["seconds"] / packets)
        assert costs["packets_per_nic_interrupt"] is None  # loopback has no vectors
        assert over_runs["name"] == host["name"]
        assert over_runs["costs"]["cpu_per_gb_s"]["n"] == 2 and over_runs["costs"]["queue_interrupts_max"]["n"] == 0
    totals, master = document["totals"], master_of(document)
    bytes_moved = totals["bytes_sent"] + totals["bytes_received"]
    spent_s = master["costs"]["cpu_per_transaction_s"] * totals["transactions"]
    assert master["costs"]["cpu_per_gb_s"] * bytes_moved / 1e9 == pytest.approx(spent_s)
    # What others spend on this machine is in it; the kernel's ticks may miss some.
    assert 0.7 * own_s < spent_s <= 1.05 * master["cpu"]["n_cpus"] * totals["seconds"]
    # Both ends are this machine, and have moved the same.
    slave = slaves_of(document)[0]["costs"]
    assert slave["cpu_per_transaction_s"] == pytest.approx(master["costs"]["cpu_per_transaction_s"], rel=0.5)


def test_intervals_of_a_host_add_up_to_its_window(
    netmodel: Netmodel, nodes: Callable[[int], list[Node]], validate: Validate
) -> None:
    """To the unit: both are of the same readings. What the shaper has no room for is sent again, so the last flows may
    take their time; they have a second."""
    near, far = nodes(2)
    shape(near, 50_000_000)
    given = defines(test_length="2s", num_flows=16, request_size="64k", host=far.address)
    with slaves_on(netmodel, [far]):
        document = netmodel.measure("tcp_rr", *given, "--interval", "1s", prefix=near.prefix)
    validate(document)
    for host in document["hosts"]:
        whole = {
            "interrupts": host["interrupts"]["hardware"],
            "softirqs": host["softirqs"]["total"],
            "retransmitted_segments": host["tcp"]["retransmitted_segments"],
            "softnet_dropped": host["softnet"]["dropped"],
        }
        assert len(host["intervals"]) == 2
        assert {name: sum(row[name] for row in host["intervals"]) for name in whole} == whole
        assert all(row["softirqs"] > 0 for row in host["intervals"])
    assert master_of(document)["tcp"]["retransmitted_segments"] > 0


@pytest.mark.alone
def test_a_window_of_a_few_ticks_has_no_cpu_shares(
    netmodel: Netmodel, profile: WriteProfile, validate: Callable[[Json], None]
) -> None:
    body = (
        '<group><transaction iterations="1"><flowop type="think" options="duration=1ms"/>'
        '<flowop type="connect" options="remotehost=local protocol=tcp"/></transaction></group>'
    )
    document = netmodel.measure(profile(body), "-i", "1ms")
    validate(document)
    for host in document["hosts"]:
        if host["cpu"].get("n_cpus", 0) > 1 and document["run"]["elapsed_s"] > 0.01:
            pytest.skip("this machine was too busy for a short run")
        assert "10 ticks" in host["cpu"]["unavailable"]
        assert all(row["cpu"] is None for row in host["intervals"])


@pytest.mark.alone
def test_each_cpu(netmodel: Netmodel, validate: Validate) -> None:
    """Together they are the machine."""
    document = netmodel.measure("tcp_rr", *defines(test_length="1s"))
    validate(document)
    for host in document["hosts"]:
        cpus, whole = host["cpus"], host["cpu"]
        assert len({cpu["cpu"] for cpu in cpus}) == len(cpus) == whole["n_cpus"]
        for name in ("user", "system", "softirq", "idle", "busy"):
            # Each is read a moment later than their sum.
            assert sum(cpu[name] for cpu in cpus) / len(cpus) == pytest.approx(whole[name], abs=0.05), name
        assert all(sum(cpu.values()) - cpu["cpu"] - cpu["busy"] == pytest.approx(1) for cpu in cpus)


@pytest.mark.needs("root", "mountns", "perf")
@pytest.mark.alone
def test_cpu_by_the_hardware(netmodel: Netmodel, validate: Validate) -> None:
    """The kernel's clock of each CPU stands for the hardware's counters: as if no CPU were ever halted."""
    devices = "/sys/bus/event_source/devices"
    script = (
        f"mount -t tmpfs none {devices} && mkdir -p {devices}/msr/events && cd {devices}/msr && echo 1 >type && "
        "for event in mperf aperf tsc; do echo event=0x0 >events/$event; done && exec \"$@\""
    )
    prefix = ("unshare", "--mount", "sh", "-c", script, "sh")
    words = ("-m", "tcp_rr", *defines(test_length="500ms"), "--warmup", "100ms", "--format", "json")
    document = netmodel.run(*words, prefix=prefix, code=0).json()
    validate(document)
    for host in document["hosts"]:
        awake = host["unhalted"]
        assert awake["source"] == "msr"
        assert awake["busy"] == pytest.approx(1, rel=0.05)
        assert awake["n_cpus"] == host["cpu"]["n_cpus"]
        assert awake["frequency_hz"] == pytest.approx(1e9, rel=0.05)
        assert awake["awake_s"] == pytest.approx(awake["n_cpus"] * 0.5, rel=0.3)
        assert -0.1 < awake["hidden"] < 1.1


def feed(fifo: Path, over: threading.Event, frequencies: Iterable[int], after_s: float = 0) -> None:
    """Answers each reader with the next frequency, as a kernel that may be slow to tell it."""
    left = iter(frequencies)
    while not over.wait(0.005):
        try:
            file = os.open(fifo, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:  # nobody reads
            continue
        over.wait(after_s)
        with suppress(OSError):
            os.write(file, b"%d\n" % next(left, 0))
        os.close(file)
        while not over.wait(0.005) and has_reader(fifo):
            pass


def has_reader(fifo: Path) -> bool:
    try:
        os.close(os.open(fifo, os.O_WRONLY | os.O_NONBLOCK))
    except OSError:
        return False
    return True


@contextmanager
def told_by(folder: Path, frequencies: Iterable[int], after_s: float = 0) -> Iterator[tuple[str, ...]]:
    """What runs a program on a machine of one CPU with these frequencies, in kHz, one for each reading."""
    fifo = folder / "cpu0" / "cpufreq" / "scaling_cur_freq"
    fifo.parent.mkdir(parents=True)
    os.mkfifo(fifo)
    over = threading.Event()
    feeder = threading.Thread(target=feed, args=(fifo, over, frequencies, after_s))
    feeder.start()
    try:
        yield ("unshare", "--mount", "sh", "-c", 'mount --bind "$0" /sys/devices/system/cpu && exec "$@"', str(folder))
    finally:
        over.set()
        feeder.join()


@pytest.mark.needs("root", "mountns")
@pytest.mark.alone
def test_a_slow_frequency_is_read_outside_of_the_window(netmodel: Netmodel, tmp_path: Path) -> None:
    with told_by(tmp_path, repeat(2000000), 0.5) as prefix:
        document = netmodel.measure("tcp_rr", *defines(test_length="1s"), prefix=prefix)
    assert document["totals"]["seconds"] < 1.3
    known = [host["cpufreq"] for host in document["hosts"] if "unavailable" not in host["cpufreq"]]
    assert [entry["frequency_hz"] for entry in known] == [2e9] * len(known)


@pytest.mark.needs("root", "mountns")
def test_frequencies_are_of_a_warm_up_and_of_the_end(netmodel: Netmodel, tmp_path: Path) -> None:
    """Of the master alone, so that it is known who reads."""
    with netmodel.slave() as slave, told_by(tmp_path, (1000000, 3000000)) as prefix:
        words = ("-P", str(slave.port), *defines(host="127.0.0.1", test_length="600ms"), "--warmup", "300ms")
        document = netmodel.measure("tcp_rr", *words, prefix=prefix)
    assert master_of(document)["cpufreq"] == {"n_cpus": 1, "frequency_hz": 2e9}


@pytest.mark.needs("root", "mountns")
def test_frequencies_and_accounting_of_interrupts(netmodel: Netmodel, validate: Validate, tmp_path: Path) -> None:
    """Of a machine with cpufreq and a kernel that measures interrupts."""
    config = Path("/proc/config.gz")
    if not config.exists():
        pytest.skip("the kernel does not show its configuration")
    (tmp_path / "config").write_text("CONFIG_IRQ_TIME_ACCOUNTING=y\n")
    ticks = re.sub(r"^(cpu\d* +(?:\d+ ){5})\d+", r"\g<1>7", Path("/proc/stat").read_text(), flags=re.MULTILINE)
    (tmp_path / "stat").write_text(ticks)
    cpus = "/sys/devices/system/cpu"
    script = (
        f'mount --bind "$0/config" {config} && mount --bind "$0/stat" /proc/stat && '
        f"mount -t tmpfs none {cpus} && echo 0-1 >{cpus}/online && "
        f"mkdir -p {cpus}/cpu0/cpufreq {cpus}/cpu1/cpufreq && echo 2000000 >{cpus}/cpu0/cpufreq/scaling_cur_freq && "
        f'echo 3000000 >{cpus}/cpu1/cpufreq/scaling_cur_freq && exec "$@"'
    )
    prefix = ("unshare", "--mount", "sh", "-c", script, str(tmp_path))
    document = netmodel.run("-m", "tcp_rr", *defines(test_length="50ms"), "--format", "json", prefix=prefix, code=0).json()
    validate(document)
    for host in document["hosts"]:
        assert host["cpufreq"] == {"n_cpus": 2, "frequency_hz": 2.5e9}
        assert host["facts"]["irq_accounting"] == "on"


def interrupts_so_far() -> dict[str, int]:
    """The test's own reading of what the kernel has counted since it was started."""
    stat = dict(line.split(" ", 1) for line in Path("/proc/stat").read_text().splitlines())
    counts = {"hardware": int(stat["intr"].split()[0]), "context_switches": int(stat["ctxt"])}
    for line in Path("/proc/softirqs").read_text().splitlines()[1:]:
        kind, numbers = line.split(":")
        counts[kind.strip().lower()] = sum(map(int, numbers.split()))
    counts["total"] = sum(counts.values()) - counts["hardware"] - counts["context_switches"]
    return counts


@pytest.mark.needs("softirqs")
@pytest.mark.parametrize("embedded", [True, False], ids=["embedded", "slave"])
def test_interrupts_of_the_window(netmodel: Netmodel, validate: Validate, embedded: bool) -> None:
    words = defines(num_transactions=20000, num_flows=4, test_length="30s")
    with nullcontext() if embedded else netmodel.slave() as slave:
        if slave:
            words += ["-P", str(slave.port), *defines(host="127.0.0.1")]
        before, begin = interrupts_so_far(), time.monotonic()
        document = netmodel.measure("tcp_rr", *words)
        after, elapsed = interrupts_so_far(), time.monotonic() - begin
    validate(document)
    assert len(document["hosts"]) == 2
    for host in document["hosts"]:
        counts = host["interrupts"] | host["softirqs"]
        assert 0 < counts.pop("seconds") == host["interrupts"]["seconds"] <= elapsed
        assert set(counts) == set(before)
        for name, count in counts.items():
            assert 0 <= count <= after[name] - before[name], name
        assert sum(counts[kind] for kind in before if kind in host["softirqs"]) == 2 * counts["total"]
        # A request and an answer each, of which some may come together.
        assert counts["net_rx"] >= document["totals"]["transactions"] / 2
        assert counts["context_switches"] > 0
        assert counts["hardware"] > 0


def vectors_so_far() -> dict[int, tuple[str, int]]:
    """The test's own reading of /proc/interrupts: each MSI vector by its number, with its name and its count."""
    head, *lines = Path("/proc/interrupts").read_text().splitlines()
    n_cpus, found = len(head.split()), {}
    for line in lines:
        number, _, rest = line.partition(":")
        words = rest.split()
        if number.strip().isdecimal() and "MSI" in line and Path(f"/sys/kernel/irq/{number.strip()}").exists():
            found[int(number)] = (words[-1], sum(map(int, words[:n_cpus])))
    return found


def write_through(path: Path, over: threading.Event) -> None:
    """Has the disk interrupt."""
    with path.open("wb") as file:
        while not over.wait(0.01):
            file.write(b"x" * 4096)
            os.fsync(file.fileno())


@pytest.mark.needs("root", "mountns")
def test_each_vector_has_what_proc_interrupts_has(netmodel: Netmodel, validate: Validate, tmp_path: Path) -> None:
    """Vectors of this machine, as if they were those of the loopback interface."""
    before = vectors_so_far()
    if not before:
        pytest.skip("this machine has no MSI vectors")
    device = "/sys/class/net/lo/device"
    script = (
        f"mount -t tmpfs none /sys/class/net && mkdir -p {device}/net/lo {device}/msi_irqs && echo 1 >{device}/../ifindex "
        f"&& echo 00:00:00:00:00:00 >{device}/../address && cd {device}/msi_irqs && touch $0 && exec \"$@\""
    )
    prefix = ("unshare", "--mount", "sh", "-c", script.replace("$0", " ".join(map(str, before))), "sh")
    over = threading.Event()
    writer = threading.Thread(target=write_through, args=(tmp_path / "file", over))
    writer.start()
    try:
        document = netmodel.measure("tcp_rr", *defines(test_length="1s"), prefix=prefix)
    finally:
        over.set()
        writer.join()
    after = vectors_so_far()
    validate(document)
    for host in document["hosts"]:
        loopback = next(nic for nic in host["nics"] if nic["name"] == "lo")
        vectors = host["vectors"]
        assert {vector["irq"]: vector["name"] for vector in vectors} == {irq: name for irq, (name, _) in before.items()}
        assert {vector["nic"] for vector in vectors} == {"lo"}
        for vector in vectors:
            grown = after[vector["irq"]][1] - before[vector["irq"]][1]
            assert 0 <= vector["interrupts"] <= grown, vector["name"]
        assert sum(vector["interrupts"] for vector in vectors) == loopback["interrupts"]
        assert loopback["vectors"] == len(vectors)
        if sum(count for _, count in after.values()) - sum(count for _, count in before.values()) > 100:
            assert loopback["interrupts"] > 0


@pytest.mark.needs("root", "mountns", "softirqs")
def test_interrupts_that_cannot_be_read_are_not_none(netmodel: Netmodel, validate: Validate, tmp_path: Path) -> None:
    (tmp_path / "stat").write_text("cpu  9 9 9 9 9 9 9 9\nintr 0\nctxt 0\n")
    script = 'mount --bind /dev/null /proc/softirqs && mount --bind "$0" /proc/stat && exec "$@"'
    prefix = ("unshare", "--mount", "sh", "-c", script, str(tmp_path / "stat"))
    words = ("-m", "tcp_rr", *defines(test_length="100ms"), "--format")
    document = netmodel.run(*words, "json", prefix=prefix, code=0).json()
    validate(document)
    for entry in document["hosts"]:
        assert entry["interrupts"] == {"unavailable": "/proc/stat: the kernel does not count them"}
        assert entry["softirqs"] == {"unavailable": "/proc/softirqs: unknown form"}
    assert "switches" not in netmodel.run(*words, "text", "-k", prefix=prefix, code=0).out
    assert "softirqs" not in netmodel.run(*words, "kv", prefix=prefix, code=0).out


def taken_in_so_far() -> list[int]:
    """The test's own reading: packets taken in, dropped, and left for later."""
    rows = [line.split()[:3] for line in Path("/proc/net/softnet_stat").read_text().splitlines()]
    return [sum(int(row[column], 16) for row in rows) for column in range(3)]


@pytest.mark.needs("softnet")
def test_what_the_machine_took_in_and_waited_for(netmodel: Netmodel, validate: Validate) -> None:
    before, begin = taken_in_so_far(), time.monotonic()
    document = netmodel.measure("tcp_rr", *defines(num_transactions=2000, num_flows=4, test_length="30s"))
    after, elapsed = taken_in_so_far(), time.monotonic() - begin
    validate(document)
    for host in document["hosts"]:
        counts = host["softnet"]
        for name, old, new in zip(("processed", "dropped", "squeezed"), before, after, strict=True):
            assert 0 <= counts[name] <= (new - old) % 2**32, name
        assert counts["processed"] >= document["totals"]["transactions"]
        assert 0 < counts["seconds"] <= elapsed
        waited = host["pressure"]
        assert "unavailable" in waited or all(0 <= (waited[name] or 0) <= elapsed for name in waited)
        awake = host["unhalted"]
        assert "unavailable" in awake or 0 < awake["busy"] < 1.05
