/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps and shows the trials of a sweep. */
#include "report/sweep.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "report/common.h"
#include "report/figures.h"
#include "report/table.h"
#include "report/text_traffic.h"

#define CLOSED_LOOP "closed loop" /* for people, where a trial has no value */

static const struct {
	const char *name, *text;
} limits[NM_LIMIT__COUNT] = {
#define LIMIT(member, limit_name, sentence)                                                        \
	[NM_LIMIT_##member] = {.name = limit_name, .text = sentence},
	NM_LIMITS(LIMIT)
#undef LIMIT
};

enum nm_limit nm_limit_find(const char *name)
{
	for (unsigned i = NM_LIMIT_NONE + 1; i < NM_LIMIT__COUNT && name; i++)
		if (strcmp(limits[i].name, name) == 0)
			return (enum nm_limit)i;
	return NM_LIMIT_NONE;
}

const char *nm_limit_text(enum nm_limit limit)
{
	return limits[limit].text;
}

void nm_trial_fini(struct nm_trial *trial)
{
	free(trial->value);
	free(trial->reason);
	free(trial->percentile_of);
	trial->value = trial->reason = trial->percentile_of = NULL;
}

int nm_sweep_add(struct nm_sweep *sweep, const struct nm_trial *trial)
{
	struct nm_trial lost = *trial;
	struct nm_trial *trials =
		realloc(sweep->trials, (sweep->n_trials + 1) * sizeof(*sweep->trials));

	if (!trials) {
		nm_trial_fini(&lost);
		return -ENOMEM;
	}
	sweep->trials = trials;
	trials[sweep->n_trials] = *trial;
	return nm_window_copy(&trials[sweep->n_trials++].totals, &trial->totals);
}

void nm_sweep_fini(struct nm_sweep *sweep)
{
	for (size_t i = 0; i < sweep->n_trials; i++) {
		nm_trial_fini(&sweep->trials[i]);
		nm_window_fini(&sweep->trials[i].totals);
	}
	free(sweep->trials);
	free(sweep->value);
	free(sweep->command);
	*sweep = (struct nm_sweep){.n_trials = 0};
}

static const char *verdict_of(const struct nm_trial *trial)
{
	return !trial->judged ? NULL : trial->pass ? "pass" : "fail";
}

char *nm_trial_format(const struct nm_sweep *sweep, const struct nm_trial *trial, char *buf,
		      size_t size)
{
	const char *verdict = verdict_of(trial);

	snprintf(buf, size, "%s%s%s: %s%s%s", sweep->parameter, trial->value ? "=" : ", ",
		 trial->value ? trial->value : CLOSED_LOOP, verdict ? verdict : "done",
		 trial->reason ? ": " : "", trial->reason ? trial->reason : "");
	return buf;
}

const struct nm_sweep *nm_runs_sweep(const struct nm_runs *series)
{
	return nm_runs_view(series)->sweep;
}

/* --- the document --- */

static json_t *make_verdict(const struct nm_at *at)
{
	return nm_json_text(verdict_of(at->item));
}

static json_t *make_limit(const struct nm_at *at)
{
	return nm_json_text(limits[((const struct nm_trial *)at->item)->limit].name);
}

static json_t *make_end(const struct nm_at *at)
{
	return nm_json_text(limits[((const struct nm_sweep *)at->item)->limit].name);
}

/* Times need more decimals than rates have. */
#define PERCENTILE(member, ...)                                                                    \
	NM_FIGURE(REAL, struct nm_trial, member, #member, .column = #member, .schema = "rate",     \
		  __VA_ARGS__)

static const struct nm_figure trial_figures[] = {
	NM_FIGURE(TEXT, struct nm_trial, value, "value",
		  .doc = "Of the parameter; null: none, the load was a closed loop."),
	NM_FIGURE(TEXT, struct nm_trial, step, "step",
		  .schema = "{'enum': ['capacity', 'low', 'bracket', 'bisect', 'half', 'confirm', "
			    "'border', null]}",
		  .doc = "Why a search has tried the value; null: it is a scan."),
	NM_MADE("verdict", make_verdict, "{'enum': ['pass', 'fail', null]}",
		.doc = "Whether the requirements were met, and open arrivals reached; null: "
		       "nothing was required."),
	NM_FIGURE(TEXT, struct nm_trial, reason, "reason", .doc = "Why it failed."),
	NM_MADE("limit", make_limit,
		"{'enum': ['objective', 'errors', 'generator', 'connections', 'overload', 'run', "
		"null]}",
		.doc = "What kept it from passing: a requirement, one about errors or too many "
		       "failures, the verdict on open arrivals, or a run that failed."),
	NM_FIGURE(COUNT, struct nm_trial, seed, "seed"),
	NM_FIGURE(COUNT32, struct nm_trial, n_runs, "runs",
		  .doc = "All of them were judged together; the figures here are those of the "
			 "last one."),
	NM_FIGURE(RATE, struct nm_trial, offered_per_s, "offered_per_s", .column = "offered_per_s",
		  .doc = "Open arrivals a second that were due."),
	NM_FIGURE(RATE, struct nm_trial, achieved_per_s, "achieved_per_s",
		  .column = "achieved_per_s", .doc = "Those a second that were answered in time."),
	NM_FIGURE(TEXT, struct nm_trial, load, "load",
		  .doc = "The verdict on open arrivals, ok where that of more than half of the "
			 "runs is, and none has errors; null: there were none."),
	NM_FIGURE(RATE, struct nm_trial, typical, "typical",
		  .doc = "Of a search: what shows whether the system has changed: the median "
			 "latency, or the figure of an objective that is about no time."),
	NM_FIGURE(RATE, struct nm_trial, typical_limit, "typical_limit",
		  .doc = "Of a search: the limit of the objective, which tells how much that "
			 "matters."),
	NM_FIGURE(RATE, struct nm_trial, reached, "reached",
		  .doc = "Of a search for a rate: that of the parameter which was reached."),
	PERCENTILE(
		percentile,
		.doc = "That of the objective: the first, or the one in doubt; null: it is about "
		       "none."),
	NM_FIGURE(TEXT, struct nm_trial, percentile_of, "percentile_of",
		  .doc = "The name of that figure; null: it is about none."),
	PERCENTILE(
		percentile_low,
		.doc = "The percentile is above it with a confidence of 97.5 %, by how far those "
		       "of the time grid scatter; null: not known."),
	PERCENTILE(percentile_high, .doc = "The percentile is below it with the same confidence."),
	NM_FIGURE(BOOL, struct nm_trial, in_doubt, "in_doubt",
		  .doc = "Of a search: the limit of the objective is between these, also after "
			 "four times the length that the percentile needs, or 16 times the usual "
			 "one: the trial does not count as passed."),
	NM_FIGURE(BOOL, struct nm_trial, out_of_order, "out_of_order",
		  .doc = "A search has seen a lower value fail."),
	NM_FIGURE_END,
};

const struct nm_object nm_trial_object = {
	.name = "trial",
	.doc = "The profile with one value of the parameter.",
	.figures = trial_figures,
	.base = &nm_window_object,
	.base_offset = offsetof(struct nm_trial, totals),
	.closing = NM_CLOSED_ALL,
};

static const struct nm_figure search_figures[] = {
	NM_FIGURE(TEXT, struct nm_sweep, objective, "objective", .schema = NM_SCHEMA_TEXT),
	NM_FIGURE(TEXT, struct nm_sweep, outcome, "outcome",
		  .schema = "{'enum': ['found', 'not met', 'unstable', 'unconfirmed', "
			    "'interrupted']}"),
	NM_FIGURE(TEXT, struct nm_sweep, value, "value",
		  .doc = "The highest one that meets the objective; null: none was found."),
	NM_FIGURE(REAL, struct nm_sweep, tolerance, "tolerance", .schema = "share",
		  .doc = "How near the value is to the lowest one that fails."),
	NM_FIGURE(BOOL, struct nm_sweep, at_end, "at_end",
		  .doc = "The value is the last one of the range."),
	NM_MADE("limit", make_end,
		"{'enum': ['objective', 'errors', 'generator', 'connections', 'overload', 'run', "
		"'capacity', 'range', null]}",
		.doc = "What kept the search from a higher value: that of the lowest trial above "
		       "it, which failed, the capacity of a closed loop, or the range; or from any "
		       "value. null: the outcome is unstable, or interrupted."),
	NM_FIGURE(COUNT32, struct nm_sweep, n_confirmed, "confirmed",
		  .doc = "Trials that have confirmed the value."),
	NM_FIGURE(TEXT, struct nm_sweep, command, "command",
		  .doc = "A command line that runs the profile with the value."),
	NM_FIGURE_END,
};

static const struct nm_object search_object = {.figures = search_figures};

static const struct nm_figure sweep_figures[] = {
	NM_FIGURE(TEXT, struct nm_sweep, parameter, "parameter", .schema = NM_SCHEMA_TEXT),
	NM_FIGURE(TEXT, struct nm_sweep, range, "range", .schema = NM_SCHEMA_TEXT),
	{.json = "search",
	 .kind = NM_FIGURE_OBJECT,
	 .object = &search_object,
	 NM_HAS(struct nm_sweep, outcome)},
	NM_LIST(struct nm_sweep, trials, n_trials, "trials", nm_trial_object),
	NM_FIGURE_END,
};

const struct nm_object nm_sweep_object = {
	.name = "sweep",
	.doc = "With --scan and --search: every trial in short. The rest of the document is of one "
	       "trial: after a search of the last that has passed, otherwise of the last.",
	.figures = sweep_figures,
};

json_t *nm_sweep_json(const struct nm_at *at)
{
	struct nm_at item = nm_at_item(at, nm_runs_sweep(at->runs), 0);

	return item.item ? nm_object_json(&nm_sweep_object, &item) : json_null();
}

/* --- for people --- */

static void add_percentile(struct nm_table *table, const struct nm_percentiles *percentiles,
			   const struct nm_latency *times, double pct)
{
	char text[NM_TEXT_BYTES] = "-";

	for (size_t i = 0; i < percentiles->count && times->count; i++)
		if (percentiles->pct[i] == pct)
			nm_format_duration(times->pct_s[i], text, sizeof(text));
	nm_table_text(table, text);
}

/* Whether the percentile of the objective has an interval in any trial. */
static bool has_intervals(const struct nm_sweep *sweep)
{
	for (size_t i = 0; i < sweep->n_trials; i++)
		if (!isnan(sweep->trials[i].percentile_low))
			return true;
	return false;
}

static char *format_percentile(const struct nm_trial *trial, double value, char buf[NM_TEXT_BYTES])
{
	return trial->quantity == NM_QUANTITY_SECONDS
		       ? nm_format_duration(value, buf, NM_TEXT_BYTES)
		       : nm_quantity_format(trial->quantity, value, buf, NM_TEXT_BYTES);
}

/* An interval without an end is that of a part whose percentile lies among failures. */
static void add_interval(struct nm_table *table, const struct nm_trial *trial)
{
	char low[NM_TEXT_BYTES], high[NM_TEXT_BYTES];

	if (isnan(trial->percentile_low) || isinf(trial->percentile_high))
		nm_table_text(table, "-");
	else
		nm_table_cell(table, "%s to %s",
			      format_percentile(trial, trial->percentile_low, low),
			      format_percentile(trial, trial->percentile_high, high));
}

static void add_trial(struct nm_table *table, const struct nm_trial *trial,
		      const struct nm_percentiles *percentiles, bool intervals)
{
	const struct nm_window *totals = &trial->totals;
	const struct nm_latency *times =
		totals->response.count ? &totals->response : &totals->latency;
	const char *verdict = verdict_of(trial);
	char text[NM_TEXT_BYTES];

	nm_table_text(table, trial->value ? trial->value : CLOSED_LOOP);
	if (trial->step)
		nm_table_text(table, trial->step);
	nm_table_text(table, nm_text_rate(totals->counts.iterations, totals->seconds, text));
	nm_table_text(table, nm_format_bitrate(nm_window_bits_per_s(totals), text, sizeof(text)));
	add_percentile(table, percentiles, times, 50);
	add_percentile(table, percentiles, times, 99);
	if (intervals)
		add_interval(table, trial);
	nm_table_text(table, verdict ? verdict : "-");
	nm_table_cell(table, "%s%s", trial->out_of_order ? "above one that failed" : "",
		      trial->reason ? trial->reason : "");
}

static void print_search(const struct nm_sweep *sweep, FILE *out)
{
	fputc('\n', out);
	if (sweep->value)
		nm_print_line(out, "  %s=%s is the %s value that meets %s", sweep->parameter,
			      sweep->value, sweep->at_end ? "last" : "highest", sweep->objective);
	else
		nm_print_line(out, "  %s: %s", sweep->outcome, sweep->objective);
	if (sweep->value && sweep->limit)
		fprintf(out, "  %s\n", nm_limit_text(sweep->limit));
	fprintf(out, "  %zu trial%s, %u of them to confirm the value\n", sweep->n_trials,
		sweep->n_trials == 1 ? "" : "s", (unsigned)sweep->n_confirmed);
	if (sweep->command)
		nm_print_line(out, "  to run it again: %s", sweep->command);
}

void nm_sweep_print(const struct nm_runs *series, FILE *out)
{
	const struct nm_sweep *sweep = nm_runs_sweep(series);
	const struct nm_result *last = nm_runs_last(series);
	const char *times = last->totals.response.count ? "response" : "latency";
	const bool intervals = has_intervals(sweep);
	struct nm_table table = {.align = intervals	   ? "llrrrrrll"
					  : sweep->outcome ? "llrrrrll"
							   : "lrrrrll",
				 .width = nm_runs_view(series)->width};

	nm_table_text(&table, sweep->parameter);
	if (sweep->outcome)
		nm_table_text(&table, "trial");
	nm_table_head(&table, "transactions/s|throughput");
	nm_table_cell(&table, "%s p50", times);
	nm_table_cell(&table, "%s p99", times);
	if (intervals)
		nm_table_head(&table, "objective, 95 %");
	nm_table_head(&table, "verdict|why");
	for (size_t i = 0; i < sweep->n_trials; i++)
		add_trial(&table, &sweep->trials[i], &last->percentiles, intervals);
	nm_table_end(&table, 2, out);
	if (sweep->outcome)
		print_search(sweep, out);
}

/* --- for programs --- */

/* The columns of measured flows, of which no trial has any. */
static void leave_flows_out(const struct nm_sweep *sweep, const char *ret_without[])
{
	size_t n = 0;

	for (size_t i = 0; i < sweep->n_trials; i++)
		if (sweep->trials[i].totals.sized)
			return;
	for (unsigned i = NM_TIME__SIZED; i < NM_TIME__COUNT; i++)
		ret_without[n++] = nm_time_names[i];
}

void nm_sweep_csv(const struct nm_runs *series, FILE *out)
{
	const struct nm_sweep *sweep = nm_runs_sweep(series);
	const struct nm_percentiles *percentiles = &nm_runs_last(series)->percentiles;
	const char *without[NM_SIZED__COUNT + 1] = {NULL};

	leave_flows_out(sweep, without);
	fputs("value,step,verdict,reason,load,seed,runs,seconds", out);
	nm_figures_columns(out, "", trial_figures, percentiles, NULL);
	nm_figures_columns(out, "", nm_window_figures, percentiles, without);
	fputc('\n', out);
	for (size_t i = 0; i < sweep->n_trials; i++) {
		const struct nm_trial *trial = &sweep->trials[i];
		const char *const texts[] = {trial->value, trial->step, verdict_of(trial),
					     trial->reason, trial->load};

		for (size_t k = 0; k < sizeof(texts) / sizeof(texts[0]); k++) {
			nm_csv_cell(out, texts[k] ? texts[k] : "", NULL);
			fputc(',', out);
		}
		fprintf(out, "%" PRIu64 ",%" PRIu32 ",%.9f", trial->seed, trial->n_runs,
			trial->totals.seconds);
		nm_figures_cells(out, trial_figures, trial, percentiles, NULL);
		nm_figures_cells(out, nm_window_figures, &trial->totals, percentiles, without);
		fputc('\n', out);
	}
}
