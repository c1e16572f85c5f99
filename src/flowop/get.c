/* SPDX-License-Identifier: Apache-2.0 */
/* get: the value of a key. */
#include "flowop/key_opts.h"

static const struct nm_opt get_opts[] = {
	NM_OPT_KEYS,
	NM_OPT_VERIFY,
	NM_OPT_BATCH(
		"so many keys are asked for with one request, each drawn by itself; of memcached "
		"alone. Each is a hit, a miss or refused, and the request has one latency"),
	{.name = "unique",
	 .type = NM_TYPE_FLAG,
	 .offset = offsetof(struct nm_opts_ask, unique),
	 .help = "memcached is to say the number of the value, too, which changes with it; a cas "
		 "behind it sends that back"},
	NM_OPT_END};

NM_FLOWOP_OF_VERB(get, NM_VERB_GET, "asks for the value of a key");
