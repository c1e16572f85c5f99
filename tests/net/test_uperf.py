# SPDX-License-Identifier: Apache-2.0
"""What users of uperf rely on, item by item: its workloads, its values, phases, groups, durations and defaults.

Ports, connections and loss are in test_uperf_network.py, scale and leaks in test_uperf_scale.py, what uperf does
wrong in test_uperf_defects.py. The lines that wrappers of uperf look for are in test_statistics.py
(test_raw_lines..., test_wrappers_find_what_they_look_for), all that is printed by its name in test_uperf_output.py;
peers that are killed, refuse or answer nonsense in test_failures.py.
"""

from __future__ import annotations

import re
import statistics
from collections.abc import Callable
from pathlib import Path

import pytest

from compose import (
    CLOSE,
    ask,
    check,
    check_lossy,
    connect,
    counts,
    group,
    lasting,
    once,
    op,
    opened,
    read,
    times,
    write,
)
from nmtest import Netmodel, Node, assert_complete, at_most, defines, phase_of, slaves_of

WriteProfile = Callable[..., Path]

# --- 1: workloads of each kind, and tests of their features, run to the end with equal counts ---

TCP = "protocol=tcp wndsz=256k"
UDP = "protocol=udp"
RELAY = group(
    once(connect(), connect(options=f"conn=1 {UDP}")),
    lasting("200ms", write(300), read(300, "conn=1")),
    once(op("disconnect"), op("disconnect", "conn=1")),
    strands=2,
)
PAGES = "".join(ask(300, size) for size in ("100", "200", "500", "1000"))
LARGER = "".join(ask(300, size) for size in ("2k", "5k", "9k", "10"))


def serving(request: object, reply: object) -> str:
    return read(request, "count=1") + write(reply, "count=1")


RELIABLE = {
    "bulk": opened(
        lasting("200ms", write("8k", "count=10")),
        strands=8,
        opening=connect(options="protocol=tcp wndsz=50k tcp_nodelay"),
    ),
    "ping_pong_accepted": opened(lasting("200ms", ask(90, 90)), opening=connect(kind="accept")),
    "connection_rate": group(times(30, connect(), op("disconnect")), strands=8),
    "connection_rate_accepted": group(times(30, connect(kind="accept"), op("disconnect")), strands=8),
    "pages": opened(times(35, PAGES), times(35, LARGER), times(50, ask(300, 20)), strands=2),
    "support": "".join(
        opened(lasting("200ms", serving(64, "64k")), strands=150, opening=connect(options=TCP)) for _ in range(4)
    ),
    "lookup": "".join(
        opened(
            lasting("200ms", serving(64, 64)), strands=16, opening=connect(options="protocol=tcp wndsz=32k tcp_nodelay")
        )
        for _ in range(4)
    ),
    "directory": opened(
        times(
            5,
            write(70), op("think", "duration=1ms idle"), read(300), op("think", "duration=1ms busy"),
        ),
        strands=20,
    ),
    "database": opened(times(10, read(73) + read(415) + serving(35, 170) * 8 + serving(220, 220) * 10), strands=200),
    "terminal": group(
        once(
            connect(options="protocol=tcp wndsz=200k tcp_nodelay"), write(1), op("think", "duration=100ms idle"),
            read("8k"), op("think", "duration=1ms busy"), op("disconnect"),
        )
    ),
    "backup": "".join(
        opened(lasting("200ms", way("64k")), strands=75, opening=connect(options=TCP)) for way in (read, write)
    ),
    "congestion_control": opened(
        lasting("200ms", write(10000)), opening=connect(kind="accept", options="protocol=tcp cc=cubic")
    ),
    "two_writes_at_once": group(
        once(connect(options="protocol=tcp wndsz=2k tcp_nodelay"), write(64, "count=2"), op("disconnect"))
    ),
    "two_groups": opened(times(10, write("64k", "count=1")), strands=2)
    + group(once(connect(), write("8k", "count=10"), op("disconnect"))),
    "accept_and_connect": group(
        once(
            connect(kind="accept", options="conn=1 protocol=tcp"), connect(), write(64), write(264, "conn=1"),
            op("disconnect"),
        ),
        strands=2,
    )
    + group(once(connect(), write(64), op("disconnect")), strands=4),
    "accepts_then_disconnects": group(
        times(10, connect(kind="accept")), times(10, op("disconnect")), strands=4
    ),
    "connects_then_disconnects": group(times(10, connect()), times(10, op("disconnect")), strands=10),
    "many_connections_of_one_strand": group(
        times(1000, connect(options="protocol=tcp canfail")), times(1000, op("disconnect"))
    ),
    "processes_beside_threads": opened(times(100, write("64k")), strands=4, kind="nprocs")
    + opened(times(100, write("64k")), strands=4),
    "uneven_groups": group(once(connect(), write("16k")), once(write("16k"), op("disconnect")))
    + group(once(op("think", "duration=100ms idle"), connect()), lasting("200ms", ask(512, 512)), CLOSE),
    "high_connection_count": opened(times(5, ask(256, 64)), strands=100),
    "send_and_receive": group(
        times(10, connect(), op("send", "count=1 size=256"), op("recv", "count=1 size=256"), op("disconnect"))
    ),
    "long_receives": opened(
        times(4, write("8k", "count=10 rsize=16k"), read("8k", "count=10")), strands=16, kind="nprocs"
    ),
}  # fmt: skip

LOSSY = {
    "bulk": opened(lasting("200ms", write("8k", "count=10")), strands=8, opening=connect(options=UDP)),
    "ping_pong_accepted": opened(lasting("200ms", ask(90, 90)), opening=connect(kind="accept", options=UDP)),
    "relay": RELAY,
    "voices_out": "".join(opened(lasting("200ms", write(64)), strands=50, opening=connect(options=UDP)) for _ in "ab"),
    "voices_in": "".join(opened(lasting("200ms", read(64)), strands=50, opening=connect(options=UDP)) for _ in "ab"),
    "rate": opened(lasting("500ms", write(64), more='rate="20"'), strands=10, opening=connect(options=UDP)),
    "connections_anew": "".join(
        once(connect(options=UDP)) + times(10, body) + CLOSE for body in (write(512), read(256), read(256) + write(512))
    ).join(("<group nthreads='1'>", "</group>")),
    "processes": opened(
        lasting("200ms", read(64)), strands=12, kind="nprocs", opening=connect(options="protocol=udp wndsz=500k")
    ),
    "protocols_in_turn": group(
        *(times(10, connect(options=f"protocol={name}"), ask(), op("disconnect")) for name in ("tcp", "udp", "tcp"))
    ),
}


@pytest.mark.parametrize("name", RELIABLE)
def test_a_workload(netmodel: Netmodel, profile: WriteProfile, name: str) -> None:
    check(netmodel.measure(profile(RELIABLE[name])))


@pytest.mark.parametrize("name", LOSSY)
def test_a_workload_over_udp(netmodel: Netmodel, profile: WriteProfile, name: str) -> None:
    document = check_lossy(netmodel.measure(profile(LOSSY[name]), "-t"))
    assert document["totals"]["errors"] == 0
    if name == "rate":
        assert counts(document, "timed") == (10 * 10, 10 * 10 * 64, 0)


def test_every_lookup_at_another_host(
    netmodel: Netmodel, profile: WriteProfile, nodes: Callable[[int], list[Node]]
) -> None:
    own, *others = nodes(5)
    groups = "".join(
        opened(lasting("200ms", serving(64, 64)), strands=16, opening=connect(node.address)) for node in others
    )
    slaves = [netmodel.start("-s", "--no-auth", "-q", prefix=node.prefix) for node in others]
    try:
        document = check(netmodel.measure(profile(groups), prefix=own.prefix))
    finally:
        for slave in slaves:
            slave.end()
    done = [part["transactions"] for slave in slaves_of(document) for part in slave["groups"] if part["transactions"]]
    assert done == [part["transactions"] + 2 * 16 for part in document["groups"]]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (group(once(connect(options="protocol=pigeon"))), r"unknown protocol.*; must be one of: "),
        (group(once(connect(options="protocol=udapl"), write(100, "async"))), r'unknown option "async"'),
        (group(once(connect())).replace("<group", "<goup", 1), r"goup"),
    ],
    ids=["protocol", "option", "tags"],
)
def test_what_no_workload_is(netmodel: Netmodel, profile: WriteProfile, text: str, why: str) -> None:
    result = netmodel.run("-m", profile(text), code=1)
    assert re.search(why, result.err), result


# --- 2: values; what is well-formed or not is in test_uperf_profiles.py ---


def test_values_are_those_of_uperf(netmodel: Netmodel, profile: WriteProfile) -> None:
    sizes = write("1.5k") + write(".5k") + write("90b") + read(".25m") + write("3K")
    path = profile(opened(times(1, sizes).replace('"1"', '"1k"'), opening=connect(options="protocol=tcp tcp_nodelay")))
    document = check(netmodel.measure(path))
    phase = phase_of(document, "counted")
    assert phase["transactions"] == 1024
    assert phase["bytes_sent"] == 1024 * (1536 + 512 + 90 + 3072)
    assert phase["bytes_received"] == 1024 * 262144


@pytest.mark.parametrize(
    ("text", "seconds", "warns"),
    [("60", 60, False), ("2m", 0.002, True), ("2millis", 0.002, True), ("50ms", 0.05, False), ("1.5", 1.5, False),
     ("700u", 0.0007, False), ("500n", 5e-7, False)],
)  # fmt: skip
def test_durations_are_those_of_uperf(
    netmodel: Netmodel, profile: WriteProfile, text: str, seconds: float, warns: bool
) -> None:
    result = netmodel.run("-m", profile(opened(lasting(text, ask()))), "--dump-plan", code=0)
    match = re.search(r"phase 2 timed: for ([0-9.]+)(ns|us|ms|s)\b", result.out)
    assert match, result
    scale = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}[match[2]]
    assert float(match[1]) * scale == pytest.approx(seconds)
    assert ("warning" in result.err) == warns, result


@pytest.mark.parametrize("text", ["1h", "1min", "2minutes", "0", "-1s"])
def test_durations_that_are_none(netmodel: Netmodel, profile: WriteProfile, text: str) -> None:
    result = netmodel.run("-m", profile(opened(lasting(text, ask()))), code=1)
    assert f'duration="{text}"' in result.err


# --- 3: phases leave nothing behind on their connection ---

RR = times(100, ask(100, 300), name="rr")
AFTER = {
    "duration_out": lasting("150ms", write("8k", "count=10")),
    "duration_in": lasting("150ms", read("8k")),
    "duration_rr": lasting("150ms", ask("5k", "70k")),
    "two_durations": lasting("100ms", write("64k")) + lasting("100ms", read("3k"), name="timed again"),
    "rsize": times(50, write("8k", "rsize=128k")),
    "rsize_for_some_time": lasting("150ms", write("8k", "rsize=24k count=3")),
    "paced": lasting("150ms", ask(), more='rate="200"'),
    "think": lasting("150ms", write(10), op("think", "duration=1ms busy"), read(10)),
}


@pytest.mark.parametrize("opening", ["connect", "accept"])
@pytest.mark.parametrize("before", AFTER)
def test_a_phase_leaves_nothing_to_the_next(
    netmodel: Netmodel, profile: WriteProfile, before: str, opening: str
) -> None:
    again = AFTER[before].replace("timed", "last").replace("counted", "last")
    path = profile(opened(AFTER[before], RR, again, strands=3, opening=connect(kind=opening)))
    document = check(netmodel.measure(path, "-t"))
    assert counts(document, "rr") == (300, 300 * 100, 300 * 300)
    name = "counted" if before == "rsize" else "timed"
    assert counts(document, name)[0] > 0
    assert phase_of(document, "rr")["errors"] == 0


@pytest.mark.parametrize("kind", ["sendfile", "sendfilev"])
def test_files_leave_nothing_to_the_next_phase(
    netmodel: Netmodel, profile: WriteProfile, tmp_path: Path, kind: str
) -> None:
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "one").write_bytes(b"1" * 300_001)
    body = times(7, op(kind, f"dir={tmp_path / 'files'} size=10000"))
    document = check(netmodel.measure(profile(opened(body, RR, body.replace("counted", "last"), strands=2)), "-t"))
    assert counts(document, "counted") == (14, 14 * 300_001, 0)
    assert counts(document, "rr") == (200, 200 * 100, 200 * 300)
    assert counts(document, "last") == (14, 14 * 300_001, 0)


def test_duration_after_duration_moves_data_all_the_time(netmodel: Netmodel, profile: WriteProfile) -> None:
    body = "".join(lasting("200ms", write("1k"), name=f"part{i}") for i in range(4))
    document = check(netmodel.measure(profile(opened(body)), "-t"))
    passes = [counts(document, f"part{i}")[0] for i in range(4)]
    assert min(passes) > statistics.median(passes) / 10, passes


# --- 4: groups that are not of equal length ---


def test_unequal_groups_end(netmodel: Netmodel, profile: WriteProfile) -> None:
    short = group(once(connect(), write(10), op("disconnect")))
    longer = opened(RR, lasting("300ms", ask()), RR.replace("rr", "rr again"), strands=2)
    document = check(netmodel.measure(profile(short + longer + short + opened(RR))))
    assert [len(part["phases"]) for part in document["groups"]] == [1, 5, 1, 3]
    assert phase_of(document, "rr again", 1)["transactions"] == 200


@pytest.mark.alone
def test_unequal_last_durations(netmodel: Netmodel, profile: WriteProfile) -> None:
    groups = [group(once(connect()), lasting(length, body, name="last")) for length, body in
              (("100ms", ask()), ("700ms", write("1k")), ("300ms", read("1k")))]  # fmt: skip

    def late() -> float:
        """Each ends in its time; which of them is latest, and how much."""
        document = check(netmodel.measure(profile("".join(groups))))
        lasted = [phase_of(document, "last", number)["seconds"] for number in range(3)]
        assert all(seconds > planned - 0.1 for seconds, planned in zip(lasted, (0.1, 0.7, 0.3), strict=True)), lasted
        return float(max(document["run"]["elapsed_s"] - 0.7, *(a - b for a, b in zip(lasted, (0.1, 0.7, 0.3), strict=True))))

    at_most(late, 0.1)


def test_positions_are_barriers_across_groups(netmodel: Netmodel, profile: WriteProfile) -> None:
    slow = group(
        once(connect(), op("think", "duration=400ms")), times(10, ask()), times(10, ask(), name="third"), CLOSE
    )
    fast = group(once(connect()), times(10, ask(), name="second"), times(10, ask(), name="third"), CLOSE)
    document = check(netmodel.measure(profile(slow + fast)))
    begins = [[phase["begin_s"] for phase in part["phases"]] for part in document["groups"]]
    assert begins[0] == pytest.approx(begins[1], abs=0.15), "each phase begins in all groups together"
    assert begins[1][1] >= 0.4


# --- 5: durations ---


@pytest.mark.parametrize(
    ("text", "seconds", "interval"),
    [("50ms", 0.05, "1s"), ("50ms", 0.05, "30ms"), ("500ms", 0.5, "0"), ("1.5s", 1.5, "1s"), ("3s", 3, "700ms")],
)
@pytest.mark.alone
def test_a_duration_lasts_as_long_as_it_says(
    netmodel: Netmodel, profile: WriteProfile, text: str, seconds: float, interval: str
) -> None:
    """Within 1 % and 1 ms, at both ends."""
    path = profile(opened(lasting(text, ask())))

    def off() -> float:
        document = check(netmodel.measure(path, "-i", interval, "-t"))
        slave = slaves_of(document)[0]["groups"][0]["phases"][1]
        return float(max(abs(phase["seconds"] - seconds) for phase in (phase_of(document, "timed"), slave)))

    at_most(off, 0.01 * seconds + 0.001)


# --- 11: defaults ---


def test_the_default_port(netmodel: Netmodel, profile: WriteProfile, nodes: Callable[[int], list[Node]]) -> None:
    near, far = nodes(2)
    with netmodel.started("-s", "--no-auth", prefix=far.prefix) as slave:
        slave.wait_line("slave listening on .* port 20000")
        check(netmodel.measure(profile(opened(RR, opening=connect(far.address))), prefix=near.prefix))


def test_both_ends_think(netmodel: Netmodel, profile: WriteProfile) -> None:
    path = profile(opened(times(4, ask(), op("think", "duration=30ms"))))
    document = check(netmodel.measure(path, "-f"))
    flowops = slaves_of(document)[0]["groups"][0]["phases"][1]["flowops"]
    (thinking,) = [entry for entry in flowops if entry["flowop"] == "think"]
    assert thinking["operations"] == 4
    assert thinking["time_s"]["min"] >= 0.03


def test_both_ends_get_the_options_of_the_socket(
    netmodel: Netmodel, profile: WriteProfile, strace: str, tmp_path: Path
) -> None:
    traces = [tmp_path / "slave", tmp_path / "master"]
    prefixes = [(strace, "-f", "-e", "trace=setsockopt,listen,connect", "-o", str(trace)) for trace in traces]
    quiet = {"ASAN_OPTIONS": "detect_leaks=0"}
    path = profile(opened(RR, opening=connect("127.0.0.1", "protocol=tcp wndsz=77k tcp_nodelay cc=reno")))
    with netmodel.slave("--once", prefix=prefixes[0], env=quiet) as slave:
        check(netmodel.measure(path, "-P", str(slave.port), prefix=prefixes[1], env=quiet))
        slave.process.finish()
    for trace in traces:
        text = trace.read_text()
        for option in (rf"SO_SNDBUF, \[{77 * 1024}\]", rf"SO_RCVBUF, \[{77 * 1024}\]", r"TCP_NODELAY, \[1\]",
                       r"TCP_CONGESTION, "):  # fmt: skip
            assert re.search(option, text), f"{trace.name}: {option}"


def test_failures_that_are_expected_are_successes(netmodel: Netmodel, profile: WriteProfile) -> None:
    late = op("think", "duration=200ms at=slave")
    path = profile(opened(times(3, late, ask(10, 10, "timeout=20ms canfail")), opening=connect(options=UDP)))
    document = netmodel.measure(path)
    assert_complete(document)
    assert document["run"]["incomplete_why"] is None
    told = phase_of(document, "counted")
    assert told["transactions"] + told["messages"]["unanswered"] == 3
    assert told["messages"]["unanswered"] == told["messages"]["timeouts"] > 0


@pytest.mark.parametrize(("limit", "code"), [("50ms", 2), ("2s", 0), ("50ms canfail", 0)])
def test_the_wait_of_accept_has_the_limit_that_is_given(
    netmodel: Netmodel, profile: WriteProfile, limit: str, code: int
) -> None:
    late = op("think", "duration=300ms at=slave")
    path = profile(group(once(late, connect(kind="accept", options=f"timeout={limit}"))))
    result = netmodel.run("-m", path, "--format", "json", code=code)
    document = result.json()
    assert phase_of(document, None)["accepts"] == (1 if limit == "2s" else 0)  # type: ignore[arg-type]
    if code:
        assert "accept" in document["run"]["incomplete_why"]
        assert "no connection within timeout=50ms" in document["run"]["incomplete_why"]
    else:
        assert document["totals"]["errors"] == ("canfail" in limit)


def test_the_variables_of_a_workload(netmodel: Netmodel, profile: WriteProfile) -> None:
    path = profile(opened(lasting("$dur", write("$Size"), read("$reply"))).replace('"1"', '"$nthr"', 1))
    given = {"dur": "50ms", "Size": "1.5k", "reply": "rand(1,9k)"}
    document = check(netmodel.measure(path, *defines(nthr=3), env=given))
    assert document["groups"][0]["flows"] == 3
    phase = phase_of(document, "timed")
    assert phase["bytes_sent"] == 1536 * phase["transactions"]
