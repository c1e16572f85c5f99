/* SPDX-License-Identifier: Apache-2.0 */
/* Turns of recorded requests: a part of a worker's means (io.h). */
#ifndef NM_TRANSPORT_TURNS_H
#define NM_TRANSPORT_TURNS_H

#include <stdbool.h>
#include <stdint.h>

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

#endif
