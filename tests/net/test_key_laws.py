# SPDX-License-Identifier: Apache-2.0
"""Which keys a server is asked for, as it sees them: how often each, by the law of the keyspace. A seed has the same each time."""

from __future__ import annotations

import socket
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from keyed import asking
from nmtest import Netmodel, assert_complete
from scripted import server_of

WriteProfile = Callable[..., Path]

FLOWS, PASSES, KEYS = 4, 5000, 1000


def asked_for(netmodel: Netmodel, path: Callable[[str], Path], seed: int) -> Counter[bytes]:
    """What a server that has nothing is asked for."""
    seen: dict[int, Counter[bytes]] = {}

    def serve(conn: socket.socket, number: int) -> None:
        keys, rest = seen.setdefault(number, Counter()), b""
        while got := conn.recv(65536):
            *lines, rest = (rest + got).split(b"\r\n")
            words = [line.split(b" ") for line in lines]
            keys.update(line[1] for line in words if line[0] == b"get")
            conn.sendall(b"".join(b"END\r\n" if line[0] == b"get" else b"VERSION 1\r\n" for line in words))

    with server_of(serve) as place:
        document = netmodel.measure(path(place), "--seed", seed)
    assert_complete(document)
    return sum(seen.values(), Counter())


def chi_square(counts: list[int], shares: list[float]) -> float:
    """The last class is all others."""
    total = sum(counts)
    expected = [total * share for share in shares]
    rest = (total - sum(counts[: len(shares)]), total - sum(expected))
    pairs = [*zip(counts, expected, strict=False), rest]
    return sum((count - mean) ** 2 / mean for count, mean in pairs if mean > 1e-6)


@pytest.mark.parametrize("law", ["zipf(1.1)", "zipf(0.99)", "uniform"])
def test_keys_follow_their_law(law: str, netmodel: Netmodel, profile: WriteProfile) -> None:
    """The eight that are asked for most, whichever they are, are so far from each other that chance does not change their order.
    One draw of 1000 has a greater chi-square than these bounds; which seeds are drawn stands here."""
    exponent = float(law[5:-1]) if law != "uniform" else 0.0
    weights = [rank**-exponent for rank in range(1, KEYS + 1)]
    shares = [weight / sum(weights) for weight in weights]

    def path(place: str) -> Path:
        body = asking("memcache", '<flowop type="get" options="keys=k"/>', f"server={place}", f"nflows='{FLOWS}'", KEYS, law)
        return profile(body.replace('duration="200ms"', f'iterations="{PASSES}" pipeline="16"'))

    seen = asked_for(netmodel, path, 7)
    assert seen.total() == FLOWS * PASSES
    assert set(seen) <= {b"k:%010d" % number for number in range(KEYS)}
    counts = sorted(seen.values(), reverse=True)
    if law == "uniform":
        assert chi_square([seen[b"k:%010d" % number] for number in range(KEYS)], shares) < 1144  # 999 degrees of freedom
    else:
        assert chi_square(counts, shares[:8]) < 26.1  # 8
        hot = sorted(int(key[2:]) for key, _ in seen.most_common(8))
        assert all(two - one > 1 for one, two in zip(hot, hot[1:], strict=False)), "they stand side by side"
    assert asked_for(netmodel, path, 7) == seen
    assert asked_for(netmodel, path, 8) != seen
