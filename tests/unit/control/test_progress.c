/* SPDX-License-Identifier: Apache-2.0 */
/* What is told while a phase runs. */
#include "control/progress.h"

#include "../suite.h"
#include "sampled.h"

static struct nm_traffic traffic[8];
static unsigned n_traffic;
static struct nm_progress progress[8];
static unsigned n_progress;

static void on_traffic(void *arg, const struct nm_traffic *row)
{
	(void)arg;
	traffic[n_traffic++ % 8] = *row;
}

static void on_progress(void *arg, const struct nm_plan *of, const struct nm_progress *row)
{
	(void)arg;
	(void)of;
	progress[n_progress++ % 8] = *row;
}

static struct nm_progress_sampler *told;

static void start_progress(void)
{
	start();
	options.events = (struct nm_run_events){.traffic = on_traffic, .progress = on_progress};
	n_traffic = n_progress = 0;
}

static void make_progress(void)
{
	told = nm_progress_sampler_new(&plan, engine, &options, 1000 * S);
	ck_assert_ptr_nonnull(told);
	nm_samplers_add(&samplers, nm_progress_sampler_base(told));
}

static void end_progress(void)
{
	told = nm_progress_sampler_free(told);
	end();
}

START_TEST(progress_is_told_on_the_grid_and_at_both_ends)
{
	static const enum nm_progress_event expected[] = {NM_PROGRESS_START, NM_PROGRESS_BEGIN,
							  NM_PROGRESS_TICK, NM_PROGRESS_END,
							  NM_PROGRESS_FINISH};

	options.statistics = NM_STAT_RAW;
	make_progress();
	begin(100 * S);
	sent(70);
	run(101 * S);
	sent(90);
	nm_samplers_end(&samplers, true, 102 * S);
	nm_samplers_end(&samplers, true, 102 * S);
	nm_progress_sampler_finish(told, 103 * S);
	ck_assert_uint_eq(n_progress, 5);
	for (size_t i = 0; i < 5; i++)
		ck_assert_int_eq(progress[i].event, expected[i]);
	ck_assert_uint_eq(progress[2].bytes, 70);
	ck_assert_uint_eq(progress[2].wall_ns, 1101 * S);
	ck_assert_uint_eq(progress[4].bytes, 90);
	ck_assert_uint_eq(progress[4].operations, 9);
	ck_assert_uint_eq(n_traffic, 0);
}
END_TEST

START_TEST(traffic_is_what_has_moved_since_it_was_told)
{
	options.events.progress = NULL;
	options.traffic_ns = 2 * S;
	make_progress();
	begin(100 * S);
	ck_assert_uint_eq(nm_samplers_next_ns(&samplers), 102 * S);
	sent(70);
	run(102 * S);
	sent(100);
	nm_samplers_end(&samplers, true, 103 * S);
	ck_assert_uint_eq(n_traffic, 2);
	ck_assert_uint_eq(traffic[0].counts.bytes_sent, 70);
	ck_assert_double_eq(traffic[0].seconds, 2);
	ck_assert_uint_eq(traffic[1].counts.bytes_sent, 30);
	ck_assert_double_eq(traffic[1].at_s, 3);
	ck_assert_uint_eq(n_progress, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("progress");
	TCase *live = tcase_create("live");

	tcase_add_checked_fixture(live, start_progress, end_progress);
	tcase_add_test(live, progress_is_told_on_the_grid_and_at_both_ends);
	tcase_add_test(live, traffic_is_what_has_moved_since_it_was_told);
	suite_add_tcase(suite, live);
	return run_suite(suite);
}
