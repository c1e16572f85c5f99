/* SPDX-License-Identifier: Apache-2.0 */
/* What a worker runs as: a thread, or a process. */
#ifndef NM_ENGINE_LOOP_PROCESS_H
#define NM_ENGINE_LOOP_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>
#include <time.h>

#include "engine/thread.h"

struct nm_spawn {
	int cpu; /* -1: anywhere */
	struct nm_thread thread;
	pid_t pid; /* of a worker that is a process; 0: it does not run */
	timer_t alarm;
	bool has_alarm; /* only in such a worker itself */
};

#endif
