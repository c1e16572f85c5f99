# SPDX-License-Identifier: Apache-2.0
"""Every option of neper has its effect: by the system calls of both ends on neper's command lines, with it and without."""

from __future__ import annotations

import itertools
import os
import re
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from neper_words import keys_of, pair
from nmtest import TRACED, Netmodel, Process, free_port, trace_lines

STREAM = ("tcp_stream", "udp_stream")
ASK = ("tcp_rr", "tcp_crr", "udp_rr")
TCP = ("tcp_rr", "tcp_crr", "tcp_stream")
RR = ("tcp_rr", "udp_rr")
ALL = (*ASK, *STREAM)

FLOWS = 4
HOSTS = ("127.0.0.2", "127.0.0.3")
CALLS = (
    "bind,connect,listen,accept4,setsockopt,getsockopt,sendto,recvfrom,sendmmsg,recvmmsg,mmap,sched_setaffinity,"
    "epoll_ctl,epoll_wait,epoll_pwait,epoll_pwait2,ppoll"
)
DOOR = "64"  # events that who lets connections in takes
GREETING = re.compile('"nm(Hi|Wh|Ok)')  # what connections begin with
PASSES = 40
REQUEST, RESPONSE = 3000, 5000

# Below the ports that the kernel chooses; a row of its own for each run, also of other processes of pytest-xdist.
_processes = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
_this_process = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
_rows = itertools.count((os.getppid() if _processes > 1 else os.getpid()) * _processes + _this_process, _processes)


def row_of_ports() -> int:
    return 11000 + next(_rows) % (1000 // _processes * _processes) * 8


@dataclass(frozen=True)
class Call:
    thread: str
    name: str
    args: str
    result: int


class Trace:
    """What both ends on this host have called. The connecting end is the client's threads with flows."""

    def __init__(self, lines: list[str], port: int) -> None:
        found = (re.match(r"\.(\d+) (\w+)\((.*)\) += (-?\d+)", line) for line in lines)
        self.calls = [Call(m[1], m[2], m[3], int(m[4])) for m in found if m]
        self.port = port
        to = re.compile(rf"sin_port=htons\(({port}|{port + 1})\)")
        self.connects = [call for call in self.calls if call.name == "connect" and to.search(call.args)]
        self.connecting = {call.thread for call in self.connects}
        assert self.connecting

    def of(self, name: str, ours: bool | None = None, pattern: str = "") -> list[Call]:
        """Successful calls, of the connecting end, of the others, or all."""
        return [
            call
            for call in self.calls
            if re.fullmatch(name, call.name)
            and call.result >= 0
            and (ours is None or (call.thread in self.connecting) == ours)
            and re.search(pattern, call.args)
        ]

    def sent(self, ours: bool) -> list[int]:
        """What the sends of messages have moved."""
        return [call.result for call in self.of("sendto", ours, "MSG_DONTWAIT") if not GREETING.search(call.args)]


Run = Callable[..., Trace]


@pytest.fixture(scope="module")
def run(netmodel: Netmodel, strace: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    """Runs a workload under strace, the same words once only."""
    seen: dict[tuple[str, ...], Trace] = {}

    def traced(workload: str, *words: str) -> Trace:
        if (workload, *words) not in seen:
            where = tmp_path_factory.mktemp("trace") / "t"
            port = row_of_ports()
            prefix = (strace, "-ff", "-qq", "-e", f"trace={CALLS}", "-o", str(where))
            line = (workload, "-c", "-H", "local", "-P", str(port), *words)
            done = netmodel.run(*line, "--format", "json", prefix=prefix, env=TRACED, code=0)
            assert done.err == "", done
            assert done.json()["run"]["reconciled"] is not False
            seen[(workload, *words)] = Trace(trace_lines(where), port)
        return seen[(workload, *words)]

    yield traced


def length(workload: str) -> tuple[str, str]:
    return ("-l", f"-{PASSES}" if workload in ASK else "0.2")


def bare(run: Run, workload: str) -> Trace:
    """Without options; of tcp_rr, in which segments are sent at once by default, without that."""
    return run(workload, *length(workload), *(["--define", "no_delay=no"] if workload == "tcp_rr" else []))


def full(run: Run, workload: str) -> Trace:
    """With all that do not exclude each other."""
    words = ["-F", str(FLOWS), "-T", "2", "-L", ",".join(HOSTS), "--freebind", "-m", "100Mb"]
    if workload in TCP:
        words += ["--listen-backlog", "77", "--num-ports", "2", "-t", "10", "--no-delay", "--congestion-control", "reno"]
    if workload in ASK:
        words += ["-Q", str(REQUEST), "-R", str(RESPONSE)]
    if workload in ("tcp_rr", "tcp_crr"):
        words += ["-B", "2000"]
    if os.geteuid() == 0:
        words += ["-d", "--mark", "5"]
    return run(workload, *words, *length(workload))


# --- options of sockets ---

RATE = r'(\[12500000\]|" \\274\\276(\\0){5}")'  # 100 Mb/s in bytes, as strace writes it
RENO = rf'(\[{int.from_bytes(b"reno", "little")}\]|"reno")'
SOCKET_OPTIONS = [
    ("freebind", ALL, "IP_FREEBIND, [1]"),
    ("max-pacing-rate", ALL, f"SO_MAX_PACING_RATE, {RATE}, 8"),
    ("debug", ALL, "SO_DEBUG, [1]"),
    ("mark", ALL, "SO_MARK, [5]"),
    ("tcp-tx-delay", TCP, "TCP_TX_DELAY, [10]"),
    ("no-delay", TCP, "TCP_NODELAY, [1]"),
    ("congestion-control", TCP, f"TCP_CONGESTION, {RENO}"),
]


@pytest.mark.parametrize(
    ("workload", "name", "pattern"),
    [
        pytest.param(
            workload,
            name,
            re.sub(r"\[(\d+)\]$", r"\\[\1\\]", pattern),
            id=f"{workload}-{name}",
            marks=[pytest.mark.needs("root")] if name in ("debug", "mark") else [],
        )
        for name, workloads, pattern in SOCKET_OPTIONS
        for workload in workloads
    ],
)
def test_it_is_set_on_the_sockets_of_both_ends(run: Run, workload: str, name: str, pattern: str) -> None:
    given, without = full(run, workload), bare(run, workload)
    control = 2 if name == "no-delay" else 0  # the connection between master and slave has it as well
    assert len(without.of("setsockopt", None, pattern)) == control
    assert len(given.of("setsockopt", True, pattern)) >= FLOWS
    assert len(given.of("setsockopt", False, pattern)) >= FLOWS + control


@pytest.mark.parametrize("workload", TCP)
def test_a_delay_comes_after_the_handshake(run: Run, workload: str) -> None:
    """It must not be part of the time that connecting takes."""
    opened: set[str] = set()
    delayed = 0
    trace = full(run, workload)
    for call in trace.calls:
        fd = f"{call.thread} {call.args.split(',')[0]}"
        if call.name == "connect":
            opened.add(fd)
        if call.name == "setsockopt" and "TCP_TX_DELAY" in call.args and call.thread in trace.connecting:
            assert fd in opened
            delayed += 1
    assert delayed >= FLOWS


@pytest.mark.parametrize(
    ("workload", "words"),
    [
        ("tcp_rr", ("--reuseaddr",)),
        ("tcp_stream", ("-R",)),
        ("udp_stream", ("-R",)),
        ("tcp_crr", ("--define", "reuseaddr=yes")),
        ("udp_rr", ("--define", "reuseaddr=yes")),
    ],
)
def test_reuseaddr(run: Run, workload: str, words: tuple[str, ...]) -> None:
    pattern = r"SO_REUSEADDR, \[1\]"
    assert bare(run, workload).of("setsockopt", True, pattern) == []
    assert run(workload, *words, *length(workload)).of("setsockopt", True, pattern) != []


# --- addresses and ports ---


def binds(trace: Trace) -> list[tuple[str, int]]:
    """Addresses and ports that the connecting end has bound."""
    found = (re.search(r'htons\((\d+)\), sin_addr=inet_addr\("(.*?)"\)', call.args) for call in trace.of("bind", True))
    return [(m[2], int(m[1])) for m in found if m]


@pytest.mark.parametrize("workload", ALL)
def test_local_hosts(run: Run, workload: str) -> None:
    assert binds(bare(run, workload)) == []
    given = binds(full(run, workload))
    assert {port for _, port in given} == {0}
    shares = Counter(host for host, _ in given)
    assert set(shares) == set(HOSTS)
    assert workload == "tcp_crr" or shares == dict.fromkeys(HOSTS, FLOWS // 2)


@pytest.mark.parametrize("workload", ALL)
def test_source_port(run: Run, workload: str) -> None:
    base = row_of_ports()
    given = run(workload, "--source-port", str(base), "-F", "3", *length(workload))
    assert {port for _, port in binds(given)} == {base, base + 1, base + 2}


@pytest.mark.parametrize("workload", ALL)
def test_num_flows(run: Run, workload: str) -> None:
    """Each has a connection of its own; and a worker opens those of all its flows before it waits for one."""
    for trace, flows in (bare(run, workload), 1), (full(run, workload), FLOWS):
        assert workload == "tcp_crr" or len(trace.connects) == flows
        for thread in trace.connecting if workload in TCP else ():
            own = [call for call in trace.calls if call.thread == thread]
            opened = [at for at, call in enumerate(own) if call in trace.connects][: flows // len(trace.connecting)]
            assert not [call for call in own[opened[0] : opened[-1]] if re.fullmatch(r"epoll_p?wait2?|ppoll", call.name)]


@pytest.mark.parametrize("workload", TCP)
@pytest.mark.parametrize(
    ("words", "waits"), [((), False), (("--async-connect",), False), (("--define", "async_connect=no"), True)], ids=str
)
def test_async_connect(run: Run, workload: str, words: tuple[str, ...], waits: bool) -> None:
    """No call to connect waits by itself; without it nothing else is done before the connection is there."""
    trace = run(workload, "-F", str(FLOWS), "-T", "2", *words, *length(workload))
    assert len(trace.connects) >= FLOWS
    for thread in trace.connecting:
        own = [call for call in trace.calls if call.thread == thread]
        for call, following in itertools.pairwise(own):
            if call not in trace.connects:
                continue
            assert call.result == -1  # EINPROGRESS
            alone = rf"^\[{{fd={call.args.split(',')[0]}, events=POLLOUT}}\], 1, "
            polled = following.name == "ppoll" and re.search(alone, following.args) is not None
            assert polled == waits, (call, following)


@pytest.mark.parametrize("workload", ALL)
def test_num_threads(run: Run, workload: str) -> None:
    """On both sides."""
    moves = "sendto|sendmmsg|recvmmsg|recvfrom"
    for trace, count in (bare(run, workload), 1), (full(run, workload), 2):
        assert len(trace.connecting) == count
        sizes = r"iov_len=(65536|\d{3,})" if workload == "udp_stream" else "MSG_DONTWAIT, NULL|MSG_DONTWAIT.*NULL, 0$"
        others = {call.thread for call in trace.of(moves, False, sizes) if not GREETING.search(call.args)}
        assert len(others) == count, others


@pytest.mark.parametrize("workload", ALL)
def test_port(run: Run, workload: str) -> None:
    """The accepting end has the port that was given, by which the trace finds the flows."""
    trace = bare(run, workload)
    assert trace.of("bind", False, rf"htons\({trace.port}\)") != []
    assert all(f"htons({trace.port})" in call.args for call in trace.connects)


@pytest.mark.parametrize("workload", ALL)
def test_maxevents(run: Run, workload: str) -> None:
    """The most that a wait takes, at both ends; and no more are taken."""
    words = ("-F", str(FLOWS), *length(workload))
    given, least = run(workload, "--maxevents", "5", *words), run(workload, "--maxevents", "1", *words)
    for trace, most in (bare(run, workload), 256), (given, 5), (least, 1):
        waits = {ours: trace.of("epoll_wait|epoll_pwait2?", ours) for ours in (True, False)}
        asked = {ours: {re.search(r"[]\w], (\d+), ", call.args)[1] for call in calls} for ours, calls in waits.items()}  # type: ignore[index]
        assert asked[True] == {str(most)}
        assert asked[False] - {DOOR} == {str(most)}
        assert all(call.result <= most for call in waits[True])


@pytest.mark.parametrize(
    ("words", "edge"), [((), True), (("-E",), True), (("--define", "edge_trigger=no"), False)], ids=str
)
@pytest.mark.parametrize("workload", ALL)
def test_edge_trigger(run: Run, workload: str, words: tuple[str, ...], edge: bool) -> None:
    """Of the connections, at both ends. What runs without it does not spin: test_level.py."""
    if words == ("-E",) and workload not in STREAM:
        pytest.skip("neper does not have it")
    trace = run(workload, "-F", str(FLOWS), *words, *length(workload))
    told = [call for call in trace.of("epoll_ctl", None, "EPOLL_CTL_(ADD|MOD)") if "EPOLLRDHUP" in call.args]
    assert told and all(("EPOLLET" in call.args) == edge for call in told)


@pytest.mark.parametrize("workload", TCP)
def test_num_ports_and_listen_backlog(run: Run, workload: str) -> None:
    for trace, ports, backlog in (bare(run, workload), 1, 4096), (full(run, workload), 2, 77):
        wanted = {trace.port + number for number in range(ports)}
        to = Counter(int(m[1]) for call in trace.connects if (m := re.search(r"htons\((\d+)\)", call.args)))
        assert set(to) == wanted
        assert workload == "tcp_crr" or len(set(to.values())) == 1
        assert len(trace.of("listen", False, rf", {backlog}$")) == ports


def started(server: Process) -> None:
    server.wait_line("slave listening")


def test_host_and_control_port(netmodel: Netmodel, strace: str, tmp_path: Path) -> None:
    """The server binds the address, the client connects to it, at the port that both were given."""
    port = str(free_port())
    def prefix(name: str) -> tuple[str, ...]:
        return (strace, "-ff", "-qq", "-e", "trace=bind,connect", "-o", str(tmp_path / name))

    where = f'htons({port}), sin_addr=inet_addr("127.0.0.1")'
    with netmodel.started("tcp_rr", "--logtostderr", "-H", "127.0.0.1", "-C", port, prefix=prefix("server"), env=TRACED) as server:
        started(server)
        words = ("-c", "-H", "127.0.0.1", "-C", port, "-l", "-5")
        netmodel.run("tcp_rr", *words, prefix=prefix("client"), env=TRACED, code=0)
        assert server.finish().code == 0
    for name, call in (("server", "bind"), ("client", "connect")):
        assert any(f" {call}(" in line and where in line for line in trace_lines(tmp_path / name)), name


@pytest.mark.usefixtures("need_ipv6")
@pytest.mark.needs("root", "mountns")
@pytest.mark.parametrize("workload", ["tcp_rr", "udp_stream"])
def test_ipv4_and_ipv6(netmodel: Netmodel, strace: str, tmp_path: Path, workload: str) -> None:
    """Of a name with addresses of both."""
    (tmp_path / "hosts").write_text("127.0.0.1 both.test\n::1 both.test\n")
    script = f'mount --bind {tmp_path}/hosts /etc/hosts && exec "$@"'
    with netmodel.started(workload, "--logtostderr", "-C", "0", "--sessions", "0") as server:
        port = server.wait_line(r"slave listening on \S+ port (\d+)")[1]
        for letter, family in ("-4", "AF_INET,"), ("-6", "AF_INET6,"):
            trace = tmp_path / f"t{letter}"
            call = (strace, "-ff", "-qq", "-e", "trace=connect", "-o", str(trace))
            words = ("-c", "-H", "both.test", "-C", port, letter, "-l", "0.1")
            prefix = ("unshare", "-m", "sh", "-c", script, "sh", *call)
            netmodel.run(workload, *words, prefix=prefix, env=TRACED, code=0)
            to = [line for line in trace_lines(trace) if "AF_INET" in line and "sin6_addr=::" not in line]
            assert any(f"htons({port})" in line for line in to)
            assert len(to) >= 2 and all(f"sa_family={family}" in line for line in to), to


@pytest.mark.parametrize(("words", "family"), [(("-4",), "AF_INET,"), ((), "AF_INET6,"), (("-6",), "AF_INET6,")], ids=str)
@pytest.mark.usefixtures("need_ipv6")
def test_the_family_of_a_server(
    netmodel: Netmodel, strace: str, tmp_path: Path, words: tuple[str, ...], family: str
) -> None:
    prefix = (strace, "-f", "-qq", "-e", "trace=bind", "-o", str(tmp_path / "t"))
    with netmodel.started("tcp_rr", "--logtostderr", "-C", "0", *words, prefix=prefix, env=TRACED) as server:
        started(server)
    assert re.search(rf" bind\(\d+, {{sa_family={family}", (tmp_path / "t").read_text())


# --- what is moved ---


@pytest.mark.parametrize("workload", ASK)
def test_request_and_response_size(run: Run, workload: str) -> None:
    one, given = bare(run, workload), full(run, workload)
    for trace, request, response in (one, 1, 1), (given, REQUEST, RESPONSE):
        assert sum(trace.sent(True)) == PASSES * request
        assert sum(trace.sent(False)) == PASSES * response


@pytest.mark.parametrize("workload", ["tcp_rr", "tcp_crr"])
def test_buffer_size_bounds_calls(run: Run, workload: str) -> None:
    given = full(run, workload)
    sizes = Counter(given.sent(True) + given.sent(False))
    assert sizes == {2000: 3 * PASSES, 1000: 2 * PASSES}
    unbound = run(workload, "-Q", str(REQUEST), "-R", str(RESPONSE), *length(workload))
    assert Counter(unbound.sent(True) + unbound.sent(False)) == {REQUEST: PASSES, RESPONSE: PASSES}


def lengths_of_datagrams(trace: Trace) -> set[int]:
    """Those that the kernel is told: of a train the whole, which is so many of the same length."""
    calls = trace.of("sendmmsg", True)
    assert calls
    return {int(size) for call in calls for size in re.findall(r"iov_len=(\d+)", call.args)}


def test_buffer_size_of_streams(run: Run) -> None:
    delay = ("-D", "20ms", "-l", "0.2")
    assert set(run("tcp_stream", *delay).sent(True)) == {131072}
    assert set(run("tcp_stream", "-B", "7000", *delay).sent(True)) == {7000}
    assert set(run("udp_stream", *delay).sent(True)) == {1400}
    assert set(run("udp_stream", "-B", "7000", *delay).sent(True)) == {7000}
    assert all(size % 1400 == 0 for size in lengths_of_datagrams(run("udp_stream", "-l", "0.1")))


@pytest.mark.parametrize("workload", ["tcp_rr", "udp_rr", "tcp_stream", "udp_stream"])
def test_delay_bounds_what_is_sent(run: Run, workload: str) -> None:
    """By a schedule: four passes in the time, and the first at once. Without it there are more, however slow the host."""
    few, many = (
        len([call for sends in ("sendto", "sendmmsg") for call in trace.of(sends, True) if not GREETING.search(call.args)])
        for trace in (run(workload, "-D", "50ms", "-l", "0.2"), run(workload, "-l", "0.2"))
    )
    assert 0 < few <= 5
    assert many > 10


@pytest.mark.parametrize(("words", "each"), [([], 1), (["--define", "batch_size=4"], 4)])
def test_one_datagram_for_each_delay(netmodel: Netmodel, words: list[str], each: int) -> None:
    """As neper sends them; unless a batch is asked for."""
    line = ("udp_stream", "-c", "-H", "local", "-D", "10000000", "-F", "2", "-l", "0.5", "--format", "json", *words)
    sent = netmodel.run(*line, code=0).json()["totals"]["messages"]["to_slaves"]["sent"]
    assert 80 * each <= sent <= 102 * each


def test_noburst_bounds_what_all_flows_send(run: Run) -> None:
    trace = run("tcp_rr", "--noburst", "50ms", "-F", "4", "-T", "2", "-l", "0.2")
    assert 0 < len(trace.sent(True)) <= 5


@pytest.mark.parametrize(("workload", "call"), [("tcp_stream", "sendto"), ("udp_stream", "sendto|sendmmsg")])
def test_zerocopy(run: Run, workload: str, call: str) -> None:
    plain = run(workload, "-D", "20ms", "-l", "0.2")
    given = run(workload, "-Z", "-D", "20ms", "-l", "0.2")
    for trace, wanted in (plain, False), (given, True):
        data = [one for one in trace.of(call, True) if not GREETING.search(one.args)]
        assert data and all(("MSG_ZEROCOPY" in one.args) == wanted for one in data)
        assert len(trace.of("setsockopt", True, r"SO_ZEROCOPY, \[1\]")) == wanted


def test_rx_zerocopy_and_skip_rx_copy(run: Run) -> None:
    wanted = {"": (False, False), "-z": (True, False), "--skip-rx-copy": (False, True)}
    for word, (mapped, dropped) in wanted.items():
        trace = run("tcp_stream", *([word] if word else []), "-D", "20ms", "-l", "0.2")
        assert (trace.of("getsockopt", False, "TCP_ZEROCOPY_RECEIVE") != []) == mapped
        assert (trace.of("mmap", False, "PROT_READ, MAP_SHARED") != []) == mapped
        assert (trace.of("recvfrom", False, "MSG_TRUNC") != []) == dropped


def test_no_cork(run: Run) -> None:
    """Is the default; what neper does is to cork."""
    for words, wanted in ((), False), (("--no-cork",), False), (("--define", "no_cork=no"), True):
        data = run("tcp_stream", *words, "-D", "20ms", "-l", "0.2").of("sendto", True, "MSG_DONTWAIT")
        assert data and all(("MSG_MORE" in call.args) == wanted for call in data)


@pytest.mark.parametrize(
    ("words", "ours", "theirs", "connects"),
    [
        ((), True, False, 1),
        (("-w",), True, False, 1),
        (("-r",), True, True, 1),
        (("-r", "-w"), True, True, 1),
        (("-r", "--define", "enable_write=no"), False, True, 1),
        (("-M",), False, True, 1),
        (("--split-bidir",), True, True, 2),
    ],
    ids=str,
)
def test_who_sends(run: Run, words: tuple[str, ...], ours: bool, theirs: bool, connects: int) -> None:
    trace = run("tcp_stream", *words, "-D", "20ms", "-l", "0.2")
    assert (sum(trace.sent(True)) > 0, sum(trace.sent(False)) > 0) == (ours, theirs)
    assert len(trace.connects) == connects


@pytest.mark.parametrize("words", [(), ("--time-wait",)], ids=str)
def test_time_wait(run: Run, words: tuple[str, ...]) -> None:
    """Without it each connection is closed by a reset."""
    resets = run("tcp_crr", *words, *length("tcp_crr")).of("setsockopt", True, "SO_LINGER, {l_onoff=1, l_linger=0}")
    assert len(resets) == (0 if words else PASSES)


# --- the process ---


def test_pin_cpu_and_pin_numa(run: Run) -> None:
    """A thread that visits CPUs, to read how long they slept, has no flows."""
    trace = bare(run, "tcp_rr")
    assert not [call for call in trace.of("sched_setaffinity") if call.thread in trace.connecting]
    allowed = sorted(os.sched_getaffinity(0))
    for word in ("-U", "-N"):
        trace = run("tcp_rr", word, "-F", "2", "-T", "2", "-l", "-10")
        calls = [call for call in trace.of("sched_setaffinity") if call.thread in trace.connecting]
        cpus = [int(m[1]) for m in (re.search(r"\[(\d+)\]", call.args) for call in calls) if m]
        assert {call.thread for call in calls} == trace.connecting
        assert len(cpus) == 2 and set(cpus) <= set(allowed)
        assert word == "-N" or set(cpus) == set(allowed[:2])


def test_a_dry_run_calls_nobody(netmodel: Netmodel, strace: str, tmp_path: Path) -> None:
    prefix = (strace, "-ff", "-qq", "-e", "trace=%network,clone,clone3,fork,vfork", "-o", str(tmp_path / "t"))
    netmodel.run("tcp_rr", "-c", "-H", "local", "-n", "-F", "3", prefix=prefix, env=TRACED, code=0)
    assert trace_lines(tmp_path / "t") == []


def test_logtostderr(netmodel: Netmodel) -> None:
    words = ("tcp_rr", "-c", "-H", "local", "-l", "-5")
    assert netmodel.run(*words, code=0).err == ""
    assert "connected to local" in netmodel.run(*words, "--logtostderr", code=0).err
    port = str(free_port())
    with netmodel.started("tcp_rr", "-C", port, "--logtostderr") as server:
        started(server)
        netmodel.run("tcp_rr", "-c", "-H", "127.0.0.1", "-C", port, "-l", "-5", code=0)
        assert len(server.finish().lines()) > 1


def test_nolog(netmodel: Netmodel) -> None:
    """Nothing but errors, not even of options without an effect."""
    words = ("tcp_rr", "-c", "-H", "local", "-l", "-5", "--magic", "7")
    assert "--magic: has no effect" in netmodel.run(*words, code=0).err
    assert netmodel.run(*words, "--nolog", code=0).err == ""
    done = netmodel.run(*words, "--nolog", "--logtostderr", code=1)
    assert "--logtostderr and --nolog: only one of them can be" in done.err


def test_stime_use_proc(netmodel: Netmodel) -> None:
    """What others do in the system counts, and only then."""
    with subprocess.Popen(["dd", "if=/dev/zero", "of=/dev/null", "bs=1M"], stderr=subprocess.DEVNULL) as other:
        try:
            used = [
                float(keys["stime_end"]) - float(keys["stime_start"])
                for words in ((), ("-S",))
                for keys in [pair(netmodel, "tcp_rr", "-l", "1", "-D", "20ms", *words)]
            ]
        finally:
            other.kill()
    assert used[0] < used[1] / 2, used
    assert used[1] > 0.1


# --- options without an effect ---

IDLE = [
    ("magic", ALL, ["--magic", "5"]),
    ("nonblocking", ALL, ["--nonblocking"]),
    ("time-wait", ("tcp_rr", "tcp_stream", "udp_rr", "udp_stream"), ["--time-wait"]),
    ("listen-backlog", ("udp_rr", "udp_stream"), ["--listen-backlog", "5"]),
    ("buffer-size", ("udp_rr",), ["-B", "5"]),
    ("num-clients", ALL, ["--num-clients", "5"]),
]


@pytest.mark.parametrize("workload", ALL)
def test_what_has_none_is_told(netmodel: Netmodel, workload: str) -> None:
    """All of them at once; and the run is what it is without."""
    mine = [(name, words) for name, workloads, words in IDLE if workload in workloads]
    words = [word for _, given in mine for word in given]
    done = netmodel.run(workload, "-c", "-H", "local", "-l", "50ms", *words, code=0)
    told = [re.match(r"netmodel: warning: --([\w-]+): has no effect: \S", line) for line in done.lines()]
    assert [m and m[1] for m in told] == [name for name, _ in mine], done
    assert float(keys_of(done.out)["throughput"]) > 0


@pytest.mark.parametrize("workload", ALL)
def test_why_nonblocking_has_none(run: Run, workload: str) -> None:
    """No call on a flow waits."""
    trace = full(run, workload)
    data = [call for call in trace.of("sendto|recvfrom|sendmmsg|recvmmsg", True) if not GREETING.search(call.args)]
    assert data and all("MSG_DONTWAIT" in call.args for call in data)


# --- all of them ---

HERE = Path(__file__)
# Those whose effect is no system call, or whose tests are with others of their kind.
ELSEWHERE = {
    "num-clients": "test_neper_server.py::test_a_server_waits_for_as_many_clients_as_it_is_told",
    "suicide-length": "test_neper_command.py::test_a_run_ends_when_its_time_is_over",
    "interval": "test_neper_defects.py::test_the_interval_is_the_one_given",
    "all-samples": "test_neper_command.py::test_samples_have_neper_s_columns_first",
    "iostat-ms": "test_neper_command.py::test_lines_of_iostat_add_up",
    "wait-start": "test_neper_command.py::test_a_run_waits_before_it_starts",
    "tcp-fastopen": "test_neper_defects.py::test_fast_open_is_enabled_at_both_ends",
    "percentiles": "test_neper_defects.py::test_percentiles_may_be_many_and_come_twice",
    "test-length": "test_neper_command.py::test_a_number_of_transactions",
    "log-rtt": "test_neper_command.py::test_the_log_of_round_trips",
    "logrtt-entries-per-flow": "test_neper_command.py::test_the_log_of_round_trips",
    "throughput-opt": "test_neper_command.py::test_a_stream_in_another_unit",
    "client": "test_neper_command.py::test_a_client_and_a_server",
    "help": "test_neper_command.py::test_the_help_is_true",
    "version": "test_neper_command.py::test_versions",
}
WITH = {
    "test_local_hosts": "local-hosts",
    "test_source_port": "source-port",
    "test_num_flows": "num-flows",
    "test_num_threads": "num-threads",
    "test_async_connect": "async-connect",
    "test_edge_trigger": "edge-trigger",
    "test_port": "port",
    "test_maxevents": "maxevents",
    "test_num_ports_and_listen_backlog": "num-ports listen-backlog",
    "test_host_and_control_port": "host control-port",
    "test_ipv4_and_ipv6": "ipv4 ipv6",
    "test_request_and_response_size": "request-size response-size",
    "test_buffer_size_bounds_calls": "buffer-size",
    "test_delay_bounds_what_is_sent": "delay",
    "test_noburst_bounds_what_all_flows_send": "noburst",
    "test_zerocopy": "zerocopy",
    "test_rx_zerocopy_and_skip_rx_copy": "rx-zerocopy skip-rx-copy",
    "test_no_cork": "no-cork",
    "test_who_sends": "enable-read enable-write enable-tcp-maerts split-bidir",
    "test_time_wait": "time-wait",
    "test_reuseaddr": "reuseaddr",
    "test_pin_cpu_and_pin_numa": "pin-cpu pin-numa",
    "test_a_dry_run_calls_nobody": "dry-run",
    "test_logtostderr": "logtostderr",
    "test_nolog": "nolog",
    "test_stime_use_proc": "stime-use-proc",
}


@pytest.mark.parametrize("workload", [*ALL, "psp_rr", "psp_crr", "psp_stream"])
def test_every_option_has_a_test(netmodel: Netmodel, workload: str) -> None:
    """One that exists; those of psp_* have theirs in tests/vm, with the profiles that are tcp_* otherwise."""
    proven = {name for names in WITH.values() for name in names.split()} | set(ELSEWHERE)
    proven |= {name for name, _, _ in SOCKET_OPTIONS} | {name for name, _, _ in IDLE}
    known = globals()
    assert all(name in known for name in WITH)
    for place in ELSEWHERE.values():
        file, name = place.split("::")
        assert f"\ndef {name}(" in (HERE.parent / file).read_text(), place
    listed = re.findall(r"^  (?:-\w|  ) --([\w-]+)", netmodel.run(workload, "-h", code=0).out, re.MULTILINE)
    assert len(listed) > 30
    assert set(listed) <= proven, set(listed) - proven


@pytest.mark.parametrize("name", ["rr", "crr", "stream"])
def test_profiles_of_psp_are_those_of_tcp(netmodel: Netmodel, name: str) -> None:
    """So that what is proven of an option here is so there: same parameters, which are the same options."""

    def program(protocol: str) -> str:
        words = Path(netmodel.env["NETMODEL_PROFILES"], f"{protocol}_{name}.xml").read_text()
        words = " ".join(words[words.index("<group") :].split())
        for other in ('<flowop type="secure"/> ', ' pipeline="$pipeline"', ' arrivals="$arrivals"'):
            words = words.replace(other, "")
        return words.replace("protocol=psp", "protocol=tcp")

    def params(protocol: str) -> list[list[str]]:
        rows = [line.split()[:3] for line in netmodel.run("-m", f"{protocol}_{name}", "--params").out.splitlines()]
        return [row for row in rows if row[0] not in ("version", "pipeline", "arrivals", "engine")]

    assert program("psp") == program("tcp")
    assert params("psp") == params("tcp")
