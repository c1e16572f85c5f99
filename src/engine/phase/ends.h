/* SPDX-License-Identifier: Apache-2.0 */
/* Ends of connections that a flow waits for in vain: the peer has reset its end, and the reset was
 * lost, which nobody repeats. The control thread has the worker look from time to time, so that
 * the waits themselves cost nothing more; the connection of a flow that has waited since the look
 * before is asked. Where resets are being lost it looks eagerly: as soon as so many passes are done
 * as flows have waited, and it does not wait as long as TCP would. On the worker's thread. */
#ifndef NM_ENGINE_PHASE_ENDS_H
#define NM_ENGINE_PHASE_ENDS_H

#include <stdint.h>

struct nm_worker;

struct nm_ends {
	uint32_t told;	  /* how many of the control thread's commands are carried out */
	uint64_t looked;  /* passes that were done at the last look */
	uint64_t seen;	  /* and when there was a command last */
	uint32_t waiting; /* flows that waited for a reset at the last look */
};

/* The phase begins. */
void nm_ends_begin(struct nm_worker *worker);
/* Looks, if the control thread has asked for it. */
void nm_ends_command(struct nm_worker *worker);
/* How many connections of a phase that is over now have never come here: the passes to which the
 * other end has come, without those that were done here. */
uint64_t nm_ends_missed(const struct nm_worker *worker);

#endif
