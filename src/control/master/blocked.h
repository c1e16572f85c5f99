/* SPDX-License-Identifier: Apache-2.0 */
/* Finds connections of the traffic that are not answered though the control connection works, and
 * says which ports they go to and what can be done. Pure. */
#ifndef NM_CONTROL_MASTER_BLOCKED_H
#define NM_CONTROL_MASTER_BLOCKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/places.h"
#include "plan/plan.h"

/* The flows of one host that wait to be connected with one other; all borrowed. */
struct nm_blocked {
	const struct nm_flow_places *places; /* of the host that connects */
	const struct nm_plan *plan;	     /* its plan */
	uint32_t host;			     /* the other one, by its number in that plan */
	const char *slave;		     /* the address of the slave */
	/* the address of the master, where the slave connects to it; NULL: the master connects */
	const char *master;
	uint64_t limit_ns;    /* how long they have waited at least */
	const char *file;     /* the profile's name in messages */
	const char *fix_port; /* the option that chooses the port; NULL: the profile has none */
};

/* Whether there are any: flows in a connect whose own limit, where it has one, is not longer. */
bool nm_blocked_any(const struct nm_blocked *blocked);
/* Says so of those that there are. Returns buf. */
char *nm_blocked_text(const struct nm_blocked *blocked, char *buf, size_t size);

#endif
