# SPDX-License-Identifier: Apache-2.0
"""The table of contrib/scaling-study is the same of the same figures."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from conftest import NETMODEL, SHORT, TOP, Lab, rows

Json = dict[str, Any]

SCRIPT = TOP / "contrib" / "scaling-study"


def keys(document: Json) -> dict[str, Any]:
    """What --format kv has of a result that the table is made of, with all digits."""
    totals, cpu = document["totals"], document["hosts"][0]["cpu"]
    found = {"complete": 1, **{name: totals[name] for name in ("bits_per_s", "transactions_per_s")}}
    found |= {f"latency_{name}": totals["latency_s"][name] for name in ("mean", "p50", "p99")}
    found |= {"cpu_user": cpu["user"] + cpu["nice"], "cpu_system": cpu["system"] + cpu["irq"]}
    found |= {"cpu_softirq": cpu["softirq"], "cpu_idle": cpu["idle"] + cpu["iowait"]}
    if "messages" in totals:
        found["messages_to_slaves_packets_sent"] = 1
        found["throughput_received_bits_per_s"] = totals["throughput"]["received_bits_per_s"]
    return found | {name: value for name, value in document["profile"]["params"].items() if name in ("wnd", "wndsz")}


@pytest.mark.parametrize("profile", ["tcp_rr", "udp_stream"])
def test_the_same_table(profile: str, lab: Lab, tmp_path: Path) -> None:
    """The script is given a program that tells what the study has found, by the names that netmodel has."""
    words = (NETMODEL, "-m", profile, "-D", "test_length=100ms", "--format", "kv")
    told = subprocess.run(words, check=True, capture_output=True, text=True, timeout=60).stdout
    known = {line.partition("=")[0] for line in told.splitlines()}
    study = (profile, *SHORT[1:4], "--repeat", "1", "--no-report", "-o", "s")
    assert lab("run", *study).returncode == 0
    for row in rows(tmp_path / "s"):
        document = json.loads((tmp_path / "s" / "runs" / f"{row['seq']:06d}-a1" / "result.json").read_text())
        assert set(keys(document)) <= known
        text = "".join(f"{name}={value}\n" for name, value in keys(document).items())
        (tmp_path / f"num_flows={row['d.num_flows']}").write_text(text)
    program = tmp_path / "netmodel"
    program.write_text(
        f'#!/bin/sh\nfor word; do case $word in -Dnum_flows=*) cat "{tmp_path}/${{word#-D}}";; esac; done\n'
    )
    program.chmod(0o755)
    given = ["-m", profile, "--param", "num_flows", "--connections", "1,2", "--netmodel", str(program)]
    done = subprocess.run([SCRIPT, *given], check=True, capture_output=True, text=True)
    assert lab("report", "s", "--scaling-study").stdout == done.stdout
    assert len(done.stdout.splitlines()) == 3


def test_of_a_study_without_connections(lab: Lab, tmp_path: Path) -> None:
    words = ("tcp_rr", "request_size=1", "--set", "test_length=20ms", "--repeat", "1", "--no-report", "-o", "s")
    assert lab("run", *words).returncode == 0
    done = lab("report", "s", "--scaling-study")
    assert done.returncode == 2
    assert "s: varies none of num_flows, nth: there is no such table of it" in done.stderr
