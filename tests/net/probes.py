# SPDX-License-Identifier: Apache-2.0
"""What a machine may lack: one function each, which answers None, or the reason why it is not there.

A test names what it needs, by a marker, `@pytest.mark.needs("cpuidle", "perf")`, or by a fixture of FIXTURES, and is
skipped with the reason where that is missing. NETMODEL_TEST_WITHOUT=cpuidle,perf has these say no. `--needing NAME` runs
those tests alone that name it. As a program it prints all of them, or says by its exit code whether one is there.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import resource
import select
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from contextlib import closing, suppress
from functools import cache, partial
from pathlib import Path
from typing import Any, NoReturn

import pytest

WITHOUT = "NETMODEL_TEST_WITHOUT"
# The machine of tests/vm brings what its tests need: there a test fails that it cannot run.
IN_THE_MACHINE = Path("/run/out/command").exists()
DESCRIPTORS = 16_000

Probe = Callable[[], str | None]
PROBES: dict[str, Probe] = {}

# Fixtures that stand for a need.
FIXTURES = {
    "nodes": ("netns",),
    "own": ("netns",),
    "two_hosts": ("netns",),
    "lossy": ("netns", "xdp"),
    "need_ipv6": ("ipv6",),
    "strace": ("strace",),
    "xmllint": ("xmllint",),
    "image": ("buildah",),
    "injector": ("cc",),
    "copy": ("cc", "make", "pkg_config"),
    "installed": ("make",),
    # Of tests/vm.
    "fq": ("fq",),
    "shaped": ("netns", "tbf"),
    "_pair": ("netdevsim",),
    "_link": ("root",),
}


def _probe(probe: Probe) -> Probe:
    PROBES[probe.__name__.strip("_")] = probe
    return probe


def _fails(*command: str, told: str | None = None) -> str | None:
    """What a command says that does not succeed."""
    if shutil.which(command[0]) is None:
        return f"{command[0]} is not installed"
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, input=told)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{command[0]} does not work here: {error}"
    said = " ".join((done.stderr or done.stdout).split())[:300]
    return f"{' '.join(command)[:80]} does not work here: {said}" if done.returncode else None


# --- CPUs and clocks ---


@_probe
def cpuidle() -> str | None:
    """Idle CPUs that sleep, and the right to keep them awake."""
    path = Path("/sys/devices/system/cpu/cpuidle/current_driver")
    if not path.exists() or path.read_text().strip() == "none":
        return "the kernel has no cpuidle driver here"
    device = "/dev/cpu_dma_latency"
    return None if os.access(device, os.W_OK) else f"{device} cannot be written to"


@_probe
def second_cpu() -> str | None:
    return None if len(os.sched_getaffinity(0)) > 1 else "there is one CPU only"


@_probe
def clock() -> str | None:
    """One that the C library reads without a system call, and that is good to a microsecond."""
    path = Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")
    name = path.read_text().strip() if path.exists() else "unknown"
    poor = ("hpet", "acpi_pm", "jiffies", "refined-jiffies", "pit", "xen", "unknown")
    return f"the clock source of the kernel is {name}" if name in poor else None


@_probe
def kvm() -> str | None:
    """/dev/kvm alone proves nothing: without the flags it may be a software that is slower than qemu's own."""
    words = set(Path("/proc/cpuinfo").read_text().split())
    if not words & {"vmx", "svm"}:
        return "the CPU shows no hardware virtualisation"
    return None if os.access("/dev/kvm", os.W_OK) else "/dev/kvm cannot be written to"


@_probe
def perf() -> str | None:
    """Events that the kernel counts, in it and outside: perf_event_open(2)."""
    number = {"x86_64": 298, "aarch64": 241}.get(os.uname().machine)
    if number is None:
        return f"the number of perf_event_open(2) on {os.uname().machine} is not known"
    software, context_switches = 1, 3
    attributes = ctypes.create_string_buffer(struct.pack("=IIQ", software, 128, context_switches).ljust(128, b"\0"))
    libc = ctypes.CDLL(None, use_errno=True)
    fd = libc.syscall(number, attributes, 0, -1, -1, 0)
    if fd < 0:
        return f"no events of the kernel here: {os.strerror(ctypes.get_errno())}"
    os.close(fd)
    return None


@_probe
def softnet() -> str | None:
    return None if Path("/proc/net/softnet_stat").exists() else "no /proc/net/softnet_stat here"


@_probe
def softirqs() -> str | None:
    return None if Path("/proc/softirqs").exists() else "no /proc/softirqs here"


# --- protocols ---


def _no_socket(family: int, protocol: int, address: Any = None) -> str | None:
    try:
        with closing(socket.socket(family, socket.SOCK_STREAM, protocol)) as one:
            if address:
                one.bind(address)
    except OSError as error:
        return os.strerror(error.errno or 0)
    return None


def _kernel_has_no(name: str, family: int, protocol: int, address: Any = None) -> str | None:
    why = _no_socket(family, protocol, address)
    return why and f"no {name} here: {why}" + ("" if name.startswith("IPv6") else "; tests/vm brings a kernel that has it")


@_probe
def ipv6() -> str | None:
    return _kernel_has_no("IPv6 on the loopback device", socket.AF_INET6, 0, ("::1", 0))


@_probe
def mptcp() -> str | None:
    return _kernel_has_no("Multipath TCP", socket.AF_INET, 262)


@_probe
def sctp() -> str | None:
    return _kernel_has_no("SCTP", socket.AF_INET, 132)


@_probe
def vsock() -> str | None:
    return _kernel_has_no("vsock within a host", socket.AF_VSOCK, 0, (1, 0xFFFFFFFF))


@_probe
def ktls() -> str | None:
    """TLS in the kernel, which it counts."""
    return None if Path("/proc/net/tls_stat").exists() else "no TLS in the kernel here (CONFIG_TLS); tests/vm brings one"


def marks_of(name: str) -> list[pytest.MarkDecorator]:
    """What a test needs that runs this protocol, or a stock profile of it."""
    protocol = name.partition("_")[0]
    if protocol == "psp":
        return [pytest.mark.skip("PSP needs two hosts with devices that have it; tests/vm brings them")]
    return [pytest.mark.needs(protocol)] if protocol in ("mptcp", "sctp", "vsock") else []


def protocols(*names: str) -> list[Any]:
    """The values of a parameter, each with what it needs."""
    return [pytest.param(name, marks=marks_of(name)) for name in names]


def kernel_lacks(protocol: str) -> bool:
    """Whether it does, whatever NETMODEL_TEST_WITHOUT says: for what is told where it is missing."""
    return PROBES[protocol]() is not None


# --- what the kernel does for tests ---


@_probe
def root() -> str | None:
    return None if os.geteuid() == 0 else "only root may do this"


@_probe
def netns() -> str | None:
    from nmtest import Network

    if os.geteuid() != 0:
        return "network namespaces need root"
    if shutil.which("ip") is None:
        return "network namespaces need ip (iproute2)"
    trial = Network()
    try:
        trial.nodes(1)
    except subprocess.CalledProcessError as error:
        return f"no network namespaces here: {' '.join(error.cmd)}: {error.stderr.strip()}"
    finally:
        trial.close()
    return None


@_probe
def userns() -> str | None:
    """A network namespace of one's own, as any user."""
    if shutil.which("script") is None:
        return "script is not installed"
    return _fails("unshare", "--map-root-user", "--net", "ip", "link", "set", "lo", "up")


@_probe
def mountns() -> str | None:
    return _fails("unshare", "--mount", "true")


@_probe
def xdp() -> str | None:
    """Programs of the kernel that lose datagrams."""
    from loss import losing
    from nmtest import Network

    if why := reason("netns"):
        return why
    trial = Network()
    try:
        with losing(trial.nodes(1)[0], 0.5):
            return None
    except OSError as error:
        return f"this kernel does not lose datagrams for us: {error}"
    finally:
        trial.close()


def _tc_fails(*lines: str) -> str | None:
    """Why these are not done, in a network of their own."""
    if why := root():
        return why
    name = f"nmp{os.getpid()}"
    try:
        return _fails("ip", "netns", "add", name) or _fails("tc", "-n", name, "-batch", "-", told="\n".join(lines) + "\n")
    finally:
        with suppress(OSError):
            subprocess.run(["ip", "netns", "delete", name], check=False, capture_output=True, timeout=60)


@_probe
def netem() -> str | None:
    """Links that tc(8) disturbs, and a way to find the packets that it does so to."""
    return _tc_fails(
        f"qdisc add dev lo root handle 1: prio bands 3 priomap {'0 ' * 16}",
        "qdisc add dev lo parent 1:3 handle 30: netem delay 0ms",
        "filter add dev lo parent 1: protocol ip u32 match ip protocol 17 0xff flowid 1:3",
    )


@_probe
def fq() -> str | None:
    """The queueing discipline that paces."""
    return _tc_fails("qdisc add dev lo root fq")


@_probe
def tbf() -> str | None:
    """The queueing discipline that shapes."""
    return _tc_fails("qdisc add dev lo root tbf rate 1mbit burst 5000 limit 60000")


@_probe
def netdevsim() -> str | None:
    if not Path("/sys/bus/netdevsim").exists():
        return "no netdevsim here (CONFIG_NETDEVSIM); tests/vm brings a kernel that has it"
    return root()


@_probe
def iptables() -> str | None:
    rule = ("-A", "INPUT", "-p", "tcp", "--dport", "7001", "-j", "REJECT", "--reject-with", "tcp-reset")
    return reason("netns") or _fails("unshare", "--net", "iptables", *rule)


@_probe
def ss_kill() -> str | None:
    """ss -K, for which the kernel must end connections of others (CONFIG_INET_DIAG_DESTROY)."""
    if shutil.which("ss") is None:
        return "ss is not installed"
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        with suppress(OSError, subprocess.TimeoutExpired):
            subprocess.run(["ss", "-K", "-l", "sport", "=", str(port)], capture_output=True, timeout=60, check=False)
            with suppress(ConnectionRefusedError), socket.create_connection(("127.0.0.1", port), 5):
                return "the kernel does not end connections for ss -K"
    return None


@_probe
def io_uring() -> str | None:
    """As Linux has it since 6.1."""
    single_issuer, defer_taskrun = 1 << 12, 1 << 13
    parameters = ctypes.create_string_buffer(struct.pack("=III", 0, 0, single_issuer | defer_taskrun).ljust(120, b"\0"))
    fd = ctypes.CDLL(None, use_errno=True).syscall(425, 1, parameters)
    if fd < 0:
        return f"no io_uring here: {os.strerror(ctypes.get_errno())}"
    os.close(fd)
    return None


@_probe
def epoll_params() -> str | None:
    """How long the waits of an epoll poll the network card can be asked."""
    with select.epoll() as one:
        try:
            fcntl.ioctl(one, 0x80088A02, bytes(8))
        except OSError as error:
            return f"epoll has no parameters here: {error.strerror}"
    return None


@_probe
def name_port() -> str | None:
    """The port at which names are asked for, of an address of the loopback device."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        try:
            one.bind(("127.53.0.78", 53))
        except OSError as error:
            return f"no port 53 here: {error}"
    return None


@_probe
def descriptors() -> str | None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard == resource.RLIM_INFINITY or hard >= DESCRIPTORS:
        return None
    return f"a process may have {hard} descriptors here, and {DESCRIPTORS} are needed"


# --- programs ---


def _program(name: str, *trial: str) -> str | None:
    if trial:
        return _fails(name, *trial)
    return None if shutil.which(name) else f"{name} is not installed"


# What must work; where nothing is said the program must be there.
_PROGRAMS = {
    "setpriv": ("setpriv", "--reuid=65534", "--clear-groups", "--inh-caps=-all,+dac_read_search", "true"),
    "strace": ("strace", "-f", "-o", "/dev/null", "true"),
    "valgrind": ("valgrind", "-q", "--tool=none", "true"),
    "bash": ("bash",),
    "cc": ("cc",),
    "cxx": ("c++",),
    "make": ("make",),
    "openssl": ("openssl", "version"),
    "pkg_config": ("pkg-config",),
    "readelf": ("readelf",),
    "systemd_analyze": ("systemd-analyze", "security", "--help"),
    "xmllint": ("xmllint",),
}
PROBES |= {name: partial(_program, *command) for name, command in _PROGRAMS.items()}


@_probe
def buildah() -> str | None:
    """Images; containers are one need more."""
    with tempfile.TemporaryDirectory() as folder:
        where = ("buildah", "--root", f"{folder}/root", "--runroot", f"{folder}/run", "--storage-driver", "vfs")
        return _fails(*where, "from", "scratch")


@_probe
def locales() -> str | None:
    """What localedef makes one of: to try it takes seconds."""
    sources = Path("/usr/share/i18n")
    there = (sources / "locales/de_DE").exists() and any((sources / "charmaps").glob("UTF-8*"))
    return _program("localedef") or (None if there else "the sources of locales are not installed")


@_probe
def man() -> str | None:
    """A program that complains about a manual page."""
    return None if any(map(shutil.which, ("man", "mandoc", "groff"))) else "none of man, mandoc and groff is installed"


# --- asking ---


def known(names: Iterable[str], where: str) -> None:
    """An error when one of them is not."""
    if unknown := sorted(set(names) - set(PROBES)):
        raise pytest.UsageError(f"{where}: no probe is called {', '.join(unknown)}; there are {' '.join(sorted(PROBES))}")


def left_out() -> set[str]:
    names = {name.strip() for name in os.environ.get(WITHOUT, "").split(",")} - {""}
    known(names, WITHOUT)
    return names


@cache
def reason(name: str) -> str | None:
    """Why the machine does not have it."""
    known([name], "probes")
    return f"without {name}, as {WITHOUT} says" if name in left_out() else PROBES[name]()


def skip(why: str) -> NoReturn:
    if IN_THE_MACHINE:
        pytest.fail(f"the test machine lacks something: {why}")
    pytest.skip(why)


def require(*names: str) -> None:
    """Skips the running test where one of them is missing: for what only some of its cases need."""
    for name in names:
        if why := reason(name):
            skip(why)


def of_item(item: pytest.Item) -> list[str]:
    """What a test needs, in the order in which it says so."""
    marked = [name for mark in item.iter_markers("needs") for name in mark.args]
    fixtures = [name for fixture in getattr(item, "fixturenames", ()) for name in FIXTURES.get(fixture, ())]
    return list(dict.fromkeys([*marked, *fixtures]))


class Plugin:
    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        require(*of_item(item))

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        for item in items:
            known(of_item(item), item.nodeid)
        if wanted := set(config.getoption("--needing", default=None) or ()):
            known(wanted, "--needing")
            config.hook.pytest_deselected(items=[item for item in items if not wanted & set(of_item(item))])
            items[:] = [item for item in items if wanted & set(of_item(item))]


def add_options(parser: pytest.Parser) -> None:
    with suppress(ValueError):  # a second conftest.py of the same run
        parser.addoption("--needing", action="append", metavar="PROBE", help="only the tests that need it: tests/net/probes.py")


def register(config: pytest.Config) -> None:
    """For pytest_configure of each conftest.py."""
    if not config.pluginmanager.has_plugin("probes"):
        left_out()
        config.addinivalue_line("markers", "needs(name, ...): what a machine may lack, by its name in tests/net/probes.py")
        config.pluginmanager.register(Plugin(), "probes")


def main(words: list[str]) -> int:
    """The probes by name, or all: exit code 1 when one of those that were named says no."""
    known(words, "probes")
    reasons = {name: reason(name) for name in words or sorted(PROBES)}
    for name, why in reasons.items():
        print(f"{name:16} {why or 'yes'}")
    return 1 if words and any(reasons.values()) else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except pytest.UsageError as error:
        sys.exit(str(error))
