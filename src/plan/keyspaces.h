/* SPDX-License-Identifier: Apache-2.0 */
/* Keyspaces of a profile, by their names. */
#ifndef NM_PLAN_KEYSPACES_H
#define NM_PLAN_KEYSPACES_H

#include "app/recording.h"
#include "plan/ir.h"

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

#endif
