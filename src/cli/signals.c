/* SPDX-License-Identifier: Apache-2.0 */
/* Turns SIGINT, SIGTERM, SIGHUP and the timer of a time limit into bytes in a pipe, which a run
 * polls. */
#include "cli/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/time.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "control/master/run.h"
#include "host/wake.h"

#define GRACE_S 2	    /* for a run to end in order */
#define ECHO_NS 200000000u  /* a signal to a process and then to its group counts once */
#define HANG_NS 5000000000u /* for a run to end at once, and to write */

/* A handler is given no argument, so its data are global. Written before the handler is set. */
static int pipe_write = -1;
static pid_t owner;
static volatile sig_atomic_t count, limited;
static _Atomic uint64_t counted_ns, alive_ns; /* of the last request, and of the last write */
static uint64_t told_ns; /* of the last signal but the timer's; handlers do not nest */
static const char *_Atomic doomed;

static uint64_t now(void)
{
	struct timespec time;

	(void)clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* timeout(1) and its kind signal the process and then its group. */
static bool is_echo(uint64_t now_ns)
{
	if (told_ns && now_ns - told_ns < ECHO_NS)
		return true;
	told_ns = now_ns;
	return false;
}

static void remove_doomed(void)
{
	const char *path = atomic_load(&doomed);

	if (path)
		(void)unlink(path);
}

/* After a second request the process does not wait for a call that hangs: on a name server, a disk,
 * a peer. */
static void end_what_hangs(uint64_t now_ns)
{
	uint64_t since_ns = atomic_load(&counted_ns);

	if (atomic_load(&alive_ns) > since_ns)
		since_ns = atomic_load(&alive_ns);
	if (now_ns - since_ns < HANG_NS)
		return;
	remove_doomed();
	_exit(limited ? NM_EXIT_FAILED : NM_EXIT_INTERRUPTED);
}

static void take_signal(int number, uint64_t now_ns)
{
	const struct itimerval watch = {.it_value = {.tv_sec = 1}, .it_interval = {.tv_sec = 1}};
	const char byte = number == SIGALRM ? NM_INTERRUPT_LIMIT : (char)number;

	nm_wake_with(pipe_write, &byte, 1);
	atomic_store(&counted_ns, now_ns);
	count++;
	if (count == 2)
		(void)setitimer(ITIMER_REAL, &watch, NULL);
	if (count < 3)
		return;
	remove_doomed();
	(void)signal(number, SIG_DFL);
	(void)kill(getpid(), number); /* once this handler has returned */
}

static void on_signal(int number)
{
	int saved = errno;
	uint64_t now_ns = now();

	/* A terminal signals every process of the job; forked slaves are ended by their master. */
	if (getpid() != owner)
		return;
	if (number == SIGALRM && count >= 2) {
		end_what_hangs(now_ns);
	} else if (number == SIGALRM || !is_echo(now_ns)) {
		limited |= number == SIGALRM;
		take_signal(number, now_ns);
	}
	errno = saved;
}

/* A parent that ignores it, as nohup(1) does, wants the process to go on without its terminal. */
static bool is_ignored(int number)
{
	struct sigaction before;

	return sigaction(number, NULL, &before) == 0 && before.sa_handler == SIG_IGN;
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
	sigaddset(&act.sa_mask, SIGHUP);
	sigaddset(&act.sa_mask, SIGALRM);
	sigemptyset(&ignore.sa_mask);
	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
	if (!is_ignored(SIGHUP))
		sigaction(SIGHUP, &act, NULL);
	sigaction(SIGALRM, &act, NULL);
	sigaction(SIGPIPE, &ignore, NULL);
	return ends[0];
}

bool nm_signals_limited(void)
{
	return limited;
}

unsigned nm_signals_count(uint64_t *ret_last_ns)
{
	*ret_last_ns = atomic_load(&counted_ns);
	return (unsigned)count;
}

void nm_signals_alive(void)
{
	atomic_store(&alive_ns, now());
}

void nm_signals_doom(const char *path)
{
	atomic_store(&doomed, path);
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
