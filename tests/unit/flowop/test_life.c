/* SPDX-License-Identifier: Apache-2.0 */
/* How long connections last: what is drawn, and when it is over. */
#include "flowop/life.h"

#include <check.h>

#include "../suite.h"
#include "host/clock.h"
#include "transport/io.h"

#define HOUR_NS UINT64_C(3600000000000)

static struct nm_opts_open opts;
static struct nm_instr connect_instr;
static struct nm_counters counters;
static struct nm_io io;
static struct nm_conn conn;

static void setup(void)
{
	opts = (struct nm_opts_open){.server = NULL};
	connect_instr = (struct nm_instr){.opts = &opts, .opening = 2};
	counters = (struct nm_counters){.retired = 0};
	io = (struct nm_io){.seed = 7, .count = &counters};
	conn = (struct nm_conn){.traits = NM_CONN_LIVES | NM_CONN_ANSWERED};
}

static struct nm_law between(uint64_t min, uint64_t max)
{
	return (struct nm_law){.kind = NM_LAW_UNIFORM, .min = min, .max = max};
}

static struct nm_life drawn(uint32_t flow_index, uint32_t earlier)
{
	const struct nm_flow flow = {.index = flow_index};
	struct nm_life life = {.drawn = earlier};

	nm_life_draw(&io, &flow, &connect_instr, &life);
	ck_assert_uint_eq(life.drawn, earlier + 1);
	ck_assert_uint_eq(life.opening, 2);
	return life;
}

static bool ends(struct nm_life *life)
{
	return nm_life_ends(&conn, life);
}

START_TEST(each_connection_draws_for_itself)
{
	unsigned as_before = 0, as_the_other = 0, as_with_another_seed = 0;

	opts.requests = between(1, 1000);
	for (uint32_t n = 0; n < 100; n++) {
		uint32_t left = drawn(3, n).left;

		ck_assert_uint_ge(left, 1);
		ck_assert_uint_le(left, 1000);
		ck_assert_uint_eq(drawn(3, n).left, left);
		ck_assert_uint_eq(drawn(3, n).end_ns, 0);
		as_before += left == drawn(3, n + 1).left;
		as_the_other += left == drawn(4, n).left;
		io.seed = 8;
		as_with_another_seed += left == drawn(3, n).left;
		io.seed = 7;
	}
	ck_assert_uint_lt(as_before, 5);
	ck_assert_uint_lt(as_the_other, 5);
	ck_assert_uint_lt(as_with_another_seed, 5);
}
END_TEST

START_TEST(the_last_request_ends_it)
{
	opts.requests = between(3, 3);
	struct nm_life life = drawn(0, 0);

	for (unsigned i = 0; i < 2; i++) {
		nm_life_spend(&life);
		ck_assert(!ends(&life));
	}
	nm_life_spend(&life);
	ck_assert(ends(&life));
	/* It is counted with the opening of the next, which may be within another window, or never
	 * come. */
	ck_assert_uint_eq(nm_counter_read(&counters.retired), 0);
	nm_life_draw(&io, &(const struct nm_flow){.index = 0}, &connect_instr, &life);
	ck_assert_uint_eq(nm_counter_read(&counters.retired), 1);
	ck_assert(!ends(&life));
	nm_life_draw(&io, &(const struct nm_flow){.index = 0}, &connect_instr, &life);
	ck_assert_uint_eq(nm_counter_read(&counters.retired), 1);
}
END_TEST

START_TEST(a_time_ends_it)
{
	opts.lifetime = between(HOUR_NS, HOUR_NS);
	uint64_t before_ns = nm_clock_ns();
	struct nm_life life = drawn(0, 0);

	ck_assert_uint_ge(life.end_ns, before_ns + HOUR_NS);
	ck_assert_uint_le(life.end_ns, nm_clock_ns() + HOUR_NS);
	/* No number of requests does. */
	nm_life_spend(&life);
	ck_assert(!ends(&life));
	life.end_ns = before_ns;
	ck_assert(ends(&life));
}
END_TEST

START_TEST(one_without_a_request_goes_on)
{
	struct nm_life over = {.end_ns = NM_LIFE_OVER};

	conn.traits = NM_CONN_LIVES;
	ck_assert(!ends(&over));
	/* One that was opened without a law, in the place of one that had one. */
	conn.traits = NM_CONN_ANSWERED;
	ck_assert(!ends(&over));
	ck_assert_uint_eq(nm_counter_read(&counters.retired), 0);
}
END_TEST

START_TEST(without_laws_nothing_ends_it)
{
	struct nm_life life = drawn(0, 0);

	ck_assert(!nm_lives(&opts));
	for (unsigned i = 0; i < 1000; i++)
		nm_life_spend(&life);
	ck_assert(!ends(&life));
	opts.requests = between(0, 1);
	ck_assert(nm_lives(&opts));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("life");
	TCase *tcase = tcase_create("life");

	tcase_add_checked_fixture(tcase, setup, NULL);
	tcase_add_test(tcase, each_connection_draws_for_itself);
	tcase_add_test(tcase, the_last_request_ends_it);
	tcase_add_test(tcase, a_time_ends_it);
	tcase_add_test(tcase, one_without_a_request_goes_on);
	tcase_add_test(tcase, without_laws_nothing_ends_it);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
