/* SPDX-License-Identifier: Apache-2.0 */
/* Signals in netmodel's own processes and threads, which must not do what the program does on a
 * signal. */
#ifndef NM_HOST_SIGNALS_H
#define NM_HOST_SIGNALS_H

#include <signal.h>

/* In a process that was forked with all signals blocked: forgets the program's handlers. Signals
 * that the program handles are then ignored, except that faults stay as they are, and SIGCHLD,
 * SIGTERM and the signals that stop a process get their default. */
void nm_signals_forget_handlers(void);
/* Unblocks all signals in that process, once it has forgotten the handlers. */
void nm_signals_unblock(void);

/* Blocks all signals of this thread but faults, for the processes or threads that it starts next.
 * *ret_before: the mask before. */
void nm_signals_block(sigset_t *ret_before);
void nm_signals_restore(const sigset_t *before);

#endif
