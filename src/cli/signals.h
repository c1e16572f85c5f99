/* SPDX-License-Identifier: Apache-2.0 */
/* SIGINT and SIGTERM as bytes in a pipe: the first asks for an end, the second for an end at once, a third kills. */
#ifndef NM_CLI_SIGNALS_H
#define NM_CLI_SIGNALS_H

#include <stdint.h>

/* Takes the signals over (and ignores SIGPIPE): the pipe's reading end, or -errno. Once in a process. */
int nm_signals_start(void);
/* The same as an interrupt once the time has passed, and a second one soon after it. 0 or -errno. */
int nm_signals_limit(uint64_t ns);

#endif
