/* SPDX-License-Identifier: Apache-2.0 */
/* A connection that was good for an answer is replaced at once: servers end them after some time or
 * some requests. What fails after that is tried again with pauses that grow, until the profile's
 * limit is reached; a request that had begun is over, and counted by how it ended. */
#include "engine/phase/retry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "base/units.h"
#include "engine/engine_priv.h"
#include "engine/observe/observe.h"
#include "engine/phase/reconnect.h"
#include "engine/runq.h"
#include "engine/tune.h"
#include "engine/wait/waiter.h"
#include "flowop/ask.h"
#include "flowop/flowop.h"
#include "host/clock.h"
#include "plan/shape.h"
#include "transport/transport.h"

struct nm_retry {
	uint64_t since_ns; /* the begin of the first attempt after the last answer; 0: none */
	uint64_t tries;	   /* that have failed since then */
};

struct nm_retry *nm_retry_new(uint32_t n_flows)
{
	return calloc((size_t)n_flows + 1, sizeof(struct nm_retry));
}

static uint64_t limit_ns(const struct nm_instr *opening)
{
	return ((const struct nm_opts_open *)opening->opts)->reconnect_ns;
}

void nm_retry_limit(struct nm_instr *opening)
{
	if (!opening->timeout_ns)
		opening->timeout_ns = NM_ATTEMPT_NS;
}

bool nm_retry_concerns(const struct nm_worker *worker, const struct nm_instr *instr)
{
	return (nm_instr_asks(instr) && worker->io.apps.servers[instr->opening].count &&
		!instr->lossy) ||
	       (nm_instr_opens(instr) && nm_instr_is_to_server(instr));
}

static const struct nm_instr *program_of(const struct nm_worker *worker,
					 const struct nm_instr *instr)
{
	return &worker->reconnect.openings[(size_t)NM_REOPEN__COUNT * instr->opening];
}

static bool is_reopening(const struct nm_worker *worker, const struct nm_instr *instr)
{
	return instr >= worker->reconnect.openings && instr < nm_reconnect_programs_end(worker);
}

static struct nm_retry *retry_of(const struct nm_worker *worker, const struct nm_flow *flow)
{
	return &worker->reconnect.retries[nm_worker_number_of(worker, flow)];
}

/* All attempts have to end in time. */
uint64_t nm_retry_due_ns(const struct nm_worker *worker, const struct nm_flow *flow,
			 uint64_t due_ns)
{
	const struct nm_retry *retry = retry_of(worker, flow);
	uint64_t most_ns;

	if (!is_reopening(worker, flow->at) || !nm_instr_is_to_server(flow->at))
		return due_ns;
	most_ns = limit_ns(flow->at);
	/* The last may begin when the time is over, and still tells why it fails. */
	if (most_ns)
		most_ns += NM_TUNE_LAST_ATTEMPT_NS;
	return most_ns && retry->since_ns && due_ns > retry->since_ns + most_ns
		       ? retry->since_ns + most_ns
		       : due_ns;
}

/* How long the flow pauses before it tries for another time: at first not at all. */
static uint64_t pause_ns(const struct nm_worker *worker, const struct nm_flow *flow,
			 const struct nm_retry *retry)
{
	uint64_t most = NM_TUNE_BACKOFF_NS;

	for (uint64_t i = 1; i < retry->tries && most < NM_TUNE_BACKOFF_MOST_NS; i++)
		most *= 2;
	if (most > NM_TUNE_BACKOFF_MOST_NS)
		most = NM_TUNE_BACKOFF_MOST_NS;
	return retry->tries ? nm_rng_below(nm_rng(worker->io.seed, flow->index),
					   retry->since_ns + retry->tries, most)
			    : 0;
}

/* Nothing is asked any more: the flow goes on without a connection, which all that uses it finds
 * ended. */
static void leave(struct nm_worker *worker, struct nm_flow *flow, const struct nm_instr *resume)
{
	nm_waiter_disarm(worker, flow->conn);
	if (flow->conn->transport)
		flow->conn->transport->close(flow->conn, false);
	flow->conn->flags = NM_CONN_HUP;
	flow->conn->traits = NM_CONN_LAST | NM_CONN_ANSWERED;
	flow->request.outcome = NM_UNANSWERED;
	flow->error = 0;
	flow->left = 0;
	flow->progress = 0;
	flow->timer.at_ns = 0;
	flow->at = resume;
}

static void go_on_without(struct nm_worker *worker, struct nm_flow *flow,
			  const struct nm_instr *resume)
{
	leave(worker, flow, resume);
	nm_worker_queue(worker, flow);
}

/* The flow does not come to the instruction, which asks, any more. */
static void drop(struct nm_worker *worker, struct nm_flow *flow, const struct nm_instr *instr)
{
	if (!nm_ask_drop(&worker->io, flow, instr) || !worker->observe.stats)
		return;
	nm_flowop_stats_outcome(worker, instr, offsetof(struct nm_outcomes, lost));
	nm_flowop_stats_expired(worker, flow, instr);
}

/* The phase is to end: what has not begun does not begin any more, nor what is due. */
static void stop(struct nm_worker *worker, struct nm_flow *flow, const struct nm_instr *resume)
{
	if (nm_instr_asks(resume)) {
		drop(worker, flow, resume);
		resume++;
	}
	leave(worker, flow, resume);
	nm_open_give_up(worker);
}

/* Whether the next that the pass does with the flow's connection is to close it. */
static bool closes_next(struct nm_flow *flow, const struct nm_instr *at)
{
	while (at->step && (!at->transport || nm_flow_conn(flow, at->slot) != flow->conn))
		at++;
	return at->step && nm_instr_closes(at);
}

/* Opens the connection anew, or does not when it is of no more use, or the phase is to end. */
static void reopen(struct nm_worker *worker, struct nm_flow *flow, const struct nm_instr *instr,
		   const struct nm_instr *resume, uint64_t wait_ns)
{
	const struct nm_instr *program = program_of(worker, instr);

	if (atomic_load_explicit(&worker->commands.stop, memory_order_relaxed)) {
		stop(worker, flow, resume);
		nm_worker_queue(worker, flow);
		return;
	}
	if (closes_next(flow, resume)) {
		go_on_without(worker, flow, resume);
		return;
	}
	nm_reconnect_replace(worker, flow, flow->conn,
			     &program[wait_ns ? NM_REOPEN_PAUSE : NM_REOPEN_OPEN], resume);
	if (wait_ns)
		flow->timer.at_ns = nm_clock_ns() + wait_ns;
}

/* Counts a failure. False: there have been failures for too long. */
static bool may_try(const struct nm_worker *worker, struct nm_retry *retry,
		    const struct nm_instr *instr)
{
	uint64_t most_ns = limit_ns(program_of(worker, instr));

	if (!most_ns)
		return false;
	nm_counter_add(&worker->io.count->failed_connects, 1);
	retry->tries++;
	return nm_clock_ns() - retry->since_ns < most_ns;
}

/* The flow has lost a connection that was good, or has had one since its last failure: it tries
 * from now on, or since an attempt began that has failed. */
static void start_afresh(const struct nm_worker *worker, struct nm_flow *flow, uint64_t since_ns)
{
	*retry_of(worker, flow) = (struct nm_retry){.since_ns = since_ns};
	flow->conn->traits &= ~(uint32_t)NM_CONN_HEARD;
}

/* The pause before the next attempt, which may still begin within the limit. */
static uint64_t next_pause_ns(const struct nm_worker *worker, const struct nm_flow *flow,
			      const struct nm_instr *instr)
{
	const struct nm_retry *retry = retry_of(worker, flow);
	uint64_t wait_ns = pause_ns(worker, flow, retry);
	uint64_t most_ns = limit_ns(program_of(worker, instr));
	uint64_t gone_ns = nm_clock_ns() - retry->since_ns;

	if (!most_ns || !wait_ns || gone_ns + wait_ns <= most_ns)
		return wait_ns;
	return gone_ns < most_ns ? most_ns - gone_ns : 0;
}

/* Something has failed that began so long ago: an attempt, or 0. */
static bool goes_on(struct nm_worker *worker, struct nm_flow *flow, const struct nm_instr *instr,
		    bool ended, uint64_t took_ns)
{
	struct nm_retry *retry = retry_of(worker, flow);
	bool asks = nm_instr_asks(instr),
	     was_good = asks && (flow->conn->traits & NM_CONN_ANSWERED);
	bool begun = asks && !ended && flow->progress;
	const struct nm_instr *resume = asks && !begun ? instr : instr + 1;

	if (is_reopening(worker, instr))
		resume = flow->resume;
	if (was_good || (flow->conn->traits & NM_CONN_HEARD) || !retry->since_ns)
		start_afresh(worker, flow, nm_clock_ns() - took_ns);
	if (was_good ? !ended && !limit_ns(program_of(worker, instr))
		     : !may_try(worker, retry, instr)) {
		if (nm_instr_asks(resume))
			drop(worker, flow, resume);
		return false;
	}
	if (begun && worker->observe.stats)
		nm_flowop_stats_expired(worker, flow, instr);
	reopen(worker, flow, instr, resume, next_pause_ns(worker, flow, instr));
	return true;
}

bool nm_retry_goes_on(struct nm_worker *worker, struct nm_flow *flow, const struct nm_instr *instr,
		      bool ended)
{
	return goes_on(worker, flow, instr, ended, 0);
}

bool nm_retry_expired(struct nm_worker *worker, struct nm_flow *flow, const struct nm_instr *instr)
{
	bool asks = nm_instr_asks(instr);

	/* Also the profile's own limit of an attempt says when it is enough. */
	if (!asks &&
	    (!is_reopening(worker, instr) || limit_ns(instr) || instr->timeout_ns != NM_ATTEMPT_NS))
		return goes_on(worker, flow, instr, false, instr->timeout_ns);
	if (!asks) {
		/* A server that answers nothing, not even this, ends no run. */
		retry_of(worker, flow)->tries++;
		reopen(worker, flow, instr, flow->resume, next_pause_ns(worker, flow, instr));
		return true;
	}
	flow->request.outcome = NM_TIMEOUT;
	start_afresh(worker, flow, nm_clock_ns());
	if (worker->observe.stats)
		nm_flowop_stats_expired(worker, flow, instr);
	reopen(worker, flow, instr, instr + 1, 0);
	return true;
}

/* Where a flow goes on that waits for a connection to a server, and that may try again; NULL: it
 * does not wait for one. */
static const struct nm_instr *leaves_for(const struct nm_worker *worker, const struct nm_flow *flow)
{
	if (!nm_instr_opens(flow->at) || !nm_instr_is_to_server(flow->at))
		return NULL;
	if (is_reopening(worker, flow->at))
		return flow->resume;
	return limit_ns(flow->at) ? flow->at + 1 : NULL;
}

void nm_retry_stop(struct nm_worker *worker)
{
	for (uint32_t i = 0; worker->reconnect.retries && i < worker->n_flows; i++) {
		struct nm_flow *flow = nm_worker_flow(worker, i);
		bool has_turn = flow->state == NM_FLOW_READY;
		const struct nm_instr *resume = leaves_for(worker, flow);

		if (!resume ||
		    (!has_turn && flow->state != NM_FLOW_ASLEEP && flow->state != NM_FLOW_WAITING &&
		     flow->state != NM_FLOW_WAITING_UNTIL))
			continue;
		nm_timers_remove(&worker->timers, &flow->timer);
		stop(worker, flow, resume);
		if (!has_turn)
			nm_worker_queue(worker, flow);
	}
}

void nm_retry_why(const struct nm_worker *worker, const struct nm_flow *flow,
		  const struct nm_instr *instr, char *why, size_t why_size)
{
	const struct nm_retry *retry = retry_of(worker, flow);
	char limit[32];

	if (!retry->tries || !limit_ns(program_of(worker, instr)))
		return;
	snprintf(why, why_size, "tried %llu times within reconnect=%s, at last: %s",
		 (unsigned long long)retry->tries,
		 nm_format_duration((double)limit_ns(program_of(worker, instr)) / 1e9, limit,
				    sizeof limit),
		 strerror(flow->error));
}
