/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of single flows, and what TCP says of them. */
#include "control/flows.h"

#include "../suite.h"
#include "sampled.h"

static struct nm_flow_row flow_rows[8];
static unsigned n_flow_rows, n_tcp_rows;
static double flow_seconds;

static void on_flows(void *arg, const struct nm_flow_rows *list)
{
	(void)arg;
	for (size_t i = 0; i < list->count; i++)
		flow_rows[n_flow_rows++ % 8] = list->rows[i];
	flow_seconds = list->seconds;
}

static void on_tcp(void *arg, const struct nm_tcp_rows *list)
{
	(void)arg;
	n_tcp_rows += (unsigned)list->count;
}

static struct nm_flow_sampler *flows;

static void start_flows(void)
{
	start();
	n_flow_rows = n_tcp_rows = 0;
}

static void make_flows(const struct nm_percentiles *percentiles)
{
	const struct nm_flow_config config = {.engine = engine,
					      .plan = &plan,
					      .interval_ns = S,
					      .percentiles = percentiles,
					      .flows = on_flows,
					      .tcp = on_tcp};

	flows = nm_flow_sampler_new(&config);
	ck_assert_ptr_nonnull(flows);
	nm_samplers_add(&samplers, nm_flow_sampler_base(flows));
}

static void end_flows(void)
{
	flows = nm_flow_sampler_free(flows);
	end();
}

START_TEST(each_flow_has_a_row_with_what_it_has_done_since_the_last)
{
	make_flows(NULL);
	begin(100 * S);
	engine->flows[1] = (struct nm_flow_sample){.passes = 4,
						   .bytes_sent = 40,
						   .sum_ns = 8000,
						   .squares = 1.7e-11,
						   .min_ns = 1000,
						   .max_ns = 3000};
	run(101 * S);
	ck_assert_uint_eq(n_flow_rows, 2);
	ck_assert(!flow_rows[0].has_latency);
	ck_assert_uint_eq(flow_rows[1].flow, 1);
	ck_assert_uint_eq(flow_rows[1].delta.passes, 4);
	ck_assert(flow_rows[1].has_latency);
	ck_assert_double_eq_tol(flow_rows[1].mean_s, 2e-6, 1e-12);
	engine->flows[1].passes = 5;
	engine->flows[1].bytes_sent = 50;
	engine->parts[0][1].end_ns = 101 * S + S / 2;
	nm_samplers_end(&samplers, false, 102 * S);
	ck_assert_uint_eq(flow_rows[3].delta.bytes_sent, 10);
	ck_assert_uint_eq(flow_rows[3].total.bytes_sent, 50);
	ck_assert_double_eq(flow_seconds, 0.5);
	nm_samplers_end(&samplers, true, 103 * S);
	ck_assert_uint_eq(n_flow_rows, 4);
}
END_TEST

START_TEST(percentiles_are_those_since_the_last_row)
{
	static struct nm_hist_snap times;
	const struct nm_percentiles percentiles = {.count = 1, .pct = {50}};

	engine->config.details |= NM_OBSERVE_PASS_TIMES;
	engine->flow_times = &times;
	make_flows(&percentiles);
	begin(100 * S);
	nm_hist_snap_init(&times);
	times.min_ns = times.max_ns = 10;
	times.bucket[nm_hist_index(10)] = 1;
	engine->flows[0] = engine->flows[1] =
		(struct nm_flow_sample){.passes = 1, .sum_ns = 10, .min_ns = 10, .max_ns = 10};
	run(101 * S);
	ck_assert_ptr_nonnull(flow_rows[0].pct_s);
	ck_assert_double_eq_tol(*flow_rows[0].pct_s, 1e-8, 1e-12);
	/* Nothing more: no latency, and no percentiles. */
	run(102 * S);
	ck_assert_ptr_null(flow_rows[2].pct_s);
}
END_TEST

START_TEST(tcp_info_comes_when_all_have_answered)
{
	make_flows(NULL);
	engine->n_tcp = 2;
	begin(100 * S);
	run(101 * S);
	ck_assert(engine->tcp_asked);
	run(101 * S + 1);
	ck_assert_uint_eq(n_tcp_rows, 0);
	engine->tcp_answered = true;
	run(101 * S + 2);
	ck_assert_uint_eq(n_tcp_rows, 2);
	run(102 * S);
	engine->parts[0][1].end_ns = 102 * S;
	/* Those that were asked for, and the last ones. */
	nm_samplers_end(&samplers, true, 102 * S);
	ck_assert_uint_eq(n_tcp_rows, 6);
}
END_TEST

START_TEST(without_details_no_flow_is_read)
{
	engine->config.details = NM_OBSERVE_COUNTS;
	make_flows(NULL);
	begin(100 * S);
	ck_assert_uint_eq(nm_samplers_next_ns(&samplers), UINT64_MAX);
	run(105 * S);
	nm_samplers_end(&samplers, true, 105 * S);
	ck_assert_uint_eq(n_flow_rows, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("flows");
	TCase *single = tcase_create("single");

	tcase_add_checked_fixture(single, start_flows, end_flows);
	tcase_add_test(single, each_flow_has_a_row_with_what_it_has_done_since_the_last);
	tcase_add_test(single, percentiles_are_those_since_the_last_row);
	tcase_add_test(single, tcp_info_comes_when_all_have_answered);
	tcase_add_test(single, without_details_no_flow_is_read);
	suite_add_tcase(suite, single);
	return run_suite(suite);
}
