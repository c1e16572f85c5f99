/* SPDX-License-Identifier: Apache-2.0 */
/* One socket and several peers: what comes from each, and what is kept of it. */
#include "transport/udp_mux.h"

#include <check.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

#include "../suite.h"
#include "transport/transport.h"

#define PEERS 3

static struct nm_udp_mux *mux;
static int mux_fd, fds[PEERS];
static struct nm_addr at, peers[PEERS];
static struct nm_conn conns[PEERS];
static unsigned n_let_in, told[PEERS];
static bool closes_others;

static int bound(struct nm_addr *ret_at)
{
	struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	ck_assert_int_eq(bind(fd, (struct sockaddr *)&any, sizeof any), 0);
	ret_at->len = sizeof ret_at->sa;
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&ret_at->sa, &ret_at->len), 0);
	return fd;
}

static void setup(void)
{
	mux_fd = bound(&at);
	mux = nm_udp_mux_new(mux_fd, PEERS);
	ck_assert_ptr_nonnull(mux);
	for (int i = 0; i < PEERS; i++)
		fds[i] = bound(&peers[i]);
	n_let_in = 0;
	memset(told, 0, sizeof told);
	memset(conns, 0, sizeof conns);
	closes_others = false;
}

static void teardown(void)
{
	mux = nm_udp_mux_free(mux);
	close(mux_fd);
	for (int i = 0; i < PEERS; i++)
		close(fds[i]);
}

static bool take_preamble(void *arg, const struct nm_addr *from, const char *data, size_t size)
{
	(void)arg;
	if (size != 5 || memcmp(data, "hello", 5) != 0)
		return false;
	for (int i = 0; i < PEERS; i++) {
		if (memcmp(&from->sa, &peers[i].sa, sizeof(struct sockaddr_in)) != 0)
			continue;
		n_let_in++;
		nm_udp_mux_attach(&conns[i], nm_udp_mux_add(mux, from));
		conns[i].transport = nm_transport_find("udp");
	}
	return true;
}

static void take_ready(void *arg, struct nm_conn *conn)
{
	(void)arg;
	told[conn - conns]++;
	for (int i = 0; i < PEERS && closes_others; i++)
		if (&conns[i] != conn)
			nm_udp_mux_close(&conns[i], false);
}

static void say(int peer, const char *text)
{
	ck_assert_int_eq(
		sendto(fds[peer], text, strlen(text), 0, (struct sockaddr *)&at.sa, at.len),
		(ssize_t)strlen(text));
}

static void receive(void)
{
	nm_udp_mux_receive(mux, take_preamble, take_ready, NULL);
}

static void meet_all(void)
{
	for (int i = 0; i < PEERS; i++)
		say(i, "hello");
	receive();
	ck_assert_uint_eq(n_let_in, PEERS);
}

START_TEST(each_gets_its_own)
{
	char bytes[100];

	meet_all();
	say(0, "number00 and more");
	say(2, "two");
	say(0, "number01");
	receive();
	ck_assert_uint_eq(told[0], 1); /* once, however many have come */
	ck_assert_uint_eq(told[1], 0);
	ck_assert_uint_eq(told[2], 1);
	ck_assert_int_eq(nm_udp_mux_recv(&conns[0], bytes, sizeof bytes), 17);
	ck_assert_mem_eq(bytes, "number00", 8);
	ck_assert_int_eq(nm_udp_mux_recv(&conns[0], bytes, sizeof bytes), 8);
	ck_assert_mem_eq(bytes, "number01", 8);
	ck_assert_int_eq(nm_udp_mux_recv(&conns[0], bytes, sizeof bytes), -EAGAIN);
	ck_assert_int_eq(nm_udp_mux_recv(&conns[1], bytes, sizeof bytes), -EAGAIN);
	ck_assert_int_eq(nm_udp_mux_recv(&conns[2], bytes, sizeof bytes), 3);
	ck_assert_mem_eq(bytes, "two", 3);
	ck_assert_int_eq(nm_udp_mux_send(&conns[1], NULL, (char[]){"answer to one"}, 13), 13);
	ck_assert_int_eq(recv(fds[1], bytes, sizeof bytes, 0), 13);
	ck_assert_mem_eq(bytes, "answer to one", 13);
	ck_assert_int_eq(recv(fds[0], bytes, sizeof bytes, 0), -1);
}
END_TEST

START_TEST(strangers_are_nobody)
{
	say(1, "not a preamble");
	receive();
	ck_assert_uint_eq(told[1], 0);
	ck_assert_ptr_null(nm_udp_mux_find(mux, &peers[1]));
}
END_TEST

/* A flow that runs may end others that have something to read as well. */
START_TEST(what_is_closed_is_told_nothing)
{
	meet_all();
	closes_others = true;
	for (int i = 0; i < PEERS; i++)
		say(i, "text");
	receive();
	ck_assert_uint_eq(told[0] + told[1] + told[2], 1);
	closes_others = false;
	for (int i = 0; i < PEERS; i++)
		say(i, "text");
	receive();
	ck_assert_uint_eq(told[0] + told[1] + told[2], 2);
}
END_TEST

/* Neither peers nor what they send are without end, and what is closed makes room. */
START_TEST(there_is_a_bound)
{
	struct nm_addr many = peers[0];
	unsigned met = 0;
	struct nm_udp_mux_peer *last = NULL, *peer;

	for (uint16_t port = 1; port < 1000; port++) {
		((struct sockaddr_in *)(void *)&many.sa)->sin_port = htons(port);
		peer = nm_udp_mux_add(mux, &many);
		met += peer != NULL;
		last = peer ? peer : last;
	}
	ck_assert_uint_ge(met, 2 * PEERS);
	ck_assert_uint_lt(met, 200);
	nm_udp_mux_forget(last);
	say(1, "hello");
	receive();
	ck_assert_uint_eq(n_let_in, 1);
}
END_TEST

START_TEST(records_are_bounded_and_come_back)
{
	char bytes[8];

	meet_all();
	for (int round = 0; round < 3; round++) {
		unsigned kept = 0;

		for (unsigned i = 0; i < 10000; i++) {
			say(0, "x");
			if (i % 20 == 19)
				receive();
		}
		while (nm_udp_mux_recv(&conns[0], bytes, sizeof bytes) == 1)
			kept++;
		ck_assert_uint_eq(kept, 4096);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("mux");
	TCase *tc = tcase_create("mux");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, each_gets_its_own);
	tcase_add_test(tc, strangers_are_nobody);
	tcase_add_test(tc, what_is_closed_is_told_nothing);
	tcase_add_test(tc, there_is_a_bound);
	tcase_add_test(tc, records_are_bounded_and_come_back);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
