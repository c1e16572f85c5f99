/* SPDX-License-Identifier: Apache-2.0 */
/* The table of the steps of arrivals: what was due in each, and how it was answered. */
#include <string.h>

#include "base/units.h"
#include "report/common.h"
#include "report/steps.h"
#include "report/table.h"
#include "report/text_parts.h"
#include "report/text_traffic.h"
#include "result/pool.h"

#define TEXT   NM_TEXT_BYTES
#define COUNTS 7 /* columns before those of times */

/* The times of a row, and how their columns are called. */
static const struct {
	enum nm_time time;
	const char *name;
} times[] = {
	{NM_TIME_RESPONSE, "response"}, {NM_TIME_LATENCY, "service"}, {NM_TIME_SEND_DELAY, "late"}};
#define N_TIMES (sizeof times / sizeof *times)

/* What the tables are of. */
struct shown {
	const struct nm_result *result;
	unsigned width;
	bool all_runs, named;	    /* result is a pool; rows have the names of their groups */
	size_t places[2], n_places; /* of the percentiles */
};

static void add_heads(struct nm_table *table, const struct shown *shown)
{
	char key[TEXT];

	nm_table_text(table, shown->all_runs ? "step, all runs" : "step");
	nm_table_head(table, "asked/s|due/s|done/s|due|sent|answered|failed");
	for (size_t t = 0; t < N_TIMES; t++)
		for (size_t i = 0; i < shown->n_places; i++)
			nm_table_cell(
				table, "%s %s", times[t].name,
				nm_percentile_key(shown->result->percentiles.pct[shown->places[i]],
						  key, sizeof(key)));
	nm_table_text(table, "load");
}

static void add_rate(struct nm_table *table, double per_s)
{
	char text[TEXT];

	nm_table_text(table, nm_format_count(per_s, text, sizeof(text)));
}

/* Names stand before the number of the step where they are needed to tell rows apart. */
static void add_row(struct nm_table *table, const struct shown *shown, const char *group,
		    const char *transaction, const struct nm_step_row *row)
{
	const struct nm_window *window = &row->step.window;

	nm_table_cell(table, "%s%s%s%s%u", group, *group ? " " : "", transaction,
		      *transaction ? " " : "", (unsigned)row->step.number + 1);
	add_rate(table, row->step.planned_per_s);
	add_rate(table, row->load.offered_per_s);
	add_rate(table, row->load.achieved_per_s);
	nm_table_count(table, true, row->load.due);
	nm_table_count(table, true, window->counts.arrivals);
	nm_table_count(table, true, window->counts.iterations);
	nm_table_count(table, true, row->load.failed);
	for (size_t t = 0; t < N_TIMES; t++) {
		const struct nm_latency *latency = &window->times[times[t].time];

		for (size_t i = 0; i < shown->n_places; i++)
			nm_table_time(table, latency->count, latency->pct_s[shown->places[i]]);
	}
	nm_table_text(table, row->load.name);
}

static bool has_several(const struct nm_result_group *group)
{
	size_t n = 0;

	for (size_t k = 0; k < group->n_phases; k++)
		n += group->phases[k].n_steps > 0;
	return n > 1;
}

static void print_phase(const struct shown *shown, const struct nm_result_group *group,
			const struct nm_result_phase *phase, FILE *out)
{
	const char *of_group = shown->named && group->name ? group->name : "";
	const char *of_phase = has_several(group) && phase->name ? phase->name : "";
	char align[COUNTS + 2 * N_TIMES + 3] = "l";
	struct nm_table table = {.align = align, .width = shown->width};
	struct nm_step_row row;
	bool any = false;

	memset(align + 1, 'r', COUNTS + N_TIMES * shown->n_places + 1);
	align[1 + COUNTS] = 'R';
	add_heads(&table, shown);
	for (size_t i = 0; i < phase->n_steps; i++) {
		if (!nm_step_row(shown->result, group, &phase->steps[i], &row))
			continue;
		add_row(&table, shown, of_group, of_phase, &row);
		any = true;
	}
	nm_table_section(&table, any, out);
}

static void print_all(const struct shown *shown, FILE *out)
{
	const struct nm_result *result = shown->result;

	for (size_t g = 0; g < result->n_groups; g++)
		for (size_t k = 0; k < result->groups[g].n_phases; k++)
			print_phase(shown, &result->groups[g], &result->groups[g].phases[k], out);
}

void nm_text_steps_print(const struct nm_runs *series, unsigned width, FILE *out)
{
	const struct nm_result *last = nm_runs_last(series);
	struct shown shown = {.result = last, .width = width, .named = last->n_groups > 1};
	struct nm_result pool;

	shown.n_places = nm_text_row_percentiles(&last->percentiles, shown.places);
	if (series->n_runs < 2 || !nm_has_step_rows(last)) {
		print_all(&shown, out);
		return;
	}
	shown.all_runs = true;
	shown.result = &pool;
	if (nm_steps_pool(series, &pool) == 0)
		print_all(&shown, out);
	nm_pool_fini(&pool);
}
