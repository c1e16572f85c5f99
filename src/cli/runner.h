/* SPDX-License-Identifier: Apache-2.0 */
/* A command line that runs a profile, once or with several values of a parameter. */
#ifndef NM_CLI_RUNNER_H
#define NM_CLI_RUNNER_H

#include "cli/args.h"
#include "cli/dialect.h"
#include "cli/judge.h"
#include "cli/live.h"
#include "control/master/run.h"
#include "lib/load.h"
#include "report/view.h"
#include "result/runs.h"

/* Owns everything but the args. */
struct nm_runner {
	const struct nm_args *args;
	struct nm_view view;
	struct nm_loaded loaded;
	struct nm_judge judge; /* of the profile as it was compiled last */
	struct nm_tool_options asked;
	struct nm_live live;
	struct nm_key *key;
	char *path;		 /* of the profile */
	uint64_t seed, repeat;	 /* of the next runs, and how many they are */
	uint64_t parts;		 /* so many times as many are one series, for who watches */
	uint64_t interval_ns;	 /* of their rows; 0: none */
	uint64_t lost_responses; /* that no log was told of */
	int interrupt_fd;
};

/* These are called in this order, on one thread; compile and run once for each value. Those that
 * return int give the exit code, with an error in diags unless it is NM_EXIT_OK. */

/* Reads the key and the profile. To be given to nm_runner_end in any case. */
int nm_runner_begin(struct nm_runner *runner, const struct nm_args *args, struct nm_diags *diags);
/* Compiles the profile with these values, borrowed during the call, and reads what its result is
 * held against. */
int nm_runner_compile(struct nm_runner *runner, const struct nm_define *defines, size_t n_defines,
		      struct nm_diags *diags);
/* Takes the signals, opens the outputs, and prints the warnings so far. Once in a process. */
int nm_runner_open(struct nm_runner *runner, struct nm_diags *diags);
/* Runs until all repetitions are done, one is not complete, or there was an interrupt, also one
 * between two. They are added to the series, to be given to nm_runs_fini in any case. */
enum nm_run_status nm_runner_run(struct nm_runner *runner, struct nm_runs *series,
				 struct nm_diags *diags);
/* Whether the command line wants a report. */
bool nm_runner_has_report(const struct nm_runner *runner);
/* Closes the logs and writes the report, if one is wanted. */
int nm_runner_report(struct nm_runner *runner, const struct nm_runs *series,
		     struct nm_diags *diags);
/* Closes and frees everything. Returns the exit code: the given one, or that of an output that
 * could not be written. */
int nm_runner_end(struct nm_runner *runner, int code, struct nm_diags *diags);

#endif
