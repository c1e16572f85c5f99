/* SPDX-License-Identifier: Apache-2.0 */
/* Several datagrams with one call, and sends without a copy, over the loopback. */
#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../suite.h"
#include "transport/errqueue.h"
#include "transport/transport.h"
#include "transport/udp_batch.h"
#include "transport/zc_pool.h"

#define PATIENCE 5000 /* ms */

static struct nm_conn from, into;
static struct nm_udp_batch *batch;

static struct nm_conn conn_of(int fd)
{
	ck_assert_int_ge(fd, 0);
	return (struct nm_conn){.fd = fd, .flags = NM_CONN_OPEN | NM_CONN_IN | NM_CONN_OUT};
}

static void begin(unsigned zerocopies)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof at;
	const int room = 1 << 22;

	into = conn_of(socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0));
	from = conn_of(socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0));
	ck_assert_int_eq(bind(into.fd, (struct sockaddr *)&at, sizeof at), 0);
	ck_assert_int_eq(getsockname(into.fd, (struct sockaddr *)&at, &len), 0);
	ck_assert_int_eq(connect(from.fd, (struct sockaddr *)&at, len), 0);
	(void)setsockopt(into.fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
	batch = nm_udp_batch_new(zerocopies);
	ck_assert_ptr_nonnull(batch);
}

static void end(void)
{
	batch = nm_udp_batch_free(batch);
	ck_assert_ptr_null(batch);
	ck_assert_ptr_null(nm_udp_batch_free(NULL));
	(void)close(from.fd);
	(void)close(into.fd);
}

/* Sends so many datagrams with one call, numbered in their first byte. */
static unsigned send_some(size_t size, unsigned count, bool zerocopy)
{
	unsigned staged = nm_udp_batch_stage(batch, &from, size, count, zerocopy);

	for (unsigned i = 0; i < staged; i++)
		*nm_udp_batch_staged(batch, i) = (char)i;
	int sent = staged ? nm_udp_batch_send(batch, &from) : 0;

	ck_assert_msg(sent >= 0, "%s", strerror(-sent));
	return (unsigned)sent;
}

/* Receives so many, one after the other, in their order. */
static void receive_all(size_t size, unsigned count)
{
	struct pollfd readable = {.fd = into.fd, .events = POLLIN};

	for (unsigned got = 0; got < count;) {
		ck_assert_int_eq(poll(&readable, 1, PATIENCE), 1);
		int n = nm_udp_batch_receive(batch, &into, MSG_DONTWAIT);

		ck_assert_int_gt(n, 0);
		for (int i = 0; i < n; i++) {
			size_t bytes, each;
			const char *data = nm_udp_batch_segment(batch, i, &bytes, &each);

			ck_assert_uint_eq(each, size);
			for (; bytes; bytes -= size, data += size)
				ck_assert_int_eq(*data, (char)got++);
		}
	}
	ck_assert_int_eq(nm_udp_batch_receive(batch, &into, MSG_DONTWAIT), -EAGAIN);
}

static const struct {
	size_t size;
	unsigned count;
	uint32_t traits;
	bool gro;
} batches[] = {{100, 1, 0, false},
	       {100, 64, 0, false},
	       {1, 100, 0, false},
	       {1200, 70, 0, true},
	       {100, 20, NM_CONN_NO_GSO, true},
	       {60000, 3, 0, true},
	       {9000, 8, NM_CONN_NO_GSO, false}};

START_TEST(a_batch_arrives_in_its_order)
{
	begin(0);
	from.traits |= batches[_i].traits;
	if (batches[_i].gro)
		nm_udp_batch_want_gro(&into);
	ck_assert_int_eq(!(into.traits & NM_CONN_GRO), !batches[_i].gro);
	for (int again = 0; again < 3; again++) {
		unsigned sent = send_some(batches[_i].size, batches[_i].count, false);

		ck_assert_uint_gt(sent, 0);
		ck_assert_uint_le(sent, batches[_i].count);
		receive_all(batches[_i].size, sent);
	}
	end();
}
END_TEST

START_TEST(what_nobody_takes_is_told)
{
	begin(0);
	(void)close(into.fd);
	(void)send_some(10, 1, false);
	unsigned staged = nm_udp_batch_stage(batch, &from, 10, 2, false);

	ck_assert_uint_eq(staged, 2);
	ck_assert_int_eq(nm_udp_batch_send(batch, &from), -ECONNREFUSED);
	into.fd = -1;
	end();
}
END_TEST

/* Waits until the kernel is done with all that was sent without a copy. */
static void complete(struct nm_conn *conn, struct nm_zc_pool *pool, uint64_t sends)
{
	struct nm_completions told = {0};
	struct pollfd note = {.fd = conn->fd, .events = 0};

	while (told.sends < sends) {
		if (!nm_errqueue_drain(conn, pool, &told))
			ck_assert_int_eq(poll(&note, 1, PATIENCE), 1);
	}
	ck_assert_uint_eq(told.sends, sends);
	ck_assert_uint_le(told.copied, told.sends);
	ck_assert(!nm_errqueue_drain(conn, pool, &told));
}

START_TEST(buffers_come_back_when_the_kernel_is_done)
{
	begin(2);
	struct nm_zc_pool *pool = nm_udp_batch_zc_pool(batch);

	ck_assert_int_eq(nm_zc_pool_begin(pool, &from), 0);
	ck_assert_int_eq(nm_zc_pool_begin(pool, &from), 0);
	for (int again = 0; again < 3; again++) {
		uint32_t before = from.datagram.zc_sent;
		unsigned sent = send_some(1000, 60, true);

		ck_assert_uint_eq(sent, 60);
		ck_assert(nm_zc_pool_is_pending(pool, &from));
		receive_all(1000, sent);
		complete(&from, pool, from.datagram.zc_sent - before);
		ck_assert(!nm_zc_pool_is_pending(pool, &from));
	}
	end();
}
END_TEST

/* A connection over TCP: both ends. */
static void connect_tcp(void)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof at;
	int listener = socket(AF_INET, SOCK_STREAM, 0);

	ck_assert_int_eq(bind(listener, (struct sockaddr *)&at, sizeof at), 0);
	ck_assert_int_eq(listen(listener, 1), 0);
	ck_assert_int_eq(getsockname(listener, (struct sockaddr *)&at, &len), 0);
	from = conn_of(socket(AF_INET, SOCK_STREAM, 0));
	ck_assert_int_eq(connect(from.fd, (struct sockaddr *)&at, len), 0);
	into = conn_of(accept4(listener, NULL, NULL, SOCK_NONBLOCK));
	(void)close(listener);
}

START_TEST(a_stream_counts_what_is_complete)
{
	static char bytes[16384];

	connect_tcp();
	ck_assert_int_eq(nm_errqueue_begin(&from), 0);
	ck_assert(from.traits & NM_CONN_ZEROCOPY);
	ck_assert_int_eq(nm_errqueue_begin(&from), 0);
	for (int i = 0; i < 4; i++) {
		ck_assert_int_gt(send(from.fd, bytes, 4096, MSG_ZEROCOPY), 0);
		from.stream.zc_sent++;
		ck_assert_int_gt(recv(into.fd, bytes, sizeof bytes, 0), 0);
	}
	complete(&from, NULL, 4);
	ck_assert_uint_eq(from.stream.zc_completed, 4);
	(void)close(from.fd);
	(void)close(into.fd);
}
END_TEST

START_TEST(pages_that_cannot_be_mapped_are_copied)
{
	static char sent[65536], got[65536];
	uint64_t mapped = 0, all = 0;
	struct pollfd readable;

	connect_tcp();
	readable = (struct pollfd){.fd = into.fd, .events = POLLIN};
	ck_assert_int_eq(send(from.fd, sent, sizeof sent, 0), sizeof sent);
	while (all < sizeof sent) {
		ck_assert_int_eq(poll(&readable, 1, PATIENCE), 1);
		ssize_t n = nm_mapped_receive(&into, got, sizeof got, sizeof sent - all, &mapped);

		ck_assert(n > 0 || n == -EAGAIN);
		all += n > 0 ? (uint64_t)n : 0;
	}
	ck_assert_uint_eq(all, sizeof sent);
	ck_assert_uint_le(mapped, all);
	(void)close(from.fd);
	ck_assert_int_eq(poll(&readable, 1, PATIENCE), 1);
	ck_assert_int_eq(nm_mapped_receive(&into, got, sizeof got, 100, &mapped), 0);
	nm_mapped_end(&into);
	nm_mapped_end(&into);
	ck_assert(!(into.traits & NM_CONN_MAPPED) && !into.state);
	(void)close(into.fd);
}
END_TEST

START_TEST(what_is_held_back_is_pushed)
{
	char byte;
	struct pollfd readable;

	connect_tcp();
	readable = (struct pollfd){.fd = into.fd, .events = POLLIN};
	ck_assert_int_eq(send(from.fd, "x", 1, MSG_MORE), 1);
	from.flags |= NM_CONN_MORE;
	nm_socket_push(&from);
	ck_assert(!(from.flags & NM_CONN_MORE));
	ck_assert_int_eq(poll(&readable, 1, PATIENCE), 1);
	ck_assert_int_eq(recv(into.fd, &byte, 1, 0), 1);
	(void)close(from.fd);
	(void)close(into.fd);
}
END_TEST

START_TEST(what_is_too_small_is_named)
{
	char why[300];

	nm_errqueue_why(why, sizeof why);
	ck_assert_ptr_nonnull(strstr(why, "zerocopy: "));
	ck_assert_ptr_nonnull(strstr(why, "optmem_max"));
}
END_TEST

static Suite *udp_batch_suite(void)
{
	Suite *suite = suite_create("udp_batch");
	TCase *tests = tcase_create("udp_batch");

	tcase_add_loop_test(tests, a_batch_arrives_in_its_order, 0,
			    (int)(sizeof batches / sizeof *batches));
	tcase_add_test(tests, what_nobody_takes_is_told);
	tcase_add_test(tests, buffers_come_back_when_the_kernel_is_done);
	tcase_add_test(tests, a_stream_counts_what_is_complete);
	tcase_add_test(tests, pages_that_cannot_be_mapped_are_copied);
	tcase_add_test(tests, what_is_held_back_is_pushed);
	tcase_add_test(tests, what_is_too_small_is_named);
	suite_add_tcase(suite, tests);
	return suite;
}

int main(void)
{
	return run_suite(udp_batch_suite());
}
