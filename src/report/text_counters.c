/* SPDX-License-Identifier: Apache-2.0 */
/* Counters of the CPU in tables for people. */
#include "report/text_parts.h"

#include "report/quantity.h"
#include "report/table.h"

void nm_text_counters_print(const struct nm_result *result, unsigned width, unsigned indent,
			    FILE *out)
{
	struct nm_table table = {.align = "llrrrl", .width = width};
	char share[32];

	nm_table_head(&table, "Counter|host|user|kernel|total|");
	for (size_t h = 0; h < result->n_hosts; h++) {
		const struct nm_result_host *host = &result->hosts[h];

		for (size_t i = 0; i < host->counters.count; i++) {
			const struct nm_perf_value *value = &host->counters.items[i];

			nm_table_text(&table, value->name);
			nm_table_text(&table, host->name);
			nm_table_count(&table, value->has_user, value->user);
			nm_table_count(&table, value->has_kernel, value->kernel);
			nm_table_count(&table, value->has_total, value->total);
			if (!value->has_total)
				nm_table_cell(&table, "not available: %s", value->why);
			else if (value->share < 1)
				nm_table_cell(&table, "counted %s of the time",
					      nm_share_format(value->share, share, sizeof(share)));
			else
				nm_table_text(&table, "");
		}
	}
	fputc('\n', out);
	nm_table_end(&table, indent, out);
}
