# SPDX-License-Identifier: Apache-2.0
"""Tests on a real cluster, which tests/k8s/run makes; this process is inside its namespaces."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

Json = dict[str, Any]
FOLDER = Path(os.environ.get("NETMODEL_K8S", "/nonexistent"))
IMAGE = os.environ.get("NETMODEL_K8S_IMAGE", "")
DRIVERS = os.environ.get("NETMODEL_K8S_DRIVERS", "").split()  # programs of others, which an image has
DRIVERS_IMAGE = f"{IMAGE}-drivers"
OURS = "app.kubernetes.io/name=netmodel"
KINDS = "namespaces,jobs,pods,services,configmaps,secrets,networkpolicies"


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "long: ./quickstart check leaves it out, and ./quickstart prove k8s runs it")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if not FOLDER.is_dir():
        for item in items:
            item.add_marker(pytest.mark.skip(reason="there is no cluster: tests/k8s/run makes one"))


def kubectl(*words: str, text: str | None = None, check: bool = True) -> str:
    done = subprocess.run(["kubectl", *words], input=text, capture_output=True, text=True, timeout=120, check=False)
    assert not check or done.returncode == 0, done.stderr
    return done.stdout if check else done.stdout + done.stderr


def objects(*words: str) -> list[Json]:
    return list(json.loads(kubectl("get", *words, "-o", "json"))["items"])


def left() -> list[str]:
    """What runs have left, and what is not on its way out."""
    found = objects(KINDS, "-A", "-l", OURS)
    return [f"{one['kind']}/{one['metadata']['name']}" for one in found if not one["metadata"].get("deletionTimestamp")]


def until(is_done: Callable[[], bool], limit_s: float = 30, what: str = "it") -> None:
    end = time.monotonic() + limit_s
    while not is_done():
        assert time.monotonic() < end, f"{what}: not after {limit_s} s"
        time.sleep(0.2)


def node_leader(node: str) -> str:
    """The process that has all namespaces of a node."""
    leader = (FOLDER / "w" / f"{node}.pid").read_text().strip()
    return Path(f"/proc/{leader}/task/{leader}/children").read_text().split()[0]


def on_node(node: str, *words: str) -> subprocess.CompletedProcess[str]:
    """A command in all namespaces of a node."""
    argv = ["nsenter", "-t", node_leader(node), "-n", "-m", "-p", "-u", *words]
    return subprocess.run(argv, capture_output=True, text=True, timeout=60, check=True)


def lose(node: str) -> None:
    """As if its power were off."""
    os.kill(int((FOLDER / "w" / f"{node}.pid").read_text()), signal.SIGKILL)


def is_ready(node: str) -> bool:
    conditions = [
        one for item in objects("nodes") if item["metadata"]["name"] == node for one in item["status"]["conditions"]
    ]
    return any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)


@pytest.fixture
def third_node() -> Iterator[str]:
    """One that may be lost."""
    join = '. "$0" && exec bash "$KIT/join" n3 3'
    subprocess.run(["bash", "-c", join, str(FOLDER / "w" / "kit.env")], check=True, timeout=60, start_new_session=True)
    until(lambda: is_ready("n3"), 60, "a third node")
    kubectl("patch", "node", "n3", "-p", '{"spec":{"podCIDR":"10.244.3.0/24","podCIDRs":["10.244.3.0/24"]}}')
    yield "n3"
    with contextlib.suppress(ProcessLookupError):
        lose("n3")
    kubectl("delete", "node", "n3")
    # A namespace, and its links with it, may outlive its name.
    subprocess.run(["ip", "link", "delete", "ve-n3"], check=True)
    subprocess.run(["ip", "netns", "delete", "n3"], check=True)
    for way in ("10.244.3.0/24", "fd00:244:3::/64"):
        subprocess.run(["ip", "-6" if ":" in way else "-4", "route", "flush", way], check=True)


@dataclass
class Lab:
    """netmodel-lab k8s, in a folder of its own."""

    folder: Path

    def argv(self, *words: str | Path) -> list[str]:
        return [sys.executable, "-m", "netmodel_lab", "k8s", *map(str, words)]

    def __call__(
        self, *words: str | Path, env: dict[str, str] | None = None, limit_s: float = 170
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.argv(*words),
            cwd=self.folder,
            env={**os.environ, **(env or {})},
            capture_output=True,
            text=True,
            timeout=limit_s,
            check=False,
            stdin=subprocess.DEVNULL,
        )

    def start(self, *words: str | Path) -> subprocess.Popen[str]:
        return subprocess.Popen(
            self.argv(*words), cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def file(self, text: str, name: str = "tests.yml") -> str:
        (self.folder / name).write_text(text)
        return name

    def rows(self, name: str = "out") -> list[Json]:
        return [json.loads(line) for line in (self.folder / name / "rows.jsonl").read_text().splitlines()]


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    """What a test's runs have made must be gone when it ends."""
    yield Lab(tmp_path)
    there = left()
    if there:
        Lab(tmp_path)("clean", "--all")
    assert not there, f"left behind: {there}"


@pytest.fixture(scope="session")
def tests_space() -> Iterator[tuple[str, str]]:
    """Words that have a run in a namespace that stands: its own takes seconds to go."""
    kubectl("create", "namespace", "tests")
    kubectl("label", "namespace", "tests", "pod-security.kubernetes.io/enforce=restricted")
    yield "--namespace", "tests"
    kubectl("delete", "namespace", "tests", "--wait=false")


@pytest.fixture(scope="session")
def open_space() -> Iterator[tuple[str, str]]:
    """A namespace that admits the nodes' network."""
    kubectl("create", "namespace", "open")
    yield "--namespace", "open"
    kubectl("delete", "namespace", "open", "--wait=false")


def entry(name: str, profile: str, *, duration: int = 1, samples: int = 1, size: int = 1024, more: str = "") -> str:
    """An entry of a list of k8s-netperf, in its second form."""
    keys = f"profile: {profile}, duration: {duration}, samples: {samples}, messagesize: {size}, parallelism: 1"
    return f"  - {{{name}: , {keys}{', ' + more if more else ''}}}\n"


ON = ("--image", IMAGE, "--image-pull-policy", "Never")
