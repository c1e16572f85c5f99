/* SPDX-License-Identifier: Apache-2.0 */
#include "report/report.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"
#include "report/common.h"
#include "report/table.h"
#include "rendered.h"

START_TEST(reports_are_found_by_name)
{
	for (size_t i = 0; nm_reports[i]; i++)
		ck_assert_ptr_eq(nm_report_find(nm_reports[i]->name), nm_reports[i]);
	ck_assert_ptr_null(nm_report_find("yaml"));
	ck_assert_ptr_null(nm_report_find(""));
}
END_TEST

START_TEST(reports_are_listed_with_what_their_words_mean)
{
	char list[256], room[16];

	ck_assert_str_eq(nm_report_choices(list, sizeof list),
			 "text, json, kv (key=value), neper (key=value as neper prints it), uperf "
			 "(as uperf prints it), "
			 "csv (intervals) or junit (test results for CI)");
	ck_assert_str_eq(nm_report_choices(room, sizeof room), "text, json");
}
END_TEST

START_TEST(no_run_is_an_error_in_every_format)
{
	struct nm_runs none = {.n_runs = 0};

	for (size_t i = 0; nm_reports[i]; i++)
		ck_assert_int_eq(nm_reports[i]->write(&none, stdout), -EINVAL);
}
END_TEST

START_TEST(a_lost_stream_is_an_error_in_every_format)
{
	struct nm_runs series = sample_series(&run);
	struct nm_host_report report = {.elapsed_s = 1};

	run->hosts[0].report = &report; /* without it uperf's has nothing to write */
	for (size_t i = 0; nm_reports[i]; i++) {
		FILE *full = fopen("/dev/full", "w");
		ck_assert_ptr_nonnull(full);
		ck_assert_int_eq(nm_reports[i]->write(&series, full), -ENOSPC);
		fclose(full);
	}
	run->hosts[0].report = NULL;
}
END_TEST

START_TEST(text_tells_the_run)
{
	render("text");
	has("netmodel 1.2.3  mix");
	has("run 0123456789ab  2023-11-14T22:13:20Z  seed 42");
	has("with num_flows=8\n");
	has_not("request_size"); /* its default */
	has("10000/s  (20000 in ");
	has("p99.99 ");
	has("counts of both ends agree");
	has("hosts began within ");
	has("warm-up");
	has_not("INCOMPLETE");
	has_not("response");
	has_not("errors");
	has_not("warning");
}
END_TEST

START_TEST(text_tells_groups_and_hosts)
{
	render("text");
	has("\n  group  flows  workers  transactions/s       sent   received\n");
	has("\n  small      8        2            5000  4.00 Mb/s  40.0 Mb/s\n");
	has("\n  group     mean      p50     max\n");
	has("\n  small  20.0 us  19.0 us  500 us\n");
	has("  idle  min rtt     srtt  retransmits\n");
	has("\n  master    10.0%   30.0%    10.0%  50.0%  5.00 us  20.0 us            3\n");
	has("\n  master         30000     3000000        30000000\n");
	has("TLS on master: TLSv1.3 A-CIPHER, connections 16, resumed 15, in the kernel: sending "
	    "14 "
	    "receiving 13\n");
	/* No usage came from the last host. */
	has("\n  fd00::8       -       -        -      -");
	/* One group needs no table of groups. */
	run->n_groups = 1;
	render("text");
	has_not("\n  group  flows");
	run->n_groups = 2;
}
END_TEST

START_TEST(text_has_interrupts_per_second)
{
	struct nm_usage *usage = &run->hosts[1].usage;

	render("text");
	has_not("per second"); /* it is for those who ask for it */
	run->statistics |= NM_STAT_INTERFACES;
	render("text");
	has("\n\n  per second  interrupts  switches  softirqs  net_rx  net_tx  timer  sched\n"
	    "  master          12.0 k       350    2.50 M  2.00 M       0      -    123\n"
	    "  10.0.0.7        12.0 k       350    2.50 M  2.00 M       0      -    123\n"
	    "  fd00::8              -         -         -       -       -      -      -\n");
	has("\n\n  per second  taken in  dropped  squeezed  steered  over a flow's limit\n"
	    "  master        4.00 k        3         2        0                    0\n"
	    "  10.0.0.7      4.00 k        3         2        0                    0\n"
	    "  fd00::8            -        -         -        -                    -\n");
	usage->has_interrupts = false;
	render("text");
	has("\n  10.0.0.7             -         -    2.50 M  2.00 M       0      -    123\n");
	usage->has_interrupts = true;
	usage->has_softirqs = false;
	render("text");
	has("\n  10.0.0.7        12.0 k       350         -       -       -      -      -\n");
	run->hosts[0].has_usage = run->hosts[1].has_usage = false;
	render("text");
	has_not("per second");
}
END_TEST

/* One CPU was busy: 22 MB and 20000 transactions in 2 s on the master. */
START_TEST(text_has_costs)
{
	render("text");
	has_not("\n  cost"); /* it is for those who ask for it */
	run->statistics |= NM_STAT_INTERFACES;
	render("text");
	has("\n\n  cost                host       value\n"
	    "  CPU/GB              master    90.9 s\n"
	    "  CPU/transaction     master    100 us\n");
	has_not("CPU/packet"); /* its interfaces are not known */
	run->hosts[0].usage.has_cpu = run->hosts[1].usage.has_cpu = false;
	render("text");
	has("\n  cycles/transaction  master");
	has_not("CPU/");
	run->hosts[0].has_usage = run->hosts[1].has_usage = false;
	render("text");
	has_not("\n  cost");
}
END_TEST

START_TEST(text_has_the_percentiles_that_there_are)
{
	ck_assert_int_eq(nm_percentiles_parse("50,90,99", &run->percentiles), 0);
	for (size_t i = 0; i < 2; i++)
		run->groups[i].totals.latency.pct_s[2] = 123e-6;
	render("text");
	has("    mean      p50     p99     max\n");
	has("20.0 us  19.0 us  123 us  500 us\n");
	run->percentiles.count = 0;
	render("text");
	has("    mean     max\n");
	has("20.0 us  500 us\n");
}
END_TEST

START_TEST(text_tells_what_was_planned_when_less_was_done)
{
	struct nm_result_phase *phase = &run->groups[1].phases[1];

	phase->planned_per_s = 5000; /* as was done: 15000 in 3 s */
	render("text");
	has_not("behind");
	phase->planned_per_s = 5052; /* 1 % is 151 passes, and 8 flows */
	render("text");
	has_not("behind");
	phase->planned_per_s = 8000;
	render("text");
	has("\n  behind        large work: 5000/s of 8000/s planned\n");
	phase->measured = false;
	render("text");
	has_not("behind");
}
END_TEST

START_TEST(text_tells_a_reason_once)
{
	run->complete = false;
	run->verdict.incomplete_why = strdup("slave 10.0.0.7: connection reset");
	run->hosts[1].error = strdup("connection reset");
	run->hosts[1].error_ended_run = true;
	run->hosts[2].error = strdup("no sign of life");
	render("text");
	has("INCOMPLETE: slave 10.0.0.7: connection reset\n");
	ck_assert_ptr_null(strstr(strstr(text, "connection reset") + 1, "connection reset"));
	has("  fd00::8: no sign of life\n");
}
END_TEST

START_TEST(text_tells_what_is_wrong)
{
	run->complete = false;
	run->verdict.incomplete_why = strdup("10.0.0.7 has gone");
	run->hosts[1].error = strdup("connection reset");
	run->verdict.reconciled = NM_RECONCILED_NO;
	run->verdict.reconcile_text = strdup("small: 1 sent, 0 received");
	run->warnings.items = calloc(1, sizeof(char *));
	ck_assert_ptr_nonnull(run->warnings.items);
	run->warnings.items[0] = strdup("no CPU left");
	run->warnings.count = 1;
	run->totals.counts.errors = 3;
	run->totals.response = run->totals.latency;
	render("text");
	has("INCOMPLETE: 10.0.0.7 has gone\n");
	has("10.0.0.7: connection reset\n");
	has("COUNTS DIFFER: small: 1 sent, 0 received\n");
	has("warning: no CPU left\n");
	has("errors        3\n");
	has("response");
	has("hosts began");
	run->has_start_skew = false;
	render("text");
	has_not("hosts began");
}
END_TEST

START_TEST(text_of_a_run_that_never_began)
{
	run->complete = false;
	run->totals = (struct nm_window){.seconds = 0};
	for (size_t i = 0; i < run->n_hosts; i++) {
		run->hosts[i].n_groups = 0;
		run->hosts[i].has_usage = false;
	}
	run->hosts[1].error = strdup("cannot connect");
	render("text");
	has("INCOMPLETE: the reason is not known\n");
	has("nothing was measured\n");
	has("10.0.0.7: cannot connect\n");
	has_not("latency");
	has_not("softirq");
}
END_TEST

START_TEST(text_has_no_table_of_dashes_when_nothing_was_measured)
{
	run->complete = false;
	run->totals = (struct nm_window){.seconds = 0};
	run->verdict.incomplete_why = strdup("a firewall");
	run->hosts[2].error = strdup("no sign of life");
	render("text"); /* what the hosts have counted in the phases before is no figure */
	has("INCOMPLETE: a firewall\n");
	has("nothing was measured\n");
	has("  fd00::8: no sign of life\n");
	has_not("group");
	has_not("idle");
	has_not("per second");
	has_not("  - ");
	run->complete = true; /* the warm-up has taken it all, and there are counts */
	render("text");
	has("all passes");
}
END_TEST

START_TEST(text_summarises_a_series)
{
	struct nm_result *runs[] = {run, run, run};
	struct nm_runs series = {.runs = runs, .n_runs = 3};

	text = sample_write("text", &series);
	has("run 3 of 3");
	has("\n  run  transactions/s");
	has("\n  3             10000");
	has("95% +-");
	has("latency p50");
	has_not("latency p99"); /* not among the percentiles */
	has_not("CPU/GB");	/* it is for those who ask for it */
	run->statistics |= NM_STAT_INTERFACES;
	free(text);
	text = sample_write("text", &series);
	has("\n  CPU/GB, master                   90.9 s    0 ns    0 ns");
}
END_TEST

static const char evil[] = "a,b\n\x1b[2J\r\xc2\x9b"
			   "31m\nevil=1\x7f";

static void replace(char **string)
{
	free(*string);
	*string = strdup(evil);
	ck_assert_ptr_nonnull(*string);
}

/* Whatever a profile or a peer has called something, it adds no line and no control character. */
START_TEST(no_text_steers_the_terminal_or_adds_a_line)
{
	const char *format = (const char *[]){"text", "kv", "csv"}[_i];

	run->complete = false;
	run->verdict.incomplete_why = strdup("why");
	run->hosts[1].error = strdup("error");
	run->verdict.reconciled = NM_RECONCILED_NO;
	run->verdict.reconcile_text = strdup("differs");
	run->profile.path = strdup("path");
	run->warnings.items = calloc(1, sizeof(char *));
	ck_assert_ptr_nonnull(run->warnings.items);
	run->warnings.items[0] = strdup("warning");
	run->warnings.count = 1;
	render(format);
	size_t lines = lines_of(text);

	replace(&run->verdict.incomplete_why);
	replace(&run->verdict.reconcile_text);
	replace(&run->profile.name);
	replace(&run->profile.path);
	replace(&run->warnings.items[0]);
	replace(&run->params.items[0].value);
	for (size_t i = 0; i < 2; i++)
		replace(&run->groups[i].name);
	for (size_t i = 0; i < run->n_hosts; i++)
		replace(&run->hosts[i].name);
	strcpy(run->hosts[0].connections.tls.version, "TLS\nevil=1");
	free(run->hosts[1].error);
	run->hosts[1].error = strdup("another\n\x1b[2J");
	render(format);
	ck_assert_uint_eq(lines_of(text), lines);
	has("a,b  [2J   31m evil=1");
	has_not("\nevil");
	has_not("\xc2\x9b");
	for (const char *c = text; *c; c++)
		ck_assert(((unsigned char)*c >= ' ' || *c == '\n') && *c != 0x7f);
}
END_TEST

static size_t cells(const char *line)
{
	size_t count = 1;

	for (; *line && *line != '\n'; line++)
		count += *line == ',';
	return count;
}

START_TEST(csv_has_a_row_for_each_interval)
{
	render("csv");
	ck_assert(strncmp(text, "run,from_s,to_s,phase,part,", 27) == 0);
	has(",latency_p50_s,latency_p99_99_s,");
	has(",10.0.0.7_cpu_user,10.0.0.7_cpu_system,");
	has("\n1,0.000000,1.000000,2,warmup,10000,10000.000,8000000.000,80000000.000,0,1000,");
	/* What was added later comes last. */
	has(",seconds,small_transactions,");
	has(",large_latency_p99_99_s\n");
	size_t rows = 0;
	size_t width = cells(text);
	for (const char *line = text; *line; line = strchr(line, '\n') + 1, rows++)
		ck_assert_uint_eq(cells(line), width);
	ck_assert_uint_eq(rows, 4);
	/* The slave's row is beside the master's that ends with it; the others have none. */
	has(",0.1000,0.3000,0.1000,0.5000,,,,,1.000000000,9000,9000.000,7200000.000,72000000.000,");
	ck_assert_ptr_null(strstr(strstr(text, ",0.1000,0.3") + 1, ",0.1000,0.3"));
	/* Nothing was measured in the last row: empty, not 0. */
	has("measured,10000,10000.000,8000000.000,80000000.000,0,0,,,,,,,");
	has_not("response");
}
END_TEST

START_TEST(csv_quotes_and_widens)
{
	free(run->hosts[1].name);
	run->hosts[1].name = strdup("a,\"b");
	for (size_t i = 0; i < 2; i++) {
		free(run->groups[i].name);
		run->groups[i].name = strdup("a, \"b");
	}
	run->intervals[1].window.response = run->intervals[1].window.latency;
	render("csv");
	has(",\"a,\"\"b_cpu_user\",");
	has(",response_p50_s,");
	has(",a___b_transactions,");
	has(",a___b#2_transactions,");
	const char *first = strchr(text, '\n') + 1;
	const char *second = strchr(first, '\n') + 1;
	ck_assert_uint_eq(cells(first), cells(second));
}
END_TEST

START_TEST(live_line_fits_and_tells)
{
	char line[256], narrow[256];

	nm_report_live_line(&run->intervals[0], line, sizeof(line));
	ck_assert_ptr_nonnull(strstr(line, "1.0 s  warm-up"));
	ck_assert_ptr_nonnull(strstr(line, "trans/s"));
	ck_assert_ptr_nonnull(strstr(line, "mean "));
	nm_report_live_line(&run->intervals[2], line, sizeof(line));
	ck_assert_ptr_null(strstr(line, "mean "));
	ck_assert_ptr_null(strstr(line, "warm-up"));
	/* Whole fields, however narrow the terminal. */
	nm_report_live_line(&run->intervals[0], line, sizeof(line));
	for (size_t size = 1; size <= strlen(line) + 1; size++) {
		nm_report_live_line(&run->intervals[0], narrow, size);
		size_t length = strlen(narrow);

		ck_assert_uint_lt(length, size);
		ck_assert_int_eq(strncmp(line, narrow, length), 0);
		ck_assert_msg(length == 0 || line[length] == '\0' ||
				      strncmp(line + length, "  ", 2) == 0,
			      "\"%s\" of \"%s\"", narrow, line);
	}
	ck_assert_str_eq(narrow, line);
}
END_TEST

START_TEST(percentile_names_are_exact)
{
	char buf[32];

	ck_assert_str_eq(nm_percentile_key(50, buf, sizeof(buf)), "p50");
	ck_assert_str_eq(nm_percentile_key(99.9, buf, sizeof(buf)), "p99.9");
	ck_assert_str_eq(nm_percentile_key(99.99999, buf, sizeof(buf)), "p99.99999");
	ck_assert_str_eq(nm_percentile_name(99.9, buf, sizeof(buf)), "p99_9");
	ck_assert_str_eq(nm_percentile_name(50, buf, sizeof(buf)), "p50");
	ck_assert_str_eq(nm_percentile_key(0, buf, sizeof(buf)), "p0");
}
END_TEST

START_TEST(tables_align)
{
	struct nm_table table = {.align = "lrl"};
	size_t length;

	for (int i = 0; i < 2; i++) {
		nm_table_cell(&table, "%s", i ? "long name" : "a");
		nm_table_cell(&table, "%d", i ? 1 : 1000);
		nm_table_cell(&table, "%s", i ? "" : "end");
	}
	FILE *stream = open_memstream(&text, &length);
	ck_assert_ptr_nonnull(stream);
	nm_table_print(&table, 1, stream);
	fclose(stream);
	nm_table_fini(&table);
	ck_assert_str_eq(text, " a          1000  end\n long name     1\n");
}
END_TEST

START_TEST(a_window_has_its_number_rate_success_and_percentiles)
{
	struct nm_result_interval *row = &run->intervals[1];
	char line[256];

	run->grid.windows = 12;
	nm_report_window_line(run, row, line, sizeof(line));
	ck_assert_str_eq(line, "window  2/12  10.0 k trans/s  success 100 %  latency p50 19.0 us  "
			       "p99.99 99.0 us");
	/* All but one is less than 100 %. */
	row->window.counts.unanswered = row->window.counts.misses = 1;
	row->window.counts.hits = 3;
	row->part = NM_PART_WARMUP;
	row->to_s = 3.1;
	row->window.response = row->window.latency;
	nm_report_window_line(run, row, line, sizeof(line));
	ck_assert_str_eq(line,
			 "window 2-3/12  warm-up  10.0 k trans/s  success 99.99 %  hits 75 %  "
			 "latency p50 19.0 us  p99.99 99.0 us  response p50 19.0 us  "
			 "p99.99 99.0 us");
	/* What a flowop passes over, and what a server refuses, has not succeeded. */
	row->window.counts.errors = 30;
	row->window.counts.refused = 13;
	row->window.counts.iterations = 100;
	row->window.counts.unanswered = 0;
	nm_report_window_line(run, row, line, sizeof(line));
	ck_assert_ptr_nonnull(strstr(line, "  success 57 %  "));
	row->window.counts.errors = 200;
	nm_report_window_line(run, row, line, sizeof(line));
	ck_assert_ptr_nonnull(strstr(line, "  success 0 %  "));
	/* The last one is longer; and flows may take their time after it. */
	run->grid.windows = 2;
	nm_report_window_line(run, row, line, sizeof(line));
	ck_assert_ptr_nonnull(strstr(line, "window 2/2  "));
	row->from_s = 3.1;
	row->to_s = 4;
	row->window = (struct nm_window){.seconds = 1};
	row->part = NM_PART_MEASURED;
	nm_report_window_line(run, row, line, sizeof(line));
	ck_assert_str_eq(line, "after window 2       0 trans/s");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("report");
	TCase *tc = tcase_create("report");

	tcase_add_checked_fixture(tc, rendered_set_up, rendered_tear_down);
	tcase_add_test(tc, reports_are_found_by_name);
	tcase_add_test(tc, reports_are_listed_with_what_their_words_mean);
	tcase_add_test(tc, no_run_is_an_error_in_every_format);
	tcase_add_test(tc, a_lost_stream_is_an_error_in_every_format);
	tcase_add_test(tc, text_tells_the_run);
	tcase_add_test(tc, text_tells_groups_and_hosts);
	tcase_add_test(tc, text_has_interrupts_per_second);
	tcase_add_test(tc, text_has_costs);
	tcase_add_test(tc, text_has_the_percentiles_that_there_are);
	tcase_add_test(tc, text_tells_what_was_planned_when_less_was_done);
	tcase_add_test(tc, text_tells_a_reason_once);
	tcase_add_test(tc, text_tells_what_is_wrong);
	tcase_add_test(tc, text_of_a_run_that_never_began);
	tcase_add_test(tc, text_has_no_table_of_dashes_when_nothing_was_measured);
	tcase_add_test(tc, text_summarises_a_series);
	tcase_add_loop_test(tc, no_text_steers_the_terminal_or_adds_a_line, 0, 3);
	tcase_add_test(tc, csv_has_a_row_for_each_interval);
	tcase_add_test(tc, csv_quotes_and_widens);
	tcase_add_test(tc, live_line_fits_and_tells);
	tcase_add_test(tc, a_window_has_its_number_rate_success_and_percentiles);
	tcase_add_test(tc, percentile_names_are_exact);
	tcase_add_test(tc, tables_align);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
