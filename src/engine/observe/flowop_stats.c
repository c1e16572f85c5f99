/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/flowop_stats.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "engine/observe/observe.h"
#include "engine/engine_priv.h"
#include "flowop/flowop.h"
#include "host/clock.h"

/* All logs of an engine together, and what one worker's may hold. */
#define LOG_BYTES	(64u << 20)
#define LOG_MAX_RECORDS 65536u
#define LOG_MIN_RECORDS 256u

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
	uint64_t last_ns; /* when its last flowop ended */
	/* With NM_OBSERVE_PASSES. */
	uint64_t start_ns;			  /* of the pass */
	uint64_t logged;			  /* passes, with NM_OBSERVE_PASS_LOG */
	_Atomic uint64_t passes, sum_ns, squares; /* the last: the bits of a double */
	struct extremes extremes[2];		  /* by the lowest bit of the epoch */
};

struct record {
	uint64_t end_ns, elapsed_ns;
	uint32_t flow; /* local */
	uint32_t instr;
};
#define RECORD_FAILED 0x80000000u
#define RECORD_PASS   0x40000000u

/* Written by the worker, read by main; each end has a line of its own. */
struct log {
	_Alignas(64) _Atomic uint64_t written;
	_Atomic uint64_t lost;
	_Alignas(64) _Atomic uint64_t taken;
	uint64_t size; /* a power of two; 0: no log */
};

struct nm_flowop_stats {
	unsigned flags;
	size_t bytes; /* of this block */
	uint32_t n_instrs;
	struct nm_instr *instrs;	/* the worker's program */
	const struct nm_instr *program; /* the plan's */
	struct counts *steps;		/* by instruction */
	struct nm_hist *times;		/* the same; NULL: not kept */
	struct flow_counts *flows;	/* by the worker's own number */
	struct nm_hist *passes;		/* the same; NULL: not kept */
	struct record *records;
	_Atomic uint32_t epoch; /* main writes it; 1 at first */
	struct log log;
};

static struct nm_worker *worker_of(struct nm_io *io)
{
	return (struct nm_worker *)(void *)((char *)io - offsetof(struct nm_worker, io));
}

static uint32_t number_of(const struct nm_worker *worker, const struct nm_flow *flow)
{
	return (uint32_t)((size_t)((const char *)flow - worker->flows) / worker->flow_bytes);
}

static uint64_t thread_cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static void log_add(struct nm_worker *worker, const struct record *record)
{
	struct log *log = &worker->observe.stats->log;
	uint64_t written = atomic_load_explicit(&log->written, memory_order_relaxed);
	uint64_t used = written - atomic_load_explicit(&log->taken, memory_order_acquire);

	if (used == log->size) {
		nm_counter_add(&log->lost, 1);
		return;
	}
	worker->observe.stats->records[written & (log->size - 1)] = *record;
	atomic_store_explicit(&log->written, written + 1, memory_order_release);
	if (used + 1 == log->size / 2)
		nm_worker_notify_owner(worker);
}

static void note_pass(const struct nm_flowop_stats *detail, struct flow_counts *own, uint64_t ns)
{
	uint32_t epoch = atomic_load_explicit(&detail->epoch, memory_order_relaxed);
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
	struct flow_counts *own = &worker->observe.stats->flows[number_of(worker, flow)];

	if (flow->unanswered)
		return;
	nm_counter_add(&own->passes, 1);
	if (!now_ns || !worker->engine->measures)
		return;
	note_pass(worker->observe.stats, own, now_ns - own->start_ns);
	if (worker->observe.stats->passes)
		nm_hist_record(&worker->observe.stats->passes[number_of(worker, flow)],
			       now_ns - own->start_ns);
	if (worker->run.phase->measured && own->logged < worker->engine->log_passes) {
		own->logged++;
		log_add(worker, &(struct record){.end_ns = now_ns,
						 .elapsed_ns = now_ns - own->start_ns,
						 .flow = number_of(worker, flow),
						 .instr = worker->run.phase->first | RECORD_PASS});
	}
}

/* A flowop is over: it has taken the time since the flow's flowop before it, or since the pass
 * began. */
static void step_over(struct nm_worker *worker, struct nm_flow *flow, uint32_t index, bool failed)
{
	struct nm_flowop_stats *detail = worker->observe.stats;
	struct flow_counts *own = &detail->flows[number_of(worker, flow)];

	nm_counter_add(&detail->steps[index].operations, 1);
	nm_counter_add(&own->counts.operations, 1);
	if (!detail->times)
		return;
	uint64_t now_ns = nm_clock_ns();
	uint64_t from_ns = own->last_ns > flow->start_ns ? own->last_ns : flow->start_ns;
	uint64_t elapsed_ns = now_ns - from_ns;

	own->last_ns = now_ns;
	nm_hist_record(&detail->times[index], elapsed_ns);
	nm_counter_add(&detail->steps[index].busy_ns, elapsed_ns);
	nm_counter_add(&own->counts.busy_ns, elapsed_ns);
	if (detail->flags & NM_OBSERVE_EXECS)
		log_add(worker, &(struct record){.end_ns = now_ns,
						 .elapsed_ns = elapsed_ns,
						 .flow = number_of(worker, flow),
						 .instr = index | (failed ? RECORD_FAILED : 0)});
}

static void add_bytes(struct counts *counts, uint64_t sent, uint64_t received)
{
	if (sent)
		nm_counter_add(&counts->bytes_sent, sent);
	if (received)
		nm_counter_add(&counts->bytes_received, received);
}

/* Those that the step itself has counted. */
static void add_errors(struct counts *step, struct flow_counts *own, uint64_t errors)
{
	if (errors) {
		nm_counter_add(&step->errors, errors);
		nm_counter_add(&own->counts.errors, errors);
	}
}

/* Stands in for the step of every flowop. */
static enum nm_step measured_step(struct nm_io *io, struct nm_flow *flow,
				  const struct nm_instr *instr)
{
	struct nm_worker *worker = worker_of(io);
	struct nm_flowop_stats *detail = worker->observe.stats;
	uint32_t index = (uint32_t)(instr - detail->instrs);
	struct counts *step = &detail->steps[index];
	struct flow_counts *own = &detail->flows[number_of(worker, flow)];
	bool counts_cpu = detail->flags & NM_OBSERVE_CPU;
	uint64_t sent = nm_counter_read(&io->count->bytes_sent);
	uint64_t received = nm_counter_read(&io->count->bytes_received);
	uint64_t errors = nm_counter_read(&io->count->errors);
	uint64_t cpu_ns = counts_cpu ? thread_cpu_ns() : 0;

	own->start_ns = flow->start_ns; /* the end of a pass is the begin of the next one */
	enum nm_step answer = detail->program[index].step(io, flow, instr);

	if (counts_cpu)
		nm_counter_add(&step->cpu_ns, thread_cpu_ns() - cpu_ns);
	sent = nm_counter_read(&io->count->bytes_sent) - sent;
	received = nm_counter_read(&io->count->bytes_received) - received;
	add_bytes(step, sent, received);
	add_bytes(&own->counts, sent, received);
	add_errors(step, own, nm_counter_read(&io->count->errors) - errors);
	if (answer == NM_STEP_NEXT || answer == NM_STEP_NEXT_WAIT_IN)
		step_over(worker, flow, index, false);
	return answer;
}

void nm_flowop_stats_failed(struct nm_worker *worker, struct nm_flow *flow,
			    const struct nm_instr *instr)
{
	struct nm_flowop_stats *detail = worker->observe.stats;
	uint32_t index = (uint32_t)(instr - detail->instrs);

	nm_counter_add(&detail->steps[index].errors, 1);
	nm_counter_add(&detail->flows[number_of(worker, flow)].counts.errors, 1);
	if (instr->can_fail)
		step_over(worker, flow, index, true);
}

void nm_flowop_stats_expired(struct nm_worker *worker, struct nm_flow *flow,
			     const struct nm_instr *instr)
{
	step_over(worker, flow, (uint32_t)(instr - worker->observe.stats->instrs), true);
}

void nm_flowop_stats_drained(struct nm_worker *worker, const struct nm_conn *conn, uint64_t bytes)
{
	struct nm_flowop_stats *detail = worker->observe.stats;
	const struct nm_phase *phase = worker->run.phase;
	uint32_t index = UINT32_MAX;

	/* With a stride the connection of an instruction is another in each pass. */
	for (uint32_t i = phase->first; i < phase->first + phase->n_instrs; i++) {
		const struct nm_instr *instr = &detail->program[i];

		if (instr->drains &&
		    (index == UINT32_MAX || &conn->flow->conns[instr->slot] == conn))
			index = i;
	}
	if (index == UINT32_MAX)
		return;
	add_bytes(&detail->steps[index], 0, bytes);
	add_bytes(&detail->flows[number_of(worker, conn->flow)].counts, 0, bytes);
}

void nm_flowop_stats_settled(struct nm_worker *worker, const struct nm_conn *conn, uint64_t sent,
			     uint64_t received)
{
	struct nm_flowop_stats *detail = worker->observe.stats;
	const struct nm_phase *phase = worker->run.phase;

	add_bytes(&detail->flows[number_of(worker, conn->flow)].counts, sent, received);
	for (uint32_t i = phase->first; i < phase->first + phase->n_instrs; i++) {
		const struct nm_instr *instr = &detail->program[i];
		uint32_t flags = instr->op ? instr->op->flags : 0;
		bool out = flags & (NM_FLOWOP_INITIATES | NM_FLOWOP_BOTH);
		bool in = flags & (NM_FLOWOP_FOLLOWS | NM_FLOWOP_BOTH);

		if (!(flags & NM_FLOWOP_MOVES) || !instr->can_fail)
			continue;
		add_bytes(&detail->steps[i], out ? sent : 0, in ? received : 0);
		sent = out ? 0 : sent;
		received = in ? 0 : received;
	}
}

/* --- making --- */

static uint64_t log_size(const struct nm_worker *worker)
{
	const struct nm_plan *plan = worker->engine->plan;
	uint64_t n_workers = 0, size = LOG_MAX_RECORDS;
	bool passes = worker->engine->details & NM_OBSERVE_PASS_LOG;
	uint64_t per_flow = worker->engine->log_passes;

	for (uint32_t g = 0; g < plan->n_groups; g++)
		n_workers += plan->groups[g].runs ? plan->groups[g].n_workers : 0;
	/* Nothing is lost where there is room for all. */
	while (passes && size < LOG_BYTES && size / per_flow < worker->n_flows)
		size *= 2;
	while (size > LOG_MIN_RECORDS && size * sizeof(struct record) * n_workers > LOG_BYTES)
		size /= 2;
	return size;
}

/* Where the next part of the block begins; *used grows by it. */
static size_t place(size_t *used, size_t count, size_t size)
{
	size_t at = (*used + 63) & ~(size_t)63;

	*used = at + count * size;
	return at;
}

int nm_flowop_stats_new(struct nm_worker *worker, unsigned flags, bool shared,
			struct nm_flowop_stats **ret_detail)
{
	uint32_t n_instrs = worker->group->n_instrs;
	size_t n_times = flags & NM_OBSERVE_TIMES ? n_instrs : 0;
	size_t n_passes = flags & NM_OBSERVE_PASS_TIMES ? worker->n_flows : 0;
	uint64_t size = flags & NM_OBSERVE_OWN ? log_size(worker) : 0;
	size_t bytes = sizeof(struct nm_flowop_stats);

	*ret_detail = NULL;
	if (!(flags & NM_OBSERVE_STEPS))
		return 0;
	size_t instrs = place(&bytes, n_instrs, sizeof(struct nm_instr));
	size_t steps = place(&bytes, n_instrs, sizeof(struct counts));
	size_t flows = place(&bytes, worker->n_flows, sizeof(struct flow_counts));
	size_t records = place(&bytes, size, sizeof(struct record));
	size_t times = place(&bytes, n_times, sizeof(struct nm_hist));
	size_t passes = place(&bytes, n_passes, sizeof(struct nm_hist));
	/* Pages that nothing is written to take no memory: most of a histogram's never are. */
	char *block =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		     MAP_ANONYMOUS | MAP_NORESERVE | (shared ? MAP_SHARED : MAP_PRIVATE), -1, 0);

	if (block == MAP_FAILED)
		return -ENOMEM;
	struct nm_flowop_stats *detail = (void *)block;

	*detail = (struct nm_flowop_stats){
		.flags = flags,
		.bytes = bytes,
		.n_instrs = n_instrs,
		.instrs = (void *)(block + instrs),
		.program = worker->group->instrs,
		.steps = (void *)(block + steps),
		.times = n_times ? (void *)(block + times) : NULL,
		.flows = (void *)(block + flows),
		.passes = n_passes ? (void *)(block + passes) : NULL,
		.records = (void *)(block + records),
		.epoch = 1,
		.log.size = size,
	};
	memcpy(detail->instrs, detail->program, n_instrs * sizeof *detail->instrs);
	for (size_t i = 0; i < n_passes; i++)
		nm_hist_init_zeroed(&detail->passes[i]);
	for (uint32_t i = 0; i < n_instrs; i++) {
		if (!nm_flowop_is_named(detail->instrs[i].op))
			continue;
		detail->instrs[i].step = measured_step;
		if (detail->times) /* all else is zero already, and stays untouched */
			atomic_init(&detail->times[i].min_ns, UINT64_MAX);
	}
	*ret_detail = detail;
	return 0;
}

struct nm_flowop_stats *nm_flowop_stats_free(struct nm_flowop_stats *detail)
{
	if (detail)
		(void)munmap(detail, detail->bytes);
	return NULL;
}

const struct nm_instr *nm_flowop_stats_instrs(const struct nm_flowop_stats *detail)
{
	return detail->instrs;
}

/* --- reading, by main --- */

static void collect(struct nm_flowop_sums *into, const struct counts *from)
{
	into->operations += nm_counter_read(&from->operations);
	into->bytes_sent += nm_counter_read(&from->bytes_sent);
	into->bytes_received += nm_counter_read(&from->bytes_received);
	into->errors += nm_counter_read(&from->errors);
	into->cpu_ns += nm_counter_read(&from->cpu_ns);
	into->busy_ns += nm_counter_read(&from->busy_ns);
}

unsigned nm_engine_details(const struct nm_engine *engine)
{
	return engine->details;
}

void nm_engine_step_sums(const struct nm_engine *engine, uint32_t group, uint32_t instr,
			 struct nm_flowop_sums *ret_sums, struct nm_hist_snap *ret_times)
{
	const struct nm_engine_group *g = &engine->groups[group];

	*ret_sums = (struct nm_flowop_sums){.operations = 0};
	if (ret_times)
		nm_hist_snap_init(ret_times);
	for (uint32_t w = 0; w < g->n_workers; w++) {
		const struct nm_flowop_stats *detail = g->workers[w].observe.stats;

		if (!detail || instr >= detail->n_instrs)
			continue;
		collect(ret_sums, &detail->steps[instr]);
		if (ret_times && detail->times && nm_counter_read(&detail->steps[instr].operations))
			nm_hist_collect(ret_times, &detail->times[instr]);
	}
}

void nm_engine_flow_sums(const struct nm_engine *engine, uint32_t group, uint32_t flow,
			 struct nm_flowop_sums *ret_sums)
{
	const struct nm_engine_group *g = &engine->groups[group];
	const struct nm_worker *worker = g->n_workers ? &g->workers[flow % g->n_workers] : NULL;

	*ret_sums = (struct nm_flowop_sums){.operations = 0};
	if (worker && worker->observe.stats && flow / g->n_workers < worker->n_flows)
		collect(ret_sums, &worker->observe.stats->flows[flow / g->n_workers].counts);
}

void nm_engine_flow_epoch(const struct nm_engine *engine)
{
	for (uint32_t g = 0; g < engine->plan->n_groups; g++) {
		for (uint32_t w = 0; w < engine->groups[g].n_workers; w++) {
			struct nm_flowop_stats *detail = engine->groups[g].workers[w].observe.stats;

			if (detail)
				atomic_fetch_add_explicit(&detail->epoch, 1, memory_order_relaxed);
		}
	}
}

static void read_extremes(const struct nm_flowop_stats *detail, const struct flow_counts *own,
			  struct nm_flow_sample *ret)
{
	uint32_t epoch = atomic_load_explicit(&detail->epoch, memory_order_relaxed) - 1;
	const struct extremes *extremes = &own->extremes[epoch & 1];

	if (atomic_load_explicit(&extremes->epoch, memory_order_acquire) != epoch)
		return;
	ret->min_ns = nm_counter_read(&extremes->min_ns);
	ret->max_ns = nm_counter_read(&extremes->max_ns);
}

void nm_engine_flow_sample(const struct nm_engine *engine, uint32_t group, uint32_t flow,
			   struct nm_flow_sample *ret_sample)
{
	const struct nm_engine_group *g = &engine->groups[group];
	const struct nm_worker *worker = g->n_workers ? &g->workers[flow % g->n_workers] : NULL;

	*ret_sample = (struct nm_flow_sample){.passes = 0};
	if (!worker || !worker->observe.stats || flow / g->n_workers >= worker->n_flows)
		return;
	const struct flow_counts *own = &worker->observe.stats->flows[flow / g->n_workers];
	uint64_t squares = nm_counter_read(&own->squares);

	ret_sample->passes = nm_counter_read(&own->passes);
	ret_sample->bytes_sent = nm_counter_read(&own->counts.bytes_sent);
	ret_sample->bytes_received = nm_counter_read(&own->counts.bytes_received);
	ret_sample->errors = nm_counter_read(&own->counts.errors);
	ret_sample->sum_ns = nm_counter_read(&own->sum_ns);
	memcpy(&ret_sample->squares, &squares, sizeof squares);
	read_extremes(worker->observe.stats, own, ret_sample);
}

bool nm_engine_flow_times(const struct nm_engine *engine, uint32_t group, uint32_t flow,
			  struct nm_hist_snap *ret_times)
{
	const struct nm_engine_group *g = &engine->groups[group];
	const struct nm_worker *worker = g->n_workers ? &g->workers[flow % g->n_workers] : NULL;

	if (!worker || !worker->observe.stats || !worker->observe.stats->passes ||
	    flow / g->n_workers >= worker->n_flows)
		return false;
	nm_hist_copy_buckets(&worker->observe.stats->passes[flow / g->n_workers], ret_times);
	return true;
}

uint64_t nm_engine_operations(const struct nm_engine *engine, uint32_t group, uint32_t phase)
{
	const struct nm_engine_group *g = &engine->groups[group];
	uint64_t operations = 0;

	if (phase >= g->plan->n_phases)
		return 0;
	for (uint32_t w = 0; w < g->n_workers; w++) {
		const struct nm_phase *p = &g->plan->phases[phase];
		const struct nm_flowop_stats *detail = g->workers[w].observe.stats;

		for (uint32_t i = 0; detail && i < p->n_instrs; i++)
			operations += nm_counter_read(&detail->steps[p->first + i].operations);
	}
	return operations;
}

static size_t take_from(const struct nm_worker *worker, struct nm_exec_record *list, size_t room)
{
	struct log *log = &worker->observe.stats->log;
	uint64_t taken = atomic_load_explicit(&log->taken, memory_order_relaxed);
	uint64_t ready = atomic_load_explicit(&log->written, memory_order_acquire) - taken;
	size_t n = ready < room ? (size_t)ready : room;

	for (size_t i = 0; i < n; i++) {
		const struct record *record =
			&worker->observe.stats->records[(taken + i) & (log->size - 1)];

		list[i] = (struct nm_exec_record){
			.end_ns = record->end_ns,
			.elapsed_ns = record->elapsed_ns,
			.group = worker->group_no,
			.flow = nm_worker_flow(worker, record->flow)->index,
			.instr = record->instr & ~(RECORD_FAILED | RECORD_PASS),
			.is_pass = record->instr & RECORD_PASS,
			.failed = record->instr & RECORD_FAILED,
		};
	}
	atomic_store_explicit(&log->taken, taken + n, memory_order_release);
	return n;
}

size_t nm_engine_take_execs(struct nm_engine *engine, struct nm_exec_record *list, size_t room)
{
	const uint32_t n_groups = engine->plan->n_groups;
	uint32_t g = engine->taking.group, w = engine->taking.worker;
	size_t n = 0;

	if (!(engine->details & NM_OBSERVE_OWN))
		return 0;
	/* From where the last call has ended, so that a quick worker does not keep the others
	 * waiting; each group is come to once, and the first one a second time. */
	for (uint32_t seen = 0; seen <= n_groups && n < room; seen++) {
		for (; w < engine->groups[g].n_workers && n < room; w++)
			n += take_from(&engine->groups[g].workers[w], list + n, room - n);
		if (w < engine->groups[g].n_workers)
			break;
		g = (g + 1) % n_groups;
		w = 0;
	}
	engine->taking.group = g;
	engine->taking.worker = w;
	return n;
}

uint64_t nm_engine_lost_execs(const struct nm_engine *engine)
{
	uint64_t lost = 0;

	if (!(engine->details & NM_OBSERVE_OWN))
		return 0;
	for (uint32_t g = 0; g < engine->plan->n_groups; g++)
		for (uint32_t w = 0; w < engine->groups[g].n_workers; w++)
			lost += nm_counter_read(
				&engine->groups[g].workers[w].observe.stats->log.lost);
	return lost;
}
