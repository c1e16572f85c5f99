/* SPDX-License-Identifier: Apache-2.0 */
/* Workers that are processes stop by themselves when a phase has lasted long enough. */
#include "engine/alarm.h"

#include <errno.h>
#include <signal.h>
#include <time.h>

#include "engine/engine_priv.h"

/* With many more processes than CPUs the control thread may have its turn seconds too late to stop
 * them. So each stops itself, by the command that the control thread would give. */
static void on_alarm(int number, siginfo_t *info, void *context)
{
	struct nm_worker *worker = info->si_value.sival_ptr;
	uint8_t not_yet = NM_STOP_NOT;
	int error = errno;

	(void)number;
	(void)context;
	(void)atomic_compare_exchange_strong_explicit(&worker->commands.stop, &not_yet,
						      NM_STOP_TIME, memory_order_relaxed,
						      memory_order_relaxed);
	nm_worker_wake(worker);
	errno = error;
}

void nm_alarm_open(struct nm_worker *worker)
{
	struct sigaction action = {.sa_sigaction = on_alarm, .sa_flags = SA_SIGINFO | SA_RESTART};
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL,
				 .sigev_signo = SIGALRM,
				 .sigev_value.sival_ptr = worker};

	(void)sigemptyset(&action.sa_mask);
	worker->spawn.has_alarm = sigaction(SIGALRM, &action, NULL) == 0 &&
				  timer_create(CLOCK_MONOTONIC, &event, &worker->spawn.alarm) == 0;
}

void nm_alarm_set(struct nm_worker *worker, uint64_t at_ns)
{
	struct itimerspec at = {.it_value = {.tv_sec = (time_t)(at_ns / 1000000000),
					     .tv_nsec = (long)(at_ns % 1000000000)}};

	if (worker->spawn.has_alarm)
		(void)timer_settime(worker->spawn.alarm, TIMER_ABSTIME, &at, NULL);
}
