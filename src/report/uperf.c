/* SPDX-License-Identifier: Apache-2.0 */
/* The form of uperf, which programs parse by its columns: each cell has uperf's width, its value
 * and its unit are one word, and what does not fit loses its last letters, as there. Transactions
 * are numbered from 1 in lines and from 0 in tables, as they are there. */
#include "report/uperf.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "report/common.h"
#include "report/report.h"
#include "report/text_parts.h"
#include "result/difference.h"

#define TEXT 64
#define WIDE 79 /* columns of a rule */

enum kind { BYTES, BITRATE };

/* A value by powers of 1024 or, of a rate, of 1000. In a narrow column four digits leave no
 * room for the letter of the power, which uperf leaves out then: here there are no four. */
static void print_scaled(FILE *out, int width, double value, enum kind kind)
{
	static const char powers[] = " KMGTPEZ";
	const double by = kind == BYTES ? 1024 : 1000, most = width > 8 ? by : 999.995;
	char text[TEXT] = "0";
	size_t power = 0;

	for (; value >= most && powers[power + 1]; power++)
		value /= by;
	if (value != 0)
		snprintf(text, sizeof(text), "%.2f%.*s%s", value, power > 0, powers + power,
			 kind == BYTES ? "B" : "b/s");
	fprintf(out, "%*.*s ", width, width - 1, text);
}

static void print_time(FILE *out, int width, double seconds)
{
	static const char *const units[] = {"ns", "us", "ms", "s"};
	double value = seconds * 1e9;
	char text[TEXT];
	size_t unit = 0;

	for (; value >= 1000 && unit < 3; unit++)
		value /= 1000;
	snprintf(text, sizeof(text), "%.2f%s", value, units[unit]);
	fprintf(out, "%*.*s ", width, width, text);
}

/* A name in a column that is `width` wide, and not cut there unless `cut` says so. */
static void print_name(FILE *out, int width, bool cut, const char *name)
{
	char text[TEXT];

	snprintf(text, sizeof(text), "%-*.*s ", width, cut ? width : TEXT - 2, name ? name : "");
	nm_print_plain(out, text);
}

static double per_second(double amount, double seconds)
{
	return seconds > 0 ? amount / seconds : 0;
}

void nm_uperf_print_start(FILE *out, uint64_t threads, uint64_t processes, const char *profile)
{
	if (processes && threads)
		fprintf(out, "Starting %" PRIu64 " threads, %" PRIu64 " processes", threads,
			processes);
	else
		fprintf(out, "Starting %" PRIu64 " %s", threads + processes,
			processes ? "processes" : "threads");
	fputs(" running profile:", out);
	nm_print_plain(out, profile);
	fputs(" ...   0.00 seconds\n", out);
}

void nm_uperf_print_line(FILE *out, const struct nm_uperf_line *line, bool raw)
{
	uint64_t tenths_us = line->wall_ns / 100;

	if (raw) {
		fprintf(out, "timestamp_ms:%" PRIu64 ".%04" PRIu64 " name:", tenths_us / 10000,
			tenths_us % 10000);
		nm_print_plain(out, line->name);
		fprintf(out, " nr_bytes:%" PRIu64 " nr_ops:%" PRIu64, line->bytes,
			line->operations);
		return;
	}
	print_name(out, 8, true, line->name);
	print_scaled(out, 8, (double)line->bytes, BYTES);
	fprintf(out, "/%7.2f(s) = ", line->seconds);
	print_scaled(out, 12, per_second((double)line->bytes * 8, line->seconds), BITRATE);
	fprintf(out, " %10.0fop/s ", per_second((double)line->operations, line->seconds));
}

void nm_uperf_print_over(FILE *out, const struct nm_uperf_line *line, bool raw)
{
	if (!raw)
		fprintf(out, "\r%*s\r", WIDE, "");
	nm_uperf_print_line(out, line, raw);
}

void nm_uperf_print_rule(FILE *out)
{
	for (int i = 0; i < WIDE; i++)
		fputc('-', out);
	fputc('\n', out);
}

static void end_line(FILE *out, const struct nm_result *result, struct nm_uperf_line line, bool raw)
{
	line.wall_ns = result->wall.end_ns;
	nm_uperf_print_line(out, &line, raw);
	fputc('\n', out);
}

static uint64_t bytes_of(const struct nm_counts *counts)
{
	return counts->bytes_sent + counts->bytes_received;
}

void nm_uperf_print_groups(FILE *out, const struct nm_result *result, bool raw)
{
	const struct nm_result_host *host = &result->hosts[0];

	for (size_t g = 0; host->report && g < host->report->n_groups; g++)
		end_line(out, result,
			 (struct nm_uperf_line){
				 .name = result->groups[g].name,
				 .seconds = host->report->groups[g].seconds,
				 .bytes = g < host->n_groups ? bytes_of(&host->groups[g]) : 0,
				 .operations = host->report->groups[g].operations},
			 raw);
}

void nm_uperf_print_strands(FILE *out, const struct nm_result *result, bool raw)
{
	const struct nm_host_report *report = result->hosts[0].report;
	char name[TEXT];

	for (size_t g = 0; report && g < report->n_groups; g++) {
		const struct nm_group_report *group = &report->groups[g];

		for (size_t i = 0; i < group->n_strands; i++) {
			const struct nm_strand_report *strand = &group->strands[i];

			snprintf(name, sizeof(name), "Thr%zu", i);
			/* Not strand->seconds: a strand that waits for its rate has a low one. */
			end_line(out, result,
				 (struct nm_uperf_line){.name = name,
							.seconds = group->seconds,
							.bytes = strand->bytes_sent +
								 strand->bytes_received,
							.operations = strand->operations},
				 raw);
		}
	}
}

/* What all groups have done in their transaction `k`. False: no group has so many. */
static bool sum_transaction(const struct nm_result *result, size_t k, struct nm_uperf_line *line)
{
	const struct nm_host_report *report = result->hosts[0].report;
	double begin_s = INFINITY, end_s = 0;
	bool any = false;

	for (size_t g = 0; g < report->n_groups; g++) {
		if (k >= report->groups[g].n_transactions)
			continue;
		const struct nm_result_phase *phase = &result->groups[g].phases[k];

		any = true;
		begin_s = fmin(begin_s, phase->begin_s);
		end_s = fmax(end_s, phase->begin_s + phase->seconds);
		line->bytes += bytes_of(&phase->whole.counts);
		line->operations += report->groups[g].transactions[k].operations;
	}
	line->seconds = end_s - begin_s;
	return any;
}

/* The lines of the run, where they were not printed while it went on. */
static void print_lines(FILE *out, const struct nm_result *result, bool raw)
{
	const struct nm_result_host *master = &result->hosts[0];
	uint64_t strands[2] = {0};
	char name[TEXT];

	for (size_t g = 0; g < result->n_groups; g++)
		strands[result->groups[g].processes] += result->groups[g].n_flows;
	nm_uperf_print_start(out, strands[false], strands[true], result->profile.name);
	for (size_t k = 0;; k++) {
		struct nm_uperf_line line = {.name = name};

		snprintf(name, sizeof(name), "Txn%zu", k + 1);
		if (!sum_transaction(result, k, &line))
			break;
		end_line(out, result, line, raw);
	}
	nm_uperf_print_rule(out);
	end_line(out, result,
		 (struct nm_uperf_line){.name = "Total",
					.seconds = master->report->elapsed_s,
					.bytes = bytes_of(&master->counts),
					.operations = master->report->operations},
		 raw);
}

/* A row of transactions or flowops; none for what was never done. */
static void print_times(FILE *out, const struct nm_result *result, const char *name, uint64_t count,
			double cpu_s, const struct nm_latency *time)
{
	bool has_cpu = result->statistics & NM_STAT_FLOWOP_CPU;

	if (count == 0)
		return;
	print_name(out, 15, false, name);
	fprintf(out, "%8" PRIu64 " ", count);
	print_time(out, 11, time->count ? time->mean_s : 0);
	print_time(out, 11, has_cpu ? cpu_s / (double)count : 0);
	print_time(out, 11, time->count ? time->max_s : 0);
	print_time(out, 11, time->count ? time->min_s : 0);
	fputc('\n', out);
}

static void print_flowops(FILE *out, const struct nm_result *result,
			  const struct nm_transaction_report *transaction)
{
	for (size_t i = 0; i < transaction->n_flowops; i++) {
		const struct nm_flowop_report *flowop = &transaction->flowops[i];

		print_times(out, result, flowop->name, flowop->operations, flowop->cpu_s,
			    &flowop->time);
	}
}

static void print_transaction(FILE *out, const struct nm_result *result,
			      const struct nm_transaction_report *transaction, size_t k)
{
	char name[TEXT];
	double cpu_s = 0;

	for (size_t i = 0; i < transaction->n_flowops; i++)
		cpu_s += transaction->flowops[i].cpu_s;
	snprintf(name, sizeof(name), "Txn%zu", k);
	/* The time has in it what the host has thought, as uperf's has. */
	print_times(out, result, name, transaction->window.counts.iterations, cpu_s,
		    nm_window_passes(&transaction->window));
}

/* The master's transactions, or their flowops. */
static void print_averages(FILE *out, const struct nm_result *result, bool flowops)
{
	const struct nm_host_report *report = result->hosts[0].report;

	fprintf(out, "\n%-15s %8s %11s %11s %11s %11s \n", flowops ? "Flowop" : "Txn", "Count",
		"avg", "cpu", "max", "min");
	nm_uperf_print_rule(out);
	for (size_t g = 0; g < report->n_groups; g++) {
		const struct nm_group_report *group = &report->groups[g];

		for (size_t k = 0; k < group->n_transactions; k++) {
			if (flowops)
				print_flowops(out, result, &group->transactions[k]);
			else
				print_transaction(out, result, &group->transactions[k], k);
		}
	}
	fputc('\n', out);
}

static void print_netstat(FILE *out, const struct nm_result_host *master)
{
	const struct nm_usage *usage = &master->usage;
	double seconds = (double)usage->at_ns / 1e9;

	fputs("\nNetstat statistics for this run\n", out);
	nm_uperf_print_rule(out);
	fprintf(out, "%-5s  %10s  %10s  %11s  %11s\n", "Nic", "opkts/s", "ipkts/s", "obits/s",
		"ibits/s");
	for (size_t i = 0; master->has_usage && seconds > 0 && i < usage->n_nics; i++) {
		const struct nm_nic *nic = &usage->nics[i];

		if (nic->tx_packets + nic->rx_packets == 0)
			continue;
		print_name(out, 5, false, nic->name);
		fprintf(out, " %10.0f  %10.0f  ", (double)nic->tx_packets / seconds,
			(double)nic->rx_packets / seconds);
		print_scaled(out, 11, (double)nic->tx_bytes * 8 / seconds, BITRATE);
		fputc(' ', out);
		print_scaled(out, 11, (double)nic->rx_bytes * 8 / seconds, BITRATE);
		fputc('\n', out);
	}
	nm_uperf_print_rule(out);
}

/* A row of the run statistics. */
struct end {
	double seconds, bytes_per_s;
	uint64_t bytes, operations, errors;
};

static double error_percent(const struct end *end)
{
	return end->operations ? 100.0 * (double)end->errors / (double)end->operations : 0;
}

static void print_end(FILE *out, const char *name, const struct end *end)
{
	print_name(out, 15, true, name);
	print_time(out, 8, end->seconds);
	print_scaled(out, 10, (double)end->bytes, BYTES);
	print_scaled(out, 12, end->bytes_per_s * 8, BITRATE);
	fprintf(out, "%12" PRIu64 " %11.2f\n", end->operations, error_percent(end));
}

/* A row for each group of each slave, as uperf has a connection for each of them. Returns their
 * number. */
static size_t print_slaves(FILE *out, const struct nm_result *result, struct end *ret_sum)
{
	const bool is_late = nm_result_is_late(result);
	size_t count = 0;

	for (size_t g = 0; g < result->n_groups; g++) {
		for (size_t h = 1; h < result->n_hosts; h++) {
			const struct nm_result_host *host = &result->hosts[h];

			if (!host->report || g >= host->report->n_groups || g >= host->n_groups ||
			    host->report->groups[g].n_transactions == 0)
				continue;
			const struct end end = {
				.seconds = host->report->elapsed_s,
				.bytes_per_s = nm_result_host_rate(host, &host->groups[g], is_late),
				.bytes = bytes_of(&host->groups[g]),
				.operations = host->report->groups[g].operations,
				.errors = host->groups[g].errors};

			print_end(out, host->name, &end);
			ret_sum->seconds = fmax(ret_sum->seconds, end.seconds);
			ret_sum->bytes += end.bytes;
			ret_sum->bytes_per_s += end.bytes_per_s;
			ret_sum->operations += end.operations;
			ret_sum->errors += end.errors;
			count++;
		}
	}
	return count;
}

/* Of nothing, something is infinitely more. */
static double percent(double difference)
{
	return isnan(difference) ? -INFINITY : difference;
}

static void print_run(FILE *out, const struct nm_result *result)
{
	const struct nm_result_host *host = &result->hosts[0];
	const struct end master = {
		.seconds = host->report->elapsed_s,
		.bytes_per_s = nm_result_host_rate(host, &host->counts, nm_result_is_late(result)),
		.bytes = bytes_of(&host->counts),
		.operations = host->report->operations,
		.errors = host->counts.errors};
	struct end slaves = {.seconds = 0};
	struct nm_difference d;

	fprintf(out, "\nRun Statistics\n%-15s %8s %10s %12s %12s %11s\n", "Hostname", "Time",
		"Data", "Throughput", "Operations", "Errors");
	nm_uperf_print_rule(out);
	if (print_slaves(out, result, &slaves) > 1)
		print_end(out, "Total", &slaves);
	print_end(out, "master", &master);
	nm_uperf_print_rule(out);
	if (nm_result_difference(result, &d))
		fprintf(out, "%-15s %7.2f%% %9.2f%% %11.2f%% %11.2f%% %10.2f%%\n", "Difference(%)",
			d.time, percent(d.data), percent(d.throughput), percent(d.operations),
			fmax(error_percent(&master), error_percent(&slaves)));
	fputs("\n\n", out);
}

static void print_tables(FILE *out, const struct nm_result *result)
{
	bool raw = result->statistics & NM_STAT_RAW;

	if (result->statistics & NM_STAT_GROUPS) {
		fputs("\nGroup Details\n", out);
		nm_uperf_print_rule(out);
		nm_uperf_print_groups(out, result, raw);
		fputc('\n', out);
	}
	if (result->statistics & NM_STAT_STRANDS) {
		fputs("\nStrand Details\n", out);
		nm_uperf_print_rule(out);
		nm_uperf_print_strands(out, result, raw);
		fputc('\n', out);
	}
	if (result->statistics & NM_STAT_TRANSACTIONS)
		print_averages(out, result, false);
	if (result->statistics & NM_STAT_FLOWOPS)
		print_averages(out, result, true);
	if (result->statistics & NM_STAT_COUNTERS)
		nm_text_counters_print(result, 0, 0, out);
	print_netstat(out, &result->hosts[0]);
	print_run(out, result);
}

/* Nothing of a run that has not begun, as uperf prints nothing then. */
static int write_uperf(const struct nm_runs *series, FILE *out)
{
	if (series->n_runs == 0)
		return -EINVAL;
	for (size_t i = 0; i < series->n_runs; i++) {
		const struct nm_result *result = series->runs[i];

		if (result->n_hosts == 0 || !result->hosts[0].report)
			continue;
		if (!nm_runs_view(series)->has_lines)
			print_lines(out, result, result->statistics & NM_STAT_RAW);
		print_tables(out, result);
		if (!result->complete || result->verdict.reconciled == NM_RECONCILED_NO)
			fputs("WARNING: 1 Errors detected during run\n", out);
	}
	return nm_stream_status(out);
}

const struct nm_report nm_report_uperf = {
	.name = "uperf",
	.help = "as uperf prints it",
	.takes = NM_REPORT_TAKES_RAW,
	.shows = NM_STAT_INTERFACES,
	.lacks_warnings = true,
	.has_lines = true,
	.write = write_uperf,
};
