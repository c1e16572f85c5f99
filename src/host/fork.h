/* SPDX-License-Identifier: Apache-2.0 */
/* A process whose code is one function. */
#ifndef NM_HOST_FORK_H
#define NM_HOST_FORK_H

#include <sys/types.h>
#include <unistd.h>

/* A variable that changes: each process has its own. */
#ifdef NM_FORK_SIMULATED
#define NM_OF_PROCESS __attribute__((section("nm_of_process")))
#else
#define NM_OF_PROCESS
#endif

/* As fork(2), for the parent. `child` first of all copies what `arg` points to, and ends the new
 * process by _exit(2). */
#ifdef NM_FORK_SIMULATED
pid_t nm_fork(void (*child)(const void *arg), const void *arg);
#else
static inline pid_t nm_fork(void (*child)(const void *arg), const void *arg)
{
	pid_t pid = fork();

	if (pid == 0)
		child(arg);
	return pid;
}
#endif

#endif
