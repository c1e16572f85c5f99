# SPDX-License-Identifier: Apache-2.0
"""A way between a master and a slave on which datagrams are delayed, doubled or lost: a relay in this process."""

from __future__ import annotations

import heapq
import itertools
import selectors
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial

from nmtest import Netmodel, Slave, free_port

NEAR, FAR = "127.0.0.2", "127.0.0.3"  # the relay, and the slave behind it
# Of a datagram and its number from 1 on: how long it takes; several: of each of its copies; None: it is lost.
Fate = Callable[[bytes, int], float | tuple[float, ...] | None]


def at_once(data: bytes, number: int) -> float:
    return 0


class Way:
    """Arguments for a master are `port` and `data_port`, and NEAR is its host; its profile needs shared_socket."""

    def __init__(self, control: int, out: Fate, back: Fate) -> None:
        self.port, self.data_port = control, free_port(socket.SOCK_DGRAM)
        self._out, self._back = (out, itertools.count(1)), (back, itertools.count(1))
        self._sockets: list[socket.socket] = []
        self._over = False
        self._control = socket.create_server((NEAR, control))
        self._data = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._data.bind((NEAR, self.data_port))
        self._sockets += [self._control, self._data]
        self._threads = [threading.Thread(target=run, daemon=True) for run in (self._accept, self._relay)]
        for thread in self._threads:
            thread.start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                master, _ = self._control.accept()
                slave = socket.create_connection((FAR, self.port))
                self._sockets += [master, slave]
                for pair in ((master, slave), (slave, master)):
                    threading.Thread(target=self._copy, args=pair, daemon=True).start()

    def _copy(self, source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)

    def _relay(self) -> None:
        selector = selectors.DefaultSelector()
        selector.register(self._data, selectors.EVENT_READ)
        peers: dict[tuple[str, int], socket.socket] = {}
        masters: dict[socket.socket, tuple[str, int]] = {}
        queue: list[tuple[float, int, Callable[[], int]]] = []
        turn = itertools.count()
        while not self._over:
            wait = min(queue[0][0] - time.monotonic(), 0.1) if queue else 0.1
            for key, _ in selector.select(max(wait, 0)):
                assert isinstance(key.fileobj, socket.socket)
                with suppress(OSError):
                    data, source = key.fileobj.recvfrom(65536)
                    if key.fileobj is not self._data:
                        fate, number = self._back
                        send = partial(self._data.sendto, data, masters[key.fileobj])
                    else:
                        if source not in peers:
                            peers[source] = self._peer()
                            masters[peers[source]] = source
                            selector.register(peers[source], selectors.EVENT_READ)
                        fate, number = self._out
                        send = partial(peers[source].send, data)
                    delays = fate(data, next(number))
                    for delay in delays if isinstance(delays, tuple) else () if delays is None else (delays,):
                        at: tuple[float, int, Callable[[], int]] = (time.monotonic() + delay, next(turn), send)
                        heapq.heappush(queue, at)
            while queue and queue[0][0] <= time.monotonic():
                with suppress(OSError):
                    heapq.heappop(queue)[-1]()

    def _peer(self) -> socket.socket:
        """What stands for a socket of the master."""
        peer = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        peer.connect((FAR, self.data_port))
        self._sockets.append(peer)
        return peer

    def close(self) -> None:
        self._over = True
        with suppress(OSError):
            self._control.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()
        for each in self._sockets:
            each.close()


@contextmanager
def way(netmodel: Netmodel, out: Fate, back: Fate = at_once) -> Iterator[Way]:
    """A slave behind a relay: what happens to the datagrams to it, and to those from it."""
    slave: Slave
    with netmodel.slave("--bind", FAR, "--no-auth") as slave:
        between = Way(slave.port, out, back)
        try:
            yield between
        finally:
            between.close()
