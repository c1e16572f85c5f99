# SPDX-License-Identifier: Apache-2.0
"""Every mistake in a profile has a message of its own, with file and line, and stops the run before anything is sent.

A file of tests/profiles_bad begins with comments that say what is to be told about it, one for each message:
`expect: LINE: MESSAGE`. LINE is "-" for what is about the whole file and "*" where versions of libxml2 differ. "..." at
the end stands for the rest of a message, and alone for further messages.
"""

from __future__ import annotations

import re
import socket
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from nmtest import BAD_PROFILES, NEEDED, PROFILES, Netmodel, Result

FILES = sorted(BAD_PROFILES.glob("*.xml"))


@dataclass(frozen=True)
class Expected:
    messages: tuple[str, ...]  # as patterns
    more: bool  # others may follow


def read_expected(path: Path) -> Expected:
    comments = re.findall(r"<!-- expect: (?:(\d+|-|\*): )?(.*?) -->", path.read_text(errors="replace"))
    patterns = []
    for line, message in comments:
        if message == "...":
            continue
        where = re.escape(str(path)) + {"-": "", "*": r":\d+"}.get(line, f":{line}")
        whole = message.removesuffix("...")
        patterns.append(f"{where}: error: {re.escape(whole)}{'.*' if whole != message else ''}")
    return Expected(tuple(patterns), any(message == "..." for _, message in comments))


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    """Stands where the bad profiles' slave would be."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        sock.listen(8)
        sock.setblocking(False)
        yield sock


def run_bad(netmodel: Netmodel, path: Path, listener: socket.socket, prefix: tuple[str, ...] = ()) -> Result:
    """Tries to run it, and holds what must be true of every bad profile."""
    env = {"ASAN_OPTIONS": "detect_leaks=0"} if prefix else {}  # leaks are not found under a tracer
    result = netmodel.run("-m", path, "-P", str(listener.getsockname()[1]), prefix=prefix, env=env)
    assert result.code == 1, result
    assert result.out == "", result
    with pytest.raises(BlockingIOError):
        listener.accept()
    return result


def test_there_are_enough() -> None:
    assert len(FILES) >= 45


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_a_bad_profile(netmodel: Netmodel, listener: socket.socket, path: Path) -> None:
    expected = read_expected(path)
    assert expected.messages, "the file does not say what to expect"
    lines = run_bad(netmodel, path, listener).lines()
    for pattern in expected.messages:
        assert any(re.fullmatch(pattern, line) for line in lines), f"{pattern}\nnot in\n" + "\n".join(lines)
    if not expected.more:
        assert len(lines) == len(expected.messages), lines


def test_mistakes_have_messages_of_their_own() -> None:
    """Alike are only messages about the same mistake in another place."""
    counts = Counter(pattern.split(": error: ", 1)[1] for path in FILES for pattern in read_expected(path).messages)
    assert len(counts) >= 90
    assert max(counts.values()) <= 3, counts.most_common(3)


def test_what_has_no_value_brings_no_other_mistakes(netmodel: Netmodel, tmp_path: Path) -> None:
    path = tmp_path / "unset.xml"
    text = (
        '<profile><param name="twice" type="count" default="$none"/><group nthreads="$n" nflows="4"><transaction>'
        '<flowop type="connect" options="remotehost=$h protocol=$proto wndsz=64k nodelay cc=$cc port=$p"/>'
        '</transaction><transaction duration="$d" total="$twice"><flowop type="write" options="size=$len"/>'
        '<flowop type="read" options="size=10 timeout=$t conn=$c"/><flowop type="think" options="duration=$w"/>'
        '</transaction><transaction><flowop type="disconnect" options="$word"/></transaction></group></profile>'
    )
    path.write_text(text)
    (line,) = netmodel.run("-m", path, "--check", code=1).lines()
    assert "12 names have no value" in line
    path.write_text(text.replace("$proto", "tpc"))
    lines = netmodel.run("-m", path, "--check", code=1).lines()
    assert len(lines) == 2, lines
    assert 'did you mean "tcp"?' in lines[1]


def test_whose_option_it_is(netmodel: Netmodel, tmp_path: Path) -> None:
    path = tmp_path / "option.xml"
    connect = '<flowop type="connect" options="remotehost=local protocol=unix cc=reno"/>'
    path.write_text(f"<profile><group><transaction>{connect}</transaction></group></profile>")
    (line,) = netmodel.run("-m", path, "--check", code=0).lines()
    assert re.search(r"not an option of connect over unix, but of connect and accept over tcp, mptcp, [a-z, ]+$", line)


def test_check_says_the_same_as_a_run(netmodel: Netmodel, listener: socket.socket) -> None:
    for path in FILES[::7]:
        assert netmodel.run("-m", path, "--check", code=1).err == run_bad(netmodel, path, listener).err


def test_all_mistakes_of_a_file_are_told_in_one_run(netmodel: Netmodel, listener: socket.socket) -> None:
    lines = run_bad(netmodel, BAD_PROFILES / "several-mistakes.xml", listener).lines()
    assert len(lines) >= 8
    assert len(set(lines)) == len(lines)


def test_no_socket_is_opened(
    netmodel: Netmodel, listener: socket.socket, strace: str, tmp_path: Path
) -> None:
    trace = tmp_path / "trace"
    prefix = (strace, "-f", "-e", "trace=socket,connect,sendto,sendmsg,fork,clone,clone3", "-o", str(trace))
    for stem in ("size-missing", "conn-not-open", "variable-undeclared", "several-mistakes"):
        run_bad(netmodel, BAD_PROFILES / f"{stem}.xml", listener, prefix)
        calls = [line for line in trace.read_text().splitlines() if "(" in line]
        assert calls == [], stem


def nested(depth: int) -> str:
    return "<profile>\n" + "<group>\n" * (depth - 1) + "</group>\n" * (depth - 1) + "</profile>\n"


OP = '<flowop type="nop"/>'
ATTRIBUTES = " ".join(f'a{n}="1"' for n in range(65))
TWICE = '<group {}="{}"><transaction><flowop type="nop"/></transaction></group>'
GENERATED = {
    "too deep": (nested(17), ":17: error: elements are nested deeper than 16"),
    "far too deep": (nested(5000), ": error: "),
    "too large": (f"<profile><!--{'x' * (1 << 20)}--></profile>", ": error: the profile is larger than 1 MiB"),
    "too many elements": (
        f"<profile><group>{'<transaction/>' * 70_000}</group></profile>",
        ":1: error: the profile has more than 65536 elements",
    ),
    "too many attributes": (
        f"<profile><group {ATTRIBUTES}/></profile>",
        ":1: error: an element has more than 64 attributes",
    ),
    "value too long": (
        f'<profile name="{"x" * 65_537}"/>',
        ":1: error: the value of an attribute is longer than 65536 bytes",
    ),
    "too many groups": (
        f"<profile>{'<group/>' * 1025}</profile>",
        ":1: error: <profile>: has 1025 groups; at most 1024",
    ),
    "too many transactions": (
        f"<profile><group>{f'<transaction>{OP}</transaction>' * 1001}</group></profile>",
        ":1: error: <group>: has 1001 transactions and 1001 flowops; at most 1000 and 10000",
    ),
    "too many flowops": (
        f"<profile><group><transaction>{OP * 10_001}</transaction></group></profile>",
        ":1: error: <group>: has 1 transactions and 10001 flowops; at most 1000 and 10000",
    ),
    "too many workers": (
        '<profile><group nprocs="8193"><transaction><flowop type="nop"/></transaction></group></profile>',
        ':1: error: <group> nprocs="8193": must be 1 to 8192',
    ),
    "more threads than flows are allowed": (
        '<profile><group nthreads="4000001"><transaction><flowop type="nop"/></transaction></group></profile>',
        ':1: error: <group> nthreads="4000001": must be 1 to 4000000',
    ),
    "too many workers together": (
        f"<profile>{TWICE.format('nprocs', 5000) * 2}</profile>",
        "10000",
    ),
    "too many flows together": (
        f"<profile>{TWICE.format('nflows', 3000000) * 2}</profile>",
        "6000000",
    ),
}


@pytest.mark.parametrize("name", GENERATED)
def test_a_profile_beyond_the_limits(netmodel: Netmodel, listener: socket.socket, tmp_path: Path, name: str) -> None:
    text, expected = GENERATED[name]
    path = tmp_path / "big.xml"
    path.write_text(text)
    result = run_bad(netmodel, path, listener)
    assert expected in result.err, result.err[:2000]
    assert all(line.startswith(f"{path}:") for line in result.lines()), result.err[:2000]
    assert len(result.lines()) <= 25, "no flood of messages"


def test_strands_are_as_many_as_flows_may_be(netmodel: Netmodel, tmp_path: Path) -> None:
    path = tmp_path / "strands.xml"
    body = '<transaction><flowop type="nop"/></transaction></group></profile>'
    path.write_text(f'<profile><group nthreads="10000">{body}')
    assert netmodel.run("-m", path, "--check", code=0).err == ""
    for attributes, what in (
        ('nthreads="9999999"', 'nthreads="9999999"'),
        ('nthreads="9999999" workers="2"', 'nthreads="9999999"'),
        ('nthreads="2" workers="4"', 'workers="4": must be at most the number of flows, 2'),
    ):
        path.write_text(f"<profile><group {attributes}>{body}")
        (line,) = netmodel.run("-m", path, "--check", code=1).lines()
        assert what in line


def test_a_line_beyond_65535_is_told_right(netmodel: Netmodel, listener: socket.socket, tmp_path: Path) -> None:
    path = tmp_path / "long.xml"
    path.write_text("<profile>\n" + "\n" * 70_000 + "<gruop/>\n</profile>\n")
    # Beyond 65535 libxml2 knows only the lines of text: where the text after the element begins may be one further.
    assert re.search(rf"{path}:7000[23]: error: <gruop>", run_bad(netmodel, path, listener).err)


def test_what_is_no_file(netmodel: Netmodel, listener: socket.socket, tmp_path: Path) -> None:
    (tmp_path / "folder.xml").mkdir()
    result = run_bad(netmodel, tmp_path / "folder.xml", listener)
    assert result.lines() == [f"{tmp_path}/folder.xml: error: cannot be read: Is a directory"]
    (tmp_path / "binary.xml").write_bytes(bytes(range(256)) * 10)
    assert "not well-formed XML" in run_bad(netmodel, tmp_path / "binary.xml", listener).err


def test_good_profiles_are_good(netmodel: Netmodel) -> None:
    """The messages above are about mistakes, not about everything."""
    for path in PROFILES.glob("*.xml"):
        assert netmodel.run("-m", path, "--check", *NEEDED.get(path.stem, ()), code=0).err == ""
