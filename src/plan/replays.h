/* SPDX-License-Identifier: Apache-2.0 */
/* Files of recorded times and requests, which only the master reads. */
#ifndef NM_PLAN_REPLAYS_H
#define NM_PLAN_REPLAYS_H

#include "plan/keyspaces.h"

struct nm_recorder;

/* Reads the file of arrivals that have one, as only the master does, unless its times are there
 * already: those of `known`, which may be NULL (traces.c). */
void nm_ir_read_trace(struct nm_ir *ir, struct nm_ir_transaction *t,
		      const struct nm_ir_times *known);
/* Reads the times of a file, and with a recorder its requests, of which those that are not sent
 * have no times, or, not timed, these alone. 0 with *ret, whose trace is to be freed; -ENOMEM; or
 * another error with a phrase in why (traces.c). */
int nm_times_read(const char *path, struct nm_recorder *recorder, bool is_timed,
		  struct nm_ir_times *ret, char *why, size_t why_size);
/* Checks what replays recorded requests, and what has their keys; and reads those that a
 * transaction replays, as only the master does: their times, where its arrivals have the same file,
 * or NULL (replays.c). */
void nm_ir_check_replays(struct nm_ir *ir, const struct nm_ir_group *group);
const struct nm_ir_times *nm_ir_read_requests(struct nm_ir *ir, const struct nm_ir_group *group,
					      struct nm_ir_transaction *t);

#endif
