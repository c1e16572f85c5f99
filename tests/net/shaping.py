# SPDX-License-Identifier: Apache-2.0
"""Links that carry less than both ends could, and streams over them in each form of the command line."""

from __future__ import annotations

import math
import re
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from compose import connect, lasting, op, opened
from nmtest import Interface, Netmodel, Node, assert_complete, defines, slaves_of, slaves_on

WAYS = ("to_slaves", "to_master")
# Bytes of headers in each packet: Ethernet, IPv4, and TCP with timestamps or UDP.
TCP_HEADERS, UDP_HEADERS = 14 + 20 + 32, 14 + 20 + 8
FULL = 1448  # bytes of data in a full packet
OF_FLOW = 150  # bytes, at most, with which a flow begins, or that the control connection has of it


def shape(interface: Interface, rate: int, burst: int = 5_000) -> None:
    """It sends no more bits a second, but for so many bytes at once."""
    words = ["tc", "qdisc", "replace", "dev", interface.name, "root", "tbf"]
    words += ["rate", f"{rate}bit", "burst", str(burst), "limit", str(max(60_000, rate // 160))]
    subprocess.run([*interface.prefix, *words], capture_output=True, text=True, check=True, timeout=20)


def carried(interface: Interface) -> tuple[int, int]:
    """Bytes and packets that its shaper has let through."""
    words = ["tc", "-s", "qdisc", "show", "dev", interface.name]
    told = subprocess.run([*interface.prefix, *words], capture_output=True, text=True, check=True, timeout=20).stdout
    match = re.search(r"Sent (\d+) bytes (\d+) pkt", told)
    assert match, told
    return int(match[1]), int(match[2])


@dataclass
class Meter:
    """A counter of a namespace, read all the time."""

    # Seconds before and after it was read, bytes without headers.
    samples: list[tuple[float, float, int]] = field(default_factory=list)

    def begins(self, least: int) -> int:
        """The first sample that has so many bytes of the stream."""
        first = next((i for i, (_, _, b) in enumerate(self.samples) if b - self.samples[0][2] > least), None)
        assert first, f"no stream in {len(self.samples)} samples: {self.samples[-1:]}"
        return first

    def best_bits_per_s(self, least_s: float) -> float:
        """The highest rate from when the stream has begun to any moment from least_s after it on."""
        first = self.begins(20_000)
        at, _, before = self.samples[first - 1]
        return max((b - before) * 8 / (t - at) for _, t, b in self.samples[first:] if t - at >= least_s)

    def after(self, seconds: float) -> tuple[int, float]:
        """The least and the most that the stream may have had when it had lasted so long. Where the counter was read so
        rarely that it was not read after that any more, there is no most."""
        first = self.begins(5_000)
        earliest, latest = self.samples[first - 1][0] - BEGINS_S + seconds, self.samples[first][1] + seconds
        least = max(b for _, t, b in self.samples if t <= earliest)
        return least, next((b for t, _, b in self.samples if t >= latest), math.inf)


BEGINS_S = 0.2  # a stream begins no earlier before its first 5 kB


def sent(interface: Interface) -> str:
    folder = f"/sys/class/net/{interface.name}/statistics"
    return f"paste {folder}/tx_bytes {folder}/tx_packets"


# What kernels have of the streams that come, but for what is held back behind holes, or has come twice.
IN_ORDER = (
    "ss -Htin 'sport != :20000 and dport != :20000' | grep -o 'bytes_received:[0-9]*'"
    """ | awk -F: '{ sum += $2 } END { printf "%d 0", sum }'"""
)


@contextmanager
def metered(of: Interface, counter: str, headers: int = 0) -> Iterator[Meter]:
    """The counter tells bytes and packets, each of which has so many bytes of headers."""
    script = f"while sleep 0.05; do t=$EPOCHREALTIME; x=$({counter}); echo $t $EPOCHREALTIME $x; done"
    meter = Meter()
    # A pipe that nobody reads has room for the samples of two minutes.
    with tempfile.TemporaryFile("w+") as samples:
        process = subprocess.Popen([*of.prefix, "bash", "-c", script], stdout=samples)
        try:
            yield meter
        finally:
            process.terminate()
            process.wait(timeout=20)
        samples.seek(0)
        for begun, done, through, packets in map(str.split, samples):
            meter.samples.append((float(begun), float(done), int(through) - int(packets) * headers))
    assert meter.samples, "nothing was read of the counter"


@dataclass(frozen=True)
class Stream:
    """What was told of one."""

    bits_per_s: float  # received
    seconds: float  # of the window
    all_bytes: int | None = None  # received; None: this form does not tell


@dataclass(frozen=True)
class Setting:
    netmodel: Netmodel
    near: Node
    far: Node
    way: str
    streams: int
    seconds: int
    folder: Path
    timeout: str = "10s"

    @property
    def receives(self) -> str:
        return "yes" if self.way == "to_master" else "no"


PATIENCE_S = 400.0  # what 64 streams have in their buffers needs minutes at 1 Mb/s


def _from_json(setting: Setting, profile: str | Path, *options: str, **params: object) -> Stream:
    words = (*options, *defines(**params))
    with slaves_on(setting.netmodel, [setting.far]):
        document = setting.netmodel.measure(
            profile, *words, "--timeout", setting.timeout, prefix=setting.near.prefix, timeout=PATIENCE_S
        )
    assert_complete(document)
    host = slaves_of(document)[0] if setting.way == "to_slaves" else document["hosts"][0]
    way = document["totals"]["throughput"][setting.way]
    return Stream(way["received_bits_per_s"], document["totals"]["seconds"], host["counts"]["bytes_received"])


def _tcp(setting: Setting) -> Stream:
    more = {"num_flows": setting.streams, "test_length": f"{setting.seconds}s"}
    return _from_json(setting, "tcp_stream", host=setting.far.address, enable_tcp_maerts=setting.receives, **more)


def _udp(setting: Setting) -> Stream:
    more = {"num_flows": setting.streams, "test_length": f"{setting.seconds}s", "direction": DIRECTIONS[setting.way]}
    return _from_json(setting, "iperf", host=setting.far.address, protocol="udp", message_size=1470, **more)


DIRECTIONS = {"to_slaves": "write", "to_master": "read"}


def _profile(setting: Setting, protocol: str, *ways: str, seconds: int = 0) -> Path:
    """Streams in each of these ways; none: in that of the setting."""
    opening = connect(setting.far.address, f"protocol={protocol}")
    path, text = setting.folder / "stream.xml", ""
    for way in ways or (setting.way,):
        stream = lasting(f"{seconds or setting.seconds}s", op(DIRECTIONS[way], "size=8192"))
        text += opened(stream, strands=setting.streams, opening=opening)
    path.write_text(f'<?xml version="1.0"?>\n<profile name="upload">\n{text}</profile>\n')
    return path


def _tls(setting: Setting) -> Stream:
    return _from_json(setting, _profile(setting, "ssl"))


def _opposite(setting: Setting) -> Stream:
    """One way of two."""
    return _from_json(setting, _profile(setting, "tcp", *WAYS))


def _cooldown(setting: Setting) -> Stream:
    return _from_json(setting, _profile(setting, "tcp", seconds=setting.seconds + 1), "--cooldown", "1s")


UNITS = {"": 1, "K": 1e3, "M": 1e6, "G": 1e9}


def _uperf(setting: Setting) -> Stream:
    """What uperf's form says of the end that receives."""
    name = setting.far.address if setting.way == "to_slaves" else "master"
    with slaves_on(setting.netmodel, [setting.far]):
        words = ("-m", _profile(setting, "tcp"), "--format", "uperf", "--timeout", setting.timeout)
        out = setting.netmodel.run(*words, prefix=setting.near.prefix, timeout=PATIENCE_S, code=0).out
    match = re.search(rf"^{re.escape(name)} +([\d.]+)s +\S+ +([\d.]+)([KMG]?)b/s ", out, re.MULTILINE)
    assert match, out
    return Stream(float(match[2]) * UNITS[match[3]], float(match[1]))


def _neper(setting: Setting) -> Stream:
    """What neper's form says of the end that receives."""
    words = ["-F", setting.streams, "-l", setting.seconds, *(("-M",) if setting.way == "to_master" else ())]
    how = {"env": {"NETMODEL_AUTH": "none"}, "prefix": setting.far.prefix}
    with setting.netmodel.started("tcp_stream", "--logtostderr", **how) as server:
        server.wait_line("slave listening")
        client = ("tcp_stream", "-c", "-H", setting.far.address, *words)
        out = setting.netmodel.run(*client, prefix=setting.near.prefix, timeout=PATIENCE_S, code=0).out
        assert server.finish().code == 0
    keys = dict(line.split("=", 1) for line in out.splitlines() if "=" in line)
    key = "remote_throughput" if setting.way == "to_slaves" else "local_throughput"
    return Stream(float(keys[key]), float(keys["total_run_time"]))


FORMS: dict[str, Callable[[Setting], Stream]] = {
    "tcp_stream": _tcp,
    "TLS": _tls,
    "opposite": _opposite,
    "cooldown": _cooldown,
    "udp_stream": _udp,
    "uperf": _uperf,
    "neper": _neper,
}


@dataclass(frozen=True)
class Told:
    """A stream beside what is right: from the least to the most."""

    stream: Stream
    bytes: tuple[float, float]
    bits_per_s: tuple[float, float]
    link_bits_per_s: float  # without the headers of packets

    def fault(self) -> str:
        """What of it is wrong; "": nothing."""
        received, rate = self.stream.all_bytes, self.stream.bits_per_s
        if received is not None and not self.bytes[0] <= received <= self.bytes[1]:
            return f"{received} bytes received, and {self.bytes[0]:.0f} to {self.bytes[1]:.0f} are right"
        if not self.bits_per_s[0] <= rate <= self.bits_per_s[1]:
            right = f"and {self.bits_per_s[0]:.0f} to {self.bits_per_s[1]:.0f} are right"
            return f"{rate:.0f} b/s over a link of {self.link_bits_per_s:.0f} without headers, {right}"
        return ""


def over_link(setting: Setting, form: str, rate: int) -> Told:
    """Beside what the shaper lets through; where more of that is not received, beside what the receiving kernel has."""
    burst = max(5_000, rate // 2000)
    # Not where they are sent: Linux gives a connection up after tcp_retries2 half seconds in which a queue of this
    # host has dropped all that it has sent again, as of the last of 64 streams over 1 Mb/s.
    for node in (setting.near, setting.far):
        shape(node.port, rate, burst)
    receiver = setting.far if setting.way == "to_slaves" else setting.near
    headers = UDP_HEADERS if form == "udp_stream" else TCP_HEADERS
    counter = (
        (receiver, IN_ORDER) if form in ("opposite", "cooldown") else (receiver.port, sent(receiver.port), headers)
    )
    bytes_before, packets_before = carried(receiver.port)
    with metered(*counter) as meter:
        stream = FORMS[form](setting)
    bytes_after, packets_after = carried(receiver.port)
    through = bytes_after - bytes_before - (packets_after - packets_before) * headers
    link = rate * FULL / (FULL + headers)
    most = (link + burst * 8 / stream.seconds) * 1.005
    if form == "cooldown":
        least_bytes, most_bytes = meter.after(stream.seconds)
        least, most = least_bytes * 8 / stream.seconds, min(most, most_bytes * 8 / stream.seconds)
    else:
        least = min(link, meter.best_bits_per_s(setting.seconds))
    come = max(b for _, _, b in meter.samples) if form == "opposite" else through
    return Told(stream, (0.97 * come - OF_FLOW * setting.streams, through), (0.97 * least, most), link)
