/* SPDX-License-Identifier: Apache-2.0 */
/* One request of a flow, from when it is due to its outcome. It belongs to the flow, or to the ring
 * of those that the flow has outstanding, and so to one worker. */
#ifndef NM_FLOWOP_REQUEST_H
#define NM_FLOWOP_REQUEST_H

#include <stdint.h>

enum nm_request_outcome {
	NM_UNDER_WAY,  /* and, when the request ends: it was answered */
	NM_TIMEOUT,    /* it was waited for as long as the profile allows */
	NM_UNANSWERED, /* the server's end of the connection has failed before it was answered */
};

enum nm_request_marks {
	/* its end is recorded in more than the latency of the phase: nm_request_end */
	NM_REQUEST_RECORDED = 1 << 0,
	/* the message that it awaits first has not begun to come in time */
	NM_REQUEST_LATE = 1 << 1,
	/* it began while few others were under way: open arrivals */
	NM_REQUEST_LIGHT = 1 << 2,
	/* its pass was due in the warm-up or the cool-down: open arrivals */
	NM_REQUEST_OUTSIDE = 1 << 3,
	/* its pass was due in a step of the window: open arrivals whose rate is held in steps */
	NM_REQUEST_OF_STEP = 1 << 4,
	/* what comes of its pass is counted in a part of the phase: flowop/due.h */
	NM_REQUEST_APART = NM_REQUEST_OUTSIDE | NM_REQUEST_OF_STEP,
	/* the kernel has not taken the last of it at once, and nothing comes behind that: open
	 * arrivals */
	NM_REQUEST_REFUSED = 1 << 5,
};

/* Times are of CLOCK_MONOTONIC. */
struct nm_request {
	uint64_t due_ns;   /* by the schedule; without one: when the phase began */
	uint64_t sent_ns;  /* when this end began it; 0: not known */
	uint64_t think_ns; /* this end's think time within it, where it is recorded */
	union {
		struct {
			uint8_t outcome; /* enum nm_request_outcome */
			uint8_t marks;	 /* enum nm_request_marks */
		};
		uint16_t unusual; /* both; 0: only its latency is recorded */
	};
	/* The pass draws from its arrival, which has this number less 1; 0: from its flow, and its
	 * own number. */
	uint32_t arrival;
};

#endif
