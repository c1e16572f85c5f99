/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the command. Functions that return int give the exit code of the process; those with
 * diags leave the printing of errors to main. */
#ifndef NM_CLI_CLI_H
#define NM_CLI_CLI_H

#include <stdio.h>

#include "base/diag.h"
#include "cli/args.h"

/* Where several apply 130 counts, or else the smallest of 1 to 3, or else 4. The manual has them
 * under EXIT STATUS. */
enum nm_exit {
	NM_EXIT_OK = 0,
	NM_EXIT_USAGE = 1,	   /* the command line, the profile or a requirement is wrong */
	NM_EXIT_FAILED = 2,	   /* the run failed or is incomplete */
	NM_EXIT_INTERNAL = 3,	   /* a fault of netmodel, or no memory */
	NM_EXIT_UNMET = 4,	   /* the run is complete, and a requirement is not met */
	NM_EXIT_INTERRUPTED = 130, /* by SIGINT, SIGTERM or SIGHUP */
};

/* Runs a command line, prints its output and its diagnostics, and returns the exit code. */
int nm_cli_main(int argc, char **argv);
/* Prints all diagnostics to standard error, in order and in these words (NULL: the usual ones), and
 * empties diags. */
void nm_cli_print_diags(struct nm_diags *diags, const struct nm_wording *wording);
/* Adds an error about an option: its name with dashes, and its value (NULL: none), lead.
 * Returns NM_EXIT_USAGE. */
int nm_cli_refuse(struct nm_diags *diags, const char *option, const char *value, const char *fmt,
		  ...) __attribute__((format(printf, 4, 5)));
/* Adds an error: an operation has taken longer than an option allows. fmt: what follows from
 * that. */
void nm_cli_tell_limit(struct nm_diags *diags, const char *option, uint64_t limit_ns,
		       const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* The columns of a terminal; 0: it is none. */
unsigned nm_cli_columns(int fd);
/* The version of this build. */
const char *nm_cli_version(void);
/* Looks a parameter up in the environment; the variables about keys are no parameters. */
const char *nm_cli_lookup(const char *name, void *arg);

/* help.c: --help, which fits two screens, and --help all */
void nm_cli_help(FILE *out);
void nm_cli_help_all(FILE *out);
/* For whoever has called the program by the name of uperf. */
void nm_cli_help_uperf(FILE *out);
/* generate.c: the words that --generate takes, NULL-terminated. */
extern const char *const nm_cli_generate_words[];
int nm_cli_generate(const char *word, FILE *out, struct nm_diags *diags);
/* schema.c: RELAX NG of the language */
void nm_cli_generate_schema(FILE *out);
/* describe.c */
int nm_cli_describe(const char *const *words, size_t n_words, FILE *out, struct nm_diags *diags);
/* inspect.c: --check, --params, --dump-plan */
int nm_cli_inspect(const struct nm_args *args, FILE *out, struct nm_diags *diags);
/* run.c */
int nm_cli_run(const struct nm_args *args, struct nm_diags *diags);
/* sweep.c: --scan and --search */
int nm_cli_sweep(const struct nm_args *args, struct nm_diags *diags);
/* statistics.c: the statistics that flags ask for, as enum nm_statistics; logs add theirs */
unsigned nm_cli_statistics(const struct nm_args *args);
/* probe.c: --probe */
int nm_cli_probe(FILE *out, struct nm_diags *diags);
/* slave.c */
int nm_cli_slave(const struct nm_args *args, struct nm_diags *diags);

#endif
