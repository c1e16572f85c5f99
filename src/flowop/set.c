/* SPDX-License-Identifier: Apache-2.0 */
/* set: stores a value. */
#include "flowop/ask.h"

static const struct nm_opt set_opts[] = {
	{.name = "keys",
	 .type = NM_TYPE_STRING,
	 .offset = offsetof(struct nm_opts_ask, keys),
	 .required = true,
	 .help = "the keyspace, by its name, of which each request has one key"},
	{.name = "size",
	 .type = NM_TYPE_SIZES,
	 .offset = offsetof(struct nm_opts_ask, size),
	 .max = UINT64_C(1) << 30,
	 .def = "64",
	 .help = "bytes of the value; a law draws them anew each time"},
	{.name = "ttl",
	 .type = NM_TYPE_DURATION,
	 .offset = offsetof(struct nm_opts_ask, ttl_ns),
	 .help = "for how long the server is to keep it, rounded up to seconds, up to 30 days; "
		 "0: as long as it likes; netmodel's own server keeps it all the same",
	 .max = UINT64_C(30) * 86400 * 1000000000},
	{.name = "flags",
	 .type = NM_TYPE_COUNT,
	 .offset = offsetof(struct nm_opts_ask, flags),
	 .max = UINT32_MAX,
	 .def = "0",
	 .help = "the number that memcached keeps beside the value"},
	NM_OPT_END};

NM_FLOWOP_OF_VERB(set, NM_VERB_SET, "stores a value of `size` bytes under a key");
