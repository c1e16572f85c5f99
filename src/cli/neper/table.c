/* SPDX-License-Identifier: Apache-2.0 */
/* The table of neper's options: for each one, which workloads have it, how its value reads, and
 * what it sets in netmodel. */
#include "cli/neper/neper.h"

#include "report/throughput.h"

#define ALL    NM_NEPER_ALL
#define RR     (NM_NEPER_TCP_RR | NM_NEPER_UDP_RR | NM_NEPER_PSP_RR)
#define CRR    (NM_NEPER_TCP_CRR | NM_NEPER_PSP_CRR)
#define ASK    (RR | CRR)
#define BYTES  (NM_NEPER_TCP_STREAM | NM_NEPER_PSP_STREAM)
#define STREAM (BYTES | NM_NEPER_UDP_STREAM)
#define TCP    (NM_NEPER_TCP_RR | NM_NEPER_PSP_RR | CRR | BYTES)

#define PARAM(p)	   NM_NEPER_PARAM, p, NULL, NULL, NULL
#define ZERO(p, nepers)	   NM_NEPER_PARAM, p, NULL, NULL, nepers
#define OPTION(o)	   NM_NEPER_OPTION, o, NULL, NULL, NULL
#define BOTH(o)		   NM_NEPER_OPTION, o, "=", NULL, NULL
#define FILE_OF(o, name)   NM_NEPER_OPTION, o, NULL, name, NULL
#define ROLE(what, server) NM_NEPER_ROLE, what, server, NULL, NULL
#define CPUS		   NM_NEPER_CPUS, "cpus", "=", NULL, NULL
#define NONE(why, is)	   NM_NEPER_NONE, why, NULL, NULL, is

/* The options in the order in which neper prints them. */
const struct nm_neper_opt nm_neper_table[] = {
	{"noburst", 0, NM_NEPER_TCP_RR | NM_NEPER_PSP_RR, NM_NEPER_NS, PARAM("noburst"), "100us"},
	{"reuseaddr", 0, NM_NEPER_TCP_RR | NM_NEPER_PSP_RR, NM_NEPER_FLAG, PARAM("reuseaddr"),
	 NULL},
	{"async-connect", 0, TCP & ~BYTES, NM_NEPER_FLAG, PARAM("async_connect"), NULL},
	{"delay", 'D', RR, NM_NEPER_NS, PARAM("delay"), "100us"},
	{"mark", 'M', ASK, NM_NEPER_COUNT, PARAM("mark"), "5"},
	{"logrtt-entries-per-flow", 0, ASK, NM_NEPER_COUNT, OPTION("log-rtt-entries"), "10000"},
	{"log-rtt", 0, ASK, NM_NEPER_FILE, FILE_OF("log-rtt", "rtt_samples.txt"), "rtt.txt"},
	{"buffer-size", 'B', ASK & ~NM_NEPER_UDP_RR, NM_NEPER_SIZE, PARAM("buffer_size"), "16k"},
	{"buffer-size", 'B', NM_NEPER_UDP_RR, NM_NEPER_SIZE, NONE("a datagram is moved whole", "0"),
	 NULL},
	{"test-length", 'l', ASK, NM_NEPER_LENGTH, PARAM("test_length"), "10s"},
	{"percentiles", 'p', ASK, NM_NEPER_PERCENTILES, OPTION("percentiles"), "50,99,99.9"},
	{"response-size", 'R', ASK, NM_NEPER_SIZE, PARAM("response_size"), "60k"},
	{"request-size", 'Q', ASK, NM_NEPER_SIZE, PARAM("request_size"), "100"},

	{"mark", 'M', NM_NEPER_UDP_STREAM, NM_NEPER_COUNT, PARAM("mark"), "5"},
	{"mark", 0, BYTES, NM_NEPER_COUNT, PARAM("mark"), "5"},
	{"no-cork", 0, BYTES, NM_NEPER_FLAG, PARAM("no_cork"), NULL},
	{"async-connect", 0, BYTES, NM_NEPER_FLAG, PARAM("async_connect"), NULL},
	{"enable-tcp-maerts", 'M', BYTES, NM_NEPER_FLAG, PARAM("enable_tcp_maerts"), NULL},
	{"split-bidir", 0, BYTES, NM_NEPER_FLAG, PARAM("split_bidir"), NULL},
	{"enable-write", 'w', BYTES, NM_NEPER_FLAG, PARAM("enable_write"), NULL},
	{"enable-read", 'r', BYTES, NM_NEPER_FLAG, PARAM("enable_read"), NULL},
	{"rx-zerocopy", 'z', BYTES, NM_NEPER_FLAG, PARAM("rx_zerocopy"), NULL},
	{"skip-rx-copy", 0, BYTES, NM_NEPER_FLAG, PARAM("skip_rx_copy"), NULL},
	{"buffer-size", 'B', STREAM, NM_NEPER_SIZE, PARAM("buffer_size|message_size"), "16k"},
	{"delay", 'D', STREAM, NM_NEPER_NS, PARAM("delay"), "100us"},
	{"throughput-opt", 0, STREAM, NM_NEPER_TEXT, NM_NEPER_OPTION, "throughput-opt", NULL, NULL,
	 NM_THROUGHPUT_DEFAULT, "Gb"},
	{"zerocopy", 'Z', STREAM, NM_NEPER_FLAG, PARAM("zerocopy"), NULL},
	{"reuseaddr", 'R', STREAM, NM_NEPER_FLAG, PARAM("reuseaddr"), NULL},
	{"edge-trigger", 'E', STREAM, NM_NEPER_FLAG, PARAM("edge_trigger"), NULL},
	{"test-length", 'l', STREAM, NM_NEPER_S, PARAM("test_length"), "10s"},

	{"congestion-control", 0, TCP, NM_NEPER_TEXT, PARAM("congestion_control"), "reno"},
	{"no-delay", 0, TCP, NM_NEPER_FLAG, PARAM("no_delay"), NULL},
	{"tcp-tx-delay", 't', TCP, NM_NEPER_US, PARAM("tcp_tx_delay"), "10us"},
	{"pin-numa", 'N', TCP, NM_NEPER_FLAG, CPUS, "--cpus nodes"},
	{"tcp-fastopen", 'X', TCP, NM_NEPER_FLAG, PARAM("tcp_fastopen"), NULL},
	{"num-ports", 0, TCP, NM_NEPER_COUNT, PARAM("num_ports"), "4"},

	{"wait-start", 0, ALL, NM_NEPER_S, OPTION("wait-start"), "2s"},
	{"iostat-ms", 0, ALL, NM_NEPER_MS, OPTION("iostat"), "100ms"},
	{"time-wait", 0, CRR, NM_NEPER_FLAG, PARAM("time_wait|close=fin"), NULL},
	{"time-wait", 0, ALL & ~CRR, NM_NEPER_FLAG,
	 NONE("connections close in order, at the end", "1"), NULL},
	{"all-samples", 'A', ALL, NM_NEPER_FILE, NM_NEPER_OPTION, "all-samples", "=", "samples.csv",
	 NULL, "samples.csv"},
	{"port", 'P', ALL, NM_NEPER_COUNT, PARAM("port"), "12867"},
	{"control-port", 'C', ALL, NM_NEPER_COUNT, BOTH("port"), "12866"},
	{"host", 'H', ALL, NM_NEPER_TEXT, NM_NEPER_PARAM, "host", "bind", NULL, NULL, "10.0.0.7"},
	{"local-hosts", 'L', ALL, NM_NEPER_TEXT, PARAM("local_hosts"), "127.0.0.2,127.0.0.3"},
	{"max-pacing-rate", 'm', ALL, NM_NEPER_BYTE_RATE, PARAM("max_pacing_rate"), "100Mb/s"},
	{"interval", 'I', ALL, NM_NEPER_REAL_S, OPTION("interval"), "500ms"},
	{"freebind", 0, ALL, NM_NEPER_FLAG, PARAM("freebind"), NULL},
	{"nonblocking", 0, ALL, NM_NEPER_FLAG, NONE("connections never block", "1"), NULL},
	{"nolog", 0, ALL, NM_NEPER_FLAG, BOTH("quiet"), NULL},
	{"logtostderr", 0, ALL, NM_NEPER_FLAG, BOTH("verbose"), NULL},
	{"pin-cpu", 'U', ALL, NM_NEPER_FLAG, CPUS, "--cpus 0"},
	{"dry-run", 'n', ALL, NM_NEPER_FLAG, ROLE("print the options and check them", "="),
	 "--check"},
	{"debug", 'd', ALL, NM_NEPER_FLAG, PARAM("debug"), NULL},
	{"client", 'c', ALL, NM_NEPER_FLAG, ROLE("run the workload and report", NULL),
	 "-m PROGRAM"},
	{"ipv6", '6', ALL, NM_NEPER_FLAG, NM_NEPER_FAMILY, "the host by its address of IPv6",
	 "bind", NULL, NULL, "-D host=::1"},
	{"ipv4", '4', ALL, NM_NEPER_FLAG, NM_NEPER_FAMILY, "the host by its address of IPv4",
	 "bind", NULL, NULL, "-D host=127.0.0.1"},
	{"stime-use-proc", 'S', ALL, NM_NEPER_FLAG, OPTION("stime-use-proc"), NULL},
	{"source-port", 0, ALL, NM_NEPER_COUNT, ZERO("source_port", "-1"), "20000"},
	{"suicide-length", 's', ALL, NM_NEPER_S, NM_NEPER_OPTION, "max-duration", "max-lifetime",
	 NULL, NULL, "30s"},
	{"listen-backlog", 0, TCP, NM_NEPER_COUNT, ZERO("listen_backlog", "4096"), "128"},
	{"listen-backlog", 0, ALL & ~TCP, NM_NEPER_COUNT,
	 NONE("datagrams have no queue of connections", "0"), NULL},
	{"num-clients", 0, ALL, NM_NEPER_COUNT, NM_NEPER_NONE, "only a server waits for clients",
	 "sessions", NULL, "1", "-s --sessions 2"},
	{"num-threads", 'T', ALL, NM_NEPER_COUNT, PARAM("num_threads"), "2"},
	{"num-flows", 'F', ALL, NM_NEPER_COUNT, PARAM("num_flows"), "10"},
	{"maxevents", 0, ALL, NM_NEPER_COUNT, PARAM("maxevents"), "10"},
	{"magic", 0, ALL, NM_NEPER_COUNT, NONE("each run has a random number of its own", NULL),
	 NULL},

	{"help", 'h', ALL, NM_NEPER_FLAG, ROLE("print this table", "="), "--help"},
	{"version", 'v', ALL, NM_NEPER_FLAG, ROLE("print the version", "="), "--version"},
	{.name = NULL},
};
