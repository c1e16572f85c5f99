# SPDX-License-Identifier: Apache-2.0
"""DNS: answers that were cut for a datagram are asked for again over TCP, at an nsd and at servers that do it wrongly."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from nmtest import Json, Netmodel, assert_complete, defines, master_of, phase_of
from partners import nsd
from test_dns import ZONE, asking, right

WriteProfile = Callable[..., Path]

# What is done with a query over TCP, the n-th of its connection: what is sent back; None: the connection is ended.
Stream = Callable[[int, bytes], bytes | None]


def framed(message: bytes) -> bytes:
    return len(message).to_bytes(2, "big") + message


class Cutting:
    """A server at one port: over UDP each answer is cut, over TCP `stream` answers; None: nobody listens there."""

    def __init__(self, stream: Stream | None) -> None:
        self.queries: list[bytes] = []  # over TCP
        self.connections = 0
        self._datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._datagrams.bind(self._listener.getsockname())
        self.place = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self._stream = stream
        self._threads = [threading.Thread(target=self._cut, daemon=True)]
        if stream:
            self._threads.append(threading.Thread(target=self._accept, daemon=True))
        else:
            self._listener.close()
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as last:
            last.sendto(b"", self._datagrams.getsockname())
        self._threads[0].join()
        self._datagrams.close()
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _cut(self) -> None:
        while True:
            query, peer = self._datagrams.recvfrom(4096)
            if not query:
                return
            self._datagrams.sendto(query[:2] + b"\x82\x00" + bytes(8), peer)

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                conn, _ = self._listener.accept()
                self.connections += 1
                threading.Thread(target=self._serve, args=(conn,), daemon=True).start()

    def _serve(self, conn: socket.socket) -> None:
        assert self._stream
        with conn, suppress(OSError), conn.makefile("rb") as stream:
            for number in range(1 << 20):
                query = stream.read(int.from_bytes(stream.read(2), "big"))
                if not query:
                    return
                self.queries.append(query)
                said = self._stream(number, query)
                if said is None:
                    return
                conn.sendall(said)


@contextmanager
def cutting(stream: Stream | None) -> Iterator[Cutting]:
    server = Cutting(stream)
    try:
        yield server
    finally:
        server.close()


def outcomes(document: Json) -> dict[str, int]:
    """What has come of the queries, where that is something; the classes make up the sum."""
    of = phase_of(document, "ask")["outcomes"]
    assert of["requests"] == sum(count for name, count in of.items() if name not in ("requests", "tcp_fallback"))
    return {name: count for name, count in of.items() if count and name != "requests"}


def ask(server: Cutting, profile: WriteProfile, flows: int = 2, passes: int = 10, timeout: str = "5s") -> Path:
    return profile(asking(f"server={server.place} protocol=udp", f"name=example.com tcp_fallback timeout={timeout}", f'iterations="{passes}"', f"nflows='{flows}'"))


@pytest.mark.parametrize("params", [{"num_flows": 7}, {"num_flows": 1}, {"num_flows": 8, "num_threads": 2}, {"arrivals": "poisson(400/s)", "num_flows": 4}, {"edge_trigger": "no"}])
def test_as_many_as_nsd_has_cut(params: dict[str, object], netmodel: Netmodel, tmp_path: Path) -> None:
    names = tmp_path / "names"
    names.write_text("www.example.com A\nbig.example.com TXT\nnowhere.example.com\n")
    with nsd(tmp_path, ZONE) as server:
        document = netmodel.measure("dns", *defines(server=server.server, names=names, edns=512, tcp_fallback="yes", test_length="300ms", **params))
        there = server.stats()
    assert_complete(document)
    own = master_of(document)["counts"]
    assert own["tcp_fallback"] == there["num.truncated"] == there["num.tcp"] > 10
    assert "truncated" not in own or own["truncated"] == 0, "each has been asked again"
    assert own["hits"] == there["num.rcode.NOERROR"] - there["num.truncated"]
    assert own["misses"] == there["num.rcode.NXDOMAIN"] > 0
    assert own["requests"] == there["num.udp"] == phase_of(document, "query")["transactions"]
    flows = int(str(params.get("num_flows", 16)))
    assert flows < master_of(document)["counts"]["connects"] <= 2 * flows, "a flow keeps its connection"


def test_every_format_has_both(netmodel: Netmodel, tmp_path: Path) -> None:
    names = tmp_path / "names"
    names.write_text("big.example.com TXT\n")
    with nsd(tmp_path, ZONE) as server:
        words = ["-m", "dns", *defines(server=server.server, names=names, edns=512, num_flows=2, num_transactions=40)]
        for fallback, figure in (("yes", "tcp_fallback"), ("no", "truncated")):
            own = [*words, "-D", f"tcp_fallback={fallback}"]
            assert "40 answers" in netmodel.run(*own).out
            assert f"outcomes_{figure}=40" in netmodel.run(*own, "--format", "kv").out
            assert figure in netmodel.run(*own, "--format", "csv").out
            netmodel.run(*own, "--require", f"outcomes.{figure} == 40 verb.query.outcomes.{figure} == 40")
        assert server.stats()["num.tcp"] == 4 * 40


def test_the_latency_has_both_ways(netmodel: Netmodel, profile: WriteProfile) -> None:
    pause = threading.Event()

    def answer(_number: int, query: bytes) -> bytes:
        pause.wait(0.03)
        return framed(right(query))

    with cutting(answer) as server:
        document = netmodel.measure(ask(server, profile, passes=5))
    phase = phase_of(document, "ask")
    assert phase["latency_s"]["min"] >= 0.03
    assert phase["verbs"][0]["latency_s"]["min"] >= 0.03
    assert outcomes(document) == {"hits": 10, "tcp_fallback": 10}


def test_nobody_listens_there(netmodel: Netmodel, profile: WriteProfile) -> None:
    with cutting(None) as server:
        document = netmodel.measure(ask(server, profile), code=2)
    assert outcomes(document) == {"lost": 20, "tcp_fallback": 20}
    assert "none of its 20 requests was answered" in document["run"]["incomplete_why"]


def test_a_connection_that_was_ended_between_two_queries_is_opened_anew(netmodel: Netmodel, profile: WriteProfile) -> None:
    with cutting(lambda number, query: framed(right(query)) if number < 3 else None) as server:
        document = netmodel.measure(ask(server, profile, flows=1, passes=9))
        assert server.connections >= 3
    assert_complete(document)
    assert outcomes(document) == {"hits": 9, "tcp_fallback": 9}


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (lambda query: framed(bytes([query[0] ^ 1]) + right(query)[1:]), "malformed"),
        (lambda query: framed(right(query)) * 2, "malformed"),
        (lambda query: framed(right(query))[:9], "timed_out"),
        (lambda _query: None, "lost"),
        (lambda query: framed(query[:2] + b"\x80\x03" + bytes(8)), "misses"),
        (lambda query: framed(query[:2] + b"\x82\x00" + bytes(8)), "hits"),
    ],
)
def test_what_comes_over_the_stream(said: Callable[[bytes], bytes | None], expected: str, netmodel: Netmodel, profile: WriteProfile) -> None:
    """Each has another connection where the one before is of no more use, and no failure ends the run."""
    with cutting(lambda _number, query: said(query)) as server:
        answered = expected in ("misses", "hits")
        document = netmodel.measure(ask(server, profile, passes=3, timeout="100ms" if expected == "timed_out" else "5s"), code=0 if answered else 2)
        assert len(server.queries) == 6 and server.connections == (2 if answered else 6)
        assert len({query[:2] for query in server.queries}) > 3
    assert outcomes(document) == {expected: 6, "tcp_fallback": 6}


@pytest.mark.parametrize(
    ("connect", "why"),
    [("remotehost=local protocol=udp", "needs server="), ("server=127.0.0.1 protocol=tcp", "only over udp")],
)
def test_mistakes(connect: str, why: str, netmodel: Netmodel, profile: WriteProfile) -> None:
    path = profile(asking(connect, "name=a.b tcp_fallback"))
    assert f"tcp_fallback: {why}" in netmodel.run("-m", path, "--check", code=1).err
