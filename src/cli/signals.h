/* SPDX-License-Identifier: Apache-2.0 */
/* SIGINT and SIGTERM as bytes in a pipe: the first asks for an end, the second for an end at once,
 * a third kills. */
#ifndef NM_CLI_SIGNALS_H
#define NM_CLI_SIGNALS_H

#include <stdbool.h>
#include <stdint.h>

/* Takes the signals over (and ignores SIGPIPE): the pipe's reading end, or -errno. Once in a
 * process. */
int nm_signals_start(void);
/* Once the time has passed NM_INTERRUPT_LIMIT is written, and again soon after. 0 or -errno. */
int nm_signals_limit(uint64_t ns);
/* Whether it has. */
bool nm_signals_limited(void);

#endif
