/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"
#include "report/throughput.h"
#include "sample.h"

static struct nm_result *run;
static struct nm_runs series;
static struct nm_view view;
static char *text;

static void set_up(void)
{
	run = sample_result();
	series = sample_series(&run);
	view = (struct nm_view){.cpus = NULL};
	series.view = &view;
	text = NULL;
}

static void tear_down(void)
{
	free(text);
	nm_result_free(run);
}

static void render(void)
{
	free(text);
	text = sample_write("neper", &series);
}

static bool has(const char *line)
{
	char whole[128];

	snprintf(whole, sizeof(whole), "\n%s\n", line);
	return strstr(text, whole) != NULL;
}

#define assert_has(line) ck_assert_msg(has(line), "no line %s in\n%s", line, text)

static void make_stream(void)
{
	for (size_t h = 0; h < run->n_hosts; h++)
		run->hosts[h].complete = true;
	run->totals.counts.bytes_received = 0;
	run->grid.warmup_s = 0;
	run->groups[0].phases[1].slaves.bytes_received = 250000;
	run->groups[1].phases[1].slaves.bytes_received = 750000;
}

START_TEST(numbers_are_plain)
{
	free(run->params.items[1].value);
	run->params.items[1].value = strdup("2k");
	render();
	ck_assert_int_eq(strncmp(text, "VERSION=1.2.3\n", 14), 0);
	assert_has("num_flows=8");
	assert_has("request_size=2048");
	assert_has("percentiles=50,99.99,");
	assert_has("total_run_time=2.000000"); /* as measured: no length was asked for */
	assert_has("num_transactions=20000");
	assert_has("throughput=10000.00");
	assert_has("local_throughput=10000");
	assert_has("latency_p99.99=0.000099000");
}
END_TEST

/* The first two parameters of the run, in place of its own. */
static void set_param(size_t index, const char *name, enum nm_type type, const char *value)
{
	struct nm_param *param = &run->params.items[index];

	free(param->name);
	free(param->value);
	param->name = strdup(name);
	param->value = strdup(value);
	param->type = type;
}

START_TEST(units_of_parameters_are_nepers)
{
	static const struct {
		const char *name;
		enum nm_type type;
		const char *value, *line;
	} cases[] = {
		{"max_pacing_rate", NM_TYPE_BITRATE, "100k", "max_pacing_rate=12500"},
		{"max_pacing_rate", NM_TYPE_BITRATE, "80g", "max_pacing_rate=10000000000"},
		{"delay", NM_TYPE_DURATION, "10us", "delay=10000"},
		{"noburst", NM_TYPE_DURATION, "1s", "noburst=1000000000"},
		{"tcp_tx_delay", NM_TYPE_DURATION, "5us", "tcp_tx_delay=5"},
		{"tcp_tx_delay", NM_TYPE_DURATION, "5500ns", "tcp_tx_delay=5.5"},
		{"test_length", NM_TYPE_DURATION, "500ms", "test_length=0.5"},
		{"debug", NM_TYPE_FLAG, "no", "debug=0"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		set_param(0, cases[i].name, cases[i].type, cases[i].value);
		render();
		assert_has(cases[i].line);
	}
	set_param(0, "test_length", NM_TYPE_DURATION, "86400s");
	set_param(1, "num_transactions", NM_TYPE_COUNT, "3k");
	render();
	assert_has("test_length=-3000");
	assert_has("param_num_transactions=3000");
	assert_has("total_transactions=20000");
}
END_TEST

START_TEST(options_of_neper_stand_for_parameters)
{
	char mark[] = "mark", magic[] = "magic", five[] = "5";
	const struct nm_tool_option options[] = {{.name = mark, .value = five}, {.name = magic}};

	view.tool_options = options;
	view.n_tool_options = 2;
	free(run->id.run_id);
	run->id.run_id = strdup("ffffffff00000000");
	render();
	ck_assert(strstr(text, "VERSION=1.2.3\nmark=5\nmagic=2147483647\ntotal_run_time="));
}
END_TEST

START_TEST(usage_has_a_start_and_an_end)
{
	struct nm_rusage *start = &run->hosts[0].usage.process_start;

	start->utime_ns = 1500000000;
	start->maxrss_kb = 1000;
	start->nvcsw = 30;
	render();
	assert_has("utime_start=1.500000");
	assert_has("utime_end=1.750000");
	assert_has("maxrss_start=1000");
	assert_has("maxrss_end=4096");
	assert_has("nvcsw_start=30");
	assert_has("nvcsw_end=42");
	assert_has("stime_end=0.750000");
	view.stime_use_proc = true;
	render();
	assert_has("stime_start=0.000000");
	assert_has("stime_end=0.400000"); /* the whole host's: system and softirq */
}
END_TEST

START_TEST(times_are_exact)
{
	run->from_ns = 1000000000000000001;
	run->to_ns = 1000000002000000003;
	render();
	assert_has("time_start=1000000000.000000001");
	assert_has("time_end=1000000002.000000003");
}
END_TEST

START_TEST(correlation_is_centred)
{
	/* Points (0,0), (1,10000), (2,20000): a line; then (2,50000): the coefficient of those
	 * three. */
	render();
	assert_has("num_samples=2");
	assert_has("correlation_coefficient=1.000000");
	run->intervals[2].window.counts.iterations = 40000;
	render();
	assert_has("correlation_coefficient=0.944911");
}
END_TEST

START_TEST(the_reader_tells_the_throughput_of_a_stream)
{
	make_stream();
	render();
	assert_has("throughput=4.00"); /* 1 MB in 2 s */
	assert_has("throughput_units=Mbit/s");
	assert_has("local_throughput=0");
	assert_has("remote_throughput=4000000");
	ck_assert(!strstr(text, "num_transactions"));
	view.throughput_unit = "auto-iB";
	render();
	assert_has("throughput=488.28");
	assert_has("throughput_units=KiB/s");
}
END_TEST

START_TEST(what_a_lost_slave_has_read_is_not_told)
{
	make_stream();
	run->hosts[2].complete = false;
	render();
	ck_assert(!strstr(text, "remote_throughput="));
	ck_assert(!strstr(text, "throughput_units="));
}
END_TEST

START_TEST(units)
{
	static const struct {
		const char *word;
		double bytes_per_s;
		const char *printed;
	} cases[] = {
		{"Mb", 0, "Mbit/s"},	      {"k", 0, "10^3bits/s"},	    {"K", 0, "KBytes/s"},
		{"auto-b", 0, "Kbit/s"}, /* at worst the smallest */
		{"auto-b", 124999, "Kbit/s"}, {"auto-b", 125000, "Mbit/s"}, {"auto-B", 5e6, "MB/s"},
		{"auto-ib", 1e9, "Gibit/s"},  {"auto-iB", 1e15, "GiB/s"}, /* or the largest */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct nm_throughput_unit *unit =
			nm_throughput_unit(cases[i].word, cases[i].bytes_per_s);

		ck_assert_ptr_nonnull(unit);
		ck_assert_str_eq(unit->printed, cases[i].printed);
	}
	static const char *const wrong[] = {"",	     "x",      "mb",	  "auto",
					    "auto-", "auto-x", "auto-bi", "auto-b "};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		ck_assert_msg(!nm_throughput_unit(wrong[i], 1), "%s", wrong[i]);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("report_neper");
	TCase *tc = tcase_create("report_neper");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_test(tc, numbers_are_plain);
	tcase_add_test(tc, units_of_parameters_are_nepers);
	tcase_add_test(tc, options_of_neper_stand_for_parameters);
	tcase_add_test(tc, usage_has_a_start_and_an_end);
	tcase_add_test(tc, times_are_exact);
	tcase_add_test(tc, correlation_is_centred);
	tcase_add_test(tc, the_reader_tells_the_throughput_of_a_stream);
	tcase_add_test(tc, what_a_lost_slave_has_read_is_not_told);
	tcase_add_test(tc, units);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
