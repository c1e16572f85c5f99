# SPDX-License-Identifier: Apache-2.0
"""DNS: netmodel at both ends, with an nsd, and with servers that answer late, wrongly or not at all."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from nmtest import Json, Netmodel, assert_complete, assert_ends_agree, defines, line_of, master_of, phase_of
from partners import nsd

WriteProfile = Callable[..., Path]

ZONE = "www A 192.0.2.7\nwww AAAA 2001:db8::7\nbig TXT " + " ".join(f'"{"x" * 200}"' for _ in range(8)) + "\n"


def counts(document: Json) -> dict[str, int]:
    """How the queries were answered."""
    own = master_of(document)["counts"]
    return {name: own.get(name, 0) for name in ("hits", "misses", "refused", "truncated")}


def asking(connect: str, query: str, transaction: str = 'duration="300ms"', group: str = "nflows='4'") -> str:
    """A group that asks over one socket of each flow."""
    return (
        f'<keyspace name="hosts" count="50" length="5" prefix="h"/>'
        f'<group {group}>\n<transaction><flowop type="connect" options="app=dns {connect}"/></transaction>\n'
        f'<transaction name="ask" {transaction}><flowop type="query" options="{query}"/></transaction>\n'
        '<transaction><flowop type="disconnect"/></transaction></group>'
    )


Answer = Callable[[int, bytes], list[bytes | float]]


class Server:
    """A server of datagrams: `answer` makes of each query what is sent back; a number is a pause."""

    def __init__(self, answer: Answer) -> None:
        self.queries: list[bytes] = []
        self._answer = answer
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", 0))
        self.place = f"127.0.0.1:{self._socket.getsockname()[1]}"
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def close(self) -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as last:
            last.sendto(b"", self._socket.getsockname())
        self._thread.join()
        self._socket.close()

    def _serve(self) -> None:
        while True:
            query, peer = self._socket.recvfrom(4096)
            if not query:
                return
            self.queries.append(query)
            for said in self._answer(len(self.queries) - 1, query):
                if isinstance(said, float):
                    time.sleep(said)
                else:
                    self._socket.sendto(said, peer)


@contextmanager
def serving(answer: Answer) -> Iterator[Server]:
    server = Server(answer)
    try:
        yield server
    finally:
        server.close()


class Streams:
    """A server over TCP, which ends each connection after so many queries."""

    def __init__(self, answer: Callable[[bytes], list[bytes]], most: int) -> None:
        self.queries: list[bytes] = []
        self._answer, self._most = answer, most
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.place = f"127.0.0.1:{self._socket.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self) -> None:
        self._socket.close()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                conn, _ = self._socket.accept()
                with conn, suppress(OSError), conn.makefile("rb") as stream:
                    for _ in range(self._most):
                        query = stream.read(int.from_bytes(stream.read(2), "big"))
                        if not query:
                            break
                        self.queries.append(query)
                        for said in self._answer(query):
                            conn.sendall(len(said).to_bytes(2, "big") + said)


@contextmanager
def streaming(answer: Callable[[bytes], list[bytes]], most: int) -> Iterator[Streams]:
    server = Streams(answer, most)
    try:
        yield server
    finally:
        server.close()


@contextmanager
def flooding() -> Iterator[str]:
    """A server that sends to whoever has asked what is no answer, for 3 s at most."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as own:
        own.bind(("127.0.0.1", 0))
        own.setblocking(False)
        end = threading.Event()

        def flood() -> None:
            peers: set[tuple[str, int]] = set()
            until = time.monotonic() + 3
            while not end.is_set() and (not peers or time.monotonic() < until):
                with suppress(BlockingIOError):
                    peers.add(own.recvfrom(4096)[1])
                    until = time.monotonic() + 3 if len(peers) == 1 else until
                for peer in peers:
                    with suppress(OSError):
                        own.sendto(b"x", peer)

        thread = threading.Thread(target=flood)
        thread.start()
        try:
            yield f"127.0.0.1:{own.getsockname()[1]}"
        finally:
            end.set()
            thread.join()


def right(query: bytes) -> bytes:
    """The answer without a record."""
    return query[:2] + b"\x84\x00" + query[4:10] + b"\x00\x00" + query[12:-11]


# --- netmodel at both ends ---


@pytest.mark.parametrize("protocol", ["udp", "tcp"])
@pytest.mark.parametrize(
    "params", [{}, {"num_flows": 10, "num_threads": 3}, {"num_flows": 1}, {"arrivals": "poisson(500/s)", "num_flows": 4}]
)
def test_both_ends(protocol: str, params: dict[str, object], netmodel: Netmodel) -> None:
    document = netmodel.measure("dns", *defines(test_length="200ms", protocol=protocol, **params))
    assert_complete(document)
    phase = phase_of(document, "query")
    assert phase["transactions"] > 10
    assert counts(document)["hits"] == master_of(document)["groups"][0]["transactions"] - 2 * int(str(params.get("num_flows", 16)))
    if protocol == "tcp":
        assert_ends_agree(document)
    else:
        messages = phase["messages"]
        assert messages["to_slaves"]["lost"] + messages["to_master"]["lost"] <= 16, "no more than were under way at the end"


@pytest.mark.parametrize("connect", ["protocol=udp", "protocol=ssl", "protocol=unix", "protocol=mptcp"])
def test_transports(connect: str, netmodel: Netmodel, profile: WriteProfile) -> None:
    document = netmodel.measure(profile(asking(f"remotehost=local {connect}", "name=example.com keys=hosts type=AAAA")))
    assert_complete(document)
    assert counts(document)["hits"] > 10


def test_what_our_server_answers(netmodel: Netmodel, profile: WriteProfile) -> None:
    for query, expected in (("name=a.invalid", "misses"), ("name=. type=ANY edns=0", "hits"), ("name=a\\.b.c rd do", "hits")):
        document = netmodel.measure(profile(asking("remotehost=local protocol=udp", query, 'iterations="10"')))
        assert counts(document) == {**dict.fromkeys(counts(document), 0), expected: 40}


def test_processes(netmodel: Netmodel, profile: WriteProfile) -> None:
    body = asking("remotehost=local protocol=udp", "name=a.b", 'iterations="10"', "nprocs='2' nflows='4'")
    assert counts(netmodel.measure(profile(body)))["hits"] == 40


# --- nsd ---


@pytest.mark.parametrize("protocol", ["udp", "tcp"])
def test_counts_are_those_of_nsd(protocol: str, netmodel: Netmodel, tmp_path: Path) -> None:
    names = tmp_path / "names"
    names.write_text("# all kinds\nwww.example.com A\nbig.example.com. TXT ; long\n\nnowhere.example.com\nwww.example.com\taaaa\nelse.org MX\n")
    with nsd(tmp_path, ZONE) as server:
        params = defines(server=server.server, protocol=protocol, names=names, edns=512, test_length="300ms", num_flows=7)
        document = netmodel.measure("dns", *params)
        there = server.stats()
    assert_complete(document)
    assert len(document["hosts"]) == 1, "nobody else takes part"
    own = counts(document)
    assert sum(own.values()) == there["num.queries"] == there["num.edns"] == phase_of(document, "query")["transactions"] > 100
    assert own["misses"] == there["num.rcode.NXDOMAIN"] > 0
    assert own["refused"] == there["num.rcode.REFUSED"] > 0
    assert own["truncated"] == there["num.truncated"]
    assert own["hits"] + own["truncated"] == there["num.rcode.NOERROR"]
    assert there["num.udp" if protocol == "udp" else "num.tcp"] == there["num.queries"]
    assert (own["truncated"] > 0) == (protocol == "udp")
    assert there["num.type.TXT"] == pytest.approx(there["num.type.AAAA"], abs=7), "names are asked for in turn"


def test_names_by_keys(netmodel: Netmodel, tmp_path: Path, profile: WriteProfile) -> None:
    """Keys below 25 exist."""
    zone = "".join(f"h{number:04} A 192.0.2.1\n" for number in range(25))
    with nsd(tmp_path, zone) as server:
        query = "name=example.com keys=hosts"
        body = asking(f"server={server.server} protocol=udp", query, 'iterations="100"').replace("<keyspace", '<keyspace law="sequential"')
        document = netmodel.measure(profile(body))
        assert server.stats()["num.rcode.NXDOMAIN"] == 200
    assert counts(document) == {"hits": 200, "misses": 200, "refused": 0, "truncated": 0}


def test_arrivals_at_nsd(netmodel: Netmodel, tmp_path: Path) -> None:
    with nsd(tmp_path, ZONE) as server:
        params = defines(server=server.server, test_length="500ms", num_flows=8, arrivals="const(400/s)")
        document = netmodel.measure("dns", *params)
        assert server.stats()["num.queries"] == 200
    load = phase_of(document, "query")["load"]
    assert load["due"] == 200 and load["failed"] == load["unsent"] == 0


# --- what goes wrong ---


def test_a_late_answer_is_not_that_of_the_next_query(netmodel: Netmodel, profile: WriteProfile) -> None:
    """The first answer comes after the second query, and before the second answer."""
    held: list[bytes] = []

    def answer(number: int, query: bytes) -> list[bytes | float]:
        if number == 0:
            held.append(right(query))
            return []
        # An NXDOMAIN: had it been taken for this one, it would be a miss.
        late = [held[0][:3] + b"\x03" + held[0][4:]] if number == 1 else []
        return [*late, 0.02, right(query)] if late else [right(query)]

    with serving(answer) as server:
        body = asking(f"server={server.place} protocol=udp", "name=example.com timeout=1s", 'iterations="10"', "nflows='1'")
        document = netmodel.measure(profile(body))
        assert len({query[:2] for query in server.queries}) == len(server.queries) == 10, "each has another id"
    messages = phase_of(document, "ask")["messages"]
    assert messages["to_master"]["late"] == 1 and messages["unanswered"] == 1
    assert counts(document) == {"hits": 9, "misses": 0, "refused": 0, "truncated": 0}


@pytest.mark.parametrize(
    "wrong",
    [
        lambda query: query,
        lambda query: right(query)[:11],
        lambda query: right(query)[:20],
        lambda query: right(query)[:12] + b"\xc0\x0c" + right(query)[-4:],
        lambda query: bytes([query[0] ^ 1]) + right(query)[1:],
        lambda query: right(query).replace(b"example", b"exampel"),
        lambda query: b"",
        lambda query: b"\xff" * 4000,
    ],
)
def test_what_is_no_answer_does_not_end_the_wait(wrong: Callable[[bytes], bytes], netmodel: Netmodel, profile: WriteProfile) -> None:
    with serving(lambda _number, query: [wrong(query), right(query)]) as server:
        body = asking(f"server={server.place} protocol=udp", "name=example.com timeout=5s", 'iterations="20"', "nflows='2'")
        document = netmodel.measure(profile(body))
    assert_complete(document)
    assert counts(document)["hits"] == 40
    assert phase_of(document, "ask")["messages"]["to_master"]["late"] >= 38


def test_lost_queries_are_counted_and_not_repeated(netmodel: Netmodel, profile: WriteProfile) -> None:
    with serving(lambda number, query: [right(query)] if number % 4 else []) as server:
        body = asking(f"server={server.place} protocol=udp", "name=example.com timeout=300ms", 'iterations="40"', "nflows='1'")
        document = netmodel.measure(profile(body))
        assert len(server.queries) == 40
    assert_complete(document)
    phase = phase_of(document, "ask")
    assert phase["messages"]["unanswered"] >= 10
    assert phase["messages"]["unanswered"] + phase["transactions"] == 40
    assert phase["transactions"] == counts(document)["hits"] > 0


def test_a_query_that_nobody_has_answered_at_the_end_is_a_failure(netmodel: Netmodel, profile: WriteProfile) -> None:
    """Also without a timeout: its flow waits until the run is over."""
    flows = 4
    with serving(lambda number, query: [right(query)] if number < 20 else []) as server:
        body = asking(f"server={server.place} protocol=udp", "name=example.com", 'duration="300ms"', f"nflows='{flows}'")
        document = netmodel.run("-m", profile(body), "--format", "json", "--require", "latency.p99 < 10s", code=4).json()
        asked = len(server.queries)
    phase, totals = phase_of(document, "ask"), document["totals"]
    assert asked == 20 + flows
    assert phase["messages"]["unanswered"] == flows and phase["transactions"] == 20
    for window in (phase, totals):
        assert (window["outcomes"]["requests"], window["outcomes"]["timed_out"]) == (asked, flows)
        assert window["with_failures"]["failures"] == window["verbs"][0]["with_failures"]["failures"] == flows


def test_nobody_answers(netmodel: Netmodel, profile: WriteProfile) -> None:
    with serving(lambda _number, _query: []) as server:
        body = asking(f"server={server.place} protocol=udp", "name=example.com timeout=20ms", 'iterations="2"')
        document = netmodel.measure(profile(body), code=2)
    assert "none of the 8 messages that the master sent was answered in time: no server is there" in document["run"]["incomplete_why"]


def test_a_port_where_nobody_listens(netmodel: Netmodel, profile: WriteProfile) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
    body = asking(f"server=127.0.0.1:{port} protocol=udp", "name=example.com timeout=50ms", 'iterations="2"')
    document = netmodel.measure(profile(body), code=2)
    assert "none of the 8 messages that the master sent was answered: as the network says (ICMP)" in document["run"]["incomplete_why"]
    of = master_of(document)["counts"]
    assert of["lost"] == of["requests"] == 8 and of.get("timed_out", 0) == 0
    assert phase_of(document, "ask")["seconds"] >= 2 * 0.05, "each query waits, so that they are no flood"


@pytest.mark.parametrize(
    ("connect", "query", "why"),
    [
        ("protocol=udp", "name=a..b", 'name="a..b": a label is empty'),
        ("protocol=udp", f"name={'a' * 64}", "a label has more than 63 bytes"),
        ("protocol=udp", "name=a type=FOO", 'type="FOO": must be one of: A, AAAA,'),
        ("protocol=udp", "name=a edns=100", "edns=100: must be 0, or 512 to 4096"),
        ("protocol=udp", "name=a edns=0 do", "do goes with edns"),
        ("protocol=udp", "type=A", "needs name=..."),
        ("protocol=udp", f"name={'.'.join(['a' * 62] * 4)} keys=hosts", "the whole name 255 on the wire"),
        ("protocol=udp", "name=a canfail", "canfail"),
        ("protocol=udp shared_socket", "name=a", "not with shared_socket"),
        ("protocol=sctp", "name=a", "needs udp, or a stream"),
        ("protocol=udp", "name=a type=TYPE252", "no query asks for that type"),
        ("protocol=udp", "name=a..b names=/nowhere", "a label is empty"),
        ("protocol=udp", "name=a names=/nowhere keys=nosuch", "nosuch"),
        ("protocol=udp", "names=/nowhere", 'names="/nowhere": No such file or directory'),
    ],
)
def test_mistakes(connect: str, query: str, why: str, netmodel: Netmodel, profile: WriteProfile) -> None:
    path = profile(asking(f"remotehost=local {connect}", query))
    assert why in netmodel.run("-m", path, "--check", code=1).err


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a.b A\nc..d A\n", 'line 2: name "c..d": a label is empty'),
        ("a.b FOO\n", 'line 1: type "FOO": must be one of'),
        ("a.b A AAAA\n", "line 1: there is more behind the type"),
        ("# nothing\n\n", "has no names"),
        ("a" * 5000, 'line 1: name "aaa'),
        ("a.b A\na\0b A", "line 2: has a byte that is zero: it is no text"),
    ],
)
def test_mistakes_in_a_file_of_names(text: str, why: str, netmodel: Netmodel, tmp_path: Path) -> None:
    (tmp_path / "names").write_text(text)
    result = netmodel.run("-m", "dns", "-D", f"names={tmp_path / 'names'}", "--check", code=1)
    assert f'names="{tmp_path / "names"}": {why}' in result.err


def test_escapes_and_comments_in_a_file_of_names(netmodel: Netmodel, tmp_path: Path) -> None:
    (tmp_path / "names").write_text(f"#{'x' * 5000}\na\\;b.example A ;a comment\na\\#b SPF\n ; more\n")
    netmodel.run("-m", "dns", "-D", f"names={tmp_path / 'names'}", "--check")


def test_a_prefix_is_one_label(netmodel: Netmodel, profile: WriteProfile) -> None:
    path = profile(asking("remotehost=local protocol=udp", "name=a keys=hosts").replace('prefix="h"', 'prefix="h."'))
    assert "the prefix of its keys has a dot" in netmodel.run("-m", path, "--check", code=1).err


@pytest.mark.parametrize("protocol", ["udp", "tcp"])
def test_ids_are_drawn_from_the_seed(protocol: str, netmodel: Netmodel, profile: WriteProfile) -> None:
    seen = []
    for seed in ("1", "1", "2"):
        with streaming(lambda query: [right(query)], 100) if protocol == "tcp" else serving(lambda _number, query: [right(query)]) as server:
            body = asking(f"server={server.place} protocol={protocol}", "name=example.com timeout=5s", 'iterations="20"', "nflows='1'")
            netmodel.measure(profile(body), "--seed", seed)
            ids = [query[:2] for query in server.queries]
            assert len(set(ids)) == len(ids) == 20
            seen.append(ids)
    assert seen[0] == seen[1] != seen[2]


def test_answers_that_all_have_another_id(netmodel: Netmodel, profile: WriteProfile) -> None:
    with serving(lambda _number, query: [bytes([query[0] ^ 1]) + right(query)[1:]]) as server:
        body = asking(f"server={server.place} protocol=udp", "name=example.com timeout=50ms", 'iterations="2"')
        document = netmodel.measure(profile(body), code=2)
    assert "was answered in time" in document["run"]["incomplete_why"]


@pytest.mark.parametrize("flows", [1, 2])
def test_the_limit_holds_under_a_flood(flows: int, netmodel: Netmodel, profile: WriteProfile) -> None:
    """Until the second query is there, the server floods the client."""
    with flooding() as place:
        body = asking(f"server={place} protocol=udp", "name=example.com timeout=100ms", 'iterations="2"', f"nflows='{flows}'")
        begun = time.monotonic()
        netmodel.measure(profile(body), code=2)
        assert time.monotonic() - begun < 2.5


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (lambda query: query[:2] + b"\x80\x01" + query[4:6] + bytes(6), "refused"),
        (lambda query: query[:2] + b"\x80\x04" + bytes(8), "refused"),
        (lambda query: query[:2] + b"\x80\x03" + bytes(8), "misses"),
        (lambda query: query[:2] + b"\x82\x00" + bytes(8), "truncated"),
        (lambda query: query[:2] + b"\x80\x00" + query[4:-6] + b"\x01" + query[-5:], "refused"),
    ],
)
def test_short_answers_and_extended_codes(answer: Callable[[bytes], bytes], expected: str, netmodel: Netmodel, profile: WriteProfile) -> None:
    with serving(lambda _number, query: [answer(query)]) as server:
        body = asking(f"server={server.place} protocol=udp", "name=example.com timeout=2s", 'iterations="5"', "nflows='1'")
        document = netmodel.measure(profile(body))
    assert counts(document) == {**dict.fromkeys(counts(document), 0), expected: 5}


def test_a_connection_that_the_server_ends_is_opened_anew(netmodel: Netmodel, profile: WriteProfile) -> None:
    with streaming(lambda query: [right(query)], 3) as server:
        body = asking(f"server={server.place} protocol=tcp", "name=example.com", 'iterations="10"', "nflows='1'")
        document = netmodel.measure(profile(body))
    assert_complete(document)
    assert counts(document)["hits"] == 10


def test_an_answer_that_comes_twice_is_none_to_the_next_query(netmodel: Netmodel, profile: WriteProfile) -> None:
    with streaming(lambda query: [right(query), right(query)], 100) as server:
        body = asking(f"server={server.place} protocol=tcp", "name=example.com", 'iterations="5"', "nflows='1'")
        netmodel.run("-m", profile(body), code=2)


def test_a_mix_of_queries(netmodel: Netmodel, profile: WriteProfile) -> None:
    """At a server; between two ends of netmodel a loss would set them apart."""
    body = asking("server=HERE protocol=udp", "name=a.b timeout=5s", 'iterations="50"')
    query = '<flowop type="query" options="name=a.b timeout=5s"/>'
    body = body.replace(query, f'<mix>{query}{query.replace("a.b", "c.d")}</mix>')
    with serving(lambda _number, query: [right(query)]) as server:
        document = netmodel.measure(profile(body.replace("HERE", server.place)))
        assert len({query[12:16] for query in server.queries}) == 2
    assert counts(document)["hits"] == 200


def test_only_of_what_has_messages(netmodel: Netmodel, profile: WriteProfile) -> None:
    path = profile('<group><transaction><flowop type="connect" options="remotehost=local protocol=udp app=redis"/></transaction></group>')
    assert f'{path}:{line_of(path, "connect")}: error: <flowop connect> app="redis": needs a stream, as tcp' in netmodel.run("-m", path, "--check", code=1).err
