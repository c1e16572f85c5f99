# SPDX-License-Identifier: Apache-2.0
"""What the nodes and pods of both ends have used: as netmodel sees it from inside, and what Prometheus alone sees."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from netmodel_lab.columns import reach

Json = dict[str, Any]
ROLES = {"server": "slave", "client": "master"}  # of netmodel's hosts
MODES = {  # k8s-netperf's names, those of its CSV, and netmodel's
    "idleCPU": ("Idle CPU", "idle"),
    "userCPU": ("User CPU", "user"),
    "systemCPU": ("System CPU", "system"),
    "ioCPU": ("IOWait CPU", "iowait"),
    "stealCPU": ("Steal CPU", "steal"),
    "softCPU": ("SoftIRQ CPU", "softirq"),
    "irqCPU": ("IRQ CPU", "irq"),
    "niceCPU": ("Nice CPU", "nice"),
}
OUTSIDE = ("vswitch_cpu", "vswitch_memory")  # what cannot be seen from inside
_VSWITCH = {"server": "serverVs", "client": "clientVs"}  # the misspelling below is part of k8s-netperf's format

Pod = tuple[str, str]  # its namespace, and its name
Used = tuple[float | None, float | None]  # CPU, in per cent of one, and memory, in bytes


@dataclass(frozen=True)
class End:
    """Of all samples and pairs: means of CPU, and the most of memory. cpu: per cent of the node's CPUs; outside: the
    same by Prometheus. pods: of our own from inside, of others by Prometheus; outside_pods: of all by Prometheus.
    vswitch: of Open vSwitch. why_not: what is not known, and why."""

    cpu: dict[str, float] = field(default_factory=dict)
    outside: dict[str, float] = field(default_factory=dict)
    pods: dict[Pod, Used] = field(default_factory=dict)
    outside_pods: dict[Pod, Used] = field(default_factory=dict)
    vswitch: Used = (None, None)
    why_not: dict[str, str] = field(default_factory=dict)


def ends_of(name: str, pairs: Iterable[Json]) -> list[Json]:
    """All servers, or clients, of pairs: of one master over many slaves there are several of one."""
    return [one for pair in pairs for one in pair["k8s"].get(f"{name}s") or [pair["k8s"][name]]]


def of_samples(samples: Sequence[Sequence[Json]]) -> dict[str, End]:
    """samples: the pairs of each, as the folder has them."""
    pairs = [pair for sample in samples for pair in sample]
    return {end: _of_end(end, role, pairs) for end, role in ROLES.items()}


def _of_end(end: str, role: str, pairs: Sequence[Json]) -> End:
    hosts = list(_hosts(end, role, pairs))
    cpus: list[dict[str, float]] = [cpu for _, _, host in hosts if (cpu := host.get("cpu")) and "idle" in cpu]
    used: dict[Pod, list[tuple[float, float]]] = {}
    for pod, pair, host in hosts:
        seconds, usage = reach(pair["result"], "run", "elapsed_s"), host.get("rusage") or {}
        if seconds and "utime_s" in usage:
            cpu = (usage["utime_s"] + usage["stime_s"]) / seconds * 100
            used.setdefault(pod, []).append((cpu, usage["maxrss_kb"] * 1024.0))
    why = dict.fromkeys(OUTSIDE, "--prom was not given") | ({} if cpus else {"cpu": "what measured does not tell it"})
    return End(
        {name: fmean(cpu[mode] for cpu in cpus) * 100 for name, (_, mode) in MODES.items()} if cpus else {},
        pods={pod: (fmean(own for own, _ in each), max(memory for _, memory in each)) for pod, each in used.items()},
        why_not=why,
    )


def _hosts(end: str, role: str, pairs: Sequence[Json]) -> Iterator[tuple[Pod, Json, Json]]:
    """The pod of each host, its pair, and the host; slaves of one master are in the order of their pods."""
    for pair in pairs:
        hosts = [host for host in pair.get("result", {}).get("hosts") or [] if host.get("role") == role]
        for pod, host in zip(ends_of(end, [pair]), hosts, strict=False):
            yield (str(pod.get("namespace") or ""), str(pod.get("pod"))), pair, host


def segments(pairs: Sequence[Json]) -> Json | None:
    """The smallest and the largest payload of a segment of TCP, in bytes: what the MTU of the path leaves of it."""
    each = [host.get("connections") or {} for ends in ROLES.items() for *_, host in _hosts(*ends, pairs)]
    low = [found for one in each if (found := one.get("mss_min"))]
    high = [found for one in each if (found := one.get("mss_max"))]
    return {"min": min(low), "max": max(high)} if low and high else None


def fields(ends: dict[str, End]) -> Json:
    """Under k8s-netperf's names; what was not collected is null, and never 0."""
    found: Json = {}
    for name, end in ends.items():
        cpu, memory = end.vswitch
        modes: Json = dict.fromkeys(MODES) | end.cpu
        found |= {
            f"{name}CPU": modes | {"vSwitchCPU": cpu, "vSwitchMem": memory},
            f"{name}CPUCollected": bool(end.cpu),
            **_lists(name, end.pods),
            f"{_VSWITCH[name]}wtichCpu": cpu,
            f"{_VSWITCH[name]}witchMem": memory,
        }
    return found


def outside(ends: dict[str, End]) -> Json:
    """What Prometheus tells, also of what is known from inside."""
    found: Json = {}
    for name, end in ends.items():
        found |= {f"{name}CPU": end.outside or None, **_lists(name, end.outside_pods)}
    return found


def _lists(name: str, pods: dict[Pod, Used]) -> Json:
    """A pod is in the list of what is known of it."""
    figures = {"Pods": ("cpuUsage", 0), "PodsMem": ("memUsage", 1)}
    return {
        f"{name}{title}": [{"podName": pod[1], field: used[at]} for pod, used in pods.items() if used[at] is not None]
        for title, (field, at) in figures.items()
    }
