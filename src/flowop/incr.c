/* SPDX-License-Identifier: Apache-2.0 */
/* incr: counts a value up. */
#include "flowop/key_opts.h"

static const struct nm_opt incr_opts[] = {NM_OPT_KEYS, NM_OPT_BY, NM_OPT_END};

NM_FLOWOP_OF_VERB(incr, NM_VERB_INCR,
		  "adds to the number that the value of a key of a memcached is; a key that is not "
		  "there is a miss");
