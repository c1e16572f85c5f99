/* SPDX-License-Identifier: Apache-2.0 */
/* SIGINT, SIGTERM and SIGHUP as bytes in a pipe: the first asks for an end, the second for an end
 * at once, a third kills. A process that hangs nevertheless is ended some seconds after the
 * second. */
#ifndef NM_CLI_SIGNALS_H
#define NM_CLI_SIGNALS_H

#include <stdbool.h>
#include <stdint.h>

/* Takes the signals over, but not a SIGHUP that is ignored, and ignores SIGPIPE. The pipe's reading
 * end, or -errno; once in a process. */
int nm_signals_start(void);
/* Sets a time limit: when it has passed, NM_INTERRUPT_LIMIT is written, and again soon after. 0 or
 * -errno. */
int nm_signals_limit(uint64_t ns);
/* Whether the time limit has passed. */
bool nm_signals_limited(void);
/* How many requests to end have come, those of the limit included, and when the last one came. */
unsigned nm_signals_count(uint64_t *ret_last_ns);
/* Notes that something was written: the process does not hang. */
void nm_signals_alive(void);
/* A file that is to be removed if the process is ended by a signal; NULL: none. Borrowed. */
void nm_signals_doom(const char *path);

#endif
