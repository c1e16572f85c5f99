#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compare netmodel with the network benchmarks found on this machine, over loopback.

Peers: neper (NEPER_DIR), uperf (UPERF_DIR), netperf (NETPERF_DIR), iperf3 (IPERF3) and sockperf
(SOCKPERF), each taken from the directory or program that the variable names, or else from PATH;
for the bound of what is possible, loops written by hand (bare); and, with --baseline, another
version of netmodel.
In each round every tool runs once, in turn, pinned in the same way: the client on one CPU and the
server on another, or each on both where it has several threads. A single flow of requests and answers
then shows above all how long an idle CPU takes to wake up; so that is also measured with idle CPUs kept
awake (/dev/cpu_dma_latency), and with both ends on one CPU, unless CPUs are given. Costs are those of
both ends, except the instructions, which are the client's.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchlib.awake import can_keep_awake
from benchlib.measure import Measurer
from benchlib.model import WORKLOADS, Case, Ends, Figures
from benchlib.process import end_on_signals
from benchlib.report import LEAST_ROUNDS, SUBJECT, case_text, document, verdict
from benchlib.tools import PEERS, Baseline, Netmodel, Tool

_CALLGRIND_FLOWS = (1, 16, 64)
_TOOLS = (SUBJECT, *(peer.name for peer in PEERS))


def positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise ValueError(text)
    return value


def list_of(allowed: tuple[str, ...]) -> Callable[[str], tuple[str, ...]]:
    """An argparse type: words of `allowed`, separated by commas."""

    def words(text: str) -> tuple[str, ...]:
        given = tuple(text.split(","))
        for word in given:
            if word not in allowed:
                raise argparse.ArgumentTypeError(f"{word!r} is not one of {', '.join(allowed)}")
        return given

    return words


def numbers(text: str) -> tuple[int, ...]:
    return tuple(positive(word) for word in text.split(","))


def pair(text: str) -> tuple[int, int]:
    first, second = (int(word) for word in text.split(","))
    return first, second


def arguments(
    description: str | None = __doc__,
    workloads: tuple[str, ...] = WORKLOADS,
    flows: tuple[int, ...] = (1, 64, 1000),
    tools: tuple[str, ...] = _TOOLS,
    *,
    has_threads: bool = True,
) -> argparse.Namespace:
    """The options of a bench, which chooses among these workloads and tools."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--netmodel", metavar="PATH", help="the program (default: build/src, then PATH)")
    add("--baseline", metavar="PATH", help="another version of netmodel, built in its own tree, to compare with")
    add("--rounds", type=positive, default=LEAST_ROUNDS, help="rounds of each case (%(default)s)")
    add("--seconds", type=positive, default=3, help="length of a run (%(default)s)")
    add("--workloads", type=list_of(workloads), default=workloads, metavar="A,B", help="all, or of " + ", ".join(workloads))
    add("--flows", type=numbers, default=flows, metavar="N,N", help=f"each workload with so many ({','.join(map(str, flows))})")
    if has_threads:
        add("--threads", type=positive, help="of each end; more than one share both CPUs (1)")
    parser.set_defaults(threads=1)
    add("--tools", type=list_of(tools), default=tools, metavar="A,B", help="those found, or of " + ", ".join(tools))
    add("--cpus", type=pair, metavar="C,S", help="CPU of the client and of the server, which may be the same")
    add("--count-rounds", type=positive, default=1, help="rounds under strace, callgrind (1)")
    add("--count-seconds", type=pair, default=(1, 3), metavar="A,B", help="two lengths (1,3)")
    add("--no-strace", action="store_true", help="leave out system calls")
    add("--no-callgrind", action="store_true", help="leave out instructions")
    add("--json", metavar="FILE", help="write all figures to FILE")
    options = parser.parse_args()
    if options.count_seconds[0] < 1 or options.count_seconds[0] >= options.count_seconds[1]:
        parser.error("--count-seconds: the second length must be the longer one")
    return options


def environment(options: argparse.Namespace) -> dict[str, str]:
    """In which the tools are found."""
    named = {"NETMODEL": options.netmodel, "NETMODEL_BASELINE": options.baseline}
    return {**os.environ, **{variable: path for variable, path in named.items() if path}}


def wrong_choice(options: argparse.Namespace, tools: list[Tool]) -> str | None:
    """What cannot be done with the tools that were found."""
    found = {tool.name for tool in tools}
    if options.netmodel and SUBJECT not in options.tools:
        return f"--netmodel needs {SUBJECT} among --tools"
    if options.netmodel and SUBJECT not in found:
        return f"--netmodel {options.netmodel}: not a program"
    if options.baseline and Baseline.name not in found:
        return f"--baseline {options.baseline}: not a program"
    return None if found else f"found none of {', '.join(options.tools)}"


def find_tools(wanted: tuple[str, ...], kinds: Iterable[type[Tool]], env: Mapping[str, str]) -> list[Tool]:
    found = [kind.find(env) for kind in kinds if kind.name in wanted]
    return [tool for tool in found if tool is not None]


def default_cpus() -> tuple[int, int] | None:
    """The first two CPUs that may be used; with only one there is nothing to pin."""
    usable = sorted(os.sched_getaffinity(0))
    return (usable[0], usable[1]) if len(usable) > 1 else None


def other_ends() -> list[Ends]:
    """In which other ways a case is measured whose messages wake CPUs."""
    return [Ends.AWAKE, Ends.TOGETHER] if can_keep_awake() else [Ends.TOGETHER]


def cases_of(options: argparse.Namespace, others: list[Ends]) -> list[Case]:
    cases = []
    for workload in options.workloads:
        for flows in options.flows:
            case = Case(workload, flows, options.seconds, threads=options.threads)
            if not case.is_sensible:
                continue
            cases.append(case)
            if case.wakes:
                cases += [replace(case, ends=ends) for ends in others]
    return cases


def raise_file_limit() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def measure_case(
    case: Case, tools: list[Tool], measurer: Measurer, options: argparse.Namespace
) -> dict[str, Figures]:
    able = [tool for tool in tools if tool.supported(case)]
    figures = {tool.name: Figures() for tool in able}
    for turn in range(options.rounds):
        first = turn % len(able) if able else 0
        for tool in able[first:] + able[:first]:
            measurer.throughput(tool, case, figures[tool.name])
    for _ in range(options.count_rounds):
        for tool in able:
            if not options.no_strace:
                measurer.system_calls(tool, case, figures[tool.name])
            if not options.no_callgrind and case.flows in _CALLGRIND_FLOWS:
                measurer.instructions(tool, case, figures[tool.name])
    return figures


def measure_all(
    cases: Iterable[Case],
    measure: Callable[[Case], dict[str, Figures]],
    show: Callable[[Case, dict[str, Figures]], str],
    facts: Mapping[str, Any],
    options: argparse.Namespace,
) -> dict[Case, dict[str, Figures]]:
    """One after the other, each shown when it has been measured, if any tool was; and all of them as --json."""
    end_on_signals()
    raise_file_limit()
    results = {}
    for case in cases:
        if figures := measure(case):
            results[case] = figures
            print(show(case, figures), flush=True)
    if options.json:
        Path(options.json).write_text(json.dumps(document(results, facts), indent=2) + "\n")
    return results


def facts_of(options: argparse.Namespace, tools: list[Tool], cpus: tuple[int, int] | None, missing: list[str]) -> dict[str, Any]:
    names = [tool.name for tool in tools]
    host = {"kernel": platform.release(), "machine": platform.machine()}
    return {**host, "cpus": cpus, "rounds": options.rounds, "tools": names, "missing": missing}


def main() -> int:
    options = arguments()
    tools = find_tools(options.tools, (Netmodel, *PEERS), environment(options))
    if wrong := wrong_choice(options, tools):
        print(f"bench.py: {wrong}", file=sys.stderr)
        return 1

    cpus = options.cpus or default_cpus()
    measurer = Measurer(cpus, options.count_seconds)
    facts = facts_of(options, tools, cpus, measurer.missing)
    print(f"tools: {', '.join(facts['tools'])}; rounds: {options.rounds}, of {options.seconds} s")
    print(f"client and server CPU: {cpus or 'not pinned'}; median (min..max) of the rounds")
    for name in measurer.missing:
        print(f"{name} is not installed: what it measures is n/a")
    others = other_ends() if measurer.pins and not options.cpus else []
    if others and Ends.AWAKE not in others:
        print("idle CPUs cannot be kept awake here: no cpuidle driver, or no right to write to /dev/cpu_dma_latency")
    print()

    results = measure_all(
        cases_of(options, others), lambda case: measure_case(case, tools, measurer, options), case_text, facts, options
    )
    measured = any(f.rate for figures in results.values() for f in figures.values())
    if SUBJECT in facts["tools"] and measured:
        print(verdict(results, options.rounds), end="")
    return 0 if measured else 2


if __name__ == "__main__":
    sys.exit(main())
