# SPDX-License-Identifier: Apache-2.0
"""TLS: what is agreed upon, who is trusted, what is refused, and that the bytes arrive."""

from __future__ import annotations

import os
import re
import socket
import subprocess
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from certificates import Files
from nmtest import (
    PATIENCE_S,
    Json,
    Netmodel,
    Slave,
    assert_complete,
    assert_ends_agree,
    defines,
    limit_descriptors,
    slaves_of,
    wait_until,
)

WriteProfile = Callable[..., Path]
Validate = Callable[[Json], None]

RR = '<flowop type="write" options="size=100"/><flowop type="read" options="size=300"/>'


@pytest.fixture
def over_ssl(profile: WriteProfile) -> Callable[..., Path]:
    """A profile in which some flows exchange messages; everything is measured."""

    def write(options: str = "", body: str = RR, host: str = "local", opening: str = "connect") -> Path:
        return profile(
            f'<group nthreads="2" nflows="5"><transaction measure="no">'
            f'<flowop type="{opening}" options="remotehost={host} protocol=ssl {options}"/></transaction>'
            f'<transaction iterations="20">{body}</transaction>'
            f'<transaction measure="no"><flowop type="disconnect"/></transaction></group>'
        )

    return write


def tls_of(document: Json) -> list[Json]:
    """What each host tells about its connections: None where it has none over TLS, or none is open any more."""
    return [host["connections"].get("tls") for host in document["hosts"]]


def check(document: Json, transactions: int = 100) -> list[Json]:
    assert_complete(document)
    assert_ends_agree(document)
    assert document["totals"]["transactions"] == transactions
    return tls_of(document)


def test_request_and_response(netmodel: Netmodel, validate: Validate, over_ssl: Callable[..., Path]) -> None:
    document = netmodel.measure(over_ssl())
    validate(document)
    told = check(document)
    assert told[0] == told[1]
    assert told[0]["version"] == "TLSv1.3"
    assert told[0]["count"] == 5
    assert told[0]["resumed"] == 0


def test_tcp_has_no_tls(netmodel: Netmodel, validate: Validate) -> None:
    document = netmodel.measure("tcp_rr", *defines(test_length="50ms"))
    validate(document)
    assert tls_of(document) == [None, None]


def test_tls_is_another_name_of_it(netmodel: Netmodel, profile: WriteProfile) -> None:
    path = profile(
        '<group><transaction><flowop type="connect" options="remotehost=local protocol=tls"/></transaction>'
        f'<transaction iterations="9">{RR}</transaction></group>'
    )
    assert check(netmodel.measure(path), 10)[0]["version"] == "TLSv1.3"


@pytest.mark.parametrize("size", ["1", "16k", "16385", "1m", "3000001"])
def test_sizes_of_messages_both_ways(netmodel: Netmodel, over_ssl: Callable[..., Path], size: str) -> None:
    body = f'<flowop type="write" options="size={size}"/><flowop type="read" options="size={size}"/>'
    document = netmodel.measure(over_ssl(body=body))
    check(document)
    digits = {"16k": 16384, "1m": 1 << 20}.get(size) or int(size)
    assert document["totals"]["bytes_sent"] == document["totals"]["bytes_received"] == 100 * digits


def test_the_slave_connects(netmodel: Netmodel, over_ssl: Callable[..., Path]) -> None:
    check(netmodel.measure(over_ssl(opening="accept")))


def test_workers_that_are_processes(netmodel: Netmodel, profile: WriteProfile) -> None:
    """They share nothing of what was made before they were."""
    path = profile(
        '<group nprocs="3"><transaction iterations="10">'
        '<flowop type="connect" options="remotehost=local protocol=ssl session_reuse"/>'
        f'{RR}<flowop type="disconnect"/></transaction></group>'
    )
    check(netmodel.measure(path), 30)


def test_one_way_for_a_time(netmodel: Netmodel, profile: WriteProfile) -> None:
    path = profile(
        '<group nflows="3"><transaction><flowop type="connect" options="remotehost=local protocol=ssl"/></transaction>'
        '<transaction duration="200ms"><flowop type="write" options="size=100k"/></transaction></group>'
    )
    document = netmodel.measure(path)
    assert_complete(document)
    assert_ends_agree(document)
    assert document["totals"]["transactions"] > 10


@pytest.mark.parametrize("options", ["", "method=TLSv1.2 session_reuse", "session_reuse"])
@pytest.mark.parametrize("opening", ["connect", "accept"])
def test_flows_and_groups_share_a_port(
    netmodel: Netmodel, profile: WriteProfile, opening: str, options: str
) -> None:
    """Whose a connection is, it says in the clear, before the handshake."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    group = (
        '<group nthreads="2" nflows="4"><transaction iterations="10">'
        f'<flowop type="{opening}" options="conn=1 remotehost=local protocol=ssl port={port} {options}"/>'
        f'<flowop type="{opening}" options="conn=2 remotehost=local protocol=ssl port={port} {options}"/>'
        '<flowop type="write" options="conn=1 size={size}"/><flowop type="read" options="conn=2 size={size}"/>'
        '<flowop type="disconnect" options="conn=1"/><flowop type="disconnect" options="conn=2"/>'
        "</transaction></group>"
    )
    document = netmodel.measure(profile(group.replace("{size}", "10") + group.replace("{size}", "30000")))
    check(document, 80)
    assert document["totals"]["bytes_sent"] == 40 * 30010


@pytest.mark.parametrize("close", ["fin", "rst"])
@pytest.mark.parametrize("options", ["method=TLSv1.2", "method=TLSv1.3", "session_reuse", "session_reuse method=TLSv1.2"])
def test_a_connection_for_each_pass(netmodel: Netmodel, profile: WriteProfile, options: str, close: str) -> None:
    path = profile(
        '<group nflows="3"><transaction iterations="40">'
        f'<flowop type="connect" options="remotehost=local protocol=ssl {options}"/>{RR}'
        f'<flowop type="disconnect" options="close={close}"/></transaction></group>'
    )
    document = netmodel.measure(path)
    assert_complete(document)
    assert_ends_agree(document)
    assert document["totals"]["connects"] == 120


@pytest.mark.parametrize("options", ["", "session_reuse"])
def test_nothing_is_lost_when_the_writer_closes(netmodel: Netmodel, profile: WriteProfile, options: str) -> None:
    """Nothing that the accepting end sends by itself may make a reset of the close."""
    path = profile(
        '<group nflows="3"><transaction iterations="40">'
        f'<flowop type="connect" options="remotehost=local protocol=ssl {options}"/>'
        '<flowop type="write" options="size=100000"/><flowop type="disconnect"/></transaction></group>'
    )
    document = netmodel.measure(path)
    assert_complete(document)
    assert_ends_agree(document)
    assert document["totals"]["bytes_sent"] == 120 * 100000


def test_small_messages_do_not_wait_for_acknowledgements(netmodel: Netmodel, over_ssl: Callable[..., Path]) -> None:
    """Without nodelay the first request after a handshake would wait 40 ms in most passes."""
    document = netmodel.measure(over_ssl("method=TLSv1.3"))
    assert document["totals"]["latency_s"]["mean"] < 0.002


@pytest.mark.parametrize("version", ["TLSv1.2", "TLSv1.3"])
def test_sessions_are_continued(netmodel: Netmodel, profile: WriteProfile, version: str) -> None:
    path = profile(
        '<group nflows="2"><transaction iterations="6">'
        f'<flowop type="connect" options="remotehost=local protocol=ssl session_reuse method={version}"/>{RR}'
        "</transaction></group>"
    )
    for told in check(netmodel.measure(path), 12):
        assert told["count"] == 12
        assert told["resumed"] == 10, "all but the first of each of the flows, which begin at once"


@pytest.mark.parametrize(
    ("options", "version", "cipher"),
    [
        ("method=TLSv1.2", "TLSv1.2", "ECDHE-ECDSA-.*"),
        ("method=tlsv1_2", "TLSv1.2", ".*"),
        ("method=TLSv1.3", "TLSv1.3", "TLS_.*"),
        ("method=SSLv23", "TLSv1.3", "TLS_.*"),
        ("method=tls", "TLSv1.3", "TLS_.*"),
        ("cipher=TLS_AES_128_GCM_SHA256", "TLSv1.3", "TLS_AES_128_GCM_SHA256"),
        ("cipher=TLS_CHACHA20_POLY1305_SHA256", "TLSv1.3", "TLS_CHACHA20_POLY1305_SHA256"),
        ("cipher=ECDHE-RSA-AES128-GCM-SHA256", "TLSv1.2", "ECDHE-RSA-AES128-GCM-SHA256"),
        ("cipher=DHE-RSA-AES256-GCM-SHA384", "TLSv1.2", "DHE-RSA-AES256-GCM-SHA384"),
        ("cipher=AES128-SHA", "TLSv1.2", "AES128-SHA"),
        ("cipher=TLS_AES_128_GCM_SHA256:AES128-SHA method=TLSv1.2", "TLSv1.2", "AES128-SHA"),
        ("cipher=TLS_AES_128_GCM_SHA256:AES128-SHA", "TLSv1.3", "TLS_AES_128_GCM_SHA256"),
        ("ktls", "TLSv1.3", "TLS_.*"),
        ("ktls method=TLSv1.2", "TLSv1.2", ".*"),
        ("nodelay wndsz=64k cc=reno localhost=127.0.0.1", "TLSv1.3", ".*"),
    ],
)
def test_what_is_agreed_upon(
    netmodel: Netmodel, over_ssl: Callable[..., Path], options: str, version: str, cipher: str
) -> None:
    for told in check(netmodel.measure(over_ssl(options))):
        assert told["version"] == version
        assert re.fullmatch(cipher, told["cipher"]), told
        if "ktls" not in options:
            assert told["ktls_send"] == told["ktls_receive"] == 0


def test_the_result_tells_it_in_words(netmodel: Netmodel, over_ssl: Callable[..., Path]) -> None:
    out = netmodel.run("-m", over_ssl("cipher=TLS_AES_128_GCM_SHA256"), code=0).out
    assert re.search(r"TLS on master: TLSv1\.3 TLS_AES_128_GCM_SHA256, connections 5, resumed 0", out)


def listening_port(pid: int) -> int | None:
    """Of a process that listens on one port; None while it does not."""
    sockets = set()
    for fd in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(OSError):
            sockets.add(os.readlink(fd))
    for line in Path(f"/proc/{pid}/net/tcp").read_text().splitlines()[1:]:
        fields = line.split()
        if fields[3] == "0A" and f"socket:[{fields[9]}]" in sockets:
            return int(fields[1].partition(":")[2], 16)
    return None


def test_another_implementation_agrees(netmodel: Netmodel, profile: WriteProfile, slave: Slave, files: Files) -> None:
    """The accepting end as openssl s_client sees it, which comes first while the flow still thinks."""
    path = profile(
        '<group><transaction><flowop type="think" options="duration=2s"/></transaction><transaction>'
        '<flowop type="accept" options="remotehost=127.0.0.1 protocol=ssl cipher=TLS_AES_128_CCM_SHA256 '
        f'{files.served}"/></transaction></group>'
    )
    with netmodel.started("-m", path, "-P", str(slave.port)) as master:
        port = wait_until(lambda: listening_port(master.pid))
        command = ["openssl", "s_client", "-connect", f"127.0.0.1:{port}", "-CAfile", str(files.ca)]
        command += ["-ciphersuites", "TLS_AES_256_GCM_SHA384:TLS_AES_128_CCM_SHA256"]
        done = subprocess.run(command, input="", capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert "New, TLSv1.3, Cipher is TLS_AES_128_CCM_SHA256" in done.stdout, done
    assert "Verification: OK" in done.stdout, done


@pytest.mark.parametrize("options", ["", "name=127.0.0.1", "method=TLSv1.2", "session_reuse"])
def test_a_certificate_that_is_trusted(
    netmodel: Netmodel, over_ssl: Callable[..., Path], files: Files, options: str
) -> None:
    check(netmodel.measure(over_ssl(f"{files.served} verify ca={files.ca} {options}")))


def test_the_name_is_that_of_the_host(
    netmodel: Netmodel, over_ssl: Callable[..., Path], slave: Slave, files: Files
) -> None:
    """The master connects to a host by its name in the profile, the slave to the master by its address."""
    options = f"{files.served} verify ca={files.ca}"
    check(netmodel.measure(over_ssl(options, host="127.0.0.1"), "-P", str(slave.port)))
    check(netmodel.measure(over_ssl(options, host="127.0.0.1", opening="accept"), "-P", str(slave.port)))


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ("verify ca={other}", r"certificate of the other end is refused: .*issuer.* \(see ca\)"),
        ("verify", r"certificate of the other end is refused: .*issuer.* \(see ca\)"),
        ("verify ca={ca} name=example.org", r"certificate of the other end is refused: .*mismatch.* \(see name\)"),
        ("verify ca={ca} name=10.9.8.7", r"certificate of the other end is refused: .*mismatch.* \(see name\)"),
        ("verify ca={other} method=TLSv1.2", r"certificate of the other end is refused: .* \(see ca\)"),
    ],
)
@pytest.mark.parametrize("opening", ["connect", "accept"])
def test_a_certificate_that_is_not(
    netmodel: Netmodel, over_ssl: Callable[..., Path], files: Files, options: str, why: str, opening: str
) -> None:
    trust = options.format(ca=files.ca, other=files.other)
    result = netmodel.run("-m", over_ssl(f"{files.served} {trust}", opening=opening), "--format", "json", code=2)
    document = result.json()
    assert re.search(f"flowop connect at .*:3: the {why}", document["run"]["incomplete_why"]), result
    assert document["totals"]["transactions"] == 0
    assert re.search(why, result.err)


def test_a_self_signed_certificate_is_not_trusted(netmodel: Netmodel, over_ssl: Callable[..., Path]) -> None:
    assert "self-signed certificate" in netmodel.run("-m", over_ssl("verify"), code=2).err


def test_certificates_of_both_ends(netmodel: Netmodel, over_ssl: Callable[..., Path], files: Files) -> None:
    own = f"client_cert={files.cert} client_key={files.key} password=sesame"
    check(netmodel.measure(over_ssl(own)))
    check(netmodel.measure(over_ssl(f"{own} client_ca={files.ca}")))
    result = netmodel.run("-m", over_ssl(f"{own} client_ca={files.other} method=TLSv1.2"), code=2)
    assert re.search(r"flowop accept at .*: the certificate of the other end is refused: .*\(see client_ca\)", result.err)


@pytest.mark.parametrize(
    ("option", "more"),
    [("cert", ""), ("key", "cert=other"), ("ca", "verify"), ("client_cert", "")]
    + [("client_key", "client_cert=other"), ("client_ca", "client_cert=other")],
)
def test_no_output_overwrites_a_certificate(
    netmodel: Netmodel, over_ssl: Callable[..., Path], tmp_path: Path, option: str, more: str
) -> None:
    read, link = tmp_path / "read.pem", tmp_path / "link"
    read.write_text("kept")
    link.symlink_to(read)
    result = netmodel.run("-m", over_ssl(f"{option}={read} {more}"), "-o", link, code=1)
    names = f"{option} {read} and --output {link}"
    assert result.err == f"netmodel: {names}: one file: the output would overwrite what is read\n"
    assert read.read_text() == "kept"


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ("cert={none}", 'accept at line 3: cert="{none}": No such file'),
        ("cert={junk}", 'accept at line 3: cert="{junk}": no certificate in PEM form'),
        ("cert=/dev/zero", 'accept at line 3: cert="/dev/zero": not a regular file'),
        ("cert={cert} key={none}", 'accept at line 3: key="{none}": No such file'),
        ("cert={cert} key={junk}", 'accept at line 3: key="{junk}": no key of that certificate'),
        ("cert={ca}", 'accept at line 3: cert="{ca}": no key of that certificate'),
        ("cert={ca} key={key} password=sesame", 'accept at line 3: key="{key}": no key of that certificate'),
        ("cert={cert} key={key}", 'accept at line 3: key="{key}": the key is encrypted, and there is no password'),
        ("cert={cert} key={key} password=wrong", 'accept at line 3: key="{key}": .*not with this password'),
        ("verify ca={none}", 'connect at line 3: ca="{none}": No such file'),
        ("verify ca={junk}", 'connect at line 3: ca="{junk}": no certificates in PEM form'),
        ("client_cert={none}", 'connect at line 3: client_cert="{none}": No such file'),
        ("client_cert={ca} client_key={key} password=sesame", 'connect at line 3: client_key="{key}": no key of'),
    ],
)
@pytest.mark.parametrize("opening", ["connect", "accept"])
def test_a_file_that_cannot_be_used(
    netmodel: Netmodel, over_ssl: Callable[..., Path], files: Files, options: str, why: str, opening: str
) -> None:
    """The end that needs it names it, and nothing is run."""
    names = {name: getattr(files, name) for name in ("cert", "key", "ca", "junk", "none")}
    path = over_ssl(options.format(**names), opening=opening)
    result = netmodel.run("-m", path, code=2)
    assert re.search(f"the {why.format(**names)}", result.err), result
    netmodel.run("-m", path, "--check", code=0)


@pytest.mark.parametrize(
    ("options", "warning"),
    [
        ("engine=rdrand", 'engine="rdrand" has no effect: OpenSSL 3 does without engines'),
        ("ca=/nowhere", 'ca="/nowhere" has no effect without verify'),
    ],
)
def test_what_has_no_effect_is_said(
    netmodel: Netmodel, over_ssl: Callable[..., Path], options: str, warning: str
) -> None:
    result = netmodel.run("-m", over_ssl(options), code=0)
    assert f"warning: <flowop connect> {warning}" in result.err


def test_no_common_cipher(netmodel: Netmodel, over_ssl: Callable[..., Path], files: Files) -> None:
    """The certificate is of an elliptic curve, the cipher needs RSA."""
    path = over_ssl(f"{files.served} cipher=ECDHE-RSA-AES128-GCM-SHA256")
    assert re.search("flowop accept at .*: TLS: no shared cipher", netmodel.run("-m", path, code=2).err)


def test_a_peer_that_does_not_speak_tls(netmodel: Netmodel, profile: WriteProfile, slave: Slave) -> None:
    path = profile(
        '<group><transaction><flowop type="think" options="duration=1s"/></transaction><transaction>'
        '<flowop type="accept" options="remotehost=127.0.0.1 protocol=ssl"/></transaction></group>'
    )
    with netmodel.started("-m", path, "-P", str(slave.port)) as master:
        port = wait_until(lambda: listening_port(master.pid))
        with socket.create_connection(("127.0.0.1", port)) as stranger:
            stranger.sendall(b"GET / HTTP/1.0\r\n\r\n")
            result = master.finish()
    assert result.code == 2
    assert re.search("flowop accept at .*: TLS: http request", result.err), result


def test_many_connections_leave_nothing_behind(netmodel: Netmodel, profile: WriteProfile) -> None:
    """Neither descriptors nor memory: that of a tenth of the connections is enough for all."""
    options = [os.environ.get("ASAN_OPTIONS", ""), "quarantine_size_mb=1:thread_local_quarantine_size_kb=64"]
    env = {"ASAN_OPTIONS": ":".join(filter(None, options))}  # which keeps freed memory otherwise

    def kilobytes(iterations: int) -> int:
        path = profile(
            f'<group><transaction iterations="{iterations}">'
            f'<flowop type="connect" options="remotehost=local protocol=ssl session_reuse method=TLSv1.2"/>{RR}'
            '<flowop type="disconnect"/></transaction></group>'
        )
        document = netmodel.measure(path, before=limit_descriptors(80), env=env)
        assert_complete(document)
        return max(int(host["rusage"]["maxrss_kb"]) for host in document["hosts"])

    assert kilobytes(2000) < kilobytes(200) + 2000


def test_the_stock_profile(netmodel: Netmodel) -> None:
    given = defines(test_length="100ms", method="TLSv1.2", cipher="AES256-SHA256", num_flows=3)
    document = netmodel.measure("tls_rr", *given)
    assert_complete(document)
    assert {told["cipher"] for told in tls_of(document)} == {"AES256-SHA256"}
    assert len(slaves_of(document)) == 1
