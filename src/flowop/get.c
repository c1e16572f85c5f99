/* SPDX-License-Identifier: Apache-2.0 */
/* get: the value of a key. */
#include "flowop/ask.h"

static const struct nm_opt get_opts[] = {
	{.name = "keys",
	 .type = NM_TYPE_STRING,
	 .offset = offsetof(struct nm_opts_ask, keys),
	 .required = true,
	 .help = "the keyspace, by its name, of which each request has one key"},
	{.name = "verify",
	 .type = NM_TYPE_FLAG,
	 .offset = offsetof(struct nm_opts_ask, verify),
	 .help = "compare the value with the one that set stores"},
	NM_OPT_END};

NM_FLOWOP_OF_VERB(get, NM_VERB_GET, "asks for the value of a key");
