/* SPDX-License-Identifier: Apache-2.0 */
#include "flowop/arrival_law/arrival_law.h"

#include <check.h>

#include "../suite.h"
#include "flowop/flow.h"

#define BEGIN_NS  UINT64_C(5000000000)
#define PERIOD_NS UINT64_C(1000)

static struct nm_pacer pacer_of(const struct nm_arrival_law *law)
{
	return (struct nm_pacer){.law = law,
				 .period_ns = PERIOD_NS,
				 .begin_ns = BEGIN_NS,
				 .last_ns = UINT64_MAX,
				 .key = 7,
				 .n_flows = 4};
}

START_TEST(the_laws_have_their_words)
{
	for (size_t i = 0; nm_arrival_laws[i]; i++)
		ck_assert_str_eq(nm_arrival_laws[i]->name, nm_arrival_law_words[i]);
	ck_assert_str_eq(nm_arrival_laws[0]->name, "fixed");
}
END_TEST

START_TEST(without_a_law_nothing_is_paced)
{
	const struct nm_pacer none = {.law = NULL}, some = pacer_of(nm_arrival_laws[0]);

	ck_assert(!nm_pacer_paces(&none));
	ck_assert(nm_pacer_paces(&some));
}
END_TEST

START_TEST(flows_are_spread_over_the_first_interval)
{
	const struct nm_pacer pacer = pacer_of(nm_arrival_laws[0]);

	for (uint32_t i = 0; i < pacer.n_flows; i++) {
		const struct nm_flow flow = {.index = i};

		ck_assert_uint_eq(nm_pacer_next(&pacer, &flow, 0), BEGIN_NS + i * PERIOD_NS / 4);
	}
}
END_TEST

/* Whatever the time was when each was asked for. */
START_TEST(fixed_intervals_do_not_drift)
{
	const struct nm_pacer pacer = pacer_of(nm_arrival_laws[0]);
	const struct nm_flow flow = {.index = 2};
	uint64_t at_ns = nm_pacer_next(&pacer, &flow, 0), first_ns = at_ns;

	for (uint64_t n = 1; n <= 1000; n++) {
		at_ns = nm_pacer_next(&pacer, &flow, at_ns);
		ck_assert_uint_eq(at_ns, first_ns + n * PERIOD_NS);
	}
}
END_TEST

static uint64_t never(const struct nm_pacer *pacer, uint32_t index, uint64_t at_ns)
{
	(void)pacer;
	(void)index;
	(void)at_ns;
	return UINT64_MAX - 1;
}

START_TEST(what_is_beyond_all_time_is_never_due)
{
	const struct nm_arrival_law law = {.name = "never", .next_ns = never};
	const struct nm_pacer pacer = pacer_of(&law);
	const struct nm_flow flow = {.index = 0};

	ck_assert_uint_eq(nm_pacer_next(&pacer, &flow, BEGIN_NS), UINT64_MAX);
}
END_TEST

START_TEST(draws_are_of_their_flow_and_time_alone)
{
	const struct nm_pacer pacer = pacer_of(nm_arrival_laws[0]);
	double sum = 0;

	for (uint64_t at = 0; at < 10000; at++) {
		double drawn = nm_pacer_draw(&pacer, 1, at);

		ck_assert(drawn > 0 && drawn <= 1);
		ck_assert_double_eq(drawn, nm_pacer_draw(&pacer, 1, at));
		ck_assert_double_ne(drawn, nm_pacer_draw(&pacer, 2, at));
		sum += drawn;
	}
	ck_assert_double_eq_tol(sum / 10000, .5, .02);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("pacer");
	TCase *tcase = tcase_create("pacer");

	tcase_add_test(tcase, the_laws_have_their_words);
	tcase_add_test(tcase, without_a_law_nothing_is_paced);
	tcase_add_test(tcase, flows_are_spread_over_the_first_interval);
	tcase_add_test(tcase, fixed_intervals_do_not_drift);
	tcase_add_test(tcase, what_is_beyond_all_time_is_never_due);
	tcase_add_test(tcase, draws_are_of_their_flow_and_time_alone);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
