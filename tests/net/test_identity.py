# SPDX-License-Identifier: Apache-2.0
"""What servers that are not netmodel say that they are, which is in the result and never a failure."""

from __future__ import annotations

import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from failing_calls import Injector
from keyed import asking
from nmtest import Json, Netmodel, assert_complete
from partners import memcached, nginx, partner, redis
from scripted import server_of

WriteProfile = Callable[..., Path]

GET = '<flowop type="get" options="keys=k"/>'


def identities(netmodel: Netmodel, path: Path) -> list[Json]:
    document = netmodel.measure(path)
    assert_complete(document)
    servers: list[Json] = document["servers"]
    return servers


@pytest.mark.parametrize("app", ["memcache", "memcache_meta", "memcache_binary"])
def test_memcached(app: str, netmodel: Netmodel, profile: WriteProfile) -> None:
    program, env = partner("memcached")
    version = subprocess.run([str(program), "-V"], env=env, capture_output=True, text=True, check=True).stdout.split()[1]
    with memcached() as one, memcached() as two:
        path = profile(asking(app, GET, f"server={one.server},{two.server},{one.server}"))
        assert identities(netmodel, path) == [
            {"server": server.server, "port": int(server.server.partition(":")[2]), "app": app, "version": version, "why": None} for server in (one, two)
        ]
        assert f"  server        {one.server} {app} {version}  {two.server} {app} {version}\n" in netmodel.run("-m", path).out


@pytest.mark.parametrize("is_unix", [False, True])
def test_redis(is_unix: bool, netmodel: Netmodel, profile: WriteProfile, tmp_path: Path) -> None:
    with redis(str(tmp_path / "socket") if is_unix else "") as server:
        (said,) = [line.partition(":")[2] for line in server.cli("INFO", "server").splitlines() if line.startswith("redis_version:")]
        body = asking("redis", GET, f"server={server.server}{' protocol=unix' if is_unix else ''}")
        port = 0 if is_unix else int(server.server.partition(":")[2])
        assert identities(netmodel, profile(body)) == [{"server": server.server, "port": port, "app": "redis", "version": said.strip(), "why": None}]


def test_servers_of_one_host(netmodel: Netmodel, profile: WriteProfile) -> None:
    """With one text of server=, and the port beside it."""
    with memcached() as one, memcached() as two:
        ports = [int(server.server.partition(":")[2]) for server in (one, two)]
        first, second = (asking("memcache", GET, f"server=127.0.0.1 port={port}") for port in ports)
        path = profile(first + second.partition("/>")[2])
        said = identities(netmodel, path)
        row = "  ".join(f"127.0.0.1 port {server['port']} memcache {server['version']}" for server in said)
        assert f"  server        {row}\n" in netmodel.run("-m", path).out
    assert [server["port"] for server in said] == ports
    assert all(server["version"] for server in said)


def test_a_protocol_that_does_not_say(netmodel: Netmodel, profile: WriteProfile, tmp_path: Path) -> None:
    with nginx(tmp_path) as server:
        body = asking("http", '<flowop type="http" options="path=/"/>', f"server={server.server}")
        (said,) = identities(netmodel, profile(body))
        assert (said["version"], said["why"]) == (None, "the protocol has no request for it")
        assert all(line[0].startswith("GET / ") for line in server.log())


SAYS = {
    b"VERSION 1.2\x1b[2J\tx\r\n": ("1.2 [2J x", None),
    b"VERSION " + b"9" * 5000 + b"\r\n": ("9" * 127, None),
    b"VERSION \xff" + b"\xc3\xa9" * 100 + b"\r\n": ("?" + "\u00e9" * 63, None),
    b"VERSION " + b"\xc3\xa9" * 100 + b"\r\n": ("\u00e9" * 63, None),
    b"ERROR\r\n": (None, "its answer does not say"),
    b"VERSION \r\n": (None, "its answer does not say"),
    b"x" * 9000: (None, "its answer does not say"),
    b"": (None, "it has ended the connection"),
    b"VERSION 1": (None, "no answer within 500 ms"),
}


@pytest.mark.parametrize("answer", SAYS, ids=range(len(SAYS)))
def test_what_is_said_is_bounded_and_clean(answer: bytes, netmodel: Netmodel, profile: WriteProfile) -> None:
    def serve(conn: socket.socket, _number: int) -> None:
        """Pieces, the first of which may come alone; gets are misses."""
        while got := conn.recv(1000):
            if got != b"version\r\n":
                conn.sendall(b"END\r\n")
            elif answer:
                conn.sendall(answer[:3])
                time.sleep(0.01)
                conn.sendall(answer[3:])
            else:
                return

    with server_of(serve) as place:
        (said,) = identities(netmodel, profile(asking("memcache", GET, f"server={place}")))
    assert (said["version"], said["why"]) == SAYS[answer]


def without_answer(conn: socket.socket) -> None:
    """To `version`; gets are misses."""
    while got := conn.recv(1000):
        if got != b"version\r\n":
            conn.sendall(b"END\r\n")


def slow_in_part(conn: socket.socket, _number: int) -> None:
    """Only one of the addresses does not answer."""
    if conn.getsockname()[0] == "127.0.0.3":
        without_answer(conn)
    while got := conn.recv(1000):
        conn.sendall(b"VERSION 1\r\n" if got == b"version\r\n" else b"END\r\n")


def test_many_are_asked_at_once(netmodel: Netmodel, profile: WriteProfile) -> None:
    """A silent one takes nothing from those of its 64, and ends the asking."""
    with server_of(slow_in_part, "0.0.0.0") as place:
        port = place.partition(":")[2]
        path = profile(asking("memcache", GET, f"server={','.join(f'127.0.0.{n + 1}:{port}' for n in range(66))}"))
        said = identities(netmodel, path)
        named = "  ".join(f"127.0.0.{n}:{port} memcache 1" for n in (1, 2, 4, 5))
        assert f"  server        {named}  and 59 more\n" in netmodel.run("-m", path).out
    whys = [server["why"] for server in said]
    assert whys == [None] * 2 + ["no answer within 500 ms"] + [None] * 61 + ["it is not asked, as others gave no answer"] * 2
    assert [server["version"] for server in said] == [None if why else "1" for why in whys]


def test_silent_servers_share_one_wait(netmodel: Netmodel, profile: WriteProfile) -> None:
    """One after the other they would be given up over 2.5 s."""
    given_up = []

    def serve(conn: socket.socket, _number: int) -> None:
        without_answer(conn)
        given_up.append(time.monotonic())

    with server_of(serve, "0.0.0.0") as place:
        port = place.partition(":")[2]
        said = identities(netmodel, profile(asking("memcache", GET, f"server={','.join(f'127.0.0.{n + 1}:{port}' for n in range(6))}")))
    assert {server["why"] for server in said} == {"no answer within 500 ms"}
    first = sorted(given_up)[:6]
    assert first[5] - first[0] < 1, first


def test_over_tls_none_is_asked(netmodel: Netmodel, profile: WriteProfile) -> None:
    """Before a handshake, which this server does not know."""
    heard = []
    with server_of(lambda conn, _: heard.append(conn.recv(1000))) as place:
        document = netmodel.run("-m", profile(asking("memcache", GET, f"server={place} protocol=ssl verify=no")), "--format", "json", code=2).json()
    assert [(server["version"], server["why"]) for server in document["servers"]] == [(None, "it is not asked over TLS")]
    assert not any(got.startswith(b"version") for got in heard), heard


def test_where_a_login_comes_first(netmodel: Netmodel, profile: WriteProfile, tmp_path: Path) -> None:
    heard = []

    def serve(conn: socket.socket, _number: int) -> None:
        while got := conn.recv(1000):
            heard.append(got)
            conn.sendall(b"STORED\r\n" if got.startswith(b"set") else b"END\r\n")

    login = tmp_path / "login"
    login.write_text("secret\n")
    login.chmod(0o600)
    with server_of(serve) as place:
        (said,) = identities(netmodel, profile(asking("memcache", GET, f"server={place} user=me auth_file={login}")))
    assert (said["version"], said["why"]) == (None, "it is not asked where a login comes first")
    assert heard and not any(b"version" in got for got in heard)


def cut(netmodel: Netmodel, path: Path) -> Json:
    result = netmodel.run("-m", path, "--max-duration", "200ms", "--format", "json", code=2)
    assert result.json()["run"]["incomplete_why"] == "longer than --max-duration 0.2s, before the first phase", result
    document: Json = result.json()
    return document


def test_a_limit_while_they_are_asked(netmodel: Netmodel, profile: WriteProfile) -> None:
    with server_of(lambda conn, _: without_answer(conn)) as place:
        document = cut(netmodel, profile(asking("memcache", GET, f"server={place}")))
    assert [server["why"] for server in document["servers"]] == ["it was not waited for"]


def test_a_wait_that_fails_is_no_interrupt(netmodel: Netmodel, profile: WriteProfile, tmp_path: Path) -> None:
    """Of any of the first waits: the run goes on, or ends with a word about it, and waits for no interrupt."""
    library = Injector(netmodel.binary, tmp_path).library
    (hit := tmp_path / "hit").write_text("0")
    whys = set()
    with server_of(lambda conn, _: without_answer(conn)) as place:
        path = profile(asking("memcache", GET, f"server={place}"))
        for number in range(1, 7):
            env = {"LD_PRELOAD": str(library), "NETMODEL_FAIL": f"poll:{number}", "NETMODEL_FAIL_HIT": str(hit)}
            result = netmodel.run("-m", path, "--timeout", "2s", "--format", "json", env=env)
            document = result.json()
            assert result.code in (0, 2) and "interrupted" not in (document["run"]["incomplete_why"] or ""), result
            whys.add(document["servers"][0]["why"] if result.code == 0 else "")
    assert "it was not waited for" in whys, whys


def test_a_limit_while_they_are_found(netmodel: Netmodel, profile: WriteProfile) -> None:
    """A queue of pending connections that is full answers nothing."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as listener, socket.create_connection(listener.getsockname()):
        cut(netmodel, profile(asking("memcache", GET, f"server=127.0.0.1:{listener.getsockname()[1]}")))
