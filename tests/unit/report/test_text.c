/* SPDX-License-Identifier: Apache-2.0 */
/* What a summary opens with, and what it says beside its figures; the same figures in the other
 * formats. */
#include "report/report.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"
#include "rendered.h"

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
	tcase_add_test(tests, kv_has_the_throughput_of_both_ends);
	tcase_add_test(tests, a_batch_of_datagrams_is_told_from_a_datagram);
	tcase_add_test(tests, text_tells_which_transactions_it_sums_up);
	tcase_add_test(tests, whole_passes_stand_beside_latencies_where_a_host_thinks);
	tcase_add_test(tests, of_many_strands_the_master_has_the_table);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
