# SPDX-License-Identifier: Apache-2.0
"""Hosts that are odd, over a real sshd: with another login shell, with too little room, of another kind, or with
another key than before. Where they cannot be used, one sentence says what to do."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import NETMODEL, argv, rows
from far import THERE, Far, second_host
from unpacked import find


@pytest.fixture(scope="module")
def far(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Far]:
    with second_host(tmp_path_factory.mktemp("far")) as found:
        yield found


def with_shell(far: Far, shell: Path) -> None:
    """The login shell of whom the tests log in as, from the next connection on: sshd sees this file as /etc/passwd."""
    path = far.folder / "passwd"
    lines = path.read_text().splitlines()
    lines = [f"{line.rpartition(':')[0]}:{shell}" if line.startswith("root:") else line for line in lines]
    path.write_text("\n".join(lines) + "\n")


def check(far: Far, options: str) -> str:
    """What hosts check says of a host that cannot be used, without the begin, which is always the same."""
    done = far.run(argv("hosts", "check", ",".join(filter(None, (far.spec, options)))))
    assert done.returncode == 3, done
    (line,) = done.stdout.splitlines()
    return line.rpartition(f"not usable: slave ({far.spec}): ")[2]


def in_its_place(far: Far, *words: str | Path) -> None:
    """Runs a command where sshd sees its files."""
    done = subprocess.run(
        ["nsenter", "--target", str(far.sshd.pid), "--mount", *words], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        pytest.skip(f"cannot change what the second host sees: {done.stderr.strip()}")


@pytest.mark.parametrize("name", ["banner", "fish", "tcsh"])
def test_login_shells(far: Far, name: str) -> None:
    shell = far.folder / name
    if name == "banner":
        shell.write_text('#!/bin/sh\necho Welcome, and mind the step\nexec /bin/sh "$@"\n')
    else:
        real = find(name, name)
        shell.write_text(f'#!/bin/sh\nLD_LIBRARY_PATH={real.libraries} exec {real.path} "$@"\n')
    shell.chmod(0o755)
    with_shell(far, shell)
    try:
        words = ("run", "tcp_rr", "--set", "test_length=50ms", "--repeat", "1", "--no-report")
        path = far.folder / f"study-{name}"
        done = far.run(argv(*words, "--peer", f"{far.spec},copy=yes", "-o", path))
    finally:
        with_shell(far, Path("/bin/sh"))
    assert done.returncode == 0, done.stderr
    assert [row["ok"] for row in rows(path)] == [True]
    assert not far.is_clean()


def test_a_shell_that_never_comes_to_it(far: Far) -> None:
    shell = far.folder / "nologin"
    shell.write_text("#!/bin/sh\necho This account is not available.\nexit 1\n")
    shell.chmod(0o755)
    with_shell(far, shell)
    try:
        said = check(far, "copy=yes")
        assert check(far, "") == said
    finally:
        with_shell(far, Path("/bin/sh"))
    assert said == "This account is not available."


@pytest.mark.parametrize("is_all_full", [False, True])
def test_a_full_disk_there(far: Far, is_all_full: bool) -> None:
    """The next folder is taken; where there is none, that is told."""
    home = far.folder / "home"
    home.mkdir(exist_ok=True)
    full = [far.temporary, *([home] if is_all_full else [])]
    in_its_place(far, "mount", "--bind", home, "/root")
    for path in full:
        in_its_place(far, "mount", "-t", "tmpfs", "-o", "size=64k", "none", "/root" if path == home else path)
    try:
        if is_all_full:
            said = check(far, "copy=yes")
            assert said == (
                "no folder takes a program: all are full, or mounted noexec; "
                "make room there, or name a program that is there with netmodel=PATH"
            )
        else:
            done = far.run(argv("hosts", "check", f"{far.spec},copy=yes"))
            assert done.returncode == 0, done
    finally:
        for path in full:
            in_its_place(far, "umount", "/root" if path == home else path)
        in_its_place(far, "umount", "/root")
    assert not list(home.glob(".cache/netmodel-lab.*"))


def test_a_program_of_another_kind(far: Far) -> None:
    path = far.folder / "netmodel-of-others"
    program = bytearray(NETMODEL.read_bytes()[:4096])
    program[18:20] = b"\x16\x00"  # IBM S/390
    path.write_bytes(program)
    path.chmod(0o755)
    said = check(far, f"netmodel={path}")
    assert said.endswith(
        "Exec format error; the machine is of another kind: build there, and name the program with netmodel=PATH"
    )


@pytest.mark.parametrize(
    ("known", "says"),
    [
        ("other", "its key is another one than before: ssh-keygen -R, if that is right"),
        ("none", "connect once by hand, so that ssh knows its key"),
    ],
)
def test_keys_of_hosts(far: Far, known: str, says: str) -> None:
    path = far.folder / "known_hosts"
    right = path.read_text()
    other = " ".join((far.folder / "id.pub").read_text().split()[:2])
    path.write_text(f"[{THERE}]:{far.port} {other}\n" if known == "other" else "")
    try:
        assert check(far, "copy=yes") == f"Host key verification failed; {says}"
    finally:
        path.write_text(right)
