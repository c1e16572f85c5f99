/* SPDX-License-Identifier: Apache-2.0 */
/* The intervals: a header line, then a row for each interval of each run. A value that is not known
 * is an empty cell. */
#include "report/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/common.h"
#include "report/figures.h"
#include "report/sweep.h"
#include "result/datagram_stats.h"

/* Columns that not all results have. */
struct extra {
	bool messages;
	/* the window's columns that are left out; the last NULL */
	const char *without[NM_TIME__COUNT + 2];
	bool failing;
	const char **verbs; /* owned; they are borrowed from the results */
	size_t n_verbs;
};

static bool add_verb(struct extra *extra, const char *name)
{
	size_t i = 0;

	while (i < extra->n_verbs && strcmp(extra->verbs[i], name) != 0)
		i++;
	if (i < extra->n_verbs)
		return true;
	const char **grown = realloc(extra->verbs, (i + 1) * sizeof(*grown));

	if (!grown)
		return false;
	extra->verbs = grown;
	extra->verbs[extra->n_verbs++] = name;
	return true;
}

/* What the window of a row has. */
static bool add_window(struct extra *extra, const struct nm_window *window)
{
	extra->failing = extra->failing || nm_failing_most(window->failing);
	for (size_t v = 0; v < window->n_verbs; v++) {
		extra->failing = extra->failing || nm_failing_most(window->verbs[v].failing);
		if (!add_verb(extra, window->verbs[v].name))
			return false;
	}
	return true;
}

/* False: out of memory. */
static bool fill_extra(const struct nm_runs *series, struct extra *extra)
{
	bool has[NM_TIME__COUNT] = {[NM_TIME_LATENCY] = true};
	size_t n = 0;

	for (size_t r = 0; r < series->n_runs; r++) {
		struct nm_datagram_stats messages;

		nm_result_datagrams(series->runs[r], &messages);
		/* Measured flows have the columns of all sizes. */
		for (unsigned i = 0; i < NM_TIME__COUNT; i++)
			has[i] = has[i] ||
				 nm_result_has_time(series->runs[r],
						    i < NM_TIME__SIZED ? i : NM_TIME_SLOWDOWN);
		extra->messages = extra->messages || messages.any;
		for (size_t i = 0; i < series->runs[r]->n_intervals; i++)
			if (!add_window(extra, &series->runs[r]->intervals[i].window))
				return false;
	}
	for (unsigned i = 0; i < NM_TIME__COUNT; i++)
		if (!has[i])
			extra->without[n++] = nm_time_names[i];
	if (!extra->failing)
		extra->without[n++] = "with_failures";
	return true;
}

#define GROUP_NAME 128

static size_t count_groups(const struct nm_result *shape)
{
	return shape->n_groups > 1 && shape->n_groups <= NM_INTERVAL_GROUPS ? shape->n_groups : 0;
}

/* The name of a group, without what ends a cell. */
static char *group_name(const struct nm_result *shape, size_t g, char buf[GROUP_NAME])
{
	return nm_name_within(shape->groups[g].name, " ,\"", buf, 97); /* a number comes behind */
}

/* Whether other columns may begin as those of a group with that name. */
static bool is_taken(const char *name)
{
	static const char *const others[] = {"verb_",	  "outcomes",  "with_failures",
					     "to_slaves", "to_master", "#"};

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (strstr(name, others[i]))
			return true;
	return false;
}

/* What the columns of a group begin with: its name; of several with one name the second with "#2",
 * and with "#1" one whose name others begin with. */
static char *group_prefix(const struct nm_result *shape, size_t g, char buf[GROUP_NAME])
{
	char other[GROUP_NAME];
	size_t same = 1;

	group_name(shape, g, buf);
	for (size_t i = 0; i < g; i++)
		same += strcmp(group_name(shape, i, other), buf) == 0;
	const size_t n = strlen(buf);

	if (same > 1 || is_taken(buf))
		snprintf(buf + n, GROUP_NAME - n, "#%zu_", same);
	else
		snprintf(buf + n, GROUP_NAME - n, "_");
	return buf;
}

/* The columns of what has failed in a window, of its requests, and of its verbs, behind a
 * prefix. */
static void print_verb_columns(const struct extra *extra, const char *of,
			       const struct nm_percentiles *percentiles, FILE *out)
{
	char prefix[GROUP_NAME + NM_VERB_KEY + 16], name[NM_VERB_KEY];

	nm_figures_columns(out, of, nm_failing_figures, percentiles, extra->without);
	if (!extra->n_verbs)
		return;
	snprintf(prefix, sizeof(prefix), "%soutcomes_", of);
	nm_figures_columns(out, prefix, nm_outcomes_object.figures, percentiles, NULL);
	for (size_t v = 0; v < extra->n_verbs; v++) {
		snprintf(prefix, sizeof(prefix), "%sverb_%s_", of,
			 nm_verb_key(extra->verbs[v], name));
		nm_figures_columns(out, prefix, nm_verb_object.figures, percentiles,
				   extra->without);
	}
}

static void print_header(const struct nm_result *shape, const struct extra *extra, FILE *out)
{
	const struct nm_percentiles *percentiles = &shape->percentiles;
	char prefix[GROUP_NAME];

	fputs("run,from_s,to_s,phase,part", out);
	nm_figures_columns(out, "", nm_window_figures, percentiles, extra->without);
	for (size_t h = 0; h < shape->n_hosts; h++) {
		for (const struct nm_figure *cpu = nm_cpu_figures; !nm_figure_is_end(cpu); cpu++) {
			fputc(',', out);
			nm_csv_cell(out, shape->hosts[h].name ? shape->hosts[h].name : "",
				    cpu->column);
		}
	}
	/* New columns come last, so that the others keep their places. */
	fputs(",seconds", out);
	if (extra->messages) {
		nm_figures_columns(out, "to_slaves_", nm_direction_figures, percentiles, NULL);
		nm_figures_columns(out, "to_master_", nm_direction_figures, percentiles, NULL);
	}
	for (size_t g = 0; g < count_groups(shape); g++)
		nm_figures_columns(out, group_prefix(shape, g, prefix), nm_window_figures,
				   percentiles, extra->without);
	print_verb_columns(extra, "", percentiles, out);
	for (size_t g = 0; g < count_groups(shape); g++)
		print_verb_columns(extra, group_prefix(shape, g, prefix), percentiles, out);
	fputc('\n', out);
}

static void print_verbs(const struct extra *extra, const struct nm_window *window,
			const struct nm_percentiles *percentiles, FILE *out)
{
	nm_figures_cells(out, nm_failing_figures, window, percentiles, extra->without);
	/* The counts from there on are a struct nm_outcomes. */
	if (extra->n_verbs)
		nm_figures_cells(out, nm_outcomes_object.figures, &window->counts.requests,
				 percentiles, NULL);
	for (size_t v = 0; v < extra->n_verbs; v++) {
		const struct nm_verb_window none = {.seconds = window->seconds}, *verb = &none;

		for (size_t i = 0; i < window->n_verbs; i++)
			if (strcmp(window->verbs[i].name, extra->verbs[v]) == 0)
				verb = &window->verbs[i];
		nm_figures_cells(out, nm_verb_object.figures, verb, percentiles, extra->without);
	}
}

static void print_cpu(const struct nm_cpu_times *cpu, FILE *out)
{
	if (cpu) {
		nm_figures_cells(out, nm_cpu_figures, cpu, NULL, NULL);
		return;
	}
	for (const struct nm_figure *figure = nm_cpu_figures; !nm_figure_is_end(figure); figure++)
		fputc(',', out);
}

static void print_messages(const struct nm_result *run, size_t row, FILE *out)
{
	struct nm_datagram_stats messages;

	nm_interval_datagrams(run, row, &messages);
	nm_figures_cells(out, nm_direction_figures, &messages.to_slaves, NULL, NULL);
	nm_figures_cells(out, nm_direction_figures, &messages.to_master, NULL, NULL);
}

static void print_row(const struct nm_result *shape, const struct nm_result *run, size_t number,
		      const struct nm_result_interval *row, const struct extra *extra, FILE *out)
{
	static const struct nm_window none = {.seconds = 0};

	fprintf(out, "%zu,%.6f,%.6f,%u,%s", number, row->from_s, row->to_s,
		(unsigned)row->phase + 1, nm_part_name(row->part));
	nm_figures_cells(out, nm_window_figures, &row->window, &shape->percentiles, extra->without);
	for (size_t h = 0; h < shape->n_hosts; h++) {
		const struct nm_host_interval *own =
			h < run->n_hosts ? nm_host_interval_at(run, &run->hosts[h], row) : NULL;

		print_cpu(own && own->cpu.n_cpus ? &own->cpu : NULL, out);
	}
	fprintf(out, ",%.9f", row->window.seconds);
	if (extra->messages)
		print_messages(run, (size_t)(row - run->intervals), out);
	for (size_t g = 0; g < count_groups(shape); g++)
		nm_figures_cells(out, nm_window_figures,
				 g < row->n_groups ? &row->groups[g] : &none, &shape->percentiles,
				 extra->without);
	print_verbs(extra, &row->window, &shape->percentiles, out);
	for (size_t g = 0; g < count_groups(shape); g++)
		print_verbs(extra, g < row->n_groups ? &row->groups[g] : &none, &shape->percentiles,
			    out);
	fputc('\n', out);
}

static int write_csv(const struct nm_runs *series, FILE *out)
{
	const struct nm_result *shape = nm_runs_last(series);
	struct extra extra = {.messages = false};

	if (!shape)
		return -EINVAL;
	if (nm_runs_sweep(series)) {
		nm_sweep_csv(series, out);
		return nm_stream_status(out);
	}
	if (!fill_extra(series, &extra)) {
		free(extra.verbs);
		return -ENOMEM;
	}
	print_header(shape, &extra, out);
	for (size_t r = 0; r < series->n_runs; r++) {
		const struct nm_result *run = series->runs[r];
		for (size_t i = 0; i < run->n_intervals; i++)
			print_row(shape, run, r + 1, &run->intervals[i], &extra, out);
	}
	free(extra.verbs);
	return nm_stream_status(out);
}

const struct nm_report nm_report_csv = {
	.name = "csv",
	.help = "intervals",
	.takes = NM_REPORT_TAKES_INTERVALS | NM_REPORT_TAKES_SWEEP,
	.lacks_warnings = true,
	.write = write_csv,
};
