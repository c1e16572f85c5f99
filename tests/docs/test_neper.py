# SPDX-License-Identifier: Apache-2.0
"""docs/neper.md answers every option of neper, and what it says to type is understood."""

from __future__ import annotations

import re
import shlex
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from test_docs import DOCS, TOP, netmodel, run  # noqa: F401 (netmodel is a fixture)

PAGE = DOCS / "neper.md"
RR = ("tcp_rr", "tcp_crr", "udp_rr")
STREAM = ("tcp_stream", "udp_stream")
TCP = ("tcp_rr", "tcp_crr", "tcp_stream")
ALL = ("tcp_rr", "tcp_crr", "tcp_stream", "udp_rr", "udp_stream")

# The options of neper 1.1.0 by program; those of psp_* are those of tcp_*.
OPTIONS = {
    ALL: """client host control-port port ipv4 ipv6 local-hosts source-port num-flows num-threads num-clients maxevents
        magic suicide-length stime-use-proc debug dry-run pin-cpu logtostderr nolog nonblocking freebind interval
        max-pacing-rate all-samples time-wait iostat-ms wait-start test-length buffer-size
        listen-backlog mark help version""",
    TCP: "num-ports pin-numa tcp-tx-delay no-delay congestion-control async-connect tcp-fastopen",
    RR: "request-size response-size percentiles log-rtt logrtt-entries-per-flow",
    STREAM: "edge-trigger reuseaddr throughput-opt zerocopy",
    ("tcp_rr",): "noburst reuseaddr",
    ("tcp_rr", "tcp_stream", "udp_rr", "udp_stream"): "delay",
    ("tcp_stream",): """skip-rx-copy rx-zerocopy enable-read enable-write split-bidir enable-tcp-maerts no-cork""",
}
WISHES = "2 6 22 23 25 26 27 31 39 41 65 43 44 47 55 50 59 69 73 75 80 82 86 87 100".split()


TASKS = (
    "Hosts, addresses, ports",
    "Flows, threads, CPUs, time",
    "Messages and pace",
    "Streams",
    "Sockets",
    "What is printed and written",
)
WISHED_FOR = "What users have asked neper for"

# What an option needs beside it.
COMPANY = {
    "--log-rtt-entries": ("--log-rtt", "rtt.txt"),
    "--throughput-opt": ("--format", "neper"),
    "--stime-use-proc": ("--format", "neper"),
    "num_threads=2": ("-D", "num_flows=10"),
}


@dataclass(frozen=True)
class Row:
    flags: tuple[str, ...]
    programs: tuple[str, ...]
    here: str

    @property
    def typed(self) -> str:
        """What to type; nothing where the option is not needed."""
        return self.here.strip("`") if self.here.startswith("`") else ""


def sections() -> dict[str, list[list[str]]]:
    """The cells of the tables, by heading."""
    tables: dict[str, list[list[str]]] = {}
    heading = ""
    for line in PAGE.read_text().splitlines():
        if line.startswith("#"):
            heading = line.lstrip("# ")
        elif line.startswith("|") and not line.startswith("|---"):
            tables.setdefault(heading, []).append([cell.strip() for cell in line.strip("|").split("|")])
    return {name: rows[1:] for name, rows in tables.items()}


def option_rows() -> list[Row]:
    rows = []
    for flags, programs, here in sections()["Every option"]:
        names = ALL if programs == "all" else tuple(programs.split(", "))
        rows.append(Row(tuple(re.findall(r"`--([\w-]+)`", flags)), names, here))
    return rows


def test_the_table_is_what_the_program_prints(netmodel: Path) -> None:  # noqa: F811
    text = PAGE.read_text().partition("\n## Every option\n")[2]
    table = [line for line in text.splitlines() if line.startswith("|")]
    assert table == run([netmodel, "--generate", "tool-options"]).stdout.splitlines()


def test_every_option_has_a_row() -> None:
    rows = option_rows()
    for programs, names in OPTIONS.items():
        for name in names.split():
            for program in programs:
                found = [row for row in rows if name in row.flags and program in row.programs]
                assert len(found) == 1, f"--{name} of {program}: {found}"
                assert found[0].here, name


def test_every_row_is_of_an_option() -> None:
    names = {name for block in OPTIONS.values() for name in block.split()}
    assert {flag for row in option_rows() for flag in row.flags} == names


def test_what_always_holds_is_printed(netmodel: Path) -> None:  # noqa: F811
    """The values of options that netmodel has no choice for."""
    rows = [cells for cells in sections()["Differences in meaning"] if len(cells) == 3 and cells[0] != "option"]
    assert len(rows) == 5
    for option, value, programs in rows:
        for program in ALL if programs == "all" else programs.split(", "):
            printed = run([netmodel, program, "-c", "-n"]).stdout.splitlines()
            assert f"{option.strip('`')}={value}" in printed, program


def test_every_option_is_printed(netmodel: Path) -> None:  # noqa: F811
    """As neper does, but for what a build without libnuma does not have."""
    for program in ALL:
        printed = {line.partition("=")[0] for line in run([netmodel, program, "-c", "-n"]).stdout.splitlines()}
        names = {name for programs, block in OPTIONS.items() if program in programs for name in block.split()}
        wanted = {name.replace("-", "_") for name in names - {"help", "version", "pin-numa"}}
        assert wanted <= printed, program


TYPED = [
    pytest.param(program, row.typed, id=f"{program}-{row.flags[0]}")
    for row in option_rows()
    if row.typed and row.typed not in ("-m PROGRAM", "--help", "--version")
    for program in row.programs
]


def check_slave(netmodel: Path, words: list[str]) -> None:  # noqa: F811
    command = [str(netmodel), *words, "-P", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as slave:
        assert slave.stdout is not None
        said = slave.stdout.readline()
        slave.terminate()
    assert "listening" in said, said


@pytest.mark.parametrize(("program", "typed"), TYPED)
def test_what_is_typed_is_understood(netmodel: Path, program: str, typed: str, tmp_path: Path) -> None:  # noqa: F811
    """Parameters are checked; what else there is runs."""
    words = shlex.split(typed)
    if words[0] == "-s":
        check_slave(netmodel, words)
        return
    how = ("--check",) if words[0] == "-D" else ("-D", "test_length=20ms")
    words += [other for word in list(words) for other in COMPANY.get(word, ())]
    profile = TOP / "profiles" / f"{program}.xml"
    done = run([netmodel, "-m", profile, *([] if words[0] == "--check" else how), *words], cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    # The page says so.
    vain = words[-1] == "tcp_fastopen=yes" and program != "tcp_crr"
    idle = "tcp_fastopen has no effect" if vain else None
    if words[0] != "--verbose":
        assert (idle in done.stderr) if idle else (done.stderr == ""), done.stderr


@pytest.mark.parametrize("heading", TASKS)
def test_what_a_task_is_done_by_is_understood(netmodel: Path, heading: str) -> None:  # noqa: F811
    """Each cell, by one of the programs at least."""
    for cells in sections()[heading]:
        for span in re.findall(r"`(-[^`]+)`", cells[1]):
            words = shlex.split(span)
            if words[0] == "-s":
                check_slave(netmodel, words)
            elif words[0] == "-D":
                checks = [run([netmodel, "-m", TOP / "profiles" / f"{name}.xml", "--check", *words]) for name in ALL]
                assert any(done.returncode == 0 for done in checks), (span, checks[0].stderr)
            else:
                assert run([netmodel, "-m", "x", "--check", *words]).stderr.count("unknown option") == 0, span


def test_what_else_is_named_exists(netmodel: Path, tmp_path: Path) -> None:  # noqa: F811
    """Options of netmodel, and parameters, anywhere in the page."""
    help_text = run([netmodel, "--help", "all"]).stdout
    columns = [row.typed for row in option_rows()]
    tasks = [cell for heading in TASKS for cells in sections()[heading] for cell in cells[1:]]
    wishes = [cells[-1] for cells in sections()[WISHED_FOR]]
    spans = [f"{cell}" for cell in columns if cell] + [
        span for cell in tasks + wishes for span in re.findall(r"`([^`]+)`", cell)
    ]
    params = {name: run([netmodel, "--params", "-m", TOP / "profiles" / f"{name}.xml"]).stdout for name in ALL}
    for span in spans:
        words = shlex.split(span)
        for at, word in enumerate(words):
            if word == "-D" and words[at + 1].partition("=")[1]:
                name = words[at + 1].partition("=")[0]
                assert any(re.search(rf"^\s*{name}\b", text, re.MULTILINE) for text in params.values()), span
            elif word.startswith("-"):
                assert re.search(rf"^ .*(?<![\w-]){re.escape(word)}\b", help_text, re.MULTILINE), span


def test_every_defect_and_wish_has_an_answer() -> None:
    tables = sections()
    defects = [cells[0].partition(".")[0] for cells in tables["Problems of neper and how netmodel handles them"]]
    assert defects == [str(number) for number in range(1, 27)]
    asked = "".join(cells[0] for cells in tables[WISHED_FOR])
    assert set(re.findall(r"#(\d+)", asked)) == set(WISHES)
    for name in ("Differences in meaning", "PSP", "Problems of neper and how netmodel handles them", WISHED_FOR):
        assert all(cells[1] for cells in tables[name]), name


WISHED = [
    pytest.param(program, span, id=f"{program}{span}", marks=[pytest.mark.needs("cpuidle")] if "wait=awake" in span else [])
    for cells in sections()[WISHED_FOR]
    for program in dict.fromkeys(re.findall(r"\b(?:tcp|udp)_\w+\b", re.sub("`[^`]*`", "", cells[1])) or ["tcp_rr"])
    for span in re.findall(r"`(-[^`]+)`", cells[1])
]


@pytest.mark.parametrize(("program", "span"), WISHED)
def test_what_answers_a_wish_runs(netmodel: Path, program: str, span: str, tmp_path: Path) -> None:  # noqa: F811
    """As it is written, in the profiles that are named there."""
    words = shlex.split(span)
    length = "2200ms" if "--warmup" in words else "50ms"
    profile = TOP / "profiles" / f"{program}.xml"
    done = run([netmodel, "-m", profile, "-D", f"test_length={length}", *words], cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert done.stdout
    files = [word for word in words if word.endswith(".csv")]
    assert sorted(path.name for path in tmp_path.iterdir()) == files
