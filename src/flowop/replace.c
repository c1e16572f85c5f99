/* SPDX-License-Identifier: Apache-2.0 */
/* replace: stores a value where there is one. */
#include "flowop/key_opts.h"

static const struct nm_opt replace_opts[] = {NM_OPT_KEYS, NM_OPT_VALUE_SIZE, NM_OPT_TTL,
					     NM_OPT_VALUE_FLAGS, NM_OPT_END};

NM_FLOWOP_OF_VERB(replace, NM_VERB_REPLACE,
		  "stores a value of `size` bytes under a key of a memcached that is there; one "
		  "that is not is a miss");
