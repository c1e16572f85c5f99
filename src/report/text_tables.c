/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of statistics for people, with both ends and percentiles, under uperf's names:
 * transactions are numbered from 0 as they are there. */
#include "report/text_parts.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/units.h"
#include "report/table.h"
#include "report/text_traffic.h"
#include "report/uperf.h"
#include "result/difference.h"

#define TEXT 32

static const char *group_name(const struct nm_result *result, size_t group)
{
	return group < result->n_groups && result->groups[group].name ? result->groups[group].name
								      : "";
}

/* Amounts and rates of groups, strands and hosts. */
static void add_amounts(struct nm_table *table, uint64_t bytes, double seconds, uint64_t operations)
{
	char text[TEXT];

	nm_table_text(table, nm_format_amount((double)bytes, text, sizeof(text)));
	nm_table_time(table, true, seconds);
	nm_table_bitrate(table, seconds > 0, (double)bytes * 8 / seconds);
	nm_table_count(table, true, operations);
	if (seconds > 0)
		nm_table_cell(table, "%.0f", (double)operations / seconds);
	else
		nm_table_text(table, "-");
}

static uint64_t bytes_of_group(const struct nm_result_host *host, size_t group)
{
	return group < host->n_groups
		       ? host->groups[group].bytes_sent + host->groups[group].bytes_received
		       : 0;
}

static void print_groups(const struct nm_result *result, unsigned width, FILE *out)
{
	struct nm_table table = {.align = "llrrrrrr", .width = width};

	nm_table_head(&table, "Group|host|strands|bytes|time|rate|operations|op/s");
	for (size_t h = 0; h < result->n_hosts; h++) {
		const struct nm_result_host *host = &result->hosts[h];

		for (size_t g = 0; host->report && g < host->report->n_groups; g++) {
			const struct nm_group_report *group = &host->report->groups[g];

			if (!group->n_transactions)
				continue;
			nm_table_text(&table, group_name(result, g));
			nm_table_text(&table, host->name);
			nm_table_cell(&table, "%" PRIu32, result->groups[g].n_flows);
			add_amounts(&table, bytes_of_group(host, g), group->seconds,
				    group->operations);
		}
	}
	nm_table_section(&table, true, out);
}

#define MOST_STRANDS 100 /* of all hosts, whose rows people read */

static size_t count_strands(const struct nm_result *result)
{
	size_t count = 0;

	for (size_t h = 0; h < result->n_hosts; h++) {
		const struct nm_host_report *report = result->hosts[h].report;

		for (size_t g = 0; report && g < report->n_groups; g++)
			count += report->groups[g].n_strands;
	}
	return count;
}

/* Of many strands the master's alone, as uperf has them. */
static void print_strands(const struct nm_result *result, unsigned width, FILE *out)
{
	struct nm_table table = {.align = "lllrrrrr", .width = width};
	bool all = count_strands(result) <= MOST_STRANDS;

	nm_table_head(&table, "Strand|host|group|bytes|time|rate|operations|op/s");
	for (size_t h = 0; h < (all ? result->n_hosts : 1); h++) {
		const struct nm_host_report *report = result->hosts[h].report;

		for (size_t g = 0; report && g < report->n_groups; g++) {
			const struct nm_group_report *group = &report->groups[g];

			for (size_t i = 0; i < group->n_strands; i++) {
				const struct nm_strand_report *strand = &group->strands[i];

				nm_table_cell(&table, "Thr%zu", i);
				nm_table_text(&table, result->hosts[h].name);
				nm_table_text(&table, group_name(result, g));
				/* Not strand->seconds: a strand that waits for its rate has a low
				 * one. */
				add_amounts(&table, strand->bytes_sent + strand->bytes_received,
					    group->seconds, strand->operations);
			}
		}
	}
	nm_table_section(&table, true, out);
	if (!all)
		fputs("  the slaves' strands are in the JSON document\n", out);
}

/* Count, avg, cpu, max, min, and the percentiles. */
static void add_times(struct nm_table *table, const struct nm_result *result, uint64_t count,
		      double cpu_s, const struct nm_latency *latency)
{
	bool has_cpu = (result->statistics & NM_STAT_FLOWOP_CPU) && count;

	nm_table_count(table, true, count);
	nm_table_time(table, latency->count, latency->mean_s);
	nm_table_time(table, has_cpu, cpu_s / (double)count);
	nm_table_time(table, latency->count, latency->max_s);
	nm_table_time(table, latency->count, latency->min_s);
	for (size_t i = 0; i < result->percentiles.count; i++)
		nm_table_time(table, latency->count, latency->pct_s[i]);
}

#define MAX_COLUMNS (NM_RESULT_MAX_PERCENTILES + 16)

/* Begins a table with four labels, whose other columns are those of add_times. */
static void begin_times(struct nm_table *table, char align[MAX_COLUMNS],
			const struct nm_result *result, const char *labels)
{
	snprintf(align, MAX_COLUMNS, "llllrrrrr");
	memset(align + 9, 'r', result->percentiles.count);
	align[9] = result->percentiles.count ? 'R' : '\0';
	align[9 + result->percentiles.count] = '\0';
	nm_table_head(table, labels);
	nm_table_head(table, "Count|avg|cpu|max|min");
	nm_text_percentiles(table, &result->percentiles);
}

static double cpu_of(const struct nm_transaction_report *transaction)
{
	double cpu_s = 0;

	for (size_t i = 0; i < transaction->n_flowops; i++)
		cpu_s += transaction->flowops[i].cpu_s;
	return cpu_s;
}

/* The time of a transaction has in it what the host has thought, as uperf's has. */
static void add_transactions(struct nm_table *table, const struct nm_result *result,
			     const struct nm_result_host *host, size_t g)
{
	const struct nm_group_report *group = &host->report->groups[g];

	for (size_t k = 0; k < group->n_transactions; k++) {
		const struct nm_transaction_report *transaction = &group->transactions[k];
		const struct nm_result_phase *phase = &result->groups[g].phases[k];

		nm_table_cell(table, "Txn%zu", k);
		nm_table_text(table, phase->name && *phase->name ? phase->name : "-");
		nm_table_text(table, host->name);
		nm_table_text(table, group_name(result, g));
		add_times(table, result, transaction->window.counts.iterations, cpu_of(transaction),
			  nm_window_passes(&transaction->window));
	}
}

static void add_flowops(struct nm_table *table, const struct nm_result *result,
			const struct nm_result_host *host, size_t g)
{
	const struct nm_group_report *group = &host->report->groups[g];

	for (size_t k = 0; k < group->n_transactions; k++) {
		const struct nm_transaction_report *transaction = &group->transactions[k];

		for (size_t i = 0; i < transaction->n_flowops; i++) {
			const struct nm_flowop_report *flowop = &transaction->flowops[i];

			nm_table_text(table, flowop->name);
			nm_table_cell(table, "Txn%zu", k);
			nm_table_text(table, host->name);
			nm_table_text(table, group_name(result, g));
			add_times(table, result, flowop->operations, flowop->cpu_s, &flowop->time);
		}
	}
}

/* What the flowop, of the k-th transaction of a group, has asked, and how that has ended. */
static void add_outcomes(struct nm_table *table, const struct nm_result *result, size_t g, size_t k,
			 const struct nm_flowop_report *flowop)
{
	const struct nm_outcomes *outcomes = &flowop->outcomes;
	char text[TEXT];

	nm_table_text(table, flowop->name);
	nm_table_cell(table, "Txn%zu", k);
	nm_table_text(table, group_name(result, g));
	nm_table_cell(table, "%s/s", nm_text_rate(outcomes->requests, flowop->seconds, text));
#define CELL(member, ...) nm_table_count(table, true, outcomes->member);
	NM_OUTCOMES(CELL)
#undef CELL
}

static void print_outcomes(const struct nm_result *result, unsigned width, FILE *out)
{
	char align[NM_OUTCOMES__COUNT + 5] = "lllr";
	struct nm_table table = {.align = align, .width = width};
	const struct nm_host_report *report = result->n_hosts ? result->hosts[0].report : NULL;
	bool any = false;

	memset(align + 4, 'r', NM_OUTCOMES__COUNT);
#define NAME(member, ...) "|" #member
	nm_table_head(&table, "Flowop|txn|group|rate" NM_OUTCOMES(NAME));
#undef NAME
	for (size_t g = 0; report && g < report->n_groups; g++) {
		const struct nm_group_report *group = &report->groups[g];

		for (size_t k = 0; k < group->n_transactions; k++) {
			const struct nm_transaction_report *transaction = &group->transactions[k];

			for (size_t i = 0; i < transaction->n_flowops; i++) {
				if (!transaction->flowops[i].outcomes.requests)
					continue;
				add_outcomes(&table, result, g, k, &transaction->flowops[i]);
				any = true;
			}
		}
	}
	nm_table_section(&table, any, out);
}

static void print_times(const struct nm_result *result, bool flowops, unsigned width, FILE *out)
{
	char align[MAX_COLUMNS];
	struct nm_table table = {.align = align, .width = width};

	begin_times(&table, align, result,
		    flowops ? "Flowop|txn|host|group" : "Txn|name|host|group");
	for (size_t h = 0; h < result->n_hosts; h++) {
		const struct nm_result_host *host = &result->hosts[h];

		for (size_t g = 0; host->report && g < host->report->n_groups; g++) {
			if (flowops)
				add_flowops(&table, result, host, g);
			else
				add_transactions(&table, result, host, g);
		}
	}
	nm_table_section(&table, true, out);
}

static void add_nic(struct nm_table *table, const struct nm_result_host *host,
		    const struct nm_nic *nic)
{
	double seconds = (double)host->usage.at_ns / 1e9;

	/* A card that has carried nothing is not of interest. */
	if (seconds <= 0 || nic->tx_packets + nic->rx_packets == 0)
		return;
	nm_table_text(table, nic->name);
	nm_table_text(table, host->name);
	nm_table_cell(table, "%.0f", (double)nic->tx_packets / seconds);
	nm_table_cell(table, "%.0f", (double)nic->rx_packets / seconds);
	nm_table_bitrate(table, true, (double)nic->tx_bytes * 8 / seconds);
	nm_table_bitrate(table, true, (double)nic->rx_bytes * 8 / seconds);
}

static void print_nics(const struct nm_result *result, unsigned width, FILE *out)
{
	struct nm_table table = {.align = "llrrrr", .width = width};

	nm_table_head(&table, "Nic|host|opkts/s|ipkts/s|obits/s|ibits/s");
	for (size_t h = 0; h < result->n_hosts; h++) {
		const struct nm_result_host *host = &result->hosts[h];

		for (size_t i = 0; host->has_usage && i < host->usage.n_nics; i++)
			add_nic(&table, host, &host->usage.nics[i]);
	}
	nm_table_section(&table, true, out);
}

static void add_host(struct nm_table *table, const struct nm_result_host *host, double bytes_per_s)
{
	uint64_t bytes = host->counts.bytes_sent + host->counts.bytes_received;
	double seconds = host->report ? host->report->elapsed_s : 0;
	char text[TEXT];

	nm_table_text(table, host->name);
	if (!host->report) {
		nm_table_dashes(table, 5);
		return;
	}
	nm_table_time(table, true, seconds);
	nm_table_text(table, nm_format_amount((double)bytes, text, sizeof(text)));
	nm_table_bitrate(table, seconds > 0, bytes_per_s * 8);
	nm_table_count(table, true, host->report->operations);
	nm_table_count(table, true, host->counts.errors);
}

static double rate_of(const struct nm_result_host *host, bool is_late)
{
	return host->report ? nm_result_host_rate(host, &host->counts, is_late) : 0;
}

/* The slaves, all of them together, the master, and how they differ. */
static void print_run(const struct nm_result *result, unsigned width, FILE *out)
{
	struct nm_table table = {.align = "lrrrrr", .width = width};
	struct nm_host_report report = {.elapsed_s = 0};
	struct nm_result_host all = {.name = (char *)"Total", .report = &report};
	struct nm_difference d;
	bool differs = nm_result_difference(result, &d), is_late = nm_result_is_late(result);
	double bytes_per_s = 0;

	nm_table_head(&table, "Hostname|Time|Data|Throughput|Operations|Errors");
	for (size_t h = 1; h < result->n_hosts; h++) {
		const struct nm_result_host *host = &result->hosts[h];

		add_host(&table, host, rate_of(host, is_late));
		bytes_per_s += rate_of(host, is_late);
		nm_counts_add(&all.counts, &host->counts);
		if (!host->report)
			continue;
		report.elapsed_s = fmax(report.elapsed_s, host->report->elapsed_s);
		report.operations += host->report->operations;
	}
	if (result->n_hosts > 2)
		add_host(&table, &all, bytes_per_s);
	add_host(&table, &result->hosts[0], rate_of(&result->hosts[0], is_late));
	if (differs) {
		const double values[] = {d.time, d.data, d.throughput, d.operations, d.errors};

		nm_table_cell(&table, "Difference(%%)");
		for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
			if (isfinite(values[i]))
				nm_table_cell(&table, "%.2f%%", values[i]);
			else
				nm_table_text(&table, "-");
		}
	}
	fputs("\n  Run Statistics", out);
	nm_table_section(&table, true, out);
}

void nm_text_tables_print(const struct nm_result *result, unsigned width, FILE *out)
{
	unsigned asked = result->statistics;
	bool raw = asked & NM_STAT_RAW;

	if (!(asked & ~(unsigned)NM_STAT_RESPONSES) || result->n_hosts == 0)
		return;
	if ((asked & NM_STAT_GROUPS) && raw) {
		fputs("\nGroup Details\n", out);
		nm_uperf_print_groups(out, result, true);
	} else if (asked & NM_STAT_GROUPS) {
		print_groups(result, width, out);
	}
	if ((asked & NM_STAT_STRANDS) && raw) {
		fputs("\nStrand Details\n", out);
		nm_uperf_print_strands(out, result, true);
	} else if (asked & NM_STAT_STRANDS) {
		print_strands(result, width, out);
	}
	if (asked & NM_STAT_TRANSACTIONS)
		print_times(result, false, width, out);
	if (asked & NM_STAT_FLOWOPS) {
		print_times(result, true, width, out);
		print_outcomes(result, width, out);
	}
	if (asked & NM_STAT_INTERFACES)
		print_nics(result, width, out);
	if (asked & NM_STAT_COUNTERS)
		nm_text_counters_print(result, width, 2, out);
	print_run(result, width, out);
}
