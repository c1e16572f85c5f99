/* SPDX-License-Identifier: Apache-2.0 */
/* touch: gives a value another time to live. */
#include "flowop/key_opts.h"

static const struct nm_opt touch_opts[] = {NM_OPT_KEYS, NM_OPT_TTL, NM_OPT_END};

NM_FLOWOP_OF_VERB(
	touch, NM_VERB_TOUCH,
	"has a memcached keep a key for `ttl` from now on; one that is not there is a miss");
