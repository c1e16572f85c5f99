/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/neper.h"

#define ALL    NM_NEPER_ALL
#define RR     (NM_NEPER_TCP_RR | NM_NEPER_UDP_RR | NM_NEPER_PSP_RR)
#define CRR    (NM_NEPER_TCP_CRR | NM_NEPER_PSP_CRR)
#define ASK    (RR | CRR)
#define BYTES  (NM_NEPER_TCP_STREAM | NM_NEPER_PSP_STREAM)
#define STREAM (BYTES | NM_NEPER_UDP_STREAM)
#define TCP    (NM_NEPER_TCP_RR | NM_NEPER_PSP_RR | CRR | BYTES)

#define PARAM(p)  NM_NEPER_PARAM, p, NULL, NULL
#define OPTION(o) NM_NEPER_OPTION, o, NULL, NULL
#define BOTH(o)	  NM_NEPER_OPTION, o, "=", NULL
#define NONE(why) NM_NEPER_NONE, why, NULL, NULL

const struct nm_neper_opt nm_neper_table[] = {
	{"client", 'c', ALL, NM_NEPER_FLAG, NM_NEPER_ROLE, "run the workload and report", NULL,
	 NULL},
	{"host", 'H', ALL, NM_NEPER_TEXT, NM_NEPER_PARAM, "host", "bind", NULL},
	{"control-port", 'C', ALL, NM_NEPER_COUNT, BOTH("port")},
	{"port", 'P', ALL, NM_NEPER_COUNT, PARAM("port")},
	{"ipv4", '4', ALL, NM_NEPER_FLAG, NM_NEPER_FAMILY, "the host by its address of IPv4",
	 "bind", NULL},
	{"ipv6", '6', ALL, NM_NEPER_FLAG, NM_NEPER_FAMILY, "the host by its address of IPv6",
	 "bind", NULL},
	{"local-hosts", 'L', ALL, NM_NEPER_TEXT, PARAM("local_hosts")},
	{"source-port", 0, ALL, NM_NEPER_COUNT, PARAM("source_port")},
	{"num-flows", 'F', ALL, NM_NEPER_COUNT, PARAM("num_flows")},
	{"num-threads", 'T', ALL, NM_NEPER_COUNT, PARAM("num_threads")},
	{"num-clients", 0, ALL, NM_NEPER_COUNT, NM_NEPER_NONE, "only a server waits for clients",
	 "sessions", NULL},
	{"listen-backlog", 0, TCP, NM_NEPER_COUNT, PARAM("listen_backlog")},
	{"listen-backlog", 0, ALL & ~TCP, NM_NEPER_COUNT,
	 NONE("datagrams have no queue of connections")},
	{"maxevents", 0, ALL, NM_NEPER_COUNT, PARAM("maxevents")},
	{"magic", 0, ALL, NM_NEPER_COUNT, NONE("each run has a random number of its own")},
	{"suicide-length", 's', ALL, NM_NEPER_S, NM_NEPER_OPTION, "max-duration", "max-lifetime",
	 NULL},
	{"stime-use-proc", 'S', ALL, NM_NEPER_FLAG, OPTION("stime-use-proc")},
	{"debug", 'd', ALL, NM_NEPER_FLAG, PARAM("debug")},
	{"dry-run", 'n', ALL, NM_NEPER_FLAG, NM_NEPER_ROLE, "print the options and check them", "=",
	 NULL},
	{"pin-cpu", 'U', ALL, NM_NEPER_FLAG, NM_NEPER_CPUS, "cpus", "=", NULL},
	{"logtostderr", 0, ALL, NM_NEPER_FLAG, BOTH("verbose")},
	{"nolog", 0, ALL, NM_NEPER_FLAG, NONE("there is no log file")},
	{"nonblocking", 0, ALL, NM_NEPER_FLAG, NONE("connections never block")},
	{"freebind", 0, ALL, NM_NEPER_FLAG, PARAM("freebind")},
	{"interval", 'I', ALL, NM_NEPER_S, OPTION("interval")},
	{"max-pacing-rate", 'm', ALL, NM_NEPER_BYTE_RATE, PARAM("max_pacing_rate")},
	{"all-samples", 'A', ALL, NM_NEPER_FILE, NM_NEPER_OPTION, "all-samples", NULL,
	 "samples.csv"},
	{"time-wait", 0, CRR, NM_NEPER_FLAG, PARAM("time_wait|close=fin")},
	{"time-wait", 0, ALL & ~CRR, NM_NEPER_FLAG, NONE("connections close in order, at the end")},
	{"iostat-ms", 0, ALL, NM_NEPER_MS, OPTION("iostat")},
	{"wait-start", 0, ALL, NM_NEPER_S, OPTION("wait-start")},

	{"num-ports", 0, TCP, NM_NEPER_COUNT, PARAM("num_ports")},
	{"tcp-fastopen", 'X', TCP, NM_NEPER_FLAG, PARAM("tcp_fastopen")},
	{"pin-numa", 'N', TCP, NM_NEPER_FLAG, NM_NEPER_CPUS, "cpus", "=", NULL},
	{"tcp-tx-delay", 't', TCP, NM_NEPER_US, PARAM("tcp_tx_delay")},
	{"no-delay", 0, TCP, NM_NEPER_FLAG, PARAM("no_delay")},
	{"congestion-control", 0, TCP, NM_NEPER_TEXT, PARAM("congestion_control")},

	{"request-size", 'Q', ASK, NM_NEPER_SIZE, PARAM("request_size")},
	{"response-size", 'R', ASK, NM_NEPER_SIZE, PARAM("response_size")},
	{"percentiles", 'p', ASK, NM_NEPER_PERCENTILES, OPTION("percentiles")},
	{"test-length", 'l', ASK, NM_NEPER_LENGTH, PARAM("test_length")},
	{"buffer-size", 'B', ASK & ~NM_NEPER_UDP_RR, NM_NEPER_SIZE, PARAM("buffer_size")},
	{"buffer-size", 'B', NM_NEPER_UDP_RR, NM_NEPER_SIZE, NONE("a datagram is moved whole")},
	{"log-rtt", 0, ASK, NM_NEPER_FILE, NM_NEPER_OPTION, "log-rtt", NULL, "rtt_samples.txt"},
	{"logrtt-entries-per-flow", 0, ASK, NM_NEPER_COUNT, OPTION("log-rtt-entries")},
	{"mark", 'M', ASK | NM_NEPER_UDP_STREAM, NM_NEPER_COUNT, PARAM("mark")},
	{"delay", 'D', RR, NM_NEPER_NS, PARAM("delay")},
	{"async-connect", 0, TCP, NM_NEPER_FLAG, NONE("all flows connect at the same time")},
	{"reuseaddr", 0, NM_NEPER_TCP_RR | NM_NEPER_PSP_RR, NM_NEPER_FLAG, PARAM("reuseaddr")},
	{"noburst", 0, NM_NEPER_TCP_RR | NM_NEPER_PSP_RR, NM_NEPER_NS, PARAM("noburst")},

	{"test-length", 'l', STREAM, NM_NEPER_S, PARAM("test_length")},
	{"edge-trigger", 'E', STREAM, NM_NEPER_FLAG, NONE("events are always edge-triggered")},
	{"reuseaddr", 'R', STREAM, NM_NEPER_FLAG, PARAM("reuseaddr")},
	{"zerocopy", 'Z', STREAM, NM_NEPER_FLAG, PARAM("zerocopy")},
	{"throughput-opt", 0, STREAM, NM_NEPER_TEXT, OPTION("throughput-opt")},
	{"delay", 'D', STREAM, NM_NEPER_NS, PARAM("delay")},
	{"buffer-size", 'B', STREAM, NM_NEPER_SIZE, PARAM("buffer_size|message_size")},
	{"mark", 0, BYTES, NM_NEPER_COUNT, PARAM("mark")},
	{"skip-rx-copy", 0, BYTES, NM_NEPER_FLAG, PARAM("skip_rx_copy")},
	{"rx-zerocopy", 'z', BYTES, NM_NEPER_FLAG, PARAM("rx_zerocopy")},
	{"enable-read", 'r', BYTES, NM_NEPER_FLAG, PARAM("enable_read")},
	{"enable-write", 'w', BYTES, NM_NEPER_FLAG, PARAM("enable_write")},
	{"split-bidir", 0, BYTES, NM_NEPER_FLAG, PARAM("split_bidir")},
	{"enable-tcp-maerts", 'M', BYTES, NM_NEPER_FLAG, PARAM("enable_tcp_maerts")},
	{"no-cork", 0, BYTES, NM_NEPER_FLAG, PARAM("no_cork")},

	{"help", 'h', ALL, NM_NEPER_FLAG, NM_NEPER_ROLE, "print this table", "=", NULL},
	{"version", 'v', ALL, NM_NEPER_FLAG, NM_NEPER_ROLE, "print the version", "=", NULL},
	{.name = NULL},
};
