/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers of datagrams that are sent without a copy: none is given twice before the kernel is done
 * with it, and each connection has its own. */
#include "transport/zc_pool.h"

#include <check.h>
#include <errno.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../suite.h"

#define EACH (NM_ZC_POOL_SLOTS / 2)

static struct nm_zc_pool *pool;
static struct nm_conn conns[2];
static unsigned slots[NM_ZC_POOL_SLOTS];

static void setup(void)
{
	pool = nm_zc_pool_new(2);
	ck_assert_ptr_nonnull(pool);
	for (int i = 0; i < 2; i++) {
		conns[i] = (struct nm_conn){.fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
		ck_assert_int_ge(conns[i].fd, 0);
		ck_assert_int_eq(nm_zc_pool_begin(pool, &conns[i]), 0);
		ck_assert_uint_ne(conns[i].traits & NM_CONN_ZEROCOPY, 0);
	}
}

static void teardown(void)
{
	pool = nm_zc_pool_free(pool);
	for (int i = 0; i < 2; i++)
		close(conns[i].fd);
}

/* So many buffers, with so many sends from each. */
static void use(struct nm_conn *conn, unsigned from, unsigned count, unsigned sends)
{
	for (unsigned i = from; i < from + count; i++) {
		ck_assert_ptr_nonnull(nm_zc_pool_take(pool, conn, &slots[i]));
		for (unsigned n = 0; n < sends; n++)
			nm_zc_pool_sent(pool, slots[i], conn);
	}
}

START_TEST(each_is_given_once)
{
	char *first = NULL, *bytes;
	unsigned slot;

	for (unsigned i = 0; i < NM_ZC_POOL_SLOTS; i++) {
		bytes = nm_zc_pool_take(pool, &conns[i / EACH], &slots[i]);
		ck_assert_ptr_nonnull(bytes);
		first = first ? first : bytes;
		ck_assert_uint_eq((uintptr_t)bytes % 4096, 0);
		ck_assert_ptr_eq(bytes, first + (size_t)i * NM_ZC_POOL_BYTES);
	}
	ck_assert_ptr_null(nm_zc_pool_take(pool, &conns[0], &slot));
	ck_assert_ptr_null(nm_zc_pool_take(pool, &conns[1], &slot));
	ck_assert(!nm_zc_pool_is_pending(pool, &conns[0]));
	nm_zc_pool_give_back(pool, 7);
	ck_assert_ptr_null(nm_zc_pool_take(pool, &conns[1], &slot));
	ck_assert_ptr_eq(nm_zc_pool_take(pool, &conns[0], &slot),
			 first + 7 * (size_t)NM_ZC_POOL_BYTES);
}
END_TEST

START_TEST(one_is_free_when_all_of_its_sends_are_done)
{
	unsigned slot;

	conns[0].datagram.zc_sent = UINT32_MAX - 2; /* numbers go round */
	use(&conns[0], 0, EACH, 4);
	use(&conns[1], EACH, EACH, 1);
	nm_zc_pool_give_back(pool, 0); /* it is in use */
	ck_assert_ptr_null(nm_zc_pool_take(pool, &conns[0], &slot));
	/* Three of the first four, then those of the next, then the fourth. */
	nm_zc_pool_completed(pool, &conns[0], UINT32_MAX - 2, UINT32_MAX);
	ck_assert_ptr_null(nm_zc_pool_take(pool, &conns[0], &slot));
	nm_zc_pool_completed(pool, &conns[0], 1, 4);
	ck_assert_ptr_nonnull(nm_zc_pool_take(pool, &conns[0], &slot));
	ck_assert_uint_eq(slot, 1);
	nm_zc_pool_completed(pool, &conns[0], 0, 0);
	ck_assert_ptr_nonnull(nm_zc_pool_take(pool, &conns[0], &slot));
	ck_assert_uint_eq(slot, 0);
	/* The same numbers of another connection are others. */
	nm_zc_pool_completed(pool, &conns[1], 0, 0);
	ck_assert_ptr_null(nm_zc_pool_take(pool, &conns[0], &slot));
	ck_assert_ptr_nonnull(nm_zc_pool_take(pool, &conns[1], &slot));
	ck_assert_uint_eq(slot, EACH);
	ck_assert(nm_zc_pool_is_pending(pool, &conns[0]));
	ck_assert(nm_zc_pool_is_pending(pool, &conns[1]));
}
END_TEST

START_TEST(of_what_is_closed_nothing_is_awaited)
{
	unsigned slot;

	use(&conns[0], 0, EACH, 1);
	ck_assert_ptr_null(nm_zc_pool_take(pool, &conns[0], &slot));
	/* It is opened anew, and its numbers begin again. */
	conns[0].flags = conns[0].traits = 0;
	ck_assert_int_eq(nm_zc_pool_begin(pool, &conns[0]), 0);
	ck_assert_uint_eq(conns[0].datagram.zc_sent, 0);
	ck_assert(!nm_zc_pool_is_pending(pool, &conns[0]));
	use(&conns[0], 0, EACH, 1);
}
END_TEST

START_TEST(each_of_many_has_one)
{
	static struct nm_conn many[NM_ZC_POOL_SLOTS + 2];
	struct nm_zc_pool *large = nm_zc_pool_new(NM_ZC_POOL_SLOTS + 1);
	unsigned slot;

	for (unsigned i = 0; i < NM_ZC_POOL_SLOTS + 1; i++) {
		many[i].fd = conns[0].fd;
		ck_assert_int_eq(nm_zc_pool_begin(large, &many[i]), 0);
		ck_assert_ptr_nonnull(nm_zc_pool_take(large, &many[i], &slot));
		ck_assert_uint_eq(slot, i);
		ck_assert_ptr_null(nm_zc_pool_take(large, &many[i], &slot));
	}
	many[NM_ZC_POOL_SLOTS + 1].fd = conns[0].fd;
	ck_assert_int_eq(nm_zc_pool_begin(large, &many[NM_ZC_POOL_SLOTS + 1]), -ENOMEM);
	ck_assert_ptr_null(nm_zc_pool_free(large));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("uncopied");
	TCase *tc = tcase_create("uncopied");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, each_is_given_once);
	tcase_add_test(tc, one_is_free_when_all_of_its_sends_are_done);
	tcase_add_test(tc, of_what_is_closed_nothing_is_awaited);
	tcase_add_test(tc, each_of_many_has_one);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
