/* SPDX-License-Identifier: Apache-2.0 */
/* add: stores a value where there is none. */
#include "flowop/key_opts.h"

static const struct nm_opt add_opts[] = {NM_OPT_KEYS, NM_OPT_VALUE_SIZE, NM_OPT_TTL,
					 NM_OPT_VALUE_FLAGS, NM_OPT_END};

NM_FLOWOP_OF_VERB(add, NM_VERB_ADD,
		  "stores a value of `size` bytes under a key of a memcached that is not there; "
		  "one that is there is a miss");
