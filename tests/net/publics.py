# SPDX-License-Identifier: Apache-2.0
"""netmodel's own servers for whoever connects, as tests start them, and what they have counted in the end."""

from __future__ import annotations

import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from nmtest import PATIENCE_S, Json, Netmodel, Process, defines, free_port, wait_until


def _rows(*names: str) -> list[list[str]]:
    return [line.split() for name in names for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]]


def listens(at: int | Path, protocol: str = "tcp") -> bool:
    """Whether some socket of this host, or of this name space of networks, listens at the port, or at the path."""
    if isinstance(at, Path):
        return any(row[3] == "00010000" and row[-1] == str(at) for row in _rows("unix"))
    state = "07" if protocol == "udp" else "0A"
    return any(row[1].endswith(f":{at:04X}") and row[3] == state for row in _rows(*(("udp", "udp6") if protocol == "udp" else ("tcp", "tcp6"))))


class Public:
    """A server that a test has started; its result is there once the test has no more for it."""

    def __init__(self, process: Process, port: int) -> None:
        self.port = port
        self.result: Json = {}
        self.process = process

    def end(self) -> None:
        self.process.signal(signal.SIGINT)
        result = self.process.finish()
        assert result.code == 130, result
        self.result = result.json()

    @property
    def connections(self) -> int:
        count: int = self.result["hosts"][0]["counts"]["accepts"]
        return count

    def outcomes(self) -> dict[str, int]:
        """How often requests were answered in each way that there was, but for that which asks what the server is."""
        verbs = [verb["outcomes"] for verb in self.result["totals"]["verbs"] if verb["verb"] != "other"]
        return {name: n for name in verbs[0] if (n := sum(verb[name] for verb in verbs))}

    def verbs(self) -> dict[str, dict[str, int]]:
        """How often each verb was answered in each way that there was."""
        assert sum(v["outcomes"]["requests"] for v in self.result["totals"]["verbs"]) == self.result["totals"]["outcomes"]["requests"]
        return {
            v["verb"]: {name: n for name, n in v["outcomes"].items() if n and name != "requests"}
            for v in self.result["totals"]["verbs"]
            if v["outcomes"]["requests"]
        }


@contextmanager
def public(netmodel: Netmodel, app: str, *args: str, **params: object) -> Iterator[Public]:
    at, port = params.get("path"), free_port()
    where = {"unix": "yes"} if at else {"port": port}
    words = [*args, *defines(app=app, test_length="300s", **where, **params)]
    with netmodel.started("-m", "server", *words, "--format", "json") as process:
        server = Public(process, port)
        wait_until(lambda: listens(Path(str(at)) if at else port, "udp" if "udp" in params else "tcp"), what=f"{app} listens")
        yield server
        server.end()


def ask(server: Public, text: bytes, most: int) -> bytes:
    """What comes before the server has answered all of it and ended the connection."""
    with socket.create_connection(("127.0.0.1", server.port), PATIENCE_S) as client:
        client.settimeout(PATIENCE_S)
        client.sendall(text)
        client.shutdown(socket.SHUT_WR)
        answer = b""
        while len(answer) < most and (more := client.recv(most)):
            answer += more
        return answer
