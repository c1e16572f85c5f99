# SPDX-License-Identifier: Apache-2.0
"""What the commands do. What is slow to import is imported where it is wanted."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import json
import platform
import sys
import time
from datetime import datetime
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netmodel_lab import __version__
from netmodel_lab.problems import EnvironmentProblem, Exit, UsageProblem

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from netmodel_lab.bench import Bench
    from netmodel_lab.checks import Checked
    from netmodel_lab.folder import Epoch, Folder, Manifest
    from netmodel_lab.prepare import Prepared
    from netmodel_lab.program import Program
    from netmodel_lab.runner import Tally
    from netmodel_lab.spec import HostSpec, Role
    from netmodel_lab.study import Study
    from netmodel_lab.table import Table

_LIBRARIES = ("numpy", "pydantic", "scipy", "vl-convert-python")


# --- plan and run ---


def _prepared(options: argparse.Namespace) -> tuple[Program, Prepared]:
    from netmodel_lab.prepare import Wishes, prepare
    from netmodel_lab.program import Program

    if not options.study:
        raise UsageProblem(["STUDY is missing: a profile, or a file with a study (.yaml)"])
    program = Program.find(options.netmodel)
    wishes = Wishes(
        study=options.study,
        dimensions=options.dimensions,
        settings=options.settings,
        repeat=options.repeat,
        order=options.order,
        seed=options.seed,
        warmup=options.warmup,
        limit_run=options.limit_run,
        limit_total=options.limit_total,
        interval=options.interval,
        master=options.host,
        slave=options.peer,
        place=options.place,
        require=options.require,
        yes_destroy=options.yes_destroy,
        has_yes=options.yes,
        is_thorough=options.check,
    )
    prepared = prepare(wishes, program)
    for note in prepared.notes:
        print(f"note: {note}", file=sys.stderr)
    return program, prepared


def plan(options: argparse.Namespace) -> Exit:
    """Prints every point and how long all of it will take; writes nothing."""
    from netmodel_lab.plan import changes, make_plan, measured_s, start_s
    from netmodel_lab.words import clock

    if options.schema:
        from netmodel_lab.studyfile import schema

        print(json.dumps(schema(), indent=1))
        return Exit.DONE
    program, prepared = _prepared(options)
    study = prepared.study
    points = make_plan(study)
    seconds = sum(measured_s(point, study, program.parameters(point.profile)) + start_s(study) for point in points)
    changed = changes(study, points)
    checked = _checked(study, program) if options.check else None
    if options.json:
        listed = [{**point.model_dump(), "changes": what} for point, what in zip(points, changed, strict=True)]
        document = {"study": study.model_dump(), "seconds": seconds, "points": listed}
        print(json.dumps(document | ({"check": dataclasses.asdict(checked)} if checked else {}), indent=1))
        return checked.exit if checked else Exit.DONE
    for line in _preparations(study):
        print(line)
    for point, what in zip(points, changed, strict=True):
        print(f"{point.seq:6}  block {point.block}  {point.point}  {point.title()}")
        for text in what:
            print(f"        set: {text}")
    count = sum(map(len, changed))
    print(
        f"{len(points)} points: {study.cells()} cells, {study.repeat} runs each, order {study.order.kind}"
        + ("" if study.order.kind == "given" else f", seed {study.order.seed}")
        + (f"; {count} changes of settings" if count else "")
        + f"; about {clock(seconds)}"
    )
    return _tell_check(checked, study) if checked else Exit.DONE


def _checked(study: Study, program: Program) -> Checked:
    from netmodel_lab.checks import check

    return check(study, program)


def _tell_check(checked: Checked, study: Study) -> Exit:
    from netmodel_lab.checks import as_lines

    for line in as_lines(checked):
        print(line)
    for text in checked.lacking:
        print(f"netmodel-lab: {text}", file=sys.stderr)
    for text in checked.unmet:
        print(f"netmodel-lab: held, and not so: {text}", file=sys.stderr)
    if checked.exit is Exit.DONE:
        hosts = "and the hosts can run them"
        if checked.not_asked:
            hosts = f"and nothing is known to be wrong; what is there was not asked: {', '.join(checked.not_asked)}"
        print(f"checked: netmodel takes each of {study.cells()} cells, {hosts}")
    return checked.exit


def _preparations(study: Study) -> Iterator[str]:
    """What is done once, and what is looked at in each run."""
    if study.hosts:
        yield f"master {study.hosts.master.text}, slave {study.hosts.slave.text}"
        for spec in (study.hosts.master, study.hosts.slave):
            if spec.copy_program:
                yield f"netmodel is copied to {spec.text}, and removed at the end"
    for name, value in study.hold.items():
        yield f"held: {name} is {value} on every host, or the run has failed"


def run(options: argparse.Namespace) -> Exit:
    from netmodel_lab.bench import Bench
    from netmodel_lab.folder import Epoch, Folder, Manifest, now
    from netmodel_lab.plan import make_plan

    if options.dry_run:
        return plan(options)
    program, prepared = _prepared(options)
    study = prepared.study
    path = Path(options.output or f"{study.name}-{datetime.now():%Y%m%d-%H%M%S}")
    manifest = Manifest(
        created=now(),
        command=["netmodel-lab", *options.argv],
        text=prepared.text,
        study=study,
        kinds=_kinds(program, study),
        versions=_versions(),
        epochs=[],
        plan=make_plan(study),
    )
    folder = Folder.create(path)
    with folder.locked():
        if (folder.path / "manifest.json").exists():
            raise UsageProblem([f"{path}: is a study already; netmodel-lab resume {path} goes on with it"])
        with contextlib.closing(Bench(study, program, folder.path.resolve())) as bench:
            bench.open()
            manifest.epochs.append(Epoch(start=now(), facts=bench.facts(), hosts=bench.probes()))
            folder.write_manifest(manifest)
            counts = _measure(folder, manifest, program, bench, options, retry_failed=False)
        return counts if isinstance(counts, Exit) else _conclude(folder, counts, options)


def _kinds(program: Program, study: Study) -> dict[str, str]:
    """The types of parameters, of all profiles that are used."""
    from netmodel_lab.plan import cells

    profiles = dict.fromkeys(cell.wanted.profile for cell in cells(study))
    return {name: found.kind for profile in profiles for name, found in program.parameters(profile).items()}


def _versions() -> dict[str, str]:
    found = {"netmodel-lab": __version__, "python": platform.python_version()}
    for name in _LIBRARIES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found


def resume(options: argparse.Namespace) -> Exit:
    from netmodel_lab.bench import Bench
    from netmodel_lab.folder import Epoch, Folder, now
    from netmodel_lab.program import Program

    folder = Folder.open(Path(options.folder))
    with folder.locked():
        manifest = folder.manifest()
        last = manifest.epochs[-1]
        program = Program.find(options.netmodel or str(last.facts["program"]))
        with contextlib.closing(Bench(manifest.study, program, folder.path.resolve())) as bench:
            bench.open()
            facts = bench.facts()
            changed = _changes(last, facts)
            if changed and not options.accept_change:
                raise UsageProblem([*changed, "what follows would not compare; --accept-change begins a new epoch"])
            if changed:
                manifest.epochs.append(Epoch(start=now(), facts=facts, hosts=bench.probes()))
                folder.write_manifest(manifest)
            counts = _measure(folder, manifest, program, bench, options, retry_failed=options.retry_failed)
        return counts if isinstance(counts, Exit) else _conclude(folder, counts, options)


def _changes(epoch: Epoch, facts: dict[str, str | int | None]) -> list[str]:
    return [
        f"{name} has changed: {epoch.facts.get(name)} to {value}"
        for name, value in facts.items()
        if name != "program" and epoch.facts.get(name) != value
    ]


def _measure(
    folder: Folder,
    manifest: Manifest,
    program: Program,
    bench: Bench,
    options: argparse.Namespace,
    *,
    retry_failed: bool,
) -> Tally | Exit:
    from netmodel_lab.progress import Progress
    from netmodel_lab.runner import Runner, tally

    before = tally(manifest.plan, folder.attempts())
    order = manifest.study.order
    print(
        f"{manifest.study.name}  {before.points} points, {manifest.study.repeat} blocks, order {order.kind}"
        + ("" if order.kind == "given" else f", seed {order.seed}")
        + (f", {before.points - before.left} done before" if before.left < before.points else "")
        + f"  in {folder.path}",
        file=sys.stderr,
    )
    progress = Progress(
        sys.stderr,
        points=before.points,
        done=before.good,
        blocks=manifest.study.repeat,
        is_terminal=sys.stderr.isatty() and not options.plain,
        quiet=options.quiet,
    )
    try:
        return Runner(folder, manifest, program, bench, progress).run(retry_failed=retry_failed)
    except OSError as error:
        progress.clear()
        why = f"{error.filename or folder.path}: {error.strerror}"
        raise EnvironmentProblem([f"{why}; netmodel-lab resume {folder.path} goes on, when that is mended"]) from None
    except KeyboardInterrupt:
        progress.clear()
        print(f"interrupted; netmodel-lab resume {folder.path} goes on", file=sys.stderr)
        return Exit.INTERRUPTED


def _conclude(folder: Folder, counts: Tally, options: argparse.Namespace) -> Exit:
    """Rows, page and table of what there is, and what it says."""
    from netmodel_lab import compare_text, verdicts

    table = _report(folder, folder.path / "report.html" if options.report else None, is_quiet=options.quiet)
    if counts.left:
        print(f"{counts.left} points are left: netmodel-lab resume {folder.path}", file=sys.stderr)
    if counts.failed:
        print(f"{counts.failed} points have failed: netmodel-lab resume --retry-failed {folder.path}", file=sys.stderr)
    for row in verdicts.unmet(table.rows):
        where = " ".join(f"{name}={row[f'd.{name}']}" for name in table.dimensions)
        print(f"run {row['seq']} {where}: required, and not met: {row['unmet']}", file=sys.stderr)
    for name in verdicts.not_known(table):
        print(f"verdict on {name}: undecided: no run has this figure", file=sys.stderr)
    found = verdicts.comparisons(table)
    if options.quiet or not options.report:  # else the whole tables have been told
        for comparison in found:
            for line in compare_text.told(comparison):
                print(line, file=sys.stderr)
    return verdicts.exit_code(table, found)


def _report(folder: Folder, path: Path | None, *, is_quiet: bool) -> Table:
    """Rows and, with a path, the page."""
    from netmodel_lab import rows
    from netmodel_lab.table import Table

    table = Table(folder)
    rows.write(folder, table.rows)
    if not path:
        return table
    from netmodel_lab import compare_text, text, verdicts
    from netmodel_lab.folder import write_whole
    from netmodel_lab.page import page

    write_whole(path, page([table]))
    if not is_quiet:
        sys.stdout.write(text.cells(table))
        for comparison in verdicts.comparisons(table):
            sys.stdout.write("\n" + compare_text.as_text(comparison))
    print(f"report: {path}", file=sys.stderr)
    return table


# --- what there is ---


def status(options: argparse.Namespace) -> Exit:
    from netmodel_lab.folder import Folder
    from netmodel_lab.words import clock

    folder = Folder.open(Path(options.folder))
    while True:
        found = _status(folder)
        if options.json:
            print(json.dumps(found))
        else:
            left_s = found["left_s"]
            running = f", about {clock(left_s)} to go" if left_s else ""
            running += f", being run by {found['running']}" if found["running"] else ""
            print(
                f"{folder.path}: {found['points']} points, {found['good']} done, {found['failed']} failed, "
                f"{found['left']} left{running}",
                flush=True,
            )
        if not options.watch or not found["running"]:
            return Exit.FAILED if found["failed"] else Exit.DONE
        time.sleep(2)


def _status(folder: Folder) -> dict[str, Any]:
    from netmodel_lab.runner import seconds_left, tally

    running = folder.holder()
    plan, attempts = folder.manifest().plan, folder.attempts()
    counts = tally(plan, attempts)
    return {
        "folder": str(folder.path),
        "points": counts.points,
        "good": counts.good,
        "failed": counts.failed,
        "left": counts.left,
        "left_s": seconds_left(plan, attempts),
        "running": running,
    }


def report(options: argparse.Namespace) -> Exit:
    from netmodel_lab import text
    from netmodel_lab.folder import Folder
    from netmodel_lab.scaling import scaling
    from netmodel_lab.table import Table

    folders = [Folder.open(Path(name)) for name in options.folders]
    folder = folders[0]
    if len(folders) > 1:
        return _together(folders, options)
    if options.png or options.svg:
        return _picture(folder, options)
    if options.scaling_study:
        sys.stdout.write(scaling(Table(folder)))
    elif options.text:
        table = Table(folder)
        sys.stdout.write(text.cells(table) + text.statistics(table))
    else:
        _report(folder, Path(options.output or folder.path / "report.html"), is_quiet=True)
    return Exit.DONE


def _together(folders: Sequence[Folder], options: argparse.Namespace) -> Exit:
    """One page of several studies; nothing is written into their folders."""
    from netmodel_lab.folder import write_whole
    from netmodel_lab.page import page
    from netmodel_lab.table import Table

    chosen = {
        "--png": options.png,
        "--svg": options.svg,
        "--text": options.text,
        "--scaling-study": options.scaling_study,
    }
    wrong = [f"{name}: is for one study at a time" for name, value in chosen.items() if value]
    if not options.output:
        wrong.append("-o FILE says where the page of several studies goes")
    paths = [folder.path.resolve() for folder in folders]
    wrong += [f"{path}: is there twice" for path in dict.fromkeys(paths) if paths.count(path) > 1]
    if wrong:
        raise UsageProblem(wrong)
    write_whole(Path(options.output), page([Table(folder) for folder in folders]))
    print(f"report: {options.output}", file=sys.stderr)
    return Exit.DONE


def _picture(folder: Folder, options: argparse.Namespace) -> Exit:
    from netmodel_lab.page.picture import picture
    from netmodel_lab.table import Table

    name = options.png or options.svg
    kind = "png" if options.png else "svg"
    if options.png and not options.output and sys.stdout.isatty():
        raise UsageProblem(["--png: -o FILE says where the picture goes"])
    drawn = picture(Table(folder), name, kind, options.over, options.cell)
    if options.output:
        Path(options.output).write_bytes(drawn)
    else:
        sys.stdout.buffer.write(drawn)
    return Exit.DONE


def compare(options: argparse.Namespace) -> Exit:
    from netmodel_lab import compare_text
    from netmodel_lab.compare import compare as compare_sides
    from netmodel_lab.sides import read_sides
    from netmodel_lab.values import percentage

    a, b = read_sides(options.a, options.b)
    found = compare_sides(
        a,
        b,
        options.metric,
        options.by.split(",") if options.by else [],
        alpha=options.alpha,
        same=percentage("--same", options.same),
    )
    if options.json:
        print(json.dumps(compare_text.as_json(found), indent=1))
    else:
        sys.stdout.write(compare_text.as_text(found))
    return found.exit


def baseline(options: argparse.Namespace) -> Exit:
    """Keeps a study, by a name, for comparing later ones of the same hosts with it: compare baseline:NAME STUDY."""
    from netmodel_lab import baselines
    from netmodel_lab.folder import Folder
    from netmodel_lab.table import Table
    from netmodel_lab.text import aligned

    if options.what == "list":
        lines = [[one.name, one.saved, one.hosts, str(one.path)] for one in baselines.everything()]
        sys.stdout.write(aligned([["name", "saved", "hosts", "file"], *lines], 4))
        return Exit.DONE
    if options.what == "remove":
        print(f"baseline:{options.name}: removed: {baselines.remove(options.name)}", file=sys.stderr)
        return Exit.DONE
    table = Table(Folder.open(Path(options.folder)))
    kept = baselines.save(options.name, table, is_replaced=options.replace)
    missing = table.tally.points - table.tally.good
    lacks = f", {missing} runs are not there" if missing else ""
    print(f"baseline:{kept.name}: {len(table.good)} runs of {kept.hosts}{lacks}: {kept.path}", file=sys.stderr)
    return Exit.DONE


def export(options: argparse.Namespace) -> Exit:
    from netmodel_lab import rows
    from netmodel_lab.folder import Folder, write_whole
    from netmodel_lab.qq import ABSENT, with_old_names

    folder = Folder.open(Path(options.folder))
    found = rows.build(folder.manifest(), folder.attempts())
    if options.names == "qq":
        found = with_old_names(found)
        for name, why in ABSENT.items():
            print(f"note: no column {name}: {why}", file=sys.stderr)
    if options.format == "parquet":
        if not options.output:
            raise UsageProblem(["parquet: -o FILE says where it goes"])
        rows.write_parquet(Path(options.output), found)
        return Exit.DONE
    text = rows.as_csv(found) if options.format == "csv" else json.dumps(found, indent=1, ensure_ascii=False) + "\n"
    if options.output:
        write_whole(Path(options.output), text)
    else:
        sys.stdout.write(text)
    return Exit.DONE


def import_(options: argparse.Namespace) -> Exit:
    """Makes rows of results of other tools, which compare takes beside those of studies."""
    from netmodel_lab import foreign, rows
    from netmodel_lab.folder import write_whole

    found = foreign.read(options.tool, [Path(name) for name in options.files])
    path = Path(options.output)
    if path.suffix not in (".jsonl", ".csv"):
        raise UsageProblem([f"{path}: must end with .jsonl or .csv, as compare takes it"])
    if path.exists():
        raise UsageProblem([f"{path}: is there already"])
    write_whole(path, rows.as_csv(found) if path.suffix == ".csv" else rows.as_jsonl(found))
    failed = sum(not row["ok"] for row in found)
    print(f"{len(found)} rows, {failed} of them failed: {path}", file=sys.stderr)
    return Exit.FAILED if failed else Exit.DONE


# --- hosts ---


def hosts(options: argparse.Namespace) -> Exit:
    """Connects to each host, and tells which figures it lacks and why. Nothing is changed there."""
    from netmodel_lab.checks import host_lines
    from netmodel_lab.machine import NOT_ASKED, Machine
    from netmodel_lab.program import Program

    program = Program.find(options.netmodel)
    found, is_good = [], True
    for role, spec in _specs(options):
        machine = Machine(spec, role, program, None)
        try:
            machine.open()
            why = None if machine.probed else NOT_ASKED
            found.append({"host": spec.text, "ok": True, "why": why, "probe": machine.probed})
        except EnvironmentProblem as problem:
            is_good = False
            found.append({"host": spec.text, "ok": False, "why": problem.lines[0]})
        finally:
            machine.close()
    if options.json:
        print(json.dumps(found, indent=1))
    else:
        for one in found:
            for line in host_lines(one, str(one["host"])):
                print(line)
    return Exit.DONE if is_good else Exit.ENVIRONMENT


def _specs(options: argparse.Namespace) -> list[tuple[Role, HostSpec]]:
    from netmodel_lab import studyfile
    from netmodel_lab.spec import parse_host

    found: list[tuple[Role, HostSpec]] = []
    for text in options.hosts:
        if Path(text).suffix in (".yaml", ".yml"):
            read = studyfile.read(Path(text))
            if read.mistakes:
                raise UsageProblem(read.mistakes)
            found += [("master" if role == "master" else "slave", spec) for role, spec in read.hosts.items()]
            continue
        try:
            found.append(("slave", parse_host(text)))
        except ValueError as error:
            raise UsageProblem([str(error)]) from None
    return found
