# SPDX-License-Identifier: Apache-2.0
"""Profiles in few words, and what must hold for their results."""

from __future__ import annotations

from nmtest import Json, assert_complete, assert_ends_agree, assert_messages_add_up, master_of, phase_of, slaves_of


def op(kind: str, options: str = "") -> str:
    return f'<flowop type="{kind}" options="{options}"/>'


def write(size: object, more: str = "") -> str:
    return op("write", f"size={size} {more}".strip())


def read(size: object, more: str = "") -> str:
    return op("read", f"size={size} {more}".strip())


def ask(request: object = 64, reply: object = 64, more: str = "") -> str:
    return write(request, more) + read(reply, more)


def connect(host: str = "local", options: str = "protocol=tcp", kind: str = "connect") -> str:
    return op(kind, f"remotehost={host} {options}")


def once(*ops: str) -> str:
    return f'<transaction iterations="1">{"".join(ops)}</transaction>\n'


def times(iterations: object, *ops: str, name: str = "counted", more: str = "") -> str:
    return f'<transaction name="{name}" iterations="{iterations}" {more}>{"".join(ops)}</transaction>\n'


def lasting(duration: str, *ops: str, name: str = "timed", more: str = "") -> str:
    return f'<transaction name="{name}" duration="{duration}" {more}>{"".join(ops)}</transaction>\n'


CLOSE = once(op("disconnect"))

# Transactions that phase_of finds by their names, and what goes between them.
CONNECT = f'<transaction name="connect">{connect(options="nodelay")}</transaction>'
DISCONNECT = f'<transaction name="disconnect">{op("disconnect")}</transaction>'
ASK = ask(10, 20)


def group(*transactions: str, strands: int | str = 1, kind: str = "nthreads") -> str:
    return f'<group {kind}="{strands}">\n{"".join(transactions)}</group>\n'


def opened(*transactions: str, strands: object = 1, kind: str = "nthreads", opening: str = connect()) -> str:
    """A group that opens its connections first and closes them last."""
    return group(once(opening), *transactions, CLOSE, strands=strands, kind=kind)


def check(document: Json) -> Json:
    """It has run to the end, and both ends have counted the same."""
    assert_complete(document)
    assert_ends_agree(document)
    return document


def check_lossy(document: Json) -> Json:
    """It has run to the end, and what was sent has come or is counted as lost."""
    assert_complete(document)
    assert_messages_add_up(document)
    return document


def counts(document: Json, name: str, number: int = 0) -> tuple[int, int, int]:
    """Passes, bytes sent and bytes received of a phase at the master; the slaves must have counted the same.

    The result must be one with statistics (-t), which have the phases of the slaves."""
    own = phase_of(document, name, number)
    label = master_of(document)["groups"][number]["name"]
    parts = [
        phase
        for slave in slaves_of(document)
        for part in slave["groups"]
        if part["name"] == label
        for phase in part["phases"]
        if phase["name"] == name
    ]
    assert parts
    assert own["transactions"] == sum(part["transactions"] for part in parts)
    assert own["bytes_sent"] == sum(part["bytes_received"] for part in parts)
    assert own["bytes_received"] == sum(part["bytes_sent"] for part in parts)
    return own["transactions"], own["bytes_sent"], own["bytes_received"]
