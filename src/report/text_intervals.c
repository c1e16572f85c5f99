/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of the reporting intervals for people, all groups together and each group. */
#include "report/text_parts.h"

#include "report/common.h"
#include "report/table.h"
#include "report/text_traffic.h"

#define TEXT NM_TEXT_BYTES

/* group NULL: the table has no column of groups. */
static void add_row(struct nm_table *table, const struct nm_result_interval *row, const char *group,
		    const struct nm_window *window)
{
	const struct nm_counts *counts = &window->counts;
	bool cut = row->part != NM_PART_MEASURED;
	char text[TEXT];

	nm_table_cell(table, "%.3f-%.3f s", row->from_s, row->to_s);
	if (group)
		nm_table_text(table, group);
	nm_table_text(table, nm_text_rate(counts->iterations, window->seconds, text));
	nm_table_text(table, nm_text_way(counts->bytes_sent, window->seconds, text));
	nm_table_text(table, nm_text_way(counts->bytes_received, window->seconds, text));
	nm_table_time(table, window->latency.count, window->latency.mean_s);
	nm_table_time(table, window->latency.count, window->latency.max_s);
	nm_table_text(table, cut ? nm_part_name(row->part) : "");
}

/* The rows of one transaction; times are since it began. */
static void print_phase(const struct nm_result *result, size_t first, size_t end, unsigned width,
			FILE *out)
{
	bool groups = result->intervals[first].n_groups > 0;
	struct nm_table table = {.align = groups ? "llrrrrrl" : "lrrrrrl", .width = width};

	nm_table_head(&table, groups ? "interval|group" : "interval");
	nm_table_head(&table, "transactions/s|sent|received|mean|max|");
	for (size_t i = first; i < end; i++) {
		const struct nm_result_interval *row = &result->intervals[i];

		add_row(&table, row, groups ? "all" : NULL, &row->window);
		for (size_t g = 0; groups && g < row->n_groups; g++)
			add_row(&table, row, result->groups[g].name ? result->groups[g].name : "",
				&row->groups[g]);
	}
	nm_table_end(&table, 2, out);
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
