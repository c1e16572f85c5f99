# SPDX-License-Identifier: Apache-2.0
"""netmodel-lab: sweeps of netmodel with one command, and what came of them.

  netmodel-lab plan    STUDY [NAME=VALUES...]     every point and how long it takes; touches nothing
  netmodel-lab run     STUDY [NAME=VALUES...]     runs them into a folder, to a report
  netmodel-lab resume  FOLDER                     does what is missing
  netmodel-lab status  FOLDER                     how far it is
  netmodel-lab report  FOLDER...                  makes the report again, or one of several studies
  netmodel-lab compare A B                        which cells are better, worse or the same
  netmodel-lab baseline save NAME FOLDER          keeps a study for compare baseline:NAME; also list, remove NAME
  netmodel-lab export  FOLDER csv|json|parquet    one row for each run
  netmodel-lab import  TOOL FILE...               rows of other tools' results, for compare
  netmodel-lab hosts check HOST...                what is there, and which figures will be missing
  netmodel-lab k8s     plan|check|run|resume|clean    between pods of a Kubernetes cluster

STUDY is a profile, a file with a study (.yaml), or one that is ready-made: latency-under-load, directions,
two-connections, acknowledgements. VALUES are 1,2,4 or ranges: 1..8, 10..100+10, 1..512*2,
1,2,4..512. NAME,NAME=A:B,C:D changes several together.
  netmodel-lab run tcp_rr num_flows=1,2,4..64 request_size=64,1k --set test_length=3s --repeat 5

HOST is local, ns:NAME (a network namespace), ssh:[USER@]HOST[:PORT], or at:ADDRESS[:PORT] (a slave that somebody else
has started), with options behind commas: address=ADDRESS (of its traffic), copy=yes (the program, over ssh),
netmodel=PATH, ns=NAME, dev=INTERFACE, key_file=FILE (of at:), param=NAME (of the profile, for the slave's address).
  netmodel-lab run tcp_rr num_flows=1,2,4 --peer ssh:b,copy=yes

Exit codes: 0 done, 1 worse, 2 wrong use, 3 this machine lacks something, 4 some points failed, 5 undecided,
130 interrupted."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Callable, Sequence
from typing import NoReturn

from netmodel_lab import __version__, verbs
from netmodel_lab.problems import EnvironmentProblem, Exit, Problem, nearest


class Parser(argparse.ArgumentParser):
    def parse(self, words: Sequence[str]) -> argparse.Namespace:
        """Options may stand between other words, but not where these have parsers of their own."""
        return self.parse_args(words) if self._subparsers else self.parse_intermixed_args(words)

    def error(self, message: str) -> NoReturn:
        print(f"netmodel-lab: {message} ({self.prog} --help shows how)", file=sys.stderr)
        sys.exit(Exit.USAGE)


def _repeat(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 1000:
        raise argparse.ArgumentTypeError(f'"{text}": must be 1 to 1000')
    return int(text)


def _alpha(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f'"{text}": must lie between 0 and 1')
    return value


def _seed(text: str) -> int:
    if not text.isdecimal() or int(text) >= 2**63:
        raise argparse.ArgumentTypeError(f'"{text}": must be a number below 2^63')
    return int(text)


def _add_study(parser: Parser) -> None:
    add = parser.add_argument
    add("study", metavar="STUDY", nargs="?", help="a profile, by name or path, or a file with a study (.yaml)")
    add("dimensions", metavar="NAME=VALUES", nargs="*", help="what is varied")
    add("--repeat", metavar="N", type=_repeat, help="runs of each cell (default 5)")
    add(
        "--order",
        choices=("blocks", "random", "given"),
        help="blocks: each repetition has every cell once, shuffled (default); random: all mixed; given: nested loops",
    )
    add("--seed", metavar="S", type=_seed, help="of the order; without it a new one, which is told")
    add("--set", dest="settings", metavar="NAME=VALUE", action="append", default=[], help="a parameter of all points")
    add("--warmup", metavar="T", help="leave the first part of each measured transaction out")
    add("--limit-run", metavar="T", help="the longest that a run may take beyond what it measures (default 60s)")
    add("--limit-total", metavar="T", help="begin no more points after that time")
    add("--interval", metavar="T", help="the steps of time series (default 1s)")
    add("--host", metavar="HOST", help="where the master runs (default local); see HOST below")
    add("--peer", metavar="HOST", help="where the slave runs; without it both ends are one run on this host")
    add("--place", metavar="PLACE", help="CPUs of both ends: near, far, spread, none, 0-3+8, or MASTER/SLAVE")
    add("--require", metavar="TERMS", action="append", default=[], help="what each run must meet, as netmodel takes it")
    add("--yes-destroy", action="store_true", help="let profiles take away what servers have: see netmodel --help")
    add("--yes", action="store_true", help="run more than 10000 points, too")
    add("--netmodel", metavar="PATH", help="the program (default: $NETMODEL, or netmodel on the PATH)")


def _add_measure(parser: Parser) -> None:
    add = parser.add_argument
    add("-q", "--quiet", action="store_true", help="tell of failures only")
    add("--plain", action="store_true", help="plain lines, on a terminal too")
    add("--no-report", dest="report", action="store_false", help="rows only, no page")


def _plan(parser: Parser) -> None:
    _add_study(parser)
    parser.add_argument("--json", action="store_true", help="as one document")
    parser.add_argument(
        "--check", action="store_true", help="connect to the hosts, and tell whether they can run it; changes nothing"
    )
    parser.add_argument("--schema", action="store_true", help="print the JSON schema of study files, for editors")


def _run(parser: Parser) -> None:
    _add_study(parser)
    _add_measure(parser)
    parser.add_argument("-o", "--output", metavar="FOLDER", help="where (default ./NAME-DATE-TIME); must not exist")
    parser.add_argument("--dry-run", action="store_true", help="as plan")
    parser.set_defaults(json=False, schema=False, check=False)


def _resume(parser: Parser) -> None:
    parser.add_argument("folder", metavar="FOLDER")
    parser.add_argument("--retry-failed", action="store_true", help="try points once more that have failed")
    parser.add_argument("--accept-change", action="store_true", help="go on although the program or the host changed")
    parser.add_argument("--netmodel", metavar="PATH", help="the program (default: that of the runs before)")
    _add_measure(parser)


def _status(parser: Parser) -> None:
    parser.add_argument("folder", metavar="FOLDER")
    parser.add_argument("--watch", action="store_true", help="again and again, while it is being run")
    parser.add_argument("--json", action="store_true", help="as one document")


def _report(parser: Parser) -> None:
    parser.add_argument(
        "folders", metavar="FOLDER", nargs="+", help="a study; of several, a page with each machine's row"
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="where (default FOLDER/report.html)")
    parser.add_argument("--png", metavar="CHART", help="one picture: a figure, or distribution, waterfall, ...")
    parser.add_argument("--svg", metavar="CHART", help="the same as SVG")
    parser.add_argument("--over", metavar="NAME", help="what the picture of a figure is drawn over")
    parser.add_argument("--cell", metavar="N", type=int, default=1, help="which cell is looked into (1)")
    parser.add_argument("--text", action="store_true", help="a table of the cells, on standard output")
    parser.add_argument(
        "--scaling-study", action="store_true", help="the table of contrib/scaling-study, on standard output"
    )


def _export(parser: Parser) -> None:
    parser.add_argument("folder", metavar="FOLDER")
    parser.add_argument("format", choices=("csv", "json", "parquet"))
    parser.add_argument(
        "--names", choices=("ours", "qq"), default="ours", help="of columns; qq: those of proj_net_bw_lat's QQ lines"
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="where (default standard output)")


def _compare(parser: Parser) -> None:
    add = parser.add_argument
    add(
        "a",
        metavar="A",
        help="a study, baseline:NAME, or a file of rows; @NAME=VALUE,... behind it chooses rows by what was varied, or "
        "by kernel, epoch or version of netmodel",
    )
    add("b", metavar="B", help="the same; what is better or worse is so beside A")
    add("--by", metavar="NAMES", help="what makes a cell (default: all that both have varied)")
    add(
        "--metric",
        metavar="NAME[:MIN[:WAY]]",
        action="append",
        default=[],
        help="a figure, the smallest change that matters (3%%), which way is better (higher, lower); default "
        "transactions_per_s, p99_us",
    )
    add("--alpha", metavar="P", type=_alpha, default=0.05, help="chance of any false alarm (default 0.05)")
    add("--same", metavar="SHARE", default="5%", help="what counts as the same (default 5%%)")
    add("--json", action="store_true", help="as one document")


def _baseline(parser: Parser) -> None:
    what = parser.add_subparsers(dest="what", metavar="save|list|remove", required=True)
    save = what.add_parser("save", help="keep a study under a name", allow_abbrev=False)
    save.add_argument("name", metavar="NAME", help="of letters, digits, dots, underscores and hyphens")
    save.add_argument("folder", metavar="FOLDER", help="a study")
    save.add_argument("--replace", action="store_true", help="also where these hosts have a baseline of this name")
    what.add_parser("list", help="tell what is kept", allow_abbrev=False)
    remove = what.add_parser("remove", help="keep it no longer", allow_abbrev=False)
    remove.add_argument("name", metavar="NAME|FILE", help="the file, where several hosts have a baseline of this name")


def _import(parser: Parser) -> None:
    add = parser.add_argument
    add(
        "tool",
        choices=("iperf3", "netperf", "uperf", "qq", "k8s-netperf", "netmodel"),
        help="which tool has written the files",
    )
    add(
        "files",
        metavar="FILE",
        nargs="+",
        help="iperf3 -J; netperf -- -o or -k, or JSON; what uperf prints; QQ lines of proj_net_bw_lat; "
        "k8s-netperf --json; netmodel --format json",
    )
    add("-o", "--output", metavar="FILE", required=True, help="rows: a new file that ends with .jsonl or .csv")


def _hosts(parser: Parser) -> None:
    add = parser.add_argument
    add("what", choices=("check",), help="connect, and tell what is there and what is missing")
    add("hosts", metavar="HOST|STUDY", nargs="+", help="local, ns:NAME, ssh:[USER@]HOST[:PORT], or a file with a study")
    add("--json", action="store_true", help="as one document")
    add("--netmodel", metavar="PATH", help="the program (default: $NETMODEL, or netmodel on the PATH)")


VERBS: dict[str, tuple[Callable[[Parser], None], Callable[[argparse.Namespace], Exit]]] = {
    "plan": (_plan, verbs.plan),
    "run": (_run, verbs.run),
    "resume": (_resume, verbs.resume),
    "status": (_status, verbs.status),
    "report": (_report, verbs.report),
    "compare": (_compare, verbs.compare),
    "baseline": (_baseline, verbs.baseline),
    "export": (_export, verbs.export),
    "import": (_import, verbs.import_),
    "hosts": (_hosts, verbs.hosts),
}


def _parse(argv: Sequence[str]) -> argparse.Namespace:
    """Options and dimensions may come in any order."""
    verb = argv[0] if argv else "--help"
    if verb in ("-h", "--help"):
        print(__doc__)
        sys.exit(Exit.DONE)
    if verb in ("-V", "--version"):
        print(f"netmodel-lab {__version__}")
        sys.exit(Exit.DONE)
    if verb == "k8s":
        return _k8s(argv[1:])
    if verb not in VERBS:
        print(f"netmodel-lab: {verb}: no such command{nearest(verb, [*VERBS, 'k8s'])}", file=sys.stderr)
        sys.exit(Exit.USAGE)
    add, action = VERBS[verb]
    parser = Parser(prog=f"netmodel-lab {verb}", description=action.__doc__, allow_abbrev=False)
    add(parser)
    options = parser.parse(argv[1:])
    options.action = action
    options.argv = list(argv)
    return options


def _k8s(argv: Sequence[str]) -> argparse.Namespace:
    """With a library that is not installed unless asked for."""
    try:
        from netmodel_lab.k8s import command
    except ImportError as error:
        if error.name not in ("kubernetes", "urllib3"):
            raise
        raise EnvironmentProblem(["k8s needs the Kubernetes client: pip install 'netmodel-lab[k8s]'"]) from None
    return command.parse(argv, Parser)


_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def _interrupt(_number: int, _frame: object) -> NoReturn:
    """Once: what ends then, and what is called for that, is not to be interrupted."""
    for number in _ENDING:
        signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


def main(argv: Sequence[str] | None = None) -> int:
    for number in _ENDING:
        signal.signal(number, _interrupt)
    try:
        options = _parse(sys.argv[1:] if argv is None else argv)
        code = options.action(options)
        sys.stdout.flush()
    except Problem as problem:
        for line in problem.lines:
            print(f"netmodel-lab: {line}", file=sys.stderr)
        return problem.code
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return Exit.DONE
    except OSError as error:
        print(f"netmodel-lab: {error.filename or 'a file'}: {error.strerror}", file=sys.stderr)
        return Exit.ENVIRONMENT
    except KeyboardInterrupt:
        return Exit.INTERRUPTED
    return int(code)
