# SPDX-License-Identifier: Apache-2.0
"""What the tests of the lab share: the command, short studies, and the program under test."""

from __future__ import annotations

import copy
import functools
import json
import multiprocessing
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from netmodel_lab import compare, foreign, prepare, runner, scaling  # noqa: F401  for all processes, once
from netmodel_lab.cli import main
from netmodel_lab.page import picture  # noqa: F401

TOP = Path(__file__).resolve().parents[3]
NETMODEL = Path(os.environ.get("NETMODEL") or TOP / "build" / "src" / "netmodel").resolve()

Json = dict[str, Any]
Lab = Callable[..., subprocess.CompletedProcess[str]]


def argv(*words: str | Path) -> list[str]:
    return [sys.executable, "-m", "netmodel_lab", *map(str, words)]


def environment(**more: str) -> dict[str, str]:
    return {**os.environ, "NETMODEL": str(NETMODEL), "PYTHONDONTWRITEBYTECODE": "1", **more}


def _become(words: Sequence[str | Path], folder: Path, more: dict[str, str], out: int, err: int) -> None:
    os.chdir(folder)
    os.environ.update(environment(**more))
    os.dup2(out, 1)
    os.dup2(err, 2)
    sys.stdout, sys.stderr = os.fdopen(1, "w"), os.fdopen(2, "w")
    sys.exit(main([str(word) for word in words]))


def call(folder: Path, *words: str | Path, **more: str) -> subprocess.CompletedProcess[str]:
    """Runs the command to its end, in a process made from this one: its libraries take seconds to load."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        process = multiprocessing.get_context("fork").Process(
            target=_become, args=(words, folder, more, out.fileno(), err.fileno())
        )
        process.start()
        process.join(300)
        process.kill()
        process.join()
        assert process.exitcode is not None
        texts = [file.read() for file in (out, err) if file.seek(0) == 0]
    return subprocess.CompletedProcess(list(words), process.exitcode, *texts)


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    """Runs the command in a folder of its own."""
    return functools.partial(call, tmp_path)


def rows(folder: Path) -> list[Json]:
    return [json.loads(line) for line in (folder / "rows.jsonl").read_text().splitlines()]


SHORT = ("tcp_rr", "num_flows=1,2", "--set", "test_length=100ms", "--repeat", "2", "--seed", "7")


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of 127.0.0.1, which nobody trusts unless told; its key is beside it."""
    path = tmp_path_factory.mktemp("tls") / "server.crt"
    words = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=server"]
    words += ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(path.with_suffix(".key")), "-out", str(path)]
    subprocess.run(words, check=True, capture_output=True)
    return path


@pytest.fixture(scope="session")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study that was run to its end, with its page. To be read only."""
    folder = tmp_path_factory.mktemp("studies")
    done = call(folder, "run", *SHORT, "-o", "whole")
    assert done.returncode == 0, done.stderr
    return folder / "whole"


@pytest.fixture(scope="session")
def wide_study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study with two dimensions, and with its page. To be read only."""
    folder = tmp_path_factory.mktemp("studies")
    words = ("tcp_rr", "num_flows=1,2,4", "request_size=64,16k", "--set", "test_length=200ms", "--interval", "20ms")
    done = call(folder, "run", *words, "--repeat", "2", "--seed", "1", "-o", "wide")
    assert done.returncode == 0, done.stderr
    return folder / "wide"


@pytest.fixture(scope="session")
def apart_study(wide_study: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same as if the slave had been another machine, of half the load. To be read only."""
    path = tmp_path_factory.mktemp("studies") / "apart"
    shutil.copytree(wide_study, path)
    for file in path.glob("runs/*/result.json"):
        document = json.loads(file.read_text())
        master = document["hosts"][0]
        slave = {**copy.deepcopy(master), "role": "slave", "name": "far"}
        slave["facts"]["boot_id"] = "another"
        slave["cpu"] = {**master["cpu"], "busy": master["cpu"]["busy"] / 2}
        for nic in slave["nics"]:
            nic |= {"vectors": 2, "interrupts": 1 + nic["rx_packets"] // 10}
        halves = {name: value / 2 for name, value in master["costs"].items() if name.startswith("cpu_") and value}
        slave["costs"] = {**master["costs"], **halves, "packets_per_nic_interrupt": 20}
        slave["softirqs"] = {"unavailable": "the kernel does not count them"}
        file.write_text(json.dumps({**document, "hosts": [master, slave]}))
    done = call(path, "report", path)
    assert done.returncode == 0, done.stderr
    return path


@pytest.fixture(scope="session")
def both(wide_study: Path, apart_study: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of both of them. To be read only."""
    page = tmp_path_factory.mktemp("pages") / "report.html"
    done = call(page.parent, "report", wide_study, apart_study, "-o", page)
    assert done.returncode == 0, done.stderr
    return page
