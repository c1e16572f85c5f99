# SPDX-License-Identifier: Apache-2.0
"""What the documents say is so: their commands run, their examples compile and work, their tables match the source."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
DOCS = TOP / "docs"
STUDY = TOP / "contrib" / "scaling-study"
MARKDOWN = sorted([*TOP.glob("*.md"), *DOCS.rglob("*.md")])
MANUALS = sorted(DOCS.glob("*.in"))
EXAMPLES = sorted((DOCS / "examples").glob("*.c"))
PLACEHOLDER = "@GENERATED_OPTIONS@"
SECOND_HOST = "10.0.0.7"  # as the documents call it

WARNINGS = [
    "-Wall",
    "-Wextra",
    "-Wshadow",
    "-Wstrict-prototypes",
    "-Wmissing-prototypes",
    "-Wpointer-arith",
    "-Wwrite-strings",
    "-Werror",
]
LANGUAGE = ["-std=c11", "-D_GNU_SOURCE", f"-I{TOP / 'src'}"]
LIBRARIES = [
    "libxml-2.0",
    "jansson",
    "libnl-3.0",
    "libnl-route-3.0",
    "libnl-genl-3.0",
    "libssl",
    "libcrypto",
    "liburing",
    "zlib",
    "libseccomp",
]
# Whatever else is in the environment could be taken for a parameter.
KEPT = ("HOME", "LD_LIBRARY_PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS", "LLVM_PROFILE_FILE")


def locate_binary() -> Path:
    return Path(os.environ.get("NETMODEL") or TOP / "build" / "src" / "netmodel").resolve()


@pytest.fixture(scope="session")
def netmodel() -> Path:
    binary = locate_binary()
    if not os.access(binary, os.X_OK):
        pytest.exit(f"{binary}: no program to test; ./quickstart build makes it, NETMODEL=PATH names another", 3)
    return binary


def run(argv: Sequence[str | Path], timeout: float = 60, **kwargs: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # type: ignore[call-overload,no-any-return]
        [str(word) for word in argv], capture_output=True, text=True, timeout=timeout, check=False, **kwargs
    )


def must(argv: Sequence[str | Path], **kwargs: object) -> str:
    done = run(argv, **kwargs)  # type: ignore[arg-type]
    assert done.returncode == 0, f"{shlex.join(map(str, argv))}\n{done.stdout}{done.stderr}"
    return done.stdout


# --- commands ---


@dataclass
class Block:
    """What stands between two fences."""

    kind: str
    file: str | None
    line: int
    lines: list[str] = field(default_factory=list)


def blocks_of(path: Path) -> Iterator[Block]:
    block: Block | None = None
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line.startswith("```"):
            if block:
                block.lines.append(line)
        elif block:
            yield block
            block = None
        else:
            words = line[3:].split()
            names = [word.removeprefix("file=") for word in words[1:] if word.startswith("file=")]
            block = Block(words[0] if words else "", names[0] if names else None, number)
    assert block is None, f"{path}: a block is not closed"


@dataclass
class Step:
    """One command, as typed at a prompt, and what it shows."""

    command: str
    where: str
    background: bool = False
    shows: list[str] = field(default_factory=list)


def steps_of(path: Path) -> list[Step]:
    """`$ ` is the prompt of the first host, `b$ ` that of the second, whose commands go on."""
    steps: list[Step] = []
    for block in blocks_of(path):
        if block.kind != "console":
            continue
        assert re.match(r"b?\$ ", block.lines[0]), f"{path}:{block.line}: a console begins with a prompt"
        for offset, line in enumerate(block.lines, 1):
            prompt = re.match(r"(b?)\$ (.*)", line)
            if prompt:
                steps.append(Step(prompt[2], f"{path.name}:{block.line + offset}", bool(prompt[1])))
            elif line.strip() not in ("", "..."):
                steps[-1].shows.append(line)
    return steps


def manual_blocks(path: Path) -> list[list[str]]:
    blocks = re.findall(r"^\.EX\n(.*?)^\.EE$", path.read_text(), re.MULTILINE | re.DOTALL)
    return [block.replace("\\-", "-").splitlines() for block in blocks]


def manual_steps(path: Path) -> list[Step]:
    return [
        Step(line.removesuffix(" &"), path.name, line.startswith("netmodel -s") or line.endswith(" &"))
        for block in manual_blocks(path)
        for line in block
        if line.startswith("netmodel ")
    ]


# That of the documents: the slave prints another one.
KEY = "0e5fd6a19eb04f0c9b8d1c6a7f3e2d48"
# Closed loops keep two CPUs busy: what they print after a tenth of the time differs in its numbers alone.
_SECONDS = re.compile(r"((?:test_length=|--warmup )\d+)s\b")
_NUMBER = re.compile(r"\d+(\.\d+)?( ?(ns|us|ms|s|k|M|G|[kMGT]?b/s|[KMGT]iB)\b|%)?")


def shape(line: str) -> str:
    """A line without what differs from run to run."""
    line = re.sub(r"\(/[^)]*\)", "(PATH)", line)
    line = re.sub(r"\b[0-9a-f]{32}\b", "#", line)
    # On a machine that does other things, too, this end may come too late.
    line = re.sub(r"^(\s*load\s+)(ok|generator)$", r"\1#", line)
    line = re.sub(r"\b[0-9a-f]{12}\b|\b[0-9-]{10}T[0-9:]{8}Z", "#", line)
    return " ".join(_NUMBER.sub("#", line).split())


def missing_line(shown: list[str], output: str) -> str | None:
    """The first line of `shown` that the output does not have, in that order."""
    have = iter([shape(line) for line in output.splitlines()])
    for line in shown:
        if shape(line) not in have:
            return line
    return None


def play(steps: Sequence[Step], folder: Path, binary: Path, timeout: float = 180) -> None:
    """Types all the commands into one shell, on a loopback network of its own that has the second host's address."""
    (folder / "bin").mkdir()
    (folder / "bin" / "netmodel").symlink_to(binary)
    (folder / "bin" / STUDY.name).symlink_to(STUDY)
    script = ["ip link set lo up", f"ip address add {SECOND_HOST}/32 dev lo", "(exit 0)"]
    printed = ""  # where the key of the slave is that was started last
    for number, step in enumerate(steps):
        output = f"out.{number}"
        typed = _SECONDS.sub(r"\g<1>00ms", step.command)
        if step.background:
            # On a terminal, as the second host's is.
            script.append(f"script -qec {shlex.quote(step.command)} /dev/null </dev/null >{output} 2>&1 & sleep 0.3")
            printed = output
        elif f"NETMODEL_KEY={KEY} " in step.command:
            found = f"$(sed -n 's/^NETMODEL_KEY=\\([0-9a-f]*\\) .*/\\1/p' {printed})"
            command = typed.replace(KEY, found)
            script += [f"{{ {command}", f"}} >{output} 2>&1", f"c=$?; echo $c >code.{number}; (exit $c)"]
        else:
            # The next command may ask for the exit code.
            script += [f"{{ {typed}", f"}} >{output} 2>&1", f"c=$?; echo $c >code.{number}; (exit $c)"]
    script += ["kill $(jobs -p) 2>/dev/null", "wait", "exit 0"]
    env = {name: os.environ[name] for name in KEPT if name in os.environ}
    env |= {"PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "NETMODEL_PROFILES": str(TOP / "profiles"), "LC_ALL": "C"}
    env["XDG_DATA_HOME"] = str(folder / "data")
    argv = ["unshare", "--map-root-user", "--net", "bash", "-c", "\n".join(script)]
    must(argv, cwd=folder, env=env, timeout=timeout)
    for number, step in enumerate(steps):
        output = (folder / f"out.{number}").read_text()
        report = f"{step.where}: {step.command}\n{output}"
        lost = missing_line(step.shows, output)
        assert lost is None, f"{report}\nis without this line: {lost}"
        if step.background:
            continue
        code = int((folder / f"code.{number}").read_text())
        asked = number + 1 < len(steps) and steps[number + 1].command == "echo $?"
        assert code == 0 or asked, f"{report}\nexit code {code}"


def write_files(path: Path, folder: Path) -> None:
    for block in blocks_of(path):
        if block.file:
            (folder / block.file).write_text("\n".join(block.lines) + "\n")


PLAYED = [TOP / "README.md", DOCS / "tutorial.md", DOCS / "uperf.md", DOCS / f"{STUDY.name}.md"]


@pytest.mark.needs("userns")
@pytest.mark.parametrize("document", PLAYED, ids=lambda path: path.name)
def test_commands_do_what_the_document_shows(document: Path, tmp_path: Path, netmodel: Path) -> None:
    steps = steps_of(document)
    assert steps
    write_files(document, tmp_path)
    play(steps, tmp_path, netmodel)


@pytest.mark.needs("userns")
def test_examples_of_the_manual_run(tmp_path: Path, netmodel: Path) -> None:
    profile = next(block for block in manual_blocks(DOCS / "netmodel-profile.5.in") if block[0].startswith("<profile"))
    (tmp_path / "my.xml").write_text("\n".join(profile) + "\n")
    steps = manual_steps(DOCS / "netmodel.1.in")
    assert len(steps) >= 6
    steps.append(Step("netmodel -m my.xml", "netmodel-profile.5.in", shows=["  counts of both ends agree"]))
    play(steps, tmp_path, netmodel)


def test_lines_that_are_missing_are_found() -> None:
    output = "  run 86a720725f62  2026-11-21T08:22:55Z\n  mean 12.0 us  max 3 ms\nwell\n"
    assert missing_line(["  mean 1 ns max 4 s", "well"], output) is None
    assert missing_line(["run 000720725f62 2027-01-01T00:00:00Z"], output) is None
    assert missing_line(["mean 1 us min 4 us"], output) is not None
    assert missing_line(["well", "mean 12.0 us  max 3 ms"], output) is not None  # in another order


# --- manual pages ---


@pytest.mark.needs("man")
@pytest.mark.parametrize(
    ("manual", "word"),
    [
        ("netmodel.1.in", "man-options"),
        ("netmodel-profile.5.in", "man-language"),
        ("libnetmodel.3.in", "man-library"),
    ],
)
def test_manual_pages_are_well_formed(manual: str, word: str, tmp_path: Path, netmodel: Path) -> None:
    text = (DOCS / manual).read_text()
    assert text.splitlines().count(PLACEHOLDER) == 1
    generated = must([netmodel, "--generate", word])
    page = tmp_path / manual.removesuffix(".in")
    page.write_text(text.replace(PLACEHOLDER + "\n", generated))
    checkers: list[list[str | Path]] = [
        ["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", page],
        ["mandoc", "-Tlint", "-W", "warning", page],
        ["groff", "-man", "-ww", "-z", page],
    ]
    found = [argv for argv in checkers if shutil.which(str(argv[0]))]
    assert found
    for argv in found:
        done = run(argv)
        said = done.stderr + (done.stdout if argv[0] == "mandoc" else "")
        assert (done.returncode, said) == (0, ""), argv[0]


def test_the_figures_of_metrics_are_those_of_the_tables(netmodel: Path) -> None:
    text = (DOCS / "metrics.md").read_text()
    table = text.partition("<!-- made by netmodel --generate figures -->\n")[2].partition("<!-- end -->")[0]
    assert table == must([netmodel, "--generate", "figures"])


def test_manual_of_the_library_has_what_the_header_has() -> None:
    header = (TOP / "src/lib/netmodel.h").read_text()
    text = (DOCS / "libnetmodel.3.in").read_text().replace("\\-", "-")
    synopsis = text.partition(".SH DESCRIPTION")[0]
    declared = set(re.findall(r"^NETMODEL_API [^(;]*?\b(netmodel_\w+)\(", header, re.MULTILINE))
    assert len(declared) > 20
    assert set(re.findall(r"\b(netmodel_\w+)\(", synopsis)) == declared
    words = set(re.findall(r"^\t(NETMODEL_[A-Z]+)\b", header, re.MULTILINE)) | set(re.findall(r"\b(netmodel_\w+_fn)\b", header))
    assert len(words) == 17
    assert words <= set(re.findall(r"\b(?:NETMODEL_[A-Z]+|netmodel_\w+_fn)\b", text))


# What a reader of other tools will try, and where the page says it.
VALUES = [
    ("duration", "2sec"),
    ("duration", "200msec"),
    ("duration", "50usec"),
    ("duration", "50u"),
    ("duration", "100nsec"),
    ("duration", "100n"),
    ("rate", "5M"),
    ("rate", "10/s"),
    ("rate", "2.5k/s"),
    ("bitrate", "5M"),
    ("bitrate", "5Mb/s"),
    ("bitrate", "5Mbps"),
    ("bitrate", "10MB/s"),
    ("size", "64KiB"),
    ("size", "1.5m"),
    *(("flag", word) for word in ("yes", "no", "true", "on", "1", "false", "off", "0")),
]


@pytest.mark.parametrize(("kind", "value"), VALUES, ids=" ".join)
def test_values_of_the_manual_are_taken(kind: str, value: str, tmp_path: Path, netmodel: Path) -> None:
    text = (DOCS / "netmodel-profile.5.in").read_text()
    section = re.search(rf"^\.TP\n\.B {kind}\n(.*?)^\.(TP|SH)", text, re.MULTILINE | re.DOTALL)
    assert section
    assert value in re.split(r"[\s,;:]+", section[1].replace("; ", " ")), section[1]
    path = tmp_path / "value.xml"
    path.write_text(f'<profile><param name="v" type="{kind}"/></profile>')
    assert f" {value} " in must([netmodel, "-m", path, "--params", "-D", f"v={value}"])


def test_the_way_to_the_program_works(tmp_path: Path, netmodel: Path) -> None:
    (tmp_path / "build" / "src").mkdir(parents=True)
    (tmp_path / "build" / "src" / "netmodel").symlink_to(netmodel)
    (line,) = re.findall(r"^export PATH=.*$", (TOP / "README.md").read_text(), re.MULTILINE)
    found = must(["bash", "-c", f"{line}\ncommand -v netmodel"], cwd=tmp_path)
    assert found.strip() == str(tmp_path / "build" / "src" / "netmodel")
    for document in (TOP / "quickstart", DOCS / "tutorial.md"):
        assert line in document.read_text(), document


def test_the_table_of_stock_profiles_is_true(netmodel: Path) -> None:
    document = (DOCS / "profiles.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \| .* \| (.*) \|$", document, re.MULTILINE)
    (seconds,) = re.findall(r"^Each runs for (\d+) s,", document, re.MULTILINE)
    assert sorted(name for name, *_ in rows) == sorted(path.stem for path in (TOP / "profiles").glob("*.xml"))
    for name, connections in rows:
        params = must([netmodel, "-m", name, "--params"])
        assert re.search(rf"^test_length +\S+ +{seconds}s ", params, re.MULTILINE), name
        for parameter in re.findall(r"`(\w+)`", connections):
            assert re.search(rf"^{parameter} ", params, re.MULTILINE), (name, parameter)


def test_the_readme_is_short() -> None:
    """What is added to it replaces something."""
    assert len((TOP / "README.md").read_text().splitlines()) <= 80


def test_the_manual_pages_are_where_it_is_told() -> None:
    for document in (TOP / "README.md", DOCS / "tutorial.md", TOP / "quickstart"):
        text = document.read_text()
        assert "man -l " in text, document
        assert not re.search(r"\]\([^)]*\.in\)", text), "the source of a manual page is no use to a reader"
        for page in re.findall(r"build/(docs/[\w-]+\.\d)\b", text):
            assert (TOP / f"{page}.in").exists(), (document, page)


# --- examples in C ---

# One process of pytest runs all that need it: it is built once.
of_driver = pytest.mark.xdist_group("driver")
of_extended = pytest.mark.xdist_group("extended")


def compilers() -> list[str]:
    return [name for name in ("gcc", "clang") if shutil.which(name)]


def test_there_is_a_compiler_and_something_to_compile() -> None:
    assert compilers()
    assert len(EXAMPLES) == 6


@pytest.mark.parametrize("compiler", compilers())
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example_compiles_without_warnings(example: Path, compiler: str, tmp_path: Path) -> None:
    must([compiler, *LANGUAGE, *WARNINGS, "-O2", "-c", example, "-o", tmp_path / "example.o"])


@pytest.fixture(scope="session")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("driver") / "drive"
    rooms = [*sorted((TOP / "src/base").glob("*.c"))]
    rooms += [TOP / "src/flowop/arrival_law/schedule.c", TOP / "src/flowop/message.c"]
    rooms += [*(TOP / f"src/transport/{name}.c" for name in ("address", "io", "peers", "socket", "strangers", "unix"))]
    driven = [path for path in EXAMPLES if not path.stem.startswith(("app_", "report_"))]
    sources = [TOP / "tests/docs/drive_examples.c", *driven, *rooms]
    checks = ["-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"]
    must([compilers()[0], *LANGUAGE, *WARNINGS, *checks, *sources, "-lm", "-o", program])
    return program


@of_driver
@pytest.mark.parametrize("transport", ["unix", "lowat"])
def test_examples_move_messages(transport: str, driver: Path) -> None:
    done = run([driver, transport])
    assert done.returncode == 0, done.stderr


@of_driver
def test_example_of_a_law_has_the_intervals_that_it_tells(driver: Path) -> None:
    done = run([driver, "paired"])
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("compiler", compilers())
def test_first_program_of_embedding_runs(compiler: str, tmp_path: Path, netmodel: Path) -> None:
    """As the document has it, with the library of the program under test."""
    library = netmodel.parent / ".libs"
    if not (library / "libnetmodel.so").exists():
        pytest.skip(f"no shared library beside {netmodel}")
    document = DOCS / "embedding.md"
    write_files(document, tmp_path)
    (block,) = [block for block in blocks_of(document) if block.kind == "c" and block.file]
    flags = [f"-I{TOP / 'src/lib'}", "-L", str(library), f"-Wl,-rpath,{library}", "-lnetmodel"]
    must([compiler, *WARNINGS, tmp_path / str(block.file), "-o", tmp_path / "first", *flags])
    assert re.fullmatch(r"[1-9]\d* transactions/s, p99 \d+ us\n", must([tmp_path / "first"]))
    done = run([tmp_path / "first", "nowhere.invalid"])
    assert done.returncode == 2
    assert done.stderr.startswith("error: the run is incomplete: slave nowhere.invalid: its name cannot be resolved: ")


# What the commands of embedding.md write to is empty, or a copy, and nothing of it stays.
APART = """
mount -t tmpfs local /usr/local && mkdir /usr/local/etc && cp -a /etc/. /usr/local/etc && mount --bind /usr/local/etc /etc
mount -t tmpfs cache /var/cache/ldconfig
set -e
"""


@pytest.mark.needs("root", "mountns", "make", "cc", "pkg_config")
def test_commands_of_embedding_install_a_library_that_is_found(tmp_path: Path, netmodel: Path) -> None:
    build = netmodel.parents[1]
    makefile = build / "Makefile"
    if not makefile.exists() or "\nprefix = /usr/local\n" not in makefile.read_text():
        pytest.skip(f"{build} is not a folder of a build for /usr/local")
    if not (netmodel.parent / ".libs" / "libnetmodel.so").exists():
        pytest.skip(f"no shared library beside {netmodel}")
    document = DOCS / "embedding.md"
    write_files(document, tmp_path)
    before, _, after = document.read_text().partition("cc first.c -o first ")
    script = [APART]
    for command in re.findall(r"`sudo ([^`]+)`", before):
        script += [f"cd {build.parent}", command.replace("-C build", f"-s -C {build} >&2")]
    script += [f"cd {tmp_path}", f"cc first.c -o first {after.splitlines()[0]}", "./first"]
    assert " transactions/s, p99 " in must(["unshare", "--mount", "sh", "-c", "\n".join(script)], timeout=120)


def words_of(room: str, variable: str) -> list[str]:
    fragment = (TOP / "src" / room / "local.mk").read_text().replace("\\\n", " ")
    found = re.search(rf"^{variable} = (.*)$", fragment, re.MULTILINE)
    assert found, f"src/{room}/local.mk has no {variable}"
    return found[1].split()


def linked(program: Path, sources: Sequence[Path], rooms: Sequence[Path], *libraries: str) -> list[str | Path]:
    """The command that makes a program of these sources and the rooms."""
    flags = [*LANGUAGE, '-DPACKAGE_VERSION="0"', *must(["pkg-config", "--cflags", *libraries, *LIBRARIES]).split()]
    needs = [*must(["pkg-config", "--libs", *libraries, *LIBRARIES]).split(), "-lpfm", "-lm"]
    return [compilers()[0], "-pthread", *flags, *sources, *rooms, *needs, "-o", program]


@pytest.fixture(scope="session")
def rooms(netmodel: Path) -> list[Path]:
    """What the program under test is made of, the higher rooms first, as a linker wants them."""
    order = "cli search lib report control result engine plan flowop app stats transport host profile base".split()
    archives = [netmodel.parent / ".libs" / f"libnm_{room}.a" for room in order]
    if not all(archive.exists() for archive in archives):
        pytest.skip(f"no rooms beside {netmodel}")
    return archives


@pytest.fixture(scope="session")
def extended(tmp_path_factory: pytest.TempPathFactory, rooms: list[Path]) -> Path:
    """A netmodel with all examples: a file and a word more for each. Their tables stand before those of the rooms."""
    folder = tmp_path_factory.mktemp("extended")
    sources = [*EXAMPLES]
    for room, variable, more in (
        ("flowop", "FLOWOPS", "discard"),
        ("flowop/arrival_law", "ARRIVAL_LAWS", "paired"),
        ("app", "APPS", "knock"),
        ("transport", "TRANSPORTS", "lowat"),
        ("report", "REPORTS", "markdown"),
        ("cli/log", "LOGS", "intervals"),
    ):
        table = folder / f"{room.replace('/', '_')}_registry.c"
        words = words_of(room.partition("/")[0], variable) + more.split()
        table.write_text(must(["sh", TOP / "tools/make-registry", room, *words]))
        sources.append(table)
    must([*linked(folder / "netmodel", [TOP / "src/cli/main.c", *sources], rooms), "-O0"])
    return folder / "netmodel"


@of_extended
def test_netmodel_describes_the_examples(extended: Path) -> None:
    assert "the other end: write" in must([extended, "--describe", "discard"])
    assert "unsent" in must([extended, "--describe", "lowat"])


@of_extended
@pytest.mark.parametrize("test", ["test_check", "test_tables"])
def test_unit_tests_of_the_plan_hold_with_the_examples(test: str, extended: Path, rooms: list[Path], tmp_path: Path) -> None:
    """They know what each flowop of the project does, and nothing of how many there are."""
    if run(["pkg-config", "--exists", "check"]).returncode != 0:
        pytest.skip("the library check is not installed")
    folder = TOP / "tests" / "unit" / "plan"
    sources = [folder / f"{test}.c", folder / "compiled.c", *EXAMPLES, *extended.parent.glob("*_registry.c")]
    must(linked(tmp_path / test, sources, rooms, "check"))
    must([tmp_path / test])


@of_extended
@pytest.mark.parametrize("transport", ["tcp", "unix", "lowat"])
def test_netmodel_runs_the_examples(transport: str, extended: Path, tmp_path: Path) -> None:
    profile = tmp_path / "examples.xml"
    profile.write_text(
        f"""<profile name="examples"><group nflows="4">
        <transaction><flowop type="connect" options="remotehost=local protocol={transport}"/></transaction>
        <transaction duration="300ms">
        <flowop type="write" options="size=100"/><flowop type="discard" options="size=2500000"/>
        <flowop type="read" options="size=7"/>
        </transaction>
        <transaction><flowop type="disconnect"/></transaction>
        </group></profile>"""
    )
    text = must([extended, "-m", profile, "--timeout", "20s"])
    assert "counts of both ends agree" in text, text


@of_extended
def test_netmodel_runs_the_law(extended: Path, tmp_path: Path) -> None:
    """As many passes as the rate says, to the last one, and all that were due are done."""
    profile = tmp_path / "law.xml"
    profile.write_text(
        """<profile name="law"><group nflows="4">
        <transaction><flowop type="connect" options="remotehost=local protocol=unix"/></transaction>
        <transaction duration="1s" arrivals="paired(2k/s,0.5)">
        <flowop type="write" options="size=1"/><flowop type="read" options="size=1"/>
        </transaction>
        <transaction><flowop type="disconnect"/></transaction>
        </group></profile>"""
    )
    assert "arrivals paired(2000/s,0.5)" in must([extended, "-m", profile, "--dump-plan"])
    values = must([extended, "-m", profile, "--timeout", "20s", "--format", "kv"])
    assert "\nnum_transactions=2000\n" in values and "\noffered_per_s=2000\n" in values, values


@of_extended
@pytest.mark.parametrize("connect", ["", "protocol=unix"])
def test_netmodel_speaks_the_protocol(connect: str, extended: Path, tmp_path: Path) -> None:
    profile = tmp_path / "knock.xml"
    profile.write_text(
        f"""<profile name="knock"><group nflows="4">
        <transaction><flowop type="connect" options="remotehost=local app=knock {connect}"/></transaction>
        <transaction duration="300ms"><flowop type="ping"/></transaction>
        <transaction><flowop type="disconnect"/></transaction>
        </group></profile>"""
    )
    text = must([extended, "-m", profile, "--timeout", "20s"])
    assert "counts of both ends agree" in text, text


@of_extended
def test_netmodel_writes_the_log(extended: Path, tmp_path: Path) -> None:
    assert "--interval-log FILE" in must([extended, "--help", "all"])
    log = tmp_path / "log"
    env = {**os.environ, "NETMODEL_PROFILES": str(TOP / "profiles")}
    must([extended, "-m", "tcp_rr", "-D", "test_length=300ms", "-i", "100ms", "--interval-log", log], env=env)
    head, *rows = [line.split("\t") for line in log.read_text().splitlines()]
    assert head == ["to_s", "transactions", "bytes_sent", "bytes_received"]
    assert len(rows) >= 2
    assert all(float(row[0]) > 0 and int(row[1]) > 0 for row in rows[:2])


@of_extended
def test_netmodel_writes_the_report(extended: Path) -> None:
    assert "or markdown (a table with a row for each run)" in " ".join(must([extended, "--help", "all"]).split())
    env = {**os.environ, "NETMODEL_PROFILES": str(TOP / "profiles")}
    words = ["-m", "tcp_rr", "-D", "test_length=200ms", "--repeat", "2", "--format", "markdown"]
    head, _, *rows = must([extended, *words], env=env).splitlines()
    assert head == "| run | transactions/s | throughput | mean latency | complete |"
    assert [row.split(" | ")[0] for row in rows] == ["| 1", "| 2"]
    assert all(row.endswith(" | yes |") for row in rows)


# --- what documents say about the source ---


def contained(snippet: str, texts: Sequence[str]) -> bool:
    """A snippet may leave out lines by `...`; the parts between stand somewhere together, in order."""
    parts = [part.strip() for part in re.split(r"^\s*\.\.\.\s*$", snippet, flags=re.MULTILINE)]
    return any(
        all(at >= 0 for at in places) and places == sorted(places)
        for places in ([text.find(part) for part in parts] for text in texts)
    )


@pytest.mark.parametrize("document", MARKDOWN, ids=lambda path: path.name)
def test_code_in_documents_is_code_of_the_project(document: Path) -> None:
    sources = [*EXAMPLES, *sorted((TOP / "contrib/examples").glob("*.c")), *sorted((TOP / "src").rglob("*.[ch]"))]
    texts = [path.read_text() for path in sources]
    for block in blocks_of(document):
        if block.kind == "c" and not block.file:
            assert contained("\n".join(block.lines), texts), f"{document}:{block.line}"


@pytest.mark.parametrize("document", MARKDOWN, ids=lambda path: path.name)
def test_links_and_paths_lead_somewhere(document: Path) -> None:
    text = document.read_text()
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", text):
        assert not target.startswith("http"), f"{document}: {target} cannot be checked"
        assert (document.parent / target).exists(), f"{document}: {target}"
    for path in re.findall(r"`((?:src|docs|tests|tools|profiles|contrib)/[\w./-]*)`", text):
        found = (TOP / path).exists() or path in NEW_FILES
        assert found, f"{document}: {path}"


# What the reader is told to make.
NEW_FILES = (
    "src/cli/log/intervals.c",
    "src/app/knock.c",
    "src/flowop/arrival_law/paired.c",
    "src/flowop/discard.c",
    "src/report/markdown.c",
    "src/transport/lowat.c",
    "tests/fuzz/found",
    "tests/prove/NAME",
)


@pytest.mark.parametrize("document", [*MARKDOWN, *MANUALS], ids=lambda path: path.name)
def test_options_in_documents_exist(document: Path, netmodel: Path) -> None:
    asked: list[list[str | Path]] = [[netmodel, "--help", "all"], [STUDY, "--help"], [netmodel, "tcp_rr", "-h"]]
    known = {word for argv in asked for word in re.findall(r"--[a-z][\w-]*", must(argv))}
    known |= {f"--{name}" for path in EXAMPLES for name in re.findall(r'\.opt = \{\.name = "([a-z-]+)"', path.read_text())}
    if document.name == "lab.md":
        known |= set(re.findall(r'"(--[a-z][a-z-]*)"', (TOP / "contrib" / "lab" / "netmodel_lab" / "cli.py").read_text()))
    if document.name == "kubernetes.md":
        for path in (TOP / "contrib" / "lab" / "netmodel_lab" / "k8s").glob("*.py"):
            known |= set(re.findall(r'"(--[a-z][\w-]*)"', path.read_text()))
    text = document.read_text().replace("\\-", "-")
    text = re.sub(r"pkg-config( --[a-z]+)+", "", text)
    text = re.sub(r"^kubectl .*$|^pytest .*$|^sudo systemctl .*$|^\./configure .*$|`(buildah|memtier_benchmark|rpmbuild|rpc-replay|systemd-analyze) .*?`|`--with-.*?`", "", text, flags=re.MULTILINE)
    if document.name == "neper.md":  # whose first column has those of neper
        text = re.sub(r"^\| `--[^|]*", "", text, flags=re.MULTILINE)
    used = {word.rstrip("-") for word in re.findall(r"(?<![\w-])--[a-z][\w-]*", text)}
    strange = {word for word in used - known if not word.startswith(("--enable-", "--disable-"))}
    assert not strange, f"{document}: {strange}"


# As uperf 1.0.8 has them.
FLAGS_OF_UPERF = "msSnTtfgkpeEaXiPRvVh"


def rows_of(document: Path, heading: str) -> list[list[str]]:
    """The cells of the table below a heading, without its head."""
    part = document.read_text().split(f"\n## {heading}\n")[1].split("\n## ")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in part.splitlines() if line.startswith("|")]
    return rows[2:]


def test_every_flag_of_uperf_has_its_row(netmodel: Path) -> None:
    rows = {cells[0].strip("`").split()[0] for cells in rows_of(DOCS / "uperf.md", "Flags")}
    assert sorted(rows) == sorted(f"-{letter}" for letter in FLAGS_OF_UPERF)
    table = must([netmodel, "--generate", "uperf-flags"])
    assert table in (DOCS / "uperf.md").read_text(), "docs/uperf.md does not have what --generate uperf-flags prints"


def test_every_problem_of_uperf_has_its_row() -> None:
    rows = rows_of(DOCS / "uperf.md", "Problems of uperf and how netmodel handles them")
    assert [cells[0].split(".")[0] for cells in rows] == [str(number) for number in range(1, 27)]
    assert all(len(cells) == 2 and cells[1] for cells in rows)


def test_messages_of_the_control_protocol() -> None:
    states = ["hello", "prepare", "connect", "idle", "phase", "result"]
    source = (TOP / "src/control/wire/messages.def").read_text()
    declared = {
        word: (sender.lower(), {state.lower() for state in re.findall(r"IN\((\w+)\)", where)})
        for word, sender, where in re.findall(r'^NM_MESSAGE\(\w+, "(\w+)", (\w+), ((?:IN\(\w+\)[\s|]*)+)', source, re.MULTILINE)
    }
    text = (DOCS / "control-protocol.md").read_text()
    documented = {}
    for word, sender, where in re.findall(r"^\| `(\w+)` \| (\w+) \| ([\w, ]+) \|", text, re.MULTILINE):
        named = {"all": states, "all after hello": states[1:]}.get(where, where.split(", "))
        documented[word] = (sender, set(named))
    assert len(declared) > 10
    assert documented == declared


def test_rooms_of_the_architecture_are_the_folders() -> None:
    text = (DOCS / "architecture.md").read_text()
    rooms = set(re.findall(r"^\| `(\w+)/` \|", text, re.MULTILINE))
    assert rooms == {path.name for path in (TOP / "src").iterdir() if path.is_dir()}
