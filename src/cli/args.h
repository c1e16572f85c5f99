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
#include "result/result.h"

/* What netmodel is asked to do. */
enum nm_action {
	NM_ACTION_NONE,
	NM_ACTION_RUN,
	NM_ACTION_SLAVE,
	NM_ACTION_CHECK,
	NM_ACTION_PARAMS,
	NM_ACTION_DUMP_PLAN,
	NM_ACTION_OPTIONS, /* as neper prints them: no option of netmodel's asks for it */
	NM_ACTION_DESCRIBE,
	NM_ACTION_LIST,
	NM_ACTION_GENERATE,
	NM_ACTION_VERSION,
	NM_ACTION_HELP,
};

/* In which kinds of actions an option has a meaning. */
enum nm_mode {
	NM_MODE_RUN = 1 << 0,
	NM_MODE_SLAVE = 1 << 1,
	NM_MODE_LOOK = 1 << 2, /* a profile is read and nothing is run */
	NM_MODE_TELL = 1 << 3, /* about netmodel itself */
	NM_MODE_ALL = (1 << 4) - 1,
	NM_MODE_SLAVE_TOO =
		1 << 4, /* a slave takes it without effect: uperf has the same flags for both */
};

/* What a line of neper's says that none of netmodel's can. */
struct nm_neper_typed {
	unsigned family;   /* bits of enum nm_neper_family */
	bool server;	   /* without --client: only its options are looked at */
	uint64_t sessions; /* for how many clients such a server is */
};

struct nm_words;

struct nm_args {
	enum nm_action action;
	char *master; /* profile: name or path */
	bool slave, check, params, dump_plan, describe, list, version, help;
	char *generate;
	char *define; /* the one being parsed */
	struct nm_define *defines;
	size_t n_defines;
	int control;
	uint64_t port;
	char *bind, *cpus, *slave_cpus;
	bool no_auth, once, lenient;
	uint64_t max_flows, max_duration_ns, max_lifetime_ns, sessions;
	uint64_t interval_ns, warmup_ns, cooldown_ns, timeout_ns, wait_start_ns, iostat_ns;
	uint64_t wait_slaves_ns;
	uint64_t repeat, seed;
	bool has_seed, has_percentiles; /* given, and not only by default */
	char *percentiles_text;
	struct nm_percentiles percentiles;
	char *format, *output, *throughput_unit;
	bool stime_use_proc;
	bool quiet, verbose;
	/* Statistics, as uperf calls them. */
	bool all_statistics, flowops, transactions, groups, strands, interfaces, flowop_cpu, raw;
	bool no_statistics, default_counters;
	char *counters, *response_log, *hdr_log, *all_samples, *tcp_info, *log_rtt;
	uint64_t log_rtt_entries;
	const char *words[2]; /* after --describe; borrowed from argv */
	size_t n_words;
	bool in_nepers_form; /* as the words were typed */
	/* what such a line became; NULL: it is none. Borrowed */
	const struct nm_words *nepers_words;
	struct nm_neper_typed typed;
	const struct nm_wording *wording; /* of diagnostics; NULL: the usual one. Borrowed */
};

struct nm_arg {
	struct nm_opt opt;    /* name: the long option; offset: in struct nm_args */
	char letter;	      /* the short option, 0: none */
	const char *argument; /* NULL: a flag */
	const char *heading;  /* options under one heading follow each other */
	unsigned modes;
	enum nm_action action; /* that it asks for */
	/* Looks at the value when the type alone does not say enough. 0 or -EINVAL with a phrase in
	 * why. */
	int (*accept)(struct nm_args *args, const char *value, char *why, size_t why_size);
};

extern const struct nm_arg nm_arg_table[]; /* ends with an entry without a name */

/* 0, or -EINVAL with at least one error in diags. ret_args must be given to nm_args_fini in any
 * case. */
int nm_args_parse(int argc, char *const argv[], struct nm_args *ret_args, struct nm_diags *diags);
void nm_args_fini(struct nm_args *args);

#endif
