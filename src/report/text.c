/* SPDX-License-Identifier: Apache-2.0 */
/* The summary for people. */
#include "report/report.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/units.h"
#include "report/common.h"
#include "report/compare.h"
#include "report/costs.h"
#include "report/end_totals.h"
#include "report/figures.h"
#include "report/requirement.h"
#include "report/sweep.h"
#include "report/table.h"
#include "report/text_parts.h"
#include "report/text_traffic.h"

#define TEXT 32

static void print_head(const struct nm_result *result, FILE *out)
{
	char start[48];

	nm_format_utc(result->wall.start_ns, start, sizeof(start));
	nm_print_line(
		out, "netmodel %s  %s%s%s%s", result->id.version ? result->id.version : "",
		result->profile.name ? result->profile.name : "", result->profile.path ? "  (" : "",
		result->profile.path ? result->profile.path : "", result->profile.path ? ")" : "");
	fprintf(out, "  run %.12s  %.19sZ  seed %" PRIu64 "\n",
		result->id.run_id ? result->id.run_id : "-", start, result->id.seed);

	bool any = false;
	for (size_t i = 0; i < result->params.count; i++) {
		const struct nm_param *param = &result->params.items[i];
		if (!param->value || (param->def && strcmp(param->value, param->def) == 0))
			continue;
		fprintf(out, "%s%s=", any ? " " : "  with ", param->name);
		nm_print_plain(out, param->value);
		if (param->source == NM_PARAM_ENVIRONMENT)
			fputs(" (environment)", out);
		any = true;
	}
	if (any)
		fputc('\n', out);
	if (!result->complete) {
		fputc('\n', out);
		nm_print_line(out, "  INCOMPLETE: %s",
			      result->verdict.incomplete_why ? result->verdict.incomplete_why
							     : "the reason is not known");
	}
	fputc('\n', out);
}

/* The names of a latency and of its values in the table of groups. */
static void add_time_names(struct nm_table *table, const char *of, const struct nm_result *result,
			   const size_t *places, size_t n_places)
{
	char key[TEXT];

	nm_table_cell(table, "%smean", of);
	for (size_t i = 0; i < n_places; i++)
		nm_table_cell(
			table, "%s%s", of,
			nm_percentile_key(result->percentiles.pct[places[i]], key, sizeof(key)));
	nm_table_cell(table, "%smax", of);
}

static void add_times(struct nm_table *table, const struct nm_latency *latency,
		      const size_t *places, size_t n_places)
{
	nm_table_time(table, latency->count, latency->mean_s);
	for (size_t i = 0; i < n_places; i++)
		nm_table_time(table, latency->count, latency->pct_s[places[i]]);
	nm_table_time(table, latency->count, latency->max_s);
}

static void print_groups(const struct nm_result *result, unsigned width, FILE *out)
{
	const size_t n_names = 6;
	size_t places[2];
	size_t n_places = nm_text_row_percentiles(&result->percentiles, places);
	char align[24] = "l", a[TEXT], b[TEXT], c[TEXT];
	struct nm_table table = {.align = align, .width = width};
	bool responses = result->totals.response.count > 0;

	if (result->n_groups < 2)
		return;
	memset(align + 1, 'r', n_names - 1 + (n_places + 2) * (responses ? 2 : 1));
	align[n_names] = 'R';
	if (responses)
		align[n_names + n_places + 2] = 'R';
	nm_table_head(&table, "group|flows|workers|transactions/s|sent|received");
	add_time_names(&table, "", result, places, n_places);
	if (responses)
		add_time_names(&table, "response ", result, places, n_places);
	for (size_t i = 0; i < result->n_groups; i++) {
		const struct nm_result_group *group = &result->groups[i];
		const struct nm_window *totals = &group->totals;
		nm_table_cell(&table, "%s%s", group->name ? group->name : "",
			      nm_text_mark(totals, NM_TIME_RESPONSE));
		nm_table_cell(&table, "%u", (unsigned)group->n_flows);
		nm_table_cell(&table, "%u", (unsigned)group->n_workers);
		nm_table_text(&table, nm_text_rate(totals->counts.iterations, totals->seconds, a));
		nm_table_text(&table, nm_text_way(totals->counts.bytes_sent, totals->seconds, b));
		nm_table_text(&table,
			      nm_text_way(totals->counts.bytes_received, totals->seconds, c));
		add_times(&table, &totals->latency, places, n_places);
		if (responses)
			add_times(&table, &totals->response, places, n_places);
	}
	nm_table_section(&table, true, out);
}

static void add_cpu(struct nm_table *table, const struct nm_result_host *host)
{
	const struct nm_cpu_times *cpu = &host->usage.cpu;

	if (!host->has_usage || !host->usage.has_cpu) {
		nm_table_dashes(table, 4);
		return;
	}
	for (const struct nm_figure *part = nm_cpu_figures; !nm_figure_is_end(part); part++)
		nm_table_cell(table, "%.1f%%", 100 * part->rate(cpu));
}

static void add_per_second(struct nm_table *table, const struct nm_usage *usage, bool known,
			   uint64_t count)
{
	char text[TEXT];

	if (known && usage->at_ns)
		nm_table_text(table, nm_format_count((double)count / ((double)usage->at_ns / 1e9),
						     text, sizeof(text)));
	else
		nm_table_text(table, "-");
}

/* How often each machine was interrupted, for those who ask for the statistics of the machine. */
static void print_interrupts(const struct nm_result *result, unsigned width, FILE *out)
{
	static const enum nm_softirq kinds[] = {NM_SOFTIRQ_NET_RX, NM_SOFTIRQ_NET_TX,
						NM_SOFTIRQ_TIMER, NM_SOFTIRQ_SCHED};
	struct nm_table table = {.align = "lrrrrrrr", .width = width};
	bool any = false;

	if (!(result->statistics & NM_STAT_INTERFACES))
		return;
	nm_table_head(&table, "per second|interrupts|switches|softirqs");
	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
		nm_table_text(&table, nm_softirq_name(kinds[k]));
	for (size_t i = 0; i < result->n_hosts; i++) {
		const struct nm_result_host *host = &result->hosts[i];
		const struct nm_usage *usage = &host->usage;
		bool counted = host->has_usage && usage->has_interrupts;
		bool told = host->has_usage && usage->has_softirqs;

		any = any || counted || told;
		nm_table_text(&table, host->name);
		add_per_second(&table, usage, counted, usage->interrupts.hardware);
		add_per_second(&table, usage, counted, usage->interrupts.context_switches);
		add_per_second(&table, usage, told, usage->softirqs.total);
		for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
			add_per_second(&table, usage,
				       told && nm_softirq_known(&usage->softirqs, kinds[k]),
				       usage->softirqs.kinds[kinds[k]]);
	}
	nm_table_section(&table, any, out);
}

/* What the CPUs of each machine took in from the network, and what they let fall. */
static void print_softnet(const struct nm_result *result, unsigned width, FILE *out)
{
	struct nm_table table = {.align = "lrrrrr", .width = width};
	bool any = false;

	if (!(result->statistics & NM_STAT_INTERFACES))
		return;
	nm_table_head(&table, "per second|taken in|dropped|squeezed|steered|over a flow's limit");
	for (size_t i = 0; i < result->n_hosts; i++) {
		const struct nm_result_host *host = &result->hosts[i];
		const struct nm_softnet *softnet = &host->usage.softnet;
		bool known = host->has_usage && host->usage.has_softnet;

		any = any || known;
		nm_table_text(&table, host->name);
		for (const struct nm_field *field = nm_softnet_fields; field->name; field++)
			add_per_second(&table, &host->usage, known,
				       *(const uint64_t *)(const void *)((const char *)softnet +
									 field->offset));
	}
	nm_table_section(&table, any, out);
}

static void add_connections(struct nm_table *table, const struct nm_conn_report *report)
{
	if (report->connections == 0) {
		nm_table_dashes(table, 3);
		return;
	}
	nm_table_time(table, report->min_rtt_s > 0, report->min_rtt_s);
	nm_table_time(table, true, report->srtt_mean_s);
	nm_table_count(table, true, report->retransmits);
}

/* The version and the cipher of a host's TLS connections, and how many are resumed, or in the
 * kernel. */
static void add_tls(struct nm_table *table, const struct nm_result_host *host)
{
	const struct nm_tls_report *tls = &host->connections.tls;

	if (!tls->connections)
		return;
	nm_table_cell(table,
		      "TLS on %s: %s %s%s%s, connections %" PRIu64 ", resumed %" PRIu64
		      ", in the kernel: sending %" PRIu64 " receiving %" PRIu64,
		      host->name ? host->name : "", tls->version, tls->cipher,
		      *tls->alpn ? " " : "", tls->alpn, tls->connections, tls->resumed,
		      tls->ktls_send, tls->ktls_receive);
}

/* The traffic and the failures of a host's PSP devices. */
static void add_psp(struct nm_table *table, const struct nm_result_host *host)
{
	for (size_t i = 0; host->has_usage && i < host->usage.n_psp; i++) {
		const struct nm_psp_usage *device = &host->usage.psp[i];
		const struct nm_psp_stats *s = &device->stats;

		if (!(s->tx_packets | s->rx_packets | s->key_rotations))
			continue;
		nm_table_cell(table,
			      "PSP on %s, %s: sent %" PRIu64 " bytes in %" PRIu64
			      " packets, received %" PRIu64 " in %" PRIu64
			      ", key rotations %" PRIu64 ", stale %" PRIu64
			      ", not authentic %" PRIu64,
			      host->name ? host->name : "", device->name, s->tx_bytes,
			      s->tx_packets, s->rx_bytes, s->rx_packets, s->key_rotations,
			      s->stale_events, s->rx_auth_fail);
	}
}

/* Windows may have closed before the last flow has left, and what hosts have used is until then. */
static void print_usage_time(const struct nm_result *result, FILE *out)
{
	uint64_t longest_ns = 0;
	char text[TEXT];

	for (size_t i = 0; i < result->n_hosts; i++)
		if (result->hosts[i].has_usage && result->hosts[i].usage.at_ns > longest_ns)
			longest_ns = result->hosts[i].usage.at_ns;
	if (result->grid.after.seconds > 0 && longest_ns)
		fprintf(out, "  what hosts have used is over %s, until the last flow had left\n",
			nm_format_duration((double)longest_ns / 1e9, text, sizeof(text)));
}

static void print_hosts(const struct nm_result *result, unsigned width, FILE *out)
{
	struct nm_table table = {.align = "lrrrrrrrRrr", .width = width};

	bool any = false;
	for (size_t i = 0; i < result->n_hosts; i++)
		any = any || result->hosts[i].n_groups || result->hosts[i].has_usage;
	nm_table_head(&table, "host|user|system|softirq|idle|min rtt|srtt|retransmits|all "
			      "passes|bytes sent|bytes received");
	for (size_t i = 0; i < result->n_hosts; i++) {
		const struct nm_result_host *host = &result->hosts[i];
		nm_table_text(&table, host->name);
		add_cpu(&table, host);
		add_connections(&table, &host->connections);
		if (host->n_groups) {
			nm_table_count(&table, true, host->counts.iterations);
			nm_table_count(&table, true, host->counts.bytes_sent);
			nm_table_count(&table, true, host->counts.bytes_received);
		} else {
			nm_table_dashes(&table, 3);
		}
	}
	nm_table_section(&table, any, out);
	print_usage_time(result, out);
	print_interrupts(result, width, out);
	print_softnet(result, width, out);
	nm_text_costs_print(result, width, out);
}

/* What the hosts' encryption has done. */
static void print_encryption(const struct nm_result *result, unsigned width, FILE *out)
{
	struct nm_table table = {.align = "l", .width = width};

	for (size_t i = 0; i < result->n_hosts; i++)
		add_tls(&table, &result->hosts[i]);
	for (size_t i = 0; i < result->n_hosts; i++)
		add_psp(&table, &result->hosts[i]);
	nm_table_end(&table, 2, out);
}

/* How a host was trusted, and its own error. */
static void print_host_notes(const struct nm_result *result, FILE *out)
{
	for (size_t i = 0; i < result->n_hosts; i++) {
		const struct nm_result_host *host = &result->hosts[i];

		if (host->trust == NM_TRUST_NONE)
			nm_print_line(out,
				      "  %s: --no-auth: it takes any master without proof of who "
				      "it is",
				      host->name ? host->name : "");
		/* The error that has ended the run stands above. */
		if (host->error && !host->error_ended_run)
			nm_print_line(out, "  %s: %s", host->name ? host->name : "", host->error);
	}
}

/* The lines below the tables: whether the ends agree, when they began, and notes. */
static void print_notes(const struct nm_result *result, FILE *out)
{
	char skew[TEXT];

	if (result->verdict.reconciled != NM_RECONCILED_UNKNOWN)
		fputc('\n', out);
	if (result->verdict.reconciled == NM_RECONCILED_YES)
		fputs("  counts of both ends agree\n", out);
	else if (result->verdict.reconciled == NM_RECONCILED_FORGIVEN)
		nm_print_line(out, "  counts of both ends are not compared: %s",
			      result->verdict.reconcile_text ? result->verdict.reconcile_text : "");
	else if (result->verdict.reconciled == NM_RECONCILED_NO)
		nm_print_line(out, "  COUNTS DIFFER: %s",
			      result->verdict.reconcile_text ? result->verdict.reconcile_text : "");
	if (result->n_hosts > 2 && result->has_start_skew)
		fprintf(out, "  hosts began within %s\n",
			nm_format_duration(result->start_skew_s, skew, sizeof(skew)));
	for (size_t i = 0; i < result->warnings.count; i++)
		nm_print_line(out, "  warning: %s",
			      result->warnings.items[i] ? result->warnings.items[i] : "");
}

static void add_summary(struct nm_table *table, const char *name, const struct nm_summary *summary,
			char *(*format)(double value, char *buf, size_t size))
{
	char text[TEXT];

	if (summary->n == 0)
		return;
	nm_table_text(table, name);
	nm_table_text(table, format(summary->mean, text, sizeof(text)));
	nm_table_text(table, summary->n > 1 ? format(summary->stddev, text, sizeof(text)) : "-");
	nm_table_text(table, summary->n > 1 ? format(summary->ci95, text, sizeof(text)) : "-");
}

/* What a run has sent and received, as its own report says it: of a stream by the end that does so,
 * of anything else by the master. */
static void add_both_ways(struct nm_table *table, const struct nm_result *run)
{
	const struct nm_end_totals master = nm_master_totals(run);
	struct nm_ways ways;

	nm_ways_of(run, &ways);
	double sent = nm_ways_sent(&ways), received = nm_ways_received(&ways);
	bool stream = nm_is_stream(run);

	sent = stream && !isnan(sent) ? sent : master.sent_bits_per_s;
	received = stream && !isnan(received) ? received : master.received_bits_per_s;
	nm_table_bitrate(table, sent > 0, sent);
	nm_table_bitrate(table, received > 0, received);
}

static void print_runs(const struct nm_runs *series, unsigned width, FILE *out)
{
	struct nm_table table = {.align = "lrrrrr", .width = width};
	char a[TEXT];

	nm_table_head(&table, "run|transactions/s|sent|received|mean|max");
	for (size_t i = 0; i < series->n_runs; i++) {
		const struct nm_window *totals = &series->runs[i]->totals;
		const struct nm_latency *latency = &totals->latency;
		nm_table_cell(&table, "%zu%s", i + 1,
			      series->runs[i]->complete ? "" : " (incomplete)");
		nm_table_text(&table, nm_text_rate(totals->counts.iterations, totals->seconds, a));
		add_both_ways(&table, series->runs[i]);
		nm_table_time(&table, latency->count, latency->mean_s);
		nm_table_time(&table, latency->count, latency->max_s);
	}
	nm_table_section(&table, true, out);
}

/* What each host has cost, with the statistics of the machine. */
static void add_costs(struct nm_table *table, const struct nm_runs *series)
{
	const struct nm_result *last = nm_runs_last(series);

	for (size_t h = 0; (last->statistics & NM_STAT_INTERFACES) && h < last->n_hosts; h++) {
		const char *name = last->hosts[h].name;
		struct nm_costs_summary summary;

		nm_costs_summarise(series, h, &summary);
		for (size_t k = 0; k < NM_COST__COUNT; k++) {
			char label[2 * TEXT];

			snprintf(label, sizeof(label), "%s, %s", nm_cost_forms[k].label,
				 name ? name : "");
			add_summary(table, label, &summary.value[k], nm_cost_forms[k].format);
		}
	}
}

static void print_summary(const struct nm_runs *series, unsigned width, FILE *out)
{
	struct nm_table table = {.align = "lrrr", .width = width};
	struct nm_runs_summary summary;

	nm_runs_summarise(series, &summary);
	nm_table_head(&table, "over the complete runs|mean|stddev|95% +-");
#define ADD(member, key, label, format, ...) add_summary(&table, label, &summary.member, format);
	NM_RUNS_SUMMARIES(ADD)
#undef ADD
	add_costs(&table, series);
	nm_table_section(&table, true, out);
}

/* A run that failed before it measured anything would fill its tables with dashes. */
static bool has_figures(const struct nm_result *result)
{
	return result->complete || result->totals.seconds > 0;
}

static int write_text(const struct nm_runs *series, FILE *out)
{
	const struct nm_result *last = nm_runs_last(series);

	if (!last)
		return -EINVAL;
	unsigned width = nm_runs_view(series)->width;

	if (nm_runs_sweep(series)) {
		nm_sweep_print(series, out);
		return nm_stream_status(out);
	}
	print_head(last, out);
	if (series->n_runs > 1)
		fprintf(out, "  run %zu of %zu\n", series->n_runs, series->n_runs);
	if (nm_runs_view(series)->intervals)
		nm_text_intervals_print(last, width, out);
	nm_text_totals_print(last, width, out);
	nm_text_verbs_print(last, width, out);
	nm_text_flows_print(last, width, out);
	nm_text_steps_print(series, width, out);
	if (has_figures(last)) {
		print_groups(last, width, out);
		print_hosts(last, width, out);
		print_encryption(last, width, out);
	}
	print_host_notes(last, out);
	nm_text_tables_print(last, width, out);
	print_notes(last, out);
	if (series->n_runs > 1) {
		print_runs(series, width, out);
		print_summary(series, width, out);
	}
	nm_comparison_print(series, out);
	nm_verdicts_print(series, out);
	return nm_stream_status(out);
}

const struct nm_report nm_report_text = {
	.name = "text",
	.takes = NM_REPORT_TAKES_COMPARISON | NM_REPORT_TAKES_RAW | NM_REPORT_TAKES_SWEEP,
	.tells_failure = true,
	.write = write_text,
};
