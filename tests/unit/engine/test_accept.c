/* SPDX-License-Identifier: Apache-2.0 */
/* Which flow a connection is for, and its way there: what is pending, listeners and their queues,
 * ports, hand-off, and peers behind one socket. */
#include "engine/accept/pending.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "../suite.h"
#include "accepting.h"
#include "engine/accept/handoff.h"
#include "engine/accept/listener.h"
#include "engine/accept/mux.h"
#include "engine/accept/ports.h"
#include "transport/optional.h"

static struct accepting a;

/* --- a transport of the test --- */

static int listens, fails_from;	   /* calls of listen; which of them fail */
static int failure;		   /* how */
static unsigned long first_chosen; /* by the kernel */
static uint32_t n_ports;
static enum nm_listen how_listened[128];
static unsigned long port_listened[128];

static int fake_listen(const void *opts, const struct nm_addr *local, enum nm_listen how,
		       int backlog, char text[NM_ENDPOINT_TEXT], int *ret_fd)
{
	(void)opts;
	(void)local;
	ck_assert_int_gt(backlog, 0);
	if (listens < 128) {
		how_listened[listens] = how;
		port_listened[listens] = strtoul(text, NULL, 10);
	}
	if (listens++ >= fails_from)
		return failure;
	if (how == NM_LISTEN_FIRST)
		snprintf(text, NM_ENDPOINT_TEXT, "%lu", first_chosen);
	*ret_fd = eventfd(0, EFD_CLOEXEC);
	return 0;
}

static uint32_t fake_ports(const void *opts)
{
	(void)opts;
	return n_ports;
}

static const struct nm_transport_socket fake_socket = {.ports = fake_ports};
static const struct nm_transport fake = {.name = "fake",
					 .listen = fake_listen,
					 .socket = &fake_socket},
				 fake_mux = {.name = "fake",
					     .caps = NM_TRANSPORT_MUX,
					     .listen = fake_listen,
					     .socket = &fake_socket};

static void setup(void)
{
	accepting_init(&a, &fake);
	listens = 0;
	fails_from = INT_MAX;
	failure = -EADDRINUSE;
	first_chosen = 40000;
	n_ports = 1;
}

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

/* --- whose it is --- */

START_TEST(a_preamble_means_the_accept_of_its_opening)
{
	struct nm_preamble preamble = accepting_preamble(3, 1);

	ck_assert_ptr_eq(nm_pending_find_accept(&a.plan, &preamble), &a.instrs[2]);
}
END_TEST

START_TEST(a_preamble_of_anything_else_means_nothing)
{
	struct nm_preamble preamble = accepting_preamble(3, 1);

	preamble.flow = N_FLOWS;
	ck_assert_ptr_null(nm_pending_find_accept(&a.plan, &preamble));
	preamble = accepting_preamble(3, 1);
	preamble.group = 1;
	ck_assert_ptr_null(nm_pending_find_accept(&a.plan, &preamble));
	preamble = accepting_preamble(3, 1);
	preamble.opening = 0; /* a connect */
	ck_assert_ptr_null(nm_pending_find_accept(&a.plan, &preamble));
	preamble.opening = 2;
	ck_assert_ptr_null(nm_pending_find_accept(&a.plan, &preamble));
	preamble.opening = 1;
	a.group.runs = false;
	ck_assert_ptr_null(nm_pending_find_accept(&a.plan, &preamble));
}
END_TEST

START_TEST(an_accept_without_preambles_is_not_meant)
{
	struct nm_preamble preamble = accepting_preamble(0, 1);

	a.instrs[2].open.has_preamble = false;
	ck_assert_ptr_null(nm_pending_find_accept(&a.plan, &preamble));
}
END_TEST

START_TEST(only_what_the_flow_waits_for_is_awaited)
{
	struct nm_flow *flow = &a.flows[0][0];

	flow->at = &a.instrs[2];
	flow->state = NM_FLOW_PARKED;
	ck_assert(!nm_pending_is_awaited(flow));
	ck_assert_int_eq(nm_pending_add(flow, 0, -1, NULL), 0);
	ck_assert(!nm_pending_is_awaited(flow));
	ck_assert_int_eq(nm_pending_add(flow, 1, -1, NULL), 0);
	ck_assert(nm_pending_is_awaited(flow));
	flow->state = NM_FLOW_WAITING;
	ck_assert(!nm_pending_is_awaited(flow));
	flow->state = NM_FLOW_PARKED;
	a.instrs[2].open.has_preamble = false;
	ck_assert(!nm_pending_is_awaited(flow));
	nm_pending_close(flow);
}
END_TEST

START_TEST(pending_ones_are_closed_in_the_end)
{
	struct nm_flow *flow = &a.flows[0][0];
	int fd = eventfd(0, 0);

	ck_assert_int_eq(nm_pending_add(flow, 1, fd, NULL), 0);
	ck_assert_int_eq(nm_pending_add(flow, 1, -1, NULL), 0);
	ck_assert_int_eq(flow->pending->fd, fd); /* the oldest comes first */
	nm_pending_close(flow);
	ck_assert_ptr_null(flow->pending);
	ck_assert(!is_open(fd));
}
END_TEST

/* --- the queue of a listener --- */

START_TEST(the_flow_that_was_parked_first_is_next)
{
	struct nm_listener listener = {.first = NULL};
	struct nm_listen_fd one = {.listener = &listener, .ready = true};
	struct nm_flow *flows = a.flows[0];

	ck_assert_ptr_null(nm_listener_next(&one));
	listener.first = &flows[0];
	listener.last = flows[0].next = &flows[1];
	ck_assert_ptr_eq(nm_listener_next(&one), &flows[0]);
	ck_assert_ptr_null(flows[0].next);
	one.ready = false;
	ck_assert_ptr_null(nm_listener_next(&one));
	one.ready = true;
	ck_assert_ptr_eq(nm_listener_next(&one), &flows[1]);
	ck_assert_ptr_null(listener.first);
	ck_assert_ptr_null(listener.last);
}
END_TEST

START_TEST(a_flow_may_leave_the_queue_from_anywhere)
{
	struct nm_flow f[4] = {{.index = 0}};
	struct nm_listener listener = {.first = &f[0], .last = &f[2]};

	f[0].next = &f[1];
	f[1].next = &f[2];
	nm_listener_unpark(&listener, &f[3]);
	ck_assert_ptr_eq(listener.last, &f[2]);
	nm_listener_unpark(&listener, &f[1]);
	ck_assert_ptr_eq(f[0].next, &f[2]);
	nm_listener_unpark(&listener, &f[2]);
	ck_assert_ptr_eq(listener.last, &f[0]);
	nm_listener_unpark(&listener, &f[0]);
	ck_assert_ptr_null(listener.first);
	ck_assert_ptr_null(listener.last);
	listener.first = listener.last = &f[3];
	nm_listener_unpark_all(&listener);
	ck_assert_ptr_null(listener.first);
}
END_TEST

static void own_listeners(void)
{
	a.instrs[2].open.has_preamble = false;
	for (uint32_t w = 0; w < N_WORKERS; w++)
		a.workers[w].epoll_fd = epoll_create1(EPOLL_CLOEXEC);
}

START_TEST(each_worker_has_its_own_listener)
{
	struct nm_worker *worker = &a.workers[1];
	char why[200] = "";

	own_listeners();
	ck_assert_int_eq(nm_listeners_open(worker, why, sizeof why), 0);
	struct nm_listener *listener = &worker->accept.listeners[1];

	ck_assert_uint_eq(listener->n_fds, 1);
	ck_assert_str_eq(worker->accept.texts[1], "40000");
	ck_assert_uint_eq(worker->accept.listeners[0].n_fds, 0);
	ck_assert(!listener->single);
	ck_assert_int_eq(nm_listener_watch(worker, &listener->fds[0], false), 0);
	ck_assert_int_eq(nm_listener_watch(worker, &listener->fds[0], true), 0);
	nm_listeners_close(worker);
}
END_TEST

START_TEST(what_cannot_listen_says_where)
{
	char why[200] = "";

	own_listeners();
	fails_from = 0;
	ck_assert_int_eq(nm_listeners_open(&a.workers[0], why, sizeof why), -EADDRINUSE);
	ck_assert(strstr(why, "cannot listen for the accept at line 7: no port of this host is "
			      "free (sysctl net.ipv4.ip_local_port_range"));
	nm_listeners_close(&a.workers[0]);
}
END_TEST

START_TEST(with_preambles_no_worker_listens)
{
	char why[200] = "";

	ck_assert_int_eq(nm_listeners_open(&a.workers[0], why, sizeof why), 0);
	ck_assert_int_eq(listens, 0);
}
END_TEST

/* One flow, and an accept that is repeated: whether a second connection can be queued depends on
 * what follows. */
static bool is_single(const char *next)
{
	char why[200] = "";

	setup();
	own_listeners();
	a.group.n_flows = a.group.n_workers = a.workers[0].n_flows = 1;
	a.instrs[2].step = a.instrs[2].op->step;
	a.instrs[3] = (struct nm_instr){.op = nm_flowop_find(next)};
	a.instrs[3].step = a.instrs[3].op->step;
	ck_assert_int_eq(nm_listeners_open(&a.workers[0], why, sizeof why), 0);
	bool single = a.listeners[0][1].single;

	nm_listeners_close(&a.workers[0]);
	return single;
}

START_TEST(who_must_be_answered_comes_alone)
{
	ck_assert(is_single("write"));
	ck_assert(!is_single("read"));
	ck_assert(!is_single("disconnect"));
}
END_TEST

/* --- ports --- */

static int open_ports(uint16_t port, uint32_t ports, uint32_t sockets, char *text, int *fds)
{
	struct nm_addr local = {.len = 0};

	text[0] = '\0';
	a.instrs[2].open.port = port;
	n_ports = ports;
	listens = 0;
	return nm_ports_open(&a.instrs[2], &local, sockets, false, text, fds);
}

static void close_fds(const int *fds, int n)
{
	for (int i = 0; i < n; i++)
		close(fds[i]);
}

START_TEST(several_sockets_share_the_port_that_the_kernel_chooses)
{
	char text[NM_ENDPOINT_TEXT];
	int fds[3];

	ck_assert_int_eq(open_ports(0, 1, 3, text, fds), 3);
	ck_assert_str_eq(text, "40000");
	ck_assert_int_eq(how_listened[0], NM_LISTEN_FIRST);
	ck_assert_int_eq(how_listened[1], NM_LISTEN_SHARED);
	ck_assert_int_eq(how_listened[2], NM_LISTEN_SHARED);
	close_fds(fds, 3);
}
END_TEST

START_TEST(one_socket_does_where_a_port_cannot_be_shared)
{
	char text[NM_ENDPOINT_TEXT];
	int fds[3];

	fails_from = 1;
	failure = -EOPNOTSUPP;
	ck_assert_int_eq(open_ports(0, 1, 3, text, fds), 1);
	close_fds(fds, 1);
}
END_TEST

START_TEST(after_a_failure_none_is_open)
{
	char text[NM_ENDPOINT_TEXT];
	int fds[3] = {-1, -1, -1};

	fails_from = 2;
	failure = -EMFILE;
	ck_assert_int_eq(open_ports(0, 1, 3, text, fds), -EMFILE);
	ck_assert(!is_open(fds[0]) && !is_open(fds[1]));
}
END_TEST

START_TEST(a_port_of_the_profile_has_one_socket)
{
	char text[NM_ENDPOINT_TEXT];
	int fds[3];

	ck_assert_int_eq(open_ports(5000, 1, 3, text, fds), 1);
	ck_assert_str_eq(text, "5000");
	ck_assert_int_eq(how_listened[0], NM_LISTEN_FIXED);
	close_fds(fds, 1);
}
END_TEST

START_TEST(a_file_of_the_profile_has_one_socket)
{
	const struct nm_opts_open opts = {.path = (char[]){"/run/s"}};
	char text[NM_ENDPOINT_TEXT];
	int fds[3];

	a.instrs[2].opts = &opts;
	ck_assert_int_eq(open_ports(0, 1, 3, text, fds), 1);
	ck_assert_str_eq(text, "/run/s");
	ck_assert_int_eq(how_listened[0], NM_LISTEN_FIXED);
	close_fds(fds, 1);
}
END_TEST

START_TEST(a_row_of_ports_is_opened_one_behind_the_other)
{
	char text[NM_ENDPOINT_TEXT];
	int fds[3];

	ck_assert_int_eq(open_ports(5000, 3, 1, text, fds), 3);
	for (unsigned i = 0; i < 3; i++) {
		ck_assert_int_eq(how_listened[i], NM_LISTEN_FIXED);
		ck_assert_uint_eq(port_listened[i], 5000 + i);
	}
	close_fds(fds, 3);
	ck_assert_int_eq(open_ports(0, 3, 1, text, fds), 3);
	ck_assert_int_eq(how_listened[0], NM_LISTEN_FIRST);
	ck_assert_uint_eq(port_listened[2], 40002);
	ck_assert_str_eq(text, "40000");
	close_fds(fds, 3);
}
END_TEST

START_TEST(a_row_ends_with_the_last_port)
{
	char text[NM_ENDPOINT_TEXT];
	int fds[3];

	ck_assert_int_eq(open_ports(65534, 3, 1, text, fds), -EADDRINUSE);
	ck_assert(!is_open(fds[0]) && !is_open(fds[1]));
}
END_TEST

START_TEST(a_row_that_fails_tells_which_port)
{
	char text[NM_ENDPOINT_TEXT];
	int fds[3];

	fails_from = 2;
	ck_assert_int_eq(open_ports(5000, 3, 1, text, fds), -EADDRINUSE);
	ck_assert_str_eq(text, "5002");
}
END_TEST

START_TEST(a_row_is_sought_where_the_kernel_does_not_choose)
{
	char text[NM_ENDPOINT_TEXT];
	int fds[3];

	first_chosen = 65535; /* there is never a second one */
	ck_assert_int_eq(open_ports(0, 2, 1, text, fds), 2);
	ck_assert_str_eq(text, "20000");
	close_fds(fds, 2);
	first_chosen = 40000;
	fails_from = 1;
	ck_assert_int_eq(open_ports(0, 2, 1, text, fds), -EADDRINUSE);
	failure = -EACCES;
	ck_assert_int_eq(open_ports(0, 2, 1, text, fds), -EACCES);
}
END_TEST

/* --- hand-off --- */

START_TEST(a_descriptor_is_handed_over_with_what_it_is_for)
{
	_Atomic bool quit = false;
	uint32_t opening = 0, flow = 0;
	int pair[2], fd = eventfd(5, 0), got = -1;
	uint64_t value = 0;

	ck_assert_int_eq(nm_handoff_open(pair), 0);
	ck_assert_int_eq(nm_handoff_receive(pair, &opening, &flow, &got), -EAGAIN);
	ck_assert_int_eq(nm_handoff_send(pair, 3, 70000, fd, &quit), 0);
	ck_assert_int_eq(nm_handoff_receive(pair, &opening, &flow, &got), 0);
	ck_assert_uint_eq(opening, 3);
	ck_assert_uint_eq(flow, 70000);
	ck_assert_int_eq(read(got, &value, sizeof value), sizeof value);
	ck_assert_uint_eq(value, 5);
	close(got);
	nm_handoff_close(pair);
	ck_assert_int_eq(pair[0], -1);
	nm_handoff_close(pair);
}
END_TEST

START_TEST(a_full_pair_is_waited_for_until_the_end)
{
	_Atomic bool quit = true;
	int pair[2], r = 0, sent = 0;

	ck_assert_int_eq(nm_handoff_open(pair), 0);
	while (r == 0 && sent < 100000) {
		r = nm_handoff_send(pair, 0, 0, eventfd(0, 0), &quit);
		sent += r == 0;
	}
	ck_assert_int_eq(r, -ECANCELED);
	ck_assert_int_gt(sent, 0);
	nm_handoff_close(pair);
	ck_assert_int_eq(nm_handoff_send(pair, 0, 0, eventfd(0, 0), &quit), -EBADF);
}
END_TEST

START_TEST(a_note_without_a_descriptor_is_lost)
{
	uint32_t opening, flow;
	int pair[2], fd;

	ck_assert_int_eq(nm_handoff_open(pair), 0);
	ck_assert_int_eq(write(pair[1], "12345678", 8), 8);
	ck_assert_int_eq(write(pair[1], "1234", 4), 4);
	ck_assert_int_eq(nm_handoff_receive(pair, &opening, &flow, &fd), -EMFILE);
	ck_assert_int_eq(nm_handoff_receive(pair, &opening, &flow, &fd), -EMFILE);
	nm_handoff_close(pair);
}
END_TEST

/* --- one socket for many peers --- */

static unsigned n_pending, n_messages;
static struct nm_flow *pending_flow;

static void on_pending(struct nm_worker *worker, struct nm_flow *flow)
{
	ck_assert_ptr_eq(worker, &a.workers[1]);
	n_pending++;
	pending_flow = flow;
}

static void on_message(struct nm_worker *worker, struct nm_conn *conn)
{
	(void)worker;
	(void)conn;
	n_messages++;
}

static const struct nm_mux_events events = {.pending = on_pending, .message = on_message};

static struct nm_mux *new_mux(struct nm_listener *listener)
{
	struct nm_listen_fd one = {.fd = -1, .listener = listener};

	accepting_init(&a, &fake_mux);
	n_pending = n_messages = 0;
	struct nm_mux *mux = nm_mux_new(&a.workers[1], &one, &a.instrs[2], "4711");

	ck_assert_ptr_nonnull(mux);
	return mux;
}

static struct nm_addr at_port(uint16_t port)
{
	const struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(port)};
	struct nm_addr addr = {.len = sizeof in};

	memcpy(&addr.sa, &in, sizeof in);
	return addr;
}

/* What a flow's connecting end says twice: as it comes, and with what it was challenged to. */
static bool say(struct nm_mux *mux, uint16_t from_port, const struct nm_preamble *preamble,
		enum nm_preamble_kind kind)
{
	struct nm_addr from = at_port(from_port);
	struct nm_preamble returned = *preamble;
	char wire[NM_PREAMBLE_BYTES];
	unsigned before = n_pending;

	accepting_pack(&a, preamble, kind, wire);
	bool taken = nm_mux_take_preamble(mux, &events, &from, wire, sizeof wire);

	ck_assert_uint_eq(n_pending, before); /* its way back is not proved yet */
	(void)nm_preamble_is_returned(&returned, nm_mux_keeper(mux), &from.sa, from.len);
	accepting_pack(&a, &returned, kind, wire);
	return nm_mux_take_preamble(mux, &events, &from, wire, sizeof wire) && taken;
}

START_TEST(a_peer_is_let_in_once)
{
	struct nm_listener listener = {.first = NULL};
	struct nm_mux *mux = new_mux(&listener);
	struct nm_preamble preamble = accepting_preamble(3, 1);

	ck_assert(say(mux, 1000, &preamble, NM_PREAMBLE_HELLO));
	ck_assert_uint_eq(n_pending, 1);
	ck_assert_ptr_eq(pending_flow, &a.flows[1][1]);
	ck_assert_ptr_nonnull(pending_flow->pending->peer);
	ck_assert_int_eq(pending_flow->pending->fd, -1);
	ck_assert(say(mux, 1000, &preamble, NM_PREAMBLE_HELLO)); /* repeated */
	preamble.serial = 2;
	ck_assert(say(mux, 1000, &preamble, NM_PREAMBLE_HELLO)); /* its port is still in use */
	ck_assert_uint_eq(n_pending, 1);
	ck_assert(say(mux, 1001, &preamble, NM_PREAMBLE_HELLO));
	ck_assert_uint_eq(n_pending, 2);
	preamble.serial = 1;
	ck_assert(say(mux, 1002, &preamble, NM_PREAMBLE_HELLO)); /* late */
	ck_assert_uint_eq(n_pending, 2);
	nm_pending_close(pending_flow);
	nm_mux_free(mux);
}
END_TEST

START_TEST(strangers_are_not_answered_and_data_is_not_taken)
{
	struct nm_peers elsewhere = {.control = at_port(0)};
	struct nm_listener listener = {.peers = &elsewhere};
	struct nm_mux *mux = new_mux(&listener);
	struct nm_preamble preamble = accepting_preamble(3, 1);
	struct nm_addr from = at_port(1000);
	char wire[NM_PREAMBLE_BYTES];

	((struct sockaddr_in *)(void *)&elsewhere.control.sa)->sin_addr.s_addr = htonl(1);
	ck_assert(say(mux, 1000, &preamble, NM_PREAMBLE_HELLO)); /* another host */
	listener.peers = NULL;
	preamble.flow = 2; /* the other worker's */
	ck_assert(say(mux, 1000, &preamble, NM_PREAMBLE_HELLO));
	preamble = accepting_preamble(3, 1);
	a.engine.nonce[0]++;
	accepting_pack(&a, &preamble, NM_PREAMBLE_HELLO, wire);
	a.engine.nonce[0]--;
	ck_assert(nm_mux_take_preamble(mux, &events, &from, wire, sizeof wire));
	preamble = accepting_preamble(3, 1);
	preamble.group = 1;
	ck_assert(say(mux, 1000, &preamble, NM_PREAMBLE_HELLO));
	preamble = accepting_preamble(3, 1);
	ck_assert(!say(mux, 1000, &preamble, NM_PREAMBLE_ANSWER));
	ck_assert(!nm_mux_take_preamble(mux, &events, &from, "data", 4));
	ck_assert_uint_eq(n_pending, 0);
	nm_mux_free(mux);
}
END_TEST

START_TEST(there_may_be_no_room_for_one_more)
{
	struct nm_listener listener = {.first = NULL};
	struct nm_mux *mux = new_mux(&listener);

	for (uint32_t i = 0; i < 1000; i++) {
		struct nm_preamble preamble = accepting_preamble(1, i + 1);

		ck_assert(say(mux, (uint16_t)(1000 + i), &preamble, NM_PREAMBLE_HELLO));
	}
	ck_assert_uint_gt(n_pending, 2);
	ck_assert_uint_lt(n_pending, 1000);
	nm_pending_close(pending_flow);
	ck_assert_ptr_null(nm_mux_free(mux));
	ck_assert_ptr_null(nm_mux_free(NULL));
}
END_TEST

START_TEST(a_listener_of_such_a_transport_has_one)
{
	struct nm_worker *worker = &a.workers[1];
	char why[200] = "";

	accepting_init(&a, &fake_mux);
	worker->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	ck_assert_int_eq(nm_listeners_open(worker, why, sizeof why), 0);
	struct nm_listen_fd *one = &worker->accept.listeners[1].fds[0];

	ck_assert_ptr_nonnull(one->mux);
	nm_mux_receive(one->mux, &events); /* it is no socket: there is nothing */
	nm_listeners_close(worker);
	close(worker->epoll_fd);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("accept");
	TCase *tcase = tcase_create("accept");

	tcase_add_checked_fixture(tcase, setup, NULL);
	tcase_add_test(tcase, a_preamble_means_the_accept_of_its_opening);
	tcase_add_test(tcase, a_preamble_of_anything_else_means_nothing);
	tcase_add_test(tcase, an_accept_without_preambles_is_not_meant);
	tcase_add_test(tcase, only_what_the_flow_waits_for_is_awaited);
	tcase_add_test(tcase, pending_ones_are_closed_in_the_end);
	tcase_add_test(tcase, the_flow_that_was_parked_first_is_next);
	tcase_add_test(tcase, a_flow_may_leave_the_queue_from_anywhere);
	tcase_add_test(tcase, each_worker_has_its_own_listener);
	tcase_add_test(tcase, what_cannot_listen_says_where);
	tcase_add_test(tcase, with_preambles_no_worker_listens);
	tcase_add_test(tcase, who_must_be_answered_comes_alone);
	tcase_add_test(tcase, several_sockets_share_the_port_that_the_kernel_chooses);
	tcase_add_test(tcase, one_socket_does_where_a_port_cannot_be_shared);
	tcase_add_test(tcase, after_a_failure_none_is_open);
	tcase_add_test(tcase, a_port_of_the_profile_has_one_socket);
	tcase_add_test(tcase, a_file_of_the_profile_has_one_socket);
	tcase_add_test(tcase, a_row_of_ports_is_opened_one_behind_the_other);
	tcase_add_test(tcase, a_row_ends_with_the_last_port);
	tcase_add_test(tcase, a_row_that_fails_tells_which_port);
	tcase_add_test(tcase, a_row_is_sought_where_the_kernel_does_not_choose);
	tcase_add_test(tcase, a_descriptor_is_handed_over_with_what_it_is_for);
	tcase_add_test(tcase, a_full_pair_is_waited_for_until_the_end);
	tcase_add_test(tcase, a_note_without_a_descriptor_is_lost);
	tcase_add_test(tcase, a_peer_is_let_in_once);
	tcase_add_test(tcase, strangers_are_not_answered_and_data_is_not_taken);
	tcase_add_test(tcase, there_may_be_no_room_for_one_more);
	tcase_add_test(tcase, a_listener_of_such_a_transport_has_one);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
