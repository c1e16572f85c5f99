# SPDX-License-Identifier: Apache-2.0
"""Profiles made to do harm: each is refused in less than a second and 100 MB, with few lines that say what is allowed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from nmtest import PATIENCE_S, Netmodel

SECONDS = 1.0
BYTES = 100 << 20
LINES = 1100  # of messages: 500 errors and 500 warnings, at most, and what is said of the others

CONNECT = '<transaction><flowop type="connect" options="remotehost=local"/></transaction>'


def is_instrumented(binary: Path) -> bool:
    """Whether the program has sanitizers, and so takes several times as much."""
    data = binary.read_bytes()
    return b"__asan_init" in data or b"__tsan_init" in data


def group(attrs: str = "", inside: str = CONNECT) -> str:
    return f"<group {attrs}>{inside}</group>"


def profile(*parts: str) -> str:
    return "<profile>\n" + "\n".join(parts) + "\n</profile>\n"


def param(name: str, default: str) -> str:
    return f'<param name="{name}" type="string" default="{default}"/>'


def flowops(flowop: str, count: int) -> str:
    return group(inside=f"<transaction>{flowop * count}</transaction>")


def entities() -> str:
    """The billion laughs."""
    inner = "".join(f"<!ENTITY l{i} '" + f"&l{i - 1};" * 10 + "'>" for i in range(1, 10))
    return f"<!DOCTYPE p [<!ENTITY l0 'laugh'>{inner}]>" + profile(group("name='&l9;'"))


NAMES = " ".join(f"$x{i}" for i in range(9000))
LONG = "n" * 60
WRITE_OPTIONS = ("size", "canfail", "rsize", "timeout")

TEXTS: dict[str, tuple[str | bytes, str]] = {
    "entities": (entities(), "DOCTYPE"),
    "a parameter often in each of 100 groups": (
        profile(param("a", "x" * 60000), *[group('name="%s"' % ("$a" * 1000))] * 100),
        r"<group> name: with \$a put in, the value is longer than 65536 bytes",
    ),
    "a parameter 30000 times in one value": (
        profile(param("a", "x" * 60000), group('name="%s"' % ("$a" * 30000))),
        r"<group> name: with \$a put in, the value is longer than 65536 bytes",
    ),
    "a parameter once in each of 100 groups": (
        profile(param("a", "x" * 60000), *[group('name="$a"')] * 100),
        r"<group> name: with \$a put in, the values of the profile are together longer than 1048576 bytes",
    ),
    "parameters in parameters": (
        profile(param("a0", "x" * 10), *[param(f"a{i}", f"$a{i - 1}" * 10) for i in range(1, 20)], group()),
        r"<param> default: with \$a3 put in, the value is longer than 65536 bytes",
    ),
    "a long chain of parameters": (
        profile(param("a0", "x" * 1000), *[param(f"a{i}", f"$a{i - 1}") for i in range(1, 9000)], group()),
        r"<param> default: with \$a\d+ put in, the values of the profile are together longer than 1048576 bytes",
    ),
    "15000 parameters": (
        profile(*[param(f"a{i}", "") for i in range(15000)], group()),
        r"\$a4096: the profile has more than 4096 parameters",
    ),
    "names without a value": (
        profile(*[group(f'name="{NAMES}"')] * 10),
        r"the profile has more than 4096 parameters",
    ),
    "what is short for very much": (
        profile(
            *[f'<param name="{LONG}{i}" sets="write.{word}"/>' for i, word in enumerate(WRITE_OPTIONS)],
            flowops('<flowop type="write"/>', 40000),
        ),
        r"with the options that it sets written out, the profile is longer than 1048576 bytes",
    ),
    "characters that are escaped": (
        profile(*[group('name="%s"' % (">" * 60000))] * 16),
        r"longer than 1048576 bytes",
    ),
    "depth of 100000": (
        "<profile>" + "<group>" * 100000 + "</group>" * 100000 + "</profile>",
        "nested deeper than 16|larger than 1 MiB",
    ),
    "depth of 50000": ("<group>" * 50000 + "</group>" * 50000, "nested deeper than 16"),
    "a million groups": (profile("<group/>" * 1000000), "larger than 1 MiB"),
    "as many groups as fit": (profile("<group/>" * 65000), "65000 groups; at most 1024"),
    "as many elements as fit": (profile("<g/>" * 250000), "more than 65536 elements"),
    "100000 attributes": (
        "<profile %s/>" % " ".join(f'a{i}=""' for i in range(80000)),
        "more than 64 attributes",
    ),
    "7000 options of one flowop": (
        profile(flowops('<flowop type="connect" options="%s"/>' % ("abcdefgh " * 7000), 1)),
        "has more than 512 options",
    ),
    "7000 options of one flowop, and parameters that set some": (
        profile(
            '<param name="s" sets="write.size" default="1"/>',
            flowops('<flowop type="write" options="%s"/>' % ("abcdefgh " * 7000), 15),
        ),
        "has more than 512 options",
    ),
    "unknown options": (
        profile(flowops('<flowop type="read" options="%s"/>' % ("sizf=1 " * 500), 250)),
        "more than 500 errors",
    ),
    "NUL bytes": (profile(group("name='a\0b'")), "error"),
    "nothing but NUL bytes": ("\0" * 100000, "error"),
    "not UTF-8": (b"<profile><group name='\xff\xfe\xc0\x80'/></profile>", "error"),
    "UTF-16": (profile(group()).encode("utf-16"), "error"),
    "numbers that overflow": (
        profile(group('nthreads="99999999999999999999999999" nflows="18446744073709551617"')),
        r'nthreads="99999999999999999999999999"',
    ),
    "more flows than a machine has room for": (profile(group('nthreads="1" nflows="999999999999"')), "nflows"),
}


# A process takes over the peak of the one that it was before exec(2): so a small one starts the program, and measures.
WEIGH = """
import resource, subprocess, sys
code = subprocess.run(sys.argv[1:]).returncode
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
print(usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)
sys.exit(code)
"""


def refuse(netmodel: Netmodel, path: Path, expected: str) -> str:
    """Has the program look at the profile; answers what it has said."""
    factor = 10 if is_instrumented(netmodel.binary) else 1
    argv = [sys.executable, "-I", "-S", "-c", WEIGH, str(netmodel.binary), "--check", "-m", str(path)]
    done = subprocess.run(argv, env=netmodel.env, stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE_S, check=False)
    err = done.stderr.decode()
    assert done.returncode == 1, err[:2000]
    seconds, most = (float(word) for word in done.stdout.decode().split())
    assert re.search(expected, err), err[:2000]
    assert len(err.splitlines()) <= LINES
    assert all(line.isprintable() for line in err.splitlines())
    assert seconds < SECONDS * factor
    assert most < BYTES * factor
    return err


@pytest.mark.parametrize("name", TEXTS)
def test_a_hostile_profile_is_refused_in_bounded_time_and_memory(netmodel: Netmodel, tmp_path: Path, name: str) -> None:
    text, expected = TEXTS[name]
    path = tmp_path / "hostile.xml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    refuse(netmodel, path, expected)


def test_what_grows_beyond_its_limit_is_told_once(netmodel: Netmodel, tmp_path: Path) -> None:
    path = tmp_path / "bomb.xml"
    path.write_text(profile(param("a", "x" * 60000), *[group(f'name="{"$a" * 1000}"')] * 100))
    assert refuse(netmodel, path, "").splitlines() == [
        f"{path}:3: error: <group> name: with $a put in, the value is longer than 65536 bytes"
    ]


def test_a_value_that_is_given_may_not_be_larger_either(netmodel: Netmodel, tmp_path: Path) -> None:
    path = tmp_path / "given.xml"
    path.write_text(profile('<param name="a" type="string"/>', group('name="$a"')))
    result = netmodel.run("--check", "-m", path, "-D", f"a={'x' * 65537}", code=1)
    assert result.lines() == [f"{path}:2: error: $a: its value (from -D) is longer than 65536 bytes"]


def test_what_nothing_uses_is_told_in_few_lines(netmodel: Netmodel, tmp_path: Path) -> None:
    path = tmp_path / "unused.xml"
    path.write_text(profile(*[param(f"a{i}", "") for i in range(4000)], group()))
    result = netmodel.run("--check", "-m", path, code=0)
    assert len(result.lines()) == 21
    assert result.lines()[-1] == f"{path}:22: warning: nothing uses 3980 parameters more"


def make_sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 30)


FILES: dict[str, tuple[Callable[[Path], object], str]] = {
    "of 1 GB": (make_sparse, "the profile is larger than 1 MiB"),
    "without an end": (lambda path: path.symlink_to("/dev/zero"), "the profile is larger than 1 MiB"),
    "a directory": (lambda path: path.mkdir(), "cannot be read: Is a directory"),
    "a pipe that nobody writes to": (os.mkfifo, "cannot be read: nobody writes to this pipe"),
    "empty": (lambda path: path.symlink_to("/dev/null"), "error"),
}


@pytest.mark.parametrize("name", FILES)
def test_a_hostile_file_is_refused(netmodel: Netmodel, tmp_path: Path, name: str) -> None:
    make, expected = FILES[name]
    path = tmp_path / "profile.xml"
    make(path)
    refuse(netmodel, path, expected)


def test_a_profile_may_come_from_a_pipe_whose_writer_is_slow(netmodel: Netmodel, tmp_path: Path) -> None:
    path = tmp_path / "slow.xml"
    os.mkfifo(path)
    with netmodel.started("--check", "-m", path) as process, path.open("w") as pipe:
        for line in profile(group()).splitlines(keepends=True):
            pipe.write(line)
            pipe.flush()
            time.sleep(0.02)  # the writer is slow
        pipe.close()
        assert process.finish().code == 0


def test_a_profile_may_come_from_standard_input(netmodel: Netmodel) -> None:
    for source in (b"</profile>", profile(group('nthreads="1"')).encode()):
        argv = [str(netmodel.binary), "--check", "-m", "-"]
        done = subprocess.run(argv, env=netmodel.env, input=source, capture_output=True, timeout=PATIENCE_S, check=False)
        assert b"/dev/stdin:" in done.stdout + done.stderr
        assert done.returncode == (1 if source == b"</profile>" else 0), done.stderr
