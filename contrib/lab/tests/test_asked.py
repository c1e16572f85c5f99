# SPDX-License-Identifier: Apache-2.0
"""What a study asks for beside its sweep: verdicts, requirements, what is held, choices; and mistakes in these."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import jsonschema  # type: ignore[import-untyped]
import pytest
from conftest import NETMODEL, Lab, rows
from ruamel.yaml import YAML

from netmodel_lab.prepare import ready_made

ASKED = """\
study: 1
profile: tcp_rr
params: {test_length: 40ms}
dimensions:
  - name: setup
    choices:
      small: {request_size: 64}
      large: {request_size: 4m, no_delay: yes}
repeat: 4
limits: {settle: 10ms}
interval: 20ms
require: ["errors < 1"]
verdicts:
  - {metric: transactions_per_s, by: setup, baseline: small, min: 3%, better: higher}
"""
TWELVE = """\
study: 1
profle: tcp_rr
profile: tcp_rr
hosts: {master: lokal, slave: {at: "ssh:b:0", coppy: yes}}
params: {test_lenght: 1s, num_threads: many}
place: neer
dimensions:
  - {name: num_flows, geometric: {from: 1, to: 8, facter: 2}}
  - {name: request_size, values: []}
  - {name: place, values: [near, fra]}
repeat: often
order: {kind: blocks, sead: 1}
require: {}
verdicts:
  - {metric: transactions_per_s, by: num_flow, baseline: 1}
"""


def test_a_study_with_verdicts(lab: Lab, tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(ASKED)
    done = lab("run", "s.yaml", "-o", "s")
    assert done.returncode == 1, done.stderr
    assert "compare setup=small  with  setup=large" in done.stdout
    found = rows(tmp_path / "s")
    assert {row["d.setup"] for row in found} == {"small", "large"}
    assert all(row["met"] for row in found)
    page = (tmp_path / "s" / "report.html").read_text()
    assert "setup=large (B) beside setup=small (A)" in page
    assert page.index("worse") < page.index("<figure")
    assert "Required: errors &lt; 1: met by all runs" in page
    result = json.loads((tmp_path / "s" / "runs" / "000001-a1" / "result.json").read_text())
    assert result["run"]["interval_s"] == 0.02


@pytest.mark.parametrize("words", [("--no-report",), ("-q",)])
def test_why_a_study_ends_otherwise_is_told_without_tables_too(
    words: tuple[str, ...], lab: Lab, tmp_path: Path
) -> None:
    (tmp_path / "s.yaml").write_text(ASKED)
    done = lab("run", "s.yaml", "-o", "s", *words)
    assert (done.returncode, done.stdout) == (1, "")
    verdict = [line for line in done.stderr.splitlines() if line.startswith("verdict ")]
    assert verdict == ["verdict on transactions_per_s: setup=large beside setup=small: worse"]
    (tmp_path / "s.yaml").write_text(ASKED.replace("repeat: 4", "repeat: 2"))
    done = lab("run", "s.yaml", "-o", "t", *words)
    assert (done.returncode, done.stdout) == (5, "")
    assert "setup=large beside setup=small: undecided: at least 3 runs each are needed\n" in done.stderr


def test_what_is_required_and_not_met(lab: Lab, tmp_path: Path) -> None:
    words = ("tcp_rr", "--set", "test_length=40ms", "--repeat", "1", "--no-report")
    done = lab("run", *words, "--require", "latency.p99 <= 1ns", "-o", "s")
    assert done.returncode == 1
    assert "run 1 : required, and not met: latency.p99 is " in done.stderr
    assert rows(tmp_path / "s")[0]["ok"]
    done = lab("run", *words, "--require", "latncy.p99 <= 1ns", "-o", "t")
    assert done.returncode == 2
    assert "latncy" in done.stderr
    assert not (tmp_path / "t").exists()


def test_what_is_held(lab: Lab, tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(
        "study: 1\nprofile: tcp_rr\nparams: {test_length: 20ms}\nrepeat: 1\nhold: {machine: pdp11}\n"
    )
    done = lab("run", "s.yaml", "-o", "s", "--no-report")
    assert done.returncode == 4
    assert "and the study holds pdp11" in rows(tmp_path / "s")[0]["why"]


def test_facts_and_figures_that_there_are_not(lab: Lab, tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(
        "study: 1\nprofile: tcp_rr\nparams: {test_length: 20ms}\n"
        "dimensions: [{name: num_flows, values: [1, 2]}]\nhold: {machin: pdp11}\n"
        "verdicts: [{metric: p98_us, by: num_flows, baseline: 1, min: some}]\n"
    )
    done = lab("plan", "s.yaml")
    assert done.returncode == 2
    assert [line.removeprefix("netmodel-lab: s.yaml:") for line in done.stderr.splitlines()] == [
        "5:16: hold.machin: no host says that of itself; did you mean machine?",
        '6:21: verdicts[0].metric: "p98_us": no such figure; did you mean p99_us?',
        '6:62: verdicts[0].min: "some": must be a share as 5%',
    ]


def test_facts_that_are_near_to_none_are_listed(lab: Lab, tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text("study: s\nprofile: tcp_rr\nhold: {foo: 1}\n")
    done = lab("run", "s.yaml", "-o", "x")
    assert done.returncode == 2
    assert "hold.foo: no host says that of itself; there are " in done.stderr
    assert "boot_id" in done.stderr


def test_programs_beside_each_other(lab: Lab, tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copy(NETMODEL, other)
    words = ("tcp_rr", f"netmodel={NETMODEL},{other}", "--set", "test_length=20ms", "--repeat", "1", "--no-report")
    done = lab("run", *words, "-o", "s", NETMODEL_PROFILES=str(NETMODEL.parents[2] / "profiles"))
    assert done.returncode == 0, done.stderr
    used = {json.loads(path.read_text())["argv"][0] for path in (tmp_path / "s" / "runs").glob("*/command.json")}
    assert used == {str(NETMODEL), str(other)}


def test_twelve_mistakes(lab: Lab, tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(TWELVE)
    done = lab("run", "s.yaml")
    assert done.returncode == 2
    found = [line.removeprefix("netmodel-lab: s.yaml:") for line in done.stderr.splitlines()]
    assert [re.sub(r": (a place|a host) is .*; did", r": \1; did", line) for line in found] == [
        "2:1: profle: there is no such key; did you mean profile?",
        '4:17: hosts.master: "lokal": a host; did you mean local?',
        "4:47: hosts.slave.coppy: there is no such key; did you mean copy?",
        "5:23: params.test_lenght: the profile has no such parameter; did you mean test_length?",
        '5:40: params.num_threads: num_threads=many: value "many" (from -D): not a count: a number and an optional '
        "k, m or g (powers of 1000)",
        '6:8: place: "neer": a place; did you mean near?',
        "8:51: dimensions[0].geometric.facter: there is no such key; did you mean factor?",
        "9:34: dimensions[1].values: an empty list",
        '10:34: dimensions[2].values[1]: "fra": a place; did you mean far?',
        '11:9: repeat: "often": must be a whole number',
        "12:23: order.sead: there is no such key; did you mean seed?",
        "13:10: require: must be a list",
        '15:38: verdicts[0].by: "num_flow": is varied nowhere; did you mean num_flows?',
    ]
    assert [path.name for path in tmp_path.iterdir()] == ["s.yaml"]


def test_the_schema_takes_what_is_taken(lab: Lab) -> None:
    schema = json.loads(lab("plan", "--schema").stdout)
    assert jsonschema.Draft202012Validator.check_schema(schema) is None
    validator = jsonschema.Draft202012Validator(schema)
    yaml = YAML(typ="safe")
    assert not list(validator.iter_errors(yaml.load(ASKED)))
    assert list(validator.iter_errors(yaml.load(TWELVE)))


@pytest.mark.parametrize("name", sorted(ready_made()))
def test_ready_made_studies(lab: Lab, tmp_path: Path, name: str) -> None:
    """One run of each cell, shortened."""
    done = lab(
        "run", name, "--set", "test_length=60ms", "--repeat", "1", "--interval", "20ms", "-o", "s", "--no-report"
    )
    assert done.returncode in (0, 5), done.stderr
    assert all(row["ok"] for row in rows(tmp_path / "s"))
    assert name in (lab("--help").stdout)


def test_a_figure_of_all_machines(lab: Lab, tmp_path: Path) -> None:
    text = ASKED.replace("metric: transactions_per_s", "metric: wire_kpps").replace("repeat: 4", "repeat: 3")
    (tmp_path / "s.yaml").write_text(text)
    done = lab("run", "s.yaml", "-o", "s")
    assert done.returncode in (0, 1, 5), done.stderr
    assert "wire_kpps.shared (higher is better" in done.stdout
    (tmp_path / "t.yaml").write_text(ASKED.replace("metric: transactions_per_s", "metric: resp_p99_us"))
    done = lab("run", "t.yaml", "--repeat", "1", "-o", "t", "--no-report")
    assert done.returncode == 5
    assert "verdict on resp_p99_us: undecided: no run has this figure" in done.stderr
