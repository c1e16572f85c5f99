/* SPDX-License-Identifier: Apache-2.0 */
/* Which statistics the flags ask for. */
#include "cli/cli.h"
#include "report/report.h"

unsigned nm_cli_statistics(const struct nm_args *args)
{
	const struct nm_args_statistics *asked = &args->statistics;
	const struct {
		bool given;
		unsigned statistics;
	} words[] = {
		{asked->all, NM_STAT_ALL},
		{asked->flowops, NM_STAT_FLOWOPS},
		{asked->transactions, NM_STAT_TRANSACTIONS},
		{asked->groups, NM_STAT_GROUPS},
		{asked->strands, NM_STAT_STRANDS},
		{asked->interfaces, NM_STAT_INTERFACES},
		{asked->flowop_cpu, NM_STAT_FLOWOPS | NM_STAT_FLOWOP_CPU},
		{asked->default_counters || asked->counters, NM_STAT_COUNTERS},
		{asked->raw, NM_STAT_RAW},
	};
	const struct nm_report *report = nm_report_find(args->output.format);
	unsigned statistics = asked->none ? 0 : report->shows;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]) && !asked->none; i++)
		if (words[i].given)
			statistics |= words[i].statistics;
	/* Where uperf counts events, it counts them for each flowop. */
	if (report->has_lines && (statistics & NM_STAT_COUNTERS))
		statistics |= NM_STAT_FLOWOPS;
	return statistics;
}
