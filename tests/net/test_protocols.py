# SPDX-License-Identifier: Apache-2.0
"""Protocols that the kernel may not have: nothing begins without them. What they do where there are is in tests/vm."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

import probes
from nmtest import PROFILES, Netmodel, Node, assert_complete, assert_ends_agree, defines, line_of

NO_PSP = "the kernel has no PSP (Linux 6.18 or later, with CONFIG_INET_PSP)"
NO_PSP_DEVICE = "no network device of this network namespace has PSP"
NO_SCTP = "the kernel has no SCTP (CONFIG_IP_SCTP, module sctp)"
NO_VSOCK = "the kernel has no vsock (CONFIG_VSOCKETS, module vsock)"
NO_OWN_CID = "the kernel has no vsock within a host (CONFIG_VSOCKETS_LOOPBACK, module vsock_loopback)"
NO_MPTCP = "the kernel has no Multipath TCP (CONFIG_MPTCP)"
MPTCP_OFF = "Multipath TCP is switched off (sysctl net.mptcp.enabled)"


def test_without_sctp_nothing_begins(netmodel: Netmodel) -> None:
    if not probes.kernel_lacks("sctp"):
        pytest.skip("this kernel has SCTP")
    result = netmodel.run("-m", "sctp_rr", code=1)
    assert result.out == ""
    path = PROFILES / "sctp_rr.xml"
    line = line_of(path, '<flowop type="connect"')
    assert result.lines() == [f'{path}:{line}: error: <flowop connect> protocol="sctp": {NO_SCTP}']


def test_without_vsock_nothing_begins(netmodel: Netmodel) -> None:
    if not probes.kernel_lacks("vsock"):
        pytest.skip("this kernel has vsock within a host")
    result = netmodel.run("-m", "vsock_rr", code=1)
    assert result.out == ""
    path = PROFILES / "vsock_rr.xml"
    place = f'{path}:{line_of(path, "<flowop type")}: error: <flowop connect> protocol="vsock"'
    assert result.lines() in ([f"{place}: {NO_VSOCK}"], [f"{place}: {NO_OWN_CID}"])


@pytest.mark.parametrize("name", ["psp_rr", "psp_crr", "psp_stream"])
def test_without_psp_nothing_begins(netmodel: Netmodel, name: str) -> None:
    """Within a host there is none, whatever its kernel is; tests/vm has two."""
    result = netmodel.run("-m", name, code=1)
    assert result.out == ""
    lines = result.lines()
    assert all(f'{PROFILES}/{name}.xml:' in line and 'error: <flowop connect> protocol="psp": ' in line for line in lines)
    assert any(NO_PSP in line or NO_PSP_DEVICE in line for line in lines), lines


def test_psp_can_be_checked_anywhere(netmodel: Netmodel) -> None:
    netmodel.run("-m", "psp_crr", "--check", code=0)


def test_keys_are_exchanged_right_behind_the_connect(netmodel: Netmodel, profile: Callable[..., Path]) -> None:
    """Otherwise something could go out in the clear before."""
    path = profile(
        """<group><transaction iterations="1">
        <flowop type="connect" options="remotehost=local protocol=psp"/>
        <flowop type="write" options="size=1"/>
        <flowop type="secure"/>
        <flowop type="disconnect"/></transaction>
        <transaction iterations="1">
        <flowop type="connect" options="remotehost=local protocol=tcp"/>
        <flowop type="secure"/>
        <flowop type="disconnect"/></transaction></group>"""
    )
    assert netmodel.run("-m", path, "--check", code=1).lines() == [
        f"{path}:6: error: <flowop secure>: must stand right behind the connect of line 4, once",
        f"{path}:10: error: <flowop secure>: the connection of line 9 is over tcp, which exchanges no keys; "
        "protocol=psp does",
    ]


@pytest.mark.needs("mptcp")
def test_a_slave_refuses_what_its_kernel_does_not_have(
    netmodel: Netmodel, profile: Callable[..., Path], nodes: Callable[[int], list[Node]]
) -> None:
    """The kernel of both is one, but each network has its own switch for Multipath TCP."""
    here, there = nodes(2)
    off = ["sh", "-c", 'echo 0 >/proc/sys/net/mptcp/enabled && exec "$@"', "sh"]
    path = profile(
        f"""<group><transaction iterations="1">
        <flowop type="connect" options="remotehost={there.address} protocol=mptcp"/>
        <flowop type="disconnect"/></transaction></group>"""
    )
    with netmodel.slave("--no-auth", prefix=[*there.prefix, *off]) as slave:
        result = netmodel.run("-m", path, "-P", str(slave.port), "-q", prefix=here.prefix, code=2)
        assert f'refused: {path}:4: error: <flowop accept> protocol="mptcp": {MPTCP_OFF}' in result.err
        result = netmodel.run("-m", path, "-P", str(slave.port), "-q", prefix=[*here.prefix, *off], code=1)
    assert result.lines() == [f'{path}:4: error: <flowop connect> protocol="mptcp": {MPTCP_OFF}']


def test_mptcp(netmodel: Netmodel, profile: Callable[..., Path]) -> None:
    path = profile(
        """<group nthreads="2" nflows="6"><transaction iterations="1">
        <flowop type="connect" options="remotehost=local protocol=mptcp nodelay wndsz=64k"/></transaction>
        <transaction iterations="20"><flowop type="write" options="size=1000"/><flowop type="read" options="size=7"/>
        </transaction><transaction iterations="1"><flowop type="disconnect"/></transaction></group>"""
    )
    if probes.kernel_lacks("mptcp"):
        result = netmodel.run("-m", path, code=1)
        assert result.lines()[0].endswith((NO_MPTCP, MPTCP_OFF))
    probes.require("mptcp")
    document = netmodel.measure(path)
    assert_complete(document)
    assert_ends_agree(document)
    assert [host["counts"]["fallbacks"] for host in document["hosts"]] == [0, 0]


@pytest.mark.needs("mptcp")
@pytest.mark.parametrize("option", ["tcp_tx_delay=1ms", "user_timeout=5s", "quickack=yes", "max_pacing_rate=1g"])
def test_what_mptcp_does_not_take_is_told_by_name(netmodel: Netmodel, profile: Callable[..., Path], option: str) -> None:
    path = profile(
        f"""<group><transaction iterations="1">
        <flowop type="connect" options="remotehost=local protocol=mptcp {option}"/>
        <flowop type="disconnect"/></transaction></group>"""
    )
    result = netmodel.run("-m", path)
    name = option.partition("=")[0]
    if result.code:  # later kernels may have more of them
        assert result.code == 2 and f"the connect at line 4: {name}: cannot be set here: " in result.err, result


def test_tcp_takes_the_words_of_uperf_for_other_systems(netmodel: Netmodel, profile: Callable[..., Path]) -> None:
    path = profile(
        """<group><transaction iterations="1">
        <flowop type="connect" options="remotehost=local protocol=tcp stack=rack bblog=3 encaps=0"/>
        <flowop type="disconnect"/></transaction></group>"""
    )
    result = netmodel.run("-m", path, "--check", code=0)
    assert result.lines() == [f"{path}:4: warning: <flowop connect> stack and bblog: no effect on Linux"]


@pytest.mark.parametrize("name", ["sctp_stream_id", "sctp_unordered", "sctp_pr_policy", "sctp_pr_value"])
def test_options_of_messages_are_told(netmodel: Netmodel, name: str) -> None:
    of_messages = "options of flowops that move a message over it:"
    out = netmodel.run("--describe", "sctp", code=0).out
    assert re.search(rf"^  {name} +\S+ ", out.partition(of_messages)[2], re.MULTILINE), out
    out = netmodel.run("--describe", "option", name, code=0).out
    assert re.search(rf"^messages over sctp +{name} ", out, re.MULTILINE), out
    manual = netmodel.run("--generate", "man-language", code=0).out.partition("SCTP over IPv4")[2]
    assert re.search(rf"^\\fB{name}\\fR", manual.partition("move a message over it")[2], re.MULTILINE)
    schema = netmodel.run("--generate", "schema", code=0).out
    takes = {
        flowop: re.search(rf"\b{name}\b", schema.partition(f"<value>{flowop}</value>")[2].partition("</group>")[0])
        for flowop in ("connect", "accept", "disconnect", "think", "read", "write", "send", "recv", "sendfile")
    }
    assert [flowop for flowop in takes if takes[flowop]] == ["read", "write", "send", "recv", "sendfile"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("-m", "tcp_rr", *defines(host="nowhere")), "with -S vsock, remotehost is a number, or local"),
        (("-s", "--bind", "10.0.0.1"), 'cannot listen on "10.0.0.1" over vsock: not a CID, which is a number'),
    ],
)
def test_a_host_of_vsock_is_a_number(netmodel: Netmodel, words: tuple[str, ...], said: str) -> None:
    assert said in netmodel.run(*words, "-S", "vsock", "-q", code=2).err


def test_control_goes_over_tcp_or_vsock(netmodel: Netmodel) -> None:
    result = netmodel.run("-s", "-S", "udp", code=1)
    assert result.lines() == ["netmodel: --control udp: must be tcp or vsock"]
