# SPDX-License-Identifier: Apache-2.0
"""A slave as a service of systemd: the unit of contrib/systemd, and what a slave tells the service manager."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from nmtest import PATIENCE_S, TOP, Netmodel

UNIT = TOP / "contrib" / "systemd" / "netmodel.service.in"
PAGE = TOP / "docs" / "systemd.md"


@pytest.mark.parametrize("abstract", [False, True])
def test_the_service_manager_is_told(netmodel: Netmodel, tmp_path: Path, abstract: bool) -> None:
    name = f"@netmodel-{os.getpid()}" if abstract else str(tmp_path / "notify")
    with closing(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)) as manager:
        manager.bind(name.replace("@", "\0") if abstract else name)
        manager.settimeout(PATIENCE_S)
        with netmodel.slave(env={"NOTIFY_SOCKET": name}) as slave:
            assert manager.recv(100).decode() == f"READY=1\nX_PORT={slave.port}"
            slave.process.signal(signal.SIGTERM)
            assert manager.recv(100) == b"STOPPING=1"
            assert slave.process.finish().code == 0


def test_a_service_manager_that_does_not_listen(netmodel: Netmodel, tmp_path: Path) -> None:
    with netmodel.slave(env={"NOTIFY_SOCKET": str(tmp_path / "none")}) as slave:
        assert slave.process.running()


def test_the_unit_starts_what_there_is(netmodel: Netmodel) -> None:
    found = re.search(r"^ExecStart=@bindir@/netmodel (.*)$", UNIT.read_text(), re.MULTILINE)
    assert found
    known = netmodel.run("--help", "all", code=0).out
    for option in re.findall(r"--[a-z-]+", found[1]):
        assert option in known, option


@pytest.mark.needs("systemd_analyze")
def test_the_unit_is_as_tight_as_the_page_says(tmp_path: Path) -> None:
    unit = tmp_path / "netmodel.service"
    unit.write_text(UNIT.read_text().replace("@bindir@", str(Path(shutil.which("true") or "/bin/true").parent)))
    args = ["systemd-analyze", "security", "--offline=yes", "--no-pager", str(unit)]
    done = subprocess.run(args, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    found = re.search(r"Overall exposure level for netmodel.service: ([0-9.]+)", done.stdout)
    quoted = re.search(r"Overall exposure level for netmodel.service: ([0-9.]+)", PAGE.read_text())
    assert found and quoted, done
    assert float(found[1]) <= float(quoted[1])
