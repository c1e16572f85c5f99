/* SPDX-License-Identifier: Apache-2.0 */
/* The options that every flowop has. */
#ifndef NM_FLOWOP_COMMON_H
#define NM_FLOWOP_COMMON_H

#include <stdbool.h>
#include <stdint.h>

#include "base/opt.h"

struct nm_common_opts {
	char *remotehost;    /* "" when not given */
	char *when, *unless; /* NULL when not given */
	uint64_t conn;	     /* 0: an anonymous connection */
	uint64_t count, repeat, batch;
	uint64_t timeout_ns; /* 0: not given */
	bool can_fail, non_blocking;
};

extern const struct nm_opt nm_common_opts[];

/* The option `at` of flowops that one end may do alone, and whether it names the end. */
extern const char *const nm_at_words[];
bool nm_runs_at(int at, bool master);

#endif
