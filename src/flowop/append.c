/* SPDX-License-Identifier: Apache-2.0 */
/* append: adds to a value. */
#include "flowop/key_opts.h"

static const struct nm_opt append_opts[] = {NM_OPT_KEYS, NM_OPT_VALUE_SIZE, NM_OPT_END};

NM_FLOWOP_OF_VERB(append, NM_VERB_APPEND,
		  "adds `size` bytes behind the value of a key of a memcached; a key that is not "
		  "there is a miss");
