/* SPDX-License-Identifier: Apache-2.0 */
/* Listeners that serve several flows: who gets in and to which worker, over transports of local
 * sockets. */
#include "engine/accept/rendezvous.h"

#include <check.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#include "../suite.h"
#include "accepting.h"
#include "engine/accept/handoff.h"
#include "engine/accept/pending.h"
#include "engine/accept/rendezvous_listeners.h"
#include "engine/accept/rendezvous_streams.h"
#include "host/clock.h"
#include "transport/optional.h"

static struct accepting a;
static struct nm_rendezvous *rendezvous;
static _Atomic int failure, n_met;
static struct sockaddr_un at; /* of the listener that was opened last */
static socklen_t at_len;

/* A listening socket at an address that the kernel chooses. */
static int listen_local(int type, int *ret_fd)
{
	struct sockaddr_un any = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (failure)
		return failure;
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&any, sizeof any.sun_family), 0);
	if (type == SOCK_STREAM)
		ck_assert_int_eq(listen(fd, 8), 0);
	at_len = sizeof at;
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&at, &at_len), 0);
	*ret_fd = fd;
	return 0;
}

static int stream_listen(const void *opts, const struct nm_addr *local, enum nm_listen how,
			 int backlog, char text[NM_ENDPOINT_TEXT], int *ret_fd)
{
	(void)opts;
	(void)local;
	(void)backlog;
	if (how == NM_LISTEN_SHARED)
		return -EOPNOTSUPP;
	snprintf(text, NM_ENDPOINT_TEXT, "here");
	return listen_local(SOCK_STREAM, ret_fd);
}

static int datagram_listen(const void *opts, const struct nm_addr *local, enum nm_listen how,
			   int backlog, char text[NM_ENDPOINT_TEXT], int *ret_fd)
{
	(void)opts;
	(void)local;
	(void)backlog;
	(void)text;
	return how == NM_LISTEN_SHARED ? -EOPNOTSUPP : listen_local(SOCK_DGRAM, ret_fd);
}

static int fake_meet(int listen_fd, bool same_port, const void *opts, const struct nm_addr *peer)
{
	(void)same_port;
	(void)opts;
	(void)peer;
	n_met++;
	if (failure)
		return failure;
	return dup(listen_fd);
}

static uint32_t fake_port_of(const struct nm_conn *conn)
{
	(void)conn;
	return 4000 + (uint32_t)n_met;
}

static const struct nm_transport_datagram fake_datagram = {.accept = fake_meet,
							   .port_of = fake_port_of};
static const struct nm_transport stream = {.name = "stream", .listen = stream_listen},
				 datagram = {.name = "datagram",
					     .listen = datagram_listen,
					     .datagram = &fake_datagram};

static void start(const struct nm_transport *transport)
{
	char why[200] = "";

	accepting_init(&a, transport);
	n_met = failure = 0;
	for (uint32_t w = 0; w < N_WORKERS; w++)
		ck_assert_int_eq(nm_handoff_open(a.workers[w].accept.handoff), 0);
	ck_assert_int_eq(nm_rendezvous_open(&a.engine, &rendezvous, why, sizeof why), 0);
	ck_assert_ptr_nonnull(rendezvous);
	ck_assert_int_eq(nm_rendezvous_start(rendezvous), 0);
}

static void stop(void)
{
	rendezvous = nm_rendezvous_free(rendezvous);
	ck_assert_ptr_null(rendezvous);
	for (uint32_t w = 0; w < N_WORKERS; w++)
		nm_handoff_close(a.workers[w].accept.handoff);
}

static int connect_to(int type)
{
	struct sockaddr_un any = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);

	if (type == SOCK_DGRAM)
		ck_assert_int_eq(bind(fd, (struct sockaddr *)&any, sizeof any.sun_family), 0);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&at, at_len), 0);
	return fd;
}

static void pack(const struct nm_preamble *preamble, char wire[NM_PREAMBLE_BYTES])
{
	accepting_pack(&a, preamble, NM_PREAMBLE_HELLO, wire);
}

/* Waits until the descriptor is readable, for a long time at most. */
static bool becomes_readable(int fd)
{
	struct pollfd one = {.fd = fd, .events = POLLIN};

	return poll(&one, 1, 30000) == 1;
}

/* The connection that is handed to the worker: its descriptor, for the flow. */
static int handed_over(uint32_t w, uint32_t expected_flow)
{
	const int *pair = a.workers[w].accept.handoff;
	uint32_t opening = 99, flow = 99;
	int fd = -1;

	ck_assert(becomes_readable(pair[0]));
	ck_assert_int_eq(nm_handoff_receive(pair, &opening, &flow, &fd), 0);
	ck_assert_uint_eq(opening, 1);
	ck_assert_uint_eq(flow, expected_flow);
	return fd;
}

static bool is_closed(int fd)
{
	char byte;

	return becomes_readable(fd) && recv(fd, &byte, 1, 0) <= 0;
}

START_TEST(a_plan_without_preambles_needs_none)
{
	accepting_init(&a, &stream);
	a.instrs[2].open.has_preamble = false;
	ck_assert_int_eq(nm_rendezvous_open(&a.engine, &rendezvous, NULL, 0), 0);
	ck_assert_ptr_null(rendezvous);
	a.instrs[2].open.has_preamble = true;
	a.group.runs = false; /* the preambles are for another host */
	ck_assert_int_eq(nm_rendezvous_open(&a.engine, &rendezvous, NULL, 0), 0);
	ck_assert_ptr_null(rendezvous);
	ck_assert_ptr_null(nm_rendezvous_free(NULL));
}
END_TEST

START_TEST(a_stream_gets_to_the_worker_of_its_flow)
{
	struct nm_preamble preamble = accepting_preamble(3, 1);
	char wire[NM_PREAMBLE_BYTES], data[5];

	start(&stream);
	ck_assert_str_eq(a.texts[0][1], "here");
	ck_assert_str_eq(a.texts[1][1], "here");
	pack(&preamble, wire);
	int fd = connect_to(SOCK_STREAM);

	/* In pieces, and what follows is left to the flow. */
	ck_assert_int_eq(send(fd, wire, 5, 0), 5);
	ck_assert_int_eq(send(fd, wire + 5, sizeof wire - 5, 0), sizeof wire - 5);
	ck_assert_int_eq(send(fd, "data", 5, 0), 5);
	int taken = handed_over(1, 3);

	ck_assert(becomes_readable(taken));
	ck_assert_int_eq(recv(taken, data, sizeof data, 0), 5);
	ck_assert_str_eq(data, "data");
	close(taken);
	close(fd);
	stop();
}
END_TEST

START_TEST(strangers_are_turned_away)
{
	struct nm_preamble preamble = accepting_preamble(3, 1);
	char wire[NM_PREAMBLE_BYTES];

	start(&stream);
	pack(&preamble, wire);
	wire[sizeof wire - 1] ^= 1;
	int fds[3] = {connect_to(SOCK_STREAM), connect_to(SOCK_STREAM), connect_to(SOCK_STREAM)};

	ck_assert_int_eq(send(fds[0], wire, sizeof wire, 0), sizeof wire);
	ck_assert_int_eq(send(fds[1], "GET /", 5, 0), 5);
	(void)shutdown(fds[2], SHUT_WR);
	for (int i = 0; i < 3; i++) {
		ck_assert(is_closed(fds[i]));
		close(fds[i]);
	}
	stop();
}
END_TEST

START_TEST(what_is_not_complete_in_the_end_is_closed)
{
	start(&stream);
	int silent = connect_to(SOCK_STREAM), begun = connect_to(SOCK_STREAM);

	ck_assert_int_eq(send(begun, "nm", 2, 0), 2);
	usleep(10000);
	stop();
	ck_assert(is_closed(silent) && is_closed(begun));
	close(silent);
	close(begun);
}
END_TEST

/* What is lost of a preamble is sent again, later each time. */
static const struct {
	uint64_t timeout_s, waits_s;
} patience[] = {{1, 5}, {20, 20}, {600, 120}};

START_TEST(a_preamble_may_take_as_long_as_the_run_waits)
{
	uint64_t waits_ns = patience[_i].waits_s * 1000000000u, began_ns = nm_clock_ns();
	struct nm_rendezvous_listeners listeners;
	struct nm_rendezvous_streams streams;

	accepting_init(&a, &stream);
	a.engine.timeout_ns = patience[_i].timeout_s * 1000000000u;
	failure = 0;
	ck_assert_int_eq(nm_rendezvous_listeners_open(&listeners, &a.engine, NULL, 0), 0);
	ck_assert_int_eq(nm_rendezvous_streams_init(&streams, &listeners), 0);
	int fd = connect_to(SOCK_STREAM);

	nm_rendezvous_streams_take(&streams, &listeners.each[0].sockets[0]);
	nm_rendezvous_streams_run_timers(&streams, began_ns + waits_ns - 1);
	ck_assert(nm_rendezvous_streams_have_timers(&streams));
	nm_rendezvous_streams_run_timers(&streams, nm_clock_ns() + waits_ns);
	ck_assert(!nm_rendezvous_streams_have_timers(&streams));
	ck_assert(is_closed(fd));
	close(fd);
	nm_rendezvous_streams_fini(&streams);
	nm_rendezvous_listeners_close(&listeners);
}
END_TEST

START_TEST(accepts_share_a_port_that_the_profile_names)
{
	char why[200] = "";

	accepting_init(&a, &stream);
	a.instrs[0] = a.instrs[2];
	a.instrs[0].opening = 0;
	a.instrs[0].open.port = a.instrs[2].open.port = 5000;
	failure = 0;
	ck_assert_int_eq(nm_rendezvous_open(&a.engine, &rendezvous, why, sizeof why), 0);
	ck_assert_str_eq(a.texts[0][0], "here");
	ck_assert_str_eq(a.texts[0][1], "here");
	rendezvous = nm_rendezvous_free(rendezvous);
	failure = -EADDRINUSE;
	ck_assert_int_eq(nm_rendezvous_open(&a.engine, &rendezvous, why, sizeof why), -EADDRINUSE);
	ck_assert_ptr_null(rendezvous);
	ck_assert_str_eq(why, "cannot listen for the accept at line 7 on port here: Address "
			      "already in use");
	a.instrs[0].open.port = a.instrs[2].open.port = 0;
	ck_assert_int_eq(nm_rendezvous_open(&a.engine, &rendezvous, why, sizeof why), -EADDRINUSE);
	ck_assert(strstr(why, "cannot listen for the accept at line 7: no port of this host is "
			      "free (sysctl net.ipv4.ip_local_port_range"));
}
END_TEST

/* What is replied to a hello. */
static enum nm_preamble_reply say_hello(int fd, const struct nm_preamble *preamble,
					struct nm_preamble_sender *sender, uint32_t *ret_port)
{
	struct nm_preamble hello = *preamble;
	char wire[NM_PREAMBLE_BYTES];

	memcpy(hello.cookie, sender->cookie, sizeof hello.cookie);
	pack(&hello, wire);
	ck_assert_int_eq(send(fd, wire, sizeof wire, 0), sizeof wire);
	ck_assert(becomes_readable(fd));
	ssize_t n = recv(fd, wire, sizeof wire, 0);

	ck_assert(n > 0);
	return nm_preamble_read_reply(sender, preamble, wire, (size_t)n, a.prover, a.engine.nonce,
				      ret_port);
}

/* Says hello, and again what it is challenged to; the port that the answer names. */
static uint32_t ask(int fd, const struct nm_preamble *preamble)
{
	struct nm_preamble_sender sender = {.serial = preamble->serial};
	uint32_t port = 0;
	int before = n_met;

	ck_assert_int_eq(say_hello(fd, preamble, &sender, &port), NM_PREAMBLE_CHALLENGED);
	ck_assert_int_eq(n_met, before);
	ck_assert_int_eq(say_hello(fd, preamble, &sender, &port), NM_PREAMBLE_ANSWERED);
	return port;
}

START_TEST(a_datagram_is_answered_and_makes_one_connection)
{
	struct nm_preamble preamble = accepting_preamble(2, 5);
	char wire[NM_PREAMBLE_BYTES];

	start(&datagram);
	int fd = connect_to(SOCK_DGRAM);

	ck_assert_uint_eq(ask(fd, &preamble), 4001);
	close(handed_over(0, 2));
	ck_assert_uint_eq(ask(fd, &preamble), 4001); /* repeated */
	preamble.serial = 6;
	ck_assert_uint_eq(ask(fd, &preamble), 4002);
	close(handed_over(0, 2));
	/* What is late, or a stranger's, or no preamble at all, is not answered. */
	preamble.serial = 5;
	pack(&preamble, wire);
	ck_assert_int_eq(send(fd, wire, sizeof wire, 0), sizeof wire);
	ck_assert(becomes_readable(fd)); /* a challenge, before it is looked at */
	ck_assert_int_eq(recv(fd, wire, sizeof wire, 0), sizeof wire);
	ck_assert_int_eq(send(fd, wire, 7, 0), 7);
	preamble = accepting_preamble(N_FLOWS, 7);
	pack(&preamble, wire);
	ck_assert_int_eq(send(fd, wire, sizeof wire, 0), sizeof wire);
	preamble = accepting_preamble(1, 1);
	ck_assert_uint_eq(ask(fd, &preamble), 4003);
	close(handed_over(1, 1));
	ck_assert_int_eq(n_met, 3);
	close(fd);
	stop();
}
END_TEST

/* Until the rendezvous has found no port for the connection once more, which it does not answer. */
static bool lacks_port(int fd, const struct nm_preamble *preamble,
		       struct nm_preamble_sender *sender)
{
	struct nm_preamble hello = *preamble;
	struct nm_engine_error error;
	char wire[NM_PREAMBLE_BYTES];
	int before = n_met;

	memcpy(hello.cookie, sender->cookie, sizeof hello.cookie);
	pack(&hello, wire);
	ck_assert_int_eq(send(fd, wire, sizeof wire, 0), sizeof wire);
	while (n_met == before)
		usleep(1000);
	usleep(20000); /* it tells just after that */
	return nm_rendezvous_lacks_port(rendezvous, &error);
}

START_TEST(ports_that_are_lacked_for_a_moment_are_no_failure)
{
	struct nm_preamble preamble = accepting_preamble(2, 5);
	struct nm_preamble_sender sender = {.serial = 5};
	uint32_t port = 0;

	start(&datagram);
	a.engine.event_fd = -1;
	int fd = connect_to(SOCK_DGRAM);

	ck_assert_int_eq(say_hello(fd, &preamble, &sender, &port), NM_PREAMBLE_CHALLENGED);
	failure = -EADDRINUSE;
	ck_assert(!lacks_port(fd, &preamble, &sender));
	failure = 0;
	ck_assert_int_eq(say_hello(fd, &preamble, &sender, &port), NM_PREAMBLE_ANSWERED);
	close(handed_over(0, 2));
	usleep(600000);
	preamble.serial = sender.serial = 6;
	ck_assert_int_eq(say_hello(fd, &preamble, &sender, &port), NM_PREAMBLE_CHALLENGED);
	failure = -EADDRINUSE;
	ck_assert(!lacks_port(fd, &preamble, &sender));
	usleep(600000);
	ck_assert(lacks_port(fd, &preamble, &sender));
	close(fd);
	stop();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("rendezvous");
	TCase *tcase = tcase_create("rendezvous");

	tcase_add_test(tcase, a_plan_without_preambles_needs_none);
	tcase_add_test(tcase, a_stream_gets_to_the_worker_of_its_flow);
	tcase_add_test(tcase, strangers_are_turned_away);
	tcase_add_test(tcase, what_is_not_complete_in_the_end_is_closed);
	tcase_add_loop_test(tcase, a_preamble_may_take_as_long_as_the_run_waits, 0,
			    sizeof patience / sizeof *patience);
	tcase_add_test(tcase, accepts_share_a_port_that_the_profile_names);
	tcase_add_test(tcase, a_datagram_is_answered_and_makes_one_connection);
	tcase_add_test(tcase, ports_that_are_lacked_for_a_moment_are_no_failure);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
