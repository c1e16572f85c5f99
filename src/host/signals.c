/* SPDX-License-Identifier: Apache-2.0 */
/* Forgets handlers of signals in forked processes, and blocks signals in threads of ours. */
#include "host/signals.h"

#include <stdbool.h>
#include <stddef.h>

/* Signals that a thread brings upon itself. Blocked, they would end the program without the handler
 * that reports them. */
static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS};
static const int defaults[] = {SIGCHLD, SIGTERM, SIGTSTP, SIGTTIN, SIGTTOU};

static bool is_in(int number, const int *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (list[i] == number)
			return true;
	}
	return false;
}

void nm_signals_forget_handlers(void)
{
	for (int number = 1; number <= SIGRTMAX; number++) {
		struct sigaction action;
		bool by_default = is_in(number, defaults, sizeof defaults / sizeof defaults[0]);

		if (is_in(number, faults, sizeof faults / sizeof faults[0]) ||
		    sigaction(number, NULL, &action) < 0 || action.sa_handler == SIG_DFL ||
		    (action.sa_handler == SIG_IGN && !by_default))
			continue;
		(void)signal(number, by_default ? SIG_DFL : SIG_IGN);
	}
}

void nm_signals_unblock(void)
{
	sigset_t none;

	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
}

void nm_signals_block(sigset_t *ret_before)
{
	sigset_t all;

	(void)sigfillset(&all);
	for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
		(void)sigdelset(&all, faults[i]);
	(void)pthread_sigmask(SIG_SETMASK, &all, ret_before);
}

void nm_signals_restore(const sigset_t *before)
{
	(void)pthread_sigmask(SIG_SETMASK, before, NULL);
}
