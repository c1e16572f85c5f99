/* SPDX-License-Identifier: Apache-2.0 */
/* Statistics of single flowops and flows. A worker that keeps them runs a copy of its program in
 * which each flowop's step is measured_step, which calls the real step, counts the bytes that it
 * has moved, and reads the clock. The other members of an instruction stay, so that the flows wait
 * as they would. */
#include "engine/flowop_stats.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "engine/engine_priv.h"
#include "engine/observe/exec_log.h"
#include "engine/observe/observe.h"
#include "flowop/ask.h"
#include "flowop/flowop.h"
#include "flowop/queue.h"
#include "flowop/window.h"
#include "host/clock.h"
#include "plan/shape.h"

struct counts {
	_Atomic uint64_t operations, bytes_sent, bytes_received, errors, cpu_ns, busy_ns;
};

/* The shortest and the longest pass in one epoch. */
struct extremes {
	_Atomic uint32_t epoch;
	_Atomic uint64_t min_ns, max_ns;
};

struct flow_counts {
	struct counts counts;
	uint64_t last_ns; /* when the flow's last flowop ended */
	/* With NM_OBSERVE_PASSES. */
	uint64_t logged;			  /* passes, with NM_OBSERVE_PASS_LOG */
	_Atomic uint64_t passes, sum_ns, squares; /* the last: the bits of a double */
	struct extremes extremes[2];		  /* by the lowest bit of the epoch */
};

struct nm_flowop_stats {
	unsigned flags;
	size_t bytes; /* of this block */
	uint32_t n_instrs, n_flows;
	struct nm_instr *instrs;	      /* the worker's program */
	const struct nm_instr *program;	      /* the plan's */
	struct counts *steps;		      /* by instruction */
	struct nm_outcome_counters *outcomes; /* by instruction */
	struct nm_hist *times;		      /* by instruction; NULL: not kept */
	struct flow_counts *flows;	      /* by the worker's own number */
	struct nm_hist *passes;		      /* by the worker's own number; NULL: not kept */
	_Atomic uint32_t epoch;		      /* the control thread writes it; 1 at first */
	struct nm_exec_log log;
};

/* --- the worker's side --- */

static uint64_t thread_cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static void log_add(struct nm_worker *worker, const struct nm_flow *flow, uint64_t end_ns,
		    uint64_t elapsed_ns, uint32_t instr)
{
	const struct nm_exec_entry entry = {
		.end_ns = end_ns, .elapsed_ns = elapsed_ns, .flow = flow->index, .instr = instr};

	if (nm_exec_log_add(&worker->observe.stats->log, &entry))
		nm_worker_notify_owner(worker);
}

static void note_pass(const struct nm_flowop_stats *stats, struct flow_counts *own, uint64_t ns)
{
	uint32_t epoch = atomic_load_explicit(&stats->epoch, memory_order_relaxed);
	struct extremes *extremes = &own->extremes[epoch & 1];
	uint64_t bits = nm_counter_read(&own->squares);
	double squares, seconds = (double)ns / 1e9;

	memcpy(&squares, &bits, sizeof squares);
	squares += seconds * seconds;
	memcpy(&bits, &squares, sizeof bits);
	atomic_store_explicit(&own->squares, bits, memory_order_relaxed);
	nm_counter_add(&own->sum_ns, ns);
	if (atomic_load_explicit(&extremes->epoch, memory_order_relaxed) != epoch) {
		atomic_store_explicit(&extremes->min_ns, ns, memory_order_relaxed);
		atomic_store_explicit(&extremes->max_ns, ns, memory_order_relaxed);
		atomic_store_explicit(&extremes->epoch, epoch, memory_order_release);
		return;
	}
	if (ns < nm_counter_read(&extremes->min_ns))
		atomic_store_explicit(&extremes->min_ns, ns, memory_order_relaxed);
	if (ns > nm_counter_read(&extremes->max_ns))
		atomic_store_explicit(&extremes->max_ns, ns, memory_order_relaxed);
}

void nm_flowop_stats_pass(struct nm_worker *worker, struct nm_flow *flow, uint64_t now_ns)
{
	struct nm_flowop_stats *stats = worker->observe.stats;
	uint32_t number = nm_worker_number_of(worker, flow);
	struct flow_counts *own = &stats->flows[number];

	nm_counter_add(&own->passes, 1);
	if (!now_ns || !worker->engine->measures)
		return;
	uint64_t elapsed_ns = now_ns - flow->request.sent_ns - flow->request.think_ns;

	note_pass(stats, own, elapsed_ns);
	if (stats->passes)
		nm_hist_record(&stats->passes[number], elapsed_ns);
	if (worker->run.phase->measured && own->logged < worker->engine->log.passes) {
		own->logged++;
		log_add(worker, flow, now_ns, elapsed_ns, worker->run.phase->first | NM_EXEC_PASS);
	}
}

/* n executions of a flowop are over: together they have taken the time since the flow's last flowop
 * ended, or since the pass began, and each of them an equal part of it. */
static void steps_over(struct nm_worker *worker, struct nm_flow *flow, uint32_t index, bool failed,
		       uint32_t n)
{
	struct nm_flowop_stats *stats = worker->observe.stats;
	struct flow_counts *own = &stats->flows[nm_worker_number_of(worker, flow)];

	nm_counter_add(&stats->steps[index].operations, n);
	nm_counter_add(&own->counts.operations, n);
	if (!stats->times)
		return;
	uint64_t now_ns = nm_clock_ns();
	uint64_t from_ns =
		own->last_ns > flow->request.sent_ns ? own->last_ns : flow->request.sent_ns;
	uint64_t elapsed_ns = now_ns - from_ns;

	own->last_ns = now_ns;
	nm_counter_add(&stats->steps[index].busy_ns, elapsed_ns);
	nm_counter_add(&own->counts.busy_ns, elapsed_ns);
	for (uint32_t i = 1; i <= n; i++) {
		nm_hist_record(&stats->times[index], elapsed_ns / n);
		if (stats->flags & NM_OBSERVE_EXECS)
			log_add(worker, flow, from_ns + elapsed_ns * i / n, elapsed_ns / n,
				index | (failed ? NM_EXEC_FAILED : 0));
	}
}

static void step_over(struct nm_worker *worker, struct nm_flow *flow, uint32_t index, bool failed)
{
	steps_over(worker, flow, index, failed, 1);
}

static void add_bytes(struct counts *counts, uint64_t sent, uint64_t received)
{
	if (sent)
		nm_counter_add(&counts->bytes_sent, sent);
	if (received)
		nm_counter_add(&counts->bytes_received, received);
}

/* Adds the errors that the step itself has counted. */
static void add_errors(struct counts *step, struct flow_counts *own, uint64_t errors)
{
	if (errors) {
		nm_counter_add(&step->errors, errors);
		nm_counter_add(&own->counts.errors, errors);
	}
}

/* Runs a step that asks, and counts how requests have ended in it. */
static enum nm_step step_of_requests(struct nm_io *io, struct nm_flow *flow,
				     const struct nm_instr *instr, uint32_t index, uint32_t asks)
{
	struct nm_flowop_stats *stats = nm_worker_of(io)->observe.stats;
	struct nm_outcome_counters *own = &stats->outcomes[asks];
	struct nm_outcomes before = {.requests = 0}, after = before;

	nm_app_outcomes_collect(&before, io, &stats->instrs[asks]);
	enum nm_step answer = stats->program[index].step(io, flow, instr);

	nm_app_outcomes_collect(&after, io, &stats->instrs[asks]);
	nm_outcomes_subtract(&after, &before);
#define COUNT(member, ...) nm_counter_add(&own->member, after.member);
	NM_OUTCOME_CLASSES(COUNT)
#undef COUNT
	return answer;
}

/* Stands in for the step of every flowop. */
static enum nm_step measured_step(struct nm_io *io, struct nm_flow *flow,
				  const struct nm_instr *instr)
{
	struct nm_worker *worker = nm_worker_of(io);
	struct nm_flowop_stats *stats = worker->observe.stats;
	uint32_t index = (uint32_t)(instr - stats->instrs);
	struct nm_queue_oldest oldest = {.instr = instr};

	/* What a window does is done for the flowop before it, and what a queue does for the oldest
	 * of its requests. */
	if (nm_instr_is_window(&stats->program[index]))
		oldest.instr = instr - 1;
	else if (nm_instr_is_queue(instr))
		oldest = nm_queue_oldest(io, flow, instr);
	uint32_t of = (uint32_t)(oldest.instr - stats->instrs);
	struct counts *step = &stats->steps[of];
	struct flow_counts *own = &stats->flows[nm_worker_number_of(worker, flow)];
	bool counts_cpu = stats->flags & NM_OBSERVE_CPU;
	uint64_t sent = nm_counter_read(&io->count->bytes_sent);
	uint64_t received = nm_counter_read(&io->count->bytes_received);
	const struct nm_counters *count = nm_flow_counters(io, flow);
	uint64_t errors = nm_counter_read(&count->errors);
	uint64_t cpu_ns = counts_cpu ? thread_cpu_ns() : 0;

	enum nm_step answer =
		nm_instr_asks(&stats->instrs[of]) && !nm_instr_serves(&stats->instrs[of])
			? step_of_requests(io, flow, instr, index, of)
			: stats->program[index].step(io, flow, instr);

	if (counts_cpu)
		nm_counter_add(&step->cpu_ns, thread_cpu_ns() - cpu_ns);
	sent = nm_counter_read(&io->count->bytes_sent) - sent;
	received = nm_counter_read(&io->count->bytes_received) - received;
	if (!oldest.sent)
		add_bytes(step, sent, received);
	else if (answer == NM_STEP_NEXT)
		add_bytes(step, *oldest.sent, *oldest.received);
	add_bytes(&own->counts, sent, received);
	add_errors(step, own, nm_counter_read(&count->errors) - errors);
	if (answer == NM_STEP_NEXT || answer == NM_STEP_NEXT_WAIT_IN)
		steps_over(worker, flow, of, false,
			   instr->message.joins ? nm_pipe_of(io, flow)->joined : 1);
	return answer;
}

void nm_flowop_stats_failed(struct nm_worker *worker, struct nm_flow *flow,
			    const struct nm_instr *instr)
{
	struct nm_flowop_stats *stats = worker->observe.stats;
	uint32_t index = (uint32_t)(instr - stats->instrs);

	nm_counter_add(&stats->steps[index].errors, 1);
	nm_counter_add(&stats->flows[nm_worker_number_of(worker, flow)].counts.errors, 1);
	if (instr->can_fail)
		step_over(worker, flow, index, true);
}

void nm_flowop_stats_expired(struct nm_worker *worker, struct nm_flow *flow,
			     const struct nm_instr *instr)
{
	step_over(worker, flow, (uint32_t)(instr - worker->observe.stats->instrs), true);
}

void nm_flowop_stats_outcome(struct nm_worker *worker, const struct nm_instr *instr, size_t member)
{
	struct nm_flowop_stats *stats = worker->observe.stats;
	struct nm_outcome_counters *outcomes = &stats->outcomes[instr - stats->instrs];

	nm_counter_add(&outcomes->hits + member / sizeof(uint64_t), nm_app_use_keys(&instr->ask));
}

void nm_flowop_stats_drained(struct nm_worker *worker, const struct nm_conn *conn, uint64_t bytes)
{
	struct nm_flowop_stats *stats = worker->observe.stats;
	const struct nm_phase *phase = worker->run.phase;
	uint32_t index = UINT32_MAX;

	/* With a stride an instruction has another connection in each pass; the first that drains
	 * stands for all then. */
	for (uint32_t i = phase->first; i < phase->first + phase->n_instrs; i++) {
		const struct nm_instr *instr = &stats->program[i];

		if (instr->pass.drains &&
		    (index == UINT32_MAX || nm_flow_conn(conn->flow, instr->slot) == conn))
			index = i;
	}
	if (index == UINT32_MAX)
		return;
	add_bytes(&stats->steps[index], 0, bytes);
	add_bytes(&stats->flows[nm_worker_number_of(worker, conn->flow)].counts, 0, bytes);
}

void nm_flowop_stats_settled(struct nm_worker *worker, const struct nm_conn *conn, uint64_t sent,
			     uint64_t received)
{
	struct nm_flowop_stats *stats = worker->observe.stats;
	const struct nm_phase *phase = worker->run.phase;

	add_bytes(&stats->flows[nm_worker_number_of(worker, conn->flow)].counts, sent, received);
	for (uint32_t i = phase->first; i < phase->first + phase->n_instrs; i++) {
		const struct nm_instr *instr = &stats->program[i];
		bool out = nm_instr_sends(instr), in = nm_instr_receives(instr);

		if (!instr->can_fail)
			continue;
		add_bytes(&stats->steps[i], out ? sent : 0, in ? received : 0);
		sent = out ? 0 : sent;
		received = in ? 0 : received;
	}
}

/* --- making --- */

static uint64_t log_size(const struct nm_worker *worker, unsigned flags)
{
	const struct nm_plan *plan = worker->engine->plan;
	uint64_t passes = flags & NM_OBSERVE_PASS_LOG ? worker->engine->log.passes : 0;
	uint64_t n_workers = 0;

	for (uint32_t g = 0; g < plan->n_groups; g++)
		n_workers += plan->groups[g].runs ? plan->groups[g].n_workers : 0;
	return flags & NM_OBSERVE_OWN ? nm_exec_log_size(passes, worker->n_flows, n_workers) : 0;
}

/* The offset of the next part of the block, by which *used grows. */
static size_t place(size_t *used, size_t count, size_t size)
{
	size_t at = (*used + 63) & ~(size_t)63;

	*used = at + count * size;
	return at;
}

/* Makes the copy of the program in which each flowop's step is measured. */
static void make_program(struct nm_flowop_stats *stats)
{
	memcpy(stats->instrs, stats->program, stats->n_instrs * sizeof *stats->instrs);
	for (uint32_t i = 0; i < stats->n_instrs; i++) {
		if (!nm_flowop_is_named(stats->instrs[i].op) &&
		    !nm_instr_is_window(&stats->program[i]) &&
		    !nm_instr_is_queue(&stats->program[i]))
			continue;
		stats->instrs[i].step = measured_step;
		if (stats->times) /* all else is zero already, and stays untouched */
			atomic_init(&stats->times[i].min_ns, UINT64_MAX);
	}
}

int nm_flowop_stats_new(struct nm_worker *worker, unsigned flags, bool shared,
			struct nm_flowop_stats **ret_stats)
{
	uint32_t n_instrs = worker->group->n_instrs;
	size_t n_times = flags & NM_OBSERVE_TIMES ? n_instrs : 0;
	size_t n_passes = flags & NM_OBSERVE_PASS_TIMES ? worker->n_flows : 0;
	uint64_t size = log_size(worker, flags);
	size_t bytes = sizeof(struct nm_flowop_stats);

	*ret_stats = NULL;
	if (!(flags & NM_OBSERVE_STEPS))
		return 0;
	size_t instrs = place(&bytes, n_instrs, sizeof(struct nm_instr));
	size_t steps = place(&bytes, n_instrs, sizeof(struct counts));
	size_t outcomes = place(&bytes, n_instrs, sizeof(struct nm_outcome_counters));
	size_t flows = place(&bytes, worker->n_flows, sizeof(struct flow_counts));
	size_t entries = place(&bytes, size, sizeof(struct nm_exec_entry));
	size_t times = place(&bytes, n_times, sizeof(struct nm_hist));
	size_t passes = place(&bytes, n_passes, sizeof(struct nm_hist));
	/* Pages that are never written take no memory, and most of a histogram's are not. */
	char *block =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		     MAP_ANONYMOUS | MAP_NORESERVE | (shared ? MAP_SHARED : MAP_PRIVATE), -1, 0);

	if (block == MAP_FAILED)
		return -ENOMEM;
	struct nm_flowop_stats *stats = (void *)block;

	*stats = (struct nm_flowop_stats){
		.flags = flags,
		.bytes = bytes,
		.n_instrs = n_instrs,
		.n_flows = worker->n_flows,
		.instrs = (void *)(block + instrs),
		.program = worker->group->instrs,
		.steps = (void *)(block + steps),
		.outcomes = (void *)(block + outcomes),
		.times = n_times ? (void *)(block + times) : NULL,
		.flows = (void *)(block + flows),
		.passes = n_passes ? (void *)(block + passes) : NULL,
		.epoch = 1,
		.log = {.size = size, .entries = (void *)(block + entries)},
	};
	for (size_t i = 0; i < n_passes; i++)
		nm_hist_init_zeroed(&stats->passes[i]);
	make_program(stats);
	*ret_stats = stats;
	return 0;
}

struct nm_flowop_stats *nm_flowop_stats_free(struct nm_flowop_stats *stats)
{
	if (stats)
		(void)munmap(stats, stats->bytes);
	return NULL;
}

const struct nm_instr *nm_observe_program(const struct nm_observe *observe,
					  const struct nm_group *group)
{
	return observe->stats ? observe->stats->instrs : group->instrs;
}

/* --- the control thread's side --- */

static void add_sums(struct nm_flowop_sums *into, const struct counts *from)
{
	into->operations += nm_counter_read(&from->operations);
	into->bytes_sent += nm_counter_read(&from->bytes_sent);
	into->bytes_received += nm_counter_read(&from->bytes_received);
	into->errors += nm_counter_read(&from->errors);
	into->cpu_ns += nm_counter_read(&from->cpu_ns);
	into->busy_ns += nm_counter_read(&from->busy_ns);
}

void nm_flowop_stats_add_step(const struct nm_flowop_stats *stats, uint32_t instr,
			      struct nm_flowop_sums *sums, struct nm_hist_snap *times)
{
	if (instr >= stats->n_instrs)
		return;
	add_sums(sums, &stats->steps[instr]);
	if (!nm_instr_serves(&stats->instrs[instr]))
		nm_outcomes_collect(&sums->outcomes, &stats->outcomes[instr]);
	if (times && stats->times && nm_counter_read(&stats->steps[instr].operations))
		nm_hist_collect(times, &stats->times[instr]);
}

void nm_flowop_stats_add_flow(const struct nm_flowop_stats *stats, uint32_t number,
			      struct nm_flowop_sums *sums)
{
	if (number < stats->n_flows)
		add_sums(sums, &stats->flows[number].counts);
}

uint64_t nm_flowop_stats_operations(const struct nm_flowop_stats *stats, uint32_t first,
				    uint32_t n_instrs)
{
	uint64_t operations = 0;

	for (uint32_t i = 0; i < n_instrs; i++)
		operations += nm_counter_read(&stats->steps[first + i].operations);
	return operations;
}

void nm_flowop_stats_begin_epoch(struct nm_flowop_stats *stats)
{
	atomic_fetch_add_explicit(&stats->epoch, 1, memory_order_relaxed);
}

static void read_extremes(const struct nm_flowop_stats *stats, const struct flow_counts *own,
			  struct nm_flow_sample *ret)
{
	uint32_t epoch = atomic_load_explicit(&stats->epoch, memory_order_relaxed) - 1;
	const struct extremes *extremes = &own->extremes[epoch & 1];

	if (atomic_load_explicit(&extremes->epoch, memory_order_acquire) != epoch)
		return;
	ret->min_ns = nm_counter_read(&extremes->min_ns);
	ret->max_ns = nm_counter_read(&extremes->max_ns);
}

void nm_flowop_stats_sample(const struct nm_flowop_stats *stats, uint32_t number,
			    struct nm_flow_sample *ret)
{
	*ret = (struct nm_flow_sample){.passes = 0};
	if (number >= stats->n_flows)
		return;
	const struct flow_counts *own = &stats->flows[number];
	uint64_t squares = nm_counter_read(&own->squares);

	ret->passes = nm_counter_read(&own->passes);
	ret->bytes_sent = nm_counter_read(&own->counts.bytes_sent);
	ret->bytes_received = nm_counter_read(&own->counts.bytes_received);
	ret->errors = nm_counter_read(&own->counts.errors);
	ret->sum_ns = nm_counter_read(&own->sum_ns);
	memcpy(&ret->squares, &squares, sizeof squares);
	read_extremes(stats, own, ret);
}

const struct nm_hist *nm_flowop_stats_passes(const struct nm_flowop_stats *stats, uint32_t number)
{
	return stats->passes && number < stats->n_flows ? &stats->passes[number] : NULL;
}

struct nm_exec_log *nm_flowop_stats_log(struct nm_flowop_stats *stats)
{
	return &stats->log;
}
