/* SPDX-License-Identifier: Apache-2.0 */
/* What logs write for what a run tells them, and where outputs go. */
#include "cli/log/log.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/live.h"
#include "cli/output_paths.h"
#include "said.h"

#include "../suite.h"

static struct nm_diags diags;
static struct nm_args args;
static struct nm_logs logs;
static char folder[] = "/tmp/test_logs.XXXXXX";

/* Runs before each test, in its process. */
static void set_up(void)
{
	struct nm_args_reading reading;

	ck_assert_ptr_nonnull(mkdtemp(folder));
	ck_assert_int_eq(nm_args_begin(&reading, &args, &diags), 0);
}

static void tear_down(void)
{
	nm_args_fini(&args);
	ck_assert_int_eq(rmdir(folder), 0);
}

/* A path in the folder, owned. */
static char *path_of(const char *name)
{
	char *path = NULL;

	ck_assert_int_gt(asprintf(&path, "%s/%s", folder, name), 0);
	return path;
}

static void name_log(const char *option, const char *file)
{
	*(char **)nm_arg_field(nm_arg_find(option), &args) = path_of(file);
}

/* What stands in the file of an option, which is gone then. */
static const char *written(const char *option)
{
	static char text[4096];
	const char *path = *(char **)nm_arg_field(nm_arg_find(option), &args);
	FILE *in = fopen(path, "r");

	ck_assert_ptr_nonnull(in);
	text[fread(text, 1, sizeof text - 1, in)] = '\0';
	fclose(in);
	unlink(path);
	return text;
}

static const struct nm_response_row rows[] = {
	{.wall_ns = 5000000007,
	 .elapsed_ns = 9,
	 .group = "g\n",
	 .transaction = "t",
	 .flowop = "read",
	 .flow = 3},
	{.wall_ns = 1,
	 .elapsed_ns = 8,
	 .group = "g",
	 .transaction = "",
	 .flowop = "write",
	 .phase = 2,
	 .failed = true},
	{.since_ns = 1500000000,
	 .elapsed_ns = 2000,
	 .group = "g",
	 .transaction = "",
	 .flow = 4,
	 .worker = 1},
};

START_TEST(responses_and_passes)
{
	struct nm_run_options options = {.statistics = 0};

	name_log("response-log", "r");
	name_log("log-rtt", "l.csv");
	ck_assert_int_eq(nm_logs_open(&logs, &args, &diags), 0);
	nm_logs_ask(&logs, &args, &options);
	ck_assert_uint_eq(options.statistics, NM_STAT_RESPONSES);
	ck_assert_uint_eq(options.log_passes, 10000);
	ck_assert(!nm_logs_take_times(&logs) && !options.samples_flows);
	nm_logs_responses(&logs, rows, 3);
	ck_assert_int_eq(nm_logs_close(&logs, 12, NULL, &diags), 0);
	ck_assert_int_eq(nm_logs_close(&logs, 12, NULL, &diags), 0);
	ck_assert_str_eq(written("response-log"),
			 "time_s\tgroup\tstrand\ttransaction\tflowop\telapsed_ns\tresult\n"
			 "5.000000007\tg \t3\tt\tread\t9\tok\n"
			 "0.000000001\tg\t0\tTxn2\twrite\t8\tfailed\n"
			 "# 12 more were lost\n");
	ck_assert_str_eq(written("log-rtt"),
			 "      timestamp, thread_id,   flow_id,         rtt\n"
			 "    1.500000000,         1,         4, 0.000002000\n");
}
END_TEST

START_TEST(columns_by_blanks)
{
	name_log("log-rtt", "l");
	ck_assert_int_eq(nm_logs_open(&logs, &args, &diags), 0);
	nm_logs_responses(&logs, rows, 3);
	ck_assert_int_eq(nm_logs_close(&logs, 0, NULL, &diags), 0);
	ck_assert_str_eq(written("log-rtt"),
			 "      timestamp  thread_id    flow_id          rtt\n"
			 "    1.500000000          1          4  0.000002000\n");
}
END_TEST

static struct nm_group groups[] = {{.name = (char *)"a \"b\"\n", .n_workers = 2}};
static const struct nm_plan plan = {.groups = groups, .n_groups = 1};

static void tell_flows(const double *pct_s)
{
	const struct nm_flow_row row = {
		.flow = 3,
		.total = {.passes = 10, .bytes_sent = 20, .bytes_received = 30, .errors = 1},
		.delta = {.passes = 4, .bytes_sent = 8, .bytes_received = 2},
		.has_latency = pct_s != NULL,
		.min_s = 1e-6,
		.mean_s = 2e-6,
		.max_s = 3e-6,
		.stddev_s = 1e-7,
		.pct_s = (double *)pct_s};
	const struct nm_flow_rows told = {.host = "h",
					  .plan = &plan,
					  .at_ns = 1500000000,
					  .seconds = 0.5,
					  .rows = (struct nm_flow_row *)&row,
					  .count = 1};

	nm_logs_flows(&logs, &told);
}

START_TEST(flows_with_percentiles)
{
	const double pct_s[] = {4e-6};
	struct nm_run_options options = {.statistics = 0};

	name_log("all-samples", "s");
	args.run.has_percentiles = true;
	args.run.percentiles.count = 1;
	args.run.percentiles.pct[0] = 99.9;
	ck_assert_int_eq(nm_logs_open(&logs, &args, &diags), 0);
	nm_logs_ask(&logs, &args, &options);
	ck_assert(options.samples_flows && options.samples_percentiles);
	tell_flows(pct_s);
	tell_flows(NULL);
	ck_assert_int_eq(nm_logs_close(&logs, 0, NULL, &diags), 0);
	const char *text = written("all-samples");

	ck_assert_has(text, ",latency_stddev,latency_p99.9,host,group,");
	ck_assert_has(text, "\n1,3,1.500000000,10,8.00,");
	ck_assert_has(text, ",0.000001000,0.000002000,0.000003000,0.000000100,0.000004000,"
			    "\"h\",\"a \"\"b\"\" \",20,16.00,30,4.00,1\n");
	ck_assert_has(text, ",,,,,,\"h\",");
}
END_TEST

START_TEST(connections)
{
	struct nm_run_options options = {.statistics = 0};
	struct nm_tcp_sample row = {.flow = 2, .slot = 1, .at_ns = 7};
	const struct nm_tcp_rows told = {.host = "h", .plan = &plan, .rows = &row, .count = 1};

	row.values[0] = 42;
	name_log("tcp-info", "t");
	ck_assert_int_eq(nm_logs_open(&logs, &args, &diags), 0);
	nm_logs_ask(&logs, &args, &options);
	ck_assert(options.samples_tcp && !options.samples_flows);
	nm_logs_tcp(&logs, &told);
	ck_assert_int_eq(nm_logs_close(&logs, 0, NULL, &diags), 0);
	const char *text = written("tcp-info");

	ck_assert_has(text, "host,group,tid,flow_id,connection,time,");
	ck_assert_has(text, "\n\"h\",\"a \"\"b\"\" \",0,2,1,0.000000007,42,0,");
}
END_TEST

/* The log --stream, at a FIFO that nobody reads yet. */
static struct nm_log_file *open_stream(void)
{
	char *path = path_of("fifo");

	ck_assert_int_eq(mkfifo(path, 0600), 0);
	*(char **)nm_arg_field(nm_arg_find("stream"), &args) = path;
	ck_assert_int_eq(nm_logs_open(&logs, &args, &diags), 0);
	for (size_t i = 0; nm_logs[i]; i++)
		if (logs.files[i].stream)
			return &logs.files[i];
	ck_abort_msg("the log is not open");
}

/* A run of two lines, and one for each interval. */
static struct nm_result *tell_run(size_t id_size, unsigned intervals)
{
	const struct nm_host_interval row = {.from_s = 0, .to_s = 1};
	struct nm_result *result = nm_result_new();

	result->id.run_id = calloc(1, id_size + 1);
	memset(result->id.run_id, 'x', id_size);
	nm_logs_begin(&logs, result);
	for (unsigned i = 0; i < intervals; i++)
		nm_logs_host_interval(&logs, "h", &row);
	nm_logs_finish(&logs, result);
	return result;
}

/* Also those that wait when the run is over. */
START_TEST(missed_lines_are_those_of_their_run)
{
	struct nm_log_file *file = open_stream();
	struct nm_result *results[] = {tell_run(32, 2), tell_run(32, 5), tell_run(32, 1)};
	const struct nm_runs series = {.runs = (struct nm_result *[]){results[0], results[2]},
				       .n_runs = 2};

	ck_assert_uint_eq(results[0]->stream.dropped, 0);
	ck_assert_int_eq(nm_logs_close(&logs, 0, &series, &diags), 0);
	ck_assert_uint_eq(results[0]->stream.dropped, 4);
	ck_assert_uint_eq(results[1]->stream.dropped, 0);
	ck_assert_uint_eq(results[2]->stream.dropped, 3);
	ck_assert_uint_eq(file->sink.dropped, 14);
	ck_assert_has(said(&diags, NULL), "14 lines of --stream ");
	for (size_t i = 0; i < 3; i++)
		nm_result_free(results[i]);
	unlink(file->path);
}
END_TEST

/* 1 MiB, and as much again for the last lines of runs; a line may begin before the end. */
START_TEST(the_queue_has_an_end)
{
	struct nm_log_file *file = open_stream();
	const uint64_t dropped[] = {0, 1, 1, 2};

	for (size_t i = 0; i < 4; i++) {
		struct nm_result *result = tell_run(600000, 0);
		size_t part = result->stream.part;

		ck_assert_uint_eq(part, i);
		ck_assert_uint_eq(nm_sink_part_dropped(&file->sink, part), dropped[i]);
		nm_result_free(result);
	}
	ck_assert_uint_le(file->sink.to - file->sink.from, (2u << 20) + 601000);
	ck_assert_int_eq(nm_logs_close(&logs, 0, NULL, &diags), 0);
	nm_diags_fini(&diags);
	unlink(file->path);
}
END_TEST

/* What a reader has not taken is given to it later, though nothing more is told. */
START_TEST(what_waits_is_pushed)
{
	static char bytes[1u << 20];
	struct nm_log_file *file = open_stream();
	int waits_for = 0;

	ck_assert(nm_logs_are_followed(&logs));
	ck_assert(!nm_logs_push(&logs, &waits_for));
	nm_result_free(tell_run(400000, 0));
	ck_assert(nm_logs_push(&logs, &waits_for));
	ck_assert_int_eq(waits_for, -1);
	int fd = open(file->path, O_RDONLY | O_NONBLOCK);
	size_t size = 0;

	for (unsigned i = 0; i < 1000 && nm_logs_push(&logs, &waits_for); i++) {
		ck_assert_int_eq(waits_for, file->sink.fd);
		ssize_t n = read(fd, bytes + size, sizeof bytes - size);

		ck_assert_int_gt(n, 0);
		size += (size_t)n;
	}
	size += (size_t)read(fd, bytes + size, sizeof bytes - size);
	ck_assert_uint_gt(size, 800000);
	ck_assert_int_eq(bytes[size - 1], '\n');
	ck_assert(!nm_logs_push(&logs, &waits_for));
	ck_assert_int_eq(nm_logs_close(&logs, 0, NULL, &diags), 0);
	ck_assert_uint_eq(file->sink.dropped, 0);
	nm_diags_fini(&diags);
	close(fd);
	unlink(file->path);
}
END_TEST

START_TEST(what_cannot_be_opened)
{
	char said_so[128];

	*(char **)nm_arg_field(nm_arg_find("hdr-log"), &args) = path_of("no/such");
	ck_assert_int_eq(nm_logs_open(&logs, &args, &diags), -ENOENT);
	snprintf(said_so, sizeof said_so,
		 "error: --hdr-log %s/no/such: cannot be written: No such file or directory\n",
		 folder);
	ck_assert_str_eq(said(&diags, NULL), said_so);
	ck_assert_int_eq(nm_logs_close(&logs, 0, NULL, &diags), 0);
}
END_TEST

START_TEST(a_full_disk_is_told_once)
{
	*(char **)nm_arg_field(nm_arg_find("response-log"), &args) = strdup("/dev/full");
	ck_assert_int_eq(nm_logs_open(&logs, &args, &diags), 0);
	for (int i = 0; i < 100000; i++)
		nm_logs_responses(&logs, rows, 1);
	ck_assert_int_ne(logs.files[0].error, 0);
	ck_assert_int_eq(nm_logs_close(&logs, 0, NULL, &diags), -ENOSPC);
	ck_assert_str_eq(said(&diags, NULL), "error: --response-log /dev/full: cannot be written: "
					     "No space left on device\n");
}
END_TEST

static int check_paths(const char *output, const char *log)
{
	free(args.output.path);
	args.output.path = output ? strdup(output) : NULL;
	char **field = nm_arg_field(nm_arg_find("log-rtt"), &args);

	free(*field);
	*field = log ? strdup(log) : NULL;
	return nm_output_paths_check(&args, NULL, NULL, &diags);
}

START_TEST(outputs_have_a_file_each)
{
	char *one = path_of("a"), *same = path_of("./a"), *other = path_of("b");

	ck_assert_int_eq(check_paths(one, other), 0);
	ck_assert_int_eq(check_paths("-", "-"), 0);
	ck_assert_int_eq(check_paths("/dev/null", "/dev/null"), 0);
	ck_assert_int_eq(check_paths("/no/such/a", "/no/such/b"), 0);
	ck_assert_int_eq(check_paths(one, same), -EINVAL);
	ck_assert_int_eq(check_paths("/no/such/a", "/no/such/a"), -EINVAL);
	ck_assert_uint_eq(diags.n_errors, 2);
	ck_assert_has(said(&diags, NULL),
		      ": one file: what one writes the other would overwrite\n");
	FILE *there = fopen(one, "w");

	fclose(there);
	ck_assert_int_eq(symlink(one, other), 0);
	ck_assert_int_eq(check_paths(one, other), -EINVAL);
	unlink(one);
	unlink(other);
	nm_diags_fini(&diags);
	free(one);
	free(same);
	free(other);
}
END_TEST

START_TEST(outputs_leave_what_is_read)
{
	char *read = path_of("read"), *link = path_of("link"), *new = path_of("new");
	FILE *there = fopen(read, "w");

	fclose(there);
	ck_assert_int_eq(check_paths(new, NULL), 0);
	ck_assert_int_eq(nm_output_paths_check(&args, read, NULL, &diags), 0);
	ck_assert_int_eq(nm_output_paths_check(&args, new, NULL, &diags), 0);
	ck_assert_int_eq(symlink(read, link), 0);
	ck_assert_int_eq(check_paths(link, NULL), 0);
	ck_assert_int_eq(nm_output_paths_check(&args, read, NULL, &diags), -EINVAL);
	unlink(link);
	ck_assert_int_eq(linkat(AT_FDCWD, read, AT_FDCWD, link, 0), 0);
	ck_assert_int_eq(nm_output_paths_check(&args, read, NULL, &diags), -EINVAL);
	ck_assert_uint_eq(diags.n_errors, 2);
	ck_assert_int_eq(check_paths("/dev/null", NULL), 0);
	ck_assert_int_eq(nm_output_paths_check(&args, "/dev/null", NULL, &diags), 0);
	unlink(link);
	unlink(read);
	nm_diags_fini(&diags);
	free(read);
	free(link);
	free(new);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("logs");
	TCase *tc = tcase_create("logs");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_test(tc, responses_and_passes);
	tcase_add_test(tc, columns_by_blanks);
	tcase_add_test(tc, flows_with_percentiles);
	tcase_add_test(tc, connections);
	tcase_add_test(tc, missed_lines_are_those_of_their_run);
	tcase_add_test(tc, the_queue_has_an_end);
	tcase_add_test(tc, what_waits_is_pushed);
	tcase_add_test(tc, what_cannot_be_opened);
	tcase_add_test(tc, a_full_disk_is_told_once);
	tcase_add_test(tc, outputs_have_a_file_each);
	tcase_add_test(tc, outputs_leave_what_is_read);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
