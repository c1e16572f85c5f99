/* SPDX-License-Identifier: Apache-2.0 */
/* What goes to standard error while something runs: the live line of a terminal, and the log. */
#ifndef NM_CLI_LIVE_H
#define NM_CLI_LIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "result/result.h"

struct nm_live {
	bool line;  /* keep a live line */
	bool log;   /* print log lines */
	bool shown; /* the line is on the screen */
	uint64_t run, runs;
};

void nm_live_init(struct nm_live *live, bool quiet, bool verbose);
/* Events of a run; `arg` is the nm_live. */
void nm_live_interval(void *arg, const struct nm_result *so_far,
		      const struct nm_result_interval *row);
void nm_live_log(void *arg, const char *text);
/* Takes the line off the screen. */
void nm_live_erase(struct nm_live *live);

#endif
