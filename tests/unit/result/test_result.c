/* SPDX-License-Identifier: Apache-2.0 */
#include "result/datagram_stats.h"
#include "result/difference.h"
#include "result/replayed.h"

#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"
#include "result/runs.h"
#include "stats/hist.h"

/* Of 90 answers and 10 failures p90 is the last answer, and the next percentile is none. */
START_TEST(failures_are_infinitely_late)
{
	const struct nm_percentiles list = {.pct = {0, 50, 90, 90.1, 100}, .count = 5};
	struct nm_hist_snap hist;
	struct nm_failing *failing;

	nm_hist_snap_init(&hist);
	hist.count = 90;
	hist.min_ns = 1;
	hist.max_ns = 90;
	for (unsigned ns = 1; ns <= 90; ns++)
		hist.bucket[nm_hist_index(ns)] = 1;
	failing = nm_failing_from_hist(&hist, 10, &list);
	ck_assert_uint_eq(failing->failures, 10);
	ck_assert_double_eq_tol(failing->pct_s[0], 1e-9, 1e-12);
	ck_assert_double_eq_tol(failing->pct_s[1], 50e-9, 1e-12);
	ck_assert_double_eq_tol(failing->pct_s[2], 90e-9, 1e-12);
	ck_assert(isinf(failing->pct_s[3]) && isinf(failing->pct_s[4]));
	free(failing);
	nm_hist_snap_init(&hist);
	failing = nm_failing_from_hist(&hist, 1, &list);
	ck_assert(isinf(failing->pct_s[0]));
	free(failing);
}
END_TEST

START_TEST(percentiles_are_sorted_and_kept_once)
{
	struct nm_percentiles list;

	ck_assert_int_eq(nm_percentiles_parse("99.9,50,0,100,50", &list), 0);
	ck_assert_uint_eq(list.count, 4);
	ck_assert_double_eq(list.pct[0], 0);
	ck_assert_double_eq(list.pct[1], 50);
	ck_assert_double_eq(list.pct[2], 99.9);
	ck_assert_double_eq(list.pct[3], 100);
}
END_TEST

static const char *const wrong_percentiles[] = {
	"",    ",",   "50,",  ",50", "50,,99", "p50",	"-1", "100.1", "1e1",
	"nan", "inf", "0x10", "50 ", " 50",    "50;99", ".",  "5.5.5",
};

START_TEST(wrong_percentiles_are_refused_and_write_nothing)
{
	struct nm_percentiles list = {.count = 77};

	ck_assert_int_eq(nm_percentiles_parse(wrong_percentiles[_i], &list), -EINVAL);
	ck_assert_uint_eq(list.count, 77);
}
END_TEST

START_TEST(percentiles_have_a_limit)
{
	struct nm_percentiles list;
	char text[2048] = "";
	size_t used = 0;

	for (int i = 0; i < NM_RESULT_MAX_PERCENTILES; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%g", i ? "," : "",
					 i / 2.0);
	ck_assert_int_eq(nm_percentiles_parse(text, &list), 0);
	ck_assert_uint_eq(list.count, NM_RESULT_MAX_PERCENTILES);
	/* One that is there already is not one more. */
	snprintf(text + used, sizeof(text) - used, ",7");
	ck_assert_int_eq(nm_percentiles_parse(text, &list), 0);
	snprintf(text + used, sizeof(text) - used, ",99");
	ck_assert_int_eq(nm_percentiles_parse(text, &list), -ERANGE);
}
END_TEST

START_TEST(default_percentiles)
{
	struct nm_percentiles list, parsed;

	nm_percentiles_default(&list);
	ck_assert_int_eq(nm_percentiles_parse("50,90,95,99,99.9", &parsed), 0);
	ck_assert_uint_eq(list.count, parsed.count);
	for (size_t i = 0; i < list.count; i++)
		ck_assert_double_eq(list.pct[i], parsed.pct[i]);
}
END_TEST

START_TEST(latency_of_a_histogram)
{
	struct nm_hist *hist = calloc(1, sizeof(*hist));
	struct nm_hist_snap *snap = malloc(sizeof(*snap));
	struct nm_percentiles list;
	struct nm_latency latency;

	ck_assert(hist && snap);
	nm_hist_init_zeroed(hist);
	for (uint64_t us = 1; us <= 100; us++)
		nm_hist_record(hist, us * 1000);
	nm_hist_snap_init(snap);
	nm_hist_collect(snap, hist);
	ck_assert_int_eq(nm_percentiles_parse("50,99", &list), 0);
	nm_latency_from_hist(&latency, snap, &list);
	ck_assert_uint_eq(latency.count, 100);
	ck_assert_double_eq_tol(latency.min_s, 1e-6, 1e-12);
	ck_assert_double_eq_tol(latency.max_s, 100e-6, 1e-12);
	ck_assert_double_eq_tol(latency.mean_s, 50.5e-6, 1e-9);
	/* Of 1..100: 28.87 for the population, 29.01 for a sample. */
	ck_assert_double_eq_tol(latency.stddev_s, 28.9e-6, 0.2e-6);
	ck_assert_double_eq_tol(latency.pct_s[0], 50e-6, 50e-6 / 100 + 1e-6);
	ck_assert_double_eq_tol(latency.pct_s[1], 99e-6, 99e-6 / 100 + 1e-6);

	nm_hist_snap_init(snap);
	nm_latency_from_hist(&latency, snap, &list);
	ck_assert_uint_eq(latency.count, 0);
	ck_assert_double_eq(latency.max_s, 0);
	free(hist);
	free(snap);
}
END_TEST

START_TEST(rates_of_a_window)
{
	struct nm_window window = {
		.seconds = 2,
		.counts = {.iterations = 10, .bytes_sent = 1000, .bytes_received = 500},
	};

	ck_assert_double_eq_tol(nm_window_transactions_per_s(&window), 5, 1e-12);
	ck_assert_double_eq_tol(nm_window_bits_per_s(&window), 6000, 1e-9);
	window.seconds = 0;
	ck_assert_double_eq(nm_window_transactions_per_s(&window), 0);
	ck_assert_double_eq(nm_window_bits_per_s(&window), 0);
}
END_TEST

START_TEST(a_window_owns_its_measured_flows)
{
	struct nm_tally_snap *sample = nm_tally_snap_new(0);
	const struct nm_percentiles list = {.pct = {50}, .count = 1};
	struct nm_window window, copy;

	ck_assert_ptr_nonnull(sample);
	ck_assert_int_eq(nm_window_fill(&window, sample, 2000000000, &list), 0);
	ck_assert_ptr_null(window.sized);
	ck_assert_uint_eq(nm_window_time(&window, NM_TIME_SLOWDOWN)->count, 0);
	ck_assert_ptr_eq(nm_window_time(&window, NM_TIME_RESPONSE), &window.response);
	sample->kept = 1u << NM_TIME_SLOWDOWN | 1u << NM_TIME_SLOWDOWN_1_10MB;
	for (unsigned i = NM_TIME_SLOWDOWN; i <= NM_TIME_SLOWDOWN_1_10MB;
	     i += NM_TIME_SLOWDOWN_1_10MB - NM_TIME_SLOWDOWN) {
		struct nm_hist_snap *hist = &sample->times[i];

		hist->bucket[nm_hist_index(1500000000)] = hist->count = 1;
		hist->sum_ns = hist->min_ns = hist->max_ns = 1500000000;
	}
	ck_assert_int_eq(nm_window_fill(&window, sample, 2000000000, &list), 0);
	ck_assert_int_eq(nm_window_copy(&copy, &window), 0);
	nm_window_fini(&window);
	ck_assert_double_eq(nm_window_time(&copy, NM_TIME_SLOWDOWN)->mean_s, 1.5);
	ck_assert_double_eq(nm_window_time(&copy, NM_TIME_SLOWDOWN_1_10MB)->pct_s[0], 1.5);
	ck_assert_uint_eq(nm_window_time(&copy, NM_TIME_COMPLETE_1_10MB)->count, 0);
	nm_window_fini(&copy);
	free(sample);
}
END_TEST

START_TEST(shares_of_cpu_time_add_up)
{
	struct nm_cpu_times cpu = {
		.user_ns = 10,
		.nice_ns = 20,
		.system_ns = 30,
		.idle_ns = 40,
		.iowait_ns = 5,
		.irq_ns = 15,
		.softirq_ns = 25,
		.steal_ns = 55,
	};
	struct nm_cpu_times none = {0};

	ck_assert_double_eq_tol(nm_cpu_share(&cpu, cpu.user_ns), 0.05, 1e-12);
	ck_assert_double_eq_tol(nm_cpu_share(&cpu, 200), 1, 1e-12);
	ck_assert_double_eq(nm_cpu_share(&none, 0), 0);
}
END_TEST

static struct nm_result *run_of(uint64_t transactions, bool complete, bool latency)
{
	struct nm_result *run = nm_result_new();

	ck_assert_ptr_nonnull(run);
	run->complete = complete;
	nm_percentiles_default(&run->percentiles);
	run->totals.seconds = 1;
	run->totals.counts.iterations = transactions;
	run->totals.counts.bytes_sent = transactions;
	if (latency) {
		run->totals.latency = (struct nm_latency){.count = 1, .mean_s = 0.5};
		run->totals.latency.pct_s[0] = 0.25;
		run->totals.latency.pct_s[3] = 0.75;
	}
	return run;
}

START_TEST(a_series_is_summarised_over_its_complete_runs)
{
	struct nm_runs series = {.runs = calloc(4, sizeof(struct nm_result *))};
	struct nm_runs_summary summary;

	ck_assert_ptr_nonnull(series.runs);
	series.runs[series.n_runs++] = run_of(100, true, true);
	series.runs[series.n_runs++] = run_of(200, true, true);
	series.runs[series.n_runs++] = run_of(300, true, false);
	series.runs[series.n_runs++] = run_of(9000, false, true);
	nm_runs_summarise(&series, &summary);
	ck_assert_uint_eq(summary.transactions_per_s.n, 3);
	ck_assert_double_eq_tol(summary.transactions_per_s.mean, 200, 1e-9);
	ck_assert_double_eq_tol(summary.transactions_per_s.stddev, 100, 1e-9);
	/* t(0.975, 2) = 4.3027; 4.3027 * 100 / sqrt(3) */
	ck_assert_double_eq_tol(summary.transactions_per_s.ci95, 248.41, 0.05);
	ck_assert_double_eq_tol(summary.bits_per_s.mean, 1600, 1e-9);
	/* The third run has no latency: it is left out there, not taken as 0. */
	ck_assert_uint_eq(summary.latency_mean_s.n, 2);
	ck_assert_double_eq_tol(summary.latency_mean_s.mean, 0.5, 1e-12);
	ck_assert_double_eq_tol(summary.latency_p50_s.mean, 0.25, 1e-12);
	ck_assert_double_eq_tol(summary.latency_p99_s.mean, 0.75, 1e-12);
	nm_runs_fini(&series);
	ck_assert_uint_eq(series.n_runs, 0);
	ck_assert_ptr_null(series.runs);
}
END_TEST

START_TEST(an_empty_series_has_no_figures)
{
	struct nm_runs series = {.n_runs = 0};
	struct nm_runs_summary summary;

	nm_runs_summarise(&series, &summary);
	ck_assert_uint_eq(summary.transactions_per_s.n, 0);
	ck_assert_uint_eq(summary.latency_p99_s.n, 0);
	nm_runs_fini(&series);
}
END_TEST

static struct nm_host_report report_of(double elapsed_s, uint64_t operations)
{
	return (struct nm_host_report){.elapsed_s = elapsed_s, .operations = operations};
}

START_TEST(a_span_covers_what_there_is)
{
	struct nm_span span = {0, 0};

	ck_assert_double_eq(nm_span_s(span), 0);
	nm_span_cover(&span, (struct nm_span){0, 0});
	ck_assert_double_eq(nm_span_s(span), 0);
	nm_span_cover(&span, (struct nm_span){3000000000, 5000000000});
	nm_span_cover(&span, (struct nm_span){9, 9}); /* nobody was there */
	ck_assert_double_eq(nm_span_s(span), 2);
	nm_span_cover(&span, (struct nm_span){4000000000, 6000000000});
	nm_span_cover(&span, (struct nm_span){1000000000, 2000000000});
	ck_assert_uint_eq(span.from_ns, 1000000000);
	ck_assert_uint_eq(span.to_ns, 6000000000);
}
END_TEST

START_TEST(the_difference_is_that_of_all_slaves)
{
	struct nm_host_report reports[] = {report_of(2, 200), report_of(1, 100), report_of(2, 50)};
	struct nm_result_host hosts[] = {
		{.is_master = true, .report = &reports[0], .counts = {.bytes_sent = 1000}},
		{.report = &reports[1], .counts = {.bytes_received = 600}},
		{.report = &reports[2], .counts = {.bytes_received = 300, .errors = 1}},
	};
	struct nm_result result = {.hosts = hosts, .n_hosts = 3};
	struct nm_difference d;

	ck_assert(nm_result_difference(&result, &d));
	ck_assert_double_eq_tol(d.time, 0, 1e-9);
	ck_assert_double_eq_tol(d.data, 10, 1e-9);
	ck_assert_double_eq_tol(d.throughput, 100 - 100 * (600 + 150) / 500., 1e-9);
	ck_assert_double_eq_tol(d.operations, 25, 1e-9);
	/* Of nothing, something is no percentage. */
	ck_assert(isnan(d.errors));
	hosts[2].counts.errors = 0;
	ck_assert(nm_result_difference(&result, &d));
	ck_assert(d.errors == 0);
	/* Nothing received is all the difference. */
	hosts[1].counts.bytes_received = hosts[2].counts.bytes_received = 0;
	ck_assert(nm_result_difference(&result, &d));
	ck_assert(d.data == 100);
	hosts[2].report = NULL;
	ck_assert(!nm_result_difference(&result, &d));
	result.n_hosts = 1;
	ck_assert(!nm_result_difference(&result, &d));
}
END_TEST

START_TEST(what_came_after_the_window_is_not_in_the_rate_of_a_host)
{
	struct nm_host_report report = report_of(3, 200);
	const struct nm_counts of_group = {.bytes_received = 300};
	const struct nm_counts sent = {.bytes_sent = 600};
	struct nm_result_host hosts[] = {
		{.is_master = true,
		 .report = &report,
		 .counts = sent,
		 .window = {.ns = 2000000000, .counts = sent}},
		{.report = &report, .counts = {.bytes_received = 600}},
	};
	struct nm_result_host *host = &hosts[1];
	struct nm_result result = {.hosts = hosts, .n_hosts = 2};
	struct nm_difference d;

	ck_assert(!nm_result_is_cut(&result));
	ck_assert(!nm_result_is_late(&result));
	ck_assert_double_eq(nm_result_host_rate(host, &host->counts, false), 200);
	host->window = (struct nm_host_window){.ns = 2000000000,
					       .counts = {.bytes_received = 500},
					       .late_bytes = 100,
					       .late_ns = 500000000};
	ck_assert(nm_result_is_cut(&result));
	ck_assert(nm_result_is_late(&result));
	ck_assert_double_eq_tol(nm_result_host_rate(host, &host->counts, true), 250, 1e-9);
	ck_assert_double_eq_tol(nm_result_host_rate(host, &of_group, true), 125, 1e-9);
	/* That of the sender, to which nothing came, is of its window, too. */
	ck_assert_double_eq_tol(nm_result_host_rate(&hosts[0], &sent, true), 300, 1e-9);
	ck_assert(nm_result_difference(&result, &d));
	ck_assert_double_eq_tol(d.throughput, 100 - 100 * 250 / 300., 1e-9);
	host->counts.bytes_received = 0;
	ck_assert_double_eq(nm_result_host_rate(host, &host->counts, true), 0);
	/* Who has no window has the rate of the run. */
	hosts[0].window.ns = 0;
	ck_assert_double_eq(nm_result_host_rate(&hosts[0], &sent, true), 200);
}
END_TEST

/* Of 100 requests, of which ten are no verb of the mix. */
START_TEST(what_a_replay_has_not_made)
{
	static const struct {
		uint64_t total, arrivals, iterations, unanswered, made, unmade;
	} all[] = {
		{0, 0, 80, 5, 85, 5},
		{0, 0, 200, 0, 200, 0},
		/* Who asked for fewer misses of these alone, and who asked for more of a round. */
		{50, 0, 40, 3, 43, 7},
		{50, 0, 50, 0, 50, 0},
		{300, 0, 80, 0, 80, 10},
		/* Of open arrivals those that have begun. */
		{50, 45, 40, 0, 45, 5},
	};
	struct nm_result_phase phase = {
		.arrivals = all[_i].arrivals ? (char *)"const(1/s)" : NULL,
		.recorded = {.lines = 100, .left_out = 10, .total = all[_i].total},
		.whole.counts = {.arrivals = all[_i].arrivals,
				 .iterations = all[_i].iterations,
				 .unanswered = all[_i].unanswered}};
	struct nm_replayed of;

	ck_assert(nm_phase_replayed(&phase, &of));
	ck_assert_uint_eq(of.made, all[_i].made);
	ck_assert_uint_eq(of.unmade, all[_i].unmade);
	phase.recorded.lines = phase.recorded.left_out = 0;
	ck_assert(!nm_phase_replayed(&phase, &of));
}
END_TEST

START_TEST(warnings_are_kept_in_their_order)
{
	struct nm_result *result = nm_result_new();

	ck_assert_ptr_nonnull(result);
	nm_result_warn(result, "the %s", "first");
	nm_result_warn(result, "%d", 2);
	ck_assert_uint_eq(result->warnings.count, 2);
	ck_assert_str_eq(result->warnings.items[0], "the first");
	ck_assert_str_eq(result->warnings.items[1], "2");
	ck_assert_ptr_null(nm_result_free(result));
}
END_TEST

/* The counts are of whole transactions; the rate is that of the window, each host by its own
 * clock. */
START_TEST(rates_of_messages_are_cut_as_the_totals_are)
{
	struct nm_result *result = nm_result_new();
	struct nm_datagram_stats messages;

	ck_assert_ptr_nonnull(result);
	result->groups = calloc(1, sizeof(*result->groups));
	result->hosts = calloc(3, sizeof(*result->hosts));
	ck_assert(result->groups && result->hosts);
	result->n_groups = 1;
	result->n_hosts = 3;
	result->hosts[0].is_master = true;
	result->groups[0].phases = calloc(1, sizeof(*result->groups[0].phases));
	ck_assert_ptr_nonnull(result->groups[0].phases);
	result->groups[0].n_phases = 1;
	result->groups[0].phases[0] = (struct nm_result_phase){
		.measured = true,
		.seconds = 2,
		.whole = {.counts = {.messages_sent = 90, .message_bytes = 50}},
		.slaves = {.messages_received = 80, .message_bytes = 1000},
		.slaves_span = {.from_ns = 7000000000, .to_ns = 12000000000},
		.slaves_known = true};
	nm_result_datagrams(result, &messages);
	/* Each end by its own time. */
	ck_assert_double_eq(messages.to_slaves.received_bits_per_s, 1600);
	ck_assert_double_eq(messages.to_master.received_bits_per_s, 200);
	result->grid.warmup_s = 1;
	result->hosts[1].arrived = (struct nm_arrived){.bytes = 300, .ns = 1000000000};
	result->hosts[2].arrived = (struct nm_arrived){.bytes = 300, .ns = 500000000};
	nm_result_datagrams(result, &messages);
	ck_assert_double_eq(messages.to_slaves.received_bits_per_s, 2400 + 4800);
	ck_assert_double_eq(messages.to_master.received_bits_per_s, 0);
	ck_assert_uint_eq(messages.to_slaves.lost, 10);
	/* Slaves that are lost have told nothing, which is not that they have got nothing. */
	result->groups[0].phases[0].slaves_known = false;
	nm_result_datagrams(result, &messages);
	ck_assert(messages.any && messages.to_slaves.sent_known &&
		  messages.to_master.received_known);
	ck_assert(!messages.to_slaves.received_known && !messages.to_master.sent_known);
	ck_assert(isnan(messages.to_slaves.received_bits_per_s));
	ck_assert_uint_eq(messages.to_slaves.lost + messages.to_master.lost, 0);
	nm_result_free(result);
}
END_TEST

/* Rows belong together that begin together; the last one takes in what hosts have counted after
 * it. */
START_TEST(messages_of_intervals_are_those_of_all_hosts)
{
	struct nm_host_interval first[] = {
		{.to_s = 1, .counts = {.messages_received = 5, .message_bytes = 500, .skipped = 3}},
		{.from_s = 1,
		 .to_s = 2,
		 .counts = {.messages_received = 6, .message_bytes = 600, .reordered = 2}},
		{.from_s = 2, .to_s = 2.5, .counts = {.messages_received = 1, .skipped = 1}},
	};
	struct nm_host_interval second[] = {
		{.to_s = 1, .counts = {.messages_received = 7, .message_bytes = 700}},
		{.from_s = 1, .to_s = 1.25, .counts = {.bytes_received = 9999}},
	};
	struct nm_result_host hosts[] = {{.is_master = true},
					 {.intervals = first, .n_intervals = 3},
					 {.intervals = second, .n_intervals = 2}};
	struct nm_result_interval rows[] = {
		{.to_s = 1, .window = {.seconds = 2, .counts = {.messages_sent = 20}}},
		{.from_s = 1, .to_s = 1.5, .window = {.counts = {.messages_sent = 4}}},
	};
	struct nm_result result = {
		.hosts = hosts, .n_hosts = 3, .intervals = rows, .n_intervals = 2};
	struct nm_datagram_stats messages;
	struct nm_datagram_direction way;

	nm_interval_datagrams(&result, 0, &messages);
	ck_assert(messages.any && messages.to_slaves.received_known);
	ck_assert_uint_eq(messages.to_slaves.sent, 20);
	ck_assert_uint_eq(messages.to_slaves.received, 12);
	ck_assert(messages.to_slaves.lost_known && messages.to_master.lost_known);
	ck_assert_int_eq(messages.to_slaves.lost, 3);
	ck_assert_double_eq(messages.to_slaves.received_bits_per_s, 1200 * 8);
	nm_interval_datagrams(&result, 1, &messages);
	ck_assert_uint_eq(messages.to_slaves.received, 7);
	ck_assert_int_eq(messages.to_slaves.lost, -1);
	ck_assert_double_eq(messages.to_slaves.received_bits_per_s, 600 * 8 / 1.5);
	/* One that was done before the row began has nothing in it; one without any row has told
	 * nothing. */
	hosts[2].n_intervals = 1;
	nm_interval_datagrams(&result, 1, &messages);
	ck_assert_uint_eq(messages.to_slaves.received, 7);
	hosts[2].n_intervals = 0;
	nm_interval_datagrams(&result, 1, &messages);
	ck_assert(!messages.to_slaves.received_known && !messages.to_slaves.lost_known);
	ck_assert(messages.to_slaves.sent_known && !messages.to_master.sent_known);
	ck_assert(isnan(messages.to_slaves.received_bits_per_s));
	nm_host_interval_datagrams(&first[1], &way);
	ck_assert(way.lost_known);
	ck_assert_int_eq(way.lost, -2);
	first[1].counts.unnumbered = 1;
	nm_host_interval_datagrams(&first[1], &way);
	ck_assert(!way.lost_known);
}
END_TEST

/* Messages without a number: that some have come twice shows only in that more came than were
 * sent. */
START_TEST(what_has_no_number_is_not_known)
{
	struct nm_result_phase phase = {
		.whole.counts = {.messages_sent = 5, .messages_received = 4, .unnumbered = 4},
		.slaves = {.messages_sent = 5, .messages_received = 5, .unnumbered = 5},
		.slaves_known = true,
	};
	struct nm_datagram_stats messages;

	nm_phase_datagrams(&phase, &messages);
	ck_assert(!messages.to_slaves.order_known && !messages.to_master.order_known);
	ck_assert(messages.to_slaves.lost_known && messages.to_master.lost_known);
	ck_assert_int_eq(messages.to_slaves.lost, 0);
	ck_assert_int_eq(messages.to_master.lost, 1);
	phase.slaves.messages_received = phase.slaves.unnumbered = 6;
	nm_phase_datagrams(&phase, &messages);
	ck_assert(!messages.to_slaves.lost_known && !messages.to_master.lost_known);
	phase.slaves.unnumbered = phase.whole.counts.unnumbered = 0;
	phase.slaves.duplicates = 1;
	nm_phase_datagrams(&phase, &messages);
	ck_assert(messages.to_slaves.order_known && messages.to_slaves.lost_known);
	ck_assert_int_eq(messages.to_slaves.lost, 0);
}
END_TEST

/* Both ends count the same connections, but one may be lost. Groups that were not asked to are left
 * out. */
START_TEST(connections_are_counted_once)
{
	struct nm_counts here[] = {{.connects = 50, .fastopens = 48}, {.connects = 7}};
	struct nm_counts there[] = {{.accepts = 50, .fastopens = 48}, {.accepts = 7}};
	struct nm_result_group groups[] = {{.opens_fast = true}, {.n_flows = 1}};
	struct nm_result_host hosts[] = {{.is_master = true, .groups = here, .n_groups = 2},
					 {.groups = there, .n_groups = 2}};
	struct nm_result result = {.groups = groups, .n_groups = 2, .hosts = hosts, .n_hosts = 2};
	uint64_t fast, all;

	ck_assert(nm_result_fastopens(&result, &fast, &all));
	ck_assert_uint_eq(fast, 48);
	ck_assert_uint_eq(all, 50);
	hosts[1].n_groups = 0;
	ck_assert(nm_result_fastopens(&result, &fast, &all));
	ck_assert_uint_eq(fast, 48);
	ck_assert_uint_eq(all, 50);
	groups[0].opens_fast = false;
	ck_assert(!nm_result_fastopens(&result, &fast, &all));
}
END_TEST

START_TEST(half_built_results_can_be_freed)
{
	struct nm_result *result = nm_result_new();

	ck_assert_ptr_null(nm_result_free(NULL));
	ck_assert_ptr_nonnull(result);
	/* As after a failed allocation of the arrays. */
	result->n_groups = 3;
	result->n_hosts = 2;
	result->warnings.count = 1;
	ck_assert_ptr_null(nm_result_free(result));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("result");
	TCase *tc = tcase_create("result");
	int wrong = sizeof(wrong_percentiles) / sizeof(wrong_percentiles[0]);

	tcase_add_test(tc, percentiles_are_sorted_and_kept_once);
	tcase_add_loop_test(tc, wrong_percentiles_are_refused_and_write_nothing, 0, wrong);
	tcase_add_test(tc, percentiles_have_a_limit);
	tcase_add_test(tc, default_percentiles);
	tcase_add_test(tc, latency_of_a_histogram);
	tcase_add_test(tc, rates_of_a_window);
	tcase_add_test(tc, a_window_owns_its_measured_flows);
	tcase_add_test(tc, shares_of_cpu_time_add_up);
	tcase_add_test(tc, a_series_is_summarised_over_its_complete_runs);
	tcase_add_test(tc, an_empty_series_has_no_figures);
	tcase_add_test(tc, a_span_covers_what_there_is);
	tcase_add_test(tc, the_difference_is_that_of_all_slaves);
	tcase_add_test(tc, what_came_after_the_window_is_not_in_the_rate_of_a_host);
	tcase_add_loop_test(tc, what_a_replay_has_not_made, 0, 6);
	tcase_add_test(tc, warnings_are_kept_in_their_order);
	tcase_add_test(tc, rates_of_messages_are_cut_as_the_totals_are);
	tcase_add_test(tc, messages_of_intervals_are_those_of_all_hosts);
	tcase_add_test(tc, what_has_no_number_is_not_known);
	tcase_add_test(tc, connections_are_counted_once);
	tcase_add_test(tc, half_built_results_can_be_freed);
	tcase_add_test(tc, failures_are_infinitely_late);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
