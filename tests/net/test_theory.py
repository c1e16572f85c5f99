# SPDX-License-Identifier: Apache-2.0
"""Laws in real time, at an independent receiver, beside their theory. What chance and the machine have no part in holds in every run. The
rest is printed, and is judged where the machine was so quiet that it tells something: three times at most."""

from __future__ import annotations

import itertools
import math
import socket
import statistics
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from nmtest import Json, Netmodel, defines, master_of, phase_of
from publics import public

WriteProfile = Callable[..., Path]

LENGTH_S = 1.0
ATTEMPTS = 3
QUIET = 0.02  # the share of stolen time, and of a gap by which this end begins passes too late
TOLERANCE = 0.1
SEED = "4"  # of which the few passes of so short a run are near the mean of many

# As <asm-generic/socket.h> has it, with two long numbers: seconds and nanoseconds.
SO_TIMESTAMPNS = 35
STAMP = struct.Struct("@ll")


class Receiver:
    """Answers queries of DNS, and keeps the times at which the kernel received them."""

    def __init__(self) -> None:
        self.times_ns: list[int] = []
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        self._socket.bind(("127.0.0.1", 0))
        self.place = f"127.0.0.1:{self._socket.getsockname()[1]}"
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        while True:
            query, ((_, _, stamp),), _, peer = self._socket.recvmsg(4096, socket.CMSG_SPACE(STAMP.size))
            if not query:
                return
            seconds, ns = STAMP.unpack(stamp)
            self.times_ns.append(seconds * 10**9 + ns)
            self._socket.sendto(query[:2] + bytes([query[2] | 0x80]) + query[3:], peer)

    def close(self) -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as last:
            last.sendto(b"", self._socket.getsockname())
        self._thread.join()
        self._socket.close()


@contextmanager
def receiver() -> Iterator[Receiver]:
    one = Receiver()
    try:
        yield one
    finally:
        one.close()


def due(*parts: tuple[float, float, float]) -> list[float]:
    """When passes are due by a rate that goes in each part from one value to another in so many seconds."""
    times, begin, before = [], 0.0, 0.0
    for first, last, length in parts:
        expected = (first + last) / 2 * length
        while (place := len(times) + 0.5 - before) < expected:
            times.append(begin + 2 * place / (first + math.sqrt(first**2 + 2 * place * (last - first) / length)))
        begin, before = begin + length, before + expected
    return times


def dispersion(times: list[float]) -> float:
    """The squared coefficient of variation of the gaps: 0 at equal distances, 1 of a Poisson process."""
    gaps = [after - before for before, after in itertools.pairwise(times)]
    return statistics.pvariance(gaps) / statistics.mean(gaps) ** 2


def stolen(document: Json) -> float:
    cpu: Json = master_of(document)["cpu"]
    return float(cpu["steal"])


STEPS = [(125, 125, 0.25), (250, 250, 0.25), (375, 375, 0.25), (125, 125, 0.25)]
REGULAR = due((250, 250, LENGTH_S))
# The law, how many are due, how many more or fewer by chance, and the dispersion of their gaps.
LAWS = [
    ("const(250/s)", REGULAR, 0, 0),
    ("uniform(250/s,1)", REGULAR, 0, 1 / 6),
    ("poisson(250/s)", REGULAR, 4 * math.sqrt(250), 1),
    ("ramp(0,500)", due((0, 500, LENGTH_S)), 0, None),
    ("steps(125,375,125,250ms)", due(*STEPS), 0, None),
    ("burst(250,20ms,100ms)", due(*[(1250, 1250, 0.02), (0, 0, 0.08)] * 10), 0, None),
]


@pytest.mark.alone
@pytest.mark.parametrize(("law", "times", "chance", "spread"), LAWS, ids=[law[0] for law in LAWS])
def test_arrivals_are_those_of_the_law(
    law: str, times: list[float], chance: float, spread: float | None, netmodel: Netmodel, profile: WriteProfile
) -> None:
    expected = dispersion(times) if spread is None else spread
    for _ in range(ATTEMPTS):
        with receiver() as server:
            body = f"""<group nflows="32">
              <transaction><flowop type="connect" options="remotehost=local protocol=udp app=dns server={server.place}"/></transaction>
              <transaction name="ask" measure="yes" duration="1s" arrivals="{law}"><flowop type="query" options="name=example.com timeout=30s"/>
              </transaction></group>"""
            document = netmodel.measure(profile(body), "--seed", SEED)
        load = phase_of(document, "ask")["load"]
        assert abs(load["due"] - len(times)) <= chance
        arrived = [ns / 1e9 for ns in sorted(server.times_ns)][-load["due"] :]
        assert len(arrived) == load["due"], "what is asked of the server before is less than what is due"
        late, found = load["generator_s"] * load["offered_per_s"], dispersion(arrived)
        rate = (len(arrived) - 1) / (arrived[-1] - arrived[0])
        of = (len(times) - 1) / (times[-1] - times[0])
        print(
            f"{law}: {len(arrived)} of {len(times)}  {rate:.4g}/s of {of:.4g}/s  dispersion {found:.3f} of {expected:.3f}  "
            f"stolen {stolen(document):.1%}  generator {late:.1%} of a gap"
        )
        if stolen(document) < QUIET and late < QUIET:
            assert rate == pytest.approx(of, rel=TOLERANCE)
            # A few gaps of a quarter of a thousand that are longer or shorter change that of a law of chance by a tenth.
            assert found == pytest.approx(expected, rel=3 * TOLERANCE if chance else TOLERANCE, abs=TOLERANCE / 2)
            return


SERVICE_S = 1e-3
RATE = 300
QUEUE_SEED = "1"  # as above


@pytest.mark.alone
@pytest.mark.parametrize(("law", "deviation"), [("const(1ms)", 0), ("exp(1ms)", SERVICE_S)], ids=["M/D/1", "M/M/1"])
def test_a_queue_before_a_server_is_that_of_theory(law: str, deviation: float, netmodel: Netmodel, profile: WriteProfile) -> None:
    """A connection with many requests at a time is a queue with one server. A closed loop that keeps it busy shows how long a service takes,
    with what the machine adds, and one with a single request what else a request takes."""

    def asked(server: int, how: str, seconds: float, *more: str) -> Json:
        body = f"""<group>
          <transaction><flowop type="connect" options="remotehost=local app=ping server=127.0.0.1:{server}"/></transaction>
          <transaction name="ask" measure="yes" duration="{seconds}s" {how}><flowop type="ping" options="timeout=30s"/></transaction></group>"""
        return netmodel.measure(profile(body), *more)

    def service(server: int) -> float:
        return 1 / float(asked(server, 'pipeline="16"', 0.3)["totals"]["transactions_per_s"])

    for _ in range(ATTEMPTS):
        with public(netmodel, "ping", "--seed", QUEUE_SEED, service=law) as served, public(netmodel, "ping", service="const(1ms)") as fixed:
            before = service(fixed.port)
            beside = float(asked(fixed.port, "", 0.3)["totals"]["latency_s"]["mean"]) - before
            document = asked(served.port, f'arrivals="poisson({RATE}/s)" pipeline="1024"', 2, "--seed", QUEUE_SEED)
            after = service(fixed.port)
        totals, load = document["totals"], phase_of(document, "ask")["load"]
        assert totals["response_s"]["count"] == load["due"] == pytest.approx(2 * RATE, abs=4 * math.sqrt(2 * RATE))
        mean = (before + after) / 2
        wait = load["offered_per_s"] * (deviation**2 + mean**2) / (2 * (1 - load["offered_per_s"] * mean))
        found, expected, late = totals["response_s"]["mean"], beside + mean + wait, load["generator_s"] * load["offered_per_s"]
        print(
            f"{law}: response {found * 1e6:.0f} us of {expected * 1e6:.0f} us  service {before * 1e6:.0f} us, then {after * 1e6:.0f} us  "
            f"beside {beside * 1e6:.0f} us  stolen {stolen(document):.1%}  generator {late:.1%} of a gap"
        )
        if stolen(document) < QUIET and late < QUIET and after == pytest.approx(before, rel=QUIET):
            assert found == pytest.approx(expected, rel=TOLERANCE)
            return
