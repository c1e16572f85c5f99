/* SPDX-License-Identifier: Apache-2.0 */
/* Open arrivals: free flows are run through the passes that are due. */
#include "engine/loop/arrivals.h"

#include "engine/engine_priv.h"
#include "engine/loop/interp.h"
#include "engine/loop/pacer.h"
#include "engine/tune.h"
#include "engine/wait/waiter.h"
#include "flowop/pipeline.h"
#include "host/clock.h"

/* Takes a flow for what is due off the list. One that has room takes by itself what is due, also
 * when its turn comes: NULL: only such ones are there. */
static struct nm_flow *take_flow(struct nm_worker *worker)
{
	struct nm_flow *flow;

	if (!worker->run.phase->pipeline)
		return nm_open_take_free(worker);
	for (uint32_t n = worker->run.open.n_free; n > 0; n--) {
		flow = nm_open_take_free(worker);
		if (flow->at == worker->run.body && nm_flow_is_waiting(flow))
			return flow;
		if (nm_pipe_of(&worker->io, flow)->free_ns != NM_PIPE_FULL)
			nm_open_free(worker, flow);
	}
	return NULL;
}

void nm_worker_arrivals(struct nm_worker *worker, uint64_t now_ns)
{
	nm_open_look(worker, now_ns);
	for (unsigned n = 0; n < NM_TUNE_TURNS && worker->run.open.on; n++) {
		struct nm_flow *flow;

		/* While none is free, what waits has its place. */
		if (!worker->run.open.first || !nm_open_is_due(worker, now_ns) ||
		    !(flow = take_flow(worker)))
			break;
		if (worker->run.phase->pipeline || nm_worker_begin_due(worker, flow, now_ns, true))
			nm_worker_run_flow(worker, flow);
		now_ns = nm_clock_ns();
	}
	if (worker->run.open.on && !nm_worker_close_arrivals(worker, now_ns))
		nm_open_arm(worker);
}

void nm_worker_stop_arrivals(struct nm_worker *worker)
{
	uint64_t now_ns = nm_clock_ns();

	nm_open_stop(worker, now_ns,
		     atomic_load_explicit(&worker->commands.stop, memory_order_relaxed) ==
			     NM_STOP_INTERRUPT);
	nm_worker_arrivals(worker, now_ns);
}
