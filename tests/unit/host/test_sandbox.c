/* SPDX-License-Identifier: Apache-2.0 */
/* What a process in the sandbox can do, and what ends it. */
#include "host/sandbox.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

#include "../suite.h"

/* What a child in the sandbox makes of the trial: its exit code, or the signal that has ended it,
 * negative. */
static int inside(int (*trial)(void))
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		struct nm_sandbox *sandbox;

		if (nm_sandbox_new(&sandbox) < 0 || nm_sandbox_enter(sandbox) < 0)
			_exit(99);
		_exit(trial());
	}
	ck_assert_int_gt(pid, 0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

static int result_of(long r)
{
	return r < 0 ? errno : 0;
}

static int idle(void *arg)
{
	(void)arg;
	return 0;
}

static int start_thread(void)
{
	thrd_t thread;

	return thrd_create(&thread, idle, NULL) != thrd_success ||
	       thrd_join(thread, NULL) != thrd_success;
}

static int start_process(void)
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	return waitpid(pid, &status, 0) == pid ? status : 1;
}

static int open_tcp(void)
{
	return result_of(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
}

static int open_file(void)
{
	return result_of(open("/etc/passwd", O_RDONLY | O_CLOEXEC));
}

static int is_dumpable(void)
{
	return prctl(PR_GET_DUMPABLE);
}

static int open_raw(void)
{
	return result_of(socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, 1));
}

static int open_packet(void)
{
	return result_of(socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
}

static int make_file(void)
{
	return result_of(open("/tmp/nm-sandbox", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
}

static int remove_file(void)
{
	return result_of(unlink("/tmp/nm-sandbox"));
}

static int new_namespace(void)
{
	return result_of(syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0));
}

static int be_dumpable(void)
{
	return result_of(prctl(PR_SET_DUMPABLE, 1));
}

static int start_program(void)
{
	return result_of(execl("/bin/true", "true", (char *)NULL));
}

static int trace(void)
{
	return result_of(ptrace(PTRACE_TRACEME, 0, NULL, NULL));
}

static int become_root(void)
{
	return result_of(setuid(0));
}

START_TEST(what_work_needs_is_there)
{
	ck_assert_int_eq(inside(start_thread), 0);
	ck_assert_int_eq(inside(start_process), 0);
	ck_assert_int_eq(inside(open_tcp), 0);
	ck_assert_int_eq(inside(open_file), 0);
	ck_assert_int_eq(inside(is_dumpable), 0);
}
END_TEST

static int (*const refused[])(void) = {open_raw,    open_packet,   make_file,
				       remove_file, new_namespace, be_dumpable};

START_TEST(all_else_fails)
{
	ck_assert_int_eq(inside(refused[_i]), EPERM);
}
END_TEST

START_TEST(all_else_ends_a_test)
{
	nm_sandbox_be_strict();
	ck_assert_int_eq(inside(refused[_i]), -SIGSYS);
	ck_assert_int_eq(inside(start_thread), 0);
}
END_TEST

static int (*const deadly[])(void) = {start_program, trace, become_root};

START_TEST(what_no_mistake_does_ends_the_process)
{
	ck_assert_int_eq(inside(deadly[_i]), -SIGSYS);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sandbox");
	TCase *tcase = tcase_create("sandbox");

	tcase_add_test(tcase, what_work_needs_is_there);
	tcase_add_loop_test(tcase, all_else_fails, 0, sizeof refused / sizeof refused[0]);
	tcase_add_loop_test(tcase, all_else_ends_a_test, 0, sizeof refused / sizeof refused[0]);
	tcase_add_loop_test(tcase, what_no_mistake_does_ends_the_process, 0,
			    sizeof deadly / sizeof deadly[0]);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
