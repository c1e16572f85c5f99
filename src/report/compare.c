/* SPDX-License-Identifier: Apache-2.0 */
/* Puts each figure of a series of runs beside the same figure of an earlier result. */
#include "report/compare.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "report/common.h"
#include "report/compare_priv.h"
#include "report/named.h"
#include "report/table.h"
#include "report/view.h"
#include "stats/summary.h"

#define MOST_GROUPS 32	  /* that are compared one by one */
#define MOST_RUNS   10000 /* of a stranger's document */
#define TEXT	    64
#define MOST_ROWS   8 /* of the text: all figures are in JSON */

struct sides {
	const struct nm_named_list *list;
	struct nm_named_series *now;
	const json_t *whole; /* the earlier document: of its last run */
	json_t **before;     /* what it has of each complete run of a series; borrowed */
	size_t n_before;
	double *values; /* room for all of either side */
	/* of each of these documents the object of the scope that is compared; NULL: it has none */
	const json_t **now_in, **before_in, *whole_in;
};

/* --- values --- */

/* The runs of a series: those of which the document says that they are complete. */
static int read_series(struct sides *sides, const json_t *document)
{
	const json_t *runs = json_object_get(json_object_get(document, "repeat"), "runs");
	size_t count = json_array_size(runs);

	count = count < MOST_RUNS ? count : MOST_RUNS;
	sides->whole = document;
	sides->before = calloc(count + 1, sizeof(json_t *));
	sides->values =
		calloc((count > sides->now->count ? count : sides->now->count) + 1, sizeof(double));
	sides->now_in = calloc(sides->now->count + 1, sizeof(json_t *));
	sides->before_in = calloc(count + 1, sizeof(json_t *));
	if (!sides->before || !sides->values || !sides->now_in || !sides->before_in)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		json_t *run = json_array_get(runs, i);

		if (json_is_true(json_object_get(json_object_get(run, "run"), "complete")))
			sides->before[sides->n_before++] = run;
	}
	return 0;
}

/* Goes on to the scope of that prefix. */
static void enter(struct sides *sides, const char *prefix)
{
	for (size_t i = 0; i < sides->now->count; i++)
		sides->now_in[i] = nm_named_object(sides->now->items[i], prefix);
	for (size_t i = 0; i < sides->n_before; i++)
		sides->before_in[i] = nm_named_object(sides->before[i], prefix);
	sides->whole_in = nm_named_object(sides->whole, prefix);
}

/* The values of a figure in all objects, as requirements are judged; 0: some lacks it. */
static size_t values_in(const struct sides *sides, const json_t *const *objects, size_t count,
			struct nm_named_at *at)
{
	char why[512];

	for (size_t i = 0; i < count; i++) {
		at->object = objects[i];
		if (!at->object || !nm_named_judged(at, &sides->values[i], why, sizeof(why)))
			return 0;
	}
	return count;
}

static double change_of(double before, double now)
{
	return 100 * (now - before) / fabs(before);
}

static void take_now(struct nm_compared *figure, const struct nm_summary *summary)
{
	figure->has_now = summary->n > 0;
	figure->now = summary->mean;
	figure->has_now_ci = summary->has_ci && isfinite(summary->mean);
	figure->now_ci95 = summary->ci95;
}

static void take_before(struct nm_compared *figure, const struct nm_summary *summary)
{
	figure->has_before = summary->n > 0;
	figure->before = summary->mean;
	figure->has_before_ci = summary->has_ci && isfinite(summary->mean);
	figure->before_ci95 = summary->ci95;
}

/* Of a series that does not keep the figure of each run the last run has it. */
static void measure(const struct sides *sides, struct nm_named_at *at, struct nm_compared *figure)
{
	struct nm_summary summary = {.n = 0};
	size_t count = values_in(sides, sides->now_in, sides->now->count, at);

	if (count)
		nm_summary_compute(sides->values, count, &summary);
	take_now(figure, &summary);
	count = values_in(sides, sides->before_in, sides->n_before, at);
	if (!count)
		count = values_in(sides, &sides->whole_in, 1, at);
	summary = (struct nm_summary){.n = 0};
	if (count)
		nm_summary_compute(sides->values, count, &summary);
	take_before(figure, &summary);
	if (!figure->has_now || !figure->has_before)
		return;
	figure->has_change =
		figure->before != 0 && isfinite(figure->before) && isfinite(figure->now);
	if (figure->has_change)
		figure->change = change_of(figure->before, figure->now);
	figure->overlap =
		figure->has_now_ci && figure->has_before_ci &&
		fabs(figure->now - figure->before) <= figure->now_ci95 + figure->before_ci95;
}

/* --- figures --- */

/* percentile: NaN where the entry is not that of all percentiles. */
static int add_figure(struct nm_comparison *comparison, const struct sides *sides,
		      const struct nm_named *named, double percentile, const char *prefix,
		      const char *name)
{
	struct nm_named_at at = {.named = *named, .percentile = percentile};
	struct nm_compared figure = {.quantity = named->quantity,
				     .unit = nm_quantity_unit(named->quantity)};
	struct nm_compared *figures;

	if (asprintf(&figure.figure, "%s%s", prefix, name) < 0)
		return -ENOMEM;
	measure(sides, &at, &figure);
	if (!figure.has_now && !figure.has_before) {
		free(figure.figure);
		return 0;
	}
	figures = realloc(comparison->figures, (comparison->n_figures + 1) * sizeof(*figures));
	if (!figures) {
		free(figure.figure);
		return -ENOMEM;
	}
	comparison->figures = figures;
	figures[comparison->n_figures++] = figure;
	return 0;
}

/* Those of this run; the entry stands for all of them. */
static int add_percentiles(struct nm_comparison *comparison, const struct sides *sides,
			   const struct nm_named *named, const char *prefix,
			   const struct nm_percentiles *percentiles)
{
	char name[NM_NAMED_NAME + 40], key[32];
	int length = (int)strlen(named->name) - 2; /* without pN */

	for (size_t i = 0; i < percentiles->count; i++) {
		snprintf(name, sizeof(name), "%.*s%s", length, named->name,
			 nm_percentile_key(percentiles->pct[i], key, sizeof(key)));
		if (add_figure(comparison, sides, named, percentiles->pct[i], prefix, name) != 0)
			return -ENOMEM;
	}
	return 0;
}

static int add_scope(struct nm_comparison *comparison, struct sides *sides, enum nm_scope scope,
		     const char *prefix, const struct nm_percentiles *percentiles)
{
	int error = 0;

	enter(sides, prefix);
	for (size_t i = 0; i < sides->list->count && !error; i++) {
		const struct nm_named *named = &sides->list->items[i];

		if (named->scope != scope || named->is_alias)
			continue;
		error = named->percentiles
				? add_percentiles(comparison, sides, named, prefix, percentiles)
				: add_figure(comparison, sides, named, NAN, prefix, named->name);
	}
	return error;
}

static int add_all(struct nm_comparison *comparison, struct sides *sides,
		   const struct nm_result *result)
{
	int error = add_scope(comparison, sides, NM_SCOPE_RUN, "", &result->percentiles);
	char prefix[NM_NAMED_PREFIX];

	if (result->n_groups < 2 || result->n_groups > MOST_GROUPS)
		return error;
	for (size_t i = 0; i < result->n_groups && !error; i++) {
		nm_named_group(sides->now->items[0], i, prefix);
		error = add_scope(comparison, sides, NM_SCOPE_GROUP, prefix, &result->percentiles);
	}
	return error;
}

/* --- the comparison --- */

static char *copy(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? strdup(text) : NULL;
}

int nm_compare(const struct nm_baseline *baseline, const struct nm_runs *series,
	       struct nm_comparison *ret_comparison)
{
	const json_t *run = json_object_get(baseline->document, "run");
	struct nm_named_series now;
	int error = nm_named_series_read(series, &now);
	struct sides sides = {.list = &now.list, .now = &now};

	*ret_comparison = (struct nm_comparison){
		.path = baseline->path,
		.version = copy(baseline->document, "version"),
		.run_id = copy(run, "id"),
		.start = copy(run, "start"),
	};
	if (!error)
		error = read_series(&sides, baseline->document);
	if (!error)
		error = nm_comparison_note(ret_comparison, baseline->document,
					   nm_runs_last(series));
	if (!error && now.count)
		error = add_all(ret_comparison, &sides, nm_runs_last(series));
	ret_comparison->n_now = now.count;
	ret_comparison->n_before = sides.n_before ? sides.n_before : 1;
	free(sides.before);
	free(sides.values);
	free(sides.now_in);
	free(sides.before_in);
	nm_named_series_fini(&now);
	return error;
}

void nm_comparison_fini(struct nm_comparison *comparison)
{
	for (size_t i = 0; i < comparison->n_figures; i++)
		free(comparison->figures[i].figure);
	for (size_t i = 0; i < comparison->n_notes; i++)
		free(comparison->notes[i]);
	free(comparison->figures);
	free(comparison->notes);
	free(comparison->version);
	free(comparison->run_id);
	free(comparison->start);
	*comparison = (struct nm_comparison){.path = NULL};
}

const struct nm_comparison *nm_runs_comparison(const struct nm_runs *series)
{
	return nm_runs_view(series)->comparison;
}

/* --- for people --- */

static void add_value(struct nm_table *table, enum nm_quantity quantity, bool has, double value,
		      bool has_ci, double ci95)
{
	char text[TEXT], width[TEXT];

	nm_table_cell(table, "%s%s%s",
		      has && isinf(value) ? "infinite"
		      : has		  ? nm_quantity_format(quantity, value, text, TEXT)
					  : "-",
		      has_ci ? " +- " : "",
		      has_ci ? nm_quantity_format(quantity, ci95, width, TEXT) : "");
}

static void add_row(struct nm_table *table, const struct nm_compared *figure)
{
	nm_table_text(table, figure->figure);
	add_value(table, figure->quantity, figure->has_before, figure->before,
		  figure->has_before_ci, figure->before_ci95);
	add_value(table, figure->quantity, figure->has_now, figure->now, figure->has_now_ci,
		  figure->now_ci95);
	if (figure->has_change)
		nm_table_cell(table, "%+.1f %%", figure->change);
	else
		nm_table_text(table, "-");
	nm_table_text(table, figure->overlap ? "within the intervals" : "");
}

/* What tells most, in this order; where it was measured. */
static const char *const important[] = {
	"transactions_per_s",
	"throughput.received_bits_per_s",
	"response.p50",
	"response.p99",
	"latency.p50",
	"latency.p99",
	"errors",
	"messages.to_slaves.lost",
	"messages.to_master.lost",
	"retransmits",
	"cpu_busy",
	"latency.mean",
};

/* Most runs have many figures that are nothing. */
static bool is_nothing(const struct nm_compared *figure)
{
	return figure->has_now && figure->has_before && figure->now == 0 && figure->before == 0;
}

/* Returns how many there are. */
static size_t choose(const struct nm_comparison *comparison, const struct nm_compared **ret_rows)
{
	size_t count = 0;

	for (size_t k = 0; k < sizeof important / sizeof *important && count < MOST_ROWS; k++)
		for (size_t i = 0; i < comparison->n_figures; i++) {
			const struct nm_compared *figure = &comparison->figures[i];

			if (strcmp(figure->figure, important[k]) != 0)
				continue;
			if (!is_nothing(figure))
				ret_rows[count++] = figure;
			break;
		}
	return count;
}

static bool has_intervals(const struct nm_compared *figure)
{
	return figure->has_now_ci && figure->has_before_ci;
}

/* By more than runs do by themselves. */
static bool differs(const struct nm_compared *figure)
{
	return has_intervals(figure) && !figure->overlap;
}

/* One that is infinite, or of a single run. */
static bool is_unsure(const struct nm_compared *figure)
{
	return figure->has_now && figure->has_before && !has_intervals(figure);
}

/* Names those rows behind the text; returns how many there are. */
static size_t print_those(const struct nm_compared *const *rows, size_t count,
			  bool (*is_one)(const struct nm_compared *), const char *text, FILE *out)
{
	size_t n = 0;

	for (size_t i = 0; i < count; i++) {
		if (!is_one(rows[i]))
			continue;
		fprintf(out, "%s%s", n++ ? ", " : text, rows[i]->figure);
		if (rows[i]->has_change)
			fprintf(out, " %+.1f %%", rows[i]->change);
	}
	return n;
}

static void print_verdict(const struct nm_comparison *comparison,
			  const struct nm_compared *const *rows, size_t count, FILE *out)
{
	bool any = false;

	for (size_t i = 0; i < count; i++)
		any |= has_intervals(rows[i]);
	if (comparison->n_now < 2 || comparison->n_before < 2) {
		nm_print_line(out, "  verdict: none: one run on a side tells nothing of chance; "
				   "--repeat both");
		return;
	}
	if (!any) {
		nm_print_line(out, "  verdict: none: no row has an interval on both sides");
		return;
	}
	if (!print_those(rows, count, differs, "  verdict: beyond the intervals of both: ", out))
		fputs("  verdict: within the intervals of both: changes may be chance", out);
	(void)print_those(rows, count, is_unsure, "; without an interval: ", out);
	fputc('\n', out);
}

void nm_comparison_print(const struct nm_runs *series, FILE *out)
{
	const struct nm_comparison *comparison = nm_runs_comparison(series);
	struct nm_table table = {.align = "lrrrl", .width = nm_runs_view(series)->width};
	const struct nm_compared *rows[MOST_ROWS];

	if (!comparison)
		return;
	size_t count = choose(comparison, rows);

	fputc('\n', out);
	nm_print_line(out, "  compared with %s: run %.12s of %.19sZ", comparison->path,
		      comparison->run_id ? comparison->run_id : "-",
		      comparison->start ? comparison->start : "-");
	for (size_t i = 0; i < comparison->n_notes; i++)
		nm_print_line(out, "  note: %s", comparison->notes[i]);
	nm_table_head(&table, "figure|before|now|change|");
	for (size_t i = 0; i < count; i++)
		add_row(&table, rows[i]);
	nm_table_end(&table, 2, out);
	print_verdict(comparison, rows, count, out);
	nm_print_line(out, "  --format json compares all %zu figures", comparison->n_figures);
}
