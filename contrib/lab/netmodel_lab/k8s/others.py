# SPDX-License-Identifier: Apache-2.0
"""The programs of others that measure beside netmodel, as k8s-netperf runs them: what each can do, and its commands."""

from __future__ import annotations

import xml.etree.ElementTree as tree
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from netmodel_lab.k8s.netperf_file import Test

NETMODEL = "netmodel"
FOLDER = "/profiles"  # of the files that go to the cluster
_NETPERF_KEYS = (
    "throughput,throughput_units,elapsed_time,local_bytes_sent,remote_bytes_recvd,local_send_calls,remote_recv_calls,"
    "rt_latency,mean_latency,p50_latency,p99_latency,max_latency,local_transport_retrans"
)


@dataclass(frozen=True)
class Target:
    """Where a client finds its server. data: the first port of its data; None: the program chooses."""

    address: str
    port: int
    data: int | None = None


@dataclass(frozen=True)
class Other:
    """option: of k8s-netperf, beside ours for the image. server, client: their commands. ports: how many a client has
    beside the one that it dials first; is_single: its server has one client at a time."""

    option: str
    image_option: str
    profiles: tuple[str, ...]
    version: tuple[str, ...]
    port: int
    server: Callable[[int], list[str]]
    client: Callable[[Test, Target], list[str]]
    ports: Callable[[int], int]
    is_single: bool = False
    has_file: bool = False
    tells_start: bool = False  # to less than a second; otherwise the kubelet alone does


# --- iperf3 ---


def _iperf3_client(test: Test, target: Target) -> list[str]:
    given = ["-J", "-P", test.parallelism, "-c", target.address, "-t", test.duration, "-l", test.messagesize]
    more = ["-u", "-b", "0"] if test.profile == "UDP_STREAM" else []
    return ["iperf3", *map(str, given), "-p", str(target.port), *more]


# --- netperf ---


def _netperf_client(test: Test, target: Target) -> list[str]:
    """Several at a time need a shell, which all images of netperf have: what each prints is printed whole."""
    stream = test.profile.endswith("_STREAM")
    own = ["-m", str(test.messagesize)] if stream else ["-r", f"{test.messagesize},{test.messagesize}"]
    own += ["-R", "1"] if test.profile == "UDP_STREAM" else []
    own += ["-b", str(test.burst)] if test.burst else []
    is_ipv4 = target.address.replace(".", "").isdigit()
    family = ["-6"] if ":" in target.address else ["-4"] if is_ipv4 else []  # of a name that which it has
    first = ["netperf", "-P", "0", *family, "-H", target.address, "-p", str(target.port), "-l", str(test.duration)]
    first += ["-t", test.profile, "--", "-k", _NETPERF_KEYS, *own]
    if test.parallelism == 1:
        return [*first, "-P", f",{target.data}"] if target.data else first
    port = f'-P ",$(({target.data} + i))"' if target.data else ""
    each = f'said=$("$@" {port} 2>&1) || said="$said\nFAILED=$?"; printf "%s\\n" "$said"'
    loop = f"i=0; while [ $i -lt {test.parallelism} ]; do ({each}) & i=$((i + 1)); done; wait"
    return ["sh", "-c", loop, "netperf", *first]


# --- uperf ---


def uperf_profile(test: Test) -> str:
    """Of one test. The address and the port are in the environment; its parser wants each element on a line. Bursts
    that are answered wait for nothing but the answer, as netmodel's do, and not for delayed acknowledgements."""
    size, protocol = test.messagesize, test.profile[:3].lower()
    bodies = {
        "STREAM": [("write", f"count=16 size={size}")],
        "RR": [("write", f"size={size}"), ("read", f"size={size}")],
        "STREAM_LAT": [("write", f"count=16 size={size}"), ("read", f"count=16 size={test.messagereadsize}")],
    }
    connect = f"remotehost=$h protocol={protocol} port=$p"
    connect += " tcp_nodelay" if test.profile == "TCP_STREAM_LAT" else ""
    profile = tree.Element("profile", name="netmodel-lab")
    group = tree.SubElement(profile, "group", nprocs=str(test.parallelism))
    for given, flowops in (
        ({"iterations": "1"}, [("connect", connect)]),
        ({"duration": f"{test.duration}s"}, bodies[test.profile.partition("_")[2]]),
        ({"iterations": "1"}, [("disconnect", "")]),
    ):
        transaction = tree.SubElement(group, "transaction", given)
        for kind, options in flowops:
            tree.SubElement(transaction, "flowop", {"type": kind, **({"options": options} if options else {})})
    tree.indent(profile)
    return '<?xml version="1.0"?>\n' + tree.tostring(profile, encoding="unicode") + "\n"


def uperf_file(test: Test) -> str:
    sizes = f"{test.messagesize}-{test.messagereadsize}"
    return f"uperf-{test.profile.lower().replace('_', '-')}-{sizes}-{test.parallelism}-{test.duration}.xml"


def _uperf_client(test: Test, target: Target) -> list[str]:
    return ["uperf", "-v", "-a", "-R", "-i", "1", "-m", f"{FOLDER}/{uperf_file(test)}", "-P", str(target.port)]


OTHERS: dict[str, Other] = {
    "netperf": Other(
        "--netperf",
        "--netperf-image",
        ("TCP_STREAM", "UDP_STREAM", "TCP_RR", "UDP_RR", "TCP_CRR", "SCTP_STREAM", "SCTP_RR"),
        ("netperf", "-V"),
        22800,
        lambda port: ["netserver", "-D", "-N", "-p", str(port)],
        _netperf_client,
        lambda parallelism: parallelism,
    ),
    "iperf3": Other(
        "--iperf",
        "--iperf-image",
        ("TCP_STREAM", "UDP_STREAM"),
        ("iperf3", "--version"),
        24800,
        lambda port: ["iperf3", "-s", "-p", str(port)],
        _iperf3_client,
        lambda _parallelism: 0,
        is_single=True,
    ),
    "uperf": Other(
        "--uperf",
        "--uperf-image",
        ("TCP_STREAM", "UDP_STREAM", "TCP_RR", "UDP_RR", "TCP_STREAM_LAT"),
        ("uperf", "-V"),
        26800,
        lambda port: ["uperf", "-s", "-v", "-P", str(port)],
        _uperf_client,
        lambda _parallelism: 1,
        has_file=True,
        tells_start=True,
    ),
}


def data_port(driver: str, port: int, lane: int, lanes: int, parallelism: int) -> int | None:
    """The first of a client's ports for its data; parallelism: the most of a run. None: those of its control."""
    other = OTHERS[driver]
    wanted = other.ports(parallelism)
    return port + control_ports(driver, lanes) + lane * wanted if wanted else None


def control_ports(driver: str, lanes: int) -> int:
    return lanes if OTHERS[driver].is_single else 1


def all_ports(driver: str, port: int, lanes: int, parallelism: int) -> Sequence[int]:
    """What a server of so many clients at a time listens on."""
    return range(port, port + control_ports(driver, lanes) + lanes * OTHERS[driver].ports(parallelism))


def files(drivers: Sequence[str], tests: Sequence[Test]) -> dict[str, str]:
    """Those that programs read, by their names."""
    if "uperf" not in drivers:
        return {}
    return {uperf_file(test): uperf_profile(test) for test in tests if test.profile in OTHERS["uperf"].profiles}
