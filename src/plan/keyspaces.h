/* SPDX-License-Identifier: Apache-2.0 */
/* Keyspaces by their names, and files of recorded times and requests, which only the master
 * reads. */
#ifndef NM_PLAN_KEYSPACES_H
#define NM_PLAN_KEYSPACES_H

#include "app/recording.h"
#include "plan/ir.h"

struct nm_recorder;

/* Times of arrivals, from a file. */
struct nm_ir_times {
	struct nm_trace *trace; /* owned by the arena; NULL: not read */
	bool is_coarse;		/* whole seconds, of which some have several */
};

struct nm_ir_keyspace {
	struct nm_ir_keyspace *next;
	const char *name;
	const char *trace; /* the file of what was recorded; NULL: nothing was */
	union {
		struct nm_keyspace keyspace;
		struct nm_recording recording; /* with trace; count 0: not read yet */
	};
	uint32_t members[NM_VERB__COUNT]; /* of the mix for which it was read (recorder.h) */
	struct nm_ir_times times[2];	  /* of the requests: as they are, and with `exact` */
};

/* Names are found in any case. NULL: there is none. */
struct nm_ir_keyspace *nm_ir_keyspace_find(const struct nm_ir *ir, const char *name);
/* The phrase for a name that no keyspace has. */
void nm_ir_keyspace_nearest(const struct nm_ir *ir, const char *name, char *buf, size_t size);

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
