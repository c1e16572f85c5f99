/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"
#include "sample.h"

static struct nm_result *run;
static json_t *document;

static void set_up(void)
{
	run = sample_result();
	document = NULL;
}

static void tear_down(void)
{
	json_decref(document);
	nm_result_free(run);
}

static void render(struct nm_runs series)
{
	json_error_t error;

	json_decref(document);
	char *text = sample_write("json", &series);
	/* The document and nothing else, no key twice. */
	document = json_loads(text, JSON_REJECT_DUPLICATES, &error);
	ck_assert_msg(document != NULL, "%s at line %d of\n%s", error.text, error.line, text);
	free(text);
}

/* A value by a path of keys and indexes: "hosts.0.cpu.user". No key has a dot. */
static const json_t *at(const char *path)
{
	const json_t *value = document;
	char copy[128], *rest = copy, *key;

	snprintf(copy, sizeof(copy), "%s", path);
	while ((key = strsep(&rest, ".")) != NULL) {
		value = json_is_array(value) ? json_array_get(value, strtoul(key, NULL, 10))
					     : json_object_get(value, key);
		ck_assert_msg(value != NULL, "no %s of %s", key, path);
	}
	return value;
}

#define is_text(path, expected) ck_assert_str_eq(json_string_value(at(path)), (expected))
#define is_count(path, expected)                                                                   \
	do {                                                                                       \
		ck_assert_msg(json_is_integer(at(path)), "%s", (path));                            \
		ck_assert_int_eq(json_integer_value(at(path)), (expected));                        \
	} while (0)
#define is_real(path, expected)                                                                    \
	do {                                                                                       \
		ck_assert_msg(json_is_number(at(path)), "%s", (path));                             \
		ck_assert_double_eq_tol(json_number_value(at(path)), (expected),                   \
					fabs(expected) * 1e-9);                                    \
	} while (0)
#define is_null(path) ck_assert_msg(json_is_null(at(path)), "%s is not null", (path))

START_TEST(document_tells_the_run)
{
	render(sample_series(&run));
	is_text("schema", "netmodel.result/1");
	is_text("version", "1.2.3");
	is_text("profile.name", "mix");
	is_null("profile.path");
	is_text("profile.params.num_flows", "8");
	is_text("run.id", "0123456789abcdef0123456789abcdef");
	is_text("run.start", "2023-11-14T22:13:20.123456Z");
	is_real("run.elapsed_s", 3.25);
	is_count("run.seed", 42);
	ck_assert(json_is_true(at("run.complete")));
	ck_assert(json_is_false(at("run.interrupted")));
	ck_assert(json_is_true(at("run.reconciled")));
	is_null("run.incomplete_why");
	ck_assert_uint_eq(json_array_size(at("run.warnings")), 0);
	ck_assert_ptr_null(json_object_get(document, "repeat"));
}
END_TEST

START_TEST(document_tells_totals_and_groups)
{
	render(sample_series(&run));
	is_count("totals.transactions", 20000);
	is_real("totals.transactions_per_s", 10000.0);
	is_count("totals.bytes_sent", 2000000);
	is_real("totals.bits_sent_per_s", 8e6);
	is_real("totals.bits_received_per_s", 80e6);
	is_real("totals.bits_per_s", 88e6);
	is_real("totals.latency_s.mean", 20e-6);
	is_real("totals.latency_s.p50", 19e-6);
	is_real("totals.latency_s.p99_99", 99e-6);
	ck_assert_ptr_null(json_object_get(at("totals"), "response_s"));
	is_text("groups.1.name", "large");
	is_count("groups.1.flows", 8);
	is_null("groups.1.phases.0.name");
	is_null("groups.1.phases.0.latency_s");
	is_count("groups.1.phases.0.connects", 8);
	is_text("groups.1.phases.1.name", "work");
	ck_assert(json_is_true(at("groups.1.phases.1.measured")));
	is_text("intervals.0.part", "warmup");
	is_real("intervals.1.to_s", 2.0);
	is_null("intervals.2.latency_s");
}
END_TEST

START_TEST(document_tells_hosts)
{
	render(sample_series(&run));
	is_text("hosts.0.role", "master");
	is_null("hosts.0.address");
	is_null("hosts.0.rtt_s");
	is_text("hosts.1.role", "slave");
	is_real("hosts.1.rtt_s", 0.0001);
	is_real("hosts.2.start_skew_s", -0.0003);
	is_text("hosts.1.facts.kernel", "6.1.0");
	is_null("hosts.1.facts.os");
	is_null("hosts.1.facts.memory_bytes");
	is_count("hosts.1.counts.bytes_received", 30000000);
	is_text("hosts.1.groups.0.name", "small");
	is_count("hosts.1.groups.1.transactions", 15000);
	is_real("hosts.1.cpu.system", 0.3);
	is_real("hosts.1.cpu.idle", 0.5);
	is_real("hosts.1.cpu.busy", 0.5);
	is_real("hosts.1.cpu.seconds", 0.5);
	is_real("hosts.1.rusage.utime_s", 0.25);
	is_text("hosts.1.nics.unavailable", "no netlink here");
	is_real("hosts.1.interrupts.seconds", 2.0);
	is_count("hosts.1.interrupts.hardware", 24000);
	is_count("hosts.1.interrupts.context_switches", 700);
	is_real("hosts.1.softirqs.seconds", 2.0);
	is_count("hosts.1.softirqs.total", 5000000);
	is_count("hosts.1.softirqs.net_rx", 4000000);
	is_count("hosts.1.softirqs.net_tx", 0);
	ck_assert(json_is_null(at("hosts.1.softirqs.timer")));
	is_count("hosts.1.softnet.dropped", 6);
	is_real("hosts.1.pressure.cpu_some_s", 0.3);
	is_null("hosts.1.pressure.irq_full_s");
	is_text("hosts.1.unhalted.source", "msr");
	is_real("hosts.1.unhalted.busy", 0.625);
	is_real("hosts.1.unhalted.awake_s", 2.5);
	is_real("hosts.1.unhalted.hidden", 0.125);
	is_real("hosts.1.unhalted.frequency_hz", 3.48e9);
	is_real("hosts.1.cpufreq.frequency_hz", 2.5e9);
	is_count("hosts.1.cpus.0.cpu", 4);
	is_real("hosts.1.cpus.0.busy", 0.75);
	is_real("hosts.1.cpus.0.softirq", 0.25);
	is_text("hosts.2.cpus.unavailable", "the host did not deliver it");
	is_text("hosts.2.unhalted.unavailable", "the host did not deliver it");
	is_text("hosts.2.interrupts.unavailable", "the host did not deliver it");
	is_text("hosts.2.softirqs.unavailable", "the host did not deliver it");
	is_real("hosts.0.costs.cpu_per_transaction_s", 1e-4);
	is_null("hosts.0.costs.cpu_per_packet_s");
	is_null("hosts.0.costs.nic");
	is_text("hosts.2.costs.unavailable", "the host did not deliver it");
	is_count("hosts.1.tcp.retransmitted_segments", 1);
	is_count("hosts.0.connections.count", 16);
	is_real("hosts.0.connections.min_rtt_s", 5e-6);
	is_real("hosts.0.connections.srtt_s.mean", 2e-5);
	is_text("hosts.0.connections.tls.version", "TLSv1.3");
	is_text("hosts.0.connections.tls.cipher", "A-CIPHER");
	is_count("hosts.0.connections.tls.count", 16);
	is_count("hosts.0.connections.tls.resumed", 15);
	is_count("hosts.0.connections.tls.ktls_send", 14);
	is_count("hosts.0.connections.tls.ktls_receive", 13);
	is_text("hosts.1.connections.unavailable", "the connections were closed");
	is_text("hosts.2.cpu.unavailable", "the host did not deliver it");
	is_count("hosts.1.intervals.0.cpu.n_cpus", 2);
}
END_TEST

START_TEST(what_is_known_of_an_incomplete_run_is_told)
{
	run->complete = false;
	run->hosts[2].complete = false;
	render(sample_series(&run));
	is_real("run.start_skew_s", 0.0005);
	is_real("hosts.2.start_skew_s", -0.0003);
}
END_TEST

START_TEST(what_is_not_known_is_never_0)
{
	run->has_start_skew = false;
	run->complete = false;
	run->verdict.interrupted = true;
	run->verdict.incomplete_why = strdup("interrupted");
	run->verdict.reconciled = NM_RECONCILED_UNKNOWN;
	run->totals = (struct nm_window){.seconds = 0};
	run->hosts[1].complete = false;
	run->hosts[1].n_groups = 0;
	run->hosts[1].connections.why[0] = '\0';
	run->profile.sha256[0] = '\0';
	render(sample_series(&run));
	ck_assert(json_is_false(at("run.complete")));
	ck_assert(json_is_true(at("run.interrupted")));
	is_text("run.incomplete_why", "interrupted");
	is_null("run.reconciled");
	is_null("run.start_skew_s");
	is_null("hosts.2.start_skew_s");
	is_null("hosts.2.start_skew_error_s");
	is_null("profile.sha256");
	is_null("totals.transactions_per_s");
	is_null("totals.latency_s");
	is_null("hosts.1.counts");
	is_null("hosts.1.rtt_s");
	ck_assert_uint_gt(json_string_length(at("hosts.1.connections.unavailable")), 0);
	run->hosts[1].n_groups = 2;
}
END_TEST

START_TEST(numbers_and_texts_that_json_has_not)
{
	run->totals.latency.mean_s = NAN;
	run->totals.latency.max_s = INFINITY;
	run->id.seed = UINT64_MAX;
	free(run->params.items[0].value);
	run->params.items[0].value = strdup("caf\xe9 \"q\"");
	render(sample_series(&run));
	is_null("totals.latency_s.mean");
	is_null("totals.latency_s.max");
	is_count("run.seed", INT64_MAX);
	is_text("profile.params.num_flows", "caf? \"q\"");
}
END_TEST

START_TEST(response_times_are_told_with_a_rate)
{
	run->totals.response = run->totals.latency;
	run->totals.response.mean_s = 0.25;
	render(sample_series(&run));
	is_real("totals.response_s.mean", 0.25);
	is_real("totals.latency_s.mean", 20e-6);
}
END_TEST

START_TEST(a_series_has_all_runs_and_their_summary)
{
	struct nm_result *runs[] = {sample_result(), run};
	struct nm_runs series = {.runs = runs, .n_runs = 2};

	runs[0]->totals.counts.iterations = 10000;
	render(series);
	/* The document is the last run's. */
	is_count("totals.transactions", 20000);
	is_count("repeat.n", 2);
	is_count("repeat.runs.0.totals.transactions", 10000);
	is_count("repeat.runs.1.run.seed", 42);
	is_count("repeat.summary.transactions_per_s.n", 2);
	is_real("repeat.summary.transactions_per_s.mean", 7500.0);
	/* 2500 * sqrt(2); t(0.975, 1) = 12.7062 */
	is_real("repeat.summary.transactions_per_s.stddev", 3535.533905932738);
	ck_assert_double_eq_tol(json_number_value(at("repeat.summary.transactions_per_s.ci95")),
				31765.5, 1);
	is_text("repeat.hosts.0.name", "master");
	is_count("repeat.hosts.0.costs.cpu_per_transaction_s.n", 2);
	is_count("repeat.hosts.2.costs.cpu_per_transaction_s.n", 0);
	is_count("repeat.summary.latency_p99_s.n", 0);
	is_null("repeat.summary.latency_p99_s.mean");

	runs[0]->complete = false;
	render(series);
	is_count("repeat.summary.transactions_per_s.n", 1);
	is_real("repeat.summary.transactions_per_s.mean", 10000.0);
	is_null("repeat.summary.transactions_per_s.ci95");
	nm_result_free(runs[0]);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("report_json");
	TCase *tc = tcase_create("report_json");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_test(tc, document_tells_the_run);
	tcase_add_test(tc, document_tells_totals_and_groups);
	tcase_add_test(tc, document_tells_hosts);
	tcase_add_test(tc, what_is_known_of_an_incomplete_run_is_told);
	tcase_add_test(tc, what_is_not_known_is_never_0);
	tcase_add_test(tc, numbers_and_texts_that_json_has_not);
	tcase_add_test(tc, response_times_are_told_with_a_rate);
	tcase_add_test(tc, a_series_has_all_runs_and_their_summary);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
