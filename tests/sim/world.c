/* SPDX-License-Identifier: Apache-2.0 */
/* The clock, the events and the tasks of the simulated world. */
#include "world.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "../unit/sanitized.h"
#include "base/rng.h"
#include "memory.h"

#ifdef NM_SANITIZED
#include <sanitizer/common_interface_defs.h>
#endif

#define STACK_BYTES (1u << 20)

struct event {
	uint64_t at_ns, number;
	void (*do_it)(void *arg);
	void *arg;
};

struct sim_task {
	ucontext_t context;
	char *stack; /* NULL: the first task, whose stack is the program's */
	size_t stack_bytes;
	void *fake_stack; /* of the address sanitizer */
	void *(*run)(void *arg);
	void *arg;
	void *owner;
	bool (*ready)(void *arg); /* NULL: nothing, but for the time */
	void *ready_arg;
	uint64_t until_ns;
	const char *where;
	bool ended;
	struct sim_task *next;
};

static struct {
	bool runs;
	uint64_t seed, drawn, now_ns, idle_until_ns, n_events, hash;
	struct event *heap;
	size_t count, room;
	struct sim_task *tasks, *current, *leaving;
	void (*change)(void *from, void *to);
} world;

bool sim_show_trace;

/* --- numbers --- */

uint64_t sim_random(uint64_t bound)
{
	return nm_rng_below(world.seed, world.drawn++, bound);
}

bool sim_once_in(uint64_t calls)
{
	return sim_random(calls) == 0;
}

void sim_trace(const char *what, int64_t a, int64_t b)
{
	const uint64_t facts[] = {world.now_ns, (uint64_t)a, (uint64_t)b};

	for (const char *at = what; *at; at++)
		world.hash = nm_rng(world.hash, (unsigned char)*at);
	for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
		world.hash = nm_rng(world.hash, facts[i]);
	if (sim_show_trace)
		printf("%12.6f ms  %-12s %" PRId64 " %" PRId64 "\n", (double)world.now_ns / 1e6,
		       what, a, b);
}

uint64_t sim_trace_hash(void)
{
	return world.hash;
}

/* --- events --- */

uint64_t sim_now(void)
{
	return world.now_ns;
}

uint64_t sim_idle_until(void)
{
	return world.idle_until_ns;
}

void sim_spend(uint64_t ns)
{
	world.now_ns += ns;
}

static bool is_before(const struct event *a, const struct event *b)
{
	return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->number < b->number;
}

void sim_at(uint64_t at_ns, void (*do_it)(void *arg), void *arg)
{
	size_t at = world.count++;
	const struct event event = {
		.at_ns = at_ns, .number = world.n_events++, .do_it = do_it, .arg = arg};

	if (world.count > world.room) {
		world.room = world.room ? 2 * world.room : 64;
		world.heap = sim_grow(world.heap, world.room * sizeof *world.heap);
	}
	for (; at && is_before(&event, &world.heap[(at - 1) / 2]); at = (at - 1) / 2)
		world.heap[at] = world.heap[(at - 1) / 2];
	world.heap[at] = event;
}

static struct event take_first(void)
{
	struct event first = world.heap[0], last = world.heap[--world.count];
	size_t at = 0;

	for (size_t child; (child = 2 * at + 1) < world.count; at = child) {
		if (child + 1 < world.count &&
		    is_before(&world.heap[child + 1], &world.heap[child]))
			child++;
		if (!is_before(&world.heap[child], &last))
			break;
		world.heap[at] = world.heap[child];
	}
	world.heap[at] = last;
	return first;
}

void sim_happen(void)
{
	while (world.count && world.heap[0].at_ns <= world.now_ns) {
		struct event event = take_first();

		event.do_it(event.arg);
	}
}

/* --- tasks --- */

static void switch_to(struct sim_task *to)
{
	struct sim_task *from = world.current;

	if (from == to)
		return;
	if (world.change && from->owner != to->owner)
		world.change(from->owner, to->owner);
	world.leaving = from;
	world.current = to;
#ifdef NM_SANITIZED
	__sanitizer_start_switch_fiber(from->ended ? NULL : &from->fake_stack, to->stack,
				       to->stack_bytes);
#endif
	(void)swapcontext(&from->context, &to->context);
#ifdef NM_SANITIZED
	__sanitizer_finish_switch_fiber(world.current->fake_stack, NULL, NULL);
#endif
}

static bool can_run(const struct sim_task *task)
{
	return !task->ended &&
	       (task->until_ns <= world.now_ns || (task->ready && task->ready(task->ready_arg)));
}

static _Noreturn void report_deadlock(void)
{
	fprintf(stderr, "sim: seed %" PRIu64 ": at %.6f ms no task can go on:\n", world.seed,
		(double)world.now_ns / 1e6);
	for (const struct sim_task *task = world.tasks; task; task = task->next)
		if (!task->ended)
			fprintf(stderr, "  a task waits in %s\n", task->where);
	abort();
}

/* The clock goes on to the next event or deadline. */
static void pass_time(void)
{
	uint64_t next_ns = world.count ? world.heap[0].at_ns : SIM_NEVER;

	for (const struct sim_task *task = world.tasks; task; task = task->next)
		if (!task->ended && task->until_ns < next_ns)
			next_ns = task->until_ns;
	if (next_ns == SIM_NEVER)
		report_deadlock();
	if (next_ns > world.now_ns)
		world.now_ns = world.idle_until_ns = next_ns;
}

/* One of the tasks that can run has its turn. */
static void run_another(void)
{
	for (;;) {
		uint64_t n = 0;

		sim_happen();
		for (const struct sim_task *task = world.tasks; task; task = task->next)
			n += can_run(task);
		uint64_t chosen = n ? sim_random(n) : 0;

		for (struct sim_task *task = world.tasks; n && task; task = task->next)
			if (can_run(task) && chosen-- == 0) {
				switch_to(task);
				return;
			}
		pass_time();
	}
}

static void begin_task(void)
{
	struct sim_task *self = world.current;

#ifdef NM_SANITIZED
	const void *bottom;
	size_t bytes;

	__sanitizer_finish_switch_fiber(NULL, &bottom, &bytes);
	if (!world.leaving->stack) { /* what the first task's stack is, is known only now */
		world.leaving->stack_bytes = bytes;
		memcpy(&world.leaving->stack, &bottom, sizeof bottom);
	}
#endif
	(void)self->run(self->arg);
	sim_exit();
}

_Noreturn void sim_exit(void)
{
	world.current->ended = true;
	run_another();
	abort(); /* nobody gives an ended task its turn */
}

static struct sim_task *make_task(void *owner, void *(*run)(void *arg), void *arg)
{
	struct sim_task *task = sim_new(sizeof *task);
	struct sim_task **last = &world.tasks;

	if (getcontext(&task->context) < 0)
		abort();
	task->stack = sim_grow(NULL, STACK_BYTES);
	task->stack_bytes = STACK_BYTES;
	task->run = run;
	task->arg = arg;
	task->owner = owner;
	task->where = "its beginning";
	task->context.uc_stack.ss_sp = task->stack;
	task->context.uc_stack.ss_size = STACK_BYTES;
	makecontext(&task->context, begin_task, 0);
	while (*last)
		last = &(*last)->next;
	*last = task;
	return task;
}

struct sim_task *sim_spawn(void *(*run)(void *arg), void *arg)
{
	return make_task(world.current->owner, run, arg);
}

/* The task waits for nothing but its next turn. */
static void wait_for_turn(const char *where)
{
	struct sim_task *self = world.current;

	self->ready = NULL;
	self->until_ns = world.now_ns;
	self->where = where;
}

struct sim_task *sim_spawn_now(void *owner, void *(*run)(void *arg), void *arg)
{
	struct sim_task *task = make_task(owner, run, arg);

	wait_for_turn("a turn of its child");
	switch_to(task);
	return task;
}

void sim_on_change(void (*change)(void *from, void *to))
{
	world.change = change;
}

void *sim_owner(void)
{
	return world.current->owner;
}

void sim_set_owner(void *owner)
{
	world.current->owner = owner;
}

bool sim_block(bool (*ready)(void *arg), void *arg, uint64_t until_ns, const char *where)
{
	struct sim_task *self = world.current;

	self->ready = ready;
	self->ready_arg = arg;
	self->until_ns = until_ns;
	self->where = where;
	run_another();
	return ready && ready(arg);
}

void sim_yield(void)
{
	wait_for_turn("a turn of others");
	run_another();
}

static bool has_ended(void *task)
{
	return ((struct sim_task *)task)->ended;
}

static void free_at(struct sim_task **at)
{
	struct sim_task *task = *at;

	*at = task->next;
	free(task->stack);
	free(task);
}

void sim_join(struct sim_task *task)
{
	struct sim_task **at = &world.tasks;

	(void)sim_block(has_ended, task, SIM_NEVER, "join");
	while (*at != task)
		at = &(*at)->next;
	free_at(at);
}

void sim_stop_others(const void *owner)
{
	for (struct sim_task *task = world.tasks; task; task = task->next)
		if (task->owner == owner && task != world.current)
			task->ended = true;
}

void sim_drop(const void *owner)
{
	struct sim_task **at = &world.tasks;

	while (*at) {
		if ((*at)->owner != owner || *at == world.current)
			at = &(*at)->next;
		else
			free_at(at);
	}
}

void sim_begin(uint64_t seed)
{
	memset(&world, 0, sizeof world);
	world.seed = seed;
	world.now_ns = 1000000000; /* 0 means never in many places */
	world.tasks = world.current = sim_new(sizeof *world.tasks);
	world.runs = true;
}

void sim_end(void)
{
	world.runs = false;
	if (world.tasks->next) {
		fprintf(stderr, "sim: seed %" PRIu64 ": a task has not ended\n", world.seed);
		abort();
	}
	/* What is still on its way comes to nobody. */
	while (world.count) {
		struct event event = take_first();

		world.now_ns = event.at_ns > world.now_ns ? event.at_ns : world.now_ns;
		event.do_it(event.arg);
	}
	free(world.heap);
	free(world.tasks);
	memset(&world, 0, sizeof world);
}

bool sim_runs(void)
{
	return world.runs;
}
