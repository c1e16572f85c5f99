# SPDX-License-Identifier: Apache-2.0
"""What uperf does wrong, and netmodel must not: hangs, phases cut short, failures that nobody hears of, wrong figures.

Each is a row of ROWS, with the tests that show it. Those of this file have no better place elsewhere."""

from __future__ import annotations

import os
import re
import signal
import statistics
from collections.abc import Callable
from pathlib import Path

import pytest

from compose import ask, check, check_lossy, connect, counts, group, lasting, once, op, opened, read, times, write
from nmtest import Netmodel, at_most, children, phase_of

WriteProfile = Callable[..., Path]

# What goes wrong, and which tests show that it does not.
ROWS: dict[str, tuple[str, ...]] = {
    "phases after a timed one are cut short": (
        "test_uperf.py::test_a_phase_leaves_nothing_to_the_next",
        "test_uperf.py::test_duration_after_duration_moves_data_all_the_time",
        "test_uperf_defects.py::test_every_disconnect_after_a_timed_transaction_runs",
    ),
    "requests hang after rsize, or after a one-way transaction": (
        "test_uperf.py::test_a_phase_leaves_nothing_to_the_next",
        "test_uperf_defects.py::test_requests_on_one_connection_after_a_timed_flood_on_another",
    ),
    "a group that ends first makes the others hang": ("test_uperf.py::test_unequal_last_durations",),
    "nothing ends a run that has got stuck": (
        "test_uperf_network.py::test_request_and_response_with_loss_and_no_limit",
        "test_failures.py::test_a_silent_slave",
        "test_uperf_defects.py::test_what_would_never_end_is_no_profile",
        "test_uperf_defects.py::test_a_group_without_a_number_of_strands_has_one",
        "test_uperf_defects.py::test_a_run_that_is_stuck_is_given_up",
    ),
    "durations are whole seconds, and rates are of another time": (
        "test_uperf.py::test_a_duration_lasts_as_long_as_it_says",
        "test_measure.py::test_rates_are_counts_over_seconds",
    ),
    "failures end with exit code 0": (
        "test_failures.py::test_a_killed_slave",
        "test_statistics.py::test_expected_failures_are_operations_with_errors",
        "test_uperf_defects.py::test_a_failure_at_either_end_fails_the_run",
        "test_uperf_defects.py::test_a_slave_that_dies_at_the_end_fails_the_run",
    ),
    "a port serves one strand only": (
        "test_uperf_network.py::test_strands_and_groups_share_a_port",
        "test_uperf_network.py::test_a_port_serves_one_strand_as_well_as_another",
    ),
    "the table of groups is wrong": ("test_statistics.py::test_parts_add_up_to_totals",),
    "bytes are the last size times count": (
        "test_uperf_defects.py::test_bytes_of_drawn_sizes_are_those_that_moved",
    ),
    "rates come in bursts, and pace the answers": (
        "test_uperf_features.py::test_a_rate_has_no_bursts",
        "test_uperf_features.py::test_a_rate_with_iterations",
        "test_uperf_features.py::test_answers_are_not_paced",
        "test_measure.py::test_a_rate_that_cannot_be_kept_shows_in_the_response",
    ),
    "large files hang, and sendfilev sends nothing": (
        "test_uperf_defects.py::test_a_file_larger_than_all_buffers",
        "test_flowops.py::test_sendfilev",
    ),
    "drawn sizes overrun the buffer": (
        "test_uperf_defects.py::test_bytes_of_drawn_sizes_are_those_that_moved",
        "test_flowops.py::test_drawn_sizes_are_the_same_at_both_ends",
    ),
    "flowops without remotehost go to every host": ("test_uperf_network.py::test_two_hosts",),
    "what was sent over UDP counts as moved": (
        "test_stock.py::test_udp_stream_tells_what_arrives",
        "test_uperf_network.py::test_bursts_beyond_the_buffer_are_lost_and_end",
    ),
    "latency has no percentiles": (
        "test_measure.py::test_the_default_percentiles",
        "test_statistics.py::test_times_of_flowops_add_up_to_those_of_passes",
    ),
    "each transaction begins a second late": (
        "test_uperf_defects.py::test_no_time_is_lost_between_transactions",
    ),
    "output is for people only": (
        "test_main_job.py::test_json_stands_alone_on_standard_output",
        "test_statistics.py::test_wrappers_find_what_they_look_for",
    ),
}


@pytest.mark.parametrize("row", ROWS)
def test_what_goes_wrong_has_a_test(row: str) -> None:
    for name in ROWS[row]:
        file, test = name.split("::")
        text = (Path(__file__).parent / file).read_text()
        assert re.search(rf"^def {test}\(", text, re.MULTILINE), name


def test_every_disconnect_after_a_timed_transaction_runs(netmodel: Netmodel, profile: WriteProfile) -> None:
    opening = once(connect(), connect(options="conn=1 protocol=tcp"))
    flood = lasting("150ms", write("8k"), write("8k", "conn=1"))
    closing = op("disconnect") + op("disconnect", "conn=1")
    document = check(netmodel.measure(profile(group(opening, flood, times(1, closing), strands=4)), "-f"))
    done = [entry["operations"] for entry in phase_of(document, "counted")["flowops"]]
    assert done == [4, 4], "each of the strands has done both"


def test_requests_on_one_connection_after_a_timed_flood_on_another(netmodel: Netmodel, profile: WriteProfile) -> None:
    opening = once(connect(), connect(options="conn=1 protocol=tcp"))
    flood = lasting("150ms", write("64k", "conn=1"))
    document = check(netmodel.measure(profile(group(opening, flood, times(100, ask(90, 9000)), strands=3)), "-t"))
    assert counts(document, "counted") == (300, 300 * 90, 300 * 9000)
    assert counts(document, "timed")[0] > 3


@pytest.mark.parametrize(
    "text",
    [
        "",
        opened(lasting("1s")),
        opened(lasting("1s", op("nop"))),
        opened(times(1, write(10, "count=-1"))),
        opened(times(1, op("write"))),
        opened(times(1, op("sendfile"))),
        opened(times(1, "<flowop/>")),
        opened(times(1, ask()), strands=0),
    ],
    ids=["no group", "nothing timed", "nop timed", "count", "no size", "no dir", "no type", "no strands"],
)
def test_what_would_never_end_is_no_profile(netmodel: Netmodel, profile: WriteProfile, text: str) -> None:
    result = netmodel.run("-m", profile(text), code=1)
    assert re.search(r"test\.xml:\d+: error: ", result.err), result


def test_a_group_without_a_number_of_strands_has_one(netmodel: Netmodel, profile: WriteProfile) -> None:
    text = opened(times(3, ask())).replace(' nthreads="1"', "")
    document = check(netmodel.measure(profile(text)))
    assert document["groups"][0]["flows"] == 1


def test_a_run_that_is_stuck_is_given_up(netmodel: Netmodel, profile: WriteProfile) -> None:
    """Both ends are there, and nothing moves."""
    path = profile(opened(lasting("60s", ask()), strands=2, kind="nprocs", opening=connect("127.0.0.1")))
    with (
        netmodel.slave() as slave,
        netmodel.started(
            "-m", path, "-v", "--timeout", "500ms", "--format", "json", "-P", str(slave.port)
        ) as master,
    ):  # fmt: skip
        master.wait_line("phase 2 of 3 begins")
        for worker in children(master.pid):
            os.kill(worker, signal.SIGSTOP)
        result = master.finish()
    assert result.code == 2, result
    assert re.search(r"no progress for 0\.5 s", result.json()["run"]["incomplete_why"]), result.err
    assert result.err.count("no progress") == 2, "as it happens, and at the end"
    # Each host tells where its flows are: here nobody can, as the workers are stopped.
    assert "; here: 2 workers do not answer; 127.0.0.1: 2 flows of group " in result.err
    assert re.search(rf" waiting for input in \w+ at {re.escape(str(path))}:\d+", result.err), result.err


@pytest.mark.parametrize("slow", ["slave", "master"])
def test_a_failure_at_either_end_fails_the_run(netmodel: Netmodel, profile: WriteProfile, slow: str) -> None:
    """A read at one end is given up, because the other is late; which has nothing to complain of."""
    late = op("think", f"duration=400ms at={slow}")
    body = ask(10, 10, "timeout=40ms") if slow == "slave" else read(10) + late + write(10, "timeout=40ms")
    document = netmodel.measure(profile(opened(times(1, late if slow == "slave" else "", body))), code=2)
    assert document["run"]["complete"] is False
    host = "slave local" if slow == "master" else "master"
    assert re.search(rf"^{host}: flowop read at \S+: nothing came within timeout=40ms ", document["run"]["incomplete_why"]), document["run"]


def test_a_slave_that_dies_at_the_end_fails_the_run(netmodel: Netmodel, profile: WriteProfile) -> None:
    path = profile(group(once(connect("127.0.0.1")), times(5, ask()), once(op("think", "duration=5s"))))
    with (
        netmodel.slave() as slave,
        netmodel.started("-m", path, "-v", "--format", "json", "-P", str(slave.port)) as master,
    ):
        master.wait_line("phase 3 of 3 begins")
        for session in children(slave.pid):
            os.kill(session, signal.SIGKILL)
        result = master.finish()
    assert result.code == 2, result
    document = result.json()
    assert document["run"]["complete"] is False
    assert document["hosts"][1]["counts"] is None, "what is not known is no number"


@pytest.mark.parametrize("range_", ["rand(1,8k)", "rand(1k,256k)"])
@pytest.mark.parametrize("protocol", ["tcp", "udp"])
def test_bytes_of_drawn_sizes_are_those_that_moved(
    netmodel: Netmodel, profile: WriteProfile, protocol: str, range_: str
) -> None:
    range_ = range_.replace("256k", "60k") if protocol == "udp" else range_
    body = write(range_, "count=10") + read(range_) if protocol == "tcp" else write(range_) + read(range_)
    path = profile(opened(times(30, body), strands=3, opening=connect(options=f"protocol={protocol}")))
    document = netmodel.measure(path, "-t")
    (check if protocol == "tcp" else check_lossy)(document)
    passes, sent, received = counts(document, "counted")
    least, most = (1, 8192) if range_ == "rand(1,8k)" else (1024, 262144)
    messages = passes * (10 if protocol == "tcp" else 1)
    assert passes == 90
    assert messages * least < sent < messages * most
    assert sent % messages or received % passes, "they are drawn, not the same each time"
    assert passes * least < received < passes * most


def test_a_file_larger_than_all_buffers(netmodel: Netmodel, profile: WriteProfile, tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "one").write_bytes(bytes(24_000_001))
    send = op("sendfile", f"dir={tmp_path / 'files'}")
    document = check(netmodel.measure(profile(opened(times(4, send), times(20, ask(), name="rr"), strands=2)), "-t"))
    assert counts(document, "counted") == (8, 8 * 24_000_001, 0)
    assert counts(document, "rr") == (40, 40 * 64, 40 * 64)


@pytest.mark.alone
def test_no_time_is_lost_between_transactions(netmodel: Netmodel, profile: WriteProfile) -> None:
    """Forty in a row, which all hosts enter together."""
    body = "".join(times(1, ask(), name=f"part{number}") for number in range(40))

    def pause() -> float:
        document = check(netmodel.measure(profile(opened(body, strands=2))))
        phases = document["groups"][0]["phases"]
        ends = [phase["begin_s"] + phase["seconds"] for phase in phases]
        pauses = [begin["begin_s"] - end for begin, end in zip(phases[1:], ends, strict=False)]
        return float(max(statistics.median(pauses), document["run"]["elapsed_s"] / 200))

    at_most(pause, 0.005)
