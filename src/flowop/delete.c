/* SPDX-License-Identifier: Apache-2.0 */
/* delete: a key and its value. */
#include "flowop/ask.h"

static const struct nm_opt delete_opts[] = {
	{.name = "keys",
	 .type = NM_TYPE_STRING,
	 .offset = offsetof(struct nm_opts_ask, keys),
	 .required = true,
	 .help = "the keyspace, by its name, of which each request has one key"},
	NM_OPT_END};

NM_FLOWOP_OF_VERB(delete, NM_VERB_DELETE, "has the server forget a key and its value");
