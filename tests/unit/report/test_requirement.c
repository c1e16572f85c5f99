/* SPDX-License-Identifier: Apache-2.0 */
/* Requirements: what is read of their text, what is wrong with it, and when one is met. */
#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "../suite.h"
#include "plan/plan.h"
#include "report/named.h"
#include "report/requirement.h"
#include "sample.h"

/* The plan of the sample: two groups of two transactions, and three hosts. */
static struct nm_phase phases[] = {{.name = (char[]){""}}, {.name = (char[]){"work"}}};
static struct nm_group groups[] = {
	{.name = (char[]){"small"}, .phases = phases, .n_phases = 2},
	{.name = (char[]){"large"}, .phases = phases, .n_phases = 2},
};
static char *hosts[] = {(char[]){"10.0.0.7"}, (char[]){"fd00::8"}};
static const struct nm_plan plan = {.groups = groups, .n_groups = 2, .hosts = hosts, .n_hosts = 2};

static struct nm_requirements list;
static char why[512];

static int add(const char *text, bool negated)
{
	return nm_requirements_add(&list, text, "--require", negated, &plan, why, sizeof(why));
}

static void tear_down(void)
{
	nm_requirements_fini(&list);
}

/* --- reading --- */

static const struct {
	const char *text;
	enum nm_relation relation;
	double limit;
} right[] = {
	{"latency.p99 <= 10ms", NM_RELATION_AT_MOST, 0.01},
	{"latency.p99<=10ms", NM_RELATION_AT_MOST, 0.01},
	{"  latency.p99  <=  10  ms  ", NM_RELATION_AT_MOST, 0.01},
	{"latency.p99.9 < 1.5s", NM_RELATION_LESS, 1.5},
	{"latency.p99_9 < 1.5s", NM_RELATION_LESS, 1.5},
	{"latency.mean > 250us", NM_RELATION_MORE, 250e-6},
	{"latency.min >= 100ns", NM_RELATION_AT_LEAST, 100e-9},
	{"seconds < 2min", NM_RELATION_LESS, 120},
	{"seconds < 1h", NM_RELATION_LESS, 3600},
	{"latency.max <= 0", NM_RELATION_AT_MOST, 0},
	{"errors == 0", NM_RELATION_EQUAL, 0},
	{"errors != 3", NM_RELATION_UNEQUAL, 3},
	{"errors <= 0.1%", NM_RELATION_AT_MOST, 0.001},
	{"group.small.transaction.work.errors < 5 %", NM_RELATION_LESS, 0.05},
	{"transactions > 1k", NM_RELATION_MORE, 1000},
	{"transactions_per_s >= 100k", NM_RELATION_AT_LEAST, 100e3},
	{"transactions_per_s >= 1.5M/s", NM_RELATION_AT_LEAST, 1.5e6},
	{"transactions_per_s >= 20/s", NM_RELATION_AT_LEAST, 20},
	{"bits_per_s >= 9.5Gb/s", NM_RELATION_AT_LEAST, 9.5e9},
	{"bits_per_s >= 9.5G", NM_RELATION_AT_LEAST, 9.5e9},
	{"bits_per_s >= 10MB/s", NM_RELATION_AT_LEAST, 80e6},
	{"bytes_sent >= 1GiB", NM_RELATION_AT_LEAST, 0x1p30},
	{"bytes_sent >= 1GB", NM_RELATION_AT_LEAST, 1e9},
	{"bytes_sent >= 4096", NM_RELATION_AT_LEAST, 4096},
	{"messages.to_slaves.lost <= 10", NM_RELATION_AT_MOST, 10},
	{"messages.to_slaves.lost > -10", NM_RELATION_MORE, -10},
	{"group.small.latency.p50 < 1ms", NM_RELATION_LESS, 1e-3},
	{"group.large.transaction.work.latency.max < 1ms", NM_RELATION_LESS, 1e-3},
	{"group.large.transaction.1.connects == 8", NM_RELATION_EQUAL, 8},
	{"host.10.0.0.7.cpu.busy < 50%", NM_RELATION_LESS, 0.5},
	{"host.master.cpu.busy < 0.5 %", NM_RELATION_LESS, 0.005},
	{"host.fd00::8.connections.retransmits == 0", NM_RELATION_EQUAL, 0},
};

START_TEST(a_requirement_is_read)
{
	ck_assert_msg(add(right[_i].text, false) == 0, "%s: %s", right[_i].text, why);
	ck_assert_uint_eq(list.count, 1);
	ck_assert_uint_eq(list.items[0].n_terms, 1);
	ck_assert_int_eq(list.items[0].terms[0].relation, right[_i].relation);
	ck_assert_double_eq(list.items[0].terms[0].limit, right[_i].limit);
}
END_TEST

static const struct {
	const char *text, *why;
} wrong[] = {
	{"", "at the end: a figure must stand here"},
	{"  ", "at the end: a figure must stand here"},
	{"<= 10ms", "at \"<= 10ms\": a figure must stand here"},
	{"latency.p99", "at the end: an operator must stand here: <, <=, >, >=, == or !="},
	{"latency.p99 10ms", "at \"10ms\": an operator must stand here"},
	{"latency.p99 =< 10ms", "at \"=< 10ms\": no operator; did you mean <=?"},
	{"latency.p99 = 10ms", "at \"= 10ms\": no operator; did you mean ==?"},
	{"latency.p99 === 10ms", "did you mean ==?"},
	{"latency.p99 <> 10ms", "did you mean !=?"},
	{"latency.p99 <=", "at the end: a number must stand here"},
	{"latency.p99 <= ten", "at \"ten\": a number must stand here"},
	{"latency.p99 <= 0x10",
	 "at \"x10\": latency.p99 is a time: its units are ns, us, ms, s, min "
	 "or h"},
	{"latency.p99 <= 1e3ms", "at \"e3ms\": latency.p99 is a time"},
	{"latency.p99 <= 10", "at the end: a time needs a unit: ns, us, ms, s, min or h"},
	{"latency.p99 <= 10m", "at \"m\": m may be minutes or milliseconds: write min or ms"},
	{"latency.p99 <= 10k", "at \"k\": latency.p99 is a time"},
	{"latency.p99 <= 1234567890123456789012ns", "a number has at most 18 digits"},
	{"transactions_per_s >= 10ms", "at \"ms\": transactions_per_s is a rate: its units are /s"},
	{"connects <= 1%", "at \"%\": connects is a count: its units are k, M, G, T or none"},
	{"errors <= 1ms",
	 "at \"ms\": errors is a count: its units are k, M, G, T or none, or % of all passes"},
	{"host.master.counts.errors <= 1%", "at \"%\": host.master.counts.errors is a count"},
	{"host.master.cpu.busy <= 0.9", "a share needs a unit: %"},
	{"bytes_sent > 1k", "at \"k\": bytes_sent is a number of bytes: its units are B, kB"},
	{"latency.p99 <= 10ms and errors == 0", "at \"and errors == 0\": blanks alone join terms"},
	{"errors == 0, latency.p99 <= 1ms", "at \", latency.p99 <= 1ms\": blanks alone join terms"},
	{"errors == 0,latency.p99 <= 1ms", "at \",latency.p99 <= 1ms\": blanks alone join terms"},
	{"latency.p99 <= 20ms, errors == 0", "at \", errors == 0\": blanks alone join terms"},
	{"latency.p99 <= 1,5ms", "at \",5ms\": latency.p99 is a time"},
	{"p99 < 20ms", "p99: unknown figure; did you mean latency.p99?"},
	{"p95<200", "p95: unknown figure; did you mean latency.p95?"},
	{"p(99)<200", "p(99): unknown figure; did you mean latency.p99?"},
	{"p(99.9)<200", "p(99.9): unknown figure; did you mean latency.p99.9?"},
	{"group.small.p99 < 20ms", "did you mean group.small.latency.p99?"},
	{"p(99 < 20ms", "p(99: unknown figure"},
	{"errors == 0 || latency.p99 <= 1ms", "there is no \"or\""},
	{"latency.p99 <= 10ms errors", "at the end: an operator"},
	{"latencyp99 <= 10ms", "latencyp99: unknown figure; did you mean latency.p99?"},
	{"latency <= 10ms",
	 "latency: it has several figures: latency.count, min, mean, max, stddev, "
	 "p50, p99, ..."},
	{"latency.p101 <= 10ms",
	 "latency.p101: unknown figure; a percentile is a number from 0 to 100"},
	{"host.master.latency.p50 < 1s",
	 "host.master.latency.p50: no figure of hosts, but of runs, groups, transactions and verbs "
	 "(latency.p50)"},
	{"host.master.latency < 1s", "but of runs, groups, transactions and verbs (latency)"},
	{"cpu.busy < 50%", "cpu.busy: no figure of runs, but of hosts (host.NAME.cpu.busy)"},
	{"transaction_per_s > 1", "did you mean transactions_per_s?"},
	{"zebra > 1", "zebra: unknown figure; netmodel --describe figures lists them"},
	{"group.smal.errors == 0",
	 "group.smal.errors: no group of that name with a figure behind it; "
	 "the groups are small, large"},
	{"group.small == 0", "no group of that name with a figure behind it"},
	{"group.small.error == 0", "did you mean group.small.errors?"},
	{"group.small.transaction.play.errors == 0", "the transactions are 1, work"},
	{"host.10.0.0.8.cpu.busy < 5%", "the hosts are master, 10.0.0.7, fd00::8"},
	{"errors\n== \x1b[1m0", "at \" [1m0\": a number must stand here"},
};

START_TEST(a_wrong_one_is_refused_with_its_place)
{
	ck_assert_int_eq(add(wrong[_i].text, false), -EINVAL);
	ck_assert_msg(strstr(why, wrong[_i].why) != NULL, "%s: %s", wrong[_i].text, why);
	ck_assert_uint_eq(list.count, 0);
}
END_TEST

START_TEST(terms_are_requirements_of_their_own_unless_they_are_negated)
{
	static const char text[] = " errors == 0  latency.p99 <= 10 ms transactions > 5 ";

	ck_assert_int_eq(add(text, false), 0);
	ck_assert_uint_eq(list.count, 3);
	ck_assert_str_eq(list.items[0].text, "errors == 0");
	ck_assert_str_eq(list.items[1].text, "latency.p99 <= 10 ms");
	ck_assert_str_eq(list.items[2].text, "transactions > 5");
	ck_assert_int_eq(add(text, true), 0);
	ck_assert_uint_eq(list.count, 4);
	ck_assert_uint_eq(list.items[3].n_terms, 3);
	ck_assert_str_eq(list.items[3].text, "errors == 0  latency.p99 <= 10 ms transactions > 5");
}
END_TEST

START_TEST(the_percentiles_that_are_needed_are_added)
{
	struct nm_percentiles percentiles = {.pct = {50, 99}, .count = 2};

	ck_assert_int_eq(
		add("latency.p99 < 1s latency.p99.9 < 1s group.small.response.p5 < 1s", false), 0);
	ck_assert_int_eq(nm_requirements_percentiles(&list, &percentiles), 0);
	ck_assert_uint_eq(percentiles.count, 4);
	ck_assert_double_eq(percentiles.pct[0], 5);
	ck_assert_double_eq(percentiles.pct[3], 99.9);
}
END_TEST

/* --- judging --- */

/* Of the sample: p50 19 us, p99.99 99 us, 10000 transactions a second, and no response. */
static const struct {
	const char *text;
	bool negated, met;
	const char *reason;
} judged[] = {
	{"latency.p50 <= 19us", false, true, NULL},
	{"latency.p50 < 19us", false, false, "latency.p50 is 19 us"},
	{"latency.p50 == 19us", false, true, NULL},
	{"latency.p50 != 19us", false, false, "latency.p50 is 19 us"},
	{"latency.p50 >= 20us", false, false, "latency.p50 is 19 us"},
	{"latency.p99.99 > 98us", false, true, NULL},
	{"latency.p90 < 1s", false, false, "latency.p90 was not measured"},
	{"response.p50 < 1s", false, false, "response.p50 was not measured"},
	{"messages.to_slaves.lost == 0", false, false, "messages.to_slaves.lost was not measured"},
	{"transactions_per_s >= 10k/s", false, true, NULL},
	{"bytes_sent > 1GB", false, false, "bytes_sent is 2 MB"},
	{"transactions_per_s > 10k/s", false, false, "transactions_per_s is 10000 /s"},
	{"host.10.0.0.7.cpu.busy <= 50%", false, true, NULL},
	{"host.10.0.0.7.cpu.busy < 50%", false, false, "host.10.0.0.7.cpu.busy is 50 %"},
	{"host.fd00::8.cpu.busy < 50%", false, false,
	 "host.fd00::8.cpu.busy was not measured: the host did not deliver it"},
	{"host.10.0.0.7.connections.retransmits == 0", false, false,
	 "host.10.0.0.7.connections.retransmits was not measured: the connections were closed"},
	{"group.large.transaction.work.transactions == 15000", false, true, NULL},
	{"group.large.transaction.1.connects == 8", false, true, NULL},
	{"errors <= 0.1%", false, true, NULL},
	{"group.large.errors > 1%", false, false, "group.large.errors is 0 %"},
	{"latency.p50 > 20us", true, true, NULL},
	{"latency.p50 > 10us", true, false, "latency.p50 is 19 us"},
	{"latency.p90 > 10us", true, false, "latency.p90 was not measured"},
	{"latency.p50 > 10us errors > 0", true, true, NULL},
	{"latency.p50 > 10us errors == 0", true, false, "latency.p50 is 19 us"},
	{"latency.p50 > 10us latency.p90 > 1us", true, false, "latency.p90 was not measured"},
	{"latency.p90 > 10us errors > 0", true, true, NULL},
};

START_TEST(a_requirement_is_met_or_says_why_not)
{
	struct nm_result *run = sample_result();
	struct nm_runs series = sample_series(&run);
	struct nm_verdicts verdicts;

	ck_assert_msg(add(judged[_i].text, judged[_i].negated) == 0, "%s", why);
	ck_assert_int_eq(nm_requirements_judge(&list, &series, &verdicts, NULL), 0);
	ck_assert_uint_eq(verdicts.count, 1);
	ck_assert_msg(verdicts.items[0].met == judged[_i].met, "%s", judged[_i].text);
	ck_assert_pstr_eq(verdicts.items[0].reason, judged[_i].reason);
	nm_verdicts_fini(&verdicts);
	nm_result_free(run);
}
END_TEST

START_TEST(of_several_runs_the_mean_counts_and_only_of_complete_ones)
{
	struct nm_result *runs[] = {sample_result(), sample_result(), sample_result()};
	struct nm_runs series = {.runs = runs, .n_runs = 3};
	struct nm_verdicts verdicts;

	runs[1]->totals.counts.iterations = 40000;
	runs[2]->totals.counts.iterations = 1;
	runs[2]->complete = false;
	ck_assert_int_eq(add("transactions == 30000", false), 0);
	ck_assert_int_eq(nm_requirements_judge(&list, &series, &verdicts, NULL), 0);
	ck_assert_uint_eq(verdicts.n_met, 1);
	nm_verdicts_fini(&verdicts);
	runs[0]->complete = runs[1]->complete = false;
	ck_assert_int_eq(nm_requirements_judge(&list, &series, &verdicts, NULL), 0);
	ck_assert_str_eq(verdicts.items[0].reason, "transactions is 1");
	nm_verdicts_fini(&verdicts);
	for (size_t i = 0; i < 3; i++)
		nm_result_free(runs[i]);
}
END_TEST

/* The mean of the runs' shares: 1 of 4, and 3 of 4. */
START_TEST(errors_are_a_share_of_all_passes)
{
	struct nm_result *runs[] = {sample_result(), sample_result()};
	struct nm_runs series = {.runs = runs, .n_runs = 2};
	struct nm_verdicts verdicts;

	runs[0]->totals.counts.iterations = runs[1]->totals.counts.iterations = 40;
	runs[0]->totals.counts.errors = 10;
	runs[1]->totals.counts.errors = 30;
	ck_assert_int_eq(add("errors == 50% errors < 0%", false), 0);
	ck_assert_int_eq(nm_requirements_judge(&list, &series, &verdicts, NULL), 0);
	ck_assert(verdicts.items[0].met && !verdicts.items[1].met);
	ck_assert_str_eq(verdicts.items[1].reason, "errors is 50 %");
	nm_verdicts_fini(&verdicts);
	runs[0]->totals.counts.iterations = runs[0]->totals.counts.errors = 0;
	ck_assert_int_eq(nm_requirements_judge(&list, &series, &verdicts, NULL), 0);
	ck_assert_str_eq(verdicts.items[0].reason, "errors was not measured: nothing was done");
	nm_verdicts_fini(&verdicts);
	nm_result_free(runs[0]);
	nm_result_free(runs[1]);
}
END_TEST

/* What a peer or a profile may have in its texts must not end the document. */
START_TEST(junit_is_xml_whatever_stands_in_it)
{
	struct nm_result *run = sample_result();
	struct nm_runs series = sample_series(&run);

	free(run->profile.name);
	run->profile.name = strdup("a<b>&\"c\"\x01\n\xff\xc3\xa4\xed\xa0\x80");
	run->complete = false;
	run->verdict.incomplete_why = strdup("]]> \xef\xbf\xbf");
	nm_result_warn(run, "<late>");
	char *text = sample_write("junit", &series);

	ck_assert_ptr_nonnull(strstr(
		text, "classname=\"a&lt;b&gt;&amp;&quot;c&quot;? ?\xc3\xa4???\" name=\"run\""));
	ck_assert_ptr_nonnull(strstr(text, "<error type=\"incomplete\" message=\"]]&gt; ???\"/>"));
	ck_assert_ptr_nonnull(strstr(text, "<system-err>warning: &lt;late&gt;</system-err>"));
	ck_assert_ptr_nonnull(strstr(text, " tests=\"1\" failures=\"0\" errors=\"1\""));
	free(text);
	nm_result_free(run);
}
END_TEST

/* --- names --- */

START_TEST(all_names_are_found_and_are_different)
{
	struct nm_named_list names;
	json_t *document = nm_named_of_plan(&plan);
	static const char *const prefixes[] = {
		[NM_SCOPE_RUN] = "",
		[NM_SCOPE_GROUP] = "group.small.",
		[NM_SCOPE_TRANSACTION] = "group.small.transaction.work.",
		[NM_SCOPE_VERB] = "verb.get.",
		[NM_SCOPE_HOST] = "host.master.",
	};
	struct nm_named_at at;
	char name[512];

	ck_assert_ptr_nonnull(document);
	json_array_append_new(json_object_get(document, "verbs"),
			      json_pack("{s:s}", "verb", "get"));
	ck_assert_int_eq(nm_named_list(&names), 0);
	ck_assert_uint_gt(names.count, 100);
	for (size_t i = 0; i < names.count; i++) {
		const struct nm_named *named = &names.items[i];
		size_t length = strlen(named->name);

		snprintf(name, sizeof name, "%s%s", prefixes[named->scope], named->name);
		if (named->percentiles)
			strcpy(name + strlen(name) - 1, "99.9");
		ck_assert_msg(nm_named_find(&names, document, name, &at, why, sizeof why) == 0,
			      "%s: %s", name, why);
		ck_assert_str_eq(at.named.member, named->member);
		ck_assert_uint_lt(length, sizeof(named->name) - 1);
		ck_assert_ptr_null(strpbrk(named->name, " <>=!"));
	}
	nm_named_fini(&names);
	json_decref(document);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("requirement");
	TCase *tc = tcase_create("requirement");

	tcase_add_checked_fixture(tc, NULL, tear_down);
	tcase_add_loop_test(tc, a_requirement_is_read, 0, sizeof right / sizeof *right);
	tcase_add_loop_test(tc, a_wrong_one_is_refused_with_its_place, 0,
			    sizeof wrong / sizeof *wrong);
	tcase_add_test(tc, terms_are_requirements_of_their_own_unless_they_are_negated);
	tcase_add_test(tc, the_percentiles_that_are_needed_are_added);
	tcase_add_loop_test(tc, a_requirement_is_met_or_says_why_not, 0,
			    sizeof judged / sizeof *judged);
	tcase_add_test(tc, of_several_runs_the_mean_counts_and_only_of_complete_ones);
	tcase_add_test(tc, errors_are_a_share_of_all_passes);
	tcase_add_test(tc, junit_is_xml_whatever_stands_in_it);
	tcase_add_test(tc, all_names_are_found_and_are_different);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
