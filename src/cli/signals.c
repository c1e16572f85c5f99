/* SPDX-License-Identifier: Apache-2.0 */
/* Turns SIGINT, SIGTERM and the timer of a time limit into bytes in a pipe, which a run polls. */
#include "cli/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/time.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include "control/master/run.h"

#define GRACE_S 2	   /* that a run has to end in order */
#define ECHO_NS 200000000u /* who signals a process and then its group means one signal */

/* A handler is given no argument: what it needs has to be global. Written before the handler is
 * set. */
static int pipe_write = -1;
static pid_t owner;
static volatile sig_atomic_t count, limited;
static uint64_t counted_ns; /* when the last one was; no handler runs during another */

/* timeout(1) and its kind signal the process and then its group. */
static bool is_echo(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	uint64_t now_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;

	if (counted_ns && now_ns - counted_ns < ECHO_NS)
		return true;
	counted_ns = now_ns;
	return false;
}

static void on_signal(int number)
{
	int saved = errno;

	/* A terminal signals every process of the job; forked slaves are ended by their master. */
	if (getpid() == owner && (number == SIGALRM || !is_echo())) {
		const char limit = NM_INTERRUPT_LIMIT;
		ssize_t written = write(pipe_write, number == SIGALRM ? &limit : "", 1);
		(void)written;
		count++;
		if (count >= 2) {
			signal(SIGINT, SIG_DFL);
			signal(SIGTERM, SIG_DFL);
		}
	}
	limited |= number == SIGALRM;
	errno = saved;
}

int nm_signals_start(void)
{
	struct sigaction act = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
	struct sigaction ignore = {.sa_handler = SIG_IGN};
	int ends[2];

	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
		return -errno;
	pipe_write = ends[1];
	owner = getpid();
	sigemptyset(&act.sa_mask);
	sigaddset(&act.sa_mask, SIGINT);
	sigaddset(&act.sa_mask, SIGTERM);
	sigaddset(&act.sa_mask, SIGALRM);
	sigemptyset(&ignore.sa_mask);
	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
	sigaction(SIGALRM, &act, NULL);
	sigaction(SIGPIPE, &ignore, NULL);
	return ends[0];
}

bool nm_signals_limited(void)
{
	return limited;
}

int nm_signals_limit(uint64_t ns)
{
	const struct itimerval timer = {
		.it_value = {.tv_sec = (time_t)(ns / 1000000000u),
			     .tv_usec = (suseconds_t)(ns % 1000000000u / 1000 + 1)},
		.it_interval = {.tv_sec = GRACE_S},
	};

	return setitimer(ITIMER_REAL, &timer, NULL) == 0 ? 0 : -errno;
}
