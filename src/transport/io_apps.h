/* SPDX-License-Identifier: Apache-2.0 */
/* What a worker has for connections that speak an application protocol: whom they ask, what they
 * send, and where it is counted. */
#ifndef NM_TRANSPORT_IO_APPS_H
#define NM_TRANSPORT_IO_APPS_H

#include <stdbool.h>
#include <stdint.h>

#include "transport/turns.h"

struct nm_addr;
struct nm_app_service;
struct nm_greetings;
struct nm_pool;
struct nm_verb_tally;

/* The servers of an opening that are not netmodel: flow i goes to number i modulo their number. */
struct nm_servers {
	uint32_t count; /* 0: the other end is netmodel's */
	struct nm_addr *addrs;
	struct nm_greetings *greetings; /* what connections begin with (app/session.h); or NULL */
};

/* Of groups whose connections speak an application protocol (app/app.h). */
struct nm_io_apps {
	struct nm_verb_tally *verbs;	  /* by instr->ask.verb; NULL: nothing asks in the phase */
	const struct nm_pool *pool;	  /* of payloads */
	const struct nm_servers *servers; /* by instr->opening */
	const struct nm_app_service *services; /* the same */
	uint32_t n_flows;		       /* of the group */
	struct nm_turns turns;		       /* of what is recorded */
	uint64_t draws; /* in this phase, the key of what passes draw from their arrivals */
	bool sums_load; /* the load_sum is of this phase, too: it is measured */
};

#endif
