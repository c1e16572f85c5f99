/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of the reporting intervals for people, all groups together and each group. */
#include "report/text_intervals.h"

#include "base/units.h"
#include "report/common.h"
#include "report/table.h"
#include "report/text_traffic.h"

#define TEXT NM_TEXT_BYTES

static void add_time(struct nm_table *table, const struct nm_latency *latency, double seconds)
{
	char text[TEXT];

	nm_table_cell(table, "%s",
		      latency->count ? nm_format_duration(seconds, text, sizeof(text)) : "-");
}

/* group NULL: the table has no column of groups. */
static void add_row(struct nm_table *table, const struct nm_result_interval *row, const char *group,
		    const struct nm_window *window)
{
	const struct nm_counts *counts = &window->counts;
	bool cut = row->part != NM_PART_MEASURED;
	char text[TEXT];

	nm_table_cell(table, "%.3f-%.3f s", row->from_s, row->to_s);
	if (group)
		nm_table_cell(table, "%s", group);
	nm_table_cell(table, "%s", nm_text_rate(counts->iterations, window->seconds, text));
	nm_table_cell(table, "%s", nm_text_way(counts->bytes_sent, window->seconds, text));
	nm_table_cell(table, "%s", nm_text_way(counts->bytes_received, window->seconds, text));
	add_time(table, &window->latency, window->latency.mean_s);
	add_time(table, &window->latency, window->latency.max_s);
	nm_table_cell(table, "%s", cut ? nm_part_name(row->part) : "");
}

/* The rows of one transaction; times are since it began. */
static void print_phase(const struct nm_result *result, size_t first, size_t end, unsigned width,
			FILE *out)
{
	static const char *const names[] = {
		"interval", "group", "transactions/s", "sent", "received", "mean", "max", ""};
	bool groups = result->intervals[first].n_groups > 0;
	struct nm_table table = {.align = groups ? "llrrrrrl" : "lrrrrrl", .width = width};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (i != 1 || groups)
			nm_table_cell(&table, "%s", names[i]);
	for (size_t i = first; i < end; i++) {
		const struct nm_result_interval *row = &result->intervals[i];

		add_row(&table, row, groups ? "all" : NULL, &row->window);
		for (size_t g = 0; groups && g < row->n_groups; g++)
			add_row(&table, row, result->groups[g].name ? result->groups[g].name : "",
				&row->groups[g]);
	}
	nm_table_print(&table, 2, out);
	nm_table_fini(&table);
	fputc('\n', out);
}

void nm_text_intervals_print(const struct nm_result *result, unsigned width, FILE *out)
{
	for (size_t first = 0, end; first < result->n_intervals; first = end) {
		for (end = first + 1; !nm_interval_is_last(result, &result->intervals[end - 1]);)
			end++;
		print_phase(result, first, end, width, out);
	}
}
