/* SPDX-License-Identifier: Apache-2.0 */
/* The table of standard parameters. */
#include "plan/standard.h"

#include <string.h>

/* A parameter that profiles refer to. */
#define FREE(param, kind, value, text)                                                             \
	{                                                                                          \
		.name = (param), .type = NM_TYPE_##kind, .def = (value), .help = (text)            \
	}
/* One that has an effect where a flag is set. */
#define WITH(on, param, kind, value, text)                                                         \
	{                                                                                          \
		.name = (param), .type = NM_TYPE_##kind, .def = (value), .help = (text),           \
		.flag = (on)                                                                       \
	}
#define WORD(param, words, value, text)                                                            \
	{                                                                                          \
		.name = (param), .type = NM_TYPE_ENUM, .choices = (words), .def = (value),         \
		.help = (text)                                                                     \
	}
/* A parameter that only passes on an option: its type is the option's. */
#define SETS(param, options, value, text)                                                          \
	{                                                                                          \
		.name = (param), .option = (options), .def = (value), .help = (text)               \
	}
#define SETS_WITH(on, param, options, value, text)                                                 \
	{                                                                                          \
		.name = (param), .option = (options), .def = (value), .help = (text), .flag = (on) \
	}
#define OPENING(option) "connect." option " accept." option
#define MESSAGE(option) "write." option " read." option

const struct nm_standard_param nm_standard_params[] = {
	FREE("host", HOST, "local", "the slave; local starts one on this host"),
	FREE("num_flows", COUNT, "1", "connections"),
	FREE("num_threads", COUNT, "1", "workers on each side; flows are spread evenly over them"),
	FREE("test_length", DURATION, "10s", "how long to measure"),
	FREE("num_transactions", COUNT, "0",
	     "end after so many of all flows together; 0 for no limit"),
	FREE("request_size", SIZE, "1", "bytes of a request"),
	FREE("response_size", SIZE, "1", "bytes of a response"),
	FREE("pipeline", COUNT, "1", "requests that each flow may have outstanding"),
	FREE("delay", DURATION, "0s",
	     "time from one request of a flow to its next, on a fixed schedule; 0: at once"),
	FREE("noburst", DURATION, "0s",
	     "time from one request to the next one of any flow, which take turns; 0: at once"),
	FREE("arrivals", STRING, "",
	     "an open loop: const(RATE), poisson(RATE), uniform, ramp, steps, burst or load, of "
	     "all flows together, as poisson(50k/s); empty: each flow goes on when it has its "
	     "answer"),
	FREE("tls", FLAG, "no", "speak over TLS"),
	WITH("tls", "ca", STRING, "",
	     "with tls, a file (PEM) with the certificates that are trusted; empty: those that the "
	     "system trusts"),
	WITH("tls", "verify", STRING, "",
	     "with tls, whether the certificate and its name are checked: yes or no; empty: that "
	     "of a server is, and that of netmodel's own end is not"),
	SETS_WITH("tls", "cert", "accept.cert", "",
		  "with tls, a file (PEM) with the certificate of the accepting end, and those "
		  "that lead to its root; empty: one is made that only it has signed"),
	SETS_WITH("tls", "key", "accept.key", "",
		  "with tls, a file (PEM) with the key of cert; empty: the file of cert"),
	FREE("timeout", DURATION, "0s",
	     "with server, an answer may take so long; then it is counted as none, and the flow "
	     "goes on over another connection; 0s: for ever"),
	FREE("reconnect", DURATION, "0s",
	     "with server, how long a flow whose connection fails tries to open it again, before "
	     "the run is over; 0s: not at all"),
	WORD("close", "rst fin half", "rst",
	     "how the end that closes first does it: with a reset (rst), in order (fin), which "
	     "leaves its port in TIME_WAIT, or half: it ends what it sends and waits for the other "
	     "end"),
	WORD("close_by", "client server", "client", "which end closes first"),
	FREE("time_wait", FLAG, "no",
	     "the client closes in order, as with close=fin, whatever close and close_by say"),

	SETS("wait", "group.wait", "sleep",
	     "how workers wait: awake keeps idle CPUs from sleeping meanwhile, spin takes a CPU "
	     "each; both spare time to wake up"),
	SETS("buffer_size", "group.buffer", "0",
	     "the most that one call moves; 0: whole messages, up to 1m"),
	SETS("maxevents", "group.maxevents", "256",
	     "events that a worker takes at a time, at most"),
	SETS("edge_trigger", "group.edge_trigger", "yes",
	     "epoll tells of connections when something changes; no: as long as there is something "
	     "to take, which costs more calls"),
	SETS("engine", "group.engine", "epoll",
	     "how messages are moved, at both ends: epoll, a call for each; io_uring, one call for "
	     "all flows that can go on"),

	SETS("port", OPENING("port"), "0",
	     "port at which the accepting end listens for data; 0: the kernel chooses"),
	SETS("data_host", "connect.data_host", "",
	     "address of the slave for data, where it is another than host, to which the control "
	     "connection goes; empty: host"),
	SETS("async_connect", OPENING("async_connect"), "yes",
	     "connections are opened at the same time; no: each flow of a worker waits until the "
	     "one before it has its own"),
	SETS("num_ports", OPENING("num_ports"), "1",
	     "ports at which each listener listens, in a row; flow i uses number i modulo this"),
	SETS("listen_backlog", OPENING("listen_backlog"), "0",
	     "connections that wait at a listening socket; 0: 4096"),
	SETS("local_hosts", OPENING("localhost"), "",
	     "addresses that the connecting end binds, separated by commas; flow i binds number i "
	     "modulo their number"),
	SETS("source_port", OPENING("source_port"), "0",
	     "port that flow 0 binds, the others those behind it; 0: the kernel chooses"),
	SETS("source_ports", OPENING("source_ports"), "1",
	     "ports that each flow has from source_port on, which it takes in turn; more than one "
	     "needs source_port"),
	SETS("shared_socket", OPENING("shared_socket"), "no",
	     "the accepting end has one socket for all flows of a worker, instead of one for each"),
	SETS("no_delay", OPENING("nodelay"), "no", "TCP_NODELAY: send small segments at once"),
	SETS("congestion_control", OPENING("cc"), "",
	     "TCP_CONGESTION; empty leaves it to the kernel"),
	SETS("tcp_fastopen", OPENING("tcp_fastopen"), "no",
	     "send the first message with the first packet (TCP_FASTOPEN)"),
	SETS("tcp_tx_delay", OPENING("tcp_tx_delay"), "0s",
	     "delay all that is sent (TCP_TX_DELAY), at both ends; needs the queueing discipline "
	     "fq"),
	SETS("wnd", OPENING("wndsz"), "0",
	     "socket buffers of both ends (SO_SNDBUF, SO_RCVBUF); 0 leaves them to the kernel"),
	SETS("max_pacing_rate", OPENING("max_pacing_rate"), "0",
	     "the most that the kernel sends over a connection (SO_MAX_PACING_RATE), at both ends; "
	     "0: no limit"),
	SETS("mark", OPENING("mark"), "0", "mark of the packets (SO_MARK); 0: none"),
	SETS("freebind", OPENING("freebind"), "no",
	     "bind addresses that the host does not have (IP_FREEBIND)"),
	SETS("reuseaddr", OPENING("reuseaddr"), "no", "SO_REUSEADDR"),
	SETS("debug", OPENING("debug"), "no", "SO_DEBUG"),
	SETS("busy_poll", OPENING("busy_poll"), "0s",
	     "how long a wait polls the network card before it sleeps (SO_BUSY_POLL, "
	     "EPIOCSPARAMS), at both ends; 0: as the system has it"),

	SETS("zerocopy", MESSAGE("zerocopy"), "no", "send without copying (MSG_ZEROCOPY)"),
	SETS("rx_zerocopy", MESSAGE("rx_zerocopy"), "no",
	     "receive by mapping pages (TCP_ZEROCOPY_RECEIVE)"),
	SETS("skip_rx_copy", MESSAGE("discard"), "no",
	     "let the kernel drop what is received (MSG_TRUNC)"),
	{.name = NULL},
};

const struct nm_standard_param *nm_standard_param_find(const char *name)
{
	for (const struct nm_standard_param *p = nm_standard_params; p->name; p++)
		if (strcmp(p->name, name) == 0)
			return p;
	return NULL;
}
