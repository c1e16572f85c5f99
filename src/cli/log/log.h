/* SPDX-License-Identifier: Apache-2.0 */
/* Logs: files that are written while something runs, each by an option that names it. A log is one
 * file with one const descriptor; the build makes nm_logs[] from the word list in src/cli/local.mk
 * (docs/adding-a-streaming-output.md). */
#ifndef NM_CLI_LOG_LOG_H
#define NM_CLI_LOG_LOG_H

#include <stdio.h>

#include "base/diag.h"
#include "cli/args.h"
#include "cli/sink.h"
#include "control/options.h"
#include "result/runs.h"

/* One log while it is written. */
struct nm_log_file {
	FILE *stream; /* of the sink; NULL: not open */
	struct nm_sink sink;
	const struct nm_args *args;
	const char *path;
	int error;	   /* errno of the first failure to write; nothing is written after it */
	uint64_t begin_ns; /* for the log itself: 0 at first */
	const struct nm_result *result; /* of the present run; borrowed; NULL: none has begun */
};

/* A kind of log: its option, and the functions that write it. All but arg may be NULL; each is
 * called while nothing has failed, on the thread that runs. */
struct nm_log {
	struct nm_arg arg; /* its option: a text, the path; without an offset */
	bool takes_stdout; /* the path "-" is standard output */
	/* Its reader follows the run. One that is not there, or goes away, is no error, and loses
	 * lines. */
	bool is_followed;
	/* Sets the options of the run that the log depends on. */
	void (*ask)(const struct nm_args *args, struct nm_run_options *options);
	void (*head)(struct nm_log_file *file);
	/* A run begins; its result is at file->result until it has ended. */
	void (*begin)(struct nm_log_file *file, const struct nm_result *result);
	void (*interval)(struct nm_log_file *file, const struct nm_result_interval *row);
	void (*host_interval)(struct nm_log_file *file, const char *host,
			      const struct nm_host_interval *row);
	void (*times)(struct nm_log_file *file, const struct nm_interval_times *times);
	void (*flows)(struct nm_log_file *file, const struct nm_flow_rows *rows);
	void (*tcp)(struct nm_log_file *file, const struct nm_tcp_rows *rows);
	void (*response)(struct nm_log_file *file, const struct nm_response_row *row);
	void (*finish)(struct nm_log_file *file, struct nm_result *result);
	/* The log ends; lost: how many responses it has not been given. */
	void (*end)(struct nm_log_file *file, uint64_t lost);
	/* All is written, or given up: for each run that is to be reported. */
	void (*note)(const struct nm_log_file *file, struct nm_result *result);
};

extern const struct nm_log *const nm_logs[]; /* ends with NULL */

/* How many descriptors nm_logs has before its NULL. */
size_t nm_log_count(void);

/* The files of a run. Zeroed: none is open. */
struct nm_logs {
	struct nm_log_file files[NM_ARGS_LOGS]; /* in the order of nm_logs */
};

/* Opens the logs that args name and writes their heads: 0, or -errno with an error in diags. */
int nm_logs_open(struct nm_logs *logs, const struct nm_args *args, struct nm_diags *diags);
/* Whether an open log takes times: a run measures them for its sake. */
bool nm_logs_take_times(const struct nm_logs *logs);
/* Sets the options of the run that the open logs depend on. */
void nm_logs_ask(const struct nm_logs *logs, const struct nm_args *args,
		 struct nm_run_options *options);
/* Closes the logs: 0, or -errno with an error in diags. A log that is closed stays closed. series:
 * the runs that are to be reported, which may note what a log has lost; NULL: there are none. */
int nm_logs_close(struct nm_logs *logs, uint64_t lost, const struct nm_runs *series,
		  struct nm_diags *diags);

/* Writes what the logs hold yet, before the process forks, or in a process that does not close
 * them. 0, or once for each log -errno. */
int nm_logs_flush(struct nm_logs *logs);
/* Whether an open log is followed by its reader. */
bool nm_logs_are_followed(const struct nm_logs *logs);
/* Gives readers that follow what waits for them, as far as they take it now. True: there is more;
 * *ret_fd is set to what can be written then, -1: to none. */
bool nm_logs_push(struct nm_logs *logs, int *ret_fd);
/* Whether an open log takes samples of flows. */
bool nm_logs_take_flows(const struct nm_logs *logs);

/* Whether a log goes to standard output, where nothing else may then be printed. */
bool nm_logs_take_stdout(const struct nm_args *args);

/* Pass events of a run to the open logs. */
void nm_logs_begin(struct nm_logs *logs, const struct nm_result *result);
/* Called also for a run that has not begun. */
void nm_logs_finish(struct nm_logs *logs, struct nm_result *result);
void nm_logs_host_interval(struct nm_logs *logs, const char *host,
			   const struct nm_host_interval *row);
void nm_logs_interval(struct nm_logs *logs, const struct nm_result_interval *row);
void nm_logs_times(struct nm_logs *logs, const struct nm_interval_times *times);
void nm_logs_flows(struct nm_logs *logs, const struct nm_flow_rows *rows);
void nm_logs_tcp(struct nm_logs *logs, const struct nm_tcp_rows *rows);
void nm_logs_responses(struct nm_logs *logs, const struct nm_response_row *rows, size_t count);

/* Whether the logs of responses can be given many more now, without lines being dropped. */
bool nm_logs_have_room(struct nm_logs *logs);

/* Columns of CSV that several logs have, with a comma behind each: host and group; worker and
 * number of a flow. */
void nm_log_put_group(FILE *stream, const char *host, const struct nm_plan *plan, uint32_t group);
void nm_log_put_flow(FILE *stream, const struct nm_plan *plan, uint32_t group, uint32_t flow);
/* Seconds, exactly. */
void nm_log_put_time(FILE *stream, uint64_t ns);
/* A name, with blanks for characters that would end a line. */
void nm_log_put_name(FILE *stream, const char *name);

#endif
