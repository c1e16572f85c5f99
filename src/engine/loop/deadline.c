/* SPDX-License-Identifier: Apache-2.0 */
/* Waits that end by themselves. A datagram that comes late, or twice, is not the one for which a
 * flow waits: then the wait goes on, with its first deadline. On a stream all other bytes that come
 * are part of the message. A request has one limit, from its first wait to its answer's end. */
#include "engine/loop/deadline.h"

#include "engine/engine_priv.h"
#include "engine/phase/retry.h"
#include "engine/wait/waiter.h"
#include "flowop/ask.h"
#include "host/clock.h"
#include "plan/shape.h"

static bool goes_on(const struct nm_deadline *lifted, const struct nm_flow *flow)
{
	return lifted->flow == flow && flow->at->lossy && lifted->at == flow->at &&
	       lifted->left == flow->left && lifted->repeated == flow->repeated &&
	       lifted->iterations_left == flow->iterations_left;
}

/* If passes are measured io.now_ns is new enough for messages, once timers run; unless receives
 * have slept since. */
static uint64_t now_of(struct nm_worker *worker)
{
	if (!worker->run.latency || worker->waiter.ops->kind == NM_WAITER_POLL ||
	    (!worker->timers.count && worker->io.recv_flags))
		worker->io.now_ns = nm_clock_ns();
	return worker->io.now_ns;
}

void nm_deadline_of_request(struct nm_worker *worker, struct nm_flow *flow)
{
	uint64_t *due_ns = nm_ask_due_ns(&worker->io, flow);

	worker->busy = true;
	/* The worker may have sent the requests of many flows since it looked at the clock. */
	if (!*due_ns)
		*due_ns = nm_clock_ns() + flow->at->timeout_ns;
	flow->timer.at_ns = *due_ns;
	worker->lifted_deadline.flow = NULL;
	nm_timers_add(&worker->timers, &flow->timer);
}

void nm_deadline_set(struct nm_worker *worker, struct nm_flow *flow)
{
	if (nm_instr_asks(flow->at)) {
		nm_deadline_of_request(worker, flow);
		return;
	}
	worker->busy = true;
	if (goes_on(&worker->lifted_deadline, flow)) {
		flow->timer.at_ns = worker->lifted_deadline.due_ns;
	} else {
		flow->timer.at_ns = now_of(worker) + flow->at->timeout_ns;
		if (worker->reconnect.retries)
			flow->timer.at_ns = nm_retry_due_ns(worker, flow, flow->timer.at_ns);
	}
	worker->lifted_deadline.flow = NULL;
	nm_timers_add(&worker->timers, &flow->timer);
}

void nm_deadline_lift(struct nm_worker *worker, struct nm_flow *flow)
{
	worker->lifted_deadline = (struct nm_deadline){
		.flow = flow->timer.at_ns ? flow : NULL,
		.at = flow->at,
		.due_ns = flow->timer.at_ns,
		.iterations_left = flow->iterations_left,
		.left = flow->left,
		.repeated = flow->repeated,
	};
	flow->timer.at_ns = 0; /* the timer stays in the heap, and comes up in vain */
}
