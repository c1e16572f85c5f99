/* SPDX-License-Identifier: Apache-2.0 */
/* The mark below which who receives is not woken (SO_RCVLOWAT), in phases that have one. All on the
 * worker's thread. */
#ifndef NM_ENGINE_PHASE_RCVLOWAT_H
#define NM_ENGINE_PHASE_RCVLOWAT_H

#include <stdbool.h>
#include <stdint.h>

struct nm_conn;
struct nm_worker;

struct nm_rcvlowat {
	bool on;	  /* connections have the mark of the phase */
	uint64_t look_ns; /* when to look next for what is below it; 0: never */
	uint64_t seen;	  /* bytes received at the last look */
	unsigned skipped; /* looks at which enough had come */
};

void nm_rcvlowat_begin(struct nm_worker *worker); /* of the present phase */
void nm_rcvlowat_end(
	struct nm_worker *worker); /* once the end of the phase is near; may be called again */

void nm_rcvlowat_conn(const struct nm_worker *worker, const struct nm_conn *conn);
/* Has what comes slowly received, if it is time. */
void nm_rcvlowat_sweep(struct nm_worker *worker, uint64_t now_ns);

#endif
