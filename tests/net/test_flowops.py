# SPDX-License-Identifier: Apache-2.0
"""What flowops move: by other names, files, with sizes that vary, and with long receives."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from nmtest import FOR_LONG, Json, Netmodel, assert_complete, assert_ends_agree, master_of, phase_of, wait_until

WriteProfile = Callable[..., Path]

OPEN = '<transaction><flowop type="connect" options="remotehost={host} protocol={protocol}"/></transaction>\n'
CLOSE = '<transaction><flowop type="disconnect"/></transaction>\n'
RR = (
    '<transaction name="rr" iterations="50">'
    '<flowop type="write" options="size=100"/><flowop type="read" options="size=3k"/></transaction>\n'
)


TRACED = {"ASAN_OPTIONS": "detect_leaks=0"}  # leaks are not found under a tracer


def op(kind: str, options: str = "") -> str:
    return f'<flowop type="{kind}" options="{options}"/>'


def times(iterations: int, *ops: str, name: str = "ops") -> str:
    return f'<transaction name="{name}" iterations="{iterations}">{"".join(ops)}</transaction>\n'


def connected(body: str, nthreads: int = 2, protocol: str = "tcp nodelay", host: str = "local") -> str:
    opened = OPEN.format(host=host, protocol=protocol)
    return f'<group nthreads="{nthreads}">\n{opened}{body}{CLOSE}</group>'


def check(document: Json) -> Json:
    """It has run to the end, and both ends have counted the same."""
    assert_complete(document)
    assert_ends_agree(document)
    return document


@pytest.mark.parametrize("protocol", ["tcp nodelay", "unix"])
def test_send_and_recv(netmodel: Netmodel, profile: WriteProfile, protocol: str) -> None:
    body = times(40, op("send", "size=300"), op("recv", "size=2m count=2"))
    phase = phase_of(check(netmodel.measure(profile(connected(body + RR, protocol=protocol)))), "ops")
    assert phase["bytes_sent"] == 2 * 40 * 300
    assert phase["bytes_received"] == 2 * 40 * 2 * (2 << 20)


def test_send_answers_what_accept_has_opened(netmodel: Netmodel, profile: WriteProfile) -> None:
    body = '<transaction iterations="9">' + op("accept", "remotehost=local") + op("recv", "size=5")
    body += op("send", "size=7") + op("disconnect") + "</transaction>"
    check(netmodel.measure(profile(f'<group nthreads="1">{body}</group>')))


# --- files ---


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A directory with a file that is much larger than the buffers of a socket, in a directory below."""
    folder = tmp_path / "files"
    (folder / "below").mkdir(parents=True)
    (folder / "empty").touch()
    (folder / "small").write_bytes(b"x" * 1000)
    (folder / "below" / "large").write_bytes(b"y" * 20_000_000)
    return folder


SIZES = (0, 1000, 20_000_000)


def is_sum(number: int, of: int) -> bool:
    """Whether so many files of SIZES have that many bytes together."""
    large, rest = divmod(number, SIZES[2])
    return rest % SIZES[1] == 0 and large + rest // SIZES[1] <= of


@pytest.mark.parametrize("protocol", ["tcp nodelay", "unix"])
@pytest.mark.parametrize("size", ["", "size=64k"])
def test_sendfile(netmodel: Netmodel, profile: WriteProfile, files: Path, protocol: str, size: str) -> None:
    body = times(12, op("sendfile", f"dir={files} {size}")) + RR
    document = check(netmodel.measure(profile(connected(body, protocol=protocol)), "--seed", "1"))
    sent = phase_of(document, "ops")["bytes_sent"]
    assert sent > SIZES[2] and is_sum(sent, 2 * 12)
    assert phase_of(document, "ops")["bytes_received"] == 0
    assert phase_of(document, "rr")["bytes_sent"] == 2 * 50 * 100


@pytest.mark.parametrize("protocol", ["tcp nodelay", "unix"])
def test_sendfilev(netmodel: Netmodel, profile: WriteProfile, files: Path, protocol: str) -> None:
    sends = op("sendfilev", f"dir={files} nfiles=5 size=300k count=2")
    body = times(3, op("write", "size=10"), sends, op("read", "size=20")) + RR
    document = check(netmodel.measure(profile(connected(body, protocol=protocol)), "--seed", "1"))
    phase = phase_of(document, "ops")
    assert phase["bytes_sent"] - 2 * 3 * 10 > SIZES[2]
    assert is_sum(phase["bytes_sent"] - 2 * 3 * 10, 2 * 3 * 5 * 2)
    assert phase["bytes_received"] == 2 * 3 * 20


def test_files_for_some_time_then_messages(netmodel: Netmodel, profile: WriteProfile, files: Path) -> None:
    timed = f'<transaction name="timed" duration="300ms">{op("sendfile", f"dir={files}")}</transaction>'
    document = check(netmodel.measure(profile(connected(timed + RR))))
    assert phase_of(document, "timed")["bytes_sent"] > 0
    assert phase_of(document, "rr")["transactions"] == 2 * 50


def test_files_go_into_nothing_too(netmodel: Netmodel, profile: WriteProfile, files: Path) -> None:
    """By a transport that sends by itself."""
    body = times(9, op("sendfile", f"dir={files}"), op("sendfilev", f"dir={files} nfiles=3 size=1k"))
    document = netmodel.measure(profile(connected(body, protocol="null")), "--seed", "1")
    assert_complete(document)
    sent = phase_of(document, "ops")["bytes_sent"]
    assert sent > SIZES[2] and is_sum(sent, 2 * 9 * 4)


def test_the_seed_chooses_the_files(netmodel: Netmodel, profile: WriteProfile, tmp_path: Path) -> None:
    for size in range(100):
        (tmp_path / "many").mkdir(exist_ok=True)
        (tmp_path / "many" / str(size)).write_bytes(b"z" * size**2)
    path = profile(connected(times(20, op("sendfile", f"dir={tmp_path / 'many'}"))))

    def sent(seed: int) -> int:
        number: int = phase_of(check(netmodel.measure(path, "--seed", str(seed))), "ops")["bytes_sent"]
        return number

    assert sent(7) == sent(7)
    assert len({sent(seed) for seed in range(4)}) == 4


def test_only_the_master_has_the_files(
    netmodel: Netmodel, profile: WriteProfile, files: Path, strace: str, tmp_path: Path
) -> None:
    trace = tmp_path / "trace"
    path = profile(connected(times(2, op("sendfile", f"dir={files}")), host="127.0.0.1"))
    prefix = (strace, "-f", "-e", "trace=%file", "-o", str(trace))
    with netmodel.slave("--once", prefix=prefix, env=TRACED) as slave:
        check(netmodel.measure(path, "-P", str(slave.port)))
        assert slave.process.finish().code == 0
    assert "openat" in trace.read_text()
    assert str(files) not in trace.read_text()


@pytest.mark.parametrize("kind", ["sendfile", "sendfilev"])
def test_a_directory_without_files(
    netmodel: Netmodel, profile: WriteProfile, tmp_path: Path, kind: str
) -> None:
    (tmp_path / "none" / "below").mkdir(parents=True)
    os.mkfifo(tmp_path / "none" / "fifo")
    path = profile(connected(times(1, op(kind, f"dir={tmp_path / 'none'}"))))
    result = netmodel.run("-m", path, code=1)
    wanted = f'{path}:5: error: <flowop {kind}> dir="{tmp_path}/none": there is no file in it that may be read'
    assert result.lines() == [wanted]


def has_open(pid: int, file: Path) -> bool:
    for descriptor in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(OSError):
            if descriptor.readlink() == file:
                return True
    return False


def assert_file_fails(netmodel: Netmodel, path: Path, file: Path, change: Callable[[], object], why: str) -> None:
    """A file changes while it is being sent."""
    with netmodel.started("-m", path, "--format", "json", "--timeout", FOR_LONG) as process:
        wait_until(lambda: has_open(process.pid, file))
        change()
        result = process.finish()
    assert result.code == 2, result
    cause = result.json()["run"]["incomplete_why"]
    assert re.search(rf"flowop sendfile at {re.escape(str(path))}:5: {why} \(\d flows?\)", cause), cause


SENDING = '<transaction name="ops" duration="20s">{}</transaction>\n'


def test_a_file_that_vanishes(netmodel: Netmodel, profile: WriteProfile, files: Path) -> None:
    path = profile(connected(SENDING.format(op("sendfile", f"dir={files}"))))
    file = files / "below" / "large"
    assert_file_fails(netmodel, path, file, file.unlink, "No such file or directory")


def test_a_file_that_shrinks(netmodel: Netmodel, profile: WriteProfile, tmp_path: Path) -> None:
    """It would take minutes, one byte a call."""
    file = tmp_path / "files" / "file"
    file.parent.mkdir()
    file.touch()
    os.truncate(file, 1_000_000_000)
    path = profile(connected(SENDING.format(op("sendfile", f"dir={file.parent} size=1"))))
    assert_file_fails(
        netmodel, path, file, lambda: os.truncate(file, 1), "a file has become shorter while it was sent"
    )


# --- sizes that vary ---


@pytest.mark.parametrize("protocol", ["tcp nodelay", "unix"])
def test_drawn_sizes_are_the_same_at_both_ends(netmodel: Netmodel, profile: WriteProfile, protocol: str) -> None:
    body = times(200, op("write", "size=rand(1,5k) count=3"), op("read", "size=rand(10,200k)")) + RR
    path = profile(connected(body, nthreads=4, protocol=protocol))
    phase = phase_of(check(netmodel.measure(path)), "ops")
    # The means of so many draws, with a margin of more than five deviations.
    assert phase["bytes_sent"] / (4 * 200 * 3) == pytest.approx(2560, rel=0.07)
    assert phase["bytes_received"] / (4 * 200) == pytest.approx(102405, rel=0.12)


@pytest.mark.parametrize(
    ("law", "mean", "margin"),
    [
        ("exp(4k;..1m)", 4096, 0.2),
        ("normal(8k,1k;..16k)", 8192, 0.03),
        ("lognormal(4k,0.5;..1m)", 4641, 0.12),
        ("pareto(1k,3;..1m)", 1536, 0.15),
        ("bimodal(100,9k,0.5)", 4658, 0.2),
        ("cdf(websearch;..100k)", 37000, 0.2),
    ],
)
def test_sizes_by_a_law_are_the_same_at_both_ends(
    netmodel: Netmodel, profile: WriteProfile, law: str, mean: float, margin: float
) -> None:
    body = times(300, op("write", f"size={law}"), op("read", f"size={law}"))
    phase = phase_of(check(netmodel.measure(profile(connected(body, nthreads=2)))), "ops")
    assert phase["bytes_sent"] / (2 * 300) == pytest.approx(mean, rel=margin)
    assert phase["bytes_received"] / (2 * 300) == pytest.approx(mean, rel=margin)


@pytest.mark.parametrize("protocol", ["tcp nodelay", "unix", "udp"])
def test_drawn_sizes_and_many_flows_of_a_worker(netmodel: Netmodel, profile: WriteProfile, protocol: str) -> None:
    """Each flow must be connected with the one that draws the same."""
    body = times(50, op("write", "size=rand(8,5k)"), op("read", "size=rand(10,6k)"))
    groups = connected(body, protocol=protocol).replace('nthreads="2"', 'nthreads="2" nflows="50"')
    document = netmodel.measure(profile(groups))
    assert_complete(document)
    if protocol != "udp":
        check(document)
        assert phase_of(document, "ops")["transactions"] == 50 * 50


def test_send_and_recv_over_udp(netmodel: Netmodel, profile: WriteProfile) -> None:
    body = times(50, op("send", "size=100"), op("recv", "size=1k"))
    document = netmodel.measure(profile(connected(body, protocol="udp")))
    assert_complete(document)
    assert phase_of(document, "ops")["bytes_sent"] == 2 * 50 * 100


def test_the_seed_decides_the_sizes(netmodel: Netmodel, profile: WriteProfile) -> None:
    sends = op("write", "size=rand(1,1m)")
    path = profile(connected(times(10, sends), nthreads=1) + connected(times(10, sends), nthreads=1))

    def sent(seed: int) -> tuple[int, int]:
        document = check(netmodel.measure(path, "--seed", str(seed)))
        assert document["run"]["seed"] == seed
        return (phase_of(document, "ops")["bytes_sent"], phase_of(document, "ops", 1)["bytes_sent"])

    assert sent(3) == sent(3)
    assert len({number for seed in (1, 2, 3) for number in sent(seed)}) == 6, "nor are two groups alike"


def test_drawn_think_times_change_no_size(netmodel: Netmodel, profile: WriteProfile) -> None:
    sends = op("write", "size=rand(1,64k)") + op("read", "size=exp(4k;..64k)")

    def moved(*thinks: str) -> list[int]:
        body = "".join(op("think", f"duration={think}") for think in thinks) + sends
        path = profile(connected(times(20, body)))
        phase = phase_of(check(netmodel.measure(path, "--seed", "3")), "ops")
        return [phase["bytes_sent"], phase["bytes_received"]]

    assert moved() == moved("exp(20us)") == moved("lognormal(10us,1;..1ms)", "rand(1us,30us)")


def test_sizes_by_the_table_of_a_file(netmodel: Netmodel, profile: WriteProfile, tmp_path: Path) -> None:
    """The slave is elsewhere, and has no such file."""
    table = tmp_path / "my.cdf"
    table.write_text("# packets\n1 1 0.5\n2 1 0.75\n10 1 1\n")
    path = profile(connected(times(300, op("write", f"size=cdf({table},100;step)")), host="127.0.0.1"))
    with netmodel.slave() as slave:
        document = check(netmodel.measure(path, "-P", str(slave.port)))
    sent = phase_of(document, "ops")["bytes_sent"]
    assert sent / (2 * 300) == pytest.approx(350, rel=0.2)
    table.write_text("1 0.5\n2 0.25\n3 1\n")
    run = netmodel.run("--check", "-m", path, code=1)
    assert f'{table}:2: error: "0.25": less than the probability before; they must not fall' in run.err


def test_drawn_sizes_and_a_slave_elsewhere(netmodel: Netmodel, profile: WriteProfile) -> None:
    body = times(100, op("send", "size=rand(1,3000)"), op("recv", "size=rand(1,3000)"))
    with netmodel.slave() as slave:
        check(netmodel.measure(profile(connected(body, nthreads=3, host="127.0.0.1")), "-P", str(slave.port)))


@pytest.mark.parametrize("range_", ["1,9000", "100,100"])
def test_drawn_sizes_for_some_time_leave_nothing(netmodel: Netmodel, profile: WriteProfile, range_: str) -> None:
    ends = op("write", f"size=rand({range_})")
    body = f'<transaction name="timed" duration="300ms">{ends}</transaction>\n' + RR
    document = check(netmodel.measure(profile(connected(body))))
    assert phase_of(document, "timed")["transactions"] > 0
    assert phase_of(document, "rr")["bytes_received"] == 2 * 50 * 3072


# --- long receives ---


def calls_of_slave(netmodel: Netmodel, strace: str, path: Path, folder: Path) -> int:
    """How often the slave has received data."""
    trace = folder / "trace"
    prefix = (strace, "-f", "-c", "-e", "trace=recvfrom", "-o", str(trace))
    with netmodel.slave("--once", prefix=prefix, env=TRACED) as slave:
        document = check(netmodel.measure(path, "-P", str(slave.port)))
        assert document["totals"]["bytes_sent"] == 2000 * 8192
        assert slave.process.finish().code == 0
    match = re.search(r"(\d+)(?: +\d+)? recvfrom$", trace.read_text(), re.MULTILINE)
    assert match, trace.read_text()
    return int(match[1])


def test_rsize_spares_calls(
    netmodel: Netmodel, profile: WriteProfile, strace: str, tmp_path: Path
) -> None:

    def path(rsize: str) -> Path:
        # The slave begins late, so that the messages wait for it.
        sends = op("write", f"size=8k count=20 {rsize}")
        body = times(100, sends, op("think", "duration=1ms at=slave"))
        return profile(connected(body, nthreads=1, host="127.0.0.1"), f"p{len(rsize)}")

    usual = calls_of_slave(netmodel, strace, path(""), tmp_path)
    fewer = calls_of_slave(netmodel, strace, path("rsize=128k"), tmp_path)
    assert usual > 1900
    assert fewer < usual / 3, (usual, fewer)


def test_rsize_is_followed_by_messages_without_residue(netmodel: Netmodel, profile: WriteProfile) -> None:
    body = times(77, op("write", "size=8k rsize=3m"), op("send", "size=100 rsize=150"), op("read", "size=1")) + RR
    phase = phase_of(check(netmodel.measure(profile(connected(body)))), "ops")
    assert phase["bytes_sent"] == 2 * 77 * (8192 + 100)
    assert phase["transactions"] == 2 * 77


def test_rsize_without_effect_is_told_once(netmodel: Netmodel, profile: WriteProfile) -> None:
    body = times(5, op("write", "size=8k rsize=8k"), op("read", "size=8k rsize=40k"))
    path = profile(connected(body))
    result = netmodel.run("-m", path, "--format", "json", code=0)
    check(result.json())
    assert result.lines() == [
        f"{path}:5: warning: <flowop read>: rsize has no effect: the slave sends what is received here, "
        "exactly `size` bytes",
    ]


@pytest.mark.parametrize(
    ("nthreads", "iterations", "ops", "sent", "received"),
    [
        (16, 10, op("write", "size=8k rsize=128k"), 8192, 0),
        (64, 4, op("write", "count=10 size=8k rsize=16k") + op("read", "count=10 size=8k rsize=40k"), 81920, 81920),
    ],
    ids=["iterations", "count"],
)
def test_rsize_as_profiles_for_uperf_have_it(
    netmodel: Netmodel, profile: WriteProfile, nthreads: int, iterations: int, ops: str, sent: int, received: int
) -> None:
    """uperf counts nothing at the slave in the first case, and interrupts it."""
    groups = (
        f'<group nthreads="{nthreads}">\n<transaction iterations="1">'
        f'{op("connect", "remotehost=local protocol=tcp wndsz=50k tcp_nodelay")}</transaction>\n'
        f"{times(iterations, ops)}{CLOSE}</group>"
    )
    document = check(netmodel.measure(profile(groups)))
    flows = master_of(document)["groups"][0]
    assert flows["bytes_sent"] == nthreads * iterations * sent
    assert flows["bytes_received"] == nthreads * iterations * received
