# SPDX-License-Identifier: Apache-2.0
"""A path that drops large packets and says nothing: between hosts with an MTU of 9000, those of more than 1500 bytes are
lost."""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from compose import ask, check, connect, group, once, opened, read, times, write
from loss import drop_answers, losing_long
from nmtest import PATIENCE_S, Netmodel, Node, defines, inside, slaves_on

pytestmark = pytest.mark.needs("netns", "xdp")

MakeNodes = Callable[..., list[Node]]


@contextmanager
def apart(netmodel: Netmodel, nodes: MakeNodes) -> Iterator[tuple[Node, Node]]:
    """A master and a slave, whose kernels do not hand over several segments as one."""
    pair = nodes(2, mtu=9000)
    with ExitStack() as stack:
        for node in pair:
            inside(node, "ip", "link", "set", "eth0", "gso_max_segs", "1")
            stack.enter_context(losing_long(node, 1514))
        stack.enter_context(slaves_on(netmodel, pair[1:]))
        yield pair[0], pair[1]


UNACKED = r"1 connection has \d+ bytes on the way that nothing acknowledges, in segments of up to "
ADVICE = (
    r"; the path may drop packets so large \(compare the MTU of all hosts; the option mss limits segments\), "
    r"or be so full that TCP waits longer than --timeout before it sends again"
)
MAY_DROP = rf" bytes[^(]*{ADVICE}"


@pytest.mark.parametrize(
    ("stock", "parameters", "told"),
    [
        ("tcp_stream", {}, rf"; here: [^;]*; {UNACKED}8948{MAY_DROP}"),
        ("tcp_rr", {"request_size": "8k"}, rf"; here: [^;]*; {UNACKED}8192{MAY_DROP}"),
        ("tcp_rr", {"response_size": "8k"}, rf"; 10\.77\.0\.2: [^;]*; {UNACKED}8192{MAY_DROP}"),
        ("tls_rr", {"request_size": "8k"}, rf"; here: [^;]*; {UNACKED}\d+{MAY_DROP}"),
        (
            "udp_rr",
            {"request_size": "8k"},
            r"group rr: none of the \d+ messages that the master sent has come in time: the path takes longer than the "
            r"timeout of 200 ms, or drops them, as it may drop all packets so large \(compare the MTU of all hosts\)",
        ),
        ("udp_rr", {"response_size": "8k"}, r"none of the \d+ messages that slave 10\.77\.0\.2 sent has come in time: "),
    ],
)
def test_it_is_named(
    netmodel: Netmodel, nodes: MakeNodes, stock: str, parameters: dict[str, str], told: str
) -> None:
    """The profile, too, is larger than a packet may be: the control connection passes."""
    with apart(netmodel, nodes) as (near, far):
        arguments = defines(host=far.address, test_length="300ms", **parameters)
        result = netmodel.run("-m", stock, *arguments, "--timeout", "5s", code=2, prefix=near.prefix)
    assert re.search(told, result.err), result


@pytest.mark.parametrize(
    ("body", "at"), [(write("64k"), "here"), (ask(10, "8k"), r"10\.77\.0\.2")], ids=["the stream", "the last answer"]
)
def test_who_has_sent_all_is_looked_at(
    netmodel: Netmodel, nodes: MakeNodes, profile: Callable[..., Path], body: str, at: str
) -> None:
    """The kernel has taken the last bytes, and so the flow has come to its end."""
    with apart(netmodel, nodes) as (near, far):
        path = profile(opened(times(1, body), opening=connect(far.address)))
        result = netmodel.run("-m", path, "--timeout", "5s", code=2, prefix=near.prefix)
    assert re.search(rf"; {at}: no flow is on its way; {UNACKED}(8192|8948){MAY_DROP}", result.err), result


@pytest.mark.needs("openssl")
def test_a_handshake_of_tls_is_no_firewall(
    netmodel: Netmodel, nodes: MakeNodes, profile: Callable[..., Path], tmp_path: Path
) -> None:
    """Its certificate is larger than a packet may be, and the other end waits for it in its connect."""
    key, cert = tmp_path / "key", tmp_path / "cert"
    made = ("-newkey", "rsa:4096", "-nodes", "-keyout", key, "-out", cert, "-subj", "/CN=x")
    subprocess.run(["openssl", "req", "-x509", *map(str, made)], check=True, capture_output=True, timeout=PATIENCE_S)
    with apart(netmodel, nodes) as (near, far):
        opening = connect(far.address, f"protocol=ssl cert={cert} key={key}", kind="accept")
        path = profile(opened(times(1, ask()), opening=opening))
        result = netmodel.run("-m", path, "--timeout", "6s", code=2, prefix=near.prefix)
    assert re.search(rf"; here: 1 flow [^;]* in accept at [^;]*; {UNACKED}\d+{MAY_DROP}", result.err), result
    assert "did not answer" not in result.err


@pytest.mark.parametrize("deaf", [1, 2])
def test_one_of_two_slaves_gets_no_datagrams(
    netmodel: Netmodel, nodes: MakeNodes, profile: Callable[..., Path], deaf: int
) -> None:
    hosts = nodes(3, mtu=9000)
    openings = [connect(hosts[number].address, f"protocol=udp conn={number}") for number in (1, 2)]
    body = "".join(write("8k", f"conn={number}") + read(64, f"conn={number} timeout=20ms") for number in (1, 2))
    path = profile(group(once(*openings), times(5, body)))
    with losing_long(hosts[deaf], 1514), slaves_on(netmodel, hosts[1:]):
        result = netmodel.run("-m", path, code=2, prefix=hosts[0].prefix)
    assert f"of the messages that the master sent none has come to slave {hosts[deaf].address} in time: " in result.err


def test_small_segments_pass(netmodel: Netmodel, nodes: MakeNodes, profile: Callable[..., Path]) -> None:
    """What the message advises."""
    with apart(netmodel, nodes) as (near, far):
        path = profile(opened(times(3, ask("8k", "8k")), opening=connect(far.address, "protocol=tcp mss=1400")))
        check(netmodel.measure(path, prefix=near.prefix))


def test_a_path_that_is_cut_is_not_one_that_drops(netmodel: Netmodel, nodes: MakeNodes) -> None:
    """It has carried such segments before. The kernel is waited for, but not for ever."""
    near, far = nodes(2)
    args = ("-v", "--timeout", "4s", *defines(host=far.address, test_length="30s"))
    with slaves_on(netmodel, [far]), netmodel.started("-m", "tcp_stream", *args, prefix=near.prefix) as master:
        master.wait_line("phase 2 of 4 begins")
        time.sleep(0.5)
        drop_answers(far, "20001-65534")
        result = master.finish()
    assert result.code == 2
    assert re.search("no progress for (8|12|16|20) s in phase 2; waiting for group", result.err), result
    assert "packets so large" not in result.err, result


@pytest.mark.parametrize(("asked", "given"), [(1460, None), (1461, 1448), (8000, 1448)])
def test_segments_smaller_than_was_asked_for_are_told(
    netmodel: Netmodel, profile: Callable[..., Path], nodes: MakeNodes, asked: int, given: int | None
) -> None:
    """Of 1460 bytes, which is what an MTU of 1500 has room for, 12 are timestamps."""
    near, far = nodes(2)
    path = profile(opened(times(5, ask(64, 64)), opening=connect(far.address, f"protocol=tcp mss={asked}")))
    with slaves_on(netmodel, [far]):
        words = ("-m", path, "--strict", "--format", "json")
        result = netmodel.run(*words, prefix=near.prefix, code=0 if given is None else 4)
    document = result.json()
    told = [text for text in document["run"]["warnings"] if "(mss)" in text]
    assert len(told) == (0 if given is None else 2), document["run"]["warnings"]
    for host in document["hosts"]:
        cut = host.get("cut_sizes", {"mss_asked_bytes": 0, "mss_given_bytes": 0})
        expected = (0, 0) if given is None else (asked, given)
        assert (cut["mss_asked_bytes"], cut["mss_given_bytes"]) == expected
    assert all(f"segments of {asked} bytes were asked for (mss), and TCP sends no more than {given}" in text for text in told)
