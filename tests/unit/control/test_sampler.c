/* SPDX-License-Identifier: Apache-2.0 */
/* The list of samplers, and the grid of their points. */
#include "control/sampler.h"

#include <check.h>
#include <string.h>

#include "../suite.h"
#include "control/interval.h"

#define S UINT64_C(1000000000)

START_TEST(the_grid_leaves_out_the_point_at_which_a_phase_stops)
{
	struct nm_interval grid;

	nm_interval_begin(&grid, 100 * S, S, 3 * S);
	ck_assert_uint_eq(grid.next_ns, 101 * S);
	ck_assert_uint_eq(nm_interval_pass(&grid, 101 * S + 5), S);
	ck_assert_uint_eq(nm_interval_pass(&grid, 102 * S), 2 * S);
	ck_assert_uint_eq(grid.next_ns, 104 * S);
	nm_interval_begin(&grid, 100 * S, 0, 3 * S);
	ck_assert_uint_eq(grid.next_ns, UINT64_MAX);
	/* Points that were missed are passed at once. */
	nm_interval_begin(&grid, 100 * S, S, 0);
	ck_assert_uint_eq(nm_interval_pass(&grid, 107 * S + S / 2), 7 * S);
	ck_assert_uint_eq(grid.next_ns, 108 * S);
	/* One that comes within half an interval after the stop is too late, too. */
	nm_interval_begin(&grid, 0, S, S - S / 4);
	ck_assert_uint_eq(grid.next_ns, 2 * S);
}
END_TEST

static char called[32];

static void note(char what)
{
	size_t used = strlen(called);

	called[used] = what;
	called[used + 1] = '\0';
}

static void note_begin(struct nm_sampler *sampler, const struct nm_phase_order *of, uint64_t at_ns)
{
	(void)sampler;
	(void)of;
	(void)at_ns;
	note('b');
}

static uint64_t at_five(const struct nm_sampler *sampler)
{
	(void)sampler;
	return 5;
}

static uint64_t at_three(const struct nm_sampler *sampler)
{
	(void)sampler;
	return 3;
}

static void note_run(struct nm_sampler *sampler, uint64_t now_ns)
{
	(void)now_ns;
	note(sampler->failed ? 'F' : 'r');
}

static void note_end(struct nm_sampler *sampler, uint64_t now_ns)
{
	(void)now_ns;
	note(sampler->ops->until_all ? 'E' : 'e');
}

START_TEST(a_list_calls_all_of_its_samplers)
{
	static const struct nm_sampler_ops here = {
		.begin = note_begin, .next_ns = at_five, .run = note_run, .end = note_end};
	static const struct nm_sampler_ops all = {.begin = note_begin,
						  .next_ns = at_three,
						  .run = note_run,
						  .end = note_end,
						  .until_all = true};
	struct nm_sampler a = {.ops = &here}, b = {.ops = &all, .failed = true}, c = {.ops = &here};
	struct nm_samplers samplers = {.first = NULL};
	const struct nm_phase_order order = {.phase = 1};

	called[0] = '\0';
	ck_assert_uint_eq(nm_samplers_next_ns(&samplers), UINT64_MAX);
	ck_assert(!nm_samplers_failed(&samplers));
	nm_samplers_add(&samplers, &a);
	ck_assert_uint_eq(nm_samplers_next_ns(&samplers), 5);
	nm_samplers_add(&samplers, &c);
	nm_samplers_add_first(&samplers, &b);
	ck_assert_uint_eq(nm_samplers_next_ns(&samplers), 3);
	nm_samplers_begin(&samplers, &order, 1);
	nm_samplers_run(&samplers, 1);
	nm_samplers_end(&samplers, false, 1);
	nm_samplers_end(&samplers, true, 1);
	ck_assert_str_eq(called, "bbbFrreeEee");
	ck_assert(nm_samplers_failed(&samplers));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sampler");
	TCase *list = tcase_create("list");

	tcase_add_test(list, the_grid_leaves_out_the_point_at_which_a_phase_stops);
	tcase_add_test(list, a_list_calls_all_of_its_samplers);
	suite_add_tcase(suite, list);
	return run_suite(suite);
}
