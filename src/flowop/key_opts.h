/* SPDX-License-Identifier: Apache-2.0 */
/* Options that several verbs with keys have alike. */
#ifndef NM_FLOWOP_KEY_OPTS_H
#define NM_FLOWOP_KEY_OPTS_H

#include "app/batch.h"
#include "flowop/ask.h"

#define NM_OPT_KEYS                                                                                \
	{                                                                                          \
		.name = "keys", .type = NM_TYPE_STRING,                                            \
		.offset = offsetof(struct nm_opts_ask, keys), .required = true,                    \
		.help = "the keyspace, by its name, of which each request has one key"             \
	}

#define NM_OPT_VERIFY                                                                              \
	{                                                                                          \
		.name = "verify", .type = NM_TYPE_FLAG,                                            \
		.offset = offsetof(struct nm_opts_ask, verify),                                    \
		.help = "compare the value with the one that set stores"                           \
	}

#define NM_OPT_BATCH(sentence)                                                                     \
	{                                                                                          \
		.name = "batch", .type = NM_TYPE_COUNT,                                            \
		.offset = offsetof(struct nm_opts_ask, batch), .min = 1, .max = NM_BATCH_MAX,      \
		.def = "1", .help = sentence                                                       \
	}

#define NM_OPT_VALUE_SIZE                                                                          \
	{                                                                                          \
		.name = "size", .type = NM_TYPE_SIZES,                                             \
		.offset = offsetof(struct nm_opts_ask, size), .max = UINT64_C(1) << 30,            \
		.def = "64", .help = "bytes of the value; a law draws them anew each time"         \
	}

#define NM_OPT_TTL                                                                                 \
	{                                                                                          \
		.name = "ttl", .type = NM_TYPE_DURATION,                                           \
		.offset = offsetof(struct nm_opts_ask, ttl_ns),                                    \
		.help = "for how long the server is to keep it, rounded up to seconds, up to 30 "  \
			"days; 0: as long as it likes; netmodel's own server keeps it all the "    \
			"same",                                                                    \
		.max = UINT64_C(30) * 86400 * 1000000000                                           \
	}

#define NM_OPT_VALUE_FLAGS                                                                         \
	{                                                                                          \
		.name = "flags", .type = NM_TYPE_COUNT,                                            \
		.offset = offsetof(struct nm_opts_ask, flags), .max = UINT32_MAX, .def = "0",      \
		.help = "the number that memcached keeps beside the value"                         \
	}

#define NM_OPT_BY                                                                                  \
	{                                                                                          \
		.name = "by", .type = NM_TYPE_COUNT, .offset = offsetof(struct nm_opts_ask, by),   \
		.max = UINT64_MAX, .def = "1", .help = "by how much"                               \
	}

#endif
