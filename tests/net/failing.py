# SPDX-License-Identifier: Apache-2.0
"""Runs that do not come to their end, and what may listen where a slave should."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from nmtest import FOR_LONG, PATIENCE_S, Netmodel, Process, defines

LONG = {"test_length": FOR_LONG}
IN_PHASE = "phase 2 of 3 begins"


def started(netmodel: Netmodel, *args: str, **how: Any) -> AbstractContextManager[Process]:
    return netmodel.started("-m", "tcp_rr", "--format", "json", "-v", "-i", "100ms", *args, **how)


@contextmanager
def something_else() -> Iterator[tuple[socket.socket, list[str]]]:
    """What listens and is no slave, and the arguments of a master that takes it for one."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(PATIENCE_S)
        yield listener, ["-P", str(listener.getsockname()[1]), *defines(host="127.0.0.1")]
