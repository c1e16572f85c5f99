/* SPDX-License-Identifier: Apache-2.0 */
/* The embedded slave of the host "local", which serves one session over loopback: a forked process,
 * or a thread where the process is not ours to fork. */
#ifndef NM_CONTROL_MASTER_EMBEDDED_H
#define NM_CONTROL_MASTER_EMBEDDED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define NM_EMBEDDED_HOST "local"

/* Zero-initialised is none. */
struct nm_embedded {
	pid_t pid;			   /* 0: not a process */
	struct nm_embedded_thread *thread; /* NULL: not a thread; owned */
};

/* Starts the slave: a process, before this one has threads of ours, or (in_process) a thread.
 * Returns 0 with the master's end of the control connection in *ret_fd (owned by the caller), or
 * -errno. */
int nm_embedded_start(struct nm_embedded *embedded, bool in_process, uint64_t timeout_ns,
		      int *ret_fd);
/* Whether there is one that has not been ended. */
bool nm_embedded_is_started(const struct nm_embedded *embedded);
/* Waits until the slave has ended, no longer than wait_ns; then its process is killed, or its
 * thread cut off from the master. A phrase in how when a signal had ended it, "" otherwise. Does
 * nothing when there is none. */
void nm_embedded_end(struct nm_embedded *embedded, uint64_t wait_ns, char *how, size_t how_size);

#endif
