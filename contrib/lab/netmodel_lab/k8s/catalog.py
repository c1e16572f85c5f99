# SPDX-License-Identifier: Apache-2.0
"""The profile names of k8s-netperf, and what each of them is here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from netmodel_lab.k8s.netperf_file import Test

_DATAGRAM = 65507
Params = dict[str, str]


@dataclass(frozen=True)
class Entry:
    """profile: a stock profile; with a suffix, a file beside this one that goes to the cluster in a ConfigMap."""

    profile: str
    params: Callable[[Test], Params]
    protocol: str = "TCP"  # of a port of a Service; empty: TCP and UDP
    is_stream: bool = False
    has_burst: bool = False
    has_read_size: bool = False
    max_size: int = 0


def _stream(test: Test) -> Params:
    return {"buffer_size": str(test.messagesize)}


def _datagrams(test: Test) -> Params:
    return {"message_size": str(test.messagesize)}


def _exchange(test: Test) -> Params:
    return {"request_size": str(test.messagesize), "response_size": str(test.messagesize)}


def _pipelined(test: Test) -> Params:
    """netperf's burst is what is outstanding beside the first request."""
    return _exchange(test) | ({"pipeline": str(test.burst + 1)} if test.burst else {})


def _answered(test: Test) -> Params:
    return {"request_size": str(test.messagesize), "response_size": str(test.messagereadsize)}


CATALOG = {
    "TCP_STREAM_LAT": Entry("tcp_stream_lat.xml", _answered, is_stream=True, has_read_size=True),
    "TCP_STREAM": Entry("tcp_stream", _stream, is_stream=True),
    "UDP_STREAM": Entry("udp_stream", _datagrams, protocol="UDP", is_stream=True, max_size=_DATAGRAM),
    "TCP_RR": Entry("tcp_rr", _pipelined, has_burst=True),
    "UDP_RR": Entry("udp_rr", _exchange, protocol="UDP", max_size=_DATAGRAM),
    "TCP_CRR": Entry("tcp_crr", _exchange),
    "SCTP_STREAM": Entry("sctp_stream.xml", _stream, protocol="SCTP", is_stream=True),
    "SCTP_RR": Entry("sctp_rr", _exchange, protocol="SCTP"),
    "SCTP_CRR": Entry("sctp_crr.xml", _exchange, protocol="SCTP"),
}

NOT_HERE = {"UDP_CRR": "UDP has no connections that could be made anew for each request; UDP_RR is the same without"}
