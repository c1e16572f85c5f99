/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/types.h>
#include <unistd.h>

#define GRACE_S 2 /* that a run has to end in order */

/* A handler is given no argument: what it needs has to be global. Written before the handler is set. */
static int pipe_write = -1;
static pid_t owner;
static volatile sig_atomic_t count;

static void on_signal(int number)
{
	int saved = errno;

	/* A terminal signals every process of the job; forked slaves are ended by their master. */
	if (getpid() == owner) {
		ssize_t written = write(pipe_write, "", 1);
		(void)written;
		count++;
		if (count >= 2) {
			signal(SIGINT, SIG_DFL);
			signal(SIGTERM, SIG_DFL);
		}
	}
	(void)number;
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

int nm_signals_limit(uint64_t ns)
{
	const struct itimerval timer = {
		.it_value = {.tv_sec = (time_t)(ns / 1000000000u),
			     .tv_usec = (suseconds_t)(ns % 1000000000u / 1000 + 1)},
		.it_interval = {.tv_sec = GRACE_S},
	};

	return setitimer(ITIMER_REAL, &timer, NULL) == 0 ? 0 : -errno;
}
