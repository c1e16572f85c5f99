/* SPDX-License-Identifier: Apache-2.0 */
/* gat: the value of a key, which gets another time to live. */
#include "flowop/key_opts.h"

static const struct nm_opt gat_opts[] = {NM_OPT_KEYS, NM_OPT_TTL, NM_OPT_VERIFY, NM_OPT_END};

NM_FLOWOP_OF_VERB(
	gat, NM_VERB_GAT,
	"asks a memcached for the value of a key, and has it keep it for `ttl` from now on");
