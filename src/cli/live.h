/* SPDX-License-Identifier: Apache-2.0 */
/* Output while something runs: on standard error the live line of a terminal and the log, on
 * standard output progress for programs (--raw, --iostat), and the logs in their files. */
#ifndef NM_CLI_LIVE_H
#define NM_CLI_LIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/log/log.h"
#include "cli/sink.h"
#include "result/result.h"

struct nm_live {
	bool line;	       /* keep a live line */
	bool log;	       /* print log lines */
	bool windows;	       /* print a line for each interval as it ends (--windows) */
	bool quiet;	       /* print nothing at all */
	bool shown;	       /* the line is on the screen */
	bool progress;	       /* print lines of progress on standard output, as uperf does: */
	bool raw;	       /* for programs (-R) */
	bool report_is_uperfs; /* and nothing parts them from the report that follows */
	bool in_row;	       /* the last line of progress has not ended */
	uint64_t run_wall_ns, phase_wall_ns; /* when they began */
	struct nm_sink out, err;	     /* standard output and standard error */
	struct nm_logs logs;
	uint64_t run, runs;
	uint64_t length_ns; /* of a run, told at the start of a long one; 0: it is not told */
};

/* Begins with run 1 of 1 and no open log. A live line is kept if standard error is a terminal, log
 * lines are printed if verbose; quiet turns both off. Lines that no reader takes are dropped and
 * counted. */
void nm_live_init(struct nm_live *live, bool quiet, bool verbose);
/* Ends all but the logs, which nm_logs_close closes. A warning in diags says how many lines were
 * dropped. 0, or -errno of standard output. */
int nm_live_fini(struct nm_live *live, struct nm_diags *diags);
/* Events of a run; `arg` is the nm_live. */
void nm_live_begin(void *arg, const struct nm_result *so_far);
void nm_live_host_interval(void *arg, const char *host, const struct nm_host_interval *row);
void nm_live_interval(void *arg, const struct nm_result *so_far,
		      const struct nm_result_interval *row);
void nm_live_progress(void *arg, const struct nm_plan *plan, const struct nm_progress *progress);
void nm_live_traffic(void *arg, const struct nm_traffic *traffic);
void nm_live_responses(void *arg, const struct nm_response_row *rows, size_t count);
bool nm_live_has_room(void *arg);
bool nm_live_push(void *arg, int *ret_fd);
void nm_live_flows(void *arg, const struct nm_flow_rows *rows);
void nm_live_tcp(void *arg, const struct nm_tcp_rows *rows);
void nm_live_times(void *arg, const struct nm_interval_times *times);
void nm_live_log(void *arg, const char *text);
void nm_live_waits(void *arg, const char *text);
/* Takes the line off the screen. */
void nm_live_erase(struct nm_live *live);

#endif
