# SPDX-License-Identifier: Apache-2.0
"""What a study may do to servers that netmodel has not started: nothing that takes away what they have, unless told."""

from __future__ import annotations

import shutil
import socketserver
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import Lab, rows

DELETES = """\
<?xml version="1.0"?>
<profile name="deletes">
  <param name="server" type="string" help="a memcached"/>
  <keyspace name="k" count="10"/>
  <group nflows="1">
    <transaction iterations="1">
      <flowop type="connect" options="server=$server protocol=tcp app=memcache"/>
    </transaction>
    <transaction duration="50ms"><flowop type="delete" options="keys=k"/></transaction>
  </group>
</profile>
"""


class Keyless(socketserver.StreamRequestHandler):
    """A memcached that has no key."""

    def handle(self) -> None:
        for _ in self.rfile:
            self.wfile.write(b"NOT_FOUND\r\n")


@pytest.fixture
def server() -> Iterator[str]:
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Keyless) as listener:
        threading.Thread(target=listener.serve_forever, daemon=True).start()
        yield "{}:{}".format(*listener.server_address)
        listener.shutdown()


def test_what_destroys_is_told_so(lab: Lab, tmp_path: Path, server: str) -> None:
    (tmp_path / "deletes.xml").write_text(DELETES)
    (tmp_path / "s.yaml").write_text(f'study: 1\nprofile: deletes.xml\nparams: {{server: "{server}"}}\nrepeat: 1\n')
    for study in (("deletes.xml", "--set", f"server={server}", "--repeat", "1"), ("s.yaml",)):
        refused = lab("run", *study, "-o", f"{study[0]}.refused", "--no-report")
        assert refused.returncode == 4
        (row,) = rows(tmp_path / f"{study[0]}.refused")
        assert row["why"].endswith("needs --yes-destroy")
        done = lab("run", *study, "--yes-destroy", "-o", f"{study[0]}.done", "--no-report")
        assert done.returncode == 0, done.stderr
        assert rows(tmp_path / f"{study[0]}.done")[0]["ok"]
        # What is missing is done with the same right.
        shutil.rmtree(tmp_path / f"{study[0]}.done" / "runs" / "000001-a1")
        done = lab("resume", f"{study[0]}.done", "--no-report")
        assert done.returncode == 0, done.stderr
        assert rows(tmp_path / f"{study[0]}.done")[0]["ok"]


def test_a_file_gives_no_right(lab: Lab, tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text("study: 1\nprofile: tcp_rr\nyes_destroy: yes\n")
    done = lab("plan", "s.yaml")
    assert (done.returncode, done.stdout) == (2, "")
    assert "s.yaml:3:1: yes_destroy: " in done.stderr
