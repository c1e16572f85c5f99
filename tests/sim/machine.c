/* SPDX-License-Identifier: Apache-2.0 */
/* More calls of the C library, as libc.c has them: processes, signals, and what the machine is.
 * Within a world it has no files, which stands for /proc and /sys, too, and no limits. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <netlink/errno.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include "../unit/sanitized.h"
#include "kernel.h"
#include "libc.h"
#include "process.h"
#include "world.h"

NM_UNWATCHED void (*sim_real(const char *name))(void)
{
	void *symbol = dlsym(RTLD_NEXT, name);
	void (*function)(void);

	memcpy(&function, &symbol, sizeof function);
	if (!function)
		abort();
	return function;
}

static int failed(int error)
{
	errno = error;
	return -1;
}

static int answer(int result)
{
	return result < 0 ? failed(-result) : result;
}

/* --- processes --- */

pid_t getpid(void)
{
	return sim_runs() ? sim_process()->pid : SIM_REAL(getpid)();
}

pid_t getppid(void)
{
	return sim_runs() ? sim_getppid() : SIM_REAL(getppid)();
}

pid_t waitpid(pid_t pid, int *ret_status, int options)
{
	return sim_runs() ? answer(sim_waitpid(pid, ret_status, options))
			  : SIM_REAL(waitpid)(pid, ret_status, options);
}

int kill(pid_t pid, int number)
{
	return sim_runs() ? answer(sim_kill(pid, number)) : SIM_REAL(kill)(pid, number);
}

_Noreturn void _exit(int code)
{
	if (sim_runs())
		sim_process_exit(code);
	SIM_REAL(_exit)(code);
	abort();
}

/* A real child would have a world of its own; nm_fork is simulated. */
pid_t fork(void)
{
	if (sim_runs())
		sim_unknown("fork", 0);
	return SIM_REAL(fork)();
}

int prctl(int what, ...)
{
	unsigned long words[4];
	va_list more;

	va_start(more, what);
	for (int i = 0; i < 4; i++)
		words[i] = va_arg(more, unsigned long);
	va_end(more);
	if (!sim_runs())
		return SIM_REAL(prctl)(what, words[0], words[1], words[2], words[3]);
	if (what == PR_SET_PDEATHSIG)
		sim_process()->parent_end_signal = (int)words[0];
	return 0; /* all others change nothing here */
}

int pipe2(int fds[2], int flags)
{
	return sim_runs() ? answer(sim_pipe(fds, flags)) : SIM_REAL(pipe2)(fds, flags);
}

/* --- signals --- */

int sigaction(int number, const struct sigaction *action, struct sigaction *before)
{
	if (!sim_runs())
		return SIM_REAL(sigaction)(number, action, before);
	if (before)
		memset(before, 0, sizeof *before);
	if (action && number == SIGTERM)
		sim_process()->on_term = action->sa_handler;
	return 0;
}

__sighandler_t signal(int number, __sighandler_t handler)
{
	const struct sigaction action = {.sa_handler = handler};

	if (!sim_runs())
		return SIM_REAL(signal)(number, handler);
	(void)sigaction(number, &action, NULL);
	return SIG_DFL;
}

int sigprocmask(int how, const sigset_t *set, sigset_t *before)
{
	if (!sim_runs())
		return SIM_REAL(sigprocmask)(how, set, before);
	return before ? sigemptyset(before) : 0;
}

int pthread_sigmask(int how, const sigset_t *set, sigset_t *before)
{
	if (!sim_runs())
		return SIM_REAL(pthread_sigmask)(how, set, before);
	return before ? sigemptyset(before) : 0;
}

/* --- files --- */

int open(const char *path, int flags, ...)
{
	va_list more;
	mode_t mode;

	va_start(more, flags);
	mode = va_arg(more, mode_t);
	va_end(more);
	return sim_runs() ? failed(ENOENT) : SIM_REAL(open)(path, flags, mode);
}

int openat(int folder, const char *path, int flags, ...)
{
	va_list more;
	mode_t mode;

	va_start(more, flags);
	mode = va_arg(more, mode_t);
	va_end(more);
	return sim_runs() ? failed(ENOENT) : SIM_REAL(openat)(folder, path, flags, mode);
}

FILE *fopen(const char *path, const char *mode)
{
	if (!sim_runs())
		return SIM_REAL(fopen)(path, mode);
	errno = ENOENT;
	return NULL;
}

/* The library's own calls do not come here. */
gzFile gzopen(const char *path, const char *mode)
{
	if (!sim_runs())
		return SIM_REAL(gzopen)(path, mode);
	errno = ENOENT;
	return NULL;
}

DIR *opendir(const char *path)
{
	if (!sim_runs())
		return SIM_REAL(opendir)(path);
	errno = ENOENT;
	return NULL;
}

/* --- the machine --- */

int uname(struct utsname *ret)
{
	if (!sim_runs())
		return SIM_REAL(uname)(ret);
	*ret = (struct utsname){.sysname = "Linux", .release = "6.12", .machine = "simulated"};
	(void)snprintf(ret->nodename, sizeof ret->nodename, "host%u", sim_process()->host);
	return 0;
}

/* Two CPUs, and 4 GiB. */
long sysconf(int what)
{
	switch (sim_runs() ? what : -1) {
	case _SC_NPROCESSORS_ONLN:
	case _SC_NPROCESSORS_CONF:
		return 2;
	case _SC_PHYS_PAGES:
	case _SC_AVPHYS_PAGES:
		return 1 << 20;
	default:
		return SIM_REAL(sysconf)(what);
	}
}

int getrusage(__rusage_who_t who, struct rusage *ret)
{
	if (!sim_runs())
		return SIM_REAL(getrusage)(who, ret);
	*ret = (struct rusage){.ru_minflt = 0};
	return 0;
}

NM_UNWATCHED int getrlimit(__rlimit_resource_t which, struct rlimit *ret)
{
	if (!sim_runs())
		return SIM_REAL(getrlimit)(which, ret);
	*ret = (struct rlimit){.rlim_cur = RLIM_INFINITY, .rlim_max = RLIM_INFINITY};
	return 0;
}

int setrlimit(__rlimit_resource_t which, const struct rlimit *limit)
{
	return sim_runs() ? 0 : SIM_REAL(setrlimit)(which, limit);
}

int setpriority(__priority_which_t which, id_t who, int priority)
{
	return sim_runs() ? 0 : SIM_REAL(setpriority)(which, who, priority);
}

int getpriority(__priority_which_t which, id_t who)
{
	return sim_runs() ? 0 : SIM_REAL(getpriority)(which, who);
}

/* Two CPUs. */
int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *ret)
{
	if (!sim_runs())
		return SIM_REAL(sched_getaffinity)(pid, size, ret);
	memset(ret, 0, size);
	CPU_SET(0, ret);
	CPU_SET(1, ret);
	return 0;
}

int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *set)
{
	return sim_runs() ? 0 : SIM_REAL(sched_setaffinity)(pid, size, set);
}

/* The library's own calls do not come here. */
int nl_connect(struct nl_sock *sock, int protocol)
{
	return sim_runs() ? -NLE_PROTO_MISMATCH : SIM_REAL(nl_connect)(sock, protocol);
}

int genl_connect(struct nl_sock *sock)
{
	return sim_runs() ? -NLE_PROTO_MISMATCH : SIM_REAL(genl_connect)(sock);
}

int getifaddrs(struct ifaddrs **ret)
{
	return sim_runs() ? failed(ENOSYS) : SIM_REAL(getifaddrs)(ret);
}
