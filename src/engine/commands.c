/* SPDX-License-Identifier: Apache-2.0 */
/* How the control thread and a worker wake each other. */
#include "engine/commands.h"

#include "engine/engine_priv.h"
#include "host/wake.h"

void nm_worker_wake(struct nm_worker *worker)
{
	atomic_store_explicit(&worker->commands.has_command, true, memory_order_relaxed);
	nm_wake(worker->wake_fd);
}

void nm_worker_notify_owner(struct nm_worker *worker)
{
	nm_wake(worker->engine->event_fd);
}
