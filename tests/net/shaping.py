# SPDX-License-Identifier: Apache-2.0
"""Links that carry less than both ends could, and streams over them in each form of the command line."""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from compose import connect, lasting, op, opened
from nmtest import Netmodel, Node, assert_complete, defines, slaves_of, slaves_on

WAYS = ("to_slaves", "to_master")
# Bytes of headers in each packet: Ethernet, IPv4, and TCP with timestamps or UDP.
TCP_HEADERS, UDP_HEADERS = 14 + 20 + 32, 14 + 20 + 8
FULL = 1448  # bytes of data in a full packet


def shape(node: Node, rate: int, burst: int = 5_000) -> None:
    """The node sends no more bits a second, but for so many bytes at once."""
    words = ["tc", "qdisc", "replace", "dev", "eth0", "root", "tbf"]
    words += ["rate", f"{rate}bit", "burst", str(burst), "limit", str(max(60_000, rate // 160))]
    subprocess.run([*node.prefix, *words], capture_output=True, text=True, check=True, timeout=20)


def carried(node: Node) -> tuple[int, int]:
    """Bytes and packets that the shaper of the node has let through."""
    told = subprocess.run(
        [*node.prefix, "tc", "-s", "qdisc", "show", "dev", "eth0"], capture_output=True, text=True, check=True, timeout=20
    ).stdout
    match = re.search(r"Sent (\d+) bytes (\d+) pkt", told)
    assert match, told
    return int(match[1]), int(match[2])


@dataclass
class Meter:
    """What the shaper of a node lets through, read all the time."""

    samples: list[tuple[float, int]] = field(default_factory=list)  # seconds, bytes without headers

    def best_bits_per_s(self, least_s: float) -> float:
        """The highest rate from when the stream has begun to any moment from least_s after it on."""
        first = next((i for i, (_, through) in enumerate(self.samples) if through - self.samples[0][1] > 20_000), None)
        assert first is not None, f"no stream in {len(self.samples)} samples: {self.samples[-1:]}"
        at, before = self.samples[max(first - 1, 0)]
        return max((b - before) * 8 / (t - at) for t, b in self.samples[first:] if t - at >= least_s)


@contextmanager
def metered(node: Node, headers: int) -> Iterator[Meter]:
    """Each packet has so many bytes of headers."""
    counters = "/sys/class/net/eth0/statistics/tx_bytes /sys/class/net/eth0/statistics/tx_packets"
    script = f"while sleep 0.05; do x=$(paste {counters}); echo $EPOCHREALTIME $x; done"
    meter = Meter()
    # A pipe that nobody reads has room for the samples of two minutes.
    with tempfile.TemporaryFile("w+") as samples:
        process = subprocess.Popen([*node.prefix, "bash", "-c", script], stdout=samples)
        try:
            yield meter
        finally:
            process.terminate()
            process.wait(timeout=20)
        samples.seek(0)
        meter.samples += [(float(at), int(through) - int(packets) * headers) for at, through, packets in map(str.split, samples)]
    assert meter.samples, "nothing was read of what the shaper lets through"


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

    @property
    def receives(self) -> str:
        return "yes" if self.way == "to_master" else "no"


PATIENCE_S = 400.0  # what 64 streams have in their buffers needs minutes at 1 Mb/s


def _from_json(setting: Setting, profile: str | Path, *options: str, **params: object) -> Stream:
    words = (*options, *defines(**params))
    with slaves_on(setting.netmodel, [setting.far]):
        document = setting.netmodel.measure(profile, *words, prefix=setting.near.prefix, timeout=PATIENCE_S)
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
        out = setting.netmodel.run(
            "-m", _profile(setting, "tcp"), "--format", "uperf", prefix=setting.near.prefix, timeout=PATIENCE_S, code=0
        ).out
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


# What comes twice as acknowledgements are lost among the streams of the other way, and what is held back behind holes when a
# window closes in the middle. All of that is received in the end.
TWICE, HELD_BACK = 0.03, 0.12
AMISS = {"opposite": TWICE, "cooldown": HELD_BACK}


@dataclass(frozen=True)
class Told:
    """A stream beside what the shaper let through, without the headers of its packets."""

    stream: Stream
    through: int  # bytes
    amiss: float  # the share of that which may not be in the figure, beside the usual 3 %
    link_bits_per_s: float
    burst: int  # bytes that may pass at once
    best_bits_per_s: float  # let through, over any window that begins with the stream and has all of its time

    def fault(self) -> str:
        """What of it is wrong; "": nothing."""
        received, rate = self.stream.all_bytes, self.stream.bits_per_s
        if received is not None and not (0.97 - min(self.amiss, TWICE)) * self.through <= received <= self.through:
            return f"{received} bytes received, and {self.through} let through"
        most = (self.link_bits_per_s + self.burst * 8 / self.stream.seconds) * 1.005
        if not (0.97 - self.amiss) * self.best_bits_per_s <= rate <= most:
            let = f"which let through {self.best_bits_per_s:.0f}"
            return f"{rate:.0f} b/s over a link of {self.link_bits_per_s:.0f} without headers, {let}"
        return ""


def over_link(setting: Setting, form: str, rate: int) -> Told:
    burst = max(5_000, rate // 2000)
    for node in (setting.near, setting.far):
        shape(node, rate, burst)
    sender = setting.near if setting.way == "to_slaves" else setting.far
    headers = UDP_HEADERS if form == "udp_stream" else TCP_HEADERS
    bytes_before, packets_before = carried(sender)
    with metered(sender, headers) as meter:
        stream = FORMS[form](setting)
    bytes_after, packets_after = carried(sender)
    through, packets = bytes_after - bytes_before, packets_after - packets_before
    payload = through - packets * headers
    link = rate * FULL / (FULL + headers)
    best = min(link, meter.best_bits_per_s(setting.seconds))
    return Told(stream, payload, AMISS.get(form, 0), link, burst, best)
