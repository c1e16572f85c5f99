/* SPDX-License-Identifier: Apache-2.0 */
/* All that the control thread and a running worker tell each other. Each member has one writer. */
#ifndef NM_ENGINE_COMMANDS_H
#define NM_ENGINE_COMMANDS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "engine/engine.h"
#include "engine/memory.h"
#include "engine/places.h"

struct nm_worker;

/* The control thread writes them, and after each calls nm_worker_wake. */
struct nm_commands {
	/* When the present phase was begun; written before begin. On a cache line of its own: the
	 * worker looks at has_command after each pass. */
	_Alignas(NM_CACHE_LINE) uint64_t begin_ns;
	_Atomic uint32_t begin; /* number of phases begun */
	_Atomic bool stop;	/* a leader ends at the next boundary of each flow's passes */
	/* the passes at which a follower ends the phase; UINT64_MAX: not known yet */
	_Atomic uint64_t follow;
	/* when it was seen that they are done, though the worker may sleep a while longer; 0: they
	 * were not; written before follow */
	uint64_t followed_ns;
	/* bytes that open senders have sent beyond the passes; UINT64_MAX: not known yet */
	_Atomic uint64_t drain;
	/* how often the connections that are open have been told to be replaced */
	_Atomic uint32_t reconnect;
	_Atomic uint32_t places;  /* how often it was asked where its flows are */
	_Atomic bool has_command; /* some command has come */
	_Atomic bool quit;
};

/* The worker writes them, and after each calls nm_worker_notify_owner. */
struct nm_answers {
	/* number of phases done */
	_Alignas(NM_CACHE_LINE) _Atomic uint32_t done;
	_Atomic uint32_t passed; /* number of phases whose passes are done, while it drains */
	_Atomic bool failed;	 /* error is written before */
	struct nm_engine_error error;
	_Atomic uint64_t n_failed;
	struct nm_worker_places places;
};

/* The worker takes its commands soon. Any thread or process. */
void nm_worker_wake(struct nm_worker *worker);
/* Makes nm_engine_fd readable. The worker. */
void nm_worker_notify_owner(struct nm_worker *worker);

#endif
