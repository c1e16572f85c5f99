# SPDX-License-Identifier: Apache-2.0
"""libnetmodel, as a program finds it that embeds it: an installed copy, in a folder of its own, with pkg-config alone."""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import probes
from nmtest import TOP, Json, Netmodel, assert_complete, assert_ends_agree

EXAMPLES = TOP / "contrib" / "examples"
HERE = Path(__file__).resolve().parent / "embedding"
WARNINGS = ["-Wall", "-Wextra", "-Wshadow", "-pedantic", "-Werror"]

COMPLETE, REFUSED, FAILED, INTERRUPTED = 0, 1, 2, 130
EINVAL, EBUSY, ETIMEDOUT, ENOENT = -22, -16, -110, -2


def must(argv: Sequence[str | Path], cwd: Path, env: dict[str, str]) -> str:
    done = subprocess.run(
        [str(word) for word in argv], cwd=cwd, env=env, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, f"{' '.join(map(str, argv))}\n{done.stdout}{done.stderr}"
    return done.stdout


@dataclass
class Report:
    """What a task of the driver has found."""

    lines: list[tuple[str, str]]

    def __getitem__(self, key: str) -> str:
        (value,) = self.all(key)
        return value

    def all(self, key: str) -> list[str]:
        return [value for name, value in self.lines if name == key]

    def number(self, key: str) -> float:
        return float(self[key])

    def json(self, key: str) -> Json:
        document: Json = json.loads(self[f"{key}_json"])
        return document


@dataclass
class Copy:
    """An installed copy of the library, and programs made with it."""

    folder: Path
    programs: dict[str, Path] = field(default_factory=dict)

    @property
    def lib(self) -> Path:
        return self.folder / "lib"

    def env(self, **more: str) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        return kept | {"LC_ALL": "C", "PKG_CONFIG_PATH": str(self.lib / "pkgconfig"), **more}

    def flags(self, *args: str) -> list[str]:
        return must(["pkg-config", *args, "netmodel"], self.folder, self.env()).split()

    def build(self, source: Path, *more: str, compiler: str = "cc", static: bool = False) -> Path:
        """Compiles and links a copy of the source in a folder that has nothing else."""
        name = source.stem + ("-static" if static else "")
        clean = Path(tempfile.mkdtemp(prefix="clean-", dir=self.folder.parent))
        shutil.copy(source, clean)
        flags = self.flags("--cflags", *(["--static"] if static else []), "--libs")
        must([compiler, *WARNINGS, *more, source.name, "-o", name, *flags], clean, self.env())
        return clean / name

    def program(self, source: Path, *more: str) -> Path:
        if source.stem not in self.programs:
            self.programs[source.stem] = self.build(source, *more)
        return self.programs[source.stem]

    def run(self, argv: Sequence[str | Path], timeout: float = 60, **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(word) for word in argv],
            env=self.env(LD_LIBRARY_PATH=str(self.lib), **more),
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    def drive(self, folder: Path, task: str, *args: object, prefix: Sequence[str] = (), **more: str) -> Report:
        """Does a task of the driver, which must end well and print nothing at all."""
        report = folder / "report"
        driver = self.program(HERE / "driver.c", "-D_GNU_SOURCE", "-g")
        done = self.run([*prefix, driver, task, report, *map(str, args)], 60, **more)
        text = report.read_text() if report.exists() else ""
        assert done.returncode == 0, f"{task}: exit code {done.returncode}\n{done.stdout}{done.stderr}{text}"
        assert done.stdout == "" and done.stderr == "", f"{task} has printed: {done.stdout}{done.stderr}"
        return Report([(line.partition("=")[0], line.partition("=")[2]) for line in text.splitlines()])


@pytest.fixture(scope="module")
def copy(netmodel: Netmodel, tmp_path_factory: pytest.TempPathFactory) -> Copy:
    build = netmodel.binary.parents[1]
    probes.require("cc", "make", "pkg_config")
    if not (build / "Makefile").exists():
        pytest.skip(f"{netmodel.binary} is not in a build folder")
    root = tmp_path_factory.mktemp("installed")
    env = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    must(["make", "-s", "-C", build, "install", f"DESTDIR={root}"], build, env)
    (file,) = root.rglob("netmodel.pc")
    # As if it had been configured for this folder: nothing else in the file depends on it.
    text = file.read_text()
    (prefix,) = re.findall(r"^prefix=(/.*)$", text, re.MULTILINE)
    folder = root / prefix.strip("/")
    file.write_text(text.replace(f"prefix={prefix}", f"prefix={folder}", 1))
    return Copy(folder)


# --- what is installed ---


def test_only_the_functions_of_the_header_are_exported(copy: Copy) -> None:
    (library,) = (path for path in copy.lib.glob("libnetmodel.so.*") if not path.is_symlink())
    assert re.search(r"SONAME.*\[libnetmodel\.so\.\d+\]", must(["readelf", "-d", library], copy.folder, copy.env()))
    table = must(["nm", "-D", "--defined-only", library], copy.folder, copy.env())
    exported = {line.split()[-1] for line in table.splitlines()}
    header = (copy.folder / "include" / "netmodel.h").read_text()
    declared = set(re.findall(r"^NETMODEL_API [^(;]*?\b(netmodel_\w+)\(", header, re.MULTILINE))
    assert len(declared) > 20
    assert exported == declared


def test_there_is_no_global_state(copy: Copy) -> None:
    """What is neither constant nor made so by the dynamic linker: two words of the compiler's own."""
    (library,) = (path for path in copy.lib.glob("libnetmodel.so.*") if not path.is_symlink())
    table = must(["readelf", "-SW", library], copy.folder, copy.env())
    if "__asan" in table or "__tsan" in must(["nm", "-D", library], copy.folder, copy.env()):
        pytest.skip("sanitizers keep data of their own")
    sizes = {
        name: int(size, 16)
        for name, size in re.findall(
            r"\] (\.(?:data|bss|tdata|tbss))\s+\w+\s+[0-9a-f]+ [0-9a-f]+ ([0-9a-f]+)", table
        )
    }
    assert sizes
    assert sum(sizes.values()) <= 32, sizes


@pytest.mark.parametrize("static", [False, True], ids=["shared", "static"])
def test_example_runs_a_profile_of_its_own(static: bool, copy: Copy, tmp_path: Path) -> None:
    if static:
        # As configure --disable-shared leaves it.
        folder = tmp_path / "prefix"
        shutil.copytree(copy.folder, folder, symlinks=True)
        for library in folder.rglob("libnetmodel.so*"):
            library.unlink()
        file = folder / "lib" / "pkgconfig" / "netmodel.pc"
        file.write_text(file.read_text().replace(f"prefix={copy.folder}", f"prefix={folder}", 1))
        copy = Copy(folder)
    program = copy.build(EXAMPLES / "embed.c", static=static)
    done = copy.run([program, "3"])
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    *rows, result = done.stdout.splitlines()
    assert len(rows) >= 3
    counts = [int(row.split()[-2]) for row in rows if re.fullmatch(r"\d\.\d\d s to \d\.\d\d s: \d+ transactions", row)]
    assert len(counts) == len(rows), rows
    match = re.fullmatch(r"(\d+) transactions in (\d\.\d+) s, (\d+)/s, p99 (\d+\.\d) us", result)
    assert match, result
    assert 0 < int(match[1]) == pytest.approx(sum(counts), rel=0.5)
    assert float(match[3]) == pytest.approx(int(match[1]) / float(match[2]), rel=0.02)


def test_example_tells_what_is_wrong(copy: Copy) -> None:
    done = copy.run([copy.program(EXAMPLES / "embed.c"), "many"])
    assert done.returncode == REFUSED
    assert done.stdout == ""
    assert 'embedded.xml:3: error: <param name="flows">: value "many"' in done.stderr


def test_example_runs_two_and_stops_one(copy: Copy) -> None:
    done = copy.run([copy.build(EXAMPLES / "embed-two.c")])
    assert done.returncode == 0, done.stdout + done.stderr
    bounded, endless = done.stdout.splitlines()
    assert re.fullmatch(r"bounded: status 0, complete, [1-9]\d* transactions, [1-9]\d* bytes sent", bounded)
    match = re.fullmatch(r"endless: status 130, incomplete, (\d+) transactions, (\d+) bytes sent", endless)
    assert match and int(match[2]) >= 1024 * int(match[1]) > 0, endless


@pytest.mark.needs("cxx")
def test_header_is_for_cplusplus_too(copy: Copy, tmp_path: Path) -> None:
    source = tmp_path / "embed.cc"
    source.write_text(
        "#include <netmodel.h>\n"
        "struct Log { int lines = 0; };\n"
        "int main() {\n"
        "\tLog log;\n"
        "\tnetmodel *nm = netmodel_new();\n"
        "\tnetmodel_on_log(nm, [](void *arg, netmodel_level, const char *) { ++static_cast<Log *>(arg)->lines; }, &log);\n"
        "\tint error = netmodel_load_text(nm, \"x\", \"<profile>\", 9) || netmodel_check(nm);\n"
        "\tnetmodel_free(nm);\n"
        "\treturn error && log.lines ? 0 : 1;\n"
        "}\n"
    )
    program = copy.build(source, "-std=c++11", compiler="c++")
    assert copy.run([program]).returncode == 0


# --- what it does; each task of the driver also shows that nothing is printed ---


def test_fifty_runs_leave_nothing_behind(copy: Copy, tmp_path: Path) -> None:
    report = copy.drive(tmp_path, "repeat", 50)
    runs = [tuple(map(int, line.split())) for line in report.all("run")]
    assert len(runs) == 50
    descriptors, threads, memory = zip(*runs)
    assert set(descriptors[1:]) == {descriptors[1]}
    assert set(threads) == {0}
    assert memory[-1] - memory[9] < 1024, memory  # KiB


@pytest.mark.needs("valgrind")
def test_no_memory_is_lost(copy: Copy, tmp_path: Path) -> None:
    options = ["-q", "--error-exitcode=9", "--leak-check=full", "--fair-sched=yes"]
    kinds = ["--show-leak-kinds=definite,indirect", "--errors-for-leak-kinds=definite,indirect"]
    report = copy.drive(tmp_path, "repeat", 2, prefix=["valgrind", *options, *kinds])
    assert len(report.all("run")) == 2


def test_two_at_once_both_give_right_results(
    copy: Copy, tmp_path: Path, validate: Callable[[Json], None]
) -> None:
    report = copy.drive(tmp_path, "two")
    for key, size, count in (("first", 1, 4000), ("second", 1000, 2500)):
        flows = 3
        document = report.json(key)
        validate(document)
        assert_complete(document)
        assert_ends_agree(document)
        assert report.number(f"{key}_status") == COMPLETE
        # The connect is a transaction too.
        assert report.number(f"{key}_transactions") == document["totals"]["transactions"] == flows * (count + 1)
        assert report.number(f"{key}_sent") == report.number(f"{key}_received") == flows * count * size
        assert document["totals"]["bytes_sent"] == flows * count * size
        assert report.number(f"{key}_per_s") == pytest.approx(document["totals"]["transactions_per_s"])
        latency = document["totals"]["latency_s"]
        assert report.number(f"{key}_p99") == pytest.approx(latency["p99"])
        assert report.number(f"{key}_max") == pytest.approx(latency["max"])


def test_runs_on_many_threads_of_the_program(copy: Copy, tmp_path: Path) -> None:
    assert copy.drive(tmp_path, "many", 5).all("failures") == ["0"] * 4


def test_stop_from_another_thread_gives_a_partial_result(
    copy: Copy, tmp_path: Path, validate: Callable[[Json], None]
) -> None:
    report = copy.drive(tmp_path, "stop")
    document = report.json("run")
    assert report.number("seconds") < 1
    assert report.number("free_seconds") < 1
    validate(document)
    assert report.number("run_status") == INTERRUPTED
    assert report.number("run_complete") == 0
    assert report.number("run_transactions") == document["totals"]["transactions"] > 0
    assert document["run"]["complete"] is False
    assert document["run"]["interrupted"] is True
    assert report["run_why"] == document["run"]["incomplete_why"] == "interrupted in phase 2 of 3"
    assert report["busy"] == f"{EBUSY} 4"
    assert report.number("timeout") == ETIMEDOUT
    assert report.number("poll") == 1
    assert report.number("wait") == 0
    assert report.number("told") == 1000 + INTERRUPTED
    assert report.number("again") == COMPLETE  # in the same process, with the same object


def test_process_is_left_as_it_is(copy: Copy, tmp_path: Path) -> None:
    """Dispositions and masks of signals, limits, timers, locale; and signals come to the program's own thread."""
    report = copy.drive(tmp_path, "process")
    assert report.number("run_status") == COMPLETE
    assert_ends_agree(report.json("run"))
    assert report.number("during_same") == 1
    assert report.number("after_same") == 1
    assert report.number("threads") > 2
    assert report.number("threads_after") == 0
    assert report.number("children") == 0
    assert report.number("taken") >= 30
    assert report.number("elsewhere") == 0


@pytest.mark.parametrize("reaped_by", ["handler", "system"])
def test_processes_that_the_program_reaps(reaped_by: str, copy: Copy, tmp_path: Path) -> None:
    report = copy.drive(tmp_path, "processes", reaped_by)
    assert report.number("run_status") == COMPLETE
    assert report.number("run_transactions") == 2 * 501
    assert_ends_agree(report.json("run"))
    assert report.number("left") == 0


def test_limit_of_descriptors_is_not_raised(copy: Copy, tmp_path: Path) -> None:
    report = copy.drive(tmp_path, "limits")
    assert report.number("status") == REFUSED
    assert report.number("limit") == 64
    assert re.fullmatch(
        r"error: the run needs \d+ open files, and this process may have 64: raise its limit \(ulimit -n \d+\)",
        report["log_error"],
    )


def test_remote_slaves(copy: Copy, netmodel: Netmodel, tmp_path: Path, validate: Callable[[Json], None]) -> None:
    with netmodel.slave() as slave:
        report = copy.drive(tmp_path, "run", "127.0.0.1", slave.port)
    document = report.json("run")
    validate(document)
    assert report.number("run_status") == COMPLETE
    assert_complete(document)
    assert_ends_agree(document)
    assert [host["name"] for host in document["hosts"]] == ["master", "127.0.0.1"]
    assert any(re.match(r"connected to 127\.0\.0\.1 ", line) for line in report.all("log_info"))
    assert report.all("log_error") == []
    assert report.number("told") == 1000


def test_a_slave_with_a_key(copy: Copy, netmodel: Netmodel, tmp_path: Path) -> None:
    key = "0123456789abcdef0123456789abcdef"
    with netmodel.slave(env={"NETMODEL_KEY": key}) as slave:
        report = copy.drive(tmp_path, "run", "127.0.0.1", slave.port, "100ms", key)
        assert report.number("run_status") == COMPLETE
        assert report.json("run")["hosts"][1]["authentication"] == "key"
        report = copy.drive(tmp_path, "run", "127.0.0.1", slave.port, "100ms", key[::-1])
        assert report.number("run_status") == FAILED
        assert "it has another key than this master" in report["run_why"]


def test_example_uses_a_remote_slave(copy: Copy, netmodel: Netmodel) -> None:
    with netmodel.slave() as slave:
        done = copy.run([copy.program(EXAMPLES / "embed.c"), "2", "127.0.0.1", str(slave.port)])
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("host", "why"),
    [
        ("127.0.0.1", 'nothing listens on port 1 there: start a slave with "netmodel -s -P 1"'),
        ("nowhere.invalid", "its name cannot be resolved: "),
    ],
)
def test_slave_that_is_not_there(host: str, why: str, copy: Copy, tmp_path: Path) -> None:
    report = copy.drive(tmp_path, "run", host, 1)
    assert report.number("run_status") == FAILED
    assert report.number("run_complete") == 0
    assert math.isnan(report.number("run_per_s")) and math.isnan(report.number("run_p99"))
    assert report["run_why"].startswith(f"slave {host}: {why}")
    assert report["log_error"] == f"error: the run is incomplete: {report['run_why']}"
    assert report.json("run")["run"]["incomplete_why"] == report["run_why"]


def test_mistakes_are_told_as_codes_and_as_text(copy: Copy, tmp_path: Path) -> None:
    report = copy.drive(tmp_path, "mistakes")
    wrong_size = (
        'driver.xml:3: error: <param name="size">: value "12q" (from -D): '
        "not a size: a number and an optional k, m, g or t, also kb or kib (powers of 1024 bytes)"
    )
    assert report.all("log_error") == [
        "error: no profile is loaded",
        "/nowhere/at-all.xml: error: cannot be opened: No such file or directory",
        "error: intervall: unknown option; did you mean interval?",
        'error: interval="soon": not a duration: a number and an optional ns, us, ms, s, min or h (seconds without one)',
        'error: percentiles="101": not a list of percentiles: numbers from 0 to 100, as 50,99.9',
        "error: not a key: it has 6 characters, and must have 32 to 512",
        'error: key-file="/dev/null": not a regular file',
        wrong_size,
        wrong_size,
    ]
    codes = {"nothing_loaded": REFUSED, "told": 1000 + REFUSED, "unknown": ENOENT, "refused_status": REFUSED}
    codes |= {key: EINVAL for key in ("no_file", "no_text", "wrong", "percentiles", "key", "key_file", "empty", "check")}
    codes |= {"diagnostics": 1, "refused_complete": -1, "refused_transactions": 0}
    assert {key: report.number(key) for key in codes} == codes
    assert report["beyond"] == "null"
    assert report["refused_json"] == "null"


def test_samples(copy: Copy, tmp_path: Path) -> None:
    """What the files of the command have, by callbacks; those that nobody has asked for are not made."""
    report = copy.drive(tmp_path, "samples")
    document = report.json("run")
    assert_complete(document)
    assert report["iostat"] == "-22"
    flows = [line.split() for line in report.all("flow")]
    assert {(host, group, int(flow), int(worker)) for host, group, flow, worker, *_ in flows} == {
        (host, "timed", flow, flow % 2) for host in ("master", "local") for flow in range(4)
    }
    for end in document["hosts"]:
        own = [row for row in flows if row[0] == ("master" if end["role"] == "master" else "local")]
        assert {row[4] for row in own} == {"2"}
        assert len(own) >= 4 * 3
        # The last sample of each flow has all; those between two samples add up to it.
        last = {row[2]: int(row[7]) for row in own}
        assert sum(last.values()) == sum(int(row[8]) for row in own) == document["totals"]["transactions"]
        assert sum(int(row[10]) for row in own) == 100 * document["totals"]["transactions"]
        for row in own:
            assert (row[11] == "1") == (row[0] == "master" and row[8] != "0")
            if row[11] == "1":
                assert 0 < float(row[12]) <= float(row[13]) <= float(row[14]) < 60
    tcp = [line.split() for line in report.all("tcp")]
    assert {(row[0], row[2], row[3]) for row in tcp} == {
        (host, str(flow), "0") for host in ("master", "local") for flow in range(4)
    }
    assert all(int(row[4]) > 0 and int(row[5]) > 500 for row in tcp)
    assert max(int(row[6]) for row in tcp) > 100
    passes = [line.split() for line in report.all("pass")]
    assert len(passes) == 4 * 7
    assert all(row[:2] == ["timed", "rr"] and row[4] == "2" for row in passes)
    assert all(0 < float(row[6]) <= float(row[5]) * 1.001 for row in passes)
    traffic = [line.split() for line in report.all("traffic")]
    assert len(traffic) >= 4
    assert 0 < sum(int(row[3]) for row in traffic) <= 100 * document["totals"]["transactions"]
    lines = report.all("hdr")
    assert lines[0].startswith("#[") and any(line.startswith('"StartTimestamp"') for line in lines)
    heads = sum(line.startswith('"StartTimestamp"') for line in lines)
    assert heads == 2, "each run has a log of its own"
    assert sum(line.startswith("Tag=total,") for line in lines) == 2
    assert (report["again"], float(report["waited"]) >= 0.2) == ("0", True)
    order = [name for name, _ in report.lines]
    assert not {"flow", "tcp", "pass", "traffic"} & set(order[order.index("second") :])



@pytest.mark.needs("locales")
def test_locale_of_the_program(copy: Copy, tmp_path: Path) -> None:
    """Where numbers have a decimal comma, those of the documents and options still have a point."""
    made = tmp_path / "de_DE.UTF-8"
    subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", made], capture_output=True, check=False)
    assert (made / "LC_NUMERIC").exists()
    report = copy.drive(tmp_path, "locale", made.name, LOCPATH=str(tmp_path))
    assert report.number("percentiles") == 0
    assert report.number("status") == COMPLETE
    assert json.loads(report["json"])["totals"]["latency_s"]["p99_5"] > 0
    assert report["printed"] == report["after"] == "0,5"
