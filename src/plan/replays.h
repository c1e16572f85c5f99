/* SPDX-License-Identifier: Apache-2.0 */
/* Files of recorded times and requests, which only the master reads. */
#ifndef NM_PLAN_REPLAYS_H
#define NM_PLAN_REPLAYS_H

#include "plan/ir.h"

struct nm_recorder;

/* Times of arrivals, from a file. */
struct nm_ir_times {
	struct nm_trace *trace; /* owned by the arena; NULL: not read */
	bool is_coarse;		/* whole seconds, of which some have several */
};

/* Reads the file of arrivals that have one, as only the master does, unless its times are there
 * already (traces.c). */
void nm_ir_read_trace(struct nm_ir *ir, struct nm_ir_transaction *t, struct nm_ir_times times);
/* Reads the times of a file, and with a recorder its requests: those that are not sent have no
 * times. 0 with *ret, whose trace is to be freed; -ENOMEM; or another error with a phrase in why
 * (traces.c). */
int nm_times_read(const char *path, struct nm_recorder *recorder, struct nm_ir_times *ret,
		  char *why, size_t why_size);
/* Checks what replays recorded requests, and what has their keys; and reads those that a
 * transaction replays, as only the master does: their times, where its arrivals have the same file
 * (replays.c). */
void nm_ir_check_replays(struct nm_ir *ir, const struct nm_ir_group *group);
struct nm_ir_times nm_ir_read_requests(struct nm_ir *ir, const struct nm_ir_group *group,
				       struct nm_ir_transaction *t);

#endif
