# SPDX-License-Identifier: Apache-2.0
"""neper's keys, in its order, as a client of neper 1.1.0 prints them."""

from __future__ import annotations

import pytest

from neper_words import keys_of, pair
from nmtest import Netmodel

COMMON = """wait_start iostat_ms time_wait all_samples port control_port host local_hosts max_pacing_rate interval freebind
    nonblocking nolog logtostderr pin_cpu dry_run debug client ipv6 ipv4 stime_use_proc source_port suicide_length
    listen_backlog num_clients num_threads num_flows maxevents magic"""
TCP = "congestion_control no_delay tcp_tx_delay tcp_fastopen num_ports"
ASK = "mark logrtt_entries_per_flow log_rtt buffer_size test_length percentiles response_size request_size"
STREAM = "buffer_size delay throughput_opt zerocopy reuseaddr edge_trigger test_length"
TCP_RR = f"noburst reuseaddr async_connect delay {ASK} {TCP} {COMMON}"
TCP_CRR = f"async_connect {ASK} {TCP} {COMMON}"
TCP_STREAM = f"""mark no_cork async_connect enable_tcp_maerts split_bidir enable_write enable_read rx_zerocopy skip_rx_copy
    {STREAM} {TCP} {COMMON}"""
OPTIONS = {
    "tcp_rr": TCP_RR,
    "tcp_crr": TCP_CRR,
    "tcp_stream": TCP_STREAM,
    "udp_rr": f"delay {ASK} {COMMON}",
    "udp_stream": f"mark {STREAM} {COMMON}",
    "psp_rr": TCP_RR,
    "psp_crr": TCP_CRR,
    "psp_stream": TCP_STREAM,
}
USAGE = """invalid_secret_count time_start utime_start utime_end stime_start stime_end maxrss_start maxrss_end
    minflt_start minflt_end majflt_start majflt_end nvcsw_start nvcsw_end nivcsw_start nivcsw_end"""
SAMPLES = "num_samples time_end correlation_coefficient throughput"
ENDS = "local_throughput remote_throughput"
LATENCY = "num_transactions latency_min latency_max latency_mean latency_stddev latency_p50 latency_p99"
# Of a stream neper has the samples and the throughput at the end that reads alone.
FIGURES = {True: f"{USAGE} {SAMPLES} throughput_units {ENDS}", False: f"{USAGE} {LATENCY} {SAMPLES} {ENDS}"}
MEASURED = [workload for workload in OPTIONS if not workload.startswith("psp_")]


def wanted(workload: str, after: str) -> list[str]:
    return ["VERSION", *OPTIONS[workload].split(), *after.split()]


@pytest.mark.parametrize("workload", OPTIONS)
def test_the_options_are_neper_s(netmodel: Netmodel, workload: str) -> None:
    for words, length in ((), "total_run_time"), (("-l", "5"), "total_run_time"), (("-l", "-5"), "total_transactions"):
        if workload.endswith("stream") and length == "total_transactions":
            continue
        for client in ((), ("-c",)):
            keys = keys_of(netmodel.run(workload, *client, "-n", *words, code=0).out)
            assert list(keys) == wanted(workload, length)
            assert keys["client"] == str(len(client))
            assert keys["dry_run"] == "1"


@pytest.mark.parametrize("workload", MEASURED)
def test_the_keys_of_a_run_are_neper_s(netmodel: Netmodel, workload: str) -> None:
    stream = workload.endswith("stream")
    list_of = () if stream else ("-p", "99,50")
    keys = pair(netmodel, workload, "-l", "0.2", *list_of)
    assert list(keys) == wanted(workload, f"total_run_time {FIGURES[stream]}")
    assert 0 < int(keys["magic"]) < 1 << 31
    # All of them are in kv as well.
    kv = keys_of(netmodel.run(workload, "-c", "-H", "local", "-l", "0.2", *list_of, "--format", "kv", code=0).out)
    assert set(keys) <= set(kv)


def test_the_options_of_a_profile_are_the_same(netmodel: Netmodel) -> None:
    """Also where neper's form is not used."""
    words = ("-m", "tcp_rr", "--format", "neper", "--percentiles", "50,99", "-D", "num_transactions=300")
    keys = keys_of(netmodel.run(*words, code=0).out)
    assert list(keys) == wanted("tcp_rr", f"total_transactions {FIGURES[False]}")
    assert keys["test_length"] == "-300"


GIVEN = [
    ("tcp_rr", "-D 10us -M 5 -B 1k -Q 2k -R 3 -p 99,50 --no-delay -t 7 -X --num-ports 3", """delay=10000 mark=5
        buffer_size=1024 request_size=2048 response_size=3 percentiles=50,99, no_delay=1 tcp_tx_delay=7 tcp_fastopen=1
        num_ports=3"""),
    ("tcp_rr", "--noburst 3 --congestion-control reno --reuseaddr -l -20 --maxevents 5", """noburst=3 congestion_control=reno
        reuseaddr=1 maxevents=5 test_length=-20"""),
    ("tcp_rr", "--log-rtt=a.txt --logrtt-entries-per-flow 7 -A --iostat-ms 200 --wait-start 2 -s 9 -S", """log_rtt=a.txt
        logrtt_entries_per_flow=7 all_samples=samples.csv iostat_ms=200 wait_start=2 suicide_length=9
        stime_use_proc=1"""),
    ("tcp_rr", "-P 5000 -C 5001 -H ::1 -6 -m 100M -I 0.5 --freebind -U -d", """port=5000 control_port=5001 host=::1
        ipv6=1 ipv4=0 max_pacing_rate=104857600 interval=0.500000 freebind=1 pin_cpu=1 debug=1"""),
    ("tcp_rr", "-4 -H localhost -L 127.0.0.1,127.0.0.2 -F 6 -T 2 --listen-backlog 77 --source-port 6000", """ipv4=1
        host=127.0.0.1 local_hosts=127.0.0.1,127.0.0.2 num_flows=6 num_threads=2 listen_backlog=77 source_port=6000"""),
    ("tcp_rr", "-6 -4", "ipv6=1 ipv4=1 source_port=-1 port=0 suicide_length=0 all_samples= log_rtt="),
    ("tcp_crr", "--time-wait", "time_wait=1 no_delay=0"),
    ("tcp_crr", "", "time_wait=0 async_connect=1"),
    ("tcp_crr", "--async-connect", "async_connect=1"),
    ("tcp_crr", "--define async_connect=no", "async_connect=0"),
    ("tcp_stream", "--define async_connect=no --define edge_trigger=no", "async_connect=0 edge_trigger=0"),
    ("udp_stream", "-E", "edge_trigger=1"),
    ("udp_stream", "--define edge_trigger=no", "edge_trigger=0"),
    ("udp_rr", "--define edge_trigger=no", "edge_trigger=no"),
    ("tcp_stream", "--throughput-opt Gb -r -Z --skip-rx-copy -D 5", """throughput_opt=Gb enable_read=1 enable_write=1
        zerocopy=1 skip_rx_copy=1 delay=5"""),
    ("tcp_stream", "", "throughput_opt=Mb enable_read=0 enable_write=1 edge_trigger=1"),
    ("tcp_stream", "-M -z", "enable_tcp_maerts=1 enable_read=1 enable_write=0 rx_zerocopy=1"),
    ("tcp_stream", "--split-bidir -F 3", "split_bidir=1 enable_read=1 enable_write=1 num_flows=6"),
    ("udp_stream", "-B 700 -M 3", "buffer_size=700 mark=3 listen_backlog=0"),
    ("udp_rr", "", "buffer_size=0 listen_backlog=0 maxevents=256 num_clients=1 nolog=0 nonblocking=1"),
]  # fmt: skip


@pytest.mark.parametrize(("workload", "line", "lines"), GIVEN)
def test_the_values_are_those_in_force(netmodel: Netmodel, workload: str, line: str, lines: str) -> None:
    """In neper's spelling."""
    out = netmodel.run(workload, "-c", "-n", *line.split(), code=0).out
    for told in lines.split():
        assert told in out.splitlines()


# Those of its server without options, and under which key they are here: the same behind remote_, another, or none.
SERVER = {
    "throughput": "remote_local_throughput",
    "remote_throughput": "local_throughput",
    "throughput_units": "remote_throughput_units",
    **dict.fromkeys(["maxrss_start", "invalid_secret_count"]),
    **dict.fromkeys(key for key in LATENCY.split() if key.startswith("latency_")),
}


@pytest.mark.parametrize("workload", MEASURED)
def test_the_keys_of_the_server_are_in_kv(netmodel: Netmodel, workload: str) -> None:
    stream = workload.endswith("stream")
    words = ("-m", workload, "-D", "test_length=200ms", "--format", "kv", "--slave-cpus", "0")
    kv = keys_of(netmodel.run(*words, code=0).out)
    for key in f"total_run_time allowed_core_num allowed_cores {FIGURES[stream]}".split():
        here = SERVER.get(key, f"remote_{key}")
        assert f"remote_{key}" not in kv if here is None else here in kv, key
    assert kv["remote_allowed_cores"] == "0"
    assert kv["remote_throughput_units"] == ("bits/s" if stream else "transactions/s")
    seconds = float(kv["remote_time_end"]) - float(kv["remote_time_start"])
    assert float(kv["remote_total_run_time"]) == pytest.approx(seconds, abs=1e-5)


def test_what_neper_does_not_have_comes_behind(netmodel: Netmodel) -> None:
    """Where it is not what it is by default."""
    out = netmodel.run("tcp_rr", "-c", "-n", "--define", "pipeline=4", "--define", "wait=sleep", code=0).out
    assert list(keys_of(out)) == wanted("tcp_rr", "pipeline total_run_time")
    out = netmodel.run("tcp_crr", "-c", "-n", "--define", "close=half", code=0).out
    assert list(keys_of(out)) == wanted("tcp_crr", "close total_run_time")


def test_a_server_says_that_it_is_one(netmodel: Netmodel) -> None:
    keys = keys_of(netmodel.run("tcp_rr", "-n", "--num-clients", "3", code=0).out)
    assert (keys["client"], keys["num_clients"]) == ("0", "3")
