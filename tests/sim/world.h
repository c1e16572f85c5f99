/* SPDX-License-Identifier: Apache-2.0 */
/* A simulated world: its clock, its random numbers, what is on its way, and its tasks. Everything
 * in it follows from one seed; one thread of the real machine runs it. Times are nanoseconds of the
 * world's clock.
 *
 * A task has a stack of its own and runs until it blocks. When no task can run, the clock goes on
 * to the next event or deadline. When there is neither, the tasks wait for one another for ever:
 * the world says where each of them waits, and aborts. */
#ifndef NM_TESTS_SIM_WORLD_H
#define NM_TESTS_SIM_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIM_NEVER UINT64_MAX

struct sim_task;

/* Begins a world; the caller becomes its first task. One world at a time. */
void sim_begin(uint64_t seed);
/* Ends it. All other tasks must have ended. */
void sim_end(void);
/* False outside of sim_begin and sim_end: calls are the machine's own then. */
bool sim_runs(void);

uint64_t sim_now(void);
/* Until when no task could go on, the last time that none could. */
uint64_t sim_idle_until(void);
/* The present task computes for so long. */
void sim_spend(uint64_t ns);
/* A number from 0 to bound - 1. */
uint64_t sim_random(uint64_t bound);
/* True once in so many calls, at random. */
bool sim_once_in(uint64_t calls);

/* Something that happens at a time: do_it(arg), between two turns of tasks or within a call of one.
 * Events of one time happen in the order in which they were made. */
void sim_at(uint64_t at_ns, void (*do_it)(void *arg), void *arg);
/* All that is due has happened. */
void sim_happen(void);

/* A task of the owner that the present one has, which is its process. */
struct sim_task *sim_spawn(void *(*run)(void *arg), void *arg);
/* As sim_spawn, of another owner; the new task has its turn at once. */
struct sim_task *sim_spawn_now(void *owner, void *(*run)(void *arg), void *arg);
/* Called whenever the owner of the task that runs is another. */
void sim_on_change(void (*change)(void *from, void *to));
void *sim_owner(void);
void sim_set_owner(void *owner);
/* Ends the present task. */
_Noreturn void sim_exit(void);
/* All other tasks of the owner have their last turn behind them. */
void sim_stop_others(const void *owner);
/* Frees all tasks of the owner but the present one. */
void sim_drop(const void *owner);
/* Waits for the end of the task and frees it. */
void sim_join(struct sim_task *task);
/* The task waits until ready(arg) holds or the time has come; false: it has come, and ready(arg)
 * does not hold. `where` is what a report says of it. */
bool sim_block(bool (*ready)(void *arg), void *arg, uint64_t until_ns, const char *where);
/* Others may have a turn. */
void sim_yield(void);

/* Adds a fact to the trace; equal seeds have equal traces. Printed when sim_show_trace is set. */
void sim_trace(const char *what, int64_t a, int64_t b);
uint64_t sim_trace_hash(void);
extern bool sim_show_trace;

#endif
