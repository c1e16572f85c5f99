# SPDX-License-Identifier: Apache-2.0
"""netmodel-lab k8s: tests between pods of a cluster, from the test lists of k8s-netperf.

  netmodel-lab k8s plan   [FILE]     prints the objects of a run as YAML, and every sample; makes nothing
  netmodel-lab k8s check  [FILE]     asks for rights, nodes and quotas, and names those that are missing
  netmodel-lab k8s run    [FILE]     measures, to tables, a page, CSV, JSON and JUnit in a folder
  netmodel-lab k8s resume FOLDER     does the samples that are missing
  netmodel-lab k8s clean  [RUN...]   removes the objects of runs that were killed

FILE is a test list of k8s-netperf (default netperf.yml), whose options have their names here:
  netmodel-lab k8s run netperf.yml --all --image registry.example.com/netmodel:0.1.0

Exit codes: 0 done, 1 worse, 2 wrong use, 3 the cluster refuses or lacks something, 4 some samples failed,
5 a rule has no verdict, as samples are missing, 130 interrupted."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from netmodel_lab.folder import write_whole
from netmodel_lab.k8s import (
    cleaning,
    monitoring,
    network_checks,
    openshift,
    options,
    outputs,
    prometheus,
    report,
    rules,
    usage,
)
from netmodel_lab.k8s.cluster import NODE, Cluster
from netmodel_lab.k8s.driver import Driver, opened
from netmodel_lab.k8s.figures import Cell, Row, cells, is_stream, of_pairs
from netmodel_lab.k8s.monitoring import Prometheus
from netmodel_lab.k8s.others import OTHERS
from netmodel_lab.k8s.placement import every_node
from netmodel_lab.k8s.problems import MeasurementProblem
from netmodel_lab.k8s.search import Index, Target
from netmodel_lab.k8s.settings import Limits, Point, Settings, new_run, points
from netmodel_lab.k8s.store import Store
from netmodel_lab.k8s.waits import Waits
from netmodel_lab.problems import EnvironmentProblem, Exit, UsageProblem, nearest
from netmodel_lab.words import with_unit

Json = dict[str, Any]


def _say(text: str) -> None:
    print(f"netmodel-lab: {text}", file=sys.stderr)


def _asked(words: argparse.Namespace) -> tuple[Cluster, Settings]:
    """What is to be run; patterns over every node have the nodes that there are now."""
    settings = options.settings(words)
    cluster = Cluster.connect(words.kubeconfig, words.context)
    settings = openshift.found(cluster, network_checks.with_device(cluster, settings))
    if settings.where.pattern in ("matrix", "all-to-all"):
        nodes = every_node(cluster.listed(NODE), settings.where, settings.pods)
        settings = replace(settings, where=replace(settings.where, nodes=nodes))
    return cluster, settings


# --- plan ---


def plan(words: argparse.Namespace) -> Exit:
    """Prints the objects as YAML, and the points as comments; asks the cluster for its nodes, and makes nothing."""
    from netmodel_lab.k8s.planning import as_yaml

    cluster, settings = _asked(words)
    sys.stdout.write(as_yaml(settings, Driver(cluster, settings, points(settings))))
    return Exit.DONE


# --- check ---


def check(words: argparse.Namespace) -> Exit:
    """Asks the cluster whether this user may do what a run does, and whether it has the nodes."""
    from netmodel_lab.k8s.checking import check as ask

    cluster, settings = _asked(words)
    lines, is_good = ask(cluster, settings, points(settings))
    print("\n".join(lines))
    return Exit.DONE if is_good else Exit.ENVIRONMENT


# --- run and resume ---


@dataclass(frozen=True)
class _Beside:
    """What a run is compared with, and where its results go."""

    before: dict[rules.Key, list[Json]] | None
    index: Index | None
    prometheus: Prometheus | None

    @classmethod
    def of(cls, words: argparse.Namespace) -> _Beside:
        """Looked at before anything is measured."""
        before = rules.read_baseline(Path(words.baseline)) if words.baseline else None
        asked = _prometheus(words)
        if words.textfile:
            _check_textfile(Path(words.textfile))
        if not words.search:
            return cls(before, None, asked)
        target = Target.of(words.search, words.index, words.search_credentials, words.search_ca)
        if target.is_open:
            _say(f"--search {target.url}: the password can be read by others on its way; https:// would encrypt it")
        return cls(before, Index(target), asked)

    def check(self) -> None:
        """Whether they answer."""
        if self.prometheus:
            self.prometheus.check()
        if self.index:
            self.index.check()


def _prometheus(words: argparse.Namespace) -> Prometheus | None:
    of_server = {"--prom-token": words.prom_token, "--prom-ca": words.prom_ca}
    why, ours = "", of_server
    if not words.prom:
        why, ours = "without --prom", {**of_server, "--prom-queries": words.prom_queries}
    elif words.prom == monitoring.AUTO:
        why = f"with --prom {monitoring.AUTO}"
    if why and any(ours.values()):
        raise UsageProblem([f"{flag}: has no effect {why}" for flag, given in ours.items() if given])
    if not words.prom:
        return None
    queries = monitoring.queries(words.prom_queries)
    if words.prom == monitoring.AUTO:
        return Prometheus.of(Cluster.connect(words.kubeconfig, words.context), queries)
    found = Prometheus.at(words.prom, words.prom_token, words.prom_ca, queries)
    if found.is_open:
        _say(f"--prom {words.prom}: the token can be read by others on its way; https:// would encrypt it")
    return found


def _check_textfile(path: Path) -> None:
    if path.suffix != ".prom":
        raise UsageProblem([f"--textfile {path}: must end in .prom, as node_exporter reads no other files"])
    if not path.parent.is_dir() or not os.access(path.parent, os.W_OK | os.X_OK):
        why = "cannot be written in" if path.parent.is_dir() else "is no folder"
        raise EnvironmentProblem([f"--textfile {path}: {path.parent} {why}"])


def run(words: argparse.Namespace) -> Exit:
    """Measures each sample, removes what it has made, and writes tables, CSV, JSON and JUnit."""
    beside = _Beside.of(words)
    key = _key(words.server_key_file)
    cluster, settings = _asked(words)
    beside.check()
    path = Path(words.output or f"k8s-{time.strftime('%Y%m%d-%H%M%S')}")
    store = Store.create(path, settings, ["netmodel-lab", *words.argv])
    all_points = points(settings)
    _tell(words, settings, store, all_points, all_points)
    is_removed = _measure(words, cluster, settings, store, key, all_points)
    return _or_left(_conclude(words, settings, store, beside), is_removed)


def _or_left(code: Exit, is_removed: bool) -> Exit:
    """What is left in the cluster is no success."""
    return Exit.ENVIRONMENT if code is Exit.DONE and not is_removed else code


def _key(path: str | None) -> str | None:
    if not path:
        return None
    try:
        return Path(path).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageProblem([f"--server-key-file {path}: {error}"]) from None


def resume(words: argparse.Namespace) -> Exit:
    """Does the samples that are missing or have failed, with objects of their own; and all that is made of them."""
    store, settings = Store.open(Path(words.folder))
    beside = _Beside.of(words)
    beside.check()
    all_points = points(settings)
    left = [point for point in all_points if not store.is_done(point)]
    settings = replace(settings, run=new_run(settings.uuid)[0]) if left else settings
    _tell(words, settings, store, all_points, left)
    is_removed = True
    if left:
        cluster = Cluster.connect(words.kubeconfig, words.context)
        is_removed = _measure(words, cluster, settings, store, _key(words.server_key_file), left)
    return _or_left(_conclude(words, settings, store, beside), is_removed)


def _tell(
    words: argparse.Namespace, settings: Settings, store: Store, all_points: Sequence[Point], left: Sequence[Point]
) -> None:
    if not words.quiet:
        done = f", {len(all_points) - len(left)} done before" if len(left) < len(all_points) else ""
        print(f"run {settings.run}: {len(all_points)} samples{done}  in {store.path}", file=sys.stderr)
    for name in settings.drivers:
        for profile in dict.fromkeys(test.profile for test in settings.tests):
            if profile not in OTHERS[name].profiles:
                _say(f"{name} has no {profile}, which netmodel alone measures")


def _measure(
    words: argparse.Namespace,
    cluster: Cluster,
    settings: Settings,
    store: Store,
    key: str | None,
    left: Sequence[Point],
) -> bool:
    """Whether nothing has been left in the cluster that is not to be kept."""
    all_points = points(settings)
    driver = Driver(cluster, settings, left, key, _say if words.debug else None, store.nodes(all_points), _say)
    try:
        with opened(driver, _say, f"netmodel-lab k8s clean {settings.run}"):
            for point in left:
                _sample(driver, point, store, is_quiet=words.quiet)
    except EnvironmentProblem:
        if any(store.sample(point) for point in all_points):
            store.rows(settings, all_points)
            _say(f"when that is put right, netmodel-lab k8s resume {store.path} goes on")
        else:
            store.discard()
        raise
    except KeyboardInterrupt:
        store.rows(settings, all_points)
        _say(f"interrupted; netmodel-lab k8s resume {store.path} goes on")
        raise
    return not driver.has_left


def _sample(driver: Driver, point: Point, store: Store, *, is_quiet: bool) -> None:
    try:
        found = driver.sample(point)
    except MeasurementProblem as problem:
        why = "; ".join(problem.lines)
        store.keep(point, [], why)
        _say(f"{point.title}: failed: {why}")
        return
    pairs = [{"pair": one.pair, "result": one.document, "k8s": one.k8s, "histogram": one.histogram} for one in found]
    store.keep(point, pairs, None)
    if not is_quiet:
        documents = [one.document for one in found]
        figures = of_pairs(documents)
        arrived, rate = figures.get("received_MBps"), figures.get("transactions_per_s")
        is_one_way = is_stream(point.test, documents)
        told = f"{arrived * 8:.0f} Mb/s" if is_one_way and arrived is not None else with_unit(rate, "1/s")
        print(f"{time.strftime('%H:%M:%S')}  {point.title}  {told}", file=sys.stderr)


def _conclude(words: argparse.Namespace, settings: Settings, store: Store, beside: _Beside) -> Exit:
    """Everything that is made of the samples; and what they say."""
    all_points = points(settings)
    rows = store.rows(settings, all_points)
    found = cells(all_points, rows)
    findings = rules.tolerance(found, words.tcp_tolerance)
    if beside.before is not None:
        findings += rules.baseline(found, beside.before, words.tolerance)
    used = beside.prometheus.ends if beside.prometheus else usage.of_samples
    documents = _write(words, settings, store, found, rows, findings, used)
    if words.json:
        print(json.dumps(documents, indent=1))
    elif not words.quiet:
        sys.stdout.write(outputs.tables(found, settings))
        if words.metrics:
            sys.stdout.write("\n" + outputs.usage_tables(found, documents, settings))
    for finding in findings:
        if words.quiet and not (finding.is_worse or finding.is_missing):
            continue
        print(f"{finding.word}: {finding.title}: {finding.text}", file=sys.stderr)
    is_indexed = _send(beside.index, documents, store, is_quiet=words.quiet)
    failed = len(all_points) - sum(bool(row["ok"]) for row in rows)
    if failed:
        _say(f"{failed} of {len(all_points)} samples have failed: netmodel-lab k8s resume {store.path}")
        return Exit.FAILED
    if any(finding.is_worse for finding in findings):
        return Exit.WORSE
    if is_indexed and any(finding.is_missing for finding in findings):
        return Exit.UNDECIDED
    return Exit.DONE if is_indexed else Exit.ENVIRONMENT


def _write(
    words: argparse.Namespace,
    settings: Settings,
    store: Store,
    found: Sequence[Cell],
    rows: Sequence[Row],
    findings: Sequence[rules.Finding],
    used: Callable[[Sequence[Sequence[Json]]], dict[str, usage.End]],
) -> list[Json]:
    """The files of the folder; returns the documents."""
    stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(store.end(points(settings))))
    pairs = {point.seq: (store.sample(point) or {}).get("pairs", []) for point in points(settings)}
    documents = outputs.documents(found, settings, stamp, pairs, used)
    store.write("result.json", json.dumps(documents, indent=1) + "\n")
    if words.csv:
        store.write("result.csv", outputs.csv_results(found, settings, stamp))
        store.write("loss-rt-result.csv", outputs.csv_losses(found, settings, stamp))
        for name, text in outputs.csv_usage(found, documents, settings, stamp).items():
            store.write(name, text)
    store.write("report.html", report.page(found, rows, findings, settings, stamp))
    store.write("junit.xml", outputs.junit(rows, findings, settings))
    metrics = prometheus.text(found, findings, stamp)
    store.write("metrics.prom", metrics)
    if words.textfile:
        try:
            write_whole(Path(words.textfile), metrics)
        except OSError as error:
            _say(f"--textfile {words.textfile}: {error.strerror}")
    return documents


def _send(index: Index | None, documents: Sequence[Json], store: Store, *, is_quiet: bool) -> bool:
    """Whether nothing is left to be sent."""
    if index is None:
        return True
    try:
        count = index.send(documents)
    except EnvironmentProblem as problem:
        for line in problem.lines:
            _say(line)
        _say(f"netmodel-lab k8s resume {store.path}, with the same --search, sends them again")
        return False
    if not is_quiet:
        print(f"documents in the index: {count}", file=sys.stderr)
    return True


# --- clean ---


def clean(words: argparse.Namespace) -> Exit:
    """Removes what runs have left: those that are named, or those whose time is over; --all: every run's."""
    cluster = Cluster.connect(words.kubeconfig, words.context)
    found, unseen = cleaning.find(cluster, words.namespace, words.runs)
    names = [left.run for left in found]
    wrong = [
        f"{name}: no run has left anything under this name{nearest(name, names)}"
        for name in words.runs
        if name not in names
    ]
    if wrong and unseen.lines:
        raise EnvironmentProblem([*wrong, *unseen.lines])
    if wrong:
        raise UsageProblem(wrong)
    chosen = [left for left in found if left.run in words.runs or words.all or (not words.runs and left.is_expired)]
    problems: list[str] = []
    for left in chosen:
        print(f"removing {left.text()}")
        if not words.dry_run:
            problems += cleaning.clean(cluster, Waits(cluster, Limits()), left)
    for left in found:
        if left not in chosen and not words.runs:
            print(f"left as it is: {left.text()}; netmodel-lab k8s clean {left.run} removes it")
    for line in (*problems, *unseen.lines):
        _say(line)
    return Exit.ENVIRONMENT if problems or unseen.has_failed else Exit.DONE


# --- words ---


def _add_plan(parser: argparse.ArgumentParser) -> None:
    options.add_tests(parser)


def _add_run(parser: argparse.ArgumentParser) -> None:
    options.add_tests(parser)
    options.add_new(parser)
    options.add_run(parser)


def _add_resume(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", metavar="FOLDER")
    parser.add_argument("--server-key-file", metavar="FILE", help="key of the slave outside the cluster")
    options.add_run(parser)


def _add_clean(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("runs", metavar="RUN", nargs="*", help="what this run has left (default: what has expired)")
    add("--all", action="store_true", help="of every run, also of those that are under way")
    add("--namespace", metavar="NAME", help="look there only")
    add("--dry-run", action="store_true", help="tell what would be removed")


VERBS: dict[str, tuple[Callable[[argparse.ArgumentParser], None], Callable[[argparse.Namespace], Exit]]] = {
    "plan": (_add_plan, plan),
    "check": (_add_plan, check),
    "run": (_add_run, run),
    "resume": (_add_resume, resume),
    "clean": (_add_clean, clean),
}


def parse(argv: Sequence[str], parser_class: type[argparse.ArgumentParser]) -> argparse.Namespace:
    verb = argv[0] if argv else "--help"
    if verb in ("-h", "--help"):
        print(__doc__)
        sys.exit(Exit.DONE)
    if verb not in VERBS:
        raise UsageProblem([f"k8s {verb}: no such command{nearest(verb, list(VERBS))}"])
    add, action = VERBS[verb]
    parser = parser_class(prog=f"netmodel-lab k8s {verb}", description=action.__doc__, allow_abbrev=False)
    options.add_cluster(parser)
    add(parser)
    found = parser.parse_intermixed_args(argv[1:] if verb == "clean" else options.normalised(argv[1:]))
    found.action = action
    found.argv = ["k8s", *argv]
    return found
