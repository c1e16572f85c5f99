/* SPDX-License-Identifier: Apache-2.0 */
/* The table of measured flows: a row of completion times and one of slowdowns for each class of
 * sizes. */
#include "report/text_parts.h"

#include <string.h>

#include "base/units.h"
#include "report/table.h"
#include "report/text_traffic.h"

#define TEXT	32
#define LEADING 4 /* columns before the percentiles */

static const char *text_of(double value, bool is_time, char *buf)
{
	if (is_time)
		return nm_format_duration(value, buf, TEXT);
	snprintf(buf, TEXT, "%.*f", value < 100 ? 2 : 0, value);
	return buf;
}

static void add_row(struct nm_table *table, const struct nm_result *result, enum nm_time time,
		    bool is_time)
{
	const struct nm_latency *latency = nm_window_time(&result->totals, time);
	char text[TEXT];

	if (!latency->count)
		return;
	nm_table_text(table, nm_time_labels[time]);
	nm_table_cell(table, "%s%s", is_time ? "complete" : "slowdown",
		      nm_text_mark(&result->totals, time));
	nm_table_count(table, true, latency->count);
	nm_table_text(table, text_of(latency->mean_s, is_time, text));
	for (size_t i = 0; i < result->percentiles.count; i++)
		nm_table_text(table, text_of(latency->pct_s[i], is_time, text));
}

/* By which flows were judged, where that was measured. */
static void print_idle_paths(const struct nm_result *result, unsigned width, FILE *out)
{
	struct nm_table table = {.align = "lrr", .width = width};
	char text[TEXT];
	bool any = false;

	nm_table_head(&table, "on the idle path|bytes|ideal");
	for (size_t g = 0; g < result->n_groups; g++)
		for (size_t k = 0; k < result->groups[g].n_phases; k++) {
			const struct nm_idle_path *idle = &result->groups[g].phases[k].idle;

			for (size_t i = 0; i < idle->count; i++) {
				nm_table_text(&table, result->groups[g].name);
				nm_table_count(&table, true, idle->sizes[i].bytes);
				nm_table_text(&table, nm_format_duration(idle->sizes[i].seconds,
									 text, sizeof text));
				any = true;
			}
		}
	nm_table_section(&table, any, out);
}

void nm_text_flows_print(const struct nm_result *result, unsigned width, FILE *out)
{
	char align[LEADING + NM_RESULT_MAX_PERCENTILES + 1] = "llrr";
	struct nm_table table = {.align = align, .width = width};

	if (!result->totals.sized)
		return;
	memset(align + LEADING, 'r', result->percentiles.count);
	nm_table_head(&table, "flow size||flows|mean");
	nm_text_percentiles(&table, &result->percentiles);
#define TIME_ROW(more, NAME, ...)  add_row(&table, result, NM_TIME_##NAME, true);
#define RATIO_ROW(more, NAME, ...) add_row(&table, result, NM_TIME_##NAME, false);
	NM_SIZED_TIMES(TIME_ROW, RATIO_ROW, )
#undef TIME_ROW
#undef RATIO_ROW
	nm_table_section(&table, true, out);
	print_idle_paths(result, width, out);
}
