# SPDX-License-Identifier: Apache-2.0
"""The figures of a row: each is declared here once, with its unit, its meaning and where in a result it comes
from. What is not known is None, never 0."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

Json = dict[str, Any]
Better = Literal["higher", "lower", ""]


@dataclass(frozen=True)
class Column:
    """A figure of a run. is_ratio: positive, and so compared and averaged by its logarithm."""

    name: str
    unit: str
    title: str
    better: Better = ""
    is_ratio: bool = True


@dataclass(frozen=True)
class OfRun:
    column: Column
    take: Callable[[Json], float | None]


@dataclass(frozen=True)
class OfEnd:
    """A figure that each end has; its columns end with .NAME."""

    column: Column
    take: Callable[[Json, Json], float | None]


def reach(document: Any, *path: str) -> float | None:
    """A number somewhere inside; None where there is none."""
    for name in path:
        if not isinstance(document, dict):
            return None
        document = document.get(name)
    return float(document) if isinstance(document, int | float) and not isinstance(document, bool) else None


def ratio(a: float | None, b: float | None, scale: float = 1.0) -> float | None:
    return None if a is None or not b else a / b * scale


def _total(*path: str, scale: float = 1.0) -> Callable[[Json], float | None]:
    def take(document: Json) -> float | None:
        value = reach(document, "totals", *path)
        return None if value is None else value * scale

    return take


def _cpu(name: str) -> Callable[[Json, Json], float | None]:
    """A share of all CPUs as per cent of one."""

    def take(_document: Json, host: Json) -> float | None:
        share, cpus = reach(host, "cpu", name), reach(host, "cpu", "n_cpus")
        return None if share is None or cpus is None else share * cpus * 100

    return take


def _awake(name: str) -> Callable[[Json, Json], float | None]:
    """A share of the hardware's CPU time, as per cent of one CPU."""

    def take(_document: Json, host: Json) -> float | None:
        share, cpus = reach(host, "unhalted", name), reach(host, "unhalted", "n_cpus")
        return None if share is None or cpus is None else share * cpus * 100

    return take


def _frequency(_document: Json, host: Json) -> float | None:
    """By the hardware's count of cycles, or else as cpufreq tells it."""
    by_cycles = reach(host, "unhalted", "frequency_hz")
    return ratio(reach(host, "cpufreq", "frequency_hz") if by_cycles is None else by_cycles, 1.0, 1e-9)


def _busiest(_document: Json, host: Json) -> float | None:
    """The CPU that was idle for the least time, as per cent of itself."""
    cpus = host.get("cpus")
    shares = [reach(cpu, "busy") for cpu in cpus] if isinstance(cpus, list) else []
    known = [share for share in shares if share is not None]
    return max(known) * 100 if known else None


def _flows(document: Json) -> float | None:
    groups = document.get("groups")
    return _sum(reach(group, "flows") for group in groups) if isinstance(groups, list) and groups else None


def _cost(name: str, scale: float = 1.0) -> Callable[[Json, Json], float | None]:
    return lambda _document, host: ratio(reach(host, "costs", name), 1.0, scale)


def _cpu_together(*names: str) -> Callable[[Json, Json], float | None]:
    each = [_cpu(name) for name in names]
    return lambda document, host: _sum(take(document, host) for take in each)


def _sum(parts: Iterable[float | None]) -> float | None:
    """None where a part is not known."""
    whole = 0.0
    for part in parts:
        if part is None:
            return None
        whole += part
    return whole


def _rate(group: str, *names: str, scale: float = 1e-3) -> Callable[[Json, Json], float | None]:
    """Of several: their sum."""

    def take(_document: Json, host: Json) -> float | None:
        return ratio(_sum(reach(host, group, name) for name in names), reach(host, group, "seconds"), scale)

    return take


def _counted_s(host: Json) -> float | None:
    """The window of the counters that have no length of their own."""
    return reach(host, "interrupts", "seconds")


def _per_second(group: str, name: str) -> Callable[[Json, Json], float | None]:
    return lambda _document, host: ratio(reach(host, group, name), _counted_s(host))


def _both_ways(nic: Json, what: str) -> float | None:
    return _sum(reach(nic, f"{way}_{what}") for way in ("rx", "tx"))


def _interface(host: Json) -> Json:
    """The one that costs are by."""
    nics, name = host.get("nics"), (host.get("costs") or {}).get("nic")
    return next((nic for nic in nics if nic["name"] == name), {}) if isinstance(nics, list) else {}


def lacks_costs(document: Json) -> bool:
    """Whether it is of a netmodel that told interfaces before it told costs."""
    return any(isinstance(host.get("nics"), list) and "costs" not in host for host in document.get("hosts") or [])


def _on_wire(host: Json, what: str) -> float | None:
    return _both_ways(_interface(host), what)


def _wire(what: str, scale: float) -> Callable[[Json, Json], float | None]:
    return lambda _document, host: ratio(_on_wire(host, what), _counted_s(host), scale)


def _packets_per(event: str) -> Callable[[Json, Json], float | None]:
    return lambda _document, host: ratio(_on_wire(host, "packets"), reach(host, "interrupts", event))


def _nic_interrupts(_document: Json, host: Json) -> float | None:
    return ratio(reach(_interface(host), "interrupts"), _counted_s(host), 1e-3)


def _per_wire(busy: Callable[[Json, Json], float | None]) -> Callable[[Json, Json], float | None]:
    return lambda document, host: ratio(busy(document, host), _wire("bytes", 1e-9)(document, host))


RUN = (
    OfRun(Column("seconds", "s", "Measured time"), _total("seconds")),
    OfRun(Column("transactions_per_s", "1/s", "Transactions", "higher"), _total("transactions_per_s")),
    OfRun(Column("payload_MBps", "MB/s", "Payload, both directions", "higher"), _total("bits_per_s", scale=1 / 8e6)),
    OfRun(
        Column("received_MBps", "MB/s", "Payload that has arrived, both directions", "higher"),
        _total("throughput", "received_bits_per_s", scale=1 / 8e6),
    ),
    OfRun(Column("mean_us", "us", "Latency, mean", "lower"), _total("latency_s", "mean", scale=1e6)),
    OfRun(Column("p50_us", "us", "Latency, median", "lower"), _total("latency_s", "p50", scale=1e6)),
    OfRun(Column("p90_us", "us", "Latency, 90 %", "lower"), _total("latency_s", "p90", scale=1e6)),
    OfRun(Column("p99_us", "us", "Latency, 99 %", "lower"), _total("latency_s", "p99", scale=1e6)),
    OfRun(Column("p999_us", "us", "Latency, 99.9 %", "lower"), _total("latency_s", "p99_9", scale=1e6)),
    OfRun(Column("max_us", "us", "Latency, longest", "lower"), _total("latency_s", "max", scale=1e6)),
    OfRun(Column("resp_p50_us", "us", "Response, median", "lower"), _total("response_s", "p50", scale=1e6)),
    OfRun(Column("resp_p99_us", "us", "Response, 99 %", "lower"), _total("response_s", "p99", scale=1e6)),
    OfRun(Column("flows", "", "Flows"), _flows),
    OfRun(Column("retransmits", "", "Retransmitted segments", "lower", is_ratio=False), _total("retransmits")),
    OfRun(Column("errors", "", "Failed flows", "lower", is_ratio=False), _total("errors")),
)

END = (
    OfEnd(Column("ncpus", "", "CPUs"), lambda _document, host: reach(host, "cpu", "n_cpus")),
    OfEnd(Column("busy_kernel_TL", "% of a CPU", "CPU busy, by the kernel", "lower"), _cpu("busy")),
    OfEnd(Column("busy_hw_TL", "% of a CPU", "CPU busy, by the hardware", "lower"), _awake("busy")),
    OfEnd(
        Column("hidden_TL", "% of a CPU", "CPU busy, and not seen by the kernel", "lower", is_ratio=False),
        _awake("hidden"),
    ),
    OfEnd(Column("busiest_cpu_TL", "% of a CPU", "The busiest CPU, by the kernel", is_ratio=False), _busiest),
    OfEnd(Column("freq_GHz", "GHz", "Frequency of CPUs that are awake"), _frequency),
    OfEnd(Column("cycles_per_byte", "", "Cycles per byte of payload", "lower"), _cost("cycles_per_gb", 1e-9)),
    OfEnd(Column("cycles_per_packet", "", "Cycles per packet", "lower"), _cost("cycles_per_packet")),
    OfEnd(Column("cycles_per_transaction", "", "Cycles per transaction", "lower"), _cost("cycles_per_transaction")),
    OfEnd(
        Column("psi_cpu_pct", "%", "Time in which a task waited for a CPU", "lower", is_ratio=False),
        _rate("pressure", "cpu_some_s", scale=100),
    ),
    *(
        OfEnd(Column(f"{name}_TL", "% of a CPU", f"CPU {name}", is_ratio=False), _cpu(name))
        for name in ("user", "system", "irq", "softirq", "steal", "iowait")
    ),
    OfEnd(Column("user_sys_TL", "% of a CPU", "CPU user and system", is_ratio=False), _cpu_together("user", "system")),
    OfEnd(Column("cpu_s_per_GB", "s/GB", "CPU time per payload", "lower"), _cost("cpu_per_gb_s")),
    OfEnd(
        Column("cpu_us_per_transaction", "us", "CPU time per transaction", "lower"),
        _cost("cpu_per_transaction_s", 1e6),
    ),
    OfEnd(
        Column("busy_TL_per_GBps", "% of a CPU per GB/s", "CPU busy per GB/s on the interface", "lower"),
        _per_wire(_cpu("busy")),
    ),
    OfEnd(
        Column("busy_hw_TL_per_GBps", "% of a CPU per GB/s", "CPU busy by the hardware, per GB/s", "lower"),
        _per_wire(_awake("busy")),
    ),
    OfEnd(Column("irq_nic_kps", "1000/s", "Interrupts of the interface", "lower"), _nic_interrupts),
    OfEnd(
        Column("irq_nic_spread_pct", "%", "Deviation of interrupts over the queues", "lower", is_ratio=False),
        _cost("queue_interrupts_deviation", 100.0),
    ),
    OfEnd(
        Column("irq_nic_max_over_mean", "", "Interrupts of the busiest queue, by their mean", "lower"),
        _cost("queue_interrupts_max"),
    ),
    OfEnd(Column("irq_all_kps", "1000/s", "Hardware interrupts", "lower"), _rate("interrupts", "hardware")),
    OfEnd(
        Column("softirq_net_kps", "1000/s", "Softirqs of the network", "lower"), _rate("softirqs", "net_rx", "net_tx")
    ),
    *(
        OfEnd(Column(f"softnet_{name}_ps", "1/s", title, "lower", is_ratio=False), _rate("softnet", name, scale=1.0))
        for name, title in (
            ("dropped", "Packets dropped, as a CPU's queue was full"),
            ("squeezed", "Times that a CPU left packets for later"),
        )
    ),
    OfEnd(Column("cs_kps", "1000/s", "Context switches", "lower"), _rate("interrupts", "context_switches")),
    OfEnd(Column("cpu_us_per_packet", "us", "CPU time per packet", "lower"), _cost("cpu_per_packet_s", 1e6)),
    OfEnd(Column("wire_MBps", "MB/s", "On the interface, both directions"), _wire("bytes", 1e-6)),
    OfEnd(Column("wire_kpps", "1000/s", "Packets, both directions"), _wire("packets", 1e-3)),
    OfEnd(
        Column("packets_per_nic_irq", "", "Packets per interrupt of the interface"), _cost("packets_per_nic_interrupt")
    ),
    OfEnd(Column("packets_per_irq", "", "Packets per interrupt of all"), _packets_per("hardware")),
    OfEnd(Column("packets_per_cs", "", "Packets per context switch"), _packets_per("context_switches")),
    *(
        OfEnd(
            Column(f"tcp_{name}_ps", "1/s", f"TCP: {name.replace('_', ' ')}", is_ratio=False), _per_second("tcp", name)
        )
        for name in (
            "retransmitted_segments",
            "resets_sent",
            "listen_overflows",
            "delayed_acks",
            "delayed_acks_locked",
            "quick_acks_entered",
            "auto_corked_segments",
        )
    ),
)


def ends(document: Json) -> dict[str, Json]:
    """The hosts of a run by the suffix of their columns. Both ends on one machine, in containers or not: what it has
    done is told once."""
    hosts = document.get("hosts") or []
    master: Json = next((host for host in hosts if host.get("role") == "master"), {})
    slaves = [host for host in hosts if host.get("role") == "slave"]
    elsewhere = [host for host in slaves if not _boot(host) or _boot(host) != _boot(master)]
    found = {"master" if len(elsewhere) == len(slaves) else "shared": master} if master else {}
    return found | {"slave" if len(slaves) == 1 else str(host.get("name")): host for host in elsewhere}


def _boot(host: Json) -> Any:
    return (host.get("facts") or {}).get("boot_id")


def figures(document: Json) -> Iterator[tuple[str, float | None]]:
    """All figures of a result, by column."""
    for figure in RUN:
        yield figure.column.name, figure.take(document)
    for end, host in ends(document).items():
        for per_end in END:
            yield f"{per_end.column.name}.{end}", per_end.take(document, host)


def texts(document: Json) -> Iterator[tuple[str, str | None]]:
    """What the figures of an end are by, which is no figure."""
    for end, host in ends(document).items():
        source = (host.get("unhalted") or {}).get("source")
        yield f"busy_hw_source.{end}", source
        by_cycles = reach(host, "unhalted", "frequency_hz") is not None
        is_known = by_cycles or reach(host, "cpufreq", "frequency_hz") is not None
        yield f"freq_source.{end}", (source if by_cycles else "cpufreq") if is_known else None
        yield f"irq_accounting.{end}", (host.get("facts") or {}).get("irq_accounting")


def find(name: str) -> Column | None:
    """What a column means; one of an end with or without the end's name."""
    base, _, end = name.partition(".")
    for figure in RUN:
        if figure.column.name == name:
            return figure.column
    for per_end in END:
        column = per_end.column
        if column.name == base:
            return Column(
                name, column.unit, f"{column.title} ({end})" if end else column.title, column.better, column.is_ratio
            )
    return None
