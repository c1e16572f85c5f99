/* SPDX-License-Identifier: Apache-2.0 */
/* get: the value of a key. */
#include "flowop/key_opts.h"

static const struct nm_opt get_opts[] = {NM_OPT_KEYS,
					 {.name = "verify",
					  .type = NM_TYPE_FLAG,
					  .offset = offsetof(struct nm_opts_ask, verify),
					  .help = "compare the value with the one that set stores"},
					 NM_OPT_END};

NM_FLOWOP_OF_VERB(get, NM_VERB_GET, "asks for the value of a key");
