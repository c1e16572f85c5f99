/* SPDX-License-Identifier: Apache-2.0 */
/* Drives the examples of docs/ without an engine: the flowop discard over the transport that is
 * named, message by message, with long and short pieces. */
#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/opt.h"
#include "flowop/arrival_law/schedule.h"
#include "flowop/flowop.h"
#include "transport/io.h"
#include "transport/transport.h"

#define CHUNK	 4096u
#define MESSAGE	 10000u
#define MESSAGES 50u
#define PATIENCE 5000 /* ms */

/* The other end of discard; only its address matters here. */
const struct nm_flowop nm_flowop_write = {.name = "write"};

extern const struct nm_flowop nm_flowop_discard;
extern const struct nm_arrival_law nm_arrival_law_paired;
const struct nm_arrival_law *const nm_arrival_laws[] = {&nm_arrival_law_paired, NULL};
extern const struct nm_transport nm_transport_lowat, nm_transport_unix;

static _Noreturn void fail(const char *what, int error)
{
	fprintf(stderr, "%s: %s\n", what, strerror(error));
	exit(1);
}

static void check(const char *what, long answer)
{
	if (answer < 0)
		fail(what, (int)-answer);
}

static void wait_for(int fd, short events)
{
	struct pollfd one = {.fd = fd, .events = events};

	if (poll(&one, 1, PATIENCE) != 1)
		fail("nothing happens", ETIMEDOUT);
}

/* A connected pair over the transport: ends[0] has connected, ends[1] has accepted. */
static void connect_pair(const struct nm_transport *transport, struct nm_conn ends[2])
{
	struct nm_addr here = {.len = sizeof(struct sockaddr_in)}, to;
	struct sockaddr_in *in = (struct sockaddr_in *)(void *)&here.sa;
	void *opts = calloc(1, transport->opts_size);
	char text[NM_ENDPOINT_TEXT] = "";
	int listener;

	if (!opts)
		fail("calloc", ENOMEM);
	in->sin_family = AF_INET;
	in->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	check("defaults", nm_opts_defaults(transport->opts, opts));
	check("listen", transport->listen(opts, &here, NM_LISTEN_FIRST, 16, text, &listener));
	if (transport->endpoint(&here,
				"no such place at all, and far too long for any address, which "
				"a peer might send nevertheless to see what becomes of it",
				&to) == 0)
		fail("an endpoint that is none was taken", EINVAL);
	check("endpoint", transport->endpoint(&here, text, &to));
	int r = transport->connect(&ends[0], opts, &to);
	if (r == -EINPROGRESS) {
		wait_for(ends[0].fd, POLLOUT);
		r = transport->established(&ends[0]);
	}
	check("connect", r);
	wait_for(listener, POLLIN);
	check("accept", transport->accept(&ends[1], listener, opts, NULL));
	if (transport->accept(&(struct nm_conn){.fd = -1}, listener, opts, NULL) != -EAGAIN)
		fail("a connection came from nowhere", EINVAL);
	ends[0].transport = ends[1].transport = transport;
	nm_opts_fini(transport->opts, opts);
	free(opts);
	close(listener);
}

/* Sends what there is room for. */
static void fill(struct nm_conn *conn, char *data, size_t *left)
{
	while (*left) {
		ssize_t n = nm_conn_call_send(conn, NULL, data, *left < 7000 ? *left : 7000);

		if (n == -EAGAIN)
			return;
		check("send", n);
		*left -= (size_t)n;
	}
}

static void receive_all(const struct nm_transport *transport, struct nm_conn ends[2])
{
	static char tx[CHUNK * 2], rx[CHUNK + 1];
	struct nm_counters count = {0};
	struct nm_io io = {.tx = tx,
			   .rx = rx,
			   .chunk = CHUNK,
			   .count = &count,
			   .recv_flags = MSG_DONTWAIT,
			   .in_kept = ~(uint32_t)NM_CONN_IN};
	const struct nm_instr instr = {.size = MESSAGE, .transport = transport};
	struct nm_flow flow = {.conn = &ends[1]};
	size_t left = (size_t)MESSAGE * MESSAGES;
	unsigned messages = 0;

	while (messages < MESSAGES) {
		fill(&ends[0], tx, &left);
		enum nm_step answer = nm_flowop_discard.step(&io, &flow, &instr);

		if (answer == NM_STEP_NEXT) {
			messages++;
			if (flow.left)
				fail("a message ended before its end", EINVAL);
		} else if (answer == NM_STEP_WAIT_IN) {
			wait_for(flow.conn->fd, POLLIN);
			flow.conn->flags |= NM_CONN_IN;
		} else if (answer != NM_STEP_YIELD) {
			fail("discard", flow.error);
		}
	}
	if (nm_counter_read(&count.bytes_received) != (uint64_t)MESSAGE * MESSAGES ||
	    flow.conn->ahead)
		fail("wrong number of bytes", EINVAL);

	transport->close(&ends[0], false);
	wait_for(flow.conn->fd, POLLIN);
	flow.conn->flags |= NM_CONN_IN | NM_CONN_HUP;
	if (nm_flowop_discard.step(&io, &flow, &instr) != NM_STEP_FAIL || flow.error != ECONNRESET)
		fail("the end of the stream was not noticed", EINVAL);
	transport->close(flow.conn, false);
}

/* The second of each pair comes earlier, and the same again. */
static void look_at_arrivals(void)
{
	struct nm_arrivals arrivals;
	struct nm_schedule schedule;
	char why[512];

	if (nm_arrivals_parse("paired(1M/s,0.75)", 1000000000, &arrivals, why, sizeof why) < 0)
		fail(why, EINVAL);
	if (nm_schedule_init(&schedule, 0, 1, NM_LANES) < 0)
		fail("no memory", ENOMEM);
	nm_schedule_begin(&schedule, &arrivals, 7);
	for (unsigned i = 0; i < 100000; i++) {
		double place = i % 2 ? i - 0.25 : i + 0.5;
		const struct nm_lane *lane = &schedule.lanes[0];

		if (lane->place != place || arrivals.law->place(lane, &arrivals) != place ||
		    fabs(nm_schedule_at_ns(&schedule) - place * 1000) > 1e-3)
			fail("an arrival is not where it should be, or not repeated", EINVAL);
		nm_schedule_step(&schedule);
	}
	nm_schedule_fini(&schedule);
}

int main(int argc, char **argv)
{
	const struct nm_transport *all[] = {&nm_transport_lowat, &nm_transport_unix};
	struct nm_conn ends[2] = {{.fd = -1}, {.fd = -1}};

	if (argc == 2 && strcmp(argv[1], nm_arrival_law_paired.name) == 0) {
		look_at_arrivals();
		return 0;
	}
	for (size_t i = 0; argc == 2 && i < sizeof all / sizeof *all; i++) {
		if (strcmp(all[i]->name, argv[1]) != 0)
			continue;
		connect_pair(all[i], ends);
		receive_all(all[i], ends);
		return 0;
	}
	fprintf(stderr, "usage: drive_examples TRANSPORT|LAW\n");
	return 2;
}
