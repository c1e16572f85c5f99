# SPDX-License-Identifier: Apache-2.0
"""What connections to Redis and memcached begin with: users and passwords, databases, the version of the protocol."""

from __future__ import annotations

import re
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from keyed import asking, counts
from nmtest import TRACED, Json, Netmodel, assert_complete, defines, line_of, trace_lines
from partners import Redis, memcached, redis, sasl_user
from scripted import server_of

WriteProfile = Callable[..., Path]
PASSWORD = "Sesame-OPEN_4711"
GET = '<flowop type="get" options="keys=k verify"/>'


@pytest.fixture
def auth(tmp_path: Path) -> Path:
    path = tmp_path / "secret"
    path.write_text(PASSWORD + "\n")
    return path


@contextmanager
def guarded() -> Iterator[Redis]:
    """A Redis that wants a password, and knows one more user."""
    with redis("", "--requirepass", PASSWORD, "--user", "app", "on", f">{PASSWORD}", "~*", "+@all") as server:
        yield server


def cli(server: Redis, *words: str) -> str:
    return server.cli("--no-auth-warning", "-a", PASSWORD, *words)


def hides(netmodel: Netmodel, path: Path, code: int) -> Json:
    """Nothing that is printed has the password."""
    done = netmodel.run("-m", path, "--format", "json", code=code)
    text = netmodel.run("-m", path, code=code)
    dumped = netmodel.run("-m", path, "--dump-plan", code=0)
    for shown in (done.out, done.err, text.out, text.err, dumped.out):
        assert PASSWORD not in shown
        assert "OPEN_" not in shown
    document: Json = done.json()
    return document


@pytest.mark.parametrize("options", ["", "user=app", "resp=3", "user=app resp=3 db=3", "db=3"])
def test_redis(options: str, netmodel: Netmodel, profile: WriteProfile, auth: Path) -> None:
    with guarded() as server:
        where = f"server={server.server} auth_file={auth} {options}"
        path = profile(asking("redis", GET, where, "nflows='3'", 50, "sequential", "size=exp(3000;1..64k)"))
        document = hides(netmodel, path, 0)
        calls = {name: int(n) for name, n in (line.split(":calls=") for line in calls_of(cli(server, "INFO", "commandstats")))}
        db = "3" if "db=3" in options else "0"
        assert int(cli(server, "-n", db, "DBSIZE")) == 50
        users = cli(server, "CLIENT", "LIST")
    assert_complete(document)
    assert calls["set"] == 100
    assert calls["get"] > 10
    assert calls.get("select", 0) >= 6 * ("db" in options)
    assert (calls.get("hello", 0) == 6) == ("resp=3" in options)
    assert "user=default" in users
    assert counts(document)["refused"] == counts(document)["misses"] == 0


def calls_of(stats: str) -> list[str]:
    return [line.removeprefix("cmdstat_").partition(",")[0] for line in stats.splitlines() if line.startswith("cmdstat_") and "|" not in line]


@pytest.mark.parametrize("protocol", ["", "resp=3"])
def test_misses_of_both_versions(protocol: str, netmodel: Netmodel, profile: WriteProfile) -> None:
    with redis() as server:
        document = netmodel.measure(profile(asking("redis", GET, f"server={server.server} {protocol}")))
    assert_complete(document)
    assert counts(document)["misses"] > 10 > counts(document)["hits"] == 0


def test_connections_that_are_opened_anew_log_in(netmodel: Netmodel, profile: WriteProfile, auth: Path) -> None:
    with guarded() as server:
        where = f"server={server.server} auth_file={auth} db=5"
        body = asking("redis", GET, where, "nflows='2'", 20, "uniform", "size=10").replace('duration="200ms"', 'duration="1500ms" rate="200"')
        stop = threading.Event()

        def kill() -> None:
            while not stop.wait(0.2):  # not before the transaction runs: what fills has no reconnect
                if "cmdstat_get:" in cli(server, "INFO", "commandstats"):
                    cli(server, "CLIENT", "KILL", "TYPE", "normal")

        killer = threading.Thread(target=kill)
        killer.start()
        document = netmodel.measure(profile(body))
        stop.set()
        killer.join()
    assert_complete(document)
    assert counts(document)["connects"] > 2
    assert counts(document)["refused"] == counts(document)["misses"] == 0


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ("auth_file={wrong}", "the server refuses AUTH, by -WRONGPASS (see user and auth_file)"),
        ("auth_file={auth} user=nobody", "the server refuses AUTH, by -WRONGPASS (see user and auth_file)"),
        ("auth_file={wrong} resp=3", "the server refuses HELLO with AUTH, by -WRONGPASS (see user and auth_file)"),
        ("resp=3", "the server refuses HELLO, by -NOAUTH HELLO must be called with the client already"),
        ("db=1", "the server refuses SELECT, by -NOAUTH Authentication required."),
        ("auth_file={auth} db=99", "the server refuses SELECT, by -ERR DB index is out of range"),
    ],
)
def test_what_redis_refuses(options: str, why: str, netmodel: Netmodel, profile: WriteProfile, auth: Path, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong"
    wrong.write_text(PASSWORD + "x")
    with guarded() as server:
        path = profile(asking("redis", GET, f"server={server.server} {options.format(auth=auth, wrong=wrong)}"))
        said = hides(netmodel, path, 2)["run"]["incomplete_why"]
    assert why in said, said
    assert server.server in said
    assert f":{line_of(path, 'connect')}: " in said


def by_bytes(answer: Callable[[bytes], bytes]) -> Callable[[socket.socket, int], None]:
    """Answers what has come, by a byte at a time."""

    def serve(conn: socket.socket, _number: int) -> None:
        while some := conn.recv(65536):
            for byte in answer(some):
                conn.sendall(bytes([byte]))

    return serve


@pytest.mark.parametrize(
    "answer",
    [
        lambda _: f"-ERR unknown command 'AUTH', with args beginning with: '{PASSWORD}'\r\n".encode(),
        lambda _: f"{PASSWORD}\r\n".encode(),
        lambda some: some,
        lambda _: b"+OK\r\n+OK\r\n+OK\r\n",
        lambda _: b"*1048577\r\n",
        lambda _: b"$1x\r\n",
    ],
)
@pytest.mark.parametrize("app", ["redis", "memcache", "memcache_meta", "memcache_binary"])
def test_servers_that_repeat_what_they_do_not_understand(
    app: str, answer: Callable[[bytes], bytes], netmodel: Netmodel, profile: WriteProfile, auth: Path
) -> None:
    with server_of(by_bytes(answer)) as place:
        path = profile(asking(app, GET, f"server={place} auth_file={auth} user=app db={'1' if app == 'redis' else '0'}"))
        said = hides(netmodel, path, 2)["run"]["incomplete_why"]
    assert place in said


def test_answers_in_pieces(netmodel: Netmodel, profile: WriteProfile, auth: Path) -> None:
    """Nested, with attributes and pushes, a byte at a time."""
    hello = b"|1\r\n+a\r\n%1\r\n$3\r\nx\r\n\r\n*0\r\n>2\r\n+message\r\n$-1\r\n%3\r\n+server\r\n=9\r\ntxt:redis\r\n+proto\r\n:3\r\n$7\r\nmodules\r\n*1\r\n~2\r\n#t\r\n,1.5\r\n"

    def answer(some: bytes) -> bytes:
        return (hello if b"HELLO" in some else b"") + (b"+OK\r\n" if b"SELECT" in some else b"") + (b"_\r\n" if b"GET" in some else b"")

    with server_of(by_bytes(answer)) as place:
        document = netmodel.measure(profile(asking("redis", GET, f"server={place} auth_file={auth} resp=3 db=2")))
    assert_complete(document)
    assert counts(document)["misses"] > 10


@pytest.mark.parametrize("app", ["memcache", "memcache_meta"])
def test_memcached(app: str, netmodel: Netmodel, profile: WriteProfile, tmp_path: Path, auth: Path) -> None:
    users = tmp_path / "users"
    users.write_text(f"app:{PASSWORD}\n")
    with memcached("-Y", str(users)) as server:
        where = f"server={server.server} auth_file={auth} user="
        fill = asking(app, GET, f"{where}app", "nflows='3'", 50, "uniform", "size=100")
        document = hides(netmodel, profile(fill), 0)
        refused = hides(netmodel, profile(asking(app, GET, f"{where}other")), 2)
    assert_complete(document)
    assert counts(document)["hits"] > 10
    assert counts(document)["misses"] == 0
    assert "the server refuses the login, by CLIENT_ERROR (see user and auth_file)" in refused["run"]["incomplete_why"]


def test_memcached_over_the_binary_protocol(netmodel: Netmodel, profile: WriteProfile, tmp_path: Path, auth: Path) -> None:
    """The login is SASL's."""
    sasl_user(tmp_path, "app", PASSWORD)
    with memcached("-S", folder=tmp_path) as server:
        where = f"server={server.server} auth_file={auth} user="
        fill = asking("memcache_binary", GET, f"{where}app", "nflows='3'", 50, "uniform", "size=100")
        document = hides(netmodel, profile(fill), 0)
        refused = hides(netmodel, profile(asking("memcache_binary", GET, f"{where}other")), 2)
        nobody = hides(netmodel, profile(asking("memcache_binary", GET, f"server={server.server}")), 0)
    assert_complete(document)
    assert counts(document)["hits"] > 10
    assert counts(document)["misses"] == counts(document)["refused"] == 0
    assert "the server refuses the login (see user and auth_file)" in refused["run"]["incomplete_why"]
    assert counts(nobody)["refused"] > 0 == counts(nobody)["hits"]


def test_a_memcached_without_users(netmodel: Netmodel, profile: WriteProfile, auth: Path) -> None:
    """It takes any login, and nobody can ask it for that."""
    with memcached() as server:
        assert_complete(netmodel.measure(profile(asking("memcache", GET, f"server={server.server} auth_file={auth} user=app"))))
        assert server.asked(b"get auth\r\n") == b"END\r\n"


@pytest.mark.parametrize(
    ("app", "options", "why"),
    [
        ("redis", "user=app", "user: needs auth_file=..."),
        ("redis", "server= db=1", "db: needs server=..."),
        ("redis", "server= auth_file=x", "auth_file: needs server=..."),
        ("redis", "db=-1", "db"),
        ("redis", "resp=4", "resp"),
        ("memcache", "auth_file=x", "auth_file: needs user=..."),
        ("memcache", "db=1", "db: app=redis has that alone"),
        ("ping", "auth_file=x", "auth_file: only app=redis and those of memcached log in"),
        ("memcache", "resp=3", "resp: app=redis has that alone"),
        ("redis", f"auth_file=x user={'u' * 129}", "user: is longer than 128 bytes"),
    ],
)
def test_options_that_do_not_fit(app: str, options: str, why: str, netmodel: Netmodel, profile: WriteProfile) -> None:
    path = profile(asking(app, GET, f"server=127.0.0.1:1 {options}".replace("server=127.0.0.1:1 server=", "server=")))
    said = netmodel.run("-m", path, code=1).err
    assert f":{line_of(path, 'connect')}: " in said
    assert why in said, said


@pytest.mark.parametrize("text", ["", "\n", "one\ntwo\n", "x" * 513])
def test_a_file_that_is_no_password(text: str, netmodel: Netmodel, profile: WriteProfile, tmp_path: Path) -> None:
    path = tmp_path / "secret"
    path.write_text(text)
    with redis() as server:
        said = netmodel.run("-m", profile(asking("redis", GET, f"server={server.server} auth_file={path}")), code=2).err
    assert f'auth_file="{path}": must be one line of 1 to 512 bytes' in said


def test_stock_profiles(netmodel: Netmodel, tmp_path: Path, auth: Path) -> None:
    users = tmp_path / "users"
    users.write_text(f"app:{PASSWORD}\n")
    with guarded() as server:
        assert_complete(netmodel.measure("redis", *defines(server=server.server, auth_file=auth, user="app", db=2, keys=30, test_length="100ms")))
        assert int(cli(server, "-n", "2", "DBSIZE")) == 30
    with memcached("-Y", str(users)) as cache:
        assert_complete(netmodel.measure("memcache", *defines(server=cache.server, auth_file=auth, user="app", keys=30, test_length="100ms")))


def test_a_connection_that_is_not_asked(netmodel: Netmodel, profile: WriteProfile, auth: Path) -> None:
    """What it begins with has room in the smallest buffer."""
    with guarded() as server:
        path = profile(
            '<group buffer="1" nflows="2"><transaction iterations="5">'
            f'<flowop type="connect" options="app=redis server={server.server} auth_file={auth} user=app db=1"/>'
            '<flowop type="disconnect"/></transaction></group>'
        )
        assert_complete(netmodel.measure(path))


def beside(server: str, auth: Path) -> str:
    """A connection that logs in, and one that carries traffic to a slave."""
    return (
        '<group nthreads="1" nflows="1"><transaction iterations="1">'
        f'<flowop type="connect" options="conn=1 app=redis server={server} auth_file={auth}"/>'
        '<flowop type="connect" options="conn=2 remotehost=local"/>'
        '<flowop type="write" options="conn=2 size=4k"/>'
        '<flowop type="disconnect" options="conn=2"/><flowop type="disconnect" options="conn=1"/>'
        "</transaction></group>"
    )


def test_nobody_else_is_sent_the_password(netmodel: Netmodel, profile: WriteProfile, tmp_path: Path, auth: Path, strace: str) -> None:
    """The payload of other connections has nothing of it."""
    how = (strace, "-ff", "-qq", "-s", "8192", "-e", "trace=sendto,sendmsg", "-o", str(tmp_path / "trace"))
    with guarded() as server:
        netmodel.run("-m", profile(beside(server.server, auth)), prefix=how, env=TRACED)
    sent = "\n".join(trace_lines(tmp_path / "trace"))
    assert re.search(r"sendto\(.*, 4096, .*= 4096", sent)
    assert sent.count(PASSWORD) == 1


def test_a_login_beside_traffic_that_is_mirrored(netmodel: Netmodel, profile: WriteProfile, auth: Path) -> None:
    """No slave has its bytes."""
    with guarded() as server:
        assert_complete(netmodel.measure(profile(beside(server.server, auth))))
