/* SPDX-License-Identifier: Apache-2.0 */
/* Replacing connections that will not last, between two passes of their flow. All on the worker's
 * thread, unless said otherwise. */
#ifndef NM_ENGINE_PHASE_RECONNECT_H
#define NM_ENGINE_PHASE_RECONNECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "flowop/flow.h"

struct nm_conn;
struct nm_flow;
struct nm_instr;
struct nm_worker;

/* A worker's connections that are to be replaced. */
struct nm_reconnect {
	uint32_t taken; /* how many commands to replace them all were taken */
	/* connections still to be replaced; of a leader, in a phase where they can be */
	uint32_t pending;
	struct nm_timer timer; /* when to look for flows whose connections have expired */
	/* owned; by opening, NM_REOPEN__COUNT each: the program that opens a connection anew; NULL:
	 * none can be replaced */
	struct nm_instr *openings;
	struct nm_retry *retries; /* owned; by the worker's number of the flow: retry.c */
};

/* Makes the worker's programs that open a connection anew, before it starts; nm_worker_fini frees
 * them. 0 or -ENOMEM. */
int nm_reconnect_init(struct nm_worker *worker);
void nm_reconnect_fini(struct nm_reconnect *reconnect);
/* Takes the control thread's command: marks the connections that are open, and replaces those of
 * flows that wait for their next pass to be due. Does nothing when there is none. */
void nm_reconnect_command(struct nm_worker *worker);
/* Counts the connections to replace in the phase that begins, and watches those that have
 * expired. */
void nm_reconnect_count(struct nm_worker *worker);
/* The flow is about to begin a pass. True: it replaces a connection first, and is queued. */
bool nm_reconnect_before_pass(struct nm_worker *worker, struct nm_flow *flow);
enum nm_reconnect_answer {
	NM_RECONNECT_NO,    /* the step has failed */
	NM_RECONNECT_BEGUN, /* a connection is being replaced, and the flow is queued */
	NM_RECONNECT_DONE,  /* the connection has been replaced: the flow may go on where it was */
};
/* The step at instr has answered FAIL. That is no failure where the
 * connection is to be replaced, or where it has been replaced. */
enum nm_reconnect_answer nm_reconnect_goes_on(struct nm_worker *worker, struct nm_flow *flow,
					      const struct nm_instr *instr);
/* Whether conn, which is open, is dead because it was not replaced in time; then the phrase in
 * `why` says so. */
bool nm_reconnect_expired(const struct nm_worker *worker, const struct nm_conn *conn, char *why,
			  size_t why_size);
/* Whether the flow waits for a connection that has expired. */
bool nm_reconnect_is_in_vain(const struct nm_worker *worker, const struct nm_flow *flow);
/* Sets the timer, which has the worker look at expired connections once more when it fires; or
 * lifts it. */
void nm_reconnect_watch(struct nm_worker *worker);

#endif
