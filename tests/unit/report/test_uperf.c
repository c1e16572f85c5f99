/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>

#include "../suite.h"
#include "rendered.h"
#include "report/uperf.h"

#define RULE "-------------------------------------------------------------------------------\n"

/* A group of a host: the transaction that connects, and the one that works. */
struct work {
	struct nm_flowop_report connect, ask[2];
	struct nm_transaction_report transactions[2];
	struct nm_strand_report strands[2];
};

static struct work work[3][2]; /* by host and group */
static struct nm_group_report groups[3][2];
static struct nm_host_report reports[3];
static struct nm_nic nics[3];

static struct nm_latency times(uint64_t count, double mean_s, double max_s, double min_s)
{
	return (struct nm_latency){
		.count = count, .mean_s = mean_s, .max_s = max_s, .min_s = min_s};
}

static void fill(size_t h, size_t g)
{
	struct work *w = &work[h][g];

	w->connect = (struct nm_flowop_report){.name = "connect",
					       .operations = 8,
					       .cpu_s = 8e-6,
					       .time = times(8, 181.64e-6, 283.16e-6, 80.12e-6)};
	w->ask[0] = (struct nm_flowop_report){.name = "write",
					      .operations = 150000,
					      .time = times(150000, 6.57e-6, 1.23456, 900e-9)};
	w->ask[1] = (struct nm_flowop_report){.name = "recvfile"}; /* never done */
	w->transactions[0] = (struct nm_transaction_report){
		.operations = 8,
		.window = {.counts = {.iterations = 8}, .latency = w->connect.time},
		.flowops = &w->connect,
		.n_flowops = 1};
	w->transactions[1] = (struct nm_transaction_report){
		.operations = 150000,
		.window = {.counts = {.iterations = 150000},
			   .latency = times(150000, 1, 1, 1),
			   .pass = times(150000, 999.999e-6, 100, 0)},
		.flowops = w->ask,
		.n_flowops = 2};
	w->strands[0] = (struct nm_strand_report){
		.operations = 75000, .bytes_sent = 128 * 1024, .seconds = 0.001};
	w->strands[1] = (struct nm_strand_report){.operations = 75004};
	groups[h][g] = (struct nm_group_report){.operations = 150008,
						.seconds = 3.1,
						.transactions = w->transactions,
						.n_transactions = 2,
						.strands = w->strands,
						.n_strands = 2};
}

/* Of three hosts, of which the last one has a part in the second group alone. */
static void set_up(void)
{
	rendered_set_up();
	for (size_t h = 0; h < 3; h++) {
		struct nm_result_host *host = &run->hosts[h];

		for (size_t g = 0; g < 2; g++)
			fill(h, g);
		reports[h] = (struct nm_host_report){.elapsed_s = 3.1 + 0.1 * (double)h,
						     .operations = 300016,
						     .groups = groups[h],
						     .n_groups = 2};
		host->report = &reports[h];
		host->groups[0] = (struct nm_counts){.bytes_sent = 1 << 20, .errors = 3};
		host->groups[1] = (struct nm_counts){.bytes_received = 2000};
		host->counts = (struct nm_counts){
			.bytes_sent = 1 << 20, .bytes_received = 2000, .errors = 3};
	}
	groups[2][0].n_transactions = 0;
	run->hosts[2].groups[0] = (struct nm_counts){.bytes_sent = 0};
	run->hosts[2].counts = run->hosts[2].groups[1];
	nics[0] = (struct nm_nic){.name = "lo",
				  .tx_packets = 97360,
				  .rx_packets = 97361,
				  .tx_bytes = 13825000,
				  .rx_bytes = 13825001};
	nics[1] = (struct nm_nic){.name = "silent"};
	nics[2] = (struct nm_nic){.name = "wlp0s20", .tx_packets = 1};
	memcpy(run->hosts[0].usage.nics, nics, sizeof(nics));
	run->hosts[0].usage.n_nics = 3;
	run->statistics = NM_STAT_INTERFACES;
}

static void tear_down(void)
{
	for (size_t h = 0; h < run->n_hosts; h++)
		run->hosts[h].report = NULL;
	run->hosts[0].usage.n_nics = 0;
	rendered_tear_down();
}

static void render_below_lines(void)
{
	const struct nm_view view = {.has_lines = true};
	struct nm_runs series = sample_series(&run);

	series.view = &view;
	free(text);
	text = sample_write("uperf", &series);
}

START_TEST(a_run_without_flags)
{
	render("uperf");
	ck_assert_str_eq(
		text,
		"Starting 16 threads running profile:mix ...   0.00 seconds\n"
		"Txn1            0 /   0.10(s) =            0         160op/s \n"
		"Txn2      31.47MB /   3.00(s) =    88.00Mb/s      100000op/s \n" RULE
		"Total      1.00MB /   3.10(s) =     2.71Mb/s       96779op/s \n"
		"\nNetstat statistics for this run\n" RULE
		"Nic       opkts/s     ipkts/s      obits/s      ibits/s\n"
		"lo          48680       48680    55.30Mb/s    55.30Mb/s \n"
		"wlp0s20           0           0            0            0 \n" RULE
		"\nRun Statistics\n"
		"Hostname            Time       Data   Throughput   Operations      Errors\n" RULE
		"10.0.0.7           3.20s     1.00MB     2.62Mb/s       150008        0.00\n"
		"10.0.0.7           3.20s     1.95KB     5.00Kb/s       150008        0.00\n"
		"fd00::8            3.30s     1.95KB     4.85Kb/s       150008        0.00\n"
		"Total              3.30s     1.00MB     2.63Mb/s       450024        0.00\n"
		"master             3.10s     1.00MB     2.71Mb/s       300016        0.00\n" RULE
		"Difference(%)     -6.45%     -0.19%        2.95%     -100.00%       0.00%\n\n\n");
}
END_TEST

START_TEST(tables_that_are_asked_for)
{
	run->statistics |= NM_STAT_ALL;
	render_below_lines();
	static const char *const tables[] = {
		"\nGroup Details\n" RULE
		"small      1.00MB /   3.10(s) =     2.71Mb/s       48390op/s \n"
		"large      1.95KB /   3.10(s) =     5.16Kb/s       48390op/s \n\n",
		"\nStrand Details\n" RULE
		"Thr0      128.00K /   3.10(s) =   338.25Kb/s       24194op/s \n"
		"Thr1            0 /   3.10(s) =            0       24195op/s \n"
		"Thr0      128.00K /   3.10(s) =   338.25Kb/s       24194op/s \n"
		"Thr1            0 /   3.10(s) =            0       24195op/s \n\n",
		"\nTxn                Count         avg         cpu         max         min \n" RULE
		"Txn0                   8    181.64us      0.00ns    283.16us     80.12us \n"
		"Txn1              150000   1000.00us      0.00ns     100.00s      0.00ns \n"
		"Txn0                   8    181.64us      0.00ns    283.16us     80.12us \n"
		"Txn1              150000   1000.00us      0.00ns     100.00s      0.00ns \n\n",
		"\nFlowop             Count         avg         cpu         max         min \n" RULE
		"connect                8    181.64us      0.00ns    283.16us     80.12us \n"
		"write             150000      6.57us      0.00ns       1.23s    900.00ns \n"
		"connect                8    181.64us      0.00ns    283.16us     80.12us \n"
		"write             150000      6.57us      0.00ns       1.23s    900.00ns \n\n",
	};
	const char *at = text;

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); at += strlen(tables[i++]))
		ck_assert_msg(strncmp(at, tables[i], strlen(tables[i])) == 0, "no\n%s in:\n%s",
			      tables[i], at);
	ck_assert_int_eq(strncmp(at, "\nNetstat ", 9), 0);
}
END_TEST

START_TEST(cpu_times_are_those_of_one_operation)
{
	run->statistics |= NM_STAT_FLOWOPS | NM_STAT_FLOWOP_CPU;
	render("uperf");
	has("\nconnect                8    181.64us      1.00us    283.16us     80.12us \n");
}
END_TEST

START_TEST(raw_lines_have_the_same_names)
{
	run->statistics |= NM_STAT_GROUPS | NM_STAT_STRANDS | NM_STAT_RAW;
	run->wall.end_ns = 1559581000962033099;
	render("uperf");
	has("\ntimestamp_ms:1559581000962.0330 name:Txn1 nr_bytes:0 nr_ops:16\n");
	has("\n" RULE "timestamp_ms:1559581000962.0330 name:Total nr_bytes:1050576 "
	    "nr_ops:300016\n");
	has("\nGroup Details\n" RULE
	    "timestamp_ms:1559581000962.0330 name:small nr_bytes:1048576 nr_ops:150008\n");
	has("\nStrand Details\n" RULE
	    "timestamp_ms:1559581000962.0330 name:Thr0 nr_bytes:131072 nr_ops:75000\n");
	has_not("op/s");
}
END_TEST

START_TEST(strands_may_be_processes)
{
	run->groups[1].processes = true;
	render("uperf");
	has("Starting 8 threads, 8 processes running profile:mix ...");
	run->groups[0].processes = true;
	render("uperf");
	has("Starting 16 processes running profile:mix ...");
}
END_TEST

START_TEST(one_slave_has_no_total)
{
	size_t n_groups = run->n_groups;

	run->n_hosts = 2;
	run->n_groups = 1;
	render("uperf");
	has_not("\nTotal              ");
	has("\nDifference(%)     -3.23%      0.00%        3.12%        0.00%       0.00%\n");
	run->n_hosts = 3;
	run->n_groups = n_groups;
}
END_TEST

START_TEST(errors_are_a_share_of_operations)
{
	run->hosts[1].groups[0].errors = 15001;
	reports[1].operations = 0;
	run->hosts[0].counts.errors = 30002;
	render("uperf");
	has("\n10.0.0.7           3.20s     1.00MB     2.62Mb/s       150008       10.00\n");
	has("\nmaster             3.10s     1.00MB     2.71Mb/s       300016       10.00\n");
	has("%      10.00%\n");
}
END_TEST

START_TEST(what_came_after_the_window_is_data_and_in_no_throughput)
{
	const struct nm_host_window before = run->hosts[1].window;

	run->hosts[1].window = (struct nm_host_window){
		.ns = 800000000,
		.counts = {.bytes_sent = run->hosts[1].counts.bytes_sent / 2,
			   .bytes_received = run->hosts[1].counts.bytes_received / 2},
		.late_ns = 1};
	run->hosts[2].window.ns = 0;
	render("uperf");
	has("\n10.0.0.7           3.20s     1.00MB     5.24Mb/s       150008        0.00\n");
	has("\n10.0.0.7           3.20s     1.95KB    10.00Kb/s       150008        0.00\n");
	/* Of hosts that have no window it is that of the run. */
	has("\nfd00::8            3.30s     1.95KB     4.85Kb/s       150008        0.00\n"
	    "Total              3.30s     1.00MB     5.26Mb/s       450024        0.00\n"
	    "master             3.10s     1.00MB     2.71Mb/s ");
	/* What has no row is not in the sum of them. */
	groups[1][0].n_transactions = 0;
	render("uperf");
	has("\nTotal              3.30s     3.91KB    14.85Kb/s       300016        0.00\n");
	run->hosts[1].window = before;
}
END_TEST

START_TEST(what_is_not_known_has_no_row)
{
	run->complete = false;
	run->hosts[1].report = NULL;
	render("uperf");
	has_not("10.0.0.7");
	has_not("Difference");
	has("\nmaster             3.10s");
	has("\n\nWARNING: 1 Errors detected during run\n");
	run->complete = true;
	run->verdict.reconciled = NM_RECONCILED_NO;
	render("uperf");
	has("\n\nWARNING: 1 Errors detected during run\n");
	run->hosts[0].report = NULL; /* it has not begun */
	render("uperf");
	ck_assert_str_eq(text, "");
}
END_TEST

START_TEST(a_master_that_has_done_nothing)
{
	run->hosts[0].counts = (struct nm_counts){.errors = 0};
	reports[0].operations = 0;
	render("uperf");
	has("\nmaster             3.10s          0            0            0        0.00\n");
	has("%      -inf%        -inf%        -inf%       0.00%\n");
}
END_TEST

START_TEST(names_stay_in_their_columns)
{
	free(run->groups[0].name);
	run->groups[0].name = strdup("small\nand long");
	free(run->hosts[1].name);
	run->hosts[1].name = strdup("a-long-name.example.org");
	run->statistics |= NM_STAT_GROUPS;
	render("uperf");
	has("\nsmall an   1.00MB /");
	has("\na-long-name.exa    3.20s");
}
END_TEST

/* Amounts by 1024 and rates by 1000; a cell of a line has room for seven letters. */
static const struct {
	uint64_t bytes;
	double seconds;
	const char *printed;
} lines[] = {
	{0, 0, "Txn1            0 /   0.00(s) =            0           0op/s "},
	{1, 1, "Txn1        1.00B /   1.00(s) =      8.00b/s           0op/s "},
	{1024, 1, "Txn1       1.00KB /   1.00(s) =     8.19Kb/s           0op/s "},
	{1023 * 1024, 1, "Txn1       1.00MB /   1.00(s) =     8.38Mb/s           0op/s "},
	{1048575000, 1, "Txn1       0.98GB /   1.00(s) =     8.39Gb/s           0op/s "},
	{125, 1, "Txn1      125.00B /   1.00(s) =     1.00Kb/s           0op/s "},
	{123456789012, 12345.678, "Txn1      114.98G /12345.68(s) =    80.00Mb/s           0op/s "},
	{UINT64_MAX, 1, "Txn1      16.00EB /   1.00(s) =   147.57Eb/s           0op/s "},
};

START_TEST(lines_for_people)
{
	const struct nm_uperf_line line = {
		.name = "Txn1", .seconds = lines[_i].seconds, .bytes = lines[_i].bytes};
	size_t size;

	free(text);
	FILE *out = open_memstream(&text, &size);

	ck_assert_ptr_nonnull(out);
	nm_uperf_print_line(out, &line, false);
	ck_assert_int_eq(fclose(out), 0);
	ck_assert_str_eq(text, lines[_i].printed);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("uperf");
	TCase *tc = tcase_create("uperf");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_test(tc, a_run_without_flags);
	tcase_add_test(tc, tables_that_are_asked_for);
	tcase_add_test(tc, cpu_times_are_those_of_one_operation);
	tcase_add_test(tc, raw_lines_have_the_same_names);
	tcase_add_test(tc, strands_may_be_processes);
	tcase_add_test(tc, one_slave_has_no_total);
	tcase_add_test(tc, errors_are_a_share_of_operations);
	tcase_add_test(tc, what_came_after_the_window_is_data_and_in_no_throughput);
	tcase_add_test(tc, what_is_not_known_has_no_row);
	tcase_add_test(tc, a_master_that_has_done_nothing);
	tcase_add_test(tc, names_stay_in_their_columns);
	tcase_add_loop_test(tc, lines_for_people, 0, sizeof(lines) / sizeof(lines[0]));
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
