/* SPDX-License-Identifier: Apache-2.0 */
/* A worker whose only flow asks and waits for the answer need not wait for events: what comes next can only be the
 * answer, and a receive that sleeps until then spares a system call in three. The peer always answers, so that the worker
 * sees soon enough what main wants; when it does not, the wait is given up now and then. */
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "engine/engine_priv.h"
#include "flowop/flowop.h"

/* How long a receive sleeps at most. */
#define SLEEP_US 50000

static bool asks(const struct nm_phase *phase, const struct nm_instr *body)
{
	return phase->leads && phase->n_instrs == 2 && body->then_reads && !body[1].can_fail;
}

void nm_worker_lone_begin(struct nm_worker *worker)
{
	struct nm_flow *flow = nm_worker_flow(worker, 0);
	const struct timeval sleep = {.tv_usec = SLEEP_US};

	if (worker->n_flows != 1 || worker->period_ns || !asks(worker->phase, worker->body) ||
	    (flow->conn->flags & NM_CONN_HUP))
		return;
	if (setsockopt(flow->conn->fd, SOL_SOCKET, SO_RCVTIMEO, &sleep, sizeof sleep) == 0 &&
	    fcntl(flow->conn->fd, F_SETFL, 0) == 0)
		worker->lone = flow;
}

void nm_worker_lone_end(struct nm_worker *worker)
{
	if (!worker->lone)
		return;
	if (worker->lone->conn->flags & NM_CONN_OPEN)
		(void)fcntl(worker->lone->conn->fd, F_SETFL, O_NONBLOCK);
	worker->lone = NULL;
}
