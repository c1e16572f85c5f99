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
#include "engine/phase/reopen.h"
#include "engine/runq.h"
#include "engine/tune.h"
#include "engine/wait/waiter.h"
#include "flowop/ask.h"
#include "flowop/flowop.h"
#include "flowop/queue.h"
#include "host/clock.h"
#include "plan/shape.h"
#include "transport/transport.h"

struct nm_retry {
	uint64_t since_ns; /* the begin of the first attempt after the last answer; 0: none */
	uint32_t tries;	   /* that have failed since then */
	uint32_t pauses;   /* that the flow has drawn in all */
	uint32_t left;	   /* the last phase that the flow has left, by its number from 1 on */
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

static struct nm_retry *retry_of(const struct nm_worker *worker, const struct nm_flow *flow)
{
	return &worker->reconnect.retries[nm_worker_number_of(worker, flow)];
}

static bool is_stopped(const struct nm_worker *worker)
{
	return atomic_load_explicit(&worker->commands.stop, memory_order_relaxed);
}

/* Whether the instruction is an attempt to connect to a server that may be followed by another. */
static bool is_attempt(const struct nm_worker *worker, const struct nm_instr *instr)
{
	return nm_instr_opens(instr) && nm_instr_is_to_server(instr) &&
	       (nm_is_reopening(worker, instr) || limit_ns(instr));
}

/* An attempt that is to end at due_ns ends sooner where the phase is to end: nobody knows that the
 * server is away before it has taken too long. */
static uint64_t sooner_ns(const struct nm_worker *worker, const struct nm_flow *flow,
			  uint64_t due_ns)
{
	uint64_t begin_ns = nm_is_reopening(worker, flow->at) && !retry_of(worker, flow)->tries
				    ? retry_of(worker, flow)->since_ns
				    : due_ns - flow->at->timeout_ns;

	return begin_ns + NM_TUNE_STOPPED_ATTEMPT_NS < due_ns
		       ? begin_ns + NM_TUNE_STOPPED_ATTEMPT_NS
		       : due_ns;
}

/* All attempts have to end in time. */
uint64_t nm_retry_due_ns(const struct nm_worker *worker, const struct nm_flow *flow,
			 uint64_t due_ns)
{
	const struct nm_retry *retry = retry_of(worker, flow);
	uint64_t most_ns;

	if (is_attempt(worker, flow->at) && is_stopped(worker))
		due_ns = sooner_ns(worker, flow, due_ns);
	if (!nm_is_reopening(worker, flow->at) || !nm_instr_is_to_server(flow->at))
		return due_ns;
	most_ns = limit_ns(flow->at);
	/* The last may begin when the time is over, and still tells why it fails. */
	if (most_ns)
		most_ns += NM_TUNE_LAST_ATTEMPT_NS;
	return most_ns && retry->since_ns && due_ns > retry->since_ns + most_ns
		       ? retry->since_ns + most_ns
		       : due_ns;
}

static struct nm_duration_range backoff_of(const struct nm_instr *opening)
{
	const struct nm_opts_open *opts = opening->opts;

	return opts->backoff.from_ns
		       ? opts->backoff
		       : (struct nm_duration_range){NM_TUNE_BACKOFF_NS, NM_TUNE_BACKOFF_MOST_NS};
}

/* How long the flow pauses before it tries for another time: at first not at all. Drawn from the
 * seed, the flow and the number of its pause, by a key that nothing else has. */
static uint64_t pause_ns(const struct nm_worker *worker, const struct nm_flow *flow,
			 const struct nm_instr *opening, struct nm_retry *retry)
{
	const struct nm_duration_range backoff = backoff_of(opening);
	uint64_t most = backoff.from_ns;

	for (uint32_t i = 1; i < retry->tries && most < backoff.to_ns; i++)
		most *= 2;
	if (most > backoff.to_ns)
		most = backoff.to_ns;
	return retry->tries
		       ? nm_rng_below(~nm_rng(~worker->io.seed, flow->index), retry->pauses++, most)
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
	flow->between = false;
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
	nm_flowop_stats_outcome(worker, instr, offsetof(struct nm_outcome_counters, lost));
	nm_flowop_stats_expired(worker, flow, instr);
}

/* The phase is to end: the flow asks nothing any more, and begins no pass that is due. instr tells
 * of the connection. */
static void stop(struct nm_worker *worker, struct nm_flow *flow, const struct nm_instr *instr,
		 const struct nm_instr *resume)
{
	const bool queues = nm_instr_is_queue(resume);

	if (queues)
		nm_queue_abandon(&worker->io, flow, resume);
	bool between = queues ? !nm_pipe_is_busy(nm_pipe_of(&worker->io, flow))
			      : flow->between && worker->run.open.on;

	if (between) {
		/* No pass is under way that would end. */
		flow->resume = resume;
		resume = &program_of(worker, instr)[NM_REOPEN_DONE];
	} else if (nm_instr_asks(resume) && !queues) {
		drop(worker, flow, resume);
		resume++;
	}
	leave(worker, flow, resume);
	flow->between = between;
	retry_of(worker, flow)->left = worker->run.number + 1;
}

bool nm_retry_has_left(const struct nm_worker *worker, const struct nm_flow *flow)
{
	return worker->reconnect.retries && retry_of(worker, flow)->left == worker->run.number + 1;
}

/* Whether the next that the pass does with the flow's connection is to close it. */
static bool closes_next(struct nm_flow *flow, const struct nm_instr *at)
{
	while (at->step && (!at->transport || nm_flow_conn(flow, at->slot) != flow->conn))
		at++;
	return at->step && nm_instr_closes(at);
}

/* Opens the connection anew, or does not when it is of no more use, or when the phase is to end and
 * an attempt has failed. */
static void reopen(struct nm_worker *worker, struct nm_flow *flow, const struct nm_instr *instr,
		   const struct nm_instr *resume, uint64_t wait_ns)
{
	const struct nm_instr *program = program_of(worker, instr);

	if (is_stopped(worker) &&
	    (retry_of(worker, flow)->tries || nm_retry_has_left(worker, flow))) {
		stop(worker, flow, instr, resume);
		nm_worker_queue(worker, flow);
		return;
	}
	if (closes_next(flow, resume)) {
		go_on_without(worker, flow, resume);
		return;
	}
	nm_reopen_begin(worker, flow, flow->conn,
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
	retry_of(worker, flow)->since_ns = since_ns;
	retry_of(worker, flow)->tries = 0;
	flow->conn->traits &= ~(uint32_t)NM_CONN_HEARD;
}

void nm_retry_begin(const struct nm_worker *worker, struct nm_flow *flow)
{
	start_afresh(worker, flow, nm_clock_ns());
}

/* The pause before the next attempt, which may still begin within the limit. */
static uint64_t next_pause_ns(const struct nm_worker *worker, const struct nm_flow *flow,
			      const struct nm_instr *instr)
{
	const struct nm_instr *opening = program_of(worker, instr);
	struct nm_retry *retry = retry_of(worker, flow);
	uint64_t wait_ns = pause_ns(worker, flow, opening, retry);
	uint64_t most_ns = limit_ns(opening);
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

	if (nm_is_reopening(worker, instr))
		resume = flow->resume;
	if (was_good || (flow->conn->traits & NM_CONN_HEARD) || !retry->since_ns)
		start_afresh(worker, flow, nm_clock_ns() - took_ns);
	if (was_good ? !ended && !limit_ns(program_of(worker, instr))
		     : !may_try(worker, retry, instr)) {
		if (nm_instr_asks(resume) && !nm_instr_is_queue(resume))
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
	if (nm_instr_is_queue(instr) && nm_queue_is_late(&worker->io, flow))
		return nm_retry_expired(worker, flow, instr);
	return goes_on(worker, flow, instr, ended, 0);
}

/* Whether the profile says when it is enough, also by its own limit of an attempt. */
static bool is_limited(const struct nm_worker *worker, const struct nm_instr *instr)
{
	return !nm_is_reopening(worker, instr) || limit_ns(instr) ||
	       instr->timeout_ns != NM_ATTEMPT_NS;
}

bool nm_retry_expired(struct nm_worker *worker, struct nm_flow *flow, const struct nm_instr *instr)
{
	struct nm_retry *retry = retry_of(worker, flow);
	bool is_last = is_stopped(worker) && is_attempt(worker, instr);

	if (nm_instr_asks(instr)) {
		const bool queues = nm_instr_is_queue(instr); /* which has ended the pass */

		flow->request.outcome = queues ? NM_UNDER_WAY : NM_TIMEOUT;
		start_afresh(worker, flow, nm_clock_ns());
		retry->tries = is_stopped(worker); /* a server that does not answer is away */
		if (worker->observe.stats && !queues)
			nm_flowop_stats_expired(worker, flow, instr);
		reopen(worker, flow, instr, instr + !queues, 0);
		return true;
	}
	if (is_limited(worker, instr) && !is_last)
		return goes_on(worker, flow, instr, false, instr->timeout_ns);
	/* A server that answers nothing, not even this, ends no run. */
	retry->tries++;
	nm_counter_add(&worker->io.count->failed_connects, limit_ns(program_of(worker, instr)) > 0);
	reopen(worker, flow, instr, nm_is_reopening(worker, instr) ? flow->resume : instr + 1,
	       next_pause_ns(worker, flow, instr));
	return true;
}

/* The flow waits for an attempt to end. */
static void hurry(struct nm_worker *worker, struct nm_flow *flow)
{
	nm_timers_remove(&worker->timers, &flow->timer);
	flow->timer.at_ns = sooner_ns(worker, flow, flow->timer.at_ns);
	nm_timers_add(&worker->timers, &flow->timer);
}

void nm_retry_stop(struct nm_worker *worker)
{
	for (uint32_t i = 0; worker->reconnect.retries && i < worker->n_flows; i++) {
		struct nm_flow *flow = nm_worker_flow(worker, i);
		bool has_turn = flow->state == NM_FLOW_READY,
		     waits = flow->state == NM_FLOW_WAITING_UNTIL;

		if (!is_attempt(worker, flow->at) ||
		    (!has_turn && !waits && flow->state != NM_FLOW_ASLEEP))
			continue;
		if (nm_is_reopening(worker, flow->at) && retry_of(worker, flow)->tries) {
			nm_timers_remove(&worker->timers, &flow->timer);
			stop(worker, flow, flow->at, flow->resume);
			if (!has_turn)
				nm_worker_queue(worker, flow);
		} else if (waits) {
			hurry(worker, flow);
		}
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
