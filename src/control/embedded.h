/* SPDX-License-Identifier: Apache-2.0 */
/* The embedded slave of the host "local": a forked process that serves one session over loopback. */
#ifndef NM_CONTROL_EMBEDDED_H
#define NM_CONTROL_EMBEDDED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define NM_EMBEDDED_HOST "local"

struct nm_embedded {
	pid_t pid; /* 0: none */
};

/* Forks the slave. Must be called before this process has threads of ours. Returns 0 with the master's end of the control
 * connection in *ret_fd (owned by the caller), or -errno. */
int nm_embedded_start(struct nm_embedded *embedded, uint64_t timeout_ns, int *ret_fd);
/* Waits until it has ended, no longer than wait_ns, then kills it. When it was a signal that had ended it, says so in
 * how ("" otherwise). Does nothing when there is none. */
void nm_embedded_end(struct nm_embedded *embedded, uint64_t wait_ns, char *how, size_t how_size);

#endif
