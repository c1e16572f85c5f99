/* SPDX-License-Identifier: Apache-2.0 */
/* Both ends of a connection, driven by hand in one process: of test_conformance.c alone. */
#ifndef NM_TEST_ENDS_H
#define NM_TEST_ENDS_H

#include <check.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../suite.h"
#include "base/opt.h"
#include "transport/io.h"

#define CHUNK	 4096u
#define PATIENCE 5000 /* ms */
#define LARGE	 3000000u

static char tx[CHUNK], rx[CHUNK + 1];

struct end {
	struct nm_conn conn;
	struct nm_io io;
	struct nm_counters count;
	void *opts, *started;
	bool ready;
};

static const struct nm_transport *t;
static struct end client, server;
static struct nm_addr here, to;
static char text[NM_ENDPOINT_TEXT];
static int listen_fd;

static bool has(unsigned cap)
{
	return t->caps & cap;
}

/* PSP needs a network card that has it. */
static bool opens_here(void)
{
	return strcmp(t->name, "psp") != 0;
}

static bool is_stream(void)
{
	return opens_here() && !has(NM_TRANSPORT_NO_PEER) && !t->datagram;
}

static void begin_end(struct end *end, const char *const *options, bool accepting)
{
	const struct nm_start how = {
		.accepting = accepting,
		.peer_name = "local",
		.peer = &here,
		.local = &here,
		.secret = (const unsigned char *)"01234567890123456789012345678901"};
	struct nm_why said = {.option = NULL};
	char why[256] = "";

	memset(end, 0, sizeof *end);
	end->opts = calloc(1, t->opts_size);
	ck_assert_ptr_nonnull(end->opts);
	ck_assert_int_eq(nm_opts_defaults(t->opts, end->opts), 0);
	for (; options && *options; options += 2) {
		const struct nm_opt *opt = nm_opt_find(t->opts, options[0]);

		ck_assert_msg(opt && nm_opt_set(opt, end->opts, options[1], why, sizeof why) == 0,
			      "%s: %s %s", t->name, options[0], why);
	}
	ck_assert_msg(nm_transport_prepare(t, end->opts, &said) == 0, "%s", said.text);
	ck_assert_int_eq(nm_transport_check_group(t, end->opts, 1, 0, &said), 0);
	if (t->checks && t->checks->mirror && accepting)
		t->checks->mirror(end->opts);
	if (t->shared)
		ck_assert_msg(t->shared->start(end->opts, &how, &end->started, why, sizeof why) ==
				      0,
			      "%s: %s", t->name, why);
	end->io = (struct nm_io){.tx = tx,
				 .rx = rx,
				 .chunk = CHUNK,
				 .count = &end->count,
				 .recv_flags = MSG_DONTWAIT,
				 .in_kept = ~(uint32_t)NM_CONN_IN};
	end->conn = (struct nm_conn){.fd = -1, .transport = t, .state = end->started};
}

static void end_end(struct end *end)
{
	if (end->conn.flags & NM_CONN_OPEN)
		t->close(&end->conn, false);
	if (t->shared && t->shared->stop && end->started)
		t->shared->stop(end->started);
	nm_opts_fini(t->opts, end->opts);
	free(end->opts);
}

/* Both ends have the options, and one listens. */
static void begin_with(const struct nm_transport *transport, const char *const *options)
{
	struct sockaddr_in *in = (struct sockaddr_in *)(void *)&here.sa;

	t = transport;
	memset(&here, 0, sizeof here);
	here.len = sizeof *in;
	in->sin_family = AF_INET;
	in->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	begin_end(&client, options, false);
	begin_end(&server, options, true);
	*text = '\0';
	listen_fd = -1;
	if (!t->listen)
		return;
	ck_assert_int_eq(t->listen(server.opts, &here, NM_LISTEN_FIRST, 64, text, &listen_fd), 0);
	ck_assert_int_ge(listen_fd, 0);
	ck_assert_int_eq(t->endpoint(&here, text, &to), 0);
}

static void begin(const struct nm_transport *transport)
{
	begin_with(transport, NULL);
}

static void end(void)
{
	end_end(&client);
	end_end(&server);
	if (listen_fd >= 0)
		(void)close(listen_fd);
}

static bool is_readable(int fd, int ms)
{
	struct pollfd one = {.fd = fd, .events = POLLIN};

	return poll(&one, 1, ms) > 0;
}

static void wait_for(int fd, short events)
{
	struct pollfd one = {.fd = fd, .events = events};

	ck_assert_msg(poll(&one, 1, PATIENCE) > 0, "%s: nothing happens", t->name);
}

/* Goes on with a connection that is not ready: 0, -EAGAIN, -EINPROGRESS or the error. */
static int go_on(struct end *end)
{
	int r = t->established(&end->conn);

	if (r == 0 && (end->conn.flags & NM_CONN_UNSETTLED))
		r = t->socket->settle(&end->conn, end->opts);
	end->ready = r == 0;
	return r;
}

/* Without a listener's queue: a datagram says where its sender can be answered. */
static void open_by_datagram(void)
{
	struct nm_addr peer = {.len = sizeof peer.sa};
	char bytes[4];

	ck_assert_int_eq(t->connect(&client.conn, client.opts, &to), 0);
	ck_assert_int_eq(
		sendto(client.conn.fd, "hey", 4, 0, (const struct sockaddr *)&to.sa, to.len), 4);
	wait_for(listen_fd, POLLIN);
	ck_assert_int_eq(
		recvfrom(listen_fd, bytes, sizeof bytes, 0, (struct sockaddr *)&peer.sa, &peer.len),
		4);
	int fd = t->datagram->accept(listen_fd, false, server.opts, &peer);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(t->preamble->attach(&server.conn, fd, server.opts), 0);
	uint32_t port = t->datagram->port_of(&server.conn);

	ck_assert_uint_ne(port, 0);
	ck_assert_int_eq(t->datagram->retarget(&client.conn, &to, 70000), -EPROTO);
	ck_assert_int_eq(t->datagram->retarget(&client.conn, &to, port), 0);
}

/* What `connect` or `accept` has answered. */
static void note(struct end *end, int r)
{
	ck_assert_msg(r == 0 || r == -EINPROGRESS, "%s: %s", t->name, strerror(-r));
	end->ready = r == 0;
}

static void open_pair(void)
{
	if (t->datagram) {
		open_by_datagram();
		return;
	}
	client.ready = server.ready = false;
	note(&client, t->connect(&client.conn, client.opts, &to));
	if (listen_fd >= 0)
		wait_for(listen_fd, POLLIN);
	note(&server, t->accept(&server.conn, listen_fd, server.opts, NULL));
	for (int turns = 0; !client.ready || !server.ready; turns++) {
		ck_assert_msg(turns < PATIENCE, "%s: the handshake does not end", t->name);
		int c = client.ready ? 0 : go_on(&client);
		int s = server.ready ? 0 : go_on(&server);

		ck_assert_msg(c == 0 || c == -EINPROGRESS || c == -EAGAIN, "%s", strerror(-c));
		ck_assert_msg(s == 0 || s == -EINPROGRESS || s == -EAGAIN, "%s", strerror(-s));
		(void)usleep(1000);
	}
	ck_assert(client.conn.flags & NM_CONN_OPEN && client.conn.flags & NM_CONN_OUT);
	ck_assert(server.conn.flags & NM_CONN_OPEN && server.conn.flags & NM_CONN_OUT);
	ck_assert(has(NM_TRANSPORT_NO_PEER) || (server.conn.traits & NM_CONN_ACCEPTED));
	ck_assert(!(client.conn.traits & NM_CONN_ACCEPTED));
}

/* An event: what the waiter would tell. */
static void wake(struct end *end, short events)
{
	if (end->conn.fd >= 0)
		wait_for(end->conn.fd, events);
	end->conn.flags |=
		(events & POLLIN ? NM_CONN_IN : 0u) | (events & POLLOUT ? NM_CONN_OUT : 0u);
}

/* Receives so many bytes, as a step does. */
static void receive_all(struct end *end, uint64_t size)
{
	ssize_t n;

	while (size) {
		if (!(end->conn.flags & (NM_CONN_IN | NM_CONN_HUP)))
			wake(end, POLLIN);
		size_t want = size < CHUNK ? (size_t)size : CHUNK;
		enum nm_io_status status = nm_conn_recv(&end->io, &end->conn, want, &n);

		ck_assert_msg(status < NM_IO_EOF, "%s: %s", t->name, strerror((int)-n));
		ck_assert(status == NM_IO_AGAIN ? n == 0 : n > 0);
		size -= (uint64_t)n;
	}
}

#endif
