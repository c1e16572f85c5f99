# SPDX-License-Identifier: Apache-2.0
"""A limit of CPU that has held a host back is told."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from nmtest import Json, Netmodel, defines

Validate = Callable[[Json], None]

pytestmark = pytest.mark.needs("root", "mountns")

# Each group's folder is empty, but the roots of all hierarchies, of which one limits the CPU, have the file.
SCRIPT = """
mount -t tmpfs groups /sys/fs/cgroup || exit
for list in $(cut -d: -f2 /proc/self/cgroup) ''; do
    mkdir -p "/sys/fs/cgroup/$list" && ln -sf "$0" "/sys/fs/cgroup/$list/cpu.stat" || exit
done
exec "$@"
"""


@pytest.fixture
def limited(tmp_path: Path) -> Iterator[tuple[str, ...]]:
    """What runs a command in a control group that is held back in three of four periods, for 1 ms each."""
    counts, done = tmp_path / "cpu.stat", threading.Event()

    def write(turn: int) -> None:
        new = tmp_path / "new"
        new.write_text(f"nr_periods {4 * turn}\nnr_throttled {3 * turn}\nthrottled_time {3_000_000 * turn}\n")
        os.replace(new, counts)

    def count() -> None:
        turn = 0
        while not done.wait(0.01):
            turn += 1
            write(turn)

    write(0)
    counting = threading.Thread(target=count)
    counting.start()
    yield ("unshare", "--mount", "sh", "-c", SCRIPT, str(counts))
    done.set()
    counting.join()


def assert_told(document: Json, host: Json, name: str) -> None:
    periods, throttled = host["throttling"]["periods"], host["throttling"]["throttled_periods"]
    assert 0 < periods * 3 == throttled * 4
    assert host["throttling"]["throttled_s"] == pytest.approx(throttled / 1000)
    (warning,) = [text for text in document["run"]["warnings"] if text.startswith(f"{name} was throttled: ")]
    assert f" in {throttled} of {periods} periods, " in warning


def test_a_master_that_was_throttled_is_told(
    netmodel: Netmodel, validate: Validate, limited: tuple[str, ...]
) -> None:
    document = netmodel.measure("tcp_rr", *defines(test_length="500ms"), prefix=limited)
    validate(document)
    assert_told(document, document["hosts"][0], "master")
    assert not [text for text in document["run"]["warnings"] if text.startswith("slave ")]


def test_a_slave_that_was_throttled_is_told(netmodel: Netmodel, validate: Validate, limited: tuple[str, ...]) -> None:
    with netmodel.slave(prefix=limited) as slave:
        document = netmodel.measure("tcp_rr", "-P", slave.port, *defines(test_length="500ms", host="127.0.0.1"))
    validate(document)
    assert_told(document, document["hosts"][1], "slave 127.0.0.1")
