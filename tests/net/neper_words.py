# SPDX-License-Identifier: Apache-2.0
"""neper's command lines, and what they print."""

from __future__ import annotations

import re

from nmtest import Netmodel, free_port


def keys_of(text: str) -> dict[str, str]:
    lines = [line for line in text.splitlines() if not line.startswith("t=")]
    assert all(re.match(r"[\w.]+=", line) for line in lines), text
    keys = dict(line.split("=", 1) for line in lines)
    assert len(keys) == len(lines), text
    return keys


def pair(netmodel: Netmodel, workload: str, *args: str, server: tuple[str, ...] = ()) -> dict[str, str]:
    """A server and a client of a workload, as neper's are started; what the client prints."""
    port = str(free_port())
    with netmodel.started(workload, "--logtostderr", "-C", port, *server) as process:
        process.wait_line("slave listening")
        done = netmodel.run(workload, "-c", "-H", "127.0.0.1", "-C", port, *args, code=0)
        assert process.finish().code == 0
    return keys_of(done.out)
