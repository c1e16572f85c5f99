/* SPDX-License-Identifier: Apache-2.0 */
/* Processes of the simulated kernel. */
#include "process.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include <libxml/xmlerror.h>

#include "host/fork.h"
#include "memory.h"
#include "object.h"
#include "world.h"

static struct sim_process *first;
static pid_t last_pid;

struct sim_process *sim_process(void)
{
	return sim_owner();
}

static struct sim_process *make(struct sim_process *parent)
{
	struct sim_process *process = sim_new(sizeof *process), **last = &first;

	while (*last)
		last = &(*last)->next;
	*last = process;
	process->pid = ++last_pid;
	process->parent = parent;
	return process;
}

/* The section of all variables of NM_OF_PROCESS. */
extern char __start_nm_of_process[], __stop_nm_of_process[];

static size_t own_bytes(void)
{
	size_t bytes = (size_t)(__stop_nm_of_process - __start_nm_of_process);

	if (bytes > sizeof first->own)
		abort();
	return bytes;
}

static void change(void *from, void *to)
{
	memcpy(((struct sim_process *)from)->own, __start_nm_of_process, own_bytes());
	memcpy(__start_nm_of_process, ((struct sim_process *)to)->own, own_bytes());
}

void sim_processes_begin(void)
{
	sim_on_change(change);
	first = NULL;
	last_pid = 0;
	sim_set_owner(make(NULL));
}

bool sim_is_alone(void)
{
	for (const struct sim_process *process = first->next; process; process = process->next)
		if (!process->ended)
			return false;
	return true;
}

bool sim_has_sessions(void)
{
	for (const struct sim_process *process = first->next; process; process = process->next)
		if (!process->ended && process->parent != first)
			return true;
	return false;
}

bool sim_processes_end(void)
{
	bool alone = sim_is_alone();

	while (first) {
		struct sim_process *process = first;

		first = process->next;
		sim_drop(process);
		(void)sim_memory_leave(process, process->ended);
		free(process);
	}
	sim_on_change(NULL);
	sim_set_owner(NULL);
	return alone;
}

/* --- begin --- */

struct start {
	void (*run)(const void *arg);
	const void *arg;
};

static void *run_child(void *arg)
{
	const struct start start = *(const struct start *)arg;

	start.run(start.arg);
	sim_process_exit(0);
}

/* The child has the descriptors of its parent. */
static void inherit(struct sim_process *child)
{
	memcpy(child->places, child->parent->places, sizeof child->places);
	for (unsigned i = 1; i < SIM_MOST; i++)
		if (child->places[i])
			sim_hold(child->places[i]);
}

pid_t sim_start(unsigned host, void (*run)(const void *arg), const void *arg)
{
	struct sim_process *child = make(sim_process());
	struct start start = {.run = run, .arg = arg};

	child->host = host;
	child->on_term = child->parent->on_term;
	memcpy(child->own, __start_nm_of_process, own_bytes());
	inherit(child);
	sim_trace("process", child->pid, host);
	(void)sim_spawn_now(child, run_child, &start);
	return child->pid;
}

pid_t nm_fork(void (*child)(const void *arg), const void *arg)
{
	int fault = sim_call("fork", 0);

	if (fault) {
		errno = -fault;
		return -1;
	}
	return sim_start(sim_process()->host, child, arg);
}

pid_t sim_getppid(void)
{
	const struct sim_process *parent = sim_process()->parent;

	return parent ? parent->pid : 1;
}

/* --- end --- */

static void close_all(struct sim_process *process)
{
	for (unsigned i = 1; i < SIM_MOST; i++)
		if (process->places[i]) {
			sim_release(process->places[i]);
			process->places[i] = 0;
		}
}

/* Its children have no parent any more. */
static void orphan(const struct sim_process *parent)
{
	for (struct sim_process *child = first; child; child = child->next) {
		if (child->parent != parent)
			continue;
		child->parent = NULL;
		if (!child->ended && child->parent_end_signal)
			(void)sim_kill(child->pid, child->parent_end_signal);
	}
}

/* Its memory and its stacks stay while the world lasts: its children may have arguments there. */
static void end(struct sim_process *process, int status)
{
	sim_trace("end", process->pid, status);
	xmlResetLastError(); /* libxml2 keeps it */
	process->ended = true;
	process->status = status;
	if (WIFEXITED(status))
		sim_kernel.state.left_bytes += sim_memory_leave(process, false);
	sim_stop_others(process);
	close_all(process);
	orphan(process);
}

static _Noreturn void end_self(int status)
{
	end(sim_process(), status);
	sim_exit();
}

_Noreturn void sim_process_exit(int code)
{
	end_self(W_EXITCODE(code, 0));
}

_Noreturn void sim_process_die(void)
{
	end_self(W_EXITCODE(0, SIGKILL));
}

static struct sim_process *find(pid_t pid)
{
	struct sim_process *at = first;

	while (at && (at->pid != pid || at->reaped))
		at = at->next;
	return at;
}

/* By how much the clock of its host is too fast, of one. */
static double drift(void)
{
	const unsigned host = sim_process()->host;
	const double drift = (double)sim_kernel.config.drift_ppm / 1e6;

	if (!host)
		return 0;
	return host % 2 ? drift : -drift;
}

uint64_t sim_clock_at(uint64_t ns)
{
	return ns + sim_process()->host * sim_kernel.config.ahead_ns +
	       (uint64_t)(int64_t)((double)ns * drift());
}

uint64_t sim_until(int64_t timeout_ns)
{
	if (timeout_ns < 0)
		return SIM_NEVER;
	return sim_now() + (uint64_t)((double)timeout_ns / (1 + drift()));
}

unsigned sim_n_descriptors(pid_t pid)
{
	const struct sim_process *process = pid ? find(pid) : sim_process();
	unsigned n = 0;

	for (unsigned i = 1; process && i < SIM_MOST; i++)
		n += process->places[i] != 0;
	return n;
}

static bool has_ended(void *process)
{
	return ((const struct sim_process *)process)->ended;
}

pid_t sim_waitpid(pid_t pid, int *ret_status, int options)
{
	struct sim_process *child = find(pid);

	sim_call("waitpid", pid);
	if (!child || child->parent != sim_process())
		return -ECHILD;
	if (!child->ended && (options & WNOHANG))
		return 0;
	if (!child->ended)
		(void)sim_block(has_ended, child, SIM_NEVER, "waitpid");
	if (ret_status)
		*ret_status = child->status;
	child->reaped = true;
	return pid;
}

/* --- signals --- */

int sim_kill(pid_t pid, int number)
{
	struct sim_process *process = find(pid);

	sim_trace("kill", pid, number);
	if (!process)
		return -ESRCH;
	if (process->ended || (number == SIGTERM && process->on_term == SIG_IGN))
		return 0;
	if (number == SIGTERM && process->on_term) {
		process->term_is_due = true;
		return 0;
	}
	if (number != SIGTERM && number != SIGKILL)
		sim_unknown("kill", number);
	if (process == sim_process())
		end_self(W_EXITCODE(0, number));
	end(process, W_EXITCODE(0, number));
	return 0;
}

bool sim_signal_handle(void)
{
	struct sim_process *self = sim_process();

	if (!self->term_is_due)
		return false;
	self->term_is_due = false;
	self->on_term(SIGTERM);
	return true;
}
