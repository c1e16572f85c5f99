/* SPDX-License-Identifier: Apache-2.0 */
/* What hosts have cost, for people who ask for the statistics of the machine. */
#include <math.h>

#include "base/units.h"
#include "report/costs.h"
#include "report/table.h"

const struct nm_cost_form nm_cost_forms[NM_COST__COUNT] = {
#define FORM(word, its_name, its_label, its_format, doc)                                           \
	[NM_COST_##word] = {.label = its_label, .format = its_format},
	NM_COSTS(FORM)
#undef FORM
};

void nm_text_costs_print(const struct nm_result *result, unsigned width, FILE *out)
{
	struct nm_table table = {.align = "llr", .width = width};
	bool any = false;
	char text[32];

	if (!(result->statistics & NM_STAT_INTERFACES))
		return;
	nm_table_head(&table, "cost|host|value");
	for (size_t h = 0; h < result->n_hosts; h++) {
		const struct nm_result_host *host = &result->hosts[h];
		struct nm_costs costs;

		nm_costs_of(result, host, &costs);
		for (size_t k = 0; k < NM_COST__COUNT; k++) {
			if (isnan(costs.value[k]))
				continue;
			any = true;
			nm_table_text(&table, nm_cost_forms[k].label);
			nm_table_text(&table, host->name);
			nm_table_text(&table,
				      nm_cost_forms[k].format(costs.value[k], text, sizeof(text)));
		}
	}
	nm_table_section(&table, any, out);
}
