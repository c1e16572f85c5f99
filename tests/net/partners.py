# SPDX-License-Identifier: Apache-2.0
"""Servers of others, as Debian has them: fetched once by version, unpacked below the build folder, never installed. As a program it
fetches all of them, and exits with 77 where the mirror has not answered."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from certificates import Files
from nmtest import PATIENCE_S, TOP, free_port

PARTNERS = TOP / "build" / "partners"
REDIS = ("redis-server", "redis-tools", "libatomic1", "libjemalloc2", "liblzf1")
NSD = ("nsd", "libevent-2.1-7", "libfstrm0", "libprotobuf-c1")
MEMCACHED_TOOLS = ("libmemcached-tools", "libmemcached11", "libmemcachedutil2", "libhashkit2", "libevent-2.1-7")
DIG = ("bind9-dnsutils", "bind9-libs", "libfstrm0", "libjson-c5", "liblmdb0", "libmaxminddb0", "libnghttp2-14", "libprotobuf-c1", "libuv1")
PACKAGES = {
    "memcached": ("memcached", "libevent-2.1-7"),
    "redis-server": REDIS,
    "redis-cli": REDIS,
    "redis-benchmark": REDIS,
    "memccapable": MEMCACHED_TOOLS,
    "memccp": MEMCACHED_TOOLS,
    "memcexist": MEMCACHED_TOOLS,
    "memcping": MEMCACHED_TOOLS,
    "memcstat": MEMCACHED_TOOLS,
    "memccat": MEMCACHED_TOOLS,
    "memcrm": MEMCACHED_TOOLS,
    "wrk": ("wrk", "libluajit-5.1-2"),
    "ab": ("apache2-utils", "libapr1", "libaprutil1"),
    "dnsperf": ("dnsperf", "libldns3", "libnghttp2-14"),
    "dig": DIG,
    "nginx": ("nginx",),
    "nsd": NSD,
    "nsd-control": NSD,
    "saslpasswd2": ("sasl2-bin", "libdb5.3", "libsasl2-modules", "libsasl2-modules-db"),
}


def _has_tools() -> bool:
    return all(shutil.which(tool) for tool in ("apt-cache", "apt-get", "dpkg-deb"))


@cache
def _missing() -> set[str]:
    """Packages that cannot be had. All that are not unpacked yet are fetched at once, as each call of apt reads all its lists."""
    PARTNERS.mkdir(parents=True, exist_ok=True)
    with (PARTNERS / ".lock").open("w") as lock:  # tests that run at a time want the same
        fcntl.flock(lock, fcntl.LOCK_EX)
        return _fetch({package for needed in PACKAGES.values() for package in needed})


def _fetch(packages: set[str]) -> set[str]:
    """Those of them that cannot be had."""
    shown = subprocess.run(["apt-cache", "policy", *sorted(packages)], capture_output=True, text=True, check=False).stdout
    # The version that the mirror has, by what this machine knows of it.
    versions = dict(re.findall(r"^(\S+):\n.*\n  Candidate: (\d\S*)$", shown, re.MULTILINE))
    marks = {package: PARTNERS / f".{package}-{re.sub('[^A-Za-z0-9.+~-]', '_', version)}" for package, version in versions.items()}
    wanted = [f"{package}={versions[package]}" for package, mark in marks.items() if not mark.exists()]
    if wanted:
        download = PARTNERS / "download"
        shutil.rmtree(download, ignore_errors=True)
        download.mkdir()
        subprocess.run(["apt-get", "download", *wanted], cwd=download, capture_output=True, check=False)
        for file in download.glob("*.deb"):
            subprocess.run(["dpkg-deb", "-x", str(file), str(PARTNERS)], check=True)
            marks[file.name.partition("_")[0]].touch()
    return {package for package in packages if package not in marks or not marks[package].exists()}


@cache
def partner(name: str) -> tuple[Path, dict[str, str]]:
    """The program of a partner and the environment in which it starts; skips where neither machine nor mirror has it."""
    found = shutil.which(name)
    if found:
        return Path(found), dict(os.environ)
    if not _has_tools():
        pytest.skip(f"{name}: neither it nor Debian's tools are here")
    if missing := _missing().intersection(PACKAGES[name]):
        pytest.skip(f"{name}: the mirror of Debian's packages does not answer for {', '.join(sorted(missing))}")
    libraries = ":".join(str(path) for path in (PARTNERS / "usr" / "lib").glob("*-linux-gnu*"))
    folder = next(path for path in (PARTNERS / "usr" / "bin", PARTNERS / "usr" / "sbin") if (path / name).exists())
    return folder / name, {**os.environ, "LD_LIBRARY_PATH": libraries}


@contextmanager
def running(command: list[str], env: dict[str, str], is_up: Callable[[], object], **how: Any) -> Iterator[int]:
    """A server by its process, from when is_up raises no error any more."""
    process = subprocess.Popen(command, env=env, **how)
    try:
        deadline = time.monotonic() + PATIENCE_S
        while True:
            with suppress(OSError, subprocess.CalledProcessError):
                is_up()
                break
            assert process.poll() is None and time.monotonic() < deadline, f"{command[0]} does not listen"
            time.sleep(0.01)
        yield process.pid
    finally:
        process.terminate()  # and not killed: it ends its own children
        process.wait(PATIENCE_S)


def connected(address: tuple[str, int] | str) -> socket.socket:
    conn = socket.socket(socket.AF_UNIX if isinstance(address, str) else socket.AF_INET)
    try:
        conn.connect(address)
    except OSError:
        conn.close()
        raise
    return conn


def connects(address: tuple[str, int] | str) -> None:
    connected(address).close()


def as_server(address: tuple[str, int] | str) -> str:
    """As server= has it."""
    return f"unix:{address}" if isinstance(address, str) else f"{address[0]}:{address[1]}"


class Redis:
    """A redis-server that a test has started."""

    def __init__(self, address: tuple[str, int] | str) -> None:
        self.address = address

    @property
    def server(self) -> str:
        return as_server(self.address)

    def cli(self, *words: str) -> str:
        where = ["-s", self.address] if isinstance(self.address, str) else ["-p", str(self.address[1])]
        return redis_cli(*where, *words)

    def calls(self) -> dict[str, int]:
        """How often each command was called, refused ones too."""
        found = re.findall(r"cmdstat_(\S+?):calls=(\d+)", self.cli("INFO", "commandstats"))
        return {name: int(count) for name, count in found}


def said(name: str, *words: str, text: str | None = None) -> str:
    """What a program of a partner prints, which is to succeed; text: its standard input."""
    program, env = partner(name)
    done = subprocess.run([str(program), *words], env=env, input=text, capture_output=True, text=True, timeout=PATIENCE_S, check=True)
    return done.stdout


def redis_cli(*words: str) -> str:
    return said("redis-cli", *words).strip()


@contextmanager
def redis(path: str = "", *args: str) -> Iterator[Redis]:
    program, env = partner("redis-server")
    port = free_port()
    where = ["--unixsocket", path, "--port", "0"] if path else ["--bind", "127.0.0.1", "--port", str(port)]
    how = ["--save", "", "--appendonly", "no", "--daemonize", "no", "--loglevel", "warning", "--dir", "/tmp"]
    server = Redis(path or ("127.0.0.1", port))
    with running([str(program), *how, *where, *args], env, lambda: connects(server.address), stdout=subprocess.DEVNULL):
        yield server


class Memcached:
    """A memcached that a test has started."""

    def __init__(self, address: tuple[str, int] | str, pid: int) -> None:
        self.address = address
        self.pid = pid

    @property
    def server(self) -> str:
        return as_server(self.address)

    def asked(self, request: bytes) -> bytes:
        """The answer, which ends with END."""
        with connected(self.address) as conn:
            conn.settimeout(2)
            conn.sendall(request)
            got = b""
            while not got.endswith(b"END\r\n"):
                some = conn.recv(65536)
                assert some, got
                got += some
        return got

    def stats(self) -> dict[str, int]:
        return {name: int(value) for name, value in re.findall(r"STAT (\S+) (\d+)\r", self.asked(b"stats\r\n").decode())}


@contextmanager
def memcached(*args: str, folder: Path | None = None, path: str = "") -> Iterator[Memcached]:
    """folder: where it finds how SASL is set up; path: of its socket, for one over unix."""
    program, env = partner("memcached")
    port = free_port()
    address = path or ("127.0.0.1", port)
    if folder:
        modules = [str(path) for path in (PARTNERS / "usr" / "lib").glob("*-linux-gnu*/sasl2")]
        env = {**env, "SASL_CONF_PATH": str(folder), **({"SASL_PATH": modules[0]} if modules else {})}
    user = ["-u", "root"] if os.geteuid() == 0 else []
    where = ["-s", path] if path else ["-l", "127.0.0.1", "-p", str(port), "-U", "0"]
    with running([str(program), "-t", "1", *user, *where, *args], env, lambda: connects(address)) as pid:
        yield Memcached(address, pid)


def sasl_user(folder: Path, user: str, password: str) -> None:
    """Sets up SASL for a memcached: its PLAIN, and a user."""
    said("saslpasswd2", "-p", "-c", "-f", str(folder / "db"), "-u", socket.gethostname(), user, text=password)
    (folder / "memcached.conf").write_text(f"mech_list: plain\npwcheck_method: auxprop\nauxprop_plugin: sasldb\nsasldb_path: {folder}/db\n")


class Nginx:
    """An nginx that a test has started; files below `root` are what it has."""

    def __init__(self, folder: Path, port: int) -> None:
        self.root = folder / "root"
        self.server = f"127.0.0.1:{port}"
        self.tls_port = free_port()
        self.pid = 0
        self._log = folder / "log"

    def log(self) -> list[list[str]]:
        """A line of each request that it has answered: method and path, status, bytes of the request's body, number of the connection, and of TLS the name that was asked for and the protocol."""
        return [line.split("|") for line in self._log.read_text().splitlines()]


@contextmanager
def nginx(folder: Path, *directives: str, tls: Files | None = None) -> Iterator[Nginx]:
    """folder: where it keeps all that it writes; tls: it listens over TLS, too."""
    program, env = partner("nginx")
    port = free_port()
    server = Nginx(folder, port)
    server.root.mkdir()
    paths = "".join(f"{kind}_temp_path {folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    over_tls = f"listen 127.0.0.1:{server.tls_port} ssl; ssl_protocols TLSv1.2 TLSv1.3; ssl_certificate {tls.cert}; ssl_certificate_key {tls.plain};" if tls else ""
    config = (
        f"daemon off; master_process off; worker_processes 1; pid {folder}/pid; error_log {folder}/error;"
        f"events {{ worker_connections 256; }} http {{ {paths}"
        "log_format short '$request|$status|$content_length|$connection|$ssl_server_name|$ssl_alpn_protocol';"
        f"access_log {folder}/log short; server {{ listen 127.0.0.1:{port}; {over_tls} root {server.root}; {' '.join(directives)} }} }}"
    )
    (folder / "nginx.conf").write_text(config)
    command = [str(program), "-p", str(folder), "-c", str(folder / "nginx.conf"), "-e", str(folder / "error")]
    with running(command, env, lambda: connects(("127.0.0.1", port))) as server.pid:
        yield server


NSD_CONF = """server:
  ip-address: 127.0.0.1@{port}
  username: ""
  chroot: ""
  zonesdir: "{folder}"
  pidfile: ""
  database: ""
  xfrdfile: "{folder}/xfrd"
  xfrdir: "{folder}"
  zonelistfile: "{folder}/zones"
  cookie-secret-file: ""
  logfile: "{folder}/log"
  server-count: 1
  rrl-ratelimit: 0
  round-robin: no
remote-control:
  control-enable: yes
  control-interface: "{folder}/control"
zone:
  name: "example.com"
  zonefile: "example.com.zone"
"""


class Nsd:
    """An nsd that a test has started."""

    def __init__(self, folder: Path, port: int) -> None:
        self.conf = folder / "nsd.conf"
        self.server = f"127.0.0.1:{port}"

    def stats(self) -> dict[str, int]:
        """What nsd has counted: queries by transport, type and answer."""
        shown = said("nsd-control", "-c", str(self.conf), "stats_noreset")
        return {name: int(value) for name, value in re.findall(r"^(num\.\S+)=(\d+)$", shown, re.MULTILINE)}


@contextmanager
def nsd(folder: Path, zone: str) -> Iterator[Nsd]:
    """The authority for example.com, whose records are in `zone`."""
    program, env = partner("nsd")
    port = free_port()
    (folder / "nsd.conf").write_text(NSD_CONF.format(folder=folder, port=port))
    (folder / "example.com.zone").write_text(f"$ORIGIN example.com.\n$TTL 60\n@ SOA ns admin 1 60 60 60 60\n@ NS ns\nns A 127.0.0.1\n{zone}")
    server = Nsd(folder, port)
    with running([str(program), "-d", "-c", str(folder / "nsd.conf")], env, server.stats):
        yield server


if __name__ == "__main__":
    if not _has_tools():
        print("Debian's tools are not here")
        sys.exit(77)
    if missing := _missing():
        print(f"the mirror of Debian's packages does not answer for {', '.join(sorted(missing))}")
        sys.exit(77)
