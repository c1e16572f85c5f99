/* SPDX-License-Identifier: Apache-2.0 */
/* The options that every flowop has: their table. */
#include "flowop/common.h"

#include <stddef.h>

#define COMMON(field) offsetof(struct nm_common_opts, field)

const struct nm_opt nm_common_opts[] = {
	{.name = "conn",
	 .type = NM_TYPE_COUNT,
	 .offset = COMMON(conn),
	 .min = 1,
	 .max = UINT32_MAX,
	 .help = "the number of the connection that it opens, uses or closes; without it, one that "
		 "has no number"},
	{.name = "remotehost",
	 .type = NM_TYPE_HOST,
	 .offset = COMMON(remotehost),
	 .with_port = true,
	 .help = "use a connection to this host; on think and nop: the only host that takes part"},
	{.name = "count",
	 .type = NM_TYPE_COUNT,
	 .offset = COMMON(count),
	 .max = UINT32_MAX,
	 .def = "1",
	 .help = "how often it is done in each pass; 0: never"},
	{.name = "repeat",
	 .type = NM_TYPE_COUNT,
	 .offset = COMMON(repeat),
	 .min = 1,
	 .max = UINT32_MAX,
	 .def = "1",
	 .help = "messages of one operation, over protocols that keep messages apart (udp, sctp)"},
	{.name = "batch_size",
	 .type = NM_TYPE_COUNT,
	 .offset = COMMON(batch),
	 .min = 1,
	 .max = 1024,
	 .def = "1",
	 .help = "messages that are moved one behind the other, over protocols that keep messages "
		 "apart (udp, sctp); over udp with one system call, or a few"},
	{.name = "timeout",
	 .type = NM_TYPE_DURATION,
	 .offset = COMMON(timeout_ns),
	 .alias = "poll_timeout",
	 .help = "the longest that it may wait at a time; then it has failed, but where messages "
		 "may be lost it "
		 "is counted and the flow goes on"},
	{.name = "canfail",
	 .type = NM_TYPE_FLAG,
	 .offset = COMMON(can_fail),
	 .help = "its failures are counted, and end nothing"},
	{.name = "when",
	 .type = NM_TYPE_STRING,
	 .offset = COMMON(when),
	 .help = "yes or no, or several of them, separated by commas: it is a part of the profile "
		 "only if "
		 "all are yes"},
	{.name = "unless",
	 .type = NM_TYPE_STRING,
	 .offset = COMMON(unless),
	 .help = "the same: it is a part of the profile only if none is yes"},
	{.name = "non_blocking",
	 .type = NM_TYPE_FLAG,
	 .offset = COMMON(non_blocking),
	 .help = "has no effect: nothing ever blocks"},
	NM_OPT_END};

enum at { AT_BOTH, AT_MASTER, AT_SLAVE };

const char *const nm_at_words[] = {"both", "master", "slave", NULL};

bool nm_runs_at(int at, bool master)
{
	return at == AT_BOTH || (at == AT_MASTER) == master;
}
