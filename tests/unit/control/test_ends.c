/* SPDX-License-Identifier: Apache-2.0 */
/* How often lost resets are looked for. */
#include "control/ends.h"

#include "../suite.h"
#include "sampled.h"

#define MS UINT64_C(1000000)

static struct nm_end_sampler looks;

static void start_ends(void)
{
	fake_script = (struct fake_script){.awaits_resets = true};
	start();
	nm_end_sampler_init(&looks, engine);
	nm_samplers_add(&samplers, &looks.base);
	begin(100 * S);
}

/* Runs the sampler whenever it is due until then. */
static void run_until(uint64_t at_ns)
{
	for (uint64_t next_ns; (next_ns = nm_samplers_next_ns(&samplers)) <= at_ns;)
		run(next_ns);
}

START_TEST(without_losses_it_is_ten_times_a_second)
{
	run_until(101 * S);
	ck_assert_uint_eq(engine->ends_looks, 10);
	ck_assert_uint_eq(engine->ends_eager, 0);
}
END_TEST

START_TEST(after_a_loss_it_is_more_often_for_a_while)
{
	run_until(100 * S + 300 * MS);
	engine->ends.lost = 1;
	run_until(100 * S + 400 * MS);
	ck_assert_uint_eq(engine->ends_eager, 1);
	run_until(100 * S + 500 * MS);
	ck_assert_uint_eq(engine->ends_eager, 11);
	/* 200 without one, and then each 100 ms. */
	run_until(103 * S);
	ck_assert_uint_eq(engine->ends_eager, 200);
	unsigned looks_by_then = engine->ends_looks;

	run_until(104 * S);
	ck_assert_uint_eq(engine->ends_looks - looks_by_then, 10);
}
END_TEST

START_TEST(another_loss_prolongs_it)
{
	engine->ends.lost = 1;
	run_until(101 * S);
	engine->ends.lost = 2;
	run_until(104 * S);
	ck_assert_uint_eq(engine->ends_eager, 91 + 200);
}
END_TEST

START_TEST(a_late_reset_ends_it)
{
	engine->ends.lost = 1;
	run_until(100 * S + 200 * MS);
	ck_assert_uint_eq(engine->ends_eager, 11);
	engine->ends.lost = 2;
	engine->ends.late = 1;
	run_until(102 * S);
	ck_assert_uint_eq(engine->ends_eager, 11);
}
END_TEST

/* As on a host that is busy: some come late, and others just after they were asked for. */
START_TEST(where_some_are_late_none_counts_as_lost_for_a_while)
{
	engine->ends.late = 1;
	for (unsigned i = 0; i < 32; i++) {
		engine->ends.lost++;
		run_until(100 * S + 100 * MS + i * 100 * MS);
	}
	ck_assert_uint_eq(engine->ends_eager, 0);
	run_until(103 * S + 300 * MS);
	ck_assert_uint_eq(engine->ends_eager, 0);
	engine->ends.lost++;
	run_until(103 * S + 400 * MS);
	ck_assert_uint_eq(engine->ends_eager, 1);
}
END_TEST

START_TEST(a_phase_begins_without_a_loss)
{
	engine->ends.lost = 1;
	run_until(100 * S + 150 * MS);
	ck_assert_uint_gt(engine->ends_eager, 0);
	nm_samplers_end(&samplers, true, 101 * S);
	ck_assert_uint_eq(nm_samplers_next_ns(&samplers), UINT64_MAX);
	engine->ends_eager = 0;
	begin(102 * S);
	run_until(103 * S);
	ck_assert_uint_eq(engine->ends_eager, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("ends");
	TCase *looking = tcase_create("looking");

	tcase_add_checked_fixture(looking, start_ends, end);
	tcase_add_test(looking, without_losses_it_is_ten_times_a_second);
	tcase_add_test(looking, after_a_loss_it_is_more_often_for_a_while);
	tcase_add_test(looking, another_loss_prolongs_it);
	tcase_add_test(looking, a_late_reset_ends_it);
	tcase_add_test(looking, where_some_are_late_none_counts_as_lost_for_a_while);
	tcase_add_test(looking, a_phase_begins_without_a_loss);
	suite_add_tcase(suite, looking);
	return run_suite(suite);
}
