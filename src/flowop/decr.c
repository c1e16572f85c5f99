/* SPDX-License-Identifier: Apache-2.0 */
/* decr: counts a value down. */
#include "flowop/key_opts.h"

static const struct nm_opt decr_opts[] = {NM_OPT_KEYS, NM_OPT_BY, NM_OPT_END};

NM_FLOWOP_OF_VERB(decr, NM_VERB_DECR,
		  "takes from the number that the value of a key of a memcached is, down to 0; a "
		  "key that is not there is a miss");
