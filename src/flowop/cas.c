/* SPDX-License-Identifier: Apache-2.0 */
/* cas: stores a value, if that which was read before is still there. */
#include "flowop/key_opts.h"

static const struct nm_opt cas_opts[] = {NM_OPT_KEYS, NM_OPT_VALUE_SIZE, NM_OPT_TTL,
					 NM_OPT_VALUE_FLAGS, NM_OPT_END};

NM_FLOWOP_OF_VERB(
	cas, NM_VERB_CAS,
	"stores a value of `size` bytes at a memcached under the key of the get with "
	"`unique` before it, unless that has another value by then; one that has, or is not "
	"there, is a miss");
