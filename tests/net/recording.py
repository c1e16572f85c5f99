#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The record: what the program prints for many command lines, with figures masked, in tests/record/*.txt.

Usage: recording.py [NAME...]    makes these files again, or all (./quickstart record)

A line of a file begins with "  " when it was there in each of the runs from which the file was made, and with "? " when it
was there in some. Lines that are equal once masked and follow one another are one line. test_record.py holds the
program against the files."""

from __future__ import annotations

import difflib
import json
import re
import shlex
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from nmtest import NEEDED, PROFILES, STOCK, TOP, Json, Netmodel, defines, free_port, locate_binary, wait_until

FOLDER = TOP / "tests" / "record"
RUNS = 6
ELSEWHERE = ("psp_crr", "psp_rr", "psp_stream", "sctp_rr", "vsock_rr")  # profiles that most kernels cannot run
OWN_PORT = {"server": ("-D", "port=PORT")}  # else it is the usual one of its protocol
SHORT = defines(test_length="100ms")
FORMATS = ("text", "json", "kv", "neper", "csv", "junit")


@dataclass(frozen=True)
class Command:
    """A command line; FOLDER in a word is a scratch folder, what is there afterwards is recorded, and the program starts in it."""

    words: tuple[str, ...]
    called: str = "netmodel"  # the name by which the program is called
    server: tuple[str, ...] = ()  # a slave in neper's form that is started before, with the control port PORT
    figures: bool = True  # numbers are figures, and masked


def run_of(profile: str, *words: str, called: str = "netmodel") -> Command:
    return Command(("-m", profile, *SHORT, *words), called)


def neper_pair(workload: str, *words: str) -> Command:
    options = ("-C", "PORT", "-l", "1", *words)
    return Command((workload, "-c", "-H", "127.0.0.1", *options), server=(workload, "-C", "PORT"))


WORDS = [
    ("--help",),
    ("--help", "all"),
    ("--list",),
    ("--describe",),
    *(("--generate", word) for word in ("man-options", "man-language", "completion", "tool-options", "uperf-flags")),
    *((workload, "-h") for workload in ("tcp_rr", "tcp_stream", "tcp_crr", "udp_rr", "udp_stream")),
]

RECORD: dict[str, list[Command]] = {
    **{
        f"profile-{name}": [
            run_of(name, *NEEDED.get(name, ()), *OWN_PORT.get(name, ()), *words)
            for words in (*(("--format", form) for form in FORMATS), ("-a",))
        ]
        for name in STOCK
        if name not in ELSEWHERE
    },
    "uperf-form": [
        run_of(name, *flags, called="uperf")
        for name in ("tcp_rr", "rpc_mix")
        for flags in ((), ("-f",), ("-t",), ("-g",), ("-T",), ("-k",), ("-a",), ("-p",), ("-n",), ("-a", "-R", "-i", "20ms"))
    ],
    "neper-form": [neper_pair(name) for name in ("tcp_rr", "tcp_crr", "tcp_stream", "udp_rr", "udp_stream")]
    + [
        neper_pair("tcp_rr", "--all-samples=FOLDER/samples.csv", "-I", "0.2", "-F", "2"),
        neper_pair("tcp_stream", "--all-samples=FOLDER/samples.csv", "-I", "0.2", "-r", "-w"),
        neper_pair("udp_stream", "--all-samples=FOLDER/samples.csv", "-I", "0.2"),
        neper_pair("tcp_rr", "--log-rtt=FOLDER/rtt", "-F", "2", "--iostat-ms", "200"),
    ],
    "files": [
        run_of(name, *words, "-i", "50ms", "-o", "FOLDER/report")
        for name in ("tcp_rr", "udp_stream", "rpc_mix")
        for words in (
            ("--all-samples", "FOLDER/samples.csv", "--percentiles", "50,99"),
            ("--tcp-info", "FOLDER/tcp.csv"),
            ("--log-rtt", "FOLDER/rtt.csv", "--log-rtt-entries", "10"),
            ("--hdr-log", "FOLDER/hdr.log"),
            ("--stream", "FOLDER/stream.jsonl"),
        )
    ]
    + [Command(("-m", "tcp_rr", *defines(test_length="100ms", num_transactions=20), "-X", "FOLDER/log", "-q"))],
    "runs": [
        *(run_of("tcp_rr", "--repeat", "3", "--format", form) for form in FORMATS if form != "neper"),
        *(run_of("tcp_stream", "--repeat", "3", "--format", form) for form in ("text", "kv")),
        *(
            run_of("tcp_rr", *defines(test_length="600ms"), "--warmup", "20ms", "--cooldown", "20ms", "--format", form)
            for form in ("text", "json")
        ),
        *(run_of("rpc_mix", "-i", "50ms", "--format", form) for form in ("text", "json", "csv")),
        *(run_of("tcp_rr", "--require", "latency.p99 <= 1ns", "--format", form) for form in ("text", "json", "kv", "junit")),
        *(run_of("tcp_rr", "--require", "latency.p99 <= 9s", "--format", form) for form in ("text", "json", "kv", "junit")),
        run_of("tcp_rr", "--iostat", "20ms"),
        run_of("tcp_rr", "-R", "-i", "20ms"),
        run_of("tcp_rr", "-v"),
        run_of("tcp_rr", "-n"),
        run_of("tcp_rr", "--format", "uperf"),
        run_of("tcp_rr", "-D", "num_flows=2", "-D", "delay=1ms", "-f", "-t", "-p"),
    ],
    "steps": [
        run_of("tcp_rr", *defines(arrivals="steps(500,1k,500,50ms)", num_flows=4), *repeat, "--format", form)
        for repeat in ((), ("--repeat", "2"))
        for form in ("text", "json", "kv")
    ],
    "words": [Command(words, figures=False) for words in WORDS],
}

# Of the machine and of the moment; the number at the end of a name counts alike things.
_UNIT = r"(?: ?(?P<unit>[numkMGT]?s|min|h|[kKMGT]?i?b/s|[kMGT]?bit/s|[kKMGT]?i?B|[kKMGT]|%)(?![\w/]))?"
_MASKS = [
    (re.compile(r"(?<=^netmodel )\d+\.\d+\.\d+|(?<=^VERSION=)\S+|(?<=Netmodel )\d+\.\d+\.\d+"), "VERSION"),
    (re.compile(r"(?<=run )[0-9a-f]{12}\b|(?<=run_id=)[0-9a-f]{32}"), "ID"),
    (re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z?|[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d [\d:]{8} [A-Z]+ \d{4}"), "DATE"),
    (re.compile(r"\b(Thr|cpu|CPU )\d+"), r"\1N"),
    (re.compile(r'(?<=hostname=)"[^"]*"'), '"HOST"'),
    (re.compile(r"\b\d+(?:\.\d+){3}\b"), "ADDRESS"),
    (re.compile(r"\bHIST[\w+/=]+"), "HISTOGRAM"),
    (re.compile(r"(?<=\w) \*(?=  |,|$)"), ""),  # response times of a busy machine
]
_OF_THE_MACHINE = re.compile(r"(?:repeat\.)?hosts\[\]\.(?!name|role|groups)|(?:.*[.\]])?(?:run_id|run\.id|start|sha256|version)$")
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?" + _UNIT + r"(?=op/s|(?![A-Za-z\d]|\.\d))")
# Lines that a run has or has not, by what else the machine does.
_BY_CHANCE = re.compile(
    r" *(?!lo\b)\w+  ((master|local)  )?#  #  #b/s  #b/s$|host_interval\[\]\.messages\.|  behind  | *#B (of it|more) received in #s after "
    r"|.*intervals?\[\](\.groups\[\])?\.latency_s null"
    # What a busy machine makes of open arrivals, and of which sizes flows were.
    r'|.*\bload\W{1,3}(verdict \W)?(ok|connections|generator|overload|errors)\b|.*\bload\.advice '
    r'|.*\bsteps\[\]\.verdict |  #( +#\w*)* +(ok|connections|generator|overload|errors)$|.*\bwas not reached \('
    r"|.*\bresponse_grows\b|  \*  the backlog grew"
    r"|(.*\.)?(complete|slowdown)_(under_|over_)?\d+(_|kb|mb).*[ =]|  .*  (complete|slowdown)  #"
    r"|  #-#s  |.*#/s planned$|hosts\[\]\.(throttling|pressure|unhalted|cpus|cpufreq|vectors)|(remote_)?thrott\w+_periods="
    r"|.*half of its flows have taken less than # of their ideal time"  # the machine's loopback is a fast link
    # What a machine has cost: which of it is known.
    r"|  cost  host  value$|  ((CPU|cycles|packets)/(GB|packet|transaction|interrupt)|deviation|busiest queue)(, \w+)?  "
    # A flow that a busy machine keeps from its CPU is late.
    r"|  after that  #|  what hosts have used is over #|(run|groups\[\])\.(transactions_after|after_s)\b"
)
_WHOLE = re.compile(r"(hosts\[\]\.intervals|host_interval)\[\]\.cpu$")  # nothing, where an interval is short
_EMPTY = re.compile(r"(?<=  )-(?=  |$)")


def _kind(match: re.Match[str]) -> str:
    unit = match["unit"] or ""
    return "#" + (unit.lstrip("numkKMGTi") if unit not in ("m", "min", "h", "k", "K", "M", "G", "T") else "")


def mask(line: str) -> str:
    for pattern, text in _MASKS:
        line = pattern.sub(text, line)
    line = _NUMBER.sub(_kind, line)
    if line.count(",") > 4:
        line = re.sub(r"(?<=,)(?=,|$)", "#", line)
    body = _EMPTY.sub("#", line.lstrip(" "))
    indent = "  " if line.startswith(" ") else ""
    return indent + re.sub(r"  +", "  ", body).rstrip()


def _leaves(path: str, value: object) -> Iterator[str]:
    """A line for each leaf of a JSON document, in its order; elements of an array share their path."""
    if _WHOLE.match(path):
        yield path
    elif isinstance(value, dict):
        for key, member in value.items():
            yield from _leaves(f"{path}.{key}" if path else key, member)
    elif _OF_THE_MACHINE.match(path) and not isinstance(value, list):
        yield path
    elif isinstance(value, list):
        if not value:
            yield f"{path}[] none"
        for element in value:
            yield from _leaves(f"{path}[]", element)
    elif isinstance(value, bool) or value is None:
        yield f"{path} {json.dumps(value)}"
    elif isinstance(value, str):
        text = value if "profile." in path else mask(value)
        yield f"{path} {json.dumps(text)}"
    else:
        yield f"{path} #"


def outline(document: Json) -> list[str]:
    """The members of a document in order, each once: a member that first comes in a later element stands behind the one before it."""
    lines: list[str] = []
    at = -1
    for line in _leaves("", document):
        if line in lines:
            at = lines.index(line)
        elif not _BY_CHANCE.match(line):
            at += 1
            lines.insert(at, line)
    # What a busy machine makes of open arrivals is a warning.
    if any(".load." in line for line in lines):
        lines = [line for line in lines if not line.endswith("run.warnings[] none")]
    return lines


def _of_json(text: str) -> list[str] | None:
    """Of a document, or of an object a line, by its type; None: it is something else."""
    try:
        return outline(json.loads(text))
    except ValueError:
        pass
    try:
        objects = [json.loads(line) for line in text.splitlines()]
    except ValueError:
        return None
    objects.sort(key=lambda one: one.get("host", ""))
    return outline({each: [one for one in objects if one["type"] == each] for each in sorted({one["type"] for one in objects})})


def _of_text(text: str) -> list[str]:
    lines: list[str] = []
    for line in map(mask, text.splitlines()):
        if (not lines or line != lines[-1]) and not _BY_CHANCE.match(line):
            lines.append(line)
    return lines


def _of_rows(text: str) -> list[str]:
    """A head, and rows in any order."""
    head, *rows = _of_text(text)
    return [head, *sorted(set(rows))]


def _listens(port: int) -> bool:
    """A server in neper's form says nothing of it."""
    rows = Path("/proc/net/tcp").read_text() + Path("/proc/net/tcp6").read_text()
    return re.search(rf":{port:04X} [0:]+ 0A ", rows) is not None


def seen(netmodel: Netmodel, command: Command) -> list[str]:
    """The command line, and what one run of it wrote."""
    port = str(free_port())
    with ExitStack() as stack, tempfile.TemporaryDirectory() as scratch:
        places = {"PORT": port, "FOLDER": scratch}

        def filled(words: Iterable[str]) -> list[str]:
            return [re.sub("PORT|FOLDER", lambda match: places[match[0]], word) for word in words]

        name = Path(stack.enter_context(tempfile.TemporaryDirectory())) / command.called
        name.symlink_to(netmodel.binary)
        program = Netmodel(netmodel.binary)
        program.binary = name
        process = None
        if command.server:
            process = stack.enter_context(program.started(*filled(command.server), cwd=Path(scratch)))
            wait_until(lambda: _listens(int(port)), what=f"{command.server} listens")
        done = program.run(*filled(command.words), cwd=Path(scratch))
        parts = {"exit": str(done.code), "stdout": done.out, "stderr": done.err}
        if process:
            end = process.finish()
            parts |= {"server exit": str(end.code), "server stdout": end.out, "server stderr": end.err}
        files = {path.name: path.read_text() for path in sorted(Path(scratch).iterdir())}
        given = " ".join(shlex.quote(word) for word in command.words)
        lines = [f"$ {command.called} {given}".replace(str(TOP), "TOP")]
        for title, text in (parts | files).items():
            plain = text.replace(scratch, "FOLDER").replace(str(PROFILES), "PROFILES").replace(str(TOP), "TOP")
            if command.server or "port=PORT" in command.words:
                plain = re.sub(rf"\b{port}\b", "PORT", plain)
            if title.endswith("exit"):
                lines.append(f"--- {title} {plain}")
            elif plain and not command.figures:
                lines += [f"--- {title}", *plain.splitlines()]
            elif plain:
                other = _of_rows if title.endswith((".csv", ".log")) else _of_text
                shown = _of_json(plain) or other(plain)
                lines += [f"--- {title}", *shown] if shown else []
        return lines


def merged(one: list[tuple[str, bool]], other: list[str]) -> list[tuple[str, bool]]:
    """Both, in order; a line that only one of them has may be missing."""
    matcher = difflib.SequenceMatcher(None, [line for line, _ in one], other, autojunk=False)
    lines: list[tuple[str, bool]] = []
    for how, from_one, to_one, from_other, to_other in matcher.get_opcodes():
        if how == "equal":
            lines += one[from_one:to_one]
        else:
            lines += [(line, True) for line, _ in one[from_one:to_one]]
            lines += [(line, True) for line in other[from_other:to_other]]
    return lines


def made(netmodel: Netmodel, command: Command) -> str:
    runs = [seen(netmodel, command) for _ in range(RUNS if command.figures else 1)]
    lines = [(line, False) for line in runs[0]]
    for other in runs[1:]:
        lines = merged(lines, other)
    return "".join(f"{'? ' if optional else '  '}{line}".rstrip() + "\n" for line, optional in lines)


def difference(recorded: list[str], actual: list[str]) -> list[str]:
    """What is in one and not in the other; lines that may be missing are left out where they are."""
    pattern = "".join(
        f"(?:{re.escape(line[2:])}\n){'?' if line.startswith('? ') else ''}" for line in recorded
    )
    text = "".join(f"{line.rstrip()}\n" for line in actual)
    if re.fullmatch(pattern, text):
        return []
    lines = difflib.unified_diff([line[2:] for line in recorded], [line.rstrip() for line in actual], "record", "now", n=2, lineterm="")
    optional = {line[2:] for line in recorded if line.startswith("? ")}
    return [line for line in lines if not (line.startswith("-") and line[1:] in optional)]


def main(names: list[str]) -> int:
    if unknown := [name for name in names if name not in RECORD]:
        print(f"recording.py: no record is called {', '.join(unknown)}; there are {' '.join(RECORD)}", file=sys.stderr)
        return 2
    netmodel = Netmodel(locate_binary())
    FOLDER.mkdir(exist_ok=True)
    for name in names or RECORD:
        (FOLDER / f"{name}.txt").write_text("".join(made(netmodel, command) for command in RECORD[name]))
        print(f"tests/record/{name}.txt", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
