/* SPDX-License-Identifier: Apache-2.0 */
/* Signals in forked processes and in threads of ours: what the program does on a signal is not for
 * them to do. */
#ifndef NM_HOST_SIGNALS_H
#define NM_HOST_SIGNALS_H

#include <signal.h>

/* In a process that was forked with all signals blocked: forgets the program's handlers. What it
 * handles is ignored, except that faults stay as they are, and SIGCHLD, SIGTERM and those that stop
 * a process get their default. */
void nm_signals_forget_handlers(void);
/* And then takes signals. */
void nm_signals_unblock(void);

/* Blocks all signals of this thread but faults, for what it forks or starts next. *ret_before: as
 * it was. */
void nm_signals_block(sigset_t *ret_before);
void nm_signals_restore(const sigset_t *before);

#endif
