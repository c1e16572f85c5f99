/* SPDX-License-Identifier: Apache-2.0 */
/* The command line. One table declares every option; parsing, --help, the manual's section and the
 * shell completion are made from it. */
#ifndef NM_CLI_ARGS_H
#define NM_CLI_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/opt.h"
#include "plan/params.h"
#include "plan/warmup.h"
#include "result/result.h"

/* The actions of netmodel; a command line asks for one. */
enum nm_action {
	NM_ACTION_NONE,
	NM_ACTION_RUN,
	NM_ACTION_SLAVE,
	NM_ACTION_CHECK,
	NM_ACTION_PARAMS,
	NM_ACTION_DUMP_PLAN,
	NM_ACTION_OPTIONS, /* as another tool prints them: no option of netmodel's asks for it */
	NM_ACTION_DESCRIBE,
	NM_ACTION_LIST,
	NM_ACTION_GENERATE,
	NM_ACTION_MAKE_KEY,
	NM_ACTION_PROBE,
	NM_ACTION_GUARD, /* of nothing but files: no option of its own asks for it */
	NM_ACTION_VERSION,
	NM_ACTION_HELP,
};

/* The kinds of actions in which an option has a meaning. */
enum nm_mode {
	NM_MODE_RUN = 1 << 0,
	NM_MODE_SLAVE = 1 << 1,
	NM_MODE_LOOK = 1 << 2, /* a profile is read and nothing is run */
	NM_MODE_TELL = 1 << 3, /* about netmodel itself */
	NM_MODE_ALL = (1 << 4) - 1,
	/* A slave takes the option without effect: uperf has the same flags for both. */
	NM_MODE_SLAVE_TOO = 1 << 4,
};

/* A requirement on the result, as it was given. */
struct nm_required {
	char *text;
	bool negated; /* --fail-if */
};

/* What the result is held against. */
struct nm_args_judge {
	char *require, *fail_if; /* the value being parsed */
	char *baseline;		 /* a file with an earlier result; NULL: none */
	struct nm_required *required;
	size_t n_required;
	bool strict; /* a warning, or a load that was not as asked for, is not met either */
};

/* Several values of a parameter, NAME=RANGE each; NULL: not given. */
struct nm_args_sweep {
	char *scan, *search;
	char *objective; /* of the search */
	char *resume;	 /* a file with the result of an interrupted search; NULL: none */
	uint64_t confirm;
};

/* How a run is measured. */
struct nm_args_run {
	uint64_t interval_ns, cooldown_ns, wait_start_ns, wait_slaves_ns;
	uint64_t windows; /* so many intervals are measured; 0: as the profile says */
	uint64_t repeat, seed;
	bool has_seed, has_percentiles, has_interval; /* given by the user */
	bool no_env;				      /* the environment sets no parameters */
	char *percentiles_text, *warmup_text;
	struct nm_warmup warmup;
	struct nm_percentiles percentiles;
	char *slave_cpus;
	struct nm_args_judge judge;
	struct nm_args_sweep sweep;
	bool yes_destroy;
	bool as_uperf; /* values of the profile are read as uperf reads them */
};

#define NM_ARGS_LOGS 16

/* The report, the messages and the logs of a run, and their places. */
struct nm_args_output {
	char *format, *path, *throughput_unit;
	bool stime_use_proc, quiet, verbose;
	uint64_t iostat_ns;
	char *logs[NM_ARGS_LOGS]; /* files of the logs (log/log.h), in their order; NULL: none */
	uint64_t log_rtt_entries;
};

/* Statistics, as uperf calls them. */
struct nm_args_statistics {
	bool all, flowops, transactions, groups, strands, interfaces, flowop_cpu, raw, none;
	bool default_counters;
	char *counters;
};

/* Files with keys of control connections; and whether whoever has started this says the key. */
struct nm_args_key {
	uint64_t guard_ns; /* 0: nobody does; else what is done ends after so much silence */
	char *file;	   /* NULL: not given */
	char *make;	   /* "-": standard output */
};

struct nm_args_slave {
	char *bind;
	char *allow_peer; /* the value being parsed */
	struct nm_net *allowed;
	size_t n_allowed;
	bool no_auth, once, exclusive;
	char *file_root, *user, *allow;
	uint64_t max_flows, max_memory_bytes, max_lifetime_ns, sessions;
};

struct nm_dialect;
struct nm_net;
struct nm_run_words;

struct nm_args {
	enum nm_action action;
	char *master; /* profile: name or path */
	bool slave;
	bool flag; /* stands for each option that only asks for an action */
	char *generate;
	char *define; /* the value being parsed */
	struct nm_define *defines;
	size_t n_defines;
	int control;
	uint64_t port, timeout_ns, max_duration_ns;
	char *cpus;
	bool has_max_duration; /* given, perhaps as 0 */
	bool lenient;
	struct nm_args_key key;
	struct nm_args_run run;
	struct nm_args_output output;
	struct nm_args_statistics statistics;
	struct nm_args_slave as_slave;
	const char *words[2]; /* the words after --describe, or --help all; borrowed from argv */
	size_t n_words;
	/* The line of another tool (dialect.h), in that tool's own terms, owned; NULL: the line is
	 * netmodel's. */
	void *line;
	struct nm_wording wording;	  /* of diagnostics; without a function: the usual one */
	const struct nm_run_words *terms; /* of messages of a run; NULL: the usual ones */
};

struct nm_arg {
	struct nm_opt opt;    /* name: the long option; offset: in struct nm_args */
	char letter;	      /* the short option, 0: none */
	const char *argument; /* NULL: a flag */
	const char *heading;  /* options under one heading follow each other */
	unsigned modes;
	enum nm_action action; /* that it asks for */
	/* Checks the value when the type alone does not say enough. 0 or -EINVAL with a phrase in
	 * why. */
	int (*validate)(struct nm_args *args, const char *value, char *why, size_t why_size);
	/* Lists the values behind the help, in buf; NULL: the help says all. */
	char *(*choices)(char *buf, size_t size);
};

/* Each option, in the order in which they are listed; NULL behind the last. */
const struct nm_arg *nm_arg_at(size_t index);
/* Finds an option by its whole long name; NULL: there is none. */
const struct nm_arg *nm_arg_find(const char *name);
/* The help of an option, with its choices and its default. Returns buf. */
char *nm_arg_help(const struct nm_arg *arg, char *buf, size_t size);
/* The member of the args that holds the option's value. */
void *nm_arg_field(const struct nm_arg *arg, struct nm_args *args);

/* Args while they are read, one option after the other. */
struct nm_args_reading {
	struct nm_args *args;
	struct nm_diags *diags;
	bool given[96]; /* by nm_arg_at */
};

/* All defaults. 0, or -EINVAL with an error in diags; args must be given to nm_args_fini in any
 * case. */
int nm_args_begin(struct nm_args_reading *reading, struct nm_args *args, struct nm_diags *diags);
/* Takes one option with its value ("yes" for a flag). */
void nm_args_take(struct nm_args_reading *reading, const struct nm_arg *arg, const char *value);
/* Checks the options together: 0, or -EINVAL, when anything was wrong, with at least one error in
 * diags. */
int nm_args_end(struct nm_args_reading *reading);

/* Reads a whole command line: 0, or -EINVAL with at least one error in diags. format: of a report
 * for which the line names none; NULL: that of the table. ret_args must be given to nm_args_fini in
 * any case. */
int nm_args_parse(int argc, char *const argv[], const char *format, struct nm_args *ret_args,
		  struct nm_diags *diags);
void nm_args_fini(struct nm_args *args);

#endif
