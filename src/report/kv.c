/* SPDX-License-Identifier: Apache-2.0 */
/* key=value lines under the names that scripts for neper know, with these differences: every value
 * covers the measured window exactly; resource usage is counted from the window's start, so the
 * _start keys are 0, but for maxrss, which is no sum; a value that is not known has no line; and
 * the slaves' figures are there, under remote_. */
#include "report/report.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/common.h"
#include "report/end_totals.h"
#include "report/figures.h"
#include "report/keys.h"
#include "report/requirement.h"
#include "report/steps.h"
#include "result/datagram_stats.h"
#include "result/load.h"

/* A value stays on its line. NULL: not known. */
static void print_text(FILE *out, const char *key, const char *value)
{
	if (!value)
		return;
	nm_print_line(out, "%s=%s", key, value);
}

static void print_interrupts(FILE *out, const char *prefix, const struct nm_usage *usage)
{
	if (usage->has_interrupts)
		fprintf(out, "%sinterrupts=%" PRIu64 "\n%scontext_switches=%" PRIu64 "\n", prefix,
			usage->interrupts.hardware, prefix, usage->interrupts.context_switches);
	if (usage->has_softirqs)
		nm_figures_keys(out, prefix, nm_softirqs_figures, usage, NULL);
}

/* The usage of a process: KEY_start and KEY_end, where the key is the name of the field without its
 * unit. */
static void print_process(FILE *out, const char *prefix, const struct nm_result_host *host)
{
	for (const struct nm_field *field = nm_rusage_fields; field->name; field++) {
		const char *before = (const char *)&host->usage.process_start + field->offset;
		const char *used = (const char *)&host->usage.process + field->offset;
		uint64_t start = *(const uint64_t *)(const void *)before;
		uint64_t end = *(const uint64_t *)(const void *)used;
		int length = (int)strcspn(field->name, "_");

		if (field->unit == NM_UNIT_NS) {
			fprintf(out, "%s%.*s_start=0.000000\n%s%.*s_end=%.6f\n", prefix, length,
				field->name, prefix, length, field->name, (double)end / 1e9);
			continue;
		}
		if (field->unit != NM_UNIT_PEAK)
			start = 0;
		if (field->unit != NM_UNIT_PEAK || host->is_master) /* a slave does not tell it */
			fprintf(out, "%s%.*s_start=%" PRIu64 "\n", prefix, length, field->name,
				start);
		fprintf(out, "%s%.*s_end=%" PRIu64 "\n", prefix, length, field->name, end);
	}
}

static void print_usage(FILE *out, const char *prefix, const struct nm_result_host *host)
{
	if (!host->has_usage)
		return;
	print_process(out, prefix, host);
	print_interrupts(out, prefix, &host->usage);
	if (host->usage.throttling.periods)
		fprintf(out, "%sthrottling_periods=%" PRIu64 "\n%sthrottled_periods=%" PRIu64 "\n",
			prefix, host->usage.throttling.periods, prefix,
			host->usage.throttling.throttled);
	if (host->usage.has_tcp)
		fprintf(out, "%stcp_retransmitted_segments=%" PRIu64 "\n", prefix,
			host->usage.tcp.retrans_segs);
	if (host->usage.has_cpu)
		nm_figures_keys(out, prefix, nm_cpu_figures, &host->usage.cpu, NULL);
}

/* What TCP tells of the connections that were open at the end; nothing where none was. */
static void print_connections(FILE *out, const char *prefix, const struct nm_result_host *host)
{
	if (host->connections.connections)
		nm_figures_keys(out, prefix, nm_connections_object.figures, &host->connections,
				NULL);
	if (nm_buffers_differ(&host->facts.cut))
		nm_figures_keys(out, prefix, nm_buffers_object.figures, &host->facts.cut, NULL);
}

static void print_linearity(const struct nm_result *result, const char *prefix,
			    const struct nm_result_host *host, FILE *out)
{
	struct nm_linearity linearity = nm_linearity_of(result, host);

	fprintf(out, "%snum_samples=%zu\n", prefix, linearity.samples);
	if (linearity.known)
		fprintf(out, "%scorrelation_coefficient=%.6f\n", prefix, linearity.correlation);
}

/* A slave's totals in the measured window, by the wall clock of the master. */
static void print_window(const struct nm_result *result, const char *prefix,
			 const struct nm_result_host *host, FILE *out)
{
	const struct nm_host_window *window = &host->window;
	struct nm_end_totals end = nm_slave_totals(host);
	bool stream = nm_is_stream(result);
	char key[64];

	if (!end.known)
		return;
	fprintf(out, "%stotal_run_time=%.6f\n", prefix, (double)window->ns / 1e9);
	snprintf(key, sizeof(key), "%stime_start", prefix);
	nm_keys_time(out, key, window->from_ns + result->wall.offset_ns);
	snprintf(key, sizeof(key), "%stime_end", prefix);
	nm_keys_time(out, key, window->to_ns + result->wall.offset_ns);
	fprintf(out, "%snum_transactions=%" PRIu64 "\n", prefix, window->counts.iterations);
	fprintf(out, "%sbytes_sent=%" PRIu64 "\n%sbytes_received=%" PRIu64 "\n", prefix,
		window->counts.bytes_sent, prefix, window->counts.bytes_received);
	print_linearity(result, prefix, host, out);
	nm_keys_mapped(out, prefix, result, &end);
	fprintf(out, "%slocal_throughput=%.0f\n%sthroughput_units=%s\n", prefix,
		floor(stream ? end.received_bits_per_s : end.transactions_per_s), prefix,
		stream ? "bits/s" : "transactions/s");
}

static void print_remote(const struct nm_result *result, const struct nm_view *view, FILE *out)
{
	char prefix[32];
	size_t slaves = 0;

	for (size_t i = 0; i < result->n_hosts; i++) {
		const struct nm_result_host *host = &result->hosts[i];
		if (host->is_master)
			continue;
		/* The first slave has neper's place; the others are numbered. */
		if (slaves++ == 0)
			snprintf(prefix, sizeof(prefix), "remote_");
		else
			snprintf(prefix, sizeof(prefix), "remote%zu_", slaves);
		nm_print_line(out, "%shost=%s", prefix, host->name ? host->name : "");
		fprintf(out, "%scomplete=%d\n", prefix, host->complete);
		if (host->n_groups) {
			fprintf(out, "%snum_transactions_all=%" PRIu64 "\n", prefix,
				host->counts.iterations);
			fprintf(out, "%sbytes_sent_all=%" PRIu64 "\n", prefix,
				host->counts.bytes_sent);
			fprintf(out, "%sbytes_received_all=%" PRIu64 "\n", prefix,
				host->counts.bytes_received);
		}
		if (host->complete) {
			nm_keys_cores(out, prefix, view->slave_cpus);
			print_window(result, prefix, host, out);
		}
		print_usage(out, prefix, host);
		print_connections(out, prefix, host);
	}
	fprintf(out, "num_remote_hosts=%zu\n", slaves);
}

/* Only where messages may be lost. */
static void print_messages(const struct nm_result *result, FILE *out)
{
	struct nm_datagram_stats messages;

	nm_result_datagrams(result, &messages);
	if (messages.any)
		nm_figures_keys(out, "messages_", nm_datagram_figures, &messages, NULL);
}

/* How long a name may be within a key. */
#define KEY_NAME 120

/* The figures of a window and of its verbs; nothing where nothing was measured: what is not known
 * is not 0. */
static void print_measured(FILE *out, const char *prefix, const struct nm_window *window,
			   const struct nm_percentiles *percentiles)
{
	char name[NM_VERB_KEY], inner[KEY_NAME + NM_VERB_KEY + 64];

	if (window->seconds <= 0)
		return;
	nm_figures_keys(out, prefix, nm_window_figures, window, percentiles);
	for (size_t i = 0; i < window->n_verbs; i++) {
		snprintf(inner, sizeof(inner), "%sverb.%s.", prefix,
			 nm_verb_key(window->verbs[i].name, name));
		nm_figures_keys(out, inner, nm_verb_object.figures, &window->verbs[i], percentiles);
	}
}

static void print_totals(const struct nm_result *result, const struct nm_view *view, FILE *out)
{
	bool stream = nm_is_stream(result);
	struct nm_ways ways;
	struct nm_load load;

	print_measured(out, "", &result->totals, &result->percentiles);
	if (result->responses.passes)
		fprintf(out, "rtt_transactions_logged=%" PRIu64 "\n", result->responses.passes);
	print_linearity(result, "", NULL, out);
	print_messages(result, out);
	nm_keys_ends(out, result, view, stream);
	if (nm_result_load(result, &load))
		fprintf(out,
			"load=%s\noffered_per_s=%.9g\nachieved_per_s=%.9g\n"
			"outstanding_mean=%.9g\noutstanding_max=%" PRIu64 "\n",
			load.name, load.offered_per_s, load.achieved_per_s, load.outstanding_mean,
			load.outstanding_max);
	nm_ways_of(result, &ways);
	nm_figures_keys(out, "throughput_", nm_ways_figures, &ways, NULL);
	if (!stream && result->totals.seconds > 0)
		fputs("throughput_units=transactions/s\n", out);
}

/* The steps of a transaction, by their place. */
static void print_steps(const struct nm_result *result, const struct nm_result_group *group,
			const struct nm_result_phase *phase, const char *prefix, FILE *out)
{
	char inner[KEY_NAME + 96];

	for (size_t i = 0; i < phase->n_steps; i++) {
		struct nm_step_row row;

		if (!nm_step_row(result, group, &phase->steps[i], &row))
			continue;
		snprintf(inner, sizeof(inner), "%stransaction.%zu.step.%u.", prefix,
			 (size_t)(phase - group->phases) + 1, (unsigned)row.step.number + 1);
		nm_figures_keys(out, inner, nm_step_object.figures, &row, &result->percentiles);
		fprintf(out, "%sload=%s\n", inner, row.load.name);
	}
}

static void print_group(const struct nm_result *result, const struct nm_result_group *group,
			const char *prefix, FILE *out)
{
	for (size_t k = 0; k < group->n_phases; k++)
		print_steps(result, group, &group->phases[k], prefix, out);
	nm_figures_keys(out, prefix, nm_group_object.figures, group, &result->percentiles);
	print_measured(out, prefix, &group->totals, &result->percentiles);
}

/* Under group.NAME. ; of several with one name, in a key, the second is group.NAME#2. */
static int print_groups(const struct nm_result *result, FILE *out)
{
	char(*keys)[KEY_NAME + 1] = calloc(result->n_groups + 1, sizeof(*keys));

	if (!keys)
		return -ENOMEM;
	for (size_t i = 0; i < result->n_groups; i++) {
		unsigned same = 1;
		char prefix[KEY_NAME + 32], number[16] = "";

		/* Nothing is taken for the number behind it. */
		(void)nm_name_within(result->groups[i].name, " =#", keys[i], sizeof(keys[i]));
		for (size_t k = 0; k < i; k++)
			same += strcmp(keys[i], keys[k]) == 0;
		if (same > 1)
			snprintf(number, sizeof(number), "#%u", same);
		snprintf(prefix, sizeof(prefix), "group.%s%s.", keys[i], number);
		print_group(result, &result->groups[i], prefix, out);
	}
	free(keys);
	return 0;
}

/* The first as warning, the others numbered, as hosts are. */
static void print_warnings(const struct nm_result *result, FILE *out)
{
	for (size_t i = 0; i < result->warnings.count; i++) {
		char key[32] = "warning";

		if (i)
			snprintf(key, sizeof(key), "warning%zu", i + 1);
		print_text(out, key, result->warnings.items[i]);
	}
}

static int print_run(const struct nm_result *result, const struct nm_view *view, FILE *out)
{
	uint32_t flows = 0, workers = 0;

	for (size_t i = 0; i < result->n_groups; i++) {
		flows += result->groups[i].n_flows;
		workers += result->groups[i].n_workers;
	}
	print_text(out, "VERSION", result->id.version);
	print_text(out, "profile", result->profile.name);
	for (size_t i = 0; i < result->params.count; i++)
		if (result->params.items[i].value)
			nm_keys_param(out, result->params.items[i].name,
				      result->params.items[i].value);
	nm_keys_run_options(out, result);
	nm_keys_other_neper_options(out, view, result);
	nm_keys_cores(out, "", view->cpus);
	fprintf(out, "total_flows=%u\ntotal_threads=%u\n", flows, workers);
	nm_keys_total(out, result);
	fprintf(out, "total_run_time=%.6f\nmeasured_time=%.6f\nelapsed_time=%.6f\n",
		result->totals.seconds, result->totals.seconds, result->elapsed_s);
	if (result->grid.after.seconds > 0)
		fprintf(out, "transactions_after=%" PRIu64 "\ntransactions_after_time=%.6f\n",
			result->grid.after.transactions, result->grid.after.seconds);
	fputs("invalid_secret_count=0\n", out);
	print_text(out, "run_id", result->id.run_id);
	fprintf(out, "seed=%" PRIu64 "\ncomplete=%d\n", result->id.seed, result->complete);
	print_text(out, "incomplete_why", result->verdict.incomplete_why);
	print_warnings(result, out);
	if (result->from_ns) {
		nm_keys_time(out, "time_start", result->from_ns + result->wall.offset_ns);
		nm_keys_time(out, "time_end", result->to_ns + result->wall.offset_ns);
	}
	if (result->n_hosts) {
		print_usage(out, "", &result->hosts[0]);
		print_connections(out, "", &result->hosts[0]);
	}
	print_remote(result, view, out);
	print_totals(result, view, out);
	return print_groups(result, out);
}

static void print_summary(FILE *out, const char *name, const struct nm_summary *summary)
{
	if (summary->n == 0)
		return;
	fprintf(out, "repeat_%s_mean=%.9g\n", name, summary->mean);
	if (summary->n > 1)
		fprintf(out, "repeat_%s_stddev=%.9g\nrepeat_%s_ci95=%.9g\n", name, summary->stddev,
			name, summary->ci95);
}

static int write_kv(const struct nm_runs *series, FILE *out)
{
	const struct nm_result *last = nm_runs_last(series);

	if (!last)
		return -EINVAL;
	if (print_run(last, nm_runs_view(series), out) < 0)
		return -ENOMEM;
	if (series->n_runs > 1) {
		struct nm_runs_summary summary;
		nm_runs_summarise(series, &summary);
		fprintf(out, "repeat=%zu\n", series->n_runs);
#define PRINT(member, key, ...) print_summary(out, key, &summary.member);
		NM_RUNS_SUMMARIES(PRINT)
#undef PRINT
	}
	nm_verdicts_keys(series, out);
	return nm_stream_status(out);
}

const struct nm_report nm_report_kv = {
	.name = "kv",
	.help = "key=value",
	.takes = NM_REPORT_TAKES_UNIT,
	.write = write_kv,
};
