/* SPDX-License-Identifier: Apache-2.0 */
/* set: stores a value. */
#include "flowop/key_opts.h"

static const struct nm_opt set_opts[] = {
	NM_OPT_KEYS,
	NM_OPT_VALUE_SIZE,
	NM_OPT_TTL,
	NM_OPT_VALUE_FLAGS,
	NM_OPT_BATCH(
		"so many values of one size are stored with one request, each under a key that is "
		"drawn by itself; of memcache_meta and memcache_binary alone, which answer those "
		"that they refuse (quiet), and then that all are taken. Each is ok or refused, and "
		"the request has one latency"),
	NM_OPT_END};

NM_FLOWOP_OF_VERB(set, NM_VERB_SET, "stores a value of `size` bytes under a key");
