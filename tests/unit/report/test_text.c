/* SPDX-License-Identifier: Apache-2.0 */
/* What a summary opens with, and what it says beside its figures; the same figures in the other
 * formats. */
#include "report/report.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "../suite.h"
#include "rendered.h"
#include "report/quantity.h"

static void all_complete(void)
{
	for (size_t h = 0; h < run->n_hosts; h++)
		run->hosts[h].complete = true;
}

START_TEST(a_stream_opens_with_the_throughput_of_both_ends)
{
	run->totals.counts.bytes_received = 0;
	all_complete();
	render("text");
	has("\n\n  throughput    sent 8.00 Mb/s  received 4.00 Mb/s\n"
	    "  retransmits   3\n"
	    "  cpu           master 50.0%  10.0.0.7 50.0%\n"
	    "  transactions  10000/s  (20000 in 2.00 s)\n"
	    "  latency       min ");
	/* An embedded slave is on the master's machine. */
	run->hosts[1].trust = NM_TRUST_EMBEDDED;
	render("text");
	has("\n  cpu           master 50.0%\n");
	run->throughput = NM_THROUGHPUT_BITS;
	run->totals.counts.bytes_received = 20000000;
	render("text");
	has("\n\n  throughput    to slaves: sent 8.00 Mb/s  received 4.00 Mb/s\n"
	    "                to master: sent 400 b/s  received 80.0 Mb/s\n");
	run->hosts[2].complete = false;
	render("text");
	has("to slaves: sent 8.00 Mb/s  received not known\n");
}
END_TEST

START_TEST(the_table_of_runs_has_what_the_report_of_each_has)
{
	struct nm_result *runs[] = {run, run};
	struct nm_runs series = {.runs = runs, .n_runs = 2};

	all_complete();
	run->totals.counts.bytes_received = 0;
	text = sample_write("text", &series);
	has("\n  throughput    sent 8.00 Mb/s  received 4.00 Mb/s\n");
	has("\n  1             10000  8.00 Mb/s  4.00 Mb/s  20.0 us  500 us\n");
	run->hosts[2].complete = false;
	free(text);
	text = sample_write("text", &series);
	has("\n  1             10000  8.00 Mb/s         -  20.0 us  500 us\n");
}
END_TEST

/* How long the longest line is. */
static size_t longest(void)
{
	size_t most = 0;

	for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
		size_t length = strcspn(line, "\n");

		most = length > most ? length : most;
	}
	return most;
}

static void render_as_wide_as(unsigned width)
{
	const struct nm_view view = {.width = width};
	struct nm_runs series = sample_series(&run);

	series.view = &view;
	free(text);
	text = sample_write("text", &series);
}

START_TEST(tables_fit_the_terminal)
{
	run->statistics = NM_STAT_INTERFACES;
	render_as_wide_as(80);
	ck_assert_uint_le(longest(), 80);
	has("\n  master         30000     3000000        30000000\n");
	render_as_wide_as(60);
	ck_assert_uint_le(longest(), 60);
	has("\n  master ");
	render_as_wide_as(200);
	has("            3       30000     3000000        30000000\n");
	/* Of a file the blocks depend on no figure. */
	render("text");
	has("\n  host      all passes  bytes sent  bytes received\n");
}
END_TEST

START_TEST(rows_of_intervals_stand_where_they_were_asked_for)
{
	const struct nm_view view = {.intervals = true};
	struct nm_runs series = sample_series(&run);

	render("text");
	has_not("interval");
	series.view = &view;
	free(text);
	text = sample_write("text", &series);
	has("\n\n  interval       group  transactions/s       sent   received     mean     max\n"
	    "  0.000-1.000 s  all             10000  8.00 Mb/s  80.0 Mb/s  20.0 us  500 us  "
	    "warmup\n"
	    "  0.000-1.000 s  small            9000  7.20 Mb/s  72.0 Mb/s  20.0 us  500 us  "
	    "warmup\n");
	has("\n  2.000-3.000 s  all             10000  8.00 Mb/s  80.0 Mb/s        -       -\n");
	ck_assert(strstr(text, "  interval ") < strstr(text, "  transactions  "));
}
END_TEST

START_TEST(what_is_less_than_all_is_not_100_per_cent)
{
	static const struct {
		double share;
		const char *text;
	} cases[] = {{0, "0%"},
		     {0.939, "93.9%"},
		     {7999 / 8000.0, "99.99%"},
		     {9999999 / 1e7, "99.99999%"},
		     {1, "100%"},
		     {1 / 1e9, "1e-07%"}};
	char buf[64];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		ck_assert_str_eq(nm_share_format(cases[i].share, buf, sizeof(buf)), cases[i].text);
}
END_TEST

/* Most connections of tcp_crr are closed before anybody could ask them. */
START_TEST(retransmits_of_short_connections_are_those_of_the_hosts)
{
	render("text");
	has_not("\n  retransmits ");
	run->totals.counts.connects = 20000;
	render("text");
	has("\n  retransmits   2 by all TCP on these hosts\n");
	run->hosts[0].connections.connections = 0;
	run->totals.counts.connects = 0;
	run->totals.counts.accepts = 20000;
	render("text");
	has("\n  retransmits   2 by all TCP on these hosts\n");
	run->hosts[1].trust = NM_TRUST_EMBEDDED;
	render("text");
	has("\n  retransmits   1 by all TCP on these hosts\n");
	run->hosts[0].usage.has_tcp = false;
	render("text");
	has_not("\n  retransmits ");
}
END_TEST

START_TEST(a_text_goes_on_below_itself)
{
	run->totals.counts.bytes_received = 0;
	all_complete();
	render_as_wide_as(40);
	has("\n  throughput    sent 8.00 Mb/s\n                received 4.00 Mb/s\n");
}
END_TEST

/* The slaves have taken the first 10 MB in 2 s, as the master has sent them, and the rest in the
 * 3 s after that. */
static void let_slaves_lag(void)
{
	all_complete();
	run->grid.warmup_s = 0;
	run->totals.counts.bytes_received = 0;
	run->totals.counts.bytes_sent = 25000000;
	run->groups[0].phases[1].slaves = (struct nm_counts){.bytes_received = 15000000};
	run->groups[0].phases[1].slaves_span = (struct nm_span){1000000000, 5500000000};
	run->groups[1].phases[1].slaves = (struct nm_counts){.bytes_received = 10000000};
	run->groups[1].phases[1].slaves_span = (struct nm_span){1500000000, 6000000000};
	/* What is not measured, and how long that took, is left out. */
	run->groups[0].phases[0].slaves = (struct nm_counts){.bytes_received = 77};
	run->groups[0].phases[0].slaves_span = (struct nm_span){1, 1000000000};
	for (size_t h = 1; h < run->n_hosts; h++) {
		run->hosts[h].window.after_bytes = 7500000;
		run->hosts[h].window.after_ns = 3000000000;
	}
}

START_TEST(a_rate_has_the_bytes_and_the_time_of_one_end)
{
	let_slaves_lag();
	render("text");
	has("\n  throughput    sent 100 Mb/s  received 40.0 Mb/s\n"
	    "                15.0 MB of it received in 3.00 s after the end of the time\n");
	render("kv");
	has("\nthroughput_sent_bits_per_s=100000000.00\n"
	    "throughput_received_bits_per_s=40000000.00\n");
	has("\nremote_throughput=40000000\n");
	render("neper");
	has("\nremote_throughput=40000000\n");
	render("json");
	json_t *document = json_loads(text, 0, NULL);
	const json_t *totals = json_object_get(document, "totals");
	const json_t *ways = json_object_get(totals, "throughput");
	const json_t *way = json_object_get(ways, "to_slaves");

	ck_assert_double_eq(json_number_value(json_object_get(way, "sent_bits_per_s")), 1e8);
	ck_assert_double_eq(json_number_value(json_object_get(way, "received_bits_per_s")), 4e7);
	ck_assert_double_eq(json_number_value(json_object_get(way, "after_bytes")), 15e6);
	ck_assert_double_eq(json_number_value(json_object_get(way, "after_s")), 3);
	way = json_object_get(ways, "to_master");
	ck_assert_double_eq(json_number_value(json_object_get(way, "after_bytes")), 0);
	ck_assert_double_eq(json_number_value(json_object_get(way, "after_s")), 0);
	json_decref(document);
}
END_TEST

START_TEST(what_came_just_after_the_end_is_not_worth_a_line)
{
	let_slaves_lag();
	run->hosts[1].window.after_ns = run->hosts[2].window.after_ns = 15000000;
	render("text");
	has("\n  throughput    sent 100 Mb/s  received 40.0 Mb/s\n  retransmits   3\n");
}
END_TEST

/* The first slave's window has closed 1 s before that of the other, and then 300 kB came to it in
 * 3 s. */
START_TEST(what_came_after_the_last_window_is_in_no_rate)
{
	struct nm_host_window *first = &run->hosts[1].window, *last = &run->hosts[2].window;

	let_slaves_lag();
	first->late_bytes = 300000;
	first->late_ns = 3000000000;
	last->to_ns += 1000000000;
	last->ns += 1000000000;
	render("kv");
	has("\nremote_throughput=2933333\n"); /* 1.1 MB in 3 s */
	render("text");
	has("\n                200 kB more received in 2.00 s after that, which are in no rate\n");
	first->late_ns = 1000000000;
	render("kv");
	has("\nremote_throughput=3466666\n"); /* all of it */
	render("text");
	has_not("more received");
}
END_TEST

/* Passes that took far too long are in no rate, at either end. */
START_TEST(what_ended_long_after_the_time_is_told)
{
	let_slaves_lag();
	run->grid.after = (struct nm_result_after){.transactions = 8, .seconds = 9};
	run->groups[1].after = run->grid.after;
	run->groups[0].phases[1].slaves.iterations = 40001; /* in windows of 2 s: 40000 */
	render("text");
	has("\n  after that    8 more ended up to 9.00 s after their time: in the latency alone\n"
	    "                group ");
	has(": 8, up to 9.00 s\n");
	has("\n  what hosts have used is over ");
	render("json");
	has("\"transactions_after\":");
	render("kv");
	has("\ntransactions_after=8\ntransactions_after_time=9.000000\n");
	has("\nremote_throughput=4000000\n"); /* 1 MB in 2 s */
}
END_TEST

/* Windows of slaves one after the other: their bytes are of all of that time, as the master's. */
START_TEST(slaves_with_windows_of_other_lengths_are_over_one_time)
{
	let_slaves_lag();
	run->grid.after = (struct nm_result_after){.transactions = 8, .seconds = 9};
	for (size_t h = 1; h < run->n_hosts; h++)
		run->hosts[h].window = (struct nm_host_window){.from_ns = 0};
	run->hosts[1].window.from_ns = 1000000000;
	run->hosts[1].window.ns = 1000000000;
	run->hosts[1].window.to_ns = 2000000000;
	run->hosts[1].window.counts.bytes_received = 1000000;
	run->hosts[2].window.from_ns = 1000000000;
	run->hosts[2].window.ns = 3000000000;
	run->hosts[2].window.to_ns = 5000000000; /* two, and 1 s between them */
	run->hosts[2].window.counts.bytes_received = 2000000;
	render("kv");
	has("\nremote_throughput=8000000\n"); /* 3 MB in 3 s */
}
END_TEST

/* Slaves of which none has a part in what is measured have done nothing, and that is known. */
START_TEST(slaves_without_a_part_have_a_rate_of_0)
{
	let_slaves_lag();
	for (size_t g = 0; g < run->n_groups; g++) {
		run->groups[g].phases[1].slaves = (struct nm_counts){.bytes_received = 0};
		run->groups[g].phases[1].slaves_span = (struct nm_span){0, 0};
	}
	render("kv");
	has("\nthroughput_received_bits_per_s=0.00\n");
}
END_TEST

START_TEST(kv_has_the_throughput_of_both_ends)
{
	all_complete();
	run->totals.counts.bytes_received = 0;
	render("kv");
	has("\nthroughput_sent_bits_per_s=8000400.00\nthroughput_received_bits_per_s=4000000.00\n");
	run->hosts[2].complete = false;
	render("kv");
	has_not("throughput_received_bits_per_s");
}
END_TEST

START_TEST(a_batch_of_datagrams_is_told_from_a_datagram)
{
	for (size_t g = 0; g < run->n_groups; g++) {
		struct nm_result_phase *phase = &run->groups[g].phases[1];

		phase->whole.counts = (struct nm_counts){
			.iterations = 15000, .messages_sent = 480000, .joined_sent = 465000};
		phase->slaves = (struct nm_counts){.messages_received = 479000};
		phase->slaves_known = true;
	}
	run->totals.counts.bytes_received = 0;
	run->totals.counts.messages_sent = 640000;
	render("text");
	has("\n  datagrams     sent 320000/s  received 319333/s  (32 in a packet: 10000 "
	    "packets/s)\n");
	has("\n  transactions  10000/s  (20000 in 2.00 s, 32 datagrams each)\n");
	ck_assert(strstr(text, "\n  to slaves ") < strstr(text, "\n  transactions "));
	render("kv");
	has("\nmessages_to_slaves_sent=960000\n");
	has("\nmessages_to_slaves_packets_sent=30000\n");
}
END_TEST

START_TEST(text_tells_which_transactions_it_sums_up)
{
	render("text");
	has_not("together");
	run->groups[0].phases[0].measured = true;
	render("text");
	has("\n  over          3 of 4 transactions together: unnamed, work\n");
	run->groups[1].phases[0].measured = true;
	free(run->groups[1].phases[0].name);
	run->groups[1].phases[0].name = strdup("wor");
	render("text");
	has("\n  over          all 4 transactions together: unnamed, work, wor\n");
}
END_TEST

START_TEST(whole_passes_stand_beside_latencies_where_a_host_thinks)
{
	render("text");
	has_not("whole pass");
	render("csv");
	has_not(",pass_");
	run->totals.pass = run->intervals[1].window.pass = run->totals.latency;
	run->totals.pass.mean_s = 0.25;
	run->groups[0].totals.pass = run->totals.pass;
	render("text");
	has("\n  whole pass    min 10.0 us  mean 250 ms");
	render("csv");
	has(",pass_count,pass_min_s,");
	render("kv");
	has("\npass_mean=0.250000000\n");
	has("\ngroup.small.pass_mean=0.250000000\n");
	has_not("group.large.pass");
}
END_TEST

START_TEST(of_many_strands_the_master_has_the_table)
{
	struct nm_group_report groups[2] = {{.n_transactions = 1}, {.n_transactions = 1}};
	struct nm_host_report reports[2] = {{.groups = &groups[0], .n_groups = 1},
					    {.groups = &groups[1], .n_groups = 1}};
	struct nm_strand_report strands[51] = {{.bytes_sent = 1500000}};

	run->statistics = NM_STAT_STRANDS;
	for (size_t h = 0; h < 2; h++) {
		groups[h].strands = strands;
		groups[h].n_strands = 50;
		groups[h].seconds = 1;
		run->hosts[h].report = &reports[h];
	}
	render("text");
	/* Amounts have the powers of 1000 that rates have. */
	has("\n  Thr0    master    small  1.50 MB  1.00 s  12.0 Mb/s");
	has("\n  Thr49   10.0.0.7  small");
	groups[1].n_strands = 51;
	render("text");
	has("\n  Thr49   master  small");
	has_not("Thr0    10.0.0.7");
	has("\n  the slaves' strands are in the JSON document\n");
	run->hosts[0].report = run->hosts[1].report = NULL;
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("text");
	TCase *tests = tcase_create("summary");

	tcase_add_checked_fixture(tests, rendered_set_up, rendered_tear_down);
	tcase_add_test(tests, a_stream_opens_with_the_throughput_of_both_ends);
	tcase_add_test(tests, the_table_of_runs_has_what_the_report_of_each_has);
	tcase_add_test(tests, tables_fit_the_terminal);
	tcase_add_test(tests, rows_of_intervals_stand_where_they_were_asked_for);
	tcase_add_test(tests, what_is_less_than_all_is_not_100_per_cent);
	tcase_add_test(tests, retransmits_of_short_connections_are_those_of_the_hosts);
	tcase_add_test(tests, a_text_goes_on_below_itself);
	tcase_add_test(tests, a_rate_has_the_bytes_and_the_time_of_one_end);
	tcase_add_test(tests, what_came_just_after_the_end_is_not_worth_a_line);
	tcase_add_test(tests, what_came_after_the_last_window_is_in_no_rate);
	tcase_add_test(tests, what_ended_long_after_the_time_is_told);
	tcase_add_test(tests, slaves_with_windows_of_other_lengths_are_over_one_time);
	tcase_add_test(tests, slaves_without_a_part_have_a_rate_of_0);
	tcase_add_test(tests, kv_has_the_throughput_of_both_ends);
	tcase_add_test(tests, a_batch_of_datagrams_is_told_from_a_datagram);
	tcase_add_test(tests, text_tells_which_transactions_it_sums_up);
	tcase_add_test(tests, whole_passes_stand_beside_latencies_where_a_host_thinks);
	tcase_add_test(tests, of_many_strands_the_master_has_the_table);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
