# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped,unused-ignore]
import pytest

import certificates
import probes
from loss import losing
from nmtest import SCHEMA, Json, Netmodel, Network, Node, Slave, defines, locate_binary, slaves_on


def pytest_addoption(parser: pytest.Parser) -> None:
    probes.add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # what ignores it (nohup) hands that on to the program under test
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # in the background of a script; a shell could not catch it then
        signal.signal(signal.SIGINT, signal.default_int_handler)
    config.addinivalue_line("markers", "alone: counts calls or measures time; no other test runs beside it in the check")
    probes.register(config)


@pytest.fixture(scope="session")
def netmodel() -> Netmodel:
    binary = locate_binary()
    if not os.access(binary, os.X_OK):
        pytest.exit(f"{binary}: no program to test; ./quickstart build makes it, NETMODEL=PATH names another", 3)
    return Netmodel(binary)


@pytest.fixture
def slave(netmodel: Netmodel) -> Iterator[Slave]:
    """A slave on this host."""
    with netmodel.slave() as started:
        yield started


@pytest.fixture(scope="session")
def validate() -> Callable[[Json], None]:
    """Holds a result document against its published schema."""
    schema = json.loads(SCHEMA.read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    validator: Any = jsonschema.Draft202012Validator(schema)

    def check(document: Json) -> None:
        errors = [f"{'/'.join(map(str, e.absolute_path))}: {e.message[:400]}" for e in validator.iter_errors(document)]
        assert not errors, "\n".join(errors)

    return check


@pytest.fixture
def profile(tmp_path: Path) -> Callable[..., Path]:
    """Writes the groups of a profile into a file."""

    def write(groups: str, name: str = "test") -> Path:
        path = tmp_path / f"{name}.xml"
        path.write_text(f'<?xml version="1.0"?>\n<profile name="{name}">\n{groups}\n</profile>\n')
        return path

    return write


@pytest.fixture
def nodes() -> Iterator[Callable[..., list[Node]]]:
    """Makes hosts in network namespaces of their own."""
    network = Network()
    try:
        yield network.nodes
    finally:
        network.close()


@pytest.fixture(scope="session")
def own() -> Iterator[Node]:
    """One host with a network of its own, whose settings tests may change for themselves."""
    network = Network()
    try:
        yield network.nodes(1)[0]
    finally:
        network.close()


@pytest.fixture
def lossy(netmodel: Netmodel, nodes: Callable[[int], list[Node]]) -> Iterator[Callable[..., Json]]:
    """Runs a profile with a host to and from which datagrams are lost: $far in the profile, or what `name` says."""
    near, far = nodes(2)

    def run(path: str | Path, *args: str, share: float, code: int = 0, name: str = "far") -> Json:
        with slaves_on(netmodel, [far]), ExitStack() as stack:
            for node in (near, far):
                stack.enter_context(losing(node, share))
            began = time.monotonic()
            arguments = (*defines(**{name: far.address}), *args)
            document = netmodel.measure(path, *arguments, prefix=near.prefix, code=code)
            document["took_s"] = time.monotonic() - began
        return document

    yield run


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> certificates.Files:
    return certificates.make(tmp_path_factory.mktemp("tls"))


@pytest.fixture
def need_ipv6() -> None:
    """Named by tests that need it: tests/net/probes.py."""


@pytest.fixture(scope="session")
def strace() -> str:
    """The program; probes.py has it tried before."""
    return "strace"
