# SPDX-License-Identifier: Apache-2.0
"""TLS to servers that are not netmodel: names, protocols, certificates that are refused, and connections that are opened anew."""

from __future__ import annotations

import re
import socket
import ssl
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from certificates import Files, self_signed
from keyed import asking, counts
from nmtest import Json, Netmodel, assert_complete, defines, free_port, line_of, master_of
from partners import nginx, redis
from scripted import server_of

WriteProfile = Callable[..., Path]
Validate = Callable[[Json], None]


def over_tls(connect: str, attributes: str = "", transaction: str = 'iterations="40"') -> str:
    return (
        f'<group {attributes}>\n<transaction><flowop type="connect" options="app=http protocol=ssl {connect}"/></transaction>\n'
        f'<transaction name="ask" {transaction}><flowop type="http" options="path=/file"/></transaction>\n'
        '<transaction><flowop type="disconnect"/></transaction></group>'
    )


@pytest.mark.parametrize("options", ["", "method=TLSv1.2", "session_reuse"])
def test_nginx(options: str, netmodel: Netmodel, profile: WriteProfile, tmp_path: Path, files: Files, validate: Validate) -> None:
    with nginx(tmp_path, tls=files) as server:
        (server.root / "file").write_bytes(b"x" * 100000)
        path = profile(over_tls(f"server=localhost:{server.tls_port} ca={files.ca} {options}", "nflows='3'"))
        document = netmodel.measure(path)
        log = server.log()
    validate(document)
    assert_complete(document)
    tls = master_of(document)["connections"]["tls"]
    assert tls["alpn"] == "http/1.1"
    assert tls["version"] == ("TLSv1.2" if "TLSv1.2" in options else "TLSv1.3")
    assert {tuple(line[:2] + line[4:]) for line in log} == {("GET /file HTTP/1.1", "200", "localhost", "http/1.1")}
    assert len(log) == 3 * 40
    assert counts(document)["bytes_received"] > 3 * 40 * 100000


@pytest.mark.parametrize("options", ["", "session_reuse", "session_reuse method=TLSv1.2"])
def test_connections_are_opened_anew(options: str, netmodel: Netmodel, profile: WriteProfile, tmp_path: Path, files: Files) -> None:
    with nginx(tmp_path, "keepalive_requests 5;", tls=files) as server:
        (server.root / "file").write_bytes(b"x")
        path = profile(over_tls(f"server=localhost:{server.tls_port} ca={files.ca} {options}", "nflows='2'"))
        document = netmodel.measure(path)
        log = server.log()
    assert_complete(document)
    assert len(log) == 2 * 40
    assert counts(document)["connects"] == len({line[3] for line in log}) >= 16
    assert (master_of(document)["connections"]["tls"]["resumed"] > 0) == bool(options)


def test_each_server_has_its_name(netmodel: Netmodel, profile: WriteProfile, tmp_path: Path, files: Files) -> None:
    """No name is sent for an address (RFC 6066), and a session belongs to its server."""
    with nginx(tmp_path, "keepalive_requests 5;", tls=files) as server:
        (server.root / "file").write_bytes(b"x")
        servers = f"localhost:{server.tls_port},127.0.0.1:{server.tls_port}"
        document = netmodel.measure(profile(over_tls(f"server={servers} ca={files.ca} session_reuse", "nflows='4'")))
        assert {line[4] for line in server.log()} == {"localhost", "-"}
    assert_complete(document)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ("", r"the certificate of localhost is refused: .*issuer.*: test, signed by ca \(ca=FILE has who may sign; verify=no takes any\)"),
        ("ca={other}", r"the certificate of localhost is refused: .*issuer.*: test, signed by ca \(ca=FILE"),
        (
            "ca={ca} name=example.org",
            r"the certificate of example.org is refused: hostname mismatch: it is for localhost, 127.0.0.1 "
            r"\(name=... expects another name; verify=no takes any\)",
        ),
        ("ca={ca} name=10.9.8.7", r"the certificate of 10.9.8.7 is refused: IP address mismatch: it is for localhost, 127.0.0.1 \(name="),
        ("ca={ca} method=TLSv1.2 cipher=AES128-SHA", r"the other end has refused: .*handshake failure"),
    ],
)
def test_what_is_refused(
    options: str, why: str, netmodel: Netmodel, profile: WriteProfile, tmp_path: Path, files: Files
) -> None:
    with nginx(tmp_path, tls=files) as server:
        given = options.format(ca=files.ca, other=files.other)
        path = profile(over_tls(f"server=localhost:{server.tls_port} {given}"))
        document = netmodel.measure(path, code=2)
    said = document["run"]["incomplete_why"]
    assert re.search(f"flowop connect at .*:{line_of(path, 'connect')}: {why}", said), said


def test_an_address_as_common_name(netmodel: Netmodel, profile: WriteProfile, tmp_path: Path) -> None:
    made = Files(tmp_path / "own")
    made.folder.mkdir()
    self_signed("/CN=127.0.0.1", made.cert, made.plain)
    with nginx(tmp_path, tls=made) as server:
        document = netmodel.measure(profile(over_tls(f"server=127.0.0.1:{server.tls_port} ca={made.cert}")), code=2)
    assert "IP address mismatch: it is for 127.0.0.1, and its subjectAltName has no address" in document["run"]["incomplete_why"]


def test_verification_is_turned_off(netmodel: Netmodel, profile: WriteProfile, tmp_path: Path, files: Files) -> None:
    with nginx(tmp_path, tls=files) as server:
        (server.root / "file").write_bytes(b"x")
        document = netmodel.measure(profile(over_tls(f"server=127.0.0.1:{server.tls_port} verify=no name=example.org")))
        assert {line[4] for line in server.log()} == {"example.org"}
    assert_complete(document)


def test_a_server_without_tls(netmodel: Netmodel, profile: WriteProfile, tmp_path: Path) -> None:
    with nginx(tmp_path) as server:
        document = netmodel.measure(profile(over_tls(f"server={server.server}")), code=2)
    assert "TLS: wrong version number" in document["run"]["incomplete_why"]


def test_a_name_is_not_that_of_all_below_it(netmodel: Netmodel, profile: WriteProfile, tmp_path: Path, files: Files) -> None:
    with nginx(tmp_path, tls=files) as server:
        path = profile(over_tls(f"server=localhost:{server.tls_port} ca={files.ca} name=.example"))
        said = netmodel.run("-m", path, code=2).err
    assert re.search(f":{line_of(path, 'connect')}: <flowop connect> name=.*.example.*no name that a certificate can have", said), said


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ("cert=x.pem", 'cert="x.pem": is of the end that accepts, which with server= is not netmodel'),
        ("client_ca=x.pem client_cert=y.pem", 'client_ca="x.pem": is of the end that accepts'),
        ("verify=perhaps", "verify"),
    ],
)
def test_options_that_do_not_fit(options: str, why: str, netmodel: Netmodel, profile: WriteProfile) -> None:
    path = profile(over_tls(f"server=localhost:{free_port()} {options}"))
    assert why in netmodel.run("-m", path, code=1).err


def test_a_file_that_is_not_there(netmodel: Netmodel, profile: WriteProfile, tmp_path: Path, files: Files) -> None:
    with nginx(tmp_path, tls=files) as server:
        path = profile(over_tls(f"server=localhost:{server.tls_port} ca={tmp_path}/none.pem"))
        said = netmodel.run("-m", path, code=2).err
    assert re.search(f":{line_of(path, 'connect')}: <flowop connect> ca=.*none.pem.*No such file", said), said


def test_redis(netmodel: Netmodel, profile: WriteProfile, files: Files) -> None:
    port = free_port()
    tls = ("--tls-port", str(port), "--tls-cert-file", str(files.cert), "--tls-key-file", str(files.plain), "--tls-auth-clients", "no")
    with redis("", *tls) as server:
        where = f"server=localhost:{port} protocol=tls ca={files.ca}"
        path = profile(asking("redis", '<flowop type="get" options="keys=k verify"/>', where, "nflows='3'", 50, "zipf(1.1)", "size=exp(3000;1..64k)"))
        document = netmodel.measure(path)
        calls = server.calls()
    assert_complete(document)
    assert calls["set"] == 50
    assert calls["get"] == counts(document)["hits"] > 10
    assert master_of(document)["connections"]["tls"]["alpn"] is None


@pytest.mark.parametrize("limit", ["timeout=300ms", "reconnect=500ms"])
def test_a_port_that_is_silent(limit: str, netmodel: Netmodel, profile: WriteProfile) -> None:
    """As one without TLS is, which waits for a request of its own."""
    with server_of(lambda conn, _number: conn.recv(1 << 20) and conn.recv(1)) as place:
        path = profile(over_tls(f"server={place} {limit}"))
        said = netmodel.run("-m", path, code=2).err
    assert f"flowop connect at {path}:{line_of(path, 'connect')}: TCP has connected, and the handshake of TLS has had no answer in time" in said


@pytest.mark.parametrize("name", ["http", "http_crr", "redis", "memcache"])
def test_stock_profiles_of_both_ends(name: str, netmodel: Netmodel) -> None:
    document = netmodel.measure(name, *defines(tls="yes", test_length="100ms", num_flows=2))
    assert_complete(document)
    refused = netmodel.run("-m", name, *defines(tls="yes", verify="yes", test_length="100ms"), code=2)
    assert "self-signed" in refused.err


def test_a_stock_profile(netmodel: Netmodel, tmp_path: Path, files: Files) -> None:
    with nginx(tmp_path, tls=files) as server:
        (server.root / "file").write_bytes(b"x")
        given = {"server": f"localhost:{server.tls_port}", "path": "/file", "tls": "yes", "test_length": "100ms"}
        assert_complete(netmodel.measure("http_crr", *defines(**given, ca=files.ca)))
        assert_complete(netmodel.measure("http", *defines(**given, verify="no")))
        assert "verify=no takes any" in netmodel.run("-m", "http", *defines(**given), code=2).err


def ending(files: Files, head: bytes, pause_s: float) -> Callable[[socket.socket, int], None]:
    """Answers once, ends TLS after a pause, and leaves TCP open until the other end has closed."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(files.cert, files.plain)

    def serve(conn: socket.socket, _number: int) -> None:
        with context.wrap_socket(conn, server_side=True) as tls:
            tls.recv(65536)
            tls.sendall(b"HTTP/1.1 200 OK\r\n" + head + b"Connection: close\r\n\r\nhi")
            time.sleep(pause_s)
            tls.unwrap()

    return serve


@pytest.mark.parametrize("pause_s", [0, 0.01])
@pytest.mark.parametrize("head", [b"", b"Content-Length: 2\r\n"])
def test_a_server_ends_tls_and_leaves_tcp_open(head: bytes, pause_s: float, netmodel: Netmodel, files: Files) -> None:
    with server_of(ending(files, head, pause_s)) as place:
        server = place.replace("127.0.0.1", "localhost")  # the name in the certificate
        document = netmodel.measure("http_crr", *defines(server=server, tls="yes", ca=files.ca, num_flows=2, test_length="500ms"))
    assert_complete(document)
    assert counts(document)["connects"] > 5
