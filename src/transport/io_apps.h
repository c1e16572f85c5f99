/* SPDX-License-Identifier: Apache-2.0 */
/* What a worker has for connections that speak an application protocol: whom they ask, what they
 * send, and where it is counted. */
#ifndef NM_TRANSPORT_IO_APPS_H
#define NM_TRANSPORT_IO_APPS_H

#include <stdbool.h>
#include <stdint.h>

struct nm_addr;
struct nm_app_service;
struct nm_greetings;
struct nm_pool;
struct nm_tally;
struct nm_verb_tally;

/* Whose turn it is of requests that were recorded (flowop/replay.h): written when a phase begins.
 * The flows of a worker share out among them those that its flows would have if each of all flows
 * had each n-th. */
struct nm_turns {
	uint64_t base;	    /* of the present round of all flows */
	uint32_t at;	    /* the flow whose turn it is; at first the worker's number */
	uint32_t n_workers; /* of the group */
	bool by_arrival;    /* it is the turn of that with the number of the arrival */
	uint64_t arrival;   /* that has begun last, from 0 */
};

/* The servers of an opening that are not netmodel: flow i goes to number i modulo their number. */
struct nm_servers {
	uint32_t count; /* 0: the other end is netmodel's */
	struct nm_addr *addrs;
	struct nm_greetings *greetings; /* what connections begin with (app/session.h); or NULL */
};

/* Of groups whose connections speak an application protocol (app/app.h). */
struct nm_io_apps {
	struct nm_verb_tally *verbs;	  /* by instr->ask.verb; NULL: nothing asks in the phase */
	const struct nm_due *due;	  /* of open arrivals: which passes are counted apart */
	const struct nm_pool *pool;	  /* of payloads */
	const struct nm_servers *servers; /* by instr->opening */
	const struct nm_app_service *services; /* the same */
	uint32_t n_flows;		       /* of the group */
	struct nm_turns turns;		       /* of what is recorded */
	uint64_t draws; /* in this phase, the key of what passes draw from their arrivals */
	bool sums_load; /* the load_sum is of this phase, too: it is measured */
};

#endif
