/* SPDX-License-Identifier: Apache-2.0 */
/* The thread or the process that a worker runs as. */
#ifndef NM_ENGINE_LOOP_PROCESS_H
#define NM_ENGINE_LOOP_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>
#include <time.h>

#include "engine/thread.h"

struct nm_spawn {
	int cpu; /* -1: anywhere */
	struct nm_thread thread;
	pid_t pid; /* of a worker that is a process; 0: no process runs */
	timer_t alarm;
	bool has_alarm; /* true only in the process of the worker */
};

#endif
