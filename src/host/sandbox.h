/* SPDX-License-Identifier: Apache-2.0 */
/* A process that works for somebody else gives up new privileges, core dumps, and all system calls
 * that its work does not need. */
#ifndef NM_HOST_SANDBOX_H
#define NM_HOST_SANDBOX_H

#include <stdbool.h>

struct nm_sandbox;

/* This process and all that it forks leave no core dump, and no other process of their user reads
 * their memory: for a process that has a secret. */
void nm_sandbox_keep_memory(void);
/* From now on a call that a filter does not allow ends its process with SIGSYS, instead of failing
 * with EPERM: for tests, which must notice it. Before there are threads. */
void nm_sandbox_be_strict(void);
/* Compiles the filter of system calls, unless this kernel has no filters (CONFIG_SECCOMP_FILTER).
 * 0 or -errno. */
int nm_sandbox_new(struct nm_sandbox **ret_sandbox);
/* Whether it has a filter. */
bool nm_sandbox_filters(const struct nm_sandbox *sandbox);
/* Accepts NULL, returns NULL. */
struct nm_sandbox *nm_sandbox_free(struct nm_sandbox *sandbox);

/* Restricts this process, which has one thread, and all its descendants, to their end. 0, or -errno
 * when the kernel does not take the filter; the other restrictions hold then, too. */
int nm_sandbox_enter(const struct nm_sandbox *sandbox);

#endif
