/* SPDX-License-Identifier: Apache-2.0 */
/* The mark of bytes below which a receiver is not woken (SO_RCVLOWAT), in phases that have one. All
 * on the worker's thread. */
#ifndef NM_ENGINE_PHASE_RCVLOWAT_H
#define NM_ENGINE_PHASE_RCVLOWAT_H

#include <stdbool.h>
#include <stdint.h>

#include "flowop/flow.h"

struct nm_conn;
struct nm_worker;

struct nm_rcvlowat {
	bool on;	       /* connections have the mark of the phase */
	struct nm_timer timer; /* when to look next for bytes below the mark */
	uint64_t seen;	       /* bytes received at the last look */
	unsigned skipped;      /* looks at which enough had come */
};

/* Sets the mark of the phase that begins, if it has one. */
void nm_rcvlowat_begin(struct nm_worker *worker);
/* Takes the mark back, once the end of the phase is near. May be called again. */
void nm_rcvlowat_end(struct nm_worker *worker);
/* Gives the mark to a connection that was opened during the phase. */
void nm_rcvlowat_conn(const struct nm_worker *worker, const struct nm_conn *conn);
/* received: bytes so far; enough: how many more since the last look mean that most flows reach
 * their mark by themselves. True: it is time to receive the bytes that stay below the mark. */
bool nm_rcvlowat_is_slow(struct nm_rcvlowat *rcvlowat, uint64_t received, uint64_t enough);
/* The timer has fired: has flows receive bytes that come slowly. */
void nm_rcvlowat_sweep(struct nm_worker *worker, uint64_t now_ns);

#endif
