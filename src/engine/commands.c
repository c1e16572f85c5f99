/* SPDX-License-Identifier: Apache-2.0 */
/* How the control thread and a worker wake each other. */
#include "engine/commands.h"

#include <unistd.h>

#include "engine/engine_priv.h"

void nm_worker_wake(struct nm_worker *worker)
{
	const uint64_t one = 1;

	atomic_store_explicit(&worker->commands.has_command, true, memory_order_relaxed);
	(void)!write(worker->wake_fd, &one, sizeof one);
}

void nm_worker_notify_owner(struct nm_worker *worker)
{
	const uint64_t one = 1;

	/* Fails only when the counter is full, and then the control thread is awake anyway. */
	(void)!write(worker->engine->event_fd, &one, sizeof one);
}
