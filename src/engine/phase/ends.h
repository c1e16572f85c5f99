/* SPDX-License-Identifier: Apache-2.0 */
/* Ends of connections that a flow waits for in vain: the peer has reset its end, and the reset
 * was lost, which nobody repeats. The control thread has the worker look from time to time, so
 * that the waits themselves cost nothing more; the connection of a flow that has waited since the
 * look before is asked. Where resets are being lost it looks eagerly: as soon as so many passes
 * are done as flows have waited, and it does not wait as long as TCP would. What that finds may
 * only be late, as the peer is busy, and is no sign of a loss. On the worker's thread. */
#ifndef NM_ENGINE_PHASE_ENDS_H
#define NM_ENGINE_PHASE_ENDS_H

#include <stdbool.h>
#include <stdint.h>

struct nm_worker;

struct nm_ends {
	uint32_t told;	  /* how many of the control thread's commands are carried out */
	uint64_t looked;  /* passes that were done at the last look */
	uint64_t seen;	  /* and when there was a command last */
	uint32_t waiting; /* flows that waited for a reset at the last look, not asked before it */
	uint32_t asked;	  /* flows that waited after it, and whose connections had been asked */
	bool eager;	  /* it was an eager one */
};

/* What a look finds. */
struct nm_ends_found {
	uint32_t waiting; /* flows that wait for a reset, and whose connections were not asked */
	uint32_t asked;	  /* of them: whose connections are asked now */
	uint32_t open;	  /* flows whose connections were asked before, and are not over yet */
	uint32_t late;	  /* of them: where the peer's kernel still has the connection */
};

/* The phase begins. */
void nm_ends_begin(struct nm_worker *worker);
/* Looks, if the control thread has asked for it. */
void nm_ends_command(struct nm_worker *worker);
/* Takes what a look has found. Returns how many resets were lost: of connections that were asked at
 * the look before, which was not eager, and that are over now. */
uint32_t nm_ends_lost(struct nm_ends *ends, const struct nm_ends_found *found, bool eager);
/* How many connections of a phase that is over now have never come here: the passes to which the
 * other end has come, without those that were done here. */
uint64_t nm_ends_missed(const struct nm_worker *worker);

#endif
