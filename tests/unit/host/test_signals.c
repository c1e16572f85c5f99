/* SPDX-License-Identifier: Apache-2.0 */
#include "host/signals.h"

#include <check.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../suite.h"

static void on_signal(int number)
{
	(void)number;
	_exit(EXIT_FAILURE); /* the program's handler has run where it must not */
}

static void handle(int number, void (*handler)(int))
{
	struct sigaction action = {.sa_handler = handler};

	ck_assert_int_eq(sigaction(number, &action, NULL), 0);
}

static void (*handler_of(int number))(int)
{
	struct sigaction action;

	return sigaction(number, NULL, &action) == 0 ? action.sa_handler : SIG_ERR;
}

/* In the forked process: what is wrong, as an exit code. */
static int child(void)
{
	sigset_t mask;

	(void)signal(SIGCHLD, SIG_IGN);
	nm_signals_forget_handlers();
	if (handler_of(SIGUSR1) != SIG_IGN)
		return 2;
	if (handler_of(SIGTERM) != SIG_DFL || handler_of(SIGTSTP) != SIG_DFL)
		return 3;
	if (handler_of(SIGCHLD) != SIG_DFL)
		return 4; /* ignored, it would take the ends of children away */
	if (handler_of(SIGSEGV) != on_signal || handler_of(SIGUSR2) != SIG_DFL)
		return 5;
	(void)raise(SIGUSR1); /* comes when it is taken */
	nm_signals_unblock();
	if (pthread_sigmask(SIG_SETMASK, NULL, &mask) != 0 || sigismember(&mask, SIGUSR1) != 0)
		return 6;
	return 0;
}

START_TEST(handlers_are_forgotten)
{
	sigset_t before, after;
	int status;

	handle(SIGUSR1, on_signal);
	handle(SIGTERM, on_signal);
	handle(SIGTSTP, on_signal);
	handle(SIGSEGV, on_signal);
	handle(SIGUSR2, SIG_DFL);
	(void)sigemptyset(&after);
	nm_signals_block(&before);
	pid_t pid = fork();
	if (pid == 0)
		_exit(child());
	nm_signals_restore(&before);
	ck_assert_int_eq(pthread_sigmask(SIG_SETMASK, NULL, &after), 0);
	ck_assert_int_eq(sigismember(&after, SIGUSR1), 0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}
END_TEST

START_TEST(faults_are_not_blocked)
{
	sigset_t before, now;

	nm_signals_block(&before);
	ck_assert_int_eq(pthread_sigmask(SIG_SETMASK, NULL, &now), 0);
	nm_signals_restore(&before);
	ck_assert_int_eq(sigismember(&now, SIGALRM), 1);
	ck_assert_int_eq(sigismember(&now, SIGPIPE), 1);
	ck_assert_int_eq(sigismember(&now, SIGSEGV), 0);
	ck_assert_int_eq(sigismember(&now, SIGABRT), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("child");
	TCase *tc = tcase_create("child");

	tcase_add_test(tc, handlers_are_forgotten);
	tcase_add_test(tc, faults_are_not_blocked);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
