# SPDX-License-Identifier: Apache-2.0
"""The options of netmodel-lab k8s: k8s-netperf's under their names, and ours; and what is made of them."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from netmodel_lab.k8s import fan, machine_options, netperf_file, network_options, pod_spec
from netmodel_lab.k8s.manifests import files
from netmodel_lab.k8s.models import MOST
from netmodel_lab.k8s.others import OTHERS
from netmodel_lab.k8s.paths import FAMILIES, NAMES, OTHER_PATHS, PATHS
from netmodel_lab.k8s.placement import PLACEMENTS, named
from netmodel_lab.k8s.results import LEAST_S
from netmodel_lab.k8s.search import CREDENTIALS
from netmodel_lab.k8s.settings import PROFILES, Keep, Limits, Pattern, Placement, Pods, Settings, Where, new_run
from netmodel_lab.problems import UsageProblem, nearest
from netmodel_lab.program import Program

# Flags of k8s-netperf that mean nothing here, or that cannot be, and why.
REFUSED = {
    "ib-write-bw": "RDMA is none of netmodel's transports",
    "use-virtctl": "nobody logs in to a virtual machine; cloud-init starts netmodel in it",
}
PATTERNS: tuple[Pattern, ...] = ("pairs", "many-to-one", "one-to-many", "all-to-all", "matrix")
_SWITCHES: tuple[str, ...] = (
    "clean",
    "json",
    "local",
    "pod",
    "across",
    "all",
    "hostNet",
    "debug",
    "csv",
    "privileged",
    "metrics",
)
_SWITCHES += (*(other.option[2:] for other in OTHERS.values()), "vm", "network-policy", *network_options.SWITCHES)
_SWITCH: dict[str, Any] = {"action": argparse.BooleanOptionalAction}
_MOST_MS = 60_000  # of an interval
_TRUE, _FALSE = ("1", "t", "T", "true", "TRUE", "True"), ("0", "f", "F", "false", "FALSE", "False")


def normalised(argv: Sequence[str]) -> list[str]:
    """Switches as k8s-netperf takes them, --NAME=BOOL, as argparse does. Raises UsageProblem with what is refused."""
    found, wrong = [], []
    for word in argv:
        name, equals, value = word.removeprefix("--").partition("=")
        if word.startswith("--") and name in REFUSED:
            if not (equals and value in _FALSE):
                wrong.append(f"--{name}: {REFUSED[name]}")
        elif word.startswith("--") and equals and name in _SWITCHES:
            if value not in (*_TRUE, *_FALSE):
                wrong.append(f'--{name}: "{value}": must be true or false')
            found.append(f"--{name}" if value in _TRUE else f"--no-{name}")
        else:
            found.append(word)
    if wrong:
        raise UsageProblem(wrong)
    return found


def _between(low: float, high: float, *, whole: bool = False) -> Callable[[str], float]:
    def convert(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = low - 1
        if not low <= value <= high or (whole and value != int(value)):
            raise argparse.ArgumentTypeError(f'"{text}": must be {low:g} to {high:g}')
        return value

    return convert


def _interval(text: str) -> str:
    found = re.fullmatch(r"(\d+)(ms|s)", text)
    if not found or not 1 <= int(found[1]) * (1000 if found[2] == "s" else 1) <= _MOST_MS:
        raise argparse.ArgumentTypeError(f'"{text}": must be 1ms to {_MOST_MS // 1000}s')
    return text


def _some_of(known: Sequence[str]) -> Callable[[str], tuple[str, ...]]:
    def convert(text: str) -> tuple[str, ...]:
        found = tuple(dict.fromkeys(part for part in text.split(",") if part))
        wrong = [part for part in found if part not in known]
        if wrong or not found:
            near = nearest(wrong[0], known) if wrong else ""
            raise argparse.ArgumentTypeError(f'"{text}": must be some of {", ".join(known)}{near}')
        return found

    return convert


def add_cluster(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "--kubeconfig",
        metavar="FILE",
        help="of the cluster (default: $KUBECONFIG, ~/.kube/config, or the pod's account)",
    )
    add("--context", metavar="NAME", help="of the kubeconfig (default: its current one)")


def add_tests(parser: argparse.ArgumentParser) -> None:
    """What both plan and run take."""
    add = parser.add_argument
    add("file", metavar="FILE", nargs="?", help="tests, as k8s-netperf has them (default: --config)")
    add("--config", metavar="FILE", default="netperf.yml", help="the same (default netperf.yml)")
    add("--all", help="host network as well as pod network", default=False, **_SWITCH)
    add("--hostNet", help="host network only", default=False, **_SWITCH)
    add("--local", help="client and server on the same node", default=False, **_SWITCH)
    add("--across", help="client and server in different zones", default=False, **_SWITCH)
    add(
        "--paths",
        metavar="NAME,...",
        type=_some_of(NAMES),
        help=f"which traffic goes (default pod): {', '.join(NAMES)}",
    )
    add(
        "--ip-family",
        metavar="NAME,...",
        type=_some_of(FAMILIES),
        default=(),
        help=f"of addresses (default the cluster's first): {', '.join(FAMILIES)}",
    )
    add(
        "--placement",
        metavar="NAME,...",
        type=_some_of(PLACEMENTS),
        help=f"where both ends are (default other-node): {', '.join(PLACEMENTS)}",
    )
    network_options.add(parser)
    machine_options.add(parser, _between(1, 64, whole=True))
    add(
        "--network-policy",
        help="with a policy that lets the pods of the run meet; false: whatever policies there are",
        default=None,
        **_SWITCH,
    )
    add("--pattern", choices=PATTERNS, default="pairs", help="who sends to whom, at the same time but for matrix")
    add("--serverIP", metavar="ADDRESS[,PORT]", help="a slave outside the cluster; only clients are made")
    add("--server-key-file", metavar="FILE", help="its key (default: it has none)")
    add("--privileged", help="privileged containers", default=False, **_SWITCH)
    add("--interval", metavar="TIME", type=_interval, help="of what is told within a sample (default 1s)")
    add("--uuid", metavar="ID", help="identifier of the run in its results (default: a new one)")
    for name, other in OTHERS.items():
        add(other.option, help=f"{name} measures, too, from {other.image_option}", default=False, **_SWITCH)
        add(other.image_option, metavar="NAME", help=f"with {name}, as the nodes know it")
    add("--pod", help="pods as the ends; --pod=false with --vm leaves them out", default=True, **_SWITCH)
    _add_pods(parser)


def _add_pods(parser: argparse.ArgumentParser) -> None:
    """What pods are like, and how long they are waited for."""
    add = parser.add_argument
    add("--image", metavar="NAME", help="of netmodel, as the nodes know it (default localhost/netmodel:VERSION)")
    add("--image-pull-policy", choices=("IfNotPresent", "Always", "Never"), default="IfNotPresent", help="of the image")
    add("--image-pull-secret", metavar="NAME", help="of the image's registry, in --namespace")
    add("--namespace", metavar="NAME", help="one that exists, and stays (default: one of its own)")
    add("--server-node", metavar="NODE", help="where servers run")
    add("--client-node", metavar="NODE", help="where clients run")
    add("--node-selector", metavar="NAME=VALUE,...", default="", help="labels that nodes must have")
    add(
        "--pairs",
        metavar="N",
        type=_between(1, 1000, whole=True),
        default=1,
        help="pairs, or clients, at the same time",
    )
    add("--requests", metavar="cpu=N,memory=SIZE", default="", help="what each pod asks for")
    add("--limits", metavar="cpu=N,memory=SIZE", default="", help="what each pod is held to")
    add("--toleration", metavar="KEY[=VALUE][:EFFECT]", action="append", default=[], help="a taint that pods bear")
    add("--annotation", metavar="NAME=VALUE", action="append", default=[], help="of all pods")
    add("--service-account", metavar="NAME", help="of all pods, in --namespace")
    add("--priority-class", metavar="NAME", help="of all pods")
    add(
        "--pod-spec", metavar="FILE", help="YAML with more fields of their spec, as securityContext or runtimeClassName"
    )
    add(
        "--start-timeout",
        metavar="S",
        type=_between(1, 3600),
        default=120.0,
        help="seconds for a pod to be ready (120)",
    )
    add("--schedule-timeout", metavar="S", type=_between(0, 3600), default=30.0, help="of these, to have a node (30)")

    add(
        "--time-to-live",
        metavar="S",
        type=_between(0, 86400),
        default=3600.0,
        help="seconds after which pods end that nobody removes, beside what all samples may take (3600)",
    )
    add("--allow-peer", metavar="CIDR", action="append", default=[], help="where data may come from, too, through NAT")


def add_new(parser: argparse.ArgumentParser) -> None:
    """What resume has from the folder."""
    add = parser.add_argument
    add("-o", "--output", metavar="FOLDER", help="where (default ./k8s-DATE-TIME); a new or an empty folder")
    add("--clean", help="remove what was made", default=True, **_SWITCH)
    add("--keep", choices=("never", "failed", "always"), default="never", help="what was made, for a look")


def add_run(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("-q", "--quiet", action="store_true", help="tell of failures only")
    add("--json", help="the results as JSON on standard output, instead of tables", default=False, **_SWITCH)
    add("--csv", help="result.csv and loss-rt-result.csv in the folder", default=True, **_SWITCH)
    add("--textfile", metavar="FILE", help="metrics.prom also there, for node_exporter")
    add("--search", metavar="URL", help="of OpenSearch or Elasticsearch, which gets the documents of result.json")
    add("--index", metavar="NAME", default="k8s-netperf", help="of --search (default k8s-netperf)")
    add("--search-credentials", metavar="FILE", help=f"with USER:PASSWORD (default: ${CREDENTIALS})")
    add("--search-ca", metavar="FILE", help="authorities that --search is trusted by (default: the machine's)")
    add("--metrics", help="also print tables of the CPU of nodes and pods", default=False, **_SWITCH)
    add("--prom", metavar="URL", help="of Prometheus, which is asked, too; auto: the Service that the cluster has")
    add("--prom-token", metavar="FILE", help="with the token that --prom wants (default: none)")
    add("--prom-ca", metavar="FILE", help="authorities that --prom is trusted by (default: the machine's)")
    add("--prom-queries", metavar="FILE", help="YAML with queries of your own, as NAME: QUERY")
    add("--debug", help="tell of each object that is made", default=False, **_SWITCH)
    add("--tcp-tolerance", metavar="PERCENT", type=_between(0, 1000), default=10.0, help="of pods beside hosts (10)")
    add("--baseline", metavar="FOLDER", help="an earlier run; worse than it is exit code 1")
    add("--tolerance", metavar="PERCENT", type=_between(0, 99), default=10.0, help="of a run beside its baseline (10)")


def _quantities(flag: str, text: str) -> dict[str, str]:
    return named(flag, text.split(","), "NAME=QUANTITY, as cpu=1", may_be_empty=False)


def _toleration(text: str) -> dict[str, str]:
    whole, _, effect = text.partition(":")
    name, equals, value = whole.partition("=")
    found = {"key": name, "operator": "Equal", "value": value} if equals else {"key": name, "operator": "Exists"}
    return found | ({"effect": effect} if effect else {})


def _exclude_each_other(options: argparse.Namespace) -> list[str]:
    """What cannot be together."""
    is_everywhere = options.pattern in ("matrix", "all-to-all")
    given = {
        "--all": options.all,
        "--hostNet": options.hostNet,
        "--paths": options.paths,
        "--local": options.local,
        "--across": options.across,
        "--placement": options.placement,
        "--paths hairpin": "hairpin" in (options.paths or ()),
        "--serverIP": options.serverIP,
        "--ip-family": options.ip_family,
        f"--pattern {options.pattern}": options.pattern != "pairs",
        "--server-node": options.server_node,
        "--client-node": options.client_node,
        "--pairs": options.pairs > 1,
    }
    sets: list[tuple[str, ...]] = [("--all", "--hostNet", "--paths"), ("--local", "--across", "--placement")]
    elsewhere = (
        "--ip-family",
        "--all",
        "--hostNet",
        "--paths",
        "--local",
        "--across",
        "--placement",
        "--server-node",
        "--pairs",
    )
    sets += [("--serverIP", other) for other in elsewhere]
    sets += [(other, f"--pattern {options.pattern}") for other in ("--serverIP", "--paths hairpin")]
    if is_everywhere:
        others = ("--local", "--across", "--placement", "--server-node", "--client-node", "--pairs")
        sets += [(f"--pattern {options.pattern}", other) for other in others]
    return [
        f"{a} and {b} exclude each other"
        for names in sets
        for n, a in enumerate(names)
        for b in names[n + 1 :]
        if given[a] and given[b]
    ]


def _drivers(options: argparse.Namespace, wrong: list[str]) -> dict[str, str]:
    """The images of other programs that are asked for; mistakes are added to those that there are."""
    found = {}
    for name, other in OTHERS.items():
        is_wanted, image = (getattr(options, flag[2:].replace("-", "_")) for flag in (other.option, other.image_option))
        if is_wanted and not image:
            wrong.append(f"{other.option}: {other.image_option} must say which image has {name}")
        if image and not is_wanted:
            wrong.append(f"{other.image_option}: has no effect without {other.option}")
        if is_wanted and image:
            found[name] = str(image)
    if found:
        flags = ", ".join(OTHERS[name].option for name in found)
        refused = [name for name in options.paths or () if name not in OTHER_PATHS]
        if refused:
            wrong.append(f"{flags}: --paths {','.join(refused)} can be measured by netmodel alone")
        if options.serverIP:
            wrong.append(f"{flags}: --serverIP is a slave of netmodel")
    return found


def _short(drivers: Iterable[str], tests: Sequence[netperf_file.Test]) -> list[str]:
    """Where it would not be known whether pairs have run at the same time."""
    return [
        f"{test.name}: duration: {test.duration}: must be at least {LEAST_S} with {OTHERS[name].option} and several "
        "pairs, as its starts are known to a second"
        for name in drivers
        for test in tests
        if test.profile in OTHERS[name].profiles and test.duration < LEAST_S and not OTHERS[name].tells_start
    ]


def _where(options: argparse.Namespace, tests: Sequence[netperf_file.Test]) -> Where:
    short: Placement = "same-node" if options.local else "other-zone" if options.across else "other-node"
    placements: tuple[Placement, ...] = ("external",) if options.serverIP else options.placement or (short,)
    within = [PATHS[name].is_within for name in options.paths or ("pod",)]
    is_alone, rest = any(test.is_alone for test in tests), [test for test in tests if not test.is_alone]
    is_within = any(within) and bool(rest)
    has_others = (not all(within) and bool(rest)) or any(test.service for test in tests)
    return Where(
        server=options.server_node,
        client=options.client_node,
        selector=options.node_selector,
        placements=(
            *(placements if has_others else ()),
            *(("same-pod",) if is_within else ()),
            *(("external",) if is_alone and not options.serverIP else ()),
        ),
        pattern=options.pattern,
        pairs=int(options.pairs),
    )


def _pods(options: argparse.Namespace) -> Pods:
    return Pods(
        image=options.image or f"localhost/netmodel:{_version()}",
        pull=options.image_pull_policy,
        pull_secret=options.image_pull_secret,
        requests=_quantities("--requests", options.requests),
        limits=_quantities("--limits", options.limits),
        tolerations=tuple(_toleration(text) for text in options.toleration),
        annotations=named("--annotation", options.annotation),
        service_account=options.service_account,
        priority_class=options.priority_class,
        spec=pod_spec.read(options.pod_spec),
        is_privileged=options.privileged,
    )


def _alone(options: argparse.Namespace, tests: Sequence[netperf_file.Test]) -> list[str]:
    """Where tests that have a server of their own cannot be."""
    names = [test.name for test in tests if test.is_alone]
    given = {"--serverIP": options.serverIP, f"--pattern {options.pattern}": options.pattern != "pairs"}
    found = [f"{name}: params: server: excludes {flag}" for name in names for flag, is_so in given.items() if is_so]
    if len(names) == len(tests):
        useless = {
            "--all": options.all,
            "--hostNet": options.hostNet,
            "--paths": options.paths,
            "--ip-family": options.ip_family,
            "--local": options.local,
            "--across": options.across,
            "--placement": options.placement,
            "--server-node": options.server_node,
        }
        found += [
            f"{flag}: has no effect, as all tests have a server of their own"
            for flag, is_so in useless.items()
            if is_so
        ]
    return found


def _of_one_master(
    options: argparse.Namespace, tests: Sequence[netperf_file.Test], has_others: bool, has_network: bool
) -> list[str]:
    """What one master over many slaves cannot have: each slave would need a Service, or a network's address."""
    flag = "--pattern one-to-many"
    refused = [name for name in options.paths or () if PATHS[name].service]
    found = [f"{flag}: {test.name}: service: goes to one slave" for test in tests if test.service]
    found += [f"{flag}: --paths {','.join(refused)}: goes to one slave"] if refused else []
    return found + [
        f"{flag} and {other} exclude each other"
        for other, is_so in (("other programs", has_others), ("other networks", has_network), ("--vm", options.vm))
        if is_so
    ]


def _spread(tests: Sequence[netperf_file.Test], count: int) -> dict[str, str]:
    """The profiles of one master, by their names. Raises UsageProblem with what netmodel has against all of them."""
    found: dict[str, str] = {}
    wrong: list[str] = []
    asked = {
        (test.own_profile, tuple(test.model.values(test.duration).items()) if test.model else ()): test.model
        for test in tests
    }
    for (name, params), model in asked.items():
        if model and model.text:
            text = model.text
        else:
            text = (PROFILES / name if name.endswith(".xml") else Program.find().profile_path(name)).read_text("utf-8")
        shown = model.profile if model else name
        try:
            found[fan.file(name, count)] = made = fan.spread(shown, text, count)
            fan.check(shown, made, dict(params))
        except UsageProblem as problem:
            wrong += problem.lines
    if wrong:
        raise UsageProblem(dict.fromkeys(wrong))
    return found


def _without_network(options: argparse.Namespace) -> list[str]:
    """Where no pod of the run would be on a network beside the cluster's own."""
    given = {"--hostNet": options.hostNet, "--serverIP": options.serverIP}
    return [f"{flag} excludes networks beside the cluster's own" for flag, is_so in given.items() if is_so]


def settings(options: argparse.Namespace) -> Settings:
    wrong = [
        text
        for is_wrong, text in (
            (options.local and options.pairs > 1 and options.server_node, "--server-node with --local has one pair"),
            (
                options.pattern in ("many-to-one", "one-to-many") and options.pairs < 2,
                f"--pattern {options.pattern}: --pairs says how many",
            ),
            (
                not options.pod and not options.vm,
                "--pod=false: without --vm nothing else could be measured",
            ),
            (options.server_key_file and not options.serverIP, "--server-key-file is of --serverIP"),
        )
        if is_wrong
    ]
    wrong = _exclude_each_other(options) + wrong
    drivers = _drivers(options, wrong)
    path = Path(options.file or options.config)
    try:
        tests = netperf_file.read(path)
        network = network_options.asked(options, netperf_file.read_network(path), wrong)
    except UsageProblem as problem:
        raise UsageProblem([*wrong, *problem.lines]) from None
    paths = [PATHS[name] for name in options.paths or ()]
    is_on_hosts = bool(paths) and all("host" in (path.server, path.client) for path in paths)
    for is_wrong, text in (
        (options.hostNet, "has no host network (--hostNet)"),
        (is_on_hosts, f"has no host network (--paths {','.join(options.paths or ())})"),
        (options.serverIP, "is not of a slave outside the cluster (--serverIP)"),
    ):
        wrong += [f"{test.name}: service: {text}" for test in tests if test.service and is_wrong]
    wrong += [*_alone(options, tests), *network_options.check_use(network, options.paths or (), tests)]
    wrong += _without_network(options) if network else []
    wrong += network_options.check_families(network, options.ip_family or ())
    machines = machine_options.asked(options, network, wrong)
    if machines and (drivers or any(test.is_alone for test in tests)):
        wrong.append("--vm: other programs, and tests with a server of their own, are of pods alone")
    if options.pairs > 1 or options.pattern == "all-to-all":
        wrong += _short(drivers, tests)
    many: dict[str, str] = {}
    if options.pattern == "one-to-many":
        wrong += _of_one_master(options, tests, bool(drivers), network is not None)
        many = {} if wrong else _spread(tests, int(options.pairs))
    if "service" in (options.paths or ()):
        wrong += [
            f"{test.name}: service: is the same as {other.name} with --paths service"
            for test in tests
            for other in tests
            if test.service
            and not other.service
            and replace(test, name=other.name, samples=other.samples) == replace(other, service=True)
        ]
    if wrong:
        raise UsageProblem(wrong)
    run, whole = new_run(options.uuid)
    own = network.kind if network else "pod"
    short = ("host",) if options.hostNet else (own, "host") if options.all else (own,)
    keep: Keep = getattr(options, "keep", "never") if getattr(options, "clean", True) else "always"
    found = Settings(
        run=run,
        uuid=whole,
        tests=tuple(tests),
        networks=options.paths or short,
        pods=_pods(options),
        where=_where(options, tests),
        limits=Limits(options.start_timeout, options.schedule_timeout, spare_s=options.time_to_live),
        namespace=options.namespace,
        external=options.serverIP,
        has_external_key=bool(options.server_key_file),
        allow_peers=tuple(part for text in options.allow_peer for part in text.split(",") if part),
        keep=keep,
        families=options.ip_family or ("",),
        drivers=drivers,
        interval=options.interval or "",
        many=many,
        network=network,
        network_policy=options.network_policy,
        machines=machines,
    )
    size = sum(len(text.encode()) for text in files(found).values())
    if size > MOST:
        raise UsageProblem([f"a ConfigMap has no room for the {size} bytes of all profiles; {MOST} are the most"])
    return found


def _version() -> str:
    """Of the program, where there is one; its image has the same."""
    from netmodel_lab import __version__
    from netmodel_lab.problems import Problem

    try:
        return Program.find().version
    except Problem:
        return __version__
