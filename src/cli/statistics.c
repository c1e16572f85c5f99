/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli.h"

unsigned nm_cli_statistics(const struct nm_args *args)
{
	const struct {
		bool asked;
		unsigned statistics;
	} words[] = {
		{args->all_statistics, NM_STAT_ALL},
		{args->flowops, NM_STAT_FLOWOPS},
		{args->transactions, NM_STAT_TRANSACTIONS},
		{args->groups, NM_STAT_GROUPS},
		{args->strands, NM_STAT_STRANDS},
		{args->interfaces, NM_STAT_INTERFACES},
		{args->flowop_cpu, NM_STAT_FLOWOPS | NM_STAT_FLOWOP_CPU},
		{args->default_counters || args->counters, NM_STAT_COUNTERS},
		{args->raw, NM_STAT_RAW},
	};
	unsigned statistics = 0;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]) && !args->no_statistics; i++)
		if (words[i].asked)
			statistics |= words[i].statistics;
	/* A file that was asked for by name is no statistic. */
	return args->response_log ? statistics | NM_STAT_RESPONSES : statistics;
}
