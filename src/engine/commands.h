/* SPDX-License-Identifier: Apache-2.0 */
/* Commands and answers between the control thread and a running worker. Each member has one
 * writer. */
#ifndef NM_ENGINE_COMMANDS_H
#define NM_ENGINE_COMMANDS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "engine/engine.h"
#include "engine/memory.h"
#include "engine/places.h"

struct nm_worker;

enum nm_stop {
	NM_STOP_NOT,
	NM_STOP_TIME,	   /* a leader ends at the next boundary of each flow's passes */
	NM_STOP_INTERRUPT, /* and what waits may begin for a short time only */
};

/* The commands: the control thread writes them, and calls nm_worker_wake after each. */
struct nm_commands {
	/* When the present phase was begun; written before begin. On a cache line of its own: the
	 * worker looks at has_command after each pass. */
	_Alignas(NM_CACHE_LINE) uint64_t begin_ns;
	_Atomic uint32_t begin; /* number of phases begun */
	_Atomic uint8_t stop;	/* enum nm_stop */
	/* the passes at which a follower ends the phase; UINT64_MAX: not known yet */
	_Atomic uint64_t follow;
	/* when the control thread saw that those passes are done, though the worker may sleep a
	 * while longer; 0: they were not done; written before follow */
	uint64_t followed_ns;
	/* bytes that open senders have sent beyond the passes; UINT64_MAX: not known yet */
	_Atomic uint64_t drain;
	/* how often the connections that are open have been told to be replaced */
	_Atomic uint32_t reconnect;
	_Atomic uint32_t places;  /* how often the control thread has asked where the flows are */
	_Atomic uint32_t ends;	  /* how often it has had lost resets looked for */
	_Atomic bool ends_eager;  /* at the last time: some have just been lost; written before */
	_Atomic bool has_command; /* a command has come */
	_Atomic bool quit;
};

/* The answers: the worker writes them, and calls nm_worker_notify_owner after each. */
struct nm_answers {
	/* number of phases done */
	_Alignas(NM_CACHE_LINE) _Atomic uint32_t done;
	/* number of phases whose passes are done, while the worker drains */
	_Atomic uint32_t passed;
	_Atomic bool failed; /* error is written before */
	struct nm_engine_error error;
	_Atomic uint64_t n_failed;
	_Atomic uint64_t ends_lost, ends_late; /* resets, as nm_engine_ends tells; not notified */
	struct nm_worker_places places;
};

/* Has the worker take its commands soon. Any thread or process may call it. */
void nm_worker_wake(struct nm_worker *worker);
/* Makes nm_engine_fd readable. The worker calls it. */
void nm_worker_notify_owner(struct nm_worker *worker);

#endif
