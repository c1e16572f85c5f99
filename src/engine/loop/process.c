/* SPDX-License-Identifier: Apache-2.0 */
/* Workers that are processes. The control thread and such a worker talk through memory that they
 * share, and descriptors that the worker inherits. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "engine/alarm.h"
#include "engine/engine_priv.h"
#include "host/signals.h"
#include "host/clock.h"

static void run(struct nm_worker *worker, pid_t parent)
{
	nm_signals_forget_handlers();
	/* The control thread decides when the run ends, also for a terminal that interrupts all
	 * processes of its foreground. */
	(void)signal(SIGINT, SIG_IGN);
	(void)signal(SIGTERM, SIG_DFL);
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	nm_signals_unblock();
	nm_alarm_open(worker);
	if (getppid() == parent)
		(void)nm_worker_main(worker);
	_exit(EXIT_SUCCESS);
}

int nm_process_start(struct nm_worker *worker)
{
	pid_t parent = getpid();
	sigset_t before;

	/* A signal before the child has forgotten the program's handlers would be handled twice. */
	nm_signals_block(&before);
	pid_t pid = fork();
	int error = pid < 0 ? -errno : 0;

	if (pid == 0)
		run(worker, parent);
	nm_signals_restore(&before);
	worker->spawn.pid = pid > 0 ? pid : 0;
	return error;
}

/* How long the processes may take to end, all together; and how often the engine looks. */
#define END_NS	    2000000000u
#define END_LOOK_NS 500000u

/* Kills a process that does not react (it may have been stopped). */
void nm_process_join(struct nm_worker *worker)
{
	struct nm_engine *engine = worker->engine;
	const struct timespec look = {.tv_nsec = END_LOOK_NS};
	pid_t pid = 0;

	if (worker->spawn.pid > 0 && !engine->processes_end_ns)
		engine->processes_end_ns = nm_clock_ns() + END_NS;
	while (worker->spawn.pid > 0 && pid != worker->spawn.pid) {
		pid = waitpid(worker->spawn.pid, NULL, WNOHANG);
		if (pid < 0 && errno != EINTR)
			break;
		if (pid == 0 && nm_clock_ns() >= engine->processes_end_ns)
			(void)kill(worker->spawn.pid, SIGKILL);
		if (pid == 0)
			(void)nanosleep(&look, NULL);
	}
	worker->spawn.pid = 0;
}

/* Writes how the process has ended, for the user. pid < 0: unknown. */
static void tell_end(const struct nm_worker *worker, pid_t pid, int status, char *buf, size_t size)
{
	int used = snprintf(buf, size, "a worker process of group %.80s ", worker->group->name);

	if (used < 0 || (size_t)used >= size)
		return;
	buf += used;
	size -= (size_t)used;
	if (pid > 0 && WIFSIGNALED(status))
		(void)snprintf(buf, size, "was ended by signal %d (%s)", WTERMSIG(status),
			       strsignal(WTERMSIG(status)));
	else if (pid > 0 && WIFEXITED(status))
		(void)snprintf(buf, size, "has ended with exit code %d", WEXITSTATUS(status));
	else
		(void)snprintf(buf, size, "has ended");
}

void nm_process_check(struct nm_worker *worker)
{
	if (worker->spawn.pid <= 0)
		return;
	int status = 0;
	pid_t pid = waitpid(worker->spawn.pid, &status, WNOHANG);

	/* ECHILD: the program has reaped it, or leaves that to the system. */
	if (pid == 0 || (pid < 0 && errno != ECHILD))
		return;
	worker->spawn.pid = 0;
	if (atomic_load_explicit(&worker->answers.failed, memory_order_acquire))
		return;
	worker->answers.error = (struct nm_engine_error){
		.of_process = true, .group = worker->group_no, .error = EOWNERDEAD};
	tell_end(worker, pid, status, worker->answers.error.why, sizeof worker->answers.error.why);
	atomic_fetch_add_explicit(&worker->answers.n_failed, 1, memory_order_relaxed);
	atomic_store_explicit(&worker->answers.failed, true, memory_order_release);
}
