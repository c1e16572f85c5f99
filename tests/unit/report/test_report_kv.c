/* SPDX-License-Identifier: Apache-2.0 */
/* Keys and values: what scripts look for, and that each key stands once, on a line of its own. */
#include "report/report.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"
#include "rendered.h"

START_TEST(kv_has_interrupts_that_are_known)
{
	render("kv");
	has("\ninterrupts=24000\ncontext_switches=700\nsoftirqs=5000000\n");
	has("\nsoftirqs_net_tx=0\nsoftirqs_net_rx=4000000\nsoftirqs_sched=246\n");
	has("\nremote_softirqs_net_rx=4000000\n");
	has("\ntcp_retransmitted_segments=1\n");
	has("\nremote_tcp_retransmitted_segments=1\n");
	has_not("remote2_tcp");
	has_not("throttl");
	run->hosts[1].usage.throttling = (struct nm_throttling){15, 12, 900000000};
	render("kv");
	has("\nremote_throttling_periods=15\nremote_throttled_periods=12\n");
	has_not("\nthrottl");
	has_not("softirqs_timer");
	has_not("remote2_softirqs");
	run->hosts[1].usage.has_softirqs = false;
	run->hosts[0].usage.has_interrupts = false;
	render("kv");
	has_not("\ninterrupts=");
	has_not("\ncontext_switches=");
	has("\nremote_interrupts=24000\nremote_context_switches=700\n");
	has("\nsoftirqs_net_rx=4000000\n");
	has_not("remote_softirqs");
}
END_TEST

/* A run that has failed before its measured window. */
START_TEST(kv_has_no_figures_of_what_was_not_measured)
{
	run->totals.seconds = 0;
	for (size_t i = 0; i < run->n_groups; i++)
		run->groups[i].totals.seconds = 0;
	render("kv");
	has("\ntotal_flows=");
	has("\ngroup.small.flows=8\n");
	has_not("\nnum_transactions=");
	has_not("\ntransactions_per_s=");
	has_not("group.small.num_transactions");
	has_not("group.small.errors");
}
END_TEST

START_TEST(kv_has_the_names_scripts_know)
{
	run->hosts[2].complete = false;
	render("kv");
	ck_assert(strncmp(text, "VERSION=1.2.3\n", 14) == 0);
	has("\nnum_flows=8\nrequest_size=100\n");
	has("\nnum_transactions=20000\n");
	has("\nthroughput=10000.00\n");
	has("\nthroughput_units=transactions/s\n");
	has("\ninterval=1.000000\npercentiles=50,99.99,\n");
	has("\ninvalid_secret_count=0\n");
	has("\nmaxrss_start=2048\nmaxrss_end=4096\n");
	has("\ntotal_run_time=2.000000\nmeasured_time=2.000000\nelapsed_time=3.250000\n");
	has("\nlatency_min=0.000010000\nlatency_max=0.000500000\nlatency_mean=0.000020000\n");
	has("\nlatency_p50=0.000019000\nlatency_p99.99=0.000099000\n");
	has("\ntime_start=1700000001.123456789\ntime_end=1700000003.123456789\n");
	has("\nutime_start=0.000000\nutime_end=0.250000\n");
	has("\nremote_utime_end=0.250000\n");
	has("\nretransmits=3\nmin_rtt=0.000005000\nsrtt_min=0.000010000\nsrtt_mean=0.000020000\n");
	has_not("remote_srtt"); /* its connections were closed */
	has("\nremote_num_transactions_all=30000\n");
	has("\nremote2_host=fd00::8\n");
	has_not("remote2_utime"); /* not delivered */
	has("\nnum_samples=2\ncorrelation_coefficient=1.000000\n");
	has("\nlocal_throughput=10000\n");
	has_not("\nremote_throughput="); /* fd00::8 has not delivered */
	has("\nremote_time_start=1700000001.123456788\nremote_time_end=1700000003.123456788\n");
	has("\nremote_num_transactions=16000\n");
	has("\nremote_num_samples=1\nremote_correlation_coefficient=1.000000\n");
	has("\nremote_local_throughput=8000\n");
	has_not("remote2_local_throughput");
	run->hosts[2].complete = true;
	render("kv");
	has("\nremote_throughput=20000\n"); /* each in its own window of the run */
	for (const char *line = text; *line; line = strchr(line, '\n') + 1)
		ck_assert(strcspn(line, "=") < strcspn(line, "\n"));
}
END_TEST

START_TEST(kv_has_the_growth_at_each_end)
{
	struct nm_host_interval *rows = calloc(2, sizeof(*rows));

	/* Of the slave, points (0,0), (1,1000), (2,5000). */
	ck_assert_ptr_nonnull(rows);
	for (size_t i = 0; i < 2; i++)
		rows[i] = (struct nm_host_interval){.from_s = (double)i + 1,
						    .to_s = (double)i + 2,
						    .phase = 1,
						    .counts = {.iterations = i ? 4000 : 1000}};
	free(run->hosts[1].intervals);
	run->hosts[1].intervals = rows;
	run->hosts[1].n_intervals = 2;
	render("kv");
	has("\nremote_num_samples=2\nremote_correlation_coefficient=0.944911\n");
	/* The warm-up ends within the first of them: what it has counted is not all of the
	 * window. */
	run->grid.warmup_s = 1.5;
	render("kv");
	has("\nnum_samples=1\n");
	has("\nremote_num_samples=1\n");
	/* Without a grid the window is the only sample. */
	size_t n_intervals = run->n_intervals;

	run->n_intervals = 0;
	render("kv");
	has("\nnum_samples=1\ncorrelation_coefficient=1.000000\n");
	run->n_intervals = n_intervals;
}
END_TEST

START_TEST(kv_has_what_was_asked_for)
{
	struct nm_result *runs[] = {run};
	const struct nm_view view = {.cpus = "0,0"};
	struct nm_runs series = {.runs = runs, .n_runs = 1, .view = &view};

	render("kv");
	has_not("allowed_core");
	has_not("mmaped");
	has_not("total_transactions");
	has_not("rtt_transactions_logged");
	for (size_t i = 0; i < 2; i++)
		free(run->params.items[i].name);
	run->params.items[0].name = strdup("num_transactions");
	run->params.items[1].name = strdup("other");
	run->groups[1].maps = true;
	run->totals.counts.bytes_mapped = 5000000;
	run->hosts[1].window.counts.bytes_mapped = 100000;
	run->responses.passes = 77;
	free(text);
	text = sample_write("kv", &series);
	has("\nallowed_core_num=1\nallowed_cores=0\n");
	has("\nparam_num_transactions=8\n");
	has("\ntotal_transactions=20000\n");
	has("\nrtt_transactions_logged=77\n");
	has("\nbytes_mmaped=5000000\npercent_mmaped=25\n");
	has("\nremote_bytes_mmaped=100000\nremote_percent_mmaped=25\n");
}
END_TEST

START_TEST(kv_has_every_group)
{
	run->groups[0].totals.response = run->groups[0].totals.latency;
	render("kv");
	has("\ngroup.small.flows=8\ngroup.small.threads=2\ngroup.small.num_transactions=10000\n");
	has("\ngroup.small.errors=0\n");
	has("\ngroup.small.bytes_sent=1000000\n");
	has("\ngroup.small.latency_p50=0.000019000\n");
	has("\ngroup.small.response_p50=0.000019000\n");
	has("\ngroup.small.transactions_per_s=5000.00\n");
	has("\ngroup.large.bytes_received=10000000\n");
	has("\ngroup.large.latency_max=0.000500000\n");
	has_not("group.large.response");
}
END_TEST

START_TEST(kv_keys_of_groups_are_keys)
{
	for (size_t i = 0; i < 2; i++) {
		free(run->groups[i].name);
		run->groups[i].name = strdup("a b=c\nd");
	}
	render("kv");
	has("\ngroup.a_b_c_d.flows=8\n");
	has("\ngroup.a_b_c_d#2.flows=8\n");
	has_not("\nd");
	/* Names that differ, and make the same key. */
	for (size_t i = 0; i < 2; i++) {
		free(run->groups[i].name);
		run->groups[i].name = strdup(i ? "a_b" : "a b");
	}
	render("kv");
	has("\ngroup.a_b.flows=8\n");
	has("\ngroup.a_b#2.flows=8\n");
	free(run->groups[1].name);
	run->groups[1].name = strdup("a_b#2");
	render("kv");
	has("\ngroup.a_b_2.flows=8\n");
}
END_TEST

START_TEST(kv_of_bulk_transfer_is_what_the_reader_got)
{
	run->totals.counts.bytes_received = 0;
	for (size_t h = 0; h < run->n_hosts; h++)
		run->hosts[h].complete = true;
	render("kv");
	/* 400 000 and 600 000 bytes in 2 s; 2 000 000 were sent */
	has("\nthroughput=4.00\nthroughput_units=Mbit/s\nlocal_throughput=0\n");
	has("\nremote_throughput=4000000\n");
	has("\nremote_local_throughput=1600000\n");
	has("\nremote2_local_throughput=2400000\n");
	run->hosts[2].complete = false;
	render("kv");
	has_not("\nthroughput=");
	has("\nlocal_throughput=0\n");
}
END_TEST

START_TEST(kv_of_a_stream_is_in_bits_when_the_profile_says_so)
{
	/* Bytes go both ways, in transactions or in a stream. */
	render("kv");
	has("\nthroughput_units=transactions/s\n");
	run->throughput = NM_THROUGHPUT_BITS;
	for (size_t h = 0; h < run->n_hosts; h++)
		run->hosts[h].complete = true;
	render("kv");
	/* 20 000 000 bytes received here in 2 s */
	has("\nthroughput=80.00\nthroughput_units=Mbit/s\nlocal_throughput=80000000\n");
	has("\nremote_throughput=4000000\n");
	run->throughput = NM_THROUGHPUT_TRANSACTIONS;
	run->totals.counts.bytes_received = 0;
	render("kv");
	has("\nthroughput=10000.00\n");
	has("\nthroughput_units=transactions/s\n");
}
END_TEST

START_TEST(kv_keeps_values_on_their_line)
{
	free(run->params.items[0].value);
	run->params.items[0].value = strdup("a\nfake=1\rb");
	render("kv");
	has("\nnum_flows=a fake=1 b\n");
}
END_TEST

/* Keys of kv lines, each looked for among those before it. */
static void assert_keys_differ(void)
{
	for (const char *line = text; *line; line = strchr(line, '\n') + 1) {
		size_t length = strcspn(line, "=") + 1;

		for (const char *other = text; other < line; other = strchr(other, '\n') + 1)
			if (strncmp(line, other, length) ==
			    0) /* an assertion each takes a second */
				ck_abort_msg("twice: %.*s", (int)length, line);
	}
}

static void name_param(const char *name, size_t length)
{
	free(run->params.items[0].name);
	run->params.items[0].name = strndup(name, length);
	ck_assert_ptr_nonnull(run->params.items[0].name);
}

/* All lines there can be: a parameter may have the name of any of them. */
START_TEST(kv_has_no_key_twice)
{
	struct nm_result *runs[] = {run, run};
	struct nm_runs series = {.runs = runs, .n_runs = 2};
	char with[160];

	run->verdict.incomplete_why = strdup("why");
	run->totals.response = run->totals.latency;
	run->warnings.items = calloc(3, sizeof(char *));
	ck_assert_ptr_nonnull(run->warnings.items);
	for (; run->warnings.count < 3; run->warnings.count++)
		run->warnings.items[run->warnings.count] = strdup("careful");
	run->hosts[2].has_usage = true;
	char *all = sample_write("kv", &series);

	ck_assert_uint_gt(lines_of(all), 100);
	ck_assert_ptr_nonnull(
		strstr(all, "\nwarning=careful\nwarning2=careful\nwarning3=careful\n"));
	for (const char *line = all; *line; line = strchr(line, '\n') + 1) {
		int length = (int)strcspn(line, "=");

		/* The parameters themselves have these names already. */
		if (strncmp(line, "num_flows=", 10) == 0 || strncmp(line, "request_size=", 13) == 0)
			continue;
		name_param(line, (size_t)length);
		free(text);
		text = sample_write("kv", &series);
		assert_keys_differ();
		snprintf(with, sizeof(with), "\nparam_%.*s=8\n", length, line);
		has(with);
	}
	free(all);
	name_param("param_seed", 10);
	render("kv");
	has("\nparam_param_seed=8\n");
	name_param("slowdown_10_100kb_p50", 21);
	render("kv");
	has("\nparam_slowdown_10_100kb_p50=8\n");
}
END_TEST

START_TEST(kv_keeps_names_that_are_only_alike)
{
	static const char *const names[] = {"response_size", "latency_target", "remotehost",
					    "cpu_list",	     "seeds",	       "latency_p",
					    "response_pause"};
	char with[64];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		name_param(names[i], strlen(names[i]));
		render("kv");
		snprintf(with, sizeof(with), "\n%s=8\n", names[i]);
		has(with);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("report kv");
	TCase *tc = tcase_create("kv");

	tcase_add_checked_fixture(tc, rendered_set_up, rendered_tear_down);
	tcase_add_test(tc, kv_has_interrupts_that_are_known);
	tcase_add_test(tc, kv_has_no_figures_of_what_was_not_measured);
	tcase_add_test(tc, kv_has_the_names_scripts_know);
	tcase_add_test(tc, kv_has_the_growth_at_each_end);
	tcase_add_test(tc, kv_has_what_was_asked_for);
	tcase_add_test(tc, kv_has_every_group);
	tcase_add_test(tc, kv_keys_of_groups_are_keys);
	tcase_add_test(tc, kv_of_bulk_transfer_is_what_the_reader_got);
	tcase_add_test(tc, kv_of_a_stream_is_in_bits_when_the_profile_says_so);
	tcase_add_test(tc, kv_keeps_values_on_their_line);
	tcase_add_test(tc, kv_has_no_key_twice);
	tcase_add_test(tc, kv_keeps_names_that_are_only_alike);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
