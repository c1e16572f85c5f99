/* SPDX-License-Identifier: Apache-2.0 */
/* Failed steps: the flow ends, unless the profile expects such failures. On the worker's thread. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>

#include "engine/engine_priv.h"
#include "engine/loop/fault.h"
#include "engine/loop/request.h"
#include "engine/places.h"
#include "engine/runq.h"
#include "engine/phase/reconnect.h"
#include "engine/phase/retry.h"
#include "flowop/abandoned.h"
#include "flowop/ask.h"
#include "flowop/flowop.h"
#include "flowop/greet.h"
#include "flowop/open_opts.h"
#include "flowop/queue.h"
#include "host/clock.h"
#include "plan/shape.h"
#include "transport/address.h"
#include "transport/transport.h"
#include "transport/errqueue.h"

/* A write may fail because the connect before it has failed: see connect_step. */
static const struct nm_instr *culprit(const struct nm_flow *flow, const struct nm_instr *instr)
{
	bool unconnected = flow->error == ECONNREFUSED || flow->error == ETIMEDOUT ||
			   flow->error == EHOSTUNREACH || flow->error == ENETUNREACH;

	/* An opening may be the very first instruction. */
	if (!nm_instr_moves(instr))
		return instr;
	if (unconnected && (flow->conn->flags & NM_CONN_CONNECTING) && nm_instr_opens(instr - 1))
		return instr - 1;
	return instr;
}

/* The number of an instruction in the group. A worker that measures runs a copy of the program. */
static uint32_t site_of(const struct nm_worker *worker, const struct nm_instr *instr)
{
	const struct nm_instr *first = nm_observe_program(&worker->observe, worker->group);

	return (uint32_t)(instr - first);
}

/* The profile expects the failure: the flow goes on with the next instruction. */
static void pass_over(struct nm_worker *worker, struct nm_flow *flow, const struct nm_instr *instr)
{
	if (nm_instr_opens(instr) && (flow->conn->flags & NM_CONN_OPEN))
		flow->conn->transport->close(flow->conn, false);
	if (flow->error == ETIMEDOUT)
		nm_abandoned_add(&worker->io, flow, instr);
	flow->error = 0;
	flow->left = 0;
	flow->progress = 0;
	flow->timer.at_ns = 0;
	flow->at = instr + 1;
	nm_worker_queue(worker, flow);
}

/* The server of the flow, where it is not netmodel's. */
static void name_server(const struct nm_worker *worker, const struct nm_flow *flow,
			const struct nm_instr *instr, char *buf, size_t size)
{
	const struct nm_addr *at = nm_flow_endpoint(&worker->io, flow, instr);
	char host[NM_ADDRESS_TEXT];

	if (!worker->io.apps.servers[instr->opening].count)
		return;
	if (at->sa.ss_family == AF_UNIX)
		(void)snprintf(buf, size, "unix:%.107s",
			       ((const struct sockaddr_un *)(const void *)&at->sa)->sun_path);
	else
		(void)snprintf(buf, size, at->sa.ss_family == AF_INET6 ? "[%s]:%u" : "%s:%u",
			       nm_addr_text(at, host, sizeof host), nm_addr_port(at));
}

static bool transport_says(const struct nm_conn *conn, char *buf, size_t size)
{
	return (conn->flags & NM_CONN_OPEN) && conn->transport->why &&
	       conn->transport->why(conn, buf, size);
}

/* The flow is over: so are the passes whose requests are in its queue. */
static void end_passes(struct nm_worker *worker, struct nm_flow *flow, const struct nm_instr *queue)
{
	const uint64_t now_ns = nm_clock_ns();

	nm_queue_abandon(&worker->io, flow, queue);
	while (nm_pipe_is_busy(nm_pipe_of(&worker->io, flow))) {
		(void)queue->step(&worker->io, flow, queue);
		nm_request_end(worker, flow, worker->run.latency ? now_ns : 0);
		if (worker->run.open.on)
			nm_open_end_pass(worker, flow, now_ns);
	}
	nm_open_leave(worker, flow);
}

void nm_worker_fail_flow(struct nm_worker *worker, struct nm_flow *flow,
			 const struct nm_instr *instr)
{
	if (instr->op == &nm_pseudo_pipeline || nm_instr_is_queue(instr))
		instr = nm_pipe_culprit(nm_pipe_of(&worker->io, flow), instr);
	/* Of a connection that is opened anew no failure is allowed: nothing comes behind it. */
	const bool can_fail = instr->can_fail;

	instr = nm_observe_original(worker, instr);
	nm_counter_add(&nm_flow_counters(&worker->io, flow)->errors, 1);
	if (worker->observe.stats)
		nm_flowop_stats_failed(worker, flow, instr);
	if (can_fail) {
		pass_over(worker, flow, instr);
		return;
	}
	instr = culprit(flow, instr);
	if (!atomic_load_explicit(&worker->answers.failed, memory_order_relaxed)) {
		worker->answers.error =
			(struct nm_engine_error){.group = worker->group_no,
						 .flow = flow->index,
						 .line = instr->line,
						 .flowop = instr->op ? instr->op->name : NULL,
						 .site = site_of(worker, instr),
						 .port = nm_flow_port(worker, flow, instr),
						 .error = flow->error};
		if (nm_instr_asks(instr) || nm_instr_is_to_server(instr))
			name_server(worker, flow, instr, worker->answers.error.server,
				    sizeof worker->answers.error.server);
		if (flow->error == EKEYEXPIRED)
			(void)nm_reconnect_expired(worker, flow->conn, worker->answers.error.why,
						   sizeof worker->answers.error.why);
		else if (flow->error == ENOBUFS && (flow->conn->traits & NM_CONN_ZEROCOPY))
			nm_errqueue_why(worker->answers.error.why,
					sizeof worker->answers.error.why);
		else if (transport_says(flow->conn, worker->answers.error.why,
					sizeof worker->answers.error.why))
			; /* why its connection is of no more use, which causes all else */
		else if (nm_instr_is_to_server(instr) &&
			 nm_greet_why(&worker->io, flow, instr, worker->answers.error.why,
				      sizeof worker->answers.error.why))
			; /* said */
		else if (flow->error == EPROTO && nm_instr_asks(instr))
			nm_ask_why(&worker->io, flow, instr, worker->answers.error.why,
				   sizeof worker->answers.error.why);
		else if (nm_retry_concerns(worker, instr))
			nm_retry_why(worker, flow, instr, worker->answers.error.why,
				     sizeof worker->answers.error.why);
		else if (worker->run.phase && worker->run.phase->posts && !worker->io.ring)
			snprintf(worker->answers.error.why, sizeof worker->answers.error.why,
				 "io_uring is not to be had: %s", strerror(flow->error));
		atomic_store_explicit(&worker->answers.failed, true, memory_order_release);
	}
	atomic_fetch_add_explicit(&worker->answers.n_failed, 1, memory_order_relaxed);
	nm_waiter_disarm(worker, flow->conn);
	if (flow->conn->flags & NM_CONN_OPEN)
		flow->conn->transport->close(flow->conn, false);
	if (worker->run.phase && nm_instr_is_queue(worker->run.body))
		end_passes(worker, flow, worker->run.body);
	nm_phase_flow_done(worker, flow);
}
